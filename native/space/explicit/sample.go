package explicit

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// NewRunner returns a runner that samples paths of the space, as compile.Model.NewRunner does for
// a model. It evaluates the formulas and rewards of the monitor in all states first. It is an
// error if there are several initial states, or if a weight or reward is outside the range of
// float64.
func (s *Space) NewRunner(ctx context.Context, mon compile.Monitor) (compile.BatchRunner, error) {
	switch {
	case s.rangeErr != nil:
		return nil, s.rangeErr
	case s.compiled.Samples() != nil:
		return nil, s.compiled.Samples()
	case len(s.model.Initial) != 1:
		return nil, &compile.UnsupportedError{File: s.Program().File, Msg: "several initial states, sample paths need a single initial state"}
	}
	w, err := compile.NewWatch(mon, s.model.Kind == sparse.CTMC, facts{s})
	if err != nil {
		return nil, err
	}
	d := &pathSampler{m: s.model, w: w}
	if s.model.Kind == sparse.CTMC {
		d.rates, err = exitRates(ctx, s.model)
	}
	return d, err
}

// exitRates returns the sum of the rates of each state, added in the order in which pick adds
// them.
func exitRates(ctx context.Context, m *sparse.Model) ([]float64, error) {
	out := make([]float64, m.NumStates())
	for i := range out {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		choice, _ := m.Choices(i)
		first, end := m.Row(choice)
		for t := first; t < end; t++ {
			out[i] += m.Prob(t)
		}
	}
	return out, nil
}

// facts implements compile.StateCompiler: it answers a monitor's questions about the states. A move is a
// choice of an MDP or a transition of a Markov chain.
type facts struct{ *Space }

// Is implements compile.StateCompiler.
func (f facts) Is(e sema.Expr) (func(int) bool, error) {
	set, err := f.States(e)
	if err != nil {
		return nil, err
	}
	return set.Has, nil
}

// Earns implements compile.StateCompiler.
func (f facts) Earns(reward int) (state func(int) float64, move func(int, int) float64, err error) {
	r, err := f.Reward(reward)
	if err != nil {
		return nil, nil, err
	}
	if r.Unfit != nil {
		return nil, nil, r.Unfit
	}
	moves, _, err := f.TransitionRewards(reward)
	if f.model.Kind == sparse.MDP {
		moves = r.Choice
	}
	return func(i int) float64 { return at(r.State, i) }, func(_, move int) float64 { return at(moves, move) }, err
}

// at returns list[i], or zero if the list is nil.
func at(list []float64, i int) float64 {
	if list == nil {
		return 0
	}
	return list[i]
}

// pathSampler samples paths of a state space. Paths and their outcomes are those of compile's
// interpreter. In each state it draws an integer if there are several choices, then a number from
// [0,1) if the choice has several transitions, and in a CTMC the sojourn time.
type pathSampler struct {
	m     *sparse.Model
	w     *compile.Watch[int]
	rates []float64 // exit rates of a CTMC; nil otherwise
}

// Close implements compile.Runner.
func (d *pathSampler) Close() error { return nil }

// Name implements compile.BatchRunner.
func (d *pathSampler) Name() string { return "states" }

// Fork implements compile.BatchRunner. It returns d, because samplers do not change.
func (d *pathSampler) Fork() (compile.BatchRunner, error) { return d, nil }

// Run implements compile.Runner.
func (d *pathSampler) Run(s compile.Stream) compile.Outcome {
	out, _ := d.run(context.Background(), &s)
	return out
}

// RunBatch implements compile.BatchRunner.
func (d *pathSampler) RunBatch(ctx context.Context, seed, first uint64, dst []compile.Outcome) error {
	for i := range dst {
		stream := compile.NewStream(seed, first+uint64(i))
		var err error
		if dst[i], err = d.run(ctx, &stream); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// run samples one path.
func (d *pathSampler) run(ctx context.Context, s *compile.Stream) (out compile.Outcome, err error) {
	state := int(d.m.Initial[0])
	for looping := false; ; {
		if out.Steps&0xfff == 0xfff && ctx.Err() != nil {
			return out, ctx.Err()
		}
		if d.w.Enter(state, &out, looping) {
			return out, nil
		}
		if d.m.Deadlocks != nil && d.m.Deadlocks.Has(state) {
			d.w.Deadlock(state, &out)
			return out, nil
		}
		if d.w.Limited() && out.Steps >= d.w.MaxPath {
			out.Status = compile.Undecided
			return out, nil
		}
		next, done := d.step(s, &out, state)
		if done {
			return out, nil
		}
		looping = next == state && d.absorbing(state)
		state = next
	}
}

// step samples a choice and a transition of a state. done says that the path ends in the
// state, because a time bound has passed.
func (d *pathSampler) step(s *compile.Stream, out *compile.Outcome, state int) (next int, done bool) {
	choice, end := d.m.Choices(state)
	if n := end - choice; n > 1 {
		choice += int(s.Below(uint32(n)))
		out.Nondet++
	}
	first, last := d.m.Row(choice)
	t := first
	switch {
	case d.rates != nil:
		if last-first > 1 {
			t = d.pick(first, last, float64(s.Unit()*d.rates[state]))
		}
		done = d.w.Sojourn(state, out, s.Exponential(d.rates[state]), t)
	default:
		if last-first > 1 {
			t = d.pick(first, last, s.Unit())
		}
		move := t
		if d.m.Kind == sparse.MDP {
			move = choice
		}
		d.w.Step(state, out, move)
	}
	return int(d.m.Target[t]), done
}

// pick returns the first transition whose cumulative weight exceeds u; the last one if the sum is
// less than u because of rounding.
func (d *pathSampler) pick(first, last int, u float64) int {
	sum := 0.0
	for t := first; t < last-1; t++ {
		if sum += d.m.Prob(t); u < sum {
			return t
		}
	}
	return last - 1
}

// absorbing reports whether the only transition of a state, known to be a self-loop, is all
// that can happen. It is false in a CTMC, where time still passes.
func (d *pathSampler) absorbing(state int) bool {
	choice, end := d.m.Choices(state)
	first, last := d.m.Row(choice)
	return d.rates == nil && end-choice == 1 && last-first == 1
}
