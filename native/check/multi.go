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
	form    form
	isQuery bool
	bound   *big.Rat // nil if isQuery is true
	// maximised says that the value should be large: at least bound, or maximal. It is always true for a path formula: if the
	// probability should be small, isComplement is true too, and the objective is the negated formula.
	maximised, isComplement bool

	// An until objective: left U right, or the negation of that.
	left, right *sparse.Set
	isNegated   bool
	// The set that a recurring objective visits infinitely often, and in which a lasting one stays from some time on.
	set *sparse.Set
	// The automaton of a linear objective, which is any other path formula.
	reader *automatonReader
	// A reward objective: the reward of the first steps, or of all steps if their number is negative. maxRewards are upper
	// bounds from each state of the product, once they are needed.
	reward     *sparse.Reward
	steps      int
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

// evaluateMulti evaluates multi(...) in the initial state: whether some scheduler meets all bounds, or the optimal value of the one
// query among the schedulers that do; NaN if there are none.
//
// Source: Etessami, Kwiatkowska, Vardi and Yannakakis, Multi-objective model checking of Markov decision processes (LMCS
// 2008), for the product with the memory of the objectives. A path may end in a state from which a scheduler can stay forever
// in an end component that satisfies a set of objectives. Package pareto calls bestWeightedSum for optimal weighted sums.
func (e *evaluation) evaluateMulti(formula *logic.Formula) (result.Value, *result.Interval, error) {
	none := result.Value{}
	switch {
	case e.onlyFairSchedulers():
		return result.Value{}, nil, e.unsupported(formula.X, "found %s, which is not supported for fair schedulers", logic.Describe(formula.X))
	case e.kind() != sparse.MDP || e.property.Program.Type != syntax.MDP:
		return none, nil, e.unsupported(formula.X, "found %s for %s, want an MDP", logic.Describe(formula.X), noun.WithArticle(e.property.Program.Type.String()))
	case len(e.space.Model().Initial) > 1:
		return none, nil, e.unsupported(formula.X, "found %s for a model with several initial states", logic.Describe(formula.X))
	case len(formula.Objectives) > maxObjectives:
		return none, nil, e.unsupported(formula.X, "found %s with more than %d objectives", logic.Describe(formula.X), maxObjectives)
	}
	m := &multi{evaluation: e}
	for _, arg := range formula.Objectives {
		objective, err := e.operandObjective(arg)
		if err != nil {
			return none, nil, err
		}
		m.objectives = append(m.objectives, objective)
	}
	if formula.Kind == logic.Lexicographic {
		return e.evaluateLexicographic(formula, m.objectives)
	}
	if err := m.buildProduct(); err != nil {
		return none, nil, err
	}
	if err := m.findEnds(formula.X); err != nil {
		return none, nil, err
	}
	coarse, width := uint(weightBits), e.opts.Epsilon
	if e.exact {
		coarse, width = 0, 0
	}
	end := e.beginRecording(formula)
	m.keepSchedulers, e.opts.Scheduler = e.opts.Scheduler, false
	defer end()
	curve := pareto.New(len(m.objectives), m.bestWeightedSum, coarse)
	if formula.Pareto() {
		return m.curve(formula.X, curve, width)
	}
	gain, least := m.directionAndLowerBounds()
	best, err := curve.Maximize(e.ctx, gain, least, width)
	switch {
	case errors.Is(err, errInfiniteCost):
		best = &pareto.Best{}
	case errors.Is(err, pareto.ErrOpen):
		return none, nil, &undecidedError{formula.X.Pos(), "the bounds of the values do not decide whether a scheduler meets all objectives"}
	case err != nil:
		return none, nil, err
	}
	if m.keepSchedulers && best.Point != nil {
		if e.schedulerRequest.controller, err = m.mixture(best.Parts); err != nil {
			return none, nil, err
		}
	}
	if best.Point == nil {
		return m.valueIfUnsatisfiable(formula.X, coarse, width)
	}
	return m.answer(formula.X, best)
}

// valueIfUnsatisfiable returns the value if no scheduler with finite expected rewards meets the bounds. It is infinity if the query
// minimises a reward and the other objectives can be met without it. Otherwise no scheduler meets the bounds at all.
func (m *multi) valueIfUnsatisfiable(expr sema.Expr, maxBits uint, width float64) (result.Value, *result.Interval, error) {
	query := slices.IndexFunc(m.objectives, func(objective *objective) bool { return objective.isQuery })
	if query < 0 || m.objectives[query].form != rewardForm || m.objectives[query].maximised {
		return m.answer(expr, &pareto.Best{})
	}
	satisfiable, err := m.satisfiableWithout(query, expr, maxBits, width)
	if err != nil {
		return result.Value{}, nil, err
	}
	if !satisfiable {
		return m.answer(expr, &pareto.Best{})
	}
	if !m.exact {
		m.limitAccuracy(result.Bounded)
	}
	infinite := math.Inf(1)
	return result.Value{Kind: result.Number, Num: infinite}, &result.Interval{Lo: infinite, Hi: infinite}, nil
}

// satisfiableWithout reports whether some scheduler with finite expected rewards meets the bounds of all objectives except the query.
func (m *multi) satisfiableWithout(query int, expr sema.Expr, maxBits uint, width float64) (bool, error) {
	others := &multi{evaluation: m.evaluation}
	for i, objective := range m.objectives {
		if i != query {
			other := *objective
			other.maxRewards = nil // they belong to the states of m.product
			others.objectives = append(others.objectives, &other)
		}
	}
	if len(others.objectives) == 0 {
		return true, nil
	}
	if err := others.buildProduct(); err != nil {
		return false, err
	}
	if err := others.findEnds(expr); err != nil {
		return false, err
	}
	direction, lowerBounds := others.directionAndLowerBounds()
	best, err := pareto.New(len(others.objectives), others.bestWeightedSum, maxBits).Maximize(m.ctx, direction, lowerBounds, width)
	switch {
	case errors.Is(err, errInfiniteCost):
		return false, nil
	case errors.Is(err, pareto.ErrOpen):
		return false, &undecidedError{expr.Pos(), "the bounds of the values do not decide whether a scheduler meets all objectives"}
	case err != nil:
		return false, err
	}
	return best.Point != nil, nil
}

// mixture returns a controller that selects one of the schedulers in m.schedulers at random: scheduler i with probability shares[i].
func (m *multi) mixture(shares []*big.Rat) (*sparse.Controller, error) {
	var schedulers []weightedScheduler
	for i, share := range shares {
		if share.Sign() > 0 {
			schedulers = append(schedulers, m.schedulers[i])
			schedulers[len(schedulers)-1].share = share
		}
	}
	return m.controller(m.ctx, schedulers)
}

// directionAndLowerBounds returns the direction in which package pareto maximises, and the least value that each objective must
// have.
func (m *multi) directionAndLowerBounds() (direction, lowerBounds []*big.Rat) {
	direction = make([]*big.Rat, len(m.objectives))
	lowerBounds = make([]*big.Rat, len(m.objectives))
	for i, objective := range m.objectives {
		direction[i] = new(big.Rat)
		switch {
		case objective.isQuery:
			direction[i].SetInt64(1)
		case objective.maximised:
			lowerBounds[i] = objective.bound
		default:
			lowerBounds[i] = new(big.Rat).Neg(objective.bound)
		}
	}
	return direction, lowerBounds
}

// operandObjective returns the objective of one operand of multi(...).
func (e *evaluation) operandObjective(expr sema.Expr) (*objective, error) {
	formula := logic.Of(expr)
	if formula.Kind != logic.Probability && formula.Kind != logic.Reward {
		return nil, e.unsupported(expr, "found %s in multi(...), want P or R", logic.Describe(expr))
	}
	objective, err := e.newObjective(formula)
	if err != nil {
		return nil, err
	}
	if formula.Kind == logic.Reward {
		return objective, e.setReward(objective, formula)
	}
	if !objective.maximised { // a small probability of the formula is a large probability of its negation
		objective.isComplement, objective.maximised = true, true
		if objective.bound != nil {
			objective.bound = new(big.Rat).Sub(big.NewRat(1, 1), objective.bound)
		}
	}
	return objective, e.setPathFormula(objective, formula.Path)
}

// newObjective returns an objective with the threshold of an operator P or R. The caller sets its formula.
func (e *evaluation) newObjective(formula *logic.Formula) (*objective, error) {
	expr, threshold := formula.X, formula.Threshold
	dir, ok := direction(threshold, false)
	switch {
	case !ok:
		return nil, e.failure(result.TypeError, expr.Pos(), "found an operator in multi(...) without min, max or a bound")
	case threshold.Rel == syntax.OpGt || threshold.Rel == syntax.OpLt:
		return nil, e.unsupported(expr, "found a strict bound in multi(...), want >= or <=")
	case threshold.Query():
		return &objective{expr: expr, isQuery: true, maximised: dir == solve.Max}, nil
	}
	bound, err := e.boundOf(formula)
	if err != nil {
		return nil, err
	}
	if bound.rat == nil {
		return nil, e.unsupported(expr, "found a bound in multi(...) that is not a fraction")
	}
	return &objective{expr: expr, maximised: threshold.Rel == syntax.OpGe, bound: bound.rat}, nil
}

// setPathFormula sets the path formula of an objective to path. If objective.isComplement is true, it sets the negation of
// path.
func (e *evaluation) setPathFormula(objective *objective, path *logic.Path) error {
	negated := path.Negated
	if objective.isComplement {
		negated = !negated
	}
	operand, eventuallyAlways, isRepeated := path.Repeated()
	switch {
	case path.Form == logic.InitialState:
		return e.setStateFormula(objective, path.Right, negated)
	case isRepeated:
		return e.setRepeatedFormula(objective, operand, eventuallyAlways, negated)
	case path.Unbounded():
		return e.setUntil(objective, path, negated)
	}
	return e.setAutomaton(objective, path.X, negated)
}

// setStateFormula sets the path formula of an objective to a state formula or, if negated is true, to its negation. A path
// satisfies a state formula f if its first state satisfies f, and so if it satisfies `false U f`.
func (e *evaluation) setStateFormula(objective *objective, stateFormula sema.Expr, negated bool) error {
	states, err := e.satisfyingStates(stateFormula)
	if err != nil {
		return err
	}
	objective.left = sparse.NewSet(e.space.Model().NumStates())
	objective.right = states
	objective.isNegated = negated
	return nil
}

// setUntil sets the path formula of an objective to F, G, U, W or R of state formulas, as an until formula or the negation of
// one. If negated is true, it sets the negation of the formula.
func (e *evaluation) setUntil(objective *objective, path *logic.Path, negated bool) error {
	left, right, err := e.operands(path.Left, path.Right)
	if err != nil {
		return err
	}
	left, right, isNegated := Sets.AsUntil(path.Op, left, right)
	if negated {
		isNegated = !isNegated
	}
	objective.left, objective.right, objective.isNegated = left, right, isNegated
	return nil
}

// setRepeatedFormula sets the path formula of an objective to F G operand if eventuallyAlways is true, and otherwise to G F operand.
// If negated is true, it sets the negation: the negation of G F a is F G !a, and the negation of F G a is G F !a.
func (e *evaluation) setRepeatedFormula(objective *objective, operand sema.Expr, eventuallyAlways, negated bool) error {
	states, err := e.satisfyingStates(operand)
	if err != nil {
		return err
	}
	if negated {
		states, eventuallyAlways = states.Complement(), !eventuallyAlways
	}
	objective.form, objective.set = recurringForm, states
	if eventuallyAlways {
		objective.form = lastingForm
	}
	return nil
}

// setAutomaton sets the path formula of an objective to an arbitrary formula, or to its negation, as an automaton.
func (e *evaluation) setAutomaton(objective *objective, expr sema.Expr, negated bool) error {
	a := &abstraction{evaluation: e, root: expr}
	formula, err := a.translate(expr)
	if err != nil {
		return err
	}
	if negated {
		formula = automata.Unary(automata.Not, formula)
	}
	auto, err := automata.New(formula, automata.Limits{})
	if err != nil {
		return a.tooLargeError(err)
	}
	objective.form, objective.reader = automatonForm, &automatonReader{auto: auto, letters: newLetters(a.graph.NumStates(), a.sets)}
	return nil
}

// objectives is the end of error messages about unsupported objectives of multi(...).
const objectives = "want P of a path formula, or R with C or C<=k"

// setReward sets the reward structure of an objective and its number of steps, which is -1 for a total reward.
func (e *evaluation) setReward(o *objective, formula *logic.Formula) error {
	wanted := formula.Objective
	switch {
	case wanted.Err != nil:
		return wanted.Err
	case wanted.Ratio:
		return e.unsupported(formula.X, "found a ratio of rewards in multi(...), "+objectives)
	case wanted.Path != nil:
		return e.unsupported(formula.X, "found an R operator of a path formula in multi(...), "+objectives)
	case wanted.Form == logic.CostBoundedReward || wanted.Form == logic.ConditionalReward || wanted.Form == logic.Discounted:
		return e.unsupported(formula.X, "found %s in multi(...), %s", logic.Describe(wanted.X), objectives)
	case wanted.Form == logic.LongRun:
		return e.unsupported(formula.X, "found a long-run average, R [ S ], in multi(...), "+objectives)
	case wanted.Form == logic.Instantaneous:
		return e.unsupported(formula.X, "found an R operator with I=k in multi(...), "+objectives)
	}
	o.form, o.steps = rewardForm, -1
	var err error
	if wanted.Form == logic.Cumulative {
		if o.steps, err = e.rewardSteps(wanted); err != nil {
			return err
		}
	}
	o.reward, err = e.reward(wanted.Struct)
	return err
}

// fromParetoValue converts a value of package pareto, which maximises all objectives, to the value of the objective.
func (o *objective) fromParetoValue(value *big.Rat) *big.Rat {
	switch {
	case o.isComplement:
		return new(big.Rat).Sub(big.NewRat(1, 1), value)
	case !o.maximised:
		return new(big.Rat).Neg(value)
	}
	return value
}

// answer converts the optimum that package pareto found to the value of the property with its bounds.
func (m *multi) answer(expr sema.Expr, best *pareto.Best) (result.Value, *result.Interval, error) {
	if !m.exact {
		m.limitAccuracy(result.Bounded)
	}
	if expr.Type() == sema.Bool {
		return result.Value{Kind: result.Boolean, Bool: best.Point != nil}, nil, nil
	}
	i := slices.IndexFunc(m.objectives, func(objective *objective) bool { return objective.isQuery })
	objective := m.objectives[i]
	switch {
	case best.Point == nil:
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	}
	lower, upper := best.Point[i], best.Upper
	if objective.isComplement || !objective.maximised {
		lower, upper = objective.fromParetoValue(upper), objective.fromParetoValue(lower)
	}
	optimum := fraction(lower)
	if lower.Cmp(upper) != 0 {
		lowerFloat := interval.Around(lower).Lo
		upperFloat := interval.Around(upper).Hi
		if objective.form != rewardForm { // a probability
			upperFloat = min(upperFloat, 1)
		}
		optimum = number{lo: max(lowerFloat, 0), hi: upperFloat}
	}
	m.width = relativeWidth(optimum)
	return resultValue(optimum, sema.Double), &result.Interval{Lo: optimum.lo, Hi: optimum.hi}, nil
}
