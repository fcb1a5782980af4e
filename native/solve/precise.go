package solve

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// PreciseUntil is TimedUntil, or NotTimedUntil if negated, in double-word arithmetic: for exact models
// whose rates are so large that the rounding errors of float64 steps add up. The errors are
// ErrTooManySteps if it would take too long, and ErrTime if a time is not known exactly.
func PreciseUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Interval, negated bool, opts Options) (*Values, error) {
	pt, err := newPreciseTransient(ctx, g, opts)
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
			pt.set(s, v)
		}
	default:
		pt.setAll(right.Complement(), missed)
		pt.setAll(right, met)
		if err := pt.evolve(left.Minus(right), bound.To.since(bound.From).Low); err != nil {
			return nil, err
		}
	}
	if bound.From.Low.Sign() > 0 {
		pt.setAll(left.Complement(), missed)
		if err := pt.evolve(left, bound.From.Low); err != nil {
			return nil, err
		}
	}
	v := pt.values(big.NewRat(1, 1))
	for s, u := range v.Upper {
		v.Upper[s] = min(u, 1)
	}
	return v, nil
}

// PreciseInstantReward is TimedInstantReward in double-word arithmetic, with the errors of
// PreciseUntil.
func PreciseInstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time Time, opts Options) (*Values, error) {
	pt, err := newPreciseTransient(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !time.Known() {
		return nil, ErrTime
	}
	scale := pt.setScaledRewards(r.StateRat)
	if err := pt.evolve(sparse.FullSet(g.NumStates()), time.Low); err != nil {
		return nil, err
	}
	return pt.values(scale), nil
}

// PreciseCumulReward is TimedCumulReward in double-word arithmetic, with the errors of PreciseUntil.
// The accumulated reward is the value of an additional state, to which every state has a transition
// with its reward as rate.
func PreciseCumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time Time, opts Options) (*Values, error) {
	pt, err := newPreciseTransient(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !time.Known() {
		return nil, ErrTime
	}
	opts.Exact = true
	sys, err := newSystem(g, r, Max, opts)
	if err != nil {
		return nil, err
	}
	stateRewards := make([]*big.Rat, g.NumStates())
	for s := range stateRewards {
		stateRewards[s] = sys.reward.OfChoiceRat(s, s)
	}
	scale := pt.setScaledRewards(stateRewards)
	pt.rewardRate = pt.x
	all := sparse.FullSet(g.NumStates())
	pt.zero = g.ExistsUntil(all, pt.zero.Complement()).Complement()
	pt.x = append(make([]doubleWord, len(stateRewards)), doubleWord{1, 0})
	if err := pt.evolve(all, time.Low); err != nil {
		return nil, err
	}
	if pt.rate.hi > 0 { // one step takes 1/rate units of time
		scale = new(big.Rat).Quo(scale, pt.rate.rat())
	} else {
		scale = new(big.Rat).Mul(scale, time.Low)
	}
	pt.x = pt.x[:len(stateRewards)]
	return pt.values(scale), nil
}

// preciseTransient computes transient values by uniformisation in double-word arithmetic, with error
// bounds.
type preciseTransient struct {
	ctx        context.Context
	g          *sparse.Graph
	meter      *meter
	x          []doubleWord
	rewardRate []doubleWord // of each state, when rewards accumulate; nil otherwise
	// zero and one are the states whose value is exactly that.
	zero, one      *sparse.Set
	relErr, absErr float64 // relative error, and absolute error as a multiple of the greatest value

	rate doubleWord // uniformisation rate
	rows [][]preciseTransition
}

// preciseTransition is a transition of the uniformised chain.
type preciseTransition struct {
	to int
	p  doubleWord
}

func newPreciseTransient(ctx context.Context, g *sparse.Graph, opts Options) (*preciseTransient, error) {
	if !g.Exact() {
		return nil, ErrNotExact
	}
	n := g.NumStates()
	return &preciseTransient{
		ctx: ctx, g: g, meter: newMeter(ctx, opts, n), x: make([]doubleWord, n), zero: sparse.FullSet(n), one: sparse.NewSet(n),
		relErr: 16 * doubleWordUnit, absErr: 0x1p-700,
	}, nil
}

func (pt *preciseTransient) setAll(states *sparse.Set, v *big.Rat) {
	for s := range states.All() {
		pt.set(s, v)
	}
}

func (pt *preciseTransient) set(s int, v *big.Rat) {
	pt.x[s] = newDoubleWord(v).flush()
	pt.zero.Remove(s)
	pt.one.Remove(s)
	if v.Sign() == 0 {
		pt.zero.Add(s)
	} else if v.IsInt() && v.Num().IsInt64() && v.Num().Int64() == 1 {
		pt.one.Add(s)
	}
}

// setScaledRewards sets the values to the rewards divided by the greatest reward, which it returns.
func (pt *preciseTransient) setScaledRewards(r []*big.Rat) (scale *big.Rat) {
	maximum := new(big.Rat)
	for _, v := range r {
		if v != nil && v.Cmp(maximum) > 0 {
			maximum = v
		}
	}
	if maximum.Sign() == 0 {
		return maximum
	}
	for s, v := range r {
		if v != nil {
			pt.set(s, new(big.Rat).Quo(v, maximum))
		}
	}
	return maximum
}

// evolve replaces the values of the open states by their expectation after some time. The other states
// are absorbing. It either takes all steps of the uniformised chain, or computes the transition matrix
// of a short slice of time and squares it repeatedly, whichever is cheaper.
func (pt *preciseTransient) evolve(open *sparse.Set, time *big.Rat) error {
	zero, one := pt.g.ExistsUntil(open, pt.zero.Complement()).Complement(), pt.g.ExistsUntil(open, pt.one.Complement()).Complement()
	if pt.rewardRate != nil {
		zero, one = pt.zero, sparse.NewSet(len(pt.x))
	}
	if err := pt.uniformise(open); err != nil {
		return err
	}
	exact := new(big.Rat).Mul(pt.rate.rat(), time)
	mean := newDoubleWord(exact)
	if time.Sign() == 0 || pt.rate.hi == 0 && pt.rewardRate == nil {
		return nil
	}
	if pt.rate.hi == 0 { // no transitions: only rewards accumulate
		copy(pt.x, pt.rewardRate)
		return nil
	}
	if mean.hi < doubleWordFloor { // covered by the absolute error
		pt.zero, pt.one = zero, one
		return nil
	}
	if !(mean.hi < 1<<53) {
		return tooManySteps(mean.hi, 1<<53)
	}
	maxRow, terms := 0, 0
	for _, row := range pt.rows {
		maxRow, terms = max(maxRow, len(row)), terms+len(row)
	}
	// squarings: how often the matrix of one slice is squared to cover all the time.
	n, squarings := len(pt.x), max(0, math.Ilogb(mean.hi)+1)
	steps, sliceSteps := mean.hi+40*math.Sqrt(mean.hi)+300, 300.0
	transientWork := steps * float64(terms+n)
	squaringWork := float64(n) * (sliceSteps*float64(terms+n) + float64(squarings)*float64(n)*float64(n))
	errPerStep := float64(maxRow+10)*(2+1/slack) + 8 // of the chain, and of the probability of its number
	var err error
	switch {
	case min(transientWork, squaringWork) > maxPreciseWork:
		return fmt.Errorf("%w: the fastest rate times the time is %.3g, for which %d states take more than %.3g operations",
			ErrTooManySteps, mean.hi, n, float64(maxPreciseWork))
	case transientWork <= squaringWork:
		pt.relErr += doubleWordUnit * (steps*errPerStep + 1000)
		pt.x, err = pt.poissonMean(pt.x, 1, mean)
	default:
		pt.relErr += doubleWordUnit * math.Ldexp(sliceSteps*errPerStep+1000+float64(n), squarings+1)
		err = pt.squareMatrix(mean, squarings)
	}
	pt.zero, pt.one = zero, one
	return err
}

// maxPreciseWork limits the operations of evolve, to about ten seconds.
const maxPreciseWork = 1 << 30

// uniformise computes the transitions of the uniformised chain.
func (pt *preciseTransient) uniformise(open *sparse.Set) error {
	n := pt.g.NumStates()
	rates := make([]doubleWord, len(pt.g.Rats))
	for i, r := range pt.g.Rats {
		if rates[i] = newDoubleWord(r); rates[i].hi < doubleWordFloor || rates[i].hi > 1/doubleWordFloor {
			return fmt.Errorf("%w: found the rate %.4g, want one from 2^-900 to 2^900", ErrTooManySteps, rates[i].hi)
		}
	}
	exits := make([]doubleWord, n)
	fastest := doubleWord{}
	for s := range open.All() {
		lo, hi := pt.g.Row(s)
		for i := lo; i < hi; i++ {
			if int(pt.g.Target[i]) != s {
				exits[s] = exits[s].add(rates[pt.g.Weight[i]])
			}
		}
		if exits[s].hi > fastest.hi {
			fastest = exits[s]
		}
	}
	pt.rate = fastest.mul(doubleWord{1 + slack, 0})
	pt.rows = make([][]preciseTransition, len(pt.x))
	for s := range pt.rows {
		if s >= n || !open.Has(s) || pt.rate.hi == 0 {
			pt.rows[s] = []preciseTransition{{s, doubleWord{1, 0}}}
			continue
		}
		row := []preciseTransition{{s, pt.rate.sub(exits[s]).quo(pt.rate)}}
		lo, hi := pt.g.Row(s)
		for i := lo; i < hi; i++ {
			if t := int(pt.g.Target[i]); t != s {
				row = append(row, preciseTransition{t, rates[pt.g.Weight[i]].quo(pt.rate)})
			}
		}
		if pt.rewardRate != nil {
			row = append(row, preciseTransition{n, pt.rewardRate[s]})
		}
		pt.rows[s] = row
	}
	return nil
}

// poissonMean returns the expected value of each column of x after a Poisson-distributed number of
// steps.
func (pt *preciseTransient) poissonMean(x []doubleWord, columns int, mean doubleWord) ([]doubleWord, error) {
	firstKept, weights := doubleWordPoisson(mean)
	next, sum := make([]doubleWord, len(x)), make([]doubleWord, len(x))
	work := 0
	for _, row := range pt.rows {
		work += len(row) * columns * 4
	}
	for k := 0; ; k++ {
		if k >= firstKept {
			w := weights[k-firstKept]
			for i, v := range x {
				if v.hi > 0 {
					sum[i] = sum[i].add(w.mul(v))
				}
			}
			if k-firstKept == len(weights)-1 {
				break
			}
		}
		for s, row := range pt.rows {
			for c := range columns {
				v := doubleWord{}
				for _, e := range row {
					if y := x[e.to*columns+c]; y.hi > 0 {
						v = v.add(e.p.mul(y))
					}
				}
				next[s*columns+c] = v.flush()
			}
		}
		x, next = next, x
		if err := pt.meter.addWork(work); err != nil {
			return nil, err
		}
	}
	for i := range sum {
		sum[i] = sum[i].flush()
	}
	return sum, nil
}

// squareMatrix evolves the values by the matrix of a slice of time, squared until it covers all the
// time.
func (pt *preciseTransient) squareMatrix(mean doubleWord, squarings int) error {
	n := len(pt.x)
	m := make([]doubleWord, n*n)
	for s := range n {
		m[s*n+s] = doubleWord{1, 0}
	}
	scale := math.Ldexp(1, -squarings)
	m, err := pt.poissonMean(m, n, doubleWord{mean.hi * scale, mean.lo * scale})
	if err != nil {
		return err
	}
	for range squarings {
		next := make([]doubleWord, n*n)
		for s := range n {
			for t := range n {
				w := m[s*n+t]
				if w.hi == 0 {
					continue
				}
				from, to := m[t*n:(t+1)*n], next[s*n:(s+1)*n]
				for c, v := range from {
					if v.hi > 0 {
						to[c] = to[c].add(w.mul(v))
					}
				}
			}
			for c, v := range next[s*n : (s+1)*n] {
				next[s*n+c] = v.flush()
			}
			if err := pt.meter.addWork(4 * n * n); err != nil {
				return err
			}
		}
		m = next
	}
	out := make([]doubleWord, n)
	for s := range n {
		for t, v := range pt.x {
			if v.hi > 0 {
				out[s] = out[s].add(m[s*n+t].mul(v))
			}
		}
		out[s] = out[s].flush()
	}
	pt.x = out
	return nil
}

// doubleWordPoisson is newPoisson in double-word arithmetic: the probabilities from number firstKept
// on. Those left out are too small to matter.
func doubleWordPoisson(mean doubleWord) (firstKept int, weights []doubleWord) {
	mode := int(mean.hi)
	weightsFrom := func(step int) (out []doubleWord) {
		w, sum := doubleWord{1, 0}, 1.0
		for k := mode; ; k += step {
			ratio := mean.quo(doubleWord{float64(k + 1), 0})
			if step < 0 {
				ratio = doubleWord{float64(k), 0}.quo(mean)
			}
			if ratio.hi < 1 && w.hi*ratio.hi/(1-ratio.hi) <= doubleWordFloor*sum {
				return out
			}
			w = w.mul(ratio)
			sum += w.hi
			out = append(out, w)
		}
	}
	below, above := weightsFrom(-1), weightsFrom(+1)
	for i := range below {
		weights = append(weights, below[len(below)-1-i])
	}
	weights = append(append(weights, doubleWord{1, 0}), above...)
	sum := doubleWord{}
	for _, w := range weights {
		sum = sum.add(w)
	}
	for i, w := range weights {
		weights[i] = w.quo(sum)
	}
	return mode - len(below), weights
}

// values returns bounds on the values times factor. The absolute error covers underflow and the Poisson
// probabilities left out.
func (pt *preciseTransient) values(factor *big.Rat) *Values {
	v := newValues(pt.g.Model, Options{})
	if factor.Sign() == 0 {
		return v
	}
	mantissa := new(big.Float).SetRat(factor)
	exp := mantissa.MantExp(nil)
	f, _ := mantissa.SetMantExp(mantissa, -exp).Float64()
	relErr := pt.relErr + 8*unit // plus the rounding to one float64
	for s, x := range pt.x {
		value := x.hi * f
		v.Lower[s], v.Upper[s] = ldexp(max(0, value*(1-relErr)), value*(1+relErr)+pt.absErr, exp)
	}
	v.set(pt.zero, 0)
	if factor.IsInt() && factor.Num().IsInt64() && factor.Num().Int64() == 1 {
		v.set(pt.one, 1)
	}
	return v
}

// ldexp returns lo and hi times 2^exp, rounded outwards where the results are not normal numbers.
func ldexp(lo, hi float64, exp int) (float64, float64) {
	const minNormal = 0x1p-1022
	if lo = min(math.Ldexp(lo, exp), math.MaxFloat64); lo < minNormal {
		lo = 0
	}
	return lo, max(math.Ldexp(hi, exp), minNormal)
}
