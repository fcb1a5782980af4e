package check

import (
	"errors"
	"math"
	"math/big"
	"slices"

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
func (e *evaluation) multi(f *logic.Formula) (result.Value, *result.Interval, error) {
	none := result.Value{}
	switch {
	case e.fair():
		return result.Value{}, nil, e.unsupported(f.X, "found multi(...) and fair schedulers")
	case e.kind() != sparse.MDP || e.p.Program.Type != syntax.MDP:
		return none, nil, e.unsupported(f.X, "found multi(...) for %s, want an MDP", noun.WithArticle(e.p.Program.Type.String()))
	case len(e.space.Model().Initial) > 1:
		return none, nil, e.unsupported(f.X, "found multi(...) for a model with several initial states")
	case len(f.Objectives) > maxObjectives:
		return none, nil, e.unsupported(f.X, "found multi(...) with more than %d objectives", maxObjectives)
	}
	m := &multi{evaluation: e}
	for _, arg := range f.Objectives {
		o, err := e.objective(arg)
		if err != nil {
			return none, nil, err
		}
		m.objectives = append(m.objectives, o)
	}
	if err := m.build(); err != nil {
		return none, nil, err
	}
	if err := m.findEnds(f.X); err != nil {
		return none, nil, err
	}
	coarse, width := uint(weightBits), e.opts.Epsilon
	if e.exact {
		coarse, width = 0, 0
	}
	end := e.beginScheduler(f)
	m.keepSchedulers, e.opts.Scheduler = e.opts.Scheduler, false
	defer end()
	curve := pareto.New(len(m.objectives), m.bestWeightedSum, coarse)
	if f.Pareto() {
		return m.curve(f.X, curve, width)
	}
	gain, least := m.directionAndBounds()
	best, err := curve.Maximize(e.ctx, gain, least, width)
	switch {
	case errors.Is(err, errInfiniteCost):
		best = &pareto.Best{}
	case errors.Is(err, pareto.ErrOpen):
		return none, nil, &undecided{f.X.Pos(), "the bounds of values leave open whether the objectives can be met together"}
	case err != nil:
		return none, nil, err
	}
	if m.keepSchedulers && best.Point != nil {
		if e.wanted.controller, err = m.mixture(best.Parts); err != nil {
			return none, nil, err
		}
	}
	return m.answer(f.X, best)
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
	for i, o := range m.objectives {
		gain[i] = new(big.Rat)
		switch {
		case o.query:
			gain[i].SetInt64(1)
		case o.great:
			least[i] = o.bound
		default:
			least[i] = new(big.Rat).Neg(o.bound)
		}
	}
	return gain, least
}

// objective returns the objective of an operand of multi(...).
func (e *evaluation) objective(x sema.Expr) (*objective, error) {
	f := logic.Of(x)
	if f.Kind != logic.Probability && f.Kind != logic.Reward {
		return nil, e.unsupported(x, "found %s in multi(...), want P or R", logic.Describe(x))
	}
	o, err := e.newObjective(f)
	if err != nil {
		return nil, err
	}
	if f.Kind == logic.Reward {
		return o, e.rewardObjective(o, f)
	}
	o.inverse = !o.great
	if o.inverse {
		o.great = true
		if o.bound != nil {
			o.bound = new(big.Rat).Sub(big.NewRat(1, 1), o.bound)
		}
	}
	return o, e.pathObjective(o, f.Path)
}

// newObjective returns the objective of an operator P or R with its threshold. Its formula is not set yet.
func (e *evaluation) newObjective(f *logic.Formula) (*objective, error) {
	x, t := f.X, f.Threshold
	dir, ok := direction(t, false)
	switch {
	case !ok:
		return nil, e.refuse(result.TypeError, x.Pos(), "found an operator in multi(...) that says neither min nor max")
	case t.Rel == syntax.OpGt || t.Rel == syntax.OpLt:
		return nil, e.unsupported(x, "found a strict bound in multi(...), want >= or <=")
	case t.Query():
		return &objective{x: x, query: true, great: dir == solve.Max}, nil
	}
	b, err := e.bound(f)
	if err != nil {
		return nil, err
	}
	if b.rat == nil {
		return nil, e.unsupported(x, "found a bound in multi(...) that is not a fraction")
	}
	return &objective{x: x, great: t.Rel == syntax.OpGe, bound: b.rat}, nil
}

// pathObjective sets the path formula of an objective: p or, if o.inverse is true, its negation.
func (e *evaluation) pathObjective(o *objective, p *logic.Path) error {
	negated := o.inverse != p.Negated
	if p.Form == logic.InitialState { // an until formula that is decided in the first state
		set, err := e.nested(p.Right)
		o.left = sparse.NewSet(e.space.Model().NumStates())
		o.right = set
		o.negated = negated
		return err
	}
	if a, always, ok := p.Repeated(); ok {
		return e.infinite(o, a, always, negated)
	}
	if !p.Unbounded() {
		return e.linear(o, p.X, negated)
	}
	left, right, err := e.operands(p.Left, p.Right)
	if err != nil {
		return err
	}
	o.left, o.right, o.negated = Sets.AsUntil(p.Op, left, right)
	o.negated = o.negated != negated
	return nil
}

// infinite sets the path formula G F a of an objective, or F G a if always is true. If negated is true, it sets the negation:
// that of G F a is F G !a, and that of F G a is G F !a.
func (e *evaluation) infinite(o *objective, a sema.Expr, always, negated bool) error {
	set, err := e.nested(a)
	if err != nil {
		return err
	}
	o.form, o.set = recurring, set
	if negated {
		o.set = set.Complement()
	}
	if always != negated {
		o.form = lasting
	}
	return nil
}

// linear sets any other path formula, or its negation, of an objective, as an automaton.
func (e *evaluation) linear(o *objective, x sema.Expr, negated bool) error {
	a := &abstraction{evaluation: e, root: x}
	f, err := a.formula(x)
	if err != nil {
		return err
	}
	if negated {
		f = automata.Unary(automata.Not, f)
	}
	auto, err := automata.New(f, automata.Limits{})
	if err != nil {
		return a.large(err)
	}
	o.form, o.reader = linear, &automatonReader{auto: auto, letters: newLetters(a.graph.NumStates(), a.sets)}
	return nil
}

// objectives is the end of error messages about unsupported objectives of multi(...).
const objectives = "want P of a path formula, or R with C or C<=k"

// rewardObjective sets the reward of an objective, and its number of steps: -1 for a total reward.
func (e *evaluation) rewardObjective(o *objective, f *logic.Formula) error {
	r := f.Objective
	switch {
	case r.Err != nil:
		return r.Err
	case r.Ratio:
		return e.unsupported(f.X, "found a ratio of rewards in multi(...), "+objectives)
	case r.Path != nil:
		return e.unsupported(f.X, "found an R operator of a path formula in multi(...), "+objectives)
	case r.Form == logic.CostBoundedReward:
		return e.unsupported(f.X, "found %s in multi(...), %s", logic.Describe(r.X), objectives)
	case r.Form == logic.LongRun:
		return e.unsupported(f.X, "found a long-run average, R [ S ], in multi(...), "+objectives)
	case r.Form == logic.Instantaneous:
		return e.unsupported(f.X, "found an R operator with I=k in multi(...), "+objectives)
	}
	o.form, o.steps = rewards, -1
	var err error
	if r.Form == logic.Cumulative {
		if o.steps, err = e.rewardSteps(r); err != nil {
			return err
		}
	}
	o.reward, err = e.reward(r.Struct)
	return err
}

// value converts a value of package pareto to that of the objective.
func (o *objective) value(x *big.Rat) *big.Rat {
	switch {
	case o.inverse:
		return new(big.Rat).Sub(big.NewRat(1, 1), x)
	case !o.great:
		return new(big.Rat).Neg(x)
	}
	return x
}

// answer converts the optimum of package pareto to the value of the property with its bounds.
func (m *multi) answer(x sema.Expr, best *pareto.Best) (result.Value, *result.Interval, error) {
	if !m.exact {
		m.weaken(result.Bounded)
	}
	if x.Type() == sema.Bool {
		return result.Value{Kind: result.Boolean, Bool: best.Point != nil}, nil, nil
	}
	i := slices.IndexFunc(m.objectives, func(o *objective) bool { return o.query })
	o := m.objectives[i]
	switch {
	case best.Point == nil && o.form == rewards && !o.great:
		return result.Value{}, nil, m.unsupported(x, "found multi(...) whose other objectives cannot be met, or only with an infinite reward")
	case best.Point == nil:
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	}
	lower, upper := best.Point[i], best.Upper
	if o.inverse || !o.great {
		lower, upper = o.value(upper), o.value(lower)
	}
	v := fraction(lower)
	if lower.Cmp(upper) != 0 {
		lo, _ := result.Around(lower)
		_, hi := result.Around(upper)
		if o.form != rewards { // a probability
			hi = min(hi, 1)
		}
		v = number{lo: max(lo, 0), hi: hi}
	}
	m.width = relativeWidth(v)
	return value(v, sema.Double), &result.Interval{Lo: v.lo, Hi: v.hi}, nil
}
