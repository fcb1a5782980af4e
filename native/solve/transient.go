package solve

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// TimedUntil returns bounds on the probability of `left U right` with a time
// bound, in a CTMC.
//
// Source: Baier, Haverkort, Hermanns and Katoen, Model-checking algorithms for
// continuous-time Markov chains (2003); uniformisation, Jensen (1953).
func TimedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Interval, opts Options) (*Values, error) {
	return timedUntil(ctx, g, left, right, bound, false, opts)
}

// NotTimedUntil returns bounds on the probability of the negation. It does not compute 1 minus the probability of the
// formula, in which all digits may cancel.
func NotTimedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Interval, opts Options) (*Values, error) {
	return timedUntil(ctx, g, left, right, bound, true, opts)
}

func timedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Interval, negated bool, opts Options) (*Values, error) {
	z := newUniform(g, nil, opts)
	met, missed := 1.0, 0.0
	if negated {
		met, missed = missed, met
	}
	var err error
	if bound.To.None() {
		z.v, err = unboundedUntil(ctx, g, left, right, negated, opts)
	} else {
		z.v.set(right.Complement(), missed)
		z.v.set(right, met)
		err = z.evolveUntil(ctx, left, right, bound.To.since(bound.From), negated)
	}
	if err != nil {
		return nil, err
	}
	if bound.From.High.Sign() > 0 {
		z.v.set(left.Complement(), missed)
		if err := z.evolve(ctx, left, bound.From); err != nil {
			return nil, err
		}
	}
	z.atMost(1)
	return z.v, nil
}

// unboundedUntil returns bounds on the probability of an until formula without an upper bound, or of its negation. With
// probability one a chain reaches a state in which the formula holds, or in which it cannot hold any more.
func unboundedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, negated bool, opts Options) (*Values, error) {
	if negated {
		left, right = right.Complement(), g.Prob0A(left, right)
	}
	opts.Scheduler = false
	return Until(ctx, g, left, right, Max, opts)
}

// TimedInstantReward returns bounds on the expected state reward at a time.
func TimedInstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time Time, opts Options) (*Values, error) {
	z := newUniform(g, r, opts)
	x, scale := scaled(r.State, nil, g.NumStates())
	for s, whole := range r.State {
		z.v.Lower[s], z.v.Upper[s] = z.round.rewardBounds(x[s])
		if whole > 0 {
			z.v.Upper[s] = max(z.v.Upper[s], z.round.floor)
		}
	}
	if err := z.evolve(ctx, sparse.FullSet(g.NumStates()), time); err != nil {
		return nil, err
	}
	z.v.unscale(scale)
	return z.v, nil
}

// TimedCumulReward returns bounds on the expected reward earned until a time.
func TimedCumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time Time, opts Options) (*Values, error) {
	z := newUniform(g, r, opts)
	n := g.NumStates()
	rewarded := sparse.NewSet(n)
	for s := range n {
		if r.State != nil && r.State[s] > 0 || r.Choice != nil && r.Choice[s] > 0 {
			rewarded.Add(s)
		}
	}
	x, scale := scaled(r.State, r.Choice, n)
	if err := z.accumulate(ctx, x, time); err != nil {
		return nil, err
	}
	z.v.unscale(scale)
	z.v.set(g.ExistsUntil(sparse.FullSet(n), rewarded).Complement(), 0)
	return z.v, nil
}

// scaled returns the sums of rewards times 2^scale, so that their products with rates do not overflow. Sums that
// underflow are far below the floor.
func scaled(state, choice []float64, n int) (x []float64, scale int) {
	const great = 100
	most := 0.0
	for _, r := range state {
		most = max(most, r)
	}
	for _, r := range choice {
		most = max(most, r)
	}
	if most > 0x1p100 {
		scale = great - math.Ilogb(most)
	}
	x = make([]float64, n)
	for s, r := range state {
		x[s] = math.Ldexp(r, scale)
	}
	for s, r := range choice {
		x[s] += math.Ldexp(r, scale)
	}
	return x, scale
}

// unscale undoes scaled. A lower bound that overflows becomes the greatest float64.
func (v *Values) unscale(scale int) {
	if scale == 0 {
		return
	}
	for s := range v.Lower {
		v.Lower[s] = min(math.Ldexp(v.Lower[s], -scale), math.MaxFloat64)
		v.Upper[s] = math.Ldexp(v.Upper[s], -scale)
	}
}

// uniform is a CTMC seen as a DTMC whose steps come at the same rate in every state.
type uniform struct {
	g     *sparse.Graph
	round rounding
	v     *Values
	opts  Options
	// Of the open states, set by prepare:
	rate   float64   // of steps
	states []uint32  // the open ones
	exit   []float64 // of each state, self-loops left out
	stay   []float64 // probability of each state that a step stays
	prob   []float64 // that of each weight in a step
	err    float64   // relative error of one step
	tiny   float64   // greatest absolute loss of a step because a value is below the floor
	taken  float64   // number of steps taken
	spread float64   // relative error of the skipped steps
	lost   bool      // whether a value fell below the floor in the last step
	// forward says that steps compute a distribution forwards, so later values are not means of these.
	forward bool
}

func newUniform(g *sparse.Graph, r *sparse.Reward, opts Options) *uniform {
	opts.Scheduler = false
	n := g.NumStates()
	return &uniform{g: g, round: newRounding(g.Model, r), v: newValues(g.Model, opts), opts: opts, exit: make([]float64, n), stay: make([]float64, n)}
}

func (z *uniform) atMost(x float64) {
	for s, u := range z.v.Upper {
		z.v.Upper[s] = min(u, x)
	}
}

// slack is the relative difference of the uniformisation rate to the greatest exit rate. The probability to stay is then
// at least about slack in every state, so no cancellation makes its relative error large.
const slack = 0.05

// prepare chooses the rate of the steps of the open states.
func (z *uniform) prepare(open *sparse.Set) {
	fastest, widest := 0.0, 0
	z.states = z.states[:0]
	for s := range open.All() {
		z.states = append(z.states, uint32(s))
		sum := 0.0
		lo, hi := z.g.Row(s)
		for i := lo; i < hi; i++ {
			if int(z.g.Target[i]) != s {
				sum += z.g.Prob(i)
			}
		}
		z.exit[s] = sum
		fastest, widest = max(fastest, sum), max(widest, hi-lo)
	}
	z.rate = fastest * (1 + slack)
	z.err = z.stepErr(widest)
	z.tiny, z.taken, z.spread = 0, 0, 0
	for _, s := range z.states {
		z.stay[s] = (z.rate - z.exit[s]) / z.rate
	}
	z.prob = z.prob[:0]
	for _, w := range z.g.Weights {
		z.prob = append(z.prob, w/z.rate)
	}
}

// stepErr returns the relative error of a step in a chain with at most widest transitions from a state.
func (z *uniform) stepErr(widest int) float64 {
	n := float64(widest)
	return 1.05 * ((n+2)*unit*(1+1/slack) + z.round.err*(1+1/slack) + (n+6)*unit)
}

// step computes one uniformised step backwards for the open states: the mean of x after it. It reports whether anything
// changed.
func (z *uniform) step(x, out []float64, meter *meter) (changed bool, err error) {
	const block = 1 << 16
	z.lost = false
	for from := 0; from < len(z.states); from += block {
		states := z.states[from:min(from+block, len(z.states))]
		var other, lost atomic.Bool
		inParts(len(states), 1<<12, func(from, to int) {
			changed, tiny := z.stepOf(states[from:to], x, out)
			if changed {
				other.Store(true)
			}
			if tiny {
				lost.Store(true)
			}
		})
		changed = changed || other.Load()
		if lost.Load() {
			z.lost, z.tiny = true, z.round.floor
		}
		// An estimate: rows have about the mean length.
		if err := meter.addWork(len(states) * (1 + len(z.g.Target)/len(z.exit))); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// stepOf is step for some of the states. lost says that a value fell below the floor.
func (z *uniform) stepOf(states []uint32, x, out []float64) (changed, lost bool) {
	start, target, weight, prob, floor := z.g.Start, z.g.Target, z.g.Weight, z.prob, z.round.floor
	for _, s := range states {
		sum := z.stay[s] * x[s]
		for i, end := start[s], start[s+1]; i < end; i++ {
			if t := target[i]; t != s {
				sum += prob[weight[i]] * x[t]
			}
		}
		if sum < floor && sum > 0 {
			lost, sum = true, 0
		}
		out[s] = sum
		changed = changed || sum != x[s]
	}
	return changed, lost
}

// checkInterval is the number of steps between two checks whether later steps can be skipped: so many that the checks
// cost nothing.
const checkInterval = 64

// nearlyEqual reports whether all values are so close together that later steps change little: the value after any
// number of steps is a mean of them. It records the relative error in spread.
func (z *uniform) nearlyEqual(x []float64) bool {
	if z.forward {
		return false
	}
	least, most := slices.Min(x), slices.Max(x)
	if !(least > 0 && most-least <= least*z.opts.epsilon()/8) {
		return false
	}
	z.spread = max(z.spread, 1.01*(most-least)/least)
	return true
}

// evolve replaces the values of the open states by their mean after the given time. The other states keep their values.
func (z *uniform) evolve(ctx context.Context, open *sparse.Set, time Time) error {
	z.prepare(open)
	if time.High.Sign() == 0 || z.rate == 0 {
		return nil
	}
	p, err := z.poisson(ctx, time)
	if err != nil {
		return err
	}
	all := sparse.FullSet(z.g.NumStates())
	zero, one := z.v.certainStates(z.g, open, all)
	same := equalFloats(z.v.Lower, z.v.Upper)
	up, err := z.average(ctx, z.v.Upper, p)
	if err != nil {
		return err
	}
	down := up
	if !same {
		if down, err = z.average(ctx, z.v.Lower, p); err != nil {
			return err
		}
	}
	most := 0.0
	for _, u := range z.v.Upper {
		most = max(most, u)
	}
	rel := compound(p.err + z.err*(z.taken+1) + unit*float64(len(p.weight)+4) + z.spread)
	abs := 1.01*p.rest*most + z.tiny*(z.taken+1)
	for s := range open.All() {
		z.v.Lower[s] = z.round.down(down[s], rel)
		z.v.Upper[s] = max(z.round.up(up[s], rel)+abs, z.round.floor)
	}
	z.v.set(zero, 0)
	z.v.set(one, 1)
	return nil
}

func equalFloats(x, y []float64) bool {
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// compound bounds the relative error of a product of many factors, whose errors have the given sum. The sum need not be
// small.
func compound(sum float64) float64 { return math.Expm1(1.01 * sum) }

// poisson returns the distribution of the number of steps in the given time.
func (z *uniform) poisson(ctx context.Context, time Time) (*poisson, error) {
	mean, err, failure := z.mean(time)
	if failure != nil {
		return nil, failure
	}
	if !(mean < maxSteps) {
		return nil, tooManySteps(mean, maxSteps)
	}
	// One mean must have the right mode, and the right bounds of the truncated weights.
	if !(err*max(mean, 1) < 0x1p-18) {
		return nil, ErrTime
	}
	cut := truncation
	if z.opts.epsilon() < DefaultEpsilon { // values may be small
		cut = fineTruncation
	}
	return newPoisson(ctx, mean, err, cut)
}

// average returns the mean of x after a Poisson-distributed number of steps.
func (z *uniform) average(ctx context.Context, x []float64, p *poisson) ([]float64, error) {
	return z.weightedSum(ctx, x, p, 0, p.weight)
}

// total returns the mean of the sum of x over a Poisson-distributed number of steps.
func (z *uniform) total(ctx context.Context, x []float64, p *poisson) ([]float64, error) {
	return z.weightedSum(ctx, x, p, 1, p.beyond())
}

// weightedSum returns the sum of the values of x after 0 to p.last() steps. The weight is flat before p.first steps, and
// weights[k-p.first] after k steps. It skips the steps that change little.
func (z *uniform) weightedSum(ctx context.Context, x []float64, p *poisson, flat float64, weights []float64) ([]float64, error) {
	meter := newMeter(ctx, z.opts, p.last())
	x = slices.Clone(x)
	next, sum := slices.Clone(x), make([]float64, len(x))
	for k, done := 0, false; !done; k++ {
		w := flat
		if k >= p.first {
			w = weights[k-p.first]
		}
		if done = k == p.last(); !done {
			changed, err := z.step(x, next, meter)
			if err != nil {
				return nil, err
			}
			rest := remainingWeights{flat, max(0, p.first-k), weights[max(0, k-p.first):]}
			switch {
			case (!changed || k%checkInterval == 0) && z.nearlyEqual(x):
				w, _ = rest.sum(1)
				done = true
			case !changed: // in float64: each later step has as much error again
				w, _ = rest.sum(1)
				done, z.taken = true, float64(p.last())
			default:
				if weight, ok := z.extrapolate(k, x, next, sum, rest); ok {
					w, done = weight, true
				}
			}
		}
		if w > 0 {
			inParts(len(z.states), 1<<14, func(from, to int) {
				for _, s := range z.states[from:to] {
					sum[s] += w * x[s]
				}
			})
		}
		z.taken = max(z.taken, float64(k))
		x, next = next, x
		meter.progress.Done = k
	}
	return sum, nil
}

// accumulate sets the values to the mean reward in the given time. x are the rewards per unit of time.
func (z *uniform) accumulate(ctx context.Context, x []float64, time Time) error {
	all := sparse.FullSet(len(x))
	z.prepare(all)
	if time.High.Sign() == 0 {
		return nil
	}
	if z.rate == 0 {
		for s, r := range x {
			z.v.Lower[s] = z.round.down(times(r, time.Low), 3*unit+z.round.err)
			z.v.Upper[s] = max(z.round.up(times(r, time.High), 3*unit+z.round.err), z.round.floor)
		}
		return nil
	}
	p, err := z.poisson(ctx, time)
	if err != nil {
		return err
	}
	sum, err := z.total(ctx, x, p)
	if err != nil {
		return err
	}
	most := 0.0
	for _, r := range x {
		most = max(most, r)
	}
	// The sum has one positive term for each step. The weight of the last term is a sum of up to len(p.weight) terms.
	rel := z.totalErr(p) + z.round.err
	abs := 1.01*(p.excess+p.rest*float64(len(p.weight)))*most + z.totalLost(p)
	for s := range sum {
		z.v.Lower[s] = z.round.down(sum[s]/z.rate, rel)
		z.v.Upper[s] = max(z.round.up(sum[s]/z.rate, rel)+abs/z.rate, z.round.floor)
	}
	return nil
}

// totalErr bounds the relative error of total. totalLost bounds the sum of the values that fell below the floor.
func (z *uniform) totalErr(p *poisson) float64 {
	steps := z.taken + 1
	return compound(p.err + z.err*steps + unit*(steps+float64(len(p.weight))+8) + z.spread)
}

func (z *uniform) totalLost(p *poisson) float64 { return z.tiny * (z.taken + 1) * float64(p.last()+1) }

// absorb sets the values of the open states to the probability that right is reached in the given time: the sum of the
// probabilities to reach it in each step, times the probability that there are as many steps.
func (z *uniform) absorb(ctx context.Context, open, right *sparse.Set, time Time) error {
	p, err := z.poisson(ctx, time)
	if err != nil {
		return err
	}
	zero, one := z.v.certainStates(z.g, open, sparse.FullSet(z.g.NumStates()))
	x := make([]float64, z.g.NumStates())
	for _, s := range z.states {
		lo, hi := z.g.Row(int(s))
		for i := lo; i < hi; i++ {
			if right.Has(int(z.g.Target[i])) {
				x[s] += z.prob[z.g.Weight[i]]
			}
		}
	}
	sum, err := z.total(ctx, x, p)
	if err != nil {
		return err
	}
	// The probabilities sum to at most 1, and beyond has the truncation error of p.
	rel, abs := z.totalErr(p), 2.02*p.rest+z.totalLost(p)
	for s := range open.All() {
		z.v.Lower[s] = z.round.down(sum[s], rel)
		z.v.Upper[s] = max(z.round.up(sum[s], rel)+abs, z.round.floor)
	}
	z.v.set(zero, 0)
	z.v.set(one, 1)
	return nil
}
