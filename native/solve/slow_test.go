package solve_test

import (
	"math"
	"math/big"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// gamblersRuin is the random walk on 0..n that goes up with probability p; 0 and n are absorbing. With
// again set, every inner state has a second choice that stays with probability 0.9.
func gamblersRuin(t testing.TB, n int, p float64, again bool) *sparse.Model {
	t.Helper()
	kind := sparse.DTMC
	if again {
		kind = sparse.MDP
	}
	b := sparse.NewBuilder(kind)
	choice := func() {
		if again {
			b.Choice(sparse.NoAction)
		}
	}
	for s := range n + 1 {
		b.State()
		choice()
		if s == 0 || s == n {
			b.Add(s, 1)
			continue
		}
		b.Add(s-1, 1-p)
		b.Add(s+1, p)
		if again {
			choice()
			b.Add(s, 0.9)
			b.Add(s-1, 0.1*(1-p))
			b.Add(s+1, 0.1*p)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.RelErr = 0x1p-52 // of 0.1
	if !again {
		model.RelErr = 0
	}
	return model
}

// TestRuin compares with the closed forms: from s, n is reached with probability (1-q^s)/(1-q^n), q =
// (1-p)/p, or s/n in the fair game, which takes s(n-s) steps. These components are long, so sweeps
// converge slowly.
func TestRuin(t *testing.T) {
	for _, n := range []int{10, 100, 5000, 250}[:max(needs.Some(4), 3)] {
		for _, p := range []float64{0.25, 0.5, 0.75} {
			for _, again := range []bool{false, true} {
				if n > 250 && p != 0.5 {
					continue // values are too small for doubles
				}
				model := gamblersRuin(t, n, p, again)
				graph := sparse.NewGraph(model)
				all, top := sparse.FullSet(n+1), sparse.SetOf(n+1, n)
				for _, dir := range directions {
					values, err := solve.Until(t.Context(), graph, all, top, dir, solve.Options{})
					if err != nil {
						t.Fatal(err)
					}
					for s := range n + 1 {
						checkNear(t, "probability", values, s, ruinProb(n, s, p))
					}
				}
				if p != 0.5 || again {
					continue
				}
				steps := &sparse.Reward{State: constant(n+1, 1)}
				values, err := solve.ReachReward(t.Context(), graph, steps, sparse.SetOf(n+1, 0, n), solve.Max, solve.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for s := range n + 1 {
					checkNear(t, "steps", values, s, big.NewFloat(float64(s*(n-s))))
				}
			}
		}
	}
}

func constant(n int, x float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// ruinProb computes the closed form with 2000 bits; p must be a multiple of 1/4.
func ruinProb(n, s int, p float64) *big.Float {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(x) }
	if p == 0.5 {
		return f(0).Quo(f(float64(s)), f(float64(n)))
	}
	q := f(0).Quo(f(1-p), f(p))
	pow := func(k int) *big.Float {
		out := f(1)
		for range k {
			out.Mul(out, q)
		}
		return out
	}
	num := f(0).Sub(f(1), pow(s))
	return num.Quo(num, f(0).Sub(f(1), pow(n)))
}

// checkNear checks that the bounds of a state are narrow and contain x.
func checkNear(t *testing.T, what string, values *solve.Values, s int, x *big.Float) {
	t.Helper()
	want, _ := x.Float64()
	if values.Lower[s] > math.Nextafter(want, math.Inf(1)) || values.Upper[s] < math.Nextafter(want, math.Inf(-1)) {
		t.Errorf("%s of state %d: [%v, %v] does not contain %v", what, s, values.Lower[s], values.Upper[s], want)
	}
	if values.Upper[s]-values.Lower[s] > 1.01e-8*values.Upper[s] || !values.Converged {
		t.Errorf("%s of state %d: [%v, %v] is wide", what, s, values.Lower[s], values.Upper[s])
	}
}

// TestRareExit has two states that the process leaves once in 2^30 steps, and a choice between two
// exits. Value iteration would need 10^10 sweeps.
func TestRareExit(t *testing.T) {
	const rare = 0x1p-30
	b := sparse.NewBuilder(sparse.MDP)
	for s := range 2 {
		b.State()
		for _, win := range []float64{0.25, 0.75} {
			b.Choice(sparse.NoAction)
			b.Add(1-s, 1-rare)
			b.Add(2, rare*win)
			b.Add(3, rare*(1-win))
		}
	}
	for s := 2; s < 4; s++ {
		b.State()
		b.Choice(sparse.NoAction)
		b.Add(s, 1)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	graph := sparse.NewGraph(model)
	want := map[string]float64{"min": 0.25, "max": 0.75}
	for name, dir := range directions {
		values, err := solve.Until(t.Context(), graph, sparse.FullSet(4), sparse.SetOf(4, 2), dir, solve.Options{Scheduler: true})
		if err != nil {
			t.Fatal(err)
		}
		checkNear(t, name, values, 0, big.NewFloat(want[name]))
		reward := &sparse.Reward{State: []float64{1, 0, 0, 0}}
		values, err = solve.ReachReward(t.Context(), graph, reward, sparse.SetOf(4, 2, 3), dir, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// From state 0 every other step is there: 1/(1-(1-rare)^2).
		checkNear(t, name+" reward", values, 0, big.NewFloat(1/(2*rare-rare*rare)))
	}
}

// TestGivenUp checks that with too few sweeps the bounds are wide but right, and that this is reported,
// also for states that depend on them.
func TestGivenUp(t *testing.T) {
	// Two walks of length n, one into the other's middle.
	const n = 3000
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range 2*n + 1 {
		b.State()
		switch {
		case s == 0 || s == n:
			b.Add(s, 1)
		case s == 2*n:
			b.Add(n/2, 1)
		case s == n+1:
			b.Add(n/2, 0.5)
			b.Add(s+1, 0.5)
		default:
			b.Add(s-1, 0.5)
			b.Add(s+1, 0.5)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.RelErr = 0
	graph := sparse.NewGraph(model)
	opts := solve.Options{MaxSweeps: 20}
	values, err := solve.Until(t.Context(), graph, sparse.FullSet(2*n+1), sparse.SetOf(2*n+1, n), solve.Max, opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := solve.ReachReward(t.Context(), graph, &sparse.Reward{State: constant(2*n+1, 1)}, sparse.SetOf(2*n+1, 0, n), solve.Max, opts)
	if err != nil {
		t.Fatal(err)
	}
	if values.Converged || r.Converged {
		t.Errorf("converged after %d and %d sweeps", values.Sweeps, r.Sweeps)
	}
	for s := range 2*n + 1 {
		prob, steps := 0.5, float64(n/2*(n/2))
		switch {
		case s <= n:
			prob, steps = float64(s)/n, float64(s*(n-s))
		case s < 2*n:
			steps += float64((s - n) * (2*n - s))
		}
		if s == 2*n {
			steps++ // one step into the middle
		}
		if s > n && s < 2*n {
			// The ends of the second walk are n, seen as the middle, and 2n.
			steps += float64(s-n) / n
		}
		if values.Lower[s] > prob || values.Upper[s] < prob || r.Lower[s] > steps || r.Upper[s] < steps {
			t.Errorf("state %d: [%v, %v] and [%v, %v], want %v and %v", s, values.Lower[s], values.Upper[s], r.Lower[s], r.Upper[s], prob, steps)
		}
	}
}

// TestLongChain checks that the widths of a thousand components that depend on one another stay small
// in total.
func TestLongChain(t *testing.T) {
	const n = 1000
	const lost = 0x1p-12
	b := sparse.NewBuilder(sparse.DTMC)
	for i := range n { // states 2i and 2i+1 are a component; 2n is the goal, 2n+1 is not
		b.State()
		b.Add(2*i+1, 0.5)
		b.Add(2*i+2, 0.5-lost)
		b.Add(2*n+1, lost)
		b.State()
		b.Add(2*i, 0.75)
		b.Add(2*i+1, 0.25)
	}
	for i := range 2 {
		b.State()
		b.Add(2*n+i, 1)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.RelErr = 0
	graph := sparse.NewGraph(model)
	values, err := solve.Until(t.Context(), graph, sparse.FullSet(2*n+2), sparse.SetOf(2*n+2, 2*n), solve.Max, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := number(1)
	for range n {
		want.Mul(want, number(1-2*lost))
	}
	checkNear(t, "chain", values, 0, want)
	if width := values.Upper[0] - values.Lower[0]; width > 1e-10 {
		t.Errorf("width %v", width)
	}
}
