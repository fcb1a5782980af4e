package crosscheck_test

import (
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/runner/local"
	"tilecheck/verify/crosscheck"
)

// prism returns the PRISM of this machine.
func prism(t *testing.T) runner.Commander {
	t.Helper()
	cmd, err := local.New(needs.PRISM(t))
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Native and PRISM agree on a board, bounds with fractions and both with samples.
func TestPRISMAgrees(t *testing.T) {
	cmd := prism(t)
	cfg := uniform(2, 2, 16)
	cfg.Policy = modelgen.Policy{Kind: modelgen.PreferMoves, First: modelgen.Order{modelgen.Left, modelgen.Up, modelgen.Right, modelgen.Down}}
	job := runner.Job{File: "board.prism", Model: []byte(board(t, cfg)), Props: []string{`Pmax=? [ F "success" ]`, `Pmin=? [ F "fail" ]`}}
	r, err := crosscheck.Run(t.Context(), job, []runner.EngineConfig{
		{Engine: native.New()},
		{Label: "native ci", Engine: native.New(), Method: runner.CI},
		{Engine: bridge.PRISM(cmd, bridge.Options{}), Accuracy: result.Exact},
		{Label: "prism ci", Engine: bridge.PRISM(cmd, bridge.Options{}), Method: runner.CI},
	}, crosscheck.Options{Precision: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	if r.ExitCode() != crosscheck.ExitAgree || r.Confidence != crosscheck.DefaultConfidence {
		t.Errorf("exit code %d, confidence %v, want agreement: %+v", r.ExitCode(), r.Confidence, r.Rows)
	}
	for _, row := range r.Rows {
		if row.Basis != agree.Statistical {
			t.Errorf("%s rests on %s", row.Property, row.Basis)
		}
		for _, v := range row.Verdicts {
			t.Log(v.Engine, v.Method, v.Value.Num, v.Samples, v.Bound, v.Err)
		}
	}
}

// A disagreement is traced to the first probability that PRISM has otherwise.
func TestPRISMDiagnosis(t *testing.T) {
	cmd := prism(t)
	right := board(t, uniform(2, 2, 8))
	wrong := strings.Replace(right, "N = 0.9;", "N = 0.8;", 1)
	for _, tc := range []struct {
		model string
		want  crosscheck.Kind
	}{{right, ""}, {wrong, crosscheck.Probability}} {
		tool, err := statesOf(t, bridge.PRISM(cmd, bridge.Options{}), runner.Job{File: "tool.prism", Model: []byte(tc.model)})
		if err != nil {
			t.Fatal(err)
		}
		d, err := crosscheck.Diff(t.Context(), side("ours", states(t, right)), crosscheck.NamedSpace{Name: "prism", ToolSpace: *tool})
		if err != nil {
			t.Fatal(err)
		}
		if got := kindOf(d); got != tc.want {
			t.Errorf("difference %v, want kind %q", d, tc.want)
		}
		if d != nil && (len(d.Origins) == 0 || d.First != "0.225" || d.Second != "0.2") {
			t.Errorf("difference %v made by %v, want the first command", d, d.Origins)
		}
	}
}

// Of every wrong board PRISM's states differ from those of the right one, and the first
// difference is the one between our own; what PRISM does not build is wrong in itself.
func TestPRISMMutants(t *testing.T) {
	tool := bridge.PRISM(prism(t), bridge.Options{})
	for cfg, group := range map[modelgen.Config][]mutant{uniform(2, 2, 16): mutants, uniform(1, 4, 16): misprints} {
		right := board(t, cfg)
		for _, m := range group {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				wrong := m.apply(t, right)
				told, err := statesOf(t, tool, runner.Job{File: "wrong.prism", Model: []byte(wrong)})
				if err != nil && m.invalid {
					t.Log(err)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				ours := side("ours", states(t, right))
				got, err := crosscheck.Diff(t.Context(), ours, crosscheck.NamedSpace{Name: "prism", ToolSpace: *told})
				if err != nil || got == nil {
					t.Fatalf("difference %v, error %v", got, err)
				}
				t.Log(got)
				if m.invalid {
					return
				}
				want, err := crosscheck.Diff(t.Context(), ours, side("wrong", states(t, wrong)))
				if err != nil {
					t.Fatal(err)
				}
				named := func(d *crosscheck.Difference) string { // of several successors one is named
					what, _, _ := strings.Cut(d.What, " to ")
					return string(d.Kind) + d.State + what
				}
				if named(got) != named(want) {
					t.Errorf("difference %v, want %v", got, want)
				}
			})
		}
	}
}

func kindOf(d *crosscheck.Difference) crosscheck.Kind {
	if d == nil {
		return ""
	}
	return d.Kind
}
