package play

import (
	"testing"

	"tilecheck/game"
)

// Every game on a small board is gone through: sums, tiles, scores and moves keep to the bounds, and where it is known that they are met,
// they are.
func TestBoundsOnSmallBoards(t *testing.T) {
	for _, test := range []struct {
		m                Match
		sum, tile, moves int64 // the largest that there are; 0 where only the bound is tested
	}{
		{m: square(2, 0, true, 0), sum: 60, tile: 5},
		{m: Match{Shape: game.Shape{Rows: 1, Cols: 3}, PlayOn: true}, sum: 28},
		{m: Match{Shape: game.Shape{Rows: 1, Cols: 2}, PlayOn: true}, sum: 12, tile: 3},
		{m: square(2, 4, false, 0), tile: 4},
		{m: square(2, 3, false, 0), tile: 3},
		{m: square(2, 2, false, 0), tile: 2},
		{m: Match{Shape: game.Shape{Rows: 2, Cols: 3}, Goal: 4}, tile: 4},
	} {
		w := walker{m: test.m, seen: make(map[game.Board][2]int64)}
		var err error
		if w.rules, err = game.New(test.m.Shape); err != nil {
			t.Fatal(err)
		}
		for i := range w.rules.NumEmptyCells(0) {
			for _, e := range []int{1, 2} {
				first := w.rules.Spawn(0, i, e)
				for k := range w.rules.NumEmptyCells(first) {
					w.walk(t, w.rules.Spawn(first, k, 1), 0, 0)
					w.walk(t, w.rules.Spawn(first, k, 2), 0, 0)
				}
			}
		}
		if w.sum > test.m.maxSum() || w.tile > int64(test.m.maxExponent()) || float64(w.score) > test.m.scoreBounds().Hi || float64(w.moves) > test.m.moveBounds().Hi {
			t.Errorf("%v: sum %d, tile 2^%d, score %d, %d moves; bounds %d, 2^%d, %v, %v", test.m, w.sum, w.tile, w.score, w.moves,
				test.m.maxSum(), test.m.maxExponent(), test.m.scoreBounds(), test.m.moveBounds())
		}
		if test.sum > 0 && test.m.maxSum() < test.sum || test.tile > 0 && int64(test.m.maxExponent()) != test.tile {
			t.Errorf("%v: bounds %d and 2^%d, want %d and 2^%d", test.m, test.m.maxSum(), test.m.maxExponent(), test.sum, test.tile)
		}
		t.Logf("%v: sum %d of %d, score %d of %v, moves %d of %v", test.m, w.sum, test.m.maxSum(), w.score, test.m.scoreBounds().Hi, w.moves, test.m.moveBounds().Hi)
	}
}

// walker goes through all games, keeping the largest score and number of moves with which each board is reached.
type walker struct {
	m                       Match
	rules                   *game.Rules
	seen                    map[game.Board][2]int64
	sum, tile, score, moves int64
}

func (w *walker) walk(t *testing.T, b game.Board, score, moves int64) {
	best, known := w.seen[b]
	if known && score <= best[0] && moves <= best[1] {
		return
	}
	w.seen[b] = [2]int64{max(score, best[0]), max(moves, best[1])}
	w.note(b, score, moves)
	if w.m.won(game.Wide{Low: b}) && !w.m.PlayOn {
		return
	}
	legal := w.rules.Legal(b)
	for i := range legal.Len() {
		next, gained, err := w.rules.Move(b, legal.At(i))
		if err != nil {
			t.Fatal(err)
		}
		if w.m.won(game.Wide{Low: next}) && !w.m.PlayOn {
			w.note(next, score+int64(gained), moves+1)
			continue
		}
		for n := range w.rules.NumEmptyCells(next) {
			w.walk(t, w.rules.Spawn(next, n, 1), score+int64(gained), moves+1)
			w.walk(t, w.rules.Spawn(next, n, 2), score+int64(gained), moves+1)
		}
	}
}

func (w *walker) note(b game.Board, score, moves int64) {
	sum := int64(0)
	for _, v := range w.m.Shape.Values(b) {
		sum += int64(v)
	}
	w.sum, w.tile, w.score, w.moves = max(w.sum, sum), max(w.tile, int64(b.Max())), max(w.score, score), max(w.moves, moves)
}

// 4x4: the largest tile there can be is 131072, and the tiles sum to 262140 at most
// (https://github.com/gabrielecirulli/2048; the perfect board 131072 + 65536 + ... + 4).
func TestBoundsOn4x4(t *testing.T) {
	m := square(4, 0, true, 0)
	if m.maxSum() != 262140 || m.maxExponent() != 17 {
		t.Errorf("sum %d and 2^%d, want 262140 and 2^17", m.maxSum(), m.maxExponent())
	}
}
