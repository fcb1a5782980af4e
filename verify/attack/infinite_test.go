package attack

import (
	"fmt"
	"math/big"
	"strings"
)

// walkStates is the limit of states for models without a bound of steps: larger parts take longer and hardly narrow the bounds.
const walkStates = 400

// infinite returns a model with infinitely many states, of which each property needs a part.
func (r maker) infinite() *instance {
	bounds := []string{"default", "epsilon 0.01", "epsilon 1e-05", "epsilon 1e-10"}
	i := pick(r, maker.infiniteSteps, maker.infiniteSteps, maker.walk, maker.queue)(r)
	i.kind, i.file = "infinite", "m.prism"
	if i.only = bounds; i.maxStates == 0 {
		i.only = append(bounds, "exact")
	}
	return i
}

// jump is an update of the number x of an infinite model: x becomes factor*x+plus, or 0 if that is negative. After about 30 steps with the factor 2, x does not
// fit 32 bits.
type jump struct {
	factor, plus int
	weight       *big.Rat
}

// apply returns x after the update.
func (j jump) apply(x int) int { return max(0, j.factor*x+j.plus) }

// infiniteMDP is an MDP over all whole numbers from 0 on, whose choices, rewards and targets depend on the remainder of the number.
type infiniteMDP struct {
	choices [][][]jump
	reward  vector
	targets []bool
}

// infiniteSteps returns a DTMC or an MDP with questions about a few steps.
func (r maker) infiniteSteps() *instance {
	n, kind, most := 2+r.IntN(3), pick(r, "dtmc", "mdp"), 1
	if kind == "mdp" {
		most = 3
	}
	m := &infiniteMDP{targets: make([]bool, n)}
	m.targets[r.IntN(n)] = true
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nmodule m\n x : int init 0;\n", kind)
	for s := range n {
		m.choices, m.reward = append(m.choices, nil), append(m.reward, r.amount())
		for c := range 1 + r.IntN(most) {
			var jumps []jump
			var updates []string
			for _, b := range r.distribution(4) {
				j := jump{pick(r, 1, 1, 1, 2), pick(r, 1000, 3, 2, 1, 1, 0, -1, -2), b.weight}
				jumps = append(jumps, j)
				updates = append(updates, fmt.Sprintf("%s:(x'=max(0,%d*x+%d))", number(b.weight), j.factor, j.plus))
			}
			m.choices[s] = append(m.choices[s], jumps)
			fmt.Fprintf(&text, " [c%d] mod(x,%d)=%d -> %s;\n", c, n, s, strings.Join(updates, " + "))
		}
	}
	text.WriteString("endmodule\nrewards \"r\"\n")
	for s, reward := range m.reward {
		fmt.Fprintf(&text, " mod(x,%d)=%d : %s;\n", n, s, number(reward))
	}
	fmt.Fprintf(&text, "endrewards\nlabel \"a\" = x>2 & (%s);\n", m.target(n))
	i := &instance{text: text.String()}
	for range 4 {
		k, low, isMax := r.IntN(7), 0, kind == "mdp" && r.one(2)
		path, operator := fmt.Sprintf("F<=%d", k), "P"
		isReward, isInstant := false, false
		switch r.IntN(5) {
		case 0:
			low = r.IntN(k + 1)
			path = fmt.Sprintf("F[%d,%d]", low, k)
		case 1:
			k, low, path = 1, 1, "X"
		case 2:
			operator, path, isReward = `R{"r"}`, fmt.Sprintf("C<=%d", k), true
		case 3:
			operator, path, isInstant = `R{"r"}`, fmt.Sprintf("I=%d", k), true
		}
		if operator == "P" {
			path += " \"a\""
		}
		known := map[[2]int]*big.Rat{}
		var value func(x, step int) *big.Rat
		value = func(x, step int) (best *big.Rat) {
			if found := known[[2]int{x, step}]; found != nil {
				return found
			}
			defer func() { known[[2]int{x, step}] = best }()
			s := x % n
			isTarget := operator == "P" && x > 2 && m.targets[s]
			switch {
			case isTarget && step >= low:
				return one()
			case step == k && isInstant:
				return m.reward[s]
			case step == k:
				return new(big.Rat)
			}
			for _, jumps := range m.choices[s] {
				sum := new(big.Rat)
				if isReward {
					sum.Set(m.reward[s])
				}
				for _, j := range jumps {
					sum.Add(sum, mul(j.weight, value(j.apply(x), step+1)))
				}
				if best == nil {
					best = sum
				}
				best = better(isMax, best, sum)
			}
			return best
		}
		i.questions = append(i.questions, r.optimumOrValue(kind, isMax, operator+"%s [ "+path+" ]", value(0, 0)))
	}
	return i
}

// target writes the remainders of the targets.
func (m *infiniteMDP) target(n int) string {
	var parts []string
	for s, isTarget := range m.targets {
		if isTarget {
			parts = append(parts, fmt.Sprintf("mod(x,%d)=%d", n, s))
		}
	}
	return strings.Join(parts, " | ")
}

// optimumOrValue is optimumQuestion, without min and max in a Markov chain.
func (r maker) optimumOrValue(kind string, isMax bool, format string, x *big.Rat) question {
	q := r.optimumQuestion(isMax, format, x)
	if kind != "mdp" {
		q.text = strings.NewReplacer("min=?", "=?", "max=?", "=?").Replace(q.text)
	}
	return q
}

// walk returns a random walk that can end at each step, with questions about the probability to reach 0. A choice moves down by 1 with probability down, and up by
// a number with probability up. From k its value is z^k with z = down + up*z^(1+number). The best choice is the same in each state, because the numbers of
// all choices are convex functions of z.
func (r maker) walk() *instance {
	kind, start := pick(r, "dtmc", "mdp"), 1+r.IntN(4)
	var roots vector
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nmodule m\n x : int init %d;\n", kind, start)
	for c := range pick(r, 1, 2, 3) {
		if c > 0 && kind == "dtmc" {
			break
		}
		z, rise := r.fraction(), 1+r.IntN(3)
		power := one()
		for range 1 + rise {
			power = mul(power, z)
		}
		up := mul(r.fraction(), quo(sub(one(), z), sub(one(), power))) // down+up is at most 1
		down := sub(z, mul(up, power))
		roots = append(roots, z)
		fmt.Fprintf(&text, " [c%d] x>0 -> %s:(x'=x-1) + %s:(x'=x+%d) + %s:(x'=-1);\n", c, number(down), number(up), rise, number(sub(sub(one(), down), up)))
	}
	text.WriteString(" [] x<=0 -> true;\nendmodule\nlabel \"a\" = x=0;\n")
	i := &instance{text: text.String(), maxStates: walkStates}
	for range 3 {
		isMax, isNegated := kind == "mdp" && r.one(2), r.one(3)
		z := roots[0]
		for _, other := range roots {
			z = better(isMax != isNegated, z, other)
		}
		value, path := one(), `F "a"`
		for range start {
			value = mul(value, z)
		}
		if isNegated {
			value, path = sub(one(), value), `G !"a"`
		}
		i.questions = append(i.questions, r.optimumOrValue(kind, isMax, "P%s [ "+path+" ]", value))
	}
	return i
}

// queueEnd is the first number of a queue that the oracle leaves out.
const queueEnd = 40

// queue returns a CTMC of arrivals and departures, whose rates depend on whether the number is even, with questions about times. The oracle's bounds are those of
// the numbers below queueEnd: paths that leave them reach the target, or do not.
func (r maker) queue() *instance {
	m := &system{kind: "ctmc", choices: make([][]choice, queueEnd+1)}
	var rates [2][2]*big.Rat
	for even := range rates {
		for up := range rates[even] {
			rates[even][up] = r.amount()
		}
	}
	for s := range m.choices {
		up, down := rates[s%2][1], rates[s%2][0]
		row := []branch{{min(s+1, queueEnd), up, ""}, {max(s-1, 0), down, ""}}
		m.choices[s] = []choice{{vertices: [][]branch{row}, reward: new(big.Rat)}}
		m.reward = append(m.reward, new(big.Rat))
	}
	text := "ctmc\nmodule m\n x : int init 0;\n"
	for s, pair := range rates {
		text += fmt.Sprintf(" [] mod(x,2)=%d -> %s:(x'=max(0,x-1)) + %s:(x'=x+1);\n", s, number(pair[0]), number(pair[1]))
	}
	i := &instance{text: text + "endmodule\n", maxStates: walkStates}
	for range 3 {
		target, high := 1+r.IntN(6), quo(r.fraction(), big.NewRat(2, 1))
		low, bound := new(big.Rat), "<="+number(high)
		if r.one(2) {
			low = mul(high, r.fraction())
			bound = fmt.Sprintf("[%s,%s]", number(low), number(high))
		}
		ends := make(vector, 2)
		for isReached := range ends {
			set, end := constant(queueEnd+1, false), constant(queueEnd+1, false)
			set[target], end[queueEnd] = true, true
			set[queueEnd] = isReached == 1
			x := m.uniform(or(set, end)).sum(indicator(set), sub(high, low), false)
			ends[isReached] = m.uniform(end).sum(x, low, false)[0]
		}
		want := answer{lower: sub(ends[0], roundingError), upper: add(ends[1], roundingError)}
		i.questions = append(i.questions, question{fmt.Sprintf("P=? [ F%s x=%d ]", bound, target), want})
	}
	return i
}
