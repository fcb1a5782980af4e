package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// fewestSteps is how many steps are taken one by one before it is tried to skip the others.
const fewestSteps = 256

// stepLimit tries to bound the values after remaining more steps without taking them. old are the bounds one step
// before those of the system. If the bounds are as narrow as asked for, it writes them and returns true.
type stepLimit func(oldLower, oldUpper []float64, remaining int) (bool, error)

// triesLimit reports whether to call the stepLimit after so many steps.
func (sys *system) triesLimit(done, remaining int) bool {
	return sys.limit != nil && sys.trace == nil && sys.round.grid == 0 && done >= fewestSteps && done&(done-1) == 0 && remaining > done
}

// untilLimit bounds the probabilities of left U<=k right by those after fewer steps and those of left U right. The
// system starts with 1 in right and 0 elsewhere.
//
// For any scheduler the probability does not decrease with k, and is at most that of the unbounded formula. So the
// same holds for minima and maxima.
func (sys *system) untilLimit(ctx context.Context, left, right *sparse.Set, dir Direction, opts Options) stepLimit {
	if opts.Classic {
		return nil
	}
	var unbounded *Values
	opts.Scheduler, opts.Within, opts.Exact = false, nil, false
	return func(_, _ []float64, remaining int) (bool, error) {
		const worthIt = 10_000 // steps that may take longer than the equations of the unbounded formula
		if unbounded == nil && remaining < worthIt {
			return false, nil
		}
		if unbounded == nil {
			narrower := opts
			narrower.Epsilon = opts.epsilon() / 4
			var err error
			if unbounded, err = Until(ctx, sys.g, left, right, dir, narrower); err != nil {
				sys.limit = nil // the steps may be less work
				return false, ctx.Err()
			}
		}
		for s, upper := range unbounded.Upper {
			if upper-sys.v.Lower[s] > opts.epsilon()/2*upper {
				return false, nil
			}
		}
		copy(sys.v.Upper, unbounded.Upper)
		return true, nil
	}
}

// drift skips steps whose effect is nearly the same in every state. It is for equations T with T(x+c) = T(x)+c for every
// constant c: the probabilities of each choice sum to one, and no state has a fixed value.
//
// T is monotone. If p steps take the upper bounds U to at most U+c, then m p further steps add at most m c to bounds that are
// at most U+c. Adding a constant commutes with the r steps that remain, so the order does not matter. The lower bounds are
// treated in the same way. The computed bounds contain T of the bounds before them, so c is the greatest difference of two
// upper bounds that are p steps apart. Every p is sound; in a periodic model a multiple of the period gives narrow bounds.
//
// Source: Odoni (1969), for the long-run average.
type drift struct {
	epsilon float64
	lower   []float64 // after at steps
	upper   []float64
	at      int     // a power of two; 0 before the first
	most    float64 // of upper
	// When left steps remain, low and high are what they add at least and at most; left is 0 while that is not known.
	left      int
	low, high float64
}

// newDrift returns nil where every step is taken.
func (sys *system) newDrift(opts Options) *drift {
	if opts.Classic || sys.g.Kind == sparse.CTMC {
		return nil
	}
	return &drift{epsilon: opts.epsilon()}
}

// skip reports whether it has written the bounds after the remaining steps.
func (d *drift) skip(v *Values, done, remaining int) bool {
	switch {
	case d.left > 0:
		return remaining == d.left && d.add(v)
	case done >= fewestSteps && done&(done-1) == 0 && remaining > done:
		d.lower, d.upper, d.at = append(d.lower[:0], v.Lower...), append(d.upper[:0], v.Upper...), done
		d.most = slices.Max(v.Upper)
		return false
	case d.at == 0 || remaining < done-d.at:
		return false
	}
	period := done - d.at
	times := remaining / period
	if !d.bound(v, float64(times)) || !d.narrow(v) {
		return false
	}
	d.left = times * period
	return remaining == d.left && d.add(v)
}

// bound sets low and high to what n periods add. It reports whether they can be close.
func (d *drift) bound(v *Values, n float64) bool {
	const tiny = 0x1p-960 // below it a product of positive numbers may lose its digits
	least, most := math.Inf(1), 0.0
	for s, upper := range v.Upper {
		least = min(least, v.Lower[s]-d.lower[s])
		most = max(most, upper-d.upper[s])
		if (most-least)*n > 2*d.epsilon*(d.most+most*n) {
			return false
		}
	}
	// Each difference, product and sum is rounded once: four units cover that and the rounding of n.
	down := 1 - 4*unit
	if least < 0 {
		down = 1 + 4*unit
	}
	d.low, d.high = least*down*n*down, most*(1+4*unit)*n*(1+4*unit)
	if math.Abs(d.low) < tiny {
		d.low = min(0, math.Copysign(tiny, least))
	}
	if most > 0 {
		d.high = max(d.high, tiny)
	}
	return true
}

// after returns the bounds of a state when low and high are added.
func (d *drift) after(v *Values, s int) (lo, hi float64) {
	lo = (v.Lower[s] + d.low) - 4*unit*(v.Lower[s]+math.Abs(d.low))
	return max(lo, 0), (v.Upper[s] + d.high) * (1 + 4*unit)
}

// narrow reports whether the bounds are as narrow as asked for when low and high are added.
func (d *drift) narrow(v *Values) bool {
	for s := range v.Upper {
		if lo, hi := d.after(v, s); !(hi-lo <= d.epsilon/2*hi && hi < math.MaxFloat64) {
			return false
		}
	}
	return true
}

// add adds low and high if that is narrow, and forgets them otherwise.
func (d *drift) add(v *Values) bool {
	d.left = 0
	if !d.narrow(v) {
		return false
	}
	for s := range v.Upper {
		v.Lower[s], v.Upper[s] = d.after(v, s)
	}
	return true
}
