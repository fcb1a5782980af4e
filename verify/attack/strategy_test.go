package attack

import "math/big"

// game is a system whose choices and vertices are alternatives of a maximizer or of a minimizer. The states of the system come first. They are
// followed by a state of nature for each choice with several vertices.
type game struct {
	alternatives [][][]branch
	isMax        []bool
	targets      []bool
}

// game returns the game of a goal.
func (m *system) game(g goal, targets []bool) *game {
	out := &game{targets: append([]bool(nil), targets...)}
	out.alternatives = make([][][]branch, len(m.choices))
	for s := range m.choices {
		out.isMax = append(out.isMax, m.player(g, s))
	}
	for s, choices := range m.choices {
		for _, c := range choices {
			if len(c.vertices) == 1 {
				out.alternatives[s] = append(out.alternatives[s], c.vertices[0])
				continue
			}
			out.alternatives[s] = append(out.alternatives[s], []branch{{len(out.alternatives), one(), ""}})
			out.alternatives, out.isMax, out.targets = append(out.alternatives, c.vertices), append(out.isMax, g.nature), append(out.targets, false)
		}
	}
	return out
}

// optimalReach returns the values of reaching targets, by strategy iteration with fractions: the maximizer switches only to alternatives that are
// better. At the end the values are those of its strategy against the best answer, and they are a fixed point of the Bellman operator.
//
// Source: Hoffman and Karp, On nonterminating stochastic games, 1966.
func (m *system) optimalReach(g goal, targets []bool) vector {
	if m.kind == "dtmc" || m.kind == "ctmc" {
		return m.chain().until(constant(len(targets), true), targets)
	}
	game := m.game(g, targets)
	strategy := make([]int, len(game.alternatives))
	for {
		x := game.bestAnswer(strategy)
		if !game.improve(strategy, x, true) {
			return x[:len(m.choices)]
		}
	}
}

// improve switches the strategy of one side where an alternative is strictly better.
func (game *game) improve(strategy []int, x vector, isMax bool) (changed bool) {
	for s, alternatives := range game.alternatives {
		if game.isMax[s] != isMax || game.targets[s] {
			continue
		}
		best := x[s]
		for i, row := range alternatives {
			if y := mean(row, x); compare(y, best) != 0 && compare(y, best) > 0 == isMax {
				best, strategy[s], changed = y, i, true
			}
		}
	}
	return changed
}

// bestAnswer changes the minimizer's part of a strategy to the best answer, and returns the values.
func (game *game) bestAnswer(strategy []int) vector {
	game.avoid(strategy)
	for {
		c := &chain{}
		for s, alternatives := range game.alternatives {
			c.rows = append(c.rows, alternatives[strategy[s]])
		}
		x := c.until(constant(len(c.rows), true), game.targets)
		if !game.improve(strategy, x, false) {
			return x
		}
	}
}

// avoid makes the minimizer stay where it can avoid the targets surely. From all other states every strategy of it ends in the targets or there.
func (game *game) avoid(strategy []int) {
	avoids := not(game.targets)
	stays := func(row []branch) bool {
		for _, b := range row {
			if !avoids[b.target] && b.weight.Sign() > 0 {
				return false
			}
		}
		return true
	}
	find := func(s int) int {
		if game.isMax[s] {
			if stays(game.alternatives[s][strategy[s]]) {
				return strategy[s]
			}
			return -1
		}
		for i, row := range game.alternatives[s] {
			if stays(row) {
				return i
			}
		}
		return -1
	}
	for changed := true; changed; {
		changed = false
		for s := range avoids {
			if avoids[s] && find(s) < 0 {
				avoids[s], changed = false, true
			}
		}
	}
	for s := range avoids {
		if avoids[s] {
			strategy[s] = find(s)
		}
	}
}

// optimalReward returns the optimal rewards until the targets of an MDP, by policy iteration with fractions. They are infinite where the targets
// may be, or for a minimum must be, missed.
//
// Source: Bertsekas and Tsitsiklis, An analysis of stochastic shortest path problems, 1991.
func (m *system) optimalReward(isMax bool, targets []bool) vector {
	game := m.game(all(!isMax), targets)
	strategy := make([]int, len(m.choices))
	reaches := game.bestAnswer(strategy)
	for !isMax && game.improve(strategy, reaches, true) { // a minimum needs a strategy that reaches the targets
		reaches = game.bestAnswer(strategy)
	}
	finite := make([]bool, len(m.choices))
	for s := range finite {
		finite[s] = reaches[s].Cmp(one()) == 0
	}
	for {
		c := m.chainOf(strategy, make([]int, len(m.choices)))
		x, changed := c.reachReward(targets), false
		for s, choices := range m.choices {
			if targets[s] || !finite[s] {
				x[s] = nil
				if targets[s] {
					x[s] = new(big.Rat)
				}
				continue
			}
			best := x[s]
			for i, choice := range choices {
				y := mean(choice.vertices[0], finiteOnly(x, finite))
				if y == nil {
					continue
				}
				if y = add(y, add(m.reward[s], choice.reward)); compare(y, best) != 0 && compare(y, best) > 0 == isMax {
					best, strategy[s], changed = y, i, true
				}
			}
		}
		if !changed {
			return x
		}
	}
}

// finiteOnly makes the values of states outside of a set infinite.
func finiteOnly(x vector, finite []bool) vector {
	out := make(vector, len(x))
	for s := range x {
		if finite[s] {
			out[s] = x[s]
		}
	}
	return out
}
