package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// ReachReward returns bounds on the value of the expected reward until target is reached, where a path
// that never reaches it has an infinite reward. The value is infinite where the minimizer cannot reach
// target almost surely.
//
// Source: PRISM-games' R[F]; stochastic shortest path games, Patek and Bertsekas (1999); strategy
// improvement of the minimizer from a strategy that reaches target almost surely.
func (x *Game) ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	if dir, ok := x.direction(); ok {
		return ReachReward(ctx, x.g, r, target, dir, opts)
	}
	strategy := x.firstChoices()
	other := NewGame(x.g, x.maximizer.Complement()) // of the minimizer, who wants to reach the target
	_, finite, err := other.certain(ctx, sparse.FullSet(x.g.NumStates()), target, strategy)
	if err != nil {
		return nil, err
	}
	it, err := x.rewards(ctx, r, finite, opts)
	if err != nil {
		return nil, err
	}
	it.sys.maybe = finite.Minus(target)
	it.solve = func(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return ReachReward(ctx, g, r, target, dir, opts)
	}
	return it.run(Min, strategy)
}

// TotalReward returns bounds on the value of the expected total reward. It is infinite where the
// maximizer can collect rewards forever with positive probability.
//
// Source: strategy improvement of the maximizer.
func (x *Game) TotalReward(ctx context.Context, r *sparse.Reward, opts Options) (*Values, error) {
	if dir, ok := x.direction(); ok {
		return TotalReward(ctx, x.g, r, dir, opts)
	}
	infinite, err := x.infiniteTotal(ctx, r)
	if err != nil {
		return nil, err
	}
	it, err := x.rewards(ctx, r, infinite.Complement(), opts)
	if err != nil {
		return nil, err
	}
	it.sys.maybe = infinite.Complement()
	it.solve = func(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return TotalReward(ctx, g, r, dir, opts)
	}
	return it.run(Max, x.firstChoices())
}

// infiniteTotal returns the states with an infinite total reward: those from which the maximizer can
// come with positive probability to a state where it can collect rewards infinitely often, almost
// surely.
//
// Source: Chatterjee and Henzinger (2012), section 3.2: almost-sure Buchi objectives.
func (x *Game) infiniteTotal(ctx context.Context, r *sparse.Reward) (*sparse.Set, error) {
	rewarded := sparse.NewSet(x.g.NumChoices())
	for s := range x.g.NumStates() {
		first, end := x.g.Choices(s)
		for c := first; c < end; c++ {
			if r.OfChoice(s, c) > 0 {
				rewarded.Add(c)
			}
		}
	}
	all, none := sparse.FullSet(x.g.NumStates()), sparse.NewSet(x.g.NumStates())
	for forever := all; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := x.attract(attractor{left: all, right: none, inside: forever, choices: rewarded})
		if next.Count() == forever.Count() {
			return x.attract(attractor{left: all, right: forever, inside: all}), nil
		}
		forever = next
	}
}

// UntilReached returns bounds on the value of the expected reward until target is reached, where a path
// that never reaches it has its total reward.
//
// Source: PRISM-games' R[Fc].
func (x *Game) UntilReached(ctx context.Context, r *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	b := sparse.NewDerivedBuilder(x.g.Model, x.g.Kind)
	same := func(i int) uint32 { return x.g.Target[i] }
	for s := range x.g.NumStates() {
		b.State()
		if target.Has(s) {
			b.Loop(uint32(s))
			continue
		}
		first, end := x.g.Choices(s)
		for c := first; c < end; c++ {
			b.Copy(c, same)
		}
	}
	g := sparse.NewGraph(b.Finish())
	out := sparse.Reward{Name: r.Name, Err: r.Err, Unfit: r.Unfit}
	out.State, out.StateRat = outside(r.State, target), outside(r.StateRat, target)
	out.Choice, out.ChoiceRat = ofOrigin(r.Choice, b.Origin), ofOrigin(r.ChoiceRat, b.Origin)
	return NewGame(g, x.maximizer).TotalReward(ctx, &out, opts)
}

// outside returns a copy without the entries of some states.
func outside[T any](x []T, states *sparse.Set) []T {
	if x == nil {
		return nil
	}
	out := append([]T(nil), x...)
	for s := range states.All() {
		var zero T
		out[s] = zero
	}
	return out
}

// ofOrigin returns the entry of each choice's origin, zero for None.
func ofOrigin[T any](x []T, origin []uint32) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(origin))
	for c, from := range origin {
		if from != sparse.None {
			out[c] = x[from]
		}
	}
	return out
}

// rewards returns the strategy improvement for rewards. The values of the other states than the finite
// ones are infinite; so the minimizer never leaves these, and the maximizer cannot.
func (x *Game) rewards(ctx context.Context, r *sparse.Reward, finite *sparse.Set, opts Options) (*strategyImprovement, error) {
	opts.Epsilon = opts.epsilon()
	opts.Within, opts.Scheduler, opts.Classic = nil, false, false
	sys, err := x.system(r, opts)
	if err != nil {
		return nil, err
	}
	sys.values.set(finite.Complement(), math.Inf(1))
	sys.choices = x.g.ChoicesWithin(finite)
	return &strategyImprovement{game: x, ctx: ctx, opts: opts, sys: sys, reward: r}, nil
}
