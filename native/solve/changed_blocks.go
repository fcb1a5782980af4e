package solve

import (
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// changedBlocks finds states whose bounds the next step does not change, because the last step has changed no value that they read. In many models
// a step changes only the states at certain distances from the target.
//
// A block has the open states among 1,024 states with successive numbers. The successors of these states are mostly in a few blocks.
type changedBlocks struct {
	// sources lists for each block the blocks of its successors, whose values it reads. It is nil for a block with too many of them, which is evaluated in each
	// step, and for a block without open states, which is never evaluated.
	sources [][]uint32
	// For each block: whether the last step changed one of its bounds, and whether the current step has changed one so far.
	changedBefore, changed []atomic.Bool
}

// stateBlockBits is the binary logarithm of the number of states of a block.
const stateBlockBits = 10

// newChangedBlocks returns the blocks of the given open states, all of which the first step evaluates. It returns nil if there are few steps or few states,
// because evaluating all states then takes little time.
func newChangedBlocks(graph *sparse.Graph, states []uint32, numSteps int) *changedBlocks {
	const minSteps, minStates = 64, 1 << 16
	if numSteps < minSteps || len(states) < minStates {
		return nil
	}
	numBlocks := (graph.NumStates()-1)>>stateBlockBits + 1
	blocks := &changedBlocks{
		sources: make([][]uint32, numBlocks), changedBefore: make([]atomic.Bool, numBlocks), changed: make([]atomic.Bool, numBlocks),
	}
	for i := range blocks.changed {
		blocks.changed[i].Store(true)
	}
	for len(states) > 0 {
		block, numMembers := firstBlock(states)
		blocks.sources[block] = sourceBlocks(graph, states[:numMembers])
		states = states[numMembers:]
	}
	return blocks
}

// firstBlock returns the block of the first of ascending states, and how many of the states are in it.
func firstBlock(states []uint32) (block, numMembers int) {
	first := states[0] >> stateBlockBits
	for numMembers < len(states) && states[numMembers]>>stateBlockBits == first {
		numMembers++
	}
	return int(first), numMembers
}

// sourceBlocks returns the blocks of all successors of the given states, or nil if these are more than 256.
func sourceBlocks(graph *sparse.Graph, states []uint32) []uint32 {
	const maxSources = 256
	sources := []uint32{}
	for _, state := range states {
		first, end := graph.Choices(int(state))
		for _, target := range graph.Target[graph.FirstTransition[first]:graph.FirstTransition[end]] {
			source := target >> stateBlockBits
			position, isKnown := slices.BinarySearch(sources, source)
			if isKnown {
				continue
			}
			if len(sources) == maxSources {
				return nil
			}
			sources = slices.Insert(sources, position, source)
		}
	}
	return sources
}

// beginStep begins a step, which has changed no block yet. It does nothing without blocks.
func (blocks *changedBlocks) beginStep() {
	if blocks == nil {
		return
	}
	blocks.changedBefore, blocks.changed = blocks.changed, blocks.changedBefore
	for i := range blocks.changed {
		blocks.changed[i].Store(false)
	}
}

// mayChange reports whether the last step changed a value that a block reads. If not, the current step does not change the bounds of the block.
func (blocks *changedBlocks) mayChange(block int) bool {
	sources := blocks.sources[block]
	return sources == nil || slices.ContainsFunc(sources, func(source uint32) bool { return blocks.changedBefore[source].Load() })
}
