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
	system    *system
	states []uint32
	rowOfState    []int // the row of each state in a; -1 for closed states
	matrix      []doubleWord
	offset, value   [numVectors][]doubleWord
	// mapErr and valueErr are sums of relative errors, of a and b, and of x. compound turns them into bounds.
	mapErr, valueErr float64
	underflowed      atomic.Bool // a product was below doubleWordFloor
	maxEntry      float64     // the greatest number of b and x before the first squaring
}

// The vectors: lower bounds, upper bounds, and a number that is positive if the value may be below 1.
const (
	lowerVector = iota
	upperVector
	belowOneVector
	numVectors
)

// denseStepsStart returns the number of single steps after which denseSteps takes less time for n steps. ok is false if it
// cannot be used.
func (sys *system) denseStepsStart(states []uint32, n int) (start int, ok bool) {
	size := len(states)
	if sys.stepScheduler != nil || sys.graph.Kind == sparse.CTMC || size == 0 || size > denseMaxStates || n <= denseMinSteps {
		return 0, false
	}
	transitions := 0
	for _, s := range states {
		first, end := sys.graph.Choices(int(s))
		if end != first+1 {
			return 0, false
		}
		transitions += int(sys.graph.Start[end] - sys.graph.Start[first])
	}
	start = max(denseMinSteps, 2*size*size*size*bits.Len(uint(n))/(transitions+size))
	return start, start < n
}

// newDenseSteps returns the matrix of one step from the current values. ok is false if a number is out of range.
func (sys *system) newDenseSteps(states []uint32) (dense *denseSteps, ok bool) {
	lower, upper := sys.values.Lower, sys.values.Upper
	m := len(states)
	dense = &denseSteps{system: sys, states: states, rowOfState: make([]int, sys.graph.NumStates()), matrix: make([]doubleWord, m*m)}
	for s := range dense.rowOfState {
		dense.rowOfState[s] = -1
	}
	for i, s := range states {
		dense.rowOfState[s] = i
	}
	for v := range dense.offset {
		dense.offset[v], dense.value[v] = make([]doubleWord, m), make([]doubleWord, m)
	}
	dense.mapErr = float64(m+8) * doubleWordUnit
	r := sys.reward
	exact := sys.graph.Exact() && (r == nil || (r.State == nil || r.StateRat != nil) && (r.Choice == nil || r.ChoiceRat != nil))
	if !exact {
		dense.mapErr += 2.1*sys.rounding.err + unit // of the sum of two rewards
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
		first, _ := sys.graph.Choices(int(s))
		reward := number(r.OfChoice(int(s), first), func() *big.Rat { return r.OfChoiceRat(int(s), first) })
		dense.offset[lowerVector][i], dense.offset[upperVector][i] = reward, reward
		lo, end := sys.graph.Row(first)
		for k := lo; k < end; k++ {
			p := number(sys.graph.Prob(k), func() *big.Rat { return sys.graph.Rat(k) })
			t := sys.graph.Target[k]
			if j := dense.rowOfState[t]; j >= 0 {
				dense.matrix[i*m+j] = dense.matrix[i*m+j].add(p)
				continue
			}
			for v, x := range vectorEntries(lower[t], upper[t]) {
				dense.offset[v][i] = dense.offset[v][i].add(dense.product(p, doubleWord{x, 0}))
			}
		}
		for v, x := range vectorEntries(lower[s], upper[s]) {
			dense.value[v][i] = doubleWord{x, 0}
			dense.maxEntry = max(dense.maxEntry, x, dense.offset[v][i].hi)
		}
	}
	return dense, inRange && dense.maxEntry < 0x1p400
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
		d.underflowed.Store(true)
		return doubleWord{doubleWordFloor, 0}
	}
	return p
}

// applyMap returns a x + b.
func (d *denseSteps) applyMap(values, offset []doubleWord) []doubleWord {
	size := len(d.states)
	out := make([]doubleWord, size)
	for i := range out {
		sum := offset[i]
		for j, p := range d.matrix[i*size : (i+1)*size] {
			if p.hi > 0 && values[j].hi > 0 {
				sum = sum.add(d.product(p, values[j]))
			}
		}
		out[i] = sum
	}
	return out
}

// square replaces a and b by those of twice as many steps.
func (d *denseSteps) square() {
	size := len(d.states)
	for vector := range d.offset {
		d.offset[vector] = d.applyMap(d.offset[vector], d.offset[vector])
	}
	squared := make([]doubleWord, size*size)
	inParallelParts(size, 8, func(from, to int) {
		for i := from; i < to; i++ {
			for k, p := range d.matrix[i*size : (i+1)*size] {
				if p.hi > 0 && addProducts(squared[i*size:(i+1)*size], p, d.matrix[k*size:(k+1)*size]) {
					d.underflowed.Store(true)
				}
			}
		}
	})
	d.matrix = squared
	d.mapErr = 2*d.mapErr + float64(size+4)*doubleWordUnit
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

// run takes n steps, and reports whether all numbers are finite.
func (d *denseSteps) run(meter *meter, n int) (ok bool, err error) {
	size := len(d.states)
	for ; ; n >>= 1 {
		if n&1 != 0 {
			for vector := range d.value {
				d.value[vector] = d.applyMap(d.value[vector], d.offset[vector])
			}
			d.valueErr += d.mapErr + float64(size+4)*doubleWordUnit
		}
		if n <= 1 {
			break
		}
		d.square()
		if err := meter.addWork(size * size * size); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(slices.Concat(d.value[:]...), func(x doubleWord) bool { return !(x.hi < 0x1p1000) }), nil
}

// writeBounds sets the bounds of the open states. The errors of all lost products, each at most doubleWordFloor, sum to less
// than 2^-700 of the greatest number.
func (d *denseSteps) writeBounds(values *Values) {
	relErr, loss := compound(d.valueErr)+4*unit, 0.0
	if d.underflowed.Load() {
		loss = 0x1p-700 * (1 + d.maxEntry)
	}
	for i, s := range d.states {
		values.Lower[s] = max(d.system.rounding.down(d.value[lowerVector][i].hi, relErr)-loss, 0)
		values.Upper[s] = d.system.rounding.up(d.value[upperVector][i].hi, relErr)
		if loss > 0 && values.Upper[s] > 0 {
			values.Upper[s] = d.system.rounding.up(values.Upper[s]+loss, 4*unit)
		}
		if !d.system.atMostOne {
			continue
		}
		values.Upper[s] = min(values.Upper[s], 1)
		if d.value[belowOneVector][i].hi == 0 {
			values.Lower[s], values.Upper[s] = 1, 1
		}
		values.Lower[s] = min(values.Lower[s], values.Upper[s])
	}
}

// BoundsAreFaster reports whether bounds after so many steps take little time because the chain is small, whereas the
// exact values would be very long fractions.
func BoundsAreFaster(graph *sparse.Graph, steps int) bool {
	return steps > 10*denseMinSteps && graph.Kind == sparse.DTMC && graph.NumStates() <= denseMaxStates && !graph.Intervals()
}
