package check

import (
	"math/big"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// optimisationDirection returns whether P or R asks for the minimum or the maximum over schedulers. For a Markov chain it returns Max, because there is
// nothing to choose. It is an error if the model is nondeterministic and a query has neither min nor max.
func (e *evaluation) optimisationDirection(formula *logic.Formula) (solve.Direction, error) {
	if e.space.Model().Intervals() {
		return e.robustDirection(formula)
	}
	if e.modelKind() != sparse.MDP {
		return solve.Max, nil
	}
	direction, hasDirection := directionOf(formula.Threshold, e.forSomeScheduler)
	letter := formula.Letter()
	switch {
	case !hasDirection && formula.Extremum != syntax.NoExtremum:
		return direction, e.unsupportedError(formula.Expr, "found %s%s=?, which is for models with two kinds of nondeterminism", letter, formula.Extremum)
	case !hasDirection:
		hint := ""
		if model := e.space.Model(); model.NumChoices() == model.NumStates() {
			hint = "; both have the same value here, because no state has several choices"
		}
		return direction, e.failure(result.TypeError, formula.Expr.Pos(), "found %s=? for a nondeterministic model, want %smin=? or %smax=?%s%s", letter, letter, letter, hint, implicitTypeHint(e.property.Program))
	}
	return direction, nil
}

// satisfyingStates returns all states of the model that satisfy a nested state formula. The coalition of the outer formula does not apply to it,
// and its bounds must hold under all schedulers.
func (e *evaluation) satisfyingStates(expr sema.Expr) (*sparse.Set, error) {
	outerScope := e.scope
	defer func() { e.scope = outerScope }()
	e.forSomeScheduler, e.coalition, e.neededStates = false, nil, nil
	return e.decidedStates(expr)
}

// operatorValue returns the value of P, R or S in each state. It records a scheduler if the caller of the evaluation asked for one of this operator.
func (e *evaluation) operatorValue(formula *logic.Formula) (*numbers, error) {
	defer e.beginRecording(formula)()
	switch formula.Kind {
	case logic.Probability:
		return e.probabilityOperator(formula)
	case logic.SteadyState:
		return e.steadyStateProbability(formula)
	}
	return e.rewardOperator(formula)
}

// probabilityOperator returns the value of a P operator in every state. If the caller of the evaluation asked for a scheduler of this operator, it also
// stores the values in e.schedulerRequest.
func (e *evaluation) probabilityOperator(formula *logic.Formula) (*numbers, error) {
	if e.property.Program.Type == syntax.LTS {
		return nil, e.unsupportedError(formula.Expr, "found a P operator for a model without probabilities, want E or A%s", implicitTypeHint(e.property.Program))
	}
	direction, err := e.optimisationDirection(formula)
	if err != nil {
		return nil, err
	}
	if e.onlyFairSchedulers() && e.space.Program().Type != syntax.MDP {
		return nil, e.unsupportedError(formula.Expr, "found fair schedulers of %s, want an MDP", noun.WithArticle(e.space.Program().Type.String()))
	}
	if e.partiallyObservable() {
		return asProbability(e.observedProbability(formula.Path, direction))
	}
	values, err := asProbability(e.pathProbability(formula.Path, direction))
	if err != nil {
		return nil, err
	}
	if e.schedulerRequest != nil && e.schedulerRequest.operator == formula.Expr {
		e.schedulerRequest.values = values
	}
	return values, nil
}

// asProbability marks values as probabilities: a value with different bounds is neither 0 nor 1. If err is not nil, it returns err.
func asProbability(values *numbers, err error) (*numbers, error) {
	if err != nil {
		return nil, err
	}
	values.areProbabilities = true
	return values, nil
}

// pathProbability returns the minimal or maximal probability of a path formula.
func (e *evaluation) pathProbability(path *logic.Path, direction solve.Direction) (*numbers, error) {
	if !path.IsNegated {
		return e.probabilityWithoutNegation(path, direction)
	}
	values, err := e.probabilityWithoutNegation(path, direction.Opposite())
	if err != nil {
		return nil, err
	}
	return e.complement(values), nil
}

// probabilityWithoutNegation returns the minimal or maximal probability of a path formula. It ignores path.IsNegated, the negation in front of the
// formula.
func (e *evaluation) probabilityWithoutNegation(path *logic.Path, direction solve.Direction) (*numbers, error) {
	if e.coalition != nil && path.Form == logic.CostBounded {
		return nil, e.unsupportedError(path.Expr, "found %s for a coalition of players, want a path formula without bounds on rewards", logic.Describe(path.Expr))
	}
	switch path.Form {
	case logic.InitialState:
		set, err := e.satisfyingStates(path.Right)
		if err != nil {
			return nil, err
		}
		return e.indicator(set), nil
	case logic.CostBounded:
		return e.costBounded(path, direction)
	case logic.Conditional:
		return e.conditionalProbability(path, direction)
	case logic.Next:
		set, err := e.satisfyingStates(path.Right)
		if err != nil {
			return nil, err
		}
		e.recordUntil(e.allStates(), set, solve.StepBound{Low: 1, High: 1}, false)
		return e.nextProbability(set, direction)
	case logic.Until:
		hasOnlyLowerBound := path.Bound != nil && path.Bound.High == nil
		if e.onlyFairSchedulers() && hasOnlyLowerBound { // fairness matters, because infinitely many steps count
			return e.linearProbability(path.Expr, direction)
		}
		return e.temporalProbability(path, direction)
	}
	return e.linearProbability(path.Expr, direction)
}

// linearProbability returns the minimal or maximal probability of an LTL formula. In a game, the coalition optimises in the given direction.
func (e *evaluation) linearProbability(expr sema.Expr, direction solve.Direction) (*numbers, error) {
	if e.coalition == nil {
		return e.ltlProbability(expr, direction)
	}
	commonDirection, sameForAll := e.coalitionGame(direction).Direction()
	if !sameForAll || e.opts.Scheduler {
		return e.gameLTLValue(expr, direction)
	}
	// All players optimise in the same direction: the game is an MDP, which needs smaller automata.
	coalition := e.coalition
	e.coalition = nil
	defer func() { e.coalition = coalition }()
	return e.ltlProbability(expr, commonDirection)
}

// indicator returns the value 1 for the states of a set, and 0 for other states.
func (e *evaluation) indicator(set *sparse.Set) *numbers {
	values := e.constantNumbers(exactNumber(new(big.Rat)), result.Exact)
	one := exactNumber(big.NewRat(1, 1))
	for s := range set.All() {
		values.setNumber(s, one)
	}
	return values
}

// complement returns 1 minus each probability, with bounds cut to the interval from 0 to 1.
func (e *evaluation) complement(probabilities *numbers) *numbers {
	complements := probabilities.zeros(len(probabilities.lower))
	one := exactNumber(big.NewRat(1, 1))
	for s := range probabilities.lower {
		value, _ := applyArithmetic(syntax.OpSub, one, probabilities.numberAt(s))
		value.Lo = max(value.Lo, 0)
		value.Hi = min(value.Hi, 1)
		complements.setNumber(s, value)
	}
	return complements
}

// nextProbability returns the minimal or maximal probability of X set.
func (e *evaluation) nextProbability(set *sparse.Set, direction solve.Direction) (*numbers, error) {
	if e.coalition != nil {
		return e.toNumbers(e.coalitionGame(direction).Next(e.ctx, set, e.opts))
	}
	return e.toNumbers(solve.Next(e.ctx, e.graph, set, direction, e.opts))
}

// toNumbers converts a solution of package solve to numbers. It also records the scheduler of the solution and how it was computed. values and err are
// the results of a function of package solve; if err is not nil, toNumbers returns it.
func (e *evaluation) toNumbers(values *solve.Values, err error) (*numbers, error) {
	if err != nil {
		return nil, err
	}
	e.recordScheduler(values)
	if !values.Converged {
		e.hitSweepLimit = true
	}
	if values.Extended {
		e.usedExtendedRange = true
	}
	return solutionNumbers(values), nil
}

// operandStates returns the states that satisfy the operands of a temporal operator. If leftExpr is nil, left contains all states.
func (e *evaluation) operandStates(leftExpr, rightExpr sema.Expr) (left, right *sparse.Set, err error) {
	left = e.allStates()
	if leftExpr != nil {
		left, err = e.satisfyingStates(leftExpr)
		if err != nil {
			return nil, nil, err
		}
	}
	right, err = e.satisfyingStates(rightExpr)
	return left, right, err
}

// Sets has the Boolean operations on sets of states.
var Sets = logic.Algebra[*sparse.Set]{
	Not:     (*sparse.Set).Complement,
	And:     (*sparse.Set).Intersect,
	Neither: func(a, b *sparse.Set) *sparse.Set { return a.Union(b).Complement() },
}

// temporalProbability returns the minimal or maximal probability of F, G, U, W or R of state formulas, with or without a bound. It rewrites the formula
// to an until formula, or to the negation of an until formula.
func (e *evaluation) temporalProbability(path *logic.Path, direction solve.Direction) (*numbers, error) {
	left, right, err := e.operandStates(path.Left, path.Right)
	if err != nil {
		return nil, err
	}
	left, right, isNegated := Sets.AsUntil(path.Op, left, right)
	if isNegated {
		direction = direction.Opposite()
	}
	right = e.withUnexplored(path, left, right)
	if path.Bound != nil && e.modelKind() == sparse.CTMC {
		return e.timedUntil(path, left, right, isNegated)
	}
	values, err := e.untilProbability(path, left, right, direction, isNegated)
	if err != nil || !isNegated {
		return values, err
	}
	return e.complement(values), nil
}

// untilProbability returns the minimal or maximal probability of `left U right` with the bound of path. isNegated says that path is the negation
// of this until formula; only the recorded formula depends on it.
func (e *evaluation) untilProbability(path *logic.Path, left, right *sparse.Set, direction solve.Direction, isNegated bool) (*numbers, error) {
	switch {
	case e.coalition != nil:
		return e.gameUntil(path, left, right, direction)
	case path.Bound == nil && direction == solve.Min && e.onlyFairSchedulers():
		return e.fairUntil(left, right)
	case path.Bound == nil:
		e.recordUntil(left, right, solve.StepBound{High: solve.Unbounded}, isNegated)
		return e.unboundedUntil(left, right, direction)
	}
	steps, err := e.stepInterval(path)
	if err != nil {
		return nil, err
	}
	if err := e.checkWeights(max(steps.Low, steps.High)); err != nil {
		return nil, err
	}
	e.recordUntil(left, right, steps, isNegated)
	return e.toNumbers(solve.BoundedUntil(e.ctx, e.graph, left, right, steps, direction, e.stepOptions(max(steps.Low, steps.High))))
}

// unboundedUntil returns the minimal or maximal probability of `left U right`. If e.solver is not nil, it is asked first. If it returns no values,
// package solve computes them.
func (e *evaluation) unboundedUntil(left, right *sparse.Set, direction solve.Direction) (*numbers, error) {
	if e.solver != nil {
		values, err := e.solver.Until(e.ctx, left, right, direction)
		if values != nil || err != nil {
			return e.toNumbers(values, err)
		}
	}
	return e.toNumbers(solve.Until(e.ctx, e.graph, left, right, direction, e.optionsForScope()))
}

// checkWeights returns errRoundedWeights if the weights of the model have too large rounding errors for that many steps, and the caller wants
// this error.
func (e *evaluation) checkWeights(steps int) error {
	if e.refusesRoundedWeights && solve.StepsNeedFractions(e.graph, steps, e.opts) {
		return errRoundedWeights
	}
	return nil
}

// stepOptions returns the options of package solve for a formula with a bound of the given number of steps. An exact evaluation computes float64 bounds
// if its caller allows bounds and they are much faster than fractions.
func (e *evaluation) stepOptions(steps int) solve.Options {
	opts := e.optionsForScope()
	mayUseBounds := e.wantsFractions && e.allowsBounds && e.schedulerRequest == nil
	if mayUseBounds && solve.BoundsAreFaster(e.graph, steps) {
		opts.Exact, opts.Within = false, nil
		if e.graph.Kind == sparse.DTMC { // squaring ends soon; in an MDP, single steps may be needed
			opts.MaxWork = 0
		}
	}
	return opts
}

// optionsForScope returns the options of package solve for the current scope. Fractions are computed only in the states of the scope, unless
// all values or a scheduler are wanted.
func (e *evaluation) optionsForScope() solve.Options {
	opts := e.opts
	if e.wantsFractions && !e.wantsValues && e.schedulerRequest == nil {
		opts.Within = e.neededStates
	}
	return opts
}

// stepInterval evaluates the bound of a temporal operator to the least and the greatest number of steps. An empty interval is an error.
func (e *evaluation) stepInterval(path *logic.Path) (solve.StepBound, error) {
	bound, operator := path.Bound, path.Op.String()
	first, err := e.firstStep(bound, operator)
	if err != nil {
		return solve.StepBound{}, err
	}
	if bound.High == nil {
		return solve.StepBound{Low: first, High: solve.Unbounded}, nil
	}
	last, err := e.lastStep(bound, operator)
	switch {
	case err != nil:
		return solve.StepBound{}, err
	case last < first:
		return solve.StepBound{}, e.failure(result.TypeError, bound.High.Pos(), "bounds of the %s operator are empty: from step %d to step %d", operator, first, last)
	}
	return solve.StepBound{Low: first, High: last}, nil
}

// firstStep returns the least number of steps that satisfies the lower bound of an operator. It is 0 without a lower bound.
func (e *evaluation) firstStep(bound *sema.Bound, operator string) (int, error) {
	if bound.Low == nil {
		return 0, nil
	}
	low, err := e.stepCount(bound.Low, operator)
	switch {
	case err != nil:
		return 0, err
	case low < 0:
		return 0, e.failure(result.TypeError, bound.Low.Pos(), "lower bound %d of the %s operator is negative", low, operator)
	case bound.IsLowStrict:
		return low + 1, nil
	}
	return low, nil
}

// lastStep returns the greatest number of steps that satisfies the upper bound of an operator.
func (e *evaluation) lastStep(bound *sema.Bound, operator string) (int, error) {
	high, err := e.stepCount(bound.High, operator)
	if err != nil {
		return 0, err
	}
	last := high
	if bound.IsHighStrict {
		last--
	}
	if last < 0 {
		return 0, e.failure(result.TypeError, bound.High.Pos(), "upper bound %s%d of the %s operator holds at no time", upperRelation(bound.IsHighStrict), high, operator)
	}
	return last, nil
}

// upperRelation returns the relation of an upper bound: < if the bound is strict, else <=.
func upperRelation(isStrict bool) string {
	if isStrict {
		return "<"
	}
	return "<="
}

// stepCount evaluates a bound on steps, which must have type int. operator is the bounded operator, such as "F", for errors.
func (e *evaluation) stepCount(expr sema.Expr, operator string) (int, error) {
	if expr.Type() != sema.Int {
		found, modelType := noun.WithArticle(expr.Type().String()), noun.WithArticle(e.property.Program.Type.String())
		return 0, e.failure(result.TypeError, expr.Pos(), "time bound of the %s operator is %s, want an int for %s", operator, found, modelType)
	}
	count, err := logic.Count(expr)
	return count, e.withPosition(err)
}

// steadyStateProbability returns the value of an S operator in every state: the long-run probability of a set of states.
func (e *evaluation) steadyStateProbability(formula *logic.Formula) (*numbers, error) {
	switch {
	case e.property.Program.Type == syntax.LTS:
		return nil, e.unsupportedError(formula.Expr, "found an S operator for a model without probabilities%s", implicitTypeHint(e.property.Program))
	case e.partiallyObservable():
		return nil, e.unsupportedError(formula.Expr, "found an S operator for a partially observable model")
	case e.onlyFairSchedulers():
		return nil, e.unsupportedError(formula.Expr, "found an S operator, which is not supported for fair schedulers")
	case e.space.Model().Intervals():
		return nil, e.unsupportedError(formula.Expr, "found an S operator for a model with intervals")
	}
	direction, hasDirection := directionOf(formula.Threshold, e.forSomeScheduler)
	if !hasDirection && e.modelKind() == sparse.MDP {
		return nil, e.failure(result.TypeError, formula.Expr.Pos(), "found S=? for a nondeterministic model, want a bound such as S>=0.5, or Smin=? or Smax=? (--dialect storm)%s", implicitTypeHint(e.property.Program))
	}
	set, err := e.satisfyingStates(formula.Operand)
	if err != nil {
		return nil, err
	}
	if e.property.Program.Model().IsMarkovAutomaton() {
		// asProbability is left out, because it assumes that a value 0 or 1 has equal bounds. Here its bounds can differ.
		return e.longRunPerTime(formula, func(time *sparse.Reward) (*solve.Values, error) {
			return solve.SteadyStatePerTime(e.ctx, e.graph, set, time, direction, e.opts)
		})
	}
	return asProbability(e.toNumbers(solve.SteadyState(e.ctx, e.graph, set, direction, e.opts)))
}

// quantifiedTruth evaluates `E [path]` (some path satisfies the formula) or `A [path]` (all paths satisfy it) in each state.
func (e *evaluation) quantifiedTruth(formula *logic.Formula) (truth, error) {
	if e.onlyFairSchedulers() {
		return truth{}, e.unsupportedError(formula.Expr, "found E or A, which is not supported for fair schedulers")
	}
	path := formula.Path
	if path.Form != logic.Next && !path.Unbounded() {
		return e.quantifiedLinear(formula)
	}
	left, right, err := e.operandStates(path.Left, path.Right)
	if err != nil {
		return truth{}, err
	}
	left, right, isNegatedUntil := Sets.AsUntil(path.Op, left, right)
	isNegated := isNegatedUntil != path.IsNegated
	if isNegated { // E [!f] is !A [f], and A [!f] is !E [f]
		return decidedTruth(e.statesWithPaths(path, !formula.IsForAll, left, right)).not(), nil
	}
	return decidedTruth(e.statesWithPaths(path, formula.IsForAll, left, right)), nil
}

// statesWithPaths returns the states from which some path satisfies a path formula, or every path if forAll is true. The formula is `X right` if
// path.Form is Next, else `left U right`.
func (e *evaluation) statesWithPaths(path *logic.Path, forAll bool, left, right *sparse.Set) *sparse.Set {
	switch {
	case path.Form == logic.Next && forAll:
		return e.graph.ForallNext(right)
	case path.Form == logic.Next:
		return e.graph.ExistsNext(right)
	case forAll:
		return e.graph.ForallUntil(left, right)
	}
	return e.graph.ExistsUntil(left, right)
}
