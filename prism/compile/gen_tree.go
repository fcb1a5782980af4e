package compile

import (
	"cmp"
	"maps"
	"slices"
)

// moveSpec is a combination of commands that may be a choice of some state, with the conjuncts of its guard.
type moveSpec struct {
	action   int
	commands []*command
	guard    []*term
}

// decisionTree finds the enabled moves of a state. A condition that many guards have in common is tested only once. A leaf has the
// moves that may be enabled.
type decisionTree struct {
	facts *facts
	// A leaf has the moves that may be enabled, in order, each with the
	// conjuncts of its guard that are still to be tested.
	moves []candidate
	// An inner node branches on a variable's value or on a condition.
	slot   int
	values []int64
	test   *term
	next   []*decisionTree // one child per value, then one for other values; or one for true, one for false
}

// candidate is a move that may be enabled. guard has the conjuncts that the decision tree has not tested yet.
type candidate struct {
	move  int
	guard []*term
}

// treeBuilder builds a decision tree. A branch repeats the moves that its test does not decide. growth is the number of further
// repetitions that are allowed.
type treeBuilder struct {
	builder *builder
	growth  int
}

// build returns the decision tree that finds the enabled moves among the candidates, in states in which the facts hold. It branches
// on the variable or the condition that decides most candidates, until no branch decides enough of them.
func (b *treeBuilder) build(candidates []candidate, facts *facts) *decisionTree {
	candidates = b.simplifyGuards(candidates, facts)
	slot, values, decidedByVariable := b.bestVariable(candidates, facts)
	test, decidedByCondition := b.bestCondition(candidates)
	switch {
	case decidedByVariable == 0 && decidedByCondition == 0:
		return &decisionTree{facts: facts, moves: candidates}
	case decidedByVariable >= decidedByCondition:
		b.growth -= b.variableGrowth(len(candidates)-decidedByVariable, slot, values, facts)
		return b.splitOnVariable(candidates, facts, slot, values)
	default:
		b.growth -= len(candidates) - decidedByCondition
		return b.splitOnCondition(candidates, facts, test)
	}
}

// simplifyGuards removes the candidates whose guards are false under the facts, and the conjuncts that are true.
func (b *treeBuilder) simplifyGuards(candidates []candidate, facts *facts) []candidate {
	var out []candidate
	for _, old := range candidates {
		if guard, possible := b.simplifyGuard(old.guard, facts); possible {
			out = append(out, candidate{old.move, guard})
		}
	}
	return out
}

// simplifyGuard removes the conjuncts of a guard that are true under the facts. possible is false if one is false.
func (b *treeBuilder) simplifyGuard(guard []*term, facts *facts) (remaining []*term, possible bool) {
	for _, conjunct := range guard {
		for _, part := range b.simplifyConjunct(conjunct, facts) {
			if part == facts.graph.falseTerm {
				return nil, false
			}
			if part != facts.graph.trueTerm && !slices.Contains(remaining, part) {
				remaining = append(remaining, part)
			}
		}
	}
	return remaining, true
}

// simplifyConjunct returns conjuncts that are together equivalent to a conjunct under the facts.
func (b *treeBuilder) simplifyConjunct(conjunct *term, facts *facts) []*term {
	if holds, ok := facts.truthOf(conjunct); ok {
		return []*term{facts.graph.boolConst(holds)} // also correct for a guard that may fail, since it has been evaluated
	}
	if simplified := facts.simplify(conjunct); simplified != conjunct && !conjunct.mayFail {
		return b.builder.conjuncts(simplified)
	}
	return []*term{conjunct}
}

// valueTest is a comparison of the variable in a slot with a value, such as x=3.
type valueTest struct {
	slot  int
	value int64
}

// asValueTest returns a term of the form x=3 as a valueTest. ok is false for other terms.
func asValueTest(term *term) (test valueTest, ok bool) {
	if term.op == opIntEq && term.operands[0].op == opVar && term.operands[1].isConst() {
		return valueTest{term.operands[0].slot, term.operands[1].intValue}, true
	}
	return valueTest{}, false
}

// is reports whether a term is the test.
func (t valueTest) is(term *term) bool {
	test, ok := asValueTest(term)
	return ok && test == t
}

// literals returns the conjuncts of a guard, including the conjuncts of nested conjunctions and negated disjunctions, without
// duplicates.
func (b *treeBuilder) literals(guard []*term) []*term {
	var out []*term
	for _, conjunct := range guard {
		if slices.Contains(out, conjunct) {
			continue
		}
		out = append(out, conjunct)
		switch {
		case conjunct.mayFail:
		case conjunct.op == opAnd:
			out = append(out, b.literals(conjunct.operands)...)
		case conjunct.op == opNot && conjunct.operands[0].op == opOr:
			for _, operand := range conjunct.operands[0].operands {
				out = append(out, b.literals([]*term{b.builder.not(operand)})...)
			}
		}
	}
	return out
}

// bestVariable returns the slot of the variable that most candidates compare with constants, these constants in ascending order, and
// the number of these candidates. It skips variables on which a branch would make the tree too large. The number is 0 if no other
// variable is tested by at least two candidates and by half of all.
func (b *treeBuilder) bestVariable(candidates []candidate, facts *facts) (slot int, values []int64, numDecided int) {
	count, testedValues := b.countTests(candidates)
	mostTestedFirst := slices.SortedFunc(maps.Keys(count), func(first, second int) int {
		return cmp.Or(cmp.Compare(count[second], count[first]), cmp.Compare(first, second))
	})
	for _, slot := range mostTestedFirst {
		if count[slot] < 2 || count[slot]*2 < len(candidates) {
			break
		}
		values := slices.Sorted(maps.Keys(testedValues[slot]))
		if b.variableGrowth(len(candidates)-count[slot], slot, values, facts) <= b.growth {
			return slot, values, count[slot]
		}
	}
	return 0, nil, 0
}

// countTests returns, for the slot of each variable, the number of candidates that compare the variable with a constant, and the set of
// these constants. If a guard tests a variable several times, only the first test counts.
func (b *treeBuilder) countTests(candidates []candidate) (count map[int]int, testedValues map[int]map[int64]bool) {
	count, testedValues = map[int]int{}, map[int]map[int64]bool{}
	for _, candidate := range candidates {
		seen := map[int]bool{}
		for _, term := range b.literals(candidate.guard) {
			test, ok := asValueTest(term)
			if !ok || seen[test.slot] {
				continue
			}
			seen[test.slot] = true
			if testedValues[test.slot] == nil {
				testedValues[test.slot] = map[int64]bool{}
			}
			testedValues[test.slot][test.value] = true
			count[test.slot]++
		}
	}
	return count, testedValues
}

// variableGrowth returns the number of repetitions of undecided candidates in a branch on a variable.
func (b *treeBuilder) variableGrowth(undecided, slot int, values []int64, facts *facts) int {
	branches := len(values) - 1
	if possible := facts.variable(slot); possible.high-possible.low+1 > int64(len(values)) {
		branches++
	}
	return undecided * branches
}

// splitOnVariable returns a node that branches on the value of a variable.
func (b *treeBuilder) splitOnVariable(candidates []candidate, facts *facts, slot int, values []int64) *decisionTree {
	node := &decisionTree{facts: facts, slot: slot, values: values}
	variable := b.builder.variable(slot, sortInt)
	byValue, others := b.partitionByValue(candidates, slot)
	rest := facts.child()
	for _, value := range values {
		equalsValue := b.builder.equal(variable, b.builder.intConst(value))
		node.next = append(node.next, b.build(byValue[value], facts.assume(equalsValue, true)))
		rest.learn(equalsValue, false)
	}
	if possible := facts.variable(slot); possible.high-possible.low+1 > int64(len(values)) {
		node.next = append(node.next, b.build(others, rest))
	}
	return node
}

// partitionByValue returns, for each value that some candidate compares the variable in a slot with, the candidates that are possible
// with this value, in order. others are the candidates that do not test the variable. A candidate that tests for two values is never
// possible and is in neither result.
func (b *treeBuilder) partitionByValue(candidates []candidate, slot int) (byValue map[int64][]candidate, others []candidate) {
	byValue = map[int64][]candidate{}
	tested := make([][]int64, len(candidates))
	for i, candidate := range candidates {
		tested[i] = b.testedValues(candidate, slot)
		for _, value := range tested[i] {
			byValue[value] = nil
		}
	}
	for i, candidate := range candidates {
		switch len(tested[i]) {
		case 0:
			others = append(others, candidate)
			for value := range byValue {
				byValue[value] = append(byValue[value], candidate)
			}
		case 1:
			value := tested[i][0]
			byValue[value] = append(byValue[value], candidate)
		}
	}
	return byValue, others
}

// testedValues returns the values that the guard of a candidate compares the variable in a slot with, each once.
func (b *treeBuilder) testedValues(tested candidate, slot int) []int64 {
	var values []int64
	for _, term := range b.literals(tested.guard) {
		test, ok := asValueTest(term)
		if ok && test.slot == slot && !slices.Contains(values, test.value) {
			values = append(values, test.value)
		}
	}
	return values
}

// bestCondition returns the condition that occurs, as it is or negated, in the guards of most candidates, and the number of these
// candidates. Among several it prefers the most expensive one. The number is 0 if a branch on the condition would decide only one
// candidate, or less than half of them, or the tree would grow too much.
func (b *treeBuilder) bestCondition(candidates []candidate) (best *term, numDecided int) {
	count := map[*term]int{}
	for _, candidate := range candidates {
		for _, term := range b.literals(candidate.guard) {
			if term.op == opNot && !term.mayFail {
				term = term.operands[0]
			}
			count[term]++
		}
	}
	if len(count) == 0 {
		return nil, 0
	}
	best = slices.MaxFunc(slices.Collect(maps.Keys(count)), func(first, second *term) int {
		return cmp.Or(
			cmp.Compare(count[first], count[second]),
			cmp.Compare(first.cost, second.cost),
			cmp.Compare(second.id, first.id)) // the older term is better
	})
	numDecided = count[best]
	numRepeated := len(candidates) - numDecided // candidates that both branches have
	if numDecided < 2 || numDecided*2 < len(candidates) || numRepeated > b.growth {
		return nil, 0
	}
	return best, numDecided
}

// splitOnCondition returns a node that branches on a condition.
func (b *treeBuilder) splitOnCondition(candidates []candidate, facts *facts, test *term) *decisionTree {
	return &decisionTree{facts: facts, test: test, next: []*decisionTree{
		b.build(candidates, facts.assume(test, true)),
		b.build(candidates, facts.assume(test, false)),
	}}
}
