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
	// Scheduler and Steps are as in Values, and attain the values exactly.
	Scheduler []uint32
	Steps     [][]uint32
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
	value           []*big.Rat
	keep            bool     // the scheduler is asked for
	sum, term, part fraction // scratch
	then            []uint32 // its choices after all steps that are counted
}

func newExactSystem(g *sparse.Graph, r *sparse.Reward, least bool, opts Options) (*exactSystem, error) {
	if !g.Exact() || r != nil && (r.State != nil && r.StateRat == nil || r.Choice != nil && r.ChoiceRat == nil) {
		return nil, ErrNotExact
	}
	keep, trace := opts.Scheduler && g.Kind == sparse.MDP, newTrace(g.Model, opts)
	opts.Scheduler = true
	y := &exactSystem{
		system: system{g: g, min: least, reward: r, round: newRounding(g.Model, r), v: newValues(g.Model, opts), trace: trace},
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
		if err := mt.did(len(members) * (100 + effort(y.value[members[0]]))); err != nil {
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

// component solves one component.
func (y *exactSystem) component(members []uint32, ws *workspace, mt *meter) error {
	if len(members) == 1 {
		y.single(int(members[0]))
		return nil
	}
	l := y.local(members, ws)
	if len(l.origin) >= len(l.first) { // doubles find good choices to start from
		if err := l.solve(mt, Options{}, 1e-6); err != nil {
			return err
		}
	}
	e := y.exactLocal(l, ws)
	if err := e.iterate(mt); err != nil {
		return err
	}
	copy(l.how, e.choice)
	y.schedule(l, members, ws)
	values := make([]*big.Rat, len(e.choice)) // states may share an unknown
	for _, s := range members {
		k := ws.number[s]
		if values[k] == nil {
			values[k] = e.value(k)
		}
		y.assign(int(s), values[k])
	}
	ws.forget(members)
	return nil
}

// effort estimates the operations that bring a fraction to lowest terms, which takes
// most of the time where fractions are long.
func effort(x *big.Rat) int {
	if x == nil {
		return 0
	}
	words := (x.Num().BitLen() + x.Denom().BitLen()) / 64
	return words * words
}

// single solves the equation of a component of one state.
func (y *exactSystem) single(s int) {
	best := y.bestRat(s, y.usable, true)
	if best.choice != sparse.None {
		y.v.Scheduler[s] = best.choice
		y.assign(s, best.value)
	}
}

// bestExact is the best choice of a state, the first of them, and what it is worth.
type bestExact struct {
	value  *big.Rat
	choice uint32
}

// bestRat evaluates the choices of a state by the values of the other states and,
// unless leave is set, its own.
func (y *exactSystem) bestRat(s int, usable func(c int) bool, leave bool) bestExact {
	best := bestExact{choice: sparse.None}
	first, end := y.g.Choices(s)
	for c := first; c < end; c++ {
		if !usable(c) {
			continue
		}
		x := y.choiceRat(s, c, leave)
		if x == nil || x == best.value {
			continue
		}
		if best.value == nil || x.Cmp(best.value) != 0 && (x.Cmp(best.value) < 0) == y.min {
			best = bestExact{x, uint32(c)}
		}
	}
	return best
}

// choiceRat is eval, exactly; nil for a choice that does not leave the state.
func (y *exactSystem) choiceRat(s, c int, leave bool) *big.Rat {
	gain := y.gainRat(s, c)
	first, end := y.g.Row(c)
	if end-first == 1 && gain.Sign() == 0 && !(leave && int(y.g.Target[first]) == s) {
		if w := y.g.Rat(first); y.g.Kind == sparse.CTMC || w.IsInt() && w.Num().IsInt64() && w.Num().Int64() == 1 {
			return y.value[y.g.Target[first]]
		}
	}
	y.sum.reset()
	y.sum.addRat(gain)
	divide, leaves := y.g.Kind == sparse.CTMC, false
	for i := first; i < end; {
		w := y.g.Rat(i)
		y.term.reset()
		for ; i < end && y.g.Rat(i) == w; i++ { // equal weights are one
			if t := int(y.g.Target[i]); leave && t == s {
				divide = true
			} else {
				leaves = true
				y.term.addRat(y.value[t])
			}
		}
		y.sum.addProduct(w, &y.term)
	}
	switch {
	case !leaves:
		return nil
	case !divide:
		return y.sum.rat()
	}
	y.part.reset()
	for i := first; i < end; i++ {
		if !leave || int(y.g.Target[i]) != s {
			y.part.addRat(y.g.Rat(i))
		}
	}
	y.sum.num.Mul(&y.sum.num, &y.part.den)
	y.sum.den.Mul(&y.sum.den, &y.part.num)
	return y.sum.rat()
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
