package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/solve/pareto"
	"tilecheck/native/space/sparse"
)

var (
	// errInfiniteCost says that no scheduler ends almost all paths, so that some minimised reward is infinite.
	errInfiniteCost = errors.New("some reward that is to be small is infinite")
	// errNeedsFractions says that the weights of the model are needed as fractions.
	errNeedsFractions = errors.New("rewards that are to be great, beside ones that are to be small")
)

// bestWeightedSum is the oracle of package pareto: the greatest weighted sum of the objectives, in which minimised
// objectives count as negative. Without minimised rewards it is a maximal total reward. Otherwise it is a minimal reward
// until the end is reached, because only schedulers that end almost all paths have finite costs; a maximised objective then
// counts with what is lost of its maximum.
func (m *multi) bestWeightedSum(ctx context.Context, weights []*big.Rat) (*pareto.Answer, error) {
	costs := m.hasCosts()
	total := new(big.Rat)
	var price *sparse.Reward
	var err error
	if costs {
		price, total, err = m.weightedLosses(ctx, weights)
	} else {
		price, err = m.weightedRewards(weights)
	}
	if err != nil {
		return nil, err
	}
	opts := m.options()
	opts.Scheduler = true
	var v *solve.Values
	if costs {
		end := sparse.NewSet(m.product.NumStates())
		end.Add(len(m.states))
		v, err = solve.ReachReward(ctx, m.product, price, end, solve.Min, opts)
	} else {
		v, err = solve.TotalReward(ctx, m.product, price, solve.Max, opts)
	}
	if err != nil {
		return nil, err
	}
	m.gaveUp = m.gaveUp || !v.Converged
	lower, upper := boundsOf(v, 0)
	switch {
	case costs && lower == nil:
		return nil, errInfiniteCost
	case costs:
		upper = total.Sub(total, lower)
	case upper == nil:
		return nil, m.beyondFloat64()
	}
	if m.keepSchedulers {
		m.schedulers = append(m.schedulers, weightedScheduler{choices: v.Scheduler, weights: weights})
	}
	at, err := m.attained(ctx, v.Scheduler, weights)
	return &pareto.Answer{Point: at, Bound: upper}, err
}

// boundsOf returns the bounds of the value of a state as fractions; nil for infinity.
func boundsOf(v *solve.Values, s int) (lower, upper *big.Rat) {
	if v.Exact != nil {
		return v.Exact[s], v.Exact[s]
	}
	if !math.IsInf(v.Lower[s], 1) {
		lower = new(big.Rat).SetFloat64(v.Lower[s])
	}
	if !math.IsInf(v.Upper[s], 1) {
		upper = new(big.Rat).SetFloat64(v.Upper[s])
	}
	return lower, upper
}

// beyondFloat64 is the error of numbers that float64 cannot represent.
func (m *multi) beyondFloat64() error {
	return m.unsupported(m.p.X, "found multi(...) with numbers greater than doubles can be")
}

// options returns the options for one of several values that are added up.
func (m *multi) options() solve.Options {
	opts := m.opts
	opts.Classic = false
	opts.Epsilon = max(opts.Epsilon/8, leastEpsilon)
	return opts
}

// hasCosts reports whether a reward is minimised.
func (m *multi) hasCosts() bool {
	for _, o := range m.objectives {
		if o.form == rewards && !o.great {
			return true
		}
	}
	return false
}

// choiceRewards collects rewards of the choices of the product.
type choiceRewards struct {
	sparse.Reward
	exact bool
	err   error
}

func (m *multi) newChoiceRewards() *choiceRewards {
	p := &choiceRewards{exact: m.exact}
	p.Choice = make([]float64, m.product.NumChoices())
	if m.exact {
		p.ChoiceRat = make([]*big.Rat, m.product.NumChoices())
	}
	for _, o := range m.objectives {
		if o.form == rewards {
			p.Err = max(p.Err, o.reward.Err)
			if o.reward.Unfit != nil && !m.exact {
				p.err = o.reward.Unfit
			}
		}
	}
	// Two rewards are added, multiplied and added to at most as many others as there are
	// objectives.
	p.Err += 0x1p-52 * float64(len(m.objectives)+4)
	return p
}

// add adds weight times amount to the reward of a choice. near is the float64 next to amount. Neither is negative.
func (p *choiceRewards) add(c int, weight, amount *big.Rat, near float64) {
	if weight.Sign() == 0 || near == 0 {
		return
	}
	w, _ := weight.Float64()
	p.Choice[c] += w * near
	if x := p.Choice[c]; !p.exact && !sparse.InRange(x) {
		p.err = fmt.Errorf("found a weighted reward of %g, which doubles are no good for", x)
	}
	if p.exact {
		if p.ChoiceRat[c] == nil {
			p.ChoiceRat[c] = new(big.Rat)
		}
		p.ChoiceRat[c].Add(p.ChoiceRat[c], new(big.Rat).Mul(weight, amount))
	}
}

// reward returns the sums.
func (p *choiceRewards) reward() (*sparse.Reward, error) {
	for c, x := range p.ChoiceRat {
		if x != nil {
			p.Choice[c], _ = sparse.NormalFloat(x)
		}
	}
	return &p.Reward, p.err
}

// choiceReward returns the reward of a choice of the product for an objective.
func (m *multi) choiceReward(o *objective, s, c int) (exact *big.Rat, near float64) {
	of := m.choice[c]
	if of == sparse.None || !o.earned(m.states[s]) {
		return nil, 0
	}
	state, r := m.states[s].state, o.reward
	if near = r.OfChoice(int(state), int(of)); near == 0 || !m.exact {
		return nil, near
	}
	return r.OfChoiceRat(int(state), int(of)), near
}

// bestEnd returns the set of objectives with the greatest weight among those with which a path may end in a state.
func (m *multi) bestEnd(s int, weights []*big.Rat) (set uint32, worth *big.Rat) {
	for i, of := range m.ends[s] {
		if w := m.totalWeight(of, weights); i == 0 || w.Cmp(worth) > 0 {
			set, worth = of, w
		}
	}
	return set, worth
}

// totalWeight returns the weight of a set of objectives.
func (m *multi) totalWeight(set uint32, weights []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i, w := range weights {
		if set>>i&1 == 1 {
			sum.Add(sum, w)
		}
	}
	return sum
}

// weightedRewards returns the weighted rewards of the choices if all objectives are maximised. The choice that leads to the
// end earns the weights of the path formulas that it satisfies.
func (m *multi) weightedRewards(weights []*big.Rat) (*sparse.Reward, error) {
	p := m.newChoiceRewards()
	one := big.NewRat(1, 1)
	for s := range m.states {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			for i, o := range m.objectives {
				exact, near := m.choiceReward(o, s, c)
				p.add(c, weights[i], exact, near)
			}
		}
		if len(m.ends[s]) > 0 {
			_, worth := m.bestEnd(s, weights)
			p.add(end-1, worth, one, 1)
		}
	}
	return p.reward()
}

// weightedLosses returns the costs of the choices, and the weighted sum that a path without costs would have. Costs are
// minimised rewards; at the end, the weights of the path formulas that are not satisfied; and for a maximised reward, the
// amount by which a choice lowers the maximum that can still be earned.
func (m *multi) weightedLosses(ctx context.Context, weights []*big.Rat) (*sparse.Reward, *big.Rat, error) {
	p := m.newChoiceRewards()
	total := new(big.Rat)
	most := make([][]*big.Rat, len(m.objectives))
	all := uint32(0)
	for i, o := range m.objectives {
		switch {
		case o.form != rewards:
			all |= 1 << i
			total.Add(total, weights[i])
		case o.great && weights[i].Sign() > 0:
			var err error
			if most[i], err = m.maxReward(ctx, o); err != nil {
				return nil, nil, err
			}
			total.Add(total, new(big.Rat).Mul(weights[i], most[i][0]))
		}
	}
	one := big.NewRat(1, 1)
	for s := range m.states {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			for i, o := range m.objectives {
				switch {
				case o.form != rewards:
				case !o.great:
					exact, near := m.choiceReward(o, s, c)
					p.add(c, weights[i], exact, near)
				case most[i] != nil:
					lost, err := m.loss(o, most[i], s, c)
					if err != nil {
						return nil, nil, err
					}
					near, _ := sparse.NormalFloat(lost)
					if lost.Sign() == 0 {
						near = 0
					}
					p.add(c, weights[i], lost, near)
				}
			}
		}
		if len(m.ends[s]) > 0 {
			set, _ := m.bestEnd(s, weights)
			p.add(end-1, m.totalWeight(all&^set, weights), one, 1)
		}
	}
	price, err := p.reward()
	return price, total, err
}

// gridBits is the number of bits of a grid of bounds below the greatest number.
const gridBits = 45

// maxReward returns upper bounds of the maximal reward from each state. They are inductive, and 0 in the end state.
func (m *multi) maxReward(ctx context.Context, o *objective) ([]*big.Rat, error) {
	if o.maxRewards != nil {
		return o.maxRewards, nil
	}
	if m.product.Rats == nil {
		return nil, errNeedsFractions
	}
	p := m.newChoiceRewards()
	one := big.NewRat(1, 1)
	for s := range m.states {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			exact, near := m.choiceReward(o, s, c)
			p.add(c, one, exact, near)
		}
	}
	price, err := p.reward()
	if err != nil {
		return nil, err
	}
	opts := m.options()
	v, err := solve.TotalReward(ctx, m.product, price, solve.Max, opts)
	if err == nil && !m.exact {
		greatest := 0.0
		for _, x := range v.Upper {
			greatest = max(greatest, x)
		}
		if opts.Grid = math.Ldexp(1, math.Ilogb(greatest)-gridBits); greatest > 0 {
			v, err = solve.TotalReward(ctx, m.product, price, solve.Max, opts)
		}
	}
	if err != nil {
		return nil, err
	}
	o.maxRewards = make([]*big.Rat, m.product.NumStates())
	for s := range o.maxRewards {
		if _, o.maxRewards[s] = boundsOf(v, s); o.maxRewards[s] == nil {
			return nil, m.beyondFloat64()
		}
	}
	return o.maxRewards, nil
}

// loss returns the amount by which a choice lowers the maximum that can be earned; it is not negative.
func (m *multi) loss(o *objective, most []*big.Rat, s, c int) (*big.Rat, error) {
	out := new(big.Rat).Set(most[s])
	if of := m.choice[c]; of != sparse.None && o.earned(m.states[s]) {
		out.Sub(out, o.reward.OfChoiceRat(int(m.states[s].state), int(of)))
	}
	term := new(big.Rat)
	lo, hi := m.product.Row(c)
	for k := lo; k < hi; k++ {
		out.Sub(out, term.Mul(m.product.Rat(k), most[m.product.Target[k]]))
	}
	if out.Sign() < 0 {
		return nil, m.unsupported(m.p.X, "found multi(...) with a reward of which no bound was found")
	}
	return out, nil
}

// attained returns a lower bound of what a scheduler attains for each objective. A minimised objective has a negative sign.
func (m *multi) attained(ctx context.Context, how []uint32, weights []*big.Rat) ([]*big.Rat, error) {
	chain, from, err := m.induce(ctx, how)
	if err != nil {
		return nil, err
	}
	n := chain.NumStates()
	out := make([]*big.Rat, len(m.objectives))
	opts := m.options()
	for i, o := range m.objectives {
		var v *solve.Values
		if o.form == rewards {
			r, fault := m.chainReward(o, from)
			if fault != nil {
				return nil, fault
			}
			v, err = solve.TotalReward(ctx, chain, r, solve.Max, opts)
		} else {
			reached := sparse.NewSet(n)
			for k, x := range from {
				if x.choice == m.last(x.state) && len(m.ends[x.state]) > 0 {
					if set, _ := m.bestEnd(x.state, weights); set>>i&1 == 1 {
						reached.Add(k)
					}
				}
			}
			v, err = solve.Until(ctx, chain, sparse.FullSet(n), reached, solve.Max, opts)
		}
		if err != nil {
			return nil, err
		}
		lower, upper := boundsOf(v, 0)
		if out[i] = lower; o.form == rewards && !o.great {
			out[i] = upper
		}
		if out[i] == nil {
			return nil, m.beyondFloat64()
		}
		if o.form == rewards && !o.great {
			out[i] = new(big.Rat).Neg(out[i])
		}
	}
	return out, nil
}

// last returns the last choice of a state of the product.
func (m *multi) last(s int) int {
	_, end := m.product.Choices(s)
	return end - 1
}

// origin is the state and the choice of the product that a state of the chain stands for.
type origin struct{ state, choice int }

// induce returns the chain of the states that a scheduler reaches. Its last state is the end state, which has no origin.
func (m *multi) induce(ctx context.Context, how []uint32) (*sparse.Graph, []origin, error) {
	end := uint32(len(m.states))
	number := make([]uint32, m.product.NumStates())
	for i := range number {
		number[i] = sparse.None
	}
	var from []origin
	place := func(s uint32) {
		if s == end || number[s] != sparse.None {
			return
		}
		number[s] = uint32(len(from))
		c := how[s]
		if c == sparse.None { // any will do
			c = uint32(m.last(int(s)))
		}
		from = append(from, origin{int(s), int(c)})
	}
	place(0)
	for i := 0; i < len(from); i++ {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		lo, hi := m.product.Row(from[i].choice)
		for _, t := range m.product.Target[lo:hi] {
			place(t)
		}
	}
	number[end] = uint32(len(from))
	b := sparse.NewDerivedBuilder(m.product.Model, sparse.DTMC)
	target := func(i int) uint32 { return number[m.product.Target[i]] }
	for _, x := range append(from, origin{int(end), m.last(int(end))}) {
		b.State()
		b.Copy(x.choice, target)
	}
	return sparse.NewGraph(b.Finish()), from, nil
}

// chainReward returns the rewards of the chain for an objective.
func (m *multi) chainReward(o *objective, from []origin) (*sparse.Reward, error) {
	p := &choiceRewards{exact: m.exact, Reward: sparse.Reward{Err: o.reward.Err + 0x1p-52, Choice: make([]float64, len(from)+1)}}
	if m.exact {
		p.ChoiceRat = make([]*big.Rat, len(from)+1)
	}
	one := big.NewRat(1, 1)
	for k, x := range from {
		exact, near := m.choiceReward(o, x.state, x.choice)
		p.add(k, one, exact, near)
	}
	return p.reward()
}
