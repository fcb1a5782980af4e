package solve

import (
	"errors"
	"math"
	"math/bits"

	"tilecheck/game"
)

// errMissing is the error for a successor without a value: files do not belong together, or the program has a bug.
var errMissing = errors.New("a board that can be reached has no value")

// wonValue returns the value of a won board.
func (e *expander) wonValue() float64 {
	if e.problem.Objective == Win {
		return 1
	}
	return 0
}

// nextValues has the values of the boards with one more tile, by the exponent of the tile minus 1 and by the group of its cell.
type nextValues [2][2]lookup

// mean returns the expected value of an afterstate. values has the values of the boards with a new 2 or a new 4.
//
// It adds the terms by cell, those with a 2 and those with a 4 separately, so the order of additions depends on the afterstate only. The weights
// are integers. So the mean of ones is exactly 1, and the mean of numbers up to 1 is never above 1.
func (e *expander) mean(afterstate uint64, values *nextValues) (float64, error) {
	var images [8]uint64
	e.orbit.allImages(afterstate, &images)
	empty := e.empties(afterstate)
	total := 0.0
	for exponent := 1; exponent <= 2; exponent++ {
		odds := e.tileWeight(exponent)
		if odds == 0 {
			continue
		}
		if e.spawnWins(exponent) {
			total += float64(odds) * float64(bits.OnesCount64(empty)) * e.wonValue()
			continue
		}
		sum := 0.0
		for remaining := empty; remaining != 0; remaining &= remaining - 1 {
			cell := bits.TrailingZeros64(remaining) / 4
			value, ok := values[exponent-1][e.group(cell)].get(e.orbit.leastImageWithTile(&images, cell, uint64(exponent)))
			if !ok {
				return 0, errMissing
			}
			sum += value
		}
		// The conversion prevents fusing the product with the sum on some machines.
		total += float64(float64(odds) * sum)
	}
	return total / (float64(e.problem.Total) * float64(bits.OnesCount64(empty))), nil
}

// best returns the value of a position, and all moves with exactly this value. afters has the values of the afterstates. A position without legal
// moves has the value 0 and no moves.
func (e *expander) best(position uint64, afters []lookup) (float64, game.Moves, error) {
	var next [4]game.Board
	legal, _ := e.rules.Moved(game.Board(position), &next)
	rewards := e.rewards(game.Board(position))
	best, moves := math.Inf(-1), game.Moves(0)
	for dir, afterstate := range next {
		if !legal.Has(game.Dir(dir)) {
			continue
		}
		value := e.wonValue()
		if !e.won(afterstate) {
			var ok bool
			if value, ok = afters[e.partOf(uint64(afterstate))].get(e.orbit.leastImage(uint64(afterstate))); !ok {
				return 0, 0, errMissing
			}
		}
		value = rewards[dir/2] + float64(e.problem.Discount*value)
		switch {
		case value > best:
			best, moves = value, 1<<dir
		case value == best:
			moves |= 1 << dir
		}
	}
	if moves == 0 {
		return 0, 0, nil
	}
	return best, moves, nil
}

// rewards returns the immediate rewards of a horizontal and of a vertical move.
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
