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
	s := Stats{Initial: t.initial, Positions: int64(t.positions), Afterstates: int64(t.afterstates)}
	for i := len(t.layers) - 1; i >= 0; i-- {
		if l := t.layers[i]; l.positions > 0 {
			s.Layers = append(s.Layers, Layer{int(l.sum), int64(l.positions), int64(l.afterstates)})
		}
	}
	return s
}

// Close releases the file. The table must not be used afterwards.
func (t *Table) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// Value returns the value of a board with the player to move, and all moves with that value. It finds them on the canonical board and maps them
// back. Moves count as equally good if their values are the same float64. This always holds for symmetric moves; other moves of equal value can
// differ by rounding.
//
// A board with MAX has the value of a won game and no moves. For other boards ok is false if the game cannot reach the board, or if the file
// cannot be read.
func (t *Table) Value(board game.Board) (v float64, moves game.Moves, ok bool) {
	if t.won(board) {
		return t.wonValue(), 0, true
	}
	least, by := t.rules.Canonical(board)
	r := t.index[t.sum(board)]
	if r == nil {
		return 0, 0, false
	}
	v, canonical, ok := r.find(uint64(least))
	if !ok {
		return 0, 0, false
	}
	for d := game.Left; d <= game.Down; d++ {
		if canonical.Has(by.Dir(d)) {
			moves |= 1 << d
		}
	}
	return v, moves, true
}

// Position is a canonical board with the player to move.
type Position struct {
	Board game.Board
	Value float64
	Best  game.Moves // empty when the game is lost
}

// Layer returns the positions of a sum of tiles, ordered by board. It returns an error if the file is not valid.
func (t *Table) Layer(sum int) ([]Position, error) {
	r := t.index[sum]
	if r == nil {
		return nil, nil
	}
	all := make([]Position, 0, r.count)
	var s scratch
	err := r.readBlocks(0, int(r.blocks), &s, func(v *blockView, boards []uint64) error {
		for i, b := range boards {
			value, ok := v.value(i)
			if !ok {
				return errPalette
			}
			all = append(all, Position{game.Board(b), value, game.Moves(nibble(v.moves, i))})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Position) int { return cmp.Compare(a.Board, b.Board) })
	return all, err
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
	var all []MoveValue
	for n := range legal.Len() {
		d := legal.At(n)
		m := MoveValue{Dir: d, After: next[d], Reward: rewards[d/2]}
		value, ok := t.afterValue(next[d])
		if !ok {
			return nil, false
		}
		m.Value = m.Reward + float64(t.problem.Discount*value)
		all = append(all, m)
	}
	return all, true
}

// afterValue computes the value of an afterstate in the same way as the solver.
func (t *Table) afterValue(after game.Board) (float64, bool) {
	if t.won(after) {
		return t.wonValue(), true
	}
	canonical := t.orbit.leastImage(uint64(after))
	var next nextValues
	for i := range next {
		known := &next[i][0]
		known.reset(game.MaxCells)
		next[i][1] = *known
		if !t.canSpawn(i + 1) {
			continue
		}
		for _, b := range t.spawn(nil, canonical, i+1, t.cells) {
			if _, again := known.get(b); again {
				continue
			}
			value, _, ok := t.Value(game.Board(b))
			if !ok {
				return 0, false
			}
			known.add(b, value)
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
	t, err := openFile(file)
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", path, err)
	}
	return t, nil
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
	t, err := newTable(src, info.Size())
	if err == nil {
		err = t.verify()
	}
	if err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	t.file = closer
	return t, nil
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
	d, err := parseDirectory(data)
	if err != nil {
		return nil, err
	}
	e, err := newExpander(problem)
	if err != nil {
		return nil, err
	}
	t := &Table{expander: e, directory: d, index: make(map[int]*record)}
	return t, t.openLayers(src, offset)
}

// openLayers opens the records of the directory, which must fill the file from its header to end.
func (t *Table) openLayers(src source, end uint64) error {
	at := uint64(fileHeaderSize)
	for _, l := range t.layers {
		if l.offset != at || l.size > end-at {
			return fmt.Errorf("layer %d is at %d and has %d bytes, want it at %d and to end by %d", l.sum, l.offset, l.size, at, end)
		}
		at += l.size
		r, err := openRecord(subSource{src, int64(l.offset)})
		if err != nil {
			return fmt.Errorf("layer %d: %w", l.sum, err)
		}
		if r.sum != l.sum || r.count != l.positions || headerSize+r.size != l.size || r.kind != valuedBoards {
			return fmt.Errorf("layer %d of %d boards is layer %d of %d boards in the directory", r.sum, r.count, l.sum, l.positions)
		}
		r.order = t.order()
		t.records = append(t.records, r)
		t.index[int(l.sum)] = r
	}
	if at != end {
		return fmt.Errorf("the layers end at %d, want %d", at, end)
	}
	return nil
}

// verify checks the contents of the layers.
func (t *Table) verify() error {
	for _, r := range t.records {
		if err := r.verify(); err != nil {
			return err
		}
	}
	return nil
}
