package quotient

import (
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

// refiner computes the signatures of states. It gives fractions numbers, so that equal fractions have equal
// numbers, and likewise tuples of rewards.
type refiner struct {
	model        *sparse.Model
	choiceReward []uint32          // the number of each choice's tuple of rewards
	block        []uint32          // the block of each state
	weightID     []uint32          // the number of each weight
	sumID        map[string]uint32 // the number of the sum of several weights, by their numbers
	rationalIDs  map[string]uint32 // the number of each fraction, by its text
	pairs        []blockWeight     // a buffer of choiceSignature
}

// blockWeight is a transition: the block that it leads to, and its weight.
type blockWeight struct{ block, weight uint32 }

// Refine returns the coarsest bisimulation in which the states of a block have the same number in initial and the
// same exact rewards. The error is the context's or ErrInexact.
func Refine(ctx context.Context, model *sparse.Model, initial []uint32, rewards []*sparse.Reward) (*Partition, error) {
	if !model.Exact() || model.Intervals() {
		return nil, ErrInexact
	}
	refiner := &refiner{model: model, sumID: map[string]uint32{}, rationalIDs: map[string]uint32{}}
	for _, weight := range model.Rats {
		refiner.weightID = append(refiner.weightID, refiner.rationalID(weight))
	}
	refiner.numberChoiceRewards(rewards)
	partition := &Partition{}
	lastBlocks := 0
	refiner.block, lastBlocks = groupByKey(model.NumStates(), func(s int, key []byte) []byte {
		return refiner.appendStateRewards(binary.LittleEndian.AppendUint32(key, initial[s]), rewards, s)
	})
	for {
		var err error
		next, blocks := groupByKey(model.NumStates(), func(s int, key []byte) []byte {
			if s&0xfff == 0 && err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return key
			}
			return refiner.signature(s, key)
		})
		if err != nil {
			return nil, err
		}
		refiner.block = next
		partition.Rounds++
		if blocks == lastBlocks {
			break
		}
		lastBlocks = blocks
	}
	partition.Block = refiner.block
	partition.First = firstStates(refiner.block, lastBlocks)
	return partition, nil
}

// New returns a Partition with the given blocks, renumbered by their first states.
func New(block []uint32) *Partition {
	out := &Partition{Block: make([]uint32, len(block))}
	number := map[uint32]uint32{}
	for s, b := range block {
		n, known := number[b]
		if !known {
			n = uint32(len(out.First))
			number[b] = n
			out.First = append(out.First, uint32(s))
		}
		out.Block[s] = n
	}
	return out
}

// firstStates returns the first state of each of n blocks.
func firstStates(block []uint32, n int) []uint32 {
	out := make([]uint32, n)
	for s := len(block) - 1; s >= 0; s-- {
		out[block[s]] = uint32(s)
	}
	return out
}

// groupByKey gives equal numbers to states with equal keys, in the order of first occurrence. It returns the
// number of each of the n states, and how many different numbers there are. key appends the key of state s to
// a buffer.
func groupByKey(n int, key func(s int, key []byte) []byte) ([]uint32, int) {
	out := make([]uint32, n)
	numbers := map[string]uint32{}
	var buffer []byte
	for s := range n {
		buffer = key(s, buffer[:0])
		i, known := numbers[string(buffer)]
		if !known {
			i = uint32(len(numbers))
			numbers[string(buffer)] = i
		}
		out[s] = i
	}
	return out, len(numbers)
}

// rationalID returns the number of a fraction; nil stands for 0.
func (r *refiner) rationalID(value *big.Rat) uint32 {
	text := "0"
	if value != nil {
		text = value.RatString()
	}
	i, known := r.rationalIDs[text]
	if !known {
		i = uint32(len(r.rationalIDs))
		r.rationalIDs[text] = i
	}
	return i
}

// numberChoiceRewards numbers the tuples of choice rewards.
func (r *refiner) numberChoiceRewards(rewards []*sparse.Reward) {
	r.choiceReward, _ = groupByKey(r.model.NumChoices(), func(c int, key []byte) []byte {
		for _, reward := range rewards {
			var value *big.Rat
			if reward.ChoiceRat != nil {
				value = reward.ChoiceRat[c]
			}
			key = binary.LittleEndian.AppendUint32(key, r.rationalID(value))
		}
		return key
	})
}

// appendStateRewards appends the numbers of the rewards of state s to a key.
func (r *refiner) appendStateRewards(key []byte, rewards []*sparse.Reward, s int) []byte {
	for _, reward := range rewards {
		var value *big.Rat
		if reward.StateRat != nil {
			value = reward.StateRat[s]
		}
		key = binary.LittleEndian.AppendUint32(key, r.rationalID(value))
	}
	return key
}

// signature appends the signature of state s to key: its block, and the set of its choices' signatures.
func (r *refiner) signature(s int, key []byte) []byte {
	key = binary.LittleEndian.AppendUint32(key, r.block[s])
	first, end := r.model.Choices(s)
	var choices []string
	for c := first; c < end; c++ {
		choices = append(choices, string(r.choiceSignature(c)))
	}
	slices.Sort(choices)
	for _, c := range slices.Compact(choices) {
		key = append(binary.LittleEndian.AppendUint32(key, uint32(len(c))), c...)
	}
	return key
}

// choiceSignature returns the signature of a choice: the number of its rewards, and for each block that it
// leads to, the block and the number of the probability.
func (r *refiner) choiceSignature(c int) []byte {
	first, end := r.model.Row(c)
	r.pairs = r.pairs[:0]
	for i := first; i < end; i++ {
		r.pairs = append(r.pairs, blockWeight{r.block[r.model.Target[i]], r.model.Weight[i]})
	}
	slices.SortFunc(r.pairs, func(a, b blockWeight) int {
		if a.block != b.block {
			return int(int64(a.block) - int64(b.block))
		}
		return int(int64(a.weight) - int64(b.weight))
	})
	out := binary.LittleEndian.AppendUint32(nil, r.choiceReward[c])
	for from := 0; from < len(r.pairs); {
		block := r.pairs[from].block
		to := from + 1
		for to < len(r.pairs) && r.pairs[to].block == block {
			to++
		}
		out = binary.LittleEndian.AppendUint32(out, block)
		out = binary.LittleEndian.AppendUint32(out, r.sumOf(r.pairs[from:to]))
		from = to
	}
	return out
}

// sumOf returns the number of the sum of the pairs' weights.
func (r *refiner) sumOf(pairs []blockWeight) uint32 {
	if len(pairs) == 1 {
		return r.weightID[pairs[0].weight]
	}
	key := make([]byte, 0, 64)
	for _, p := range pairs {
		key = binary.LittleEndian.AppendUint32(key, r.weightID[p.weight])
	}
	i, known := r.sumID[string(key)]
	if !known {
		value := new(big.Rat)
		for _, p := range pairs {
			value.Add(value, r.model.Rats[p.weight])
		}
		i = r.rationalID(value)
		r.sumID[string(key)] = i
	}
	return i
}
