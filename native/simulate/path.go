package simulate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Path is a path that is drawn while it is visited, at random or from a record; see Walk.
type Path struct {
	// End and Err say, once all was visited, where the path ends and why. The
	// error is a *result.Failure, and the path up to it has been visited. Reaching
	// no deadlock is none.
	End PathEnd
	Err error
	// Probability is that of all the steps of a path with a record, under the choices that
	// were made; MeanTimes says that in a CTMC the record did not have all times, and means
	// stand for them.
	Probability big.Float
	MeanTimes   bool

	ctx context.Context
	src Source
	opt PathOptions
}

// Visit is a state of a path and the steps around it, valid until the next visit.
type Visit struct {
	Number int64   // of the steps before it
	Time   float64 // at which the state is entered in a CTMC, 0 in other models
	State  []int32 // a value per Program.Vars
	// Rewards has one number per Program.Rewards: per step, or per unit of time in
	// a CTMC. Nil unless PathOptions.Rewards is set.
	Rewards []float64
	In      *Step // nil in the first state
	Out     *Step // nil in the last state
}

// Step is one step of a path.
type Step struct {
	// Action is an index into Program.Actions or sema.Unlabelled. Module is the
	// module of an unlabelled step that one module makes by itself, else -1.
	Action, Module int
	// Choice is which of the Choices choices of the state was taken, from 0, in
	// the order of the Source.
	Choice, Choices int
	// Probability is that of the target within the choice; in a DTMC it is
	// divided by the number of choices; in a CTMC it is a rate.
	Probability float64
	// Time is the time spent in the state before the step; CTMC only.
	Time float64
	// Rewards has one number per Program.Rewards; nil unless PathOptions.Rewards is set.
	Rewards []float64
}

// PathEnd is the reason why a path ends.
type PathEnd uint8

// The ends of a path.
const (
	AtLength   PathEnd = iota // as long as was asked for
	AtTime                    // the time asked for has passed
	AtDeadlock                // the last state has no choice
	AtLoop                    // the last step was a deterministic self-loop, which would repeat for ever
	AtLimit                   // PathOptions.MaxSteps before what was asked for
	AtError                   // Path.Err
	AtRequest                 // the same, because the context ended
	AtRecord                  // of PathOptions.Record
)

// String returns a short description.
func (e PathEnd) String() string {
	return [...]string{"length reached", "time reached", "deadlock", "deterministic loop", "maximum path length", "error", "interrupted", "end of the recorded path"}[e]
}

// PathOptions says which path to draw. Steps, Time or Deadlock says when the path is complete; without them it has no steps.
type PathOptions struct {
	Steps int64
	// Time is a duration in a CTMC and a number of steps in other models.
	Time     float64
	Deadlock bool // until a deadlock
	// MaxSteps is the limit with Time and Deadlock; 0 means DefaultMaxPath.
	MaxSteps int64
	// NoLoopCheck goes on at a deterministic self-loop. In a CTMC time passes in
	// a loop, so that it is none.
	NoLoopCheck bool
	Rewards     bool // evaluate every reward structure
	// Seed and Index determine the path, which is not sample Index of Check: it is
	// drawn from the same seed in another way.
	Seed, Index uint64
	// Record has the first steps of the path, of which the rest, if any is asked for, is
	// drawn. With a record the path may begin in any initial state.
	Record *Record
	// Chooser resolves the choices of an MDP; nil for uniformly. It takes no record.
	Chooser Chooser
}

// Chooser resolves the choices of one path of an MDP, as a scheduler does.
type Chooser interface {
	// Start begins a path in a state.
	Start(state []int32) error
	// Choose draws a choice of the current state with a number in [0,1), and returns its index.
	Choose(x float64) int
	// Take follows a transition of the choice that was drawn last.
	Take(choice, transition int)
}

// Walk returns a random path from the initial state. Choices are resolved
// uniformly or by a Chooser, updates by their probabilities, and races in a CTMC by rate. The
// source is used when the path is drawn.
//
// Source: PRISM's -simpath; reference, section 5.7. Unlike PRISM's, a path of 0
// steps has none, and equal targets of one choice are one transition.
func Walk(ctx context.Context, src Source, opt PathOptions) *Path {
	if opt.MaxSteps == 0 {
		opt.MaxSteps = DefaultMaxPath
	}
	return &Path{ctx: ctx, src: src, opt: opt}
}

// Visits draws the path and yields its states in order. It keeps none of them, because a path may have billions of steps.
func (p *Path) Visits() iter.Seq[*Visit] {
	return func(yield func(*Visit) bool) {
		w, err := newWalker(p.ctx, p.src, p.opt)
		if err == nil {
			p.End, err = w.path(yield)
			p.Probability.Copy(&w.product)
			p.MeanTimes = w.mean
		}
		if err == nil {
			return
		}
		p.End, p.Err = AtError, Failure(err, p.src.Program().File, syntax.Pos{})
		if p.ctx.Err() != nil && errors.Is(err, p.ctx.Err()) {
			p.End = AtRequest
		}
	}
}

// pathDrawer draws a path.
type pathDrawer struct {
	ctx   context.Context
	src   Source
	opt   PathOptions
	start []int32
	// product is the probability of the steps, and mean Path.MeanTimes.
	product big.Float
	mean    bool
}

func newWalker(ctx context.Context, src Source, opt PathOptions) (*pathDrawer, error) {
	initial, err := src.Start(ctx, opt.Rewards)
	if err != nil {
		return nil, err
	}
	w := &pathDrawer{ctx: ctx, src: src, opt: opt}
	w.product.SetInt64(1)
	if opt.Record != nil {
		w.start, err = opt.Record.start(src.Program(), initial)
		return w, err
	}
	if prog := src.Program(); len(initial) > 1 {
		return nil, &result.Failure{
			Class: result.Unsupported, File: prog.File, Pos: prog.Init.Pos(),
			Message: fmt.Sprintf("found %d initial states, a random path wants a single one", len(initial)),
		}
	}
	w.start = initial[0]
	if opt.Chooser != nil {
		return w, opt.Chooser.Start(w.start)
	}
	return w, nil
}

func (w *pathDrawer) continuous() bool { return w.src.Program().Type == syntax.CTMC }

// path draws the path. A state is yielded when the step that leaves it is known.
func (w *pathDrawer) path(yield func(*Visit) bool) (PathEnd, error) {
	var key [32]byte
	for i, word := range compile.NewStream(w.opt.Seed, w.opt.Index) {
		binary.LittleEndian.PutUint64(key[8*i:], word)
	}
	rng := rand.New(rand.NewChaCha8(key))
	rewards, err := w.stateRewards(w.start)
	if err != nil {
		return AtError, err
	}
	at, next := &Visit{State: slices.Clone(w.start), Rewards: rewards}, &Visit{}
	for elapsed := 0.0; ; at, next = next, at {
		if at.Number&0xff == 0 && w.ctx.Err() != nil {
			yield(at)
			return AtRequest, w.ctx.Err()
		}
		choices, err := w.src.Expand(at.State)
		if err != nil {
			yield(at)
			return AtError, err
		}
		recorded := w.opt.Record != nil && at.Number < w.opt.Record.Steps()
		if end, ok := w.ended(at.Number, elapsed, choices); ok && !recorded {
			yield(at)
			return end, nil
		}
		looping := w.loops(at.State, choices)
		if err := w.step(at, next, choices, rng); err != nil {
			at.Out = nil
			yield(at)
			return AtError, err
		}
		if !yield(at) {
			return AtRequest, nil
		}
		elapsed += w.duration(at.Out)
		if looping && !recorded && !w.opt.NoLoopCheck {
			yield(next)
			return AtLoop, nil
		}
	}
}

// duration is what a step counts for PathOptions.Time.
func (w *pathDrawer) duration(s *Step) float64 {
	if w.continuous() {
		return s.Time
	}
	return 1
}

// ended decides whether the path is complete, and why.
func (w *pathDrawer) ended(n int64, now float64, choices *compile.Choices) (PathEnd, bool) {
	switch {
	case choices.Deadlock():
		return AtDeadlock, true
	case w.opt.Deadlock:
		return AtLimit, n >= w.opt.MaxSteps
	case w.opt.Time > 0 && now >= w.opt.Time:
		return AtTime, true
	case w.opt.Time > 0:
		return AtLimit, n >= w.opt.MaxSteps
	case w.opt.Record != nil && n == w.opt.Record.Steps() && n >= w.opt.Steps:
		return AtRecord, true
	}
	return AtLength, n >= w.opt.Steps
}

// loops reports whether the only thing the state can do is to stay as it is,
// for ever and, outside a CTMC, without anybody noticing.
func (w *pathDrawer) loops(state []int32, choices *compile.Choices) bool {
	return !w.continuous() && len(choices.List) == 1 && len(choices.List[0].Transitions) == 1 &&
		slices.Equal(choices.List[0].Transitions[0].Target, state)
}

// step draws a step from one state to the next, or takes that of the record.
func (w *pathDrawer) step(at, next *Visit, choices *compile.Choices, rng *rand.Rand) error {
	var s *Step
	var i int
	if w.opt.Record != nil && at.Number < w.opt.Record.Steps() {
		var err error
		if s, i, err = w.follow(at, choices); err != nil {
			return err
		}
	} else {
		s, i = w.draw(choices, rng)
	}
	t := &choices.List[s.Choice].Transitions[i]
	if w.opt.Record != nil {
		p := s.Probability
		if w.continuous() {
			p /= total(choices)
		}
		w.product.Mul(&w.product, new(big.Float).SetFloat64(p))
	}
	if w.opt.Rewards {
		var err error
		if s.Rewards, err = w.src.StepRewards(s.Choice, i); err != nil {
			return err
		}
	}
	rewards, err := w.stateRewards(t.Target)
	if err != nil {
		return err
	}
	at.Out = s
	*next = Visit{Number: at.Number + 1, Time: at.Time + s.Time, State: append(next.State[:0], t.Target...), Rewards: rewards, In: s}
	return nil
}

// draw draws a step.
func (w *pathDrawer) draw(choices *compile.Choices, rng *rand.Rand) (s *Step, transition int) {
	s = &Step{Choices: len(choices.List)}
	switch {
	case w.continuous():
		s.Choice, transition, s.Time = race(choices, rng)
	case w.opt.Chooser != nil:
		s.Choice = w.opt.Chooser.Choose(rng.Float64())
		transition = pick(choices.List[s.Choice].Transitions, rng.Float64())
		w.opt.Chooser.Take(s.Choice, transition)
	default:
		s.Choice = rng.IntN(s.Choices)
		transition = pick(choices.List[s.Choice].Transitions, rng.Float64())
	}
	s.Action, s.Module = w.src.Action(s.Choice, transition)
	s.Probability = w.probability(choices, choices.List[s.Choice].Transitions[transition].Weight)
	return s, transition
}

// probability is that of a transition in a Markov chain, or within its choice; or its rate.
func (w *pathDrawer) probability(choices *compile.Choices, weight float64) float64 {
	if w.src.Program().Type == syntax.DTMC {
		weight /= float64(len(choices.List))
	}
	return weight
}

// stateRewards returns the rewards of a state, if they are asked for.
func (w *pathDrawer) stateRewards(state []int32) ([]float64, error) {
	if !w.opt.Rewards {
		return nil, nil
	}
	return w.src.StateRewards(state)
}

// pick returns the first transition whose cumulative weight exceeds u. If rounding makes the sum too small, it returns the
// last one.
func pick(ts []compile.Transition, u float64) int {
	for i := range ts {
		if u -= ts[i].Weight; u < 0 {
			return i
		}
	}
	return len(ts) - 1
}

// total is the rate at which a state of a CTMC is left.
func total(choices *compile.Choices) float64 {
	sum := 0.0
	for _, c := range choices.List {
		for _, t := range c.Transitions {
			sum += t.Weight
		}
	}
	return sum
}

// race picks a transition of any choice by rate, and draws the time until it fires.
func race(choices *compile.Choices, rng *rand.Rand) (choice, transition int, sojourn float64) {
	total := total(choices)
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
	return 0, 0, sojourn // not reached: there is a choice
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
