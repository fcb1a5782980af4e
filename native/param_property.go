//go:build !js

package native

import (
	"context"
	"slices"

	"tilecheck/native/check"
	"tilecheck/native/check/parametric"
	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// parametricProperty is a property to evaluate as a function of the parameters of a model.
type parametricProperty struct {
	*parametricModel
	ctx      context.Context
	property *checkedProperty
}

// unsupported returns the error for an expression that is not supported in a model with parameters. found
// describes the expression.
func (property *parametricProperty) unsupported(expr sema.Expr, found string) error {
	return result.Refuse(&property.property.Instance, result.Unsupported, expr.Pos(), "found %s in a model with parameters, want one operator P, R or S with =? and one temporal operator or reward; or try values, as in --const p=0:0.1:1", found)
}

// value returns the value of an expression in the initial state, as a function of the parameters. nil stands for infinity.
func (property *parametricProperty) value(expr sema.Expr) (*piecewise, error) {
	formula := logic.FormulaOf(expr)
	switch {
	case formula.Measure() && !formula.IsQuery():
		return nil, property.unsupported(expr, "a bound")
	case formula.Measure():
		return property.measure(formula)
	case formula.Kind == logic.Filter:
		return property.filter(formula)
	}
	return property.arithmetic(expr)
}

// measure returns the value of P, R or S in the initial state, as a function of the parameters. It ignores the threshold. nil stands for
// infinity.
func (property *parametricProperty) measure(formula *logic.Formula) (*piecewise, error) {
	switch {
	case formula.Kind == logic.Probability:
		return property.probability(formula)
	case formula.Kind == logic.SteadyState:
		return property.steadyState(formula)
	case formula.Objective.Err != nil:
		return nil, formula.Objective.Err
	case formula.Objective.IsRatio:
		return nil, property.unsupported(formula.Expr, "a ratio of rewards")
	}
	return property.reward(formula)
}

// steadyState returns the value of the operator S as a function of the parameters.
func (property *parametricProperty) steadyState(formula *logic.Formula) (*piecewise, error) {
	if property.program.Type == syntax.MDP {
		return nil, property.unsupported(formula.Expr, "S of an MDP")
	}
	set, err := property.states(formula.Operand)
	if err != nil {
		return nil, err
	}
	return onePiece(property.chain.LongRun(property.ctx, property.chain.Visits(set)))
}

// filter returns the value of a filter as a function of the parameters. The filter must select the initial state and no other state, so its value is the
// value of the operand in this state.
func (property *parametricProperty) filter(formula *logic.Formula) (*piecewise, error) {
	// These filters over a single state return the value of this state.
	supportedFilters := []string{"state", "first", "min", "max", "sum", "avg"}
	if !slices.Contains(supportedFilters, formula.Op) {
		return nil, property.unsupported(formula.Expr, "this filter")
	}
	if formula.States == nil {
		return nil, property.unsupported(formula.Expr, "a filter over all states")
	}
	set, err := property.states(formula.States)
	if err != nil {
		return nil, err
	}
	if model := property.pointModel.space.Model(); set.Count() != 1 || !set.Has(int(model.Initial[0])) {
		return nil, property.unsupported(formula.Expr, "a filter that selects other states than the initial one")
	}
	return property.value(formula.Operand)
}

// arithmetic returns the value of a constant, or of a sum, difference, product or quotient, as a function of the parameters. At most one of the two
// operands may be a function with several pieces.
func (property *parametricProperty) arithmetic(expr sema.Expr) (*piecewise, error) {
	binary, isBinary := expr.(*sema.Binary)
	_, isConstant := expr.(*sema.Const)
	if !isBinary && !isConstant {
		return nil, property.unsupportedFormula(expr)
	}
	if constant, isExact, err := sema.EvalExact(expr, nil); err == nil && isExact {
		return onePiece(property.chain.One().Scale(fractionOf(constant)), nil)
	}
	if !isBinary {
		return nil, property.unsupported(expr, "this formula")
	}
	left, err := property.value(binary.X)
	if err != nil {
		return nil, err
	}
	right, err := property.value(binary.Y)
	if err != nil {
		return nil, err
	}
	switch {
	case left == nil || right == nil:
		return nil, property.unsupported(expr, "arithmetic on infinity")
	case len(left.pieces) > 1 && len(right.pieces) > 1:
		return nil, property.unsupported(expr, "arithmetic on two values that several schedulers attain")
	}
	return combine(binary.Op, left, right, func(found string) error { return property.unsupported(expr, found) })
}

// unsupportedFormula returns the error for a formula that is not arithmetic.
func (property *parametricProperty) unsupportedFormula(expr sema.Expr) error {
	if kind := logic.FormulaOf(expr).Kind; kind == logic.Lexicographic || kind == logic.Quantile {
		return property.unsupported(expr, logic.Describe(expr))
	}
	return property.unsupported(expr, "this formula")
}

// solveQuestion answers a question about an MDP as a piecewise function of the parameters.
type solveQuestion func(parametric.Question) ([]parametric.Piece, error)

// best answers a question without step bounds.
func (property *parametricProperty) best(question parametric.Question) ([]parametric.Piece, error) {
	return property.chain.Best(property.ctx, question, property.lowerBounds, property.upperBounds)
}

// bestOverSchedulers returns the minimal or maximal value over all schedulers of an MDP, as a function of the parameters. If isNegated is true,
// question is about the negated formula, and the minimum is 1 minus the maximum of question (and the reverse). solve answers the question.
func (property *parametricProperty) bestOverSchedulers(formula *logic.Formula, question parametric.Question, isNegated bool, solve solveQuestion) (*piecewise, error) {
	isMinimum, ok := formula.IsMinimum(false)
	if !ok {
		return nil, property.unsupported(formula.Expr, "a query without min or max")
	}
	question.Min = isMinimum != isNegated
	pieces, err := solve(question)
	if pieces == nil || err != nil {
		return nil, err
	}
	if isNegated {
		for i, piece := range pieces {
			pieces[i].Value = property.chain.One().Sub(piece.Value)
		}
	}
	return &piecewise{pieces, isMinimum}, nil
}

// probability returns the value of the operator P as a function of the parameters. In an MDP it supports only F, G, U, W and R without a bound.
func (property *parametricProperty) probability(formula *logic.Formula) (*piecewise, error) {
	path := formula.Path
	if !path.IsTemporal || path.IsNegated {
		return nil, property.unsupported(formula.Expr, logic.Describe(path.WholeExpr))
	}
	left, right, isNegated, err := property.untilOperands(path)
	if err != nil {
		return nil, err
	}
	minSteps, maxSteps, isBounded, err := property.pathSteps(formula)
	if err != nil {
		return nil, err
	}
	if property.program.Type == syntax.MDP {
		solve := property.best
		if isBounded {
			solve = func(question parametric.Question) ([]parametric.Piece, error) {
				return property.chain.BestWithin(property.ctx, question, minSteps, maxSteps, property.lowerBounds, property.upperBounds)
			}
		}
		return property.bestOverSchedulers(formula, parametric.Question{Left: left, Right: right}, isNegated, solve)
	}
	var value *ratfunc.Func
	if isBounded {
		value, err = property.chain.BoundedUntil(property.ctx, left, right, minSteps, maxSteps)
	} else {
		value, err = property.chain.Until(property.ctx, left, right)
	}
	if err == nil && isNegated {
		value = property.chain.One().Sub(value)
	}
	return onePiece(value, err)
}

// untilOperands rewrites a temporal operator to `left U right`, and returns left and right. isNegated says that the operator is the negation of
// this until formula.
func (property *parametricProperty) untilOperands(path *logic.Path) (left, right *sparse.Set, isNegated bool, err error) {
	left = sparse.FullSet(property.pointModel.space.Model().NumStates())
	if path.Left != nil {
		if left, err = property.states(path.Left); err != nil {
			return nil, nil, false, err
		}
	}
	if right, err = property.states(path.Right); err != nil {
		return nil, nil, false, err
	}
	left, right, isNegated = check.Sets.AsUntil(path.Op, left, right)
	return left, right, isNegated, nil
}

// pathSteps returns the least and the greatest number of steps after which the right operand of an until formula must hold; for X both are 1.
// isBounded is false if the formula has no bound.
func (property *parametricProperty) pathSteps(formula *logic.Formula) (minSteps, maxSteps int, isBounded bool, err error) {
	minSteps, maxSteps, isBounded, err = property.steps(formula.Path.Bound)
	if err != nil || formula.Path.Op != syntax.Next {
		return minSteps, maxSteps, isBounded, err
	}
	if isBounded {
		return 0, 0, false, property.unsupported(formula.Expr, "a bound of X")
	}
	return 1, 1, true, nil
}

// steps returns the least and the greatest number of steps that satisfy a bound. isBounded is false if bound is nil. It is an error if the bound
// is a time bound, or has no upper end.
func (property *parametricProperty) steps(bound *sema.Bound) (minSteps, maxSteps int, isBounded bool, err error) {
	if bound == nil {
		return 0, 0, false, nil
	}
	if property.program.Type == syntax.CTMC || bound.High == nil {
		return 0, 0, false, result.Refuse(&property.property.Instance, result.Unsupported, property.property.Pos, "found a time bound or only a lower bound in a model with parameters; want an upper bound on steps, or a value for each parameter (--const)")
	}
	for _, limit := range []sema.Expr{bound.Low, bound.High} {
		if limit == nil {
			continue
		}
		if _, err := property.count(limit); err != nil { // for its errors; logic.Steps computes the numbers
			return 0, 0, false, err
		}
	}
	minSteps, maxSteps, err = logic.Steps(bound)
	return minSteps, maxSteps, true, err
}

// count evaluates a number of steps.
func (property *parametricProperty) count(expr sema.Expr) (int, error) {
	value, _, err := sema.EvalExact(expr, nil)
	if err == nil && value.Type != sema.Int {
		err = result.Refuse(&property.property.Instance, result.Unsupported, property.property.Pos, "found %v steps, want a whole number", value)
	}
	return int(value.Int), err
}

// reward returns the value of the operator R as a function of the parameters. In an MDP it supports only R [ F target ].
func (property *parametricProperty) reward(formula *logic.Formula) (*piecewise, error) {
	objective := formula.Objective
	if objective.Form == logic.ConditionalReward || objective.Form == logic.Discounted {
		return nil, property.unsupported(formula.Expr, logic.Describe(objective.Expr))
	}
	target, err := property.rewardTarget(formula)
	if err != nil {
		return nil, err
	}
	rewards, err := property.chain.Rewards(objective.Struct)
	if err != nil {
		return nil, err
	}
	switch isMDP := property.program.Type == syntax.MDP; {
	case isMDP && target == nil:
		return property.rewardOfSteps(formula, rewards)
	case isMDP:
		return property.bestOverSchedulers(formula, parametric.Question{Right: target, Rewards: rewards}, false, property.best)
	case target != nil:
		return onePiece(property.chain.ReachReward(property.ctx, rewards, target))
	}
	return onePiece(property.rewardWithoutTarget(formula, rewards))
}

// rewardOfSteps returns the minimal or maximal R [ C<=k ] or R [ I=k ] of an MDP, as a function of the parameters. rewards has the reward of each row.
func (property *parametricProperty) rewardOfSteps(formula *logic.Formula, rewards []*ratfunc.Func) (*piecewise, error) {
	objective := formula.Objective
	isInstant := objective.Form == logic.Instantaneous
	if objective.Form != logic.Cumulative && !isInstant {
		return nil, property.unsupported(formula.Expr, "another reward than F, C<=k or I=k of an MDP")
	}
	steps, err := property.count(objective.At)
	if err != nil {
		return nil, err
	}
	firstStep, lastStep := 0, steps-1
	if isInstant {
		firstStep, lastStep = steps, steps
		if rewards, err = property.chain.StateRewards(objective.Struct); err != nil {
			return nil, err
		}
	}
	solve := func(question parametric.Question) ([]parametric.Piece, error) {
		return property.chain.BestReward(property.ctx, question, firstStep, lastStep, property.lowerBounds, property.upperBounds)
	}
	return property.bestOverSchedulers(formula, parametric.Question{Rewards: rewards}, false, solve)
}

// rewardTarget returns the target of a reward objective F. It returns nil for an objective that has no path formula, such as C.
func (property *parametricProperty) rewardTarget(formula *logic.Formula) (*sparse.Set, error) {
	path := formula.Objective.Path
	if path == nil {
		return nil, nil
	}
	isReachability := path.IsTemporal && !path.IsNegated && path.Op == syntax.Future && path.Bound == nil
	if !isReachability {
		return nil, property.unsupported(formula.Expr, "this reward")
	}
	return property.states(path.Right)
}

// rewardWithoutTarget returns R [ C ], R [ S ], R [ C<=k ] or R [ I=k ] in a Markov chain, as a function of the parameters. rewards[s] is the
// reward of a step from state s.
func (property *parametricProperty) rewardWithoutTarget(formula *logic.Formula, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	objective := formula.Objective
	switch {
	case objective.Form == logic.LongRun:
		return property.chain.LongRun(property.ctx, rewards)
	case objective.Form == logic.CostBoundedReward:
		return nil, property.unsupported(formula.Expr, logic.Describe(objective.Expr))
	case objective.Form == logic.TotalReward:
		return property.chain.Total(property.ctx, rewards)
	case property.program.Type == syntax.CTMC, objective.Form == logic.TimedCumulative, objective.Form == logic.TimedInstantaneous:
		return nil, property.unsupported(formula.Expr, "a reward at or until a time")
	}
	steps, err := property.count(objective.At)
	if err != nil {
		return nil, err
	}
	if objective.Form == logic.Cumulative {
		return property.chain.Cumulative(property.ctx, rewards, steps)
	}
	stateRewards, err := property.chain.StateRewards(objective.Struct)
	if err != nil {
		return nil, err
	}
	return property.chain.Instantaneous(property.ctx, stateRewards, steps)
}

// states returns the states that satisfy a formula. It is an error if the formula has a nested operator, because the satisfying states could
// then depend on the parameters.
func (property *parametricProperty) states(expr sema.Expr) (*sparse.Set, error) {
	if nested := logic.Nested(expr, property.property.Program.Labels); nested != nil {
		return nil, result.Refuse(&property.property.Instance, result.Unsupported, nested.Pos(), "found a nested operator in a model with parameters; the states in which it holds may depend on parameters; want a value for each parameter (--const)")
	}
	instance := &property.property.Instance
	query := &check.Property{
		Property: sema.Property{Text: instance.Text, Expr: expr, Pos: instance.Pos}, Program: instance.Program, File: instance.File,
	}
	values, verdict := property.pointModel.checker.Values(property.ctx, query)
	if verdict.Err != nil {
		return nil, verdict.Err
	}
	set := sparse.NewSet(len(values.Lo))
	for state, value := range values.Lo {
		if value == 1 { // true
			set.Add(state)
		}
	}
	return set, nil
}
