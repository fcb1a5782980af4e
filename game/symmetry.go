package game

import (
	"fmt"
	"math/bits"
	"slices"
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

// Dir returns where direction d points after the symmetry.
func (s Symmetry) Dir(d Dir) Dir {
	if s&Transpose != 0 {
		d ^= Left ^ Up // also Right ^ Down
	}
	horizontal := d == Left || d == Right
	if horizontal && s&FlipH != 0 || !horizontal && s&FlipV != 0 {
		d ^= Left ^ Right // also Up ^ Down
	}
	return d
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

// Apply returns the image of b under s. It panics unless s < Symmetries().
func (r *Rules) Apply(s Symmetry, b Board) Board {
	checkRange("symmetry", int(s), r.Symmetries())
	x := uint64(b)
	if s&Transpose != 0 {
		x = r.transposed(x)
	}
	if s&FlipH != 0 {
		x = r.flipH.apply(x)
	}
	if s&FlipV != 0 {
		x = r.flipV.apply(x)
	}
	return Board(x)
}

// Canonical returns the least of the images of b, as a number, and a symmetry that makes it: Apply(by, b) == least.
// Two boards have the same least image exactly when they are symmetric.
func (r *Rules) Canonical(b Board) (least Board, by Symmetry) {
	// One reflection a step reaches every image: two reflections in turn, the second always FlipV.
	square := [...]Symmetry{
		Transpose, Transpose | FlipV, FlipH, FlipH | FlipV, Transpose | FlipH | FlipV, Transpose | FlipH, FlipV,
	}
	oblong := [...]Symmetry{FlipH, FlipH | FlipV, FlipV}
	isSquare := r.shape.Rows == r.shape.Cols
	steps := oblong[:]
	if isSquare {
		steps = square[:]
	}
	least = b
	x := uint64(b)
	for i, s := range steps {
		switch {
		case i%2 != 0:
			x = r.flipV.apply(x)
		case isSquare:
			x = r.transposed(x)
		default:
			x = r.flipH.apply(x)
		}
		if Board(x) < least {
			least, by = Board(x), s
		}
	}
	return least, by
}

// transposed swaps rows and columns: the columns of the shape lie one after the other in the result.
func (r *Rules) transposed(x uint64) uint64 {
	if r.shape == (Shape{4, 4}) {
		return transpose4x4(x)
	}
	return r.transpose.apply(x)
}

func (r *Rules) untransposed(x uint64) uint64 {
	if r.shape == (Shape{4, 4}) {
		return transpose4x4(x)
	}
	return r.untranspose.apply(x)
}

// transpose4x4 swaps the off-diagonal cells of each 2x2 block, then the off-diagonal blocks.
//
//	a b . .     a e . .
//	e f . .  => b f . .   and then  A B => A C
//	. . . .     . . . .             C D    B D
func transpose4x4(x uint64) uint64 {
	t := (x ^ x>>12) & 0x0000_F0F0_0000_F0F0
	x ^= t ^ t<<12
	t = (x ^ x>>24) & 0x0000_0000_FF00_FF00
	return x ^ t ^ t<<24
}

// permutation moves cells about: all cells that go the same distance go together.
type permutation []cellShift

type cellShift struct {
	mask uint64 // whole cells
	by   int    // bits to the left; negative is to the right
}

// newPermutation returns the permutation that takes the cell in each row and column of the shape to cell to(row, col).
func newPermutation(shape Shape, to func(row, col int) int) permutation {
	var p permutation
	for i := range shape.Cells() {
		by := 4 * (to(i/shape.Cols, i%shape.Cols) - i)
		at := slices.IndexFunc(p, func(step cellShift) bool { return step.by == by })
		if at < 0 {
			at = len(p)
			p = append(p, cellShift{by: by})
		}
		p[at].mask |= 15 << (4 * i)
	}
	return p
}

func (p permutation) apply(x uint64) uint64 {
	var out uint64
	for _, step := range p {
		out |= bits.RotateLeft64(x&step.mask, step.by)
	}
	return out
}
