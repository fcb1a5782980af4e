package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Forward computes the state probabilities of a Markov chain forward in time. It starts in the initial
// states with equal probabilities.
//
//	f, err := solve.NewForward(g, solve.Options{})
//	err = f.Steps(ctx, 5)
//	v := f.Values() // probabilities after five steps
type Forward struct {
	g       *sparse.Graph
	uniform *uniform // with transposed transitions; all states are open
	opts    Options
	// The probability of state s is prob[s] with relative error relErr. In addition, all states
	// together have an absolute error of at most absErr.
	prob           []float64
	relErr, absErr float64
	exact          []*big.Rat  // replaces prob if fractions are asked for
	reachable      *sparse.Set // from the initial states
	steadyState    *Values     // set by SteadyState
}

// NewForward starts at time 0 of a DTMC or CTMC. The error is ErrNotExact if opts.Exact is set and the
// weights are not exact.
func NewForward(g *sparse.Graph, opts Options) (*Forward, error) {
	n := g.NumStates()
	if opts.Exact && !g.Exact() {
		return nil, ErrNotExact
	}
	f := &Forward{g: g, opts: opts, prob: make([]float64, n), relErr: 2 * unit, reachable: reached(g.Model)}
	for _, s := range g.Initial {
		f.prob[s] = 1 / float64(len(g.Initial))
	}
	if opts.Exact {
		f.exact = slices.Repeat([]*big.Rat{new(big.Rat)}, n)
		for _, s := range g.Initial {
			f.exact[s] = big.NewRat(1, int64(len(g.Initial)))
		}
	}
	f.uniform = newUniform(g, nil, opts)
	f.uniform.forward = true
	reversed, maxRow := transposed(g.Model)
	if g.Kind == sparse.CTMC {
		f.uniform.prepare(sparse.FullSet(n))
		f.uniform.err = max(f.uniform.err, f.uniform.stepErr(maxRow))
	} else {
		f.uniform.stepwise(maxRow)
	}
	f.uniform.g = sparse.NewGraph(reversed)
	return f, nil
}

// stepwise prepares for steps of a DTMC, with all states open.
func (z *uniform) stepwise(maxRow int) {
	z.prob = z.g.Weights
	for s := range z.g.NumStates() {
		z.states = append(z.states, uint32(s))
		lo, hi := z.g.Row(s)
		for i := lo; i < hi; i++ {
			if int(z.g.Target[i]) == s {
				z.stay[s] += z.g.Prob(i)
			}
		}
	}
	z.err = 1.05 * (float64(maxRow+4)*unit + z.round.err)
}

// transposed returns a Markov chain with its transitions reversed, each row in the order of the
// sources, and the greatest number of transitions into one state.
func transposed(m *sparse.Model) (reversed *sparse.Model, maxRow int) {
	n := m.NumStates()
	out := &sparse.Model{Kind: m.Kind, Weights: m.Weights, Rats: m.Rats, Err: m.Err}
	out.Start = make([]uint32, n+2)
	out.Target, out.Weight = make([]uint32, len(m.Target)), make([]uint32, len(m.Target))
	for _, t := range m.Target {
		out.Start[t+2]++
	}
	for t := range n {
		maxRow = max(maxRow, int(out.Start[t+2]))
		out.Start[t+2] += out.Start[t+1]
	}
	for s := range n {
		lo, hi := m.Row(s)
		for i := lo; i < hi; i++ {
			at := &out.Start[m.Target[i]+1]
			out.Target[*at], out.Weight[*at] = uint32(s), m.Weight[i]
			*at++
		}
	}
	out.Start = out.Start[:n+1]
	return out, maxRow
}

// Steps advances a DTMC by n steps.
func (f *Forward) Steps(ctx context.Context, n int) error {
	if f.exact != nil {
		return f.exactSteps(ctx, n)
	}
	return f.advance(ctx, &poisson{first: n, weight: []float64{1}})
}

// Time advances a CTMC by some time. The error is ErrNotExact for a Forward with fractions.
func (f *Forward) Time(ctx context.Context, time Time) error {
	if f.exact != nil {
		return ErrNotExact
	}
	if time.High.Sign() == 0 || f.uniform.rate == 0 {
		return nil
	}
	p, err := f.uniform.poisson(ctx, time)
	if err != nil {
		return err
	}
	return f.advance(ctx, p)
}

// advance takes a random number of steps with distribution p.
func (f *Forward) advance(ctx context.Context, p *poisson) error {
	z := f.uniform
	z.tiny, z.taken, z.spread = 0, 0, 0
	x, err := z.average(ctx, f.prob, p)
	if err != nil {
		return err
	}
	// A step preserves the sum of the probabilities, so errors do not grow.
	e := compound(p.err + z.err*(z.taken+1) + unit*float64(len(p.weight)+4) + z.spread)
	f.prob, f.relErr = x, 1.01*(f.relErr+e+f.relErr*e)
	f.absErr += 1.01*p.rest + z.tiny*(z.taken+1)*float64(len(x))
	return nil
}

// exactSteps is Steps in rational arithmetic.
func (f *Forward) exactSteps(ctx context.Context, n int) error {
	in := f.uniform.g.Model
	next := make([]*big.Rat, len(f.exact))
	var sum, term fraction
	return newStepWindow(sparse.FullSet(len(next))).forEachStep(nil, newMeter(ctx, f.opts, n), n, func(s uint32) (uint32, int) {
		sum.reset()
		lo, hi := in.Row(int(s))
		for i := lo; i < hi; i++ {
			if from := f.exact[in.Target[i]]; from.Sign() > 0 {
				term.reset()
				term.addRat(from)
				sum.addProduct(in.Rat(i), &term)
			}
		}
		next[s] = sum.rat()
		return sparse.None, 100*(hi-lo) + reductionCost(next[s])
	}, func() { f.exact, next = next, f.exact })
}

// Values returns bounds on the probability of each state, or the exact probabilities.
func (f *Forward) Values() *Values {
	if f.steadyState != nil {
		return f.steadyState
	}
	v := newValues(f.g.Model, Options{Exact: f.exact != nil})
	for s, x := range f.prob {
		switch {
		case f.exact != nil:
			v.assign(s, f.exact[s])
		case !f.reachable.Has(s):
		case x == 0 && f.absErr == 0:
		default:
			v.Lower[s] = max(f.uniform.round.down(x, f.relErr)-f.absErr, 0)
			v.Upper[s] = min(max(f.uniform.round.up(x, f.relErr)+1.01*f.absErr, f.uniform.round.floor), 1)
		}
	}
	return v
}

// reached returns the states that are reachable from the initial ones.
func reached(m *sparse.Model) *sparse.Set {
	out := sparse.NewSet(m.NumStates())
	queue := slices.Clone(m.Initial)
	for _, s := range queue {
		out.Add(int(s))
	}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		lo, hi := m.Row(int(s))
		for _, t := range m.Target[lo:hi] {
			if !out.Has(int(t)) {
				out.Add(int(t))
				queue = append(queue, t)
			}
		}
	}
	return out
}
