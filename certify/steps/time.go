package steps

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// What is not tried, since it would take days: so many steps are expected in a time, so
// many transitions are taken by them, and the same with fractions.
const (
	maxMean = 1 << 20
	maxWork = 1 << 38
	maxSlow = 1 << 30
)

// clock is what a time needs besides the model.
type clock struct {
	shares []*big.Rat // E/q of the exit rates, by their number in the model; nil above 1
	places uint       // of weights
	earned []*big.Rat // the rewards of the states for a unit of time
}

// part is E/q of a state.
func (p *Problem) part(s int) *big.Rat { return p.shares[p.Exit[s]] }

// parts are E/q in whole numbers, by the number of the rate; nil where one does not fit.
func (p *Problem) parts() (num, den []uint64) {
	num, den = make([]uint64, len(p.shares)), make([]uint64, len(p.shares))
	for i, x := range p.shares {
		if x == nil {
			continue
		}
		if x.Denom().BitLen() > 62 {
			return nil, nil
		}
		num[i], den[i] = x.Num().Uint64(), x.Denom().Uint64()
	}
	return num, den
}

// timed is Values of a time.
func (p *Problem) timed(ctx context.Context) (out [2]*certificate.Values, err error) {
	t := p.Vector.Timed
	p.shares = make([]*big.Rat, len(p.Numbers))
	for _, k := range p.Exit {
		if x := new(big.Rat).Quo(p.Numbers[k], t.Rate); p.shares[k] == nil && x.Cmp(one) <= 0 {
			p.shares[k] = x
		}
	}
	most := new(big.Rat).Set(one) // what is computed with, at most
	switch p.Vector.Kind {
	case certificate.Instant:
		for _, k := range p.Model.Rewards[p.Vector.Reward].State {
			most = maximum(most, p.Numbers[k])
		}
	case certificate.Cumulative:
		for s, k := range p.Rewards.Of {
			r := new(big.Rat).Mul(p.Rewards.Rats[k], p.Numbers[p.Exit[s]])
			p.earned, most = append(p.earned, r), maximum(most, r)
		}
		p.Rewards = nil // they are not earned by steps
		most.Mul(most, maximum(one, t.To))
	}
	great := new(big.Rat).Inv(t.Rate) // a weight, at most
	if t.To != nil {
		great = maximum(great, t.To)
	}
	spare := rounded(maximum(great, one), 0, upper).BitLen()
	num, _ := p.parts()
	size := rounded(most, 0, upper).BitLen() + 1
	fast := num != nil && int(t.Scale)+size <= 62 && spare < 32 && !slices.Contains(p.Den, 0)
	if p.places = 63 - uint(spare); !fast {
		p.places = t.Scale + 64 + uint(spare)
	}
	for side := range out {
		out[side] = &certificate.Values{}
		if fast {
			out[side].Scale = t.Scale
			out[side].Fixed, err = pass(ctx, p, p.whole(t.Scale, side), side, maxWork)
		} else {
			out[side].Rats, err = pass(ctx, p, p.fractions(t.Scale, side), side, maxSlow)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func maximum(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		a = b
	}
	return new(big.Rat).Set(a)
}

// pass lets the time pass, from its end to its beginning.
func pass[T any](ctx context.Context, p *Problem, g *grid[T], side int, work int) ([]T, error) {
	t, left, right := p.Vector.Timed, p.Left[side], p.Right[side]
	all := func(int) bool { return true }
	switch p.Vector.Kind {
	case certificate.Instant:
		return phase(ctx, p, g, side, start(p, g, side), all, t.To, work)
	case certificate.Cumulative:
		x := make([]T, len(p.earned))
		for s, r := range p.earned {
			x[s] = g.of(r)
		}
		return phase(ctx, p, g, side, x, all, t.To, work)
	}
	x, err := start(p, g, side), error(nil)
	if t.To != nil {
		within := new(big.Rat).Sub(t.To, t.From)
		x, err = phase(ctx, p, g, side, x, func(s int) bool { return left.Has(s) && !right.Has(s) }, within, work)
	}
	if err != nil || t.From.Sign() == 0 {
		return x, err
	}
	for s := range x {
		if !left.Has(s) {
			x[s] = g.of(new(big.Rat))
		}
	}
	return phase(ctx, p, g, side, x, left.Has, t.From, work)
}

// phase returns the mean of x after a time in which some states move, or of its integral.
func phase[T any](ctx context.Context, p *Problem, g *grid[T], side int, x []T, moves func(s int) bool, time *big.Rat, work int) ([]T, error) {
	integral, rate := p.Vector.Kind == certificate.Cumulative, p.Vector.Timed.Rate
	for s := range x {
		if moves(s) && p.part(s) == nil {
			return nil, fmt.Errorf("state %d is left faster than at the rate %s", s, rate.RatString())
		}
	}
	varied, sum, most := vary(p, g, x, moves), slices.Clone(x), g.of(new(big.Rat))
	for s := range x {
		if varied[s] {
			sum[s] = g.of(new(big.Rat))
		} else if integral {
			sum[s] = g.add(g.of(new(big.Rat)), rounded(time, p.places, side), x[s])
		}
		if g.order(x[s], most) > 0 {
			most = x[s]
		}
	}
	if !slices.Contains(varied, true) || time.Sign() == 0 {
		if time.Sign() == 0 && !integral {
			return x, nil
		}
		return sum, nil
	}
	weight, rest, err := p.weights(ctx, time, integral)
	if err != nil {
		return nil, err
	}
	if len(p.Target) > work/len(weight) {
		return nil, fmt.Errorf("%d steps of %d transitions are more than the checker takes", len(weight), len(p.Target))
	}
	if side == upper {
		for s := range sum {
			if varied[s] {
				sum[s] = g.add(sum[s], rest, most)
			}
		}
	}
	next := slices.Clone(x)
	for k, w := range weight {
		changed := false
		if err := p.each(ctx, func(s int) {
			if !varied[s] {
				return
			}
			if w.Sign() > 0 {
				sum[s] = g.add(sum[s], w, x[s])
			}
			next[s] = g.share(s, x[s], g.step(s, x))
			changed = changed || g.order(next[s], x[s]) != 0
		}); err != nil {
			return nil, err
		}
		if x, next = next, x; !changed { // and so it goes on
			left := new(big.Int)
			for _, w := range weight[k+1:] {
				left.Add(left, w)
			}
			return sum, p.each(ctx, func(s int) {
				if varied[s] {
					sum[s] = g.add(sum[s], left, x[s])
				}
			})
		}
	}
	return sum, nil
}

// vary are the states that move and reach others of another value through such states.
func vary[T any](p *Problem, g *grid[T], x []T, moves func(s int) bool) []bool {
	n := len(x)
	into := make([]uint32, n+1) // the transitions into each state begin there
	for _, t := range p.Target {
		into[t]++
	}
	for t, sum := 0, uint32(0); t <= n; t++ {
		into[t], sum = sum, sum+into[t]
	}
	from, varied := make([]uint32, len(p.Target)), make([]bool, n)
	at := slices.Clone(into)
	var queue []uint32
	for s := range n {
		lo, hi := p.Row(s)
		for _, t := range p.Target[lo:hi] {
			from[at[t]] = uint32(s)
			at[t]++
			if !varied[s] && moves(s) && g.order(x[s], x[t]) != 0 {
				varied[s] = true
				queue = append(queue, uint32(s))
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, s := range from[into[queue[0]]:into[queue[0]+1]] {
			if !varied[s] && moves(int(s)) {
				varied[s] = true
				queue = append(queue, s)
			}
		}
	}
	return varied
}

// errMean says that too many steps are to be expected.
var errMean = errors.New("the time is longer than a million steps at its rate, which is more than the checker takes")

// weights are lower bounds of w(k) for k from 0 on, or of P(N>k)/q, as multiples of
// 2^-places, and rest is what they and all others are more than that, together.
func (p *Problem) weights(ctx context.Context, time *big.Rat, integral bool) (out []*big.Int, rest *big.Int, err error) {
	rate := p.Vector.Timed.Rate
	mean, whole := new(big.Rat).Mul(rate, time), big.NewRat(1, 1)
	if mean.Cmp(big.NewRat(maxMean, 1)) > 0 {
		return nil, nil, errMean
	}
	first, v, total := poisson(mean, p.places)
	out = make([]*big.Int, first, first+len(v))
	for k := range out {
		out[k] = new(big.Int)
	}
	for _, x := range v {
		x.Lsh(x, p.places)
		out = append(out, x.Quo(x, total))
	}
	if integral {
		whole = time
		beyond := new(big.Int)
		for k := len(out) - 1; k >= 0; k-- {
			w := out[k]
			scaled := new(big.Int).Mul(beyond, rate.Denom())
			out[k] = scaled.Quo(scaled, rate.Num())
			beyond.Add(beyond, w)
		}
	}
	rest = rounded(whole, p.places, upper)
	for _, w := range out {
		rest.Sub(rest, w)
	}
	return out, rest, ctx.Err()
}

// poisson returns, from number first on, what the weights are but for a factor, rounded
// down, and an upper bound of all of them together.
func poisson(mean *big.Rat, places uint) (first int, v []*big.Int, total *big.Int) {
	mode := new(big.Int).Quo(mean.Num(), mean.Denom())
	first = int(mode.Int64())
	least := new(big.Int).Lsh(one.Num(), 56) // where it is cut off
	top := new(big.Int).Lsh(least, places+8)
	total = new(big.Int).Set(top)
	v = []*big.Int{new(big.Int).Set(top)}
	// side appends what follows by the factors num(k)/den(k), and returns the first that
	// is left out and its number, rounded up.
	side := func(k, step int, factor func(k int) (num, den *big.Int)) (int, *big.Int) {
		low, high := new(big.Int).Set(top), new(big.Int).Set(top)
		for {
			if k += step; k < 0 {
				return k, new(big.Int)
			}
			num, den := factor(k)
			low = new(big.Int).Quo(new(big.Int).Mul(low, num), den)
			high = rounded(new(big.Rat).SetFrac(new(big.Int).Mul(high, num), den), 0, upper)
			if high.Cmp(least) < 0 {
				return k, high
			}
			v, total = append(v, low), total.Add(total, high)
		}
	}
	a, b := mean.Num(), mean.Denom()
	k, tail := side(first, -1, func(k int) (num, den *big.Int) { // v(k+1) (k+1)/m
		return new(big.Int).Mul(b, big.NewInt(int64(k+1))), a
	})
	if tail.Sign() > 0 {
		total.Add(total, geometric(tail, new(big.Rat).Quo(big.NewRat(int64(k), 1), mean)))
	}
	slices.Reverse(v)
	first, mode = k+1, nil
	k, tail = side(first+len(v)-1, 1, func(k int) (num, den *big.Int) { // v(k-1) m/k
		return a, new(big.Int).Mul(b, big.NewInt(int64(k)))
	})
	total.Add(total, geometric(tail, new(big.Rat).Quo(mean, big.NewRat(int64(k+1), 1))))
	return first, v, total
}

// geometric is x/(1-q), rounded up.
func geometric(x *big.Int, q *big.Rat) *big.Int {
	sum := new(big.Rat).SetInt(x)
	return rounded(sum.Quo(sum, new(big.Rat).Sub(one, q)), 0, upper)
}
