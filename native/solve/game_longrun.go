package solve

import (
	"context"
	"errors"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrNoStrategies says that no pair of strategies was found whose values prove each other optimal.
var ErrNoStrategies = errors.New("found no pair of optimal strategies of the two sides, which fractions need; without --exact there is an interval")

// maxLongRunSteps limits the steps of value iteration for long-run averages.
const maxLongRunSteps = 1 << 20

// LongRun returns bounds on the optimal long-run average reward per step. Value iteration suggests a memoryless strategy of each side. If one side follows
// its strategy, the game becomes an MDP of the other side, whose long-run average bounds the value of the game.
//
// Source: Liggett and Lippman, Stochastic games with perfect information and time average payoff (1969).
func (game *Game) LongRun(ctx context.Context, reward *sparse.Reward, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return LongRun(ctx, game.graph, reward, direction, opts)
	}
	opts.Within, opts.Classic = nil, false
	numStates := game.graph.NumStates()
	improvement, err := game.newRewardImprovement(ctx, reward, sparse.FullSet(numStates), opts)
	if err != nil {
		return nil, err
	}
	improvement.system.maybe = sparse.FullSet(numStates)
	improvement.solve = func(restricted *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*Values, error) {
		return LongRun(ctx, restricted, reward, direction, opts)
	}
	values := improvement.system.values
	for state := range numStates {
		values.Upper[state] = math.Inf(1)
	}
	optimal, err := improvement.iterateLongRun(reward)
	if optimal != nil || err != nil {
		return optimal, err
	}
	if opts.Exact {
		return nil, ErrNoStrategies
	}
	return values, nil
}

// iterateLongRun performs value iteration. After 64 steps, 128 steps and so on, it evaluates the strategies that are optimal for one more step. It returns
// the values of such strategies if they are optimal for the long-run average, or nil if it finds none within maxLongRunSteps steps.
func (improvement *strategyImprovement) iterateLongRun(reward *sparse.Reward) (optimal *Values, err error) {
	game := improvement.game
	numStates := game.graph.NumStates()
	totalRewards := make([]float64, numStates)
	var strategy []uint32
	for stepsTaken, steps := 0, 64; steps <= maxLongRunSteps; stepsTaken, steps = steps, 2*steps {
		if totalRewards, err = game.lazySteps(improvement.ctx, reward, totalRewards, steps-stepsTaken); err != nil {
			return nil, err
		}
		newStrategy := make([]uint32, numStates)
		game.lazyStep(reward, totalRewards, newStrategy)
		if slices.Equal(newStrategy, strategy) {
			continue
		}
		strategy = newStrategy
		if optimal, err := improvement.valuesIfOptimal(strategy); optimal != nil || err != nil {
			return optimal, err
		}
	}
	return nil, nil
}

// valuesIfOptimal evaluates a strategy of both sides. The MDP in which the maximizer follows the strategy gives lower bounds on the values of the game, and
// the MDP in which the minimizer does gives upper bounds. If these are equal or close, it returns them. Otherwise it tightens the known bounds with them,
// and returns nil.
func (improvement *strategyImprovement) valuesIfOptimal(strategy []uint32) (*Values, error) {
	lowerValues, err := improvement.evaluate(Max, strategy)
	if err != nil {
		return nil, err
	}
	upperValues, err := improvement.evaluate(Min, strategy)
	if err != nil {
		return nil, err
	}
	if improvement.opts.Exact {
		if !lowerValues.equal(upperValues) {
			return nil, nil
		}
		lowerValues.Scheduler = wantedStrategies(strategy, improvement.opts)
		return lowerValues, nil
	}
	improvement.tighten(lowerValues, Max)
	improvement.tighten(upperValues, Min)
	if !improvement.setIfNarrow(Max, lowerValues, upperValues) {
		return nil, nil
	}
	values := improvement.system.values
	values.Converged, values.Scheduler = true, wantedStrategies(strategy, improvement.opts)
	return values, nil
}

// lazySteps returns the optimal total reward of each state after the given number of further lazy steps. A lazy step stays in its state with probability
// 1/2. totalRewards has the optimal total rewards before these steps.
func (game *Game) lazySteps(ctx context.Context, reward *sparse.Reward, totalRewards []float64, steps int) ([]float64, error) {
	for i := range steps {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		totalRewards = game.lazyStep(reward, totalRewards, nil)
	}
	return totalRewards, nil
}

// lazyStep returns the optimal total reward of each state after one more lazy step, in which every choice stays in its state with
// probability 1/2. It also writes the optimal choices to strategy, unless strategy is nil.
func (game *Game) lazyStep(reward *sparse.Reward, totalRewards []float64, strategy []uint32) []float64 {
	nextRewards := make([]float64, len(totalRewards))
	for state := range totalRewards {
		first, end := game.graph.Choices(state)
		bestChoice := first
		for choice := first; choice < end; choice++ {
			value := game.lazyValue(reward, state, choice, totalRewards)
			if choice == first || isBetter(value, nextRewards[state], !game.maximizer.Has(state)) {
				bestChoice, nextRewards[state] = choice, value
			}
		}
		if strategy != nil {
			strategy[state] = uint32(bestChoice)
		}
	}
	return nextRewards
}

// lazyValue returns the total reward of a choice if it stays in its state with probability 1/2. Without this, value iteration would not converge in a
// periodic game. totalRewards has the total rewards of the states for the later steps.
func (game *Game) lazyValue(reward *sparse.Reward, state, choice int, totalRewards []float64) float64 {
	sum := 0.0
	first, end := game.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		sum += game.graph.Prob(transition) * totalRewards[game.graph.Target[transition]]
	}
	return reward.ChoiceTotal(state, choice) + (sum+totalRewards[state])/2
}
