package solve_test

import (
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/needs"
)

// TestKnownValues checks values that PRISM's and Storm's exact engines found, and those that Lees-Miller gives with two digits.
//
// Source: shared/reference/2048-numbers.md.
func TestKnownValues(t *testing.T) {
	for _, tt := range []struct {
		size, max int
		num, den  int64
		within    float64 // relative
		long      bool
	}{
		{2, 8, 1, 1, 0, false},
		{2, 16, 770009003, 800000000, 1e-13, false},
		{2, 32, 663098312572433, 8000000000000000, 1e-13, false},
		{2, 64, 0, 1, 0, false},
		{3, 32, 1, 1, 0, false},
		{3, 512, 74, 100, 0.005, true},
		{3, 1024, 1, 100, 0.5, true},
	} {
		t.Run(fmt.Sprintf("%dx%d-%d", tt.size, tt.size, tt.max), func(t *testing.T) {
			if tt.long {
				needs.Long(t)
			}
			opts := square(tt.size, tt.max)
			stats, err := solve.InitialValue(t.Context(), opts, "")
			if err != nil {
				t.Fatal(err)
			}
			if !near(stats.Initial, big.NewRat(tt.num, tt.den), tt.within) {
				t.Errorf("%dx%d to %d: %v, want %d/%d", tt.size, tt.size, tt.max, stats.Initial, tt.num, tt.den)
			}
			problem, err := opts.Problem()
			if err != nil {
				t.Fatal(err)
			}
			low, high, ok := stats.Bounds(problem)
			if tt.within < 1e-6 && (!ok || new(big.Rat).SetFloat64(low).Cmp(big.NewRat(tt.num, tt.den)) > 0 || new(big.Rat).SetFloat64(high).Cmp(big.NewRat(tt.num, tt.den)) < 0) {
				t.Errorf("%dx%d to %d: [%v, %v] %v, want one that contains %d/%d", tt.size, tt.size, tt.max, low, high, ok, tt.num, tt.den)
			}
			if tt.num > 0 && high-low > 2e-12 {
				t.Errorf("[%v, %v] is wide", low, high)
			}
		})
	}
}

func square(size, maximum int) solve.Options {
	return solve.Options{Shape: game.Shape{Rows: size, Cols: size}, Max: maximum}
}

// TestPublishedSizes compares the numbers of positions that are not lost with Lees-Miller's, who counts one more state for all that are won.
//
// Source: github.com/jdleesmiller/twenty48, data/blog/canonical.csv.
func TestPublishedSizes(t *testing.T) {
	for _, tt := range []struct {
		size, max, states int
		long              bool
	}{
		{2, 8, 16, false},
		{2, 16, 36, false},
		{2, 32, 58, false},
		{3, 8, 1187, false},
		{3, 16, 16_835, false},
		{3, 32, 124_373, false},
		{3, 64, 594_047, true},
		{3, 128, 2_064_919, true},
		{3, 256, 5_643_585, true},
		{3, 512, 12_789_512, true},
		{3, 1024, 25_179_013, true},
		{4, 8, 84_660, false},
		{4, 16, 23_482_822, true},
	} {
		if tt.long && !needs.IsLong() {
			continue
		}
		table, stats, err := solve.Solve(t.Context(), square(tt.size, tt.max))
		if err != nil {
			t.Fatal(err)
		}
		states := 1
		for _, n := range playable(t, table, stats) {
			states += n
		}
		if states != tt.states {
			t.Errorf("%dx%d to %d: %d states, want %d", tt.size, tt.size, tt.max, states, tt.states)
		}
	}
}

// playable returns the number of positions that are not lost of each layer that has one.
func playable(t *testing.T, table *solve.Table, stats solve.Stats) []int {
	t.Helper()
	var all []int
	for _, l := range stats.Layers {
		positions, err := table.Layer(l.Sum)
		if err != nil || int64(len(positions)) != l.Positions {
			t.Fatalf("layer %d has %d positions and error %v, want %d", l.Sum, len(positions), err, l.Positions)
		}
		n := 0
		for _, p := range positions {
			if p.Best != 0 {
				n++
			}
		}
		if n > 0 {
			all = append(all, n)
		}
	}
	return all
}

// TestPublishedLayers compares the numbers of positions that are not lost of each layer with Lees-Miller's.
//
// Source: github.com/jdleesmiller/twenty48, data/blog/layers_canonical.csv.
func TestPublishedLayers(t *testing.T) {
	for _, tt := range []struct {
		size, max int
		want      []int
	}{
		{2, 8, []int{2, 3, 4, 3, 2, 1}},
		{2, 16, []int{2, 3, 4, 5, 6, 5, 3, 2, 3, 1, 1}},
		{2, 32, []int{2, 3, 4, 5, 6, 5, 3, 2, 5, 5, 4, 3, 4, 1, 1, 2, 1, 1}},
		{3, 8, []int{8, 22, 43, 69, 107, 136, 166, 175, 162, 125, 93, 52, 21, 5, 2}},
		{3, 16, []int{
			8, 22, 43, 79, 143, 218, 330, 477, 666, 856, 1091, 1270, 1428, 1487, 1534, 1474, 1350, 1179, 1005, 736, 563, 387, 244, 137, 68, 28,
			7, 3, 1,
		}},
	} {
		table, stats, err := solve.Solve(t.Context(), square(tt.size, tt.max))
		if err != nil {
			t.Fatal(err)
		}
		if got := playable(t, table, stats); !slices.Equal(got, tt.want) {
			t.Errorf("%dx%d to %d: layers have %v, want %v", tt.size, tt.size, tt.max, got, tt.want)
		}
	}
}

// TestSymmetry asks for the images of positions: they have the value of the position, and its moves turned.
func TestSymmetry(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 3, Cols: 3}, {Rows: 2, Cols: 3}, {Rows: 3, Cols: 2}, {Rows: 1, Cols: 5}} {
		table, stats, err := solve.Solve(t.Context(), solve.Options{Shape: shape, Max: 16, Objective: solve.Score})
		if err != nil {
			t.Fatal(err)
		}
		rules := table.Rules()
		for _, l := range stats.Layers {
			positions, err := table.Layer(l.Sum)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(positions); i += 7 {
				p := positions[i]
				for s := range rules.Symmetries() {
					by := game.Symmetry(s)
					checkImage(t, table, rules.Apply(by, p.Board), by, p)
				}
			}
		}
	}
}

func checkImage(t *testing.T, table *solve.Table, image game.Board, by game.Symmetry, p solve.Position) {
	t.Helper()
	value, best, ok := table.Value(image)
	if !ok || value != p.Value {
		t.Errorf("%s: value is %v %v, that of the image %s is %v", image, value, ok, p.Board, p.Value)
	}
	// A symmetry that keeps the board may be undone by another: compare what moves lead to, not the moves.
	rules := table.Rules()
	var of, want [4]game.Board
	rules.Moved(image, &of)
	rules.Moved(p.Board, &want)
	for d := game.Left; d <= game.Down; d++ {
		if best.Has(by.Dir(d)) != p.Best.Has(d) {
			t.Errorf("%s, image of %s by %s: best moves are %s, those of the position %s", image, p.Board, by, best, p.Best)
		}
	}
}

// TestUnreachable asks for boards that no game comes to, but for the last, which is won.
func TestUnreachable(t *testing.T) {
	table, _, err := solve.Solve(t.Context(), square(2, 32))
	if err != nil {
		t.Fatal(err)
	}
	shape := game.Shape{Rows: 2, Cols: 2}
	for _, text := range []string{". . / . .", "2 . / . .", "16 16 / 16 16", "2 4 / 8 16384"} {
		b, err := shape.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		won := text == "2 4 / 8 16384"
		if v, moves, ok := table.Value(b); ok != won || moves != 0 || (v == 1) != won {
			t.Errorf("%s has value %v, moves %q, %v", text, v, moves, ok)
		}
		if moves, ok := table.Moves(b); won && (ok || moves != nil) {
			t.Errorf("%s has moves %v", text, moves)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for _, opts := range []solve.Options{
		{},
		square(2, 0),
		square(2, 2),
		square(2, 12),
		square(2, 65536),
		square(1, 16),
		square(5, 16),
		square(2, -16),
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Discount: 1.5},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Discount: -1},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Discount: math.NaN()},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Discount: 0.5, Objective: solve.Score},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Objective: 3},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, P2: big.NewRat(3, 2)},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, P2: big.NewRat(-1, 2)},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, P2: big.NewRat(1, 1<<20+1)},
	} {
		if _, err := opts.Problem(); err == nil {
			t.Errorf("%+v is accepted", opts)
		}
		if _, _, err := solve.Solve(t.Context(), opts); err == nil {
			t.Errorf("%+v is solved", opts)
		}
	}
}

func TestObjectiveNames(t *testing.T) {
	for o := solve.Win; o <= solve.Moves; o++ {
		if got, err := solve.ParseObjective(o.String()); got != o || err != nil {
			t.Errorf("%s is %v, %v", o, got, err)
		}
	}
	if _, err := solve.ParseObjective("lose"); err == nil {
		t.Error("lose is an objective")
	}
}

// BenchmarkSolve reports positions per second. 3x3 to 256 has 6,116,578.
func BenchmarkSolve(b *testing.B) {
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(map[bool]string{true: "alone", false: "all"}[workers == 1], func(b *testing.B) {
			positions := int64(0)
			for b.Loop() {
				opts := square(3, 256)
				opts.Workers = workers
				stats, err := solve.InitialValue(b.Context(), opts, "")
				if err != nil {
					b.Fatal(err)
				}
				positions += stats.Positions
			}
			b.ReportMetric(float64(positions)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}
