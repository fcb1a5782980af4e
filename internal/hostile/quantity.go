package hostile

import (
	"fmt"
	"math/big"
)

// quantity returns a random probability, long-run probability or expected reward. nesting is the number of operators that may be nested in it.
func (m *Model) quantity(nesting int) quantity {
	w := m.w
	switch {
	case w.one(3):
		return m.reward()
	case m.Kind == "ctmc" && w.one(2):
		return m.timed(nesting)
	case m.Kind != "mdp" && w.one(8):
		text, in := m.target(nesting)
		return quantity{"S", "[ " + text + " ]", func(bool) []Value { return exactlyAll(m.chain(m.first()).average(indicator(in))) }}
	case m.Kind != "ctmc" && w.one(3):
		return m.stepped(nesting)
	}
	return m.unbounded(nesting)
}

func (m *Model) first() []int { return make([]int, m.Size()) }

// complement returns 1-x for each value x.
func complement(vs []Value) []Value {
	one := rat(1, 1)
	out := make([]Value, len(vs))
	for i, v := range vs {
		out[i] = Value{Lo: sub(one, v.Hi), Hi: sub(one, v.Lo)}
	}
	return out
}

// unbounded returns a random probability of a path formula without bounds.
func (m *Model) unbounded(nesting int) quantity {
	a, safe := m.target(nesting)
	b, goal := m.target(nesting)
	n := m.Size()
	until := func(greatest bool, safe, goal []bool) []Value {
		return m.over(greatest, func(c *chain) []Value { return exactlyAll(c.until(safe, goal)) })
	}
	p := func(path string, values func(bool) []Value) quantity {
		return quantity{"P", "[ " + path + " ]", values}
	}
	switch m.w.IntN(9) {
	case 0:
		return p("X "+b, func(g bool) []Value { return exactlyAll(m.back(g, false, indicator(goal))) })
	case 1:
		return p("G "+b, func(g bool) []Value { return complement(until(!g, fill(n, true), not(goal))) })
	case 2, 3:
		return p(a+" U "+b, func(g bool) []Value { return until(g, safe, goal) })
	case 4: // a W b is the complement of !b U (!a & !b)
		return p(a+" W "+b, func(g bool) []Value { return complement(until(!g, not(goal), both(not(safe), not(goal)))) })
	case 5:
		finally, always := "G F "+b, "F G "+b
		recurs := func(all bool) func(*chain) []Value {
			return func(c *chain) []Value { return exactlyAll(c.until(fill(n, true), c.settled(goal, all))) }
		}
		if m.w.one(2) {
			return p(finally, func(g bool) []Value { return m.over(g, recurs(false)) })
		}
		return p(always, func(g bool) []Value { return m.over(g, recurs(true)) })
	}
	return p("F "+b, func(g bool) []Value { return until(g, fill(n, true), goal) })
}

// settled returns the states of the bottom components of which all states are in a set, or, if all is false, at least one state.
func (c *chain) settled(in []bool, all bool) []bool {
	out := make([]bool, c.size())
	for i, component := range c.recurrent() {
		if component == nil {
			continue
		}
		some, every := false, true
		for j, member := range component {
			some = some || member && in[j]
			every = every && (!member || in[j])
		}
		out[i] = all && every || !all && some
	}
	return out
}

// stepped returns a random probability of a path formula with a bound on the number of steps.
func (m *Model) stepped(nesting int) quantity {
	a, safe := m.target(nesting)
	b, goal := m.target(nesting)
	n := m.Size()
	k := pick(m.w, 0, 1, 2, 3, 4, 5, 20)
	p := func(path string, values func(bool) []*big.Rat) quantity {
		return quantity{"P", "[ " + path + " ]", func(g bool) []Value { return exactlyAll(values(g)) }}
	}
	switch m.w.IntN(5) {
	case 0:
		return p(fmt.Sprintf("%s U<=%d %s", a, k, b), func(g bool) []*big.Rat { return m.steps(g, safe, goal, 0, k) })
	case 1:
		return quantity{"P", fmt.Sprintf("[ G<=%d %s ]", k, b), func(g bool) []Value {
			return complement(exactlyAll(m.steps(!g, fill(n, true), not(goal), 0, k)))
		}}
	case 2:
		return p(fmt.Sprintf("F<%d %s", k+1, b), func(g bool) []*big.Rat { return m.steps(g, fill(n, true), goal, 0, k) })
	case 3:
		low := m.w.IntN(3)
		return p(fmt.Sprintf("%s U[%d,%d] %s", a, low, low+k, b), func(g bool) []*big.Rat { return m.steps(g, safe, goal, low, low+k) })
	}
	return p(fmt.Sprintf("F<=%d %s", k, b), func(g bool) []*big.Rat { return m.steps(g, fill(n, true), goal, 0, k) })
}

// time returns a random time in which at most 100000 transitions of each state are expected. A longer time would take too long to compute, and the
// probability of staying in a state would be smaller than all positive float64 numbers.
func (m *Model) time() *big.Rat {
	t := parse(pick(m.w, "0", "0.1", "1", "2.5", "0.3", "10", "1/3"))
	if m.w.nasty(5) {
		t = parse(pick(m.w, "1e-9", "1e-17", "100"))
	}
	for _, exit := range m.chain(m.first()).exit {
		for mul(exit, t).Cmp(rat(100_000, 1)) > 0 {
			t = mul(t, parse("1e-6"))
		}
	}
	return t
}

// timed returns a random probability of a path formula with a bound on the time, for a CTMC.
func (m *Model) timed(nesting int) quantity {
	a, safe := m.target(nesting)
	b, goal := m.target(nesting)
	c := m.chain(m.first())
	t := m.time()
	w := m.w
	bound := w.literal(t)
	p := func(path string, values func() []Value) quantity {
		return quantity{"P", "[ " + path + " ]", func(bool) []Value { return values() }}
	}
	within := func(safe, goal []bool) []Value {
		return c.frozen(both(safe, not(goal))).after(t, indicator(goal))
	}
	n := m.Size()
	switch m.w.IntN(5) {
	case 0:
		return p(fmt.Sprintf("%s U<=%s %s", a, bound, b), func() []Value { return within(safe, goal) })
	case 1:
		return p(fmt.Sprintf("G<=%s %s", bound, b), func() []Value { return c.stays(t, goal) })
	case 2:
		low := m.time()
		return p(fmt.Sprintf("%s U[%s,%s] %s", a, w.literal(low), w.literal(add(low, t)), b), func() []Value {
			return c.stayThen(low, safe, within(safe, goal))
		})
	case 3:
		return p(fmt.Sprintf("%s U>=%s %s", a, bound, b), func() []Value { return c.stayThen(t, safe, exactlyAll(c.until(safe, goal))) })
	}
	return p(fmt.Sprintf("F<=%s %s", bound, b), func() []Value { return within(fill(n, true), goal) })
}

// stays returns the probability of being in a set all the time.
func (c *chain) stays(t *big.Rat, set []bool) []Value {
	return c.frozen(set).after(t, indicator(set))
}

// stayThen returns the expectation of the values then after time t, on the paths that stay in safe states until t.
func (c *chain) stayThen(t *big.Rat, safe []bool, then []Value) []Value {
	masked := make([]Value, len(then))
	for i, v := range then {
		if masked[i] = v; !safe[i] && t.Sign() > 0 {
			masked[i] = exactly(new(big.Rat))
		}
	}
	return c.frozen(safe).scaled(t, masked)
}

// reward returns a random expected reward.
func (m *Model) reward() quantity {
	b, goal := m.target(0)
	w := m.w
	r := func(path string, values func(bool) []Value) quantity {
		return quantity{"R", "[ " + path + " ]", values}
	}
	switch kind := w.IntN(6); {
	case kind == 0 && m.Kind == "ctmc":
		t := m.time()
		return r("C<="+w.literal(t), func(bool) []Value { return m.gathered(t) })
	case kind == 1 && m.Kind == "ctmc":
		t := m.time()
		return r("I="+w.literal(t), func(bool) []Value { return m.chain(m.first()).frozen(fill(m.Size(), true)).after(t, m.state) })
	case kind == 0:
		k := pick(w, 0, 1, 2, 3, 6)
		return r(fmt.Sprintf("C<=%d", k), func(g bool) []Value { return exactlyAll(m.iterate(g, true, zeros(m.Size()), k)) })
	case kind == 1:
		k := pick(w, 0, 1, 2, 3, 6)
		return r(fmt.Sprintf("I=%d", k), func(g bool) []Value { return exactlyAll(m.iterate(g, false, m.state, k)) })
	case kind == 2 && m.Kind != "mdp":
		c := m.chain(m.first())
		rate := c.rate
		if rate == nil {
			rate = c.reward
		}
		return r("S", func(bool) []Value { return exactlyAll(c.average(rate)) })
	case kind == 3 && m.Kind != "ctmc":
		return r("C", func(g bool) []Value { return m.over(g, (*chain).total) })
	}
	return r("F "+b, func(g bool) []Value { return m.over(g, func(c *chain) []Value { return c.toGoal(goal) }) })
}

// iterate looks so many steps back.
func (m *Model) iterate(greatest, rewards bool, x []*big.Rat, k int) []*big.Rat {
	for range k {
		x = m.back(greatest, rewards, x)
	}
	return x
}

// gathered returns the expected reward up to time t. It divides the rewards by the largest one first, because large entries need more squarings of
// the exponential.
func (m *Model) gathered(t *big.Rat) []Value {
	c := m.chain(m.first())
	n := m.Size()
	scale := rat(1, 1)
	for _, r := range c.rate {
		if r.Cmp(scale) > 0 {
			scale = r
		}
	}
	rate := zeros(n)
	for i, r := range c.rate {
		rate[i] = quo(r, scale)
	}
	last := append(zeros(n), rat(1, 1))
	vs := c.frozen(fill(n, true)).earning(rate).after(t, last)[:n]
	for i, v := range vs {
		vs[i] = Value{Lo: mul(v.Lo, scale), Hi: mul(v.Hi, scale)}
	}
	return vs
}
