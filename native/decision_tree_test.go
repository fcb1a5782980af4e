package native_test

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// treeModels are MDPs whose choices are told by their actions.
var treeModels = []struct{ name, src, property string }{
	{"waiting costs nothing", waiting, `Pmax=? [ F s=2 ]`},
	{"waiting costs nothing, for the least", waiting, `Pmin=? [ F s=2 ]`},
	{"waiting must end", waiting, `Rmin=? [ F s>1 ]`},
	{"waiting earns nothing", waiting, `Rmax=? [ F s>1 ]`},
	{"one action where there is a choice and where there is none", `mdp module m s:[0..3];
[a] s=0 -> 0.5:(s'=1)+0.5:(s'=3); [b] s=0 -> 0.4:(s'=1)+0.6:(s'=2); [b] s=1 -> (s'=2); [] s>1 -> true; endmodule`, `Pmax=? [ F s=2 ]`},
	{"losing little for a smaller tree", `mdp module m x:[0..9]; y:[0..1];
[a] x<9 -> 0.999:(x'=x+1)&(y'=0)+0.001:(x'=9)&(y'=1); [b] x<9&x>0 -> 0.9995:(x'=x+1)&(y'=0)+0.0005:(x'=9)&(y'=1); [] x=9 -> true; endmodule`, `Pmin=? [ F y=1 ]`},
	{"two players", `mdp module p a:[0..2]; [pa] a<2 -> 0.5:(a'=a+1)+0.5:true; endmodule
module q b:[0..2]; [qb] b<2 -> 0.25:(b'=b+1)+0.75:true; endmodule
module end e:bool; [stop] a+b>=2 & !e -> (e'=true); [done] e -> true; endmodule rewards [pa] true:1; [qb] true:1; [stop] true:a; endrewards`, `Rmin=? [ F e ]`},
	{"a Boolean", waiting, `P>=0.5 [ F s=2 ]`},
}

const waiting = `mdp module m s:[0..3]; [a] s<2 -> (s'=1-s); [b] s=1 -> 0.5:(s'=2)+0.5:(s'=3); [c] s=0 -> 0.4:(s'=2)+0.6:(s'=3); [] s>1 -> true; endmodule
rewards [b] true : 2; [c] true : 1; endrewards`

// TestTrees exports trees as models, and checks these: what a tree says of itself is what
// it is worth.
func TestTrees(t *testing.T) {
	models := treeModels
	for _, cfg := range []modelgen.Config{{Rows: 2, Cols: 2, Max: 8}, {Rows: 2, Cols: 2, Max: 16, Spawn: modelgen.SpawnUniform}} {
		cfg.Policy, _ = modelgen.ParsePolicy("none")
		built, err := modelgen.Build(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var src strings.Builder
		if err := syntax.Fprint(&src, built, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		models = append(models, struct{ name, src, property string }{fmt.Sprint("board to ", cfg.Max), src.String(), `Pmax=? [ F "success" ]`})
	}
	for _, m := range models {
		leaves := -1
		for _, allowance := range []string{"0", "0.001", "0.01"} {
			best, model := exportTree(t, m.src, m.property, "tree.prism:type=tree,loss="+allowance)
			with, _ := exportTree(t, model, m.property, "")
			_, text := exportTree(t, m.src, m.property, "tree.txt:type=tree,loss="+allowance)
			n := strings.Count(text, "\n") - 2*strings.Count(text, "if ") - 1 // lines that decide, without the head
			if leaves >= 0 && n > leaves {
				t.Errorf("%s: %d leaves for a loss of %s, %d for less", m.name, n, allowance, leaves)
			}
			leaves = n
			if best.Value.Kind == result.Boolean {
				if with.Value.Bool != best.Value.Bool {
					t.Errorf("%s: %v with the tree, %v without", m.name, with.Value.Bool, best.Value.Bool)
				}
				continue
			}
			if best.Value.Rat == nil { // infinite
				if with.Value.Num != best.Value.Num {
					t.Errorf("%s: %v with the tree, want %v", m.name, with.Value.Num, best.Value.Num)
				}
				continue
			}
			lost := new(big.Rat).Sub(best.Value.Rat, with.Value.Rat)
			if best.Resolution == result.Minimum {
				lost.Neg(lost)
			}
			most, _ := new(big.Rat).SetString(allowance)
			if lost.Sign() < 0 || lost.Cmp(most) > 0 {
				t.Errorf("%s: %v is lost, want at most %s", m.name, lost, allowance)
			}
			if says := strings.Contains(text, "its value is the best one"); says != (lost.Sign() == 0) {
				t.Errorf("%s: %v is lost, but the tree says\n%s", m.name, lost, text)
			}
		}
	}
}

// exportTree checks a property with fractions, and returns what was exported to a target.
func exportTree(t *testing.T, src, property, target string) (*result.Verdict, string) {
	t.Helper()
	var out bytes.Buffer
	job := runner.Job{File: "m.prism", Model: []byte(src), Props: []string{property}}
	job.Numeric.Accuracy = result.Exact
	if target != "" {
		job.Scheduler = &runner.SchedulerFile{Target: target, Write: func(_ string, write func(io.Writer) error) error { return write(&out) }}
	}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	if v := &verdicts[0]; v.Err != nil {
		t.Fatalf("%s of\n%s\n%v", property, src, v.Err)
	}
	return &verdicts[0], out.String()
}

// TestTreesRefused has what there is no tree for.
func TestTreesRefused(t *testing.T) {
	for _, tt := range []struct{ name, src, property, target, want string }{
		{"steps", waiting, `Pmax=? [ F<=3 s=2 ]`, "t:type=tree", "counts steps"},
		{"several initial states", strings.Replace(waiting, "endrewards", "endrewards init s<2 endinit", 1), `Pmax=? [ F s=2 ]`, "t:type=tree", "found 2 initial states, want one"},
		{"no action", strings.ReplaceAll(waiting, "[c]", "[]"), `Pmax=? [ F s=2 ]`, "t.prism:type=tree", "one of them without an action"},
		{"an action twice", strings.ReplaceAll(waiting, "[c]", "[a]"), `Pmax=? [ F s=2 ]`, "t.prism:type=tree", "two choices with the same action"},
		{"a system", waiting + ` system m endsystem`, `Pmax=? [ F s=2 ]`, "t.prism:type=tree", "found a system block"},
	} {
		job := runner.Job{File: "m.prism", Model: []byte(tt.src), Props: []string{tt.property}}
		written := false
		job.Scheduler = &runner.SchedulerFile{Target: tt.target, Write: func(_ string, write func(io.Writer) error) error {
			err := write(io.Discard)
			written = err == nil
			return err
		}}
		verdicts, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		if v := verdicts[0]; v.Err == nil || !strings.Contains(v.Err.Message, tt.want) || written {
			t.Errorf("%s: %v, written %v, want an error with %q", tt.name, v.Err, written, tt.want)
		}
	}
}
