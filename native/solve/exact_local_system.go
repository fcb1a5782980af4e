package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// exactLocalSystem is a local system in rational arithmetic.
type exactLocalSystem struct {
	*localSystem
	rows                []exactRow // of each choice
	constantDenominator *big.Int   // a common denominator of the constants
	currentChoices      []uint32   // the current scheduler
	// The value of unknown k is numerators[k] / (denominator * constantDenominator).
	numerators  []*big.Int
	denominator *big.Int
}

// exactRow is the equation of one choice: scale * x = constant + sum of coefficients[i] * x(columns[i]). All
// numbers except the constant are integers.
type exactRow struct {
	scale             *big.Int
	weightDenominator *big.Int // the common denominator of the weights, by which rewards are multiplied
	columns           []uint32
	coefficients      []*big.Int
	constant          *big.Rat
	scaledConstant    *big.Int // constant times the common denominator of all constants
}

// exactLocalSystem builds the equations of a component in rational arithmetic. They have the same unknowns and choices as the float64
// equations.
func (system *equationSystem) exactLocalSystem(local *localSystem, index *unknownIndex) *exactLocalSystem {
	exact := &exactLocalSystem{localSystem: local, currentChoices: slices.Clone(local.scheduler)}
	for _, choice := range local.modelChoices {
		state := system.graph.Owner(choice)
		exact.rows = append(exact.rows, system.exactRow(state, int(choice), index.unknowns[state], index, system.reward.ExactChoiceTotal(state, int(choice))))
	}
	exact.constantDenominator = scaleConstants(exact.rows)
	return exact
}

// scaleConstants multiplies the constants of all rows by their least common denominator, and returns this denominator.
func scaleConstants(rows []exactRow) *big.Int {
	common := big.NewInt(1)
	for i := range rows {
		common = leastCommonMultiple(common, rows[i].constant.Denom())
	}
	for i := range rows {
		rows[i].scaledConstant = scaledInteger(rows[i].constant, common)
	}
	return common
}

// leastCommonMultiple returns the least common multiple of two positive integers. If this is x, it returns x itself without a copy.
func leastCommonMultiple(x, y *big.Int) *big.Int {
	var factor, scratch big.Int
	if scratch.Rem(x, y).Sign() == 0 {
		return x
	}
	gcd := scratch.GCD(nil, nil, x, y)
	return new(big.Int).Mul(x, factor.Quo(y, gcd))
}

// scaledInteger returns fraction times multiple, which must be a multiple of its denominator.
func scaledInteger(fraction *big.Rat, multiple *big.Int) *big.Int {
	quotient := new(big.Int).Quo(multiple, fraction.Denom())
	return quotient.Mul(quotient, fraction.Num())
}

// exactRow builds the equation of a choice of a state with integer coefficients: all weights are multiplied by their least common denominator. unknown is
// the unknown of the state, which the choice must be able to leave.
func (system *equationSystem) exactRow(state, choice int, unknown uint32, index *unknownIndex, reward *big.Rat) exactRow {
	scale := system.weightDenominator(choice)
	equation := exactRow{scale: scale, weightDenominator: scale}
	mustDivide := system.graph.Kind == sparse.CTMC
	sumOfWeights := new(big.Int)
	system.scratchSum.setZero()
	system.scratchSum.addFraction(reward)
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		target, weight := int(system.graph.Target[transition]), system.graph.Fraction(transition)
		targetUnknown := index.unknowns[target]
		if targetUnknown == unknown {
			mustDivide = true // the self-loop is eliminated, so the other weights must be divided by their sum
			continue
		}
		scaledWeight := scaledInteger(weight, scale)
		sumOfWeights.Add(sumOfWeights, scaledWeight)
		if targetUnknown != sparse.None {
			equation.columns = append(equation.columns, targetUnknown)
			equation.coefficients = append(equation.coefficients, scaledWeight)
			continue
		}
		system.scratchTerm.setZero()
		system.scratchTerm.addFraction(system.values.Exact[target])
		system.scratchSum.addProduct(weight, &system.scratchTerm)
	}
	system.scratchSum.numerator.Mul(&system.scratchSum.numerator, scale)
	equation.constant = system.scratchSum.lowestTerms()
	if mustDivide {
		equation.scale = sumOfWeights
	}
	return equation
}

// weightDenominator returns the least common denominator of the weights of a choice.
func (system *equationSystem) weightDenominator(choice int) *big.Int {
	denominator := big.NewInt(1)
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		denominator = leastCommonMultiple(denominator, system.graph.Fraction(transition).Denom())
	}
	return denominator
}

// policyIteration evaluates and improves the scheduler in rational arithmetic until no choice is better. It starts with a scheduler that leaves the
// component with probability one.
func (system *exactLocalSystem) policyIteration(meter *meter) error {
	if !system.isProper() {
		system.currentChoices = system.properScheduler()
	}
	for {
		if err := system.evaluate(meter); err != nil {
			return err
		}
		if !system.improve() {
			return nil
		}
	}
}

// isProper reports whether the current scheduler leaves the component with probability one. It searches backwards from the unknowns whose
// current choices can leave the component, and checks whether the search finds all unknowns.
func (system *exactLocalSystem) isProper() bool {
	columnUses := system.columnUses()
	canExit := make([]bool, len(system.currentChoices))
	var queue []uint32
	for unknown, choice := range system.currentChoices {
		canExit[unknown] = choice == sparse.None || system.exitWeights[choice] > 0
		if canExit[unknown] {
			queue = append(queue, uint32(unknown))
		}
	}
	for head := 0; head < len(queue); head++ {
		for _, choice := range columnUses.usesOf(queue[head]) {
			if unknown := columnUses.owners[choice]; system.currentChoices[unknown] == choice && !canExit[unknown] {
				canExit[unknown] = true
				queue = append(queue, unknown)
			}
		}
	}
	return len(queue) == len(canExit)
}

// choiceValue returns the value of a choice as an integer: multiplied by the scale of its row, by the denominator of the constants and by that of the
// values.
func (system *exactLocalSystem) choiceValue(choice uint32) *big.Int {
	row := &system.rows[choice]
	sum, term := new(big.Int).Mul(row.scaledConstant, system.denominator), new(big.Int)
	for i, column := range row.columns {
		sum.Add(sum, term.Mul(row.coefficients[i], system.numerators[column]))
	}
	return sum
}

// improve switches every unknown to its best choice for the current values, and reports whether any choice changed.
func (system *exactLocalSystem) improve() (changed bool) {
	for unknown, current := range system.currentChoices {
		if best := system.bestChoice(unknown); best != current {
			system.currentChoices[unknown], changed = best, true
		}
	}
	return changed
}

// bestChoice returns the choice of an unknown with the best value, or the current choice if no other is better. A value is a fraction value/scale, so two
// values are compared by cross-multiplication.
func (system *exactLocalSystem) bestChoice(unknown int) uint32 {
	current := system.currentChoices[unknown]
	best, bestValue, bestScale := current, system.numerators[unknown], big.NewInt(1)
	var left, right big.Int
	for candidate := system.choiceStarts[unknown]; candidate < system.choiceStarts[unknown+1]; candidate++ {
		if candidate == current {
			continue
		}
		value, scale := system.choiceValue(candidate), system.rows[candidate].scale
		order := left.Mul(value, bestScale).Cmp(right.Mul(bestValue, scale))
		isBetter := order > 0
		if system.minimize {
			isBetter = order < 0
		}
		if isBetter {
			best, bestValue, bestScale = candidate, value, scale
		}
	}
	return best
}

// evaluate computes the exact values of the current scheduler by p-adic lifting, and stores them in system.numerators and system.denominator.
func (system *exactLocalSystem) evaluate(meter *meter) error {
	zeroRow := exactRow{scale: big.NewInt(1), scaledConstant: new(big.Int)} // for unknowns without a choice
	rows := make([]*exactRow, len(system.currentChoices))
	for unknown, choice := range system.currentChoices {
		rows[unknown] = &zeroRow
		if choice != sparse.None {
			rows[unknown] = &system.rows[choice]
		}
	}
	lifting, err := newLifting(meter, rows)
	if err != nil {
		return err
	}
	system.numerators, system.denominator, err = lifting.solve(meter, func(unknown int) *big.Int { return rows[unknown].scaledConstant })
	return err
}

// value returns the value of an unknown.
func (system *exactLocalSystem) value(unknown uint32) *big.Rat {
	return new(big.Rat).SetFrac(system.numerators[unknown], new(big.Int).Mul(system.denominator, system.constantDenominator))
}
