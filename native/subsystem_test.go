package native_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// valueOf is the value of a property as a fraction; nil if there is none.
func valueOf(t *testing.T, model, property string) *big.Rat {
	t.Helper()
	vs, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "m.prism", Model: []byte(model), Props: []string{property}, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
	})
	if err != nil || vs[0].Err != nil {
		return nil
	}
	return vs[0].Value.Rat
}

// mutants returns a model with one command changed, in every way of a list, and the
// line of that command.
func mutants(t *testing.T, text string) (models []string, lines []int32) {
	t.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range tree.Items {
		m, ok := item.(*syntax.Module)
		if !ok {
			continue
		}
		for _, c := range m.Commands {
			from, to := int(c.Pos().Offset), int(c.End().Offset)
			for _, change := range [][2]string{
				{"2*v_", "4*v_"},
				{"phase'=1", "phase'=0"},
				{"? 0 :", "? 2 :"},
				{"N/empty_cells", "1/empty_cells"},
				{"M/empty_cells : 0", "0"},
				{": v_0)", ": 2*v_0)"},
				{": 0)", ": 8)"},
				{"v_1'=2", "v_1'=8"},
				{"v_0'=4", "v_0'=8"},
				{"v_2'=4", "v_2'=8"},
			} {
				if changed := strings.Replace(text[from:to], change[0], change[1], 1); changed != text[from:to] {
					models, lines = append(models, text[:from]+changed+text[to:]), append(lines, c.Pos().Line)
				}
			}
		}
	}
	return models, lines
}

func generated(t *testing.T, spawn modelgen.Spawn) string {
	t.Helper()
	tree, err := modelgen.Build(modelgen.Config{Rows: 2, Cols: 2, Max: 16, Spawn: spawn})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := syntax.Fprint(&b, tree, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A mistake planted into a command of a board raises the probability of winning above
// what it is: the command is among those that refute the bound. It must be: the
// others are commands of the right model, in which the bound is kept.
func TestPlantedMistakes(t *testing.T) {
	needs.NotShort(t, "uses one goroutine")
	found := 0
	for _, x := range []struct {
		spawn modelgen.Spawn
		goal  string
	}{
		{modelgen.SpawnUniform, "F v_0=16 | v_1=16 | v_2=16 | v_3=16"},
		{modelgen.SpawnUniform, "F<=15 v_0=16 | v_1=16 | v_2=16 | v_3=16"},
		{modelgen.SpawnCell, "F<=13 v_0=16 | v_1=16 | v_2=16 | v_3=16"},
	} {
		spawn, goal, text := x.spawn, x.goal, generated(t, x.spawn)
		best := valueOf(t, text, "Pmax=? [ "+goal+" ]")
		models, lines := mutants(t, text)
		for i, model := range models {
			if found >= 21 && !needs.IsFull() {
				break
			}
			if x := valueOf(t, model, "Pmax=? [ "+goal+" ]"); x == nil || x.Cmp(best) <= 0 {
				continue
			}
			var part []byte
			property := fmt.Sprintf("P<=%s [ %s ]", best.RatString(), goal)
			v := witnessOf(t, model, property, runner.Witness{Paths: 1, Part: true, Model: func(text []byte) error { part = text; return nil }})
			if len(v.Witnesses) != 1 || v.Witnesses[0].Part == nil {
				t.Errorf("spawn %v, mutant %d: no part: %v %v", spawn, i, v.Err, v.Warnings)
				continue
			}
			p := v.Witnesses[0].Part
			if !p.CommandsMinimal || !slices.ContainsFunc(p.Commands, func(c result.WitnessCommand) bool { return c.Line == lines[i] }) {
				t.Errorf("spawn %v, mutant %d: line %d is not among %+v", spawn, i, lines[i], p.Commands)
				continue
			}
			if x := valueOf(t, string(part), "Pmax=? [ "+goal+" ]"); x == nil || x.Cmp(best) <= 0 {
				t.Errorf("spawn %v, mutant %d: the part has %v, want more than %v", spawn, i, x, best)
			}
			found++
		}
	}
	t.Logf("%d mistakes found", found)
	if found < 20 {
		t.Errorf("%d mistakes are too few", found)
	}
}

// Without one of three commands the bound is met exactly, which float64 bounds do not decide. The fraction does, because few states
// are reachable by the commands that are left, however large the model is.
func TestMinimalInLargeModel(t *testing.T) {
	model := `mdp
module m
  s : [0..3];
  n : [0..4000];
  [] s=0 -> 1/3 : (s'=1) + 2/3 : (s'=2);
  [] s=1 -> (s'=3);
  [] s=2 -> (s'=3);
  [] s=0 & n<4000 -> (n'=n+1);
endmodule
`
	v := witnessOf(t, model, "P<=2/3 [ F s=3 & n=0 ]", runner.Witness{Paths: 1, Part: true})
	if len(v.Witnesses) != 1 || v.Witnesses[0].Part == nil {
		t.Fatalf("no part: %v %v", v.Err, v.Warnings)
	}
	if p := v.Witnesses[0].Part; len(p.Commands) != 3 || !p.CommandsMinimal {
		t.Errorf("found %+v, want the first three commands, each of them needed", p)
	}
}
