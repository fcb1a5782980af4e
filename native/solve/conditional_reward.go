package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// RewardGivenGoal describes the expected reward of the paths of an MDP that reach a goal. The weights of the MDP must be fractions.
type RewardGivenGoal struct {
	*sparse.Graph
	Goal *sparse.Set
	// Costs has the reward of each choice, as a multiple of Unit. States of Goal are absorbing, without rewards.
	Costs []int
	Unit  *big.Rat // positive
	// Final has the expected reward after each state of Goal, which is added when the path reaches it; nil if it is infinite.
	Final []*big.Rat
}

// Optimum returns bounds on the minimal or maximal expected reward of the paths from start that reach the goal, as the only entry of
// values. The extremum is over the schedulers that reach the goal with positive probability; isDefined is false if there are none. Every
// state must be reachable from start.
//
// Beyond some reward so far, a scheduler is optimal that first optimises the probability of the goal, in the given direction, and then the
// expected reward; its values are fractions. Up to this reward, Optimum solves the product of the MDP with the reward so far, as a
// conditional probability: a path that reaches the goal with reward r is a success with probability r/scale.
//
// Source: Baier, Klein, Klüppelholz and Wunderlich, Maximizing the conditional expected reward for reaching the goal (TACAS 2017), for
// the reward beyond which the scheduler needs no memory (the saturation point), and for the criterion of infinite maxima.
func (problem *RewardGivenGoal) Optimum(ctx context.Context, start uint32, direction Direction, opts Options) (values *Values, isDefined bool, err error) {
	search := &conditionalRewards{RewardGivenGoal: problem, ctx: ctx, start: int(start), direction: direction, opts: opts, allStates: sparse.FullSet(problem.NumStates())}
	search.opts.Scheduler, search.opts.Within = false, nil
	if !problem.ExistsUntil(search.allStates, problem.Goal).Has(search.start) {
		return nil, false, nil
	}
	isInfinite := search.avoidInfiniteRewards()
	if !isInfinite {
		isInfinite, err = search.setSaturated()
	}
	switch {
	case err != nil:
		return nil, false, err
	case isInfinite:
		return search.singleValue(interval.Number{Interval: interval.Point(math.Inf(1))}), true, nil
	}
	values, err = search.solve()
	return values, true, err
}

// conditionalRewards computes RewardGivenGoal.Optimum.
type conditionalRewards struct {
	*RewardGivenGoal
	ctx       context.Context
	start     int
	direction Direction
	opts      Options
	allStates *sparse.Set
	// allowed are the choices that the optimum may use. For a minimum they cannot lead to an infinite reward. The other fields are about
	// the MDP with these choices.
	allowed      *sparse.Set
	reached      *sparse.Set     // the states that are reachable from start
	canReachGoal *sparse.Set     // the states from which some scheduler reaches the goal with positive probability
	saturated    schedulerValues // the values of the scheduler that is optimal beyond the saturation point
	initialBound *big.Rat        // the conditional reward of a scheduler: a lower bound of the maximum, an upper bound of the minimum
}

// memoryless has the values of a scheduler without memory in each state: the probability of the goal, and the expected reward, which counts 0 on
// paths that do not reach the goal. A reward of nil is infinite.
type schedulerValues struct{ probability, reward []*big.Rat }

// avoidInfiniteRewards finds the choices that a minimizing scheduler may use (field allowed), because they never lead to an infinite final reward. It then
// sets reached and canReachGoal for these choices. It reports whether the optimum is infinite because such rewards cannot be avoided, or because of a
// maximum.
func (search *conditionalRewards) avoidInfiniteRewards() (isInfinite bool) {
	infiniteGoalStates := sparse.SelectStates(search.NumStates(), func(state int) bool { return search.Goal.Has(state) && search.Final[state] == nil })
	search.allowed, search.reached = search.ChoicesOf(search.allStates), search.allStates
	if !infiniteGoalStates.Empty() {
		avoiding := search.Prob0E(search.allStates, infiniteGoalStates)
		if search.direction == Max || !avoiding.Has(search.start) {
			return true
		}
		search.allowed = search.choicesStayingIn(avoiding)
		search.reached = search.Restrict(search.allowed).ReachableFrom(sparse.SetOf(search.NumStates(), search.start))
	}
	search.canReachGoal = sparse.NewGraph(search.Restrict(search.allowed)).ExistsUntil(search.allStates, search.Goal)
	return !search.canReachGoal.Has(search.start)
}

// setSaturated computes the values of the saturated scheduler, which is optimal after a large reward (field saturated), and a first bound on the optimum
// (initialBound). It reports whether the optimum is infinite because the reward before the goal has no upper bound.
func (search *conditionalRewards) setSaturated() (isInfinite bool, err error) {
	maximal, err := search.optimizeProbability(Max)
	if err != nil {
		return false, err
	}
	search.saturated = maximal
	switch {
	case search.direction == Min:
		search.saturated, err = search.optimizeProbability(Min)
	case slices.Contains(maximal.reward, nil) || search.hasRewardCycleAvoidingGoal(): // nil stands for an infinite reward
		return true, nil
	}
	search.initialBound = new(big.Rat).Quo(maximal.reward[search.start], maximal.probability[search.start])
	return false, err
}

// hasRewardCycleAvoidingGoal reports whether some scheduler can go around a cycle with a positive reward, surely without reaching the goal, and reach the
// goal later. Then the maximum is infinite: for every n, a scheduler can go around n times before it moves to the goal.
func (search *conditionalRewards) hasRewardCycleAvoidingGoal() bool {
	avoiding := search.Prob0E(search.allStates, search.Goal)
	if !avoiding.Has(search.start) {
		return false
	}
	visited := search.Restrict(search.choicesStayingIn(avoiding)).ReachableFrom(sparse.SetOf(search.NumStates(), search.start)).Intersect(search.canReachGoal)
	stayingChoices := search.ChoicesWithin(avoiding)
	components := search.Components(visited, stayingChoices)
	for choice := range stayingChoices.All() {
		state := search.Owner(uint32(choice))
		if search.Costs[choice] > 0 && visited.Has(state) && search.entersComponent(choice, components.ID, components.ID[state]) {
			return true
		}
	}
	return false
}

// choicesStayingIn returns the choices of the MDP without those that lead out of the given states. Each of these states must have a choice that stays.
func (search *conditionalRewards) choicesStayingIn(states *sparse.Set) *sparse.Set {
	return search.ChoicesWithin(states).Union(search.ChoicesOf(states.Complement()))
}

// entersComponent reports whether a transition of a choice leads to a state of the given component.
func (search *conditionalRewards) entersComponent(choice int, componentOf []uint32, component uint32) bool {
	first, end := search.Transitions(choice)
	for i := first; i < end; i++ {
		if componentOf[search.Target[i]] == component {
			return true
		}
	}
	return false
}

// optimizeProbability optimises first the probability of the goal, in the given direction, and then, among the schedulers with this probability, the
// expected reward in the direction of the search. It returns the probability and the reward of each state under the resulting scheduler.
func (search *conditionalRewards) optimizeProbability(direction Direction) (values schedulerValues, err error) {
	exactOpts := search.opts
	exactOpts.Exact, exactOpts.Classic = true, false
	probability, err := Until(search.ctx, sparse.NewGraph(search.Restrict(search.allowed)), search.allStates, search.Goal, direction, exactOpts)
	if err != nil {
		return values, err
	}
	values = search.withFinalRewards(probability.Exact)
	restricted := search.withRewards(values, search.preservingChoices(values))
	graph, reward := sparse.NewGraph(restricted), &restricted.Rewards[0]
	var expected *Values
	if search.direction == Max {
		expected, err = TotalReward(search.ctx, graph, reward, Max, exactOpts)
	} else {
		endStates := sparse.SelectStates(search.NumStates(), func(state int) bool { return search.Goal.Has(state) || probability.Exact[state].Sign() == 0 })
		expected, err = ReachReward(search.ctx, graph, reward, endStates, Min, exactOpts)
	}
	if err != nil {
		return values, err
	}
	for state := range search.Goal.Complement().All() {
		values.reward[state] = expected.Exact[state]
	}
	return values, nil
}

// withFinalRewards returns values with the given probabilities of the goal. Their rewards are the final rewards in the states of the goal, and 0 elsewhere.
func (search *conditionalRewards) withFinalRewards(probability []*big.Rat) schedulerValues {
	values := schedulerValues{probability, slices.Repeat([]*big.Rat{new(big.Rat)}, search.NumStates())}
	for state := range search.Goal.All() {
		if search.Final[state] != nil { // otherwise the allowed choices cannot reach the state from start
			values.reward[state] = search.Final[state]
		}
	}
	return values
}

// withRewards returns the MDP with the given choices only, and with one reward structure. In it a choice earns its reward times the probability of the goal
// after it, plus the mean of the final rewards to which it leads. values has these probabilities and final rewards.
func (search *conditionalRewards) withRewards(values schedulerValues, choices *sparse.Set) *sparse.Model {
	rewards := sparse.Reward{Choice: make([]float64, search.NumChoices()), ChoiceFractions: make([]*big.Rat, search.NumChoices())}
	for choice := range choices.All() {
		if search.Goal.Has(search.Owner(uint32(choice))) {
			continue
		}
		outcome := search.outcomeOf(choice, values)
		rewards.Choice[choice], rewards.ChoiceFractions[choice] = sparse.NonzeroFloat(outcome.reward), outcome.reward
	}
	model := *search.Model
	model.Rewards = []sparse.Reward{rewards}
	return model.Restrict(choices)
}

// preservingChoices returns the allowed choices that are optimal for the probability of the goal: the mean probability after the choice equals the
// probability of its state in values.
func (search *conditionalRewards) preservingChoices(values schedulerValues) *sparse.Set {
	preserving := sparse.NewSet(search.NumChoices())
	for choice := range search.allowed.All() {
		state := search.Owner(uint32(choice))
		if search.meanAfter(choice, values.probability).Cmp(values.probability[state]) == 0 {
			preserving.Add(choice)
		}
	}
	return preserving
}

// choiceOutcome has the probability of the goal after a choice, and the expected reward of the choice and all later ones, on the paths that reach the
// goal.
type choiceOutcome struct{ probability, reward *big.Rat }

// outcomeOf returns the probability of the goal after a choice, and the expected reward of the paths to the goal, if the successors have the given values.
func (search *conditionalRewards) outcomeOf(choice int, values schedulerValues) choiceOutcome {
	outcome := choiceOutcome{search.meanAfter(choice, values.probability), search.meanAfter(choice, values.reward)}
	ownReward := search.rewardOfUnits(search.Costs[choice])
	outcome.reward.Add(outcome.reward, ownReward.Mul(ownReward, outcome.probability))
	return outcome
}

// meanAfter returns the expected value of the successor of a choice. stateValues has the value of each state.
func (search *conditionalRewards) meanAfter(choice int, stateValues []*big.Rat) *big.Rat {
	mean, term := new(big.Rat), new(big.Rat)
	first, end := search.Transitions(choice)
	for i := first; i < end; i++ {
		mean.Add(mean, term.Mul(search.Fraction(i), stateValues[search.Target[i]]))
	}
	return mean
}

// rewardOfUnits converts a number of units to a reward.
func (search *conditionalRewards) rewardOfUnits(units int) *big.Rat {
	amount := new(big.Rat).SetInt64(int64(units))
	return amount.Mul(amount, search.Unit)
}

// saturationOffset returns by how much the reward so far must exceed the optimum for the saturated scheduler to be optimal.
//
// Let x be this difference. Compared with the saturated scheduler, a choice loses probability d of the goal and gains expected reward g. It is
// no better if g <= x*d. So the offset is the greatest quotient g/d of all choices. For a minimum, both d and g change their signs.
func (search *conditionalRewards) saturationOffset() *big.Rat {
	offset := new(big.Rat)
	for choice := range search.allowed.All() {
		state := search.Owner(uint32(choice))
		if search.Goal.Has(state) || !search.reached.Has(state) {
			continue
		}
		outcome := search.outcomeOf(choice, search.saturated)
		lostProbability := outcome.probability.Sub(search.saturated.probability[state], outcome.probability)
		if lostProbability.Sign() == 0 {
			continue
		}
		gainedReward := outcome.reward.Sub(outcome.reward, search.saturated.reward[state])
		if quotient := gainedReward.Quo(gainedReward, lostProbability); quotient.Cmp(offset) > 0 {
			offset = quotient
		}
	}
	return offset
}

// solve computes a finite optimum. The levels of the product are the rewards so far, in units; after the last level, the saturated scheduler
// takes over. The result is the optimum if the last level exceeds it by more than saturationOffset; otherwise solve adds levels and repeats. For
// a minimum the first number of levels suffices, because initialBound is an upper bound.
func (search *conditionalRewards) solve() (values *Values, err error) {
	offset, optimum := search.saturationOffset(), search.initialBound
	if !search.opts.Exact {
		values, err = search.boundWithFewerLevels(search.unitsOf(new(big.Rat).Add(optimum, offset)))
		if values != nil || err != nil {
			return values, err
		}
	}
	for numLevels := -1; ; {
		neededLevels := search.unitsOf(new(big.Rat).Add(optimum, offset))
		isEnough := values != nil && (search.direction == Min || neededLevels.Cmp(big.NewInt(int64(numLevels))) < 0)
		switch {
		case isEnough:
			return values, nil
		case neededLevels.Cmp(big.NewInt(maxRewardLevels)) >= 0:
			return nil, fmt.Errorf("%w: %s multiples of %s, want at most %d", ErrManyRewards, neededLevels, search.Unit.RatString(), maxRewardLevels)
		}
		numLevels = int(neededLevels.Int64()) + 1
		if values, err = search.solveLevels(numLevels, search.saturated); err != nil {
			return nil, err
		}
		optimum = new(big.Rat).SetFloat64(values.Upper[0])
		if values.Exact != nil {
			optimum = values.Exact[0]
		}
	}
}

// unitsOf converts a reward to a number of units, rounded down.
func (search *conditionalRewards) unitsOf(reward *big.Rat) *big.Int {
	quotient := new(big.Rat).Quo(reward, search.Unit)
	return quotient.Num().Quo(quotient.Num(), quotient.Denom())
}

// boundWithFewerLevels computes bounds of the optimum from products with fewer levels than the saturation point, which is given in units. If the values of
// the saturated scheduler apply after the last level, the result is attained by a scheduler, so it is one bound. If the values of betterThanAll apply, the
// result is the other bound, if the last level exceeds it. It returns nil if no smaller product gives narrow bounds.
func (search *conditionalRewards) boundWithFewerLevels(saturation *big.Int) (*Values, error) {
	numLevels := search.unitsOf(search.initialBound)
	const spareLevels = 16
	numLevels.Add(numLevels.Lsh(numLevels, 1), big.NewInt(spareLevels)) // begin with about twice as many levels as initialBound has units
	if numLevels.Cmp(saturation) >= 0 {
		return nil, nil
	}
	upperValues, err := search.betterThanAll()
	if err != nil {
		return nil, err
	}
	for ; numLevels.Cmp(saturation) < 0 && numLevels.Cmp(big.NewInt(maxRewardLevels)) < 0; numLevels.Lsh(numLevels, 1) {
		levels := int(numLevels.Int64())
		attained, err := search.solveLevels(levels, search.saturated)
		if err != nil {
			return nil, err
		}
		outer, err := search.solveLevels(levels, upperValues)
		if err != nil {
			return nil, err
		}
		lower, upper := attained, outer
		if search.direction == Min {
			lower, upper = outer, attained
		}
		isBound := search.rewardOfUnits(levels).Cmp(new(big.Rat).SetFloat64(outer.Upper[0])) >= 0
		if isBound && upper.Lower[0]-lower.Upper[0] <= search.opts.epsilon()*upper.Upper[0] {
			attained.Lower, attained.Upper = lower.Lower, upper.Upper
			attained.Converged, attained.Extended = attained.Converged && outer.Converged, attained.Extended || outer.Extended
			return attained, nil
		}
	}
	return nil, nil
}

// betterThanAll returns values that are at least as good as those of every scheduler: for each x >= 0, they are an optimistic bound of x times the
// probability of the goal plus the expected reward. Perhaps no scheduler attains them.
func (search *conditionalRewards) betterThanAll() (schedulerValues, error) {
	values := search.withFinalRewards(search.saturated.probability)
	if search.direction == Min {
		return values, nil // the reward 0 is a lower bound for all schedulers
	}
	exactOpts := search.opts
	exactOpts.Exact, exactOpts.Classic = true, false
	model := search.withRewards(values, search.allowed)
	expected, err := TotalReward(search.ctx, sparse.NewGraph(model), &model.Rewards[0], Max, exactOpts)
	if err != nil {
		return values, err
	}
	for state := range search.Goal.Complement().All() {
		values.reward[state] = expected.Exact[state]
	}
	return values, nil
}

// ErrManyRewards says that a scheduler must distinguish too many rewards so far.
var ErrManyRewards = errors.New("the optimum of a conditional reward depends on too many rewards so far")

const (
	maxRewardLevels  = 1 << 24
	maxRewardProduct = 1 << 24 // states of the product with the rewards so far
)

// singleValue returns a value of start.
func (search *conditionalRewards) singleValue(number interval.Number) *Values {
	values := &Values{Lower: []float64{number.Lo}, Upper: []float64{number.Hi}, Converged: true}
	if search.opts.Exact {
		values.Exact = []*big.Rat{number.Exact}
	}
	return values
}

// solveLevels computes the optimum in the product with the given number of levels. As soon as a path has earned numLevels units, finalValues give its
// probability of the goal and its later reward.
func (search *conditionalRewards) solveLevels(numLevels int, finalValues schedulerValues) (*Values, error) {
	scale := search.greatestReward(numLevels, finalValues)
	if scale.Sign() == 0 {
		return search.singleValue(interval.Fraction(scale)), nil
	}
	levels := &levelProduct{conditionalRewards: search, numLevels: numLevels, finalValues: finalValues, scale: scale, numbers: map[levelState]uint32{}, builder: sparse.NewBuilder(sparse.MDP)}
	model, err := levels.build()
	if err != nil {
		return nil, err
	}
	opts := search.opts
	opts.Exact = opts.Exact || math.IsInf(model.RelErr, 1)
	numStates, avoiding := model.NumStates(), sparse.NewGraph(search.Restrict(search.allowed)).Prob0E(search.allStates, search.Goal)
	excluded := sparse.SetOf(numStates, levelMissed)
	for i, at := range levels.states {
		if avoiding.Has(int(at.state)) {
			excluded.Add(firstLevelState + i)
		}
	}
	wanted := levelSuccess
	if search.direction == Min { // the minimal probability of success is 1 minus the maximal probability of failure
		wanted = levelFailure
	}
	success, err := Conditional(search.ctx, sparse.NewGraph(model), sparse.SetOf(numStates, wanted), excluded, firstLevelState, opts)
	if err != nil {
		return nil, err
	}
	return search.optimumOf(success, scale), nil
}

// optimumOf converts a conditional probability in the product to the optimum: the probability of levelSuccess times scale. success is the result of
// Conditional. For a minimum it is the maximal probability of levelFailure, so it is subtracted from 1 first.
func (search *conditionalRewards) optimumOf(success *Values, scale *big.Rat) *Values {
	lower, upper := new(big.Rat), new(big.Rat)
	if success.Exact != nil {
		lower, upper = success.Exact[firstLevelState], success.Exact[firstLevelState]
	} else {
		lower.SetFloat64(success.Lower[firstLevelState])
		upper.SetFloat64(success.Upper[firstLevelState])
	}
	if search.direction == Min {
		one := big.NewRat(1, 1)
		lower, upper = new(big.Rat).Sub(one, upper), new(big.Rat).Sub(one, lower)
	}
	lower, upper = new(big.Rat).Mul(lower, scale), new(big.Rat).Mul(upper, scale)
	values := search.singleValue(interval.Number{Interval: interval.Between(lower, upper), Exact: lower})
	values.Converged, values.Estimated, values.Extended, values.Sweeps = success.Converged, success.Estimated, success.Extended, success.Sweeps
	return values
}

// greatestReward returns an upper bound on the expected reward of the paths to the goal, over all states of a levelProduct in which finalValues apply.
// Rewards are divided by it to become probabilities.
func (search *conditionalRewards) greatestReward(numLevels int, finalValues schedulerValues) *big.Rat {
	greatestCost, greatestMean := 0, new(big.Rat)
	for _, units := range search.Costs {
		greatestCost = max(greatestCost, units)
	}
	for state := range search.reached.All() {
		if finalValues.probability[state].Sign() > 0 {
			if mean := new(big.Rat).Quo(finalValues.reward[state], finalValues.probability[state]); mean.Cmp(greatestMean) > 0 {
				greatestMean = mean
			}
		}
	}
	return greatestMean.Add(greatestMean, search.rewardOfUnits(numLevels-1+greatestCost))
}

// levelProduct is the product of an MDP with the reward so far, up to numLevels units. Its first states are levelSuccess, levelFailure and levelMissed.
// A path that reaches the goal ends in levelSuccess or levelFailure. The share of levelSuccess is the expected reward divided by scale.
type levelProduct struct {
	*conditionalRewards
	numLevels   int
	finalValues schedulerValues // the values of the MDP's states from numLevels units on
	scale       *big.Rat
	states      []levelState // with the numbers from firstLevelState on
	numbers     map[levelState]uint32
	builder     *sparse.Builder
}

// levelState is a state of the MDP with the reward so far, in units.
type levelState struct {
	state uint32
	units int
}

const (
	levelSuccess = iota
	levelFailure
	levelMissed // the path does not reach the goal
	firstLevelState
)

// build explores the product of states and rewards so far, from the initial state with reward 0. This pair gets the number firstLevelState.
func (product *levelProduct) build() (*sparse.Model, error) {
	one := big.NewRat(1, 1)
	for finalState := range firstLevelState {
		product.builder.State()
		product.addChoice()
		product.builder.AddRat(finalState, one, sparse.NoAction)
	}
	product.stateNumber(levelState{uint32(product.start), 0})
	for i := 0; i < len(product.states); i++ { // expand appends to product.states
		switch {
		case i%pollInterval == 0 && product.ctx.Err() != nil:
			return nil, product.ctx.Err()
		case i >= maxRewardProduct:
			return nil, fmt.Errorf("%w: the product with them has more than %d states", ErrManyRewards, maxRewardProduct)
		}
		product.expand(product.states[i])
	}
	return product.builder.Finish()
}

func (product *levelProduct) addChoice() { product.builder.Choice(sparse.NoAction) }

// stateNumber returns the state of the product for a pair of a state and the reward earned so far. It adds the pair if it is new.
func (product *levelProduct) stateNumber(pair levelState) uint32 {
	number, isKnown := product.numbers[pair]
	if !isKnown {
		number = uint32(firstLevelState + len(product.states))
		product.numbers[pair] = number
		product.states = append(product.states, pair)
	}
	return number
}

// expand adds the choices of a pair of a state and the reward earned so far to the product.
func (product *levelProduct) expand(pair levelState) {
	state := int(pair.state)
	product.builder.State()
	if product.Goal.Has(state) || !product.canReachGoal.Has(state) || pair.units >= product.numLevels {
		product.addFinalChoice(state, pair.units)
		return
	}
	first, end := product.Choices(state)
	for choice := first; choice < end; choice++ {
		if !product.allowed.Has(choice) {
			continue
		}
		product.addChoice()
		firstTransition, endTransition := product.Transitions(choice)
		for i := firstTransition; i < endTransition; i++ {
			product.builder.AddRat(int(product.stateNumber(levelState{product.Target[i], pair.units + product.Costs[choice]})), product.Fraction(i), sparse.NoAction)
		}
	}
}

// addFinalChoice adds the only choice of a pair whose future is given by finalValues: the goal is reached or unreachable, or the last level is passed. It
// leads to levelSuccess with the expected reward divided by scale, to levelMissed with the probability of missing the goal, and otherwise to levelFailure.
func (product *levelProduct) addFinalChoice(state, units int) {
	probability := product.finalValues.probability[state]
	success := new(big.Rat).Mul(product.rewardOfUnits(units), probability)
	success.Add(success, product.finalValues.reward[state])
	success.Quo(success, product.scale)
	product.addChoice()
	product.builder.AddRat(levelSuccess, success, sparse.NoAction)
	product.builder.AddRat(levelFailure, new(big.Rat).Sub(probability, success), sparse.NoAction)
	product.builder.AddRat(levelMissed, new(big.Rat).Sub(big.NewRat(1, 1), probability), sparse.NoAction)
}
