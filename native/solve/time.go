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

// maxSteps is the greatest mean number of steps. With more, rounding leaves few digits, and the Poisson probabilities take
// too much memory. maxStableSteps is the greatest mean number if bounds from fewer steps are possible.
const (
	maxSteps       = 1 << 32
	maxStableSteps = 1 << 26
)

func tooManySteps(mean, limit float64) error {
	return fmt.Errorf("%w: the fastest rate times the time is %.3g, of which more than %.3g is too much", ErrTooManySteps, mean, limit)
}

// Time is a time between two nonnegative fractions. It is known if they are equal. The zero Time stands for no bound.
type Time struct{ Low, High *big.Rat }

// At returns a known time.
func At(value *big.Rat) Time { return Time{value, value} }

// None reports whether there is no bound.
func (t Time) None() bool { return t.High == nil }

// Known reports whether the time is known.
func (t Time) Known() bool { return t.High != nil && t.Low.Cmp(t.High) == 0 }

// since returns the nonnegative time since an earlier time.
func (t Time) since(from Time) Time {
	least := new(big.Rat).Sub(t.Low, from.High)
	if least.Sign() < 0 {
		least.SetInt64(0)
	}
	return Time{least, new(big.Rat).Sub(t.High, from.Low)}
}

// Interval is the time bound of an until formula, whose right side must hold at some time within it. To may be None.
type Interval struct{ From, To Time }

// timesRat returns the float64 nearest to the product of a float64 and a fraction.
func timesRat(factor float64, fraction *big.Rat) float64 {
	product := new(big.Rat).SetFloat64(factor)
	rounded, _ := product.Mul(product, fraction).Float64()
	return rounded
}

// meanSteps returns the mean number of uniformised steps in a time, rate * time, with its relative error. If it underflows, it becomes the
// least normal float64.
func (uniform *uniformisation) meanSteps(time Time) (mean, relErr float64, err error) {
	if time.Low.Sign() > 0 {
		width := new(big.Rat).Sub(time.High, time.Low)
		relErr, _ = width.Quo(width, time.Low).Float64()
	} else {
		relErr = math.Inf(1)
	}
	const maxRelErr, leastNormal = 0x1p-10, 0x1p-1022
	if !(relErr < maxRelErr) {
		return 0, 0, ErrTime
	}
	return max(timesRat(uniform.uniformRate, time.Low), leastNormal), relErr*(1+unitRoundoff) + 2*unitRoundoff, nil
}

// setUntilBounds computes bounds on the probability of `left U right` within a time or, if isNegated is set, of its negation. It stores them
// as the values of the states in left but not in right. The other states keep their values.
func (uniform *uniformisation) setUntilBounds(ctx context.Context, left, right *sparse.Set, time Time, isNegated bool) error {
	maybe := left.Minus(right)
	uniform.prepare(maybe)
	if time.High.Sign() == 0 || uniform.uniformRate == 0 {
		return nil
	}
	mean, _, err := uniform.meanSteps(time)
	switch {
	case err != nil:
		return err
	case mean >= 2*maxStableSteps:
		return uniform.boundLongUntil(ctx, left, right, isNegated)
	case isNegated:
		return uniform.advanceTime(ctx, maybe, time)
	}
	return uniform.absorptionWithin(ctx, maybe, right, time)
}

// boundLongUntil sets bounds on the probability of `left U right`, or of its negation, within a time so long that the mean number of
// uniformised steps is at least 2*maxStableSteps.
func (uniform *uniformisation) boundLongUntil(ctx context.Context, left, right *sparse.Set, isNegated bool) error {
	// The probability of reaching right increases with the time. It lies between the value after fewer steps and the unbounded value.
	maybe := left.Minus(right)
	opts := uniform.opts
	opts.Classic = false
	unbounded, err := unboundedUntil(ctx, uniform.graph, left, right, isNegated, opts)
	if err != nil {
		return err
	}
	zeroStates, oneStates := uniform.values.statesWithCertainValue(uniform.graph, maybe, sparse.FullSet(uniform.graph.NumStates()))
	values, steps, err := uniform.stepUntilStable(ctx)
	if err != nil {
		return err
	}
	// The mean is at least 2^27. The probability of fewer than half as many steps is below exp(-mean/8) (Chernoff bound),
	// which underflows.
	relErr := compound(uniform.relErrPerStep * float64(steps+1))
	absErr := uniform.lossPerStep * float64(steps+1)
	for state := range maybe.All() {
		if isNegated {
			uniform.values.Lower[state] = unbounded.Lower[state]
			uniform.values.Upper[state] = max(uniform.rounding.roundUp(values[state], relErr)+absErr, uniform.rounding.leastBound)
		} else {
			uniform.values.Lower[state], uniform.values.Upper[state] = uniform.rounding.roundDown(values[state], relErr), unbounded.Upper[state]
		}
	}
	uniform.values.setAll(zeroStates, 0)
	uniform.values.setAll(oneStates, 1)
	return nil
}

// stepUntilStable performs uniformised steps until no value changes. It returns the values and the number of steps. If it reaches a limit
// on the steps or on the work before, it sets uniform.values.Converged to false.
func (uniform *uniformisation) stepUntilStable(ctx context.Context) (values []float64, steps int, err error) {
	const maxWork = 1 << 32 // in evaluated transitions
	limit := min(maxStableSteps, max(1<<10, maxWork/(len(uniform.graph.Target)+1)))
	meter := newStepMeter(ctx, uniform.opts, limit)
	values = slices.Clone(uniform.values.Lower)
	nextValues := slices.Clone(values)
	for steps = range limit {
		changed, err := uniform.step(values, nextValues, meter)
		if err != nil || !changed {
			return values, steps, err
		}
		values, nextValues = nextValues, values
		meter.progress.Done = steps
	}
	uniform.values.Converged = false
	return values, limit, nil
}
