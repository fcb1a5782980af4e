package solve

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// PreciseUntil is TimedUntil, or NotTimedUntil, on an exact model, with twice as
// many digits on the way: for rates so large that the rounding of their steps adds
// up. ErrTooManySteps says that this takes too long, ErrTime that the times are not
// known.
func PreciseUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Interval, negated bool, opts Options) (*Values, error) {
	z, err := newPrecise(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !bound.From.Known() || !bound.To.None() && !bound.To.Known() {
		return nil, ErrTime
	}
	met, missed := big.NewRat(1, 1), new(big.Rat)
	if negated {
		met, missed = missed, met
	}
	switch {
	case bound.To.None():
		l, r := left, right
		if negated {
			l, r = right.Complement(), g.Prob0A(left, right)
		}
		opts.Exact = true
		x, err := Until(ctx, g, l, r, Max, opts)
		if err != nil {
			return nil, err
		}
		for s, v := range x.Exact {
			z.put(s, v)
		}
	default:
		z.set(right.Complement(), missed)
		z.set(right, met)
		if err := z.evolve(left.Minus(right), bound.To.since(bound.From).Low); err != nil {
			return nil, err
		}
	}
	if bound.From.Low.Sign() > 0 {
		z.set(left.Complement(), missed)
		if err := z.evolve(left, bound.From.Low); err != nil {
			return nil, err
		}
	}
	v := z.values(big.NewRat(1, 1))
	for s, u := range v.Upper {
		v.Upper[s] = min(u, 1)
	}
	return v, nil
}

// PreciseInstantReward is TimedInstantReward, as PreciseUntil.
func PreciseInstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time Time, opts Options) (*Values, error) {
	z, err := newPrecise(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !time.Known() {
		return nil, ErrTime
	}
	most := z.rewards(r.StateRat)
	if err := z.evolve(sparse.FullSet(g.NumStates()), time.Low); err != nil {
		return nil, err
	}
	return z.values(most), nil
}

// PreciseCumulReward is TimedCumulReward, as PreciseUntil. What has been earned is
// the value of one more state, which the others lead to at the rate of what they
// earn.
func PreciseCumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time Time, opts Options) (*Values, error) {
	z, err := newPrecise(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !time.Known() {
		return nil, ErrTime
	}
	opts.Exact = true
	y, err := newSystem(g, r, Max, opts)
	if err != nil {
		return nil, err
	}
	gains := make([]*big.Rat, g.NumStates())
	for s := range gains {
		gains[s] = y.reward.GainRat(s, s)
	}
	most := z.rewards(gains)
	z.earned = z.x
	all := sparse.FullSet(g.NumStates())
	z.zero = g.ExistsUntil(all, z.zero.Complement()).Complement()
	z.x = append(make([]twofold, len(gains)), twofold{1, 0})
	if err := z.evolve(all, time.Low); err != nil {
		return nil, err
	}
	if z.rate.hi > 0 { // a step is worth as much as the time that it takes
		most = new(big.Rat).Quo(most, z.rate.rat())
	} else {
		most = new(big.Rat).Mul(most, time.Low)
	}
	z.x = z.x[:len(gains)]
	return z.values(most), nil
}

// precise are values under way, and what is known about their error.
type precise struct {
	ctx    context.Context
	g      *sparse.Graph
	mt     *meter
	x      []twofold
	earned []twofold // of each state, per unit of time; nil where nothing is
	// zero and one have the states whose value is known to be that.
	zero, one *sparse.Set
	rel, abs  float64 // error: relative, and of the greatest value

	rate twofold // of steps
	rows [][]entry
}

// entry is a transition of the uniformised chain.
type entry struct {
	to int
	p  twofold
}

func newPrecise(ctx context.Context, g *sparse.Graph, opts Options) (*precise, error) {
	if !g.Exact() {
		return nil, ErrNotExact
	}
	n := g.NumStates()
	return &precise{
		ctx: ctx, g: g, mt: newMeter(ctx, opts, n), x: make([]twofold, n), zero: sparse.FullSet(n), one: sparse.NewSet(n),
		rel: 16 * unit2, abs: 0x1p-700,
	}, nil
}

func (z *precise) set(states *sparse.Set, v *big.Rat) {
	for s := range states.All() {
		z.put(s, v)
	}
}

func (z *precise) put(s int, v *big.Rat) {
	z.x[s] = twofoldOf(v).kept()
	z.zero.Remove(s)
	z.one.Remove(s)
	if v.Sign() == 0 {
		z.zero.Add(s)
	} else if v.IsInt() && v.Num().IsInt64() && v.Num().Int64() == 1 {
		z.one.Add(s)
	}
}

// rewards sets the values to rewards divided by the greatest, which it returns.
func (z *precise) rewards(r []*big.Rat) (most *big.Rat) {
	top := new(big.Rat)
	for _, v := range r {
		if v != nil && v.Cmp(top) > 0 {
			top = v
		}
	}
	if top.Sign() == 0 {
		return top
	}
	for s, v := range r {
		if v != nil {
			z.put(s, new(big.Rat).Quo(v, top))
		}
	}
	return top
}

// evolve replaces the values of the open states by what they are on average after
// some time, during which all others keep theirs.
func (z *precise) evolve(open *sparse.Set, time *big.Rat) error {
	zero, one := z.g.ExistsUntil(open, z.zero.Complement()).Complement(), z.g.ExistsUntil(open, z.one.Complement()).Complement()
	if z.earned != nil {
		zero, one = z.zero, sparse.NewSet(len(z.x))
	}
	if err := z.uniformise(open); err != nil {
		return err
	}
	exact := new(big.Rat).Mul(z.rate.rat(), time)
	mean := twofoldOf(exact)
	if time.Sign() == 0 || z.rate.hi == 0 && z.earned == nil {
		return nil
	}
	if z.rate.hi == 0 { // nothing ever happens
		copy(z.x, z.earned)
		return nil
	}
	if mean.hi < floor2 { // what happens is lost with the rest
		z.zero, z.one = zero, one
		return nil
	}
	if !(mean.hi < 1<<53) {
		return tooManySteps(mean.hi, 1<<53)
	}
	widest, terms := 0, 0
	for _, row := range z.rows {
		widest, terms = max(widest, len(row)), terms+len(row)
	}
	// The number of squarings of the matrix that make one slice of time all of it.
	n, squarings := len(z.x), max(0, math.Ilogb(mean.hi)+1)
	steps, few := mean.hi+40*math.Sqrt(mean.hi)+300, 300.0
	along := steps * float64(terms+n)
	square := float64(n) * (few*float64(terms+n) + float64(squarings)*float64(n)*float64(n))
	perStep := float64(widest+10)*(2+1/slack) + 8 // of the chain, and of the probability of its number
	var err error
	switch {
	case min(along, square) > preciseWork:
		return fmt.Errorf("%w: the fastest rate times the time is %.3g, for which %d states take more than %.3g operations",
			ErrTooManySteps, mean.hi, n, float64(preciseWork))
	case along <= square:
		z.rel += unit2 * (steps*perStep + 1000)
		z.x, err = z.average(z.x, 1, mean)
	default:
		z.rel += unit2 * math.Ldexp(few*perStep+1000+float64(n), squarings+1)
		err = z.square(mean, squarings)
	}
	z.zero, z.one = zero, one
	return err
}

// preciseWork is how many operations evolve may take: some ten seconds' worth.
const preciseWork = 1 << 30

// uniformise computes the transitions of the open states in steps of one rate.
func (z *precise) uniformise(open *sparse.Set) error {
	n := z.g.NumStates()
	rates := make([]twofold, len(z.g.Rats))
	for i, r := range z.g.Rats {
		if rates[i] = twofoldOf(r); rates[i].hi < floor2 || rates[i].hi > 1/floor2 {
			return fmt.Errorf("%w: found the rate %.4g, want one from 2^-900 to 2^900", ErrTooManySteps, rates[i].hi)
		}
	}
	exits := make([]twofold, n)
	fastest := twofold{}
	for s := range open.All() {
		lo, hi := z.g.Row(s)
		for i := lo; i < hi; i++ {
			if int(z.g.Target[i]) != s {
				exits[s] = exits[s].plus(rates[z.g.Weight[i]])
			}
		}
		if exits[s].hi > fastest.hi {
			fastest = exits[s]
		}
	}
	z.rate = fastest.times(twofold{1 + slack, 0})
	z.rows = make([][]entry, len(z.x))
	for s := range z.rows {
		if s >= n || !open.Has(s) || z.rate.hi == 0 {
			z.rows[s] = []entry{{s, twofold{1, 0}}}
			continue
		}
		row := []entry{{s, z.rate.minus(exits[s]).over(z.rate)}}
		lo, hi := z.g.Row(s)
		for i := lo; i < hi; i++ {
			if t := int(z.g.Target[i]); t != s {
				row = append(row, entry{t, rates[z.g.Weight[i]].over(z.rate)})
			}
		}
		if z.earned != nil {
			row = append(row, entry{n, z.earned[s]})
		}
		z.rows[s] = row
	}
	return nil
}

// average returns the mean of the columns of x after a Poisson number of steps.
func (z *precise) average(x []twofold, columns int, mean twofold) ([]twofold, error) {
	first, weights := poisson2(mean)
	next, sum := make([]twofold, len(x)), make([]twofold, len(x))
	work := 0
	for _, row := range z.rows {
		work += len(row) * columns * 4
	}
	for k := 0; ; k++ {
		if k >= first {
			w := weights[k-first]
			for i, v := range x {
				if v.hi > 0 {
					sum[i] = sum[i].plus(w.times(v))
				}
			}
			if k-first == len(weights)-1 {
				break
			}
		}
		for s, row := range z.rows {
			for c := range columns {
				v := twofold{}
				for _, e := range row {
					if y := x[e.to*columns+c]; y.hi > 0 {
						v = v.plus(e.p.times(y))
					}
				}
				next[s*columns+c] = v.kept()
			}
		}
		x, next = next, x
		if err := z.mt.did(work); err != nil {
			return nil, err
		}
	}
	for i := range sum {
		sum[i] = sum[i].kept()
	}
	return sum, nil
}

// square evolves the values by the matrix of one slice of time, squared again and
// again until it is that of all the time.
func (z *precise) square(mean twofold, squarings int) error {
	n := len(z.x)
	m := make([]twofold, n*n)
	for s := range n {
		m[s*n+s] = twofold{1, 0}
	}
	scale := math.Ldexp(1, -squarings)
	m, err := z.average(m, n, twofold{mean.hi * scale, mean.lo * scale})
	if err != nil {
		return err
	}
	for range squarings {
		next := make([]twofold, n*n)
		for s := range n {
			for t := range n {
				w := m[s*n+t]
				if w.hi == 0 {
					continue
				}
				from, to := m[t*n:(t+1)*n], next[s*n:(s+1)*n]
				for c, v := range from {
					if v.hi > 0 {
						to[c] = to[c].plus(w.times(v))
					}
				}
			}
			for c, v := range next[s*n : (s+1)*n] {
				next[s*n+c] = v.kept()
			}
			if err := z.mt.did(4 * n * n); err != nil {
				return err
			}
		}
		m = next
	}
	out := make([]twofold, n)
	for s := range n {
		for t, v := range z.x {
			if v.hi > 0 {
				out[s] = out[s].plus(m[s*n+t].times(v))
			}
		}
		out[s] = out[s].kept()
	}
	z.x = out
	return nil
}

// poisson2 is newPoisson: the numbers from first on, without those so unlikely that
// they do not matter.
func poisson2(mean twofold) (first int, weights []twofold) {
	mode := int(mean.hi)
	walk := func(step int) (out []twofold) {
		w, sum := twofold{1, 0}, 1.0
		for k := mode; ; k += step {
			ratio := mean.over(twofold{float64(k + 1), 0})
			if step < 0 {
				ratio = twofold{float64(k), 0}.over(mean)
			}
			if ratio.hi < 1 && w.hi*ratio.hi/(1-ratio.hi) <= floor2*sum {
				return out
			}
			w = w.times(ratio)
			sum += w.hi
			out = append(out, w)
		}
	}
	below, above := walk(-1), walk(+1)
	for i := range below {
		weights = append(weights, below[len(below)-1-i])
	}
	weights = append(append(weights, twofold{1, 0}), above...)
	sum := twofold{}
	for _, w := range weights {
		sum = sum.plus(w)
	}
	for i, w := range weights {
		weights[i] = w.over(sum)
	}
	return mode - len(below), weights
}

// values returns the values, times a factor, with bounds. What got lost at the
// floor, or with the numbers left out, is less than the absolute error.
func (z *precise) values(factor *big.Rat) *Values {
	v := newValues(z.g.Model, Options{})
	if factor.Sign() == 0 {
		return v
	}
	wide := new(big.Float).SetRat(factor)
	exp := wide.MantExp(nil)
	f, _ := wide.SetMantExp(wide, -exp).Float64()
	e := z.rel + 8*unit // the rest is for one double
	for s, x := range z.x {
		y := x.hi * f
		v.Lower[s], v.Upper[s] = ldexp(max(0, y*(1-e)), y*(1+e)+z.abs, exp)
	}
	v.set(z.zero, 0)
	if factor.IsInt() && factor.Num().IsInt64() && factor.Num().Int64() == 1 {
		v.set(z.one, 1)
	}
	return v
}

// ldexp returns lo and hi times 2^exp, or less and more where these are no normal
// doubles.
func ldexp(lo, hi float64, exp int) (float64, float64) {
	const least = 0x1p-1022
	if lo = min(math.Ldexp(lo, exp), math.MaxFloat64); lo < least {
		lo = 0
	}
	return lo, max(math.Ldexp(hi, exp), least)
}
