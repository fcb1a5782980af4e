package certify_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
)

// said is what the second checker says of a file.
func said(t *testing.T, text []byte) string {
	f, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
	if err != nil {
		return "no\n"
	}
	results, err := certify.Check(t.Context(), f)
	if err != nil {
		return "no\n"
	}
	out := ""
	number := func(x *big.Rat) string {
		if x == nil {
			return "inf"
		}
		return x.RatString()
	}
	for _, r := range results {
		switch {
		case r.Err != nil:
			out += "no\n"
		case r.Number:
			out += fmt.Sprintf("value %s %s\n", number(r.Lower), number(r.Upper))
		default:
			out += fmt.Sprintf("%v\n", r.Holds)
		}
	}
	return out
}

// TestSecondChecker: a checker in Python, which was written for this test alone, says
// the same of every certificate, true and false ones.
func TestSecondChecker(t *testing.T) {
	python := needs.Python(t)
	dir := t.TempDir()
	var names, want []string
	all := attacks()
	add := func(text []byte) {
		name := filepath.Join(dir, fmt.Sprint(len(names), ".cert"))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		names, want = append(names, name), append(want, said(t, text))
	}
	for seed := range needs.Some(uint64(120)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := randomCertificate(rng)
		derive(rng, p.f)
		text := written(t, p.f)
		add(text)
		add(text[:rng.IntN(len(text)-2048)])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if f := clone(p.f); all[name](rng, f) {
				add(written(t, f))
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{"testdata/check.py"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(out), "\n")
	accepted, rejected := 0, 0
	for i, name := range names {
		n := strings.Count(want[i], "\n")
		if len(lines) < n {
			t.Fatalf("%d lines are missing", n)
		}
		got := strings.Join(lines[:n], "")
		lines = lines[n:]
		accepted, rejected = accepted+n-strings.Count(want[i], "no\n"), rejected+strings.Count(want[i], "no\n")
		if !agrees(got, want[i]) {
			kept := filepath.Join(os.TempDir(), filepath.Base(name))
			_ = os.Rename(name, kept)
			t.Fatalf("%s: the second checker says %q, want %q", kept, got, want[i])
		}
	}
	t.Logf("%d files: %d claims accepted and %d rejected by both", len(names), accepted, rejected)
	if accepted == 0 || rejected == 0 {
		t.Error("one of them is missing")
	}
}

// someTime is a time at the rate of a model's fastest state, or sometimes a faster rate or
// one that is too slow, computed with few digits or many.
func someTime(rng *rand.Rand, m *certificate.Model, from, to int) *certificate.Timed {
	t := &certificate.Timed{From: big.NewRat(int64(from), 3), To: big.NewRat(int64(to), 3), Rate: new(big.Rat), Scale: []uint{20, 40, 55, 100}[rng.IntN(4)]}
	for _, k := range m.ExitRate {
		if m.Numbers[k].Cmp(t.Rate) > 0 {
			t.Rate.Set(m.Numbers[k])
		}
	}
	if k := rng.IntN(6); k < 2 {
		t.Rate.Mul(t.Rate, big.NewRat(int64(2+3*k), 4))
	}
	return t
}

// agrees reports whether two checkers say the same. Values of a time are computed in other
// ways: those of the second are nearer to the truth, but for less than 2^-100.
func agrees(second, first string) bool {
	a, b := strings.Fields(second), strings.Fields(first)
	if len(a) != len(b) {
		return false
	}
	slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 100))
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		x, ok := new(big.Rat).SetString(a[i])
		y, also := new(big.Rat).SetString(b[i])
		if !ok || !also {
			return false
		}
		d := x.Sub(x, y)
		if b[i-1] != "value" { // an upper bound
			d.Neg(d)
		}
		if far, _ := d.Float64(); d.Cmp(slack.Neg(slack)) < 0 || far > 1e-3 {
			return false
		}
		slack.Abs(slack)
	}
	return true
}

// derive adds sets and vectors without columns, and claims of them.
func derive(rng *rand.Rand, f *certificate.File) {
	set := func(s certificate.Set) { f.Sets = append(f.Sets, s) }
	some := func() int { return rng.IntN(len(f.Sets)) }
	x := f.Vectors[0].Lower.Rat(rng.IntN(f.Model.NumStates()))
	if x == nil {
		x = big.NewRat(3, 2)
	}
	set(certificate.Set{Kind: certificate.Bound, Relation: []string{"<", "<=", ">", ">="}[rng.IntN(4)], Threshold: x})
	for range 4 {
		switch rng.IntN(7) {
		case 6:
			set(certificate.Set{Kind: []certificate.SetKind{certificate.ArgMin, certificate.ArgMax}[rng.IntN(2)], Sets: []int{some()}})
		case 0:
			set(certificate.Set{Kind: certificate.Not, Sets: []int{some()}})
		case 1:
			set(certificate.Set{Kind: certificate.And, Sets: []int{some(), some()}})
		case 2:
			set(certificate.Set{Kind: certificate.Or, Sets: []int{some(), some(), some()}})
		case 3:
			set(certificate.Set{Kind: certificate.ExistsNext, Sets: []int{some()}})
		case 4:
			set(certificate.Set{Kind: certificate.ForallNext, Sets: []int{some()}})
		case 5:
			set(certificate.Set{Kind: certificate.All})
		}
	}
	for _, kind := range []certificate.VectorKind{certificate.Steps, certificate.Next, certificate.Cumulative, certificate.Instant} {
		v := certificate.Vector{Kind: kind, IsMaximum: rng.IntN(2) == 0, Left: some(), Right: some(), To: rng.IntN(6)}
		if kind == certificate.Steps {
			v.From = rng.IntN(v.To + 1)
		}
		if kind != certificate.Next && f.Model.Kind == certificate.CTMC {
			v.Timed = someTime(rng, f.Model, v.From, v.To)
			v.From, v.To = 0, 0
		}
		f.Claims = append(f.Claims, certificate.Claim{Vector: len(f.Vectors), Set: -1, OverSet: 2, Operator: []string{"", "min", "max", "sum", "avg", "first"}[rng.IntN(6)], Complement: kind == certificate.Next})
		f.Vectors = append(f.Vectors, v)
	}
	for i := range f.Sets {
		f.Claims = append(f.Claims, certificate.Claim{Vector: -1, Set: i, OverSet: some(), Holds: rng.IntN(2) == 0, Operator: []string{"", "exists", "count", "first"}[rng.IntN(4)]})
	}
}
