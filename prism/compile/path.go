package compile

import (
	"context"
	"math"
	"slices"

	"tilecheck/prism/syntax"
)

// interpreter draws paths by interpretation. It defines the meaning of paths; the machine gives the same results bit for bit.
//
// Draws, in order, at each state that is left:
//   - DTMC, MDP: with more than one choice, an integer picks one uniformly; if
//     the commands of the choice have together more than one combination of
//     updates, a unit double picks the first whose cumulative probability
//     exceeds it, in the order of Expand before equal targets are added.
//   - CTMC: with more than one choice or more than one combination of updates,
//     a unit double times the total rate picks the choice, and the remainder then
//     picks the updates; then a unit double gives the sojourn time.
type interpreter struct {
	m        *Model
	expander *expander
	watch    *watch
	start    []int32
	state    []int32
	target   []int32
	totals   []float64 // CTMC: the rate of each choice
}

// NewInterpreter returns a Runner that interprets the model.
func (m *Model) NewInterpreter(mon Monitor) (BatchRunner, error) {
	r, err := m.newInterpreter(mon)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (m *Model) newInterpreter(mon Monitor) (*interpreter, error) {
	w, err := m.newWatch(mon)
	if err != nil {
		return nil, err
	}
	start, err := m.pathStart()
	if err != nil {
		return nil, err
	}
	n := len(m.prog.Vars)
	return &interpreter{
		m: m, expander: newExpander(m), watch: w, start: start,
		state: make([]int32, n), target: make([]int32, n),
	}, nil
}

// Close implements Runner.
func (r *interpreter) Close() error { return nil }

// Name implements BatchRunner.
func (r *interpreter) Name() string { return "interpreter" }

// Fork implements BatchRunner.
func (r *interpreter) Fork() (BatchRunner, error) { return r.m.NewInterpreter(r.watch.Monitor) }

// Run implements Runner.
func (r *interpreter) Run(s Stream) Outcome {
	out, _ := r.run(context.Background(), s)
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

// pollMask plus 1 is the number of steps between polls of the context.
const pollMask = 1<<12 - 1

func (r *interpreter) run(ctx context.Context, s Stream) (Outcome, error) {
	var out Outcome
	r.expander.env.err, r.expander.ctx = nil, ctx
	copy(r.state, r.start)
	for looping := false; ; {
		if out.Steps&pollMask == pollMask && ctx.Err() != nil {
			return out, ctx.Err()
		}
		r.expander.env.state = r.state
		done := r.watch.Enter(&r.expander.env, &out, looping)
		if r.failed(&out) || done {
			return out, nil
		}
		if err := r.expander.listWeighed(r.state); err != nil {
			out.Status, out.Err = Failed, err
			return out, nil
		}
		if r.expander.stopped != nil {
			return out, r.expander.stopped
		}
		if len(r.expander.combinations) == 0 {
			return r.deadlock(out), nil
		}
		if r.watch.Limited() && out.Steps >= r.watch.MaxPath {
			out.Status = Undecided
			return out, nil
		}
		if looping, done = r.move(&s, &out); done {
			return out, nil
		}
	}
}

// failed ends the path if the last evaluation failed.
func (r *interpreter) failed(out *Outcome) bool {
	err := r.m.takeError(&r.expander.env)
	if err != nil {
		out.Status, out.Err = Failed, err
	}
	return err != nil
}

func (r *interpreter) deadlock(out Outcome) Outcome {
	if r.m.opts.NoFixDeadlocks {
		out.Status = Deadlocked
		out.Err = r.m.stateError(r.state, syntax.Pos{}, "deadlock")
		return out
	}
	r.watch.Deadlock(&r.expander.env, &out)
	r.failed(&out)
	return out
}

// move leaves the current state. It reports whether the step was a deterministic self-loop, and whether the path ended.
func (r *interpreter) move(s *Stream, out *Outcome) (looping, done bool) {
	n := len(r.expander.combinations)
	var c combination
	if r.m.continuous() {
		var rate float64
		if c, rate, done = r.race(s, out); done {
			return false, true
		}
		done = r.watch.Sojourn(&r.expander.env, out, s.Exponential(rate), c.action)
	} else {
		c = r.choose(s, out)
		r.watch.Step(&r.expander.env, out, c.action)
	}
	if r.failed(out) || done {
		return false, true
	}
	members := r.expander.members[c.first:c.last]
	copy(r.target, r.state)
	if err := r.expander.apply(r.target, members, r.expander.updates); err != nil {
		out.Status, out.Err = Failed, err
		return false, true
	}
	looping = n == 1 && !r.m.continuous() && r.certain(members) && slices.Equal(r.state, r.target)
	r.state, r.target = r.target, r.state
	return looping, false
}

// choose picks a choice uniformly, and then its updates by their probabilities, into expander.updates.
func (r *interpreter) choose(s *Stream, out *Outcome) combination {
	c := r.expander.combinations[0]
	if n := len(r.expander.combinations); n > 1 {
		c = r.expander.combinations[s.Below(uint32(n))]
		if r.m.nondeterministic() {
			out.Nondet++
		} else {
			out.Overlap++
		}
	}
	members := r.expander.members[c.first:c.last]
	r.expander.firstUpdate(members)
	if alternatives(members) > 1 {
		r.expander.pick(members, s.Unit())
	}
	return c
}

// race picks a choice and its updates with probability proportional to their rates, and returns the total rate.
func (r *interpreter) race(s *Stream, out *Outcome) (c combination, total float64, done bool) {
	r.totals = r.totals[:0]
	for _, c := range r.expander.combinations {
		rate := r.expander.total(r.expander.members[c.first:c.last])
		r.totals = append(r.totals, rate)
		total += rate
	}
	if !(total <= math.MaxFloat64) {
		out.Status = Failed
		out.Err = r.m.stateError(r.state, r.expander.members[r.expander.combinations[0].first].src.Pos, "total rate is not finite")
		return c, total, true
	}
	c = r.expander.combinations[0]
	members := r.expander.members[c.first:c.last]
	r.expander.firstUpdate(members)
	if len(r.expander.combinations) == 1 && alternatives(members) == 1 {
		return c, total, false
	}
	rest := float64(s.Unit() * total)
	last := len(r.totals) - 1
	i := 0
	for ; i < last && !(rest < r.totals[i]); i++ {
		rest -= r.totals[i]
	}
	c = r.expander.combinations[i]
	members = r.expander.members[c.first:c.last]
	r.expander.firstUpdate(members)
	if alternatives(members) > 1 {
		r.expander.pick(members, rest)
	}
	return c, total, false
}

// certain reports whether exactly one combination of updates has a positive weight and this weight is 1.
func (r *interpreter) certain(members []*command) bool {
	for _, c := range members {
		positive := 0
		for _, w := range r.expander.weights[c.ord] {
			if w > 0 {
				positive++
			}
			if w > 0 && w != 1 {
				return false
			}
		}
		if positive != 1 {
			return false
		}
	}
	return true
}

// alternatives returns the number of combinations of updates, including those with weight zero.
func alternatives(members []*command) int {
	n := 1
	for _, c := range members {
		n *= len(c.updates)
	}
	return n
}

// firstUpdate sets the odometer to the first update of every member.
func (x *expander) firstUpdate(members []*command) {
	x.updates = x.updates[:0]
	for range members {
		x.updates = append(x.updates, 0)
	}
}

// pick sets the odometer to the first combination of updates whose cumulative weight exceeds u. If there is none, because of
// rounding, it picks the last one with a positive weight.
func (x *expander) pick(members []*command, u float64) {
	sum, last, index := 0.0, 0, 0
	for more := true; more; more = advance(members, x.updates) {
		if w := x.weight(members, x.updates); w > 0 {
			if sum += w; u < sum {
				return
			}
			last = index
		}
		index++
	}
	for range last { // the odometer is at the first combination again
		advance(members, x.updates)
	}
}

// total returns the sum of the weights of all combinations of updates.
func (x *expander) total(members []*command) float64 {
	x.firstUpdate(members)
	sum := 0.0
	for more := true; more; more = advance(members, x.updates) {
		sum += x.weight(members, x.updates)
	}
	return sum
}
