package check

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
)

// cost is a bound on the cost of a path. The cost is the sum of the costs of its steps, in units.
type cost struct {
	state   []int // cost of a step that leaves a state; nil for none
	move    []int // further cost of each choice of an MDP, or of each transition of a Markov chain; nil for none
	perStep int   // further cost of every step
	low     int   // the least cost that satisfies the bound
	high    int   // the greatest; -1 if there is no upper bound
	// limit is the cost at which counting stops, because a greater cost satisfies the bound or violates it alike.
	limit int
}

// costBounded returns the extremal probability of F or U with bounds on costs. It is the probability of reaching a target within
// the bounds in the product of the model with the costs so far. The product is finite: costs are multiples of a unit, the
// greatest common divisor of the rewards, and are counted only as long as they matter. The rewards are fractions even if the
// probabilities are not. As for R [ F ], the reward of the target does not count.
//
// Source: Andova, Hermanns and Katoen, Discrete-time rewards model-checked (2003); the syntax and its meaning are Storm's.
func (e *evaluation) costBounded(path *logic.Path, dir solve.Direction) (*numbers, error) {
	if i := slices.IndexFunc(path.Costs, func(c sema.Cost) bool { return c.Rate != nil }); i >= 0 {
		return e.markovUntil(path, &path.Costs[i], dir)
	}
	switch {
	case e.fair():
		return nil, e.unsupported(path.X, "found reward bounds and fair schedulers")
	case e.kind() == sparse.CTMC:
		return nil, e.unsupported(path.X, "found reward bounds for a CTMC, want a DTMC or an MDP")
	case e.space.Model().Intervals():
		return nil, e.unsupported(path.X, "found reward bounds for a model with intervals")
	case !logic.IsState(path.Left) || !logic.IsState(path.Right):
		return nil, e.unsupported(path.X, "found reward bounds in a path formula with several temporal operators")
	case e.schedulerRequest != nil:
		return nil, e.unsupported(path.X, "found reward bounds, whose schedulers count rewards and are not exported")
	}
	left, right, err := e.operands(path.Left, path.Right)
	if err != nil {
		return nil, err
	}
	costs, err := e.costsOf(path.X, path.Costs)
	if err != nil {
		return nil, err
	}
	if budget, ok := budgetOf(costs, e.space.Model()); ok {
		v, ok, err := solve.BudgetUntil(e.ctx, sparse.NewGraph(e.space.Model()), left, right, budget, dir, e.opts)
		if err != nil || ok {
			return e.toNumbers(v, err)
		}
	}
	b := &costProductBuilder{ctx: e.ctx, model: e.space.Model(), left: left, right: right, costs: costs}
	begin, goal, err := b.build(e.domain())
	if err != nil {
		return nil, e.unsupportedUnlessStopped(path.X, err)
	}
	g := sparse.NewGraph(b.rows.Finish())
	values, err := e.toNumbers(solve.Until(e.ctx, g, sparse.FullSet(g.NumStates()), goal, dir, e.opts))
	if err != nil {
		return nil, err
	}
	return e.valuesWithoutCosts(values, begin), nil
}

// valuesWithoutCosts returns the values of the states of the model from those of the product, where begin has the state of the
// product for each state of the model before any cost.
func (e *evaluation) valuesWithoutCosts(product *numbers, begin []uint32) *numbers {
	out := newNumbers(e.space.Model().NumStates(), product.acc)
	if product.rat != nil {
		out.rat = make([]*big.Rat, len(out.lo))
	}
	for s := range e.domain().All() {
		out.put(s, product.at(int(begin[s])))
	}
	return out
}

// unsupportedUnlessStopped returns the reason if the evaluation was stopped, and otherwise refuses a formula because of err.
func (e *evaluation) unsupportedUnlessStopped(expr sema.Expr, err error) error {
	if stopped := e.ctx.Err(); stopped != nil {
		return stopped
	}
	return e.unsupported(expr, "%v", err)
}

// costBoundedReward returns the extremal expected total reward that a path earns while every bound on costs holds. It is the total
// reward in the product of the model with the costs so far, where a path that exceeds a bound earns nothing more.
//
// Source: Hartmanns, Junges, Katoen and Quatmann, Multi-cost bounded reachability in MDP (2018), for the product; Storm 1.14
// (MultiDimensionalRewardUnfolding) for the step that exceeds a bound, whose reward does not count.
func (e *evaluation) costBoundedReward(formula *logic.Formula, reward *sparse.Reward, dir solve.Direction) (*numbers, error) {
	objective := formula.Objective
	switch {
	case e.kind() == sparse.CTMC:
		return nil, e.unsupported(objective.X, "found reward bounds for a CTMC, want a DTMC or an MDP")
	case e.schedulerRequest != nil:
		return nil, e.unsupported(objective.X, "found reward bounds, whose schedulers count rewards and are not exported")
	}
	costs, err := e.costsOf(objective.X, objective.Costs)
	if err != nil {
		return nil, err
	}
	model := e.space.Model()
	builder := &costProductBuilder{ctx: e.ctx, model: model, left: sparse.FullSet(model.NumStates()), right: sparse.NewSet(model.NumStates()), costs: costs}
	begin, _, err := builder.build(e.domain())
	if err != nil {
		return nil, e.unsupportedUnlessStopped(objective.X, err)
	}
	product := builder.rows.Finish()
	earned, err := e.rewardWithinCosts(builder, product, reward, objective.Struct)
	if err != nil {
		return nil, err
	}
	values, err := e.toNumbers(solve.TotalReward(e.ctx, sparse.NewGraph(product), earned, dir, e.opts))
	if err != nil {
		return nil, err
	}
	return e.valuesWithoutCosts(values, begin), nil
}

// rewardWithinCosts returns the reward of each choice of the product. It is the reward of the choice of the model if no
// transition exceeds a bound, and otherwise the expected reward of the transitions that do not exceed any. index is the index
// of reward in the program.
func (e *evaluation) rewardWithinCosts(b *costProductBuilder, product *sparse.Model, reward *sparse.Reward, index int) (*sparse.Reward, error) {
	m := e.space.Model()
	out := &sparse.Reward{Name: reward.Name, Unfit: reward.Unfit, Choice: make([]float64, product.NumChoices())}
	if m.Exact() {
		out.ChoiceRat = make([]*big.Rat, product.NumChoices())
	}
	var partial *transitionRewards // of the structure, once a choice needs them
	widest := 0
	var within []int
	for i := range product.NumStates() {
		s := int(b.value(i, 0))
		first, end := product.Choices(i)
		for c := first; c < end; c++ {
			if b.rows.Origin[c] == sparse.None {
				continue
			}
			origin := int(b.rows.Origin[c])
			within = b.appendTransitionsWithin(within[:0], product, c, origin)
			firstTransition, endTransition := m.Row(origin)
			if len(within) == endTransition-firstTransition {
				out.Choice[c] = reward.OfChoice(s, origin)
				if out.ChoiceRat != nil {
					out.ChoiceRat[c] = reward.OfChoiceRat(s, origin)
				}
				continue
			}
			if len(within) == 0 {
				continue
			}
			if partial == nil { // of a Markov chain: all transitions of a choice of an MDP have the same cost
				states, transitions, err := e.space.Costs(index)
				if err != nil {
					return nil, err
				}
				partial = &transitionRewards{m, states, transitions}
			}
			widest = max(widest, len(within))
			out.Choice[c] = partial.expected(s, within)
			if out.ChoiceRat != nil {
				out.ChoiceRat[c] = partial.expectedRat(s, within)
			}
		}
	}
	// OfChoice adds two numbers; the expected reward of n transitions has n products and sums of rounded factors.
	out.Err = reward.Err + 0x1p-52
	if widest > 0 {
		out.Err = 1.01 * (reward.Err + m.Err + float64(widest+3)*0x1p-53)
	}
	return out, nil
}

// transitionRewards has the rewards of the states and of the transitions of a Markov chain; nil stands for 0.
type transitionRewards struct {
	model               *sparse.Model
	states, transitions []*big.Rat
}

// reward returns the reward of leaving state s by a transition.
func (r *transitionRewards) reward(s, transition int) *big.Rat {
	sum := new(big.Rat)
	for _, part := range []*big.Rat{r.states[s], r.transitions[transition]} {
		if part != nil {
			sum.Add(sum, part)
		}
	}
	return sum
}

// expected returns the sum of the rewards of some transitions of state s, each times its probability.
func (r *transitionRewards) expected(s int, transitions []int) (sum float64) {
	for _, transition := range transitions {
		reward, _ := r.reward(s, transition).Float64()
		sum += r.model.Prob(transition) * reward
	}
	return sum
}

// expectedRat returns the same as a fraction.
func (r *transitionRewards) expectedRat(s int, transitions []int) *big.Rat {
	sum := new(big.Rat)
	for _, transition := range transitions {
		reward := r.reward(s, transition)
		sum.Add(sum, reward.Mul(reward, r.model.Rat(transition)))
	}
	return sum
}

// appendTransitionsWithin appends the transitions of choice origin of the model that exceed no bound as transitions of choice c of
// the product.
func (builder *costProductBuilder) appendTransitionsWithin(within []int, product *sparse.Model, c, origin int) []int {
	firstTransition, endTransition := product.Row(c)
	first, _ := builder.model.Row(origin)
	for transition := firstTransition; transition < endTransition; transition++ {
		if builder.value(int(product.Target[transition]), 1) != failed {
			within = append(within, first+transition-firstTransition)
		}
	}
	return within
}

// budgetOf returns the budget of the choices of a model. There is one if the only bound is an upper bound, and if the cost
// of a choice does not depend on its target.
func budgetOf(costs []cost, model *sparse.Model) (budget solve.Budget, ok bool) {
	if len(costs) != 1 || costs[0].low > 0 || costs[0].high < 0 {
		return budget, false
	}
	bound := costs[0]
	budget = solve.Budget{Cost: make([]int, model.NumChoices()), Most: bound.high}
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			if budget.Cost[c], ok = bound.choiceCost(model, s, c); !ok {
				return budget, false
			}
		}
	}
	return budget, true
}

// choiceCost returns the cost of a choice. It returns false if transitions of a Markov chain have different costs.
func (c *cost) choiceCost(model *sparse.Model, s, choice int) (int, bool) {
	if model.Kind == sparse.MDP {
		return int(c.after(0, s, choice)), true
	}
	first, end := model.Row(choice)
	price := int(c.after(0, s, first))
	for transition := first + 1; transition < end; transition++ {
		if int(c.after(0, s, transition)) != price {
			return 0, false
		}
	}
	return price, true
}

// maxUnits is the greatest number of units that are counted.
const maxUnits = 1 << 30

// costsOf converts the bounds of a path formula to whole numbers.
func (e *evaluation) costsOf(expr sema.Expr, bounds []sema.Cost) ([]cost, error) {
	var out []cost
	for _, b := range bounds {
		c, err := e.costOf(expr, b)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// costOf converts a bound of a path formula to whole numbers.
func (e *evaluation) costOf(expr sema.Expr, c sema.Cost) (cost, error) {
	out, unit, err := e.costUnits(c.Struct)
	if err != nil {
		return out, err
	}
	if b := c.Bound.Low; b != nil {
		if out.low, err = e.units(b, unit, c.Bound.LowStrict, false); err != nil {
			return out, err
		}
	}
	if b := c.Bound.High; b != nil {
		if out.high, err = e.units(b, unit, c.Bound.HighStrict, true); err != nil {
			return out, err
		}
		if out.high < out.low {
			return out, e.refuse("type", expr.Pos(), "bounds of a cost are empty")
		}
	}
	if out.limit = out.low; out.high >= 0 {
		out.limit = out.high + 1
	}
	return out, nil
}

// costUnits returns a cost without a bound, which counts the rewards of a structure, or steps if the index is negative, and its unit.
func (e *evaluation) costUnits(index int) (cost, *big.Rat, error) {
	out := cost{high: -1}
	if index < 0 {
		out.perStep = 1
		return out, big.NewRat(1, 1), nil
	}
	states, moves, err := e.space.Costs(index)
	if err != nil {
		return out, nil, err
	}
	unit := divisor(states, moves)
	out.state, out.move = inUnits(states, unit), inUnits(moves, unit)
	return out, unit, nil
}

// greatestStep returns an upper bound on the cost of one step.
func (c *cost) greatestStep() int {
	most := c.perStep
	if c.state != nil {
		most += slices.Max(c.state) + slices.Max(c.move)
	}
	return most
}

// units returns the least number of units that a lower bound allows, or the greatest that an upper bound allows.
func (e *evaluation) units(expr sema.Expr, unit *big.Rat, strict, upper bool) (int, error) {
	value, exact, err := sema.EvalExact(expr, nil)
	switch {
	case err != nil:
		return 0, e.withPosition(err)
	case !exact:
		return 0, e.unsupported(expr, "found a reward bound that is not a fraction")
	case value.Rat.Sign() < 0:
		return 0, e.refuse("type", expr.Pos(), "reward bound %s is negative", value.Rat.RatString())
	}
	q := new(big.Rat).Quo(value.Rat, unit)
	n := new(big.Int).Quo(q.Num(), q.Denom())
	switch {
	case upper && strict && q.IsInt():
		n.Sub(n, big.NewInt(1))
	case !upper && (strict || !q.IsInt()):
		n.Add(n, big.NewInt(1))
	}
	if n.Sign() < 0 {
		return 0, e.refuse("type", expr.Pos(), "no cost is below 0")
	}
	if !n.IsInt64() || n.Int64() > maxUnits {
		return 0, e.unsupported(expr, "found a reward bound of %s units of which the rewards are multiples, which is too much to count", n)
	}
	return int(n.Int64()), nil
}

// divisor returns the greatest common divisor of the fractions; 1 if all are 0.
func divisor(lists ...[]*big.Rat) *big.Rat {
	numerator, denominator := new(big.Int), big.NewInt(1)
	seen := map[*big.Rat]bool{}
	for _, list := range lists {
		for _, fraction := range list {
			if fraction == nil || fraction.Sign() == 0 || seen[fraction] {
				continue
			}
			seen[fraction] = true
			// The greatest common divisor of a/b and c/d is gcd(ad, cb)/(bd).
			left, right := new(big.Int).Mul(numerator, fraction.Denom()), new(big.Int).Mul(fraction.Num(), denominator)
			numerator.GCD(nil, nil, left, right)
			denominator = new(big.Int).Mul(denominator, fraction.Denom())
			common := new(big.Int).GCD(nil, nil, numerator, denominator)
			numerator, denominator = numerator.Quo(numerator, common), denominator.Quo(denominator, common)
		}
	}
	if numerator.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(numerator, denominator)
}

// inUnits converts fractions to numbers of units, up to maxUnits+1.
func inUnits(list []*big.Rat, unit *big.Rat) []int {
	out := make([]int, len(list))
	for i, fraction := range list {
		if fraction == nil || fraction.Sign() == 0 {
			continue
		}
		q := new(big.Rat).Quo(fraction, unit)
		if out[i] = maxUnits + 1; q.Num().IsInt64() && q.Num().Int64() <= maxUnits {
			out[i] = int(q.Num().Int64())
		}
	}
	return out
}

// costProductBuilder builds the product of a model with the costs so far.
type costProductBuilder struct {
	ctx         context.Context
	model       *sparse.Model
	left, right *sparse.Set
	costs       []cost

	states       *explicit.Numbering // of the product, packed: the state of the model and the costs so far
	packedStates []uint64
	rows         *sparse.DerivedBuilder
}

// Instead of the costs so far, a state of the product has one of these once it is decided whether the path satisfies the formula.
const (
	reached = math.MaxUint32 - iota // the goal, within the bounds
	failed
)

// maxProductStates is the greatest number of states of a product.
const maxProductStates = 1 << 26

// build explores the product from the given states of the model with cost 0. begin has the state of the product for each of
// them; goal has the states of the product that satisfy the formula.
func (builder *costProductBuilder) build(from *sparse.Set) (begin []uint32, goal *sparse.Set, err error) {
	m := builder.model
	builder.packedStates = make([]uint64, 1+len(builder.costs)/2)
	builder.states = explicit.NewNumbering(len(builder.packedStates))
	builder.rows = sparse.NewDerivedBuilder(m, m.Kind)
	begin = make([]uint32, m.NumStates())
	spent := make([]uint32, len(builder.costs))
	for s := range from.All() {
		begin[s] = builder.index(uint32(s), spent)
	}
	for i := 0; i < builder.states.Len(); i++ { // the list grows
		if i&0xfff == 0 && builder.ctx.Err() != nil {
			return nil, nil, builder.ctx.Err()
		}
		if i >= maxProductStates {
			return nil, nil, fmt.Errorf("found reward bounds whose product with the model has more than %d states", maxProductStates)
		}
		builder.expand(i)
	}
	goal = sparse.NewSet(builder.states.Len())
	for i := range goal.Len() {
		if builder.value(i, 1) == reached {
			goal.Add(i)
		}
	}
	return begin, goal, nil
}

// index returns the number of the state of the product for a state of the model and the costs so far. All states in which
// the formula is decided are the same one, whatever the costs.
func (builder *costProductBuilder) index(s uint32, spent []uint32) uint32 {
	decided := builder.decide(s, spent)
	clear(builder.packedStates)
	builder.packedStates[0] = uint64(s)
	for position, count := range spent {
		if decided != 0 {
			count = decided
		}
		builder.packedStates[(position+1)/2] |= uint64(count) << (32 * ((position + 1) % 2))
	}
	return uint32(builder.states.Add(builder.packedStates))
}

// decide returns reached if the formula holds in a state with the costs so far, failed if it can no longer hold, otherwise 0.
func (builder *costProductBuilder) decide(s uint32, spent []uint32) uint32 {
	withinLower, withinUpper := true, true
	for i, c := range builder.costs {
		count := int(spent[i])
		withinLower = withinLower && count >= c.low
		withinUpper = withinUpper && (c.high < 0 || count <= c.high)
	}
	switch {
	case withinLower && withinUpper && builder.right.Has(int(s)):
		return reached
	case !withinUpper || !builder.left.Has(int(s)):
		return failed
	}
	return 0
}

// value returns number k of a state of the product: 0 is the state of the model, the others are the costs.
func (builder *costProductBuilder) value(i, k int) uint32 {
	return uint32(builder.states.At(i)[k/2] >> (32 * (k % 2)))
}

// expand appends the choices of a state of the product.
func (builder *costProductBuilder) expand(i int) {
	m := builder.model
	s := int(builder.value(i, 0))
	builder.rows.State()
	if builder.value(i, 1) >= failed {
		builder.rows.Loop(uint32(i))
		return
	}
	spent, now := make([]uint32, len(builder.costs)), make([]uint32, len(builder.costs))
	for k := range spent {
		spent[k] = builder.value(i, k+1)
	}
	first, end := m.Choices(s)
	for c := first; c < end; c++ {
		builder.rows.Copy(c, func(transition int) uint32 {
			move := transition
			if m.Kind == sparse.MDP {
				move = c
			}
			for k := range builder.costs {
				now[k] = builder.costs[k].after(spent[k], s, move)
			}
			return builder.index(m.Target[transition], now)
		})
	}
}

// after returns the costs after leaving state s by a move.
func (c *cost) after(spent uint32, s, move int) uint32 {
	sum := int(spent) + c.perStep
	if c.state != nil {
		sum += c.state[s] + c.move[move]
	}
	return uint32(min(sum, c.limit))
}
