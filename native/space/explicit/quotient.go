package explicit

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Quotient returns a space with the choices, transitions and rewards of a model. State i of the model
// stands for state states[i] of s: the representative of a bisimulation block, or a state that a
// scheduler reaches. Expressions are evaluated in states[i]. rewards maps an index into
// Program.Rewards to the rewards of the model; other reward structures are not available. The program
// stays the same, even if the model is of another kind.
func (s *Space) Quotient(states []uint32, model *sparse.Model, rewards map[int]*sparse.Reward) *Space {
	quotient := &Space{
		compiled: s.compiled, codec: s.codec, store: newStore(s.codec.words), model: model,
		overlaps: s.overlaps, fallback: s.fallback, prismDifferences: s.prismDifferences, imported: s.imported, normalised: s.normalised,
		quotient: &quotientData{rewards},
	}
	for _, i := range states {
		quotient.store.add(s.store.state(int(i)))
	}
	return quotient
}

// quotientData holds the rewards of a quotient, by index into Program.Rewards.
type quotientData struct{ rewards map[int]*sparse.Reward }

// withoutFractions returns the rewards as float64 only.
func (quotient *quotientData) withoutFractions() *quotientData {
	rewards := map[int]*sparse.Reward{}
	for i, reward := range quotient.rewards {
		rounded := *reward
		rounded.StateRat, rounded.ChoiceRat = nil, nil
		rewards[i] = &rounded
	}
	return &quotientData{rewards}
}

// transitionRewards returns the reward of each transition of a quotient, which is the reward of its
// choice, as float64 values and as fractions. A result is nil if there are no such rewards.
func (quotient *quotientData) transitionRewards(model *sparse.Model, index int) ([]float64, []*big.Rat) {
	reward := quotient.rewards[index]
	if reward == nil {
		return nil, nil
	}
	var values []float64
	var rats []*big.Rat
	for c := range model.NumChoices() {
		first, end := model.Row(c)
		for range end - first {
			if reward.Choice != nil {
				values = append(values, reward.Choice[c])
			}
			if reward.ChoiceRat != nil {
				rats = append(rats, reward.ChoiceRat[c])
			}
		}
	}
	return values, rats
}
