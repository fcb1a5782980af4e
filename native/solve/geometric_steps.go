package solve

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// geometricSteps takes many steps of a chain whose first values are 0. A step replaces the values x of the open states by
// A x + b, so the values after k steps are the sum of the increments d(0), ..., d(k-1), where d(0) = b and d(i+1) = A d(i).
// The increments are computed one by one. Once an increment is nearly a multiple of the one p steps before, the others are
// bounded by a geometric series: A is monotone, so if A^p d <= q d in every state, then A^(jp) d <= q^j d for every j, and
// likewise for lower bounds. Every p is sound; in a periodic chain a multiple of the period gives narrow bounds.
//
// Source: Collatz and Wielandt (1942), for bounds on the spectral radius of A by such quotients q.
type geometricSteps struct {
	sys     *system
	epsilon float64
	total   int // the number of increments to add
	now     *increments
	// reference has the increments at a power of two, with which later ones are compared; nil before the first.
	reference *increments
}

// increments has bounds on the increment d(count) of each open state, and on the sum of the increments before it. Other states
// have 0. The bounds on the sum do not cover the rounding of its additions.
type increments struct {
	count                int
	equations            *system // d(i+1) = A d(i)
	states               []uint32
	sumLower, sumUpper   []float64
	nextLower, nextUpper []float64
}

// geometricAfter is the number of steps after which geometricSteps replaces them, and begins again with the first step. Since
// geometricRest times as many remain, the repeated ones take little time.
const (
	geometricAfter = 4096
	geometricRest  = 16
)

// newGeometricSteps returns nil if the steps of the states must be taken one by one. It keeps the values of the other states.
func (sys *system) newGeometricSteps(opts Options, states []uint32, total int) *geometricSteps {
	if opts.Classic || sys.stepScheduler != nil || sys.rounding.grid != 0 || sys.graph.Kind == sparse.CTMC || total < geometricAfter*(1+geometricRest) {
		return nil
	}
	for _, s := range states {
		if first, end := sys.graph.Choices(int(s)); end != first+1 || sys.values.Upper[s] > 0 {
			return nil
		}
	}
	n := sys.graph.NumStates()
	d := &increments{states: states, sumLower: make([]float64, n), sumUpper: make([]float64, n), nextLower: make([]float64, n), nextUpper: make([]float64, n)}
	first := &Values{Lower: make([]float64, n), Upper: make([]float64, n)}
	sys.stepBlock(states, first.Lower, first.Upper)
	d.equations = &system{graph: sys.graph, minimize: sys.minimize, oneStep: true, rounding: sys.rounding, values: first}
	return &geometricSteps{sys: sys, epsilon: opts.epsilon(), total: total, now: d}
}

// run writes bounds on the values after all steps to the system.
func (t *geometricSteps) run(meter *meter) error {
	for t.now.count < t.total {
		if err := t.now.advance(meter); err != nil {
			return err
		}
		if t.reference != nil {
			if done, err := t.finish(meter); done || err != nil {
				return err
			}
		}
		if n := t.now.count; n >= fewestSteps && n&(n-1) == 0 {
			t.reference = t.now.clone()
		}
	}
	t.write(t.now, nil, geometricSum{})
	return nil
}

// advance adds the increment to the sum, and replaces it by the next one.
func (d *increments) advance(meter *meter) error {
	v := d.equations.values
	for _, s := range d.states {
		d.sumLower[s] += v.Lower[s]
		d.sumUpper[s] += v.Upper[s]
	}
	if _, err := d.equations.stepInBlocks(d.states, d.nextLower, d.nextUpper, meter); err != nil {
		return err
	}
	v.Lower, d.nextLower = d.nextLower, v.Lower
	v.Upper, d.nextUpper = d.nextUpper, v.Upper
	d.count++
	meter.progress.Done = max(meter.progress.Done, d.count)
	return nil
}

func (d *increments) clone() *increments {
	c, equations := *d, *d.equations
	equations.values = &Values{Lower: slices.Clone(d.equations.values.Lower), Upper: slices.Clone(d.equations.values.Upper)}
	c.equations = &equations
	c.sumLower, c.sumUpper = slices.Clone(d.sumLower), slices.Clone(d.sumUpper)
	c.nextLower, c.nextUpper = slices.Clone(d.nextLower), slices.Clone(d.nextUpper)
	return &c
}

// finish compares the increments with the reference, p steps before. If the geometric series gives bounds as narrow as asked
// for, it writes them and returns true.
func (t *geometricSteps) finish(meter *meter) (bool, error) {
	p := t.now.count - t.reference.count
	n := t.total - t.reference.count
	if n < p {
		return false, nil
	}
	periods, rest := n/p, n%p
	low, high, ok := t.quotients(float64(periods), p == t.reference.count)
	if !ok {
		return false, nil
	}
	series := newGeometricSum(low, high, periods)
	if !t.estimatedNarrow(series) {
		return false, nil
	}
	// The rest steps come first: A^(jp) commutes with them.
	before := t.reference.clone()
	for range rest {
		if err := before.advance(meter); err != nil {
			return false, err
		}
	}
	period := before.clone()
	clear(period.sumLower)
	clear(period.sumUpper)
	for range p {
		if err := period.advance(meter); err != nil {
			return false, err
		}
	}
	if !t.narrow(before, period, series) {
		return false, nil
	}
	t.write(before, period, series)
	return true, nil
}

// quotients returns bounds low and high on the quotients of the increments and the reference. ok is false if there are none, or
// if they are too far apart for narrow bounds after so many periods, unless all says that this does not matter.
func (t *geometricSteps) quotients(periods float64, all bool) (low, high float64, ok bool) {
	const spread = 8 // times epsilon: what the estimate of the bounds may still accept
	low = math.Inf(1)
	was, is := t.reference.equations.values, t.now.equations.values
	for _, s := range t.now.states {
		if was.Lower[s] > 0 {
			low = min(low, is.Lower[s]/was.Lower[s])
		}
		switch {
		case was.Upper[s] > 0:
			high = max(high, is.Upper[s]/was.Upper[s])
		case is.Upper[s] > 0:
			return 0, 0, false
		}
		counted := periods
		if high < 1 {
			counted = min(counted, 1/(1-high))
		}
		if !all && (high-low)*counted > spread*t.epsilon {
			return 0, 0, false
		}
	}
	if math.IsInf(low, 1) {
		low = 0
	}
	return low * (1 - 2*unit), high * (1 + 2*unit), high < math.MaxFloat64
}

// geometricSum has bounds on 1 + q + q² + ..., of as many terms as there are periods.
type geometricSum struct{ low, high float64 }

func newGeometricSum(low, high float64, terms int) geometricSum {
	return geometricSum{sumOfPowers(low, terms) * (1 - 2*unit), sumOfPowers(high, terms) * (1 + 2*unit)}
}

// sumOfPowers returns 1 + q + q² + ..., rounded to nearest. It is computed with 256 bits, of which the difference of 1 and a
// power of q loses at most 54.
func sumOfPowers(q float64, terms int) float64 {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(256).SetFloat64(x) }
	if q == 1 {
		return float64(terms)
	}
	power, square := number(1), number(q)
	for n := terms; n > 0; n >>= 1 {
		if n&1 != 0 {
			power.Mul(power, square)
		}
		square.Mul(square, square)
	}
	sum, _ := power.Quo(power.Sub(number(1), power), number(0).Sub(number(1), number(q))).Float64()
	return sum
}

// estimatedNarrow is narrow with the increments from the reference on in place of those of one period.
func (t *geometricSteps) estimatedNarrow(series geometricSum) bool {
	for _, s := range t.now.states {
		lower, upper := t.reference.sumLower[s], t.reference.sumUpper[s]
		lower += series.low * (t.now.sumLower[s] - lower)
		upper += series.high * (t.now.sumUpper[s] - upper)
		if !t.isNarrow(lower, upper) {
			return false
		}
	}
	return true
}

func (t *geometricSteps) isNarrow(lower, upper float64) bool {
	return upper-lower <= t.epsilon/2*upper && upper < math.MaxFloat64
}

// bounds returns bounds on the value of a state: the sum before the periods, and the increments of the first period times the
// series; period is nil if there is none.
func (t *geometricSteps) bounds(s uint32, before, period *increments, series geometricSum) (lower, upper float64) {
	lower, upper = before.sumLower[s], before.sumUpper[s]
	additions := before.count
	if period != nil {
		lower += series.low * period.sumLower[s]
		upper += series.high * period.sumUpper[s]
		additions = period.count + 2
	}
	e := 1.05 * float64(additions+4) * unit
	lower, upper = t.sys.rounding.down(lower, e), t.sys.rounding.up(upper, e)
	if t.sys.atMostOne {
		upper = min(upper, 1)
	}
	return min(lower, upper), upper
}

// narrow reports whether the bounds are as narrow as asked for.
func (t *geometricSteps) narrow(before, period *increments, series geometricSum) bool {
	for _, s := range t.now.states {
		if !t.isNarrow(t.bounds(s, before, period, series)) {
			return false
		}
	}
	return true
}

func (t *geometricSteps) write(before, period *increments, series geometricSum) {
	for _, s := range t.now.states {
		t.sys.values.Lower[s], t.sys.values.Upper[s] = t.bounds(s, before, period, series)
	}
}
