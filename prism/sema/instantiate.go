package sema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Instantiate gives values to the undefined constants and evaluates constant expressions: ranges, initial values and others. Each undefined
// constant needs a value; a Double constant accepts an Int. An undeclared name gives a warning in the Program; a second definition of a
// constant is an error.
//
// The error is a syntax.ErrorList of the errors that PRISM reports before it explores the first state. Expressions over variables may still
// fail later. Unlike in PRISM's explicit engine, an initial value outside the range of its variable is an error.
//
// Source: ConstantList.evaluateSomeConstants and VarList of PRISM 4.10; reference, sections 2.3 and 2.4.
func (m *Model) Instantiate(constants map[string]Value) (*Program, error) {
	return m.InstantiateOpen(constants, nil)
}

// InstantiateOpen instantiates the model like Instantiate, but allows parameters: constants of type double without a value. A parameter becomes a
// [Param] in expressions. Program.Consts omits the parameters and the constants that depend on them. The range or the initial value of a variable
// must not depend on a parameter.
func (m *Model) InstantiateOpen(constants map[string]Value, parameters []string) (*Program, error) {
	return m.instantiate(newFolder(), constants, parameters)
}

// InstantiateSymbolic instantiates the model like InstantiateOpen, for a program that is written in another language and not explored. Parameters may be of
// any type, and ranges and initial values may depend on them. Parameters that the model does not declare are ignored: they are constants of the properties.
func (m *Model) InstantiateSymbolic(constants map[string]Value, parameters []string) (*Program, error) {
	folder := newFolder()
	folder.isSymbolic = true
	return m.instantiate(folder, constants, parameters)
}

// instantiate returns the program for a new folder.
func (m *Model) instantiate(folder *folder, constants map[string]Value, parameters []string) (*Program, error) {
	program := &Program{File: m.file, Type: m.modelType, Actions: slices.Clone(m.actions), System: m.system, Players: m.players, Warnings: slices.Clone(m.warnings), model: m}
	program.Warnings = append(program.Warnings, m.setConstants(folder, constants)...)
	for _, name := range parameters {
		folder.setParameter(m, name)
	}
	folder.requireValues(m.constants, m.file)
	if err := folder.err(); err != nil {
		return nil, err
	}
	for _, constant := range m.constants {
		folded := folder.foldConstant(constant)
		if folder.parameters[constant] {
			program.Parameters = append(program.Parameters, folded.(*Param))
		}
		if value, ok := folder.values[constant]; ok {
			program.Consts = append(program.Consts, NamedValue{constant.name, value})
		}
	}
	if err := folder.err(); err != nil {
		return nil, err
	}
	for _, variable := range m.vars {
		program.Vars = append(program.Vars, folder.instantiateVariable(m, variable))
	}
	if err := folder.err(); err != nil {
		return nil, err
	}
	folder.usesParameter = false // ignore definitions of constants, which may be unused
	m.foldInto(program, folder)
	program.HasParameters = folder.usesParameter
	program.Warnings = append(program.Warnings, folder.differences(m.file)...)
	program.Differs = len(folder.floatDifferences) > 0
	program.constants = folder.foldedExprs
	return program, nil
}

// setConstants gives the undefined constants of the model their values. It returns a warning for each name that the model does not declare.
func (m *Model) setConstants(folder *folder, constants map[string]Value) (warnings []error) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		constant := m.names[name].constant
		if constant == nil {
			warnings = append(warnings, &syntax.Error{File: m.file, Msg: fmt.Sprintf("constant %q is not declared in the model, so its value is not used", name)})
			continue
		}
		folder.setConstant(constant, constants[name])
	}
	return warnings
}

// setConstant gives a constant its value, converted to the constant's type. A value for a constant that has a definition is an error.
func (f *folder) setConstant(constant *constant, value Value) {
	if constant.declaration.Value != nil {
		place := " in the model"
		if constant.fromProperties {
			place = ""
		}
		f.errs.Add(constant.file, constant.declaration.Name.Pos(), "constant %q has already been defined%s", constant.name, place)
		return
	}
	if value.Type == Int {
		value = IntValue(value.Int)
	}
	value, ok := value.convert(constant.valueType)
	if !ok {
		f.errs.Add(constant.file, constant.declaration.Name.Pos(), "value %s for constant %s is not a valid %s", value, constant.name, nameOfValues(constant.valueType))
		return
	}
	f.givenValues[constant] = value
}

// setParameter makes a constant of the model a parameter. It reports an error if the constant has a value or, unless the program is symbolic, is not a double.
func (f *folder) setParameter(model *Model, name string) {
	constant := model.names[name].constant
	switch {
	case constant == nil && f.isSymbolic: // a constant of the properties
	case constant == nil:
		f.errs.Add(model.file, syntax.Pos{}, "parameter %q is not a constant of the model", name)
	case constant.declaration.Value != nil:
		f.errs.Add(constant.file, constant.declaration.Name.Pos(), "constant %q has a value in the model, want none for a parameter", name)
	case constant.valueType != Double && !f.isSymbolic:
		f.errs.Add(constant.file, constant.declaration.Name.Pos(), "constant %q is of type %s, want double for a parameter", name, constant.valueType)
	case f.givenValues[constant].Type != Invalid:
		f.errs.Add(constant.file, constant.declaration.Name.Pos(), "constant %q is given a value, want none for a parameter", name)
	default:
		f.parameters[constant] = true
	}
}

// nameOfValues returns PRISM's word for a value of a type, as in "not a valid integer".
func nameOfValues(valueType Type) string {
	switch valueType {
	case Int:
		return "integer"
	case Bool:
		return "Boolean"
	}
	return valueType.String()
}

// requireValues reports an error for the constants that have neither a definition nor a given value and are not parameters. It reports nothing
// after an earlier error.
func (f *folder) requireValues(constants []*constant, file string) {
	if len(f.errs) > 0 {
		return
	}
	var missing []*constant
	for _, constant := range constants {
		_, isGiven := f.givenValues[constant]
		isDefined := constant.declaration.Value != nil
		if !isGiven && !isDefined && !f.parameters[constant] {
			missing = append(missing, constant)
		}
	}
	if len(missing) > 0 {
		f.errs.Add(file, missing[0].declaration.Name.Pos(), "%s", undefinedMessage(missing))
	}
}

// undefinedMessage returns the error message for constants without a value.
func undefinedMessage(missing []*constant) string {
	quotedNames := namesOf(missing, func(constant *constant) string { return fmt.Sprintf("%q", constant.name) })
	definitions := namesOf(missing, func(constant *constant) string { return constant.name + "=..." })
	last := len(quotedNames) - 1
	advice := ": add --const " + strings.Join(definitions, ",")
	if last == 0 {
		return "undefined constant " + quotedNames[0] + " must be defined" + advice
	}
	return "undefined constants " + strings.Join(quotedNames[:last], ", ") + " and " + quotedNames[last] + " must be defined" + advice
}

// instantiateVariable returns a variable with the values of its range and its initial value.
func (f *folder) instantiateVariable(model *Model, variable *variable) Variable {
	instance := Variable{Name: variable.name, Type: variable.valueType, Module: variable.module, Pos: variable.declaration.Pos()}
	switch variable.declaration.Type {
	case syntax.BoolVar:
		instance.IsBounded, instance.High = true, 1
	case syntax.IntVar:
		instance.Low, instance.High = math.MinInt32, math.MaxInt32
	case syntax.ClockVar:
		instance.High = math.MaxInt32
	default:
		instance.IsBounded = true
		f.setRange(&instance, model, variable)
		instance.Init, instance.InitExpr = instance.Low, instance.LowExpr
	}
	if variable.init != nil {
		f.setInitialValue(&instance, model, variable)
	}
	return instance
}

// setInitialValue evaluates the initial value of a variable and stores it in instance. A value outside the range is an error.
func (f *folder) setInitialValue(instance *Variable, model *Model, variable *variable) {
	if instance.InitExpr = f.symbolicExpr(variable.init); instance.InitExpr != nil {
		return
	}
	value, ok := f.evaluate(model, variable.init)
	switch {
	case !ok:
	case variable.valueType == Bool && value.Bool:
		instance.Init = 1
	case variable.valueType == Bool:
		instance.Init = 0
	case value.Int < instance.Low || value.Int > instance.High:
		f.errs.Add(model.file, variable.declaration.Init.Pos(), "initial value %d of variable %q is outside its range [%d..%d]", value.Int, variable.name, instance.Low, instance.High)
	default:
		instance.Init = value.Int
	}
}

// symbolicExpr returns an expression after folding, if it has a parameter and the program is symbolic; otherwise nil.
func (f *folder) symbolicExpr(expr Expr) Expr {
	if !f.isSymbolic {
		return nil
	}
	if folded := f.fold(expr); HasParameters(folded) {
		return folded
	}
	return nil
}

// setRange evaluates the range of a variable, stores it in instance and reports an invalid range. In PRISM's dialect, a range needs at least two values. If a
// bound has no value, the range is from 0 to MaxInt32, or that of 32 bits in a symbolic program.
func (f *folder) setRange(instance *Variable, model *Model, variable *variable) {
	if f.symbolicExpr(variable.low) != nil || f.symbolicExpr(variable.high) != nil {
		instance.LowExpr, instance.HighExpr = f.fold(variable.low), f.fold(variable.high)
		instance.Low, instance.High = math.MinInt32, math.MaxInt32
		return
	}
	instance.High = math.MaxInt32
	lowValue, lowIsKnown := f.evaluate(model, variable.low)
	highValue, highIsKnown := f.evaluate(model, variable.high)
	if !lowIsKnown || !highIsKnown {
		return
	}
	low, high := lowValue.Int, highValue.Int
	instance.Low, instance.High = low, high
	pos := variable.declaration.TypePos
	switch {
	case low > high:
		f.errs.Add(model.file, pos, "invalid range [%d..%d] for variable %q, want at least two values", low, high, variable.name)
	case low == high && model.dialect == syntax.PRISM:
		f.errs.Add(model.file, pos, "invalid range [%d..%d] for variable %q, want at least two values"+syntax.StormAccepts, low, high, variable.name)
	case int64(high)-int64(low) >= math.MaxInt32:
		f.errs.Add(model.file, pos, "range [%d..%d] for variable %q is too big", low, high, variable.name)
	}
}

// evaluate returns the value of a constant expression of the model; false after reporting an error.
func (f *folder) evaluate(model *Model, expr Expr) (Value, bool) {
	value, err := constantValue(f.fold(expr))
	if evalErr, ok := errors.AsType[*EvalError](err); ok {
		f.errs.Add(model.file, evalErr.Pos, "%s", evalErr.Msg)
	}
	return value, err == nil
}

// foldInto adds the commands, labels, rewards and other expressions of the model to the program. Constants are replaced by their values.
func (m *Model) foldInto(program *Program, folder *folder) {
	for _, module := range m.modules {
		module.Invariant = folder.fold(module.Invariant)
		module.Commands = slices.Clone(module.Commands)
		for i, command := range module.Commands {
			module.Commands[i].Guard = folder.fold(command.Guard)
			module.Commands[i].Updates = folder.foldUpdates(command.Updates)
		}
		program.Modules = append(program.Modules, module)
	}
	for _, label := range m.labels {
		program.Labels = append(program.Labels, LabelDef{label.Name, folder.fold(label.Expr)})
	}
	for _, rewards := range m.rewards {
		rewards.Items = slices.Clone(rewards.Items)
		for i, item := range rewards.Items {
			rewards.Items[i].Guard, rewards.Items[i].Value = folder.fold(item.Guard), folder.fold(item.Value)
		}
		program.Rewards = append(program.Rewards, rewards)
	}
	program.Init, program.Rate = folder.fold(m.init), folder.fold(m.rate)
	for _, observable := range m.observables {
		program.Observables = append(program.Observables, Observable{observable.Name, folder.fold(observable.X)})
	}
}

// foldUpdates returns the updates of a command with constants replaced by their values.
func (f *folder) foldUpdates(updates []Update) []Update {
	folded := slices.Clone(updates)
	for i, update := range updates {
		folded[i].Prob, folded[i].ProbHigh = f.fold(update.Prob), f.fold(update.ProbHigh)
		folded[i].Assigns = slices.Clone(update.Assigns)
		for k, assignment := range update.Assigns {
			folded[i].Assigns[k].Value = f.fold(assignment.Value)
		}
	}
	return folded
}
