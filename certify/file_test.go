package certify_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/umb"
)

// members writes a model of plain arrays.
func members(m *certificate.Model) func(ctx context.Context, w *umb.Writer) error {
	return membersOf(m, func(*umb.System) {})
}

// membersOf is members of which the index says something else.
func membersOf(m *certificate.Model, change func(*umb.System)) func(ctx context.Context, w *umb.Writer) error {
	return func(_ context.Context, w *umb.Writer) error {
		rational := umb.Type{Type: "rational", Size: 128}
		x := umb.Index{Version: umb.Version, System: umb.System{
			Time: "discrete", States: uint64(m.NumStates()), InitialStates: uint64(m.Initial.Count()),
			Choices: uint64(len(m.FirstTransition) - 1), Branches: uint64(len(m.Target)), Probability: &rational,
		}}
		if m.Kind == certificate.MDP {
			x.System.Players = 1
		}
		if m.Kind == certificate.CTMC {
			x.System.Time, x.System.ExitRate = "stochastic", &rational
		}
		var rewards umb.Group
		for i, r := range m.Rewards {
			rewards = append(rewards, umb.Named[umb.Annotation]{Name: fmt.Sprint("r", i), Value: umb.Annotation{
				Alias: &r.Name, AppliesTo: []string{"states", "choices"}, Type: rational,
			}})
		}
		x.Annotations = umb.Ordered[umb.Group]{{Name: "rewards", Value: rewards}}
		change(&x.System)
		text, err := json.Marshal(x)
		if err != nil {
			return err
		}
		numbers := func(name string, column []uint32) {
			w.File(name, int64(16*len(column)), func(b *bufio.Writer) {
				for _, k := range column {
					umb.PutRat(b, m.Numbers[k], 16)
				}
			})
		}
		w.File(umb.IndexFile, int64(len(text)), func(b *bufio.Writer) { _, _ = b.Write(text) })
		if m.FirstChoice != nil {
			w.Offsets(umb.StateChoices, m.NumStates(), func(s int) int { return int(m.FirstChoice[s+1] - m.FirstChoice[s]) })
		}
		w.Offsets(umb.ChoiceRows, len(m.FirstTransition)-1, func(c int) int { return int(m.FirstTransition[c+1] - m.FirstTransition[c]) })
		w.File(umb.Targets, int64(8*len(m.Target)), func(b *bufio.Writer) {
			for _, t := range m.Target {
				umb.PutUint64(b, uint64(t))
			}
		})
		numbers(umb.Probabilities, m.Prob)
		if m.ExitRate != nil {
			numbers(umb.ExitRates, m.ExitRate)
		}
		w.Bits(umb.Initial, m.NumStates(), m.Initial.Has)
		for i, r := range m.Rewards {
			numbers(fmt.Sprintf("annotations/rewards/r%d/states/values.bin", i), r.State)
			numbers(fmt.Sprintf("annotations/rewards/r%d/choices/values.bin", i), r.Choice)
		}
		return nil
	}
}

// written is the file of a certificate.
func written(t testing.TB, f *certificate.File) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := certificate.Write(t.Context(), &out, members(f.Model), f); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRoundTrip reads what was written.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		f := randomCertificate(rng).f
		text := written(t, f)
		for _, zip := range []bool{false, true} {
			if zip {
				var out bytes.Buffer
				z := certificate.Compress(&out)
				_, _ = z.Write(text)
				_ = z.Close()
				text = out.Bytes()
			}
			got, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !reflect.DeepEqual(spelt(got.Model), spelt(f.Model)) {
				t.Fatalf("seed %d: model %v, want %v", seed, spelt(got.Model), spelt(f.Model))
			}
			got.Model = f.Model
			a, b := fmt.Sprintf("%+v", plain(got)), fmt.Sprintf("%+v", plain(f))
			if a != b {
				t.Fatalf("seed %d: %s, want %s", seed, a, b)
			}
		}
	}
}

// spelt is a model whose numbers are not shared.
func spelt(m *certificate.Model) []any {
	numbers := func(column []uint32) (out []string) {
		for _, k := range column {
			out = append(out, m.Numbers[k].RatString())
		}
		return out
	}
	out := []any{m.Kind, m.FirstChoice, m.FirstTransition, m.Target, numbers(m.Prob), numbers(m.ExitRate), m.Initial}
	for _, r := range m.Rewards {
		out = append(out, r.Name, numbers(r.State), numbers(r.Choice))
	}
	return out
}

// plain follows the pointers of sets and vectors.
func plain(f *certificate.File) (out []any) {
	for _, s := range f.Sets {
		out = append(out, s)
	}
	for _, v := range f.Vectors {
		for _, x := range []*certificate.Values{v.Lower, v.Upper, v.LowerBias, v.UpperBias} {
			if x != nil {
				out = append(out, *x)
			}
		}
		out = append(out, v.Lower == v.Upper, v.Rank, v.Layer, v.Kind, v.IsMaximum, v.Left, v.Right, v.Reward, v.From, v.To)
	}
	return append(out, f.Claims)
}

// randomCertificate proves a property of a random model, in fractions or, where that
// goes with the values, in multiples of a power of two.
func randomCertificate(rng *rand.Rand) proved {
	m := randomModel(rng, []certificate.Kind{certificate.DTMC, certificate.MDP, certificate.MDP, certificate.CTMC}[rng.IntN(4)])
	n := m.NumStates()
	kind := []certificate.VectorKind{certificate.Until, certificate.ReachReward, certificate.TotalReward}[rng.IntN(3)]
	p := prove(m, kind, rng.IntN(2) == 0, randomSet(rng, n), randomSet(rng, n))
	v := &p.f.Vectors[0]
	if fixed := fixedOf(v.Lower); fixed != nil {
		v.Lower, v.Upper = fixed, fixed
	}
	return p
}

// fixedOf are the values as multiples of a power of two, if they are.
func fixedOf(v *certificate.Values) *certificate.Values {
	out := &certificate.Values{Scale: 39, Infinite: v.Infinite}
	for _, x := range v.Fractions {
		y := new(big.Rat).Mul(x, big.NewRat(1<<39, 1))
		if !y.IsInt() {
			return nil
		}
		out.Fixed = append(out.Fixed, y.Num().Uint64())
	}
	return out
}

// TestAbove: values that are a bit above others are written as what they are more, and read
// as they were. One that says that it is above what is not there, or too far, is refused.
func TestAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	m := randomModel(rng, certificate.DTMC)
	n := m.NumStates()
	lower, upper := &certificate.Values{Scale: 62}, &certificate.Values{Scale: 62}
	for range n {
		lower.Fixed, upper.Fixed = append(lower.Fixed, 1<<64-9), append(upper.Fixed, 1<<64-2)
	}
	f := &certificate.File{
		Model: m, Sets: []certificate.Set{{Kind: certificate.All}},
		Vectors: []certificate.Vector{{Kind: certificate.TotalReward, Lower: lower, Upper: upper}},
	}
	text := written(t, f)
	g, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
	if err != nil || !reflect.DeepEqual(g.Vectors[0].Upper, upper) || !reflect.DeepEqual(g.Vectors[0].Lower, lower) {
		t.Fatalf("%v, read as %+v", err, g)
	}
	for want, change := range map[string][2]string{
		"wanted an earlier column": {`"above": "lower"`, `"above": "upper"`},
		"has another scale":        {"", ""},
		"does not fit 64 bits":     {string(bytes.Repeat([]byte{7}, n)), string(bytes.Repeat([]byte{9}, n))},
	} {
		bad := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if want == "has another scale" {
			at := bytes.LastIndex(text, []byte(`"scale": 62`))
			bad = bytes.Clone(text)
			copy(bad[at:], `"scale": 61`)
		}
		if bytes.Equal(bad, text) {
			t.Fatalf("%s: nothing was changed", want)
		}
		if _, err := certificate.Read(t.Context(), bytes.NewReader(bad), certificate.Limits{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}

// TestLongStatements: nobody spells out what would be gigabytes, however it is made: by sets
// that have others twice, by a long number, or by a long name.
func TestLongStatements(t *testing.T) {
	long, _ := new(big.Rat).SetString("1e-100000")
	for what, change := range map[string]func(f *certificate.File){
		"text":      func(f *certificate.File) { f.Sets[1].Text = strings.Repeat("x", 1e5) },
		"threshold": func(f *certificate.File) { f.Sets[2].Threshold = long },
		"name":      func(f *certificate.File) { f.Model.Rewards[0].Name = strings.Repeat("x", 1e5) },
		"bound": func(f *certificate.File) {
			f.Model.Kind = certificate.MDP
			f.Vectors[0] = certificate.Vector{Kind: certificate.Objectives, Several: &certificate.Several{Objectives: []certificate.Objective{{Reward: 0, Steps: -1, Bound: long}}, States: 1}}
		},
		"": func(*certificate.File) {},
	} {
		m := &certificate.Model{
			Kind: certificate.DTMC, FirstTransition: []uint32{0, 1}, Target: []uint32{0}, Prob: []uint32{0},
			Numbers: []*big.Rat{big.NewRat(1, 1)}, Initial: certificate.Bits{1}, Rewards: []certificate.Reward{{Name: "r"}},
		}
		f := &certificate.File{
			Model: m, Vectors: []certificate.Vector{{Kind: certificate.ReachReward, Right: 1}},
			Sets: []certificate.Set{{Kind: certificate.All}, {Kind: certificate.Atomic, Text: "x", Bits: certificate.Bits{1}}, {Kind: certificate.Bound, Relation: ">", Threshold: new(big.Rat)}},
		}
		for i := range 8 { // 256 times
			f.Sets = append(f.Sets, certificate.Set{Kind: certificate.And, Sets: []int{i + 2, i + 2}})
		}
		f.Claims = []certificate.Claim{{Vector: -1, Set: len(f.Sets) - 1}}
		change(f)
		if _, err := certify.Check(t.Context(), f); (err != nil && strings.Contains(err.Error(), "bytes to say what it is")) != (what != "") {
			t.Errorf("%s: found %v", what, err)
		}
	}
}
