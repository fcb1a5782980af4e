package check_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/result"
)

const (
	// From 0 to a cycle of 1 and 3, or to 2 for ever.
	fork = `dtmc module m s:[0..3]; [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s=1 -> (s'=3); [] s=3 -> (s'=1); [] s=2 -> true; endmodule`
	// From 0 to 1 or 2 by chance, and back.
	toss = `dtmc module m s:[0..2]; [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s>0 -> (s'=0); endmodule`
	// From 0 to 1 or 2 as the scheduler likes, and back.
	pick = `mdp module m s:[0..2]; [a] s=0 -> (s'=1); [b] s=0 -> (s'=2); [] s>0 -> (s'=0); endmodule`
	// The scheduler tosses a coin again and again, or leaves for 3 after heads.
	stop = `mdp module m s:[0..3]; [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s>0&s<3 -> (s'=0); [] s=1 -> (s'=3); [] s=3 -> true; endmodule`
	race = `ctmc module m s:[0..2]; [] s=0 -> 1:(s'=1)+3:(s'=2); [] s>0 -> true; endmodule rewards true : 1; endrewards`
	leak = `dtmc module m s:[0..1]; [] s=0 -> 0.5:true+0.5:(s'=1); [] s=1 -> true; endmodule`
)

// TestLTL compares with values derived by hand.
func TestLTL(t *testing.T) {
	tests := []struct{ model, property, value string }{
		{fork, "P=? [ G F s=3 ]", "1/2"},
		{fork, "P=? [ F G s=2 ]", "1/2"},
		{fork, "P=? [ !(F G s=2) ]", "1/2"},
		{fork, "P=? [ !(!(F G s=2)) ]", "1/2"},
		{fork, "P=? [ G !(s=2) ]", "1/2"},
		{fork, "P=? [ (G F s=1) & (G F s=3) ]", "1/2"},
		{fork, "P=? [ (G F s=3) | (F G s=2) ]", "1"},
		{fork, "P=? [ (G F s=3) & (F G s=2) ]", "0"},
		{fork, "P=? [ G F (s=1 & (X s=3)) ]", "1/2"},
		{fork, "P=? [ G F (s=1 & (X s=1)) ]", "0"},
		{fork, "P=? [ G (s=1 => (X s=3)) ]", "1"},
		{fork, "P=? [ (X s=1) <=> (F s=3) ]", "1"},
		{fork, "P=? [ (F G s=2) & (X s=1) ]", "0"},
		{fork, "P=? [ F (s=3 & (X (X s=3))) ]", "1/2"},
		{fork, "P=? [ s=0 U (G s=2) ]", "1/2"},
		{fork, "P=? [ (F s=2) W (s=1) ]", "1/2"},
		{fork, "P=? [ (X X X true) & (s=0) ]", "1"},
		{fork, "P=? [ G F P>=1 [ X s=1 ] ]", "1/2"}, // in 3
		{fork, "filter(sum, P=? [ G F s=3 ])", "5/2"},
		{toss, "P=? [ F G s!=1 ]", "0"},
		{toss, "P=? [ G F (s=1 & (X (X s=2))) ]", "1"},
		{toss, "P=? [ (F G s!=1) | (X s=2) ]", "1/2"},
		{toss, "P=? [ F ((s=1) & (X (X ((s=1) & (X (X (s=2))))))) ]", "1"},
		{toss, "P=? [ (X (X (X s=1))) U (X s=2) ]", "1/2"}, // the first toss, or heads for ever
		{fair, "P=? [ (F s=1) & (F s=3) ]", "1/3"},
		{fair, "P=? [ (F s=4) & (G s!=1) ]", "1/3"},
		{fair, "P=? [ G (s=2 => (X s=3)) ]", "1/3"},
		{fair, "P=? [ F (s=3 & (X (s=2 & (X s=3)))) ]", "2/11"},
		{fair, "P=? [ F (s=1 & (X s=0)) ]", "1/2"},
		{fair, "P=? [ F P>=0.75 [ G (F s=4) ] ]", "2/3"},
		{fair, "P=? [ (F<=2 s=4) | (F<=1 s=1) ]", "3/4"},
		{fair, "P=? [ X (F<=2 s=3) ]", "5/8"},
		{fair, "P=? [ F<=2 (G s=4) ]", "1/4"},
		{fair, "P=? [ F (G<=3 s=0) ]", "1/2"},
		{fair, "P=? [ X (s=3 U[1,1] s=4) ]", "1/4"},
		{fair, "P=? [ X (s=3 W<=1 s=4) ]", "1/4"},
		{fair, "P=? [ X (s=2 R<=1 s=3) ]", "0"},
		{fair, "P=? [ X (F>=2 s=3) ]", "1/3"}, // in 3 after 3 steps (3/8 less 1/8 in 4), then again after that from 1 or 3
		{choice, "Pmax=? [ G F s=2 ]", "1/2"},
		{choice, "Pmin=? [ G F s=2 ]", "0"},
		{choice, "Pmin=? [ (F G s=3) | (X s=1) ]", "1/2"},
		{choice, "Pmax=? [ (F G s=3) | (X s=1) ]", "1"},
		{pick, "Pmax=? [ (G F s=1) & (G F s=2) ]", "1"},
		{pick, "Pmin=? [ (G F s=1) | (G F s=2) ]", "1"},
		{pick, "Pmin=? [ G F s=1 ]", "0"},
		{pick, "Pmax=? [ (G F s=1) & (F G s!=1) ]", "0"},
		{pick, "Pmax=? [ (X s=1) & (X (X (X s=2))) & (F G s!=2) ]", "1"},
		{pick, "Pmax=? [ G (s=1 => (X (X s=2))) ]", "1"},
		{stop, "Pmax=? [ F G s=3 ]", "1"},
		{stop, "Pmin=? [ F G s=3 ]", "0"},
		{stop, "Pmax=? [ G F s=2 ]", "1"},
		{stop, "Pmax=? [ (F s=2) & (F G s=3) ]", "1"},
		{stop, "Pmax=? [ (G s!=2) & (F s=3) ]", "1/2"},
		{stop, "Pmin=? [ (G F s=2) | (F s=3) ]", "1"},
		{stop, "Pmax=? [ (F G s!=2) & (G s!=3) ]", "0"},
		{race, "P=? [ G F s=2 ]", "3/4"},
		{race, "P=? [ (X s=1) | (G s=0) ]", "1/4"},
		{race, "R=? [ X true ]", "1/4"},
		{race, "R=? [ (F s=1) | (X s=2) ]", "1/4"},
		{fair, "R=? [ true ]", "0"},
		{fair, "R=? [ s=2 ]", "0"},
		{fair, "R=? [ X true ]", "1"},
		{fair, "R=? [ !(X false) ]", "1"},
		{fair, "R=? [ X (X true) ]", "2"},
		{fair, "R=? [ (F s=1) | (F s=3) ]", "1"},
		{fair, "R=? [ F (X (s=0|s=4)) ]", "4"},
		{fair, "R=? [ !(G (s>0 & s<4)) ]", "4"},
		{fair, "R=? [ s=2 => (F (s=0|s=4)) ]", "4"},
		{choice, "Rmin=? [ X s=1 ]", "1"},
		{choice, "Rmax=? [ X (s>0) ]", "3"},
		{choice, "Rmax=? [ X (X true) ]", "3"},
	}
	for _, tt := range tests {
		want, _ := new(big.Rat).SetString(tt.value)
		f, _ := want.Float64()
		if x := ask(t, t.Context(), tt.model, tt.property, check.Options{Accuracy: result.Exact})[0]; x.Err != nil || x.Value.Rat == nil || x.Value.Rat.Cmp(want) != 0 {
			t.Errorf("%s: %v %v, want %s", tt.property, x.Value.Rat, x.Err, tt.value)
		}
		v := ask(t, t.Context(), tt.model, tt.property, check.Options{})[0]
		if v.Err != nil || v.Bound == nil || v.Bound.Lo > f || v.Bound.Hi < f || v.Bound.Hi-v.Bound.Lo > 1e-8*max(1, f) {
			t.Errorf("%s: %v %v, want %s", tt.property, v.Bound, v.Err, tt.value)
		}
	}
}

// TestInfinite: a reward is infinite where the formula may stay unproved.
func TestInfinite(t *testing.T) {
	for _, tt := range []struct{ model, property string }{
		{fair, "R=? [ (F s=1) & (F s=3) ]"},
		{fair, "R=? [ s=3 ]"},
		{fair, "R=? [ X (X false) ]"},
		{choice, "Rmax=? [ X s=1 ]"},
		{choice, "Rmin=? [ X s=2 ]"},
		{race, "R=? [ (F s=1) & (X true) ]"},
	} {
		for _, acc := range []result.Accuracy{result.Bounded, result.Exact} {
			v := ask(t, t.Context(), tt.model, tt.property, check.Options{Accuracy: acc})[0]
			if v.Err != nil || !math.IsInf(v.Value.Num, 1) {
				t.Errorf("%s: %v %v, want infinity", tt.property, v.Value.Num, v.Err)
			}
		}
	}
}

// TestPaths: E and A are about paths, whatever their probability.
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		model, property string
		want            bool
	}{
		{pick, "E [ (G F s=1) & (F G s!=2) ]", true},
		{pick, "E [ (G F s=1) & (G F s=2) ]", true},
		{pick, "E [ F G s=0 ]", false},
		{pick, "A [ G F s=0 ]", true},
		{pick, "A [ G F s=1 ]", false},
		{pick, "A [ (G F s=1) | (G F s=2) ]", true},
		{pick, "A [ !(F G s=0) ]", true},
		{pick, "E [ !(!(G (s=0 => (X s=1)))) ]", true},
		{pick, "E [ !((F s=1) | (F s=2)) ]", false},
		{pick, "A [ (X s=1) => (F s=1) ]", true},
		{pick, "E [ s=0 ]", true},
		{pick, "A [ !s=0 ]", false},
		{leak, "E [ F G s=0 ]", true},
		{leak, "P<=0 [ F G s=0 ]", true},
		{leak, "A [ F G s=1 ]", false},
		{leak, "A [ (F G s=1) | (G s=0) ]", true},
		{toss, "E [ (G F s=1) & (F G s!=2) ]", true},
		{race, "E [ F G s=2 ]", true},
		{race, "A [ (F G s=2) | (F s=1) ]", true},
		{fork, "E [ F (A [ G (s=1 => (X s=3)) ] & (X s=2)) ]", true},
		{fork, "filter(forall, E [ (G F s=3) | (F G s=2) ])", true},
		{fork, "filter(exists, E [ (G F s=3) & (F s=2) ])", false},
		{pick, "P>=1 [ (G F s=1) | (G F s=2) ]", true},
		{pick, "P>=0.1 [ G F s=1 ]", false},
		{pick, "<<*>> P>=1 [ G F s=1 ]", true},
		{fair, "P>=1/3 [ (F s=1) & (F s=3) ]", true},
		{fair, "P>1/3 [ (F s=1) & (F s=3) ]", false},
	} {
		if v := ask(t, t.Context(), tt.model, tt.property, check.Options{})[0]; v.Err != nil || v.Value.Bool != tt.want {
			t.Errorf("%s: %v %v, want %v", tt.property, v.Value.Bool, v.Err, tt.want)
		}
	}
}

// TestNegations: in random Markov chains the probabilities of a formula and of
// its negation sum to exactly one in every state. What is found for either is
// attained, so that the sum is one only if both are right.
func TestNegations(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	between := 0
	for range 40 {
		n := 2 + r.IntN(5)
		model := randomModel(r, "dtmc", n)
		var props strings.Builder
		for range 20 {
			f := randomPath(r, n, 1+r.IntN(4), false)
			fmt.Fprintf(&props, "filter(min, P=? [ (%s) & (X true) ] + P=? [ (!%s) & (X true) ]);\n", f, f)
			fmt.Fprintf(&props, "filter(max, P=? [ (%s) & (X true) ] + P=? [ (!%s) & (X true) ]);\n", f, f)
			fmt.Fprintf(&props, "filter(avg, P=? [ %s ]);\n", f)
		}
		for i, v := range ask(t, t.Context(), model, props.String(), check.Options{Accuracy: result.Exact}) {
			switch {
			case v.Err != nil:
				t.Fatalf("%s: %v\n%s", v.Property, v.Err, model)
			case i%3 == 2 && v.Value.Num > 0 && v.Value.Num < 1:
				between++
			case i%3 != 2 && v.Value.Num != 1:
				t.Errorf("%s: %v, want 1\n%s", v.Property, v.Value.Rat, model)
			}
		}
	}
	if between < 40 {
		t.Errorf("only %d formulas have probabilities between zero and one", between)
	}
}

// TestAutomatonTooLarge: what needs too many guesses is refused by name.
func TestAutomatonTooLarge(t *testing.T) {
	const model = "mdp module m s:[0..19]; [] s<19 -> (s'=s+1); [] s>0 -> (s'=0); endmodule"
	parts := make([]string, 18)
	for i := range parts {
		parts[i] = fmt.Sprintf("(F G s=%d)", i)
	}
	v := ask(t, t.Context(), model, "Pmax=? [ "+strings.Join(parts, "|")+" ]", check.Options{})[0]
	const want = "p.props:1:10: found a path formula whose automaton is too large"
	if v.Err == nil || v.Err.Error() != want {
		t.Errorf("%v %v, want %s", v.Value.Num, v.Err, want)
	}
}
