package prove

import (
	"fmt"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/several"
	"tilecheck/native/space/sparse"
)

// maxProductStates is the greatest number of states of the product.
const maxProductStates = maxExactStates

// objectivesProduct returns the product of the model with the memory of its objectives. It stores the number of product states in the
// certificate.
func (proof *vectorProof) objectivesProduct() (*several.Product, error) {
	var sets []certificate.Bits
	for _, setIndex := range proof.Vector.Sets() {
		set, err := proof.decidedSet(proof.ctx, setIndex, proof.effort)
		if err != nil {
			return nil, err
		}
		sets = append(sets, proof.orderedBits(set))
	}
	for _, objective := range proof.Several.Objectives {
		if objective.Reward < 0 {
			continue
		}
		if _, err := proof.Prover.loadReward(objective.Reward); err != nil {
			return nil, err
		}
	}
	proof.Several.States = maxProductStates
	product, err := several.New(proof.ctx, proof.Model, proof.Several, sets, proof.Model.StepRewards)
	if err != nil {
		return nil, fmt.Errorf("several objectives: %w", err)
	}
	proof.Several.States = product.NumStates()
	return product, nil
}

// withEndState returns the product with an additional absorbing end state. Each state of an end component without costs gets an additional
// last choice to the end state. This choice stands for staying in the component forever.
func (search *weightSearch) withEndState() (*sparse.Graph, error) {
	model := search.product.Model
	endState := model.NumStates()
	builder := sparse.NewBuilder(sparse.MDP)
	for s := range model.NumStates() {
		builder.State()
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			copyChoice(builder, model, choice)
		}
		if search.endComponents.ID[s] != sparse.None {
			addDiracChoice(builder, endState)
		}
	}
	builder.State()
	addDiracChoice(builder, endState)
	result, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	result.Initial = []uint32{0}
	return sparse.NewGraph(result), nil
}

// copyChoice adds a choice of a certificate's model, with its transitions, to the last state of a builder.
func copyChoice(builder *sparse.Builder, model *certificate.Model, choice int) {
	builder.Choice(sparse.NoAction)
	first, end := model.Row(choice)
	for transition := first; transition < end; transition++ {
		builder.AddRat(int(model.Target[transition]), model.Numbers[model.Prob[transition]], sparse.NoAction)
	}
}

// addDiracChoice adds a choice with a single transition to target, with probability 1.
func addDiracChoice(builder *sparse.Builder, target int) {
	builder.Choice(sparse.NoAction)
	builder.AddRat(target, big.NewRat(1, 1), sparse.NoAction)
}
