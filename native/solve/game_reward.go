package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// ReachReward returns bounds on the expected reward until target is reached, if both sides of the game play optimally. A path that never
// reaches target has an infinite reward. So the value of a state is infinite if the minimizer cannot reach target almost surely.
//
// Source: PRISM-games' R[F]; stochastic shortest path games, Patek and Bertsekas (1999); strategy
// improvement of the minimizer from a strategy that reaches target almost surely.
func (game *Game) ReachReward(ctx context.Context, reward *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return ReachReward(ctx, game.graph, reward, target, direction, opts)
	}
	strategy := firstChoices(game.graph)
	reachabilityGame := NewGame(game.graph, game.maximizer.Complement()) // the minimizer of rewards maximizes reachability
	_, finiteStates, err := reachabilityGame.certainStates(ctx, sparse.FullSet(game.graph.NumStates()), target, strategy)
	if err != nil {
		return nil, err
	}
	improvement, err := game.newRewardImprovement(ctx, reward, finiteStates, opts)
	if err != nil {
		return nil, err
	}
	improvement.system.maybe = finiteStates.Minus(target)
	improvement.solve = func(restricted *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*Values, error) {
		return ReachReward(ctx, restricted, reward, target, direction, opts)
	}
	return improvement.run(Min, strategy)
}

// TotalReward returns bounds on the expected total reward, if both sides of the game play optimally. It is infinite where the maximizer can collect
// rewards forever with positive probability. The method is strategy improvement of the maximizer.
func (game *Game) TotalReward(ctx context.Context, reward *sparse.Reward, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return TotalReward(ctx, game.graph, reward, direction, opts)
	}
	finiteStates := game.finiteTotalStates(reward)
	if !finiteStates.Complement().Empty() {
		opts.Scheduler = false // strategies that collect rewards forever are not computed
	}
	improvement, err := game.newRewardImprovement(ctx, reward, finiteStates, opts)
	if err != nil {
		return nil, err
	}
	improvement.system.maybe = finiteStates
	improvement.solve = func(restricted *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*Values, error) {
		return TotalReward(ctx, restricted, reward, direction, opts)
	}
	return improvement.run(Max, firstChoices(game.graph))
}

// finiteTotalStates returns the states with a finite total reward: the minimizer can almost surely ensure that rewards are earned only finitely
// often.
//
// Source: Chatterjee and Henzinger (2012), section 3.2: almost-sure coBuchi objectives.
func (game *Game) finiteTotalStates(reward *sparse.Reward) *sparse.Set {
	priorities := make([]int, game.graph.NumChoices()) // the minimizer wins if choices with a reward, which get priority 1, occur finitely often
	for state := range game.graph.NumStates() {
		first, end := game.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			priorities[choice] = 2
			if reward.ChoiceTotal(state, choice) > 0 {
				priorities[choice] = 1
			}
		}
	}
	solver := &almostSure{
		game:   NewGame(game.graph, game.maximizer.Complement()),
		region: sparse.FullSet(game.graph.NumStates()), choices: sparse.FullSet(game.graph.NumChoices()),
		priorities: priorities, strategy: firstChoices(game.graph),
	}
	return solver.solve()
}

// RewardUntilReached returns bounds on the optimal expected reward until target is reached. A path that never reaches target earns its total reward. So it
// is the total reward of the game in which target states are absorbing and have no reward.
//
// Source: PRISM-games' R[Fc].
func (game *Game) RewardUntilReached(ctx context.Context, reward *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	builder := sparse.NewDerivedBuilder(game.graph.Model, game.graph.Kind)
	sameTarget := func(i int) uint32 { return game.graph.Target[i] }
	for state := range game.graph.NumStates() {
		builder.State()
		if target.Has(state) {
			builder.Loop(uint32(state))
			continue
		}
		first, end := game.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			builder.Copy(choice, sameTarget)
		}
	}
	graph := sparse.NewGraph(builder.Finish())
	rewardBeforeTarget := sparse.Reward{
		Name: reward.Name, RelErr: reward.RelErr, RangeErr: reward.RangeErr,
		State: withoutStates(reward.State, target), StateFractions: withoutStates(reward.StateFractions, target),
		Choice: valuesOfOrigins(reward.Choice, builder.Origin), ChoiceFractions: valuesOfOrigins(reward.ChoiceFractions, builder.Origin),
	}
	values, err := NewGame(graph, game.maximizer).TotalReward(ctx, &rewardBeforeTarget, opts)
	if err == nil && values.Scheduler != nil {
		values.Scheduler = originalStrategy(values.Scheduler, builder.Origin)
	}
	return values, err
}

// withoutStates returns a copy of values, which has an entry for each state, with zeros for the given states. It returns nil if values is nil.
func withoutStates[T any](values []T, states *sparse.Set) []T {
	if values == nil {
		return nil
	}
	var zero T
	result := slices.Clone(values)
	for state := range states.All() {
		result[state] = zero
	}
	return result
}

// valuesOfOrigins returns the values of the choices of a derived model: choice c has the value of its original choice originalChoices[c], or zero if it has
// none. It returns nil if values is nil.
func valuesOfOrigins[T any](values []T, originalChoices []uint32) []T {
	if values == nil {
		return nil
	}
	result := make([]T, len(originalChoices))
	for choice, original := range originalChoices {
		if original != sparse.None {
			result[choice] = values[original]
		}
	}
	return result
}

// originalStrategy translates the strategy of a derived model to the original model: it replaces each choice c by originalChoices[c].
func originalStrategy(strategy, originalChoices []uint32) []uint32 {
	result := slices.Clone(strategy)
	for state, choice := range result {
		if choice != sparse.None {
			result[state] = originalChoices[choice]
		}
	}
	return result
}

// newRewardImprovement prepares strategy improvement for a reward structure. All states outside of finiteStates get infinite values.
func (game *Game) newRewardImprovement(ctx context.Context, reward *sparse.Reward, finiteStates *sparse.Set, opts Options) (*strategyImprovement, error) {
	opts.Epsilon = opts.epsilon()
	opts.Within, opts.Classic = nil, false
	system, err := game.newSystem(newSystem, reward, opts)
	if err != nil {
		return nil, err
	}
	system.values.setAll(finiteStates.Complement(), math.Inf(1))
	// The minimizer must not leave finiteStates, because the values outside are infinite. The maximizer cannot leave them.
	system.choices = game.graph.ChoicesWithin(finiteStates)
	return &strategyImprovement{game: game, ctx: ctx, opts: opts, system: system, reward: reward}, nil
}
