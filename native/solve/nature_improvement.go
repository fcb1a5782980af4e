package solve

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// robustImprovement solves an interval model exactly by a sequence of strategies of one side, which is nature or the scheduler. A strategy of
// nature leaves a model without intervals. A strategy of the scheduler leaves an interval Markov chain. Where one step has a better
// value than the strategy, the strategy changes. It is optimal if no step is better (see strategyImprovement) in these cases:
//
//   - for probabilities, a side that maximizes is improved;
//   - for rewards until a target, a side that minimizes is improved. It starts with a strategy that reaches the target almost surely;
//   - for probabilities that both sides minimize, and rewards that both maximize, the equations have one solution in the states whose values
//     the graph does not decide. In the other states, the first strategy attains the value.
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

// newUntilImprovement returns the improvement for the probability of `left U right`. The set zeroStates has the states with the value 0.
func newUntilImprovement(sys *intervalSystem, left, right, zeroStates *sparse.Set, opts Options) *robustImprovement {
	numStates := sys.graph.NumStates()
	improvement := &robustImprovement{sys: sys, opts: opts, improvable: left.Minus(right).Minus(zeroStates), infinite: sparse.NewSet(numStates)}
	improvement.solve = func(ctx context.Context, graph *sparse.Graph, _ *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return Until(ctx, graph, left, right, dir, opts)
	}
	confined := sparse.NewSet(numStates)
	if sys.dir == Min { // both sides stay in zeroStates
		confined = zeroStates
	}
	improvement.start(sys.dir == MaxMin, firstChoices(sys.graph), confined)
	return improvement
}

// newRewardImprovement returns the improvement for the reward until target. The scheduler of strategy reaches target almost surely from finiteStates
// if only it minimizes.
func newRewardImprovement(sys *intervalSystem, game *supportGame, target, finiteStates *sparse.Set, strategy []uint32, opts Options) *robustImprovement {
	improvement := &robustImprovement{sys: sys, opts: opts, improvable: finiteStates.Minus(target), infinite: finiteStates.Complement()}
	improvement.solve = func(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return ReachReward(ctx, graph, reward, target, dir, opts)
	}
	confined := finiteStates
	if sys.dir == Max { // both sides stay where they can avoid the target
		allStates := sparse.FullSet(sys.graph.NumStates())
		confined = game.attractedStates(allStates, target, allStates, nil).Complement()
	}
	improvement.start(sys.dir == MinMax, strategy, confined)
	return improvement
}

// start sets the first strategy: of the scheduler, or of nature. A distribution of nature leads to all targets that it can, but in the states of
// confined it stays in these states if it can.
func (improvement *robustImprovement) start(ofScheduler bool, strategy []uint32, confined *sparse.Set) {
	improvement.ofScheduler = ofScheduler
	if ofScheduler {
		improvement.choices = strategy
		return
	}
	sys := improvement.sys
	game := &supportGame{graph: sys.graph, optional: sys.optional}
	allStates := sparse.FullSet(sys.graph.NumStates())
	improvement.distributions = make([][]*big.Rat, sys.graph.NumChoices())
	for choice := range improvement.distributions {
		region := allStates
		if confined.Has(sys.graph.Owner(uint32(choice))) && game.canStayIn(choice, confined.Has) {
			region = confined
		}
		improvement.distributions[choice] = sys.interiorDistribution(choice, region)
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
	opts = Options{Exact: true, Scheduler: opts.Scheduler, MaxWork: opts.MaxWork, MaxSweeps: opts.MaxSweeps, Progress: opts.Progress}
	proper := *improvement
	proper.choices, proper.distributions = slices.Clone(improvement.choices), slices.Clone(improvement.distributions)
	if err := improvement.startFromBounds(ctx); err != nil {
		return nil, err
	}
	for isFirst := true; ; isFirst = false {
		values, err := improvement.evaluate(ctx, opts)
		if err != nil {
			return nil, err
		}
		if isFirst && improvement.isInfinite(values.Exact) { // only the strategy from bounds can miss the target
			improvement.choices, improvement.distributions = proper.choices, proper.distributions
			continue
		}
		changed, err := improvement.improve(values.Exact)
		if err != nil {
			return nil, err
		}
		if !changed {
			values.setAll(improvement.infinite, math.Inf(1))
			if opts.Scheduler {
				err = improvement.writeStrategies(values)
			}
			return values, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// startFromBounds improves the first strategy by bounds on the values, so that fewer strategies follow.
func (improvement *robustImprovement) startFromBounds(ctx context.Context) error {
	sys := improvement.sys
	bounds, err := improvement.solve(ctx, sys.graph, sys.reward, sys.dir, Options{MaxSweeps: improvement.opts.MaxSweeps})
	if err != nil {
		return err
	}
	guess := make([]*big.Rat, len(bounds.Lower))
	for s, lower := range bounds.Lower {
		if !math.IsInf(lower, 1) {
			guess[s] = new(big.Rat).SetFloat64(lower)
		}
	}
	_, err = improvement.improve(guess)
	return err
}

// isInfinite reports whether the value of a state in which the strategy can change is infinite.
func (improvement *robustImprovement) isInfinite(values []*big.Rat) bool {
	for s := range improvement.improvable.All() {
		if values[s] == nil {
			return true
		}
	}
	return false
}

// evaluate solves the model that the current strategy leaves.
func (improvement *robustImprovement) evaluate(ctx context.Context, opts Options) (*Values, error) {
	sys := improvement.sys
	if !improvement.ofScheduler {
		model, err := sys.inducedModel(sys.graph.Kind, improvement.distributions)
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
		var best *big.Rat
		if improvement.ofScheduler {
			current := int(improvement.choices[s])
			best = improvement.valueOf(s, current, improvement.sys.exactDistribution(current, values), values)
		}
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

// writeStrategies stores the strategies of both sides for the exact values, which the improved strategy attains.
func (improvement *robustImprovement) writeStrategies(values *Values) (err error) {
	sys := improvement.sys
	distributions := improvement.distributions
	if improvement.ofScheduler {
		copy(values.Scheduler, improvement.choices)
		distributions = improvement.responseOfNature(values)
	} else if values.Scheduler != nil && (sys.dir == MinMax || sys.dir == MaxMin) {
		improvement.setGreedyChoices(values)
	}
	values.Nature, err = sys.inducedModel(sparse.MDP, distributions)
	return err
}

// responseOfNature returns the distributions of nature if the scheduler was improved: the response to the scheduler, and for the choices that the
// scheduler does not use those that are optimal for the values. values has the response, as a model with the used choices only.
func (improvement *robustImprovement) responseOfNature(values *Values) [][]*big.Rat {
	sys, response := improvement.sys, values.Nature
	distributions := make([][]*big.Rat, sys.graph.NumChoices())
	for choice := range distributions {
		distributions[choice] = sys.exactDistribution(choice, values.Exact)
	}
	for s, choice := range improvement.choices {
		probs := make(map[uint32]*big.Rat)
		first, end := response.Transitions(s) // the only choice of state s
		for transition := first; transition < end; transition++ {
			probs[response.Target[transition]] = response.Fraction(transition)
		}
		first, end = sys.graph.Transitions(int(choice))
		for i, target := range sys.graph.Target[first:end] {
			distributions[choice][i] = cmp.Or(probs[target], new(big.Rat))
		}
	}
	return distributions
}

// setGreedyChoices gives the scheduler an optimal choice for the values in each state where nature's strategy was improved. Such a scheduler is
// optimal against all strategies of nature: the values are the least solution for a scheduler that minimizes probabilities, and the greatest one for
// a scheduler that maximizes rewards.
func (improvement *robustImprovement) setGreedyChoices(values *Values) {
	sys := improvement.sys
	for s := range improvement.improvable.All() {
		first, end := sys.graph.Choices(s)
		best := (*big.Rat)(nil)
		for choice := first; choice < end; choice++ {
			value := improvement.valueOf(s, choice, sys.exactDistribution(choice, values.Exact), values.Exact)
			if choice == first || isBetterExact(value, best, sys.dir.Scheduler()) {
				best, values.Scheduler[s] = value, uint32(choice)
			}
		}
	}
}
