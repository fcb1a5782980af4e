package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// exactLocalSystem is a local system in rational arithmetic.
type exactLocalSystem struct {
	*localSystem
	rows   []exactRow // of each choice
	constantDenominator *big.Int   // a common denominator of the constants
	choice []uint32   // the current scheduler
	// The value of unknown k is num[k] / (den * common).
	numerator []*big.Int
	denominator *big.Int
}

// exactRow is the equation of one choice: scale * x = constant + sum of coef * x(col). All numbers but
// the constant are integers.
type exactRow struct {
	scale          *big.Int
	weightDen      *big.Int // the common denominator of the weights, by which rewards are multiplied
	column            []uint32
	coefficient           []*big.Int
	constant       *big.Rat
	scaledConstant *big.Int // constant times the common denominator of all constants
}

// exactLocalSystem builds the exact equations of the component that l has in floating point.
func (sys *system) exactLocalSystem(local *localSystem, index *unknownIndex) *exactLocalSystem {
	exact := &exactLocalSystem{localSystem: local, choice: slices.Clone(local.scheduler)}
	for _, c := range local.modelChoice {
		s := sys.graph.Owner(c)
		exact.rows = append(exact.rows, sys.exactRow(s, int(c), index.ofState[s], index, sys.reward.OfChoiceRat(s, int(c))))
	}
	exact.constantDenominator = scaleConstants(exact.rows)
	return exact
}

// scaleConstants sets the scaled constants of all rows and returns their common denominator.
func scaleConstants(rows []exactRow) *big.Int {
	common := big.NewInt(1)
	var quotient, remainder big.Int
	for i := range rows {
		den := rows[i].constant.Denom()
		if quotient.QuoRem(common, den, &remainder); remainder.Sign() != 0 {
			remainder.GCD(nil, nil, common, den)
			common = new(big.Int).Mul(common, quotient.Quo(den, &remainder))
		}
	}
	for i := range rows {
		c := rows[i].constant
		quotient.Quo(common, c.Denom())
		rows[i].scaledConstant = new(big.Int).Mul(c.Num(), &quotient)
	}
	return common
}

// exactRow builds the equation of choice c of state s, with the given reward. The choice must leave the
// unknown.
func (sys *system) exactRow(s, c int, unknown uint32, index *unknownIndex, reward *big.Rat) exactRow {
	first, end := sys.graph.Row(c)
	scale := big.NewInt(1) // a common denominator of the weights
	var quotient, remainder big.Int
	for i := first; i < end; i++ {
		d := sys.graph.Rat(i).Denom()
		if quotient.QuoRem(scale, d, &remainder); remainder.Sign() != 0 {
			remainder.GCD(nil, nil, scale, d)
			scale = new(big.Int).Mul(scale, quotient.Quo(d, &remainder))
		}
	}
	row := exactRow{scale: scale, weightDen: scale}
	selfLoop := sys.graph.Kind == sparse.CTMC
	sum := new(big.Int)
	sys.scratchSum.reset()
	sys.scratchSum.addRat(reward)
	for i := first; i < end; i++ {
		t, w := int(sys.graph.Target[i]), sys.graph.Rat(i)
		k := index.ofState[t]
		if k == unknown {
			selfLoop = true
			continue
		}
		coef := new(big.Int).Quo(scale, w.Denom())
		coef.Mul(coef, w.Num())
		sum.Add(sum, coef)
		if k != sparse.None {
			row.column = append(row.column, k)
			row.coefficient = append(row.coefficient, coef)
			continue
		}
		sys.scratchTerm.reset()
		sys.scratchTerm.addRat(sys.values.Exact[t])
		sys.scratchSum.addProduct(w, &sys.scratchTerm)
	}
	sys.scratchSum.num.Mul(&sys.scratchSum.num, scale)
	row.constant = sys.scratchSum.rat()
	if selfLoop {
		row.scale = sum
	}
	return row
}

// policyIteration evaluates and improves the scheduler until no choice is better. If the first
// scheduler leaves the component with probability one, so do all improved ones.
func (e *exactLocalSystem) policyIteration(meter *meter) error {
	if !e.proper() {
		e.choice = e.properScheduler()
	}
	for {
		if err := e.evaluate(meter); err != nil {
			return err
		}
		if !e.improve() {
			return nil
		}
	}
}

// proper reports whether the current scheduler leaves the component with probability one from every
// unknown.
func (e *exactLocalSystem) proper() bool {
	users := e.columnUses()
	exits := make([]bool, len(e.choice))
	var queue []uint32
	for k, j := range e.choice {
		if exits[k] = j == sparse.None || e.exitWeight[j] > 0; exits[k] {
			queue = append(queue, uint32(k))
		}
	}
	for at := 0; at < len(queue); at++ {
		for _, j := range users.choices(queue[at]) {
			if k := users.owner[j]; e.choice[k] == j && !exits[k] {
				exits[k] = true
				queue = append(queue, k)
			}
		}
	}
	return len(queue) == len(exits)
}

// choiceValue returns the value of choice j, times its scale and both denominators.
func (e *exactLocalSystem) choiceValue(j uint32) *big.Int {
	row := &e.rows[j]
	sum, product := new(big.Int).Mul(row.scaledConstant, e.denominator), new(big.Int)
	for i, k := range row.column {
		sum.Add(sum, product.Mul(row.coefficient[i], e.numerator[k]))
	}
	return sum
}

// improve switches every unknown to its best choice, and reports whether any choice changed.
func (e *exactLocalSystem) improve() bool {
	changed := false
	one := big.NewInt(1)
	var left, right big.Int
	for k, best := range e.numerator {
		bestScale := one
		current := e.choice[k]
		for j := e.choiceStart[k]; j < e.choiceStart[k+1]; j++ {
			if j == current {
				continue
			}
			value := e.choiceValue(j)
			if order := left.Mul(value, bestScale).Cmp(right.Mul(best, e.rows[j].scale)); order != 0 && (order < 0) == e.minimize {
				best, bestScale = value, e.rows[j].scale
				e.choice[k], changed = j, true
			}
		}
	}
	return changed
}

// evaluate solves the equations under the current scheduler.
func (e *exactLocalSystem) evaluate(meter *meter) error {
	zeroRow := exactRow{scale: big.NewInt(1), scaledConstant: new(big.Int)} // of what cannot be left
	rows := make([]*exactRow, len(e.choice))
	for k, j := range e.choice {
		rows[k] = &zeroRow
		if j != sparse.None {
			rows[k] = &e.rows[j]
		}
	}
	lift, err := newLifting(meter, rows)
	if err == nil {
		e.numerator, e.denominator, err = lift.solve(meter, func(k int) *big.Int { return rows[k].scaledConstant })
	}
	return err
}

// value returns the value of unknown k.
func (e *exactLocalSystem) value(k uint32) *big.Rat {
	return new(big.Rat).SetFrac(e.numerator[k], new(big.Int).Mul(e.denominator, e.constantDenominator))
}
