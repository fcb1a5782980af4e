package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// baseFraction is the number numerator / (valueDenominator * base^exponent), where valueDenominator and base are fields of
// baseFractionSteps. A nil numerator stands for zero.
type baseFraction struct {
	numerator *big.Int
	exponent  int
}

// baseFractionSteps takes steps in rational arithmetic without greatest common divisors. It represents each
// value as an integer divided by a power of the base, a common denominator of all weights. No numerator is a
// multiple of the base, so equal numbers have equal representations.
type baseFractionSteps struct {
	*equationSystem
	base             *big.Int
	basePowers       []*big.Int     // of the base
	scaledWeights    []*big.Int     // of each weight: times the base
	valueDenominator *big.Int       // a common denominator of the first values and the rewards
	scaledValues     []baseFraction // of each state
	scaledRewardOf   func(s, c int) *big.Int
	weightOne        uint32 // the weight 1, if there is one

	scratchProduct, scratchRemainder big.Int // scratch
}

const (
	// maxBaseBits is the greatest number of bits of the base, and of valueDenominator.
	maxBaseBits = 62
	// maxLongBaseBits replaces it for at least longSteps steps of at most longStates states. Then greatest common divisors of the long fractions take
	// more time than a long base.
	maxLongBaseBits, longSteps, longStates = 512, 128, 256
)

// newBaseFractionSteps prepares exact steps in which all values are fractions n/base^k with a common base: the common denominator of the probabilities.
// numSteps and numStates decide how large the base may be. It returns nil for an interval model or a CTMC, or if the numbers of the model have no small
// common denominator.
func (system *equationSystem) newBaseFractionSteps(numSteps, numStates int) *baseFractionSteps {
	maxBits := maxBaseBits
	if numSteps >= longSteps && numStates <= longStates {
		maxBits = maxLongBaseBits
	}
	base := commonDenominator(big.NewInt(1), system.graph.Fractions, maxBits)
	if system.nature != nil || system.graph.Kind == sparse.CTMC || base.BitLen() > maxBits || base.BitLen() == 1 {
		return nil
	}
	steps := &baseFractionSteps{
		equationSystem: system, base: base, basePowers: []*big.Int{big.NewInt(1)},
		valueDenominator: commonDenominator(big.NewInt(1), system.values.Exact, maxBits), weightOne: sparse.None,
	}
	for id, weight := range system.graph.Fractions {
		steps.scaledWeights = append(steps.scaledWeights, scaledInteger(weight, base))
		if weight.Cmp(big.NewRat(1, 1)) == 0 {
			steps.weightOne = uint32(id)
		}
	}
	if reward := system.reward; reward != nil {
		steps.valueDenominator = commonDenominator(steps.valueDenominator, reward.StateFractions, maxBits)
		steps.valueDenominator = commonDenominator(steps.valueDenominator, reward.ChoiceFractions, maxBits)
		steps.scaledRewardOf = func(state, choice int) *big.Int {
			return scaledInteger(reward.ExactChoiceTotal(state, choice), steps.valueDenominator)
		}
	}
	if steps.valueDenominator.BitLen() > maxBits { // commonDenominator has given up
		return nil
	}
	for _, value := range system.values.Exact {
		steps.scaledValues = append(steps.scaledValues, steps.reduce(scaledInteger(value, steps.valueDenominator), 0))
	}
	return steps
}

// commonDenominator returns the least common multiple of an integer and of the denominators of the fractions; nil fractions are ignored. As soon as it has
// more than maxBits bits, it stops, and the result only shows that the limit is exceeded.
func commonDenominator(multiple *big.Int, fractions []*big.Rat, maxBits int) *big.Int {
	for _, value := range fractions {
		if value != nil && multiple.BitLen() <= maxBits {
			multiple = leastCommonMultiple(multiple, value.Denom())
		}
	}
	return multiple
}

// reduce returns numerator/base^exponent with the smallest possible exponent: it divides the numerator by the base as often as this leaves no remainder. It
// changes numerator.
func (steps *baseFractionSteps) reduce(numerator *big.Int, exponent int) baseFraction {
	if numerator.Sign() == 0 {
		return baseFraction{}
	}
	var quotient big.Int
	for exponent > 0 {
		quotient.QuoRem(numerator, steps.base, &steps.scratchRemainder)
		if steps.scratchRemainder.Sign() != 0 {
			break
		}
		numerator.Set(&quotient)
		exponent--
	}
	return baseFraction{numerator, exponent}
}

// multiplyByBasePower returns number * base^exponent. The next call may overwrite the result.
func (steps *baseFractionSteps) multiplyByBasePower(number *big.Int, exponent int) *big.Int {
	for len(steps.basePowers) <= exponent {
		steps.basePowers = append(steps.basePowers, new(big.Int).Mul(steps.basePowers[len(steps.basePowers)-1], steps.base))
	}
	if exponent == 0 {
		return number
	}
	return steps.scratchProduct.Mul(number, steps.basePowers[exponent])
}

// evaluateScaled returns the reward of a choice of a state plus the mean value of its targets after the current number of steps, as a numerator over a power
// of the base.
func (steps *baseFractionSteps) evaluateScaled(state, choice int) baseFraction {
	first, end := steps.graph.Transitions(choice)
	reward := new(big.Int)
	if steps.scaledRewardOf != nil {
		reward = steps.scaledRewardOf(state, choice)
	}
	hasReward := reward.Sign() != 0
	if !hasReward && end-first == 1 && steps.graph.WeightIndex[first] == steps.weightOne {
		return steps.scaledValues[steps.graph.Target[first]]
	}
	exponent := steps.maxExponent(steps.graph.Target[first:end])
	sum := new(big.Int)
	for transition := first; transition < end; transition++ {
		target := steps.scaledValues[steps.graph.Target[transition]]
		if target.numerator == nil {
			continue
		}
		numerator := steps.multiplyByBasePower(target.numerator, exponent-target.exponent)
		sum.Add(sum, steps.scratchProduct.Mul(numerator, steps.scaledWeights[steps.graph.WeightIndex[transition]]))
	}
	if hasReward {
		sum.Add(sum, steps.multiplyByBasePower(reward, exponent+1))
	}
	return steps.reduce(sum, exponent+1)
}

// maxExponent returns the greatest exponent of the values of some states.
func (steps *baseFractionSteps) maxExponent(states []uint32) int {
	exponent := 0
	for _, state := range states {
		exponent = max(exponent, steps.scaledValues[state].exponent)
	}
	return exponent
}

// compare returns -1, 0 or 1 if left is less than, equal to or greater than right.
func (steps *baseFractionSteps) compare(left, right baseFraction) int {
	switch {
	case left.numerator == nil || right.numerator == nil || left.exponent == right.exponent:
		return steps.numeratorOf(left).Cmp(steps.numeratorOf(right))
	case left.exponent < right.exponent:
		return steps.multiplyByBasePower(left.numerator, right.exponent-left.exponent).Cmp(right.numerator)
	}
	return -steps.multiplyByBasePower(right.numerator, left.exponent-right.exponent).Cmp(left.numerator)
}

// numeratorOf returns the numerator of a value, or 0 for nil.
func (steps *baseFractionSteps) numeratorOf(value baseFraction) *big.Int {
	if value.numerator == nil {
		return new(big.Int)
	}
	return value.numerator
}

// optimumScaled returns the optimal value of a state over its usable choices, and the optimal choice.
func (steps *baseFractionSteps) optimumScaled(state int) (value baseFraction, choice uint32) {
	choice = sparse.None
	first, end := steps.graph.Choices(state)
	for candidateChoice := first; candidateChoice < end; candidateChoice++ {
		if !steps.isUsableChoice(candidateChoice) {
			continue
		}
		candidate := steps.evaluateScaled(state, candidateChoice)
		if choice == sparse.None || steps.isBetter(state, candidate, value) {
			value, choice = candidate, uint32(candidateChoice)
		}
	}
	return value, choice
}

// isBetter reports whether value is less than best if a state minimizes, or greater if it maximizes.
func (steps *baseFractionSteps) isBetter(state int, value, best baseFraction) bool {
	if steps.minimizes(state) {
		return steps.compare(value, best) < 0
	}
	return steps.compare(value, best) > 0
}

// fractionOf returns a value as a fraction.
func (steps *baseFractionSteps) fractionOf(value baseFraction) *big.Rat {
	if value.numerator == nil {
		return new(big.Rat)
	}
	denominator := new(big.Int).Mul(steps.valueDenominator, steps.multiplyByBasePower(big.NewInt(1), value.exponent))
	return new(big.Rat).SetFrac(value.numerator, denominator)
}

// run performs numSteps steps of value iteration on the states of the window, and stores the results as fractions in steps.values.Exact. If the window is
// restricted, it stores only the results of the wanted states.
func (steps *baseFractionSteps) run(meter *meter, window *stepWindow, numSteps int) error {
	nextValues := slices.Clone(steps.scaledValues)
	updateState := func(state uint32) (choice uint32, work int) {
		nextValues[state], choice = steps.optimumScaled(int(state))
		return choice, 100 + 4*len(steps.numeratorOf(nextValues[state]).Bits())
	}
	endStep := func() { steps.scaledValues, nextValues = nextValues, steps.scaledValues }
	if err := window.forEachStep(steps.stepScheduler, meter, numSteps, updateState, endStep); err != nil {
		return err
	}
	for _, state := range window.states {
		isWanted := !window.isRestricted || window.queryDistance[state] == 0
		if !isWanted {
			continue
		}
		steps.values.Exact[state] = steps.fractionOf(steps.scaledValues[state])
		if err := meter.addWork(1000 + reductionCost(steps.values.Exact[state])); err != nil {
			return err
		}
	}
	return nil
}
