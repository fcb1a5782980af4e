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
	// leapStates is how many open states a chain may have whose steps are taken by
	// squaring a dense matrix.
	leapStates = 512
	// leapSteps is how many steps are taken one by one at least.
	leapSteps = 1000
)

// leap is many steps of a chain at once. One step makes a x + b of the values x of
// the open states, for a matrix a of probabilities and what b closed states and
// rewards add, and so do 2^k steps, with others: a² and a b + b follow. Numbers are
// doubleWord, and not negative.
type leap struct {
	y      *system
	states []uint32
	row    []int // of each state in a; -1 of a closed one
	a      []doubleWord
	b, x   [vectors][]doubleWord
	// The relative errors of a and b, and of x: compound bounds what the factors make.
	err, xErr float64
	lost      atomic.Bool // a product was less than doubleWordFloor
	most      float64     // of b and x at first
}

// The vectors: what is computed of the lower bounds, of the upper ones, and whether
// a value is less than 1, as a number that is not zero.
const (
	lowers = iota
	uppers
	misses
	vectors
)

// leaps returns after how many single steps it takes less time to square a matrix for
// n of them; ok is false where that is not possible.
func (y *system) leaps(states []uint32, n int) (after int, ok bool) {
	m := len(states)
	if y.trace != nil || y.g.Kind == sparse.CTMC || m == 0 || m > leapStates || n <= leapSteps {
		return 0, false
	}
	transitions := 0
	for _, s := range states {
		first, end := y.g.Choices(int(s))
		if end != first+1 {
			return 0, false
		}
		transitions += int(y.g.Start[end] - y.g.Start[first])
	}
	after = max(leapSteps, 2*m*m*m*bits.Len(uint(n))/(transitions+m))
	return after, after < n
}

// newLeap returns one step from the values in lower and upper; ok is false where its
// numbers have no doubleWord.
func (y *system) newLeap(states []uint32, lower, upper []float64) (l *leap, ok bool) {
	m := len(states)
	l = &leap{y: y, states: states, row: make([]int, y.g.NumStates()), a: make([]doubleWord, m*m)}
	for s := range l.row {
		l.row[s] = -1
	}
	for i, s := range states {
		l.row[s] = i
	}
	for v := range l.b {
		l.b[v], l.x[v] = make([]doubleWord, m), make([]doubleWord, m)
	}
	l.err = float64(m+8) * doubleWordUnit
	r := y.reward
	exact := y.g.Exact() && (r == nil || (r.State == nil || r.StateRat != nil) && (r.Choice == nil || r.ChoiceRat != nil))
	if !exact {
		l.err += 2.1*y.round.err + unit // of the sum of two rewards
	}
	fine := true
	number := func(x float64, rat func() *big.Rat) doubleWord {
		out, zero := doubleWord{x, 0}, x == 0
		if exact {
			r := rat()
			out, zero = newDoubleWord(r), r.Sign() == 0
		}
		fine = fine && (zero || out.hi >= doubleWordFloor)
		return out
	}
	for i, s := range states {
		first, _ := y.g.Choices(int(s))
		gain := number(r.Gain(int(s), first), func() *big.Rat { return r.GainRat(int(s), first) })
		l.b[lowers][i], l.b[uppers][i] = gain, gain
		lo, hi := y.g.Row(first)
		for k := lo; k < hi; k++ {
			p := number(y.g.Prob(k), func() *big.Rat { return y.g.Rat(k) })
			t := y.g.Target[k]
			if j := l.row[t]; j >= 0 {
				l.a[i*m+j] = l.a[i*m+j].add(p)
				continue
			}
			for v, x := range value(lower[t], upper[t]) {
				l.b[v][i] = l.b[v][i].add(l.product(p, doubleWord{x, 0}))
			}
		}
		for v, x := range value(lower[s], upper[s]) {
			l.x[v][i] = doubleWord{x, 0}
			l.most = max(l.most, x, l.b[v][i].hi)
		}
	}
	return l, fine && l.most < 0x1p400
}

// value returns what the vectors have of a value with these bounds.
func value(lower, upper float64) [vectors]float64 {
	miss := 0.0
	if lower < 1 {
		miss = 1
	}
	return [vectors]float64{lower, upper, miss}
}

// product is doubleWordFloor, and not zero, where it is less, which lost notes.
func (l *leap) product(x, y doubleWord) doubleWord {
	p := x.mul(y)
	if p.hi < doubleWordFloor && x.hi > 0 && y.hi > 0 {
		l.lost.Store(true)
		return doubleWord{doubleWordFloor, 0}
	}
	return p
}

// apply returns a x + b.
func (l *leap) apply(x, b []doubleWord) []doubleWord {
	m := len(l.states)
	out := make([]doubleWord, m)
	for i := range out {
		sum := b[i]
		for j, p := range l.a[i*m : (i+1)*m] {
			if p.hi > 0 && x[j].hi > 0 {
				sum = sum.add(l.product(p, x[j]))
			}
		}
		out[i] = sum
	}
	return out
}

// square makes a and b those of twice as many steps.
func (l *leap) square() {
	m := len(l.states)
	for v := range l.b {
		l.b[v] = l.apply(l.b[v], l.b[v])
	}
	a := make([]doubleWord, m*m)
	inParts(m, 8, func(from, to int) {
		for i := from; i < to; i++ {
			for k, p := range l.a[i*m : (i+1)*m] {
				if p.hi > 0 && addProducts(a[i*m:(i+1)*m], p, l.a[k*m:(k+1)*m]) {
					l.lost.Store(true)
				}
			}
		}
	})
	l.a = a
	l.err = 2*l.err + float64(m+4)*doubleWordUnit
}

// addProducts adds p times each of some numbers, as doubleWord.add and leap.product do,
// which are written out here. It reports whether something was lost.
func addProducts(sums []doubleWord, p doubleWord, of []doubleWord) (lost bool) {
	for j, q := range of[:len(sums)] {
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
func (l *leap) steps(mt *meter, n int) (ok bool, err error) {
	m := len(l.states)
	for ; ; n >>= 1 {
		if n&1 != 0 {
			for v := range l.x {
				l.x[v] = l.apply(l.x[v], l.b[v])
			}
			l.xErr += l.err + float64(m+4)*doubleWordUnit
		}
		if n <= 1 {
			break
		}
		l.square()
		if err := mt.addWork(m * m * m); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(slices.Concat(l.x[:]...), func(x doubleWord) bool { return !(x.hi < 0x1p1000) }), nil
}

// write sets the bounds of the open states. Products that are off by doubleWordFloor or less
// add up to less than 2^-700 of the greatest number, however many there are.
func (l *leap) write(v *Values) {
	rel, lost := compound(l.xErr)+4*unit, 0.0
	if l.lost.Load() {
		lost = 0x1p-700 * (1 + l.most)
	}
	for i, s := range l.states {
		v.Lower[s] = max(l.y.round.down(l.x[lowers][i].hi, rel)-lost, 0)
		v.Upper[s] = l.y.round.up(l.x[uppers][i].hi, rel)
		if lost > 0 && v.Upper[s] > 0 {
			v.Upper[s] = l.y.round.up(v.Upper[s]+lost, 4*unit)
		}
		if !l.y.prob {
			continue
		}
		v.Upper[s] = min(v.Upper[s], 1)
		if l.x[misses][i].hi == 0 {
			v.Lower[s], v.Upper[s] = 1, 1
		}
		v.Lower[s] = min(v.Lower[s], v.Upper[s])
	}
}

// Leaps reports whether the bounds of a value after so many steps of a small chain take
// little time, while its fraction is too large.
func Leaps(g *sparse.Graph, steps int) bool {
	return steps > 10*leapSteps && g.Kind == sparse.DTMC && g.NumStates() <= leapStates && !g.Intervals()
}
