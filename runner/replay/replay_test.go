package replay_test

import (
	"bytes"
	"os"
	"testing"

	"tilecheck/bridge"
	"tilecheck/modelgen"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/replay"
)

// TestRecordedRun: the verdict of a job on PRISM, from a recording of that job.
func TestRecordedRun(t *testing.T) {
	log, err := os.ReadFile("../../testdata/logs/prism/table36/random-128.log")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := modelgen.ParsePolicy("random")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := modelgen.Build(modelgen.Config{Rows: 4, Cols: 4, Max: 128, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	var model bytes.Buffer
	if err := syntax.Fprint(&model, tree, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	engine := bridge.PRISM(replay.New("random-128", log), bridge.Options{})
	vs, err := runner.Check(t.Context(), engine, runner.Job{
		File: "random-128.prism", Model: model.Bytes(), Props: []string{"Pmin=? [ F fail ]"},
		Settings: runner.Settings{Method: runner.CI, Simulation: runner.Simulation{Samples: 1000, Confidence: 0.99}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(vs) != 1 || vs[0].Err != nil {
		t.Fatalf("%+v", vs)
	}
	v := vs[0]
	if v.Samples != 1000 || v.Resolution != result.Uniform || v.Accuracy != result.Probable || v.Method != "ci" {
		t.Errorf("%+v", v)
	}
	if v.Bound == nil || !v.Bound.Contains(v.Value.Num) || v.HalfWidth == nil || *v.HalfWidth > 0.05 {
		t.Errorf("value %v, interval %v, half-width %v", v.Value.Num, v.Bound, v.HalfWidth)
	}
}

// TestKilled: a recording that breaks off is of a run that was killed.
func TestKilled(t *testing.T) {
	engine := bridge.PRISM(replay.New("cut", []byte("PRISM\n=====\n\nVersion: 4.10\n")), bridge.Options{})
	vs, err := runner.Check(t.Context(), engine, runner.Job{
		Model: []byte("dtmc module m s:[0..1]; [] true -> (s'=1); endmodule"), Props: []string{"P=? [ F s=1 ]"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(vs) != 1 || vs[0].Err == nil || vs[0].Err.Class != result.Killed {
		t.Errorf("%+v", vs)
	}
}
