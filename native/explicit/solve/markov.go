package solve

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// Rates are bounds on the rate at which each state of a Markov automaton is left: both
// are 0 where no time passes.
type Rates struct{ Low, High []float64 }

// ErrRates says that the rates of a Markov automaton are not known well enough.
var ErrRates = errors.New("the rate of a state is not known, or out of the range of doubles")

// ErrImmediate says that states in which no time passes have a cycle.
var ErrImmediate = errors.New("states in which no time passes lead back to themselves")

// MarkovUntil returns bounds on the extremal probability of `left U right` within a time,
// in a Markov automaton whose embedded MDP the graph is. Its schedulers see the time.
//
// The time is cut into pieces, from the end on. Within a piece, steps come at one rate
// everywhere. Schedulers that only count them are among those there are; ones that are
// told how many will come know more than those do, since the number says all about a
// path that time says. So the one value is on this side of the truth, the other beyond it,
// and both are the same where one choice is the best throughout the piece. A piece that
// makes too much difference is halved.
//
// Source: Butkova, Hatefi, Hermanns and Krcal, Optimal Continuous Time Control (Unif+),
// ATVA 2015, for one piece; there the rate is raised, here the time is cut.
func MarkovUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	z, err := newMarkov(ctx, g, left, right, rates, time, dir, opts)
	if err != nil {
		return nil, err
	}
	if z.v.Converged {
		return z.v, nil
	}
	// The first pass cuts nothing. Later ones add up to a width that is relative to it.
	goal := opts.epsilon()
	allowed := math.Inf(1)
	for {
		done, err := z.pass(ctx, time, allowed)
		if err != nil {
			return nil, err
		}
		width, least := z.width()
		if width <= goal*least {
			z.v.Converged = true
			return z.v, nil
		}
		if !done || allowed < goal*least/1e3 {
			return z.v, nil
		}
		allowed = min(allowed, max(width, goal*least)) / 32
	}
}

// markov is a Markov automaton seen as one whose steps come at the same rate.
type markov struct {
	uniform
	dir       Direction
	immediate []uint32    // open states without time, each after those it leads to
	jump      []float64   // of each state, the probability that a step leaves it
	closeErr  float64     // relative error of the values of immediate states
	one       *sparse.Set // states from which right is reached at once
	size      int         // transitions of open states
	mt        *meter
}

func newMarkov(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*markov, error) {
	n := g.NumStates()
	z := &markov{uniform: *newUniform(g, nil, opts), dir: dir, jump: make([]float64, n), mt: newMeter(ctx, opts, 0)}
	timeless := sparse.NewSet(n)
	fastest, err := 0.0, 0.0
	for s := range n {
		lo, hi := rates.Low[s], rates.High[s]
		first, end := g.Choices(s)
		switch {
		case lo == 0 && hi == 0:
			timeless.Add(s)
			continue
		case !sparse.InRange(lo) || !sparse.InRange(hi) || end != first+1:
			return nil, ErrRates
		}
		err = max(err, (hi-lo)/lo)
		fastest = max(fastest, hi)
	}
	if !(err < 0x1p-20) {
		return nil, ErrRates
	}
	z.rate = fastest * (1 + slack)
	possible := left
	if time.High.Sign() == 0 {
		possible = left.Intersect(timeless)
	}
	q, failure := qualify(ctx, g, possible, right, dir)
	if failure != nil {
		return nil, failure
	}
	at, failure := qualify(ctx, g, left.Intersect(timeless), right, dir)
	if failure != nil {
		return nil, failure
	}
	z.one = at.one.Union(right)
	z.v.set(z.one, 1)
	widest := 0
	open := possible.Minus(q.zero).Minus(z.one)
	z.v.Converged = open.Empty()
	for c := range g.NumChoices() {
		from, to := g.Row(c)
		widest = max(widest, to-from)
	}
	for s := range open.Minus(timeless).All() {
		z.states = append(z.states, uint32(s))
		z.jump[s] = rates.Low[s] / z.rate
		z.stay[s] = (z.rate - rates.Low[s]) / z.rate
	}
	if failure := z.order(open.Intersect(timeless), widest); failure != nil {
		return nil, failure
	}
	for s := range open.All() {
		z.v.Upper[s] = 1
		first, end := g.Choices(s)
		z.size += int(g.Start[end]-g.Start[first]) + 1
	}
	z.err = 1.05*(float64(widest+8)*unit*(1+1/slack)+(z.round.err+err)*(1+1/slack)) + z.closeErr
	return z, nil
}

// order lists states in which no time passes such that each follows those it leads to.
func (z *markov) order(states *sparse.Set, widest int) error {
	parts := z.g.Components(states, nil)
	depth := make([]int, z.g.NumStates())
	deepest := 0
	for i := range parts.Num() {
		members := parts.Members(i)
		s := int(members[0])
		first, end := z.g.Choices(s)
		for c := first; c < end; c++ {
			if z.stays(s, c) {
				continue
			}
			from, to := z.g.Row(c)
			for _, t := range z.g.Target[from:to] {
				if int(t) == s || len(members) > 1 {
					return ErrImmediate
				}
				depth[s] = max(depth[s], depth[t]+1)
			}
		}
		deepest = max(deepest, depth[s])
		z.immediate = append(z.immediate, uint32(s))
	}
	z.closeErr = 1.05 * float64(deepest+1) * (float64(widest+4)*unit + z.round.err)
	return nil
}

// stays reports whether a choice does nothing but stay: what never lets time pass.
func (z *markov) stays(s, c int) bool {
	from, to := z.g.Row(c)
	return to == from+1 && int(z.g.Target[from]) == s
}

// resolve gives the immediate states the best mean of what they lead to.
func (z *markov) resolve(x []float64) {
	g := z.g
	for _, s := range z.immediate {
		first, end := g.Choices(int(s))
		best := -1.0
		for c := first; c < end; c++ {
			sum := 0.0
			if !z.stays(int(s), c) {
				for i := g.Start[c]; i < g.Start[c+1]; i++ {
					sum += g.Prob(int(i)) * x[g.Target[i]]
				}
			}
			if best < 0 || (sum > best) == (z.dir == Max) {
				best = sum
			}
		}
		x[s] = best
	}
}

// advance writes what x is worth a step before into out, for the states in which time
// passes.
func (z *markov) advance(x, out []float64) error {
	g := z.g
	inParts(len(z.states), 1<<12, func(from, to int) {
		for _, s := range z.states[from:to] {
			c := g.Start[s]
			if g.First != nil {
				c = g.First[s]
			}
			sum := 0.0
			for i, end := g.Start[c], g.Start[c+1]; i < end; i++ {
				sum += g.Prob(int(i)) * x[g.Target[i]]
			}
			out[s] = z.jump[s]*sum + z.stay[s]*x[s]
		}
	})
	return z.mt.did(z.size)
}

// markovWork is how many transitions are looked at to make an interval narrower.
const markovWork = 1 << 32

// whole is the time in the units in which pieces of it are counted: a power of two.
const whole = 40

// pass computes the bounds anew, with so many pieces that their widths add up to less than
// allowed. It reports false if it gave up.
func (z *markov) pass(ctx context.Context, time Time, allowed float64) (bool, error) {
	x := make([]float64, len(z.jump))
	for s := range z.one.All() {
		x[s] = 1
	}
	z.resolve(x)
	low, high := slices.Clone(x), x
	z.bound(low, high, z.closeErr, 0)
	if z.rate == 0 || time.High.Sign() == 0 {
		z.narrow(low, high)
		return true, nil
	}
	mean, meanErr, err := z.mean(time)
	switch {
	case err != nil:
		return false, err
	case !(mean < settleSteps):
		return false, tooManySteps(mean, settleSteps)
	case !(meanErr*max(mean, 1) < 0x1p-18):
		return false, ErrTime
	}
	numbers := make(map[int]*poisson)
	size := whole
	for rest := int64(1) << whole; rest > 0; {
		size = min(size, bits.Len64(uint64(rest))-1)
		p := numbers[size]
		if p == nil {
			if p, err = newPoisson(ctx, max(math.Ldexp(mean, size-whole), 0x1p-1000), meanErr, truncation); err != nil {
				return false, err
			}
			numbers[size] = p
		}
		low2, high2, rounded, err := z.piece(low, high, p)
		if err != nil {
			return false, err
		}
		lost := widest(low2, high2) - widest(low, high)
		if size > 0 && lost > math.Ldexp(allowed, size-whole) && lost > 4*rounded {
			size--
		} else {
			low, high = low2, high2
			rest -= int64(1) << size
			size++
		}
		if z.mt.sofar() > markovWork && !math.IsInf(allowed, 1) {
			return false, nil
		}
	}
	z.narrow(low, high)
	return true, nil
}

func widest(low, high []float64) float64 {
	most := 0.0
	for s, l := range low {
		most = max(most, high[s]-l)
	}
	return most
}

// piece returns bounds before a piece from those after it, and what rounding added to them.
func (z *markov) piece(low, high []float64, p *poisson) (newLow, newHigh []float64, rounded float64, err error) {
	if z.dir == Max {
		if newLow, err = z.counted(low, p); err == nil {
			newHigh, err = z.told(high, p)
		}
	} else {
		if newLow, err = z.told(low, p); err == nil {
			newHigh, err = z.counted(high, p)
		}
	}
	if err != nil {
		return nil, nil, 0, err
	}
	rel := compound(p.err + z.err*float64(p.last()+2) + unit*float64(len(p.weight)+8))
	abs := 1.01*p.rest + z.round.floor
	z.bound(newLow, newHigh, rel, abs)
	return newLow, newHigh, rel + abs, nil
}

// bound moves what was computed for open states outwards.
func (z *markov) bound(low, high []float64, rel, abs float64) {
	for _, states := range [][]uint32{z.states, z.immediate} {
		for _, s := range states {
			low[s] = z.round.down(low[s], rel)
			high[s] = min(z.round.up(high[s], rel)+abs, 1)
		}
	}
}

// narrow keeps the better of the bounds.
func (z *markov) narrow(low, high []float64) {
	for s := range low {
		z.v.Lower[s], z.v.Upper[s] = max(z.v.Lower[s], low[s]), min(z.v.Upper[s], high[s])
	}
}

// width returns the width of the bounds of the initial states, and the least upper one.
func (z *markov) width() (width, least float64) {
	least = 1
	for _, s := range z.g.Initial {
		lo, hi := z.v.Lower[s], z.v.Upper[s]
		width = max(width, hi-lo)
		if hi > 0 {
			least = min(least, hi)
		}
	}
	return width, least
}

// told returns the mean, over the number of steps, of the best value with that many.
func (z *markov) told(x []float64, p *poisson) ([]float64, error) {
	x, next, sum := slices.Clone(x), slices.Clone(x), slices.Clone(x)
	for _, s := range z.states {
		sum[s] = 0
	}
	for k := range p.last() + 1 {
		w := p.of(k)
		if w > 0 {
			for _, s := range z.states {
				sum[s] += w * x[s]
			}
		}
		if k == p.last() {
			break
		}
		if err := z.advance(x, next); err != nil {
			return nil, err
		}
		z.resolve(next)
		x, next = next, x
	}
	z.resolve(sum)
	return sum, nil
}

// counted returns the best value where only the steps made are known: after each of them
// there is what is worth something if it was the last one.
func (z *markov) counted(x []float64, p *poisson) ([]float64, error) {
	y, next := make([]float64, len(x)), make([]float64, len(x))
	reached := 0.0 // the probability of so many steps and more
	for k := p.last(); k >= 0; k-- {
		if err := z.advance(y, next); err != nil {
			return nil, err
		}
		if w := p.of(k); w > 0 {
			for _, s := range z.states {
				next[s] += w * x[s]
			}
			reached = min(reached+w, 1)
		} else {
			reached = 1
		}
		for s := range z.one.All() {
			next[s] = reached
		}
		z.resolve(next)
		y, next = next, y
	}
	for s := range z.one.All() {
		y[s] = 1
	}
	return y, nil
}
