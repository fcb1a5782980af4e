package prove

import (
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// averageColumns computes the gain (long-run average) in rational arithmetic, and a bias, which it shifts to be nonnegative.
func (w *vectorProof) averageColumns(right *sparse.Set) (*solve.Values, error) {
	if w.effort < fractions {
		return nil, errors.New("long-run averages need rational arithmetic")
	}
	r := w.structure
	if r == nil {
		r = &sparse.Reward{}
		r.State, r.StateRat = indicator(right)
	}
	compute := w.gainAndBias
	if w.graph.First != nil {
		compute = w.policyIteration
	}
	v, bias, err := compute(w.graph, r)
	if err != nil {
		return nil, err
	}
	leastBias := new(big.Rat)
	for _, b := range bias {
		if b.Cmp(leastBias) < 0 {
			leastBias = b
		}
	}
	biasColumn := &certificate.Values{Rats: make([]*big.Rat, len(bias))}
	for k, s := range w.orderedStates() {
		biasColumn.Rats[k] = new(big.Rat).Sub(bias[s], leastBias)
	}
	w.setBoundColumns(v)
	w.LowerBias, w.UpperBias = biasColumn, biasColumn
	return v, nil
}

// gainAndBias returns the gain g and a bias h of a Markov chain, which solve g + h = r + P h. The bias is 0 in one
// reference state of each BSCC; elsewhere it is the expected reward until a reference state, minus the expected gain until then.
func (w *vectorProof) gainAndBias(g *sparse.Graph, r *sparse.Reward) (v *solve.Values, bias []*big.Rat, err error) {
	if v, err = solve.LongRun(w.ctx, g, r, solve.Max, w.options()); err != nil {
		return nil, nil, err
	}
	components, err := g.EndComponents(w.ctx, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	references := sparse.NewSet(g.NumStates())
	for i := range components.Num() {
		references.Add(int(components.Members(i)[0]))
	}
	rewardUntilReference, err := solve.ReachReward(w.ctx, g, r, references, solve.Max, w.options())
	if err != nil {
		return nil, nil, err
	}
	gain := &sparse.Reward{State: v.Lower, StateRat: v.Exact}
	gainUntilReference, err := solve.ReachReward(w.ctx, g, gain, references, solve.Max, w.options())
	if err != nil {
		return nil, nil, err
	}
	bias = make([]*big.Rat, g.NumStates())
	for s := range bias {
		bias[s] = new(big.Rat).Sub(rewardUntilReference.Exact[s], gainUntilReference.Exact[s])
	}
	return v, bias, nil
}

// maxImprovements is the greatest number of schedulers that policy iteration evaluates.
const maxImprovements = 1000

// policyIteration improves a scheduler of an MDP, by its gain and where that is equal by its bias, until no choice is better.
// The checker asks for g + h >= r + P h (for the maximum) of all choices, and the result satisfies that only where the gain
// stays equal. So policyIteration adds a multiple of the gain to the bias: a choice that loses gain then fails by more
// than its bias could win.
//
// Source: Howard's multichain policy iteration (Puterman, Markov Decision Processes, section 9.2).
func (w *vectorProof) policyIteration(g *sparse.Graph, r *sparse.Reward) (v *solve.Values, bias []*big.Rat, err error) {
	choice := make([]int, g.NumStates())
	for s := range choice {
		choice[s], _ = g.Choices(s)
	}
	for range maxImprovements {
		chain, earned, err := w.inducedChain(g, r, choice)
		if err != nil {
			return nil, nil, err
		}
		if v, bias, err = w.gainAndBias(chain, earned); err != nil {
			return nil, nil, err
		}
		if w.improve(g, r, choice, v.Exact, bias) {
			continue
		}
		multiple := new(big.Rat)
		for s := range choice {
			first, end := g.Choices(s)
			for c := first; c < end; c++ {
				if gainLoss := w.advantage(v.Exact[s], w.expectedNext(g, c, v.Exact)); gainLoss.Sign() > 0 {
					biasExcess := w.advantage(w.rewardAndNext(g, r, s, c, bias), new(big.Rat).Add(v.Exact[s], bias[s]))
					if biasExcess.Quo(biasExcess, gainLoss).Cmp(multiple) > 0 {
						multiple = biasExcess
					}
				}
			}
		}
		for s := range bias {
			bias[s].Add(bias[s], new(big.Rat).Mul(multiple, v.Exact[s]))
		}
		return v, bias, w.ctx.Err()
	}
	return nil, nil, errors.New("policy iteration for the long-run average evaluated too many schedulers")
}

// advantage returns x-y for a maximum and y-x for a minimum: it is positive if x is better.
func (w *vectorProof) advantage(x, y *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(x, y)
	if !w.Max {
		d.Neg(d)
	}
	return d
}

// expectedNext returns the expected value of x after choice c.
func (w *vectorProof) expectedNext(g *sparse.Graph, c int, x []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	lo, hi := g.Row(c)
	for i := lo; i < hi; i++ {
		sum.Add(sum, new(big.Rat).Mul(g.Rat(i), x[g.Target[i]]))
	}
	return sum
}

// rewardAndNext returns the reward of choice c in state s plus the expected value of x after it.
func (w *vectorProof) rewardAndNext(g *sparse.Graph, r *sparse.Reward, s, c int, x []*big.Rat) *big.Rat {
	sum := w.expectedNext(g, c, x)
	return sum.Add(sum, r.OfChoiceRat(s, c))
}

// improve is the improvement step of policy iteration: it switches to choices with a better gain or, if there are none,
// with an equal gain and a better bias. It reports whether a choice changed.
func (w *vectorProof) improve(g *sparse.Graph, r *sparse.Reward, choice []int, gain, bias []*big.Rat) bool {
	changed := false
	for _, forBias := range []bool{false, true} {
		for s := range choice {
			best := gain[s]
			if forBias {
				best = new(big.Rat).Add(gain[s], bias[s])
			}
			first, end := g.Choices(s)
			for c := first; c < end; c++ {
				x := w.expectedNext(g, c, gain)
				if forBias {
					if x.Cmp(gain[s]) != 0 {
						continue
					}
					x = w.rewardAndNext(g, r, s, c, bias)
				}
				if w.advantage(x, best).Sign() > 0 {
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

// inducedChain returns the Markov chain that one choice per state leaves of an MDP, and its rewards.
func (w *vectorProof) inducedChain(g *sparse.Graph, r *sparse.Reward, choice []int) (*sparse.Graph, *sparse.Reward, error) {
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
		if x := r.OfChoiceRat(s, c); x.Sign() > 0 {
			out.StateRat[s] = x
			out.State[s], _ = sparse.NormalFloat(x)
		}
	}
	m, err := b.Finish()
	if err != nil {
		return nil, nil, err
	}
	m.Initial = g.Initial
	return sparse.NewGraph(m), out, nil
}

// indicator returns a state reward that is 1 in the states of a set and 0 elsewhere.
func indicator(x *sparse.Set) ([]float64, []*big.Rat) {
	f, r := make([]float64, x.Len()), make([]*big.Rat, x.Len())
	for s := range x.All() {
		f[s], r[s] = 1, big.NewRat(1, 1)
	}
	return f, r
}
