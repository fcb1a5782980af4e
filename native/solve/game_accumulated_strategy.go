package solve

import (
	"tilecheck/native/space/sparse"
)

// addStrategies adds strategies of both sides to the values, if they are wanted. The maximizer has one that attains the lower bound: where
// the reward has reached the limit, it only tries to reach target. The minimizer has one that attains the upper bound: there it keeps the
// total reward small.
func (product *accumulatedProduct) addStrategies(values, lowerSolution, upperSolution *Values) error {
	if !product.opts.Scheduler {
		return nil
	}
	minimizer := product.totalReward
	if !product.infinite.Empty() { // a game with infinite values has no strategies; no choice leads to them
		var err error
		minimizer, err = product.game.RewardUntilReached(product.ctx, product.reward, product.endStates.Union(product.infinite), product.opts)
		if err != nil {
			return err
		}
	}
	return product.addController(values, lowerSolution.Scheduler, upperSolution.Scheduler, product.reachProbability.Scheduler, minimizer.Scheduler)
}

// addExactStrategies adds strategies of both sides that attain the exact value to the values, if they are wanted. Where the reward has reached
// the limit, they preserve p and q, and the maximizer also reaches target with probability p.
func (product *accumulatedProduct) addExactStrategies(values, solution *Values, large *largeReward) error {
	if !product.opts.Scheduler {
		return nil
	}
	kept := product.preservingChoices(large)
	game, _ := product.restrict(kept, product.reward)
	reaching, err := game.Until(product.ctx, sparse.FullSet(game.graph.NumStates()), product.target, product.opts)
	if err != nil || reaching.Scheduler == nil {
		return err
	}
	maximizer := unrestrictedStrategy(game, reaching.Scheduler, kept)
	return product.addController(values, solution.Scheduler, solution.Scheduler, maximizer, large.later.Scheduler)
}

// preservingChoices returns the optimal choices without those of the maximizer that lose later rewards: that have a smaller q than their state.
func (acc *accumulation) preservingChoices(large *largeReward) *sparse.Set {
	kept := large.optimal.Clone()
	undecided := acc.endStates.Union(acc.infinite).Complement()
	for s := range undecided.Intersect(acc.game.maximizer).All() {
		first, end := acc.game.graph.Choices(s)
		for c := first; c < end; c++ {
			if !kept.Has(c) {
				continue
			}
			laterReward := acc.reward.OfChoiceRat(s, c)
			laterReward.Mul(laterReward, acc.reachProbability.Exact[s])
			laterReward.Add(laterReward, meanRat(acc.game.graph, c, large.later.Exact))
			if laterReward.Cmp(large.later.Exact[s]) != 0 {
				kept.Remove(c)
			}
		}
	}
	return kept
}

// accumulatedController builds the controller of memoryless strategies on the product. Its memory is the accumulated reward before the state.
// One more memory stands for all rewards from the limit on, and for paths that have visited an end state.
type accumulatedController struct {
	*accumulatedProduct
	choices       []uint32          // the choice of the product in each of its states
	choicesBeyond []uint32          // the choice of the game in each of its states, where the product has ended
	memories      map[string]uint32 // the memory for each accumulated reward, by its text
	nodeNumbers   map[controllerNode]uint32
	nodes         []controllerNode
	result        sparse.Controller
}

// controllerNode is a node of an accumulatedController: a state of the game, and its state of the product. The latter is 0 where the product
// has ended.
type controllerNode struct{ state, product uint32 }

// beyondLimit stands for the text of the accumulated reward where the product has ended.
const beyondLimit = ""

// addController adds the controller of strategies of both sides to the values: maximizer and minimizer are strategies on the product, and the
// other two on the game where the product has ended. It adds nothing if a strategy is missing, or if an initial state has an infinite value.
func (product *accumulatedProduct) addController(values *Values, maximizer, minimizer, maximizerBeyond, minimizerBeyond []uint32) error {
	atEnd := product.reachProbability.Scheduler
	for _, strategy := range [][]uint32{maximizer, minimizer, maximizerBeyond, minimizerBeyond, atEnd} {
		if strategy == nil {
			return nil
		}
	}
	builder := &accumulatedController{
		accumulatedProduct: product, choices: make([]uint32, product.graph.NumStates()),
		memories: map[string]uint32{}, nodeNumbers: map[controllerNode]uint32{},
	}
	for i, pair := range product.pairs {
		strategy := minimizer
		if product.game.maximizer.Has(int(pair.state)) {
			strategy = maximizer
		}
		builder.choices[i+1] = product.graph.ChoiceOrFirst(i+1, strategy[i+1])
	}
	for s := range product.game.graph.NumStates() {
		strategy := minimizerBeyond
		switch {
		case product.endStates.Has(s):
			strategy = atEnd // the minimizer still prevents target where p is 0
		case product.game.maximizer.Has(s):
			strategy = maximizerBeyond
		}
		builder.choicesBeyond = append(builder.choicesBeyond, product.game.graph.ChoiceOrFirst(s, strategy[s]))
	}
	return builder.build(values)
}

// build builds the nodes that the initial states reach, and sets the controller of the values. It sets none if an initial state has an infinite
// value.
func (builder *accumulatedController) build(values *Values) error {
	for _, s := range builder.game.graph.Initial {
		if builder.infinite.Has(int(s)) {
			return nil
		}
		builder.result.Start = append(builder.result.Start, builder.addNode(controllerNode{s, builder.start[s]}))
	}
	for i := 0; i < len(builder.nodes); i++ { // move appends to builder.nodes
		if i&0xfff == 0 && builder.ctx.Err() != nil {
			return builder.ctx.Err()
		}
		builder.result.Nodes[i].Moves = []sparse.Move{builder.move(builder.nodes[i])}
	}
	values.Controller = &builder.result
	return nil
}

// addNode adds a node unless it is there, and returns its number.
func (builder *accumulatedController) addNode(node controllerNode) uint32 {
	if number, isKnown := builder.nodeNumbers[node]; isKnown {
		return number
	}
	reward := beyondLimit
	if node.product != 0 {
		reward = builder.pairs[node.product-1].amount.RatString()
	}
	memory, isKnown := builder.memories[reward]
	if !isKnown {
		memory = uint32(len(builder.memories))
		builder.memories[reward] = memory
	}
	number := uint32(len(builder.nodes))
	builder.nodeNumbers[node] = number
	builder.nodes = append(builder.nodes, node)
	builder.result.Nodes = append(builder.result.Nodes, sparse.Node{State: node.state, Memory: memory})
	return number
}

// move returns the move of a node. Only the first state of a path can have a state of the product that ends.
func (builder *accumulatedController) move(node controllerNode) (move sparse.Move) {
	if node.product == 0 || builder.payoffStates.Has(int(node.product)) {
		move.Choice = builder.choicesBeyond[node.state]
		first, end := builder.game.graph.Row(int(move.Choice))
		for _, t := range builder.game.graph.Target[first:end] {
			move.Next = append(move.Next, builder.addNode(controllerNode{state: t}))
		}
		return move
	}
	choice := builder.choices[node.product]
	move.Choice = builder.origin[choice]
	first, end := builder.graph.Row(int(choice))
	for _, t := range builder.graph.Target[first:end] {
		next := controllerNode{builder.pairs[t-1].state, t}
		if builder.payoffStates.Has(int(t)) {
			next.product = 0
		}
		move.Next = append(move.Next, builder.addNode(next))
	}
	return move
}
