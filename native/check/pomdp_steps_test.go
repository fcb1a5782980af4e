package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
)

// blind is a small POMDP with the actions a and b in every state.
type blind struct {
	next   [][2][]int64 // weights of the targets in eighths, by state and action
	seen   []int        // the observation of each state
	reward []int64
}

// randomBlind draws a POMDP; state 0 is initial and state n-1 the only one that shows 2.
func randomBlind(r *rand.Rand, n int) blind {
	m := blind{}
	for s := range n {
		var actions [2][]int64
		for a := range actions {
			weights := make([]int64, n)
			for range 8 {
				weights[r.IntN(n)]++
			}
			if r.IntN(3) == 0 {
				clear(weights)
				weights[r.IntN(n)] = 8
			}
			actions[a] = weights
		}
		m.next = append(m.next, actions)
		m.reward = append(m.reward, r.Int64N(4))
		m.seen = append(m.seen, r.IntN(2))
		if s == n-1 {
			m.seen[s] = 2
		}
	}
	return m
}

// text returns the model in PRISM's language.
func (m blind) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pomdp\nobservables o endobservables\nmodule m\n s:[0..%d]; o:[0..2] init %d;\n", len(m.next)-1, m.seen[0])
	for s, actions := range m.next {
		for a, weights := range actions {
			var parts []string
			for t, w := range weights {
				if w > 0 {
					parts = append(parts, fmt.Sprintf("%d/8:(s'=%d)&(o'=%d)", w, t, m.seen[t]))
				}
			}
			fmt.Fprintf(&b, " [%c] s=%d -> %s;\n", 'a'+a, s, strings.Join(parts, " + "))
		}
	}
	b.WriteString("endmodule\nrewards\n")
	for s, reward := range m.reward {
		fmt.Fprintf(&b, " s=%d : %d;\n", s, reward)
	}
	return b.String() + "endrewards\n"
}

// value returns the best value of the next steps from weights of states that show the same: of what count returns for the weights
// of a step. Count also returns whether play goes on.
func (m blind) value(weights []*big.Rat, step, steps int, greatest bool, count func(weights []*big.Rat, step int) (*big.Rat, bool)) *big.Rat {
	now, goesOn := count(weights, step)
	if !goesOn || step == steps {
		return now
	}
	var best *big.Rat
	for action := range 2 {
		sum := new(big.Rat)
		for shown := range 3 {
			next := make([]*big.Rat, len(weights))
			any := false
			for t := range next {
				next[t] = new(big.Rat)
				if m.seen[t] != shown {
					continue
				}
				for s, w := range weights {
					next[t].Add(next[t], new(big.Rat).Mul(w, big.NewRat(m.next[s][action][t], 8)))
				}
				any = any || next[t].Sign() > 0
			}
			if any {
				sum.Add(sum, m.value(next, step+1, steps, greatest, count))
			}
		}
		if best == nil || sum.Cmp(best) > 0 == greatest {
			best = sum
		}
	}
	return best.Add(best, now)
}

// total returns the sum of weights.
func total(weights []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, w := range weights {
		sum.Add(sum, w)
	}
	return sum
}

// TestStepsOfPOMDPs compares properties with bounds on steps of random POMDPs with trees of all that can be seen.
func TestStepsOfPOMDPs(t *testing.T) {
	t.Parallel()
	for seed := range needs.Models(t, 400) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := randomBlind(r, 2+r.IntN(3))
		n, k, low := len(m.next), 1+r.IntN(3), 1+r.IntN(2)
		shows := func(weights []*big.Rat, observation int) bool {
			for s, w := range weights {
				if w.Sign() > 0 {
					return m.seen[s] == observation
				}
			}
			return false
		}
		reach := func(from int) func(weights []*big.Rat, step int) (*big.Rat, bool) {
			return func(weights []*big.Rat, step int) (*big.Rat, bool) {
				if shows(weights, 2) && step >= from {
					return total(weights), false
				}
				return new(big.Rat), true
			}
		}
		rewarded := func(includes func(step int) bool) func(weights []*big.Rat, step int) (*big.Rat, bool) {
			return func(weights []*big.Rat, step int) (*big.Rat, bool) {
				sum := new(big.Rat)
				for s, w := range weights {
					if includes(step) {
						sum.Add(sum, new(big.Rat).Mul(w, big.NewRat(m.reward[s], 1)))
					}
				}
				return sum, true
			}
		}
		for _, greatest := range []bool{true, false} {
			extremum := map[bool]string{true: "max", false: "min"}[greatest]
			for property, tree := range map[string]struct {
				steps int
				count func(weights []*big.Rat, step int) (*big.Rat, bool)
			}{
				fmt.Sprintf("P%s=? [ F<=%d o=2 ]", extremum, k):               {k, reach(0)},
				fmt.Sprintf("P%s=? [ F[%d,%d] o=2 ]", extremum, low, low+k-1): {low + k - 1, reach(low)},
				fmt.Sprintf("P%s=? [ X o=2 ]", extremum):                      {1, reach(1)},
				fmt.Sprintf("R%s=? [ C<=%d ]", extremum, k):                   {k, rewarded(func(step int) bool { return step < k })},
				fmt.Sprintf("R%s=? [ I=%d ]", extremum, k):                    {k, rewarded(func(step int) bool { return step == k })},
			} {
				start := make([]*big.Rat, n)
				for s := range start {
					start[s] = new(big.Rat)
				}
				start[0].SetInt64(1)
				want := m.value(start, 0, tree.steps, greatest, tree.count)
				verdict := ask(t, t.Context(), m.text(), property, check.Options{})[0]
				if verdict.Err != nil || !encloses(verdict.Bound, want) {
					t.Errorf("%s\n%s: %v, %v, want %s", m.text(), property, verdict.Bound, verdict.Err, want.RatString())
				}
			}
		}
	}
}
