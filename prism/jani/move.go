package jani

import (
	"slices"

	"tilecheck/prism/syntax"
)

// move is an edge of an instance.
type move struct {
	in        *instance
	at        syntax.Pos
	action    string
	location  int
	condition syntax.Expr // the guard; nil is true
	rate      *value
	dests     []destination
	accesses  []access
	earns     bool // assigns a transient variable that a reward depends on
}

// access is a read or write of a variable by an assignment with an index.
type access struct {
	slot   *slot
	index  int
	writes bool
}

// moves translates the guards of all edges, and records the variables that edges read and write.
func (t *translator) moves() {
	for _, in := range t.instances {
		for _, all := range in.automaton.edges {
			t.try(func() {
				for _, e := range t.selections(*all, &place{scope: in.scope}) {
					t.move(in, e)
				}
			})
		}
		t.addIdleEdges(in)
	}
}

// move translates the guard of an edge.
func (t *translator) move(in *instance, e edge) {
	m := &move{in: in, at: e.at, action: e.action, location: e.location, rate: e.rate, dests: e.dests}
	if e.guard != nil && (e.guard.kind != boolean || !e.guard.yes) {
		m.condition = t.expr(e.guard, &place{scope: in.scope})
	}
	for _, d := range e.dests {
		for _, a := range d.assigns {
			t.recordAccesses(m, a)
		}
	}
	in.edges = append(in.edges, m)
}

// addIdleEdges adds edges without effect for the input-enabled actions of an instance, enabled
// where it has no other edge.
func (t *translator) addIdleEdges(in *instance) {
	var actions []string
	for _, a := range t.doc.elements[in.number].inputEnable {
		if !slices.Contains(actions, a) {
			actions = append(actions, a)
		}
	}
	edges := in.edges
	for _, a := range actions {
		for l := range in.automaton.locations {
			var guards []syntax.Expr
			always := false
			for _, m := range edges {
				if m.action == a && m.location == l {
					guards = append(guards, m.condition)
					always = always || m.condition == nil
				}
			}
			if always {
				continue
			}
			at := t.doc.elements[in.number].at
			idle := &move{in: in, at: at, action: a, location: l, dests: []destination{{at: at, location: l}}}
			if some := join(syntax.OpOr, guards); some != nil {
				idle.condition = &syntax.Unary{Op: syntax.OpNot, X: some, Span: syntax.Span{Start: at, Stop: at}}
			}
			in.edges = append(in.edges, idle)
		}
	}
}

// recordAccesses records the variables that an assignment of an edge writes and reads.
func (t *translator) recordAccesses(m *move, a assignment) {
	p := &place{scope: m.in.scope, env: map[*slot]sized{}}
	var write func(x targetTree)
	write = func(x targetTree) {
		for _, one := range x.one {
			s := one.slot
			if s == m.in.location {
				t.refuse(a.ref.Start, "a location cannot be assigned")
			}
			m.accesses = append(m.accesses, access{s, a.index, true})
			if len(one.when) > 0 {
				m.accesses = append(m.accesses, access{s, a.index, false}) // may keep its value
			}
			m.earns = m.earns || s.earns
			if !s.transient && !slices.Contains(s.writers, m.in.number) {
				s.writers = append(s.writers, m.in.number)
			}
		}
		for _, e := range x.elems {
			write(e)
		}
		for _, e := range x.members {
			write(e)
		}
	}
	write(t.targets(a.ref, p))
	t.reads(a.value, m.in.scope, map[*function]bool{}, func(s *slot) {
		m.accesses = append(m.accesses, access{s, a.index, false})
	})
	if a.ref.kind == object && a.ref.get("index") != nil {
		t.reads(a.ref.get("index"), m.in.scope, map[*function]bool{}, func(s *slot) {
			m.accesses = append(m.accesses, access{s, a.index, false})
		})
	}
}

// reads calls f for all variables that an expression may read, and maybe for more.
func (t *translator) reads(v *value, s *scope, called map[*function]bool, f func(*slot)) {
	switch v.kind {
	case text:
		x, _ := s.find(v.text)
		eachSlot(x, f)
	case array:
		for _, e := range v.elems {
			t.reads(e, s, called, f)
		}
	case object:
		for _, m := range v.members {
			switch m.key {
			case "op", "fun", "comment", "member", "var", "type":
			case "function":
				fn, home := s.function(m.value.text)
				if fn != nil && !called[fn] {
					called[fn] = true
					t.reads(fn.body, home, called, f)
				}
			default:
				t.reads(m.value, s, called, f)
			}
		}
	}
}

func eachSlot(x symbol, f func(*slot)) {
	if x.slot != nil {
		f(x.slot)
	}
	if x.data != nil {
		for _, e := range x.data.elems {
			eachSlot(e, f)
		}
		for _, m := range x.data.members {
			eachSlot(m, f)
		}
	}
}

// step is a synchronisation vector, or the silent edges of one instance.
type step struct {
	at    syntax.Pos
	name  string // of the action; empty for a silent one
	parts []part
}

// part is the participation of an instance in a step.
type part struct {
	in    *instance
	moves []*move
}

// listSteps lists the steps in which every participant has edges.
func (t *translator) listSteps() {
	syncs := t.doc.syncs
	if len(t.instances) == 1 && !t.doc.hasSyncs {
		syncs = nil
		var seen []string
		for _, m := range t.instances[0].edges {
			if m.action != "" && !slices.Contains(seen, m.action) {
				seen = append(seen, m.action)
				syncs = append(syncs, vector{at: m.at, actions: []string{m.action}, result: m.action})
			}
		}
	}
	for _, v := range syncs {
		s := &step{at: v.at, name: v.result}
		possible := true
		for i, a := range v.actions {
			if a == "" {
				continue
			}
			if s.name == "" {
				s.name = a
			}
			s.parts = append(s.parts, part{t.instances[i], withAction(t.instances[i].edges, a)})
			possible = possible && len(s.parts[len(s.parts)-1].moves) > 0
		}
		if possible && len(s.parts) > 0 {
			t.steps = append(t.steps, s)
		}
	}
	for _, in := range t.instances {
		if silent := withAction(in.edges, ""); len(silent) > 0 {
			t.steps = append(t.steps, &step{at: silent[0].at, parts: []part{{in, silent}}})
		}
	}
}

// withAction returns the moves with an action.
func withAction(moves []*move, action string) []*move {
	var out []*move
	for _, m := range moves {
		if m.action == action {
			out = append(out, m)
		}
	}
	return out
}

// group puts instances into one module where PRISM's language requires it: if they write the same
// variable in steps with actions, if one reads in a step what another wrote earlier in the step,
// or if they earn rewards in the same step. If the combined edges of a module become too many
// commands, instances that write the same variable in different steps stay apart; then the
// variable is shared, which PRISM's language does not allow.
func (t *translator) group() {
	t.listSteps()
	t.merge(false)
	if !t.doc.markov && t.findTooLarge() != nil {
		t.merge(true)
	}
	if s := t.findTooLarge(); s != nil {
		t.large = true
		t.refuse(s.at, "the edges that are taken together in one module make more than %d commands, want fewer", maxCommands)
	}
}

// findTooLarge returns the step at which the number of combined edges exceeds maxCommands.
func (t *translator) findTooLarge() *step {
	count := 0
	for _, s := range t.steps {
		for _, g := range t.groupsOf(s) {
			n := 1
			for _, p := range s.parts {
				if p.in.group == g {
					n = min(n*len(p.moves), maxCommands+1)
				}
			}
			if count += n; count > maxCommands {
				return s
			}
		}
	}
	return nil
}

// merge assigns instances and variables to modules. If share is set, variables that several
// modules write become shared instead of merging the modules.
func (t *translator) merge(share bool) {
	for i, in := range t.instances {
		if in.group = i; t.doc.markov {
			in.group = 0 // edges of different automata race
		}
	}
	named := make(map[*move]bool) // moves in a step that has an action
	for _, s := range t.steps {
		for _, p := range s.parts {
			for _, m := range p.moves {
				named[m] = named[m] || s.name != "" || m.earns
			}
		}
		for i, p := range s.parts {
			for _, q := range s.parts[:i] {
				if t.mustShareModule(p, q) {
					t.mergeGroups(p.in, q.in)
				}
			}
		}
	}
	for _, s := range t.slots {
		if s.owner >= 0 || s.transient {
			continue
		}
		if t.doc.markov {
			s.module = 0
			continue
		}
		var writer *instance
		for _, in := range t.instances {
			for _, m := range in.edges {
				if !named[m] || !slices.ContainsFunc(m.accesses, func(x access) bool { return x.writes && x.slot == s }) {
					continue
				}
				writer = in
			}
		}
		if writer == nil {
			continue
		}
		if share {
			s.module, s.shared = -1, true
			continue
		}
		s.module = writer.number
		for _, i := range s.writers {
			t.mergeGroups(t.instances[i], writer)
		}
	}
}

// mustShareModule reports whether two instances cannot take a step as separate modules.
func (t *translator) mustShareModule(p, q part) bool {
	earns := func(m *move) bool { return m.earns }
	if slices.ContainsFunc(p.moves, earns) && slices.ContainsFunc(q.moves, earns) {
		return true
	}
	return dependsOn(p, q) || dependsOn(q, p)
}

// dependsOn reports whether p may assign a variable that q accesses at a greater index.
func dependsOn(p, q part) bool {
	first := make(map[*slot]int) // smallest index of a write
	for _, m := range p.moves {
		for _, x := range m.accesses {
			if i, ok := first[x.slot]; x.writes && (!ok || x.index < i) {
				first[x.slot] = x.index
			}
		}
	}
	for _, m := range q.moves {
		for _, x := range m.accesses {
			if i, ok := first[x.slot]; ok && (x.index > i || x.writes) {
				return true
			}
		}
	}
	return false
}

func (t *translator) mergeGroups(a, b *instance) {
	from, to := max(a.group, b.group), min(a.group, b.group)
	for _, in := range t.instances {
		if in.group == from {
			in.group = to
		}
	}
}
