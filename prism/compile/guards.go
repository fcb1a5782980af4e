package compile

import (
	"cmp"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// guards finds the commands that may be enabled in a state, by the variables that many guards
// compare with constants: locations in what was translated, counters in populations.
type guards struct {
	always []*command // that are not told apart
	by     []byValue
}

// byValue tells commands apart by the value of a variable.
type byValue struct {
	slot  int
	least int32
	of    []*guards // from the least value on; nil where no command is possible
}

// equation compares a variable with a constant.
type equation struct {
	slot  int
	value int32
}

// fewCommands are not told apart.
const fewCommands = 4

// newGuards returns the guards of commands that differ in the comparisons which follow so many
// others.
func newGuards(commands []*command, first map[*command][]equation, after int) *guards {
	g := &guards{}
	bySlot := make(map[int][]*command)
	for _, c := range commands {
		if eqs := first[c]; after < len(eqs) && len(commands) > fewCommands {
			bySlot[eqs[after].slot] = append(bySlot[eqs[after].slot], c)
		} else {
			g.always = append(g.always, c)
		}
	}
	for slot, cs := range bySlot {
		values := make(map[int32][]*command)
		b := byValue{slot: slot, least: first[cs[0]][after].value}
		most := b.least
		for _, c := range cs {
			v := first[c][after].value
			values[v] = append(values[v], c)
			b.least, most = min(b.least, v), max(most, v)
		}
		if int64(most)-int64(b.least) > 16*int64(len(cs)) { // the table would be larger than it is worth
			g.always = append(g.always, cs...)
			continue
		}
		b.of = make([]*guards, most-b.least+1)
		for v, cs := range values {
			b.of[v-b.least] = newGuards(cs, first, after+1)
		}
		g.by = append(g.by, b)
	}
	slices.SortFunc(g.by, func(a, b byValue) int { return cmp.Compare(a.slot, b.slot) })
	return g
}

// equations returns the comparisons that a guard makes before anything that may fail.
func (m *Model) equations(guard sema.Expr, b *builder) (out []equation) {
	conjuncts := m.maker(guard).chain(guard, syntax.OpAnd, nil)
	for n := len(conjuncts); n > 0; n = len(conjuncts) { // none comes after these
		if _, ok := asEquation(conjuncts[n-1]); ok {
			break
		}
		conjuncts = conjuncts[:n-1]
	}
	for _, c := range conjuncts {
		if eq, ok := asEquation(c); ok {
			out = append(out, eq)
		} else if b.expr(c).fails || !m.doubles.Decided(c) { // what comes after must not hide the failure
			break
		}
	}
	return out
}

func asEquation(e sema.Expr) (equation, bool) {
	b, ok := e.(*sema.Binary)
	if !ok || b.Op != syntax.OpEq {
		return equation{}, false
	}
	x, isVar := b.X.(*sema.Var)
	c, isConst := b.Y.(*sema.Const)
	if !isVar || !isConst || x.Type() != sema.Int || c.Type() != sema.Int {
		return equation{}, false
	}
	return equation{x.Slot, c.Val.Int}, true
}

// each calls a function for the commands that may be enabled in a state, in no order.
func (g *guards) each(state []int32, do func(c *command)) {
	for _, c := range g.always {
		do(c)
	}
	for i := range g.by {
		b := &g.by[i]
		if k := int64(state[b.slot]) - int64(b.least); k >= 0 && k < int64(len(b.of)) && b.of[k] != nil {
			b.of[k].each(state, do)
		}
	}
}
