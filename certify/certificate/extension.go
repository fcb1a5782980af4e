package certificate

import (
	"math/big"
	"slices"
)

// Budgets are bounds on the rewards that a path collects before it reaches a state. All of them must hold when the path is there.
type Budgets struct {
	Bounds []Budget `json:"bounds"`
	States int      `json:"states"` // the number of states of the product with the rewards so far
}

// Budget bounds the sum of the rewards of the steps so far. The reward of a step is that of its state plus that of its choice.
type Budget struct {
	Reward     int      `json:"reward"` // the index of a reward structure; -1 counts steps
	Low        *big.Rat `json:"low,omitempty"`
	LowStrict  bool     `json:"low-strict,omitempty"` // more than Low, not at least Low
	High       *big.Rat `json:"high,omitempty"`
	HighStrict bool     `json:"high-strict,omitempty"` // less than High, not at most High
}

// Share refers to a vector of probabilities; with Complement, to 1 minus it.
type Share struct {
	Vector     int  `json:"vector"`
	Complement bool `json:"complement,omitempty"`
}

// ConditionalBounds has the bounds of a maximal conditional probability. They hold in the states where the columns prove them.
type ConditionalBounds struct {
	Lower *big.Rat `json:"lower"`
	Upper *big.Rat `json:"upper"`
	// Certain says that the lower values prove the conditional probability 1, because a scheduler almost surely satisfies the formula or violates the
	// condition.
	Certain bool `json:"certain,omitempty"`
}

// Parts returns the two automata of a maximal conditional probability. The first accepts the paths that satisfy the formula and the condition,
// the second accepts the paths that violate the condition.
func (a *Automaton) Parts() [2]*Automaton {
	formulas := [2]*Formula{{Op: "&", Operand: a.Formula, SecondOperand: a.Condition}, {Op: "!", Operand: a.Condition}}
	var parts [2]*Automaton
	for k, formula := range formulas {
		part := *a
		part.Formula, part.Condition, part.Excluded = formula, nil, nil
		part.Jumps = make([][]uint32, len(a.Jumps))
		for state, jumps := range a.Jumps {
			for _, target := range jumps {
				if a.Part(target) == k {
					part.Jumps[state] = append(part.Jumps[state], target)
				}
			}
		}
		parts[k] = &part
	}
	return parts
}

// Part returns 1 for a state in Excluded, and 0 for any other state.
func (a *Automaton) Part(state uint32) int {
	if a.Excluded != nil && a.Excluded[state] {
		return 1
	}
	return 0
}

// SetsOf returns the sets that a vector depends on, also through other vectors.
func (file *File) SetsOf(vector *Vector) []int {
	sets := slices.Clone(vector.Sets())
	for _, share := range vector.Shares {
		sets = append(sets, file.Vectors[share.Vector].Sets()...)
	}
	return sets
}
