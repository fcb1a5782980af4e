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
	if i := slices.IndexFunc(path.Costs, func(c sema.Cost) bool { return c.Time }); i >= 0 {
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
	graph := sparse.NewGraph(b.rows.Finish())
	values, err := e.toNumbers(solve.Until(e.ctx, graph, sparse.FullSet(graph.NumStates()), goal, dir, e.opts))
	if err != nil {
		return nil, err
	}
	return e.valuesWithoutCosts(values, begin), nil
}

// valuesWithoutCosts returns the value of each state of the model at cost 0. startOf has the state of the product for each
// state of the model at cost 0.
func (e *evaluation) valuesWithoutCosts(product *numbers, startOf []uint32) *numbers {
	out := newNumbers(e.space.Model().NumStates(), product.accuracy)
	if product.rat != nil {
		out.rat = make([]*big.Rat, len(out.lo))
	}
	for s := range e.domain().All() {
		out.put(s, product.at(int(startOf[s])))
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

// costBoundedReward returns the minimal or maximal expected total reward that is earned while all bounds on costs hold. It
// computes the total reward in the product of the model with the accumulated costs, in which a path earns nothing after it
// exceeds a bound.
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
	startOf, _, err := builder.build(e.domain())
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
	return e.valuesWithoutCosts(values, startOf), nil
}

// rewardWithinCosts returns the reward of each choice of the product. It is the reward of the choice of the model if no
// transition exceeds a bound, and otherwise the expected reward of the transitions that do not exceed any. index is the index
// of reward in the program.
func (e *evaluation) rewardWithinCosts(b *costProductBuilder, product *sparse.Model, reward *sparse.Reward, index int) (*sparse.Reward, error) {
	model := e.space.Model()
	out := &sparse.Reward{Name: reward.Name, Unfit: reward.Unfit, Choice: make([]float64, product.NumChoices())}
	if model.Exact() {
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
			firstTransition, endTransition := model.Row(origin)
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
				partial = &transitionRewards{model, states, transitions}
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
		out.Err = 1.01 * (reward.Err + model.Err + float64(widest+3)*0x1p-53)
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
	for _, summand := range []*big.Rat{r.states[s], r.transitions[transition]} {
		if summand != nil {
			sum.Add(sum, summand)
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

// appendTransitionsWithin appends the transitions of a choice of the model that exceed no bound on costs. c is the
// corresponding choice of the product.
func (builder *costProductBuilder) appendTransitionsWithin(within []int, product *sparse.Model, c, modelChoice int) []int {
	firstTransition, endTransition := product.Row(c)
	first, _ := builder.model.Row(modelChoice)
	for transition := firstTransition; transition < endTransition; transition++ {
		if builder.value(int(product.Target[transition]), 1) != failed {
			within = append(within, first+transition-firstTransition)
		}
	}
	return within
}

// budgetOf returns the costs of the choices of a model and the bound on their sum. ok is false unless there is a single
// upper bound and the cost of a choice does not depend on its target.
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

// choiceCost returns the cost of a choice. ok is false if the transitions of a Markov chain have different costs.
func (c *cost) choiceCost(model *sparse.Model, s, choice int) (choiceCost int, ok bool) {
	if model.Kind == sparse.MDP {
		return int(c.after(0, s, choice)), true
	}
	first, end := model.Row(choice)
	common := int(c.after(0, s, first))
	for transition := first + 1; transition < end; transition++ {
		if int(c.after(0, s, transition)) != common {
			return 0, false
		}
	}
	return common, true
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

// costOf converts a bound on a reward to a number of units, where the unit is the greatest common divisor of all rewards.
func (e *evaluation) costOf(expr sema.Expr, bound sema.Cost) (cost, error) {
	out, unit, err := e.costUnits(bound.Struct)
	if err != nil {
		return out, err
	}
	if b := bound.Bound.Low; b != nil {
		if out.low, err = e.units(b, unit, bound.Bound.LowStrict, false); err != nil {
			return out, err
		}
	}
	if b := bound.Bound.High; b != nil {
		if out.high, err = e.units(b, unit, bound.Bound.HighStrict, true); err != nil {
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

// costUnits returns a cost without a bound and its unit. The cost counts the rewards of a structure, or steps if the index is negative.
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
	unit := greatestCommonDivisor(states, moves)
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

// units converts a bound to a number of units: for an upper bound the greatest number that it allows, for a lower bound the
// least.
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
	quotient := new(big.Rat).Quo(value.Rat, unit)
	count := new(big.Int).Quo(quotient.Num(), quotient.Denom())
	switch {
	case upper && strict && quotient.IsInt():
		count.Sub(count, big.NewInt(1))
	case !upper && (strict || !quotient.IsInt()):
		count.Add(count, big.NewInt(1))
	}
	if count.Sign() < 0 {
		return 0, e.refuse("type", expr.Pos(), "upper bound of a cost excludes all costs, which are at least 0")
	}
	if !count.IsInt64() || count.Int64() > maxUnits {
		return 0, e.unsupported(expr, "found a reward bound that is %s times the greatest common divisor of the rewards, want a smaller one", count)
	}
	return int(count.Int64()), nil
}

// greatestCommonDivisor returns the greatest common divisor of all fractions in the lists. It returns 1 if all of them are 0.
func greatestCommonDivisor(lists ...[]*big.Rat) *big.Rat {
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

// inUnits divides fractions by the unit. It replaces quotients greater than maxUnits by maxUnits+1.
func inUnits(list []*big.Rat, unit *big.Rat) []int {
	out := make([]int, len(list))
	for i, fraction := range list {
		if fraction == nil || fraction.Sign() == 0 {
			continue
		}
		quotient := new(big.Rat).Quo(fraction, unit)
		if out[i] = maxUnits + 1; quotient.Num().IsInt64() && quotient.Num().Int64() <= maxUnits {
			out[i] = int(quotient.Num().Int64())
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

// build explores the product from the given states of the model, with cost 0. startOf has the state of the product for each
// of them. goal contains the states of the product that satisfy the formula.
func (builder *costProductBuilder) build(starts *sparse.Set) (startOf []uint32, goal *sparse.Set, err error) {
	model := builder.model
	builder.packedStates = make([]uint64, 1+len(builder.costs)/2)
	builder.states = explicit.NewNumbering(len(builder.packedStates))
	builder.rows = sparse.NewDerivedBuilder(model, model.Kind)
	startOf = make([]uint32, model.NumStates())
	spent := make([]uint32, len(builder.costs))
	for s := range starts.All() {
		startOf[s] = builder.index(uint32(s), spent)
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
	return startOf, goal, nil
}

// index returns the number of the state of the product for a state of the model and its accumulated costs. If the formula is
// decided, the costs do not matter, and it replaces them by the decision.
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

// decide returns reached if the formula holds in a state with the accumulated costs, failed if the formula can no longer
// hold, and otherwise 0.
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
	spent, spentNext := make([]uint32, len(builder.costs)), make([]uint32, len(builder.costs))
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
				spentNext[k] = builder.costs[k].after(spent[k], s, move)
			}
			return builder.index(m.Target[transition], spentNext)
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
