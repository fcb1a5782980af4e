package solve

import (
	"math"
	"math/big"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

const (
	// denseMaxStates is the greatest number of maybe states for which denseSteps is used.
	denseMaxStates = 512
	// denseMinSteps is the least number of steps that are taken one by one.
	denseMinSteps = 1000
)

// denseSteps takes many steps of a small chain at once, by repeated squaring of an affine map. One step replaces the
// values x of the maybe states by A x + b: the matrix A has the probabilities, the offset b the contribution of the other
// states and of rewards. Twice as many steps have the matrix A² and the offset A b + b. All numbers are nonnegative.
type denseSteps struct {
	system          *equationSystem
	states          []uint32
	isExact         bool  // the probabilities and rewards have fractions
	rowIndex        []int // the row of each state in matrix; -1 for other states
	matrix          []doubleWord
	offsets, values [numVectors][]doubleWord
	// mapErr and valueErr are sums of relative errors: of matrix and offsets, and of values. compound turns them into bounds.
	mapErr, valueErr float64
	isOutOfRange     bool        // a positive probability or reward is below doubleWordFloor
	hasUnderflow     atomic.Bool // a product was below doubleWordFloor
	maxEntry         float64     // the greatest number of offsets and values before the first squaring
}

// The vectors: lower bounds, upper bounds, and a number that is positive if the value may be below 1.
const (
	lowerVector = iota
	upperVector
	belowOneVector
	numVectors
)

// denseStepsStart decides whether repeated squaring of the transition matrix is faster than single steps. If ok is true, take singleSteps single steps
// first, which may be enough, and the other steps by squaring. ok is false for models other than small DTMCs.
func (system *equationSystem) denseStepsStart(states []uint32, numSteps int) (singleSteps int, ok bool) {
	size := len(states)
	isSmall := size > 0 && size <= denseMaxStates
	if system.stepScheduler != nil || system.nature != nil || system.graph.Kind == sparse.CTMC || !isSmall || numSteps <= denseMinSteps {
		return 0, false
	}
	for _, state := range states {
		if first, end := system.graph.Choices(int(state)); end-first > 1 { // a state with several choices: the model is not a chain
			return 0, false
		}
	}
	singleSteps = max(denseMinSteps, squaringWork(size, numSteps)/system.singleStepWork(states))
	return singleSteps, singleSteps < numSteps
}

// denseMaxEntry is the greatest number of the map and the values before the first squaring.
const denseMaxEntry = 0x1p400

// newDenseSteps returns the affine map x -> A x + b of one step, together with the current values, to which it is applied. choices has the choice of each
// state; nil stands for the only choices of a Markov chain. ok is false if a number is too small or too large for double-word arithmetic.
func (system *equationSystem) newDenseSteps(states, choices []uint32) (dense *denseSteps, ok bool) {
	size := len(states)
	dense = &denseSteps{
		system: system, states: states, isExact: system.graph.Exact() && hasFractions(system.reward),
		rowIndex: slices.Repeat([]int{-1}, system.graph.NumStates()), matrix: make([]doubleWord, size*size),
	}
	for i, state := range states {
		dense.rowIndex[state] = i
	}
	for vector := range dense.offsets {
		dense.offsets[vector], dense.values[vector] = make([]doubleWord, size), make([]doubleWord, size)
	}
	// An entry of A or b is a sum of at most size+8 terms, each of which rounds once. The errors of the model's numbers are added below.
	dense.mapErr = float64(size+8) * doubleWordUnit
	if !dense.isExact {
		dense.mapErr += 2.1*system.rounding.relErr + unitRoundoff // the reward of a step is the sum of two numbers
	}
	for i, state := range states {
		choice, _ := system.graph.Choices(int(state))
		if choices != nil {
			choice = int(choices[state])
		}
		dense.setRow(i, int(state), choice)
	}
	dense.setValues(system.values)
	return dense, !dense.isOutOfRange && dense.maxEntry < denseMaxEntry
}

// setRow sets one row of A, and the same entry of b, in the map x -> A x + b, from a choice of a state.
func (steps *denseSteps) setRow(row, state, choice int) {
	graph, values, size := steps.system.graph, steps.system.values, len(steps.states)
	reward := steps.reward(state, choice)
	steps.offsets[lowerVector][row], steps.offsets[upperVector][row] = reward, reward
	first, end := graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		prob, target := steps.probability(transition), graph.Target[transition]
		if column := steps.rowIndex[target]; column >= 0 {
			steps.matrix[row*size+column] = steps.matrix[row*size+column].add(prob)
			continue
		}
		// The target has a fixed value, so the product of probability and value is a part of b (the offset).
		for vector, entry := range vectorEntries(values.Lower[target], values.Upper[target]) {
			steps.offsets[vector][row] = steps.offsets[vector][row].add(steps.boundedProduct(prob, doubleWord{entry, 0}))
		}
	}
	for vector := range steps.offsets {
		steps.maxEntry = max(steps.maxEntry, steps.offsets[vector][row].hi)
	}
}

// setValues makes the bounds of the states the vectors to which the map is applied.
func (steps *denseSteps) setValues(values *Values) {
	for i, state := range steps.states {
		for vector, entry := range vectorEntries(values.Lower[state], values.Upper[state]) {
			steps.values[vector][i] = doubleWord{entry, 0}
			steps.maxEntry = max(steps.maxEntry, entry)
		}
	}
	steps.valueErr = 0
}

// reward returns the reward of a choice and of its state.
func (steps *denseSteps) reward(state, choice int) doubleWord {
	if steps.isExact {
		return steps.fromFraction(steps.system.reward.ExactChoiceTotal(state, choice))
	}
	return steps.fromFloat(steps.system.reward.ChoiceTotal(state, choice))
}

// probability returns the probability of a transition.
func (steps *denseSteps) probability(transition int) doubleWord {
	if steps.isExact {
		return steps.fromFraction(steps.system.graph.Fraction(transition))
	}
	return steps.fromFloat(steps.system.graph.Prob(transition))
}

// fromFraction rounds a number to a double word. It sets isOutOfRange for a positive number below doubleWordFloor.
func (steps *denseSteps) fromFraction(number *big.Rat) doubleWord {
	rounded := newDoubleWord(number)
	steps.isOutOfRange = steps.isOutOfRange || number.Sign() != 0 && !(rounded.hi >= doubleWordFloor)
	return rounded
}

// fromFloat converts a float64 to a double word. It sets isOutOfRange for a positive number below doubleWordFloor.
func (steps *denseSteps) fromFloat(number float64) doubleWord {
	steps.isOutOfRange = steps.isOutOfRange || number != 0 && !(number >= doubleWordFloor)
	return doubleWord{number, 0}
}

// vectorEntries returns the entries of the three vectors for a value with the given bounds.
func vectorEntries(lower, upper float64) [numVectors]float64 {
	belowOne := 0.0
	if lower < 1 {
		belowOne = 1
	}
	return [numVectors]float64{lower, upper, belowOne}
}

// boundedProduct multiplies two numbers. A positive product below doubleWordFloor is raised to doubleWordFloor, and sets hasUnderflow.
func (steps *denseSteps) boundedProduct(left, right doubleWord) doubleWord {
	product := left.mul(right)
	if product.hi < doubleWordFloor && left.hi > 0 && right.hi > 0 {
		steps.hasUnderflow.Store(true)
		return doubleWord{doubleWordFloor, 0}
	}
	return product
}

// applyMap returns A values + offset in double-word arithmetic, where A is steps.matrix.
func (steps *denseSteps) applyMap(values, offset []doubleWord) []doubleWord {
	size := len(steps.states)
	result := make([]doubleWord, size)
	for i := range result {
		sum := offset[i]
		for column, entry := range steps.matrix[i*size : (i+1)*size] {
			if entry.hi > 0 && values[column].hi > 0 {
				sum = sum.add(steps.boundedProduct(entry, values[column]))
			}
		}
		result[i] = sum
	}
	return result
}

// square replaces the map x -> A x + b by its composition with itself, x -> A² x + (A b + b), which stands for twice as many steps.
func (steps *denseSteps) square() {
	size := len(steps.states)
	for vector := range steps.offsets {
		steps.offsets[vector] = steps.applyMap(steps.offsets[vector], steps.offsets[vector])
	}
	squared := make([]doubleWord, size*size)
	inParallelParts(size, 8, func(from, to int) {
		for i := from; i < to; i++ {
			steps.squareRow(i, squared[i*size:(i+1)*size])
		}
	})
	steps.matrix = squared
	steps.mapErr = 2*steps.mapErr + float64(size+4)*doubleWordUnit
}

// squareRow adds a row of the square of the matrix to result.
func (steps *denseSteps) squareRow(row int, result []doubleWord) {
	size := len(steps.states)
	for middle, entry := range steps.matrix[row*size : (row+1)*size] {
		if entry.hi > 0 && addProducts(result, entry, steps.matrix[middle*size:(middle+1)*size]) {
			steps.hasUnderflow.Store(true)
		}
	}
}

// addProducts adds factor * row[column] to sums[column], for all columns, in double-word arithmetic, which is inlined for speed. A product below
// doubleWordFloor is replaced by this number, and underflowed is set.
func addProducts(sums []doubleWord, factor doubleWord, row []doubleWord) (underflowed bool) {
	for column, entry := range row[:len(sums)] {
		if entry.hi == 0 {
			continue
		}
		// The product of two double words: FMA gives the rounding error of the product of the high words.
		product := factor.hi * entry.hi
		lo := math.FMA(factor.hi, entry.hi, -product) + (factor.hi*entry.lo + factor.lo*entry.hi)
		hi := product + lo
		lo -= hi - product
		if hi < doubleWordFloor {
			hi, lo, underflowed = doubleWordFloor, 0, true
		}
		// The sum of two double words, with the exact error of the sum of the high words (TwoSum).
		sum := sums[column]
		total := sum.hi + hi
		rounded := total - sum.hi
		lo = (sum.hi - (total - rounded)) + (hi - rounded) + (sum.lo + lo)
		hi = total + lo
		sums[column] = doubleWord{hi, lo - (hi - total)}
	}
	return underflowed
}

// run applies numSteps steps to the values by binary exponentiation. For each binary digit of numSteps, from the lowest, it applies the
// current map if the digit is 1, and then squares the map. It reports whether all results are finite.
func (steps *denseSteps) run(meter *meter, numSteps int) (isFinite bool, err error) {
	size := len(steps.states)
	for remaining := numSteps; ; remaining >>= 1 {
		if remaining&1 != 0 {
			steps.applyToValues()
		}
		if remaining <= 1 {
			return steps.isFinite(), nil
		}
		steps.square()
		if err := meter.addWork(size * size * size); err != nil {
			return false, err
		}
	}
}

// applyToValues applies the affine map to the values.
func (steps *denseSteps) applyToValues() {
	for vector := range steps.values {
		steps.values[vector] = steps.applyMap(steps.values[vector], steps.offsets[vector])
	}
	steps.valueErr += steps.mapErr + float64(len(steps.states)+4)*doubleWordUnit
}

// isFinite reports whether all values are so small that no product or sum can have overflowed.
func (steps *denseSteps) isFinite() bool {
	const greatest = 0x1p1000 // far below the greatest float64, so no intermediate result exceeded float64
	isInfinite := func(x doubleWord) bool { return !(x.hi < greatest) }
	for _, values := range steps.values {
		if slices.ContainsFunc(values, isInfinite) {
			return false
		}
	}
	return true
}

// writeBounds rounds the computed values outwards, and stores them as the bounds of the states. Where the vector belowOneVector is 0, every path ends in a
// state with value 1, so the probability is exactly 1.
func (steps *denseSteps) writeBounds(values *Values) {
	rounding := steps.system.rounding
	relErr := compound(steps.valueErr) + 4*unitRoundoff
	underflowErr := steps.underflowError()
	for i, state := range steps.states {
		lower := max(rounding.roundDown(steps.values[lowerVector][i].hi, relErr)-underflowErr, 0)
		upper := rounding.roundUp(steps.values[upperVector][i].hi, relErr)
		if underflowErr > 0 && upper > 0 {
			upper = rounding.roundUp(upper+underflowErr, 4*unitRoundoff)
		}
		if steps.system.isProbability {
			upper = min(upper, 1)
			lower = min(lower, upper)
			if steps.values[belowOneVector][i].hi == 0 {
				lower, upper = 1, 1
			}
		}
		values.Lower[state], values.Upper[state] = lower, upper
	}
}

// underflowError bounds the error of all products that underflowed.
func (steps *denseSteps) underflowError() float64 {
	if !steps.hasUnderflow.Load() {
		return 0
	}
	// Each product has an error of at most doubleWordFloor. The sum is less than 2^-700 times the greatest number.
	return 0x1p-700 * (1 + steps.maxEntry)
}

// BoundsAreFaster reports whether bounds after many steps are computed much faster than exact values. This holds for small models, because the fractions of
// exact values become very long.
func BoundsAreFaster(graph *sparse.Graph, steps int) bool {
	if graph.NumStates() > denseMaxStates || graph.Intervals() {
		return false
	}
	const muchMore = 10 // the factor by which the number of steps must exceed the least number for denseSteps
	switch graph.Kind {
	case sparse.DTMC:
		return steps > muchMore*denseMinSteps
	case sparse.MDP:
		return steps > policyAfter*(1+policyMinFactor)
	}
	return false
}
