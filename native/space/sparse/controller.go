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

// validate checks that the controller fits a model.
func (x *Controller) validate(m *Model) error {
	for i, n := range x.Nodes {
		sum := new(big.Rat)
		for _, v := range n.Moves {
			first, end := m.Choices(int(n.State))
			if int(v.Choice) < first || int(v.Choice) >= end {
				return fmt.Errorf("node %d: choice %d of state %d, which has %d to %d", i, v.Choice, n.State, first, end-1)
			}
			if lo, hi := m.Row(int(v.Choice)); len(v.Next) != hi-lo {
				return fmt.Errorf("node %d: %d nodes after choice %d, which has %d transitions", i, len(v.Next), v.Choice, hi-lo)
			}
			sum.Add(sum, v.Probability())
		}
		if near, _ := sum.Sub(sum, big.NewRat(1, 1)).Float64(); near < -0x1p-40 || near > 0x1p-40 {
			return fmt.Errorf("node %d: the probabilities of the choices do not sum to one", i)
		}
	}
	return nil
}

// Probability returns the probability of the move.
func (v *Move) Probability() *big.Rat {
	if v.Prob == nil {
		return big.NewRat(1, 1)
	}
	return v.Prob
}

// Chain returns the induced Markov chain, whose states are the nodes. Rewards and labels of m are not
// copied. The error is the context's, or says that the controller does not fit the model.
func (x *Controller) Chain(ctx context.Context, m *Model) (*Model, error) {
	if err := x.validate(m); err != nil {
		return nil, err
	}
	b := NewBuilder(DTMC)
	mixed := false
	for i := range x.Nodes {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.State()
		mixed = mixed || len(x.Nodes[i].Moves) > 1
		x.addRow(b, m, x.Nodes[i].Moves)
	}
	out, err := b.Finish()
	if err != nil {
		return nil, err
	}
	if out.Err = m.Err; mixed && m.Rats == nil {
		out.Err += 0x1p-50 // rounding of move probabilities, products and sums
	}
	out.Initial = slices.Clone(x.Start)
	slices.Sort(out.Initial)
	return out, nil
}

// addRow adds the transitions of a node, summed by target and action.
func (x *Controller) addRow(b *Builder, m *Model, moves []Move) {
	type to struct {
		node   uint32
		action Action
	}
	var order []to
	near, exact := map[to]float64{}, map[to]*big.Rat{}
	for _, v := range moves {
		key := to{action: NoAction}
		if m.Actions != nil {
			key.action = m.Actions[v.Choice]
		}
		part, _ := v.Probability().Float64()
		lo, _ := m.Row(int(v.Choice))
		for k, n := range v.Next {
			if key.node = n; near[key] == 0 {
				order = append(order, key)
			}
			near[key] += part * m.Prob(lo+k)
			if m.Rats != nil {
				if exact[key] == nil {
					exact[key] = new(big.Rat)
				}
				exact[key].Add(exact[key], new(big.Rat).Mul(v.Probability(), m.Rat(lo+k)))
			}
		}
	}
	slices.SortStableFunc(order, func(s, t to) int { return int(s.node) - int(t.node) })
	for _, key := range order {
		if m.Rats != nil {
			b.AddRat(int(key.node), exact[key], key.action)
		} else {
			b.AddAction(int(key.node), near[key], key.action)
		}
	}
}

// Reward returns a reward structure of the model for the induced chain. A node with several moves has
// their expected reward.
func (x *Controller) Reward(r *Reward) *Reward {
	out := &Reward{Name: r.Name, Err: r.Err, Unfit: r.Unfit}
	for _, n := range x.Nodes {
		if r.State != nil {
			out.State = append(out.State, r.State[n.State])
		}
		if r.StateRat != nil {
			out.StateRat = append(out.StateRat, r.StateRat[n.State])
		}
		if r.Choice == nil {
			continue
		}
		near, exact := r.expectedChoice(n.Moves)
		out.Choice = append(out.Choice, near)
		if r.ChoiceRat != nil {
			out.ChoiceRat = append(out.ChoiceRat, exact)
		}
		if len(n.Moves) > 1 {
			out.Err = r.Err + 0x1p-50
		}
	}
	return out
}

// expectedChoice returns the expected choice reward of the moves. The fraction is nil if it is zero.
func (r *Reward) expectedChoice(moves []Move) (near float64, exact *big.Rat) {
	for _, v := range moves {
		part, _ := v.Probability().Float64()
		near += part * r.Choice[v.Choice]
		if r.ChoiceRat == nil || r.ChoiceRat[v.Choice] == nil {
			continue
		}
		if exact == nil {
			exact = new(big.Rat)
		}
		exact.Add(exact, new(big.Rat).Mul(v.Probability(), r.ChoiceRat[v.Choice]))
	}
	if exact != nil {
		near, _ = NormalFloat(exact)
	}
	return near, exact
}
