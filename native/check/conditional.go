package check

import (
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// conditionalProbability returns the minimal or maximal probability of a path formula under a condition on the path. In an MDP the extremum
// is over the schedulers under which the condition has a positive probability.
func (e *evaluation) conditionalProbability(path *logic.Path, direction solve.Direction) (*numbers, error) {
	if err := e.checkConditionSupported(path.Expr); err != nil {
		return nil, err
	}
	formula, condition := path.Left, path.Right
	switch {
	case e.modelKind() != sparse.MDP:
		return e.conditionalInChain(path.Expr, formula, condition)
	case direction == solve.Max:
		return e.conditionalMaximum(path.Expr, formula, condition)
	}
	values, err := e.conditionalMaximum(path.Expr, logic.Not(formula), condition) // the minimum is 1 minus this maximum
	if err != nil {
		return nil, err
	}
	return e.complement(values), nil
}

// checkConditionSupported returns an error if conditions are not supported for the model or the schedulers.
func (e *evaluation) checkConditionSupported(expr sema.Expr) error {
	found := logic.Describe(expr)
	switch {
	case e.onlyFairSchedulers():
		return e.unsupportedError(expr, "found %s, which is not supported for fair schedulers", found)
	case e.space.Model().Intervals():
		return e.unsupportedError(expr, "found %s for a model with intervals", found)
	case e.isGame():
		return e.unsupportedError(expr, "found %s for a stochastic game", found)
	}
	return nil
}

// zeroConditionError returns the error for a condition of expr that has probability 0 in state s.
func (e *evaluation) zeroConditionError(expr sema.Expr, s int) error {
	return e.failure(result.TypeError, expr.Pos(), "the value is undefined: the condition behind || has probability 0 in state %s", e.stateText(s))
}

// conditionalInChain returns the probability of a path formula under a condition, in a Markov chain, for each state of the domain (the states where
// values are needed). It is an error if the condition has probability 0 in such a state. expr is the whole conditional formula.
func (e *evaluation) conditionalInChain(expr, formula, condition sema.Expr) (*numbers, error) {
	satisfied, err := e.pathProbability(logic.PathOf(logic.And(formula, condition)), solve.Max)
	if err != nil {
		return nil, err
	}
	violated, err := e.pathProbability(logic.PathOf(logic.And(logic.Not(formula), condition)), solve.Max)
	if err != nil {
		return nil, err
	}
	conditional := e.newValues(max(satisfied.accuracy, violated.accuracy))
	for s := range e.domain().All() {
		if satisfied.upper[s] == 0 && violated.upper[s] == 0 {
			return nil, e.zeroConditionError(expr, s)
		}
		conditional.setNumber(s, shareOfSatisfied(satisfied.numberAt(s), violated.numberAt(s)))
	}
	return conditional, nil
}

// shareOfSatisfied returns the conditional probability satisfied/(satisfied+violated), or bounds of it. satisfied is the probability that a path
// satisfies the condition and the formula; violated is the probability that it satisfies the condition only. The arguments must not both be 0.
func shareOfSatisfied(satisfied, violated number) number {
	switch {
	case satisfied.Hi == 0:
		return exactNumber(new(big.Rat))
	case violated.Hi == 0:
		return exactNumber(big.NewRat(1, 1))
	case satisfied.Exact != nil && violated.Exact != nil:
		return exactNumber(new(big.Rat).Quo(satisfied.Exact, new(big.Rat).Add(satisfied.Exact, violated.Exact)))
	}
	// The quotient increases with satisfied and decreases with violated.
	share := boundedNumber(0, 1)
	share.aboveLo, share.belowHi = true, true
	if satisfied.Lo > 0 {
		share.Lo = max(boundsOfShare(satisfied.Lo, violated.Hi).Lo, 0)
	}
	if satisfied.Hi > 0 && violated.Lo > 0 {
		share.Hi = min(boundsOfShare(satisfied.Hi, violated.Lo).Hi, 1)
	}
	return share
}

// boundsOfShare returns bounds of satisfied/(satisfied+violated) for two float64 numbers.
func boundsOfShare(satisfied, violated float64) number {
	sum, _ := applyArithmetic(syntax.OpAdd, pointNumber(satisfied), pointNumber(violated))
	share, _ := applyArithmetic(syntax.OpDiv, pointNumber(satisfied), sum)
	return share
}

// conditionalMaximum returns the maximal probability of a path formula under a condition, in an MDP. It uses the product of the model with two
// automata: one for the paths that satisfy formula and condition, one for the paths that violate the condition. goal and excluded are the product
// states from which some scheduler satisfies the first or the second almost surely. The result is the maximal probability of reaching goal, given that
// excluded is not reached.
//
// Source: Baier, Klein, Klüppelholz and Märcker, Computing conditional probabilities in Markovian models efficiently (2014).
func (e *evaluation) conditionalMaximum(expr, formula, condition sema.Expr) (*numbers, error) {
	if boundedExpr := boundedOperator(expr); boundedExpr != nil && e.modelKind() == sparse.CTMC {
		return nil, e.unsupportedError(boundedExpr, "found a time bound in a formula with a condition")
	}
	linear := &linearEvaluation{evaluation: e, rootFormula: expr}
	bothHold, conditionFails := logic.And(formula, condition), logic.Not(condition)
	regions, err := linear.winningRegions(bothHold, conditionFails)
	if err != nil {
		return nil, err
	}
	product, err := e.pairProduct(regions)
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	// Almost every path ends in an end component. If some paths there satisfy a formula, some scheduler satisfies it almost surely, as for LTL.
	goal, excluded := sparse.NewSet(product.NumStates()), sparse.NewSet(product.NumStates())
	for i, pair := range product.Pairs {
		switch {
		case regions[0].contains(pair.state, pair.automatonStates[0]): // some scheduler satisfies bothHold almost surely
			goal.Add(i)
		case regions[1].contains(pair.state, pair.automatonStates[1]): // some scheduler satisfies conditionFails almost surely
			excluded.Add(i)
		}
	}
	values, err := e.conditionalValues(product, goal, excluded)
	if err != nil {
		return nil, err
	}
	if err := e.checkConditionPossible(expr, condition, values); err != nil {
		return nil, err
	}
	return values, nil
}

// conditionalValues returns, for each state of the model, the maximal probability of reaching goal under the condition that excluded is never reached.
// The path begins in the state's start state of the product.
func (e *evaluation) conditionalValues(product *sparse.Product[pairState], goal, excluded *sparse.Set) (*numbers, error) {
	graph := sparse.NewGraph(product.Model)
	conditional := e.newValues(result.Exact)
	for _, start := range product.Start {
		values, err := e.toNumbers(solve.Conditional(e.ctx, graph, goal, excluded, start, e.opts))
		if err != nil {
			return nil, err
		}
		conditional.accuracy = max(conditional.accuracy, values.accuracy)
		conditional.setNumber(int(product.Pairs[start].state), values.numberAt(int(start)))
	}
	return conditional, nil
}

// pairProduct returns the product of the model with the automata of two winning regions. The product has a start state for each state of the
// domain (the states where values are needed).
func (e *evaluation) pairProduct(regions []*winningRegion) (*sparse.Product[pairState], error) {
	var starts []pairState
	for s := range e.domain().All() {
		start := pairState{state: uint32(s)}
		for i, region := range regions {
			start.automatonStates[i] = region.product.pairs[region.product.startStates[s]].automatonState
		}
		starts = append(starts, start)
	}
	return sparse.NewProduct(e.ctx, e.graph.Model, pairMemory{regions}, starts, nil, math.MaxInt32)
}

// checkConditionPossible returns an error if, from some state of the domain, the condition has probability 0 under every scheduler. Such a state has the
// value 0 in values, the conditional probabilities, so only these states are checked. expr is the conditional formula.
func (e *evaluation) checkConditionPossible(expr, condition sema.Expr, values *numbers) error {
	zeroStates := sparse.NewSet(len(values.upper))
	for s := range e.domain().All() {
		if values.upper[s] == 0 {
			zeroStates.Add(s)
		}
	}
	if zeroStates.Empty() {
		return nil
	}
	conditionProbability, err := e.pathProbability(logic.PathOf(condition), solve.Max)
	if err != nil {
		return err
	}
	for s := range zeroStates.All() {
		if conditionProbability.upper[s] == 0 {
			return e.zeroConditionError(expr, s)
		}
	}
	return nil
}

// winningRegion has the automaton of a path formula, and the states of the product of the model and the automaton from which some
// scheduler satisfies the rest of the formula with probability one.
type winningRegion struct {
	product       *productModel
	reader        *automatonReader
	winningStates map[productState]bool
}

// winningRegions returns the winning region of each path formula. It first translates all formulas to LTL, because the regions share the atomic
// propositions of all formulas.
func (linear *linearEvaluation) winningRegions(exprs ...sema.Expr) ([]*winningRegion, error) {
	var formulas []*automata.Formula
	for _, expr := range exprs {
		formula, err := linear.translate(expr)
		if err != nil {
			return nil, err
		}
		formulas = append(formulas, formula)
	}
	var regions []*winningRegion
	for _, formula := range formulas {
		region, err := linear.winningRegion(formula)
		if err != nil {
			return nil, linear.tooLargeError(err)
		}
		regions = append(regions, region)
	}
	return regions, nil
}

// winningRegion returns the winning region of an LTL formula: the product with its automaton, and the states of the product from which some
// scheduler satisfies the formula almost surely. All atomic propositions must be known.
func (linear *linearEvaluation) winningRegion(formula *automata.Formula) (*winningRegion, error) {
	product, err := linear.buildProduct(automata.New(formula, automata.Limits{}))
	if err != nil {
		return nil, err
	}
	states, err := linear.winningStates(product, someScheduler{linear.evaluation})
	if err != nil {
		return nil, err
	}
	region := &winningRegion{product, &automatonReader{automaton: product.automaton, letters: linear.letters}, map[productState]bool{}}
	for i := range states.All() {
		region.winningStates[product.pairs[i]] = true
	}
	return region, nil
}

// contains reports whether some scheduler satisfies the formula almost surely, from state s of the model with the automaton in state q.
func (region *winningRegion) contains(s uint32, q int) bool {
	return region.product.automaton.Class(q) == automata.Accepted || region.winningStates[productState{s, q}]
}

// pairState is a state of the model, and the states of two automata after they have read the letter of that state.
type pairState struct {
	state           uint32
	automatonStates [2]int
}

// pairMemory is the sparse.Memory of the product of the model with the automata of two winning regions.
type pairMemory struct{ regions []*winningRegion }

// State returns the state of the model.
func (memory pairMemory) State(pair pairState) uint32 { return pair.state }

// Step returns the state of the product after a transition to a state of the model: target, and the next state of each of the two automata.
func (memory pairMemory) Step(pair pairState, target uint32) (pairState, error) {
	next := pairState{state: target}
	for i, region := range memory.regions {
		var err error
		next.automatonStates[i], err = region.reader.nextState(pair.automatonStates[i], target)
		if err != nil {
			return next, err
		}
	}
	return next, nil
}

// Absorbing reports whether later transitions cannot change the result: one automaton has accepted, or both automata have rejected.
func (memory pairMemory) Absorbing(pair pairState) bool {
	allRejected := true
	for i, region := range memory.regions {
		class := region.product.automaton.Class(pair.automatonStates[i])
		if class == automata.Accepted {
			return true
		}
		allRejected = allRejected && class == automata.Rejected
	}
	return allRejected
}

// conditionalReward returns the minimal or maximal expected reward under a condition on the path. The value is E[reward; condition] /
// P[condition]: the expected reward on the paths that satisfy the condition, divided by the probability of the condition. In an MDP the
// extremum is over the schedulers under which the condition has a positive probability.
//
// Source: Baier, Klein, Klüppelholz and Wunderlich, Maximizing the conditional expected reward for reaching the goal (TACAS 2017),
// section 2, for the meaning.
func (e *evaluation) conditionalReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if err := e.checkConditionSupported(objective.Expr); err != nil {
		return nil, err
	}
	if e.modelKind() == sparse.MDP {
		return e.conditionalRewardOfMDP(objective, reward, direction)
	}
	chain, err := e.newConditionedChain(objective)
	if err != nil {
		return nil, err
	}
	target, err := chain.targetStates(objective.Unconditional)
	if err != nil {
		return nil, err
	}
	lower, err := chain.weightedReward(objective.Unconditional, target, lowerBound)
	if err != nil {
		return nil, err
	}
	upper := lower // equal for fractions
	if !e.wantsFractions {
		upper, err = chain.weightedReward(objective.Unconditional, target, upperBound)
		if err != nil {
			return nil, err
		}
	}
	return chain.divideByCondition(objective.Expr, lower, upper)
}

// conditionedChain is the product of a Markov chain with the automaton of a condition. conditionProbability has the probability of the
// condition from each state of the product, and rewards has the rewards of an objective in the product.
type conditionedChain struct {
	evaluation           *evaluation
	product              *productModel
	conditionProbability *numbers
	rewards              solve.RewardParts
}

// newConditionedChain builds the product of a Markov chain with the automaton of the condition in a reward objective. In each state of the product it
// sets the probability that the condition will be satisfied, and the rewards.
func (e *evaluation) newConditionedChain(objective *logic.Objective) (*conditionedChain, error) {
	if boundedExpr := boundedOperator(objective.Condition); boundedExpr != nil && e.modelKind() == sparse.CTMC {
		return nil, e.unsupportedError(boundedExpr, "found a time bound in a condition")
	}
	linear := &linearEvaluation{evaluation: e, rootFormula: objective.Condition}
	regions, err := linear.winningRegions(objective.Condition)
	if err != nil {
		return nil, err
	}
	region := regions[0]
	starts := make([]productState, len(region.product.startStates))
	for s, start := range region.product.startStates {
		starts[s] = region.product.pairs[start]
	}
	product, err := sparse.NewProduct(e.ctx, e.graph.Model, continuingMemory{automatonMemory{region.reader}}, starts, nil, math.MaxInt32)
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	chain := &conditionedChain{evaluation: e, product: newProductModel(product, region.product.automaton)}
	if err := chain.setConditionProbability(region); err != nil {
		return nil, err
	}
	return chain, chain.setRewards(objective.Struct)
}

// continuingMemory is the sparse.Memory of the product with an automaton. Unlike in the product of automatonMemory, paths continue after
// the automaton has accepted, because rewards still count.
type continuingMemory struct{ automatonMemory }

// Absorbing reports whether the automaton has rejected.
func (memory continuingMemory) Absorbing(pair productState) bool {
	return memory.automaton.Class(pair.automatonState) == automata.Rejected
}

// setConditionProbability computes, for each state of chain.product, the probability that the path satisfies the condition. It solves the product of
// region, in which an automaton that has accepted stops, and copies the probabilities to chain.product.
func (chain *conditionedChain) setConditionProbability(region *winningRegion) error {
	goal := sparse.NewSet(region.product.NumStates())
	for i, pair := range region.product.pairs {
		if region.winningStates[pair] {
			goal.Add(i)
		}
	}
	probability, err := chain.evaluation.reachProbability(region.product, goal, solve.Max)
	if err != nil {
		return err
	}
	chain.conditionProbability = newNumbers(len(chain.product.pairs), probability.accuracy)
	if chain.evaluation.wantsFractions {
		chain.conditionProbability.fractions = make([]*big.Rat, len(chain.product.pairs))
	}
	chain.copyConditionProbability(region.product, probability)
	return nil
}

// copyConditionProbability copies the probability of the condition from stoppedProduct, in which an automaton that has accepted stops, to chain.product.
// A pair that stoppedProduct lacks has the probability 1 if its automaton has accepted, else 0.
func (chain *conditionedChain) copyConditionProbability(stoppedProduct *productModel, probability *numbers) {
	stateOfPair := map[productState]int{}
	for i, pair := range stoppedProduct.pairs {
		stateOfPair[pair] = i
	}
	zero, one := exactNumber(new(big.Rat)), exactNumber(big.NewRat(1, 1))
	for i, pair := range chain.product.pairs {
		s, isInProduct := stateOfPair[pair]
		switch {
		case isInProduct:
			chain.conditionProbability.setNumber(i, probability.numberAt(s))
		case stoppedProduct.automaton.Class(pair.automatonState) == automata.Accepted:
			chain.conditionProbability.setNumber(i, one)
		default:
			chain.conditionProbability.setNumber(i, zero)
		}
	}
}

// setRewards copies the rewards of a reward structure from the states and transitions of the model to the product. Where the automaton has rejected, a
// state gets no rewards, because the path violates the condition.
func (chain *conditionedChain) setRewards(structIndex int) error {
	stateRewards, transitionRewards, err := chain.evaluation.space.Costs(structIndex)
	if err != nil {
		return err
	}
	chain.rewards.State = make([]*big.Rat, chain.product.NumStates())
	chain.rewards.Transition = make([]*big.Rat, chain.product.NumTransitions())
	for i, pair := range chain.product.pairs {
		if chain.product.modelChoice[i] == sparse.None { // the automaton has rejected
			continue
		}
		chain.rewards.State[i] = stateRewards[pair.state]
		first, end := chain.product.Transitions(i)
		firstInModel, _ := chain.evaluation.graph.Transitions(int(pair.state))
		for offset := range end - first {
			chain.rewards.Transition[first+offset] = transitionRewards[firstInModel+offset]
		}
	}
	return nil
}

// targetStates returns the states of the product in which an objective F stops counting rewards: the target states, and the states from which the
// condition has probability 0, where rewards do not matter. It returns nil for C, C<=t and I=t, which have no target.
func (chain *conditionedChain) targetStates(objective *logic.Objective) (*sparse.Set, error) {
	switch objective.Form {
	case logic.TotalReward, logic.Cumulative, logic.Instantaneous:
		return nil, nil
	case logic.ReachReward:
		modelTargets, err := chain.evaluation.satisfyingStates(objective.Target)
		if err != nil {
			return nil, err
		}
		target := sparse.NewSet(chain.product.NumStates())
		for i, pair := range chain.product.pairs {
			if modelTargets.Has(int(pair.state)) || chain.conditionProbability.upper[i] == 0 {
				target.Add(i)
			}
		}
		return target, nil
	}
	return nil, chain.evaluation.unsupportedError(objective.Expr, "found %s with a condition (||), want F, C, C<=t or I=t", logic.Describe(objective.Expr))
}

// The arguments of weightedReward.
const (
	lowerBound = false
	upperBound = true
)

// weightedReward returns, for each state of the product, a bound of the expected reward of an objective on the paths that satisfy the condition;
// other paths earn 0. The bound is an upper bound if upper is true, else a lower bound. For an objective F, rewards count until target is reached.
func (chain *conditionedChain) weightedReward(objective *logic.Objective, target *sparse.Set, upper bool) (*numbers, error) {
	probability := chain.conditionProbability.lower
	if upper {
		probability = chain.conditionProbability.upper
	}
	reward := solve.ConditionedReward(chain.product.Model, chain.rewards, chain.conditionProbability.fractions, probability, upper)
	switch objective.Form {
	case logic.ReachReward:
		return chain.evaluation.toNumbers(solve.ReachReward(chain.evaluation.ctx, chain.product.Graph, reward, target, solve.Max, chain.evaluation.opts))
	case logic.TotalReward:
		return chain.evaluation.toNumbers(solve.TotalReward(chain.evaluation.ctx, chain.product.Graph, reward, solve.Max, chain.evaluation.opts))
	}
	// C<=t and I=t are evaluated on a copy of the evaluation whose model is the product.
	productEvaluation, modelOfProduct := *chain.evaluation, *chain.evaluation.model
	modelOfProduct.graph = chain.product.Graph
	productEvaluation.model, productEvaluation.neededStates = &modelOfProduct, nil
	if chain.evaluation.modelKind() == sparse.CTMC {
		return productEvaluation.timedReward(objective, reward)
	}
	return productEvaluation.steppedReward(objective, reward, solve.Max)
}

// divideByCondition returns, for each state of the domain, the weighted reward divided by the probability of the condition. lower and upper are
// bounds of the weighted reward; in exact computations lower has the exact values. It is an error if the condition has probability 0 in a state.
// expr is the conditional objective, for errors.
func (chain *conditionedChain) divideByCondition(expr sema.Expr, lower, upper *numbers) (*numbers, error) {
	quotients := chain.evaluation.newValues(max(lower.accuracy, chain.conditionProbability.accuracy))
	for s := range chain.evaluation.domain().All() {
		start := int(chain.product.startStates[s])
		probability := chain.conditionProbability.numberAt(start)
		if probability.Hi == 0 {
			return nil, chain.evaluation.zeroConditionError(expr, s)
		}
		weighted := boundedNumber(lower.lower[start], upper.upper[start])
		if chain.evaluation.wantsFractions {
			weighted = lower.numberAt(start)
		}
		quotient, hasBounds := applyArithmetic(syntax.OpDiv, weighted, probability)
		if !hasBounds { // the bounds of the probability contain 0
			quotient = boundedNumber(0, math.Inf(1))
		}
		quotients.setNumber(s, quotient)
	}
	return quotients, nil
}
