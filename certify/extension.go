//go:build !js

package certify

import (
	"math/big"

	"tilecheck/certify/budget"
	"tilecheck/certify/certificate"
	"tilecheck/certify/condition"
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
	given := p.v.Given
	product, err := condition.New(p.ctx, p.Model.Model, given.States, sets[0], sets[1])
	if err != nil {
		return err
	}
	productProof, err := p.forProduct(product.Model, p.v)
	if err != nil {
		return err
	}
	ends, columns, ranks := [2]*big.Rat{given.Lower, given.Upper}, [2]*certificate.Values{p.v.Lower, p.v.Upper}, [2][]uint32{p.v.Rank, p.v.Layer}
	for side := range 2 {
		if err := productProof.payoffBound(product, side, columns[side], ranks[side], ends[side]); err != nil {
			return err
		}
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

// payoffBound checks that a column bounds the greatest mean payoff from one side. q is the payoff of a path that never satisfies the condition.
func (p *proof) payoffBound(product *condition.Product, side int, values *certificate.Values, rank []uint32, q *big.Rat) error {
	sign := 2*side - 1
	difference := make([]func(s int) int, 4) // by what a path has seen: the sign of a value minus the payoff
	for i := range p.n {
		if seen := product.Seen[i]; difference[seen] == nil {
			difference[seen] = values.Compare(product.Payoff(i, p.v.Given.Avoids, q))
		}
	}
	// A state that is not decided must make progress if a lower bound is above, or an upper bound below, the payoff of remaining in its part.
	mustLeave := func(s int) bool { return !product.Decided(s) && sign*difference[product.Seen[s]](s) < 0 }
	return p.everyState([]string{"lower", "upper"}[side], func(s int) string {
		if product.Decided(s) {
			if sign*difference[product.Seen[s]](s) < 0 {
				return "the value contradicts the payoff of a decided path"
			}
			return ""
		}
		if !p.choice(s, side, func(c int) bool {
			leads := !mustLeave(s) || p.Some(c, func(t int) bool { return !mustLeave(t) || rank != nil && rank[t] < rank[s] })
			return leads && sign*p.Compare(values, values, s, c, nil) >= 0
		}) {
			return "the value does not satisfy the inequality of rule 11, or nothing leads on"
		}
		return ""
	})
}
