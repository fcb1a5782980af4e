package hostile

import "math/big"

// chain is a Markov chain in discrete or continuous time.
type chain struct {
	p      [][]*big.Rat // transition probabilities; each row sums to 1
	reward []*big.Rat   // the expected reward of a step from each state
	exit   []*big.Rat   // exit rates; nil in discrete time; 0 for an absorbing state
	rate   []*big.Rat   // reward per unit of time; nil in discrete time
}

func (c *chain) size() int { return len(c.p) }

// reach returns the matrix of which states can be reached from which states. Each state is reachable from itself.
func (c *chain) reach() [][]bool {
	n := c.size()
	r := make([][]bool, n)
	for i := range r {
		r[i] = make([]bool, n)
		for j := range r[i] {
			r[i][j] = i == j || c.p[i][j].Sign() > 0
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

// recurrent returns, for each state in a bottom strongly connected component, the set of states of this component. It is nil for other states.
func (c *chain) recurrent() [][]bool {
	r := c.reach()
	out := make([][]bool, c.size())
	for i := range out {
		bottom := true
		for j := range out {
			bottom = bottom && (!r[i][j] || r[j][i])
		}
		if bottom {
			out[i] = r[i]
		}
	}
	return out
}

// cut returns a copy of the chain without the transitions of states outside open.
func (c *chain) cut(open []bool) *chain {
	n := c.size()
	d := &chain{p: make([][]*big.Rat, n)}
	for i := range n {
		d.p[i] = c.p[i]
		if !open[i] {
			d.p[i] = zeros(n)
		}
	}
	return d
}

// until returns the probability of reaching a goal state through safe states.
func (c *chain) until(safe, goal []bool) []*big.Rat {
	n := c.size()
	open := make([]bool, n)
	for i := range n {
		open[i] = safe[i] && !goal[i]
	}
	r := c.cut(open).reach()
	unknown, known := make([]bool, n), zeros(n)
	for i := range n {
		for j := range n {
			unknown[i] = unknown[i] || open[i] && goal[j] && r[i][j]
		}
		if goal[i] {
			known[i].SetInt64(1)
		}
	}
	return c.linear(unknown, known, zeros(n))
}

// linear solves the equations x = p x + b for the unknown states. For the other states it takes the values in known.
func (c *chain) linear(unknown []bool, known, b []*big.Rat) []*big.Rat {
	n := c.size()
	var index []int
	for i := range n {
		if unknown[i] {
			index = append(index, i)
		}
	}
	rows := make([][]*big.Rat, len(index))
	for k, i := range index {
		row := zeros(len(index) + 1)
		for l, j := range index {
			row[l].Neg(c.p[i][j])
		}
		row[k].Add(row[k], rat(1, 1))
		last := row[len(index)]
		last.Set(b[i])
		for j := range n {
			if !unknown[j] && c.p[i][j].Sign() > 0 {
				last.Add(last, mul(c.p[i][j], known[j]))
			}
		}
		rows[k] = row
	}
	x := append([]*big.Rat(nil), known...)
	for k, v := range eliminate(rows) {
		x[index[k]] = v
	}
	return x
}

// eliminate solves a regular system of linear equations by Gauss-Jordan elimination. Each row has the coefficients and the right-hand side.
func eliminate(rows [][]*big.Rat) []*big.Rat {
	n := len(rows)
	for k := range n {
		pivot := k
		for rows[pivot][k].Sign() == 0 {
			pivot++
		}
		rows[k], rows[pivot] = rows[pivot], rows[k]
		inv := new(big.Rat).Inv(rows[k][k])
		for j := k; j <= n; j++ {
			rows[k][j] = mul(rows[k][j], inv)
		}
		for i := range n {
			if f := rows[i][k]; i != k && f.Sign() != 0 {
				for j := n; j >= k; j-- {
					if rows[k][j].Sign() != 0 {
						rows[i][j] = sub(rows[i][j], mul(f, rows[k][j]))
					}
				}
			}
		}
	}
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = rows[i][n]
	}
	return out
}

// toGoal returns the expected reward until a goal state is reached. It is infinite if the probability of reaching one is less than 1.
func (c *chain) toGoal(goal []bool) []Value {
	n := c.size()
	all := fill(n, true)
	prob := c.until(all, goal)
	return c.expected(func(i int) bool { return prob[i].Cmp(rat(1, 1)) != 0 }, func(i int) bool { return goal[i] })
}

// total returns the expected total reward. It is infinite if a bottom component with a positive reward can be reached.
func (c *chain) total() []Value {
	r, bottom := c.reach(), c.recurrent()
	infinite := func(i int) bool {
		for j := range c.size() {
			if r[i][j] && bottom[j] != nil && c.reward[j].Sign() > 0 {
				return true
			}
		}
		return false
	}
	return c.expected(infinite, func(i int) bool { return bottom[i] != nil })
}

// expected returns the expected reward until a state that is done. infinite reports the states for which it is infinite.
func (c *chain) expected(infinite, done func(int) bool) []Value {
	n := c.size()
	unknown := make([]bool, n)
	for i := range n {
		unknown[i] = !infinite(i) && !done(i)
	}
	x := c.linear(unknown, zeros(n), c.reward)
	out := exactlyAll(x)
	for i := range n {
		if infinite(i) {
			out[i] = Value{Inf: true}
		}
	}
	return out
}

// average returns the expected long-run average of f, the value of each state.
func (c *chain) average(f []*big.Rat) []*big.Rat {
	n := c.size()
	bottom := c.recurrent()
	out, seen := zeros(n), make([]bool, n)
	for i := range n {
		if bottom[i] == nil || seen[i] {
			continue
		}
		for j := range n {
			seen[j] = seen[j] || bottom[i][j]
		}
		mean := c.within(bottom[i], f)
		for s, p := range c.until(fill(n, true), bottom[i]) {
			out[s] = add(out[s], mul(p, mean))
		}
	}
	return out
}

// within returns the mean of f in the stationary distribution of a bottom component, given by the set of its states.
func (c *chain) within(set []bool, f []*big.Rat) *big.Rat {
	var index []int
	for i, in := range set {
		if in {
			index = append(index, i)
		}
	}
	n := len(index)
	rows := make([][]*big.Rat, n)
	for k := range n {
		rows[k] = zeros(n + 1)
		for l := range n {
			rows[k][l].Set(c.p[index[l]][index[k]])
			if k == l {
				rows[k][l].Sub(rows[k][l], rat(1, 1))
			}
			if k == 0 {
				rows[k][l].SetInt64(1)
			}
		}
	}
	rows[0][n].SetInt64(1)
	pi := eliminate(rows)
	mean, sum := new(big.Rat), new(big.Rat)
	for k, i := range index {
		w := pi[k]
		if c.exit != nil && c.exit[i].Sign() > 0 {
			w = quo(w, c.exit[i])
		}
		mean.Add(mean, mul(w, f[i]))
		sum.Add(sum, w)
	}
	return mean.Quo(mean, sum)
}

// fill returns n equal values.
func fill(n int, value bool) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = value
	}
	return out
}

// not returns the complement of a set of states.
func not(set []bool) []bool {
	out := make([]bool, len(set))
	for i, in := range set {
		out[i] = !in
	}
	return out
}

// both returns the intersection of two sets of states.
func both(a, b []bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] && b[i]
	}
	return out
}

// indicator returns 1 for the states of a set, and 0 for others.
func indicator(set []bool) []*big.Rat {
	out := zeros(len(set))
	for i, in := range set {
		if in {
			out[i].SetInt64(1)
		}
	}
	return out
}
