package compile

import (
	"context"
	"math"
	"slices"

	"tilecheck/prism/syntax"
)

// interpreter draws paths by interpretation. It is the reference for what a
// path is; the machine gives the same bits.
//
// Draws, in order, at each state that is left:
//   - DTMC, MDP: with more than one choice, an integer picks one uniformly; if
//     the commands of the choice have together more than one combination of
//     updates, a unit double picks the first whose cumulative probability
//     exceeds it, in the order of Expand before equal targets are added.
//   - CTMC: with more than one choice or more than one combination of updates,
//     a unit double times the total rate picks the choice and then, with what is
//     left of it, the updates; then a unit double gives the sojourn time.
type interpreter struct {
	m      *Model
	x      *expander
	w      *watch
	start  []int32
	state  []int32
	target []int32
	totals []float64 // CTMC: the rate of each choice
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
		m: m, x: newExpander(m), w: w, start: start,
		state: make([]int32, n), target: make([]int32, n),
	}, nil
}

// Close implements Runner.
func (r *interpreter) Close() error { return nil }

// Name implements BatchRunner.
func (r *interpreter) Name() string { return "interpreter" }

// Fork implements BatchRunner.
func (r *interpreter) Fork() (BatchRunner, error) { return r.m.NewInterpreter(r.w.Monitor) }

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

// pollMask is how many steps, less one, may pass between looks at the context.
const pollMask = 1<<12 - 1

func (r *interpreter) run(ctx context.Context, s Stream) (Outcome, error) {
	var out Outcome
	r.x.env.err, r.x.ctx = nil, ctx
	copy(r.state, r.start)
	for looping := false; ; {
		if out.Steps&pollMask == pollMask && ctx.Err() != nil {
			return out, ctx.Err()
		}
		r.x.env.state = r.state
		done := r.w.Enter(&r.x.env, &out, looping)
		if r.failed(&out) || done {
			return out, nil
		}
		if err := r.x.combine(r.state); err != nil {
			out.Status, out.Err = Failed, err
			return out, nil
		}
		if r.x.stopped != nil {
			return out, r.x.stopped
		}
		if len(r.x.combos) == 0 {
			return r.deadlock(out), nil
		}
		if r.w.Limited() && out.Steps >= r.w.MaxPath {
			out.Status = Undecided
			return out, nil
		}
		if looping, done = r.move(&s, &out); done {
			return out, nil
		}
	}
}

// failed ends the path when the last evaluation failed.
func (r *interpreter) failed(out *Outcome) bool {
	err := r.m.takeError(&r.x.env)
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
	r.w.Deadlock(&r.x.env, &out)
	r.failed(&out)
	return out
}

// move leaves the present state. It reports whether the step was a
// deterministic self-loop and whether the path has ended meanwhile.
func (r *interpreter) move(s *Stream, out *Outcome) (looping, done bool) {
	n := len(r.x.combos)
	var c combo
	if r.m.continuous() {
		var rate float64
		if c, rate, done = r.race(s, out); done {
			return false, true
		}
		done = r.w.Sojourn(&r.x.env, out, s.Exponential(rate), c.action)
	} else {
		c = r.choose(s, out)
		r.w.Step(&r.x.env, out, c.action)
	}
	if r.failed(out) || done {
		return false, true
	}
	members := r.x.members[c.first:c.last]
	copy(r.target, r.state)
	if err := r.x.apply(r.target, members, r.x.updates); err != nil {
		out.Status, out.Err = Failed, err
		return false, true
	}
	looping = n == 1 && !r.m.continuous() && r.certain(members) && slices.Equal(r.state, r.target)
	r.state, r.target = r.target, r.state
	return looping, false
}

// choose resolves the choice uniformly and then the updates by probability. The
// updates are left in expander.updates.
func (r *interpreter) choose(s *Stream, out *Outcome) combo {
	c := r.x.combos[0]
	if n := len(r.x.combos); n > 1 {
		c = r.x.combos[s.Below(uint32(n))]
		if r.m.nondeterministic() {
			out.Nondet++
		} else {
			out.Overlap++
		}
	}
	members := r.x.members[c.first:c.last]
	r.x.firstUpdate(members)
	if alternatives(members) > 1 {
		r.x.pick(members, s.Unit())
	}
	return c
}

// race picks a choice and its updates by rate, and returns the total rate.
func (r *interpreter) race(s *Stream, out *Outcome) (c combo, total float64, done bool) {
	r.totals = r.totals[:0]
	for _, c := range r.x.combos {
		rate := r.x.total(r.x.members[c.first:c.last])
		r.totals = append(r.totals, rate)
		total += rate
	}
	if !(total <= math.MaxFloat64) {
		out.Status = Failed
		out.Err = r.m.stateError(r.state, r.x.members[r.x.combos[0].first].src.Pos, "total rate is not finite")
		return c, total, true
	}
	c = r.x.combos[0]
	members := r.x.members[c.first:c.last]
	r.x.firstUpdate(members)
	if len(r.x.combos) == 1 && alternatives(members) == 1 {
		return c, total, false
	}
	rest := float64(s.Unit() * total)
	last := len(r.totals) - 1
	i := 0
	for ; i < last && !(rest < r.totals[i]); i++ {
		rest -= r.totals[i]
	}
	c = r.x.combos[i]
	members = r.x.members[c.first:c.last]
	r.x.firstUpdate(members)
	if alternatives(members) > 1 {
		r.x.pick(members, rest)
	}
	return c, total, false
}

// certain reports whether exactly one combination of updates has a positive
// weight, and that weight is one.
func (r *interpreter) certain(members []*command) bool {
	for _, c := range members {
		positive := 0
		for _, w := range r.x.weights[c.ord] {
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

// alternatives is the number of combinations of updates, whatever their weights.
func alternatives(members []*command) int {
	n := 1
	for _, c := range members {
		n *= len(c.updates)
	}
	return n
}

// firstUpdate points the odometer at every member's first update.
func (x *expander) firstUpdate(members []*command) {
	x.updates = x.updates[:0]
	for range members {
		x.updates = append(x.updates, 0)
	}
}

// pick moves the odometer to the first combination of updates whose cumulative
// weight exceeds u, or else, as the sum may fall short of one by rounding, to
// the last with a positive weight.
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
	for range last { // the odometer has wrapped round to the first
		advance(members, x.updates)
	}
}

// total is the sum of the weights of all combinations of updates.
func (x *expander) total(members []*command) float64 {
	x.firstUpdate(members)
	sum := 0.0
	for more := true; more; more = advance(members, x.updates) {
		sum += x.weight(members, x.updates)
	}
	return sum
}
