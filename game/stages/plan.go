package stages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tilecheck/game"
)

// Stage is a part of the game in which some tiles are locked. A board belongs to it if its tiles from 2^Small on are exactly the locked ones, the
// others have a sum of at most Sum, the first Upper locked tiles lie in row 0 from left to right, and the other locked ones in row 1 from left to right.
type Stage struct {
	Locked []int // exponents, in descending order
	Upper  int   // number of locked tiles in row 0
	Small  int   // the other tiles are small: they have smaller exponents; at least 3, so that new tiles are small
	Sum    int   // the greatest sum of the small tiles, an even number
	// If Columns is not nil, the locked tiles of row 0 lie side by side, and the first one lies in one of these columns.
	Columns []int
}

// lockedSum returns half of the sum of the locked tiles.
func (s *Stage) lockedSum() (halfSum int) {
	for _, exponent := range s.Locked {
		halfSum += halfValue(exponent)
	}
	return halfSum
}

// sameLocked reports whether two stages have the same locked tiles in the same rows.
func (s *Stage) sameLocked(other *Stage) bool {
	return s.Upper == other.Upper && slices.Equal(s.Locked, other.Locked)
}

// leadsTo reports whether the tiles of a board of the stage can be those of a board of another stage after a move, wherever they lie. In a move, a tile
// merges at most once.
func (s *Stage) leadsTo(next *Stage) bool {
	count := func(locked []int, exponent int) (number int) {
		for _, tile := range locked {
			if tile == exponent {
				number++
			}
		}
		return number
	}
	merged := 0 // pairs of tiles of the exponent that merge
	for exponent := maxExponent; exponent >= next.Small; exponent-- {
		// The move must make these tiles of the exponent from pairs of the exponent below.
		made := count(next.Locked, exponent) - count(s.Locked, exponent) + 2*merged
		switch {
		case made < 0:
			return false
		case exponent <= s.Small:
			merged = 0 // they are small tiles, or are made from small tiles
		case 2*made > count(s.Locked, exponent-1):
			return false
		default:
			merged = made
		}
	}
	return true
}

// halfValue returns half of the value of a tile, and 0 for an empty cell. Sums of tiles are even, so all sums here are halved.
func halfValue(exponent int) int { return 1 << exponent >> 1 }

// Plan is a list of stages. Each leads to later ones.
type Plan struct {
	Shape  game.Shape
	Max    int // exponent of the winning tile
	Stages []Stage
}

// maxExponent is the greatest exponent of a winning tile.
const maxExponent = 14

// In stages that last for a few moves only, the new tiles may add this to the sum of the small tiles.
const (
	briefSlack = 8  // in a stage that merges two locked tiles or moves one to row 0
	mergeSlack = 2  // on average, for each merge before
	leftSlack  = 12 // in a stage that locks the larger small tiles which an earlier stage left
)

// NewPlan returns a plan that makes the tile 2^maxExp from smaller ones, the units. With n locked tiles in row 0, the unit is 2^units[n], but not larger
// than the last locked tile. Two equal locked tiles are merged at once. With n locked tiles in both rows together, the sum of the small tiles may exceed the unit by slack[n]: a
// greater slack gives a better bound and takes more time. The last elements of units and slack hold for all greater n, too. The error names the argument
// that is not valid.
//
// The plan has two ways to place the locked tiles: as many in row 0 as it holds, or one less, so that a small tile keeps row 0 full when locked tiles merge.
// If row 0 is not full, its tiles may have to move away from the wall, and a new tile there then blocks them. The player can change from one way to the other.
func NewPlan(shape game.Shape, maxExp int, units, slack []int) (*Plan, error) {
	if err := checkPlan(shape, maxExp, units, slack); err != nil {
		return nil, err
	}
	b := &planBuilder{Plan: &Plan{Shape: shape, Max: maxExp}, units: units, slack: slack}
	for limit := max(1, shape.Cols-1); limit <= shape.Cols; limit++ {
		if err := b.addStages(limit); err != nil {
			return nil, err
		}
	}
	// Of equal stages, the one with the greatest sum remains.
	slices.SortFunc(b.Stages, func(first, second Stage) int {
		return cmp.Or(compareStages(first, second), cmp.Compare(second.Sum, first.Sum))
	})
	b.Stages = slices.CompactFunc(b.Stages, func(first, second Stage) bool { return compareStages(first, second) == 0 })
	return b.Plan, nil
}

// compareStages orders stages so that moves lead to later ones: by the sum of the locked tiles; by their number, which merges reduce; by their number in
// row 0, to which they move up; and by the greatest small tiles, which become locked.
func compareStages(first, second Stage) int {
	if order := cmp.Or(
		cmp.Compare(first.lockedSum(), second.lockedSum()),
		cmp.Compare(len(second.Locked), len(first.Locked)),
		cmp.Compare(first.Upper, second.Upper),
		cmp.Compare(second.Small, first.Small)); order != 0 {
		return order
	}
	return slices.Compare(first.Locked, second.Locked)
}

// leastSmall is the least value of Stage.Small.
const leastSmall = 3

// checkPlan returns an error if the arguments of NewPlan are not valid.
func checkPlan(shape game.Shape, maxExp int, units, slack []int) error {
	switch {
	case min(shape.Rows, shape.Cols) < 2 || max(shape.Rows, shape.Cols) > 4:
		return fmt.Errorf("the board is %s, want 2 to 4 rows and columns", shape)
	case maxExp < 3 || maxExp > maxExponent:
		return fmt.Errorf("the winning tile is %d, want 8 to 16384", game.Value(maxExp))
	case len(units) == 0:
		return errors.New("no units are given, want the tile to make for each number of locked tiles")
	case len(slack) == 0:
		return errors.New("no slack is given, want one for each number of locked tiles")
	}
	for _, sum := range slack {
		if sum < 0 || sum%2 != 0 || sum > 1<<12 {
			return fmt.Errorf("a slack is %d, want an even number from 0 to 4096", sum)
		}
	}
	for _, unit := range units {
		if unit < leastSmall || unit > maxExp {
			return fmt.Errorf("a unit is %d, want 8 to %d", game.Value(unit), game.Value(maxExp))
		}
	}
	return nil
}

// planBuilder adds the stages of a plan.
type planBuilder struct {
	*Plan
	units, slack []int // by the number of locked tiles
}

// addStages adds the stages with at most limit locked tiles in row 0.
func (b *planBuilder) addStages(limit int) error {
	var locked []int
	previousUnit, left := 0, 0 // left is the slack of the last merge: its small tiles are still there
	for !slices.Equal(locked, []int{b.Max}) {
		unit, slack := b.unitFor(locked, limit), max(atOrLast(b.slack, len(locked)), left)
		if previousUnit > unit {
			b.add(locked, limit, previousUnit, slack+leftSlack) // it ends when the larger small tiles are locked or have merged
		}
		b.add(locked, limit, unit, slack+game.Value(unit))
		locked = append(slices.Clone(locked), unit)
		if n := len(locked); 1 < n && n <= limit {
			b.add(locked, n-1, unit, slack+briefSlack) // the unit lies in row 1, and can move up
		}
		left = 0
		for n := len(locked); n > 1 && locked[n-1] == locked[n-2]; n = len(locked) {
			b.add(locked, limit, unit, slack+briefSlack)
			slack += mergeSlack
			left = slack
			locked = append(slices.Clone(locked[:n-2]), locked[n-1]+1)
		}
		if len(locked) > limit+b.Shape.Cols {
			return fmt.Errorf("units of %d to %d need more locked tiles than two rows of %s hold, want larger units",
				game.Value(slices.Min(b.units)), game.Value(slices.Max(b.units)), b.Shape)
		}
		previousUnit = unit
	}
	return nil
}

// unitFor returns the exponent of the next tile to make, at most that of the last locked tile. The unit that fills row 0 is raised to the next one in the
// list, but not to the last locked tile.
func (b *planBuilder) unitFor(locked []int, limit int) int {
	n := min(len(locked), limit)
	unit := atOrLast(b.units, n)
	if n == 0 {
		return unit
	}
	last := locked[len(locked)-1]
	if n == b.Shape.Cols-1 && n < limit {
		unit = max(unit, min(atOrLast(b.units, n+1), last-1))
	}
	return min(unit, last)
}

// atOrLast returns an element of a list, or the last one if the list is shorter.
func atOrLast(list []int, index int) int { return list[min(index, len(list)-1)] }

// add adds a stage with at most limit locked tiles in row 0. They lie side by side, unless the last two are equal and have to merge. A single locked tile
// lies in the left half, because the reflection of a board with the tile in the right half has it there.
func (b *planBuilder) add(locked []int, limit, small, sum int) {
	stage := Stage{Locked: locked, Upper: min(len(locked), limit), Small: small, Sum: sum}
	upper := locked[:stage.Upper]
	if n := len(upper); n > 0 && !(n > 1 && upper[n-1] == upper[n-2]) {
		last := b.Shape.Cols - n
		if len(locked) == 1 {
			last = (b.Shape.Cols - 1) / 2
		}
		for column := range last + 1 {
			stage.Columns = append(stage.Columns, column)
		}
	}
	b.Stages = append(b.Stages, stage)
}
