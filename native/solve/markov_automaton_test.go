package solve_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// automaton is a random Markov automaton. Immediate states, of rate 0, lead to greater
// ones, so that they have no cycles, or stay.
func automaton(t *testing.T, rng *rand.Rand, choices int, immediate float64) (*sparse.Graph, solve.Rates) {
	t.Helper()
	n := 2 + rng.IntN(6)
	b := sparse.NewBuilder(sparse.MDP)
	var r solve.Rates
	spread := func(least int) {
		b.Choice(sparse.NoAction)
		to, parts := map[int]int{}, 1+rng.IntN(3)
		for range parts {
			to[least+rng.IntN(n-least)]++
		}
		for s := range n {
			if to[s] > 0 {
				b.AddRat(s, big.NewRat(int64(to[s]), int64(parts)), sparse.NoAction)
			}
		}
	}
	for s := range n {
		b.State()
		rate := 0.0
		if rng.Float64() >= immediate {
			rate = math.Ldexp(float64(1+rng.IntN(7)), rng.IntN(5)-2)
			spread(0)
		} else {
			for range 1 + rng.IntN(choices) {
				if s == n-1 || rng.IntN(6) == 0 {
					b.Choice(sparse.NoAction)
					b.AddRat(s, big.NewRat(1, 1), sparse.NoAction)
				} else {
					spread(s + 1)
				}
			}
		}
		r.Low, r.High = append(r.Low, rate), append(r.High, rate)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	return sparse.NewGraph(model), r
}

// integrateBellman solves Bellman's differential equation by the Runge-Kutta method of order four. The final values are 1 in right.
func integrateBellman(graph *sparse.Graph, r solve.Rates, left, right *sparse.Set, time float64, dir solve.Direction) []float64 {
	final := make([]float64, graph.NumStates())
	for s := range right.All() {
		final[s] = 1
	}
	return integrateFrom(final, nil, graph, r, left, right, time, dir)
}

// integrateFrom is integrateBellman with the given final values, of which those of immediate states in left do not matter, and rewards of choices, which
// may be nil.
func integrateFrom(x, rewards []float64, graph *sparse.Graph, r solve.Rates, left, right *sparse.Set, time float64, dir solve.Direction) []float64 {
	n := graph.NumStates()
	mean := func(c int, x []float64) float64 {
		sum := 0.0
		if rewards != nil {
			sum = rewards[c]
		}
		lo, hi := graph.Transitions(c)
		for i := lo; i < hi; i++ {
			sum += graph.Prob(i) * x[graph.Target[i]]
		}
		return sum
	}
	resolve := func(x []float64) {
		for s := n - 1; s >= 0; s-- {
			if r.Low[s] > 0 || right.Has(s) || !left.Has(s) {
				continue
			}
			first, end := graph.Choices(s)
			x[s] = 0
			best := math.NaN()
			for c := first; c < end; c++ {
				if v := mean(c, x); math.IsNaN(best) || (v > best) == (dir == solve.Max) {
					best = v
				}
			}
			x[s] = best
		}
	}
	slope := func(x, by []float64, h float64) []float64 {
		y, out := make([]float64, n), make([]float64, n)
		for s := range n {
			y[s] = x[s] + h*by[s]
		}
		resolve(y)
		for s := range n {
			if r.Low[s] > 0 && left.Has(s) && !right.Has(s) {
				first, _ := graph.Choices(s)
				out[s] = r.Low[s] * (mean(first, y) - y[s])
			}
		}
		return out
	}
	steps := 200 + int(time*4000)
	h := time / float64(steps)
	for range steps {
		k1 := slope(x, make([]float64, n), 0)
		k2 := slope(x, k1, h/2)
		k3 := slope(x, k2, h/2)
		k4 := slope(x, k3, h)
		for s := range n {
			x[s] += h / 6 * (k1[s] + 2*k2[s] + 2*k3[s] + k4[s])
		}
	}
	resolve(x)
	return x
}

func TestMarkovUntil(t *testing.T) {
	for seed := range needs.Models(t, 1000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		graph, r := automaton(t, rng, 3, 0.5)
		n := graph.NumStates()
		left, right := sparsetest.RandomSet(rng, n, 0.9), sparsetest.RandomSet(rng, n, 0.3)
		time := math.Ldexp(float64(1+rng.IntN(15)), rng.IntN(5)-4)
		if seed%10 == 0 {
			time = 0
		}
		for _, dir := range []solve.Direction{solve.Max, solve.Min} {
			values, err := solve.MarkovUntil(t.Context(), graph, left, right, r, at(time), dir, solve.Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want := integrateBellman(graph, r, left, right, time, dir)
			for s, x := range want {
				// What the oracle is off by is that of steps in which the best choice changes.
				if lo, hi := values.Lower[s], values.Upper[s]; !(lo <= x+1e-6 && x-1e-6 <= hi && lo <= hi) {
					t.Errorf("seed %d, direction %d, time %v, state %d: found [%v, %v], want %v", seed, dir, time, s, lo, hi, x)
				}
			}
			if lo, hi := values.Lower[0], values.Upper[0]; !values.Converged || hi-lo > 1e-8*hi {
				t.Errorf("seed %d, direction %d, time %v: found [%v, %v], want a relative width of 1e-8", seed, dir, time, lo, hi)
			}
		}
	}
}

// TestMarkovInterval compares time intervals with a lower end above 0 with two integrations.
func TestMarkovInterval(t *testing.T) {
	numQuestions, numConverged := 0, 0
	for seed := range needs.Models(t, 300) {
		rng := rand.New(rand.NewPCG(seed, 8))
		graph, r := automaton(t, rng, 3, 0.5)
		n := graph.NumStates()
		left, right := sparsetest.RandomSet(rng, n, 0.9), sparsetest.RandomSet(rng, n, 0.3)
		from, length := math.Ldexp(float64(1+rng.IntN(15)), rng.IntN(5)-5), math.Ldexp(float64(rng.IntN(15)), rng.IntN(5)-5)
		for _, dir := range []solve.Direction{solve.Max, solve.Min} {
			final := integrateBellman(graph, r, left, right, length, dir)
			for s := range left.Complement().All() {
				final[s] = 0
			}
			want := integrateFrom(final, nil, graph, r, left, sparse.NewSet(n), from, dir)
			values, err := solve.MarkovIntervalUntil(t.Context(), graph, left, right, r, solve.Interval{From: at(from), To: at(from + length)}, dir, solve.Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for s, x := range want {
				if lo, hi := values.Lower[s], values.Upper[s]; !(lo <= x+1e-6 && x-1e-6 <= hi && lo <= hi) {
					t.Errorf("seed %d, direction %d, [%v, %v], state %d: found [%v, %v], want %v", seed, dir, from, from+length, s, lo, hi, x)
				}
			}
			numQuestions++
			if !values.Converged { // the work limit was reached: the bounds hold and are wide
				continue
			}
			numConverged++
			if lo, hi := values.Lower[0], values.Upper[0]; hi-lo > 1e-8*hi {
				t.Errorf("seed %d, direction %d: found [%v, %v], want a relative width of 1e-8", seed, dir, lo, hi)
			}
		}
	}
	if numConverged < numQuestions*9/10 {
		t.Errorf("%d of %d answers have the wanted width, want nine in ten", numConverged, numQuestions)
	}
}

// An automaton without immediate states is a CTMC.
func TestMarkovChain(t *testing.T) {
	for seed := range needs.Models(t, 1000) {
		rng := rand.New(rand.NewPCG(seed, 6))
		graph, r := automaton(t, rng, 1, 0)
		n := graph.NumStates()
		b := sparse.NewBuilder(sparse.CTMC)
		for s := range n {
			b.State()
			first, end := graph.Transitions(s)
			for i := first; i < end; i++ {
				b.AddRat(int(graph.Target[i]), new(big.Rat).Mul(graph.Fraction(i), new(big.Rat).SetFloat64(r.Low[s])), sparse.NoAction)
			}
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		left, right := sparsetest.RandomSet(rng, n, 0.9), sparsetest.RandomSet(rng, n, 0.3)
		time := aTime(rng)
		want, err := solve.TimedUntil(t.Context(), sparse.NewGraph(model), left, right, solve.Interval{From: at(0), To: at(time)}, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		values, err := solve.MarkovUntil(t.Context(), graph, left, right, r, at(time), solve.Max, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		interval := solve.Interval{From: at(time / 2), To: at(time)}
		wantLater, err := solve.TimedUntil(t.Context(), sparse.NewGraph(model), left, right, interval, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		later, err := solve.MarkovIntervalUntil(t.Context(), graph, left, right, r, interval, solve.Min, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for s := range n {
			if later.Lower[s] > wantLater.Upper[s] || wantLater.Lower[s] > later.Upper[s] {
				t.Errorf("seed %d, state %d, from half the time on: found [%v, %v], want some of [%v, %v]", seed, s, later.Lower[s], later.Upper[s], wantLater.Lower[s], wantLater.Upper[s])
			}
		}
		for s := range n {
			if values.Lower[s] > want.Upper[s] || want.Lower[s] > values.Upper[s] {
				t.Errorf("seed %d, state %d: found [%v, %v], want some of [%v, %v]", seed, s, values.Lower[s], values.Upper[s], want.Lower[s], want.Upper[s])
			}
			if values.Upper[s]-values.Lower[s] > 1e-8*values.Upper[s] {
				t.Errorf("seed %d, state %d: found [%v, %v], want a relative width of 1e-8", seed, s, values.Lower[s], values.Upper[s])
			}
		}
	}
}

func TestMarkovRefused(t *testing.T) {
	b := sparse.NewBuilder(sparse.MDP)
	for _, to := range [][]int{{1, 2}, {0, 2}, {3}, {3}} {
		b.State()
		b.Choice(sparse.NoAction)
		for _, s := range to {
			b.Add(s, 1/float64(len(to)))
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	graph, all, soon, late := sparse.NewGraph(model), sparse.FullSet(4), sparse.SetOf(4, 2), sparse.SetOf(4, 3)
	ask := func(ctx context.Context, goal *sparse.Set, time float64, rate ...float64) error {
		_, err := solve.MarkovUntil(ctx, graph, all, goal, solve.Rates{Low: rate, High: rate}, at(time), solve.Max, solve.Options{})
		return err
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"a cycle that is left for the goal", ask(t.Context(), soon, 1, 0, 0, 1, 1), nil},
		{"a cycle", ask(t.Context(), late, 1, 0, 0, 1, 1), solve.ErrImmediate},
		{"no number", ask(t.Context(), late, 1, math.Inf(1), 0, 1, 1), solve.ErrRates},
		{"denormal", ask(t.Context(), late, 1, 5e-324, 1, 1, 1), solve.ErrRates},
		{"long", ask(t.Context(), late, 1e18, 1, 1, 1, 1), solve.ErrTooManySteps},
		{"stopped", ask(stopped, late, 1e7, 1, 1, 1, 1), context.Canceled},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, c.err, c.want)
		}
	}
}

// TestImmediateComponents compares an automaton whose immediate states can wait forever with one in which each of them is two
// states that lead to each other without time and share its choices.
func TestImmediateComponents(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		graph, rates := automaton(t, rng, 3, 0.5)
		n := graph.NumStates()
		waiting, doubled := sparse.NewDerivedBuilder(graph.Model, sparse.MDP), sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
		same := func(i int) uint32 { return graph.Target[i] }
		either := func(i int) uint32 { // an immediate state is entered as itself or as its twin, which is n states later
			if target := graph.Target[i]; rates.Low[target] > 0 || i%2 == 0 {
				return target
			}
			return graph.Target[i] + uint32(n)
		}
		for s := range 2 * n {
			original := s % n
			first, end := graph.Choices(original)
			isImmediate := rates.Low[original] == 0
			if s < n {
				waiting.State()
			}
			doubled.State()
			for c := first; c < end; c++ {
				if s < n {
					waiting.Copy(c, same)
				}
				if !isImmediate || (c-first)%2 == s/n {
					doubled.Copy(c, either)
				}
			}
			if isImmediate && s < n {
				waiting.Loop(uint32(s))
			}
			if isImmediate {
				doubled.Loop(uint32((s + n) % (2 * n)))
			}
		}
		single, double := sparse.NewGraph(waiting.Finish()), sparse.NewGraph(doubled.Finish())
		single.Initial, double.Initial = []uint32{0}, []uint32{0}
		left, right := sparsetest.RandomSet(rng, n, 0.9), sparsetest.RandomSet(rng, n, 0.3)
		doubleLeft, doubleRight := sparse.NewSet(2*n), sparse.NewSet(2*n)
		doubleRates := solve.Rates{Low: append(rates.Low, rates.Low...), High: append(rates.High, rates.High...)}
		for s := range 2 * n {
			if left.Has(s % n) {
				doubleLeft.Add(s)
			}
			if right.Has(s % n) {
				doubleRight.Add(s)
			}
		}
		for _, dir := range []solve.Direction{solve.Max, solve.Min} {
			time := at(float64(seed%5) / 2)
			want, err := solve.MarkovUntil(t.Context(), single, left, right, rates, time, dir, solve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := solve.MarkovUntil(t.Context(), double, doubleLeft, doubleRight, doubleRates, time, dir, solve.Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for s := range 2 * n {
				if found.Lower[s] > want.Upper[s%n] || want.Lower[s%n] > found.Upper[s] {
					t.Errorf("seed %d, direction %d, state %d: found [%v, %v], want [%v, %v]", seed, dir, s, found.Lower[s], found.Upper[s], want.Lower[s%n], want.Upper[s%n])
				}
			}
			if hi := found.Upper[0]; !found.Converged || hi-found.Lower[0] > 1e-8*hi {
				t.Errorf("seed %d, direction %d: found [%v, %v], want a relative width of 1e-8", seed, dir, found.Lower[0], hi)
			}
		}
	}
}
