package belief

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// belief is a probability distribution over states with the same observation: states in increasing
// order, with positive integer weights that have no common divisor. totalWeight is the sum of the weights.
type belief struct {
	states      []uint32
	weights     []*big.Int
	totalWeight *big.Int
}

// certainBelief returns the belief that has probability one in a state.
func certainBelief(state uint32) *belief {
	return &belief{[]uint32{state}, []*big.Int{big.NewInt(1)}, big.NewInt(1)}
}

// newBelief returns the belief in which the probability of states[i] is weights[i] divided by the sum of the weights. It divides the
// weights by their greatest common divisor, in place.
func newBelief(states []uint32, weights []*big.Int) *belief {
	gcd := new(big.Int).Set(weights[0])
	for _, weight := range weights[1:] {
		if gcd.IsUint64() && gcd.Uint64() == 1 {
			break
		}
		gcd.GCD(nil, nil, gcd, weight)
	}
	result := &belief{states: states, weights: weights, totalWeight: new(big.Int)}
	for _, weight := range weights {
		weight.Quo(weight, gcd)
		result.totalWeight.Add(result.totalWeight, weight)
	}
	return result
}

// mapKey returns a string that is the same for equal beliefs only: the states and their weights in binary form. It is used as the key of a map.
func (belief *belief) mapKey() string {
	var key []byte
	for i, state := range belief.states {
		key = append(key, byte(state), byte(state>>8), byte(state>>16), byte(state>>24))
		bytes := belief.weights[i].Bytes()
		length := len(bytes)
		key = append(key, byte(length), byte(length>>8), byte(length>>16))
		key = append(key, bytes...)
	}
	return string(key)
}

// expectation returns the mean of value(state) over the states of the belief.
func (belief *belief) expectation(value func(state uint32) *big.Rat) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	for i, state := range belief.states {
		if stateValue := value(state); stateValue.Sign() != 0 {
			sum.Add(sum, term.Mul(stateValue, term.SetInt(belief.weights[i])))
		}
	}
	return sum.Quo(sum, term.SetInt(belief.totalWeight))
}

// expectationFloat returns the mean of value(state) over the states of the belief, and a bound on its relative error. The values must not be
// negative.
func (belief *belief) expectationFloat(value func(state uint32) float64) (sum, relErr float64) {
	total, _ := new(big.Float).SetInt(belief.totalWeight).Float64()
	if math.IsInf(total, 1) {
		return belief.roundedExpectation(value)
	}
	for i, state := range belief.states {
		weight, _ := new(big.Float).SetInt(belief.weights[i]).Float64()
		sum += weight * value(state)
	}
	// The mean of n values is rounded less than n+6 times: in conversions, products, n-1 sums and the quotient.
	return sum / total, float64(len(belief.states)+6) * 0x1p-53
}

// roundedExpectation returns the mean of value(state) over the states of the belief, and a bound on its relative error. It computes in
// rational arithmetic, because the weights of the belief exceed the range of float64.
func (belief *belief) roundedExpectation(value func(state uint32) float64) (sum, relErr float64) {
	for _, state := range belief.states {
		if math.IsInf(value(state), 1) {
			return math.Inf(1), 0
		}
	}
	exact := belief.expectation(func(state uint32) *big.Rat { return new(big.Rat).SetFloat64(value(state)) })
	sum, _ = exact.Float64()
	return sum, 0x1p-52
}

// outcome is a belief after a step. Its probability is weight divided by outcomes.total.
type outcome struct {
	nextBelief *belief
	weight     *big.Int
}

// outcomes are the results of an action: a belief for each next observation, and the weights of the
// transitions into the target (goal) and into states that cannot reach it (fail).
type outcomes struct {
	continuing    []outcome // by observation
	goal, failure *big.Int
	totalWeight   *big.Int // the sum of all weights
}

// updater computes the beliefs after a step. It is not safe for concurrent use.
type updater struct {
	*pomdp
	weightOf      []big.Int // by state; zero outside step
	touchedStates []uint32  // the states whose weight is positive
}

// newUpdater returns an updater for the beliefs of a POMDP.
func newUpdater(problem *pomdp) *updater {
	return &updater{pomdp: problem, weightOf: make([]big.Int, problem.model.NumStates())}
}

// outcomesOf returns the outcomes of an action in a belief: the next belief for each observation, and the weights of reaching the target and of
// failing.
func (updater *updater) outcomesOf(start *belief, action int) outcomes {
	result := outcomes{goal: new(big.Int), failure: new(big.Int), totalWeight: new(big.Int).Mul(updater.denominator, start.totalWeight)}
	weight := new(big.Int)
	for i, state := range start.states {
		first, end := updater.model.Transitions(updater.choiceOf(state, action))
		for transition := first; transition < end; transition++ {
			weight.Mul(start.weights[i], updater.scaledWeights[updater.model.WeightIndex[transition]])
			updater.addWeight(&result, updater.model.Target[transition], weight)
		}
	}
	result.continuing = updater.splitByObservation()
	return result
}

// addWeight adds the weight of a transition to the weight of its target state. If the target state is terminal, it adds the weight to result.goal or
// result.failure instead.
func (updater *updater) addWeight(result *outcomes, next uint32, weight *big.Int) {
	switch {
	case updater.Target.Has(int(next)):
		result.goal.Add(result.goal, weight)
	case updater.terminalStates.Has(int(next)):
		result.failure.Add(result.failure, weight)
	default:
		if updater.weightOf[next].Sign() == 0 {
			updater.touchedStates = append(updater.touchedStates, next)
		}
		updater.weightOf[next].Add(&updater.weightOf[next], weight)
	}
}

// splitByObservation groups the touched states, which have collected weights, by their observations. It returns one outcome for each group, and resets the
// weights of these states to zero.
func (updater *updater) splitByObservation() []outcome {
	slices.SortFunc(updater.touchedStates, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(updater.Observation[a], updater.Observation[b]), cmp.Compare(a, b))
	})
	var outcomes []outcome
	for first := 0; first < len(updater.touchedStates); {
		observation, end := updater.Observation[updater.touchedStates[first]], first
		for end < len(updater.touchedStates) && updater.Observation[updater.touchedStates[end]] == observation {
			end++
		}
		outcomes = append(outcomes, updater.newOutcome(slices.Clone(updater.touchedStates[first:end])))
		first = end
	}
	updater.touchedStates = updater.touchedStates[:0]
	return outcomes
}

// newOutcome returns the outcome whose belief has the given states with their current weights. It resets these weights to zero.
func (updater *updater) newOutcome(states []uint32) outcome {
	weights := make([]*big.Int, len(states))
	sum := new(big.Int)
	for i, state := range states {
		weights[i] = new(big.Int).Set(&updater.weightOf[state])
		sum.Add(sum, weights[i])
		updater.weightOf[state].SetInt64(0)
	}
	return outcome{newBelief(states, weights), sum}
}
