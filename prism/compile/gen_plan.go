package compile

import (
	"cmp"
	"maps"
	"slices"
)

// move is a combination of commands that may be a choice of some state, with
// the conjuncts of its guard.
type move struct {
	action  int
	members []*command
	guard   []*term
}

// plan is a decision tree over what is enabled. It tests what many guards have
// in common once, and ends in leaves with the moves that remain possible.
type plan struct {
	facts *facts
	// A leaf has the moves that may be enabled, in order, each with what is
	// left of its guard.
	moves []candidate
	// An inner plan branches on a variable's value or on a condition.
	slot   int
	values []int64
	test   *term
	next   []*plan // per value, then for any other value; or for true, then false
}

type candidate struct {
	move  int
	guard []*term
}

// planner builds plans. Growth limits how many candidates the leaves may have
// beyond the number of moves, as branching repeats the moves it does not decide.
type planner struct {
	b      *builder
	growth int
}

func (p *planner) plan(cands []candidate, f *facts) *plan {
	cands = p.simplified(cands, f)
	slot, values, asked := p.bestSlot(cands, f)
	test, tested := p.bestTest(cands)
	switch {
	case asked == 0 && tested == 0:
		return &plan{facts: f, moves: cands}
	case asked >= tested:
		p.growth -= p.slotGrowth(len(cands)-asked, slot, values, f)
		return p.bySlot(cands, f, slot, values)
	default:
		p.growth -= len(cands) - tested
		return p.byTest(cands, f, test)
	}
}

// simplified drops what the facts decide.
func (p *planner) simplified(cands []candidate, f *facts) []candidate {
	var out []candidate
	for _, c := range cands {
		if guard, possible := p.simplifiedGuard(c.guard, f); possible {
			out = append(out, candidate{c.move, guard})
		}
	}
	return out
}

func (p *planner) simplifiedGuard(guard []*term, f *facts) (left []*term, possible bool) {
	for _, t := range guard {
		parts := []*term{t}
		if v, ok := f.value(t); ok {
			parts[0] = f.g.boolean(v) // also a guard that may fail: it has been evaluated
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

// fixes reports the variable and value a conjunct asks for, as in x=3.
func fixes(t *term) (slot int, value int64, ok bool) {
	if t.op == opIntEq && t.args[0].op == opVar && t.args[1].isConst() {
		return t.args[0].slot, t.args[1].i, true
	}
	return 0, 0, false
}

// literals lists what a guard asks for: its conjuncts, and theirs, each once.
func (p *planner) literals(guard []*term) []*term {
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

// bestSlot finds the variable whose value decides most candidates, the values
// that they ask for, and how many ask; 0 if that is less than half of them.
func (p *planner) bestSlot(cands []candidate, f *facts) (slot int, values []int64, asked int) {
	wanted := map[int]map[int64]int{}
	count := map[int]int{}
	for _, c := range cands {
		seen := map[int]bool{}
		for _, t := range p.literals(c.guard) {
			if s, v, ok := fixes(t); ok && !seen[s] {
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
		if count[s] > 1 && count[s]*2 >= len(cands) && p.slotGrowth(len(cands)-count[s], s, values, f) <= p.growth {
			return s, values, count[s]
		}
	}
	return 0, nil, 0
}

// slotGrowth is how often the undecided candidates are repeated.
func (p *planner) slotGrowth(undecided, slot int, values []int64, f *facts) int {
	branches := len(values) - 1
	if r := f.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		branches++
	}
	return undecided * branches
}

func (p *planner) bySlot(cands []candidate, f *facts, slot int, values []int64) *plan {
	out := &plan{facts: f, slot: slot, values: values}
	x := p.b.variable(slot, sortInt)
	byValue, others := p.askers(cands, slot)
	rest := f.child()
	for _, v := range values {
		is := p.b.eq(x, p.b.integer(v))
		out.next = append(out.next, p.plan(byValue[v], f.assume(is, true)))
		rest.learn(is, false)
	}
	if r := f.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		out.next = append(out.next, p.plan(others, rest))
	}
	return out
}

// askers returns, for each value of a variable, the candidates that ask for it
// and those that do not ask for any, in order; and the latter alone.
func (p *planner) askers(cands []candidate, slot int) (byValue map[int64][]candidate, others []candidate) {
	byValue = map[int64][]candidate{}
	asks := make([]map[int64]bool, len(cands))
	for i, c := range cands {
		for _, t := range p.literals(c.guard) {
			if s, v, ok := fixes(t); ok && s == slot {
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

// bestTest finds the condition that decides most candidates, positively or
// negatively, and how many; 0 if that is less than half of them, or only one.
func (p *planner) bestTest(cands []candidate) (best *term, decided int) {
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

// better orders tests by what they decide, then by what they save.
func (p *planner) better(t *term, n int, best *term, most int) bool {
	return cmp.Or(cmp.Compare(n, most), cmp.Compare(t.cost, best.cost), cmp.Compare(best.id, t.id)) > 0
}

func (p *planner) byTest(cands []candidate, f *facts, test *term) *plan {
	return &plan{facts: f, test: test, next: []*plan{
		p.plan(cands, f.assume(test, true)),
		p.plan(cands, f.assume(test, false)),
	}}
}
