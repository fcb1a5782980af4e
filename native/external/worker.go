package external

import (
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/disk"
)

// sweepsPerStep is the greatest number of sweeps over a block each time that it is in memory.
const sweepsPerStep = 3

// worker solves one block at a time. It keeps its buffers.
type worker struct {
	*solver
	change float64 // of the last block
	raised bool

	rows   disk.Rows
	block  solve.Block
	marks  []disk.Mark
	buffer []byte
}

// newWorker returns a worker whose buffers have the size of the greatest block, so that they need not grow.
func newWorker(s *solver) (*worker, error) {
	w := &worker{solver: s}
	w.block.Minimize, w.block.Rates = s.problem.Minimize, s.problem.Rates
	w.block.Stop = func() bool { return s.ctx.Err() != nil }
	w.block.Backwards = s.backwards()
	var states, operands, weights, values int64
	for i := range s.blocks {
		extent := &s.blocks[i]
		ranges, err := targetRanges(s.columns, extent)
		if err != nil {
			return nil, err
		}
		numValues := int64(0)
		for _, r := range ranges {
			numValues += r.End - r.First
		}
		numOperands, numWeights := int64(0), int64(0)
		for _, chunk := range s.columns.Chunks[extent.firstChunk:extent.endChunk] {
			numOperands, numWeights = numOperands+chunk.Operands, numWeights+chunk.Weights
		}
		states, values = max(states, extent.states.End-extent.states.First), max(values, numValues)
		operands, weights = max(operands, numOperands), max(weights, numWeights)
	}
	w.rows = disk.Rows{RowOf: make([]uint32, 0, states), Operands: make([]int64, 0, operands), Weights: make([]float64, 0, weights)}
	w.block.Values = make([]float64, 0, values)
	return w, nil
}

// solve reads a block, improves its bounds, and writes them to a new file.
func (w *worker) solve(block int) (name string, err error) {
	w.change, w.raised = 0, false
	if err := w.load(block); err != nil {
		return "", err
	}
	for range sweepsPerStep {
		if err := w.ctx.Err(); err != nil {
			return "", err
		}
		if w.sol.Phase == upperPhase {
			raised := w.block.SweepUpper()
			w.raised = w.raised || raised
			if !raised {
				break
			}
			continue
		}
		change := w.block.SweepLower()
		w.change = max(w.change, change)
		if change <= w.sol.Precision/4 {
			break
		}
	}
	if err := w.ctx.Err(); err != nil {
		return "", err
	}
	own := w.blocks[block].states
	for _, r := range w.block.Ranges {
		if r.First == own.First {
			return w.space.Directory.WriteValues(w.block.Values[r.Offset : r.Offset+r.Length])
		}
	}
	return "", nil
}

// load reads the rows of a block and the values of its states and of their targets.
func (w *worker) load(block int) error {
	extent := &w.blocks[block]
	ranges, err := targetRanges(w.columns, extent)
	if err != nil {
		return err
	}
	w.rows.Reserve(w.columns.Chunks[extent.firstChunk:extent.endChunk])
	for chunk := extent.firstChunk; chunk < extent.endChunk; chunk++ {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.buffer, err = w.columns.AppendRows(&w.rows, chunk, w.buffer); err != nil {
			return err
		}
	}
	w.block.First, w.block.RowOf, w.block.Operands, w.block.Weights = extent.states.First, w.rows.RowOf, w.rows.Operands, w.rows.Weights
	w.block.Prepare(w.columns.RelErr, w.columns.MinWeight, w.columns.MaxWeight)
	if err := w.removeKnown(extent.states); err != nil {
		return err
	}
	offset := int64(0)
	w.block.Ranges = w.block.Ranges[:0]
	for _, r := range ranges {
		w.block.Ranges = append(w.block.Ranges, solve.BlockRange{First: r.First, Length: r.End - r.First, Offset: offset})
		offset += r.End - r.First
	}
	w.block.Values = slices.Grow(w.block.Values[:0], int(offset))[:offset]
	for _, r := range w.block.Ranges {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.values(w.block.Values[r.Offset:r.Offset+r.Length], r.First, w.sol.Phase); err != nil {
			return err
		}
	}
	return nil
}

// removeKnown removes the rows of the states whose values the marks give.
func (w *worker) removeKnown(states disk.Range) error {
	file, err := w.open(w.sol.Marks)
	if err != nil {
		return err
	}
	if w.marks == nil {
		w.marks = make([]disk.Mark, 1<<16)
	}
	rows := w.block.RowOf
	for first := states.First; first < states.End; first += int64(len(w.marks)) {
		marks := w.marks[:min(int64(len(w.marks)), states.End-first)]
		if err := file.Marks(marks, first); err != nil {
			return err
		}
		for i, mark := range marks {
			if mark != disk.Unknown {
				rows[first-states.First+int64(i)] = solve.NoRow
			}
		}
	}
	return nil
}

// targetRanges returns the ranges of the states whose values a block needs, in ascending order. Its own states are one of them.
func targetRanges(columns *disk.Columns, extent *blockExtent) ([]disk.Range, error) {
	var union rangeUnion
	for chunk := extent.firstChunk; chunk < extent.endChunk; chunk++ {
		if err := union.addTargets(columns, chunk); err != nil {
			return nil, err
		}
	}
	return union.around(extent.states), nil
}
