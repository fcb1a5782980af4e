package sema

import "tilecheck/prism/syntax"

// Values returns the values of all constants of the model in file order, followed by the constants
// of the properties file that are defined or have a value in consts. It omits constants that cannot
// be evaluated.
//
// Source: the constants that PRISM prints with a result.
func (ps *Properties) Values(p *Program, consts map[string]Value) []NamedValue {
	values := append([]NamedValue(nil), p.Consts...)
	folder := newFolder()
	for c, x := range p.consts {
		folder.folded[c] = x
	}
	ps.giveConstants(folder, consts)
	for _, c := range ps.consts {
		if !folder.canEvaluate(c, ps) {
			continue
		}
		errorsBefore := len(folder.errs)
		if folder.foldConstant(c); len(folder.errs) == errorsBefore {
			values = append(values, NamedValue{c.name, folder.values[c]})
		}
		folder.errs = folder.errs[:errorsBefore]
	}
	return values
}

// canEvaluate reports whether a constant, and each constant that its definition uses, has a value.
func (f *folder) canEvaluate(c *constant, ps *Properties) bool {
	if c.def == nil {
		_, ok := f.given[c]
		return ok
	}
	for _, used := range ps.usedConstants(c.def) {
		if _, ok := f.given[used]; !ok && used.def == nil {
			return false
		}
	}
	return true
}

// ResolveConstant resolves an expression over constants. The result has no variables, so Eval and
// EvalExact need no state for it. The error is a syntax.ErrorList.
func ResolveConstant(x syntax.Expr, consts []NamedValue) (Expr, error) {
	model := &Model{names: make(table), quoted: make(table)}
	folder := newFolder()
	for _, v := range consts {
		decl := &syntax.ConstDecl{Name: &syntax.Ident{Name: v.Name}}
		c := &constant{name: v.Name, typ: v.Val.Type, decl: decl}
		model.names[v.Name] = symbol{kind: "constant", constant: c}
		folder.given[c] = v.Val
	}
	diagnostics := &diags{}
	resolved := newResolver(diagnostics, model, nil).expr(x)
	if err := diagnostics.err(); err != nil {
		return nil, err
	}
	return folder.fold(resolved), folder.err()
}
