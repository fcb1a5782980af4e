package solve

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// equalStates returns, for each state, a representative that has the same value after any number of steps. The values of the given states must be 0 at
// first; all other states have constant values. It returns nil if the numbers of the model are rounded, because equal float64 numbers may then stand for
// different probabilities.
//
// Two states have one representative if they are bisimilar: the same side chooses in them, and their choices have the same rewards and the same
// probabilities of moving to each class of states. Then their values are equal after 0 steps, and after k+1 steps if they are after k steps.
//
// Source: partition refinement for Larsen and Skou's bisimulation (Inf. Comput. 94, 1991).
func (system *equationSystem) equalStates(states []uint32) []uint32 {
	hasErrors := !system.graph.Exact() || system.reward != nil && !hasFractions(system.reward)
	if hasErrors && system.rounding.relErr != 0 {
		return nil
	}
	class := system.initialClasses(states)
	for {
		refined, signatures := slices.Clone(class), map[string]uint32{}
		for _, state := range states {
			refined[state] = firstOf(signatures, system.signature(int(state), class), state)
		}
		if slices.Equal(refined, class) {
			return class
		}
		class = refined
	}
}

// firstOf returns the state that a map has for a key. If there is none, it enters the given state.
func firstOf[K comparable](firstStates map[K]uint32, key K, state uint32) uint32 {
	if first, ok := firstStates[key]; ok {
		return first
	}
	firstStates[key] = state
	return state
}

// initialClasses returns the initial partition, as the representative of each state's class. The given states form one class for each side that chooses in
// them. All other states with the same constant value form a class.
func (system *equationSystem) initialClasses(states []uint32) []uint32 {
	class := make([]uint32, system.graph.NumStates())
	ofSide, ofConstant := map[bool]uint32{}, map[float64]uint32{} // the representative of each class
	isVariable := make([]bool, len(class))
	for _, state := range states {
		isVariable[state] = true
		class[state] = firstOf(ofSide, system.minimizes(int(state)), state)
	}
	for state := range class {
		if isVariable[state] {
			continue
		}
		class[state] = uint32(state)
		if lower := system.values.Lower[state]; lower == system.values.Upper[state] {
			class[state] = firstOf(ofConstant, lower, uint32(state))
		}
	}
	return class
}

// signature returns a text that identifies the class of a state and the set of its different choices. Bisimilar states have equal signatures.
func (system *equationSystem) signature(state int, class []uint32) string {
	var choices []string
	first, end := system.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		choices = append(choices, system.choiceSignature(state, choice, class))
	}
	slices.Sort(choices)
	return strconv.Itoa(int(class[state])) + "|" + strings.Join(slices.Compact(choices), "|")
}

// choiceSignature returns a text that identifies the reward of a choice and its probability of moving to each class.
func (system *equationSystem) choiceSignature(state, choice int, class []uint32) string {
	var targetClasses []uint32
	probabilities := map[uint32]*big.Rat{} // for each class, the probability of moving to it
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		targetClass := class[system.graph.Target[transition]]
		if probabilities[targetClass] == nil {
			probabilities[targetClass] = new(big.Rat)
			targetClasses = append(targetClasses, targetClass)
		}
		probability := system.uncertainProbability(transition)
		probabilities[targetClass].Add(probabilities[targetClass], &probability.value)
	}
	slices.Sort(targetClasses)
	reward := system.uncertainReward(state, choice)
	var text strings.Builder
	text.WriteString(reward.value.RatString())
	for _, targetClass := range targetClasses {
		text.WriteString(" " + strconv.Itoa(int(targetClass)) + ":" + probabilities[targetClass].RatString())
	}
	return text.String()
}
