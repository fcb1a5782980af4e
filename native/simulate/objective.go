package simulate

import (
	"errors"
	"math"
	"slices"

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
	// Stepwise replaces Monitor for objectives that no monitor expresses; otherwise nil.
	Stepwise *Stepwise
	// Negate says that a path counts as a success when the monitor says False.
	Negate bool
	// Reward says that the reward is averaged, and not a truth value.
	Reward   bool
	Extremum syntax.Extremum
	// Rel compares the average with Bound: OpLt, OpLe, OpGt or OpGe, or OpNone for a
	// query.
	Rel   syntax.Op
	Bound float64
	// Coalition and Others are the players inside and outside of <<...>>, if that names some players of a game.
	Coalition, Others []string
}

// Query reports whether the value itself is asked for (=?).
func (objective *Objective) Query() bool { return objective.Rel == syntax.OpNone }

// NewObjective translates a property to the quantity that is measured on each path.
// The property is a P or R operator with one temporal operator over state formulas, C<=t or I=t.
// In a game a coalition may stand before the operator.
// For any other property the error is a *result.Failure with a position.
//
// Source: PRISM's SimulatorEngine.isPropertyOKForSimulation and Sampler.createSampler. PRISM ignores bounds of R [ F ],
// empty intervals and negative lower bounds; here they are errors.
func NewObjective(property *Property, maxPath int64) (*Objective, error) {
	builder := &objectiveBuilder{property: property, isContinuous: property.Program.Type == syntax.CTMC}
	objective := builder.buildObjective(property.Expr)
	if builder.err != nil {
		return nil, builder.err
	}
	objective.Monitor.MaxPath = maxPath
	return objective, nil
}

// objectiveBuilder translates a property. It keeps the first error.
type objectiveBuilder struct {
	property     *Property
	isContinuous bool
	err          *result.Failure
}

// recordFailure records an error at a position of the property, unless there is an earlier one.
func (builder *objectiveBuilder) recordFailure(class result.Class, pos syntax.Pos, format string, args ...any) {
	if builder.err == nil {
		builder.err = result.Refuse(builder.property, class, pos, format, args...)
	}
}

// recordUnsupported records the error that simulation does not support an expression.
func (builder *objectiveBuilder) recordUnsupported(expr sema.Expr, format string, args ...any) {
	builder.recordFailure(result.Unsupported, expr.Pos(), format, args...)
}

// buildObjective translates a P or R operator to an objective. In a game, <<...>> may stand around the operator. If the property is not supported, it sets
// builder.err.
func (builder *objectiveBuilder) buildObjective(expr sema.Expr) *Objective {
	objective := &Objective{}
	formula := logic.FormulaOf(expr)
	isGame := len(builder.property.Program.Players) > 0
	if isGame && formula.Kind == logic.Strategy && !formula.IsBox {
		builder.setCoalition(objective, formula)
		formula = logic.FormulaOf(formula.Operand)
	}
	switch formula.Kind {
	case logic.Probability:
		builder.setThreshold(objective, formula.Threshold)
		builder.setPathMonitor(objective, formula.Path)
	case logic.Reward:
		objective.Reward = true
		builder.setThreshold(objective, formula.Threshold)
		builder.setRewardMonitor(objective, formula.Objective)
	case logic.Filter:
		builder.recordUnsupported(expr, "found a filter, simulation wants a P or R operator without one")
	default:
		builder.recordUnsupported(formula.Expr, "found %s, simulation wants a P or R operator", logic.Describe(formula.Expr))
	}
	return objective
}

// setCoalition stores the names of the players of a game: objective.Coalition has those that <<...>> names, objective.Others has all others.
func (builder *objectiveBuilder) setCoalition(objective *Objective, strategy *logic.Formula) {
	for i, player := range builder.property.Program.Players {
		if strategy.NamesAllPlayers || slices.Contains(strategy.Players, i) {
			objective.Coalition = append(objective.Coalition, player.Name)
		} else {
			objective.Others = append(objective.Others, player.Name)
		}
	}
}

// setThreshold sets the relation and the bound of an operator, such as P>=0.5. A query has no bound.
func (builder *objectiveBuilder) setThreshold(objective *Objective, threshold sema.Threshold) {
	objective.Extremum, objective.Rel = threshold.Extremum, threshold.Rel
	if threshold.IsQuery() {
		return
	}
	objective.Bound = builder.evaluateNumber(threshold.Bound)
	if !objective.Reward && !(objective.Bound >= 0 && objective.Bound <= 1) {
		builder.recordFailure(result.TypeError, threshold.Bound.Pos(), "bound %v of a P operator, want a probability", objective.Bound)
	}
}

// setPathMonitor sets the monitor that evaluates the path formula of a P operator on a sampled path.
func (builder *objectiveBuilder) setPathMonitor(objective *Objective, path *logic.Path) {
	objective.Negate = path.IsNegated
	switch {
	case len(path.Costs) > 0 && path.Costs[0].IsTime:
		builder.recordUnsupported(path.Expr, "found a time bound of a Markov automaton, which is not sampled; use the method states")
	case path.Form == logic.Conditional:
		builder.setConditional(objective, path)
	case path.Form == logic.CostBounded:
		builder.setRewardBounded(objective, path)
	case !path.IsTemporal:
		builder.recordUnsupported(path.Expr, "found %s, simulation wants a path formula with one temporal operator over states (no LTL)", logic.Describe(path.Expr))
	case path.Op == syntax.Next:
		objective.Monitor = compile.Monitor{Kind: compile.Next, Right: builder.stateFormula(path.Right), High: math.Inf(1), Low: math.Inf(-1)}
	default:
		builder.setUntilMonitor(objective, path)
	}
}

// formulas are the operations on state formulas.
var formulas = logic.Algebra[sema.Expr]{
	Not:     logic.Not,
	And:     logic.And,
	Neither: func(x, y sema.Expr) sema.Expr { return logic.And(logic.Not(x), logic.Not(y)) },
}

// setUntilMonitor sets the monitor of a temporal operator other than X. It rewrites the operator to an until formula. If this is the negation of the
// operator, it also negates the objective.
func (builder *objectiveBuilder) setUntilMonitor(objective *Objective, path *logic.Path) {
	left := trueConstant()
	if path.Left != nil {
		left = builder.stateFormula(path.Left)
	}
	right := builder.stateFormula(path.Right)
	if builder.err != nil {
		return
	}
	if path.Form == logic.LateWeakUntil {
		builder.recordUnsupported(path.Expr, "found a weak until (W) with a lower bound, which is not sampled")
	}
	monitor := compile.Monitor{Kind: compile.Until}
	var isNegated bool
	monitor.Left, monitor.Right, isNegated = formulas.AsUntil(path.Op, left, right)
	if isNegated {
		objective.Negate = !objective.Negate
	}
	builder.setTimeBounds(&monitor, path)
	objective.Monitor = monitor
}

// setTimeBounds sets the lower and the upper bound of a monitor, which are times in a CTMC and numbers of steps otherwise. Empty bounds are an
// error.
func (builder *objectiveBuilder) setTimeBounds(monitor *compile.Monitor, path *logic.Path) {
	monitor.Low, monitor.High = math.Inf(-1), math.Inf(1)
	if path.Bound == nil {
		return
	}
	if low := path.Bound.Low; low != nil {
		monitor.Low = builder.evaluateTime(low, path.Op.String())
		monitor.IsLowStrict = path.Bound.IsLowStrict
		if monitor.Low < 0 {
			builder.recordFailure(result.TypeError, low.Pos(), "lower bound %v of the %s operator is negative", monitor.Low, path.Op)
		}
	}
	high := path.Bound.High
	if high == nil {
		return
	}
	monitor.High = builder.evaluateTime(high, path.Op.String())
	monitor.IsHighStrict = path.Bound.IsHighStrict
	switch {
	case monitor.High < 0 || monitor.High == 0 && monitor.IsHighStrict:
		builder.recordFailure(result.TypeError, high.Pos(), "upper bound %s%v of the %s operator holds at no time", upperRelation(monitor.IsHighStrict), monitor.High, path.Op)
	case monitor.High < monitor.Low:
		builder.recordFailure(result.TypeError, high.Pos(), "bounds [%v,%v] of the %s operator are empty", monitor.Low, monitor.High, path.Op)
	}
}

// upperRelation returns the relation of an upper bound, < or <=.
func upperRelation(isStrict bool) string {
	if isStrict {
		return "<"
	}
	return "<="
}

// setRewardMonitor sets the monitor that computes the reward of an R operator on a sampled path.
func (builder *objectiveBuilder) setRewardMonitor(objective *Objective, formula *logic.Objective) {
	switch {
	case formula.Err != nil:
		builder.recordEvaluationError(formula.Err, builder.property.Expr.Pos())
		return
	case formula.IsRatio:
		builder.recordUnsupported(builder.property.Expr, "found a ratio of rewards, simulation wants a single reward structure")
		return
	}
	switch formula.Form {
	case logic.Cumulative:
		objective.Monitor = builder.timedRewardMonitor(compile.CumulReward, formula)
	case logic.Instantaneous:
		objective.Monitor = builder.timedRewardMonitor(compile.InstantReward, formula)
	case logic.LongRun:
		builder.recordUnsupported(formula.Expr, "found the long-run reward S, simulation wants F, C<=t or I=t")
	case logic.TimedCumulative, logic.TimedInstantaneous:
		builder.recordUnsupported(formula.Expr, "found a time bound of a Markov automaton, which is not sampled; use the method states")
	case logic.Discounted:
		builder.setDiscounted(objective, formula)
	case logic.ConditionalReward:
		builder.setConditionalReward(objective, formula)
	case logic.CostBoundedReward:
		builder.setRewardWithinBounds(objective, formula)
	case logic.UntilReached, logic.ZeroUnlessReached:
		builder.recordUnsupported(formula.Expr, "found %s, simulation wants F, C<=t or I=t", logic.Describe(formula.Expr))
	case logic.TotalReward:
		builder.recordUnsupported(formula.Expr, "found the total reward C without a time bound, simulation wants C<=t")
	default:
		objective.Monitor = builder.reachRewardMonitor(formula)
	}
	objective.Monitor.Reward = formula.Struct
}

// timedRewardMonitor returns the monitor for R [ C<=t ] or R [ I=t ].
func (builder *objectiveBuilder) timedRewardMonitor(kind compile.MonitorKind, objective *logic.Objective) compile.Monitor {
	monitor := compile.Monitor{Kind: kind, Low: math.Inf(-1), High: builder.evaluateTime(objective.At, objective.Letter())}
	if monitor.High < 0 || math.IsInf(monitor.High, 1) {
		builder.recordFailure(result.TypeError, objective.At.Pos(), "time bound %v of the %s operator, want a finite number of at least 0", monitor.High, objective.Letter())
	}
	return monitor
}

// reachRewardMonitor returns the monitor for R [ F target ].
func (builder *objectiveBuilder) reachRewardMonitor(objective *logic.Objective) compile.Monitor {
	path := objective.Path
	switch {
	case !path.IsTemporal || path.IsNegated:
		builder.recordUnsupported(objective.Expr, "found %s in an R operator, simulation wants F, C<=t or I=t", logic.Describe(objective.Expr))
		return compile.Monitor{}
	case path.Op != syntax.Future:
		builder.recordUnsupported(objective.Expr, "found a reward until a formula with %s holds, simulation wants F, C<=t or I=t", path.Op)
		return compile.Monitor{}
	case path.Bound != nil:
		builder.recordFailure(result.Unsupported, path.Bound.Pos, "found F with a bound in an R operator, where PRISM ignores the bound; want F without a bound, C<=t or I=t")
	}
	return compile.Monitor{Kind: compile.ReachReward, Right: builder.stateFormula(path.Right), Low: math.Inf(-1), High: math.Inf(1)}
}

// evaluateTime evaluates a time bound. In discrete time the bound is a number of steps and must be an int.
func (builder *objectiveBuilder) evaluateTime(expr sema.Expr, operator string) float64 {
	if !builder.isContinuous && expr.Type() != sema.Int {
		builder.recordFailure(result.TypeError, expr.Pos(), "time bound of the %s operator is %s, want an int for %s", operator, noun.WithArticle(expr.Type().String()), noun.WithArticle(builder.property.Program.Type.String()))
		return 0
	}
	return builder.evaluateNumber(expr)
}

// evaluateNumber returns the value of a constant numeric expression. builder.err is set if it has no value, or if the value is NaN.
func (builder *objectiveBuilder) evaluateNumber(expr sema.Expr) float64 {
	value, err := sema.Eval(expr, nil)
	switch {
	case err != nil:
		builder.recordEvaluationError(err, expr.Pos())
	case math.IsNaN(value.Float):
		builder.recordFailure(result.TypeError, expr.Pos(), "bound is not a number")
	}
	return value.Float
}

// recordEvaluationError records an error in the evaluation of an expression in builder.err. If the error has no position, its position is
// defaultPos.
func (builder *objectiveBuilder) recordEvaluationError(err error, defaultPos syntax.Pos) {
	message, pos := err.Error(), defaultPos
	if evalError, ok := errors.AsType[*sema.EvalError](err); ok {
		message = evalError.Msg
		if evalError.Pos.IsValid() {
			pos = evalError.Pos
		}
	}
	builder.recordFailure(result.TypeError, pos, "%s", message)
}

// stateFormula returns a state formula in which definitions replace the labels. It is an error if the formula contains an operator such as P or
// F.
func (builder *objectiveBuilder) stateFormula(expr sema.Expr) sema.Expr {
	// The rewriter removes positions, because the evaluator knows only one file and a label may come from another.
	rewriter := sema.Rewriter{RewriteBase: func(base sema.Base) sema.Base { return sema.Base{ValueType: base.ValueType} }}
	rewriter.RewriteOther = func(expr sema.Expr) (sema.Expr, error) {
		switch formula := logic.FormulaOf(expr); {
		case formula.Kind == logic.Label && formula.Index >= 0:
			return rewriter.Rewrite(builder.property.Program.Labels[formula.Index].Expr)
		case formula.Kind == logic.Label:
			label := *expr.(*sema.Label)
			label.Base = sema.Base{ValueType: expr.Type()}
			return &label, nil
		case formula.Kind == logic.PathFormula:
			builder.recordUnsupported(expr, "found %s inside a path formula, simulation wants one temporal operator over states (no LTL)", logic.Describe(expr))
		default:
			builder.recordUnsupported(expr, "found %s inside a path formula, simulation cannot check nested operators", logic.Describe(expr))
		}
		return expr, nil
	}
	rewritten, _ := rewriter.Rewrite(expr) // never fails
	return rewritten
}

// trueConstant returns the formula true.
func trueConstant() sema.Expr {
	return &sema.Const{Base: sema.Base{ValueType: sema.Bool}, Val: sema.BoolValue(true)}
}
