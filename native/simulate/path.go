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

// Path is a path that is drawn while its states are visited, at random or from a record; see Walk.
type Path struct {
	// End says why the path ends, and Err has the error if it could not go on. Both are
	// set after the last visit. The error is a *result.Failure; the path before it has
	// been visited.
	End PathEnd
	Err error
	// Probability is the probability of all steps of a path with a record, given its
	// choices. MeanTimes says that a record of a CTMC lacks some times, which are replaced
	// by mean sojourn times.
	Probability big.Float
	MeanTimes   bool

	ctx    context.Context
	source Source
	opts   PathOptions
}

// Visit is a state of a path and the steps around it, valid until the next visit.
type Visit struct {
	Number int64   // the number of steps before the state
	Time   float64 // when the state is entered, if Program.Timed; 0 in other models
	State  []int32 // the value of each variable in Program.Vars
	// Rewards has one number per Program.Rewards: per step, or per unit of time in
	// a CTMC. Nil unless PathOptions.Rewards is set.
	Rewards  []float64
	Incoming *Step // the step that leads to the state; nil in the first state
	Outgoing *Step // the step that leaves the state; nil in the last state
}

// Step is one step of a path.
type Step struct {
	// Action is an index into Program.Actions or sema.Unlabelled. Module is the
	// module that makes an unlabelled step by itself, otherwise -1.
	Action, Module int
	// Choice is the index of the selected choice, and Choices the number of choices
	// of the state, in the order of the Source.
	Choice, Choices int
	// Probability is the probability of the target within the choice. In a DTMC it
	// is divided by the number of choices; in a CTMC it is a rate.
	Probability float64
	// Time is the time spent in the state before the step, if Program.Timed.
	Time float64
	// Rewards has one number per Program.Rewards; nil unless PathOptions.Rewards is set.
	Rewards []float64
}

// PathEnd is the reason why a path ends.
type PathEnd uint8

// The ends of a path.
const (
	AtLength   PathEnd = iota // the path has PathOptions.Steps steps
	AtTime                    // the time asked for has passed
	AtDeadlock                // the last state has no choice
	AtLoop                    // the last step was a deterministic self-loop, which would repeat for ever
	AtLimit                   // PathOptions.MaxSteps before what was asked for
	AtError                   // Path.Err
	AtRequest                 // the context ended, or the caller stopped the iteration
	AtRecord                  // the steps of PathOptions.Record have ended
)

// String returns a short description.
func (e PathEnd) String() string {
	return [...]string{"length reached", "time reached", "deadlock", "deterministic loop", "maximum path length", "error", "interrupted", "end of the recorded path"}[e]
}

// PathOptions says which path to draw. Steps, Time or Deadlock says when the path is complete; without them it has no steps.
type PathOptions struct {
	Steps int64
	// Time is a duration if Program.Timed, and a number of steps in other models.
	Time     float64
	Deadlock bool // until a deadlock
	// MaxSteps is the limit with Time and Deadlock; 0 means DefaultMaxPath.
	MaxSteps int64
	// NoLoopCheck continues the path at a deterministic self-loop. A self-loop in which time passes does not end a path.
	NoLoopCheck bool
	Rewards     bool // evaluate every reward structure
	// Seed and Index determine the path. It differs from sample Index of Check, which
	// is drawn from the same seed in another way.
	Seed, Index uint64
	// Record has the first steps of the path; later steps are drawn. With a record the
	// path may begin in any initial state.
	Record *Record
	// Chooser resolves the choices of an MDP; nil resolves them uniformly. It cannot be
	// combined with a record.
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

// Walk returns a random path from the initial state. The path is drawn when its Visits are read.
// Choices are resolved uniformly or by a Chooser, updates by their probabilities, races in a CTMC by rates.
//
// Source: PRISM's -simpath. Unlike PRISM, a path of 0 steps has no step, and equal targets of one choice are one transition.
func Walk(ctx context.Context, source Source, opts PathOptions) *Path {
	if opts.MaxSteps == 0 {
		opts.MaxSteps = DefaultMaxPath
	}
	return &Path{ctx: ctx, source: source, opts: opts}
}

// Visits draws the path and yields its states in order. It stores no states, because a path may have billions
// of steps.
func (path *Path) Visits() iter.Seq[*Visit] {
	return func(yield func(*Visit) bool) {
		if err := path.drawVisits(yield); err != nil {
			path.setError(err)
		}
	}
}

// drawVisits draws the path and yields a visit for each of its states. It then sets the fields End, Probability and MeanTimes of the path.
func (path *Path) drawVisits(yield func(*Visit) bool) error {
	drawer, err := newPathDrawer(path.ctx, path.source, path.opts)
	if err != nil {
		return err
	}
	path.End, err = drawer.drawPath(yield)
	path.Probability.Copy(&drawer.recordProbability)
	path.MeanTimes = drawer.usesMeanTimes
	return err
}

// setError sets the end of a path that could not go on. An error of the context means that the caller ended it.
func (path *Path) setError(err error) {
	path.End = AtError
	if path.ctx.Err() != nil && errors.Is(err, path.ctx.Err()) {
		path.End = AtRequest
	}
	path.Err = Failure(err, path.source.Program().File, syntax.Pos{})
}

// pathDrawer draws a path, or replays the steps of a record.
type pathDrawer struct {
	ctx               context.Context
	source            Source
	opts              PathOptions
	isContinuous      bool // the model is a CTMC
	initialState      []int32
	recordProbability big.Float // Path.Probability
	usesMeanTimes     bool      // Path.MeanTimes
}

// newPathDrawer returns a drawer for one path. The path begins in the first state of opts.Record if it is set, else in the initial state of the
// model, which must be the only one.
func newPathDrawer(ctx context.Context, source Source, opts PathOptions) (*pathDrawer, error) {
	initial, err := source.Start(ctx, opts.Rewards)
	if err != nil {
		return nil, err
	}
	drawer := &pathDrawer{ctx: ctx, source: source, opts: opts, isContinuous: source.Program().Type == syntax.CTMC}
	drawer.recordProbability.SetInt64(1)
	if opts.Record != nil {
		drawer.initialState, err = opts.Record.initialState(source.Program(), initial)
		return drawer, err
	}
	if program := source.Program(); len(initial) > 1 {
		return nil, &result.Failure{
			Class: result.Unsupported, File: program.File, Pos: program.Init.Pos(),
			Message: fmt.Sprintf("found %d initial states, a random path wants a single one", len(initial)),
		}
	}
	drawer.initialState = initial[0]
	if opts.Chooser != nil {
		return drawer, opts.Chooser.Start(drawer.initialState)
	}
	return drawer, nil
}

// drawPath draws a path and returns why it ends. It yields a state only after the step that leaves the state is drawn, because the visit of a state contains
// this step.
func (drawer *pathDrawer) drawPath(yield func(*Visit) bool) (PathEnd, error) {
	random := drawer.newRandom()
	rewards, err := drawer.stateRewards(drawer.initialState)
	if err != nil {
		return AtError, err
	}
	current, next := &Visit{State: slices.Clone(drawer.initialState), Rewards: rewards}, &Visit{}
	elapsed := 0.0 // the time since the start of the path
	for {
		choices, end, err := drawer.nextChoices(current, elapsed)
		if choices == nil {
			yield(current)
			return end, err
		}
		isSelfLoop := drawer.hasOnlySelfLoop(current, choices)
		if err := drawer.takeStep(current, next, choices, random); err != nil {
			yield(current)
			return AtError, err
		}
		endsInLoop := isSelfLoop && current.Outgoing.Time == 0
		if !yield(current) {
			return AtRequest, nil
		}
		if endsInLoop {
			yield(next)
			return AtLoop, nil
		}
		elapsed += drawer.stepDuration(current.Outgoing)
		current, next = next, current // takeStep overwrites the last visit
	}
}

// nextChoices returns the choices in the current state, or nil and the reason if the path ends there. elapsed is the time since the start of the path. A
// path that repeats a record does not end before the last recorded step.
func (drawer *pathDrawer) nextChoices(current *Visit, elapsed float64) (*compile.Choices, PathEnd, error) {
	if current.Number&0xff == 0 && drawer.ctx.Err() != nil {
		return nil, AtRequest, drawer.ctx.Err()
	}
	choices, err := drawer.source.Expand(current.State)
	if err != nil {
		return nil, AtError, err
	}
	end, isComplete := drawer.isComplete(current.Number, elapsed, choices)
	if isComplete && !drawer.hasRecordedStep(current) {
		return nil, end, nil
	}
	return choices, end, nil
}

// hasRecordedStep reports whether the record has the step that leaves the current state.
func (drawer *pathDrawer) hasRecordedStep(current *Visit) bool {
	return drawer.opts.Record != nil && current.Number < drawer.opts.Record.Steps()
}

// newRandom returns the random numbers of the path.
func (drawer *pathDrawer) newRandom() *rand.Rand {
	return randomFrom(compile.NewStream(drawer.opts.Seed, drawer.opts.Index))
}

// randomFrom returns random numbers that a stream determines.
func randomFrom(stream compile.Stream) *rand.Rand {
	var key [32]byte
	for i, word := range stream {
		binary.LittleEndian.PutUint64(key[8*i:], word)
	}
	return rand.New(rand.NewChaCha8(key))
}

// stepDuration returns the time of a step that counts towards PathOptions.Time.
func (drawer *pathDrawer) stepDuration(step *Step) float64 {
	if drawer.source.Program().Timed() {
		return step.Time
	}
	return 1
}

// isComplete reports whether the path ends in its current state, and why. The path has made the given number of steps in the time elapsed, and choices are
// the choices in the current state. The end is a deadlock, a limit of the options, or the last state of the record.
func (drawer *pathDrawer) isComplete(steps int64, elapsed float64, choices *compile.Choices) (end PathEnd, isComplete bool) {
	opts := &drawer.opts
	switch {
	case choices.Deadlock():
		return AtDeadlock, true
	case !opts.Deadlock && opts.Time > 0 && elapsed >= opts.Time:
		return AtTime, true
	case opts.Deadlock || opts.Time > 0:
		return AtLimit, steps >= opts.MaxSteps
	case opts.Record != nil && steps == opts.Record.Steps() && steps >= opts.Steps:
		return AtRecord, true
	}
	return AtLength, steps >= opts.Steps
}

// hasOnlySelfLoop reports whether the only transition of the current state is a self-loop that ends the path.
func (drawer *pathDrawer) hasOnlySelfLoop(current *Visit, choices *compile.Choices) bool {
	if drawer.opts.NoLoopCheck || drawer.isContinuous || drawer.hasRecordedStep(current) {
		return false
	}
	hasOneTransition := len(choices.List) == 1 && len(choices.List[0].Transitions) == 1
	return hasOneTransition && slices.Equal(choices.List[0].Transitions[0].Target, current.State)
}

// takeStep selects the next step of the path, from the record or at random. It stores the step in current.Outgoing, and the state after the step
// in next.
func (drawer *pathDrawer) takeStep(current, next *Visit, choices *compile.Choices, rng *rand.Rand) error {
	step, transition, err := drawer.selectStep(current, choices, rng)
	if err != nil {
		return err
	}
	if drawer.opts.Record != nil {
		drawer.multiplyProbability(step, choices)
	}
	if drawer.opts.Rewards {
		if step.Rewards, err = drawer.source.StepRewards(step.Choice, transition); err != nil {
			return err
		}
	}
	target := choices.List[step.Choice].Transitions[transition].Target
	rewards, err := drawer.stateRewards(target)
	if err != nil {
		return err
	}
	current.Outgoing = step
	state := append(next.State[:0], target...)
	*next = Visit{Number: current.Number + 1, Time: current.Time + step.Time, State: state, Rewards: rewards, Incoming: step}
	return nil
}

// selectStep returns the next step of the path and the index of its transition.
func (drawer *pathDrawer) selectStep(current *Visit, choices *compile.Choices, rng *rand.Rand) (*Step, int, error) {
	if drawer.hasRecordedStep(current) {
		return drawer.recordedStep(current, choices)
	}
	return drawer.randomStep(current.State, choices, rng)
}

// multiplyProbability multiplies the probability of the path by the probability of a step.
func (drawer *pathDrawer) multiplyProbability(step *Step, choices *compile.Choices) {
	probability := step.Probability
	if drawer.isContinuous {
		probability /= exitRate(choices)
	}
	drawer.recordProbability.Mul(&drawer.recordProbability, new(big.Float).SetFloat64(probability))
}

// randomStep draws the next step of the path. It returns the step and the index of its transition within the choice. In a model with continuous time it also
// draws the sojourn time in the current state.
func (drawer *pathDrawer) randomStep(state []int32, choices *compile.Choices, rng *rand.Rand) (*Step, int, error) {
	step := &Step{Choices: len(choices.List)}
	var transition int
	var err error
	switch {
	case drawer.isContinuous: // in a CTMC the transition that happens first is taken
		step.Choice, transition, step.Time, err = sampleRace(choices, rng)
	case drawer.opts.Chooser != nil:
		step.Choice = drawer.opts.Chooser.Choose(rng.Float64())
		transition, err = choices.List[step.Choice].Draw(rng.Float64(), rng.Float64)
		drawer.opts.Chooser.Take(step.Choice, transition)
	default: // each choice is equally likely
		step.Choice = rng.IntN(step.Choices)
		transition, err = choices.List[step.Choice].Draw(rng.Float64(), rng.Float64)
	}
	if err != nil {
		return nil, 0, err
	}
	step.Action, step.Module = drawer.source.Action(step.Choice, transition)
	step.Probability = drawer.normalisedWeight(choices, choices.List[step.Choice].Transitions[transition].Weight)
	if drawer.isContinuous || !drawer.source.Program().Timed() {
		return step, transition, nil
	}
	mean, err := drawer.meanSojourn(state, choices)
	if mean > 0 {
		step.Time = rng.ExpFloat64() * mean
	}
	return step, transition, err
}

// meanSojourn returns the mean sojourn time in a state: 1 / exit rate. It returns 0 for a state of a Markov automaton that is left immediately.
func (drawer *pathDrawer) meanSojourn(state []int32, choices *compile.Choices) (float64, error) {
	if drawer.isContinuous {
		return 1 / exitRate(choices), nil
	}
	rate, err := drawer.source.ExitRate(state)
	if err != nil || rate == 0 {
		return 0, err
	}
	return 1 / rate, nil
}

// normalisedWeight returns the probability of a transition with the given weight. In an MDP it is relative to the choice; in a CTMC it is the rate.
func (drawer *pathDrawer) normalisedWeight(choices *compile.Choices, weight float64) float64 {
	if drawer.source.Program().Type == syntax.DTMC {
		weight /= float64(len(choices.List))
	}
	return weight
}

// stateRewards returns the rewards of a state, or nil if the options do not request rewards.
func (drawer *pathDrawer) stateRewards(state []int32) ([]float64, error) {
	if !drawer.opts.Rewards {
		return nil, nil
	}
	return drawer.source.StateRewards(state)
}

// exitRate returns the exit rate of a state of a CTMC: the sum of the rates of all its transitions.
func exitRate(choices *compile.Choices) float64 {
	sum := 0.0
	for i := range choices.List {
		sum += choices.List[i].TotalWeight()
	}
	return sum
}

// sampleRace draws a transition of a CTMC with a probability proportional to its rate. It returns the indexes of the choice and of the transition, and the
// sojourn time: the exponentially distributed time until the state is left.
func sampleRace(choices *compile.Choices, rng *rand.Rand) (choice, transition int, sojourn float64, err error) {
	totalRate := exitRate(choices)
	remainingRate := rng.Float64() * totalRate // the first choice for which the cumulative rate exceeds this number is selected
	sojourn = rng.ExpFloat64() / totalRate
	for last := len(choices.List) - 1; choice < last; choice++ {
		choiceRate := choices.List[choice].TotalWeight()
		if remainingRate < choiceRate {
			break
		}
		remainingRate -= choiceRate
	}
	transition, err = choices.List[choice].Draw(remainingRate, rng.Float64)
	return choice, transition, sojourn, err
}

// ActionText returns the action of a step as PRISM writes it: "[a]" for action a, or the name of the module if the step has no action.
func ActionText(program *sema.Program, step *Step) string {
	switch {
	case step.Action >= 0:
		return "[" + program.Actions[step.Action] + "]"
	case step.Module >= 0:
		return program.Modules[step.Module].Name
	}
	return "[]"
}
