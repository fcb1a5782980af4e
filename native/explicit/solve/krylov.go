package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// combine improves what it is worth to start in one state rather than another by
// combinations of sweeps, as long as four of them halve what is between the bounds
// known: h is left as it was. It makes as many sweeps as there may be, about.
func (a *averager) combine(members []uint32, work int, known interval, sweeps int) (lo, hi float64, err error) {
	// Those that were found later go first: most transitions lead to states found before or soon after.
	near := slices.Sorted(slices.Values(members))
	slices.Reverse(near)
	swept := a.h
	for i, s := range near {
		a.ws.number[s] = uint32(i)
	}
	a.h = make([]float64, len(near))
	for i, s := range members {
		a.h[a.ws.number[s]] = swept[i]
	}
	defer func() {
		a.ws.forget(members)
		a.h = swept
	}()
	k := newKrylov(a, near)
	did := func() error {
		sweeps--
		a.mt.progress.Sweeps++
		return a.mt.did(work)
	}
	lo, hi = known.lo, known.hi
	average := lo + (hi-lo)/2
	for sweeps > 0 {
		before := hi - lo
		for range 4 {
			better, ok, err := k.improve(average, did)
			if err != nil || !ok {
				return lo, hi, err
			}
			average = better
			for range 4 {
				a.relax(near, average)
				if err := did(); err != nil {
					return lo, hi, err
				}
			}
			l, h := a.gains(near)
			if l != l || h != h {
				return lo, hi, nil
			}
			if lo, hi = max(lo, l), min(hi, h); a.narrow(lo, hi) {
				return lo, hi, nil
			}
		}
		if !(hi-lo < before/2) {
			break
		}
	}
	return lo, hi, nil
}

// krylov looks for what it is worth to start in each state of a bottom component and for
// the average, all at once: where sweeps converge slowly it combines many of them.
// What comes out is a guess like that of a sweep.
//
// Source: Saad and Schultz, GMRES (1986), preconditioned by a sweep; Stewart,
// Introduction to the Numerical Solution of Markov Chains (1994), section 4.4.
type krylov struct {
	a       *averager
	members []uint32
	basis   []direction
	// of the least-squares problem: columns of a triangular matrix, rotations, and what is left.
	r        [][]float64
	cos, sin []float64
	rest     []float64
}

// direction is a change of h, and of the average.
type direction struct {
	h       []float64
	average float64
}

const (
	// directions is how many sweeps are combined.
	directions = 20
	// enoughLess is by how much less must be left over to stop before that.
	enoughLess = 1e-4
)

func newKrylov(a *averager, members []uint32) *krylov {
	k := &krylov{a: a, members: members}
	for range directions + 1 {
		k.basis = append(k.basis, direction{h: make([]float64, len(members))})
	}
	return k
}

// improve moves h, and returns a better average. It reports false where it found nothing.
func (k *krylov) improve(average float64, did func() error) (better float64, ok bool, err error) {
	k.r, k.cos, k.sin, k.rest = nil, nil, nil, nil
	first := &k.basis[0]
	k.sweep(first.h, k.a.h, average, k.a.y.reward)
	k.parts(func(_, from, to int) {
		for i, x := range k.a.h[from:to] {
			first.h[from+i] -= x
		}
	})
	first.average = 0 // all states together are worth what they were
	size := math.Sqrt(k.dot(first, first))
	if !(size > 0) || math.IsInf(size, 1) {
		return average, false, did()
	}
	k.scale(first, 1/size)
	k.rest = append(k.rest, size)
	for j, more := 0, true; more && j < directions; j++ {
		if err := did(); err != nil {
			return average, false, err
		}
		more = k.extend(j)
	}
	y := k.solution()
	better = average
	for j, y := range y {
		better += y * k.basis[j].average
	}
	if better != better || math.IsInf(better, 0) {
		return average, false, nil
	}
	k.parts(func(_, from, to int) {
		for j, y := range y {
			v := k.basis[j].h
			for i := from; i < to; i++ {
				k.a.h[i] += y * v[i]
			}
		}
	})
	return better, true, nil
}

// extend adds to the basis what a sweep makes of its last direction. It reports false if
// that is nothing new.
func (k *krylov) extend(j int) bool {
	from, to := &k.basis[j], &k.basis[j+1]
	k.sweep(to.h, from.h, from.average, nil)
	var sums [krylovParts]float64
	k.parts(func(part, a, b int) {
		for i := a; i < b; i++ {
			to.h[i] = from.h[i] - to.h[i]
			sums[part] += from.h[i]
		}
	})
	to.average = total(sums) / math.Sqrt(float64(len(from.h)))
	column := make([]float64, j+2)
	for i := range column[:j+1] {
		column[i] = k.dot(&k.basis[i], to)
		k.add(to, -column[i], &k.basis[i])
	}
	left := math.Sqrt(k.dot(to, to))
	if column[j+1] = left; left > 0 {
		k.scale(to, 1/left)
	}
	for i := range j {
		column[i], column[i+1] = k.cos[i]*column[i]+k.sin[i]*column[i+1], k.cos[i]*column[i+1]-k.sin[i]*column[i]
	}
	size := math.Hypot(column[j], column[j+1])
	if !(size > 0) || math.IsInf(size, 1) {
		return false
	}
	k.cos, k.sin = append(k.cos, column[j]/size), append(k.sin, column[j+1]/size)
	column[j] = size
	k.r = append(k.r, column[:j+1])
	k.rest = append(k.rest, -k.sin[j]*k.rest[j])
	k.rest[j] *= k.cos[j]
	return left > 0 && math.Abs(k.rest[j+1]) > enoughLess*math.Abs(k.rest[0])
}

// solution returns how much of each direction leaves the least.
func (k *krylov) solution() []float64 {
	y := make([]float64, len(k.r))
	for i := len(y) - 1; i >= 0; i-- {
		y[i] = k.rest[i]
		for j := i + 1; j < len(y); j++ {
			y[i] -= k.r[j][i] * y[j]
		}
		y[i] /= k.r[i][i]
	}
	return y
}

// sweep writes to next what a sweep makes of h, where an average is taken from what each
// state earns. In each part a state follows those before it, whatever the number of processors.
func (k *krylov) sweep(next, h []float64, average float64, earned *sparse.Reward) {
	k.parts(func(_, from, to int) {
		copy(next[from:to], h[from:to])
		k.a.sweep(k.members, from, to, next, h, average, earned)
	})
}

// krylovParts is how many parts of a component are swept at the same time: a number that
// does not depend on the machine.
const krylovParts = 2

func (k *krylov) parts(do func(part, from, to int)) {
	n := len(k.members)
	inParts(krylovParts, 1, func(from, to int) {
		for part := from; part < to; part++ {
			do(part, part*n/krylovParts, (part+1)*n/krylovParts)
		}
	})
}

func total(sums [krylovParts]float64) (sum float64) {
	for _, x := range sums {
		sum += x
	}
	return sum
}

func (k *krylov) dot(x, y *direction) float64 {
	var sums [krylovParts]float64
	k.parts(func(part, from, to int) {
		sum, b := 0.0, y.h[from:to]
		for i, x := range x.h[from:to] {
			sum += x * b[i]
		}
		sums[part] = sum
	})
	return total(sums) + x.average*y.average
}

func (k *krylov) add(to *direction, factor float64, x *direction) {
	to.average += factor * x.average
	k.parts(func(_, from, end int) {
		b := to.h[from:end]
		for i, x := range x.h[from:end] {
			b[i] += factor * x
		}
	})
}

func (k *krylov) scale(x *direction, factor float64) {
	x.average *= factor
	k.parts(func(_, from, to int) {
		for i := from; i < to; i++ {
			x.h[i] *= factor
		}
	})
}
