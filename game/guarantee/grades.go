package guarantee

import "tilecheck/game"

// grades order moves and new tiles. They decide how many boards a search looks at, and nothing else. Both were selected among a dozen by this number, on
// 3x3 to 32 and to 64 and on 2x4 to 32.
type grades struct {
	cols, cells int
	distance    [4][game.MaxCells]int // from each corner to each cell, in steps
}

func newGrades(shape game.Shape) *grades {
	g := &grades{cols: shape.Cols, cells: shape.Cells()}
	for corner := range g.distance {
		for i := range g.cells {
			row, col := i/shape.Cols, i%shape.Cols
			if corner&1 != 0 {
				col = shape.Cols - 1 - col
			}
			if corner&2 != 0 {
				row = shape.Rows - 1 - row
			}
			g.distance[corner][i] = row + col
		}
	}
	return g
}

// corner is great for a board whose large tiles are together in a corner: the greatest sum of tiles, weighted by the distance from the opposite
// corner.
func (g *grades) corner(b game.Board) int {
	var sums [4]int
	for i := range g.cells {
		value := game.Value(int(b >> (4 * i) & 15))
		for corner := range sums {
			sums[corner] += value * g.distance[corner][i]
		}
	}
	return max(sums[0], sums[1], sums[2], sums[3])
}

// freedom is great for a board with empty cells and with neighbours that are equal or similar.
func (g *grades) freedom(b game.Board) int {
	grade := 0
	for i := range g.cells {
		tile := int(b >> (4 * i) & 15)
		if tile == 0 {
			grade += 4
			continue
		}
		if i%g.cols < g.cols-1 {
			grade -= distance(tile, int(b>>(4*i+4)&15))
		}
		if i+g.cols < g.cells {
			grade -= distance(tile, int(b>>(4*(i+g.cols))&15))
		}
	}
	return grade
}

// distance is that of two neighbouring tiles. Equal ones can be merged; 0 is an empty cell.
func distance(tile, next int) int {
	switch {
	case next == 0:
		return 0
	case next == tile:
		return -1
	case next > tile:
		return next - tile
	}
	return tile - next
}
