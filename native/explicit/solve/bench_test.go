package solve_test

import (
	"math/rand/v2"
	"testing"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// synthetic is an MDP with 10^6 states, 2 choices each and 2 transitions per
// choice. Targets are up to reach states ahead and, one in back of them, behind;
// one in eight is the last state, the goal, or the one before, a trap.
func synthetic(b *testing.B, back int) *sparse.Model {
	b.Helper()
	const n, reach = 1_000_000, 50_000
	rng := rand.New(rand.NewPCG(1, 1))
	bd := sparse.NewBuilder(sparse.MDP)
	bd.Grow(n, 2*n, 4*n)
	for s := range n {
		bd.State()
		for range 2 {
			bd.Choice(sparse.NoAction)
			if s >= n-2 {
				bd.Add(s, 1)
				continue
			}
			for _, p := range []float64{0.25, 0.75} {
				t := min(s+1+rng.IntN(reach), n-1)
				if back > 0 && rng.IntN(back) == 0 {
					t = max(s-rng.IntN(reach), 0)
				}
				if rng.IntN(8) == 0 {
					t = n - 1 - rng.IntN(2)
				}
				bd.Add(t, p)
			}
		}
	}
	m, err := bd.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func benchmarkUntil(b *testing.B, back int, dir solve.Direction) {
	m := synthetic(b, back)
	n := m.NumStates()
	all, goal := sparse.FullSet(n), sparse.SetOf(n, n-1)
	b.ReportAllocs()
	for b.Loop() {
		v, err := solve.Until(b.Context(), sparse.NewGraph(m), all, goal, dir, solve.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(v.Sweeps), "sweeps")
		b.ReportMetric(v.Upper[0]-v.Lower[0], "width")
		b.ReportMetric(v.Value(0), "value")
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "states/s")
}

// The first model is solved in one pass; in the second almost all states are
// one component, where the minimum is iterated and the maximum is mostly 1.
func BenchmarkUntilAcyclic(b *testing.B)   { benchmarkUntil(b, 0, solve.Min) }
func BenchmarkUntilCyclicMin(b *testing.B) { benchmarkUntil(b, 4, solve.Min) }
func BenchmarkUntilCyclicMax(b *testing.B) { benchmarkUntil(b, 4, solve.Max) }

func BenchmarkTransient(b *testing.B) {
	const n = 100_000
	bd := sparse.NewBuilder(sparse.CTMC)
	for s := range n {
		bd.State()
		bd.Add(min(s+1, n-1), 1)
		bd.Add(max(s-1, 0), 2)
	}
	m, err := bd.Finish()
	if err != nil {
		b.Fatal(err)
	}
	g := sparse.NewGraph(m)
	all, goal := sparse.FullSet(n), sparse.SetOf(n, 30)
	for b.Loop() {
		if _, err := solve.TimedUntil(b.Context(), g, all, goal, solve.Interval{To: 100}, solve.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
