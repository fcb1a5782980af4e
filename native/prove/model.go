package prove

import (
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// numbers collects the distinct numbers of a certificate's model and gives each an index.
type numbers struct {
	*certificate.Model
	indexByText    map[string]uint32
	indexByPointer map[*big.Rat]uint32 // a cache of indexByText, by pointer
	zero           *big.Rat
}

// maxPointers is the greatest size of indexByPointer.
const maxPointers = 1 << 12

// indexOf returns the index of a fraction in the certificate's table of numbers, and adds the fraction if it is new. nil stands for 0.
func (table *numbers) indexOf(number *big.Rat) uint32 {
	if number == nil {
		number = table.zero
	}
	if index, isKnown := table.indexByPointer[number]; isKnown {
		return index
	}
	key := number.RatString()
	index, isKnown := table.indexByText[key]
	if !isKnown {
		index = uint32(len(table.Numbers))
		table.indexByText[key] = index
		table.Numbers = append(table.Numbers, number)
	}
	if len(table.indexByPointer) < maxPointers {
		table.indexByPointer[number] = index
	}
	return index
}

// Model converts a state space with fractions as weights, and all its rewards, to the model of a certificate.
func Model(space *explicit.Space) (*certificate.Model, error) {
	prover, err := New(space, Options{Ordered: true})
	if err != nil {
		return nil, err
	}
	for i := range prover.Model.Rewards {
		if _, err := prover.loadReward(i); err != nil {
			return nil, err
		}
	}
	return prover.Model, nil
}

// buildModel converts the state space to the model of a certificate. loadReward adds the values of rewards later.
func (prover *Prover) buildModel() {
	model := prover.graph.Model
	kinds := map[sparse.Kind]certificate.Kind{sparse.DTMC: certificate.DTMC, sparse.MDP: certificate.MDP, sparse.CTMC: certificate.CTMC}
	certificateModel := &certificate.Model{
		Kind:            kinds[model.Kind],
		FirstTransition: append(make([]uint32, 0, model.NumChoices()+1), 0),
		Target:          make([]uint32, 0, model.NumTransitions()), Prob: make([]uint32, 0, model.NumTransitions()),
		Rewards: make([]certificate.Reward, len(prover.space.Program().Rewards)),
	}
	for i := range certificateModel.Rewards {
		certificateModel.Rewards[i].Name = prover.space.Program().Rewards[i].Name
	}
	prover.numbers = &numbers{certificateModel, make(map[string]uint32), make(map[*big.Rat]uint32), new(big.Rat)}
	prover.Model = certificateModel
	prover.addChoices()
	initial := sparse.NewSet(model.NumStates())
	for _, s := range model.Initial {
		initial.Add(int(s))
	}
	certificateModel.Initial = prover.orderedBits(initial)
}

// addChoices adds the choices and transitions of all states to the model of the certificate.
func (prover *Prover) addChoices() {
	model, certificateModel := prover.graph.Model, prover.Model
	weightIndexes := make([]uint32, len(model.Fractions)) // the index of each weight in the certificate's table of numbers
	for i, fraction := range model.Fractions {
		weightIndexes[i] = prover.numbers.indexOf(fraction)
	}
	if model.FirstChoice != nil {
		certificateModel.FirstChoice = append(make([]uint32, 0, model.NumStates()+1), 0)
	}
	for _, s := range prover.orderedStates() {
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			prover.addChoice(s, choice, weightIndexes)
		}
		if model.FirstChoice != nil {
			certificateModel.FirstChoice = append(certificateModel.FirstChoice, uint32(len(certificateModel.FirstTransition)-1))
		}
	}
}

// addChoice adds the transitions of a choice of state s to the model of the certificate. weightIndexes has the index of each weight in the
// certificate's table of numbers.
func (prover *Prover) addChoice(s, choice int, weightIndexes []uint32) {
	model, certificateModel := prover.graph.Model, prover.Model
	firstProb := len(certificateModel.Prob)
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		certificateModel.Target = append(certificateModel.Target, prover.indexOf(model.Target[transition]))
		certificateModel.Prob = append(certificateModel.Prob, weightIndexes[model.WeightIndex[transition]])
	}
	if model.Kind == sparse.CTMC {
		prover.addExitRate(s, certificateModel.Prob[firstProb:])
	}
	certificateModel.FirstTransition = append(certificateModel.FirstTransition, uint32(len(certificateModel.Target)))
}

// addExitRate adds the exit rate of a state of a CTMC. It replaces the rates of its transitions by the probabilities of the jump chain.
// Rates and probabilities are given by their indexes in the certificate's table of numbers.
func (prover *Prover) addExitRate(s int, transitionRates []uint32) {
	exitRate := prover.exitRate(s)
	for i, rate := range transitionRates {
		transitionRates[i] = prover.numbers.indexOf(new(big.Rat).Quo(prover.numbers.Numbers[rate], exitRate))
	}
	prover.numbers.ExitRate = append(prover.numbers.ExitRate, prover.numbers.indexOf(exitRate))
}

// exitRate returns the exit rate of a state of a CTMC: the sum of its rates.
func (prover *Prover) exitRate(s int) *big.Rat {
	sum := new(big.Rat)
	first, end := prover.graph.Transitions(s)
	for transition := first; transition < end; transition++ {
		sum.Add(sum, prover.graph.Fraction(transition))
	}
	return sum
}

// loadReward returns the reward structure with the given index. The first call for it also adds its rewards to the model of the certificate.
func (prover *Prover) loadReward(index int) (*sparse.Reward, error) {
	if reward := prover.rewards[index]; reward != nil {
		return reward, nil
	}
	reward, err := prover.opts.Reward(index)
	if err != nil {
		if _, _, signed := prover.space.SignedReward(index); signed == nil {
			return nil, errors.New("there is no certificate of negative rewards")
		}
		return nil, err
	}
	prover.rewards[index] = reward
	certificateReward := &prover.Model.Rewards[index]
	for _, s := range prover.orderedStates() {
		if reward.StateFractions != nil {
			certificateReward.State = append(certificateReward.State, prover.numbers.indexOf(reward.StateFractions[s]))
		}
		if reward.ChoiceFractions != nil {
			certificateReward.Choice = prover.appendChoiceRewards(certificateReward.Choice, reward, s)
		}
	}
	return reward, nil
}

// appendChoiceRewards appends the reward of each choice of state s, as an index in the certificate's table of numbers. In a CTMC it divides the
// reward by the exit rate, because there a certificate has the mean reward of a sojourn.
func (prover *Prover) appendChoiceRewards(indices []uint32, reward *sparse.Reward, s int) []uint32 {
	first, end := prover.graph.Choices(s)
	for choice := first; choice < end; choice++ {
		choiceReward := reward.ChoiceFractions[choice]
		if prover.graph.Kind == sparse.CTMC && choiceReward != nil {
			choiceReward = new(big.Rat).Quo(choiceReward, prover.exitRate(s))
		}
		indices = append(indices, prover.numbers.indexOf(choiceReward))
	}
	return indices
}
