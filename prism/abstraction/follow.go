package abstraction

import (
	"encoding/binary"
	"errors"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxSteps is the largest number of steps that Follow reaches. Each becomes a command.
const maxSteps = 10_000

// Step is the choice of a scheduler in all states with the same values of the visible variables.
type Step struct {
	State    []int32         // a valuation; the values of hidden variables do not matter
	Commands []*sema.Command // of the model; several that synchronise
	Choice   int             // a number of the caller
}

// Followed is the model in which only the choices of a scheduler remain.
type Followed struct {
	// Program is the program of this model. Where the choice of the scheduler is not enabled, it has a deadlock.
	Program *sema.Program

	abstraction *Abstraction
	steps       []step         // those that may be reached
	numbers     map[string]int // the number of a step by the values of the visible variables
}

// step is a Step that may be reached.
type step struct {
	source   *Step
	guard    []sema.Expr // the conjuncts that read hidden variables
	updates  []sema.Update
	next     []int  // by update: the number of the step that follows; -1 for none
	liveness []bool // by slot: a hidden variable that this step or a later one reads before it is written
}

// Follow returns the model that makes only the choices in steps, which are the choices of a scheduler. A hidden variable is reset to its initial value when no
// later choice reads it. It returns an error if the new value of a variable cannot be computed, or if the scheduler makes too many choices.
func (a *Abstraction) Follow(steps []Step) (*Followed, error) {
	followed := &Followed{abstraction: a, numbers: map[string]int{}}
	sources := make(map[string]*Step, len(steps))
	for i := range steps {
		sources[a.key(steps[i].State)] = &steps[i]
	}
	initial := make([]int32, len(a.program.Vars))
	for slot := range initial {
		initial[slot] = a.program.Vars[slot].Init
	}
	followed.addStep(sources, initial)
	for i := 0; i < len(followed.steps); i++ {
		if err := followed.findNext(i, sources); err != nil {
			return nil, err
		}
		if len(followed.steps) > maxSteps {
			return nil, errors.New("the scheduler makes too many choices")
		}
	}
	followed.findLive()
	followed.Program = followed.newProgram()
	return followed, nil
}

// key returns the values of the visible variables of a state as a string.
func (a *Abstraction) key(state []int32) string {
	var key []byte
	for slot, isVisible := range a.isVisible {
		if isVisible {
			key = binary.LittleEndian.AppendUint32(key, uint32(state[slot]))
		}
	}
	return string(key)
}

// addStep returns the index in f.steps of the scheduler's step in a state, and appends the step if it is new. It returns -1 if the scheduler makes no choice in
// the state. sources has the choices of the scheduler, by the values of the visible variables (see Abstraction.key).
func (f *Followed) addStep(sources map[string]*Step, state []int32) int {
	key := f.abstraction.key(state)
	source, ok := sources[key]
	if !ok {
		return -1
	}
	number, ok := f.numbers[key]
	if !ok {
		number = len(f.steps)
		f.numbers[key] = number
		added := step{source: source, updates: jointUpdates(source.Commands), liveness: make([]bool, len(state))}
		for _, command := range source.Commands {
			_, hidden := f.abstraction.split(command.Guard)
			added.guard = append(added.guard, hidden...)
		}
		f.steps = append(f.steps, added)
	}
	return number
}

// jointUpdates returns the updates of commands that synchronise: each combination of one update per command, with the product of the probabilities.
func jointUpdates(commands []*sema.Command) []sema.Update {
	joint := commands[0].Updates
	for _, command := range commands[1:] {
		var products []sema.Update
		for _, left := range joint {
			for _, right := range command.Updates {
				products = append(products, sema.Update{
					Prob:    &sema.Binary{Base: sema.Base{ValueType: sema.Double, Position: left.Pos}, Op: syntax.OpMul, X: left.Prob, Y: right.Prob},
					Assigns: append(slices.Clip(left.Assigns), right.Assigns...),
					Pos:     left.Pos,
				})
			}
		}
		joint = products
	}
	return joint
}

// findNext finds the step after each update of step number index: the scheduler's step in the state that the update leads to. It appends steps that are new to
// f.steps. sources has the step of the scheduler in each state, by the text of the state.
func (f *Followed) findNext(index int, sources map[string]*Step) error {
	state := f.steps[index].source.State
	for _, update := range f.steps[index].updates {
		target := slices.Clone(state)
		for _, assign := range update.Assigns {
			if !f.abstraction.isVisible[assign.Slot] {
				continue
			}
			value, err := sema.Eval(assign.Value, state)
			if err != nil {
				return err
			}
			target[assign.Slot] = value.InState()
		}
		next := f.addStep(sources, target)
		f.steps[index].next = append(f.steps[index].next, next)
	}
	return nil
}

// findLive computes the hidden variables that are live before each step: the step, or a later step, reads them before a step writes them. It begins with the
// variables that the step itself reads, and then propagates them backwards until nothing changes.
func (f *Followed) findLive() {
	for i := range f.steps {
		step := &f.steps[i]
		for _, conjunct := range step.guard {
			f.addHidden(step.liveness, conjunct)
		}
		for _, update := range step.updates {
			for _, assign := range update.Assigns {
				f.addHidden(step.liveness, assign.Value)
			}
		}
	}
	for isChanged := true; isChanged; {
		isChanged = false
		for i := len(f.steps) - 1; i >= 0; i-- {
			if f.propagateLive(&f.steps[i]) {
				isChanged = true
			}
		}
	}
}

// propagateLive adds to the live variables before a step those that are live before a next step and that the step's update does not write. isChanged reports
// whether it has added a variable.
func (f *Followed) propagateLive(step *step) (isChanged bool) {
	for i, next := range step.next {
		if next < 0 {
			continue
		}
		for slot, isLive := range f.steps[next].liveness {
			if isLive && !step.liveness[slot] && !writes(&step.updates[i], slot) {
				step.liveness[slot], isChanged = true, true
			}
		}
	}
	return isChanged
}

// writes reports whether an update assigns a variable.
func writes(update *sema.Update, slot int) bool {
	return slices.ContainsFunc(update.Assigns, func(assign sema.Assign) bool { return assign.Slot == slot })
}

// addHidden adds the hidden variables of an expression to live variables.
func (f *Followed) addHidden(live []bool, expr sema.Expr) {
	for _, slot := range f.abstraction.hiddenOf(expr) {
		live[slot] = true
	}
}

// newProgram returns a program of one module with one command for each step. The guard of the command requires the values that the visible variables have in
// the step, and the conditions on hidden variables that the scheduler's choice needs.
func (f *Followed) newProgram() *sema.Program {
	program := *f.abstraction.program
	program.Rewards = nil
	program.Modules = []sema.Module{{}}
	for i := range f.steps {
		step := &f.steps[i]
		pos := step.source.Commands[0].Pos
		command := sema.Command{Action: sema.Unlabelled, Pos: pos}
		var guard []sema.Expr
		for slot, isVisible := range f.abstraction.isVisible {
			if isVisible {
				guard = append(guard, f.equals(slot, step.source.State[slot], pos))
			}
		}
		command.Guard = conjunction(append(guard, step.guard...), pos)
		for j := range step.updates {
			command.Updates = append(command.Updates, f.withoutDead(&step.updates[j], step.next[j]))
		}
		program.Modules[0].Commands = append(program.Modules[0].Commands, command)
	}
	return &program
}

// withoutDead returns an update that gives dead hidden variables their initial values, because no later step reads them. next is the number of the next step;
// -1 if there is none.
func (f *Followed) withoutDead(update *sema.Update, next int) sema.Update {
	result := *update
	isReset := func(slot int) bool {
		isLive := next >= 0 && f.steps[next].liveness[slot]
		return !f.abstraction.isVisible[slot] && !isLive
	}
	result.Assigns = slices.DeleteFunc(slices.Clone(update.Assigns), func(assign sema.Assign) bool { return isReset(assign.Slot) })
	for slot := range f.abstraction.program.Vars {
		if isReset(slot) {
			result.Assigns = append(result.Assigns, sema.Assign{Slot: slot, Value: f.valueOf(slot, f.abstraction.program.Vars[slot].Init, update.Pos), Pos: update.Pos})
		}
	}
	return result
}

// equals returns the condition that a variable has a value.
func (f *Followed) equals(slot int, value int32, pos syntax.Pos) sema.Expr {
	variable := &sema.Var{Base: sema.Base{ValueType: f.abstraction.program.Vars[slot].Type, Position: pos}, Slot: slot}
	return &sema.Binary{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Op: syntax.OpEq, X: variable, Y: f.valueOf(slot, value, pos)}
}

// valueOf returns a stored value of a variable as an expression of the variable's type.
func (f *Followed) valueOf(slot int, stored int32, pos syntax.Pos) sema.Expr {
	return sema.ConstantExpr(sema.ValueInState(f.abstraction.program.Vars[slot].Type, stored), pos)
}

// Blocked returns the scheduler's choice in a state of Followed.Program if this choice is not enabled there. hidden has the hidden variables in the conditions
// that do not hold. It returns nil if the choice is enabled, or if the scheduler makes no choice.
func (f *Followed) Blocked(state []int32) (source *Step, hidden []int) {
	number, ok := f.numbers[f.abstraction.key(state)]
	if !ok {
		return nil, nil
	}
	for _, conjunct := range f.steps[number].guard {
		if value, err := sema.Eval(conjunct, state); err != nil || !value.Bool {
			hidden = append(hidden, f.abstraction.hiddenOf(conjunct)...)
		}
	}
	if len(hidden) == 0 {
		return nil, nil
	}
	return f.steps[number].source, hidden
}
