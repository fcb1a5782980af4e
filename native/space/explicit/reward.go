package explicit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Reward evaluates the reward structure Program.Rewards[index] in every state and for every choice. In a Markov chain, the reward of a
// choice is the sum of weight * reward over its transitions, where weights are probabilities or rates. The self-loop of a deadlock has no
// reward.
//
// A negative or infinite reward is a *compile.StateError. If a float64 reward is out of range, the field RangeErr of the result is a
// *RangeError.
//
// Source: reference, sections 4.8 and 4.10.
func (space *Space) Reward(index int) (*sparse.Reward, error) {
	switch {
	case space.quotient != nil:
		if reward := space.quotient.rewards[index]; reward != nil {
			return reward, nil
		}
		return nil, fmt.Errorf("the quotient has no rewards for structure %d", index)
	case space.imported != nil:
		return space.importedReward(index)
	case space.model.Exact():
		return space.exactReward(index)
	}
	return space.floatReward(index)
}

// floatReward evaluates a reward structure of a model with float64 weights. It bounds the relative error of the rewards.
func (space *Space) floatReward(index int) (*sparse.Reward, error) {
	structure := &space.Program().Rewards[index]
	reward := &sparse.Reward{Name: structure.Name}
	if hasStateRewards(structure) {
		reward.State = make([]float64, space.store.numStates)
	}
	if hasTransitionRewards(structure) {
		reward.Choice = make([]float64, space.model.NumChoices())
	}
	evaluators, err := space.evaluateRewards(index, func(evaluator *rewardEvaluator, i int, state []int32) error {
		return space.stateAndChoiceRewards(reward, evaluator, i, state)
	})
	if err != nil {
		return nil, err
	}
	maxErr := 0.0
	for _, evaluator := range evaluators { // they have the order of their states, so RangeErr is about the first state
		maxErr = max(maxErr, evaluator.relErr)
		reward.RangeErr = cmp.Or(reward.RangeErr, evaluator.rangeErr)
	}
	reward.RelErr = space.rewardError(structure, maxErr)
	if reward.RangeErr != nil {
		reward.RelErr = math.Inf(1)
	}
	return reward, nil
}

// evaluateRewards calls visit for every state, in several goroutines, each with its own evaluator of the reward structure. It returns these evaluators,
// which have recorded the errors, in the order of their states.
func (space *Space) evaluateRewards(index int, visit func(evaluator *rewardEvaluator, stateIndex int, state []int32) error) ([]*rewardEvaluator, error) {
	var evaluators []*rewardEvaluator
	err := space.visitInParallel(func() (visitState, error) {
		evaluator, err := space.newRewardEvaluator(index)
		evaluators = append(evaluators, evaluator)
		return func(stateIndex int, state []int32) error { return visit(evaluator, stateIndex, state) }, err
	})
	return evaluators, err
}

// rewardEvaluator evaluates the items of a reward structure in float64 arithmetic and bounds the
// rounding error. It is not safe for concurrent use.
type rewardEvaluator struct {
	space          *Space
	structure      *sema.RewardStruct
	rewards        *compile.Rewards
	exactEvaluator *exactRewardEvaluator
	// itemsWithoutBound lists the items whose rounding error has no bound that holds in every state.
	itemsWithoutBound []*sema.RewardItem
	relErr            float64 // bound on the relative error of all rewards so far
	rangeErr          error   // the first reward outside the range of float64
}

// newRewardEvaluator compiles the reward structure Program.Rewards[index], and bounds the rounding errors of its items.
func (space *Space) newRewardEvaluator(index int) (*rewardEvaluator, error) {
	rewards, err := space.compiled.Rewards(index)
	if err != nil {
		return nil, err
	}
	evaluator := &rewardEvaluator{space: space, structure: &space.Program().Rewards[index], rewards: rewards}
	if evaluator.exactEvaluator, err = space.newExactRewardEvaluator(evaluator.structure); err != nil {
		return nil, err
	}
	analysis := space.floatAnalysis()
	for i := range evaluator.structure.Items {
		item := &evaluator.structure.Items[i]
		if relErr := analysis.Facts(item.Value).RelErr; !math.IsNaN(relErr) {
			evaluator.relErr = max(evaluator.relErr, relErr)
		} else {
			evaluator.itemsWithoutBound = append(evaluator.itemsWithoutBound, item)
		}
	}
	return evaluator, nil
}

// stateReward returns the reward of a state.
func (evaluator *rewardEvaluator) stateReward(state []int32) (float64, error) {
	value, err := evaluator.rewards.State(state)
	return evaluator.accurateSum(value, err, state, isStateItem)
}

// choiceReward returns the reward of a choice, or of a transition, with the given action in a state.
func (evaluator *rewardEvaluator) choiceReward(state []int32, action int) (float64, error) {
	value, err := evaluator.rewards.Choice(state, action)
	return evaluator.accurateSum(value, err, state, isTransitionItem(action))
}

// isStateItem reports whether an item gives a reward to states.
func isStateItem(item *sema.RewardItem) bool { return !item.IsTransition }

// isTransitionItem returns a predicate for the items that give a reward to transitions with an action.
func isTransitionItem(action int) func(*sema.RewardItem) bool {
	return func(item *sema.RewardItem) bool { return item.IsTransition && item.Action == action }
}

// accurateSum returns the sum of the reward items that apply in a state. value is the sum in float64 arithmetic, and err the error of this computation. If
// value is not close to the exact sum, or if err is not nil, it returns the float64 nearest to the exact sum.
func (evaluator *rewardEvaluator) accurateSum(value float64, err error, state []int32, applies func(*sema.RewardItem) bool) (float64, error) {
	if err != nil {
		return evaluator.roundedExactSum(err, state, applies)
	}
	if !slices.ContainsFunc(evaluator.itemsWithoutBound, applies) {
		return evaluator.checkRange(value, state), nil
	}
	exact, err := evaluator.exactEvaluator.sumOfItems(state, applies)
	switch {
	case errors.As(err, new(*compile.UnsupportedError)):
		return evaluator.enclosedSum(value, err, state, applies)
	case err != nil:
		return 0, err
	case !sema.IsClose(value, exact):
		return evaluator.nearestFloat(exact, state), nil
	}
	evaluator.relErr = max(evaluator.relErr, sema.RelativeError(value, exact))
	return evaluator.checkRange(value, state), nil
}

// roundedExactSum returns the float64 nearest to the exact sum of the items that apply, because the computation in float64 failed with floatErr. If the sum
// is not a fraction, it returns floatErr.
func (evaluator *rewardEvaluator) roundedExactSum(floatErr error, state []int32, applies func(*sema.RewardItem) bool) (float64, error) {
	if !errors.As(floatErr, new(*compile.StateError)) {
		return 0, floatErr
	}
	exact, err := evaluator.exactEvaluator.sumOfItems(state, applies)
	switch {
	case errors.As(err, new(*compile.UnsupportedError)):
		return 0, floatErr
	case err != nil:
		return 0, err
	}
	return evaluator.nearestFloat(exact, state), nil
}

// nearestFloat returns the float64 number nearest to a reward.
func (evaluator *rewardEvaluator) nearestFloat(exact *big.Rat, state []int32) float64 {
	evaluator.relErr = max(evaluator.relErr, sema.UnitRoundoff)
	return evaluator.checkRange(sparse.NonzeroFloat(exact), state)
}

// enclosedSum returns an approximation of an irrational sum of items: value or, if its relative error is not certainly small, the lower bound of the sum. If
// this is not accurate enough either, it returns irrationalErr.
func (evaluator *rewardEvaluator) enclosedSum(value float64, irrationalErr error, state []int32, applies func(*sema.RewardItem) bool) (float64, error) {
	lower, upper, err := evaluator.encloseSum(irrationalErr, state, applies)
	if err != nil {
		return 0, err
	}
	if lower.Sign() < 0 || lower.Sign() != upper.Sign() {
		return 0, irrationalErr
	}
	lowerFloat, _ := lower.Float64()
	for _, approximation := range [...]float64{value, lowerFloat} {
		relErr := max(sema.RelativeError(approximation, lower), sema.RelativeError(approximation, upper))
		if relErr <= sema.MaxRelErr {
			evaluator.relErr = max(evaluator.relErr, relErr)
			return evaluator.checkRange(approximation, state), nil
		}
	}
	return 0, irrationalErr
}

// encloseSum returns bounds on the sum of the items that apply in a state. If no bounds are known of an item, it returns irrationalErr.
func (evaluator *rewardEvaluator) encloseSum(irrationalErr error, state []int32, applies func(*sema.RewardItem) bool) (lower, upper *big.Rat, err error) {
	lower, upper = new(big.Rat), new(big.Rat)
	for i := range evaluator.structure.Items {
		item := &evaluator.structure.Items[i]
		if !applies(item) {
			continue
		}
		guard, _, err := sema.EvalExact(item.Guard, state)
		if err != nil {
			return nil, nil, evaluationError(evaluator.space.compiled, state, err)
		}
		if !guard.Bool {
			continue
		}
		enclosed, err := sema.Enclose(item.Value, state)
		if err != nil {
			return nil, nil, evaluationError(evaluator.space.compiled, state, err)
		}
		itemLower, itemUpper, ok := enclosed.Bounds()
		if !ok {
			return nil, nil, irrationalErr
		}
		lower.Add(lower, itemLower)
		upper.Add(upper, itemUpper)
	}
	return lower, upper, nil
}

// minNormal is the smallest normal float64.
const minNormal = 0x1p-1022

// isNormalFloat reports whether a reward is inside the range of float64. The smallest and the largest normal
// float64 stand for numbers outside.
func isNormalFloat(value float64) bool { return value > minNormal && value < math.MaxFloat64 }

// checkRange returns value, a reward in a state. It records an error if value is outside of the range of float64, unless it has recorded one for an earlier
// reward.
func (evaluator *rewardEvaluator) checkRange(value float64, state []int32) float64 {
	if value != 0 && !isNormalFloat(value) && evaluator.rangeErr == nil {
		evaluator.rangeErr = &RangeError{
			File: evaluator.space.Program().File, Pos: evaluator.structure.Items[0].Pos, State: evaluator.space.compiled.StateText(state),
			What: fmt.Sprintf("reward %.4g", value),
		}
	}
	return value
}

// stateAndChoiceRewards evaluates the reward of a state and the rewards of its choices, and stores them in reward.
func (space *Space) stateAndChoiceRewards(reward *sparse.Reward, evaluator *rewardEvaluator, stateIndex int, state []int32) error {
	var err error
	if reward.State != nil {
		if reward.State[stateIndex], err = evaluator.stateReward(state); err != nil {
			return err
		}
	}
	if reward.Choice == nil || space.model.IsDeadlock(stateIndex) {
		return nil
	}
	first, end := space.model.Choices(stateIndex)
	for choice := first; choice < end; choice++ {
		if space.model.Kind == sparse.MDP {
			reward.Choice[choice], err = evaluator.choiceReward(state, space.actionIndex(choice))
		} else {
			reward.Choice[choice], err = space.weightedReward(evaluator, choice, state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// weightedReward returns the reward that a state of a Markov chain earns by its transitions: the sum of weight * reward.
func (space *Space) weightedReward(evaluator *rewardEvaluator, choice int, state []int32) (float64, error) {
	sum := 0.0
	first, end := space.model.Transitions(choice)
	limit := math.MaxFloat64 / float64(end-first)
	for transition := first; transition < end; transition++ {
		weighted, err := evaluator.weightedReward(state, space.actionIndex(transition), space.model.Prob(transition), limit)
		if err != nil {
			return 0, err
		}
		sum += weighted
	}
	return sum, nil
}

// weightedReward returns weight * reward for a transition with the given action. A product below the range of float64 or above limit is recorded as an
// error, and the result is the nearest number in range.
func (evaluator *rewardEvaluator) weightedReward(state []int32, action int, weight, limit float64) (float64, error) {
	value, err := evaluator.choiceReward(state, action)
	if err != nil || !(value > 0) {
		return 0, err
	}
	weighted := max(weight*value, minNormal)
	if weighted > limit {
		evaluator.checkRange(math.MaxFloat64, state)
	}
	return evaluator.checkRange(min(weighted, limit), state), nil
}

// actionIndex returns the action of a choice or transition as an index into Program.Actions, or sema.Unlabelled.
func (space *Space) actionIndex(i int) int {
	if space.model.Actions == nil {
		return sema.Unlabelled
	}
	return indexOfAction(space.model.Actions[i])
}

// indexOfAction returns an action as an index into Program.Actions, or sema.Unlabelled.
func indexOfAction(action sparse.Action) int {
	if action == sparse.NoAction {
		return sema.Unlabelled
	}
	return int(action) - 1
}

// higherOrderFactor is larger than the ratio of a product (1+e1)(1+e2)... of small errors, minus 1,
// to the sum of these errors.
const higherOrderFactor = 1.01

// rewardError bounds the relative error of the rewards of a structure. itemErr bounds the relative error of each item.
func (space *Space) rewardError(structure *sema.RewardStruct, itemErr float64) float64 {
	if space.model.Kind == sparse.MDP {
		return sumError(structure, itemErr, 0)
	}
	maxTransitions := 0
	for i := range space.store.numStates {
		first, end := space.model.Transitions(i)
		maxTransitions = max(maxTransitions, end-first)
	}
	return sumError(structure, itemErr+space.model.RelErr, maxTransitions)
}

// sumError bounds the relative error of sums of the items of a reward structure, each with a relative error of at most relErr. In a Markov chain
// they are summed again over at most maxTransitions transitions, with weights; relErr then includes the error of the weights.
func sumError(structure *sema.RewardStruct, relErr float64, maxTransitions int) float64 {
	numRoundings := len(structure.Items) + maxTransitions + 2
	return higherOrderFactor * (relErr + float64(numRoundings)*sema.UnitRoundoff)
}

// exactReward evaluates a reward structure of an exact model. The result has each reward as a fraction and as the nearest float64.
func (space *Space) exactReward(index int) (*sparse.Reward, error) {
	structure := &space.Program().Rewards[index]
	numStates := space.store.numStates
	reward := &sparse.Reward{
		Name: structure.Name, RelErr: sema.UnitRoundoff,
		State: make([]float64, numStates), StateFractions: make([]*big.Rat, numStates),
		Choice: make([]float64, space.model.NumChoices()), ChoiceFractions: make([]*big.Rat, space.model.NumChoices()),
	}
	state, hasTransitionItems := space.State(nil, 0), hasTransitionRewards(structure)
	evaluator, err := space.newExactRewardEvaluator(structure)
	if err != nil {
		return nil, err
	}
	for i := range numStates {
		space.State(state, i)
		value, err := evaluator.sumOfItems(state, isStateItem)
		if err != nil {
			return nil, err
		}
		space.setReward(reward, reward.State, reward.StateFractions, i, value)
		if !hasTransitionItems || space.model.IsDeadlock(i) {
			continue
		}
		if err := space.exactChoiceRewards(reward, evaluator, i, state); err != nil {
			return nil, err
		}
	}
	return reward, nil
}

// setReward stores a reward at index i, as a fraction and as a float64. It records the first reward outside the
// range of float64.
func (space *Space) setReward(reward *sparse.Reward, floats []float64, fractions []*big.Rat, i int, value *big.Rat) {
	storeFraction(floats, fractions, i, value)
	if floats[i] != 0 && !isNormalFloat(floats[i]) && reward.RangeErr == nil {
		reward.RangeErr, reward.RelErr = &RangeError{File: space.Program().File, What: "reward " + shortRat(value)}, math.Inf(1)
	}
}

// storeFraction stores a value as fractions[index], and the nearest float64 as floats[index]. It does nothing for 0, which the slices contain already.
func storeFraction(floats []float64, fractions []*big.Rat, index int, value *big.Rat) {
	switch {
	case value.Sign() == 0:
		return
	case index > 0 && fractions[index-1] == value: // the previous entry has the same constant, so it is rounded already
		floats[index] = floats[index-1]
	default:
		floats[index], _ = sparse.NormalFloat(value)
	}
	fractions[index] = value
}

// sameAction reports whether all transitions from first to end-1 have the same action.
func (space *Space) sameAction(first, end int) bool {
	for transition := first + 1; transition < end; transition++ {
		if space.actionIndex(transition) != space.actionIndex(first) {
			return false
		}
	}
	return true
}

// exactChoiceRewards evaluates the rewards of the choices of a state as fractions, and stores them in reward.
func (space *Space) exactChoiceRewards(reward *sparse.Reward, evaluator *exactRewardEvaluator, stateIndex int, state []int32) error {
	first, end := space.model.Choices(stateIndex)
	for choice := first; choice < end; choice++ {
		value, err := space.exactChoiceReward(evaluator, choice, state)
		if err != nil {
			return err
		}
		space.setReward(reward, reward.Choice, reward.ChoiceFractions, choice, value)
	}
	return nil
}

// exactChoiceReward returns the reward of a choice as a fraction. In a Markov chain it is the sum of weight * reward over the transitions
// of the state.
func (space *Space) exactChoiceReward(evaluator *exactRewardEvaluator, choice int, state []int32) (*big.Rat, error) {
	first, end := space.model.Transitions(choice)
	switch {
	case space.model.Kind == sparse.MDP:
		return evaluator.sumOfItems(state, isTransitionItem(space.actionIndex(choice)))
	case space.model.Intervals(), space.model.Kind == sparse.DTMC && space.sameAction(first, end):
		// The probabilities sum to 1, and all transitions have the same reward, so the mean is this reward.
		return evaluator.sumOfItems(state, isTransitionItem(space.actionIndex(first)))
	}
	sum := new(big.Rat)
	for transition := first; transition < end; transition++ {
		value, err := evaluator.sumOfItems(state, isTransitionItem(space.actionIndex(transition)))
		if err != nil {
			return nil, err
		}
		sum.Add(sum, new(big.Rat).Mul(value, space.model.Fraction(transition)))
	}
	return sum, nil
}

// exactRewardEvaluator sums the items of a reward structure as fractions. Results may share memory,
// so callers must not change them. It is not safe for concurrent use.
type exactRewardEvaluator struct {
	space         *Space
	items         []exactRewardItem
	fractionCache map[float64]*big.Rat // the fractions of float64 numbers, once computed
}

// exactRewardItem is a reward item with compiled evaluators of its guard and, if its value is an
// integer, of its value; otherwise integerValue is nil, and cachedValue has the value.
type exactRewardItem struct {
	*sema.RewardItem
	guard, integerValue compile.Evaluator
	cachedValue         *fractionCache
}

// newExactRewardEvaluator compiles the guards and the integer values of a reward structure. It does not compile other values, because
// compiled code computes with float64.
func (space *Space) newExactRewardEvaluator(structure *sema.RewardStruct) (*exactRewardEvaluator, error) {
	evaluator := &exactRewardEvaluator{space: space, fractionCache: make(map[float64]*big.Rat)}
	for i := range structure.Items {
		item := exactRewardItem{RewardItem: &structure.Items[i]}
		var err error
		if item.guard, err = space.compiled.Evaluator(item.Guard); err != nil {
			return nil, err
		}
		if item.Value.Type() == sema.Int {
			item.integerValue, err = space.compiled.Evaluator(item.Value)
		} else {
			item.cachedValue, err = newFractionCache(space.compiled, []sema.Expr{item.Value})
		}
		if err != nil {
			return nil, err
		}
		evaluator.items = append(evaluator.items, item)
	}
	return evaluator, nil
}

// sumOfItems returns the sum of the values of the reward items that applies accepts and whose guards hold in a state.
func (evaluator *exactRewardEvaluator) sumOfItems(state []int32, applies func(*sema.RewardItem) bool) (*big.Rat, error) {
	var sum *big.Rat // nil stands for 0
	for i := range evaluator.items {
		item := &evaluator.items[i]
		if !applies(item.RewardItem) {
			continue
		}
		isEnabled, err := item.guard.Bool(state)
		if err != nil {
			return nil, err
		}
		if !isEnabled {
			continue
		}
		value, err := evaluator.itemValue(item, state)
		if err != nil {
			return nil, err
		}
		if sum != nil {
			value = new(big.Rat).Add(sum, value)
		}
		sum = value
	}
	if sum == nil {
		sum = evaluator.cachedFraction(0)
	}
	return sum, nil
}

// itemValue returns the value of an item in a state as a fraction. A negative or irrational value is an error.
func (evaluator *exactRewardEvaluator) itemValue(item *exactRewardItem, state []int32) (*big.Rat, error) {
	value, err := evaluator.evaluateItem(item, state)
	if err != nil {
		return nil, err
	}
	if value.Sign() < 0 {
		return nil, evaluator.space.modelError(state, item.Value.Pos(), fmt.Sprintf("found the reward %s, want a reward that is finite and not negative", value.RatString()))
	}
	return value, nil
}

// evaluateItem returns the value of an item in a state as a fraction, which may be negative. An irrational value is an error.
func (evaluator *exactRewardEvaluator) evaluateItem(item *exactRewardItem, state []int32) (*big.Rat, error) {
	if item.integerValue != nil {
		integer, err := item.integerValue.Num(state)
		if err != nil {
			return nil, err
		}
		return evaluator.cachedFraction(integer), nil
	}
	values, err := item.cachedValue.get(state, func() ([]*big.Rat, error) {
		result, exact, err := sema.EvalExact(item.Value, state)
		switch {
		case err != nil:
			return nil, evaluationError(evaluator.space.compiled, state, err)
		case !exact:
			return nil, unsupportedError(evaluator.space.compiled, state, item.Value.Pos(), fmt.Sprintf("reward %v is not a fraction", result))
		}
		return []*big.Rat{result.Rat}, nil
	})
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// maxIntegers is the largest number of integers that are cached as fractions.
const maxIntegers = 1 << 16

// cachedFraction converts an integer, given as a float64, to a fraction. It caches the fractions.
func (evaluator *exactRewardEvaluator) cachedFraction(integer float64) *big.Rat {
	value := evaluator.fractionCache[integer]
	if value == nil {
		value = new(big.Rat).SetInt64(int64(integer))
		if len(evaluator.fractionCache) < maxIntegers {
			evaluator.fractionCache[integer] = value
		}
	}
	return value
}

// modelError returns an error about the model in a state.
func (space *Space) modelError(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: space.Program().File, Pos: pos, State: space.compiled.StateText(state), Msg: msg}
}
