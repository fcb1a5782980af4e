package compile

import (
	"cmp"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// guardIndex finds the commands that may be enabled in a state. It looks them up by the values of variables that many
// guards compare with constants, such as locations in translated models or counters in population models.
type guardIndex struct {
	unindexed []*command // candidates in every state
	tables    []valueTable
}

// valueTable finds commands by the value of one variable.
type valueTable struct {
	slot int
	low  int32
	next []*guardIndex // next[value-low]; nil if no command is possible
}

// equalityTest compares a variable with a constant.
type equalityTest struct {
	slot  int
	value int32
}

// maxUnindexed is the greatest number of commands for which a table is not worth it.
const maxUnindexed = 4

// newGuardIndex indexes commands by the equality test number depth of each guard, and recursively by the later ones.
func newGuardIndex(commands []*command, equalities map[*command][]equalityTest, depth int) *guardIndex {
	g := &guardIndex{}
	bySlot := make(map[int][]*command)
	for _, c := range commands {
		if eqs := equalities[c]; depth < len(eqs) && len(commands) > maxUnindexed {
			bySlot[eqs[depth].slot] = append(bySlot[eqs[depth].slot], c)
		} else {
			g.unindexed = append(g.unindexed, c)
		}
	}
	for slot, cs := range bySlot {
		values := make(map[int32][]*command)
		b := valueTable{slot: slot, low: equalities[cs[0]][depth].value}
		most := b.low
		for _, c := range cs {
			v := equalities[c][depth].value
			values[v] = append(values[v], c)
			b.low, most = min(b.low, v), max(most, v)
		}
		if int64(most)-int64(b.low) > 16*int64(len(cs)) { // the values are too sparse for a table
			g.unindexed = append(g.unindexed, cs...)
			continue
		}
		b.next = make([]*guardIndex, most-b.low+1)
		for v, cs := range values {
			b.next[v-b.low] = newGuardIndex(cs, equalities, depth+1)
		}
		g.tables = append(g.tables, b)
	}
	slices.SortFunc(g.tables, func(a, b valueTable) int { return cmp.Compare(a.slot, b.slot) })
	return g
}

// leadingEqualities returns the equality tests that a guard evaluates before anything that may fail.
func (m *Model) leadingEqualities(guard sema.Expr, b *builder) (out []equalityTest) {
	conjuncts := m.maker(guard).chain(guard, syntax.OpAnd, nil)
	for n := len(conjuncts); n > 0; n = len(conjuncts) { // drop conjuncts after the last equality test
		if _, ok := asEqualityTest(conjuncts[n-1]); ok {
			break
		}
		conjuncts = conjuncts[:n-1]
	}
	for _, c := range conjuncts {
		if eq, ok := asEqualityTest(c); ok {
			out = append(out, eq)
		} else if b.expr(c).fails || !m.doubles.Decided(c) { // skipping the command must not hide this failure
			break
		}
	}
	return out
}

func asEqualityTest(e sema.Expr) (equalityTest, bool) {
	b, ok := e.(*sema.Binary)
	if !ok || b.Op != syntax.OpEq {
		return equalityTest{}, false
	}
	x, isVar := b.X.(*sema.Var)
	c, isConst := b.Y.(*sema.Const)
	if !isVar || !isConst || x.Type() != sema.Int || c.Type() != sema.Int {
		return equalityTest{}, false
	}
	return equalityTest{x.Slot, c.Val.Int}, true
}

// forEachCandidate calls do for the commands that may be enabled in a state, in no particular order.
func (g *guardIndex) forEachCandidate(state []int32, do func(c *command)) {
	for _, c := range g.unindexed {
		do(c)
	}
	for i := range g.tables {
		b := &g.tables[i]
		if k := int64(state[b.slot]) - int64(b.low); k >= 0 && k < int64(len(b.next)) && b.next[k] != nil {
			b.next[k].forEachCandidate(state, do)
		}
	}
}
