package check

import (
	"errors"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
)

// stepProduct is the product of a partially observable model with a counter of steps, which the scheduler sees, because it counts
// its own choices. Beliefs over it of a finite horizon form a finite tree.
type stepProduct struct {
	*sparse.Product[steppedState]
	graph        *sparse.Graph
	observations []uint32
}

// steppedState is a state of the model together with the number of steps taken so far.
type steppedState struct {
	state uint32
	steps int
}

// stepCounter counts steps up to a number. It implements sparse.Memory.
type stepCounter struct {
	lastStep int
	endsPath bool // whether a path ends after the last step; if not, the counter stays at last
}

// State implements sparse.Memory.
func (counter stepCounter) State(pair steppedState) uint32 { return pair.state }

// Step implements sparse.Memory.
func (counter stepCounter) Step(pair steppedState, target uint32) (steppedState, error) {
	return steppedState{target, min(pair.steps+1, counter.lastStep)}, nil
}

// Absorbing implements sparse.Memory.
func (counter stepCounter) Absorbing(pair steppedState) bool {
	return counter.endsPath && pair.steps == counter.lastStep
}

// newStepProduct builds the product of a POMDP with a step counter. It has a start state with the count 0 for each state of the domain, the states where
// values are needed. expr is the formula with the step bound, for errors.
func (e *evaluation) newStepProduct(expr sema.Expr, counter stepCounter) (*stepProduct, error) {
	var starts []steppedState
	for s := range e.domain().All() {
		starts = append(starts, steppedState{uint32(s), 0})
	}
	product, err := sparse.NewProduct(e.ctx, e.graph.Model, counter, starts, nil, maxProduct)
	if errors.Is(err, sparse.ErrTooLarge) {
		return nil, e.unsupportedError(expr, "found a bound on steps for which the product of the model and the step counter has more than %d states", maxProduct)
	}
	if err != nil {
		return nil, err
	}
	if e.graph.Actions != nil { // the player knows choices by their actions
		product.Actions = selectValues(e.graph.Actions, product.Choice)
	}
	return &stepProduct{Product: product, graph: sparse.NewGraph(product.Model), observations: e.steppedObservations(product.Pairs)}, nil
}

// steppedObservations returns the observation of each state of a product with a step counter. Two states have the same observation if and only
// if their states of the model have the same observation and their step counts are equal.
func (e *evaluation) steppedObservations(pairs []steppedState) []uint32 {
	type steppedObservation struct {
		observation uint32
		steps       int
	}
	numbers := map[steppedObservation]uint32{}
	observations := make([]uint32, len(pairs))
	for i, pair := range pairs {
		observations[i], _ = addKey(numbers, steppedObservation{e.observations.ByState[pair.state], pair.steps})
	}
	return observations
}

// states returns the states of the product that satisfy a condition on the state of the model and the number of steps.
func (product *stepProduct) states(satisfies func(state, steps int) bool) *sparse.Set {
	set := sparse.NewSet(product.NumStates())
	for i, pair := range product.Pairs {
		if satisfies(int(pair.state), pair.steps) {
			set.Add(i)
		}
	}
	return set
}

// cumulativeReward copies a reward structure of the model to the product. Only the first numSteps steps earn rewards.
func (product *stepProduct) cumulativeReward(structure *sparse.Reward, numSteps int) *sparse.Reward {
	rewardedStates := make([]uint32, product.NumStates()) // the state of the model if its reward is earned, otherwise None
	rewardedChoices := slices.Repeat([]uint32{sparse.None}, product.NumChoices())
	for i, pair := range product.Pairs {
		rewardedStates[i] = sparse.None
		if pair.steps >= numSteps {
			continue
		}
		rewardedStates[i] = pair.state
		first, end := product.Choices(i)
		copy(rewardedChoices[first:end], product.Choice[first:end])
	}
	return selectRewards(structure, rewardedStates, rewardedChoices)
}

// instantaneousReward copies the state rewards of a reward structure of the model to the product. Only the states after exactly the given number
// of steps earn rewards.
func (product *stepProduct) instantaneousReward(structure *sparse.Reward, steps int) *sparse.Reward {
	rewardedStates := make([]uint32, product.NumStates()) // the state of the model if its reward is earned, otherwise None
	for i, pair := range product.Pairs {
		rewardedStates[i] = sparse.None
		if pair.steps == steps {
			rewardedStates[i] = pair.state
		}
	}
	return selectRewards(structure, rewardedStates, slices.Repeat([]uint32{sparse.None}, product.NumChoices()))
}

// observedSteps returns the minimal or maximal probability of `left U right` with the step bound of path, in a POMDP. Neither set may distinguish two
// states with the same observation.
func (e *evaluation) observedSteps(path *logic.Path, left, right *sparse.Set, direction solve.Direction) (*numbers, error) {
	steps, err := e.stepInterval(path)
	if err != nil {
		return nil, err
	}
	counter := stepCounter{lastStep: steps.High, endsPath: true}
	if steps.High == solve.Unbounded {
		// Without an upper bound, the counter stops at the lower bound, and the path goes on.
		counter = stepCounter{lastStep: steps.Low, endsPath: false}
	}
	product, err := e.newStepProduct(path.Expr, counter)
	if err != nil {
		return nil, err
	}
	return e.searchStepProduct(path.Expr, product, belief.Problem{
		Left:      product.states(func(state, _ int) bool { return left.Has(state) }),
		Target:    product.states(func(state, count int) bool { return right.Has(state) && count >= steps.Low }),
		Direction: direction,
	})
}

// observedNext returns the minimal or maximal probability of `X right` in a POMDP.
func (e *evaluation) observedNext(path *logic.Path, right *sparse.Set, direction solve.Direction) (*numbers, error) {
	product, err := e.newStepProduct(path.Expr, stepCounter{lastStep: 1, endsPath: true})
	if err != nil {
		return nil, err
	}
	return e.searchStepProduct(path.Expr, product, belief.Problem{
		Left: sparse.FullSet(product.NumStates()), Direction: direction,
		Target: product.states(func(state, count int) bool { return right.Has(state) && count == 1 }),
	})
}

// observedStepReward returns the minimal or maximal expected reward of C<=k (the first k steps) or I=k (after k steps) in a POMDP. It is a reward until
// a target in the product with a step counter.
func (e *evaluation) observedStepReward(formula *logic.Formula, structure *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if err := e.computeObservations(); err != nil {
		return nil, err
	}
	boundSteps, err := e.rewardSteps(objective)
	if err != nil {
		return nil, err
	}
	isInstantaneous := objective.Form == logic.Instantaneous
	lastStep := boundSteps
	if isInstantaneous { // the reward of a state is earned in the step that leaves it
		lastStep++
	}
	product, err := e.newStepProduct(objective.Expr, stepCounter{lastStep: lastStep, endsPath: true})
	if err != nil {
		return nil, err
	}
	reward := product.cumulativeReward(structure, boundSteps)
	if isInstantaneous {
		reward = product.instantaneousReward(structure, boundSteps)
	}
	target := product.states(func(_, steps int) bool { return steps == lastStep })
	return e.searchStepProduct(formula.Expr, product, belief.Problem{Target: target, Reward: reward, Direction: direction})
}

// searchStepProduct solves a problem of package belief on a product with a step counter, from each state of the domain. It discards the optimal
// strategies, because they depend on the step count, which an exported strategy does not know. expr is the operator, for errors.
func (e *evaluation) searchStepProduct(expr sema.Expr, product *stepProduct, problem belief.Problem) (*numbers, error) {
	problem.Graph, problem.Observation = product.graph, product.observations
	startOf := map[int]int{} // the state of the product for each state of the domain
	for i, pair := range product.Pairs[:len(product.Start)] {
		startOf[int(pair.state)] = i
	}
	values, err := e.searchFromStates(expr, problem, func(s int) int { return startOf[s] })
	if e.beliefs != nil {
		e.beliefs.strategy = nil
	}
	return values, err
}
