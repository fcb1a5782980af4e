package solve

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

const (
	// denseMaxStates is the greatest number of open states for which denseSteps is used.
	denseMaxStates = 512
	// denseMinSteps is the least number of steps that are taken one by one.
	denseMinSteps = 1000
)

// denseSteps takes many steps of a small chain at once, by squaring a dense matrix. One step replaces the values x of
// the open states by a x + b: a has the probabilities, b the contribution of closed states and rewards. Twice as many
// steps have the matrix a² and the vector a b + b. All numbers are nonnegative.
type denseSteps struct {
	sys    *system
	states []uint32
	row    []int // the row of each state in a; -1 for closed states
	a      []doubleWord
	b, x   [numVectors][]doubleWord
	// err and xErr are sums of relative errors, of a and b, and of x. compound turns them into bounds.
	err, xErr float64
	lost      atomic.Bool // a product was below doubleWordFloor
	most      float64     // the greatest number of b and x before the first squaring
}

// The vectors: lower bounds, upper bounds, and a number that is positive if the value may be below 1.
const (
	lowerVector = iota
	upperVector
	belowOneVector
	numVectors
)

// denseAfter returns the number of single steps after which denseSteps takes less time for n steps. ok is false if it
// cannot be used.
func (sys *system) denseAfter(states []uint32, n int) (after int, ok bool) {
	m := len(states)
	if sys.trace != nil || sys.g.Kind == sparse.CTMC || m == 0 || m > denseMaxStates || n <= denseMinSteps {
		return 0, false
	}
	transitions := 0
	for _, s := range states {
		first, end := sys.g.Choices(int(s))
		if end != first+1 {
			return 0, false
		}
		transitions += int(sys.g.Start[end] - sys.g.Start[first])
	}
	after = max(denseMinSteps, 2*m*m*m*bits.Len(uint(n))/(transitions+m))
	return after, after < n
}

// newDenseSteps returns the matrix of one step from the current values. ok is false if a number is out of range.
func (sys *system) newDenseSteps(states []uint32) (d *denseSteps, ok bool) {
	lower, upper := sys.v.Lower, sys.v.Upper
	m := len(states)
	d = &denseSteps{sys: sys, states: states, row: make([]int, sys.g.NumStates()), a: make([]doubleWord, m*m)}
	for s := range d.row {
		d.row[s] = -1
	}
	for i, s := range states {
		d.row[s] = i
	}
	for v := range d.b {
		d.b[v], d.x[v] = make([]doubleWord, m), make([]doubleWord, m)
	}
	d.err = float64(m+8) * doubleWordUnit
	r := sys.reward
	exact := sys.g.Exact() && (r == nil || (r.State == nil || r.StateRat != nil) && (r.Choice == nil || r.ChoiceRat != nil))
	if !exact {
		d.err += 2.1*sys.round.err + unit // of the sum of two rewards
	}
	inRange := true
	number := func(x float64, rat func() *big.Rat) doubleWord {
		out, zero := doubleWord{x, 0}, x == 0
		if exact {
			r := rat()
			out, zero = newDoubleWord(r), r.Sign() == 0
		}
		inRange = inRange && (zero || out.hi >= doubleWordFloor)
		return out
	}
	for i, s := range states {
		first, _ := sys.g.Choices(int(s))
		reward := number(r.OfChoice(int(s), first), func() *big.Rat { return r.OfChoiceRat(int(s), first) })
		d.b[lowerVector][i], d.b[upperVector][i] = reward, reward
		lo, hi := sys.g.Row(first)
		for k := lo; k < hi; k++ {
			p := number(sys.g.Prob(k), func() *big.Rat { return sys.g.Rat(k) })
			t := sys.g.Target[k]
			if j := d.row[t]; j >= 0 {
				d.a[i*m+j] = d.a[i*m+j].add(p)
				continue
			}
			for v, x := range vectorEntries(lower[t], upper[t]) {
				d.b[v][i] = d.b[v][i].add(d.product(p, doubleWord{x, 0}))
			}
		}
		for v, x := range vectorEntries(lower[s], upper[s]) {
			d.x[v][i] = doubleWord{x, 0}
			d.most = max(d.most, x, d.b[v][i].hi)
		}
	}
	return d, inRange && d.most < 0x1p400
}

// vectorEntries returns the entries of the vectors for a value with these bounds.
func vectorEntries(lower, upper float64) [numVectors]float64 {
	belowOne := 0.0
	if lower < 1 {
		belowOne = 1
	}
	return [numVectors]float64{lower, upper, belowOne}
}

// product returns the product. It replaces a positive product below doubleWordFloor by that, and sets lost.
func (d *denseSteps) product(x, y doubleWord) doubleWord {
	p := x.mul(y)
	if p.hi < doubleWordFloor && x.hi > 0 && y.hi > 0 {
		d.lost.Store(true)
		return doubleWord{doubleWordFloor, 0}
	}
	return p
}

// apply returns a x + b.
func (d *denseSteps) apply(x, b []doubleWord) []doubleWord {
	m := len(d.states)
	out := make([]doubleWord, m)
	for i := range out {
		sum := b[i]
		for j, p := range d.a[i*m : (i+1)*m] {
			if p.hi > 0 && x[j].hi > 0 {
				sum = sum.add(d.product(p, x[j]))
			}
		}
		out[i] = sum
	}
	return out
}

// square replaces a and b by those of twice as many steps.
func (d *denseSteps) square() {
	m := len(d.states)
	for v := range d.b {
		d.b[v] = d.apply(d.b[v], d.b[v])
	}
	a := make([]doubleWord, m*m)
	inParts(m, 8, func(from, to int) {
		for i := from; i < to; i++ {
			for k, p := range d.a[i*m : (i+1)*m] {
				if p.hi > 0 && addProducts(a[i*m:(i+1)*m], p, d.a[k*m:(k+1)*m]) {
					d.lost.Store(true)
				}
			}
		}
	})
	d.a = a
	d.err = 2*d.err + float64(m+4)*doubleWordUnit
}

// addProducts adds p times factors[j] to each sums[j]. doubleWord.add and denseSteps.product are inlined. lost says that
// a product was below doubleWordFloor.
func addProducts(sums []doubleWord, p doubleWord, factors []doubleWord) (lost bool) {
	for j, q := range factors[:len(sums)] {
		if q.hi == 0 {
			continue
		}
		product := p.hi * q.hi
		lo := math.FMA(p.hi, q.hi, -product) + (p.hi*q.lo + p.lo*q.hi)
		hi := product + lo
		lo -= hi - product
		if hi < doubleWordFloor {
			hi, lo, lost = doubleWordFloor, 0, true
		}
		x := sums[j]
		s := x.hi + hi
		t := s - x.hi
		lo = (x.hi - (s - t)) + (hi - t) + (x.lo + lo)
		hi = s + lo
		sums[j] = doubleWord{hi, lo - (hi - s)}
	}
	return lost
}

// steps takes n steps, and reports whether all numbers are finite.
func (d *denseSteps) steps(mt *meter, n int) (ok bool, err error) {
	m := len(d.states)
	for ; ; n >>= 1 {
		if n&1 != 0 {
			for v := range d.x {
				d.x[v] = d.apply(d.x[v], d.b[v])
			}
			d.xErr += d.err + float64(m+4)*doubleWordUnit
		}
		if n <= 1 {
			break
		}
		d.square()
		if err := mt.addWork(m * m * m); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(slices.Concat(d.x[:]...), func(x doubleWord) bool { return !(x.hi < 0x1p1000) }), nil
}

// write sets the bounds of the open states. The errors of all lost products, each at most doubleWordFloor, sum to less
// than 2^-700 of the greatest number.
func (d *denseSteps) write(v *Values) {
	rel, lost := compound(d.xErr)+4*unit, 0.0
	if d.lost.Load() {
		lost = 0x1p-700 * (1 + d.most)
	}
	for i, s := range d.states {
		v.Lower[s] = max(d.sys.round.down(d.x[lowerVector][i].hi, rel)-lost, 0)
		v.Upper[s] = d.sys.round.up(d.x[upperVector][i].hi, rel)
		if lost > 0 && v.Upper[s] > 0 {
			v.Upper[s] = d.sys.round.up(v.Upper[s]+lost, 4*unit)
		}
		if !d.sys.prob {
			continue
		}
		v.Upper[s] = min(v.Upper[s], 1)
		if d.x[belowOneVector][i].hi == 0 {
			v.Lower[s], v.Upper[s] = 1, 1
		}
		v.Lower[s] = min(v.Lower[s], v.Upper[s])
	}
}

// BoundsAreFaster reports whether bounds after so many steps take little time because the chain is small, whereas the
// exact values would be very long fractions.
func BoundsAreFaster(g *sparse.Graph, steps int) bool {
	return steps > 10*denseMinSteps && g.Kind == sparse.DTMC && g.NumStates() <= denseMaxStates && !g.Intervals()
}
