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
	// Deviations are the other choices of the state. The controller does not make them, but in a game a player
	// who does not follow the controller can. Their probabilities have no meaning. Only controllers of games have them.
	Deviations []Move
	// IsFree reports that the controller does not choose here, because the state belongs to a player who does not
	// follow it. Moves are then all choices of the state, with equal probabilities.
	IsFree bool
}

// Move is a choice with its probability (nil for 1), and the next node for each of its transitions.
type Move struct {
	Choice uint32
	Prob   *big.Rat
	Next   []uint32
}

// validate returns an error unless every node of the controller has moves that exist in the model.
func (controller *Controller) validate(model *Model) error {
	for i := range controller.Nodes {
		if err := controller.Nodes[i].validate(model); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	return nil
}

// validate returns an error unless every move of the node, and every deviation, is a choice of the node's state with a next node for each transition, and
// the probabilities of the moves sum to one.
func (node *Node) validate(model *Model) error {
	sum := new(big.Rat)
	for i := range node.Moves {
		if err := node.validateMove(model, &node.Moves[i]); err != nil {
			return err
		}
		sum.Add(sum, node.Moves[i].Probability())
	}
	for i := range node.Deviations {
		if err := node.validateMove(model, &node.Deviations[i]); err != nil {
			return err
		}
	}
	excess, _ := sum.Sub(sum, big.NewRat(1, 1)).Float64()
	const tolerance = 0x1p-40
	if math.Abs(excess) > tolerance {
		return errors.New("the probabilities of the moves do not sum to one")
	}
	return nil
}

// validateMove returns an error unless a move is a choice of the node's state with a next node for each transition.
func (node *Node) validateMove(model *Model, move *Move) error {
	firstChoice, endChoice := model.Choices(int(node.State))
	if int(move.Choice) < firstChoice || int(move.Choice) >= endChoice {
		return fmt.Errorf("found choice %d, wanted one of state %d: %d to %d", move.Choice, node.State, firstChoice, endChoice-1)
	}
	first, end := model.Transitions(int(move.Choice))
	if len(move.Next) != end-first {
		return fmt.Errorf("found %d next nodes for choice %d, wanted %d, one for each transition", len(move.Next), move.Choice, end-first)
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

// Chain returns the Markov chain that the controller induces. Its states are the nodes; it has no rewards and no labels. In a free node all
// moves are equally likely. The error is the error of the context, or says that the controller does not fit the model.
func (controller *Controller) Chain(ctx context.Context, model *Model) (*Model, error) {
	return controller.induce(ctx, model, DTMC)
}

// MDP returns the MDP that the controller leaves to the players who do not follow it: each move of a free node is a choice. In all other
// respects it is like Chain.
func (controller *Controller) MDP(ctx context.Context, model *Model) (*Model, error) {
	return controller.induce(ctx, model, MDP)
}

// induce returns the model that the controller induces, with the nodes as states. For the kind MDP, each move of a free node is a choice, so that the player
// who is not controlled still chooses.
func (controller *Controller) induce(ctx context.Context, model *Model, kind Kind) (*Model, error) {
	if err := controller.validate(model); err != nil {
		return nil, err
	}
	builder := NewBuilder(kind)
	isRandomized := false
	for i := range controller.Nodes {
		if i%pollInterval == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		builder.State()
		for _, moves := range controller.Nodes[i].Choices(kind) {
			isRandomized = isRandomized || len(moves) > 1
			if kind == MDP {
				builder.Choice(NoAction)
			}
			addInducedRow(builder, model, moves, kind)
		}
	}
	induced, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	induced.RelErr = model.RelErr
	if isRandomized && model.Fractions == nil {
		induced.RelErr += moveErr
	}
	induced.Initial = slices.Clone(controller.Start)
	slices.Sort(induced.Initial)
	return induced, nil
}

// Choices returns the choices of the node in the model that the controller induces. In an MDP each move of a free node is a choice, with the
// probability 1. Otherwise all moves together are one choice.
func (node *Node) Choices(kind Kind) [][]Move {
	if kind != MDP || !node.IsFree {
		return [][]Move{node.Moves}
	}
	var choices [][]Move
	for _, move := range node.Moves {
		move.Prob = nil
		choices = append(choices, []Move{move})
	}
	return choices
}

// Followed returns the part of the controller that is reachable if all players follow it. It has no deviations, and no nodes that are reached only by
// deviations. The nodes keep their order.
func (controller *Controller) Followed() *Controller {
	isReached := NewSet(len(controller.Nodes))
	queue := slices.Clone(controller.Start)
	for len(queue) > 0 {
		number := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if isReached.Has(int(number)) {
			continue
		}
		isReached.Add(int(number))
		for _, move := range controller.Nodes[number].Moves {
			queue = append(queue, move.Next...)
		}
	}
	return controller.withNodes(isReached)
}

// withNodes returns the controller with only the given nodes, which get new numbers, and without deviations. The moves of these nodes must lead only to
// these nodes.
func (controller *Controller) withNodes(nodes *Set) *Controller {
	newNumbers := make([]uint32, len(controller.Nodes))
	for position, number := range slices.Collect(nodes.All()) {
		newNumbers[number] = uint32(position)
	}
	restricted := &Controller{Start: SelectEntries(newNumbers, controller.Start)}
	for number := range nodes.All() {
		node := controller.Nodes[number]
		node.Moves, node.Deviations = slices.Clone(node.Moves), nil
		for i := range node.Moves {
			node.Moves[i].Next = SelectEntries(newNumbers, node.Moves[i].Next)
		}
		restricted.Nodes = append(restricted.Nodes, node)
	}
	return restricted
}

// moveErr bounds the relative error that the rounding of move probabilities, and of products and sums
// with them, adds to the weights and rewards of the induced chain.
const moveErr = 0x1p-50

// addInducedRow adds a row to the induced model: the transitions of a node if it makes the given moves, each with its probability. Transitions with the same
// next node and action are merged. In an MDP they have no actions.
func addInducedRow(builder *Builder, model *Model, moves []Move, kind Kind) {
	row := inducedRow{hasActions: kind == DTMC && model.Actions != nil, probabilities: map[destination]float64{}, exactProbabilities: map[destination]*big.Rat{}}
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
	hasActions         bool
	destinations       []destination
	probabilities      map[destination]float64
	exactProbabilities map[destination]*big.Rat // empty if the model has no fractions
}

// addMove adds the transitions of a move to a row of the induced model: for each next node, the probability of the move times the probability of the
// transition.
func (row *inducedRow) addMove(model *Model, move Move) {
	target := destination{action: NoAction}
	if row.hasActions {
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

// expectedChoice returns the expected choice reward of a node that draws one of the given moves, as a float64 and as a fraction. exact is nil if the reward
// is zero or has no fractions.
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
