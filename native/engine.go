package native

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"tilecheck/internal/ending"
	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Name is what the engine calls itself.
const Name = "native"

// Engine is the embedded engine. It has no state and is safe for concurrent use.
type Engine struct{}

var _ runner.Engine = (*Engine)(nil)

// New returns the engine.
func New() *Engine { return &Engine{} }

// Name implements runner.Engine.
func (*Engine) Name() string { return Name }

// Check implements runner.Engine.
func (*Engine) Check(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	return await(ctx, plan, func(r *run) error {
		method, err := newMethod(r.plan)
		if err != nil {
			return err
		}
		if over, ok := method.(*exact); ok {
			over.tree = plan.Tree
		}
		if len(plan.Params) > 0 {
			return r.parametric(method)
		}
		if plan.Job.States == nil {
			r.build = func(model sema.Valuation) (*sema.Program, instance, error) { return r.compile(method, model) }
			return r.all()
		}
		space, err := explicit.Given(ctx, plan.Job.States, fractionsOf(method, plan))
		if err != nil {
			return err
		}
		if m := space.Declares(); m != plan.Model {
			if err := r.over(m); err != nil {
				return err
			}
		}
		r.build = func(sema.Valuation) (*sema.Program, instance, error) {
			return space.Program(), method.known(space), ctx.Err()
		}
		return r.all()
	})
}

// fractionsOf returns the fractions of states that a plan needs: beliefs are computed with fractions, too.
func fractionsOf(m method, plan *runner.Plan) explicit.Fractions {
	switch num := &plan.Job.Numeric; {
	case !m.fractions() && plan.Model.ModelType() != syntax.POMDP:
		return explicit.NoFractions
	case accuracy(num) == result.Exact || num.Accuracy == result.Proven:
		return explicit.StrictFractions
	}
	return explicit.Normalised
}

// Build builds the states of a plan's model under a valuation of its constants, as Check does.
func (*Engine) Build(ctx context.Context, p *runner.Plan, v sema.Valuation) (*explicit.Space, error) {
	if _, err := newExact(p); err != nil {
		return nil, err
	}
	m, err := load.Instance(p, v)
	if err != nil {
		return nil, err
	}
	return explicit.Build(ctx, m, load.Options(&p.Job))
}

// over checks the properties against the declarations of another space.
func (r *run) over(m *sema.Model) error {
	p, err := r.plan.Over(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.plan = p
	}
	return err
}

// method is a way to check the properties of an instance of the model.
type method interface {
	// instance prepares what all properties of an instance need. The error is
	// that of every property.
	instance(ctx context.Context, m *compile.Model) (instance, error)
	// known is the instance that states are which are there already, read with fractions
	// if the method says that it wants them.
	known(space *explicit.Space) instance
	fractions() bool
}

// instance checks one property at a time.
type instance interface {
	check(ctx context.Context, p *property) result.Verdict
}

// property is a property to check.
type property struct {
	runner.Instance
	// constants are all, of the model and of the property.
	constants []result.Constant
	// keep notes the answer before more is made of it, and what the verdict lacks until
	// then; nil if nobody wants to know.
	keep func(v result.Verdict, missing string)
}

// newMethod returns the method that a job asks for.
func newMethod(plan *runner.Plan) (method, error) {
	job := &plan.Job
	if job.Method == "" || job.Method == runner.States {
		return newExact(plan)
	}
	return newStatistical(job)
}

// run collects the verdicts of a plan.
type run struct {
	*shared
	ctx   context.Context
	plan  *runner.Plan
	build func(model sema.Valuation) (*sema.Program, instance, error)
}

// all checks everything.
func (r *run) all() error {
	if n := r.plan.Verdicts(); n != 1 {
		switch {
		case r.plan.Job.Scheduler != nil:
			return fmt.Errorf("--export-scheduler writes the scheduler of one property under one valuation of the constants, found %d: want --select with one property, --const with one value each", n)
		case r.plan.Job.Partition != nil:
			return fmt.Errorf("a partition is that of one property under one valuation of the constants, found %d", n)
		}
	}
	return r.instances()
}

func (r *run) instances() error {
	c := r.plan.Job.Certificate
	if c != nil {
		n := 0
		for range r.plan.Models() {
			n++
		}
		if n != 1 {
			return fmt.Errorf("certificates are written of one model, found %d valuations of its constants", n)
		}
	}
	for model := range r.plan.Models() {
		in := r.instance(model)
		if b, ok := in.(*built); ok && c != nil && r.ctx.Err() == nil {
			if err := b.proofs.write(r.ctx, c); err != nil {
				return fmt.Errorf("write certificates: %w", err)
			}
		}
	}
	return nil
}

// instance checks every property under one valuation of the model's constants.
func (r *run) instance(model sema.Valuation) instance {
	prog, in, err := r.build(model)
	fresh := true
	for _, t := range r.plan.Tasks {
		for property, constants := range valuations(t, model) {
			switch {
			case t.Rejected != nil:
				r.add(t, constants, result.Verdict{Err: failure(t.Rejected, t.Class, t.Source.File, t.Pos)})
			case err != nil:
				r.add(t, constants, result.Verdict{Err: failure(err, result.Build, r.plan.Job.File, syntax.Pos{})})
			default:
				v := r.property(t, prog, in, property, constants)
				if !fresh && v.Err != nil && v.Err.Class == result.Memory && r.plan.Job.Certificate == nil && r.ctx.Err() == nil {
					// What other properties needed must not matter: an instance keeps much of it.
					in = nil
					if prog, in, err = r.build(model); err != nil {
						r.add(t, constants, result.Verdict{Err: failure(err, result.Build, r.plan.Job.File, syntax.Pos{})})
						continue
					}
					v = r.property(t, prog, in, property, constants)
				}
				fresh = false
				r.add(t, constants, v)
			}
		}
	}
	return in
}

// valuations yields those of the constants of a task's property, with all
// constants of the verdict. A task that is rejected has one.
func valuations(t *runner.Task, model sema.Valuation) iter.Seq2[sema.Valuation, []result.Constant] {
	return func(yield func(sema.Valuation, []result.Constant) bool) {
		if t.Rejected != nil {
			yield(nil, runner.Constants(model))
			return
		}
		for property := range t.Valuations() {
			if !yield(property, runner.Constants(model, property)) {
				return
			}
		}
	}
}

// complete adds what every verdict has.
func (r *run) complete(t *runner.Task, constants []result.Constant, v result.Verdict) result.Verdict {
	v.Property, v.Name = t.Text, t.Name
	v.Engine, v.Constants = Name, constants
	v.Warnings = append(slices.Clip(r.plan.Warnings), v.Warnings...)
	return v
}

// compile makes an instance of the job's model.
func (r *run) compile(method method, model sema.Valuation) (*sema.Program, instance, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, nil, err
	}
	prog, err := r.plan.Model.Instantiate(model.Map())
	if err != nil {
		return nil, nil, err
	}
	return r.closed(method, prog)
}

// closed makes an instance of a program without parameters.
func (r *run) closed(method method, prog *sema.Program) (*sema.Program, instance, error) {
	if prog.Type == syntax.PTA {
		in, err := newTimed(method, prog)
		return prog, in, err
	}
	m, err := load.Compile(prog, &r.plan.Job)
	if err != nil {
		return nil, nil, err
	}
	in, err := method.instance(r.ctx, m)
	return prog, in, err
}

// property checks one property of an instance. It is given up alone if it takes too much memory.
func (r *run) property(t *runner.Task, prog *sema.Program, in instance, valuation sema.Valuation, constants []result.Constant) result.Verdict {
	if err := r.ctx.Err(); err != nil {
		return result.Verdict{Err: failure(err, result.Other, t.Source.File, t.Pos)}
	}
	of, err := t.Instance(prog, valuation)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Constants, t.Source.File, t.Pos)}
	}
	if len(r.plan.Params) > 0 {
		if err := independent(prog, in, t, valuation); err != nil {
			return result.Verdict{Err: failure(err, result.Unsupported, t.Source.File, t.Pos)}
		}
	}
	var warnings []string
	for _, w := range of.Program.Warnings {
		warnings = append(warnings, w.Error())
	}
	ctx, done := ending.Part(r.ctx)
	defer done()
	v := in.check(ctx, &property{of, constants, func(v result.Verdict, missing string) {
		v.Warnings = slices.Concat(warnings, v.Warnings)
		r.keep(&incomplete{v, missing})
	}})
	v.Warnings = append(warnings, v.Warnings...)
	return v
}

// failure is check.Failure for errors that may also be diagnostics of a file;
// those get the class given, and the first one's place.
func failure(err error, class result.Class, file string, at syntax.Pos) *result.Failure {
	if d, ok := errors.AsType[*syntax.Error](err); ok {
		return &result.Failure{Class: class, Message: d.Msg, File: d.File, Pos: d.Pos}
	}
	return check.Failure(err, file, at)
}
