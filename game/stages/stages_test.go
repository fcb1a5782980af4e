package stages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/certify/tiles"
	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/game/stages"
)

// optimum returns the value of the game.
func optimum(t *testing.T, shape game.Shape, maxExp int) float64 {
	t.Helper()
	stats, err := solve.InitialValue(t.Context(), solve.Options{Shape: shape, Max: game.Value(maxExp)}, "")
	if err != nil {
		t.Fatal(err)
	}
	return stats.Initial
}

func prove(t *testing.T, plan *stages.Plan, workers int) *stages.Proof {
	t.Helper()
	proof, err := stages.Prove(t.Context(), plan, stages.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// check checks the certificate of a proof by the other implementation of package certify/tiles.
func check(t *testing.T, proof *stages.Proof) (*tiles.Stages, error) {
	t.Helper()
	var text bytes.Buffer
	if err := proof.WriteCertificate(&text); err != nil {
		t.Fatal(err)
	}
	return tiles.CheckStages(t.Context(), &text, 2)
}

// TestProve checks that bounds are at most the value of optimal play, that they are near it where that is written down, and that the other
// implementation accepts each certificate, but not one whose bound is one unit greater.
func TestProve(t *testing.T) {
	for _, x := range []struct {
		rows, cols, maxExp int
		units              []int
		slack              int
		within             float64 // distance from the optimum
	}{
		{2, 2, 4, []int{4}, 100, 1e-7}, // one stage with all boards
		{2, 2, 4, []int{3}, 100, 1e-7},
		{2, 2, 5, []int{4}, 100, 1e-7},
		{2, 2, 5, []int{3}, 60, 0.01},
		{2, 3, 5, []int{5}, 100, 1e-6},
		{2, 3, 5, []int{4, 3}, 60, 0.02},
		{3, 2, 5, []int{4}, 100, 0.01},
		{3, 3, 5, []int{3}, 40, 0.02},
		{3, 3, 6, []int{4}, 60, 0.001},
		{3, 3, 7, []int{4, 4, 5}, 40, 0.1},
		{4, 2, 5, []int{4}, 60, 0.01},
		{3, 4, 4, []int{3}, 24, 0.01},
	} {
		t.Run(fmt.Sprintf("%dx%d to %d by %d", x.rows, x.cols, game.Value(x.maxExp), x.units), func(t *testing.T) {
			shape := game.Shape{Rows: x.rows, Cols: x.cols}
			if testing.Short() && shape.Cells() > 6 {
				t.Skip("short: takes long with the race detector")
			}
			plan, err := stages.NewPlan(shape, x.maxExp, x.units, x.slack)
			if err != nil {
				t.Fatal(err)
			}
			proof, best := prove(t, plan, 1), optimum(t, shape, x.maxExp)
			if proof.Float64() > best || proof.Float64() < best-x.within {
				t.Errorf("bound %v, want at most %v and at least %v less", proof.Float64(), best, x.within)
			}
			if again := prove(t, plan, 4); again.Bound != proof.Bound {
				t.Errorf("bound %d with one worker, %d with four", proof.Bound, again.Bound)
			}
			checked, err := check(t, proof)
			if err != nil {
				t.Fatal(err)
			}
			if checked.Lower != proof.Bound || int64(checked.Boards) != proof.Boards || checked.Stages != len(plan.Stages) || checked.Max != game.Value(x.maxExp) {
				t.Errorf("proved %d with %d boards, the certificate says %+v", proof.Bound, proof.Boards, *checked)
			}
			proof.Bound++
			if _, err := check(t, proof); err == nil || !strings.Contains(err.Error(), "want at most") {
				t.Errorf("a bound that is too great: %v", err)
			}
		})
	}
}

// randomPlan returns stages that need not lead anywhere.
func randomPlan(random *rand.Rand, shape game.Shape, maxExp int) *stages.Plan {
	plan := &stages.Plan{Shape: shape, Max: maxExp}
	for i := range 1 + random.IntN(8) {
		stage := stages.Stage{Small: 3 + random.IntN(maxExp-2), Sum: 2 * random.IntN(game.Value(maxExp))}
		for stage.Small < maxExp && i > 0 && len(stage.Locked) < 3 && random.IntN(4) > 0 {
			stage.Locked = append(stage.Locked, stage.Small+random.IntN(maxExp-stage.Small))
		}
		slices.Sort(stage.Locked)
		slices.Reverse(stage.Locked)
		n := len(stage.Locked)
		stage.Upper = max(n-shape.Cols, min(shape.Cols, random.IntN(n+1)))
		if random.IntN(2) == 0 {
			for column := range shape.Cols - max(0, stage.Upper-1) {
				if random.IntN(3) > 0 {
					stage.Columns = append(stage.Columns, column)
				}
			}
		}
		plan.Stages = append(plan.Stages, stage)
	}
	return plan
}

// TestRandomStages checks that any list of stages gives a true bound, the same in both implementations.
func TestRandomStages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	shapes := []struct {
		shape  game.Shape
		maxExp int
	}{{game.Shape{Rows: 2, Cols: 2}, 4}, {game.Shape{Rows: 2, Cols: 2}, 5}, {game.Shape{Rows: 2, Cols: 3}, 4}, {game.Shape{Rows: 3, Cols: 2}, 5}}
	positive := 0
	for i := range 200 {
		x := shapes[i%len(shapes)]
		plan := randomPlan(random, x.shape, x.maxExp)
		proof := prove(t, plan, 0)
		if best := optimum(t, x.shape, x.maxExp); proof.Float64() > best {
			t.Fatalf("%v: bound %v, the optimum is %v", plan.Stages, proof.Float64(), best)
		}
		checked, err := check(t, proof)
		if err != nil {
			t.Fatalf("%v: %v", plan.Stages, err)
		}
		if checked.Lower != proof.Bound {
			t.Fatalf("%v: %d, the checker has %d", plan.Stages, proof.Bound, checked.Lower)
		}
		proof.Bound++
		if _, err := check(t, proof); err == nil {
			t.Fatalf("%v: a bound that is too great was accepted", plan.Stages)
		}
		if proof.Bound > 1 {
			positive++
		}
	}
	if positive < 40 {
		t.Errorf("only %d of 200 bounds are positive", positive)
	}
}

// TestChangedCertificate checks that a changed line is an error.
func TestChangedCertificate(t *testing.T) {
	plan, err := stages.NewPlan(game.Shape{Rows: 2, Cols: 2}, 4, []int{3}, 20)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := prove(t, plan, 0).WriteCertificate(&text); err != nil {
		t.Fatal(err)
	}
	for i := range text.Len() {
		changed := bytes.Clone(text.Bytes())
		changed[i] ^= 1
		if _, err := tiles.CheckStages(t.Context(), bytes.NewReader(changed), 1); err == nil {
			t.Errorf("byte %d of the certificate changed from %q, and no error", i, text.Bytes()[i])
		}
	}
}

func TestPlanErrors(t *testing.T) {
	square := game.Shape{Rows: 3, Cols: 3}
	for name, x := range map[string]struct {
		shape  game.Shape
		maxExp int
		units  []int
		slack  int
	}{
		"one row":         {game.Shape{Rows: 1, Cols: 4}, 4, []int{3}, 8},
		"five columns":    {game.Shape{Rows: 3, Cols: 5}, 4, []int{3}, 8},
		"no units":        {square, 6, nil, 8},
		"unit too small":  {square, 6, []int{2}, 8},
		"unit too great":  {square, 6, []int{7}, 8},
		"odd slack":       {square, 6, []int{4}, 7},
		"too many locked": {game.Shape{Rows: 2, Cols: 2}, 13, []int{3}, 8},
		"winning tile":    {square, 15, []int{4}, 8},
	} {
		if _, err := stages.NewPlan(x.shape, x.maxExp, x.units, x.slack); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	plan, err := stages.NewPlan(square, 6, []int{5}, 40)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stages.Prove(t.Context(), plan, stages.Options{Memory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "the limit is 1 MB") {
		t.Errorf("with a limit of 1 MB: %v", err)
	}
	large, err := stages.NewPlan(game.Shape{Rows: 4, Cols: 4}, 11, []int{8}, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stages.Prove(t.Context(), large, stages.Options{}); err == nil || !strings.Contains(err.Error(), "2^32 boards") {
		t.Errorf("a stage that is too large: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := stages.Prove(ctx, plan, stages.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// BenchmarkProve has the time of a board in ns/board.
func BenchmarkProve(b *testing.B) {
	plan, err := stages.NewPlan(game.Shape{Rows: 3, Cols: 4}, 6, []int{4}, 32)
	if err != nil {
		b.Fatal(err)
	}
	boards := int64(0)
	for b.Loop() {
		proof, err := stages.Prove(b.Context(), plan, stages.Options{})
		if err != nil {
			b.Fatal(err)
		}
		boards += proof.Boards
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(boards), "ns/board")
}
