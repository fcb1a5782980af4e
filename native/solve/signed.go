package solve

import (
	"context"
	"errors"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Signed are rewards that may be negative: the difference of two structures.
type Signed struct{ Earned, Lost *sparse.Reward }

// ErrMayMiss says that some scheduler misses the target with positive probability, or that this could not be excluded.
var ErrMayMiss = errors.New("some scheduler misses the target with positive probability")

// greatestLoss returns twice the greatest loss of a step, and at least 1. If onlyStates is true, it considers state rewards
// only.
func (r Signed) greatestLoss(model *sparse.Model, onlyStates bool) float64 {
	greatest := 0.5
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			loss := r.Lost.OfChoice(s, c)
			if onlyStates {
				loss = valueAt(r.Lost.State, s)
			}
			greatest = max(greatest, loss)
		}
	}
	return 2 * math.Ceil(greatest)
}

// Large reports whether a reward or a loss exceeds sparse.MaxNumber, so that Shifted and Potential could overflow.
func (r Signed) Large() bool {
	for _, rewards := range [][]float64{r.Earned.State, r.Earned.Choice, r.Lost.State, r.Lost.Choice} {
		for _, reward := range rewards {
			if reward > sparse.MaxNumber {
				return true
			}
		}
	}
	return false
}

// valueAt returns list[i]; 0 for a nil list.
func valueAt(list []float64, i int) float64 {
	if list == nil {
		return 0
	}
	return list[i]
}

// addOffset returns a reward structure in which every step earns offset(s, c) in addition. The offset is at least the loss of
// the step, so that no reward is negative. floats returns the rounded offset. If onlyStates is true, the structure has state
// rewards only.
func (r Signed) addOffset(model *sparse.Model, onlyStates bool, offset func(s, c int) *big.Rat, floats func(s, c int) float64) *sparse.Reward {
	reward := &sparse.Reward{Name: r.Earned.Name, Unfit: r.Earned.Unfit}
	if r.Lost.Unfit != nil {
		reward.Unfit = r.Lost.Unfit
	}
	exact := model.Exact()
	numRewards := model.NumChoices()
	if onlyStates {
		numRewards = model.NumStates()
	}
	floatRewards, exactRewards := make([]float64, numRewards), []*big.Rat(nil)
	if exact {
		exactRewards = make([]*big.Rat, numRewards)
	}
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		if onlyStates {
			floatRewards[s] = valueAt(r.Earned.State, s) + floats(s, first) - valueAt(r.Lost.State, s)
			if exact {
				exactRewards[s] = new(big.Rat).Sub(ratAt(r.Earned.StateRat, s), ratAt(r.Lost.StateRat, s))
				exactRewards[s].Add(exactRewards[s], offset(s, first))
			}
			continue
		}
		for c := first; c < end; c++ {
			floatRewards[c] = r.Earned.OfChoice(s, c) + floats(s, c) - r.Lost.OfChoice(s, c)
			if exact {
				exactRewards[c] = new(big.Rat).Sub(r.Earned.OfChoiceRat(s, c), r.Lost.OfChoiceRat(s, c))
				exactRewards[c].Add(exactRewards[c], offset(s, c))
			}
		}
	}
	if onlyStates {
		reward.State, reward.StateRat = floatRewards, exactRewards
	} else {
		reward.Choice, reward.ChoiceRat = floatRewards, exactRewards
	}
	// The offset is at least twice the loss. So the sum of all terms without their signs is at most three times the reward.
	reward.Err = 3.1 * (max(r.Earned.Err, r.Lost.Err) + 8*unit)
	return reward
}

// ratAt returns list[i], or 0 if the list or its element is nil. The caller may change the 0, but not list[i].
func ratAt(list []*big.Rat, i int) *big.Rat {
	if list == nil || list[i] == nil {
		return new(big.Rat)
	}
	return list[i]
}

// Shifted returns a structure in which every step, or with onlyStates every state, earns the same amount more, so that no reward is
// negative.
func (r Signed) Shifted(model *sparse.Model, onlyStates bool) (shifted *sparse.Reward, by *big.Rat) {
	offset := r.greatestLoss(model, onlyStates)
	by = new(big.Rat).SetFloat64(offset)
	return r.addOffset(model, onlyStates, func(int, int) *big.Rat { return by }, func(int, int) float64 { return offset }), by
}

// Potential returns a structure without negative rewards that has, until target is reached, the expected rewards of r plus the
// potential of the state in which a path begins, under every scheduler. It is ErrMayMiss if some scheduler does not reach target
// with probability one from a state of from.
//
// Every step earns the expected decrease of the potential more. The potential is a multiple of the greatest expected number of
// steps to the target, which decreases by at least one.
//
// Source: Ng, Harada and Russell, Policy invariance under reward transformations (ICML 1999); Bertsekas and Tsitsiklis (1991) for
// the steps to the target.
func (r Signed) Potential(ctx context.Context, graph *sparse.Graph, target, from *sparse.Set, opts Options) (shaped *sparse.Reward, potential []float64, err error) {
	model := graph.Model
	ones := make([]float64, model.NumChoices())
	for c := range ones {
		ones[c] = 1
	}
	opts.Exact, opts.Within, opts.Scheduler = false, nil, false
	steps, err := ReachReward(ctx, graph, &sparse.Reward{Choice: ones}, target, Max, opts)
	if err != nil {
		return nil, nil, err
	}
	scale := 4 * r.greatestLoss(model, false)
	potential = make([]float64, model.NumStates())
	for s, x := range steps.Upper {
		switch {
		case !math.IsInf(x, 1):
			potential[s] = scale * x
		case from.Has(s):
			return nil, nil, ErrMayMiss
		}
	}
	// decrease returns the expected decrease of the potential in a step, and the sum of the terms without signs.
	decrease := func(s, c int) (difference, size float64) {
		difference, size = potential[s], potential[s]
		first, end := model.Row(c)
		for i := first; i < end; i++ {
			term := model.Prob(i) * potential[model.Target[i]]
			difference -= term
			size += term
		}
		return difference, size
	}
	relErr := 0.0
	active := func(s int) bool { return !target.Has(s) && !math.IsInf(steps.Upper[s], 1) }
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for c := first; c < end && active(s); c++ {
			difference, size := decrease(s, c)
			transitions, limit := model.Row(c)
			wrong := size * 1.05 * (model.Err + float64(limit-transitions+4)*unit)
			if !(difference-wrong >= scale/2) {
				return nil, nil, ErrMayMiss
			}
			relErr = max(relErr, wrong/difference)
		}
	}
	shaped = r.addOffset(model, false, func(s, c int) *big.Rat {
		expected := new(big.Rat)
		if !active(s) {
			return expected.SetFloat64(scale)
		}
		expected.SetFloat64(potential[s])
		first, end := model.Row(c)
		for i := first; i < end; i++ {
			term := new(big.Rat).SetFloat64(potential[model.Target[i]])
			expected.Sub(expected, term.Mul(term, model.Rat(i)))
		}
		return expected
	}, func(s, c int) float64 {
		if !active(s) {
			return scale
		}
		difference, _ := decrease(s, c)
		return difference
	})
	shaped.Err += 3.1 * relErr
	return shaped, potential, nil
}
