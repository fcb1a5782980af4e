package solve_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/needs"
)

// oracle values positions by recursion over boards as plain numbers, in fractions, without symmetry, layers or afterstates. A position's
// key is its text.
type oracle struct {
	rows, cols, max int
	objective       solve.Objective
	against         solve.Against
	discount, p2    *big.Rat
	known           map[string]*answer
}

// answer is the value of a position and that of each legal move.
type answer struct {
	board []int
	value *big.Rat
	moves map[game.Dir]*big.Rat
}

func newOracle(opts solve.Options) *oracle {
	o := &oracle{
		rows: opts.Shape.Rows, cols: opts.Shape.Cols, max: opts.Max, objective: opts.Objective, against: opts.Against,
		discount: big.NewRat(1, 1), p2: opts.P2, known: make(map[string]*answer),
	}
	if opts.Discount != 0 {
		o.discount.SetFloat64(opts.Discount)
	}
	if o.p2 == nil {
		o.p2 = big.NewRat(9, 10)
	}
	return o
}

// move slides all lines of a board by the plain rule for one line.
func (o *oracle) move(board []int, d game.Dir) (next []int, score int) {
	next = make([]int, len(board))
	lines, length := o.rows, o.cols
	if d == game.Up || d == game.Down {
		lines, length = o.cols, o.rows
	}
	for line := range lines {
		var at []int
		for i := range length {
			cell := line*o.cols + i
			if d == game.Up || d == game.Down {
				cell = i*o.cols + line
			}
			at = append(at, cell)
		}
		if d == game.Right || d == game.Down {
			slices.Reverse(at)
		}
		var values []int
		for _, cell := range at {
			values = append(values, board[cell])
		}
		slid, gain := game.Slide(values)
		score += gain
		for i, cell := range at {
			next[cell] = slid[i]
		}
	}
	return next, score
}

func (o *oracle) won(board []int) bool { return slices.Max(board) >= o.max }

func (o *oracle) wonValue() *big.Rat {
	if o.objective == solve.Win {
		return big.NewRat(1, 1)
	}
	return new(big.Rat)
}

// random returns the value after a new tile, given that of the boards with it: the expectation, or the least value that the opponent can choose.
func (o *oracle) random(board []int, value func(board []int) *big.Rat) *big.Rat {
	four := new(big.Rat).Sub(big.NewRat(1, 1), o.p2)
	var cells [][]*big.Rat // the values by cell, then by tile
	var odds []*big.Rat    // the probabilities of the tiles
	for i, v := range board {
		if v != 0 {
			continue
		}
		odds = nil
		var values []*big.Rat
		for k, p := range []*big.Rat{o.p2, four} {
			if p.Sign() == 0 {
				continue
			}
			next := slices.Clone(board)
			next[i] = 2 * (k + 1)
			v := o.wonValue()
			if !o.won(next) {
				v = value(next)
			}
			values, odds = append(values, v), append(odds, p)
		}
		cells = append(cells, values)
	}
	return o.combine(cells, odds)
}

// combine returns the value of a choice, or a draw, of a cell and a tile.
func (o *oracle) combine(cells [][]*big.Rat, odds []*big.Rat) *big.Rat {
	least := func(values []*big.Rat) *big.Rat { return slices.MinFunc(values, (*big.Rat).Cmp) }
	mean := func(values, weights []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i, v := range values {
			sum.Add(sum, new(big.Rat).Mul(weights[i], v))
		}
		return sum
	}
	equal := slices.Repeat([]*big.Rat{big.NewRat(1, int64(len(cells)))}, len(cells))
	var byCell, byTile []*big.Rat
	for _, values := range cells {
		switch o.against {
		case solve.Worst:
			byCell = append(byCell, least(values))
		default:
			byCell = append(byCell, mean(values, odds))
		}
	}
	for k := range odds {
		var values []*big.Rat
		for _, tiles := range cells {
			values = append(values, tiles[k])
		}
		byTile = append(byTile, mean(values, equal))
	}
	switch o.against {
	case solve.Worst, solve.WorstCell:
		return least(byCell)
	case solve.WorstTile:
		return least(byTile)
	}
	return mean(byCell, equal)
}

// initial returns the value of a game before its two random tiles.
func (o *oracle) initial() *big.Rat {
	return o.random(make([]int, o.rows*o.cols), func(board []int) *big.Rat { return o.random(board, o.value) })
}

// value returns the value of a position.
func (o *oracle) value(board []int) *big.Rat {
	key := fmt.Sprint(board)
	if a := o.known[key]; a != nil {
		return a.value
	}
	a := &answer{board: board, value: new(big.Rat), moves: make(map[game.Dir]*big.Rat)}
	for d := game.Left; d <= game.Down; d++ {
		next, score := o.move(board, d)
		if slices.Equal(next, board) {
			continue
		}
		v := o.wonValue()
		if !o.won(next) {
			v = o.random(next, o.value)
		}
		v = new(big.Rat).Mul(v, o.discount)
		switch o.objective {
		case solve.Score:
			v.Add(v, new(big.Rat).SetInt64(int64(score)))
		case solve.Moves:
			v.Add(v, big.NewRat(1, 1))
		}
		a.moves[d] = v
		if v.Cmp(a.value) > 0 {
			a.value = v
		}
	}
	o.known[key] = a
	return a.value
}

// classes returns the number of different boards when symmetric ones are the same.
func (o *oracle) classes() int {
	seen := make(map[string]bool)
	n := 0
	for key, a := range o.known {
		if seen[key] {
			continue
		}
		n++
		for _, image := range o.images(a.board) {
			seen[fmt.Sprint(image)] = true
		}
	}
	return n
}

// images returns the images of a board under the symmetries of its shape, by coordinates.
func (o *oracle) images(board []int) [][]int {
	var all [][]int
	for g := range 8 {
		if g&4 != 0 && o.rows != o.cols {
			break
		}
		image := make([]int, len(board))
		for i, v := range board {
			row, col := i/o.cols, i%o.cols
			if g&4 != 0 {
				row, col = col, row
			}
			if g&1 != 0 {
				row = o.rows - 1 - row
			}
			if g&2 != 0 {
				col = o.cols - 1 - col
			}
			image[row*o.cols+col] = v
		}
		all = append(all, image)
	}
	return all
}

// near reports whether a float is within a relative error of a fraction.
func near(got float64, want *big.Rat, relative float64) bool {
	diff := new(big.Rat).SetFloat64(got)
	if diff == nil {
		return false
	}
	diff.Sub(diff, want).Abs(diff)
	limit := new(big.Rat).SetFloat64(relative)
	return diff.Cmp(limit.Mul(limit, new(big.Rat).Abs(want))) <= 0
}

// problems are small enough for the oracle.
func problems() []solve.Options {
	var all []solve.Options
	add := func(rows, cols int, maxes ...int) {
		for _, m := range maxes {
			for objective := solve.Win; objective <= solve.Moves; objective++ {
				all = append(all, solve.Options{Shape: game.Shape{Rows: rows, Cols: cols}, Max: m, Objective: objective})
			}
		}
	}
	add(2, 2, 4, 8, 16, 32, 64, 32768)
	add(1, 2, 4, 8, 16)
	add(2, 1, 8)
	add(1, 3, 4, 8, 16, 32)
	add(4, 1, 4, 16, 32, 64)
	add(1, 6, 4, 16)
	add(2, 3, 4, 8, 16)
	add(3, 2, 16)
	for _, p2 := range []*big.Rat{big.NewRat(1, 1), new(big.Rat), big.NewRat(1, 3), big.NewRat(999_999, 1<<20)} {
		for _, m := range []int{4, 8, 16} {
			for objective := solve.Win; objective <= solve.Moves; objective++ {
				all = append(all, solve.Options{Shape: game.Shape{Rows: 2, Cols: 2}, Max: m, Objective: objective, P2: p2})
			}
		}
	}
	for against := solve.WorstCell; against <= solve.Worst; against++ {
		for objective := solve.Win; objective <= solve.Moves; objective++ {
			for _, m := range []int{4, 8, 16, 32} {
				all = append(all, solve.Options{Shape: game.Shape{Rows: 2, Cols: 2}, Max: m, Objective: objective, Against: against})
			}
			all = append(all,
				solve.Options{Shape: game.Shape{Rows: 1, Cols: 4}, Max: 16, Objective: objective, Against: against, P2: big.NewRat(1, 3)},
				solve.Options{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Objective: objective, Against: against, P2: big.NewRat(1, 1)},
				solve.Options{Shape: game.Shape{Rows: 2, Cols: 3}, Max: 16, Objective: objective, Against: against})
		}
	}
	for _, gamma := range []float64{0.99, 0.5, 1e-3} {
		all = append(all,
			solve.Options{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16, Discount: gamma},
			solve.Options{Shape: game.Shape{Rows: 2, Cols: 3}, Max: 8, Discount: gamma})
	}
	return all
}

func name(opts solve.Options) string {
	p, err := opts.Problem()
	if err != nil {
		return err.Error()
	}
	return p.String()
}

// TestOracle compares the value of the game, of every position and of every move, and the sets of best moves, with fractions.
func TestOracle(t *testing.T) {
	for _, opts := range problems() {
		t.Run(name(opts), func(t *testing.T) {
			if opts.Shape.Rows*opts.Shape.Cols > 4 && opts.Max > 8 {
				needs.Full(t)
			}
			o := newOracle(opts)
			want := o.initial()
			table, stats, err := solve.Solve(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			limit := stats.RelativeError(table.Problem())
			if !near(stats.Initial, want, limit) {
				t.Errorf("value is %v, want %s", stats.Initial, want.FloatString(20))
			}
			if n := o.classes(); stats.Positions != int64(n) {
				t.Errorf("%d positions, want %d", stats.Positions, n)
			}
			for _, a := range o.known {
				checkPosition(t, table, opts.Shape, a, limit)
			}
		})
	}
}

func checkPosition(t *testing.T, table *solve.Table, shape game.Shape, want *answer, limit float64) {
	t.Helper()
	b, err := shape.Board(want.board)
	if err != nil {
		t.Fatal(err)
	}
	value, best, ok := table.Value(b)
	if !ok || !near(value, want.value, limit) {
		t.Errorf("%v: value is %v %v, want %s", want.board, value, ok, want.value.FloatString(20))
	}
	moves, ok := table.Moves(b)
	if !ok || len(moves) != len(want.moves) {
		t.Fatalf("%v: moves are %v %v, want %v", want.board, moves, ok, want.moves)
	}
	for _, m := range moves {
		if !near(m.Value, want.moves[m.Dir], limit) {
			t.Errorf("%v: %s has value %v, want %s", want.board, m.Dir, m.Value, want.moves[m.Dir].FloatString(20))
		}
		// What is stored must be what the values say, to the last bit; the values are right by the line above.
		if best.Has(m.Dir) != (m.Value == value) {
			t.Errorf("%v: best moves are %s, but %s has %v and the position %v", want.board, best, m.Dir, m.Value, value)
		}
		// A move that is best in fractions may be missed by rounding only.
		if best.Has(m.Dir) && !near(m.Value, want.value, limit) {
			t.Errorf("%v: %s is among the best moves and is worth %v, want %s", want.board, m.Dir, m.Value, want.value.FloatString(20))
		}
	}
	if (best == 0) != (len(moves) == 0) {
		t.Errorf("%v: best moves are %q of %d", want.board, best, len(moves))
	}
}
