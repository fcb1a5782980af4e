package solve

import "math"

// roughly solves x = P x + gain under the choices made as well as it can within
// so many steps, from a guess; nothing is known about the error. Errors are
// weighed relative to the guess.
//
// Source: van der Vorst, Bi-CGSTAB (1992).
func (d *direct) roughly(mt *meter, gain func(k int) float64, guess []float64, steps int, precision float64) ([]float64, error) {
	n := len(d.choice)
	s := &rough{d: d, unit: make([]float64, n), z: make([]float64, n), r: make([]float64, n)}
	least := 0x1p-60
	for _, v := range guess {
		least = max(least, v*0x1p-60)
	}
	for k, v := range guess {
		s.unit[k] = max(v, least)
		s.z[k] = v / s.unit[k]
	}
	for range 4 { // what rounding has spoilt is made good by starting again
		s.times(s.z, s.r)
		for k := range s.r {
			s.r[k] = gain(k)/s.unit[k] - s.r[k]
		}
		if norm(s.r) <= precision || steps <= 0 {
			break
		}
		taken, err := s.run(mt, steps, precision)
		if err != nil {
			return nil, err
		}
		steps -= taken
	}
	for k := range s.z {
		s.z[k] *= s.unit[k]
		if math.IsNaN(s.z[k]) {
			return nil, nil
		}
	}
	return s.z, nil
}

// rough is a solution under way: x is z times unit, and r what is missing in
// each equation, divided by unit.
type rough struct {
	d          *direct
	unit, z, r []float64
}

// times sets y to z - P z, with both divided by unit.
func (s *rough) times(z, y []float64) {
	l := s.d.l
	for k, j := range s.d.choice {
		y[k] = z[k]
		if lo, hi := l.start[j], l.start[j+1]; lo < hi {
			sum := 0.0
			for i := lo; i < hi; i++ {
				t := l.col[i]
				sum += l.weight[i] * s.unit[t] * z[t]
			}
			y[k] -= sum / s.unit[k]
		}
	}
}

// run takes steps until r is small, and returns their number.
func (s *rough) run(mt *meter, steps int, precision float64) (int, error) {
	n := len(s.z)
	first, p, v, t := append([]float64(nil), s.r...), make([]float64, n), make([]float64, n), make([]float64, n)
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
		if err := mt.did(5 * s.d.l.work()); err != nil {
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

func norm(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}
