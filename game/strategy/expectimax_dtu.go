package strategy

import (
	"fmt"

	"tilecheck/game"
)

// dtu is the evaluation of the report by group 50 of DTU 02180: every tile is worth its value times the importance of its cell, with
// something for empty cells and something off for neighbours that are out of order.
//
// Source: Tao, Bredmose, Bach and Bentivoglio, Board Game Assignment, DTU 2021, section 2.4.
type dtu struct {
	shape game.Shape
	snake bool
	empty int64 // for each empty cell
	mono  int64 // off for each pair of neighbours out of order
}

// Defaults that come closest to the tables of the report.
const (
	defaultEmpty = 32
	defaultMono  = 1
	maxWeight    = 1_000_000
)

func parseDTU(eval string, o *options, rules *game.Rules) (Strategy, error) {
	depth := o.depth(8, "adaptive")
	empty, mono := o.number("empty", defaultEmpty, 0, maxWeight), o.number("mono", defaultMono, 0, maxWeight)
	if err := o.done(); err != nil {
		return nil, err
	}
	d := dtu{shape: rules.Shape(), snake: eval == "snake", empty: int64(empty), mono: int64(mono)}
	sum := d.sum()
	moved := newLineLeaves(rules, sum, sum.value)
	tiled := newTileLeaves(rules, moved)
	return &expectimax{
		spec:  fmt.Sprintf("expectimax:eval=%s,depth=%s,empty=%d,mono=%d", eval, depthText(depth, "adaptive"), empty, mono),
		rules: rules,
		look: func() func(b game.Board) valuer {
			even := search{rules: rules, leaves: moved, rare: true, known: newTable()}
			odd := search{rules: rules, leaves: tiled, rare: true, known: newTable()}
			return func(b game.Board) valuer {
				plies := depth
				if plies == 0 {
					plies = adaptiveDepth(rules.Empties(b))
				}
				if plies%2 == 0 {
					return even.valuer(plies / 2)
				}
				return odd.valuer(plies / 2)
			}
		},
	}, nil
}

// adaptiveDepth returns the depth for a number of empty cells: the fewer, the deeper.
func adaptiveDepth(empty int) int {
	switch {
	case empty >= 7:
		return 3
	case empty >= 3:
		return 4
	}
	return 5
}

func (d dtu) sum() *lineSum {
	down := newLineTable(d.shape.Rows, func(line []int) int64 { return -unit * d.mono * outOfOrder(line, false) })
	return newLineSum(d.shape,
		func(i int) *lineTable {
			return newLineTable(d.shape.Cols, func(line []int) int64 { return unit * d.row(i, line) })
		},
		func(int) *lineTable { return down })
}

// row returns what row i is worth: its tiles, its empty cells, and its order from the most important cell on.
func (d dtu) row(i int, line []int) int64 {
	worth := int64(0)
	for j, exp := range line {
		if exp == 0 {
			worth += d.empty
		}
		worth += int64(game.Value(exp)) << d.importance(i, j)
	}
	return worth - d.mono*outOfOrder(line, d.turned(i))
}

// turned reports whether row i leads from right to left.
func (d dtu) turned(i int) bool { return d.snake && i%2 == 1 }

// importance returns the logarithm of the weight of a cell: it falls along the snake, or with the distance from the top left corner, to 0.
func (d dtu) importance(i, j int) int {
	rows, cols := d.shape.Rows, d.shape.Cols
	switch {
	case !d.snake:
		return rows - 1 - i + cols - 1 - j
	case d.turned(i):
		return (rows-i)*cols - 1 - (cols - 1 - j)
	}
	return (rows-i)*cols - 1 - j
}

// outOfOrder counts the neighbours of which the second is larger, or the first if the line is turned. An empty cell is smaller than every
// tile.
func outOfOrder(line []int, turned bool) int64 {
	n := int64(0)
	for k := 1; k < len(line); k++ {
		if turned && line[k] < line[k-1] || !turned && line[k] > line[k-1] {
			n++
		}
	}
	return n
}
