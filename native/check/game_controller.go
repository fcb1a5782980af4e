package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// gameController turns the strategies of both sides of a game on a product, which have no memory there, into a controller of the
// model. Its memory is the state of the automaton before the automaton reads the current state of the model. So it is the same in
// all initial states, as the formats of files need it.
type gameController struct {
	*evaluation
	product    *productModel
	automaton  sparse.Memory[productState]
	strategy   []uint32                // the choice of the product in each of its states; None for any
	pairNumber map[productState]uint32 // the state of the product for each pair
	nodeNumber map[productState]uint32 // the node for each state of the model and state of the automaton before it
	nodes      []productState
	memory     map[int]uint32 // the number of each state of the automaton
	result     sparse.Controller
}

// noteController records the strategies of a solution on a product if a scheduler is wanted. initial is the initial state of the
// automaton.
func (e *evaluation) noteController(product *productModel, automaton sparse.Memory[productState], initial int, values *solve.Values) error {
	if !e.opts.Scheduler {
		return nil
	}
	e.schedulerRequest.choices = nil
	if values.Scheduler == nil {
		return nil
	}
	b := &gameController{
		evaluation: e, product: product, automaton: automaton, strategy: values.Scheduler,
		pairNumber: map[productState]uint32{}, nodeNumber: map[productState]uint32{}, memory: map[int]uint32{},
	}
	for i, pair := range product.pairs {
		b.pairNumber[pair] = uint32(i)
	}
	for _, s := range e.graph.Initial {
		b.result.Start = append(b.result.Start, b.node(productState{s, initial}))
	}
	for i := 0; i < len(b.nodes); i++ { // addMove appends to b.nodes
		if i&0xfff == 0 && e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if len(b.nodes) > maxNodes {
			return e.unsupported(e.property.X, "the scheduler needs a memory of more than %d nodes", maxNodes)
		}
		if err := b.addMove(i); err != nil {
			return err
		}
	}
	e.schedulerRequest.controller = &b.result
	return nil
}

// node returns the number of the node for a state of the model and a state of the automaton, and adds it if it is new.
func (b *gameController) node(before productState) uint32 {
	if number, ok := b.nodeNumber[before]; ok {
		return number
	}
	number := uint32(len(b.nodes))
	b.nodeNumber[before] = number
	b.nodes = append(b.nodes, before)
	memory, isKnown := b.memory[before.auto]
	if !isKnown {
		memory = uint32(len(b.memory))
		b.memory[before.auto] = memory
	}
	b.result.Nodes = append(b.result.Nodes, sparse.Node{State: before.state, Memory: memory})
	return number
}

// addMove adds the move of a node. Once the automaton has accepted or rejected, all choices are equally good, and it takes the first
// one.
func (b *gameController) addMove(node int) error {
	before := b.nodes[node]
	after := before
	if !b.automaton.Absorbing(before) {
		var err error
		if after, err = b.automaton.Step(before, before.state); err != nil {
			return err
		}
	}
	first, _ := b.graph.Choices(int(before.state))
	move := sparse.Move{Choice: uint32(first)}
	if !b.automaton.Absorbing(after) {
		if c := b.strategy[b.pairNumber[after]]; c != sparse.None {
			move.Choice = b.product.choice[c]
		}
	}
	start, end := b.graph.Row(int(move.Choice))
	for _, target := range b.graph.Target[start:end] {
		move.Next = append(move.Next, b.node(productState{target, after.auto}))
	}
	b.result.Nodes[node].Moves = []sparse.Move{move}
	return nil
}
