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
	Upper  int
	Small  int // the other tiles have smaller exponents; at least 3, so that new tiles are small
	Sum    int // the greatest sum of the other tiles, an even number
	// Columns are the columns in which the locked tiles of row 0 may begin. Then there are no gaps between them. With nil they may begin anywhere,
	// and have gaps.
	Columns []int
}

// lockedSum returns the sum of the locked tiles, halved: see halfValue.
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

// leadsTo reports whether a move on a board of the stage can make the locked tiles of another stage, or leave them, wherever they lie. In a move, a tile
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
	merged := 0 // pairs of locked tiles of the exponent that merge
	for exponent := maxExponent; exponent >= next.Small; exponent-- {
		// The locked tiles of this exponent in the next stage that are not such tiles now are made from pairs of the exponent below.
		made := count(next.Locked, exponent) - count(s.Locked, exponent) + 2*merged
		switch {
		case made < 0:
			return false
		case exponent <= s.Small:
			merged = 0 // they are made from small tiles, or are small tiles
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

// The sums of small tiles that may be added in stages of few moves.
const (
	briefSlack = 8  // one that merges two locked tiles or moves one to row 0
	mergeSlack = 2  // for each merge before, in the mean
	leftSlack  = 12 // one that locks greater small tiles
)

// NewPlan returns the plan that makes 2^maxExp from units. With n locked tiles, the next tile to make is 2^units[n], or the last locked tile if that
// is smaller. Equal tiles are merged as soon as there are two. The sum of the small tiles may exceed the unit by slack[n]: a greater slack gives a better
// bound and takes more time. The last elements of units and slack hold for all greater numbers, too.
//
// The plan has two ways to place the locked tiles: as many of them in row 0 as it holds, or one less, so that a small tile keeps row 0 full when locked
// tiles merge. A row that is not full can be forced to move, and a new tile before the locked ones then blocks them. The player can change from one
// way to the other.
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
	slices.SortFunc(b.Stages, func(first, second Stage) int {
		return cmp.Or(compareStages(first, second), cmp.Compare(second.Sum, first.Sum))
	})
	b.Stages = slices.CompactFunc(b.Stages, func(first, second Stage) bool { return compareStages(first, second) == 0 })
	return b.Plan, nil
}

// compareStages orders stages so that moves lead to later ones: by the sum of the locked tiles, by the number of them in row 0, because they move up
// and not down, and by the small tiles, which can become locked ones.
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
	previousUnit, left := 0, 0 // left is the sum of the small tiles that may be there when locked tiles have merged
	for !slices.Equal(locked, []int{b.Max}) {
		unit, slack := b.unitFor(locked, limit), max(atOrLast(b.slack, len(locked)), left)
		if previousUnit > unit {
			b.add(locked, limit, previousUnit, slack+leftSlack) // it ends when the greater small tiles are locked or have merged
		}
		b.add(locked, limit, unit, slack+game.Value(unit))
		locked = append(slices.Clone(locked), unit)
		if n := len(locked); 1 < n && n <= limit {
			b.add(locked, len(locked)-1, unit, slack+briefSlack) // the unit lies in row 1, and may move up
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

// unitFor returns the next tile to make, at most the last locked one. The one that fills row 0 is as large as the next one in the list, if it is smaller
// than the last locked tile then.
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

// add adds a stage with at most limit locked tiles in row 0, which must lie there without gaps unless two of them are to merge. A single locked
// tile of row 0 lies in the left half, because a reflection leads from the right half to the left one.
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
