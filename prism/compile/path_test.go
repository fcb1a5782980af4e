package compile

import (
	"math"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// expr resolves an expression over a model's variables, by way of a label.
func expr(t *testing.T, text, e string, opts Options) (*Model, sema.Expr) {
	t.Helper()
	m := model(t, text+"\nlabel \"test_expression\" = "+e+";", opts)
	return m, label(t, m, "test_expression")
}

var inf = math.Inf(1)

// chain counts x up to 5, where it has a deadlock.
const chain = `dtmc
module m
  x : [0..5];
  [] x<5 -> (x'=x+1);
endmodule
rewards
  x>=3 : 2;
  [] x=4 : 10;
endrewards`

// loop is chain with a self-loop at 5, that is no deadlock.
const loop = `dtmc
module m
  x : [0..5];
  [] x<5 -> (x'=x+1);
  [] x=5 -> true;
endmodule
rewards
  true : 1;
endrewards`

// TestPaths checks the outcomes of models with a single path against what the
// definitions of the monitors give by hand.
func TestPaths(t *testing.T) {
	until := func(low, high float64) Monitor {
		return Monitor{Kind: Until, Low: low, High: high, MaxPath: 100}
	}
	strict := func(low, high float64) Monitor {
		mon := until(low, high)
		mon.IsLowStrict, mon.IsHighStrict = true, true
		return mon
	}
	tests := []struct {
		name, model, left, right string
		mon                      Monitor
		want                     Outcome
	}{
		{"F at once", chain, "true", "x=0", until(-inf, inf), Outcome{Status: True}},
		{"F later", chain, "true", "x=4", until(-inf, inf), Outcome{Status: True, Steps: 4}},
		{"F never, deadlock", chain, "true", "false", until(-inf, inf), Outcome{Status: False, Steps: 5}},
		{"F never, loop", loop, "true", "false", until(-inf, inf), Outcome{Status: False, Steps: 6}},
		{"U violated", chain, "x<2", "x=4", until(-inf, inf), Outcome{Status: False, Steps: 2}},
		{"U, right when left ends", chain, "x<2", "x=2", until(-inf, inf), Outcome{Status: True, Steps: 2}},
		{"F<=3 in time", chain, "true", "x=3", until(-inf, 3), Outcome{Status: True, Steps: 3}},
		{"F<=2 too late", chain, "true", "x=3", until(-inf, 2), Outcome{Status: False, Steps: 3}},
		{"F<3 too late", chain, "true", "x=3", strict(-inf, 3), Outcome{Status: False, Steps: 3}},
		{"F<4 in time", chain, "true", "x=3", strict(-inf, 4), Outcome{Status: True, Steps: 3}},
		{"F>=2 skips the first", chain, "true", "x=1", until(2, inf), Outcome{Status: False, Steps: 5}},
		{"F>=2 on the bound", chain, "true", "x=2", until(2, inf), Outcome{Status: True, Steps: 2}},
		{"F>2 misses the bound", chain, "true", "x=2", strict(2, inf), Outcome{Status: False, Steps: 5}},
		{"F[7,9] in the deadlock", chain, "true", "x=5", until(7, 9), Outcome{Status: True, Steps: 5}},
		{"F[7,9] not in the deadlock", chain, "true", "x=4", until(7, 9), Outcome{Status: False, Steps: 5}},
		{"F<=9, deadlock", chain, "true", "false", until(-inf, 9), Outcome{Status: False, Steps: 5}},
		{"U[3,9], left fails early", chain, "x!=1", "x=4", until(3, 9), Outcome{Status: False, Steps: 1}},
		{"F>=20 in a loop", loop, "true", "x=5", until(20, inf), Outcome{Status: True, Steps: 20}},
		{"F>=200 gives up", loop, "true", "x=5", until(200, inf), Outcome{Status: Undecided, Steps: 100}},
		{"X", chain, "true", "x=1", Monitor{Kind: Next}, Outcome{Status: True, Steps: 1}},
		{"X false", chain, "true", "x=0", Monitor{Kind: Next}, Outcome{Status: False, Steps: 1}},
		{"R F", chain, "true", "x=4", Monitor{Kind: ReachReward, Low: -inf, High: inf, MaxPath: 100}, Outcome{Status: True, Steps: 4, Reward: 2}},
		{"R F, impulse", chain, "true", "x=5", Monitor{Kind: ReachReward, Low: -inf, High: inf, MaxPath: 100}, Outcome{Status: True, Steps: 5, Reward: 14}},
		{"R F never, deadlock", chain, "true", "false", Monitor{Kind: ReachReward, Low: -inf, High: inf, MaxPath: 100}, Outcome{Status: Undecided, Steps: 5, Reward: 14}},
		{"R F never, loop", loop, "true", "false", Monitor{Kind: ReachReward, Low: -inf, High: inf, MaxPath: 100}, Outcome{Status: Undecided, Steps: 100, Reward: 100}},
		{"R F, bounds do not matter", loop, "true", "false", Monitor{Kind: ReachReward, MaxPath: 10}, Outcome{Status: Undecided, Steps: 10, Reward: 10}},
		{"C<=0", chain, "true", "true", Monitor{Kind: CumulReward, High: 0}, Outcome{Status: True}},
		{"C<=4", chain, "true", "true", Monitor{Kind: CumulReward, High: 4}, Outcome{Status: True, Steps: 4, Reward: 2}},
		{"C<=5", chain, "true", "true", Monitor{Kind: CumulReward, High: 5}, Outcome{Status: True, Steps: 5, Reward: 14}},
		{"C<=10, deadlock", chain, "true", "true", Monitor{Kind: CumulReward, High: 10}, Outcome{Status: True, Steps: 5, Reward: 24}},
		{"I=0", chain, "true", "true", Monitor{Kind: InstantReward, High: 0}, Outcome{Status: True}},
		{"I=3", chain, "true", "true", Monitor{Kind: InstantReward, High: 3}, Outcome{Status: True, Steps: 3, Reward: 2}},
		{"I=10, deadlock", chain, "true", "true", Monitor{Kind: InstantReward, High: 10}, Outcome{Status: True, Steps: 5, Reward: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := model(t, tt.model+"\nlabel \"left\" = "+tt.left+"; label \"right\" = "+tt.right+";", Options{})
			tt.mon.Left, tt.mon.Right = label(t, m, "left"), label(t, m, "right")
			for _, r := range bothRunners(t, m, tt.mon) {
				if got := r.Run(NewStream(1, 1)); got != tt.want {
					t.Errorf("%s: got %+v, want %+v", r.Name(), got, tt.want)
				}
			}
		})
	}
}

// TestLoopsOfCTMC ends a path in a state that only a self-loop leaves, whatever its rate is. Time bounds are decided by the time.
func TestLoopsOfCTMC(t *testing.T) {
	const model2 = `ctmc
module m
  x : [0..2];
  [] x<2 -> x+2 : (x'=x+1);
  [] x=2 -> RATES;
endmodule
`
	for rates, isLoop := range map[string]bool{"3 : true": true, "x+1 : true": true, "x-2 : (x'=0) + 4 : (x'=x)": true, "1 : (x'=0) + 4 : true": false} {
		m := model(t, strings.Replace(model2, "RATES", rates, 1), Options{})
		for low, wantsLoop := range map[float64]bool{-inf: isLoop, 0.5: false} {
			monitor := Monitor{Kind: Until, Right: newBool(noPos, false), Low: low, High: inf, MaxPath: 100}
			want := Outcome{Status: Undecided, Steps: 100}
			if wantsLoop {
				want = Outcome{Status: False, Steps: 3}
			}
			for _, r := range bothRunners(t, m, monitor) {
				if got := r.Run(NewStream(1, 1)); got.Status != want.Status || got.Steps != want.Steps {
					t.Errorf("%s, %s, from %v: %+v, want %+v", r.Name(), rates, low, got, want)
				}
			}
		}
	}
}

// TestMayBeNegative tells structures whose rewards may be negative.
func TestMayBeNegative(t *testing.T) {
	for value, want := range map[string]bool{"x": false, "-x": true, "x-1": true, "x+0.5": false, "max(0,x-1)": false, "-0.5": true, "2": false, "1/x": true} {
		m := model(t, "dtmc\nmodule m\nx:[0..3];\n[] true -> true;\nendmodule\nrewards\nx>1 : "+value+";\nendrewards", Options{})
		if got := m.MayBeNegative(0); got != want {
			t.Errorf("%s: got %v", value, got)
		}
	}
}

// TestBuiltInLabels watches for the two labels every model has.
func TestBuiltInLabels(t *testing.T) {
	m := model(t, chain, Options{})
	dead := &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "deadlock", Index: sema.LabelDeadlock}
	initial := &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "init", Index: sema.LabelInit}
	moved := &sema.Unary{Base: sema.Base{ValueType: sema.Bool}, Op: syntax.OpNot, X: initial}
	for want, e := range map[int64]sema.Expr{5: dead, 0: initial, 1: moved} {
		for _, r := range bothRunners(t, m, Monitor{Kind: Until, Right: e, Low: -inf, High: inf, MaxPath: 100}) {
			if got := r.Run(NewStream(1, 1)); got.Status != True || got.Steps != want {
				t.Errorf("%s: got %+v, want %d steps", r.Name(), got, want)
			}
		}
	}
}

// TestNoFixDeadlocks checks that a deadlock ends a path that is not decided.
func TestNoFixDeadlocks(t *testing.T) {
	m := model(t, chain, Options{NoFixDeadlocks: true})
	for _, r := range bothRunners(t, m, Monitor{Kind: Until, Right: newBool(noPos, false), Low: -inf, High: inf, MaxPath: 100}) {
		out := r.Run(NewStream(1, 1))
		if out.Status != Deadlocked || out.Err.Error() != "m.prism: deadlock in state (x=5)" {
			t.Errorf("%s: %+v", r.Name(), out)
		}
	}
}

// estimate draws n samples and returns the mean of what each gives.
func estimate(t *testing.T, m *Model, mon Monitor, n int, value func(Outcome) float64) float64 {
	t.Helper()
	r, err := m.NewRunner(t.Context(), mon)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := make([]Outcome, n)
	if err := r.RunBatch(t.Context(), 42, 0, out); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, o := range out {
		if o.Status > False {
			t.Fatalf("outcome %+v", o)
		}
		sum += value(o)
	}
	return sum / float64(n)
}

func holds(o Outcome) float64  { return boolToFloat(o.Status == True) }
func reward(o Outcome) float64 { return o.Reward }

// TestEstimates compares means of 40,000 samples with exact values, to within
// five standard deviations: a new seed fails a line with probability 6e-7.
func TestEstimates(t *testing.T) {
	const n = 40000
	die := `dtmc module die s:[0..7]; d:[0..6];
		[] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s=1 -> 0.5:(s'=3)+0.5:(s'=4); [] s=2 -> 0.5:(s'=5)+0.5:(s'=6);
		[] s=3 -> 0.5:(s'=1)+0.5:(s'=7)&(d'=1); [] s=4 -> 0.5:(s'=7)&(d'=2)+0.5:(s'=7)&(d'=3);
		[] s=5 -> 0.5:(s'=7)&(d'=4)+0.5:(s'=7)&(d'=5); [] s=6 -> 0.5:(s'=2)+0.5:(s'=7)&(d'=6); [] s=7 -> true;
		endmodule rewards [] s<7 : 1; endrewards label "goal" = s=7 & d=6; label "end" = s=7;`
	// Two commands overlap: one goes to 1, the other to 1 or 2; PRISM's answer is 3/4.
	overlap := `dtmc module m s:[0..2]; [] s=0 -> (s'=1); [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s>0 -> true; endmodule label "goal" = s=1;`
	// Rate 2 leaves 0; rates 1 and 3 race to 2 and 3. Exp(2) exceeds 0.5 with probability e^-1.
	race := `ctmc module m s:[0..3]; [] s=0 -> 2:(s'=1); [] s=1 -> 1:(s'=2); [] s=1 -> 3:(s'=3); endmodule
		rewards s=0 : 4; s=2 : 1; [] s=1 : 5; endrewards label "goal" = s=2; label "left" = s>0; label "end" = s>=2;`
	uniform := `mdp module m s:[0..3]; [] s=0 -> (s'=1); [a] s=0 -> (s'=2); [] s=0 -> (s'=3); [] s>0 -> true; endmodule label "goal" = s=3;`
	leave := `ctmc module m s:[0..1]; [] s=0 -> 2:(s'=1); endmodule rewards s=0 : 4; s=1 : 0.5; endrewards label "goal" = s=1;`
	// P(s=1 at time 1) when 0 and 1 swap at rates 1 and 2: (1-e^-3)/3.
	swap := `ctmc module m s:[0..1]; [] s=0 -> 1:(s'=1); [] s=1 -> 2:(s'=0); endmodule rewards s=1:1; endrewards label "goal" = s=1;`
	tests := []struct {
		name, model, goal string
		mon               Monitor
		value             func(Outcome) float64
		want, deviation   float64 // of one sample
	}{
		{"die", die, "goal", Monitor{Kind: Until, Low: -inf, High: inf, MaxPath: 1000}, holds, 1. / 6, 0.373},
		{"die, flips", die, "end", Monitor{Kind: ReachReward, Low: -inf, High: inf, MaxPath: 1000}, reward, 11. / 3, 1.34},
		{"overlap", overlap, "goal", Monitor{Kind: Until, Low: -inf, High: inf, MaxPath: 10}, holds, 0.75, 0.434},
		{"uniform choice", uniform, "goal", Monitor{Kind: Until, Low: -inf, High: inf, MaxPath: 10}, holds, 1. / 3, 0.472},
		{"race", race, "goal", Monitor{Kind: Until, Low: -inf, High: inf, MaxPath: 10}, holds, 0.25, 0.434},
		{"leaving time", race, "left", Monitor{Kind: Until, Low: -inf, High: 0.5}, holds, 1 - math.Exp(-1), 0.483},
		{"left from 1 on", race, "left", Monitor{Kind: Until, Low: 0.5, High: 0.5}, holds, 1 - math.Exp(-1), 0.483},
		{"reach reward", race, "end", Monitor{Kind: ReachReward, Low: -inf, High: inf, MaxPath: 10}, reward, 4*0.5 + 5, 2},
		{"time in 0", leave, "goal", Monitor{Kind: CumulReward, High: 0.25}, reward, 4*(1-math.Exp(-0.5))/2 + 0.5*(0.25-(1-math.Exp(-0.5))/2), 0.32},
		{"instantaneous", swap, "goal", Monitor{Kind: InstantReward, High: 1}, reward, (1 - math.Exp(-3)) / 3, 0.466},
		{"cumulative", swap, "goal", Monitor{Kind: CumulReward, High: 1}, reward, 1. / 3 * (1 - (1-math.Exp(-3))/3), 0.3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := model(t, tt.model, Options{})
			tt.mon.Right = label(t, m, tt.goal)
			got := estimate(t, m, tt.mon, n, tt.value)
			if math.Abs(got-tt.want) > 5*tt.deviation/math.Sqrt(n) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Test2048 compares with an independent simulation of the game, 400,000 games a
// number (reference/2048-numbers.md). 20,000 samples; five standard deviations
// of both, 0.0185 and 0.011.
func Test2048(t *testing.T) {
	for policy, want := range map[string]struct{ loss, within float64 }{
		"random":                  {0.444, 0.0185},
		"pref:left,up,down,right": {0.098, 0.011},
		"pref:up,down,left,right": {0.737, 0.0164},
	} {
		if policy != "random" && !needs.OrFull(false, true) {
			continue
		}
		m := game2048(t, modelgen.Config{Rows: 4, Cols: 4, Max: 128}, policy)
		if got := estimate(t, m, eventually(t, m, "fail"), 20000, holds); math.Abs(got-want.loss) > want.within {
			t.Errorf("%s: got %v, want %v", policy, got, want.loss)
		}
	}
}

// TestCounts checks Nondet and Overlap.
func TestCounts(t *testing.T) {
	text := ` module m s:[0..3]; [] s<3 -> (s'=s+1); [] s=1 -> (s'=2); endmodule`
	mon := Monitor{Kind: CumulReward, High: 3}
	for _, kind := range []string{"dtmc", "mdp"} {
		m := model(t, kind+text+" rewards true:1; endrewards", Options{})
		for _, r := range bothRunners(t, m, mon) {
			out := r.Run(NewStream(9, 9))
			nondet, overlap := int64(0), int64(1)
			if kind == "mdp" {
				nondet, overlap = 1, 0
			}
			if out.Nondet != nondet || out.Overlap != overlap {
				t.Errorf("%s, %s: %+v", kind, r.Name(), out)
			}
		}
	}
}

// TestStateErrors checks what is said about a wrong model, and where.
func TestStateErrors(t *testing.T) {
	tests := []struct{ model, want string }{
		{"dtmc\nmodule m\nx:[0..8] init 8;\n[] true -> (x'=x+1);\nendmodule", "m.prism:4:12: x'=9 leaves [0..8] in state (x=8)"},
		{"dtmc\nmodule m\nx:[0..1]; b:bool init true;\n[] true -> 0.5:(x'=1)+0.4:true;\nendmodule", "m.prism:4:1: probabilities sum to 0.9, not to 1 in state (x=0,b=true)"},
		{"dtmc\nmodule m\nx:[0..1];\n[] true -> 1-x:(x'=1)+0.5-x:true+x-0.5:true;\nendmodule", "m.prism:4:34: probability -0.5 is negative in state (x=0)"},
		{"ctmc\nmodule m\nx:[0..1];\n[] true -> 1/x:(x'=1);\nendmodule", "m.prism:4:12: rate +Inf is not finite in state (x=0)"},
		{"ctmc\nmodule m\nx:[0..1];\n[] true -> x:(x'=1)+x:true;\nendmodule", "m.prism:4:1: rate of every update is zero in state (x=0)"},
		{"mdp\nmodule m\nx:[0..1];\n[] mod(5,x)=0 -> true;\nendmodule", "m.prism:4:4: modulo with non-positive divisor 0 in state (x=0)"},
		{"mdp\nmodule m\nx:[0..1];\n[] true -> (x'=floor(1/x));\nendmodule", "m.prism:4:16: floor(Infinity) cannot be represented by a 32-bit int in state (x=0)"},
		{"mdp\nmodule m\nx:int init 2147483647;\n[] x+1>0 -> true;\nendmodule", "m.prism:4:4: integer overflow: 2147483648 does not fit 32 bits in state (x=2147483647)"},
		{"mdp\nmodule m\nx:[0..1];\n[] pow(2,x-1)=1 -> true;\nendmodule", "m.prism:4:4: negative exponent -1 of an integer power; write the base as a double in state (x=0)"},
		{"mdp\nmodule m\nx:[0..1];\n[] true -> true;\nendmodule\nrewards\ntrue : 1/x;\nendrewards", "m.prism:7:8: found the reward +Inf, want a finite reward in state (x=0)"},
	}
	for _, tt := range tests {
		m := model(t, tt.model, Options{})
		mon := Monitor{Kind: CumulReward, High: 2}
		if len(m.program.Rewards) == 0 {
			mon = Monitor{Kind: Until, Right: newBool(noPos, false), High: 2}
		}
		for _, r := range bothRunners(t, m, mon) {
			out := r.Run(NewStream(1, 1))
			if out.Status != Failed || out.Err.Error() != tt.want {
				t.Errorf("%s: got %v, want %s", r.Name(), out.Err, tt.want)
			}
		}
		if strings.Contains(tt.want, "reward") {
			continue
		}
		if _, err := m.NewExpander().Expand(m.initialState()); err == nil || err.Error() != tt.want {
			t.Errorf("Expand: got %v, want %s", err, tt.want)
		}
	}
}
