package solve

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// robustImprovement solves an interval model exactly by a sequence of strategies of one side, which is nature or the scheduler. A strategy of
// nature leaves a model without intervals. A strategy of the scheduler leaves an interval Markov chain. Where one step has a better
// value than the strategy, the strategy changes. It is optimal if no step is better (see strategyImprovement) in these cases:
//
//   - for probabilities, a side that maximizes is improved;
//   - for rewards until a target, a side that minimizes is improved. It starts with a strategy that reaches the target almost surely;
//   - the equations have one solution: for minimal probabilities if the states with the value 0 are known, and for maximal rewards.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966); see strategyImprovement.
type robustImprovement struct {
	sys           *intervalSystem
	opts          Options
	improvable    *sparse.Set // the states in which the strategy can change
	infinite      *sparse.Set // the states with an infinite value
	ofScheduler   bool        // the scheduler is improved; otherwise nature is
	choices       []uint32    // the strategy of the scheduler, if it is improved
	distributions [][]*big.Rat
	// solve solves a model that a strategy leaves.
	solve func(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*Values, error)
}

// newUntilImprovement returns the improvement for the probability of `left U right`. The set left must not contain states with the value 0.
func newUntilImprovement(sys *intervalSystem, left, right *sparse.Set, opts Options) *robustImprovement {
	improvement := &robustImprovement{sys: sys, opts: opts, improvable: left.Minus(right), infinite: sparse.NewSet(left.Len())}
	improvement.solve = func(ctx context.Context, graph *sparse.Graph, _ *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return Until(ctx, graph, left, right, dir, opts)
	}
	improvement.start(sys.dir == MaxMin, firstChoices(sys.graph), func(int) bool { return false })
	return improvement
}

// newRewardImprovement returns the improvement for the reward until target. The scheduler of strategy reaches target almost surely from finiteStates
// if only it minimizes.
func newRewardImprovement(sys *intervalSystem, game *supportGame, target, finiteStates *sparse.Set, strategy []uint32, opts Options) *robustImprovement {
	improvement := &robustImprovement{sys: sys, opts: opts, improvable: finiteStates.Minus(target), infinite: finiteStates.Complement()}
	improvement.solve = func(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return ReachReward(ctx, graph, reward, target, dir, opts)
	}
	improvement.start(sys.dir == MinMax, strategy, func(choice int) bool { return game.canStayIn(choice, finiteStates.Has) })
	return improvement
}

// start sets the first strategy. A distribution of nature leads to all targets that it can; it stays in the states with finite values if
// staysFinite says that it can.
func (improvement *robustImprovement) start(ofScheduler bool, strategy []uint32, staysFinite func(choice int) bool) {
	improvement.ofScheduler = ofScheduler
	if ofScheduler {
		improvement.choices = strategy
		return
	}
	finiteStates := improvement.infinite.Complement()
	improvement.distributions = make([][]*big.Rat, improvement.sys.graph.NumChoices())
	for choice := range improvement.distributions {
		improvement.distributions[choice] = improvement.sys.interiorDistribution(choice, finiteStates, staysFinite(choice))
	}
}

// firstChoices returns the first choice of each state.
func firstChoices(graph *sparse.Graph) []uint32 {
	choices := make([]uint32, graph.NumStates())
	for s := range choices {
		first, _ := graph.Choices(s)
		choices[s] = uint32(first)
	}
	return choices
}

// run improves the strategy until no step is better. It returns the exact values.
func (improvement *robustImprovement) run(ctx context.Context) (*Values, error) {
	opts := improvement.opts
	opts = Options{Exact: true, MaxWork: opts.MaxWork, MaxSweeps: opts.MaxSweeps, Progress: opts.Progress}
	for {
		values, err := improvement.evaluate(ctx, opts)
		if err != nil {
			return nil, err
		}
		changed, err := improvement.improve(values.Exact)
		if err != nil {
			return nil, err
		}
		if !changed {
			values.setAll(improvement.infinite, math.Inf(1))
			return values, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// evaluate solves the model that the current strategy leaves.
func (improvement *robustImprovement) evaluate(ctx context.Context, opts Options) (*Values, error) {
	sys := improvement.sys
	if !improvement.ofScheduler {
		model, err := sys.inducedModel(improvement.distributions)
		if err != nil {
			return nil, err
		}
		return improvement.solve(ctx, sparse.NewGraph(model), sys.reward, sys.dir.Scheduler(), opts)
	}
	game := &Game{graph: sys.graph, maximizer: sparse.NewSet(sys.graph.NumStates())}
	restriction := &strategyImprovement{game: game, reward: sys.reward}
	graph, reward := restriction.restrictedGraph(Min, improvement.choices)
	return improvement.solve(ctx, graph, reward, sys.dir.nature(), opts)
}

// improve changes the strategy where one step is better than it. values are the values of the strategy, nil for infinity.
func (improvement *robustImprovement) improve(values []*big.Rat) (changed bool, err error) {
	for s := range improvement.improvable.All() {
		first, end := improvement.sys.graph.Choices(s)
		best := values[s] // if the scheduler is improved
		for choice := first; choice < end; choice++ {
			if improvement.ofScheduler {
				improved := improvement.improveScheduler(s, choice, values, &best)
				changed = changed || improved
			} else {
				changed = improvement.improveNature(s, choice, values) || changed
			}
			if err := improvement.sys.meter.addWork(1000); err != nil {
				return false, err
			}
		}
	}
	return changed, nil
}

// improveScheduler changes the strategy to a choice of state s if its value is better than best. best then becomes its value.
func (improvement *robustImprovement) improveScheduler(s, choice int, values []*big.Rat, best **big.Rat) (changed bool) {
	distribution := improvement.sys.exactDistribution(choice, values)
	value := improvement.valueOf(s, choice, distribution, values)
	if !isBetterExact(value, *best, improvement.sys.dir.Scheduler()) {
		return false
	}
	*best, improvement.choices[s] = value, uint32(choice)
	return true
}

// improveNature changes the distribution of a choice of state s to the optimal one for the given values if that is better.
func (improvement *robustImprovement) improveNature(s, choice int, values []*big.Rat) (changed bool) {
	distribution := improvement.sys.exactDistribution(choice, values)
	value, current := improvement.valueOf(s, choice, distribution, values), improvement.valueOf(s, choice, improvement.distributions[choice], values)
	if !isBetterExact(value, current, improvement.sys.dir.nature()) {
		return false
	}
	improvement.distributions[choice] = distribution
	return true
}

// valueOf returns the value of a choice of state s under a distribution of nature, nil for infinity.
func (improvement *robustImprovement) valueOf(s, choice int, distribution, values []*big.Rat) *big.Rat {
	return improvement.sys.choiceValue(choice, improvement.sys.reward.ExactChoiceTotal(s, choice), distribution, values)
}

// isBetterExact reports whether left is better than right in the given direction. A nil value stands for infinity.
func isBetterExact(left, right *big.Rat, dir Direction) bool {
	if dir == Min {
		return isGreater(right, left)
	}
	return isGreater(left, right)
}
