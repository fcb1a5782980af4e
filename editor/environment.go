package editor

import (
	"hash/maphash"
	"slices"

	"tilecheck/prism/syntax"
)

// surroundings are what names stand for, as far as it matters to commands.
type surroundings struct {
	text  []byte
	decls map[string][]declared
	kinds map[string]uint64 // of names, whatever the values of constants are
	names map[string]uint64
	all   uint64 // what matters to each command; 0 if nothing is to be relied on
}

// declared is a declaration of a value, and the module that it is in.
type declared struct {
	syntax.Node
	module string
}

// state is what is around a command: what its names are, and, where that is known to matter, which
// values constants have; each 0 if it is not to be relied on.
type state struct {
	kinds, values uint64
	// alike says that commands with the same values are all right if one of them is.
	alike bool
}

func surroundingsOf(m *syntax.Model, text []byte) *surroundings {
	s := &surroundings{text: text, decls: make(map[string][]declared), kinds: make(map[string]uint64), names: make(map[string]uint64), all: 1}
	add := func(id *syntax.Ident, n syntax.Node, module string) {
		s.decls[id.Name] = append(s.decls[id.Name], declared{n, module})
	}
	modules := make(map[string]bool)
	module := func(id *syntax.Ident) bool {
		twice := modules[id.Name]
		modules[id.Name] = true
		return !twice
	}
	alone := true // each module has a name of its own
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
			alone = module(n.Name) && alone
			for _, v := range n.Vars {
				add(v.Name, v, n.Name.Name)
			}
		case *syntax.RenamedModule:
			alone = module(n.Name) && alone
			renamed = append(renamed, n)
		}
	}
	for _, n := range renamed { // its commands have other names, too
		s.all = mix(s.all, s.hash(n))
		for _, r := range n.Renames {
			s.all = mix(mix(s.all, s.name(r.Old.Name)), s.name(r.New.Name))
		}
	}
	if !alone {
		s.all = 0
	}
	return s
}

// hash is a number for the text of a node.
func (s *surroundings) hash(n syntax.Node) uint64 {
	return maphash.Bytes(seed, s.text[n.Pos().Offset:n.End().Offset])
}

// name is a number for what a name stands for.
func (s *surroundings) name(name string) uint64 { return s.number(s.names, name, true) }

// kind is a number for that but for the values of constants.
func (s *surroundings) kind(name string) uint64 { return s.number(s.kinds, name, false) }

func (s *surroundings) number(known map[string]uint64, name string, values bool) uint64 {
	if h, ok := known[name]; ok {
		return h
	}
	h := uint64(1)
	known[name] = h // for one that depends on itself, which is an error
	for _, d := range s.decls[name] {
		switch n := d.Node.(type) {
		case *syntax.VarDecl: // whatever its range is
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

// of is what is around a command.
func (s *surroundings) of(p placed) state {
	if s.all == 0 {
		return state{}
	}
	h := mix(s.all, maphash.String(seed, p.module))
	for _, name := range p.uses {
		h = mix(h, s.kind(name))
	}
	w := p.worth.Load()
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

// worth is what the values of constants can change in a command that is right for its types: whether the guard
// is false in every state, and whether an operation on values has another result with doubles.
type worth struct {
	kinds uint64 // as in state; what is said of the command holds for it
	// units are the operations on constants and literals in it, each once, and names those that stand in them.
	// If decided they, with their values, leave nothing else to be found out.
	units, names []string
	decided      bool
}

// worthOf is that of a command.
func (s *surroundings) worthOf(c *syntax.Command, kinds uint64) *worth {
	v := valuation{surroundings: s, w: &worth{kinds: kinds, decided: true}, open: make(map[string]shape)}
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
	if !v.w.decided { // by whatever stands in it
		v.w.units, v.w.names = nil, nil
		v.names(c)
	}
	return v.w
}

// valuation finds the operations on constants in a command.
type valuation struct {
	*surroundings
	w    *worth
	open map[string]shape // formulas that have been looked at, and unknown ones that are being looked at
}

// shape says what folding makes of an expression.
type shape uint8

const (
	unknown shape = iota
	fixed         // constants and values, and nothing else
	varying       // an operation on variables, whatever constants are
)

// root looks at an expression that is no operand.
func (v *valuation) root(x syntax.Expr) {
	if x != nil {
		v.beside(x, v.operand(x))
	}
}

// beside keeps an operation on constants that no further one is made of.
func (v *valuation) beside(x syntax.Expr, is shape) {
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
	switch x := x.(type) { // in which nothing is computed
	case *syntax.IntLit, *syntax.DoubleLit, *syntax.BoolLit:
		return
	case *syntax.Ident:
		if v.isConst(x.Name) {
			return
		}
	}
	if unit := string(v.text[x.Pos().Offset:x.End().Offset]); !slices.Contains(v.w.units, unit) {
		v.w.units = append(v.w.units, unit)
		v.names(x)
	}
}

func (v *valuation) isConst(name string) bool {
	list := v.decls[name]
	if len(list) != 1 {
		return false
	}
	_, ok := list[0].Node.(*syntax.ConstDecl)
	return ok
}

// names keeps the names in a node.
func (v *valuation) names(n syntax.Node) {
	syntax.Inspect(n, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && !slices.Contains(v.w.names, id.Name) {
			v.w.names = append(v.w.names, id.Name)
		}
		return true
	})
}

// operand is the shape of an expression.
func (v *valuation) operand(x syntax.Expr) shape {
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
		case syntax.OpAnd, syntax.OpOr, syntax.OpImplies, syntax.OpIff: // a value decides, or is left out
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
			v.beside(y, v.operand(y))
		}
		return varying
	case *syntax.Call:
		return v.operands(x.Args...)
	}
	v.w.decided = false
	return unknown
}

// operands is the shape of an operation that has a value only if each of its operands has one.
func (v *valuation) operands(list ...syntax.Expr) shape {
	shapes := make([]shape, len(list))
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
		v.beside(x, shapes[i])
	}
	return varying
}

func (v *valuation) ident(id *syntax.Ident) shape {
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
