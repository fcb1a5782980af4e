package solve

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Conditional returns bounds on the greatest conditional probability of reaching goal from start. The scheduler may end the
// path in a state of goal, where the formula and the condition hold, or in a state of excluded, where the condition does not
// hold. Any other path satisfies the condition and misses the goal. Only the value of start is meaningful. It is 0 if no
// scheduler satisfies the condition with positive probability.
//
// In the model that it solves, a path that ends in excluded begins again in start. If a scheduler ends a path with
// probability g in goal, and with probability x in excluded, then it reaches goal in this model with probability g/(1-x),
// which is the conditional probability.
//
// Source: Baier, Klein, Klüppelholz and Märcker, Computing conditional probabilities in Markovian models efficiently
// (TACAS 2014), the reset method.
func Conditional(ctx context.Context, graph *sparse.Graph, goal, excluded *sparse.Set, start uint32, opts Options) (*Values, error) {
	rows := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	rows.Grow(graph.NumStates(), graph.NumChoices()+excluded.Count(), graph.NumTransitions()+excluded.Count())
	for s := range graph.NumStates() {
		rows.State()
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			rows.Copy(c, func(i int) uint32 { return graph.Target[i] })
		}
		if excluded.Has(s) {
			rows.Loop(start)
		}
	}
	opts.Scheduler, opts.Within = false, nil
	if opts.Exact {
		opts.Within = sparse.SetOf(graph.NumStates(), int(start))
	}
	return Until(ctx, sparse.NewGraph(rows.Finish()), sparse.FullSet(graph.NumStates()), goal, Max, opts)
}

// RewardParts are the rewards of a Markov chain by state and transition, which sparse.Reward has as sums. Nil stands for
// 0.
type RewardParts struct {
	State      []*big.Rat
	Transition []*big.Rat
}

// ConditionedReward returns the reward structure of a Markov chain in which every reward is multiplied by the probability,
// at that time, that the path satisfies a condition. The expected reward then is that of the paths that satisfy the
// condition, times their probability. probability has the probability for each state; if it is nil, exact has it.
// roundUp says whether the rewards are upper bounds or lower bounds for the given probabilities, apart from Reward.Err.
func ConditionedReward(model *sparse.Model, parts RewardParts, exact []*big.Rat, probability []float64, roundUp bool) *sparse.Reward {
	reward := &sparse.Reward{State: make([]float64, model.NumStates())}
	if exact != nil {
		reward.StateRat = make([]*big.Rat, model.NumStates())
	}
	most := 0
	weighted := func(r *big.Rat, s int) *big.Rat {
		if exact != nil {
			return new(big.Rat).Mul(r, exact[s])
		}
		p := new(big.Rat).SetFloat64(probability[s])
		return p.Mul(p, r)
	}
	set := func(list []float64, rats []*big.Rat, s int, value *big.Rat) {
		if rats != nil {
			rats[s] = value
		}
		list[s], _ = value.Float64()
		if value.Sign() > 0 && list[s] < sparse.MinNumber { // too small for a relative error
			list[s] = 0
			if roundUp {
				list[s] = sparse.MinNumber
			}
		}
	}
	for s, r := range parts.State {
		if r != nil && r.Sign() != 0 {
			set(reward.State, reward.StateRat, s, weighted(r, s))
		}
	}
	if parts.Transition != nil {
		reward.Choice = make([]float64, model.NumStates())
		if exact != nil {
			reward.ChoiceRat = make([]*big.Rat, model.NumStates())
		}
		for s := range model.NumStates() {
			first, end := model.Row(s)
			most = max(most, end-first)
			sum := new(big.Rat)
			for i := first; i < end; i++ {
				if r := parts.Transition[i]; r != nil && r.Sign() != 0 {
					weight := new(big.Rat)
					if exact != nil {
						weight.Set(model.Rat(i))
					} else {
						weight.SetFloat64(model.Prob(i))
					}
					sum.Add(sum, weight.Mul(weight, weighted(r, int(model.Target[i]))))
				}
			}
			set(reward.Choice, reward.ChoiceRat, s, sum)
		}
	}
	reward.Err = 0x1p-51
	if most > 0 {
		reward.Err += math.Nextafter(model.Err, math.Inf(1)) // sums of weights times exact numbers
	}
	return reward
}
