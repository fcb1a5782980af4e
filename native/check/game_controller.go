package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// gameControllerBuilder builds a controller of the model from the strategies of both sides of a game on a product with an automaton. The
// strategies are memoryless on the product. The controller has a node for each reachable pair, whatever the players do. The memory of the controller is the state that the automaton has before it reads the current
// state of the model, so that all initial states have the same memory, as the file formats require.
type gameControllerBuilder struct {
	evaluation    *evaluation
	product       *productModel
	automaton     sparse.Memory[productState]
	strategy      []uint32                // the choice of the product in each of its states; None if every choice is right
	pairNumber    map[productState]uint32 // the number of each state of the product
	nodePairs     []productState          // the state of the model of each node, and the automaton state before it reads that state
	nodeNumber    map[productState]uint32 // the number of each node
	memoryNumber  map[int]uint32          // the number of each state of the automaton
	newController sparse.Controller
}

// recordController stores the strategies of both sides of a game, from a solution on a product, in e.schedulerRequest as a controller of the model. It
// does nothing if no scheduler was requested, or if the solution has no strategies. initial is the initial state of the automaton.
func (e *evaluation) recordController(product *productModel, automaton sparse.Memory[productState], initial int, solution *solve.Values) error {
	if !e.opts.Scheduler {
		return nil
	}
	e.schedulerRequest.choices = nil
	if solution.Scheduler == nil {
		return nil
	}
	builder := &gameControllerBuilder{
		evaluation: e, product: product, automaton: automaton, strategy: solution.Scheduler,
		pairNumber: map[productState]uint32{}, nodeNumber: map[productState]uint32{}, memoryNumber: map[int]uint32{},
	}
	for i, pair := range product.pairs {
		builder.pairNumber[pair] = uint32(i)
	}
	for _, s := range e.graph.Initial {
		builder.newController.Start = append(builder.newController.Start, builder.nodeOf(productState{s, initial}))
	}
	for i := 0; i < len(builder.nodePairs); i++ { // addMoves appends to builder.nodePairs
		if i&0xfff == 0 && e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if len(builder.nodePairs) > maxNodes {
			return e.unsupportedError(e.property.Expr, "a scheduler with a memory of more than %d nodes is too large", maxNodes)
		}
		if err := builder.addMoves(i); err != nil {
			return err
		}
	}
	e.schedulerRequest.controller = &builder.newController
	return nil
}

// nodeOf returns the number of the controller's node for a state of the model and the automaton state before it reads that state. It adds a node
// for a new pair.
func (builder *gameControllerBuilder) nodeOf(pair productState) uint32 {
	number, isNew := addKey(builder.nodeNumber, pair)
	if !isNew {
		return number
	}
	builder.nodePairs = append(builder.nodePairs, pair)
	memory, _ := addKey(builder.memoryNumber, pair.automatonState)
	builder.newController.Nodes = append(builder.newController.Nodes, sparse.Node{State: pair.state, Memory: memory})
	return number
}

// addMoves adds to a node the move that the strategy makes, and the moves for all other choices of the state (the deviations). The automaton first reads
// the state of the node; the strategy then selects a choice in the resulting state of the product.
func (builder *gameControllerBuilder) addMoves(number int) error {
	beforeReading := builder.nodePairs[number]
	afterReading := beforeReading
	if !builder.automaton.Absorbing(beforeReading) {
		var err error
		afterReading, err = builder.automaton.Step(beforeReading, beforeReading.state)
		if err != nil {
			return err
		}
	}
	best := int(builder.choiceOf(afterReading))
	move := builder.moveOf(best, afterReading.automatonState)
	var deviations []sparse.Move
	first, end := builder.evaluation.graph.Choices(int(beforeReading.state))
	for choice := first; choice < end; choice++ {
		if choice != best {
			deviations = append(deviations, builder.moveOf(choice, afterReading.automatonState))
		}
	}
	node := &builder.newController.Nodes[number]
	node.Moves, node.Deviations = []sparse.Move{move}, deviations
	return nil
}

// moveOf returns the move that makes a choice of the model. automatonState is the state of the automaton after it has read the current state. It
// adds nodes for new targets.
func (builder *gameControllerBuilder) moveOf(choice, automatonState int) sparse.Move {
	move := sparse.Move{Choice: uint32(choice)}
	first, end := builder.evaluation.graph.Transitions(choice)
	for _, target := range builder.evaluation.graph.Target[first:end] {
		move.Next = append(move.Next, builder.nodeOf(productState{target, automatonState}))
	}
	return move
}

// choiceOf returns the model's choice that the strategy selects in a state of the product. It returns the first choice if every choice is
// optimal: the automaton has accepted or rejected, or the strategy has no choice.
func (builder *gameControllerBuilder) choiceOf(pair productState) uint32 {
	first, _ := builder.evaluation.graph.Choices(int(pair.state))
	if builder.automaton.Absorbing(pair) {
		return uint32(first)
	}
	choice := builder.strategy[builder.pairNumber[pair]]
	if choice == sparse.None {
		return uint32(first)
	}
	return builder.product.modelChoice[choice]
}
