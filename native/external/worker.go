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
	outcome outcome // of the blocks of a step

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
	var greatestSize blockSize
	for i := range parent.blocks {
		size, err := sizeOf(parent.columns, &parent.blocks[i])
		if err != nil {
			return nil, err
		}
		greatestSize.states, greatestSize.values = max(greatestSize.states, size.states), max(greatestSize.values, size.values)
		greatestSize.operands, greatestSize.weights = max(greatestSize.operands, size.operands), max(greatestSize.weights, size.weights)
	}
	created.rows = disk.Rows{
		RowOf: make([]uint32, 0, greatestSize.states), Operands: make([]int64, 0, greatestSize.operands), Weights: make([]float64, 0, greatestSize.weights),
	}
	created.block.Values = make([]float64, 0, greatestSize.values)
	return created, nil
}

// blockSize says how many entries the buffers need for a block. values is the number of states whose values the block needs.
type blockSize struct{ states, operands, weights, values int64 }

// sizeOf returns how many states, values, operands and weights a worker must store to solve a block. The values include those of the states outside of the
// block to which its transitions lead.
func sizeOf(columns *disk.Columns, extent *blockExtent) (blockSize, error) {
	size := blockSize{states: extent.states.End - extent.states.First}
	ranges, err := targetRanges(columns, extent)
	if err != nil {
		return size, err
	}
	for _, stateRange := range ranges {
		size.values += stateRange.End - stateRange.First
	}
	for _, chunk := range columns.Chunks[extent.firstChunk:extent.endChunk] {
		size.operands += chunk.Operands
		size.weights += chunk.Weights
	}
	return size, nil
}

// solveBlock reads a block, improves the bounds of its states by sweeps, and writes them to a new file of the given name.
func (worker *worker) solveBlock(block int, name string) error {
	if err := worker.loadBlock(block); err != nil {
		return err
	}
	canImprove := true
	for sweep := 0; sweep < sweepsPerStep && canImprove; sweep++ {
		if err := worker.ctx.Err(); err != nil {
			return err
		}
		canImprove = worker.sweepBlock()
	}
	if err := worker.ctx.Err(); err != nil { // the last sweep may have stopped early
		return err
	}
	blockStates := worker.blocks[block].states
	for _, blockRange := range worker.block.Ranges { // one of the ranges is the states of the block
		if blockRange.First == blockStates.First {
			return worker.space.Directory.WriteValues(name, worker.block.Values[blockRange.Offset:blockRange.Offset+blockRange.Length])
		}
	}
	return nil
}

// sweepBlock applies the equations to all states of the block once. It reports whether another sweep may improve the bounds considerably. With a step bound
// it takes one step and returns false.
func (worker *worker) sweepBlock() bool {
	if worker.problem.StepBounded {
		worker.outcome.Raised = worker.block.TakeStep(worker.solution.Phase == upperPhase) || worker.outcome.Raised
		return false
	}
	if worker.solution.Phase == upperPhase {
		raised := worker.block.SweepUpper()
		worker.outcome.Raised = worker.outcome.Raised || raised
		return raised
	}
	change := worker.block.SweepLower()
	worker.outcome.Change = max(worker.outcome.Change, change)
	return change > worker.solution.Precision/4
}

// loadBlock reads the rows of a block, and the values of its states and of the states that its transitions lead to.
func (worker *worker) loadBlock(block int) error {
	extent := &worker.blocks[block]
	ranges, err := targetRanges(worker.columns, extent)
	if err != nil {
		return err
	}
	if err := worker.loadRows(extent); err != nil {
		return err
	}
	if worker.problem.Reward != nil {
		if err := worker.loadRewards(extent); err != nil {
			return err
		}
	}
	if err := worker.removeMarked(extent.states); err != nil {
		return err
	}
	return worker.loadValues(ranges)
}

// loadRewards reads the rewards of the choices of a block. The rows of the block must be loaded, because they say how many choices each state has.
func (worker *worker) loadRewards(extent *blockExtent) error {
	first, last := &worker.columns.Chunks[extent.firstChunk], &worker.columns.Chunks[extent.endChunk-1]
	numChoices := last.FirstChoice + last.Choices - first.FirstChoice
	block := &worker.block
	block.Rewards = slices.Grow(block.Rewards[:0], int(numChoices))[:numChoices]
	block.FirstReward = block.FirstReward[:0]
	firstReward := uint32(0)
	for _, row := range block.RowStart {
		block.FirstReward = append(block.FirstReward, firstReward)
		firstReward += uint32(max(block.Operands[row], 1)) // a deadlock has no choice in its row, but one reward in the file
	}
	file, err := worker.openFile(worker.solution.Rewards)
	if err != nil {
		return err
	}
	return file.Values(block.Rewards, first.FirstChoice)
}

// loadRows reads the rows of the states of a block, and prepares the block for sweeps.
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
	worker.block.Prepare(max(worker.columns.RelErr, worker.solution.RewardRelErr), worker.columns.MinWeight, worker.columns.MaxWeight)
	return nil
}

// loadValues reads the values of some ranges of states.
func (worker *worker) loadValues(ranges []disk.Range) error {
	offset := int64(0)
	worker.block.Ranges = worker.block.Ranges[:0]
	for _, stateRange := range ranges {
		worker.block.Ranges = append(worker.block.Ranges, solve.BlockRange{First: stateRange.First, Length: stateRange.End - stateRange.First, Offset: offset})
		offset += stateRange.End - stateRange.First
	}
	worker.block.Values = slices.Grow(worker.block.Values[:0], int(offset))[:offset]
	for _, blockRange := range worker.block.Ranges {
		if err := worker.ctx.Err(); err != nil {
			return err
		}
		if err := worker.readValues(worker.block.Values[blockRange.Offset:blockRange.Offset+blockRange.Length], blockRange.First, worker.solution.Phase); err != nil {
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
	return union.rangesAround(extent.states), nil
}
