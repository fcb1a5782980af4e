package simulate_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

const walkedChain = `dtmc
module m
  s : [0..4];
  [] s=0 -> 0.5 : (s'=1) + 0.3 : (s'=2) + 0.2 : (s'=0);
  [] s=1 -> 0.2 : (s'=3) + 0.5 : (s'=2) + 0.3 : (s'=0);
  [] s=2 -> 0.5 : (s'=4) + 0.5 : (s'=1);
  [] s=4 -> true;
endmodule
rewards "c" s=0 : 1; s=1 : 0.5; s=2 : 0.1; s=4 : 2; endrewards
`

// checkWalked samples a property, and checks that the valid interval contains the value.
func checkWalked(t *testing.T, model, property string, maxReward float64) {
	t.Helper()
	checkWalkedAs(t, model, property, model, property, maxReward)
}

// checkWalkedAs checks that the valid interval of a sampled property contains the value of another property of another model.
func checkWalkedAs(t *testing.T, wantModel, wantProperty, model, property string, maxReward float64) {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: []string{property}}
	wanted := job
	wanted.Model, wanted.Props = []byte(wantModel), []string{wantProperty}
	wanted.Numeric.Accuracy = result.Bounded
	want, err := runner.Check(t.Context(), native.New(), wanted)
	if err != nil || want[0].Err != nil {
		t.Fatal(err, want)
	}
	job.Method = runner.CI
	job.Simulation.Samples, job.Simulation.Confidence, job.Simulation.Seed = int64(needs.Some(40_000)), 0.9999, 1
	job.Simulation.MaxReward = maxReward
	got, err := runner.Check(t.Context(), native.New(), job)
	if err != nil || got[0].Err != nil {
		t.Fatalf("%s: %v %v", property, err, got[0].Err)
	}
	value := want[0].Value.Num
	if bound := got[0].Bound; bound == nil || value < bound.Lo-1e-12 || value > bound.Hi+1e-12 || bound.Hi-bound.Lo > 0.3*math.Max(1, maxReward) {
		t.Errorf("%s: estimate %v in %v, want %v", property, got[0].Value.Num, got[0].Bound, value)
	}
	if halfWidth := got[0].HalfWidth; halfWidth != nil && math.Abs(got[0].Value.Num-value) > *halfWidth+1e-12 {
		t.Errorf("%s: estimate %v +/- %v, want %v", property, got[0].Value.Num, *halfWidth, value)
	}
}

// TestWalked samples conditional probabilities, discounted rewards and bounds on rewards.
func TestWalked(t *testing.T) {
	ctmc := strings.NewReplacer("dtmc", "ctmc", "  [] s=4 -> true;\n", "").Replace(walkedChain)
	for _, property := range []string{
		"P=? [ F s=3 || F s=1 ]", "P=? [ F s=1 || F s=3 ]", "P=? [ G s!=2 || F s=3 ]", "P=? [ X s=1 || F<=3 s=3 ]", "P=? [ F<=2 s=1 || !(F s=3) ]",
		"P=? [ !(s<2 U s=2) || F s=4 ]", "P=? [ F s=2 || G s!=3 ]",
	} {
		checkWalked(t, walkedChain, property, 0)
		if !strings.Contains(property, "<=") {
			checkWalked(t, ctmc, property, 0)
		}
	}
	for property, most := range map[string]float64{
		`R{"c"}=? [ Cdiscount=0.5 ]`: 4, `R{"c"}=? [ Cdiscount=0.9 ]`: 20, `R{"c"}=? [ C<=3 discount=0.9 ]`: 6, `R{"c"}=? [ C<=0 discount=0.9 ]`: 1,
		`R{"c"}=? [ C<=2000 discount=0.8 ]`: 10,
	} {
		checkWalked(t, walkedChain, property, most)
	}
	for _, property := range []string{
		`P=? [ F{"c"}<=2 s=3 ]`, `P=? [ F{"c"}<1.6 s=4 ]`, `P=? [ F{"c"}<=1.6 s=4 ]`, `P=? [ F{"c"}>1 s=2 ]`, `P=? [ F{"c"}>=1.1 s=2 ]`, `P=? [ s<2 U{"c"}<=3 s=3 ]`, `P=? [ F{"c"}>100 s=4 ]`,
	} {
		checkWalked(t, walkedChain, property, 0)
	}
	for property, most := range map[string]float64{`R{"c"}=? [ C{"c"}<=2 ]`: 2, `R{"c"}=? [ C{"c"}<=1.6,steps<=4 ]`: 2, `R{"d"}=? [ C{"c"}<=3 ]`: 60} {
		checkWalked(t, walkedChain+"rewards \"d\" [] true : 2; endrewards\n", property, most)
	}
}

// TestWalkedConditionalRewards samples conditional rewards of a DTMC and of a CTMC.
func TestWalkedConditionalRewards(t *testing.T) {
	chain := walkedChain + "rewards \"d\" s<2 : 0.5; [a] true : 2; endrewards\n"
	chain = strings.ReplaceAll(strings.Replace(chain, "  [] s=4", "  [] s=3 -> true;\n  [] s=4", 1), "[] s=1", "[a] s=1")
	for property, most := range map[string]float64{
		`R{"d"}=? [ F s=3 || F s=3 ]`: 80, `R{"d"}=? [ F s>2 || F s=3 ]`: 80, `R{"d"}=? [ C<=3 || F s=3 ]`: 8, `R{"d"}=? [ I=2 || !(F s=3) ]`: 2, `R{"d"}=? [ F s=1 || s!=2 U s=1 ]`: 30,
		`R{"d"}=? [ C<=0 || F s=3 ]`: 1,
	} {
		checkWalked(t, chain, property, most)
	}
	ctmc := strings.NewReplacer("dtmc", "ctmc", "  [] s=3 -> true;\n", "", "  [] s=4 -> true;\n", "", "0.2 : (s'=0)", "1.2 : (s'=1)").Replace(chain)
	for property, most := range map[string]float64{`R{"d"}=? [ F s>2 || F s=3 ]`: 80, `R{"d"}=? [ F s=3 || F s=3 ]`: 80} {
		checkWalked(t, ctmc, property, most)
	}
	for property, most := range map[string]float64{`R{"d"}=? [ C<=1.5 || F s=3 ]`: 40, `R{"d"}=? [ I=1.5 || F s=3 ]`: 1} {
		checkWalked(t, ctmc, property, most)
	}
}

// TestWalkedMDP: the choices of an MDP are made at random, so the estimate is that of the DTMC whose commands are chosen so.
func TestWalkedMDP(t *testing.T) {
	chain := strings.Replace(walkedChain, "  [] s=1", "  [] s=0 -> (s'=1);\n  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=0);\n  [] s=1", 1)
	chain = strings.Replace(chain, "  [] s=4", "  [] s=3 -> true;\n  [] s=4", 1)
	for property, most := range map[string]float64{
		`P%s=? [ F s=3 || F s=1 ]`: 0, `P%s=? [ G s!=2 || F<=4 s=3 ]`: 0, `R{"c"}%s=? [ F s>2 || F s=3 ]`: 40, `R{"c"}%s=? [ C{"c"}<=2 ]`: 2, `R{"c"}%s=? [ C<=3 || F s=3 ]`: 8,
	} {
		checkWalkedAs(t, chain, fmt.Sprintf(property, ""), strings.Replace(chain, "dtmc", "mdp", 1), fmt.Sprintf(property, "max"), most)
	}
}

// signedRewards has rewards of both signs, of states and of steps.
const signedRewards = `rewards "n" s<2 : s-1; s=2 : 0.5; s=3 : -1.5; [] s=1 : -0.25; s=4 : 1; [] s=2 : 1; endrewards
`

// TestNegativeRewards samples rewards that may be negative: the bound of --max-reward is that of their absolute value.
func TestNegativeRewards(t *testing.T) {
	chain := strings.Replace(walkedChain, "  [] s=4", "  [] s=3 -> true;\n  [] s=4", 1) + signedRewards
	absolute := map[string]float64{
		`R{"n"}=? [ C<=0 ]`: 1, `R{"n"}=? [ C<=1 ]`: 2, `R{"n"}=? [ C<=6 ]`: 12, `R{"n"}=? [ I=0 ]`: 2, `R{"n"}=? [ I=3 ]`: 2, `R{"n"}=? [ F s>2 ]`: 60,
		`R{"n"}=? [ Cdiscount=0.5 ]`: 4,
	}
	for property, most := range absolute {
		checkWalked(t, chain, property, most)
	}
	mdp := strings.Replace(strings.Replace(chain, "dtmc", "mdp", 1), "  [] s=1", "  [] s=1 -> (s'=4);\n  [] s=1", 1)
	uniform := strings.Replace(mdp, "mdp", "dtmc", 1)
	checkWalkedAs(t, uniform, `R{"n"}=? [ C<=4 ]`, mdp, `R{"n"}max=? [ C<=4 ]`, 10)
	ctmc := strings.NewReplacer("dtmc", "ctmc", "s=3 -> true", "s=3 -> 2.5 : true").Replace(chain)
	for property, most := range map[string]float64{`R{"n"}=? [ C<=1.5 ]`: 60, `R{"n"}=? [ I=1.5 ]`: 2, `R{"n"}=? [ F s>2 ]`: 60} {
		checkWalked(t, ctmc, property, most)
	}
}

// TestLoopsOfCTMC samples properties without time bounds of a CTMC whose paths end in self-loops.
func TestLoopsOfCTMC(t *testing.T) {
	ctmc := strings.NewReplacer("dtmc", "ctmc", "  [] s=4 -> true", "  [] s=3 -> 4 : true;\n  [] s=4 -> true").Replace(walkedChain)
	for _, property := range []string{"P=? [ F s=3 ]", "P=? [ G s!=3 ]", "P=? [ s<3 U s=4 ]", "P=? [ F s=4 || F s=1 ]", "P=? [ F<=2 s=4 ]"} {
		checkWalked(t, ctmc, property, 0)
	}
	checkWalked(t, ctmc, `R{"c"}=? [ C<=3 ]`, 6)
}

// TestWalkedDeadlock: a deadlock counts as a loop with the reward of its state.
func TestWalkedDeadlock(t *testing.T) {
	deadlock := strings.Replace(walkedChain, "  [] s=4 -> true;\n", "", 1)
	for property, most := range map[string]float64{`R{"c"}=? [ Cdiscount=0.5 ]`: 4, `R{"c"}=? [ C<=30 discount=0.8 ]`: 10, `P=? [ F{"c"}>100 s=4 ]`: 0, "P=? [ G s!=2 || F s=3 ]": 0, `P=? [ F{"c"}<=2 s=1 ]`: 0} {
		checkWalked(t, deadlock, property, most)
	}
}

// TestDiscountedTail: the reward comes after the discount is negligible, so only paths of a random length find it. Its mean is right.
func TestDiscountedTail(t *testing.T) {
	const model = `dtmc
const int N = 70;
module m
  n : [0..N];
  [] n<N -> 0.5 : (n'=n+1) + 0.5 : (n'=min(n+1,N));
  [] n=N -> 0.5 : (n'=N) + 0.5 : (n'=N-1);
endmodule
rewards "c" n=N : pow(2.0, 70); endrewards
`
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: []string{`R{"c"}=? [ Cdiscount=0.5 ]`},
		Settings: runner.Settings{Method: runner.CI, Simulation: runner.Simulation{Samples: 20_000, Confidence: 0.9999, Seed: 1}},
	})
	if err != nil || verdicts[0].Err != nil {
		t.Fatal(err, verdicts)
	}
	// V(N) = 2^70 + V(N)/4 + V(N-1)/4 and V(N-1) = V(N)/2, so V(N) = 2^70 8/5, and V(0) = V(N)/2^70.
	want, _ := big.NewRat(8, 5).Float64()
	if verdict := verdicts[0]; math.Abs(verdict.Value.Num-want) > *verdict.HalfWidth || *verdict.HalfWidth > 0.3 {
		t.Errorf("%v +/- %v, want %v", verdict.Value.Num, *verdict.HalfWidth, want)
	}
}

// TestWalkedRefused checks what is refused by name.
func TestWalkedRefused(t *testing.T) {
	thirds := strings.Replace(walkedChain, "s=1 : 0.5", "s=1 : 1/3", 1)
	impossible := strings.Replace(walkedChain, "0.2 : (s'=3) + 0.5 : (s'=2)", "0 : (s'=3) + 0.7 : (s'=2)", 1)
	for _, tt := range []struct{ model, property, want string }{
		{walkedChain, "P=? [ F G s=3 || F s=1 ]", "simulation wants one temporal operator over states (no LTL)"},
		{walkedChain, `R{"c"}=? [ C || F s=1 ]`, "found the total reward C without a time bound, simulation wants C<=t"},
		{walkedChain, `R{"c"}=? [ Cdiscount=0.9 || F s=1 ]`, "with a condition (||), simulation wants F, C<=t or I=t"},
		{walkedChain, `R{"c"}=? [ F s=3 || F s=4 ]`, "a path was not decided after 10000 steps"},
		{strings.Replace(walkedChain, "dtmc", "ctmc", 1), `R{"c"}=? [ Cdiscount=0.5 ]`, "want a DTMC or an MDP"},
		{thirds, `P=? [ F{"c"}<=2 s=3 ]`, "sampling of reward bounds wants rewards with at most nine decimal places"},
		{impossible, "P=? [ F s=1 || F s=3 ]", "no path of 1000000 satisfies the condition behind ||, whose probability may be 0"},
	} {
		if tt.model == impossible && !needs.IsFull() {
			continue
		}
		verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
			File: "m.prism", Model: []byte(tt.model), Dialect: syntax.Storm, Props: []string{tt.property},
			Settings: runner.Settings{Method: runner.CI, Simulation: runner.Simulation{Samples: 100, Seed: 1}},
		})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(verdicts[0].Err)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.property, got, tt.want)
		}
	}
}

// TestWalkedDoesNotDependOnWorkers: the estimate is a function of the seed.
func TestWalkedDoesNotDependOnWorkers(t *testing.T) {
	for _, property := range []string{"P=? [ F s=3 || F s=1 ]", `R{"c"}=? [ Cdiscount=0.9 ]`, `P=? [ F{"c"}<=2 s=3 ]`} {
		var values []float64
		for _, workers := range []int{1, 2, 7} {
			verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
				File: "m.prism", Model: []byte(walkedChain), Dialect: syntax.Storm, Props: []string{property},
				Settings: runner.Settings{Method: runner.CI, Simulation: runner.Simulation{Samples: 1000, Seed: 5, Workers: workers}},
			})
			if err != nil || verdicts[0].Err != nil {
				t.Fatal(err, verdicts)
			}
			values = append(values, verdicts[0].Value.Num)
		}
		if values[0] != values[1] || values[1] != values[2] {
			t.Errorf("%s: %v", property, values)
		}
	}
}

// TestManyModulesStepByStep samples models whose modules share an action and have 3^24 combinations of updates. They do the same as module m alone.
func TestManyModulesStepByStep(t *testing.T) {
	const chain = "dtmc\nmodule m s:[0..4]; [a] s=0 -> 0.5:(s'=1) + 0.3:(s'=2) + 0.2:(s'=0); [a] s=1 -> 0.4:(s'=3) + 0.6:(s'=0); [a] s=2 -> 0.5:(s'=4) + 0.5:(s'=1); endmodule\n" +
		"rewards \"c\" s=0 : 1; s=1 : 0.5; s=2 : 0.1; endrewards\n"
	var many strings.Builder
	many.WriteString(chain)
	for i := range 23 {
		fmt.Fprintf(&many, "module m%[1]d x%[1]d:[0..2]; [a] true -> 0.2:(x%[1]d'=0) + 0.3:(x%[1]d'=1) + 0.5:(x%[1]d'=2); endmodule\n", i)
	}
	timed := strings.NewReplacer("dtmc", "ctmc").Replace
	for _, property := range []string{`P=? [ F s=3 || F s=1 ]`, `R{"c"}=? [ Cdiscount=0.9 ]`, `P=? [ F{"c"}<=3 s=3 ]`} {
		checkWalkedAs(t, chain, property, many.String(), property, 10)
	}
	checkWalkedAs(t, timed(chain), `P=? [ F s=3 || F s=1 ]`, timed(many.String()), `P=? [ F s=3 || F s=1 ]`, 0)
}
