package parametric

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/sparse"
)

// maxUnfoldedStates limits the states of an unfolding.
const maxUnfoldedStates = 100_000

// unfolding is an MDP whose states are pairs of a state of another MDP and a number of steps. Memoryless schedulers of the unfolding are those schedulers
// of the MDP that count steps, which are optimal for properties with step bounds.
//
// Source: Puterman, Markov Decision Processes, section 4.3 (backward induction for a finite horizon).
type unfolding struct {
	*Chain
	pairs []stepPair
	// rowOrigins has the row of the MDP for each row, or -1 for the self-loop after the last step.
	rowOrigins []int
}

// stepPair is a state after a number of steps.
type stepPair struct{ state, step int }

// unfold returns the unfolding of an MDP over a number of steps, with the pairs that are reachable from the initial state. A pair after the last
// step has a self-loop only.
func (c *Chain) unfold(ctx context.Context, steps int) (*unfolding, error) {
	result := &unfolding{Chain: &Chain{one: c.one, evaluator: c.evaluator, parameterValues: c.parameterValues}}
	indexes := map[stepPair]int{}
	indexOf := func(pair stepPair) int {
		index, isKnown := indexes[pair]
		if !isKnown {
			index = len(result.pairs)
			indexes[pair] = index
			result.pairs = append(result.pairs, pair)
		}
		return index
	}
	indexOf(stepPair{c.initial, 0})
	for i := 0; i < len(result.pairs); i++ { // in the order of steps
		pair := result.pairs[i]
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(result.pairs) > maxUnfoldedStates:
			return nil, fmt.Errorf("found %d steps of an MDP with parameters: want at most %d pairs of a state and a number of steps, or values of the parameters (--const)", steps, maxUnfoldedStates)
		}
		result.firstRow = append(result.firstRow, len(result.rows))
		if pair.step >= steps {
			result.addRow(-1, []transition{{i, c.one}})
			continue
		}
		for row := c.firstRow[pair.state]; row < c.firstRow[pair.state+1]; row++ {
			var transitions []transition
			for _, origin := range c.rows[row] {
				transitions = append(transitions, transition{indexOf(stepPair{origin.target, pair.step + 1}), origin.probability})
			}
			result.addRow(row, transitions)
		}
	}
	result.firstRow = append(result.firstRow, len(result.rows))
	return result, nil
}

// addRow adds a choice to the last state of the unfolding.
func (u *unfolding) addRow(origin int, transitions []transition) {
	u.rows = append(u.rows, transitions)
	u.rowOrigins = append(u.rowOrigins, origin)
}

// states returns the pairs that satisfy a condition.
func (u *unfolding) states(holds func(pair stepPair) bool) *sparse.Set {
	set := sparse.NewSet(len(u.pairs))
	for i, pair := range u.pairs {
		if holds(pair) {
			set.Add(i)
		}
	}
	return set
}

// rewards returns the reward of each row of the unfolding. isEarned says in which steps the rewards are earned; rewards has those of the MDP.
func (u *unfolding) rewards(rewards []*ratfunc.Func, isEarned func(step int) bool) []*ratfunc.Func {
	unfolded := make([]*ratfunc.Func, len(u.rows))
	zero := u.evaluator.ring.Integer(0)
	for i, pair := range u.pairs {
		for row := u.firstRow[i]; row < u.firstRow[i+1]; row++ {
			unfolded[row] = zero
			if origin := u.rowOrigins[row]; origin >= 0 && isEarned(pair.step) {
				unfolded[row] = rewards[origin]
			}
		}
	}
	return unfolded
}

// BestWithin is Best for the probability of `question.Left U[low,high] question.Right`, where low and high are numbers of steps.
func (c *Chain) BestWithin(ctx context.Context, question Question, lowSteps, highSteps int, low, high []*big.Rat) ([]Piece, error) {
	unfolded, err := c.unfold(ctx, highSteps)
	if err != nil {
		return nil, err
	}
	return unfolded.Best(ctx, Question{
		Min:   question.Min,
		Left:  unfolded.states(func(pair stepPair) bool { return question.Left.Has(pair.state) }),
		Right: unfolded.states(func(pair stepPair) bool { return pair.step >= lowSteps && question.Right.Has(pair.state) }),
	}, low, high)
}

// BestReward is Best for the expected sum of the rewards of the steps from firstStep to lastStep, where the first step of a path has the number 0. Only
// Min and Rewards of the question are used.
func (c *Chain) BestReward(ctx context.Context, question Question, firstStep, lastStep int, low, high []*big.Rat) ([]Piece, error) {
	unfolded, err := c.unfold(ctx, lastStep+1)
	if err != nil {
		return nil, err
	}
	return unfolded.Best(ctx, Question{
		Min:     question.Min,
		Right:   unfolded.states(func(pair stepPair) bool { return pair.step > lastStep }),
		Rewards: unfolded.rewards(question.Rewards, func(step int) bool { return step >= firstStep }),
	}, low, high)
}
