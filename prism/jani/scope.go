package jani

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// slot is a variable of type bool, int or real; each element of an array is a slot. It is a
// variable of the PRISM model, or transient.
type slot struct {
	decl      *variable
	typ       *typ
	name      string // in PRISM's language
	jani      string // in the document
	owner     int    // the instance of a local variable, -1 for a global one
	module    int    // an instance in whose module it is declared, -1 for a global variable
	shared    bool   // several modules assign it in steps with actions
	transient bool
	initial   syntax.Expr // initial value; nil if it may be any value
	state     syntax.Expr // value of a transient variable in a state; nil means initial
	stateSize int         // size of state
	ambiguous bool        // locations of several instances give it a value
	earns     bool        // a step reward depends on it
	writers   []int       // instances that assign it, if it is not transient
}

// symbol is the meaning of a name.
type symbol struct {
	slot   *slot
	x      syntax.Expr // of a constant or an argument
	size   int         // of x, written out
	isBool bool        // of x
	data   *data       // of an array or a datatype
	raw    *value      // of a constant: its definition
}

// data is the parts of an array or a datatype.
type data struct {
	elems   []symbol
	members map[string]symbol
}

// scope maps names to their meanings.
type scope struct {
	outer     *scope
	names     map[string]symbol
	functions map[string]*function
}

func newScope(outer *scope) *scope {
	return &scope{outer: outer, names: make(map[string]symbol)}
}

func (s *scope) find(name string) (symbol, bool) {
	for ; s != nil; s = s.outer {
		if x, ok := s.names[name]; ok {
			return x, true
		}
	}
	return symbol{}, false
}

// function returns a function and the scope in which it is declared.
func (s *scope) function(name string) (*function, *scope) {
	for ; s != nil; s = s.outer {
		if f := s.functions[name]; f != nil {
			return f, s
		}
	}
	return nil, nil
}

// names is the set of names in use in the PRISM model.
type names map[string]bool

// unused returns an unused name similar to the given one, and marks it as used.
func (n names) unused(name string) string {
	out := identifier(name)
	for i := 2; n[out]; i++ {
		out = identifier(name) + "_" + strconv.Itoa(i)
	}
	n[out] = true
	return out
}

// identifier converts a text to an identifier of PRISM's language.
func identifier(name string) string {
	const most = 200
	out := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if len(out) > most {
		out = out[:most]
	}
	if !syntax.IsIdent(out) {
		out = "_" + out
	}
	return out
}
