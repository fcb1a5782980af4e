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

// newInterpreter prepares a monitor and finds the initial state.
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

// RunBatch implements BatchRunner.
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
	for looping := false; ; {
		if out.Steps&pollMask == pollMask && ctx.Err() != nil {
			return out, ctx.Err()
		}
		r.expander.env.state = r.state
		done := r.watch.Enter(&r.expander.env, &out, looping)
		if r.endIfFailed(&out) || done {
			return out, nil
		}
		if err := r.expander.listWithWeights(r.state); err != nil {
			out.Status, out.Err = Failed, err
			return out, nil
		}
		if r.expander.stopErr != nil {
			return out, r.expander.stopErr
		}
		if len(r.expander.combinations) == 0 {
			return r.deadlock(out), nil
		}
		if r.watch.Limited() && out.Steps >= r.watch.MaxPath {
			out.Status = Undecided
			return out, nil
		}
		looping, done = r.makeStep(&stream, &out)
		if done {
			return out, nil
		}
	}
}

// endIfFailed reports whether the last evaluation failed. If so, it ends the path with the error.
func (r *interpreter) endIfFailed(out *Outcome) bool {
	err := r.model.takeError(&r.expander.env)
	if err != nil {
		out.Status, out.Err = Failed, err
	}
	return err != nil
}

// deadlock returns the outcome of a path that reaches a state without choices.
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

// makeStep picks a choice and its updates and moves to the next state. It reports whether the step was a deterministic self-loop, and
// whether the path ended.
func (r *interpreter) makeStep(stream *Stream, out *Outcome) (looping, done bool) {
	numChoices := len(r.expander.combinations)
	var chosen combination
	if r.model.continuous() {
		var rate float64
		chosen, rate, done = r.pickByRate(stream, out)
		if done {
			return false, true
		}
		done = r.watch.Sojourn(&r.expander.env, out, stream.Exponential(rate), chosen.action)
	} else {
		chosen = r.pickUniformly(stream, out)
		r.watch.Step(&r.expander.env, out, chosen.action)
	}
	if r.endIfFailed(out) || done {
		return false, true
	}
	commands := r.expander.combinationCommands[chosen.first:chosen.last]
	copy(r.target, r.state)
	if err := r.expander.applyUpdates(r.target, commands, r.expander.updates); err != nil {
		out.Status, out.Err = Failed, err
		return false, true
	}
	looping = numChoices == 1 && !r.model.continuous() && r.isDeterministic(commands) && slices.Equal(r.state, r.target)
	r.state, r.target = r.target, r.state
	return looping, false
}

// pickUniformly picks a choice uniformly, and then its updates by their probabilities. It sets expander.updates.
func (r *interpreter) pickUniformly(stream *Stream, out *Outcome) combination {
	chosen := r.expander.combinations[0]
	if numChoices := len(r.expander.combinations); numChoices > 1 {
		chosen = r.expander.combinations[stream.Below(uint32(numChoices))]
		if r.model.nondeterministic() {
			out.Nondet++
		} else {
			out.Overlap++
		}
	}
	commands := r.expander.combinationCommands[chosen.first:chosen.last]
	r.expander.resetUpdates(commands)
	if numAlternatives(commands) > 1 {
		r.expander.pickUpdates(commands, stream.Unit())
	}
	return chosen
}

// pickByRate picks a choice and its updates with probability proportional to their rates. It sets expander.updates and returns the
// exit rate. done says that the path ended, because this rate is not finite.
func (r *interpreter) pickByRate(stream *Stream, out *Outcome) (chosen combination, exitRate float64, done bool) {
	r.totals = r.totals[:0]
	for _, chosen := range r.expander.combinations {
		rate := r.expander.totalWeight(r.expander.combinationCommands[chosen.first:chosen.last])
		r.totals = append(r.totals, rate)
		exitRate += rate
	}
	if !(exitRate <= math.MaxFloat64) {
		out.Status = Failed
		out.Err = r.model.stateError(r.state, r.expander.combinationCommands[r.expander.combinations[0].first].source.Pos, "total rate is not finite")
		return chosen, exitRate, true
	}
	chosen = r.expander.combinations[0]
	commands := r.expander.combinationCommands[chosen.first:chosen.last]
	r.expander.resetUpdates(commands)
	if len(r.expander.combinations) == 1 && numAlternatives(commands) == 1 {
		return chosen, exitRate, false
	}
	remainder := float64(stream.Unit() * exitRate)
	last := len(r.totals) - 1
	i := 0
	for ; i < last && !(remainder < r.totals[i]); i++ {
		remainder -= r.totals[i]
	}
	chosen = r.expander.combinations[i]
	commands = r.expander.combinationCommands[chosen.first:chosen.last]
	r.expander.resetUpdates(commands)
	if numAlternatives(commands) > 1 {
		r.expander.pickUpdates(commands, remainder)
	}
	return chosen, exitRate, false
}

// isDeterministic reports whether exactly one combination of updates has a positive weight and this weight is 1.
func (r *interpreter) isDeterministic(commands []*command) bool {
	for _, command := range commands {
		if !isOneWeightOne(r.expander.weights[command.order]) {
			return false
		}
	}
	return true
}

// numAlternatives returns the number of combinations of updates, including those of weight zero.
func numAlternatives(commands []*command) int {
	n := 1
	for _, command := range commands {
		n *= len(command.updates)
	}
	return n
}

// resetUpdates sets x.updates to the first update of every command.
func (x *expander) resetUpdates(commands []*command) {
	x.updates = x.updates[:0]
	for range commands {
		x.updates = append(x.updates, 0)
	}
}

// pickUpdates sets x.updates to the first combination of updates whose cumulative weight exceeds threshold. If there is none because of
// rounding, it takes the last combination with a positive weight. x.updates must be the first combination.
func (x *expander) pickUpdates(commands []*command, threshold float64) {
	sum, last, index := 0.0, 0, 0
	for more := true; more; more = nextCombination(commands, x.updates) {
		if weight := x.weight(commands, x.updates); weight > 0 {
			sum += weight
			if threshold < sum {
				return
			}
			last = index
		}
		index++
	}
	for range last { // x.updates is the first combination again
		nextCombination(commands, x.updates)
	}
}

// totalWeight returns the sum of the weights of all combinations of updates.
func (x *expander) totalWeight(commands []*command) float64 {
	x.resetUpdates(commands)
	sum := 0.0
	for more := true; more; more = nextCombination(commands, x.updates) {
		sum += x.weight(commands, x.updates)
	}
	return sum
}
