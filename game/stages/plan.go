package stages

import (
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

// lockedSum returns half of the sum of the locked tiles.
func (s *Stage) lockedSum() (halfSum int) {
	for _, exponent := range s.Locked {
		halfSum += halfValue(exponent)
	}
	return halfSum
}

// halfValue returns half of the value of a tile, and 0 for an empty cell. Sums of tiles are even, so all sums here are halved.
func halfValue(exponent int) int { return 1 << exponent >> 1 }

// Plan is a list of stages. Each leads to later ones.
type Plan struct {
	Shape  game.Shape
	Max    int // exponent of the winning tile
	Stages []Stage
}

// briefSlack is how much the sum of the small tiles may grow in a stage of few moves.
const briefSlack = 8

// NewPlan returns the plan that makes 2^maxExp from units. With n locked tiles, the next tile to make is 2^units[n], or the last locked tile if that
// is smaller; the last element of units holds for all greater numbers, too. Equal tiles are merged as soon as there are two. The sum of the small
// tiles may exceed the unit by slack: a greater slack gives a better bound and takes more time.
func NewPlan(shape game.Shape, maxExp int, units []int, slack int) (*Plan, error) {
	if err := checkPlan(shape, maxExp, units, slack); err != nil {
		return nil, err
	}
	b := &planBuilder{Plan: &Plan{Shape: shape, Max: maxExp}, slack: slack}
	var locked []int
	previousUnit := 0
	for !slices.Equal(locked, []int{maxExp}) {
		unit := units[min(len(locked), len(units)-1)]
		if len(locked) > 0 {
			unit = min(unit, locked[len(locked)-1])
		}
		if previousUnit > unit {
			b.tidy(locked, previousUnit)
		}
		b.build(locked, unit)
		locked = append(slices.Clone(locked), unit)
		for n := len(locked); n > 1 && locked[n-1] == locked[n-2]; n = len(locked) {
			b.merge(locked, unit)
			locked = append(slices.Clone(locked[:n-2]), locked[n-1]+1)
		}
		if len(locked) > 2*shape.Cols {
			return nil, fmt.Errorf("units of %d to %d need more locked tiles than two rows of %s hold, want larger units",
				game.Value(slices.Min(units)), game.Value(slices.Max(units)), shape)
		}
		previousUnit = unit
	}
	return b.Plan, nil
}

// leastSmall is the least value of Stage.Small.
const leastSmall = 3

// checkPlan returns an error if the arguments of NewPlan are not valid.
func checkPlan(shape game.Shape, maxExp int, units []int, slack int) error {
	switch {
	case min(shape.Rows, shape.Cols) < 2 || max(shape.Rows, shape.Cols) > 4:
		return fmt.Errorf("the board is %s, want 2 to 4 rows and columns", shape)
	case maxExp < 3 || maxExp > 14:
		return fmt.Errorf("the winning tile is %d, want 8 to 16384", game.Value(maxExp))
	case len(units) == 0:
		return errors.New("no units are given, want the tile to make for each number of locked tiles")
	case slack < 0 || slack%2 != 0 || slack > 1<<12:
		return fmt.Errorf("the slack is %d, want an even number from 0 to 4096", slack)
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
	slack int
}

// build adds the stages that make one more tile: first until it is there, then, if it lies in row 1, until it is in row 0.
func (b *planBuilder) build(locked []int, unit int) {
	b.add(Stage{Locked: locked, Small: unit, Sum: game.Value(unit) + b.slack})
	if n := len(locked); n > 0 && n < b.Shape.Cols {
		b.add(Stage{Locked: append(slices.Clone(locked), unit), Upper: n, Small: unit, Sum: b.slack + briefSlack})
	}
}

// merge adds the stage that merges the last two of the locked tiles, with small tiles below unit.
func (b *planBuilder) merge(locked []int, unit int) {
	b.Stages = append(b.Stages, Stage{Locked: locked, Upper: min(len(locked), b.Shape.Cols), Small: unit, Sum: b.slack + briefSlack})
}

// tidy adds a stage that has the same locked tiles as the next one, but larger small tiles, which were left behind by the stages before. It ends when
// the board belongs to a later stage.
func (b *planBuilder) tidy(locked []int, small int) {
	b.add(Stage{Locked: locked, Small: small, Sum: b.slack + 2*briefSlack})
}

// add adds a stage whose locked tiles in row 0 have no gaps between them. A single locked tile of row 0 lies in the left half, because a reflection
// leads from the right half to the left one.
func (b *planBuilder) add(stage Stage) {
	if stage.Upper == 0 {
		stage.Upper = min(len(stage.Locked), b.Shape.Cols)
	}
	if stage.Upper > 0 {
		last := b.Shape.Cols - stage.Upper
		if len(stage.Locked) == 1 {
			last = (b.Shape.Cols - 1) / 2
		}
		for column := range last + 1 {
			stage.Columns = append(stage.Columns, column)
		}
	}
	b.Stages = append(b.Stages, stage)
}
