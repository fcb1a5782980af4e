package certify_test

import (
	"bytes"
	"maps"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/umb"
)

// clone copies what attacks change.
func clone(f *certificate.File) *certificate.File {
	out := *f
	m := *f.Model
	out.Model = &m
	m.Prob, m.Target = slices.Clone(m.Prob), slices.Clone(m.Target)
	out.Sets, out.Vectors, out.Claims = slices.Clone(f.Sets), slices.Clone(f.Vectors), slices.Clone(f.Claims)
	for i := range out.Sets {
		out.Sets[i].Bits = slices.Clone(out.Sets[i].Bits)
	}
	for i := range out.Vectors {
		v := &out.Vectors[i]
		v.Rank, v.Layer = slices.Clone(v.Rank), slices.Clone(v.Layer)
		for _, x := range []**certificate.Values{&v.Lower, &v.Upper} {
			if *x != nil {
				y := **x
				y.Fixed, y.Fractions, y.Infinite = slices.Clone(y.Fixed), slices.Clone(y.Fractions), slices.Clone(y.Infinite)
				*x = &y
			}
		}
	}
	return &out
}

// nudge changes a value by the least that its column has, or for fractions by 2^-60.
func nudge(rng *rand.Rand, x *certificate.Values, up bool) bool {
	s := rng.IntN(max(len(x.Fixed), len(x.Fractions)))
	switch {
	case x.Infinite.Has(s), !up && x.IsZero(s):
		return false
	case x.Fixed != nil && up:
		x.Fixed[s]++
	case x.Fixed != nil:
		x.Fixed[s]--
	default:
		d := big.NewRat(1, 1<<60)
		if !up {
			d.Neg(d)
		}
		if x.Fractions[s] = new(big.Rat).Add(x.Fractions[s], d); x.Fractions[s].Sign() < 0 {
			return false
		}
	}
	return true
}

// attacks change a certificate. One that could not is false.
func attacks() map[string]func(rng *rand.Rand, f *certificate.File) bool {
	shuffle := func(rng *rand.Rand, column []uint32) bool {
		before := slices.Clone(column)
		rng.Shuffle(len(column), func(i, j int) { column[i], column[j] = column[j], column[i] })
		return !slices.Equal(before, column)
	}
	return map[string]func(rng *rand.Rand, f *certificate.File) bool{
		"lower nudged":    func(rng *rand.Rand, f *certificate.File) bool { return nudge(rng, f.Vectors[0].Lower, true) },
		"upper nudged":    func(rng *rand.Rand, f *certificate.File) bool { return nudge(rng, f.Vectors[0].Upper, false) },
		"ranks shuffled":  func(rng *rand.Rand, f *certificate.File) bool { return shuffle(rng, f.Vectors[0].Rank) },
		"layers shuffled": func(rng *rand.Rand, f *certificate.File) bool { return shuffle(rng, f.Vectors[0].Layer) },
		"ranks all 0": func(_ *rand.Rand, f *certificate.File) bool {
			clear(f.Vectors[0].Rank)
			clear(f.Vectors[0].Layer)
			return true
		},
		"min and max swapped": func(_ *rand.Rand, f *certificate.File) bool {
			f.Vectors[0].IsMaximum = !f.Vectors[0].IsMaximum
			return f.Model.Kind == certificate.MDP
		},
		"another model": func(rng *rand.Rand, f *certificate.File) bool {
			t := rng.IntN(len(f.Model.Target))
			to := uint32(rng.IntN(f.Model.NumStates()))
			changed := f.Model.Target[t] != to
			f.Model.Target[t] = to
			return changed
		},
		"another property": func(rng *rand.Rand, f *certificate.File) bool {
			v := &f.Vectors[0]
			v.Left, v.Right = v.Right, v.Left
			return v.Kind != certificate.TotalReward
		},
		"another kind": func(rng *rand.Rand, f *certificate.File) bool {
			v := &f.Vectors[0]
			kinds := []certificate.VectorKind{certificate.Until, certificate.ReachReward, certificate.TotalReward}
			kind := kinds[rng.IntN(3)]
			changed := kind != v.Kind && (kind != certificate.Until || v.Lower.Infinite == nil)
			v.Kind = kind
			return changed
		},
		"another set": func(rng *rand.Rand, f *certificate.File) bool {
			s := rng.IntN(f.Model.NumStates())
			f.Sets[rng.IntN(2)].Bits[0] ^= 1 << s
			return true
		},
		"infinity": func(rng *rand.Rand, f *certificate.File) bool {
			v, s := &f.Vectors[0], rng.IntN(f.Model.NumStates())
			x := []*certificate.Values{v.Lower, v.Upper}[rng.IntN(2)]
			if v.Kind == certificate.Until {
				return false
			}
			if x.Infinite == nil {
				x.Infinite = certificate.NewBits(f.Model.NumStates())
			}
			x.Infinite[0] ^= 1 << s
			return true
		},
		"a narrower claim": func(_ *rand.Rand, f *certificate.File) bool {
			x := f.Vectors[0].Lower.Rat(0)
			if x == nil {
				return false
			}
			f.Claims[0].Lower = new(big.Rat).Add(x, big.NewRat(1, 1<<60)).RatString()
			return true
		},
	}
}

// values computes what the vector of a file is about, without its columns.
func (t *truth) values(f *certificate.File) []*big.Rat {
	v := &f.Vectors[0]
	switch v.Kind {
	case certificate.Until:
		return t.until(v.IsMaximum, f.Sets[v.Left].Bits, f.Sets[v.Right].Bits)
	case certificate.ReachReward:
		return t.reach(v.IsMaximum, 0, f.Sets[v.Right].Bits)
	}
	return t.total(v.IsMaximum, 0)
}

// lies reports whether a bound of a file is false, or its claim.
func lies(f *certificate.File) bool {
	x := newTruth(f.Model).values(f)
	above := func(a, b *big.Rat) bool { return a == nil && b != nil || a != nil && b != nil && a.Cmp(b) > 0 }
	for s := range x {
		if v := &f.Vectors[0]; above(v.Lower.Rat(s), x[s]) || above(x[s], v.Upper.Rat(s)) {
			return true
		}
	}
	if text := f.Claims[0].Lower; text != "" {
		lower, _ := new(big.Rat).SetString(text)
		return above(lower, x[0])
	}
	return false
}

// TestAttacks changes certificates whose bounds are tight. None is accepted whose
// bounds are false; of those that are accepted exact arithmetic by other means shows
// that all bounds are true.
func TestAttacks(t *testing.T) {
	type count struct{ made, lies, rejected, remainTrue int }
	counts := map[string]*count{}
	all := attacks()
	names := slices.Sorted(maps.Keys(all))
	total := 0
	for seed := uint64(0); total < 1000; seed++ {
		rng := rand.New(rand.NewPCG(seed, 4))
		p := randomCertificate(rng)
		for _, name := range names {
			f := clone(p.f)
			if !all[name](rng, f) {
				continue
			}
			c := counts[name]
			if c == nil {
				c = new(count)
				counts[name] = c
			}
			c.made++
			lie := lies(f)
			if lie {
				c.lies++
				total++
			}
			results, err := certify.Check(t.Context(), f)
			switch accepted := err == nil && results[0].Err == nil; {
			case accepted && lie:
				t.Fatalf("seed %d, %s: accepted %s in [%v, %v]", seed, name, results[0].Statement, results[0].Lower, results[0].Upper)
			case accepted:
				c.remainTrue++
			default:
				c.rejected++
			}
		}
	}
	for _, name := range names {
		c := counts[name]
		t.Logf("%-20s %4d made, %4d with false bounds, all rejected; %4d rejected in all, %4d remain true", name, c.made, c.lies, c.rejected, c.remainTrue)
		if c.rejected == 0 {
			t.Errorf("%s: nothing was rejected", name)
		}
	}
}

// TestHostileFiles cuts files and changes bytes of them: what is still accepted is true.
func TestHostileFiles(t *testing.T) {
	accepted, refused, rejected := 0, 0, 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := randomCertificate(rng)
		text := written(t, p.f)
		for k := range 12 {
			bad := slices.Clone(text)
			if k < 2 {
				bad = bad[:rng.IntN(len(bad)-1024-512)] // behind are zeros
			} else {
				bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			}
			f, err := certificate.Read(t.Context(), bytes.NewReader(bad), certificate.Limits{})
			if err != nil {
				refused++
				continue
			}
			if k < 2 {
				t.Fatalf("seed %d: a file that was cut is read", seed)
			}
			results, err := certify.Check(t.Context(), f)
			if err != nil || len(results) == 0 || results[0].Err != nil {
				rejected++
				continue
			}
			accepted++
			if r := results[0]; r.Number && !isTrue(f, &r) {
				t.Fatalf("seed %d: accepted %s in [%v, %v]", seed, r.Statement, r.Lower, r.Upper)
			}
		}
	}
	t.Logf("%d refused, %d rejected, %d remain true", refused, rejected, accepted)
	if refused == 0 || rejected == 0 || accepted == 0 {
		t.Error("one of them is missing")
	}
}

// isTrue reports whether what was proven of the initial states is true.
func isTrue(f *certificate.File, r *certify.Result) bool {
	x := newTruth(f.Model).values(f)
	for s := range x {
		if !f.Model.Initial.Has(s) {
			continue
		}
		y := x[s]
		if f.Claims[0].Complement {
			y = new(big.Rat).Sub(big.NewRat(1, 1), y)
		}
		if y == nil && r.Upper != nil || y != nil && (r.Lower == nil || r.Lower.Cmp(y) > 0 || r.Upper != nil && r.Upper.Cmp(y) < 0) {
			return false
		}
	}
	return true
}

// TestLyingSizes: files that say that they are huge are refused without the memory for
// what they do not have.
func TestLyingSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	m := randomModel(rng, certificate.DTMC)
	f := prove(m, certificate.Until, true, randomSet(rng, m.NumStates()), randomSet(rng, m.NumStates())).f
	for name, change := range map[string]func(*umb.System){
		"":                 func(*umb.System) {},
		"states":           func(s *umb.System) { s.States = 2_000_000_000 },
		"more states":      func(s *umb.System) { s.States = 1 << 40 },
		"choices":          func(s *umb.System) { s.Choices = 2_000_000_000 },
		"branches":         func(s *umb.System) { s.Branches = 2_000_000_000 },
		"initial states":   func(s *umb.System) { s.InitialStates = 2 },
		"fewer branches":   func(s *umb.System) { s.Branches-- },
		"double":           func(s *umb.System) { s.Probability = &umb.Type{Type: "double"} },
		"short fractions":  func(s *umb.System) { s.Probability = &umb.Type{Type: "rational", Size: 8} },
		"longer fractions": func(s *umb.System) { s.Probability = &umb.Type{Type: "rational", Size: 1 << 20} },
		"stochastic":       func(s *umb.System) { s.Time = "stochastic" },
		"players":          func(s *umb.System) { s.Players = 2 },
		"observations":     func(s *umb.System) { s.Observations = 1 },
	} {
		var out bytes.Buffer
		if err := certificate.Write(t.Context(), &out, membersOf(f.Model, change), f); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := certificate.Read(t.Context(), &out, certificate.Limits{})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; (err == nil) != (name == "") || used > 20<<20 {
			t.Errorf("%s: error %v with %d bytes", name, err, used)
		}
	}
}
