package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// directLimit is the greatest number of unknowns that are solved by dense
// elimination: its matrix takes 32 MB.
const directLimit = 2000

// worthDirect reports whether elimination is cheaper than what the sweeps have
// cost already.
func (l *local) worthDirect(sweeps int) bool {
	n := float64(len(l.lower))
	return n <= directLimit && float64(sweeps)*float64(len(l.col)) > n*n*n/8
}

// direct solves a component in which sweeps converge slowly: scheduler
// iteration with dense elimination. Either the schedulers found can be shown to
// be the best, and the error of the elimination bounds the solution, or the
// equations themselves prove bounds around it. It reports whether that
// succeeded; the bounds are unchanged when it did not.
func (l *local) direct(mt *meter, eps float64) (bool, error) {
	d := &direct{l: l, choice: l.leaving()}
	x, err := d.iterate(mt, l.min, d.constant)
	if x == nil || err != nil {
		return false, err
	}
	e, chosen := d.err+d.perturbation(), slices.Clone(d.choice)
	if e <= eps && l.certify(chosen, x, e) {
		return true, nil
	}
	w, err := d.slack(mt, x)
	if err != nil {
		return false, err
	}
	return w != nil && l.prove(x, w) || e < 1e-3 && l.certify(chosen, x, e), nil
}

// slack solves w = P w + x, for the worst scheduler where all of them leave the
// component, and for the one found otherwise.
func (d *direct) slack(mt *meter, x []float64) ([]float64, error) {
	gain := func(k int) float64 { return x[k] }
	if d.l.min && d.l.rewards {
		return d.solve(gain), nil
	}
	return d.iterate(mt, false, gain)
}

// prove replaces the bounds by ones around a candidate x that is off by rounding
// only. If w = P w + x, then x - d*w and x + d*w satisfy the equations with
// slack d*x, which covers rounding once d is large enough. Upper bounds that the
// equations lower are above the least solution; lower bounds that they raise
// are below it, because every scheduler leaves or pays for ever.
func (l *local) prove(x, w []float64) bool {
	lower, upper := make([]float64, len(x)), make([]float64, len(x))
	for delta := 0x1p-50; delta < 1e-3; delta *= 4 {
		for k := range x {
			l.around(lower, upper, k, x[k], 1.01*l.inherited*x[k]+delta*w[k])
		}
		if how, ok := l.holds(lower, upper); ok {
			l.accept(lower, upper, how)
			return true
		}
	}
	return false
}

func (l *local) around(lower, upper []float64, k int, x, spread float64) {
	lower[k], upper[k] = max(x-spread, 0), x+spread
	if l.prob {
		upper[k] = min(upper[k], 1)
	}
}

func (l *local) accept(lower, upper []float64, how []uint32) {
	l.lower, l.upper = lower, upper
	if l.how != nil {
		l.how = how
	}
}

// holds reports whether the equations raise the lower bounds and lower the
// upper ones, and the choices by which they do.
func (l *local) holds(lower, upper []float64) ([]uint32, bool) {
	how := make([]uint32, len(lower))
	for k := range lower {
		lo, raised := l.down(k, lower)
		hi, lowered := l.up(k, upper)
		if lo < lower[k] || hi > upper[k] {
			return nil, false
		}
		how[k] = raised
		if l.min {
			how[k] = lowered
		}
	}
	return how, true
}

// certify replaces the bounds by x and its relative error e, if x is the value
// of the given choices and no other choice can be better.
func (l *local) certify(chosen []uint32, x []float64, e float64) bool {
	if !moderate(x) {
		return false
	}
	for k, now := range chosen {
		for j := l.first[k]; j < l.first[k+1]; j++ {
			if j != now && !l.worse(k, j, x, e) && !l.same(j, now) {
				return false
			}
		}
	}
	lower, upper := make([]float64, len(x)), make([]float64, len(x))
	for k := range x {
		l.around(lower, upper, k, x[k], 1.01*e*x[k])
	}
	l.accept(lower, upper, chosen)
	return true
}

// moderate reports whether all values are so far from the ends of the doubles'
// range that nothing that mattered can have underflowed on the way to them.
func moderate(x []float64) bool {
	for _, v := range x {
		if !(v >= leastPivot && v <= 1/leastPivot) {
			return false
		}
	}
	return true
}

// worse reports whether choice j of unknown k is certainly not better than x[k].
// The sum of differences uses that the weights of a choice sum to one: where
// values differ little, the error of the weights matters little.
func (l *local) worse(k int, j uint32, x []float64, e float64) bool {
	home := x[k]
	constant := l.lo[j]
	if !l.min {
		constant = l.hi[j]
	}
	gain, size := constant-l.exit[j]*home, constant+l.exit[j]*home
	err := 0.0
	for i := l.start[j]; i < l.start[j+1]; i++ {
		w, t := l.weight[i], x[l.col[i]]
		gain += w * (t - home)
		size += w * math.Abs(t-home)
		err += w * (t + home)
	}
	err = 1.01 * (l.err[j]*size + e*(err+l.exit[j]*home))
	if l.min {
		return gain-err >= 0
	}
	return gain+err <= 0
}

// same reports whether two choices are the same equation but for their error.
func (l *local) same(i, j uint32) bool {
	if j == sparse.None || !slices.Equal(l.col[l.start[i]:l.start[i+1]], l.col[l.start[j]:l.start[j+1]]) {
		return false
	}
	e := min(l.err[i], l.err[j])
	near := func(a, b float64) bool { return math.Abs(a-b) <= e*min(a, b) }
	for t := range l.start[i+1] - l.start[i] {
		if !near(l.weight[l.start[i]+t], l.weight[l.start[j]+t]) {
			return false
		}
	}
	return near(l.lo[i], l.lo[j]) && near(l.hi[i], l.hi[j]) && near(l.exit[i], l.exit[j])
}

// leaving returns choices with which every unknown is left with probability
// one: each has a term or an exit towards one that is left.
func (l *local) leaving() []uint32 {
	n := len(l.lower)
	out := make([]uint32, n)
	left := make([]bool, n)
	for k := range out {
		out[k] = sparse.None
		left[k] = l.first[k] == l.first[k+1]
	}
	for changed := true; changed; {
		changed = false
		for k := range out {
			for j := l.first[k]; j < l.first[k+1] && !left[k]; j++ {
				if l.exit[j] > 0 || l.meets(j, left) {
					out[k], left[k], changed = j, true, true
				}
			}
		}
	}
	return out
}

// meets reports whether the choice has a term in one of the given unknowns.
func (l *local) meets(j uint32, set []bool) bool {
	for _, k := range l.col[l.start[j]:l.start[j+1]] {
		if set[k] {
			return true
		}
	}
	return false
}

// leastPivot is the least weight by which an unknown must be left once others
// are eliminated. Products that underflow are then far below rounding.
const leastPivot = 0x1p-300

// direct holds one factorisation: of the equations under the choices made.
type direct struct {
	l      *local
	choice []uint32
	a      [][]float64
	exit   []float64 // weight that leaves the component
	pivot  []float64
	err    float64 // relative error of the solution, given the equations
}

// constant returns the middle of the constant of the choice made for k.
func (d *direct) constant(k int) float64 {
	j := d.choice[k]
	if j == sparse.None {
		return 0
	}
	return d.l.lo[j] + (d.l.hi[j]-d.l.lo[j])/2
}

// iterate improves the choices until none gets better, which a few rounds
// achieve, and returns the solution of x = P x + gain; nil when there is none.
func (d *direct) iterate(mt *meter, least bool, gain func(k int) float64) ([]float64, error) {
	const rounds = 30
	for range rounds {
		x := d.solve(gain)
		n := len(d.choice)
		mt.work += workPerPoll // one round takes a while
		if err := mt.did(n); err != nil {
			return nil, err
		}
		if x == nil || !d.improve(x, least, gain) {
			return x, nil
		}
	}
	return nil, nil
}

// improve takes better choices, beyond rounding, and reports whether there were any.
func (d *direct) improve(x []float64, least bool, gain func(k int) float64) bool {
	const beyond = 1e-12
	changed := false
	for k := range d.choice {
		value := x[k]
		now := d.choice[k]
		for j := d.l.first[k]; j < d.l.first[k+1]; j++ {
			old := d.choice[k]
			d.choice[k] = j
			v := gain(k) + d.l.terms(j, x)
			if least && v < value*(1-beyond) || !least && v > value*(1+beyond) {
				value = v
				continue
			}
			d.choice[k] = old
		}
		changed = changed || d.choice[k] != now
	}
	return changed
}

// perturbation returns the relative error of the solution that comes from that
// of the equations: the weights, and the constants. Each is taken twice, for
// choices that are the same but for their error.
func (d *direct) perturbation() float64 {
	most := 0.0
	for _, j := range d.choice {
		if j != sparse.None {
			most = max(most, d.l.err[j])
		}
	}
	return 4.04*float64(len(d.choice)+1)*most + 1.01*d.l.inherited
}

// solve factorises the equations under the choices made and solves them. There
// are no subtractions. The solution is a quotient of two sums of products, each
// of at most one weight per unknown, all positive; so weights that are off by a
// relative error of e put it off by 2ne at most. Eliminating unknown k gives
// weights for the k others that are off by at most its number of terms and 4
// roundings, and substituting it back adds as many.
//
// Source: Grassmann, Taksar and Heyman (1985); O'Cinneide (1993) for the error.
func (d *direct) solve(gain func(k int) float64) []float64 {
	d.load()
	n := len(d.a)
	d.err = 0
	for k := n - 1; k >= 0; k-- {
		row := d.a[k]
		pivot, terms := d.exit[k], 1
		for t := range k {
			if row[t] != 0 {
				pivot += row[t]
				terms++
			}
		}
		d.err += 1.05 * unit * float64(2*k+2) * float64(terms+4)
		if !(pivot >= leastPivot) {
			return nil
		}
		d.pivot[k] = pivot
		for i := range k {
			f := d.a[i][k] / pivot
			d.a[i][k] = f
			if f == 0 {
				continue
			}
			to := d.a[i][:k]
			for t, v := range row[:k] {
				to[t] += f * v
			}
			d.exit[i] += f * d.exit[k]
		}
	}
	return d.substitute(gain)
}

// load fills the matrix with the rows of the choices made.
func (d *direct) load() {
	n := len(d.choice)
	if d.a == nil {
		d.a, d.exit, d.pivot = make([][]float64, n), make([]float64, n), make([]float64, n)
		for k := range d.a {
			d.a[k] = make([]float64, n)
		}
	}
	for k, j := range d.choice {
		clear(d.a[k])
		d.exit[k] = 1
		if j == sparse.None {
			continue
		}
		d.exit[k] = d.l.exit[j]
		for i := d.l.start[j]; i < d.l.start[j+1]; i++ {
			d.a[k][d.l.col[i]] += d.l.weight[i]
		}
	}
}

func (d *direct) substitute(gain func(k int) float64) []float64 {
	n := len(d.a)
	x := make([]float64, n)
	for k := range x {
		x[k] = gain(k)
	}
	for k := n - 1; k >= 0; k-- {
		for i := range k {
			x[i] += d.a[i][k] * x[k]
		}
	}
	for k := range x {
		sum := x[k]
		for t, v := range d.a[k][:k] {
			sum += v * x[t]
		}
		x[k] = sum / d.pivot[k]
		if math.IsInf(x[k], 0) || math.IsNaN(x[k]) {
			return nil
		}
	}
	return x
}
