package strategy

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"tilecheck/game"
)

// parseModernAlias parses the strategy "modern", which is short for expectimax:eval=modern.
func parseModernAlias(spec, args string, setting Setting) (Strategy, error) {
	return parseModern(newOptions(spec, args), setting.Rules)
}

// parseModern parses the options of the player of nneonneo/2048-ai. The depth counts rounds of a move and a new tile.
func parseModern(opts *options, rules *game.Rules) (Strategy, error) {
	depth := opts.depth(8, "distinct")
	cutoff := opts.probability("cutoff", 0.0001)
	if err := opts.done(); err != nil {
		return nil, err
	}
	evaluation := newModernEvaluation(rules)
	return &lookahead{
		spec:  fmt.Sprintf("expectimax:eval=modern,depth=%s,cutoff=%v", depthText(depth, "distinct"), cutoff),
		rules: rules,
		newValuer: func() func(board game.Board) valuer {
			searcher := cutSearch{rules: rules, evaluation: evaluation, cutoff: cutoff, table: newSearchTable()}
			return func(board game.Board) valuer {
				rounds := depth
				if rounds == 0 {
					rounds = max(3, distinctTiles(board)-2)
				}
				return searcher.valuer(rounds)
			}
		},
	}, nil
}

// probability returns the value of an option that is a number from 0 to 1.
func (o *options) probability(key string, defaultValue float32) float32 {
	value := o.text(key, strconv.FormatFloat(float64(defaultValue), 'g', -1, 32))
	number, err := strconv.ParseFloat(value, 32)
	if err != nil || !(number >= 0 && number <= 1) {
		o.fail(fmt.Sprintf("%s is %s", key, value), "a number from 0 to 1")
	}
	return float32(math.Abs(number)) // -0 is 0
}

// distinctTiles returns the number of different tiles on b.
func distinctTiles(board game.Board) int {
	var seen uint16
	for ; board != 0; board >>= 4 {
		seen |= 1 << (board & 15)
	}
	return bits.OnesCount16(seen &^ 1)
}

// newModernEvaluation returns the evaluation "modern": the sum, over all rows and columns, of the function that modernScore returns.
func newModernEvaluation(rules *game.Rules) evaluation {
	shape, score := rules.Shape(), modernScore()
	row := newLineTable(shape.Cols, score)
	col := row
	if shape.Rows != shape.Cols {
		col = newLineTable(shape.Rows, score)
	}
	return newLineEvaluation(rules, newLineSum(shape, func(int) *lineTable { return row }, func(int) *lineTable { return col }), nil)
}

// modernScore returns the function that computes the value of a line. Empty cells, and tiles that may merge, increase the value. Each tile decreases
// it, so that few large tiles are better than many small ones. The differences of neighbours decrease it, too: the sum of the rises from left to
// right or from right to left, whichever is less.
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
	for exponent := range fourthPowers {
		fourthPowers[exponent] = int64(exponent * exponent * exponent * exponent)
		// The penalty is exp to the power of 3.5. Square roots are rounded in the same way on every machine; unit is a power of 4.
		tilePenalties[exponent] = int64(math.Sqrt(float64(fourthPowers[exponent] * fourthPowers[exponent] / int64(max(exponent, 1)) * unit * unit)))
	}
	return func(cells []int) int64 {
		sum := int64(line) + mergeable*int64(tilesInRuns(cells))
		var rises, falls int64
		for index, exponent := range cells {
			if exponent == 0 {
				sum += empty
			}
			sum -= tile * tilePenalties[exponent]
			if index > 0 {
				difference := fourthPowers[exponent] - fourthPowers[cells[index-1]]
				rises, falls = rises+max(difference, 0), falls+max(-difference, 0)
			}
		}
		return sum - rise*min(rises, falls)
	}
}

// tilesInRuns returns the number of tiles with an equal neighbour. It ignores empty cells between tiles.
func tilesInRuns(cells []int) int {
	count, last, run := 0, 0, 0
	for _, exponent := range cells {
		switch {
		case exponent == 0:
		case exponent != last:
			last, run = exponent, 1
		case run == 1:
			run, count = 2, count+2
		default:
			count++
		}
	}
	return count
}
