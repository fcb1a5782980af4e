package external

import (
	"fmt"

	"tilecheck/native/space/disk"
)

// blocksPerStretch is the least number of blocks of a stretch of a large space. If each stretch had a single block, passes would not use values of the same
// pass, and more passes would be needed.
const blocksPerStretch = 4

// extraBytes is the memory that a block takes beside its values and transitions.
type extraBytes struct{ perState, perChoice int64 }

// partition divides the chunks into at least minBlocks blocks, if there are as many chunks, each of which needs at most memory bytes while it is solved. It
// returns the index of the first chunk of each block.
func partition(columns *disk.Columns, memory int64, minBlocks int, extra extraBytes) ([]int, error) {
	var firstChunks []int
	block := growingBlock{extra: extra}
	maxStates := columns.States/int64(minBlocks) + 1
	for chunk := range columns.Chunks {
		if len(firstChunks) > 0 {
			grown, err := block.withChunk(columns, chunk)
			if err != nil {
				return nil, err
			}
			if grown.bytes() <= memory && grown.states.End-grown.states.First <= maxStates {
				block = grown
				continue
			}
		}
		firstChunks = append(firstChunks, chunk)
		var err error
		if block, err = newBlock(columns, chunk, memory, extra); err != nil {
			return nil, err
		}
	}
	return firstChunks, nil
}

// newBlock returns a block with a single chunk. It is an error if this block needs more than memory bytes.
func newBlock(columns *disk.Columns, chunk int, memory int64, extra extraBytes) (growingBlock, error) {
	header := &columns.Chunks[chunk]
	empty := growingBlock{states: disk.Range{First: header.First, End: header.First}, extra: extra}
	block, err := empty.withChunk(columns, chunk)
	if need := block.bytes(); err == nil && need > memory {
		err = fmt.Errorf("%d states and the values of their successors need %d bytes, and %d are available for them: want more --memory", header.States, need, memory)
	}
	return block, err
}

// growingBlock is a block to which partition adds chunks.
type growingBlock struct {
	states   disk.Range
	targets  rangeUnion
	rowBytes int64 // the memory that the rows of the block take, and the extra bytes
	extra    extraBytes
}

// withChunk returns a copy of the block that also contains the given chunk, which must follow the last chunk of the block. The copy counts the memory that
// the rows, the values and the rewards of this chunk need.
func (block *growingBlock) withChunk(columns *disk.Columns, chunk int) (growingBlock, error) {
	header := &columns.Chunks[chunk]
	const hintBytes = 4 // solve.Block stores a range hint of 4 bytes for each operand
	grown := growingBlock{
		states:   disk.Range{First: block.states.First, End: header.First + header.States},
		targets:  block.targets.clone(),
		rowBytes: block.rowBytes + header.MemoryOf() + hintBytes*header.Operands + block.extra.perState*header.States + block.extra.perChoice*header.Choices,
		extra:    block.extra,
	}
	return grown, grown.targets.addTargets(columns, chunk)
}

// bytes returns the memory that the block takes when it is solved.
func (block *growingBlock) bytes() int64 {
	return block.rowBytes + block.targets.bytes(block.states)
}

// joinGap is the number of states up to which ranges of different chunks are joined.
const joinGap = 256

// rangeUnion is a union of ranges of states, in ascending order.
type rangeUnion struct {
	ranges    []disk.Range
	scratch   []disk.Range
	newRanges []disk.Range
}

// clone returns a copy.
func (union *rangeUnion) clone() rangeUnion {
	return rangeUnion{ranges: append([]disk.Range(nil), union.ranges...)}
}

// addTargets adds to the union the ranges of states to which transitions of a chunk lead. It merges the sorted lists of old and new ranges, and joins two
// ranges with a small gap between them, because each range costs memory.
func (union *rangeUnion) addTargets(columns *disk.Columns, chunk int) (err error) {
	if union.newRanges, err = columns.TargetRanges(union.newRanges[:0], chunk); err != nil {
		return err
	}
	merged := union.scratch[:0]
	old, added := union.ranges, union.newRanges
	for len(old) > 0 || len(added) > 0 {
		var next disk.Range
		isNextOld := len(added) == 0 || len(old) > 0 && old[0].First <= added[0].First
		if isNextOld {
			next, old = old[0], old[1:]
		} else {
			next, added = added[0], added[1:]
		}
		last := len(merged) - 1
		joinsLast := last >= 0 && next.First-merged[last].End <= joinGap
		if joinsLast {
			merged[last].End = max(merged[last].End, next.End)
			continue
		}
		merged = append(merged, next)
	}
	union.scratch, union.ranges = union.ranges, merged
	return nil
}

// rangesAround returns the ranges together with the range blockStates. Ranges that overlap blockStates are cut, so that blockStates stays whole.
func (union *rangeUnion) rangesAround(blockStates disk.Range) []disk.Range {
	var before, after []disk.Range
	for _, stateRange := range union.ranges {
		if stateRange.First < blockStates.First {
			before = append(before, disk.Range{First: stateRange.First, End: min(stateRange.End, blockStates.First)})
		}
		if stateRange.End > blockStates.End {
			after = append(after, disk.Range{First: max(stateRange.First, blockStates.End), End: stateRange.End})
		}
	}
	return append(append(before, blockStates), after...)
}

// bytes returns the memory in bytes for the values of all states that are in a range of the union or in blockStates, the states of the block itself.
func (union *rangeUnion) bytes(blockStates disk.Range) int64 {
	const bytesPerRange = 24 + 16 // the sizes of a solve.BlockRange and of a disk.Range
	total := 8 * (blockStates.End - blockStates.First)
	for _, stateRange := range union.ranges {
		before := max(min(stateRange.End, blockStates.First)-stateRange.First, 0)
		after := max(stateRange.End-max(stateRange.First, blockStates.End), 0)
		total += 8*(before+after) + bytesPerRange
	}
	return total
}
