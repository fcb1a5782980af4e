package belief

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// Problem is what to bound: the probability of Left U Target, or the reward until
// Target is reached, infinite where that is not certain.
type Problem struct {
	// Graph is that of an MDP with exact weights.
	Graph *sparse.Graph
	// Observation has what each state shows.
	Observation []uint32
	// Left and Target are unions of observations. Left is ignored with a Reward.
	Left, Target *sparse.Set
	// Reward has fractions; nil asks for the probability.
	Reward    *sparse.Reward
	Direction solve.Direction // Max or Min
}

// errKind is a problem that is not one.
var errKind = errors.New("want an MDP with exact weights, and the direction Max or Min")

// Observable reports whether the observation tells whether a state is in a set.
func Observable(set *sparse.Set, observation []uint32) bool {
	in := map[uint32]bool{}
	for s, o := range observation {
		has := set.Has(s)
		if before, known := in[o]; known && before != has {
			return false
		}
		in[o] = has
	}
	return true
}

// game is a problem made ready.
type game struct {
	Problem
	m      *sparse.Model
	choice []uint32 // as Model.MatchActions returns them
	// scale times a weight is an integer, of num.
	scale *big.Int
	num   []*big.Int
	// over are the states where nothing more is decided: the target, and what is
	// neither target nor left.
	over *sparse.Set
}

// maxScale is the size, in bits, of the common denominator of all weights above which
// beliefs are not computed: every step adds so many to their numbers.
const maxScale = 4096

func newGame(p Problem) (*game, error) {
	m := p.Graph.Model
	if m.Kind != sparse.MDP || !m.Exact() || p.Direction > solve.Min {
		return nil, errKind
	}
	g := &game{Problem: p, m: m, scale: big.NewInt(1)}
	var err error
	if g.choice, err = m.MatchActions(p.Observation); err != nil {
		return nil, err
	}
	for _, w := range m.Rats {
		d := w.Denom()
		gcd := new(big.Int).GCD(nil, nil, g.scale, d)
		g.scale.Mul(g.scale, new(big.Int).Quo(d, gcd))
		if g.scale.BitLen() > maxScale {
			return nil, fmt.Errorf("the probabilities have a common denominator of more than %d bits", maxScale)
		}
	}
	for _, w := range m.Rats {
		x := new(big.Int).Mul(g.scale, w.Num())
		g.num = append(g.num, x.Quo(x, w.Denom()))
	}
	g.over = p.Target
	if p.Reward == nil {
		g.over = p.Left.Complement().Union(p.Target)
	}
	return g, nil
}

// actions returns the number of actions of a state.
func (g *game) actions(s uint32) int {
	first, end := g.m.Choices(int(s))
	return end - first
}

// at returns the choice that the k-th action is in a state.
func (g *game) at(s uint32, k int) int {
	first, _ := g.m.Choices(int(s))
	return int(g.choice[first+k])
}

// earned returns the reward of a choice in a state.
func (g *game) earned(s uint32, c int) *big.Rat {
	out := new(big.Rat)
	if r := g.Reward.StateRat; r != nil && r[s] != nil {
		out.Add(out, r[s])
	}
	if r := g.Reward.ChoiceRat; r != nil && r[c] != nil {
		out.Add(out, r[c])
	}
	return out
}

// better tells whether x is the better value for the player.
func (g *game) better(x, y float64) bool {
	if g.Direction == solve.Max {
		return x > y
	}
	return x < y
}

// best returns the best of the values.
func (g *game) best(x ...float64) float64 {
	return slices.MaxFunc(x, func(a, b float64) int {
		switch {
		case g.better(a, b):
			return 1
		case g.better(b, a):
			return -1
		}
		return 0
	})
}
