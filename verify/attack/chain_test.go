package attack

import "math/big"

// chain is a Markov chain: in discrete time, or the jumps of a chain in continuous time.
type chain struct {
	rows   [][]branch
	reward vector // the mean reward of a step from each state
	// sojourn is the mean time of a step from each state: 1 in discrete time.
	sojourn vector
}

// mean returns the mean of x over the successors of s.
func mean(row []branch, x vector) *big.Rat {
	sum := new(big.Rat)
	for _, b := range row {
		if x[b.target] == nil {
			return nil
		}
		sum.Add(sum, mul(b.weight, x[b.target]))
	}
	return sum
}

// reaches returns the states from which a state of right is reached through states of left with a positive probability.
func (c *chain) reaches(left, right []bool) []bool {
	found := or(right, constant(len(right), false))
	for changed := true; changed; {
		changed = false
		for s, row := range c.rows {
			for _, b := range row {
				if !found[s] && left[s] && found[b.target] && b.weight.Sign() > 0 {
					found[s], changed = true, true
				}
			}
		}
	}
	return found
}

// until returns the probability of left U right.
func (c *chain) until(left, right []bool) vector {
	positive, e := c.reaches(left, right), newEquations(len(c.rows))
	for s, row := range c.rows {
		switch {
		case right[s]:
			e.constants[s] = one()
		case positive[s]:
			for _, b := range row {
				if positive[b.target] {
					e.add(s, b.target, b.weight)
				}
			}
		}
	}
	return e.solve()
}

// reachReward returns the reward until right, which is infinite if right is not reached almost surely.
func (c *chain) reachReward(right []bool) vector {
	all := constant(len(right), true)
	fails := c.reaches(not(right), not(c.reaches(all, right)))
	e := newEquations(len(c.rows))
	for s, row := range c.rows {
		if right[s] || fails[s] {
			continue
		}
		e.constants[s] = c.reward[s]
		for _, b := range row {
			e.add(s, b.target, b.weight)
		}
	}
	x := e.solve()
	for s := range x {
		if fails[s] && !right[s] {
			x[s] = nil
		}
	}
	return x
}

// bottom returns, for each state in a bottom strongly connected component, the members of the component; nil for other states.
func (c *chain) bottom() [][]bool {
	n := len(c.rows)
	from := make([][]bool, n) // from[t] has the states that reach t
	for t := range n {
		target := make([]bool, n)
		target[t] = true
		from[t] = c.reaches(constant(n, true), target)
	}
	components := make([][]bool, n)
	for s := range n {
		members, isBottom := make([]bool, n), true
		for t := range n {
			members[t] = from[t][s]
			isBottom = isBottom && (!from[t][s] || from[s][t])
		}
		if isBottom {
			components[s] = members
		}
	}
	return components
}

// totalReward returns the reward of all steps.
func (c *chain) totalReward() vector {
	n := len(c.rows)
	earns, stops := make([]bool, n), make([]bool, n)
	for s, members := range c.bottom() {
		for t := range members {
			earns[s] = earns[s] || members[t] && c.reward[t].Sign() > 0
		}
		stops[s] = members != nil && !earns[s]
	}
	infinite := c.reaches(constant(n, true), earns)
	x := c.reachReward(or(stops, infinite))
	for s := range x {
		if infinite[s] {
			x[s] = nil
		}
	}
	return x
}

// longRun returns the long-run average of a reward per unit of time. Every cycle takes time.
func (c *chain) longRun(reward vector) vector {
	n := len(c.rows)
	gain := make(vector, n)
	for s, members := range c.bottom() {
		if members == nil || gain[s] != nil {
			continue
		}
		average := quo(c.cycle(s, reward), c.cycle(s, c.sojourn))
		for t, member := range members {
			if member {
				gain[t] = average
			}
		}
	}
	e := newEquations(n)
	for s, row := range c.rows {
		if gain[s] != nil {
			e.constants[s] = gain[s]
			continue
		}
		for _, b := range row {
			e.add(s, b.target, b.weight)
		}
	}
	return e.solve()
}

// cycle returns the mean reward from state s until its next visit. By the renewal theorem, the quotient of two such rewards is a long-run average.
func (c *chain) cycle(s int, reward vector) *big.Rat {
	target := make([]bool, len(c.rows))
	target[s] = true
	other := &chain{rows: c.rows, reward: reward}
	return add(reward[s], mean(c.rows[s], other.reachReward(target)))
}

// ofBottom returns the probability that the chain ends in a bottom component whose members accept.
func (c *chain) ofBottom(accept func(members []bool) bool) vector {
	good := make([]bool, len(c.rows))
	for s, members := range c.bottom() {
		good[s] = members != nil && accept(members)
	}
	return c.until(constant(len(good), true), good)
}

// infinitelyOften returns the probability of G F set, and finallyAlways that of F G set.
func (c *chain) infinitelyOften(set []bool) vector {
	return c.ofBottom(func(members []bool) bool { return hasAny(and(members, set)) })
}

func (c *chain) finallyAlways(set []bool) vector {
	return c.ofBottom(func(members []bool) bool { return !hasAny(and(members, not(set))) })
}

func hasAny(set []bool) bool {
	for _, member := range set {
		if member {
			return true
		}
	}
	return false
}
