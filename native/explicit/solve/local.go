package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// local is a system of equations over its own unknowns, one component of a
// system with all other values put in: choice j of unknown k is worth
// constant(j) + sum of weight(i) * x(col(i)). Every scheduler leaves the
// component with probability one, or earns an infinite reward in it, so that
// there is one solution.
type local struct {
	min, prob, rewards, converged bool
	hopeless                      bool // sweeps that elimination does not replace take for ever
	extended                      bool // solved on numbers beyond the range of doubles

	round  rounding
	first  []uint32 // choices of each unknown
	start  []uint32 // terms of each choice
	col    []uint32
	weight []float64
	lo, hi []float64 // constant of each choice
	exit   []float64 // weight of each choice that leaves the component; with its terms' weights, 1
	err    []float64 // relative error of evaluating each choice
	origin []uint32  // the model's choice
	// inherited is the greatest relative width of a constant, but for those so
	// close to the floor that little can be said of them, of which vague tells.
	inherited float64
	vague     bool
	// shift is the greatest absolute width of those constants that are few
	// multiples of the grid, and of no account for inherited.
	shift float64

	lower, upper []float64
	how          []uint32 // choice of each unknown that attains a value within the bounds; nil when not asked for
}

// begin starts from the trivial bounds.
func (l *local) begin(scheduler bool) {
	n := len(l.first) - 1
	l.lower, l.upper = make([]float64, n), make([]float64, n)
	if scheduler {
		l.how = make([]uint32, n)
		for k := range l.how {
			l.how[k] = sparse.None
			if l.first[k] < l.first[k+1] {
				l.how[k] = l.first[k]
			}
		}
	}
}

// terms returns what the choice is worth but for its constant.
func (l *local) terms(j uint32, x []float64) float64 {
	sum := 0.0
	for i := l.start[j]; i < l.start[j+1]; i++ {
		sum += l.weight[i] * x[l.col[i]]
	}
	return sum
}

// middle returns the middle of a choice's constant.
func (l *local) middle(j uint32) float64 { return l.lo[j] + (l.hi[j]-l.lo[j])/2 }

// down returns a lower bound of unknown k's equation for lower bounds x, and
// the choice that gives it; None for an unknown that cannot be left, which is
// worth nothing.
func (l *local) down(k int, x []float64) (float64, uint32) {
	v, choice := l.down0(k, x)
	return l.round.below(v), choice
}

// down0 is down before it is put on the grid.
func (l *local) down0(k int, x []float64) (float64, uint32) {
	v, choice := 0.0, uint32(sparse.None)
	for j := l.first[k]; j < l.first[k+1]; j++ {
		w := l.round.down(l.lo[j]+l.terms(j, x), l.err[j])
		if choice == sparse.None || (w < v) == l.min && w != v {
			v, choice = w, j
		}
	}
	return v, choice
}

// up is down for upper bounds.
func (l *local) up(k int, x []float64) (float64, uint32) {
	v, choice := 0.0, uint32(sparse.None)
	for j := l.first[k]; j < l.first[k+1]; j++ {
		w := l.round.up(l.hi[j]+l.terms(j, x), l.err[j])
		if choice == sparse.None || (w < v) == l.min && w != v {
			v, choice = w, j
		}
	}
	if l.prob {
		v = min(v, 1)
	}
	return v, choice
}

// raise improves the lower bounds by one Gauss-Seidel sweep and returns the
// greatest relative change. Where the maximum is wanted, a choice is noted when
// it raises a bound; following the choices noted is worth the bounds at least.
func (l *local) raise() float64 {
	change, least := 0.0, l.least()
	for k := range l.lower {
		v, choice := l.down0(k, l.lower)
		if v <= l.lower[k] {
			continue
		}
		change = max(change, (v-l.lower[k])/max(v, least))
		l.lower[k] = v
		if l.how != nil && !l.min {
			l.how[k] = choice
		}
	}
	return change
}

// least is what values below are not known relatively, because of the grid.
func (l *local) least() float64 { return l.round.grid * 0x1p30 }

// settleNear is settle without a margin if that will do, where the grid is as fine as doubles
// are: then sweeps from below leave bounds that the equations imply.
func (l *local) settleNear(mt *meter, margin, shift float64, limit int) (bool, error) {
	if l.round.grid > 0 && !l.round.coarse() {
		if ok, err := l.settle(mt, 0, 0, 2); ok || err != nil {
			return ok, err
		}
	}
	return l.settle(mt, margin, shift, limit)
}

// settle puts the lower bounds on the grid, by a margin below what they are, and
// lowers them until the equations imply them. It reports whether they do.
func (l *local) settle(mt *meter, margin, shift float64, limit int) (bool, error) {
	if l.round.grid == 0 {
		return true, nil
	}
	before := slices.Clone(l.lower)
	for k, x := range l.lower {
		l.lower[k] = l.round.below(max(x-margin*x-shift, 0))
	}
	for range limit {
		implied := true
		for k, x := range l.lower {
			if v, choice := l.down(k, l.lower); v < x {
				l.lower[k], implied = v, false
			} else if l.how != nil && !l.min {
				l.how[k] = choice
			}
		}
		if implied {
			return true, nil
		}
		mt.progress.Sweeps++
		if err := mt.did(l.work()); err != nil {
			return false, err
		}
	}
	copy(l.lower, before)
	return false, nil
}

// verdict is what a sweep shows about a guess of upper bounds.
type verdict uint8

const (
	undecided verdict = iota
	proved            // every bound implies itself: the guess holds
	refuted           // a bound is below a lower bound, or no bound improved
)

// press lowers guessed upper bounds by one Gauss-Seidel sweep. When no equation
// gives more than the guess, the swept guess is above the solution: it is a
// point that the equations lower, and the solution is the least such point.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration, CAV 2020.
func (l *local) press() verdict {
	up, down := false, false
	for k := range l.upper {
		v, choice := l.up(k, l.upper)
		switch {
		case v > l.upper[k]:
			up = true
			continue
		case v < l.upper[k]:
			down = true
			l.upper[k] = v
		}
		if l.how != nil && l.min {
			l.how[k] = choice
		}
		if v < l.lower[k] {
			return refuted
		}
	}
	switch {
	case !up:
		return proved
	case !down:
		return refuted
	}
	return undecided
}

// work is the number of operations of a sweep.
func (l *local) work() int { return len(l.col) + len(l.first) }

// budgetPerWork is how many operations elimination may take for one that sweeps
// have taken: tried at times further and further apart, it takes at most as long
// as they do.
const budgetPerWork = 4

// smallSystem is the number of unknowns up to which elimination comes first. It
// adds rounding to the width of the bounds, where iteration adds what it leaves
// undone, and long chains of components add that up.
const smallSystem = 32

// lastBudget is how many operations elimination may take once sweeps have come to
// nothing: about a minute's worth.
const lastBudget = 1 << 36

// firstSweeps is the number of sweeps before elimination is tried at all.
const firstSweeps = 30

// solve computes bounds whose relative width is the inherited one and eps.
func (l *local) solve(mt *meter, opts Options, eps float64) error {
	if opts.Classic {
		return l.estimate(mt, opts)
	}
	limit := opts.maxSweeps()
	if math.IsInf(l.inherited, 1) {
		l.giveUp()
		if l.round.grid > 0 {
			return nil
		}
		_, _, err := l.raiseUntil(mt, eps, limit)
		return err
	}
	margin := 1.01*l.inherited + eps
	if len(l.first)-1 <= smallSystem {
		ok, _, err := l.direct(mt, margin, smallSystem*smallSystem*float64(l.work()))
		if ok || err != nil {
			l.converged = true
			return err
		}
	}
	return l.iterate(mt, margin, limit)
}

// iterate sweeps until bounds are proved, and tries elimination now and then.
func (l *local) iterate(mt *meter, margin float64, limit int) error {
	wanted, precision := margin, margin/4
	shift, drift := 0.0, 8*l.round.grid
	direct := 1 // sweeps before elimination is tried
	fast := false
	sweeps := 0
	for sweeps < limit {
		if sweeps >= direct && !fast {
			ok, more, err := l.attempt(mt, margin, float64(sweeps)*float64(l.work())*budgetPerWork)
			if ok || err != nil {
				l.converged = true
				return err
			}
			if l.hopeless {
				break
			}
			if direct = 4 * sweeps; !more {
				direct = limit
			}
		}
		n, change, err := l.raiseUntil(mt, precision, min(limit-sweeps, sweeps+firstSweeps))
		sweeps += n
		if err != nil {
			return err
		}
		if change > precision {
			// As many sweeps again may do.
			fast = sweeps == firstSweeps && change*change < precision
			continue
		}
		if l.round.grid > 0 { // each sweep may round anew
			shift = drift*float64(sweeps) + 2*l.shift
		}
		l.guess(margin, shift)
		n, ok, err := l.pressUntil(mt, min(limit-sweeps, sweeps+100))
		sweeps += n
		if ok && err == nil {
			ok, err = l.settleNear(mt, margin, shift, sweeps+100)
		}
		if err != nil {
			return err
		}
		if ok {
			l.converged = true
			return nil
		}
		if shift == 0 && l.faint() {
			shift = l.round.faint() / truncation
			continue
		}
		if change == 0 { // rounding allows no better lower bounds
			margin *= 4
		}
		if margin > 0.5 {
			break
		}
		precision /= 8
		drift *= 4
	}
	if !l.hopeless && sweeps < limit {
		ok, _, err := l.attempt(mt, wanted, lastBudget)
		if ok || err != nil {
			l.converged = true
			return err
		}
	}
	l.giveUp()
	return nil
}

// attempt tries what does not sweep, within so many operations.
func (l *local) attempt(mt *meter, eps, budget float64) (ok, more bool, err error) {
	if len(l.start) > len(l.first) { // several choices
		if ok, more, err = l.climb(mt, eps, 2*budget); ok || more || err != nil {
			return ok, more, err
		}
	}
	return l.direct(mt, eps, budget)
}

// estimate sweeps until a sweep changes little and takes the lower bounds for
// the solution.
func (l *local) estimate(mt *meter, opts Options) error {
	_, change, err := l.raiseUntil(mt, opts.epsilon(), opts.maxSweeps())
	if err != nil {
		return err
	}
	l.converged = change <= opts.epsilon()
	l.upper = l.lower
	if l.how != nil && l.min {
		for k := range l.how {
			_, l.how[k] = l.down(k, l.lower)
		}
	}
	return nil
}

// raiseUntil sweeps until the greatest relative change is within precision.
func (l *local) raiseUntil(mt *meter, precision float64, limit int) (sweeps int, change float64, err error) {
	change = math.Inf(1)
	for change > precision && sweeps < limit {
		change = l.raise()
		sweeps++
		mt.progress.Sweeps++
		if err := mt.did(l.work()); err != nil {
			return sweeps, change, err
		}
	}
	return sweeps, change, nil
}

// guess sets the upper bounds to the lower ones and a margin, relative and, for
// what may have been lost below the floor, absolute.
func (l *local) guess(margin, shift float64) {
	for k, x := range l.lower {
		x = x*(1+margin) + shift
		if l.prob {
			x = min(x, 1)
		}
		l.upper[k] = l.round.above(x)
	}
}

// faint reports whether a lower bound is so small that it may be too small, or
// zero, for being close to the floor.
func (l *local) faint() bool {
	return slices.Min(l.lower) < l.round.faint()
}

// pressUntil sweeps until the guess is proved.
func (l *local) pressUntil(mt *meter, limit int) (sweeps int, ok bool, err error) {
	for sweeps < limit {
		v := l.press()
		sweeps++
		mt.progress.Sweeps++
		if err := mt.did(l.work()); err != nil {
			return sweeps, false, err
		}
		if v != undecided {
			return sweeps, v == proved, nil
		}
		l.raise()
	}
	return sweeps, false, nil
}

// giveUp keeps the lower bounds, unless they are to be on a grid, and sets the upper
// ones to what is always true.
func (l *local) giveUp() {
	if l.round.grid > 0 {
		clear(l.lower)
	}
	bound := math.Inf(1)
	if l.prob {
		bound = 1
	}
	for k := range l.upper {
		l.upper[k] = bound
	}
}
