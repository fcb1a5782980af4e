package prove

import (
	"context"
	"math"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// sharedSolution is a solution that the engine computed on the grid of a certificate, so that the prover need not solve again.
type sharedSolution struct {
	reward      *sparse.Reward // nil for a probability
	left, right *sparse.Set
	direction   solve.Direction
	grid        float64
	values      *solve.Values
}

// Until calls solve.Until and keeps the solution for a certificate.
// It returns nil if this question was asked before: the caller then wants a better answer than the one kept.
func (p *Prover) Until(ctx context.Context, left, right *sparse.Set, dir solve.Direction) (*solve.Values, error) {
	a := &sharedSolution{left: left, right: right, direction: dir, grid: math.Ldexp(1, -p.firstEffort().gridBits())}
	if p.findShared(a) != nil {
		return nil, nil
	}
	return p.recordShared(a)(solve.Until(ctx, p.graph, left, right, dir, solve.Options{Epsilon: p.opts.Epsilon, Grid: a.grid}))
}

// ReachReward is Until for rewards. The greatest expected reward is not known in advance,
// so the grid is chosen for the greatest reward of one step.
func (p *Prover) ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, dir solve.Direction) (*solve.Values, error) {
	exp := 0
	for _, xs := range [][]float64{r.State, r.Choice} {
		for _, x := range xs {
			if x > math.Ldexp(1, exp) {
				exp = math.Ilogb(x) + 1
			}
		}
	}
	a := &sharedSolution{reward: r, left: target, right: target, direction: dir, grid: math.Ldexp(1, exp-p.firstEffort().gridBits())}
	if p.findShared(a) != nil || a.grid > 1 || math.IsInf(r.Err, 1) {
		return nil, nil
	}
	return p.recordShared(a)(solve.ReachReward(ctx, p.graph, r, target, dir, solve.Options{Epsilon: p.opts.Epsilon, Grid: a.grid}))
}

// findShared returns the kept solution of the same question; nil if there is none.
func (p *Prover) findShared(q *sharedSolution) *sharedSolution {
	for _, a := range p.shared {
		if a.reward == q.reward && (a.direction == q.direction || p.graph.Kind != sparse.MDP) && a.left.Equal(q.left) && a.right.Equal(q.right) {
			return a
		}
	}
	return nil
}

// recordShared returns a function that adds the result of a solver to the kept solutions.
func (p *Prover) recordShared(a *sharedSolution) func(v *solve.Values, err error) (*solve.Values, error) {
	return func(v *solve.Values, err error) (*solve.Values, error) {
		if a.values = v; err == nil {
			p.shared = append(p.shared, a)
		}
		return v, err
	}
}
