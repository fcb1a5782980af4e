package check

import (
	"context"
	"math/big"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Reach is the path formula of the outermost operator P of a property, with a scheduler and the
// threshold: the input of a search for witnesses. The formula is Left U[Steps] Right or its negation.
type Reach struct {
	Space       *explicit.Space // with fractions
	Left, Right *sparse.Set
	Steps       solve.Steps
	// Negated says that the formula is the negation of the until formula, as for G.
	Negated bool
	// Choices is a scheduler that attains the value, as in Scheduler; nil for a Markov chain.
	Choices [][]uint32
	// From is the initial state with the extremal value: with several initial states, the least for a
	// minimum and the greatest for a maximum.
	From int
	// Rel and Bound are the threshold of the operator; Bound is nil for a query.
	Rel   syntax.Op
	Bound *big.Rat
}

// Reach evaluates a property as Check does, and returns the path formula of its operator P. The error says
// why there is none, for example for a formula with a time bound; the verdict is that of Check in any case.
func (c *Checker) Reach(ctx context.Context, p *Property) (*Reach, result.Verdict, error) {
	op, err := pathOperator(p)
	if m := c.bounds.space.Model(); err == nil {
		switch {
		case c.opts.Fair:
			err = noScheduler(p, p.X, "found fair schedulers, which have no paths of their own")
		case m.Intervals():
			err = noScheduler(p, p.X, "found a model with intervals, whose paths have no probability")
		case p.Program.Type == syntax.POMDP || p.Program.Type == syntax.LTS || p.Program.Type == syntax.SMG:
			err = noScheduler(p, p.X, "found %s, want a DTMC, CTMC or MDP for paths", noun.WithArticle(p.Program.Type.String()))
		}
	}
	if err != nil {
		return nil, c.Check(ctx, p), err
	}
	wanted := &wantedScheduler{operator: op.X}
	c.wanted = wanted
	v := c.Check(ctx, p)
	c.wanted = nil
	switch {
	case v.Err != nil:
		return nil, v, v.Err
	case wanted.choices == nil:
		return nil, v, noScheduler(p, op.X, "a scheduler that counts so many steps is too large")
	case wanted.reach == nil:
		return nil, v, noScheduler(p, op.Path.Whole, "found %s, want one temporal operator of states (no LTL) without a time bound for paths", logic.Describe(op.Path.Whole))
	}
	m, err := c.fractions(ctx)
	if err != nil {
		return nil, v, err
	}
	r := *wanted.reach
	r.Space, r.Negated = m.space, r.Negated != op.Path.Negated
	if m.space.Model().Kind == sparse.MDP {
		r.Choices = wanted.choices
	}
	r.From = wanted.worstInitial(op, m.space.Model())
	err = r.bound(op.Threshold)
	return &r, v, err
}

// bound evaluates the bound of the operator.
func (r *Reach) bound(t sema.Threshold) error {
	r.Rel = t.Rel
	if t.Query() {
		return nil
	}
	b, err := sema.Enclose(t.Bound, nil)
	if err != nil {
		return err
	}
	if !b.Exact || b.Rat == nil {
		return &inexact{msg: "the bound has no fraction"}
	}
	r.Bound = b.Rat
	return nil
}

// pathOperator returns the operator P of a property that asks for paths.
func pathOperator(p *Property) (*logic.Formula, error) {
	f := logic.Of(p.X)
	switch {
	case f.Kind != logic.Probability:
		return nil, noScheduler(p, p.X, "found %s, want an operator P for paths", outermost(p.X))
	case f.Path.Form == logic.CostBounded:
		return nil, costBoundedScheduler(p, f.Path.X)
	case f.Path.Form == logic.InitialState:
		return nil, noScheduler(p, f.Path.X, "found a formula about the state in which a path begins, want a temporal operator for paths")
	}
	return f, nil
}

// noteUntil records the until formula of the operator whose scheduler is wanted.
func (e *evaluation) noteUntil(left, right *sparse.Set, steps solve.Steps, negated bool) {
	if e.wanted != nil && e.wanted.inOperator {
		e.wanted.reach = &Reach{Left: left, Right: right, Steps: steps, Negated: negated}
	}
}

// worstInitial returns the initial state with the smallest value if the operator asks for a minimum, and with the greatest
// otherwise.
func (w *wantedScheduler) worstInitial(op *logic.Formula, m *sparse.Model) int {
	least, _ := op.Threshold.Least(false)
	best := int(m.Initial[0])
	for _, s := range m.Initial {
		a, b := w.values.at(int(s)), w.values.at(best)
		if least && a.hi < b.hi || !least && a.lo > b.lo {
			best = int(s)
		}
	}
	return best
}
