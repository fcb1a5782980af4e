package solve

import (
	"math"
	"slices"
)

// visits are equations w = begin + w P: how often each unknown of a local system, whose own
// equations are x = P x + c, is visited before all of them are left. All of them can be.
type visits struct {
	*local
	begin []float64
	start []uint32 // of the terms of each equation
	from  []uint32 // the other unknowns in them, and how likely these are followed by it
	prob  []float64
	off   float64 // relative error of an equation
}

func newVisits(l *local) *visits {
	n := len(l.first) - 1
	v := &visits{
		local: l, begin: make([]float64, n), start: make([]uint32, n+2), from: make([]uint32, len(l.col)), prob: make([]float64, len(l.col)),
	}
	for _, t := range l.col {
		v.start[t+2]++
	}
	most := 0
	for t := range n {
		most = max(most, int(v.start[t+2]))
		v.start[t+2] += v.start[t+1]
	}
	for k := range n { // a chain has one choice each
		for i := l.start[k]; i < l.start[k+1]; i++ {
			at := &v.start[l.col[i]+1]
			v.from[*at], v.prob[*at] = uint32(k), l.weight[i]
			*at++
		}
	}
	v.start = v.start[:n+1]
	v.off = 1.05 * (slices.Max(l.err) + l.round.row(most))
	return v
}

// visitBudget is how many operations elimination may take: some seconds' worth.
const visitBudget = 1 << 32

// solve returns bounds on w. It reports whether they are narrow.
func (v *visits) solve(mt *meter, opts Options) (out []amount, ok bool, err error) {
	d := newDirect(v.local, visitBudget)
	if d.fill, err = eliminate(mt, len(v.begin), d.row, d.budget); err != nil {
		return nil, false, err
	}
	if d.fill != nil {
		fit, err := d.factorise(mt)
		if err != nil {
			return nil, false, err
		}
		if fit {
			w := d.against(v.begin)
			if out, ok = v.bounds(w, d.against(w), opts.epsilon()); out != nil { // as narrow as rounding lets them be
				return out, ok, nil
			}
		}
	}
	return v.sweeps(mt, opts)
}

// sweeps is solve by iteration.
func (v *visits) sweeps(mt *meter, opts Options) (out []amount, ok bool, err error) {
	w, u := slices.Clone(v.begin), make([]float64, len(v.begin))
	done, limit := 0, opts.maxSweeps()
	for more := firstSweeps; done < limit; more *= 2 {
		for range min(more, limit-done) {
			v.sweep(w, v.begin)
			v.sweep(u, w)
			done++
			mt.progress.Sweeps++
			if err := mt.did(2 * v.work()); err != nil {
				return nil, false, err
			}
		}
		if now, narrow := v.bounds(w, u, opts.epsilon()); now != nil {
			if out = now; narrow {
				return out, true, nil
			}
		}
	}
	if out == nil {
		out = slices.Repeat([]amount{{hi: math.Inf(1)}}, len(w))
	}
	return out, false, nil
}

// sweep brings x closer to begin + x P, by one Gauss-Seidel sweep.
func (v *visits) sweep(x, begin []float64) {
	for k := range x {
		x[k] = begin[k] + v.into(k, x)
	}
}

// into is how often an unknown is entered from others that are visited as x says.
func (v *visits) into(k int, x []float64) float64 {
	sum := 0.0
	for i := v.start[k]; i < v.start[k+1]; i++ {
		sum += v.prob[i] * x[v.from[i]]
	}
	return sum
}

// bounds returns bounds on the solution around w, nil if there are none, and reports whether they
// are narrow. If every equation gives w but for a part r of it, then w is off by the
// solution of e = r w + e P at most. That is at most r u for any u that is
// w + u P or more, in every equation.
func (v *visits) bounds(w, u []float64, width float64) (out []amount, narrow bool) {
	if w == nil || u == nil || !within(w, 0x1p-300, 0x1p300) || !within(u, 0x1p-300, 0x1p300) {
		return nil, false
	}
	off, more := 0.0, 0.0
	for k := range w {
		x := v.begin[k] + v.into(k, w)
		off = max(off, (math.Abs(w[k]-x)+v.off*(w[k]+x))/w[k])
		least := u[k]*(1-v.off) - v.into(k, u)*(1+v.off)
		if !(least > 0) {
			return nil, false
		}
		more = max(more, w[k]/least)
	}
	narrow = true
	for k := range w {
		spread := 1.01 * off * more * u[k]
		out = append(out, amount{lo: v.round.down(w[k]-spread, 2*unit), hi: v.round.up(w[k]+spread, 2*unit)})
		narrow = narrow && spread <= width/2*w[k]
	}
	return out, narrow
}

// against solves w = begin + w P by the factors.
func (d *direct) against(begin []float64) []float64 {
	z := make([]float64, len(d.order)) // by place
	for p, k := range d.order {
		z[p] = begin[k]
	}
	for p := range z {
		z[p] /= d.pivot[p]
		for i := d.upStart[p]; i < d.upStart[p+1]; i++ {
			z[d.up[i]] += d.a[i] * z[p]
		}
	}
	w := make([]float64, len(z))
	for p, k := range slices.Backward(d.order) {
		for i := d.lowStart[p]; i < d.lowStart[p+1]; i++ {
			z[d.low[i]] += d.b[i] * z[p]
		}
		w[k] = z[p]
	}
	return w
}
