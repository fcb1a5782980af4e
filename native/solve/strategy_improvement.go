package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// strategyImprovement solves a game by a sequence of strategies of one side. Under a fixed strategy of one side, the game is an MDP of
// the other side. The values of this MDP are bounds: lower bounds for a strategy of the maximizer, upper bounds for a strategy of the
// minimizer. Where a choice is better than the value of its state, the strategy changes to it.
//
// Such a change makes no value worse. In a set of states that is never left under the new strategy and has no reward, the values are
// equal to their means. So no choice was changed in it, and the old strategy could stay in it, too. If no choice is better, the
// values x of the last strategy solve the equations of the game, and are its values:
//
//   - For probabilities and total rewards, improved by the maximizer: x is a lower bound, and the values
//     of the game are the least solution.
//   - For rewards until a target, improved by the minimizer: x is an upper bound. If the maximizer makes
//     choices that attain x, the sum of the earlier rewards and the value of the current state never decreases on
//     average. When the target is reached, this sum is the reward. The minimizer must reach the target almost surely.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966); Condon, The complexity of
// stochastic games (1992); Patek and Bertsekas, Stochastic shortest path games (1999).
type strategyImprovement struct {
	game   *Game
	ctx    context.Context
	opts   Options
	system *equationSystem // its values are the values of the game
	reward *sparse.Reward
	// solve solves the MDP under a fixed strategy of one side.
	solve func(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error)
}

// run solves the game by improving the strategy of one side, starting from the given strategy. It returns the values of the game.
func (improvement *strategyImprovement) run(side Direction, strategy []uint32) (*Values, error) {
	if improvement.system.maybe.Empty() {
		improvement.system.values.Scheduler = wantedStrategies(strategy, improvement.opts)
		return improvement.system.values, nil
	}
	if improvement.opts.Exact {
		return improvement.system.values, improvement.solveExactly(side, strategy)
	}
	for state := range improvement.system.maybe.All() {
		improvement.system.values.Upper[state] = math.Inf(1)
	}
	return improvement.system.values, improvement.narrowBounds(side, strategy)
}

// restrictedGraph returns the MDP that remains if one side follows its strategy, with the rewards of this MDP (nil for none).
func (improvement *strategyImprovement) restrictedGraph(side Direction, strategy []uint32) (*sparse.Graph, *sparse.Reward) {
	graph := improvement.game.graph
	choices := sparse.NewSet(graph.NumChoices())
	for state := range graph.NumStates() {
		if improvement.game.side(state) == side {
			choices.Add(int(strategy[state]))
			continue
		}
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if !improvement.system.maybe.Has(state) || improvement.system.isUsableChoice(choice) {
				choices.Add(choice)
			}
		}
	}
	if improvement.reward == nil {
		return sparse.NewGraph(graph.Model.Restrict(choices)), nil
	}
	model := *graph.Model
	model.Rewards = []sparse.Reward{*improvement.reward}
	restrictedModel := model.Restrict(choices)
	return sparse.NewGraph(restrictedModel), &restrictedModel.Rewards[0]
}

// evaluate solves the MDP in which one side follows its strategy, and the other side optimizes.
func (improvement *strategyImprovement) evaluate(side Direction, strategy []uint32) (*Values, error) {
	graph, reward := improvement.restrictedGraph(side, strategy)
	opts := improvement.opts
	opts.Scheduler = false
	return improvement.solve(graph, reward, side.Opposite(), opts)
}

// solveExactly computes the exact values of the game. It evaluates and improves the strategy of one side until no choice is better.
func (improvement *strategyImprovement) solveExactly(side Direction, strategy []uint32) error {
	for {
		values, err := improvement.evaluate(side, strategy)
		if err != nil {
			return err
		}
		for state := range improvement.system.maybe.All() {
			improvement.system.values.Exact[state] = values.Exact[state]
		}
		if !improvement.improve(side, strategy) {
			improvement.setOptimalChoices(side.Opposite(), strategy)
			improvement.system.values.Scheduler = wantedStrategies(strategy, improvement.opts)
			return nil
		}
		if err := improvement.ctx.Err(); err != nil {
			return err
		}
	}
}

// improve switches each state of one side to its best choice if that is better than the value of the state. It reports whether any choice
// changed.
func (improvement *strategyImprovement) improve(side Direction, strategy []uint32) (changed bool) {
	improvement.system.isOneStep = true // a choice is compared as one step
	defer func() { improvement.system.isOneStep = false }()
	for state := range improvement.system.maybe.All() {
		if improvement.game.side(state) != side {
			continue
		}
		optimum, currentValue := improvement.system.optimumRat(state), improvement.system.values.Exact[state]
		isBetter := isGreater(optimum.value, currentValue)
		if side == Min {
			isBetter = isGreater(currentValue, optimum.value)
		}
		if isBetter {
			strategy[state], changed = optimum.choice, true
		}
	}
	return changed
}

// setOptimalChoices writes choices of one side that attain the exact values to the strategy. That side is the opponent of the side whose
// strategy was improved.
func (improvement *strategyImprovement) setOptimalChoices(side Direction, strategy []uint32) {
	improvement.system.isOneStep = true
	defer func() { improvement.system.isOneStep = false }()
	for state := range improvement.system.maybe.All() {
		if improvement.game.side(state) == side {
			strategy[state] = improvement.system.optimumRat(state).choice
		}
	}
}

// isGreater reports whether left is greater than right. A nil value stands for infinity.
func isGreater(left, right *big.Rat) bool {
	switch {
	case right == nil:
		return false
	case left == nil:
		return true
	}
	return left.Cmp(right) > 0
}

// narrowBounds improves the strategy of one side until the bounds on the game are narrow, or the strategy does not change any more. The
// values of the strategy bound the values of the game from one direction, and the values of the best response to it from the other.
func (improvement *strategyImprovement) narrowBounds(side Direction, strategy []uint32) error {
	values := improvement.system.values
	for range maxStrategies {
		strategyValues, err := improvement.evaluate(side, strategy)
		if err != nil {
			return err
		}
		improvement.tighten(strategyValues, side)
		oldStrategy := slices.Clone(strategy)
		changed := improvement.improveBothSides(side, strategy, strategyValues)
		responseValues, err := improvement.evaluate(side.Opposite(), strategy)
		if err != nil {
			return err
		}
		improvement.tighten(responseValues, side.Opposite())
		values.Converged = !values.hasWideBounds(improvement.system.maybe, improvement.opts.epsilon())
		if !improvement.opts.Scheduler && values.Converged {
			return nil
		}
		if values.Converged && improvement.setIfNarrow(side, strategyValues, responseValues) {
			values.Scheduler = improvement.game.joinStrategies(side, oldStrategy, strategy)
			return nil
		}
		if !changed {
			return nil
		}
	}
	return nil
}

// joinStrategies returns a strategy of both sides: the choices of strategy for the given side, and of response for the other side.
func (game *Game) joinStrategies(side Direction, strategy, response []uint32) []uint32 {
	if side == Max {
		return game.combineStrategies(strategy, response)
	}
	return game.combineStrategies(response, strategy)
}

// setIfNarrow checks whether a strategy of the given side and a response of the other side have values that are narrow bounds on the game.
// If so, it stores these bounds and returns true.
func (improvement *strategyImprovement) setIfNarrow(side Direction, strategyValues, responseValues *Values) bool {
	values, bounds := improvement.system.values, Values{Lower: strategyValues.Lower, Upper: responseValues.Upper}
	if side == Min {
		bounds = Values{Lower: responseValues.Lower, Upper: strategyValues.Upper}
	}
	if bounds.hasWideBounds(improvement.system.maybe, improvement.opts.epsilon()) {
		return false
	}
	for state := range improvement.system.maybe.All() {
		values.Lower[state], values.Upper[state] = bounds.Lower[state], bounds.Upper[state]
	}
	return true
}

// maxStrategies limits the strategies for bounds; known games need a few.
const maxStrategies = 100

// tighten narrows the bounds on the game. A strategy of the maximizer gives lower bounds, and a strategy of the minimizer upper bounds.
func (improvement *strategyImprovement) tighten(strategyValues *Values, side Direction) {
	values := improvement.system.values
	values.Sweeps, values.Extended = values.Sweeps+strategyValues.Sweeps, values.Extended || strategyValues.Extended
	for state := range improvement.system.maybe.All() {
		if side == Max {
			values.Lower[state] = max(values.Lower[state], strategyValues.Lower[state])
		} else {
			values.Upper[state] = min(values.Upper[state], strategyValues.Upper[state])
		}
	}
}

// improveBothSides switches both sides to better choices. values are the values of the game if the given side follows its strategy. The
// other side gets its best choices for these values; the given side switches only to choices that are noticeably better. changed says that
// the given side switched.
func (improvement *strategyImprovement) improveBothSides(side Direction, strategy []uint32, values *Values) (changed bool) {
	equations := *improvement.system
	equations.values = values
	for state := range equations.maybe.All() {
		bestChoice, bestValue := equations.bestResponse(state, side)
		if bestChoice == sparse.None || bestChoice == strategy[state] {
			continue
		}
		if improvement.game.side(state) != side {
			strategy[state] = bestChoice
			continue
		}
		currentValue := values.Lower[state]/2 + values.Upper[state]/2
		if isNoticeablyBetter(bestValue, currentValue, equations.minimizes(state)) {
			strategy[state], changed = bestChoice, true
		}
	}
	return changed
}

// isNoticeablyBetter reports whether value is better than best by more than the rounding error.
func isNoticeablyBetter(value, best float64, minimize bool) bool {
	const threshold = 1e-12
	if minimize {
		return value < best*(1-threshold)
	}
	return value > best*(1+threshold)
}

// bestResponse returns the best choice of a state for the current values of all states, and the midpoint of the bounds on its value. The
// choice is sparse.None if no usable choice has a finite value. improvingSide is the side whose strategy is improved.
func (system *equationSystem) bestResponse(state int, improvingSide Direction) (bestChoice uint32, bestValue float64) {
	bestChoice = sparse.None
	minimize := system.minimizes(state)
	first, end := system.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		if !system.isUsableChoice(choice) {
			continue
		}
		bounds := system.evaluateChoice(state, choice)
		if !bounds.leavesState { // the choice has only self-loops, so its value is 0 or infinite
			missesTarget := improvingSide == Min // its strategy is improved only for rewards until a target, which this choice never reaches
			earnsForever := system.reward.ChoiceTotal(state, choice) > 0
			if missesTarget || earnsForever {
				continue
			}
		}
		value := bounds.lower/2 + bounds.upper/2
		if bestChoice == sparse.None || isBetter(value, bestValue, minimize) {
			bestChoice, bestValue = uint32(choice), value
		}
	}
	return bestChoice, bestValue
}
