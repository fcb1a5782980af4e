package several

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/certify/product"
)

// Product is the product of a model with the memory of the objectives.
type Product struct {
	*certificate.Model
	*certificate.Several
	Of      []uint32               // the model's state of each product state
	Rewards []*certificate.Rewards // for each objective
}

// productState is a state of the product.
type productState struct {
	state  uint32
	status uint32 // two bits for each objective: undecided, satisfied or closed
	steps  int
}

// The status of the until formula of an objective.
const (
	undecided uint32 = iota
	satisfied        // by just this state
	closed
)

// StepRewards returns the rewards of the steps of the model for a reward structure, such as certificate.Model.StepRewards.
type StepRewards func(structure int, _ certificate.Bits) *certificate.Rewards

// Values returns the bounds that a multi-objective vector proves for the states of a model. Only the initial state gets
// nontrivial ones. sets are the sets of the vector. Values calls lemma for each bound of a total reward that it needs;
// lemma returns an error if the bound is not proven.
func Values(ctx context.Context, model *certificate.Model, vector *certificate.Vector, sets []certificate.Bits, earned StepRewards, lemma func(Lemma) error) (out [2]*certificate.Values, err error) {
	product, err := New(ctx, model, vector.Several, sets, earned)
	if err != nil {
		return out, err
	}
	lemmas, err := product.lemmas(vector)
	if err != nil {
		return out, err
	}
	for _, l := range lemmas {
		if err := lemma(l); err != nil {
			return out, err
		}
	}
	return product.Values(ctx, model, vector)
}

// memory is what a path remembers of the objectives.
type memory struct {
	objectives  []certificate.Objective
	left, right []certificate.Bits // for each objective that is a probability
	maxSteps    int                // the greatest step bound of a reward
}

// next returns the product state that is reached from a product state by a transition to a state of the model.
func (m *memory) next(from productState, target uint32) productState {
	to := productState{state: target, steps: min(from.steps+1, m.maxSteps)}
	for i, objective := range m.objectives {
		status := from.status >> (2 * i) & 3
		switch {
		case objective.Reward >= 0:
		case status == undecided && m.right[i].Has(int(target)):
			status = satisfied
		case status != undecided || !m.left[i].Has(int(target)):
			status = closed
		}
		to.status |= status << (2 * i)
	}
	return to
}

// New builds the product. The error says if it has more states than several.States.
func New(ctx context.Context, model *certificate.Model, several *certificate.Several, sets []certificate.Bits, earned StepRewards) (*Product, error) {
	n := len(several.Objectives)
	m := &memory{objectives: several.Objectives, left: make([]certificate.Bits, n), right: make([]certificate.Bits, n)}
	for i, objective := range several.Objectives {
		if m.maxSteps = max(m.maxSteps, objective.Steps); objective.Reward < 0 {
			m.left[i], m.right[i], sets = sets[0], sets[1], sets[2:]
		}
	}
	var starts []productState
	for s := range model.NumStates() {
		if model.Initial.Has(s) {
			starts = append(starts, m.next(productState{steps: -1}, uint32(s)))
		}
	}
	built, err := product.Build(ctx, model, &product.Memory[productState]{
		Name:       "the objectives",
		ModelState: func(s productState) uint32 { return s.state },
		Next:       func(from productState, _ int, to uint32) productState { return m.next(from, to) },
	}, starts, several.States)
	if err != nil {
		return nil, err
	}
	out := &Product{Model: built.Model, Several: several}
	for _, s := range built.States {
		out.Of = append(out.Of, s.state)
	}
	out.Kind = certificate.MDP // also of a chain, in which each state has one choice
	if out.First == nil {
		for i := range len(out.Start) {
			out.First = append(out.First, uint32(i))
		}
	}
	out.Initial = certificate.NewBits(len(built.States))
	out.Initial.Add(0)
	out.buildRewards(built.States, built.Choice, earned)
	return out, nil
}

// buildRewards sets the reward of each objective: 1 where the formula has just been satisfied, or the model's reward.
func (p *Product) buildRewards(states []productState, choices []uint32, earned StepRewards) {
	for i, objective := range p.Objectives {
		of, rats := make([]uint32, len(choices)), []*big.Rat{new(big.Rat), big.NewRat(1, 1)}
		var rewards *certificate.Rewards
		if objective.Reward >= 0 {
			rewards = earned(objective.Reward, nil)
			rats = append(rats, rewards.Rats...)
		}
		for s, z := range states {
			first, end := p.Choices(s)
			for c := first; c < end; c++ {
				switch {
				case objective.Reward < 0 && z.status>>(2*i)&3 == satisfied:
					of[c] = 1
				case objective.Reward >= 0 && (objective.Steps < 0 || z.steps < objective.Steps):
					of[c] = 2 + rewards.Of[choices[c]]
				}
			}
		}
		p.Rewards = append(p.Rewards, certificate.NewRewards(of, rats))
	}
}

// Sum returns, for each choice, the weighted sum of the objectives' rewards.
func (p *Product) Sum(weight func(i int) *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(p.Start)-1)
	for c := range out {
		out[c] = new(big.Rat)
		for i, rewards := range p.Rewards {
			if x := rewards.Rats[rewards.Of[c]]; x.Sign() > 0 {
				out[c].Add(out[c], new(big.Rat).Mul(weight(i), x))
			}
		}
	}
	return out
}

// MinimisedRewards returns r_L, the sum of the rewards of the minimised objectives.
func (p *Product) MinimisedRewards() *certificate.Rewards {
	rats := p.Sum(func(i int) *big.Rat {
		if p.Objectives[i].Maximised {
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

// Lemma is a bound of a total reward that rule 3 has to prove.
type Lemma struct {
	Model   *certificate.Model
	Vector  *certificate.Vector
	Rewards *certificate.Rewards
}

// lemmas returns the bounds that the proof of the vector depends on.
func (p *Product) lemmas(vector *certificate.Vector) (out []Lemma, err error) {
	if vector.Lower != nil {
		out = append(out, Lemma{p.Model, &certificate.Vector{Kind: certificate.TotalReward, Lower: vector.Lower, Rank: vector.Rank, Layer: vector.Layer}, p.MinimisedRewards()})
	}
	for j := range p.Parts {
		part := &p.Parts[j]
		chain, choices, err := p.Chain(part.Choice)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", j, err)
		}
		for i, objective := range p.Objectives {
			lemma := Lemma{chain, &certificate.Vector{Kind: certificate.TotalReward, Upper: part.Values[i]}, p.InducedRewards(i, choices)}
			if objective.Maximised {
				lemma.Vector.Lower, lemma.Vector.Upper, lemma.Vector.Rank = lemma.Vector.Upper, nil, part.Ranks[i]
			}
			out = append(out, lemma)
		}
	}
	return out, nil
}

// Chain returns the Markov chain that a scheduler induces, and the product's choice in each state.
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

// InducedRewards returns the rewards of objective i in an induced chain with these choices.
func (p *Product) InducedRewards(i int, choices []int) *certificate.Rewards {
	out := *p.Rewards[i]
	out.Of = make([]uint32, len(choices))
	for s, c := range choices {
		out.Of[s] = p.Rewards[i].Of[c]
	}
	return &out
}

// Values returns the bounds of the model's states that follow from the lemmas.
func (p *Product) Values(ctx context.Context, model *certificate.Model, vector *certificate.Vector) (out [2]*certificate.Values, err error) {
	lower, upper, err := p.initialBounds(ctx, vector)
	if err != nil {
		return out, err
	}
	n := model.NumStates()
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

// initialBounds returns the bounds in the initial state; a nil upper bound is infinity.
func (p *Product) initialBounds(ctx context.Context, vector *certificate.Vector) (lower, upper *big.Rat, err error) {
	query := p.Query()
	achieved, reached, err := p.mixture()
	if err != nil {
		return nil, nil, err
	}
	lower = new(big.Rat)
	if query == nil {
		if upper = big.NewRat(1, 1); reached {
			lower.SetInt64(1)
		}
	}
	if query != nil && !reached {
		return nil, nil, errors.New("the parts do not prove that the bounds of the objectives can be satisfied")
	}
	if query != nil && query.Maximised {
		lower = achieved
	} else if query != nil {
		upper = achieved
	}
	if p.Several.Weights == nil {
		return lower, upper, nil
	}
	upperSum, err := p.weightedUpperBound(ctx, vector)
	if err != nil {
		return nil, nil, err
	}
	weight := new(big.Rat)
	for i, objective := range p.Objectives {
		switch {
		case objective.Bound == nil:
			weight = p.Several.Weights[i]
		case objective.Maximised:
			upperSum.Sub(upperSum, new(big.Rat).Mul(p.Several.Weights[i], objective.Bound))
		default:
			upperSum.Add(upperSum, new(big.Rat).Mul(p.Several.Weights[i], objective.Bound))
		}
	}
	switch {
	case query == nil && upperSum.Sign() < 0:
		upper = new(big.Rat)
	case query == nil || weight.Sign() == 0:
	case query.Maximised:
		upper = upperSum.Quo(upperSum, weight)
	default:
		if lower = upperSum.Neg(upperSum.Quo(upperSum, weight)); lower.Sign() < 0 {
			lower.SetInt64(0)
		}
	}
	return lower, upper, nil
}

// mixture returns the value of the query under the mixture of the parts. reached says that there are parts; they must
// then satisfy the bounds of the other objectives.
func (p *Product) mixture() (value *big.Rat, reached bool, err error) {
	value = new(big.Rat)
	if len(p.Parts) == 0 {
		return value, false, nil
	}
	shares := new(big.Rat)
	for j := range p.Parts {
		shares.Add(shares, p.Parts[j].Share)
	}
	if shares.Cmp(big.NewRat(1, 1)) != 0 {
		return nil, false, fmt.Errorf("the shares of the parts sum to %s", shares.RatString())
	}
	for i, objective := range p.Objectives {
		sum := new(big.Rat)
		for j := range p.Parts {
			x := p.Parts[j].Values[i].Rat(0)
			if x == nil {
				return nil, false, errors.New("a part has infinite values in the initial state")
			}
			sum.Add(sum, new(big.Rat).Mul(x, p.Parts[j].Share))
		}
		switch {
		case objective.Bound == nil:
			value = sum
		case objective.Maximised && sum.Cmp(objective.Bound) < 0, !objective.Maximised && sum.Cmp(objective.Bound) > 0:
			return nil, false, fmt.Errorf("the parts violate the bound of objective %d", i)
		}
	}
	return value, true, nil
}

// weightedUpperBound checks the conditions on y and x, and returns y - c in the initial state.
func (p *Product) weightedUpperBound(ctx context.Context, vector *certificate.Vector) (*big.Rat, error) {
	y, x := vector.Upper, vector.Lower
	if y == nil || y.Infinite != nil || x != nil && x.Infinite.Has(0) {
		return nil, errors.New("the weights have no finite upper values, or a minimised objective is infinite for all schedulers")
	}
	earned := p.Sum(func(i int) *big.Rat {
		if p.Objectives[i].Maximised {
			return p.Several.Weights[i]
		}
		return new(big.Rat).Neg(p.Several.Weights[i])
	})
	infinite := func(t int) bool { return x != nil && x.Infinite.Has(t) }
	term := new(big.Rat)
	for s := range p.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if infinite(s) {
			continue
		}
		value := y.Rat(s)
		lowest := new(big.Rat).Set(value)
		if x != nil {
			lowest.Add(lowest, term.Mul(p.Factor, x.Rat(s)))
		}
		if lowest.Cmp(p.Shift) < 0 {
			return nil, fmt.Errorf("product state %d: y + k x is below the shift c", s)
		}
		first, end := p.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := p.Row(c)
			if slices.ContainsFunc(p.Target[lo:hi], func(t uint32) bool { return infinite(int(t)) }) {
				continue
			}
			step := new(big.Rat).Set(earned[c])
			for t := lo; t < hi; t++ {
				step.Add(step, term.Mul(p.Numbers[p.Prob[t]], y.Rat(int(p.Target[t]))))
			}
			if value.Cmp(step) < 0 {
				return nil, fmt.Errorf("product state %d: y is below its value after a step", s)
			}
		}
	}
	return new(big.Rat).Sub(y.Rat(0), p.Shift), nil
}
