package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// rewardLimit bounds the reward of T steps of a chain for a very large T, from the long-run averages of the rewards.
//
// Let R have one state of each BSCC. Let h(s) be the expected number of steps from s until R is reached, at most D in every state. Let
// every step have a reward between 0 and M, and let g(s) be the long-run average from s. Then the reward of T steps from s differs from
// T g(s) by at most M (h(s) + D). Where g(s) is 0, the reward of T steps is at most the total reward, and at least the reward of fewer steps.
//
// In a BSCC the bias b(s), the expected sum of reward minus g until R is reached, satisfies Poisson's equation. So the difference is b(s) minus
// the mean of b after T steps. It is at most M D from the state in R, where b is 0. From any s, the steps before R is reached add at most M h(s).
//
// Source: Puterman 8.2.
type rewardLimit struct {
	system   *equationSystem
	reward   *sparse.Reward
	opts     Options
	numSteps int     // T
	epsilon  float64 // the relative width that the caller asks for
	values   *Values // the bounds without the reward of fewer steps; nil before they are computed
}

const (
	// rewardLimitAfter is the number of single steps before the first attempt. Until then the other methods may finish.
	rewardLimitAfter = 4096
	// rewardLimitRest is the least number of remaining steps. Fewer steps take less time than the equations of rewardLimit.
	rewardLimitRest = 1 << 20
)

// rewardLimit returns a function that bounds the reward of all steps at once, when enough steps have been made one by one. The function
// returns true if it has stored narrow bounds. rewardLimit returns nil if this method cannot be used.
func (system *equationSystem) rewardLimit(ctx context.Context, reward *sparse.Reward, steps int, opts Options) stepLimit {
	if opts.Classic || system.nature != nil || system.graph.Kind == sparse.CTMC || steps < rewardLimitAfter+rewardLimitRest || system.graph.HasSeveralChoices() {
		return nil
	}
	limit := &rewardLimit{system: system, reward: reward, numSteps: steps, epsilon: opts.epsilon(), opts: opts}
	limit.opts.Scheduler, limit.opts.Within, limit.opts.Exact, limit.opts.Epsilon = false, nil, false, opts.epsilon()/8
	return func(_, _ []float64, remaining int) (isFinished bool, err error) {
		stepsDone := steps - remaining
		isTooEarlyOrLate := stepsDone < rewardLimitAfter || remaining < rewardLimitRest
		if isTooEarlyOrLate || system.stepSkipper.expectsToSkip(stepsDone, remaining) {
			return false, nil
		}
		if limit.values == nil {
			if limit.values, err = limit.bounds(ctx); err != nil {
				system.stepLimit = nil // single steps may still be affordable
				return false, ctx.Err()
			}
		}
		return limit.storeIfNarrow(), nil
	}
}

// storeIfNarrow stores the bounds in the system and returns true, if they are as narrow as requested. The lower bounds of the system, which
// are for fewer steps, also hold for all steps.
func (limit *rewardLimit) storeIfNarrow() bool {
	lower := limit.system.values.Lower
	for state, upper := range limit.values.Upper {
		isNarrow := upper-max(limit.values.Lower[state], lower[state]) <= limit.epsilon/2*upper
		isFinite := upper < math.MaxFloat64 // false for NaN
		if !isNarrow || !isFinite {
			return false
		}
	}
	for state, upper := range limit.values.Upper {
		lower[state] = min(max(limit.values.Lower[state], lower[state]), upper)
	}
	copy(limit.system.values.Upper, limit.values.Upper)
	return true
}

// bounds returns bounds on the reward of T steps from each state s: T g(s) plus or minus M (h(s) + D), where g is the long-run average, M
// the greatest reward of a step, h(s) the distance to the reference states, and D its maximum. If g(s) is 0, the bounds are 0 and the total
// reward.
func (limit *rewardLimit) bounds(ctx context.Context) (*Values, error) {
	graph := limit.system.graph
	average, err := LongRun(ctx, graph, limit.reward, Max, limit.opts)
	if err != nil {
		return nil, err
	}
	distance, err := limit.distances(ctx)
	if err != nil {
		return nil, err
	}
	values := &Values{Lower: make([]float64, graph.NumStates()), Upper: make([]float64, graph.NumStates())}
	maxDistance, maxReward := slices.Max(distance.Upper), limit.greatestReward()
	const relErr = 16 * unitRoundoff // of a few sums and products
	hasZeroAverage := false
	for state := range values.Upper {
		if average.Upper[state] == 0 {
			hasZeroAverage = true
			continue
		}
		difference := maxReward * (distance.Upper[state] + maxDistance) * (1 + relErr)
		lower := float64(limit.numSteps) * average.Lower[state] * (1 - relErr)
		values.Lower[state] = limit.system.rounding.roundDown(max(lower-difference, 0), relErr)
		values.Upper[state] = limit.system.rounding.roundUp(float64(limit.numSteps)*average.Upper[state]+difference, relErr)
	}
	if !hasZeroAverage {
		return values, nil
	}
	total, err := TotalReward(ctx, graph, limit.reward, Max, limit.opts)
	if err != nil {
		return nil, err
	}
	for state := range values.Upper {
		if average.Upper[state] == 0 {
			values.Upper[state] = total.Upper[state]
		}
	}
	return values, nil
}

// distances returns bounds on the expected number of steps from each state until a reference state is reached. Each BSCC has one reference
// state, which is visited often.
func (limit *rewardLimit) distances(ctx context.Context) (*Values, error) {
	graph := limit.system.graph
	referenceStates := sparse.NewSet(graph.NumStates())
	components := graph.Components(nil, nil)
	visits, err := limit.countVisits(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range components.Bottom(graph.Model) {
		referenceStates.Add(mostVisited(components.Members(i), visits))
	}
	return ReachReward(ctx, graph, indicatorReward(sparse.FullSet(graph.NumStates())), referenceStates, Max, limit.opts)
}

// visitSteps is the number of steps for which visits are counted, a quarter of the steps before the first attempt.
const visitSteps = rewardLimitAfter / 4

// countVisits returns the expected number of visits to each state in the first visitSteps steps, summed over the paths from every state.
// The numbers need not be accurate: the bounds hold for any reference states, and are narrow if these states are visited often.
func (limit *rewardLimit) countVisits(ctx context.Context) ([]float64, error) {
	graph := limit.system.graph
	visits, currentPaths := make([]float64, graph.NumStates()), make([]float64, graph.NumStates())
	for state := range currentPaths {
		currentPaths[state] = 1
	}
	nextPaths := make([]float64, len(currentPaths))
	for range visitSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(nextPaths)
		for state, numPaths := range currentPaths { // the expected number of paths that are in the state
			choice, _ := graph.Choices(state)
			first, end := graph.Transitions(choice)
			for transition := first; transition < end; transition++ {
				nextPaths[graph.Target[transition]] += graph.Prob(transition) * numPaths
			}
			visits[state] += numPaths
		}
		currentPaths, nextPaths = nextPaths, currentPaths
	}
	return visits, nil
}

// mostVisited returns the state with the greatest number of visits.
func mostVisited(states []uint32, visits []float64) int {
	bestState := int(states[0])
	for _, state := range states {
		if visits[state] > visits[bestState] {
			bestState = int(state)
		}
	}
	return bestState
}

// greatestReward returns an upper bound on the reward of one step.
func (limit *rewardLimit) greatestReward() float64 {
	greatest := 0.0
	for state := range limit.system.graph.NumStates() {
		first, _ := limit.system.graph.Choices(state)
		_, upper := limit.system.rounding.rewardBounds(limit.reward.ChoiceTotal(state, first))
		greatest = max(greatest, upper)
	}
	return greatest * (1 + 4*unitRoundoff)
}
