//go:build !js

package native

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"tilecheck/internal/memory"
	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/native/check"
	"tilecheck/native/external"
	"tilecheck/native/load"
	"tilecheck/native/solve"
	"tilecheck/native/space/disk"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// diskMethod is the method that keeps states, transitions and values in a directory.
type diskMethod struct {
	job       *runner.Job
	constants sema.Valuation // of the model
}

// newDiskMethod returns the method that keeps states in the directory of the option --disk. It is an error if another option of the plan is not
// supported with --disk.
func newDiskMethod(plan *runner.Plan) (*diskMethod, error) {
	job := &plan.Job
	if err := checkNumeric(&job.Numeric); err != nil {
		return nil, err
	}
	if unsupported := unsupportedOnDisk(plan); unsupported != "" {
		return nil, fmt.Errorf("--disk does not support %s", unsupported)
	}
	constants, err := runner.Single(plan.Models())
	return &diskMethod{job: job, constants: constants}, err
}

// unsupportedOnDisk returns a description of the first option of the plan that --disk does not support, for an error message. It returns "" if --disk
// supports all options of the plan.
func unsupportedOnDisk(plan *runner.Plan) string {
	job := &plan.Job
	numeric := &job.Numeric
	switch {
	case job.States != nil:
		return "states that were read from files"
	case accuracy(numeric) != result.Bounded || numeric.Accuracy == result.Proven:
		return "--exact, --float, --certify and --certificate: it computes bounds"
	case numeric.Fair || numeric.Reduce || numeric.Symmetry || numeric.Boxes || numeric.Beliefs != 0 || numeric.Clocks != "":
		return "--fair, --reduce, --symmetry, --boxes, --beliefs and --clocks"
	case job.Scheduler != nil || job.Witness != nil:
		return "--export-scheduler and --witness"
	case numeric.MaxStates > 0:
		return "--max-states"
	case len(plan.Params) > 0:
		return "--param"
	case job.NoFixDeadlocks:
		return "--no-fix-deadlocks"
	case countModels(plan) != 1:
		return "several values of the model's constants: each model has a directory of its own"
	}
	return ""
}

// fractions implements method.
func (*diskMethod) fractions() bool { return false }

// Shares of the memory limit. The rest is for the garbage of the runtime, indexes and the compiled model.
const (
	exploreShare = 0.5
	solveShare   = 0.5
)

// diskInterval is the least time between two records of the progress in the directory: a killed process loses about as much.
const diskInterval = 500 * time.Millisecond

// instance implements method. It explores the states of the model and writes their transitions to the directory.
func (method *diskMethod) instance(ctx context.Context, model *compile.Model) (_ instance, err error) {
	program := model.Program()
	if !program.IsDTMCOrMDP() && program.Type != syntax.CTMC {
		message := fmt.Sprintf("--disk supports a DTMC, MDP or CTMC, found %s", noun.WithArticle(program.Type.String()))
		return nil, &compile.UnsupportedError{File: program.File, Msg: message}
	}
	initial, err := model.InitialStates(ctx)
	if err != nil {
		return nil, err
	}
	if len(initial) != 1 {
		return nil, &compile.UnsupportedError{File: program.File, Msg: fmt.Sprintf("--disk supports a model with one initial state, found %d", len(initial))}
	}
	instance := &diskStates{diskMethod: method, model: model, initial: initial[0]}
	if err := instance.openSpace(ctx); err != nil {
		return nil, errors.Join(err, instance.close())
	}
	return instance, nil
}

// imported implements method. It is not called, because newDiskMethod refuses states from files.
func (*diskMethod) imported(*explicit.Space) instance { return nil }

// diskStates is an instance whose states are in a directory.
type diskStates struct {
	*diskMethod
	model         *compile.Model
	initial       []int32
	limit         int64 // of memory, in bytes
	dir           *disk.Directory
	space         *disk.Space
	columns       *disk.Columns
	initialNumber int64 // of the initial state
}

// openSpace opens the directory of the model, explores the states and transitions that are not yet in it, and finds the number of the initial state.
func (states *diskStates) openSpace(ctx context.Context) (err error) {
	states.limit = states.job.Numeric.MaxMemory
	if states.limit <= 0 {
		states.limit = memory.Available() / 4 * 3
	}
	if states.dir, err = states.openDirectory(); err != nil {
		return err
	}
	options := disk.Options{
		Explicit: load.Options(states.job), Memory: int64(exploreShare * float64(states.limit)), Workers: states.job.Numeric.Workers,
		Interval: diskInterval, Progress: states.job.Progress,
	}
	if states.space, err = disk.NewSpace(ctx, states.dir, states.model, options); err != nil {
		return err
	}
	if err := states.space.Explore(ctx); err != nil {
		return err
	}
	if states.columns, err = states.space.Convert(ctx); err != nil {
		return err
	}
	packed := make([]uint64, states.space.Packing.Words)
	states.space.Packing.Pack(packed, states.initial)
	states.initialNumber, _, err = states.space.States.NewCursor().Find(packed)
	return err
}

// openDirectory opens the directory of the model. It is an error if the directory belongs to another model, or to other values of the constants, which
// the name and the hash identify.
func (states *diskStates) openDirectory() (*disk.Directory, error) {
	name := states.model.Program().File
	if len(states.constants) > 0 {
		name += " with " + states.constants.String()
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%x %v %s", digest(states.job), states.job.Dialect, states.constants)
	job, numeric := states.job, &states.job.Numeric
	settings := fmt.Sprintf("--memory %d, --epsilon %g, --const %q, --prop %q, property file %q with digest %x",
		states.limit, numeric.Epsilon, job.Consts, append(slices.Clone(job.Props), job.Select...), job.PropsFile, sha256.Sum256(job.Properties))
	return disk.OpenDirectory(numeric.Disk, name, fmt.Sprintf("%x", hash.Sum(nil)), disk.Team{Process: numeric.Process, Agreement: settings})
}

// check implements instance. It computes bounds of the property's value by value iteration over the transitions on disk.
func (states *diskStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	start := time.Now()
	verdict := result.Verdict{
		Method: string(runner.States), States: states.columns.States, Choices: states.columns.Choices, Transitions: states.columns.Transitions,
		Resolution: result.NoNondet, Warnings: states.warnings(),
	}
	if err := states.solve(ctx, property, &verdict); err != nil {
		verdict.Err = check.Failure(err, property.File, property.Pos)
	}
	verdict.Warnings = append(verdict.Warnings, check.InfiniteRewardWarnings(property.Expr, &verdict)...)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// warnings returns warnings about deadlocks, overlapping commands, and an exploration without a compiled model.
func (states *diskStates) warnings() []string {
	var warnings []string
	if numStates := states.columns.Deadlocks; numStates > 0 {
		warnings = append(warnings, fmt.Sprintf("deadlocks in %s were given a self-loop", noun.Count(numStates, "state")))
	}
	if numStates := states.columns.Overlaps; numStates > 0 {
		warnings = append(warnings, fmt.Sprintf("several commands were enabled at once in %s of a DTMC; like PRISM, tilecheck selects one of them uniformly", noun.Count(numStates, "state")))
	}
	if err := states.space.WhyInterpreted; err != nil {
		warnings = append(warnings, "the states were explored without compiling the model, which is slow: "+err.Error())
	}
	return warnings
}

// solve computes the value of a property from the transitions on disk, and writes it to the verdict with its bounds. epsilon, the relative width of the
// bounds, comes from the job.
func (states *diskStates) solve(ctx context.Context, property *checkedProperty, verdict *result.Verdict) error {
	isMDP := states.model.Program().Type == syntax.MDP
	problem, conclude, err := states.newProblem(&property.Instance, isMDP)
	if err != nil {
		return err
	}
	switch {
	case states.columns.Overlaps > 0:
		verdict.Resolution = result.Uniform
	case isMDP && states.columns.Choices > states.columns.States:
		verdict.Resolution = check.ResolutionOf(logic.FormulaOf(property.Expr).Threshold)
	}
	epsilon := states.job.Numeric.Epsilon
	if epsilon == 0 {
		epsilon = solve.DefaultEpsilon
	}
	problem.Key = fmt.Sprintf("%s with %v, epsilon %g", property.Text, property.constants, epsilon)
	problem.Rates = states.model.Program().Type == syntax.CTMC
	bounds, err := external.Solve(ctx, states.space, states.columns, problem, states.initialNumber, external.Options{
		Epsilon: epsilon, Memory: int64(solveShare * float64(states.limit)), Interval: diskInterval, Progress: states.progressReporter(property),
	})
	switch {
	case errors.Is(err, external.ErrRestingForever):
		return result.Refuse(&property.Instance, result.Unsupported, property.Expr.Pos(), "--disk: %v", err)
	case err != nil:
		return err
	}
	verdict.BoundMethod = fmt.Sprintf("value iteration from disk: %s over %s", noun.Count(bounds.Passes, "pass"), noun.Count(bounds.Blocks, "block"))
	// Without a pass over the transitions, graph analysis alone has determined the value.
	if bounds.Passes == 0 {
		verdict.BoundMethod = "the graph of the model, from disk"
	}
	return conclude(float64(bounds.Lower), float64(bounds.Upper), epsilon, verdict)
}

// concluder computes the value of a property from bounds, and writes it to the verdict.
type concluder func(lower, upper, epsilon float64, verdict *result.Verdict) error

// newProblem converts a property to a problem of package external: equations over the states on disk. conclude computes the value of the property from
// bounds of their solution.
func (states *diskStates) newProblem(property *check.Property, isMDP bool) (problem external.Problem, conclude concluder, err error) {
	if logic.FormulaOf(property.Expr).Kind == logic.Reward {
		reward, err := check.NewRewardProperty(property, isMDP)
		if err != nil {
			return problem, nil, err
		}
		return external.Problem{
			NewMarker: func() (disk.Marker, error) { return states.newTargetMarker(reward.Target) },
			Reward:    &external.Reward{Structure: reward.Structure, IsTotal: reward.Target == nil},
			Minimize:  isMDP && reward.Direction == solve.Min, StepBounded: reward.Steps != logic.Unbounded, Steps: reward.Steps,
		}, reward.Conclude, nil
	}
	until, err := check.NewUntilProperty(property, isMDP)
	if err != nil {
		return problem, nil, err
	}
	return external.Problem{
		NewMarker: func() (disk.Marker, error) { return states.newMarker(until) },
		Minimize:  isMDP && until.Direction == solve.Min, StepBounded: until.Steps != logic.Unbounded, Steps: until.Steps,
	}, until.Conclude, nil
}

// newTargetMarker returns a function that marks the target states as disk.One, and all other states as disk.Unknown. A nil target has no states.
func (states *diskStates) newTargetMarker(target sema.Expr) (disk.Marker, error) {
	if target == nil {
		return func([]int32) (disk.Mark, error) { return disk.Unknown, nil }, nil
	}
	evaluator, err := states.model.Evaluator(target)
	return func(state []int32) (disk.Mark, error) {
		isTarget, err := evaluator.Bool(state)
		if isTarget {
			return disk.One, err
		}
		return disk.Unknown, err
	}, err
}

// progressReporter returns a function that passes progress on to the job, with the text of a property as its name. It returns nil if the job wants no
// progress.
func (states *diskStates) progressReporter(property *checkedProperty) func(progress.Progress) {
	report := states.job.Progress
	if report == nil {
		return nil
	}
	return func(update progress.Progress) {
		update.Property = property.Text
		report(update)
	}
}

// newMarker returns a function that marks a state as disk.One or disk.Zero if the truth of the until formula's operands in this state shows that the
// probability is 1 or 0.
func (states *diskStates) newMarker(until *check.UntilProperty) (disk.Marker, error) {
	leftExpr, rightExpr := until.Operands()
	right, err := states.model.Evaluator(rightExpr)
	if err != nil {
		return nil, err
	}
	marker := &operandMarker{until: until, right: right}
	if leftExpr == nil {
		return marker.mark, nil
	}
	marker.left, err = states.model.Evaluator(leftExpr)
	return marker.mark, err
}

// operandMarker marks states by the operands of a property.
type operandMarker struct {
	until *check.UntilProperty
	left  compile.Evaluator // nil if the path formula has no left operand
	right compile.Evaluator
}

// mark returns One or Zero if the operands of the until formula determine that the probability from a state is 1 or 0, else Unknown. state has
// the values of the variables.
func (marker *operandMarker) mark(state []int32) (disk.Mark, error) {
	satisfiesRight, err := marker.right.Bool(state)
	if err != nil {
		return disk.Unknown, err
	}
	satisfiesLeft := true
	if marker.left != nil {
		if satisfiesLeft, err = marker.left.Bool(state); err != nil {
			return disk.Unknown, err
		}
	}
	switch untilLeft, untilRight := marker.until.AsUntil(satisfiesLeft, satisfiesRight); {
	case untilRight:
		return disk.One, nil
	case !untilLeft:
		return disk.Zero, nil
	}
	return disk.Unknown, nil
}

// close closes the files of the transitions, of the states and of the directory.
func (states *diskStates) close() error {
	var errs []error
	if states.columns != nil {
		errs = append(errs, states.columns.Close())
	}
	if states.space != nil {
		errs = append(errs, states.space.Close())
	}
	if states.dir != nil {
		errs = append(errs, states.dir.Close())
	}
	return errors.Join(errs...)
}
