package prove

import (
	"context"
	"math"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// answer is what was solved for somebody else, on the grid of a certificate, which need not
// solve it again.
type answer struct {
	reward      *sparse.Reward // nil for a probability
	left, right *sparse.Set
	dir         solve.Direction
	grid        float64
	values      *solve.Values
}

// Until solves as package solve does, and keeps the answer for a certificate: once, as who
// asks again wants a better one. It is nil then.
func (p *Prover) Until(ctx context.Context, left, right *sparse.Set, dir solve.Direction) (*solve.Values, error) {
	a := &answer{left: left, right: right, dir: dir, grid: math.Ldexp(1, -p.least().digits())}
	if p.answered(a) != nil {
		return nil, nil
	}
	return p.keep(a)(solve.Until(ctx, p.graph, left, right, dir, solve.Options{Epsilon: p.opts.Epsilon, Grid: a.grid}))
}

// ReachReward is Until for rewards. How great they become nobody knows: the grid is that of
// the greatest reward of a step.
func (p *Prover) ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, dir solve.Direction) (*solve.Values, error) {
	exp := 0
	for _, xs := range [][]float64{r.State, r.Choice} {
		for _, x := range xs {
			if x > math.Ldexp(1, exp) {
				exp = math.Ilogb(x) + 1
			}
		}
	}
	a := &answer{reward: r, left: target, right: target, dir: dir, grid: math.Ldexp(1, exp-p.least().digits())}
	if p.answered(a) != nil || a.grid > 1 || math.IsInf(r.Err, 1) {
		return nil, nil
	}
	return p.keep(a)(solve.ReachReward(ctx, p.graph, r, target, dir, solve.Options{Epsilon: p.opts.Epsilon, Grid: a.grid}))
}

// answered returns the answer to a question that was asked before; nil is none.
func (p *Prover) answered(q *answer) *answer {
	for _, a := range p.answers {
		if a.reward == q.reward && (a.dir == q.dir || p.graph.Kind != sparse.MDP) && a.left.Equal(q.left) && a.right.Equal(q.right) {
			return a
		}
	}
	return nil
}

func (p *Prover) keep(a *answer) func(v *solve.Values, err error) (*solve.Values, error) {
	return func(v *solve.Values, err error) (*solve.Values, error) {
		if a.values = v; err == nil {
			p.answers = append(p.answers, a)
		}
		return v, err
	}
}
