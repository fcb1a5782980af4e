package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// ReachReward returns bounds on the minimal or maximal expected reward until target is reached. Rewards of target states do not count.
// The maximum is infinite where some scheduler misses target with positive probability.
// The minimum is over schedulers that reach target with probability one, and infinite where no scheduler does.
// In a CTMC, state rewards are per unit of time.
//
// Source: PRISM's R[F]; de Alfaro (CONCUR 1999) for end components without reward; bounds as for Until.
func ReachReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, target *sparse.Set, direction Direction, opts Options) (*Values, error) {
	if graph.Intervals() {
		return robustReach(ctx, graph, reward, target, direction, opts)
	}
	system, err := newSystem(graph, reward, direction, opts)
	if err != nil {
		return nil, err
	}
	analysis, err := analyzeReachReward(ctx, graph, target, direction)
	if err != nil {
		return nil, err
	}
	system.maybe, system.choices = analysis.maybeStates, analysis.choices
	system.values.setAll(analysis.infiniteStates, math.Inf(1))
	if system.values.Scheduler != nil {
		analysis.writeChoices(graph, target, system.values.Scheduler)
	}
	return system.solve(ctx, opts, direction == Min)
}

// rewardAnalysis is the result of graph analysis for ReachReward: the states with infinite reward, the maybe
// states, and the choices that maybe states may use (nil for all).
type rewardAnalysis struct {
	direction                   Direction
	infiniteStates, maybeStates *sparse.Set
	choices                     *sparse.Set
}

// analyzeReachReward finds by graph analysis: the states with an infinite reward until target is reached, the maybe states, and the choices
// that the maybe states may use.
func analyzeReachReward(ctx context.Context, graph *sparse.Graph, target *sparse.Set, direction Direction) (rewardAnalysis, error) {
	allStates := sparse.FullSet(graph.NumStates())
	if direction == Max || graph.FirstChoice == nil {
		certainStates := graph.Prob1A(allStates, target)
		return rewardAnalysis{direction: direction, infiniteStates: certainStates.Complement(), maybeStates: certainStates.Minus(target)}, nil
	}
	certainStates, err := graph.Prob1E(ctx, allStates, target)
	if err != nil {
		return rewardAnalysis{}, err
	}
	choices := graph.ChoicesWithin(certainStates)
	return rewardAnalysis{direction: direction, infiniteStates: certainStates.Complement(), maybeStates: certainStates.Minus(target), choices: choices}, nil
}

// writeChoices writes choices that attain an infinite maximum to scheduler: they reach states from which target can be avoided forever, and avoid
// it there.
func (analysis rewardAnalysis) writeChoices(graph *sparse.Graph, target *sparse.Set, scheduler []uint32) {
	if analysis.direction == Min {
		return
	}
	avoidingStates := graph.Prob0E(sparse.FullSet(graph.NumStates()), target)
	graph.Remain(avoidingStates, scheduler)
	graph.Approach(graph.ChoicesOf(target.Complement()), avoidingStates, scheduler)
}

// TotalReward returns bounds on the minimal or maximal expected total reward. The maximum is infinite where some scheduler
// collects positive rewards forever with positive probability. The minimum is infinite where every scheduler does.
//
// Source: PRISM's R[C].
func TotalReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*Values, error) {
	if direction == Min && graph.FirstChoice != nil {
		return minimalTotalReward(ctx, graph, reward, opts)
	}
	system, err := newSystem(graph, reward, Max, opts)
	if err != nil {
		return nil, err
	}
	analysis, err := analyzeTotalReward(ctx, graph, reward)
	if err != nil {
		return nil, err
	}
	infiniteStates := analysis.infiniteStates(graph)
	system.maybe = analysis.earningStates.Minus(infiniteStates)
	system.values.setAll(infiniteStates, math.Inf(1))
	if system.values.Scheduler != nil {
		analysis.writeChoices(graph, system.values.Scheduler)
	}
	return system.solve(ctx, opts, true)
}

// minimalTotalReward returns bounds on the minimal total reward of an MDP. It equals the minimal reward until an end component without
// reward is reached, where the scheduler stays.
func minimalTotalReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, opts Options) (*Values, error) {
	components, zeroRewardStates, err := zeroRewardEndComponents(ctx, graph, reward)
	if err != nil {
		return nil, err
	}
	values, err := ReachReward(ctx, graph, reward, zeroRewardStates, Min, opts)
	if err == nil && values.Scheduler != nil {
		stayInEndComponents(graph, components, values.Scheduler)
	}
	return values, err
}

// zeroRewardEndComponents returns the end components without reward, and their states.
func zeroRewardEndComponents(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward) (*sparse.EndComponents, *sparse.Set, error) {
	zeroRewardChoices := sparse.NewSet(graph.NumChoices())
	for state := range graph.NumStates() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if reward.ChoiceTotal(state, choice) == 0 {
				zeroRewardChoices.Add(choice)
			}
		}
	}
	components, err := graph.EndComponents(ctx, nil, zeroRewardChoices)
	if err != nil {
		return nil, nil, err
	}
	return components, endStates(graph, components), nil
}

// endStates returns the states of all end components.
func endStates(graph *sparse.Graph, components *sparse.EndComponents) *sparse.Set {
	states := sparse.NewSet(graph.NumStates())
	addStates(states, components.States)
	return states
}

// stayInEndComponents gives each state of an end component its first choice that stays in the end component.
func stayInEndComponents(graph *sparse.Graph, components *sparse.EndComponents, scheduler []uint32) {
	for _, state := range components.States {
		first, end := graph.Choices(int(state))
		for choice := first; choice < end; choice++ {
			if components.Choices.Has(choice) {
				scheduler[state] = uint32(choice)
				break
			}
		}
	}
}

// totalAnalysis is the result of graph analysis for TotalReward.
type totalAnalysis struct {
	earningStates  *sparse.Set // states that can reach a reward
	endComponents  *sparse.EndComponents
	earningForever *sparse.Set // states with a rewarded choice that stays in their end component
	earningChoices []uint32    // of each earning state: that choice
}

// analyzeTotalReward finds the states that can reach a reward, and the states that can earn rewards forever.
func analyzeTotalReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward) (totalAnalysis, error) {
	numStates := graph.NumStates()
	components, err := graph.EndComponents(ctx, nil, nil)
	if err != nil {
		return totalAnalysis{}, err
	}
	analysis := totalAnalysis{endComponents: components, earningForever: sparse.NewSet(numStates), earningChoices: make([]uint32, numStates)}
	rewardedStates := sparse.NewSet(numStates)
	for state := range numStates {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if reward.ChoiceTotal(state, choice) == 0 {
				continue
			}
			rewardedStates.Add(state)
			if components.Choices.Has(choice) {
				analysis.earningForever.Add(state)
				analysis.earningChoices[state] = uint32(choice)
			}
		}
	}
	analysis.earningStates = graph.ExistsUntil(sparse.FullSet(numStates), rewardedStates)
	return analysis, nil
}

// infiniteStates returns the states that can reach an end component with a reward.
func (analysis totalAnalysis) infiniteStates(graph *sparse.Graph) *sparse.Set {
	return graph.ExistsUntil(sparse.FullSet(graph.NumStates()), analysis.earningForever)
}

// writeChoices writes choices that attain an infinite reward to scheduler. They lead to an end component with a reward, and there they earn the
// reward infinitely often.
func (analysis totalAnalysis) writeChoices(graph *sparse.Graph, scheduler []uint32) {
	for state := range analysis.earningForever.All() {
		scheduler[state] = analysis.earningChoices[state]
	}
	graph.Approach(analysis.endComponents.Choices, analysis.earningForever, scheduler)
	decidedStates := sparse.NewSet(graph.NumStates()) // the states of end components with a reward
	for _, state := range analysis.endComponents.States {
		if scheduler[state] != sparse.None {
			decidedStates.Add(int(state))
		}
	}
	graph.Approach(nil, decidedStates, scheduler)
}
