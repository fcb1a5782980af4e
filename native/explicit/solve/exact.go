package solve

import (
	"context"
	"errors"
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// Exact are the values of the states in rational arithmetic; nil is infinite.
// The values belong to the result and must not be changed.
type Exact struct {
	Value []*big.Rat
	// Scheduler is as in Values, and attains the values exactly.
	Scheduler []uint32
}

// ErrNotExact says that a model of doubles cannot be solved exactly.
var ErrNotExact = errors.New("the model's weights are not known exactly")

// ExactUntil is Until in rational arithmetic.
//
// Source: what has no cycles by substitution, components by scheduler iteration
// with elimination of unknowns.
func ExactUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, dir Direction, opts Options) (*Exact, error) {
	y, err := newExactSystem(g, nil, dir == Min, opts)
	if err != nil {
		return nil, err
	}
	q, err := qualify(ctx, g, left, right, dir)
	if err != nil {
		return nil, err
	}
	y.prob, y.open = true, q.open()
	y.set(q.one, big.NewRat(1, 1))
	q.schedule(g, right, y.v.Scheduler)
	return y.solve(ctx, opts, dir == Max)
}

// ExactReachReward is ReachReward in rational arithmetic.
func ExactReachReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, target *sparse.Set, dir Direction, opts Options) (*Exact, error) {
	y, err := newExactSystem(g, r, dir == Min, opts)
	if err != nil {
		return nil, err
	}
	p, err := planReach(ctx, g, target, dir)
	if err != nil {
		return nil, err
	}
	y.open, y.choices = p.open, p.choices
	y.set(p.infinite, nil)
	p.schedule(g, target, y.v.Scheduler)
	return y.solve(ctx, opts, dir == Min)
}

// ExactTotalReward is TotalReward in rational arithmetic.
func ExactTotalReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Exact, error) {
	if dir == Min && g.First != nil {
		ends, free, err := restingStates(ctx, g, r)
		if err != nil {
			return nil, err
		}
		x, err := ExactReachReward(ctx, g, r, free, Min, opts)
		if err == nil && x.Scheduler != nil {
			stay(g, ends, x.Scheduler)
		}
		return x, err
	}
	y, err := newExactSystem(g, r, false, opts)
	if err != nil {
		return nil, err
	}
	p, err := planTotal(ctx, g, r)
	if err != nil {
		return nil, err
	}
	infinite := p.infinite(g)
	y.open = p.some.Minus(infinite)
	y.set(infinite, nil)
	p.schedule(g, y.v.Scheduler)
	return y.solve(ctx, opts, true)
}

// exactSystem is a system whose values are rational. The doubles of the
// embedded system are the same values rounded, and only lead the way.
type exactSystem struct {
	system
	value []*big.Rat
	keep  bool // the scheduler is asked for
}

func newExactSystem(g *sparse.Graph, r *sparse.Reward, least bool, opts Options) (*exactSystem, error) {
	if !g.Exact() || r != nil && (r.State != nil && r.StateRat == nil || r.Choice != nil && r.ChoiceRat == nil) {
		return nil, ErrNotExact
	}
	keep := opts.Scheduler && g.Kind == sparse.MDP
	opts.Scheduler = true
	y := &exactSystem{
		system: system{g: g, min: least, reward: r, round: newRounding(g.Model, r), v: newValues(g.Model, opts)},
		value:  make([]*big.Rat, g.NumStates()), keep: keep,
	}
	if y.v.Scheduler == nil { // of a Markov chain: written, never read
		y.v.Scheduler = make([]uint32, g.NumStates())
	}
	zero := new(big.Rat)
	for s := range y.value {
		y.value[s] = zero
	}
	return y, nil
}

// set gives all states of a set the same value.
func (y *exactSystem) set(states *sparse.Set, x *big.Rat) {
	for s := range states.All() {
		y.assign(s, x)
	}
}

func (y *exactSystem) assign(s int, x *big.Rat) {
	y.value[s] = x
	if x != nil {
		f, _ := x.Float64()
		y.v.Lower[s], y.v.Upper[s] = f, f
	}
}

func (y *exactSystem) solve(ctx context.Context, opts Options, zeroRewardEnds bool) (*Exact, error) {
	comps := y.g.Components(y.open, y.choices)
	cyclic := y.cyclic(comps)
	if zeroRewardEnds && y.g.Kind == sparse.MDP && !cyclic.Empty() {
		if err := y.findEnds(ctx, comps, cyclic); err != nil {
			return nil, err
		}
	}
	mt := newMeter(ctx, opts, len(comps.States))
	var ws workspace
	for i := range comps.Num() {
		members := comps.Members(i)
		if err := y.component(members, &ws, mt); err != nil {
			return nil, err
		}
		mt.progress.Done += len(members)
		if err := mt.did(100 * len(members)); err != nil {
			return nil, err
		}
	}
	y.gather(y.v.Scheduler)
	out := &Exact{Value: y.value}
	if y.keep {
		out.Scheduler = y.v.Scheduler
	}
	return out, nil
}

// component solves one component: the doubles first, for the choices to start from.
func (y *exactSystem) component(members []uint32, ws *workspace, mt *meter) error {
	if len(members) == 1 {
		y.single(int(members[0]), ws)
		return nil
	}
	l := y.local(members, ws)
	if err := l.solve(mt, Options{}, 1e-6); err != nil {
		return err
	}
	e := y.exactLocal(l, ws)
	if err := e.iterate(mt); err != nil {
		return err
	}
	copy(l.how, e.choice)
	y.schedule(l, members, ws)
	for _, s := range members {
		y.assign(int(s), e.x[ws.number[s]])
	}
	ws.forget(members)
	return nil
}

// single solves the equation of a component of one state.
func (y *exactSystem) single(s int, ws *workspace) {
	ws.begin(y.g.NumStates())
	ws.number[s] = 0
	first, end := y.g.Choices(s)
	var best *big.Rat
	for c := first; c < end; c++ {
		if !y.usable(c) {
			continue
		}
		r, ok := y.exactRow(s, c, 0, ws)
		if ok && (best == nil || r.constant.Cmp(best) != 0 && (r.constant.Cmp(best) < 0) == y.min) {
			best, y.v.Scheduler[s] = r.constant, uint32(c)
		}
	}
	ws.number[s] = sparse.None
	if best != nil {
		y.assign(s, best)
	}
}

// gainRat is gain, exactly.
func (y *exactSystem) gainRat(s, c int) *big.Rat {
	sum := new(big.Rat)
	if y.reward != nil && y.reward.StateRat != nil && y.reward.StateRat[s] != nil {
		sum.Add(sum, y.reward.StateRat[s])
	}
	if y.reward != nil && y.reward.ChoiceRat != nil && y.reward.ChoiceRat[c] != nil {
		sum.Add(sum, y.reward.ChoiceRat[c])
	}
	return sum
}
