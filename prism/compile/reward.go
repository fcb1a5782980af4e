package compile

import (
	"fmt"
	"math"

	"tilecheck/prism/sema"
)

// Rewards evaluates one reward structure. It is not safe for concurrent use.
type Rewards struct {
	m     *Model
	env   env
	items []rewardItem
	src   *sema.RewardStruct
}

type rewardItem struct {
	src   *sema.RewardItem
	guard boolFn
	value numFn
}

// Rewards returns the evaluator of Program.Rewards[index].
func (m *Model) Rewards(index int) (*Rewards, error) {
	if index < 0 || index >= len(m.prog.Rewards) {
		return nil, &UnsupportedError{File: m.prog.File, Msg: fmt.Sprintf("the model has no reward structure number %d", index+1)}
	}
	r := &Rewards{m: m, src: &m.prog.Rewards[index]}
	for i := range r.src.Items {
		it := &r.src.Items[i]
		guard, err := m.boolean(it.Guard)
		if err != nil {
			return nil, err
		}
		value, err := m.number(it.Value)
		if err != nil {
			return nil, err
		}
		r.items = append(r.items, rewardItem{it, guard, value})
	}
	return r, nil
}

// State returns the reward of a state: per step, or per unit of time in a CTMC.
// All items that apply add up; a negative or non-finite item is a *StateError,
// as is an error of evaluation.
func (r *Rewards) State(state []int32) (float64, error) {
	r.env.state = state
	return r.checked(r.stateReward(&r.env))
}

// Choice returns the reward of leaving a state by a choice with the given
// action, an index into Program.Actions or sema.Unlabelled. It is earned once
// per choice, however many modules take part, and never by the self-loop that
// stands for a deadlock. Errors are as for State.
func (r *Rewards) Choice(state []int32, action int) (float64, error) {
	r.env.state = state
	return r.checked(r.choiceReward(&r.env, action))
}

func (r *Rewards) checked(x float64) (float64, error) {
	if err := r.m.takeError(&r.env); err != nil {
		return 0, err
	}
	return x, nil
}

func (r *Rewards) stateReward(v *env) float64 {
	total := 0.0
	for i := range r.items {
		if it := &r.items[i]; !it.src.Transition {
			total += it.reward(v)
		}
	}
	return total
}

func (r *Rewards) choiceReward(v *env, action int) float64 {
	total := 0.0
	for i := range r.items {
		if it := &r.items[i]; it.src.Transition && it.src.Action == action {
			total += it.reward(v)
		}
	}
	return total
}

func (it *rewardItem) reward(v *env) float64 {
	if !it.guard(v) {
		return 0
	}
	x := it.value(v)
	if !(x >= 0 && x <= math.MaxFloat64) {
		v.fail(it.src.Value.Pos(), fmt.Errorf("reward %v, it must be finite and not negative", x))
	}
	return x
}
