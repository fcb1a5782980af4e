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
	// errNever says that no path comes to a place where it may end, but for a probability
	// below one.
	errNever = errors.New("some reward that is to be small is infinite")
	// errMixed says that fractions are needed.
	errMixed = errors.New("rewards that are to be great, beside ones that are to be small")
)

// weigh is the oracle of package pareto: the best weighted sum of the objectives, where
// those that are to be small count as negative. It is the greatest total reward; or,
// since rewards that are to be small are only finite for schedulers that bring paths to
// an end, the least reward until that. There, what is to be great is what is lost of
// the most that can be had.
func (m *multi) weigh(ctx context.Context, weights []*big.Rat) (*pareto.Answer, error) {
	costs := m.costs()
	total := new(big.Rat)
	var price *sparse.Reward
	var err error
	if costs {
		price, total, err = m.losses(ctx, weights)
	} else {
		price, err = m.gains(weights)
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
	lower, upper := ends(v, 0)
	switch {
	case costs && lower == nil:
		return nil, errNever
	case costs:
		upper = total.Sub(total, lower)
	case upper == nil:
		return nil, m.tooGreat()
	}
	if m.kept {
		m.plans = append(m.plans, plan{how: v.Scheduler, weights: weights})
	}
	at, err := m.point(ctx, v.Scheduler, weights)
	return &pareto.Answer{Point: at, Bound: upper}, err
}

// ends returns the bounds of a state as fractions, nil for infinity.
func ends(v *solve.Values, s int) (lower, upper *big.Rat) {
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

// tooGreat is the error of numbers that doubles cannot be.
func (m *multi) tooGreat() error {
	return m.unsupported(m.p.X, "found multi(...) with numbers greater than doubles can be")
}

// options are those of a part of the answer, of which many add up.
func (m *multi) options() solve.Options {
	opts := m.opts
	opts.Classic = false
	opts.Epsilon = max(opts.Epsilon/8, leastEpsilon)
	return opts
}

// costs reports whether a reward is to be small.
func (m *multi) costs() bool {
	for _, o := range m.objectives {
		if o.form == rewards && !o.least {
			return true
		}
	}
	return false
}

// prices are the rewards of the choices of the product.
type prices struct {
	sparse.Reward
	exact bool
	err   error
}

func (m *multi) prices() *prices {
	p := &prices{exact: m.exact}
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

// add adds to the reward of a choice. All that is added is at least zero.
func (p *prices) add(c int, weight, amount *big.Rat, near float64) {
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

// reward returns what was added up.
func (p *prices) reward() (*sparse.Reward, error) {
	for c, x := range p.ChoiceRat {
		if x != nil {
			p.Choice[c], _ = sparse.NormalFloat(x)
		}
	}
	return &p.Reward, p.err
}

// amount is the reward that a choice of the product has for an objective.
func (m *multi) amount(o *objective, s, c int) (exact *big.Rat, near float64) {
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

// best returns the set of objectives with which a path should end in a state.
func (m *multi) best(s int, weights []*big.Rat) (set uint32, worth *big.Rat) {
	for i, of := range m.ends[s] {
		if w := m.worth(of, weights); i == 0 || w.Cmp(worth) > 0 {
			set, worth = of, w
		}
	}
	return set, worth
}

// worth is the weight of a set of objectives.
func (m *multi) worth(set uint32, weights []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i, w := range weights {
		if set>>i&1 == 1 {
			sum.Add(sum, w)
		}
	}
	return sum
}

// gains returns the weighted rewards of the choices, and at the end those of
// probabilities, where all are to be great.
func (m *multi) gains(weights []*big.Rat) (*sparse.Reward, error) {
	p := m.prices()
	one := big.NewRat(1, 1)
	for s := range m.states {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			for i, o := range m.objectives {
				exact, near := m.amount(o, s, c)
				p.add(c, weights[i], exact, near)
			}
		}
		if len(m.ends[s]) > 0 {
			_, worth := m.best(s, weights)
			p.add(end-1, worth, one, 1)
		}
	}
	return p.reward()
}

// losses returns what choices cost, and what everything is worth without costs: the
// weighted rewards that are to be small; of a probability, the weight at an end that
// does not have it; of a reward that is to be great, what a choice takes off the most
// that can still be had.
func (m *multi) losses(ctx context.Context, weights []*big.Rat) (*sparse.Reward, *big.Rat, error) {
	p := m.prices()
	total := new(big.Rat)
	most := make([][]*big.Rat, len(m.objectives))
	all := uint32(0)
	for i, o := range m.objectives {
		switch {
		case o.form != rewards:
			all |= 1 << i
			total.Add(total, weights[i])
		case o.least && weights[i].Sign() > 0:
			var err error
			if most[i], err = m.most(ctx, o); err != nil {
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
				case !o.least:
					exact, near := m.amount(o, s, c)
					p.add(c, weights[i], exact, near)
				case most[i] != nil:
					lost, err := m.lost(o, most[i], s, c)
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
			set, _ := m.best(s, weights)
			p.add(end-1, m.worth(all&^set, weights), one, 1)
		}
	}
	price, err := p.reward()
	return price, total, err
}

// gridBits is how much finer than the greatest number a grid of bounds is.
const gridBits = 45

// most returns an upper bound of the most that can be had of a reward from each state,
// which no step raises: on the end it is zero.
func (m *multi) most(ctx context.Context, o *objective) ([]*big.Rat, error) {
	if o.upper != nil {
		return o.upper, nil
	}
	if m.product.Rats == nil {
		return nil, errMixed
	}
	p := m.prices()
	one := big.NewRat(1, 1)
	for s := range m.states {
		first, end := m.product.Choices(s)
		for c := first; c < end; c++ {
			exact, near := m.amount(o, s, c)
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
	o.upper = make([]*big.Rat, m.product.NumStates())
	for s := range o.upper {
		if _, o.upper[s] = ends(v, s); o.upper[s] == nil {
			return nil, m.tooGreat()
		}
	}
	return o.upper, nil
}

// lost is what a choice takes off the most that can be had: that is not below zero.
func (m *multi) lost(o *objective, most []*big.Rat, s, c int) (*big.Rat, error) {
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

// point returns what a scheduler has of each objective at least; negative, and at most,
// of what is to be small.
func (m *multi) point(ctx context.Context, how []uint32, weights []*big.Rat) ([]*big.Rat, error) {
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
			r, fault := m.along(o, from)
			if fault != nil {
				return nil, fault
			}
			v, err = solve.TotalReward(ctx, chain, r, solve.Max, opts)
		} else {
			reached := sparse.NewSet(n)
			for k, x := range from {
				if x.choice == m.last(x.state) && len(m.ends[x.state]) > 0 {
					if set, _ := m.best(x.state, weights); set>>i&1 == 1 {
						reached.Add(k)
					}
				}
			}
			v, err = solve.Until(ctx, chain, sparse.FullSet(n), reached, solve.Max, opts)
		}
		if err != nil {
			return nil, err
		}
		lower, upper := ends(v, 0)
		if out[i] = lower; o.form == rewards && !o.least {
			out[i] = upper
		}
		if out[i] == nil {
			return nil, m.tooGreat()
		}
		if o.form == rewards && !o.least {
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

// origin is the state and the choice of the product that a state of a chain has.
type origin struct{ state, choice int }

// induce returns the chain of the states that a scheduler reaches; the end is not
// among its origins, as its last state.
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

// along returns the rewards of a chain for an objective.
func (m *multi) along(o *objective, from []origin) (*sparse.Reward, error) {
	p := &prices{exact: m.exact, Reward: sparse.Reward{Err: o.reward.Err + 0x1p-52, Choice: make([]float64, len(from)+1)}}
	if m.exact {
		p.ChoiceRat = make([]*big.Rat, len(from)+1)
	}
	one := big.NewRat(1, 1)
	for k, x := range from {
		exact, near := m.amount(o, x.state, x.choice)
		p.add(k, one, exact, near)
	}
	return p.reward()
}
