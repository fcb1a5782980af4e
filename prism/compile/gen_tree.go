package compile

import (
	"cmp"
	"maps"
	"slices"
)

// moveSpec is a combination of commands that may be a choice, with the conjuncts of its guard.
type moveSpec struct {
	action    int
	commands  []*command
	conjuncts []*term
}

// decisionTree finds the enabled moves of a state. It tests common conditions of guards once. A leaf has the moves that may be enabled.
type decisionTree struct {
	facts *facts
	// A leaf has the moves that may be enabled, in order, each with the
	// conjuncts of its guard that are still to be tested.
	moves []candidate
	// An inner node branches on a variable's value or on a condition.
	slot     int
	values   []int64
	test     *term
	children []*decisionTree // one child per value, then one for other values; or one for true, one for false
}

// candidate is a move that may be enabled. guard has the untested conjuncts of its guard.
type candidate struct {
	moveIndex int
	conjuncts []*term
}

// treeBuilder builds a decision tree. A move that several branches need is repeated in each of them; growth is the number of repetitions that are
// still allowed.
type treeBuilder struct {
	builder *builder
	growth  int
}

// build returns a decision tree that finds the enabled moves among the candidates in a state where the facts hold. It branches on the variable or condition
// that occurs in the guards of most candidates. A move that several branches need is repeated in them; b.growth limits these repetitions.
func (b *treeBuilder) build(candidates []candidate, facts *facts) *decisionTree {
	candidates = b.simplifyGuards(candidates, facts)
	slot, values, numByVariable := b.bestVariable(candidates, facts)
	test, numByCondition := b.bestCondition(candidates)
	switch {
	case numByVariable == 0 && numByCondition == 0:
		return &decisionTree{facts: facts, moves: candidates}
	case numByVariable >= numByCondition:
		b.growth -= b.variableGrowth(len(candidates)-numByVariable, slot, values, facts)
		return b.splitOnVariable(candidates, facts, slot, values)
	default:
		b.growth -= len(candidates) - numByCondition
		return b.splitOnCondition(candidates, facts, test)
	}
}

// simplifyGuards simplifies the guards of candidates under some facts. It removes candidates with a false guard.
func (b *treeBuilder) simplifyGuards(candidates []candidate, facts *facts) []candidate {
	var remaining []candidate
	for _, candidateMove := range candidates {
		if guard, isPossible := b.simplifyGuard(candidateMove.conjuncts, facts); isPossible {
			remaining = append(remaining, candidate{candidateMove.moveIndex, guard})
		}
	}
	return remaining
}

// simplifyGuard removes the conjuncts of a guard that are true under some facts. isPossible is false if a conjunct is false.
func (b *treeBuilder) simplifyGuard(guard []*term, facts *facts) (remaining []*term, isPossible bool) {
	for _, conjunct := range guard {
		for _, simplified := range b.simplifyConjunct(conjunct, facts) {
			if simplified == facts.graph.falseTerm {
				return nil, false
			}
			if simplified != facts.graph.trueTerm && !slices.Contains(remaining, simplified) {
				remaining = append(remaining, simplified)
			}
		}
	}
	return remaining, true
}

// simplifyConjunct returns conjuncts that are equivalent to a conjunct under some facts.
func (b *treeBuilder) simplifyConjunct(conjunct *term, facts *facts) []*term {
	if holds, ok := facts.truthOf(conjunct); ok {
		return []*term{facts.graph.boolConst(holds)} // a known conjunct was evaluated before, so it cannot fail again
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

// asValueTest returns a term such as x=3 as a valueTest; ok is false for other terms.
func asValueTest(term *term) (test valueTest, ok bool) {
	if term.op == opIntEq && term.operands[0].op == opVar && term.operands[1].isConst() {
		return valueTest{term.operands[0].slot, term.operands[1].intValue}, true
	}
	return valueTest{}, false
}

// valueTestsIn returns the equality tests among some conjuncts.
func valueTestsIn(conjuncts []*term) []valueTest {
	var tests []valueTest
	for _, conjunct := range conjuncts {
		if test, ok := asValueTest(conjunct); ok {
			tests = append(tests, test)
		}
	}
	return tests
}

// isTestOf reports whether a term is the test.
func (t valueTest) isTestOf(term *term) bool {
	test, ok := asValueTest(term)
	return ok && test == t
}

// literalsOf returns the conjuncts of a guard, and also the parts of each conjunct that is a conjunction or a negated disjunction. A guard is true
// only if they are all true.
func (b *treeBuilder) literalsOf(guard []*term) []*term {
	var result []*term
	for _, conjunct := range guard {
		if slices.Contains(result, conjunct) {
			continue
		}
		result = append(result, conjunct)
		switch {
		case conjunct.mayFail:
		case conjunct.op == opAnd:
			result = append(result, b.literalsOf(conjunct.operands)...)
		case conjunct.op == opNot && conjunct.operands[0].op == opOr:
			for _, operand := range conjunct.operands[0].operands {
				result = append(result, b.literalsOf([]*term{b.builder.not(operand)})...)
			}
		}
	}
	return result
}

// bestVariable returns the slot of the variable that most candidates compare with constants, and these constants in ascending order. numDecided
// is the number of these candidates. It is 0 if they are less than half of the candidates, or if the tree would grow too much.
func (b *treeBuilder) bestVariable(candidates []candidate, facts *facts) (slot int, values []int64, numDecided int) {
	counts, testedValues := b.countTests(candidates)
	mostTestedFirst := slices.SortedFunc(maps.Keys(counts), func(first, second int) int {
		return cmp.Or(cmp.Compare(counts[second], counts[first]), cmp.Compare(first, second))
	})
	for _, slot := range mostTestedFirst {
		if counts[slot] < 2 || counts[slot]*2 < len(candidates) {
			break
		}
		values := slices.Sorted(maps.Keys(testedValues[slot]))
		// Skip a variable that makes the tree too large.
		if b.variableGrowth(len(candidates)-counts[slot], slot, values, facts) <= b.growth {
			return slot, values, counts[slot]
		}
	}
	return 0, nil, 0
}

// countTests returns, for the slot of each variable, the number of candidates that compare the variable with a constant, and the set of these
// constants. It uses only the first comparison in each guard.
func (b *treeBuilder) countTests(candidates []candidate) (counts map[int]int, testedValues map[int]map[int64]bool) {
	counts, testedValues = map[int]int{}, map[int]map[int64]bool{}
	for _, candidate := range candidates {
		isCounted := map[int]bool{}
		for _, test := range valueTestsIn(b.literalsOf(candidate.conjuncts)) {
			if isCounted[test.slot] {
				continue
			}
			isCounted[test.slot] = true
			if testedValues[test.slot] == nil {
				testedValues[test.slot] = map[int64]bool{}
			}
			testedValues[test.slot][test.value] = true
			counts[test.slot]++
		}
	}
	return counts, testedValues
}

// variableGrowth returns how often a branch on a variable repeats undecided candidates.
func (b *treeBuilder) variableGrowth(numUndecided, slot int, values []int64, facts *facts) int {
	numCopies := len(values) - 1
	if possible := facts.variable(slot); possible.high-possible.low+1 > int64(len(values)) {
		numCopies++
	}
	return numUndecided * numCopies
}

// splitOnVariable returns a node of the decision tree that has a subtree for each of the given values of a variable. A last subtree, for all other
// values, is added if the variable can have another value.
func (b *treeBuilder) splitOnVariable(candidates []candidate, facts *facts, slot int, values []int64) *decisionTree {
	node := &decisionTree{facts: facts, slot: slot, values: values}
	variable := b.builder.variable(slot, sortInt)
	byValue, notTesting := b.partitionByValue(candidates, slot)
	otherFacts := facts.child()
	for _, value := range values {
		equalsValue := b.builder.equal(variable, b.builder.intConst(value))
		node.children = append(node.children, b.build(byValue[value], facts.assume(equalsValue, true)))
		otherFacts.learn(equalsValue, false)
	}
	if valueRange := facts.variable(slot); valueRange.high-valueRange.low+1 > int64(len(values)) {
		node.children = append(node.children, b.build(notTesting, otherFacts))
	}
	return node
}

// partitionByValue returns, for each value that a guard tests for, the candidates that may be enabled if the variable has this value. notTesting
// are the candidates that do not test the variable. A candidate that tests for two different values is never enabled.
func (b *treeBuilder) partitionByValue(candidates []candidate, slot int) (byValue map[int64][]candidate, notTesting []candidate) {
	byValue = map[int64][]candidate{}
	valuesOfGuards := make([][]int64, len(candidates))
	for i, candidate := range candidates {
		valuesOfGuards[i] = b.testedValues(candidate, slot)
		for _, value := range valuesOfGuards[i] {
			byValue[value] = nil
		}
	}
	for i, candidate := range candidates {
		switch len(valuesOfGuards[i]) {
		case 0:
			notTesting = append(notTesting, candidate)
			for value := range byValue {
				byValue[value] = append(byValue[value], candidate)
			}
		case 1:
			value := valuesOfGuards[i][0]
			byValue[value] = append(byValue[value], candidate)
		}
	}
	return byValue, notTesting
}

// testedValues returns the values that the guard of a candidate compares a variable with, without duplicates.
func (b *treeBuilder) testedValues(move candidate, slot int) []int64 {
	var values []int64
	for _, test := range valueTestsIn(b.literalsOf(move.conjuncts)) {
		if test.slot == slot && !slices.Contains(values, test.value) {
			values = append(values, test.value)
		}
	}
	return values
}

// bestCondition returns the condition that occurs in most guards, plain or negated. numDecided is the number of these guards. It is 0 if they are
// less than half of the guards, or if the tree would grow too much.
func (b *treeBuilder) bestCondition(candidates []candidate) (best *term, numDecided int) {
	counts := b.countConditions(candidates)
	if len(counts) == 0 {
		return nil, 0
	}
	best = slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(first, second *term) int {
		return cmp.Or(
			cmp.Compare(counts[first], counts[second]),
			cmp.Compare(first.cost, second.cost), // the more expensive condition is better
			cmp.Compare(second.id, first.id))     // the older term is better
	})
	numDecided = counts[best]
	numRepeated := len(candidates) - numDecided // candidates that both branches have
	if numDecided < 2 || numDecided*2 < len(candidates) || numRepeated > b.growth {
		return nil, 0
	}
	return best, numDecided
}

// countConditions returns, for each condition, the number of guards that contain it, plain or negated.
func (b *treeBuilder) countConditions(candidates []candidate) map[*term]int {
	counts := map[*term]int{}
	for _, candidate := range candidates {
		for _, condition := range b.literalsOf(candidate.conjuncts) {
			if condition.op == opNot && !condition.mayFail {
				condition = condition.operands[0]
			}
			counts[condition]++
		}
	}
	return counts
}

// splitOnCondition returns a node that branches on a condition.
func (b *treeBuilder) splitOnCondition(candidates []candidate, facts *facts, test *term) *decisionTree {
	return &decisionTree{facts: facts, test: test, children: []*decisionTree{
		b.build(candidates, facts.assume(test, true)),
		b.build(candidates, facts.assume(test, false)),
	}}
}
