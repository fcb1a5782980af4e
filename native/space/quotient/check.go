package quotient

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// MistakeError says why a partition is not a bisimulation: Why two states of a block differ.
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
			return &MistakeError{[2]int{rep, s}, "are told apart by the property"}
		case rep == s:
			continue
		}
		for _, reward := range rewards {
			if !equal(entry(reward.StateRat, rep), entry(reward.StateRat, s)) {
				return &MistakeError{[2]int{rep, s}, "earn different rewards"}
			}
		}
		if !p.simulates(m, rep, s, rewards) || !p.simulates(m, s, rep, rewards) {
			return &MistakeError{[2]int{rep, s}, "one has a choice that the other has not"}
		}
	}
	return nil
}

// simulates reports whether s has an equivalent choice for each choice of rep.
func (p *Partition) simulates(m *sparse.Model, rep, s int, rewards []*sparse.Reward) bool {
	first, end := m.Choices(rep)
	from, to := m.Choices(s)
	for c := first; c < end; c++ {
		found := false
		for d := from; d < to && !found; d++ {
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
		if !equal(entry(reward.ChoiceRat, c), entry(reward.ChoiceRat, d)) {
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

// entry returns x[i], and 0 if that is missing.
func entry(x []*big.Rat, i int) *big.Rat {
	if x == nil || x[i] == nil {
		return new(big.Rat)
	}
	return x[i]
}

func equal(x, y *big.Rat) bool { return x.Cmp(y) == 0 }
