package compile

import (
	"cmp"
	"maps"
	"slices"
)

// commandSet is a combination of commands that may be a choice of some state, with the conjuncts of its guard.
type commandSet struct {
	action  int
	members []*command
	guard   []*term
}

// decisionTree finds the enabled moves. It tests conditions that many guards share only once. Its leaves have the moves that
// remain possible.
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

type candidate struct {
	move  int
	guard []*term
}

// treeBuilder builds decision trees. Branching repeats the moves that it does not decide; growth limits how many more
// candidates the leaves may have than there are moves.
type treeBuilder struct {
	b      *builder
	growth int
}

func (p *treeBuilder) build(cands []candidate, f *facts) *decisionTree {
	cands = p.simplifyGuards(cands, f)
	slot, values, asked := p.bestVariable(cands, f)
	test, tested := p.bestCondition(cands)
	switch {
	case asked == 0 && tested == 0:
		return &decisionTree{facts: f, moves: cands}
	case asked >= tested:
		p.growth -= p.variableGrowth(len(cands)-asked, slot, values, f)
		return p.splitOnVariable(cands, f, slot, values)
	default:
		p.growth -= len(cands) - tested
		return p.splitOnCondition(cands, f, test)
	}
}

// simplifyGuards removes the candidates and conjuncts that the facts decide.
func (p *treeBuilder) simplifyGuards(cands []candidate, f *facts) []candidate {
	var out []candidate
	for _, c := range cands {
		if guard, possible := p.simplifyGuard(c.guard, f); possible {
			out = append(out, candidate{c.move, guard})
		}
	}
	return out
}

func (p *treeBuilder) simplifyGuard(guard []*term, f *facts) (left []*term, possible bool) {
	for _, t := range guard {
		parts := []*term{t}
		if v, ok := f.value(t); ok {
			parts[0] = f.g.boolean(v) // also correct for a guard that may fail, since it has been evaluated
		} else if s := f.simplify(t); s != t && !t.fails {
			parts = p.b.conjuncts(s)
		}
		for _, part := range parts {
			switch {
			case part == f.g.no:
				return nil, false
			case part != f.g.yes && !slices.Contains(left, part):
				left = append(left, part)
			}
		}
	}
	return left, true
}

// variableValueOf returns the variable and the value if a conjunct has the form x=3.
func variableValueOf(t *term) (slot int, value int64, ok bool) {
	if t.op == opIntEq && t.args[0].op == opVar && t.args[1].isConst() {
		return t.args[0].slot, t.args[1].i, true
	}
	return 0, 0, false
}

// literals lists the conjuncts of a guard, flattened and without duplicates.
func (p *treeBuilder) literals(guard []*term) []*term {
	var out []*term
	for _, t := range guard {
		if slices.Contains(out, t) {
			continue
		}
		out = append(out, t)
		switch {
		case t.fails:
		case t.op == opAnd:
			out = append(out, p.literals(t.args)...)
		case t.op == opNot && t.args[0].op == opOr:
			for _, a := range t.args[0].args {
				out = append(out, p.literals([]*term{p.b.not(a)})...)
			}
		}
	}
	return out
}

// bestVariable returns the variable whose value decides most candidates, the values that they test for, and the number of these
// candidates. asked is 0 if it is less than half of them.
func (p *treeBuilder) bestVariable(cands []candidate, f *facts) (slot int, values []int64, asked int) {
	wanted := map[int]map[int64]int{}
	count := map[int]int{}
	for _, c := range cands {
		seen := map[int]bool{}
		for _, t := range p.literals(c.guard) {
			if s, v, ok := variableValueOf(t); ok && !seen[s] {
				seen[s] = true
				if wanted[s] == nil {
					wanted[s] = map[int64]int{}
				}
				wanted[s][v]++
				count[s]++
			}
		}
	}
	slots := slices.SortedFunc(maps.Keys(count), func(a, b int) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, s := range slots {
		values := slices.Sorted(maps.Keys(wanted[s]))
		if count[s] > 1 && count[s]*2 >= len(cands) && p.variableGrowth(len(cands)-count[s], s, values, f) <= p.growth {
			return s, values, count[s]
		}
	}
	return 0, nil, 0
}

// variableGrowth returns how many more candidates a split on a variable makes.
func (p *treeBuilder) variableGrowth(undecided, slot int, values []int64, f *facts) int {
	branches := len(values) - 1
	if r := f.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		branches++
	}
	return undecided * branches
}

func (p *treeBuilder) splitOnVariable(cands []candidate, f *facts, slot int, values []int64) *decisionTree {
	out := &decisionTree{facts: f, slot: slot, values: values}
	x := p.b.variable(slot, sortInt)
	byValue, others := p.partitionByValue(cands, slot)
	rest := f.child()
	for _, v := range values {
		is := p.b.eq(x, p.b.integer(v))
		out.next = append(out.next, p.build(byValue[v], f.assume(is, true)))
		rest.learn(is, false)
	}
	if r := f.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		out.next = append(out.next, p.build(others, rest))
	}
	return out
}

// partitionByValue returns, for each value of a variable, the candidates that are possible with it, in order; and separately the
// candidates that do not test the variable.
func (p *treeBuilder) partitionByValue(cands []candidate, slot int) (byValue map[int64][]candidate, others []candidate) {
	byValue = map[int64][]candidate{}
	asks := make([]map[int64]bool, len(cands))
	for i, c := range cands {
		for _, t := range p.literals(c.guard) {
			if s, v, ok := variableValueOf(t); ok && s == slot {
				if asks[i] == nil {
					asks[i] = map[int64]bool{}
				}
				asks[i][v] = true
				byValue[v] = nil
			}
		}
	}
	for i, c := range cands {
		switch {
		case asks[i] == nil:
			others = append(others, c)
			for v := range byValue {
				byValue[v] = append(byValue[v], c)
			}
		case len(asks[i]) == 1:
			for v := range asks[i] {
				byValue[v] = append(byValue[v], c)
			}
		}
	}
	return byValue, others
}

// bestCondition returns the condition that decides most candidates, positively or negatively, and their number. decided is 0 if it
// is less than half of them, or only one.
func (p *treeBuilder) bestCondition(cands []candidate) (best *term, decided int) {
	count := map[*term]int{}
	for _, c := range cands {
		for _, t := range p.literals(c.guard) {
			if t.op == opNot && !t.fails {
				t = t.args[0]
			}
			count[t]++
		}
	}
	for t, n := range count {
		if best == nil || p.better(t, n, best, count[best]) {
			best = t
		}
	}
	n := count[best]
	if best == nil || n < 2 || n*2 < len(cands) || len(cands)-n > p.growth {
		return nil, 0
	}
	return best, n
}

// better orders conditions by the number of candidates they decide, then by cost.
func (p *treeBuilder) better(t *term, n int, best *term, most int) bool {
	return cmp.Or(cmp.Compare(n, most), cmp.Compare(t.cost, best.cost), cmp.Compare(best.id, t.id)) > 0
}

func (p *treeBuilder) splitOnCondition(cands []candidate, f *facts, test *term) *decisionTree {
	return &decisionTree{facts: f, test: test, next: []*decisionTree{
		p.build(cands, f.assume(test, true)),
		p.build(cands, f.assume(test, false)),
	}}
}
