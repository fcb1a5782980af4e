package simulate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Path is a path through a model: len(States) == len(Steps)+1, and step i leads
// from States[i] to States[i+1]. A state has one value per Program.Vars.
type Path struct {
	States [][]int32
	Steps  []Step
	// StateRewards has, for every state, one number per Program.Rewards: per
	// step, or per unit of time in a CTMC. Nil unless PathOptions.Rewards is set.
	StateRewards [][]float64
	End          PathEnd
	// Tries is how many paths were drawn until this one reached a deadlock; 1
	// unless PathOptions.Tries allows more.
	Tries int
}

// Time returns the time at which state i is entered: the sum of the times spent
// before it in a CTMC, and 0 in other models.
func (p *Path) Time(i int) float64 {
	t := 0.0
	for _, s := range p.Steps[:i] {
		t += s.Time
	}
	return t
}

// Step is one step of a path.
type Step struct {
	// Action is an index into Program.Actions or sema.Unlabelled. Module is the
	// module of an unlabelled step that one module makes by itself, else -1.
	Action, Module int
	// Choice is which of the Choices choices of the state was taken, from 0, in
	// the order of compile.Choices.
	Choice, Choices int
	// Probability is that of the target within the choice; in a DTMC it is
	// divided by the number of choices; in a CTMC it is a rate.
	Probability float64
	// Time is the time spent in the state before the step; CTMC only.
	Time float64
	// Rewards has one number per Program.Rewards; nil unless PathOptions.Rewards is set.
	Rewards []float64
}

// PathEnd is why a path ends where it does.
type PathEnd uint8

// The ends of a path.
const (
	AtLength   PathEnd = iota // as long as was asked for
	AtTime                    // the time asked for has passed
	AtDeadlock                // the last state has no choice
	AtLoop                    // the last step was a deterministic self-loop, which would repeat for ever
	AtLimit                   // PathOptions.MaxSteps before what was asked for
	AtError                   // the error that was returned with the path
)

// String returns a short description.
func (e PathEnd) String() string {
	return [...]string{"length reached", "time reached", "deadlock", "deterministic loop", "maximum path length", "error"}[e]
}

// PathOptions says which path to draw. One of Steps, Time and Deadlock says
// when it is complete; with none of them it has no steps.
type PathOptions struct {
	Steps int64
	// Time is a duration in a CTMC and a number of steps in other models.
	Time float64
	// Deadlock asks for a path to a deadlock, of which Tries are drawn at most
	// (0 means 1).
	Deadlock bool
	Tries    int
	// MaxSteps is the limit with Time and Deadlock; 0 means DefaultMaxPath.
	MaxSteps int64
	// NoLoopCheck goes on at a deterministic self-loop. In a CTMC time passes in
	// a loop, so that it is none.
	NoLoopCheck bool
	Rewards     bool // evaluate every reward structure
	// Seed and Index determine the path; try i has index Index+i. The path is
	// not sample Index of Check: it is drawn from the same seed in another way.
	Seed, Index uint64
}

// Walk draws a random path from the initial state. Choices are resolved
// uniformly, updates by their probabilities, and races in a CTMC by rate. The
// error is a *result.Failure; the path up to it is returned with it, and nil if
// there is no first state. Reaching no deadlock is no error: see Path.End.
//
// Source: PRISM's -simpath; reference, section 5.7. Unlike PRISM's, a path of 0
// steps has none, and equal targets of one choice are one transition.
func Walk(ctx context.Context, m *compile.Model, opt PathOptions) (*Path, error) {
	w, err := newWalker(ctx, m, opt)
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		p, err := w.path(opt.Index + uint64(i))
		if p != nil {
			p.Tries = i + 1
		}
		if err != nil {
			return p, Failure(err, m.Program().File, syntax.Pos{})
		}
		if !opt.Deadlock || p.End == AtDeadlock || i+1 >= opt.Tries {
			return p, nil
		}
	}
}

// walker draws paths of one model.
type walker struct {
	ctx     context.Context
	m       *compile.Model
	opt     PathOptions
	start   []int32
	x       compile.Expander
	rewards []*compile.Rewards
}

func newWalker(ctx context.Context, m *compile.Model, opt PathOptions) (*walker, error) {
	if opt.MaxSteps == 0 {
		opt.MaxSteps = DefaultMaxPath
	}
	w := &walker{ctx: ctx, m: m, opt: opt, x: m.NewExpanderUntil(ctx)}
	prog := m.Program()
	initial, err := m.InitialStates(ctx)
	if err != nil {
		return nil, Failure(err, prog.File, syntax.Pos{})
	}
	if w.start = initial[0]; len(initial) > 1 {
		return nil, &result.Failure{
			Class: result.Unsupported, File: prog.File, Pos: prog.Init.Pos(),
			Message: fmt.Sprintf("found %d initial states, a random path wants a single one", len(initial)),
		}
	}
	for i := 0; opt.Rewards && i < len(prog.Rewards); i++ {
		r, err := m.Rewards(i)
		if err != nil {
			return nil, Failure(err, prog.File, syntax.Pos{})
		}
		w.rewards = append(w.rewards, r)
	}
	return w, nil
}

func (w *walker) continuous() bool { return w.m.Program().Type == syntax.CTMC }

// path draws the path of one index.
func (w *walker) path(index uint64) (*Path, error) {
	var key [32]byte
	for i, word := range compile.NewStream(w.opt.Seed, index) {
		binary.LittleEndian.PutUint64(key[8*i:], word)
	}
	rng := rand.New(rand.NewChaCha8(key))
	rewards, err := w.stateRewards(w.start)
	if err != nil {
		return nil, err
	}
	p := &Path{States: [][]int32{w.start}, StateRewards: rewards, End: AtError}
	for now := 0.0; ; {
		if len(p.Steps)&0xff == 0 && w.ctx.Err() != nil {
			return p, w.ctx.Err()
		}
		choices, err := w.x.Expand(p.States[len(p.Steps)])
		if err != nil {
			return p, err
		}
		if end, ok := w.ended(int64(len(p.Steps)), now, choices); ok {
			p.End = end
			return p, nil
		}
		looping := w.loops(p.States[len(p.Steps)], choices)
		if err := w.step(p, choices, rng); err != nil {
			return p, err
		}
		now += w.duration(p.Steps[len(p.Steps)-1])
		if looping && !w.opt.NoLoopCheck {
			p.End = AtLoop
			return p, nil
		}
	}
}

// duration is what a step counts for PathOptions.Time.
func (w *walker) duration(s Step) float64 {
	if w.continuous() {
		return s.Time
	}
	return 1
}

// ended decides whether the path is complete, and why.
func (w *walker) ended(n int64, now float64, choices *compile.Choices) (PathEnd, bool) {
	switch {
	case choices.Deadlock():
		return AtDeadlock, true
	case w.opt.Deadlock:
		return AtLimit, n >= w.opt.MaxSteps
	case w.opt.Time > 0 && now >= w.opt.Time:
		return AtTime, true
	case w.opt.Time > 0:
		return AtLimit, n >= w.opt.MaxSteps
	}
	return AtLength, n >= w.opt.Steps
}

// loops reports whether the only thing the state can do is to stay as it is,
// for ever and, outside a CTMC, without anybody noticing.
func (w *walker) loops(state []int32, choices *compile.Choices) bool {
	return !w.continuous() && len(choices.List) == 1 && len(choices.List[0].Transitions) == 1 &&
		slices.Equal(choices.List[0].Transitions[0].Target, state)
}

// step appends one step and the state it leads to.
func (w *walker) step(p *Path, choices *compile.Choices, rng *rand.Rand) error {
	s := Step{Choices: len(choices.List)}
	var t *compile.Transition
	if w.continuous() {
		s.Choice, t, s.Time = race(choices, rng)
	} else {
		s.Choice = rng.IntN(s.Choices)
		t = pick(choices.List[s.Choice].Transitions, rng.Float64())
	}
	c := &choices.List[s.Choice]
	s.Action, s.Module, s.Probability = c.Action, c.Module, t.Weight
	if w.m.Program().Type == syntax.DTMC {
		s.Probability /= float64(s.Choices)
	}
	for _, r := range w.rewards {
		x, err := r.Choice(p.States[len(p.Steps)], s.Action)
		if err != nil {
			return err
		}
		s.Rewards = append(s.Rewards, x)
	}
	rewards, err := w.stateRewards(t.Target)
	if err != nil {
		return err
	}
	p.Steps = append(p.Steps, s)
	p.States = append(p.States, slices.Clone(t.Target))
	p.StateRewards = append(p.StateRewards, rewards...)
	return nil
}

// stateRewards returns the row of Path.StateRewards of a state, if there are such.
func (w *walker) stateRewards(state []int32) ([][]float64, error) {
	if !w.opt.Rewards {
		return nil, nil
	}
	row := make([]float64, len(w.rewards))
	for i, r := range w.rewards {
		var err error
		if row[i], err = r.State(state); err != nil {
			return nil, err
		}
	}
	return [][]float64{row}, nil
}

// pick returns the first transition whose cumulative weight exceeds u, and the
// last where the sum falls short of it by rounding.
func pick(ts []compile.Transition, u float64) *compile.Transition {
	for i := range ts {
		if u -= ts[i].Weight; u < 0 {
			return &ts[i]
		}
	}
	return &ts[len(ts)-1]
}

// race picks a transition of any choice by rate, and draws the time until it fires.
func race(choices *compile.Choices, rng *rand.Rand) (choice int, t *compile.Transition, sojourn float64) {
	total := 0.0
	for _, c := range choices.List {
		for _, t := range c.Transitions {
			total += t.Weight
		}
	}
	u := rng.Float64() * total
	sojourn = rng.ExpFloat64() / total
	for i, c := range choices.List {
		rate := 0.0
		for _, t := range c.Transitions {
			rate += t.Weight
		}
		if u < rate || i == len(choices.List)-1 {
			return i, pick(c.Transitions, u), sojourn
		}
		u -= rate
	}
	return 0, nil, sojourn // not reached: there is a choice
}

// ActionText returns how PRISM writes the action of a step: "[a]", or the name
// of the module for one that is unlabelled.
func ActionText(prog *sema.Program, s *Step) string {
	switch {
	case s.Action >= 0:
		return "[" + prog.Actions[s.Action] + "]"
	case s.Module >= 0:
		return prog.Modules[s.Module].Name
	}
	return "[]"
}
