package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// baseFraction is the number numerator / (valueDenominator * base^exponent) of a baseFractionSteps; a nil
// numerator stands for zero.
type baseFraction struct {
	numerator *big.Int
	exponent  int
}

// baseFractionSteps takes steps in rational arithmetic without greatest common divisors. It represents each
// value as an integer divided by a power of the base, a common denominator of all weights. No numerator is a
// multiple of the base, so equal numbers have equal representations.
type baseFractionSteps struct {
	*system
	base             *big.Int
	basePowers       []*big.Int     // of the base
	scaledWeight     []*big.Int     // of each weight: times the base
	valueDenominator *big.Int       // a common denominator of the first values and the rewards
	scaledValues     []baseFraction // of each state
	scaledReward     func(s, c int) *big.Int
	weightOne        uint32 // the weight 1, if there is one

	scratchProduct, scratchRemainder big.Int // scratch
}

// newBaseFractionSteps returns nil if the weights, or the initial values and rewards, have no small common
// denominator.
func (sys *system) newBaseFractionSteps() *baseFractionSteps {
	base := commonDenominator(big.NewInt(1), sys.graph.Rats)
	if sys.maximizer != nil || sys.graph.Kind == sparse.CTMC || base.BitLen() > 62 || base.BitLen() == 1 {
		return nil
	}
	steps := &baseFractionSteps{
		system: sys, base: base, basePowers: []*big.Int{big.NewInt(1)},
		valueDenominator: commonDenominator(big.NewInt(1), sys.values.Exact), weightOne: sparse.None,
	}
	for id, weight := range sys.graph.Rats {
		steps.scaledWeight = append(steps.scaledWeight, steps.scaledInteger(weight, base))
		if weight.Cmp(big.NewRat(1, 1)) == 0 {
			steps.weightOne = uint32(id)
		}
	}
	if reward := sys.reward; reward != nil {
		steps.valueDenominator = commonDenominator(commonDenominator(steps.valueDenominator, reward.StateRat), reward.ChoiceRat)
		steps.scaledReward = func(s, c int) *big.Int { return steps.scaledInteger(reward.OfChoiceRat(s, c), steps.valueDenominator) }
	}
	if steps.valueDenominator.BitLen() > 64 { // commonDenominator has given up
		return nil
	}
	for _, value := range sys.values.Exact {
		steps.scaledValues = append(steps.scaledValues, steps.reduce(steps.scaledInteger(value, steps.valueDenominator), 0))
	}
	return steps
}

// commonDenominator returns a common multiple of n and the denominators of the given fractions, some of which
// may be nil. If the result would exceed 64 bits, it returns some number of more than 64 bits.
func commonDenominator(n *big.Int, fractions []*big.Rat) *big.Int {
	var divisor big.Int
	for _, value := range fractions {
		if value == nil || n.BitLen() > 64 || divisor.Mod(n, value.Denom()).Sign() == 0 {
			continue
		}
		divisor.GCD(nil, nil, n, value.Denom())
		n = new(big.Int).Mul(n, divisor.Quo(value.Denom(), &divisor))
	}
	return n
}

// scaledInteger returns fraction times multiple, which must be a multiple of its denominator.
func (p *baseFractionSteps) scaledInteger(fraction *big.Rat, multiple *big.Int) *big.Int {
	quotient := new(big.Int).Quo(multiple, fraction.Denom())
	return quotient.Mul(quotient, fraction.Num())
}

// reduce returns numerator/base^exponent in lowest terms: it cancels powers of the base. It changes
// numerator.
func (p *baseFractionSteps) reduce(numerator *big.Int, exponent int) baseFraction {
	if numerator.Sign() == 0 {
		return baseFraction{}
	}
	var quotient big.Int
	for exponent > 0 {
		quotient.QuoRem(numerator, p.base, &p.scratchRemainder)
		if p.scratchRemainder.Sign() != 0 {
			break
		}
		numerator.Set(&quotient)
		exponent--
	}
	return baseFraction{numerator, exponent}
}

// timesBasePower returns number * base^exponent. The result is valid until the next call.
func (p *baseFractionSteps) timesBasePower(number *big.Int, exponent int) *big.Int {
	for len(p.basePowers) <= exponent {
		p.basePowers = append(p.basePowers, new(big.Int).Mul(p.basePowers[len(p.basePowers)-1], p.base))
	}
	if exponent == 0 {
		return number
	}
	return p.scratchProduct.Mul(number, p.basePowers[exponent])
}

// evaluateScaled returns the value of choice c of state s after one more step.
func (p *baseFractionSteps) evaluateScaled(s, c int) baseFraction {
	first, end := p.graph.Row(c)
	var reward *big.Int
	if p.scaledReward != nil {
		reward = p.scaledReward(s, c)
		if reward.Sign() == 0 {
			reward = nil
		}
	}
	if reward == nil && end-first == 1 && p.graph.Weight[first] == p.weightOne {
		return p.scaledValues[p.graph.Target[first]]
	}
	exponent := 0
	for i := first; i < end; i++ {
		exponent = max(exponent, p.scaledValues[p.graph.Target[i]].exponent)
	}
	sum := new(big.Int)
	for i := first; i < end; i++ {
		target := p.scaledValues[p.graph.Target[i]]
		if target.numerator == nil {
			continue
		}
		numerator := p.timesBasePower(target.numerator, exponent-target.exponent)
		sum.Add(sum, p.scratchProduct.Mul(numerator, p.scaledWeight[p.graph.Weight[i]]))
	}
	if reward != nil {
		sum.Add(sum, p.timesBasePower(reward, exponent+1))
	}
	return p.reduce(sum, exponent+1)
}

// compare returns -1, 0 or 1 if left is less than, equal to or greater than right.
func (p *baseFractionSteps) compare(left, right baseFraction) int {
	switch {
	case left.numerator == nil || right.numerator == nil || left.exponent == right.exponent:
		return p.numeratorOf(left).Cmp(p.numeratorOf(right))
	case left.exponent < right.exponent:
		return p.timesBasePower(left.numerator, right.exponent-left.exponent).Cmp(right.numerator)
	}
	return -p.timesBasePower(right.numerator, left.exponent-right.exponent).Cmp(left.numerator)
}

func (p *baseFractionSteps) numeratorOf(value baseFraction) *big.Int {
	if value.numerator == nil {
		return new(big.Int)
	}
	return value.numerator
}

// optimumScaled is optimumRat in the arithmetic of baseFractionSteps.
func (p *baseFractionSteps) optimumScaled(s int) (value baseFraction, choice uint32) {
	choice = sparse.None
	first, end := p.graph.Choices(s)
	for c := first; c < end; c++ {
		if !p.usable(c) {
			continue
		}
		candidate := p.evaluateScaled(s, c)
		if choice == sparse.None {
			value, choice = candidate, uint32(c)
			continue
		}
		order := p.compare(candidate, value)
		if order < 0 && p.minimize || order > 0 && !p.minimize {
			value, choice = candidate, uint32(c)
		}
	}
	return value, choice
}

// rat returns a number as a fraction.
func (p *baseFractionSteps) rat(value baseFraction) *big.Rat {
	if value.numerator == nil {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(value.numerator, new(big.Int).Mul(p.valueDenominator, p.timesBasePower(big.NewInt(1), value.exponent)))
}

// run applies the equations n times to the states of the window, and stores the values that are wanted as
// fractions.
func (p *baseFractionSteps) run(meter *meter, window *stepWindow, n int) error {
	next := slices.Clone(p.scaledValues)
	err := window.forEachStep(p.stepScheduler, meter, n, func(s uint32) (choice uint32, work int) {
		next[s], choice = p.optimumScaled(int(s))
		return choice, 100 + 4*len(p.numeratorOf(next[s]).Bits())
	}, func() { p.scaledValues, next = next, p.scaledValues })
	if err != nil {
		return err
	}
	for _, s := range window.states {
		if !window.restricted || window.queryDistance[s] == 0 {
			p.values.Exact[s] = p.rat(p.scaledValues[s])
			if err := meter.addWork(1000 + reductionCost(p.values.Exact[s])); err != nil {
				return err
			}
		}
	}
	return nil
}
