package guarantee

import "tilecheck/game"

// grades order moves and new tiles. They decide how many boards a search looks at, and nothing else. Both were selected among a dozen by this number,
// on 3x3 to 32 and to 64 and on 2x4 to 32.
type grades struct {
	cols, cells int
	distance    [4][game.MaxCells]int // from each corner to each cell, in steps
}

// newGrades returns the grades for boards of a shape. For each corner, it computes the distance of each cell from the opposite corner.
func newGrades(shape game.Shape) *grades {
	result := &grades{cols: shape.Cols, cells: shape.Cells()}
	for corner := range result.distance {
		for cell := range result.cells {
			row, col := cell/shape.Cols, cell%shape.Cols
			if corner&1 != 0 {
				col = shape.Cols - 1 - col
			}
			if corner&2 != 0 {
				row = shape.Rows - 1 - row
			}
			result.distance[corner][cell] = row + col
		}
	}
	return result
}

// corner grades a board by how well its large tiles are gathered in a corner. The grade is the maximum, over the four corners, of the sum of the
// tiles weighted by their distance from the opposite corner.
func (g *grades) corner(board game.Board) int {
	var sums [4]int
	for cell := range g.cells {
		value := game.Value(int(board >> (4 * cell) & 15))
		for corner := range sums {
			sums[corner] += value * g.distance[corner][cell]
		}
	}
	return max(sums[0], sums[1], sums[2], sums[3])
}

// freedom grades a board by how freely the player can move on it. Empty cells increase the grade; differences of neighbouring tiles decrease it.
func (g *grades) freedom(board game.Board) int {
	grade := 0
	for cell := range g.cells {
		tile := int(board >> (4 * cell) & 15)
		if tile == 0 {
			grade += 4
			continue
		}
		if cell%g.cols < g.cols-1 {
			grade -= distance(tile, int(board>>(4*cell+4)&15))
		}
		if cell+g.cols < g.cells {
			grade -= distance(tile, int(board>>(4*(cell+g.cols))&15))
		}
	}
	return grade
}

// distance returns the difference of the exponents of two neighbouring tiles, 0 if the neighbour is an empty cell, and -1 for equal tiles, which can
// be merged.
func distance(tile, neighbour int) int {
	switch {
	case neighbour == 0:
		return 0
	case neighbour == tile:
		return -1
	case neighbour > tile:
		return neighbour - tile
	}
	return tile - neighbour
}
