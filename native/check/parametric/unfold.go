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

// unfolding is the product of an MDP with a step counter: its states are pairs of a state of the MDP and the number of steps before it. A memoryless scheduler
// of the unfolding is a scheduler of the MDP that depends on the state and the number of steps. Such a scheduler is optimal for properties with step bounds.
//
// Source: Puterman, Markov Decision Processes, section 4.3 (backward induction for a finite horizon).
type unfolding struct {
	*Chain
	pairs   []stepPair
	indexes map[stepPair]int // the index of each pair in pairs
	// rowOrigins has, for each row of the unfolding, the row of the MDP from which it comes, or -1 for the self-loop after the last step.
	rowOrigins []int
}

// stepPair is a state of the MDP, and the number of steps that were made before it.
type stepPair struct{ state, step int }

// unfold returns the unfolding of an MDP over a number of steps, with the pairs that are reachable from the initial state. A pair after the last
// step has a self-loop only.
func (c *Chain) unfold(ctx context.Context, steps int) (*unfolding, error) {
	result := &unfolding{Chain: &Chain{one: c.one, evaluator: c.evaluator, parameterValues: c.parameterValues}, indexes: map[stepPair]int{}}
	result.indexOf(stepPair{c.initial, 0})
	for i := 0; i < len(result.pairs); i++ { // breadth-first; addChoices appends the successors to result.pairs
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(result.pairs) > maxUnfoldedStates:
			return nil, fmt.Errorf("found %d steps of an MDP with parameters: want at most %d pairs of a state and a number of steps, or values of the parameters (--const)", steps, maxUnfoldedStates)
		}
		result.firstRow = append(result.firstRow, len(result.rows))
		if result.pairs[i].step < steps {
			result.addChoices(c, result.pairs[i])
		} else {
			result.addRow(-1, []transition{{i, c.one}})
		}
	}
	result.firstRow = append(result.firstRow, len(result.rows))
	return result, nil
}

// indexOf returns the index of a pair in u.pairs. It appends the pair if it is new.
func (u *unfolding) indexOf(pair stepPair) int {
	index, isKnown := u.indexes[pair]
	if !isKnown {
		index = len(u.pairs)
		u.indexes[pair] = index
		u.pairs = append(u.pairs, pair)
	}
	return index
}

// addChoices adds the choices of a pair: those of its state in the MDP, whose targets are paired with the next number of steps.
func (u *unfolding) addChoices(mdp *Chain, pair stepPair) {
	for row := mdp.firstRow[pair.state]; row < mdp.firstRow[pair.state+1]; row++ {
		var transitions []transition
		for _, original := range mdp.rows[row] {
			target := u.indexOf(stepPair{original.target, pair.step + 1})
			transitions = append(transitions, transition{target, original.probability})
		}
		u.addRow(row, transitions)
	}
}

// addRow adds a choice to the last state of the unfolding. origin is its row in the MDP, or -1.
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

// rewards returns the reward of each row of the unfolding. mdpRewards has the reward of each row of the MDP; isEarned says in which steps rewards count.
func (u *unfolding) rewards(mdpRewards []*ratfunc.Func, isEarned func(step int) bool) []*ratfunc.Func {
	unfolded := make([]*ratfunc.Func, len(u.rows))
	zero := u.evaluator.ring.Integer(0)
	for i, pair := range u.pairs {
		for row := u.firstRow[i]; row < u.firstRow[i+1]; row++ {
			unfolded[row] = zero
			if origin := u.rowOrigins[row]; origin >= 0 && isEarned(pair.step) {
				unfolded[row] = mdpRewards[origin]
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
