package solve

import "math"

// Block has the equations for the probabilities or the expected rewards of consecutive states, in a form that stays small if many states have equal rows. The
// values of other states are given.
//
// It is for state spaces that are larger than memory, whose blocks are solved one after the other: see package native/external.
type Block struct {
	// First is the number of the first state. State First+i has the row at RowStart[i] of Operands; NoRow if its value is given.
	First    int64
	RowStart []uint32
	// A row has the number of choices, and for each choice the number of its transitions, the position of their weights in Weights, and for
	// each transition the number of its target minus the number of the state.
	Operands []int64
	Weights  []float64
	// Values has the values of the states of Ranges, one range after the other. One range is exactly the states of the block.
	Values []float64
	Ranges []BlockRange
	// Rewards has the reward of each choice, and one for a deadlock; nil if the values are probabilities. The rewards of state First+i begin at FirstReward[i].
	Rewards     []float64
	FirstReward []uint32

	Minimize bool
	Rates    bool // the weights are rates
	// Backwards solves the states from the last to the first.
	Backwards bool
	// IsOneStep makes sweeps impossible and [Block.TakeStep] possible: self-loops count as steps.
	IsOneStep bool
	// ShouldStop reports that the sweep should end early, because nobody needs it.
	ShouldStop func() bool
	rounding   rounding
	// rangeHints has, for each position of Operands with a target, the range that had the last target; most often it is the range of the next one.
	rangeHints []uint32
	nextValues []float64 // of TakeStep
}

// NoRow says that the value of a state is given.
const NoRow = math.MaxUint32

// BlockRange is a range of numbers of states. State First+i has the value Values[Offset+i].
type BlockRange struct {
	First, Length int64
	Offset        int64
}

// Prepare makes the block ready for sweeps, after its rows are loaded. All weights of the model are between minWeight and maxWeight. relErr bounds the
// relative error of all weights and of all rewards.
func (block *Block) Prepare(relErr, minWeight, maxWeight float64) {
	block.rounding = roundingOf(relErr, min(minWeight, 1), max(maxWeight, 1))
	if cap(block.rangeHints) < len(block.Operands) {
		block.rangeHints = make([]uint32, len(block.Operands)+len(block.Operands)/8)
	}
	block.rangeHints = block.rangeHints[:len(block.Operands)]
	clear(block.rangeHints)
}

// ownValues returns the part of block.Values that has the values of the block's own states. The other values are those of targets in other blocks.
func (block *Block) ownValues() []float64 {
	for _, blockRange := range block.Ranges {
		if blockRange.First == block.First {
			return block.Values[blockRange.Offset : blockRange.Offset+blockRange.Length]
		}
	}
	return nil
}

// rangeOf returns the index of the range in block.Ranges that contains a state.
func (block *Block) rangeOf(state int64) uint32 {
	low, high := 0, len(block.Ranges)
	for high-low > 1 {
		middle := int(uint(low+high) >> 1)
		if block.Ranges[middle].First <= state {
			low = middle
		} else {
			high = middle
		}
	}
	return uint32(low)
}

// roundedUp and roundedDown are values of a parameter isUpper: upper bounds are rounded up, and lower bounds down.
const roundedUp, roundedDown = true, false

// SweepLower raises the lower bounds of the block's states by one Gauss-Seidel sweep. It returns the greatest relative change of a bound.
func (block *Block) SweepLower() (greatestChange float64) {
	values := block.ownValues()
	block.forEachState(func(i int, row uint32) {
		old := values[i]
		if bound := block.evaluate(i, row, roundedDown); bound > old {
			greatestChange = max(greatestChange, (bound-old)/bound)
			values[i] = bound
		}
	})
	return greatestChange
}

// SweepUpper replaces guessed upper bounds by one Gauss-Seidel sweep, and reports whether it raised a bound. If no sweep over any block raises a bound, the
// guesses are inductive, and so they are upper bounds.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (block *Block) SweepUpper() (hasRaised bool) {
	values := block.ownValues()
	block.forEachState(func(i int, row uint32) {
		bound := block.evaluate(i, row, roundedUp)
		hasRaised = hasRaised || bound > values[i]
		values[i] = bound
	})
	return hasRaised
}

// TakeStep replaces the bounds after k steps by the bounds after k+1 steps: the reward plus P times the bounds, or the optimum over the choices, rounded up for
// upper bounds and down for lower bounds. It reports whether a bound changed.
func (block *Block) TakeStep(isUpper bool) (changed bool) {
	values := block.ownValues()
	block.nextValues = append(block.nextValues[:0], values...)
	block.forEachState(func(i int, row uint32) {
		block.nextValues[i] = block.evaluate(i, row, isUpper)
		changed = changed || block.nextValues[i] != values[i]
	})
	copy(values, block.nextValues)
	return changed
}

// GuessUpper raises lower bounds by a relative margin to guesses of upper bounds, which are at most limit.
func GuessUpper(values []float64, margin, limit float64) {
	for i, value := range values {
		values[i] = min(value+value*margin, limit)
	}
}

// statesPerPoll is the number of states between two calls of Block.ShouldStop.
const statesPerPoll = 1 << 16

// forEachState calls visit for each state that has a row, until ShouldStop returns true; with Backwards, from the last state to the first. index is the
// position of the state in the block, and row the position of its row in Operands.
func (block *Block) forEachState(visit func(index int, row uint32)) {
	numStates := len(block.RowStart)
	for done := range numStates {
		if done%statesPerPoll == 0 && block.ShouldStop() {
			return
		}
		index := done
		if block.Backwards {
			index = numStates - 1 - done
		}
		if row := block.RowStart[index]; row != NoRow {
			visit(index, row)
		}
	}
}

// evaluate returns a bound on the optimal value of a state over its choices: an upper bound, rounded up, if isUpper is true, and otherwise a lower bound,
// rounded down. The state has the number First+index, and its row begins at index row of Operands.
func (block *Block) evaluate(index int, row uint32, isUpper bool) float64 {
	operands := block.Operands
	numChoices := operands[row]
	if numChoices == 0 && block.IsOneStep && block.Rewards != nil {
		return block.evaluateDeadlock(index, isUpper)
	}
	position := int(row) + 1 // the index of the current choice in operands
	best, hasBest := 0.0, false
	for choice := range numChoices {
		end := position + 2 + int(operands[position]) // a choice consists of its number of transitions, the position of its weights, and its transitions
		reward := 0.0
		if block.Rewards != nil {
			reward = block.Rewards[int64(block.FirstReward[index])+choice]
		}
		value, leavesState := block.evaluateChoice(block.First+int64(index), position, end, reward, isUpper)
		isCandidate := leavesState || block.Rewards == nil // a choice that never leaves has the probability 0; its reward is known from the graph
		if isCandidate && (!hasBest || isBetter(value, best, block.Minimize)) {
			best, hasBest = value, true
		}
		position = end
	}
	if block.Rewards == nil {
		return min(best, 1)
	}
	return best
}

// evaluateDeadlock returns a bound on the value of a deadlock after one more step: its self-loop, which is not stored, adds the reward of the state.
func (block *Block) evaluateDeadlock(index int, isUpper bool) float64 {
	sum, relErr := block.Rewards[block.FirstReward[index]]+block.ownValues()[index], block.rounding.sumErr(2)
	if isUpper {
		return block.rounding.roundUp(sum, relErr)
	}
	return block.rounding.roundDown(sum, relErr)
}

// evaluateChoice returns a bound on the value of the choice whose operands are at [position, end): reward, plus the sum of weight * value over the
// targets. If the choice has a self-loop and IsOneStep is false, or if weights are rates, the sum is divided by the total weight of the other targets. If
// isUpper is true, the result is rounded up, otherwise down. leavesState is false if the choice only leads back to its state; the bound is then 0.
func (block *Block) evaluateChoice(state int64, position, end int, reward float64, isUpper bool) (bound float64, leavesState bool) {
	weights := block.Weights[block.Operands[position+1]:]
	differences, hints := block.Operands[position+2:end], block.rangeHints[position+2:end]
	ranges, values := block.Ranges, block.Values
	sum, weightSum := reward, 0.0
	extreme := math.Inf(1) // the least value of a target, or the greatest one if isUpper is true
	if isUpper {
		extreme = 0
	}
	hasSelfLoop := false
	for i, difference := range differences {
		if difference == 0 && !block.IsOneStep {
			hasSelfLoop = true
			continue
		}
		target := state + difference
		targetRange := &ranges[hints[i]]
		if uint64(target-targetRange.First) >= uint64(targetRange.Length) { // also if the target is before the range
			hints[i] = block.rangeOf(target)
			targetRange = &ranges[hints[i]]
		}
		weight, value := weights[i], values[targetRange.Offset+target-targetRange.First]
		sum += weight * value
		weightSum += weight
		if isUpper {
			extreme = max(extreme, value)
		} else {
			extreme = min(extreme, value)
		}
	}
	if weightSum == 0 || isUpper && extreme == 0 && reward == 0 {
		return 0, weightSum > 0
	}
	relErr := block.rounding.sumErr(len(differences) + 1)
	mustDivide := hasSelfLoop || block.Rates
	if !isUpper {
		if mustDivide {
			sum = min(sum, math.MaxFloat64) / weightSum
		}
		bound = block.rounding.roundDown(sum, relErr)
		if reward == 0 { // the value is a mean of the values of the targets
			bound = max(bound, extreme)
		}
		return bound, true
	}
	if mustDivide {
		sum /= weightSum
	}
	sum = max(sum, block.rounding.leastBound) // even if its products underflow
	bound = block.rounding.roundUp(sum, relErr)
	if reward == 0 {
		bound = min(bound, extreme)
	}
	return bound, true
}
