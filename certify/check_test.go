package certify_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
)

// proved makes a certificate of exact values.
type proved struct {
	f     *certificate.File
	truth []*big.Rat
}

func (t *truth) successor(c int, is func(u int) bool) bool {
	lo, hi := t.m.Row(c)
	for _, u := range t.m.Target[lo:hi] {
		if is(int(u)) {
			return true
		}
	}
	return false
}

func (t *truth) choice(s int, some bool, is func(c int) bool) bool {
	first, end := t.m.Choices(s)
	for c := first; c < end; c++ {
		if is(c) == some {
			return some
		}
	}
	return !some
}

// step is r + P x of a choice; nil is infinity.
func (t *truth) step(c int, x []*big.Rat, r func(c int) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	if r != nil {
		sum.Set(r(c))
	}
	lo, hi := t.m.Row(c)
	for e := lo; e < hi; e++ {
		y := x[t.m.Target[e]]
		if y == nil {
			return nil
		}
		sum.Add(sum, new(big.Rat).Mul(t.prob(e), y))
	}
	return sum
}

// prove makes the certificate of a kind.
func prove(m *certificate.Model, kind certificate.VectorKind, max bool, left, right certificate.Bits) proved {
	t := newTruth(m)
	v := certificate.Vector{Kind: kind, IsMaximum: max, Left: 0, Right: 1}
	f := &certificate.File{Model: m, Sets: []certificate.Set{
		{Kind: certificate.Atomic, Text: "a", Bits: left}, {Kind: certificate.Atomic, Text: "b", Bits: right}, {Kind: certificate.Init},
	}}
	var x []*big.Rat
	some := m.Kind != certificate.MDP || max
	r := t.reward(0)
	equal := func(c int, s int, r func(int) *big.Rat) bool {
		y := t.step(c, x, r)
		return y != nil && x[s] != nil && y.Cmp(x[s]) == 0
	}
	// layers also numbers the states inside a layer, so that each leads to a reward.
	layers := func(pays bool) []uint32 {
		out, ranks := make([]uint32, t.n), make([]uint32, t.n)
		for s := range out {
			out[s], ranks[s] = certificate.None, certificate.None
		}
		for level := uint32(0); ; level++ {
			lower := func(u int) bool { return out[u] < level }
			now := certificate.NewBits(t.n)
			for s := range t.n {
				if x[s] == nil && out[s] == certificate.None {
					now.Add(s)
				}
			}
			for before := -1; before != now.Count(); {
				before = now.Count()
				ranks = rank(t.n, func(s int, has func(int) bool) bool {
					return now.Has(s) && t.choice(s, some, func(c int) bool {
						return t.successor(c, lower) || (!some || level == 0) && !t.successor(c, func(u int) bool { return !now.Has(u) }) &&
							(!pays || r(c).Sign() > 0 || t.successor(c, has))
					})
				})
				for s := range t.n {
					if ranks[s] == certificate.None {
						now[s/64] &^= 1 << (s % 64)
					}
				}
			}
			if now.Count() == 0 {
				return out
			}
			for s := range t.n {
				if now.Has(s) {
					out[s] = level
					if pays {
						v.Rank[s] = ranks[s]
					}
				}
			}
		}
	}
	switch kind {
	case certificate.Until:
		x = t.until(max, left, right)
		v.Rank = rank(t.n, func(s int, has func(int) bool) bool {
			return right.Has(s) || x[s].Sign() == 0 || t.choice(s, some, func(c int) bool {
				return (!some || equal(c, s, nil)) && t.successor(c, has)
			})
		})
	case certificate.ReachReward:
		x = t.reach(max, 0, right)
		v.Rank = rank(t.n, func(s int, has func(int) bool) bool {
			return right.Has(s) || x[s] != nil && t.choice(s, !max, func(c int) bool {
				return (max || equal(c, s, r)) && t.successor(c, has)
			})
		})
		v.Layer = layers(false)
	case certificate.TotalReward:
		x = t.total(max, 0)
		stop := func(u int) bool { return x[u] == nil || x[u].Sign() == 0 }
		v.Rank = rank(t.n, func(s int, has func(int) bool) bool {
			return stop(s) || t.choice(s, some, func(c int) bool {
				return (!some || equal(c, s, r)) && (r(c).Sign() > 0 || t.successor(c, has))
			})
		})
		v.Layer = layers(true)
	}
	v.Lower = values(x)
	v.Upper = v.Lower
	f.Vectors = []certificate.Vector{v}
	f.Claims = []certificate.Claim{{Vector: 0, Set: -1, OverSet: 2}}
	return proved{f, x}
}

func TestExactIsAccepted(t *testing.T) {
	for seed := range needs.OrFull(uint64(800), 3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := randomModel(rng, []certificate.Kind{certificate.DTMC, certificate.MDP, certificate.MDP, certificate.CTMC}[rng.IntN(4)])
		n := m.NumStates()
		for _, kind := range []certificate.VectorKind{certificate.Until, certificate.ReachReward, certificate.TotalReward} {
			for _, max := range []bool{false, true} {
				p := prove(m, kind, max, randomSet(rng, n), randomSet(rng, n))
				out, err := certify.Check(t.Context(), p.f)
				if err != nil {
					t.Fatal(err)
				}
				r := out[0]
				if r.Err != nil || (r.Lower == nil) != (p.truth[0] == nil) || r.Lower != nil && (r.Lower.Cmp(p.truth[0]) != 0 || r.Upper.Cmp(r.Lower) != 0) {
					t.Fatalf("seed %d: %s: %v, [%v, %v], want %v", seed, r.Statement, r.Err, r.Lower, r.Upper, p.truth[0])
				}
			}
		}
	}
}
