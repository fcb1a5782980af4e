package solve

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// maxAccumulated limits the states of the product with the accumulated reward when bounds are narrowed.
const maxAccumulated = 1 << 19

// ZeroUnlessReached returns bounds on the value of the expected reward until target is reached, where a
// path that never reaches it has reward 0. Strategies may need the reward that was accumulated so far:
// whoever has much to lose takes no risk. So the states of the game are paired with it.
//
// Write p(s) for the value of reaching target, and a for the accumulated reward. The value of a pair is
// infinite where the total reward is infinite in the game that ends in target and where p is 0: the
// maximizer collects as much as it wants, and then goes for target. Elsewhere let u(s) be that total
// reward. Then the value of (s, a) is at least a*p(s) and at most a+u(s); the product ends with these
// bounds where a reaches a limit, and the limit grows until the bounds are narrow. For fractions the
// limit is the one beyond which both sides only make choices that are optimal for p (largeReward).
//
// Source: PRISM-games' R[F0]; Chen, Forejt, Kwiatkowska, Parker and Simaitis, Automatic verification of
// competitive stochastic systems (FMSD 2013), section 4.
func (game *Game) ZeroUnlessReached(ctx context.Context, r *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	opts.Within, opts.Scheduler, opts.Classic = nil, false, false
	all := sparse.FullSet(game.graph.NumStates())
	reach, err := game.Until(ctx, all, target, opts)
	if err != nil {
		return nil, err
	}
	x := &accumulation{game: game, ctx: ctx, opts: opts, reward: r, target: target, reach: reach, ends: target.Clone()}
	for s := range all.All() {
		if reach.isZero(s) {
			x.ends.Add(s)
		}
	}
	x.total, err = game.UntilReached(ctx, r, x.ends, opts)
	if err != nil {
		return nil, err
	}
	finite := sparse.NewSet(game.graph.NumStates())
	for s := range all.All() {
		if !x.total.isInfinite(s) {
			finite.Add(s)
		}
	}
	x.choices = game.graph.ChoicesWithin(finite)
	out := newValues(game.graph.Model, opts)
	out.set(finite.Complement(), math.Inf(1))
	if opts.Exact {
		return out, x.exact(out, finite)
	}
	return out, x.narrow(out, finite)
}

// isZero reports whether the value of a state is known to be 0.
func (v *Values) isZero(s int) bool {
	if v.Exact != nil {
		return v.Exact[s] != nil && v.Exact[s].Sign() == 0
	}
	return v.Upper[s] == 0
}

// isInfinite reports whether the value of a state is known to be infinite.
func (v *Values) isInfinite(s int) bool {
	if v.Exact != nil {
		return v.Exact[s] == nil
	}
	return math.IsInf(v.Lower[s], 1)
}

// accumulation solves a game for ZeroUnlessReached.
type accumulation struct {
	game    *Game
	ctx     context.Context
	opts    Options
	reward  *sparse.Reward
	target  *sparse.Set
	reach   *Values     // the probabilities p of reaching target
	ends    *sparse.Set // target, and the states where p is 0
	total   *Values     // the total rewards u until ends are reached
	choices *sparse.Set // the choices that lead to states with finite values only
}

// narrow narrows the bounds of the finite values by increasing the limit of the accumulated reward.
func (x *accumulation) narrow(out *Values, finite *sparse.Set) error {
	limit := 1.0
	for s := range finite.All() {
		if total := x.total.Upper[s]; !math.IsInf(total, 1) {
			limit = max(limit, 2*total)
		}
		out.Upper[s] = math.Inf(1)
	}
	for ; ; limit *= 2 {
		product, err := x.product(finite, new(big.Rat).SetFloat64(limit))
		if err != nil {
			return err
		}
		least, err := product.solve(x.least)
		if err != nil {
			return err
		}
		greatest, err := product.solve(x.greatest)
		if err != nil {
			return err
		}
		for s := range finite.All() {
			start := product.start[s]
			out.Lower[s], out.Upper[s] = max(out.Lower[s], least.Lower[start]), min(out.Upper[s], greatest.Upper[start])
		}
		out.Converged = !out.hasWideBounds(finite, x.opts.epsilon())
		if out.Converged || len(product.pairs) > maxAccumulated {
			return nil
		}
	}
}

// least returns a lower bound on the value of a pair: the maximizer goes for target.
func (x *accumulation) least(p accumulated) (float64, *big.Rat) {
	a, _ := p.amount.Float64()
	return a * x.reach.Lower[p.state], nil
}

// greatest returns an upper bound on the value of a pair: all rewards count.
func (x *accumulation) greatest(p accumulated) (float64, *big.Rat) {
	a, _ := p.amount.Float64()
	if x.ends.Has(int(p.state)) {
		return a * x.reach.Upper[p.state], nil
	}
	return a + x.total.Upper[p.state], nil
}

// exact computes the finite values as fractions. Beyond the limit, the value of (s, a) is a*p(s) + q(s).
func (x *accumulation) exact(out *Values, finite *sparse.Set) error {
	q, limit, err := x.largeReward(finite)
	if err != nil {
		return err
	}
	p, err := x.product(finite, limit)
	if err != nil {
		return err
	}
	v, err := p.solve(func(p accumulated) (float64, *big.Rat) {
		payoff := new(big.Rat).Mul(p.amount, x.reach.Exact[p.state])
		payoff.Add(payoff, q[p.state])
		f, _ := payoff.Float64()
		return f, payoff
	})
	if err != nil {
		return err
	}
	for s := range finite.All() {
		out.assign(s, v.Exact[p.start[s]])
	}
	return nil
}

// largeReward returns, for each state with a finite value, the value q of the reward still to come if both
// sides only make choices that are optimal for p. Such choices keep p constant on average, so a reward
// counts as often as p says: q is the total of the rewards times p. It also returns the accumulated reward
// from which a*p(s) + q(s) is the value: beyond it, the loss of a*p by any other choice is not less than
// its gain of q.
func (x *accumulation) largeReward(finite *sparse.Set) (q []*big.Rat, limit *big.Rat, err error) {
	optimal := x.optimalChoices()
	model := *x.game.graph.Model
	model.Rewards = []sparse.Reward{x.weightedReward()}
	restricted := model.Restrict(optimal)
	total, err := NewGame(sparse.NewGraph(restricted), x.game.maximizer).UntilReached(x.ctx, &restricted.Rewards[0], x.ends, x.opts)
	if err != nil {
		return nil, nil, err
	}
	limit = new(big.Rat)
	for s := range finite.Minus(x.ends).All() {
		first, end := x.game.graph.Choices(s)
		for c := first; c < end; c++ {
			if !x.choices.Has(c) || optimal.Has(c) {
				continue
			}
			if choiceLimit := x.choiceLimit(s, c, total.Exact); choiceLimit.Cmp(limit) > 0 {
				limit = choiceLimit
			}
		}
	}
	return total.Exact, limit, nil
}

// optimalChoices returns the choices that keep p constant on average, and all choices of end states.
func (x *accumulation) optimalChoices() *sparse.Set {
	graph, p := x.game.graph, x.reach.Exact
	optimal := sparse.NewSet(graph.NumChoices())
	for s := range graph.NumStates() {
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			if x.ends.Has(s) || meanRat(graph, c, p).Cmp(p[s]) == 0 {
				optimal.Add(c)
			}
		}
	}
	return optimal
}

// choiceLimit returns the accumulated reward from which a choice that loses p is not better than an optimal one. After the
// choice the value is (a+r)*mean(p) + mean(q), instead of a*p + q.
func (x *accumulation) choiceLimit(s, c int, q []*big.Rat) *big.Rat {
	graph, p := x.game.graph, x.reach.Exact
	mean := meanRat(graph, c, p)
	gain := x.reward.OfChoiceRat(s, c)
	gain.Mul(gain, mean).Add(gain, meanRat(graph, c, q)).Sub(gain, q[s])
	loss := new(big.Rat).Sub(p[s], mean)
	return gain.Quo(gain, loss)
}

// meanRat returns the expected value after a choice.
func meanRat(g *sparse.Graph, c int, values []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	first, end := g.Row(c)
	for i := first; i < end; i++ {
		sum.Add(sum, new(big.Rat).Mul(g.Rat(i), values[g.Target[i]]))
	}
	return sum
}

// weightedReward returns the rewards of states and choices times the probability p of the state.
func (x *accumulation) weightedReward() sparse.Reward {
	g := x.game.graph
	out := sparse.Reward{Choice: make([]float64, g.NumChoices()), ChoiceRat: make([]*big.Rat, g.NumChoices())}
	for s := range g.NumStates() {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			product := x.reward.OfChoiceRat(s, c)
			product.Mul(product, x.reach.Exact[s])
			out.ChoiceRat[c] = product
			out.Choice[c], _ = product.Float64()
		}
	}
	return out
}

// accumulated is a state with the reward that was accumulated before it.
type accumulated struct {
	state  uint32
	amount *big.Rat
}

// accumulatedProduct is the game on pairs. State 0 is reached from pairs that end, state i from 1 has
// pairs[i-1].
type accumulatedProduct struct {
	*accumulation
	graph       *sparse.Graph
	pairs       []accumulated
	start       []uint32 // of each state with a finite value: the pair with reward 0
	endedStates *sparse.Set
}

// product builds the game on the pairs that are reached with accumulated rewards below a limit. A pair ends
// if its reward is not below the limit, or if its state ends.
func (x *accumulation) product(finite *sparse.Set, limit *big.Rat) (*accumulatedProduct, error) {
	g := x.game.graph
	p := &accumulatedProduct{accumulation: x, start: make([]uint32, g.NumStates())}
	type key struct {
		state  uint32
		amount string
	}
	numbers := map[key]uint32{}
	number := func(s uint32, amount *big.Rat, text string) uint32 {
		i, ok := numbers[key{s, text}]
		if !ok {
			p.pairs = append(p.pairs, accumulated{s, amount})
			i = uint32(len(p.pairs))
			numbers[key{s, text}] = i
		}
		return i
	}
	zero := new(big.Rat)
	for s := range finite.All() {
		p.start[s] = number(uint32(s), zero, zero.RatString())
	}
	b := sparse.NewDerivedBuilder(g.Model, g.Kind)
	b.State()
	b.Loop(0)
	var ended []int
	for i := 0; i < len(p.pairs); i++ { // number appends to p.pairs
		if i&0xfff == 0 && x.ctx.Err() != nil {
			return nil, x.ctx.Err()
		}
		b.State()
		s := int(p.pairs[i].state)
		if x.ends.Has(s) || p.pairs[i].amount.Cmp(limit) >= 0 {
			ended = append(ended, i+1)
			b.Loop(0)
			continue
		}
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if !x.choices.Has(c) {
				continue
			}
			after := x.gain(s, c)
			after.Add(after, p.pairs[i].amount)
			text := after.RatString()
			b.Copy(c, func(i int) uint32 { return number(g.Target[i], after, text) })
		}
	}
	p.graph = sparse.NewGraph(b.Finish())
	p.endedStates = sparse.SetOf(p.graph.NumStates(), ended...)
	return p, nil
}

// gain returns the reward of a choice and its state: the fraction, or the float64 that stands for it.
func (x *accumulation) gain(s, c int) *big.Rat {
	if x.opts.Exact {
		return x.reward.OfChoiceRat(s, c)
	}
	sum := new(big.Rat)
	if x.reward.State != nil {
		sum.SetFloat64(x.reward.State[s])
	}
	if x.reward.Choice != nil {
		sum.Add(sum, new(big.Rat).SetFloat64(x.reward.Choice[c]))
	}
	return sum
}

// solve returns the values of the product for the payoffs of the pairs that end.
func (p *accumulatedProduct) solve(payoff func(accumulated) (float64, *big.Rat)) (*Values, error) {
	n := p.graph.NumStates()
	// A payoff is computed from an amount by a few operations.
	r := &sparse.Reward{State: make([]float64, n), Err: p.reward.Err + 8*unit, Unfit: p.reward.Unfit}
	if p.opts.Exact {
		r.StateRat = make([]*big.Rat, n)
	}
	maximizer := sparse.NewSet(n)
	for i, pair := range p.pairs {
		if p.game.maximizer.Has(int(pair.state)) {
			maximizer.Add(i + 1)
		}
		if !p.endedStates.Has(i + 1) {
			continue
		}
		x, exact := payoff(pair)
		r.State[i+1] = x
		if p.opts.Exact {
			r.StateRat[i+1] = exact
		}
	}
	return NewGame(p.graph, maximizer).TotalReward(p.ctx, r, p.opts)
}
