package explicit

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// NewRunner returns what draws paths of the space, as compile.Model.NewRunner does of a
// model. In which states a formula holds, and what leaving a state takes, is computed
// first. The error is that there is no single initial state, or why weights or rewards
// are no doubles.
func (s *Space) NewRunner(ctx context.Context, mon compile.Monitor) (compile.BatchRunner, error) {
	switch {
	case s.unfit != nil:
		return nil, s.unfit
	case s.compiled.Samples() != nil:
		return nil, s.compiled.Samples()
	case len(s.model.Initial) != 1:
		return nil, &compile.UnsupportedError{File: s.Program().File, Msg: "several initial states, sample paths need a single initial state"}
	}
	w, err := compile.NewWatch(mon, s.model.Kind == sparse.CTMC, facts{s})
	if err != nil {
		return nil, err
	}
	d := &drawer{m: s.model, w: w}
	if s.model.Kind == sparse.CTMC {
		d.rates, err = exitRates(ctx, s.model)
	}
	return d, err
}

// exitRates sums the rates of every state, in the order in which one is drawn.
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

// facts are what monitors ask about the states of a space: a compile.StateCompiler. A move is a
// choice of an MDP and a transition of a Markov chain.
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

// at is an element of a list that is nil where all are zero.
func at(list []float64, i int) float64 {
	if list == nil {
		return 0
	}
	return list[i]
}

// drawer draws paths of states that are known. What a path is, compile's interpreter
// says; the draws are, at each state that is left, an integer where there are several
// choices, then a unit double where the choice has several transitions, which times the
// total rate in a CTMC picks one, and there the sojourn time.
type drawer struct {
	m     *sparse.Model
	w     *compile.Watch[int]
	rates []float64 // of a CTMC: at which each state is left
}

// Close implements compile.Runner.
func (d *drawer) Close() error { return nil }

// Name implements compile.BatchRunner.
func (d *drawer) Name() string { return "states" }

// Fork implements compile.BatchRunner: nothing that drawers share changes.
func (d *drawer) Fork() (compile.BatchRunner, error) { return d, nil }

// Run implements compile.Runner.
func (d *drawer) Run(s compile.Stream) compile.Outcome {
	out, _ := d.run(context.Background(), &s)
	return out
}

// RunBatch implements compile.BatchRunner.
func (d *drawer) RunBatch(ctx context.Context, seed, first uint64, dst []compile.Outcome) error {
	for i := range dst {
		stream := compile.NewStream(seed, first+uint64(i))
		var err error
		if dst[i], err = d.run(ctx, &stream); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (d *drawer) run(ctx context.Context, s *compile.Stream) (out compile.Outcome, err error) {
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
		next, done := d.move(s, &out, state)
		if done {
			return out, nil
		}
		looping = next == state && d.certain(state)
		state = next
	}
}

// move draws a step from a state. It reports whether the path has ended meanwhile.
func (d *drawer) move(s *compile.Stream, out *compile.Outcome, state int) (next int, done bool) {
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

// pick returns the first transition of some whose cumulative weight exceeds u, and the
// last where the sum falls short of it by rounding.
func (d *drawer) pick(first, last int, u float64) int {
	sum := 0.0
	for t := first; t < last-1; t++ {
		if sum += d.m.Prob(t); u < sum {
			return t
		}
	}
	return last - 1
}

// certain reports whether a state that has led to itself does nothing else, for ever. In
// a CTMC, where time passes, that decides nothing.
func (d *drawer) certain(state int) bool {
	choice, end := d.m.Choices(state)
	first, last := d.m.Row(choice)
	return d.rates == nil && end-choice == 1 && last-first == 1
}
