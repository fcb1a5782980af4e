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
	vector := &c.file.Vectors[i]
	p := &proof{checker: c, v: vector}
	for _, set := range vector.Sets() {
		if p.left, p.right = p.right, c.sets[set]; c.sets[set].err != nil {
			return c.sets[set].err
		}
	}
	if vector.Maximizer != 0 {
		if !c.sets[vector.Maximizer].decided() {
			return errors.New("its maximizer is not decided in every state")
		}
		p.maximizer = c.sets[vector.Maximizer].at[lower]
	}
	if vector.Probability() {
		b.ceiling = one
	}
	switch vector.Kind {
	case certificate.PathFormula, certificate.CoSafe:
		return p.pathFormula(b)
	case certificate.Objectives:
		return p.objectives(b)
	case certificate.RewardBounded:
		return p.rewardBounded()
	case certificate.Conditional:
		return p.conditional(b)
	case certificate.MaxConditional:
		return p.maxConditional(b)
	case certificate.Until, certificate.Steps, certificate.Next:
	default:
		if !p.right.decided() {
			return errors.New("its target is not decided in every state")
		}
		p.r = c.StepRewards(vector.Reward, p.right.at[lower])
	}
	switch vector.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
		return p.fixedPoint()
	case certificate.Average:
		return p.average()
	case certificate.Discounted:
		return p.discounted(b)
	}
	return p.steps(b)
}

// steps checks a vector with a step or time bound (rule 4). It replaces the claimed bounds by bounds that it computes.
func (p *proof) steps(b *bounds) (err error) {
	problem := &steps.Problem{
		Model: p.Model.Model, Weights: p.Weights, Vector: p.v, Rewards: p.r,
		Left: p.left.at, Right: p.right.at,
	}
	switch {
	case p.v.Kind == certificate.Instant: // nothing is earned by the steps
		problem.Rewards = nil
	case p.v.Endless():
		if err := p.fixedPoint(); err != nil {
			return err
		}
		proven := *b
		problem.End = proven.value
	}
	b.at, err = problem.Values(p.ctx)
	return err
}

// choice reports whether the condition holds for "the choice" of the package comment. This is some choice of the state if
// the bound is a lower bound of a maximum or an upper bound of a minimum, and otherwise every choice. In a game it depends
// on the owner of the state.
func (p *proof) choice(s, side int, holds func(choice int) bool) bool {
	first, end := p.Choices(s)
	maximizes := p.v.Max
	if p.v.Maximizer != 0 {
		maximizes = p.maximizer.Has(s)
	}
	forSome := maximizes == (side == lower)
	for c := first; c < end; c++ {
		if holds(c) == forSome {
			return forSome
		}
	}
	return !forSome
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

// average checks the gain and the bias of a long-run average (rule 5).
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
			if !p.choice(s, side, func(c int) bool {
				return sign*p.Compare(gain, gain, s, c, nil) >= 0 && sign*p.Compare(left, bias, s, c, p.r) >= 0
			}) {
				return "gain and bias do not satisfy the inequalities of rule 5"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	return nil
}

// pathFormula checks a path formula or a co-safe reward (rule 6): it applies rules 1 and 2 to the product with an automaton.
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
	productProof, err := p.forProduct(pairs.Model, p.v)
	if err != nil {
		return err
	}
	if coSafe {
		goal := pairs.Accepting()
		productProof.right.at, productProof.r = [2]certificate.Bits{goal, goal}, pairs.LiftRewards(p.StepRewards(p.v.Reward, nil))
		return productProof.fixedPoint()
	}
	all, won, sure, err := omega.CheckRuns(p.ctx, pairs, p.v, [2]*big.Rat{one, one})
	if err != nil {
		return err
	}
	productProof.left.at, productProof.right.at = [2]certificate.Bits{all, all}, [2]certificate.Bits{won[0], sure[0]}
	return productProof.fixedPoint()
}

// objectives checks a multi-objective vector (rule 7): it applies rule 3 to the product with the memory of the objectives.
func (p *proof) objectives(b *bounds) error {
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	b.at, err = several.Values(p.ctx, p.Model.Model, p.v, sets, p.StepRewards, func(lemma several.Lemma) error {
		productProof, err := p.forProduct(lemma.Model, lemma.Vector)
		if productProof.r = lemma.Rewards; err != nil {
			return err
		}
		return productProof.fixedPoint()
	})
	return err
}

// decidedSets returns the sets of the vector. The membership of every state must be known.
func (p *proof) decidedSets() (sets []certificate.Bits, err error) {
	for _, set := range p.v.Sets() {
		if !p.sets[set].decided() {
			return nil, fmt.Errorf("set %d is not decided in every state", set)
		}
		sets = append(sets, p.sets[set].at[lower])
	}
	return sets, nil
}

// forProduct returns a proof about a vector of a product, without sets and rewards.
func (p *proof) forProduct(model *certificate.Model, vector *certificate.Vector) (productProof *proof, err error) {
	productProof = &proof{checker: &checker{ctx: p.ctx, n: model.NumStates()}, v: vector}
	productProof.Model, err = exact.New(p.ctx, model)
	return productProof, err
}
