package sema

import (
	"strconv"

	"tilecheck/prism/syntax"
)

// constant is a declared constant. def is its resolved definition; nil if it has none.
type constant struct {
	name           string
	valueType      Type
	declaration    *syntax.ConstDecl
	def            Expr
	file           string
	fromProperties bool // of a properties file
	index          int  // among the constants of its file
}

// formula is a declared formula.
type formula struct {
	name        string
	declaration *syntax.FormulaDecl
}

// variable is a declared variable; its range and initial value are resolved.
type variable struct {
	name            string
	valueType       Type
	declaration     *syntax.VarDecl
	module          int // -1 for a global
	low, high, init Expr
}

// symbol is the meaning of an identifier or a quoted name.
type symbol struct {
	kind     string // "constant", "formula", "variable", "label", "observable" or "property"
	location string // "the model" or "the properties"

	constant *constant
	formula  *formula
	index    int // of a variable, label, observable or property
}

// table is a name space: it maps names to their meanings.
type table map[string]symbol

// lookup returns the meaning of a name in this table, or else in the outer table.
func (t table) lookup(outer table, name string) (symbol, bool) {
	if meaning, ok := t[name]; ok {
		return meaning, true
	}
	meaning, ok := outer[name]
	return meaning, ok
}

// declareName declares an identifier of the model. If the name is in use, it reports an error and returns false.
func (c *checker) declareName(errorPhase phase, name string, pos syntax.Pos, meaning symbol) bool {
	meaning.location = "the model"
	return c.model.names.declare(&c.diags, errorPhase, nil, name, name, pos, meaning)
}

// declareQuoted declares a quoted name of the model. If the name is in use, it reports an error and returns false.
func (c *checker) declareQuoted(errorPhase phase, name string, pos syntax.Pos, meaning symbol) bool {
	meaning.location = "the model"
	return c.model.quoted.declare(&c.diags, errorPhase, nil, name, strconv.Quote(name), pos, meaning)
}

// declare adds a name with its meaning to the table. If the table or outerTable already has the name, it reports an error of the given phase and
// returns false. Error messages contain shownName instead of the name.
func (t table) declare(diags *diags, errorPhase phase, outerTable table, name, shownName string, pos syntax.Pos, meaning symbol) bool {
	earlier, isDeclared := outerTable[name]
	if !isDeclared {
		earlier, isDeclared = t[name]
	}
	if isDeclared {
		diags.addError(errorPhase, pos, "name of %s %s is already used for %s %s in %s", meaning.kind, shownName, article(earlier.kind), earlier.kind, earlier.location)
		return false
	}
	t[name] = meaning
	return true
}

// article returns the indefinite article of a noun in lower case.
func article(noun string) string {
	switch noun[0] {
	case 'a', 'e', 'i', 'o', 'u':
		return "an"
	}
	return "a"
}

// renaming holds the new names that a renamed module gives to names of its base.
type renaming struct {
	declaration *syntax.RenamedModule
	newNames    map[string]string
}

// applyRenamings returns the new name of a name after several renamings, one after another.
func applyRenamings(renamings []*renaming, name string) string {
	for _, renaming := range renamings {
		if newName, ok := renaming.newNames[name]; ok {
			name = newName
		}
	}
	return name
}
