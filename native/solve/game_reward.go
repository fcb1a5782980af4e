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
	if dir, ok := game.Direction(); ok {
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
	if dir, ok := game.Direction(); ok {
		return TotalReward(ctx, game.graph, r, dir, opts)
	}
	finite := game.finiteTotal(r)
	if !finite.Complement().Empty() {
		opts.Scheduler = false // no strategy that collects rewards forever is computed
	}
	improvement, err := game.rewards(ctx, r, finite, opts)
	if err != nil {
		return nil, err
	}
	improvement.sys.maybe = finite
	improvement.solve = func(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return TotalReward(ctx, g, r, dir, opts)
	}
	return improvement.run(Max, game.firstChoices())
}

// finiteTotal returns the states with a finite total reward: those in which the minimizer can make, almost
// surely, only finitely many choices with a reward.
//
// Source: Chatterjee and Henzinger (2012), section 3.2: almost-sure coBuchi objectives.
func (game *Game) finiteTotal(r *sparse.Reward) *sparse.Set {
	priority := make([]int, game.graph.NumChoices())
	for s := range game.graph.NumStates() {
		first, end := game.graph.Choices(s)
		for c := first; c < end; c++ {
			priority[c] = 2
			if r.OfChoice(s, c) > 0 {
				priority[c] = 1
			}
		}
	}
	q := &almostSure{
		game:   NewGame(game.graph, game.maximizer.Complement()),
		inside: sparse.FullSet(game.graph.NumStates()), choices: sparse.FullSet(game.graph.NumChoices()),
		priority: priority, strategy: game.firstChoices(),
	}
	return q.solve()
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
	v, err := NewGame(g, game.maximizer).TotalReward(ctx, &out, opts)
	if err == nil && v.Scheduler != nil {
		v.Scheduler = ofOrigins(v.Scheduler, b.Origin)
	}
	return v, err
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

// ofOrigins returns the strategy with the origins of its choices.
func ofOrigins(strategy, origin []uint32) []uint32 {
	out := slices.Clone(strategy)
	for s, c := range out {
		if c != sparse.None {
			out[s] = origin[c]
		}
	}
	return out
}

// rewards returns the strategy improvement for rewards. The values of the other states than the finite
// ones are infinite; so the minimizer never leaves these, and the maximizer cannot.
func (game *Game) rewards(ctx context.Context, r *sparse.Reward, finite *sparse.Set, opts Options) (*strategyImprovement, error) {
	opts.Epsilon = opts.epsilon()
	opts.Within, opts.Classic = nil, false
	sys, err := game.newSystem(newSystem, r, opts)
	if err != nil {
		return nil, err
	}
	sys.values.set(finite.Complement(), math.Inf(1))
	sys.choices = game.graph.ChoicesWithin(finite)
	return &strategyImprovement{game: game, ctx: ctx, opts: opts, sys: sys, reward: r}, nil
}
