package certify_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
)

// average computes gain and bias of a chain by elimination: in each closed class from
// pi P = pi, elsewhere as the mean of what is reached.
func (t *truth) average(choice []int, worth func(c int) *big.Rat, per func(s int) *big.Rat) []*big.Rat {
	all := func(int) bool { return true }
	gain, unknown := make([]*big.Rat, t.n), make([]bool, t.n)
	reached := make([][]bool, t.n) // from[s] are the states from which s is reached
	for s := range t.n {
		reached[s] = t.reaches(choice, all, func(u int) bool { return u == s })
	}
	for s := range t.n {
		closed := true
		for u := range t.n {
			closed = closed && (!reached[u][s] || reached[s][u])
		}
		if unknown[s] = !closed; !closed {
			continue
		}
		// Between visits to s: what is earned, and how long it takes.
		sums := [2]*big.Rat{}
		for k, of := range []func(c int) *big.Rat{worth, func(c int) *big.Rat { return per(slices.Index(choice, c)) }} {
			x, in := make([]*big.Rat, t.n), make([]bool, t.n)
			for u := range t.n {
				x[u], in[u] = new(big.Rat), u != s && reached[u][s]
			}
			t.solve(choice, in, x, of)
			sums[k] = t.step(choice[s], x, of)
		}
		gain[s] = new(big.Rat).Quo(sums[0], sums[1])
	}
	for s := range t.n {
		if gain[s] == nil {
			gain[s] = new(big.Rat)
		}
	}
	t.solve(choice, unknown, gain, func(int) *big.Rat { return new(big.Rat) })
	return gain
}

// bias makes h of g + h = r + P h for a chain, by iteration of a lazy chain in fractions
// that are rounded; it is not exact, and goes with a gain that is a little off.
func (t *truth) bias(choice []int, gain []*big.Rat, worth func(c int) *big.Rat, per func(s int) *big.Rat) []*big.Rat {
	h := make([]*big.Rat, t.n)
	for s := range h {
		h[s] = new(big.Rat)
	}
	half, grid := big.NewRat(1, 2), big.NewRat(1, 1<<40)
	for range 400 {
		next := make([]*big.Rat, t.n)
		for s := range h {
			y := t.step(choice[s], h, worth)
			y.Sub(y, new(big.Rat).Mul(gain[s], per(s)))
			y.Add(y, h[s]).Mul(y, half).Quo(y, grid)
			next[s] = new(big.Rat).SetInt(new(big.Int).Div(y.Num(), y.Denom()))
			next[s].Mul(next[s], grid)
		}
		h = next
	}
	least := slices.MinFunc(h, (*big.Rat).Cmp)
	least = new(big.Rat).Set(least)
	for s := range h {
		h[s] = new(big.Rat).Sub(h[s], least)
	}
	return h
}

// TestAverage proves long-run averages of random chains, with continuous time, too, to a
// millionth, and shifts gains until they are false: none of these is accepted.
func TestAverage(t *testing.T) {
	proven, lies := 0, 0
	seeds := needs.Some(uint64(300))
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 8))
		m := randomModel(rng, []certificate.Kind{certificate.DTMC, certificate.CTMC}[seed%2])
		n := m.NumStates()
		x := newTruth(m)
		per := func(int) *big.Rat { return big.NewRat(1, 1) }
		if m.ExitRate != nil {
			per = func(s int) *big.Rat { return new(big.Rat).Inv(m.Numbers[m.ExitRate[s]]) }
		}
		choice := make([]int, n)
		for s := range choice {
			choice[s] = s
		}
		earned := m.StepRewards(0, nil)
		worth := func(c int) *big.Rat { return earned.Fractions[earned.FractionIndex[c]] }
		gain := x.average(choice, worth, per)
		h := x.bias(choice, gain, worth, per)
		file := func(shift *big.Rat) *certificate.File {
			v := certificate.Vector{Kind: certificate.Average}
			column := func(xs []*big.Rat, shift *big.Rat) *certificate.Values {
				out := &certificate.Values{}
				for _, x := range xs {
					y := new(big.Rat).Add(x, shift)
					if y.Sign() < 0 {
						y.SetInt64(0)
					}
					out.Fractions = append(out.Fractions, y)
				}
				return out
			}
			v.Lower, v.Upper = column(gain, new(big.Rat).Neg(shift)), column(gain, shift)
			v.LowerBias = column(h, new(big.Rat))
			v.UpperBias = v.LowerBias
			return &certificate.File{Model: m, Sets: []certificate.Set{{Kind: certificate.Init}}, Vectors: []certificate.Vector{v}, Claims: []certificate.Claim{{}}}
		}
		check := func(f *certificate.File) *certify.Result {
			out, err := certify.Check(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			return &out[0]
		}
		if r := check(file(big.NewRat(1, 1_000_000))); r.Err == nil {
			proven++
			if r.Lower.Cmp(gain[0]) > 0 || r.Upper.Cmp(gain[0]) < 0 {
				t.Fatalf("seed %d: proven [%v, %v], want %v", seed, r.Lower, r.Upper, gain[0])
			}
		}
		for _, shift := range []*big.Rat{big.NewRat(-1, 1<<60), big.NewRat(-1, 1000), big.NewRat(-1, 2)} {
			f := file(shift) // the bounds cross
			for k := range 3 {
				g := clone(f)
				switch v := &g.Vectors[0]; k {
				case 1:
					v.Upper = nil
				case 2:
					if v.Lower = nil; slices.ContainsFunc(v.Upper.Fractions, func(x *big.Rat) bool { return x.Sign() == 0 }) {
						continue // which is not below the gain
					}
				}
				lies++
				if r := check(g); r.Err == nil {
					t.Fatalf("seed %d, shifted by %v: proven [%v, %v], want %v", seed, shift, r.Lower, r.Upper, gain)
				}
			}
		}
	}
	t.Logf("%d of %d proven, %d false ones rejected", proven, seeds, lies)
	if uint64(proven) < seeds*2/3 {
		t.Error("too few are")
	}
}

// TestPaths compares sets of E and A with a search, for all ranks that are too short, and
// wants others than the least set refused.
func TestPaths(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		m := randomModel(rng, certificate.MDP)
		n := m.NumStates()
		left, right := randomSet(rng, n), randomSet(rng, n)
		all := rng.IntN(2) == 0
		x := newTruth(m)
		ranks := rank(n, func(s int, has func(int) bool) bool {
			if right.Has(s) || !left.Has(s) {
				return right.Has(s)
			}
			return x.choice(s, !all, func(c int) bool {
				if all {
					return !x.successor(c, func(u int) bool { return !has(u) })
				}
				return x.successor(c, has)
			})
		})
		set := certificate.Set{Kind: certificate.ExistsUntil, Sets: []int{0, 1}, Bits: certificate.NewBits(n), Rank: ranks}
		if all {
			set.Kind = certificate.ForallUntil
		}
		for s := range n {
			if ranks[s] != certificate.None {
				set.Bits.Add(s)
			}
		}
		accepted := func(set certificate.Set) bool {
			f := &certificate.File{Model: m, Sets: []certificate.Set{
				{Kind: certificate.Atomic, Text: "a", Bits: left}, {Kind: certificate.Atomic, Text: "b", Bits: right}, set, {Kind: certificate.All},
			}}
			for _, holds := range []bool{false, true} { // of which one is true if the set is accepted
				f.Claims = append(f.Claims, certificate.Claim{Vector: -1, Set: 2, OverSet: 3, Holds: holds})
			}
			out, err := certify.Check(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			return out[0].Err == nil || out[1].Err == nil
		}
		if !accepted(set) {
			t.Fatalf("seed %d: %s is not accepted", seed, set.Kind)
		}
		for s := range n {
			other := set
			other.Bits, other.Rank = slices.Clone(set.Bits), slices.Clone(ranks)
			other.Bits[0] ^= 1 << s
			for _, r := range []uint32{0, uint32(n), certificate.None} {
				if other.Rank[s] = r; accepted(other) {
					t.Fatalf("seed %d: %s with the other state %d is accepted", seed, set.Kind, s)
				}
			}
		}
	}
}
