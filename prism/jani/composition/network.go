package composition

import (
	"context"
	"slices"
)

// Network is a parallel composition of automata.
type Network struct {
	// Automata are the automata that can be replaced. An automaton that takes part in steps and must not be replaced is nil.
	Automata []*Automaton
	Vectors  []Vector
}

// Vector is a step that several automata take together.
type Vector struct {
	// Actions has the action of each automaton, and Internal for an automaton that does not take part.
	Actions []int
	// Origin identifies the vector for the caller. Vectors keep it.
	Origin int
}

// Limits of the size of a composition before it is minimised: the first one that is tried, and the last one.
const (
	firstMaxStates = 1 << 12
	lastMaxStates  = 1 << 20
)

// Reduce composes automata in pairs and minimises the results, as long as these are small enough. The composition of two automata replaces the
// first one. The second one becomes nil, and its actions become Internal. The only error is the error of the context.
func (n *Network) Reduce(ctx context.Context) error {
	effort := &effort{ctx: ctx, remaining: maxEffort}
	for i, automaton := range n.Automata {
		if automaton == nil {
			continue
		}
		if minimized := minimize(automaton, effort); minimized != nil {
			n.Automata[i] = minimized
		}
	}
	reduction := &reduction{Network: n, effort: effort}
	for limit := firstMaxStates; limit <= lastMaxStates && ctx.Err() == nil; limit *= 4 {
		reduction.products = map[[2]int]*product{}
		for reduction.composeBestPair(limit) {
		}
	}
	return ctx.Err()
}

// reduction is the state of Reduce.
type reduction struct {
	*Network
	// products has the compositions that are known, by their automata; nil for one that exceeds the limit.
	products map[[2]int]*product
	effort   *effort
}

// composeBestPair composes the two automata whose minimised composition has the fewest states. It returns false if every composition has more
// than limit states, or if the effort is exhausted.
func (n *reduction) composeBestPair(limit int) bool {
	var best *product
	for _, pair := range n.connectedPairs() {
		if n.effort.isExhausted() {
			return false
		}
		candidate, isKnown := n.products[pair]
		if !isKnown {
			candidate = n.composePair(pair, limit)
			n.products[pair] = candidate
		}
		if candidate != nil && (best == nil || len(candidate.automaton.States) < len(best.automaton.States)) {
			best = candidate
		}
	}
	if best == nil {
		return false
	}
	n.replacePair(best)
	// The cached compositions of the two replaced automata are no longer valid.
	for pair := range n.products {
		if slices.Contains(best.pair[:], pair[0]) || slices.Contains(best.pair[:], pair[1]) {
			delete(n.products, pair)
		}
	}
	return true
}

// connectedPairs returns the pairs of automata that take part in a common synchronisation vector, in ascending order.
func (n *Network) connectedPairs() [][2]int {
	var pairs [][2]int
	for _, vector := range n.Vectors {
		for first, action := range vector.Actions {
			if action == Internal || n.Automata[first] == nil {
				continue
			}
			for second := first + 1; second < len(vector.Actions); second++ {
				if vector.Actions[second] != Internal && n.Automata[second] != nil {
					pairs = append(pairs, [2]int{first, second})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(left, right [2]int) int { return slices.Compare(left[:], right[:]) })
	return slices.Compact(pairs)
}

// product is the minimised composition of two automata.
type product struct {
	pair      [2]int
	automaton *Automaton
	// actions has the action of the product for each pair of actions that is part of a vector with other automata.
	actions map[[2]int]int
}

// composePair returns the minimised composition of two automata. It returns nil if the composition has more than limit states, or if the effort is
// exhausted.
func (n *reduction) composePair(pair [2]int, limit int) *product {
	result := &product{pair: pair, actions: map[[2]int]int{}}
	builder := &productBuilder{effort: n.effort, left: n.Automata[pair[0]], right: n.Automata[pair[1]], limit: limit, numbers: map[[2]int]int{}}
	isInternal := map[[2]int]bool{} // the pairs of actions that no other automaton takes part in
	for i := range n.Vectors {
		actions := n.Vectors[i].actionsOf(pair)
		switch _, isKnown := result.actions[actions]; {
		case actions == [2]int{}:
		case n.Vectors[i].isWithin(pair):
			if !isInternal[actions] {
				isInternal[actions] = true
				builder.addRule(actions, Internal)
			}
		case !isKnown:
			result.actions[actions] = len(result.actions) + 1
			builder.addRule(actions, result.actions[actions])
		}
	}
	if !builder.explore() {
		return nil
	}
	if result.automaton = minimize(&builder.result, n.effort); result.automaton == nil {
		return nil
	}
	return result
}

// actionsOf returns the actions of two automata in a vector.
func (v *Vector) actionsOf(pair [2]int) [2]int {
	return [2]int{v.Actions[pair[0]], v.Actions[pair[1]]}
}

// isWithin reports whether no automata except the two of the pair take part in a synchronisation vector.
func (v *Vector) isWithin(pair [2]int) bool {
	for i, action := range v.Actions {
		if action != Internal && i != pair[0] && i != pair[1] {
			return false
		}
	}
	return true
}

// replacePair replaces two automata by their composition. It removes the synchronisation vectors in which only these two take part, because their
// steps are internal now.
func (n *Network) replacePair(composed *product) {
	first, second := composed.pair[0], composed.pair[1]
	n.Automata[first], n.Automata[second] = composed.automaton, nil
	var remaining []Vector
	for _, vector := range n.Vectors {
		if actions := vector.actionsOf(composed.pair); actions != [2]int{} {
			if vector.isWithin(composed.pair) {
				continue
			}
			vector.Actions = slices.Clone(vector.Actions)
			vector.Actions[first], vector.Actions[second] = composed.actions[actions], Internal
		}
		remaining = append(remaining, vector)
	}
	n.Vectors = remaining
}

// productBuilder explores the composition of two automata.
type productBuilder struct {
	effort      *effort
	left, right *Automaton
	limit       int
	// jointActions has the steps that both automata take, by the action of the left one. alone has those that one of them takes, by its action.
	jointActions map[int][]jointAction
	aloneActions [2]map[int][]int
	result       Automaton

	numbers map[[2]int]int // of the states
	queue   [][2]int
}

// jointAction is the action of the right automaton in a joint step, and that of the product.
type jointAction struct{ right, product int }

// addRule adds a rule for the steps of the composition: if the two automata make steps with the two actions, the composition makes a step with
// productAction. An automaton whose action is Internal does not take part.
func (b *productBuilder) addRule(actions [2]int, productAction int) {
	if b.jointActions == nil {
		b.jointActions, b.aloneActions = map[int][]jointAction{}, [2]map[int][]int{{Internal: {Internal}}, {Internal: {Internal}}}
	}
	switch left, right := actions[0], actions[1]; {
	case right == Internal:
		b.aloneActions[0][left] = append(b.aloneActions[0][left], productAction)
	case left == Internal:
		b.aloneActions[1][right] = append(b.aloneActions[1][right], productAction)
	default:
		b.jointActions[left] = append(b.jointActions[left], jointAction{right, productAction})
	}
}

// explore explores the reachable states of the composition. It returns false if there are more states than the limit, if a rate is too large, or if
// the effort is exhausted.
func (b *productBuilder) explore() bool {
	b.result.Initial = b.numberOf([2]int{b.left.Initial, b.right.Initial})
	for i := 0; i < len(b.queue); i++ {
		state, ok := b.expandState(b.queue[i])
		if !ok || len(b.queue) > b.limit || !b.effort.spend(1+len(state.Steps)+len(state.Rates)) {
			return false
		}
		b.result.States = append(b.result.States, state)
	}
	return true
}

// numberOf returns the number of a state of the composition. A new state is also added to the queue.
func (b *productBuilder) numberOf(state [2]int) int {
	number, ok := b.numbers[state]
	if !ok {
		number = len(b.queue)
		b.numbers[state] = number
		b.queue = append(b.queue, state)
	}
	return number
}

// expandState returns the steps and the rates of a state of the composition. ok is false if the sum of the rates is too large.
func (b *productBuilder) expandState(state [2]int) (successors State, ok bool) {
	successors.Steps = b.stepsOf(state)
	successors.normalize()
	if !successors.isStable() { // an internal step happens before time passes (maximal progress), so no rate is ever taken
		return successors, true
	}
	sum := int64(0)
	for _, rate := range b.left.States[state[0]].Rates {
		successors.Rates = append(successors.Rates, Rate{b.numberOf([2]int{rate.Target, state[1]}), rate.Units})
		sum += rate.Units
	}
	for _, rate := range b.right.States[state[1]].Rates {
		successors.Rates = append(successors.Rates, Rate{b.numberOf([2]int{state[0], rate.Target}), rate.Units})
		sum += rate.Units
	}
	return successors, sum <= MaxUnits
}

// stepsOf returns the steps of a state of the composition: those of one automaton alone, and the joint steps of both.
func (b *productBuilder) stepsOf(state [2]int) []Step {
	left, right := &b.left.States[state[0]], &b.right.States[state[1]]
	var steps []Step
	for _, leftStep := range left.Steps {
		for _, action := range b.aloneActions[0][leftStep.Action] {
			steps = append(steps, Step{action, b.numberOf([2]int{leftStep.Target, state[1]})})
		}
		for _, joint := range b.jointActions[leftStep.Action] {
			for _, rightStep := range right.Steps {
				if rightStep.Action == joint.right {
					steps = append(steps, Step{joint.product, b.numberOf([2]int{leftStep.Target, rightStep.Target})})
				}
			}
		}
	}
	for _, rightStep := range right.Steps {
		for _, action := range b.aloneActions[1][rightStep.Action] {
			steps = append(steps, Step{action, b.numberOf([2]int{state[0], rightStep.Target})})
		}
	}
	return steps
}
