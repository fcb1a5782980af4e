package several

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// Product is a model with what objectives remember.
type Product struct {
	*certificate.Model
	*certificate.Several
	Of      []uint32               // the model's state of each state
	Rewards []*certificate.Rewards // of each objective
}

// memory is a state of the product.
type memory struct {
	of     uint32
	status uint32 // two bits for each objective
	steps  int
}

// The two bits of a probability.
const (
	open uint32 = iota
	now         // just satisfied
	over
)

// Earned are the rewards of the model's steps, by the place of their structure.
type Earned func(structure int, _ certificate.Bits) *certificate.Rewards

// Values are what is proven of the states of a model by a vector about several objectives:
// of all but the initial one nothing. sets are those of the vector, and lemma is to check
// that a bound of total rewards holds.
func Values(ctx context.Context, m *certificate.Model, v *certificate.Vector, sets []certificate.Bits, earned Earned, lemma func(Lemma) error) (out [2]*certificate.Values, err error) {
	p, err := New(ctx, m, v.Several, sets, earned)
	if err != nil {
		return out, err
	}
	lemmas, err := p.lemmas(v)
	if err != nil {
		return out, err
	}
	for _, l := range lemmas {
		if err := lemma(l); err != nil {
			return out, err
		}
	}
	return p.Values(ctx, m, v)
}

// arrivals number the states of the product as they are first met.
type arrivals struct {
	objectives  []certificate.Objective
	left, right []certificate.Bits // of each objective that is a probability
	count       int                // the most steps that a reward counts
	number      map[memory]uint32
	states      []memory
}

// arrive returns the state in which a state of the model is reached from another one.
func (a *arrivals) arrive(from memory, t uint32) uint32 {
	to := memory{of: t, steps: min(from.steps+1, a.count)}
	for i, o := range a.objectives {
		is := from.status >> (2 * i) & 3
		switch {
		case o.Reward >= 0:
		case is == open && a.right[i].Has(int(t)):
			is = now
		case is != open || !a.left[i].Has(int(t)):
			is = over
		}
		to.status |= is << (2 * i)
	}
	k, ok := a.number[to]
	if !ok {
		k = uint32(len(a.states))
		a.number[to], a.states = k, append(a.states, to)
	}
	return k
}

// New makes the product, of no more states than the certificate says.
func New(ctx context.Context, m *certificate.Model, x *certificate.Several, sets []certificate.Bits, earned Earned) (*Product, error) {
	p, n := &Product{Several: x}, len(x.Objectives)
	a := &arrivals{objectives: x.Objectives, left: make([]certificate.Bits, n), right: make([]certificate.Bits, n), number: map[memory]uint32{}}
	for i, o := range x.Objectives {
		if a.count = max(a.count, o.Steps); o.Reward < 0 {
			a.left[i], a.right[i], sets = sets[0], sets[1], sets[2:]
		}
	}
	for s := range m.NumStates() {
		if m.Initial.Has(s) {
			a.arrive(memory{steps: -1}, uint32(s))
		}
	}
	out := &certificate.Model{Kind: certificate.MDP, First: []uint32{0}, Start: []uint32{0}, Numbers: m.Numbers}
	var choices []uint32
	for i := 0; i < len(a.states); i++ { // the list grows
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		from := a.states[i]
		first, end := m.Choices(int(from.of))
		for c := first; c < end; c++ {
			lo, hi := m.Row(c)
			for _, t := range slices.Sorted(slices.Values(m.Target[lo:hi])) { // the file's order is another one
				a.arrive(from, t)
			}
			for _, t := range m.Target[lo:hi] {
				out.Target = append(out.Target, a.arrive(from, t))
			}
			choices, out.Prob, out.Start = append(choices, uint32(c)), append(out.Prob, m.Prob[lo:hi]...), append(out.Start, uint32(len(out.Target)))
		}
		p.Of, out.First = append(p.Of, from.of), append(out.First, uint32(len(choices)))
		if len(a.states) > x.States || len(out.Target) >= certificate.None {
			return nil, errors.New("the product with the objectives has more states than it says")
		}
	}
	p.Model = out
	out.Initial = certificate.NewBits(len(a.states))
	out.Initial.Add(0)
	p.reward(a.states, choices, earned)
	return p, nil
}

// reward makes the rewards of the objectives.
func (p *Product) reward(states []memory, choices []uint32, earned Earned) {
	for i, o := range p.Objectives {
		of, rats := make([]uint32, len(choices)), []*big.Rat{new(big.Rat), big.NewRat(1, 1)}
		var r *certificate.Rewards
		if o.Reward >= 0 {
			r = earned(o.Reward, nil)
			rats = append(rats, r.Rats...)
		}
		for s, z := range states {
			first, end := p.Choices(s)
			for c := first; c < end; c++ {
				switch {
				case o.Reward < 0 && z.status>>(2*i)&3 == now:
					of[c] = 1
				case o.Reward >= 0 && (o.Steps < 0 || z.steps < o.Steps):
					of[c] = 2 + r.Of[choices[c]]
				}
			}
		}
		p.Rewards = append(p.Rewards, certificate.NewRewards(of, rats))
	}
}

// Sum is the sum of rewards with weights, those of some objectives, for each choice.
func (p *Product) Sum(weight func(i int) *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(p.Start)-1)
	for c := range out {
		out[c] = new(big.Rat)
		for i, r := range p.Rewards {
			if x := r.Rats[r.Of[c]]; x.Sign() > 0 {
				out[c].Add(out[c], new(big.Rat).Mul(weight(i), x))
			}
		}
	}
	return out
}

// Small is r_L.
func (p *Product) Small() *certificate.Rewards {
	rats := p.Sum(func(i int) *big.Rat {
		if p.Objectives[i].Great {
			return new(big.Rat)
		}
		return big.NewRat(1, 1)
	})
	of := make([]uint32, len(rats))
	for c := range of {
		of[c] = uint32(c)
	}
	return certificate.NewRewards(of, rats)
}

// Lemma is a bound of total rewards that is to be shown.
type Lemma struct {
	Model   *certificate.Model
	Vector  *certificate.Vector
	Rewards *certificate.Rewards
}

// lemmas are what Values rests on.
func (p *Product) lemmas(v *certificate.Vector) (out []Lemma, err error) {
	if v.Lower != nil {
		out = append(out, Lemma{p.Model, &certificate.Vector{Kind: certificate.TotalReward, Lower: v.Lower, Rank: v.Rank, Layer: v.Layer}, p.Small()})
	}
	for j := range p.Parts {
		part := &p.Parts[j]
		chain, choices, err := p.Chain(part.Choice)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", j, err)
		}
		for i, o := range p.Objectives {
			l := Lemma{chain, &certificate.Vector{Kind: certificate.TotalReward, Upper: part.Values[i]}, p.Along(i, choices)}
			if o.Great {
				l.Vector.Lower, l.Vector.Upper, l.Vector.Rank = l.Vector.Upper, nil, part.Ranks[i]
			}
			out = append(out, l)
		}
	}
	return out, nil
}

// Chain is what the choices of a scheduler make of the product, and which of its they are.
func (p *Product) Chain(choice []uint32) (*certificate.Model, []int, error) {
	out := &certificate.Model{Kind: certificate.DTMC, Start: []uint32{0}, Numbers: p.Numbers, Initial: p.Initial}
	var choices []int
	for s := range p.NumStates() {
		first, end := p.Choices(s)
		if uint64(choice[s]) >= uint64(end-first) {
			return nil, nil, fmt.Errorf("state %d has no choice %d", s, choice[s])
		}
		c := first + int(choice[s])
		lo, hi := p.Row(c)
		out.Target, out.Prob = append(out.Target, p.Target[lo:hi]...), append(out.Prob, p.Prob[lo:hi]...)
		out.Start, choices = append(out.Start, uint32(len(out.Target))), append(choices, c)
	}
	return out, choices, nil
}

// Along are the rewards of an objective for the choices of a chain.
func (p *Product) Along(i int, choices []int) *certificate.Rewards {
	out := *p.Rewards[i]
	out.Of = make([]uint32, len(choices))
	for s, c := range choices {
		out.Of[s] = p.Rewards[i].Of[c]
	}
	return &out
}

// Values are what is proven where the lemmas hold.
func (p *Product) Values(ctx context.Context, m *certificate.Model, v *certificate.Vector) (out [2]*certificate.Values, err error) {
	lower, upper, err := p.bounds(ctx, v)
	if err != nil {
		return out, err
	}
	n := m.NumStates()
	out = [2]*certificate.Values{{Rats: make([]*big.Rat, n)}, {Rats: make([]*big.Rat, n), Infinite: certificate.NewBits(n)}}
	for s := range n {
		if out[0].Rats[s], out[1].Rats[s] = new(big.Rat), new(big.Rat); uint32(s) != p.Of[0] || upper == nil {
			out[1].Infinite.Add(s)
		}
	}
	if out[0].Rats[p.Of[0]] = lower; upper != nil {
		out[1].Rats[p.Of[0]] = upper
	}
	return out, nil
}

// bounds are those of the initial state; nil is infinity.
func (p *Product) bounds(ctx context.Context, v *certificate.Vector) (lower, upper *big.Rat, err error) {
	q := p.Query()
	had, reached, err := p.had()
	if err != nil {
		return nil, nil, err
	}
	lower = new(big.Rat)
	if q == nil {
		if upper = big.NewRat(1, 1); reached {
			lower.SetInt64(1)
		}
	}
	if q != nil && !reached {
		return nil, nil, errors.New("nothing shows that the bounds of the objectives can be kept")
	}
	if q != nil && q.Great {
		lower = had
	} else if q != nil {
		upper = had
	}
	if p.Several.Weights == nil {
		return lower, upper, nil
	}
	most, err := p.most(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	weight := new(big.Rat)
	for i, o := range p.Objectives {
		switch {
		case o.Bound == nil:
			weight = p.Several.Weights[i]
		case o.Great:
			most.Sub(most, new(big.Rat).Mul(p.Several.Weights[i], o.Bound))
		default:
			most.Add(most, new(big.Rat).Mul(p.Several.Weights[i], o.Bound))
		}
	}
	switch {
	case q == nil && most.Sign() < 0:
		upper = new(big.Rat)
	case q == nil || weight.Sign() == 0:
	case q.Great:
		upper = most.Quo(most, weight)
	default:
		if lower = most.Neg(most.Quo(most, weight)); lower.Sign() < 0 {
			lower.SetInt64(0)
		}
	}
	return lower, upper, nil
}

// had is what the drawn scheduler has of the objective without a bound, and whether it
// keeps the bounds of the others.
func (p *Product) had() (value *big.Rat, reached bool, err error) {
	value = new(big.Rat)
	if len(p.Parts) == 0 {
		return value, false, nil
	}
	all := new(big.Rat)
	for j := range p.Parts {
		all.Add(all, p.Parts[j].Share)
	}
	if all.Cmp(big.NewRat(1, 1)) != 0 {
		return nil, false, fmt.Errorf("the shares of the parts sum to %s", all.RatString())
	}
	for i, o := range p.Objectives {
		sum := new(big.Rat)
		for j := range p.Parts {
			x := p.Parts[j].Values[i].Rat(0)
			if x == nil {
				return nil, false, errors.New("a part has infinite values in the initial state")
			}
			sum.Add(sum, new(big.Rat).Mul(x, p.Parts[j].Share))
		}
		switch {
		case o.Bound == nil:
			value = sum
		case o.Great && sum.Cmp(o.Bound) < 0, !o.Great && sum.Cmp(o.Bound) > 0:
			return nil, false, fmt.Errorf("the parts do not keep the bound of objective %d", i)
		}
	}
	return value, true, nil
}

// most is y - c in the initial state, where y and x are as they have to be.
func (p *Product) most(ctx context.Context, v *certificate.Vector) (*big.Rat, error) {
	y, x := v.Upper, v.Lower
	if y == nil || y.Infinite != nil || x != nil && x.Infinite.Has(0) {
		return nil, errors.New("the weights have no finite values, or no scheduler keeps what is small finite")
	}
	earned := p.Sum(func(i int) *big.Rat {
		if p.Objectives[i].Great {
			return p.Several.Weights[i]
		}
		return new(big.Rat).Neg(p.Several.Weights[i])
	})
	never := func(t int) bool { return x != nil && x.Infinite.Has(t) }
	term := new(big.Rat)
	for s := range p.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if never(s) {
			continue
		}
		own := y.Rat(s)
		floor := new(big.Rat).Set(own)
		if x != nil {
			floor.Add(floor, term.Mul(p.Factor, x.Rat(s)))
		}
		if floor.Cmp(p.Shift) < 0 {
			return nil, fmt.Errorf("product state %d: the value is less than what may be lost", s)
		}
		first, end := p.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := p.Row(c)
			if slices.ContainsFunc(p.Target[lo:hi], func(t uint32) bool { return never(int(t)) }) {
				continue
			}
			step := new(big.Rat).Set(earned[c])
			for t := lo; t < hi; t++ {
				step.Add(step, term.Mul(p.Numbers[p.Prob[t]], y.Rat(int(p.Target[t]))))
			}
			if own.Cmp(step) < 0 {
				return nil, fmt.Errorf("product state %d: the value is below that of a step", s)
			}
		}
	}
	return new(big.Rat).Sub(y.Rat(0), p.Shift), nil
}
