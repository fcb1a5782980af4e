package solve

import (
	"math"
	"math/big"

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
	if !product.infiniteStates.Empty() { // solve again without the states with infinite values, because otherwise no strategy is computed
		var err error
		minimizerBeyond, err = product.game.RewardUntilReached(product.ctx, product.reward, product.endStates.Union(product.infiniteStates), product.opts)
		if err != nil {
			return err
		}
	}
	return product.addController(values, &accumulatedStrategies{
		maximizer: lowerSolution.Scheduler, minimizer: upperSolution.Scheduler,
		maximizerBeyond: product.reachProbability.Scheduler, minimizerBeyond: minimizerBeyond.Scheduler,
	})
}

// addExactStrategies adds a controller with strategies of both sides to the values, if the options request it. Both strategies attain the exact value. When
// the accumulated reward has reached the limit, they preserve the probability of reaching target and the expected later reward, and the maximizer reaches
// target with this probability if the minimizer also preserves both. For a minimizer who raises the later reward instead, see surplus.
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
	return product.addController(values, &accumulatedStrategies{
		maximizer: solution.Scheduler, minimizer: solution.Scheduler,
		maximizerBeyond: unrestrictedStrategy(game, reachValues.Scheduler, preserving), minimizerBeyond: largeSolution.laterRewards.Scheduler,
		surplus: product.newSurplus(largeSolution),
	})
}

// preservingChoices returns the choices that preserve both the probability of reaching target and the expected later reward.
func (accumulation *accumulation) preservingChoices(largeSolution *largeReward) *sparse.Set {
	result := largeSolution.optimalChoices.Clone()
	for state := range accumulation.undecidedStates().All() {
		first, end := accumulation.game.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if result.Has(choice) && accumulation.gain(state, choice, largeSolution).Sign() != 0 {
				result.Remove(choice)
			}
		}
	}
	return result
}

// undecidedStates returns the states with finite values where the path has not ended.
func (accumulation *accumulation) undecidedStates() *sparse.Set {
	return accumulation.endStates.Union(accumulation.infiniteStates).Complement()
}

// gain returns by how much a choice of a state that preserves the probability of reaching target increases the expected later reward. The gain
// is negative if the maximizer makes a choice that is not optimal, and positive if the minimizer does.
func (accumulation *accumulation) gain(state, choice int, largeSolution *largeReward) *big.Rat {
	gain := accumulation.reward.ExactChoiceTotal(state, choice)
	gain.Mul(gain, accumulation.reachProbability.Exact[state])
	gain.Add(gain, expectedValue(accumulation.game.graph, choice, largeSolution.laterRewards.Exact))
	return gain.Sub(gain, largeSolution.laterRewards.Exact[state])
}

// surplus says how much the minimizer gives to the maximizer beyond the limit by choices that increase the expected later reward. Such choices can
// keep a path from target forever while the maximizer waits for the later rewards. So the maximizer counts the surplus. When it is at least the
// expected later reward of the state, the maximizer gives up the later reward, and only tries to reach target.
//
// A smaller surplus grows only finitely often, because the gains are multiples of unit, rounded down. Choices of the minimizer that increase
// the probability of reaching target give nothing here; almost surely there are finitely many.
type surplus struct {
	unit         *big.Rat   // the smallest positive gain of a choice of the minimizer; nil if there is none
	gains        []int      // of each choice of the game, in units
	laterRewards []*big.Rat // of each state
}

// newSurplus returns by how much each choice of the minimizer raises the expected later reward. The unit is the smallest positive raise of a choice.
func (accumulation *accumulation) newSurplus(largeSolution *largeReward) *surplus {
	result := &surplus{gains: make([]int, accumulation.game.graph.NumChoices()), laterRewards: largeSolution.laterRewards.Exact}
	gains := map[int]*big.Rat{} // for each choice, by how much it raises the expected later reward
	for state := range accumulation.undecidedStates().Minus(accumulation.game.maximizer).All() {
		first, end := accumulation.game.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if !largeSolution.optimalChoices.Has(choice) {
				continue
			}
			gain := accumulation.gain(state, choice, largeSolution)
			if gain.Sign() <= 0 {
				continue
			}
			gains[choice] = gain
			if result.unit == nil || gain.Cmp(result.unit) < 0 {
				result.unit = gain
			}
		}
	}
	for choice, gain := range gains {
		multiple, _ := new(big.Rat).Quo(gain, result.unit).Float64()
		result.gains[choice] = int(min(multiple, math.MaxInt32)) // the number of units, rounded down
	}
	return result
}

// covers reports whether the surplus so far, given in units, is at least the expected later reward of a state.
func (surplus *surplus) covers(units int, state uint32) bool {
	laterReward := surplus.laterRewards[state]
	if units == 0 || laterReward == nil {
		return laterReward == nil || laterReward.Sign() == 0
	}
	amount := new(big.Rat).SetInt64(int64(units))
	return amount.Mul(amount, surplus.unit).Cmp(laterReward) >= 0
}

// accumulatedStrategies are strategies of both sides. maximizer and minimizer are strategies on the product; the others are strategies on the
// game, for accumulated rewards from the limit on.
type accumulatedStrategies struct {
	maximizer, minimizer, maximizerBeyond, minimizerBeyond []uint32
	surplus                                                *surplus // nil if maximizerBeyond only tries to reach target
}

// accumulatedController builds the controller of memoryless strategies on the product. Its memory is the accumulated reward before the state.
// More memories stand for all rewards from the limit on: one for each surplus, and one for paths on which the maximizer only tries to reach
// target, or which have visited an end state. The controller has a node for each reachable pair, whatever the players do.
type accumulatedController struct {
	*accumulatedProduct
	surplus            *surplus                     // nil if the maximizer only tries to reach target beyond the limit
	choices            []uint32                     // the choice of the product in each of its states
	choicesBeyondLimit []uint32                     // the choice of the game in each of its states, where the product has ended
	choicesToTarget    []uint32                     // the same, where the maximizer only tries to reach target
	memories           map[accumulatedMemory]uint32 // the number of each memory
	nodeNumbers        map[controllerNode]uint32
	nodes              []controllerNode
	result             sparse.Controller
}

// controllerNode is a node of an accumulatedController: a state of the game, and its state of the product. The latter is 0 where the product
// has ended; then surplus is the surplus of the path, or onlyReach.
type controllerNode struct {
	state, product uint32
	surplus        int
}

// accumulatedMemory is a memory of an accumulatedController: the text of the accumulated reward, or "" and the surplus where the product has
// ended.
type accumulatedMemory struct {
	reward  string
	surplus int
}

// onlyReach is the surplus of paths on which the maximizer only tries to reach target, and of paths that have visited an end state.
const onlyReach = -1

// maxAccumulatedNodes limits the nodes of a controller.
const maxAccumulatedNodes = 4 * maxAccumulated

// addController adds the controller of both sides to the values. It adds nothing if a strategy is missing, if an initial state has an infinite
// value, or if the controller has too many nodes.
func (product *accumulatedProduct) addController(values *Values, strategies *accumulatedStrategies) error {
	strategyAtEnd := product.reachProbability.Scheduler // for end states, in which only the probability of reaching target matters
	for _, strategy := range [][]uint32{strategies.maximizer, strategies.minimizer, strategies.maximizerBeyond, strategies.minimizerBeyond, strategyAtEnd} {
		if strategy == nil {
			return nil
		}
	}
	builder := &accumulatedController{
		accumulatedProduct: product, surplus: strategies.surplus, choices: make([]uint32, product.graph.NumStates()),
		memories: map[accumulatedMemory]uint32{}, nodeNumbers: map[controllerNode]uint32{},
	}
	for i, pair := range product.pairs {
		strategy := strategies.minimizer
		if product.game.maximizer.Has(int(pair.state)) {
			strategy = strategies.maximizer
		}
		builder.choices[i+1] = product.graph.ChoiceOrFirst(i+1, strategy[i+1])
	}
	for state := range product.game.graph.NumStates() {
		beyond, toTarget := strategies.minimizerBeyond, strategies.minimizerBeyond
		switch {
		case product.endStates.Has(state):
			beyond, toTarget = strategyAtEnd, strategyAtEnd // in end states that cannot reach target, the minimizer must still prevent it
		case product.game.maximizer.Has(state):
			beyond, toTarget = strategies.maximizerBeyond, product.reachProbability.Scheduler
		}
		builder.choicesBeyondLimit = append(builder.choicesBeyondLimit, product.game.graph.ChoiceOrFirst(state, beyond[state]))
		builder.choicesToTarget = append(builder.choicesToTarget, product.game.graph.ChoiceOrFirst(state, toTarget[state]))
	}
	return builder.buildController(values)
}

// buildController adds all nodes that are reachable from the initial states, and stores the controller in values. It stores none if an initial state
// has an infinite value, or if there are too many nodes.
func (builder *accumulatedController) buildController(values *Values) error {
	for _, state := range builder.game.graph.Initial {
		if builder.infiniteStates.Has(int(state)) {
			return nil
		}
		builder.result.Start = append(builder.result.Start, builder.addNode(controllerNode{state: state, product: builder.startPairs[state]}))
	}
	for i := 0; i < len(builder.nodes); i++ { // addMoves appends to builder.nodes
		if i%pollInterval == 0 && builder.ctx.Err() != nil {
			return builder.ctx.Err()
		}
		if len(builder.nodes) > maxAccumulatedNodes {
			return nil
		}
		builder.addMoves(i)
	}
	values.Controller = &builder.result
	return nil
}

// addNode returns the number of a node of the controller, and adds the node if it is new.
func (builder *accumulatedController) addNode(node controllerNode) uint32 {
	if number, isKnown := builder.nodeNumbers[node]; isKnown {
		return number
	}
	key := accumulatedMemory{surplus: node.surplus}
	if node.product != 0 {
		key.reward = builder.pairs[node.product-1].earlierReward.RatString()
	}
	memory, isKnown := builder.memories[key]
	if !isKnown {
		memory = uint32(len(builder.memories))
		builder.memories[key] = memory
	}
	number := uint32(len(builder.nodes))
	builder.nodeNumbers[node] = number
	builder.nodes = append(builder.nodes, node)
	builder.result.Nodes = append(builder.result.Nodes, sparse.Node{State: node.state, Memory: memory})
	return number
}

// addMoves adds the move of the strategy in a node, and a deviation for each other choice. The choices are those of the product or, beyond its limit, those
// of the game.
func (builder *accumulatedController) addMoves(number int) {
	node := builder.nodes[number]
	if node.product != 0 && builder.payoffStates.Has(int(node.product)) { // an initial state at which the product has ended already
		node = builder.nodeBeyondLimit(node.state, 0)
	}
	graph, state, strategyChoice := builder.strategyIn(node)
	moves := []sparse.Move{builder.moveOf(node, strategyChoice)}
	var deviations []sparse.Move
	first, end := graph.Choices(state)
	for choice := uint32(first); choice < uint32(end); choice++ {
		if choice != strategyChoice {
			deviations = append(deviations, builder.moveOf(node, choice))
		}
	}
	builder.result.Nodes[number].Moves, builder.result.Nodes[number].Deviations = moves, deviations
}

// strategyIn returns the choice of the strategy in a node, with the graph and the state to which the choice belongs: those of the product or, beyond its
// limit, those of the game.
func (builder *accumulatedController) strategyIn(node controllerNode) (graph *sparse.Graph, state int, choice uint32) {
	switch {
	case node.product != 0:
		return builder.graph, int(node.product), builder.choices[node.product]
	case node.surplus == onlyReach:
		return builder.game.graph, int(node.state), builder.choicesToTarget[node.state]
	}
	return builder.game.graph, int(node.state), builder.choicesBeyondLimit[node.state]
}

// moveOf returns the move that makes a choice in a node, and adds the nodes to which it leads. The choice is one of the product or, beyond its limit, one of
// the game.
func (builder *accumulatedController) moveOf(node controllerNode, choice uint32) sparse.Move {
	if node.product == 0 {
		return builder.moveBeyondLimit(node, choice)
	}
	move := sparse.Move{Choice: builder.originalChoices[choice]}
	first, end := builder.graph.Transitions(int(choice))
	for _, target := range builder.graph.Target[first:end] {
		next := controllerNode{state: builder.pairs[target-1].state, product: target}
		if builder.payoffStates.Has(int(target)) {
			next = builder.nodeBeyondLimit(next.state, 0)
		}
		move.Next = append(move.Next, builder.addNode(next))
	}
	return move
}

// moveBeyondLimit returns the move that makes a choice of the game in a node beyond the limit of the product.
func (builder *accumulatedController) moveBeyondLimit(node controllerNode, choice uint32) sparse.Move {
	move := sparse.Move{Choice: choice}
	first, end := builder.game.graph.Transitions(int(choice))
	for _, target := range builder.game.graph.Target[first:end] {
		next := controllerNode{state: target, surplus: onlyReach}
		if node.surplus != onlyReach {
			next = builder.nodeBeyondLimit(target, node.surplus+builder.surplus.gains[choice])
		}
		move.Next = append(move.Next, builder.addNode(next))
	}
	return move
}

// nodeBeyondLimit returns the node of a state with a surplus where the product has ended. The maximizer only tries to reach target if the
// surplus covers the expected later reward, and if the state is an end state.
func (builder *accumulatedController) nodeBeyondLimit(state uint32, units int) controllerNode {
	if builder.surplus == nil || builder.endStates.Has(int(state)) || builder.surplus.covers(units, state) {
		units = onlyReach
	}
	return controllerNode{state: state, surplus: units}
}
