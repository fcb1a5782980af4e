// Package ntuple has n-tuple networks, which value boards of 2048, the format of their files, and their training.
//
// A network has tables of weights. A tuple is a list of cells; the tiles in these cells select one weight of the table of the tuple. The value of a
// board is the sum of the selected weights over all tuples and all symmetric images of the board.
//
// Source: Szubert and Jaśkowski, Temporal Difference Learning of N-Tuple Networks for the Game 2048 (CIG 2014).
package ntuple

import (
	"errors"
	"fmt"
	"slices"

	"tilecheck/game"
)

// Limits of networks, which bound the memory that a file can ask for.
const (
	MaxWeights    = 1 << 26 // of all tuples, 4 bytes each
	MaxTuples     = 64
	MaxTupleCells = 8
)

// Network is an n-tuple network. It may be shared by goroutines unless it is trained.
type Network struct {
	shape     game.Shape
	rules     *game.Rules
	numValues int       // number of tiles that it knows, with the empty cell: exponents 0 to values-1
	tuples    [][]int   // cells, row-major
	images    [][]image // of each tuple, one for each symmetry
	// weights has a table for each tuple. The weight of exponents e0, e1, ... in the cells of the tuple is at e0 + values e1 + values^2 e2 ...
	weights [][]float32
	note    string
}

// image is a tuple under a symmetry: the places of its cells in a Board, in bits.
type image []uint8

// New returns a network whose weights are 0. largest is the exponent of the largest tile that it knows.
func New(shape game.Shape, largest int, tuples [][]int) (*Network, error) {
	rules, err := game.New(shape)
	if err != nil {
		return nil, err
	}
	network := &Network{shape: shape, rules: rules, numValues: largest + 1, tuples: tuples}
	switch {
	case largest < 1 || largest > game.MaxExponent:
		return nil, fmt.Errorf("the largest tile is 2^%d, want 2 to %d", largest, game.Value(game.MaxExponent))
	case len(tuples) == 0 || len(tuples) > MaxTuples:
		return nil, fmt.Errorf("%d tuples, want 1 to %d", len(tuples), MaxTuples)
	}
	total := 0
	for _, tuple := range tuples {
		if err := network.checkTuple(tuple); err != nil {
			return nil, err
		}
		size := 1
		for range tuple {
			size *= network.numValues
			if total+size > MaxWeights {
				return nil, fmt.Errorf("more than %d weights, want fewer tuples, cells or tiles", MaxWeights)
			}
		}
		total += size
		network.weights = append(network.weights, make([]float32, size))
		network.images = append(network.images, network.imagesOf(tuple))
	}
	return network, nil
}

// checkTuple returns an error if a tuple has too few or too many cells, an invalid cell, or a cell twice.
func (n *Network) checkTuple(tuple []int) error {
	if len(tuple) == 0 || len(tuple) > MaxTupleCells {
		return fmt.Errorf("tuple %v has %d cells, want 1 to %d", tuple, len(tuple), MaxTupleCells)
	}
	for i, cell := range tuple {
		if cell < 0 || cell >= n.shape.Cells() {
			return fmt.Errorf("tuple %v has cell %d, want 0 to %d", tuple, cell, n.shape.Cells()-1)
		}
		if slices.Contains(tuple[:i], cell) {
			return fmt.Errorf("tuple %v has cell %d twice, want it once", tuple, cell)
		}
	}
	return nil
}

// imagesOf returns the images of a tuple of cells under all symmetries of the board. An image has the bit position of each cell in a game.Board.
func (n *Network) imagesOf(tuple []int) []image {
	var images []image
	for symmetry := range game.Symmetry(n.rules.Symmetries()) {
		shifts := make(image, len(tuple))
		for i, cell := range tuple {
			moved := n.rules.Apply(symmetry, game.Board(0).With(cell, 1))
			for target := range n.shape.Cells() {
				if moved.Cell(target) == 1 {
					shifts[i] = uint8(4 * target)
				}
			}
		}
		images = append(images, shifts)
	}
	return images
}

// DefaultTuples returns the tuples of networks that are not told which: all rectangles of 2x3 cells on boards of up to 9 cells, otherwise all lines
// of at most four cells and all squares of 2x2, without those that are symmetric to others.
//
// Source: Szubert and Jaśkowski (lines and squares).
func DefaultTuples(shape game.Shape) [][]int {
	rules, err := game.New(shape)
	if err != nil {
		return nil
	}
	var tuples [][]int
	seenCells := map[game.Board]bool{}
	addRectangles := func(rows, cols int) {
		for row := 0; row+rows <= shape.Rows; row++ {
			for col := 0; col+cols <= shape.Cols; col++ {
				var tuple []int
				var cells game.Board
				for i := range rows * cols {
					cell := (row+i/cols)*shape.Cols + col + i%cols
					tuple, cells = append(tuple, cell), cells.With(cell, 1)
				}
				if leastImage, _ := rules.Canonical(cells); !seenCells[leastImage] {
					seenCells[leastImage] = true
					tuples = append(tuples, tuple)
				}
			}
		}
	}
	if shape.Cells() <= 9 {
		addRectangles(2, 3)
		addRectangles(3, 2)
	}
	if len(tuples) == 0 {
		addRectangles(1, min(4, shape.Cols))
		addRectangles(min(4, shape.Rows), 1)
		addRectangles(2, 2)
	}
	return tuples
}

// Shape returns the shape of the boards.
func (n *Network) Shape() game.Shape { return n.shape }

// Largest returns the exponent of the largest tile that the network knows. Boards with larger ones are downgraded.
func (n *Network) Largest() int { return n.numValues - 1 }

// Tuples returns the tuples.
func (n *Network) Tuples() [][]int { return n.tuples }

// Weights returns the number of weights.
func (n *Network) Weights() int {
	total := 0
	for _, w := range n.weights {
		total += len(w)
	}
	return total
}

// Note returns what the file says about the training, one line.
func (n *Network) Note() string { return n.note }

// Value returns the expected further score from a board after a move, before the new tile.
func (n *Network) Value(board game.Board) float64 {
	board = n.knownTiles(board)
	sum := 0.0
	for number, images := range n.images {
		weights := n.weights[number]
		for _, shifts := range images {
			sum += float64(weights[n.index(board, shifts)])
		}
	}
	return sum
}

// index returns the index of the weight that the tiles of b select.
func (n *Network) index(b game.Board, symmetricCells image) int {
	i := 0
	for k := len(symmetricCells) - 1; k >= 0; k-- {
		i = i*n.numValues + int(uint64(b)>>(symmetricCells[k]&63)&15)
	}
	return i
}

// knownTiles returns a board without tiles that the network does not know. It downgrades the board if that is possible. Otherwise it replaces each unknown
// tile by the largest known one.
func (n *Network) knownTiles(board game.Board) game.Board {
	if n.numValues > game.MaxExponent || !board.AtLeast(n.numValues) {
		return board
	}
	if lower, ok := (game.Wide{Low: board}).Downgraded(n.numValues - 1); ok {
		return lower
	}
	for cell := range n.shape.Cells() {
		board = board.With(cell, min(board.Cell(cell), n.numValues-1))
	}
	return board
}

// Best returns the first move of legal with the largest sum of its score and the value of the board after it, in the order of game.Dir. The error is
// game.ErrOverflow.
func (n *Network) Best(rules *game.Rules, board game.Board, legal game.Moves) (bestDir game.Dir, bestMoved game.Board, gain int, value float64, err error) {
	var moved [4]game.Board
	_, overflow := rules.Moved(board, &moved)
	if overflow != 0 {
		return 0, 0, 0, 0, game.ErrOverflow
	}
	horizontal, vertical := rules.Scores(board)
	isFound := false
	for i := range legal.Len() {
		dir := legal.At(i)
		score := horizontal
		if dir >= game.Up {
			score = vertical
		}
		if candidate := n.Value(moved[dir]); !isFound || float64(score)+candidate > float64(gain)+value {
			isFound, bestDir, bestMoved, gain, value = true, dir, moved[dir], score, candidate
		}
	}
	if !isFound {
		return 0, 0, 0, 0, errors.New("no legal move")
	}
	return bestDir, bestMoved, gain, value, nil
}
