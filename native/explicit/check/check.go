package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Options says how to compute. The zero value is the default: bounds.
type Options struct {
	// Accuracy is what is wanted: Exact computes with fractions and refuses
	// what has none, Estimated stops iterations as other tools do, everything
	// else gives bounds.
	Accuracy result.Accuracy
	// Epsilon is the relative width of the bounds wanted; 0 is solve's default.
	Epsilon float64
	// MaxSweeps limits iterations; 0 is solve's default.
	MaxSweeps int
	// ExactStates is the greatest number of states for which fractions are
	// tried where bounds do not decide; 0 is 20,000, a negative one never.
	ExactStates int
	// Workers is as in explicit.Options.
	Workers int
	// Progress is told how far the computation of a property is.
	Progress func(solve.Progress)
}

func (o Options) exactStates() int {
	if o.ExactStates == 0 {
		return 20_000
	}
	return o.ExactStates
}

// Property is a property to check. Program is the one that
// sema.Properties.Instantiate returned with it: it has the labels of the
// properties file. File names that file in diagnostics.
type Property struct {
	sema.Property
	Program *sema.Program
	File    string
}

// Checker checks properties of one state space. It keeps what several
// properties need and is not safe for concurrent use.
type Checker struct {
	compiled *compile.Model
	opts     Options
	bounds   *model // doubles
	exact    *model // fractions; nil until needed
	wanted   *wanted
}

// model is a space with what was derived from it.
type model struct {
	space   *explicit.Space
	graph   *sparse.Graph
	rewards map[int]*sparse.Reward
}

func newModel(s *explicit.Space) *model {
	return &model{space: s, graph: sparse.NewGraph(s.Model()), rewards: map[int]*sparse.Reward{}}
}

// reward returns the rewards of a structure.
func (m *model) reward(index int) (*sparse.Reward, error) {
	if r := m.rewards[index]; r != nil {
		return r, nil
	}
	r, err := m.space.Reward(index)
	m.rewards[index] = r
	return r, err
}

// New returns a checker of a space that was built from a model. The space may be
// exact; otherwise an exact one is built when it is needed.
func New(m *compile.Model, s *explicit.Space, opts Options) *Checker {
	c := &Checker{compiled: m, opts: opts}
	if s.Model().Exact() {
		c.exact = newModel(s)
		c.bounds = c.exact
	} else {
		c.bounds = newModel(s)
	}
	return c
}

// Check evaluates a property. What goes wrong is the Err of the verdict, which
// lacks the fields that only the caller knows: Constants and Engine.
func (c *Checker) Check(ctx context.Context, p *Property) result.Verdict {
	start := time.Now()
	m := c.bounds.space.Model()
	v := result.Verdict{
		Property: p.Text, Name: p.Name, Method: "exact", Resolution: c.resolution(p.X),
		States: int64(m.NumStates()), Choices: int64(m.NumChoices()), Transitions: int64(m.NumTransitions()),
	}
	v.Warnings = append(v.Warnings, c.bounds.space.Warnings()...)
	if err := c.answer(ctx, p, &v); err != nil {
		v.Err = Failure(err, p.File, p.Pos)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// answer tries one accuracy after the other until the property is decided.
func (c *Checker) answer(ctx context.Context, p *Property, v *result.Verdict) error {
	x, several := p.X.(*sema.Multi)
	if n := c.bounds.space.Model().NumStates(); several && n > maxMultiStates {
		msg := fmt.Sprintf("found multi(...) for a model of %d states, of which more than %d are too many", n, maxMultiStates)
		return &result.Failure{Class: result.Unsupported, Message: msg, File: p.File, Pos: x.Pos()}
	}
	if several || c.opts.Accuracy == result.Exact {
		m, err := c.fractions(ctx)
		if err != nil {
			return err
		}
		return c.attempt(ctx, m, true, c.opts, p, v)
	}
	before := len(v.Warnings)
	err := c.attempt(ctx, c.bounds, false, c.opts, p, v)
	if err == nil && c.opts.Accuracy != result.Estimated && len(v.Warnings) == before {
		return c.narrow(ctx, p, v)
	}
	if c.opts.Accuracy == result.Estimated || !errors.As(err, new(*undecided)) {
		return err
	}
	opts := c.opts
	opts.Epsilon = 1e-13
	if err = c.attempt(ctx, c.bounds, false, opts, p, v); !errors.As(err, new(*undecided)) {
		return err
	}
	if n := c.bounds.space.Model().NumStates(); c.exact == nil && n > c.opts.exactStates() {
		return fmt.Errorf("%w; %d states are too many to try fractions", err, n)
	}
	m, why := c.fractions(ctx)
	if why != nil {
		return fmt.Errorf("%w, and there are no fractions: %w", err, why)
	}
	if again := c.attempt(ctx, m, true, opts, p, v); !errors.As(again, new(*inexact)) {
		return again
	}
	return err
}

// narrow computes a value again whose bounds are wider than asked for: the
// components of a model add up their widths.
func (c *Checker) narrow(ctx context.Context, p *Property, v *result.Verdict) error {
	opts := c.opts
	if opts.Epsilon == 0 {
		opts.Epsilon = solve.DefaultEpsilon
	}
	want, width := opts.Epsilon, relativeWidth(v)
	for width > want && opts.Epsilon > 1e-13 {
		opts.Epsilon *= min(want/width, 1) / 8
		again := *v
		if err := c.attempt(ctx, c.bounds, false, opts, p, &again); err != nil {
			return err
		}
		if len(again.Warnings) > len(v.Warnings) || !(relativeWidth(&again) < width) {
			return nil // the first bounds are as good as it gets
		}
		*v, width = again, relativeWidth(&again)
	}
	return nil
}

// relativeWidth is 0 for a verdict without bounds that could be narrower.
func relativeWidth(v *result.Verdict) float64 {
	if b := v.Bound; b != nil && v.Accuracy == result.Bounded && v.Value.Kind == result.Number && b.Hi > b.Lo {
		return (b.Hi - b.Lo) / max(math.Abs(b.Lo), math.Abs(b.Hi))
	}
	return 0
}

// fractions builds the exact space, unless it is there.
func (c *Checker) fractions(ctx context.Context) (*model, error) {
	if c.exact != nil {
		return c.exact, nil
	}
	if c.bounds.space.Imported() {
		return nil, &inexact{msg: "the files of states were read without fractions"}
	}
	s, err := explicit.Build(ctx, c.compiled, explicit.Options{Exact: true, Workers: c.opts.Workers})
	if err != nil {
		return nil, err
	}
	c.exact = newModel(s)
	return c.exact, nil
}

// attempt evaluates the property once and writes the answer to v.
func (c *Checker) attempt(ctx context.Context, m *model, exact bool, opts Options, p *Property, v *result.Verdict) error {
	e := &evaluation{
		ctx: ctx, model: m, p: p, exact: exact, accuracy: result.Exact,
		opts: solve.Options{Epsilon: opts.Epsilon, MaxSweeps: opts.MaxSweeps, Classic: opts.Accuracy == result.Estimated, Progress: opts.Progress},
	}
	e.wanted = c.wanted
	value, bound, err := e.property()
	if err != nil {
		return err
	}
	v.Value, v.Bound, v.Accuracy = value, bound, e.accuracy
	v.Warnings = append(v.Warnings, e.warnings...)
	return nil
}

// resolution says how a property resolves nondeterminism, as far as that is the
// business of its outermost operator.
func (c *Checker) resolution(x sema.Expr) result.Resolution {
	if m := c.bounds.space.Model(); m.Kind != sparse.MDP || m.NumChoices() == m.NumStates() {
		return result.NoNondet
	}
	switch x := x.(type) {
	case *sema.Filter:
		return c.resolution(x.X)
	case *sema.Prob:
		return resolutionOf(x.Threshold)
	case *sema.Reward:
		return resolutionOf(x.Threshold)
	}
	return result.ResolutionUnknown
}

func resolutionOf(t sema.Threshold) result.Resolution {
	dir, ok := direction(t, false)
	switch {
	case !ok:
		return result.ResolutionUnknown
	case dir == solve.Min:
		return result.Minimum
	}
	return result.Maximum
}

// direction returns which schedulers an operator speaks about: those of the
// query, or, for a bound, the worst of all, or the best if some scheduler is to
// keep it. It reports false for a query that does not say.
func direction(t sema.Threshold, some bool) (solve.Direction, bool) {
	if t.Query() {
		if t.Extremum == syntax.Min {
			return solve.Min, true
		}
		return solve.Max, t.Extremum == syntax.Max
	}
	least := t.Rel == syntax.OpGt || t.Rel == syntax.OpGe
	if least != some {
		return solve.Min, true
	}
	return solve.Max, true
}
