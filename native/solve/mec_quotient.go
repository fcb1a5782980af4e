package solve

import (
	"context"
	"slices"

	"tilecheck/native/space/sparse"
)

// mecQuotient is an MDP in which each of n maximal end components is one state. States 0 to n-1 are the MECs. Their choices are those
// that leave the MEC, and one for staying forever, which leads to an absorbing state. States n to 2n-1 are these absorbing states. The
// remaining states belong to no MEC.
type mecQuotient struct {
	graph          *sparse.Graph
	original       *sparse.Graph
	mecs           *sparse.EndComponents
	stateOf        []uint32 // of each original state: its state in the quotient
	originalChoice []uint32 // of each choice: the original choice, or sparse.None for staying
}

// newMECQuotient builds the quotient of an MDP, in which each maximal end component (MEC) is one state. States 0 to numMECs-1 of the quotient are the
// MECs. State numMECs+i is absorbing: to move there means to stay in MEC i forever. The other states follow.
func newMECQuotient(graph *sparse.Graph, mecs *sparse.EndComponents) *mecQuotient {
	numMECs := mecs.Num()
	quotient := &mecQuotient{original: graph, mecs: mecs, stateOf: slices.Clone(mecs.ID)}
	nextState := 2 * numMECs
	for state := range quotient.stateOf {
		if quotient.stateOf[state] == sparse.None {
			quotient.stateOf[state] = uint32(nextState)
			nextState++
		}
	}
	builder := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	for i := range numMECs {
		builder.State()
		for _, state := range mecs.Members(i) {
			quotient.copyExits(builder, int(state))
		}
		builder.Loop(uint32(numMECs + i))
	}
	for i := range numMECs {
		builder.State()
		builder.Loop(uint32(numMECs + i))
	}
	for state, id := range mecs.ID {
		if id == sparse.None {
			builder.State()
			quotient.copyExits(builder, state)
		}
	}
	quotient.graph = sparse.NewGraph(builder.Finish())
	quotient.originalChoice = builder.Origin
	return quotient
}

// copyExits copies the choices of a state that leave its MEC to the current state of the builder.
func (quotient *mecQuotient) copyExits(builder *sparse.DerivedBuilder, state int) {
	target := func(i int) uint32 { return quotient.stateOf[quotient.original.Target[i]] }
	first, end := quotient.original.Choices(state)
	for choice := first; choice < end; choice++ {
		if !quotient.mecs.Choices.Has(choice) {
			builder.Copy(choice, target)
		}
	}
}

// solve returns the optimal values of the states of the quotient, if staying in MEC i forever earns gain i. knownMECs has the MECs whose
// gain is 0 or 1 by graph analysis.
func (quotient *mecQuotient) solve(ctx context.Context, gains *Values, knownMECs *sparse.Set, direction Direction, areProbabilities bool, opts Options) (*Values, error) {
	system, err := newSystem(quotient.graph, nil, direction, opts)
	if err != nil {
		return nil, err
	}
	absorbingStates := quotient.assignGains(system.values, gains)
	zeroStates, oneStates := quotient.certainStates(system.values, knownMECs, areProbabilities)
	system.isProbability, system.maybe = areProbabilities, absorbingStates.Complement()
	if err := quotient.setCertainValue(ctx, system, direction == Min, zeroStates, absorbingStates.Minus(zeroStates), 0); err != nil {
		return nil, err
	}
	if err := quotient.setCertainValue(ctx, system, direction == Max, oneStates, absorbingStates.Minus(oneStates), 1); err != nil {
		return nil, err
	}
	return system.solve(ctx, opts, false)
}

// assignGains sets the value of the absorbing state of each MEC to the gain of the MEC. It returns the set of absorbing states.
func (quotient *mecQuotient) assignGains(values, gains *Values) (absorbingStates *sparse.Set) {
	absorbingStates = sparse.NewSet(quotient.graph.NumStates())
	for i := range quotient.mecs.Num() {
		state := quotient.mecs.Num() + i
		absorbingStates.Add(state)
		if gains.Exact != nil {
			values.setExact(state, gains.Exact[i])
		} else {
			values.Lower[state], values.Upper[state] = gains.Lower[i], gains.Upper[i]
		}
	}
	values.Converged = gains.Converged
	return absorbingStates
}

// certainStates returns the absorbing states of the MECs in knownMECs: zeroStates has the states with value 0 and, if the gains are
// probabilities, oneStates has the states with value 1. For rewards, oneStates is empty.
func (quotient *mecQuotient) certainStates(values *Values, knownMECs *sparse.Set, areProbabilities bool) (zeroStates, oneStates *sparse.Set) {
	numStates := quotient.graph.NumStates()
	zeroStates, oneStates = sparse.NewSet(numStates), sparse.NewSet(numStates)
	for i := range knownMECs.All() {
		state := quotient.mecs.Num() + i
		if values.Upper[state] == 0 {
			zeroStates.Add(state)
		} else if areProbabilities {
			oneStates.Add(state)
		}
	}
	return zeroStates, oneStates
}

// setCertainValue finds the maybe states that reach targets with probability one, gives them the value, and removes them from the maybe states. This must
// hold for some scheduler if forSomeScheduler is set, and otherwise for all schedulers. otherAbsorbing are the absorbing states that are not targets.
func (quotient *mecQuotient) setCertainValue(ctx context.Context, system *equationSystem, forSomeScheduler bool, targets, otherAbsorbing *sparse.Set, value float64) error {
	if targets.Empty() {
		return nil
	}
	allStates := sparse.FullSet(quotient.graph.NumStates())
	newStates := quotient.graph.ExistsUntil(allStates, otherAbsorbing).Complement()
	if forSomeScheduler {
		var err error
		if newStates, err = quotient.graph.Prob1E(ctx, allStates, targets); err != nil {
			return err
		}
		if system.values.Scheduler != nil {
			quotient.graph.Attract(newStates, targets, system.values.Scheduler)
		}
	}
	newStates = newStates.Intersect(system.maybe)
	system.values.setAll(newStates, value)
	system.maybe = system.maybe.Minus(newStates)
	return nil
}

// copyToOriginal copies the values and the scheduler of the quotient to the original model.
func (quotient *mecQuotient) copyToOriginal(quotientValues, values *Values, mec *mecGain) {
	values.Converged = quotientValues.Converged
	values.Estimated = quotientValues.Estimated
	values.Extended = quotientValues.Extended
	values.Sweeps = quotientValues.Sweeps + mec.meter.progress.Sweeps
	for state, quotientState := range quotient.stateOf {
		values.Lower[state] = quotientValues.Lower[quotientState]
		values.Upper[state] = quotientValues.Upper[quotientState]
		if values.Exact != nil {
			values.Exact[state] = quotientValues.Exact[quotientState]
		}
	}
	if values.Scheduler != nil {
		quotient.writeScheduler(values.Scheduler, quotientValues.Scheduler, mec)
	}
}

// writeScheduler translates a scheduler of the quotient to the original model. If quotientScheduler leaves a MEC, the states of the MEC
// move towards the state with this exit. If it stays in a MEC, its states get the choices of mec.stayChoices.
func (quotient *mecQuotient) writeScheduler(scheduler, quotientScheduler []uint32, mec *mecGain) {
	exitStates := sparse.NewSet(len(quotient.stateOf))
	for state, quotientState := range quotient.stateOf {
		isInMEC := quotient.mecs.ID[state] != sparse.None
		choice := quotient.originalChoiceOf(quotientScheduler[quotientState])
		if choice == sparse.None {
			if isInMEC {
				scheduler[state] = mec.stayChoices[state]
			}
			continue
		}
		if quotient.original.Owner(choice) != state { // the choice that leaves the MEC belongs to another of its states
			continue
		}
		scheduler[state] = choice
		if isInMEC {
			exitStates.Add(state)
		}
	}
	quotient.original.Approach(quotient.mecs.Choices, exitStates, scheduler)
}

// originalChoiceOf returns the original choice of a choice of the quotient. It is sparse.None if the scheduler stays in a MEC or has no choice.
func (quotient *mecQuotient) originalChoiceOf(choice uint32) uint32 {
	if choice == sparse.None {
		return sparse.None
	}
	return quotient.originalChoice[choice]
}
