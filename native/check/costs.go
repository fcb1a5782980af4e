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
	"tilecheck/result"
)

// cost is a bound on the cost of a path. The cost is the sum of the costs of its steps, in units.
type cost struct {
	stateCost []int // cost of a step that leaves a state; nil for none
	moveCost  []int // further cost of each choice of an MDP, or of each transition of a Markov chain; nil for none
	perStep   int   // further cost of every step
	low       int   // the least cost that satisfies the bound
	high      int   // the greatest cost that satisfies the bound, or noUpperBound
	// countingLimit is the cost at which counting stops: all costs from countingLimit on satisfy the bound, or all of them violate it.
	countingLimit int
}

// noUpperBound is the value of cost.high without an upper bound.
const noUpperBound = -1

// costBounded returns the minimal or maximal probability of F or U with bounds on costs. It is a reachability probability in the product of the
// model with the costs that the path has collected. Costs are multiples of a unit, the greatest common divisor of the rewards. The reward of the
// target state does not count.
//
// Source: Andova, Hermanns and Katoen, Discrete-time rewards model-checked (2003); the syntax and its meaning are Storm's.
func (e *evaluation) costBounded(path *logic.Path, direction solve.Direction) (*numbers, error) {
	if i := slices.IndexFunc(path.Costs, func(bound sema.Cost) bool { return bound.IsTime }); i >= 0 {
		return e.markovUntil(path, &path.Costs[i], direction)
	}
	if err := e.checkCostsSupported(path); err != nil {
		return nil, err
	}
	left, right, err := e.operandStates(path.Left, path.Right)
	if err != nil {
		return nil, err
	}
	costs, err := e.costsOf(path.Expr, path.Costs)
	if err != nil {
		return nil, err
	}
	// With one upper bound, package solve needs no product of the model with the costs.
	if budget, isBudget := budgetOf(costs, e.space.Model()); isBudget {
		values, isSolved, err := solve.BudgetUntil(e.ctx, sparse.NewGraph(e.space.Model()), left, right, budget, direction, e.opts)
		if err != nil || isSolved {
			return e.toNumbers(values, err)
		}
	}
	builder := &costProductBuilder{ctx: e.ctx, model: e.space.Model(), left: left, right: right, costs: costs}
	zeroCostStates, goal, err := builder.build(e.domain())
	if err != nil {
		return nil, e.unsupportedUnlessStopped(path.Expr, err)
	}
	graph := sparse.NewGraph(builder.productRows.Finish())
	values, err := e.toNumbers(solve.Until(e.ctx, graph, sparse.FullSet(graph.NumStates()), goal, direction, e.opts))
	if err != nil {
		return nil, err
	}
	return e.valuesAtCostZero(values, zeroCostStates), nil
}

// checkCostsSupported returns an error if bounds on rewards are not supported for the model, the schedulers or the path formula.
func (e *evaluation) checkCostsSupported(path *logic.Path) error {
	switch {
	case e.onlyFairSchedulers():
		return e.unsupportedError(path.Expr, "found reward bounds, which are not supported for fair schedulers")
	case e.modelKind() == sparse.CTMC:
		return e.unsupportedError(path.Expr, "found reward bounds for a CTMC, want a DTMC or an MDP")
	case e.space.Model().Intervals():
		return e.unsupportedError(path.Expr, "found reward bounds for a model with intervals")
	case !logic.IsState(path.Left) || !logic.IsState(path.Right):
		return e.unsupportedError(path.Expr, "found reward bounds in a path formula with several temporal operators")
	case e.schedulerRequest != nil:
		return e.unsupportedError(path.Expr, "schedulers of formulas with reward bounds cannot be exported: their choices depend on the rewards so far")
	}
	return nil
}

// valuesAtCostZero returns, for each state of the model, its value with cost 0 in the product. zeroCostStates[s] is the product state for
// state s with cost 0.
func (e *evaluation) valuesAtCostZero(productValues *numbers, zeroCostStates []uint32) *numbers {
	values := productValues.zeros(e.space.Model().NumStates())
	for s := range e.domain().All() {
		values.setNumber(s, productValues.numberAt(int(zeroCostStates[s])))
	}
	return values
}

// unsupportedUnlessStopped returns an error that says why expr is not supported. If the context has ended, it returns the context's error.
func (e *evaluation) unsupportedUnlessStopped(expr sema.Expr, err error) error {
	if stopped := e.ctx.Err(); stopped != nil {
		return stopped
	}
	return e.unsupportedError(expr, "%v", err)
}

// costBoundedReward returns the minimal or maximal expected reward that a path earns while all bounds on costs hold. It is a total reward in the
// product of the model with the costs that the path has collected.
//
// Source: Hartmanns, Junges, Katoen and Quatmann, Multi-cost bounded reachability in MDP (2018), for the product; Storm 1.14
// (MultiDimensionalRewardUnfolding) for the step that exceeds a bound, whose reward does not count.
func (e *evaluation) costBoundedReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	switch {
	case e.modelKind() == sparse.CTMC:
		return nil, e.unsupportedError(objective.Expr, "found reward bounds for a CTMC, want a DTMC or an MDP")
	case e.schedulerRequest != nil:
		return nil, e.unsupportedError(objective.Expr, "schedulers of formulas with reward bounds cannot be exported: their choices depend on the rewards so far")
	}
	costs, err := e.costsOf(objective.Expr, objective.Costs)
	if err != nil {
		return nil, err
	}
	model := e.space.Model()
	allStates, noTarget := sparse.FullSet(model.NumStates()), sparse.NewSet(model.NumStates())
	builder := &costProductBuilder{ctx: e.ctx, model: model, left: allStates, right: noTarget, costs: costs}
	zeroCostStates, _, err := builder.build(e.domain())
	if err != nil {
		return nil, e.unsupportedUnlessStopped(objective.Expr, err)
	}
	product := builder.productRows.Finish()
	rewardWithinCosts, err := e.rewardWithinCosts(builder, product, reward, objective.Struct)
	if err != nil {
		return nil, err
	}
	values, err := e.toNumbers(solve.TotalReward(e.ctx, sparse.NewGraph(product), rewardWithinCosts, direction, e.opts))
	if err != nil {
		return nil, err
	}
	return e.valuesAtCostZero(values, zeroCostStates), nil
}

// rewardWithinCosts returns the rewards of the product's choices. A transition that exceeds a bound on costs earns nothing. structIndex is the
// index of the reward structure in the program.
func (e *evaluation) rewardWithinCosts(builder *costProductBuilder, product *sparse.Model, reward *sparse.Reward, structIndex int) (*sparse.Reward, error) {
	productReward := &sparse.Reward{Name: reward.Name, RangeErr: reward.RangeErr, Choice: make([]float64, product.NumChoices())}
	if e.space.Model().Exact() {
		productReward.ChoiceFractions = make([]*big.Rat, product.NumChoices())
	}
	setter := &rewardsWithinCosts{costProductBuilder: builder, product: product, space: e.space, structIndex: structIndex, modelReward: reward, productReward: productReward}
	for i := range product.NumStates() {
		first, end := product.Choices(i)
		for choice := first; choice < end; choice++ {
			if builder.productRows.Origin[choice] == sparse.None {
				continue
			}
			if err := setter.setReward(builder.modelState(i), choice); err != nil {
				return nil, err
			}
		}
	}
	productReward.RelErr = setter.relativeError()
	return productReward, nil
}

// rewardsWithinCosts sets the rewards of the choices of a product with costs.
type rewardsWithinCosts struct {
	*costProductBuilder
	product           *sparse.Model
	space             *explicit.Space
	structIndex       int            // of modelReward in the program
	modelReward       *sparse.Reward // in the model
	productReward     *sparse.Reward // in the product
	transitionRewards *transitionRewards
	transitions       []int // a buffer: the transitions of a choice that exceed no bound
	maxTerms          int   // the greatest number of transitions in an expected reward
}

// setReward sets the reward of a choice of the product: the expected reward of its transitions that exceed no bound on costs. s is the choice's
// state of the model.
func (rewards *rewardsWithinCosts) setReward(s, choice int) error {
	modelChoice := int(rewards.productRows.Origin[choice])
	rewards.transitions = rewards.appendTransitionsWithin(rewards.transitions[:0], rewards.product, choice, modelChoice)
	if len(rewards.transitions) == 0 {
		return nil
	}
	first, end := rewards.model.Transitions(modelChoice)
	noneExceeds := len(rewards.transitions) == end-first
	if noneExceeds {
		rewards.productReward.Choice[choice] = rewards.modelReward.ChoiceTotal(s, modelChoice)
		if rewards.productReward.ChoiceFractions != nil {
			rewards.productReward.ChoiceFractions[choice] = rewards.modelReward.ExactChoiceTotal(s, modelChoice)
		}
		return nil
	}
	return rewards.setPartialReward(s, choice)
}

// setPartialReward sets the reward of a choice of the product to the expected reward of rewards.transitions, the transitions that exceed no bound. s
// is the state of the model. The model is a Markov chain: in an MDP all transitions of a choice have the same cost.
func (rewards *rewardsWithinCosts) setPartialReward(s, choice int) error {
	if rewards.transitionRewards == nil {
		states, transitions, err := rewards.space.Costs(rewards.structIndex)
		if err != nil {
			return err
		}
		rewards.transitionRewards = &transitionRewards{rewards.model, states, transitions}
	}
	rewards.maxTerms = max(rewards.maxTerms, len(rewards.transitions))
	rewards.productReward.Choice[choice] = rewards.transitionRewards.expectedReward(s, rewards.transitions)
	if rewards.productReward.ChoiceFractions != nil {
		rewards.productReward.ChoiceFractions[choice] = rewards.transitionRewards.exactExpectedReward(s, rewards.transitions)
	}
	return nil
}

// relativeError returns a bound on the relative rounding error of the rewards.
func (rewards *rewardsWithinCosts) relativeError() float64 {
	if rewards.maxTerms == 0 {
		return rewards.modelReward.RelErr + 0x1p-52
	}
	// An expected reward of n transitions has n products and n-1 sums of rounded factors. The factor 1.01 covers the products of the errors.
	return 1.01 * (rewards.modelReward.RelErr + rewards.model.RelErr + float64(rewards.maxTerms+3)*0x1p-53)
}

// transitionRewards has the rewards of the states and of the transitions of a Markov chain. A reward of nil stands for 0.
type transitionRewards struct {
	model               *sparse.Model
	states, transitions []*big.Rat
}

// totalReward returns the reward of a transition from state s: the reward of s plus the reward of the transition.
func (rewards *transitionRewards) totalReward(s, transition int) *big.Rat {
	sum := new(big.Rat)
	for _, reward := range []*big.Rat{rewards.states[s], rewards.transitions[transition]} {
		if reward != nil {
			sum.Add(sum, reward)
		}
	}
	return sum
}

// expectedReward returns the expected reward of some transitions of state s. Other transitions count 0.
func (rewards *transitionRewards) expectedReward(s int, transitions []int) (sum float64) {
	for _, transition := range transitions {
		reward, _ := rewards.totalReward(s, transition).Float64()
		sum += rewards.model.Prob(transition) * reward
	}
	return sum
}

// exactExpectedReward returns the sum of probability times reward over some transitions of state s, as a fraction.
func (rewards *transitionRewards) exactExpectedReward(s int, transitions []int) *big.Rat {
	sum := new(big.Rat)
	for _, transition := range transitions {
		reward := rewards.totalReward(s, transition)
		sum.Add(sum, reward.Mul(reward, rewards.model.Fraction(transition)))
	}
	return sum
}

// appendTransitionsWithin appends to within those transitions of a choice after which no bound on costs is exceeded. choice is its number in the
// product, modelChoice its number in the model. The appended numbers are transitions of the model.
func (builder *costProductBuilder) appendTransitionsWithin(within []int, product *sparse.Model, choice, modelChoice int) []int {
	firstTransition, endTransition := product.Transitions(choice)
	firstInModel, _ := builder.model.Transitions(modelChoice)
	for transition := firstTransition; transition < endTransition; transition++ {
		if builder.costSoFar(int(product.Target[transition]), 0) != failed {
			within = append(within, firstInModel+transition-firstTransition)
		}
	}
	return within
}

// budgetOf converts an upper bound on one cost to a budget of package solve, which needs no product with the costs so far. ok is false unless this is
// the only bound, without a lower bound, and all transitions of each choice have the same cost.
func budgetOf(costs []cost, model *sparse.Model) (budget solve.Budget, ok bool) {
	if len(costs) != 1 {
		return budget, false
	}
	bounded := &costs[0]
	isOnlyUpperBound := bounded.low <= 0 && bounded.high != noUpperBound
	if !isOnlyUpperBound {
		return budget, false
	}
	budget = solve.Budget{Costs: make([]int, model.NumChoices()), Limit: bounded.high}
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			choiceCost, isSame := bounded.choiceCost(model, s, choice)
			if !isSame {
				return budget, false
			}
			budget.Costs[choice] = choiceCost
		}
	}
	return budget, true
}

// choiceCost returns the cost of a choice of state s, in units. isSame is false if the transitions of the choice have different costs, which is
// possible only in a Markov chain.
func (cost *cost) choiceCost(model *sparse.Model, s, choice int) (commonCost int, isSame bool) {
	const costBefore = 0
	if model.Kind == sparse.MDP {
		return int(cost.costAfter(costBefore, s, choice)), true
	}
	first, end := model.Transitions(choice)
	commonCost = int(cost.costAfter(costBefore, s, first))
	for transition := first + 1; transition < end; transition++ {
		if int(cost.costAfter(costBefore, s, transition)) != commonCost {
			return 0, false
		}
	}
	return commonCost, true
}

// maxUnits is the greatest number of units that are counted.
const maxUnits = 1 << 30

// costsOf converts the bounds on rewards or steps in a formula to bounds on whole numbers of units. The unit of a reward structure is the greatest
// common divisor of its rewards; for steps it is 1. expr is the formula, for errors.
func (e *evaluation) costsOf(expr sema.Expr, bounds []sema.Cost) ([]cost, error) {
	var costs []cost
	for _, bound := range bounds {
		converted, err := e.costOf(expr, bound)
		if err != nil {
			return nil, err
		}
		costs = append(costs, converted)
	}
	return costs, nil
}

// costOf converts a bound on a reward or on steps to a bound on a whole number of units. expr is the formula with the bound.
func (e *evaluation) costOf(expr sema.Expr, bound sema.Cost) (cost, error) {
	converted, unit, err := e.unboundedCost(bound.Struct)
	if err != nil {
		return cost{}, err
	}
	low, high := bound.Bound.Low, bound.Bound.High
	if low != nil {
		converted.low, err = e.leastUnits(low, unit, bound.Bound.IsLowStrict)
		if err != nil {
			return cost{}, err
		}
	}
	if high == nil {
		converted.countingLimit = converted.low
		return converted, nil
	}
	converted.high, err = e.greatestUnits(high, unit, bound.Bound.IsHighStrict)
	if err != nil {
		return cost{}, err
	}
	if converted.high < converted.low {
		return cost{}, e.failure(result.TypeError, expr.Pos(), "no cost satisfies both bounds")
	}
	converted.countingLimit = converted.high + 1
	return converted, nil
}

// unboundedCost returns a cost without bounds, and its unit. The cost counts the rewards of a reward structure; if structIndex is negative, it
// counts steps. The unit is the greatest common divisor of the rewards.
func (e *evaluation) unboundedCost(structIndex int) (counted cost, unit *big.Rat, err error) {
	if structIndex < 0 {
		return cost{perStep: 1, high: noUpperBound}, big.NewRat(1, 1), nil
	}
	stateRewards, moveRewards, err := e.space.Costs(structIndex)
	if err != nil {
		return cost{}, nil, err
	}
	unit = greatestCommonDivisor(stateRewards, moveRewards)
	return cost{stateCost: inUnits(stateRewards, unit), moveCost: inUnits(moveRewards, unit), high: noUpperBound}, unit, nil
}

// maxStepCost returns an upper bound on the cost of one step.
func (cost *cost) maxStepCost() int {
	most := cost.perStep
	if cost.stateCost != nil {
		most += slices.Max(cost.stateCost) + slices.Max(cost.moveCost)
	}
	return most
}

// leastUnits returns the least number of units that satisfies a lower bound: >bound if isStrict is true, else >=bound.
func (e *evaluation) leastUnits(bound sema.Expr, unit *big.Rat, isStrict bool) (int, error) {
	floor, isWhole, err := e.boundInUnits(bound, unit)
	if err != nil {
		return 0, err
	}
	if isStrict || !isWhole {
		floor.Add(floor, big.NewInt(1))
	}
	return e.checkUnits(bound, floor)
}

// greatestUnits returns the greatest number of units that satisfies an upper bound: <bound if isStrict is true, else <=bound.
func (e *evaluation) greatestUnits(bound sema.Expr, unit *big.Rat, isStrict bool) (int, error) {
	floor, isWhole, err := e.boundInUnits(bound, unit)
	if err != nil {
		return 0, err
	}
	if isStrict && isWhole {
		floor.Sub(floor, big.NewInt(1))
	}
	if floor.Sign() < 0 {
		return 0, e.failure(result.TypeError, bound.Pos(), "upper bound of a cost excludes all costs, which are at least 0")
	}
	return e.checkUnits(bound, floor)
}

// boundInUnits returns the quotient of a reward bound and the unit, rounded down. isWhole reports whether the quotient was an integer before it
// was rounded.
func (e *evaluation) boundInUnits(bound sema.Expr, unit *big.Rat) (floor *big.Int, isWhole bool, err error) {
	value, exact, err := sema.EvalExact(bound, nil)
	switch {
	case err != nil:
		return nil, false, e.withPosition(err)
	case !exact:
		return nil, false, e.unsupportedError(bound, "found a reward bound that is not a fraction")
	case value.Rat.Sign() < 0:
		return nil, false, e.failure(result.TypeError, bound.Pos(), "reward bound %s is negative", value.Rat.RatString())
	}
	quotient := new(big.Rat).Quo(value.Rat, unit)
	return new(big.Int).Quo(quotient.Num(), quotient.Denom()), quotient.IsInt(), nil
}

// checkUnits converts a number of units to an int. It returns an error if the number is greater than maxUnits.
func (e *evaluation) checkUnits(bound sema.Expr, count *big.Int) (int, error) {
	if !count.IsInt64() || count.Int64() > maxUnits {
		return 0, e.unsupportedError(bound, "found a reward bound that is %s times the greatest common divisor of the rewards, want a smaller one", count)
	}
	return int(count.Int64()), nil
}

// greatestCommonDivisor returns the greatest common divisor of all fractions in the lists. It returns 1 if all of them are 0.
func greatestCommonDivisor(lists ...[]*big.Rat) *big.Rat {
	divisor := new(big.Rat)
	seen := map[*big.Rat]bool{} // equal rewards often share a pointer
	for _, list := range lists {
		for _, fraction := range list {
			if fraction == nil || fraction.Sign() == 0 || seen[fraction] {
				continue
			}
			seen[fraction] = true
			// The greatest common divisor of a/b and c/d is gcd(ad, cb)/(bd).
			firstTerm := new(big.Int).Mul(divisor.Num(), fraction.Denom())
			secondTerm := new(big.Int).Mul(fraction.Num(), divisor.Denom())
			numerator := new(big.Int).GCD(nil, nil, firstTerm, secondTerm)
			divisor.SetFrac(numerator, new(big.Int).Mul(divisor.Denom(), fraction.Denom()))
		}
	}
	if divisor.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return divisor
}

// inUnits divides each fraction, a multiple of the unit, by the unit. nil stands for 0. A quotient greater than maxUnits becomes maxUnits+1.
func inUnits(fractions []*big.Rat, unit *big.Rat) []int {
	units := make([]int, len(fractions))
	for i, fraction := range fractions {
		if fraction == nil || fraction.Sign() == 0 {
			continue
		}
		quotient := new(big.Rat).Quo(fraction, unit).Num()
		units[i] = maxUnits + 1
		if quotient.IsInt64() && quotient.Int64() <= maxUnits {
			units[i] = int(quotient.Int64())
		}
	}
	return units
}

// costProductBuilder builds the product of a model with the costs so far.
type costProductBuilder struct {
	ctx         context.Context
	model       *sparse.Model
	left, right *sparse.Set
	costs       []cost

	numbering   *explicit.Numbering // the packed states of the product: the state of the model and the costs so far
	packedState []uint64            // the buffer of index
	nextCosts   []uint32            // the buffer of costsAfter
	productRows *sparse.DerivedBuilder
}

// Once a path is known to satisfy the formula or to violate it, one of these numbers replaces each cost so far in the state of the
// product.
const (
	reached   = math.MaxUint32 - iota // the path satisfies the formula
	failed                            // the path violates the formula
	undecided = 0                     // neither is known yet: the costs are kept
)

// maxProductStates is the greatest number of states of a product.
const maxProductStates = 1 << 26

// build explores the product of the model with the costs that the path has collected. The paths begin in the states in starts, with cost 0;
// startOf[s] is the product state for such a state s. goal has the product states in which the formula is known to hold.
func (builder *costProductBuilder) build(starts *sparse.Set) (startOf []uint32, goal *sparse.Set, err error) {
	model := builder.model
	builder.packedState = make([]uint64, 1+len(builder.costs)/2) // each word has two numbers: first the state of the model, then all costs
	builder.numbering = explicit.NewNumbering(len(builder.packedState))
	builder.productRows = sparse.NewDerivedBuilder(model, model.Kind)
	startOf = make([]uint32, model.NumStates())
	zeroCosts := make([]uint32, len(builder.costs))
	for s := range starts.All() {
		startOf[s] = builder.stateNumber(uint32(s), zeroCosts)
	}
	for i := 0; i < builder.numbering.Len(); i++ { // expand adds states
		if i&0xfff == 0 && builder.ctx.Err() != nil {
			return nil, nil, builder.ctx.Err()
		}
		if i >= maxProductStates {
			return nil, nil, fmt.Errorf("found reward bounds whose product with the model has more than %d states", maxProductStates)
		}
		builder.expandState(i)
	}
	goal = sparse.NewSet(builder.numbering.Len())
	for i := range goal.Len() {
		if builder.costSoFar(i, 0) == reached {
			goal.Add(i)
		}
	}
	return startOf, goal, nil
}

// stateNumber returns the number of the product state for state s of the model with the costs that the path has collected. It adds the product
// state if it is new. Where the formula is already known to hold or to fail, the costs no longer matter: the constant reached or failed replaces
// each of them.
func (builder *costProductBuilder) stateNumber(s uint32, costs []uint32) uint32 {
	decision := builder.decision(s, costs)
	clear(builder.packedState)
	builder.packedState[0] = uint64(s)
	for k, cost := range costs {
		if decision != undecided {
			cost = decision
		}
		position := k + 1 // position 0 has the state of the model
		builder.packedState[position/2] |= uint64(cost) << (32 * (position % 2))
	}
	return uint32(builder.numbering.Add(builder.packedState))
}

// decision returns reached if the formula `left U right` with bounds on costs holds in state s of the model with the costs so far. It returns
// failed if the formula can no longer hold, and else undecided.
func (builder *costProductBuilder) decision(s uint32, costs []uint32) uint32 {
	withinLower, withinUpper := true, true
	for k, bound := range builder.costs {
		cost := int(costs[k])
		withinLower = withinLower && cost >= bound.low
		withinUpper = withinUpper && (bound.high == noUpperBound || cost <= bound.high)
	}
	switch {
	case withinLower && withinUpper && builder.right.Has(int(s)):
		return reached
	case !withinUpper || !builder.left.Has(int(s)):
		return failed
	}
	return undecided
}

// modelState returns the state of the model in state i of the product.
func (builder *costProductBuilder) modelState(i int) int {
	return int(uint32(builder.numbering.At(i)[0]))
}

// costSoFar returns cost k in state i of the product, or reached or failed.
func (builder *costProductBuilder) costSoFar(i, k int) uint32 {
	position := k + 1 // as in index
	return uint32(builder.numbering.At(i)[position/2] >> (32 * (position % 2)))
}

// expandState adds the choices of state i of the product. It also numbers the product states to which the choices lead. Where the formula is decided,
// the state gets a self-loop.
func (builder *costProductBuilder) expandState(i int) {
	model, s := builder.model, builder.modelState(i)
	builder.productRows.State()
	isDecided := builder.costSoFar(i, 0) >= failed // failed and reached are greater than all costs
	if isDecided {
		builder.productRows.Loop(uint32(i))
		return
	}
	costs := make([]uint32, len(builder.costs))
	for k := range costs {
		costs[k] = builder.costSoFar(i, k)
	}
	first, end := model.Choices(s)
	for choice := first; choice < end; choice++ {
		builder.productRows.Copy(choice, func(transition int) uint32 {
			costIndex := transition // costs belong to transitions, or to choices in an MDP
			if model.Kind == sparse.MDP {
				costIndex = choice
			}
			return builder.stateNumber(model.Target[transition], builder.costsAfter(costs, s, costIndex))
		})
	}
}

// costsAfter returns the costs of a path after it leaves state s by a move: a choice of an MDP, or a transition of a Markov chain. The next
// call overwrites the result.
func (builder *costProductBuilder) costsAfter(costs []uint32, s, move int) []uint32 {
	builder.nextCosts = builder.nextCosts[:0]
	for k := range builder.costs {
		builder.nextCosts = append(builder.nextCosts, builder.costs[k].costAfter(costs[k], s, move))
	}
	return builder.nextCosts
}

// costAfter returns the cost of a path after it leaves state s by a move: a choice of an MDP, or a transition of a Markov chain. spent is the
// cost before the move. The result is at most cost.countingLimit.
func (cost *cost) costAfter(spent uint32, s, move int) uint32 {
	sum := int(spent) + cost.perStep
	if cost.stateCost != nil {
		sum += cost.stateCost[s] + cost.moveCost[move]
	}
	return uint32(min(sum, cost.countingLimit))
}
