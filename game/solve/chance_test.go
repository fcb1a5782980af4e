package solve_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// TestOutcomes compares with tiles put into every empty cell, one by one.
func TestOutcomes(t *testing.T) {
	opts := solve.Options{Shape: game.Shape{Rows: 2, Cols: 3}, Max: 8, P2: big.NewRat(3, 4)}
	table, _, err := solve.Solve(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	rules := table.Rules()
	for _, text := range []string{". . . / . . .", "2 . . / . . .", "2 . 2 / . 4 .", "2 4 2 / 4 2 ."} {
		b, err := opts.Shape.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[game.Board]float64)
		n := rules.NumEmptyCells(b)
		for i := range n {
			for exp, p := range map[int]float64{1: 0.75, 2: 0.25} {
				least, _ := rules.Canonical(rules.Spawn(b, i, exp))
				want[least] += p / float64(n)
			}
		}
		got := table.Outcomes(b)
		if len(got) != len(want) {
			t.Errorf("%s: %d outcomes, want %d", text, len(got), len(want))
		}
		for i, o := range got {
			if math.Abs(o.Prob-want[o.Board]) > 1e-15 || o.Won || i > 0 && o.Board <= got[i-1].Board {
				t.Errorf("%s: outcome %d is %v, want probability %v", text, i, o, want[o.Board])
			}
		}
	}
}

// TestAddRandom compares the stream with package game's where the odds are the same. Where they are not, the number of 4s must be within
// six standard deviations: another seed fails once in 5e8.
func TestAddRandom(t *testing.T) {
	opts := square(3, 16)
	usual, _, err := solve.Solve(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	a, b := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	board := game.Board(0)
	for range 1000 {
		got, want := usual.AddRandom(board, a), usual.Rules().AddRandom(board, b)
		if got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		if board = got; usual.Rules().NumEmptyCells(board) == 0 {
			board = 0
		}
	}
	opts.P2 = big.NewRat(1, 3)
	rare, _, err := solve.Solve(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	const n = 30_000
	fours := 0
	for range n {
		if rare.AddRandom(0, a).AtLeast(2) {
			fours++
		}
	}
	if math.Abs(float64(fours)-n*2.0/3) > 6*math.Sqrt(n*2.0/9) {
		t.Errorf("%d of %d tiles are 4s, want two thirds", fours, n)
	}
}

// TestMemoryLimit asks for more than fits.
func TestMemoryLimit(t *testing.T) {
	opts := square(3, 32)
	opts.Memory = 1 << 20
	_, _, err := solve.Solve(t.Context(), opts)
	if limit, ok := errors.AsType[*solve.MemoryError](err); !ok || limit.Limit != 1<<20 {
		t.Errorf("error %v, want a limit of memory", err)
	}
	opts.Memory = 60 << 20
	if _, _, err := solve.Solve(t.Context(), opts); err != nil {
		t.Errorf("error %v in 60 MB", err)
	}
}

// TestProgress checks that all positions are told of, once enumerated and once valued, layer by layer.
func TestProgress(t *testing.T) {
	opts := square(3, 16)
	var last solve.Progress
	opts.Progress = func(p solve.Progress) {
		switch {
		case p.Valuing != last.Valuing:
			if !p.Valuing || p.Sum > last.Sum {
				t.Errorf("%+v after %+v", p, last)
			}
		case last.Sum != 0 && (p.Positions < last.Positions || p.Sum != last.Sum+2 && !p.Valuing || p.Sum != last.Sum-2 && p.Valuing):
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	stats, err := solve.InitialValue(t.Context(), opts, "")
	if err != nil {
		t.Fatal(err)
	}
	if last.Positions != stats.Positions || last.Total != stats.Positions || last.Sum != 4 {
		t.Errorf("the last is %+v, want all %d positions", last, stats.Positions)
	}
}
