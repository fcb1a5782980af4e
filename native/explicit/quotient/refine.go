package quotient

import (
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// Partition tells which states are alike.
type Partition struct {
	// Block is that of each state; blocks are numbered by their first states.
	Block []uint32
	// First is the first state of each block.
	First []uint32
	// Rounds is how often the partition was refined.
	Rounds int
}

// ErrInexact says that a model has no fractions, or intervals, so that nobody can tell
// whether probabilities are equal.
var ErrInexact = errors.New("want a model with exact weights that are no intervals")

// refiner computes signatures. Not safe for concurrent use.
type refiner struct {
	m       *sparse.Model
	earns   []uint32 // by choice: the number of what its rewards are
	block   []uint32
	weights []uint32          // by weight: the number of its fraction
	sums    map[string]uint32 // of several weights: the number of their sum
	numbers map[string]uint32 // of fractions
	pairs   []pair
}

// pair is a transition: the block that it leads to, and its weight.
type pair struct{ block, weight uint32 }

// Refine returns the coarsest bisimulation that is finer than an initial partition: a
// number for each state. The rewards' fractions count, too. The error is that of the
// context or ErrInexact.
func Refine(ctx context.Context, m *sparse.Model, initial []uint32, rewards []*sparse.Reward) (*Partition, error) {
	if !m.Exact() || m.Intervals() {
		return nil, ErrInexact
	}
	r := &refiner{m: m, sums: map[string]uint32{}, numbers: map[string]uint32{}}
	for _, w := range m.Rats {
		r.weights = append(r.weights, r.number(w))
	}
	r.earn(rewards)
	out := &Partition{}
	n := 0
	r.block, n = grouped(m.NumStates(), func(s int, key []byte) []byte {
		return r.earnedIn(binary.LittleEndian.AppendUint32(key, initial[s]), rewards, s)
	})
	for {
		var err error
		next, more := grouped(m.NumStates(), func(s int, key []byte) []byte {
			if s&0xfff == 0 && err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return key
			}
			return r.signature(s, key)
		})
		if err != nil {
			return nil, err
		}
		r.block = next
		out.Rounds++
		if more == n {
			break
		}
		n = more
	}
	out.Block = r.block
	out.First = firsts(r.block, n)
	return out, nil
}

// New returns the partition of given blocks, numbered anew by their first states.
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

func firsts(block []uint32, n int) []uint32 {
	out := make([]uint32, n)
	for s := len(block) - 1; s >= 0; s-- {
		out[block[s]] = uint32(s)
	}
	return out
}

// grouped numbers states by their keys, in the order in which these come.
func grouped(n int, key func(s int, key []byte) []byte) ([]uint32, int) {
	out, numbers := make([]uint32, n), map[string]uint32{}
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

// number returns that of a fraction; nil is zero.
func (r *refiner) number(x *big.Rat) uint32 {
	text := "0"
	if x != nil {
		text = x.RatString()
	}
	i, known := r.numbers[text]
	if !known {
		i = uint32(len(r.numbers))
		r.numbers[text] = i
	}
	return i
}

// earn numbers what choices earn.
func (r *refiner) earn(rewards []*sparse.Reward) {
	r.earns, _ = grouped(r.m.NumChoices(), func(c int, key []byte) []byte {
		for _, reward := range rewards {
			var x *big.Rat
			if reward.ChoiceRat != nil {
				x = reward.ChoiceRat[c]
			}
			key = binary.LittleEndian.AppendUint32(key, r.number(x))
		}
		return key
	})
}

func (r *refiner) earnedIn(key []byte, rewards []*sparse.Reward, s int) []byte {
	for _, reward := range rewards {
		var x *big.Rat
		if reward.StateRat != nil {
			x = reward.StateRat[s]
		}
		key = binary.LittleEndian.AppendUint32(key, r.number(x))
	}
	return key
}

// signature appends what a state can do: its block, and the set of its choices.
func (r *refiner) signature(s int, key []byte) []byte {
	key = binary.LittleEndian.AppendUint32(key, r.block[s])
	first, end := r.m.Choices(s)
	var choices []string
	for c := first; c < end; c++ {
		choices = append(choices, string(r.choice(c)))
	}
	slices.Sort(choices)
	for _, c := range slices.Compact(choices) {
		key = append(binary.LittleEndian.AppendUint32(key, uint32(len(c))), c...)
	}
	return key
}

// choice returns what a choice earns and the probability of every block.
func (r *refiner) choice(c int) []byte {
	lo, hi := r.m.Row(c)
	r.pairs = r.pairs[:0]
	for i := lo; i < hi; i++ {
		r.pairs = append(r.pairs, pair{r.block[r.m.Target[i]], r.m.Weight[i]})
	}
	slices.SortFunc(r.pairs, func(a, b pair) int {
		if a.block != b.block {
			return int(int64(a.block) - int64(b.block))
		}
		return int(int64(a.weight) - int64(b.weight))
	})
	out := binary.LittleEndian.AppendUint32(nil, r.earns[c])
	for i := 0; i < len(r.pairs); {
		j := i + 1
		for j < len(r.pairs) && r.pairs[j].block == r.pairs[i].block {
			j++
		}
		out = binary.LittleEndian.AppendUint32(out, r.pairs[i].block)
		out = binary.LittleEndian.AppendUint32(out, r.sum(r.pairs[i:j]))
		i = j
	}
	return out
}

// sum returns the number of the sum of weights, which it remembers.
func (r *refiner) sum(pairs []pair) uint32 {
	if len(pairs) == 1 {
		return r.weights[pairs[0].weight]
	}
	key := make([]byte, 0, 64)
	for _, p := range pairs {
		key = binary.LittleEndian.AppendUint32(key, r.weights[p.weight])
	}
	i, known := r.sums[string(key)]
	if !known {
		x := new(big.Rat)
		for _, p := range pairs {
			x.Add(x, r.m.Rats[p.weight])
		}
		i = r.number(x)
		r.sums[string(key)] = i
	}
	return i
}
