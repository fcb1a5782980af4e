package certify_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
)

// walked computes what steps are worth, in fractions.
func (t *truth) walked(v *certificate.Vector, left, right certificate.Bits) []*big.Rat {
	r, x := t.reward(0), make([]*big.Rat, t.n)
	for s := range x {
		x[s] = new(big.Rat)
		switch {
		case v.Kind == certificate.Instant:
			x[s] = t.m.Numbers[t.m.Rewards[0].State[s]]
		case v.Kind == certificate.Steps && v.To < 0:
			x[s] = t.until(v.IsMaximum, left, right)[s]
		case v.Kind != certificate.Cumulative && right.Has(s):
			x[s] = big.NewRat(1, 1)
		}
	}
	steps := max(v.From, v.To)
	if v.Kind == certificate.Next {
		steps = 1
	}
	if v.Kind != certificate.Cumulative {
		r = nil
	}
	for k := range steps {
		next := make([]*big.Rat, t.n)
		for s := range next {
			switch first, end := t.m.Choices(s); {
			case v.Kind == certificate.Steps && right.Has(s) && steps-k > v.From:
				next[s] = big.NewRat(1, 1)
			case v.Kind == certificate.Steps && !left.Has(s):
				next[s] = new(big.Rat)
			default:
				for c := first; c < end; c++ {
					if y := t.step(c, x, r); next[s] == nil || v.IsMaximum && y.Cmp(next[s]) > 0 || !v.IsMaximum && y.Cmp(next[s]) < 0 {
						next[s] = y
					}
				}
			}
		}
		x = next
	}
	return x
}

// copies is a model many times, of which the first has the initial states.
func copies(m *certificate.Model, times int) *certificate.Model {
	n := m.NumStates()
	out := &certificate.Model{Kind: m.Kind, Numbers: m.Numbers, Initial: certificate.NewBits(n * times), Rewards: []certificate.Reward{{}}}
	copy(out.Initial, m.Initial)
	r := &out.Rewards[0]
	for k := range times {
		for s := range n {
			first, end := m.Choices(s)
			if m.FirstChoice != nil {
				out.FirstChoice = append(out.FirstChoice, uint32(len(out.FirstTransition)))
			}
			r.State = append(r.State, m.Rewards[0].State[s])
			for c := first; c < end; c++ {
				r.Choice = append(r.Choice, m.Rewards[0].Choice[c])
				out.FirstTransition = append(out.FirstTransition, uint32(len(out.Target)))
				lo, hi := m.Row(c)
				for e := lo; e < hi; e++ {
					out.Target, out.Prob = append(out.Target, m.Target[e]+uint32(k*n)), append(out.Prob, m.Prob[e])
				}
			}
		}
	}
	if m.FirstChoice != nil {
		out.FirstChoice = append(out.FirstChoice, uint32(len(out.FirstTransition)))
	}
	out.FirstTransition = append(out.FirstTransition, uint32(len(out.Target)))
	return out
}

// TestSteps compares with naive fractions: small models must be exact, and large ones,
// for which 128 bits are enough, must enclose the value closely.
func TestSteps(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := randomModel(rng, []certificate.Kind{certificate.DTMC, certificate.MDP}[rng.IntN(2)])
		n := m.NumStates()
		left, right := randomSet(rng, n), randomSet(rng, n)
		v := certificate.Vector{Right: 1, To: rng.IntN(8), IsMaximum: rng.IntN(2) == 0}
		v.Kind = []certificate.VectorKind{certificate.Steps, certificate.Steps, certificate.Next, certificate.Cumulative, certificate.Instant}[rng.IntN(5)]
		p := proved{}
		if v.Kind == certificate.Steps {
			v.From = rng.IntN(v.To + 1)
			if rng.IntN(3) == 0 {
				p = prove(m, certificate.Until, v.IsMaximum, left, right)
				u := p.f.Vectors[0]
				v.To, v.Lower, v.Upper, v.Rank = -1, u.Lower, u.Upper, u.Rank
			}
		}
		want := newTruth(m).walked(&v, left, right)[0]
		for _, times := range []int{1, 20_001 * (n + 1) / n} {
			if times > 1 && (seed%20 != 0 || v.To < 5) {
				continue
			}
			many := copies(m, times)
			sets := []certificate.Set{{Kind: certificate.Atomic, Text: "a", Bits: certificate.NewBits(n * times)}, {Kind: certificate.Atomic, Text: "b", Bits: certificate.NewBits(n * times)}, {Kind: certificate.Init}}
			for s := range n * times {
				for k, b := range []certificate.Bits{left, right} {
					if b.Has(s % n) {
						sets[k].Bits.Add(s)
					}
				}
			}
			f := &certificate.File{Model: many, Sets: sets, Vectors: []certificate.Vector{v}, Claims: []certificate.Claim{{Set: -1, OverSet: 2}}}
			out, err := certify.Check(t.Context(), f)
			if err != nil || out[0].Err != nil {
				t.Fatalf("seed %d: %v %v", seed, err, out)
			}
			lower, upper := out[0].Lower, out[0].Upper
			off, _ := new(big.Rat).Sub(upper, lower).Float64()
			if lower.Cmp(want) > 0 || upper.Cmp(want) < 0 || off > 1e-14*float64(min(times-1, 1)) {
				t.Errorf("seed %d, %d times: %s is within %v of %v, want %v", seed, times, out[0].Statement, off, upper, want)
			}
		}
	}
}
