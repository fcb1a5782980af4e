package external

import (
	"fmt"

	"tilecheck/native/space/disk"
)

// minBlocks is the least number of blocks of a large space, so that there is work for several processors.
const minBlocks = 4

// partition divides the chunks into blocks, each of which takes at most memory bytes when it is solved. It returns the first chunk of each
// block.
func partition(columns *disk.Columns, memory int64) ([]int, error) {
	var firstChunks []int
	var block growingBlock
	maxStates := columns.States/minBlocks + 1
	for chunk := range columns.Chunks {
		if len(firstChunks) > 0 {
			grown, err := block.with(columns, chunk)
			if err != nil {
				return nil, err
			}
			if grown.bytes() <= memory && grown.states.End-grown.states.First <= maxStates {
				block = grown
				continue
			}
		}
		firstChunks = append(firstChunks, chunk)
		header := &columns.Chunks[chunk]
		empty := growingBlock{states: disk.Range{First: header.First, End: header.First}}
		var err error
		block, err = empty.with(columns, chunk)
		if err != nil {
			return nil, err
		}
		if need := block.bytes(); need > memory {
			return nil, fmt.Errorf("%d states and the values of their successors need %d bytes, and %d are available for them: want more --memory", header.States, need, memory)
		}
	}
	return firstChunks, nil
}

// growingBlock is a block to which partition adds chunks.
type growingBlock struct {
	states   disk.Range
	targets  rangeUnion
	rowBytes int64 // the memory that the rows of the block take
}

// with returns the block with one more chunk, which follows its states.
func (block *growingBlock) with(columns *disk.Columns, chunk int) (growingBlock, error) {
	header := &columns.Chunks[chunk]
	const hintBytes = 4 // of each operand
	grown := growingBlock{
		states:   disk.Range{First: block.states.First, End: header.First + header.States},
		targets:  block.targets.clone(),
		rowBytes: block.rowBytes + header.MemoryOf() + hintBytes*header.Operands,
	}
	return grown, grown.targets.addTargets(columns, chunk)
}

// bytes returns the memory that the block takes when it is solved.
func (block *growingBlock) bytes() int64 { return block.rowBytes + block.targets.bytes(block.states) }

// joinGap is the number of states up to which ranges of different chunks are joined.
const joinGap = 256

// rangeUnion is a union of ranges of states, in ascending order.
type rangeUnion struct {
	ranges  []disk.Range
	scratch []disk.Range
	added   []disk.Range
}

// clone returns a copy.
func (u *rangeUnion) clone() rangeUnion {
	return rangeUnion{ranges: append([]disk.Range(nil), u.ranges...)}
}

// addTargets adds the targets of a chunk.
func (u *rangeUnion) addTargets(columns *disk.Columns, chunk int) (err error) {
	if u.added, err = columns.TargetRanges(u.added[:0], chunk); err != nil {
		return err
	}
	merged := u.scratch[:0]
	a, b := u.ranges, u.added
	for len(a) > 0 || len(b) > 0 {
		var next disk.Range
		isNextInA := len(b) == 0 || len(a) > 0 && a[0].First <= b[0].First
		if isNextInA {
			next, a = a[0], a[1:]
		} else {
			next, b = b[0], b[1:]
		}
		if n := len(merged); n > 0 && next.First-merged[n-1].End <= joinGap {
			merged[n-1].End = max(merged[n-1].End, next.End)
			continue
		}
		merged = append(merged, next)
	}
	u.scratch, u.ranges = u.ranges, merged
	return nil
}

// around returns the ranges with the given one as one of them, which replaces all parts of others in it.
func (u *rangeUnion) around(own disk.Range) []disk.Range {
	var out []disk.Range
	i := 0
	for ; i < len(u.ranges) && u.ranges[i].First < own.First; i++ {
		out = append(out, disk.Range{First: u.ranges[i].First, End: min(u.ranges[i].End, own.First)})
	}
	out = append(out, own)
	if i > 0 && u.ranges[i-1].End > own.End {
		out = append(out, disk.Range{First: own.End, End: u.ranges[i-1].End})
	}
	for ; i < len(u.ranges); i++ {
		if r := (disk.Range{First: max(u.ranges[i].First, own.End), End: u.ranges[i].End}); r.First < r.End {
			out = append(out, r)
		}
	}
	return out
}

// bytes returns the number of bytes of the values of the ranges and of the given states.
func (u *rangeUnion) bytes(own disk.Range) int64 {
	const bytesPerRange = 24 + 16 // of a solve.BlockRange and a disk.Range
	total := 8 * (own.End - own.First)
	for _, r := range u.ranges {
		before := max(min(r.End, own.First)-r.First, 0)
		after := max(r.End-max(r.First, own.End), 0)
		total += 8*(before+after) + bytesPerRange
	}
	return total
}
