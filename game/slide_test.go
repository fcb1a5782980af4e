package game_test

import (
	"slices"
	"testing"

	"tilecheck/game"
)

// The expectations are worked out by hand from thesis section 3.1; the first four are the situations of figures 3.1 to 3.4.
var slideTests = []struct {
	name      string
	line, out []int
	score     int
}{
	{"equal tiles combine", []int{0, 2, 0, 2}, []int{4, 0, 0, 0}, 4},
	{"of three the two nearest the wall combine", []int{2, 2, 2, 0}, []int{4, 2, 0, 0}, 4},
	{"two pairs combine, the results do not", []int{2, 2, 2, 2}, []int{4, 4, 0, 0}, 8},
	{"a new tile does not merge with an old one", []int{2, 2, 4, 0}, []int{4, 4, 0, 0}, 4},
	{"nor with an old one before it", []int{4, 2, 2, 0}, []int{4, 4, 0, 0}, 4},
	{"nor across a gap", []int{8, 4, 0, 4}, []int{8, 8, 0, 0}, 8},
	{"two pairs of different tiles", []int{2, 2, 8, 8}, []int{4, 16, 0, 0}, 20},
	{"the middle pair", []int{2, 4, 4, 8}, []int{2, 8, 8, 0}, 8},
	{"the last pair", []int{4, 2, 8, 8}, []int{4, 2, 16, 0}, 16},
	{"equal but not neighbours", []int{2, 4, 2, 4}, []int{2, 4, 2, 4}, 0},
	{"slides only", []int{0, 0, 0, 2}, []int{2, 0, 0, 0}, 0},
	{"empty", []int{0, 0, 0, 0}, []int{0, 0, 0, 0}, 0},
	{"two cells", []int{2, 2}, []int{4, 0}, 4},
	{"one cell", []int{2}, []int{2}, 0},
	{"no cell", nil, nil, 0},
	{"six cells, three pairs", []int{2, 2, 4, 4, 8, 8}, []int{4, 8, 16, 0, 0, 0}, 28},
	{"five equal", []int{2, 2, 2, 2, 2}, []int{4, 4, 2, 0, 0}, 8},
	{"largest that fits a cell", []int{16384, 16384, 0, 0}, []int{32768, 0, 0, 0}, 32768},
}

func TestSlide(t *testing.T) {
	for _, tt := range slideTests {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.line)
			out, score := game.Slide(tt.line)
			if !slices.Equal(out, tt.out) || score != tt.score {
				t.Errorf("Slide(%v) = %v, %d, want %v, %d", tt.line, out, score, tt.out, tt.score)
			}
			if !slices.Equal(tt.line, before) {
				t.Errorf("Slide changed its argument to %v", tt.line)
			}
		})
	}
}

// Slide is for lines of plain numbers: it goes on where a cell of a Board overflows.
func TestSlideBeyondBoard(t *testing.T) {
	out, score := game.Slide([]int{32768, 32768})
	if !slices.Equal(out, []int{65536, 0}) || score != 65536 {
		t.Errorf("got %v, %d, want [65536 0], 65536", out, score)
	}
}

// TestMoveTable runs the table of TestSlide through Move, in all four directions.
func TestMoveTable(t *testing.T) {
	for _, tt := range slideTests {
		if len(tt.line) < 2 {
			continue // not a board
		}
		t.Run(tt.name, func(t *testing.T) {
			row, col := game.Shape{Rows: 1, Cols: len(tt.line)}, game.Shape{Rows: len(tt.line), Cols: 1}
			line, out := reversed(tt.line), reversed(tt.out)
			checkMove(t, row, tt.line, game.Left, tt.out, tt.score)
			checkMove(t, row, line, game.Right, out, tt.score)
			checkMove(t, col, tt.line, game.Up, tt.out, tt.score)
			checkMove(t, col, line, game.Down, out, tt.score)
		})
	}
}

func checkMove(t *testing.T, shape game.Shape, before []int, d game.Dir, after []int, score int) {
	t.Helper()
	r := newRules(t, shape)
	next, got, err := r.Move(pack(t, shape, before), d)
	if err != nil {
		t.Fatal(err)
	}
	if values := shape.Values(next); !slices.Equal(values, after) || got != score {
		t.Errorf("%s %v: %v, %d, want %v, %d", d, before, values, got, after, score)
	}
}

func reversed(line []int) []int {
	out := slices.Clone(line)
	slices.Reverse(out)
	return out
}
