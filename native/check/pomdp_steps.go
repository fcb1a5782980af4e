package check

import (
	"errors"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
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
	last int
	ends bool // the last step has no successors; otherwise the counter stays there
}

// State implements sparse.Memory.
func (c stepCounter) State(pair steppedState) uint32 { return pair.state }

// Step implements sparse.Memory.
func (c stepCounter) Step(pair steppedState, target uint32) (steppedState, error) {
	return steppedState{target, min(pair.steps+1, c.last)}, nil
}

// Absorbing implements sparse.Memory.
func (c stepCounter) Absorbing(pair steppedState) bool { return c.ends && pair.steps == c.last }

// newStepProduct explores the product of the model with a counter of steps, from all states of the domain.
func (e *evaluation) newStepProduct(expr sema.Expr, counter stepCounter) (*stepProduct, error) {
	var starts []steppedState
	for s := range e.domain().All() {
		starts = append(starts, steppedState{uint32(s), 0})
	}
	product, err := sparse.NewProduct(e.ctx, e.graph.Model, counter, starts, nil, maxProduct)
	if errors.Is(err, sparse.ErrTooLarge) {
		return nil, e.unsupported(expr, "found a bound on steps for which the product of the model and the step counter has more than %d states", maxProduct)
	}
	if err != nil {
		return nil, err
	}
	if actions := e.graph.Actions; actions != nil { // the player knows choices by their actions
		product.Actions = make([]sparse.Action, product.NumChoices())
		for c, origin := range product.Choice {
			if origin != sparse.None {
				product.Actions[c] = actions[origin]
			}
		}
	}
	result := &stepProduct{Product: product, graph: sparse.NewGraph(product.Model)}
	numbers := make(map[steppedState]uint32) // by observation and step
	for _, pair := range product.Pairs {
		key := steppedState{e.observations.ByState[pair.state], pair.steps}
		number, ok := numbers[key]
		if !ok {
			number = uint32(len(numbers))
			numbers[key] = number
		}
		result.observations = append(result.observations, number)
	}
	return result, nil
}

// states returns the states of the product for which satisfies returns true, given the state of the model and the number of
// steps.
func (product *stepProduct) states(satisfies func(state, steps int) bool) *sparse.Set {
	set := sparse.NewSet(product.NumStates())
	for i, pair := range product.Pairs {
		if satisfies(int(pair.state), pair.steps) {
			set.Add(i)
		}
	}
	return set
}

// reward translates a reward structure to the product. A pair earns rewards only if includes returns true for its number of
// steps. Rewards of choices are left out unless withChoices is true.
func (product *stepProduct) reward(structure *sparse.Reward, withChoices bool, includes func(steps int) bool) *sparse.Reward {
	out := &sparse.Reward{Name: structure.Name, StateRat: make([]*big.Rat, product.NumStates()), State: make([]float64, product.NumStates())}
	out.ChoiceRat, out.Choice = make([]*big.Rat, product.NumChoices()), make([]float64, product.NumChoices())
	out.Err = structure.Err
	for i, pair := range product.Pairs {
		if !includes(pair.steps) {
			continue
		}
		if structure.StateRat != nil {
			out.StateRat[i] = structure.StateRat[pair.state]
		}
		if structure.State != nil {
			out.State[i] = structure.State[pair.state]
		}
		first, end := product.Choices(i)
		for c := first; c < end && withChoices; c++ {
			if origin := product.Choice[c]; origin != sparse.None {
				if structure.ChoiceRat != nil {
					out.ChoiceRat[c] = structure.ChoiceRat[origin]
				}
				if structure.Choice != nil {
					out.Choice[c] = structure.Choice[origin]
				}
			}
		}
	}
	return out
}

// observedSteps returns the minimal or maximal probability of `left U right` with a bound on steps. The schedulers see
// observations instead of states. left and right are unions of observations.
func (e *evaluation) observedSteps(path *logic.Path, left, right *sparse.Set, dir solve.Direction) (*numbers, error) {
	steps, err := e.stepInterval(path)
	if err != nil {
		return nil, err
	}
	counter := stepCounter{last: steps.High, ends: true}
	if steps.High == solve.Unbounded {
		counter = stepCounter{last: steps.Low}
	}
	product, err := e.newStepProduct(path.X, counter)
	if err != nil {
		return nil, err
	}
	return e.searchIn(path.X, product, belief.Problem{
		Left:      product.states(func(state, _ int) bool { return left.Has(state) }),
		Target:    product.states(func(state, count int) bool { return right.Has(state) && count >= steps.Low }),
		Direction: dir,
	})
}

// observedNext returns the minimal or maximal probability of X right. The schedulers see observations instead of states.
func (e *evaluation) observedNext(path *logic.Path, right *sparse.Set, dir solve.Direction) (*numbers, error) {
	product, err := e.newStepProduct(path.X, stepCounter{last: 1, ends: true})
	if err != nil {
		return nil, err
	}
	return e.searchIn(path.X, product, belief.Problem{
		Left: sparse.FullSet(product.NumStates()), Direction: dir,
		Target: product.states(func(state, count int) bool { return right.Has(state) && count == 1 }),
	})
}

// observedStepReward returns the minimal or maximal expected reward of C<=k or I=k. The schedulers see observations instead
// of states.
func (e *evaluation) observedStepReward(formula *logic.Formula, structure *sparse.Reward, dir solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if err := e.computeObservations(); err != nil {
		return nil, err
	}
	bound, err := e.stepCount(objective.At, objective.Letter())
	switch {
	case err != nil:
		return nil, err
	case bound < 0:
		return nil, e.failure(result.TypeError, objective.At.Pos(), "time bound %d of the %s operator, want a finite number of at least 0", bound, objective.Letter())
	}
	last, withChoices, includes := bound, true, func(steps int) bool { return steps < bound }
	if objective.Form == logic.Instantaneous { // the reward of the state after count steps is earned in a further step
		last, withChoices, includes = bound+1, false, func(steps int) bool { return steps == bound }
	}
	product, err := e.newStepProduct(objective.X, stepCounter{last: last, ends: true})
	if err != nil {
		return nil, err
	}
	return e.searchIn(formula.X, product, belief.Problem{
		Target: product.states(func(_, steps int) bool { return steps == last }), Reward: product.reward(structure, withChoices, includes), Direction: dir,
	})
}

// searchIn searches beliefs over a product with a step counter. Its strategies count steps, so they are not exported.
func (e *evaluation) searchIn(expr sema.Expr, product *stepProduct, problem belief.Problem) (*numbers, error) {
	problem.Graph, problem.Observation = product.graph, product.observations
	start := make(map[int]int)
	for i, pair := range product.Pairs[:len(product.Start)] {
		start[int(pair.state)] = i
	}
	values, err := e.searchFromStates(expr, problem, func(s int) int { return start[s] })
	if e.beliefs != nil {
		e.beliefs.strategy = nil
	}
	return values, err
}
