package attack

import "math/big"

// vector has a number for each state. A nil number is infinite.
type vector []*big.Rat

func one() *big.Rat              { return big.NewRat(1, 1) }
func add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }

// compare compares two numbers, of which nil is infinite.
func compare(x, y *big.Rat) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return x.Cmp(y)
}

// better returns the greater or the smaller of two numbers.
func better(isMax bool, x, y *big.Rat) *big.Rat {
	if (compare(x, y) < 0) == isMax {
		return y
	}
	return x
}

// betterVector returns the greater or the smaller number for each state. A nil vector is worse than all others.
func betterVector(isMax bool, x, y vector) vector {
	if x == nil {
		return y
	}
	out := make(vector, len(x))
	for s := range x {
		out[s] = better(isMax, x[s], y[s])
	}
	return out
}

// indicator is 1 for the members of a set, and 0 for the others.
func indicator(set []bool) vector {
	out := make(vector, len(set))
	for s := range set {
		out[s] = new(big.Rat)
		if set[s] {
			out[s].SetInt64(1)
		}
	}
	return out
}

// complement returns 1-x for each state.
func complement(x vector) vector {
	out := make(vector, len(x))
	for s := range x {
		out[s] = sub(one(), x[s])
	}
	return out
}

func not(set []bool) []bool {
	out := make([]bool, len(set))
	for s := range set {
		out[s] = !set[s]
	}
	return out
}

func and(x, y []bool) []bool {
	out := make([]bool, len(x))
	for s := range x {
		out[s] = x[s] && y[s]
	}
	return out
}

func or(x, y []bool) []bool { return not(and(not(x), not(y))) }

// constant is a set of n states that has all states or none.
func constant(n int, member bool) []bool {
	out := make([]bool, n)
	for s := range out {
		out[s] = member
	}
	return out
}

// equations are x[i] = constants[i] + sum of rows[i][j]*x[j].
type equations struct {
	rows      []map[int]*big.Rat
	constants vector
}

func newEquations(n int) *equations {
	e := &equations{rows: make([]map[int]*big.Rat, n), constants: make(vector, n)}
	for i := range n {
		e.rows[i], e.constants[i] = map[int]*big.Rat{}, new(big.Rat)
	}
	return e
}

// add adds weight*x[j] to row i.
func (e *equations) add(i, j int, weight *big.Rat) {
	if old := e.rows[i][j]; old != nil {
		weight = add(old, weight)
	}
	e.rows[i][j] = weight
}

// solve eliminates the variables from the last to the first and substitutes back. The equations have one solution; otherwise it panics.
func (e *equations) solve() vector {
	for i := len(e.rows) - 1; i >= 0; i-- {
		if loop := e.rows[i][i]; loop != nil {
			delete(e.rows[i], i)
			factor := new(big.Rat).Inv(sub(one(), loop))
			e.constants[i] = mul(e.constants[i], factor)
			for j, weight := range e.rows[i] {
				e.rows[i][j] = mul(weight, factor)
			}
		}
		for k := range i {
			if weight := e.rows[k][i]; weight != nil {
				delete(e.rows[k], i)
				e.constants[k] = add(e.constants[k], mul(weight, e.constants[i]))
				for j, other := range e.rows[i] {
					e.add(k, j, mul(weight, other))
				}
			}
		}
	}
	x := make(vector, len(e.rows))
	for i := range x { // row i has variables before i only
		x[i] = e.constants[i]
		for j, weight := range e.rows[i] {
			x[i] = add(x[i], mul(weight, x[j]))
		}
	}
	return x
}
