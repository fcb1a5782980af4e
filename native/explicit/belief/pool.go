package belief

import (
	"context"
	"math"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// policy is a strategy without memory: the number of the action, or Any, wherever an
// observation is shown.
type policy []int

// pool are strategies without memory, and what each is worth in every state: a cut-off
// that no player has to fear.
type pool struct {
	*game
	policies []policy
	worth    [][]float64
}

// pooledStates is the size of a model up to which strategies are improved one
// observation after the other, and maxTries how many are tried for that.
const (
	pooledStates = 20_000
	maxTries     = 400
)

func (g *game) observations() int {
	n := uint32(0)
	for _, o := range g.Observation {
		n = max(n, o+1)
	}
	return int(n)
}

// newPool tries strategies: that which takes every action with the same probability,
// one that is greedy for the optimist's values, and what comes of it, for a start, by
// changing one observation's action after the other.
func newPool(ctx context.Context, o *optimist, start uint32, opts solve.Options) (*pool, error) {
	p := &pool{game: o.game}
	n := o.observations()
	anything := make(policy, n)
	for i := range anything {
		anything[i] = Any
	}
	greedy := o.greedy(n)
	for _, x := range []policy{anything, greedy} {
		if _, err := p.add(ctx, x, opts); err != nil {
			return nil, err
		}
	}
	return p, p.climb(ctx, greedy, start, opts)
}

// greedy returns the strategy that takes what is best if all states that show the same
// are as likely.
func (o *optimist) greedy(n int) policy {
	sums := make([][]float64, n)
	for s, shown := range o.Observation {
		if sums[shown] == nil {
			sums[shown] = make([]float64, o.actions(uint32(s)))
		}
		for k := range sums[shown] {
			sums[shown][k] += o.q[o.slot(s, k)]
		}
	}
	out := make(policy, n)
	for shown, x := range sums {
		for k := range x {
			if o.better(x[k], x[out[shown]]) {
				out[shown] = k
			}
		}
	}
	return out
}

// add evaluates a strategy and keeps it.
func (p *pool) add(ctx context.Context, x policy, opts solve.Options) ([]float64, error) {
	worth, err := p.value(ctx, x, opts)
	if err == nil {
		p.policies, p.worth = append(p.policies, x), append(p.worth, worth)
	}
	return worth, err
}

// value returns what a strategy is worth at least, in every state.
func (p *pool) value(ctx context.Context, x policy, opts solve.Options) ([]float64, error) {
	b := sparse.NewBuilder(sparse.DTMC)
	reward := &sparse.Reward{Err: 0x1p-53}
	for s := range p.m.NumStates() {
		b.State()
		action := x[p.Observation[s]]
		for _, t := range p.row(uint32(s), action) {
			b.AddRat(int(t.to), t.chance, sparse.NoAction)
		}
		if p.Reward != nil {
			reward.State = append(reward.State, double(p.mean(uint32(s), action)))
		}
	}
	m, err := b.Finish()
	if err != nil {
		return nil, err
	}
	v, err := p.solve(ctx, sparse.NewGraph(m), opts, reward)
	if err != nil {
		return nil, err
	}
	return p.pessimistic(v), nil
}

// solve returns the values of the problem in a model with the same states.
func (g *game) solve(ctx context.Context, graph *sparse.Graph, opts solve.Options, reward *sparse.Reward) (*solve.Values, error) {
	if g.Reward != nil {
		return solve.ReachReward(ctx, graph, reward, g.Target, g.Direction, opts)
	}
	return solve.Until(ctx, graph, g.Left, g.Target, g.Direction, opts)
}

// pessimistic and optimistic return the bounds on the player's bad and good side.
func (g *game) pessimistic(v *solve.Values) []float64 {
	if g.Direction == solve.Max {
		return v.Lower
	}
	return v.Upper
}

func (g *game) optimistic(v *solve.Values) []float64 {
	if g.Direction == solve.Max {
		return v.Upper
	}
	return v.Lower
}

// climb changes the action of one observation after the other while that helps.
func (p *pool) climb(ctx context.Context, from policy, start uint32, opts solve.Options) error {
	if p.m.NumStates() > pooledStates {
		return nil
	}
	best, tries := p.worth[len(p.worth)-1][start], 0
	for changed := true; changed; {
		changed = false
		for shown, s := range p.leaders() {
			for k := range p.actions(s) {
				if p.over.Has(int(s)) || k == from[shown] {
					continue
				}
				if tries++; tries > maxTries {
					return nil
				}
				x := append(policy(nil), from...)
				x[shown] = k
				worth, err := p.value(ctx, x, opts)
				if err != nil {
					return err
				}
				if w := worth[start]; p.better(w, best) && math.Abs(w-best) > 1e-9*math.Abs(w) {
					p.policies, p.worth = append(p.policies, x), append(p.worth, worth)
					from, best, changed = x, w, true
				}
			}
		}
	}
	return nil
}

// leaders returns the first state that shows each observation.
func (g *game) leaders() []uint32 {
	out := make([]uint32, g.observations())
	for s := len(g.Observation) - 1; s >= 0; s-- {
		out[g.Observation[s]] = uint32(s)
	}
	return out
}

// bound is the cut-off of a belief: what the best strategy of the pool is worth under
// it, and which that is.
func (p *pool) bound(b *belief) (float64, int) {
	best, by := 0.0, 0
	for i := range p.policies {
		x, off := b.estimate(func(s uint32) float64 { return p.worth[i][s] })
		if x = p.against(x, off); i == 0 || p.better(x, best) {
			best, by = x, i
		}
	}
	return best, by
}

// against moves a value to the player's bad side by a relative error.
func (g *game) against(x, off float64) float64 {
	if g.Direction == solve.Max {
		return math.Max(0, x*(1-2*off))
	}
	x *= 1 + 2*off
	if g.Reward == nil {
		return min(x, 1)
	}
	return x
}
