//go:build !js

package certify

import (
	"math/big"

	"tilecheck/certify/budget"
	"tilecheck/certify/certificate"
	"tilecheck/certify/omega"
	"tilecheck/certify/steps"
)

// discounted checks a discounted reward (rule 8).
func (p *proof) discounted(b *bounds) (err error) {
	if p.v.To >= 0 {
		problem := &steps.Problem{Model: p.Model.Model, Weights: p.Weights, Vector: p.v, Rewards: p.r}
		b.at, err = problem.DiscountedValues(p.ctx)
		return err
	}
	for side, values := range []*certificate.Values{p.v.Lower, p.v.Upper} {
		if values == nil {
			continue
		}
		later, sign := values.Scaled(p.v.Discount), 2*side-1
		if err := p.everyState([]string{"lower", "upper"}[side], func(s int) string {
			if !p.choice(s, side, func(c int) bool { return sign*p.Compare(values, later, s, c, p.r) >= 0 }) {
				return "the value does not satisfy the inequality of rule 8"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	return nil
}

// rewardBounded checks an until formula with bounds on rewards (rule 9): it applies rule 1 to the product with the rewards so far.
func (p *proof) rewardBounded() error {
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	product, err := budget.New(p.ctx, p.Model.Model, p.v.Budgets, sets[0], sets[1])
	if err != nil {
		return err
	}
	productProof, err := p.forProduct(product.Model, p.v)
	if err != nil {
		return err
	}
	all := certificate.NewBits(productProof.n)
	for s := range productProof.n {
		all.Add(s)
	}
	productProof.left.at, productProof.right.at = [2]certificate.Bits{all, all}, [2]certificate.Bits{product.Target, product.Target}
	return productProof.fixedPoint()
}

// conditional computes the bounds of a conditional probability from the bounds of its shares (rule 10).
func (p *proof) conditional(b *bounds) error {
	var shares [2]*bounds
	for k, share := range p.v.Shares {
		if shares[k] = p.checkVector(share.Vector); shares[k].err != nil {
			return shares[k].err
		}
	}
	value := func(k, side, s int) *big.Rat {
		if p.v.Shares[k].Complement {
			return new(big.Rat).Sub(one, shares[k].value(1-side, s))
		}
		return shares[k].value(side, s)
	}
	b.at = [2]*certificate.Values{{Rats: make([]*big.Rat, p.n)}, {Rats: make([]*big.Rat, p.n)}}
	b.undefined = certificate.NewBits(p.n)
	return p.everyState("shares", func(s int) string {
		b.at[lower].Rats[s], b.at[upper].Rats[s] = new(big.Rat), one
		if new(big.Rat).Add(value(0, lower, s), value(1, lower, s)).Sign() <= 0 {
			b.undefined.Add(s)
			return ""
		}
		for side := range b.at {
			with, without := value(0, side, s), value(1, 1-side, s)
			b.at[side].Rats[s] = new(big.Rat).Quo(with, new(big.Rat).Add(with, without))
		}
		return ""
	})
}

// maxConditional checks a maximal conditional probability (rule 11). A state has the bounds of the vector if its lower value is above the lower bound and
// its upper value not above the upper bound.
func (p *proof) maxConditional(b *bounds) error {
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	automaton, given := p.v.Automaton, p.v.Given
	for _, part := range automaton.Parts() {
		if err := omega.Agrees(p.ctx, part, false); err != nil {
			return err
		}
	}
	pairs, err := omega.Pairs(p.ctx, p.Model.Model, automaton, sets, false)
	if err != nil {
		return err
	}
	productProof, err := p.forProduct(pairs.Model, p.v)
	if err != nil {
		return err
	}
	_, winning, _, err := omega.CheckRuns(p.ctx, pairs, p.v, [2]*big.Rat{one, given.Upper})
	if err != nil {
		return err
	}
	if err := productProof.meanPayoffs(winning, given.Lower); err != nil {
		return err
	}
	isAbove, isAboveUpper := p.v.Lower.Compare(given.Lower), p.v.Upper.Compare(given.Upper)
	b.at = [2]*certificate.Values{{Rats: make([]*big.Rat, p.n)}, {Rats: make([]*big.Rat, p.n)}}
	b.undefined = certificate.NewBits(p.n)
	for s := range p.n {
		b.at[lower].Rats[s], b.at[upper].Rats[s] = new(big.Rat), one
		if isAbove(s) > 0 {
			b.at[lower].Rats[s] = given.Lower
		} else {
			b.undefined.Add(s)
		}
		if isAboveUpper(s) <= 0 {
			b.at[upper].Rats[s] = given.Upper
		}
	}
	return p.ctx.Err()
}

// meanPayoffs checks the steps of rule 11 in the product. In the winning states of a part, a scheduler can end the path with the payoff of the part; q is
// the payoff of a path that violates the condition, for the lower values.
func (p *proof) meanPayoffs(winning [2]certificate.Bits, q *big.Rat) error {
	x, y, rank := p.v.Lower, p.v.Upper, p.v.Rank
	above := func(values *certificate.Values, payoff *big.Rat) func(s int) bool {
		compare := values.Compare(payoff)
		return func(s int) bool { return compare(s) > 0 }
	}
	above0, aboveQ, above1 := above(x, new(big.Rat)), above(x, q), above(x, one)
	goesOn := func(s int) bool { // the value is above the payoff of a path that ends here
		return above0(s) && !(winning[0].Has(s) && !above1(s)) && !(winning[1].Has(s) && !aboveQ(s))
	}
	if err := p.everyState("lower", func(s int) string {
		if goesOn(s) && !p.choice(s, lower, func(c int) bool {
			return p.Compare(x, x, s, c, nil) <= 0 && p.Some(c, func(t int) bool { return !goesOn(t) || rank != nil && rank[t] < rank[s] })
		}) {
			return "the value is above that of a step, or nothing leads on"
		}
		return ""
	}); err != nil {
		return err
	}
	compareToOne := y.Compare(one)
	return p.everyState("upper", func(s int) string {
		if compareToOne(s) < 0 && !p.choice(s, upper, func(c int) bool { return p.Compare(y, y, s, c, nil) >= 0 }) {
			return "the value is below that of a step"
		}
		return ""
	})
}
