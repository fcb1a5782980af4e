package check

import (
	"context"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
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
	// Fair restricts the schedulers of an MDP to fair ones.
	Fair bool
	// Progress is told how far the computation of a property is.
	Progress func(progress.Progress)
	// Answered is told every answer of Check, before more is made of it.
	Answered func(*result.Verdict)
	// Beliefs is as in belief.Options, for partially observable models.
	Beliefs int
	// Solver is asked for bounds first, if there is one; nil is package solve.
	Solver Solver
}

// Solver computes bounds for the model of the space, as package solve does, where somebody
// has a use for them. nil values are none: then package solve is asked.
type Solver interface {
	Until(ctx context.Context, left, right *sparse.Set, dir solve.Direction) (*solve.Values, error)
	ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, dir solve.Direction) (*solve.Values, error)
}

// epsilon returns the relative width wanted.
func (o Options) epsilon() float64 {
	if o.Epsilon > 0 {
		return o.Epsilon
	}
	return solve.DefaultEpsilon
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
	played   *beliefs // of the last answer
	// valued says that the values in all states are wanted, and values has them.
	valued bool
	values *StateValues
}

// model is a space with what was derived from it.
type model struct {
	space   *explicit.Space
	graph   *sparse.Graph
	rewards map[int]*sparse.Reward
	// seen has what a partially observable model shows, once that was asked for.
	seen *explicit.Observations
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
	if err != nil { // what there is of it is not kept: it has no value
		return nil, err
	}
	m.rewards[index] = r
	return r, nil
}

// Reward returns the rewards of a structure, which are evaluated once.
func (c *Checker) Reward(index int) (*sparse.Reward, error) { return c.bounds.reward(index) }

// New returns a checker of a space that was built from a model. The space may be
// exact; otherwise an exact one is built when it is needed.
func New(m *compile.Model, s *explicit.Space, opts Options) *Checker {
	c := &Checker{compiled: m, opts: opts}
	if s.Model().Exact() && !s.Normalised() {
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
	v.Warnings = append(v.Warnings, c.differences(p)...)
	v.Seconds = time.Since(start).Seconds()
	if c.opts.Answered != nil && v.Err == nil {
		c.opts.Answered(&v)
	}
	return v
}

// resolution says how a property resolves nondeterminism, as far as that is the
// business of its outermost operator.
func (c *Checker) resolution(x sema.Expr) result.Resolution {
	switch m := c.bounds.space.Model(); {
	case c.bounds.space.Overlaps() > 0:
		return result.Uniform
	case m.Kind != sparse.MDP || m.NumChoices() == m.NumStates():
		return result.NoNondet
	}
	if f := logic.WithoutFilters(x); f.Measure() {
		return resolutionOf(f.Threshold)
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

// direction returns which schedulers an operator speaks about, as sema says it.
func direction(t sema.Threshold, some bool) (solve.Direction, bool) {
	least, ok := t.Least(some)
	if least {
		return solve.Min, ok
	}
	return solve.Max, ok
}
