package sparse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Controller is a randomized finite-memory scheduler of an MDP. It starts in the node of the initial
// state, draws a move of the current node, and continues in the node that the move has for the
// transition taken.
type Controller struct {
	Nodes []Node
	Start []uint32 // the node of each initial state
}

// Node is a pair of a state and a memory value, with the moves that the controller makes there. No two
// nodes have the same pair.
type Node struct {
	State, Memory uint32
	Moves         []Move
}

// Move is a choice with its probability (nil for 1), and the next node for each of its transitions.
type Move struct {
	Choice uint32
	Prob   *big.Rat
	Next   []uint32
}

// validate returns an error unless every node fits the model.
func (controller *Controller) validate(model *Model) error {
	for i := range controller.Nodes {
		if err := controller.Nodes[i].validate(model); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	return nil
}

// validate returns an error unless the node fits the model: every move must be a choice of the node's state with a next node for each
// transition, and the probabilities of the moves must sum to one.
func (node *Node) validate(model *Model) error {
	sum := new(big.Rat)
	firstChoice, endChoice := model.Choices(int(node.State))
	for _, move := range node.Moves {
		if int(move.Choice) < firstChoice || int(move.Choice) >= endChoice {
			return fmt.Errorf("found choice %d, wanted one of state %d: %d to %d", move.Choice, node.State, firstChoice, endChoice-1)
		}
		first, end := model.Transitions(int(move.Choice))
		if len(move.Next) != end-first {
			return fmt.Errorf("found %d next nodes for choice %d, wanted %d, one for each transition", len(move.Next), move.Choice, end-first)
		}
		sum.Add(sum, move.Probability())
	}
	excess, _ := sum.Sub(sum, big.NewRat(1, 1)).Float64()
	const tolerance = 0x1p-40
	if math.Abs(excess) > tolerance {
		return errors.New("the probabilities of the moves do not sum to one")
	}
	return nil
}

// Probability returns the probability of the move.
func (move *Move) Probability() *big.Rat {
	if move.Prob == nil {
		return big.NewRat(1, 1)
	}
	return move.Prob
}

// Chain returns the Markov chain that the controller induces. Its states are the nodes; it has no rewards and no labels. The error is the
// error of the context, or says that the controller does not fit the model.
func (controller *Controller) Chain(ctx context.Context, model *Model) (*Model, error) {
	if err := controller.validate(model); err != nil {
		return nil, err
	}
	builder := NewBuilder(DTMC)
	isRandomized := false
	for i := range controller.Nodes {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		builder.State()
		isRandomized = isRandomized || len(controller.Nodes[i].Moves) > 1
		addInducedRow(builder, model, controller.Nodes[i].Moves)
	}
	chain, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	chain.RelErr = model.RelErr
	if isRandomized && model.Fractions == nil {
		chain.RelErr += moveErr
	}
	chain.Initial = slices.Clone(controller.Start)
	slices.Sort(chain.Initial)
	return chain, nil
}

// moveErr bounds the relative error that the rounding of move probabilities, and of products and sums
// with them, adds to the weights and rewards of the induced chain.
const moveErr = 0x1p-50

// addInducedRow adds the transitions of a node with the given moves to the induced chain. Transitions with the same next node and action
// become one transition.
func addInducedRow(builder *Builder, model *Model, moves []Move) {
	row := inducedRow{probabilities: map[destination]float64{}, exactProbabilities: map[destination]*big.Rat{}}
	for _, move := range moves {
		row.addMove(model, move)
	}
	slices.SortStableFunc(row.destinations, func(left, right destination) int { return cmp.Compare(left.node, right.node) })
	for _, target := range row.destinations {
		if model.Fractions != nil {
			builder.AddRat(int(target.node), row.exactProbabilities[target], target.action)
		} else {
			builder.AddAction(int(target.node), row.probabilities[target], target.action)
		}
	}
}

// destination is the target of a transition of the induced chain, with its action.
type destination struct {
	node   uint32
	action Action
}

// inducedRow has the probability of each destination, and the destinations in the order in which they were added.
type inducedRow struct {
	destinations       []destination
	probabilities      map[destination]float64
	exactProbabilities map[destination]*big.Rat // empty if the model has no fractions
}

// addMove adds the probability of each transition of a move to the probability of its destination.
func (row *inducedRow) addMove(model *Model, move Move) {
	target := destination{action: NoAction}
	if model.Actions != nil {
		target.action = model.Actions[move.Choice]
	}
	probability, _ := move.Probability().Float64()
	first, _ := model.Transitions(int(move.Choice))
	for i, next := range move.Next {
		target.node = next
		if row.probabilities[target] == 0 {
			row.destinations = append(row.destinations, target)
		}
		row.probabilities[target] += probability * model.Prob(first+i)
		if model.Fractions == nil {
			continue
		}
		if row.exactProbabilities[target] == nil {
			row.exactProbabilities[target] = new(big.Rat)
		}
		row.exactProbabilities[target].Add(row.exactProbabilities[target], new(big.Rat).Mul(move.Probability(), model.Fraction(first+i)))
	}
}

// Reward translates a reward structure of the model to the induced chain. The choice reward of a node is the expected reward of its moves.
func (controller *Controller) Reward(reward *Reward) *Reward {
	chainReward := &Reward{Name: reward.Name, RelErr: reward.RelErr, RangeErr: reward.RangeErr}
	for _, node := range controller.Nodes {
		if reward.State != nil {
			chainReward.State = append(chainReward.State, reward.State[node.State])
		}
		if reward.StateFractions != nil {
			chainReward.StateFractions = append(chainReward.StateFractions, reward.StateFractions[node.State])
		}
		if reward.Choice == nil {
			continue
		}
		nearest, exact := reward.expectedChoice(node.Moves)
		chainReward.Choice = append(chainReward.Choice, nearest)
		if reward.ChoiceFractions != nil {
			chainReward.ChoiceFractions = append(chainReward.ChoiceFractions, exact)
		}
		if len(node.Moves) > 1 {
			chainReward.RelErr = reward.RelErr + moveErr
		}
	}
	return chainReward
}

// expectedChoice returns the expected choice reward of some moves, as a float64 and as a fraction. exact is nil if the reward is zero or
// has no fraction.
func (reward *Reward) expectedChoice(moves []Move) (nearest float64, exact *big.Rat) {
	for _, move := range moves {
		probability, _ := move.Probability().Float64()
		nearest += probability * reward.Choice[move.Choice]
		if reward.ChoiceFractions == nil || reward.ChoiceFractions[move.Choice] == nil {
			continue
		}
		if exact == nil {
			exact = new(big.Rat)
		}
		exact.Add(exact, new(big.Rat).Mul(move.Probability(), reward.ChoiceFractions[move.Choice]))
	}
	if exact != nil {
		nearest, _ = NormalFloat(exact)
	}
	return nearest, exact
}
