package check_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/result"
)

// Irreducible; 1 is entered at a rate of 3.
const cycle = `ctmc
module m x:[0..2]; [] x=0 -> 3:(x'=1); [] x=1 -> 2:(x'=2)+0.001:(x'=0); [] x=2 -> 5:(x'=0); endmodule
rewards x=1 : 1; endrewards`

// TestWithin: formulas that have a value in some states only, where no other is
// needed. The values are what PRISM's explicit engine prints.
func TestWithin(t *testing.T) {
	for property, want := range map[string]string{
		"filter(sum, mod(7,x), x>0)":                                          "1",
		"filter(max, mod(7,x), x>0)":                                          "1",
		"filter(avg, mod(7,x), x>0)":                                          "0.5",
		"filter(exists, mod(7,x)=1, x>0)":                                     "true",
		"filter(forall, mod(7,x)>=0, x>0)":                                    "true",
		"filter(count, mod(7,x)=1, x>0)":                                      "1",
		"filter(state, mod(7,x), x=2)":                                        "1",
		"filter(first, mod(7,x), x>0)":                                        "0",
		"filter(range, mod(7,x), x>0)":                                        "[0,1]",
		"filter(argmin, mod(7,x), x>0)":                                       "false",
		"filter(sum, filter(sum, mod(7,x), x>0)+x, x>1)":                      "3",
		"filter(sum, x=0 ? 1 : mod(7,x), true)":                               "2",
		"filter(sum, P=? [ F<=1 x=1 ]>=0 ? 1 : mod(7,x), true)":               "3",
		"filter(sum, (x>0 & P>=0.1 [ F<=1 x=1 ] & mod(7,x)=1) ? 1 : 0, true)": "1",
		"filter(sum, (x=0 | P<0.1 [ F<=1 x=1 ] | mod(7,x)=1) ? 1 : 0, true)":  "2",
		"filter(forall, (P>=0.1 [ F<=1 x=1 ] & x>0) => mod(7,x)<2, true)":     "true",
		"filter(exists, filter(count, mod(7,x)=1, x>0)=1, x=0)":               "true",
		"mod(7,x)+P=? [ F<=1 x=1 ]":                                           "error",
		"filter(sum, mod(7,x)+P=? [ F<=1 x=1 ])":                              "error",
		"P=? [ F<=1 mod(7,x)=1 ]":                                             "error",
		"filter(sum, P=? [ F mod(7,x)=1 ], x>0)":                              "error",

		"filter(min, mod(7,x)+P=? [ F<=1 x=1 ]*0, x>0) + filter(max, mod(7,x)+P=? [ F<=1 x=1 ]*0, x>0)":          "1",
		"filter(sum, filter(max, mod(7,x), x=2), x=0) + filter(sum, filter(print, mod(7,x)), x>0)":               "error",
		"filter(avg, filter(state, mod(7,x), x=2), true) + filter(sum, max(mod(7,x),P=? [ F<=1 x=0 ]*0), x>0)":   "2",
		"filter(count, filter(forall, mod(7,x)>=0, x>0) & (x=0 ? true : mod(7,x)+0*P=? [ F<=1 x=0 ] = 1), true)": "2",
	} {
		v := ask(t, t.Context(), cycle, property, check.Options{})[0]
		got := fmt.Sprint(v.Value.Num)
		switch {
		case v.Err != nil:
			got = "error"
		case v.Value.Kind == result.Boolean:
			got = fmt.Sprint(v.Value.Bool)
		case v.Value.Kind == result.Range:
			got = fmt.Sprintf("[%v,%v]", v.Value.Num, v.Value.Hi)
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", property, got, want, v.Err)
		}
	}
}

// TestQualitative: what the graph alone decides is decided, however near the number
// is to the bound.
func TestQualitative(t *testing.T) {
	for property, want := range map[string]bool{
		"P>=1 [ F>=1 x=1 ]":                                      true,
		"P<1 [ F>=1 x=1 ]":                                       false,
		"P>=1 [ F<=1000 x=1 ]":                                   false,
		"P<1 [ F<=1000 x=1 ]":                                    true,
		"P<=0 [ G<=1000 x=0 ]":                                   false,
		"P>0 [ G<=1000 x=0 ]":                                    true,
		"P>0 [ F<=1e-300 x=2 ]":                                  true,
		"P<1 [ G<=1e-18 x=0 ]":                                   true,
		"P>0 [ F[1e-200,2e-200] x=2 ]":                           true,
		"P>=1 [ x<2 U>=7 x=1 ]":                                  false,
		"P>=1 [ x<3 U>=7 x=1 ]":                                  true,
		"P>0 [ X x=2 ]":                                          false,
		"P>=1 [ X x=1 ]":                                         true,
		"P>=1 [ G F x=1 ]":                                       true,
		"P>0 [ F G x=1 ]":                                        false,
		"S<=1 [ x=1 ]":                                           true,
		"S<1 [ x=1 ]":                                            true,
		"S>0 [ x=1 ]":                                            true,
		"S>=1 [ x<3 ]":                                           true,
		"S<=1 [ P>0.5 [ F<=1 x=1 ] ]":                            true,
		"R>=0 [ C<=1000 ]":                                       true,
		"R>=0 [ S ]":                                             true,
		"1-P=? [ F<=1000 x=1 ] > 0":                              true,
		"2-P=? [ F<=1000 x=1 ] = 1":                              false,
		"P=? [ F<=1000 x=1 ] + P=? [ F<=1000 x=2 ] <= 2":         true,
		"P=? [ F<=1000 x=1 ] + P=? [ F<=1000 x=2 ] < 2":          true,
		"P=? [ F<=1 x=1 ] + P=? [ F<=2 x=2 ] >= 0":               true,
		"filter(max, P=? [ F<=1000 x=1 ], x!=1) < 1":             true,
		"filter(min, P=? [ F<=1e-300 x=1 ], x!=1) > 0":           true,
		"filter(avg, P=? [ F<=1000 x=1 ]) <= 1":                  true,
		"max(P=? [ F<=1000 x=1 ], 0.5) >= 1":                     false,
		`filter(argmin, P=? [ F<=1 x=1 ], "init")`:               true,
		`filter(argmax, S=? [ x=1 ] + P=? [ F<=1 x=1 ], "init")`: true,
		"filter(argmax, P=? [ F<=1 x=1 ], x!=1)":                 true,
		"filter(forall, P<1 [ F<=1000 x=1 ], x!=1)":              true,
		"filter(exists, P>=1 [ F<=1000 x=1 ], true)":             true,
		"P>=1 [ F<=1000 P>=1 [ F>=1 x=2 ] ]":                     true,
		"P>=1 [ true U[1,1e6] P<1 [ F<=1000 x=1 ] ]":             false,
	} {
		v := ask(t, t.Context(), cycle, property, check.Options{ExactStates: -1})[0]
		if v.Err != nil || v.Value.Bool != want {
			t.Errorf("%s: %v %v, want %v", property, v.Value.Bool, v.Err, want)
		}
	}
}

// TestOverflow: sums beyond the doubles are fractions, or bounds with a warning,
// and never an infinity or nothing.
func TestOverflow(t *testing.T) {
	const model = `dtmc
module m x:[0..3]; [] x<3 -> (x'=x+1); [] x=3 -> true; endmodule
rewards "a" x<3 : 1.5e308; endrewards
rewards "c" x<3 : 1e200; endrewards`
	properties := []string{
		`R{"a"}=? [ F x=3 ]`, `R{"a"}=? [ C ]`, `R{"a"}=? [ C<=3 ]`, `R{"a"}=? [ F x=2 & (X x=3) ]`, `1.5e308+R{"a"}=? [ C<=2 ]`,
		`R{"c"}=? [ F x=3 ]*R{"c"}=? [ F x=3 ]`, `filter(sum, R{"a"}=? [ I=0 ], x<3)`, `-R{"a"}=? [ F x=3 ]`,
		`1/(R{"c"}=? [ F x=3 ]*R{"c"}=? [ F x=3 ])`, `filter(avg, R{"a"}=? [ F x=3 ], x<3)`,
	}
	for _, states := range []int{-1, 0} {
		for _, v := range ask(t, t.Context(), model, strings.Join(properties, ";\n"), check.Options{ExactStates: states}) {
			switch {
			case v.Err != nil:
				t.Error(v.Property, v.Err)
			case states == 0:
				if v.Value.Rat == nil || v.Accuracy != result.Exact {
					t.Errorf("%s: %v, want a fraction", v.Property, v.Value)
				}
			case v.Bound == nil || v.Bound.Lo == v.Bound.Hi || !(v.Bound.Lo <= v.Value.Num && v.Value.Num <= v.Bound.Hi):
				t.Errorf("%s: %v in %v", v.Property, v.Value.Num, v.Bound)
			case len(v.Warnings) == 0:
				t.Errorf("%s: %v without a warning", v.Property, v.Bound)
			}
		}
	}
	for _, v := range ask(t, t.Context(), model, strings.Join(properties[:3], ";\n"), check.Options{Accuracy: result.Estimated}) {
		if math.IsInf(v.Value.Num, 0) || len(v.Warnings) == 0 {
			t.Errorf("%s: %v %q, want a warning", v.Property, v.Value.Num, v.Warnings)
		}
	}
}

// TestWidths: bounds are as narrow as asked for, or a warning says that they are not.
func TestWidths(t *testing.T) {
	const slow = `ctmc
module m x:[0..3];
[] x=0 -> 3:(x'=1); [] x=1 -> 2:(x'=2)+0.5:(x'=0); [] x=2 -> 0.02:(x'=3)+5:(x'=0); [] x=3 -> 0.1:(x'=0);
endmodule rewards x=1 : 1; endrewards`
	properties := `P=? [ G<=1000 x<3 ]; P=? [ G<=10000 x<3 ]; P=? [ G<=100000 x<3 ]; P=? [ F<=0.0001 x=3 ]; R=? [ I=1e-16 ];
P=? [ F[1e-16,2e-16] x=3 ]; S=? [ x=3 ]; R=? [ C<=1e-12 ]; R=? [ C<=1e5 ]; 1-P=? [ F<=100 x=3 ]; filter(range, P=? [ G<=10000 x<3 ], x<3);
P=? [ x<3 W<=10000 x=4 ]; P=? [ x=3 R<=10000 x<3 ]; 1-P=? [ F x=3 ]; S=? [ x=0 ]*1e-300*1e-20`
	for _, epsilon := range []float64{0, 1e-15, 1e-12, 1e-4}[:needs.OrFull(2, 4)] {
		want := epsilon
		if want == 0 {
			want = 1e-8
		}
		for _, states := range []int{0, -1} {
			for _, v := range ask(t, t.Context(), slow, properties, check.Options{Epsilon: epsilon, ExactStates: states}) {
				b := v.Bound
				switch {
				case v.Err != nil || b == nil:
					t.Errorf("%s: %v", v.Property, v.Err)
				case v.Value.Kind == result.Range:
				case v.Accuracy == result.Exact || b.Hi-b.Lo <= want*b.Hi:
				case len(v.Warnings) == 0:
					t.Errorf("%s, epsilon %v: %v without a warning", v.Property, epsilon, *b)
				case states == 0 && epsilon != 1e-15 && b.Hi > 1e-200:
					t.Errorf("%s, epsilon %v: %v %q", v.Property, epsilon, *b, v.Warnings)
				}
			}
		}
	}
}

// TestEffort: fractions that would grow for ever are given up, and a warning says
// what the doubles left open.
func TestEffort(t *testing.T) {
	needs.Full(t)
	// States 1 and 3 are equally good, so no policy is surely optimal, and every step is taken by itself.
	const twins = `mdp module m x:[0..3]; [] x=0 -> 0.3:(x'=1)+0.7:(x'=0); [] x=0 -> 0.3:(x'=3)+0.7:(x'=0);
		[] x=1|x=3 -> 0.6-1e-7:(x'=0)+0.4:true+1e-7:(x'=2); [] x=2 -> true; endmodule`
	v := ask(t, t.Context(), twins, "Pmax=? [ F<=200000 x=2 ]", check.Options{Epsilon: 1e-13})[0]
	if v.Err != nil || v.Bound == nil || v.Bound.Lo == v.Bound.Hi || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "1e-13") {
		t.Errorf("%v %q %v", v.Bound, v.Warnings, v.Err)
	}
	// In a chain, squaring the fractions of one step is enough; and so it is with one choice in each state of an MDP.
	const model = ` module m x:[0..2]; [] x=0 -> 0.3:(x'=1)+0.7:(x'=0); [] x=1 -> 0.6-1e-7:(x'=0)+0.4:(x'=1)+1e-7:(x'=2); [] x=2 -> true; endmodule`
	for _, text := range []string{"dtmc" + model, "mdp" + model} {
		w := ask(t, t.Context(), text, "Pmax=? [ F<=200000 x=2 ]", check.Options{Epsilon: 1e-13})[0]
		if w.Err != nil || w.Bound == nil || w.Bound.Hi-w.Bound.Lo > 1e-13*w.Bound.Hi || len(w.Warnings) != 0 {
			t.Errorf("%s: %v %q %v", text, w.Bound, w.Warnings, w.Err)
		} else if v.Bound != nil && (w.Bound.Lo > v.Bound.Hi || w.Bound.Hi < v.Bound.Lo) {
			t.Errorf("%s: %v, and with equal choices %v", text, w.Bound, v.Bound)
		}
	}
}

// TestRareExit: a model that is left once in 2^300 attempts has answers as narrow as
// asked for. Its schedulers differ in digits that doubles have not.
func TestRareExit(t *testing.T) {
	const walk = `
const int N = 300;
module m
  x : [-N..N] init 0;
  [a] x=0 -> 0.7:(x'=1) + 0.3:(x'=-1);
  [] x>0 & x<N -> 0.5:(x'=x+1) + 0.5:(x'=0);
  [] x<0 & x>-N -> 0.5:(x'=x-1) + 0.5:(x'=0);
  [] x=N | x=-N -> true;
`
	const rest = "endmodule rewards true : 1; endrewards"
	for _, tt := range []struct {
		model, props string
		want         []float64
		accuracy     result.Accuracy
	}{
		{"dtmc" + walk + rest, "P=? [ F x=N ]; R=? [ F x=N|x=-N ]", []float64{0.7, 3 * 0x1p299}, result.Bounded},
		{"mdp" + walk + "[b] x=0 -> 0.6:(x'=1) + 0.4:(x'=-1);" + rest, "Pmin=? [ F x=N ]; Pmax=? [ F x=N ]", []float64{0.6, 0.7}, result.Exact},
	} {
		for i, v := range ask(t, t.Context(), tt.model, tt.props, check.Options{}) {
			x := tt.want[i]
			if v.Err != nil || v.Bound == nil || v.Accuracy != tt.accuracy || len(v.Warnings) > 0 {
				t.Errorf("%s: %v, %v, %q", v.Property, v.Bound, v.Err, v.Warnings)
			} else if b := v.Bound; !(b.Lo <= x*(1+1e-15) && x <= b.Hi*(1+1e-15) && b.Hi-b.Lo <= 1e-8*b.Hi) || (v.BoundMethod == "") != (v.Accuracy == result.Exact) {
				t.Errorf("%s: %v %q, want %v", v.Property, *b, v.BoundMethod, x)
			}
		}
	}
}
