package quotient

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// MistakeError says why a partition is no bisimulation: two states of a block.
type MistakeError struct {
	States [2]int
	Why    string
}

func (e *MistakeError) Error() string {
	return fmt.Sprintf("states %d and %d are in one block, and %s", e.States[0], e.States[1], e.Why)
}

// Check returns a *MistakeError unless the partition is a bisimulation
// finer than an initial one: every state is compared with the first of its block, by
// adding fractions. Other errors are the context's and ErrInexact.
func (p *Partition) Check(ctx context.Context, m *sparse.Model, initial []uint32, rewards []*sparse.Reward) error {
	if !m.Exact() || m.Intervals() {
		return ErrInexact
	}
	for s := range m.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := int(p.First[p.Block[s]])
		switch {
		case p.Block[r] != p.Block[s] || initial[r] != initial[s]:
			return &MistakeError{[2]int{r, s}, "are told apart by the property"}
		case r == s:
			continue
		}
		for _, reward := range rewards {
			if !same(at(reward.StateRat, r), at(reward.StateRat, s)) {
				return &MistakeError{[2]int{r, s}, "earn different rewards"}
			}
		}
		if !p.simulates(m, r, s, rewards) || !p.simulates(m, s, r, rewards) {
			return &MistakeError{[2]int{r, s}, "one has a choice that the other has not"}
		}
	}
	return nil
}

// simulates reports whether s has a choice like each of r.
func (p *Partition) simulates(m *sparse.Model, r, s int, rewards []*sparse.Reward) bool {
	first, end := m.Choices(r)
	from, to := m.Choices(s)
	for c := first; c < end; c++ {
		found := false
		for d := from; d < to && !found; d++ {
			found = p.alike(m, c, d, rewards)
		}
		if !found {
			return false
		}
	}
	return true
}

// alike reports whether two choices earn the same and lead into all blocks with the same
// probability.
func (p *Partition) alike(m *sparse.Model, c, d int, rewards []*sparse.Reward) bool {
	for _, reward := range rewards {
		if !same(at(reward.ChoiceRat, c), at(reward.ChoiceRat, d)) {
			return false
		}
	}
	difference := map[uint32]*big.Rat{}
	add := func(choice int, sign int64) {
		lo, hi := m.Row(choice)
		for i := lo; i < hi; i++ {
			b := p.Block[m.Target[i]]
			if difference[b] == nil {
				difference[b] = new(big.Rat)
			}
			difference[b].Add(difference[b], new(big.Rat).Mul(big.NewRat(sign, 1), m.Rat(i)))
		}
	}
	add(c, 1)
	add(d, -1)
	for _, x := range difference {
		if x.Sign() != 0 {
			return false
		}
	}
	return true
}

func at(x []*big.Rat, i int) *big.Rat {
	if x == nil || x[i] == nil {
		return new(big.Rat)
	}
	return x[i]
}

func same(x, y *big.Rat) bool { return x.Cmp(y) == 0 }
