package cartesian

import (
	"math/bits"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxValues is the number of values up to which a variable has a set of values. A variable with more is not observed: it may have any value.
const maxValues = 64

// Abstraction decides for states of one program whether a target may be reachable. It is not safe for concurrent use.
type Abstraction struct {
	vars     []sema.Variable
	target   []condition
	commands []command

	values  []valueSet // of each variable, by slot, for the present state
	pending []int      // commands that may still add values
}

// valueSet is a set of values of a variable: bit i is for its least value plus i.
type valueSet uint64

// condition is a conjunct that reads one observed variable: the values for which it is true.
type condition struct {
	slot   int
	values valueSet
}

// command is a command of the program: the conjuncts of its guard that read one observed variable, and the assignments of all its updates.
type command struct {
	guard       []condition
	assignments []assignment
	isConstant  bool // it always adds the same values
}

// assignment adds values to a variable. images has one entry if they are the same in all states, and otherwise one for each value of the variable source.
type assignment struct {
	slot, source int
	images       []valueSet
}

// New returns the abstraction for a target, which is a formula over variables. It returns nil if no conjunct of the target reads a single variable with at most
// maxValues values: then every state may reach it.
func New(program *sema.Program, target sema.Expr) *Abstraction {
	a := &Abstraction{vars: program.Vars, values: make([]valueSet, len(program.Vars))}
	a.target, _ = a.conditions(nil, target)
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

// addCommand adds a command of the program, unless it is never enabled or assigns to no observed variable.
func (a *Abstraction) addCommand(source *sema.Command) {
	guard, isSatisfiable := a.conditions(nil, source.Guard)
	if !isSatisfiable {
		return
	}
	created := command{guard: guard, isConstant: true}
	for _, update := range source.Updates {
		for _, assign := range update.Assigns {
			if !a.isObserved(assign.Slot) {
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

// isObserved reports whether a variable has a set of values.
func (a *Abstraction) isObserved(slot int) bool {
	variable := &a.vars[slot]
	return variable.IsBounded && int64(variable.High)-int64(variable.Low) < maxValues
}

// allValues returns all values of an observed variable.
func (a *Abstraction) allValues(slot int) valueSet {
	return ^valueSet(0) >> (maxValues - 1 - (a.vars[slot].High - a.vars[slot].Low))
}

// valueAt returns the set of one value of an observed variable. It is empty if the value is outside of the variable's range.
func (a *Abstraction) valueAt(slot int, value int32) valueSet {
	if value < a.vars[slot].Low || value > a.vars[slot].High {
		return 0
	}
	return 1 << (value - a.vars[slot].Low)
}

// conditions appends the conjuncts of a formula that read one observed variable. isSatisfiable is false if a conjunct is never true.
func (a *Abstraction) conditions(found []condition, formula sema.Expr) (_ []condition, isSatisfiable bool) {
	if and, ok := formula.(*sema.Binary); ok && and.Op == syntax.OpAnd {
		found, isLeft := a.conditions(found, and.X)
		found, isRight := a.conditions(found, and.Y)
		return found, isLeft && isRight
	}
	slots := sema.SlotsOf(formula)
	if len(slots) == 0 {
		value, err := sema.Eval(formula, nil)
		return found, err != nil || value.Bool
	}
	if len(slots) != 1 || !a.isObserved(slots[0]) {
		return found, true
	}
	holds := condition{slot: slots[0]}
	a.evaluate(formula, holds.slot, func(set valueSet, value sema.Value, err error) {
		if err != nil || value.Bool { // an error is reported when the state is explored
			holds.values |= set
		}
	})
	return append(found, holds), holds.values != 0
}

// evaluate evaluates an expression that reads one observed variable, for each value of this variable.
func (a *Abstraction) evaluate(expr sema.Expr, slot int, use func(set valueSet, value sema.Value, err error)) {
	state := make([]int32, len(a.vars))
	for set := a.allValues(slot); set != 0; set &= set - 1 {
		state[slot] = a.vars[slot].Low + int32(bits.TrailingZeros64(uint64(set)))
		value, err := sema.Eval(expr, state)
		use(set&-set, value, err)
	}
}

// newAssignment returns an assignment to an observed variable, in a command with the given guard. Values that it cannot compute stand for all values.
func (a *Abstraction) newAssignment(source *sema.Assign, guard []condition) assignment {
	all := a.allValues(source.Slot)
	image := func(value sema.Value, err error) valueSet {
		if err != nil {
			return all
		}
		return a.valueAt(source.Slot, value.InState()) // nothing outside of the range: such an update is an error of the model
	}
	slots := sema.SlotsOf(source.Value)
	switch {
	case len(slots) == 0:
		return assignment{slot: source.Slot, images: []valueSet{image(sema.Eval(source.Value, nil))}}
	case len(slots) > 1 || !a.isObserved(slots[0]):
		return assignment{slot: source.Slot, images: []valueSet{all}}
	}
	created := assignment{slot: source.Slot, source: slots[0]}
	permitted := a.allValues(created.source)
	for _, conjunct := range guard {
		if conjunct.slot == created.source {
			permitted &= conjunct.values
		}
	}
	a.evaluate(source.Value, created.source, func(set valueSet, value sema.Value, err error) {
		if set&permitted == 0 {
			created.images = append(created.images, 0)
			return
		}
		created.images = append(created.images, image(value, err))
	})
	return created
}

// MayReach reports whether a path from a state may reach the target. If it returns false, no path does.
func (a *Abstraction) MayReach(state []int32) bool {
	for slot, value := range state {
		a.values[slot] = 0
		if a.isObserved(slot) {
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

// addValues adds the values that the commands assign which may be enabled, and reports whether some are new. A command that always adds the same values is
// no longer pending after it.
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
