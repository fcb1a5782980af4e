package splitting_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/runner"
)

// randomModel returns a model with two variables that mostly fall, and commands that raise them, one or both.
func randomModel(rng *rand.Rand) string {
	kind := []string{"dtmc", "ctmc", "mdp"}[rng.IntN(3)]
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nconst int n = %d; const int m = %d;\nmodule r\n  x : [0..n] init %d;\n  y : [0..m];\n", kind, 3+rng.IntN(6), 1+rng.IntN(5), 1+rng.IntN(2))
	rise := []string{"(x'=min(x+1,n))", "(y'=min(y+1,m))", "(x'=min(x+2,n))&(y'=0)", "(x'=min(x+1,n))&(y'=min(y+1,m))"}
	fall := []string{"(x'=max(x-1,0))", "(y'=max(y-1,0))", "(x'=0)", "(x'=x)", "(x'=max(x-1,0))&(y'=max(y-1,0))"}
	for range 2 + rng.IntN(4) {
		guard := []string{"true", "x>0", "y<m", "x<=y", "x+y<n", "x>0 & y>0"}[rng.IntN(6)]
		up, higher, lower := 0.02+0.1*rng.Float64(), rise[rng.IntN(len(rise))], fall[rng.IntN(len(fall))]
		if kind == "ctmc" {
			fmt.Fprintf(&text, "  [] %s -> %.3f:%s + %.3f:%s;\n", guard, up, higher, 0.5+rng.Float64(), lower)
		} else {
			fmt.Fprintf(&text, "  [] %s -> %.3f:%s + 1-%.3f:%s;\n", guard, up, higher, up, lower)
		}
	}
	text.WriteString("endmodule\n")
	return text.String()
}

// randomProperty returns a property that both discrete and continuous models have.
func randomProperty(rng *rand.Rand) string {
	return []string{"P=? [ F<=%d x=n ]", "P=? [ F<=%d x=n & y=m ]", "P=? [ x>0 U<=%d x+y>=n ]", "P=? [ x>0 U<=%d y=m ]"}[rng.IntN(4)]
}

// The estimates for random models are as far from the values of the states as their intervals say. Several choices of a state are
// drawn uniformly, so that an MDP is compared with the same text as a DTMC.
func TestRandomModels(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	judged, missed, refused := 0, 0, map[string]int{}
	for i := range needs.Some(100) {
		model := randomModel(rng)
		property := fmt.Sprintf(randomProperty(rng), 2+rng.IntN(30))
		exact, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.prism", Model: []byte(strings.Replace(model, "mdp", "dtmc", 1)), Props: []string{property}})
		if err != nil || exact[0].Err != nil {
			t.Fatalf("%v %v\n%s", err, exact, model)
		}
		rare := &rareEvent{model: model, property: property}
		got := rare.split(t, methods[i%2], runner.Simulation{Seed: uint64(i), Samples: 60, Confidence: 0.9999})
		if got.Err != nil {
			word := strings.Join(strings.Fields(got.Err.Message)[:4], " ")
			refused[word]++
			continue
		}
		judged++
		if want := exact[0].Value.Num; math.Abs(got.Value.Num-want) > *got.HalfWidth {
			missed++
			t.Logf("seed %d: %s: %v ± %v, want %v\n%s", seed, property, got.Value.Num, *got.HalfWidth, want, model)
		}
	}
	t.Logf("seed %d: %d judged, %d missed, refused: %v", seed, judged, missed, refused)
	if missed > 1 {
		t.Errorf("seed %d: %d of %d intervals of confidence 0.9999 miss the value", seed, missed, judged)
	}
}
