package certify_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
)

// evolved is e^(Qt) x, or its integral from 0 to t, of a CTMC in which some states stay as
// they are: the series of the matrix exponential with 400 bits, without uniformisation.
func evolved(m *certificate.Model, x []*big.Float, moves func(s int) bool, t *big.Rat, integral bool) []*big.Float {
	number := func(r *big.Rat) *big.Float { return new(big.Float).SetPrec(400).SetRat(r) }
	sum := make([]*big.Float, len(x))
	term := make([]*big.Float, len(x))
	for s := range x {
		term[s], sum[s] = number(new(big.Rat)).Set(x[s]), number(new(big.Rat))
		if integral {
			term[s].Mul(term[s], number(t))
		}
		sum[s].Set(term[s])
	}
	for k := int64(1); k < 300; k++ {
		next, by := make([]*big.Float, len(x)), k
		if integral {
			by++
		}
		for s := range x {
			next[s] = number(new(big.Rat))
			if !moves(s) {
				continue
			}
			lo, hi := m.Row(s)
			for i := lo; i < hi; i++ {
				next[s].Add(next[s], new(big.Float).Mul(number(m.Numbers[m.Prob[i]]), term[m.Target[i]]))
			}
			next[s].Sub(next[s], term[s])
			next[s].Mul(next[s], number(m.Numbers[m.ExitRate[s]]))
			next[s].Mul(next[s], number(new(big.Rat).Quo(t, big.NewRat(by, 1))))
			sum[s].Add(sum[s], next[s])
		}
		term = next
	}
	return sum
}

// timedTruth is what a timed vector of a model is about.
func timedTruth(f *certificate.File, v *certificate.Vector) []*big.Float {
	m, n := f.Model, f.Model.NumStates()
	x := make([]*big.Float, n)
	zero := func() *big.Float { return new(big.Float).SetPrec(400) }
	switch v.Kind {
	case certificate.Instant, certificate.Cumulative:
		r := m.Rewards[v.Reward]
		for s := range x {
			x[s] = zero().SetRat(m.Numbers[r.State[s]])
			if v.Kind == certificate.Cumulative {
				jump := new(big.Rat).Mul(m.Numbers[r.Choice[s]], m.Numbers[m.ExitRate[s]])
				x[s].Add(x[s], zero().SetRat(jump))
			}
		}
		return evolved(m, x, func(int) bool { return true }, v.Timed.To, v.Kind == certificate.Cumulative)
	}
	left, right := f.Sets[v.Left].Bits, f.Sets[v.Right].Bits
	for s := range x {
		x[s] = zero()
		if right.Has(s) {
			x[s].SetInt64(1)
		}
	}
	x = evolved(m, x, func(s int) bool { return left.Has(s) && !right.Has(s) }, new(big.Rat).Sub(v.Timed.To, v.Timed.From), false)
	if v.Timed.From.Sign() > 0 {
		for s := range x {
			if !left.Has(s) {
				x[s] = zero()
			}
		}
		x = evolved(m, x, left.Has, v.Timed.From, false)
	}
	return x
}

// TestTime: what is proven of a time contains what the matrix exponential says, is as narrow
// as its numbers allow, and is rejected at a rate that a state exceeds. What is claimed of
// another time, or a bit more than is proven, is rejected, too.
func TestTime(t *testing.T) {
	rejected, wide := 0, 0
	for seed := range needs.Some(uint64(60)) {
		rng := rand.New(rand.NewPCG(seed, 11))
		m := randomModel(rng, certificate.CTMC)
		f := &certificate.File{Model: m, Sets: []certificate.Set{
			{Kind: certificate.Atomic, Bits: randomSet(rng, m.NumStates())},
			{Kind: certificate.Atomic, Bits: randomSet(rng, m.NumStates())},
			{Kind: certificate.Init},
		}}
		kind := []certificate.VectorKind{certificate.Steps, certificate.Steps, certificate.Cumulative, certificate.Instant}[seed%4]
		time := someTime(rng, m, 0, 1+rng.IntN(9))
		if kind == certificate.Steps {
			time.From.Mul(time.To, big.NewRat(rng.Int64N(3), 3))
		}
		fast := new(big.Rat)
		for _, k := range m.ExitRate {
			if m.Numbers[k].Cmp(fast) > 0 {
				fast.Set(m.Numbers[k])
			}
		}
		f.Vectors = []certificate.Vector{{Kind: kind, Left: 0, Right: 1, Timed: time}}
		f.Claims = []certificate.Claim{{Vector: 0, OverSet: 2}}
		results, err := certify.Check(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if r := results[0]; r.Err != nil {
			if time.Rate.Cmp(fast) >= 0 || !strings.Contains(r.Err.Error(), "is left faster") {
				t.Fatalf("seed %d: %v", seed, r.Err)
			}
			rejected++
			continue
		}
		r := results[0]
		truth, _ := timedTruth(f, &f.Vectors[0])[0].Rat(nil)
		tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200))
		if new(big.Rat).Sub(r.Lower, tiny).Cmp(truth) > 0 || new(big.Rat).Add(r.Upper, tiny).Cmp(truth) < 0 {
			x, _ := truth.Float64()
			t.Fatalf("seed %d: %s in [%s, %s], want %v", seed, r.Statement, r.Lower.FloatString(20), r.Upper.FloatString(20), x)
		}
		width := new(big.Rat).Sub(r.Upper, r.Lower)
		if limit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), time.Scale-14)); width.Cmp(limit) > 0 {
			t.Errorf("seed %d: %s in [%s, %s], which is wide", seed, r.Statement, r.Lower.FloatString(20), r.Upper.FloatString(20))
		}
		if width.Sign() == 0 { // a state whose value does not change
			continue
		}
		wide++
		f.Claims[0].Lower = new(big.Rat).Add(r.Lower, tiny).RatString()
		later := *time
		later.To = new(big.Rat).Add(time.To, big.NewRat(1, 100))
		other := *f
		other.Vectors = []certificate.Vector{{Kind: kind, Left: 0, Right: 1, Timed: &later}}
		other.Claims = []certificate.Claim{{Vector: 0, OverSet: 2, Lower: r.Lower.RatString(), Upper: r.Upper.RatString()}}
		for _, g := range []*certificate.File{f, &other} {
			if g == &other { // which may have the same value
				x, _ := timedTruth(g, &g.Vectors[0])[0].Rat(nil)
				if x.Cmp(r.Lower) >= 0 && x.Cmp(r.Upper) <= 0 {
					continue
				}
			}
			results, err := certify.Check(t.Context(), g)
			if err != nil || results[0].Err == nil {
				t.Errorf("seed %d: a false claim is accepted: %v, %v", seed, results, err)
			}
		}
	}
	if rejected == 0 || wide == 0 {
		t.Errorf("%d rates were too slow, %d values were proven by steps", rejected, wide)
	}
}

// TestTimeForms: times that are none, or that would take for ever, are refused by name.
func TestTimeForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 11))
	m := randomModel(rng, certificate.CTMC)
	for want, change := range map[string]func(v *certificate.Vector, m *certificate.Model){
		"none where it is wanted": func(v *certificate.Vector, _ *certificate.Model) { v.Timed = nil },
		"of a dtmc":               func(_ *certificate.Vector, m *certificate.Model) { m.Kind, m.ExitRate = certificate.DTMC, nil },
		"an empty time interval":  func(v *certificate.Vector, _ *certificate.Model) { v.Timed.From = big.NewRat(9, 1) },
		"missing, negative":       func(v *certificate.Vector, _ *certificate.Model) { v.Timed.From = big.NewRat(-1, 1) },
		"the rate 0":              func(v *certificate.Vector, _ *certificate.Model) { v.Timed.Rate = new(big.Rat) },
		"a time in steps":         func(v *certificate.Vector, _ *certificate.Model) { v.To = 3 },
		"9999 binary places":      func(v *certificate.Vector, _ *certificate.Model) { v.Timed.Scale = 9999 },
		"longer than a million steps": func(v *certificate.Vector, _ *certificate.Model) {
			v.Timed.Rate = big.NewRat(1<<40, 1)
		},
		"or too long": func(v *certificate.Vector, _ *certificate.Model) {
			v.Timed.To = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1<<13))
		},
	} {
		model := *m
		f := &certificate.File{Model: &model, Sets: []certificate.Set{{Kind: certificate.All}, {Kind: certificate.Atomic, Bits: certificate.Bits{2}}, {Kind: certificate.Init}}}
		f.Vectors = []certificate.Vector{{Kind: certificate.Steps, Right: 1, Timed: &certificate.Timed{From: new(big.Rat), To: big.NewRat(2, 1), Rate: big.NewRat(100, 1), Scale: 50}}}
		f.Claims = []certificate.Claim{{Vector: 0, OverSet: 2}}
		change(&f.Vectors[0], &model)
		results, err := certify.Check(t.Context(), f)
		if err == nil {
			err = results[0].Err
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}
