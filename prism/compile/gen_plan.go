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
	g      *graph
	growth int
}

func (p *planner) plan(cands []candidate, f *facts) *plan {
	cands = simplified(cands, f)
	slot, values := p.bestSlot(cands, f)
	if len(values) > 0 {
		return p.bySlot(cands, f, slot, values)
	}
	if test := p.bestTest(cands); test != nil {
		return p.byTest(cands, f, test)
	}
	return &plan{facts: f, moves: cands}
}

// simplified drops what the facts decide.
func simplified(cands []candidate, f *facts) []candidate {
	var out []candidate
	for _, c := range cands {
		if guard, possible := simplifiedGuard(c.guard, f); possible {
			out = append(out, candidate{c.move, guard})
		}
	}
	return out
}

func simplifiedGuard(guard []*term, f *facts) (left []*term, possible bool) {
	for _, t := range guard {
		parts := []*term{t}
		if v, ok := f.value(t); ok {
			parts[0] = f.g.boolean(v) // also a guard that may fail: it has been evaluated
		} else if s := f.simplify(t); s != t && !t.fails {
			parts = f.g.conjuncts(s)
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

// conjuncts splits a guard that cannot fail into its conjuncts. Those are not
// split further: a conjunction inside one is a formula used elsewhere, too.
func (g *graph) conjuncts(t *term) []*term {
	switch {
	case t.fails:
	case t.op == opAnd:
		return t.args
	case t.op == opNot && t.args[0].op == opOr:
		var out []*term
		for _, a := range t.args[0].args {
			out = append(out, g.not(a))
		}
		return out
	}
	return []*term{t}
}

// fixes reports the variable and value a conjunct asks for, as in x=3.
func fixes(t *term) (slot int, value int64, ok bool) {
	if t.op == opIntEq && t.args[0].op == opVar && t.args[1].isConst() {
		return t.args[0].slot, t.args[1].i, true
	}
	return 0, 0, false
}

// bestSlot finds the variable whose value decides most candidates, and the
// values that they ask for; none if that is less than half of them.
func (p *planner) bestSlot(cands []candidate, f *facts) (slot int, values []int64) {
	asked := map[int]map[int64]int{}
	count := map[int]int{}
	for _, c := range cands {
		for _, t := range c.guard {
			if s, v, ok := fixes(t); ok {
				if asked[s] == nil {
					asked[s] = map[int64]int{}
				}
				asked[s][v]++
				count[s]++
			}
		}
	}
	slots := slices.SortedFunc(maps.Keys(count), func(a, b int) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, s := range slots {
		branches := len(asked[s])
		others := len(cands) - count[s]
		if r := f.variable(s); r.hi-r.lo+1 > int64(branches) {
			branches++
		}
		if extra := others * (branches - 1); count[s]*2 >= len(cands) && count[s] > 1 && extra <= p.growth {
			p.growth -= extra
			return s, slices.Sorted(maps.Keys(asked[s]))
		}
	}
	return 0, nil
}

func (p *planner) bySlot(cands []candidate, f *facts, slot int, values []int64) *plan {
	out := &plan{facts: f, slot: slot, values: values}
	x := p.g.variable(slot, sortInt)
	rest := f
	for _, v := range values {
		is := p.g.eq(x, p.g.integer(v))
		out.next = append(out.next, p.plan(cands, f.assume(is, true)))
		rest = rest.assume(is, false)
	}
	if r := f.variable(slot); r.hi-r.lo+1 > int64(len(values)) {
		out.next = append(out.next, p.plan(cands, rest))
	}
	return out
}

// bestTest finds the condition that decides most candidates, positively or
// negatively; nil if that is less than half of them, or only one.
func (p *planner) bestTest(cands []candidate) *term {
	count := map[*term]int{}
	for _, c := range cands {
		for _, t := range c.guard {
			if t.op == opNot && !t.fails {
				t = t.args[0]
			}
			count[t]++
		}
	}
	var best *term
	for t, n := range count {
		if best == nil || n > count[best] || n == count[best] && t.id < best.id {
			best = t
		}
	}
	if best == nil || count[best] < 2 || count[best]*2 < len(cands) {
		return nil
	}
	extra := len(cands) - count[best]
	if extra > p.growth {
		return nil
	}
	p.growth -= extra
	return best
}

func (p *planner) byTest(cands []candidate, f *facts, test *term) *plan {
	return &plan{facts: f, test: test, next: []*plan{
		p.plan(cands, f.assume(test, true)),
		p.plan(cands, f.assume(test, false)),
	}}
}
