package solve

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// robustImprovement solves an interval model exactly by strategy improvement for one side, which is nature or the scheduler. A fixed strategy of
// nature induces a model without intervals; a fixed strategy of the scheduler induces an interval Markov chain. The induced model is solved exactly. Then
// the strategy changes in each state in which another decision improves the value. If no decision does, the strategy is optimal (see
// strategyImprovement) in these cases:
//
//   - for probabilities, a side that maximizes is improved;
//   - for rewards until a target, a side that minimizes is improved. It starts with a strategy that reaches the target almost surely;
//   - for probabilities that both sides minimize, and rewards that both maximize, the equations have one solution in the states whose values
//     the graph does not decide. In the other states, the first strategy attains the value.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966); see strategyImprovement.
type robustImprovement struct {
	system        *intervalSystem
	opts          Options
	improvable    *sparse.Set // the states in which the strategy can change
	infinite      *sparse.Set // the states with an infinite value
	ofScheduler   bool        // the scheduler is improved; otherwise nature is
	choices       []uint32    // the strategy of the scheduler, if it is improved
	distributions [][]*big.Rat
	// solve solves a model that a strategy induces.
	solve func(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*Values, error)
}

// newUntilImprovement returns the improvement for the probability of `left U right`. The set zeroStates has the states with the value 0.
func newUntilImprovement(system *intervalSystem, left, right, zeroStates *sparse.Set, opts Options) *robustImprovement {
	numStates := system.graph.NumStates()
	improvement := &robustImprovement{system: system, opts: opts, improvable: left.Minus(right).Minus(zeroStates), infinite: sparse.NewSet(numStates)}
	improvement.solve = func(ctx context.Context, graph *sparse.Graph, _ *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return Until(ctx, graph, left, right, dir, opts)
	}
	confined := sparse.NewSet(numStates)
	if system.dir == Min { // both sides minimize, so nature stays in zeroStates
		confined = zeroStates
	}
	improvement.start(system.dir == MaxMin, firstChoices(system.graph), confined)
	return improvement
}

// newRewardImprovement returns the improvement for the reward until target. If the scheduler minimizes against nature, the improvement starts with
// strategy, by which the scheduler reaches target almost surely from finiteStates.
func newRewardImprovement(system *intervalSystem, game *supportGame, target, finiteStates *sparse.Set, strategy []uint32, opts Options) *robustImprovement {
	improvement := &robustImprovement{system: system, opts: opts, improvable: finiteStates.Minus(target), infinite: finiteStates.Complement()}
	improvement.solve = func(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return ReachReward(ctx, graph, reward, target, dir, opts)
	}
	confined := finiteStates
	if system.dir == Max { // both sides maximize, so nature stays in the states that can avoid the target
		allStates := sparse.FullSet(system.graph.NumStates())
		confined = game.attractedStates(allStates, target, allStates, nil).Complement()
	}
	improvement.start(system.dir == MinMax, strategy, confined)
	return improvement
}

// start sets the first strategy of the improved side: strategy for the scheduler. For nature it is, for each choice, a distribution that gives a positive
// probability to as many targets as possible. In a state of confined, only targets in confined get one, if such a distribution exists.
func (improvement *robustImprovement) start(ofScheduler bool, strategy []uint32, confined *sparse.Set) {
	improvement.ofScheduler = ofScheduler
	if ofScheduler {
		improvement.choices = strategy
		return
	}
	system := improvement.system
	game := &supportGame{graph: system.graph, optional: system.optional}
	allStates := sparse.FullSet(system.graph.NumStates())
	improvement.distributions = make([][]*big.Rat, system.graph.NumChoices())
	for choice := range improvement.distributions {
		region := allStates
		if confined.Has(system.graph.Owner(uint32(choice))) && game.canStayIn(choice, confined.Has) {
			region = confined
		}
		improvement.distributions[choice] = system.interiorDistribution(choice, region)
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

// run improves the strategy until no decision improves the values. It returns the exact values.
func (improvement *robustImprovement) run(ctx context.Context) (*Values, error) {
	opts := improvement.opts
	opts = Options{Exact: true, Scheduler: opts.Scheduler, MaxWork: opts.MaxWork, MaxSweeps: opts.MaxSweeps, Progress: opts.Progress}
	startChoices, startDistributions := slices.Clone(improvement.choices), slices.Clone(improvement.distributions)
	if err := improvement.startFromBounds(ctx); err != nil {
		return nil, err
	}
	for isFirst := true; ; isFirst = false {
		values, err := improvement.evaluate(ctx, opts)
		if err != nil {
			return nil, err
		}
		if isFirst && improvement.hasInfiniteValue(values.Exact) { // the strategy from the bounds does not always reach the target
			improvement.choices, improvement.distributions = startChoices, startDistributions
			continue
		}
		changed, err := improvement.improve(values.Exact)
		if err != nil {
			return nil, err
		}
		if !changed {
			return values, improvement.finish(values)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// finish completes the values of an optimal strategy: it sets the infinite values, and stores the strategies of both sides if they are wanted.
func (improvement *robustImprovement) finish(values *Values) error {
	values.setAll(improvement.infinite, math.Inf(1))
	if !improvement.opts.Scheduler {
		return nil
	}
	return improvement.writeStrategies(values)
}

// startFromBounds improves the first strategy by lower bounds on the values, which are computed in floating point. Then fewer exact improvements follow.
func (improvement *robustImprovement) startFromBounds(ctx context.Context) error {
	system := improvement.system
	bounds, err := improvement.solve(ctx, system.graph, system.reward, system.dir, Options{MaxSweeps: improvement.opts.MaxSweeps})
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

// hasInfiniteValue reports whether the value of some state in which the strategy can change is infinite.
func (improvement *robustImprovement) hasInfiniteValue(values []*big.Rat) bool {
	for s := range improvement.improvable.All() {
		if values[s] == nil {
			return true
		}
	}
	return false
}

// evaluate solves the model that the current strategy induces.
func (improvement *robustImprovement) evaluate(ctx context.Context, opts Options) (*Values, error) {
	system := improvement.system
	if !improvement.ofScheduler {
		model, err := system.inducedModel(system.graph.Kind, improvement.distributions)
		if err != nil {
			return nil, err
		}
		return improvement.solve(ctx, sparse.NewGraph(model), system.reward, system.dir.Scheduler(), opts)
	}
	game := &Game{graph: system.graph, maximizer: sparse.NewSet(system.graph.NumStates())}
	restriction := &strategyImprovement{game: game, reward: system.reward}
	graph, reward := restriction.restrictedGraph(Min, improvement.choices)
	return improvement.solve(ctx, graph, reward, system.dir.nature(), opts)
}

// improve changes the strategy in each state in which another decision gives a better value. values has the values of the strategy; nil is infinity.
func (improvement *robustImprovement) improve(values []*big.Rat) (changed bool, err error) {
	for s := range improvement.improvable.All() {
		first, end := improvement.system.graph.Choices(s)
		var best *big.Rat
		if improvement.ofScheduler {
			current := int(improvement.choices[s])
			best = improvement.valueOf(s, current, improvement.system.exactDistribution(current, values), values)
		}
		for choice := first; choice < end; choice++ {
			if improvement.ofScheduler {
				improved := improvement.improveScheduler(s, choice, values, &best)
				changed = changed || improved
			} else {
				changed = improvement.improveNature(s, choice, values) || changed
			}
			if err := improvement.system.meter.addWork(1000); err != nil {
				return false, err
			}
		}
	}
	return changed, nil
}

// improveScheduler makes the scheduler use the given choice in state s if the value of the choice is better than best. Then it sets best to this value.
func (improvement *robustImprovement) improveScheduler(s, choice int, values []*big.Rat, best **big.Rat) (changed bool) {
	distribution := improvement.system.exactDistribution(choice, values)
	value := improvement.valueOf(s, choice, distribution, values)
	if !isBetterExact(value, *best, improvement.system.dir.Scheduler()) {
		return false
	}
	*best, improvement.choices[s] = value, uint32(choice)
	return true
}

// improveNature gives a choice of state s the optimal distribution for the given values if it is better than the current distribution.
func (improvement *robustImprovement) improveNature(s, choice int, values []*big.Rat) (changed bool) {
	distribution := improvement.system.exactDistribution(choice, values)
	value := improvement.valueOf(s, choice, distribution, values)
	currentValue := improvement.valueOf(s, choice, improvement.distributions[choice], values)
	if !isBetterExact(value, currentValue, improvement.system.dir.nature()) {
		return false
	}
	improvement.distributions[choice] = distribution
	return true
}

// valueOf returns the value of a choice of state s if nature uses the given distribution. It returns nil for infinity.
func (improvement *robustImprovement) valueOf(s, choice int, distribution, values []*big.Rat) *big.Rat {
	return improvement.system.choiceValue(choice, improvement.system.reward.ExactChoiceTotal(s, choice), distribution, values)
}

// isBetterExact reports whether left is better than right in the given direction. A nil value stands for infinity.
func isBetterExact(left, right *big.Rat, dir Direction) bool {
	if dir == Min {
		return isGreater(right, left)
	}
	return isGreater(left, right)
}

// writeStrategies stores an optimal strategy of each side in values, which has the exact values of the improved strategy.
func (improvement *robustImprovement) writeStrategies(values *Values) (err error) {
	system := improvement.system
	distributions := improvement.distributions
	if improvement.ofScheduler {
		copy(values.Scheduler, improvement.choices)
		distributions = improvement.responseOfNature(values)
	} else if values.Scheduler != nil && (system.dir == MinMax || system.dir == MaxMin) {
		improvement.setGreedyChoices(values)
	}
	values.Nature, err = system.inducedModel(sparse.MDP, distributions)
	return err
}

// responseOfNature returns the distributions of nature if the scheduler was improved. A choice that the scheduler uses gets its distribution in
// values.Nature, which is a model of these choices only. Any other choice gets a distribution that is optimal for values.
func (improvement *robustImprovement) responseOfNature(values *Values) [][]*big.Rat {
	system, response := improvement.system, values.Nature
	distributions := make([][]*big.Rat, system.graph.NumChoices())
	for choice := range distributions {
		distributions[choice] = system.exactDistribution(choice, values.Exact)
	}
	for s, choice := range improvement.choices {
		probs := make(map[uint32]*big.Rat)
		first, end := response.Transitions(s) // the only choice of state s
		for transition := first; transition < end; transition++ {
			probs[response.Target[transition]] = response.Fraction(transition)
		}
		first, end = system.graph.Transitions(int(choice))
		for i, target := range system.graph.Target[first:end] {
			distributions[choice][i] = cmp.Or(probs[target], new(big.Rat))
		}
	}
	return distributions
}

// setGreedyChoices gives the scheduler an optimal choice for the values in each state where nature's strategy was improved. Such a scheduler is
// optimal against all strategies of nature: the values are the least solution for a scheduler that minimizes probabilities, and the greatest one for
// a scheduler that maximizes rewards.
func (improvement *robustImprovement) setGreedyChoices(values *Values) {
	system := improvement.system
	for s := range improvement.improvable.All() {
		first, end := system.graph.Choices(s)
		best := (*big.Rat)(nil)
		for choice := first; choice < end; choice++ {
			value := improvement.valueOf(s, choice, system.exactDistribution(choice, values.Exact), values.Exact)
			if choice == first || isBetterExact(value, best, system.dir.Scheduler()) {
				best, values.Scheduler[s] = value, uint32(choice)
			}
		}
	}
}
