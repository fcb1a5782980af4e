package belief

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// Any is the Action of a node that takes every action with the same probability.
const Any = -1

// Controller is a strategy of a POMDP as a finite automaton. It starts in node 0, takes the action of
// the current node, and moves on by the next observation.
type Controller struct {
	Nodes []Node
}

// Node is a state of a Controller.
type Node struct {
	// Observation is the observation with which the node is entered.
	Observation uint32
	// Action is the number of the action, as in the first state with the observation, or Any.
	Action int
	// Next has an edge for each possible next observation, in increasing order. Observations of
	// terminal states are left out.
	Next []Edge
}

// Edge is the node that a Controller enters with an observation.
type Edge struct {
	Observation uint32
	Node        int
}

// next returns the node after an observation, -1 for none.
func (n *Node) next(observation uint32) int {
	i, ok := slices.BinarySearchFunc(n.Next, observation, func(e Edge, o uint32) int { return int(int64(e.Observation) - int64(o)) })
	if !ok {
		return -1
	}
	return n.Next[i].Node
}

// Chain is the Markov chain that a controller induces.
type Chain struct {
	Model *sparse.Model
	// State and Node are the state of the POMDP and the node of the controller, for each state of the
	// chain.
	State []uint32
	Node  []int
}

// errTooLarge says that a chain has more states than allowed.
var errTooLarge = fmt.Errorf("the chain of the strategy is too large")

// inducedChain returns the Markov chain of a controller that starts in a state, with at most limit
// states. Terminal states are absorbing.
func (g *pomdp) inducedChain(ctx context.Context, controller *Controller, start uint32, limit int) (*Chain, error) {
	out := &Chain{}
	type pair struct {
		state uint32
		node  int
	}
	number := map[pair]int{}
	visit := func(s uint32, n int) (int, error) {
		if g.terminal.Has(int(s)) {
			n = 0
		}
		if n < 0 {
			return 0, fmt.Errorf("the strategy has no action for observation %d", g.Observation[s])
		}
		i, known := number[pair{s, n}]
		if !known {
			i = len(out.State)
			number[pair{s, n}] = i
			out.State = append(out.State, s)
			out.Node = append(out.Node, n)
		}
		return i, nil
	}
	if _, err := visit(start, 0); err != nil {
		return nil, err
	}
	builder := sparse.NewBuilder(sparse.DTMC)
	for i := 0; i < len(out.State); i++ {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(out.State) > limit {
			return nil, errTooLarge
		}
		builder.State()
		s, n := out.State[i], out.Node[i]
		if g.terminal.Has(int(s)) {
			builder.AddRat(i, big.NewRat(1, 1), sparse.NoAction)
			continue
		}
		for _, t := range g.transitions(s, controller.Nodes[n].Action) {
			to, err := visit(t.target, controller.Nodes[n].next(g.Observation[t.target]))
			if err != nil {
				return nil, err
			}
			builder.AddRat(to, t.prob, sparse.NoAction)
		}
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{0}
	out.Model = model
	return out, nil
}

type transition struct {
	target uint32
	prob   *big.Rat
}

// transitions returns the transitions of an action in a state, sorted and merged by target. For Any all
// actions are equally likely.
func (g *pomdp) transitions(s uint32, action int) []transition {
	var all []transition
	firstAction, numActions := action, 1
	if action == Any {
		firstAction, numActions = 0, g.numActions(s)
	}
	for number := firstAction; number < firstAction+numActions; number++ {
		first, end := g.model.Row(g.choiceOf(s, number))
		for i := first; i < end; i++ {
			prob := g.model.Rat(i)
			if numActions > 1 {
				prob = new(big.Rat).Mul(prob, big.NewRat(1, int64(numActions)))
			}
			all = append(all, transition{g.model.Target[i], prob})
		}
	}
	slices.SortStableFunc(all, func(a, b transition) int { return int(a.target) - int(b.target) })
	merged := all[:0]
	for _, entry := range all {
		if last := len(merged); last > 0 && merged[last-1].target == entry.target {
			merged[last-1].prob = new(big.Rat).Add(merged[last-1].prob, entry.prob)
			continue
		}
		merged = append(merged, entry)
	}
	return merged
}

// possibleObservations returns the observations that can follow an action in some of the states, in increasing order.
func (g *pomdp) possibleObservations(states []uint32, action int) []uint32 {
	seen := map[uint32]bool{}
	for _, s := range states {
		if g.terminal.Has(int(s)) {
			continue
		}
		first, numActions := action, 1
		if action == Any {
			first, numActions = 0, g.numActions(s)
		}
		for k := first; k < first+numActions; k++ {
			row, rowEnd := g.model.Row(g.choiceOf(s, k))
			for _, t := range g.model.Target[row:rowEnd] {
				if !g.terminal.Has(int(t)) {
					seen[g.Observation[t]] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// chainReward returns the state rewards of the Markov chain that a controller induces.
func (g *pomdp) chainReward(controller *Controller, chain *Chain) *sparse.Reward {
	if g.Reward == nil {
		return nil
	}
	reward := &sparse.Reward{Name: g.Reward.Name, Err: 0x1p-53}
	for i, s := range chain.State {
		stateReward := new(big.Rat)
		if !g.terminal.Has(int(s)) {
			stateReward = g.expectedReward(s, controller.Nodes[chain.Node[i]].Action)
		}
		reward.State = append(reward.State, toFloat(stateReward))
		reward.StateRat = append(reward.StateRat, stateReward)
	}
	return reward
}

// toFloat returns the float64 nearest to a nonnegative fraction, and 0 only for 0.
func toFloat(value *big.Rat) float64 {
	if value.Sign() == 0 {
		return 0
	}
	f, _ := sparse.NormalFloat(value)
	return f
}

// expectedReward returns the reward of an action in a state. For Any it is the mean over all actions.
func (g *pomdp) expectedReward(s uint32, action int) *big.Rat {
	if action != Any {
		return g.rewardOf(s, g.choiceOf(s, action))
	}
	sum := new(big.Rat)
	numActions := g.numActions(s)
	for k := range numActions {
		sum.Add(sum, g.rewardOf(s, g.choiceOf(s, k)))
	}
	return sum.Quo(sum, big.NewRat(int64(numActions), 1))
}

// evaluate solves the Markov chain that a controller induces from the start state. limit is the greatest
// number of states of this chain.
func (g *pomdp) evaluate(ctx context.Context, controller *Controller, start uint32, limit int, opts solve.Options) (*solve.Values, *Chain, error) {
	chain, err := g.inducedChain(ctx, controller, start, limit)
	if err != nil {
		return nil, nil, err
	}
	n := len(chain.State)
	left, target := sparse.NewSet(n), sparse.NewSet(n)
	for i, s := range chain.State {
		switch {
		case g.Target.Has(int(s)):
			target.Add(i)
		case !g.terminal.Has(int(s)):
			left.Add(i)
		}
	}
	graph := sparse.NewGraph(chain.Model)
	var values *solve.Values
	if g.Reward != nil {
		values, err = solve.ReachReward(ctx, graph, g.chainReward(controller, chain), target, g.Direction, opts)
	} else {
		values, err = solve.Until(ctx, graph, left, target, g.Direction, opts)
	}
	return values, chain, err
}
