package certify_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/certify/exact"
)

// TestFast: arithmetic in 128 bits says what fractions say, of values that are rounded to
// multiples of powers of two or to doubles, so that they are right, wrong, or exactly at the edge.
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
		doubles := rng.IntN(2) == 0
		round := func(x *certificate.Values, up bool) *certificate.Values {
			if doubles {
				return rounded(x, up)
			}
			out := &certificate.Values{Scale: scale, Infinite: x.Infinite, Fixed: make([]uint64, len(x.Fractions))}
			for s, r := range x.Fractions {
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
				for s := range (*x).Len() {
					finite := certificate.Values{Fixed: (*x).Fixed, Scale: scale, Floats: (*x).Floats}
					rats.Fractions = append(rats.Fractions, finite.Rat(s))
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

// rounded rounds values to the next doubles.
func rounded(x *certificate.Values, up bool) *certificate.Values {
	out := &certificate.Values{Infinite: x.Infinite}
	for _, r := range x.Fractions {
		f, _ := r.Float64()
		switch c := new(big.Rat).SetFloat64(f).Cmp(r); {
		case c < 0 && up:
			f = math.Nextafter(f, math.Inf(1))
		case c > 0 && !up:
			f = math.Nextafter(f, 0)
		}
		out.Floats = append(out.Floats, f)
	}
	return out
}

// TestFarApart: values of very different sizes, some too far apart for 128 bits, are
// compared as fractions are.
func TestFarApart(t *testing.T) {
	seen := map[int]int{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		file := randomModel(rng, certificate.MDP)
		m, err := exact.New(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		x, slow := &certificate.Values{}, &certificate.Values{}
		near := math.Ldexp(1, -rng.IntN(1070))
		for range file.NumStates() {
			f := near * rng.Float64()
			switch rng.IntN(4) {
			case 0:
				f = near
			case 1:
				f = math.Ldexp(f, rng.IntN(80))
			}
			x.Floats = append(x.Floats, f)
			slow.Fractions = append(slow.Fractions, new(big.Rat).SetFloat64(f))
		}
		for s := range file.NumStates() {
			first, end := file.Choices(s)
			for c := first; c < end; c++ {
				for _, r := range []*certificate.Rewards{nil, file.StepRewards(-1, certificate.Bits{rng.Uint64()})} {
					got, want := m.Compare(x, x, s, c, r), m.Compare(slow, slow, s, c, r)
					if got != want {
						t.Fatalf("seed %d: state %d, choice %d: %d, want %d, of %v", seed, s, c, got, want, x.Floats)
					}
					seen[got]++
				}
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("signs %v, want all three", seen)
	}
}

// TestEach: all states are looked at, and the first one that is wrong is named, whatever is
// wrong behind it; and what is stopped says nothing is.
func TestEach(t *testing.T) {
	const n = 100_000
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 12))
		bad := certificate.NewBits(n)
		first := n
		for range rng.IntN(4) {
			s := rng.IntN(n)
			bad.Add(s)
			first = min(first, s)
		}
		seen := certificate.NewBits(n)
		s, why := exact.FindMistake(t.Context(), n, func(s int) string {
			if seen.Add(s); bad.Has(s) {
				return fmt.Sprint("wrong ", s)
			}
			return ""
		})
		if first == n && (why != "" || seen.Count() != n) || first < n && (s != first || why != fmt.Sprint("wrong ", first)) {
			t.Errorf("seed %d: state %d, %q, with %d looked at; want state %d", seed, s, why, seen.Count(), first)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, why := exact.FindMistake(ctx, n, func(int) string { return "wrong" }); why != "" {
		t.Errorf("found %q after the end", why)
	}
}
