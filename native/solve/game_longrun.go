package solve

import (
	"context"
	"errors"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrNoStrategies says that no pair of strategies was found whose values prove each other optimal.
var ErrNoStrategies = errors.New("found no pair of optimal strategies of the two sides")

// maxLongRunSteps limits the steps of value iteration for long-run averages.
const maxLongRunSteps = 1 << 20

// LongRun returns bounds on the value of the long-run average reward per step. Value iteration suggests strategies of both sides: the
// choices that are best for the total reward of many steps. Under a strategy of one side, the game is an MDP of the other side, whose
// long-run average bounds the value. If the bounds are not narrow, or the fractions differ, more steps suggest better strategies. Both
// sides have optimal memoryless strategies. If each step stays in its state with probability 1/2, these are best for all large numbers
// of steps.
//
// Source: Liggett and Lippman, Stochastic games with perfect information and time average payoff (1969);
// the MDPs are solved as by LongRun.
func (game *Game) LongRun(ctx context.Context, reward *sparse.Reward, opts Options) (*Values, error) {
	if dir, ok := game.Direction(); ok {
		return LongRun(ctx, game.graph, reward, dir, opts)
	}
	opts.Within, opts.Classic = nil, false
	n := game.graph.NumStates()
	all := sparse.FullSet(n)
	improvement, err := game.newRewardImprovement(ctx, reward, all, opts)
	if err != nil {
		return nil, err
	}
	improvement.sys.maybe = all
	improvement.solve = func(g *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*Values, error) {
		return LongRun(ctx, g, reward, dir, opts)
	}
	values := improvement.sys.values
	for s := range n {
		values.Upper[s] = math.Inf(1)
	}
	total := make([]float64, n)
	var strategy []uint32
	for steps, taken := 64, 0; steps <= maxLongRunSteps; steps *= 2 {
		for ; taken < steps; taken++ {
			if taken%64 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			total = game.lazyStep(reward, total, nil)
		}
		next := make([]uint32, n)
		game.lazyStep(reward, total, next)
		if slices.Equal(next, strategy) {
			continue
		}
		strategy = next
		if optimal, err := improvement.valuesIfOptimal(strategy); optimal != nil || err != nil {
			return optimal, err
		}
	}
	if opts.Exact {
		return nil, ErrNoStrategies
	}
	return values, nil
}

// valuesIfOptimal evaluates the strategies of both sides. It returns the values of the game if they prove each other optimal: their
// fractions are equal, or their bounds narrow. Otherwise it tightens the bounds on the values of the game, and returns nil.
func (improvement *strategyImprovement) valuesIfOptimal(strategy []uint32) (*Values, error) {
	least, err := improvement.evaluate(Max, strategy)
	if err != nil {
		return nil, err
	}
	greatest, err := improvement.evaluate(Min, strategy)
	if err != nil {
		return nil, err
	}
	if improvement.opts.Exact {
		if !least.equal(greatest) {
			return nil, nil
		}
		least.Scheduler = wantedStrategies(strategy, improvement.opts)
		return least, nil
	}
	improvement.tighten(least, Max)
	improvement.tighten(greatest, Min)
	if !improvement.setIfNarrow(Max, least, greatest) {
		return nil, nil
	}
	values := improvement.sys.values
	values.Converged, values.Scheduler = true, wantedStrategies(strategy, improvement.opts)
	return values, nil
}

// lazyStep returns the optimal total reward of each state after one more step, from the total rewards of the steps before. A
// step stays in its state with probability 1/2, which makes periodic games converge. The optimal choices are written to
// strategy, unless strategy is nil.
func (game *Game) lazyStep(reward *sparse.Reward, total []float64, strategy []uint32) []float64 {
	graph, next := game.graph, make([]float64, len(total))
	for s := range total {
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			sum := 0.0
			firstTransition, endTransition := graph.Row(c)
			for i := firstTransition; i < endTransition; i++ {
				sum += graph.Prob(i) * total[graph.Target[i]]
			}
			sum = reward.OfChoice(s, c) + (sum+total[s])/2
			isBetter := sum < next[s]
			if game.maximizer.Has(s) {
				isBetter = sum > next[s]
			}
			if c > first && !isBetter {
				continue
			}
			next[s] = sum
			if strategy != nil {
				strategy[s] = uint32(c)
			}
		}
	}
	return next
}
