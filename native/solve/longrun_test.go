package solve_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// longRun computes the gain of every state: the stationary average of each BSCC, weighted by its
// absorption probability.
func (in *instance) longRun() []*big.Rat {
	how := make([]uint32, in.m.NumStates())
	for s := range how {
		how[s] = uint32(s)
	}
	return in.longRunUnder(how, in.reward())
}

// longRunUnder is longRun under a scheduler.
func (in *instance) longRunUnder(how []uint32, reward *sparse.Reward) []*big.Rat {
	n := in.m.NumStates()
	weights := sparsetest.Matrix(in.m, how)
	a := sparsetest.Stochastic(sparsetest.Matrix(in.m, how))
	all := sparse.FullSet(n)
	reach := sparsetest.Reach(a, all)
	out := make([]*big.Rat, n)
	for s := range out {
		out[s] = new(big.Rat)
	}
	for s := range n {
		bottom := sparse.NewSet(n)
		first := true
		for t := range n {
			if reach[s][t] {
				bottom.Add(t)
				first = first && t >= s
			}
		}
		for t := range bottom.All() {
			first = first && reach[t][s]
		}
		if !first {
			continue
		}
		average := in.stationary(weights, bottom, how, reward)
		for u, p := range sparsetest.UntilProb(a, all, bottom) {
			out[u].Add(out[u], new(big.Rat).Mul(p, average))
		}
	}
	return out
}

// stationary returns the average reward in a bottom component: it solves
// pi Q = 0 with the first balance equation replaced by pi(first) = 1.
func (in *instance) stationary(weights [][]*big.Rat, bottom *sparse.Set, how []uint32, reward *sparse.Reward) *big.Rat {
	states := slices.Collect(bottom.All())
	k := len(states)
	m, b := make([][]*big.Rat, k), make([]*big.Rat, k)
	for i, s := range states {
		m[i], b[i] = make([]*big.Rat, k), new(big.Rat)
		for j, u := range states {
			m[i][j] = new(big.Rat)
			if i == 0 {
				continue
			}
			// 0 = inflow - outflow, written as pi(s) = pi(s) + inflow - outflow
			if i == j {
				out := new(big.Rat)
				for _, v := range states {
					if v != s {
						out.Add(out, weights[s][v])
					}
				}
				m[i][j].Sub(big.NewRat(1, 1), out)
			} else {
				m[i][j].Set(weights[u][s])
			}
		}
	}
	b[0].SetInt64(1)
	pi := sparsetest.Solve(m, b)
	sum, total := new(big.Rat), new(big.Rat)
	for i, s := range states {
		total.Add(total, pi[i])
		sum.Add(sum, new(big.Rat).Mul(pi[i], reward.ExactChoiceTotal(s, int(how[s]))))
	}
	return sum.Quo(sum, total)
}

func TestLongRun(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			want := in.longRun()
			values, err := solve.LongRun(in.Context(), in.g, in.reward(), solve.Max, solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			in.checkValues("long run", values, want, nil)
			x, err := solve.LongRun(in.Context(), in.g, in.reward(), solve.Max, solve.Options{Exact: true})
			if err != nil {
				in.Fatal(err)
			}
			in.checkExact("long run", x, want, nil)
		})
	}
}

// TestLongRunQueue has a queue of length n with arrival rate 1 and service rate 2, whose mean length is
// known. The long queue starts full: that state is so unlikely that the expected time of a cycle from
// it is out of range.
func TestLongRunQueue(t *testing.T) {
	for _, n := range []int{10, 20_000} {
		b := sparse.NewBuilder(sparse.CTMC)
		reward := &sparse.Reward{State: make([]float64, n+1)}
		for s := range n + 1 { // jobs missing
			b.State()
			if s > 0 {
				b.Add(s-1, 1)
			}
			if s < n {
				b.Add(s+1, 2)
			}
			reward.State[s] = float64(n - s)
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		values, err := solve.LongRun(t.Context(), sparse.NewGraph(model), reward, solve.Max, solve.Options{Epsilon: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		rho := 0.5
		tail := math.Pow(rho, float64(n+1))
		want := rho/(1-rho) - float64(n+1)*tail/(1-tail)
		if values.Lower[0] > want*(1+1e-13) || values.Upper[0] < want*(1-1e-13) || values.Upper[0]-values.Lower[0] > 1e-6*want {
			t.Errorf("length %d: [%v, %v], want %v", n, values.Lower[0], values.Upper[0], want)
		}
	}
}

// TestLongRunOfMDP compares with the best of all memoryless schedulers.
func TestLongRunOfMDP(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		for _, reward := range []*sparse.Reward{in.reward(), indicatorReward(in.left), indicatorReward(in.right)} {
			value := func(_ [][]*big.Rat, how []uint32) []*big.Rat { return in.longRunUnder(how, reward) }
			for name, dir := range directions {
				want := in.overSchedulers(dir, value)
				values, err := solve.LongRun(in.Context(), in.g, reward, dir, solve.Options{Scheduler: true})
				if err != nil {
					in.Fatal(err)
				}
				in.checkValues(name, values, want, value)
				x, err := solve.LongRun(in.Context(), in.g, reward, dir, solve.Options{Exact: true, Scheduler: true})
				if err != nil {
					in.Fatal(err)
				}
				in.checkExact(name, x, want, value)
			}
		}
		for name, dir := range directions {
			values, err := solve.SteadyState(in.Context(), in.g, in.left, dir, solve.Options{Scheduler: true})
			if err != nil {
				in.Fatal(err)
			}
			value := func(_ [][]*big.Rat, how []uint32) []*big.Rat { return in.longRunUnder(how, indicatorReward(in.left)) }
			want := in.overSchedulers(dir, value)
			in.checkValues(name+" of a set", values, want, value)
			for s, x := range want {
				if certain := x.Sign() == 0 || x.Cmp(big.NewRat(1, 1)) == 0; certain != (values.Lower[s] == values.Upper[s] && (values.Upper[s] == 0 || values.Upper[s] == 1)) {
					in.Errorf("%s of a set: state %d: [%v, %v], want %s and to know it", name, s, values.Lower[s], values.Upper[s], text(x))
				}
			}
		}
	})
}

// indicatorReward is a reward of 1 in the states of a set.
func indicatorReward(rewarded *sparse.Set) *sparse.Reward {
	reward := &sparse.Reward{State: make([]float64, rewarded.Len()), StateFractions: make([]*big.Rat, rewarded.Len())}
	for s := range rewarded.All() {
		reward.State[s], reward.StateFractions[s] = 1, big.NewRat(1, 1)
	}
	return reward
}

// TestLongRunOfMDPSlow has two states that the process leaves once in 2^30 steps. The first has reward
// 1; after leaving, a second choice has another reward forever. Value iteration would need 10^10
// sweeps.
func TestLongRunOfMDPSlow(t *testing.T) {
	const rare = 0x1p-30
	for _, test := range []struct{ rest, most, least float64 }{{0.875, 0.875, 0.5}, {0.25, 0.5, 0.25}, {0.5, 0.5, 0.5}} {
		b := sparse.NewBuilder(sparse.MDP)
		for s := range 2 {
			b.State()
			b.Choice(sparse.NoAction)
			b.Add(s, 1-rare)
			b.Add(1-s, rare)
			if s == 0 {
				b.Choice(sparse.NoAction)
				b.Add(0, 1)
			}
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		reward := &sparse.Reward{Choice: []float64{1, test.rest, 0}}
		for dir, want := range map[solve.Direction]float64{solve.Max: test.most, solve.Min: test.least} {
			values, err := solve.LongRun(t.Context(), sparse.NewGraph(model), reward, dir, solve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for s := range 2 {
				if !(values.Lower[s] <= want && want <= values.Upper[s] && values.Upper[s]-values.Lower[s] <= 1e-8) || values.Sweeps > 1000 {
					t.Errorf("%v, direction %v: [%v, %v] after %d sweeps, want %v", test, dir, values.Lower[s], values.Upper[s], values.Sweeps, want)
				}
			}
		}
	}
}

// TestLongRunOfMDPQueue has a queue of up to n jobs with arrival probability 1/8, and slow (1/4) or
// fast (1/2) service. The mean lengths of both are known, as in TestLongRunQueue.
func TestLongRunOfMDPQueue(t *testing.T) {
	const n = 300
	b := sparse.NewBuilder(sparse.MDP)
	reward := &sparse.Reward{State: make([]float64, n+1)}
	for s := range n + 1 {
		b.State()
		reward.State[s] = float64(s)
		for _, service := range []float64{0.25, 0.5} {
			b.Choice(sparse.NoAction)
			stay := 1.0
			if s < n {
				b.Add(s+1, 0.125)
				stay -= 0.125
			}
			if s > 0 {
				b.Add(s-1, service)
				stay -= service
			}
			b.Add(s, stay)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	// Means of geometric distributions with these quotients, of which n cuts off nothing.
	for dir, want := range map[solve.Direction]float64{solve.Max: 1, solve.Min: 1.0 / 3} {
		values, err := solve.LongRun(t.Context(), sparse.NewGraph(model), reward, dir, solve.Options{Epsilon: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		if values.Lower[0] > want*(1+1e-13) || values.Upper[0] < want*(1-1e-13) || values.Upper[0]-values.Lower[0] > 1e-6*want {
			t.Errorf("direction %v: [%v, %v] after %d sweeps, want %v", dir, values.Lower[0], values.Upper[0], values.Sweeps, want)
		}
	}
}
