package jani

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// slot is a variable of type bool, int or real; each element of an array is a slot. It is a
// variable of the PRISM model, or transient.
type slot struct {
	declaration   *variable
	valueType     *janiType
	name          string // in PRISM's language
	janiName      string // in the document
	owner         int    // the instance of a local variable, -1 for a global one
	module        int    // an instance in whose module it is declared, -1 for a global variable
	isShared      bool   // several modules assign it in steps with actions
	isTransient   bool
	initial       syntax.Expr // initial value; nil if it may be any value
	stateValue    syntax.Expr // value of a transient variable in a state; nil means initial
	stateSize     int         // size of stateValue
	isAmbiguous   bool        // locations of several instances give it a value
	affectsReward bool        // a step reward depends on it
	writers       []int       // instances that assign it, if it is not transient
}

// symbol is the meaning of a name: a variable, an expression, or a composite of symbols.
type symbol struct {
	slot       *slot
	expr       syntax.Expr // of a constant or an argument
	size       int         // of expr, see sizedExpr
	isBool     bool        // says that expr is Boolean
	composite  *composite  // of an array or a datatype
	definition *jsonValue  // of a constant: its definition
}

type composite struct {
	elements []symbol
	members  map[string]symbol
}

// setMember sets a member of a datatype.
func (parts *composite) setMember(name string, member symbol) {
	if parts.members == nil {
		parts.members = make(map[string]symbol)
	}
	parts.members[name] = member
}

// scope maps names to their meanings, with those of outer scopes.
type scope struct {
	outer     *scope
	names     map[string]symbol
	functions map[string]*function
}

func newScope(outer *scope) *scope {
	return &scope{outer: outer, names: make(map[string]symbol)}
}

// valueInState returns the value of a transient variable in a state.
func (variable *slot) valueInState() syntax.Expr {
	if variable.stateValue != nil {
		return variable.stateValue
	}
	return variable.initial
}

// find returns the meaning of a name. It searches this scope and then the scopes around it.
func (s *scope) find(name string) (meaning symbol, ok bool) {
	for ; s != nil; s = s.outer {
		if meaning, ok := s.names[name]; ok {
			return meaning, true
		}
	}
	return symbol{}, false
}

// function returns the function with this name, and the scope that declares it. It searches this scope and then the scopes around it. It returns
// nil if there is none.
func (s *scope) function(name string) (found *function, declaredIn *scope) {
	for ; s != nil; s = s.outer {
		if function := s.functions[name]; function != nil {
			return function, s
		}
	}
	return nil, nil
}

// names is the set of names in use in the PRISM model.
type names map[string]bool

// unusedName returns an identifier that is not in use and resembles the given name. It marks the identifier as used.
func (n names) unusedName(name string) string {
	candidate := identifier(name)
	for i := 2; n[candidate]; i++ {
		candidate = identifier(name) + "_" + strconv.Itoa(i)
	}
	n[candidate] = true
	return candidate
}

// identifier converts a text to an identifier of PRISM's language: other characters become underscores, and a long text is cut.
func identifier(name string) string {
	const maxLength = 200
	result := strings.Map(letterOrUnderscore, name)
	if len(result) > maxLength {
		result = result[:maxLength]
	}
	if !syntax.IsIdent(result) {
		result = "_" + result
	}
	return result
}

// letterOrUnderscore returns the character if it is an ASCII letter or digit, and an underscore otherwise.
func letterOrUnderscore(char rune) rune {
	isLetter := 'a' <= char && char <= 'z' || 'A' <= char && char <= 'Z'
	isDigit := '0' <= char && char <= '9'
	if isLetter || isDigit {
		return char
	}
	return '_'
}
