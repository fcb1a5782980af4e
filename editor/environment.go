package editor

import (
	"hash/maphash"
	"slices"

	"tilecheck/prism/syntax"
)

// environment holds hashes of the declarations that commands refer to.
type environment struct {
	text  []byte
	decls map[string][]declared
	kinds map[string]uint64 // hashes of the meanings of names, without the values of constants
	names map[string]uint64 // hashes including the values of constants
	all   uint64            // hash of what affects every command; 0 if results must not be reused
}

// declared is the declaration of a value, with its module.
type declared struct {
	syntax.Node
	module string
}

// state holds hashes of the environment of a command: kinds of the meanings of its names, values
// also of the values of constants that affect it. A hash is 0 if it must not be used.
type state struct {
	kinds, values uint64
	// sameResult says that commands with the same values have warnings either all or none.
	sameResult bool
}

func environmentOf(m *syntax.Model, text []byte) *environment {
	s := &environment{text: text, decls: make(map[string][]declared), kinds: make(map[string]uint64), names: make(map[string]uint64), all: 1}
	add := func(id *syntax.Ident, n syntax.Node, module string) {
		s.decls[id.Name] = append(s.decls[id.Name], declared{n, module})
	}
	modules := make(map[string]bool)
	module := func(id *syntax.Ident) bool {
		twice := modules[id.Name]
		modules[id.Name] = true
		return !twice
	}
	distinct := true // module names are distinct
	var renamed []*syntax.RenamedModule
	for _, item := range m.Items {
		switch n := item.(type) {
		case *syntax.TypeDecl:
			s.all = mix(s.all, s.hash(n))
		case *syntax.ConstDecl:
			add(n.Name, n, "")
		case *syntax.FormulaDecl:
			add(n.Name, n, "")
		case *syntax.GlobalDecl:
			add(n.Var.Name, n.Var, "")
		case *syntax.Module:
			distinct = module(n.Name) && distinct
			for _, v := range n.Vars {
				add(v.Name, v, n.Name.Name)
			}
		case *syntax.RenamedModule:
			distinct = module(n.Name) && distinct
			renamed = append(renamed, n)
		}
	}
	for _, n := range renamed { // the names in its commands are renamed
		s.all = mix(s.all, s.hash(n))
		for _, r := range n.Renames {
			s.all = mix(mix(s.all, s.name(r.Old.Name)), s.name(r.New.Name))
		}
	}
	if !distinct {
		s.all = 0
	}
	return s
}

// hash returns a hash of the text of a node.
func (s *environment) hash(n syntax.Node) uint64 {
	return maphash.Bytes(seed, s.text[n.Pos().Offset:n.End().Offset])
}

// name returns a hash of the meaning of a name.
func (s *environment) name(name string) uint64 { return s.number(s.names, name, true) }

// kind returns a hash of the meaning of a name without the values of constants.
func (s *environment) kind(name string) uint64 { return s.number(s.kinds, name, false) }

func (s *environment) number(known map[string]uint64, name string, values bool) uint64 {
	if h, ok := known[name]; ok {
		return h
	}
	h := uint64(1)
	known[name] = h // ends the recursion for a cyclic definition, which is an error
	for _, d := range s.decls[name] {
		switch n := d.Node.(type) {
		case *syntax.VarDecl: // its range does not matter
			h = mix(mix(h, uint64(n.Type)+2), maphash.String(seed, d.module))
			continue
		case *syntax.ConstDecl:
			if !values {
				h = mix(h, ^uint64(n.Type))
				continue
			}
		}
		h = mix(h, s.hash(d.Node))
		syntax.Inspect(d.Node, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok {
				h = mix(h, s.number(known, id.Name, values))
			}
			return true
		})
	}
	known[name] = h
	return h
}

// stateOf returns the state of the environment for a command.
func (s *environment) stateOf(p textCommand) state {
	if s.all == 0 {
		return state{}
	}
	h := mix(s.all, maphash.String(seed, p.module))
	for _, name := range p.uses {
		h = mix(h, s.kind(name))
	}
	w := p.constantUse.Load()
	if h == 0 || w == nil || w.kinds != h {
		return state{kinds: h}
	}
	values := mix(s.all, h)
	for _, unit := range w.units {
		values = mix(values, maphash.String(seed, unit))
	}
	for _, name := range w.names {
		values = mix(values, s.name(name))
	}
	return state{h, values, w.decided}
}

// constantUse describes how the values of constants affect a command without errors: whether the
// guard is false in every state, and whether an operation on constants has another value in
// float64 arithmetic.
type constantUse struct {
	kinds uint64 // the state.kinds for which the description holds
	// units are the texts of distinct operations on constants and literals, names the names in
	// them. If decided is set, these and the values of the names determine the result.
	units, names []string
	decided      bool
}

// constantUseOf returns the constantUse of a command.
func (s *environment) constantUseOf(c *syntax.Command, kinds uint64) *constantUse {
	v := constantFinder{environment: s, w: &constantUse{kinds: kinds, decided: true}, open: make(map[string]foldKind)}
	if v.operand(c.Guard) == fixed { // it may be false
		v.w.decided = false
	}
	for _, u := range c.Updates {
		v.root(u.Prob)
		v.root(u.ProbHigh)
		for _, a := range u.Assigns {
			v.root(a.Value)
		}
	}
	if !v.w.decided { // the result may depend on any name in the command
		v.w.units, v.w.names = nil, nil
		v.addNames(c)
	}
	return v.w
}

// constantFinder finds the operations on constants in a command.
type constantFinder struct {
	*environment
	w    *constantUse
	open map[string]foldKind // of visited formulas; unknown while a formula is being visited
}

// foldKind says what constant folding makes of an expression.
type foldKind uint8

const (
	unknown foldKind = iota
	fixed            // a value: the expression has only constants and literals
	varying          // an operation on variables, whatever the values of constants are
)

// root visits an expression that is not an operand.
func (v *constantFinder) root(x syntax.Expr) {
	if x != nil {
		v.addUnit(x, v.operand(x))
	}
}

// addUnit records an operation on constants that is not part of a larger one.
func (v *constantFinder) addUnit(x syntax.Expr, is foldKind) {
	for {
		p, ok := x.(*syntax.Paren)
		if !ok {
			break
		}
		x = p.X
	}
	if is != fixed {
		return
	}
	switch x := x.(type) { // no operation
	case *syntax.IntLit, *syntax.DoubleLit, *syntax.BoolLit:
		return
	case *syntax.Ident:
		if v.isConst(x.Name) {
			return
		}
	}
	if unit := string(v.text[x.Pos().Offset:x.End().Offset]); !slices.Contains(v.w.units, unit) {
		v.w.units = append(v.w.units, unit)
		v.addNames(x)
	}
}

func (v *constantFinder) isConst(name string) bool {
	list := v.decls[name]
	if len(list) != 1 {
		return false
	}
	_, ok := list[0].Node.(*syntax.ConstDecl)
	return ok
}

// addNames records the names in a node.
func (v *constantFinder) addNames(n syntax.Node) {
	syntax.Inspect(n, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && !slices.Contains(v.w.names, id.Name) {
			v.w.names = append(v.w.names, id.Name)
		}
		return true
	})
}

// operand returns the foldKind of an expression.
func (v *constantFinder) operand(x syntax.Expr) foldKind {
	switch x := x.(type) {
	case *syntax.IntLit, *syntax.DoubleLit, *syntax.BoolLit:
		return fixed
	case *syntax.Paren:
		return v.operand(x.X)
	case *syntax.Ident:
		return v.ident(x)
	case *syntax.Unary:
		return v.operand(x.X)
	case *syntax.Binary:
		switch x.Op {
		case syntax.OpAnd, syntax.OpOr, syntax.OpImplies, syntax.OpIff: // a constant operand decides the result or is removed
			a, b := v.operand(x.X), v.operand(x.Y)
			if a == b && a == varying {
				return varying
			}
			if a != fixed || b != fixed {
				v.w.decided = false
				return unknown
			}
			return fixed
		}
		return v.operands(x.X, x.Y)
	case *syntax.Cond:
		if v.operand(x.C) != varying {
			break
		}
		for _, y := range []syntax.Expr{x.T, x.E} {
			v.addUnit(y, v.operand(y))
		}
		return varying
	case *syntax.Call:
		return v.operands(x.Args...)
	}
	v.w.decided = false
	return unknown
}

// operands returns the foldKind of an operation that needs the values of all its operands.
func (v *constantFinder) operands(list ...syntax.Expr) foldKind {
	shapes := make([]foldKind, len(list))
	for i, x := range list {
		shapes[i] = v.operand(x)
	}
	switch {
	case slices.Contains(shapes, unknown):
		return unknown
	case !slices.Contains(shapes, varying):
		return fixed
	}
	for i, x := range list {
		v.addUnit(x, shapes[i])
	}
	return varying
}

func (v *constantFinder) ident(id *syntax.Ident) foldKind {
	is, seen := v.open[id.Name]
	if seen && is != unknown {
		return is
	}
	if list := v.decls[id.Name]; len(list) == 1 && !seen {
		switch n := list[0].Node.(type) {
		case *syntax.VarDecl:
			return varying
		case *syntax.ConstDecl:
			return fixed
		case *syntax.FormulaDecl:
			v.open[id.Name] = unknown
			v.open[id.Name] = v.operand(n.X)
			return v.open[id.Name]
		}
	}
	v.w.decided = false
	return unknown
}
