package check_test

import (
	"context"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/result"
)

// ask checks properties, one per line, of a model.
func ask(t *testing.T, ctx context.Context, src, props string, opts check.Options) []result.Verdict {
	t.Helper()
	c, _, list := checkerOf(t, src, props, opts)
	var out []result.Verdict
	for _, p := range list {
		out = append(out, c.Check(ctx, p))
	}
	return out
}

// checkerOf returns a checker of a model, its states, and properties.
func checkerOf(t *testing.T, src, props string, opts check.Options) (*check.Checker, *explicit.Space, []*check.Property) {
	t.Helper()
	m := explicittest.Compile(t, src)
	s, err := explicit.Build(t.Context(), m, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return check.New(m, s, opts), s, properties(t, m.Program(), props)
}

// The walk on 0..4 that starts at 2: the top is reached with probability 1/2,
// after 4 steps on average; within 2 steps with probability 1/4.
const fair = `dtmc
module m s:[0..4] init 2; [] s>0&s<4 -> 0.5:(s'=s-1)+0.5:(s'=s+1); [] s=0|s=4 -> true; endmodule
rewards s>0&s<4 : 1; endrewards`

func TestValues(t *testing.T) {
	tests := []struct {
		property string
		value    string // the fraction
	}{
		{"P=? [ F s=4 ]", "1/2"},
		{"P=? [ F<=2 s=4 ]", "1/4"},
		{"P=? [ F<3 s=4 ]", "1/4"},
		{"P=? [ F[4,4] s=4 ]", "3/8"},
		{"P=? [ F>=5 s=3 ]", "1/6"}, // in 2 after 4 steps (1/4), then 3 at once (1/2) or by way of 1 (1/2*1/3)
		{"P=? [ G s>0 ]", "1/2"},
		{"P=? [ G<=2 s>0 ]", "3/4"},
		{"P=? [ s<4 W s=0 ]", "1/2"},
		{"P=? [ s=0 R s<4 ]", "1/2"},
		{"P=? [ X s=3 ]", "1/2"},
		{"P=? [ !(X s=3) ]", "1/2"},
		{"R=? [ F s=0|s=4 ]", "4"},
		{"R=? [ C ]", "4"},
		{"R=? [ C<=2 ]", "2"},
		{"R=? [ C<=3 ]", "5/2"},
		{"R=? [ I=2 ]", "1/2"},
		{"R=? [ S ]", "0"},
		{"S=? [ s=4 ]", "1/2"},
		{"1-2*P=? [ F<=2 s=4 ]", "1/2"},
		{"filter(sum, P=? [ F s=4 ], s>0)", "5/2"},
		{"filter(avg, P=? [ F s=4 ])", "1/2"},
		{"filter(max, P=? [ F s=4 ], s<4)", "3/4"},
		{"filter(count, P>=0.5 [ F s=4 ])", "3"},
		{"filter(first, P=? [ F s=4 ], s>0)", "1/4"},
		{"filter(state, P=? [ F s=4 ], s=3)", "3/4"},
		{"P=? [ F P>=0.75 [ F s=4 ] ]", "2/3"}, // 3 or 4: reached before 0
	}
	var text strings.Builder
	for _, tt := range tests {
		text.WriteString(tt.property + ";\n")
	}
	exact := ask(t, t.Context(), fair, text.String(), check.Options{Accuracy: result.Exact})
	bounds := ask(t, t.Context(), fair, text.String(), check.Options{})
	float := ask(t, t.Context(), fair, text.String(), check.Options{Accuracy: result.Estimated, Epsilon: 1e-12})
	for i, tt := range tests {
		want, _ := new(big.Rat).SetString(tt.value)
		f, _ := want.Float64()
		switch x := exact[i]; {
		case x.Err != nil:
			t.Errorf("%s: %v", tt.property, x.Err)
		case x.Value.Rat == nil || x.Value.Rat.Cmp(want) != 0 || x.Accuracy != result.Exact:
			t.Errorf("%s: %v %v, want %s", tt.property, x.Value.Rat, x.Accuracy, tt.value)
		}
		switch v := bounds[i]; {
		case v.Err != nil:
			t.Errorf("%s: %v", tt.property, v.Err)
		case v.Bound == nil || v.Bound.Lo > f || v.Bound.Hi < f || v.Bound.Hi-v.Bound.Lo > 1e-8*f:
			t.Errorf("%s: %v, want %s", tt.property, v.Bound, tt.value)
		case !v.Bound.Contains(v.Value.Num):
			t.Errorf("%s: value %v outside %v", tt.property, v.Value.Num, *v.Bound)
		}
		if strings.Contains(tt.property, ">=0.") {
			continue // values that are iterated from below miss their bounds
		}
		if v := float[i]; v.Err != nil || v.Value.Num < f*(1-1e-9) || v.Value.Num > f*(1+1e-9) {
			t.Errorf("%s: estimate %v, %v, want %s", tt.property, v.Value.Num, v.Err, tt.value)
		}
	}
}

// TestDecisions: a value that equals its bound is compared exactly.
func TestDecisions(t *testing.T) {
	const props = `P>=0.5 [ F s=4 ]; P>0.5 [ F s=4 ]; P<=0.5 [ F s=4 ]; P<0.5 [ F s=4 ];
P>=1/4 [ F<=2 s=4 ]; P>1/4 [ F<=2 s=4 ]; R<=4 [ F s=0|s=4 ]; R<4 [ F s=0|s=4 ];
P=?[ F s=4 ] = P=?[ F s=0 ]; P=?[ F s=4 ] < P=?[ F s=0 ]; S>=0.5 [ s=4 ]; P>=1 [ F s=0|s=4 ]; P<1 [ F s=0|s=4 ];
filter(forall, P>=0.25 [ F s=4 ], s>0); filter(exists, P>=0.75 [ F s=4 ], s<4); filter(argmax, P=? [ F s=4 ]) | s=2;
floor(2*P=? [ F s=4 ]) = 1; P>=0.5 [ F P>=0.5 [ F s=4 ] ]`
	want := []bool{
		true, false, true, false,
		true, false, true, false,
		true, false, true, true, false,
		true, true, true,
		true, true,
	}
	for i, v := range ask(t, t.Context(), fair, props, check.Options{}) {
		if v.Err != nil || v.Value.Kind != result.Boolean || v.Value.Bool != want[i] {
			t.Errorf("%s: %v %v, want %v", v.Property, v.Value.Bool, v.Err, want[i])
		}
	}
	for _, v := range ask(t, t.Context(), fair, "P>=0.5 [ F s=4 ]; P>=0.4 [ F s=4 ]", check.Options{ExactStates: -1}) {
		if strings.Contains(v.Property, "0.4") {
			if v.Err != nil || !v.Value.Bool {
				t.Errorf("%s: %v, want true", v.Property, v.Err)
			}
		} else if v.Err == nil || v.Err.Class != result.NonConverge || !strings.Contains(v.Err.Message, "5 states are too many to try fractions") {
			t.Errorf("%s: %v, want undecided", v.Property, v.Err)
		}
	}
}

// The scheduler may go to 1 surely, or to 2 with probability 1/2, else to 3.
const choice = `mdp
module m s:[0..3]; [a] s=0 -> (s'=1); [b] s=0 -> 0.5:(s'=2)+0.5:(s'=3); [] s>0 -> true; endmodule
rewards "r" [a] true : 1; [b] true : 3; endrewards`

func TestSchedulers(t *testing.T) {
	const props = `Pmin=? [ F s=2 ]; Pmax=? [ F s=2 ]; Rmin=? [ F s>0 ]; Rmax=? [ F s>0 ];
P>=0.5 [ F s=2 ]; P<=0.5 [ F s=2 ]; P<0.5 [ F s=2 ]; P>=0 [ F s=2 ];
<<*>> P>=0.5 [ F s=2 ]; <<>> P>=0.5 [ F s=2 ]; [[*]] P>=0.5 [ F s=2 ]; [[]] P>=0.5 [ F s=2 ];
E [ F s=3 ]; A [ F s=3 ]; A [ F s>0 ]; E [ G s=0 ]; E [ X s=1 ]; A [ s=0 U s>0 ]; E [ s=0 W s=3 ]; A [ s=0 W s>0 ]; A [ s<2 R s<3 ]`
	want := []string{
		"0", "0.5", "1", "3",
		"false", "true", "false", "true",
		"true", "false", "false", "true",
		"true", "false", "true", "false", "true", "true", "true", "true", "true",
	}
	resolution := []result.Resolution{result.Minimum, result.Maximum, result.Minimum, result.Maximum, result.Minimum, result.Maximum, result.Maximum, result.Minimum}
	for i, v := range ask(t, t.Context(), choice, props, check.Options{}) {
		if v.Err != nil {
			t.Errorf("%s: %v", v.Property, v.Err)
			continue
		}
		got := "false"
		switch {
		case v.Value.Kind == result.Number:
			got = big.NewFloat(v.Value.Num).String()
		case v.Value.Bool:
			got = "true"
		}
		if got != want[i] {
			t.Errorf("%s: %s, want %s", v.Property, got, want[i])
		}
		if i < len(resolution) && v.Resolution != resolution[i] {
			t.Errorf("%s: resolution %v, want %v", v.Property, v.Resolution, resolution[i])
		}
	}
}

// TestRefusals: what cannot be answered is refused with its place, and what it is.
func TestRefusals(t *testing.T) {
	ctmc := "ctmc module m s:[0..1]; [] s=0 -> 2:(s'=1); [] s=1 -> true; endmodule rewards true : 1; endrewards"
	tests := []struct{ src, property, want string }{
		{choice, `P=? [ F s=2 ]`, `p.props:1:1: found P=? for a nondeterministic model, want Pmin=? or Pmax=?`},
		{choice, `R=? [ F s=2 ]`, `p.props:1:1: found R=? for a nondeterministic model, want Rmin=? or Rmax=?`},
		{choice, `S=? [ s=2 ]`, `p.props:1:1: found S=? for a nondeterministic model, want a bound such as S>=0.5, or Smin=? or Smax=? (--dialect storm)`},
		{choice, `Rmin=? [ F (G s=2) ]`, `p.props:1:10: found a path formula in an R operator that is not syntactically co-safe: without negations, it may have X, F and U only`},
		{choice, `Rmin=? [ X (F<=2 s=2) ]`, `p.props:1:13: found a bounded operator within a path formula in an R operator, want operators without bounds`},
		{ctmc, `P=? [ G (F<=2 s=1) ]`, `p.props:1:10: found a time bound in a path formula with several temporal operators (LTL) for a CTMC`},
		{fair, `P=? [ G (F[3,2] s=2) ]`, `p.props:1:14: bounds of the F operator are empty: from step 3 to step 2`},
		{choice, `Pmaxmin=? [ F s=2 ]`, `p.props:1:1: found Pmaxmin=?, which is for models with two kinds of nondeterminism`},
		{fair, `<<*>> P=? [ F s=2 ]`, `p.props:1:1: found a strategy operator (<<>> or [[]]) for a model without nondeterminism`},
		{fair, `P>=1.5 [ F s=2 ]`, `p.props:1:4: bound 1.5 of a probability, want a number from 0 to 1`},
		{fair, `P=? [ F<=2.0 s=2 ]`, `p.props:1:10: time bound of the F operator is a double, want an int for a DTMC`},
		{fair, `P=? [ F<0 s=2 ]`, `p.props:1:9: upper bound <0 of the F operator holds at no time`},
		{fair, `P=? [ F[3,2] s=2 ]`, `p.props:1:11: bounds of the F operator are empty: from step 3 to step 2`},
		{fair, `P=? [ F>=-1 s=2 ]`, `p.props:1:10: lower bound -1 of the F operator is negative`},
		{ctmc, `P=? [ s=2 W>=1 s=3 ]`, `p.props:1:7: found a weak until (W) with a lower bound for a CTMC`},
		{ctmc, `E [ s=2 U<=1 s=3 ]`, `p.props:1:5: found E or A with a time bound`},
		{fair, `R=? [ C<=-1 ]`, `p.props:1:10: time bound -1 of the C operator, want a finite number of at least 0`},
		{fair, `R{2}=? [ C ]`, `p.props:1:3: invalid reward structure index "2", want 1 to 1`},
		{fair, `filter(min, P=? [ F s=2 ], s>4)`, `p.props:1:1: filter satisfies no states`},
		{fair, `filter(state, P=? [ F s=2 ], s>2)`, `p.props:1:1: filter should be satisfied in exactly 1 state, but is in 2`},
		{ctmc, `P=? [ F[2,1] s=1 ]`, `p.props:1:11: bounds [2,1] of the F operator are empty`},
		{ctmc, `R=? [ I=-1 ]`, `p.props:1:9: time bound -1 of the I operator, want a finite number of at least 0`},
		{"mdp module m s:[0..1]; [] true -> (s'=1-s); endmodule rewards s=1 : -2; endrewards", `Rmax=? [ C ]`, `p.props:1:1: found negative rewards and an end that some scheduler misses with positive probability`},
		{"module m s:[0..1]; [] true -> (s'=1-s); endmodule", `Pmax=? [ F s=1 ]`, `p.props:1:1: found a P operator for a model without probabilities, want E or A; the file has no model type, such as dtmc, so it is read as an LTS`},
		{hidden, `Pmax=? [ F G won ]`, `p.props:1:10: found the temporal operator F in a property of a partially observable model, want one of X, F, G, U, W and R of formulas about states`},
		{hidden, `Pmax=? [ F<=3 prize=1 ]`, `p.props:1:15: the target is not observable: it holds in only one of two states with the same observation`},
		{hidden, `Pmax=? [ F prize=1 ]`, `p.props:1:12: the target is not observable: it holds in only one of two states with the same observation`},
		{hidden, `Pmax=? [ prize=0 U won ]`, `p.props:1:10: the left-hand side of until is not observable: it holds in only one of two states with the same observation`},
		{hidden, `P=? [ F won ]`, `p.props:1:1: found P=? for a nondeterministic model, want Pmin=? or Pmax=?`},
		{hidden, `Pmax=? [ F (P>0 [ F won ]) ]`, `p.props:1:13: found an expression of type bool within an operator for a partially observable model`},
		{hidden, `Rmax=? [ C ]`, `p.props:1:10: found the reward objective C in an R operator of a partially observable model, want F without bounds, C<=k or I=k`},
		{hidden, `Rmax=? [ C<=-1 ]`, `p.props:1:13: time bound -1 of the C operator, want a finite number of at least 0`},
		{"pomdp observables t endobservables module m s:[0..1]; t:bool; [a] s=0 -> (s'=1); [b] s=1 -> (s'=0); endmodule", `Pmax=? [ F t ]`, `m.prism: states (s=0,t=false) and (s=1,t=false) have the same observation (false) but different actions`},
		{"pomdp observables s endobservables module m s:[0..2]; [a] s=0 -> (s'=1); [a] s=0 -> (s'=2); [] s>0 -> true; endmodule", `Pmax=? [ F s=1 ]`, `m.prism: state (s=0) has two choices with the same action, and a scheduler of a partially observable model cannot distinguish them`},
	}
	for _, tt := range tests {
		v := ask(t, t.Context(), tt.src, tt.property, check.Options{})[0]
		if v.Err == nil || v.Err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.property, v.Err, tt.want)
		}
	}
}

// TestExactRefusals: with fractions wanted, what has none is refused.
func TestExactRefusals(t *testing.T) {
	const ctmc = "ctmc module m s:[0..1]; [] s=0 -> 2:(s'=1); [] s=1 -> (s'=0); endmodule rewards true : 1; endrewards"
	const props = "P=? [ F<=1 s=1 ]; R=? [ C<=1 ]; S=? [ s=1 ]; P=? [ X s=1 ]"
	v := ask(t, t.Context(), ctmc, props, check.Options{Accuracy: result.Exact})
	for i, want := range []string{"p.props:1:7: a probability within a time bound of a CTMC is not rational; without --exact there is an interval", "p.props:1:25: a reward within a time bound of a CTMC is not rational; without --exact there is an interval"} {
		if v[i].Err == nil || v[i].Err.Error() != want {
			t.Errorf("%s: error %v, want %s", v[i].Property, v[i].Err, want)
		}
	}
	if v[2].Err != nil || v[2].Value.Rat.RatString() != "2/3" || v[3].Value.Rat.RatString() != "1" {
		t.Errorf("%v, %v", v[2], v[3])
	}
}

func TestSeveralInitialStates(t *testing.T) {
	const src = "dtmc module m s:[0..3]; [] s<2 -> 0.25*(s+1):(s'=2)+1-0.25*(s+1):(s'=3); [] s>1 -> true; endmodule init s<2 endinit"
	v := ask(t, t.Context(), src, "P=? [ F s=2 ]; P>=0.3 [ F s=2 ]; P>=0.2 [ F s=2 ]; s; filter(max, P=? [ F s=2 ]); filter(range, P=? [ F s=2 ])", check.Options{})
	for i, want := range []result.Value{
		{Kind: result.Range, Num: 0.25, Hi: 0.5},
		{Kind: result.Boolean},
		{Kind: result.Boolean, Bool: true},
		{Kind: result.Range, Num: 0, Hi: 1},
		{Kind: result.Number, Num: 1},
		{Kind: result.Range, Num: 0, Hi: 1},
	} {
		got := v[i].Value
		got.Rat = nil
		if v[i].Err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v, want %+v", v[i].Property, got, v[i].Err, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	const src = "mdp module m s:[0..9]; [] s<9 -> 0.5:(s'=s+1)+0.5:(s'=0); [] s>0 -> 0.9:(s'=s-1)+0.1:true; endmodule"
	v := ask(t, ctx, src, "Pmax=? [ F s=9 ]", check.Options{})[0]
	if v.Err == nil || v.Err.Class != result.Interrupted {
		t.Errorf("%v, want interrupted", v.Err)
	}
}

// TestOtherStatesDoNotMatter: an expression need only have a value where it is asked for.
func TestOtherStatesDoNotMatter(t *testing.T) {
	v := ask(t, t.Context(), fair, "12/s; mod(7, s)", check.Options{})
	if v[0].Err != nil || v[0].Value.Num != 6 || v[1].Err != nil || v[1].Value.Num != 1 || v[1].Value.Kind != result.Integer {
		t.Errorf("%+v, %+v, want 6 and 1", v[0], v[1])
	}
}
