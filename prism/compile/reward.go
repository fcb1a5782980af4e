package compile

import (
	"fmt"
	"math"

	"tilecheck/prism/sema"
)

// Rewards evaluates one reward structure. It is not safe for concurrent use.
type Rewards struct {
	model     *Model
	env       env
	items     []rewardItem
	structure *sema.RewardStruct
	isSigned  bool // rewards may be negative
}

// rewardItem is an item of a reward structure, compiled to closures.
type rewardItem struct {
	source *sema.RewardItem
	guard  boolClosure
	value  floatClosure
}

// Rewards compiles the reward structure Program.Rewards[index].
func (m *Model) Rewards(index int) (*Rewards, error) {
	if index < 0 || index >= len(m.program.Rewards) {
		return nil, &UnsupportedError{File: m.program.File, Msg: fmt.Sprintf("the model has no reward structure number %d", index+1)}
	}
	rewards := &Rewards{model: m, structure: &m.program.Rewards[index]}
	for i := range rewards.structure.Items {
		item := &rewards.structure.Items[i]
		guard, err := m.boolClosure(item.Guard)
		if err != nil {
			return nil, err
		}
		value, err := m.floatClosure(item.Value)
		if err != nil {
			return nil, err
		}
		rewards.items = append(rewards.items, rewardItem{item, guard, value})
	}
	return rewards, nil
}

// SignedRewards is Rewards for a caller that allows negative rewards.
func (m *Model) SignedRewards(index int) (*Rewards, error) {
	rewards, err := m.Rewards(index)
	if err == nil {
		rewards.isSigned = true
	}
	return rewards, err
}

// MayBeNegative reports whether a value in the reward structure Program.Rewards[index] may be negative. The values of the variables are bounded by
// their ranges, without regard to guards. So it may report true although every reward is nonnegative.
func (m *Model) MayBeNegative(index int) bool {
	builder := m.newGraphBuilder()
	for i := range m.program.Rewards[index].Items {
		value := builder.floatExpr(m.program.Rewards[index].Items[i].Value)
		if isNonnegative := !value.maybeNaN && value.floatLow >= 0; !isNonnegative {
			return true
		}
	}
	return false
}

// State returns the reward of a state: per step, or per unit of time in a CTMC.
// It is the sum of the items whose guards hold. A non-finite item is a *StateError, and
// so is a negative one unless the rewards are signed, and an error of evaluation.
func (r *Rewards) State(state []int32) (float64, error) {
	r.env.state = state
	return r.checkEvaluation(r.stateReward(&r.env))
}

// Choice returns the reward of leaving a state by a choice with the given
// action, an index into Program.Actions or sema.Unlabelled. A choice earns it
// once, however many modules participate. The self-loop of a deadlock does not
// earn it. Errors are as for State.
func (r *Rewards) Choice(state []int32, action int) (float64, error) {
	r.env.state = state
	return r.checkEvaluation(r.choiceReward(&r.env, action))
}

// checkEvaluation returns a reward, or the error of its evaluation.
func (r *Rewards) checkEvaluation(reward float64) (float64, error) {
	if err := r.model.takeError(&r.env); err != nil {
		return 0, err
	}
	return reward, nil
}

// stateReward returns the reward of the state in env: the sum of the values of the state items whose guards hold. Errors are recorded in env.
func (r *Rewards) stateReward(env *env) float64 {
	total := 0.0
	for i := range r.items {
		if item := &r.items[i]; !item.source.IsTransition {
			total += item.reward(env, r.isSigned)
		}
	}
	return total
}

// choiceReward returns the reward of a choice with the given action in the state of env: the sum of the values of the transition items of this
// action whose guards hold. Errors are recorded in env.
func (r *Rewards) choiceReward(env *env, action int) float64 {
	total := 0.0
	for i := range r.items {
		if item := &r.items[i]; item.source.IsTransition && item.source.Action == action {
			total += item.reward(env, r.isSigned)
		}
	}
	return total
}

// reward returns the value of an item in the state of env, or 0 if the item's guard does not hold. It records an error in env if the value is
// infinite or NaN, or if it is negative and isSigned is false.
func (it *rewardItem) reward(env *env, isSigned bool) float64 {
	if !it.guard(env) {
		return 0
	}
	value := it.value(env)
	isFinite := math.Abs(value) <= math.MaxFloat64 // false for NaN
	switch {
	case isFinite && (isSigned || value >= 0):
	case isSigned:
		env.fail(it.source.Value.Pos(), fmt.Errorf("found the reward %v, want a finite reward", value))
	default:
		env.fail(it.source.Value.Pos(), fmt.Errorf("found the reward %v, want a reward that is finite and not negative", value))
	}
	return value
}

// WithRewards returns the same model with other reward structures.
func (m *Model) WithRewards(structures []sema.RewardStruct) *Model {
	program, other := *m.program, *m
	program.Rewards = structures
	other.program = &program
	return &other
}
