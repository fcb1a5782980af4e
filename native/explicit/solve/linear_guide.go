package solve

import (
	"context"
	"math"
	"math/big"
	"slices"
)

// guide is a tableau of doubles, which finds the variables of the best solution
// fast, and often right. Right sides are made to differ a little, so that no step
// is without progress.
type guide struct {
	rows  [][]float64 // the last column is the right side
	gain  []float64
	basis []int
}

const (
	guideZero  = 1e-9 // less is taken for zero
	guideShift = 1e-9 // of the right sides
)

// guess returns the variables of a solution that is likely to be the best, or to
// show that there is none, as tableau.basis; nil if that was not found.
func (p *LinearProgram) guess(ctx context.Context) []int {
	n := len(p.Gain)
	g := &guide{gain: make([]float64, n+1)}
	for i, row := range p.Rows {
		r := make([]float64, n+1)
		for _, t := range row {
			r[t.Var], _ = t.Coeff.Float64()
		}
		if r[n], _ = p.Right[i].Float64(); r[n] < 0 {
			for j := range r {
				r[j] = -r[j]
			}
		}
		r[n] += guideShift * (1 + math.Mod(float64(i)*math.Phi, 1))
		g.rows, g.basis = append(g.rows, r), append(g.basis, n+i)
		for j, x := range r {
			g.gain[j] += x
		}
	}
	// The artificial variables are to be nothing; then they are to stay so.
	if !g.run(ctx) || g.gain[n] > 1e-6 {
		return g.basis
	}
	for j := range n {
		g.gain[j] = 0
		if p.Gain[j] != nil {
			g.gain[j], _ = p.Gain[j].Float64()
		}
	}
	for i, j := range g.basis {
		if j < n {
			g.price(i, g.gain[j])
		}
	}
	g.run(ctx)
	return g.basis
}

// run takes steps to better solutions, and reports whether it came to an end.
func (g *guide) run(ctx context.Context) bool {
	n := len(g.gain) - 1
	for range 20 * (n + len(g.rows)) {
		j := 0
		for k := range n {
			if g.gain[k] > g.gain[j] {
				j = k
			}
		}
		if n == 0 || g.gain[j] <= guideZero || ctx.Err() != nil {
			return true
		}
		best := -1
		for i, r := range g.rows {
			if r[j] > guideZero && (best < 0 || r[n]*g.rows[best][j] < g.rows[best][n]*r[j]) {
				best = i
			}
		}
		if best < 0 {
			return false
		}
		g.pivot(best, j)
	}
	return false
}

func (g *guide) pivot(i, j int) {
	row := g.rows[i]
	inverse := 1 / row[j]
	for k := range row {
		row[k] *= inverse
	}
	for r, other := range g.rows {
		if f := other[j]; r != i && f != 0 {
			for k, x := range row {
				other[k] -= f * x
			}
			other[j] = 0
		}
	}
	g.price(i, g.gain[j])
	g.gain[j] = 0
	g.basis[i] = j
}

func (g *guide) price(i int, gain float64) {
	for k, x := range g.rows[i] {
		g.gain[k] -= gain * x
	}
}

// start returns a basic solution to begin with: the one guessed, if it is one.
func (p *LinearProgram) start(ctx context.Context) (*tableau, error) {
	t := p.tableau()
	wanted := map[int]bool{}
	for _, j := range p.guess(ctx) {
		wanted[j] = true
	}
	for j := range p.Gain {
		if !wanted[j] {
			continue
		}
		best := -1
		for i, now := range t.basis {
			if !wanted[now] && t.coeff(i, j) != nil && (best < 0 || len(t.rows[i]) < len(t.rows[best])) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		if err := t.pivot(ctx, best, j); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(t.right, func(x *big.Rat) bool { return x.Sign() < 0 }) {
		return p.tableau(), nil
	}
	return t, nil
}
