package solve

import (
	"context"
	"errors"
	"math"

	"tilecheck/native/explicit/sparse"
)

// ErrTooManySteps says that a time bound is so long, compared with the rates,
// that uniformisation would take more than 2^53 steps.
var ErrTooManySteps = errors.New("the time bound is too long for the rates of the model")

// Interval is a time bound: right holds at some time within it. To may be
// infinite.
type Interval struct{ From, To float64 }

// TimedUntil returns bounds on the probability of `left U right` with a time
// bound, in a CTMC. The times are taken as rounded once.
//
// Source: Baier, Haverkort, Hermanns and Katoen, Model-checking algorithms for
// continuous-time Markov chains (2003); uniformisation, Jensen (1953).
func TimedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Interval, opts Options) (*Values, error) {
	z := newUniform(g, nil, opts)
	length := bound.To - bound.From
	switch {
	case math.IsInf(bound.To, 1):
		v, err := Until(ctx, g, left, right, Max, opts)
		if err != nil {
			return nil, err
		}
		z.v = v
	case length == 0:
		z.v.set(right, 1)
	default:
		z.v.set(right, 1)
		err := 2 * unit * (bound.To + bound.From) / length
		if err := z.evolve(ctx, left.Minus(right), length, err); err != nil {
			return nil, err
		}
	}
	if bound.From > 0 {
		z.v.set(left.Complement(), 0)
		if err := z.evolve(ctx, left, bound.From, unit); err != nil {
			return nil, err
		}
	}
	z.v.set(g.ExistsUntil(left, right).Complement(), 0)
	z.atMost(1)
	return z.v, nil
}

// TimedInstantReward returns bounds on the expected state reward at a time.
func TimedInstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time float64, opts Options) (*Values, error) {
	z := newUniform(g, r, opts)
	rewarded := sparse.NewSet(g.NumStates())
	for s, x := range r.State {
		z.v.Lower[s], z.v.Upper[s] = z.round.down(x, z.round.err), z.round.up(x, z.round.err)
		if x > 0 {
			rewarded.Add(s)
		}
	}
	all := sparse.FullSet(g.NumStates())
	err := z.evolve(ctx, all, time, unit)
	z.v.set(g.ExistsUntil(all, rewarded).Complement(), 0)
	return z.v, err
}

// TimedCumulReward returns bounds on the expected reward earned until a time.
func TimedCumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, time float64, opts Options) (*Values, error) {
	z := newUniform(g, r, opts)
	y := &system{g: g, reward: r}
	x := make([]float64, g.NumStates())
	rewarded := sparse.NewSet(g.NumStates())
	for s := range x {
		if x[s] = y.gain(s, s); x[s] > 0 {
			rewarded.Add(s)
		}
	}
	all := sparse.FullSet(g.NumStates())
	if err := z.accumulate(ctx, x, time); err != nil {
		return nil, err
	}
	z.v.set(g.ExistsUntil(all, rewarded).Complement(), 0)
	return z.v, nil
}

// uniform is a CTMC seen as a DTMC whose steps come at the same rate in every state.
type uniform struct {
	g     *sparse.Graph
	round rounding
	v     *Values
	opts  Options
	// Of the open states, set by prepare:
	rate float64   // of steps
	exit []float64 // of each state, self-loops left out
	err  float64   // relative error of one step
	tiny float64   // what a step may lose because it is below the floor
}

func newUniform(g *sparse.Graph, r *sparse.Reward, opts Options) *uniform {
	opts.Scheduler = false
	return &uniform{g: g, round: newRounding(g.Model, r), v: newValues(g.Model, opts), opts: opts, exit: make([]float64, g.NumStates())}
}

func (z *uniform) atMost(x float64) {
	for s, u := range z.v.Upper {
		z.v.Upper[s] = min(u, x)
	}
}

// slack is how much faster the steps are than the fastest state, relatively:
// then staying has at least this probability everywhere, and no cancellation
// makes its relative error large.
const slack = 0.02

// prepare chooses the rate of the steps of the open states.
func (z *uniform) prepare(open *sparse.Set) {
	fastest, widest := 0.0, 0
	for s := range open.All() {
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
	n := float64(widest)
	z.err = 1.05 * ((n+2)*unit*(1+1/slack) + z.round.err*(1+1/slack) + (n+6)*unit)
	z.tiny = 0
}

// step computes one uniformised step backwards for the open states: what x is
// worth on average after it. It reports whether anything changed.
func (z *uniform) step(open *sparse.Set, x, out []float64, mt *meter) (bool, error) {
	changed := false
	for s := range open.All() {
		sum := (z.rate - z.exit[s]) * x[s]
		lo, hi := z.g.Row(s)
		for i := lo; i < hi; i++ {
			if t := int(z.g.Target[i]); t != s {
				sum += z.g.Prob(i) * x[t]
			}
		}
		sum /= z.rate
		if sum < z.round.floor && sum > 0 {
			z.tiny, sum = z.round.floor, 0
		}
		out[s] = sum
		changed = changed || sum != x[s]
		if err := mt.did(hi - lo); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// evolve replaces the values of the open states by what they are on average
// after the given time, during which all other states keep theirs.
func (z *uniform) evolve(ctx context.Context, open *sparse.Set, time, timeErr float64) error {
	z.prepare(open)
	if time == 0 || z.rate == 0 {
		return nil
	}
	p, err := z.poisson(time, timeErr)
	if err != nil {
		return err
	}
	same := equalFloats(z.v.Lower, z.v.Upper)
	up, err := z.average(ctx, open, z.v.Upper, p)
	if err != nil {
		return err
	}
	down := up
	if !same {
		if down, err = z.average(ctx, open, z.v.Lower, p); err != nil {
			return err
		}
	}
	most := 0.0
	for _, u := range z.v.Upper {
		most = max(most, u)
	}
	rel := p.err + z.err*float64(p.last()+1) + unit*float64(len(p.weight)+4)
	abs := 1.01*p.rest*most + z.tiny*float64(p.last()+1)
	for s := range open.All() {
		z.v.Lower[s] = z.round.down(down[s], rel)
		z.v.Upper[s] = z.round.up(up[s], rel) + abs
	}
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

// poisson returns the distribution of the number of steps in the given time.
func (z *uniform) poisson(time, timeErr float64) (*poisson, error) {
	mean := z.rate * time
	if !(mean < 1<<53) {
		return nil, ErrTooManySteps
	}
	return newPoisson(mean, timeErr+unit), nil
}

// average returns the mean of x after a Poisson number of steps. Once a step
// changes nothing, none will.
func (z *uniform) average(ctx context.Context, open *sparse.Set, x []float64, p *poisson) ([]float64, error) {
	mt := newMeter(ctx, z.opts, p.last())
	x = append([]float64(nil), x...)
	next := append([]float64(nil), x...)
	sum := make([]float64, len(x))
	for k := 0; k <= p.last(); k++ {
		w := p.of(k)
		if k > 0 {
			changed, err := z.step(open, x, next, mt)
			if err != nil {
				return nil, err
			}
			x, next = next, x
			if !changed {
				w = p.from(k)
				k = p.last()
			}
		}
		if w > 0 {
			for s := range open.All() {
				sum[s] += w * x[s]
			}
		}
		mt.progress.Done = k
	}
	return sum, nil
}

// accumulate sets the values to what the rewards x, per unit of time, amount to
// on average in the given time.
func (z *uniform) accumulate(ctx context.Context, x []float64, time float64) error {
	all := sparse.FullSet(len(x))
	z.prepare(all)
	if time == 0 {
		return nil
	}
	if z.rate == 0 {
		for s, r := range x {
			z.v.Lower[s], z.v.Upper[s] = z.round.down(r*time, 3*unit+z.round.err), z.round.up(r*time, 3*unit+z.round.err)
		}
		return nil
	}
	p, err := z.poisson(time, unit)
	if err != nil {
		return err
	}
	sum, err := z.total(ctx, all, x, p)
	if err != nil {
		return err
	}
	most := 0.0
	for _, r := range x {
		most = max(most, r)
	}
	// The sum has as many terms as there are steps, all positive.
	steps := float64(p.last() + 1)
	rel := p.err + z.err*steps + unit*(steps+8) + z.round.err
	abs := 1.01*(p.excess+p.rest*float64(len(p.weight)))*most/z.rate + z.tiny*steps*steps/z.rate
	for s := range sum {
		z.v.Lower[s] = z.round.down(sum[s]/z.rate, rel)
		z.v.Upper[s] = z.round.up(sum[s]/z.rate, rel) + abs
	}
	return nil
}

// total returns the mean of the sum of x over a Poisson number of steps.
func (z *uniform) total(ctx context.Context, all *sparse.Set, x []float64, p *poisson) ([]float64, error) {
	mt := newMeter(ctx, z.opts, p.last())
	beyond := p.beyond()
	next := make([]float64, len(x))
	x = append([]float64(nil), x...)
	sum := make([]float64, len(x))
	for k := 0; k <= p.last(); k++ {
		w := 1.0
		if k >= p.first {
			w = beyond[k-p.first]
		}
		for s := range sum {
			sum[s] += w * x[s]
		}
		if _, err := z.step(all, x, next, mt); err != nil {
			return nil, err
		}
		x, next = next, x
		mt.progress.Done = k
	}
	return sum, nil
}
