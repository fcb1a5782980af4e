package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// maxUnlimitedStates is the number of states below which Options.MaxWork does not limit the solution of equations. The exact
// elimination of so few states always ends in acceptable time.
const maxUnlimitedStates = 10_000

// solve returns bounds on the solution of the equations of all maybe states. It solves the strongly connected components one by one, successors first.
// canStayWithoutReward says that some scheduler may stay in the maybe states forever without reward, so that end components must be handled.
func (system *equationSystem) solve(ctx context.Context, opts Options, canStayWithoutReward bool) (*Values, error) {
	components := system.graph.Components(system.maybe, system.choices)
	cyclicIDs := system.cyclicComponents(components)
	isBounded := !math.IsInf(system.rounding.relErr, 1)
	if system.isExact() && isBounded && system.nature == nil && system.maximizer == nil && system.hasChoicesInCycles(components, cyclicIDs) {
		if err := system.eliminateActions(ctx, opts, canStayWithoutReward); err != nil {
			return nil, err
		}
		components = system.graph.Components(system.maybe, system.choices)
		cyclicIDs = system.cyclicComponents(components)
	}
	if canStayWithoutReward && system.graph.Kind == sparse.MDP && !cyclicIDs.Empty() {
		if err := system.findEndComponents(ctx, components, cyclicIDs); err != nil {
			return nil, err
		}
	}
	epsilon := opts.epsilon() / float64(system.cyclicDepth(components, cyclicIDs)) // the widths of successive components add up
	if system.rounding.isGridCoarse() {                                            // rounding to the grid widens the bounds, too
		epsilon /= 2
	}
	if err := system.solveComponents(ctx, components, opts, epsilon); err != nil {
		return nil, err
	}
	system.leaveEndComponents(system.values.Scheduler)
	if opts.Classic && !system.isExact() && !cyclicIDs.Empty() {
		system.values.Estimated = true
		copy(system.values.Upper, system.values.Lower)
	}
	return system.values, nil
}

// solveComponents solves the components in the given order. The bounds of each component have a relative width of at most epsilon, if the bounds of its
// successors are exact.
func (system *equationSystem) solveComponents(ctx context.Context, components *sparse.Components, opts Options, epsilon float64) error {
	meter := newMeter(ctx, opts, len(components.States))
	if len(components.States) < maxUnlimitedStates {
		meter.maxWork = 0
	}
	releaser := system.newExactReleaser(opts.Within, components.States) // it frees fractions that are not needed any more
	var index unknownIndex
	for i := range components.Num() {
		members := components.Members(i)
		work, err := system.solveComponent(members, &index, meter, opts, epsilon)
		if err != nil {
			return err
		}
		releaser.releaseAfter(members)
		meter.progress.Done += len(members)
		if err := meter.addWork(work); err != nil {
			return err
		}
	}
	system.values.Sweeps += meter.progress.Sweeps
	return nil
}

// solveComponent solves the equations of the members of a component, with a relative width of at most epsilon. Their successors in other components must be
// solved. It returns the work that it has not reported to the meter.
func (system *equationSystem) solveComponent(members []uint32, index *unknownIndex, meter *meter, opts Options, epsilon float64) (work int, err error) {
	if system.isExact() {
		return system.solveExact(members, index, meter)
	}
	if len(members) == 1 {
		return system.solveState(int(members[0])), nil
	}
	members = system.sweepOrder(members, index)
	local := system.localSystem(members, index)
	if err := local.solve(meter, opts, epsilon); err != nil {
		return 0, err
	}
	system.storeSolution(local, members, index)
	return 0, nil
}

// sweepOrder returns the members of a component in the order in which iterations take them. This is depth-first postorder, as in members; or in a large
// component the reverse order of discovery, if more transitions of a sample of the members then lead to members that a sweep has already updated.
func (system *equationSystem) sweepOrder(members []uint32, index *unknownIndex) []uint32 {
	const minMembers, sampleSize = 1000, 10_000
	if len(members) < minMembers {
		return members
	}
	index.allocate(system.graph.NumStates())
	index.setUnknowns(members)
	defer index.clearUnknowns(members)
	updatedInPostorder, updatedInReverse := 0, 0
	for i := 0; i < len(members); i += 1 + len(members)/sampleSize {
		state := members[i]
		for _, target := range system.successors(state) {
			if unknown := index.unknowns[target]; unknown != sparse.None {
				if unknown < uint32(i) {
					updatedInPostorder++
				}
				if target > state {
					updatedInReverse++
				}
			}
		}
	}
	if updatedInReverse > updatedInPostorder {
		return inReverseOrder(members)
	}
	return members
}

// cyclicComponents returns the numbers of the components with several states. Other components have no cycles except for self-loops.
func (system *equationSystem) cyclicComponents(components *sparse.Components) *sparse.Set {
	cyclicIDs := sparse.NewSet(components.Num())
	for i := range components.Num() {
		if components.Start[i+1]-components.Start[i] > 1 {
			cyclicIDs.Add(i)
		}
	}
	return cyclicIDs
}

// findEndComponents finds the end components in which a scheduler can stay forever without reward, and stores them in system.endComponents.
func (system *equationSystem) findEndComponents(ctx context.Context, components *sparse.Components, cyclicIDs *sparse.Set) (err error) {
	states := sparse.NewSet(system.graph.NumStates())
	for i := range cyclicIDs.All() {
		addStates(states, components.Members(i))
	}
	system.endComponents, err = system.graph.EndComponents(ctx, states, system.zeroRewardChoices(states))
	return err
}

// addStates adds states to a set.
func addStates(set *sparse.Set, states []uint32) {
	for _, state := range states {
		set.Add(int(state))
	}
}

// zeroRewardChoices returns the usable choices of the given states that earn no reward, neither for the state nor for the choice.
func (system *equationSystem) zeroRewardChoices(states *sparse.Set) *sparse.Set {
	result := sparse.NewSet(system.graph.NumChoices())
	for state := range states.All() {
		first, end := system.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if system.isUsableChoice(choice) && system.reward.ChoiceTotal(state, choice) == 0 {
				result.Add(choice)
			}
		}
	}
	return result
}

// cyclicDepth returns the greatest number of components with several states that a path can visit, and at least 1. The widths of the bounds of these
// components can add up.
func (system *equationSystem) cyclicDepth(components *sparse.Components, cyclicIDs *sparse.Set) int {
	if cyclicIDs.Empty() {
		return 1
	}
	depths := make([]int32, components.Num())
	greatest := int32(1)
	for i := range components.Num() { // transitions to other components lead to smaller numbers, whose depths are known
		depths[i] = system.successorDepth(components, i, depths)
		if cyclicIDs.Has(i) {
			depths[i]++
		}
		greatest = max(greatest, depths[i])
	}
	return int(greatest)
}

// successorDepth returns the greatest depth of the other components to which transitions of a component lead, or 0 if there are none.
func (system *equationSystem) successorDepth(components *sparse.Components, component int, depths []int32) int32 {
	greatest := int32(0)
	for _, state := range components.Members(component) {
		first, end := system.graph.Choices(int(state))
		for _, target := range system.graph.Target[system.graph.FirstTransition[first]:system.graph.FirstTransition[end]] {
			if id := components.ID[target]; id != sparse.None && id < uint32(component) { // the target is in another component
				greatest = max(greatest, depths[id])
			}
		}
	}
	return greatest
}

// unknownIndex maps states to unknowns of a local system. Its memory is reused for all components.
type unknownIndex struct {
	unknowns []uint32 // of each state: its unknown in the local system, or sparse.None
}

// allocate allocates the memory of the index at the first call. Then no state has an unknown.
func (index *unknownIndex) allocate(numStates int) {
	if index.unknowns == nil {
		index.unknowns = make([]uint32, numStates)
		for state := range index.unknowns {
			index.unknowns[state] = sparse.None
		}
	}
}

// setUnknowns makes the position of each of the given states its unknown.
func (index *unknownIndex) setUnknowns(members []uint32) {
	for i, state := range members {
		index.unknowns[state] = uint32(i)
	}
}

// clearUnknowns removes the unknowns of the given states.
func (index *unknownIndex) clearUnknowns(members []uint32) {
	for _, state := range members {
		index.unknowns[state] = sparse.None
	}
}

// localSystem builds the equations of one strongly connected component. It stores the unknown of each member in index; the caller must clear these entries
// again. The states of an end component without reward share one unknown.
func (system *equationSystem) localSystem(members []uint32, index *unknownIndex) *localSystem {
	index.allocate(system.graph.NumStates())
	local := &localSystem{minimize: system.minimize, isProbability: system.isProbability, rounding: system.rounding, hasRewards: system.reward != nil}
	numUnknowns := system.numberUnknowns(members, index)
	local.choiceStarts = make([]uint32, 0, numUnknowns+1)
	system.reserveCapacity(local, members)
	for i, state := range members {
		if isFirst := index.unknowns[state] == uint32(len(local.choiceStarts)); !isFirst {
			continue
		}
		local.choiceStarts = append(local.choiceStarts, uint32(len(local.termStarts)))
		for _, sharing := range system.statesSharingUnknown(members, i) {
			system.addLocalRows(local, int(sharing), index)
		}
	}
	local.choiceStarts = append(local.choiceStarts, uint32(len(local.termStarts)))
	local.termStarts = append(local.termStarts, uint32(len(local.termColumns)))
	local.initBounds(system.values.Scheduler != nil || system.isExact())
	return local
}

// addLocalRows appends an equation to a local system for each usable choice of a state.
func (system *equationSystem) addLocalRows(local *localSystem, state int, index *unknownIndex) {
	first, end := system.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		if system.isUsableChoice(choice) {
			system.addLocalRow(local, state, choice, index)
		}
	}
}

// reserveCapacity allocates the slices of a local system with capacity for all choices of the members.
func (system *equationSystem) reserveCapacity(local *localSystem, members []uint32) {
	rows, terms := 0, 0
	for _, state := range members {
		first, end := system.graph.Choices(int(state))
		rows += end - first
		terms += int(system.graph.FirstTransition[end] - system.graph.FirstTransition[first])
	}
	local.termStarts = make([]uint32, 0, rows+1)
	local.termColumns = make([]uint32, 0, terms)
	local.termWeights = make([]float64, 0, terms)
	local.modelChoices = make([]uint32, 0, rows)
	local.lowerConstants = make([]float64, 0, rows)
	local.upperConstants = make([]float64, 0, rows)
	local.exitWeights = make([]float64, 0, rows)
	local.evaluationErrs = make([]float64, 0, rows)
}

// numberUnknowns numbers the unknowns of a component in the order of their first members. It stores the unknown of each member in index, and
// returns the number of unknowns.
func (system *equationSystem) numberUnknowns(members []uint32, index *unknownIndex) (numUnknowns int) {
	for i, state := range members {
		if index.unknowns[state] != sparse.None {
			continue
		}
		for _, sharing := range system.statesSharingUnknown(members, i) {
			index.unknowns[sharing] = uint32(numUnknowns)
		}
		numUnknowns++
	}
	return numUnknowns
}

// statesSharingUnknown returns the states that have the same unknown as members[i]. All states of an end component without reward share one
// unknown; every other state has its own.
func (system *equationSystem) statesSharingUnknown(members []uint32, i int) []uint32 {
	if id := system.endComponentOf(int(members[i])); id != sparse.None {
		return system.endComponents.Members(int(id))
	}
	return members[i : i+1]
}

// addLocalRow appends the equation of a choice to a local system, unless all its transitions stay in the unknown of its state. Self-loops are eliminated:
// the weights and the constant are divided by the sum of the weights of the other transitions.
func (system *equationSystem) addLocalRow(local *localSystem, state, choice int, index *unknownIndex) {
	firstTerm := len(local.termColumns)
	row := system.addTerms(local, state, choice, index)
	if row.weightSum == 0 {
		return
	}
	if row.mustNormalize {
		row.lower, row.upper = system.rounding.divideBounds(row.lower, row.upper, row.weightSum)
		row.exitWeight /= row.weightSum
		local.divideWeights(firstTerm, row.weightSum)
	}
	if row.maxTarget > 0 { // the constant is positive, even if the products of weights and values underflow to 0
		row.upper = max(row.upper, system.rounding.leastBound)
	}
	local.termStarts = append(local.termStarts, uint32(firstTerm))
	local.lowerConstants = append(local.lowerConstants, row.lower)
	local.upperConstants = append(local.upperConstants, row.upper)
	// The error bound covers the sum in the constant, the division by the sum of weights, and the sums of later sweeps.
	first, end := system.graph.Transitions(choice)
	local.evaluationErrs = append(local.evaluationErrs, system.rounding.sumErr(2*(end-first)))
	local.exitWeights = append(local.exitWeights, row.exitWeight)
	local.modelChoices = append(local.modelChoices, uint32(choice))
	local.recordWidth(row.lower, row.upper, row.exitWeight)
}

// localRow has the numbers of a choice in a local system: the bounds on its constant, and sums of its weights.
type localRow struct {
	lower, upper  float64 // the reward plus the weighted values of the targets outside of the component
	maxTarget     float64 // the greatest upper bound of these targets, or the reward
	exitWeight    float64 // of the transitions to these targets
	weightSum     float64 // of all transitions without self-loops
	mustNormalize bool    // the weights do not sum to 1
}

// addTerms appends a term for each transition of a choice that leads to another unknown of the component. Transitions out of the component add their
// weighted bounds to the constant of the returned row. Self-loops are left out.
func (system *equationSystem) addTerms(local *localSystem, state, choice int, index *unknownIndex) localRow {
	unknown := index.unknowns[state]
	reward := system.reward.ChoiceTotal(state, choice)
	row := localRow{lower: reward, upper: reward, maxTarget: reward, mustNormalize: system.graph.Kind == sparse.CTMC}
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		target, weight := int(system.graph.Target[transition]), system.graph.Prob(transition)
		switch targetUnknown := index.unknowns[target]; {
		case targetUnknown == unknown: // a self-loop, which is eliminated later
			row.mustNormalize = true
			continue
		case targetUnknown != sparse.None:
			local.termColumns = append(local.termColumns, targetUnknown)
			local.termWeights = append(local.termWeights, weight)
		default:
			row.lower += weight * system.values.Lower[target]
			row.upper += weight * system.values.Upper[target]
			row.maxTarget = max(row.maxTarget, system.values.Upper[target])
			row.exitWeight += weight
		}
		row.weightSum += weight
	}
	return row
}

// divideWeights divides the weights from a term on. A weight that underflows stays positive, because its effect is below rounding.leastBound.
func (local *localSystem) divideWeights(firstTerm int, divisor float64) {
	const minNormal = 0x1p-1022
	for i := firstTerm; i < len(local.termWeights); i++ {
		local.termWeights[i] = max(local.termWeights[i]/divisor, minNormal)
	}
}

// recordWidth records how wide the bounds of a constant are. The reason is that the values of successors outside of the component are not known precisely,
// so no method can make the bounds within the component narrower. exitWeight is the weight of the transitions to these successors.
func (local *localSystem) recordWidth(lower, upper, exitWeight float64) {
	switch {
	case math.IsInf(upper, 1): // a successor has no upper bound
		local.inheritedWidth = math.Inf(1)
	case upper > lower && upper < local.rounding.grid*0x1p34: // for so small a value, rounding to the grid dominates the relative width
		local.inheritedAbsWidth = max(local.inheritedAbsWidth, (upper-lower)/exitWeight)
	case upper > local.rounding.underflowThreshold():
		local.inheritedWidth = max(local.inheritedWidth, (upper-lower)/upper)
	case upper > lower:
		local.hasUnderflow = true
	}
}

// storeSolution copies the bounds and the scheduler of a local system to the states of its component. Then it clears the entries of these states in index.
func (system *equationSystem) storeSolution(local *localSystem, members []uint32, index *unknownIndex) {
	system.values.Converged = system.values.Converged && local.hasConverged
	system.values.Extended = system.values.Extended || local.isExtended
	for _, state := range members {
		unknown := index.unknowns[state]
		system.values.Lower[state], system.values.Upper[state] = local.lower[unknown], local.upper[unknown]
	}
	system.storeScheduler(local, members, index)
	index.clearUnknowns(members)
}

// storeScheduler translates the scheduler of a local system to choices of the model. If an unknown stands for a whole end component, only the state with the
// selected choice gets a choice here; leaveEndComponents selects choices for the other states.
func (system *equationSystem) storeScheduler(local *localSystem, members []uint32, index *unknownIndex) {
	if system.values.Scheduler == nil {
		return
	}
	for _, state := range members {
		localChoice := local.scheduler[index.unknowns[state]]
		if localChoice == sparse.None {
			continue
		}
		first, end := system.graph.Choices(int(state))
		choice := local.modelChoices[localChoice]
		if first <= int(choice) && int(choice) < end {
			system.values.Scheduler[state] = choice
		}
	}
}

// leaveEndComponents completes a scheduler in the end components without reward. Each state without a choice gets a choice that moves towards a state that
// has one, because there the scheduler leaves the end component.
func (system *equationSystem) leaveEndComponents(scheduler []uint32) {
	if scheduler == nil || system.endComponents == nil {
		return
	}
	exitStates := sparse.NewSet(system.graph.NumStates())
	for _, state := range system.endComponents.States {
		if scheduler[state] != sparse.None {
			exitStates.Add(int(state))
		}
	}
	system.graph.Approach(system.endComponents.Choices, exitStates, scheduler)
}
