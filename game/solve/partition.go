package solve

import "math/bits"

// partition divides the boards of a layer into parts, such that a new tile leads from the boards of one part to few parts:
//
//	part(board) = sum of weight(group of the cell, exponent) over its cells, modulo the number of parts
//
// Symmetric cells are in the same group, and there are at most two groups. So symmetric boards are in the same part, and a new tile adds one of
// two numbers to the number of the part. A move can lead to any part.
type partition struct {
	parts       int                 // a power of two
	tables      [4]*[1 << 16]uint16 // the sum of weights of four cells; tables[0] is for the lowest 16 bits
	secondCells uint64              // flags of the cells of the second group
	tileWeights [2][3]int           // weight of a new tile, by group and exponent
}

// maxParts is the greatest number of parts. With more parts the differences between boards, and so the files, get larger.
const maxParts = 256

// partsFor returns the number of parts for a problem. Large layers get some thousand boards per part. Then the sort keys and the lookups of a part
// fit the caches, and there are enough parts for all goroutines. The number depends on the problem only, because the file format depends on it.
func partsFor(problem Problem, images int) int {
	cells := problem.Shape.Cells()
	layers := cells << (problem.MaxExp - 2) // sums for up to MAX/2 in every cell
	boards := 1 / float64(images*layers)
	for range cells {
		boards *= float64(problem.MaxExp)
	}
	parts := 1
	for parts < maxParts && boards > float64(parts*partSize) {
		parts *= 2
	}
	return parts
}

const partSize = 1 << 13

// minGrouped is the least number of parts for which cells are divided into two groups. With fewer parts, the exponents alone make
// parts of similar sizes.
const minGrouped = 16

// newPartition returns the partition of the boards of a problem. The part of a board is computed from the sum of the weights of its tiles, so
// symmetric boards are in the same part.
func newPartition(problem Problem, symmetries *orbit) *partition {
	cells := problem.Shape.Cells()
	result := &partition{parts: partsFor(problem, symmetries.images)}
	if result.parts == 1 {
		return result
	}
	if result.parts >= minGrouped {
		result.secondCells = symmetries.secondGroup(cells)
	}
	group := func(cell int) uint64 { return result.secondCells >> (4 * cell) & 1 }
	for groupNumber := range result.tileWeights {
		for exponent := range result.tileWeights[groupNumber] {
			result.tileWeights[groupNumber][exponent] = int(weight(uint64(groupNumber), uint64(exponent)))
		}
	}
	for chunk := range result.tables {
		table := new([1 << 16]uint16)
		for tiles := range table {
			for i := range 4 {
				if cell := 4*chunk + i; cell < cells {
					table[tiles] += weight(group(cell), uint64(tiles)>>(4*i)&15)
				}
			}
		}
		result.tables[chunk] = table
	}
	return result
}

// weight returns the contribution of a tile, in a cell of a group, to the number of the board's part: a hash of both.
func weight(group, exponent uint64) uint16 {
	if exponent == 0 {
		return 0
	}
	const odd = 0x9E37_79B9_7F4A_7C15
	hash := (2*exponent + group) * odd
	hash = (hash ^ hash>>32) * odd
	return uint16(hash >> 48)
}

// partOf returns the part of a board.
func (p *partition) partOf(board uint64) int {
	if p.parts == 1 {
		return 0
	}
	sum := p.tables[0][board&0xFFFF] + p.tables[1][board>>16&0xFFFF] + p.tables[2][board>>32&0xFFFF] + p.tables[3][board>>48]
	return int(sum) & (p.parts - 1)
}

// group returns 0 or 1 for a cell.
func (p *partition) group(cell int) int { return int(p.secondCells >> (4 * cell & 63) & 1) }

// groups returns the cells of each group.
func (p *partition) groups(cells uint64) [2]uint64 {
	return [2]uint64{cells &^ p.secondCells, cells & p.secondCells}
}

// partAfterTile returns the part of the boards of a part after a new tile of exponent 1 or 2 in a cell of a group.
func (p *partition) partAfterTile(part, group, exp int) int {
	return (part + p.tileWeights[group][exp]) & (p.parts - 1)
}

// partBeforeTile is the inverse of partAfterTile.
func (p *partition) partBeforeTile(part, group, exp int) int {
	return (part - p.tileWeights[group][exp]) & (p.parts - 1)
}

// precedes reports whether board a precedes board b in records, which are ordered by part and then by board.
func (p *partition) precedes(a, b uint64) bool {
	if pa, pb := p.partOf(a), p.partOf(b); pa != pb {
		return pa < pb
	}
	return a < b
}

// secondGroup returns about half of the cells as flags. Symmetric cells are in the same half.
func (o *orbit) secondGroup(cells int) uint64 {
	var flags, seen uint64
	balance := 0
	for cell := range cells {
		var orbitCells uint64
		for symmetry := range o.images {
			orbitCells |= 1 << o.cellShift[symmetry][cell]
		}
		if seen&orbitCells != 0 {
			continue
		}
		seen |= orbitCells
		size := bits.OnesCount64(orbitCells)
		if balance > 0 {
			flags |= orbitCells
			size = -size
		}
		balance += size
	}
	return flags
}
