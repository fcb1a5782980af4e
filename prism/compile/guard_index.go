package compile

import (
	"cmp"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// guardIndex finds the commands that may be enabled in a state. It looks them up by the values of variables that many guards compare
// with constants, such as locations in translated models or counters in population models.
type guardIndex struct {
	unindexed []*command // candidates in every state
	tables    []valueTable
}

// valueTable finds commands by the value of one variable.
type valueTable struct {
	slot    int
	low     int32
	byValue []*guardIndex // next[value-low]; nil if no command is possible
}

// equalityTest compares a variable with a constant.
type equalityTest struct {
	slot  int
	value int32
}

// maxUnindexed is the number of commands up to which they are not indexed.
const maxUnindexed = 4

// newGuardIndex indexes commands by the equality test with number depth of each guard, and recursively by the later tests.
func newGuardIndex(commands []*command, equalities map[*command][]equalityTest, depth int) *guardIndex {
	index := &guardIndex{}
	bySlot := make(map[int][]*command)
	for _, command := range commands {
		if tests := equalities[command]; depth < len(tests) && len(commands) > maxUnindexed {
			bySlot[tests[depth].slot] = append(bySlot[tests[depth].slot], command)
		} else {
			index.unindexed = append(index.unindexed, command)
		}
	}
	for slot, indexed := range bySlot {
		values := make(map[int32][]*command)
		table := valueTable{slot: slot, low: equalities[indexed[0]][depth].value}
		maxValue := table.low
		for _, command := range indexed {
			v := equalities[command][depth].value
			values[v] = append(values[v], command)
			table.low, maxValue = min(table.low, v), max(maxValue, v)
		}
		if int64(maxValue)-int64(table.low) > 16*int64(len(indexed)) { // the values are too sparse for a table
			index.unindexed = append(index.unindexed, indexed...)
			continue
		}
		table.byValue = make([]*guardIndex, maxValue-table.low+1)
		for v, indexed := range values {
			table.byValue[v-table.low] = newGuardIndex(indexed, equalities, depth+1)
		}
		index.tables = append(index.tables, table)
	}
	slices.SortFunc(index.tables, func(a, table valueTable) int { return cmp.Compare(a.slot, table.slot) })
	return index
}

// leadingEqualities returns the equality tests that a guard evaluates before anything that may fail.
func (m *Model) leadingEqualities(guard sema.Expr, b *builder) (tests []equalityTest) {
	conjuncts := m.newExprCompiler(guard).operandChain(guard, syntax.OpAnd, nil)
	for n := len(conjuncts); n > 0; n = len(conjuncts) { // drop conjuncts after the last equality test
		if _, ok := asEqualityTest(conjuncts[n-1]); ok {
			break
		}
		conjuncts = conjuncts[:n-1]
	}
	for _, c := range conjuncts {
		if eq, ok := asEqualityTest(c); ok {
			tests = append(tests, eq)
		} else if b.expr(c).mayFail || !m.floats.Decided(c) { // skipping the command must not hide this failure
			break
		}
	}
	return tests
}

// asEqualityTest returns e as an equality test. The second result is false if e does not have the form x=3.
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

// forEachCandidate calls visit for each command that may be enabled in a state. The order is arbitrary.
func (g *guardIndex) forEachCandidate(state []int32, visit func(command *command)) {
	for _, command := range g.unindexed {
		visit(command)
	}
	for i := range g.tables {
		b := &g.tables[i]
		if k := int64(state[b.slot]) - int64(b.low); k >= 0 && k < int64(len(b.byValue)) && b.byValue[k] != nil {
			b.byValue[k].forEachCandidate(state, visit)
		}
	}
}
