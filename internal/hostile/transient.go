package hostile

import (
	"math/big"
)

const (
	precision = 512 // bits of the arithmetic below
	digits    = 60  // of its results that are believed
	terms     = 40  // of the exponential series, whose argument is 2^-8 at most
)

func real(x *big.Rat) *big.Float { return new(big.Float).SetPrec(precision).SetRat(x) }

// generator is a matrix of rates between states, nonnegative off the diagonal.
type generator struct {
	rates [][]*big.Rat // the diagonal is not looked at
	exit  []*big.Rat
}

// frozen returns the rates of a continuous-time chain in which the states outside open are absorbing.
func (c *chain) frozen(open []bool) *generator {
	n := c.size()
	g := &generator{exit: zeros(n)}
	for i := range n {
		row := zeros(n)
		if open[i] && c.exit[i].Sign() > 0 {
			g.exit[i] = c.exit[i]
			for j := range n {
				row[j] = mul(c.p[i][j], c.exit[i])
			}
		}
		g.rates = append(g.rates, row)
	}
	return g
}

// earning adds a state whose value after a time is the reward earned in this time. rate is the reward of each state per unit of time.
func (g *generator) earning(rate []*big.Rat) *generator {
	n := len(g.rates)
	out := &generator{exit: append(append([]*big.Rat(nil), g.exit...), new(big.Rat))}
	for i := range n {
		out.rates = append(out.rates, append(append([]*big.Rat(nil), g.rates[i]...), rate[i]))
	}
	out.rates = append(out.rates, zeros(n+1))
	return out
}

// after returns exp(Q t) f for the generator matrix Q: the expectation of f after time t. It uses uniformisation with a rate q, which makes all
// entries nonnegative. So nothing is subtracted, and every entry has a small relative error. It computes the exponential for t/2^k and
// squares it k times.
func (g *generator) after(t *big.Rat, f []*big.Rat) []Value {
	n := len(g.rates)
	q := new(big.Rat)
	for i, e := range g.exit {
		if own := sub(e, g.rates[i][i]); own.Cmp(q) > 0 {
			q = own
		}
		for j, r := range g.rates[i] {
			if j != i && r.Cmp(q) > 0 {
				q = r // so that the terms of the series are below 1, also those of rewards
			}
		}
	}
	if q.Sign() == 0 || t.Sign() == 0 {
		return exactlyAll(f[:n])
	}
	h, squarings := mul(q, t), 0
	for h.Cmp(rat(1, 256)) > 0 {
		h = h.Quo(h, rat(2, 1))
		squarings++
	}
	b := newMatrix(n)
	for i := range n {
		for j := range n {
			x := quo(g.rates[i][j], q)
			if i == j {
				x = add(x, sub(rat(1, 1), quo(g.exit[i], q)))
			}
			b[i][j] = real(mul(x, h))
		}
	}
	m := exponential(b, real(h))
	for range squarings {
		m = m.times(m)
	}
	return m.apply(f)
}

type matrix [][]*big.Float

// newMatrix returns a matrix of n rows and columns of zeros.
func newMatrix(n int) matrix {
	m := make(matrix, n)
	for i := range m {
		m[i] = make([]*big.Float, n)
		for j := range m[i] {
			m[i][j] = new(big.Float).SetPrec(precision)
		}
	}
	return m
}

// times returns the product of two matrices.
func (m matrix) times(o matrix) matrix {
	n := len(m)
	out, x := newMatrix(n), new(big.Float).SetPrec(precision)
	for i := range n {
		for k := range n {
			if m[i][k].Sign() == 0 {
				continue
			}
			for j := range n {
				if o[k][j].Sign() != 0 {
					out[i][j].Add(out[i][j], x.Mul(m[i][k], o[k][j]))
				}
			}
		}
	}
	return out
}

// exponential returns exp(b-hI) for a nonnegative matrix b, where I is the identity matrix: the quotient of the power series of exp(b) and exp(h).
func exponential(b matrix, h *big.Float) matrix {
	n := len(b)
	sum, term := newMatrix(n), newMatrix(n)
	scale, power := big.NewFloat(1).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for i := range n {
		sum[i][i].SetInt64(1)
		term[i][i].SetInt64(1)
	}
	for k := 1; k <= terms; k++ {
		term = term.times(b)
		power.Mul(power, h)
		d := new(big.Float).SetPrec(precision).SetInt64(int64(k))
		power.Quo(power, d)
		scale.Add(scale, power)
		for i := range n {
			for j := range n {
				term[i][j].Quo(term[i][j], d)
				sum[i][j].Add(sum[i][j], term[i][j])
			}
		}
	}
	for i := range n {
		for j := range n {
			sum[i][j].Quo(sum[i][j], scale)
		}
	}
	return sum
}

// apply returns intervals that contain the product of the matrix and a vector. Their relative width is the accuracy of the matrix.
func (m matrix) apply(f []*big.Rat) []Value {
	slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
	out := make([]Value, len(m))
	for i := range m {
		sum := new(big.Rat)
		for j := range m {
			x, _ := m[i][j].Rat(nil)
			sum.Add(sum, mul(x, f[j]))
		}
		out[i] = Value{Lo: mul(sum, sub(rat(1, 1), slack)), Hi: mul(sum, add(rat(1, 1), slack))}
	}
	return out
}

// scaled returns exp(Q t) f like after, for a vector f of intervals.
func (g *generator) scaled(t *big.Rat, f []Value) []Value {
	lo, hi := zeros(len(f)), zeros(len(f))
	for i, v := range f {
		lo[i], hi[i] = v.Lo, v.Hi
	}
	a, b := g.after(t, lo), g.after(t, hi)
	for i := range a {
		a[i].Hi = b[i].Hi
	}
	return a
}
