package crosscheck_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// boardRewards count moves, so that actions have a meaning for properties.
const boardRewards = `
rewards "lefts" [left] true : 1; endrewards
`

var boardProperties = []string{
	`Pmax=? [ F "success" ]`, `Pmin=? [ F "fail" ]`, `Pmax=? [ F "fail" ]`, `Pmax=? [ F<=9 "success" ]`,
	`R{"lefts"}max=? [ C<=12 ]`, `filter(count, "success")`,
}

// board prints a generated model.
func board(t *testing.T, cfg modelgen.Config) string {
	t.Helper()
	tree, err := modelgen.Build(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return printed(t, tree) + boardRewards
}

func printed(t *testing.T, tree *syntax.Model) string {
	t.Helper()
	var out bytes.Buffer
	if err := syntax.Fprint(&out, tree, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func uniform(rows, cols, tile int) modelgen.Config {
	return modelgen.Config{Rows: rows, Cols: cols, Max: tile, Spawn: modelgen.SpawnUniform}
}

// mutant is a wrong model: the right one with texts replaced, each of which is
// there once.
type mutant struct {
	name     string
	replaced []string // old, new, old, new, …
	invalid  bool     // the model is wrong in itself; else it only is another one
}

// The branches of [left] for four and three tiles in a row of four, as the model
// has them and as the thesis prints them in Tables 3.4 and 3.5 (modelgen's
// TestPublishedUpdates says why they are wrong).
var misprints = []mutant{
	{name: "Table 3.4 cell 0: no merge of the first two", replaced: []string{
		"tiles_row_0=3 ? (v_0=0 ? (v_1=v_2 ? 2*v_1 : v_1) : v_1=0 ? (v_0=v_2 ? 2*v_0 : v_0) : v_0=v_1 ? 2*v_0 : v_0)",
		"tiles_row_0=3 ? (v_0=0 ? (v_1=v_2 ? 2*v_1 : v_1) : v_0=v_1 ? (v_0=v_2 ? 2*v_0 : v_0) : v_0=v_1 ? 2*v_0 : v_0)",
	}},
	{name: "Table 3.4 cell 1: no merge behind an empty cell", replaced: []string{
		"tiles_row_0=3 ? (v_0=0 ? (v_1=v_2 ? v_3 : v_2=v_3 ? 2*v_2 : v_2)", "tiles_row_0=3 ? (v_0=0 ? (v_1=v_2 ? v_3 : v_2)",
	}},
	{name: "Table 3.4 cell 2: Table 3.3's cell 1", replaced: []string{
		"tiles_row_0=3 ? (v_0=0 ? (v_1=v_2 ? 0 : v_2=v_3 ? 0 : v_3) : v_1=0 ? (v_0=v_2 ? 0 : v_2=v_3 ? 0 : v_3) : v_0=v_1 ? 0 : v_2=0 ? (v_1=v_3 ? 0 : v_3) : v_1=v_2 ? 0 : v_2)",
		"tiles_row_0=3 ? (v_0=0?(v_1=0?(v_2=v_3?0:v_3):(v_2=0?(v_1=v_3?0:v_3):(v_1=v_2?0:v_2))):(v_1=0?(v_2=0?(v_0=v_3?0:v_3):(v_0=v_2?0:v_2)):(v_0=v_1?0:v_1)))",
	}},
	{name: "Table 3.5 cell 2: doubles what does not merge", replaced: []string{
		"tiles_row_0=4 ? (v_0=v_1 ? (v_2=v_3 ? 0 : v_3) : v_1=v_2 ? v_3 : v_2=v_3 ? 2*v_2 : v_2)",
		"tiles_row_0=4 ? (v_0=v_1?(v_2=v_3?0:2*v_3):(v_1=v_2?v_3:v_2))",
	}},
}

var mutants = []mutant{
	{name: "probability 0.95", replaced: []string{"N = 0.9;", "N = 0.95;"}},
	{name: "sum 0.95", replaced: []string{"M = 1-N;", "M = 0.05;"}, invalid: true},
	{name: "sum 0.9 in a later state", replaced: []string{"(v_3=0 ? M/empty_cells : 0):(v_3'=4)", "0:(v_3'=4)"}, invalid: true},
	{name: "sum above one", replaced: []string{"N/4:(v_0'=2)", "N/2:(v_0'=2)"}, invalid: true},
	{name: "negative probability", replaced: []string{"N = 0.9;", "N = 1.1;"}, invalid: true},
	{name: "range of a cell", replaced: []string{"v_0 : [0..MAX]", "v_0 : [0..MAX-8]"}, invalid: true},
	{name: "phase out of range", replaced: []string{
		"(v_3'=(tiles_row_1=2 ? (v_2=v_3 ? 0 : v_3) : 0))\n        & (phase'=1)", "(v_3'=(tiles_row_1=2 ? (v_2=v_3 ? 0 : v_3) : 0))\n        & (phase'=2)",
	}, invalid: true},
	{name: "empty cells counted wrong", replaced: []string{"+(v_3=0 ? 1 : 0);", ";"}, invalid: true},
	{name: "guard dropped: legal", replaced: []string{"[left] no_MAX & can_left &", "[left] no_MAX &"}},
	{name: "guard dropped: not won", replaced: []string{"& !field_full & no_MAX &", "& !field_full &"}},
	{name: "guard dropped: phase", replaced: []string{"can_up & phase=0 ->", "can_up ->"}},
	{name: "guard negated", replaced: []string{"no_MAX & can_up &", "no_MAX & !can_up &"}},
	{name: "wrong action", replaced: []string{"[up] no", "[left] no"}},
	{name: "swapped cells", replaced: []string{
		"(v_0'=(tiles_row_0=2 ? (v_0=v_1 ? 2*v_0", "(v_x'=(tiles_row_0=2 ? (v_0=v_1 ? 2*v_0",
		"(v_1'=(tiles_row_0=2 ? (v_0=v_1 ? 0", "(v_0'=(tiles_row_0=2 ? (v_0=v_1 ? 0",
		"(v_x'=(tiles_row_0=2 ? (v_0=v_1 ? 2*v_0", "(v_1'=(tiles_row_0=2 ? (v_0=v_1 ? 2*v_0",
	}},
	{name: "missing merge", replaced: []string{"(v_0=v_1 ? 2*v_0 : v_0)", "v_0"}},
	{name: "merged tile stays", replaced: []string{"(v_0=v_1 ? 0 : v_1)", "v_1"}},
	{name: "adds instead of doubling", replaced: []string{"(v_0=v_2 ? 2*v_0 : v_0)", "(v_0=v_2 ? v_0+2 : v_0)"}},
	{name: "MAX off by one", replaced: []string{"MAX = 16;", "MAX = 17;"}},
	{name: "half of MAX off by one", replaced: []string{"no_MAX = v_0<=MAX/2", "no_MAX = v_0<MAX/2"}},
	{name: "success forgets a cell", replaced: []string{"success = v_0=MAX | v_1=MAX", "success = v_1=MAX"}},
	{name: "fail forgets a pair", replaced: []string{"& no_MAX & v_0!=v_1 &", "& no_MAX &"}},
	{name: "legal forgets to merge", replaced: []string{"can_left = (v_1!=0 & v_0=0) | (v_0!=0 & v_0=v_1) |", "can_left = (v_1!=0 & v_0=0) |"}},
	{name: "legal compares the wrong cells", replaced: []string{"(v_3!=0 & v_3=v_1);", "(v_3!=0 & v_3=v_2);"}},
	{name: "update at the end of the game", replaced: []string{"[loss] fail -> true;", "[loss] fail -> (v_0'=0);"}},
	{name: "missing update", replaced: []string{"(v_3'=(tiles_col_1=2 ? (v_3=v_1 ? 2*v_3 : v_3) : v_3=0 ? v_1 : v_3))\n        & (phase'=1);", "(v_3'=(tiles_col_1=2 ? (v_3=v_1 ? 2*v_3 : v_3) : v_3=0 ? v_1 : v_3));"}},
	{name: "initial tile", replaced: []string{"v_0 : [0..MAX] init 0;", "v_0 : [0..MAX] init 2;"}},
	{name: "initial phase", replaced: []string{"[0..1] init 1;", "[0..1] init 0;"}},
	{name: "spawns an 8", replaced: []string{"(v_0'=4) & (phase'=0)", "(v_0'=8) & (phase'=0)"}},
	{name: "spawn forgets the phase", replaced: []string{"(v_3'=4) & (phase'=0);", "(v_3'=4);"}},
	{name: "counts the wrong cell", replaced: []string{"tiles_row_0 = min(v_0, 1)+min(v_1, 1);", "tiles_row_0 = min(v_0, 1)+min(v_2, 1);"}},
}

func (m *mutant) apply(t *testing.T, model string) string {
	t.Helper()
	for i := 0; i < len(m.replaced); i += 2 {
		old := m.replaced[i]
		if n := strings.Count(model, old); n != 1 {
			t.Fatalf("%q is %d times in the model, want once", old, n)
		}
		model = strings.Replace(model, old, m.replaced[i+1], 1)
	}
	return model
}

// Every wrong model is called different or invalid. That it is wrong is shown by
// fractions of the embedded engine, which the cross-check does not look at: some
// value or count differs from the right model's, or the model cannot be built.
func TestMutants(t *testing.T) {
	if n := len(mutants) + len(misprints); n < 30 {
		t.Fatalf("%d mutants, want 30", n)
	}
	for _, group := range []struct {
		name    string
		cfg     modelgen.Config
		mutants []mutant
	}{
		{"2x2", uniform(2, 2, 16), mutants},
		{"1x4", uniform(1, 4, 16), misprints},
	} {
		right := board(t, group.cfg)
		want := values(t, right)
		for _, m := range group.mutants {
			t.Run(group.name+" "+m.name, func(t *testing.T) {
				wrong := m.apply(t, right)
				got := values(t, wrong)
				if got == want || (got == "") != m.invalid {
					t.Fatalf("not the wrong model that was meant: values %s against %s", got, want)
				}
				r := against(t, right, wrong)
				if r.ExitCode() != crosscheck.ExitDisagree {
					t.Fatalf("exit code %d (%s), want %d", r.ExitCode(), r, crosscheck.ExitDisagree)
				}
				if m.invalid {
					wantInvalid(t, r)
					return
				}
				d := r.Diagnoses[0].Difference
				if d == nil || d.First == d.Second || d.String() == "" {
					t.Fatalf("difference %v, want the first one", d)
				}
				if d.Kind == crosscheck.Choices || d.Kind == crosscheck.Probability {
					wantOrigins(t, d)
				}
				t.Log(d, d.Origins)
			})
		}
	}
}

func wantInvalid(t *testing.T, r *crosscheck.Report) {
	t.Helper()
	f := r.Models[1].Failure
	if r.Models[0].Validity != crosscheck.Valid || r.Models[1].Validity != crosscheck.Broken || !f.Pos.IsValid() || !strings.Contains(f.Message, "(v_0=") {
		t.Errorf("models %+v, want the second invalid with place and state", r.Models)
	}
	if r.Count(crosscheck.Invalid) != len(r.Rows) {
		t.Errorf("%s, want all invalid", r)
	}
	t.Log(f)
}

// wantOrigins wants the place of a command for a difference of choices.
func wantOrigins(t *testing.T, d *crosscheck.Difference) {
	t.Helper()
	if d.State == "" || d.What == "" || len(d.Origins) == 0 {
		t.Fatalf("difference %+v: want a state, a choice and commands", d)
	}
	for _, o := range d.Origins {
		if !o.Pos.IsValid() || o.File == "" {
			t.Errorf("command %v without a place", o)
		}
	}
}

// values are the exact values and the counts of a model, empty if it is wrong.
func values(t *testing.T, model string) string {
	t.Helper()
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "values.prism", Model: []byte(model), Props: boardProperties, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range verdicts {
		if v.Err != nil {
			if v.Err.Class != result.Model {
				t.Fatalf("%s: %v", v.Property, v.Err)
			}
			return ""
		}
		out = append(out, v.Value.Rat.RatString())
	}
	v := verdicts[0]
	return strings.Join(out, " ") + strings.Join([]string{"", text(v.States), text(v.Choices), text(v.Transitions)}, " ")
}

func against(t *testing.T, first, second string) *crosscheck.Report {
	t.Helper()
	job := runner.Job{File: "right.prism", Model: []byte(first), Props: boardProperties}
	other := job
	other.File, other.Model = "other.prism", []byte(second)
	r, err := crosscheck.Against(t.Context(), job, other, []runner.EngineConfig{{Engine: native.New()}}, crosscheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The right model written in another order is never called different: commands,
// updates, conjuncts, declarations and modules change places, modules their
// names, and formulas are written out.
func TestReorderings(t *testing.T) {
	bases := []modelgen.Config{
		uniform(2, 2, 16),
		{Rows: 2, Cols: 2, Max: 16, Kind: modelgen.Prototype},
		{Rows: 2, Cols: 2, Max: 8, Spawn: modelgen.SpawnModule, Policy: modelgen.Policy{Kind: modelgen.RandomMoves}},
	}
	for i := range uint64(30) {
		cfg := bases[i%3]
		tree, err := modelgen.Build(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := &shuffler{rand.New(rand.NewPCG(i, 2048))}
		// Every change alone, and then some at a time.
		if changes := s.changes(); i < uint64(3*len(changes)) {
			changes[i/3](tree)
		} else {
			for _, change := range changes {
				if s.IntN(2) == 0 {
					change(tree)
				}
			}
		}
		right, other := board(t, cfg), printed(t, tree)+boardRewards
		if right == other {
			t.Errorf("reordering %d changes nothing", i)
		}
		r := against(t, right, other)
		if r.ExitCode() != crosscheck.ExitAgree || r.Count(crosscheck.Agree) != len(boardProperties) {
			t.Errorf("reordering %d: exit code %d, %s, want all to agree: %v", i, r.ExitCode(), r, r.Diagnoses)
		}
	}
}
