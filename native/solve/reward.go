package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// ReachReward returns bounds on the extremal expected reward until target is reached. It is infinite
// where target is missed with positive probability: by some scheduler for the maximum, by all for the
// minimum. The minimum ranges over the schedulers that reach target with probability one. Rewards of
// target states do not count. In a CTMC, state rewards are per unit of time.
//
// Source: PRISM's R[F]; de Alfaro (CONCUR 1999) for end components without reward; bounds as for Until.
func ReachReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, target *sparse.Set, dir Direction, opts Options) (*Values, error) {
	if g.Intervals() {
		return robustReach(ctx, g, r, target, dir, opts)
	}
	sys, err := newSystem(g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	p, err := analyzeReachReward(ctx, g, target, dir)
	if err != nil {
		return nil, err
	}
	sys.open, sys.choices = p.open, p.choices
	sys.v.set(p.infinite, math.Inf(1))
	if sys.v.Scheduler != nil {
		p.schedule(g, target, sys.v.Scheduler)
	}
	return sys.solve(ctx, opts, dir == Min)
}

// rewardAnalysis is the result of graph analysis for ReachReward: the states with infinite reward, the
// open ones, and the choices that these may use (nil for all).
type rewardAnalysis struct {
	dir            Direction
	infinite, open *sparse.Set
	choices        *sparse.Set
}

func analyzeReachReward(ctx context.Context, g *sparse.Graph, target *sparse.Set, dir Direction) (rewardAnalysis, error) {
	all := sparse.FullSet(g.NumStates())
	if dir == Max || g.First == nil {
		sure := g.Prob1A(all, target)
		return rewardAnalysis{dir, sure.Complement(), sure.Minus(target), nil}, nil
	}
	sure, err := g.Prob1E(ctx, all, target)
	if err != nil {
		return rewardAnalysis{}, err
	}
	return rewardAnalysis{dir, sure.Complement(), sure.Minus(target), g.ChoicesWithin(sure)}, nil
}

// schedule writes choices that attain an infinite maximum.
func (p rewardAnalysis) schedule(g *sparse.Graph, target *sparse.Set, how []uint32) {
	if p.dir == Min {
		return
	}
	never := g.Prob0E(sparse.FullSet(g.NumStates()), target)
	g.Remain(never, how)
	g.Approach(g.ChoicesOf(target.Complement()), never, how)
}

// TotalReward returns bounds on the extremal expected total reward. The maximum is infinite where a
// scheduler can collect positive rewards forever, the minimum where every scheduler does with positive
// probability.
//
// Source: PRISM's R[C].
func TotalReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
	if dir == Min && g.First != nil {
		return minTotal(ctx, g, r, opts)
	}
	sys, err := newSystem(g, r, Max, opts)
	if err != nil {
		return nil, err
	}
	p, err := analyzeTotalReward(ctx, g, r)
	if err != nil {
		return nil, err
	}
	infinite := p.infinite(g)
	sys.open = p.canEarn.Minus(infinite)
	sys.v.set(infinite, math.Inf(1))
	if sys.v.Scheduler != nil {
		p.schedule(g, sys.v.Scheduler)
	}
	return sys.solve(ctx, opts, true)
}

// minTotal reduces the minimal total reward to ReachReward: a scheduler with a finite total reward ends
// up, with probability one, in an end component without reward.
func minTotal(ctx context.Context, g *sparse.Graph, r *sparse.Reward, opts Options) (*Values, error) {
	ends, resting, err := zeroRewardEnds(ctx, g, r)
	if err != nil {
		return nil, err
	}
	v, err := ReachReward(ctx, g, r, resting, Min, opts)
	if err == nil && v.Scheduler != nil {
		stayInEndComponents(g, ends, v.Scheduler)
	}
	return v, err
}

// zeroRewardEnds returns the end components without reward, and the set of their states.
func zeroRewardEnds(ctx context.Context, g *sparse.Graph, r *sparse.Reward) (*sparse.EndComponents, *sparse.Set, error) {
	sys := &system{g: g, reward: r}
	zeroReward := sparse.NewSet(g.NumChoices())
	for s := range g.NumStates() {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if sys.reward.OfChoice(s, c) == 0 {
				zeroReward.Add(c)
			}
		}
	}
	ends, err := g.EndComponents(ctx, nil, zeroReward)
	if err != nil {
		return nil, nil, err
	}
	return ends, endStates(g, ends), nil
}

func endStates(g *sparse.Graph, ends *sparse.EndComponents) *sparse.Set {
	out := sparse.NewSet(g.NumStates())
	for _, s := range ends.States {
		out.Add(int(s))
	}
	return out
}

// stayInEndComponents writes, for each state of an end component, its first choice that stays.
func stayInEndComponents(g *sparse.Graph, ends *sparse.EndComponents, how []uint32) {
	for _, s := range ends.States {
		first, end := g.Choices(int(s))
		for c := first; c < end; c++ {
			if ends.Choices.Has(c) {
				how[s] = uint32(c)
				break
			}
		}
	}
}

// totalAnalysis is the result of graph analysis for TotalReward.
type totalAnalysis struct {
	canEarn       *sparse.Set // states that can reach a reward
	endComponents *sparse.EndComponents
	earning       *sparse.Set // states with a rewarded choice that stays in their end component
	choice        []uint32    // of each earning state: that choice
}

func analyzeTotalReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward) (totalAnalysis, error) {
	sys := &system{g: g, reward: r}
	n := g.NumStates()
	ends, err := g.EndComponents(ctx, nil, nil)
	p := totalAnalysis{endComponents: ends, earning: sparse.NewSet(n), choice: make([]uint32, n)}
	if err != nil {
		return p, err
	}
	rewarded := sparse.NewSet(n)
	for s := range n {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if sys.reward.OfChoice(s, c) == 0 {
				continue
			}
			rewarded.Add(s)
			if ends.Choices.Has(c) {
				p.earning.Add(s)
				p.choice[s] = uint32(c)
			}
		}
	}
	p.canEarn = g.ExistsUntil(sparse.FullSet(n), rewarded)
	return p, nil
}

// infinite returns the states that can reach an end component with a reward.
func (p totalAnalysis) infinite(g *sparse.Graph) *sparse.Set {
	return g.ExistsUntil(sparse.FullSet(g.NumStates()), p.earning)
}

// schedule writes choices that earn an infinite reward: they lead to an end component with a reward,
// and there to a state that earns it.
func (p totalAnalysis) schedule(g *sparse.Graph, how []uint32) {
	for s := range p.earning.All() {
		how[s] = p.choice[s]
	}
	g.Approach(p.endComponents.Choices, p.earning, how)
	inside := sparse.NewSet(g.NumStates())
	for _, s := range p.endComponents.States {
		if how[s] != sparse.None {
			inside.Add(int(s))
		}
	}
	g.Approach(nil, inside, how)
}
