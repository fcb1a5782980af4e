package attack

import (
	"fmt"
	"math/big"
	"slices"
)

// multiReward returns an MDP with questions about the probability to reach a, which is never left, and a reward: that of all steps, or that until "b" is reached.
// Either can be infinite. Among schedulers with finite rewards, the achievable pairs are the mixtures of those of the memoryless deterministic schedulers, which
// for the second reward remember whether "b" was reached.
//
// Source: Forejt, Kwiatkowska, Norman, Parker and Qu, Quantitative multi-objective verification for probabilistic systems, 2011.
func (r maker) multiReward() *instance {
	for {
		m := r.system("mdp", 4+r.IntN(2), 3)
		last := len(m.choices) - 1
		if last < 2 {
			continue
		}
		m.choices[last] = []choice{{vertices: [][]branch{{{last, one(), ""}}}, reward: new(big.Rat)}}
		m.sets["a"] = constant(last+1, false)
		m.sets["a"][last] = true
		if m = m.reachable(); !hasAny(m.sets["a"]) {
			continue
		}
		objective, points := "C", []pair(nil)
		if r.one(2) {
			objective = `F "b"`
			points = m.pairsUntil(m.sets["b"])
		} else if m.resolutions() <= 300 {
			points = m.rewardPairs(m.sets["a"], (*chain).totalReward)
		}
		if points == nil {
			continue
		}
		i := &instance{kind: "multi-reward", file: "m.prism", text: m.text()}
		for range 4 {
			i.questions = append(i.questions, r.multiRewardQuestion(objective, points))
		}
		return i
	}
}

// rewardPairs returns the reward and the probability of the targets of all memoryless deterministic schedulers. A nil reward is infinite.
func (m *system) rewardPairs(targets []bool, reward func(*chain) vector) []pair {
	var pairs []pair
	everywhere := constant(len(m.choices), true)
	m.value(all(true), func(c *chain) vector {
		x := reward(c)
		pairs = append(pairs, pair{x[0], c.until(everywhere, targets)[0]})
		return x
	})
	return pairs
}

// pairsUntil is rewardPairs for the reward until stop is reached, of schedulers that remember whether it was; nil for too many of them.
func (m *system) pairsUntil(stop []bool) []pair {
	product := m.product(2, func(memory, s int) int {
		if stop[s] {
			return 1
		}
		return memory
	})
	product.sets = map[string][]bool{"a": nil, "stopped": nil}
	for s := range m.choices {
		for memory := range 2 {
			product.sets["a"] = append(product.sets["a"], m.sets["a"][s])
			product.sets["stopped"] = append(product.sets["stopped"], memory == 1 || stop[s])
		}
	}
	product = product.reachable()
	if product.resolutions() > 300 {
		return nil
	}
	return product.rewardPairs(product.sets["a"], func(c *chain) vector { return c.reachReward(product.sets["stopped"]) })
}

// multiRewardQuestion returns a multi(...) property, and its answer, with one objective for the probability of reaching the label a and one for a reward. points
// has the reward and the probability of each scheduler without randomization.
func (r maker) multiRewardQuestion(objective string, points []pair) question {
	var finite, byCost []pair // byCost has the probabilities first, and the negative of the rewards
	for _, p := range points {
		if p.first != nil {
			finite = append(finite, p)
			byCost = append(byCost, pair{p.second, new(big.Rat).Neg(p.first)})
		}
	}
	bound, budget, other := r.fraction(), r.amount(), r.fraction()
	if p := points[r.IntN(len(points))]; r.one(3) { // a number of a scheduler
		if bound = p.second; p.first != nil {
			budget = p.first
		}
	}
	reward := `R{"r"}%s [ ` + objective + ` ]`
	least := best(false, finite, bound)
	isMet := slices.ContainsFunc(points, func(p pair) bool { return p.second.Cmp(bound) >= 0 })
	switch most := best(true, byCost, new(big.Rat).Neg(budget)); {
	case r.one(2) && isMet:
		return question{text: fmt.Sprintf(`multi(`+reward+`, P>=%s [ F "a" ])`, "min=?", number(bound)), want: numberAnswer(least)}
	case r.one(2) && len(finite) == len(points) && isMet: // else a maximised reward is refused
		return question{text: fmt.Sprintf(`multi(`+reward+`, P>=%s [ F "a" ])`, "max=?", number(bound)), want: numberAnswer(best(true, finite, bound))}
	case r.one(2) && most != nil:
		return question{text: fmt.Sprintf(`multi(Pmax=? [ F "a" ], `+reward+`)`, "<="+number(budget)), want: numberAnswer(most)}
	default:
		return question{text: fmt.Sprintf(`multi(P>=%s [ F "a" ], `+reward+`)`, number(other), "<="+number(budget)), want: truthAnswer(most != nil && most.Cmp(other) >= 0)}
	}
}
