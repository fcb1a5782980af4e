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

// steppedState is a state after so many steps.
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
func (c stepCounter) State(p steppedState) uint32 { return p.state }

// Step implements sparse.Memory.
func (c stepCounter) Step(p steppedState, target uint32) (steppedState, error) {
	return steppedState{target, min(p.steps+1, c.last)}, nil
}

// Absorbing implements sparse.Memory.
func (c stepCounter) Absorbing(p steppedState) bool { return c.ends && p.steps == c.last }

// newStepProduct explores the product from all states of the domain.
func (e *evaluation) newStepProduct(expr sema.Expr, counter stepCounter) (*stepProduct, error) {
	var starts []steppedState
	for s := range e.domain().All() {
		starts = append(starts, steppedState{uint32(s), 0})
	}
	product, err := sparse.NewProduct(e.ctx, e.graph.Model, counter, starts, nil, maxProduct)
	if errors.Is(err, sparse.ErrTooLarge) {
		return nil, e.unsupported(expr, "found a number of steps whose product with the partially observable model has more than %d states", maxProduct)
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
	p := &stepProduct{Product: product, graph: sparse.NewGraph(product.Model)}
	numbers := make(map[steppedState]uint32) // by observation and step
	for _, pair := range product.Pairs {
		key := steppedState{e.observations.ByState[pair.state], pair.steps}
		number, known := numbers[key]
		if !known {
			number = uint32(len(numbers))
			numbers[key] = number
		}
		p.observations = append(p.observations, number)
	}
	return p, nil
}

// states returns the states of the product whose state and number of steps satisfy a condition.
func (p *stepProduct) states(holds func(state, steps int) bool) *sparse.Set {
	set := sparse.NewSet(p.NumStates())
	for i, pair := range p.Pairs {
		if holds(int(pair.state), pair.steps) {
			set.Add(i)
		}
	}
	return set
}

// reward returns the rewards of a structure before the last step; without those of choices if only states count. includes says at which steps
// rewards are earned.
func (p *stepProduct) reward(structure *sparse.Reward, ofChoices bool, includes func(steps int) bool) *sparse.Reward {
	out := &sparse.Reward{Name: structure.Name, StateRat: make([]*big.Rat, p.NumStates()), State: make([]float64, p.NumStates())}
	out.ChoiceRat, out.Choice = make([]*big.Rat, p.NumChoices()), make([]float64, p.NumChoices())
	out.Err = structure.Err
	for i, pair := range p.Pairs {
		if !includes(pair.steps) {
			continue
		}
		if structure.StateRat != nil {
			out.StateRat[i] = structure.StateRat[pair.state]
		}
		if structure.State != nil {
			out.State[i] = structure.State[pair.state]
		}
		first, end := p.Choices(i)
		for c := first; c < end && ofChoices; c++ {
			if origin := p.Choice[c]; origin != sparse.None {
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

// observedSteps returns the minimal or maximal probability of `left U right` within a bound on steps, over the schedulers that see
// only observations. left and right are unions of observations.
func (e *evaluation) observedSteps(path *logic.Path, left, right *sparse.Set, dir solve.Direction) (*numbers, error) {
	steps, err := e.steps(path)
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

// observedNext returns the minimal or maximal probability of X right, over the schedulers that see only observations.
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

// observedStepReward returns the minimal or maximal expected reward of C<=k or I=k, over the schedulers that see only observations.
func (e *evaluation) observedStepReward(formula *logic.Formula, structure *sparse.Reward, dir solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if err := e.observe(); err != nil {
		return nil, err
	}
	count, err := e.stepCount(objective.At, objective.Letter())
	switch {
	case err != nil:
		return nil, err
	case count < 0:
		return nil, e.refuse(result.TypeError, objective.At.Pos(), "time bound %d of the %s operator, want a finite number of at least 0", count, objective.Letter())
	}
	last, ofChoices, includes := count, true, func(steps int) bool { return steps < count }
	if objective.Form == logic.Instantaneous { // the reward of the state after count steps is earned in a further step
		last, ofChoices, includes = count+1, false, func(steps int) bool { return steps == count }
	}
	product, err := e.newStepProduct(objective.X, stepCounter{last: last, ends: true})
	if err != nil {
		return nil, err
	}
	return e.searchIn(formula.X, product, belief.Problem{
		Target: product.states(func(_, steps int) bool { return steps == last }), Reward: product.reward(structure, ofChoices, includes), Direction: dir,
	})
}

// searchIn searches beliefs over a product. Its strategies count steps, and are not exported.
func (e *evaluation) searchIn(expr sema.Expr, product *stepProduct, problem belief.Problem) (*numbers, error) {
	problem.Graph, problem.Observation = product.graph, product.observations
	start := make(map[int]int)
	for i, pair := range product.Pairs[:len(product.Start)] {
		start[int(pair.state)] = i
	}
	values, err := e.searchFrom(expr, problem, func(s int) int { return start[s] })
	if e.beliefs != nil {
		e.beliefs.strategy = nil
	}
	return values, err
}
