package sparse

import (
	"context"
	"fmt"
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

// validate returns an error unless every move is a choice of its state in the model, has a next node for
// each transition of the choice, and the probabilities of each node's moves sum to one.
func (controller *Controller) validate(m *Model) error {
	for i, node := range controller.Nodes {
		sum := new(big.Rat)
		for _, move := range node.Moves {
			first, end := m.Choices(int(node.State))
			if int(move.Choice) < first || int(move.Choice) >= end {
				return fmt.Errorf("node %d: found choice %d, wanted one of state %d: %d to %d", i, move.Choice, node.State, first, end-1)
			}
			if firstTransition, endTransition := m.Row(int(move.Choice)); len(move.Next) != endTransition-firstTransition {
				return fmt.Errorf("node %d: found %d next nodes for choice %d, wanted %d, one for each transition", i, len(move.Next), move.Choice, endTransition-firstTransition)
			}
			sum.Add(sum, move.Probability())
		}
		excess, _ := sum.Sub(sum, big.NewRat(1, 1)).Float64()
		if excess < -0x1p-40 || excess > 0x1p-40 {
			return fmt.Errorf("node %d: the probabilities of the moves do not sum to one", i)
		}
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

// Chain returns the induced Markov chain, whose states are the nodes. Rewards and labels of m are not
// copied. The error is the context's, or says that the controller does not fit the model.
func (controller *Controller) Chain(ctx context.Context, m *Model) (*Model, error) {
	if err := controller.validate(m); err != nil {
		return nil, err
	}
	builder := NewBuilder(DTMC)
	mixed := false
	for i := range controller.Nodes {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		builder.State()
		mixed = mixed || len(controller.Nodes[i].Moves) > 1
		controller.addRow(builder, m, controller.Nodes[i].Moves)
	}
	out, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	out.Err = m.Err
	if mixed && m.Rats == nil {
		out.Err += 0x1p-50 // rounding of move probabilities, products and sums
	}
	out.Initial = slices.Clone(controller.Start)
	slices.Sort(out.Initial)
	return out, nil
}

// addRow adds the transitions of a node with the given moves. Transitions with the same next node and the
// same action are merged, and their probabilities added.
func (controller *Controller) addRow(builder *Builder, m *Model, moves []Move) {
	type destination struct {
		node   uint32
		action Action
	}
	var order []destination
	sums, exactSums := map[destination]float64{}, map[destination]*big.Rat{}
	for _, move := range moves {
		to := destination{action: NoAction}
		if m.Actions != nil {
			to.action = m.Actions[move.Choice]
		}
		probability, _ := move.Probability().Float64()
		firstTransition, _ := m.Row(int(move.Choice))
		for i, next := range move.Next {
			to.node = next
			if sums[to] == 0 {
				order = append(order, to)
			}
			sums[to] += probability * m.Prob(firstTransition+i)
			if m.Rats != nil {
				if exactSums[to] == nil {
					exactSums[to] = new(big.Rat)
				}
				exactSums[to].Add(exactSums[to], new(big.Rat).Mul(move.Probability(), m.Rat(firstTransition+i)))
			}
		}
	}
	slices.SortStableFunc(order, func(x, y destination) int { return int(x.node) - int(y.node) })
	for _, to := range order {
		if m.Rats != nil {
			builder.AddRat(int(to.node), exactSums[to], to.action)
		} else {
			builder.AddAction(int(to.node), sums[to], to.action)
		}
	}
}

// Reward translates a reward structure of the model to the induced chain. The reward of a node with
// several moves is the expectation over them.
func (controller *Controller) Reward(reward *Reward) *Reward {
	out := &Reward{Name: reward.Name, Err: reward.Err, Unfit: reward.Unfit}
	for _, node := range controller.Nodes {
		if reward.State != nil {
			out.State = append(out.State, reward.State[node.State])
		}
		if reward.StateRat != nil {
			out.StateRat = append(out.StateRat, reward.StateRat[node.State])
		}
		if reward.Choice == nil {
			continue
		}
		near, exact := reward.expectedChoice(node.Moves)
		out.Choice = append(out.Choice, near)
		if reward.ChoiceRat != nil {
			out.ChoiceRat = append(out.ChoiceRat, exact)
		}
		if len(node.Moves) > 1 {
			out.Err = reward.Err + 0x1p-50
		}
	}
	return out
}

// expectedChoice returns the expected choice reward of a node's moves, as a float64 and as a fraction. The
// fraction is nil if it is zero.
func (r *Reward) expectedChoice(moves []Move) (near float64, exact *big.Rat) {
	for _, move := range moves {
		probability, _ := move.Probability().Float64()
		near += probability * r.Choice[move.Choice]
		if r.ChoiceRat == nil || r.ChoiceRat[move.Choice] == nil {
			continue
		}
		if exact == nil {
			exact = new(big.Rat)
		}
		exact.Add(exact, new(big.Rat).Mul(move.Probability(), r.ChoiceRat[move.Choice]))
	}
	if exact != nil {
		near, _ = NormalFloat(exact)
	}
	return near, exact
}
