package solve_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/native/explicit/sparse/sparsetest"
)

// longRun computes the average per step or unit of time from every state: the
// stationary distribution of each bottom component, weighted by the probability
// of getting there.
func (in *instance) longRun() []*big.Rat {
	n := in.m.NumStates()
	how := make([]uint32, n)
	for s := range how {
		how[s] = uint32(s)
	}
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
		average := in.stationary(weights, bottom)
		for u, p := range sparsetest.UntilProb(a, all, bottom) {
			out[u].Add(out[u], new(big.Rat).Mul(p, average))
		}
	}
	return out
}

// stationary returns the average reward in a bottom component: it solves
// pi Q = 0 with the first balance equation replaced by pi(first) = 1.
func (in *instance) stationary(weights [][]*big.Rat, bottom *sparse.Set) *big.Rat {
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
	r := in.reward()
	for i, s := range states {
		total.Add(total, pi[i])
		for _, x := range [][]*big.Rat{r.StateRat, r.ChoiceRat} {
			if x != nil && x[s] != nil {
				sum.Add(sum, new(big.Rat).Mul(pi[i], x[s]))
			}
		}
	}
	return sum.Quo(sum, total)
}

func TestLongRun(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			want := in.longRun()
			v, err := solve.LongRun(in.Context(), in.g, in.reward(), solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			in.checkValues("long run", v, want, nil)
			x, err := solve.LongRun(in.Context(), in.g, in.reward(), solve.Options{Exact: true})
			if err != nil {
				in.Fatal(err)
			}
			in.checkExact("long run", x, want, nil)
		})
	}
}

// TestLongRunQueue has a queue of length n with arrival rate 1 and service rate 2,
// whose mean length is known. The long one starts full: that is too unlikely for
// the mean time between two times that it is.
func TestLongRunQueue(t *testing.T) {
	for _, n := range []int{10, 20_000} {
		b := sparse.NewBuilder(sparse.CTMC)
		r := &sparse.Reward{State: make([]float64, n+1)}
		for s := range n + 1 { // jobs missing
			b.State()
			if s > 0 {
				b.Add(s-1, 1)
			}
			if s < n {
				b.Add(s+1, 2)
			}
			r.State[s] = float64(n - s)
		}
		m, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		v, err := solve.LongRun(t.Context(), sparse.NewGraph(m), r, solve.Options{Epsilon: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		rho := 0.5
		tail := math.Pow(rho, float64(n+1))
		want := rho/(1-rho) - float64(n+1)*tail/(1-tail)
		if v.Lower[0] > want*(1+1e-13) || v.Upper[0] < want*(1-1e-13) || v.Upper[0]-v.Lower[0] > 1e-6*want {
			t.Errorf("length %d: [%v, %v], want %v", n, v.Lower[0], v.Upper[0], want)
		}
	}
}

func TestLongRunOfMDP(t *testing.T) {
	in := &instance{T: t, m: ruin(t, 3, 0.5, true)}
	in.g = sparse.NewGraph(in.m)
	if _, err := solve.LongRun(t.Context(), in.g, &sparse.Reward{}, solve.Options{}); !errors.Is(err, solve.ErrNondeterministic) {
		t.Errorf("error %v, want ErrNondeterministic", err)
	}
}
