package digital

import (
	"fmt"
	"maps"
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

	translation *translation
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

// Method selects how clocks are represented in the MDP.
type Method uint8

// The methods.
const (
	// Digital counts whole units of time. All clock constraints must be closed, and none may compare two clocks.
	Digital Method = iota
	// Regions distinguishes the regions of Alur and Dill.
	Regions
)

// translation holds the state of one call of Translate.
type translation struct {
	source   *sema.Program
	result   *sema.Program
	property sema.Expr
	clocks   map[int]*clock // by slot
	timeUnit int64          // greatest common divisor of all numbers that clocks are compared with; 0 if all are zero
	// forRegions says that clocks are translated to regions and not to digital clocks.
	forRegions bool
	// strictErr is the error that digital clocks have for the first constraint that needs regions; nil if there is none.
	strictErr *Error
	// clockPairs are the pairs of clocks that are compared with each other.
	clockPairs []*clockPair
	// rewardOperator is an operator R of the property; nil if there is none.
	rewardOperator sema.Expr
	// listingFilter is a filter that counts or lists states, for which regions are not the states that the user means; nil if there is none.
	listingFilter sema.Expr
	// deadline is the time bound of the property, nil if it has none; timer is the slot of its clock.
	deadline         *int64
	timer            int
	timeStep         int // index of the action of the time step
	err              *Error
	errorsAreInModel bool
}

// clock describes a clock of the automaton.
type clock struct {
	maxCompared int64 // the largest number that the model and the property compare the clock with
	// greatestValue is the greatest value that a digital clock needs in a location, nil if it is clockLimit everywhere.
	greatestValue sema.Expr
	// The slot of its rank, see regions.go, and where it is inactive, or nil; only for regions.
	rankSlot          int
	inactiveCondition sema.Expr
}

// Translate translates a timed automaton and a property to an MDP, in which clocks are integers. The program must include the labels of the
// properties file. The error is an *Error.
func Translate(program *sema.Program, property *sema.Property, method Method) (*Model, error) {
	translation := survey(program, property)
	translation.forRegions = method == Regions
	translation.checkMethod()
	if translation.err != nil {
		return nil, translation.err
	}
	return translation.buildModel(property)
}

// buildModel builds the MDP, after survey has found the clocks and the numbers that they are compared with.
func (t *translation) buildModel(property *sema.Property) (*Model, error) {
	if t.timeUnit == 0 {
		t.timeUnit = 1
	}
	t.buildProgram()
	model := &Model{Program: t.result, Property: *property, Invariants: t.invariants(), translation: t}
	model.Property.Expr = t.rewrite(property.Expr)
	model.Key = t.modelKey()
	if t.err != nil {
		return nil, t.err
	}
	return model, nil
}

// NeedsRegions reports whether digital clocks do not support a constraint of the automaton or a bound of the property.
func NeedsRegions(program *sema.Program, property *sema.Property) bool {
	return survey(program, property).strictErr != nil
}

// survey finds the clocks, clock constraints and time bounds of an automaton and a property. It returns them as a translation that is not built
// yet.
func survey(program *sema.Program, property *sema.Property) *translation {
	result := &translation{source: program, property: property.Expr, clocks: make(map[int]*clock)}
	result.errorsAreInModel = true
	result.surveyModel()
	result.errorsAreInModel = false
	result.surveyProperty(property.Expr)
	return result
}

// checkMethod records an error if the method does not support the automaton or the property.
func (t *translation) checkMethod() {
	supportsStrictBounds := t.forRegions && t.rewardOperator == nil
	switch {
	case t.err != nil:
	case t.strictErr != nil && !supportsStrictBounds:
		t.err = t.strictErr
	case t.forRegions && t.listingFilter != nil:
		t.unsupported(t.listingFilter.Pos(), "found a filter that counts or lists states, want min, max, range, forall or exists for regions of clocks")
	case t.forRegions && t.rewardOperator != nil:
		t.unsupported(t.rewardOperator.Pos(), "found an R operator, want P operators for regions of clocks")
	}
}

// unsupported records an error at a position, unless there is an earlier error.
func (t *translation) unsupported(pos syntax.Pos, format string, args ...any) {
	if t.err == nil {
		t.err = t.errorAt(pos, fmt.Sprintf(format, args...))
	}
}

// needsRegions records that a constraint needs regions. message is the error if digital clocks must be used; the first such error counts.
func (t *translation) needsRegions(pos syntax.Pos, message string) {
	if t.strictErr == nil {
		t.strictErr = t.errorAt(pos, message)
	}
}

// errorAt returns an error with a position in the model or in the property. While errorsAreInModel is set, and for a formula, it is in the model.
func (t *translation) errorAt(pos syntax.Pos, message string) *Error {
	err := &Error{Pos: pos, Msg: message}
	if t.errorsAreInModel || pos.Formula {
		err.File = t.source.File
	}
	return err
}

// alwaysUnsupported records the first error of a translation and sets its field Always: PRISM has no method for the feature.
func (t *translation) alwaysUnsupported(pos syntax.Pos, format string, args ...any) {
	if t.err != nil {
		return
	}
	t.unsupported(pos, format, args...)
	t.err.Always = true
}

// modelKey returns a text with everything on which the MDP depends besides the automaton: the limits of the clocks, the time unit and the deadline.
// Two translations of the same automaton with equal keys have the same MDP.
func (t *translation) modelKey() string {
	var text strings.Builder
	for slot := range t.source.Vars {
		clock := t.clocks[slot]
		if clock == nil {
			continue
		}
		fmt.Fprintf(&text, "%d ", clock.maxCompared)
		isAlwaysActive := clock.greatestValue == nil // for example, because the property reads it
		if t.forRegions {
			isAlwaysActive = clock.inactiveCondition == nil
		}
		if isAlwaysActive {
			text.WriteString("active ")
		}
	}
	fmt.Fprintf(&text, "unit %d", t.timeUnit)
	if t.deadline != nil {
		fmt.Fprintf(&text, " deadline %d", *t.deadline)
	}
	if t.forRegions {
		text.WriteString(" regions")
	}
	for _, pair := range t.clockPairs {
		fmt.Fprintf(&text, " %d:%d", pair.first, pair.second)
	}
	return text.String()
}

// buildProgram builds the MDP and stores it in t.result. Clocks become integer variables. Each module gets a command for the passage of time, and
// all modules synchronise on this time step.
func (t *translation) buildProgram() {
	program := *t.source
	program.Type = syntax.MDP
	program.Vars = slices.Clone(program.Vars)
	t.replaceClocks(&program)
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
	program.System = t.withTimeStep(program.System)
	t.advanceGlobals(&program)
	program.Labels = slices.Clone(program.Labels)
	for i := range program.Labels {
		program.Labels[i].Expr = t.rewrite(program.Labels[i].Expr)
	}
	program.Rewards = slices.Clone(program.Rewards)
	if t.forRegions { // the time of a step is not fixed; no property asks for rewards
		program.Rewards = nil
	}
	for i := range program.Rewards {
		program.Rewards[i].Items = t.timeStepRewards(program.Rewards[i].Items)
	}
	t.result = &program
}

// limitClocks finds, for each clock of a module, the greatest value that matters in each location. The MDP need not distinguish greater values.
// For regions, it finds the locations in which the clock is inactive: its value does not matter before it is set again.
func (t *translation) limitClocks() {
	for i := range t.source.Modules {
		module := &t.source.Modules[i]
		for _, slot := range module.Vars {
			if t.clocks[slot] != nil {
				t.limitClock(module, slot)
			}
		}
	}
}

// limitClock finds the greatest value of a clock that matters in each location of its module. For regions, it finds the locations in which the
// clock is inactive.
func (t *translation) limitClock(module *sema.Module, slot int) {
	limits := t.limitsOf(module, slot)
	switch {
	case limits == nil: // the same limit holds everywhere
	case t.forRegions:
		t.clocks[slot].inactiveCondition = limits.inactiveWhere()
	default:
		t.clocks[slot].greatestValue = limits.greatestValue()
	}
}

// clockSlots returns the slots of all clocks in ascending order, with the timer if there is one.
func (t *translation) clockSlots() []int { return slices.Sorted(maps.Keys(t.clocks)) }

// replaceClocks changes the clocks of a program to integer variables. If the property has a deadline, it adds a timer. For regions, it adds the
// variables that represent regions.
func (t *translation) replaceClocks(program *sema.Program) {
	t.equalizeLimits()
	if t.deadline != nil {
		t.timer = addVariable(program, "timer", sema.Variable{Type: sema.Clock, Module: -1})
		t.clocks[t.timer] = &clock{maxCompared: *t.deadline}
	}
	for _, slot := range t.clockSlots() {
		variable := &program.Vars[slot]
		variable.Type, variable.IsBounded = sema.Int, true
		variable.Low, variable.High = 0, t.clockLimit(slot)
		variable.Init = 0
	}
	t.limitClocks()
	if t.forRegions {
		t.addRegionVariables(program)
	}
}

// addVariable adds a variable to a program and returns its slot. Underscores make the name unique.
func addVariable(program *sema.Program, name string, variable sema.Variable) int {
	for slices.ContainsFunc(program.Vars, func(other sema.Variable) bool { return other.Name == name }) {
		name += "_"
	}
	variable.Name = name
	program.Vars = append(slices.Clip(program.Vars), variable)
	return len(program.Vars) - 1
}

// inSteps converts a time to the number of time steps after which a clock shows it.
func (t *translation) inSteps(time int64) int32 {
	if t.forRegions { // every second step leads to a whole number
		return int32(2 * time / t.timeUnit)
	}
	return int32(time / t.timeUnit)
}

// maxNumber is the largest number that a clock may be compared with. Twice the number and one step more must also fit an int.
const maxNumber = math.MaxInt32 / 4

// clockLimit returns the largest value of a clock in the MDP: the largest number that it is compared with, in time steps, plus one. This value
// stands for all greater values.
func (t *translation) clockLimit(slot int) int32 {
	maxCompared := t.clocks[slot].maxCompared
	if maxCompared > maxNumber {
		t.unsupported(t.clockPos(slot), "found a clock that is compared with %d, which is too large", maxCompared)
		return 0
	}
	return t.inSteps(maxCompared) + 1
}

// clockPos returns the position of the declaration of a clock.
func (t *translation) clockPos(slot int) syntax.Pos {
	if slot >= len(t.source.Vars) { // the timer
		return syntax.Pos{}
	}
	return t.source.Vars[slot].Pos
}

// translateModule returns a module in which integers replace the clocks. The module has a command for the time step. Its guard is the invariant
// of the module, one step later.
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
	var clockAssigns []sema.Assign
	for _, slot := range module.Vars {
		if t.clocks[slot] != nil {
			clockAssigns = append(clockAssigns, t.advance(slot)...)
		}
	}
	t.addTimeStep(&result, guard, clockAssigns)
	return result
}

// translateCommand replaces the clocks in a command. It copies the updates and assignments before it changes them.
func (t *translation) translateCommand(command *sema.Command) {
	command.Guard = t.rewrite(command.Guard)
	command.Updates = slices.Clone(command.Updates)
	for i := range command.Updates {
		update := &command.Updates[i]
		update.Prob = t.rewrite(update.Prob)
		var assignments []sema.Assign
		for _, assignment := range update.Assigns {
			assignments = append(assignments, t.translateAssign(assignment)...)
		}
		update.Assigns = assignments
	}
}

// addTimeStep adds a time step command to a module.
func (t *translation) addTimeStep(module *sema.Module, guard sema.Expr, assignments []sema.Assign) {
	one := &sema.Const{Base: typeAndPos(sema.Double, module.Pos), Val: sema.RatValue(rat(1))}
	module.Alphabet = append(slices.Clip(module.Alphabet), t.timeStep)
	module.Commands = append(slices.Clip(module.Commands), sema.Command{
		Action: t.timeStep, Guard: guard, Pos: module.Pos, Updates: []sema.Update{{Prob: one, Assigns: assignments, Pos: module.Pos}},
	})
}

// advance returns the assignments that a time step makes for a clock.
func (t *translation) advance(slot int) []sema.Assign {
	pos := t.clockPos(slot)
	assignments := []sema.Assign{{Slot: slot, Pos: pos, Value: t.valueAfterStep(slot, pos)}}
	if t.forRegions {
		assignments = append(assignments, t.advanceOrder(slot, pos)...)
	}
	return assignments
}

// valueAfterStep returns an expression for the value of a clock after a time step.
func (t *translation) valueAfterStep(slot int, pos syntax.Pos) sema.Expr {
	value := varAt(slot, pos)
	limit := intAt(t.clockLimit(slot), pos)
	greatest := t.clocks[slot].greatestValue
	if greatest == nil {
		greatest = limit
	}
	nextValue := call(sema.FuncMin, plus(value, intAt(1, pos)), greatest)
	if !t.forRegions {
		return nextValue
	}
	nextValue = conditional(t.advances(slot, pos), nextValue, value)
	if inactive := t.clocks[slot].inactiveCondition; inactive != nil {
		return conditional(inactive, limit, nextValue)
	}
	return nextValue
}

// translateAssign translates an assignment. If a clock is assigned, the new value is a constant, and becomes a number of time steps. For regions,
// the rank of the clock becomes 0.
func (t *translation) translateAssign(assignment sema.Assign) []sema.Assign {
	assignment.Value = t.rewrite(assignment.Value)
	assigned := t.clocks[assignment.Slot]
	if assigned == nil || !t.forRegions && t.timeUnit == 1 {
		return []sema.Assign{assignment}
	}
	evaluated, err := sema.Eval(assignment.Value, nil)
	if err != nil {
		t.unsupported(assignment.Pos, "%v", err)
		return nil
	}
	assignment.Value = intAt(t.inSteps(int64(evaluated.Int)), assignment.Pos)
	if !t.forRegions {
		return []sema.Assign{assignment}
	}
	return []sema.Assign{assignment, {Slot: assigned.rankSlot, Value: intAt(0, assignment.Pos), Pos: assignment.Pos}}
}

// advanceGlobals adds a module whose time step advances the global clocks and the timer.
func (t *translation) advanceGlobals(program *sema.Program) {
	var assignments []sema.Assign
	for _, slot := range t.clockSlots() {
		if program.Vars[slot].Module < 0 {
			assignments = append(assignments, t.advance(slot)...)
		}
	}
	if len(assignments) > 0 {
		t.addModule(program, sema.Module{Name: "clocks"}, assignments)
	}
}

// addModule adds a module to a program. The only command of the module is the time step.
func (t *translation) addModule(program *sema.Program, module sema.Module, assignments []sema.Assign) {
	t.addTimeStep(&module, trueAt(module.Pos), assignments)
	program.Modules = append(slices.Clip(program.Modules), module)
	if program.System != nil {
		program.System = &sema.SysParallel{Operands: []sema.System{program.System, sema.SysModule{Index: len(program.Modules) - 1}}, Actions: []int{t.timeStep}}
	}
}

// withTimeStep returns a copy of a system term in which all modules synchronise on the time step.
func (t *translation) withTimeStep(system sema.System) sema.System {
	switch term := system.(type) {
	case *sema.SysParallel:
		result := *term
		result.Operands = nil
		for _, operand := range term.Operands {
			result.Operands = append(result.Operands, t.withTimeStep(operand))
		}
		if !term.IsAlphabetised && !slices.Contains(term.Actions, t.timeStep) {
			result.Actions = append(slices.Clip(term.Actions), t.timeStep)
		}
		return &result
	case *sema.SysHide:
		return &sema.SysHide{X: t.withTimeStep(term.X), Actions: term.Actions}
	case *sema.SysRename:
		return &sema.SysRename{X: t.withTimeStep(term.X), From: term.From, To: term.To}
	}
	return system
}

// timeStepRewards converts state rewards to rewards of the time step, because a state reward of a timed automaton is earned per unit of time. They
// are multiplied by the length of the step.
func (t *translation) timeStepRewards(items []sema.RewardItem) []sema.RewardItem {
	stepRewards := slices.Clone(items)
	for i := range stepRewards {
		item := &stepRewards[i]
		if item.IsTransition {
			continue
		}
		item.IsTransition, item.Action = true, t.timeStep
		if t.timeUnit > 1 {
			unit := &sema.Const{Base: typeAndPos(sema.Double, item.Pos), Val: sema.RatValue(rat(t.timeUnit))}
			item.Value = &sema.Binary{Base: typeAndPos(sema.Double, item.Pos), Op: syntax.OpMul, X: unit, Y: item.Value}
		}
	}
	return stepRewards
}

// invariants returns the conjunction of the invariants of all modules.
func (t *translation) invariants() sema.Expr {
	invariant := trueAt(syntax.Pos{})
	for i := range t.source.Modules {
		if expr := t.source.Modules[i].Invariant; expr != nil {
			invariant = conjunction(invariant, t.rewrite(expr))
		}
	}
	return invariant
}
