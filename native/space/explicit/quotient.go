package explicit

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Quotient returns a space with the given states, and with the choices, transitions and rewards of
// m. State i of m is states[i] of s: a representative of a block, or a state that a scheduler
// reaches. Expressions are evaluated in states[i]. rewards holds the rewards of m by index into
// Program.Rewards; other reward structures are not available. The program stays the same, even if
// m has another kind.
func (s *Space) Quotient(states []uint32, m *sparse.Model, rewards map[int]*sparse.Reward) *Space {
	out := &Space{
		compiled: s.compiled, codec: s.codec, store: newStore(s.codec.words), model: m,
		overlaps: s.overlaps, fallback: s.fallback, prismDifferences: s.prismDifferences, imported: s.imported, normalised: s.normalised,
		blocks: &blocks{rewards},
	}
	for _, i := range states {
		out.store.add(s.store.at(int(i)))
	}
	return out
}

// blocks holds the rewards of a quotient, by index into Program.Rewards.
type blocks struct{ rewards map[int]*sparse.Reward }

// transitionRewards returns the reward of each transition: the reward of its choice.
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
