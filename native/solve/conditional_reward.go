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
// Beyond some reward so far, a scheduler is optimal that first optimises the probability of the goal, in the direction of dir, and then the
// expected reward; its values are fractions. Up to this reward, Optimum solves the product of the MDP with the reward so far, as a
// conditional probability: a path that reaches the goal with reward r is a success with probability r/scale.
//
// Source: Baier, Klein, Klüppelholz and Wunderlich, Maximizing the conditional expected reward for reaching the goal (TACAS 2017), for
// the reward beyond which the scheduler needs no memory (the saturation point), and for the criterion of infinite maxima.
func (problem *RewardGivenGoal) Optimum(ctx context.Context, start uint32, dir Direction, opts Options) (values *Values, isDefined bool, err error) {
	search := &conditionalRewards{RewardGivenGoal: problem, ctx: ctx, start: int(start), dir: dir, opts: opts, allStates: sparse.FullSet(problem.NumStates())}
	search.opts.Scheduler, search.opts.Within = false, nil
	if !problem.ExistsUntil(search.allStates, problem.Goal).Has(search.start) {
		return nil, false, nil
	}
	isInfinite := search.avoidInfiniteRewards()
	if !isInfinite {
		isInfinite, err = search.setLimit()
	}
	switch {
	case err != nil:
		return nil, false, err
	case isInfinite:
		return search.value(interval.Number{Interval: interval.Point(math.Inf(1))}), true, nil
	}
	values, err = search.solve()
	return values, true, err
}

// conditionalRewards computes RewardGivenGoal.Optimum.
type conditionalRewards struct {
	*RewardGivenGoal
	ctx       context.Context
	start     int
	dir       Direction
	opts      Options
	allStates *sparse.Set
	// allowed are the choices that the optimum may use. For a minimum they cannot lead to an infinite reward. The other fields are about
	// the MDP with these choices.
	allowed    *sparse.Set
	reached    *sparse.Set // the states that are reachable from start
	possible   *sparse.Set // the states from which some scheduler reaches the goal with positive probability
	limit      memoryless  // optimal for all great rewards so far
	firstValue *big.Rat    // the conditional reward of a scheduler: a lower bound of the maximum, an upper bound of the minimum
}

// memoryless has the values of a scheduler without memory in each state: the probability of the goal, and the expected reward, which counts 0 on
// paths that do not reach the goal. A reward of nil is infinite.
type memoryless struct{ probability, reward []*big.Rat }

// avoidInfiniteRewards sets the allowed choices and the sets of states. It reports whether the optimum is infinite because of the rewards after
// the goal.
func (c *conditionalRewards) avoidInfiniteRewards() (isInfinite bool) {
	infinite := sparse.SelectStates(c.NumStates(), func(s int) bool { return c.Goal.Has(s) && c.Final[s] == nil })
	c.allowed, c.reached = c.ChoicesOf(c.allStates), c.allStates
	if !infinite.Empty() {
		avoiding := c.Prob0E(c.allStates, infinite)
		if c.dir == Max || !avoiding.Has(c.start) {
			return true
		}
		c.allowed = c.choicesStayingIn(avoiding)
		c.reached = c.Restrict(c.allowed).ReachableFrom(sparse.SetOf(c.NumStates(), c.start))
	}
	c.possible = sparse.NewGraph(c.Restrict(c.allowed)).ExistsUntil(c.allStates, c.Goal)
	return !c.possible.Has(c.start)
}

// setLimit computes limit and firstValue. It reports whether the optimum is infinite because of the rewards before the goal.
func (c *conditionalRewards) setLimit() (isInfinite bool, err error) {
	first, err := c.optimizeProbability(Max)
	if err != nil {
		return false, err
	}
	c.limit = first
	if c.dir == Min {
		c.limit, err = c.optimizeProbability(Min)
	} else if slices.Contains(first.reward, nil) || c.hasRewardCycleAvoidingGoal() { // nil: rewards without end while the goal stays possible
		return true, nil
	}
	c.firstValue = new(big.Rat).Quo(first.reward[c.start], first.probability[c.start])
	return false, err
}

// hasRewardCycleAvoidingGoal reports whether a scheduler that never reaches the goal can go through a cycle with a reward, from which the goal is
// possible. Then rewards have no upper bound: a scheduler that leaves the cycle after n rounds reaches the goal with a reward of at least n.
func (c *conditionalRewards) hasRewardCycleAvoidingGoal() bool {
	avoiding := c.Prob0E(c.allStates, c.Goal)
	if !avoiding.Has(c.start) {
		return false
	}
	visited := c.Restrict(c.choicesStayingIn(avoiding)).ReachableFrom(sparse.SetOf(c.NumStates(), c.start)).Intersect(c.possible)
	stayingChoices := c.ChoicesWithin(avoiding)
	components := c.Components(visited, stayingChoices)
	for choice := range stayingChoices.All() {
		s := c.Owner(uint32(choice))
		if c.Costs[choice] > 0 && visited.Has(s) && c.entersComponent(choice, components.ID, components.ID[s]) {
			return true
		}
	}
	return false
}

// choicesStayingIn returns the choices of the MDP without those that lead out of the given states. Each of these states must have a choice that stays.
func (c *conditionalRewards) choicesStayingIn(states *sparse.Set) *sparse.Set {
	return c.ChoicesWithin(states).Union(c.ChoicesOf(states.Complement()))
}

// entersComponent reports whether a transition of a choice leads to a state of the given component.
func (c *conditionalRewards) entersComponent(choice int, componentOf []uint32, component uint32) bool {
	first, end := c.Transitions(choice)
	for i := first; i < end; i++ {
		if componentOf[c.Target[i]] == component {
			return true
		}
	}
	return false
}

// optimizeProbability returns the values of a scheduler that optimises the probability of the goal in the given direction, and among all such
// schedulers the expected reward, in the direction of the search.
func (c *conditionalRewards) optimizeProbability(dir Direction) (values memoryless, err error) {
	exactly := c.opts
	exactly.Exact, exactly.Classic = true, false
	probability, err := Until(c.ctx, sparse.NewGraph(c.Restrict(c.allowed)), c.allStates, c.Goal, dir, exactly)
	if err != nil {
		return values, err
	}
	values = c.withFinalRewards(probability.Exact)
	restricted := c.withRewards(values, true)
	graph, reward := sparse.NewGraph(restricted), &restricted.Rewards[0]
	var expected *Values
	if c.dir == Max {
		expected, err = TotalReward(c.ctx, graph, reward, Max, exactly)
	} else {
		ends := sparse.SelectStates(c.NumStates(), func(s int) bool { return c.Goal.Has(s) || probability.Exact[s].Sign() == 0 })
		expected, err = ReachReward(c.ctx, graph, reward, ends, Min, exactly)
	}
	if err != nil {
		return values, err
	}
	for s := range c.Goal.Complement().All() {
		values.reward[s] = expected.Exact[s]
	}
	return values, nil
}

// withFinalRewards returns the given probabilities with the rewards after the goal in the states of the goal, and 0 in all others.
func (c *conditionalRewards) withFinalRewards(probability []*big.Rat) memoryless {
	values := memoryless{probability, slices.Repeat([]*big.Rat{new(big.Rat)}, c.NumStates())}
	for s := range c.Goal.All() {
		if c.Final[s] != nil { // otherwise the allowed choices cannot reach s from start
			values.reward[s] = c.Final[s]
		}
	}
	return values
}

// withRewards returns the MDP with the allowed choices, or only those of them that keep the probability of the goal. Its reward structure
// counts each reward times the probability of the goal after it. values has the probabilities, and the rewards after the goal.
func (c *conditionalRewards) withRewards(values memoryless, onlyKeeping bool) *sparse.Model {
	kept := sparse.NewSet(c.NumChoices())
	rewards := sparse.Reward{Choice: make([]float64, c.NumChoices()), ChoiceFractions: make([]*big.Rat, c.NumChoices())}
	for choice := range c.allowed.All() {
		s, after := c.Owner(uint32(choice)), c.after(choice, values)
		if onlyKeeping && after.probability.Cmp(values.probability[s]) != 0 {
			continue
		}
		kept.Add(choice)
		if !c.Goal.Has(s) {
			rewards.Choice[choice], rewards.ChoiceFractions[choice] = sparse.NonzeroFloat(after.reward), after.reward
		}
	}
	model := *c.Model
	model.Rewards = []sparse.Reward{rewards}
	return model.Restrict(kept)
}

// choiceOutcome has the probability of the goal after a choice, and the expected reward of the choice and all later ones, on the paths that reach the
// goal.
type choiceOutcome struct{ probability, reward *big.Rat }

// after returns the outcome of a choice if the later choices have the given values.
func (c *conditionalRewards) after(choice int, values memoryless) choiceOutcome {
	sum, term := choiceOutcome{new(big.Rat), new(big.Rat)}, new(big.Rat)
	first, end := c.Transitions(choice)
	for i := first; i < end; i++ {
		weight, target := c.Fraction(i), c.Target[i]
		sum.probability.Add(sum.probability, term.Mul(weight, values.probability[target]))
		sum.reward.Add(sum.reward, term.Mul(weight, values.reward[target]))
	}
	sum.reward.Add(sum.reward, term.Mul(c.amount(c.Costs[choice]), sum.probability))
	return sum
}

// amount converts a number of units to a reward.
func (c *conditionalRewards) amount(units int) *big.Rat {
	amount := new(big.Rat).SetInt64(int64(units))
	return amount.Mul(amount, c.Unit)
}

// saturationOffset returns how far the reward so far must exceed the optimum before the scheduler of limit is optimal.
//
// Let x be the reward so far minus the optimum. Compared with limit, a choice lowers the probability of the goal by d and raises the expected reward
// by g. It is no better if g <= x*d. So the offset is the greatest g/d of all choices. For a minimum, a choice raises the probability and lowers the
// reward: both signs change, and g/d stays the same.
func (c *conditionalRewards) saturationOffset() *big.Rat {
	offset := new(big.Rat)
	for choice := range c.allowed.All() {
		s := c.Owner(uint32(choice))
		if c.Goal.Has(s) || !c.reached.Has(s) {
			continue
		}
		after := c.after(choice, c.limit)
		lost := after.probability.Sub(c.limit.probability[s], after.probability)
		if lost.Sign() == 0 {
			continue
		}
		gained := after.reward.Sub(after.reward, c.limit.reward[s])
		if quotient := gained.Quo(gained, lost); quotient.Cmp(offset) > 0 {
			offset = quotient
		}
	}
	return offset
}

// solve computes the optimum if it is finite. The maximum over the schedulers that need no memory beyond some reward is a lower bound of the
// optimum. It is the optimum if this reward exceeds it by more than saturationOffset, so solve raises the reward until it does. For a minimum
// the first reward suffices, because firstValue is an upper bound.
func (c *conditionalRewards) solve() (values *Values, err error) {
	offset, optimum := c.saturationOffset(), c.firstValue
	if !c.opts.Exact {
		values, err = c.enclose(c.units(new(big.Rat).Add(optimum, offset)))
		if values != nil || err != nil {
			return values, err
		}
	}
	for numLevels := -1; ; {
		needed := c.units(new(big.Rat).Add(optimum, offset))
		isEnough := values != nil && (c.dir == Min || needed.Cmp(big.NewInt(int64(numLevels))) < 0)
		switch {
		case isEnough:
			return values, nil
		case needed.Cmp(big.NewInt(maxRewardLevels)) >= 0:
			return nil, fmt.Errorf("%w: %s multiples of %s, want at most %d", ErrManyRewards, needed, c.Unit.RatString(), maxRewardLevels)
		}
		numLevels = int(needed.Int64()) + 1
		if values, err = c.solveLevels(numLevels, c.limit); err != nil {
			return nil, err
		}
		optimum = new(big.Rat).SetFloat64(values.Upper[0])
		if values.Exact != nil {
			optimum = values.Exact[0]
		}
	}
}

// units converts a reward to a number of units, rounded down.
func (c *conditionalRewards) units(reward *big.Rat) *big.Int {
	quotient := new(big.Rat).Quo(reward, c.Unit)
	return quotient.Num().Quo(quotient.Num(), quotient.Denom())
}

// enclose computes bounds of the optimum from products with fewer rewards so far than the saturation point, which is in units. In the last
// rewards of a product, the values of the limit give one bound of the optimum, and those of no scheduler, but better than all, the
// other. They are better if the reward so far exceeds the bound. enclose returns nil if no smaller product gives narrow bounds.
func (c *conditionalRewards) enclose(saturation *big.Int) (*Values, error) {
	numLevels := c.units(c.firstValue)
	numLevels.Add(numLevels.Lsh(numLevels, 1), big.NewInt(16)) // firstValue has paths with fewer rewards, so the goal is possible
	if numLevels.Cmp(saturation) >= 0 {
		return nil, nil
	}
	better, err := c.betterThanAll()
	if err != nil {
		return nil, err
	}
	for ; numLevels.Cmp(saturation) < 0 && numLevels.Cmp(big.NewInt(maxRewardLevels)) < 0; numLevels.Lsh(numLevels, 1) {
		levels := int(numLevels.Int64())
		attained, err := c.solveLevels(levels, c.limit)
		if err != nil {
			return nil, err
		}
		outer, err := c.solveLevels(levels, better)
		if err != nil {
			return nil, err
		}
		lower, upper := attained, outer
		if c.dir == Min {
			lower, upper = outer, attained
		}
		isBound := c.amount(levels).Cmp(new(big.Rat).SetFloat64(outer.Upper[0])) >= 0
		if isBound && upper.Lower[0]-lower.Upper[0] <= c.opts.epsilon()*upper.Upper[0] {
			attained.Lower, attained.Upper = lower.Lower, upper.Upper
			attained.Converged, attained.Extended = attained.Converged && outer.Converged, attained.Extended || outer.Extended
			return attained, nil
		}
	}
	return nil, nil
}

// betterThanAll returns values with this property: for each number x of at least 0, x times the probability of the goal plus the expected reward is
// optimal or better than for all schedulers.
func (c *conditionalRewards) betterThanAll() (memoryless, error) {
	values := c.withFinalRewards(c.limit.probability)
	if c.dir == Min {
		return values, nil // rewards are at least 0
	}
	exactly := c.opts
	exactly.Exact, exactly.Classic = true, false
	model := c.withRewards(values, false)
	expected, err := TotalReward(c.ctx, sparse.NewGraph(model), &model.Rewards[0], Max, exactly)
	if err != nil {
		return values, err
	}
	for s := range c.Goal.Complement().All() {
		values.reward[s] = expected.Exact[s]
	}
	return values, nil
}

// ErrManyRewards says that a scheduler must distinguish too many rewards so far.
var ErrManyRewards = errors.New("the optimum of a conditional reward depends on too many rewards so far")

const (
	maxRewardLevels  = 1 << 24
	maxRewardProduct = 1 << 24 // states of the product with the rewards so far
)

// value returns a value of start.
func (c *conditionalRewards) value(number interval.Number) *Values {
	values := &Values{Lower: []float64{number.Lo}, Upper: []float64{number.Hi}, Converged: true}
	if c.opts.Exact {
		values.Exact = []*big.Rat{number.Exact}
	}
	return values
}

// solveLevels computes the optimum over the schedulers that have the values end once the reward so far is at least numLevels units.
func (c *conditionalRewards) solveLevels(numLevels int, end memoryless) (*Values, error) {
	scale := c.greatestReward(numLevels, end)
	if scale.Sign() == 0 {
		return c.value(interval.Fraction(scale)), nil
	}
	levels := &levelProduct{conditionalRewards: c, numLevels: numLevels, end: end, scale: scale, numbers: map[levelState]uint32{}, builder: sparse.NewBuilder(sparse.MDP)}
	model, err := levels.build()
	if err != nil {
		return nil, err
	}
	opts := c.opts
	opts.Exact = opts.Exact || math.IsInf(model.RelErr, 1)
	numStates, avoiding := model.NumStates(), sparse.NewGraph(c.Restrict(c.allowed)).Prob0E(c.allStates, c.Goal)
	excluded := sparse.SetOf(numStates, levelMissed)
	for i, at := range levels.states {
		if avoiding.Has(int(at.state)) {
			excluded.Add(firstLevelState + i)
		}
	}
	wanted := levelSuccess
	if c.dir == Min { // the minimum of success is 1 minus the maximum of failure
		wanted = levelFailure
	}
	share, err := Conditional(c.ctx, sparse.NewGraph(model), sparse.SetOf(numStates, wanted), excluded, firstLevelState, opts)
	if err != nil {
		return nil, err
	}
	return c.optimumOfShare(share, scale), nil
}

// optimumOfShare returns the optimum, which is the conditional probability of levelSuccess times scale. share is the result of Conditional.
func (c *conditionalRewards) optimumOfShare(share *Values, scale *big.Rat) *Values {
	lower, upper := new(big.Rat), new(big.Rat)
	if share.Exact != nil {
		lower, upper = share.Exact[firstLevelState], share.Exact[firstLevelState]
	} else {
		lower.SetFloat64(share.Lower[firstLevelState])
		upper.SetFloat64(share.Upper[firstLevelState])
	}
	if c.dir == Min {
		one := big.NewRat(1, 1)
		lower, upper = new(big.Rat).Sub(one, upper), new(big.Rat).Sub(one, lower)
	}
	lower, upper = new(big.Rat).Mul(lower, scale), new(big.Rat).Mul(upper, scale)
	values := c.value(interval.Number{Interval: interval.Between(lower, upper), Exact: lower})
	values.Converged, values.Estimated, values.Extended, values.Sweeps = share.Converged, share.Estimated, share.Extended, share.Sweeps
	return values
}

// greatestReward returns an upper bound on the expected reward of the paths that reach the goal, over all states of a levelProduct in which the
// reward so far no longer matters.
func (c *conditionalRewards) greatestReward(numLevels int, end memoryless) *big.Rat {
	mostUnits, after := 0, new(big.Rat)
	for _, units := range c.Costs {
		mostUnits = max(mostUnits, units)
	}
	for s := range c.reached.All() {
		if end.probability[s].Sign() > 0 {
			if mean := new(big.Rat).Quo(end.reward[s], end.probability[s]); mean.Cmp(after) > 0 {
				after = mean
			}
		}
	}
	return after.Add(after, c.amount(numLevels-1+mostUnits))
}

// levelProduct is the product of an MDP with the reward so far, up to numLevels units. Its first states are levelSuccess, levelFailure and levelMissed.
// A path that reaches the goal ends in levelSuccess or levelFailure. The share of levelSuccess is the expected reward divided by scale.
type levelProduct struct {
	*conditionalRewards
	numLevels int
	end       memoryless // the values of the MDP's states from numLevels units on
	scale     *big.Rat
	states    []levelState // with the numbers from firstLevelState on
	numbers   map[levelState]uint32
	builder   *sparse.Builder
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

// build explores the product from the start, which gets the number firstLevelState.
func (l *levelProduct) build() (*sparse.Model, error) {
	one := big.NewRat(1, 1)
	for end := range firstLevelState {
		l.builder.State()
		l.addChoice()
		l.builder.AddRat(end, one, sparse.NoAction)
	}
	l.number(levelState{uint32(l.start), 0})
	for i := 0; i < len(l.states); i++ { // expand appends to l.states
		switch {
		case i&0xfff == 0 && l.ctx.Err() != nil:
			return nil, l.ctx.Err()
		case i >= maxRewardProduct:
			return nil, fmt.Errorf("%w: the product with them has more than %d states", ErrManyRewards, maxRewardProduct)
		}
		l.expand(l.states[i])
	}
	return l.builder.Finish()
}

func (l *levelProduct) addChoice() { l.builder.Choice(sparse.NoAction) }

// number returns the number of a state of the product, and adds the state if it is new.
func (l *levelProduct) number(at levelState) uint32 {
	number, isKnown := l.numbers[at]
	if !isKnown {
		number = uint32(firstLevelState + len(l.states))
		l.numbers[at] = number
		l.states = append(l.states, at)
	}
	return number
}

// expand adds a state of the product with its choices.
func (l *levelProduct) expand(at levelState) {
	s := int(at.state)
	l.builder.State()
	if l.Goal.Has(s) || !l.possible.Has(s) || at.units >= l.numLevels {
		l.expandEnd(s, at.units)
		return
	}
	first, end := l.Choices(s)
	for choice := first; choice < end; choice++ {
		if !l.allowed.Has(choice) {
			continue
		}
		l.addChoice()
		firstTransition, endTransition := l.Transitions(choice)
		for i := firstTransition; i < endTransition; i++ {
			l.builder.AddRat(int(l.number(levelState{l.Target[i], at.units + l.Costs[choice]})), l.Fraction(i), sparse.NoAction)
		}
	}
}

// expandEnd adds the choice of a state s of the MDP in which the goal is decided or the values end are used.
func (l *levelProduct) expandEnd(s, units int) {
	probability := l.end.probability[s]
	success := new(big.Rat).Mul(l.amount(units), probability)
	success.Add(success, l.end.reward[s])
	success.Quo(success, l.scale)
	l.addChoice()
	l.builder.AddRat(levelSuccess, success, sparse.NoAction)
	l.builder.AddRat(levelFailure, new(big.Rat).Sub(probability, success), sparse.NoAction)
	l.builder.AddRat(levelMissed, new(big.Rat).Sub(big.NewRat(1, 1), probability), sparse.NoAction)
}
