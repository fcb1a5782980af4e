package game

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomWide returns a board with tiles of all sizes, about a third of its cells empty.
func randomWide(shape Shape, rng *rand.Rand) Wide {
	var w Wide
	low := rng.IntN(MaxWideExponent)
	for i := range shape.Cells() {
		if rng.IntN(3) > 0 {
			w = w.With(i, low+1+rng.IntN(MaxWideExponent-low))
		}
	}
	return w
}

// TestMoveWide compares moves and legal moves with Slide on the values of the cells.
func TestMoveWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []Shape{{4, 4}, {3, 3}, {2, 5}, {1, 16}, {16, 1}} {
		rules, err := New(shape)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			w := randomWide(shape, rng)
			legal := rules.LegalWide(w)
			for d := Left; d <= Down; d++ {
				want, score, overflow := slideValues(shape, shape.WideValues(w), d)
				next, gain, err := rules.MoveWide(w, d)
				if overflow {
					if !errors.Is(err, ErrOverflow) || next != w {
						t.Fatalf("%v %v: %v, %v, want ErrOverflow", w, d, next, err)
					}
					continue
				}
				if err != nil || gain != score || !slices.Equal(shape.WideValues(next), want) {
					t.Fatalf("%v %v: %v, score %d, %v, want %v, score %d", w, d, next, gain, err, want, score)
				}
				if legal.Has(d) != (next != w) {
					t.Fatalf("%v: legal moves %v, but %v gives %v", w, legal, d, next)
				}
			}
		}
	}
}

// slideValues moves a board of values by its definition.
func slideValues(shape Shape, values []int, d Dir) (out []int, score int, overflow bool) {
	out = make([]int, len(values))
	lines, step, next := shape.Rows, 1, shape.Cols
	if d >= Up {
		lines, step, next = shape.Cols, shape.Cols, 1
	}
	cells := shape.Cells() / lines
	for i := range lines {
		at := make([]int, cells)
		line := make([]int, cells)
		for k := range at {
			at[k] = i*next + k*step
			if d == Right || d == Down {
				at[k] = i*next + (cells-1-k)*step
			}
			line[k] = values[at[k]]
		}
		slid, gain := Slide(line)
		score += gain
		for k, v := range slid {
			out[at[k]] = v
			overflow = overflow || v > Value(MaxWideExponent)
		}
	}
	return out, score, overflow
}

// TestWideOfBoard checks that a Wide board without large tiles is its Board.
func TestWideOfBoard(t *testing.T) {
	rules, err := New(Shape{4, 4})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	a, b := rand.New(rand.NewPCG(5, 6)), rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		board := Board(rng.Uint64() & rng.Uint64() & rng.Uint64())
		w := Wide{Low: board}
		if w.String() != board.String() || w.Max() != board.Max() || w.AtLeast(7) != board.AtLeast(7) || rules.LegalWide(w) != rules.Legal(board) {
			t.Fatalf("%v differs from %v", w, board)
		}
		if rules.NumEmptyCells(board) > 0 {
			if next, want := rules.AddRandomWide(w, a), rules.AddRandom(board, b); next != (Wide{Low: want}) {
				t.Fatalf("%v: %v, want %v", w, next, want)
			}
		}
	}
}

// TestWideTiles checks what is special about tiles above 32768.
func TestWideTiles(t *testing.T) {
	shape := Shape{2, 2}
	rules, err := New(shape)
	if err != nil {
		t.Fatal(err)
	}
	w, err := shape.Wide([]int{32768, 32768, 65536, 0})
	if err != nil {
		t.Fatal(err)
	}
	next, score, err := rules.MoveWide(w, Right)
	if err != nil || score != 65536 || shape.FormatWide(next) != ". 65536\n. 65536\n" {
		t.Errorf("%s scores %d, %v", shape.FormatWide(next), score, err)
	}
	if next.Max() != 16 || !next.AtLeast(16) || next.AtLeast(17) || next.String() != ".g.g............" {
		t.Errorf("%v: largest exponent %d", next, next.Max())
	}
	// A new tile never comes to a cell with 65536, whose lower four bits are those of an empty cell.
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		spawned := rules.AddRandomWide(next, rng)
		if spawned.High != next.High || spawned.Cell(1) != 16 || spawned.Cell(3) != 16 {
			t.Fatalf("%v is %v with a new tile", next, spawned)
		}
	}
	if next, _, err = rules.MoveWide(next, Up); err != nil || next.Cell(1) != 17 {
		t.Errorf("two 65536 merge to %v, %v", next, err)
	}
	if want := "┌───────┬───────┐\n│       │131072 │\n├───────┼───────┤\n│       │       │\n└───────┴───────┘\n"; shape.DrawWide(next) != want {
		t.Errorf("%s, want\n%s", shape.DrawWide(next), want)
	}
	if _, err := shape.Wide([]int{262144, 0, 0, 0}); err == nil || err.Error() != "cell 0 is 262144, want 0 or a power of two from 2 to 131072" {
		t.Errorf("262144: %v", err)
	}
}

// TestDowngraded checks that tiles keep their order and their equality, and that no board is changed that fits.
func TestDowngraded(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	shape := Shape{4, 4}
	for range 5000 {
		w := randomWide(shape, rng)
		most := 10 + rng.IntN(6)
		b, ok := w.Downgraded(most)
		distinct := map[int]bool{}
		for i := range MaxCells {
			distinct[w.Cell(i)] = true
		}
		delete(distinct, 0)
		if ok != (len(distinct) <= most) {
			t.Fatalf("%v to %d: %v", w, most, ok)
		}
		if !ok {
			continue
		}
		if w.Max() <= most && (Wide{Low: b}) != w {
			t.Fatalf("%v becomes %v, want it unchanged", w, b)
		}
		for i := range MaxCells {
			if (b.Cell(i) == 0) != (w.Cell(i) == 0) || b.Cell(i) > most {
				t.Fatalf("%v becomes %v", w, b)
			}
			for j := range i {
				if (w.Cell(i) < w.Cell(j)) != (b.Cell(i) < b.Cell(j)) || (w.Cell(i) == w.Cell(j)) != (b.Cell(i) == b.Cell(j)) {
					t.Fatalf("%v becomes %v: cells %d and %d", w, b, i, j)
				}
			}
		}
	}
}
