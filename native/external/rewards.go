package external

import (
	"errors"

	"tilecheck/native/space/disk"
	"tilecheck/native/space/sparse"
)

// knownRewards returns a function that gives the mark of a state: Zero or Infinite if the graph decides its expected reward, and Unknown elsewhere. It marks
// all states with an infinite reward, so the rewards of the other states are the least solution of their equations. It returns ErrRestingForever if a
// minimizing scheduler can stay away from the goal forever without earning a reward.
//
// Source: the graph analysis of solve.ReachReward and of solve.TotalReward.
func (worker *worker) knownRewards(reward *Reward) (markOf func(state int64) disk.Mark, err error) {
	switch {
	case reward.IsTotal && worker.problem.Minimize:
		return worker.knownMinimalTotals()
	case reward.IsTotal:
		return worker.knownTotals()
	}
	goal, err := worker.goalStates()
	if err != nil {
		return nil, err
	}
	_, certain, err := worker.reachingStates(goal, !worker.problem.Minimize)
	if err != nil {
		return nil, err
	}
	if worker.problem.Minimize {
		resting := certain.Minus(goal)
		if err := worker.removeEarning(resting, withoutLoops); err != nil {
			return nil, err
		}
		if !resting.Empty() {
			return nil, ErrRestingForever
		}
	}
	return markSets(goal, disk.Zero, certain.Complement(), disk.Infinite), nil
}

// ErrRestingForever says that the minimal reward until a goal is not supported for a model, because a scheduler can stay outside of the goal forever
// without a reward: the least solution of the equations may then be less than the minimum.
var ErrRestingForever = errors.New("found an end component of several states without rewards outside of the target, which Rmin of F does not support")

// knownMinimalTotals returns the marks for the minimal total reward. It is 0 in each state in which a scheduler can avoid all rewards forever. Elsewhere it
// is the minimal reward until such a state is reached, so it is infinite if no scheduler reaches such a state with probability 1.
func (worker *worker) knownMinimalTotals() (markOf func(state int64) disk.Mark, err error) {
	resting := sparse.FullSet(int(worker.columns.States))
	if err := worker.removeEarning(resting, withLoops); err != nil {
		return nil, err
	}
	_, certain, err := worker.reachingStates(resting, someChoice)
	if err != nil {
		return nil, err
	}
	return markSets(resting, disk.Zero, certain.Complement(), disk.Infinite), nil
}

// knownTotals returns the marks for the total reward of a Markov chain, or for the maximal total reward of an MDP. The reward of a state is infinite if some
// scheduler earns positive rewards infinitely often with positive probability.
func (worker *worker) knownTotals() (markOf func(state int64) disk.Mark, err error) {
	numStates := int(worker.columns.States)
	infinite := sparse.FullSet(numStates) // becomes the states where some scheduler almost surely earns rewards forever
	for {
		next := sparse.NewSet(numStates)
		if err := worker.addEarning(next, infinite); err != nil {
			return nil, err
		}
		if next.Equal(infinite) {
			break
		}
		infinite = next
	}
	if err := worker.addPredecessors(infinite, nil, someChoice); err != nil {
		return nil, err
	}
	earning := sparse.NewSet(numStates)
	if err := worker.addEarning(earning, nil); err != nil {
		return nil, err
	}
	return markSets(infinite, disk.Infinite, earning.Complement(), disk.Zero), nil
}

// addEarning adds to a set the states that can reach a choice with a positive reward. If within is not nil, it uses only choices whose transitions all lead
// into the set within.
func (worker *worker) addEarning(set, within *sparse.Set) error {
	err := worker.repeatSweeps(withRewards, func() bool {
		worker.block.AddEarning(set, within)
		return false
	})
	if err != nil {
		return err
	}
	return worker.addPredecessors(set, within, someChoice)
}

// withLoops and withoutLoops are values of the parameter ignoreLoops.
const withLoops, withoutLoops = false, true

// removeEarning removes states from a set until each has a choice without a reward that stays in the set. If ignoreLoops is true, a choice that only leads
// back to its state does not count.
func (worker *worker) removeEarning(set *sparse.Set, ignoreLoops bool) error {
	return worker.repeatSweeps(withRewards, func() bool { return worker.block.RemoveEarning(set, ignoreLoops) })
}
