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
	representatives []uint32 // the state whose value counts for each state; nil if each state has its own value
	// intervalWidths has the width of the interval of each transition; infinity if the transition can get the whole free probability.
	intervalWidths []float64
	freeProbs      []float64 // of each choice
	// fixedProb has the probability of each transition, if the distributions of nature are fixed; otherwise it is nil.
	fixedProb []float64
	// excluded has states that nature never enters. All transitions to them have the lower interval end 0. It is nil for none.
	excluded *sparse.Set
}

// newNature prepares an interval model for the choices of nature. It computes the width of each probability interval, and the free probability of each
// choice: 1 minus the sum of the lower ends of its intervals.
func newNature(model *sparse.Model, minimizes bool, meter *meter) (*nature, error) {
	n := &nature{
		model: model, isMinimizer: minimizes,
		intervalWidths: make([]float64, model.NumTransitions()), freeProbs: make([]float64, model.NumChoices()),
	}
	widthOf := map[[2]uint32]*big.Rat{}
	freeProb := new(big.Rat)
	for choice := range model.NumChoices() {
		first, end := model.Transitions(choice)
		freeProb.SetInt64(1)
		for transition := first; transition < end; transition++ {
			freeProb.Sub(freeProb, model.Fraction(transition))
		}
		n.freeProbs[choice] = sparse.NonzeroFloat(freeProb)
		for transition := first; transition < end; transition++ {
			width := intervalWidth(model, transition, widthOf)
			n.intervalWidths[transition] = sparse.NonzeroFloat(width)
			if width.Sign() > 0 && width.Cmp(freeProb) >= 0 {
				n.intervalWidths[transition] = math.Inf(1)
			}
		}
		if err := meter.addWork(1000); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// intervalWidth returns the width of the interval of a transition. It stores the width of each different interval in widthOf.
func intervalWidth(model *sparse.Model, transition int, widthOf map[[2]uint32]*big.Rat) *big.Rat {
	intervalEnds := [2]uint32{model.WeightIndex[transition], model.HighIndex[transition]}
	width, found := widthOf[intervalEnds]
	if !found {
		width = new(big.Rat).Sub(model.HighFraction(transition), model.Fraction(transition))
		widthOf[intervalEnds] = width
	}
	return width
}

// robustFloor is the least positive bound in interval models. Smaller lower bounds become 0.
const robustFloor = 0x1p-900

// adjustableTarget is a target whose interval has a positive width, so it can get free probability.
type adjustableTarget struct{ value, intervalWidth float64 }

// choiceBound returns the reward of a choice plus the mean value of its targets under the optimal distribution of nature, rounded up if isUpper is set, and
// otherwise down. values has bounds on the values of all states; rewardErr bounds the relative error of the reward. Concurrent calls are safe.
func (nature *nature) choiceBound(choice int, reward, rewardErr float64, values []float64, isUpper bool) float64 {
	var buffer [16]adjustableTarget
	adjustableTargets := buffer[:0]
	first, end := nature.model.Transitions(choice)
	sum, minimum, maximum := reward, math.Inf(1), 0.0
	for transition := first; transition < end; transition++ {
		target := nature.model.Target[transition]
		if nature.excluded != nil && nature.excluded.Has(int(target)) {
			continue
		}
		value := values[nature.representativeOf(target)]
		if nature.fixedProb != nil {
			minimum, maximum = min(minimum, value), max(maximum, value)
			sum += nature.fixedProb[transition] * value
			continue
		}
		if prob := nature.model.Prob(transition); prob > 0 { // the value may be infinite
			minimum, maximum = min(minimum, value), max(maximum, value)
			sum += prob * value
		}
		if nature.intervalWidths[transition] > 0 {
			adjustableTargets = append(adjustableTargets, adjustableTarget{value, nature.intervalWidths[transition]})
		}
	}
	if nature.freeProbs[choice] > 0 && len(adjustableTargets) > 0 { // fixed distributions have no adjustable targets
		nature.sortByPreference(adjustableTargets)
		sum += distributeFreeProbability(nature.freeProbs[choice], adjustableTargets, isUpper, nature.isMinimizer)
		if math.IsInf(adjustableTargets[0].intervalWidth, 1) { // this target gets the whole free probability
			adjustableTargets = adjustableTargets[:1]
		}
	}
	for _, target := range adjustableTargets {
		minimum, maximum = min(minimum, target.value), max(maximum, target.value)
	}
	if maximum == 0 && reward == 0 {
		return 0
	}
	if reward > 0 {
		minimum, maximum = 0, math.Inf(1) // with a reward, the result need not lie between the values of the targets
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

// roundDownWithin returns a lower bound on the exact value of a nonnegative sum, whose relative error is at most relErr. The exact value is known to be at
// least minimum, so the bound is at least minimum, too.
func roundDownWithin(sum, relErr, minimum float64) float64 {
	sum = min(sum, math.MaxFloat64)
	bound := sum - sum*relErr
	if !(bound >= robustFloor) { // the bound is tiny or NaN
		bound = 0
	}
	return max(bound, minimum)
}

// sortByPreference sorts targets in the order in which nature gives them free probability. Of targets with the same value, those that can get
// more come first.
func (nature *nature) sortByPreference(targets []adjustableTarget) {
	slices.SortFunc(targets, func(left, right adjustableTarget) int {
		return cmp.Or(nature.preferenceOrder(cmp.Compare(left.value, right.value)), cmp.Compare(right.intervalWidth, left.intervalWidth))
	})
}

// distributeFreeProbability returns the value that the free probability adds to a choice, rounded up or down. The targets get it in the given
// order, and each target gets at most the width of its interval.
func distributeFreeProbability(remaining float64, adjustableTargets []adjustableTarget, isUpper, isMinimizer bool) float64 {
	// A greater free probability raises the value. Greater widths raise it if nature maximizes, and lower it if nature minimizes.
	budgetFactor, widthFactor := 1-4*unitRoundoff, 1-4*unitRoundoff
	if isUpper {
		budgetFactor = 1 + 4*unitRoundoff
	}
	if isUpper != isMinimizer {
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

// exactDistribution returns the optimal distribution of nature for a choice and the exact values of the states, nil for infinity.
func (nature *nature) exactDistribution(choice int, values []*big.Rat) []*big.Rat {
	return nature.distribution(choice, func(s, t uint32) int { return compareExtended(values[s], values[t]) })
}

// compareExtended compares two values as big.Rat.Cmp does. A nil value stands for infinity.
func compareExtended(left, right *big.Rat) int {
	switch {
	case isGreater(left, right):
		return 1
	case isGreater(right, left):
		return -1
	}
	return 0
}

// choiceValue returns the reward of a choice plus its exact value under a distribution over its targets. A nil value stands for infinity.
func (nature *nature) choiceValue(choice int, reward *big.Rat, distribution, values []*big.Rat) *big.Rat {
	sum := new(big.Rat).Set(reward)
	first, _ := nature.model.Transitions(choice)
	term := new(big.Rat)
	for i, prob := range distribution {
		if prob.Sign() == 0 {
			continue
		}
		value := values[nature.model.Target[first+i]]
		if value == nil {
			return nil
		}
		sum.Add(sum, term.Mul(prob, value))
	}
	return sum
}

// interiorDistribution returns a distribution of nature for a choice that leads to all targets in a region, and to no others. Some distribution must
// stay in the region.
func (nature *nature) interiorDistribution(choice int, region *sparse.Set) []*big.Rat {
	first, end := nature.model.Transitions(choice)
	probs, widths := make([]*big.Rat, end-first), make([]*big.Rat, end-first)
	freeProb, widthSum := big.NewRat(1, 1), new(big.Rat)
	for i := range probs {
		probs[i], widths[i] = nature.model.Fraction(first+i), new(big.Rat)
		if region.Has(int(nature.model.Target[first+i])) {
			widths[i].Sub(nature.model.HighFraction(first+i), probs[i])
		}
		freeProb.Sub(freeProb, probs[i])
		widthSum.Add(widthSum, widths[i])
	}
	if freeProb.Sign() == 0 {
		return probs
	}
	part := new(big.Rat).Quo(freeProb, widthSum) // at most 1, because a distribution exists
	for i, width := range widths {
		probs[i] = width.Add(width.Mul(width, part), probs[i])
	}
	return probs
}

// inducedModel returns the model without intervals in which each choice has the given distribution. Transitions with probability 0 are left out.
// The choices of an MDP keep their actions. A chain can be written as an MDP with one choice in each state.
func (nature *nature) inducedModel(kind sparse.Kind, distributions [][]*big.Rat) (*sparse.Model, error) {
	model := nature.model
	hasActions := model.Kind == sparse.MDP && model.Actions != nil
	builder := sparse.NewBuilder(kind)
	for s := range model.NumStates() {
		builder.State()
		firstChoice, endChoice := model.Choices(s)
		for choice := firstChoice; choice < endChoice; choice++ {
			if kind == sparse.MDP {
				action := sparse.NoAction
				if hasActions {
					action = model.Actions[choice]
				}
				builder.Choice(action)
			}
			first, _ := model.Transitions(choice)
			for i, prob := range distributions[choice] {
				builder.AddRat(int(model.Target[first+i]), prob, sparse.NoAction)
			}
		}
	}
	induced, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	induced.Initial, induced.Deadlocks, induced.Labels = model.Initial, model.Deadlocks, model.Labels
	return induced, nil
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
