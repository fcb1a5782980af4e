package compile

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// synchronisation is a set of modules that move together. Each participant contributes one enabled command; the choices are
// the product of the participants' enabled commands.
type synchronisation struct {
	action       int // of the choice; sema.Unlabelled also after hiding
	participants []participant
}

// participant is a module with its commands for one action, in command order.
type participant struct {
	module   int
	commands []*command
}

// behaviour is what a process-algebra term can do: its unlabelled synchronisations and those of each action of its
// alphabet, each a list of participants. An action of the alphabet without synchronisations is blocked.
type behaviour struct {
	unlabelled [][]participant
	labelled   map[int][][]participant
}

// compose flattens the program's system term, or the parallel composition of all modules, into synchronisations: the unlabelled
// ones first, in module order, then the actions in order of first appearance.
//
// Source: the order of PRISM's explicit engine (reference, section 4.2).
func (m *Model) compose() ([]synchronisation, error) {
	term := m.prog.System
	if term == nil {
		all := &sema.SysParallel{Full: true}
		for i := range m.prog.Modules {
			all.Operands = append(all.Operands, sema.SysModule{Index: i})
		}
		term = all
	}
	b, err := m.behaviourOf(term)
	if err != nil {
		return nil, err
	}
	var groups []synchronisation
	for _, way := range b.unlabelled {
		groups = append(groups, synchronisation{sema.Unlabelled, way})
	}
	for a := range m.prog.Actions {
		for _, way := range b.labelled[a] {
			groups = append(groups, synchronisation{a, way})
		}
	}
	return slices.DeleteFunc(groups, synchronisation.neverEnabled), m.checkDisjoint(groups)
}

// neverEnabled reports whether a participant has no commands.
func (g synchronisation) neverEnabled() bool {
	return slices.ContainsFunc(g.participants, func(l participant) bool { return len(l.commands) == 0 })
}

// checkDisjoint checks that no module participates twice in a synchronisation, which happens if a system term names a module twice.
func (m *Model) checkDisjoint(groups []synchronisation) error {
	for _, g := range groups {
		seen := map[int]bool{}
		for _, l := range g.participants {
			if seen[l.module] {
				msg := fmt.Sprintf("module %q takes part twice in one composition", m.prog.Modules[l.module].Name)
				return &UnsupportedError{m.prog.File, m.prog.Modules[l.module].Pos, msg}
			}
			seen[l.module] = true
		}
	}
	return nil
}

func (m *Model) behaviourOf(term sema.System) (behaviour, error) {
	switch t := term.(type) {
	case sema.SysModule:
		return m.moduleBehaviour(t.Index), nil
	case *sema.SysParallel:
		return m.parallel(t)
	case *sema.SysHide:
		b, err := m.behaviourOf(t.X)
		for _, a := range t.Actions {
			b.unlabelled = append(b.unlabelled, b.labelled[a]...)
			delete(b.labelled, a)
		}
		return b, err
	case *sema.SysRename:
		b, err := m.behaviourOf(t.X)
		return rename(b, t, len(m.prog.Actions)), err
	}
	return behaviour{}, &UnsupportedError{m.prog.File, syntax.Pos{}, fmt.Sprintf("system term %T cannot be executed", term)}
}

func (m *Model) moduleBehaviour(module int) behaviour {
	with := func(action int) participant {
		l := participant{module: module}
		for _, c := range m.commands {
			if c.module == module && c.src.Action == action {
				l.commands = append(l.commands, c)
			}
		}
		return l
	}
	b := behaviour{labelled: map[int][][]participant{}}
	if l := with(sema.Unlabelled); len(l.commands) > 0 {
		b.unlabelled = [][]participant{{l}}
	}
	for _, a := range m.prog.Modules[module].Alphabet {
		b.labelled[a] = [][]participant{{with(a)}}
	}
	return b
}

// parallel composes the operands. On a shared action, all operands that know it move together; on other actions each moves alone.
func (m *Model) parallel(t *sema.SysParallel) (behaviour, error) {
	out := behaviour{labelled: map[int][][]participant{}}
	var parts []behaviour
	for _, x := range t.Operands {
		b, err := m.behaviourOf(x)
		if err != nil {
			return out, err
		}
		parts = append(parts, b)
		out.unlabelled = append(out.unlabelled, b.unlabelled...)
	}
	for a := range m.prog.Actions {
		synchronised := t.Full || slices.Contains(t.Actions, a)
		if ways, known := synchronise(parts, a, synchronised, t.Full); known {
			out.labelled[a] = ways
		}
	}
	return out, nil
}

// synchronise returns the synchronisations of action a, and whether any part knows it. With full composition, parts that do not
// know the action do not participate; on an explicitly listed action they block it.
func synchronise(parts []behaviour, a int, synchronised, full bool) (ways [][]participant, known bool) {
	var own [][][]participant
	for _, b := range parts {
		if w, ok := b.labelled[a]; ok {
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

// product combines every element of xs with every element of ys, xs varying fastest.
func product(xs, ys [][]participant) [][]participant {
	var out [][]participant
	for _, y := range ys {
		for _, x := range xs {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out
}

// rename renames all actions simultaneously.
func rename(b behaviour, t *sema.SysRename, actions int) behaviour {
	out := behaviour{unlabelled: b.unlabelled, labelled: map[int][][]participant{}}
	for a := range actions {
		ways, ok := b.labelled[a]
		if !ok {
			continue
		}
		if i := slices.Index(t.From, a); i >= 0 {
			a = t.To[i]
		}
		out.labelled[a] = append(out.labelled[a], ways...)
	}
	return out
}
