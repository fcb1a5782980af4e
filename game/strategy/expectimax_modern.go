package strategy

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"tilecheck/game"
)

// parseYardstick is the short name of the evaluation modern.
func parseYardstick(spec, args string, s Setting) (Strategy, error) {
	return parseModern(newOptions(spec, args), s.Rules)
}

func parseModern(o *options, rules *game.Rules) (Strategy, error) {
	depth := o.depth(8, "distinct")
	cutoff := o.probability("cutoff", 0.0001)
	if err := o.done(); err != nil {
		return nil, err
	}
	leaves := newModernLeaves(rules)
	return &expectimax{
		spec:  fmt.Sprintf("expectimax:eval=modern,depth=%s,cutoff=%v", depthText(depth, "distinct"), cutoff),
		rules: rules,
		look: func() func(b game.Board) valuer {
			s := cutSearch{rules: rules, leaves: leaves, cutoff: cutoff, known: newTable()}
			return func(b game.Board) valuer {
				rounds := depth
				if rounds == 0 {
					rounds = max(3, distinctTiles(b)-2)
				}
				return s.valuer(rounds)
			}
		},
	}, nil
}

// probability returns the value of key, a number from 0 to 1.
func (o *options) probability(key string, otherwise float32) float32 {
	value := o.text(key, strconv.FormatFloat(float64(otherwise), 'g', -1, 32))
	p, err := strconv.ParseFloat(value, 32)
	if err != nil || !(p >= 0 && p <= 1) {
		o.fail(fmt.Sprintf("%s is %s", key, value), "a number from 0 to 1")
	}
	return float32(math.Abs(p)) // -0 is 0
}

// distinctTiles returns how many different tiles are on b.
func distinctTiles(b game.Board) int {
	var seen uint16
	for ; b != 0; b >>= 4 {
		seen |= 1 << (b & 15)
	}
	return bits.OnesCount16(seen &^ 1)
}

// newModernLeaves returns leaves in which every line is worth the same wherever it is.
func newModernLeaves(rules *game.Rules) leaves {
	shape, score := rules.Shape(), modernScore()
	row := newLineTable(shape.Cols, score)
	col := row
	if shape.Rows != shape.Cols {
		col = newLineTable(shape.Rows, score)
	}
	return newLineLeaves(rules, newLineSum(shape, func(int) *lineTable { return row }, func(int) *lineTable { return col }), nil)
}

// modernScore returns the function that says what a line is worth: something for empty cells and for tiles that may merge, something off
// for tiles at all, so that few large ones are better than many, and for what rises between neighbours, in the direction in which less does.
//
// Source: https://github.com/nneonneo/2048-ai (MIT), init_tables, with its weights.
func modernScore() func(line []int) int64 {
	const (
		line      = 200_000 * unit // keeps boards above 0, which a lost one is worth
		empty     = 270 * unit
		mergeable = 700 * unit
		rise      = 47 * unit
		tile      = 11 // of powers that are in units
	)
	var risen, tiled [game.MaxExponent + 1]int64
	for exp := range risen {
		risen[exp] = int64(exp * exp * exp * exp)
		// exp to the power of 3.5. A square root is rounded in the same way everywhere; unit is a power of 4.
		tiled[exp] = int64(math.Sqrt(float64(risen[exp] * risen[exp] / int64(max(exp, 1)) * unit * unit)))
	}
	return func(cells []int) int64 {
		sum := int64(line) + mergeable*int64(inRuns(cells))
		var up, down int64
		for k, exp := range cells {
			if exp == 0 {
				sum += empty
			}
			sum -= tile * tiled[exp]
			if k > 0 {
				d := risen[exp] - risen[cells[k-1]]
				up, down = up+max(d, 0), down+max(-d, 0)
			}
		}
		return sum - rise*min(up, down)
	}
}

// inRuns counts the tiles that have an equal one next to them when empty cells are left out.
func inRuns(cells []int) int {
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
