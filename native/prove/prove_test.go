package prove_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema/sematest"
)

// spaceOf builds the space of a model, and its properties.
func spaceOf(t *testing.T, src, props string) (*explicit.Space, []*prove.Property) {
	t.Helper()
	space := explicittest.Space(t, src, explicit.Options{Exact: true})
	list, full := sematest.Properties(t, space.Program(), props)
	var out []*prove.Property
	for _, p := range list {
		out = append(out, &prove.Property{Property: logic.Property{Property: p, Program: full, File: "p.props"}})
	}
	return space, out
}

// proven proves one property, and returns what the checker says.
func proven(t *testing.T, ctx context.Context, space *explicit.Space, property *prove.Property) (certify.Result, error) {
	t.Helper()
	prover, err := prove.New(space, prove.Options{Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prover.Add(ctx, property); err != nil {
		return certify.Result{}, err
	}
	results, err := certify.Check(ctx, &prover.File)
	if err != nil {
		t.Fatal(err)
	}
	return results[0], results[0].Err
}

const walk = `dtmc
module m
  s : [0..4] init 2;
  [] s>0 & s<4 -> 0.3:(s'=s-1) + 0.7:(s'=s+1);
  [] s=0 | s=4 -> true;
endmodule
rewards "steps" s>0 & s<4 : 1; endrewards
rewards "all" true : 1; endrewards
label "top" = s=4;
`

// A ring behind a transient state, and a queue.
const ring = `dtmc
module m
  s : [0..3] init 0;
  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [] s=1 -> 1/3:(s'=2) + 2/3:(s'=3);
  [] s=2 -> (s'=1);
  [] s=3 -> 0.5:(s'=3) + 0.5:(s'=1);
endmodule
rewards s=2 : 2; endrewards
`

const queue = `ctmc
module q
  n : [0..2];
  [] n<2 -> 2:(n'=n+1);
  [] n>0 -> 3:(n'=n-1);
endmodule
rewards n>0 : 1; [] n=2 : 1; endrewards
`

const pure = `ctmc
module m
  s : [0..1];
  [] s=0 -> 1.5:(s'=1);
endmodule
rewards s=0 : 1; [] s=0 : 4/3; endrewards
`

const game = `mdp
module m
  s : [0..6] init 0;
  [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [b] s=0 -> 0.1:(s'=0) + 0.2:(s'=3) + 0.7:(s'=4);
  [c] s=1 -> (s'=2);
  [d] s=2 -> (s'=1);
  [e] s=2 -> 0.25:(s'=3) + 0.75:(s'=0);
  [] s=3 | s=4 -> true;
endmodule
rewards [a] true : 2; [b] true : 3; [e] true : 1/3; endrewards
rewards "time" s<3 : 1; endrewards
`

// inMemory proves one property without a file in mind.
func inMemory(t *testing.T, space *explicit.Space, property *prove.Property) (*certify.Result, error) {
	t.Helper()
	prover, err := prove.New(space, prove.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := prover.Proven(t.Context(), property)
	return r, err
}

// meet reports whether two results can be of the same number or set.
func meet(a, b *certify.Result) bool {
	below := func(x, y *big.Rat) bool { return y == nil || x != nil && x.Cmp(y) <= 0 }
	return a.Number == b.Number && (!a.Number && a.Holds == b.Holds || a.Number && below(a.Lower, b.Upper) && below(b.Lower, a.Upper))
}

// TestSmall: values that are too small for any grid are proven as narrowly as others, in
// models too large for fractions, and cost one solution.
func TestSmall(t *testing.T) {
	const model = `mdp
const int N = 110;
module walk
  x : [0..N] init 0; y : [0..N] init 0; gone : bool init false;
  [] !gone & x<N & y<N -> 0.32:(x'=x+1) + 0.32:(y'=y+1) + 0.16:(x'=max(0,x-1)) + 0.2:(gone'=true);
  [] !gone & x=N & y<N -> 0.8:(y'=y+1) + 0.2:(gone'=true);
  [] !gone & x<N & y=N -> 0.8:(x'=x+1) + 0.2:(gone'=true);
  [b] !gone & x<N & y=N -> 0.7:(x'=x+1) + 0.3:(gone'=true);
  [] gone | x+y=2*N -> true;
endmodule
rewards x+y=2*N-1 & !gone : 0.001; endrewards
`
	for prop, want := range map[string]float64{
		`Pmax=? [ F x=N & y=N ]`:               1.9e-27,
		`Pmin=? [ F x=N & y=N ]`:               1.9e-27,
		`Rmax=? [ F gone=true | (x=N & y=N) ]`: 1.9e-30,
	} {
		space, props := spaceOf(t, model, prop)
		r, err := inMemory(t, space, props[0])
		if err != nil {
			t.Fatal(err)
		}
		lo, _ := r.Lower.Float64()
		hi, _ := r.Upper.Float64()
		t.Logf("%s: [%g, %g], about %g", prop, lo, hi, want)
		if !(lo > 0 && hi-lo <= 1e-8*hi) {
			t.Errorf("%s: [%g, %g] is too wide", prop, lo, hi)
		}
	}
}

func TestProven(t *testing.T) {
	for _, tt := range []struct{ model, prop, want string }{
		{walk, `P=? [ F "top" ]`, "49/58"},
		{walk, `P=? [ G s<4 ]`, "9/58"},
		{walk, `P=? [ F<=2 s=4 ]`, "49/100"},
		{walk, `P=? [ X s=3 ]`, "7/10"},
		{walk, `P=? [ s=2 ]`, "1"},
		{walk, `P=? [ s<4 W s=0 ]`, "9/58"},
		{walk, `P=? [ s=4 R s<=4 ]`, "1"},
		{walk, `R{"steps"}=? [ F s=0 | s=4 ]`, "100/29"},
		{walk, `R{"steps"}=? [ F s=4 ]`, "inf"},
		{walk, `R{"steps"}=? [ C ]`, "100/29"},
		{walk, `R{"all"}=? [ C ]`, "inf"},
		{walk, `R{"all"}=? [ C<=7 ]`, "7"},
		{walk, `R{"all"}=? [ I=7 ]`, "1"},
		{walk, `P>=0.84 [ F "top" ]`, "true"},
		{walk, `P>=0.85 [ F "top" ]`, "false"},
		{walk, `P=? [ F P>=0.7 [ X s=4 ] ]`, "70/79"},
		{walk, `E [ F s=0 ]`, "true"},
		{walk, `A [ F s=0 | s=4 ]`, "false"},
		{walk, `A [ G s<5 ]`, "true"},
		{walk, `E [ G s<4 ]`, "true"},
		{walk, `P=? [ F (G s=4) ]`, "49/58"},
		{walk, `P=? [ G (F s=4) ]`, "49/58"},
		{walk, `P=? [ G (F s=2) ]`, "0"},
		{walk, `P=? [ (F s=1) & (F s=4) ]`, "1029/4582"}, // to 1 before 4, and from there to 4
		{walk, `P=? [ (F G s=0) | (G F s=4) ]`, "1"},
		{game, `Pmax=? [ G (F s=3) ]`, "1"},
		{game, `Pmin=? [ G (F s=3) ]`, "0"},
		{game, `Pmax=? [ (G F s=1) & (G F s=2) ]`, "1"},
		{game, `Pmax=? [ (F s=1) & (G F s=4) ]`, "7/12"},
		{game, `Pmin=? [ F G (s=3 | s=4) ]`, "0"},
		{game, `Pmax=? [ F G (s=4) ]`, "7/9"},
		{walk, `A [ F (G s<5) ]`, "true"},
		{walk, `E [ (G F s=1) & (G F s=3) ]`, "true"},
		{walk, `E [ (G F s=1) & (F s=4) ]`, "false"},
		{walk, `A [ (G F s=2) | (F G s=0) | (F G s=4) ]`, "true"},
		{walk, `E [ F<=1 s=4 ]`, "false"},
		{walk, `A [ (F<=2 s=2) & (G F s=2) ]`, "false"},
		{walk, `E [ F (G s=4) ]`, "true"},
		{walk, `E [ G (F s=2) ]`, "true"},
		{walk, `A [ G (F s>=0) ]`, "true"},
		{walk, `A [ G (X s>=1) ]`, "false"},
		{walk, `E [ (F s=0) | (G s=2) ]`, "true"},
		{walk, `E [ (X (X s=4)) & s=2 ]`, "true"},
		{walk, `P=? [ X (X s=4) ]`, "49/100"},
		{walk, `P=? [ X (X (F<=1 s=0)) ]`, "9/100"},
		{walk, `P=? [ X (G s<4) ]`, "9/58"},
		{game, `Pmax=? [ X (X s=3) ]`, "11/50"},
		{walk, `filter(forall, P>0 [ F s=4 ], s>0)`, "true"},
		{walk, `filter(sum, P=? [ F s=4 ], s=2 | s=4)`, "107/58"},
		{walk, `filter(avg, P=? [ F s=4 ], s=2 | s=4)`, "107/116"},
		{walk, `filter(avg, P=? [ G s<4 ], s=2 | s=4)`, "9/116"},
		{walk, `filter(sum, R{"steps"}=? [ F s=4 ])`, "inf"},
		{walk, `filter(count, P>0.5 [ F s=4 ])`, "4"}, // 343/580 from 1 on
		{walk, `filter(count, s>1, s<4)`, "2"},
		{walk, `filter(first, P=? [ F s=4 ], s>1)`, "49/58"},
		{walk, `filter(first, P>=0.9 [ F s=4 ], s>1)`, "false"},
		{walk, `filter(argmax, P=? [ F s=4 ], s<4)`, "false"},
		{walk, `filter(argmax, P=? [ F s=4 ], s<=2)`, "true"},
		{walk, `filter(argmin, P=? [ G s<4 ], s<=2)`, "true"},
		{walk, `filter(argmin, P=? [ F s=0 ], s<=2)`, "true"},
		{walk, `filter(print, filter(argmin, P=? [ F s=0 ]))`, "refused"},
		{walk, `filter(range, P=? [ F s=4 ], s=2)`, "49/58"},
		{walk, `S=? [ s=4 ]`, "49/58"},
		{walk, `R{"all"}=? [ S ]`, "1"},
		{ring, `S=? [ s=1 ]`, "3/8"},
		{ring, `R=? [ S ]`, "1/4"},
		{queue, `S=? [ n=0 ]`, "9/19"},
		{queue, `R=? [ S ]`, "22/19"},
		{queue, `P=? [ n<2 U n=2 ]`, "1"},
		{queue, `R=? [ F n=2 ]`, "1/2"},
		{queue, `P=? [ n=0 ]`, "1"},
		{pure, `P=? [ F<=2 s=1 ]`, "0.95021293163213605702"}, // 1-e^-3
		{pure, `P=? [ G<=2 s=0 ]`, "0.04978706836786394298"},
		{pure, `P=? [ F[1,2] s=1 ]`, "0.95021293163213605702"},
		{pure, `P=? [ s=0 U[1,2] s=1 ]`, "0.1733430917805658859539"}, // e^-1.5-e^-3
		{pure, `P=? [ F>=2 s=0 ]`, "0.04978706836786394298"},
		{pure, `P>=1 [ F<=2 s=0 ]`, "true"},
		{pure, `P>0.96 [ F<=2 s=1 ]`, "false"},
		{pure, `R=? [ C<=2 ]`, "1.9004258632642721140413"}, // 2/3 and 4/3 times 1-e^-3
		{pure, `R=? [ I=2 ]`, "0.04978706836786394298"},
		{game, `Pmax=? [ F s=3 ]`, "1"},
		{game, `Pmin=? [ F s=3 ]`, "0"},
		{game, `Pmin=? [ F s=3 | s=4 ]`, "0"},
		{game, `Pmax=? [ F s=4 ]`, "7/9"},
		{game, `Rmax=? [ F s=3 ]`, "inf"},
		{game, `Rmin=? [ F s=3 | s=4 ]`, "10/3"},
		{game, `Rmin=? [ F s=3 ]`, "28/3"},
		{game, `Rmin=? [ C ]`, "2"},
		{game, `Rmax=? [ C ]`, "28/3"},
		{game, `R{"time"}max=? [ C ]`, "inf"},
		{game, `R{"time"}min=? [ C ]`, "10/9"},
		{game, `R{"time"}min=? [ F s=5 ]`, "inf"},
		{game, `Pmax=? [ F<=3 s=3 ]`, "13/40"},
	} {
		t.Run(tt.prop, func(t *testing.T) {
			space, props := spaceOf(t, tt.model, tt.prop)
			r, err := proven(t, t.Context(), space, props[0])
			if memory, other := inMemory(t, space, props[0]); (other == nil) != (err == nil) || err == nil && !meet(memory, &r) {
				t.Errorf("without a file %+v (%v), with one %+v (%v)", memory, other, r, err)
			}
			switch {
			case tt.want == "refused" && err != nil:
			case err != nil:
				t.Fatal(err)
			case tt.want == "true" || tt.want == "false":
				if r.Number || r.Holds != (tt.want == "true") {
					t.Errorf("%+v, want %s", r, tt.want)
				}
			case tt.want == "inf":
				if r.Lower != nil || r.Upper != nil {
					t.Errorf("%v to %v, want infinity", r.Lower, r.Upper)
				}
			default:
				want, _ := new(big.Rat).SetString(tt.want)
				if r.Lower == nil || r.Upper == nil || r.Lower.Cmp(want) > 0 || r.Upper.Cmp(want) < 0 {
					t.Errorf("%v to %v (%s), want %s", r.Lower, r.Upper, r.Statement, tt.want)
				} else if f, _ := new(big.Rat).Sub(r.Upper, r.Lower).Float64(); f > 1e-7 {
					t.Errorf("the interval has a width of %g", f)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ prop, want string }{
		{`P=? [ F s=4 ] + 1`, "arithmetic with the value of an operator"},
		{`filter(avg, P=? [ F s=4 ] + 1, s<4)`, "arithmetic with the value of an operator"},
	} {
		space, props := spaceOf(t, walk, tt.prop)
		if _, err := proven(t, t.Context(), space, props[0]); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.prop, err, tt.want)
		}
	}
}
