package check_test

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/result"
)

// The values of both models were computed by hand, and are those of PRISM and Storm
// as far as these have the property.
const (
	intervalChain = `dtmc
module m s:[0..3] init 0;
[] s=0 -> [0.1,0.3]:(s'=1) + [0.5,0.8]:(s'=2) + [0.05,0.2]:(s'=0);
[] s=1 -> (s'=3);
[a] s=2 -> [0.4,0.6]:(s'=0) + [0.4,0.6]:(s'=2);
[] s=3 -> true; endmodule
label "end" = s=3;
rewards "r" s=0 : 1; s=2 : 2; endrewards
rewards "a" [a] true : 2; endrewards`
	intervalMDP = `mdp
module m s:[0..3] init 0;
[a] s=0 -> [0.1,0.3]:(s'=1) + [0.7,0.9]:(s'=2);
[b] s=0 -> [0.2,0.25]:(s'=3) + [0.75,0.8]:(s'=2);
[] s=1 -> [0.5,0.9]:(s'=3) + [0.1,0.5]:(s'=2);
[] s>=2 -> true; endmodule
label "end" = s=3;
rewards "r" [a] true : 3; [b] true : 1; endrewards`
	// Nature may leave out the transitions to s=1 of both choices, and the step from s=1 to s=3.
	zeroMDP = `mdp
module m s:[0..3] init 0;
[a] s=0 -> [0,0.5]:(s'=1) + [0.5,1]:(s'=2);
[b] s=0 -> [0.3,0.6]:(s'=1) + [0.4,0.7]:(s'=2);
[] s=1 -> [0,0.4]:(s'=3) + [0.6,1]:(s'=2);
[] s=2 -> [0,0.1]:(s'=0) + [0.9,1]:(s'=2);
[] s=3 -> true; endmodule
label "end" = s=3;
rewards "r" s=1 : 2; s=2 : 1; endrewards`
)

func TestIntervals(t *testing.T) {
	tests := []struct{ model, property, value string }{
		{intervalChain, `Pmin=? [ F "end" ]`, "1"},
		{intervalChain, `Pmin=? [ F<=3 "end" ]`, "11/100"},
		{intervalChain, `Pmax=? [ F<=3 "end" ]`, "9/25"},
		{intervalChain, `Pmax=? [ X s=2 ]`, "4/5"},
		{intervalChain, `Pmin=? [ G<=1 s=0 ]`, "1/20"},
		{intervalChain, `R{"r"}max=? [ F "end" ]`, "50"},   // x2 = 2+0.4x0+0.6x2, x0 = 1+0.1*0+0.8x2+0.1x0
		{intervalChain, `R{"r"}max=? [ C<=2 ]`, "27/10"},   // 1, and 2 with 0.8, and 1 with 0.1
		{intervalChain, `R{"a"}max=? [ C<=2 ]`, "8/5"},     // whatever of the interval is taken, a earns 2
		{intervalChain, `R{"r"}max=? [ F F "end" ]`, "50"}, // co-safe
		{intervalChain, `Pmax=? [ (X s=2) & (F s=3) ]`, "4/5"},
		{intervalMDP, `Pminmin=? [ F "end" ]`, "1/20"},
		{intervalMDP, `Pminmax=? [ F "end" ]`, "1/4"},
		{intervalMDP, `Pmaxmin=? [ F "end" ]`, "1/5"},
		{intervalMDP, `Pmaxmax=? [ F "end" ]`, "27/100"},
		{intervalMDP, `Pmin=? [ F "end" ]`, "1/20"},
		{intervalMDP, `Pmax=? [ F "end" ]`, "27/100"},
		{intervalMDP, `Pmaxmin=? [ !(G s!=3) ]`, "1/5"},
		{intervalMDP, `Pminmax=? [ F G s=2 ]`, "4/5"}, // 1 minus Pmaxmin of the end
		{intervalMDP, `R{"r"}minmax=? [ F s>=2 ]`, "1"},
		{zeroMDP, `Pmaxmax=? [ F<=2 "end" ]`, "6/25"}, // b: 0.6 * 0.4
		{zeroMDP, `Pmaxmin=? [ F<=2 "end" ]`, "0"},
		{zeroMDP, `Pminmax=? [ F<=2 "end" ]`, "1/5"}, // a: 0.5 * 0.4
		{zeroMDP, `Pminmin=? [ X s=1 ]`, "0"},
		{zeroMDP, `Pmaxmin=? [ X s=1 ]`, "3/10"},
		{zeroMDP, `Pmaxmax=? [ F<=4 "end" ]`, "156/625"}, // 0.24, and 0.4 * 0.1 * 0.24 by s=2 and s=0
		{zeroMDP, `Pmaxmin=? [ G<=2 s!=3 ]`, "4/5"},      // 1 - Pminmax of F<=2
		{zeroMDP, `R{"r"}maxmax=? [ C<=2 ]`, "8/5"},      // b: 0.6 * 2 + 0.4 * 1
		{zeroMDP, `R{"r"}minmin=? [ C<=2 ]`, "1"},        // a: 1 for s=2
		{zeroMDP, `R{"r"}maxmin=? [ C<=2 ]`, "13/10"},    // b: 0.3 * 2 + 0.7
		{zeroMDP, `Pmaxmax=? [ F "end" ]`, "1"},          // s=0 is visited again and again
		{zeroMDP, `Pminmax=? [ F "end" ]`, "1"},
		{zeroMDP, `Pmaxmin=? [ F "end" ]`, "0"}, // nature never goes from s=1 to s=3
		{zeroMDP, `Pmaxmin=? [ G s!=3 ]`, "0"},
		{zeroMDP, `Pminmin=? [ s<2 U s=2 ]`, "19/25"}, // b: 1 - 0.6 * 0.4
		{zeroMDP, `Pmaxmax=? [ F>=3 "end" ]`, "1"},
		{zeroMDP, `Pminmax=? [ s!=2 U "end" ]`, "1/5"},               // a: 0.5 * 0.4
		{zeroMDP, `Pmaxmax=? [ (X s=1) & (F<=2 "end") ]`, "6/25"},    // b: 0.6 * 0.4
		{zeroMDP, `Pminmin=? [ (X s!=1) | (G<=2 !"end") ]`, "19/25"}, // 1 minus the value above
		{zeroMDP, `R{"r"}minmin=? [ F "end" ]`, "110/3"},             // x2 = 10+x0, x1 = 2+0.6x2, b: x0 = 0.6x1+0.4x2
		{zeroMDP, `R{"r"}maxmin=? [ F "end" ]`, "45"},                // a: x0 = 0.5x1+0.5x2
		{zeroMDP, `R{"r"}maxmin=? [ F F "end" ]`, "45"},              // co-safe
	}
	for _, test := range tests {
		for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
			v := ask(t, t.Context(), test.model, test.property, check.Options{Accuracy: accuracy})[0]
			if v.Err != nil {
				t.Errorf("%s: %v", test.property, v.Err)
				continue
			}
			want, _ := new(big.Rat).SetString(test.value)
			f, _ := want.Float64()
			switch b := v.Bound; {
			case accuracy == result.Exact && (v.Value.Rat == nil || v.Value.Rat.Cmp(want) != 0):
				t.Errorf("%s: %v, want %s", test.property, v.Value.Rat, test.value)
			case accuracy == result.Bounded && (b == nil || b.Lo > f || b.Hi < f || b.Hi-b.Lo > 1e-8*f):
				t.Errorf("%s: %v, want %s", test.property, b, test.value)
			}
		}
	}
}

func TestIntervalThresholds(t *testing.T) {
	for property, want := range map[string]bool{
		`P>=1/20 [ F "end" ]`: true, `P>1/20 [ F "end" ]`: false, `P<=27/100 [ F "end" ]`: true, `P<27/100 [ F "end" ]`: false,
		`E [ F "end" ]`: true, `A [ F "end" ]`: false, `<<*>> P>=27/100 [ F "end" ]`: true,
	} {
		if v := ask(t, t.Context(), intervalMDP, property, check.Options{})[0]; v.Err != nil || v.Value.Bool != want {
			t.Errorf("%s: found %v, %v, want %v", property, v.Value, v.Err, want)
		}
	}
}

func TestIntervalsRefused(t *testing.T) {
	zero := strings.Replace(intervalChain, "[0.05,0.2]", "[0,0.2]", 1)
	several := strings.Replace(intervalChain, "[] s=1 ->", "[] s=1|s=2 ->", 1)
	for _, test := range []struct{ model, property, why string }{
		{intervalChain, `P=? [ F "end" ]`, "found P=? for a model with intervals, want Pmin=? or Pmax=?"},
		{intervalChain, `Pminmax=? [ F "end" ]`, "found Pminmax=? for an interval Markov chain, which has no scheduler"},
		{intervalChain, `S=? [ "end" ]`, "found an S operator for a model with intervals"},
		{intervalChain, `R{"r"}min=? [ C ]`, "found C in an R operator for a model with intervals"},
		{intervalMDP, `multi(Pmax=? [ F "end" ], P>=0.1 [ F s=2 ])`, "found multi(...) for an IMDP"},
		{zero, `Pmin=? [ G F "end" ]`, "found an interval of probabilities whose lower end is 0, want a path formula that a prefix of the path decides"},
		{zero, `Pmin=? [ (F "end") & (G F s=0) ]`, "found an interval of probabilities whose lower end is 0"},
	} {
		v := ask(t, t.Context(), test.model, test.property, check.Options{})[0]
		if v.Err == nil || !strings.Contains(v.Err.Message, test.why) {
			t.Errorf("%s: found %v, want %s", test.property, v.Err, test.why)
		}
	}
	if err := buildError(t, several); err == nil || !strings.Contains(err.Error(), "several commands of an interval Markov chain are enabled in state (s=2)") {
		t.Errorf("several commands: %v", err)
	}
}

// buildError is why the states of a model cannot be built.
func buildError(t *testing.T, src string) error {
	t.Helper()
	m := explicittest.Compile(t, src)
	_, err := explicit.Build(t.Context(), m, explicit.Options{})
	return err
}
