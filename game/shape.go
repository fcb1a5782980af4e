package game

import (
	"fmt"
	"math/bits"
)

// MaxCells is the number of cells a Board can hold.
const MaxCells = 16

// Shape is the size of a board. Any shape of 2 to MaxCells cells will do, 1x16 included; 1x1 will not, since a game starts with two
// tiles. Lines of up to four cells slide through tables, longer ones cell by cell, which is slower.
type Shape struct{ Rows, Cols int }

// Validate returns an error if the shape is not valid.
func (s Shape) Validate() error {
	// The first two conditions keep the product of the third from wrapping round.
	if s.Rows < 1 || s.Cols < 1 || s.Rows > MaxCells || s.Cols > MaxCells || s.Cells() < 2 || s.Cells() > MaxCells {
		return fmt.Errorf("board is %s, want at least one row and one column and 2 to %d cells", s, MaxCells)
	}
	return nil
}

// Cells returns the number of cells, Rows*Cols.
func (s Shape) Cells() int { return s.Rows * s.Cols }

// String returns the shape as rows x columns, "4x4".
func (s Shape) String() string { return fmt.Sprintf("%dx%d", s.Rows, s.Cols) }

// Values returns the tile values 0, 2, 4, ..., 32768 of a board, row-major, Cells() of them.
// The shape must be valid.
func (s Shape) Values(board Board) []int { return s.WideValues(Wide{Low: board}) }

// checkValues returns an error unless the shape is valid and there is a value for each cell.
func (s Shape) checkValues(values []int) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if len(values) != s.Cells() {
		return fmt.Errorf("found %s, want %d for a %s board", count(len(values), "value"), s.Cells(), s)
	}
	return nil
}

// Board packs tile values, row-major. It is the inverse of Values: there must be Cells() of them, each 0 or a power of two in
// 2..32768.
func (s Shape) Board(values []int) (Board, error) {
	if err := s.checkValues(values); err != nil {
		return 0, err
	}
	var board Board
	for i, value := range values {
		exp, ok := exponent(value)
		if !ok {
			return 0, fmt.Errorf("cell %d is %d, want %s", i, value, wantTile)
		}
		board = board.With(i, exp)
	}
	return board, nil
}

const wantTile = "0 or a power of two from 2 to 32768"

// exponent is the inverse of Value; it reports false for a number that is not a tile of a Board.
func exponent(value int) (exp int, ok bool) {
	exp, ok = wideExponent(value)
	return exp, ok && exp <= MaxExponent
}

// wideExponent is the inverse of Value; it reports false for a number that is not a tile of a Wide board.
func wideExponent(value int) (exponent int, ok bool) {
	if value == 0 {
		return 0, true
	}
	exponent = bits.TrailingZeros(uint(value))
	return exponent, exponent >= 1 && exponent <= MaxWideExponent && value == 1<<exponent
}
