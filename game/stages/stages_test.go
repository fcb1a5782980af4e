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
	"tilecheck/internal/needs"
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
func check(t *testing.T, proof *stages.Proof) (*tiles.StageBound, error) {
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
			if shape.Cells() > 6 {
				needs.NotShort(t, "the race detector makes it slow")
			}
			plan, err := stages.NewPlan(shape, x.maxExp, x.units, []int{x.slack})
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
	positive, numPlans := 0, needs.Some(1000)
	for i := range numPlans {
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
	if positive < numPlans/5 {
		t.Errorf("only %d of %d bounds are positive", positive, numPlans)
	}
}

// definition computes values by the definition in the comment of tiles.CheckStages, by recursion over boards: without layers, halves or tables.
type definition struct {
	*stages.Plan
	rules  *game.Rules
	values map[stagedBoard]uint32
}

type stagedBoard struct {
	stage int
	board game.Board
}

// smallSum returns the sum of the small tiles of a board. belongs is false if the board does not belong to the stage.
func (d *definition) smallSum(stage int, board game.Board) (sum int, belongs bool) {
	s := &d.Stages[stage]
	var found, columns [4][]int // in each row
	for cell := range d.Shape.Cells() {
		exponent, row := int(board>>(4*cell)&15), cell/d.Shape.Cols
		switch {
		case exponent >= s.Small:
			found[row], columns[row] = append(found[row], exponent), append(columns[row], cell%d.Shape.Cols)
		case exponent > 0:
			sum += game.Value(exponent)
		}
	}
	first := columns[0]
	belongs = slices.Equal(found[0], s.Locked[:s.Upper]) && slices.Equal(found[1], s.Locked[s.Upper:]) && len(found[2])+len(found[3]) == 0
	if belongs && s.Columns != nil && s.Upper > 0 {
		belongs = slices.Contains(s.Columns, first[0]) && first[len(first)-1]-first[0] == len(first)-1
	}
	return sum, belongs
}

// value returns the value of a board that belongs to a stage.
func (d *definition) value(stage int, board game.Board) (best uint32) {
	if sum, _ := d.smallSum(stage, board); sum > d.Stages[stage].Sum {
		return 0
	}
	key := stagedBoard{stage, board}
	if known, ok := d.values[key]; ok {
		return known
	}
	for dir := range game.Dir(4) {
		if moved, _, err := d.rules.Move(board, dir); err == nil && moved != board {
			best = max(best, d.afterMove(stage, moved, dir))
		}
	}
	d.values[key] = best
	return best
}

// mean returns the mean over the new tiles.
func (d *definition) mean(stage int, board game.Board) uint32 {
	sum, weight := uint64(0), uint64(0)
	for cell := range d.Shape.Cells() {
		if board>>(4*cell)&15 == 0 {
			sum += 9*uint64(d.value(stage, board|1<<(4*cell))) + uint64(d.value(stage, board|2<<(4*cell)))
			weight += 10
		}
	}
	return uint32(sum / max(1, weight))
}

// afterMove returns what a board after a move counts.
func (d *definition) afterMove(stage int, moved game.Board, dir game.Dir) uint32 {
	if moved.AtLeast(d.Max) {
		return stages.Scale
	}
	s := &d.Stages[stage]
	severalLocked := len(s.Locked) > 1
	if severalLocked && dir == game.Down {
		moved = d.rules.Apply(game.FlipV, moved)
	}
	if _, belongs := d.smallSum(stage, moved); belongs {
		return d.inStage(stage, moved)
	}
	if severalLocked && dir == game.Down {
		return 0
	}
	return d.ofImages(stage, moved, severalLocked)
}

// inStage returns what a board after a move counts that belongs to the stage.
func (d *definition) inStage(stage int, moved game.Board) uint32 {
	mean := d.mean(stage, moved)
	if next := stage + 1; next < len(d.Stages) && d.continues(next) {
		if _, belongs := d.smallSum(next, moved); belongs {
			return max(mean, d.mean(next, moved))
		}
	}
	return mean
}

// continues reports whether a stage has the same locked tiles as the one before it, in the same rows.
func (d *definition) continues(stage int) bool {
	before, s := &d.Stages[stage-1], &d.Stages[stage]
	return s.Upper == before.Upper && slices.Equal(s.Locked, before.Locked)
}

// ofImages returns what a board after a move counts that does not belong to the stage.
func (d *definition) ofImages(stage int, moved game.Board, severalLocked bool) (best uint32) {
	images := []game.Board{moved, d.rules.Apply(game.FlipH, moved)}
	for symmetry := range d.rules.Symmetries() {
		if !severalLocked {
			images = append(images, d.rules.Apply(game.Symmetry(symmetry), moved))
		}
	}
	for _, image := range images {
		if _, belongs := d.smallSum(stage, image); belongs {
			return d.inStage(stage, image)
		}
	}
	later := d.Stages[stage+1 : min(stage+17, len(d.Stages))]
	large := 0
	for cell := range d.Shape.Cells() {
		if int(moved>>(4*cell)&15) >= d.Stages[stage].Small {
			large++
		}
	}
	locksSmall := slices.ContainsFunc(later, func(s stages.Stage) bool { return s.Small < d.Stages[stage].Small })
	if large == len(d.Stages[stage].Locked) && !locksSmall {
		return 0
	}
	for i := range later {
		if d.continues(stage + 1 + i) {
			continue
		}
		for _, image := range images {
			if _, belongs := d.smallSum(stage+1+i, image); belongs {
				best = max(best, d.mean(stage+1+i, image))
			}
		}
	}
	return best
}

// TestDefinition compares the bounds of random stages, and of plans, with a recursion over the definition.
func TestDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var plans []*stages.Plan
	for i := range 60 {
		x := []game.Shape{{Rows: 2, Cols: 2}, {Rows: 2, Cols: 3}, {Rows: 3, Cols: 2}}[i%3]
		plans = append(plans, randomPlan(random, x, 4+i%2))
	}
	for _, x := range []struct {
		shape  game.Shape
		maxExp int
		units  []int
	}{{game.Shape{Rows: 2, Cols: 2}, 5, []int{3}}, {game.Shape{Rows: 2, Cols: 3}, 5, []int{4, 3}}, {game.Shape{Rows: 3, Cols: 2}, 6, []int{4, 3}}, {game.Shape{Rows: 3, Cols: 3}, 5, []int{4, 3}}} {
		plan, err := stages.NewPlan(x.shape, x.maxExp, x.units, []int{20})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, plan)
	}
	for _, plan := range plans {
		rules, err := game.New(plan.Shape)
		if err != nil {
			t.Fatal(err)
		}
		d := &definition{Plan: plan, rules: rules, values: map[stagedBoard]uint32{}}
		sum := uint64(0)
		for cell := range plan.Shape.Cells() {
			for exponent, weight := range []uint64{1: 9, 2: 1} {
				board := game.Board(exponent) << (4 * cell)
				if _, belongs := d.smallSum(0, board); belongs {
					sum += weight * uint64(d.mean(0, board))
				}
			}
		}
		if want := uint32(sum / uint64(10*plan.Shape.Cells())); prove(t, plan, 0).Bound != want {
			t.Errorf("%s to %d, %v: bound %d, want %d", plan.Shape, game.Value(plan.Max), plan.Stages, prove(t, plan, 0).Bound, want)
		}
	}
}

// TestChangedCertificate checks that a changed line is an error.
func TestChangedCertificate(t *testing.T) {
	plan, err := stages.NewPlan(game.Shape{Rows: 2, Cols: 2}, 4, []int{3}, []int{20})
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
		if _, err := stages.NewPlan(x.shape, x.maxExp, x.units, []int{x.slack}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	plan, err := stages.NewPlan(square, 6, []int{5}, []int{40})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stages.Prove(t.Context(), plan, stages.Options{Memory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "the limit is 1 MB") {
		t.Errorf("with a limit of 1 MB: %v", err)
	}
	large, err := stages.NewPlan(game.Shape{Rows: 4, Cols: 4}, 11, []int{8}, []int{64})
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
	plan, err := stages.NewPlan(game.Shape{Rows: 3, Cols: 4}, 6, []int{4}, []int{32})
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
