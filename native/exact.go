package native

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/native/explicit/solve"
	"tilecheck/prism/compile"
	"tilecheck/result"
	"tilecheck/runner"
)

// exact is the method of building the state space.
type exact struct {
	build    explicit.Options
	opt      check.Options
	progress func(runner.Progress)
}

func newExact(job *runner.Job) (*exact, error) {
	num := &job.Numeric
	switch {
	case num.Epsilon < 0 || num.Epsilon >= 1:
		return nil, fmt.Errorf("epsilon %v: want a relative width between 0 and 1", num.Epsilon)
	case num.MaxStates < 0 || num.MaxMemory < 0 || num.Workers < 0:
		return nil, fmt.Errorf("limits of %d states, %d bytes, %d workers: want positive numbers", num.MaxStates, num.MaxMemory, num.Workers)
	}
	return &exact{
		progress: job.Progress,
		build: explicit.Options{
			MaxStates: num.MaxStates, MaxMemory: num.MaxMemory, NoFixDeadlocks: job.NoFixDeadlocks,
			Exact: num.Accuracy == result.Exact, Workers: num.Workers,
		},
		opt: check.Options{Accuracy: accuracy(num.Accuracy), Epsilon: num.Epsilon, Workers: num.Workers},
	}, nil
}

// accuracy is what package check calls it: only iteration without bounds makes
// a value merely estimated.
func accuracy(asked result.Accuracy) result.Accuracy {
	switch asked {
	case result.Exact:
		return result.Exact
	case result.Float, result.Estimated:
		return result.Estimated
	}
	return result.Bounded
}

func (x *exact) instance(ctx context.Context, m *compile.Model, constants []result.Constant) (instance, error) {
	opts := x.build
	if x.progress != nil {
		opts.Progress = func(p explicit.Progress) {
			x.progress(runner.Progress{
				Constants: constants, Done: int64(p.States), Unit: runner.States,
				Rate: float64(p.States) / max(p.Elapsed.Seconds(), 1e-9),
			})
		}
	}
	space, err := explicit.Build(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	in := &built{exact: x}
	opt := x.opt
	if x.progress != nil {
		opt.Progress = in.report
	}
	in.checker = check.New(m, space, opt)
	return in, nil
}

// built is an instance whose states are known.
type built struct {
	*exact
	checker   *check.Checker
	property  string // being checked
	constants []result.Constant
}

func (b *built) report(p solve.Progress) {
	b.progress(runner.Progress{Property: b.property, Constants: b.constants, Done: int64(p.Done), Target: int64(p.Total), Unit: runner.States})
}

func (b *built) check(ctx context.Context, p *property, constants []result.Constant) result.Verdict {
	b.property, b.constants = p.Text, constants
	v := b.checker.Check(ctx, &check.Property{Property: p.Property, Program: p.program, File: p.file})
	if v.Accuracy == result.Estimated {
		v.Accuracy = result.Float
		v.Warnings = append(slices.Clip(v.Warnings), "iterated until a step was small, as asked for: the value may be off by any amount")
	}
	return v
}
