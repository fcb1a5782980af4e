package explicit_test

import (
	"math/big"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
)

// TestWeightErrors: the error that a model of doubles claims covers what its
// weights and rewards are off by, and is not far above it.
func TestWeightErrors(t *testing.T) {
	tests := []struct {
		name, src string
		most      float64
	}{
		{"rounded once", "mdp module m s:[0..1]; [] true -> 0.1:(s'=0)+0.9:(s'=1); endmodule rewards s=0 : 0.3; endrewards", 2e-15},
		{"a constant difference", "mdp const double p=0.9; module m s:[0..1]; [] true -> p:(s'=0)+1-p:(s'=1); endmodule rewards s=0 : 1-p; endrewards", 1e-14},
		{"a difference in the state", "mdp module m s:[0..9]; [] true -> s/10:(s'=0)+1-s/10:(s'=min(s+1,9)); endmodule rewards s<9 : 1-(s+1)/10; endrewards", 1e-14},
		{"a quotient", "mdp module m s:[1..9]; [] true -> 0.3/s:(s'=1)+(s-0.3)/s:(s'=min(s+1,9)); endmodule rewards true : 0.7/s; endrewards", 1e-14},
		{"a condition", "mdp module m s:[0..9]; [] true -> (s>3?0.1:0.2):(s'=0)+(s>3?0.9:0.8):(s'=min(s+1,9)); endmodule rewards true : max(0.1*s,0.3); endrewards", 2e-15},
		{"a doubtful condition", "mdp module m s:[0..9]; [] true -> (s/10>0.25?0.1:0.2):(s'=0)+(s/10>0.25?0.9:0.8):(s'=min(s+1,9)); endmodule rewards true : pow(0.1,s); endrewards", 1e-14},
		{"cancellation", "mdp module m s:[0..9]; [] true -> (0.3-0.1*s)*0.001+0.0000001:(s'=0)+1-((0.3-0.1*s)*0.001+0.0000001):(s'=min(s+1,3)); endmodule", 1e-10},
		{"a product", "mdp module m s:[0..1]; [a] true -> 0.1:(s'=0)+0.9:(s'=1); endmodule module n t:[0..1]; [a] true -> 0.3:(t'=0)+0.7:(t'=1); endmodule", 3e-15},
		{"overlap", "dtmc module m s:[0..2]; [] s=0 -> 0.1:(s'=1)+0.9:(s'=2); [] s=0 -> 0.7:(s'=1)+0.3:(s'=2); [] s=0 -> (s'=1); [] s>0 -> true; endmodule rewards [] true : 0.1; endrewards", 4e-15},
		{"rates", "ctmc module m s:[0..2]; [a] s=0 -> 0.1:(s'=1); [] s=0 -> 2.3:(s'=1)+1e9:(s'=2); [] s>0 -> 1:true; endmodule rewards [a] true : 0.1; s=0 : 1/3; endrewards", 3e-15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := compiled(t, tt.src)
			s, err := explicit.Build(t.Context(), m, explicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			x, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			d, e := s.Model(), x.Model()
			for i := range d.Target {
				within(t, "weight", d.Prob(i), e.Fraction(i), d.RelErr)
			}
			if d.RelErr > tt.most {
				t.Errorf("error %v, want at most %v", d.RelErr, tt.most)
			}
			if len(m.Program().Rewards) > 0 {
				sameRewards(t, s, x, tt.most)
			}
		})
	}
}

// sameRewards compares the first structure of two spaces of one model.
func sameRewards(t *testing.T, s, x *explicit.Space, most float64) {
	t.Helper()
	r, err := s.Reward(0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := x.Reward(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.State {
		within(t, "state reward", f, q.StateFractions[i], r.RelErr)
	}
	for i, f := range r.Choice {
		within(t, "choice reward", f, q.ChoiceFractions[i], r.RelErr)
	}
	if r.RelErr > most {
		t.Errorf("error of rewards %v, want at most %v", r.RelErr, most)
	}
}

func within(t *testing.T, what string, f float64, x *big.Rat, err float64) {
	t.Helper()
	if x == nil || f == 0 {
		if f != 0 || x != nil {
			t.Errorf("%s: %v for %v", what, f, x)
		}
		return
	}
	off := new(big.Rat).SetFloat64(f)
	off.Sub(off, x).Quo(off.Abs(off), x)
	if o, _ := off.Float64(); o > err {
		t.Errorf("%s: %v for %s is off by %v, more than %v", what, f, x.RatString(), o, err)
	}
}

// TestRewards: rewards of states and choices, by hand.
func TestRewards(t *testing.T) {
	const src = `mdp
module m s:[0..2]; [a] s=0 -> (s'=1); [b] s=0 -> (s'=2); [] s=1 -> (s'=2); endmodule
module n t:bool; [a] true -> true; endmodule
rewards "r" s=0:1; s<2:2; [a] true:3; [a] s=0:4; [] true:5; endrewards
rewards "none" s>5:1; endrewards`
	s := build(t, src, explicit.Options{})
	r, err := s.Reward(0)
	if err != nil {
		t.Fatal(err)
	}
	// Unlabelled choices come first, then [a], [b]; state 2 is a deadlock.
	for i, want := range []float64{3, 2, 0} {
		if r.State[i] != want {
			t.Errorf("state %d: %v, want %v", i, r.State[i], want)
		}
	}
	for c, want := range []float64{7, 0, 5, 0} {
		if r.Choice[c] != want {
			t.Errorf("choice %d: %v, want %v", c, r.Choice[c], want)
		}
	}
	if none, err := s.Reward(1); err != nil || none.Choice != nil || none.State[0] != 0 {
		t.Errorf("empty structure: %v, %v", none, err)
	}
}

// TestStates evaluates a label with a defined and with a built-in meaning.
func TestStates(t *testing.T) {
	s := build(t, "dtmc module m s:[0..2] init 1; [] true -> 0.5:(s'=0)+0.5:(s'=2); endmodule label \"l\" = s>0;", explicit.Options{})
	for _, tt := range []struct {
		l    *sema.Label
		want []int32 // values of s
	}{
		{&sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "l"}, []int32{1, 2}},
		{&sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "init", Index: sema.LabelInit}, []int32{1}},
		{&sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "deadlock", Index: sema.LabelDeadlock}, nil},
	} {
		set, err := s.States(tt.l)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range set.All() {
			if n >= len(tt.want) || s.State(nil, i)[0] != tt.want[n] {
				t.Errorf("%s: state %d is in", tt.l.Name, i)
			}
			n++
		}
		if n != len(tt.want) {
			t.Errorf("%s: %d states, want %d", tt.l.Name, n, len(tt.want))
		}
	}
}

// Powers and logarithms are weights within rounding of their numbers, also where
// doubles cancel nearly all digits. The numbers are from Python's decimal.
func TestPowers(t *testing.T) {
	for text, want := range map[string]string{
		"pow(2.718281828,-0.3)":     "0.740818220719249192393931345426754307596142180107550599856433",
		"1-pow(0.999999999999,0.3)": "3.00000000000105000000000059500000000e-13",
		"log(3,2)":                  "1.584962500721156181453738943947816508759814407692481060455752",
		"pow(13,3.8)/pow(10,s+4)":   "1.709955225712071741101623665049616182254052976316663319999968",
	} {
		src := "ctmc module m s:[0..1]; [] s=0 -> " + text + ":(s'=1); [] s=1 -> true; endmodule rewards s=0 : " + text + "; endrewards"
		s := build(t, src, explicit.Options{})
		number, _ := new(big.Rat).SetString(want)
		within(t, text, s.Model().Prob(0), number, s.Model().RelErr+1e-30)
		r, err := s.Reward(0)
		if err != nil {
			t.Fatal(err)
		}
		within(t, text, r.State[0], number, r.RelErr+1e-30)
		if s.Model().RelErr > 1e-14 || r.RelErr > 1e-14 {
			t.Errorf("%s: errors are %g and %g, want some roundings", text, s.Model().RelErr, r.RelErr)
		}
	}
}
