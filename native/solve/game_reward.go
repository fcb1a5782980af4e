package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// ReachReward returns bounds on the value of the expected reward until target is reached, where a path
// that never reaches it has an infinite reward. The value is infinite where the minimizer cannot reach
// target almost surely.
//
// Source: PRISM-games' R[F]; stochastic shortest path games, Patek and Bertsekas (1999); strategy
// improvement of the minimizer from a strategy that reaches target almost surely.
func (game *Game) ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	if dir, ok := game.direction(); ok {
		return ReachReward(ctx, game.graph, r, target, dir, opts)
	}
	strategy := game.firstChoices()
	other := NewGame(game.graph, game.maximizer.Complement()) // of the minimizer, who wants to reach the target
	_, finite, err := other.certain(ctx, sparse.FullSet(game.graph.NumStates()), target, strategy)
	if err != nil {
		return nil, err
	}
	improvement, err := game.rewards(ctx, r, finite, opts)
	if err != nil {
		return nil, err
	}
	improvement.sys.maybe = finite.Minus(target)
	improvement.solve = func(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return ReachReward(ctx, g, r, target, dir, opts)
	}
	return improvement.run(Min, strategy)
}

// TotalReward returns bounds on the value of the expected total reward. It is infinite where the
// maximizer can collect rewards forever with positive probability.
//
// Source: strategy improvement of the maximizer.
func (game *Game) TotalReward(ctx context.Context, r *sparse.Reward, opts Options) (*Values, error) {
	if dir, ok := game.direction(); ok {
		return TotalReward(ctx, game.graph, r, dir, opts)
	}
	infinite, err := game.infiniteTotal(ctx, r)
	if err != nil {
		return nil, err
	}
	improvement, err := game.rewards(ctx, r, infinite.Complement(), opts)
	if err != nil {
		return nil, err
	}
	improvement.sys.maybe = infinite.Complement()
	improvement.solve = func(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return TotalReward(ctx, g, r, dir, opts)
	}
	return improvement.run(Max, game.firstChoices())
}

// infiniteTotal returns the states with an infinite total reward: those from which the maximizer can
// come with positive probability to a state where it can collect rewards infinitely often, almost
// surely.
//
// Source: Chatterjee and Henzinger (2012), section 3.2: almost-sure Buchi objectives.
func (game *Game) infiniteTotal(ctx context.Context, r *sparse.Reward) (*sparse.Set, error) {
	rewarded := sparse.NewSet(game.graph.NumChoices())
	for s := range game.graph.NumStates() {
		first, end := game.graph.Choices(s)
		for c := first; c < end; c++ {
			if r.OfChoice(s, c) > 0 {
				rewarded.Add(c)
			}
		}
	}
	all, none := sparse.FullSet(game.graph.NumStates()), sparse.NewSet(game.graph.NumStates())
	for forever := all; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := game.attract(attractor{left: all, right: none, inside: forever, choices: rewarded})
		if next.Count() == forever.Count() {
			return game.attract(attractor{left: all, right: forever, inside: all}), nil
		}
		forever = next
	}
}

// UntilReached returns bounds on the value of the expected reward until target is reached, where a path
// that never reaches it has its total reward.
//
// Source: PRISM-games' R[Fc].
func (game *Game) UntilReached(ctx context.Context, r *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	b := sparse.NewDerivedBuilder(game.graph.Model, game.graph.Kind)
	same := func(i int) uint32 { return game.graph.Target[i] }
	for s := range game.graph.NumStates() {
		b.State()
		if target.Has(s) {
			b.Loop(uint32(s))
			continue
		}
		first, end := game.graph.Choices(s)
		for c := first; c < end; c++ {
			b.Copy(c, same)
		}
	}
	g := sparse.NewGraph(b.Finish())
	out := sparse.Reward{Name: r.Name, Err: r.Err, Unfit: r.Unfit}
	out.State, out.StateRat = outside(r.State, target), outside(r.StateRat, target)
	out.Choice, out.ChoiceRat = ofOrigin(r.Choice, b.Origin), ofOrigin(r.ChoiceRat, b.Origin)
	return NewGame(g, game.maximizer).TotalReward(ctx, &out, opts)
}

// outside returns a copy without the entries of some states.
func outside[T any](x []T, states *sparse.Set) []T {
	if x == nil {
		return nil
	}
	out := slices.Clone(x)
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
func (game *Game) rewards(ctx context.Context, r *sparse.Reward, finite *sparse.Set, opts Options) (*strategyImprovement, error) {
	opts.Epsilon = opts.epsilon()
	opts.Within, opts.Scheduler, opts.Classic = nil, false, false
	sys, err := game.newSystem(newSystem, r, opts)
	if err != nil {
		return nil, err
	}
	sys.values.set(finite.Complement(), math.Inf(1))
	sys.choices = game.graph.ChoicesWithin(finite)
	return &strategyImprovement{game: game, ctx: ctx, opts: opts, sys: sys, reward: r}, nil
}
