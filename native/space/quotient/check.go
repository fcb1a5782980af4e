package quotient

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// MistakeError says that a partition is not a bisimulation, because two states of a block differ. Why is the
// difference, as a clause of the message.
type MistakeError struct {
	States [2]int
	Why    string
}

func (e *MistakeError) Error() string {
	return fmt.Sprintf("states %d and %d are in one block, and %s", e.States[0], e.States[1], e.Why)
}

// Check returns a *MistakeError unless the partition is a bisimulation that refines the initial one. It
// compares every state with the first of its block, by adding fractions. Other errors are the context's
// and ErrInexact.
func (p *Partition) Check(ctx context.Context, m *sparse.Model, initial []uint32, rewards []*sparse.Reward) error {
	if !m.Exact() || m.Intervals() {
		return ErrInexact
	}
	for s := range m.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rep := int(p.First[p.Block[s]])
		switch {
		case p.Block[rep] != p.Block[s] || initial[rep] != initial[s]:
			return &MistakeError{[2]int{rep, s}, "the property distinguishes them"}
		case rep == s:
			continue
		}
		for _, reward := range rewards {
			if !equalRats(entry(reward.StateRat, rep), entry(reward.StateRat, s)) {
				return &MistakeError{[2]int{rep, s}, "they have different rewards"}
			}
		}
		if !p.simulates(m, rep, s, rewards) || !p.simulates(m, s, rep, rewards) {
			return &MistakeError{[2]int{rep, s}, "one has a choice without an equivalent choice of the other"}
		}
	}
	return nil
}

// simulates reports whether state s has an equivalent choice for each choice of state rep.
func (p *Partition) simulates(m *sparse.Model, rep, s int, rewards []*sparse.Reward) bool {
	repFirst, repEnd := m.Choices(rep)
	first, end := m.Choices(s)
	for c := repFirst; c < repEnd; c++ {
		found := false
		for d := first; d < end && !found; d++ {
			found = p.equivalentChoices(m, c, d, rewards)
		}
		if !found {
			return false
		}
	}
	return true
}

// equivalentChoices reports whether two choices have the same rewards and lead to every block with the
// same probability.
func (p *Partition) equivalentChoices(m *sparse.Model, c, d int, rewards []*sparse.Reward) bool {
	for _, reward := range rewards {
		if !equalRats(entry(reward.ChoiceRat, c), entry(reward.ChoiceRat, d)) {
			return false
		}
	}
	difference := map[uint32]*big.Rat{}
	addWeights := func(choice int, sign int64) {
		first, end := m.Row(choice)
		for i := first; i < end; i++ {
			block := p.Block[m.Target[i]]
			if difference[block] == nil {
				difference[block] = new(big.Rat)
			}
			difference[block].Add(difference[block], new(big.Rat).Mul(big.NewRat(sign, 1), m.Rat(i)))
		}
	}
	addWeights(c, 1)
	addWeights(d, -1)
	for _, value := range difference {
		if value.Sign() != 0 {
			return false
		}
	}
	return true
}

// entry returns values[i], and 0 if values or the entry is nil.
func entry(values []*big.Rat, i int) *big.Rat {
	if values == nil || values[i] == nil {
		return new(big.Rat)
	}
	return values[i]
}

func equalRats(left, right *big.Rat) bool { return left.Cmp(right) == 0 }
