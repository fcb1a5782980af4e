package explicit

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Quotient returns a space with the choices and transitions of another model, and with the given rewards. State i of the model represents
// state states[i] of the space, for example as a block of a bisimulation. Expressions are evaluated in states[i].
//
// rewards maps an index into Program.Rewards to the rewards of the model. Other reward structures are not available. The program stays the
// same, even if the model is of another kind.
func (space *Space) Quotient(states []uint32, model *sparse.Model, rewards map[int]*sparse.Reward) *Space {
	quotient := &Space{
		compiled: space.compiled, codec: space.codec, store: newStore(space.codec.wordsPerState), model: model,
		numOverlaps: space.numOverlaps, whyInterpreted: space.whyInterpreted, prismDifferences: space.prismDifferences, imported: space.imported, isNormalised: space.isNormalised,
		quotient: &quotientData{rewards},
	}
	for _, i := range states {
		quotient.store.addState(space.store.packedState(int(i)))
	}
	return quotient
}

// WithModel returns a space with the same states, and with the choices and transitions of another model. It has no rewards.
func (space *Space) WithModel(model *sparse.Model) *Space {
	states := make([]uint32, model.NumStates())
	for s := range states {
		states[s] = uint32(s)
	}
	return space.Quotient(states, model, nil)
}

// quotientData holds the rewards of a quotient, by index into Program.Rewards.
type quotientData struct{ rewards map[int]*sparse.Reward }

// withoutFractions returns a copy of the data in which the rewards have float64 values only.
func (quotient *quotientData) withoutFractions() *quotientData {
	rewards := map[int]*sparse.Reward{}
	for i, reward := range quotient.rewards {
		rounded := *reward
		rounded.StateFractions, rounded.ChoiceFractions = nil, nil
		rewards[i] = &rounded
	}
	return &quotientData{rewards}
}

// transitionRewards returns the reward of each transition of a quotient, which is the reward of its choice, as float64 and as fractions. A result is nil if
// the reward structure does not have such numbers.
func (quotient *quotientData) transitionRewards(model *sparse.Model, index int) (values []float64, fractions []*big.Rat) {
	reward := quotient.rewards[index]
	if reward == nil {
		return nil, nil
	}
	for choice := range model.NumChoices() {
		first, end := model.Transitions(choice)
		for range end - first {
			if reward.Choice != nil {
				values = append(values, reward.Choice[choice])
			}
			if reward.ChoiceFractions != nil {
				fractions = append(fractions, reward.ChoiceFractions[choice])
			}
		}
	}
	return values, fractions
}
