package attack

import "math/big"

// goal says what the players want of a value: whether player 0, player 1 and nature maximize it.
type goal struct {
	players [2]bool
	nature  bool
}

// all is the goal of a model in which everybody maximizes, or minimizes.
func all(isMax bool) goal { return goal{[2]bool{isMax, isMax}, isMax} }

// player reports whether the owner of a state maximizes.
func (m *system) player(g goal, s int) bool {
	if m.kind == "smg" {
		return g.players[m.owner[s]]
	}
	return g.players[0]
}

// chainOf returns the chain of the choices and vertices that were picked.
func (m *system) chainOf(choices, vertices []int) *chain {
	c := &chain{rows: make([][]branch, len(m.choices)), reward: make(vector, len(m.choices)), sojourn: make(vector, len(m.choices))}
	for s := range m.choices {
		picked := m.choices[s][choices[s]]
		c.rows[s], c.sojourn[s], c.reward[s] = picked.vertices[vertices[s]], one(), add(m.reward[s], picked.reward)
		if m.kind == "ma" { // the reward is the time
			c.reward[s] = new(big.Rat)
			if m.rate[s] != nil {
				c.reward[s].Inv(m.rate[s])
			}
		}
	}
	return c
}

// chain returns the only chain of a DTMC, or the jumps of a CTMC.
func (m *system) chain() *chain {
	c := &chain{}
	for s, choices := range m.choices {
		var row []branch
		exit, reward := new(big.Rat), new(big.Rat) // a chain with several commands in a state: their rates compete
		for _, choice := range choices {
			for _, b := range choice.vertices[0] {
				row = append(row, b)
				exit.Add(exit, b.weight)
				reward.Add(reward, mul(b.weight, choice.reward))
			}
		}
		for i := range row {
			row[i].weight = quo(row[i].weight, exit)
		}
		c.rows = append(c.rows, row)
		c.sojourn = append(c.sojourn, one())
		if m.kind == "ctmc" {
			c.sojourn[s] = new(big.Rat).Inv(exit)
		}
		c.reward = append(c.reward, add(mul(m.reward[s], c.sojourn[s]), quo(reward, exit)))
	}
	return c
}

// resolutions is the number of pairs of memoryless strategies of the players and nature.
func (m *system) resolutions() int {
	product := 1
	for _, choices := range m.choices {
		sum := 0
		for _, c := range choices {
			sum += len(c.vertices)
		}
		if product *= sum; product > 1<<20 {
			return product
		}
	}
	return product
}

// value returns the value of all states, by enumeration of all memoryless strategies: some of them are optimal in every state.
// One side's strategies are enumerated outside and the other's, who may answer them, inside.
func (m *system) value(g goal, of func(*chain) vector) vector {
	if m.kind == "dtmc" || m.kind == "ctmc" {
		return of(m.chain())
	}
	outerMax := g.players[0]
	choices, vertices := make([]int, len(m.choices)), make([]int, len(m.choices))
	var enumerate func(s int, outer bool, leaf func() vector) vector
	enumerate = func(s int, outer bool, leaf func() vector) vector {
		if s == len(m.choices) {
			return leaf()
		}
		var best vector
		isMax := outerMax == outer
		for c := range each(len(m.choices[s]), m.player(g, s) == isMax, &choices[s]) {
			for range each(len(m.choices[s][c].vertices), g.nature == isMax, &vertices[s]) {
				best = betterVector(isMax, best, enumerate(s+1, outer, leaf))
			}
		}
		return best
	}
	return enumerate(0, true, func() vector {
		return enumerate(0, false, func() vector { return of(m.chainOf(choices, vertices)) })
	})
}

// each sets picked to each of n numbers, if it is decided now; else it leaves picked as it is.
func each(n int, decides bool, picked *int) func(func(int) bool) {
	return func(yield func(int) bool) {
		if !decides {
			yield(*picked)
			return
		}
		for i := range n {
			*picked = i
			if !yield(i) {
				break
			}
		}
		*picked = 0
	}
}

// step returns the best mean of x after one step, with the reward of the step if withReward is set.
func (m *system) step(g goal, x vector, withReward bool) vector {
	out := make(vector, len(x))
	for s, choices := range m.choices {
		var best *big.Rat
		for i, c := range choices {
			var worst *big.Rat
			for k, vertex := range c.vertices {
				if y := mean(vertex, x); k == 0 {
					worst = y
				} else {
					worst = better(g.nature, worst, y)
				}
			}
			if withReward && worst != nil {
				worst = add(worst, add(m.reward[s], c.reward))
			}
			if i == 0 {
				best = worst
			} else {
				best = better(m.player(g, s), best, worst)
			}
		}
		out[s] = best
	}
	return out
}

// boundedUntil returns the probability of left U[low,high] right in discrete time.
func (m *system) boundedUntil(g goal, left, right []bool, low, high int) vector {
	x := indicator(right)
	for k := high - 1; k >= 0; k-- {
		next := m.step(g, x, false)
		for s := range next {
			switch {
			case right[s] && k >= low:
				next[s] = one()
			case !left[s]:
				next[s] = new(big.Rat)
			}
		}
		x = next
	}
	return x
}

// cumulative returns the reward of k steps, and instantaneous the state reward after k steps.
func (m *system) cumulative(g goal, k int) vector {
	x := indicator(constant(len(m.choices), false))
	for range k {
		x = m.step(g, x, true)
	}
	return x
}

func (m *system) instantaneous(g goal, k int) vector {
	x := m.reward
	for range k {
		x = m.step(g, x, false)
	}
	return x
}

// product returns the product with a memory that reads the states of a path: the values are those of the states when the memory is in start.
func (m *system) product(size int, next func(memory, s int) int) *system {
	out := &system{kind: m.kind, reward: make(vector, 0), sets: map[string][]bool{}}
	for s, choices := range m.choices {
		for memory := range size {
			after := next(memory, s)
			var copies []choice
			for _, c := range choices {
				double := choice{reward: c.reward}
				for _, vertex := range c.vertices {
					var row []branch
					for _, b := range vertex {
						row = append(row, branch{b.target*size + after, b.weight, ""})
					}
					double.vertices = append(double.vertices, row)
				}
				copies = append(copies, double)
			}
			out.choices, out.reward, out.owner = append(out.choices, copies), append(out.reward, m.reward[s]), append(out.owner, m.owner[s])
		}
	}
	return out
}

// opposite is the goal of everybody's opponents.
func (g goal) opposite() goal { return goal{[2]bool{!g.players[0], !g.players[1]}, !g.nature} }

// next returns the best mean of x after one step, in a CTMC after the next jump.
func (m *system) next(g goal, x vector) vector {
	if m.kind != "ctmc" {
		return m.step(g, x, false)
	}
	out := make(vector, len(x))
	for s, row := range m.chain().rows {
		out[s] = mean(row, x)
	}
	return out
}
