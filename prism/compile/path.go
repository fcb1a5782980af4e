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
	totals       []float64 // CTMC: the rate of each choice
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
	start, err := m.pathStart()
	if err != nil {
		return nil, err
	}
	numVars := len(m.program.Vars)
	return &interpreter{
		model: m, expander: newExpander(m), watch: watch, initialState: start,
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

// RunBatch implements BatchRunner: dst[i] becomes the outcome of sample first+i of the seed.
func (r *interpreter) RunBatch(ctx context.Context, seed, first uint64, dst []Outcome) error {
	for i := range dst {
		var err error
		if dst[i], err = r.run(ctx, NewStream(seed, first+uint64(i))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pollMask plus 1 is the number of steps between two polls of the context.
const pollMask = 1<<12 - 1

// run draws one path from a stream of random numbers and returns its outcome.
func (r *interpreter) run(ctx context.Context, stream Stream) (Outcome, error) {
	var out Outcome
	r.expander.env.err, r.expander.ctx = nil, ctx
	copy(r.state, r.initialState)
	isLooping := false // the last step was a deterministic self-loop
	for {
		if out.Steps&pollMask == pollMask && ctx.Err() != nil {
			return out, ctx.Err()
		}
		// Evaluate the monitor in the new state.
		r.expander.env.state = r.state
		isDecided := r.watch.Enter(&r.expander.env, &out, isLooping)
		if r.endIfFailed(&out) || isDecided {
			return out, nil
		}
		hasEnded, err := r.listChoices(&out)
		if err != nil || hasEnded {
			return out, err
		}
		if isLooping, hasEnded = r.makeStep(&stream, &out); hasEnded {
			return out, nil
		}
	}
}

// listChoices lists the choices of the current state in r.expander. hasEnded reports whether the path ends in this state: after an error of the
// model, in a deadlock, or after MaxPath steps. The returned error is the error of the context.
func (r *interpreter) listChoices(out *Outcome) (hasEnded bool, err error) {
	if err := r.expander.listWithWeights(r.state); err != nil {
		out.Status, out.Err = Failed, err
		return true, nil
	}
	switch {
	case r.expander.stopErr != nil:
		return true, r.expander.stopErr
	case len(r.expander.combinations) == 0:
		*out = r.deadlock(*out)
		return true, nil
	case r.watch.Limited() && out.Steps >= r.watch.MaxPath:
		out.Status = Undecided
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

// deadlock returns the outcome of a path that enters a state without choices. out is the outcome of the path up to this state.
func (r *interpreter) deadlock(out Outcome) Outcome {
	if r.model.opts.NoFixDeadlocks {
		out.Status = Deadlocked
		out.Err = r.model.stateError(r.state, syntax.Pos{}, "deadlock")
		return out
	}
	r.watch.Deadlock(&r.expander.env, &out)
	r.endIfFailed(&out)
	return out
}

// makeStep picks a choice and its updates at random, and moves to the next state. isLooping reports whether the step was a deterministic self-loop.
// hasEnded reports whether the path ends before the next state.
func (r *interpreter) makeStep(stream *Stream, out *Outcome) (isLooping, hasEnded bool) {
	var chosen combination
	if r.model.isContinuous() {
		chosen, hasEnded = r.jump(stream, out)
	} else {
		chosen = r.pickUniformly(stream, out)
		r.watch.Step(&r.expander.env, out, chosen.action)
	}
	if r.endIfFailed(out) || hasEnded {
		return false, true
	}
	commands := r.expander.combinationCommands[chosen.first:chosen.last]
	copy(r.target, r.state)
	if err := r.expander.applyUpdates(r.target, commands, r.expander.updates); err != nil {
		out.Status, out.Err = Failed, err
		return false, true
	}
	isOnlyChoice := len(r.expander.combinations) == 1 && !r.model.isContinuous()
	isLooping = isOnlyChoice && r.isDeterministic(commands) && slices.Equal(r.state, r.target)
	r.state, r.target = r.target, r.state
	return isLooping, false
}

// jump picks a choice of a CTMC with its updates, and draws the sojourn time. hasEnded reports whether the path ends before the jump: the exit rate
// is not finite, or the monitor is decided during the sojourn.
func (r *interpreter) jump(stream *Stream, out *Outcome) (chosen combination, hasEnded bool) {
	exitRate := r.sumRates()
	isFinite := exitRate <= math.MaxFloat64 // false for NaN
	if !isFinite {
		firstCommand := r.expander.combinationCommands[r.expander.combinations[0].first]
		out.Status = Failed
		out.Err = r.model.stateError(r.state, firstCommand.source.Pos, "total rate is not finite")
		return chosen, true
	}
	chosen = r.pickByRate(stream, exitRate)
	sojournTime := stream.Exponential(exitRate)
	return chosen, r.watch.Sojourn(&r.expander.env, out, sojournTime, chosen.action)
}

// sumRates returns the exit rate of a state of a CTMC. It stores the rate of each choice in r.totals.
func (r *interpreter) sumRates() float64 {
	r.totals = r.totals[:0]
	exitRate := 0.0
	for _, combination := range r.expander.combinations {
		rate := r.expander.totalWeight(r.expander.combinationCommands[combination.first:combination.last])
		r.totals = append(r.totals, rate)
		exitRate += rate
	}
	return exitRate
}

// pickUniformly picks a choice uniformly at random, and then its updates by their probabilities. It stores the updates in expander.updates. If the
// state has several choices, it counts the state in out.
func (r *interpreter) pickUniformly(stream *Stream, out *Outcome) combination {
	chosen := r.expander.combinations[0]
	if numChoices := len(r.expander.combinations); numChoices > 1 {
		chosen = r.expander.combinations[stream.Below(uint32(numChoices))]
		if r.model.isNondeterministic() {
			out.Nondet++
		} else {
			out.Overlap++
		}
	}
	commands := r.expander.combinationCommands[chosen.first:chosen.last]
	r.expander.resetUpdates(commands)
	switch count := numAlternatives(commands); {
	case count > maxMultiplied:
		r.expander.pickIndependently(commands, stream)
	case count > 1:
		r.expander.pickUpdates(commands, stream.Unit())
	}
	return chosen
}

// pickByRate picks a choice with probability proportional to its rate, and then its updates, which it stores in expander.updates. It draws no random
// number if there is a single choice with a single combination of updates.
func (r *interpreter) pickByRate(stream *Stream, exitRate float64) combination {
	combinations := r.expander.combinations
	only := combinations[0]
	commands := r.expander.combinationCommands[only.first:only.last]
	if len(combinations) == 1 && numAlternatives(commands) == 1 {
		r.expander.resetUpdates(commands)
		return only
	}
	// Choice i is picked if the random number in [0, exitRate) is between the sums of the rates before and after choice i. The remainder then picks
	// the updates.
	remainder := float64(stream.Unit() * exitRate)
	i := 0
	for i < len(combinations)-1 && remainder >= r.totals[i] {
		remainder -= r.totals[i]
		i++
	}
	chosen := combinations[i]
	commands = r.expander.combinationCommands[chosen.first:chosen.last]
	r.expander.resetUpdates(commands)
	switch count := numAlternatives(commands); {
	case count > maxMultiplied:
		r.expander.pickIndependently(commands, stream)
	case count > 1:
		r.expander.pickUpdates(commands, remainder)
	}
	return chosen
}

// isDeterministic reports whether exactly one combination of updates has a positive weight, and this weight is 1.
func (r *interpreter) isDeterministic(commands []*command) bool {
	for _, command := range commands {
		if !isDirac(r.expander.weights[command.order]) {
			return false
		}
	}
	return true
}

// maxMultiplied is the largest number of combinations of updates from which one random number picks one. If there are more, each command picks its
// update with a random number of its own: the distribution is the same, because the weight of a combination is the product of the weights.
const maxMultiplied = 1 << 16

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

// pickIndependently sets x.updates to one update of each command. Each command draws a random number and picks its first update whose cumulative
// weight exceeds this part of the command's total weight.
func (x *expander) pickIndependently(commands []*command, stream *Stream) {
	for i, command := range commands {
		weights := x.weights[command.order]
		if len(weights) == 1 {
			continue
		}
		threshold := float64(stream.Unit() * sumOf(weights))
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
	sum := 0.0
	index, lastPositive := 0, 0
	for hasNext := true; hasNext; hasNext = nextCombination(commands, x.updates) {
		if weight := x.weight(commands, x.updates); weight > 0 {
			sum += weight
			if threshold < sum {
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

// totalWeight returns the sum of the weights of all combinations of updates.
func (x *expander) totalWeight(commands []*command) float64 {
	if numAlternatives(commands) > maxMultiplied {
		product := 1.0
		for _, command := range commands {
			product = float64(product * sumOf(x.weights[command.order]))
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
