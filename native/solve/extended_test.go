package solve_test

import (
	"math"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// attemptsModel is a walk from the middle of -n..n. Its first step goes up with probability up; then it
// continues in the same direction with probability 1/2 in each step, and otherwise starts again. So it
// ends once in 2^(n-1) attempts. With several set, the first state has two choices, which differ in the
// last of as many digits.
func attemptsModel(t testing.TB, n int, up float64, several bool) *sparse.Model {
	t.Helper()
	kind := sparse.DTMC
	if several {
		kind = sparse.MDP
	}
	b := sparse.NewBuilder(kind)
	choice := func() {
		if several {
			b.Choice(sparse.NoAction)
		}
	}
	for s := range 2*n + 1 {
		b.State()
		choice()
		x := s - n
		switch {
		case x == 0:
			b.Add(n+1, up)
			b.Add(n-1, 1-up)
			if several {
				choice()
				b.Add(n+1, up/2)
				b.Add(n-1, 1-up/2)
			}
		case x == n || x == -n:
			b.Add(s, 1)
		default:
			next := s + 1
			if x < 0 {
				next = s - 1
			}
			b.Add(next, 0.5)
			b.Add(n, 0.5)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// TestExtended checks that the probability of an end is that of the first step, where float64 is too
// small for the probability that an attempt ends.
func TestExtended(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	for _, n := range []int{100, 1000, 300, 1100}[:max(needs.Some(4), 2)] {
		for _, several := range []bool{false, true} {
			model := attemptsModel(t, n, 0.75, several)
			graph := sparse.NewGraph(model)
			all, top := sparse.FullSet(2*n+1), sparse.SetOf(2*n+1, 2*n)
			for _, dir := range directions {
				values, err := solve.Until(t.Context(), graph, all, top, dir, solve.Options{})
				if err != nil {
					t.Fatal(err)
				}
				want := 0.75
				if several && dir == solve.Min {
					want = 0.375
				}
				if lo, hi := values.Lower[n], values.Upper[n]; !(lo <= want && want <= hi && (several || hi-lo <= 1e-8)) || values.Sweeps > 10_000 {
					t.Errorf("n=%d, several=%t, %v: [%v, %v] after %d sweeps, want %v", n, several, dir, lo, hi, values.Sweeps, want)
				}
			}
			if n > 1000 { // more steps than a double can say
				continue
			}
			steps := &sparse.Reward{State: constant(2*n+1, 1)}
			values, err := solve.ReachReward(t.Context(), graph, steps, sparse.SetOf(2*n+1, 0, 2*n), solve.Min, solve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			// 2^(n-1) attempts, of 1 + (2 - 2^(2-n)) steps each.
			want := math.Ldexp(3-math.Ldexp(1, 2-n), n-1)
			if lo, hi := values.Lower[n], values.Upper[n]; !(lo <= want && want <= hi && (several || hi-lo <= 1e-8*hi)) || values.Sweeps > 10_000 {
				t.Errorf("n=%d, several=%t: [%v, %v] steps after %d sweeps, want %v", n, several, lo, hi, values.Sweeps, want)
			}
		}
	}
}
