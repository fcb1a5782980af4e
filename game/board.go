package game

import "math/bits"

// MaxExponent is the largest exponent of a cell: 2^15 = 32768.
const MaxExponent = 15

// Board is the content of a board: cell i (row-major, 0 is top left) is bits 4i to 4i+3 and holds the exponent of its tile, 0 when
// empty. Cells beyond the shape in use are 0, and everything here keeps them so. The zero Board is empty.
//
// It does not know its Shape: a Board of one shape means something else in another.
type Board uint64

// ones has the lowest bit of each cell set: one flag a cell.
const ones = 0x1111_1111_1111_1111

// Value returns the value 2^exponent of a tile; 0 for the exponent 0, which means no tile.
func Value(exponent int) int {
	if exponent == 0 {
		return 0
	}
	return 1 << exponent
}

// Cell returns the exponent of cell i, 0 when it is empty. It panics unless 0 <= i < MaxCells.
func (b Board) Cell(i int) int {
	checkRange("cell", i, MaxCells)
	return int(b >> (4 * i) & 15)
}

// With returns b with an exponent in cell i. It panics unless 0 <= i < MaxCells and 0 <= exponent <= MaxExponent.
func (b Board) With(i, exponent int) Board {
	checkRange("cell", i, MaxCells)
	checkRange("exponent", exponent, MaxExponent+1)
	return b&^(15<<(4*i)) | Board(exponent)<<(4*i)
}

// Max returns the largest exponent on the board, 0 when it is empty.
func (b Board) Max() int {
	exponent, cells := 0, uint64(ones) // cells whose exponents begin with the bits of exp
	for bit := 3; bit >= 0; bit-- {
		if cellsWithBit := cells & (uint64(b) >> bit); cellsWithBit != 0 {
			exponent, cells = exponent|1<<bit, cellsWithBit
		}
	}
	return exponent
}

// Sum returns the sum of the values of the tiles.
func (b Board) Sum() int {
	sum := 0
	for ; b != 0; b >>= 4 {
		sum += Value(int(b & 15))
	}
	return sum
}

// Distinct returns the number of different tiles.
func (b Board) Distinct() int {
	var seenExponents uint64
	for ; b != 0; b >>= 4 {
		seenExponents |= 1 << (b & 15)
	}
	return bits.OnesCount64(seenExponents &^ 1)
}

// AtLeast reports whether a tile of this exponent or a greater one is on the board; 1 <= exponent <= MaxExponent, or it panics.
// A game played for MAX is won when AtLeast(log2 MAX).
//
// Source: thesis section 3.6, no_MAX and the win condition.
func (b Board) AtLeast(exponent int) bool {
	checkRange("exponent less one", exponent-1, MaxExponent)
	// Every other cell in a byte of its own: adding 16-exp carries into bit 4 from exp upwards.
	const lowDigits = 0x0F0F_0F0F_0F0F_0F0F
	summand := uint64(16-exponent) * 0x0101_0101_0101_0101
	evenCells, oddCells := uint64(b)&lowDigits+summand, uint64(b)>>4&lowDigits+summand
	return (evenCells|oddCells)&^lowDigits != 0
}

// String returns the sixteen exponents in hexadecimal, cell 0 first, a dot for an empty cell: "1..1............".
// [Shape.Format] and [Shape.Draw] write boards for people.
func (b Board) String() string {
	var text [MaxCells]byte
	for i := range text {
		text[i] = ".123456789abcdef"[b.Cell(i)]
	}
	return string(text[:])
}

// filled returns the flags of the cells that are not empty.
func filled(board Board) uint64 {
	x := uint64(board)
	x |= x >> 2
	x |= x >> 1
	return x & ones
}
