package belief

import (
	"context"
	"math"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// memoryless is a strategy without memory: an action (or Any) for each observation.
type memoryless []int

// pool has memoryless strategies with pessimistic bounds on their values in every state. They bound the
// value of any belief.
type pool struct {
	*pomdp
	strategies []memoryless
	values     [][]float64
}

// Strategies are improved by local search in models of at most pooledStates states, with at most
// maxTries evaluations.
const (
	pooledStates = 20_000
	maxTries     = 400
)

func (g *pomdp) numObservations() int {
	n := uint32(0)
	for _, o := range g.Observation {
		n = max(n, o+1)
	}
	return int(n)
}

// newPool evaluates the uniformly random strategy, a strategy that is greedy for the informed bound,
// and improvements of the latter by local search for the start state.
func newPool(ctx context.Context, o *informedBound, start uint32, opts solve.Options) (*pool, error) {
	p := &pool{pomdp: o.pomdp}
	n := o.numObservations()
	uniform := make(memoryless, n)
	for i := range uniform {
		uniform[i] = Any
	}
	greedy := o.greedyStrategy(n)
	for _, x := range []memoryless{uniform, greedy} {
		if _, err := p.add(ctx, x, opts); err != nil {
			return nil, err
		}
	}
	return p, p.improveLocally(ctx, greedy, start, opts)
}

// greedyStrategy returns the strategy that maximizes the informed bound if all states with the same
// observation are equally likely.
func (o *informedBound) greedyStrategy(n int) memoryless {
	sums := make([][]float64, n)
	for s, observation := range o.Observation {
		if sums[observation] == nil {
			sums[observation] = make([]float64, o.numActions(uint32(s)))
		}
		for k := range sums[observation] {
			sums[observation][k] += o.q[o.index(s, k)]
		}
	}
	out := make(memoryless, n)
	for observation, x := range sums {
		for k := range x {
			if o.better(x[k], x[out[observation]]) {
				out[observation] = k
			}
		}
	}
	return out
}

// add evaluates a strategy and adds it to the pool.
func (p *pool) add(ctx context.Context, x memoryless, opts solve.Options) ([]float64, error) {
	value, err := p.evaluateStrategy(ctx, x, opts)
	if err == nil {
		p.strategies, p.values = append(p.strategies, x), append(p.values, value)
	}
	return value, err
}

// evaluateStrategy returns pessimistic bounds on the value of a strategy in every state.
func (p *pool) evaluateStrategy(ctx context.Context, x memoryless, opts solve.Options) ([]float64, error) {
	b := sparse.NewBuilder(sparse.DTMC)
	reward := &sparse.Reward{Err: 0x1p-53}
	for s := range p.model.NumStates() {
		b.State()
		action := x[p.Observation[s]]
		for _, t := range p.transitions(uint32(s), action) {
			b.AddRat(int(t.to), t.prob, sparse.NoAction)
		}
		if p.Reward != nil {
			reward.State = append(reward.State, toFloat(p.expectedReward(uint32(s), action)))
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

// solve solves the problem for a model with the same states.
func (g *pomdp) solve(ctx context.Context, graph *sparse.Graph, opts solve.Options, reward *sparse.Reward) (*solve.Values, error) {
	if g.Reward != nil {
		return solve.ReachReward(ctx, graph, reward, g.Target, g.Direction, opts)
	}
	return solve.Until(ctx, graph, g.Left, g.Target, g.Direction, opts)
}

// pessimistic and optimistic return the bounds on the player's bad and good side.
func (g *pomdp) pessimistic(v *solve.Values) []float64 {
	if g.Direction == solve.Max {
		return v.Lower
	}
	return v.Upper
}

func (g *pomdp) optimistic(v *solve.Values) []float64 {
	if g.Direction == solve.Max {
		return v.Upper
	}
	return v.Lower
}

// improveLocally changes the action of one observation at a time, as long as that improves the value of
// the start state.
func (p *pool) improveLocally(ctx context.Context, from memoryless, start uint32, opts solve.Options) error {
	if p.model.NumStates() > pooledStates {
		return nil
	}
	best, tries := p.values[len(p.values)-1][start], 0
	for changed := true; changed; {
		changed = false
		for observation, s := range p.leaders() {
			for k := range p.numActions(s) {
				if p.terminal.Has(int(s)) || k == from[observation] {
					continue
				}
				if tries++; tries > maxTries {
					return nil
				}
				x := append(memoryless(nil), from...)
				x[observation] = k
				value, err := p.evaluateStrategy(ctx, x, opts)
				if err != nil {
					return err
				}
				if w := value[start]; p.better(w, best) && math.Abs(w-best) > 1e-9*math.Abs(w) {
					p.strategies, p.values = append(p.strategies, x), append(p.values, value)
					from, best, changed = x, w, true
				}
			}
		}
	}
	return nil
}

// leaders returns the first state with each observation.
func (g *pomdp) leaders() []uint32 {
	out := make([]uint32, g.numObservations())
	for s := len(g.Observation) - 1; s >= 0; s-- {
		out[g.Observation[s]] = uint32(s)
	}
	return out
}

// bound returns the pessimistic bound of the best strategy for a belief, and the number of that
// strategy.
func (p *pool) bound(b *belief) (float64, int) {
	best, by := 0.0, 0
	for i := range p.strategies {
		x, off := b.meanFloat(func(s uint32) float64 { return p.values[i][s] })
		if x = p.roundPessimistic(x, off); i == 0 || p.better(x, best) {
			best, by = x, i
		}
	}
	return best, by
}

// roundPessimistic moves a value to the player's disadvantage by a relative error.
func (g *pomdp) roundPessimistic(x, off float64) float64 {
	if g.Direction == solve.Max {
		return math.Max(0, x*(1-2*off))
	}
	x *= 1 + 2*off
	if g.Reward == nil {
		return min(x, 1)
	}
	return x
}
