package check

import (
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// limit is an end component of the product together with the accepting parts of the
// automata of some linear objectives: their jumps are guesses that are made at once.
//
// Within the component some scheduler satisfies all objectives with probability one if and
// only if it does so from some state after some jumps. For whatever scheduler satisfies
// them, the right jumps are known from some time on; there are only so many, so by Lévy's
// zero-one law some history has jumps that are right with a probability near one, and in
// finitely many states a supremum of one is attained.
type limit struct {
	*sparse.Graph
	nodes  []guess
	choice []uint32 // of the product
	begin  []uint32 // the node that each member of the component should begin in, None if it should not begin here
	goals  []*sparse.Set
	good   *sparse.Set // of the nodes in end components that meet all goals
	stays  *sparse.Set // choices within these
	sure   *sparse.Set // the nodes from which they are reached
}

// guess is a state of the product, with a list of states of accepting parts.
type guess struct{ at, list uint32 }

// guessed returns the objectives of a set that are open in an end component: there,
// their automata do not accept without a jump. It is the same in all states of it.
func (m *multi) guessed(satisfied, state uint32) []int {
	var out []int
	for i, o := range m.objectives {
		if satisfied>>i&1 == 1 && o.form == linear && o.reads.auto.Class(m.automaton(m.states[state], i)) == automata.Open {
			out = append(out, i)
		}
	}
	return out
}

// limit builds the limit of an end component.
func (m *multi) limit(satisfied uint32, members []uint32, choices *sparse.Set) (*limit, error) {
	b := &limiter{multi: m, guesses: m.guessed(satisfied, members[0])}
	var starts []guess
	var owner []int // the member of each start, as an index
	for k, s := range members {
		jumps, err := b.jumps(s)
		if err != nil {
			return nil, err
		}
		for _, list := range jumps {
			starts, owner = append(starts, guess{s, b.parts.place(list)}), append(owner, k)
		}
	}
	x, err := sparse.NewProduct(b.ctx, b.product.Model, b, starts, choices, maxProduct)
	if err != nil {
		return nil, b.productError(err)
	}
	l := &limit{Graph: sparse.NewGraph(x.Model), nodes: x.Pairs, choice: x.Choice, begin: make([]uint32, len(members))}
	if err := b.judge(l, satisfied); err != nil {
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

// limiter builds a limit. It is the memory of the product of the objectives' product with the accepting parts.
type limiter struct {
	*multi
	guesses []int // the objectives that are guessed
	parts   lists // of states of their accepting parts
}

// jumps returns the lists of states that automata may jump to.
func (b *limiter) jumps(state uint32) ([][]int, error) {
	out := [][]int{nil}
	for _, i := range b.guesses {
		to, err := b.objectives[i].reads.auto.Jumps(b.automaton(b.states[state], i))
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
func (b *limiter) State(x guess) uint32 { return x.at }

// Step lets the accepting parts read the next state.
func (b *limiter) Step(x guess, t uint32) (guess, error) {
	list, err := b.step(x.list, b.states[t].state)
	return guess{t, list}, err
}

// Absorbing returns false: no state of a limit gets a self-loop.
func (b *limiter) Absorbing(guess) bool { return false }

// step has accepting parts read a state of the model.
func (b *limiter) step(list, state uint32) (uint32, error) {
	if len(b.guesses) == 0 {
		return list, nil
	}
	next := make([]int, len(b.guesses))
	for k, i := range b.guesses {
		q, err := b.objectives[i].reads.step(b.parts.of[list][k], state)
		if err != nil {
			return 0, b.large(err)
		}
		next[k] = q
	}
	return b.parts.place(next), nil
}

// judge finds the end components that meet all goals, and from where they are reached.
func (b *limiter) judge(l *limit, satisfied uint32) error {
	alive := sparse.FullSet(len(l.nodes))
	for k, i := range b.guesses {
		goal := sparse.NewSet(len(l.nodes))
		for n, x := range l.nodes {
			switch auto, q := b.objectives[i].reads.auto, b.parts.of[x.list][k]; {
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
