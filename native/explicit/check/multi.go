package check

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const (
	// maxMultiStates is the number of states of the product for which a linear
	// program is solved with fractions: that takes seconds, and twice as many a
	// minute.
	maxMultiStates = 128
	maxObjectives  = 12
)

// objective is one operand of multi(…).
type objective struct {
	x     sema.Expr
	form  form
	query bool
	bound *big.Rat // unless query
	// least says that the value is to be great: at least bound, or maximal. It
	// holds for every probability: one that is to be small is that of the
	// negation, and inverse is set.
	least, inverse bool

	// until, negated if so asked: status remembers whether it is decided.
	left, right *sparse.Set
	negated     bool
	// recurring: a set to be visited infinitely often; lasting: not to be left
	// from some time on.
	set *sparse.Set
	// rewards: of the first steps, or all if that is negative.
	reward *sparse.Reward
	steps  int
}

// form is the form of an objective.
type form uint8

const (
	until form = iota
	recurring
	lasting
	rewards
)

// multi evaluates multi(…) in the initial state: whether some scheduler meets all
// bounds, or the best value of the one query among those that do, NaN if there
// are none.
//
// Source: Etessami, Kwiatkowska, Vardi and Yannakakis, Multi-objective model
// checking of Markov decision processes (LMCS 2008), and Forejt, Kwiatkowska,
// Norman, Parker and Qu, Quantitative multi-objective verification for
// probabilistic systems (TACAS 2011): a linear program over the expected number
// of times that each choice is made, in the product with what has to be
// remembered. A path ends where a scheduler can go on for ever within an end
// component that satisfies a set of objectives.
func (e *evaluation) multi(x *sema.Multi) (result.Value, error) {
	switch {
	case e.kind() != sparse.MDP || e.p.Program.Type != syntax.MDP:
		return result.Value{}, e.unsupported(x, "found multi(...) for a %s, want an MDP", e.p.Program.Type)
	case len(e.space.Model().Initial) > 1:
		return result.Value{}, e.unsupported(x, "found multi(...) for a model with several initial states")
	case x.T == sema.Void:
		return result.Value{}, e.unsupported(x, "found multi(...) with several queries, whose answer is a Pareto curve")
	case len(x.Args) > maxObjectives:
		return result.Value{}, e.unsupported(x, "found multi(...) with more than %d objectives", maxObjectives)
	}
	m := &multi{evaluation: e}
	for _, arg := range x.Args {
		o, err := e.objective(arg)
		if err != nil {
			return result.Value{}, err
		}
		m.objectives = append(m.objectives, o)
	}
	if err := m.build(); err != nil {
		return result.Value{}, err
	}
	if err := m.stops(x); err != nil {
		return result.Value{}, err
	}
	best, err := m.program().Maximize(e.ctx)
	if errors.Is(err, solve.ErrUnbounded) {
		return result.Value{}, e.unsupported(x, "found multi(...) with an unbounded value")
	}
	if err != nil && !errors.Is(err, solve.ErrInfeasible) {
		return result.Value{}, err
	}
	return m.answer(x, best)
}

// objective reads an operand.
func (e *evaluation) objective(x sema.Expr) (*objective, error) {
	switch x := x.(type) {
	case *sema.Prob:
		o, err := e.newObjective(x, x.Threshold)
		if err != nil {
			return nil, err
		}
		if o.inverse = !o.least; o.inverse {
			o.least = true
			if o.bound != nil {
				o.bound = new(big.Rat).Sub(big.NewRat(1, 1), o.bound)
			}
		}
		return o, e.pathObjective(o, x.Path, o.inverse)
	case *sema.Reward:
		o, err := e.newObjective(x, x.Threshold)
		if err != nil {
			return nil, err
		}
		return o, e.rewardObjective(o, x)
	}
	return nil, e.unsupported(x, "found %s in multi(...), want P or R", describe(x))
}

func (e *evaluation) newObjective(x sema.Expr, t sema.Threshold) (*objective, error) {
	dir, ok := direction(t, false)
	switch {
	case !ok:
		return nil, e.refuse(result.TypeError, x.Pos(), "found an operator in multi(...) that says neither min nor max")
	case t.Rel == syntax.OpGt || t.Rel == syntax.OpLt:
		return nil, e.unsupported(x, "found a strict bound in multi(...), want >= or <=")
	case t.Query():
		return &objective{x: x, query: true, least: dir == solve.Max}, nil
	}
	b, err := e.bound(x, t)
	if err != nil {
		return nil, err
	}
	if b.rat == nil {
		return nil, e.unsupported(x, "found a bound in multi(...) that is not a fraction")
	}
	return &objective{x: x, least: t.Rel == syntax.OpGe, bound: b.rat}, nil
}

// pathObjective reads a path formula, or the negation of one.
func (e *evaluation) pathObjective(o *objective, x sema.Expr, negated bool) error {
	if x.Type() == sema.Bool { // of the first state: nothing can change
		set, err := e.nested(x)
		o.left, o.right, o.negated = sparse.NewSet(e.space.Model().NumStates()), set, negated
		return err
	}
	if u, ok := x.(*sema.Unary); ok && u.Op == syntax.OpNot {
		return e.pathObjective(o, u.X, !negated)
	}
	t, ok := x.(*sema.Temporal)
	if !ok || t.Bound != nil || t.Op == syntax.Next {
		return e.unsupported(x, "found a path formula in multi(...) other than F, G, U, W, R, G F and F G over states")
	}
	if inner, ok := t.Y.(*sema.Temporal); ok {
		if t.Op != syntax.Globally || inner.Op != syntax.Future {
			if t.Op != syntax.Future || inner.Op != syntax.Globally {
				return e.unsupported(x, "found a path formula in multi(...) other than F, G, U, W, R, G F and F G over states")
			}
		}
		return e.infinite(o, t, inner, negated)
	}
	if !state(t.X) || !state(t.Y) {
		return e.unsupported(x, "found a path formula in multi(...) other than F, G, U, W, R, G F and F G over states")
	}
	left := e.all()
	var err error
	if t.X != nil {
		if left, err = e.nested(t.X); err != nil {
			return err
		}
	}
	right, err := e.nested(t.Y)
	if err != nil {
		return err
	}
	o.left, o.right, o.negated = asUntil(t.Op, left, right)
	o.negated = o.negated != negated
	return nil
}

// infinite reads G F a or F G a.
func (e *evaluation) infinite(o *objective, outer, inner *sema.Temporal, negated bool) error {
	if inner.Bound != nil || !state(inner.Y) {
		return e.unsupported(outer, "found a path formula in multi(...) other than F, G, U, W, R, G F and F G over states")
	}
	set, err := e.nested(inner.Y)
	if err != nil {
		return err
	}
	o.form, o.set = lasting, set
	if negated {
		o.set = set.Complement()
	}
	if (outer.Op == syntax.Globally) != negated {
		o.form = recurring
	}
	return nil
}

func (e *evaluation) rewardObjective(o *objective, x *sema.Reward) error {
	p, ok := x.Path.(*sema.RewardPath)
	switch {
	case x.StructErr != nil:
		return x.StructErr
	case x.StructDiv >= 0 || !ok || p.Kind != syntax.Cumulative:
		return e.unsupported(x, "found an R operator in multi(...) with something other than C or C<=k")
	}
	o.form, o.steps = rewards, -1
	if p.Bound != nil {
		k, err := e.stepCount(p.Bound, "C")
		if err != nil {
			return err
		}
		if k < 0 {
			return e.refuse(result.TypeError, p.Bound.Pos(), "time bound %d of the C operator, want a finite number of at least 0", k)
		}
		o.steps = k
	}
	var err error
	o.reward, err = e.reward(x.Struct)
	return err
}

// multi is the product of the model with what the objectives have to remember.
type multi struct {
	*evaluation
	objectives []*objective
	steps      int // the greatest bound of a C<=k
	product    *sparse.Model
	states     []memory // of the product
	choice     []int    // of the model, for each choice of the product
	ends       []stop
}

// memory is a state of the model with what was seen on the way: two bits for
// each until objective, and the number of steps, up to multi.steps.
type memory struct {
	state  uint32
	status uint32
	steps  int
}

// What the two bits say.
const (
	open uint32 = iota
	holds
	fails
)

func (x memory) of(i int) uint32 { return x.status >> (2 * i) & 3 }

// arrive returns the memory in a state of the model that is reached from x.
func (m *multi) arrive(x memory, state uint32) memory {
	x.state = state
	for i, o := range m.objectives {
		switch {
		case o.form != until || x.of(i) != open:
		case o.right.Has(int(state)):
			x.status |= holds << (2 * i)
		case !o.left.Has(int(state)):
			x.status |= fails << (2 * i)
		}
	}
	return x
}

// build builds the product.
func (m *multi) build() error {
	for _, o := range m.objectives {
		m.steps = max(m.steps, o.steps)
	}
	number := map[memory]int{}
	place := func(x memory) int {
		i, ok := number[x]
		if !ok {
			i = len(m.states)
			number[x] = i
			m.states = append(m.states, x)
		}
		return i
	}
	rows := m.space.Model()
	place(m.arrive(memory{}, rows.Initial[0]))
	b := sparse.NewBuilder(sparse.MDP)
	for i := 0; i < len(m.states); i++ {
		if len(m.states) > maxMultiStates {
			return m.unsupported(m.p.X, "found multi(...) over a product of more than %d states", maxMultiStates)
		}
		from := m.states[i]
		b.State()
		first, end := rows.Choices(int(from.state))
		from.steps = min(from.steps+1, m.steps)
		for c := first; c < end; c++ {
			b.Choice(sparse.NoAction)
			m.choice = append(m.choice, c)
			lo, hi := rows.Row(c)
			for k := lo; k < hi; k++ {
				b.AddRat(place(m.arrive(from, rows.Target[k])), rows.Rat(k), sparse.NoAction)
			}
		}
	}
	var err error
	m.product, err = b.Finish()
	return err
}

// weight returns the reward of a choice of the product, for an objective.
func (m *multi) weight(o *objective, s, c int) *big.Rat {
	sum := new(big.Rat)
	if o.form != rewards || o.steps >= 0 && m.states[s].steps >= o.steps {
		return sum
	}
	if r := o.reward.StateRat; r != nil && r[m.states[s].state] != nil {
		sum.Add(sum, r[m.states[s].state])
	}
	if r := o.reward.ChoiceRat; r != nil && r[m.choice[c]] != nil {
		sum.Add(sum, r[m.choice[c]])
	}
	return sum
}

// free returns the choices of the product without rewards of objectives that
// are to be great, or to be small.
func (m *multi) free(least bool) *sparse.Set {
	out := sparse.FullSet(m.product.NumChoices())
	for s := range m.product.NumStates() {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			for _, o := range m.objectives {
				if o.form == rewards && o.steps < 0 && o.least == least && m.weight(o, s, c).Sign() > 0 {
					out.Remove(c)
				}
			}
		}
	}
	return out
}

// stop says that a path may end in a state of the product, satisfying some of
// the objectives: bit i is objective i.
type stop struct {
	state     int
	satisfied uint32
}

// stops finds where paths may end. What can be collected there is nothing:
// rewards that are to be small must not be, and those that are to be great are
// refused if they would be infinite.
func (m *multi) stops(x *sema.Multi) error {
	all, err := m.product.EndComponents(m.ctx, nil, nil)
	if err != nil {
		return err
	}
	if costly := all.Choices.Minus(m.free(true)); !costly.Empty() {
		return m.unsupported(x, "found multi(...) with a reward that is to be great and that may be collected for ever")
	}
	free := m.free(false)
	var wanted uint32
	for i, o := range m.objectives {
		if o.form != rewards {
			wanted |= 1 << i
		}
	}
	best := make([][]uint32, m.product.NumStates())
	for satisfied := wanted; ; satisfied = (satisfied - 1) & wanted { // supersets first
		found, err := m.surely(satisfied, free)
		if err != nil {
			return err
		}
		for s := range found.All() {
			if !contained(satisfied, best[s]) {
				best[s] = append(best[s], satisfied)
				m.ends = append(m.ends, stop{s, satisfied})
			}
		}
		if satisfied == 0 {
			return nil
		}
	}
}

func contained(set uint32, in []uint32) bool {
	for _, s := range in {
		if s&set == set {
			return true
		}
	}
	return false
}

// surely returns the states in end components of some choices within which a
// scheduler satisfies a set of objectives with probability one.
func (m *multi) surely(satisfied uint32, choices *sparse.Set) (*sparse.Set, error) {
	allowed := sparse.NewSet(m.product.NumStates())
	for s, x := range m.states {
		ok := true
		for i, o := range m.objectives {
			switch {
			case satisfied>>i&1 == 0:
			case o.form == until:
				ok = ok && (x.of(i) == holds && !o.negated || x.of(i) != holds && o.negated)
			case o.form == lasting:
				ok = ok && o.set.Has(int(x.state))
			}
		}
		if ok {
			allowed.Add(s)
		}
	}
	ends, err := m.product.EndComponents(m.ctx, allowed, choices)
	if err != nil {
		return nil, err
	}
	out := sparse.NewSet(m.product.NumStates())
	for i := range ends.Num() {
		if m.recurs(satisfied, ends.Members(i)) {
			for _, s := range ends.Members(i) {
				out.Add(int(s))
			}
		}
	}
	return out, nil
}

// recurs reports whether some states have one of each set to be visited
// infinitely often.
func (m *multi) recurs(satisfied uint32, states []uint32) bool {
	for i, o := range m.objectives {
		if satisfied>>i&1 == 0 || o.form != recurring {
			continue
		}
		met := false
		for _, s := range states {
			met = met || o.set.Has(int(m.states[s].state))
		}
		if !met {
			return false
		}
	}
	return true
}

// program returns the linear program. Its variables are the expected number of
// times that each choice is made, the probability of each stop, and by how much
// each bound is kept.
func (m *multi) program() *solve.LinearProgram {
	n, choices := m.product.NumStates(), m.product.NumChoices()
	bounds := choices + len(m.ends)
	p := &solve.LinearProgram{}
	flow := make([][]solve.Term, n)
	for s := range n {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			m.flow(flow, s, c)
		}
	}
	for i, x := range m.ends {
		flow[x.state] = append(flow[x.state], solve.Term{Var: choices + i, Coeff: big.NewRat(1, 1)})
	}
	for s := range n {
		p.Rows, p.Right = append(p.Rows, flow[s]), append(p.Right, new(big.Rat))
	}
	p.Right[0].SetInt64(1)
	p.Gain = make([]*big.Rat, bounds)
	for i, o := range m.objectives {
		terms := m.terms(i, o)
		if o.query {
			for _, t := range terms {
				if p.Gain[t.Var] = t.Coeff; !o.least {
					t.Coeff.Neg(t.Coeff)
				}
			}
			continue
		}
		slack := big.NewRat(1, 1)
		if o.least {
			slack.SetInt64(-1)
		}
		p.Rows = append(p.Rows, append(terms, solve.Term{Var: len(p.Gain), Coeff: slack}))
		p.Right = append(p.Right, o.bound)
		p.Gain = append(p.Gain, nil)
	}
	return p
}

// flow enters a choice into the equations of the states: what leaves a state
// is what comes in.
func (m *multi) flow(flow [][]solve.Term, s, c int) {
	lo, hi := m.product.Row(c)
	out := big.NewRat(1, 1)
	for k := lo; k < hi; k++ {
		if t := int(m.product.Target[k]); t == s {
			out.Sub(out, m.product.Rat(k))
		} else {
			flow[t] = append(flow[t], solve.Term{Var: c, Coeff: new(big.Rat).Neg(m.product.Rat(k))})
		}
	}
	if out.Sign() != 0 {
		flow[s] = append(flow[s], solve.Term{Var: c, Coeff: out})
	}
}

// terms returns the value of an objective in the variables of the program.
func (m *multi) terms(i int, o *objective) []solve.Term {
	var out []solve.Term
	if o.form != rewards {
		for k, x := range m.ends {
			if x.satisfied>>i&1 == 1 {
				out = append(out, solve.Term{Var: m.product.NumChoices() + k, Coeff: big.NewRat(1, 1)})
			}
		}
		return out
	}
	for s := range m.product.NumStates() {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			if w := m.weight(o, s, c); w.Sign() > 0 {
				out = append(out, solve.Term{Var: c, Coeff: w})
			}
		}
	}
	return out
}

// answer turns the greatest gain, nil if the bounds cannot be met, into the
// value of the property.
func (m *multi) answer(x *sema.Multi, best *big.Rat) (result.Value, error) {
	if x.T == sema.Bool {
		return result.Value{Kind: result.Boolean, Bool: best != nil}, nil
	}
	var query *objective
	for _, o := range m.objectives {
		if o.query {
			query = o
		}
	}
	switch {
	case best == nil && query.form == rewards && !query.least:
		return result.Value{}, m.unsupported(x, "found multi(...) whose other objectives cannot be met, or only with an infinite reward")
	case best == nil:
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil
	case query.inverse:
		best.Sub(big.NewRat(1, 1), best)
	case !query.least:
		best.Neg(best)
	}
	return value(fraction(best), sema.Double), nil
}
