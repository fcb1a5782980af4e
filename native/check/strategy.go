package check

import (
	"context"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// maxNodes is the number of nodes of a controller that anybody writes to a file.
const maxNodes = 2_000_000

// remembering returns a scheduler that attains the greatest probability that an automaton
// accepts, whose states it remembers.
func (e *evaluation) remembering(reads *reading) (*sparse.Controller, error) {
	m := &multi{evaluation: e}
	o := &objective{query: true, least: true, form: linear, reads: reads}
	m.objectives = []*objective{o}
	if err := m.build(); err != nil {
		return nil, err
	}
	if err := m.stops(nil); err != nil {
		return nil, err
	}
	weights := []*big.Rat{big.NewRat(1, 1)}
	price, err := m.gains(weights)
	if err != nil {
		return nil, err
	}
	opts := m.options()
	opts.Scheduler = true
	v, err := solve.TotalReward(e.ctx, m.product, price, solve.Max, opts)
	if err != nil {
		return nil, err
	}
	return m.controller(e.ctx, []plan{{how: v.Scheduler, weights: weights}})
}

// plan is a scheduler of the product, the weights for which it is best, and the part of
// the paths that follow it, nil if all do.
type plan struct {
	how     []uint32
	weights []*big.Rat
	part    *big.Rat
}

// place is where a controller is: in a state of the product, by a plan; or in a node of a
// limit, on its way to a goal.
type place struct {
	plan  int
	limit *limit
	node  uint32
	goal  int
}

// conductor makes a controller of plans.
type conductor struct {
	*multi
	plans    []plan
	ends     map[uint32]*sparse.EndComponents
	limits   map[[2]uint32]*limit // by set of objectives and end component
	serial   map[*limit]int
	ways     map[way][]uint32
	number   map[place]uint32
	places   []place
	memories map[recollection]uint32
	out      sparse.Controller
}

// way is a goal of a limit; the last one is to stay where all are met.
type way struct {
	limit *limit
	goal  int
}

// recollection is what a place remembers: all but the state of the model.
type recollection struct {
	plan, limit, goal int
	memory            memory
	list              uint32
}

// controller returns the scheduler that follows one of some plans, chosen at the beginning.
func (m *multi) controller(ctx context.Context, plans []plan) (*sparse.Controller, error) {
	b := &conductor{
		multi: m, plans: plans, ends: map[uint32]*sparse.EndComponents{}, limits: map[[2]uint32]*limit{}, serial: map[*limit]int{},
		ways: map[way][]uint32{}, number: map[place]uint32{}, memories: map[recollection]uint32{},
	}
	if err := b.begin(); err != nil {
		return nil, err
	}
	for i := 0; i < len(b.places); i++ { // the list grows
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(b.places) > maxNodes {
			return nil, m.unsupported(m.p.X, "a scheduler with a memory of more than %d nodes is too large", maxNodes)
		}
		if b.places[i].plan < 0 {
			continue // the dice were thrown
		}
		move, err := b.move(b.places[i])
		if err != nil {
			return nil, err
		}
		b.out.Nodes[i].Moves = append(b.out.Nodes[i].Moves, move)
	}
	return &b.out, nil
}

// begin places the nodes in which paths begin. They have one memory, so that a file need
// not say which: what they remember is that nothing was seen yet, if it is not the same.
func (b *conductor) begin() error {
	same := len(b.plans) == 1
	var first []place
	for _, s := range b.starts {
		for k := range b.plans {
			at, err := b.arrived(k, s)
			if err != nil {
				return err
			}
			first = append(first, at)
			same = same && b.recall(at) == b.recall(first[0])
		}
	}
	for i, s := range b.starts {
		if same {
			b.out.Start = append(b.out.Start, b.place(first[i]))
			continue
		}
		b.out.Start = append(b.out.Start, b.place(place{plan: -1, node: s}))
	}
	for i := 0; !same && i < len(b.starts); i++ {
		for k, p := range b.plans {
			move, err := b.move(first[i*len(b.plans)+k])
			if err != nil {
				return err
			}
			move.Prob = p.part
			n := &b.out.Nodes[b.out.Start[i]]
			n.Moves = append(n.Moves, move)
		}
	}
	return nil
}

// recall returns what a place remembers.
func (b *conductor) recall(x place) recollection {
	if x.plan < 0 {
		return recollection{plan: -1}
	}
	if x.limit == nil {
		out := recollection{plan: x.plan, memory: b.states[x.node]}
		out.memory.state = 0
		return out
	}
	n := x.limit.nodes[x.node]
	out := recollection{limit: b.serial[x.limit], goal: x.goal, memory: b.states[n.at], list: n.list}
	out.memory.state = 0
	return out
}

// place numbers a place, and its memory.
func (b *conductor) place(x place) uint32 {
	i, ok := b.number[x]
	if ok {
		return i
	}
	i = uint32(len(b.places))
	b.number[x] = i
	b.places = append(b.places, x)
	what := b.recall(x)
	memory, ok := b.memories[what]
	if !ok {
		memory = uint32(len(b.memories))
		b.memories[what] = memory
	}
	at := x.node
	if x.limit != nil {
		at = x.limit.nodes[x.node].at
	}
	b.out.Nodes = append(b.out.Nodes, sparse.Node{State: b.states[at].state, Memory: memory})
	return i
}

// arrived returns the place of a plan that comes to a state of the product: where the path
// is to end, that is the limit of the end component.
func (b *conductor) arrived(plan int, s uint32) (place, error) {
	c := b.chosen(plan, s)
	if b.choice[c] != sparse.None {
		return place{plan: plan, node: s}, nil
	}
	set, _ := b.best(int(s), b.plans[plan].weights)
	l, begin, err := b.ending(set, s)
	return place{limit: l, node: begin}, err
}

// chosen returns the choice of the product that a plan makes.
func (b *conductor) chosen(plan int, s uint32) int {
	if c := b.plans[plan].how[s]; c != sparse.None {
		return int(c)
	}
	return b.last(int(s))
}

// ending returns the limit in which a set of objectives is satisfied from a state, and the node
// to begin in.
func (b *conductor) ending(satisfied, state uint32) (*limit, uint32, error) {
	ends := b.ends[satisfied]
	if ends == nil {
		var err error
		if ends, err = b.within(satisfied, b.free(false)); err != nil {
			return nil, 0, err
		}
		b.ends[satisfied] = ends
	}
	key := [2]uint32{satisfied, ends.ID[state]}
	l := b.limits[key]
	members := ends.Members(int(key[1]))
	if l == nil {
		var err error
		if l, err = b.limit(satisfied, members, ends.Choices); err != nil {
			return nil, 0, err
		}
		b.limits[key] = l
		b.serial[l] = len(b.limits)
	}
	for k, s := range members {
		if s == state {
			return l, l.begin[k], nil
		}
	}
	return nil, 0, b.unsupported(b.p.X, "found a scheduler that ends where no end is")
}

// move returns what is done in a place.
func (b *conductor) move(x place) (sparse.Move, error) {
	if x.limit != nil {
		return b.onward(x), nil
	}
	c := b.chosen(x.plan, x.node)
	out := sparse.Move{Choice: b.choice[c]}
	lo, hi := b.product.Row(c)
	for _, t := range b.product.Target[lo:hi] {
		to, err := b.arrived(x.plan, t)
		if err != nil {
			return out, err
		}
		out.Next = append(out.Next, b.place(to))
	}
	return out, nil
}

// onward moves within a limit: to where all goals can be met, and there to one after the
// other. A goal that is met where the path is gives way to the next.
func (b *conductor) onward(x place) sparse.Move {
	l, goal := x.limit, x.goal
	if l.good.Has(int(x.node)) {
		for range l.goals {
			if !l.goals[goal].Has(int(x.node)) {
				break
			}
			goal = (goal + 1) % len(l.goals)
		}
	}
	c := b.way(l, goal)[x.node]
	out := sparse.Move{Choice: b.choice[l.choice[c]]}
	lo, hi := l.Row(int(c))
	for _, t := range l.Target[lo:hi] {
		out.Next = append(out.Next, b.place(place{limit: l, node: t, goal: goal}))
	}
	return out
}

// way returns the choices of a limit that lead to a goal.
func (b *conductor) way(l *limit, goal int) []uint32 {
	key := way{l, goal}
	if how, ok := b.ways[key]; ok {
		return how
	}
	how := make([]uint32, l.NumStates())
	l.Attract(l.sure, l.good, how)
	for s := range l.good.All() { // inside, any choice stays
		first, end := l.Choices(s)
		for c := first; c < end; c++ {
			if l.stays.Has(c) {
				how[s] = uint32(c)
				break
			}
		}
	}
	if len(l.goals) > 0 {
		l.Approach(l.stays, l.goals[goal].Intersect(l.good), how)
	}
	b.ways[key] = how
	return how
}
