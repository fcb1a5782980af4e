package cartesian

import (
	"iter"
	"math/bits"

	"tilecheck/prism/sema"
)

// maxValues is the number of values up to which a variable is tracked: it has a set of values. A variable with more is assumed to have any value.
const maxValues = 64

// Abstraction tells from which states of a program a path may reach a target. It is not safe for concurrent use.
type Abstraction struct {
	vars     []sema.Variable
	target   []condition
	commands []command

	values  []valueSet // of each variable, by slot, for the present state
	pending []int      // commands that may still add values
}

// valueSet is a set of values of a variable: bit i is for its least value plus i.
type valueSet uint64

// condition is a conjunct that reads one tracked variable: the values for which it may be true.
type condition struct {
	slot   int
	values valueSet
}

// command is a command of the program: the conjuncts of its guard that read one tracked variable, and the assignments of all its updates to tracked
// variables.
type command struct {
	guard       []condition
	assignments []assignment
	isConstant  bool // it always adds the same values
}

// assignment adds values to a variable. images has one entry if they do not depend on the state, and otherwise one for each value of the variable source.
type assignment struct {
	slot, source int
	images       []valueSet
}

// New returns the abstraction for a target, which is a formula over variables. It returns nil if no conjunct of the target reads a single variable with at most
// maxValues values: then every state may reach it.
func New(program *sema.Program, target sema.Expr) *Abstraction {
	a := &Abstraction{vars: program.Vars, values: make([]valueSet, len(program.Vars))}
	a.target, _ = a.conditions(target)
	if len(a.target) == 0 {
		return nil
	}
	for _, module := range program.Modules {
		for i := range module.Commands {
			a.addCommand(&module.Commands[i])
		}
	}
	return a
}

// addCommand adds a command of the program, unless it is never enabled or assigns to no tracked variable.
func (a *Abstraction) addCommand(source *sema.Command) {
	guard, isSatisfiable := a.conditions(source.Guard)
	if !isSatisfiable {
		return
	}
	created := command{guard: guard, isConstant: true}
	for _, update := range source.Updates {
		for _, assign := range update.Assigns {
			if !a.isTracked(assign.Slot) {
				continue
			}
			added := a.newAssignment(&assign, guard)
			created.isConstant = created.isConstant && len(added.images) == 1
			created.assignments = append(created.assignments, added)
		}
	}
	if len(created.assignments) > 0 {
		a.commands = append(a.commands, created)
	}
}

// isTracked reports whether a variable has a set of values: whether it has at most maxValues of them.
func (a *Abstraction) isTracked(slot int) bool {
	variable := &a.vars[slot]
	return variable.IsBounded && int64(variable.High)-int64(variable.Low) < maxValues
}

// allValues returns all values of a tracked variable.
func (a *Abstraction) allValues(slot int) valueSet {
	return ^valueSet(0) >> (maxValues - 1 - (a.vars[slot].High - a.vars[slot].Low))
}

// valueAt returns the set of one value of a tracked variable. It is empty if the value is outside of the variable's range.
func (a *Abstraction) valueAt(slot int, value int32) valueSet {
	if value < a.vars[slot].Low || value > a.vars[slot].High {
		return 0
	}
	return 1 << (value - a.vars[slot].Low)
}

// conditions returns the conjuncts of a formula that read one tracked variable. isSatisfiable is false if a conjunct is never true.
func (a *Abstraction) conditions(formula sema.Expr) (found []condition, isSatisfiable bool) {
	isSatisfiable = true
	for _, conjunct := range sema.Conjuncts(formula) {
		slots := sema.SlotsOf(conjunct)
		switch {
		case len(slots) == 0:
			isSatisfiable = isSatisfiable && mayBeTrue(conjunct, nil)
		case len(slots) == 1 && a.isTracked(slots[0]):
			holds := condition{slot: slots[0]}
			for set, state := range a.states(holds.slot) {
				if mayBeTrue(conjunct, state) {
					holds.values |= set
				}
			}
			found, isSatisfiable = append(found, holds), isSatisfiable && holds.values != 0
		}
	}
	return found, isSatisfiable
}

// mayBeTrue evaluates a formula as the exploration does, in rational arithmetic. Without a value, it may be true: an error is reported when the state is explored.
func mayBeTrue(formula sema.Expr, state []int32) bool {
	value, isExact, err := sema.EvalExact(formula, state)
	return err != nil || !isExact || value.Bool
}

// states iterates over the values of a tracked variable, each with a valuation in which the other variables are 0.
func (a *Abstraction) states(slot int) iter.Seq2[valueSet, []int32] {
	return func(yield func(valueSet, []int32) bool) {
		state := make([]int32, len(a.vars))
		for set := a.allValues(slot); set != 0; set &= set - 1 {
			state[slot] = a.vars[slot].Low + int32(bits.TrailingZeros64(uint64(set)))
			if !yield(set&-set, state) {
				return
			}
		}
	}
}

// newAssignment returns an assignment to a tracked variable, in a command with the given guard. A value that cannot be computed stands for all values.
func (a *Abstraction) newAssignment(source *sema.Assign, guard []condition) assignment {
	all := a.allValues(source.Slot)
	image := func(state []int32) valueSet {
		value, isExact, err := sema.EvalExact(source.Value, state)
		if err != nil || !isExact {
			return all
		}
		return a.valueAt(source.Slot, value.InState()) // nothing outside of the range: such an update is an error of the model
	}
	slots := sema.SlotsOf(source.Value)
	switch {
	case len(slots) == 0:
		return assignment{slot: source.Slot, images: []valueSet{image(nil)}}
	case len(slots) > 1 || !a.isTracked(slots[0]):
		return assignment{slot: source.Slot, images: []valueSet{all}}
	}
	created := assignment{slot: source.Slot, source: slots[0]}
	permitted := a.allValues(created.source)
	for _, conjunct := range guard {
		if conjunct.slot == created.source {
			permitted &= conjunct.values
		}
	}
	for set, state := range a.states(created.source) {
		reached := valueSet(0) // none: the guard does not hold
		if set&permitted != 0 {
			reached = image(state)
		}
		created.images = append(created.images, reached)
	}
	return created
}

// MayReach reports whether a path from a state may reach the target. If it returns false, no path does.
func (a *Abstraction) MayReach(state []int32) bool {
	for slot, value := range state {
		a.values[slot] = 0
		if a.isTracked(slot) {
			a.values[slot] = a.valueAt(slot, value)
		}
	}
	a.pending = a.pending[:0]
	for i := range a.commands {
		a.pending = append(a.pending, i)
	}
	for isChanged := true; isChanged; {
		if a.mayHold(a.target) {
			return true
		}
		isChanged = a.addValues()
	}
	return false
}

// mayHold reports whether each conjunct is true for some present values.
func (a *Abstraction) mayHold(conjuncts []condition) bool {
	for _, conjunct := range conjuncts {
		if a.values[conjunct.slot]&conjunct.values == 0 {
			return false
		}
	}
	return true
}

// addValues executes each pending command whose guard may hold, and reports whether it adds new values. A command that always adds the same values is no
// longer pending after it.
func (a *Abstraction) addValues() (isChanged bool) {
	remaining := a.pending[:0]
	for _, i := range a.pending {
		if !a.mayHold(a.commands[i].guard) {
			remaining = append(remaining, i)
			continue
		}
		for j := range a.commands[i].assignments {
			isChanged = a.assign(&a.commands[i].assignments[j]) || isChanged
		}
		if !a.commands[i].isConstant {
			remaining = append(remaining, i)
		}
	}
	a.pending = remaining
	return isChanged
}

// assign adds the values of an assignment to its variable, and reports whether some are new.
func (a *Abstraction) assign(assignment *assignment) (isChanged bool) {
	added := assignment.images[0]
	if len(assignment.images) > 1 {
		added = 0
		for sources := a.values[assignment.source]; sources != 0; sources &= sources - 1 {
			added |= assignment.images[bits.TrailingZeros64(uint64(sources))]
		}
	}
	before := a.values[assignment.slot]
	a.values[assignment.slot] |= added
	return a.values[assignment.slot] != before
}
