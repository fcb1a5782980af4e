package check

import (
	"context"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// maxNodes limits the nodes of a controller, which is written to a file.
const maxNodes = 2_000_000

// automatonController returns a scheduler that attains the greatest probability that an automaton accepts. The controller
// remembers the state of the automaton.
func (e *evaluation) automatonController(reads *automatonReader) (*sparse.Controller, error) {
	m := &multi{evaluation: e}
	o := &objective{query: true, great: true, form: linear, reader: reads}
	m.objectives = []*objective{o}
	if err := m.build(); err != nil {
		return nil, err
	}
	if err := m.findEnds(nil); err != nil {
		return nil, err
	}
	weights := []*big.Rat{big.NewRat(1, 1)}
	price, err := m.weightedRewards(weights)
	if err != nil {
		return nil, err
	}
	opts := m.options()
	opts.Scheduler = true
	v, err := solve.TotalReward(e.ctx, m.product, price, solve.Max, opts)
	if err != nil {
		return nil, err
	}
	return m.controller(e.ctx, []weightedScheduler{{choices: v.Scheduler, weights: weights}})
}

// weightedScheduler is a scheduler of the product, with the weights of the objectives for which it is optimal. share is the
// probability that a mixture selects it; nil for 1.
type weightedScheduler struct {
	choices []uint32
	weights []*big.Rat
	share   *big.Rat
}

// controllerState is a state of the controller: a state of the product under a scheduler, or a node of an accepting
// component on the way to a goal. A negative scheduler means that none is selected yet.
type controllerState struct {
	scheduler int
	component *acceptingComponent
	node      uint32
	goal      int
}

// controllerBuilder builds the controller of a mixture of schedulers.
type controllerBuilder struct {
	*multi
	plans         []weightedScheduler
	endComponents map[uint32]*sparse.EndComponents
	components    map[[2]uint32]*acceptingComponent // by set of objectives and end component
	serial        map[*acceptingComponent]int
	towards       map[componentGoal][]uint32
	number        map[controllerState]uint32
	places        []controllerState
	memories      map[nodeMemory]uint32
	out           sparse.Controller
}

// componentGoal is a goal of an accepting component.
type componentGoal struct {
	component *acceptingComponent
	goal      int
}

// nodeMemory is what a controller remembers in a state: all but the state of the model.
type nodeMemory struct {
	scheduler, component, goal int
	memory                     memory
	list                       uint32
}

// controller returns the controller that selects one of the schedulers at the start and follows it.
func (m *multi) controller(ctx context.Context, plans []weightedScheduler) (*sparse.Controller, error) {
	b := &controllerBuilder{
		multi: m, plans: plans, endComponents: map[uint32]*sparse.EndComponents{}, components: map[[2]uint32]*acceptingComponent{}, serial: map[*acceptingComponent]int{},
		towards: map[componentGoal][]uint32{}, number: map[controllerState]uint32{}, memories: map[nodeMemory]uint32{},
	}
	if err := b.addStartNodes(); err != nil {
		return nil, err
	}
	for i := 0; i < len(b.places); i++ { // the list grows
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(b.places) > maxNodes {
			return nil, m.unsupported(m.p.X, "a scheduler with a memory of more than %d nodes is too large", maxNodes)
		}
		if b.places[i].scheduler < 0 {
			continue // it selects a scheduler, see addStartNodes
		}
		move, err := b.moveFrom(b.places[i])
		if err != nil {
			return nil, err
		}
		b.out.Nodes[i].Moves = append(b.out.Nodes[i].Moves, move)
	}
	return &b.out, nil
}

// addStartNodes adds the nodes for the initial states. All of them have the same memory, so that a file need not name it. If
// the schedulers begin with different memories, an initial node selects one of them.
func (b *controllerBuilder) addStartNodes() error {
	same := len(b.plans) == 1
	var first []controllerState
	for _, s := range b.starts {
		for k := range b.plans {
			at, err := b.enter(k, s)
			if err != nil {
				return err
			}
			first = append(first, at)
			same = same && b.remembered(at) == b.remembered(first[0])
		}
	}
	for i, s := range b.starts {
		if same {
			b.out.Start = append(b.out.Start, b.node(first[i]))
			continue
		}
		b.out.Start = append(b.out.Start, b.node(controllerState{scheduler: -1, node: s}))
	}
	for i := 0; !same && i < len(b.starts); i++ {
		for k, p := range b.plans {
			move, err := b.moveFrom(first[i*len(b.plans)+k])
			if err != nil {
				return err
			}
			move.Prob = p.share
			n := &b.out.Nodes[b.out.Start[i]]
			n.Moves = append(n.Moves, move)
		}
	}
	return nil
}

// remembered returns the memory of a state of the controller.
func (b *controllerBuilder) remembered(x controllerState) nodeMemory {
	if x.scheduler < 0 {
		return nodeMemory{scheduler: -1}
	}
	if x.component == nil {
		out := nodeMemory{scheduler: x.scheduler, memory: b.states[x.node]}
		out.memory.state = 0
		return out
	}
	n := x.component.nodes[x.node]
	out := nodeMemory{component: b.serial[x.component], goal: x.goal, memory: b.states[n.at], list: n.list}
	out.memory.state = 0
	return out
}

// node returns the number of the node for a state of the controller, which it adds if it is new.
func (b *controllerBuilder) node(x controllerState) uint32 {
	i, ok := b.number[x]
	if ok {
		return i
	}
	i = uint32(len(b.places))
	b.number[x] = i
	b.places = append(b.places, x)
	what := b.remembered(x)
	memory, ok := b.memories[what]
	if !ok {
		memory = uint32(len(b.memories))
		b.memories[what] = memory
	}
	at := x.node
	if x.component != nil {
		at = x.component.nodes[x.node].at
	}
	b.out.Nodes = append(b.out.Nodes, sparse.Node{State: b.states[at].state, Memory: memory})
	return i
}

// enter returns the state of the controller in which a scheduler enters a state of the product. If the path ends there, that
// is a node of the accepting component.
func (b *controllerBuilder) enter(plan int, s uint32) (controllerState, error) {
	c := b.choiceOf(plan, s)
	if b.choice[c] != sparse.None {
		return controllerState{scheduler: plan, node: s}, nil
	}
	set, _ := b.bestEnd(int(s), b.plans[plan].weights)
	l, begin, err := b.acceptingEnd(set, s)
	return controllerState{component: l, node: begin}, err
}

// choiceOf returns the choice of the product that a scheduler makes.
func (b *controllerBuilder) choiceOf(plan int, s uint32) int {
	if c := b.plans[plan].choices[s]; c != sparse.None {
		return int(c)
	}
	return b.last(int(s))
}

// acceptingEnd returns the accepting component that satisfies a set of objectives from a state, and its first node.
func (b *controllerBuilder) acceptingEnd(satisfied, state uint32) (*acceptingComponent, uint32, error) {
	ends := b.endComponents[satisfied]
	if ends == nil {
		var err error
		if ends, err = b.satisfyingComponents(satisfied, b.choicesWithoutReward(false)); err != nil {
			return nil, 0, err
		}
		b.endComponents[satisfied] = ends
	}
	key := [2]uint32{satisfied, ends.ID[state]}
	l := b.components[key]
	members := ends.Members(int(key[1]))
	if l == nil {
		var err error
		if l, err = b.newAcceptingComponent(satisfied, members, ends.Choices); err != nil {
			return nil, 0, err
		}
		b.components[key] = l
		b.serial[l] = len(b.components)
	}
	for k, s := range members {
		if s == state {
			return l, l.begin[k], nil
		}
	}
	return nil, 0, b.unsupported(b.p.X, "found a scheduler that ends where no end is")
}

// moveFrom returns the choice that is made in a state of the controller, and the next nodes.
func (b *controllerBuilder) moveFrom(x controllerState) (sparse.Move, error) {
	if x.component != nil {
		return b.moveInComponent(x), nil
	}
	c := b.choiceOf(x.scheduler, x.node)
	out := sparse.Move{Choice: b.choice[c]}
	lo, hi := b.product.Row(c)
	for _, t := range b.product.Target[lo:hi] {
		to, err := b.enter(x.scheduler, t)
		if err != nil {
			return out, err
		}
		out.Next = append(out.Next, b.node(to))
	}
	return out, nil
}

// moveInComponent moves within an accepting component: first to the nodes in which all goals can be met, then to one goal
// after the other.
func (b *controllerBuilder) moveInComponent(x controllerState) sparse.Move {
	l, goal := x.component, x.goal
	if l.good.Has(int(x.node)) {
		for range l.goals {
			if !l.goals[goal].Has(int(x.node)) {
				break
			}
			goal = (goal + 1) % len(l.goals)
		}
	}
	c := b.choicesTowards(l, goal)[x.node]
	out := sparse.Move{Choice: b.choice[l.choice[c]]}
	lo, hi := l.Row(int(c))
	for _, t := range l.Target[lo:hi] {
		out.Next = append(out.Next, b.node(controllerState{component: l, node: t, goal: goal}))
	}
	return out
}

// choicesTowards returns the choices of an accepting component that lead to a goal.
func (b *controllerBuilder) choicesTowards(l *acceptingComponent, goal int) []uint32 {
	key := componentGoal{l, goal}
	if how, ok := b.towards[key]; ok {
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
	b.towards[key] = how
	return how
}
