//go:build !js

package certify

import (
	"math/big"

	"tilecheck/certify/budget"
	"tilecheck/certify/certificate"
	"tilecheck/certify/omega"
	"tilecheck/certify/steps"
)

// checkDiscountedReward checks a discounted reward (rule 8 of the package comment). If only the first steps count, it computes the bounds itself.
func (p *proof) checkDiscountedReward(b *bounds) (err error) {
	if p.vector.To >= 0 {
		problem := &steps.Problem{Model: p.Model.Model, Weights: p.Weights, Vector: p.vector, Rewards: p.rewards}
		b.bySide, err = problem.DiscountedValues(p.ctx)
		return err
	}
	for side, values := range []*certificate.Values{p.vector.Lower, p.vector.Upper} {
		if values == nil {
			continue
		}
		if err := p.checkDiscounted(side, values); err != nil {
			return err
		}
	}
	return nil
}

// checkDiscounted returns an error unless a column of a discounted reward satisfies the inequality of rule 8: v(s) against r + d * sum of P v.
// side says whether the column has lower or upper bounds.
func (p *proof) checkDiscounted(side int, values *certificate.Values) error {
	discounted, sign := values.Scaled(p.vector.Discount), 2*side-1
	return p.checkStates(sideName(side), func(s int) string {
		if !p.holdsForChoices(s, side, func(c int) bool { return sign*p.Compare(values, discounted, s, c, p.rewards) >= 0 }) {
			return "the value does not satisfy the inequality of rule 8"
		}
		return ""
	})
}

// checkRewardBounded checks an until formula or a reward with bounds on rewards (rule 9). It applies rule 1 or rule 3 to the product of the model
// with the rewards that the path has collected.
func (p *proof) checkRewardBounded() error {
	isReward := p.vector.Kind == certificate.RewardWithinBounds
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	if isReward {
		sets = []certificate.Bits{p.allStates(), certificate.NewBits(p.numStates)}
	}
	product, err := budget.New(p.ctx, p.Model.Model, p.vector.Budgets, sets[0], sets[1])
	if err != nil {
		return err
	}
	productProof, err := p.forProduct(product.Model, p.vector)
	if err != nil {
		return err
	}
	if isReward {
		total := *p.vector
		total.Kind = certificate.TotalReward
		productProof.vector, productProof.rewards = &total, product.LiftRewards(p.StepRewards(p.vector.Reward, nil))
		productProof.rightSet.bySide = [2]certificate.Bits{product.Target, product.Target} // empty
		return productProof.checkFixedPoint()
	}
	all := productProof.allStates()
	productProof.leftSet.bySide, productProof.rightSet.bySide = [2]certificate.Bits{all, all}, [2]certificate.Bits{product.Target, product.Target}
	return productProof.checkFixedPoint()
}

// allStates returns the set of all states.
func (p *proof) allStates() certificate.Bits {
	all := certificate.NewBits(p.numStates)
	for s := range p.numStates {
		all.Add(s)
	}
	return all
}

// checkConditional computes bounds of a conditional probability a/(a+b) from bounds of its shares, a (satisfying) and b (violating) (rule 10). The value may be undefined in a
// state where both lower bounds are 0.
func (p *proof) checkConditional(result *bounds) error {
	var shares [2]*bounds
	for k, share := range p.vector.Shares {
		if shares[k] = p.checkVector(share.Vector); shares[k].err != nil {
			return shares[k].err
		}
	}
	shareBound := func(k, side, s int) *big.Rat {
		if p.vector.Shares[k].Complement {
			return new(big.Rat).Sub(one, shares[k].boundOf(1-side, s))
		}
		return shares[k].boundOf(side, s)
	}
	result.bySide = [2]*certificate.Values{{Fractions: make([]*big.Rat, p.numStates)}, {Fractions: make([]*big.Rat, p.numStates)}}
	result.undefined = certificate.NewBits(p.numStates)
	return p.checkStates("shares", func(s int) string {
		result.bySide[lower].Fractions[s], result.bySide[upper].Fractions[s] = new(big.Rat), one
		mayBeUndefined := new(big.Rat).Add(shareBound(0, lower, s), shareBound(1, lower, s)).Sign() <= 0
		if mayBeUndefined {
			result.undefined.Add(s)
			return ""
		}
		for side := range result.bySide { // the value increases with a and decreases with b
			satisfying, violating := shareBound(0, side, s), shareBound(1, 1-side, s)
			result.bySide[side].Fractions[s] = new(big.Rat).Quo(satisfying, new(big.Rat).Add(satisfying, violating))
		}
		return ""
	})
}

// checkMaxConditional checks a maximal conditional probability (rule 11), and sets the bounds that are proven in each state.
func (p *proof) checkMaxConditional(b *bounds) error {
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	automaton, conditional := p.vector.Automaton, p.vector.ConditionalBounds
	for _, part := range automaton.Parts() {
		if err := omega.Agrees(p.ctx, part, false); err != nil {
			return err
		}
	}
	pairs, err := omega.Pairs(p.ctx, p.Model.Model, automaton, sets, false)
	if err != nil {
		return err
	}
	productProof, err := p.forProduct(pairs.Model, p.vector)
	if err != nil {
		return err
	}
	_, winning, _, err := omega.CheckRuns(p.ctx, pairs, p.vector, [2]*big.Rat{one, conditional.Upper})
	if err != nil {
		return err
	}
	if err := productProof.checkMeanPayoffs(winning, conditional.Lower); err != nil {
		return err
	}
	p.setConditionalBounds(b)
	return p.ctx.Err()
}

// setConditionalBounds sets the bounds of a maximal conditional probability in each state. A state has the lower bound of the vector if its entry in
// the lower column is greater than that bound; if the vector is certain, the lower bound is 1. It has the upper bound of the vector if its entry
// in the upper column is at most that bound.
func (p *proof) setConditionalBounds(b *bounds) {
	conditional := p.vector.ConditionalBounds
	compareToLower, compareToUpper := p.vector.Lower.Compare(conditional.Lower), p.vector.Upper.Compare(conditional.Upper)
	b.bySide = [2]*certificate.Values{{Fractions: make([]*big.Rat, p.numStates)}, {Fractions: make([]*big.Rat, p.numStates)}}
	b.undefined = certificate.NewBits(p.numStates)
	provenLower := conditional.Lower
	if conditional.Certain {
		provenLower = one
	}
	for s := range p.numStates {
		b.bySide[lower].Fractions[s], b.bySide[upper].Fractions[s] = new(big.Rat), one
		if compareToLower(s) > 0 {
			b.bySide[lower].Fractions[s] = provenLower
		} else {
			b.undefined.Add(s)
		}
		if compareToUpper(s) <= 0 {
			b.bySide[upper].Fractions[s] = conditional.Upper
		}
	}
}

// checkMeanPayoffs returns an error unless the columns satisfy the inequalities of rule 11 in the product. In the states winning[k], a scheduler can
// end the path with the payoff of part k of the automaton: 1 for part 0, and violationPayoff for part 1, where the path violates the condition.
func (p *proof) checkMeanPayoffs(winning [2]certificate.Bits, violationPayoff *big.Rat) error {
	if err := p.checkLowerPayoffs(winning, violationPayoff); err != nil {
		return err
	}
	upperValues := p.vector.Upper
	compareToOne := upperValues.Compare(one)
	return p.checkStates("upper", func(s int) string {
		if compareToOne(s) < 0 && !p.holdsForChoices(s, upper, func(c int) bool { return p.Compare(upperValues, upperValues, s, c, nil) >= 0 }) {
			return "the value is less than the value after a step"
		}
		return ""
	})
}

// checkLowerPayoffs returns an error unless the lower column satisfies the inequalities of rule 11. The parameters are the same as for
// checkMeanPayoffs.
func (p *proof) checkLowerPayoffs(winning [2]certificate.Bits, violationPayoff *big.Rat) error {
	lowerValues, rank := p.vector.Lower, p.vector.Rank
	compareToZero, compareToViolation, compareToOne := lowerValues.Compare(new(big.Rat)), lowerValues.Compare(violationPayoff), lowerValues.Compare(one)
	canEnd := func(s int) bool { // a path can end in s with a payoff of at least lowerValues(s)
		return compareToZero(s) <= 0 || winning[0].Has(s) && compareToOne(s) <= 0 || winning[1].Has(s) && compareToViolation(s) <= 0
	}
	isLost := func(target int) bool { return p.vector.ConditionalBounds.Certain && compareToZero(target) <= 0 }
	return p.checkStates("lower", func(s int) string {
		if canEnd(s) {
			return ""
		}
		leadsOn := func(target int) bool { return canEnd(target) || rank != nil && rank[target] < rank[s] }
		if !p.holdsForChoices(s, lower, func(c int) bool {
			return p.Compare(lowerValues, lowerValues, s, c, nil) <= 0 && p.AnySuccessor(c, leadsOn) && !p.AnySuccessor(c, isLost)
		}) {
			return "the value is greater than the value after a step, or no successor is nearer to the target"
		}
		return ""
	})
}
