package crosscheck

import (
	"context"
	"math"

	"tilecheck/native/explicit"
	"tilecheck/native/simulate"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/agree"
	"tilecheck/verify/validity"
)

// DefaultMaxStates is how many states the strict check looks at by default.
const DefaultMaxStates = 5_000_000

// subject is a model that is checked.
type subject struct {
	plan      *runner.Plan
	instances []*instance
}

// instance is a subject under one valuation of its constants.
type instance struct {
	*validity.Instance // nil until it is checked
	valuation          sema.Valuation
	check              ModelCheck
}

func subjectOf(p *runner.Plan, err error) (*subject, error) {
	if err != nil {
		return nil, err
	}
	s := &subject{plan: p}
	for v := range p.Models() {
		s.instances = append(s.instances, &instance{
			valuation: v, check: ModelCheck{Model: p.Job.File, Constants: runner.Constants(v)},
		})
	}
	return s, nil
}

// strict checks every instance of the model in all of its states. The states of
// one instance are kept for a diagnosis, those of many may be too many.
func (s *subject) strict(ctx context.Context, opt *Options) {
	for _, in := range s.instances {
		if in.strict(ctx, s.plan, opt); len(s.instances) > 1 {
			in.Forget()
		}
	}
}

func (in *instance) strict(ctx context.Context, plan *runner.Plan, opt *Options) {
	limits := validity.Limits{MaxStates: opt.MaxStates, NoDeadlocks: opt.NoDeadlocks}
	in.Instance = opt.Checker.Instance(ctx, plan, in.valuation, limits)
	in.check = in.Check
}

// space returns the states, with fractions if they are asked for.
func (in *instance) space(ctx context.Context, exact bool) (*explicit.Space, error) {
	if exact {
		return in.Exact(ctx)
	}
	return in.Space(ctx)
}

// question says what a property asks under a valuation. Its bound may be an
// expression over constants of the model.
func (in *instance) question(t *runner.Task, v sema.Valuation, constants []result.Constant) agree.Question {
	q := agree.About(t.Property.X, constants)
	if in.Program == nil || t.Rejected != nil {
		return q
	}
	switch in.Program.Type {
	case syntax.DTMC, syntax.CTMC:
	default:
		q.Choices, q.NoChoices = !in.check.Deterministic, in.check.Deterministic
	}
	props, full, err := t.Source.Props.Instantiate(in.Program, []int{t.Index}, v.Map())
	if err != nil {
		return q
	}
	p := &simulate.Property{Property: props[0], Program: full, File: t.Source.File}
	o, err := simulate.NewObjective(p, simulate.DefaultMaxPath)
	if err != nil { // nothing says that samples of it are independent paths
		q.Operator, q.Bound = 0, math.NaN()
		return q
	}
	q.Rel, q.Bound = o.Rel, o.Bound
	return q
}
