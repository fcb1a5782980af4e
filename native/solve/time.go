package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrTooManySteps says that a time bound is so long, compared with the rates,
// that uniformisation would take too many steps.
var ErrTooManySteps = errors.New("the time bound is too long for the rates of the model")

// ErrTime says that too few digits of a time bound are known.
var ErrTime = errors.New("too few digits of the time bound are known")

// maxSteps is how many steps of a chain may be expected in a time: after more
// their rounding leaves few digits, and the probabilities of their numbers take
// too much memory. settleSteps is the same where fewer steps are as good.
const (
	maxSteps    = 1 << 32
	settleSteps = 1 << 26
)

func tooManySteps(mean, limit float64) error {
	return fmt.Errorf("%w: the fastest rate times the time is %.3g, of which more than %.3g is too much", ErrTooManySteps, mean, limit)
}

// Time is a moment: it is between two fractions that are not negative, and known
// if they are equal. The zero Time is none.
type Time struct{ Low, High *big.Rat }

// At returns a time that is known.
func At(x *big.Rat) Time { return Time{x, x} }

// None reports whether there is no time: a bound that is not there.
func (t Time) None() bool { return t.High == nil }

// Known reports whether the time is known.
func (t Time) Known() bool { return t.High != nil && t.Low.Cmp(t.High) == 0 }

// since returns the time since an earlier one, which is not negative.
func (t Time) since(from Time) Time {
	least := new(big.Rat).Sub(t.Low, from.High)
	if least.Sign() < 0 {
		least.SetInt64(0)
	}
	return Time{least, new(big.Rat).Sub(t.High, from.Low)}
}

// Interval is a time bound: right holds at some time within it. There is always
// From; To may be none.
type Interval struct{ From, To Time }

// times returns a product, rounded once.
func times(x float64, y *big.Rat) float64 {
	p := new(big.Rat).SetFloat64(x)
	f, _ := p.Mul(p, y).Float64()
	return f
}

// mean returns how many steps are expected in a time, and its relative error. What
// underflows is rounded up: there is no difference between such numbers.
func (z *uniform) mean(t Time) (mean, err float64, failure error) {
	if t.Low.Sign() > 0 {
		off := new(big.Rat).Sub(t.High, t.Low)
		err, _ = off.Quo(off, t.Low).Float64()
	} else {
		err = math.Inf(1)
	}
	if !(err < 0x1p-10) {
		return 0, 0, ErrTime
	}
	return max(times(z.rate, t.Low), 0x1p-1022), err*(1+unit) + 2*unit, nil
}

// approach is evolve for an until formula from its start on. What holds within a
// time holds within more. So no more steps are taken than change much: those of
// which there are too many, up to the end of time, can only add to it.
func (z *uniform) approach(ctx context.Context, left, right *sparse.Set, time Time, negated bool) error {
	open := left.Minus(right)
	z.prepare(open)
	if time.High.Sign() == 0 || z.rate == 0 {
		return nil
	}
	mean, _, err := z.mean(time)
	switch {
	case err != nil:
		return err
	case mean < 2*settleSteps && negated:
		return z.evolve(ctx, open, time)
	case mean < 2*settleSteps:
		return z.absorb(ctx, open, right, time)
	}
	opts := z.opts
	opts.Classic = false
	ever, err := everUntil(ctx, z.g, left, right, negated, opts)
	if err != nil {
		return err
	}
	zero, one := z.v.certainStates(z.g, open, sparse.FullSet(z.g.NumStates()))
	x, steps, err := z.settle(ctx)
	if err != nil {
		return err
	}
	// That there are fewer steps than half of their mean, which is 2^27 at least,
	// has a probability below exp(-mean/8) (Chernoff), which is no double.
	rel := compound(z.err * float64(steps+1))
	abs := z.tiny * float64(steps+1)
	for s := range open.All() {
		if negated {
			z.v.Lower[s], z.v.Upper[s] = ever.Lower[s], max(z.round.up(x[s], rel)+abs, z.round.floor)
		} else {
			z.v.Lower[s], z.v.Upper[s] = z.round.down(x[s], rel), ever.Upper[s]
		}
	}
	z.v.set(zero, 0)
	z.v.set(one, 1)
	return nil
}

// settle returns the values after so many steps that another one changes nothing,
// or as many as settleSteps and a limit of work allow.
func (z *uniform) settle(ctx context.Context) (x []float64, steps int, err error) {
	const work = 1 << 32
	most := min(settleSteps, max(1<<10, work/(len(z.g.Target)+1)))
	meter := newMeter(ctx, z.opts, most)
	x = slices.Clone(z.v.Lower)
	next := slices.Clone(x)
	for steps = range most {
		changed, err := z.step(x, next, meter)
		if err != nil || !changed {
			return x, steps, err
		}
		x, next = next, x
		meter.progress.Done = steps
	}
	z.v.Converged = false
	return x, most, nil
}
