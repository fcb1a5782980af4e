package solve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Signed are rewards that may be negative: the difference of two structures.
type Signed struct{ Gains, Losses *sparse.Reward }

// ErrMayMiss says that some scheduler misses the target with positive probability, or that this could not be excluded.
var ErrMayMiss = errors.New("some scheduler misses the target with positive probability")

// offsetAboveLosses returns an integer that is at least 1, and at least twice the loss of any step. If onlyStates is set, only the losses
// of state rewards count.
func (rewards Signed) offsetAboveLosses(model *sparse.Model, onlyStates bool) float64 {
	maxLoss := 0.5
	for state := range model.NumStates() {
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			loss := rewards.Losses.ChoiceTotal(state, choice)
			if onlyStates {
				loss = valueAt(rewards.Losses.State, state)
			}
			maxLoss = max(maxLoss, loss)
		}
	}
	return 2 * math.Ceil(maxLoss)
}

// HasLarge reports whether a reward or a loss exceeds sparse.MaxNumber. Shifted and Potential could then overflow.
func (rewards Signed) HasLarge() bool {
	isLarge := func(reward float64) bool { return reward > sparse.MaxNumber }
	return slices.ContainsFunc(rewards.Gains.State, isLarge) || slices.ContainsFunc(rewards.Gains.Choice, isLarge) ||
		slices.ContainsFunc(rewards.Losses.State, isLarge) || slices.ContainsFunc(rewards.Losses.Choice, isLarge)
}

// valueAt returns list[i], or 0 for a nil list.
func valueAt(list []float64, i int) float64 {
	if list == nil {
		return 0
	}
	return list[i]
}

// addToSteps returns a structure with the choice rewards Gains - Losses + offset. The offset of a step must be at least twice its loss, so
// no result is negative. floatOffset returns the offset as a float64.
func (rewards Signed) addToSteps(model *sparse.Model, offset func(state, choice int) *big.Rat, floatOffset func(state, choice int) float64) *sparse.Reward {
	reward := rewards.emptySum()
	reward.Choice = make([]float64, model.NumChoices())
	if model.Exact() {
		reward.ChoiceFractions = make([]*big.Rat, model.NumChoices())
	}
	for state := range model.NumStates() {
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			reward.Choice[choice] = rewards.Gains.ChoiceTotal(state, choice) + floatOffset(state, choice) - rewards.Losses.ChoiceTotal(state, choice)
			if reward.ChoiceFractions != nil {
				sum := new(big.Rat).Sub(rewards.Gains.ExactChoiceTotal(state, choice), rewards.Losses.ExactChoiceTotal(state, choice))
				reward.ChoiceFractions[choice] = sum.Add(sum, offset(state, choice))
			}
		}
	}
	return reward
}

// addToStates returns a structure with the state rewards Gains - Losses + offset. floatOffset is the same offset as a float64.
func (rewards Signed) addToStates(model *sparse.Model, offset *big.Rat, floatOffset float64) *sparse.Reward {
	reward := rewards.emptySum()
	reward.State = make([]float64, model.NumStates())
	if model.Exact() {
		reward.StateFractions = make([]*big.Rat, model.NumStates())
	}
	for state := range reward.State {
		reward.State[state] = valueAt(rewards.Gains.State, state) + floatOffset - valueAt(rewards.Losses.State, state)
		if reward.StateFractions != nil {
			sum := new(big.Rat).Sub(fractionAt(rewards.Gains.StateFractions, state), fractionAt(rewards.Losses.StateFractions, state))
			reward.StateFractions[state] = sum.Add(sum, offset)
		}
	}
	return reward
}

// emptySum returns a structure without rewards, with the relative error of the sums that the caller adds.
func (rewards Signed) emptySum() *sparse.Reward {
	unfit := rewards.Gains.RangeErr
	if rewards.Losses.RangeErr != nil {
		unfit = rewards.Losses.RangeErr
	}
	// The offset is at least twice the loss, so the sum of the absolute terms is at most three times the reward.
	return &sparse.Reward{Name: rewards.Gains.Name, RangeErr: unfit, RelErr: 3.1 * (max(rewards.Gains.RelErr, rewards.Losses.RelErr) + 8*unitRoundoff)}
}

// fractionAt returns list[i], or a new 0 if the list or its element is nil.
func fractionAt(list []*big.Rat, i int) *big.Rat {
	if list == nil || list[i] == nil {
		return new(big.Rat)
	}
	return list[i]
}

// Shifted returns the rewards plus the same shift in every step, and the shift. No shifted reward is negative. onlyStates restricts the
// structure to state rewards.
func (rewards Signed) Shifted(model *sparse.Model, onlyStates bool) (shifted *sparse.Reward, shift *big.Rat) {
	floatShift := rewards.offsetAboveLosses(model, onlyStates)
	shift = new(big.Rat).SetFloat64(floatShift)
	if onlyStates {
		return rewards.addToStates(model, shift, floatShift), shift
	}
	return rewards.addToSteps(model, func(int, int) *big.Rat { return shift }, func(int, int) float64 { return floatShift }), shift
}

// Potential returns a structure without negative rewards, and a potential of each state. Under every scheduler, the expected reward of this
// structure until target is reached is the expected reward of the given rewards plus the potential of the first state.
// The error is ErrMayMiss if some scheduler can miss target from a state of the set from.
//
// Source: Ng, Harada and Russell, Policy invariance under reward transformations (ICML 1999); Bertsekas and Tsitsiklis (1991) for
// the steps to the target.
func (rewards Signed) Potential(ctx context.Context, graph *sparse.Graph, target, from *sparse.Set, opts Options) (shaped *sparse.Reward, potential []float64, err error) {
	// The potential is a multiple of the greatest expected number of steps to the target, which decreases by at least one per step.
	opts.Exact, opts.Within, opts.Scheduler = false, nil, false
	oneForEachStep := &sparse.Reward{Choice: slices.Repeat([]float64{1}, graph.NumChoices())}
	steps, err := ReachReward(ctx, graph, oneForEachStep, target, Max, opts)
	if err != nil {
		return nil, nil, err
	}
	shaping := &potentialShaping{
		model: graph.Model, target: target, maxSteps: steps.Upper,
		scale: 4 * rewards.offsetAboveLosses(graph.Model, false), potential: make([]float64, graph.NumStates()),
	}
	for state, maxSteps := range steps.Upper {
		switch {
		case !math.IsInf(maxSteps, 1):
			shaping.potential[state] = shaping.scale * maxSteps
		case from.Has(state):
			return nil, nil, ErrMayMiss
		}
	}
	relErr, err := shaping.decreaseErr()
	if err != nil {
		return nil, nil, err
	}
	shaped = rewards.addToSteps(graph.Model, shaping.offset, shaping.floatOffset)
	shaped.RelErr += 3.1 * relErr
	return shaped, shaping.potential, nil
}

// potentialShaping has the potential of each state. The rewards increase by the decrease of the potential.
type potentialShaping struct {
	model     *sparse.Model
	target    *sparse.Set
	maxSteps  []float64 // of each state: the greatest expected number of steps to the target
	scale     float64
	potential []float64 // maxSteps times scale, or 0 if maxSteps is infinite
}

// isActive reports whether steps from a state decrease the potential.
func (shaping *potentialShaping) isActive(state int) bool {
	return !shaping.target.Has(state) && !math.IsInf(shaping.maxSteps[state], 1)
}

// decrease returns the expected decrease of the potential in a choice c of state s: potential(s) - sum over t of p(c,t) potential(t).
// magnitude is the sum of the absolute values of these terms.
func (shaping *potentialShaping) decrease(state, choice int) (decrease, magnitude float64) {
	decrease, magnitude = shaping.potential[state], shaping.potential[state]
	first, end := shaping.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		term := shaping.model.Prob(transition) * shaping.potential[shaping.model.Target[transition]]
		decrease -= term
		magnitude += term
	}
	return decrease, magnitude
}

// decreaseErr bounds the relative error of the computed decrease over all choices. The error is ErrMayMiss if a decrease is less than half
// of the scale: then a scheduler may miss the target.
func (shaping *potentialShaping) decreaseErr() (relErr float64, err error) {
	for state := range shaping.model.NumStates() {
		if !shaping.isActive(state) {
			continue
		}
		first, end := shaping.model.Choices(state)
		for choice := first; choice < end; choice++ {
			decrease, magnitude := shaping.decrease(state, choice)
			firstTransition, endTransition := shaping.model.Transitions(choice)
			absErr := magnitude * wideErrMargin * (shaping.model.RelErr + float64(endTransition-firstTransition+4)*unitRoundoff)
			if !(decrease-absErr >= shaping.scale/2) {
				return 0, ErrMayMiss
			}
			relErr = max(relErr, absErr/decrease)
		}
	}
	return relErr, nil
}

// floatOffset returns the additional reward of a step: the decrease of the potential, or scale if the potential does not decrease.
func (shaping *potentialShaping) floatOffset(state, choice int) float64 {
	if !shaping.isActive(state) {
		return shaping.scale
	}
	decrease, _ := shaping.decrease(state, choice)
	return decrease
}

// offset returns the additional reward of a choice of a state in rational arithmetic: the decrease of the potential, or scale if the
// potential does not decrease in the state.
func (shaping *potentialShaping) offset(state, choice int) *big.Rat {
	if !shaping.isActive(state) {
		return new(big.Rat).SetFloat64(shaping.scale)
	}
	decrease := new(big.Rat).SetFloat64(shaping.potential[state])
	first, end := shaping.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		term := new(big.Rat).SetFloat64(shaping.potential[shaping.model.Target[transition]])
		decrease.Sub(decrease, term.Mul(term, shaping.model.Fraction(transition)))
	}
	return decrease
}
