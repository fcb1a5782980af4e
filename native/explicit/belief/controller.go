package belief

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// Any is the Action of a node that takes every action with the same probability.
const Any = -1

// Controller is a finite automaton that plays: it begins in node 0, takes the action of
// its node, and goes on by what it is shown then.
type Controller struct {
	Nodes []Node
}

// Node is a state of a Controller.
type Node struct {
	// Observation is what is shown where the node is entered.
	Observation uint32
	// Action is the number of the action, as in the first state that shows the
	// observation, or Any.
	Action int
	// Next has a node for everything that can be shown next, in the order of
	// observations, unless the game is over there.
	Next []Edge
}

// Edge says where a Controller goes when it is shown something.
type Edge struct {
	Observation uint32
	Node        int
}

// next returns the node after an observation, -1 for none.
func (n *Node) next(shown uint32) int {
	i, ok := slices.BinarySearchFunc(n.Next, shown, func(e Edge, o uint32) int { return int(int64(e.Observation) - int64(o)) })
	if !ok {
		return -1
	}
	return n.Next[i].Node
}

// Chain is the Markov chain of a model and a controller that plays it.
type Chain struct {
	Model *sparse.Model
	// State and Node are those of the model and of the controller.
	State []uint32
	Node  []int
}

// errTooLarge says that a chain has more states than are allowed.
var errTooLarge = fmt.Errorf("the chain of the strategy is too large")

// chain returns the chain from a state of the model, of limit states at most. Where the
// game is over it stays.
func (g *game) chain(ctx context.Context, c *Controller, start uint32, limit int) (*Chain, error) {
	out := &Chain{}
	type pair struct {
		state uint32
		node  int
	}
	number := map[pair]int{}
	visit := func(s uint32, n int) (int, error) {
		if g.over.Has(int(s)) {
			n = 0
		}
		if n < 0 {
			return 0, fmt.Errorf("the strategy does not say what to do when it is shown observation %d", g.Observation[s])
		}
		i, known := number[pair{s, n}]
		if !known {
			i = len(out.State)
			number[pair{s, n}] = i
			out.State, out.Node = append(out.State, s), append(out.Node, n)
		}
		return i, nil
	}
	if _, err := visit(start, 0); err != nil {
		return nil, err
	}
	b := sparse.NewBuilder(sparse.DTMC)
	for i := 0; i < len(out.State); i++ {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(out.State) > limit {
			return nil, errTooLarge
		}
		b.State()
		s, n := out.State[i], out.Node[i]
		if g.over.Has(int(s)) {
			b.AddRat(i, big.NewRat(1, 1), sparse.NoAction)
			continue
		}
		for _, t := range g.row(s, c.Nodes[n].Action) {
			to, err := visit(t.to, c.Nodes[n].next(g.Observation[t.to]))
			if err != nil {
				return nil, err
			}
			b.AddRat(to, t.chance, sparse.NoAction)
		}
	}
	m, err := b.Finish()
	if err != nil {
		return nil, err
	}
	m.Initial = []uint32{0}
	out.Model = m
	return out, nil
}

// move is a transition.
type move struct {
	to     uint32
	chance *big.Rat
}

// row returns the transitions of an action, or of any, sorted by target.
func (g *game) row(s uint32, action int) []move {
	var out []move
	first, n := action, 1
	if action == Any {
		first, n = 0, g.actions(s)
	}
	for k := first; k < first+n; k++ {
		lo, hi := g.m.Row(g.at(s, k))
		for j := lo; j < hi; j++ {
			p := g.m.Rat(j)
			if n > 1 {
				p = new(big.Rat).Mul(p, big.NewRat(1, int64(n)))
			}
			out = append(out, move{g.m.Target[j], p})
		}
	}
	slices.SortStableFunc(out, func(a, b move) int { return int(a.to) - int(b.to) })
	merged := out[:0]
	for _, t := range out {
		if l := len(merged); l > 0 && merged[l-1].to == t.to {
			merged[l-1].chance = new(big.Rat).Add(merged[l-1].chance, t.chance)
			continue
		}
		merged = append(merged, t)
	}
	return merged
}

// earnedBy returns the rewards of a chain's states.
func (g *game) earnedBy(c *Controller, chain *Chain) *sparse.Reward {
	if g.Reward == nil {
		return nil
	}
	out := &sparse.Reward{Name: g.Reward.Name, Err: 0x1p-53}
	for i, s := range chain.State {
		x := new(big.Rat)
		if !g.over.Has(int(s)) {
			x = g.mean(s, c.Nodes[chain.Node[i]].Action)
		}
		out.State, out.StateRat = append(out.State, double(x)), append(out.StateRat, x)
	}
	return out
}

// double returns the double next to a fraction that is not negative.
func double(x *big.Rat) float64 {
	if x.Sign() == 0 {
		return 0
	}
	f, _ := sparse.Double(x)
	return f
}

// mean returns what an action, or any, earns in a state.
func (g *game) mean(s uint32, action int) *big.Rat {
	if action != Any {
		return g.earned(s, g.at(s, action))
	}
	sum := new(big.Rat)
	n := g.actions(s)
	for k := range n {
		sum.Add(sum, g.earned(s, g.at(s, k)))
	}
	return sum.Quo(sum, big.NewRat(int64(n), 1))
}

// evaluate returns what a chain is worth in its first state.
func (g *game) evaluate(ctx context.Context, c *Controller, start uint32, limit int, opts solve.Options) (*solve.Values, *Chain, error) {
	chain, err := g.chain(ctx, c, start, limit)
	if err != nil {
		return nil, nil, err
	}
	n := len(chain.State)
	left, target := sparse.NewSet(n), sparse.NewSet(n)
	for i, s := range chain.State {
		switch {
		case g.Target.Has(int(s)):
			target.Add(i)
		case !g.over.Has(int(s)):
			left.Add(i)
		}
	}
	graph := sparse.NewGraph(chain.Model)
	var v *solve.Values
	if g.Reward != nil {
		v, err = solve.ReachReward(ctx, graph, g.earnedBy(c, chain), target, g.Direction, opts)
	} else {
		v, err = solve.Until(ctx, graph, left, target, g.Direction, opts)
	}
	return v, chain, err
}
