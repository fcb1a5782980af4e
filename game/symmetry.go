package game

import (
	"fmt"
	"strings"
)

// Symmetry is a symmetry of a board: a set of the three reflections below, the transposition done first. The zero value is the identity.
// The game does not tell symmetric boards apart: moving Symmetry.Dir(d) on the image is the image of moving d.
type Symmetry uint8

// The reflections that symmetries are made of. Both flips together are a half turn; Transpose with one flip is a quarter turn.
const (
	FlipH     Symmetry = 1 << iota // swaps left and right
	FlipV                          // swaps top and bottom
	Transpose                      // swaps rows and columns; square boards only
)

// Dir returns where a direction points after the symmetry.
func (s Symmetry) Dir(dir Dir) Dir {
	if s&Transpose != 0 {
		dir ^= Left ^ Up // also Right ^ Down
	}
	horizontal := dir == Left || dir == Right
	if horizontal && s&FlipH != 0 || !horizontal && s&FlipV != 0 {
		dir ^= Left ^ Right // also Up ^ Down
	}
	return dir
}

// Inverse returns the symmetry that undoes s.
func (s Symmetry) Inverse() Symmetry {
	if s == Transpose|FlipH || s == Transpose|FlipV {
		return s ^ (FlipH | FlipV) // the two quarter turns; all others are their own inverses
	}
	return s
}

// String returns the reflections joined by "+", "identity" for none.
func (s Symmetry) String() string {
	if s == 0 {
		return "identity"
	}
	if s > Transpose|FlipV|FlipH {
		return fmt.Sprintf("Symmetry(%d)", uint8(s))
	}
	var names []string
	for i, name := range []string{"flipH", "flipV", "transpose"} {
		if s>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// Symmetries returns the number of symmetries of the shape, 8 when it is square and 4 when not: they are the Symmetry values below it.
// On a board of one row or one column some of them have the same effect.
func (r *Rules) Symmetries() int {
	if r.shape.Rows == r.shape.Cols {
		return 8
	}
	return 4
}

// Apply returns the image of a board under symmetry s. It panics unless s < Symmetries().
func (r *Rules) Apply(s Symmetry, board Board) Board {
	checkRange("symmetry", int(s), r.Symmetries())
	x := uint64(board)
	if s&Transpose != 0 {
		x = r.transpose.apply(x)
	}
	if s&FlipH != 0 {
		x = r.flipH.apply(x)
	}
	if s&FlipV != 0 {
		x = r.flipV.apply(x)
	}
	return Board(x)
}
