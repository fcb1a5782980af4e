package solve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// MarkovInstantReward returns bounds on the minimal or maximal expected state reward at a time, for a Markov automaton with the embedded MDP graph.
// The state reward of a timed state is the mean reward of a stay; multiplied by the exit rate it is the reward per unit of time. Schedulers may depend
// on the time. The error is ErrTimeStands if a scheduler can stop the time. See MarkovUntil for the method.
func MarkovInstantReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	if err := checkTimePasses(ctx, graph, rates); err != nil {
		return nil, err
	}
	rewardRates, err := rewardRateBounds(graph, reward, rates)
	if err != nil {
		return nil, err
	}
	allStates := sparse.FullSet(graph.NumStates())
	automaton, err := newFinalValueAutomaton(ctx, graph, allStates, rates, rewardRates, dir, opts)
	if err != nil {
		return nil, err
	}
	return automaton.narrowBounds(ctx, time)
}

// checkTimePasses returns ErrTimeStands if some scheduler can stop the time: if it can stay in immediate states forever.
func checkTimePasses(ctx context.Context, graph *sparse.Graph, rates Rates) error {
	immediate := sparse.SelectStates(graph.NumStates(), func(state int) bool { return rates.High[state] == 0 })
	components, err := graph.EndComponents(ctx, immediate, nil)
	if err == nil && components.Num() > 0 {
		err = ErrTimeStands
	}
	return err
}

// rewardRateBounds returns bounds on the state reward per unit of time of each state. They are 0 for an immediate state.
func rewardRateBounds(graph *sparse.Graph, reward *sparse.Reward, rates Rates) (*Values, error) {
	bounds := &Values{Lower: make([]float64, graph.NumStates()), Upper: make([]float64, graph.NumStates())}
	rounding := newRounding(graph.Model, reward)
	relErr := wideErrMargin * (rounding.relErr + 4*unitRoundoff)
	for state, perStay := range reward.State {
		bounds.Lower[state] = rounding.roundDown(perStay*rates.Low[state], relErr)
		bounds.Upper[state] = rounding.roundUp(perStay*rates.High[state], relErr)
		if upper := bounds.Upper[state]; upper > 0 && !sparse.InRange(upper) {
			return nil, fmt.Errorf("%w: the reward %.4g per unit of time", ErrRates, upper)
		}
		if perStay > 0 && rates.High[state] > 0 { // also if the product underflows
			bounds.Upper[state] = max(bounds.Upper[state], rounding.leastBound)
		}
	}
	return bounds, nil
}

// MarkovCumulReward returns bounds on the minimal or maximal expected reward until a time, for a Markov automaton with the embedded MDP graph. The state
// reward of a timed state is the mean reward of a stay; a reward of an immediate choice is earned when the choice is taken, also at time 0. Schedulers may
// depend on the time. The error is ErrTimeStands if a scheduler can stop the time. See MarkovUntil for the method.
//
// A timed state earns its reward at a constant rate. The mean of this reward until a time equals the mean of the sum, over the uniformised steps until
// then, of rate/uniformRate of the state that the step leaves: steps come at uniformRate, whatever the scheduler does.
func MarkovCumulReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	if err := checkTimePasses(ctx, graph, rates); err != nil {
		return nil, err
	}
	automaton, immediate, rateRelErr, err := newUniformisedAutomaton(ctx, graph, rates, dir, opts)
	if err != nil {
		return nil, err
	}
	automaton.rounding = newRounding(graph.Model, reward)
	automaton.maxValue = math.Inf(1)
	automaton.zeroTimeTargets = sparse.NewSet(graph.NumStates())
	automaton.choiceRewards = choiceTotals(graph, reward)
	earning, err := earningStates(ctx, graph, automaton.choiceRewards, dir)
	if err != nil {
		return nil, err
	}
	automaton.values.Converged = earning.Empty()
	if err := automaton.prepareSteps(earning, immediate, rates, rateRelErr); err != nil {
		return nil, err
	}
	automaton.boundStepReward()
	return automaton.narrowBounds(ctx, time)
}

// choiceTotals returns, for each choice, the sum of the reward of the choice and the reward of its state.
func choiceTotals(graph *sparse.Graph, reward *sparse.Reward) []float64 {
	totals := make([]float64, graph.NumChoices())
	for state := range graph.NumStates() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			totals[choice] = reward.ChoiceTotal(state, choice)
		}
	}
	return totals
}

// earningStates returns the states whose minimal or maximal total reward without a time bound is positive. In other states the reward until any time is 0.
// It builds a copy of the model in which a choice with a positive reward leads to a new state. A state earns a reward if the minimal or maximal probability
// to reach the new state is positive.
func earningStates(ctx context.Context, graph *sparse.Graph, choiceRewards []float64, dir Direction) (*sparse.Set, error) {
	numStates := graph.NumStates()
	rewardState := uint32(numStates)
	builder := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	sameTarget := func(i int) uint32 { return graph.Target[i] }
	for state := range numStates {
		builder.State()
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if choiceRewards[choice] > 0 {
				builder.Loop(rewardState)
			} else {
				builder.Copy(choice, sameTarget)
			}
		}
	}
	builder.State()
	builder.Loop(rewardState)
	rewardStateSet := sparse.SetOf(numStates+1, numStates)
	prob01, err := computeProb01(ctx, sparse.NewGraph(builder.Finish()), sparse.FullSet(numStates+1), rewardStateSet, dir)
	if err != nil {
		return nil, err
	}
	return sparse.SelectStates(numStates, func(state int) bool { return !prob01.zeroStates.Has(state) }), nil
}

// boundStepReward sets maxStepReward, an upper bound on the mean reward of one uniformised step. The bound is the greatest reward that a timed state earns in
// the step, plus the greatest reward of the immediate states that follow the step.
func (automaton *markovAutomaton) boundStepReward() {
	maximizing := *automaton
	maximizing.direction = Max
	afterStep := make([]float64, len(automaton.leaveProb))
	maximizing.optimizeImmediate(automaton.immediateStates, afterStep, 1)
	inStep := 0.0
	for _, state := range automaton.maybeStates {
		first, _ := automaton.graph.Choices(int(state))
		inStep = max(inStep, automaton.leaveProb[state]*automaton.choiceRewards[first])
	}
	automaton.maxStepReward = wideErrMargin * (inStep + slices.Max(afterStep))
}

// omittedReward returns an upper bound on the part of the expected reward that is lost because the Poisson distribution stepCount is truncated. maxUpper is
// an upper bound on the values after the last step.
func (automaton *markovAutomaton) omittedReward(stepCount *poisson, maxUpper float64) float64 {
	omittedSteps := stepCount.truncatedExcess + stepCount.truncatedProb*float64(stepCount.lastNumber())
	return errMargin * (stepCount.truncatedProb*maxUpper + omittedSteps*automaton.maxStepReward)
}
