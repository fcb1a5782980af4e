package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// said is an engine that has an answer for every model, by its file, and no error for the others.
type said struct {
	name    string
	answers map[string]float64
	fails   map[string]error
}

func (s *said) Name() string { return s.name }

func (s *said) Check(_ context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	file := plan.Job.File
	v := result.Verdict{
		Engine: s.name, Property: ThesisProperty, Accuracy: result.Probable, Resolution: result.Uniform, Samples: 1000, BoundMethod: "Clopper-Pearson",
		Value: result.Value{Kind: result.Number, Num: s.answers[file]},
	}
	return []result.Verdict{v}, s.fails[file]
}

func thesis(t *testing.T) *Experiment {
	t.Helper()
	e, err := New(Options{
		Board: modelgen.Config{Rows: 4, Cols: 4, P2: modelgen.DefaultP2}, Strategies: []string{"opposite", "random"}, GoalTiles: []int{128, 256},
		Updates: []modelgen.Updates{modelgen.UpdatesRules},
		Job:     runner.Job{Props: []string{ThesisProperty}, Settings: runner.Settings{Simulation: runner.Simulation{Samples: 1000}}}, Jobs: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A run whose context has ended has a verdict for every cell, which says so.
func TestRunEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := thesis(t).Run(ctx, []runner.Engine{native.New()})
	if err != nil || len(out.Verdicts) != 4 {
		t.Fatalf("found %+v, %v, want four verdicts", out, err)
	}
	for _, v := range out.Verdicts {
		if v.Err == nil || v.Err.Class != result.Interrupted || v.Engine != native.Name {
			t.Errorf("found %+v, want an interrupted verdict of %s", v, native.Name)
		}
	}
}

// Two engines about four models: the cells are in the order of the options, the published numbers beside them are judged, and so is whether
// the engines agree.
func TestRun(t *testing.T) {
	near := map[string]float64{"2048-opposite-128.prism": 0.722, "2048-opposite-256.prism": 0.98, "2048-random-128.prism": 0.45, "2048-random-256.prism": 0.92}
	far := map[string]float64{"2048-opposite-128.prism": 0.722, "2048-opposite-256.prism": 0.5, "2048-random-128.prism": 0.45, "2048-random-256.prism": 0.92}
	out, err := thesis(t).Run(t.Context(), []runner.Engine{&said{name: "a", answers: near}, &said{name: "b", answers: far}})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		strategy string
		max      int
		is       report.Compatibility
	}{
		{"opposite, a", 128, report.Compatible},
		{"opposite, b", 128, report.Compatible},
		{"opposite, a", 256, report.Compatible},
		{"opposite, b", 256, report.Incompatible},
		{"random, a", 128, report.Incompatible},
		{"random, b", 128, report.Incompatible},
		{"random, a", 256, report.Incompatible},
		{"random, b", 256, report.Incompatible},
	}
	for i, c := range out.Comparison.Cells {
		if w := want[i]; c.Strategy != w.strategy || c.Max != w.max || c.Compatible != w.is || c.Published == nil {
			t.Errorf("cell %d: %s, MAX %d, %v, want %v", i, c.Strategy, c.Max, c.Compatible, w)
		}
	}
	if a := &out.Agreement; a.Different != 1 || len(a.Differences) != 1 || !strings.Contains(a.Differences[0], "MAX 256") {
		t.Errorf("agreement %+v, want one difference, at 256", a)
	}
}

// The error that is told is the first by order, not by time.
func TestRunFails(t *testing.T) {
	late, early := errors.New("late"), errors.New("early")
	engine := &said{name: "a", fails: map[string]error{"2048-opposite-256.prism": early, "2048-random-256.prism": late}}
	if _, err := thesis(t).Run(t.Context(), []runner.Engine{engine}); !errors.Is(err, early) || errors.Is(err, late) {
		t.Errorf("%v, want that of the second model", err)
	}
	for _, opt := range []Options{
		{Strategies: []string{"nobody"}, GoalTiles: []int{128}},
		{Strategies: []string{"random"}, GoalTiles: []int{100}},
	} {
		if _, err := New(opt); err == nil {
			t.Errorf("%v: no error", opt)
		}
	}
}

// The embedded engine samples all tiles of a strategy in the model of the largest one. Each has the games, and so the share, of a model of its own.
func TestTilesTogether(t *testing.T) {
	e := func(tiles ...int) *Experiment {
		e, err := New(Options{
			Board: modelgen.Config{Rows: 4, Cols: 4, P2: modelgen.DefaultP2}, Strategies: []string{"orthogonal"}, GoalTiles: tiles,
			Updates: []modelgen.Updates{modelgen.UpdatesPublished},
			Job:     runner.Job{Props: []string{ThesisProperty}, Settings: runner.Settings{Method: runner.Sim, Simulation: runner.Simulation{Samples: 100, Seed: 3}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	share := func(e *Experiment) map[int]float64 {
		out, err := e.Run(t.Context(), []runner.Engine{native.New()})
		if err != nil {
			t.Fatal(err)
		}
		shares := map[int]float64{}
		for _, c := range out.Comparison.Cells {
			if c.Verdict.Property != ThesisProperty || c.Verdict.Samples != 100 {
				t.Errorf("MAX %d: %d samples of %s", c.Max, c.Verdict.Samples, c.Verdict.Property)
			}
			shares[c.Max] = c.Verdict.Value.Num
		}
		return shares
	}
	together := share(e(256, 128))
	for _, tile := range []int{128, 256} {
		if alone := share(e(tile)); alone[tile] != together[tile] {
			t.Errorf("MAX %d: %v alone, %v together", tile, alone[tile], together[tile])
		}
	}
}
