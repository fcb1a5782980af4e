package attack

import (
	"fmt"
	"math/big"
)

// multi returns an MDP with two targets that are never left, and questions about schedulers for both. For such targets, the achievable pairs of
// probabilities are the convex hull of those of the memoryless deterministic schedulers.
//
// Source: Etessami, Kwiatkowska, Vardi and Yannakakis, Multi-objective model checking of Markov decision processes, 2008.
func (r maker) multi() *instance {
	for {
		m := r.system("mdp", 4+r.IntN(2), 3)
		n := len(m.choices)
		if n < 4 {
			continue
		}
		for s, name := range map[int]string{n - 1: "a", n - 2: "b"} {
			m.choices[s] = []choice{{vertices: [][]branch{{{s, one(), ""}}}, reward: new(big.Rat)}}
			m.sets[name] = constant(n, false)
			m.sets[name][s] = true
		}
		if m = m.reachable(); !hasAny(m.sets["a"]) || !hasAny(m.sets["b"]) || m.resolutions() > 300 {
			continue
		}
		i := &instance{kind: "multi", file: "m.prism", text: m.text()}
		points := m.pairs()
		for range 4 {
			i.questions = append(i.questions, r.multiQuestion(points))
		}
		return i
	}
}

// pair has the probabilities of a scheduler for the two targets.
type pair struct{ first, second *big.Rat }

// pairs returns the pairs of all memoryless deterministic schedulers.
func (m *system) pairs() []pair {
	var pairs []pair
	everywhere := constant(len(m.choices), true)
	m.value(all(true), func(c *chain) vector {
		x := c.until(everywhere, m.sets["a"])
		pairs = append(pairs, pair{x[0], c.until(everywhere, m.sets["b"])[0]})
		return x
	})
	return pairs
}

// best returns the best first probability with which the second one is at least bound; nil if none is.
func best(isMax bool, pairs []pair, bound *big.Rat) (found *big.Rat) {
	consider := func(x *big.Rat) {
		if found == nil || x.Cmp(found) != 0 && x.Cmp(found) > 0 == isMax {
			found = x
		}
	}
	for _, above := range pairs {
		if above.second.Cmp(bound) < 0 {
			continue
		}
		consider(above.first)
		for _, below := range pairs {
			if below.second.Cmp(bound) < 0 { // the mixture of both that attains the bound
				share := quo(sub(bound, below.second), sub(above.second, below.second))
				consider(add(mul(share, above.first), mul(sub(one(), share), below.first)))
			}
		}
	}
	return found
}

// multiQuestion writes a question about both targets.
func (r maker) multiQuestion(pairs []pair) question {
	bound, other := r.fraction(), r.fraction()
	if r.one(3) {
		bound = pairs[r.IntN(len(pairs))].second
	}
	isMax := r.one(2)
	x := best(isMax, pairs, bound)
	if x == nil || r.one(3) {
		x = best(true, pairs, bound)
		holds := x != nil && x.Cmp(other) >= 0
		return question{text: fmt.Sprintf(`multi(P>=%s [ F "a" ], P>=%s [ F "b" ])`, number(other), number(bound)), want: truthAnswer(holds)}
	}
	optimum := map[bool]string{true: "max", false: "min"}[isMax]
	return question{text: fmt.Sprintf(`multi(P%s=? [ F "a" ], P>=%s [ F "b" ])`, optimum, number(bound)), want: numberAnswer(x)}
}
