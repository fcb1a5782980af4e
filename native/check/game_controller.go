package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// gameController builds a controller of the model from the strategies of both sides of a game on a product. The strategies are memoryless on the
// product. The memory of the controller is the state that the automaton has before it reads the current state of the model. With this choice all
// initial states have the same memory, which the file formats require.
type gameController struct {
	*evaluation
	product    *productModel
	automaton  sparse.Memory[productState]
	strategy   []uint32                // the choice of the product in each of its states; None if every choice is right
	pairNumber map[productState]uint32 // the number of each state of the product
	nodeNumber map[productState]uint32 // the number of each node, which is a state of the model with the automaton state before it is read
	nodes      []productState
	memory     map[int]uint32 // the number of each state of the automaton
	result     sparse.Controller
}

// recordController records a controller with the strategies of a solution on a product, if the options ask for a scheduler. initial is the initial state
// of the automaton.
func (e *evaluation) recordController(p *productModel, automaton sparse.Memory[productState], initial int, values *solve.Values) error {
	if !e.opts.Scheduler {
		return nil
	}
	e.schedulerRequest.choices = nil
	if values.Scheduler == nil {
		return nil
	}
	builder := &gameController{
		evaluation: e, product: p, automaton: automaton, strategy: values.Scheduler,
		pairNumber: map[productState]uint32{}, nodeNumber: map[productState]uint32{}, memory: map[int]uint32{},
	}
	for i, pair := range p.pairs {
		builder.pairNumber[pair] = uint32(i)
	}
	for _, s := range e.graph.Initial {
		builder.result.Start = append(builder.result.Start, builder.node(productState{s, initial}))
	}
	for i := 0; i < len(builder.nodes); i++ { // addMove appends to builder.nodes
		if i&0xfff == 0 && e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if len(builder.nodes) > maxNodes {
			return e.unsupported(e.property.X, "a scheduler with a memory of more than %d nodes is too large", maxNodes)
		}
		if err := builder.addMove(i); err != nil {
			return err
		}
	}
	e.schedulerRequest.controller = &builder.result
	return nil
}

// node returns the number of the node for a state of the model and a state of the automaton. It adds the node if there is none.
func (builder *gameController) node(before productState) uint32 {
	number, isNew := numberOf(builder.nodeNumber, before)
	if !isNew {
		return number
	}
	builder.nodes = append(builder.nodes, before)
	memory, _ := numberOf(builder.memory, before.auto)
	builder.result.Nodes = append(builder.result.Nodes, sparse.Node{State: before.state, Memory: memory})
	return number
}

// addMove adds the move of a node. After the automaton has accepted or rejected, every choice is right, and the move is the first one.
func (builder *gameController) addMove(node int) error {
	before := builder.nodes[node]
	after := before
	if !builder.automaton.Absorbing(before) {
		var err error
		if after, err = builder.automaton.Step(before, before.state); err != nil {
			return err
		}
	}
	first, _ := builder.graph.Choices(int(before.state))
	move := sparse.Move{Choice: uint32(first)}
	if !builder.automaton.Absorbing(after) {
		if choice := builder.strategy[builder.pairNumber[after]]; choice != sparse.None {
			move.Choice = builder.product.choice[choice]
		}
	}
	start, end := builder.graph.Row(int(move.Choice))
	for _, target := range builder.graph.Target[start:end] {
		move.Next = append(move.Next, builder.node(productState{target, after.auto}))
	}
	builder.result.Nodes[node].Moves = []sparse.Move{move}
	return nil
}
