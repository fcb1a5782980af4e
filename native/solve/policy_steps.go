package solve

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/native/space/sparse"
)

// policySteps takes many steps at once in a small MDP or game whose first values are 0, as long as one policy stays optimal: one choice in each
// state. The steps of a policy are those of a chain, so they are taken by repeated squaring (see denseSteps).
//
// Let x be the values now, T the equations of one step, and T' those of the policy. The values never decrease, because the first ones are 0,
// T is monotone, and rewards are not negative. Let l be a lower bound on x, and u an upper bound on T'^p x. If T and T' agree on all vectors
// between l and u, then T^i x = T'^i x for all i up to p: by induction T'^i x lies between x and T'^p x. They agree if in each state no other
// choice is better than that of the policy, even if the difference of the two choices is as small as vectors between l and u allow.
//
// T^i x has the same value in states that are provably equal (see equalStates), so it suffices that T and T' agree on such vectors. Duplicated
// and symmetric choices have no difference then. Other choices that are equally good end this method, and so do equal choices whose numbers have
// rounding errors.
type policySteps struct {
	system  *equationSystem
	states  []uint32
	choices []uint32    // the policy: a choice for each state of the system
	rivals  []rival     // of the policy
	equal   []uint32    // of each state: its representative, a state that provably has the same value; nil if none is known
	dense   *denseSteps // applies maps; nil before it is needed
	maps    []affineMap // of 1, 2, 4, ... steps of the policy
	work    int         // of all squarings so far
	// minExponent is the binary logarithm of the least number of steps that are taken at once: fewer are faster one by one.
	minExponent int
}

// rival is another choice of a state than that of the policy. The difference of their values is the sum of terms and reward; it is not negative
// if the policy is optimal.
type rival struct {
	terms  []rivalTerm
	reward enclosure
}

// rivalTerm is the value of a target times the difference of two probabilities.
type rivalTerm struct {
	target     uint32
	difference enclosure
}

// enclosure has bounds on a number.
type enclosure struct{ lower, upper float64 }

// affineMap is the map x -> A x + b of some steps of a policy, with the names of denseSteps.
type affineMap struct {
	matrix []doubleWord
	offset [numVectors][]doubleWord
	mapErr float64
}

const (
	// policyAfter is the least number of steps that are taken one by one before policySteps.
	policyAfter = 1 << 14
	// policyMinFactor is the least number of steps that remain, as a multiple of those that were taken.
	policyMinFactor = 3
)

// policyStepsStart returns after how many single steps policySteps should take the remaining ones of total steps, or 0 if it cannot be used. The values must
// not decrease from step to step.
func (system *equationSystem) policyStepsStart(opts Options, states []uint32, total int) int {
	everyStepCounts := opts.Classic || system.stepScheduler != nil || system.rounding.grid != 0
	size := len(states)
	if everyStepCounts || system.nature != nil || system.graph.Kind == sparse.CTMC || size == 0 || size > denseMaxStates {
		return 0
	}
	start := max(policyAfter, squaringWork(size, total)/system.singleStepWork(states))
	if total/(1+policyMinFactor) < start {
		return 0
	}
	return start
}

// StepsNeedFractions reports whether that many steps of a small MDP have wide bounds because its weights have rounding errors. With fractions as weights
// policySteps has smaller errors.
func StepsNeedFractions(graph *sparse.Graph, steps int, opts Options) bool {
	if graph.Kind != sparse.MDP || graph.Intervals() || graph.Exact() || graph.NumStates() > denseMaxStates || opts.Scheduler {
		return false
	}
	return steps > policyAfter*(1+policyMinFactor) && 2*graph.RelErr*float64(steps) > opts.epsilon()/8
}

// squaringWork returns the number of products for all powers of a matrix up to the given number of steps.
func squaringWork(size, steps int) int {
	return 2 * size * size * size * bits.Len(uint(steps))
}

// singleStepWork returns the number of transitions of the states, plus their number.
func (system *equationSystem) singleStepWork(states []uint32) int {
	return len(states) + system.numTransitions(states)
}

// newPolicySteps prepares steps of the given states, whose first values must be 0.
func (system *equationSystem) newPolicySteps(states []uint32) *policySteps {
	mapWork := numVectors * len(states) * len(states)
	return &policySteps{system: system, states: states, equal: system.equalStates(states), minExponent: 3 + bits.Len(uint(mapWork/system.singleStepWork(states)))}
}

// run takes at most numSteps steps. As long as the policy stays optimal, it takes a power of two of them at once. It stops when no policy stays optimal for
// long, or when squaring takes too long, and returns the number of steps that remain.
func (steps *policySteps) run(meter *meter, numSteps int) (remaining int, err error) {
	budget := numSteps / 2 * steps.system.singleStepWork(steps.states)
	exponent, singleSteps := steps.minExponent, 1
	for numSteps > 0 && singleSteps < policyAfter && steps.work <= budget {
		steps.update()
		stepsTaken, err := steps.tryPowers(meter, exponent, numSteps)
		if err != nil {
			return 0, err
		}
		if stepsTaken > 0 {
			meter.progress.Done += stepsTaken
			exponent, singleSteps = bits.Len(uint(stepsTaken)), 1 // try twice as many steps next time
		} else {
			// The policy will change soon, or another choice is equally good. Take single steps, and more of them after each failure.
			stepsTaken = min(singleSteps, numSteps)
			if err := steps.system.takeSteps(steps.states, stepsTaken, meter); err != nil {
				return 0, err
			}
			exponent, singleSteps = steps.minExponent, 2*singleSteps
		}
		numSteps -= stepsTaken
	}
	return numSteps, nil
}

// tryPowers takes a power of two of the steps at once, at most numSteps, if the policy certainly stays optimal in them. It tries 2^exponent steps first, and
// then fewer. It returns the number of steps taken, which can be 0.
func (steps *policySteps) tryPowers(meter *meter, exponent, numSteps int) (taken int, err error) {
	exponent = min(exponent, bits.Len(uint(numSteps))-1)
	values := steps.system.values
	for ; exponent >= steps.minExponent; exponent-- {
		if ok, err := steps.prepare(meter, exponent); !ok || err != nil {
			return 0, err
		}
		steps.dense.setMap(steps.maps[exponent])
		steps.dense.setValues(values)
		steps.dense.applyToValues()
		if !steps.dense.isFinite() || !(steps.dense.maxEntry < denseMaxEntry) {
			return 0, nil
		}
		after := values.copyBounds()
		steps.dense.writeBounds(after)
		if err := meter.addWork(len(steps.states) * len(steps.states)); err != nil {
			return 0, err
		}
		if steps.isOptimal(values.Lower, after.Upper) {
			copy(values.Lower, after.Lower)
			copy(values.Upper, after.Upper)
			return 1 << exponent, nil
		}
	}
	return 0, nil
}

// update makes the policy optimal for the current values, but keeps choices that may be optimal. If a choice changes, it drops the maps of the old policy,
// and finds the rivals of the new one: conditions that it is still optimal.
func (steps *policySteps) update() {
	if !steps.improveChoices() {
		return
	}
	steps.dense, steps.maps, steps.rivals = nil, nil, steps.rivals[:0]
	for _, state := range steps.states {
		first, end := steps.system.graph.Choices(int(state))
		for choice := first; choice < end; choice++ {
			if choice != int(steps.choices[state]) {
				steps.addRival(int(state), choice)
			}
		}
	}
}

// improveChoices replaces each choice of the policy that is certainly worse than the best one. It reports whether a choice changed.
func (steps *policySteps) improveChoices() (changed bool) {
	system, isFirst := steps.system, steps.choices == nil
	if isFirst {
		steps.choices = make([]uint32, system.graph.NumStates())
	}
	for _, state := range steps.states {
		best := system.stepOptimum(int(state))
		if isFirst || steps.isWorse(int(state), best) {
			steps.choices[state], changed = best.choice, true
		}
	}
	return changed || isFirst
}

// isWorse reports whether the policy's choice in a state is certainly worse than the best choice.
func (steps *policySteps) isWorse(state int, best bestBounds) bool {
	current := steps.system.evaluateChoice(state, int(steps.choices[state]))
	if steps.system.minimizes(state) {
		return current.lower > best.upper
	}
	return current.upper < best.lower
}

// addRival adds a condition (a rival) under which the policy is optimal: its choice in a state is at least as good as another choice. The rival is the
// difference of the equations of both choices, which must not be negative. A difference that is always 0 is left out.
func (steps *policySteps) addRival(state, otherChoice int) {
	system := steps.system
	greater, less := int(steps.choices[state]), otherChoice // the choice that must have the greater value comes first
	if system.minimizes(state) {
		greater, less = less, greater
	}
	reward := system.uncertainReward(state, greater)
	reward.subtract(system.uncertainReward(state, less))
	differences := map[uint32]*uncertain{} // for each target, the difference of the probabilities of moving to it
	for i, end := system.graph.Transitions(greater); i < end; i++ {
		steps.differenceOf(differences, i).add(system.uncertainProbability(i))
	}
	for i, end := system.graph.Transitions(less); i < end; i++ {
		steps.differenceOf(differences, i).subtract(system.uncertainProbability(i))
	}
	added := rival{reward: reward.enclose()}
	for target, difference := range differences {
		if bounds := difference.enclose(); bounds != (enclosure{}) {
			added.terms = append(added.terms, rivalTerm{target, bounds})
		}
	}
	slices.SortFunc(added.terms, func(left, right rivalTerm) int { return int(left.target) - int(right.target) })
	if len(added.terms) > 0 || added.reward.lower < 0 {
		steps.rivals = append(steps.rivals, added)
	}
}

// differenceOf returns the entry of differences for the target of a transition. Targets with equal values share an entry.
func (steps *policySteps) differenceOf(differences map[uint32]*uncertain, transition int) *uncertain {
	target := steps.system.graph.Target[transition]
	if steps.equal != nil {
		target = steps.equal[target]
	}
	if differences[target] == nil {
		differences[target] = &uncertain{}
	}
	return differences[target]
}

// uncertain is a sum of numbers of the model. Its value differs from the exact sum by at most err.
type uncertain struct{ value, err big.Rat }

func (sum *uncertain) add(term uncertain) {
	sum.value.Add(&sum.value, &term.value)
	sum.err.Add(&sum.err, &term.err)
}

func (sum *uncertain) subtract(term uncertain) {
	sum.value.Sub(&sum.value, &term.value)
	sum.err.Add(&sum.err, &term.err)
}

// enclose returns float64 bounds on the number. Both are 0 only if the number is exactly 0.
func (sum *uncertain) enclose() enclosure {
	var low, high big.Rat
	lower, isExact := low.Sub(&sum.value, &sum.err).Float64()
	if !isExact {
		lower = math.Nextafter(lower, math.Inf(-1))
	}
	upper, isExact := high.Add(&sum.value, &sum.err).Float64()
	if !isExact {
		upper = math.Nextafter(upper, math.Inf(1))
	}
	return enclosure{lower, upper}
}

// uncertainFloat returns a float64 number of the model as a fraction, with a bound on its rounding error.
func (system *equationSystem) uncertainFloat(x float64) (number uncertain) {
	number.value.SetFloat64(x)
	number.err.SetFloat64(system.rounding.relErr)
	number.err.Mul(&number.err, &number.value)
	// The relative error refers to the true number, which may be slightly greater than x, so increase the bound slightly.
	number.err.Mul(&number.err, big.NewRat(1<<20+1, 1<<20))
	return number
}

// uncertainProbability returns the probability of transition i.
func (system *equationSystem) uncertainProbability(i int) (number uncertain) {
	if system.graph.Exact() {
		number.value.Set(system.graph.Fraction(i))
		return number
	}
	return system.uncertainFloat(system.graph.Prob(i))
}

// uncertainReward returns the reward of a choice plus the reward of its state, with a bound on the rounding error.
func (system *equationSystem) uncertainReward(state, choice int) (number uncertain) {
	if hasFractions(system.reward) {
		number.value.Set(system.reward.ExactChoiceTotal(state, choice))
		return number
	}
	if system.reward.State != nil {
		number.add(system.uncertainFloat(system.reward.State[state]))
	}
	if system.reward.Choice != nil {
		number.add(system.uncertainFloat(system.reward.Choice[choice]))
	}
	return number
}

// isOptimal reports whether the policy is certainly optimal for all values between the bounds: for each rival, a lower bound of the difference of the two
// choices is not negative.
func (steps *policySteps) isOptimal(lower, upper []float64) bool {
	const smallest = 0x1p-960 // smaller products may lose their digits, so they are rounded down to -smallest or 0
	for i := range steps.rivals {
		rival := &steps.rivals[i]
		sum, magnitude := rival.reward.lower, math.Abs(rival.reward.lower)
		for _, term := range rival.terms {
			product := term.difference.lower * lower[term.target]
			if term.difference.lower < 0 {
				product = term.difference.lower * upper[term.target]
				if product > -smallest && upper[term.target] > 0 {
					product = -smallest
				}
			} else if product < smallest {
				product = 0
			}
			sum += product
			magnitude += math.Abs(product)
		}
		if sum < magnitude*float64(len(rival.terms)+4)*2*unitRoundoff {
			return false
		}
	}
	return true
}

// prepare computes the map of 2^exponent steps of the policy by repeated squaring, and stores the maps of fewer steps, too. ok is false if a number is too
// small or too large.
func (steps *policySteps) prepare(meter *meter, exponent int) (ok bool, err error) {
	if steps.dense == nil {
		if steps.dense, ok = steps.system.newDenseSteps(steps.states, steps.choices); !ok {
			return false, nil
		}
		steps.maps = append(steps.maps, steps.dense.currentMap())
	}
	size := len(steps.states)
	for len(steps.maps) <= exponent {
		steps.dense.setMap(steps.maps[len(steps.maps)-1])
		steps.dense.square()
		steps.maps = append(steps.maps, steps.dense.currentMap())
		steps.work += size * size * size
		if err := meter.addWork(size * size * size); err != nil {
			return false, err
		}
	}
	return true, nil
}

// currentMap returns the map, which squaring does not change.
func (steps *denseSteps) currentMap() affineMap {
	return affineMap{steps.matrix, steps.offsets, steps.mapErr}
}

// setMap replaces the map.
func (steps *denseSteps) setMap(current affineMap) {
	steps.matrix, steps.offsets, steps.mapErr = current.matrix, current.offset, current.mapErr
}
