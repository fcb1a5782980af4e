package compile

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// group is one way for modules to move together: every leaf must contribute
// one enabled command, and the choices are the product of the leaves.
type group struct {
	action int // of the choice; sema.Unlabelled after hiding, too
	leaves []leaf
}

// leaf is a module and its commands with one action, in command order.
type leaf struct {
	module   int
	commands []*command
}

// behaviour is what a process-algebra term can do: its unlabelled ways to move
// and those of each action of its alphabet. A way is the list of its leaves.
// An action of the alphabet without ways is blocked.
type behaviour struct {
	unlabelled [][]leaf
	ways       map[int][][]leaf
}

// compose flattens the program's system term, or the default composition of
// all modules, into groups: unlabelled first in module order, then the actions
// in order of first appearance.
//
// Source: the order of PRISM's explicit engine (reference, section 4.2).
func (m *Model) compose() ([]group, error) {
	term := m.prog.System
	if term == nil {
		all := &sema.SysParallel{Full: true}
		for i := range m.prog.Modules {
			all.Operands = append(all.Operands, sema.SysModule{Index: i})
		}
		term = all
	}
	b, err := m.behave(term)
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, way := range b.unlabelled {
		groups = append(groups, group{sema.Unlabelled, way})
	}
	for a := range m.prog.Actions {
		for _, way := range b.ways[a] {
			groups = append(groups, group{a, way})
		}
	}
	return slices.DeleteFunc(groups, group.dead), m.disjoint(groups)
}

// dead reports whether the group can never move.
func (g group) dead() bool {
	return slices.ContainsFunc(g.leaves, func(l leaf) bool { return len(l.commands) == 0 })
}

// disjoint checks that no module takes part twice in one group, which a system
// term that names a module twice would cause.
func (m *Model) disjoint(groups []group) error {
	for _, g := range groups {
		seen := map[int]bool{}
		for _, l := range g.leaves {
			if seen[l.module] {
				msg := fmt.Sprintf("module %q takes part twice in one composition", m.prog.Modules[l.module].Name)
				return &UnsupportedError{m.prog.File, m.prog.Modules[l.module].Pos, msg}
			}
			seen[l.module] = true
		}
	}
	return nil
}

func (m *Model) behave(term sema.System) (behaviour, error) {
	switch t := term.(type) {
	case sema.SysModule:
		return m.moduleBehaviour(t.Index), nil
	case *sema.SysParallel:
		return m.parallel(t)
	case *sema.SysHide:
		b, err := m.behave(t.X)
		for _, a := range t.Actions {
			b.unlabelled = append(b.unlabelled, b.ways[a]...)
			delete(b.ways, a)
		}
		return b, err
	case *sema.SysRename:
		b, err := m.behave(t.X)
		return rename(b, t, len(m.prog.Actions)), err
	}
	return behaviour{}, &UnsupportedError{m.prog.File, syntax.Pos{}, fmt.Sprintf("system term %T cannot be executed", term)}
}

func (m *Model) moduleBehaviour(module int) behaviour {
	with := func(action int) leaf {
		l := leaf{module: module}
		for _, c := range m.commands {
			if c.module == module && c.src.Action == action {
				l.commands = append(l.commands, c)
			}
		}
		return l
	}
	b := behaviour{ways: map[int][][]leaf{}}
	if l := with(sema.Unlabelled); len(l.commands) > 0 {
		b.unlabelled = [][]leaf{{l}}
	}
	for _, a := range m.prog.Modules[module].Alphabet {
		b.ways[a] = [][]leaf{{with(a)}}
	}
	return b
}

// parallel composes the operands: on an action they share, all who know it
// move together; on the others each moves alone.
func (m *Model) parallel(t *sema.SysParallel) (behaviour, error) {
	out := behaviour{ways: map[int][][]leaf{}}
	var parts []behaviour
	for _, x := range t.Operands {
		b, err := m.behave(x)
		if err != nil {
			return out, err
		}
		parts = append(parts, b)
		out.unlabelled = append(out.unlabelled, b.unlabelled...)
	}
	for a := range m.prog.Actions {
		synchronised := t.Full || slices.Contains(t.Actions, a)
		if ways, known := combine(parts, a, synchronised, t.Full); known {
			out.ways[a] = ways
		}
	}
	return out, nil
}

// combine gives the ways of action a, and whether any part knows it. With full
// composition a part that does not know the action stays out of it; on a listed
// action it blocks the others.
func combine(parts []behaviour, a int, synchronised, full bool) (ways [][]leaf, known bool) {
	var own [][][]leaf
	for _, b := range parts {
		if w, ok := b.ways[a]; ok {
			own = append(own, w)
		}
	}
	switch {
	case len(own) == 0:
		return nil, false
	case !synchronised:
		return slices.Concat(own...), true
	case !full && len(own) < len(parts):
		return nil, true
	}
	ways = own[0]
	for _, next := range own[1:] {
		ways = product(ways, next)
	}
	return ways, true
}

// product joins every way of xs with every way of ys, xs varying fastest.
func product(xs, ys [][]leaf) [][]leaf {
	var out [][]leaf
	for _, y := range ys {
		for _, x := range xs {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out
}

// rename renames actions, all at once.
func rename(b behaviour, t *sema.SysRename, actions int) behaviour {
	out := behaviour{unlabelled: b.unlabelled, ways: map[int][][]leaf{}}
	for a := range actions {
		ways, ok := b.ways[a]
		if !ok {
			continue
		}
		if i := slices.Index(t.From, a); i >= 0 {
			a = t.To[i]
		}
		out.ways[a] = append(out.ways[a], ways...)
	}
	return out
}
