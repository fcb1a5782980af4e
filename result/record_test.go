package result_test

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

func TestVerdicts(t *testing.T) {
	half, seed := 0.0, uint64(math.MaxUint64)
	successes := int64(0)
	verdicts := []result.Verdict{
		{},
		{
			Property: "P=? [ F \"a\" ]", Name: "x", Constants: []result.Constant{{Name: "N", Value: "3"}}, Engine: "native", Tool: "t", Method: "states",
			Value:    result.Value{Kind: result.Number, Num: 1.0 / 3, Rat: big.NewRat(1, 3)},
			Accuracy: result.Exact, Resolution: result.Maximum, States: 1, Choices: 2, Transitions: 3, Seconds: 0.25, Warnings: []string{"w"}, Doubt: "d",
		},
		{
			Value: result.Value{Kind: result.Range, Num: math.Inf(-1), Hi: math.Inf(1)}, Accuracy: result.Probable,
			Bound: &result.Interval{Lo: math.Copysign(0, -1), Hi: math.SmallestNonzeroFloat64}, BoundMethod: "m", HalfWidth: &half,
			Confidence: 0.99, Successes: &successes, Samples: 1 << 60, Steps: &result.Steps{Min: 1, Max: 2, Mean: 1.5}, Seed: &seed,
		},
		{Err: &result.Failure{Class: result.Model, Message: "m", File: "f", Pos: syntax.Pos{Line: 2, Col: 3}}},
		{Value: result.Value{Kind: result.Curve, Points: [][]float64{{0.5, 3}}, RatPoints: [][]*big.Rat{{big.NewRat(1, 2), big.NewRat(3, 1)}}}, Accuracy: result.Exact},
		{Value: result.Value{Kind: result.Curve, Points: [][]float64{{0.25}}, RatPoints: [][]*big.Rat{{big.NewRat(1, 4)}}}, Accuracy: result.Exact},
		{Value: result.Value{Kind: result.Curve, Num: 1e-6, Points: [][]float64{{0, 0.8}, {0.5, math.Inf(1)}}}, Accuracy: result.Bounded},
		{Value: result.Value{Kind: result.Function, Formula: "(p+1)/q"}, Accuracy: result.Exact},
		{Value: result.Value{Kind: result.Function, Formula: "Infinity"}}, // which is a name
		{Value: result.Value{Kind: result.Integer, Num: 1e22}},
		{Value: result.Value{Kind: result.Number, Num: 3}},
		{Value: result.Value{Kind: result.Integer, Num: 3, Rat: big.NewRat(3, 1)}},
		{Value: result.Value{Kind: result.Number, Num: math.Inf(1)}},
		{Value: result.Value{Kind: result.Integer, Num: math.Inf(-1)}},
		{Value: result.Value{Kind: result.Boolean, Bool: true}, Accuracy: result.Claimed, Doubt: "results are unreliable"},
		{Listings: []result.Listing{{Zeros: true, Left: 7, Values: []result.StateValue{
			{State: 3, Valuation: "(1,true)", Value: result.Value{Kind: result.Number, Num: 0.5, Rat: big.NewRat(1, 2)}}, {Valuation: "()"},
		}}}},
		{Quantiles: []result.Quantile{{Level: 0.5, Value: 3, Lower: 2, Upper: 4, Tail: 5, TailLower: 4, TailUpper: result.JSONNumber(math.Inf(1))}}},
		{Witnesses: []result.Witness{{Holds: true, Wanted: ">1/2", Count: 2, Sum: 0.75, SumFraction: "3/4", Paths: []result.WitnessPath{{Steps: []result.WitnessStep{
			{Action: "a", Probability: 1, State: result.Valuation{{Name: "x", Value: "true"}, {Name: "y", Value: "-3"}}},
		}}}, Part: &result.WitnessPart{States: 3, Commands: []result.WitnessCommand{{Module: "m", Line: 3, Text: "[] true -> true;"}}}}}},
	}
	data, err := result.EncodeVerdicts(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := result.DecodeVerdicts(data)
	if err != nil || !reflect.DeepEqual(got, verdicts) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, verdicts)
	}
	old, err := result.DecodeVerdicts(bytes.ReplaceAll(data, []byte(`"method":"states"`), []byte(`"method":"exact"`))) // of 0.1
	if err != nil || !reflect.DeepEqual(old, verdicts) {
		t.Errorf("method exact: %+v, %v", old, err)
	}
	if !math.Signbit(got[2].Bound.Lo) {
		t.Error("a negative zero became positive")
	}
	nan, err := result.EncodeVerdicts([]result.Verdict{{Value: result.Value{Kind: result.Number, Num: math.NaN()}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := result.DecodeVerdicts(nan); err != nil || !math.IsNaN(got[0].Value.Num) {
		t.Errorf("NaN: got %+v, %v", got, err)
	}
}

// TestAllFields: whoever adds a field to a verdict is reminded of its record.
func TestAllFields(t *testing.T) {
	for typ, want := range map[reflect.Type]int{
		reflect.TypeFor[result.Verdict](): 28, reflect.TypeFor[result.Value](): 8, reflect.TypeFor[result.Failure](): 5, // MissesShards is of a merge, which is not recorded
		reflect.TypeFor[result.Steps](): 3, reflect.TypeFor[result.Interval](): 2, reflect.TypeFor[result.Listing](): 3, reflect.TypeFor[result.StateValue](): 3,
	} {
		if n := typ.NumField(); n != want {
			t.Errorf("%v has %d fields, %d are kept", typ, n, want)
		}
	}
}

// TestDecodeDamage: damaged text is an error or some verdicts, and no panic.
// The seed is fixed; no other can fail either.
func TestDecodeDamage(t *testing.T) {
	data, err := result.EncodeVerdicts([]result.Verdict{{Property: "p", Bound: &result.Interval{Lo: 1, Hi: 2}, Err: &result.Failure{Class: result.Model}}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 2000 {
		text := bytes.Clone(data)
		text[rng.IntN(len(text))] = byte(rng.IntN(256))
		if _, err := result.DecodeVerdicts(text); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

// Before schema 3 a failure had one place, in the member position.
func TestOldPosition(t *testing.T) {
	verdicts, err := result.DecodeVerdicts([]byte(`[{"property":"P=? [ F x ]","error":{"class":"type","message":"no x","position":{"file":"a.props","line":3,"column":9}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := result.Failure{Class: result.TypeError, Message: "no x", File: "a.props", Pos: syntax.Pos{Line: 3, Col: 9}}
	if got := verdicts[0].Err; got == nil || *got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
	places := result.NewRecord(&verdicts[0]).Error.Places
	if len(places) != 1 || places[0] != (result.Place{File: "a.props", Line: 3, Column: 9, Message: "no x"}) {
		t.Errorf("the places are %+v", places)
	}
}

// TestReportedAccuracy checks that a sampled number without an interval is printed as estimated, and read back as sampled.
func TestReportedAccuracy(t *testing.T) {
	verdict := result.Verdict{Value: result.Value{Kind: result.Number, Num: 5}, Accuracy: result.Probable, Samples: 100, Confidence: 0.99}
	for _, bound := range []*result.Interval{nil, {Lo: 4, Hi: 6}} {
		verdict.Bound = bound
		want := result.Estimated
		if bound != nil {
			want = result.Probable
		}
		record := result.NewRecord(&verdict)
		if record.Accuracy != want.String() {
			t.Errorf("bound %v: accuracy %s, want %v", bound, record.Accuracy, want)
		}
		read, err := record.Verdict()
		if err != nil || read.Accuracy != result.Probable {
			t.Errorf("bound %v: read back %+v, %v", bound, read, err)
		}
	}
}
