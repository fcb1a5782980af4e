package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
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

	maxWork int // as in solve.Options
}

// Solver computes bounds for the model of the space, as package solve does, where somebody
// has a use for them. nil values are none: then package solve is asked.
type Solver interface {
	Until(ctx context.Context, left, right *sparse.Set, dir solve.Direction) (*solve.Values, error)
	ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, dir solve.Direction) (*solve.Values, error)
}

const (
	// least is the least relative width that is asked of doubles.
	least = 1e-13
	// maxWork is how many operations fractions may take to improve an answer: some
	// seconds' worth.
	maxWork = 1 << 29
	// manyOperations is how many operations fractions may take before a quotient is tried, of
	// a model of at most reducedStates: a quarter of a minute's worth.
	manyOperations = 1 << 33
	reducedStates  = 1 << 20
)

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

// answer tries one accuracy after the other until the property is decided.
func (c *Checker) answer(ctx context.Context, p *Property, v *result.Verdict) error {
	if c.bounds.space.Program().Type == syntax.POMDP {
		return c.partially(ctx, p, v)
	}
	if c.opts.Accuracy == result.Exact {
		m, err := c.fractions(ctx)
		if err != nil {
			return err
		}
		out, err := c.lighter(ctx, m, p, v, manyOperations)
		return c.write(out, v, err)
	}
	if why := c.bounds.space.Unfit(); why != nil {
		return c.instead(ctx, why, p, v)
	}
	if _, is := p.X.(*sema.Multi); is {
		return c.several(ctx, p, v)
	}
	err := c.enclose(ctx, p, v)
	if why, ok := errors.AsType[*explicit.RangeError](err); ok {
		return c.instead(ctx, why, p, v)
	}
	return err
}

// lighter answers with fractions: where that takes much work, on the quotient by what
// cannot be told apart, if it has at most half as many states.
func (c *Checker) lighter(ctx context.Context, m *model, p *Property, v *result.Verdict, work int) (*outcome, error) {
	n, opts := m.space.Model().NumStates(), c.opts
	if n > reducedStates || c.valued || c.wanted != nil || m.space.Closed() {
		return c.attempt(ctx, m, true, opts, p)
	}
	opts.maxWork = work
	out, why := c.attempt(ctx, m, true, opts, p)
	if !errors.Is(why, solve.ErrWork) && !errors.Is(why, solve.ErrFill) {
		return out, why
	}
	r, err := Reduce(ctx, c.compiled, m.space, []*Property{p}, nil)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err == nil && r.Space.Model().NumStates() <= n/2:
		v.Warnings = append(v.Warnings, fmt.Sprintf("computed on the quotient of %d states that cannot be told apart", r.Space.Model().NumStates()))
		q := New(r.Space.Compiled(), r.Space, c.opts)
		return q.attempt(ctx, q.exact, true, q.opts, p)
	case errors.Is(why, solve.ErrFill):
		return nil, why
	}
	return c.attempt(ctx, m, true, c.opts, p)
}

// several answers multi(…): with fractions if the model is small, or where bounds do
// not tell.
func (c *Checker) several(ctx context.Context, p *Property, v *result.Verdict) error {
	if c.bounds.space.Model().NumStates() <= smallMulti {
		out, err := c.exactly(ctx, p, true)
		if !errors.As(err, new(*unavailable)) && !errors.Is(err, solve.ErrWork) {
			return c.write(out, v, err)
		}
	}
	opts := c.opts
	opts.Epsilon = opts.epsilon()
	m := c.bounds
	best, err := c.attempt(ctx, m, false, opts, p)
	if errors.Is(err, errMixed) {
		if m, err = c.fractions(ctx); err != nil {
			return err
		}
		best, err = c.attempt(ctx, m, false, opts, p)
	}
	if err == nil {
		best = c.narrow(ctx, m, p, best)
	}
	if errors.As(err, new(*undecided)) || err == nil && best.width > opts.Epsilon {
		if exact, why := c.exactly(ctx, p, true); why == nil {
			best, err = exact, nil
		} else if ctx.Err() != nil {
			return why
		}
	}
	return c.write(best, v, err)
}

// instead answers with fractions, for the model has numbers that doubles are no
// good for.
func (c *Checker) instead(ctx context.Context, why error, p *Property, v *result.Verdict) error {
	out, err := c.exactly(ctx, p, false)
	if errors.As(err, new(*unavailable)) {
		return fmt.Errorf("%w%w", why, err)
	}
	return c.write(out, v, err)
}

// enclose answers with bounds: more and more narrow ones, and then fractions, until
// the property is decided, and its value known as well as was asked for.
func (c *Checker) enclose(ctx context.Context, p *Property, v *result.Verdict) error {
	want := c.opts.epsilon()
	best, err := c.attempt(ctx, c.bounds, false, c.opts, p)
	if errors.As(err, new(*untimed)) { // squaring may do
		if out, why := c.exactly(ctx, p, false); why == nil {
			return c.write(out, v, nil)
		} else if ctx.Err() != nil {
			return why
		}
	}
	open := errors.As(err, new(*undecided))
	if err != nil && !open || c.opts.Accuracy == result.Estimated {
		return c.write(best, v, err)
	}
	if open {
		opts := c.opts
		opts.Epsilon = least
		if best, err = c.attempt(ctx, c.bounds, false, opts, p); err != nil && !errors.As(err, new(*undecided)) {
			return err
		}
	}
	if err == nil {
		best = c.narrow(ctx, c.bounds, p, best)
	}
	if err == nil && best.width <= want {
		return c.write(best, v, nil)
	}
	exact, why := c.exactly(ctx, p, err == nil)
	switch {
	case why == nil && (best == nil || exact.width < best.width):
		best, err = exact, nil
	case err != nil && (errors.As(why, new(*inexact)) || errors.As(why, new(*untimed))):
		return err
	case err != nil && errors.As(why, new(*unavailable)):
		return fmt.Errorf("%w%w", err, why)
	case err != nil:
		return why
	}
	return c.write(best, v, err)
}

// unavailable says why fractions are not tried.
type unavailable struct{ why error }

func (u *unavailable) Error() string { return u.why.Error() }

func (u *unavailable) Unwrap() error { return u.why }

// exactly answers with fractions, and with bounds where there are none. An answer
// that is there to be improved limits the work.
func (c *Checker) exactly(ctx context.Context, p *Property, limited bool) (*outcome, error) {
	// What other properties needed must not matter.
	if m := c.bounds.space.Model(); m.NumStates() > c.opts.exactStates() && (!m.Exact() || limited) {
		n := m.NumStates()
		return nil, &unavailable{fmt.Errorf("; %d states are too many to try fractions", n)}
	}
	m, err := c.fractions(ctx)
	if err != nil {
		return nil, &unavailable{fmt.Errorf(", and there are no fractions: %w", err)}
	}
	opts := c.opts
	opts.Epsilon = least
	if limited {
		opts.maxWork = maxWork
	}
	return c.attempt(ctx, m, true, opts, p)
}

// narrow computes a value again whose bounds are wider than asked for: the
// components of a model add up their widths.
func (c *Checker) narrow(ctx context.Context, m *model, p *Property, best *outcome) *outcome {
	want, opts := c.opts.epsilon(), c.opts
	opts.Epsilon = want
	for best.width > want && opts.Epsilon > least && !best.gaveUp {
		opts.Epsilon = max(opts.Epsilon*min(want/best.width, 1)/8, least)
		again, err := c.attempt(ctx, m, false, opts, p)
		if err != nil || !(again.width < best.width) {
			break // these bounds are as good as it gets
		}
		best = again
	}
	return best
}

// fractions builds the exact space, unless it is there.
func (c *Checker) fractions(ctx context.Context) (*model, error) {
	if c.exact != nil {
		return c.exact, nil
	}
	normalise := c.opts.Accuracy != result.Exact && c.bounds.space.Program().Type == syntax.POMDP
	if normalise && c.bounds.space.Normalised() { // it has fractions, read from files
		return c.bounds, nil
	}
	if c.bounds.space.Closed() {
		return nil, &inexact{msg: "the states were read or restricted without fractions"}
	}
	s, err := explicit.Build(ctx, c.compiled, explicit.Options{
		Exact: true, Workers: c.opts.Workers, Normalise: normalise,
	})
	if err != nil {
		return nil, err
	}
	c.exact = newModel(s)
	return c.exact, nil
}

// attempt evaluates the property once. With fractions, what has none has bounds
// unless Options.Accuracy refuses them.
func (c *Checker) attempt(ctx context.Context, m *model, exact bool, opts Options, p *Property) (*outcome, error) {
	e := &evaluation{
		ctx: ctx, model: m, p: p, onlyFair: c.opts.Fair, solver: c.opts.Solver, exact: exact, mixed: opts.Accuracy != result.Exact, accuracy: result.Exact, budget: cmp.Or(c.opts.Beliefs, belief.DefaultBeliefs),
		opts: solve.Options{
			Epsilon: opts.Epsilon, MaxSweeps: opts.MaxSweeps, Classic: opts.Accuracy == result.Estimated,
			Exact: exact, MaxWork: opts.maxWork, Progress: opts.Progress,
		},
		repeated: sema.Repeated(p.X, 0, sema.Operands), truths: map[sema.Expr]*truth{}, values: map[sema.Expr]**numbers{},
	}
	if c.wanted != nil || exact || opts.Accuracy != result.Bounded {
		e.solver = nil
	}
	if c.wanted != nil {
		e.wanted = &wanted{operator: c.wanted.operator}
	}
	e.valued = c.valued
	value, bound, err := e.property()
	if err != nil {
		return nil, err
	}
	return &outcome{value, bound, e.accuracy, e.width, e.gaveUp, e.extended, e.wanted, e.listings, e.beliefs, e.kept}, nil
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
	switch x := x.(type) {
	case *sema.Filter:
		return c.resolution(x.X)
	case *sema.Prob:
		return resolutionOf(x.Threshold)
	case *sema.Reward:
		return resolutionOf(x.Threshold)
	case *sema.Steady:
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

// direction returns which schedulers an operator speaks about, as sema says it.
func direction(t sema.Threshold, some bool) (solve.Direction, bool) {
	least, ok := t.Least(some)
	if least {
		return solve.Min, ok
	}
	return solve.Max, ok
}
