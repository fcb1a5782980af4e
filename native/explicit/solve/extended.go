package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// extended is a double without the ends of the doubles' range: m times 2 to the e, m is
// 0 or from 1 to 2. An operation rounds as one on doubles does, and neither overflows
// nor underflows.
type extended struct {
	m float64
	e int
}

func newExtended(m float64, e int) extended {
	bits := math.Float64bits(m)
	exponent := int(bits>>52) - 1023
	if m == 0 || exponent == -1023 { // no normal number
		f, by := math.Frexp(m)
		if f == 0 {
			return extended{}
		}
		return extended{2 * f, e + by - 1}
	}
	return extended{math.Float64frombits(bits - uint64(exponent)<<52), e + exponent}
}

func (w extended) zero() bool { return w.m == 0 }

func (w extended) times(x extended) extended { return newExtended(w.m*x.m, w.e+x.e) }

func (w extended) over(x extended) extended { return newExtended(w.m/x.m, w.e-x.e) }

func (w extended) plus(x extended) extended {
	switch {
	case x.zero():
		return w
	case w.zero():
		return x
	case w.e < x.e:
		w, x = x, w
	}
	by := w.e - x.e
	if by > 64 { // the same, rounded
		return w
	}
	return newExtended(w.m+math.Ldexp(x.m, -by), w.e)
}

// float is infinite, or 0, where no double is near.
func (w extended) float() float64 { return math.Ldexp(w.m, w.e) }

// extendedFactors are the factors of direct where doubles are too small for them: of
// components that are left once in 2^300 steps, say. As they have no subtractions
// either, the error is the same.
type extendedFactors struct{ a, b, exit, pivot []extended }

// factoriseExtended is factorise. It reports false for what is never left, by any number.
func (d *direct) factoriseExtended(mt *meter) (bool, error) {
	n := len(d.order)
	f := &extendedFactors{a: make([]extended, len(d.up)), b: make([]extended, len(d.low)), exit: make([]extended, n), pivot: make([]extended, n)}
	d.extended = f
	d.a, d.b, d.exit, d.pivot = nil, nil, nil, nil
	d.bound()
	sum := make([]extended, n)
	for p := range n {
		work := d.gatherExtended(p, sum)
		if f.pivot[p].zero() {
			return false, nil
		}
		if err := mt.did(stepCost * work); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (d *direct) gatherExtended(p int, sum []extended) (work int) {
	f := d.extended
	exit := extended{1, 0}
	if k := d.order[p]; d.choice[k] != sparse.None {
		j := d.choice[k]
		for i := d.l.start[j]; i < d.l.start[j+1]; i++ {
			t := d.place[d.l.col[i]]
			sum[t] = sum[t].plus(newExtended(d.l.weight[i], 0))
		}
		exit = newExtended(d.l.exit[j], 0)
	}
	for i := d.lowStart[p]; i < d.lowStart[p+1]; i++ {
		q := d.low[i]
		by := sum[q].over(f.pivot[q])
		sum[q] = extended{}
		f.b[i] = by
		if by.zero() {
			continue
		}
		exit = exit.plus(by.times(f.exit[q]))
		first, end := d.upStart[q], d.upStart[q+1]
		for j, t := range d.up[first:end] {
			sum[t] = sum[t].plus(by.times(f.a[first+j]))
		}
		work += end - first
	}
	sum[p] = extended{}
	f.exit[p] = exit
	// The pivot is summed the least term first, as its error is to be that of a few roundings.
	total := []extended{exit}
	for i := d.upStart[p]; i < d.upStart[p+1]; i++ {
		f.a[i] = sum[d.up[i]]
		sum[d.up[i]] = extended{}
		total = append(total, f.a[i])
	}
	f.pivot[p] = sumExtended(total)
	return work
}

// sumExtended returns a sum that is rounded about once: of doubles, with what each addition
// loses, as gather does it.
func sumExtended(terms []extended) extended {
	most := slices.MaxFunc(terms, func(a, b extended) int {
		switch {
		case b.zero() || !a.zero() && a.e > b.e:
			return 1
		case a.zero() || a.e < b.e:
			return -1
		}
		return 0
	})
	total, rest := 0.0, 0.0
	for _, t := range terms {
		if t.zero() || most.e-t.e > 1000 { // far below a rounding
			continue
		}
		x := math.Ldexp(t.m, t.e-most.e)
		s := total + x
		back := s - total
		rest += (total - (s - back)) + (x - back)
		total = s
	}
	return newExtended(total+rest, most.e)
}

// substituteExtended is substitute.
func (d *direct) substituteExtended(gain func(k int) float64) []float64 {
	f, n := d.extended, len(d.order)
	y := make([]extended, n) // by place
	for p, k := range d.order {
		v := newExtended(gain(int(k)), 0)
		for i := d.lowStart[p]; i < d.lowStart[p+1]; i++ {
			v = v.plus(f.b[i].times(y[d.low[i]]))
		}
		y[p] = v
	}
	x := make([]float64, n)
	for p, k := range slices.Backward(d.order) {
		v := y[p]
		for i := d.upStart[p]; i < d.upStart[p+1]; i++ {
			v = v.plus(f.a[i].times(y[d.up[i]]))
		}
		v = v.over(f.pivot[p])
		y[p], x[k] = v, v.float()
		if math.IsInf(x[k], 0) {
			return nil
		}
	}
	return x
}
