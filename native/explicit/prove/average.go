package prove

import (
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// average computes long-run averages with fractions, and the bias that goes with them:
// what is earned, less the average of the state, until one state of each bottom component
// is reached. It solves h = r - g + P h, where h is 0 in those states.
func (w *work) average(right *sparse.Set) (*solve.Values, error) {
	if w.effort < fractions {
		return nil, errors.New("averages take fractions")
	}
	g, r := w.graph, w.earned
	if r == nil {
		r = &sparse.Reward{}
		r.State, r.StateRat = indicator(right)
	}
	if g.First != nil {
		return nil, errors.New("averages of an MDP have no certificate")
	}
	v, err := solve.LongRun(w.ctx, g, r, solve.Max, w.options())
	if err != nil {
		return nil, err
	}
	ends, err := g.EndComponents(w.ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	ground := sparse.NewSet(g.NumStates())
	for i := range ends.Num() {
		ground.Add(int(ends.Members(i)[0]))
	}
	earned, err := solve.ReachReward(w.ctx, g, r, ground, solve.Max, w.options())
	if err != nil {
		return nil, err
	}
	mean := &sparse.Reward{State: v.Lower, StateRat: v.Exact}
	expected, err := solve.ReachReward(w.ctx, g, mean, ground, solve.Max, w.options())
	if err != nil {
		return nil, err
	}
	least := new(big.Rat)
	bias := make([]*big.Rat, g.NumStates())
	for s := range bias {
		bias[s] = new(big.Rat).Sub(earned.Exact[s], expected.Exact[s])
		if bias[s].Cmp(least) < 0 {
			least = bias[s]
		}
	}
	least = new(big.Rat).Set(least)
	for _, b := range bias {
		b.Sub(b, least)
	}
	w.write(v)
	h := &certificate.Values{Rats: make([]*big.Rat, len(bias))}
	for k, s := range w.states() {
		h.Rats[k] = bias[s]
	}
	w.LowerBias, w.UpperBias = h, h
	return v, nil
}

// indicator is a reward of 1 in the states of a set.
func indicator(x *sparse.Set) ([]float64, []*big.Rat) {
	f, r := make([]float64, x.Len()), make([]*big.Rat, x.Len())
	for s := range x.All() {
		f[s], r[s] = 1, big.NewRat(1, 1)
	}
	return f, r
}
