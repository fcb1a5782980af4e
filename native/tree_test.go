package native_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// treeOf returns the module that a tree is, and the answer to the property.
func treeOf(t *testing.T, model, property, target string) (string, result.Verdict) {
	t.Helper()
	var text bytes.Buffer
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{property}}
	if target != "" {
		job.Scheduler = &runner.SchedulerFile{Target: target, Write: func(_ string, write func(io.Writer) error) error { return write(&text) }}
	}
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := native.New().Check(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return text.String(), verdicts[0]
}

// TestTreesAttainTheirValue puts the module of a tree beside its model: nothing must be
// left to choose, and the value must be the optimum within what the tree may lose.
func TestTreesAttainTheirValue(t *testing.T) {
	text := func(cfg modelgen.Config) string {
		model, err := modelgen.Build(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := syntax.Fprint(&b, model, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const robot = `mdp module robot x:[0..4]; y:[0..4]; moved:[0..1];
[east] x<4 -> 0.8:(x'=x+1) + 0.2:true; [west] x>0 -> 0.8:(x'=x-1) + 0.2:true;
[north] y<4 -> 0.7:(y'=y+1) + 0.3:(x'=max(x-1,0)); [stay] true -> true; endmodule
rewards [east] true:1; [west] true:1; [north] true:2; [stay] true:3; endrewards`
	const bet = `mdp module bet m:[0..8] init 3; t:[0..6];
[bold] m>0&m<8&t<6 -> 0.4:(m'=min(8,2*m))&(t'=t+1) + 0.6:(m'=max(0,m-min(m,8-m)))&(t'=t+1);
[one] m>0&m<8&t<6 -> 0.4:(m'=m+1)&(t'=t+1) + 0.6:(m'=m-1)&(t'=t+1); [] m=0|m=8|t=6 -> true; endmodule`
	for _, test := range []struct{ model, property string }{
		{text(modelgen.Config{Rows: 2, Cols: 2, Max: 8, Spawn: modelgen.SpawnUniform}), `Pmax=? [ F "success" ]`},
		{text(modelgen.Config{Rows: 2, Cols: 2, Max: 16, Spawn: modelgen.SpawnUniform}), `Pmax=? [ F "success" ]`},
		{text(modelgen.Config{Rows: 1, Cols: 4, Max: 16, Spawn: modelgen.SpawnUniform}), `Pmin=? [ F "fail" ]`},
		{robot, `Rmin=? [ F x=4&y=4 ]`},
		{robot, `Pmax=? [ y<2 U x=3 ]`},
		{bet, `Pmax=? [ F m=8 ]`},
		{bet, `Pmin=? [ F m=0 ]`},
	} {
		leaves := 1000
		for _, loss := range []float64{0, 1e-3, 1e-2, 0.1} {
			module, best := treeOf(t, test.model, test.property, fmt.Sprintf("f:type=tree,loss=%g", loss))
			if best.Err != nil {
				t.Fatalf("%s: %v", test.property, best.Err)
			}
			_, got := treeOf(t, test.model+module, test.property, "")
			opposite := strings.NewReplacer("max", "min", "min", "max").Replace(test.property)
			_, other := treeOf(t, test.model+module, opposite, "")
			if got.Err != nil || other.Err != nil {
				t.Fatalf("%s: %v, %v\n%s", test.property, got.Err, other.Err, module)
			}
			if d := math.Abs(got.Value.Num - best.Value.Num); d > loss+1e-7 || math.Abs(got.Value.Num-other.Value.Num) > 1e-7 {
				t.Errorf("%s, loss %g: the tree has %v and %v, of %v\n%s", test.property, loss, got.Value.Num, other.Value.Num, best.Value.Num, module)
			}
			n := strings.Count(module, "->") - strings.Count(module, "false ->")
			if n > leaves+2 { // greedy, but freedom should help
				t.Errorf("%s: %d leaves with loss %g, %d with less", test.property, n, loss, leaves)
			}
			leaves = n
		}
	}
}

// TestTreesRefused wants schedulers that no tree over the variables is to be refused.
func TestTreesRefused(t *testing.T) {
	const model = "mdp module m s:[0..2]; [a] s=0 -> (s'=1); [] s=0 -> (s'=2); [b] s=1 -> true; [a] s=1 -> (s'=2); endmodule"
	for property, want := range map[string]string{
		`Pmax=? [ F s=1 ]`:    "no scheduler was exported: state 0 has several choices of which some have no action",
		`Pmax=? [ F<=3 s=2 ]`: "no scheduler was exported: found a property whose scheduler counts steps",
	} {
		if _, v := treeOf(t, model, property, "f:type=tree"); v.Err == nil || !strings.HasPrefix(v.Err.Message, want) {
			t.Errorf("%s: %v, want %s", property, v.Err, want)
		}
	}
}
