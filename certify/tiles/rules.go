package tiles

import (
	"fmt"
	"slices"
)

// board has the exponents of its tiles, four bits each: cell i, counted row by row, is in bits 4i to 4i+3, and 0 is an empty cell.
type board uint64

// rules are the rules of 2048 for one shape of board.
type rules struct {
	rows, cols, cells int
	// lines has, for each move, the lines of cells from the wall to which tiles move.
	lines map[byte][][]int
	// images has, for each symmetry, the cell to which each cell goes. The first one is the identity.
	images [][]int
}

// newRules returns the rules of 2048 on a board of rows times cols cells. If symmetries is false, the only image of a board is the board itself.
func newRules(rows, cols int, symmetries bool) (*rules, error) {
	if min(rows, cols) < 1 || max(rows, cols) > 16 || rows*cols < 2 || rows*cols > 16 {
		return nil, fmt.Errorf("board %dx%d, want 2 to 16 cells", rows, cols)
	}
	r := &rules{rows: rows, cols: cols, cells: rows * cols, lines: map[byte][][]int{}}
	for row := range rows {
		r.addLine('L', 'R', cols, func(col int) int { return row*cols + col })
	}
	for col := range cols {
		r.addLine('U', 'D', rows, func(row int) int { return row*cols + col })
	}
	for symmetry := range 8 {
		isTransposed := symmetry&4 != 0
		isIdentity := symmetry == 0
		exists := isIdentity || symmetries && (!isTransposed || rows == cols)
		if exists {
			r.images = append(r.images, r.imageOfCells(symmetry&1 != 0, symmetry&2 != 0, isTransposed))
		}
	}
	return r, nil
}

// addLine adds a line of n cells. Tiles slide towards its first cell for move, and towards its last cell for the opposite move. cell(i) is the
// number of its cell i.
func (r *rules) addLine(move, opposite byte, n int, cell func(i int) int) {
	line := make([]int, n)
	for i := range line {
		line[i] = cell(i)
	}
	r.lines[move] = append(r.lines[move], slices.Clone(line))
	slices.Reverse(line)
	r.lines[opposite] = append(r.lines[opposite], line)
}

// imageOfCells returns, for each cell, the cell to which a symmetry moves it. The symmetry can reverse the rows and the columns, and then
// transpose the board.
func (r *rules) imageOfCells(flipRows, flipColumns, transpose bool) []int {
	image := make([]int, r.cells)
	for i := range image {
		row, col := i/r.cols, i%r.cols
		if flipRows {
			row = r.rows - 1 - row
		}
		if flipColumns {
			col = r.cols - 1 - col
		}
		if transpose {
			row, col = col, row
		}
		image[i] = row*r.cols + col
	}
	return image
}

// exponentAt returns the exponent of a cell.
func (b board) exponentAt(cell int) board { return b >> (4 * cell) & 15 }

// sum returns the sum of the tiles.
func (b board) sum() (sum int) {
	for ; b != 0; b >>= 4 {
		if b&15 != 0 {
			sum += 1 << (b & 15)
		}
	}
	return sum
}

// hasTile reports whether the board has a tile whose exponent is at least exp.
func (b board) hasTile(exp board) bool {
	for ; b != 0; b >>= 4 {
		if b&15 >= exp {
			return true
		}
	}
	return false
}

// slide returns the board after a move: L, R, U or D. It moves the tiles of each line towards the wall, and merges pairs of equal tiles,
// beginning at the wall. A merged tile does not merge again.
func (r *rules) slide(b board, move byte) (after board) {
	for _, line := range r.lines[move] {
		numMoved, mergeable := 0, board(0) // the number of tiles at the wall, and the last of them; 0 if it must not merge
		for _, cell := range line {
			tile := b.exponentAt(cell)
			if tile == 0 {
				continue
			}
			if tile == mergeable {
				after += 1 << (4 * line[numMoved-1]) // the exponent grows by 1
				mergeable = 0
				continue
			}
			after |= tile << (4 * line[numMoved])
			numMoved++
			mergeable = tile
		}
	}
	return after
}

// imagesOf returns all images of a board, in the order of r.images.
func (r *rules) imagesOf(b board) (images [8]board) {
	for i := range r.cells {
		if tile := b.exponentAt(i); tile != 0 {
			for symmetry, imageCell := range r.images {
				images[symmetry] |= tile << (4 * imageCell[i])
			}
		}
	}
	return images
}

// leastImageWithTile returns the least image of a board with one more tile in an empty cell, given the images of the board.
func (r *rules) leastImageWithTile(images *[8]board, cell int, exponent board) board {
	least := ^board(0)
	for symmetry, imageCell := range r.images {
		least = min(least, images[symmetry]|exponent<<(4*imageCell[cell]))
	}
	return least
}

// leastImage returns the least image of a board.
func (r *rules) leastImage(b board) board {
	images := r.imagesOf(b)
	return slices.Min(images[:len(r.images)])
}
