package explicit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// exactExpander computes the choices of one state at a time, with rational weights.
type exactExpander struct {
	model         *compile.Model
	modelExpander compile.Expander
	// normalises says that probabilities whose float64 sum is 1 within compile.SumTolerance are divided by their exact sum. In exact models,
	// the exact sum must be 1.
	normalises bool
	// isNormalised says that the weights of some command were divided by their sum, which was not 1.
	isNormalised bool
	// allowEnclosures says that a fraction within the relative distance maxEnclosure may replace an
	// irrational weight. usedEnclosure says that it replaced a weight.
	allowEnclosures, usedEnclosure bool
	// weightCaches caches the weights of each command.
	weightCaches map[*sema.Command]*fractionCache
	// constantIntervals caches the intervals of commands whose intervals do not depend on the state.
	constantIntervals map[*sema.Command][]interval
	// owners has the owners of the choices of a game, and owner is the player of the last state.
	owners *ownership
	owner  uint16
}

func newExactExpander(ctx context.Context, compiled *compile.Model, normalises bool) *exactExpander {
	return &exactExpander{
		model: compiled, modelExpander: compiled.NewExpanderUntil(ctx), normalises: normalises,
		weightCaches: make(map[*sema.Command]*fractionCache), constantIntervals: make(map[*sema.Command][]interval),
	}
}

// exactChoice is a choice with rational weights. In a Markov chain it holds the transitions of one
// action. Targets are distinct.
type exactChoice struct {
	action       int
	weights      []*big.Rat // shared, never changed
	upperWeights []*big.Rat // upper bounds in an interval model, where weights are the lower bounds; nil otherwise
	targets      [][]int32
	targetIndex  map[string]int // index of each target, if there are many
	keyBuffer    []byte         // scratch space for keys of targetIndex
}

// exactChoices returns the choices of a state with exact weights, and the number of enabled choices. In a Markov chain it merges choices with the same
// action into one. In a DTMC it also divides all weights by their sum, so that all enabled commands are equally likely.
func (expander *exactExpander) exactChoices(ctx context.Context, state []int32) (choices []exactChoice, numEnabled int, err error) {
	enabled, err := expander.modelExpander.Enabled(state)
	if err != nil {
		return nil, 0, err
	}
	if expander.owners != nil {
		if expander.owner, err = expander.owners.enabledOwner(state, enabled); err != nil {
			return nil, 0, err
		}
	}
	newChoice := expander.newChoice
	if hasIntervals(expander.model) {
		newChoice = expander.newIntervalChoice
	}
	for i := range enabled.List {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		choice, err := newChoice(ctx, state, &enabled.List[i])
		if err != nil {
			return nil, 0, err
		}
		choices = append(choices, choice)
	}
	switch expander.model.Program().Type {
	case syntax.IDTMC:
		return choices, len(enabled.List), expander.requireOneCommand(state, enabled.List)
	case syntax.DTMC:
		normalise(choices)
		return mergeEqualActions(choices), len(enabled.List), nil
	case syntax.CTMC:
		return mergeEqualActions(choices), len(enabled.List), nil
	}
	return choices, len(enabled.List), nil
}

// normalise divides all weights of a DTMC state by their sum, if the state has several choices. Then all enabled commands are equally likely.
//
// Source: PRISM resolves several enabled commands of a DTMC uniformly.
func normalise(choices []exactChoice) {
	if len(choices) <= 1 {
		return
	}
	sum := new(big.Rat)
	for _, choice := range choices {
		for _, weight := range choice.weights {
			sum.Add(sum, weight)
		}
	}
	for _, choice := range choices {
		for i, weight := range choice.weights {
			choice.weights[i] = new(big.Rat).Quo(weight, sum)
		}
	}
}

// mergeEqualActions merges choices with the same action into one choice. The result has the actions in the order of their first occurrence.
func mergeEqualActions(choices []exactChoice) []exactChoice {
	if len(choices) <= 1 {
		return choices
	}
	var merged []exactChoice
	for _, choice := range choices {
		index := slices.IndexFunc(merged, func(other exactChoice) bool { return other.action == choice.action })
		if index < 0 { // a new action
			merged = append(merged, choice)
			continue
		}
		for target, weight := range choice.weights {
			merged[index].addTransition(choice.targets[target], weight)
		}
	}
	return merged
}

// addTransition adds a transition. If the choice has a transition to the same target, it adds the weights.
func (choice *exactChoice) addTransition(target []int32, weight *big.Rat) {
	if i := choice.findTarget(target); i >= 0 {
		choice.weights[i] = new(big.Rat).Add(choice.weights[i], weight)
		return
	}
	choice.targets, choice.weights = append(choice.targets, target), append(choice.weights, weight)
}

// findTarget returns the index of a target in the choice, or -1 if the choice does not have the target. After -1 the caller must append the target to
// choice.targets, because findTarget has already entered its future index into the map.
func (choice *exactChoice) findTarget(target []int32) int {
	if len(choice.targets) < smallChoiceSize {
		return slices.IndexFunc(choice.targets, func(known []int32) bool { return slices.Equal(known, target) })
	}
	if choice.targetIndex == nil {
		choice.targetIndex = make(map[string]int)
		for i, known := range choice.targets {
			choice.targetIndex[string(choice.targetKey(known))] = i
		}
	}
	if i, isKnown := choice.targetIndex[string(choice.targetKey(target))]; isKnown {
		return i
	}
	choice.targetIndex[string(choice.keyBuffer)] = len(choice.targets)
	return -1
}

// targetKey encodes a target as a key of targetIndex. The next call overwrites the result.
func (choice *exactChoice) targetKey(target []int32) []byte {
	choice.keyBuffer = choice.keyBuffer[:0]
	for _, value := range target {
		choice.keyBuffer = binary.LittleEndian.AppendUint32(choice.keyBuffer, uint32(value))
	}
	return choice.keyBuffer
}

// smallChoiceSize is the number of targets for which memory is allocated in advance. In a choice
// with more targets, a map finds a target; in a smaller one, a linear search does.
const smallChoiceSize = 64

// newChoice returns the transitions of an enabled choice with their exact weights. There is a transition for each combination of one update of each command,
// whose weight is the product of the weights of the updates. The update of the first command varies fastest.
func (expander *exactExpander) newChoice(ctx context.Context, state []int32, enabled *compile.Choice) (exactChoice, error) {
	choice := exactChoice{action: enabled.Action}
	weights, err := expander.choiceWeights(state, enabled)
	if err != nil {
		return choice, err
	}
	capacity := initialCapacity(weights)
	choice.targets, choice.weights = make([][]int32, 0, capacity), make([]*big.Rat, 0, capacity)
	memory := targetMemory{freeMemory: make([]int32, capacity*len(state))}
	updates := make([]int, len(weights))       // the selected update of each command
	products := make([]*big.Rat, len(weights)) // products[i] is the product of the selected weights of commands i, i+1, ...
	for changed := len(updates) - 1; changed >= 0; changed = nextCombination(updates, weights) {
		multiplyWeights(products, weights, updates, changed)
		weight := products[0]
		if weight.Sign() <= 0 {
			continue
		}
		target := memory.clone(state)
		if err := expander.modelExpander.Apply(target, enabled.Commands, updates); err != nil {
			return choice, err
		}
		choice.addTransition(target, weight)
		if len(choice.targets)%cancelCheckInterval == 0 && ctx.Err() != nil {
			return choice, ctx.Err()
		}
	}
	return choice, nil
}

// initialCapacity returns the number of combinations of one weight per list, at most smallChoiceSize.
func initialCapacity(lists [][]*big.Rat) int {
	capacity := 1
	for _, list := range lists {
		capacity = min(capacity*len(list), smallChoiceSize)
	}
	return capacity
}

// choiceWeights returns the weights of the updates of each command of an enabled choice.
func (expander *exactExpander) choiceWeights(state []int32, enabled *compile.Choice) ([][]*big.Rat, error) {
	var weights [][]*big.Rat
	for _, commandRef := range enabled.Commands {
		commandWeights, err := expander.commandWeights(state, &expander.model.Program().Modules[commandRef.Module].Commands[commandRef.Command])
		if err != nil {
			return nil, err
		}
		weights = append(weights, commandWeights)
	}
	return weights, nil
}

// multiplyWeights sets products[i] to the product of the selected weights of commands i, i+1, and so on, for all i
// up to last. updates[i] is the selected update of command i.
func multiplyWeights(products []*big.Rat, weights [][]*big.Rat, updates []int, last int) {
	for i := last; i >= 0; i-- {
		products[i] = weights[i][updates[i]]
		if i+1 < len(updates) {
			products[i] = new(big.Rat).Mul(products[i], products[i+1])
		}
	}
}

// targetMemory allocates memory for several targets at once.
type targetMemory struct{ freeMemory []int32 }

// clone returns a copy of a state. Several copies share one allocation.
func (memory *targetMemory) clone(state []int32) []int32 {
	size := len(state)
	if len(memory.freeMemory) < size {
		memory.freeMemory = make([]int32, smallChoiceSize*size)
	}
	target := memory.freeMemory[:size:size]
	copy(target, state)
	memory.freeMemory = memory.freeMemory[size:]
	return target
}

// cancelCheckInterval is the number of transitions of a choice after which the context is checked again.
const cancelCheckInterval = 256

// combinations yields each combination of one index per list. The first index varies fastest. The lists must not
// be empty. The yielded slice is overwritten by the next combination.
func combinations[T any](lists [][]T) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		indices := make([]int, len(lists))
		for yield(indices) && nextCombination(indices, lists) >= 0 {
		}
	}
}

// nextCombination advances to the next combination of one index per list. The first index varies fastest. It returns the last position of
// indices that has changed, or -1 after the last combination.
func nextCombination[T any](indices []int, lists [][]T) int {
	for i, list := range lists {
		indices[i]++
		if indices[i] < len(list) {
			return i
		}
		indices[i] = 0
	}
	return -1
}

// commandWeights returns the exact weights of a command's updates in a state. It caches them.
func (expander *exactExpander) commandWeights(state []int32, command *sema.Command) ([]*big.Rat, error) {
	cache := expander.weightCaches[command]
	if cache == nil {
		var err error
		if cache, err = expander.newWeightCache(command); err != nil {
			return nil, err
		}
		expander.weightCaches[command] = cache
	}
	return cache.get(state, func() ([]*big.Rat, error) { return expander.evaluateWeights(state, command) })
}

// newWeightCache returns an empty cache for numbers that depend on the weights of some commands.
func (expander *exactExpander) newWeightCache(commands ...*sema.Command) (*fractionCache, error) {
	var weights []sema.Expr
	for _, command := range commands {
		for i := range command.Updates {
			if weight := command.Updates[i].Prob; weight != nil {
				weights = append(weights, weight)
			}
		}
	}
	return newFractionCache(expander.model, weights)
}

// isConst reports whether expr is a constant.
func isConst(expr sema.Expr) bool {
	_, ok := expr.(*sema.Const)
	return ok
}

// evaluateWeights evaluates the probabilities or rates of a command's updates. If probabilities do not sum to exactly 1, it divides them by their sum if the
// caller allows this and the sum is close to 1; otherwise it returns an error.
func (expander *exactExpander) evaluateWeights(state []int32, command *sema.Command) ([]*big.Rat, error) {
	isCTMC := expander.model.Program().Type == syntax.CTMC
	quantity := "probability"
	if isCTMC {
		quantity = "rate"
	}
	sum := new(big.Rat)
	var weights []*big.Rat
	encloser := sema.NewEncloser(state)
	for i := range command.Updates {
		weight, err := expander.evaluateWeight(state, encloser, quantity, command.Updates[i].Prob)
		if err != nil {
			return nil, err
		}
		weights = append(weights, weight)
		sum.Add(sum, weight)
	}
	if sum.Sign() == 0 {
		return nil, expander.modelError(state, command.Pos, quantity+" of every update is zero")
	}
	if isCTMC || sum.Cmp(big.NewRat(1, 1)) == 0 {
		return weights, nil
	}
	if !expander.normalises {
		return nil, expander.modelError(state, command.Pos, fmt.Sprintf("probabilities sum to %s, exactly, not to 1", sum.RatString()))
	}
	if float := floatSum(weights); !compile.SumsToOne(float) {
		return nil, expander.modelError(state, command.Pos, fmt.Sprintf("probabilities sum to %v, not to 1", float))
	}
	expander.isNormalised = true
	for i, weight := range weights {
		weights[i] = new(big.Rat).Quo(weight, sum)
	}
	return weights, nil
}

// floatSum adds the weights of a command in float64 arithmetic, in the order of its updates. Models with float64 weights are checked by the same sum, so
// both kinds of models accept the same commands.
func floatSum(weights []*big.Rat) float64 {
	sum := 0.0
	for _, weight := range weights {
		float, _ := weight.Float64()
		sum += float
	}
	return sum
}

// evaluateWeight evaluates a probability or a rate in a state as a fraction. quantity is "probability" or "rate", for error messages. A nil expression
// stands for 1. encloser evaluates expressions in this state. For an irrational weight with narrow bounds it returns the lower bound, if enclosures are allowed.
func (expander *exactExpander) evaluateWeight(state []int32, encloser sema.Encloser, quantity string, expr sema.Expr) (*big.Rat, error) {
	if expr == nil {
		return big.NewRat(1, 1), nil
	}
	enclosed, err := encloser.Enclose(expr)
	switch {
	case err != nil:
		return nil, evaluationError(expander.model, state, err)
	case enclosed.IsExact && enclosed.Rat.Sign() < 0:
		return nil, expander.modelError(state, expr.Pos(), fmt.Sprintf("%s %s is negative", quantity, enclosed.Rat.RatString()))
	case enclosed.IsExact:
		return enclosed.Rat, nil
	case enclosed.Hi < 0:
		return nil, expander.modelError(state, expr.Pos(), fmt.Sprintf("%s %v is negative", quantity, enclosed.Value))
	}
	lower, upper, ok := enclosed.Bounds()
	switch {
	case !expander.allowEnclosures || !ok:
		return nil, unsupportedError(expander.model, state, expr.Pos(), fmt.Sprintf("%s %v is not a fraction", quantity, enclosed.Value))
	case !(enclosureWidth(lower, upper) <= maxEnclosure):
		return nil, unsupportedError(expander.model, state, expr.Pos(), fmt.Sprintf("%s between %v and %v is not a fraction, and its bounds are too wide", quantity, enclosed.Lo, enclosed.Hi))
	}
	expander.usedEnclosure = true
	return lower, nil
}

// maxEnclosure is the largest relative width of an enclosure of an irrational weight. It is so
// small that it changes sums and products of weights by less than one unit roundoff.
const maxEnclosure = 0x1p-100

// enclosureWidth returns the width of an interval divided by its lower bound. It returns infinity if the lower
// bound is not positive.
func enclosureWidth(lower, upper *big.Rat) float64 {
	if lower.Sign() <= 0 {
		return math.Inf(1)
	}
	width := new(big.Rat).Sub(upper, lower)
	relative, _ := width.Quo(width, lower).Float64()
	return relative
}

// modelError returns an error about the model in a state.
func (expander *exactExpander) modelError(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: expander.model.Program().File, Pos: pos, State: expander.model.StateText(state), Msg: msg}
}

// evaluationError makes an error of an evaluation a *compile.StateError, which has the file and the state. It returns other errors unchanged.
func evaluationError(compiled *compile.Model, state []int32, err error) error {
	if evalError, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{
			File: compiled.Program().File, Pos: evalError.Pos, State: compiled.StateText(state),
			Msg: evalError.Msg, Undecided: evalError.Undecided,
		}
	}
	return err
}

// unsupportedError returns the error for a number without an exact representation as a fraction.
func unsupportedError(compiled *compile.Model, state []int32, pos syntax.Pos, msg string) error {
	return &compile.UnsupportedError{File: compiled.Program().File, Pos: pos, Msg: msg + " in state " + compiled.StateText(state)}
}
