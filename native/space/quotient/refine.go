package quotient

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Partition divides the states of a model into blocks.
type Partition struct {
	// Block is the block of each state. Blocks are numbered by their first states.
	Block []uint32
	// First is the first state of each block.
	First []uint32
	// Rounds is the number of refinement steps.
	Rounds int
}

// ErrInexact says that the weights of a model are float64 or intervals, so that equality of
// probabilities is unknown.
var ErrInexact = errors.New("want a model with exact weights, without intervals")

// refiner computes the signatures of states. It numbers fractions and tuples of rewards, so that two of them are equal
// if their numbers are.
type refiner struct {
	model          *sparse.Model
	choiceRewardID []uint32          // the number of each choice's tuple of rewards
	blockOf        []uint32          // the block of each state
	weightID       []uint32          // the number of each weight
	sumIDs         map[string]uint32 // the number of the sum of several weights, by their numbers
	rationalIDs    map[string]uint32 // the number of each fraction, by its text
	pairBuffer     []blockWeight     // a buffer of choiceSignature
}

// blockWeight is a transition: the block that it leads to, and its weight.
type blockWeight struct{ block, weight uint32 }

// Refine returns the coarsest bisimulation whose blocks have equal numbers in initial and equal rewards. It splits blocks by the signatures of their states
// until no block is split. The error is ErrInexact if the model is not exact, or the error of the context.
//
// Source: partition refinement, Valmari and Franceschinis 2010.
func Refine(ctx context.Context, model *sparse.Model, initial []uint32, rewards []*sparse.Reward) (*Partition, error) {
	if !model.Exact() || model.Intervals() {
		return nil, ErrInexact
	}
	refiner := &refiner{model: model, sumIDs: map[string]uint32{}, rationalIDs: map[string]uint32{}}
	for _, weight := range model.Fractions {
		refiner.weightID = append(refiner.weightID, refiner.rationalID(weight))
	}
	if err := refiner.numberChoiceRewards(ctx, rewards); err != nil {
		return nil, err
	}
	partition := &Partition{}
	numBlocks, err := refiner.groupInitially(ctx, initial, rewards)
	if err != nil {
		return nil, err
	}
	for isSplit := true; isSplit; {
		numRefined, err := refiner.refineOnce(ctx)
		if err != nil {
			return nil, err
		}
		partition.Rounds++
		isSplit = numRefined > numBlocks
		numBlocks = numRefined
	}
	partition.Block = refiner.blockOf
	partition.First = firstStates(refiner.blockOf, numBlocks)
	return partition, nil
}

// groupInitially groups the states by their initial numbers and rewards. It returns the number of blocks.
func (refiner *refiner) groupInitially(ctx context.Context, initial []uint32, rewards []*sparse.Reward) (numBlocks int, err error) {
	refiner.blockOf, numBlocks, err = groupByKey(ctx, refiner.model.NumStates(), func(state int, key []byte) []byte {
		return refiner.appendStateRewards(binary.LittleEndian.AppendUint32(key, initial[state]), rewards, state)
	})
	return numBlocks, err
}

// refineOnce performs one round of partition refinement: states stay in one block only if they have equal signatures. It returns the number of blocks.
func (refiner *refiner) refineOnce(ctx context.Context) (numBlocks int, err error) {
	refined, numBlocks, err := groupByKey(ctx, refiner.model.NumStates(), refiner.appendSignature)
	if err != nil {
		return 0, err
	}
	refiner.blockOf = refined
	return numBlocks, nil
}

// New returns a Partition whose blocks are given by a number for each state. The blocks are renumbered in the order of their first states.
func New(block []uint32) *Partition {
	partition := &Partition{Block: make([]uint32, len(block))}
	newNumber := map[uint32]uint32{}
	for state, oldNumber := range block {
		number, isKnown := newNumber[oldNumber]
		if !isKnown {
			number = uint32(len(partition.First))
			newNumber[oldNumber] = number
			partition.First = append(partition.First, uint32(state))
		}
		partition.Block[state] = number
	}
	return partition
}

// firstStates returns the first state of each of n blocks. block has the number of each state's block.
func firstStates(block []uint32, n int) []uint32 {
	first := make([]uint32, n)
	for state, blockNumber := range slices.Backward(block) {
		first[blockNumber] = uint32(state)
	}
	return first
}

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// groupByKey gives the objects 0 to numObjects-1 numbers, in the order of their first occurrence, so that two objects have the same number if and only if
// their keys are equal. appendKey appends the key of an object to a buffer.
func groupByKey(ctx context.Context, numObjects int, appendKey func(object int, buffer []byte) []byte) (numberOf []uint32, numDistinct int, err error) {
	numberOf = make([]uint32, numObjects)
	numbers := map[string]uint32{}
	var key []byte
	for object := range numObjects {
		if object%pollInterval == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		key = appendKey(object, key[:0])
		number, isKnown := numbers[string(key)]
		if !isKnown {
			number = uint32(len(numbers))
			numbers[string(key)] = number
		}
		numberOf[object] = number
	}
	return numberOf, len(numbers), nil
}

// rationalID returns a number that identifies the value of a fraction, so that fractions can be compared by their numbers. nil stands for 0.
func (refiner *refiner) rationalID(value *big.Rat) uint32 {
	text := "0"
	if value != nil {
		text = value.RatString()
	}
	id, isKnown := refiner.rationalIDs[text]
	if !isKnown {
		id = uint32(len(refiner.rationalIDs))
		refiner.rationalIDs[text] = id
	}
	return id
}

// numberChoiceRewards gives each choice a number. Two choices have the same number if and only if they have equal rewards in all
// structures.
func (refiner *refiner) numberChoiceRewards(ctx context.Context, rewards []*sparse.Reward) (err error) {
	refiner.choiceRewardID, _, err = groupByKey(ctx, refiner.model.NumChoices(), func(choice int, key []byte) []byte {
		for _, reward := range rewards {
			key = binary.LittleEndian.AppendUint32(key, refiner.rationalID(fractionAt(reward.ChoiceFractions, choice)))
		}
		return key
	})
	return err
}

// appendStateRewards appends the numbers of a state's rewards to a key.
func (refiner *refiner) appendStateRewards(key []byte, rewards []*sparse.Reward, state int) []byte {
	for _, reward := range rewards {
		key = binary.LittleEndian.AppendUint32(key, refiner.rationalID(fractionAt(reward.StateFractions, state)))
	}
	return key
}

// appendSignature appends the signature of a state to key: its block, and the set of the signatures of its choices. Bisimilar states have equal signatures.
func (refiner *refiner) appendSignature(state int, key []byte) []byte {
	key = binary.LittleEndian.AppendUint32(key, refiner.blockOf[state])
	first, end := refiner.model.Choices(state)
	var choices []string
	for choice := first; choice < end; choice++ {
		choices = append(choices, string(refiner.choiceSignature(choice)))
	}
	slices.Sort(choices)
	for _, choice := range slices.Compact(choices) {
		key = binary.LittleEndian.AppendUint32(key, uint32(len(choice)))
		key = append(key, choice...)
	}
	return key
}

// choiceSignature returns the signature of a choice: the number that stands for its rewards and, for each block to which the choice leads, the block and a
// number that stands for the probability of entering it.
func (refiner *refiner) choiceSignature(choice int) []byte {
	first, endTransition := refiner.model.Transitions(choice)
	refiner.pairBuffer = refiner.pairBuffer[:0]
	for transition := first; transition < endTransition; transition++ {
		refiner.pairBuffer = append(refiner.pairBuffer, blockWeight{refiner.blockOf[refiner.model.Target[transition]], refiner.model.WeightIndex[transition]})
	}
	slices.SortFunc(refiner.pairBuffer, func(left, right blockWeight) int {
		return cmp.Or(cmp.Compare(left.block, right.block), cmp.Compare(left.weight, right.weight))
	})
	signature := binary.LittleEndian.AppendUint32(nil, refiner.choiceRewardID[choice])
	for start := 0; start < len(refiner.pairBuffer); {
		block, end := refiner.pairBuffer[start].block, start
		for end < len(refiner.pairBuffer) && refiner.pairBuffer[end].block == block {
			end++
		}
		signature = binary.LittleEndian.AppendUint32(signature, block)
		signature = binary.LittleEndian.AppendUint32(signature, refiner.sumID(refiner.pairBuffer[start:end]))
		start = end
	}
	return signature
}

// sumID returns the number that identifies the sum of the weights in pairs. Equal sums have the same number, and a cache avoids adding the same weights
// again.
func (refiner *refiner) sumID(pairs []blockWeight) uint32 {
	if len(pairs) == 1 {
		return refiner.weightID[pairs[0].weight]
	}
	key := make([]byte, 0, 64)
	for _, pair := range pairs {
		key = binary.LittleEndian.AppendUint32(key, refiner.weightID[pair.weight])
	}
	if id, isKnown := refiner.sumIDs[string(key)]; isKnown {
		return id
	}
	sum := new(big.Rat)
	for _, pair := range pairs {
		sum.Add(sum, refiner.model.Fractions[pair.weight])
	}
	id := refiner.rationalID(sum)
	refiner.sumIDs[string(key)] = id
	return id
}
