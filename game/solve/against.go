package solve

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Against says who places the new tiles.
type Against uint8

// The opponents of the player. Tiles of probability 0 are not chosen either.
const (
	Chance    Against = iota // every empty cell is equally likely, and the tile is drawn: the game
	WorstCell                // an opponent chooses the cell, and the tile is drawn
	WorstTile                // an opponent chooses the tile, and every empty cell is equally likely
	Worst                    // an opponent chooses the cell and the tile
)

func againstNames() []string { return []string{"chance", "worst-cell", "worst-tile", "worst"} }

// String returns the word that ParseAgainst reads.
func (a Against) String() string {
	if names := againstNames(); int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("Against(%d)", uint8(a))
}

// ParseAgainst is the inverse of String.
func ParseAgainst(name string) (Against, error) {
	i := slices.Index(againstNames(), name)
	if i < 0 {
		return 0, fmt.Errorf("found %q, want one of %s", name, strings.Join(againstNames(), ", "))
	}
	return Against(i), nil
}

// spawned returns the value of an afterstate, given the values of the boards with one more 2 or 4: their mean, or the least value that the
// opponent can choose.
func (e *expander) spawned(afterstate uint64, values *nextValues) (float64, error) {
	if e.problem.Against == Chance {
		return e.mean(afterstate, values)
	}
	return e.guaranteed(afterstate, values)
}

// guaranteed returns the value of an afterstate against the opponent of the problem: the least value that the opponent can attain by the choice of
// the cell, the tile, or both. If it chooses only one of them, the other is random.
func (e *expander) guaranteed(afterstate uint64, values *nextValues) (float64, error) {
	var images [8]uint64
	e.orbit.allImages(afterstate, &images)
	empty := e.empties(afterstate)
	minValue := math.Inf(1)
	var sums [2]float64 // over the cells, by tile
	for remaining := empty; remaining != 0; remaining &= remaining - 1 {
		cell := bits.TrailingZeros64(remaining) / 4
		mean := 0.0 // over the tiles
		for exponent := 1; exponent <= 2; exponent++ {
			odds := e.tileWeight(exponent)
			if odds == 0 {
				continue
			}
			value, err := e.valueWithTile(&images, cell, exponent, values)
			if err != nil {
				return 0, err
			}
			if e.problem.Against == Worst {
				minValue = min(minValue, value)
			}
			mean += float64(float64(odds) * value)
			sums[exponent-1] += value
		}
		if e.problem.Against == WorstCell {
			minValue = min(minValue, mean/float64(e.problem.Total))
		}
	}
	if e.problem.Against == WorstTile {
		for i, sum := range sums {
			if e.tileWeight(i+1) > 0 {
				minValue = min(minValue, sum/float64(bits.OnesCount64(empty)))
			}
		}
	}
	return minValue, nil
}

// valueWithTile returns the value of an afterstate after a new tile with an exponent in a cell. images are the symmetric images of the afterstate.
func (e *expander) valueWithTile(images *[8]uint64, cell, exponent int, values *nextValues) (float64, error) {
	if e.spawnWins(exponent) {
		return e.wonValue(), nil
	}
	value, ok := values[exponent-1][e.group(cell)].get(e.orbit.leastImageWithTile(images, cell, uint64(exponent)))
	if !ok {
		return 0, errMissing
	}
	return value, nil
}
