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

// newReflection returns a reflection of boards as swaps of cells. imageOf maps each cell to its image; it must be its own inverse. Cells at the same
// distance from their images are swapped together.
func newReflection(cells int, imageOf func(cell int) int) reflection {
	var swaps []swap
	for cell := range cells {
		image := imageOf(cell)
		if image <= cell {
			continue
		}
		shift := uint8(4 * (image - cell))
		index := -1
		for number := range swaps {
			if swaps[number].shift == shift {
				index = number
			}
		}
		if index < 0 {
			index = len(swaps)
			swaps = append(swaps, swap{shift: shift})
		}
		swaps[index].mask |= 15 << (4 * cell)
	}
	swaps = append(swaps, swap{}, swap{})
	number := max(len(swaps)-2, 2)
	return reflection{swaps[0], swaps[1], swaps[2:number]}
}

// orbit computes the images of a board under the symmetries of its shape. It replaces [game.Rules.Canonical] for callers that do not need the
// symmetry itself, or that add tiles to a board whose images are known. The least image is the same board as the canonical one.
type orbit struct {
	flipH, flipV, transpose reflection
	images                  int // 8 for squares, 4 for other rectangles, 2 for lines
	// cellShift[g][i] is the position in bits of cell i in image g
	cellShift [8][game.MaxCells]uint8
}

// newOrbit returns the symmetries of boards of a shape: 8 for a square, 4 for an oblong, and 2 for a single line.
func newOrbit(shape game.Shape) *orbit {
	rows, cols := shape.Rows, shape.Cols
	result := &orbit{
		flipH: newReflection(rows*cols, func(cell int) int { return cell - cell%cols + cols - 1 - cell%cols }),
		flipV: newReflection(rows*cols, func(cell int) int { return (rows-1-cell/cols)*cols + cell%cols }),
	}
	switch {
	case rows == 4 && cols == 4: // within the 2x2 blocks, then the blocks
		result.transpose = reflection{first: swap{0x0000_F0F0_0000_F0F0, 12}, second: swap{0x0000_0000_FF00_FF00, 24}}
		result.images = 8
	case rows == cols:
		result.transpose = newReflection(rows*cols, func(cell int) int { return cell%cols*cols + cell/cols })
		result.images = 8
	case rows == 1:
		result.images = 2
	case cols == 1:
		result.flipH = result.flipV
		result.images = 2
	default:
		result.images = 4
	}
	for cell := range rows * cols {
		var images [8]uint64
		result.allImages(1<<(4*cell), &images)
		for symmetry, image := range images[:result.images] {
			for ; image > 1; image >>= 1 {
				result.cellShift[symmetry][cell]++
			}
		}
	}
	return result
}

// allImages writes the images of a board to the first o.images elements of an array. The first image is the board itself.
func (o *orbit) allImages(board uint64, images *[8]uint64) {
	if o.images <= 4 {
		o.allImagesOblong(board, images)
		return
	}
	flipped := o.flipH.apply(board)
	images[0], images[1], images[2], images[3] = board, flipped, o.flipV.apply(board), o.flipV.apply(flipped)
	transposed := o.transpose.apply(board)
	flipped = o.flipH.apply(transposed)
	images[4], images[5], images[6], images[7] = transposed, flipped, o.flipV.apply(transposed), o.flipV.apply(flipped)
}

// allImagesOblong is all for boards that are not square.
func (o *orbit) allImagesOblong(x uint64, of *[8]uint64) {
	h := o.flipH.applyAll(x)
	of[0], of[1] = x, h
	if o.images == 4 {
		of[2], of[3] = o.flipV.applyAll(x), o.flipV.applyAll(h)
	}
}

// leastImage returns the least image of a board, its canonical form.
func (o *orbit) leastImage(board uint64) uint64 {
	if o.images <= 4 {
		var images [8]uint64
		o.allImagesOblong(board, &images)
		return slices.Min(images[:o.images])
	}
	flipped, transposed := o.flipH.apply(board), o.transpose.apply(board)
	least := min(board, flipped, o.flipV.apply(board), o.flipV.apply(flipped))
	flipped = o.flipH.apply(transposed)
	return min(least, transposed, flipped, o.flipV.apply(transposed), o.flipV.apply(flipped))
}

// leastImageWithTile returns the least image of a board with a new tile in an empty cell. images are the images of the board without the tile.
func (o *orbit) leastImageWithTile(images *[8]uint64, cell int, exponent uint64) uint64 {
	place := func(symmetry int) uint64 { return images[symmetry] | exponent<<(o.cellShift[symmetry][cell]&63) }
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
