package digital

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Model is the MDP of a timed automaton, with the property about it.
type Model struct {
	Program  *sema.Program
	Property sema.Property
	// Invariants is the conjunction of all invariants, over the states of Program.
	Invariants sema.Expr
	// Key is equal for two translations whose MDPs are equal except for their labels.
	Key string
}

// Error is the error for a feature that digital clocks do not support.
type Error struct {
	File string // empty for the file of the property
	Pos  syntax.Pos
	Msg  string
	// Always says that PRISM has no other method for the feature either.
	Always bool
}

func (e *Error) Error() string { return e.Msg }

// translation holds the state of one call of Translate.
type translation struct {
	source *sema.Program
	result *sema.Program
	clocks map[int]*clock // by slot
	unit   int64          // greatest common divisor of all numbers that clocks are compared with; 0 if all are zero
	// deadline is the time bound of the property, nil if it has none; timer is the slot of its clock.
	deadline *int64
	timer    int
	timeStep int // index of the action of the time step
	err      *Error
	inModel  bool
}

// clock describes a clock. maxCompared is the largest number that the model and the property compare it with.
type clock struct{ maxCompared int64 }

// Translate translates a timed automaton and a property to an MDP. The program must include the labels
// of the properties file. The error is an *Error.
func Translate(program *sema.Program, property *sema.Property) (*Model, error) {
	t := &translation{source: program, clocks: make(map[int]*clock)}
	// Find the clocks and the numbers that they are compared with.
	t.inModel = true
	t.surveyModel()
	t.inModel = false
	t.surveyProperty(property.X)
	if t.err != nil {
		return nil, t.err
	}
	if t.unit == 0 {
		t.unit = 1
	}
	// Build the MDP.
	t.buildProgram()
	model := &Model{Program: t.result, Property: *property, Invariants: t.invariants()}
	model.Property.X = t.rewrite(property.X)
	model.Key = t.key()
	if t.err != nil {
		return nil, t.err
	}
	return model, nil
}

// unsupported records an error at a position; only the first one is kept.
func (t *translation) unsupported(pos syntax.Pos, format string, args ...any) {
	if t.err != nil {
		return
	}
	t.err = &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
	if t.inModel || pos.Formula {
		t.err.File = t.source.File
	}
}

// alwaysUnsupported records an error for a feature that PRISM does not support with any method.
func (t *translation) alwaysUnsupported(pos syntax.Pos, format string, args ...any) {
	if t.err == nil {
		t.unsupported(pos, format, args...)
		t.err.Always = true
	}
}

// key returns a text that is equal for translations with equal clock limits, unit and deadline, and so
// with the same MDP.
func (t *translation) key() string {
	var text strings.Builder
	for slot := range t.source.Vars {
		if clock := t.clocks[slot]; clock != nil {
			fmt.Fprintf(&text, "%d ", clock.maxCompared)
		}
	}
	fmt.Fprintf(&text, "unit %d", t.unit)
	if t.deadline != nil {
		fmt.Fprintf(&text, " deadline %d", *t.deadline)
	}
	return text.String()
}

// buildProgram builds the MDP: clocks become integer variables, and every module gets a command for
// the time step.
func (t *translation) buildProgram() {
	program := *t.source
	program.Type = syntax.MDP
	program.Vars = t.translateVariables()
	name := "time"
	for slices.Contains(program.Actions, name) {
		name += "_"
	}
	t.timeStep = len(program.Actions)
	program.Actions = append(slices.Clip(program.Actions), name)
	program.Modules = slices.Clone(program.Modules)
	for i := range program.Modules {
		program.Modules[i] = t.translateModule(&program.Modules[i])
	}
	program.System = t.synchroniseOnTimeStep(program.System)
	t.addGlobals(&program)
	if t.deadline != nil {
		t.addTimer(&program)
	}
	program.Labels = slices.Clone(program.Labels)
	for i := range program.Labels {
		program.Labels[i].X = t.rewrite(program.Labels[i].X)
	}
	program.Rewards = slices.Clone(program.Rewards)
	for i := range program.Rewards {
		program.Rewards[i].Items = t.timeStepRewards(program.Rewards[i].Items)
	}
	t.result = &program
}

// translateVariables returns the variables, with integer variables from 0 to their limit in place of the clocks.
func (t *translation) translateVariables() []sema.Variable {
	variables := slices.Clone(t.source.Vars)
	for slot, clock := range t.clocks {
		variable := &variables[slot]
		variable.Type, variable.Bounded, variable.Init = sema.Int, true, 0
		variable.Low, variable.High = 0, t.clockLimit(variable.Pos, clock.maxCompared)
	}
	return variables
}

// clockLimit returns the largest value of a clock in the MDP, in units: one more than the largest
// number that it is compared with.
func (t *translation) clockLimit(pos syntax.Pos, maxCompared int64) int32 {
	limit := maxCompared/t.unit + 1
	if maxCompared > math.MaxInt32/4 { // one unit more must also fit an int
		t.unsupported(pos, "found a clock that is compared with %d, which is too large for digital clocks", maxCompared)
		return 0
	}
	return int32(limit)
}

// translateModule returns a module with its clocks replaced, and with a command for the time step that
// its invariant guards.
func (t *translation) translateModule(module *sema.Module) sema.Module {
	result := *module
	result.Invariant = nil
	result.Commands = slices.Clone(module.Commands)
	for i := range result.Commands {
		t.translateCommand(&result.Commands[i])
	}
	guard := trueAt(module.Pos)
	if module.Invariant != nil {
		guard = t.oneStepLater(module.Invariant)
	}
	var assigns []sema.Assign
	for _, slot := range module.Vars {
		if clock := t.clocks[slot]; clock != nil {
			assigns = append(assigns, t.advance(slot, t.clockLimit(module.Pos, clock.maxCompared), module.Pos))
		}
	}
	t.addTimeStep(&result, guard, assigns)
	return result
}

// translateCommand replaces the clocks in a command. It copies the updates and assignments that it changes.
func (t *translation) translateCommand(command *sema.Command) {
	command.Guard = t.rewrite(command.Guard)
	command.Updates = slices.Clone(command.Updates)
	for i := range command.Updates {
		update := &command.Updates[i]
		update.Prob = t.rewrite(update.Prob)
		update.Assigns = slices.Clone(update.Assigns)
		for k := range update.Assigns {
			update.Assigns[k].Value = t.assignedValue(&update.Assigns[k])
		}
	}
}

// addTimeStep adds the command for the time step to a module.
func (t *translation) addTimeStep(module *sema.Module, guard sema.Expr, assigns []sema.Assign) {
	one := &sema.Const{Base: typeAndPos(sema.Double, module.Pos), Val: sema.RatValue(rat(1))}
	module.Alphabet = append(slices.Clip(module.Alphabet), t.timeStep)
	module.Commands = append(slices.Clip(module.Commands), sema.Command{
		Action: t.timeStep, Guard: guard, Pos: module.Pos, Updates: []sema.Update{{Prob: one, Assigns: assigns, Pos: module.Pos}},
	})
}

// advance returns the assignment x' = min(x+1, limit) of a clock in a time step.
func (t *translation) advance(slot int, limit int32, pos syntax.Pos) sema.Assign {
	next := &sema.Binary{Base: typeAndPos(sema.Int, pos), Op: syntax.OpAdd, X: varAt(slot, pos), Y: intAt(1, pos)}
	limited := &sema.Call{Base: typeAndPos(sema.Int, pos), Func: sema.FuncMin, Args: []sema.Expr{next, intAt(limit, pos)}}
	return sema.Assign{Slot: slot, Pos: pos, Value: limited}
}

// assignedValue translates the value of an assignment. A clock's new value is a constant, which is
// converted to units of time.
func (t *translation) assignedValue(assign *sema.Assign) sema.Expr {
	value := t.rewrite(assign.Value)
	if t.clocks[assign.Slot] == nil || t.unit == 1 {
		return value
	}
	evaluated, err := sema.Eval(value, nil)
	if err != nil {
		t.unsupported(assign.Pos, "%v", err)
		return value
	}
	return intAt(evaluated.Int/int32(t.unit), assign.Pos)
}

// addTimer adds the clock that measures the time bound of the property, in a separate module.
func (t *translation) addTimer(program *sema.Program) {
	name := "timer"
	isTaken := func(variable sema.Variable) bool { return variable.Name == name }
	for slices.ContainsFunc(program.Vars, isTaken) {
		name += "_"
	}
	t.timer = len(program.Vars)
	limit := t.clockLimit(syntax.Pos{}, *t.deadline)
	timer := sema.Variable{Name: name, Type: sema.Int, Bounded: true, High: limit, Module: len(program.Modules)}
	program.Vars = append(slices.Clip(program.Vars), timer)
	t.addModule(program, sema.Module{Name: name, Vars: []int{t.timer}}, []sema.Assign{t.advance(t.timer, limit, syntax.Pos{})})
}

// addGlobals adds a module that advances the global clocks in a time step.
func (t *translation) addGlobals(program *sema.Program) {
	var assigns []sema.Assign
	for slot, variable := range t.source.Vars {
		if clock := t.clocks[slot]; clock != nil && variable.Module < 0 {
			limit := t.clockLimit(variable.Pos, clock.maxCompared)
			assigns = append(assigns, t.advance(slot, limit, variable.Pos))
		}
	}
	if len(assigns) > 0 {
		t.addModule(program, sema.Module{Name: "clocks"}, assigns)
	}
}

// addModule adds a module whose only command is the time step.
func (t *translation) addModule(program *sema.Program, module sema.Module, assigns []sema.Assign) {
	t.addTimeStep(&module, trueAt(module.Pos), assigns)
	program.Modules = append(slices.Clip(program.Modules), module)
	if program.System != nil {
		added := sema.SysModule{Index: len(program.Modules) - 1}
		program.System = &sema.SysParallel{Operands: []sema.System{program.System, added}, Actions: []int{t.timeStep}}
	}
}

// synchroniseOnTimeStep returns a system term in which all modules synchronise on the time step; nil for nil.
func (t *translation) synchroniseOnTimeStep(term sema.System) sema.System {
	switch term := term.(type) {
	case *sema.SysParallel:
		result := *term
		result.Operands = nil
		for _, operand := range term.Operands {
			result.Operands = append(result.Operands, t.synchroniseOnTimeStep(operand))
		}
		if !term.Alphabetised && !slices.Contains(term.Actions, t.timeStep) {
			result.Actions = append(slices.Clip(term.Actions), t.timeStep)
		}
		return &result
	case *sema.SysHide:
		return &sema.SysHide{X: t.synchroniseOnTimeStep(term.X), Actions: term.Actions}
	case *sema.SysRename:
		return &sema.SysRename{X: t.synchroniseOnTimeStep(term.X), From: term.From, To: term.To}
	}
	return term
}

// timeStepRewards converts state rewards, which are earned per unit of time, into rewards of the time
// step.
func (t *translation) timeStepRewards(items []sema.RewardItem) []sema.RewardItem {
	result := slices.Clone(items)
	for i := range result {
		item := &result[i]
		if item.Transition {
			continue
		}
		item.Transition, item.Action = true, t.timeStep
		if t.unit > 1 {
			unit := &sema.Const{Base: typeAndPos(sema.Double, item.Pos), Val: sema.RatValue(rat(t.unit))}
			item.Value = &sema.Binary{Base: typeAndPos(sema.Double, item.Pos), Op: syntax.OpMul, X: unit, Y: item.Value}
		}
	}
	return result
}

// invariants returns the conjunction of the invariants of all modules.
func (t *translation) invariants() sema.Expr {
	all := trueAt(syntax.Pos{})
	for i := range t.source.Modules {
		invariant := t.source.Modules[i].Invariant
		if invariant != nil {
			all = &sema.Binary{Base: typeAndPos(sema.Bool, invariant.Pos()), Op: syntax.OpAnd, X: all, Y: t.rewrite(invariant)}
		}
	}
	return all
}
