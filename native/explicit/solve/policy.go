package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// climb solves a component with choices by scheduler iteration, in a way that suits
// large ones. Under one scheduler most unknowns are on no cycle, and those that are make
// small components. Between two schedulers there are some sweeps over all choices: they
// carry an improvement further than the unknowns next to it. What is found is proved as
// in direct. It reports whether that succeeded; the bounds are unchanged when it did not.
// It is given up after so many operations as budget says; then more is set.
//
// Source: Puterman, Markov Decision Processes (1994), section 6.5.
func (l *local) climb(mt *meter, eps, budget float64) (ok, more bool, err error) {
	p := newPolicy(l, mt, budget)
	x, err := p.iterate(l.lower, p.constant, p.improve)
	if x == nil || err != nil {
		return false, p.spent(), err
	}
	low, high := x, x
	if l.inherited > 0 || l.vague || l.shift > 0 {
		if low, err = p.solve(x, func(k int) float64 { return p.of(l.lo, k) }); low == nil || err != nil {
			return false, false, err
		}
		if high, err = p.solve(x, func(k int) float64 { return p.of(l.hi, k) }); high == nil || err != nil {
			return false, false, err
		}
	}
	w, err := p.slack(x)
	if w == nil || err != nil {
		return false, p.spent(), err
	}
	return l.prove(low, high, w, 1e-3, eps), false, mt.did(2 * l.work())
}

// policy is a scheduler of a component, which has a choice for each unknown.
type policy struct {
	l      *local
	mt     *meter
	choice []uint32
	end    float64 // the work at which to give up
	budget float64 // of an elimination

	// What follows is of the equations under the choices made, if fresh.
	fresh  bool
	comps  *sparse.Components
	parts  []*direct // the components of several unknowns, in their order
	number []uint32  // of each unknown in its component
}

// newPolicy starts with the choices that are best for the lower bounds, but not with
// ones by which a component is never left.
func newPolicy(l *local, mt *meter, budget float64) *policy {
	n := len(l.first) - 1
	p := &policy{l: l, mt: mt, choice: make([]uint32, n), end: mt.sofar() + budget, budget: budget, number: make([]uint32, n)}
	for k := range p.choice {
		_, p.choice[k] = l.down0(k, l.lower)
	}
	if !l.min || !l.rewards {
		return p
	}
	p.decompose()
	out := l.leaving()
	left := sparse.NewSet(n)
	for i := range p.comps.Num() {
		members := p.comps.Members(i)
		leaves := slices.ContainsFunc(members, func(k uint32) bool {
			j := p.choice[k]
			return j == sparse.None || l.exit[j] > 0 || slices.ContainsFunc(p.row(k), func(t uint32) bool { return left.Has(int(t)) })
		})
		for _, k := range members {
			if leaves {
				left.Add(int(k))
			} else {
				p.choice[k], p.fresh = out[k], false
			}
		}
	}
	return p
}

func (p *policy) spent() bool { return p.mt.sofar() > p.end }

// row returns the columns of the choice made for k.
func (p *policy) row(k uint32) []uint32 {
	j := p.choice[k]
	if j == sparse.None {
		return nil
	}
	return p.l.col[p.l.start[j]:p.l.start[j+1]]
}

// of returns a constant of the choice made for k.
func (p *policy) of(constants []float64, k int) float64 {
	if j := p.choice[k]; j != sparse.None {
		return constants[j]
	}
	return 0
}

func (p *policy) constant(k int) float64 {
	lo, hi := p.of(p.l.lo, k), p.of(p.l.hi, k)
	return lo + (hi-lo)/2
}

// rounds is how many schedulers are tried. Each is better than the one before, and a
// few dozen do on any model; but where rounding is as large as what is gained they go
// round in circles, which on two unknowns would take the budget years.
const rounds = 1000

// iterate improves the choices until improve has none better, and returns the
// solution of x = P x + gain; nil when it finds none.
func (p *policy) iterate(x []float64, gain func(k int) float64, improve func(x []float64) (bool, error)) ([]float64, error) {
	for range rounds {
		var err error
		if x, err = p.solve(x, gain); x == nil || err != nil {
			return nil, err
		}
		if p.spent() {
			return nil, nil
		}
		changed, err := improve(x)
		if err != nil || !changed {
			return x, err
		}
		p.fresh = false
	}
	return nil, nil
}

// improvements is the number of sweeps between two schedulers.
const improvements = 4

// improve takes better choices, beyond rounding, in a few sweeps that start from x, and
// reports whether there were any.
func (p *policy) improve(x []float64) (bool, error) {
	l := p.l
	beyond := 1 - p.accuracy()
	changed := false
	for range improvements {
		better := false
		for k, now := range p.choice {
			if now == sparse.None {
				continue
			}
			best, value := now, l.middle(now)+l.terms(now, x)
			for j := l.first[k]; j < l.first[k+1]; j++ {
				v := l.middle(j) + l.terms(j, x)
				if l.min && v < value*beyond || !l.min && v*beyond > value {
					best, value = j, v
				}
			}
			x[k] = value
			if best != now {
				p.choice[k], better = best, true
			}
		}
		changed = changed || better
		if err := p.mt.did(l.work()); err != nil || !better {
			return changed, err
		}
	}
	return changed, nil
}

// accuracy is the relative difference beyond which a choice is better than another.
func (p *policy) accuracy() float64 {
	for _, d := range p.parts {
		if d.rough {
			return 1e-9
		}
	}
	return 1e-12
}

// slack returns a solution of w = P w + x, and more where there is a grid, that is not
// much below P w + x for any choice that is as good as the best, or nearly.
func (p *policy) slack(x []float64) ([]float64, error) {
	l := p.l
	const nearly = 1e-9
	start, near := make([]uint32, len(x)+1), make([]uint32, 0, len(x))
	for k := range x {
		for j := l.first[k]; j < l.first[k+1]; j++ {
			if math.Abs(l.middle(j)+l.terms(j, x)-x[k]) <= nearly*x[k] {
				near = append(near, j)
			}
		}
		start[k+1] = uint32(len(near))
	}
	gain := func(k int) float64 { return x[k] + l.round.grid*0x1p39 }
	return p.iterate(x, gain, func(w []float64) (bool, error) {
		changed := false
		for k, now := range p.choice {
			most := w[k]
			for _, j := range near[start[k]:start[k+1]] {
				if v := gain(k) + l.terms(j, w); j != now && v > most+x[k]/2 {
					most, p.choice[k], changed = v, j, true
				}
			}
			w[k] = most
		}
		return changed, p.mt.did(len(near))
	})
}

// solve solves x = P x + gain under the choices made. It returns nil when that
// takes too long or too large numbers. Where it is iterated it starts from a guess.
func (p *policy) solve(guess []float64, gain func(k int) float64) ([]float64, error) {
	if !p.fresh {
		p.decompose()
		p.parts = p.parts[:0]
	}
	x := make([]float64, len(p.choice))
	parts := 0
	for i := range p.comps.Num() {
		members := p.comps.Members(i)
		if len(members) == 1 {
			k := members[0]
			if x[k] = gain(int(k)); p.choice[k] != sparse.None {
				x[k] += p.l.terms(p.choice[k], x)
			}
			continue
		}
		if parts++; parts > len(p.parts) {
			p.parts = append(p.parts, p.part(members))
		}
		if ok, err := p.solvePart(p.parts[parts-1], members, x, guess, gain); !ok || err != nil {
			return nil, err
		}
	}
	p.fresh = true
	return x, p.mt.did(len(p.l.first) * 8)
}

// solvePart solves the equations of a component, those of its successors being solved.
func (p *policy) solvePart(d *direct, members []uint32, x, guess []float64, gain func(k int) float64) (bool, error) {
	d.guess = make([]float64, len(members))
	gains := make([]float64, len(members))
	for i, k := range members {
		// Those of the component itself are zero still.
		d.guess[i], gains[i] = guess[k], gain(int(k))+p.l.terms(p.choice[k], x)
	}
	part, err := d.solve(p.mt, func(i int) float64 { return gains[i] })
	if part == nil || err != nil {
		return false, err
	}
	for i, k := range members {
		x[k] = part[i]
	}
	return true, nil
}

// decompose finds the components of the equations under the choices made.
func (p *policy) decompose() {
	m := &sparse.Model{Kind: sparse.DTMC, Start: make([]uint32, 1, len(p.choice)+1), Target: make([]uint32, 0, 2*len(p.choice))}
	for k := range p.choice {
		m.Target = append(m.Target, p.row(uint32(k))...)
		m.Start = append(m.Start, uint32(len(m.Target)))
	}
	p.comps = m.Components(nil, nil)
}

// part copies the equations of a component of several unknowns.
func (p *policy) part(members []uint32) *direct {
	l := p.l
	sub := &local{first: make([]uint32, 0, len(members)+1), start: make([]uint32, 0, len(members)+1), exit: make([]float64, 0, len(members))}
	d := &direct{l: sub, choice: make([]uint32, len(members)), budget: p.budget, precision: 4 * unit}
	for i, k := range members {
		p.number[k] = uint32(i)
	}
	id := p.comps.ID[members[0]]
	for i, k := range members {
		j := p.choice[k]
		d.choice[i] = uint32(i)
		sub.first, sub.start = append(sub.first, uint32(i)), append(sub.start, uint32(len(sub.col)))
		exit := l.exit[j]
		for t := l.start[j]; t < l.start[j+1]; t++ {
			if to := l.col[t]; p.comps.ID[to] == id {
				sub.col, sub.weight = append(sub.col, p.number[to]), append(sub.weight, l.weight[t])
			} else {
				exit += l.weight[t]
			}
		}
		sub.exit = append(sub.exit, exit)
	}
	sub.first, sub.start = append(sub.first, uint32(len(members))), append(sub.start, uint32(len(sub.col)))
	return d
}
