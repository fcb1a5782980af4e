package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// exact is the method of building the state space.
type exact struct {
	build  explicit.Options
	opt    check.Options
	export *export // nil unless a scheduler is asked for
	wants  runner.Outputs
	// generated recognises generated models, whose witnesses are boards; nil recognises none.
	generated runner.Recognizer
	// tree is the text of the model; nil if there is none.
	tree   *syntax.Model
	proven bool // every answer gets a certificate
	reduce bool // each property is checked on a quotient
	beginning
	file string
}

// export is where a scheduler goes, and how.
type export struct {
	*runner.SchedulerFile
	file   string
	format scheduler.Format
	opt    scheduler.Options
}

func newExport(f *runner.SchedulerFile) (*export, error) {
	if f == nil {
		return nil, nil
	}
	x := &export{SchedulerFile: f}
	var err error
	x.file, x.format, x.opt, err = scheduler.ParseTarget(f.Target)
	return x, err
}

func newExact(plan *runner.Plan) (*exact, error) {
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
	export, err := newExport(job.Scheduler)
	if err != nil {
		return nil, err
	}
	return &exact{
		beginning: begin(plan), file: job.File,
		wants: job.Outputs, generated: job.Generated, export: export, proven: num.Accuracy == result.Proven, reduce: num.Reduce,
		build: load.Options(job),
		opt:   check.Options{Accuracy: accuracy(num), Epsilon: num.Epsilon, Workers: num.Workers, Fair: num.Fair, Beliefs: num.Beliefs},
	}, nil
}

// accuracy is what package check calls it: only iteration without bounds makes
// a value merely estimated.
func accuracy(num *runner.Numeric) result.Accuracy {
	switch {
	case num.Accuracy == result.Exact || num.Fractions:
		return result.Exact
	case num.Accuracy == result.Float || num.Accuracy == result.Estimated:
		return result.Estimated
	}
	return result.Bounded
}

func (e *exact) instance(ctx context.Context, m *compile.Model) (instance, error) {
	if e.proven {
		space, none, err := load.Fractions(ctx, m, e.build)
		if err != nil {
			return nil, err
		}
		return e.over(space, none), nil
	}
	opts := e.build
	opts.Part = e.first
	space, err := explicit.Build(ctx, m, opts)
	if _, large := errors.AsType[*explicit.LimitError](err); large && e.stage > 0 { // fewer may do
		opts.Part = e.stage
		space, err = explicit.Build(ctx, m, opts)
	}
	switch {
	case err != nil:
		return nil, err
	case space.Unexplored() != nil:
		return &begun{exact: e, model: m, part: check.New(m, space, e.opt)}, nil
	}
	return e.over(space, nil), nil
}

func (e *exact) fractions() bool { return e.build.Exact || e.proven }

func (e *exact) known(space *explicit.Space) instance { return e.over(space, nil) }

// over returns the instance that a state space is. If it has no fractions where they are
// wanted, none says why.
func (e *exact) over(space *explicit.Space, none error) *built {
	in := &built{exact: e, fallback: space.Fallback()}
	opt := e.opt
	if e.wants.Progress != nil {
		opt.Progress = in.report
	}
	if e.missing(&result.Verdict{}) != "" {
		opt.Answered = in.answered
	}
	if e.proven {
		in.proofs = e.prover(space, none, func(i int) (*sparse.Reward, error) { return in.checker.Reward(i) })
		if in.proofs.prover != nil && !in.proofs.fractions {
			opt.Solver = in.proofs.prover
		}
	}
	in.space, in.checking = space, opt
	in.checker = check.New(space.Compiled(), space, opt)
	return in
}

// built is an instance whose states are known.
type built struct {
	*exact
	space    *explicit.Space
	checking check.Options
	checker  *check.Checker
	property *property // being checked
	fallback error     // why the states were found slowly, nil if they were not
	proofs   *proofs   // nil unless certificates are asked for
}

func (b *built) report(p runner.Progress) {
	p.Property = b.property.Text
	b.wants.Progress(p)
}

func (b *built) check(ctx context.Context, p *property) result.Verdict {
	b.property = p
	cp := &p.Instance
	v := result.Verdict{}
	switch {
	case b.reduce:
		v = b.reduced(ctx, cp)
	case b.export != nil:
		v = b.scheduled(ctx, cp)
	case b.wants.Witness != nil:
		v = b.witnessed(ctx, cp)
	default:
		v = b.checker.Check(ctx, cp)
	}
	if b.proofs != nil {
		b.prove(ctx, p, &v)
	}
	return b.complete(v)
}

// What a verdict lacks whose context ended after the answer; this begins the message.
const (
	noWitness   = "no witness: "
	someWitness = "the witness is not complete: "
	noScheduler = "no scheduler was exported: "
)

// missing returns what a verdict lacks as soon as it has a value; empty for nothing.
func (e *exact) missing(v *result.Verdict) string {
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

// answered keeps an answer, in case the run ends before what else is asked for.
func (b *built) answered(v *result.Verdict) {
	if b.property == nil || b.property.keep == nil {
		return
	}
	kept := *v
	kept.Witnesses = slices.Clone(v.Witnesses)
	b.property.keep(b.complete(kept), b.missing(v))
}

// unfinished returns a verdict whose value is known and which lacks something else.
func unfinished(v result.Verdict, missing string, why *result.Failure) result.Verdict {
	f := *why
	f.Message = missing + f.Message
	v.Err = &f
	return v
}

// complete adds what all verdicts about the states have.
func (b *built) complete(v result.Verdict) result.Verdict {
	if b.fallback != nil {
		v.Warnings = append(slices.Clip(v.Warnings), "states were found slowly: "+b.fallback.Error())
	}
	if v.Accuracy == result.Estimated {
		v.Accuracy = result.Float
		v.Warnings = append(slices.Clip(v.Warnings), "iterated until a step was small, as asked for: the value may be off by any amount")
	}
	return v
}

// reduced checks a property on the quotient by what it speaks about; on the whole model,
// with a warning, if that does not preserve it.
func (b *built) reduced(ctx context.Context, p *check.Property) result.Verdict {
	start := time.Now()
	r, err := b.quotient(ctx, p)
	f, known := errors.AsType[*result.Failure](err)
	switch {
	case known && f.Class == result.Unsupported && b.wants.Partition == nil:
		v := b.checker.Check(ctx, p)
		v.Warnings = append(slices.Clip(v.Warnings), "not reduced: "+f.Message)
		return v
	case err != nil:
		return result.Verdict{Err: check.Failure(err, p.File, p.Pos)}
	}
	v := check.New(r.Space.Compiled(), r.Space, b.checking).Check(ctx, p)
	v.Seconds = time.Since(start).Seconds()
	return v
}

// quotient reduces the model for a property, by the partition that was given, and writes it where that was asked for.
func (b *built) quotient(ctx context.Context, p *check.Property) (*check.Reduced, error) {
	f := b.wants.Partition
	if f == nil {
		return check.Reduce(ctx, b.space.Compiled(), b.space, []*check.Property{p}, nil)
	}
	if f.Text == nil {
		r, err := check.Reduce(ctx, b.space.Compiled(), b.space, []*check.Property{p}, nil)
		if err != nil {
			return nil, err
		}
		return r, f.Write(f.File, func(w io.Writer) error { return check.WritePartition(ctx, w, b.space, r.Partition) })
	}
	given, err := check.ReadPartition(ctx, f.File, f.Text, b.space)
	if err != nil {
		return nil, err
	}
	r, err := check.Reduce(ctx, b.space.Compiled(), b.space, []*check.Property{p}, given)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: %w", f.File, err)
	}
	return r, err
}

// scheduled checks a property and writes its scheduler. That there is none is an
// error of the verdict, which keeps its value.
func (b *built) scheduled(ctx context.Context, p *check.Property) result.Verdict {
	if b.space.Program().Type == syntax.POMDP {
		a, v, err := b.checker.Automaton(ctx, p)
		if err == nil {
			err = b.export.Write(b.export.file, a.Write)
		}
		return unexported(p, v, err)
	}
	s, v, err := b.checker.Scheduler(ctx, p)
	if err == nil && s.Controller != nil {
		err = b.export.Write(b.export.file, func(w io.Writer) error {
			return scheduler.WriteController(ctx, w, s.Space, s.Controller, b.export.format, b.export.opt)
		})
	} else if err == nil && b.export.format == scheduler.Tree {
		err = b.decisions(ctx, p, s, &v)
	} else if err == nil {
		err = b.export.Write(b.export.file, func(w io.Writer) error {
			return scheduler.Write(ctx, w, s.Space, s.Choices, b.export.format, b.export.opt)
		})
	}
	return unexported(p, v, err)
}

// unexported notes in a verdict why there is no scheduler, if that is so.
func unexported(p *check.Property, v result.Verdict, err error) result.Verdict {
	if err != nil && v.Err == nil {
		return unfinished(v, noScheduler, check.Failure(err, p.File, p.Pos))
	}
	return v
}
