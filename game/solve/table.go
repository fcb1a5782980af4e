package solve

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"tilecheck/game"
)

// Table is a solution: the values and best moves of all positions that a game can reach. It is immutable and safe for concurrent
// use.
type Table struct {
	*expander
	directory
	records []*record // by layer of the directory
	index   map[int]*record
	file    io.Closer // nil for a table in memory
}

// Problem returns the problem that the table solves.
func (t *Table) Problem() Problem { return t.problem }

// Rules returns the rules of the game.
func (t *Table) Rules() *game.Rules { return t.rules }

// Stats returns the sizes of the table and the value of the game.
func (t *Table) Stats() Stats {
	stats := Stats{Initial: t.initial, Positions: int64(t.positions), Afterstates: int64(t.afterstates)}
	for i := len(t.layers) - 1; i >= 0; i-- {
		if layer := t.layers[i]; layer.positions > 0 {
			stats.Layers = append(stats.Layers, Layer{int(layer.sum), int64(layer.positions), int64(layer.afterstates)})
		}
	}
	return stats
}

// Close releases the file. The table must not be used afterwards.
func (t *Table) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// Value returns the value of a board on which the player moves, and all best moves. Moves count as equally good if their values are the same float64.
// Symmetric moves always are; other moves of equal value can differ by rounding.
//
// A board with MAX has the value of a won game and no moves. For other boards ok is false if the game cannot reach the board, or if the file
// cannot be read.
func (t *Table) Value(board game.Board) (value float64, moves game.Moves, ok bool) {
	if t.won(board) {
		return t.wonValue(), 0, true
	}
	least, symmetry := t.rules.Canonical(board)
	record := t.index[t.sum(board)]
	if record == nil {
		return 0, 0, false
	}
	value, canonical, ok := record.find(uint64(least))
	if !ok {
		return 0, 0, false
	}
	for dir := game.Left; dir <= game.Down; dir++ {
		if canonical.Has(symmetry.Dir(dir)) {
			moves |= 1 << dir
		}
	}
	return value, moves, true
}

// Position is a canonical board with the player to move.
type Position struct {
	Board game.Board
	Value float64
	Best  game.Moves // empty when the game is lost
}

// Layer returns the positions of a sum of tiles, ordered by board. It returns an error if the file is not valid.
func (t *Table) Layer(sum int) ([]Position, error) {
	record := t.index[sum]
	if record == nil {
		return nil, nil
	}
	positions := make([]Position, 0, record.count)
	var buffer scratch
	err := record.readBlocks(0, int(record.blocks), &buffer, func(view *blockView, boards []uint64) error {
		for i, board := range boards {
			value, ok := view.value(i)
			if !ok {
				return errPalette
			}
			positions = append(positions, Position{game.Board(board), value, game.Moves(nibble(view.moves, i))})
		}
		return nil
	})
	slices.SortFunc(positions, func(left, right Position) int { return cmp.Compare(left.Board, right.Board) })
	return positions, err
}

// sum returns the sum of the tiles of a board.
func (t *Table) sum(board game.Board) int {
	sum := 0
	for ; board != 0; board >>= 4 {
		sum += game.Value(int(board & 15))
	}
	return sum
}

// MoveValue is a legal move with its value.
type MoveValue struct {
	Dir    game.Dir
	After  game.Board // the board before the new tile
	Reward float64    // immediate reward of the objective
	Value  float64    // Reward plus the discounted expected value afterwards
}

// Moves returns the values of the legal moves of a position, computed from the values of the positions after them. ok is false if the board has
// MAX, or if the value of a position is not available.
func (t *Table) Moves(board game.Board) ([]MoveValue, bool) {
	var next [4]game.Board
	legal, overflow := t.rules.Moved(board, &next)
	if overflow != 0 || t.won(board) {
		return nil, false
	}
	rewards := t.rewards(board)
	var values []MoveValue
	for index := range legal.Len() {
		dir := legal.At(index)
		move := MoveValue{Dir: dir, After: next[dir], Reward: rewards[dir/2]}
		value, ok := t.afterValue(next[dir])
		if !ok {
			return nil, false
		}
		move.Value = move.Reward + float64(t.problem.Discount*value)
		values = append(values, move)
	}
	return values, true
}

// afterValue computes the value of an afterstate in the same way as the solver.
func (t *Table) afterValue(afterstate game.Board) (float64, bool) {
	if t.won(afterstate) {
		return t.wonValue(), true
	}
	canonical := t.orbit.leastImage(uint64(afterstate))
	var next nextValues
	for i := range next {
		values := &next[i][0]
		values.reset(game.MaxCells)
		next[i][1] = *values
		if !t.canSpawn(i + 1) {
			continue
		}
		for _, board := range t.spawn(nil, canonical, i+1, t.cells) {
			if _, isKnown := values.get(board); isKnown {
				continue
			}
			value, _, ok := t.Value(game.Board(board))
			if !ok {
				return 0, false
			}
			values.add(board, value)
		}
	}
	value, err := t.spawned(canonical, &next)
	return value, err == nil
}

// Open opens a file that SolveFile wrote, and verifies all its checksums, which takes as long as reading it.
//
// If the system supports it, the file is mapped into memory. It must not be changed while the table is open.
func Open(path string) (*Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := openFile(file)
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", path, err)
	}
	return opened, nil
}

// openFile reads a table from a file. It closes the file if there is an error.
func openFile(file *os.File) (*Table, error) {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoTable
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	src, closer, err := mapFile(file, info.Size())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	opened, err := newTable(src, info.Size())
	if err == nil {
		err = opened.verify()
	}
	if err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	opened.file = closer
	return opened, nil
}

// subSource is a section of another source.
type subSource struct {
	source
	base int64
}

func (p subSource) view(off, n int64, buf []byte) ([]byte, error) {
	return p.source.view(p.base+off, n, buf)
}

// newTable reads the header, the directory and the indices of a table, but no boards.
func newTable(src source, size int64) (*Table, error) {
	head, err := src.view(0, min(fileHeaderSize, size), nil)
	if err != nil {
		return nil, err
	}
	problem, err := parseFileHeader(head)
	if err != nil {
		return nil, err
	}
	if size < fileHeaderSize+footerSize {
		return nil, errors.New("the table is truncated")
	}
	foot, err := src.view(size-footerSize, footerSize, nil)
	if err != nil {
		return nil, err
	}
	offset, length, err := parseFooter(foot)
	if err != nil {
		return nil, err
	}
	if offset > math.MaxInt64 || length > math.MaxInt64 || int64(offset) < fileHeaderSize || size-footerSize-int64(offset) != int64(length) {
		return nil, fmt.Errorf("the directory is at %d and has %d bytes, want it to end at %d", offset, length, size-footerSize)
	}
	data, err := src.view(int64(offset), int64(length), nil)
	if err != nil {
		return nil, err
	}
	contents, err := parseDirectory(data)
	if err != nil {
		return nil, err
	}
	moves, err := newExpander(problem)
	if err != nil {
		return nil, err
	}
	opened := &Table{expander: moves, directory: contents, index: make(map[int]*record)}
	return opened, opened.openLayers(src, offset)
}

// openLayers opens the records of the directory, which must fill the file from its header to end.
func (t *Table) openLayers(src source, end uint64) error {
	offset := uint64(fileHeaderSize)
	for _, entry := range t.layers {
		if entry.offset != offset || entry.size > end-offset {
			return fmt.Errorf("layer %d is at %d and has %d bytes, want it at %d and to end by %d", entry.sum, entry.offset, entry.size, offset, end)
		}
		offset += entry.size
		opened, err := openRecord(subSource{src, int64(entry.offset)})
		if err != nil {
			return fmt.Errorf("layer %d: %w", entry.sum, err)
		}
		if opened.sum != entry.sum || opened.count != entry.positions || headerSize+opened.size != entry.size || opened.kind != valuedBoards {
			return fmt.Errorf("layer %d of %d boards is layer %d of %d boards in the directory", opened.sum, opened.count, entry.sum, entry.positions)
		}
		opened.order = t.order()
		t.records = append(t.records, opened)
		t.index[int(entry.sum)] = opened
	}
	if offset != end {
		return fmt.Errorf("the layers end at %d, want %d", offset, end)
	}
	return nil
}

// verify checks the contents of the layers.
func (t *Table) verify() error {
	for _, record := range t.records {
		if err := record.verify(); err != nil {
			return err
		}
	}
	return nil
}
