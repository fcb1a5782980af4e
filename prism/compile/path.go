package compile

import (
	"context"
	"math"
	"slices"

	"tilecheck/prism/syntax"
)

// interpreter draws paths by interpretation. It defines the meaning of paths; the machine gives the same results bit for bit.
//
// In each state that a path leaves, it draws random numbers in this order:
//   - DTMC, MDP: If there are several choices, an integer selects one uniformly. If the commands of
//     the choice have several combinations of updates, a number from [0,1) selects the first
//     combination whose cumulative probability exceeds it, in the order of Expand before equal
//     targets are merged.
//   - CTMC: If there are several choices or several combinations of updates, a number from [0,1)
//     times the total rate selects the choice, and the remainder selects the updates. Then a
//     number from [0,1) determines the sojourn time.
type interpreter struct {
	model        *Model
	expander     *expander
	watch        *watch
	initialState []int32
	state        []int32
	target       []int32
	choiceRates  []float64 // CTMC: the rate of each choice
}

// NewInterpreter returns a Runner that interprets the model.
func (m *Model) NewInterpreter(mon Monitor) (BatchRunner, error) {
	runner, err := m.newInterpreter(mon)
	if err != nil {
		return nil, err
	}
	return runner, nil
}

// newInterpreter returns an interpreter that draws sample paths of the model from its initial state and evaluates a monitor on them.
func (m *Model) newInterpreter(monitor Monitor) (*interpreter, error) {
	watch, err := m.newWatch(monitor)
	if err != nil {
		return nil, err
	}
	startState, err := m.pathStartState()
	if err != nil {
		return nil, err
	}
	numVars := len(m.program.Vars)
	return &interpreter{
		model: m, expander: newExpander(m), watch: watch, initialState: startState,
		state: make([]int32, numVars), target: make([]int32, numVars),
	}, nil
}

// Close implements Runner.
func (r *interpreter) Close() error { return nil }

// Name implements BatchRunner.
func (r *interpreter) Name() string { return "interpreter" }

// Fork implements BatchRunner.
func (r *interpreter) Fork() (BatchRunner, error) { return r.model.NewInterpreter(r.watch.Monitor) }

// Run implements Runner.
func (r *interpreter) Run(stream Stream) Outcome {
	out, _ := r.run(context.Background(), stream)
	return out
}

// RunBatch implements BatchRunner: outcomes[i] becomes the outcome of sample first+i of the seed.
func (r *interpreter) RunBatch(ctx context.Context, seed, first uint64, outcomes []Outcome) error {
	for i := range outcomes {
		var err error
		if outcomes[i], err = r.run(ctx, NewStream(seed, first+uint64(i))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pollMask plus 1 is the number of steps between two polls of the context.
const pollMask = 1<<12 - 1

// run draws one path from a stream of random numbers and returns its outcome.
func (r *interpreter) run(ctx context.Context, stream Stream) (Outcome, error) {
	var outcome Outcome
	r.expander.env.err, r.expander.ctx = nil, ctx
	copy(r.state, r.initialState)
	isLooping := false // the last step was a deterministic self-loop
	for {
		if outcome.Steps&pollMask == pollMask && ctx.Err() != nil {
			return outcome, ctx.Err()
		}
		// Evaluate the monitor in the new state.
		r.expander.env.state = r.state
		isDecided := r.watch.Enter(&r.expander.env, &outcome, isLooping)
		if r.endIfFailed(&outcome) || isDecided {
			return outcome, nil
		}
		hasEnded, err := r.listChoices(&outcome)
		if err != nil || hasEnded {
			return outcome, err
		}
		if isLooping, hasEnded = r.makeStep(&stream, &outcome); hasEnded {
			return outcome, nil
		}
	}
}

// listChoices lists the choices of the current state in r.expander. hasEnded reports whether the path ends in this state: after an error of the
// model, in a deadlock, or after MaxPath steps. The returned error is the error of the context.
func (r *interpreter) listChoices(outcome *Outcome) (hasEnded bool, err error) {
	if err := r.expander.listWithWeights(r.state); err != nil {
		outcome.Status, outcome.Err = Failed, err
		return true, nil
	}
	switch {
	case r.expander.stopErr != nil:
		return true, r.expander.stopErr
	case len(r.expander.combinations) == 0:
		*outcome = r.deadlockOutcome(*outcome)
		return true, nil
	case r.watch.Limited() && outcome.Steps >= r.watch.MaxPath:
		outcome.Status = Undecided
		return true, nil
	}
	return false, nil
}

// endIfFailed ends the path with an error if the last evaluation failed. It reports whether it did.
func (r *interpreter) endIfFailed(out *Outcome) bool {
	err := r.model.takeError(&r.expander.env)
	if err != nil {
		out.Status, out.Err = Failed, err
	}
	return err != nil
}

// deadlockOutcome returns the outcome of a path that enters a state without choices. outcome is the outcome of the path up to this state.
func (r *interpreter) deadlockOutcome(outcome Outcome) Outcome {
	if r.model.options.NoFixDeadlocks {
		outcome.Status = Deadlocked
		outcome.Err = r.model.stateError(r.state, syntax.Pos{}, "deadlock")
		return outcome
	}
	r.watch.Deadlock(&r.expander.env, &outcome)
	r.endIfFailed(&outcome)
	return outcome
}

// makeStep picks a choice and its updates at random, and moves to the next state. isLooping reports whether the step was a deterministic self-loop.
// hasEnded reports whether the path ends before the next state.
func (r *interpreter) makeStep(stream *Stream, outcome *Outcome) (isLooping, hasEnded bool) {
	var chosenCombination combination
	if r.model.isContinuous() {
		chosenCombination, hasEnded = r.drawJump(stream, outcome)
	} else {
		chosenCombination = r.pickUniformly(stream, outcome)
		r.watch.Step(&r.expander.env, outcome, chosenCombination.action)
	}
	if r.endIfFailed(outcome) || hasEnded {
		return false, true
	}
	commands := r.expander.combinationCommands[chosenCombination.begin:chosenCombination.end]
	copy(r.target, r.state)
	if err := r.expander.applyUpdates(r.target, commands, r.expander.updates); err != nil {
		outcome.Status, outcome.Err = Failed, err
		return false, true
	}
	isOnlyChoice := len(r.expander.combinations) == 1
	isLooping = isOnlyChoice && r.isDeterministic(commands) && slices.Equal(r.state, r.target)
	r.state, r.target = r.target, r.state
	return isLooping, false
}

// drawJump picks a choice of a CTMC with its updates, and draws the sojourn time. hasEnded reports whether the path ends before the jump: the exit rate
// is not finite, or the monitor is decided during the sojourn.
func (r *interpreter) drawJump(stream *Stream, outcome *Outcome) (chosenCombination combination, hasEnded bool) {
	exitRate := r.sumRates()
	isFinite := exitRate <= math.MaxFloat64 // false for NaN
	if !isFinite {
		firstCommand := r.expander.combinationCommands[r.expander.combinations[0].begin]
		outcome.Status = Failed
		outcome.Err = r.model.stateError(r.state, firstCommand.source.Pos, "total rate is not finite")
		return chosenCombination, true
	}
	chosenCombination = r.pickByRate(stream, exitRate)
	sojournTime := stream.Exponential(exitRate)
	return chosenCombination, r.watch.Sojourn(&r.expander.env, outcome, sojournTime, chosenCombination.action)
}

// sumRates returns the exit rate of a state of a CTMC. It stores the rate of each choice in r.choiceRates.
func (r *interpreter) sumRates() float64 {
	r.choiceRates = r.choiceRates[:0]
	exitRate := 0.0
	for _, combination := range r.expander.combinations {
		rate := r.expander.totalWeight(r.expander.combinationCommands[combination.begin:combination.end])
		r.choiceRates = append(r.choiceRates, rate)
		exitRate += rate
	}
	return exitRate
}

// pickUniformly picks a choice uniformly at random, and then its updates by their probabilities. It stores the updates in expander.updates. If the
// state has several choices, it counts the state in outcome.
func (r *interpreter) pickUniformly(stream *Stream, outcome *Outcome) combination {
	chosenCombination := r.expander.combinations[0]
	if numChoices := len(r.expander.combinations); numChoices > 1 {
		chosenCombination = r.expander.combinations[stream.Below(uint32(numChoices))]
		if r.model.isNondeterministic() {
			outcome.Nondet++
		} else {
			outcome.Overlap++
		}
	}
	commands := r.expander.combinationCommands[chosenCombination.begin:chosenCombination.end]
	r.expander.resetUpdates(commands)
	switch count := numAlternatives(commands); {
	case exceedsCombinations(commands, maxMultiplied):
		r.expander.pickIndependently(commands, stream.Unit)
	case count > 1:
		r.expander.pickUpdates(commands, stream.Unit())
	}
	return chosenCombination
}

// pickByRate picks a choice with probability proportional to its rate, and then its updates, which it stores in expander.updates. It draws no random
// number if there is a single choice with a single combination of updates.
func (r *interpreter) pickByRate(stream *Stream, exitRate float64) combination {
	combinations := r.expander.combinations
	onlyCombination := combinations[0]
	commands := r.expander.combinationCommands[onlyCombination.begin:onlyCombination.end]
	if len(combinations) == 1 && numAlternatives(commands) == 1 {
		r.expander.resetUpdates(commands)
		return onlyCombination
	}
	// Choice i is picked if the random number in [0, exitRate) is between the sums of the rates before and after choice i. The remainder then picks
	// the updates.
	remainder := float64(stream.Unit() * exitRate)
	choiceIndex := 0
	for choiceIndex < len(combinations)-1 && remainder >= r.choiceRates[choiceIndex] {
		remainder -= r.choiceRates[choiceIndex]
		choiceIndex++
	}
	chosenCombination := combinations[choiceIndex]
	commands = r.expander.combinationCommands[chosenCombination.begin:chosenCombination.end]
	r.expander.resetUpdates(commands)
	switch count := numAlternatives(commands); {
	case exceedsCombinations(commands, maxMultiplied):
		r.expander.pickIndependently(commands, stream.Unit)
	case count > 1:
		r.expander.pickUpdates(commands, remainder)
	}
	return chosenCombination
}

// isDeterministic reports whether exactly one combination of updates has a positive weight.
func (r *interpreter) isDeterministic(commands []*command) bool {
	for _, command := range commands {
		if !isDirac(r.expander.weights[command.commandIndex]) {
			return false
		}
	}
	return true
}

// maxMultiplied is the largest number of combinations of updates of several commands from which one random number picks one. If there are more, each
// command picks its update with a random number of its own: the distribution is the same, because the weight of a combination is the product of the
// weights.
const maxMultiplied = 1 << 8

// exceedsCombinations reports whether several commands together have more than limit combinations of updates.
func exceedsCombinations(commands []*command, limit int) bool {
	return len(commands) > 1 && numAlternatives(commands) > limit
}

// numAlternatives returns the number of combinations of updates, one update per command, or the largest int if it is greater.
func numAlternatives(commands []*command) int {
	count := 1
	for _, command := range commands {
		if count > math.MaxInt/len(command.updates) {
			return math.MaxInt
		}
		count *= len(command.updates)
	}
	return count
}

// pickIndependently sets x.updates to one update of each command. Each command draws a random number from unit, uniformly distributed in [0,1), and
// picks its first update whose cumulative weight exceeds this part of the command's total weight.
func (x *expander) pickIndependently(commands []*command, unit func() float64) {
	for i, command := range commands {
		weights := x.weights[command.commandIndex]
		if len(weights) == 1 {
			continue
		}
		threshold := float64(unit() * sumOf(weights))
		sum := 0.0
		for update, weight := range weights {
			if weight > 0 {
				x.updates[i] = update // rounding may leave no update above the threshold; then it is the last one with a positive weight
			}
			if sum += weight; threshold < sum {
				break
			}
		}
	}
}

// sumOf returns the sum of weights in their order.
func sumOf(weights []float64) float64 {
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	return sum
}

// resetUpdates sets x.updates to the first update of each command.
func (x *expander) resetUpdates(commands []*command) {
	x.updates = x.updates[:0]
	for range commands {
		x.updates = append(x.updates, 0)
	}
}

// pickUpdates sets x.updates to the first combination of updates whose cumulative weight exceeds threshold. Before the call, x.updates must be the
// first combination.
func (x *expander) pickUpdates(commands []*command, threshold float64) {
	cumulated := 0.0
	index, lastPositive := 0, 0
	for hasNext := true; hasNext; hasNext = nextCombination(commands, x.updates) {
		if weight := x.weight(commands, x.updates); weight > 0 {
			cumulated += weight
			if threshold < cumulated {
				return
			}
			lastPositive = index
		}
		index++
	}
	// Rounding left no combination above the threshold. Take the last one with a positive weight.
	for range lastPositive { // x.updates is the first combination again
		nextCombination(commands, x.updates)
	}
}

// totalWeight returns the sum of the weights of all combinations of updates, one update of each command. If there are too many combinations, it returns the
// equal product of the sums of each command, whose rounding may differ.
func (x *expander) totalWeight(commands []*command) float64 {
	if exceedsCombinations(commands, maxMultiplied) {
		product := 1.0
		for _, command := range commands {
			product = float64(product * sumOf(x.weights[command.commandIndex]))
		}
		return product
	}
	x.resetUpdates(commands)
	sum := 0.0
	for hasNext := true; hasNext; hasNext = nextCombination(commands, x.updates) {
		sum += x.weight(commands, x.updates)
	}
	return sum
}
