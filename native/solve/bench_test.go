package solve_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
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
	model, err := bd.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return model
}

func benchmarkUntil(b *testing.B, back int, dir solve.Direction) {
	model := synthetic(b, back)
	n := model.NumStates()
	all, goal := sparse.FullSet(n), sparse.SetOf(n, n-1)
	b.ReportAllocs()
	for b.Loop() {
		values, err := solve.Until(b.Context(), sparse.NewGraph(model), all, goal, dir, solve.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(values.Sweeps), "sweeps")
		b.ReportMetric(values.Upper[0]-values.Lower[0], "width")
		b.ReportMetric(values.Value(0), "value")
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
	model, err := bd.Finish()
	if err != nil {
		b.Fatal(err)
	}
	graph := sparse.NewGraph(model)
	all, goal := sparse.FullSet(n), sparse.SetOf(n, 30)
	for b.Loop() {
		if _, err := solve.TimedUntil(b.Context(), graph, all, goal, solve.Interval{From: at(0), To: at(100)}, solve.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// grid is a random walk on w x h cells; the left edge is the goal, the right
// edge a trap, and the other two reflect.
func grid(tb testing.TB, w, h int, right float64) *sparse.Model {
	tb.Helper()
	b := sparse.NewBuilder(sparse.DTMC)
	for y := range h {
		for x := range w {
			b.State()
			s := y*w + x
			if x == 0 || x == w-1 {
				b.Add(s, 1)
				continue
			}
			b.Add(s-1, 0.5-right)
			b.Add(s+1, right)
			b.Add(max(y-1, 0)*w+x, 0.25)
			b.Add(min(y+1, h-1)*w+x, 0.25)
		}
	}
	return finish(tb, b)
}

// random is a chain whose every state but the last two has degree random
// successors; the last two are left with probability leave.
func random(tb testing.TB, n, degree int, leave float64) *sparse.Model {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range n {
		b.State()
		if s >= n-2 {
			b.Add(s, 1)
			continue
		}
		for range degree {
			b.Add(rng.IntN(n-2), (1-leave)/float64(degree))
		}
		b.Add(n-1, leave/4)
		b.Add(n-2, leave*3/4)
	}
	return finish(tb, b)
}

// retry is a chain of rounds: a path of n states with random shortcuts ahead,
// from each of which it starts again with some probability.
func retry(tb testing.TB, n int) *sparse.Model {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range n {
		b.State()
		if s >= n-2 {
			b.Add(s, 1)
			continue
		}
		for range 3 {
			b.Add(min(s+1+rng.IntN(1+n/20), n-1-rng.IntN(2)), 0.25)
		}
		b.Add(0, 0.25)
	}
	return finish(tb, b)
}

func finish(tb testing.TB, b *sparse.Builder) *sparse.Model {
	tb.Helper()
	model, err := b.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	model.RelErr = 0
	return model
}

// coins is an MDP of n players and a counter from 0 to most, which starts in the middle. A player draws
// a step, up or down, and adds it to the counter later; the scheduler selects the next player. The game
// ends at 0 and at most.
func coins(tb testing.TB, n, most int) (model *sparse.Model, start int) {
	tb.Helper()
	const nothing, up, down = 0, 1, 2 // what a player holds, a digit of a state to base 3
	hands := 1
	for range n {
		hands *= 3
	}
	b := sparse.NewBuilder(sparse.MDP)
	for s := range (most + 1) * hands {
		b.State()
		counter := s / hands
		if counter == 0 || counter == most {
			b.Choice(sparse.NoAction)
			b.Add(s, 1)
			continue
		}
		for digit := 1; digit < hands; digit *= 3 {
			b.Choice(sparse.NoAction)
			switch s / digit % 3 {
			case nothing:
				b.Add(s+up*digit, 0.5)
				b.Add(s+down*digit, 0.5)
			case up:
				b.Add(s-up*digit+hands, 1)
			case down:
				b.Add(s-down*digit-hands, 1)
			}
		}
	}
	return finish(tb, b), most / 2 * hands
}

// BenchmarkCoins measures the probability that the game ends, and the expected time until then.
func BenchmarkCoins(b *testing.B) {
	for _, c := range []struct{ n, most int }{{4, 20}, {4, 100}, {6, 20}, {8, 20}, {8, 60}} {
		model, start := coins(b, c.n, c.most)
		n := model.NumStates()
		top, ends := sparse.NewSet(n), sparse.NewSet(n)
		for s := range n {
			switch counter := s / (n / (c.most + 1)); counter {
			case c.most:
				top.Add(s)
				ends.Add(s)
			case 0:
				ends.Add(s)
			}
		}
		one := &sparse.Reward{State: constant(n, 1)}
		for name, value := range map[string]func(graph *sparse.Graph) (*solve.Values, error){
			"prob": func(graph *sparse.Graph) (*solve.Values, error) {
				return solve.Until(b.Context(), graph, sparse.FullSet(n), top, solve.Min, solve.Options{})
			},
			"steps": func(graph *sparse.Graph) (*solve.Values, error) {
				return solve.ReachReward(b.Context(), graph, one, ends, solve.Min, solve.Options{})
			},
		} {
			b.Run(fmt.Sprintf("%s%dto%d", name, c.n, c.most), func(b *testing.B) {
				for b.Loop() {
					values, err := value(sparse.NewGraph(model))
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(values.Sweeps), "sweeps")
					b.ReportMetric(1e12*widest(values), "width/1e-12")
					b.ReportMetric(values.Value(start), "value")
				}
			})
		}
	}
}

// BenchmarkSlow measures components in which sweeps converge slowly, and two in which they do not.
func BenchmarkSlow(b *testing.B) {
	type chain struct {
		name string
		m    func() *sparse.Model
		goal func(s, n int) bool
	}
	last := func(s, n int) bool { return s == n-1 }
	var chains []chain
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		chains = append(chains, chain{fmt.Sprintf("walk%d", n), func() *sparse.Model { return gamblersRuin(b, n, 0.5, false) }, last})
	}
	chains = append(chains, chain{"mdpwalk10000", func() *sparse.Model { return gamblersRuin(b, 10000, 0.5, true) }, last})
	for _, w := range []int{30, 100, 300} {
		chains = append(chains, chain{fmt.Sprintf("grid%d", w), func() *sparse.Model { return grid(b, w, w, 0.25) }, func(s, _ int) bool { return s%w == w-1 }})
	}
	chains = append(chains,
		chain{"biased100", func() *sparse.Model { return grid(b, 100, 100, 0.2) }, func(s, _ int) bool { return s%100 == 0 }},
		chain{"retry100000", func() *sparse.Model { return retry(b, 100_000) }, last},
		chain{"random100000", func() *sparse.Model { return random(b, 100_000, 4, 0.01) }, last},
		chain{"rare100000", func() *sparse.Model { return random(b, 100_000, 4, 1e-4) }, last},
		chain{"dense1000", func() *sparse.Model { return random(b, 1000, 300, 1e-5) }, last},
		chain{"fast1000000", func() *sparse.Model { return random(b, 1_000_000, 4, 0.5) }, last},
	)
	for _, c := range chains {
		b.Run(c.name, func(b *testing.B) {
			model := c.m()
			n := model.NumStates()
			goal := sparse.NewSet(n)
			for s := range n {
				if c.goal(s, n) {
					goal.Add(s)
				}
			}
			for b.Loop() {
				values, err := solve.Until(b.Context(), sparse.NewGraph(model), sparse.FullSet(n), goal, solve.Max, solve.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(values.Sweeps), "sweeps")
				b.ReportMetric(1e12*widest(values), "width/1e-12")
				if !values.Converged {
					b.Error("not converged")
				}
			}
		})
	}
}

// BenchmarkResets measures the expected number of steps in chains and MDPs that often start again.
func BenchmarkResets(b *testing.B) {
	for _, n := range []int{1e4, 1e5} {
		p := 10 / float64(n)
		for name, probabilities := range map[string][]float64{"chain": {p}, "mdp": {p, 1.5 * p}} {
			b.Run(fmt.Sprintf("%s%d", name, n), func(b *testing.B) {
				model := resets(b, n, probabilities...)
				reward := &sparse.Reward{State: constant(n+1, 1)}
				for b.Loop() {
					values, err := solve.ReachReward(b.Context(), sparse.NewGraph(model), reward, sparse.SetOf(n+1, n), solve.Max, solve.Options{})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(values.Sweeps), "sweeps")
					b.ReportMetric(1e12*widest(values), "width/1e-12")
					if !values.Converged {
						b.Error("not converged")
					}
				}
			})
		}
	}
}

// tandem is two queues of length n one after the other, with arrival rate 4 and
// service rates 5 and 6.
func tandem(tb testing.TB, n int) (*sparse.Model, *sparse.Reward) {
	tb.Helper()
	b := sparse.NewBuilder(sparse.CTMC)
	reward := &sparse.Reward{}
	state := func(x, y int) int { return x*(n+1) + y }
	for x := range n + 1 {
		for y := range n + 1 {
			b.State()
			reward.State = append(reward.State, float64(x+y))
			if x < n {
				b.Add(state(x+1, y), 4)
			}
			if x > 0 && y < n {
				b.Add(state(x-1, y+1), 5)
			}
			if y > 0 {
				b.Add(state(x, y-1), 6)
			}
		}
	}
	return finish(tb, b), reward
}

// BenchmarkLongRun measures the mean number of jobs in queues.
func BenchmarkLongRun(b *testing.B) {
	for _, n := range []int{30, 100, 300} {
		b.Run(fmt.Sprintf("tandem%d", n), func(b *testing.B) {
			model, reward := tandem(b, n)
			for b.Loop() {
				values, err := solve.LongRun(b.Context(), sparse.NewGraph(model), reward, solve.Max, solve.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(values.Sweeps), "sweeps")
				b.ReportMetric(1e12*widest(values), "width/1e-12")
			}
		})
	}
}

// fractions turns the weights into fractions with small denominators.
func fractions(model *sparse.Model) *sparse.Model {
	for _, w := range model.Weights {
		x := new(big.Rat)
		for d := int64(1); ; d++ {
			if n := math.Round(w * float64(d)); math.Abs(n-w*float64(d)) < 1e-9*n {
				x.SetFrac64(int64(n), d)
				break
			}
		}
		model.Fractions = append(model.Fractions, x)
	}
	return model
}

// layered is an acyclic MDP like a game: n states in layers of width, two choices
// of up to 8 equally likely successors each in the next layer.
func layered(tb testing.TB, n, width int) *sparse.Model {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b := sparse.NewBuilder(sparse.MDP)
	for s := range n {
		b.State()
		for range 2 {
			b.Choice(sparse.NoAction)
			if s/width == (n-1)/width {
				b.Add(s, 1)
				continue
			}
			k := 1 + rng.IntN(8)
			for range k {
				b.Add(min((s/width+1)*width+rng.IntN(width), n-1), 1/float64(k))
			}
		}
	}
	return finish(tb, b)
}

func BenchmarkExact(b *testing.B) {
	for _, c := range []struct {
		name string
		m    func() *sparse.Model
	}{
		{"fair1000", func() *sparse.Model { return gamblersRuin(b, 1000, 0.5, false) }},
		{"fair100000", func() *sparse.Model { return gamblersRuin(b, 100_000, 0.5, false) }},
		{"biased1000", func() *sparse.Model { return gamblersRuin(b, 1000, 0.25, false) }},
		{"mdp1000", func() *sparse.Model { return gamblersRuin(b, 1000, 0.25, true) }},
		{"grid30", func() *sparse.Model { return grid(b, 30, 30, 0.25) }},
		{"random200", func() *sparse.Model { return random(b, 200, 4, 0.0625) }},
		{"layered100000", func() *sparse.Model { return layered(b, 100_000, 1000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			model := fractions(c.m())
			n := model.NumStates()
			for b.Loop() {
				x, err := solve.Until(b.Context(), sparse.NewGraph(model), sparse.FullSet(n), sparse.SetOf(n, n-1), solve.Max, solve.Options{Exact: true})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(x.Exact[1].Denom().BitLen()), "bits")
			}
		})
	}
}

// widest returns the greatest relative width of the bounds.
func widest(values *solve.Values) float64 {
	out := 0.0
	for s := range values.Lower {
		if values.Upper[s] > 0 {
			out = max(out, (values.Upper[s]-values.Lower[s])/values.Upper[s])
		}
	}
	return out
}

// BenchmarkSteps measures 200 steps of the coins.
func BenchmarkSteps(b *testing.B) {
	model, start := coins(b, 8, 20)
	n := model.NumStates()
	top := sparse.NewSet(n)
	for s := n - n/21; s < n; s++ {
		top.Add(s)
	}
	for b.Loop() {
		values, err := solve.BoundedUntil(b.Context(), sparse.NewGraph(model), sparse.FullSet(n), top, solve.StepBound{High: 200}, solve.Max, solve.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(values.Value(start), "value")
	}
}

// BenchmarkExactSteps is BenchmarkSteps in rational arithmetic with fewer coins, for the first state or
// for all.
func BenchmarkExactSteps(b *testing.B) {
	model, start := coins(b, 4, 10)
	model = fractions(model)
	n := model.NumStates()
	top := sparse.NewSet(n)
	for s := n - n/11; s < n; s++ {
		top.Add(s)
	}
	for name, within := range map[string]*sparse.Set{"one": sparse.SetOf(n, start), "all": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				values, err := solve.BoundedUntil(b.Context(), sparse.NewGraph(model), sparse.FullSet(n), top, solve.StepBound{High: 200}, solve.Max, solve.Options{Exact: true, Within: within})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(values.Exact[start].Denom().BitLen()), "bits")
			}
		})
	}
}
