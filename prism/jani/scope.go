package jani

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// slot is a variable of one type bool, int or real: an element of an array is
// one, too. It is a variable of the model in PRISM's language, or transient.
type slot struct {
	decl      *variable
	typ       *typ
	name      string // in PRISM's language
	jani      string // as the document calls it
	owner     int    // the instance whose local variable it is, -1 for a global one
	home      int    // an instance whose module it is in, -1 for a global variable of the model
	shared    bool   // several modules assign it in steps that have actions
	transient bool
	initial   syntax.Expr // what it is at first; nil if that may be anything
	state     syntax.Expr // what a transient one is in a state; nil is initial
	stateSize int         // of state
	twice     bool        // locations of several instances say what it is
	earns     bool        // whether a reward of steps reads it
	writers   []int       // instances that assign it, if it is not transient
}

// symbol is what a name stands for.
type symbol struct {
	slot   *slot
	x      syntax.Expr // of a constant or an argument
	size   int         // of x, written out
	isBool bool        // of x
	data   *data       // of an array or a datatype
	raw    *value      // of a constant, what it is
}

// data is a variable that has parts: the elements of an array, or the members
// of a datatype by name.
type data struct {
	elems   []symbol
	members map[string]symbol
}

// scope finds what names stand for.
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

// function finds a function, and the scope it is declared in.
func (s *scope) function(name string) (*function, *scope) {
	for ; s != nil; s = s.outer {
		if f := s.functions[name]; f != nil {
			return f, s
		}
	}
	return nil, nil
}

// names makes names for PRISM's language, where each stands for one thing.
type names map[string]bool

// take returns a name that is like a given one and not taken.
func (n names) take(name string) string {
	out := identifier(name)
	for i := 2; n[out]; i++ {
		out = identifier(name) + "_" + strconv.Itoa(i)
	}
	n[out] = true
	return out
}

// identifier turns a text into an identifier of PRISM's language.
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
