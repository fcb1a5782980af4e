package tiles

import (
	"fmt"
	"slices"
)

// board has the exponents of its tiles, four bits each: cell i, counted row by row, is in bits 4i to 4i+3, and 0 is an empty cell.
type board uint64

// rules are those of one shape of board.
type rules struct {
	rows, cols, cells int
	// lines has, for each move, the lines of cells from the wall to which tiles move.
	lines map[byte][][]int
	// images has, for each symmetry, the cell to which each cell goes. The first one is the identity.
	images [][]int
}

// newRules returns the rules of a shape. Without symmetries, the only image of a board is the board.
func newRules(rows, cols int, symmetries bool) (*rules, error) {
	if min(rows, cols) < 1 || max(rows, cols) > 16 || rows*cols < 2 || rows*cols > 16 {
		return nil, fmt.Errorf("board %dx%d, want 2 to 16 cells", rows, cols)
	}
	r := &rules{rows: rows, cols: cols, cells: rows * cols, lines: map[byte][][]int{}}
	addLine := func(to, from byte, n int, cell func(i int) int) {
		line := make([]int, n)
		for i := range line {
			line[i] = cell(i)
		}
		r.lines[to] = append(r.lines[to], slices.Clone(line))
		slices.Reverse(line)
		r.lines[from] = append(r.lines[from], line)
	}
	for row := range rows {
		addLine('L', 'R', cols, func(col int) int { return row*cols + col })
	}
	for col := range cols {
		addLine('U', 'D', rows, func(row int) int { return row*cols + col })
	}
	for symmetry := range 8 {
		transposed := symmetry&4 != 0
		if symmetry > 0 && (!symmetries || transposed && rows != cols) {
			continue
		}
		image := make([]int, r.cells)
		for i := range image {
			row, col := i/cols, i%cols
			if symmetry&1 != 0 {
				row = rows - 1 - row
			}
			if symmetry&2 != 0 {
				col = cols - 1 - col
			}
			if transposed {
				row, col = col, row
			}
			image[i] = row*cols + col
		}
		r.images = append(r.images, image)
	}
	return r, nil
}

// at returns the exponent of a cell.
func (b board) at(cell int) board { return b >> (4 * cell) & 15 }

// sum returns the sum of the tiles.
func (b board) sum() (sum int) {
	for ; b != 0; b >>= 4 {
		if b&15 != 0 {
			sum += 1 << (b & 15)
		}
	}
	return sum
}

// has reports whether a tile with at least the exponent is on the board.
func (b board) has(exp board) bool {
	for ; b != 0; b >>= 4 {
		if b&15 >= exp {
			return true
		}
	}
	return false
}

// slide moves the tiles of each line to its wall and merges pairs of equal tiles, beginning at the wall. Each tile merges once.
func (r *rules) slide(b board, move byte) (after board) {
	for _, line := range r.lines[move] {
		n, last := 0, board(0) // number of tiles at the wall; the last one, or 0 if it must not merge again
		for _, cell := range line {
			switch tile := b.at(cell); {
			case tile == 0:
			case tile == last:
				after += 1 << (4 * line[n-1])
				last = 0
			default:
				after |= tile << (4 * line[n])
				n++
				last = tile
			}
		}
	}
	return after
}

// imagesOf returns all images of a board, in the order of r.images.
func (r *rules) imagesOf(b board) (images [8]board) {
	for i := range r.cells {
		if tile := b.at(i); tile != 0 {
			for g, to := range r.images {
				images[g] |= tile << (4 * to[i])
			}
		}
	}
	return images
}

// least returns the least image of a board with one more tile in an empty cell, given the images of the board.
func (r *rules) least(images *[8]board, cell int, exp board) board {
	least := ^board(0)
	for g, to := range r.images {
		least = min(least, images[g]|exp<<(4*to[cell]))
	}
	return least
}

// leastImage returns the least image of a board.
func (r *rules) leastImage(b board) board {
	images := r.imagesOf(b)
	return slices.Min(images[:len(r.images)])
}
