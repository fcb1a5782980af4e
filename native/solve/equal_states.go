package solve

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// equalStates returns a representative of each state, which has the same value after any number of steps. The first values of the given states must
// be 0; other values are constants. It returns nil if the model has rounding errors, so that equal numbers of the model may stand for different ones.
//
// Two states have one representative if they are bisimilar: the same side chooses in them, and their choices have the same rewards and the same
// probabilities of moving to each class of states. Then their values are equal after 0 steps, and after k+1 steps if they are after k steps.
//
// Source: partition refinement for Larsen and Skou's bisimulation (Inf. Comput. 94, 1991).
func (sys *equationSystem) equalStates(states []uint32) []uint32 {
	hasErrors := !sys.graph.Exact() || sys.reward != nil && !hasFractions(sys.reward)
	if hasErrors && sys.rounding.relErr != 0 {
		return nil
	}
	class := make([]uint32, sys.graph.NumStates())
	sides, constants := map[bool]uint32{}, map[float64]uint32{}
	isVariable := make([]bool, len(class))
	for _, s := range states {
		isVariable[s] = true
		class[s] = firstOf(sides, sys.minimizes(int(s)), s)
	}
	for s := range class {
		if isVariable[s] {
			continue
		}
		class[s] = uint32(s)
		if lower := sys.values.Lower[s]; lower == sys.values.Upper[s] {
			class[s] = firstOf(constants, lower, uint32(s))
		}
	}
	for {
		refined, signatures := slices.Clone(class), map[string]uint32{}
		for _, s := range states {
			refined[s] = firstOf(signatures, sys.signature(int(s), class), s)
		}
		if slices.Equal(refined, class) {
			return class
		}
		class = refined
	}
}

// firstOf returns the state that a map has for a key. If there is none, it enters state s.
func firstOf[K comparable](firstStates map[K]uint32, key K, s uint32) uint32 {
	if first, ok := firstStates[key]; ok {
		return first
	}
	firstStates[key] = s
	return s
}

// signature describes the class of a state and its different choices: their rewards, and their probabilities of moving to each class.
func (sys *equationSystem) signature(s int, class []uint32) string {
	choices := []string{}
	first, end := sys.graph.Choices(s)
	for choice := first; choice < end; choice++ {
		var targets []uint32
		probabilities := map[uint32]*big.Rat{}
		firstTransition, endTransition := sys.graph.Transitions(choice)
		for i := firstTransition; i < endTransition; i++ {
			target := class[sys.graph.Target[i]]
			if probabilities[target] == nil {
				probabilities[target] = new(big.Rat)
				targets = append(targets, target)
			}
			probability := sys.uncertainProbability(i)
			probabilities[target].Add(probabilities[target], &probability.value)
		}
		slices.Sort(targets)
		reward := sys.uncertainReward(s, choice)
		var text strings.Builder
		text.WriteString(reward.value.RatString())
		for _, target := range targets {
			text.WriteString(" " + strconv.Itoa(int(target)) + ":" + probabilities[target].RatString())
		}
		choices = append(choices, text.String())
	}
	slices.Sort(choices)
	return strconv.Itoa(int(class[s])) + "|" + strings.Join(slices.Compact(choices), "|")
}
