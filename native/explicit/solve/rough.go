package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// stepCost is what a step of roughly costs, in sweeps.
const stepCost = 5

// leastSteps is how many are taken at least: as many as it needs where iteration
// is slow for one reason only, such as a rare exit.
const leastSteps = 24

// roughly solves x = P x + gain under the choices made as well as it can within
// so many steps, or returns nil if that is badly; nothing is known about the
// error. Errors are weighed relative to the guess.
//
// Source: van der Vorst, Bi-CGSTAB (1992).
func (d *direct) roughly(mt *meter, gain func(k int) float64, steps int) ([]float64, error) {
	n := len(d.choice)
	x := slices.Clone(d.guess)
	s := &rough{d: d, unit: make([]float64, n), z: make([]float64, n), r: make([]float64, n)}
	left := math.Inf(1)
	// What rounding has spoilt is made good by starting again, and now and then
	// there is a better measure for errors.
	for futile := 0; ; {
		s.measure(x, gain)
		before := left
		if left = norm(s.r); left > before/4 {
			futile++
		}
		if left <= d.precision || steps <= 0 || futile > 3 || math.IsNaN(left) {
			break
		}
		taken, err := s.run(mt, steps, max(d.precision, left*1e-6))
		if err != nil {
			return nil, err
		}
		steps -= taken
		for k, z := range s.z {
			x[k] = z * s.unit[k]
		}
		for k, j := range d.choice { // a sweep, for what the steps do not get right
			if x[k] = gain(k); j != sparse.None {
				x[k] += d.l.terms(j, x)
			}
		}
	}
	if !(left <= max(4*d.precision, 1e-9)) {
		return nil, nil
	}
	return x, nil
}

// rough is a solution under way: x is z times unit, and r what is missing in
// each equation, divided by unit.
type rough struct {
	d          *direct
	unit, z, r []float64
}

// measure sets the units so that a solution x has z = 1, or less where it is
// very small, and r to what is missing.
func (s *rough) measure(x []float64, gain func(k int) float64) {
	least := max(norm(x), 1) * 0x1p-60
	for k, v := range x {
		s.unit[k] = max(math.Abs(v), least)
		s.z[k] = v / s.unit[k]
	}
	s.times(s.z, s.r)
	for k := range s.r {
		s.r[k] = gain(k)/s.unit[k] - s.r[k]
	}
}

// times sets y to z - P z, with both divided by unit.
func (s *rough) times(z, y []float64) {
	l := s.d.l
	inParts(len(s.d.choice), 4000, func(from, to int) {
		for k := from; k < to; k++ {
			y[k] = z[k]
			j := s.d.choice[k]
			if j == sparse.None {
				continue
			}
			sum := 0.0
			for i := l.start[j]; i < l.start[j+1]; i++ {
				t := l.col[i]
				sum += l.weight[i] * s.unit[t] * z[t]
			}
			y[k] -= sum / s.unit[k]
		}
	})
}

// run takes steps until r is small, and returns their number.
func (s *rough) run(mt *meter, steps int, precision float64) (int, error) {
	n := len(s.z)
	first, p, v, t := slices.Clone(s.r), make([]float64, n), make([]float64, n), make([]float64, n)
	rho, alpha, omega := 1.0, 1.0, 1.0
	for step := range steps {
		next := dot(first, s.r)
		beta := next / rho * alpha / omega
		rho = next
		for k := range p {
			p[k] = s.r[k] + beta*(p[k]-omega*v[k])
		}
		s.times(p, v)
		alpha = rho / dot(first, v)
		for k := range p {
			s.r[k] -= alpha * v[k]
		}
		s.times(s.r, t)
		omega = dot(t, s.r) / dot(t, t)
		if x := alpha * omega; math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
			return step + 1, nil
		}
		for k := range p {
			s.z[k] += alpha*p[k] + omega*s.r[k]
			s.r[k] -= omega * t[k]
		}
		if err := mt.did(stepCost * s.d.l.work()); err != nil {
			return step, err
		}
		if norm(s.r) <= precision {
			return step + 1, nil
		}
	}
	return steps, nil
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for k, v := range x {
		sum += v * y[k]
	}
	return sum
}

// norm is the greatest magnitude; NaN if there is a NaN.
func norm(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}
