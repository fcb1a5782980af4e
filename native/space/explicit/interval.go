package explicit

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// interval is the interval in which the probability of an update lies. Its bounds may be shared
// and must not be changed.
type interval struct{ low, high *big.Rat }

// requireOneCommand returns an error if several commands are enabled in a state of an interval Markov chain. PRISM would add their intervals, but the sum is
// not a distribution.
func (expander *exactExpander) requireOneCommand(state []int32, enabled []compile.Choice) error {
	if len(enabled) < 2 {
		return nil
	}
	secondCommand := enabled[1].Commands[0]
	pos := expander.model.Program().Modules[secondCommand.Module].Commands[secondCommand.Command].Pos
	return unsupportedError(expander.model, state, pos, "several commands of an interval Markov chain are enabled")
}

// newIntervalChoice returns the transitions of an enabled choice of an interval model. Each combination of one update of each command is a transition, whose
// bounds are the products of the bounds of the updates. The bounds of transitions with equal targets are added, and then all intervals are tightened.
//
// Source: PRISM's explicit engine, for interval models.
func (expander *exactExpander) newIntervalChoice(ctx context.Context, state []int32, enabled *compile.Choice) (exactChoice, error) {
	// upperWeights must not be nil even if there are no transitions, because nil means that the model has no intervals.
	choice := exactChoice{action: enabled.Action, upperWeights: []*big.Rat{}}
	var intervals [][]interval // intervals[i][j] is the interval of update j of command i
	for _, commandRef := range enabled.Commands {
		commandIntervals, err := expander.intervalsOfUpdates(state, &expander.model.Program().Modules[commandRef.Module].Commands[commandRef.Command])
		if err != nil {
			return choice, err
		}
		intervals = append(intervals, commandIntervals)
	}
	for updates := range combinations(intervals) {
		product := multiplyIntervals(intervals, updates)
		if product.high.Sign() == 0 {
			continue
		}
		target := slices.Clone(state)
		if err := expander.modelExpander.Apply(target, enabled.Commands, updates); err != nil {
			return choice, err
		}
		choice.addInterval(target, product)
		if len(choice.targets)%cancelCheckInterval == 0 && ctx.Err() != nil {
			return choice, ctx.Err()
		}
	}
	choice.tightenIntervals()
	return choice, nil
}

// multiplyIntervals returns the product of the intervals of the selected updates. updates[i] is the selected
// update of command i.
func multiplyIntervals(intervals [][]interval, updates []int) interval {
	product := intervals[0][updates[0]]
	for i, update := range updates[1:] {
		next := intervals[i+1][update]
		product = interval{new(big.Rat).Mul(product.low, next.low), new(big.Rat).Mul(product.high, next.high)}
	}
	return product
}

// addInterval adds a transition with an interval. If the choice already has a transition to the same target, it adds the bounds to the
// bounds of that one.
func (choice *exactChoice) addInterval(target []int32, weight interval) {
	for i, knownTarget := range choice.targets {
		if slices.Equal(knownTarget, target) {
			choice.weights[i] = new(big.Rat).Add(choice.weights[i], weight.low)
			choice.upperWeights[i] = new(big.Rat).Add(choice.upperWeights[i], weight.high)
			return
		}
	}
	choice.targets, choice.weights, choice.upperWeights = append(choice.targets, target), append(choice.weights, weight.low), append(choice.upperWeights, weight.high)
}

// tightenIntervals narrows each interval to the probabilities that can occur in a distribution within all intervals: at least 1 minus the sum of the other
// upper bounds, and at most 1 minus the sum of the other lower bounds.
func (choice *exactChoice) tightenIntervals() {
	lowSlack, highSlack := big.NewRat(1, 1), big.NewRat(1, 1) // 1 minus the sum of all lower, or upper, bounds
	for i := range choice.weights {
		lowSlack.Sub(lowSlack, choice.weights[i])
		highSlack.Sub(highSlack, choice.upperWeights[i])
	}
	for i := range choice.weights {
		newLow, newHigh := new(big.Rat).Add(highSlack, choice.upperWeights[i]), new(big.Rat).Add(lowSlack, choice.weights[i])
		if newLow.Cmp(choice.weights[i]) > 0 {
			choice.weights[i] = newLow
		}
		if newHigh.Cmp(choice.upperWeights[i]) < 0 {
			choice.upperWeights[i] = newHigh
		}
	}
}

// intervalsOfUpdates evaluates the probability intervals of a command's updates in a state. It returns an error if no distribution lies within them. If they
// do not depend on the state, it caches them.
func (expander *exactExpander) intervalsOfUpdates(state []int32, command *sema.Command) ([]interval, error) {
	if cached := expander.constantIntervals[command]; cached != nil {
		return cached, nil
	}
	var intervals []interval
	isConstant := true
	for i := range command.Updates {
		update := &command.Updates[i]
		evaluated, err := expander.intervalOfUpdate(state, update)
		if err != nil {
			return nil, err
		}
		intervals = append(intervals, evaluated)
		isConstant = isConstant && isConst(update.Prob) && (update.ProbHigh == nil || isConst(update.ProbHigh))
	}
	if err := expander.checkIntervals(state, command, intervals); err != nil {
		return nil, err
	}
	if isConstant {
		expander.constantIntervals[command] = intervals
	}
	return intervals, nil
}

// intervalOfUpdate evaluates the probability interval of an update in a state. Without an upper bound, both ends are the same probability.
func (expander *exactExpander) intervalOfUpdate(state []int32, update *sema.Update) (interval, error) {
	encloser := sema.NewEncloser(state)
	low, err := expander.evaluateWeight(state, encloser, "probability", update.Prob)
	if err != nil {
		return interval{}, err
	}
	high := low
	if update.ProbHigh != nil {
		if high, err = expander.evaluateWeight(state, encloser, "probability", update.ProbHigh); err != nil {
			return interval{}, err
		}
	}
	if low.Cmp(high) > 0 {
		return interval{}, expander.modelError(state, update.Pos, fmt.Sprintf("lower bound %s of a probability is greater than its upper bound %s", low.RatString(), high.RatString()))
	}
	return interval{low, high}, nil
}

// checkIntervals returns an error if no distribution lies within the intervals of a command's updates.
func (expander *exactExpander) checkIntervals(state []int32, command *sema.Command, intervals []interval) error {
	lowSum, highSum := new(big.Rat), new(big.Rat)
	for _, bounds := range intervals {
		lowSum.Add(lowSum, bounds.low)
		highSum.Add(highSum, bounds.high)
	}
	one := big.NewRat(1, 1)
	switch {
	case highSum.Sign() == 0:
		return expander.modelError(state, command.Pos, "probability of every update is zero")
	case lowSum.Cmp(one) > 0:
		return expander.modelError(state, command.Pos, fmt.Sprintf("lower bounds of probabilities sum to exactly %s, which is more than 1", lowSum.RatString()))
	case highSum.Cmp(one) < 0:
		return expander.modelError(state, command.Pos, fmt.Sprintf("upper bounds of probabilities sum to exactly %s, which is less than 1", highSum.RatString()))
	}
	return nil
}
