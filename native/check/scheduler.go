package check

import (
	"context"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Scheduler is a deterministic scheduler that attains, in every state, the
// value of the outermost operator of a property: a value within the bounds
// computed, or the exact one. Of a path formula with several temporal operators, and of
// multi(…), it attains the value in the initial states, and is a Controller.
type Scheduler struct {
	// Space has the states and numbers the choices. It is exact if the value is.
	Space *explicit.Space
	// Choices[i][s] is the choice of state s after i steps, sparse.None where
	// any will do; the last entry holds for all later steps, too. A scheduler
	// that does not count steps has one entry. Entries may share memory.
	Choices [][]uint32
	// Controller is the scheduler where it remembers more than steps, or throws dice; then there are no Choices.
	Controller *sparse.Controller
}

// Scheduler evaluates a property of an MDP as Check does, and returns a
// scheduler that attains the value of its operator P, R or S, or meets the bounds of
// multi(…) and attains the value of its query: the best or worst
// one asked for, or, for an operator with a bound, the one that decides
// whether the bound is kept. Within a filter, or <<*>>, that is its operand.
// Formulas within the operator have schedulers of their own, which are not
// returned.
//
// A scheduler of a formula with a bound on the number of steps counts them.
// Where there is no scheduler to return the error says why, by name; the
// verdict is the one of Check all the same.
func (c *Checker) Scheduler(ctx context.Context, p *Property) (*Scheduler, result.Verdict, error) {
	op, err := operator(p)
	if err == nil && c.opts.Fair {
		err = noScheduler(p, p.X, "found fair schedulers, which remember what they did and are not exported")
	}
	if err == nil && c.bounds.space.Model().Intervals() {
		err = noScheduler(p, p.X, "found a model with intervals, whose schedulers are not exported")
	}
	if err == nil && c.bounds.space.Program().Type == syntax.POMDP {
		err = noScheduler(p, p.X, "found a partially observable model, whose strategies are automata")
	}
	if err == nil && c.bounds.space.Program().Type == syntax.SMG {
		err = noScheduler(p, p.X, "found a stochastic game, whose strategies are not exported")
	}
	if err == nil && c.bounds.space.Model().Kind != sparse.MDP {
		err = noScheduler(p, p.X, "found a model without nondeterminism, which has no schedulers")
	}
	if err != nil {
		return nil, c.Check(ctx, p), err
	}
	w := &wantedScheduler{operator: op.X}
	c.wanted = w
	v := c.Check(ctx, p)
	c.wanted = nil
	switch {
	case v.Err != nil:
		return nil, v, v.Err
	case w.controller != nil:
		return &Scheduler{Space: w.space, Controller: w.controller}, v, nil
	case op.Kind == logic.Objectives:
		return nil, v, noScheduler(p, op.X, "found objectives that no scheduler meets together")
	case w.choices == nil:
		return nil, v, noScheduler(p, op.X, "a scheduler that counts so many steps is too large")
	}
	return &Scheduler{Space: w.space, Choices: w.choices}, v, nil
}

// operator returns the operator whose scheduler a property has.
func operator(p *Property) (*logic.Formula, error) {
	f := logic.Of(p.X)
	for f.Kind == logic.Filter || f.Kind == logic.Strategy {
		f = logic.Of(f.Operand)
	}
	switch {
	case f.Kind == logic.Probability && f.Path.Form == logic.CostBounded:
		return nil, costBoundedScheduler(p, f.Path.X)
	case f.Kind == logic.Reward && f.Objective.Form == logic.CostBoundedReward:
		return nil, costBoundedScheduler(p, f.Objective.X)
	case f.Pareto():
		return nil, noScheduler(p, f.X, "a Pareto curve has many schedulers: keep one query, and turn the others into bounds")
	case f.Kind == logic.Reward && f.Objective.Form == logic.CoSafe:
		return nil, noScheduler(p, f.Objective.X, "found %s in an R operator, want F, C, C<=k, I=k or S for a scheduler", logic.Describe(f.Objective.X))
	case f.Measure() || f.Kind == logic.Objectives:
		return f, nil
	}
	return nil, noScheduler(p, f.X, "found %s, want an operator P, R or S, which has a scheduler", outermost(f.X))
}

// outermost names an expression that has no scheduler.
func outermost(x sema.Expr) string {
	switch x.(type) {
	case *sema.Unary, *sema.Binary, *sema.Call, *sema.Cond:
		return "an expression"
	case *sema.Const, *sema.Var, *sema.Label:
		return "a property of states"
	}
	if logic.Of(x).Kind == logic.Quantified {
		return "an operator E or A"
	}
	return logic.Describe(x)
}

func costBoundedScheduler(p *Property, x sema.Expr) error {
	return noScheduler(p, x, "found %s, whose schedulers remember what was earned", logic.Describe(x))
}

func noScheduler(p *Property, x sema.Expr, format string, args ...any) error {
	return result.Refuse(p, result.Unsupported, x.Pos(), format, args...)
}

// wantedScheduler is the scheduler that is asked for, while it is computed.
type wantedScheduler struct {
	operator   sema.Expr
	space      *explicit.Space
	choices    [][]uint32
	controller *sparse.Controller
	inOperator bool     // its operands are being evaluated
	reach      *Reach   // what it asks for, if that is an until formula
	values     *numbers // of an operator P
}

// beginScheduler begins the evaluation of an operator. If its scheduler is asked for, the scheduler of the last solution
// before end is kept. Nested operators are evaluated first, so that is the operator's own.
func (e *evaluation) beginScheduler(f *logic.Formula) (end func()) {
	if e.wanted == nil || e.wanted.operator != f.X {
		return func() {}
	}
	e.wanted.inOperator = true
	e.opts.Scheduler = e.kind() == sparse.MDP && (f.Kind != logic.Probability || f.Path.Form != logic.InitialState) // no scheduler changes the state a path begins in
	e.wanted.space, e.wanted.choices, e.wanted.controller = e.space, [][]uint32{anyChoice(e.space.Model())}, nil
	return func() { e.opts.Scheduler, e.wanted.inOperator = false, false }
}

// noteScheduler keeps the scheduler of a solution if one is asked for.
func (e *evaluation) noteScheduler(memoryless []uint32, steps [][]uint32) {
	if !e.opts.Scheduler {
		return
	}
	e.wanted.choices = steps
	if memoryless != nil {
		e.wanted.choices = [][]uint32{memoryless}
	}
}

// anyChoice returns a scheduler that selects an arbitrary choice in every state.
func anyChoice(m *sparse.Model) []uint32 {
	out := make([]uint32, m.NumStates())
	for s := range out {
		out[s] = sparse.None
	}
	return out
}
