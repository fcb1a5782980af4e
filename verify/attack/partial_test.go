package attack

import (
	"fmt"
	"math/big"
	"slices"
)

// pomdp returns a POMDP. States with the same observation have equally many choices, and the labels are sets of observations.
func (r maker) pomdp() *system {
	for {
		m := r.system("pomdp", 3+r.IntN(3), 1)
		n := len(m.choices)
		sizes := []int{1 + r.IntN(3), 1 + r.IntN(2), 1 + r.IntN(2)}
		for s := range n {
			m.observation = append(m.observation, r.IntN(len(sizes)))
			for len(m.choices[s]) < sizes[m.observation[s]] {
				m.choices[s] = append(m.choices[s], r.choice("pomdp", n))
			}
			m.choices[s] = m.choices[s][:sizes[m.observation[s]]]
		}
		for name := range m.sets {
			seen := r.set(len(sizes))
			for s := range n {
				m.sets[name][s] = seen[m.observation[s]]
			}
		}
		if n > 2 && slices.Max(m.observation) > 0 && len(m.reachable().choices) == n {
			return m
		}
	}
}

// blind is a quantity of k steps of a POMDP.
type blind struct {
	*system
	isMax, isReward, isInstant bool
	left, right                []bool
}

// value returns the best value of a belief that need not sum to 1, by backward induction over the observations of k steps.
func (q *blind) value(belief vector, k int) *big.Rat {
	sum := new(big.Rat) // the part of the value that is known now
	s := slices.IndexFunc(belief, func(x *big.Rat) bool { return x.Sign() > 0 })
	for t := range belief {
		switch {
		case !q.isReward && q.right[s], q.isInstant && k == 0:
			x := one()
			if q.isInstant {
				x = q.reward[t]
			}
			sum.Add(sum, mul(belief[t], x))
		case q.isReward && !q.isInstant && k > 0:
			sum.Add(sum, mul(belief[t], q.reward[t]))
		}
	}
	if k == 0 || !q.isReward && (q.right[s] || !q.left[s]) {
		return sum
	}
	var best *big.Rat
	for c := range q.choices[s] {
		x := new(big.Rat)
		next := map[int]vector{} // by observation
		for t := range belief {
			if belief[t].Sign() == 0 {
				continue
			}
			if q.isReward && !q.isInstant {
				x.Add(x, mul(belief[t], q.choices[t][c].reward))
			}
			for _, b := range q.choices[t][c].vertices[0] {
				o := q.observation[b.target]
				if next[o] == nil {
					next[o] = indicator(constant(len(belief), false))
				}
				next[o][b.target] = add(next[o][b.target], mul(belief[t], b.weight))
			}
		}
		for _, after := range next {
			x.Add(x, q.value(after, k-1))
		}
		if best == nil {
			best = x
		} else {
			best = better(q.isMax, best, x)
		}
	}
	return add(sum, best)
}

// partial returns a POMDP with questions about a few steps.
func (r maker) partial() *instance {
	m := r.pomdp()
	i := &instance{kind: "pomdp", file: "m.prism", text: m.text(), skip: []string{"disk"}}
	for range 4 {
		k := r.IntN(5)
		q := &blind{system: m, isMax: r.one(2), left: constant(len(m.choices), true), right: m.sets["a"]}
		path := fmt.Sprintf("P%%s [ F<=%d \"a\" ]", k)
		switch r.IntN(4) {
		case 0:
			q.left = m.sets["b"]
			path = fmt.Sprintf("P%%s [ \"b\" U<=%d \"a\" ]", k)
		case 1:
			q.isReward = true
			path = fmt.Sprintf(`R{"r"}%%s [ C<=%d ]`, k)
		case 2:
			q.isReward, q.isInstant = true, true
			path = fmt.Sprintf(`R{"r"}%%s [ I=%d ]`, k)
		}
		start := constant(len(m.choices), false)
		start[0] = true
		x := q.value(indicator(start), k)
		i.questions = append(i.questions, r.optimumQuestion(q.isMax, path, x))
	}
	return i
}
