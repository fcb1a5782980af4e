package explicit

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Quotient returns a space of some of the states with the choices, transitions and rewards of
// another model instead of their own: of each block of a partition one, or those that a scheduler
// reaches. State i of m is states[i], in which everything about it is evaluated. Rewards has
// those of some structures of the program, by index. The program remains what it is, also where
// m is of another kind.
func (s *Space) Quotient(states []uint32, m *sparse.Model, rewards map[int]*sparse.Reward) *Space {
	out := &Space{
		compiled: s.compiled, codec: s.codec, store: newStore(s.codec.words), model: m,
		overlaps: s.overlaps, fallback: s.fallback, differ: s.differ, imported: s.imported, normalised: s.normalised,
		blocks: &blocks{rewards},
	}
	for _, i := range states {
		out.store.add(s.store.at(int(i)))
	}
	return out
}

// blocks is what a Space knows that is a quotient.
type blocks struct{ rewards map[int]*sparse.Reward }

// transitionRewards are those of the choices, on every transition.
func (b *blocks) transitionRewards(m *sparse.Model, index int) ([]float64, []*big.Rat) {
	r := b.rewards[index]
	if r == nil {
		return nil, nil
	}
	var values []float64
	var rats []*big.Rat
	for c := range m.NumChoices() {
		lo, hi := m.Row(c)
		for range hi - lo {
			if r.Choice != nil {
				values = append(values, r.Choice[c])
			}
			if r.ChoiceRat != nil {
				rats = append(rats, r.ChoiceRat[c])
			}
		}
	}
	return values, rats
}
