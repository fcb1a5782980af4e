package game

import "math/bits"

// Canonical returns the canonical board of a board: the least of its symmetric images, as a number. It also returns a symmetry by with Apply(by,
// board) == least. Two boards have the same canonical board exactly if they are symmetric.
func (r *Rules) Canonical(board Board) (leastImage Board, symmetry Symmetry) {
	var least0 image
	switch r.shape {
	case Shape{4, 4}:
		least0 = canonical4x4(uint64(board))
	case Shape{3, 3}:
		least0 = canonical3x3(uint64(board))
	default:
		least0 = r.canonicalAny(uint64(board))
	}
	return Board(least0.cells), Symmetry(least0.symmetry)
}

// image is the image of a board under a symmetry.
type image struct {
	cells    uint64
	symmetry uint64 // a Symmetry in a word: the compiler has no conditional moves of bytes, and a branch would be a coin toss
}

// lesserImage returns the image with the lesser cells.
func lesserImage(i, j image) image {
	if j.cells < i.cells {
		i.cells, i.symmetry = j.cells, j.symmetry
	}
	return i
}

// leastFlip returns the least of x and its images under FlipH, FlipV and both.
func leastFlip(x, flippedH, flippedV, rotated uint64) image {
	return lesserImage(
		lesserImage(image{x, 0}, image{flippedV, uint64(FlipV)}),
		lesserImage(image{flippedH, uint64(FlipH)}, image{rotated, uint64(FlipH | FlipV)}),
	)
}

// lesserSquare returns the lesser of the least image without and the least image after a transposition.
func lesserSquare(i, transposed image) image {
	transposed.symmetry += uint64(Transpose)
	return lesserImage(i, transposed)
}

func (r *Rules) canonicalAny(x uint64) image {
	leastImage := r.leastFlipAny(x)
	if r.Symmetries() == 8 {
		leastImage = lesserSquare(leastImage, r.leastFlipAny(r.transpose.apply(x)))
	}
	return leastImage
}

func (r *Rules) leastFlipAny(x uint64) image {
	h := r.flipH.apply(x)
	return leastFlip(x, h, r.flipV.apply(x), r.flipV.apply(h))
}

func canonical4x4(x uint64) image {
	return lesserSquare(leastFlip4x4(x), leastFlip4x4(Transpose4x4(x)))
}

func canonical3x3(x uint64) image {
	return lesserSquare(leastFlip3x3(x), leastFlip3x3(transpose3x3(x)))
}

func leastFlip4x4(x uint64) image {
	half := halfTurn4x4(x)
	return leastFlip(x, flipV4x4(half), flipV4x4(x), half)
}

func leastFlip3x3(x uint64) image {
	h := flipH3x3(x)
	return leastFlip(x, h, flipV3x3(x), flipV3x3(h))
}

// halfTurn4x4 reverses the order of the cells.
func halfTurn4x4(x uint64) uint64 {
	const low = 0x0F0F_0F0F_0F0F_0F0F
	x = bits.ReverseBytes64(x)
	return x>>4&low | x&low<<4
}

func flipV4x4(x uint64) uint64 {
	return bits.RotateLeft64(x>>16&evenRows|x&evenRows<<16, 32)
}

func flipV3x3(x uint64) uint64 {
	const row = 0xFFF
	return x>>24 | x&(row<<12) | x&row<<24
}

func flipH3x3(x uint64) uint64 {
	const col = 0xF | 0xF<<12 | 0xF<<24
	return x>>8&col | x&(col<<4) | x&col<<8
}
