package strategy

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"tilecheck/game"
)

// parseModernAlias parses the strategy "modern", which is short for expectimax:eval=modern.
func parseModernAlias(spec, args string, s Setting) (Strategy, error) {
	return parseModern(newOptions(spec, args), s.Rules)
}

func parseModern(o *options, rules *game.Rules) (Strategy, error) {
	depth := o.depth(8, "distinct")
	cutoff := o.probability("cutoff", 0.0001)
	if err := o.done(); err != nil {
		return nil, err
	}
	evaluation := newModernEvaluation(rules)
	return &lookahead{
		spec:  fmt.Sprintf("expectimax:eval=modern,depth=%s,cutoff=%v", depthText(depth, "distinct"), cutoff),
		rules: rules,
		newValuer: func() func(board game.Board) valuer {
			s := cutSearch{rules: rules, evaluation: evaluation, cutoff: cutoff, table: newSearchTable()}
			return func(board game.Board) valuer {
				rounds := depth
				if rounds == 0 {
					rounds = max(3, distinctTiles(board)-2)
				}
				return s.valuer(rounds)
			}
		},
	}, nil
}

// probability returns the value of the option key, a number from 0 to 1.
func (o *options) probability(key string, otherwise float32) float32 {
	value := o.text(key, strconv.FormatFloat(float64(otherwise), 'g', -1, 32))
	p, err := strconv.ParseFloat(value, 32)
	if err != nil || !(p >= 0 && p <= 1) {
		o.fail(fmt.Sprintf("%s is %s", key, value), "a number from 0 to 1")
	}
	return float32(math.Abs(p)) // -0 is 0
}

// distinctTiles returns the number of different tiles on b.
func distinctTiles(board game.Board) int {
	var seen uint16
	for ; board != 0; board >>= 4 {
		seen |= 1 << (board & 15)
	}
	return bits.OnesCount16(seen &^ 1)
}

// newModernEvaluation returns the evaluation "modern", in which all rows and columns have the same score function.
func newModernEvaluation(rules *game.Rules) evaluation {
	shape, score := rules.Shape(), modernScore()
	row := newLineTable(shape.Cols, score)
	col := row
	if shape.Rows != shape.Cols {
		col = newLineTable(shape.Rows, score)
	}
	return newLineEvaluation(rules, newLineSum(shape, func(int) *lineTable { return row }, func(int) *lineTable { return col }), nil)
}

// modernScore returns the function for the value of a line. The value has a bonus for each empty cell and each tile that may merge. It has a
// penalty for each tile, so that few large tiles are better than many small ones, and for the rises between neighbours, in the direction
// in which they rise less.
//
// Source: https://github.com/nneonneo/2048-ai (MIT), init_tables, with its weights.
func modernScore() func(line []int) int64 {
	const (
		line      = 200_000 * unit // keeps values of boards above 0, the value of a lost board
		empty     = 270 * unit
		mergeable = 700 * unit
		rise      = 47 * unit
		tile      = 11 // factor of tilePenalties, which are in units
	)
	var fourthPowers, tilePenalties [game.MaxExponent + 1]int64
	for exp := range fourthPowers {
		fourthPowers[exp] = int64(exp * exp * exp * exp)
		// The penalty is exp to the power of 3.5. Square roots are rounded in the same way on every machine; unit is a power of 4.
		tilePenalties[exp] = int64(math.Sqrt(float64(fourthPowers[exp] * fourthPowers[exp] / int64(max(exp, 1)) * unit * unit)))
	}
	return func(cells []int) int64 {
		sum := int64(line) + mergeable*int64(tilesInRuns(cells))
		var up, down int64
		for k, exp := range cells {
			if exp == 0 {
				sum += empty
			}
			sum -= tile * tilePenalties[exp]
			if k > 0 {
				d := fourthPowers[exp] - fourthPowers[cells[k-1]]
				up, down = up+max(d, 0), down+max(-d, 0)
			}
		}
		return sum - rise*min(up, down)
	}
}

// tilesInRuns counts the tiles with an equal neighbour, where empty cells between them are ignored.
func tilesInRuns(cells []int) int {
	n, last, run := 0, 0, 0
	for _, exp := range cells {
		switch {
		case exp == 0:
		case exp != last:
			last, run = exp, 1
		case run == 1:
			run, n = 2, n+2
		default:
			n++
		}
	}
	return n
}
