package solve

import (
	"slices"

	"tilecheck/game"
)

// swap exchanges the cells in mask with the cells that are shift bits higher.
type swap struct {
	mask  uint64
	shift uint8
}

func (s swap) apply(x uint64) uint64 {
	t := (x ^ x>>(s.shift&63)) & s.mask
	return x ^ t ^ t<<(s.shift&63)
}

// reflection is a reflection of boards as a sequence of swaps. Boards with lines of up to five cells need at most two swaps; a swap with an empty
// mask changes nothing.
type reflection struct {
	first, second swap
	rest          []swap
}

// apply reflects a board with lines of up to five cells. It is small enough for the compiler to inline it.
func (r *reflection) apply(x uint64) uint64 { return r.second.apply(r.first.apply(x)) }

// applyAll reflects any board.
func (r *reflection) applyAll(x uint64) uint64 {
	x = r.apply(x)
	for _, s := range r.rest {
		x = s.apply(x)
	}
	return x
}

// newReflection makes a reflection from the function that maps each cell to its image. The reflection must be its own inverse.
func newReflection(cells int, to func(i int) int) reflection {
	var swaps []swap
	for i := range cells {
		j := to(i)
		if j <= i {
			continue
		}
		shift := uint8(4 * (j - i))
		at := -1
		for n := range swaps {
			if swaps[n].shift == shift {
				at = n
			}
		}
		if at < 0 {
			at = len(swaps)
			swaps = append(swaps, swap{shift: shift})
		}
		swaps[at].mask |= 15 << (4 * i)
	}
	swaps = append(swaps, swap{}, swap{})
	n := max(len(swaps)-2, 2)
	return reflection{swaps[0], swaps[1], swaps[2:n]}
}

// orbit computes the images of a board under the symmetries of its shape. It replaces [game.Rules.Canonical] for callers that do not need the
// symmetry itself, or that add tiles to a board whose images are known. The least image is the same board as the canonical one.
type orbit struct {
	flipH, flipV, transpose reflection
	images                  int // 8 for squares, 4 for other rectangles, 2 for lines
	// cellShift[g][i] is the position in bits of cell i in image g
	cellShift [8][game.MaxCells]uint8
}

func newOrbit(shape game.Shape) *orbit {
	rows, cols := shape.Rows, shape.Cols
	o := &orbit{
		flipH: newReflection(rows*cols, func(i int) int { return i - i%cols + cols - 1 - i%cols }),
		flipV: newReflection(rows*cols, func(i int) int { return (rows-1-i/cols)*cols + i%cols }),
	}
	switch {
	case rows == 4 && cols == 4: // within the 2x2 blocks, then the blocks
		o.transpose = reflection{first: swap{0x0000_F0F0_0000_F0F0, 12}, second: swap{0x0000_0000_FF00_FF00, 24}}
		o.images = 8
	case rows == cols:
		o.transpose = newReflection(rows*cols, func(i int) int { return i%cols*cols + i/cols })
		o.images = 8
	case rows == 1:
		o.images = 2
	case cols == 1:
		o.flipH = o.flipV
		o.images = 2
	default:
		o.images = 4
	}
	for i := range rows * cols {
		var of [8]uint64
		o.allImages(1<<(4*i), &of)
		for g, image := range of[:o.images] {
			for ; image > 1; image >>= 1 {
				o.cellShift[g][i]++
			}
		}
	}
	return o
}

// allImages writes the images of x to the first o.images elements of an array. The first is x.
func (o *orbit) allImages(x uint64, of *[8]uint64) {
	if o.images <= 4 {
		o.allImagesOblong(x, of)
		return
	}
	h := o.flipH.apply(x)
	of[0], of[1], of[2], of[3] = x, h, o.flipV.apply(x), o.flipV.apply(h)
	t := o.transpose.apply(x)
	h = o.flipH.apply(t)
	of[4], of[5], of[6], of[7] = t, h, o.flipV.apply(t), o.flipV.apply(h)
}

// allImagesOblong is all for boards that are not square.
func (o *orbit) allImagesOblong(x uint64, of *[8]uint64) {
	h := o.flipH.applyAll(x)
	of[0], of[1] = x, h
	if o.images == 4 {
		of[2], of[3] = o.flipV.applyAll(x), o.flipV.applyAll(h)
	}
}

// leastImage returns the least image of x.
func (o *orbit) leastImage(x uint64) uint64 {
	if o.images <= 4 {
		var of [8]uint64
		o.allImagesOblong(x, &of)
		return slices.Min(of[:o.images])
	}
	h, t := o.flipH.apply(x), o.transpose.apply(x)
	least := min(x, h, o.flipV.apply(x), o.flipV.apply(h))
	h = o.flipH.apply(t)
	return min(least, t, h, o.flipV.apply(t), o.flipV.apply(h))
}

// leastImageWith returns the least image of a board with a tile of exponent exp put into its empty cell i, given the images of the board.
func (o *orbit) leastImageWith(of *[8]uint64, i int, exp uint64) uint64 {
	place := func(g int) uint64 { return of[g] | exp<<(o.cellShift[g][i]&63) }
	least := min(place(0), place(1))
	if o.images == 2 {
		return least
	}
	least = min(least, place(2), place(3))
	if o.images == 4 {
		return least
	}
	return min(least, place(4), place(5), place(6), place(7))
}
