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
	raised bool    // a sweep raised an upper bound, or a step changed a bound

	rows   disk.Rows
	block  solve.Block
	buffer []byte
}

// newWorker returns a worker whose buffers are large enough for every block.
func newWorker(parent *solver) (*worker, error) {
	created := &worker{solver: parent}
	created.block.Minimize, created.block.Rates = parent.problem.Minimize, parent.problem.Rates
	created.block.IsOneStep = parent.problem.StepBounded
	created.block.ShouldStop = func() bool { return parent.ctx.Err() != nil }
	created.block.Backwards = parent.backwards()
	var greatest blockSize
	for i := range parent.blocks {
		size, err := sizeOf(parent.columns, &parent.blocks[i])
		if err != nil {
			return nil, err
		}
		greatest.states, greatest.values = max(greatest.states, size.states), max(greatest.values, size.values)
		greatest.operands, greatest.weights = max(greatest.operands, size.operands), max(greatest.weights, size.weights)
	}
	created.rows = disk.Rows{
		RowOf: make([]uint32, 0, greatest.states), Operands: make([]int64, 0, greatest.operands), Weights: make([]float64, 0, greatest.weights),
	}
	created.block.Values = make([]float64, 0, greatest.values)
	return created, nil
}

// blockSize says how many entries the buffers need for a block. values is the number of states whose values the block needs.
type blockSize struct{ states, operands, weights, values int64 }

// sizeOf returns how many states, values, operands and weights a worker must hold for a block.
func sizeOf(columns *disk.Columns, extent *blockExtent) (blockSize, error) {
	size := blockSize{states: extent.states.End - extent.states.First}
	ranges, err := targetRanges(columns, extent)
	if err != nil {
		return size, err
	}
	for _, r := range ranges {
		size.values += r.End - r.First
	}
	for _, chunk := range columns.Chunks[extent.firstChunk:extent.endChunk] {
		size.operands += chunk.Operands
		size.weights += chunk.Weights
	}
	return size, nil
}

// solve reads a block, improves the bounds of its states by sweeps, and writes them to a new file. It returns the name of the file.
func (worker *worker) solve(block int) (name string, err error) {
	worker.change, worker.raised = 0, false
	if err := worker.load(block); err != nil {
		return "", err
	}
	canImprove := true
	for sweep := 0; sweep < sweepsPerStep && canImprove; sweep++ {
		if err := worker.ctx.Err(); err != nil {
			return "", err
		}
		canImprove = worker.sweep()
	}
	if err := worker.ctx.Err(); err != nil { // the last sweep may have stopped early
		return "", err
	}
	own := worker.blocks[block].states
	for _, r := range worker.block.Ranges { // one of the ranges is the states of the block
		if r.First == own.First {
			return worker.space.Directory.WriteValues(worker.block.Values[r.Offset : r.Offset+r.Length])
		}
	}
	return "", nil
}

// sweep applies the equations to all states of the block once; with a step bound, it takes one step. It reports whether another sweep may improve the bounds
// considerably.
func (worker *worker) sweep() bool {
	if worker.problem.StepBounded {
		worker.raised = worker.block.TakeStep(worker.sol.Phase == upperPhase)
		return false
	}
	if worker.sol.Phase == upperPhase {
		raised := worker.block.SweepUpper()
		worker.raised = worker.raised || raised
		return raised
	}
	change := worker.block.SweepLower()
	worker.change = max(worker.change, change)
	return change > worker.sol.Precision/4
}

// load reads the rows of a block, and the values of its states and of the states that its transitions lead to.
func (worker *worker) load(block int) error {
	extent := &worker.blocks[block]
	ranges, err := targetRanges(worker.columns, extent)
	if err != nil {
		return err
	}
	if err := worker.loadRows(extent); err != nil {
		return err
	}
	if err := worker.removeMarked(extent.states); err != nil {
		return err
	}
	return worker.loadValues(ranges)
}

// loadRows reads the rows of a block.
func (worker *worker) loadRows(extent *blockExtent) error {
	worker.rows.Reserve(worker.columns.Chunks[extent.firstChunk:extent.endChunk])
	for chunk := extent.firstChunk; chunk < extent.endChunk; chunk++ {
		if err := worker.ctx.Err(); err != nil {
			return err
		}
		var err error
		if worker.buffer, err = worker.columns.AppendRows(&worker.rows, chunk, worker.buffer); err != nil {
			return err
		}
	}
	worker.block.First, worker.block.RowStart = extent.states.First, worker.rows.RowOf
	worker.block.Operands, worker.block.Weights = worker.rows.Operands, worker.rows.Weights
	worker.block.Prepare(worker.columns.RelErr, worker.columns.MinWeight, worker.columns.MaxWeight)
	return nil
}

// loadValues reads the values of some ranges of states.
func (worker *worker) loadValues(ranges []disk.Range) error {
	offset := int64(0)
	worker.block.Ranges = worker.block.Ranges[:0]
	for _, r := range ranges {
		worker.block.Ranges = append(worker.block.Ranges, solve.BlockRange{First: r.First, Length: r.End - r.First, Offset: offset})
		offset += r.End - r.First
	}
	worker.block.Values = slices.Grow(worker.block.Values[:0], int(offset))[:offset]
	for _, r := range worker.block.Ranges {
		if err := worker.ctx.Err(); err != nil {
			return err
		}
		if err := worker.values(worker.block.Values[r.Offset:r.Offset+r.Length], r.First, worker.sol.Phase); err != nil {
			return err
		}
	}
	return nil
}

// removeMarked removes the rows of the states whose values the marks determine, so that sweeps do not change these values.
func (worker *worker) removeMarked(states disk.Range) error {
	return worker.readMarks(states, func(state int64, mark disk.Mark) {
		if mark != disk.Unknown {
			worker.block.RowStart[state-states.First] = solve.NoRow
		}
	})
}

// targetRanges returns the ranges of states whose values a block needs, in ascending order: the states of the block, as one range, and the
// targets of its transitions.
func targetRanges(columns *disk.Columns, extent *blockExtent) ([]disk.Range, error) {
	var union rangeUnion
	for chunk := extent.firstChunk; chunk < extent.endChunk; chunk++ {
		if err := union.addTargets(columns, chunk); err != nil {
			return nil, err
		}
	}
	return union.around(extent.states), nil
}
