package files

import (
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// timeRewards is the name of the reward structure of the time of a Markov automaton.
const timeRewards = "time"

// addTimeRewards completes the embedded MDP of a Markov automaton. It multiplies rewards per unit of time by the mean sojourn time
// of their state, and adds a reward structure of this time. exitRates is 0 for states in which no time passes.
func addTimeRewards(imported *explicit.Imported, exitRates *rewardColumn, exact bool) {
	numStates := imported.Model.NumStates()
	for i := range imported.Model.Rewards {
		reward := &imported.Model.Rewards[i]
		if reward.State == nil {
			continue
		}
		perTime := newColumn(numStates, exact)
		perTime.values, perTime.rats = reward.State, reward.StateRat
		perTime.divideByRates(exitRates)
		reward.Err += 2 * sema.UnitRoundoff
	}
	time := newColumn(numStates, exact)
	for state := range numStates {
		time.set(state, number{float: 1, rat: big.NewRat(1, 1)})
	}
	time.divideByRates(exitRates)
	name := timeRewards
	for slices.ContainsFunc(imported.Model.Rewards, func(r sparse.Reward) bool { return r.Name == name }) {
		name += "_"
	}
	reward, transitions := rewardStructure(imported.Model, name, time, nil)
	reward.Err += 2 * sema.UnitRoundoff
	imported.Model.Rewards = append(imported.Model.Rewards, reward)
	imported.TransitionRewards = append(imported.TransitionRewards, transitions)
	imported.Warnings = append(imported.Warnings, fmt.Sprintf("the Markov automaton was read as its embedded MDP: steps are jumps, and R{%q} is the expected time", name))
}

// divideByRates divides the entries of states by their exit rates, and makes them 0 where the rate is 0.
func (column *rewardColumn) divideByRates(rates *rewardColumn) {
	for state := range column.values {
		rate, value := rates.get(state), column.get(state)
		quotient := number{}
		if !rate.isZero() {
			quotient.float = value.float / rate.float
			if column.rats != nil {
				quotient.rat = new(big.Rat).Quo(value.rat, rate.rat)
			}
		}
		column.values[state] = quotient.float
		if column.rats != nil {
			column.rats[state] = quotient.rat // nil for zero
		}
	}
}
