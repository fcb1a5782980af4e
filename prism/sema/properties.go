package sema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tilecheck/prism/syntax"
)

// Properties is a properties file that passed all checks that PRISM makes before constants have values. It belongs to one Model. It is
// immutable and safe for concurrent use.
type Properties struct {
	file   string
	model  *Model
	names  table // constants
	quoted table // labels and properties

	constants []*constant
	labels    []LabelDef
	props     []*property
}

// property is one property; references to others are expanded in expr.
type property struct {
	declaration *syntax.Property
	expr        Expr
	nesting
}

// PropertyInfo describes a property of a file.
type PropertyInfo struct {
	Name string     // empty when unnamed
	Text string     // as PRISM lists it, with the name
	Doc  syntax.Doc // the comment block above it
	Pos  syntax.Pos
}

// CheckProperties resolves a properties file over the model. The error is a syntax.ErrorList of at most ten entries. The first entry is the
// error that PRISM reports, at the same position.
//
// Source: PropertiesFile.tidyUp of PRISM 4.10; reference, sections 2.5 and 3.1.
func (m *Model) CheckProperties(file *syntax.Properties) (*Properties, error) {
	properties := &Properties{file: file.File, model: m, names: make(table), quoted: make(table)}
	diagnostics := &diags{file: file.File}
	labels := properties.declareItems(diagnostics, file.Items)
	if diagnostics.hasErrorsOf(phaseConstCycles) || diagnostics.hasErrorsOf(phasePropertyCycles) {
		return nil, diagnostics.err()
	}
	resolver := newResolver(diagnostics, m, properties)
	for i, label := range labels {
		properties.labels[i].Expr = resolver.resolveExpr(label.X)
	}
	for i, label := range labels {
		checkLabel(resolver, label, properties.labels[i].Expr)
	}
	resolveConstants(resolver, properties.constants)
	for i := range properties.props {
		resolver.unit = i + 1
		resolver.property(i)
	}
	if err := diagnostics.err(); err != nil {
		return nil, err
	}
	return properties, nil
}

// declareItems declares the labels, constants and properties of the file. It reports cyclic definitions, and returns the labels.
func (properties *Properties) declareItems(diagnostics *diags, items []syntax.PropItem) []*syntax.LabelDecl {
	var labels []*syntax.LabelDecl
	for _, item := range items {
		switch item := item.(type) {
		case *syntax.LabelDecl:
			meaning := symbol{kind: "label", location: inProperties, index: len(labels)}
			if properties.declareQuoted(diagnostics, phaseLabelNames, item.Name.Name, item.Name.Pos(), meaning) {
				labels = append(labels, item)
				properties.labels = append(properties.labels, LabelDef{Name: item.Name.Name})
			}
		case *syntax.ConstDecl:
			properties.declareConstant(diagnostics, item)
		case *syntax.Property:
			properties.props = append(properties.props, &property{declaration: item})
		}
	}
	properties.declarePropertyNames(diagnostics)
	lookup := func(name string) (symbol, bool) { return properties.names.lookup(properties.model.names, name) }
	checkConstantCycles(diagnostics, properties.constants, lookup)
	properties.checkPropertyCycles(diagnostics)
	return labels
}

// declarePropertyNames declares the names of the properties.
func (properties *Properties) declarePropertyNames(diagnostics *diags) {
	for i, property := range properties.props {
		if name := property.declaration.Name; name != nil {
			meaning := symbol{kind: "property", location: inProperties, index: i}
			properties.declareQuoted(diagnostics, phasePropertyNames, name.Name, property.declaration.Pos(), meaning)
		}
	}
}

// inProperties is the location of a declaration in error messages.
const inProperties = "the properties"

// declareQuoted declares the name of a label or property. It reports an error and returns false if the name is in use.
func (properties *Properties) declareQuoted(diagnostics *diags, phase phase, name string, pos syntax.Pos, meaning symbol) bool {
	return properties.quoted.declare(diagnostics, phase, properties.model.quoted, name, fmt.Sprintf("%q", name), pos, meaning)
}

// declareConstant declares a constant, unless its name is used.
func (properties *Properties) declareConstant(diagnostics *diags, declaration *syntax.ConstDecl) {
	declared := &constant{name: declaration.Name.Name, valueType: constType(declaration.Type), declaration: declaration, file: properties.file, fromProperties: true, index: len(properties.constants)}
	meaning := symbol{kind: "constant", location: inProperties, constant: declared}
	if properties.names.declare(diagnostics, phaseConstNames, properties.model.names, declared.name, declared.name, declaration.Name.Pos(), meaning) {
		properties.constants = append(properties.constants, declared)
	}
}

// checkPropertyCycles reports a property that refers to itself, directly or through other properties.
func (properties *Properties) checkPropertyCycles(diagnostics *diags) {
	dependencies := make([][]int, len(properties.props))
	for i, property := range properties.props {
		syntax.Inspect(property.declaration.X, func(node syntax.Node) bool {
			quoted, isQuoted := node.(*syntax.Quoted)
			if isQuoted && properties.quoted[quoted.Name].kind == "property" {
				dependencies[i] = append(dependencies[i], properties.quoted[quoted.Name].index)
			}
			return true
		})
	}
	if i := firstCycle(dependencies); i >= 0 {
		property := properties.props[i].declaration
		diagnostics.addError(phasePropertyCycles, property.Pos(), "cyclic dependency in property references from property %q", property.Name.Name)
	}
}

// Len returns the number of properties.
func (properties *Properties) Len() int { return len(properties.props) }

// List returns a description of each property, in file order.
func (properties *Properties) List() []PropertyInfo {
	infos := make([]PropertyInfo, len(properties.props))
	for i, property := range properties.props {
		infos[i] = PropertyInfo{Text: syntax.ExprString(property.declaration.X), Doc: property.declaration.Doc, Pos: property.declaration.Pos()}
		if property.declaration.Name != nil {
			infos[i].Name = property.declaration.Name.Name
			infos[i].Text = fmt.Sprintf("%q: %s", infos[i].Name, infos[i].Text)
		}
	}
	return infos
}

// Constants returns the constants of the file, in file order.
func (properties *Properties) Constants() []Constant { return describeConstants(properties.constants) }

// Labels returns the names of the labels of the file, in file order.
func (properties *Properties) Labels() []string {
	return namesOf(properties.labels, func(label LabelDef) string { return label.Name })
}

// Undefined returns the names of the undefined constants of the file, in file order. Needs returns the names that a property requires.
func (properties *Properties) Undefined() []string { return undefinedNames(properties.constants) }

// Needs returns the undefined constants of this file that property i uses, directly or indirectly, in file order. It omits constants of the
// model.
func (properties *Properties) Needs(i int) []string {
	return undefinedNames(properties.usedConstants(properties.props[i].expr))
}

// usedConstants returns the constants of this file that expressions use, directly or through constants and labels, in file order.
func (properties *Properties) usedConstants(exprs ...Expr) []*constant {
	used := make(map[*constant]bool)
	isVisited := make(map[Expr]bool)
	var visit func(expr Expr)
	visit = func(expr Expr) {
		if isVisited[expr] {
			return
		}
		isVisited[expr] = true
		switch expr := expr.(type) {
		case *constRef:
			used[expr.constant] = true
			if expr.constant.def != nil {
				visit(expr.constant.def)
			}
		case *Label:
			if i := expr.Index - len(properties.model.labels); i >= 0 {
				visit(properties.labels[i].Expr)
			}
		}
		VisitOperands(expr, visit)
	}
	for _, expr := range exprs {
		visit(expr)
	}
	return slices.DeleteFunc(slices.Clone(properties.constants), func(constant *constant) bool { return !used[constant] })
}

// Instantiate returns the selected properties with values for the constants of the file; nil selects all properties. Each constant that a
// selected property Needs must have a value. A Double constant accepts an Int, and undeclared names give warnings.
//
// The program must be an instance of the model of the file. The returned program is the same with the labels of the file appended. It omits
// unused labels whose constants have no value. The error is a syntax.ErrorList, except for a wrong program or selection.
func (properties *Properties) Instantiate(program *Program, selected []int, constants map[string]Value) ([]Property, *Program, error) {
	return properties.InstantiateSymbolic(program, selected, constants, nil)
}

// InstantiateSymbolic instantiates the properties like Instantiate, for properties that are written in another language and not evaluated. Constants of the
// file may be parameters, which have no value; the returned program has those that the selected properties use. Parameters that the file does not declare
// are ignored.
func (properties *Properties) InstantiateSymbolic(program *Program, selected []int, constants map[string]Value, parameters []string) ([]Property, *Program, error) {
	if program.model != properties.model {
		return nil, nil, fmt.Errorf("the program is not of the model that %s was checked against", properties.file)
	}
	selected = properties.selectedProperties(selected)
	exprs, err := properties.formulas(selected)
	if err != nil {
		return nil, nil, err
	}
	extendedProgram := *program
	folder := newFolder()
	folder.foldedExprs = maps.Clone(program.constants)
	folder.rewardCount = len(properties.model.declaredRewards())
	extendedProgram.Warnings = append(slices.Clone(program.Warnings), properties.setConstants(folder, constants)...)
	for _, name := range parameters {
		if constant := properties.names[name].constant; constant != nil {
			folder.parameters[constant] = true
		}
	}
	usedConstants := properties.usedConstants(exprs...)
	folder.requireValues(usedConstants, properties.file)
	if err := folder.err(); err != nil {
		return nil, nil, err
	}
	extendedProgram.Parameters = slices.Clip(program.Parameters)
	for _, constant := range usedConstants {
		if folder.parameters[constant] {
			extendedProgram.Parameters = append(extendedProgram.Parameters, folder.foldConstant(constant).(*Param))
		}
	}
	extendedProgram.Labels = properties.addLabels(folder, program.Labels[:len(properties.model.labels):len(properties.model.labels)], exprs)
	props := properties.foldProperties(folder, selected)
	if err := folder.err(); err != nil {
		return nil, nil, err
	}
	extendedProgram.Warnings = append(extendedProgram.Warnings, folder.differences(properties.file)...)
	return props, &extendedProgram, nil
}

// formulas returns the formulas of the selected properties. An index that is out of range is an error.
func (properties *Properties) formulas(selected []int) ([]Expr, error) {
	var formulas []Expr
	for _, i := range selected {
		if i < 0 || i >= len(properties.props) {
			return nil, fmt.Errorf("there is no property %d to select, want one of 0 to %d", i, len(properties.props)-1)
		}
		formulas = append(formulas, properties.props[i].expr)
	}
	return formulas, nil
}

// foldProperties returns the selected properties with constants replaced by their values.
func (properties *Properties) foldProperties(folder *folder, selected []int) []Property {
	props := make([]Property, len(selected))
	for i, propertyIndex := range selected {
		property := properties.props[propertyIndex]
		props[i] = Property{Text: syntax.ExprString(property.declaration.X), Expr: folder.fold(property.expr), Pos: property.declaration.Pos()}
		if property.declaration.Name != nil {
			props[i].Name = property.declaration.Name.Name
		}
	}
	return props
}

// setConstants sets the values of this file's constants. It returns a warning for each name that neither this file nor the model declares.
func (properties *Properties) setConstants(folder *folder, constants map[string]Value) (warnings []error) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		if constant := properties.names[name].constant; constant != nil {
			folder.setConstant(constant, constants[name])
		} else if properties.model.names[name].constant == nil {
			warnings = append(warnings, &syntax.Error{File: properties.file, Msg: fmt.Sprintf("constant %q is not declared, so its value is not used", name)})
		}
	}
	return warnings
}

// addLabels appends this file's labels to the labels of the program. It omits unused labels that cannot be evaluated.
func (properties *Properties) addLabels(folder *folder, labels []LabelDef, selected []Expr) []LabelDef {
	for i := range labels {
		folder.labelIndices = append(folder.labelIndices, i)
	}
	used := properties.usedLabels(selected)
	for i, label := range properties.labels {
		index := -1
		if expr, ok := folder.foldLabel(properties, label.Expr, used[i]); ok {
			index = len(labels)
			labels = append(labels, LabelDef{label.Name, expr})
		}
		folder.labelIndices = append(folder.labelIndices, index)
	}
	return labels
}

// foldLabel replaces the constants in the expression of a label by their values. It returns false if a constant has no value, or if an unused label
// has an error, which it discards.
func (f *folder) foldLabel(props *Properties, expr Expr, isUsed bool) (Expr, bool) {
	for _, constant := range props.usedConstants(expr) {
		_, isGiven := f.givenValues[constant]
		if !isGiven && constant.def == nil && !f.parameters[constant] {
			return nil, false
		}
	}
	errorsBefore := len(f.errs)
	result := f.fold(expr)
	if len(f.errs) > errorsBefore && !isUsed {
		f.errs = f.errs[:errorsBefore]
		return nil, false
	}
	return result, true
}

// usedLabels reports for each label of the file whether the expressions use it.
func (properties *Properties) usedLabels(exprs []Expr) []bool {
	used := make([]bool, len(properties.labels))
	isVisited := make(map[Expr]bool)
	var visit func(expr Expr)
	visit = func(expr Expr) {
		if isVisited[expr] {
			return
		}
		isVisited[expr] = true
		if label, ok := expr.(*Label); ok && label.Index >= len(properties.model.labels) {
			used[label.Index-len(properties.model.labels)] = true
		}
		VisitOperands(expr, visit)
	}
	for _, expr := range exprs {
		visit(expr)
	}
	return used
}

// foldReward folds an R operator and evaluates the number of its reward structure. Like PRISM, it stores the error of a wrong number until
// the property is checked.
func (f *folder) foldReward(expr *Reward) Expr {
	folded := &Reward{Base: expr.Base, Threshold: f.foldThreshold(expr.Threshold), Path: f.fold(expr.Path)}
	folded.Struct, folded.StructErr = f.rewardStructIndex(expr.Struct, expr.index)
	var err error
	folded.DivisorStruct, err = f.rewardStructIndex(expr.DivisorStruct, expr.divisorIndex)
	folded.StructErr = cmp.Or(folded.StructErr, err)
	if folded.Struct < 0 && (folded.StructErr == nil || f.rewardCount == 0) {
		folded.Struct, folded.StructErr = -1, &EvalError{Pos: expr.Pos(), Msg: "model has no rewards specified"}
	}
	return folded
}

// rewardStructIndex returns the index, from 0, of a reward structure that an expression gives by its number, from 1. If number is nil, it returns
// namedIndex: the index of the structure that was given by its name.
func (f *folder) rewardStructIndex(namedIndex int, number Expr) (int, error) {
	if number == nil {
		return namedIndex, nil
	}
	value, err := constantValue(f.fold(number))
	if err == nil && (value.Int < 1 || int(value.Int) > f.rewardCount) {
		err = &EvalError{Pos: number.Pos(), Msg: fmt.Sprintf("invalid reward structure index \"%d\", want 1 to %d", value.Int, f.rewardCount)}
	}
	if err != nil {
		return -1, err
	}
	return int(value.Int) - 1, nil
}
