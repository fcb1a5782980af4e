package game

import "slices"

// transposed swaps rows and columns: the columns of the shape lie one after the other in the result.
func (r *Rules) transposed(x uint64) uint64 {
	switch r.shape {
	case Shape{4, 4}:
		return Transpose4x4(x)
	case Shape{3, 3}:
		return transpose3x3(x)
	}
	return r.rows.transposed(x)
}

func (r *Rules) untransposed(x uint64) uint64 {
	switch r.shape {
	case Shape{4, 4}:
		return Transpose4x4(x)
	case Shape{3, 3}:
		return transpose3x3(x)
	}
	return r.cols.transposed(x)
}

// Transpose4x4 swaps rows and columns of a board of 4x4 cells: the off-diagonal cells of each 2x2 block, then the off-diagonal blocks.
//
//	a b . .     a e . .
//	e f . .  => b f . .   and then  A B => A C
//	. . . .     . . . .             C D    B D
func Transpose4x4(x uint64) uint64 {
	x = swap{0x0000_F0F0_0000_F0F0, 12}.apply(x)
	return swap{0x0000_0000_FF00_FF00, 24}.apply(x)
}

// transpose3x3 swaps the cells beside the diagonal, which lie two apart, and then the corners, which lie four apart.
func transpose3x3(x uint64) uint64 {
	x = swap{0xF0_00F0, 8}.apply(x)
	return swap{0xF00, 16}.apply(x)
}

// swap exchanges the cells in mask with those that lie so many bits above them.
type swap struct {
	mask uint64 // whole cells
	by   int    // bits
}

func (s swap) apply(x uint64) uint64 {
	t := (x ^ x>>(s.by&63)) & s.mask
	return x ^ t ^ t<<(s.by&63)
}

// reflection is a symmetry that is its own inverse: it swaps cells, all those equally far apart together.
type reflection []swap

// newReflection returns the reflection that swaps the cell in each row and column with cell to(row, col).
func newReflection(shape Shape, imageOf func(row, col int) int) reflection {
	var r reflection
	for i := range shape.Cells() {
		distance := 4 * (imageOf(i/shape.Cols, i%shape.Cols) - i)
		if distance <= 0 {
			continue // the upper cell of a pair, or a cell that stays
		}
		index := slices.IndexFunc(r, func(s swap) bool { return s.by == distance })
		if index < 0 {
			index = len(r)
			r = append(r, swap{by: distance})
		}
		r[index].mask |= 15 << (4 * i)
	}
	return r
}

func (r reflection) apply(x uint64) uint64 {
	for _, s := range r {
		x = s.apply(x)
	}
	return x
}
