package solve

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// policyIteration tightens bounds on the optimal gain of a MEC by policy iteration: it evaluates the current scheduler by elimination, and improves it,
// until no choice is better. It stops early if elimination fails. overBudget says that a larger budget of operations may help.
//
// Source: Puterman, Markov Decision Processes (1994), section 8.6.
func (mec *mecGain) policyIteration(members []uint32, bounds *gainInterval, budget float64) (overBudget bool, err error) {
	const maxRounds = 20
	for range maxRounds {
		cycle, order, overBudget, err := mec.evaluateUnichain(members, budget)
		if cycle == nil || err != nil {
			return overBudget, err
		}
		oldBias, oldBounds, oldChoices := slices.Clone(mec.bias), *bounds, slices.Clone(mec.currentChoices)
		mec.setBias(cycle, order)
		mec.sweep(members, bounds)
		if *bounds == oldBounds { // this bias has not improved the bounds, so keep the bias of value iteration
			mec.bias = oldBias
		}
		if bounds.hasConverged(mec.opts.epsilon()) || slices.Equal(oldChoices, mec.currentChoices) {
			break
		}
	}
	return false, nil
}

// evaluateUnichain changes the current scheduler until its Markov chain has one recurrent class, and solves the cycle equations of this chain. order is a
// list of the members that ends with the reference state. cycle is nil if elimination fails.
func (mec *mecGain) evaluateUnichain(members []uint32, budget float64) (cycle *cycleSolution, order []uint32, overBudget bool, err error) {
	reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
		classCycle, isOverBudget, err := mec.solveCycle(class, budget)
		overBudget = isOverBudget
		if classCycle == nil || err != nil {
			return nil, err
		}
		return new(big.Rat).SetFloat64(classCycle.gain), nil
	})
	if reference == sparse.None || err != nil {
		return nil, nil, overBudget, err
	}
	order = withLast(members, reference)
	cycle, overBudget, err = mec.solveCycle(order, budget)
	return cycle, order, overBudget, err
}

// setBias sets the biases from the solution of the cycle equations. The bias of the reference state, the last one, is 0.
func (mec *mecGain) setBias(cycle *cycleSolution, order []uint32) {
	for i, state := range order[:len(order)-1] {
		mec.bias[mec.index.unknowns[state]] = cycle.rewards[i] - cycle.gain*cycle.times[i]
	}
	mec.bias[mec.index.unknowns[last(order)]] = 0
}

// withLast returns the members in an order with the given member at the end.
func withLast(members []uint32, lastMember uint32) []uint32 {
	others := slices.DeleteFunc(slices.Clone(members), func(state uint32) bool { return state == lastMember })
	return append(others, lastMember)
}

// exactPolicyIteration computes the optimal gain of the MEC with an index by policy iteration in rational arithmetic. It stores the gain
// and the scheduler.
//
// Source: Puterman, Markov Decision Processes (1994), sections 8.6 and 9.5.1.
func (mec *mecGain) exactPolicyIteration(index int, members []uint32) error {
	// A few sweeps of value iteration give a first scheduler that is close to optimal.
	if err := mec.valueIteration(members, &gainInterval{0, math.Inf(1)}, firstSweeps); err != nil {
		return err
	}
	bias := make([]*big.Rat, mec.rewardSystem.graph.NumStates())
	for { // this ends, because every improvement gives a better gain or, at equal gain, a better bias, so no scheduler occurs twice
		gain, err := mec.evaluateExactly(members, bias)
		if err != nil {
			return err
		}
		improved, err := mec.improveExactly(members, gain, bias)
		if err != nil {
			return err
		}
		if !improved {
			for member, state := range members {
				mec.stayChoices[state] = mec.currentChoices[member]
			}
			mec.gains.Exact[index] = gain
			return nil
		}
	}
}

// evaluateExactly changes the current scheduler until its chain has one recurrent class. It returns the exact gain of this chain, and
// stores the bias of each member in bias.
func (mec *mecGain) evaluateExactly(members []uint32, bias []*big.Rat) (gain *big.Rat, err error) {
	choiceOf := func(state uint32) uint32 { return mec.currentChoices[mec.index.unknowns[state]] }
	reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
		cycle, err := mec.rewardSystem.solveCycleRat(class, choiceOf, &mec.cycleIndex, mec.meter)
		if err != nil {
			return nil, err
		}
		return cycle.gain, nil
	})
	if err != nil {
		return nil, err
	}
	order := withLast(members, reference)
	cycle, err := mec.rewardSystem.solveCycleRat(order, choiceOf, &mec.cycleIndex, mec.meter)
	if err != nil {
		return nil, err
	}
	for member, state := range order[:len(order)-1] {
		bias[state] = cycle.biasOf(member)
	}
	bias[reference] = new(big.Rat)
	return cycle.gain, nil
}

// improveExactly switches each member to its best choice for the given gain and biases. It reports whether a choice is better than the
// current one.
func (mec *mecGain) improveExactly(members []uint32, gain *big.Rat, bias []*big.Rat) (improved bool, err error) {
	equations := &equationSystem{
		graph: mec.rewardSystem.graph, minimize: mec.rewardSystem.minimize, reward: mec.rewardSystem.reward,
		choices: mec.endComponents.Choices, isOneStep: true, values: &Values{Exact: bias},
	}
	currentValue := new(big.Rat)
	for member, state := range members {
		optimum := equations.optimumRat(int(state))
		if err := mec.meter.addWork(1000 + reductionCost(optimum.value)); err != nil {
			return false, err
		}
		if currentValue.Add(bias[state], gain); optimum.value.Cmp(currentValue) != 0 {
			mec.currentChoices[member], improved = optimum.choice, true
		}
	}
	return improved, nil
}

// makeUnichain changes the scheduler so that its Markov chain has only one recurrent class: the class with the best gain. It returns a state of this class,
// or sparse.None if gainOfClass returns nil for some class.
func (mec *mecGain) makeUnichain(members []uint32, gainOfClass func(class []uint32) (*big.Rat, error)) (reference uint32, err error) {
	classes := mec.recurrentClasses(members)
	if len(classes) == 1 {
		return last(classes[0]), nil
	}
	best, err := mec.bestClass(classes, gainOfClass)
	if best == nil || err != nil {
		return sparse.None, err
	}
	mec.routeToClass(members, best)
	return last(best), nil
}

// last returns the last element of a slice that is not empty.
func last[T any](list []T) T { return list[len(list)-1] }

// bestClass returns the recurrent class with the best gain, or nil if gainOfClass returns nil for some class.
func (mec *mecGain) bestClass(classes [][]uint32, gainOfClass func(class []uint32) (*big.Rat, error)) ([]uint32, error) {
	var bestClass []uint32
	var bestGain *big.Rat
	for _, class := range classes {
		gain, err := gainOfClass(class)
		if gain == nil || err != nil {
			return nil, err
		}
		if bestClass == nil || mec.isBetter(gain, bestGain) {
			bestClass, bestGain = class, gain
		}
	}
	return bestClass, nil
}

// isBetter reports whether a gain is less than another gain for a minimum, or greater for a maximum.
func (mec *mecGain) isBetter(gain, best *big.Rat) bool {
	if mec.rewardSystem.minimize {
		return gain.Cmp(best) < 0
	}
	return gain.Cmp(best) > 0
}

// routeToClass changes the scheduler so that all members outside of a recurrent class reach this class with probability one.
func (mec *mecGain) routeToClass(members, class []uint32) {
	classStates := sparse.NewSet(mec.rewardSystem.graph.NumStates())
	addStates(classStates, class)
	if mec.routeChoices == nil {
		mec.routeChoices = make([]uint32, mec.rewardSystem.graph.NumStates())
	}
	mec.rewardSystem.graph.Approach(mec.endComponents.Choices, classStates, mec.routeChoices)
	for member, state := range members {
		if !classStates.Has(int(state)) {
			mec.currentChoices[member] = mec.routeChoices[state]
		}
	}
}

// recurrentClasses returns the recurrent classes of the chain that the current scheduler induces.
func (mec *mecGain) recurrentClasses(members []uint32) [][]uint32 {
	chain, _ := mec.inducedChain(members)
	components := chain.Components(nil, nil)
	var classes [][]uint32
	for _, i := range components.Bottom(chain) {
		class := slices.Clone(components.Members(i))
		for i, inducedState := range class {
			class[i] = members[inducedState]
		}
		classes = append(classes, class)
	}
	return classes
}

// inducedChain returns the Markov chain that the current scheduler induces, and the choice of each of its states. State i of the chain is member i.
func (mec *mecGain) inducedChain(members []uint32) (chain *sparse.Model, choices []uint32) {
	builder := sparse.NewDerivedBuilder(mec.rewardSystem.graph.Model, sparse.DTMC)
	memberOf := func(i int) uint32 { return mec.index.unknowns[mec.rewardSystem.graph.Target[i]] }
	for member := range members {
		builder.State()
		builder.Copy(int(mec.currentChoices[member]), memberOf)
	}
	return builder.Finish(), builder.Origin
}

// solveCycle computes the gain of a recurrent class under the current scheduler by elimination. The last member is the reference state.
// cycle is nil if elimination exceeds the budget, or if a number is out of the range of float64.
func (mec *mecGain) solveCycle(members []uint32, budget float64) (cycle *cycleSolution, overBudget bool, err error) {
	for _, state := range members {
		mec.schedulerChoices.Add(int(mec.currentChoices[mec.index.unknowns[state]]))
	}
	defer func() {
		for _, state := range members {
			mec.schedulerChoices.Remove(int(mec.currentChoices[mec.index.unknowns[state]]))
		}
	}()
	reference := last(members)
	cycle, overBudget, err = solveCycle(mec.rewardSystem, mec.stepSystem, members, mec.currentChoices[mec.index.unknowns[reference]], &mec.cycleIndex, mec.meter, budget)
	if cycle != nil && (math.IsInf(cycle.gain, 0) || math.IsNaN(cycle.gain)) {
		return nil, false, err
	}
	return cycle, overBudget, err
}
