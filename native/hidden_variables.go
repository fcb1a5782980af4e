//go:build !js

package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/abstraction"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// Limits of the search for variables that need not be hidden.
const (
	// maxAbstractStates is the largest number of states of the program without the hidden variables, and of the model under one scheduler.
	maxAbstractStates = 500_000
	// maxSchedulers is the number of schedulers that are tried before further variables become visible, and maxSchedulerStates the largest
	// number of states for which more than one is tried.
	maxSchedulers      = 100
	maxSchedulerStates = 50_000
	// maxSolvedStates is the largest sum of the numbers of states of all programs that are solved; a program counts for each scheduler.
	maxSolvedStates = 2_000_000
	// boundSharing divides the relative width of the answer: the lower and the upper bound are computed separately.
	boundSharing = 4
)

// refinement answers Pmax=? of F or U with few states, by hiding variables. The program without the hidden variables has an upper bound. Its optimal
// schedulers have lower bounds in the model itself. Variables become visible until the bounds meet.
type refinement struct {
	*statesMethod
	property *checkedProperty
	hidden   *abstraction.Abstraction

	upper result.Verdict  // of the program without the hidden variables
	lower *result.Verdict // of the best scheduler in the model; nil for none

	numSolved int // the sum of the numbers of states that were solved
}

// newRefinement returns a refinement for a property: it hides variables of the program, and shows more of them until bounds of the value are narrow
// enough. It returns nil if the property or the model is not supported.
func (method *statesMethod) newRefinement(property *checkedProperty) *refinement {
	hidden := abstraction.New(&property.Instance)
	if hidden == nil || hidden.NumHidden() == 0 {
		return nil
	}
	narrower := method.withNarrowerBounds()
	if narrower.opt.Accuracy != result.Exact {
		narrower.opt.ExactStates = -1 // more schedulers narrow the bounds more than fractions do
	}
	return &refinement{statesMethod: narrower, property: property, hidden: hidden}
}

// check implements refiner. Each round computes bounds with the visible variables. If they are too wide, it shows the hidden variables that block the
// optimal scheduler in the model. ok is false if a limit is exceeded, or if no hidden variable can narrow the bounds.
func (refinement *refinement) check(ctx context.Context) (verdict result.Verdict, ok bool) {
	start := time.Now()
	for refinement.hidden.NumHidden() > 0 && ctx.Err() == nil {
		blocking, ok := refinement.tryVisible(ctx)
		switch {
		case !ok:
			return verdict, false
		case refinement.boundsMeet():
			verdict = refinement.answer()
			verdict.Seconds = time.Since(start).Seconds()
			return verdict, true
		case len(blocking) == 0:
			return verdict, false
		}
		refinement.hidden.Show(blocking)
	}
	return verdict, false
}

// tryVisible computes bounds with the variables that are visible now: an upper bound from the program without the hidden variables, and lower bounds
// from its optimal schedulers. blocking has the hidden variables that block the first scheduler in the model. ok is false if the program cannot be
// solved within the limits.
func (refinement *refinement) tryVisible(ctx context.Context) (blocking []int, ok bool) {
	space, ok := refinement.explore(ctx, refinement.hidden.Program())
	if !ok {
		return nil, false
	}
	abstract, err := refinement.newAbstractStates(ctx, space)
	if err != nil {
		return nil, false
	}
	maxTries := 1
	if space.Model().NumStates() <= maxSchedulerStates {
		maxTries = maxSchedulers
	}
	// Each try forbids the choices that were blocked in the model, so that the next scheduler is another one.
	for try := range maxTries {
		isFirst := try == 0
		refinement.numSolved += space.Model().NumStates()
		if refinement.numSolved > maxSolvedStates {
			return nil, false
		}
		verdict, blocked, ok := refinement.tryScheduler(ctx, abstract)
		if !ok {
			return blocking, !isFirst
		}
		if isFirst {
			refinement.upper = verdict
		}
		if blocked == nil { // no other scheduler is better
			return blocking, true
		}
		if isFirst {
			blocking = blocked.hidden
		}
		if refinement.boundsMeet() || blocked.choices.Empty() {
			return blocking, true
		}
		abstract.permitted = abstract.permitted.Minus(blocked.choices)
	}
	return blocking, true
}

// tryScheduler finds an optimal scheduler that makes permitted choices only, and evaluates it in the model. verdict has an upper bound for all these
// schedulers. blocked says where the scheduler is blocked in the model; it is nil if no scheduler can improve the lower bound. ok is false if a
// computation fails or exceeds a limit.
func (refinement *refinement) tryScheduler(ctx context.Context, abstract *abstractStates) (verdict result.Verdict, blocked *blockedChoices, ok bool) {
	choices, verdict, err := refinement.solve(ctx, abstract)
	if err != nil {
		return verdict, nil, false
	}
	cannotImprove := refinement.lower != nil && verdict.Bound.Hi <= refinement.lower.Bound.Lo
	if cannotImprove {
		return verdict, nil, true
	}
	blocked, ok = refinement.follow(ctx, abstract, choices)
	return verdict, blocked, ok
}

// explore compiles a program and explores its states. ok is false if the compilation or the exploration fails, for example at a limit of states.
func (refinement *refinement) explore(ctx context.Context, program *sema.Program) (space *explicit.Space, ok bool) {
	compiled, err := compile.Compile(program, compile.Options{})
	if err != nil {
		return nil, false
	}
	opts := refinement.build
	if opts.MaxStates == 0 || opts.MaxStates > maxAbstractStates {
		opts.MaxStates = maxAbstractStates
	}
	space, err = explicit.Build(ctx, compiled, opts)
	return space, err == nil
}

// abstractStates are the states of the program without the hidden variables.
type abstractStates struct {
	space     *explicit.Space
	commands  [][]*sema.Command // of the model, by choice; nil for a choice that only waits
	permitted *sparse.Set       // the choices of the schedulers that are tried next
}

// newAbstractStates records, for each choice of a space, the commands of the model that it executes. All choices are permitted at first.
func (refinement *refinement) newAbstractStates(ctx context.Context, space *explicit.Space) (*abstractStates, error) {
	numChoices := space.Model().NumChoices()
	abstract := &abstractStates{space: space, commands: make([][]*sema.Command, numChoices), permitted: sparse.NewSet(numChoices).Complement()}
	modules := refinement.property.Program.Modules
	err := space.Commands(ctx, func(_, choice int, enabled *compile.Choice, _ []int) {
		isWaiting := enabled.Commands[0].Module == len(modules)
		if abstract.commands[choice] != nil || isWaiting {
			return
		}
		for _, reference := range enabled.Commands {
			abstract.commands[choice] = append(abstract.commands[choice], &modules[reference.Module].Commands[reference.Command])
		}
	})
	return abstract, err
}

// over returns the property for another program with the same variables and labels.
func (refinement *refinement) over(program *sema.Program) *logic.Property {
	property := refinement.property.Instance
	property.Program = program
	return &property
}

// solve returns an optimal scheduler that makes permitted choices only, and the verdict with bounds of its value. choices has the choice of each state
// of the program without the hidden variables, or -1 for none.
func (refinement *refinement) solve(ctx context.Context, abstract *abstractStates) (choices []int, verdict result.Verdict, err error) {
	space, err := abstract.space.Restrict(abstract.permitted)
	if err != nil {
		return nil, verdict, err
	}
	scheduler, verdict, err := check.New(space.Compiled(), space, refinement.opt).Scheduler(ctx, refinement.over(space.Program()))
	switch {
	case err != nil:
		return nil, verdict, err
	case verdict.Bound == nil || len(scheduler.Choices) != 1 || scheduler.Space != space:
		return nil, verdict, errors.New("found no bounds or no memoryless scheduler")
	}
	permittedChoices := slices.Collect(abstract.permitted.All()) // by their numbers in the restricted space
	choices = make([]int, len(scheduler.Choices[0]))
	for s, choice := range scheduler.Choices[0] {
		choices[s] = -1
		if choice != sparse.None {
			choices[s] = permittedChoices[choice]
		}
	}
	return choices, verdict, nil
}

// blockedChoices says where a scheduler without the hidden variables is blocked in the model.
type blockedChoices struct {
	choices *sparse.Set // those that are not enabled in some state of the model
	hidden  []int       // the hidden variables that block the first of them
}

// follow evaluates a scheduler in the model. It keeps the verdict if its lower bound is greater than all lower bounds before. choices has the choice of
// each state, or -1 for none. blocked says where the scheduler is blocked. ok is false if a computation fails or exceeds a limit.
func (refinement *refinement) follow(ctx context.Context, abstract *abstractStates, choices []int) (blocked *blockedChoices, ok bool) {
	followed, err := refinement.hidden.Follow(abstract.steps(choices))
	if err != nil {
		return nil, false
	}
	space, ok := refinement.explore(ctx, followed.Program)
	if !ok {
		return nil, false
	}
	verdict := check.New(space.Compiled(), space, refinement.opt).Check(ctx, refinement.over(followed.Program))
	if verdict.Err != nil || verdict.Bound == nil {
		return nil, false
	}
	if refinement.lower == nil || verdict.Bound.Lo > refinement.lower.Bound.Lo {
		refinement.lower = &verdict
	}
	return newBlockedChoices(followed, space, abstract.space.Model().NumChoices()), true
}

// steps returns the steps of a scheduler for package abstraction: the state, the choice and its commands. It leaves out choices that only wait, because
// they execute no command of the model.
func (abstract *abstractStates) steps(choices []int) []abstraction.Step {
	var steps []abstraction.Step
	for s, choice := range choices {
		if choice >= 0 && abstract.commands[choice] != nil {
			steps = append(steps, abstraction.Step{State: abstract.space.State(nil, s), Commands: abstract.commands[choice], Choice: choice})
		}
	}
	return steps
}

// newBlockedChoices finds the choices of a scheduler that are not enabled in some state of the model. space has the states of the model under the
// scheduler, where a blocked choice is a deadlock. numChoices is the number of choices of the program without the hidden variables.
func newBlockedChoices(followed *abstraction.Followed, space *explicit.Space, numChoices int) *blockedChoices {
	blocked := &blockedChoices{choices: sparse.NewSet(numChoices)}
	var valuation []int32
	for s := range space.Model().NumStates() {
		if !space.Model().IsDeadlock(s) {
			continue
		}
		valuation = space.State(valuation, s)
		step, hidden := followed.Blocked(valuation)
		if step == nil {
			continue
		}
		blocked.choices.Add(step.Choice)
		if blocked.hidden == nil {
			blocked.hidden = hidden
		}
	}
	return blocked
}

// boundsMeet reports whether the lower and the upper bound are so near to each other that the answer is as accurate as required. It is false if the
// lower bound is greater than the upper bound, which would be an error of the method.
func (refinement *refinement) boundsMeet() bool {
	if refinement.lower == nil {
		return false
	}
	if refinement.opt.Accuracy == result.Exact {
		return refinement.lower.Value.Rat != nil && refinement.upper.Value.Rat != nil && refinement.lower.Value.Rat.Cmp(refinement.upper.Value.Rat) == 0
	}
	low, high := refinement.lower.Bound.Lo, refinement.upper.Bound.Hi
	return low <= high && high-low <= boundSharing*refinement.opt.Epsilon*high
}

// answer returns the verdict of the refinement; boundsMeet must be true. Its value lies between the lower and the upper bound.
func (refinement *refinement) answer() result.Verdict {
	verdict := refinement.upper
	if refinement.opt.Accuracy != result.Exact {
		verdict.Value, verdict.Bound = refinement.lower.Value, &result.Interval{Lo: refinement.lower.Bound.Lo, Hi: refinement.upper.Bound.Hi}
	}
	numVars := len(refinement.property.Program.Vars)
	verdict.Warnings = append(slices.Clip(verdict.Warnings), fmt.Sprintf("answered by %s that read %d of %s: the model was not explored to its end",
		noun.Count(int(verdict.States), "state"), numVars-refinement.hidden.NumHidden(), noun.Count(numVars, "variable")))
	return verdict
}
