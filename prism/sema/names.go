package sema

import (
	"tilecheck/prism/syntax"
)

// constant is a declared constant. def is its resolved definition; nil if it has none.
type constant struct {
	name  string
	typ   Type
	decl  *syntax.ConstDecl
	def   Expr
	file  string
	prop  bool // of a properties file
	index int  // among the constants of its file
}

// formula is a declared formula.
type formula struct {
	name string
	decl *syntax.FormulaDecl
}

// variable is a declared variable; its range and initial value are resolved.
type variable struct {
	name            string
	typ             Type
	decl            *syntax.VarDecl
	module          int // -1 for a global
	low, high, init Expr
}

// symbol is the meaning of an identifier or a quoted name.
type symbol struct {
	use string // "constant", "formula", "variable", "label", "observable" or "property"
	loc string // "the model" or "the properties"

	constant *constant
	formula  *formula
	index    int // of a variable, label, observable or property
}

// table is a name space.
type table map[string]symbol

// lookup finds a name in this table, otherwise in the outer one.
func (t table) lookup(outer table, name string) (symbol, bool) {
	if s, ok := t[name]; ok {
		return s, true
	}
	s, ok := outer[name]
	return s, ok
}

// declare adds a name and returns true. If the name is in use, it reports an error and keeps the
// first declaration.
func (t table) declare(d *diags, p phase, outer table, name, shown string, pos syntax.Pos, s symbol) bool {
	old, taken := outer[name]
	if !taken {
		old, taken = t[name]
	}
	if taken {
		d.add(p, pos, "name of %s %s is already used for %s %s in %s", s.use, shown, article(old.use), old.use, old.loc)
		return false
	}
	t[name] = s
	return true
}

func article(noun string) string {
	switch noun[0] {
	case 'a', 'e', 'i', 'o', 'u':
		return "an"
	}
	return "a"
}

// renaming is the substitution of one renamed module.
type renaming struct {
	decl *syntax.RenamedModule
	to   map[string]string
}

// rename applies renamings one after another.
func rename(rs []*renaming, name string) string {
	for _, r := range rs {
		if to, ok := r.to[name]; ok {
			name = to
		}
	}
	return name
}
