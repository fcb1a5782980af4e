package game_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
)

// The rules on slices of tile values, one cell at a time, on top of game.Slide: the oracle of the bitboard.

var directions = []game.Dir{game.Left, game.Right, game.Up, game.Down}

// shapes has every kind: square, oblong, one line, with tables (lines up to 4), without, and both on one board.
var shapes = []game.Shape{
	{Rows: 2, Cols: 2},
	{Rows: 3, Cols: 3},
	{Rows: 4, Cols: 4},
	{Rows: 1, Cols: 2},
	{Rows: 2, Cols: 1},
	{Rows: 2, Cols: 3},
	{Rows: 3, Cols: 2},
	{Rows: 3, Cols: 4},
	{Rows: 4, Cols: 3},
	{Rows: 2, Cols: 4},
	{Rows: 4, Cols: 2},
	{Rows: 1, Cols: 4},
	{Rows: 4, Cols: 1},
	{Rows: 2, Cols: 6},
	{Rows: 6, Cols: 2},
	{Rows: 3, Cols: 5},
	{Rows: 2, Cols: 8},
	{Rows: 1, Cols: 16},
	{Rows: 16, Cols: 1},
}

// slowLines returns the cells of each line that slides in direction d, the one nearest the wall first.
func slowLines(s game.Shape, d game.Dir) [][]int {
	var lines [][]int
	switch d {
	case game.Left, game.Right:
		for row := range s.Rows {
			var line []int
			for col := range s.Cols {
				line = append(line, row*s.Cols+col)
			}
			lines = append(lines, line)
		}
	default:
		for col := range s.Cols {
			var line []int
			for row := range s.Rows {
				line = append(line, row*s.Cols+col)
			}
			lines = append(lines, line)
		}
	}
	if d == game.Right || d == game.Down {
		for _, line := range lines {
			slices.Reverse(line)
		}
	}
	return lines
}

func slowMove(s game.Shape, values []int, d game.Dir) (next []int, score int) {
	return slowMoveBy(game.Slide, s, values, d)
}

// slowMoveBy is slowMove with what slides a line.
func slowMoveBy(slide func([]int) ([]int, int), s game.Shape, values []int, d game.Dir) (next []int, score int) {
	next = make([]int, len(values))
	for _, cells := range slowLines(s, d) {
		line := make([]int, len(cells))
		for i, cell := range cells {
			line[i] = values[cell]
		}
		out, gain := slide(line)
		for i, cell := range cells {
			next[cell] = out[i]
		}
		score += gain
	}
	return next, score
}

func newRules(t testing.TB, s game.Shape) *game.Rules {
	t.Helper()
	r, err := game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pack(t testing.TB, s game.Shape, values []int) game.Board {
	t.Helper()
	b, err := s.Board(values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// randomBoard fills cells with few different tiles, so that merges are common, and now and then with large ones.
func randomBoard(s game.Shape, rng *rand.Rand) game.Board {
	var b game.Board
	base, kinds := 0, 2+rng.IntN(4)
	if rng.IntN(4) == 0 {
		base = game.MaxExponent - kinds + 1
	}
	for i := range s.Cells() {
		if rng.IntN(3) > 0 {
			b = b.With(i, base+rng.IntN(kinds))
		}
	}
	return b
}

// checkAgainstSlow compares everything the rules say about b with the oracle.
func checkAgainstSlow(t *testing.T, r *game.Rules, b game.Board) {
	t.Helper()
	s := r.Shape()
	values := s.Values(b)
	var legal game.Moves
	for _, d := range directions {
		want, wantScore := slowMove(s, values, d)
		if !slices.Equal(want, values) {
			legal |= 1 << d
		}
		next, score, err := r.Move(b, d)
		if slices.Contains(want, 65536) {
			if err != game.ErrOverflow || next != b || score != 0 {
				t.Errorf("%s %v %s: got %v, %d, %v, want overflow", s, values, d, next, score, err)
			}
			continue
		}
		if got := s.Values(next); err != nil || !slices.Equal(got, want) || score != wantScore {
			t.Errorf("%s %v %s: got %v, %d, %v, want %v, %d", s, values, d, got, score, err, want, wantScore)
		}
		if next>>(4*s.Cells()-1)>>1 != 0 {
			t.Errorf("%s %v %s: tiles beyond the board: %v", s, values, d, next)
		}
	}
	if got := r.Legal(b); got != legal {
		t.Errorf("%s %v: legal moves %v, want %v", s, values, got, legal)
	}
	checkMoved(t, r, b, legal)
	checkCounts(t, r, b, legal)
}

// checkMoved compares all moves at once with the oracle.
func checkMoved(t *testing.T, r *game.Rules, b game.Board, wantLegal game.Moves) {
	t.Helper()
	s := r.Shape()
	values := s.Values(b)
	var next [4]game.Board
	legal, overflow := r.Moved(b, &next)
	if legal != wantLegal {
		t.Errorf("%s %v: moved to legal moves %v, want %v", s, values, legal, wantLegal)
	}
	horizontal, vertical := r.Scores(b)
	scores := [4]int{game.Left: horizontal, game.Right: horizontal, game.Up: vertical, game.Down: vertical}
	for _, d := range directions {
		want, wantScore := slowMove(s, values, d)
		wantOverflow := slices.Contains(want, 65536)
		if wantOverflow {
			want, wantScore = values, 0
		}
		if got := s.Values(next[d]); !slices.Equal(got, want) || overflow.Has(d) != wantOverflow || scores[d] != wantScore {
			t.Errorf("%s %v %s: moved to %v, score %d, overflow %v, want %v, %d, %v", s, values, d,
				got, scores[d], overflow.Has(d), want, wantScore, wantOverflow)
		}
		if next[d]>>(4*s.Cells()-1)>>1 != 0 {
			t.Errorf("%s %v %s: moved tiles beyond the board: %v", s, values, d, next[d])
		}
	}
}

// checkCounts compares empty cells, sum, different tiles, loss and largest tile with what the values and the legal moves say.
func checkCounts(t *testing.T, r *game.Rules, b game.Board, legal game.Moves) {
	t.Helper()
	s := r.Shape()
	values := s.Values(b)
	empties, sum, tiles := 0, 0, map[int]bool{}
	for _, v := range values {
		if v == 0 {
			empties++
			continue
		}
		sum += v
		tiles[v] = true
	}
	if b.Sum() != sum || b.Distinct() != len(tiles) {
		t.Errorf("%s %v: sum %d, %d different tiles, want %d and %d", s, values, b.Sum(), b.Distinct(), sum, len(tiles))
	}
	if got := r.NumEmptyCells(b); got != empties {
		t.Errorf("%s %v: %d empty cells, want %d", s, values, got, empties)
	}
	if got, want := r.Lost(b), empties == 0 && legal == 0; got != want {
		t.Errorf("%s %v: lost %v, want %v", s, values, got, want)
	}
	largest := slices.Max(values)
	if got := game.Value(b.Max()); got != largest {
		t.Errorf("%s %v: largest tile %d, want %d", s, values, got, largest)
	}
	for exp := 1; exp <= game.MaxExponent; exp++ {
		if got, want := b.AtLeast(exp), largest >= 1<<exp; got != want {
			t.Errorf("%s %v: at least %d: %v, want %v", s, values, 1<<exp, got, want)
		}
	}
}
