package prove

import (
	"context"
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// weightedCosts returns the weighted sum of the objectives' costs for each choice of search.graph, the product with an end state. The cost of a choice
// is its minimised reward, or the amount by which it lowers the maximum of a maximised reward.
func (search *weightSearch) weightedCosts(weights []*big.Rat) *sparse.Reward {
	costs := make([]*big.Rat, search.graph.NumChoices())
	for choice := range costs {
		costs[choice] = new(big.Rat)
	}
	for s := range search.product.NumStates() {
		firstInGraph, _ := search.graph.Choices(s)
		first, end := search.product.Model.Choices(s)
		for choice := first; choice < end; choice++ {
			costs[firstInGraph+choice-first] = search.weightedCost(weights, s, choice)
		}
		hasChoiceToEnd := search.endComponents.ID[s] != sparse.None
		if hasChoiceToEnd { // this choice earns no further maximised reward, so it loses the maxima
			costs[firstInGraph+end-first] = search.greatestSum(weights, s)
		}
	}
	costIndexes := make([]uint32, len(costs)) // each choice has its own cost
	for choice := range costIndexes {
		costIndexes[choice] = uint32(choice)
	}
	return sparseReward(certificate.NewRewards(costIndexes, costs))
}

// weightedCost returns the sum of weight * cost over all objectives, for a choice in state s of the product.
func (search *weightSearch) weightedCost(weights []*big.Rat, s, choice int) *big.Rat {
	sum := new(big.Rat)
	for i, weight := range weights {
		cost := search.choiceCost(i, s, choice)
		sum.Add(sum, cost.Mul(cost, weight))
	}
	return sum
}

// choiceCost returns the cost of a choice in state s of the product for one objective. For a minimised objective it is the reward of the choice. For a
// maximised objective it is max(s) - reward - sum of P(t) max(t) over the successors t: by how much the choice lowers the maximal reward that can
// still be earned.
func (search *weightSearch) choiceCost(objective, s, choice int) *big.Rat {
	rewards, maxValue := search.product.Rewards[objective], search.maxValues[objective]
	reward := rewards.Fractions[rewards.FractionIndex[choice]]
	if maxValue == nil {
		return new(big.Rat).Set(reward)
	}
	cost := new(big.Rat).Sub(maxValue[s], reward)
	model := search.product.Model
	term := new(big.Rat)
	first, end := model.Row(choice)
	for transition := first; transition < end; transition++ {
		cost.Sub(cost, term.Mul(model.Numbers[model.Prob[transition]], maxValue[model.Target[transition]]))
	}
	return cost
}

// leastCost returns the minimal expected weighted cost from each state until the end state, with an optimal scheduler. It is an error if the minimum
// from the initial state is infinite.
func (search *weightSearch) leastCost(weights []*big.Rat) (*solve.Values, error) {
	endStates := sparse.NewSet(search.graph.NumStates())
	endStates.Add(search.product.NumStates())
	values, err := solve.ReachReward(search.proof.ctx, search.graph, search.weightedCosts(weights), endStates, solve.Min, search.exactOptions())
	if err == nil && values.Exact[0] == nil {
		err = errors.New("several objectives with a minimised reward that is infinite for all schedulers")
	}
	return values, err
}

// addScheduler computes a scheduler that maximises the weighted sum of the objectives. It stores the scheduler and the values of all objectives
// under it.
func (search *weightSearch) addScheduler(weights []*big.Rat) error {
	values, err := search.leastCost(weights)
	if err != nil {
		return err
	}
	scheduler := search.productScheduler(values.Scheduler)
	point, columns, err := search.evaluateScheduler(search.proof.ctx, scheduler)
	if err != nil {
		return err
	}
	search.points = append(search.points, point)
	search.schedulers = append(search.schedulers, scheduler)
	search.objectiveValues = append(search.objectiveValues, columns)
	return nil
}

// productScheduler converts a scheduler of the graph with the end state to a scheduler of the product: the index of the choice in each state.
// Where the scheduler goes to the end state, the result stays in the end component instead.
func (search *weightSearch) productScheduler(choices []uint32) []uint32 {
	model := search.product.Model
	indexes := make([]uint32, model.NumStates())
	endedComponents := make(map[uint32]bool) // the end components from which the scheduler goes to the end state
	for s := range indexes {
		if choices[s] == sparse.None {
			continue
		}
		first, _ := search.graph.Choices(s)
		indexes[s] = choices[s] - uint32(first)
		productFirst, productEnd := model.Choices(s)
		leadsToEnd := int(indexes[s]) == productEnd-productFirst
		if leadsToEnd {
			endedComponents[search.endComponents.ID[s]] = true
		}
	}
	for s := range indexes {
		if component := search.endComponents.ID[s]; component != sparse.None && endedComponents[component] {
			indexes[s] = search.stayingChoice(s, indexes[s])
		}
	}
	return indexes
}

// stayingChoice returns the index of the last choice of state s that stays in its end component. It returns defaultIndex if all choices can leave the
// component.
func (search *weightSearch) stayingChoice(s int, defaultIndex uint32) uint32 {
	first, end := search.product.Model.Choices(s)
	for choice := end - 1; choice >= first; choice-- {
		if search.endComponents.Choices.Has(choice) {
			return uint32(choice - first)
		}
	}
	return defaultIndex
}

// evaluateScheduler computes the values of all objectives under a scheduler. point has the value of each objective in the initial state,
// negated for minimised objectives.
func (search *weightSearch) evaluateScheduler(ctx context.Context, scheduler []uint32) (point []*big.Rat, values []*solve.Values, err error) {
	chain, choices, err := search.product.Chain(scheduler)
	if err != nil {
		return nil, nil, err
	}
	graph := sparseGraph(chain)
	for i, objective := range search.proof.Several.Objectives {
		reward := sparseReward(search.product.InducedRewards(i, choices))
		stateValues, err := solve.TotalReward(ctx, graph, reward, solve.Max, search.exactOptions())
		if err != nil {
			return nil, nil, err
		}
		value := stateValues.Exact[0]
		if value == nil {
			return nil, nil, errors.New("several objectives with a reward that is infinite for the best scheduler")
		}
		if !objective.Maximised {
			value = new(big.Rat).Neg(value)
		}
		point = append(point, value)
		values = append(values, stateValues)
	}
	return point, values, nil
}

// earningRanks returns, for a maximised objective under a scheduler, the distance of each state to the nearest state that earns a reward or has the
// value 0. It returns nil for a minimised objective, which needs no ranks.
func (search *weightSearch) earningRanks(objective, scheduler int, values *solve.Values) ([]uint32, error) {
	if !search.proof.Several.Objectives[objective].Maximised {
		return nil, nil
	}
	chain, choices, err := search.product.Chain(search.schedulers[scheduler])
	if err != nil {
		return nil, err
	}
	rewards := search.product.InducedRewards(objective, choices)
	targets, states := sparse.NewSet(len(choices)), sparse.FullSet(len(choices))
	for s := range choices {
		if values.Exact[s].Sign() == 0 || rewards.IsPositive(s) {
			targets.Add(s)
		}
	}
	return rankByDistance(sparseGraph(chain), targets, states, anyChoice), nil
}

// greatestSum returns the weighted sum of the maxima of the maximised objectives in a state.
func (search *weightSearch) greatestSum(weights []*big.Rat, s int) *big.Rat {
	sum := new(big.Rat)
	for i, maxValues := range search.maxValues {
		if maxValues != nil {
			sum.Add(sum, new(big.Rat).Mul(weights[i], maxValues[s]))
		}
	}
	return sum
}
