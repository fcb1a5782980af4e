package simulate

import (
	"errors"
	"math"

	"tilecheck/internal/noun"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Property is a property to sample for.
type Property = logic.Property

// Objective is a property in the form that is sampled: a monitor of single
// paths and what its outcomes are averaged to.
type Objective struct {
	Monitor compile.Monitor
	// Negate says that a path counts as a success when the monitor says False.
	Negate bool
	// Reward says that the reward is averaged, and not a truth value.
	Reward   bool
	Extremum syntax.Extremum
	// Rel compares the average with Bound: OpLt, OpLe, OpGt or OpGe, or OpNone for a
	// query.
	Rel   syntax.Op
	Bound float64
}

// Query reports whether the value itself is asked for (=?).
func (o *Objective) Query() bool { return o.Rel == syntax.OpNone }

// NewObjective translates a property to what is measured on each path. It accepts a top-level P or R operator
// with one temporal operator over state formulas, or with C<=t or I=t. For everything else the error is a
// *result.Failure that says what was found and where.
//
// Source: what PRISM's simulator accepts (SimulatorEngine.isPropertyOKForSimulation, Sampler.createSampler);
// reference, section 5.1. PRISM ignores bounds of R [ F ] and intervals that are empty or begin below 0; here
// they are errors.
func NewObjective(property *Property, maxPath int64) (*Objective, error) {
	translator := &objectiveBuilder{property: property, continuous: property.Program.Type == syntax.CTMC}
	objective := translator.buildObjective(property.X)
	if translator.err != nil {
		return nil, translator.err
	}
	objective.Monitor.MaxPath = maxPath
	return objective, nil
}

// objectiveBuilder translates a property. It keeps the first error.
type objectiveBuilder struct {
	property   *Property
	continuous bool
	err        *result.Failure
}

func (b *objectiveBuilder) refuse(class result.Class, at syntax.Pos, format string, args ...any) {
	if b.err == nil {
		b.err = result.Refuse(b.property, class, at, format, args...)
	}
}

func (b *objectiveBuilder) unsupported(e sema.Expr, format string, args ...any) {
	b.refuse(result.Unsupported, e.Pos(), format, args...)
}

// buildObjective translates the operator of a property.
func (b *objectiveBuilder) buildObjective(x sema.Expr) *Objective {
	objective := &Objective{}
	switch formula := logic.Of(x); formula.Kind {
	case logic.Probability:
		b.setThreshold(objective, formula.Threshold)
		b.setPathMonitor(objective, formula.Path)
	case logic.Reward:
		objective.Reward = true
		b.setThreshold(objective, formula.Threshold)
		b.setRewardMonitor(objective, formula.Objective)
	case logic.Filter:
		b.unsupported(x, "found a filter, simulation wants a P or R operator without one")
	default:
		b.unsupported(x, "found %s, simulation wants a P or R operator", logic.Describe(x))
	}
	return objective
}

// setThreshold sets the comparison of an objective with its bound, which it evaluates. A query has none.
func (b *objectiveBuilder) setThreshold(objective *Objective, threshold sema.Threshold) {
	objective.Extremum, objective.Rel = threshold.Extremum, threshold.Rel
	if threshold.Query() {
		return
	}
	objective.Bound = b.evaluateNumber(threshold.Bound)
	if !objective.Reward && !(objective.Bound >= 0 && objective.Bound <= 1) {
		b.refuse(result.TypeError, threshold.Bound.Pos(), "bound %v of a P operator, want a probability", objective.Bound)
	}
}

// setPathMonitor sets the monitor for the path formula of a P operator.
func (b *objectiveBuilder) setPathMonitor(objective *Objective, path *logic.Path) {
	objective.Negate = path.Negated
	switch {
	case !path.Operator:
		b.unsupported(path.X, "found %s, simulation wants a path formula with one temporal operator over states (no LTL)", logic.Describe(path.X))
	case path.Op == syntax.Next:
		objective.Monitor = compile.Monitor{Kind: compile.Next, Right: b.stateFormula(path.Right), High: math.Inf(1), Low: math.Inf(-1)}
	default:
		b.setUntilMonitor(objective, path)
	}
}

// formulas are the operations on state formulas.
var formulas = logic.Algebra[sema.Expr]{
	Not:     logic.Not,
	And:     and,
	Neither: func(x, y sema.Expr) sema.Expr { return and(logic.Not(x), logic.Not(y)) },
}

// setUntilMonitor sets the monitor for a temporal operator other than X, rewritten to an until formula that
// may be negated.
func (b *objectiveBuilder) setUntilMonitor(objective *Objective, path *logic.Path) {
	left := truth()
	if path.Left != nil {
		left = b.stateFormula(path.Left)
	}
	right := b.stateFormula(path.Right)
	if b.err != nil {
		return
	}
	if path.Form == logic.LateWeakUntil {
		b.unsupported(path.X, "found a weak until (W) with a lower bound, which is not sampled")
	}
	monitor := compile.Monitor{Kind: compile.Until}
	var negated bool
	monitor.Left, monitor.Right, negated = formulas.AsUntil(path.Op, left, right)
	if negated {
		objective.Negate = !objective.Negate
	}
	b.setTimeBounds(&monitor, path)
	objective.Monitor = monitor
}

// setTimeBounds sets the time bounds of a monitor. In discrete time they are numbers of steps.
func (b *objectiveBuilder) setTimeBounds(monitor *compile.Monitor, path *logic.Path) {
	monitor.Low, monitor.High = math.Inf(-1), math.Inf(1)
	if path.Bound == nil {
		return
	}
	if low := path.Bound.Low; low != nil {
		monitor.Low = b.evaluateTime(low, path.Op.String())
		monitor.LowStrict = path.Bound.LowStrict
		if monitor.Low < 0 {
			b.refuse(result.TypeError, low.Pos(), "lower bound %v of the %s operator is negative", monitor.Low, path.Op)
		}
	}
	high := path.Bound.High
	if high == nil {
		return
	}
	monitor.High = b.evaluateTime(high, path.Op.String())
	monitor.HighStrict = path.Bound.HighStrict
	switch {
	case monitor.High < 0 || monitor.High == 0 && monitor.HighStrict:
		b.refuse(result.TypeError, high.Pos(), "upper bound %s%v of the %s operator holds at no time", strict(monitor.HighStrict), monitor.High, path.Op)
	case monitor.High < monitor.Low:
		b.refuse(result.TypeError, high.Pos(), "bounds [%v,%v] of the %s operator are empty", monitor.Low, monitor.High, path.Op)
	}
}

func strict(s bool) string {
	if s {
		return "<"
	}
	return "<="
}

// setRewardMonitor sets the monitor for the objective of an R operator.
func (b *objectiveBuilder) setRewardMonitor(result *Objective, objective *logic.Objective) {
	switch {
	case objective.Err != nil:
		b.evaluationError(objective.Err, b.property.X.Pos())
		return
	case objective.Ratio:
		b.unsupported(b.property.X, "found a ratio of rewards, simulation wants a single reward structure")
		return
	}
	switch objective.Form {
	case logic.Cumulative:
		result.Monitor = b.timedRewardMonitor(compile.CumulReward, objective)
	case logic.Instantaneous:
		result.Monitor = b.timedRewardMonitor(compile.InstantReward, objective)
	case logic.LongRun:
		b.unsupported(objective.X, "found the long-run reward S, simulation wants F, C<=t or I=t")
	case logic.CostBoundedReward, logic.UntilReached, logic.ZeroUnlessReached:
		b.unsupported(objective.X, "found %s, simulation wants F, C<=t or I=t", logic.Describe(objective.X))
	case logic.TotalReward:
		b.unsupported(objective.X, "found the total reward C without a time bound, simulation wants C<=t")
	default:
		result.Monitor = b.reachRewardMonitor(objective)
	}
	result.Monitor.Reward = objective.Struct
}

func (b *objectiveBuilder) timedRewardMonitor(kind compile.MonitorKind, objective *logic.Objective) compile.Monitor {
	monitor := compile.Monitor{Kind: kind, Low: math.Inf(-1), High: b.evaluateTime(objective.At, objective.Letter())}
	if monitor.High < 0 || math.IsInf(monitor.High, 1) {
		b.refuse(result.TypeError, objective.At.Pos(), "time bound %v of the %s operator, want a finite number of at least 0", monitor.High, objective.Letter())
	}
	return monitor
}

// reachRewardMonitor returns the monitor for R [ F target ].
func (b *objectiveBuilder) reachRewardMonitor(objective *logic.Objective) compile.Monitor {
	path := objective.Path
	switch {
	case !path.Operator || path.Negated:
		b.unsupported(objective.X, "found %s in an R operator, simulation wants F, C<=t or I=t", logic.Describe(objective.X))
		return compile.Monitor{}
	case path.Op != syntax.Future:
		b.unsupported(objective.X, "found a reward until a formula with %s holds, simulation wants F, C<=t or I=t", path.Op)
		return compile.Monitor{}
	case path.Bound != nil:
		b.refuse(result.Unsupported, path.Bound.At, "found a bounded F in an R operator, which PRISM ignores; want F without bounds, C<=t or I=t")
	}
	return compile.Monitor{Kind: compile.ReachReward, Right: b.stateFormula(path.Right), Low: math.Inf(-1), High: math.Inf(1)}
}

// evaluateTime evaluates a bound: a number of steps, which has to be an int, or a time in a CTMC.
func (b *objectiveBuilder) evaluateTime(e sema.Expr, operator string) float64 {
	if !b.continuous && e.Type() != sema.Int {
		b.refuse(result.TypeError, e.Pos(), "time bound of the %s operator is %s, want an int for %s", operator, noun.WithArticle(e.Type().String()), noun.WithArticle(b.property.Program.Type.String()))
		return 0
	}
	return b.evaluateNumber(e)
}

// evaluateNumber evaluates a constant expression. The result must be a number.
func (b *objectiveBuilder) evaluateNumber(x sema.Expr) float64 {
	value, err := sema.Eval(x, nil)
	switch {
	case err != nil:
		b.evaluationError(err, x.Pos())
	case math.IsNaN(value.Float):
		b.refuse(result.TypeError, x.Pos(), "bound is not a number")
	}
	return value.Float
}

// evaluationError records an error of evaluating an expression, at the position of the error if it has one.
func (b *objectiveBuilder) evaluationError(err error, pos syntax.Pos) {
	msg := err.Error()
	if e, ok := errors.AsType[*sema.EvalError](err); ok {
		msg = e.Msg
		if e.Pos.IsValid() {
			pos = e.Pos
		}
	}
	b.refuse(result.TypeError, pos, "%s", msg)
}

// stateFormula returns a state formula with labels replaced by their definitions; nested operators are
// errors. The positions in the result are removed, because a formula may come from the properties file or
// from the model, and the evaluator knows only one file. Errors then get the position of the property.
func (b *objectiveBuilder) stateFormula(x sema.Expr) sema.Expr {
	rewriter := sema.Rewriter{Base: func(x sema.Base) sema.Base { return sema.Base{T: x.T} }}
	rewriter.Other = func(x sema.Expr) (sema.Expr, error) {
		switch formula := logic.Of(x); {
		case formula.Kind == logic.Label && formula.Index >= 0:
			return rewriter.Rewrite(b.property.Program.Labels[formula.Index].X)
		case formula.Kind == logic.Label:
			label := *x.(*sema.Label)
			label.Base = sema.Base{T: x.Type()}
			return &label, nil
		case formula.Kind == logic.PathFormula:
			b.unsupported(x, "found %s inside a path formula, simulation wants one temporal operator over states (no LTL)", logic.Describe(x))
		default:
			b.unsupported(x, "found %s inside a path formula, simulation cannot check nested operators", logic.Describe(x))
		}
		return x, nil
	}
	rewritten, _ := rewriter.Rewrite(x) // never fails
	return rewritten
}

func truth() sema.Expr {
	return &sema.Const{Base: sema.Base{T: sema.Bool}, Val: sema.BoolValue(true)}
}

func and(x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{T: sema.Bool}, Op: syntax.OpAnd, X: x, Y: y}
}
