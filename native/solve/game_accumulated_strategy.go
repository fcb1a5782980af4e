package solve

import (
	"tilecheck/native/space/sparse"
)

// addStrategies adds a controller with strategies of both sides to the values, if the options request it. The strategy of the maximizer
// attains the lower bounds: when the accumulated reward has reached the limit, it only tries to reach target. The strategy of the minimizer
// attains the upper bounds: from the limit on, it minimizes the total reward.
func (product *accumulatedProduct) addStrategies(values, lowerSolution, upperSolution *Values) error {
	if !product.opts.Scheduler {
		return nil
	}
	minimizerBeyond := product.totalReward
	if !product.infiniteStates.Empty() { // a game with infinite values has no strategies; no choice leads to them
		var err error
		minimizerBeyond, err = product.game.RewardUntilReached(product.ctx, product.reward, product.endStates.Union(product.infiniteStates), product.opts)
		if err != nil {
			return err
		}
	}
	return product.addController(values, lowerSolution.Scheduler, upperSolution.Scheduler, product.reachProbability.Scheduler, minimizerBeyond.Scheduler)
}

// addExactStrategies adds a controller with strategies of both sides to the values, if the options request it. Both attain the exact value:
// when the accumulated reward has reached the limit, they preserve the probability of reaching target and the expected later reward, and the maximizer also reaches target with this probability.
func (product *accumulatedProduct) addExactStrategies(values, solution *Values, largeSolution *largeReward) error {
	if !product.opts.Scheduler {
		return nil
	}
	preserving := product.preservingChoices(largeSolution)
	game, _ := product.restrictChoices(preserving, product.reward)
	reachValues, err := game.Until(product.ctx, sparse.FullSet(game.graph.NumStates()), product.target, product.opts)
	if err != nil || reachValues.Scheduler == nil {
		return err
	}
	maximizerBeyond := unrestrictedStrategy(game, reachValues.Scheduler, preserving)
	return product.addController(values, solution.Scheduler, solution.Scheduler, maximizerBeyond, largeSolution.laterRewards.Scheduler)
}

// preservingChoices returns the choices that preserve the probability of reaching target and, for the maximizer, also the expected later reward. It
// removes each choice of the maximizer that changes the expected later reward.
func (accumulation *accumulation) preservingChoices(largeSolution *largeReward) *sparse.Set {
	result := largeSolution.optimalChoices.Clone()
	undecidedStates := accumulation.endStates.Union(accumulation.infiniteStates).Complement()
	for s := range undecidedStates.Intersect(accumulation.game.maximizer).All() {
		first, end := accumulation.game.graph.Choices(s)
		for choice := first; choice < end; choice++ {
			if !result.Has(choice) {
				continue
			}
			laterReward := accumulation.reward.ExactChoiceTotal(s, choice)
			laterReward.Mul(laterReward, accumulation.reachProbability.Exact[s])
			laterReward.Add(laterReward, expectedValue(accumulation.game.graph, choice, largeSolution.laterRewards.Exact))
			if laterReward.Cmp(largeSolution.laterRewards.Exact[s]) != 0 {
				result.Remove(choice)
			}
		}
	}
	return result
}

// accumulatedController builds the controller of memoryless strategies on the product. Its memory is the accumulated reward before the state.
// One more memory stands for all rewards from the limit on, and for paths that have visited an end state.
type accumulatedController struct {
	*accumulatedProduct
	choices            []uint32          // the choice of the product in each of its states
	choicesBeyondLimit []uint32          // the choice of the game in each of its states, where the product has ended
	memories           map[string]uint32 // the memory for each accumulated reward, by its text
	nodeNumbers        map[controllerNode]uint32
	nodes              []controllerNode
	result             sparse.Controller
}

// controllerNode is a node of an accumulatedController: a state of the game, and its state of the product. The latter is 0 where the product
// has ended.
type controllerNode struct{ state, product uint32 }

// beyondLimit stands for the text of the accumulated reward where the product has ended.
const beyondLimit = ""

// addController adds the controller of both sides to the values. maximizer and minimizer are strategies on the product; maximizerBeyond and
// minimizerBeyond are strategies on the game, for accumulated rewards from the limit on. It adds nothing if a strategy is missing, or if an
// initial state has an infinite value.
func (product *accumulatedProduct) addController(values *Values, maximizer, minimizer, maximizerBeyond, minimizerBeyond []uint32) error {
	strategyAtEnd := product.reachProbability.Scheduler
	for _, strategy := range [][]uint32{maximizer, minimizer, maximizerBeyond, minimizerBeyond, strategyAtEnd} {
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
			strategy = strategyAtEnd // the minimizer still prevents target where p is 0
		case product.game.maximizer.Has(s):
			strategy = maximizerBeyond
		}
		builder.choicesBeyondLimit = append(builder.choicesBeyondLimit, product.game.graph.ChoiceOrFirst(s, strategy[s]))
	}
	return builder.buildController(values)
}

// buildController adds all nodes that are reachable from the initial states, and stores the controller in values. It stores none if an initial state
// has an infinite value.
func (builder *accumulatedController) buildController(values *Values) error {
	for _, s := range builder.game.graph.Initial {
		if builder.infiniteStates.Has(int(s)) {
			return nil
		}
		builder.result.Start = append(builder.result.Start, builder.addNode(controllerNode{s, builder.startPairs[s]}))
	}
	for i := 0; i < len(builder.nodes); i++ { // move appends to builder.nodes
		if i&0xfff == 0 && builder.ctx.Err() != nil {
			return builder.ctx.Err()
		}
		builder.result.Nodes[i].Moves = []sparse.Move{builder.moveOf(builder.nodes[i])}
	}
	values.Controller = &builder.result
	return nil
}

// addNode returns the number of a node, and adds the node if it is new.
func (builder *accumulatedController) addNode(node controllerNode) uint32 {
	if number, isKnown := builder.nodeNumbers[node]; isKnown {
		return number
	}
	reward := beyondLimit
	if node.product != 0 {
		reward = builder.pairs[node.product-1].earlierReward.RatString()
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

// moveOf returns the choice of a node and the nodes of its targets. It makes nodes for new targets.
func (builder *accumulatedController) moveOf(node controllerNode) (move sparse.Move) {
	hasEnded := node.product == 0 || builder.payoffStates.Has(int(node.product)) // the second case is a terminal initial state
	if hasEnded {
		return builder.moveBeyondLimit(node.state)
	}
	choice := builder.choices[node.product]
	move.Choice = builder.originalChoices[choice]
	first, end := builder.graph.Transitions(int(choice))
	for _, target := range builder.graph.Target[first:end] {
		next := controllerNode{builder.pairs[target-1].state, target}
		if builder.payoffStates.Has(int(target)) {
			next.product = 0
		}
		move.Next = append(move.Next, builder.addNode(next))
	}
	return move
}

// moveBeyondLimit returns the choice of a state of the game where the product has ended, and the nodes of its targets.
func (builder *accumulatedController) moveBeyondLimit(state uint32) sparse.Move {
	move := sparse.Move{Choice: builder.choicesBeyondLimit[state]}
	first, end := builder.game.graph.Transitions(int(move.Choice))
	for _, target := range builder.game.graph.Target[first:end] {
		move.Next = append(move.Next, builder.addNode(controllerNode{state: target}))
	}
	return move
}
