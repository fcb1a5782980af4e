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

// unitRoundoff is the largest relative error of one rounding.
const unitRoundoff = 0x1p-53

// maxError is the largest relative error that a float64 weight or reward may have. A number with a
// larger error is computed with fractions.
const maxError = 0x1p-40

// negligibleError is the size of an error bound that is small enough: a tighter bound is not
// computed. It is a few roundings.
const negligibleError = 0x1p-48

// numberFacts holds what is known about the value of an expression in all states. The value lies
// between lo and hi, and is either zero or at least minAbs in absolute value. The relative error of
// its float64 value is at most relErr, or unknown if relErr is NaN. If it is known, the float64
// value has the right sign, or is zero if the exact value is.
type numberFacts struct{ relErr, lo, hi, minAbs float64 }

// unknownFacts says that nothing is known about an expression.
func unknownFacts() numberFacts { return numberFacts{relErr: math.NaN()} }

// magnitude returns the largest possible absolute value.
func (facts numberFacts) magnitude() float64 { return max(math.Abs(facts.lo), math.Abs(facts.hi)) }

// orUnknown returns a, or unknown facts if the error is too large or the value may be outside the
// range of float64.
func (facts numberFacts) orUnknown() numberFacts {
	if !(facts.relErr <= maxError && facts.magnitude() <= sparse.MaxNumber && facts.minAbs >= sparse.MinNumber) {
		return unknownFacts()
	}
	return facts
}

// expressionAnalysis computes numberFacts of expressions, and caches them.
type expressionAnalysis struct {
	floats sema.FloatAnalysis
	cache  sema.Memo[numberFacts]
}

// facts returns the facts of an expression. nil stands for the constant 1.
func (n *expressionAnalysis) facts(expr sema.Expr) numberFacts {
	if expr == nil {
		return numberFacts{0, 1, 1, 1}
	}
	if expr.Type() == sema.Int {
		lower, upper := n.floats.Range(expr)
		return numberFacts{0, lower, upper, 1}
	}
	if known, ok := n.cache.Get(expr); ok {
		return known
	}
	return n.cache.Put(expr, n.numberFacts(expr))
}

// numberFacts computes the facts of an expression of type Double from those of its operands.
func (n *expressionAnalysis) numberFacts(expr sema.Expr) numberFacts {
	switch expr := expr.(type) {
	case *sema.Const:
		return constantFacts(expr)
	case *sema.Unary:
		operand := n.facts(expr.X)
		operand.lo, operand.hi = -operand.hi, -operand.lo
		return operand
	case *sema.Binary:
		return n.binaryFacts(expr).orUnknown()
	case *sema.Cond:
		return n.facts(expr.A).either(n.facts(expr.B))
	case *sema.Call:
		if expr.Func != sema.FuncMin && expr.Func != sema.FuncMax {
			return unknownFacts()
		}
		operand := n.facts(expr.Args[0])
		for _, argument := range expr.Args[1:] {
			operand = operand.either(n.facts(argument))
		}
		return operand
	}
	return unknownFacts()
}

// constantFacts returns the facts of a constant: its float64 value, and how far the exact value is
// away from it.
func constantFacts(constant *sema.Const) numberFacts {
	enclosed, err := sema.Enclose(constant, nil)
	if err != nil {
		return unknownFacts()
	}
	return singleValue(constant.Val.Float, enclosureError(constant.Val.Float, enclosed)).orUnknown()
}

// singleValue returns the facts of one float64 with the given relative error.
func singleValue(value, relErr float64) numberFacts {
	if value == 0 {
		return numberFacts{relErr, 0, 0, math.Inf(1)}
	}
	return numberFacts{relErr, value, value, math.Abs(value)}
}

// either returns facts that hold for both numbers. They also hold for the minimum and the maximum,
// because float64 arithmetic picks the wrong number only if the two are within their errors.
func (facts numberFacts) either(other numberFacts) numberFacts {
	return numberFacts{max(facts.relErr, other.relErr), min(facts.lo, other.lo), max(facts.hi, other.hi), min(facts.minAbs, other.minAbs)}
}

// binaryFacts returns the facts of the result of an arithmetic operator. A division is analysed as
// a product with the inverse of the divisor.
func (n *expressionAnalysis) binaryFacts(binary *sema.Binary) numberFacts {
	left, right := n.facts(binary.X), n.facts(binary.Y)
	switch binary.Op {
	case syntax.OpMul:
		return left.product(right, left.minAbs*right.minAbs)
	case syntax.OpDiv:
		// Division by zero is an error in float64 and in exact arithmetic.
		magnitude := 1 / right.minAbs
		inverse := numberFacts{right.relErr, -magnitude, magnitude, 1 / right.magnitude()}
		if right.lo >= 0 {
			inverse.lo = 0
		}
		if right.hi <= 0 {
			inverse.hi = 0
		}
		return left.product(inverse, left.minAbs/right.magnitude())
	case syntax.OpAdd:
		return left.sum(right)
	case syntax.OpSub:
		return left.sum(numberFacts{right.relErr, -right.hi, -right.lo, right.minAbs})
	}
	return unknownFacts()
}

// product returns the facts of a product whose absolute value is at least minAbs. The relative
// errors of the factors add up.
func (facts numberFacts) product(other numberFacts, minAbs float64) numberFacts {
	result := numberFacts{relErr: 1.01 * (facts.relErr + other.relErr + unitRoundoff), minAbs: minAbs}
	result.lo = min(facts.lo*other.lo, facts.lo*other.hi, facts.hi*other.lo, facts.hi*other.hi)
	result.hi = max(facts.lo*other.lo, facts.lo*other.hi, facts.hi*other.lo, facts.hi*other.hi)
	return result
}

// sum returns the facts of a sum. If the operands may have different signs, the relative error has
// a bound only if the sum cannot be close to zero.
func (facts numberFacts) sum(other numberFacts) numberFacts {
	result := numberFacts{lo: facts.lo + other.lo, hi: facts.hi + other.hi}
	if facts.lo >= 0 && other.lo >= 0 || facts.hi <= 0 && other.hi <= 0 {
		result.relErr, result.minAbs = 1.01*(max(facts.relErr, other.relErr)+unitRoundoff), min(facts.minAbs, other.minAbs)
		return result
	}
	total := facts.magnitude() + other.magnitude()
	least := max(result.lo, -result.hi) - 1e-9*total // the subtrahend covers the rounding errors of lo and hi
	if !(least > 0) {
		return unknownFacts()
	}
	absErr := facts.relErr*facts.magnitude() + other.relErr*other.magnitude()
	result.relErr, result.minAbs = 1.01*(absErr/least+unitRoundoff), least
	return result
}

// relativeError returns an upper bound on the relative difference between float and the exact value.
// It is infinite if only one of them is zero, or if float is not finite.
func relativeError(float float64, exact *big.Rat) float64 {
	if math.IsInf(float, 0) || math.IsNaN(float) {
		return math.Inf(1)
	}
	difference := new(big.Rat).SetFloat64(float)
	difference.Sub(difference, exact)
	if difference.Sign() == 0 {
		return 0
	}
	if exact.Sign() == 0 || float == 0 {
		return math.Inf(1)
	}
	quotient, _ := difference.Quo(difference.Abs(difference), new(big.Rat).Abs(exact)).Float64()
	return 1.01 * quotient
}

// enclosureError returns an upper bound on the relative difference between float and every number in an
// enclosure. It is infinite if the enclosure may contain both signs.
func enclosureError(float float64, enclosed sema.Enclosed) float64 {
	lower, upper, ok := enclosed.Ends()
	if !ok || lower.Sign() != upper.Sign() {
		return math.Inf(1)
	}
	return max(relativeError(float, lower), relativeError(float, upper))
}

// weightErrors bounds the differences between the float64 weights and the exact weights of the
// model. For example, the float64 value of 1-0.9 is not exactly a tenth. It is not safe for
// concurrent use.
type weightErrors struct {
	program *sema.Program
	// updates[m][c][u] describes the rounding error of the probability of update u of command c of
	// module m.
	updates [][][]updateProbability
	// sumIsOne[m][c] says that the probabilities of a command are constants with sum 1.
	sumIsOne [][]bool
	// moves[i] describes the products of the probabilities of move i, for the moves seen so far.
	moves []moveError
}

// updateProbability describes the rounding error of an update's probability. If no bound on its
// relative error holds in every state, evaluator computes the probability, absErr bounds its
// absolute error, and valueCache holds relative errors that were computed earlier.
type updateProbability struct {
	numberFacts
	evaluator  compile.Evaluator
	absErr     float64
	valueCache *valueCache
}

// valueCache caches a number for each valuation of some variables. A probability usually depends on
// few variables, so many states share an entry.
type valueCache struct {
	slots   []int // slots
	lows    []int32
	sizes   []uint64
	numbers map[uint64]float64
}

// maxCached is the largest number of entries of a valueCache.
const maxCached = 1 << 16

// newValueCache returns a cache for the valuations of the variables in expr; nil if their number does
// not fit in 64 bits.
func newValueCache(program *sema.Program, expr sema.Expr) *valueCache {
	cache := &valueCache{numbers: make(map[uint64]float64)}
	count := uint64(1)
	sema.Inspect(expr, func(expr sema.Expr) bool {
		if variable, ok := expr.(*sema.Var); ok && !slices.Contains(cache.slots, variable.Slot) {
			low, high := program.Vars[variable.Slot].Low, program.Vars[variable.Slot].High
			if !program.Vars[variable.Slot].Bounded {
				low, high = math.MinInt32, math.MaxInt32
			}
			size := uint64(int64(high) - int64(low) + 1)
			overflow, next := bits.Mul64(count, size)
			count = next
			if overflow != 0 {
				count = 0
			}
			cache.slots, cache.lows, cache.sizes = append(cache.slots, variable.Slot), append(cache.lows, low), append(cache.sizes, size)
		}
		return true
	})
	if count == 0 {
		return nil
	}
	return cache
}

// key numbers the current values of the variables.
func (cache *valueCache) key(state []int32) uint64 {
	key := uint64(0)
	for i, slot := range cache.slots {
		key = key*cache.sizes[i] + uint64(int64(state[slot])-int64(cache.lows[i]))
	}
	return key
}

// errorInState returns relativeErrorInState(expr, float, state), from the cache if possible.
func (update *updateProbability) errorInState(expr sema.Expr, float float64, state []int32) (float64, error) {
	if update.valueCache == nil {
		return relativeErrorInState(expr, float, state)
	}
	key := update.valueCache.key(state)
	if relErr, ok := update.valueCache.numbers[key]; ok {
		return relErr, nil
	}
	relErr, err := relativeErrorInState(expr, float, state)
	if err == nil && len(update.valueCache.numbers) < maxCached {
		update.valueCache.numbers[key] = relErr
	}
	return relErr, err
}

// moveError describes the weights of a move. relErr bounds their relative error, or is NaN if no
// bound holds in every state; exactSum says that their exact sum is 1.
type moveError struct {
	relErr   float64
	exactSum bool
}

// newWeightErrors analyses the probabilities of all commands of the model.
func newWeightErrors(model *compile.Model) (*weightErrors, error) {
	result := &weightErrors{program: model.Program()}
	analysis := expressionAnalysis{floats: sema.NewFloatAnalysis(result.program)}
	for _, module := range result.program.Modules {
		var updates [][]updateProbability
		var sumIsOne []bool
		for _, command := range module.Commands {
			probabilities := make([]updateProbability, len(command.Updates))
			for i, update := range command.Updates {
				probabilities[i].numberFacts = analysis.facts(update.Prob)
				if !math.IsNaN(probabilities[i].relErr) {
					continue
				}
				var err error
				if probabilities[i].evaluator, err = model.Evaluator(update.Prob); err != nil {
					return nil, err
				}
				probabilities[i].absErr, probabilities[i].valueCache = analysis.floats.Error(update.Prob), newValueCache(result.program, update.Prob)
			}
			updates, sumIsOne = append(updates, probabilities), append(sumIsOne, sumsToOne(command.Updates))
		}
		result.updates, result.sumIsOne = append(result.updates, updates), append(result.sumIsOne, sumIsOne)
	}
	return result, nil
}

// sumsToOne reports whether all probabilities are rational constants and their sum is exactly 1.
func sumsToOne(updates []sema.Update) bool {
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

// needsFractions is the error for a state whose weights must be computed as fractions.
type needsFractions struct{ error }

// bound returns an upper bound on the relative error of every weight of a state. It includes the
// rounding errors of probabilities, of their products, of sums of weights with equal targets, and
// of the division by the sum of all weights. If probabilities do not sum to exactly 1, the exact
// weights are the quotients by their sum, and the difference counts as an error. bound calls state
// only if the result depends on the state. The error is needsFractions if no small bound is known.
func (w *weightErrors) bound(state func() []int32, moves []compile.Move, choices compile.PackedChoices) (float64, error) {
	for i := len(w.moves); i < len(moves); i++ {
		w.moves = append(w.moves, w.boundInAllStates(moves[i]))
	}
	maxErr, terms := 0.0, 0
	for i, move := range choices.Moves {
		relErr := w.moves[move].relErr
		if math.IsNaN(relErr) {
			var err error
			if relErr, err = w.boundInState(state(), moves[move]); err != nil {
				return 0, err
			}
		}
		numTransitions := int(choices.Transitions[i])
		terms += numTransitions
		sumError := float64(numTransitions) * unitRoundoff
		if w.program.Type != syntax.CTMC && !w.moves[move].exactSum {
			sum := 0.0
			for _, weight := range choices.Weights[terms-numTransitions : terms] {
				sum += weight
			}
			relErr += math.Abs(sum-1) + relErr + sumError
		}
		maxErr = max(maxErr, relErr+sumError)
	}
	return 1.01 * (maxErr + float64(terms+1)*unitRoundoff), nil
}

// boundInAllStates bounds the relative error of the weights of a move in every state. relErr is NaN
// if there is no such bound.
func (w *weightErrors) boundInAllStates(move compile.Move) moveError {
	result := moveError{exactSum: true}
	minProduct, maxProduct := 1.0, 1.0
	for _, ref := range move.Commands {
		worst := numberFacts{minAbs: 1}
		for _, update := range w.updates[ref.Module][ref.Command] {
			worst = worst.either(update.numberFacts) // max propagates NaN
		}
		result.relErr += worst.relErr + unitRoundoff
		result.exactSum = result.exactSum && w.sumIsOne[ref.Module][ref.Command]
		minProduct, maxProduct = minProduct*min(worst.minAbs, 1), maxProduct*max(worst.hi, 1)
	}
	if !(minProduct >= sparse.MinNumber && maxProduct <= sparse.MaxNumber) {
		result.relErr = math.NaN()
	}
	return result
}

// boundInState bounds the relative error of the weights of a move in one state.
func (w *weightErrors) boundInState(state []int32, move compile.Move) (float64, error) {
	relErr, minProduct, maxProduct := 0.0, 1.0, 1.0
	for _, ref := range move.Commands {
		worst := numberFacts{minAbs: 1}
		for i := range w.updates[ref.Module][ref.Command] {
			update := &w.updates[ref.Module][ref.Command][i]
			facts := update.numberFacts
			if math.IsNaN(facts.relErr) {
				value, err := update.evaluator.Num(state)
				if err != nil {
					return 0, err
				}
				updateErr := update.absErr / math.Abs(value)
				if !(updateErr <= negligibleError) {
					if updateErr, err = update.errorInState(w.program.Modules[ref.Module].Commands[ref.Command].Updates[i].Prob, value, state); err != nil {
						return 0, err
					}
				}
				facts = singleValue(value, 1.01*updateErr)
			}
			worst = worst.either(facts)
		}
		relErr += worst.relErr + unitRoundoff
		minProduct, maxProduct = minProduct*worst.minAbs, maxProduct*max(worst.hi, 1)
	}
	if !(minProduct >= sparse.MinNumber && maxProduct <= sparse.MaxNumber) {
		return 0, needsFractions{errors.New("a probability or rate is outside the range of float64")}
	}
	return relErr, nil
}

// relativeErrorInState bounds the relative error of f, the float64 value of an expression in a state. The error
// is needsFractions if the bound exceeds maxError.
func relativeErrorInState(expr sema.Expr, value float64, state []int32) (float64, error) {
	exact, err := sema.Enclose(expr, state)
	if err != nil {
		return 0, needsFractions{err}
	}
	relErr := enclosureError(value, exact)
	if !(relErr <= maxError) {
		return 0, needsFractions{errors.New("a number is not close to the exact value")}
	}
	return relErr, nil
}
