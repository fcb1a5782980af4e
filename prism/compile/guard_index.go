package compile

import (
	"cmp"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// guardIndex finds the commands that may be enabled in a state, by the values of variables that many guards compare with constants.
type guardIndex struct {
	unindexedCommands []*command // candidates in every state
	tables            []valueTable
}

// valueTable finds commands by the value of one variable.
type valueTable struct {
	slot    int
	low     int32
	byValue []*guardIndex // byValue[value-low] has the commands for a value; nil if there is none
}

// equalityTest compares a variable with a constant.
type equalityTest struct {
	slot  int
	value int32
}

// maxUnindexed is the largest number of commands that need no index.
const maxUnindexed = 4

// maxValuesPerCommand bounds the range of a value table, as a multiple of the number of its commands.
const maxValuesPerCommand = 16

// newGuardIndex returns an index that finds, in each state, the commands whose guards may hold. equalities has, for each command, the tests
// "variable = constant" of its guard, in order. The caller has already compared the first depth tests of each command.
func newGuardIndex(commands []*command, equalities map[*command][]equalityTest, depth int) *guardIndex {
	index := &guardIndex{}
	bySlot := make(map[int][]*command)
	for _, command := range commands {
		tests := equalities[command]
		hasNextTest := depth < len(tests)
		if len(commands) <= maxUnindexed || !hasNextTest {
			index.unindexedCommands = append(index.unindexedCommands, command)
			continue
		}
		slot := tests[depth].slot
		bySlot[slot] = append(bySlot[slot], command)
	}
	for slot, commandsOfSlot := range bySlot {
		table, isDense := newValueTable(slot, commandsOfSlot, equalities, depth)
		if !isDense {
			index.unindexedCommands = append(index.unindexedCommands, commandsOfSlot...)
			continue
		}
		index.tables = append(index.tables, table)
	}
	slices.SortFunc(index.tables, func(first, second valueTable) int { return cmp.Compare(first.slot, second.slot) })
	return index
}

// newValueTable returns a table from the values of a variable to indexes of commands. The equality test number depth of each command compares this
// variable with a value. isDense is false if the values are so far apart that a table would waste memory.
func newValueTable(slot int, commands []*command, equalities map[*command][]equalityTest, depth int) (table valueTable, isDense bool) {
	byValue := make(map[int32][]*command)
	lowest := equalities[commands[0]][depth].value
	highest := lowest
	for _, command := range commands {
		value := equalities[command][depth].value
		byValue[value] = append(byValue[value], command)
		lowest, highest = min(lowest, value), max(highest, value)
	}
	if int64(highest)-int64(lowest) > maxValuesPerCommand*int64(len(commands)) {
		return valueTable{}, false
	}
	table = valueTable{slot: slot, low: lowest, byValue: make([]*guardIndex, highest-lowest+1)}
	for value, commandsOfValue := range byValue {
		table.byValue[value-lowest] = newGuardIndex(commandsOfValue, equalities, depth+1)
	}
	return table, true
}

// leadingEqualities returns the tests "variable = constant" of a guard, up to the first conjunct that may fail. If one of these tests is false,
// the guard is false, and its evaluation does not fail.
func (m *Model) leadingEqualities(guard sema.Expr, builder *builder) (tests []equalityTest) {
	conjuncts := m.newExprCompiler(guard).appendOperands(nil, guard, syntax.OpAnd)
	for _, conjunct := range untilLastEquality(conjuncts) {
		test, ok := asEqualityTest(conjunct)
		if ok {
			tests = append(tests, test)
			continue
		}
		mayFail := builder.expr(conjunct).mayFail || !m.floatAnalysis.IsDecided(conjunct)
		if mayFail { // skipping the command must not hide this failure
			break
		}
	}
	return tests
}

// untilLastEquality returns the conjuncts up to the last equality test; nil if there is none.
func untilLastEquality(conjuncts []sema.Expr) []sema.Expr {
	for i, conjunct := range slices.Backward(conjuncts) {
		if _, ok := asEqualityTest(conjunct); ok {
			return conjuncts[:i+1]
		}
	}
	return nil
}

// asEqualityTest returns an expression such as x=3 as an equality test; ok is false for other expressions.
func asEqualityTest(expr sema.Expr) (test equalityTest, ok bool) {
	equality, isBinary := expr.(*sema.Binary)
	if !isBinary || equality.Op != syntax.OpEq {
		return equalityTest{}, false
	}
	variable, isVar := equality.X.(*sema.Var)
	constant, isConst := equality.Y.(*sema.Const)
	if !isVar || !isConst || variable.Type() != sema.Int || constant.Type() != sema.Int {
		return equalityTest{}, false
	}
	return equalityTest{variable.Slot, constant.Val.Int}, true
}

// forEachCandidate calls visit for each command that may be enabled in a state. The order is arbitrary.
func (g *guardIndex) forEachCandidate(state []int32, visit func(command *command)) {
	for _, command := range g.unindexedCommands {
		visit(command)
	}
	for i := range g.tables {
		table := &g.tables[i]
		offset := int64(state[table.slot]) - int64(table.low)
		if offset < 0 || offset >= int64(len(table.byValue)) {
			continue
		}
		if valueIndex := table.byValue[offset]; valueIndex != nil {
			valueIndex.forEachCandidate(state, visit)
		}
	}
}
