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

// build builds the tree for some candidates under the given facts. It branches on the variable or the condition that decides most
// candidates.
func (p *treeBuilder) build(candidates []candidate, facts *facts) *decisionTree {
	candidates = p.simplifyGuards(candidates, facts)
	slot, values, decidedByVariable := p.bestVariable(candidates, facts)
	test, decidedByCondition := p.bestCondition(candidates)
	switch {
	case decidedByVariable == 0 && decidedByCondition == 0:
		return &decisionTree{facts: facts, moves: candidates}
	case decidedByVariable >= decidedByCondition:
		p.growth -= p.variableGrowth(len(candidates)-decidedByVariable, slot, values, facts)
		return p.splitOnVariable(candidates, facts, slot, values)
	default:
		p.growth -= len(candidates) - decidedByCondition
		return p.splitOnCondition(candidates, facts, test)
	}
}

// simplifyGuards removes the candidates whose guards are false under the facts, and the conjuncts that are true.
func (p *treeBuilder) simplifyGuards(candidates []candidate, f *facts) []candidate {
	var out []candidate
	for _, old := range candidates {
		if guard, possible := p.simplifyGuard(old.guard, f); possible {
			out = append(out, candidate{old.move, guard})
		}
	}
	return out
}

// simplifyGuard removes the conjuncts of a guard that are true under the facts. possible is false if one is false.
func (p *treeBuilder) simplifyGuard(guard []*term, f *facts) (remaining []*term, possible bool) {
	for _, t := range guard {
		parts := []*term{t}
		if v, ok := f.known(t); ok {
			parts[0] = f.graph.boolConst(v) // also correct for a guard that may fail, since it has been evaluated
		} else if s := f.simplify(t); s != t && !t.mayFail {
			parts = p.builder.conjuncts(s)
		}
		for _, part := range parts {
			switch {
			case part == f.graph.falseTerm:
				return nil, false
			case part != f.graph.trueTerm && !slices.Contains(remaining, part):
				remaining = append(remaining, part)
			}
		}
	}
	return remaining, true
}

// variableValueOf returns the variable and the value of a conjunct of the form x=3. ok is false for other conjuncts.
func variableValueOf(term *term) (slot int, value int64, ok bool) {
	if term.op == opIntEq && term.operands[0].op == opVar && term.operands[1].isConst() {
		return term.operands[0].slot, term.operands[1].intValue, true
	}
	return 0, 0, false
}

// literals returns the conjuncts of a guard, with those of nested conjunctions, without duplicates.
func (p *treeBuilder) literals(guard []*term) []*term {
	var out []*term
	for _, t := range guard {
		if slices.Contains(out, t) {
			continue
		}
		out = append(out, t)
		switch {
		case t.mayFail:
		case t.op == opAnd:
			out = append(out, p.literals(t.operands)...)
		case t.op == opNot && t.operands[0].op == opOr:
			for _, operand := range t.operands[0].operands {
				out = append(out, p.literals([]*term{p.builder.not(operand)})...)
			}
		}
	}
	return out
}

// bestVariable returns the variable whose value decides most candidates, the values for which they test, and the number of these
// candidates. The number is 0 if it would be less than half of all candidates.
func (p *treeBuilder) bestVariable(candidates []candidate, facts *facts) (slot int, values []int64, numDecided int) {
	testedValues := map[int]map[int64]int{}
	count := map[int]int{}
	for _, candidate := range candidates {
		seen := map[int]bool{}
		for _, term := range p.literals(candidate.guard) {
			if s, v, ok := variableValueOf(term); ok && !seen[s] {
				seen[s] = true
				if testedValues[s] == nil {
					testedValues[s] = map[int64]int{}
				}
				testedValues[s][v]++
				count[s]++
			}
		}
	}
	slots := slices.SortedFunc(maps.Keys(count), func(a, b int) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, s := range slots {
		values := slices.Sorted(maps.Keys(testedValues[s]))
		if count[s] > 1 && count[s]*2 >= len(candidates) && p.variableGrowth(len(candidates)-count[s], s, values, facts) <= p.growth {
			return s, values, count[s]
		}
	}
	return 0, nil, 0
}

// variableGrowth returns the number of repetitions of undecided candidates in a branch on a variable.
func (p *treeBuilder) variableGrowth(undecided, slot int, values []int64, f *facts) int {
	branches := len(values) - 1
	if r := f.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		branches++
	}
	return undecided * branches
}

// splitOnVariable returns a node that branches on the value of a variable.
func (p *treeBuilder) splitOnVariable(candidates []candidate, facts *facts, slot int, values []int64) *decisionTree {
	out := &decisionTree{facts: facts, slot: slot, values: values}
	variable := p.builder.variable(slot, sortInt)
	byValue, others := p.partitionByValue(candidates, slot)
	rest := facts.child()
	for _, v := range values {
		equalsValue := p.builder.eq(variable, p.builder.intConst(v))
		out.next = append(out.next, p.build(byValue[v], facts.assume(equalsValue, true)))
		rest.learn(equalsValue, false)
	}
	if r := facts.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		out.next = append(out.next, p.build(others, rest))
	}
	return out
}

// partitionByValue returns, for each value of a variable, the candidates that are possible with this value, in order. others are the
// candidates that do not test the variable.
func (p *treeBuilder) partitionByValue(candidates []candidate, slot int) (byValue map[int64][]candidate, others []candidate) {
	byValue = map[int64][]candidate{}
	tested := make([]map[int64]bool, len(candidates))
	for i, candidate := range candidates {
		for _, term := range p.literals(candidate.guard) {
			if s, v, ok := variableValueOf(term); ok && s == slot {
				if tested[i] == nil {
					tested[i] = map[int64]bool{}
				}
				tested[i][v] = true
				byValue[v] = nil
			}
		}
	}
	for i, candidate := range candidates {
		switch {
		case tested[i] == nil:
			others = append(others, candidate)
			for v := range byValue {
				byValue[v] = append(byValue[v], candidate)
			}
		case len(tested[i]) == 1:
			for v := range tested[i] {
				byValue[v] = append(byValue[v], candidate)
			}
		}
	}
	return byValue, others
}

// bestCondition returns the condition that decides most candidates, by being true or false, and their number. The number is 0 if it
// would be 1 or less than half of all candidates.
func (p *treeBuilder) bestCondition(candidates []candidate) (best *term, numDecided int) {
	count := map[*term]int{}
	for _, candidate := range candidates {
		for _, term := range p.literals(candidate.guard) {
			if term.op == opNot && !term.mayFail {
				term = term.operands[0]
			}
			count[term]++
		}
	}
	for term, n := range count {
		if best == nil || p.isBetter(term, n, best, count[best]) {
			best = term
		}
	}
	n := count[best]
	if best == nil || n < 2 || n*2 < len(candidates) || len(candidates)-n > p.growth {
		return nil, 0
	}
	return best, n
}

// isBetter reports whether condition t, which decides n candidates, is a better test than best, which decides most candidates.
func (p *treeBuilder) isBetter(term *term, n int, best *term, most int) bool {
	return cmp.Or(cmp.Compare(n, most), cmp.Compare(term.cost, best.cost), cmp.Compare(best.id, term.id)) > 0
}

// splitOnCondition returns a node that branches on a condition.
func (p *treeBuilder) splitOnCondition(candidates []candidate, facts *facts, test *term) *decisionTree {
	return &decisionTree{facts: facts, test: test, next: []*decisionTree{
		p.build(candidates, facts.assume(test, true)),
		p.build(candidates, facts.assume(test, false)),
	}}
}
