package validity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tilecheck/native/check"
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Validity is what is known of a model before any engine is believed.
type Validity string

// The validities.
const (
	Valid      Validity = "valid"       // in every reachable state
	Sampled    Validity = "sampled"     // along random paths; there are too many states
	Broken     Validity = "invalid"     // Check.Failure says where
	NotChecked Validity = "not checked" // Check.Failure says why
)

// Check is what the strict check of a model under one valuation of its
// constants found.
type Check struct {
	Model     string // the file
	Constants []result.Constant
	Validity  Validity
	// States, Choices and Transitions are those of the state space, when there is one.
	States, Choices, Transitions int
	// Deterministic says that no reachable state has several choices.
	Deterministic bool
	Failure       *result.Failure
	Note          string // what Sampled looked at
}

// String says what was found.
func (c *Check) String() string {
	who := strings.TrimSpace(c.Model + " " + result.Valuation(c.Constants).String())
	switch c.Validity {
	case Valid:
		return fmt.Sprintf("%s: valid in all of its %d states, %d choices, %d transitions", who, c.States, c.Choices, c.Transitions)
	case Sampled:
		return who + ": " + c.Note
	case Broken:
		return who + ": invalid: " + c.Failure.Error()
	}
	return who + ": not checked: " + c.Failure.Error()
}

// Limits are how much is looked at, and what counts as wrong.
type Limits struct {
	MaxStates int // larger models are followed along random paths
	// NoDeadlocks makes a model with a deadlock invalid.
	NoDeadlocks bool
}

// The random paths that stand in for the states of a large model.
const (
	randomPaths = 200
	randomSteps = 2000
)

// kept is how many models a Checker remembers.
const kept = 64

// Checker checks models, each once. It is safe for concurrent use.
type Checker struct {
	// Patience is how long a tool may go on with properties that are known to be invalid, to say
	// something of them. New makes it two seconds.
	Patience time.Duration

	mu    sync.Mutex
	known map[string]*Instance
	order []string
}

// New returns a checker that knows of no model.
func New() *Checker {
	return &Checker{Patience: 2 * time.Second, known: make(map[string]*Instance)}
}

// Instance is a model under one valuation of its constants.
type Instance struct {
	Valuation sema.Valuation
	Program   *sema.Program // nil if the model is wrong before its first state
	Check     Check

	mu      sync.Mutex
	done    bool
	model   *compile.Model // nil unless it can be explored
	options explicit.Options
	space   *explicit.Space // nil unless all states are known, and kept
	given   *explicit.Space // nil unless the job has the states
	states  runner.StateSpace
}

// Instance returns what is known of a model under a valuation; what is not known
// yet is found out.
func (c *Checker) Instance(ctx context.Context, p *runner.Plan, v sema.Valuation, limits Limits) *Instance {
	in := c.instance(&p.Job, v, limits)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.done && (in.Check.Validity != Sampled || limits.MaxStates <= in.options.MaxStates) {
		return in // all its states are known, or as many as are asked for
	}
	if err := in.build(ctx, p, limits); err != nil {
		in.reject(err, p.Job.File)
	}
	in.done = ctx.Err() == nil
	return in
}

func (c *Checker) instance(job *runner.Job, v sema.Valuation, limits Limits) *Instance {
	key := fmt.Sprintf("%s\x00%s\x00%p", job.File, job.Model, job.States) + fmt.Sprint(runner.Constants(v), job.NoFixDeadlocks, limits.NoDeadlocks, job.Numeric.MaxMemory)
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.known[key]
	if in == nil {
		in = &Instance{Valuation: v, Check: Check{Model: job.File, Constants: runner.Constants(v)}}
		c.known[key] = in
		if c.order = append(c.order, key); len(c.order) > kept {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
	}
	return in
}

// Forget lets go of the states, which a further Space builds again.
func (in *Instance) Forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.space = nil
}

// Space returns the states of a valid instance.
func (in *Instance) Space(ctx context.Context) (*explicit.Space, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.space != nil:
		return in.space, nil
	case in.given != nil && in.Check.Validity == Valid:
		return in.given, nil
	case in.Check.Validity == Valid:
		return explicit.Build(ctx, in.model, in.options)
	}
	return nil, in.unknown()
}

// unknown says why not all states are known.
func (in *Instance) unknown() error {
	if in.Check.Failure != nil {
		return in.Check.Failure
	}
	return &result.Failure{Class: result.Memory, Message: in.Check.Note}
}

// Exact returns the states of a valid instance with fractions. They are not kept.
func (in *Instance) Exact(ctx context.Context) (*explicit.Space, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.Check.Validity != Valid:
		return nil, in.unknown()
	case in.states != nil:
		return explicit.SpaceOf(ctx, in.states, true)
	}
	options := in.options
	options.Exact = true
	return explicit.Build(ctx, in.model, options)
}

func (in *Instance) build(ctx context.Context, p *runner.Plan, limits Limits) error {
	job := &p.Job
	if job.States != nil {
		return in.give(ctx, job, limits)
	}
	prog, err := p.Model.Instantiate(in.Valuation.Map())
	if err != nil {
		return err
	}
	in.Program = prog
	refuse := job.NoFixDeadlocks || limits.NoDeadlocks
	m, err := compile.Compile(prog, compile.Options{NoFixDeadlocks: refuse})
	if err != nil {
		return err
	}
	in.model, in.options = m, explicit.Options{
		MaxStates: limits.MaxStates, MaxMemory: job.Numeric.MaxMemory, NoFixDeadlocks: refuse, Workers: job.Numeric.Workers,
		Progress: job.Progress,
	}
	in.space, err = explicit.Build(ctx, m, in.options)
	if limit, ok := errors.AsType[*explicit.LimitError](err); ok {
		return in.walk(ctx, job, limit)
	}
	if err != nil {
		return err
	}
	in.accept(in.space)
	return nil
}

// give is build for states that are there, which were checked when they were
// read, except for deadlocks.
func (in *Instance) give(ctx context.Context, job *runner.Job, limits Limits) (err error) {
	if in.given, err = explicit.SpaceOf(ctx, job.States, false); err != nil {
		return err
	}
	in.Program, in.states = in.given.Program(), job.States
	in.options.MaxStates = in.given.Model().NumStates()
	if dead := in.given.Model().Deadlocks; limits.NoDeadlocks && dead != nil && !dead.Empty() {
		return &result.Failure{Class: result.Deadlock, Message: fmt.Sprintf("%d states without transitions", dead.Count()), File: job.File}
	}
	in.accept(in.given)
	return nil
}

// accept notes that all states are known.
func (in *Instance) accept(space *explicit.Space) {
	g := space.Model()
	in.Check.Validity, in.Check.Failure = Valid, nil
	in.Check.States, in.Check.Choices, in.Check.Transitions = g.NumStates(), g.NumChoices(), g.NumTransitions()
	in.Check.Deterministic = g.NumChoices() == g.NumStates()
}

// walk follows random paths through a model with too many states.
func (in *Instance) walk(ctx context.Context, job *runner.Job, limit error) error {
	steps := int64(0)
	for i := range uint64(randomPaths) {
		p := simulate.Walk(ctx, simulate.FromModel(in.model), simulate.PathOptions{Steps: randomSteps, Seed: job.Simulation.Seed, Index: i})
		var last *simulate.Visit
		for last = range p.Visits() {
		}
		if p.Err != nil {
			return p.Err
		}
		steps += last.Number
		if p.End == simulate.AtDeadlock && in.options.NoFixDeadlocks {
			return &result.Failure{Class: result.Deadlock, Message: "deadlock in state " + in.model.StateText(last.State), File: job.File}
		}
	}
	in.Check.Validity, in.Check.Failure = Sampled, nil
	in.Check.Note = fmt.Sprintf("%v; nothing was wrong in %d steps of %d random paths, which says nothing about other states", limit, steps, randomPaths)
	return nil
}

// reject says what came of the check. Errors of the model make it invalid,
// others only unchecked.
func (in *Instance) reject(err error, file string) {
	in.Check.Failure = check.Failure(err, file, syntax.Pos{})
	in.Check.Validity = NotChecked
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		in.Check.Failure = &result.Failure{Class: result.Build, Message: e.Msg, File: e.File, Pos: e.Pos}
		in.Check.Validity = Broken
	}
	switch in.Check.Failure.Class {
	case result.Model, result.Deadlock:
		in.Check.Validity = Broken
	}
}
