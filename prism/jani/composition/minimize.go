package composition

import (
	"encoding/binary"
	"slices"
)

// maxRounds is the largest number of rounds of refinement: each round computes all states, and a chain of n rates needs n of them.
const maxRounds = 1000

// minimize returns the quotient of the reachable part of an automaton by the coarsest branching bisimulation that keeps divergence. It returns nil
// if the effort or the rounds of refinement are exhausted.
func minimize(automaton *Automaton, effort *effort) *Automaton {
	acyclic := collapseCycles(automaton)
	minimizer := &minimizer{effort: effort, automaton: acyclic, stateOrder: internalOrder(acyclic), blockOf: make([]int, len(acyclic.States)), signatures: make([][]item, len(acyclic.States))}
	for round := 0; minimizer.refine(); round++ {
		if round == maxRounds {
			return nil
		}
	}
	if effort.isExhausted() {
		return nil
	}
	return minimizer.quotient()
}

// item is an element of a signature. It is a step whose target is the number of a block, unless its action is one of the following two.
type item Step

// Actions of the items that are not steps.
const (
	ratesItem      = -1 // the target is the number of the rates
	divergenceItem = -2 // the state has an internal self-loop
)

// minimizer refines a partition of the states until the states of a block have the same signature.
type minimizer struct {
	effort     *effort
	automaton  *Automaton
	stateOrder []int // the states, each after the targets of its internal steps
	blockOf    []int // of each state
	numBlocks  int
	signatures [][]item
	rates      [][]Rate // by their number in the signatures: the targets are blocks
}

// refine splits each block into the sets of states with equal signatures. It returns false if no block was split, or if the effort is exhausted.
func (m *minimizer) refine() bool {
	m.computeSignatures()
	if m.effort.isExhausted() {
		return false
	}
	blockNumbers := map[string]int{}
	newBlocks := make([]int, len(m.blockOf))
	var key []byte
	for state := range m.blockOf {
		key = binary.AppendUvarint(key[:0], uint64(m.blockOf[state]))
		for _, item := range m.signatures[state] {
			key = binary.AppendVarint(key, int64(item.Action))
			key = binary.AppendUvarint(key, uint64(item.Target))
		}
		number, ok := blockNumbers[string(key)]
		if !ok {
			number = len(blockNumbers)
			blockNumbers[string(key)] = number
		}
		newBlocks[state] = number
	}
	if len(blockNumbers) == m.numBlocks { // no block was split; m.blockOf stays, because the signatures refer to its numbers
		return false
	}
	m.blockOf, m.numBlocks = newBlocks, len(blockNumbers)
	return true
}

// computeSignatures computes the signature of each state: its visible steps, its internal steps to other blocks and its rates. The signatures of states that
// internal steps within the block lead to are included. Two states of a block stay together if their signatures are equal.
func (m *minimizer) computeSignatures() {
	m.rates = nil
	rateNumbers := map[string]int{}
	for _, stateIndex := range m.stateOrder {
		state := &m.automaton.States[stateIndex]
		if !m.effort.spend(1 + len(state.Steps) + len(state.Rates)) {
			return
		}
		var signature []item
		for _, step := range state.Steps {
			switch targetBlock := m.blockOf[step.Target]; {
			case step.Action != Internal || targetBlock != m.blockOf[stateIndex]:
				signature = append(signature, item{step.Action, targetBlock})
			case step.Target == stateIndex:
				signature = append(signature, item{divergenceItem, 0})
			default:
				signature = append(signature, m.signatures[step.Target]...)
			}
		}
		if state.isStable() {
			signature = append(signature, item{ratesItem, m.numberOfRates(stateIndex, rateNumbers)})
		}
		slices.SortFunc(signature, compareItems)
		m.signatures[stateIndex] = slices.Compact(signature)
	}
}

// compareItems compares items by action, then by target.
func compareItems(left, right item) int { return compareSteps(Step(left), Step(right)) }

// numberOfRates adds up the rates from a stable state to each other block. It returns a number for these sums; states with equal sums get the
// same number.
func (m *minimizer) numberOfRates(state int, rateNumbers map[string]int) int {
	var rates []Rate
	for _, rate := range m.automaton.States[state].Rates {
		if targetBlock := m.blockOf[rate.Target]; targetBlock != m.blockOf[state] {
			rates = append(rates, Rate{targetBlock, rate.Units})
		}
	}
	rates = sumRates(rates)
	var key []byte
	for _, rate := range rates {
		key = binary.AppendUvarint(key, uint64(rate.Target))
		key = binary.AppendVarint(key, rate.Units)
	}
	number, ok := rateNumbers[string(key)]
	if !ok {
		number = len(rateNumbers)
		rateNumbers[string(key)] = number
		m.rates = append(m.rates, rates)
	}
	return number
}

// sumRates sorts rates by their targets, and adds up the rates with the same target.
func sumRates(rates []Rate) []Rate {
	slices.SortFunc(rates, func(left, right Rate) int { return left.Target - right.Target })
	var merged []Rate
	for _, rate := range rates {
		if last := len(merged) - 1; last >= 0 && merged[last].Target == rate.Target {
			merged[last].Units += rate.Units
		} else {
			merged = append(merged, rate)
		}
	}
	return merged
}

// quotient returns the automaton whose states are the blocks. The signature of any state of a block gives the steps and rates of the block.
func (m *minimizer) quotient() *Automaton {
	quotient := &Automaton{Initial: m.blockOf[m.automaton.Initial], States: make([]State, m.numBlocks)}
	isDone := make([]bool, m.numBlocks)
	for stateIndex, block := range m.blockOf {
		if isDone[block] {
			continue
		}
		isDone[block] = true
		state := &quotient.States[block]
		for _, item := range m.signatures[stateIndex] {
			switch item.Action {
			case ratesItem:
				state.Rates = m.rates[item.Target]
			case divergenceItem:
				state.Steps = append(state.Steps, Step{Internal, block})
			default:
				state.Steps = append(state.Steps, Step(item))
			}
		}
		state.normalize()
	}
	return quotient.reachablePart()
}

// collapseCycles merges states that can reach each other by internal steps. A merged state has an internal self-loop, because it may take
// internal steps for ever.
func collapseCycles(automaton *Automaton) *Automaton {
	components, count := internalComponents(automaton)
	collapsed := &Automaton{Initial: components[automaton.Initial], States: make([]State, count)}
	for stateIndex := range automaton.States {
		state := &collapsed.States[components[stateIndex]]
		for _, step := range automaton.States[stateIndex].Steps {
			state.Steps = append(state.Steps, Step{step.Action, components[step.Target]})
		}
		for _, rate := range automaton.States[stateIndex].Rates {
			state.Rates = append(state.Rates, Rate{components[rate.Target], rate.Units})
		}
	}
	for i := range collapsed.States {
		collapsed.States[i].normalize()
	}
	return collapsed.reachablePart()
}

// reachablePart returns the part of an automaton that is reachable from its initial state.
func (a *Automaton) reachablePart() *Automaton {
	newNumbers := make([]int, len(a.States)) // the new number of each state, plus one; 0 if it was not visited
	var queue []int
	visit := func(stateIndex int) int {
		if newNumbers[stateIndex] == 0 {
			queue = append(queue, stateIndex)
			newNumbers[stateIndex] = len(queue)
		}
		return newNumbers[stateIndex] - 1
	}
	reachable := &Automaton{Initial: visit(a.Initial)}
	for i := 0; i < len(queue); i++ {
		state := State{}
		for _, step := range a.States[queue[i]].Steps {
			state.Steps = append(state.Steps, Step{step.Action, visit(step.Target)})
		}
		for _, rate := range a.States[queue[i]].Rates {
			state.Rates = append(state.Rates, Rate{visit(rate.Target), rate.Units})
		}
		state.normalize()
		reachable.States = append(reachable.States, state)
	}
	return reachable
}

// internalOrder returns the states in an order in which the targets of internal steps come before their sources. Internal self-loops are allowed;
// longer cycles of internal steps are not.
func internalOrder(automaton *Automaton) []int {
	components, count := internalComponents(automaton)
	order := make([]int, count)
	for state, component := range components {
		order[component] = state
	}
	return order
}

// internalComponents returns the number of the strongly connected component of each state under internal steps, and the number of components.
// A component has a greater number than those that it reaches.
//
// Source: Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1(2), 1972.
func internalComponents(automaton *Automaton) (component []int, count int) {
	n := len(automaton.States)
	component = make([]int, n)
	index, low, next := make([]int, n), make([]int, n), make([]int, n) // index 0: not visited
	isOnStack := make([]bool, n)
	visited := 0
	var stack, path []int
	enter := func(state int) {
		visited++
		index[state], low[state] = visited, visited
		isOnStack[state] = true
		stack, path = append(stack, state), append(path, state)
	}
	for root := range n {
		if index[root] != 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			state := path[len(path)-1]
			if steps := automaton.States[state].Steps; next[state] < len(steps) {
				step := steps[next[state]]
				next[state]++
				switch target := step.Target; {
				case step.Action != Internal:
				case index[target] == 0:
					enter(target)
				case isOnStack[target]:
					low[state] = min(low[state], index[target])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[state])
			}
			if low[state] == index[state] {
				for {
					member := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					isOnStack[member] = false
					component[member] = count
					if member == state {
						break
					}
				}
				count++
			}
		}
	}
	return component, count
}
