package prove

import (
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// average computes long-run averages with fractions, and the bias that goes with them.
func (w *work) average(right *sparse.Set) (*solve.Values, error) {
	if w.effort < fractions {
		return nil, errors.New("averages take fractions")
	}
	r := w.earned
	if r == nil {
		r = &sparse.Reward{}
		r.State, r.StateRat = indicator(right)
	}
	compute := w.evaluated
	if w.graph.First != nil {
		compute = w.howard
	}
	v, bias, err := compute(w.graph, r)
	if err != nil {
		return nil, err
	}
	least := new(big.Rat)
	for _, b := range bias {
		if b.Cmp(least) < 0 {
			least = b
		}
	}
	h := &certificate.Values{Rats: make([]*big.Rat, len(bias))}
	for k, s := range w.states() {
		h.Rats[k] = new(big.Rat).Sub(bias[s], least)
	}
	w.write(v)
	w.LowerBias, w.UpperBias = h, h
	return v, nil
}

// evaluated returns the averages of a chain, and a bias: what is earned, less the average of
// the state, until one state of each bottom component is reached. It solves h = r - g + P h,
// where h is 0 in those states.
func (w *work) evaluated(g *sparse.Graph, r *sparse.Reward) (v *solve.Values, bias []*big.Rat, err error) {
	if v, err = solve.LongRun(w.ctx, g, r, solve.Max, w.options()); err != nil {
		return nil, nil, err
	}
	ends, err := g.EndComponents(w.ctx, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	ground := sparse.NewSet(g.NumStates())
	for i := range ends.Num() {
		ground.Add(int(ends.Members(i)[0]))
	}
	earned, err := solve.ReachReward(w.ctx, g, r, ground, solve.Max, w.options())
	if err != nil {
		return nil, nil, err
	}
	mean := &sparse.Reward{State: v.Lower, StateRat: v.Exact}
	expected, err := solve.ReachReward(w.ctx, g, mean, ground, solve.Max, w.options())
	if err != nil {
		return nil, nil, err
	}
	bias = make([]*big.Rat, g.NumStates())
	for s := range bias {
		bias[s] = new(big.Rat).Sub(earned.Exact[s], expected.Exact[s])
	}
	return v, bias, nil
}

// maxImprovements is how many schedulers are tried.
const maxImprovements = 1000

// howard improves a scheduler of an MDP by its averages, and where they are the same by its
// bias, until no choice is better. Then the bias is moved by a multiple of the averages, so
// that it also goes with choices that lose of those: a step of them costs more than any
// bias gains.
//
// Source: Howard's policy iteration for several chains (Puterman, Markov Decision Processes, section 9.2).
func (w *work) howard(g *sparse.Graph, r *sparse.Reward) (v *solve.Values, bias []*big.Rat, err error) {
	choice := make([]int, g.NumStates())
	for s := range choice {
		choice[s], _ = g.Choices(s)
	}
	for range maxImprovements {
		chain, earned, err := w.induced(g, r, choice)
		if err != nil {
			return nil, nil, err
		}
		if v, bias, err = w.evaluated(chain, earned); err != nil {
			return nil, nil, err
		}
		if w.improve(g, r, choice, v.Exact, bias) {
			continue
		}
		move := new(big.Rat)
		for s := range choice {
			first, end := g.Choices(s)
			for c := first; c < end; c++ {
				if loss := w.better(v.Exact[s], w.mean(g, c, v.Exact)); loss.Sign() > 0 {
					lacks := w.better(w.step(g, r, s, c, bias), new(big.Rat).Add(v.Exact[s], bias[s]))
					if lacks.Quo(lacks, loss).Cmp(move) > 0 {
						move = lacks
					}
				}
			}
		}
		for s := range bias {
			bias[s].Add(bias[s], new(big.Rat).Mul(move, v.Exact[s]))
		}
		return v, bias, w.ctx.Err()
	}
	return nil, nil, errors.New("no scheduler was found whose averages are proven to be the best")
}

// better is how much better x is than y for the scheduler.
func (w *work) better(x, y *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(x, y)
	if !w.Max {
		d.Neg(d)
	}
	return d
}

// mean is that of some values after a choice, and step what the choice earns besides.
func (w *work) mean(g *sparse.Graph, c int, x []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	lo, hi := g.Row(c)
	for i := lo; i < hi; i++ {
		sum.Add(sum, new(big.Rat).Mul(g.Rat(i), x[g.Target[i]]))
	}
	return sum
}

func (w *work) step(g *sparse.Graph, r *sparse.Reward, s, c int, x []*big.Rat) *big.Rat {
	sum := w.mean(g, c, x)
	return sum.Add(sum, r.GainRat(s, c))
}

// improve changes choices to better ones, if there are any: for the averages in all
// states, or else for the bias.
func (w *work) improve(g *sparse.Graph, r *sparse.Reward, choice []int, gain, bias []*big.Rat) bool {
	changed := false
	for _, forBias := range []bool{false, true} {
		for s := range choice {
			best := gain[s]
			if forBias {
				best = new(big.Rat).Add(gain[s], bias[s])
			}
			first, end := g.Choices(s)
			for c := first; c < end; c++ {
				x := w.mean(g, c, gain)
				if forBias {
					if x.Cmp(gain[s]) != 0 {
						continue
					}
					x = w.step(g, r, s, c, bias)
				}
				if w.better(x, best).Sign() > 0 {
					choice[s], best, changed = c, x, true
				}
			}
		}
		if changed {
			return true
		}
	}
	return false
}

// induced is the chain that choices make of an MDP.
func (w *work) induced(g *sparse.Graph, r *sparse.Reward, choice []int) (*sparse.Graph, *sparse.Reward, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, nil, err
	}
	b := sparse.NewBuilder(sparse.DTMC)
	out := &sparse.Reward{State: make([]float64, len(choice)), StateRat: make([]*big.Rat, len(choice))}
	for s, c := range choice {
		b.State()
		lo, hi := g.Row(c)
		for i := lo; i < hi; i++ {
			b.AddRat(int(g.Target[i]), g.Rat(i), sparse.NoAction)
		}
		if x := r.GainRat(s, c); x.Sign() > 0 {
			out.StateRat[s] = x
			out.State[s], _ = sparse.Double(x)
		}
	}
	m, err := b.Finish()
	if err != nil {
		return nil, nil, err
	}
	m.Initial = g.Initial
	return sparse.NewGraph(m), out, nil
}

// indicator is a reward of 1 in the states of a set.
func indicator(x *sparse.Set) ([]float64, []*big.Rat) {
	f, r := make([]float64, x.Len()), make([]*big.Rat, x.Len())
	for s := range x.All() {
		f[s], r[s] = 1, big.NewRat(1, 1)
	}
	return f, r
}
