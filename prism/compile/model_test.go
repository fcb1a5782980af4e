package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/prism/sema"
)

func TestInitialStates(t *testing.T) {
	vars := "mdp module m x:[0..3]; b:bool; y:[-1..1]; [] true -> true; endmodule init %s endinit"
	tests := []struct{ init, want string }{
		{"x=1 & b & y=0", "[[1 1 0]]"},
		{"x>1 & !b & y=x-3", "[[2 0 -1] [3 0 0]]"},
		{"x+y=0 & (b | y=0)", "[[0 0 0] [0 1 0] [1 1 -1]]"},
		{"x=0 | mod(3,x)=0 & y=1 & b", "[[0 0 -1] [0 0 0] [0 0 1] [0 1 -1] [0 1 0] [0 1 1] [1 1 1] [3 1 1]]"},
		{"mod(3,x)=0 & x>0", "m.prism:1:75: modulo with non-positive divisor 0 in state (x=0,b=false,y=-1)"},
		{"x>5", "m.prism:1:75: no valuation satisfies init…endinit"},
		{"true", "m.prism:1:75: more than 10 initial states"},
	}
	for _, tt := range tests {
		m := model(t, fmt.Sprintf(vars, tt.init), Options{MaxInitial: 10})
		states, err := m.InitialStates(t.Context())
		got := fmt.Sprint(states)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("init %s: got %s, want %s", tt.init, got, tt.want)
		}
	}
}

// TestInitialStatesPrunes would take an hour if every valuation was looked at.
func TestInitialStatesPrunes(t *testing.T) {
	m := model(t, "mdp module m a:[0..2000]; b:[0..2000]; c:[0..2000]; [] true -> true; endmodule init a=7 & b=a & c=b+1 endinit", Options{})
	states, err := m.InitialStates(t.Context())
	if err != nil || fmt.Sprint(states) != "[[7 7 8]]" {
		t.Errorf("got %v, %v", states, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m = model(t, "mdp module m a:[0..2000]; b:[0..2000]; c:[0..2000]; [] true -> true; endmodule init a+b+c>7000 endinit", Options{})
	if _, err := m.InitialStates(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSeveralInitialStates(t *testing.T) {
	m := model(t, "mdp module m x:[0..3]; [] true -> true; endmodule init x>1 endinit", Options{})
	_, err := m.NewRunner(t.Context(), Monitor{Kind: Next, Right: newBool(noPos, true)})
	if _, ok := errors.AsType[*UnsupportedError](err); !ok || !strings.Contains(err.Error(), "several initial states") {
		t.Errorf("got %v", err)
	}
}

// TestChoices lists the choices of one state of the thesis's example of
// synchronisation: unlabelled first, then [a] with the first module fastest.
// Worked out by hand from the reference, sections 4.2 to 4.4.
func TestChoices(t *testing.T) {
	m := model(t, `mdp
module p
  x : [0..3];
  [a] x=0 -> (x'=1);
  [a] x=0 -> 0.5:(x'=2) + 0.5:(x'=3);
  [] x=0 -> 0.25:(x'=1) + 0.75:(x'=1) + 0:(x'=3);
  [b] x=1 -> true;
endmodule
module q
  y : [0..3];
  [] y=0 -> (y'=3);
  [a] y=0 -> (y'=1);
  [a] y=0 -> 0.1:(y'=2) + 0.9:true;
  [b] true -> true;
endmodule`, Options{})
	cs, err := m.NewExpander().Expand([]int32{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"action -1 module 0 commands [{0 2}]: 1 [1 0]",
		"action -1 module 1 commands [{1 0}]: 1 [0 3]",
		"action 0 module -1 commands [{0 0} {1 1}]: 1 [1 1]",
		"action 0 module -1 commands [{0 1} {1 1}]: 0.5 [2 1], 0.5 [3 1]",
		"action 0 module -1 commands [{0 0} {1 2}]: 0.1 [1 2], 0.9 [1 0]",
		"action 0 module -1 commands [{0 1} {1 2}]: 0.05 [2 2], 0.05 [3 2], 0.45 [2 0], 0.45 [3 0]",
	}
	var got []string
	for _, c := range cs.List {
		var ts []string
		for _, tr := range c.Transitions {
			ts = append(ts, fmt.Sprint(tr.Weight, " ", tr.Target))
		}
		got = append(got, fmt.Sprintf("action %d module %d commands %v: %s", c.Action, c.Module, c.Commands, strings.Join(ts, ", ")))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestExpandKeepsNothing expands one state, another, and the first again.
func TestExpandKeepsNothing(t *testing.T) {
	m := game2048(t, modelgen.Config{Rows: 2, Cols: 2, Max: 16}, "none")
	x := m.NewExpander()
	text := func(s []int32) string {
		cs, err := x.Expand(s)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(cs.List)
	}
	start := m.initialState()
	first := text(start)
	cs, err := x.Expand(start)
	if err != nil {
		t.Fatal(err)
	}
	next := append([]int32(nil), cs.List[0].Transitions[0].Target...)
	if text(next) == first || text(start) != first {
		t.Error("the choices of a state depend on what was expanded before")
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := x.Expand(next); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
}

func TestRewards(t *testing.T) {
	m := model(t, `mdp module m x:[0..3]; [a] x<3 -> (x'=x+1); [] x=2 -> true; endmodule
rewards "r" x>0 : x; x=2 : 0.5; [a] true : 10; [a] x=1 : 1; [] true : 7; endrewards
rewards "bad" x=1 : -1; x=2 : 1/0; endrewards`, Options{})
	r, err := m.Rewards(0)
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []struct{ state, a, unlabelled float64 }{{0, 10, 7}, {1, 11, 7}, {2.5, 10, 7}, {3, 10, 7}} {
		s := []int32{int32(x)}
		state, err1 := r.State(s)
		a, err2 := r.Choice(s, 0)
		u, err3 := r.Choice(s, sema.Unlabelled)
		if state != want.state || a != want.a || u != want.unlabelled || errors.Join(err1, err2, err3) != nil {
			t.Errorf("x=%d: %v, %v, %v, want %v", x, state, a, u, want)
		}
	}
	bad, err := m.Rewards(1)
	if err != nil {
		t.Fatal(err)
	}
	for x, fails := range []bool{false, true, true, false} {
		if _, err := bad.State([]int32{int32(x)}); (err != nil) != fails {
			t.Errorf("x=%d: %v", x, err)
		}
	}
	if _, err := m.Rewards(2); err == nil {
		t.Error("a third structure")
	}
}

// TestFallback gives NewRunner a model of more combinations of commands than
// the machine takes.
func TestFallback(t *testing.T) {
	var b strings.Builder
	b.WriteString("mdp\n")
	for i := range 13 {
		fmt.Fprintf(&b, "module m%d x%d:[0..1]; [a] true -> (x%d'=0); [a] true -> (x%d'=1); endmodule\n", i, i, i, i)
	}
	m := model(t, b.String(), Options{})
	r, err := m.NewRunner(t.Context(), Monitor{Kind: Next, Right: newBool(noPos, true)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Name() != "interpreter" {
		t.Errorf("got the %s", r.Name())
	}
	if out := r.Run(NewStream(1, 1)); out.Status != True || out.Nondet != 1 {
		t.Errorf("got %+v", out)
	}
	m = model(t, chain, Options{})
	if r, err = m.NewRunner(t.Context(), Monitor{Kind: Next, Right: newBool(noPos, true)}); err != nil || r.Name() != "machine" {
		t.Errorf("got %v, %v", r, err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}

// TestForksInParallel draws the same samples with several forks at once.
func TestForksInParallel(t *testing.T) {
	m := game2048(t, modelgen.Config{Rows: 2, Cols: 2, Max: 16}, "random")
	mon := eventually(t, m, "fail")
	for _, r := range bothRunners(t, m, mon) {
		outs := make([][]Outcome, 4)
		var wg sync.WaitGroup
		for i := range outs {
			fork, err := r.Fork()
			if err != nil {
				t.Fatal(err)
			}
			outs[i] = make([]Outcome, 300)
			wg.Go(func() {
				defer fork.Close()
				if err := fork.RunBatch(t.Context(), 5, 0, outs[i]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, o := range outs[1:] {
			if !reflect.DeepEqual(o, outs[0]) {
				t.Errorf("%s: forks differ", r.Name())
			}
		}
	}
}

// TestManyTransitions: of 4000 updates each target is that of four, a thousand apart,
// and they come in the order in which they are met first.
func TestManyTransitions(t *testing.T) {
	var updates []string
	for i := range 4000 {
		updates = append(updates, fmt.Sprintf("1/4000 : (x'=%d)", (i%1000)*7%1000))
	}
	few := "[] x=1 -> 0.5 : (x'=3) + 0.25 : (x'=2) + 0.25 : (x'=3);"
	m := model(t, "dtmc\nmodule m\n  x : [0..999];\n  [] x=0 -> "+strings.Join(updates, " + ")+";\n  "+few+"\nendmodule\n", Options{})
	x := m.NewExpander()
	for range 2 { // also where there was a choice before
		cs, err := x.Expand([]int32{0})
		if err != nil {
			t.Fatal(err)
		}
		got := cs.List[0].Transitions
		if len(got) != 1000 {
			t.Fatalf("%d transitions, want 1000", len(got))
		}
		for i, tr := range got {
			if want := int32(i * 7 % 1000); tr.Target[0] != want || math.Abs(tr.Weight-0.001) > 1e-15 {
				t.Fatalf("transition %d is %v, want 0.001 to %d", i, tr, want)
			}
		}
		if cs, err = x.Expand([]int32{1}); err != nil {
			t.Fatal(err)
		}
		if got := cs.List[0].Transitions; len(got) != 2 || got[0].Weight != 0.75 || got[0].Target[0] != 3 {
			t.Fatalf("found %v, want 0.75 to 3 and 0.25 to 2", got)
		}
	}
}

// Code for all combinations of updates of modules that share an action is generated only if compiling it is fast. The interpreter draws the other paths
// module by module.
func TestCombinationsThatAreCompiled(t *testing.T) {
	for modules, want := range map[int]bool{2: true, 5: true, 6: false, 9: false, 12: false} {
		text := "dtmc"
		for i := range modules {
			text += fmt.Sprintf(" module m%[1]d x%[1]d:[0..1]; [a] x%[1]d=0 -> 0.9:(x%[1]d'=0) + 0.1:(x%[1]d'=1); [a] x%[1]d=1 -> 0.8:(x%[1]d'=1) + 0.2:(x%[1]d'=0); endmodule", i)
		}
		m := model(t, text, Options{})
		monitor := Monitor{Kind: Next, Right: newBool(noPos, true)}
		watch, err := m.newWatch(monitor)
		if err != nil {
			t.Fatal(err)
		}
		_, err = newPathGenerator(m, watch, m.initialState()).assemble()
		_, isRefused := errors.AsType[*UnsupportedError](err)
		if isCompiled := err == nil; isCompiled != want || isRefused == want {
			t.Errorf("%d modules: error %v, want compiled %t", modules, err, want)
		}
	}
}
