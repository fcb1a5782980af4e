package jani

import (
	"maps"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// maxCommands is the largest number of commands that combined edges may become.
const maxCommands = 100_000

// combined is a command for edges of instances in one module that are taken together.
type combined struct {
	moves   []*move
	command *syntax.Command
	// earned are the values of the step rewards. class is their text, or empty if they equal
	// those of a step without assignments.
	earned []syntax.Expr
	class  string
	rate   syntax.Expr // nil if the edges have no rates
}

// network makes the modules.
func (t *translator) network() {
	var groups []int
	commands := make(map[int][]*syntax.Command)
	for _, in := range t.instances {
		if !slices.Contains(groups, in.group) {
			groups = append(groups, in.group)
		}
	}
	var all []stepCommands
	for _, s := range t.steps {
		byGroup, classes := t.step(s)
		all = append(all, stepCommands{s, byGroup, classes})
	}
	var raceCommand *syntax.Command
	if t.doc.markov {
		var immediate []syntax.Expr
		for _, s := range all {
			for _, c := range s.byGroup[groups[0]] {
				immediate = append(immediate, c.command.Guard)
			}
		}
		raceCommand = t.raceCommand(immediate)
	}
	actions := make(names)
	alike := silentAlike(all)
	for _, s := range all {
		for _, class := range s.classes {
			name := s.step.name
			if name == "" && class != "" && !alike {
				name = "tau"
			}
			var action *syntax.Ident
			if name != "" {
				action = &syntax.Ident{Name: actions.unused(name), Span: syntax.Span{Start: s.step.at, Stop: s.step.at}}
			}
			t.earn(s.step, action, s.named(groups, action, class, commands))
		}
	}
	if raceCommand != nil {
		raceCommand.Action = &syntax.Ident{Name: actions.unused("delay"), Span: raceCommand.Span}
		commands[groups[0]] = append(commands[groups[0]], raceCommand)
	}
	t.writeModules(groups, commands)
}

// stepCommands are the commands of a step by module, and the classes of their rewards.
type stepCommands struct {
	step    *step
	byGroup map[int][]*combined
	classes []string
}

// silentAlike reports whether all silent steps have the same rewards, so that they can be rewards
// of unlabelled commands.
func silentAlike(all []stepCommands) bool {
	var classes []string
	for _, s := range all {
		if s.step.name == "" {
			classes = append(classes, s.classes...)
		}
	}
	return len(slices.Compact(classes)) <= 1
}

// named adds the commands with rewards of the given class to the modules, labelled with action. It
// returns their rewards.
func (s *stepCommands) named(groups []int, action *syntax.Ident, class string, commands map[int][]*syntax.Command) (earned []syntax.Expr) {
	for _, g := range groups {
		cs := s.byGroup[g]
		rewarded := slices.ContainsFunc(cs, func(c *combined) bool { return c.class != "" })
		for _, c := range cs {
			if rewarded && c.class != class {
				continue
			}
			command := *c.command
			command.Action = action
			commands[g] = append(commands[g], &command)
			if earned == nil || rewarded {
				earned = c.earned
			}
		}
	}
	return earned
}

// step combines the edges of a step by module, and lists the classes of their rewards.
func (t *translator) step(s *step) (byGroup map[int][]*combined, classes []string) {
	var parts [][]*move
	var order []int
	byGroup = make(map[int][]*combined)
	for _, g := range t.groupsOf(s) {
		parts = parts[:0]
		for _, p := range s.parts {
			if p.in.group == g {
				parts = append(parts, p.moves)
			}
		}
		order = append(order, g)
		product(len(parts), func(i int) int { return len(parts[i]) }, func(index []int) {
			var moves []*move
			for i, k := range index {
				moves = append(moves, parts[i][k])
			}
			c := t.combine(moves)
			if t.doc.markov && c.rate != nil {
				t.delays = append(t.delays, c)
				return
			}
			byGroup[g] = append(byGroup[g], c)
		})
	}
	for _, g := range order {
		if !slices.ContainsFunc(byGroup[g], func(c *combined) bool { return c.class != "" }) {
			continue
		}
		for _, c := range byGroup[g] {
			if !slices.Contains(classes, c.class) {
				classes = append(classes, c.class)
			}
		}
	}
	if len(classes) == 0 {
		classes = []string{""}
	}
	return byGroup, classes
}

func (t *translator) groupsOf(s *step) []int {
	var out []int
	for _, p := range s.parts {
		if !slices.Contains(out, p.in.group) {
			out = append(out, p.in.group)
		}
	}
	return out
}

// product calls f for all combinations of n numbers with number i below limit(i).
func product(n int, limit func(int) int, f func([]int)) {
	index := make([]int, n)
	for {
		f(index)
		i := n - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < limit(i) {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// combine makes one command of edges that are taken together.
func (t *translator) combine(moves []*move) *combined {
	first := moves[0]
	span := syntax.Span{Start: first.at, Stop: first.at}
	c := &combined{moves: moves, command: &syntax.Command{Span: span}}
	var guards []syntax.Expr
	var rate syntax.Expr
	for _, m := range moves {
		guards = append(guards, m.in.isAt(m.location, m.at), m.condition)
		if m.rate != nil {
			rate = times(rate, t.expr(m.rate, &place{scope: m.in.scope}))
		}
	}
	if c.command.Guard = and(guards...); c.command.Guard == nil {
		c.command.Guard = &syntax.BoolLit{Value: true, Span: span}
	}
	c.rate = rate
	t.charge(first.at, 2*len(moves))
	var earned [][]syntax.Expr
	var probs []syntax.Expr
	product(len(moves), func(i int) int { return len(moves[i].dests) }, func(index []int) {
		prob := t.probability(moves, index)
		env := t.apply(moves, index)
		u := &syntax.Update{Prob: times(rate, prob), Span: span, Assigns: t.assigns(moves, index, env)}
		c.command.Updates = append(c.command.Updates, u)
		probs = append(probs, prob)
		earned = append(earned, t.earnedBy(env))
	})
	t.expected(c, probs, earned)
	return c
}

// probability returns the probability of a combination of destinations; nil if it is 1.
func (t *translator) probability(moves []*move, index []int) syntax.Expr {
	var out syntax.Expr
	for i, m := range moves {
		if d := m.dests[index[i]]; d.prob != nil {
			out = times(out, t.expr(d.prob, &place{scope: m.in.scope}))
		}
	}
	return out
}

// times returns x*y, where nil stands for 1.
func times(x, y syntax.Expr) syntax.Expr {
	if x == nil || isNumber(x, "1") {
		if y == nil {
			return x
		}
		return y
	}
	if y == nil || isNumber(y, "1") {
		return x
	}
	return &syntax.Binary{Op: syntax.OpMul, X: x, Y: y, OpPos: y.Pos(), Span: syntax.Span{Start: x.Pos(), Stop: y.End()}}
}

// isNumber reports whether an expression is a literal with the given digits.
func isNumber(x syntax.Expr, digits string) bool {
	switch x := x.(type) {
	case *syntax.IntLit:
		return syntax.ExprString(x) == digits
	case *syntax.DoubleLit:
		return x.Text == digits || x.Text == digits+".0"
	}
	return false
}

// apply returns the values of the assigned variables after a combination of destinations.
// Assignments with the same index read the values that the previous indices left.
func (t *translator) apply(moves []*move, index []int) map[*slot]sized {
	type item struct {
		in *instance
		assignment
	}
	var items []item
	for i, m := range moves {
		for _, a := range m.dests[index[i]].assigns {
			items = append(items, item{m.in, a})
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.index - b.index })
	env := make(map[*slot]sized)
	for len(items) > 0 {
		next := make(map[*slot]sized)
		var a item
		for now := items[0].index; len(items) > 0 && items[0].index == now; {
			a, items = items[0], items[1:]
			p := &place{scope: a.in.scope, env: env}
			t.assign(next, env, t.targets(a.ref, p), t.symbol(a.value, p), a.assignment)
		}
		maps.Copy(env, next)
	}
	return env
}

// assign records the values that an assignment gives to variables.
func (t *translator) assign(next, env map[*slot]sized, to targetTree, x symbol, a assignment) {
	switch {
	case len(to.one) > 0:
		if x.x == nil {
			t.refuse(a.value.Start, "found an array or a datatype, want a single value")
		}
		for _, one := range to.one {
			t.assignOne(next, env, one, sized{x: x.x, size: x.size}, a)
		}
	case x.data == nil || len(x.data.elems) != len(to.elems) || len(x.data.members) != len(to.members):
		t.refuse(a.at, "what is assigned differs in form from what it is assigned to, want arrays of one length")
	default:
		for i, e := range to.elems {
			t.assign(next, env, e, x.data.elems[i], a)
		}
		for name, m := range to.members {
			t.assign(next, env, m, x.data.members[name], a)
		}
	}
}

func (t *translator) assignOne(next, env map[*slot]sized, to target, x sized, a assignment) {
	s := to.slot
	before, again := next[s]
	if len(to.when) == 0 {
		// Two assignments with variable indices may or may not write the same element.
		if again && !before.chosen && syntax.ExprString(before.x) != syntax.ExprString(x.x) {
			t.refuse(a.at, "the variable %q is assigned twice at one index of a step, want it once", short(s.jani))
		}
		next[s] = x
		return
	}
	if !again {
		var ok bool
		if before, ok = env[s]; !ok {
			before = sized{x: &syntax.Ident{Name: s.name, Span: a.ref.Span}, size: 1}
			if s.transient {
				before.x = s.initial
			}
		}
	}
	size := before.size + x.size + 1
	var when []syntax.Expr
	for _, w := range to.when {
		when = append(when, w.x)
		size += w.size + 1
	}
	t.charge(a.at, size)
	next[s] = sized{&syntax.Cond{C: and(when...), T: x.x, E: before.x, Span: syntax.Span{Start: a.at, Stop: a.at}}, size, true}
}

// assigns returns the assignments of an update in the order of the variables.
func (t *translator) assigns(moves []*move, index []int, env map[*slot]sized) []*syntax.Assign {
	for i, m := range moves {
		if d := m.dests[index[i]]; m.in.location != nil && d.location != m.location {
			env[m.in.location] = sized{x: &syntax.IntLit{Value: int32(d.location), Span: syntax.Span{Start: d.at, Stop: d.at}}, size: 1}
		}
	}
	var out []*syntax.Assign
	for _, s := range t.slots {
		x, ok := env[s]
		if id, same := x.x.(*syntax.Ident); !ok || s.transient || same && id.Name == s.name {
			continue
		}
		span := syntax.Span{Start: x.x.Pos(), Stop: x.x.End()}
		out = append(out, &syntax.Assign{Name: &syntax.Ident{Name: s.name, Span: span}, Value: x.x, Span: span})
	}
	return out
}

// writeModules adds the modules with their variables and commands.
func (t *translator) writeModules(groups []int, commands map[int][]*syntax.Command) {
	for _, g := range groups {
		m := &syntax.Module{Commands: commands[g]}
		var name []string
		for _, in := range t.instances {
			if in.group == g {
				name = append(name, in.automaton.name)
				m.Span = syntax.Span{Start: in.automaton.at, Stop: in.automaton.at}
			}
		}
		m.Name = &syntax.Ident{Name: t.usedNames.unused(strings.Join(name[:min(len(name), 3)], "_")), Span: m.Span}
		for _, s := range t.slots {
			if !s.transient && s.module >= 0 && t.instances[s.module].group == g {
				m.Vars = append(m.Vars, t.declaration(s))
			}
		}
		m.Invariant = t.progress(g)
		t.modules = append(t.modules, m)
	}
	for _, s := range t.slots {
		if !s.transient && s.module < 0 {
			d := t.declaration(s)
			d.Shared = s.shared
			t.globals = append(t.globals, &syntax.GlobalDecl{Var: d, Span: d.Span})
		}
	}
}

// progress returns the condition under which time passes in the instances of a group; nil means
// always.
func (t *translator) progress(group int) syntax.Expr {
	var all []syntax.Expr
	for _, in := range t.instances {
		for i := range in.automaton.locations {
			v := in.automaton.locations[i].progress
			if in.group != group || v == nil || v.kind == boolean && v.yes {
				continue
			}
			x := t.expr(v, &place{scope: in.scope})
			if at := in.isAt(i, v.Start); at != nil {
				x = &syntax.Binary{Op: syntax.OpImplies, X: at, Y: x, OpPos: v.Start, Span: v.Span}
			}
			all = append(all, x)
		}
	}
	return and(all...)
}

// declaration declares a variable. A missing bound is that of an int.
func (t *translator) declaration(s *slot) *syntax.VarDecl {
	span := s.decl.Span
	d := &syntax.VarDecl{Name: &syntax.Ident{Name: s.name, Span: span}, TypePos: span.Start, Span: span}
	if t.init == nil {
		d.Init = s.initial
	}
	switch {
	case s.typ.kind == boolType:
		d.Type = syntax.BoolVar
	case s.typ.kind == clockType:
		d.Type, d.Init = syntax.ClockVar, nil
	case s.typ.low == nil && s.typ.high == nil:
		d.Type = syntax.IntVar
	default:
		p := &place{scope: t.global}
		if s.owner >= 0 {
			p.scope = t.instances[s.owner].scope
		}
		least, most := numberOf(-1<<31, span.Start), numberOf(1<<31-1, span.Start)
		if s.typ.low != nil {
			least = s.typ.low
		}
		if s.typ.high != nil {
			most = s.typ.high
		}
		d.Low, d.High = t.expr(least, p), t.expr(most, p)
	}
	return d
}

// items returns the items of the model.
func (t *translator) items() []syntax.Item {
	var out []syntax.Item
	if t.doc.typ != syntax.LTS { // an LTS has no keyword
		out = append(out, &syntax.TypeDecl{Type: t.doc.typ, Word: strings.ToLower(t.doc.typ.String())})
	}
	out = append(out, t.constants...)
	out = append(out, t.formulas...)
	out = append(out, t.globals...)
	out = append(out, t.modules...)
	if t.init != nil {
		out = append(out, &syntax.InitBlock{X: t.init})
	}
	out = append(out, t.labelled...)
	for _, r := range t.rewards {
		if r.refused == nil {
			out = append(out, r.decl)
		}
	}
	return out
}
