package stubborn

import (
	"math/bits"
	"slices"
)

// Executor executes commands at once. It is not safe for concurrent use.
type Executor struct {
	reduction *Reduction
	holds     []bool // which boxes hold in the state
	enabled   set
	unknown   set   // commands that may be enabled
	stubborn  set   // the stubborn set so far
	pending   []int // its commands whose dependences are not yet in it
	anchor    []int32
	least     []int32
	best      set
	option    set
}

// NewExecutor returns an executor.
func (r *Reduction) NewExecutor() *Executor {
	n, numVars := len(r.commands), len(r.program.Vars)
	return &Executor{
		reduction: r, holds: make([]bool, len(r.conditions)), enabled: newSet(n), unknown: newSet(n), stubborn: newSet(n),
		anchor: make([]int32, numVars), least: make([]int32, numVars), best: newSet(n), option: newSet(n),
	}
}

// Execute executes commands in a state and changes state accordingly, as long as a command can be executed at once. If this repeats forever, state becomes the
// least state of the cycle, so the result does not depend on where the cycle was entered. If the property is decided in a state, the variables that it does not
// read are reset, because later steps do not matter.
func (x *Executor) Execute(state []int32) {
	copy(x.anchor, state)
	// Find a cycle by Brent's algorithm: compare each state with an anchor, which moves to the current state after 1, 2, 4, ... steps.
	// Source: Brent, An improved Monte Carlo factorization algorithm, 1980.
	numSteps, untilAnchor := 0, 1
	for {
		if x.reduction.isDecided(state) {
			x.reduction.resetUnobserved(state)
			return
		}
		if !x.step(state) {
			return
		}
		if slices.Equal(state, x.anchor) {
			x.findLeast(state)
			return
		}
		if numSteps++; numSteps == untilAnchor {
			copy(x.anchor, state)
			numSteps, untilAnchor = 0, 2*untilAnchor
		}
	}
}

// findLeast replaces a state of a cycle by the least state of the cycle in lexicographic order. x.anchor must be the same state.
func (x *Executor) findLeast(state []int32) {
	copy(x.least, state)
	for x.step(state) && !slices.Equal(state, x.anchor) {
		if slices.Compare(state, x.least) < 0 {
			copy(x.least, state)
		}
	}
	copy(state, x.least)
}

// step executes the first command that can be executed at once, and writes the new state to state. It returns false if there is no such command.
func (x *Executor) step(state []int32) bool {
	r := x.reduction
	x.findEnabled(state)
	isForced := x.haveOneEffect()
	for i := range x.enabled.all() {
		c := r.commands[i]
		if (isForced || r.candidates.has(i)) && x.staysInRange(state, c) && (isForced || x.isAlone(state, i)) {
			for slot, by := range c.changes[0] {
				state[slot] += by
			}
			return true
		}
	}
	return false
}

// haveOneEffect reports whether all enabled commands change the state in the same way, so that the model has only one next state. Such a step may change
// variables that the property reads, because the property is not decided in the present state.
func (x *Executor) haveOneEffect() bool {
	if !x.unknown.isEmpty() {
		return false
	}
	var first *command
	for i := range x.enabled.all() {
		c := x.reduction.commands[i]
		if first == nil {
			first = c
		}
		if len(c.changes[0]) == 0 || !c.hasEffectOf(first) {
			return false
		}
	}
	return first != nil
}

// staysInRange reports whether a command keeps all variables in their ranges. A command that does not is left to the exploration of the model, which reports
// the error.
func (x *Executor) staysInRange(state []int32, c *command) bool {
	for slot, by := range c.changes[0] {
		variable := &x.reduction.program.Vars[slot]
		if value := int64(state[slot]) + int64(by); value < int64(variable.Low) || value > int64(variable.High) {
			return false
		}
	}
	return true
}

// findEnabled sets x.holds to the boxes that contain a state, x.enabled to the commands that are certainly enabled, and x.unknown to the commands that may be
// enabled. Waiting commands are in neither set, because they are disabled whenever a plain command is enabled.
func (x *Executor) findEnabled(state []int32) {
	r := x.reduction
	for _, box := range r.boxes {
		x.holds[box] = holds(r.conditions[box].intervals, state)
	}
	clear(x.enabled)
	clear(x.unknown)
	for i, c := range r.commands {
		isBlocked := func(negated int) bool { return x.holds[negated] }
		switch {
		case r.waiting.has(i) || !x.holds[c.box] || slices.ContainsFunc(c.parts.negated, isBlocked):
		case c.isPlain:
			x.enabled.add(i)
		default:
			x.unknown.add(i)
		}
	}
}

// isAlone reports whether a stubborn set of the state contains the candidate, and no enabled command with another effect. It adds commands to the set until
// nothing is missing: those that depend on the candidate, and those that may enable a disabled command of the set.
func (x *Executor) isAlone(state []int32, candidate int) bool {
	r := x.reduction
	clear(x.stubborn)
	x.stubborn.add(candidate)
	x.pending = x.pending[:0]
	x.include(r.dependent[candidate])
	for len(x.pending) > 0 {
		i := x.pending[len(x.pending)-1]
		x.pending = x.pending[:len(x.pending)-1]
		switch {
		case x.unknown.has(i):
			return false
		case !x.enabled.has(i):
			x.includeEnablers(state, i, candidate)
		case !r.commands[i].hasEffectOf(r.commands[candidate]):
			return false
		}
	}
	return true
}

// include adds commands to the stubborn set. New commands are also added to x.pending, because the commands on which they depend may be missing.
func (x *Executor) include(commands set) {
	for i := range commands.all() {
		if !x.stubborn.has(i) {
			x.stubborn.add(i)
			x.pending = append(x.pending, i)
		}
	}
}

// includeEnablers adds, for a disabled command, the commands that may enable it to the stubborn set. It is enough to add those that may make one false conjunct
// of the guard true. It selects the conjunct that needs the fewest new commands.
func (x *Executor) includeEnablers(state []int32, disabled, candidate int) {
	r := x.reduction
	parts := r.commands[disabled].parts
	fewest := -1
	consider := func(enablers set) {
		count := 0
		for w := range enablers {
			x.option[w] = enablers[w] &^ (x.stubborn[w] | r.excluded[candidate][w])
			count += bits.OnesCount64(x.option[w])
		}
		if fewest < 0 || count < fewest {
			fewest = count
			copy(x.best, x.option)
		}
	}
	for _, part := range parts.intervals {
		switch {
		case state[part.slot] < part.low:
			consider(r.increasing[part.slot])
		case state[part.slot] > part.high:
			consider(r.decreasing[part.slot])
		}
	}
	for _, negated := range parts.negated {
		if x.holds[negated] {
			consider(r.leavers[negated])
		}
	}
	x.include(x.best)
}
