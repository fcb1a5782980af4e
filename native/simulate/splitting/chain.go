package splitting

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// status says whether a path that enters a state has reached the target or failed.
type status uint8

const (
	undecided status = iota
	reached          // the target is reached
	failed           // the target cannot be reached any more
)

// node is a state that a path has entered, or that is a successor of such a state.
type node struct {
	state                   []int32
	status                  status
	importance              float64
	isExpanded              bool
	numChoices              int       // the number of choices, one of which is drawn uniformly
	successors              []int32   // numbers of nodes
	cumulativeProbabilities []float64 // sums of the probabilities of the successors
	exitRate                float64   // the exit rate in a CTMC
	isUnlisted              bool      // the state has too many successors for a list, so each step draws one; successors has some of them for the importance function
}

// chain is the Markov chain of a model under the uniform scheduler. It adds a state when a path first reaches it.
type chain struct {
	expander     compile.Expander
	left, right  compile.Evaluator // left is nil for F
	isContinuous bool
	importance   *importance // nil while the importance function is computed
	nodes        []node
	nodeNumbers  map[string]int32
	keyBuffer    []byte
	initialState []int32
}

// maxStoredStates is the number of states above which a chain forgets its states before the next path.
const maxStoredStates = 1 << 18

// newChain returns a chain whose first node is the initial state of the model. It is an error if the model has several initial states. The
// importance function may be nil.
func newChain(ctx context.Context, model *compile.Model, monitor *compile.Monitor, importanceFunction *importance) (*chain, error) {
	initial, err := model.InitialStates(ctx)
	if err != nil {
		return nil, err
	}
	if program := model.Program(); len(initial) > 1 {
		message := fmt.Sprintf("found %d initial states, a random path wants a single one", len(initial))
		return nil, &result.Failure{Class: result.Unsupported, File: program.File, Pos: program.Init.Pos(), Message: message}
	}
	created := &chain{expander: model.NewExpanderUntil(ctx), isContinuous: model.Program().Type == syntax.CTMC, importance: importanceFunction, initialState: initial[0]}
	if created.right, err = model.Evaluator(monitor.Right); err != nil {
		return nil, err
	}
	if !isTrue(monitor.Left) {
		if created.left, err = model.Evaluator(monitor.Left); err != nil {
			return nil, err
		}
	}
	return created, created.reset()
}

// isTrue reports whether a formula is the constant true.
func isTrue(expr sema.Expr) bool {
	constant, ok := expr.(*sema.Const)
	return ok && constant.Val.Bool
}

// reset forgets all states except the initial state, which has the number 0.
func (chain *chain) reset() error {
	chain.nodes, chain.nodeNumbers = nil, map[string]int32{}
	_, err := chain.nodeNumber(chain.initialState)
	return err
}

// nodeNumber returns the number of the node for a state. It adds a node for a new state.
func (chain *chain) nodeNumber(state []int32) (int32, error) {
	chain.keyBuffer = chain.keyBuffer[:0]
	for _, value := range state {
		chain.keyBuffer = binary.LittleEndian.AppendUint32(chain.keyBuffer, uint32(value))
	}
	if number, ok := chain.nodeNumbers[string(chain.keyBuffer)]; ok {
		return number, nil
	}
	newNode := node{state: slices.Clone(state)}
	var err error
	if newNode.status, err = chain.statusOf(state); err != nil {
		return 0, err
	}
	if chain.importance != nil {
		importance, isPossible := chain.importance.valueOf(state)
		newNode.importance = importance
		if !isPossible && newNode.status == undecided {
			newNode.status = failed
		}
	}
	number := int32(len(chain.nodes))
	chain.nodes, chain.nodeNumbers[string(chain.keyBuffer)] = append(chain.nodes, newNode), number
	return number, nil
}

// statusOf returns the status of the until formula in a state: reached if the right operand holds, undecided if only the left operand holds, and
// failed if neither holds.
func (chain *chain) statusOf(state []int32) (status, error) {
	isTarget, err := chain.right.Bool(state)
	if err != nil || isTarget {
		return reached, err
	}
	if chain.left == nil {
		return undecided, nil
	}
	leftHolds, err := chain.left.Bool(state)
	if err != nil || leftHolds {
		return undecided, err
	}
	return failed, nil
}

// successors returns the distinct successors of a state, and the weights of the transitions to them. In a CTMC the weights are rates. In other models
// they are probabilities, and each choice is equally likely.
func (chain *chain) successors(choices *compile.Choices) (successors []int32, weights []float64, err error) {
	for i := range choices.List {
		scale := 1.0
		if !chain.isContinuous {
			scale = 1 / (float64(len(choices.List)) * choices.List[i].TotalWeight())
		}
		for _, transition := range choices.List[i].Transitions {
			target, err := chain.nodeNumber(transition.Target)
			if err != nil {
				return nil, nil, err
			}
			index := slices.Index(successors, target)
			if index < 0 {
				index = len(successors)
				successors, weights = append(successors, target), append(weights, 0)
			}
			weights[index] += scale * transition.Weight
		}
	}
	return successors, weights, nil
}

// expandNode computes the successors of a node and their cumulative probabilities. If a state has too many successors for a list, it draws some of them,
// from which the importance function is derived; once this function is known, it computes none. An absorbing node gets the status failed, because no path
// leads from it to the target.
func (chain *chain) expandNode(nodeNumber int32) error {
	choices, err := chain.expander.ExpandUpTo(chain.nodes[nodeNumber].state, maxListed)
	if err != nil {
		return err
	}
	isUnlisted := slices.ContainsFunc(choices.List, func(choice compile.Choice) bool { return choice.Unlisted() })
	needsSuccessors := !isUnlisted || chain.importance == nil // otherwise each step of a path draws a successor from the choices of the state
	var successors []int32
	var weights []float64
	switch {
	case !isUnlisted:
		successors, weights, err = chain.successors(choices)
	case needsSuccessors:
		successors, weights, err = chain.drawSuccessors(choices)
	}
	if err != nil {
		return err
	}
	current := &chain.nodes[nodeNumber] // the pointer is valid only now: finding successors has appended to chain.nodes
	current.isExpanded, current.numChoices, current.isUnlisted = true, len(choices.List), isUnlisted
	isAbsorbing := len(successors) == 0 || len(successors) == 1 && successors[0] == nodeNumber
	switch {
	case isAbsorbing && !isUnlisted:
		current.successors, current.status = successors, failed
	case needsSuccessors:
		current.setSuccessors(successors, weights)
	case chain.isContinuous:
		current.exitRate = chain.exitRate(choices)
	}
	return nil
}

// setSuccessors stores the successors of a node with their cumulative probabilities, which are proportional to the weights. The sum of the weights
// is the exit rate.
func (node *node) setSuccessors(successors []int32, weights []float64) {
	cumulative := weights
	for i := 1; i < len(cumulative); i++ {
		cumulative[i] += cumulative[i-1]
	}
	node.exitRate = cumulative[len(cumulative)-1]
	for i := range cumulative {
		cumulative[i] /= node.exitRate
	}
	node.successors, node.cumulativeProbabilities = successors, cumulative
}

// maxListed is the largest number of combinations of updates of a choice whose successors are listed.
const maxListed = 1 << 16

// numDrawn is the number of successors that are drawn for the importance function if a state has too many for a list.
const numDrawn = 64

// drawSuccessors draws numDrawn successors of a state that has too many to list. Each drawn successor is one entry of the result. All weights are equal, and
// their sum is the exit rate in a CTMC and 1 in other models.
func (chain *chain) drawSuccessors(choices *compile.Choices) (successors []int32, weights []float64, err error) {
	total := 1.0
	if chain.isContinuous {
		total = chain.exitRate(choices)
	}
	random := compile.NewStream(0, uint64(len(chain.nodes)))
	for range numDrawn {
		target, err := chain.drawTarget(choices, &random)
		if err != nil {
			return nil, nil, err
		}
		successors, weights = append(successors, target), append(weights, total/numDrawn)
	}
	return successors, weights, nil
}

// exitRate returns the sum of the rates of all transitions.
func (chain *chain) exitRate(choices *compile.Choices) float64 {
	rate := 0.0
	for i := range choices.List {
		rate += choices.List[i].TotalWeight()
	}
	return rate
}

// drawTarget draws a choice and a transition of this choice. It returns the number of the node for the target of the transition.
func (chain *chain) drawTarget(choices *compile.Choices, random *compile.Stream) (int32, error) {
	choice := chain.drawChoice(choices, random)
	transition, err := choice.Draw(random.Unit()*choice.TotalWeight(), random.Unit)
	if err != nil {
		return 0, err
	}
	return chain.nodeNumber(choice.Transitions[transition].Target)
}

// drawChoice draws a choice: with a probability proportional to its rate in a CTMC, and uniformly in other models.
func (chain *chain) drawChoice(choices *compile.Choices, random *compile.Stream) *compile.Choice {
	if !chain.isContinuous {
		return &choices.List[random.Below(uint32(len(choices.List)))]
	}
	remainingRate := random.Unit() * chain.exitRate(choices)
	last := len(choices.List) - 1
	for i := range last {
		remainingRate -= choices.List[i].TotalWeight()
		if remainingRate < 0 {
			return &choices.List[i]
		}
	}
	return &choices.List[last]
}

// drawSuccessor draws a successor of an expanded node by its probability.
func (chain *chain) drawSuccessor(nodeNumber int32, random *compile.Stream) (int32, error) {
	current := &chain.nodes[nodeNumber]
	if current.isUnlisted {
		choices, err := chain.expander.ExpandUpTo(current.state, maxListed)
		if err != nil {
			return 0, err
		}
		return chain.drawTarget(choices, random)
	}
	uniform := random.Unit()
	// The comparison never returns 0. So the search finds the first cumulative probability that is greater than uniform.
	index, _ := slices.BinarySearchFunc(current.cumulativeProbabilities, uniform, func(cumulative, uniform float64) int {
		if cumulative > uniform {
			return 1
		}
		return -1
	})
	return current.successors[min(index, len(current.successors)-1)], nil
}

// probability returns the probability of the k-th successor of a node.
func (node *node) probability(k int) float64 {
	if k == 0 {
		return node.cumulativeProbabilities[0]
	}
	return node.cumulativeProbabilities[k] - node.cumulativeProbabilities[k-1]
}
