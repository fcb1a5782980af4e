package certify_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
)

// TestFast: arithmetic in 128 bits says what fractions say, of values that are rounded to
// multiples of powers of two, so that they are right, wrong, or exactly at the edge.
func TestFast(t *testing.T) {
	accepted, rejected := 0, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 10))
		kind := []certificate.VectorKind{certificate.Until, certificate.ReachReward, certificate.TotalReward, certificate.Average}[rng.IntN(4)]
		m := randomModel(rng, []certificate.Kind{certificate.DTMC, certificate.MDP}[rng.IntN(2)])
		from := certificate.Until
		if kind != certificate.Average {
			from = kind
		}
		f := prove(m, from, rng.IntN(2) == 0, randomSet(rng, m.NumStates()), randomSet(rng, m.NumStates())).f
		scale := uint(rng.IntN(63))
		round := func(x *certificate.Values, up bool) *certificate.Values {
			out := &certificate.Values{Scale: scale, Infinite: x.Infinite, Fixed: make([]uint64, len(x.Rats))}
			for s, r := range x.Rats {
				k := new(big.Int).Lsh(r.Num(), scale)
				if k.Div(k, r.Denom()); up {
					k.Add(k, big.NewInt(1))
				}
				if out.Fixed[s] = k.Uint64(); !k.IsUint64() {
					return nil
				}
			}
			return out
		}
		v := &f.Vectors[0]
		v.Kind = kind
		lower, upper := round(v.Lower, false), round(v.Upper, true)
		if lower == nil || upper == nil {
			continue
		}
		for k := range 3 {
			g := clone(f)
			w := &g.Vectors[0]
			w.Lower, w.Upper = lower, upper
			if k > 0 { // one bound alone
				w.Lower = nil
			}
			if k > 1 {
				w.Lower, w.Upper = lower, nil
			}
			if kind == certificate.Average {
				w.LowerBias, w.UpperBias = upper, lower
			}
			slow := clone(g)
			for _, x := range []**certificate.Values{&slow.Vectors[0].Lower, &slow.Vectors[0].Upper, &slow.Vectors[0].LowerBias, &slow.Vectors[0].UpperBias} {
				if *x == nil {
					continue
				}
				rats := &certificate.Values{Infinite: (*x).Infinite}
				for s := range (*x).Fixed {
					finite := certificate.Values{Fixed: (*x).Fixed, Scale: scale}
					rats.Rats = append(rats.Rats, finite.Rat(s))
				}
				*x = rats
			}
			var errs [2]error
			for i, h := range []*certificate.File{g, slow} {
				out, err := certify.Check(t.Context(), h)
				if err != nil {
					t.Fatal(err)
				}
				errs[i] = out[0].Err
			}
			if (errs[0] == nil) != (errs[1] == nil) || errs[0] != nil && errs[0].Error() != errs[1].Error() {
				t.Fatalf("seed %d: %v in 128 bits, %v in fractions", seed, errs[0], errs[1])
			}
			if errs[0] == nil {
				accepted++
			} else {
				rejected++
			}
		}
	}
	t.Logf("%d accepted and %d rejected by both", accepted, rejected)
	if accepted == 0 || rejected == 0 {
		t.Error("one of them is missing")
	}
}
