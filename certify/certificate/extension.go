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

// Given has the bounds of a maximal conditional probability. They hold in the states where the columns prove them.
type Given struct {
	Avoids bool     `json:"avoids,omitempty"`
	Lower  *big.Rat `json:"lower"`
	Upper  *big.Rat `json:"upper"`
	States int      `json:"states"` // the number of states of the product with what a path has seen
}

// SetsOf returns the sets that a vector depends on, also through other vectors.
func (file *File) SetsOf(vector *Vector) []int {
	sets := slices.Clone(vector.Sets())
	for _, share := range vector.Shares {
		sets = append(sets, file.Vectors[share.Vector].Sets()...)
	}
	return sets
}
