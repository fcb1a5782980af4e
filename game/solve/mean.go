package solve

import (
	"errors"
	"math"
	"math/bits"

	"tilecheck/game"
)

// errMissing says that a successor is not where it must be: files do not belong together, or there is a bug.
var errMissing = errors.New("a board that can be reached has no value")

// wonValue is the value of a board with MAX.
func (e *expander) wonValue() float64 {
	if e.problem.Objective == Win {
		return 1
	}
	return 0
}

// nextValues has the values of the boards with one more tile, by exponent less one and group of the cell.
type nextValues [2][2]lookup

// mean returns the expected value of an afterstate, given those of the boards with one more 2 and with one more 4.
//
// Terms are added up by cell, those with a 2 and those with a 4 apart: the order of additions depends on the afterstate alone. The weights
// are integers, so a mean of ones is 1, and a mean of numbers up to 1 never more.
func (e *expander) mean(after uint64, values *nextValues) (float64, error) {
	var images [8]uint64
	e.orbit.all(after, &images)
	empty := e.empties(after)
	total := 0.0
	for exp := 1; exp <= 2; exp++ {
		odds := e.odds(exp)
		if odds == 0 {
			continue
		}
		if e.spawnWins(exp) {
			total += float64(odds) * float64(bits.OnesCount64(empty)) * e.wonValue()
			continue
		}
		sum := 0.0
		for left := empty; left != 0; left &= left - 1 {
			cell := bits.TrailingZeros64(left) / 4
			value, ok := values[exp-1][e.group(cell)].get(e.orbit.leastWith(&images, cell, uint64(exp)))
			if !ok {
				return 0, errMissing
			}
			sum += value
		}
		// The conversion keeps the product from being fused with the sum on some machines.
		total += float64(float64(odds) * sum)
	}
	return total / (float64(e.problem.Of) * float64(bits.OnesCount64(empty))), nil
}

// best returns the value of a position, given those of its afterstates, and the moves that attain it: all that have exactly that value.
// A position without legal moves has value 0 and no move.
func (e *expander) best(position uint64, afters []lookup) (float64, game.Moves, error) {
	var next [4]game.Board
	legal, _ := e.rules.Moved(game.Board(position), &next)
	rewards := e.rewards(game.Board(position))
	best, moves := math.Inf(-1), game.Moves(0)
	for d, after := range next {
		if !legal.Has(game.Dir(d)) {
			continue
		}
		value := e.wonValue()
		if !e.won(after) {
			var ok bool
			if value, ok = afters[e.of(uint64(after))].get(e.orbit.least(uint64(after))); !ok {
				return 0, 0, errMissing
			}
		}
		value = rewards[d/2] + float64(e.problem.Discount*value)
		switch {
		case value > best:
			best, moves = value, 1<<d
		case value == best:
			moves |= 1 << d
		}
	}
	if moves == 0 {
		return 0, 0, nil
	}
	return best, moves, nil
}

// rewards returns what a move earns at once, left or right and up or down.
func (e *expander) rewards(position game.Board) [2]float64 {
	switch e.problem.Objective {
	case Score:
		horizontal, vertical := e.rules.Scores(position)
		return [2]float64{float64(horizontal), float64(vertical)}
	case Moves:
		return [2]float64{1, 1}
	}
	return [2]float64{}
}
