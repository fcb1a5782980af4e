package check

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/solve/pareto"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const (
	maxObjectives = 12
	// weightBits is the number of bits of the weights of objectives, unless fractions are computed.
	weightBits = 48
)

// objective is one operand of multi(…).
type objective struct {
	expr    sema.Expr
	index   int // among the objectives of the product
	form    form
	isQuery bool
	bound   *big.Rat // nil if isQuery is true
	// isMaximised says that the value should be large: at least bound, or maximal. It is always true for a path formula: if the
	// probability should be small, isComplement is true too, and the objective is the negated formula.
	isMaximised, isComplement bool

	// An until objective: left U right, or the negation of that.
	left, right *sparse.Set
	isNegated   bool
	// The set that a recurring objective visits infinitely often, and in which a lasting one stays from some time on.
	repeatedStates *sparse.Set
	// The automaton of a linear objective, which is any other path formula.
	reader *automatonReader
	// A reward objective: the reward of the first steps, or of all steps if their number is negative. With a target, which is nil
	// for C and C<=k, only the steps before the target count. maxRewards are upper bounds from each state of the product, once
	// they are needed.
	reward     *sparse.Reward
	steps      int
	target     *sparse.Set
	maxRewards []*big.Rat
}

// form is the form of an objective.
type form uint8

const (
	untilForm form = iota
	recurringForm
	lastingForm
	automatonForm
	rewardForm
)

// evaluateMulti evaluates multi(...) in the initial state. If all objectives have bounds, the value is true if some scheduler satisfies all of
// them. With one query, such as Pmax=?, the value is the optimum under the bounds, or NaN if no scheduler satisfies them. With several queries,
// the value is their Pareto curve.
//
// Source: Etessami, Kwiatkowska, Vardi and Yannakakis, Multi-objective model checking of Markov decision processes (LMCS 2008).
func (e *evaluation) evaluateMulti(formula *logic.Formula) (result.Value, *result.Interval, error) {
	if err := e.checkMultiSupported(formula); err != nil {
		return result.Value{}, nil, err
	}
	objectives, err := e.operandObjectives(formula.Objectives)
	if err != nil {
		return result.Value{}, nil, err
	}
	if formula.Kind == logic.Lexicographic {
		if hasTarget := func(objective *objective) bool { return objective.target != nil }; slices.ContainsFunc(objectives, hasTarget) {
			return result.Value{}, nil, e.unsupportedError(formula.Expr, "found an R operator with F in multilex(...), want P of a path formula, or R with C or C<=k")
		}
		return e.evaluateLexicographic(formula, objectives)
	}
	multi := &multiEvaluation{evaluation: e, objectives: objectives}
	if err := multi.prepareProduct(formula.Expr); err != nil {
		return result.Value{}, nil, err
	}
	defer e.beginRecording(formula)()
	multi.keepsSchedulers, e.opts.Scheduler = e.opts.Scheduler, false // solvers return schedulers of the product; multi converts them
	if formula.Pareto() {
		return multi.paretoCurve(formula.Expr)
	}
	return multi.optimalValue(formula.Expr)
}

// optimalValue returns the value of multi(...) with at most one query. expr is the property.
func (multi *multiEvaluation) optimalValue(expr sema.Expr) (result.Value, *result.Interval, error) {
	best, err := multi.optimum(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	if best.Point == nil {
		return multi.valueIfUnsatisfiable(expr)
	}
	if err := multi.recordMixture(best.Coefficients); err != nil {
		return result.Value{}, nil, err
	}
	return multi.valueOfBest(expr, best)
}

// checkMultiSupported returns an error if the model, the schedulers or the number of objectives is not supported for multi(...) or
// multilex(...).
func (e *evaluation) checkMultiSupported(formula *logic.Formula) error {
	found := logic.Describe(formula.Expr)
	switch {
	case e.onlyFairSchedulers():
		return e.unsupportedError(formula.Expr, "found %s, which is not supported for fair schedulers", found)
	case e.modelKind() != sparse.MDP || e.property.Program.Type != syntax.MDP:
		return e.unsupportedError(formula.Expr, "found %s for %s, want an MDP", found, noun.WithArticle(e.property.Program.Type.String()))
	case len(e.space.Model().Initial) > 1:
		return e.unsupportedError(formula.Expr, "found %s for a model with several initial states", found)
	case len(formula.Objectives) > maxObjectives:
		return e.unsupportedError(formula.Expr, "found %s with more than %d objectives", found, maxObjectives)
	}
	return nil
}

// optimum returns the optimum of the query among the schedulers that satisfy the bounds of the other objectives. Without a query, it returns any
// scheduler that satisfies the bounds. The field Point of the result is nil if no scheduler with finite expected rewards satisfies the bounds. expr is
// the property, for errors.
func (multi *multiEvaluation) optimum(expr sema.Expr) (*pareto.Best, error) {
	direction, lowerBounds := multi.directionAndLowerBounds()
	best, err := multi.newCurve().Maximize(multi.evaluation.ctx, direction, lowerBounds, multi.optimumWidth())
	switch {
	case errors.Is(err, errInfiniteCost):
		return &pareto.Best{}, nil
	case errors.Is(err, pareto.ErrUndecided):
		return nil, &undecidedError{expr.Pos(), "the bounds of the values do not decide whether a scheduler meets all objectives"}
	case err != nil:
		return nil, err
	}
	return best, nil
}

// newCurve returns the Pareto curve of all objectives, before its first weighted sum.
func (multi *multiEvaluation) newCurve() *pareto.Curve {
	return pareto.New(len(multi.objectives), multi.bestWeightedSum, multi.weightBits())
}

// weightBits returns the number of bits of the weights of objectives; 0 stands for no limit.
func (multi *multiEvaluation) weightBits() uint {
	if multi.evaluation.wantsFractions {
		return 0
	}
	return weightBits
}

// optimumWidth returns the required relative width of the bounds of an optimum. It is 0 in exact computations.
func (multi *multiEvaluation) optimumWidth() float64 {
	if multi.evaluation.wantsFractions {
		return 0
	}
	return multi.evaluation.opts.Epsilon
}

// valueIfUnsatisfiable returns the value of multi(...) if no scheduler with finite expected rewards satisfies the bounds. The value is infinite if the
// query minimises a reward and some scheduler satisfies the bounds with an infinite value of this reward. Otherwise it is false or NaN. expr is the
// property.
func (multi *multiEvaluation) valueIfUnsatisfiable(expr sema.Expr) (result.Value, *result.Interval, error) {
	query := multi.queryIndex()
	minimisesReward := query >= 0 && multi.objectives[query].form == rewardForm && !multi.objectives[query].isMaximised
	if !minimisesReward {
		return multi.valueOfBest(expr, &pareto.Best{})
	}
	isSatisfiable, err := multi.satisfiableWithout(query, expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	if !isSatisfiable {
		return multi.valueOfBest(expr, &pareto.Best{})
	}
	if !multi.evaluation.wantsFractions {
		multi.evaluation.limitAccuracy(result.Bounded)
	}
	infinite := math.Inf(1)
	return result.Value{Kind: result.Number, Num: infinite}, &result.Interval{Lo: infinite, Hi: infinite}, nil
}

// queryIndex returns the index of the first query among the objectives, or -1 if no objective is a query.
func (multi *multiEvaluation) queryIndex() int {
	return slices.IndexFunc(multi.objectives, func(objective *objective) bool { return objective.isQuery })
}

// satisfiableWithout reports whether some scheduler with finite expected rewards satisfies the bounds of all objectives but one, the objective with
// index query. expr is the property, for errors.
func (m *multiEvaluation) satisfiableWithout(query int, expr sema.Expr) (bool, error) {
	otherObjectives := &multiEvaluation{evaluation: m.evaluation}
	for i, objective := range m.objectives {
		if i == query {
			continue
		}
		otherObjective := *objective // keeps the maxRewards of multi.product
		otherObjectives.objectives = append(otherObjectives.objectives, &otherObjective)
	}
	if len(otherObjectives.objectives) == 0 {
		return true, nil
	}
	if err := otherObjectives.prepareProduct(expr); err != nil {
		return false, err
	}
	best, err := otherObjectives.optimum(expr)
	if err != nil {
		return false, err
	}
	return best.Point != nil, nil
}

// recordMixture records a controller for a mixture of multi.schedulers: at the start it draws scheduler i with probability shares[i]. It does
// nothing if multi.keepsSchedulers is false.
func (multi *multiEvaluation) recordMixture(shares []*big.Rat) error {
	if !multi.keepsSchedulers {
		return nil
	}
	var schedulers []weightedScheduler
	for i, share := range shares {
		if share.Sign() > 0 {
			scheduler := multi.schedulers[i]
			scheduler.share = share
			schedulers = append(schedulers, scheduler)
		}
	}
	controller, err := multi.controller(multi.evaluation.ctx, schedulers)
	multi.evaluation.schedulerRequest.controller = controller
	return err
}

// directionAndLowerBounds returns the weight of each objective in the sum to maximise: 1 for a query, 0 for an objective with a bound. It also
// returns the lower bound of each objective, or nil for a query. Package pareto maximises all objectives, so the bound of a minimised objective
// gets a negative sign.
func (multi *multiEvaluation) directionAndLowerBounds() (direction, lowerBounds []*big.Rat) {
	direction = make([]*big.Rat, len(multi.objectives))
	lowerBounds = make([]*big.Rat, len(multi.objectives))
	for i, objective := range multi.objectives {
		direction[i] = new(big.Rat)
		switch {
		case objective.isQuery:
			direction[i].SetInt64(1)
		case objective.isMaximised:
			lowerBounds[i] = objective.bound
		default:
			lowerBounds[i] = new(big.Rat).Neg(objective.bound)
		}
	}
	return direction, lowerBounds
}

// operandObjectives converts the operands of multi(...) to objectives.
func (e *evaluation) operandObjectives(operands []sema.Expr) ([]*objective, error) {
	var objectives []*objective
	for _, operand := range operands {
		objective, err := e.operandObjective(operand)
		if err != nil {
			return nil, err
		}
		objectives = append(objectives, objective)
	}
	return objectives, nil
}

// operandObjective converts an operand of multi(...), which must be P or R, to an objective. A probability to be minimised becomes the probability of
// the negated formula, to be maximised.
func (e *evaluation) operandObjective(expr sema.Expr) (*objective, error) {
	formula := logic.FormulaOf(expr)
	if formula.Kind != logic.Probability && formula.Kind != logic.Reward {
		return nil, e.unsupportedError(expr, "found %s in multi(...), want P or R", logic.Describe(expr))
	}
	objective, err := e.newObjective(formula)
	if err != nil {
		return nil, err
	}
	if formula.Kind == logic.Reward {
		return objective, e.setReward(objective, formula)
	}
	if !objective.isMaximised { // a small probability of the formula is a large probability of its negation
		objective.isComplement, objective.isMaximised = true, true
		if objective.bound != nil {
			objective.bound = new(big.Rat).Sub(big.NewRat(1, 1), objective.bound)
		}
	}
	return objective, e.setPathFormula(objective, formula.Path)
}

// newObjective returns an objective with the threshold of P or R: a query or a bound. The caller sets its path formula or its reward.
func (e *evaluation) newObjective(formula *logic.Formula) (*objective, error) {
	expr, threshold := formula.Expr, formula.Threshold
	direction, hasDirection := directionOf(threshold, false)
	switch {
	case !hasDirection:
		return nil, e.failure(result.TypeError, expr.Pos(), "found an operator in multi(...) without min, max or a bound")
	case threshold.Rel == syntax.OpGt || threshold.Rel == syntax.OpLt:
		return nil, e.unsupportedError(expr, "found a strict bound in multi(...), want >= or <=")
	case threshold.IsQuery():
		return &objective{expr: expr, isQuery: true, isMaximised: direction == solve.Max}, nil
	}
	bound, err := e.thresholdBound(formula)
	if err != nil {
		return nil, err
	}
	if bound.Exact == nil {
		return nil, e.unsupportedError(expr, "found a bound in multi(...) that is not a fraction")
	}
	return &objective{expr: expr, isMaximised: threshold.Rel == syntax.OpGe, bound: bound.Exact}, nil
}

// setPathFormula sets the path formula of an objective: path, or the negation of path if objective.isComplement is true.
func (e *evaluation) setPathFormula(objective *objective, path *logic.Path) error {
	isNegated := path.IsNegated != objective.isComplement // two negations cancel out
	operand, eventuallyAlways, isRepeated := path.Repeated()
	switch {
	case path.Form == logic.InitialState:
		return e.setStateFormula(objective, path.Right, isNegated)
	case isRepeated:
		return e.setRepeatedFormula(objective, operand, eventuallyAlways, isNegated)
	case path.Unbounded():
		return e.setUntil(objective, path, isNegated)
	}
	return e.setAutomaton(objective, path.Expr, isNegated)
}

// setStateFormula sets the path formula of an objective to a state formula f, written as `false U f`, or to its negation if isNegated is true.
func (e *evaluation) setStateFormula(objective *objective, stateFormula sema.Expr, isNegated bool) error {
	states, err := e.satisfyingStates(stateFormula)
	if err != nil {
		return err
	}
	objective.left = sparse.NewSet(e.space.Model().NumStates())
	objective.right = states
	objective.isNegated = isNegated
	return nil
}

// setUntil sets the path formula of an objective to F, G, U, W or R of state formulas, or to its negation if isNegated is true. It converts the formula
// to an until formula, or to the negation of an until formula.
func (e *evaluation) setUntil(objective *objective, path *logic.Path, isNegated bool) error {
	left, right, err := e.operandStates(path.Left, path.Right)
	if err != nil {
		return err
	}
	left, right, isNegatedUntil := Sets.AsUntil(path.Op, left, right)
	objective.left, objective.right, objective.isNegated = left, right, isNegatedUntil != isNegated
	return nil
}

// setRepeatedFormula sets the path formula of an objective to `F G operand` if eventuallyAlways is true, else to `G F operand`, or to its
// negation if isNegated is true.
func (e *evaluation) setRepeatedFormula(objective *objective, operand sema.Expr, eventuallyAlways, isNegated bool) error {
	states, err := e.satisfyingStates(operand)
	if err != nil {
		return err
	}
	if isNegated { // !(G F a) is F G !a, and !(F G a) is G F !a
		states, eventuallyAlways = states.Complement(), !eventuallyAlways
	}
	objective.form, objective.repeatedStates = recurringForm, states
	if eventuallyAlways {
		objective.form = lastingForm
	}
	return nil
}

// setAutomaton sets the path formula of an objective to an LTL formula, or to its negation if isNegated is true. The objective stores an automaton
// of this formula.
func (e *evaluation) setAutomaton(objective *objective, expr sema.Expr, isNegated bool) error {
	linear := &linearEvaluation{evaluation: e, rootFormula: expr}
	formula, err := linear.translate(expr)
	if err != nil {
		return err
	}
	if isNegated {
		formula = automata.Unary(automata.Not, formula)
	}
	automaton, err := automata.New(formula, automata.Limits{})
	if err != nil {
		return linear.tooLargeError(err)
	}
	objective.form, objective.reader = automatonForm, &automatonReader{automaton: automaton, letters: newLetters(linear.evaluation.graph.NumStates(), linear.propositionStates)}
	return nil
}

// setReward sets the reward structure of an objective, and how many steps earn rewards: k for C<=k, and -1 for a total reward C, to which all steps
// contribute, and for F a, to which all steps before a contribute.
func (e *evaluation) setReward(objective *objective, formula *logic.Formula) error {
	reward := formula.Objective
	if reward.Err != nil {
		return reward.Err
	}
	if unsupported := unsupportedInMulti(reward); unsupported != "" {
		return e.unsupportedError(formula.Expr, "found %s in multi(...), want P of a path formula, or R with F, C or C<=k", unsupported)
	}
	const allSteps = -1
	objective.form, objective.steps = rewardForm, allSteps
	var err error
	switch reward.Form {
	case logic.Cumulative:
		objective.steps, err = e.rewardSteps(reward)
	case logic.ReachReward:
		objective.target, err = e.satisfyingStates(reward.Target)
	}
	if err != nil {
		return err
	}
	objective.reward, err = e.reward(reward.Struct)
	return err
}

// unsupportedInMulti returns a description of a reward objective that multi(...) does not support, for an error message. It returns "" for F, C and
// C<=k.
func unsupportedInMulti(reward *logic.Objective) string {
	switch {
	case reward.IsRatio:
		return "a ratio of rewards"
	case reward.Path != nil && reward.Form != logic.ReachReward:
		return "an R operator of a path formula other than F"
	case reward.Form == logic.CostBoundedReward, reward.Form == logic.ConditionalReward, reward.Form == logic.Discounted:
		return logic.Describe(reward.Expr)
	case reward.Form == logic.LongRun:
		return "a long-run average, R [ S ],"
	case reward.Form == logic.TimedCumulative:
		return "an R operator with C<=t of a Markov automaton"
	case reward.Form == logic.Instantaneous, reward.Form == logic.TimedInstantaneous:
		return "an R operator with I=k"
	}
	return ""
}

// fromParetoValue converts a value v of package pareto, which maximises all objectives, to the value of the objective: 1-v for a complement, -v
// for a minimised objective, else v.
func (objective *objective) fromParetoValue(value *big.Rat) *big.Rat {
	switch {
	case objective.isComplement:
		return new(big.Rat).Sub(big.NewRat(1, 1), value)
	case !objective.isMaximised:
		return new(big.Rat).Neg(value)
	}
	return value
}

// valueOfBest converts an optimum of package pareto to the value of the property, with bounds. If best.Point is nil, no scheduler satisfies the
// bounds of the objectives: the value is false or NaN. expr is the property.
func (multi *multiEvaluation) valueOfBest(expr sema.Expr, best *pareto.Best) (result.Value, *result.Interval, error) {
	if !multi.evaluation.wantsFractions {
		multi.evaluation.limitAccuracy(result.Bounded)
	}
	if expr.Type() == sema.Bool {
		return result.Value{Kind: result.Boolean, Bool: best.Point != nil}, nil, nil
	}
	if best.Point == nil {
		return multi.unsatisfiableValue(), nil, nil
	}
	query := multi.queryIndex()
	objective := multi.objectives[query]
	lower, upper := best.Point[query], best.Upper
	if objective.isComplement || !objective.isMaximised {
		lower, upper = objective.fromParetoValue(upper), objective.fromParetoValue(lower)
	}
	optimum := objective.numberBetween(lower, upper)
	multi.evaluation.width = relativeWidth(optimum)
	return resultValue(optimum, sema.Double), &result.Interval{Lo: optimum.Lo, Hi: optimum.Hi}, nil
}

// unsatisfiableValue returns the value of queries if no scheduler meets the bounds of the other objectives, NaN as in PRISM, and adds a warning.
func (multi *multiEvaluation) unsatisfiableValue() result.Value {
	multi.evaluation.warnings = append(multi.evaluation.warnings, "NaN: no scheduler meets the bounds of the other objectives")
	return result.Value{Kind: result.Number, Num: math.NaN()}
}

// numberBetween returns a value of the objective from bounds that are fractions. If they are equal, the value is this fraction; otherwise it has float64
// bounds within the range of the objective.
func (objective *objective) numberBetween(lower, upper *big.Rat) number {
	if lower.Cmp(upper) == 0 {
		return exactNumber(lower)
	}
	bounds := boundedNumber(max(interval.Around(lower).Lo, 0), interval.Around(upper).Hi)
	if objective.form != rewardForm { // a probability
		bounds.Hi = min(bounds.Hi, 1)
	}
	return bounds
}
