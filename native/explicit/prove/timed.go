package prove

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

const (
	// slowScale is how many binary places numbers have that do not fit 64 bits.
	slowScale = 240
	// slowWork is how many transitions are taken with such numbers.
	slowWork = 1 << 24
)

// timed computes the values of a time, and how the checker is to compute them: at the
// rate of the fastest state that moves, in 64 bits if that leaves enough digits.
func (w *work) timed(left, right *sparse.Set) (*solve.Values, error) {
	moves, most := sparse.FullSet(w.graph.NumStates()), 1.0
	if w.Kind == certificate.Steps {
		if moves = left; w.Timed.From.Sign() == 0 {
			moves = left.Minus(right)
		}
		if w.Timed.To == nil {
			if _, err := w.until(left, right); err != nil {
				return nil, err
			}
		}
	}
	rate := new(big.Rat)
	for s := range moves.All() {
		if e := w.exit(s); e.Cmp(rate) > 0 {
			rate = e
		}
	}
	if rate.Sign() == 0 {
		rate.SetInt64(1)
	}
	w.Timed.Rate = rate
	options := solve.Options{Epsilon: w.opts.Epsilon}
	to := solve.Time{}
	if w.Timed.To != nil {
		to = solve.At(w.Timed.To)
	}
	var v *solve.Values
	var err error
	switch w.Kind {
	case certificate.Steps:
		v, err = solve.TimedUntil(w.ctx, w.graph, left, right, solve.Interval{From: solve.At(w.Timed.From), To: to}, options)
	case certificate.Instant:
		v, err = solve.TimedInstantReward(w.ctx, w.graph, w.earned, to, options)
		most = greatest(w.earned.State)
	default:
		v, err = solve.TimedCumulReward(w.ctx, w.graph, w.earned, to, options)
		time, _ := w.Timed.To.Float64()
		most = (greatest(w.earned.State) + greatest(w.earned.Choice)) * max(1, time)
	}
	if err != nil {
		return nil, err
	}
	return v, w.rounding(v, most)
}

func greatest(xs []float64) float64 {
	most := 1.0
	for _, x := range xs {
		most = max(most, x)
	}
	return most
}

// rounding chooses the numbers of the checker, and widens the bounds by what their
// rounding amounts to: a few units in the last place for each step.
func (w *work) rounding(v *solve.Values, most float64) error {
	long := w.Timed.From
	if w.Timed.To != nil {
		long = w.Timed.To
	}
	mean, _ := new(big.Rat).Mul(w.Timed.Rate, long).Float64()
	steps := mean + 12*math.Sqrt(mean) + 60
	_, exp := math.Frexp(most)
	if scale := 60 - exp; w.effort < floating && scale > 0 {
		w.Timed.Scale = uint(scale)
	} else {
		if steps*float64(len(w.graph.Target)) > slowWork {
			return errors.New("the time is too long for numbers of many digits")
		}
		w.Timed.Scale = slowScale
	}
	off := math.Ldexp(8*steps*max(1, most), -int(w.Timed.Scale))
	for s := range v.Lower {
		if v.Lower[s] != v.Upper[s] {
			v.Lower[s], v.Upper[s] = max(v.Lower[s]-off, 0), v.Upper[s]+off
		}
	}
	return nil
}
