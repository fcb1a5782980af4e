package crosscheck

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/native/simulate"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/plan"
)

// DefaultMaxStates is how many states the strict check looks at by default.
const DefaultMaxStates = 5_000_000

// The random paths that stand in for the states of a large model.
const (
	randomPaths = 200
	randomSteps = 2000
)

// subject is a model that is checked.
type subject struct {
	job       runner.Job
	plan      *plan.Plan
	instances []*instance
}

// instance is a subject under one valuation of its constants.
type instance struct {
	valuation sema.Valuation
	program   *sema.Program  // nil if the model is wrong before its first state
	model     *compile.Model // nil unless it can be explored
	options   explicit.Options
	space     *explicit.Space // nil unless all states are known, and kept
	check     ModelCheck
}

func newSubject(job runner.Job) (*subject, error) {
	p, err := plan.New(&job)
	if err != nil {
		return nil, err
	}
	s := &subject{job: job, plan: p}
	for v := range p.Models() {
		s.instances = append(s.instances, &instance{
			valuation: v, check: ModelCheck{Model: job.File, Constants: plan.Constants(v)},
		})
	}
	return s, nil
}

// strict checks every instance of the model in all of its states. The states of
// one instance are kept for a diagnosis, those of many may be too many.
func (s *subject) strict(ctx context.Context, opt *Options) {
	for _, in := range s.instances {
		if err := in.build(ctx, s, opt); err != nil {
			in.reject(err, s.job.File)
		}
		if len(s.instances) > 1 {
			in.space = nil
		}
	}
}

// states returns the states of a valid instance.
func (in *instance) states(ctx context.Context) (*explicit.Space, error) {
	switch {
	case in.space != nil:
		return in.space, nil
	case in.check.Validity == Valid:
		return explicit.Build(ctx, in.model, in.options)
	case in.check.Failure != nil:
		return nil, in.check.Failure
	}
	return nil, &result.Failure{Class: result.Memory, Message: in.check.Note}
}

func (in *instance) build(ctx context.Context, s *subject, opt *Options) error {
	prog, err := s.plan.Model.Instantiate(in.valuation.Map())
	if err != nil {
		return err
	}
	in.program = prog
	refuse := s.job.NoFixDeadlocks || opt.NoDeadlocks
	m, err := compile.Compile(prog, compile.Options{NoFixDeadlocks: refuse})
	if err != nil {
		return err
	}
	in.model, in.options = m, explicit.Options{
		MaxStates: opt.MaxStates, MaxMemory: s.job.Numeric.MaxMemory, NoFixDeadlocks: refuse, Workers: s.job.Numeric.Workers,
	}
	if report := s.job.Progress; report != nil {
		in.options.Progress = func(p explicit.Progress) {
			report(runner.Progress{
				Constants: in.check.Constants, Done: int64(p.States), Unit: runner.States,
				Rate: float64(p.States) / max(p.Elapsed.Seconds(), 1e-9),
			})
		}
	}
	in.space, err = explicit.Build(ctx, m, in.options)
	if limit, ok := errors.AsType[*explicit.LimitError](err); ok {
		return in.walk(ctx, s, limit)
	}
	if err != nil {
		return err
	}
	g := in.space.Model()
	in.check.Validity = Valid
	in.check.States, in.check.Choices, in.check.Transitions = g.NumStates(), g.NumChoices(), g.NumTransitions()
	in.check.Deterministic = g.NumChoices() == g.NumStates()
	return nil
}

// walk follows random paths through a model with too many states.
func (in *instance) walk(ctx context.Context, s *subject, limit error) error {
	steps := 0
	for i := range uint64(randomPaths) {
		p, err := simulate.Walk(ctx, in.model, simulate.PathOptions{Steps: randomSteps, Seed: s.job.Simulation.Seed, Index: i})
		if err != nil {
			return err
		}
		steps += len(p.Steps)
		if p.End == simulate.AtDeadlock && in.options.NoFixDeadlocks {
			at := in.model.StateText(p.States[len(p.States)-1])
			return &result.Failure{Class: result.Deadlock, Message: "deadlock in state " + at, File: s.job.File}
		}
	}
	in.check.Validity = Sampled
	in.check.Note = fmt.Sprintf("%v; nothing was wrong in %d steps of %d random paths, which says nothing about other states", limit, steps, randomPaths)
	return nil
}

// reject says what came of the check. Errors of the model make it invalid,
// others only unchecked.
func (in *instance) reject(err error, file string) {
	in.check.Failure = check.Failure(err, file, syntax.Pos{})
	in.check.Validity = NotChecked
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		in.check.Failure = &result.Failure{Class: result.Build, Message: e.Msg, File: e.File, Pos: e.Pos}
		in.check.Validity = Broken
	}
	switch in.check.Failure.Class {
	case result.Model, result.Deadlock:
		in.check.Validity = Broken
	}
}

// question instantiates a property under a valuation to see what it asks.
func (in *instance) question(t *plan.Task, v sema.Valuation) *question {
	q := &question{nondet: !in.check.Deterministic}
	if in.program == nil || t.Rejected != nil {
		return q
	}
	switch in.program.Type {
	case syntax.DTMC, syntax.CTMC:
	default:
		q.mdp = true
	}
	props, full, err := t.Source.Props.Instantiate(in.program, []int{t.Index}, v.Map())
	if err != nil {
		return q
	}
	p := &simulate.Property{Property: props[0], Program: full, File: t.Source.File}
	if o, err := simulate.NewObjective(p, simulate.DefaultMaxPath); err == nil {
		q.objective = o
	}
	return q
}
