package solve

import (
	"context"
	"errors"
	"math"
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// ErrNondeterministic says that a value is defined for Markov chains only.
var ErrNondeterministic = errors.New("long-run averages of an MDP are not supported")

// LongRun returns bounds on the expected reward per step of a DTMC, or per unit
// of time of a CTMC, in the long run. With rewards that are one in some states
// and zero in the others it is the long-run probability of these states.
//
// Source: PRISM's R[S] and S.
func LongRun(ctx context.Context, g *sparse.Graph, r *sparse.Reward, opts Options) (*Values, error) {
	if g.First != nil {
		return nil, ErrNondeterministic
	}
	opts.Scheduler = false
	v := newValues(g.Model, opts)
	comps := g.Components(nil, nil)
	closed := sparse.NewSet(g.NumStates())
	a := newAverager(ctx, g, r, opts)
	for _, i := range comps.Bottom(g.Model) {
		members := comps.Members(i)
		lo, hi, ok, err := a.average(members)
		if err != nil {
			return nil, err
		}
		v.Converged = v.Converged && ok
		for _, s := range members {
			closed.Add(int(s))
			v.Lower[s], v.Upper[s] = lo, hi
		}
	}
	v.Sweeps = a.mt.progress.Sweeps
	y := &system{g: g, open: closed.Complement(), round: a.y.round, v: v}
	return v, y.solve(ctx, opts, false)
}

// ExactLongRun is LongRun in rational arithmetic.
func ExactLongRun(ctx context.Context, g *sparse.Graph, r *sparse.Reward, opts Options) (*Exact, error) {
	if g.First != nil {
		return nil, ErrNondeterministic
	}
	y, err := newExactSystem(g, r, false, opts)
	if err != nil {
		return nil, err
	}
	mt := newMeter(ctx, opts, g.NumStates())
	var ws workspace
	comps := g.Components(nil, nil)
	closed := sparse.NewSet(g.NumStates())
	for _, i := range comps.Bottom(g.Model) {
		members := comps.Members(i)
		x, err := y.averageRat(members, &ws, mt)
		if err != nil {
			return nil, err
		}
		for _, s := range members {
			closed.Add(int(s))
			y.assign(int(s), x)
		}
	}
	y.open, y.reward = closed.Complement(), nil
	return y.solve(ctx, opts, false)
}

// averageRat returns the average in a bottom component: the mean reward from
// the first state until it is entered again, by the mean time of that.
func (y *exactSystem) averageRat(members []uint32, ws *workspace, mt *meter) (*big.Rat, error) {
	home, rest := int(members[0]), members[1:]
	ws.begin(y.g.NumStates())
	for i, s := range rest {
		ws.number[s] = uint32(i)
	}
	el := newElimination(len(rest))
	for i, s := range rest {
		y.cycleRow(el, uint32(i), int(s), ws)
	}
	if ok, err := el.run(mt); err != nil || !ok {
		return nil, err
	}
	x := el.substitute()
	sum, time := y.gainRat(home, home), big.NewRat(1, 1)
	product := new(big.Rat)
	lo, hi := y.g.Row(home)
	for i := lo; i < hi; i++ {
		if k := ws.number[y.g.Target[i]]; k != sparse.None {
			sum.Add(sum, product.Mul(y.g.Rat(i), x[k][0]))
			time.Add(time, product.Mul(y.g.Rat(i), x[k][1]))
		}
	}
	ws.forget(rest)
	return sum.Quo(sum, time), nil
}

// cycleRow sets row k: the reward and the time of state s until its next
// transition, and where that goes.
func (y *exactSystem) cycleRow(el *elimination, k uint32, s int, ws *workspace) {
	total := new(big.Rat)
	lo, hi := y.g.Row(s)
	for i := lo; i < hi; i++ {
		total.Add(total, y.g.Rat(i))
	}
	for i := lo; i < hi; i++ {
		if t := ws.number[y.g.Target[i]]; t != sparse.None {
			el.add(k, t, new(big.Rat).Quo(y.g.Rat(i), total))
		}
	}
	gain := y.gainRat(s, s)
	el.b[k] = []*big.Rat{gain.Quo(gain, total), new(big.Rat).Inv(total)}
}

// averager computes averages in bottom components: of the rewards of y, by those
// of time, which are 1 per step or unit of time.
type averager struct {
	y, time *system
	opts    Options
	mt      *meter
	ws      workspace
	h       []float64 // of each state of the component, by workspace number
	d       []float64
}

func newAverager(ctx context.Context, g *sparse.Graph, r *sparse.Reward, opts Options) *averager {
	round := newRounding(g.Model, r)
	ones := make([]float64, g.NumStates())
	for s := range ones {
		ones[s] = 1
	}
	// Nothing is worth anything yet: neither is the state that is entered again.
	v := newValues(g.Model, Options{})
	a := &averager{
		y:    &system{g: g, reward: r, round: round, v: v},
		time: &system{g: g, reward: &sparse.Reward{State: ones}, round: round, v: v},
		opts: opts, mt: newMeter(ctx, opts, g.NumStates()),
	}
	a.ws.begin(g.NumStates())
	return a
}

// average returns bounds of the average in a bottom component. Iteration comes
// first; where it costs more than elimination would, that takes over.
func (a *averager) average(members []uint32) (lo, hi float64, ok bool, err error) {
	for i, s := range members {
		a.ws.number[s] = uint32(i)
	}
	n := len(members)
	a.h, a.d = make([]float64, n), make([]float64, n)
	lo, hi, ok, err = a.iterate(members)
	a.ws.forget(members)
	if ok || err != nil || n > directLimit {
		return lo, hi, ok, err
	}
	l, h, err := a.eliminate(members)
	lo, hi = max(lo, l), min(hi, h)
	return lo, hi, hi-lo <= a.opts.epsilon()*hi, err
}

// iterate improves h, what it is worth to start in one state rather than
// another. Whatever h is, the average is between the least and the greatest of
// what a state earns and gains by its next transition.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (a *averager) iterate(members []uint32) (lo, hi float64, ok bool, err error) {
	work, exit := a.size(members)
	limit := a.opts.maxSweeps()
	if n := float64(len(members)); n <= directLimit {
		limit = int(n*n*n/float64(work)/8) + 2
	}
	lo, hi = 0, math.Inf(1)
	for range limit {
		l, h := a.gains(members)
		lo, hi = max(lo, l), min(hi, h)
		if hi-lo <= a.opts.epsilon()*hi {
			return lo, hi, true, nil
		}
		// Steps that stay sometimes: no period keeps h from converging.
		middle := lo + (hi-lo)/2
		for i := range a.h {
			a.h[i] += (a.d[i] - middle) / (exit * (1 + slack))
		}
		a.mt.progress.Sweeps++
		if err := a.mt.did(work); err != nil {
			return lo, hi, false, err
		}
	}
	return lo, hi, false, nil
}

// size returns the number of transitions of a component and the greatest weight
// by which one of its states is left.
func (a *averager) size(members []uint32) (work int, exit float64) {
	for _, s := range members {
		lo, hi := a.y.g.Row(int(s))
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += a.y.g.Prob(i)
		}
		work, exit = work+hi-lo, max(exit, sum)
	}
	return work, exit
}

// gains computes d, what each state earns and gains, and returns bounds of its
// least and greatest entry.
func (a *averager) gains(members []uint32) (least, most float64) {
	least, most = math.Inf(1), 0
	for k, s := range members {
		gain := a.y.gain(int(s), int(s))
		sum, size := gain, gain
		lo, hi := a.y.g.Row(int(s))
		for i := lo; i < hi; i++ {
			x := a.y.g.Prob(i) * (a.h[a.ws.number[a.y.g.Target[i]]] - a.h[k])
			sum += x
			size += math.Abs(x)
		}
		a.d[k] = sum
		e := 0.0
		if size > 0 {
			e = a.y.round.row(hi-lo+1)*size + a.y.round.floor
		}
		if size == gain { // nothing was added
			e = a.y.round.row(1) * size
		}
		least, most = min(least, sum-e), max(most, sum+e)
	}
	return max(least, 0), most
}

// eliminate is averageRat in doubles, with bounds.
func (a *averager) eliminate(members []uint32) (lo, hi float64, err error) {
	home, rest := int(members[0]), members[1:]
	l := a.y.local(rest, &a.ws)
	a.ws.forget(rest)
	times := a.time.local(rest, &a.ws)
	defer a.ws.forget(rest)
	d := &direct{l: l, choice: l.leaving()}
	rewards := d.solve(d.constant)
	if rewards == nil {
		return 0, math.Inf(1), nil
	}
	elapsed := d.substitute(func(k int) float64 { return times.lo[k] })
	if elapsed == nil || !moderate(elapsed) {
		return 0, math.Inf(1), nil
	}
	sum, time := a.y.gain(home, home), 1.0
	first, end := a.y.g.Row(home)
	for i := first; i < end; i++ {
		if k := a.ws.number[a.y.g.Target[i]]; k != sparse.None {
			sum += a.y.g.Prob(i) * rewards[k]
			time += a.y.g.Prob(i) * elapsed[k]
		}
	}
	if !moderate([]float64{sum}) { // no reward at all would not have come here
		return 0, math.Inf(1), a.mt.did(workPerPoll)
	}
	e := 2.02 * (d.err + d.perturbation() + a.y.round.row(end-first+1))
	x := sum / time
	return a.y.round.down(x, e), a.y.round.up(x, e), a.mt.did(workPerPoll)
}
