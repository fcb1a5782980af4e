package game_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
)

// TestEveryLine compares all 65,536 lines of four cells with the oracle, in all directions.
func TestEveryLine(t *testing.T) {
	for _, s := range []game.Shape{{Rows: 1, Cols: 4}, {Rows: 4, Cols: 1}} {
		r := newRules(t, s)
		for b := range game.Board(1 << 16) {
			checkAgainstSlow(t, r, b)
		}
	}
}

func TestRandomBoards(t *testing.T) {
	for i, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			r := newRules(t, s)
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for range 2000 {
				checkAgainstSlow(t, r, randomBoard(s, rng))
			}
		})
	}
}

// TestEveryLineEverywhere puts every line into every row and every column of the boards that have tables of their own, among other tiles.
func TestEveryLineEverywhere(t *testing.T) {
	for i, s := range []game.Shape{{Rows: 4, Cols: 4}, {Rows: 3, Cols: 3}} {
		r := newRules(t, s)
		rng := rand.New(rand.NewPCG(4, uint64(i)))
		n := s.Rows
		for line := range game.Board(1) << (4 * n) {
			row, col := randomBoard(s, rng), randomBoard(s, rng)
			at := rng.IntN(n)
			if !needs.IsFull() && line%7 != 0 {
				continue
			}
			for k := range n {
				row = row.With(at*n+k, line.Cell(k))
				col = col.With(k*n+at, line.Cell(k))
			}
			checkAgainstSlow(t, r, row)
			checkAgainstSlow(t, r, col)
		}
	}
}

func TestShapeValidate(t *testing.T) {
	const tail = ", want at least one row and one column and 2 to 16 cells"
	tests := []struct {
		shape game.Shape
		err   string
	}{
		{game.Shape{Rows: 4, Cols: 4}, ""},
		{game.Shape{Rows: 1, Cols: 2}, ""},
		{game.Shape{Rows: 1, Cols: 16}, ""},
		{game.Shape{Rows: 16, Cols: 1}, ""},
		{game.Shape{}, "board is 0x0" + tail},
		{game.Shape{Rows: 1, Cols: 1}, "board is 1x1" + tail},
		{game.Shape{Rows: 4, Cols: 5}, "board is 4x5" + tail},
		{game.Shape{Rows: -2, Cols: -2}, "board is -2x-2" + tail},
		{game.Shape{Rows: 1 << 32, Cols: 1 << 32}, "board is 4294967296x4294967296" + tail}, // the product wraps to 0
	}
	for _, tt := range tests {
		_, err := game.New(tt.shape)
		if got := errorText(err); got != tt.err {
			t.Errorf("New(%s): %q, want %q", tt.shape, got, tt.err)
		}
	}
}

func TestOverflow(t *testing.T) {
	tests := []struct {
		shape    game.Shape
		values   []int
		overflow game.Moves
	}{
		{game.Shape{Rows: 2, Cols: 2}, []int{32768, 32768, 2, 2}, 1<<game.Left | 1<<game.Right},
		{game.Shape{Rows: 2, Cols: 2}, []int{32768, 2, 32768, 2}, 1<<game.Up | 1<<game.Down},
		{game.Shape{Rows: 2, Cols: 2}, []int{32768, 2, 4, 32768}, 0},
		{game.Shape{Rows: 1, Cols: 4}, []int{32768, 32768, 0, 32768}, 1<<game.Left | 1<<game.Right},
		{game.Shape{Rows: 1, Cols: 4}, []int{32768, 2, 0, 32768}, 0},
		{game.Shape{Rows: 1, Cols: 4}, []int{16384, 16384, 0, 32768}, 0},
		{game.Shape{Rows: 6, Cols: 2}, []int{2, 4, 2, 4, 2, 4, 2, 4, 2, 32768, 0, 32768}, 1<<game.Up | 1<<game.Down},
	}
	for _, tt := range tests {
		r, b := newRules(t, tt.shape), pack(t, tt.shape, tt.values)
		for _, d := range directions {
			next, score, err := r.Move(b, d)
			if !tt.overflow.Has(d) {
				if err != nil {
					t.Errorf("%v %s: %v", tt.values, d, err)
				}
				continue
			}
			if !errors.Is(err, game.ErrOverflow) || next != b || score != 0 {
				t.Errorf("%v %s: got %v, %d, %v, want the board as it was, 0, ErrOverflow", tt.values, d, next, score, err)
			}
			if !r.Legal(b).Has(d) {
				t.Errorf("%v %s: not legal, want legal: the rules have no largest tile", tt.values, d)
			}
		}
	}
}

func TestMovesOfEmptyBoard(t *testing.T) {
	for _, s := range shapes {
		r := newRules(t, s)
		if m := r.Legal(0); m != 0 || r.Lost(0) {
			t.Errorf("%s: legal moves %v, lost %v, want none and false", s, m, r.Lost(0))
		}
	}
}

func TestMovesAt(t *testing.T) {
	for m := range game.Moves(16) {
		var got []game.Dir
		for n := range m.Len() {
			got = append(got, m.At(n))
		}
		want := slices.DeleteFunc(slices.Clone(directions), func(d game.Dir) bool { return !m.Has(d) })
		if !slices.Equal(got, want) {
			t.Errorf("%04b: %v, want %v", m, got, want)
		}
	}
}

func TestPanics(t *testing.T) {
	s := game.Shape{Rows: 2, Cols: 3}
	r := newRules(t, s)
	full := pack(t, s, []int{2, 4, 2, 4, 2, 4})
	tests := []struct {
		name string
		call func()
	}{
		{"Spawn on a full board", func() { r.Spawn(full, 0, 1) }},
		{"Spawn before the first cell", func() { r.Spawn(0, -1, 1) }},
		{"Spawn of no tile", func() { r.Spawn(0, 0, 0) }},
		{"Spawn of too large a tile", func() { r.Spawn(0, 0, 16) }},
		{"AddRandom on a full board", func() { r.AddRandom(full, rand.New(rand.NewPCG(1, 1))) }},
		{"Apply of a transposition", func() { r.Apply(game.Transpose, full) }},
		{"Cell beyond the board", func() { full.Cell(16) }},
		{"With too large a tile", func() { full.With(0, 16) }},
		{"AtLeast of no tile", func() { full.AtLeast(0) }},
		{"Move in no direction", func() { r.Move(full, game.Down+1) }},
		{"At of an empty set", func() { game.Moves(0).At(0) }},
		{"Random of an empty set", func() { game.Moves(0).Random(rand.New(rand.NewPCG(1, 1))) }},
		{"Choose from no move", func() { game.Preference{}.Choose(0) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			tt.call()
		})
	}
}

func TestStart(t *testing.T) {
	for i, s := range shapes {
		r := newRules(t, s)
		for stream := range uint64(100) {
			b := r.Start(rand.New(rand.NewPCG(uint64(i), stream)))
			if r.NumEmptyCells(b) != s.Cells()-2 || b.Max() > 2 {
				t.Fatalf("%s: start %v, want two tiles of 2 or 4", s, b)
			}
		}
	}
}

func TestAlternating(t *testing.T) {
	const all = 1<<game.Left | 1<<game.Right | 1<<game.Up | 1<<game.Down
	a := thesisAlternating
	steps := []struct {
		legal game.Moves
		want  game.Dir
	}{
		{all &^ (1 << game.Up), game.Left},       // first list, second choice: stays
		{all, game.Up},                           // first list, first choice: switches
		{all, game.Left},                         // second list, first choice: switches back
		{1 << game.Right, game.Right},            // first list, last choice: stays
		{all, game.Up},                           // switches
		{1<<game.Down | 1<<game.Up, game.Up},     // second list, second choice: stays
		{1<<game.Down | 1<<game.Up, game.Up},     // stays
		{1<<game.Down | 1<<game.Left, game.Left}, // switches back
		{1<<game.Down | 1<<game.Left, game.Left}, // first list, second choice
	}
	for i, step := range steps {
		if got := a.Choose(step.legal); got != step.want {
			t.Fatalf("step %d: %s of %s, want %s", i, got, step.legal, step.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
