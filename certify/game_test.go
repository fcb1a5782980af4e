package certify_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
)

// gameUntil returns the value of an until formula in a game: the maximum over the strategies without memory of one side of the
// minimum over those of the other side.
func (t *truth) gameUntil(maximizer, left, right certificate.Bits) []*big.Rat {
	worst := map[string][]*big.Rat{}
	t.schedulers(func(choice []int) {
		key := ""
		for s, c := range choice {
			if maximizer.Has(s) {
				key += fmt.Sprint(c, " ")
			}
		}
		x := t.untilUnder(choice, left, right)
		for s, y := range worst[key] {
			if y.Cmp(x[s]) < 0 {
				x[s] = y
			}
		}
		worst[key] = x
	})
	var best []*big.Rat
	for _, x := range worst {
		if best == nil {
			best = x
			continue
		}
		for s, y := range x {
			if y.Cmp(best[s]) > 0 {
				best[s] = y
			}
		}
	}
	return best
}

// proveGame returns the certificate with the values of a game, and with ranks: the maximizer has a choice that keeps the value and
// has a successor of smaller rank, and all choices of the minimizer have one.
func proveGame(m *certificate.Model, maximizer, left, right certificate.Bits) *certificate.File {
	n := m.NumStates()
	x := newTruth(m).gameUntil(maximizer, left, right)
	mean := func(c int) *big.Rat {
		sum := new(big.Rat)
		lo, hi := m.Row(c)
		for i := lo; i < hi; i++ {
			sum.Add(sum, new(big.Rat).Mul(m.Numbers[m.Prob[i]], x[m.Target[i]]))
		}
		return sum
	}
	ranks := rank(n, func(s int, has func(t int) bool) bool {
		if x[s].Sign() == 0 || right.Has(s) {
			return true
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			leads := false
			lo, hi := m.Row(c)
			for _, u := range m.Target[lo:hi] {
				leads = leads || has(int(u))
			}
			leads = leads && (!maximizer.Has(s) || mean(c).Cmp(x[s]) >= 0)
			if leads == maximizer.Has(s) {
				return leads
			}
		}
		return !maximizer.Has(s)
	})
	return &certificate.File{
		Model: m,
		Sets: []certificate.Set{
			{Kind: certificate.Atomic, Bits: left},
			{Kind: certificate.Atomic, Bits: right},
			{Kind: certificate.Atomic, Bits: maximizer},
			{Kind: certificate.All},
		},
		Vectors: []certificate.Vector{{Kind: certificate.Until, IsMaximum: true, Maximizer: 2, Left: 0, Right: 1, Reward: -1, Lower: values(x), Upper: values(x), Rank: ranks}},
		Claims:  []certificate.Claim{{Vector: 0, Set: 0, OverSet: 3}},
	}
}

// TestGames: certificates of both players are accepted. Of 1,000 that were changed so that a bound is false, none is accepted.
func TestGames(t *testing.T) {
	wrong, proper := 0, 0
	for seed := uint64(0); wrong < 1000 || proper < 50; seed++ {
		rng := rand.New(rand.NewPCG(seed, 8))
		m := randomModel(rng, certificate.MDP)
		n := m.NumStates()
		f := proveGame(m, randomSet(rng, n), randomSet(rng, n), randomSet(rng, n))
		for s := range n { // more states in left
			if rng.IntN(2) == 0 {
				f.Sets[0].Bits.Add(s)
			}
		}
		f = proveGame(m, f.Sets[2].Bits, f.Sets[0].Bits, f.Sets[1].Bits)
		results, err := certify.Check(t.Context(), f)
		if err != nil || results[0].Err != nil {
			t.Fatalf("seed %d: %v %v", seed, err, results[0].Err)
		}
		for _, x := range f.Vectors[0].Lower.Fractions {
			if !x.IsInt() {
				proper++
			}
		}
		for _, attack := range []struct {
			name   string
			change func(*certificate.File)
		}{
			{"the owner of a state", func(f *certificate.File) { f.Sets[2].Bits[0] ^= 1 << rng.IntN(n) }},
			{"lower", func(f *certificate.File) { nudge(rng, f.Vectors[0].Lower, true) }},
			{"upper", func(f *certificate.File) { nudge(rng, f.Vectors[0].Upper, false) }},
			{"a target", func(f *certificate.File) { f.Model.Target[rng.IntN(len(m.Target))] = uint32(rng.IntN(n)) }},
			{"ranks", func(f *certificate.File) { clear(f.Vectors[0].Rank) }},
			{"left and right", func(f *certificate.File) { f.Sets[rng.IntN(2)].Bits[0] ^= 1 << rng.IntN(n) }},
			{"lower and a rank", func(f *certificate.File) {
				f.Vectors[0].Rank[rng.IntN(n)] = uint32(rng.IntN(3))
				nudge(rng, f.Vectors[0].Lower, true)
			}},
		} {
			g := clone(f)
			attack.change(g)
			if !falseOfGame(g) {
				continue
			}
			wrong++
			if results, err := certify.Check(t.Context(), g); err == nil && results[0].Err == nil {
				t.Fatalf("seed %d: accepted after a change of %s", seed, attack.name)
			}
		}
	}
}

// falseOfGame reports whether a bound of the certificate of a game is false.
func falseOfGame(f *certificate.File) bool {
	v := &f.Vectors[0]
	for s, x := range newTruth(f.Model).gameUntil(f.Sets[v.Maximizer].Bits, f.Sets[v.Left].Bits, f.Sets[v.Right].Bits) {
		if v.Lower.Fractions[s].Cmp(x) > 0 || v.Upper.Fractions[s].Cmp(x) < 0 {
			return true
		}
	}
	return false
}
