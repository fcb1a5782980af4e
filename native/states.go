package native

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// statesMethod is the method that builds the state space.
type statesMethod struct {
	file             string
	tree             *syntax.Model // nil if the states come from files
	build            explicit.Options
	opt              check.Options
	partOptions      partOptions
	wantCertificates bool // every answer gets a certificate
	useQuotient      bool // each property is checked on a quotient
	useSymmetry      bool // each property is checked on the states up to permutations of modules
	useBoxes         bool // each property is checked on boxes of states
	mayUseBoxes      bool // the same for a model with too many initial states
	clocks           runner.ClockMethod
	outputs          runner.Outputs
	export           *schedulerFile    // nil unless wants has a scheduler
	generated        runner.Recognizer // as Job.Generated
}

// newStatesMethod returns the method of a plan that explores states in memory. It is an error if options contradict each other or are out of
// range.
func newStatesMethod(plan *runner.Plan) (*statesMethod, error) {
	job := &plan.Job
	numeric := &job.Numeric
	if err := checkNumeric(numeric); err != nil {
		return nil, err
	}
	if witness := job.Witness; witness != nil && witness.Paths < 1 {
		return nil, fmt.Errorf("a witness of %d paths: want at least one", witness.Paths)
	}
	if err := checkReduction(plan); err != nil {
		return nil, err
	}
	export, err := newSchedulerFile(job.Scheduler)
	if err != nil {
		return nil, err
	}
	return &statesMethod{
		file:             job.File,
		tree:             plan.Tree,
		build:            load.Options(job),
		opt:              check.Options{Accuracy: accuracy(numeric), Epsilon: numeric.Epsilon, Workers: numeric.Workers, Fair: numeric.Fair, Beliefs: numeric.Beliefs},
		partOptions:      partOptionsOf(plan),
		wantCertificates: numeric.Accuracy == result.Proven,
		useQuotient:      numeric.Reduce,
		useSymmetry:      numeric.Symmetry,
		useBoxes:         numeric.Boxes,
		mayUseBoxes:      !needsAllStates(job),
		clocks:           numeric.Clocks,
		outputs:          job.Outputs,
		export:           export,
		generated:        job.Generated,
	}, nil
}

// checkNumeric returns an error if a numeric option is out of range.
func checkNumeric(numeric *runner.Numeric) error {
	switch {
	case numeric.Epsilon < 0 || numeric.Epsilon >= 1:
		return fmt.Errorf("epsilon %v: want a relative width between 0 and 1", numeric.Epsilon)
	case numeric.Beliefs < 0:
		return fmt.Errorf("a limit of %d beliefs, want a positive number", numeric.Beliefs)
	case numeric.MaxStates < 0 || numeric.MaxMemory < 0 || numeric.Workers < 0:
		return fmt.Errorf("limits of %d states, %d bytes, %d workers: want positive numbers", numeric.MaxStates, numeric.MaxMemory, numeric.Workers)
	}
	return nil
}

// checkReduction returns an error if reduction by bisimulation or by symmetry contradicts another option of the plan.
func checkReduction(plan *runner.Plan) error {
	job, numeric := &plan.Job, &plan.Job.Numeric
	wantsCertificates := numeric.Accuracy == result.Proven
	needsWholeModel := numeric.Fair || job.Scheduler != nil || job.Witness != nil
	switch {
	case numeric.Reduce && (needsWholeModel || wantsCertificates):
		return fmt.Errorf("a reduced model has no certificates, witnesses, fair schedulers and schedulers to export")
	case numeric.Symmetry && (numeric.Reduce || needsWholeModel):
		return fmt.Errorf("a model that is reduced by symmetry has no quotient by bisimulation, witnesses, fair schedulers and schedulers to export")
	case numeric.Boxes && (numeric.Reduce || numeric.Symmetry || needsWholeModel || wantsCertificates):
		return fmt.Errorf("boxes of states have no quotient by bisimulation, symmetry, certificates, witnesses, fair schedulers and schedulers to export")
	case numeric.Boxes && plan.Tree == nil:
		return fmt.Errorf("boxes of states are found in the text of a model, and the states come from files")
	case numeric.Symmetry && plan.Tree == nil:
		return fmt.Errorf("symmetry is found in the text of a model, and the states come from files")
	case job.Partition != nil && !numeric.Reduce:
		return fmt.Errorf("a partition is for a model that is reduced")
	}
	return nil
}

// accuracy returns the accuracy that package check should compute: Exact, Bounded or Estimated. In the options of a job, result.Float stands for
// Estimated.
func accuracy(numeric *runner.Numeric) result.Accuracy {
	switch {
	case numeric.Accuracy == result.Exact || numeric.Fractions:
		return result.Exact
	case numeric.Accuracy == result.Float || numeric.Accuracy == result.Estimated:
		return result.Estimated
	}
	return result.Bounded
}

// instance implements method: it explores the states of a model. If some property may need only a part of the states, it explores only the first ones;
// the instance explores more when a property needs them.
func (method *statesMethod) instance(ctx context.Context, model *compile.Model) (instance, error) {
	if method.useSymmetry {
		return method.newSymmetricInstance(model)
	}
	if method.wantCertificates {
		space, exactWeightsErr, err := load.Fractions(ctx, model, method.build)
		if err != nil {
			if variable := check.Unbounded(model.Program()); variable != nil && exceedsLimit(err) {
				err = fmt.Errorf("%w; variable %q has no bounds, and a certificate needs all states; without certificates, properties with step bounds and P of F, G, U, W and R need only a part of them", err, variable.Name)
			}
			return nil, err
		}
		return method.newExploredModel(space, exactWeightsErr), nil
	}
	if method.useBoxes {
		return method.newBoxInstance(model, nil)
	}
	space, err := method.exploreFirst(ctx, model)
	if many, ok := errors.AsType[*compile.ManyInitialError](err); ok && method.mayUseBoxes {
		return method.newBoxInstance(model, many)
	}
	if err != nil {
		return nil, err
	}
	if space.Unexplored() == nil {
		return method.newExploredModel(space, nil), nil
	}
	if method.partOptions.truncates && space.NumExplored() == truncatedStates { // too large to be explored at once; few states take less memory
		opts := method.build
		opts.Part = firstTruncated
		if space, err = explicit.Build(ctx, model, opts); err != nil {
			return nil, err
		}
	}
	return &partialStates{statesMethod: method, model: model, firstSpace: space, firstStates: check.New(model, space, method.opt)}, nil
}

// exploreFirst explores the first states of a model; method.partOptions has their number. If these states exceed a limit of memory or states, it
// explores fewer and fewer states. It does so, too, if an expression has no value in one of these states and the model may have infinitely many: a
// property with a step bound may need only states before it.
func (method *statesMethod) exploreFirst(ctx context.Context, model *compile.Model) (*explicit.Space, error) {
	opts, parts := method.build, method.partOptions
	opts.Part = parts.first
	space, err := explicit.Build(ctx, model, opts)
	if exceedsLimit(err) && parts.stage > 0 {
		opts.Part = parts.stage
		space, err = explicit.Build(ctx, model, opts)
	}
	mayBeInfinite := check.Unbounded(model.Program()) != nil
	mayShrink := func() bool {
		return exceedsLimit(err) && opts.Part >= leastPart || mayBeInfinite && isStateError(err) && opts.Part >= partGrowth
	}
	for parts.stage == 0 && mayShrink() {
		opts.Part /= partGrowth
		space, err = explicit.Build(ctx, model, opts)
	}
	return space, err
}

// exceedsLimit reports whether an exploration ended at a limit of states or memory.
func exceedsLimit(err error) bool {
	_, ok := errors.AsType[*explicit.LimitError](err)
	return ok
}

// isStateError reports whether an exploration ended at a state in which an expression has no value.
func isStateError(err error) bool {
	_, ok := errors.AsType[*compile.StateError](err)
	return ok
}

// fractions implements method.
func (method *statesMethod) fractions() bool { return method.build.Exact || method.wantCertificates }

// imported implements method.
func (method *statesMethod) imported(space *explicit.Space) instance {
	return method.newExploredModel(space, nil)
}

// newExploredModel returns the instance that checks properties on an explored state space. exactWeightsErr, if not nil, says why the space has
// no fractions, which certificates need.
func (method *statesMethod) newExploredModel(space *explicit.Space, exactWeightsErr error) *exploredModel {
	model := &exploredModel{statesMethod: method}
	options := method.opt
	if method.outputs.Progress != nil {
		options.Progress = model.reportProgress
	}
	if method.hasOutputBesidesValue() {
		options.OnVerdict = model.keepVerdict
	}
	if method.wantCertificates {
		model.proofs = method.newCertificates(space, exactWeightsErr, func(i int) (*sparse.Reward, error) { return model.checker.Reward(i) })
		if model.proofs.prover != nil && !model.proofs.wantsFraction {
			options.Solver = model.proofs.prover
		}
	}
	model.space, model.checkOptions = space, options
	model.checker = check.New(space.Compiled(), space, options)
	return model
}

// exploredModel is an instance whose states are all known.
type exploredModel struct {
	*statesMethod
	space        *explicit.Space
	checkOptions check.Options // opt, with what depends on this instance
	checker      *check.Checker
	property     *checkedProperty // being checked
	proofs       *certificates    // nil unless certificates are wanted
}

// reportProgress reports progress under the name of the property that is being checked.
func (model *exploredModel) reportProgress(p runner.Progress) {
	p.Property = model.property.Text
	model.outputs.Progress(p)
}

// check implements instance. It checks a property, and adds the outputs that the job wants: a scheduler file, a witness or a certificate.
func (model *exploredModel) check(ctx context.Context, property *checkedProperty) result.Verdict {
	model.property = property
	checked := &property.Instance
	verdict := result.Verdict{}
	switch {
	case model.useQuotient:
		verdict = model.checkReduced(ctx, checked)
	case model.export != nil && model.outputs.Witness != nil:
		verdict = model.checkWitnessAndExport(ctx, checked)
	case model.export != nil:
		verdict = model.checkAndExport(ctx, checked)
	case model.outputs.Witness != nil:
		verdict, _ = model.checkAndWitness(ctx, checked)
	default:
		verdict = model.checker.Check(ctx, checked)
	}
	if model.proofs != nil {
		model.prove(ctx, property, &verdict)
	}
	return model.complete(verdict)
}

// Beginnings of the message of a verdict that has its value and lacks something else.
const (
	noWitness   = "no witness: "
	someWitness = "the witness is not complete: "
	noScheduler = "no scheduler was exported: "

	noSchedulerOrWitness = "no scheduler was exported, or the witness is not complete: "
)

// hasOutputBesidesValue reports whether a verdict needs another output than its value, such as a witness.
func (method *statesMethod) hasOutputBesidesValue() bool {
	return method.export != nil || method.outputs.Witness != nil || method.wantCertificates
}

// missingOutputNote returns the beginning of a message that a verdict has a value but lacks an output that the job wants, such as a witness. It
// returns "" if the job wants only the value.
func (method *statesMethod) missingOutputNote(verdict *result.Verdict) string {
	switch {
	case method.export != nil && method.outputs.Witness != nil:
		return noSchedulerOrWitness
	case method.export != nil:
		return noScheduler
	case len(verdict.Witnesses) > 0:
		return someWitness
	case method.outputs.Witness != nil:
		return noWitness
	case method.wantCertificates:
		return NotProven
	}
	return ""
}

// keepVerdict stores a verdict that has a value but not yet all outputs. If the run is interrupted before the outputs are ready, it returns this
// verdict.
func (model *exploredModel) keepVerdict(verdict *result.Verdict) {
	if model.property == nil || model.property.keepVerdict == nil {
		return
	}
	keptVerdict := *verdict
	keptVerdict.Witnesses = slices.Clone(verdict.Witnesses)
	model.property.keepVerdict(model.complete(keptVerdict), model.missingOutputNote(verdict))
}

// unfinished adds an error to a verdict with a value. The message is note, the text of missingOutputNote, and then
// the reason.
func unfinished(verdict result.Verdict, note string, reason *result.Failure) result.Verdict {
	failure := *reason
	failure.Message = note + failure.Message
	verdict.Err = &failure
	return verdict
}

// complete adds warnings about the exploration and about estimated values to a verdict.
func (model *exploredModel) complete(verdict result.Verdict) result.Verdict {
	if err := model.space.WhyInterpreted(); err != nil {
		verdict.Warnings = append(slices.Clip(verdict.Warnings), "the states were explored without compiling the model, which is slow: "+err.Error())
	}
	if verdict.Accuracy == result.Estimated {
		verdict.Accuracy = result.Float
		verdict.Warnings = append(slices.Clip(verdict.Warnings), "the iteration ended when a step was small, as requested: the error of the value is unknown")
	}
	return verdict
}
