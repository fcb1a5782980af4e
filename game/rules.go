package game

import (
	"errors"
	"math/bits"
)

// ErrOverflow is returned by a move that merges two tiles of 2^15 = 32768: their sum does not fit a cell.
var ErrOverflow = errors.New("merge of two 32768 tiles does not fit a cell")

// Rules are the rules of 2048 on boards of one shape. They do not change once made, and may be shared by goroutines.
// The boards passed to the methods must be of that shape.
type Rules struct {
	shape       Shape
	rows, cols  slider
	quad        *quad // 4x4 only
	nine        *nine // 3x3 only
	isPublished bool  // the updates have the faults of SlidePublished

	cells       uint64 // flags of the cells in the shape
	hasRight    uint64 // flags of the cells with a right neighbour
	hasBelow    uint64 // flags of the cells with a neighbour below
	bitsToBelow int    // bits from a cell to the one below it

	flipH, flipV reflection
	transpose    reflection // square shapes only
}

// New returns the rules for a shape. The error is that of shape.Validate.
//
// For lines of four cells it builds tables of up to 1.4 megabytes, in a few milliseconds: do it once.
func New(shape Shape) (*Rules, error) {
	r, err := newRules(shape, slideToStart)
	if err != nil {
		return nil, err
	}
	switch shape {
	case Shape{4, 4}:
		r.quad = newQuad(&r.rows)
	case Shape{3, 3}:
		r.nine = newNine(&r.rows)
	}
	return r, nil
}

// NewPublished returns rules whose moves have the faults of [SlidePublished]. Legal moves and new tiles are the same as for [New]: a legal move
// changes the board, but an illegal one may change it, too, and the sum of the tiles may become less.
//
// A move that doubles a tile of 2^15 is ErrOverflow, but on boards with one such tile it does as if nothing could move: games have to end before.
func NewPublished(shape Shape) (*Rules, error) {
	r, err := newRules(shape, publishedToStart)
	if err != nil {
		return nil, err
	}
	r.isPublished = true
	return r, nil
}

// newRules returns rules without the tables that are for one shape.
func newRules(shape Shape, line lineSlide) (*Rules, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	rows, cols := shape.Rows, shape.Cols
	r := &Rules{shape: shape, bitsToBelow: 4 * cols, rows: newSlider(rows, cols, line)}
	r.cols = r.rows
	if rows != cols {
		r.cols = newSlider(cols, rows, line)
	}
	r.setFlags()
	r.flipH = newReflection(shape, func(row, col int) int { return row*cols + cols - 1 - col })
	r.flipV = newReflection(shape, func(row, col int) int { return (rows-1-row)*cols + col })
	if rows == cols {
		r.transpose = newReflection(shape, func(row, col int) int { return col*rows + row })
	}
	return r, nil
}

func (r *Rules) setFlags() {
	for i := range r.shape.Cells() {
		flag := uint64(1) << (4 * i)
		r.cells |= flag
		if i%r.shape.Cols < r.shape.Cols-1 {
			r.hasRight |= flag
		}
		if i/r.shape.Cols < r.shape.Rows-1 {
			r.hasBelow |= flag
		}
	}
}

// Shape returns the shape the rules are for.
func (r *Rules) Shape() Shape { return r.shape }

// Move slides all tiles in a direction. It returns the board after the move, and the score: the sum of the values of the merged tiles. It adds no new
// tile. The move is illegal exactly when next == board and err is nil. Move panics when dir is none of the four directions.
//
// A merge of two tiles of 2^15 returns the board, 0 and ErrOverflow. By the rules that move is legal, and Legal says so.
//
// Source: thesis section 3.1; Slide is the same on one line.
func (r *Rules) Move(board Board, dir Dir) (moved Board, score int, err error) {
	if dir >= numDirs || manyLargest(board) {
		return r.moveAny(board, dir)
	}
	var cells uint64
	switch {
	case r.quad != nil:
		cells, score = r.quad.move(uint64(board), dir)
	case r.nine != nil:
		cells, score = r.nine.move(uint64(board), dir)
	default:
		return r.moveAny(board, dir)
	}
	return Board(cells), score, nil
}

// moveAny is Move on boards of any shape.
func (r *Rules) moveAny(board Board, dir Dir) (moved Board, score int, err error) {
	checkRange("direction", int(dir), numDirs)
	vertical := dir == Up || dir == Down
	lines, x := &r.rows, uint64(board)
	if vertical {
		lines, x = &r.cols, r.transposed(x)
	}
	s := lines.slide(x)
	if s.overflow {
		return board, 0, ErrOverflow
	}
	x = s.start
	if dir == Right || dir == Down {
		x = s.end
	}
	if vertical {
		x = r.untransposed(x)
	}
	return Board(x), s.score, nil
}

// Legal returns the directions that change the board: some tile has an empty cell or an equal tile next to it on that side.
// The set is empty for an empty board and for one that is lost.
//
// Source: thesis section 3.5, movable and mergeable.
func (r *Rules) Legal(board Board) Moves {
	tiles := filled(board)
	empty := r.cells &^ tiles
	// Flags are for the left (upper) cell of each pair of neighbours.
	equalH := ^filled(board^board>>4) & tiles & r.hasRight
	equalV := ^filled(board^board>>r.bitsToBelow) & tiles & r.hasBelow
	leftCells, rightCells := empty&(tiles>>4)&r.hasRight, tiles&(empty>>4)&r.hasRight
	upCells, downCells := empty&(tiles>>r.bitsToBelow)&r.hasBelow, tiles&(empty>>r.bitsToBelow)&r.hasBelow
	return flag(leftCells|equalH != 0)<<Left | flag(rightCells|equalH != 0)<<Right | flag(upCells|equalV != 0)<<Up | flag(downCells|equalV != 0)<<Down
}

// Lost reports whether the board is full and no move is legal.
//
// Source: thesis section 3.6, the fail condition.
func (r *Rules) Lost(board Board) bool { return filled(board) == r.cells && r.Legal(board) == 0 }

// NumEmptyCells returns the number of empty cells.
func (r *Rules) NumEmptyCells(board Board) int { return bits.OnesCount64(r.cells &^ filled(board)) }
