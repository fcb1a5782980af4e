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
// same exact rewards. It splits blocks by the signatures of their states until no block is split. The error is the
// context's or ErrInexact.
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
	numBlocks := refiner.groupInitially(initial, rewards)
	for isSplit := true; isSplit; {
		refined, err := refiner.refineOnce(ctx)
		if err != nil {
			return nil, err
		}
		partition.Rounds++
		isSplit = refined > numBlocks
		numBlocks = refined
	}
	partition.Block = refiner.block
	partition.First = firstStates(refiner.block, numBlocks)
	return partition, nil
}

// groupInitially groups the states by their initial numbers and rewards. It returns the number of blocks.
func (r *refiner) groupInitially(initial []uint32, rewards []*sparse.Reward) (numBlocks int) {
	r.block, numBlocks = groupByKey(r.model.NumStates(), func(s int, key []byte) []byte {
		return r.appendStateRewards(binary.LittleEndian.AppendUint32(key, initial[s]), rewards, s)
	})
	return numBlocks
}

// refineOnce groups the states by their signatures. It returns the number of blocks.
func (r *refiner) refineOnce(ctx context.Context) (numBlocks int, err error) {
	refined, numBlocks := groupByKey(r.model.NumStates(), func(s int, key []byte) []byte {
		if s&0xfff == 0 && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return key
		}
		return r.signature(s, key)
	})
	if err != nil {
		return 0, err
	}
	r.block = refined
	return numBlocks, nil
}

// New returns a Partition with the given blocks, renumbered by their first states.
func New(block []uint32) *Partition {
	partition := &Partition{Block: make([]uint32, len(block))}
	newNumber := map[uint32]uint32{}
	for s, oldNumber := range block {
		number, found := newNumber[oldNumber]
		if !found {
			number = uint32(len(partition.First))
			newNumber[oldNumber] = number
			partition.First = append(partition.First, uint32(s))
		}
		partition.Block[s] = number
	}
	return partition
}

// firstStates returns the first state of each of n blocks.
func firstStates(block []uint32, n int) []uint32 {
	first := make([]uint32, n)
	for s, number := range slices.Backward(block) {
		first[number] = uint32(s)
	}
	return first
}

// groupByKey numbers the n states in the order of first occurrence, so that states with equal keys have equal
// numbers. It returns the number of each state, and how many different numbers there are. appendKey appends the
// key of a state to a buffer.
func groupByKey(n int, appendKey func(s int, buffer []byte) []byte) ([]uint32, int) {
	numberOf := make([]uint32, n)
	numbers := map[string]uint32{}
	var key []byte
	for s := range n {
		key = appendKey(s, key[:0])
		number, found := numbers[string(key)]
		if !found {
			number = uint32(len(numbers))
			numbers[string(key)] = number
		}
		numberOf[s] = number
	}
	return numberOf, len(numbers)
}

// rationalID returns the number of a fraction; nil stands for 0.
func (r *refiner) rationalID(value *big.Rat) uint32 {
	text := "0"
	if value != nil {
		text = value.RatString()
	}
	id, found := r.rationalIDs[text]
	if !found {
		id = uint32(len(r.rationalIDs))
		r.rationalIDs[text] = id
	}
	return id
}

// numberChoiceRewards numbers the tuples of choice rewards.
func (r *refiner) numberChoiceRewards(rewards []*sparse.Reward) {
	r.choiceReward, _ = groupByKey(r.model.NumChoices(), func(c int, key []byte) []byte {
		for _, reward := range rewards {
			key = binary.LittleEndian.AppendUint32(key, r.rationalID(entry(reward.ChoiceRat, c)))
		}
		return key
	})
}

// appendStateRewards appends the numbers of the rewards of state s to a key.
func (r *refiner) appendStateRewards(key []byte, rewards []*sparse.Reward, s int) []byte {
	for _, reward := range rewards {
		key = binary.LittleEndian.AppendUint32(key, r.rationalID(entry(reward.StateRat, s)))
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
	for _, choice := range slices.Compact(choices) {
		key = binary.LittleEndian.AppendUint32(key, uint32(len(choice)))
		key = append(key, choice...)
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
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.weight, b.weight))
	})
	signature := binary.LittleEndian.AppendUint32(nil, r.choiceReward[c])
	for from := 0; from < len(r.pairs); {
		block, to := r.pairs[from].block, from
		for to < len(r.pairs) && r.pairs[to].block == block {
			to++
		}
		signature = binary.LittleEndian.AppendUint32(signature, block)
		signature = binary.LittleEndian.AppendUint32(signature, r.sumOf(r.pairs[from:to]))
		from = to
	}
	return signature
}

// sumOf returns the number of the sum of the weights of some pairs.
func (r *refiner) sumOf(pairs []blockWeight) uint32 {
	if len(pairs) == 1 {
		return r.weightID[pairs[0].weight]
	}
	key := make([]byte, 0, 64)
	for _, pair := range pairs {
		key = binary.LittleEndian.AppendUint32(key, r.weightID[pair.weight])
	}
	if id, found := r.sumID[string(key)]; found {
		return id
	}
	sum := new(big.Rat)
	for _, pair := range pairs {
		sum.Add(sum, r.model.Rats[pair.weight])
	}
	id := r.rationalID(sum)
	r.sumID[string(key)] = id
	return id
}
