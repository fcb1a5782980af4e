package explicit

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// negligibleError is the size of an error bound that is small enough: a tighter bound is not
// computed. It is a few roundings.
const negligibleError = 0x1p-48

// weightErrors bounds the differences between the float64 weights and the exact weights of the
// model. For example, the float64 value of 1-0.9 is not exactly a tenth. It is not safe for
// concurrent use.
type weightErrors struct {
	program *sema.Program
	// updates[m][c][u] describes the rounding error of the probability of update u of command c of
	// module m.
	probabilities [][][]updateProbability
	// sumIsOne[m][c] says that the probabilities of a command are constants with sum 1.
	sumIsOne [][]bool
	// moves[i] describes the products of the probabilities of move i, for the moves seen so far.
	moveErrors []moveError
}

// updateProbability describes the rounding error of an update's probability. If RelErr
// is NaN, evaluator computes the probability in a state, and valueCache holds relative errors that were computed earlier.
type updateProbability struct {
	sema.NumberFacts
	evaluator  compile.Evaluator
	valueCache *valueCache
}

// valueCache caches a number for each valuation of some variables. A probability usually depends on
// few variables, so many states share an entry.
type valueCache struct {
	slots       []int    // of the variables
	leastValues []int32  // the least values of the variables
	numValues   []uint64 // the numbers of their values
	errorByKey  map[uint64]float64
}

// maxCached is the largest number of entries of a valueCache.
const maxCached = 1 << 16

// newValueCache returns a cache of rounding errors of expr with one entry for each valuation of its variables. It returns nil if the number of valuations
// does not fit in 64 bits.
func newValueCache(program *sema.Program, expr sema.Expr) *valueCache {
	cache := &valueCache{errorByKey: make(map[uint64]float64)}
	sema.Inspect(expr, func(operand sema.Expr) bool {
		variable, ok := operand.(*sema.Var)
		if ok && !slices.Contains(cache.slots, variable.Slot) {
			low, size := valueRange(&program.Vars[variable.Slot])
			cache.slots, cache.leastValues, cache.numValues = append(cache.slots, variable.Slot), append(cache.leastValues, low), append(cache.numValues, size)
		}
		return true
	})
	count := uint64(1)
	for _, size := range cache.numValues {
		var overflow uint64
		if overflow, count = bits.Mul64(count, size); overflow != 0 {
			return nil
		}
	}
	return cache
}

// valueRange returns the least value of a variable and the number of its values.
func valueRange(variable *sema.Variable) (low int32, size uint64) {
	low, high := variable.Low, variable.High
	if !variable.IsBounded {
		low, high = math.MinInt32, math.MaxInt32
	}
	return low, uint64(int64(high) - int64(low) + 1)
}

// keyOf returns a number that encodes the values of the variables in a state, in mixed radix.
func (cache *valueCache) keyOf(state []int32) uint64 {
	key := uint64(0)
	for i, slot := range cache.slots {
		key = key*cache.numValues[i] + uint64(int64(state[slot])-int64(cache.leastValues[i]))
	}
	return key
}

// errorInState returns a bound on the relative error of value, which is the float64 value of expr in a state. It caches the bound, if possible.
func (update *updateProbability) errorInState(expr sema.Expr, value float64, state []int32) (float64, error) {
	cache := update.valueCache
	if cache == nil {
		return relativeErrorInState(expr, value, state)
	}
	key := cache.keyOf(state)
	if relErr, ok := cache.errorByKey[key]; ok {
		return relErr, nil
	}
	relErr, err := relativeErrorInState(expr, value, state)
	if err == nil && len(cache.errorByKey) < maxCached {
		cache.errorByKey[key] = relErr
	}
	return relErr, err
}

// moveError describes the weights of a move. relErr bounds their relative error, or is NaN if no
// bound holds in every state; sumsToOne says that their exact sum is 1.
type moveError struct {
	relErr    float64
	sumsToOne bool
}

// newWeightErrors analyses the rounding errors of the probabilities of all commands, and finds bounds that hold in all states, where such bounds exist.
func newWeightErrors(model *compile.Model) (*weightErrors, error) {
	result := &weightErrors{program: model.Program()}
	analysis := sema.NewFloatAnalysis(result.program)
	for _, module := range result.program.Modules {
		var updates [][]updateProbability
		var sumIsOne []bool
		for i := range module.Commands {
			probabilities, err := analyseUpdates(model, analysis, module.Commands[i].Updates)
			if err != nil {
				return nil, err
			}
			updates = append(updates, probabilities)
			sumIsOne = append(sumIsOne, areConstantsWithSumOne(module.Commands[i].Updates))
		}
		result.probabilities, result.sumIsOne = append(result.probabilities, updates), append(result.sumIsOne, sumIsOne)
	}
	return result, nil
}

// analyseUpdates bounds the rounding errors of the probabilities of a command's updates. If no bound holds in all states, it prepares the probability to be
// evaluated in each state.
func analyseUpdates(model *compile.Model, analysis sema.FloatAnalysis, updates []sema.Update) ([]updateProbability, error) {
	probabilities := make([]updateProbability, len(updates))
	for i, update := range updates {
		probabilities[i].NumberFacts = analysis.Facts(update.Prob)
		if !math.IsNaN(probabilities[i].RelErr) {
			continue
		}
		var err error
		if probabilities[i].evaluator, err = model.Evaluator(update.Prob); err != nil {
			return nil, err
		}
		probabilities[i].valueCache = newValueCache(model.Program(), update.Prob)
	}
	return probabilities, nil
}

// areConstantsWithSumOne reports whether the probabilities of all updates are constant fractions whose sum is 1.
func areConstantsWithSumOne(updates []sema.Update) bool {
	sum := new(big.Rat)
	for _, update := range updates {
		constant, ok := update.Prob.(*sema.Const)
		switch {
		case update.Prob == nil:
			sum.Add(sum, big.NewRat(1, 1))
		case ok && constant.Val.Rat != nil:
			sum.Add(sum, constant.Val.Rat)
		default:
			return false
		}
	}
	return sum.Cmp(big.NewRat(1, 1)) == 0
}

// needsFractionsError is the error for a state whose weights must be computed as fractions.
type needsFractionsError struct{ error }

// boundOfState returns a bound on the relative error of every weight of a state, after the weights are multiplied, added and normalised. It calls state only
// if a bound depends on the state. If no small bound is known, the error is a needsFractionsError.
func (analysis *weightErrors) boundOfState(state func() []int32, moves []compile.Move, choices compile.PackedChoices) (float64, error) {
	for i := len(analysis.moveErrors); i < len(moves); i++ {
		analysis.moveErrors = append(analysis.moveErrors, analysis.boundInAllStates(moves[i]))
	}
	maxErr := 0.0
	numWeights := 0 // the number of weights of the moves that the loop has visited
	for i, move := range choices.Moves {
		relErr := analysis.moveErrors[move].relErr
		if math.IsNaN(relErr) {
			var err error
			if relErr, err = analysis.boundInState(state(), moves[move]); err != nil {
				return 0, err
			}
		}
		numTransitions := int(choices.Transitions[i])
		sumError := float64(numTransitions) * sema.UnitRoundoff
		if analysis.program.Type != syntax.CTMC && !analysis.moveErrors[move].sumsToOne {
			// In exact arithmetic the weights are divided by their sum. Here they are not, so the difference of the sum from 1 counts as an error.
			sum := sumOf(choices.Weights[numWeights : numWeights+numTransitions])
			relErr += math.Abs(sum-1) + relErr + sumError
		}
		maxErr = max(maxErr, relErr+sumError)
		numWeights += numTransitions
	}
	return higherOrderFactor * (maxErr + float64(numWeights+1)*sema.UnitRoundoff), nil
}

// sumOf returns the sum of some numbers, added from the first to the last.
func sumOf(numbers []float64) float64 {
	sum := 0.0
	for _, number := range numbers {
		sum += number
	}
	return sum
}

// boundInAllStates returns a bound on the relative error of a move's weights that holds in every state. The bound is NaN if there is none, or if a weight
// may be outside the range of float64.
func (analysis *weightErrors) boundInAllStates(move compile.Move) moveError {
	result := moveError{sumsToOne: true}
	minProduct, maxProduct := 1.0, 1.0 // bounds on the weights, which are products of probabilities
	for _, commandRef := range move.Commands {
		worstFacts := sema.NumberFacts{MinAbs: 1} // becomes what holds for the probabilities of all updates of the command
		for _, update := range analysis.probabilities[commandRef.Module][commandRef.Command] {
			worstFacts = worstFacts.Either(update.NumberFacts)
		}
		result.relErr += worstFacts.RelErr + sema.UnitRoundoff
		result.sumsToOne = result.sumsToOne && analysis.sumIsOne[commandRef.Module][commandRef.Command]
		minProduct, maxProduct = minProduct*min(worstFacts.MinAbs, 1), maxProduct*max(worstFacts.Hi, 1)
	}
	isInRange := minProduct >= sparse.MinNumber && maxProduct <= sparse.MaxNumber // false for NaN
	if !isInRange {
		result.relErr = math.NaN()
	}
	return result
}

// boundInState returns a bound on the relative error of a move's weights in one state. If it finds no small bound, the error is
// a needsFractionsError.
func (analysis *weightErrors) boundInState(state []int32, move compile.Move) (float64, error) {
	relErr := 0.0
	minProduct, maxProduct := 1.0, 1.0 // bounds on the weights, which are products of probabilities
	for _, commandRef := range move.Commands {
		worstFacts := sema.NumberFacts{MinAbs: 1} // becomes what holds for the probabilities of all updates of the command
		for i := range analysis.probabilities[commandRef.Module][commandRef.Command] {
			facts, err := analysis.factsInState(state, commandRef, i)
			if err != nil {
				return 0, err
			}
			worstFacts = worstFacts.Either(facts)
		}
		relErr += worstFacts.RelErr + sema.UnitRoundoff
		minProduct, maxProduct = minProduct*worstFacts.MinAbs, maxProduct*max(worstFacts.Hi, 1)
	}
	isInRange := minProduct >= sparse.MinNumber && maxProduct <= sparse.MaxNumber // false for NaN
	if !isInRange {
		return 0, needsFractionsError{errors.New("a probability or rate is outside the range of float64")}
	}
	return relErr, nil
}

// factsInState returns the value of an update's probability in one state, with a bound on its relative error.
func (analysis *weightErrors) factsInState(state []int32, commandRef compile.CommandRef, index int) (sema.NumberFacts, error) {
	update := &analysis.probabilities[commandRef.Module][commandRef.Command][index]
	if !math.IsNaN(update.RelErr) {
		return update.NumberFacts, nil
	}
	value, err := update.evaluator.Num(state)
	if err != nil {
		return sema.NumberFacts{}, err
	}
	relErr := update.AbsErr / math.Abs(value)
	isNegligible := relErr <= negligibleError // false for NaN
	if !isNegligible {
		probability := analysis.program.Modules[commandRef.Module].Commands[commandRef.Command].Updates[index].Prob
		if relErr, err = update.errorInState(probability, value, state); err != nil {
			return sema.NumberFacts{}, err
		}
	}
	return sema.SingleValue(value, higherOrderFactor*relErr), nil
}

// relativeErrorInState bounds the relative error of value, which is the float64 value of expr in a state. If the bound exceeds
// sema.MaxRelErr, the error is a needsFractionsError.
func relativeErrorInState(expr sema.Expr, value float64, state []int32) (float64, error) {
	exact, err := sema.Enclose(expr, state)
	if err != nil {
		return 0, needsFractionsError{err}
	}
	relErr := exact.RelativeError(value)
	if isSmall := relErr <= sema.MaxRelErr; !isSmall { // also for NaN
		return 0, needsFractionsError{errors.New("a number is not close to the exact value")}
	}
	return relErr, nil
}
