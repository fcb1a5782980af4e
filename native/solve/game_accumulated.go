package solve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrLaterRewards says that ZeroUnlessReached has no fractions: choices that are optimal for the probability of the target can collect infinite
// rewards before it, so no accumulated reward is so large that memoryless strategies are optimal from there on.
var ErrLaterRewards = errors.New("F0 has no fractions in this game, because optimal choices for the target can collect infinite rewards; want bounds")

// maxAccumulated limits the states of the product with the accumulated reward when bounds are narrowed.
const maxAccumulated = 1 << 19

// ZeroUnlessReached returns bounds on the value of the expected reward until target is reached. A path that never reaches target
// has reward 0. Strategies may depend on the accumulated reward. With Options.Scheduler, Values.Controller has strategies of both sides,
// unless an initial state has an infinite value, which no strategy attains.
//
// Source: PRISM-games' R[F0]; Chen, Forejt, Kwiatkowska, Parker and Simaitis, Automatic verification of competitive
// stochastic systems (FMSD 2013), section 4.
func (game *Game) ZeroUnlessReached(ctx context.Context, reward *sparse.Reward, target *sparse.Set, opts Options) (*Values, error) {
	opts.Within, opts.Classic = nil, false
	numStates := game.graph.NumStates()
	reachability, err := game.Until(ctx, sparse.FullSet(numStates), target, opts)
	if err != nil {
		return nil, err
	}
	accumulation := &accumulation{game: game, ctx: ctx, opts: opts, reward: reward, target: target, reachProbability: reachability}
	accumulation.endStates = target.Union(sparse.SelectStates(numStates, reachability.isZero))
	accumulation.totalReward, err = game.RewardUntilReached(ctx, reward, accumulation.endStates, opts)
	if err != nil {
		return nil, err
	}
	accumulation.infiniteStates = sparse.SelectStates(numStates, accumulation.totalReward.isInfinite)
	finiteStates := accumulation.infiniteStates.Complement()
	accumulation.finiteChoices = game.graph.ChoicesWithin(finiteStates) // the choices of these states that lead to these states only
	keptChoices := accumulation.finiteChoices.Union(game.graph.ChoicesOf(accumulation.infiniteStates.Union(accumulation.endStates)))
	if hasInfiniteChoices := keptChoices.Count() < game.graph.NumChoices(); hasInfiniteChoices {
		return accumulation.withoutInfiniteChoices(keptChoices)
	}
	values := newValues(game.graph.Model, opts)
	values.Scheduler = nil
	values.setAll(accumulation.infiniteStates, math.Inf(1))
	if opts.Exact {
		return values, accumulation.solveExactly(values, finiteStates)
	}
	return values, accumulation.narrowBounds(values, finiteStates)
}

// withoutInfiniteChoices solves the game with the kept choices only, and translates the strategies to the complete game. The other choices lead from states
// with finite values to states with infinite values, so the minimizer never makes them, and the values stay the same. The controller has no deviations for
// them, because the maximizer's strategy is not defined in the states with infinite values.
func (accumulation *accumulation) withoutInfiniteChoices(keptChoices *sparse.Set) (*Values, error) {
	restricted, reward := accumulation.restrictChoices(keptChoices, accumulation.reward)
	values, err := restricted.ZeroUnlessReached(accumulation.ctx, reward, accumulation.target, accumulation.opts)
	if err != nil || values.Controller == nil {
		return values, err
	}
	originalChoices := choiceNumbers(keptChoices)
	for _, node := range values.Controller.Nodes {
		for _, moves := range [][]sparse.Move{node.Moves, node.Deviations} {
			for i := range moves {
				moves[i].Choice = originalChoices[moves[i].Choice]
			}
		}
	}
	return values, nil
}

// choiceNumbers returns the choices of a set in ascending order: those that restrict keeps.
func choiceNumbers(choices *sparse.Set) (numbers []uint32) {
	for choice := range choices.All() {
		numbers = append(numbers, uint32(choice))
	}
	return numbers
}

// restrictChoices returns the game with some choices only, and a reward for it.
func (accumulation *accumulation) restrictChoices(keptChoices *sparse.Set, reward *sparse.Reward) (*Game, *sparse.Reward) {
	model := *accumulation.game.graph.Model
	model.Rewards = []sparse.Reward{*reward}
	restricted := model.Restrict(keptChoices)
	return NewGame(sparse.NewGraph(restricted), accumulation.game.maximizer), &restricted.Rewards[0]
}

// unrestrictedStrategy returns a strategy of a game that restrictChoices has reduced to some choices as a strategy of the complete game. Where every
// remaining choice is optimal, it makes the first of them, because the others need not be optimal.
func unrestrictedStrategy(restricted *Game, strategy []uint32, keptChoices *sparse.Set) []uint32 {
	result := slices.Clone(strategy)
	for state := range result {
		result[state] = restricted.graph.ChoiceOrFirst(state, result[state])
	}
	return originalStrategy(result, choiceNumbers(keptChoices))
}

// isZero reports whether the value of a state is known to be 0.
func (values *Values) isZero(state int) bool {
	if values.Exact != nil {
		return values.Exact[state] != nil && values.Exact[state].Sign() == 0
	}
	return values.Upper[state] == 0
}

// isInfinite reports whether the value of a state is known to be infinite.
func (values *Values) isInfinite(state int) bool {
	if values.Exact != nil {
		return values.Exact[state] == nil
	}
	return math.IsInf(values.Lower[state], 1)
}

// accumulation solves a game for ZeroUnlessReached on pairs of a state and the accumulated reward.
//
// Let p(s) be the value of reaching target, and u(s) the total reward until endStates. The value of a pair (s, a) is infinite where u
// is infinite: the maximizer collects rewards for a long time, and then moves to target. Elsewhere it is at least a*p(s) and at most a+u(s).
// The product ends with these bounds where a reaches a limit. The limit grows until the bounds are narrow.
// For fractions, both sides only make choices beyond the limit that are optimal for p (see largeReward).
type accumulation struct {
	game             *Game
	ctx              context.Context
	opts             Options
	reward           *sparse.Reward
	target           *sparse.Set
	reachProbability *Values     // the probabilities p of reaching target
	endStates        *sparse.Set // target, and the states where p is 0
	totalReward      *Values     // the total rewards u until endStates are reached
	infiniteStates   *sparse.Set // the states where u is infinite
	finiteChoices    *sparse.Set // the choices that lead to states with finite values only
}

// narrowBounds computes bounds on the finite values by a product with the accumulated reward up to a limit. It doubles the limit until the bounds are
// narrow, until a greater limit cannot make them narrower, or until the product has too many states.
func (accumulation *accumulation) narrowBounds(values *Values, finiteStates *sparse.Set) error {
	limit := 1.0
	for state := range finiteStates.All() {
		if total := accumulation.totalReward.Upper[state]; !math.IsInf(total, 1) {
			limit = max(limit, 2*total)
		}
		values.Upper[state] = math.Inf(1)
	}
	for overlapped := false; ; limit *= 2 {
		product, err := accumulation.buildProduct(finiteStates, new(big.Rat).SetFloat64(limit))
		if err != nil {
			return err
		}
		lowerSolution, upperSolution, err := product.tighten(values, finiteStates)
		if err != nil {
			return err
		}
		values.Converged = !values.hasWideBounds(finiteStates, accumulation.opts.epsilon())
		// If the bounds of both solutions overlap, the limit matters less than the errors of the solutions. One further limit is tried, because these
		// errors alone may be narrow enough.
		overlap := product.overlap(finiteStates, lowerSolution, upperSolution)
		if values.Converged || overlap && overlapped || len(product.pairs) > maxAccumulated {
			return product.addStrategies(values, lowerSolution, upperSolution)
		}
		overlapped = overlap
	}
}

// tighten solves the product twice, with lower and with upper payoffs of the terminal pairs, and tightens the bounds of the finite values with the results.
// It returns both solutions.
func (product *accumulatedProduct) tighten(values *Values, finiteStates *sparse.Set) (lowerSolution, upperSolution *Values, err error) {
	if lowerSolution, err = product.solve(product.lowerPayoff); err != nil {
		return nil, nil, err
	}
	if upperSolution, err = product.solve(product.upperPayoff); err != nil {
		return nil, nil, err
	}
	for state := range finiteStates.All() {
		start := product.startPairs[state]
		values.Lower[state] = max(values.Lower[state], lowerSolution.Lower[start])
		values.Upper[state] = min(values.Upper[state], upperSolution.Upper[start])
	}
	return lowerSolution, upperSolution, nil
}

// overlap reports whether, in each finite state, the bounds of the solution for the lower payoffs and those for the upper payoffs overlap. Then the
// difference of the payoffs is less than the errors of the solutions.
func (product *accumulatedProduct) overlap(finiteStates *sparse.Set, lowerSolution, upperSolution *Values) bool {
	for state := range finiteStates.All() {
		if start := product.startPairs[state]; upperSolution.Lower[start] > lowerSolution.Upper[start] {
			return false
		}
	}
	return true
}

// lowerPayoff returns a lower bound on the value of a pair: the accumulated reward times the probability to reach target. The fraction is nil.
func (accumulation *accumulation) lowerPayoff(pair rewardPair) (float64, *big.Rat) {
	amount, _ := pair.earlierReward.Float64()
	return amount * accumulation.reachProbability.Lower[pair.state], nil
}

// upperPayoff returns an upper bound on the value of a pair: the accumulated reward plus the total reward. The fraction is nil.
func (accumulation *accumulation) upperPayoff(pair rewardPair) (float64, *big.Rat) {
	amount, _ := pair.earlierReward.Float64()
	if accumulation.endStates.Has(int(pair.state)) {
		return amount * accumulation.reachProbability.Upper[pair.state], nil
	}
	return amount + accumulation.totalReward.Upper[pair.state], nil
}

// solveExactly computes the finite values as fractions, from the product with the accumulated rewards up to the limit of largeReward. At the limit, the
// value is known.
func (accumulation *accumulation) solveExactly(result *Values, finiteStates *sparse.Set) error {
	largeSolution, err := accumulation.largeReward(finiteStates)
	if err != nil {
		return err
	}
	product, err := accumulation.buildProduct(finiteStates, largeSolution.limit)
	if err != nil {
		return err
	}
	values, err := product.solve(func(pair rewardPair) (float64, *big.Rat) {
		// With the accumulated reward a, the value is a * P(reach target) + the expected later reward.
		payoff := new(big.Rat).Mul(pair.earlierReward, accumulation.reachProbability.Exact[pair.state])
		payoff.Add(payoff, largeSolution.laterRewards.Exact[pair.state])
		rounded, _ := payoff.Float64()
		return rounded, payoff
	})
	if err != nil {
		return err
	}
	for state := range finiteStates.All() {
		result.setExact(state, values.Exact[product.startPairs[state]])
	}
	return product.addExactStrategies(result, values, largeSolution)
}

// largeReward is the solution of the game where the accumulated reward is large: both sides only make choices that are optimal for the
// probability p to reach target.
type largeReward struct {
	optimalChoices *sparse.Set // the choices that preserve the probability of reaching target
	laterRewards   *Values     // the expected rewards that are earned later; the scheduler has choices of the game
	limit          *big.Rat
}

// largeReward returns the solution for large accumulated rewards a, and the limit from which it holds: the value of a state is then a*reachProbs[state] +
// laterRewards[state]. Choices that do not preserve the probability of reaching target lose at least as much of the first term as they can gain of the
// second.
func (accumulation *accumulation) largeReward(finiteStates *sparse.Set) (*largeReward, error) {
	optimalChoices := accumulation.optimalChoices()
	// A reward counts only if target is reached. Optimal choices preserve this probability, so each reward is multiplied by the probability in its state.
	weightedReward := accumulation.weightedReward()
	game, reward := accumulation.restrictChoices(optimalChoices, &weightedReward)
	laterRewards, err := game.RewardUntilReached(accumulation.ctx, reward, accumulation.endStates.Union(accumulation.infiniteStates), accumulation.opts)
	if err != nil {
		return nil, err
	}
	for state := range finiteStates.All() {
		if laterRewards.Exact[state] == nil {
			return nil, ErrLaterRewards
		}
	}
	if laterRewards.Scheduler != nil {
		laterRewards.Scheduler = unrestrictedStrategy(game, laterRewards.Scheduler, optimalChoices)
	}
	return &largeReward{optimalChoices, laterRewards, accumulation.greatestLimit(finiteStates, optimalChoices, laterRewards.Exact)}, nil
}

// greatestLimit returns the accumulated reward from which an optimal choice is at least as good as every other choice: the greatest choiceLimit of all
// choices that are not optimal, and at least 0.
func (accumulation *accumulation) greatestLimit(finiteStates, optimalChoices *sparse.Set, laterRewards []*big.Rat) *big.Rat {
	limit := new(big.Rat)
	for state := range finiteStates.Minus(accumulation.endStates).All() {
		first, end := accumulation.game.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if !accumulation.finiteChoices.Has(choice) || optimalChoices.Has(choice) {
				continue
			}
			if choiceLimit := accumulation.choiceLimit(state, choice, laterRewards); choiceLimit.Cmp(limit) > 0 {
				limit = choiceLimit
			}
		}
	}
	return limit
}

// optimalChoices returns the choices that preserve the probability of reaching target, and all choices of end states.
func (accumulation *accumulation) optimalChoices() *sparse.Set {
	graph, reachProbs := accumulation.game.graph, accumulation.reachProbability.Exact
	result := sparse.NewSet(graph.NumChoices())
	for state := range graph.NumStates() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if accumulation.endStates.Has(state) || expectedValue(graph, choice, reachProbs).Cmp(reachProbs[state]) == 0 {
				result.Add(choice)
			}
		}
	}
	return result
}

// choiceLimit returns the accumulated reward a from which a choice that is not optimal, with reward r, is no better than an optimal choice. It solves
// (a+r)*p + q = a*reachProbs[state] + laterRewards[state] for a, where p and q are the means of reachProbs and laterRewards over the successors of the
// choice.
func (accumulation *accumulation) choiceLimit(state, choice int, laterRewards []*big.Rat) *big.Rat {
	graph, reachProbs := accumulation.game.graph, accumulation.reachProbability.Exact
	mean := expectedValue(graph, choice, reachProbs)
	gain := accumulation.reward.ExactChoiceTotal(state, choice)
	gain.Mul(gain, mean).Add(gain, expectedValue(graph, choice, laterRewards)).Sub(gain, laterRewards[state])
	loss := new(big.Rat).Sub(reachProbs[state], mean)
	return gain.Quo(gain, loss)
}

// expectedValue returns the mean of the exact values of a choice's successors, weighted with their probabilities.
func expectedValue(graph *sparse.Graph, choice int, values []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	first, end := graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		sum.Add(sum, new(big.Rat).Mul(graph.Fraction(transition), values[graph.Target[transition]]))
	}
	return sum
}

// weightedReward returns a reward structure in which each choice of a state earns reachProbs[state] times its state and choice reward.
func (accumulation *accumulation) weightedReward() sparse.Reward {
	graph := accumulation.game.graph
	result := sparse.Reward{Choice: make([]float64, graph.NumChoices()), ChoiceFractions: make([]*big.Rat, graph.NumChoices())}
	for state := range graph.NumStates() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			product := accumulation.reward.ExactChoiceTotal(state, choice)
			product.Mul(product, accumulation.reachProbability.Exact[state])
			result.ChoiceFractions[choice] = product
			result.Choice[choice], _ = product.Float64()
		}
	}
	return result
}

// rewardPair is a state with the reward that was accumulated before it.
type rewardPair struct {
	state         uint32
	earlierReward *big.Rat
}

// accumulatedProduct is the game on pairs. State 0 is absorbing; pairs that end lead to it. State i, from 1 on, is pairs[i-1].
type accumulatedProduct struct {
	*accumulation
	graph           *sparse.Graph
	originalChoices []uint32 // of each choice of graph: the choice of the game
	pairs           []rewardPair
	stateOfPair     map[pairKey]uint32 // in graph
	startPairs      []uint32           // of each state with a finite value: the pair with reward 0
	payoffStates    *sparse.Set
}

// pairKey is a rewardPair as the key of a map: the amount is a text.
type pairKey struct {
	state      uint32
	rewardText string
}

// buildProduct builds the game on pairs of a state and the reward accumulated before it. A pair is terminal if its state is an end state, or if
// its reward reaches the limit.
func (accumulation *accumulation) buildProduct(finiteStates *sparse.Set, limit *big.Rat) (*accumulatedProduct, error) {
	graph := accumulation.game.graph
	product := &accumulatedProduct{accumulation: accumulation, startPairs: make([]uint32, graph.NumStates()), stateOfPair: map[pairKey]uint32{}}
	zero := new(big.Rat)
	for state := range finiteStates.All() {
		product.startPairs[state] = product.addPair(uint32(state), zero, zero.RatString())
	}
	builder := sparse.NewDerivedBuilder(graph.Model, graph.Kind)
	builder.State()
	builder.Loop(0)
	var terminalPairs []int
	for i := 0; i < len(product.pairs); i++ { // addChoices adds pairs
		if i%pollInterval == 0 && accumulation.ctx.Err() != nil {
			return nil, accumulation.ctx.Err()
		}
		builder.State()
		pair := product.pairs[i]
		if accumulation.endStates.Has(int(pair.state)) || pair.earlierReward.Cmp(limit) >= 0 {
			terminalPairs = append(terminalPairs, i+1)
			builder.Loop(0)
			continue
		}
		product.addChoices(builder, pair)
	}
	product.graph = sparse.NewGraph(builder.Finish())
	product.originalChoices = builder.Origin
	product.payoffStates = sparse.SetOf(product.graph.NumStates(), terminalPairs...)
	return product, nil
}

// addChoices adds the choices of a pair to the current state of the builder. A choice with reward r leads from a pair (s, a) to pairs (t,
// a+r).
func (product *accumulatedProduct) addChoices(builder *sparse.DerivedBuilder, pair rewardPair) {
	graph := product.game.graph
	state := int(pair.state)
	first, end := graph.Choices(state)
	for choice := first; choice < end; choice++ {
		if !product.finiteChoices.Has(choice) {
			continue
		}
		nextReward := product.choiceReward(state, choice)
		nextReward.Add(nextReward, pair.earlierReward)
		rewardText := nextReward.RatString()
		builder.Copy(choice, func(i int) uint32 { return product.addPair(graph.Target[i], nextReward, rewardText) })
	}
}

// addPair returns the state of the product for a pair of a state and an accumulated reward, and adds the pair if it is new. rewardText is the reward as a
// text, for the key of a map.
func (product *accumulatedProduct) addPair(state uint32, earlierReward *big.Rat, rewardText string) uint32 {
	key := pairKey{state, rewardText}
	if pairState, ok := product.stateOfPair[key]; ok {
		return pairState
	}
	product.pairs = append(product.pairs, rewardPair{state, earlierReward})
	pairState := uint32(len(product.pairs))
	product.stateOfPair[key] = pairState
	return pairState
}

// choiceReward returns the reward of a choice plus the reward of its state as a fraction. Without exact arithmetic it is the fraction of the float64
// rewards.
func (accumulation *accumulation) choiceReward(state, choice int) *big.Rat {
	if accumulation.opts.Exact {
		return accumulation.reward.ExactChoiceTotal(state, choice)
	}
	sum := new(big.Rat)
	if accumulation.reward.State != nil {
		sum.SetFloat64(accumulation.reward.State[state])
	}
	if accumulation.reward.Choice != nil {
		sum.Add(sum, new(big.Rat).SetFloat64(accumulation.reward.Choice[choice]))
	}
	return sum
}

// solve returns the values of the product if each terminal pair earns a payoff. payoff returns the payoff of a pair as a float64 and as a fraction.
func (product *accumulatedProduct) solve(payoff func(rewardPair) (float64, *big.Rat)) (*Values, error) {
	numStates := product.graph.NumStates()
	// Computing a payoff from accumulated rewards takes a few operations, each of which rounds.
	reward := &sparse.Reward{State: make([]float64, numStates), RelErr: product.reward.RelErr + 8*unitRoundoff, RangeErr: product.reward.RangeErr}
	if product.opts.Exact {
		reward.StateFractions = make([]*big.Rat, numStates)
	}
	maximizer := sparse.NewSet(numStates)
	for i, pair := range product.pairs {
		state := i + 1 // state 0 is the absorbing state after a payoff
		if product.game.maximizer.Has(int(pair.state)) {
			maximizer.Add(state)
		}
		if !product.payoffStates.Has(state) {
			continue
		}
		rounded, exactPayoff := payoff(pair)
		reward.State[state] = rounded
		if product.opts.Exact {
			reward.StateFractions[state] = exactPayoff
		}
	}
	return NewGame(product.graph, maximizer).TotalReward(product.ctx, reward, product.opts)
}
