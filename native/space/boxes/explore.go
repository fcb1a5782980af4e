package boxes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
)

// Nodes with fixed numbers. A path stops in them.
const (
	targetNode = iota // stands for all states that satisfy the right operand of the until formula
	avoidNode         // stands for all states that satisfy neither operand
	firstNode
	noNode = math.MaxUint32
)

// maxSteps is the greatest number of deterministic steps in a walk. Then the walk ends at a stored node, although its last box has only one successor. So the
// exploration also ends in a cycle, and recognizes walks that have met.
const maxSteps = 128

// node is a stored box: an initial one, one that branches, or one at which a walk has stopped.
type node struct {
	box       box
	isInitial bool
	// isDivided says that the states of the box behave differently, so that the box is no state of the model: division divides it. Then the predecessors of the
	// node are expanded again, and divided in the same way.
	isDivided    bool
	division     split
	isQueued     bool
	isDeadlock   bool
	predecessors []uint32
	choices      []nodeChoice
}

// nodeChoice is a choice of a node, with the rewards of all steps until the next nodes.
type nodeChoice struct {
	action   int
	reward   *big.Rat // nil for 0
	branches []edge
}

// edge is a probabilistic alternative of a choice.
type edge struct {
	weight *big.Rat
	target uint32
}

// exploration is a depth-first search of boxes.
type exploration struct {
	*program
	goal    *goal
	options Options
	nodes   []node
	// numbers has the node of each box that is not initial. The keys come from writeKey.
	numbers     map[string]uint32
	keyBuffer   []byte
	queue       []uint32
	memoryBytes int64
	numSteps    int64 // the number of steps of all walks
}

// explore explores all boxes that are reachable from the initial states. If the states of a box behave differently, it divides the box, and explores the
// parts and the predecessors of the box again.
func (x *exploration) explore(ctx context.Context) error {
	x.nodes = make([]node, firstNode)
	if err := x.addInitialBoxes(ctx); err != nil {
		return err
	}
	for len(x.queue) > 0 {
		number := x.queue[len(x.queue)-1]
		x.queue = x.queue[:len(x.queue)-1]
		x.nodes[number].isQueued = false
		if x.nodes[number].isDivided {
			continue
		}
		err := x.expand(ctx, number)
		if errors.Is(err, errMustDivide) {
			x.divideNode(number, x.evaluation.box, x.evaluation.proposal)
			err = nil
		}
		if err != nil {
			return err
		}
		if err := x.checkLimits(); err != nil {
			return err
		}
	}
	return nil
}

// checkLimits returns an *explicit.LimitError if there are more nodes, or if they need more memory, than the options allow.
func (x *exploration) checkLimits() error {
	isTooMany := x.options.MaxStates > 0 && len(x.nodes) > x.options.MaxStates
	isTooLarge := x.options.MaxMemory > 0 && x.memoryBytes > x.options.MaxMemory
	if !isTooMany && !isTooLarge {
		return nil
	}
	failure := &explicit.LimitError{Memory: isTooLarge, Limit: int64(x.options.MaxStates), States: len(x.nodes), Expanded: max(len(x.nodes)-len(x.queue), 0)}
	if isTooLarge {
		failure.Limit = x.options.MaxMemory
	}
	return failure
}

// addInitialBoxes adds nodes whose boxes have each initial state once.
func (x *exploration) addInitialBoxes(ctx context.Context) error {
	whole := box{make([]int32, len(x.Vars)), make([]int32, len(x.Vars))}
	for slot, variable := range x.Vars {
		whole.low[slot], whole.high[slot] = variable.Init, variable.Init
		if x.Init == nil {
			continue
		}
		if variable.Type == sema.Int && !variable.IsBounded {
			return x.unsupported(variable.Pos, fmt.Sprintf("init…endinit with the unbounded variable %q", variable.Name))
		}
		whole.low[slot], whole.high[slot] = variable.Low, variable.High
	}
	if x.Init == nil {
		x.enqueue(x.addNode(whole, true))
		return nil
	}
	isInitial := newExpression(x.Init)
	pending := []box{whole}
	for len(pending) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		x.evaluation.box = part
		holds, isKnown := isInitial.value(&x.evaluation)
		switch {
		case !isKnown && !x.evaluation.hasProposal:
			return x.unsupported(x.Init.Pos(), "found an expression that has no value in some state, or that rounding changes, want a condition for boxes of states")
		case !isKnown:
			less, others := part.divide(x.evaluation.proposal)
			pending = append(pending, others, less)
		case holds == 1:
			x.enqueue(x.addNode(part, true))
		}
	}
	switch len(x.queue) {
	case 0:
		return x.unsupported(x.Init.Pos(), "no valuation satisfies init…endinit")
	case 1: // several initial states of the model must not become one state
		x.divideInitial(x.queue[0])
	}
	return nil
}

// divideInitial divides the box of the only initial node if the box has several states. Then the model of boxes has several initial states, as the original
// model has, and a property still has a range of values.
func (x *exploration) divideInitial(number uint32) {
	initial := x.nodes[number].box
	for slot := range initial.low {
		if initial.isWide(slot) {
			x.divideNode(number, initial, initial.halving(slot))
			return
		}
	}
}

// nodeBytes is the memory of a node and of its state in the space, without its box, its edges and its key.
const nodeBytes = 600

// addNode adds a node.
func (x *exploration) addNode(b box, isInitial bool) uint32 {
	number := uint32(len(x.nodes))
	x.nodes = append(x.nodes, node{box: b, isInitial: isInitial})
	x.memoryBytes += nodeBytes + 8*int64(len(b.low))
	return number
}

// enqueue adds a node to the queue unless it is there.
func (x *exploration) enqueue(number uint32) {
	if !x.nodes[number].isQueued {
		x.nodes[number].isQueued = true
		x.queue = append(x.queue, number)
	}
}

// writeKey writes to keyBuffer the text by which numbers finds the node of a box.
func (x *exploration) writeKey(b box) {
	x.keyBuffer = x.keyBuffer[:0]
	for slot, low := range b.low {
		x.keyBuffer = binary.AppendVarint(x.keyBuffer, int64(low))
		x.keyBuffer = binary.AppendUvarint(x.keyBuffer, uint64(int64(b.high[slot])-int64(low)))
	}
}

// targetOf returns the node to which a transition into a box leads. If the box decides the property, this is targetNode or avoidNode. Otherwise it is the
// node of the box, which targetOf creates and queues if it is new.
func (x *exploration) targetOf(b box) (uint32, error) {
	decided, isDecided, err := x.decide(b)
	if err != nil || isDecided {
		return decided, err
	}
	numNodes := len(x.nodes)
	number := x.numberOf(b)
	if len(x.nodes) > numNodes {
		x.enqueue(number)
	}
	return number, nil
}

// numberOf returns the number of the node of a box, and creates the node if it is new. It does not queue the node.
func (x *exploration) numberOf(b box) uint32 {
	x.writeKey(b)
	number, isKnown := x.numbers[string(x.keyBuffer)]
	if !isKnown {
		number = x.addNode(b.clone(), false)
		x.numbers[string(x.keyBuffer)] = number
		x.memoryBytes += int64(len(x.keyBuffer))
	}
	return number
}

// decide returns targetNode if all states of a box satisfy the target, or avoidNode if they all violate both operands of the until formula. If they satisfy
// neither condition, isDecided is false. The error is errMustDivide if the states differ.
func (x *exploration) decide(b box) (number uint32, isDecided bool, err error) {
	x.evaluation.box = b
	for i, condition := range []*expression{x.goal.target, x.goal.avoid} {
		if condition == nil {
			continue
		}
		holds, isKnown := condition.value(&x.evaluation)
		if !isKnown {
			return 0, false, x.undecided()
		}
		if holds == 1 {
			return uint32(targetNode + i), true, nil
		}
	}
	return 0, false, nil
}

// expand computes the choices of a node. As long as a box has a single successor with probability 1, it goes on to this successor without storing a node,
// and collects the rewards. The error is errMustDivide if the states of a box do not all behave in the same way.
func (x *exploration) expand(ctx context.Context, number uint32) error {
	current := x.nodes[number].box.clone()
	collected := new(rewardSum)
	for step := 0; ; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		decided, isDecided, err := x.decide(current)
		if err != nil {
			return err
		}
		if isDecided {
			x.setOnlySuccessor(number, decided, collected)
			return nil
		}
		if step > 0 {
			x.writeKey(current)
			if known, isKnown := x.numbers[string(x.keyBuffer)]; isKnown {
				x.setOnlySuccessor(number, known, collected)
				return nil
			}
		}
		choices, err := x.choices(current)
		if err != nil {
			return err
		}
		if len(choices) == 1 && len(choices[0].branches) == 1 && step < maxSteps {
			collected.add(choices[0].reward)
			current.copyFrom(choices[0].branches[0].box)
			x.numSteps++
			continue
		}
		end := number
		if step > 0 {
			end = noNode
		}
		return x.finishWalk(walk{number, end, current, collected}, choices)
	}
}

// walk is a sequence of deterministic steps, each to one successor with probability 1.
type walk struct {
	start     uint32 // the node of the first box
	end       uint32 // the node of the last box, or noNode if the last box has none yet
	last      box
	collected *rewardSum // the sum of the rewards of the steps
}

// finishWalk ends a walk of deterministic steps. If the last box has one successor, the start of the walk leads to this successor. Otherwise the last box
// becomes a node of its own, with the given choices or as a deadlock, and the start of the walk leads to it.
func (x *exploration) finishWalk(walk walk, choices []choice) error {
	endChoices, err := x.nodeChoices(choices)
	if err != nil {
		return err
	}
	if len(endChoices) == 1 && len(endChoices[0].branches) == 1 {
		walk.collected.add(endChoices[0].reward)
		x.setOnlySuccessor(walk.start, endChoices[0].branches[0].target, walk.collected)
		return nil
	}
	isDeadlock := len(endChoices) == 0
	var deadlockReward *big.Rat
	if isDeadlock {
		if deadlockReward, err = x.stateReward(walk.last); err != nil {
			return err
		}
	}
	if walk.end == noNode {
		walk.end = x.numberOf(walk.last)
	}
	if isDeadlock { // as in PRISM, a deadlock gets a self-loop
		x.nodes[walk.end].isDeadlock = true
		endChoices = []nodeChoice{{sema.Unlabelled, deadlockReward, []edge{{one, walk.end}}}}
	}
	x.setChoices(walk.end, endChoices)
	if walk.end != walk.start {
		x.setOnlySuccessor(walk.start, walk.end, walk.collected)
	}
	return nil
}

// setOnlySuccessor gives a node one choice, which leads to target with probability 1 and earns reward.
func (x *exploration) setOnlySuccessor(number, target uint32, reward *rewardSum) {
	x.setChoices(number, []nodeChoice{{sema.Unlabelled, reward.fraction(), []edge{{one, target}}}})
}

// nodeChoices returns the given choices with the node of each successor instead of its box. It creates and queues nodes for new boxes.
func (x *exploration) nodeChoices(choices []choice) ([]nodeChoice, error) {
	result := make([]nodeChoice, len(choices))
	for i, choice := range choices {
		targets := make([]uint32, len(choice.branches))
		for j, branch := range choice.branches {
			var err error
			if targets[j], err = x.targetOf(branch.box); err != nil {
				return nil, err
			}
		}
		result[i] = nodeChoice{choice.action, choice.reward, choice.edges(targets)}
	}
	return result, nil
}

// edges returns the edges of a choice. targets[i] is the node to which branch i leads. Branches with the same target become one edge with the sum of their
// weights.
func (c *choice) edges(targets []uint32) []edge {
	if !slices.ContainsFunc(targets, func(target uint32) bool { return target != targets[0] }) {
		return []edge{{one, targets[0]}}
	}
	var edges []edge
	position := make(map[uint32]int)
	for i, target := range targets {
		if known, isKnown := position[target]; isKnown {
			edges[known].weight = new(big.Rat).Add(edges[known].weight, c.branches[i].weight)
			continue
		}
		position[target] = len(edges)
		edges = append(edges, edge{c.branches[i].weight, target})
	}
	return edges
}

// setChoices stores the choices of a node, and the node as a predecessor of its targets. If a target is divided already, the states of the node lead to
// different parts of it, so setChoices divides the node in the same way instead.
func (x *exploration) setChoices(number uint32, choices []nodeChoice) {
	for _, choice := range choices {
		for _, edge := range choice.branches {
			if target := &x.nodes[edge.target]; target.isDivided {
				x.divideNode(number, target.box, target.division)
				return
			}
		}
	}
	for _, choice := range choices {
		x.memoryBytes += 48 + 16*int64(len(choice.branches))
		for _, edge := range choice.branches {
			predecessors := &x.nodes[edge.target].predecessors
			isListed := len(*predecessors) > 0 && (*predecessors)[len(*predecessors)-1] == number
			if edge.target >= firstNode && edge.target != number && !isListed {
				*predecessors = append(*predecessors, number)
				x.memoryBytes += 4
			}
		}
	}
	x.nodes[number].choices = choices
}

// divideNode divides the box of a node so that its parts lead to different parts of a later box, which the given split divides. In the later box the variable
// of the split has the same number of values as in the node, but each value is greater by a constant. So the value at which the node is divided is that
// of the split minus this constant.
func (x *exploration) divideNode(number uint32, later box, by split) {
	divided := &x.nodes[number]
	constant := later.low[by.slot] - divided.box.low[by.slot]
	division := split{by.slot, by.at - constant}
	divided.choices, divided.isDeadlock = nil, false
	if divided.isInitial { // replace the node by two nodes, because no choice leads to an initial node
		less, others := divided.box.divide(division)
		divided.box = less
		x.enqueue(number)
		x.enqueue(x.addNode(others, true))
		return
	}
	divided.isDivided, divided.division = true, division
	for _, predecessor := range divided.predecessors {
		x.enqueue(predecessor)
	}
	divided.predecessors = nil
}

// rewardSum is a sum of rewards. It adds integers separately from other fractions, which is faster.
type rewardSum struct {
	whole int64    // the sum of the integers
	rest  *big.Rat // the sum of all other rewards; nil for 0
}

// add adds a reward to the sum. A nil reward stands for 0.
func (sum *rewardSum) add(reward *big.Rat) {
	const maxWhole = math.MaxInt64 / 2
	switch {
	case reward == nil:
	case reward.IsInt() && reward.Num().IsInt64() && reward.Num().Int64() <= maxWhole && sum.whole <= maxWhole:
		sum.whole += reward.Num().Int64()
	case sum.rest == nil:
		sum.rest = reward
	default:
		sum.rest = new(big.Rat).Add(sum.rest, reward)
	}
}

// fraction returns the sum of the rewards, or nil if the sum is 0.
func (sum *rewardSum) fraction() *big.Rat {
	switch {
	case sum.whole == 0:
		return sum.rest
	case sum.rest == nil:
		return new(big.Rat).SetInt64(sum.whole)
	}
	return new(big.Rat).Add(new(big.Rat).SetInt64(sum.whole), sum.rest)
}

// reachable returns the nodes that are reachable from the initial nodes, in breadth-first order.
func (x *exploration) reachable() []uint32 {
	isReached := make([]bool, len(x.nodes))
	var order []uint32
	reach := func(number uint32) {
		if !isReached[number] {
			isReached[number] = true
			order = append(order, number)
		}
	}
	for number := range x.nodes {
		if x.nodes[number].isInitial {
			reach(uint32(number))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, choice := range x.nodes[order[i]].choices {
			for _, edge := range choice.branches {
				reach(edge.target)
			}
		}
	}
	return slices.Clip(order)
}
