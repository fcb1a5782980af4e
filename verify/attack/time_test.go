package attack

import (
	"fmt"
	"math/big"
)

// bits is the precision of the oracle for times.
const bits = 400

func float(x *big.Rat) *big.Float { return new(big.Float).SetPrec(bits).SetRat(x) }

func timesFloat(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(x, y) }

func plusFloat(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Add(x, y) }

// uniform is a CTMC in which all states have the same exit rate.
type uniform struct {
	rate *big.Rat
	rows [][]branch
}

// uniform returns the uniformised chain. The states of frozen are never left.
func (m *system) uniform(frozen []bool) *uniform {
	c := m.chain()
	u := &uniform{rate: one(), rows: make([][]branch, len(c.rows))}
	for s := range c.rows {
		u.rate = better(true, u.rate, new(big.Rat).Inv(c.sojourn[s]))
	}
	for s, row := range c.rows {
		jump := quo(one(), mul(c.sojourn[s], u.rate))
		if frozen[s] {
			jump = new(big.Rat)
		}
		u.rows[s] = []branch{{s, sub(one(), jump), ""}}
		for _, b := range row {
			u.rows[s] = append(u.rows[s], branch{b.target, mul(b.weight, jump), ""})
		}
	}
	return u
}

// sum returns the sum over k of the weight of k jumps within time t times the mean of x after k jumps: weights are Poisson probabilities or, if
// cumulative is set, the mean time with k jumps so far.
//
// Source: Jensen, Markoff chains as an aid in the study of Markoff processes, 1953.
func (u *uniform) sum(x vector, t *big.Rat, cumulative bool) vector {
	mean := mul(u.rate, t)
	poisson, rest := exponential(mean), big.NewFloat(1).SetPrec(bits) // of k jumps; of k jumps or more
	poisson.Quo(rest, poisson)
	now, sums := make([]*big.Float, len(x)), make([]*big.Float, len(x))
	for s := range x {
		now[s], sums[s] = float(x[s]), new(big.Float).SetPrec(bits)
	}
	tiny := new(big.Float).SetMantExp(big.NewFloat(1), -200)
	for k := int64(0); rest.Cmp(tiny) > 0; k++ {
		rest = plusFloat(rest, new(big.Float).Neg(poisson))
		weight := poisson
		if cumulative {
			weight = timesFloat(rest, float(new(big.Rat).Inv(u.rate)))
		}
		next := make([]*big.Float, len(x))
		for s := range x {
			sums[s] = plusFloat(sums[s], timesFloat(weight, now[s]))
			next[s] = new(big.Float).SetPrec(bits)
			for _, b := range u.rows[s] {
				next[s].Add(next[s], timesFloat(float(b.weight), now[b.target]))
			}
		}
		now, poisson = next, timesFloat(poisson, float(quo(mean, big.NewRat(k+1, 1))))
	}
	out := make(vector, len(x))
	for s := range x {
		out[s], _ = sums[s].Rat(nil)
	}
	return out
}

// exponential returns e^x for x >= 0 by its series.
func exponential(x *big.Rat) *big.Float {
	sum, term := big.NewFloat(1).SetPrec(bits), big.NewFloat(1).SetPrec(bits)
	for k := int64(1); term.Sign() > 0 && term.MantExp(nil) > -bits; k++ {
		term = timesFloat(term, float(quo(x, big.NewRat(k, 1))))
		sum = plusFloat(sum, term)
	}
	return sum
}

// timed returns the quantity P of an until formula with a time bound.
func (w writer) timed(left, right string, l, r []bool) quantity {
	low, high := new(big.Rat), add(w.amount(), new(big.Rat))
	bound := "<=" + number(high)
	if w.one(3) {
		low = mul(high, w.fraction())
		bound = fmt.Sprintf("[%s,%s]", number(low), number(high))
	}
	return quantity{"P", fmt.Sprintf("[ %s U%s %s ]", left, bound, right), func(goal) vector {
		x := w.uniform(or(r, not(l))).sum(indicator(r), sub(high, low), false)
		if low.Sign() == 0 {
			return x
		}
		for s := range x { // before low, only states of left
			if !l[s] {
				x[s] = new(big.Rat)
			}
		}
		return w.uniform(not(l)).sum(x, low, false)
	}, true}
}

// timedReward returns the quantity R of a time.
func (w writer) timedReward() quantity {
	t, nowhere := w.amount(), constant(w.n(), false)
	if w.one(2) {
		return quantity{`R{"r"}`, "[ I=" + number(t) + " ]", func(goal) vector { return w.uniform(nowhere).sum(w.system.reward, t, false) }, true}
	}
	return quantity{`R{"r"}`, "[ C<=" + number(t) + " ]", func(goal) vector {
		c := w.chain()
		rates := make(vector, w.n())
		for s := range rates {
			rates[s] = quo(c.reward[s], c.sojourn[s])
		}
		return w.uniform(nowhere).sum(rates, t, true)
	}, true}
}
