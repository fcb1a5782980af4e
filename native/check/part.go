package check

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// FromPart evaluates a property of an MDP of which only a part of the states is explored. It can do so for Pmax=? of F or U, if
// some scheduler reaches the target with probability one within that part: then the value is 1. Otherwise it reports false.
func (c *Checker) FromPart(ctx context.Context, p *Property) (v result.Verdict, ok bool) {
	start := time.Now()
	f := logic.Of(p.X)
	if f.Kind != logic.Probability || !f.Query() || f.Extremum != syntax.Max || c.opts.Fair || c.bounds.space.Program().Type != syntax.MDP {
		return v, false
	}
	path := f.Path
	if !path.Reaches() || !aboutStateOnly(p, path.Left, true) || !aboutStateOnly(p, path.Right, true) {
		return v, false
	}
	e := &evaluation{model: c.bounds, request: request{ctx: ctx, p: p}}
	left, right, err := e.operands(path.Left, path.Right)
	if err != nil { // the error may be in a state that does not matter
		return v, false
	}
	one, err := c.bounds.graph.Prob1E(ctx, left, right)
	if err != nil {
		return v, false
	}
	m := c.bounds.space.Model()
	if len(m.Initial) != 1 || !one.Has(int(m.Initial[0])) {
		return v, false
	}
	v = result.Verdict{
		Resolution: result.Maximum, States: int64(m.NumStates()), Choices: int64(m.NumChoices()), Transitions: int64(m.NumTransitions()),
	}
	answer := &outcome{value: value(point(1), p.X.Type()), bound: &result.Interval{Lo: 1, Hi: 1}, results: results{accuracy: c.opts.Accuracy}}
	if c.opts.Accuracy == result.Exact {
		answer.value = value(fraction(big.NewRat(1, 1)), p.X.Type())
	}
	err = c.conclude(p, c.bounds.space, answer, &v, fmt.Sprintf("answered by the first %s, within which a scheduler has probability 1: the model was not explored to its end",
		noun.Count(m.NumStates()-c.bounds.space.Unexplored().Count(), "state")))
	v.Seconds = time.Since(start).Seconds()
	return v, err == nil
}

// conclude writes an outcome that did not need all states to a verdict, with a note that says so.
func (c *Checker) conclude(p *Property, space *explicit.Space, out *outcome, v *result.Verdict, note string) error {
	v.Property, v.Name, v.Method = p.Text, p.Name, "states"
	v.Warnings = append(v.Warnings, space.Warnings()...)
	err := c.write(out, v, nil)
	v.Warnings = append(v.Warnings, c.differences(p)...)
	v.Warnings = append(v.Warnings, note)
	return err
}

// aboutStateOnly reports whether the truth of a formula depends on the variables of a state only. If init is true, it may
// also depend on the label "init". nil stands for no formula, and the result is true.
func aboutStateOnly(p *Property, x sema.Expr, init bool) bool {
	if x == nil {
		return true
	}
	only := x.Type() == sema.Bool
	sema.Inspect(x, func(x sema.Expr) bool {
		switch x := x.(type) {
		case *sema.Const, *sema.Var, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		case *sema.Label:
			only = only && (init && x.Index == sema.LabelInit || x.Index >= 0 && aboutStateOnly(p, p.Program.Labels[x.Index].X, init))
		default:
			only = false
		}
		return only
	})
	return only
}
