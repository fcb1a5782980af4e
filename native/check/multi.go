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
	x     sema.Expr
	form  form
	query bool
	bound *big.Rat // unless query
	// great says that the value should be large: at least bound, or maximal. It is always true for a path formula: if the
	// probability should be small, inverse is true too, and the objective is the negated formula.
	great, inverse bool

	// An until objective: left U right, or the negation of that.
	left, right *sparse.Set
	negated     bool
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
	until form = iota
	recurring
	lasting
	linear
	rewards
)

// multi evaluates multi(...) in the initial state: whether some scheduler meets all bounds, or the optimal value of the one
// query among the schedulers that do; NaN if there are none.
//
// Source: Etessami, Kwiatkowska, Vardi and Yannakakis, Multi-objective model checking of Markov decision processes (LMCS
// 2008), for the product with the memory of the objectives. A path may end in a state from which a scheduler can stay forever
// in an end component that satisfies a set of objectives. Package pareto calls bestWeightedSum for optimal weighted sums.
func (e *evaluation) multi(formula *logic.Formula) (result.Value, *result.Interval, error) {
	none := result.Value{}
	switch {
	case e.fair():
		return result.Value{}, nil, e.unsupported(formula.X, "found %s and fair schedulers", logic.Describe(formula.X))
	case e.kind() != sparse.MDP || e.property.Program.Type != syntax.MDP:
		return none, nil, e.unsupported(formula.X, "found %s for %s, want an MDP", logic.Describe(formula.X), noun.WithArticle(e.property.Program.Type.String()))
	case len(e.space.Model().Initial) > 1:
		return none, nil, e.unsupported(formula.X, "found %s for a model with several initial states", logic.Describe(formula.X))
	case len(formula.Objectives) > maxObjectives:
		return none, nil, e.unsupported(formula.X, "found %s with more than %d objectives", logic.Describe(formula.X), maxObjectives)
	}
	m := &multi{evaluation: e}
	for _, arg := range formula.Objectives {
		objective, err := e.objective(arg)
		if err != nil {
			return none, nil, err
		}
		m.objectives = append(m.objectives, objective)
	}
	if formula.Kind == logic.Lexicographic {
		return e.lexicographic(formula, m.objectives)
	}
	if err := m.build(); err != nil {
		return none, nil, err
	}
	if err := m.findEnds(formula.X); err != nil {
		return none, nil, err
	}
	coarse, width := uint(weightBits), e.opts.Epsilon
	if e.exact {
		coarse, width = 0, 0
	}
	end := e.beginScheduler(formula)
	m.keepSchedulers, e.opts.Scheduler = e.opts.Scheduler, false
	defer end()
	curve := pareto.New(len(m.objectives), m.bestWeightedSum, coarse)
	if formula.Pareto() {
		return m.curve(formula.X, curve, width)
	}
	gain, least := m.directionAndBounds()
	best, err := curve.Maximize(e.ctx, gain, least, width)
	switch {
	case errors.Is(err, errInfiniteCost):
		best = &pareto.Best{}
	case errors.Is(err, pareto.ErrOpen):
		return none, nil, &undecided{formula.X.Pos(), "the bounds of values leave open whether the objectives can be met together"}
	case err != nil:
		return none, nil, err
	}
	if m.keepSchedulers && best.Point != nil {
		if e.schedulerRequest.controller, err = m.mixture(best.Parts); err != nil {
			return none, nil, err
		}
	}
	if best.Point == nil {
		return m.unmet(formula.X, coarse, width)
	}
	return m.answer(formula.X, best)
}

// unmet returns the value if no scheduler with finite expected rewards meets the bounds: Infinity for a minimised reward if the other
// objectives can be met without it, and otherwise that of no scheduler.
func (m *multi) unmet(expr sema.Expr, coarse uint, width float64) (result.Value, *result.Interval, error) {
	query := slices.IndexFunc(m.objectives, func(objective *objective) bool { return objective.query })
	if query < 0 || m.objectives[query].form != rewards || m.objectives[query].great {
		return m.answer(expr, &pareto.Best{})
	}
	others := &multi{evaluation: m.evaluation}
	for i, objective := range m.objectives {
		if i != query {
			other := *objective
			other.maxRewards = nil // of another product
			others.objectives = append(others.objectives, &other)
		}
	}
	if len(others.objectives) > 0 {
		if err := others.build(); err != nil {
			return result.Value{}, nil, err
		}
		if err := others.findEnds(expr); err != nil {
			return result.Value{}, nil, err
		}
		gain, least := others.directionAndBounds()
		best, err := pareto.New(len(others.objectives), others.bestWeightedSum, coarse).Maximize(m.ctx, gain, least, width)
		switch {
		case errors.Is(err, errInfiniteCost) || err == nil && best.Point == nil:
			return m.answer(expr, &pareto.Best{})
		case errors.Is(err, pareto.ErrOpen):
			return result.Value{}, nil, &undecided{expr.Pos(), "the bounds of values leave open whether the objectives can be met together"}
		case err != nil:
			return result.Value{}, nil, err
		}
	}
	if !m.exact {
		m.weaken(result.Bounded)
	}
	infinite := math.Inf(1)
	return result.Value{Kind: result.Number, Num: infinite}, &result.Interval{Lo: infinite, Hi: infinite}, nil
}

// mixture returns the controller that selects among the schedulers of the oracle's answers with the given probabilities.
func (m *multi) mixture(parts []*big.Rat) (*sparse.Controller, error) {
	var plans []weightedScheduler
	for i, part := range parts {
		if part.Sign() > 0 {
			plans = append(plans, m.schedulers[i])
			plans[len(plans)-1].share = part
		}
	}
	return m.controller(m.ctx, plans)
}

// directionAndBounds returns the direction in which package pareto maximises, and the least values that the objectives must
// have.
func (m *multi) directionAndBounds() (gain, least []*big.Rat) {
	gain = make([]*big.Rat, len(m.objectives))
	least = make([]*big.Rat, len(m.objectives))
	for i, objective := range m.objectives {
		gain[i] = new(big.Rat)
		switch {
		case objective.query:
			gain[i].SetInt64(1)
		case objective.great:
			least[i] = objective.bound
		default:
			least[i] = new(big.Rat).Neg(objective.bound)
		}
	}
	return gain, least
}

// objective returns the objective of an operand of multi(...).
func (e *evaluation) objective(expr sema.Expr) (*objective, error) {
	formula := logic.Of(expr)
	if formula.Kind != logic.Probability && formula.Kind != logic.Reward {
		return nil, e.unsupported(expr, "found %s in multi(...), want P or R", logic.Describe(expr))
	}
	o, err := e.newObjective(formula)
	if err != nil {
		return nil, err
	}
	if formula.Kind == logic.Reward {
		return o, e.rewardObjective(o, formula)
	}
	o.inverse = !o.great
	if o.inverse {
		o.great = true
		if o.bound != nil {
			o.bound = new(big.Rat).Sub(big.NewRat(1, 1), o.bound)
		}
	}
	return o, e.pathObjective(o, formula.Path)
}

// newObjective returns the objective of an operator P or R with its threshold. Its formula is not set yet.
func (e *evaluation) newObjective(formula *logic.Formula) (*objective, error) {
	expr, threshold := formula.X, formula.Threshold
	dir, ok := direction(threshold, false)
	switch {
	case !ok:
		return nil, e.refuse(result.TypeError, expr.Pos(), "found an operator in multi(...) that says neither min nor max")
	case threshold.Rel == syntax.OpGt || threshold.Rel == syntax.OpLt:
		return nil, e.unsupported(expr, "found a strict bound in multi(...), want >= or <=")
	case threshold.Query():
		return &objective{x: expr, query: true, great: dir == solve.Max}, nil
	}
	b, err := e.bound(formula)
	if err != nil {
		return nil, err
	}
	if b.rat == nil {
		return nil, e.unsupported(expr, "found a bound in multi(...) that is not a fraction")
	}
	return &objective{x: expr, great: threshold.Rel == syntax.OpGe, bound: b.rat}, nil
}

// pathObjective sets the path formula of an objective: path or, if objective.inverse is true, its negation.
func (e *evaluation) pathObjective(objective *objective, path *logic.Path) error {
	negated := objective.inverse != path.Negated
	if path.Form == logic.InitialState { // an until formula that is decided in the first state
		set, err := e.nested(path.Right)
		objective.left = sparse.NewSet(e.space.Model().NumStates())
		objective.right = set
		objective.negated = negated
		return err
	}
	if operand, always, ok := path.Repeated(); ok {
		return e.infinite(objective, operand, always, negated)
	}
	if !path.Unbounded() {
		return e.linear(objective, path.X, negated)
	}
	left, right, err := e.operands(path.Left, path.Right)
	if err != nil {
		return err
	}
	objective.left, objective.right, objective.negated = Sets.AsUntil(path.Op, left, right)
	objective.negated = objective.negated != negated
	return nil
}

// infinite sets the path formula of an objective to G F operand, or to F G operand if always is true. If negated is true, it sets the
// negation. The negation of G F a is F G !a, and the negation of F G a is G F !a.
func (e *evaluation) infinite(objective *objective, operand sema.Expr, always, negated bool) error {
	set, err := e.nested(operand)
	if err != nil {
		return err
	}
	objective.form, objective.set = recurring, set
	if negated {
		objective.set = set.Complement()
	}
	if always != negated {
		objective.form = lasting
	}
	return nil
}

// linear sets any other path formula, or its negation, of an objective, as an automaton.
func (e *evaluation) linear(o *objective, expr sema.Expr, negated bool) error {
	a := &abstraction{evaluation: e, root: expr}
	formula, err := a.formula(expr)
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
	o.form, o.reader = linear, &automatonReader{auto: auto, letters: newLetters(a.graph.NumStates(), a.sets)}
	return nil
}

// objectives is the end of error messages about unsupported objectives of multi(...).
const objectives = "want P of a path formula, or R with C or C<=k"

// rewardObjective sets the reward of an objective, and its number of steps: -1 for a total reward.
func (e *evaluation) rewardObjective(o *objective, formula *logic.Formula) error {
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
	o.form, o.steps = rewards, -1
	var err error
	if wanted.Form == logic.Cumulative {
		if o.steps, err = e.rewardSteps(wanted); err != nil {
			return err
		}
	}
	o.reward, err = e.reward(wanted.Struct)
	return err
}

// value converts a value of package pareto to that of the objective.
func (o *objective) value(value *big.Rat) *big.Rat {
	switch {
	case o.inverse:
		return new(big.Rat).Sub(big.NewRat(1, 1), value)
	case !o.great:
		return new(big.Rat).Neg(value)
	}
	return value
}

// answer converts the optimum of package pareto to the value of the property with its bounds.
func (m *multi) answer(expr sema.Expr, best *pareto.Best) (result.Value, *result.Interval, error) {
	if !m.exact {
		m.weaken(result.Bounded)
	}
	if expr.Type() == sema.Bool {
		return result.Value{Kind: result.Boolean, Bool: best.Point != nil}, nil, nil
	}
	i := slices.IndexFunc(m.objectives, func(objective *objective) bool { return objective.query })
	objective := m.objectives[i]
	switch {
	case best.Point == nil:
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	}
	lower, upper := best.Point[i], best.Upper
	if objective.inverse || !objective.great {
		lower, upper = objective.value(upper), objective.value(lower)
	}
	optimum := fraction(lower)
	if lower.Cmp(upper) != 0 {
		lowerFloat := interval.Around(lower).Lo
		upperFloat := interval.Around(upper).Hi
		if objective.form != rewards { // a probability
			upperFloat = min(upperFloat, 1)
		}
		optimum = number{lo: max(lowerFloat, 0), hi: upperFloat}
	}
	m.width = relativeWidth(optimum)
	return value(optimum, sema.Double), &result.Interval{Lo: optimum.lo, Hi: optimum.hi}, nil
}
