package solve

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// nature picks the probabilities of an interval model: for each choice the distribution with the least or the greatest value.
//
// A distribution consists of the lower interval ends plus the free probability, which is 1 minus their sum. Nature gives
// the free probability to targets in the order of their values, to each at most the width of its interval. The free probabilities
// and the widths are computed from fractions and rounded once, so there is no cancellation.
//
// Source: Givan, Leach and Dean, Bounded-parameter Markov decision processes (2000); Katoen, Klink, Leucker and Wolf (CAV 2007).
type nature struct {
	model           *sparse.Model
	isMinimizer     bool
	representatives []uint32  // the state whose value counts for each state; nil if each state has its own value
	intervalWidths  []float64 // of the interval of each transition
	freeProbs       []float64 // of each choice
	// fixed has the probability of each transition, if the distributions of nature are fixed; otherwise it is nil.
	fixedProb []float64
}

// newNature prepares an interval model for nature: it computes the width of each probability interval, and the free probability of each
// choice, which is 1 minus the sum of the lower interval ends.
func newNature(model *sparse.Model, minimizes bool, meter *meter) (*nature, error) {
	n := &nature{
		model: model, isMinimizer: minimizes,
		intervalWidths: make([]float64, model.NumTransitions()), freeProbs: make([]float64, model.NumChoices()),
	}
	widthOf := map[[2]uint32]float64{}
	freeProb := new(big.Rat)
	for choice := range model.NumChoices() {
		first, end := model.Transitions(choice)
		freeProb.SetInt64(1)
		for transition := first; transition < end; transition++ {
			freeProb.Sub(freeProb, model.Fraction(transition))
			n.intervalWidths[transition] = intervalWidth(model, transition, widthOf)
		}
		n.freeProbs[choice] = sparse.NonzeroFloat(freeProb)
		if err := meter.addWork(1000); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// intervalWidth returns the width of the interval of a transition. It stores the width of each different interval in widthOf.
func intervalWidth(model *sparse.Model, transition int, widthOf map[[2]uint32]float64) float64 {
	intervalEnds := [2]uint32{model.WeightIndex[transition], model.HighIndex[transition]}
	if intervalEnds[0] == intervalEnds[1] {
		return 0
	}
	width, found := widthOf[intervalEnds]
	if !found {
		width = sparse.NonzeroFloat(new(big.Rat).Sub(model.HighFraction(transition), model.Fraction(transition)))
		widthOf[intervalEnds] = width
	}
	return width
}

// robustFloor is the least positive bound in interval models. Smaller lower bounds become 0.
const robustFloor = 0x1p-900

// adjustableTarget is a target whose interval has a positive width, so it can get free probability.
type adjustableTarget struct{ value, intervalWidth float64 }

// choiceBound returns the reward of a choice plus the expected value of its target under the optimal distribution of nature. The result is
// rounded up if isUpper is set, otherwise down. values has bounds on the values of all states. rewardErr bounds the relative error of the
// reward. Concurrent calls are safe.
func (nature *nature) choiceBound(choice int, reward, rewardErr float64, values []float64, isUpper bool) float64 {
	var buffer [16]adjustableTarget
	adjustableTargets := buffer[:0]
	first, end := nature.model.Transitions(choice)
	sum, minimum, maximum := reward, math.Inf(1), 0.0
	for transition := first; transition < end; transition++ {
		value := values[nature.representativeOf(nature.model.Target[transition])]
		minimum, maximum = min(minimum, value), max(maximum, value)
		if nature.fixedProb != nil {
			sum += nature.fixedProb[transition] * value
			continue
		}
		sum += nature.model.Prob(transition) * value
		if nature.intervalWidths[transition] > 0 {
			adjustableTargets = append(adjustableTargets, adjustableTarget{value, nature.intervalWidths[transition]})
		}
	}
	if maximum == 0 && reward == 0 {
		return 0
	}
	if reward > 0 {
		minimum, maximum = 0, math.Inf(1) // with a reward, the sum can exceed every value of a target
	}
	if nature.freeProbs[choice] > 0 {
		sum += nature.distributeFreeProbability(nature.freeProbs[choice], adjustableTargets, isUpper)
	}
	// Each target adds at most four rounding errors. The other 24 are for the free probability; the factor 1.05 is for products of errors.
	relErr := 1.05 * (float64(4*(end-first)+24)*unitRoundoff + rewardErr)
	if isUpper {
		return roundUpWithin(sum, relErr, maximum)
	}
	return roundDownWithin(sum, relErr, minimum)
}

// roundUpWithin returns an upper bound on the exact value of a nonnegative sum with a relative error of at most relErr. The exact value is at
// most maximum, so the bound is, too.
func roundUpWithin(sum, relErr, maximum float64) float64 {
	return min(max(sum+sum*relErr, robustFloor), maximum)
}

// roundDownWithin returns a lower bound on the exact value of a nonnegative sum with a relative error of at most relErr. The exact value is at
// least minimum, so the bound is, too.
func roundDownWithin(sum, relErr, minimum float64) float64 {
	sum = min(sum, math.MaxFloat64)
	bound := sum - sum*relErr
	if !(bound >= robustFloor) { // also for NaN
		bound = 0
	}
	return max(bound, minimum)
}

// distributeFreeProbability returns the value that the free probability adds to a choice, rounded up or down. Nature gives this probability
// to the adjustable targets in its order of preference, and each target gets at most the width of its interval. If nature's distributions
// are fixed, there are no adjustable targets.
func (nature *nature) distributeFreeProbability(remaining float64, adjustableTargets []adjustableTarget, isUpper bool) float64 {
	slices.SortFunc(adjustableTargets, func(left, right adjustableTarget) int {
		return nature.preferenceOrder(cmp.Compare(left.value, right.value))
	})
	// A greater free probability raises the value. Greater widths raise it if nature maximizes, and lower it if nature minimizes.
	budgetFactor, widthFactor := 1-4*unitRoundoff, 1-4*unitRoundoff
	if isUpper {
		budgetFactor = 1 + 4*unitRoundoff
	}
	if isUpper != nature.isMinimizer {
		widthFactor = 1 + 4*unitRoundoff
	}
	remaining *= budgetFactor
	sum := 0.0
	for _, target := range adjustableTargets {
		amount := min(target.intervalWidth*widthFactor, remaining)
		sum += amount * target.value
		remaining = (remaining - amount) * budgetFactor
		if remaining <= 0 {
			break
		}
	}
	return sum
}

// preferenceOrder returns the order in which nature gives free probability to two targets. order compares the values of the targets, as
// cmp.Compare does.
func (nature *nature) preferenceOrder(order int) int {
	if nature.isMinimizer {
		return order
	}
	return -order
}

// representativeOf returns the state with the equation of state s: the representative of its end component, or s itself.
func (nature *nature) representativeOf(s uint32) uint32 {
	if nature.representatives == nil {
		return s
	}
	return nature.representatives[s]
}

// distribution returns the optimal distribution of nature for a choice: one exact probability for each transition. compare compares the
// values of two states.
func (nature *nature) distribution(choice int, compare func(s, t uint32) int) []*big.Rat {
	first, end := nature.model.Transitions(choice)
	probs := make([]*big.Rat, end-first)
	for i := range probs {
		probs[i] = nature.model.Fraction(first + i) // the lower end of the interval
	}
	if nature.freeProbs[choice] == 0 {
		return probs
	}
	freeProb := big.NewRat(1, 1)
	for _, prob := range probs {
		freeProb.Sub(freeProb, prob)
	}
	for _, i := range nature.preferredTargets(choice, compare) {
		amount := new(big.Rat).Sub(nature.model.HighFraction(first+i), probs[i])
		if amount.Cmp(freeProb) > 0 {
			amount.Set(freeProb)
		}
		probs[i] = new(big.Rat).Add(probs[i], amount)
		freeProb.Sub(freeProb, amount)
		if freeProb.Sign() == 0 {
			break
		}
	}
	return probs
}

// preferredTargets returns the indices of the transitions of a choice, in the order in which nature prefers their targets.
func (nature *nature) preferredTargets(choice int, compare func(s, t uint32) int) []int {
	first, end := nature.model.Transitions(choice)
	order := make([]int, end-first)
	for i := range order {
		order[i] = i
	}
	stateAt := func(i int) uint32 { return nature.representativeOf(nature.model.Target[first+i]) }
	slices.SortStableFunc(order, func(i, j int) int { return nature.preferenceOrder(compare(stateAt(i), stateAt(j))) })
	return order
}

// exactDistribution returns the optimal distribution of nature for choice c and the exact values of the states.
func (nature *nature) exactDistribution(choice int, values []*big.Rat) []*big.Rat {
	return nature.distribution(choice, func(s, t uint32) int { return values[s].Cmp(values[t]) })
}

// choiceValue returns the reward of a choice plus its exact value under a distribution over its targets.
func (nature *nature) choiceValue(choice int, reward *big.Rat, distribution, values []*big.Rat) *big.Rat {
	sum := new(big.Rat).Set(reward)
	first, _ := nature.model.Transitions(choice)
	term := new(big.Rat)
	for i, prob := range distribution {
		sum.Add(sum, term.Mul(prob, values[nature.representativeOf(nature.model.Target[first+i])]))
	}
	return sum
}

// withFixedDistributions returns a copy of nature whose distributions do not depend on the values any more: they are the optimal ones for
// the given values.
func (nature *nature) withFixedDistributions(values []float64, meter *meter) (*nature, error) {
	result := *nature
	result.fixedProb = make([]float64, nature.model.NumTransitions())
	for choice := range nature.model.NumChoices() {
		first, _ := nature.model.Transitions(choice)
		for i, prob := range nature.distribution(choice, func(s, t uint32) int { return cmp.Compare(values[s], values[t]) }) {
			result.fixedProb[first+i] = sparse.NonzeroFloat(prob)
		}
		if err := meter.addWork(1000); err != nil {
			return nil, err
		}
	}
	return &result, nil
}
