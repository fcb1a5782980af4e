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

	consts []*constant
	labels []LabelDef
	props  []*property
}

// property is one property; references to others are expanded in expr.
type property struct {
	decl *syntax.Property
	expr Expr
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
	resolveConstants(resolver, properties.consts)
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
func (ps *Properties) declareItems(diagnostics *diags, items []syntax.PropItem) []*syntax.LabelDecl {
	var labels []*syntax.LabelDecl
	for _, item := range items {
		switch item := item.(type) {
		case *syntax.LabelDecl:
			meaning := symbol{kind: "label", location: inProperties, index: len(labels)}
			if ps.declareQuoted(diagnostics, phaseLabelNames, item.Name.Name, item.Name.Pos(), meaning) {
				labels = append(labels, item)
				ps.labels = append(ps.labels, LabelDef{Name: item.Name.Name})
			}
		case *syntax.ConstDecl:
			ps.declareConstant(diagnostics, item)
		case *syntax.Property:
			ps.props = append(ps.props, &property{decl: item})
		}
	}
	ps.declarePropertyNames(diagnostics)
	lookup := func(name string) (symbol, bool) { return ps.names.lookup(ps.model.names, name) }
	checkConstantCycles(diagnostics, ps.consts, lookup)
	ps.checkPropertyCycles(diagnostics)
	return labels
}

// declarePropertyNames declares the names of the properties.
func (ps *Properties) declarePropertyNames(diagnostics *diags) {
	for i, property := range ps.props {
		if name := property.decl.Name; name != nil {
			meaning := symbol{kind: "property", location: inProperties, index: i}
			ps.declareQuoted(diagnostics, phasePropertyNames, name.Name, property.decl.Pos(), meaning)
		}
	}
}

// inProperties is the location of a declaration in error messages.
const inProperties = "the properties"

// declareQuoted declares the name of a label or property. It reports an error and returns false if the name is in use.
func (ps *Properties) declareQuoted(diagnostics *diags, phase phase, name string, pos syntax.Pos, meaning symbol) bool {
	return ps.quoted.declare(diagnostics, phase, ps.model.quoted, name, fmt.Sprintf("%q", name), pos, meaning)
}

// declareConstant declares a constant, unless its name is used.
func (ps *Properties) declareConstant(diagnostics *diags, decl *syntax.ConstDecl) {
	declared := &constant{name: decl.Name.Name, typ: constType(decl.Type), decl: decl, file: ps.file, fromProperties: true, index: len(ps.consts)}
	meaning := symbol{kind: "constant", location: inProperties, constant: declared}
	if ps.names.declare(diagnostics, phaseConstNames, ps.model.names, declared.name, declared.name, decl.Name.Pos(), meaning) {
		ps.consts = append(ps.consts, declared)
	}
}

// checkPropertyCycles reports a property that refers to itself, directly or through other properties.
func (ps *Properties) checkPropertyCycles(diagnostics *diags) {
	dependencies := make([][]int, len(ps.props))
	for i, property := range ps.props {
		syntax.Inspect(property.decl.X, func(node syntax.Node) bool {
			quoted, isQuoted := node.(*syntax.Quoted)
			if isQuoted && ps.quoted[quoted.Name].kind == "property" {
				dependencies[i] = append(dependencies[i], ps.quoted[quoted.Name].index)
			}
			return true
		})
	}
	if i := firstCycle(dependencies); i >= 0 {
		property := ps.props[i].decl
		diagnostics.addError(phasePropertyCycles, property.Pos(), "cyclic dependency in property references from property %q", property.Name.Name)
	}
}

// Len returns the number of properties.
func (ps *Properties) Len() int { return len(ps.props) }

// List returns a description of each property, in file order.
func (ps *Properties) List() []PropertyInfo {
	infos := make([]PropertyInfo, len(ps.props))
	for i, property := range ps.props {
		infos[i] = PropertyInfo{Text: syntax.ExprString(property.decl.X), Doc: property.decl.Doc, Pos: property.decl.Pos()}
		if property.decl.Name != nil {
			infos[i].Name = property.decl.Name.Name
			infos[i].Text = fmt.Sprintf("%q: %s", infos[i].Name, infos[i].Text)
		}
	}
	return infos
}

// Constants returns the constants of the file, in file order.
func (ps *Properties) Constants() []Constant { return describeConstants(ps.consts) }

// Labels returns the names of the labels of the file, in file order.
func (ps *Properties) Labels() []string {
	return namesOf(ps.labels, func(label LabelDef) string { return label.Name })
}

// Undefined returns the names of the undefined constants of the file, in file order. Needs returns the names that a property requires.
func (ps *Properties) Undefined() []string { return undefinedNames(ps.consts) }

// Needs returns the undefined constants of this file that property i uses, directly or indirectly, in file order. It omits constants of the
// model.
func (ps *Properties) Needs(i int) []string {
	return undefinedNames(ps.usedConstants(ps.props[i].expr))
}

// usedConstants returns the constants of this file that expressions use, directly or through constants and labels, in file order.
func (ps *Properties) usedConstants(exprs ...Expr) []*constant {
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
			if i := expr.Index - len(ps.model.labels); i >= 0 {
				visit(ps.labels[i].Expr)
			}
		}
		VisitOperands(expr, visit)
	}
	for _, expr := range exprs {
		visit(expr)
	}
	return slices.DeleteFunc(slices.Clone(ps.consts), func(constant *constant) bool { return !used[constant] })
}

// Instantiate returns the selected properties with values for the constants of the file; nil selects all properties. Each constant that a
// selected property Needs must have a value. A Double constant accepts an Int, and undeclared names give warnings.
//
// The program must be an instance of the model of the file. The returned program is the same with the labels of the file appended. It omits
// unused labels whose constants have no value. The error is a syntax.ErrorList, except for a wrong program or selection.
func (ps *Properties) Instantiate(program *Program, selected []int, consts map[string]Value) ([]Property, *Program, error) {
	if program.model != ps.model {
		return nil, nil, fmt.Errorf("the program is not of the model that %s was checked against", ps.file)
	}
	selected = ps.selectedProperties(selected)
	exprs, err := ps.formulas(selected)
	if err != nil {
		return nil, nil, err
	}
	extendedProgram := *program
	folder := newFolder()
	folder.foldedExprs = maps.Clone(program.consts)
	folder.rewardCount = len(program.Rewards)
	extendedProgram.Warnings = append(slices.Clone(program.Warnings), ps.setConstants(folder, consts)...)
	folder.requireValues(ps.usedConstants(exprs...), ps.file)
	if err := folder.err(); err != nil {
		return nil, nil, err
	}
	extendedProgram.Labels = ps.addLabels(folder, program.Labels[:len(ps.model.labels):len(ps.model.labels)], exprs)
	props := ps.foldProperties(folder, selected)
	if err := folder.err(); err != nil {
		return nil, nil, err
	}
	extendedProgram.Warnings = append(extendedProgram.Warnings, folder.differences(ps.file)...)
	return props, &extendedProgram, nil
}

// formulas returns the formulas of the selected properties. An index that is out of range is an error.
func (ps *Properties) formulas(selected []int) ([]Expr, error) {
	var formulas []Expr
	for _, i := range selected {
		if i < 0 || i >= len(ps.props) {
			return nil, fmt.Errorf("there is no property %d to select, want one of 0 to %d", i, len(ps.props)-1)
		}
		formulas = append(formulas, ps.props[i].expr)
	}
	return formulas, nil
}

// foldProperties returns the selected properties with constants replaced by their values.
func (ps *Properties) foldProperties(folder *folder, selected []int) []Property {
	props := make([]Property, len(selected))
	for i, propertyIndex := range selected {
		property := ps.props[propertyIndex]
		props[i] = Property{Text: syntax.ExprString(property.decl.X), Expr: folder.fold(property.expr), Pos: property.decl.Pos()}
		if property.decl.Name != nil {
			props[i].Name = property.decl.Name.Name
		}
	}
	return props
}

// setConstants sets the values of this file's constants. It returns a warning for each name that neither this file nor the model declares.
func (ps *Properties) setConstants(folder *folder, consts map[string]Value) (warnings []error) {
	for _, name := range slices.Sorted(maps.Keys(consts)) {
		if constant := ps.names[name].constant; constant != nil {
			folder.setConstant(constant, consts[name])
		} else if ps.model.names[name].constant == nil {
			warnings = append(warnings, &syntax.Error{File: ps.file, Msg: fmt.Sprintf("constant %q is not declared, so its value is not used", name)})
		}
	}
	return warnings
}

// addLabels appends this file's labels to the labels of the program. It omits unused labels that cannot be evaluated.
func (ps *Properties) addLabels(folder *folder, labels []LabelDef, selected []Expr) []LabelDef {
	for i := range labels {
		folder.labelIndices = append(folder.labelIndices, i)
	}
	used := ps.usedLabels(selected)
	for i, label := range ps.labels {
		index := -1
		if expr, ok := folder.foldLabel(ps, label.Expr, used[i]); ok {
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
		if !isGiven && constant.def == nil {
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
func (ps *Properties) usedLabels(exprs []Expr) []bool {
	used := make([]bool, len(ps.labels))
	isVisited := make(map[Expr]bool)
	var visit func(expr Expr)
	visit = func(expr Expr) {
		if isVisited[expr] {
			return
		}
		isVisited[expr] = true
		if label, ok := expr.(*Label); ok && label.Index >= len(ps.model.labels) {
			used[label.Index-len(ps.model.labels)] = true
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
	if f.rewardCount == 0 {
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
