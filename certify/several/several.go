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
	ModelState []uint32               // the model's state of each product state
	Rewards    []*certificate.Rewards // for each objective
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

// Values returns the lower and the upper bounds that a multi-objective vector proves for the states of a model. Only the bounds of the
// initial state are not trivial. sets are the sets on which the vector depends. The proof depends on lemmas about total rewards. Values calls
// prove for each lemma, and prove returns an error if the lemma is not proven.
func Values(ctx context.Context, model *certificate.Model, vector *certificate.Vector, sets []certificate.Bits, stepRewards StepRewards, prove func(Lemma) error) (bounds [2]*certificate.Values, err error) {
	product, err := New(ctx, model, vector.Several, sets, stepRewards)
	if err != nil {
		return bounds, err
	}
	lemmas, err := product.lemmas(vector)
	if err != nil {
		return bounds, err
	}
	for _, lemma := range lemmas {
		if err := prove(lemma); err != nil {
			return bounds, err
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

// next returns the product state after a transition from the product state source to state target of the model.
func (m *memory) next(source productState, target uint32) productState {
	result := productState{state: target, steps: min(source.steps+1, m.maxSteps)}
	for i, objective := range m.objectives {
		if objective.Reward < 0 {
			status := source.status >> (2 * i) & 3
			result.status |= m.nextStatus(i, status, target) << (2 * i)
		}
	}
	return result
}

// nextStatus returns the status of the until formula of objective i after a transition to state target of the model. status is its status before
// the transition.
func (m *memory) nextStatus(i int, status, target uint32) uint32 {
	switch {
	case status != undecided:
		return closed
	case m.right[i].Has(int(target)):
		return satisfied
	case m.left[i].Has(int(target)):
		return undecided
	}
	return closed
}

// New returns the product of a model with the memory of the objectives. sets has two sets, left and right, for each objective that is a
// probability. It is an error if the product has more states than several.States.
func New(ctx context.Context, model *certificate.Model, several *certificate.Several, sets []certificate.Bits, stepRewards StepRewards) (*Product, error) {
	n := len(several.Objectives)
	objectiveMemory := &memory{objectives: several.Objectives, left: make([]certificate.Bits, n), right: make([]certificate.Bits, n)}
	for i, objective := range several.Objectives {
		if objectiveMemory.maxSteps = max(objectiveMemory.maxSteps, objective.Steps); objective.Reward < 0 {
			objectiveMemory.left[i], objectiveMemory.right[i], sets = sets[0], sets[1], sets[2:]
		}
	}
	var starts []productState
	for s := range model.NumStates() {
		if model.Initial.Has(s) {
			starts = append(starts, objectiveMemory.next(productState{steps: -1}, uint32(s)))
		}
	}
	builtProduct, err := product.Build(ctx, model, &product.Memory[productState]{
		Name:       "the objectives",
		ModelState: func(s productState) uint32 { return s.state },
		Next: func(source productState, _ int, target uint32) productState {
			return objectiveMemory.next(source, target)
		},
	}, starts, several.States)
	if err != nil {
		return nil, err
	}
	result := &Product{Model: builtProduct.Model, Several: several}
	for _, s := range builtProduct.States {
		result.ModelState = append(result.ModelState, s.state)
	}
	result.Kind = certificate.MDP // also of a chain, in which each state has one choice
	if result.FirstChoice == nil {
		for i := range len(result.FirstTransition) {
			result.FirstChoice = append(result.FirstChoice, uint32(i))
		}
	}
	result.Initial = certificate.NewBits(len(builtProduct.States))
	result.Initial.Add(0)
	result.buildRewards(builtProduct.States, builtProduct.Choice, stepRewards)
	return result, nil
}

// buildRewards computes the rewards of each objective on the product. choices[c] is the choice of the model for choice c of the product.
func (p *Product) buildRewards(states []productState, choices []uint32, stepRewards StepRewards) {
	for i, objective := range p.Objectives {
		if objective.Reward < 0 {
			p.Rewards = append(p.Rewards, p.probabilityRewards(i, states))
		} else {
			p.Rewards = append(p.Rewards, p.rewardsOfSteps(objective, states, choices, stepRewards(objective.Reward, nil)))
		}
	}
}

// probabilityRewards returns the rewards of an objective that is a probability: 1 in each state where the path has just satisfied its until
// formula, else 0.
func (p *Product) probabilityRewards(objective int, states []productState) *certificate.Rewards {
	fractionIndices := make([]uint32, len(p.FirstTransition)-1) // of the reward of each choice: 0 or 1
	for s, state := range states {
		if state.status>>(2*objective)&3 != satisfied {
			continue
		}
		first, end := p.Choices(s)
		for c := first; c < end; c++ {
			fractionIndices[c] = 1
		}
	}
	return certificate.NewRewards(fractionIndices, []*big.Rat{new(big.Rat), big.NewRat(1, 1)})
}

// rewardsOfSteps returns the rewards of an objective that is a reward: those of the model's choices, as long as the objective counts steps, then
// 0.
func (p *Product) rewardsOfSteps(objective certificate.Objective, states []productState, choices []uint32, rewards *certificate.Rewards) *certificate.Rewards {
	fractions := append([]*big.Rat{new(big.Rat)}, rewards.Fractions...)
	fractionIndices := make([]uint32, len(choices)) // in fractions, of the reward of each choice
	for s, state := range states {
		isCounted := objective.Steps < 0 || state.steps < objective.Steps
		if !isCounted {
			continue
		}
		first, end := p.Choices(s)
		for c := first; c < end; c++ {
			fractionIndices[c] = 1 + rewards.FractionIndex[choices[c]]
		}
	}
	return certificate.NewRewards(fractionIndices, fractions)
}

// WeightedSums returns, for each choice c, the sum of weight(i) * reward_i(c) over all objectives i.
func (p *Product) WeightedSums(weight func(objective int) *big.Rat) []*big.Rat {
	sums := make([]*big.Rat, len(p.FirstTransition)-1)
	for c := range sums {
		sums[c] = new(big.Rat)
		for i, rewards := range p.Rewards {
			if reward := rewards.Fractions[rewards.FractionIndex[c]]; reward.Sign() > 0 {
				sums[c].Add(sums[c], new(big.Rat).Mul(weight(i), reward))
			}
		}
	}
	return sums
}

// MinimisedRewards returns the sum of the rewards of all minimised objectives: r_L in the package comment.
func (p *Product) MinimisedRewards() *certificate.Rewards {
	fractions := p.WeightedSums(func(i int) *big.Rat {
		if p.Objectives[i].Maximised {
			return new(big.Rat)
		}
		return big.NewRat(1, 1)
	})
	fractionIndices := make([]uint32, len(fractions)) // the reward of choice c has index c
	for c := range fractionIndices {
		fractionIndices[c] = uint32(c)
	}
	return certificate.NewRewards(fractionIndices, fractions)
}

// Lemma is a bound of a total reward that rule 3 has to prove.
type Lemma struct {
	Model   *certificate.Model
	Vector  *certificate.Vector
	Rewards *certificate.Rewards
}

// lemmas returns the bounds on which the proof of a vector depends: the lower bound x of the minimised rewards and, for each part, a bound of
// each objective under the scheduler of the part.
func (p *Product) lemmas(vector *certificate.Vector) (lemmas []Lemma, err error) {
	if vector.Lower != nil {
		lower := &certificate.Vector{Kind: certificate.TotalReward, Lower: vector.Lower, Rank: vector.Rank, Layer: vector.Layer}
		lemmas = append(lemmas, Lemma{p.Model, lower, p.MinimisedRewards()})
	}
	for j := range p.Parts {
		part := &p.Parts[j]
		chain, choices, err := p.Chain(part.Choice)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", j, err)
		}
		for i, objective := range p.Objectives {
			bound := &certificate.Vector{Kind: certificate.TotalReward}
			if objective.Maximised {
				bound.Lower, bound.Rank = part.Values[i], part.Ranks[i]
			} else {
				bound.Upper = part.Values[i]
			}
			lemmas = append(lemmas, Lemma{chain, bound, p.InducedRewards(i, choices)})
		}
	}
	return lemmas, nil
}

// Chain returns the Markov chain that a scheduler induces on the product, and the choice of the product in each state. indices[s] is the index
// of the scheduler's choice among the choices of state s.
func (p *Product) Chain(indices []uint32) (chain *certificate.Model, choices []int, err error) {
	chain = &certificate.Model{Kind: certificate.DTMC, FirstTransition: []uint32{0}, Numbers: p.Numbers, Initial: p.Initial}
	for s := range p.NumStates() {
		first, end := p.Choices(s)
		if uint64(indices[s]) >= uint64(end-first) {
			return nil, nil, fmt.Errorf("state %d has no choice %d", s, indices[s])
		}
		c := first + int(indices[s])
		choices = append(choices, c)
		firstTransition, endTransition := p.Row(c)
		chain.Target = append(chain.Target, p.Target[firstTransition:endTransition]...)
		chain.Prob = append(chain.Prob, p.Prob[firstTransition:endTransition]...)
		chain.FirstTransition = append(chain.FirstTransition, uint32(len(chain.Target)))
	}
	return chain, choices, nil
}

// InducedRewards returns the rewards of objective i in an induced chain. choices[s] is the choice of the product in state s of the chain.
func (p *Product) InducedRewards(i int, choices []int) *certificate.Rewards {
	induced := *p.Rewards[i]
	induced.FractionIndex = make([]uint32, len(choices))
	for s, c := range choices {
		induced.FractionIndex[s] = p.Rewards[i].FractionIndex[c]
	}
	return &induced
}

// Values returns the lower and the upper bounds of the model's states that follow from the lemmas. All states except the initial state have the
// bounds 0 and infinity.
func (p *Product) Values(ctx context.Context, model *certificate.Model, vector *certificate.Vector) (bounds [2]*certificate.Values, err error) {
	initialLower, initialUpper, err := p.initialBounds(ctx, vector)
	if err != nil {
		return bounds, err
	}
	n, initial := model.NumStates(), p.ModelState[0]
	lower := &certificate.Values{Fractions: make([]*big.Rat, n)}
	upper := &certificate.Values{Fractions: make([]*big.Rat, n), Infinite: certificate.NewBits(n)}
	for s := range n {
		lower.Fractions[s], upper.Fractions[s] = new(big.Rat), new(big.Rat)
		if uint32(s) != initial || initialUpper == nil {
			upper.Infinite.Add(s)
		}
	}
	lower.Fractions[initial] = initialLower
	if initialUpper != nil {
		upper.Fractions[initial] = initialUpper
	}
	return [2]*certificate.Values{lower, upper}, nil
}

// initialBounds returns the bounds in the initial state. An upper bound of nil stands for infinity.
func (p *Product) initialBounds(ctx context.Context, vector *certificate.Vector) (lower, upper *big.Rat, err error) {
	query := p.Query()
	achieved, hasParts, err := p.mixture()
	if err != nil {
		return nil, nil, err
	}
	lower = new(big.Rat)
	switch {
	case query == nil:
		upper = big.NewRat(1, 1)
		if hasParts {
			lower.SetInt64(1)
		}
	case !hasParts:
		return nil, nil, errors.New("the parts do not prove that the bounds of the objectives can be satisfied")
	case query.Maximised:
		lower = achieved
	default:
		upper = achieved
	}
	if p.Several.Weights == nil {
		return lower, upper, nil
	}
	limit, weight, err := p.weightedLimit(ctx, vector)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case query == nil && limit.Sign() < 0: // the bounds cannot all be satisfied
		upper = new(big.Rat)
	case query == nil || weight.Sign() == 0:
	case query.Maximised:
		upper = limit.Quo(limit, weight)
	default:
		if lower = limit.Neg(limit.Quo(limit, weight)); lower.Sign() < 0 {
			lower.SetInt64(0)
		}
	}
	return lower, upper, nil
}

// weightedLimit returns an upper bound of the query's value times its weight, for all schedulers that satisfy the bounds of the other
// objectives. The value of a minimised query is negated. Without a query, limit is negative only if no scheduler satisfies the bounds, and
// weight is 0.
func (p *Product) weightedLimit(ctx context.Context, vector *certificate.Vector) (limit, weight *big.Rat, err error) {
	limit, err = p.weightedUpperBound(ctx, vector)
	if err != nil {
		return nil, nil, err
	}
	weight = new(big.Rat)
	for i, objective := range p.Objectives {
		switch {
		case objective.Bound == nil:
			weight = p.Several.Weights[i]
		case objective.Maximised:
			limit.Sub(limit, new(big.Rat).Mul(p.Several.Weights[i], objective.Bound))
		default:
			limit.Add(limit, new(big.Rat).Mul(p.Several.Weights[i], objective.Bound))
		}
	}
	return limit, weight, nil
}

// mixture returns the value of the query under the mixture of the parts' schedulers, or 0 without a query. hasParts is false if there are no
// parts. It is an error if the mixture does not satisfy the bounds of the other objectives.
func (p *Product) mixture() (value *big.Rat, hasParts bool, err error) {
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
		mean, err := p.meanOfParts(i)
		if err != nil {
			return nil, false, err
		}
		if objective.Bound == nil {
			value = mean
			continue
		}
		order := mean.Cmp(objective.Bound)
		if objective.Maximised && order < 0 || !objective.Maximised && order > 0 {
			return nil, false, fmt.Errorf("the parts violate the bound of objective %d", i)
		}
	}
	return value, true, nil
}

// meanOfParts returns the value of an objective in the initial state under the mixture: the sum of share * value over all parts.
func (p *Product) meanOfParts(objective int) (*big.Rat, error) {
	mean := new(big.Rat)
	for j := range p.Parts {
		value := p.Parts[j].Values[objective].Rat(0)
		if value == nil {
			return nil, errors.New("a part has infinite values in the initial state")
		}
		mean.Add(mean, new(big.Rat).Mul(value, p.Parts[j].Share))
	}
	return mean, nil
}

// weightedUpperBound checks the inequalities for y and x of the package comment, and returns y - c in the initial state.
func (p *Product) weightedUpperBound(ctx context.Context, vector *certificate.Vector) (*big.Rat, error) {
	y, x := vector.Upper, vector.Lower
	if y == nil || y.Infinite != nil || x != nil && x.Infinite.Has(0) {
		return nil, errors.New("the weights have no finite upper values, or a minimised objective is infinite for all schedulers")
	}
	weightedRewards := p.WeightedSums(func(i int) *big.Rat {
		if p.Objectives[i].Maximised {
			return p.Several.Weights[i]
		}
		return new(big.Rat).Neg(p.Several.Weights[i])
	})
	for s := range p.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := p.checkWeightedState(s, x, y, weightedRewards); err != nil {
			return nil, fmt.Errorf("product state %d: %w", s, err)
		}
	}
	return new(big.Rat).Sub(y.Rat(0), p.Shift), nil
}

// checkWeightedState returns an error unless y and x satisfy their inequalities in a product state. earned[c] is the weighted reward of choice
// c. States where x is infinite, and choices that lead to such a state, need not satisfy them.
func (p *Product) checkWeightedState(s int, x, y *certificate.Values, weightedRewards []*big.Rat) error {
	isInfinite := func(target uint32) bool { return x != nil && x.Infinite.Has(int(target)) }
	if isInfinite(uint32(s)) {
		return nil
	}
	value, term := y.Rat(s), new(big.Rat)
	leastSum := new(big.Rat).Set(value)
	if x != nil {
		leastSum.Add(leastSum, term.Mul(p.Factor, x.Rat(s)))
	}
	if leastSum.Cmp(p.Shift) < 0 {
		return errors.New("y + k x is below the shift c")
	}
	first, end := p.Choices(s)
	for c := first; c < end; c++ {
		firstTransition, endTransition := p.Row(c)
		if slices.ContainsFunc(p.Target[firstTransition:endTransition], isInfinite) {
			continue
		}
		valueOfStep := new(big.Rat).Set(weightedRewards[c])
		for t := firstTransition; t < endTransition; t++ {
			valueOfStep.Add(valueOfStep, term.Mul(p.Numbers[p.Prob[t]], y.Rat(int(p.Target[t]))))
		}
		if value.Cmp(valueOfStep) < 0 {
			return errors.New("y is below its value after a step")
		}
	}
	return nil
}
