package belief

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// AnyAction is the Action of a node that takes every action with the same probability.
const AnyAction = -1

// Controller is a strategy of a POMDP as a finite automaton. It starts in node 0, takes the action of
// the current node, and moves on by the next observation.
type Controller struct {
	Nodes []Node
}

// Node is a state of a Controller.
type Node struct {
	// Observation is the observation with which the node is entered.
	Observation uint32
	// Action is the number of the action, as in the first state with the observation, or Any.
	Action int
	// Next has an edge for each possible next observation, in increasing order. Observations of
	// terminal states are left out.
	Next []Edge
}

// Edge is the node that a Controller enters with an observation.
type Edge struct {
	Observation uint32
	Node        int
}

// nextNode returns the node after an observation, or -1 if there is none.
func (node *Node) nextNode(observation uint32) int {
	i, found := slices.BinarySearchFunc(node.Next, observation, func(edge Edge, wanted uint32) int { return cmp.Compare(edge.Observation, wanted) })
	if !found {
		return -1
	}
	return node.Next[i].Node
}

// Chain is the Markov chain that a controller induces.
type Chain struct {
	Model *sparse.Model
	// State and Node are the state of the POMDP and the node of the controller, for each state of the
	// chain.
	State []uint32
	Node  []int
}

// errTooLarge says that a chain has more states than allowed.
var errTooLarge = fmt.Errorf("the chain of the strategy is too large")

// inducedChain returns the Markov chain that a controller induces from a start state. Each state of the chain is a state of the POMDP with
// a node of the controller. Terminal states are absorbing. The error is errTooLarge if the chain has more than limit states.
func (problem *pomdp) inducedChain(ctx context.Context, controller *Controller, start uint32, limit int) (*Chain, error) {
	builder := &chainBuilder{pomdp: problem, controller: controller, numberOf: map[chainState]int{}, chain: &Chain{}, modelBuilder: sparse.NewBuilder(sparse.DTMC)}
	if _, err := builder.stateNumber(start, 0); err != nil {
		return nil, err
	}
	for i := 0; i < len(builder.chain.State); i++ { // addTransitions appends to State
		if i%pollInterval == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(builder.chain.State) > limit {
			return nil, errTooLarge
		}
		if err := builder.addTransitions(i); err != nil {
			return nil, err
		}
	}
	chainModel, err := builder.modelBuilder.Finish()
	if err != nil {
		return nil, err
	}
	chainModel.Initial = []uint32{0}
	builder.chain.Model = chainModel
	return builder.chain, nil
}

// chainBuilder builds the Markov chain that a controller induces.
type chainBuilder struct {
	*pomdp
	controller   *Controller
	numberOf     map[chainState]int
	chain        *Chain
	modelBuilder *sparse.Builder // of the model of the chain
}

// chainState is a state of the POMDP with a node of the controller.
type chainState struct {
	state uint32
	node  int
}

// stateNumber returns the number of the chain state for a state of the POMDP and a node of the controller, and adds it if it is new. All nodes share the
// chain state of a terminal state. If the node is negative, the controller has no action for the observation of the state, which is an error.
func (builder *chainBuilder) stateNumber(state uint32, node int) (int, error) {
	if builder.terminalStates.Has(int(state)) {
		node = 0
	}
	if node < 0 {
		return 0, fmt.Errorf("the strategy has no action for observation %d", builder.Observation[state])
	}
	number, found := builder.numberOf[chainState{state, node}]
	if !found {
		number = len(builder.chain.State)
		builder.numberOf[chainState{state, node}] = number
		builder.chain.State = append(builder.chain.State, state)
		builder.chain.Node = append(builder.chain.Node, node)
	}
	return number, nil
}

// addTransitions adds the transitions of the chain state with number row to the rows, and adds their targets to the chain.
func (builder *chainBuilder) addTransitions(row int) error {
	builder.modelBuilder.State()
	state, node := builder.chain.State[row], &builder.controller.Nodes[builder.chain.Node[row]]
	if builder.terminalStates.Has(int(state)) {
		builder.modelBuilder.AddRat(row, big.NewRat(1, 1), sparse.NoAction)
		return nil
	}
	for _, next := range builder.transitions(state, node.Action) {
		target, err := builder.stateNumber(next.target, node.nextNode(builder.Observation[next.target]))
		if err != nil {
			return err
		}
		builder.modelBuilder.AddRat(target, next.prob, sparse.NoAction)
	}
	return nil
}

// transition is a transition of a chain to a state of the POMDP.
type transition struct {
	target uint32
	prob   *big.Rat
}

// transitions returns the transitions of an action in a state, one for each target, sorted by target. For AnyAction, which draws an action at random, the
// probabilities are the means over all actions.
func (problem *pomdp) transitions(state uint32, action int) []transition {
	var result []transition
	choices := problem.choicesOf(state, action)
	for _, choice := range choices {
		first, end := problem.model.Transitions(choice)
		for i := first; i < end; i++ {
			prob := problem.model.Fraction(i)
			if len(choices) > 1 {
				prob = new(big.Rat).Mul(prob, big.NewRat(1, int64(len(choices))))
			}
			result = append(result, transition{problem.model.Target[i], prob})
		}
	}
	return mergeTargets(result)
}

// choicesOf returns the choice of an action in a state. For AnyAction it returns the choices of all actions.
func (problem *pomdp) choicesOf(state uint32, action int) []int {
	if action != AnyAction {
		return []int{problem.choiceOf(state, action)}
	}
	choices := make([]int, problem.numActions(state))
	for k := range choices {
		choices[k] = problem.choiceOf(state, k)
	}
	return choices
}

// mergeTargets sorts transitions by target. It merges transitions with the same target into one with the sum of their probabilities.
func mergeTargets(transitions []transition) []transition {
	slices.SortStableFunc(transitions, func(a, b transition) int { return int(a.target) - int(b.target) })
	merged := transitions[:0]
	for _, next := range transitions {
		if last := len(merged) - 1; last >= 0 && merged[last].target == next.target {
			merged[last].prob = new(big.Rat).Add(merged[last].prob, next.prob)
			continue
		}
		merged = append(merged, next)
	}
	return merged
}

// possibleObservations returns the observations of nonterminal successors of the states under an action, in increasing order.
func (problem *pomdp) possibleObservations(states []uint32, action int) []uint32 {
	observations := map[uint32]bool{}
	for _, state := range states {
		for _, target := range problem.targetsOf(state, action) {
			if !problem.terminalStates.Has(int(target)) {
				observations[problem.Observation[target]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(observations))
}

// targetsOf returns the targets of an action in a state. A terminal state has none.
func (problem *pomdp) targetsOf(state uint32, action int) []uint32 {
	if problem.terminalStates.Has(int(state)) {
		return nil
	}
	var targets []uint32
	for _, choice := range problem.choicesOf(state, action) {
		first, end := problem.model.Transitions(choice)
		targets = append(targets, problem.model.Target[first:end]...)
	}
	return targets
}

// chainReward returns the state rewards of the chain that a controller induces, or nil if the problem has no reward. Terminal states have
// reward 0.
func (problem *pomdp) chainReward(controller *Controller, chain *Chain) *sparse.Reward {
	if problem.Reward == nil {
		return nil
	}
	reward := &sparse.Reward{Name: problem.Reward.Name, RelErr: 0x1p-53}
	for i, state := range chain.State {
		stateReward := new(big.Rat)
		if !problem.terminalStates.Has(int(state)) {
			stateReward = problem.expectedReward(state, controller.Nodes[chain.Node[i]].Action)
		}
		reward.State = append(reward.State, sparse.NonzeroFloat(stateReward))
		reward.StateFractions = append(reward.StateFractions, stateReward)
	}
	return reward
}

// expectedReward returns the reward of an action in a state. For AnyAction it is the mean of the rewards of all actions.
func (problem *pomdp) expectedReward(state uint32, action int) *big.Rat {
	sum := new(big.Rat)
	choices := problem.choicesOf(state, action)
	for _, choice := range choices {
		sum.Add(sum, problem.rewardOf(state, choice))
	}
	return sum.Quo(sum, big.NewRat(int64(len(choices)), 1))
}

// evaluate solves the Markov chain that a controller induces from a start state. The chain may have at most limit states.
func (problem *pomdp) evaluate(ctx context.Context, controller *Controller, start uint32, limit int, opts solve.Options) (*solve.Values, *Chain, error) {
	chain, err := problem.inducedChain(ctx, controller, start, limit)
	if err != nil {
		return nil, nil, err
	}
	values, err := problem.solveChain(ctx, chain, problem.chainReward(controller, chain), opts)
	return values, chain, err
}

// solveChain computes the reachability probability or the expected reward of the problem in an induced chain. reward is nil for a
// probability.
func (problem *pomdp) solveChain(ctx context.Context, chain *Chain, reward *sparse.Reward, opts solve.Options) (*solve.Values, error) {
	numStates := len(chain.State)
	nonterminal, target := sparse.NewSet(numStates), sparse.NewSet(numStates)
	for i, state := range chain.State {
		switch {
		case problem.Target.Has(int(state)):
			target.Add(i)
		case !problem.terminalStates.Has(int(state)):
			nonterminal.Add(i)
		}
	}
	graph := sparse.NewGraph(chain.Model)
	if reward != nil {
		return solve.ReachReward(ctx, graph, reward, target, problem.Direction, opts)
	}
	return solve.Until(ctx, graph, nonterminal, target, problem.Direction, opts)
}
