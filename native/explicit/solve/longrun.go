package solve

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"

	"tilecheck/native/explicit/sparse"
)

// LongRun returns bounds on the extremal expected reward per step of a DTMC or an
// MDP, or per unit of time of a CTMC, in the long run. With rewards that are one in
// some states and zero in the others it is the long-run probability of these states.
//
// Source: PRISM's R[S], Storm's R[LRA].
func LongRun(ctx context.Context, g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*Values, error) {
	return longRun(ctx, g, r, nil, dir, opts)
}

// SteadyState returns bounds on the extremal long-run probability of being in a set
// of states: of an MDP, the part of the steps in which it is.
//
// Source: PRISM's S, Storm's LRA.
func SteadyState(ctx context.Context, g *sparse.Graph, set *sparse.Set, dir Direction, opts Options) (*Values, error) {
	return longRun(ctx, g, membership(set), set, dir, opts)
}

// membership is a reward of 1 in each state of a set.
func membership(set *sparse.Set) *sparse.Reward {
	r := &sparse.Reward{State: make([]float64, set.Len()), StateRat: make([]*big.Rat, set.Len())}
	one := big.NewRat(1, 1)
	for s := range set.All() {
		r.State[s], r.StateRat[s] = 1, one
	}
	return r
}

// longRun is LongRun; set has the states with a reward of 1 if no others have
// one, and is nil otherwise.
func longRun(ctx context.Context, g *sparse.Graph, r *sparse.Reward, set *sparse.Set, dir Direction, opts Options) (*Values, error) {
	if g.First != nil {
		return optimalLongRun(ctx, g, r, set, dir, opts)
	}
	opts.Scheduler = false
	y, err := newSystem(g, r, Max, opts)
	if err != nil {
		return nil, err
	}
	comps := g.Components(nil, nil)
	bottom := comps.Bottom(g.Model)
	if opts.Epsilon = opts.epsilon(); len(bottom) < comps.Num() {
		opts.Epsilon /= 2 // one half is for getting there
	}
	closed := sparse.NewSet(g.NumStates())
	a := newAverager(ctx, y, opts)
	for _, i := range bottom {
		members := comps.Members(i)
		if err := a.share(members, set); err != nil {
			return nil, err
		}
		for _, s := range members {
			closed.Add(int(s))
		}
	}
	y.v.Sweeps = a.mt.progress.Sweeps
	y.open, y.reward, y.prob = closed.Complement(), nil, set != nil
	if set != nil && !y.exact() {
		zero, one := y.v.certain(g, y.open, closed)
		y.v.set(one, 1)
		y.open = y.open.Minus(zero).Minus(one)
	}
	return y.solve(ctx, opts, false)
}

// share gives a bottom component its average, in every state.
func (a *averager) share(members []uint32, set *sparse.Set) error {
	v := a.y.v
	if v.Exact != nil {
		x, err := a.y.averageRat(members, &a.ws, a.mt)
		if err != nil {
			return err
		}
		for _, s := range members {
			v.assign(int(s), x)
		}
		return nil
	}
	lo, hi, ok, err := a.average(members, set)
	v.Converged = v.Converged && ok
	for _, s := range members {
		v.Lower[s], v.Upper[s] = lo, hi
	}
	return err
}

// averageRat returns the average in a bottom component.
func (y *system) averageRat(members []uint32, ws *workspace, mt *meter) (*big.Rat, error) {
	c, err := y.cycleRat(members, func(s uint32) uint32 { return s }, ws, mt)
	if err != nil {
		return nil, err
	}
	return c.average, nil
}

// cycleRat has the mean reward from each of some states until the last of them is
// entered, and the mean time of that: those of state i are gain[i]/gainDen and
// time[i]/timeDen. Their quotient for the last itself is the average.
type cycleRat struct {
	average          *big.Rat
	gain, time       []*big.Int // of all states but the last
	gainDen, timeDen *big.Int
}

// relative returns what it is worth to start in state i rather than in the last.
func (c *cycleRat) relative(i int) *big.Rat {
	earned, mean := new(big.Rat).SetFrac(c.gain[i], c.gainDen), new(big.Rat).SetFrac(c.time[i], c.timeDen)
	return earned.Sub(earned, mean.Mul(mean, c.average))
}

// cycleRat solves for states that are not left by the choices made, of which the last
// is entered again and again.
func (y *system) cycleRat(members []uint32, choice func(s uint32) uint32, ws *workspace, mt *meter) (*cycleRat, error) {
	last := len(members) - 1
	home, rest := members[last], members[:last]
	ws.begin(y.g.NumStates())
	for i, s := range rest {
		ws.number[s] = uint32(i)
	}
	defer ws.forget(rest)
	rows, rewards := make([]*exactRow, len(rest)), make([]exactRow, len(rest))
	for i, s := range rest {
		c := int(choice(s))
		rewards[i] = y.exactRow(int(s), c, uint32(i), ws, y.reward.GainRat(int(s), c))
		rows[i] = &rewards[i]
	}
	common := integral(rewards)
	f, err := newLifting(mt, rows)
	if err != nil {
		return nil, err
	}
	out := &cycleRat{}
	if out.gain, out.gainDen, err = f.solve(mt, func(k int) *big.Int { return rows[k].integer }); err != nil {
		return nil, err
	}
	out.gainDen.Mul(out.gainDen, common)
	// A step or unit of time is worth 1.
	if out.time, out.timeDen, err = f.solve(mt, func(k int) *big.Int { return rows[k].unit }); err != nil {
		return nil, err
	}
	c := int(choice(home))
	out.average = y.meanRat(c, y.reward.GainRat(int(home), c), out.gain, out.gainDen, ws)
	out.average.Quo(out.average, y.meanRat(c, big.NewRat(1, 1), out.time, out.timeDen, ws))
	return out, nil
}

// mean is meanRat in doubles.
func (y *system) mean(c int, x float64, values []float64, ws *workspace) float64 {
	lo, hi := y.g.Row(c)
	for i := lo; i < hi; i++ {
		if k := ws.number[y.g.Target[i]]; k != sparse.None {
			x += y.g.Prob(i) * values[k]
		}
	}
	return x
}

// meanRat returns x and the weighted sum of the values of the targets of a choice,
// which are num/den.
func (y *system) meanRat(c int, x *big.Rat, num []*big.Int, den *big.Int, ws *workspace) *big.Rat {
	product := new(big.Rat)
	lo, hi := y.g.Row(c)
	for i := lo; i < hi; i++ {
		if k := ws.number[y.g.Target[i]]; k != sparse.None {
			x.Add(x, product.Mul(y.g.Rat(i), product.SetFrac(num[k], den)))
		}
	}
	return x
}

// averager computes averages in bottom components: of the rewards of y, by those
// of time, which are 1 per step or unit of time.
type averager struct {
	y, time *system
	opts    Options
	mt      *meter
	ws      workspace
	h       []float64 // of each state of the component, by workspace number
}

// newAverager returns an averager for values that are zero: nothing is worth
// anything yet, nor is the state that is entered again.
func newAverager(ctx context.Context, y *system, opts Options) *averager {
	ones := slices.Repeat([]float64{1}, y.g.NumStates())
	a := &averager{
		y: y, time: &system{g: y.g, reward: &sparse.Reward{State: ones}, round: y.round, v: y.v},
		opts: opts, mt: newMeter(ctx, opts, y.g.NumStates()),
	}
	a.ws.begin(y.g.NumStates())
	return a
}

// average returns bounds of the average in a bottom component. Of a set of states
// it is known where it is all or nothing.
func (a *averager) average(members []uint32, set *sparse.Set) (lo, hi float64, ok bool, err error) {
	if set == nil {
		return a.approximate(members)
	}
	in := 0
	for _, s := range members {
		if set.Has(int(s)) {
			in++
		}
	}
	switch in {
	case 0:
		return 0, 0, true, nil
	case len(members):
		return 1, 1, true, nil
	}
	lo, hi, ok, err = a.approximate(members)
	return min(lo, 1), min(hi, 1), ok, err
}

// Sweeps of so many states are combined, if they are slow; combinations take 170 bytes a state.
const manyStates, tooManyStates = 1000, 1 << 24

// approximate begins with iteration, and with combinations of sweeps where there are many
// states; elimination is tried when it costs about as much as iteration has.
func (a *averager) approximate(members []uint32) (lo, hi float64, ok bool, err error) {
	n := len(members)
	a.h = make([]float64, n)
	work := a.size(members)
	lo, hi = 0, math.Inf(1)
	done, limit, more := 0, a.opts.maxSweeps(), n > 1
	for sweeps := firstSweeps; ; sweeps *= 4 {
		sweeps = min(sweeps, limit)
		l, h, err := a.iterate(members, work, sweeps-done)
		lo, hi, done = max(lo, l), min(hi, h), sweeps
		if err == nil && n >= manyStates && n < tooManyStates && done == firstSweeps {
			l, h, err = a.combine(members, work, interval{lo, hi}, limit-done)
			lo, hi = max(lo, l), min(hi, h)
		}
		if a.narrow(lo, hi) || err != nil || done == limit {
			return lo, hi, a.narrow(lo, hi), err
		}
		if !more {
			continue
		}
		// A sweep here does more per transition than one of local.
		l, h, more, err = a.eliminate(members, float64(done)*float64(work)*budgetPerWork*4)
		lo, hi = max(lo, l), min(hi, h)
		if a.narrow(lo, hi) || err != nil {
			return lo, hi, true, err
		}
		if !math.IsInf(h, 1) && h-l <= 10*a.opts.epsilon()*h { // sweeps would take long to do better
			return lo, hi, true, nil
		}
	}
}

func (a *averager) narrow(lo, hi float64) bool { return hi-lo <= a.opts.epsilon()*hi }

// iterate improves h, what it is worth to start in one state rather than
// another, by so many sweeps. Whatever h is, the average is between the least and
// the greatest of what a state earns and gains by its next transition.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (a *averager) iterate(members []uint32, work, sweeps int) (lo, hi float64, err error) {
	for i, s := range members {
		a.ws.number[s] = uint32(i)
	}
	defer a.ws.forget(members)
	lo, hi = 0, math.Inf(1)
	guess := secant{}
	for left := sweeps; left > 0; {
		l, h := a.gains(members)
		if l <= h { // neither is NaN
			lo, hi = max(lo, l), min(hi, h)
		}
		if a.narrow(lo, hi) {
			return lo, hi, nil
		}
		if math.IsInf(h, 1) || h != h { // nothing more is to be had from this
			return lo, hi, nil
		}
		average, drift := guess.between(lo, hi), 0.0
		const often = 4 // between two looks at what was reached
		for range min(left, often) {
			drift = a.relax(members, average)
			left--
			a.mt.progress.Sweeps++
			if err := a.mt.did(work); err != nil {
				return lo, hi, err
			}
		}
		guess.note(average, drift)
	}
	return lo, hi, nil
}

// secant finds the average at which h does not drift: while it is guessed wrongly, all
// states are worth more, or less, after every sweep, in proportion to what is wrong.
type secant struct{ x, y, before, drift float64 }

func (s *secant) note(x, drift float64) { s.x, s.y, s.before, s.drift = x, drift, s.x, s.y }

// between returns a guess within bounds.
func (s *secant) between(lo, hi float64) float64 {
	if x := s.x - s.y*(s.x-s.before)/(s.y-s.drift); x > lo && x < hi {
		return x
	}
	return lo + (hi-lo)/2
}

// relax moves each state towards what it earns and gains being the average, after those
// before it: where some states are left much faster than others, steps at one rate would
// take as many times longer. It moves by less than the whole way, so that no period keeps
// h from converging. It returns by how much they moved on average.
//
// Source: Stewart, Introduction to the Numerical Solution of Markov Chains (1994), section 3.2.
func (a *averager) relax(members []uint32, average float64) (drift float64) {
	n := len(members)
	return a.sweep(members, 0, n, a.h, a.h, average, a.y.reward) / float64(n)
}

// sweep relaxes some of the members, from their values in next, where those that it does
// not relax have the values in h. It returns by how much they moved in all.
func (a *averager) sweep(members []uint32, from, to int, next, h []float64, average float64, earned *sparse.Reward) (drift float64) {
	model, number := a.y.g.Model, a.ws.number
	for k, s := range members[from:to] {
		k += from
		sum, leaving, here := earned.Gain(int(s), int(s))-average, 0.0, next[k]
		lo, hi := model.Start[s], model.Start[s+1]
		targets := model.Target[lo:hi]
		for i, w := range model.Weight[lo:hi] {
			t := targets[i]
			if t == s {
				continue
			}
			x, n := model.Weights[w], int(number[t])
			if leaving += x; n >= from && n < to {
				sum += x * (next[n] - here)
			} else {
				sum += x * (h[n] - here)
			}
		}
		if leaving > 0 {
			x := sum / (leaving * (1 + slack))
			drift += x
			next[k] += x
		}
	}
	return drift
}

// size returns the number of transitions of a component.
func (a *averager) size(members []uint32) (work int) {
	for _, s := range members {
		lo, hi := a.y.g.Row(int(s))
		work += hi - lo
	}
	return work
}

// gains returns bounds on the least and the greatest of what a state earns and gains.
func (a *averager) gains(members []uint32) (least, most float64) {
	least, most = math.Inf(1), 0
	var merge sync.Mutex
	inParts(len(members), 1<<12, func(from, to int) {
		l, m := a.gainsOf(members, from, to)
		merge.Lock()
		defer merge.Unlock()
		least, most = min(least, l), max(most, m)
	})
	return max(least, 0), most
}

// gainsOf is gains for some of the members.
func (a *averager) gainsOf(members []uint32, from, to int) (least, most float64) {
	least, most = math.Inf(1), 0
	for _, s := range members[from:to] {
		x, e := a.y.gained(int(s), int(s), a.h, &a.ws)
		least, most = min(least, x-e), max(most, x+e)
	}
	return least, most
}

// gained returns what a state earns and gains by a choice, where h is what it is worth to
// start in each, and how far off that may be.
func (y *system) gained(s, c int, h []float64, ws *workspace) (x, e float64) {
	gain, here, number := y.reward.Gain(s, c), h[ws.number[s]], ws.number
	sum, size, added := gain, gain, false
	lo, hi := y.g.Row(c)
	targets := y.g.Target[lo:hi]
	for i, w := range y.g.Weight[lo:hi] {
		x := h[number[targets[i]]] - here
		added = added || x != 0
		x *= y.g.Weights[w]
		sum += x
		size += math.Abs(x)
	}
	if !added {
		return sum, y.round.row(1) * size
	}
	return sum, y.round.row(hi-lo+1)*size + y.round.floor
}

// eliminate is averageRat in doubles, with bounds. More says that a larger
// budget may help.
func (a *averager) eliminate(members []uint32, budget float64) (lo, hi float64, more bool, err error) {
	// The last is where the component was entered when it was found, often a
	// likely state. Returns to an unlikely one take too long for doubles.
	for _, home := range []func() uint32{func() uint32 { return members[len(members)-1] }, func() uint32 { return a.walk(members) }} {
		var sure bool
		if lo, hi, sure, more, err = a.cycle(members, home(), budget); sure || more || err != nil {
			return lo, hi, more, err
		}
	}
	return 0, math.Inf(1), false, nil
}

// walk follows the chain for a while and returns the state that it is in then.
func (a *averager) walk(members []uint32) uint32 {
	rng := rand.New(rand.NewPCG(1, 1))
	s := members[0]
	for range 32*len(members) + 1000 {
		lo, hi := a.y.g.Row(int(s))
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += a.y.g.Prob(i)
		}
		x := sum * rng.Float64()
		i := lo
		for ; i < hi-1 && x >= a.y.g.Prob(i); i++ {
			x -= a.y.g.Prob(i)
		}
		s = a.y.g.Target[i]
	}
	return s
}

// cycle bounds the mean reward from a state until it is entered again by the mean
// time of that.
func (a *averager) cycle(members []uint32, home uint32, budget float64) (lo, hi float64, sure, more bool, err error) {
	lo, hi = 0, math.Inf(1)
	rest := slices.DeleteFunc(slices.Clone(members), func(s uint32) bool { return s == home })
	l := a.y.local(rest, &a.ws)
	a.ws.forget(rest)
	times := a.time.local(rest, &a.ws)
	defer a.ws.forget(rest)
	d := newDirect(l, budget)
	d.strict = true
	rewards, err := d.solve(a.mt, d.constant)
	if rewards == nil || err != nil {
		return lo, hi, false, d.rough, err
	}
	elapsed := d.substitute(func(k int) float64 { return times.lo[k] })
	if elapsed == nil || !d.sure(elapsed) {
		return lo, hi, false, false, nil
	}
	sum, time := a.y.mean(int(home), a.y.reward.Gain(int(home), int(home)), rewards, &a.ws), a.y.mean(int(home), 1, elapsed, &a.ws)
	if !(sum >= 0x1p-300 && sum <= 0x1p300) { // no reward at all would not have come here
		return lo, hi, false, false, nil
	}
	// Also the average is a quotient of sums of products as in perturbation.
	first, end := a.y.g.Row(int(home))
	e := 1.01 * (d.err + d.back + d.perturbation() + 2.02*a.y.round.row(end-first+1))
	x := sum / time
	return a.y.round.down(x, e), a.y.round.up(x, e), true, false, nil
}
