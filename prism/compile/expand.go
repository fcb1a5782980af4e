package compile

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// SumTolerance is the largest accepted relative difference between 1 and a sum of probabilities.
//
// Source: prism/src/prism/PrismUtils.java, epsilonDouble.
const SumTolerance = 1e-12

// CommandRef identifies the command Program.Modules[Module].Commands[Command].
type CommandRef struct{ Module, Command int }

// Transition is one probabilistic alternative of a choice. Weight is a
// probability, or a rate in a CTMC, and positive. Target is a valuation.
type Transition struct {
	Weight float64
	Target []int32
}

// Choice is one way to leave a state. Action is an index into Program.Actions
// or sema.Unlabelled; Module is the module of an unlabelled choice that is one
// module's own command, and -1 otherwise. Commands has one command per module
// that takes part. No two transitions have the same target.
type Choice struct {
	Action      int
	Module      int
	Commands    []CommandRef
	Transitions []Transition

	unlisted *unlistedTransitions // nil if Transitions has all transitions
}

// Choices are all choices of one state, in the order of PRISM's explicit
// engine: unlabelled commands by module and command, then the actions in order
// of first appearance, where the first module's command varies fastest. A state
// without choices is a deadlock, which the caller may fix. Choices
// are not merged, scaled or removed.
//
// The memory belongs to the Expander and is overwritten by its next call.
type Choices struct {
	List []Choice
}

// Deadlock reports whether the state has no choice.
func (c *Choices) Deadlock() bool { return len(c.List) == 0 }

// Expander lists the choices of states. Expand does not allocate once its
// buffers have grown. An Expander is not safe for concurrent use; make one per
// goroutine.
type Expander interface {
	// Expand returns the choices of a state with one value per Program.Vars,
	// or a *StateError: an error of evaluation, probabilities that are
	// negative, not finite, all zero or do not sum to one within SumTolerance,
	// or a value outside its variable's declared range (where PRISM's explicit
	// engine is silent).
	Expand(state []int32) (*Choices, error)
	// ExpandForPath is Expand without the transitions of choices whose commands have more
	// than 256 combinations of updates: such a choice is Unlisted. Draw, Find and
	// ListFirst list some of its transitions.
	ExpandForPath(state []int32) (*Choices, error)
	// ExpandUpTo is ExpandForPath with a limit of its own.
	ExpandUpTo(state []int32, maxCombinations int) (*Choices, error)
	// Enabled lists the same choices without transitions: no probability is
	// evaluated or checked.
	Enabled(state []int32) (*Choices, error)
	// Apply writes the successor of a state to target. The state is the one that
	// Expand or Enabled got last; the i-th command makes its update number
	// updates[i]. Errors are as for Expand.
	Apply(target []int32, commands []CommandRef, updates []int) error
}

// NewExpander returns an Expander that interprets the model.
func (m *Model) NewExpander() Expander { return newExpander(m) }

// NewExpanderUntil returns an expander that stops with the context's error when the context ends. A single state can have a huge number of
// choices.
func (m *Model) NewExpanderUntil(ctx context.Context) Expander {
	expander := newExpander(m)
	expander.ctx = ctx
	return expander
}

// expander implements Expander by evaluating the closures of the commands.
type expander struct {
	model *Model
	env   env
	ctx   context.Context
	// workDone is the work since ctx was last polled: the number of commands in combinations
	// and of values in targets. stopErr is the error of ctx.
	workDone int
	stopErr  error
	// enabledCommands has the enabled commands, by command.participant. weights[i] has the
	// probabilities of the updates of Model.commands[i] once hasWeights[i] is set.
	enabledCommands     [][]*command
	hasWeights          []bool
	weights             [][]float64
	combinations        []combination
	combinationCommands []*command // of all combinations
	updates             []int      // the current combination: one update per command
	targets             []int32    // of all transitions
	transitions         []Transition
	// hashSlots is a hash table of the transitions of a choice that has many, by their
	// targets. A slot has the number of a transition in the choice, from 1 on, or 0 if it
	// is free. numHashed is the number of transitions in the table.
	hashSlots   []int32
	numHashed   int
	commandRefs []CommandRef
	choices     Choices
}

// combination is a combination of commands, one per participant: combinationCommands[first:last]. Each combination is a choice.
type combination struct {
	action, begin, end int
}

// newExpander returns an expander of a model. It has a buffer for the weights of each command.
func newExpander(model *Model) *expander {
	created := &expander{
		model:           model,
		ctx:             context.Background(),
		enabledCommands: make([][]*command, model.numParticipants),
		hasWeights:      make([]bool, len(model.commands)),
		weights:         make([][]float64, len(model.commands)),
	}
	for i, command := range model.commands {
		created.weights[i] = make([]float64, len(command.updates))
	}
	return created
}

// Expand implements Expander: it returns the choices of a state with their transitions.
func (x *expander) Expand(state []int32) (*Choices, error) {
	return x.expandWith(state, func(combination) bool { return true })
}

// ExpandForPath implements Expander: it lists no transitions of choices that have too many.
func (x *expander) ExpandForPath(state []int32) (*Choices, error) {
	return x.ExpandUpTo(state, maxMultiplied)
}

// ExpandUpTo implements Expander.
func (x *expander) ExpandUpTo(state []int32, maxCombinations int) (*Choices, error) {
	return x.expandWith(state, func(chosen combination) bool {
		return !exceedsCombinations(x.combinationCommands[chosen.begin:chosen.end], maxCombinations)
	})
}

// expandWith returns the choices of a state. It computes the transitions of a choice only if isListed returns true for its combination of commands.
func (x *expander) expandWith(state []int32, isListed func(combination) bool) (*Choices, error) {
	if err := x.expand(state, isListed); err != nil {
		return nil, err
	}
	if x.stopErr != nil {
		return nil, x.stopErr
	}
	return &x.choices, nil
}

// workPerPoll is the work between polls of the context. It takes some milliseconds.
const workPerPoll = 1 << 17

// addWork counts work, and polls the context after each workPerPoll. It returns false if the context has ended.
func (x *expander) addWork(work int) bool {
	x.workDone += work
	if x.workDone >= workPerPoll {
		x.workDone = 0
		x.stopErr = x.ctx.Err()
	}
	return x.stopErr == nil
}

// expand stores the choices of a state in x.choices. It computes the transitions of a choice only if isListed returns true for its combination of
// commands. When the context ends, it stops early and sets x.stopErr.
func (x *expander) expand(state []int32, isListed func(combination) bool) *StateError {
	if err := x.listWithWeights(state); err != nil {
		return err
	}
	x.targets, x.transitions, x.commandRefs = x.targets[:0], x.transitions[:0], x.commandRefs[:0]
	x.choices.List = x.choices.List[:0]
	for _, combination := range x.combinations {
		if x.stopErr != nil {
			return nil
		}
		var err *StateError
		if isListed(combination) {
			err = x.addChoice(combination)
		} else {
			err = x.addUnlistedChoice(combination)
		}
		if err != nil {
			return err
		}
	}
	x.setSlices()
	return nil
}

// Enabled implements Expander: it returns the choices of a state without their transitions.
func (x *expander) Enabled(state []int32) (*Choices, error) {
	if err := x.listCombinations(state); err != nil {
		return nil, err
	}
	x.commandRefs, x.transitions, x.choices.List = x.commandRefs[:0], x.transitions[:0], x.choices.List[:0]
	for _, combination := range x.combinations {
		x.choices.List = append(x.choices.List, x.newChoice(combination))
	}
	if x.stopErr != nil {
		return nil, x.stopErr
	}
	x.setSlices()
	return &x.choices, nil
}

// Apply implements Expander: it writes the successor of the current state to target. Command i of the given commands makes its update with the
// index updates[i].
func (x *expander) Apply(target []int32, commands []CommandRef, updates []int) error {
	copy(target, x.env.state)
	for i, reference := range commands {
		if err := x.applyUpdate(target, x.model.command(reference), updates[i]); err != nil {
			return err
		}
	}
	return nil
}

// listWithWeights lists the combinations of enabled commands of a state, and evaluates the weights of their updates. It stops when the
// context ends.
func (x *expander) listWithWeights(state []int32) *StateError {
	if err := x.listCombinations(state); err != nil {
		return err
	}
	for _, combination := range x.combinations {
		if !x.addWork(combination.end - combination.begin) {
			return nil
		}
		for _, command := range x.combinationCommands[combination.begin:combination.end] {
			if err := x.evaluateWeights(command); err != nil {
				return err
			}
		}
	}
	return nil
}

// listCombinations evaluates the guards in a state and lists the combinations of enabled commands.
func (x *expander) listCombinations(state []int32) *StateError {
	x.env.state = state
	x.stopErr = nil
	clear(x.hasWeights)
	for i := range x.enabledCommands {
		x.enabledCommands[i] = x.enabledCommands[i][:0]
	}
	x.model.guards.forEachCandidate(state, func(command *command) {
		if command.guard(&x.env) {
			x.enabledCommands[command.participantNumber] = append(x.enabledCommands[command.participantNumber], command)
		}
	})
	if x.env.err != nil {
		return x.firstGuardError()
	}
	x.combinations, x.combinationCommands = x.combinations[:0], x.combinationCommands[:0]
	for i := range x.model.synchronisations {
		x.addCombinations(&x.model.synchronisations[i])
	}
	return nil
}

// firstGuardError evaluates the guards in the order of the commands, and returns the first error.
func (x *expander) firstGuardError() *StateError {
	x.env.err = nil
	for _, command := range x.model.commands {
		command.guard(&x.env)
	}
	return x.model.takeError(&x.env)
}

// addCombinations appends all combinations of enabled commands to x.combinations. A combination has one command of each participant. The command
// of the first participant varies fastest.
func (x *expander) addCombinations(sync *synchronisation) {
	for i := range sync.participants {
		if len(x.enabledCommands[sync.participants[i].number()]) == 0 {
			return
		}
	}
	firstIndex := len(x.combinations)
	for _, command := range x.enabledOf(&sync.participants[0]) {
		begin := len(x.combinationCommands)
		x.combinationCommands = append(x.combinationCommands, command)
		x.combinations = append(x.combinations, combination{sync.action, begin, begin + 1})
	}
	for i := 1; i < len(sync.participants); i++ { // extend each combination by each command of participant i
		numShorter := len(x.combinations) - firstIndex
		for _, command := range x.enabledOf(&sync.participants[i]) {
			x.extendCombinations(firstIndex, numShorter, command)
		}
		x.combinations = slices.Delete(x.combinations, firstIndex, firstIndex+numShorter)
	}
}

// enabledOf returns the enabled commands of a participant in the order of the model.
func (x *expander) enabledOf(participant *participant) []*command {
	enabled := x.enabledCommands[participant.number()]
	if !slices.IsSortedFunc(enabled, compareOrder) {
		slices.SortFunc(enabled, compareOrder)
	}
	return enabled
}

// compareOrder compares commands by their order in the model.
func compareOrder(first, second *command) int { return first.commandIndex - second.commandIndex }

// extendCombinations appends copies of count combinations, beginning at the index firstIndex. Each copy has one more command. It stops when the
// context ends.
func (x *expander) extendCombinations(firstIndex, count int, command *command) {
	for _, shorter := range x.combinations[firstIndex : firstIndex+count] {
		if !x.addWork(shorter.end - shorter.begin) {
			return
		}
		begin := len(x.combinationCommands)
		x.combinationCommands = append(x.combinationCommands, x.combinationCommands[shorter.begin:shorter.end]...)
		x.combinationCommands = append(x.combinationCommands, command)
		x.combinations = append(x.combinations, combination{shorter.action, begin, len(x.combinationCommands)})
	}
}

// evaluateWeights stores the probabilities or rates of a command's updates in x.weights. It does so once for each state. It returns an error if
// they are not valid: probabilities that do not sum to 1, or weights that are all 0.
//
// Source: PRISM's checks, reference section 2.4.
func (x *expander) evaluateWeights(command *command) *StateError {
	if x.hasWeights[command.commandIndex] {
		return nil
	}
	sum := 0.0
	for i := range command.updates {
		weight, err := x.evaluateWeight(&command.updates[i])
		if err != nil {
			return err
		}
		x.weights[command.commandIndex][i] = weight
		sum += weight
	}
	switch {
	case sum == 0:
		return x.model.stateError(x.env.state, command.source.Pos, x.model.weightName()+" of every update is zero")
	case !x.model.isContinuous() && !SumsToOne(sum):
		return x.model.stateError(x.env.state, command.source.Pos, fmt.Sprintf("probabilities sum to %v, not to 1", sum))
	}
	x.hasWeights[command.commandIndex] = true
	return nil
}

// evaluateWeight evaluates the probability or rate of an update. It returns an error if the weight is negative, infinite or NaN.
func (x *expander) evaluateWeight(update *update) (float64, *StateError) {
	weight := update.weight(&x.env)
	if err := x.model.takeError(&x.env); err != nil {
		return 0, err
	}
	isFinite := weight <= math.MaxFloat64 // false for NaN
	switch {
	case weight < 0:
		message := fmt.Sprintf("%s %v is negative", x.model.weightName(), weight)
		return 0, x.model.stateError(x.env.state, update.source.Prob.Pos(), message)
	case !isFinite:
		message := fmt.Sprintf("%s %v is not finite", x.model.weightName(), weight)
		return 0, x.model.stateError(x.env.state, update.source.Prob.Pos(), message)
	}
	return weight, nil
}

// weightName returns the word for a weight in messages: rate in a CTMC, otherwise probability.
func (m *Model) weightName() string {
	if m.isContinuous() {
		return "rate"
	}
	return "probability"
}

// SumsToOne reports whether a sum of probabilities is 1 within SumTolerance, relative to the sum, as in PRISM.
func SumsToOne(sum float64) bool { return math.Abs((sum-1)/sum) < SumTolerance }

// addChoice appends the choice that a combination of commands makes. Each combination of their updates whose weight is positive gives a
// transition. It stops when the context ends.
func (x *expander) addChoice(chosen combination) *StateError {
	commands := x.combinationCommands[chosen.begin:chosen.end]
	choice := x.newChoice(chosen)
	first := len(x.transitions)
	x.resetUpdates(commands)
	x.numHashed = 0
	transitionWork := len(commands) + len(x.env.state) // the work for one transition
	for hasNext := true; hasNext && x.addWork(transitionWork); hasNext = nextCombination(commands, x.updates) {
		if weight := x.weight(commands, x.updates); weight > 0 {
			if err := x.addTransition(first, commands, weight); err != nil {
				return err
			}
		}
	}
	choice.Transitions = x.transitions[first:]
	x.choices.List = append(x.choices.List, choice)
	return nil
}

// newChoice returns the choice of a combination of commands, without its transitions.
func (x *expander) newChoice(chosen combination) Choice {
	commands := x.combinationCommands[chosen.begin:chosen.end]
	first := len(x.commandRefs)
	for _, command := range commands {
		x.commandRefs = append(x.commandRefs, CommandRef{command.module, command.index})
	}
	return Choice{Action: chosen.action, Module: ownModule(chosen.action, commands), Commands: x.commandRefs[first:]}
}

// weight returns the product of the weights of some updates, one per command, multiplied in order.
func (x *expander) weight(commands []*command, updates []int) float64 {
	product := x.weights[commands[0].commandIndex][updates[0]]
	for i, command := range commands[1:] {
		product = float64(product * x.weights[command.commandIndex][updates[i+1]])
	}
	return product
}

// nextCombination changes updates to the next combination of one update for each command. The update of the first command varies fastest. After
// the last combination, it sets updates to the first one and returns false.
func nextCombination(commands []*command, updates []int) bool {
	for i, command := range commands {
		updates[i]++
		if updates[i] < len(command.updates) {
			return true
		}
		updates[i] = 0
	}
	return false
}

// addTransition computes the target of the current updates and adds a transition to it. If the choice already has a transition to this target, the
// weight is added to its weight. The transitions of the choice begin at the index firstTransition.
func (x *expander) addTransition(firstTransition int, commands []*command, weight float64) *StateError {
	begin := len(x.targets)
	x.targets = append(x.targets, x.env.state...)
	target := x.targets[begin:]
	if err := x.applyUpdates(target, commands, x.updates); err != nil {
		return err
	}
	if i := x.findTransition(firstTransition, target); i >= 0 {
		x.transitions[i].Weight += weight
		x.targets = x.targets[:begin]
		return nil
	}
	x.transitions = append(x.transitions, Transition{Weight: weight})
	return nil
}

// targetState returns the target of the transition with index i.
func (x *expander) targetState(i int) []int32 {
	numVars := len(x.env.state)
	return x.targets[i*numVars : (i+1)*numVars]
}

// minHashed is the least number of transitions of a choice that need a hash table.
const minHashed = 16

// findTransition returns the index of the transition to a target; -1 if there is none. It searches from the index firstTransition on. Few
// transitions are compared one by one; many are found in a hash table.
func (x *expander) findTransition(firstTransition int, target []int32) int {
	if len(x.transitions)-firstTransition >= minHashed {
		x.updateHashTable(firstTransition)
		_, i := x.findSlot(firstTransition, target)
		return i
	}
	for i := firstTransition; i < len(x.transitions); i++ {
		if slices.Equal(x.targetState(i), target) {
			return i
		}
	}
	return -1
}

// updateHashTable adds the transitions of a choice that are not in the hash table yet. The transitions begin at the index firstTransition. The
// table grows so that at most half of its slots are used.
func (x *expander) updateHashTable(firstTransition int) {
	numTransitions := len(x.transitions) - firstTransition
	if 2*numTransitions > len(x.hashSlots) {
		x.hashSlots = make([]int32, max(4*minHashed, 4*len(x.hashSlots)))
		x.numHashed = 0
	} else if x.numHashed == 0 { // the table has the transitions of an earlier choice
		clear(x.hashSlots)
	}
	for ; x.numHashed < numTransitions; x.numHashed++ {
		slot, _ := x.findSlot(firstTransition, x.targetState(firstTransition+x.numHashed))
		x.hashSlots[slot] = int32(x.numHashed + 1)
	}
}

// findSlot returns the slot of the hash table that has a transition to this target, and the index of the transition. If there is none, it returns a
// free slot and -1. The transitions begin at the index firstTransition.
func (x *expander) findSlot(firstTransition int, target []int32) (slot, transition int) {
	mask := len(x.hashSlots) - 1 // the table size is a power of two
	for slot = int(hashOf(target)) & mask; x.hashSlots[slot] != 0; slot = (slot + 1) & mask {
		i := firstTransition + int(x.hashSlots[slot]) - 1
		if slices.Equal(x.targetState(i), target) {
			return slot, i
		}
	}
	return slot, -1
}

// hashOf returns a hash of a state, by multiplicative hashing.
func hashOf(state []int32) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	hash := uint64(len(state))
	for _, value := range state {
		hash = (hash ^ uint64(uint32(value))) * golden
		hash ^= hash >> 32
	}
	return hash
}

// applyUpdates writes the assigned values of some updates to target. All updates read the state before the transition.
func (x *expander) applyUpdates(target []int32, commands []*command, updates []int) *StateError {
	for i, command := range commands {
		if err := x.applyUpdate(target, command, updates[i]); err != nil {
			return err
		}
	}
	return nil
}

// applyUpdate writes the assigned values of an update to target. A value outside the range of its variable is an error.
func (x *expander) applyUpdate(target []int32, command *command, update int) *StateError {
	variables := x.model.program.Vars
	for _, assignment := range command.updates[update].assignments {
		value := assignment.value(&x.env)
		if x.env.err != nil { // asked here, because a call for each assignment takes time
			return x.model.takeError(&x.env)
		}
		variable := &variables[assignment.slot]
		if value < variable.Low || value > variable.High {
			message := fmt.Sprintf("%s'=%s leaves [%d..%d]", variable.Name, valueText(variable.Type, value), variable.Low, variable.High)
			return x.model.stateError(x.env.state, assignment.source.Pos, message)
		}
		target[assignment.slot] = value
	}
	return nil
}

// setSlices sets the slices of all choices and transitions to the buffers. This is necessary after the buffers have grown, because then they are
// at other addresses.
func (x *expander) setSlices() {
	for i := range x.transitions {
		x.transitions[i].Target = slices.Clip(x.targetState(i))
	}
	commandRefs, transitions := x.commandRefs, x.transitions
	for i := range x.choices.List {
		choice := &x.choices.List[i]
		numCommands, numTransitions := len(choice.Commands), len(choice.Transitions)
		choice.Commands, commandRefs = commandRefs[:numCommands], commandRefs[numCommands:]
		choice.Transitions, transitions = transitions[:numTransitions], transitions[numTransitions:]
	}
}
