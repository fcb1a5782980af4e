package check

import (
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// acceptingComponent is an end component of the product together with the accepting parts of the automata of some linear
// objectives. The automata make their nondeterministic jumps when the component is entered.
//
// Within the component some scheduler satisfies all objectives with probability one if and only if it does so from some
// state after some jumps. For whatever scheduler satisfies them, the right jumps are known from some time on. There are
// finitely many of them, so by Lévy's zero-one law some history has jumps that are right with a probability near one; and in
// finitely many states the supremum one is attained.
type acceptingComponent struct {
	*sparse.Graph
	nodes  []componentNode
	choice []uint32 // of the product
	begin  []uint32 // the node that each member of the component should begin in, None if it should not begin here
	goals  []*sparse.Set
	good   *sparse.Set // of the nodes in end components that meet all goals
	stays  *sparse.Set // choices within these
	sure   *sparse.Set // the nodes from which they are reached
}

// componentNode is a state of the product, with the number of a list of states of the accepting parts.
type componentNode struct{ at, list uint32 }

// openObjectives returns the objectives of a set whose automata accept in an end component only after a jump. They are the
// same for all states of the component.
func (m *multi) openObjectives(satisfied, state uint32) []int {
	var out []int
	for i, o := range m.objectives {
		if satisfied>>i&1 == 1 && o.form == linear && o.reader.auto.Class(m.automaton(m.states[state], i)) == automata.Open {
			out = append(out, i)
		}
	}
	return out
}

// newAcceptingComponent builds the accepting component of an end component.
func (m *multi) newAcceptingComponent(satisfied uint32, members []uint32, choices *sparse.Set) (*acceptingComponent, error) {
	b := &acceptingComponentBuilder{multi: m, open: m.openObjectives(satisfied, members[0])}
	var starts []componentNode
	var owner []int // the member of each start, as an index
	for k, s := range members {
		jumps, err := b.jumps(s)
		if err != nil {
			return nil, err
		}
		for _, list := range jumps {
			starts, owner = append(starts, componentNode{s, b.parts.place(list)}), append(owner, k)
		}
	}
	x, err := sparse.NewProduct(b.ctx, b.product.Model, b, starts, choices, maxProduct)
	if err != nil {
		return nil, b.productError(err)
	}
	l := &acceptingComponent{Graph: sparse.NewGraph(x.Model), nodes: x.Pairs, choice: x.Choice, begin: make([]uint32, len(members))}
	if err := b.findGoodNodes(l, satisfied); err != nil {
		return nil, err
	}
	for k := range l.begin {
		l.begin[k] = sparse.None
	}
	for i, n := range x.Start {
		if k := owner[i]; l.begin[k] == sparse.None && l.sure.Has(int(n)) {
			l.begin[k] = n
		}
	}
	return l, nil
}

// acceptingComponentBuilder builds an accepting component. It is the memory of the product of the objectives' product with the accepting parts.
type acceptingComponentBuilder struct {
	*multi
	open  []int // the objectives that are guessed
	parts lists // of states of their accepting parts
}

// jumps returns the lists of states that the automata can jump to.
func (b *acceptingComponentBuilder) jumps(state uint32) ([][]int, error) {
	out := [][]int{nil}
	for _, i := range b.open {
		to, err := b.objectives[i].reader.auto.Jumps(b.automaton(b.states[state], i))
		if err != nil {
			return nil, b.large(err)
		}
		var longer [][]int
		for _, list := range out {
			for _, q := range to {
				longer = append(longer, append(list[:len(list):len(list)], q))
			}
		}
		if out = longer; len(out) > 1<<16 {
			return nil, b.unsupported(b.p.X, "found multi(...) with path formulas that leave too much to be guessed")
		}
	}
	return out, nil
}

// State returns the state of the product.
func (b *acceptingComponentBuilder) State(x componentNode) uint32 { return x.at }

// Step lets the accepting parts read the next state.
func (b *acceptingComponentBuilder) Step(x componentNode, t uint32) (componentNode, error) {
	list, err := b.step(x.list, b.states[t].state)
	return componentNode{t, list}, err
}

// Absorbing returns false: no state of the component gets a self-loop.
func (b *acceptingComponentBuilder) Absorbing(componentNode) bool { return false }

// step returns the list of states after the accepting parts have read a state of the model.
func (b *acceptingComponentBuilder) step(list, state uint32) (uint32, error) {
	if len(b.open) == 0 {
		return list, nil
	}
	next := make([]int, len(b.open))
	for k, i := range b.open {
		q, err := b.objectives[i].reader.step(b.parts.of[list][k], state)
		if err != nil {
			return 0, b.large(err)
		}
		next[k] = q
	}
	return b.parts.place(next), nil
}

// findGoodNodes finds the end components that meet all goals, and the nodes that reach them with probability one.
func (b *acceptingComponentBuilder) findGoodNodes(l *acceptingComponent, satisfied uint32) error {
	alive := sparse.FullSet(len(l.nodes))
	for k, i := range b.open {
		goal := sparse.NewSet(len(l.nodes))
		for n, x := range l.nodes {
			switch auto, q := b.objectives[i].reader.auto, b.parts.of[x.list][k]; {
			case auto.Class(q) == automata.Rejected:
				alive.Remove(n)
			case auto.Accepting(q):
				goal.Add(n)
			}
		}
		l.goals = append(l.goals, goal)
	}
	for i, o := range b.objectives {
		if satisfied>>i&1 == 0 || o.form != recurring {
			continue
		}
		goal := sparse.NewSet(len(l.nodes))
		for n, x := range l.nodes {
			if o.set.Has(int(b.states[x.at].state)) {
				goal.Add(n)
			}
		}
		l.goals = append(l.goals, goal)
	}
	l.good = sparse.NewSet(len(l.nodes))
	ends, err := l.EndComponents(b.ctx, alive, nil)
	if err != nil {
		return err
	}
	l.stays = ends.Choices
	for i := range ends.Num() {
		members := ends.Members(i)
		met := func(goal *sparse.Set) bool {
			return slices.ContainsFunc(members, func(n uint32) bool { return goal.Has(int(n)) })
		}
		if slices.ContainsFunc(l.goals, func(goal *sparse.Set) bool { return !met(goal) }) {
			continue
		}
		for _, n := range members {
			l.good.Add(int(n))
		}
	}
	l.sure, err = l.Prob1E(b.ctx, sparse.FullSet(len(l.nodes)), l.good)
	return err
}
