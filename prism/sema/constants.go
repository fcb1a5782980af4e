package sema

import "tilecheck/prism/syntax"

// Values returns the values of all constants of the model, in file order, and then those of the
// constants of the properties file that are defined or given in consts. Constants that cannot be
// evaluated are omitted.
//
// Source: the constants that PRISM prints with a result.
func (ps *Properties) Values(p *Program, consts map[string]Value) []NamedValue {
	out := append([]NamedValue(nil), p.Consts...)
	f := newFolder()
	for c, x := range p.consts {
		f.known[c] = x
	}
	ps.give(f, consts)
	for _, c := range ps.consts {
		if !f.has(c, ps) {
			continue
		}
		n := len(f.errs)
		if f.constant(c); len(f.errs) == n {
			out = append(out, NamedValue{c.name, f.values[c]})
		}
		f.errs = f.errs[:n]
	}
	return out
}

// has reports whether a constant, and all that its definition uses, has a value.
func (f *folder) has(c *constant, ps *Properties) bool {
	if c.def == nil {
		_, ok := f.given[c]
		return ok
	}
	for _, used := range ps.needed(c.def) {
		if _, ok := f.given[used]; !ok && used.def == nil {
			return false
		}
	}
	return true
}

// ResolveConstant resolves an expression over constants. The result has no variables, so Eval and
// EvalExact need no state for it. The error is a syntax.ErrorList.
func ResolveConstant(x syntax.Expr, consts []NamedValue) (Expr, error) {
	m := &Model{names: make(table), quoted: make(table)}
	f := newFolder()
	for _, v := range consts {
		decl := &syntax.ConstDecl{Name: &syntax.Ident{Name: v.Name}}
		c := &constant{name: v.Name, typ: v.Val.Type, decl: decl}
		m.names[v.Name] = symbol{use: "constant", constant: c}
		f.given[c] = v.Val
	}
	d := &diags{}
	e := newResolver(d, m, nil).expr(x)
	if err := d.err(); err != nil {
		return nil, err
	}
	return f.fold(e), f.err()
}
