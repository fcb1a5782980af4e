package check

import (
	"encoding/binary"
	"errors"
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// multiEvaluation evaluates multi(...) on the product of the model with the memory of the objectives, and the states where paths may end.
type multiEvaluation struct {
	evaluation      *evaluation
	objectives      []*objective
	maxSteps        int                 // the greatest bound of a C<=k
	product         *sparse.Graph       // its last state is the end state
	memories        []memory            // the memory of each state of the product, except the end state
	modelChoice     []uint32            // the choice of the model for each choice of the product; None for a choice that leads to the end state
	satisfiedAtEnd  [][]objectiveSet    // for each state: the sets of objectives that are satisfied if a path ends there
	tuples          tupleNumbering      // the tuples of automaton states: one state for each linear objective
	tupleIndex      map[int]int         // the index of each linear objective in these tuples
	keepsSchedulers bool                // says that bestWeightedSum stores its schedulers
	schedulers      []weightedScheduler // the scheduler of each call of bestWeightedSum
	startStates     []uint32            // the states of the product in which paths begin
}

// objectiveSet is a set of objectives: bit i stands for objective i.
type objectiveSet uint32

// contains reports whether the set has an objective, given by its index.
func (set objectiveSet) contains(objective int) bool { return set>>objective&1 == 1 }

// isSubsetOf reports whether all objectives of the set are in another set.
func (set objectiveSet) isSubsetOf(other objectiveSet) bool { return set&^other == 0 }

// memory is a state of the model with the memory of the objectives: two bits for each until objective and for each reward objective with a
// target, the number of steps so far (at most multi.maxSteps), and the number of the tuple of automaton states of the linear objectives.
type memory struct {
	modelState    uint32
	untilStatuses uint32
	steps         int
	tuple         uint32
}

// tupleNumbering numbers tuples of automaton states from 0. The tuple with number i is tuples[i].
type tupleNumbering struct {
	list     [][]int
	numberOf map[string]uint32 // by the encoded tuple
}

// numberTuple returns the number of a tuple of automaton states. A new tuple gets the next number, counted from 0.
func (numbering *tupleNumbering) numberTuple(tuple []int) uint32 {
	encoded := make([]byte, 0, 4*len(tuple))
	for _, automatonState := range tuple {
		encoded = binary.LittleEndian.AppendUint32(encoded, uint32(automatonState))
	}
	if number, isKnown := numbering.numberOf[string(encoded)]; isKnown {
		return number
	}
	if numbering.numberOf == nil {
		numbering.numberOf = map[string]uint32{}
	}
	number := uint32(len(numbering.list))
	numbering.list = append(numbering.list, tuple)
	numbering.numberOf[string(encoded)] = number
	return number
}

// The status of an until objective on a path. The status of a reward objective with a target holds after the target.
const (
	undecidedStatus uint32 = iota // not decided yet
	holdsStatus
	failsStatus
)

// untilStatus returns the status of an until objective.
func (x memory) untilStatus(i int) uint32 { return x.untilStatuses >> (2 * i) & 3 }

// automatonState returns the state of the automaton of objective i, which is a linear objective.
func (multi *multiEvaluation) automatonState(x memory, i int) int {
	return multi.tuples.list[x.tuple][multi.tupleIndex[i]]
}

// nextMemory returns the memory of the objectives after a transition to state s of the model: s, the status of each until objective, and the states of
// the automata after they have read s. before is the memory before the transition. nextMemory copies the step count unchanged; its caller increases it.
func (multi *multiEvaluation) nextMemory(before memory, s uint32) (memory, error) {
	next := before
	next.modelState = s
	for i, objective := range multi.objectives {
		if next.untilStatus(i) != undecidedStatus {
			continue
		}
		switch { // status has two bits for each objective
		case objective.target != nil && objective.target.Has(int(s)):
			next.untilStatuses |= holdsStatus << (2 * i)
		case objective.form != untilForm: // it stays undecided
		case objective.right.Has(int(s)):
			next.untilStatuses |= holdsStatus << (2 * i)
		case !objective.left.Has(int(s)):
			next.untilStatuses |= failsStatus << (2 * i)
		}
	}
	var err error
	next.tuple, err = multi.tupleAfter(before.tuple, s)
	return next, err
}

// tupleAfter lets the automata of all objectives read state s of the model. A tuple has the state of each automaton; tuple and the result are the
// numbers of the tuples before and after reading.
func (multi *multiEvaluation) tupleAfter(tuple, s uint32) (uint32, error) {
	if len(multi.tupleIndex) == 0 { // no automata
		return tuple, nil
	}
	automatonStates := slices.Clone(multi.tuples.list[tuple])
	for objective, automatonIndex := range multi.tupleIndex {
		successor, err := multi.objectives[objective].reader.nextState(automatonStates[automatonIndex], s)
		if err != nil {
			return tuple, multi.tooLargeError(err)
		}
		automatonStates[automatonIndex] = successor
	}
	return multi.tuples.numberTuple(automatonStates), nil
}

// tooLargeError adds the position of the property to the error automata.ErrTooLarge. It returns other errors unchanged.
func (multi *multiEvaluation) tooLargeError(err error) error {
	if errors.Is(err, automata.ErrTooLarge) {
		return multi.evaluation.unsupportedError(multi.evaluation.property.Expr, "found a path formula in multi(...) whose automaton is too large")
	}
	return err
}

// prepareProduct builds the product of the model with the memory of the objectives, and finds the product states in which a path may end because later
// steps need not change the values of the objectives. expr is the property, for errors.
func (multi *multiEvaluation) prepareProduct(expr sema.Expr) error {
	for _, objective := range multi.objectives {
		objective.maxRewards = nil // they belong to the states of another product
	}
	if err := multi.buildProduct(); err != nil {
		return err
	}
	return multi.findEndStates(expr)
}

// maxProduct limits the states of a product, which then takes some gigabytes.
const maxProduct = 20_000_000

// buildProduct builds the product of the model with the memory of the objectives. addEndState later adds the end state.
func (multi *multiEvaluation) buildProduct() error {
	multi.tupleIndex = map[int]int{}
	var initialStates []int // the initial state of each automaton, before it reads a state of the model
	for i, objective := range multi.objectives {
		objective.index = i
		multi.maxSteps = max(multi.maxSteps, objective.steps)
		if objective.form == automatonForm {
			multi.tupleIndex[i] = len(initialStates)
			initialStates = append(initialStates, objective.reader.automaton.Initial())
		}
	}
	multi.tuples.numberTuple(initialStates) // the first tuple gets number 0, as in memory{}
	model := multi.evaluation.space.Model()
	starts := make([]memory, len(model.Initial))
	for i, s := range model.Initial {
		var err error
		starts[i], err = multi.nextMemory(memory{}, s)
		if err != nil {
			return err
		}
	}
	product, err := sparse.NewProduct(multi.evaluation.ctx, model, objectiveMemory{multi}, starts, nil, maxProduct)
	if err != nil {
		return multi.productError(err)
	}
	multi.product = sparse.NewGraph(product.Model)
	multi.memories = product.Pairs
	multi.modelChoice = product.Choice
	multi.startStates = product.Start
	return nil
}

// productError adds the position of the property to the error sparse.ErrTooLarge. It returns other errors unchanged.
func (multi *multiEvaluation) productError(err error) error {
	if errors.Is(err, sparse.ErrTooLarge) {
		return multi.evaluation.unsupportedError(multi.evaluation.property.Expr, "found multi(...) over a product of more than %d states", maxProduct)
	}
	return err
}

// objectiveMemory is the memory of the objectives, as the sparse.Memory of a product.
type objectiveMemory struct{ multi *multiEvaluation }

// State returns the state of the model.
func (memory objectiveMemory) State(x memory) uint32 { return x.modelState }

// Step returns the memory after a transition to state target of the model.
func (memory objectiveMemory) Step(x memory, target uint32) (memory, error) {
	x.steps = min(x.steps+1, memory.multi.maxSteps)
	return memory.multi.nextMemory(x, target)
}

// Absorbing returns false: no state of the product gets a self-loop.
func (memory objectiveMemory) Absorbing(memory) bool { return false }

// countsRewards reports whether a reward objective counts the rewards of a state.
func (objective *objective) countsRewards(x memory) bool {
	return objective.form == rewardForm && (objective.steps < 0 || x.steps < objective.steps) && !objective.hasReached(x)
}

// hasReached reports whether an objective has a target that the path has reached.
func (objective *objective) hasReached(x memory) bool {
	return objective.target != nil && x.untilStatus(objective.index) == holdsStatus
}

// choicesWithoutReward returns the choices of the product that earn no reward of an objective C (total reward). It considers the maximised
// objectives if maximised is true, else the minimised objectives.
func (multi *multiEvaluation) choicesWithoutReward(maximised bool) *sparse.Set {
	choices := sparse.FullSet(multi.product.NumChoices())
	for _, objective := range multi.objectives {
		isTotalReward := objective.form == rewardForm && objective.steps < 0
		if isTotalReward && objective.isMaximised == maximised {
			multi.removeRewarded(choices, objective)
		}
	}
	return choices
}

// The arguments of choicesWithoutReward.
const (
	ofMaximised = true
	ofMinimised = false
)

// removeRewarded removes from the set choices all choices of the product that earn a positive reward of an objective.
func (multi *multiEvaluation) removeRewarded(choices *sparse.Set, objective *objective) {
	for s, memory := range multi.memories {
		if !objective.countsRewards(memory) {
			continue
		}
		first, end := multi.product.Choices(s)
		for choice := first; choice < end; choice++ {
			modelChoice := multi.modelChoice[choice]
			if modelChoice != sparse.None && objective.reward.ChoiceTotal(int(memory.modelState), int(modelChoice)) > 0 {
				choices.Remove(choice)
			}
		}
	}
}

// findEndStates finds the product states in which a path may end: from there on it can stay in an end component that earns no minimised reward. For each
// of these states it finds the sets of objectives that the path can then satisfy almost surely. It adds the end state to the product. It is an error if
// a maximised reward can be earned forever, or can miss its target. expr is the property, for errors.
func (multi *multiEvaluation) findEndStates(expr sema.Expr) error {
	endComponents, err := multi.product.EndComponents(multi.evaluation.ctx, nil, nil)
	if err != nil {
		return err
	}
	if multi.canMissMaximisedTarget(endComponents) {
		return multi.evaluation.unsupportedError(expr, "found multi(...) with a maximised reward of F, whose target is not reached with probability 1 by every scheduler")
	}
	rewardedForever := endComponents.Choices.Minus(multi.choicesWithoutReward(ofMaximised))
	if !rewardedForever.Empty() {
		return multi.evaluation.unsupportedError(expr, "found multi(...) with a maximised reward that can be earned forever")
	}
	withoutCosts := multi.choicesWithoutReward(ofMinimised) // a path that has ended earns no minimised reward
	pathObjectives := multi.pathObjectives()
	multi.satisfiedAtEnd = make([][]objectiveSet, len(multi.memories))
	// The loop visits all subsets of pathObjectives in descending order, so that supersets come before their subsets.
	for satisfied := pathObjectives; ; satisfied = (satisfied - 1) & pathObjectives {
		if err := multi.addSatisfiedAtEnd(satisfied, withoutCosts); err != nil {
			return err
		}
		if satisfied == 0 {
			multi.addEndState()
			return nil
		}
	}
}

// canMissMaximisedTarget reports whether some scheduler misses, with a positive probability, the target of a maximised reward. The reward of paths that
// miss the target is infinite.
func (multi *multiEvaluation) canMissMaximisedTarget(endComponents *sparse.EndComponents) bool {
	for i := range endComponents.Num() {
		anyMember := multi.memories[endComponents.Members(i)[0]] // the memory of a target does not change in an end component
		for _, objective := range multi.objectives {
			if objective.target != nil && objective.isMaximised && !objective.hasReached(anyMember) {
				return true
			}
		}
	}
	return false
}

// addSatisfiedAtEnd adds a set of objectives to multi.satisfiedAtEnd[s] for each state s from which some scheduler stays in an end component of the
// given choices and satisfies the objectives almost surely. It skips s if multi.satisfiedAtEnd[s] has a superset of the objectives.
func (multi *multiEvaluation) addSatisfiedAtEnd(satisfied objectiveSet, choices *sparse.Set) error {
	states, err := multi.surelySatisfied(satisfied, choices)
	if err != nil {
		return err
	}
	for s := range states.All() {
		if !slices.ContainsFunc(multi.satisfiedAtEnd[s], satisfied.isSubsetOf) {
			multi.satisfiedAtEnd[s] = append(multi.satisfiedAtEnd[s], satisfied)
		}
	}
	return nil
}

// addEndState adds an absorbing end state to the product. Each state in which a path may end gets an additional last choice that leads to the end state.
func (multi *multiEvaluation) addEndState() {
	oldProduct := multi.product.Model
	builder := sparse.NewDerivedBuilder(oldProduct, sparse.MDP)
	endState := uint32(len(multi.memories))
	sameTarget := func(transition int) uint32 { return oldProduct.Target[transition] }
	for s := range multi.memories {
		builder.State()
		first, end := oldProduct.Choices(s)
		for choice := first; choice < end; choice++ {
			builder.Copy(choice, sameTarget)
		}
		if len(multi.satisfiedAtEnd[s]) > 0 {
			builder.Loop(endState)
		}
	}
	builder.State()
	builder.Loop(endState)
	for newChoice, oldChoice := range builder.Origin {
		if oldChoice != sparse.None {
			builder.Origin[newChoice] = multi.modelChoice[oldChoice]
		}
	}
	multi.product = sparse.NewGraph(builder.Finish())
	multi.modelChoice = builder.Origin
}

// surelySatisfied returns the states of the product from which some scheduler stays in an end component of the given choices and satisfies a set
// of objectives with probability one.
func (multi *multiEvaluation) surelySatisfied(satisfied objectiveSet, choices *sparse.Set) (*sparse.Set, error) {
	components, err := multi.satisfyingComponents(satisfied, choices)
	if err != nil {
		return nil, err
	}
	satisfying := sparse.NewSet(multi.product.NumStates())
	for i := range components.Num() {
		members := components.Members(i)
		if !multi.visitsRecurringSets(satisfied, members) {
			continue
		}
		if err := multi.addSatisfying(satisfying, satisfied, members, components.Choices); err != nil {
			return nil, err
		}
	}
	return satisfying, nil
}

// addSatisfying adds to the set satisfying each member of an end component from which some scheduler stays in the component and satisfies a set of
// objectives with probability one. choices contains the choices of the component.
func (multi *multiEvaluation) addSatisfying(satisfying *sparse.Set, satisfied objectiveSet, members []uint32, choices *sparse.Set) error {
	if len(multi.objectivesThatJump(satisfied, members[0])) == 0 {
		for _, s := range members {
			satisfying.Add(int(s))
		}
		return nil
	}
	component, err := multi.newAcceptingComponent(satisfied, members, choices)
	if err != nil {
		return err
	}
	for index, s := range members {
		if component.startNode[index] != sparse.None {
			satisfying.Add(int(s))
		}
	}
	return nil
}

// satisfyingComponents returns the maximal end components, with only the given choices, in whose states a set of objectives can be satisfied. It
// ignores objectives of the form G F a.
func (multi *multiEvaluation) satisfyingComponents(satisfied objectiveSet, choices *sparse.Set) (*sparse.EndComponents, error) {
	allowed := sparse.NewSet(multi.product.NumStates())
	for s, memory := range multi.memories {
		if multi.canSatisfy(memory, satisfied) {
			allowed.Add(s)
		}
	}
	return multi.product.EndComponents(multi.evaluation.ctx, allowed, choices)
}

// canSatisfy reports whether a path can satisfy a set of objectives if it visits a state of the product infinitely often. memory belongs to
// this state. It ignores objectives of the form G F a. A path that misses the target of a minimised reward satisfies none, because its reward is infinite.
func (multi *multiEvaluation) canSatisfy(memory memory, satisfied objectiveSet) bool {
	for i, objective := range multi.objectives {
		if objective.target != nil && !objective.hasReached(memory) {
			return false
		}
		if satisfied.contains(i) && !multi.canSatisfyOne(memory, i) {
			return false
		}
	}
	return true
}

// canSatisfyOne reports whether a path can satisfy the objective with the given index if it visits a state of the product infinitely often.
// memory belongs to this state. The result is true for an objective of the form G F a.
func (multi *multiEvaluation) canSatisfyOne(memory memory, index int) bool {
	objective := multi.objectives[index]
	switch objective.form {
	case untilForm:
		untilHolds := memory.untilStatus(index) == holdsStatus
		return untilHolds != objective.isNegated
	case lastingForm:
		return objective.repeatedStates.Has(int(memory.modelState))
	case automatonForm:
		return objective.reader.automaton.CanStay(multi.automatonState(memory, index))
	}
	return true
}

// visitsRecurringSets reports whether a path that visits the given states of the product infinitely often satisfies all objectives G F a in
// satisfied: one of the states satisfies a.
func (multi *multiEvaluation) visitsRecurringSets(satisfied objectiveSet, states []uint32) bool {
	for i, objective := range multi.objectives {
		if !satisfied.contains(i) || objective.form != recurringForm {
			continue
		}
		isVisited := slices.ContainsFunc(states, func(s uint32) bool { return objective.repeatedStates.Has(int(multi.memories[s].modelState)) })
		if !isVisited {
			return false
		}
	}
	return true
}
