package check_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"tilecheck/native/check"
	"tilecheck/result"
)

// hidden: which of two doors hides the prize is not observable; listening costs a step
// and is right with 0.85. The best is to listen three times and to believe the majority.
const hidden = `pomdp
observables heard, done, started, won, n endobservables
module doors
  prize : [0..1] init 0; started : bool; heard : [0..2]; done : bool; won : bool; n : [0..3];
  [start] !started -> 0.5:(prize'=0)&(started'=true) + 0.5:(prize'=1)&(started'=true);
  [listen] started & !done & n<3 & prize=0 -> 0.85:(heard'=1)&(n'=n+1) + 0.15:(heard'=2)&(n'=n+1);
  [listen] started & !done & n<3 & prize=1 -> 0.85:(heard'=2)&(n'=n+1) + 0.15:(heard'=1)&(n'=n+1);
  [open0] started & !done -> (done'=true)&(won'=(prize=0));
  [open1] started & !done -> (done'=true)&(won'=(prize=1));
endmodule
label "prize" = won;
rewards [listen] true : 1; endrewards
rewards "wrong" done & !won : 1; endrewards`

// tiger: behind one of two doors, which can be opened or listened at for as long as one
// likes. With 0.85 a lead of k in what was heard is right with 0.85^k/(0.85^k+0.15^k), and
// no lead is ever enough: the greatest probability, 1, is not attained.
const tiger = `pomdp
observables heard, done, won endobservables
module m
  s : [0..2] init 2; heard : [0..2]; done : bool; won : bool;
  [listen] s=2 -> 0.5:(s'=0) + 0.5:(s'=1);
  [open0] s=2 -> true;
  [open1] s=2 -> true;
  [listen] s=0 & !done -> 0.85:(heard'=1) + 0.15:(heard'=2);
  [listen] s=1 & !done -> 0.85:(heard'=2) + 0.15:(heard'=1);
  [open0] s<2 & !done -> (done'=true) & (won'=(s=0));
  [open1] s<2 & !done -> (done'=true) & (won'=(s=1));
  [] done -> true;
endmodule`

// TestPartial compares with what PRISM and Storm found (reference, more-kinds), and with
// hand calculations: 0.93925 is 0.85^3 + 3*0.85^2*0.15.
func TestPartial(t *testing.T) {
	const walk = `pomdp observables wall, done, goal0 endobservables
module walk x : [0..4] init 2; wall : bool; done : bool; goal0 : bool;
  [left]  !done & x>0 -> 0.8:(x'=x-1)&(wall'=(x-1=0)) + 0.2:true;
  [right] !done & x<4 -> 0.8:(x'=x+1)&(wall'=(x+1=4)) + 0.2:true;
  [left]  !done & x=0 -> true;
  [right] !done & x=4 -> true;
  [stop]  !done -> (done'=true)&(goal0'=(x=4));
endmodule
rewards [left] true : 1; [right] true : 1; endrewards`
	tests := []struct{ model, property, exact string }{
		{hidden, `Pmax=? [ F "prize" ]`, "3757/4000"},
		{hidden, `Pmin=? [ F "prize" ]`, "243/4000"},
		{hidden, `Pmin=? [ G !won ]`, "243/4000"},
		{hidden, `Pmax=? [ n<2 U won ]`, "17/20"}, // one look
		{hidden, `Pmax=? [ !(G !won) ]`, "3757/4000"},
		{hidden, `Pmax=? [ won ]`, "0"},
		{hidden, `filter(state, Pmax=? [ F won ], started&!done&n=0&prize=1)`, "1"}, // who begins there knows it
		{hidden, `Rmax=? [ F done ]`, "3"},
		{hidden, `Rmin=? [ F done ]`, "0"},
		{hidden, `Rmin=? [ F won ]`, "Infinity"},
		{walk, `Pmax=? [ F goal0 ]`, "1"}, // to the right until there is a wall
		{walk, `Rmin=? [ F goal0 ]`, "5/2"},
	}
	for _, tt := range tests {
		v := ask(t, t.Context(), tt.model, tt.property, check.Options{})[0]
		exact := ask(t, t.Context(), tt.model, tt.property, check.Options{Accuracy: result.Exact})[0]
		if v.Err != nil {
			t.Errorf("%s: %v", tt.property, v.Err)
			continue
		}
		want := math.Inf(1)
		r, finite := new(big.Rat).SetString(tt.exact)
		if finite {
			want, _ = r.Float64()
		}
		if want < v.Bound.Lo || want > v.Bound.Hi || len(v.Warnings) > 1 {
			t.Errorf("%s: %v in %v, want %s in it; %v", tt.property, v.Value, v.Bound, tt.exact, v.Warnings)
		}
		if finite && exact.Err == nil && exact.Value.Rat.Cmp(r) != 0 {
			t.Errorf("%s: exactly %v, want %s", tt.property, exact.Value.Rat, tt.exact)
		}
	}
}

// TestPartialBounds wants a bound to be decided where the interval decides it, and left
// open where not.
func TestPartialBounds(t *testing.T) {
	for property, want := range map[string]bool{
		`P<=0.95 [ F won ]`: true,
		`P<=0.5 [ F won ]`:  false,
		`P>=0.01 [ F won ]`: true, // who has listened three times must open one
		`P>=0.07 [ F won ]`: false,
	} {
		if v := ask(t, t.Context(), hidden, property, check.Options{})[0]; v.Err != nil || v.Value.Bool != want {
			t.Errorf("%s: %v, %v, want %v", property, v.Value, v.Err, want)
		}
	}
	v := ask(t, t.Context(), tiger, `Pmax=? [ F won ]`, check.Options{Beliefs: 16})[0]
	if v.Err != nil || v.Bound.Lo < 0.95 || v.Bound.Hi != 1 || len(v.Warnings) != 1 {
		t.Errorf("tiger: %v %v %v, want a wide interval below 1 and a warning", v.Bound, v.Err, v.Warnings)
	}
	v = ask(t, t.Context(), tiger, `P<0.9999999999999 [ F won ]`, check.Options{Beliefs: 16})[0]
	if f := v.Err; f == nil || f.Class != result.NonConverge {
		t.Errorf("tiger: %v %v, want it undecided", v.Value, v.Err)
	}
}

// TestAutomaton follows the best strategy for the doors: who hears the same three times
// opens that door, and it does so by majority.
func TestAutomaton(t *testing.T) {
	c, _, p := checkerOf(t, hidden, `Pmax=? [ F won ]`, check.Options{})
	a, v, err := c.Automaton(t.Context(), p[0])
	if err != nil || v.Err != nil {
		t.Fatal(err, v.Err)
	}
	for heard, want := range map[string]string{"111": "open0", "222": "open1", "121": "open0", "221": "open1"} {
		node, shown := 0, "0,false,true,false,0"
		for i := -1; i < 3; i++ {
			if i >= 0 {
				shown = fmt.Sprintf("%c,false,true,false,%d", heard[i], i+1)
			}
			if i == 2 && a.Nodes[node].Action == want && heard[0] == heard[1] {
				break // two of three are a majority
			}
			if want := []string{"start", "listen", "listen", "listen"}[i+1]; a.Nodes[node].Action != want {
				t.Fatalf("%s: node %d does %q, want %s", heard, node, a.Nodes[node].Action, want)
			}
			for _, b := range a.Nodes[node].Next {
				if b.Observation == shown {
					node = b.Node
					break
				}
			}
		}
		if got := a.Nodes[node].Action; got != want {
			t.Errorf("%s: %s, want %s", heard, got, want)
		}
	}
	c, _, p = checkerOf(t, hidden, `2*Pmax=? [ n<2 U won ]`, check.Options{})
	if _, _, err := c.Automaton(t.Context(), p[0]); err != nil {
		t.Errorf("an operator within an expression: %v", err)
	}
	c, _, p = checkerOf(t, hidden, `n=0`, check.Options{})
	if _, _, err := c.Automaton(t.Context(), p[0]); err == nil {
		t.Error("a property without an operator has an automaton")
	}
}
