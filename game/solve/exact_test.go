package solve_test

import (
	"bytes"
	"fmt"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// scores are the rewards of merges on a 2x2 board: two equal tiles in a line make one of twice the value.
const scores = `
rewards "score"
  [left] true : (v_0=v_1 ? 2*v_0 : 0) + (v_2=v_3 ? 2*v_2 : 0);
  [right] true : (v_0=v_1 ? 2*v_0 : 0) + (v_2=v_3 ? 2*v_2 : 0);
  [up] true : (v_0=v_2 ? 2*v_0 : 0) + (v_1=v_3 ? 2*v_1 : 0);
  [down] true : (v_0=v_2 ? 2*v_0 : 0) + (v_1=v_3 ? 2*v_1 : 0);
endrewards
`

const moves = `
rewards "moves"
  [left] true : 1;
  [right] true : 1;
  [up] true : 1;
  [down] true : 1;
endrewards
`

// TestExactEngine compares with the exact engine, which checks the generated model of the same game.
func TestExactEngine(t *testing.T) {
	for _, tt := range []struct {
		rows, cols, max int
		long            bool
	}{
		{1, 2, 8, false},
		{2, 2, 4, false},
		{2, 2, 8, false},
		{2, 2, 16, false},
		{2, 2, 32, false},
		{2, 2, 128, false},
		{1, 5, 16, false},
		{2, 3, 8, false},
		{2, 3, 16, false},
		{3, 2, 32, false},
		{2, 3, 64, false},
		{2, 3, 256, false},
		{2, 4, 8, false},
		{2, 4, 16, false},
		{2, 4, 32, true},
		{3, 3, 8, false},
		{3, 3, 16, false},
		{3, 3, 32, true},
		{3, 3, 64, true},
		{3, 4, 8, false},
		{4, 4, 8, true},
	} {
		t.Run(fmt.Sprintf("%dx%d-%d", tt.rows, tt.cols, tt.max), func(t *testing.T) {
			switch {
			case tt.long && tt.rows*tt.cols == 9 && tt.max == 32:
				needs.Full(t)
			case tt.rows*tt.cols > 8 && tt.rows*tt.cols*tt.max > 72, tt.rows*tt.cols == 8 && tt.max > 8, tt.max > 32 && tt.cols > 2:
				needs.Full(t)
			case tt.long:
				needs.Long(t)
			}
			checkWithEngine(t, modelgen.Config{Rows: tt.rows, Cols: tt.cols, Max: tt.max, Spawn: modelgen.SpawnUniform})
		})
	}
}

func checkWithEngine(t *testing.T, c modelgen.Config) {
	t.Helper()
	rewards, props := moves, []string{"Pmax=? [ F success ]", `R{"moves"}max=? [ F success | fail ]`}
	if c.Rows == 2 && c.Cols == 2 {
		rewards, props = moves+scores, append(props, `R{"score"}max=? [ F success | fail ]`)
	}
	objectives := []solve.Objective{solve.Win, solve.Moves, solve.Score}
	small := c.Rows*c.Cols <= 5
	for i, v := range engine(t, c, rewards, props, small) {
		opts := solve.Options{Shape: game.Shape{Rows: c.Rows, Cols: c.Cols}, Max: c.Max, Objective: objectives[i]}
		problem, err := opts.Problem()
		if err != nil {
			t.Fatal(err)
		}
		stats, err := solve.InitialValue(t.Context(), opts, "")
		if err != nil {
			t.Fatal(err)
		}
		limit := stats.RelativeError(problem)
		switch {
		case small && (v.Value.Rat == nil || !near(stats.Initial, v.Value.Rat, limit)):
			t.Errorf("%s: %v, the exact engine says %v", problem, stats.Initial, v.Value.Rat)
		case !small && !(stats.Initial >= v.Bound.Lo*(1-limit) && stats.Initial <= v.Bound.Hi*(1+limit)):
			t.Errorf("%s: %v, the exact engine says from %v to %v", problem, stats.Initial, v.Bound.Lo, v.Bound.Hi)
		}
	}
}

// engine checks properties of a model with fractions, or with bounds.
func engine(t *testing.T, c modelgen.Config, rewards string, props []string, fractions bool) []result.Verdict {
	t.Helper()
	model, err := modelgen.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	text.WriteString(rewards)
	job := runner.Job{File: "2048.prism", Model: text.Bytes(), Props: props}
	if job.Numeric.Accuracy = result.Bounded; fractions {
		job.Numeric.Accuracy = result.Exact
	}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != len(props) {
		t.Fatalf("%d verdicts, want %d", len(verdicts), len(props))
	}
	for _, v := range verdicts {
		if v.Err != nil {
			t.Fatalf("%s: %v", v.Property, v.Err)
		}
	}
	return verdicts
}
