package stubborn

import (
	"math"
	"math/bits"
	"slices"
)

// Executor executes commands immediately. It is not safe for concurrent use.
type Executor struct {
	reduction    *Reduction
	holds        []bool // for each condition in reduction.boxIndices: whether the box contains the state
	enabled      set    // commands that are enabled in the state
	maybeEnabled set    // commands of which it is not known whether they are enabled in the state

	stubborn set   // the part of the stubborn set that has been found
	pending  []int // commands in stubborn for which the set may lack other commands

	savedState    []int32 // of Brent's algorithm
	smallestState []int32 // of the part of a cycle that has been visited

	enablers       set // of one false conjunct of a guard: new commands that may make the conjunct true
	fewestEnablers set // the smallest value of enablers for the conjuncts of the guard
	numFewest      int // the number of commands in fewestEnablers
}

// NewExecutor returns an executor.
func (r *Reduction) NewExecutor() *Executor {
	n, numVars := len(r.commands), len(r.program.Vars)
	return &Executor{
		reduction: r, holds: make([]bool, len(r.conditions)), enabled: newSet(n), maybeEnabled: newSet(n), stubborn: newSet(n),
		savedState: make([]int32, numVars), smallestState: make([]int32, numVars), enablers: newSet(n), fewestEnablers: newSet(n),
	}
}

// Execute changes state by executing commands, until no command can be executed immediately. There are two exceptions:
//   - If the execution enters a cycle, state becomes the lexicographically smallest state of the cycle. It does not depend on where the cycle was entered.
//   - If a state decides the property, later steps do not matter. Execute then sets the variables that the property does not read to their initial values.
func (x *Executor) Execute(state []int32) {
	copy(x.savedState, state)
	// Find a cycle by Brent's algorithm: compare each state with a saved state, which is replaced by the current state after 1, 2, 4, ... steps.
	// Source: Brent, An improved Monte Carlo factorization algorithm, 1980.
	stepsSinceSave, stepsUntilSave := 0, 1
	for {
		if x.reduction.isDecided(state) {
			x.reduction.resetUnobserved(state)
			return
		}
		if !x.step(state) {
			return
		}
		if slices.Equal(state, x.savedState) {
			x.goToSmallest(state)
			return
		}
		if stepsSinceSave++; stepsSinceSave == stepsUntilSave {
			copy(x.savedState, state)
			stepsSinceSave, stepsUntilSave = 0, 2*stepsUntilSave
		}
	}
}

// goToSmallest replaces a state of a cycle by the lexicographically smallest state of the cycle. x.savedState must be equal to state.
func (x *Executor) goToSmallest(state []int32) {
	copy(x.smallestState, state)
	for x.step(state) && !slices.Equal(state, x.savedState) {
		if slices.Compare(state, x.smallestState) < 0 {
			copy(x.smallestState, state)
		}
	}
	copy(state, x.smallestState)
}

// step executes the first command that can be executed immediately, and writes the new state to state. It returns false if there is no such command.
func (x *Executor) step(state []int32) bool {
	x.findEnabled(state)
	hasOneSuccessor := x.haveSameEffect()
	for i := range x.enabled.all() {
		c := x.reduction.commands[i]
		if !hasOneSuccessor && !x.reduction.candidates.has(i) || !x.staysInRange(state, c) {
			continue
		}
		if hasOneSuccessor || x.hasStubbornSet(state, i) {
			for slot, change := range c.changes[0] {
				state[slot] += change
			}
			return true
		}
	}
	return false
}

// haveSameEffect reports whether all enabled commands change the state in the same way, so that the model has only one next state. Such a step may change
// variables that the property reads, because the property is not decided in the present state.
func (x *Executor) haveSameEffect() bool {
	if !x.maybeEnabled.isEmpty() {
		return false
	}
	var first *command
	for i := range x.enabled.all() {
		c := x.reduction.commands[i]
		if first == nil {
			first = c
		}
		if len(c.changes[0]) == 0 || !c.hasSameEffect(first) {
			return false
		}
	}
	return first != nil
}

// staysInRange reports whether a command keeps all variables in their ranges. Otherwise the model has an error, which its exploration reports.
func (x *Executor) staysInRange(state []int32, c *command) bool {
	for slot, change := range c.changes[0] {
		variable := &x.reduction.program.Vars[slot]
		if value := int64(state[slot]) + int64(change); value < int64(variable.Low) || value > int64(variable.High) {
			return false
		}
	}
	return true
}

// findEnabled computes x.holds, x.enabled and x.maybeEnabled for a state. Commands of low priority are in neither set of commands, because they are disabled
// whenever a plain command is enabled.
func (x *Executor) findEnabled(state []int32) {
	r := x.reduction
	for _, box := range r.boxIndices {
		x.holds[box] = holds(r.conditions[box].intervals, state)
	}
	clear(x.enabled)
	clear(x.maybeEnabled)
	for i, c := range r.commands {
		isFalseNegation := func(negatedIndex int) bool { return x.holds[negatedIndex] }
		switch {
		case r.lowPriority.has(i) || !x.holds[c.boxIndex] || slices.ContainsFunc(c.guard.negated, isFalseNegation):
		case c.isPlain:
			x.enabled.add(i)
		default:
			x.maybeEnabled.add(i)
		}
	}
}

// hasStubbornSet reports whether the state has a stubborn set that contains the candidate, and in which all enabled commands have the effect of the
// candidate.
//
// It computes the smallest set that the rules require: it adds the commands on which the candidate depends and, for each disabled command of the set, the
// commands that may enable it, until nothing is missing. It stops at the first command that is or may be enabled and has another effect.
func (x *Executor) hasStubbornSet(state []int32, candidate int) bool {
	r := x.reduction
	clear(x.stubborn)
	x.stubborn.add(candidate)
	x.pending = x.pending[:0]
	x.addToStubborn(r.dependent[candidate])
	for len(x.pending) > 0 {
		i := x.pending[len(x.pending)-1]
		x.pending = x.pending[:len(x.pending)-1]
		switch {
		case x.maybeEnabled.has(i):
			return false
		case !x.enabled.has(i):
			x.addEnablers(state, i, candidate)
		case !r.commands[i].hasSameEffect(r.commands[candidate]):
			return false
		}
	}
	return true
}

// addToStubborn adds commands to the stubborn set. It also adds new commands to x.pending.
func (x *Executor) addToStubborn(commands set) {
	for i := range commands.all() {
		if !x.stubborn.has(i) {
			x.stubborn.add(i)
			x.pending = append(x.pending, i)
		}
	}
}

// addEnablers adds commands that may enable a disabled command to the stubborn set. It is enough to add the commands that may make one false conjunct of
// the guard true. addEnablers selects the conjunct that needs the fewest new commands.
func (x *Executor) addEnablers(state []int32, disabled, candidate int) {
	r := x.reduction
	guard := r.commands[disabled].guard
	x.numFewest = math.MaxInt
	for _, required := range guard.intervals {
		switch {
		case state[required.slot] < required.low:
			x.compareEnablers(r.increasingVariable[required.slot], candidate)
		case state[required.slot] > required.high:
			x.compareEnablers(r.decreasingVariable[required.slot], candidate)
		}
	}
	for _, negatedIndex := range guard.negated {
		if x.holds[negatedIndex] {
			x.compareEnablers(r.leavingBox[negatedIndex], candidate)
		}
	}
	x.addToStubborn(x.fewestEnablers)
}

// compareEnablers removes from a set of commands those that are in the stubborn set, and those that are disabled until the candidate is executed. If the
// rest is smaller than x.fewestEnablers, it replaces this set.
func (x *Executor) compareEnablers(commands set, candidate int) {
	count := 0
	for i, word := range commands { // a word is a set of 64 commands
		x.enablers[i] = word &^ (x.stubborn[i] | x.reduction.disabledMeanwhile[candidate][i])
		count += bits.OnesCount64(x.enablers[i])
	}
	if count < x.numFewest {
		x.numFewest = count
		copy(x.fewestEnablers, x.enablers)
	}
}
