package crosscheck_test

import (
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/bridge"
	"tilecheck/runner/local"
	"tilecheck/verify/agree"
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
	r, err := crosscheck.Run(t.Context(), job, []runner.Entrant{
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
		d, err := crosscheck.Diff(t.Context(), side("ours", states(t, right)), crosscheck.Side{Name: "prism", Told: *tool})
		if err != nil {
			t.Fatal(err)
		}
		if got := kindOf(d); got != tc.want {
			t.Errorf("difference %v, want kind %q", d, tc.want)
		}
		if d != nil && (len(d.Made) == 0 || d.First != "0.225" || d.Second != "0.2") {
			t.Errorf("difference %v made by %v, want the first command", d, d.Made)
		}
	}
}

func kindOf(d *crosscheck.Difference) crosscheck.Kind {
	if d == nil {
		return ""
	}
	return d.Kind
}
