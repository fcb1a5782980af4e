package solve_test

import (
	"slices"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// patience is an MDP on 0..3 in which choice 0 reaches 2 by way of 1, with
// probability 0.6 a step, and choice 1 reaches it at once with 0.3, or never.
func patience(t *testing.T) *sparse.Graph {
	t.Helper()
	b := sparse.NewBuilder(sparse.MDP)
	for _, choices := range [][]map[int]float64{{{0: 0.4, 1: 0.6}, {2: 0.3, 3: 0.7}}, {{2: 1}}, {{2: 1}}, {{3: 1}}} {
		b.State()
		for _, row := range choices {
			b.Choice(sparse.NoAction)
			for t := range 4 {
				b.Add(t, row[t])
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return sparse.NewGraph(model)
}

func TestStepSchedulers(t *testing.T) {
	const none = sparse.None
	graph, all, goal := patience(t), sparse.FullSet(4), sparse.SetOf(4, 2)
	slow, fast, over := []uint32{0, 2, none, 4}, []uint32{1, 2, none, 4}, []uint32{none, none, none, none}
	tests := []struct {
		bound solve.StepBound
		want  [][]uint32
	}{
		{solve.StepBound{}, [][]uint32{over}},
		{solve.StepBound{High: 1}, [][]uint32{fast, over}},
		{solve.StepBound{High: 4}, [][]uint32{slow, slow, slow, fast, over}},
		{solve.StepBound{High: solve.Unbounded}, [][]uint32{{0, 2, none, none}}},
		{solve.StepBound{Low: 1, High: 1}, [][]uint32{{1, 2, 3, 4}, over}},
		{solve.StepBound{Low: 2, High: solve.Unbounded}, [][]uint32{{0, 2, 3, 4}, {0, 2, 3, 4}, {0, 2, none, none}}},
	}
	for _, tt := range tests {
		values, err := solve.BoundedUntil(t.Context(), graph, all, goal, tt.bound, solve.Max, solve.Options{Scheduler: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(values.StepChoices, tt.want, slices.Equal) || values.Scheduler != nil {
			t.Errorf("%+v: %v, want %v", tt.bound, values.StepChoices, tt.want)
		}
	}
}

// TestStepsLimit: a scheduler that would take too much memory is left out, one
// that is not asked for too.
func TestStepSchedulersLimit(t *testing.T) {
	graph, all, goal := patience(t), sparse.FullSet(4), sparse.SetOf(4, 2)
	tests := []struct {
		opts  solve.Options
		high  int
		steps int
	}{
		{solve.Options{Scheduler: true}, 1 << 20, 1<<20 + 1},
		{solve.Options{Scheduler: true}, 1<<20 + 1, 0},
		{solve.Options{}, 3, 0},
	}
	for _, tt := range tests[needs.OrFull(1, 0):] {
		values, err := solve.BoundedUntil(t.Context(), graph, all, goal, solve.StepBound{High: tt.high}, solve.Max, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(values.StepChoices) != tt.steps {
			t.Errorf("%d steps: %d rows, want %d", tt.high, len(values.StepChoices), tt.steps)
		}
	}
}
