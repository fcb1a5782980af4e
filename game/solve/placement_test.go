package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"tilecheck/game"
)

// TestPlaceHoldsEveryPlayerToTheValue computes the best response to the opponent that Place is. It wins with the value that is guaranteed: nobody wins
// more often against this opponent, and it could not do better.
func TestPlaceHoldsEveryPlayerToTheValue(t *testing.T) {
	for _, against := range []Against{WorstCell, WorstTile, Worst} {
		for _, c := range []struct{ rows, cols, max int }{{2, 2, 8}, {2, 2, 16}, {2, 3, 16}, {2, 3, 32}} {
			table, stats, err := Solve(t.Context(), Options{Shape: game.Shape{Rows: c.rows, Cols: c.cols}, Max: c.max, Against: against})
			if err != nil {
				t.Fatal(err)
			}
			r := response{t, table, map[game.Board]float64{}}
			if got := r.afterTile(0); math.Abs(got-stats.Initial) > 1e-12 {
				t.Errorf("%v: the best response wins with %v, want %v", table.Problem(), got, stats.Initial)
			}
		}
	}
}

// response computes the best response to the opponent of a table.
type response struct {
	t     *testing.T
	table *Table
	known map[game.Board]float64 // of boards after a move
}

// afterTile returns the winning probability on b, before its new tile.
func (r *response) afterTile(b game.Board) float64 {
	if v, ok := r.known[b]; ok {
		return v
	}
	_, at, err := r.table.opponentPlacement(b)
	if err != nil {
		r.t.Fatal(err)
	}
	sum, total := 0.0, 0.0
	for n := range r.table.rules.NumEmptyCells(b) {
		for exp, odds := range []float64{1: 9, 2: 1} {
			if exp == 0 || at.N >= 0 && at.N != n || at.Exp != 0 && at.Exp != exp {
				continue
			}
			sum += odds * r.best(b, r.table.rules.Spawn(b, n, exp))
			total += odds
		}
	}
	r.known[b] = sum / total
	return r.known[b]
}

// best returns the winning probability on a board with its new tile, which came to the board before.
func (r *response) best(before, b game.Board) float64 {
	switch {
	case r.table.won(b):
		return 1
	case before == 0: // the second tile of the start
		return r.afterTile(b)
	}
	best := 0.0
	legal := r.table.rules.Legal(b)
	for i := range legal.Len() {
		next, _, err := r.table.rules.Move(b, legal.At(i))
		if err != nil {
			r.t.Fatal(err)
		}
		if r.table.won(next) {
			return 1
		}
		best = max(best, r.afterTile(next))
	}
	return best
}

// TestPlaceDraws checks what Place leaves to chance, with other odds than the usual ones.
func TestPlaceDraws(t *testing.T) {
	for _, c := range []struct {
		against      Against
		cells, tiles int // different ones that are placed on the empty board
	}{{Worst, 1, 1}, {WorstCell, 1, 2}, {WorstTile, 4, 1}, {Chance, 4, 2}} {
		table, _, err := Solve(t.Context(), Options{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Against: c.against})
		if err != nil {
			t.Fatal(err)
		}
		cells, tiles := map[int]bool{}, map[int]bool{}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			b, err := table.Place(0, rng)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if exp := b.Cell(i); exp > 0 {
					cells[i], tiles[exp] = true, true
				}
			}
		}
		if len(cells) != c.cells || len(tiles) != c.tiles {
			t.Errorf("%v: cells %v and tiles %v, want %d and %d", c.against, cells, tiles, c.cells, c.tiles)
		}
	}
}
