package sema

import (
	"maps"
	"slices"

	"tilecheck/prism/syntax"
)

// Values returns the values of the constants of the model, and then of the properties file, in file order. It omits constants without a value.
// constants has the values of constants that the files do not define.
//
// Source: the constants that PRISM prints with a result.
func (properties *Properties) Values(program *Program, constants map[string]Value) []NamedValue {
	values := slices.Clone(program.Consts)
	folder := newFolder()
	maps.Copy(folder.foldedExprs, program.constants)
	properties.setConstants(folder, constants)
	for _, constant := range properties.constants {
		if !folder.canEvaluate(constant, properties) {
			continue
		}
		errorsBefore := len(folder.errs)
		folder.foldConstant(constant)
		if len(folder.errs) == errorsBefore {
			values = append(values, NamedValue{constant.name, folder.values[constant]})
		}
		folder.errs = folder.errs[:errorsBefore]
	}
	return values
}

// canEvaluate reports whether a constant can be evaluated: the constant, and each constant that its definition uses, has a given value or a definition.
func (f *folder) canEvaluate(constant *constant, props *Properties) bool {
	if constant.def == nil {
		_, ok := f.givenValues[constant]
		return ok
	}
	for _, needed := range props.usedConstants(constant.def) {
		_, isGiven := f.givenValues[needed]
		if !isGiven && needed.def == nil {
			return false
		}
	}
	return true
}

// ResolveConstant resolves an expression over constants. Eval and EvalExact can evaluate the result without a state. The error is a
// syntax.ErrorList.
func ResolveConstant(expr syntax.Expr, constants []NamedValue) (Expr, error) {
	model := &Model{names: make(table), quoted: make(table)}
	folder := newFolder()
	for _, value := range constants {
		decl := &syntax.ConstDecl{Name: &syntax.Ident{Name: value.Name}}
		declaration := &constant{name: value.Name, valueType: value.Val.Type, declaration: decl}
		model.names[value.Name] = symbol{kind: "constant", constant: declaration}
		folder.givenValues[declaration] = value.Val
	}
	diagnostics := &diags{}
	resolved := newResolver(diagnostics, model, nil).resolveExpr(expr)
	if err := diagnostics.err(); err != nil {
		return nil, err
	}
	return folder.fold(resolved), folder.err()
}
