package belief

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// memoryless is a strategy without memory: an action (or Any) for each observation.
type memoryless []int

// pool has memoryless strategies with pessimistic bounds on their values in every state. They bound the
// value of any belief.
type pool struct {
	*pomdp
	strategies     []memoryless
	strategyValues [][]float64
}

// Strategies are improved by local search in models of at most pooledStates states, with at most
// maxTries evaluations.
const (
	pooledStates = 20_000
	maxTries     = 400
)

// numObservations returns the number of observations, which are numbered from 0.
func (problem *pomdp) numObservations() int {
	count := uint32(0)
	for _, observation := range problem.Observation {
		count = max(count, observation+1)
	}
	return int(count)
}

// newPool returns a pool of memoryless strategies: the uniform one, the greedy one for the informed bound, and the improvements of the
// greedy one by local search for the start state.
func newPool(ctx context.Context, informed *informedBound, start uint32, opts solve.Options) (*pool, error) {
	created := &pool{pomdp: informed.pomdp}
	numObservations := informed.numObservations()
	uniform := make(memoryless, numObservations)
	for i := range uniform {
		uniform[i] = AnyAction
	}
	greedy := informed.greedyStrategy(numObservations)
	for _, strategy := range []memoryless{uniform, greedy} {
		if err := created.addStrategy(ctx, strategy, opts); err != nil {
			return nil, err
		}
	}
	return created, created.improveLocally(ctx, greedy, start, opts)
}

// greedyStrategy returns a memoryless strategy. For each observation it selects the action with the best sum of informed bounds over all
// states with this observation.
func (bound *informedBound) greedyStrategy(numObservations int) memoryless {
	sums := make([][]float64, numObservations) // by observation and action
	for state, observation := range bound.Observation {
		if sums[observation] == nil {
			sums[observation] = make([]float64, bound.numActions(uint32(state)))
		}
		for action := range sums[observation] {
			sums[observation][action] += bound.actionValue[bound.actionIndex(state, action)]
		}
	}
	strategy := make(memoryless, numObservations)
	for observation, actionSums := range sums {
		strategy[observation] = bound.bestIndex(actionSums)
	}
	return strategy
}

// bestIndex returns the index of the value that is best for the player, the first one if several are equal. It returns 0 if there are no values.
func (problem *pomdp) bestIndex(values []float64) int {
	best := 0
	for i := range values {
		if problem.isBetter(values[i], values[best]) {
			best = i
		}
	}
	return best
}

// addStrategy evaluates a strategy and adds it to the pool.
func (pool *pool) addStrategy(ctx context.Context, strategy memoryless, opts solve.Options) error {
	values, err := pool.evaluateStrategy(ctx, strategy, opts)
	if err != nil {
		return err
	}
	pool.strategies = append(pool.strategies, strategy)
	pool.strategyValues = append(pool.strategyValues, values)
	return nil
}

// evaluateStrategy returns pessimistic bounds on the value of a memoryless strategy in every state.
func (pool *pool) evaluateStrategy(ctx context.Context, strategy memoryless, opts solve.Options) ([]float64, error) {
	builder := sparse.NewBuilder(sparse.DTMC)
	reward := &sparse.Reward{RelErr: 0x1p-53}
	for state := range pool.model.NumStates() {
		builder.State()
		action := strategy[pool.Observation[state]]
		for _, transition := range pool.transitions(uint32(state), action) {
			builder.AddRat(int(transition.target), transition.prob, sparse.NoAction)
		}
		if pool.Reward != nil {
			reward.State = append(reward.State, sparse.NonzeroFloat(pool.expectedReward(uint32(state), action)))
		}
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	values, err := pool.solveModel(ctx, sparse.NewGraph(model), opts, reward)
	if err != nil {
		return nil, err
	}
	return pool.pessimisticBounds(values), nil
}

// solveModel returns bounds on the values of the problem in another model with the same states. reward is the reward of that model.
func (problem *pomdp) solveModel(ctx context.Context, graph *sparse.Graph, opts solve.Options, reward *sparse.Reward) (*solve.Values, error) {
	if problem.Reward != nil {
		return solve.ReachReward(ctx, graph, reward, problem.Target, problem.Direction, opts)
	}
	return solve.Until(ctx, graph, problem.Left, problem.Target, problem.Direction, opts)
}

// pessimisticBounds returns the lower bounds of a maximum, or the upper bounds of a minimum.
func (problem *pomdp) pessimisticBounds(values *solve.Values) []float64 {
	if problem.Direction == solve.Max {
		return values.Lower
	}
	return values.Upper
}

// optimisticBounds returns the upper bounds of a maximum, or the lower bounds of a minimum.
func (problem *pomdp) optimisticBounds(values *solve.Values) []float64 {
	if problem.Direction == solve.Max {
		return values.Upper
	}
	return values.Lower
}

// improveLocally improves a strategy by local search: it changes the action of one observation at a time, and keeps a change that improves
// the value of the start state. It adds each improved strategy to the pool. It stops after a full round without improvement, or after
// maxTries evaluations.
func (pool *pool) improveLocally(ctx context.Context, current memoryless, start uint32, opts solve.Options) error {
	if pool.model.NumStates() > pooledStates {
		return nil
	}
	changes := pool.possibleChanges()
	tries := 0
	changesWithoutGain := 0 // the number of successive changes without an improvement
	for i := 0; changesWithoutGain < len(changes) && tries < maxTries; i = (i + 1) % len(changes) {
		changesWithoutGain++
		change := changes[i]
		if change.action == current[change.observation] {
			continue
		}
		tries++
		candidate := slices.Clone(current)
		candidate[change.observation] = change.action
		improved, err := pool.addIfBetter(ctx, candidate, start, opts)
		if err != nil {
			return err
		}
		if improved {
			current, changesWithoutGain = candidate, 0
		}
	}
	return nil
}

// strategyChange is an action for the states with an observation.
type strategyChange struct{ observation, action int }

// possibleChanges returns all pairs of an action and an observation of nonterminal states.
func (pool *pool) possibleChanges() []strategyChange {
	var changes []strategyChange
	for observation, state := range pool.firstStateByObservation() {
		if pool.terminalStates.Has(int(state)) {
			continue
		}
		for action := range pool.numActions(state) {
			changes = append(changes, strategyChange{observation, action})
		}
	}
	return changes
}

// addIfBetter adds a strategy to the pool if its value in the start state is noticeably better than the value of the strategy that was
// added last.
func (pool *pool) addIfBetter(ctx context.Context, strategy memoryless, start uint32, opts solve.Options) (added bool, err error) {
	const noticeableShare = 1e-9 // smaller relative changes do not count as noticeable
	values, err := pool.evaluateStrategy(ctx, strategy, opts)
	if err != nil {
		return false, err
	}
	oldValue, value := pool.strategyValues[len(pool.strategyValues)-1][start], values[start]
	if !pool.isBetter(value, oldValue) || math.Abs(value-oldValue) <= noticeableShare*math.Abs(value) {
		return false, nil
	}
	pool.strategies = append(pool.strategies, strategy)
	pool.strategyValues = append(pool.strategyValues, values)
	return true, nil
}

// firstStateByObservation returns the first state with each observation.
func (problem *pomdp) firstStateByObservation() []uint32 {
	first := make([]uint32, problem.numObservations())
	for state := len(problem.Observation) - 1; state >= 0; state-- {
		first[problem.Observation[state]] = uint32(state)
	}
	return first
}

// bestStrategy returns the best pessimistic bound of the pool for a belief, and the number of its strategy.
func (pool *pool) bestStrategy(target *belief) (bestValue float64, strategy int) {
	for i := range pool.strategies {
		value, relErr := target.expectationFloat(func(state uint32) float64 { return pool.strategyValues[i][state] })
		value = pool.roundPessimistic(value, relErr)
		if i == 0 || pool.isBetter(value, bestValue) {
			bestValue, strategy = value, i
		}
	}
	return bestValue, strategy
}

// roundPessimistic moves a value by a relative error: down for a maximum, up for a minimum.
func (problem *pomdp) roundPessimistic(value, relErr float64) float64 {
	if problem.Direction == solve.Max {
		return math.Max(0, value*(1-2*relErr))
	}
	value *= 1 + 2*relErr
	if problem.Reward == nil {
		return min(value, 1)
	}
	return value
}
