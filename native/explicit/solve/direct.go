package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// direct solves a component in which sweeps converge slowly: scheduler
// iteration with elimination. Either the schedulers found can be shown to be the
// best, and the error of the elimination bounds the solution, or the equations
// themselves prove bounds around it. It reports whether that succeeded; the
// bounds are unchanged when it did not. Elimination is given up when it takes
// more operations than budget, for a solution of which nothing is known; then
// more says that a larger budget may help.
func (l *local) direct(mt *meter, eps, budget float64) (ok, more bool, err error) {
	d := newDirect(l, budget)
	defer func() { l.extended = ok && d.extended != nil }()
	x, err := d.iterate(mt, l.min, d.constant)
	if err == nil && !d.rough && !d.restless && !l.vague && (x == nil || !d.sure(x) && d.long(mt)) { // doubles are too small, or too large
		d = newDirect(l, budget)
		d.extended = new(extendedFactors)
		x, err = d.iterate(mt, l.min, d.constant)
	}
	if x == nil || err != nil {
		l.hopeless = d.long(mt)
		return false, d.rough, err
	}
	e, chosen := d.err+d.perturbation(), slices.Clone(d.choice)
	sure := !d.rough && d.sure(x)
	exact := l.inherited <= eps*negligible
	implied := l.round.grid > 0 // are the bounds to be
	if sure && exact && e <= eps && !implied && l.certify(chosen, x, e) {
		return true, false, nil
	}
	low, high, err := d.ends(mt, x)
	if err != nil {
		return false, false, err
	}
	widest := math.Inf(1)
	if d.rough {
		widest = eps
	}
	// The choices found may do, for which there are factors.
	for _, most := range []float64{1e-9, 1e-3} {
		w, err := d.slack(mt, x, most < 1e-3)
		if err != nil {
			return false, false, err
		}
		if w != nil && low != nil && high != nil && l.prove(low, high, w, most, widest) {
			return true, false, nil
		}
	}
	if sure && e < 1e-3 && !implied && l.certify(chosen, x, e) {
		return true, false, nil
	}
	l.hopeless = d.long(mt)
	return false, d.rough, nil
}

// long reports whether it takes so many steps to leave the component under the choices
// made that no number of sweeps replaces elimination.
func (d *direct) long(mt *meter) bool {
	if !d.fresh {
		return false
	}
	steps, _ := d.solve(mt, func(int) float64 { return 1 })
	return steps == nil || slices.Max(steps) > 0x1p40
}

// negligible is the part of the width allowed that may be inherited for all of
// it to be added: a component that depends on others depends on many.
const negligible = 1e-3

// ends returns the solutions with the lower and the upper constants: what is
// not known of them comes into the solution in proportion, where the greatest
// relative width of any would have to be assumed otherwise.
func (d *direct) ends(mt *meter, x []float64) (low, high []float64, err error) {
	if d.l.inherited == 0 && !d.l.vague && d.l.shift == 0 {
		return x, x, nil
	}
	d.guess = x
	end := func(of []float64) ([]float64, error) {
		return d.solve(mt, func(k int) float64 {
			if j := d.choice[k]; j != sparse.None {
				return of[j]
			}
			return 0
		})
	}
	if low, err = end(d.l.lo); err == nil {
		high, err = end(d.l.hi)
	}
	return low, high, err
}

// slack solves w = P w + x, and more where there is a grid, for the worst scheduler
// where all of them leave the component, and for the one found otherwise, or if same
// is set.
func (d *direct) slack(mt *meter, x []float64, same bool) ([]float64, error) {
	gain := func(k int) float64 { return x[k] + d.l.round.grid*0x1p39 }
	d.guess, d.precision = x, 0.1
	if same || d.l.min && d.l.rewards {
		return d.solve(mt, gain)
	}
	return d.iterate(mt, false, gain)
}

// prove replaces the bounds by ones around candidates that are off by rounding
// only. If w = P w + x, then low - d*w and high + d*w satisfy the equations with
// slack d*x, which covers rounding once d is large enough, but less than most; bounds
// that are wider than widest by then are not taken. Upper bounds that the equations lower are above the least solution; lower bounds that they raise
// are below it, because every scheduler leaves or pays for ever.
func (l *local) prove(low, high, w []float64, most, widest float64) bool {
	lower, upper := make([]float64, len(w)), make([]float64, len(w))
	for delta := 0x1p-50; delta < most; delta *= 4 {
		for k := range w {
			l.around(lower, upper, k, low[k], high[k], delta*w[k])
			if upper[k]-lower[k] > widest*upper[k] {
				return false
			}
		}
		if how, ok := l.holds(lower, upper); ok {
			l.accept(lower, upper, how)
			return true
		}
	}
	return false
}

func (l *local) around(lower, upper []float64, k int, low, high, spread float64) {
	lower[k], upper[k] = l.round.below(max(low-spread, 0)), l.round.above(high+spread)
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
	for k, now := range chosen {
		for j := l.first[k]; j < l.first[k+1]; j++ {
			if j != now && !l.worse(k, j, x, e) && !l.same(j, now) {
				return false
			}
		}
	}
	lower, upper := make([]float64, len(x)), make([]float64, len(x))
	for k := range x {
		l.around(lower, upper, k, x[k], x[k], 1.01*e*x[k])
	}
	l.accept(lower, upper, chosen)
	return true
}

// sure reports whether nothing that mattered underflowed on the way to the
// solution x. What an operation loses comes into the solution as many times, at
// most, as there are steps until the component is left: that number is itself
// a solution, which what is lost does not put off if it is not too large.
func (d *direct) sure(x []float64) bool {
	if d.l.vague {
		return false
	}
	if d.extended != nil { // the choices are compared in doubles all the same
		return within(x, 0x1p-900, 0x1p1010)
	}
	steps := d.substitute(func(int) float64 { return 1 })
	return within(x, 0x1p-300, 0x1p300) && steps != nil && slices.Max(steps) <= 0x1p200
}

// within reports whether all values are from least to most.
func within(x []float64, least, most float64) bool {
	return slices.Min(x) >= least && slices.Max(x) <= most
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
	n := len(l.first) - 1
	out := make([]uint32, n)
	users := l.users()
	left := make([]bool, n)
	var queue []uint32
	for k := range n {
		out[k] = sparse.None
		left[k] = l.first[k] == l.first[k+1]
		for j := l.first[k]; j < l.first[k+1] && !left[k]; j++ {
			if l.exit[j] > 0 {
				out[k], left[k] = j, true
			}
		}
		if left[k] {
			queue = append(queue, uint32(k))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, j := range users.of(queue[0]) {
			if k := users.owner[j]; !left[k] {
				out[k], left[k] = j, true
				queue = append(queue, k)
			}
		}
	}
	return out
}

// users are the choices with a term in each unknown, and whose they are.
type users struct {
	start, choice, owner []uint32
}

func (u *users) of(k uint32) []uint32 { return u.choice[u.start[k]:u.start[k+1]] }

func (l *local) users() *users {
	n := len(l.first) - 1
	u := &users{start: make([]uint32, n+2), choice: make([]uint32, len(l.col)), owner: make([]uint32, len(l.exit))}
	for _, t := range l.col {
		u.start[t+2]++
	}
	for t := range n {
		u.start[t+2] += u.start[t+1]
	}
	for k := range n {
		for j := l.first[k]; j < l.first[k+1]; j++ {
			u.owner[j] = uint32(k)
			for _, t := range l.col[l.start[j]:l.start[j+1]] {
				u.choice[u.start[t+1]] = j
				u.start[t+1]++
			}
		}
	}
	return u
}

// leastPivot is the least weight by which an unknown must be left once others
// are eliminated. Dividing by it cannot overflow.
const leastPivot = 0x1p-200

// direct solves the equations under the choices made.
type direct struct {
	l      *local
	choice []uint32
	budget float64 // of operations, for each order
	err    float64 // relative error of a solution, given the equations
	back   float64 // what of it comes from putting the solution back
	fresh  bool    // the factors are those of the choices made
	// rough says that there are no factors, since they would cost more than
	// budget; then solutions start from a guess, and have some precision.
	rough     bool
	strict    bool // no such solutions are wanted
	restless  bool // the choices went on to get better
	guess     []float64
	precision float64

	*fill
	a, b     []float64 // the terms in later and earlier places; those in earlier ones divided by their pivots
	exit     []float64 // weight that leaves the component, of each place
	pivot    []float64
	extended *extendedFactors // instead of all four, where they do not do
}

func newDirect(l *local, budget float64) *direct {
	return &direct{l: l, choice: l.leaving(), budget: budget, guess: l.lower, precision: 4 * unit}
}

// row returns the columns of the choice made for k.
func (d *direct) row(k int) []uint32 {
	j := d.choice[k]
	if j == sparse.None {
		return nil
	}
	return d.l.col[d.l.start[j]:d.l.start[j+1]]
}

// constant returns the middle of the constant of the choice made for k.
func (d *direct) constant(k int) float64 {
	j := d.choice[k]
	if j == sparse.None {
		return 0
	}
	return d.l.middle(j)
}

// iterate improves the choices until none gets better, which a few rounds
// achieve, and returns the solution of x = P x + gain; nil when there is none.
func (d *direct) iterate(mt *meter, least bool, gain func(k int) float64) ([]float64, error) {
	const rounds = 30
	for range rounds {
		x, err := d.solve(mt, gain)
		if x == nil || err != nil || !d.improve(x, least, gain) {
			return x, err
		}
		d.fresh = false
	}
	d.restless = true
	return nil, nil
}

// improve takes better choices, beyond rounding, and reports whether there were any.
func (d *direct) improve(x []float64, least bool, gain func(k int) float64) bool {
	beyond := 1e-12
	if d.rough {
		beyond = 1e-9
	}
	changed := false
	for k := range d.choice {
		value := x[k]
		now := d.choice[k]
		for j := d.l.first[k]; j < d.l.first[k+1]; j++ {
			if j == now {
				continue
			}
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
// of the equations: the weights, and the constants. The solution is a quotient of
// two sums of products, all positive, each of at most one weight or constant
// per unknown. Where there are several choices the error is taken twice, for
// those that are the same but for their error.
func (d *direct) perturbation() float64 {
	sum := 0.0
	for k := range d.choice {
		most := 0.0
		for j := d.l.first[k]; j < d.l.first[k+1]; j++ {
			most = max(most, d.l.err[j])
		}
		if d.l.first[k+1]-d.l.first[k] > 1 {
			most *= 2
		}
		sum += most
	}
	return 2.02*sum + 1.01*d.l.inherited
}

// solve solves x = P x + gain under the choices made. It returns nil when that
// takes numbers that are too large or too small.
func (d *direct) solve(mt *meter, gain func(k int) float64) ([]float64, error) {
	if !d.fresh && !d.rough {
		var err error
		if d.fill, err = eliminate(mt, len(d.choice), d.row, d.budget); err != nil {
			return nil, err
		}
		d.rough = d.fill == nil
	}
	if d.rough && d.strict {
		return nil, nil
	}
	if d.rough {
		return d.roughly(mt, gain, max(leastSteps, int(min(d.budget/float64(2*stepCost*d.l.work()), 1e6))))
	}
	if !d.fresh {
		var err error
		if d.fresh, err = d.factors(mt); !d.fresh || err != nil {
			return nil, err
		}
	}
	if d.extended != nil {
		return d.substituteExtended(gain), mt.did(stepCost * (len(d.up) + len(d.low)))
	}
	return d.substitute(gain), mt.did(len(d.a) + len(d.b))
}

func (d *direct) factors(mt *meter) (bool, error) {
	if d.extended != nil {
		return d.factoriseExtended(mt)
	}
	return d.factorise(mt)
}

// factorise eliminates the unknowns in order. There are no subtractions. When
// unknown k is put into others, their equations get weights that are off by at
// most 3 roundings each, and all together by that of the pivot, which is 1. So
// the solution, as in perturbation, is put off by 7 per equation changed.
// Substituting k back adds a rounding per term and 4.
//
// Source: Grassmann, Taksar and Heyman (1985); O'Cinneide (1993) for the error,
// where all equations left are said to change.
func (d *direct) factorise(mt *meter) (bool, error) {
	n := len(d.order)
	d.a, d.b = make([]float64, len(d.up)), make([]float64, len(d.low))
	d.exit, d.pivot = make([]float64, n), make([]float64, n)
	d.bound()
	sum := make([]float64, n) // of the equation under way, by place
	for p := range n {
		work := d.gather(p, sum)
		if !(d.pivot[p] >= leastPivot) {
			return false, nil
		}
		if err := mt.did(work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// bound sets the error of a solution.
func (d *direct) bound() {
	d.back = 1.05 * unit * (float64(len(d.up)) + 4*float64(len(d.order)))
	d.err = 1.05*unit*7.1*float64(len(d.low)) + d.back
}

// gather computes the equation of place p: that of its unknown with those of the
// earlier places put in.
func (d *direct) gather(p int, sum []float64) (work int) {
	exit := d.load(p, sum)
	for i := d.lowStart[p]; i < d.lowStart[p+1]; i++ {
		q := d.low[i]
		f := sum[q] / d.pivot[q]
		sum[q] = 0
		d.b[i] = f
		if f == 0 {
			continue
		}
		exit += f * d.exit[q]
		first, end := d.upStart[q], d.upStart[q+1]
		values := d.a[first:end]
		for j, t := range d.up[first:end] {
			sum[t] += f * values[j]
		}
		work += end - first
	}
	sum[p] = 0 // a return; what matters is where it goes in the end
	d.exit[p] = exit
	total, rest := exit, 0.0 // their sum has one rounding, and those of the rest
	for i := d.upStart[p]; i < d.upStart[p+1]; i++ {
		t := d.up[i]
		x := sum[t]
		sum[t] = 0
		d.a[i] = x
		s := total + x
		back := s - total
		rest += (total - (s - back)) + (x - back)
		total = s
	}
	d.pivot[p] = total + rest
	return work
}

// load sets the sums to the terms of the choice made, and returns its exit.
func (d *direct) load(p int, sum []float64) float64 {
	k := d.order[p]
	j := d.choice[k]
	if j == sparse.None {
		return 1
	}
	for i := d.l.start[j]; i < d.l.start[j+1]; i++ {
		sum[d.place[d.l.col[i]]] += d.l.weight[i]
	}
	return d.l.exit[j]
}

// substitute solves x = P x + gain by the factors.
func (d *direct) substitute(gain func(k int) float64) []float64 {
	n := len(d.order)
	y := make([]float64, n) // by place
	for p, k := range d.order {
		v := gain(int(k))
		for i := d.lowStart[p]; i < d.lowStart[p+1]; i++ {
			v += d.b[i] * y[d.low[i]]
		}
		y[p] = v
	}
	x := make([]float64, n)
	for p, k := range slices.Backward(d.order) {
		v := y[p]
		for i := d.upStart[p]; i < d.upStart[p+1]; i++ {
			v += d.a[i] * y[d.up[i]]
		}
		v /= d.pivot[p]
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		y[p], x[k] = v, v
	}
	return x
}
