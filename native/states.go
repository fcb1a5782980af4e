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
	file      string
	tree      *syntax.Model // nil if the states come from files
	build     explicit.Options
	opt       check.Options
	part      partOptions
	proven    bool // every answer gets a certificate
	reduce    bool // each property is checked on a quotient
	wants     runner.Outputs
	export    *schedulerFile    // nil unless wants has a scheduler
	generated runner.Recognizer // as Job.Generated
}

// newStatesMethod returns the method for a plan. It is an error if options contradict each other or are out of range.
func newStatesMethod(plan *runner.Plan) (*statesMethod, error) {
	job := &plan.Job
	num := &job.Numeric
	switch {
	case num.Epsilon < 0 || num.Epsilon >= 1:
		return nil, fmt.Errorf("epsilon %v: want a relative width between 0 and 1", num.Epsilon)
	case num.Beliefs < 0:
		return nil, fmt.Errorf("a limit of %d beliefs, want a positive number", num.Beliefs)
	case num.MaxStates < 0 || num.MaxMemory < 0 || num.Workers < 0:
		return nil, fmt.Errorf("limits of %d states, %d bytes, %d workers: want positive numbers", num.MaxStates, num.MaxMemory, num.Workers)
	}
	if w := job.Witness; w != nil && w.Paths < 1 {
		return nil, fmt.Errorf("a witness of %d paths: want at least one", w.Paths)
	}
	if num.Reduce && (num.Accuracy == result.Proven || num.Fair || job.Scheduler != nil || job.Witness != nil) {
		return nil, fmt.Errorf("a reduced model has no certificates, witnesses, fair schedulers and schedulers to export")
	}
	if job.Partition != nil && !num.Reduce {
		return nil, fmt.Errorf("a partition is for a model that is reduced")
	}
	export, err := newSchedulerFile(job.Scheduler)
	if err != nil {
		return nil, err
	}
	return &statesMethod{
		file: job.File, tree: plan.Tree, part: partOptionsOf(plan),
		wants: job.Outputs, generated: job.Generated, export: export, proven: num.Accuracy == result.Proven, reduce: num.Reduce,
		build: load.Options(job),
		opt:   check.Options{Accuracy: accuracy(num), Epsilon: num.Epsilon, Workers: num.Workers, Fair: num.Fair, Beliefs: num.Beliefs},
	}, nil
}

// accuracy returns the accuracy for package check. There values of an iteration without bounds are called estimated.
func accuracy(num *runner.Numeric) result.Accuracy {
	switch {
	case num.Accuracy == result.Exact || num.Fractions:
		return result.Exact
	case num.Accuracy == result.Float || num.Accuracy == result.Estimated:
		return result.Estimated
	}
	return result.Bounded
}

// instance implements method. If a property may be evaluated from the first states, it explores only these.
func (e *statesMethod) instance(ctx context.Context, m *compile.Model) (instance, error) {
	if e.proven {
		space, inexact, err := load.Fractions(ctx, m, e.build)
		if err != nil {
			return nil, err
		}
		return e.over(space, inexact), nil
	}
	opts := e.build
	opts.Part = e.part.first
	space, err := explicit.Build(ctx, m, opts)
	if _, large := errors.AsType[*explicit.LimitError](err); large && e.part.stage > 0 { // a stage needs less memory
		opts.Part = e.part.stage
		space, err = explicit.Build(ctx, m, opts)
	}
	switch {
	case err != nil:
		return nil, err
	case space.Unexplored() != nil:
		return &partialStates{statesMethod: e, model: m, first: check.New(m, space, e.opt)}, nil
	}
	return e.over(space, nil), nil
}

// fractions implements method.
func (e *statesMethod) fractions() bool { return e.build.Exact || e.proven }

// imported implements method.
func (e *statesMethod) imported(space *explicit.Space) instance { return e.over(space, nil) }

// over returns an instance with the given states. inexact says why they have no fractions although certificates need them.
func (e *statesMethod) over(space *explicit.Space, inexact error) *states {
	in := &states{statesMethod: e}
	opt := e.opt
	if e.wants.Progress != nil {
		opt.Progress = in.report
	}
	if e.missing(&result.Verdict{}) != "" {
		opt.Answered = in.answered
	}
	if e.proven {
		in.proofs = e.newCertificates(space, inexact, func(i int) (*sparse.Reward, error) { return in.checker.Reward(i) })
		if in.proofs.prover != nil && !in.proofs.exact {
			opt.Solver = in.proofs.prover
		}
	}
	in.space, in.checking = space, opt
	in.checker = check.New(space.Compiled(), space, opt)
	return in
}

// states is an instance whose states are all known.
type states struct {
	*statesMethod
	space    *explicit.Space
	checking check.Options // opt, with what depends on this instance
	checker  *check.Checker
	property *property     // being checked
	proofs   *certificates // nil unless certificates are wanted
}

// report reports progress under the name of the property that is being checked.
func (b *states) report(p runner.Progress) {
	p.Property = b.property.Text
	b.wants.Progress(p)
}

// check implements instance.
func (b *states) check(ctx context.Context, p *property) result.Verdict {
	b.property = p
	cp := &p.Instance
	v := result.Verdict{}
	switch {
	case b.reduce:
		v = b.checkReduced(ctx, cp)
	case b.export != nil:
		v = b.checkAndExport(ctx, cp)
	case b.wants.Witness != nil:
		v = b.checkAndWitness(ctx, cp)
	default:
		v = b.checker.Check(ctx, cp)
	}
	if b.proofs != nil {
		b.prove(ctx, p, &v)
	}
	return b.complete(v)
}

// Beginnings of the message of a verdict that has its value and lacks something else.
const (
	noWitness   = "no witness: "
	someWitness = "the witness is not complete: "
	noScheduler = "no scheduler was exported: "
)

// missing returns the beginning of the message that says what a verdict with a value still lacks; empty if it lacks nothing.
func (e *statesMethod) missing(v *result.Verdict) string {
	switch {
	case e.export != nil:
		return noScheduler
	case len(v.Witnesses) > 0:
		return someWitness
	case e.wants.Witness != nil:
		return noWitness
	case e.proven:
		return NotProven
	}
	return ""
}

// answered stores a verdict with a value, in case the run is interrupted before the verdict is complete.
func (b *states) answered(v *result.Verdict) {
	if b.property == nil || b.property.keep == nil {
		return
	}
	kept := *v
	kept.Witnesses = slices.Clone(v.Witnesses)
	b.property.keep(b.complete(kept), b.missing(v))
}

// unfinished returns a verdict that keeps its value and says what it lacks, and why.
func unfinished(v result.Verdict, missing string, why *result.Failure) result.Verdict {
	f := *why
	f.Message = missing + f.Message
	v.Err = &f
	return v
}

// complete adds the warnings about the exploration and about estimated values to a verdict.
func (b *states) complete(v result.Verdict) result.Verdict {
	if err := b.space.Fallback(); err != nil {
		v.Warnings = append(slices.Clip(v.Warnings), "states were found slowly: "+err.Error())
	}
	if v.Accuracy == result.Estimated {
		v.Accuracy = result.Float
		v.Warnings = append(slices.Clip(v.Warnings), "iterated until a step was small, as asked for: the value may be off by any amount")
	}
	return v
}
