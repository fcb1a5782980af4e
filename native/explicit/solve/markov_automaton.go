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
	ma, err := newMarkovAutomaton(ctx, g, left, right, rates, time, dir, opts)
	if err != nil {
		return nil, err
	}
	if ma.v.Converged {
		return ma.v, nil
	}
	// The first pass cuts nothing. Later ones add up to a width that is relative to it.
	goal := opts.epsilon()
	allowed := math.Inf(1)
	for {
		done, err := ma.computeBounds(ctx, time, allowed)
		if err != nil {
			return nil, err
		}
		width, least := ma.width()
		if width <= goal*least {
			ma.v.Converged = true
			return ma.v, nil
		}
		if !done || allowed < goal*least/1e3 {
			return ma.v, nil
		}
		allowed = min(allowed, max(width, goal*least)) / 32
	}
}

// markov is a Markov automaton seen as one whose steps come at the same rate.
type markovAutomaton struct {
	uniform
	dir            Direction
	immediate      []uint32    // open states without time, each after those it leads to
	leaveProb      []float64   // of each state, the probability that a step leaves it
	immediateErr   float64     // relative error of the values of immediate states
	one            *sparse.Set // states from which right is reached at once
	numTransitions int         // transitions of open states
	mt             *meter
}

func newMarkovAutomaton(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*markovAutomaton, error) {
	n := g.NumStates()
	ma := &markovAutomaton{uniform: *newUniform(g, nil, opts), dir: dir, leaveProb: make([]float64, n), mt: newMeter(ctx, opts, 0)}
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
	ma.rate = fastest * (1 + slack)
	possible := left
	if time.High.Sign() == 0 {
		possible = left.Intersect(timeless)
	}
	q, failure := computeProb01(ctx, g, possible, right, dir)
	if failure != nil {
		return nil, failure
	}
	at, failure := computeProb01(ctx, g, left.Intersect(timeless), right, dir)
	if failure != nil {
		return nil, failure
	}
	ma.one = at.one.Union(right)
	ma.v.set(ma.one, 1)
	widest := 0
	open := possible.Minus(q.zero).Minus(ma.one)
	ma.v.Converged = open.Empty()
	for c := range g.NumChoices() {
		from, to := g.Row(c)
		widest = max(widest, to-from)
	}
	for s := range open.Minus(timeless).All() {
		ma.states = append(ma.states, uint32(s))
		ma.leaveProb[s] = rates.Low[s] / ma.rate
		ma.stay[s] = (ma.rate - rates.Low[s]) / ma.rate
	}
	if failure := ma.orderImmediate(open.Intersect(timeless), widest); failure != nil {
		return nil, failure
	}
	for s := range open.All() {
		ma.v.Upper[s] = 1
		first, end := g.Choices(s)
		ma.numTransitions += int(g.Start[end]-g.Start[first]) + 1
	}
	ma.err = 1.05*(float64(widest+8)*unit*(1+1/slack)+(ma.round.err+err)*(1+1/slack)) + ma.immediateErr
	return ma, nil
}

// order lists states in which no time passes such that each follows those it leads to.
func (ma *markovAutomaton) orderImmediate(states *sparse.Set, widest int) error {
	parts := ma.g.Components(states, nil)
	depth := make([]int, ma.g.NumStates())
	deepest := 0
	for i := range parts.Num() {
		members := parts.Members(i)
		s := int(members[0])
		first, end := ma.g.Choices(s)
		for c := first; c < end; c++ {
			if ma.onlySelfLoop(s, c) {
				continue
			}
			from, to := ma.g.Row(c)
			for _, t := range ma.g.Target[from:to] {
				if int(t) == s || len(members) > 1 {
					return ErrImmediate
				}
				depth[s] = max(depth[s], depth[t]+1)
			}
		}
		deepest = max(deepest, depth[s])
		ma.immediate = append(ma.immediate, uint32(s))
	}
	ma.immediateErr = 1.05 * float64(deepest+1) * (float64(widest+4)*unit + ma.round.err)
	return nil
}

// stays reports whether a choice does nothing but stay: what never lets time pass.
func (ma *markovAutomaton) onlySelfLoop(s, c int) bool {
	from, to := ma.g.Row(c)
	return to == from+1 && int(ma.g.Target[from]) == s
}

// resolve gives the immediate states the best mean of what they lead to.
func (ma *markovAutomaton) optimizeImmediate(x []float64) {
	g := ma.g
	for _, s := range ma.immediate {
		first, end := g.Choices(int(s))
		best := -1.0
		for c := first; c < end; c++ {
			sum := 0.0
			if !ma.onlySelfLoop(int(s), c) {
				for i := g.Start[c]; i < g.Start[c+1]; i++ {
					sum += g.Prob(int(i)) * x[g.Target[i]]
				}
			}
			if best < 0 || (sum > best) == (ma.dir == Max) {
				best = sum
			}
		}
		x[s] = best
	}
}

// advance writes what x is worth a step before into out, for the states in which time
// passes.
func (ma *markovAutomaton) step(x, out []float64) error {
	g := ma.g
	inParts(len(ma.states), 1<<12, func(from, to int) {
		for _, s := range ma.states[from:to] {
			c := g.Start[s]
			if g.First != nil {
				c = g.First[s]
			}
			sum := 0.0
			for i, end := g.Start[c], g.Start[c+1]; i < end; i++ {
				sum += g.Prob(int(i)) * x[g.Target[i]]
			}
			out[s] = ma.leaveProb[s]*sum + ma.stay[s]*x[s]
		}
	})
	return ma.mt.did(ma.numTransitions)
}

// markovWork is how many transitions are looked at to make an interval narrower.
const maxMarkovWork = 1 << 32

// whole is the time in the units in which pieces of it are counted: a power of two.
const timeBits = 40

// pass computes the bounds anew, with so many pieces that their widths add up to less than
// allowed. It reports false if it gave up.
func (ma *markovAutomaton) computeBounds(ctx context.Context, time Time, allowed float64) (bool, error) {
	x := make([]float64, len(ma.leaveProb))
	for s := range ma.one.All() {
		x[s] = 1
	}
	ma.optimizeImmediate(x)
	low, high := slices.Clone(x), x
	ma.widen(low, high, ma.immediateErr, 0)
	if ma.rate == 0 || time.High.Sign() == 0 {
		ma.keepTighter(low, high)
		return true, nil
	}
	mean, meanErr, err := ma.mean(time)
	switch {
	case err != nil:
		return false, err
	case !(mean < settleSteps):
		return false, tooManySteps(mean, settleSteps)
	case !(meanErr*max(mean, 1) < 0x1p-18):
		return false, ErrTime
	}
	numbers := make(map[int]*poisson)
	size := timeBits
	for rest := int64(1) << timeBits; rest > 0; {
		size = min(size, bits.Len64(uint64(rest))-1)
		p := numbers[size]
		if p == nil {
			if p, err = newPoisson(ctx, max(math.Ldexp(mean, size-timeBits), 0x1p-1000), meanErr, truncation); err != nil {
				return false, err
			}
			numbers[size] = p
		}
		low2, high2, rounded, err := ma.backPiece(low, high, p)
		if err != nil {
			return false, err
		}
		lost := widest(low2, high2) - widest(low, high)
		if size > 0 && lost > math.Ldexp(allowed, size-timeBits) && lost > 4*rounded {
			size--
		} else {
			low, high = low2, high2
			rest -= int64(1) << size
			size++
		}
		if ma.mt.totalWork() > maxMarkovWork && !math.IsInf(allowed, 1) {
			return false, nil
		}
	}
	ma.keepTighter(low, high)
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
func (ma *markovAutomaton) backPiece(low, high []float64, p *poisson) (newLow, newHigh []float64, rounded float64, err error) {
	if ma.dir == Max {
		if newLow, err = ma.stepCountingValue(low, p); err == nil {
			newHigh, err = ma.propheticValue(high, p)
		}
	} else {
		if newLow, err = ma.propheticValue(low, p); err == nil {
			newHigh, err = ma.stepCountingValue(high, p)
		}
	}
	if err != nil {
		return nil, nil, 0, err
	}
	rel := compound(p.err + ma.err*float64(p.last()+2) + unit*float64(len(p.weight)+8))
	abs := 1.01*p.rest + ma.round.floor
	ma.widen(newLow, newHigh, rel, abs)
	return newLow, newHigh, rel + abs, nil
}

// bound moves what was computed for open states outwards.
func (ma *markovAutomaton) widen(low, high []float64, rel, abs float64) {
	for _, states := range [][]uint32{ma.states, ma.immediate} {
		for _, s := range states {
			low[s] = ma.round.down(low[s], rel)
			high[s] = min(ma.round.up(high[s], rel)+abs, 1)
		}
	}
}

// narrow keeps the better of the bounds.
func (ma *markovAutomaton) keepTighter(low, high []float64) {
	for s := range low {
		ma.v.Lower[s], ma.v.Upper[s] = max(ma.v.Lower[s], low[s]), min(ma.v.Upper[s], high[s])
	}
}

// width returns the width of the bounds of the initial states, and the least upper one.
func (ma *markovAutomaton) width() (width, least float64) {
	least = 1
	for _, s := range ma.g.Initial {
		lo, hi := ma.v.Lower[s], ma.v.Upper[s]
		width = max(width, hi-lo)
		if hi > 0 {
			least = min(least, hi)
		}
	}
	return width, least
}

// told returns the mean, over the number of steps, of the best value with that many.
func (ma *markovAutomaton) propheticValue(x []float64, p *poisson) ([]float64, error) {
	x, next, sum := slices.Clone(x), slices.Clone(x), slices.Clone(x)
	for _, s := range ma.states {
		sum[s] = 0
	}
	for k := range p.last() + 1 {
		w := p.of(k)
		if w > 0 {
			for _, s := range ma.states {
				sum[s] += w * x[s]
			}
		}
		if k == p.last() {
			break
		}
		if err := ma.step(x, next); err != nil {
			return nil, err
		}
		ma.optimizeImmediate(next)
		x, next = next, x
	}
	ma.optimizeImmediate(sum)
	return sum, nil
}

// counted returns the best value where only the steps made are known: after each of them
// there is what is worth something if it was the last one.
func (ma *markovAutomaton) stepCountingValue(x []float64, p *poisson) ([]float64, error) {
	y, next := make([]float64, len(x)), make([]float64, len(x))
	reached := 0.0 // the probability of so many steps and more
	for k := p.last(); k >= 0; k-- {
		if err := ma.step(y, next); err != nil {
			return nil, err
		}
		if w := p.of(k); w > 0 {
			for _, s := range ma.states {
				next[s] += w * x[s]
			}
			reached = min(reached+w, 1)
		} else {
			reached = 1
		}
		for s := range ma.one.All() {
			next[s] = reached
		}
		ma.optimizeImmediate(next)
		y, next = next, y
	}
	for s := range ma.one.All() {
		y[s] = 1
	}
	return y, nil
}
