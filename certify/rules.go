package certify

import (
	"errors"
	"fmt"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/exact"
	"tilecheck/certify/omega"
	"tilecheck/certify/several"
	"tilecheck/certify/steps"
)

var one = big.NewRat(1, 1)

// proof is the check of a vector.
type proof struct {
	*checker
	v           *certificate.Vector
	left, right set
	maximizer   certificate.Bits     // of a game: the states whose choices maximize
	r           *certificate.Rewards // nil for a probability
}

// prove checks the columns of vector i by the rule of its kind.
func (c *checker) prove(i int, b *bounds) error {
	v := &c.file.Vectors[i]
	p := &proof{checker: c, v: v}
	for _, j := range v.Sets() {
		if p.left, p.right = p.right, c.sets[j]; c.sets[j].err != nil {
			return c.sets[j].err
		}
	}
	if v.Maximizer != 0 {
		if !c.sets[v.Maximizer].decided() {
			return errors.New("its maximizer is not decided in every state")
		}
		p.maximizer = c.sets[v.Maximizer].at[lower]
	}
	if v.Probability() {
		b.ceiling = one
	}
	switch v.Kind {
	case certificate.PathFormula, certificate.CoSafe:
		return p.pathFormula(b)
	case certificate.Objectives:
		return p.objectives(b)
	case certificate.Until, certificate.Steps, certificate.Next:
	default:
		if !p.right.decided() {
			return errors.New("its target is not decided in every state")
		}
		p.r = c.Earned(v.Reward, p.right.at[lower])
	}
	switch v.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
		return p.fixedPoint()
	case certificate.Average:
		return p.average()
	}
	return p.steps(b)
}

// steps is rule 4.
func (p *proof) steps(b *bounds) (err error) {
	q := &steps.Problem{
		Model: p.Model.Model, Weights: p.Weights, Vector: p.v, Rewards: p.r,
		Left: p.left.at, Right: p.right.at,
	}
	switch {
	case p.v.Kind == certificate.Instant: // nothing is earned by the steps
		q.Rewards = nil
	case p.v.Endless():
		if err := p.fixedPoint(); err != nil {
			return err
		}
		proven := *b
		q.End = proven.value
	}
	b.at, err = q.Values(p.ctx)
	return err
}

// choice reports whether the condition holds for "the choice" of the package comment: for some choice of the state if the bound is a lower
// bound of the maximum or an upper bound of the minimum, and otherwise for every choice. In a game the owner of the state decides which.
func (p *proof) choice(s, side int, holds func(choice int) bool) bool {
	first, end := p.Choices(s)
	maximizes := p.v.Max
	if p.v.Maximizer != 0 {
		maximizes = p.maximizer.Has(s)
	}
	some := maximizes == (side == lower)
	for i := first; i < end; i++ {
		if holds(i) == some {
			return some
		}
	}
	return !some
}

// fixedPoint is rules 1, 2 and 3.
func (p *proof) fixedPoint() error {
	x, y, until, total := p.v.Lower, p.v.Upper, p.r == nil, p.v.Kind == certificate.TotalReward
	unit := new(big.Rat) // the value in the target
	if until {
		unit = one
	}
	goal, rank := p.right.at, p.v.Rank
	nearer := func(s, i int, or func(t int) bool) bool {
		return p.Some(i, func(t int) bool { return rank != nil && rank[t] < rank[s] || or(t) })
	}
	never := func(int) bool { return false }
	if x != nil {
		sign := x.Compare(unit)
		ends := func(t int) bool { return goal[lower].Has(t) || x.Zero(t) || x.Infinite.Has(t) }
		if err := p.everyState("lower", func(s int) string {
			switch {
			case goal[lower].Has(s):
				if sign(s) > 0 {
					return "the value is above that of the target"
				}
			case x.Infinite.Has(s):
				if !p.infinite(s, func(i int) bool { return !total || p.r.Positive(i) || nearer(s, i, never) }) {
					return "nothing shows that the value is infinite"
				}
			case !x.Zero(s) && (until && !p.left.at[lower].Has(s) || !p.choice(s, lower, func(i int) bool {
				return p.Compare(x, x, s, i, p.r) <= 0 && (!until && !total || p.r.Positive(i) || nearer(s, i, ends))
			})):
				return "the value is above that of a step, or nothing leads on"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	if y == nil {
		return nil
	}
	sign := y.Compare(unit)
	return p.everyState("upper", func(s int) string {
		switch {
		case goal[upper].Has(s):
			if sign(s) < 0 {
				return "the value is below that of the target"
			}
		case !y.Infinite.Has(s) && (!until || p.left.at[upper].Has(s)) && !p.choice(s, upper, func(i int) bool {
			return p.Compare(y, y, s, i, p.r) >= 0 && (until || total || nearer(s, i, goal[lower].Has))
		}):
			return "the value is below that of a step, or nothing leads to the target"
		}
		return ""
	})
}

// infinite checks a state of infinite value: its choice has a successor in a lower layer, or it is allowed and all its successors are in
// the same layer.
func (p *proof) infinite(s int, allowed func(choice int) bool) bool {
	layer, inf := p.v.Layer, p.v.Lower.Infinite
	return layer != nil && p.choice(s, lower, func(i int) bool {
		return p.Some(i, func(t int) bool { return inf.Has(t) && layer[t] < layer[s] }) ||
			(!p.v.Max || layer[s] == 0) && allowed(i) &&
				!p.Some(i, func(t int) bool { return !inf.Has(t) || layer[t] != layer[s] })
	})
}

// average is rule 5.
func (p *proof) average() error {
	gains, biases := [2]*certificate.Values{p.v.Lower, p.v.Upper}, [2]*certificate.Values{p.v.LowerBias, p.v.UpperBias}
	for side, gain := range gains {
		bias, sign := biases[side], 2*side-1
		if gain == nil {
			continue
		}
		if bias == nil {
			return errors.New("found no bias")
		}
		left := p.Sum(bias, gain)
		if err := p.everyState([]string{"lower", "upper"}[side], func(s int) string {
			if !p.choice(s, side, func(i int) bool {
				return sign*p.Compare(gain, gain, s, i, nil) >= 0 && sign*p.Compare(left, bias, s, i, p.r) >= 0
			}) {
				return "gain and bias do not go with a step"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	return nil
}

// pathFormula is rule 6: rules 1 and 2 for the product with an automaton.
func (p *proof) pathFormula(b *bounds) error {
	coSafe := p.v.Kind == certificate.CoSafe
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	if err := omega.Agrees(p.ctx, p.v.Automaton, coSafe); err != nil {
		return err
	}
	pairs, err := omega.Pairs(p.ctx, omega.Model(p.Model.Model, p.v), p.v.Automaton, sets, coSafe)
	if err != nil {
		return err
	}
	q, err := p.forProduct(pairs.Model, p.v)
	if err != nil {
		return err
	}
	if coSafe {
		goal := pairs.Accepting()
		q.right.at, q.r = [2]certificate.Bits{goal, goal}, pairs.Earned(p.Earned(p.v.Reward, nil))
		return q.fixedPoint()
	}
	all, won, sure, err := omega.CheckRuns(p.ctx, pairs, p.v)
	if err != nil {
		return err
	}
	q.left.at, q.right.at = [2]certificate.Bits{all, all}, [2]certificate.Bits{won, sure}
	return q.fixedPoint()
}

// objectives is rule 7: rule 3 for the product with the memory of the objectives.
func (p *proof) objectives(b *bounds) error {
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	b.at, err = several.Values(p.ctx, p.Model.Model, p.v, sets, p.Earned, func(l several.Lemma) error {
		q, err := p.forProduct(l.Model, l.Vector)
		if q.r = l.Rewards; err != nil {
			return err
		}
		return q.fixedPoint()
	})
	return err
}

// decidedSets returns the sets of the vector. They must be the same from both sides.
func (p *proof) decidedSets() (sets []certificate.Bits, err error) {
	for _, j := range p.v.Sets() {
		if !p.sets[j].decided() {
			return nil, fmt.Errorf("set %d is not decided in every state", j)
		}
		sets = append(sets, p.sets[j].at[lower])
	}
	return sets, nil
}

// forProduct returns a proof about a vector of a product, without sets and rewards.
func (p *proof) forProduct(m *certificate.Model, v *certificate.Vector) (q *proof, err error) {
	q = &proof{checker: &checker{ctx: p.ctx, n: m.NumStates()}, v: v}
	q.Model, err = exact.New(p.ctx, m)
	return q, err
}
