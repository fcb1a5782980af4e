package strategy

import (
	"fmt"

	"tilecheck/game"
)

// dtuEvaluation is the evaluation of the report by group 50 of DTU 02180. The value of a board is the sum of each tile's value times the weight
// of its cell, plus a bonus for each empty cell, minus a penalty for each pair of neighbours that are out of order.
//
// Source: Tao, Bredmose, Bach and Bentivoglio, Board Game Assignment, DTU 2021, section 2.4.
type dtuEvaluation struct {
	shape        game.Shape
	snake        bool
	emptyBonus   int64 // for each empty cell
	orderPenalty int64 // for each pair of neighbours out of order
}

// The defaults reproduce the tables of the report best.
const (
	defaultEmpty = 32
	defaultMono  = 1
	maxWeight    = 1_000_000
)

// parseDTU parses the options of the player of DTU's group 50. The depth counts moves and new tiles: an even depth ends with a move, an odd one with
// a new tile.
func parseDTU(eval string, opts *options, rules *game.Rules) (Strategy, error) {
	depth := opts.depth(8, "adaptive")
	empty, order := opts.number("empty", defaultEmpty, 0, maxWeight), opts.number("mono", defaultMono, 0, maxWeight)
	if err := opts.done(); err != nil {
		return nil, err
	}
	weights := dtuEvaluation{shape: rules.Shape(), snake: eval == "snake", emptyBonus: int64(empty), orderPenalty: int64(order)}
	moved := weights.evaluation(rules)
	tiled := newTileEvaluation(rules, moved)
	return &lookahead{
		spec:  fmt.Sprintf("expectimax:eval=%s,depth=%s,empty=%d,mono=%d", eval, depthText(depth, "adaptive"), empty, order),
		rules: rules,
		newValuer: func() func(board game.Board) valuer {
			even := search{rules: rules, evaluation: moved, rare: true, table: newSearchTable()}
			odd := search{rules: rules, evaluation: tiled, rare: true, table: newSearchTable()}
			return func(board game.Board) valuer {
				plies := depth
				if plies == 0 {
					plies = adaptiveDepth(rules.NumEmptyCells(board))
				}
				if plies%2 == 0 {
					return even.valuer(plies / 2)
				}
				return odd.valuer(plies / 2)
			}
		},
	}, nil
}

// adaptiveDepth returns the depth for a number of empty cells: with fewer empty cells the search is deeper.
func adaptiveDepth(empty int) int {
	switch {
	case empty >= 7:
		return 3
	case empty >= 3:
		return 4
	}
	return 5
}

// evaluation returns the evaluation of boards after a move.
func (d dtuEvaluation) evaluation(rules *game.Rules) evaluation {
	sum := d.sum()
	return newLineEvaluation(rules, sum, sum.value)
}

// sum returns the evaluation as a sum over lines: the value of each row, and the penalty for the order of each column.
func (d dtuEvaluation) sum() *lineSum {
	columnTable := newLineTable(d.shape.Rows, func(line []int) int64 { return -unit * d.orderPenalty * outOfOrder(line, false) })
	return newLineSum(d.shape,
		func(i int) *lineTable {
			return newLineTable(d.shape.Cols, func(line []int) int64 { return unit * d.rowValue(i, line) })
		},
		func(int) *lineTable { return columnTable })
}

// rowValue returns the value of a row with the tiles in line: the weighted sum of the tiles, plus the bonus for empty cells, minus the penalty for
// wrong order.
func (d dtuEvaluation) rowValue(row int, line []int) int64 {
	value := int64(0)
	for col, exponent := range line {
		if exponent == 0 {
			value += d.emptyBonus
		}
		value += int64(game.Value(exponent)) << d.importance(row, col)
	}
	return value - d.orderPenalty*outOfOrder(line, d.rightToLeft(row))
}

// rightToLeft reports whether the snake goes through row i from right to left.
func (d dtuEvaluation) rightToLeft(i int) bool { return d.snake && i%2 == 1 }

// importance returns the binary logarithm of the weight of a cell. It falls to 0 along the snake, or with the distance from the top left corner.
func (d dtuEvaluation) importance(row, col int) int {
	rows, cols := d.shape.Rows, d.shape.Cols
	switch {
	case !d.snake:
		return rows - 1 - row + cols - 1 - col
	case d.rightToLeft(row):
		return (rows-row)*cols - 1 - (cols - 1 - col)
	}
	return (rows-row)*cols - 1 - col
}

// outOfOrder returns the number of neighbouring cells in which the tiles grow in the direction of reading, which is from the left unless rightToLeft
// is set. An empty cell is smaller than every tile.
func outOfOrder(line []int, rightToLeft bool) int64 {
	count := int64(0)
	for index := 1; index < len(line); index++ {
		if rightToLeft && line[index] < line[index-1] || !rightToLeft && line[index] > line[index-1] {
			count++
		}
	}
	return count
}
