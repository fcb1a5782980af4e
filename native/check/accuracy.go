package check

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// sequence is an order of attempts to answer a property. An attempt ends the sequence if it decides the property, and if the
// bounds of the value are as narrow as wanted; otherwise the next one follows.
//
//	sequence       | when                                       | attempts
//	---------------+--------------------------------------------+----------------------------------------------------------
//	searchBeliefs  | the model is partially observable          | beliefs
//	exactOnly      | fractions are asked for                    | fractions; fractions of the quotient if they take too long
//	outOfRange     | the model has numbers beyond float64       | fractions
//	multiObjective | the property is multi(...)                 | fractions of a small model; bounds; narrower; fractions
//	enclose        | every other property                       | bounds; the narrowest bounds if undecided; narrower; fractions
//
// enclose goes on with outOfRange if it meets a number beyond float64 on the way, and tries fractions first if a time bound
// takes too many steps. Estimated values end after the first bounds.
type sequence uint8

const (
	enclose sequence = iota
	searchBeliefs
	exactOnly
	outOfRange
	multiObjective
)

// sequence returns how a property is answered.
func (c *Checker) sequence(p *Property) sequence {
	switch {
	case c.bounds.space.Program().Type == syntax.POMDP:
		return searchBeliefs
	case c.opts.Accuracy == result.Exact:
		return exactOnly
	case c.bounds.space.Unfit() != nil:
		return outOfRange
	case logic.Of(p.X).Kind == logic.Objectives:
		return multiObjective
	}
	return enclose
}

// precision is how one attempt computes.
type precision struct {
	exact   bool    // with fractions, and not with bounds
	epsilon float64 // the relative width of bounds; 0 is the default of package solve
	maxWork int     // the number of operations that fractions may take; 0 is no limit
}

const (
	// leastEpsilon is the least relative width of bounds that is asked of float64 numbers.
	leastEpsilon = 1e-13
	// improvingWork limits fractions that only improve an answer: it takes some seconds.
	improvingWork = 1 << 29
	// quotientWork is the number of operations after which fractions of a model with at most quotientStates states are
	// computed on its quotient: it takes a quarter of a minute.
	quotientWork   = 1 << 33
	quotientStates = 1 << 20
	// smallMulti is the number of states of a model for which multi(...) is tried with fractions first.
	smallMulti = 128
)

// The precisions that do not depend on the options.
var (
	narrowestBounds = precision{epsilon: leastEpsilon}
	anyFractions    = precision{exact: true, epsilon: leastEpsilon}
	cheapFractions  = precision{exact: true, epsilon: leastEpsilon, maxWork: improvingWork}
)

// answer makes attempts until the property is decided, and writes the answer to the verdict.
func (c *Checker) answer(ctx context.Context, p *Property, v *result.Verdict) error {
	switch c.sequence(p) {
	case searchBeliefs:
		return c.searchBeliefs(ctx, p, v)
	case exactOnly:
		return c.exactOnly(ctx, p, v)
	case outOfRange:
		return c.outOfRange(ctx, c.bounds.space.Unfit(), p, v)
	case multiObjective:
		return c.multiObjective(ctx, p, v)
	}
	err := c.enclose(ctx, p, v)
	if why, ok := errors.AsType[*explicit.RangeError](err); ok {
		return c.outOfRange(ctx, why, p, v)
	}
	return err
}

// searchBeliefs answers for a partially observable model. Beliefs are fractions, also if bounds are asked for.
func (c *Checker) searchBeliefs(ctx context.Context, p *Property, v *result.Verdict) error {
	m, err := c.fractions(ctx)
	if err != nil {
		return err
	}
	out, err := c.attempt(ctx, m, precision{exact: c.opts.Accuracy == result.Exact, epsilon: c.opts.Epsilon}, p)
	return c.write(out, v, err)
}

func (c *Checker) exactOnly(ctx context.Context, p *Property, v *result.Verdict) error {
	m, err := c.fractions(ctx)
	if err != nil {
		return err
	}
	out, err := c.fractionsOrQuotient(ctx, m, p, v, quotientWork)
	return c.write(out, v, err)
}

// fractionsOrQuotient computes fractions. If they take more work than given, it computes them on the quotient, if that has at
// most half as many states.
func (c *Checker) fractionsOrQuotient(ctx context.Context, m *model, p *Property, v *result.Verdict, work int) (*outcome, error) {
	n, unlimited := m.space.Model().NumStates(), precision{exact: true, epsilon: c.opts.Epsilon}
	if n > quotientStates || c.wantsValues || c.wanted != nil || m.space.Closed() {
		return c.attempt(ctx, m, unlimited, p)
	}
	limited := unlimited
	limited.maxWork = work
	out, why := c.attempt(ctx, m, limited, p)
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
		return q.attempt(ctx, q.exact, unlimited, p)
	case errors.Is(why, solve.ErrFill):
		return nil, why
	}
	return c.attempt(ctx, m, unlimited, p)
}

// outOfRange computes fractions, because the model has numbers that float64 cannot represent.
func (c *Checker) outOfRange(ctx context.Context, why error, p *Property, v *result.Verdict) error {
	out, err := c.tryFractions(ctx, p, anyFractions)
	if errors.As(err, new(*unavailable)) {
		return fmt.Errorf("%w%w", why, err)
	}
	return c.write(out, v, err)
}

func (c *Checker) multiObjective(ctx context.Context, p *Property, v *result.Verdict) error {
	if c.bounds.space.Model().NumStates() <= smallMulti {
		out, err := c.tryFractions(ctx, p, cheapFractions)
		if !errors.As(err, new(*unavailable)) && !errors.Is(err, solve.ErrWork) {
			return c.write(out, v, err)
		}
	}
	bounds := precision{epsilon: c.opts.epsilon()}
	m := c.bounds
	best, err := c.attempt(ctx, m, bounds, p)
	if errors.Is(err, errNeedsFractions) { // bounds from the fractions of the model
		if m, err = c.fractions(ctx); err != nil {
			return err
		}
		best, err = c.attempt(ctx, m, bounds, p)
	}
	if err == nil {
		best = c.narrow(ctx, m, p, best)
	}
	if errors.As(err, new(*undecided)) || err == nil && best.width > bounds.epsilon {
		if exact, why := c.tryFractions(ctx, p, cheapFractions); why == nil {
			best, err = exact, nil
		} else if ctx.Err() != nil {
			return why
		}
	}
	return c.write(best, v, err)
}

func (c *Checker) enclose(ctx context.Context, p *Property, v *result.Verdict) error {
	best, err := c.attempt(ctx, c.bounds, precision{epsilon: c.opts.Epsilon}, p)
	if errors.As(err, new(*untimed)) { // fractions square matrices where bounds would take too many steps
		if out, why := c.tryFractions(ctx, p, anyFractions); why == nil {
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
		if best, err = c.attempt(ctx, c.bounds, narrowestBounds, p); err != nil && !errors.As(err, new(*undecided)) {
			return err
		}
	}
	if err != nil {
		return c.decide(ctx, err, p, v)
	}
	best = c.narrow(ctx, c.bounds, p, best)
	if best.width > c.opts.epsilon() {
		if exact, why := c.tryFractions(ctx, p, cheapFractions); why == nil && exact.width < best.width {
			best = exact
		}
	}
	return c.write(best, v, nil)
}

// decide answers with fractions a property that the narrowest bounds leave undecided, as open says.
func (c *Checker) decide(ctx context.Context, open error, p *Property, v *result.Verdict) error {
	out, err := c.tryFractions(ctx, p, anyFractions)
	switch {
	case errors.As(err, new(*inexact)) || errors.As(err, new(*untimed)):
		return open
	case errors.As(err, new(*unavailable)):
		return fmt.Errorf("%w%w", open, err)
	}
	return c.write(out, v, err)
}

// narrow computes a value again with a smaller epsilon while its bounds are wider than wanted: the widths of a model's components
// add up.
func (c *Checker) narrow(ctx context.Context, m *model, p *Property, best *outcome) *outcome {
	want := c.opts.epsilon()
	bounds := precision{epsilon: want}
	for best.width > want && bounds.epsilon > leastEpsilon && !best.gaveUp {
		bounds.epsilon = max(bounds.epsilon*min(want/best.width, 1)/8, leastEpsilon)
		again, err := c.attempt(ctx, m, bounds, p)
		if err != nil || !(again.width < best.width) {
			break // float64 numbers give no narrower bounds
		}
		best = again
	}
	return best
}

// unavailable says why fractions are not tried.
type unavailable struct{ why error }

func (u *unavailable) Error() string { return u.why.Error() }

func (u *unavailable) Unwrap() error { return u.why }

// tryFractions answers with fractions, and with bounds where a value has no fraction. It refuses large models, unless the space
// has fractions already and the work is not limited.
func (c *Checker) tryFractions(ctx context.Context, p *Property, how precision) (*outcome, error) {
	// The answer must not depend on whether another property had the fractions built.
	if m := c.bounds.space.Model(); m.NumStates() > c.opts.exactStates() && (!m.Exact() || how.maxWork > 0) {
		return nil, &unavailable{fmt.Errorf("; %d states are too many to try fractions", m.NumStates())}
	}
	m, err := c.fractions(ctx)
	if err != nil {
		return nil, &unavailable{fmt.Errorf(", and there are no fractions: %w", err)}
	}
	return c.attempt(ctx, m, how, p)
}

// fractions builds the exact space, unless it was built before.
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
