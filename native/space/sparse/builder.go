package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrTooLarge says that a model needs more than 2^31-1 states or 2^32-1 choices or transitions.
var ErrTooLarge = errors.New("model too large for 32-bit numbers")

// maxStates leaves the upper half of the 32-bit numbers to the algorithms, as marks.
const maxStates = math.MaxInt32

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// Builder assembles a Model state by state, by calls in this order:
//
//	State { [Choice] { Add | AddAction | AddRat | AddInterval } }
//
// Choice is called in an MDP only; in a Markov chain State opens the row. The first error is kept, and
// Finish returns it.
type Builder struct {
	model            Model               // without the fields that columns collect
	firstChoices     column[uint32]      // becomes Model.FirstChoice
	firstTransitions column[uint32]      // becomes Model.FirstTransition
	targets          column[uint32]      // becomes Model.Target
	weightIDs        column[uint32]      // becomes Model.WeightIndex
	highWeightIDs    column[uint32]      // becomes Model.HighIndex
	actions          column[Action]      // becomes Model.Actions
	idOfFloat        map[float64]uint32  // the index of each float64 in Model.Weights
	idOfRat          map[string]uint32   // the index of each fraction in Model.Fractions, by its text
	idOfPointer      map[*big.Rat]uint32 // part of idOfRat by pointer, which is faster; fractions are immutable
	weightCache      [64]cachedWeight    // a hash table with part of idOfFloat: few weights occur most often
	hasActions       bool
	isOutOfRange     bool // a weight is out of the range of float64
	numStates        int
	maxTarget        uint32
	err              error
}

// cachedWeight is an entry of Builder.weightCache. Weights are never zero, so the zero value is empty.
type cachedWeight struct {
	weight float64
	id     uint32
}

// maxPointers limits Builder.idOfPointer.
const maxPointers = 1 << 12

// NewBuilder returns a Builder for an empty model.
func NewBuilder(kind Kind) *Builder {
	return &Builder{model: Model{Kind: kind}, idOfFloat: map[float64]uint32{}, idOfRat: map[string]uint32{}, idOfPointer: map[*big.Rat]uint32{}}
}

// Grow reserves memory for the given numbers of additional states, choices and transitions.
func (builder *Builder) Grow(states, choices, transitions int) {
	builder.firstTransitions.reserve(choices + 1)
	builder.targets.reserve(transitions)
	builder.weightIDs.reserve(transitions)
	if builder.model.Kind != MDP {
		builder.actions.reserve(transitions)
		return
	}
	builder.actions.reserve(choices)
	builder.firstChoices.reserve(states + 1)
}

// Bytes returns the memory of the model so far in bytes, including reserved space.
func (builder *Builder) Bytes() int64 {
	const indexBytes, actionBytes = 4, 2
	const weightBytes = 40 // a weight, and its entry in the map from weights to indices
	numIndices := builder.firstChoices.cap() + builder.firstTransitions.cap() + builder.targets.cap() + builder.weightIDs.cap() + builder.highWeightIDs.cap()
	return int64(indexBytes*numIndices + weightBytes*cap(builder.model.Weights) + actionBytes*builder.actions.cap())
}

// State begins the next state. In a Markov chain it also begins the only row of the state. In an MDP, calls of Choice
// must follow.
func (builder *Builder) State() {
	if builder.numStates == maxStates {
		builder.recordError(ErrTooLarge)
		return
	}
	builder.numStates++
	if builder.model.Kind == MDP {
		builder.firstChoices.appendElement(uint32(builder.firstTransitions.len()))
		return
	}
	builder.beginRow()
}

// Choice begins the next choice of the current state of an MDP.
func (builder *Builder) Choice(action Action) {
	if builder.model.Kind != MDP || builder.numStates == 0 {
		builder.recordError(fmt.Errorf("choice outside a state of an MDP"))
		return
	}
	builder.beginRow()
	builder.addAction(action)
}

// beginRow begins the transitions of the next choice.
func (builder *Builder) beginRow() {
	if builder.firstTransitions.len() == math.MaxUint32 {
		builder.recordError(ErrTooLarge)
		return
	}
	builder.firstTransitions.appendElement(uint32(builder.targets.len()))
}

// addAction appends the action of a choice of an MDP, or of a transition of a Markov chain.
func (builder *Builder) addAction(action Action) {
	builder.actions.appendElement(action)
	builder.hasActions = builder.hasActions || action != NoAction
}

// Add appends a transition without action. It ignores a weight of zero. A negative or infinite weight is an error.
func (builder *Builder) Add(target int, weight float64) { builder.AddAction(target, weight, NoAction) }

// AddAction appends a transition with an action to the current state of a Markov chain. It ignores a weight of
// zero. A negative or infinite weight is an error.
func (builder *Builder) AddAction(target int, weight float64, action Action) {
	switch {
	case weight == 0:
		return
	case !(weight > 0 && weight <= math.MaxFloat64):
		builder.recordError(fmt.Errorf("state %d: found weight %v, wanted a finite number that is not negative", builder.numStates-1, weight))
		return
	}
	// A cache of 64 weights saves look-ups in a map. The upper six bits of the product select its entry (Fibonacci hashing).
	const multiplier = 0x9e3779b97f4a7c15
	cached := &builder.weightCache[math.Float64bits(weight)*multiplier>>58]
	if weight != cached.weight {
		*cached = cachedWeight{weight, builder.weightID(weight)}
	}
	builder.addTransition(target, cached.id, action)
}

// weightID returns the index of a float64 weight in the table of weights. It adds the weight if the table does not contain it.
func (builder *Builder) weightID(weight float64) uint32 {
	id, isKnown := builder.idOfFloat[weight]
	if !isKnown {
		id = uint32(len(builder.model.Weights))
		builder.model.Weights = append(builder.model.Weights, weight)
		builder.idOfFloat[weight] = id
	}
	return id
}

// NormalFloat returns the normal float64 nearest to a positive fraction. If the fraction is outside the range of
// normal float64 numbers, isInRange is false, and nearest is the end of the range.
func NormalFloat(value *big.Rat) (nearest float64, isInRange bool) {
	const minNormal = 0x1p-1022
	nearest, _ = value.Float64()
	if nearest >= minNormal && nearest <= math.MaxFloat64 {
		return nearest, true
	}
	return min(max(nearest, minNormal), math.MaxFloat64), false
}

// NonzeroFloat returns the normal float64 nearest to a nonnegative fraction. It returns 0 only for 0, and the end of the range for a fraction outside of
// it.
func NonzeroFloat(value *big.Rat) float64 {
	if value.Sign() == 0 {
		return 0
	}
	nearest, _ := NormalFloat(value)
	return nearest
}

// AddRat appends a transition with a fraction as weight. It ignores a weight of zero. A negative weight is an
// error. If one weight of a model is a fraction, all must be fractions.
func (builder *Builder) AddRat(target int, weight *big.Rat, action Action) {
	switch weight.Sign() {
	case 0:
		return
	case -1:
		builder.recordError(fmt.Errorf("state %d: found weight %v, wanted a fraction that is not negative", builder.numStates-1, weight.RatString()))
		return
	}
	builder.addTransition(target, builder.rationalID(weight), action)
}

// AddInterval appends a transition with an interval as weight. The lower end may be zero, but not the upper end.
// If one weight of a model is an interval, all must be intervals.
func (builder *Builder) AddInterval(target int, low, high *big.Rat, action Action) {
	if low.Sign() < 0 || high.Sign() <= 0 || low.Cmp(high) > 0 {
		builder.recordError(fmt.Errorf("state %d: found weight [%s,%s], wanted an interval of numbers that are not negative", builder.numStates-1, low.RatString(), high.RatString()))
		return
	}
	builder.addTransition(target, builder.rationalID(low), action)
	builder.highWeightIDs.appendElement(builder.rationalID(high))
}

// rationalID returns the index of a fraction in the table of weights, and adds the fraction if it is new.
func (builder *Builder) rationalID(weight *big.Rat) uint32 {
	if id, isKnown := builder.idOfPointer[weight]; isKnown {
		return id
	}
	key := weight.RatString()
	id, isKnown := builder.idOfRat[key]
	if !isKnown {
		id = builder.addRational(weight)
		builder.idOfRat[key] = id
	}
	if len(builder.idOfPointer) < maxPointers {
		builder.idOfPointer[weight] = id
	}
	return id
}

// addRational adds a fraction and the nearest float64 to the tables of weights, and returns their index. If the fraction is outside the range of float64, it
// sets builder.isOutOfRange.
func (builder *Builder) addRational(weight *big.Rat) uint32 {
	nearest, isInRange := 0.0, true
	if weight.Sign() != 0 {
		nearest, isInRange = NormalFloat(weight)
	}
	builder.isOutOfRange = builder.isOutOfRange || !isInRange
	builder.model.Weights = append(builder.model.Weights, nearest)
	builder.model.Fractions = append(builder.model.Fractions, weight)
	return uint32(len(builder.model.Fractions) - 1)
}

// addTransition appends a transition. weightID is the index of its weight in the table of weights.
func (builder *Builder) addTransition(target int, weightID uint32, action Action) {
	switch {
	case builder.firstTransitions.len() == 0:
		builder.recordError(errors.New("transition outside a choice"))
		return
	case target < 0 || target >= maxStates || builder.targets.len() == math.MaxUint32:
		builder.recordError(ErrTooLarge)
		return
	}
	builder.targets.appendElement(uint32(target))
	builder.weightIDs.appendElement(weightID)
	builder.maxTarget = max(builder.maxTarget, uint32(target))
	if builder.model.Kind != MDP {
		builder.addAction(action)
	}
}

// Rows are the choices and transitions of successive states, in flat slices: state i has Choices[i]
// choices (one in a Markov chain), choice j has Transitions[j] transitions. Actions has one entry per
// choice in an MDP, and per transition otherwise. Either Weights or Fractions has the weights. In an
// interval model Fractions has the lower ends and UpperFractions the upper ones.
type Rows struct {
	Choices        []uint32
	Transitions    []uint32
	Actions        []Action
	Targets        []uint32
	Weights        []float64
	Fractions      []*big.Rat
	UpperFractions []*big.Rat
}

// AddRows appends the first numStates states in rows to the model, with their choices and transitions. It returns rows without these states.
func (builder *Builder) AddRows(rows Rows, numStates int) Rows {
	choice, transition := 0, 0
	for _, numChoices := range rows.Choices[:numStates] {
		builder.State()
		for range numChoices {
			if builder.model.Kind == MDP {
				builder.Choice(rows.Actions[choice])
			}
			for range rows.Transitions[choice] {
				builder.addRowTransition(&rows, transition)
				transition++
			}
			choice++
		}
	}
	return rows.From(builder.model.Kind, numStates, choice, transition)
}

// addRowTransition appends the transition with the given index in rows to the current choice.
func (builder *Builder) addRowTransition(rows *Rows, transition int) {
	target, action := int(rows.Targets[transition]), NoAction
	if builder.model.Kind != MDP {
		action = rows.Actions[transition]
	}
	switch {
	case rows.UpperFractions != nil:
		builder.AddInterval(target, rows.Fractions[transition], rows.UpperFractions[transition], action)
	case rows.Fractions != nil:
		builder.AddRat(target, rows.Fractions[transition], action)
	default:
		builder.AddAction(target, rows.Weights[transition], action)
	}
}

// From returns the rows of a model of the given kind without the first states. These have the given numbers of choices and transitions.
func (rows Rows) From(kind Kind, numStates, numChoices, numTransitions int) Rows {
	rows.Choices = rows.Choices[numStates:]
	rows.Transitions = rows.Transitions[numChoices:]
	rows.Targets = rows.Targets[numTransitions:]
	if kind == MDP {
		rows.Actions = rows.Actions[numChoices:]
	} else {
		rows.Actions = rows.Actions[numTransitions:]
	}
	if rows.UpperFractions != nil {
		rows.UpperFractions = rows.UpperFractions[numTransitions:]
	}
	if rows.Fractions != nil {
		rows.Fractions = rows.Fractions[numTransitions:]
	} else {
		rows.Weights = rows.Weights[numTransitions:]
	}
	return rows
}

// recordError keeps the first error, which Finish returns.
func (builder *Builder) recordError(err error) {
	if builder.err == nil {
		builder.err = err
	}
}

// Finish returns the model, or the first error. It checks that every target is a state, that every state has a
// choice, and that every choice has a transition. It does not check sums of weights.
//
// Model.RelErr allows for one rounding of each weight. It is infinite if a weight is outside the range of float64.
// The Builder must not be used again.
func (builder *Builder) Finish() (*Model, error) {
	if builder.err != nil {
		return nil, builder.err
	}
	if builder.numStates == 0 {
		return nil, errors.New("model without states")
	}
	model := &builder.model
	builder.flattenColumns()
	if model.HighIndex != nil && len(model.HighIndex) != len(model.WeightIndex) {
		return nil, errors.New("some weights are intervals, and some are not")
	}
	if len(model.Fractions) > 0 && len(builder.idOfFloat) > 0 {
		return nil, errors.New("some weights are fractions, and some are float64 numbers")
	}
	model.RelErr = 0x1p-53 // the unit roundoff
	if builder.isOutOfRange {
		model.RelErr = math.Inf(1)
	}
	if err := builder.validateRows(); err != nil {
		return nil, err
	}
	return model, nil
}

// flattenColumns moves the contents of the columns to the slices of the model, and empties the columns.
func (builder *Builder) flattenColumns() {
	model := &builder.model
	if model.Kind == MDP {
		builder.firstChoices.appendElement(uint32(builder.firstTransitions.len()))
		model.FirstChoice = builder.firstChoices.flatten()
	}
	builder.firstTransitions.appendElement(uint32(builder.targets.len()))
	if builder.hasActions {
		model.Actions = builder.actions.flatten()
	}
	builder.actions = column[Action]{}
	model.FirstTransition = builder.firstTransitions.flatten()
	model.Target = builder.targets.flatten()
	model.WeightIndex = builder.weightIDs.flatten()
	if builder.highWeightIDs.len() > 0 {
		model.HighIndex = builder.highWeightIDs.flatten()
	}
}

// validateRows returns an error if a target is not a state, if a state has no choice, or if a choice has no transition.
func (builder *Builder) validateRows() error {
	model := &builder.model
	if len(model.Target) > 0 && int(builder.maxTarget) >= builder.numStates {
		return fmt.Errorf("transition to state %d of %d", builder.maxTarget, builder.numStates)
	}
	for state := range builder.numStates {
		first, end := model.Choices(state)
		if first == end {
			return fmt.Errorf("state %d has no choice", state)
		}
		for choice := first; choice < end; choice++ {
			if model.FirstTransition[choice] == model.FirstTransition[choice+1] {
				return fmt.Errorf("state %d has a choice without transitions", state)
			}
		}
	}
	return nil
}
