package validity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Validity is the result of the check of a model.
type Validity string

// The validities.
const (
	Valid      Validity = "valid"       // every reachable state was checked
	Sampled    Validity = "sampled"     // random paths were checked; there are too many states
	Broken     Validity = "invalid"     // Check.Failure says where
	NotChecked Validity = "not checked" // Check.Failure says why
)

// Check is the result of checking a model under one valuation of its constants.
type Check struct {
	Model     string // the file
	Constants []result.Constant
	Validity  Validity
	// States, Choices and Transitions are the size of the state space; 0 unless the model is Valid.
	States, Choices, Transitions int
	// Deterministic says that no reachable state has several choices.
	Deterministic bool
	Failure       *result.Failure
	Note          string // for Sampled: how much was checked
}

// String returns the result in one line.
func (c *Check) String() string {
	name := strings.TrimSpace(c.Model + " " + result.Valuation(c.Constants).String())
	switch c.Validity {
	case Valid:
		return fmt.Sprintf("%s: no error in its %s, %s, %s", name, noun.Count(c.States, "state"), noun.Count(c.Choices, "choice"), noun.Count(c.Transitions, "transition"))
	case Sampled:
		return name + ": " + c.Note
	case Broken:
		return name + ": invalid: " + c.Failure.Error()
	}
	return name + ": the states were not checked: " + c.Failure.Message
}

// Limits limit the check, and say whether a deadlock is an error.
type Limits struct {
	MaxStates int // larger models are sampled
	// NoDeadlocks makes a model with a deadlock invalid.
	NoDeadlocks bool
}

// The number and length of the random paths of a large model.
const (
	randomPaths = 200
	randomSteps = 2000
)

// maxInstances is the number of models that a Checker remembers.
const maxInstances = 64

// Checker checks models and remembers the results. It is safe for concurrent use.
type Checker struct {
	// Patience is the time that a tool may still run after properties were found to be invalid. New sets two seconds.
	Patience time.Duration

	mu        sync.Mutex
	instances map[string]*Instance
	keys      []string
}

// New returns a checker that has checked no model.
func New() *Checker {
	return &Checker{Patience: 2 * time.Second, instances: make(map[string]*Instance)}
}

// Instance is a model under one valuation of its constants.
type Instance struct {
	Valuation sema.Valuation
	Program   *sema.Program // nil if the model could not be instantiated
	Check     Check

	mu             sync.Mutex
	isChecked      bool
	model          *compile.Model // nil if it could not be compiled
	options        explicit.Options
	builtSpace     *explicit.Space // nil if not all states were explored, or after Forget
	imported       *explicit.Space // the states that the job has, or nil
	importedStates runner.StateSpace
}

// Instance returns the instance of a model for a valuation of its constants, after it has checked the instance. It does not check again if an
// earlier check has explored enough states.
func (c *Checker) Instance(ctx context.Context, plan *runner.Plan, valuation sema.Valuation, limits Limits) *Instance {
	instance := c.lookUp(&plan.Job, valuation, limits)
	instance.mu.Lock()
	defer instance.mu.Unlock()
	exploredEnough := instance.Check.Validity != Sampled || limits.MaxStates <= instance.options.MaxStates
	if instance.isChecked && exploredEnough {
		return instance
	}
	if err := instance.exploreAndCheck(ctx, plan, limits); err != nil {
		instance.setFailure(err, plan.Job.File)
	}
	instance.isChecked = ctx.Err() == nil
	return instance
}

// lookUp returns the instance of a model under a valuation. It adds a missing instance, and removes the oldest instance beyond maxInstances.
func (c *Checker) lookUp(job *runner.Job, valuation sema.Valuation, limits Limits) *Instance {
	source := fmt.Sprintf("%s\x00%s\x00%p", job.File, job.Model, job.States)
	key := source + fmt.Sprint(runner.Constants(valuation), job.NoFixDeadlocks, limits.NoDeadlocks, job.Numeric.MaxMemory)
	c.mu.Lock()
	defer c.mu.Unlock()
	instance := c.instances[key]
	if instance == nil {
		instance = &Instance{Valuation: valuation, Check: Check{Model: job.File, Constants: runner.Constants(valuation)}}
		c.instances[key] = instance
		c.keys = append(c.keys, key)
		if len(c.keys) > maxInstances {
			delete(c.instances, c.keys[0])
			c.keys = c.keys[1:]
		}
	}
	return instance
}

// Forget frees the memory of the state space. When Space is called next, it builds the state space again.
func (in *Instance) Forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.builtSpace = nil
}

// Space returns the state space of a valid instance. It returns an error for an invalid instance. After Forget, it builds the space again.
func (in *Instance) Space(ctx context.Context) (*explicit.Space, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.builtSpace != nil:
		return in.builtSpace, nil
	case in.imported != nil && in.Check.Validity == Valid:
		return in.imported, nil
	case in.Check.Validity == Valid:
		return explicit.Build(ctx, in.model, in.options)
	}
	return nil, in.validityError()
}

// validityError returns the error of an instance that was not found to be valid: its failure or, if the model is too large to check, an error of class
// Memory.
func (in *Instance) validityError() error {
	if in.Check.Failure != nil {
		return in.Check.Failure
	}
	return &result.Failure{Class: result.Memory, Message: in.Check.Note}
}

// Exact returns the state space of a valid instance with fractions as weights. It builds the space on every call.
func (in *Instance) Exact(ctx context.Context) (*explicit.Space, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.Check.Validity != Valid:
		return nil, in.validityError()
	case in.importedStates != nil:
		return explicit.SpaceOf(ctx, in.importedStates, explicit.StrictFractions)
	}
	options := in.options
	options.Exact = true
	return explicit.Build(ctx, in.model, options)
}

// exploreAndCheck explores all states of the model, and returns an error if the model is invalid in a state. If the model has more than
// limits.MaxStates states, it checks the states on random paths instead.
func (in *Instance) exploreAndCheck(ctx context.Context, plan *runner.Plan, limits Limits) error {
	job := &plan.Job
	if job.States != nil {
		return in.readStates(ctx, job, limits)
	}
	program, err := plan.Model.Instantiate(in.Valuation.Map())
	if err != nil {
		return err
	}
	in.Program = program
	limitedPlan := plan.WithSettings(func(settings *runner.Settings) {
		numeric := settings.Numeric
		settings.NoFixDeadlocks = settings.NoFixDeadlocks || limits.NoDeadlocks
		settings.Numeric = runner.Numeric{MaxStates: limits.MaxStates, MaxMemory: numeric.MaxMemory, Workers: numeric.Workers}
	})
	compiled, err := load.Compile(program, &limitedPlan.Job)
	if err != nil {
		return err
	}
	in.model, in.options = compiled, load.Options(&limitedPlan.Job)
	in.builtSpace, err = explicit.Build(ctx, compiled, in.options)
	if limit, ok := errors.AsType[*explicit.LimitError](err); ok {
		return in.sample(ctx, job, limit)
	}
	if err != nil {
		return err
	}
	in.setValid(in.builtSpace)
	return nil
}

// readStates uses the states that the job has already read from files. It only checks for deadlocks, because all other errors are found while the
// files are read.
func (in *Instance) readStates(ctx context.Context, job *runner.Job, limits Limits) (err error) {
	if in.imported, err = explicit.SpaceOf(ctx, job.States, explicit.NoFractions); err != nil {
		return err
	}
	in.Program, in.importedStates = in.imported.Program(), job.States
	in.options.MaxStates = in.imported.Model().NumStates()
	if deadlocks := in.imported.Model().Deadlocks; limits.NoDeadlocks && deadlocks != nil && !deadlocks.Empty() {
		return &result.Failure{Class: result.Deadlock, Message: fmt.Sprintf("%s without transitions", noun.Count(deadlocks.Count(), "state")), File: job.File}
	}
	in.setValid(in.imported)
	return nil
}

// setValid records that all states of the space are valid, and its size.
func (in *Instance) setValid(space *explicit.Space) {
	model := space.Model()
	in.Check.Validity, in.Check.Failure = Valid, nil
	in.Check.States, in.Check.Choices, in.Check.Transitions = model.NumStates(), model.NumChoices(), model.NumTransitions()
	in.Check.Deterministic = model.NumChoices() == model.NumStates()
}

// sample checks the states on random paths, for a model that has too many states to explore. limit is the error of the exploration.
func (in *Instance) sample(ctx context.Context, job *runner.Job, limit error) error {
	steps := int64(0)
	for i := range uint64(randomPaths) {
		path := simulate.Walk(ctx, simulate.FromModel(in.model), simulate.PathOptions{Steps: randomSteps, Seed: job.Simulation.Seed, Index: i})
		var lastVisit *simulate.Visit
		for visit := range path.Visits() {
			lastVisit = visit
		}
		if path.Err != nil {
			return path.Err
		}
		steps += lastVisit.Number
		if path.End == simulate.AtDeadlock && in.options.NoFixDeadlocks {
			return &result.Failure{Class: result.Deadlock, Message: "deadlock in state " + in.model.StateText(lastVisit.State), File: job.File}
		}
	}
	in.Check.Validity, in.Check.Failure = Sampled, nil
	checked := fmt.Sprintf("%s of %s", noun.Count(steps, "step"), noun.Count(randomPaths, "random path"))
	in.Check.Note = fmt.Sprintf("%v; nothing was wrong in %s, which says nothing about other states", limit, checked)
	return nil
}

// setFailure records an error of the check. The validity becomes Broken if the error is in the model, and NotChecked after other errors.
func (in *Instance) setFailure(err error, file string) {
	in.Check.Failure = check.Failure(err, file, syntax.Pos{})
	in.Check.Validity = NotChecked
	if syntaxErr, ok := errors.AsType[*syntax.Error](err); ok {
		in.Check.Failure = &result.Failure{Class: result.Build, Message: syntaxErr.Msg, File: syntaxErr.File, Pos: syntaxErr.Pos}
		in.Check.Validity = Broken
	}
	switch in.Check.Failure.Class {
	case result.Model, result.Deadlock:
		in.Check.Validity = Broken
	}
}
