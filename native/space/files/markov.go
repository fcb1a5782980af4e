package files

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// timeRewards is the name of the reward structure of the time of a Markov automaton.
const timeRewards = "time"

// completeAutomaton turns the embedded MDP of an imported file into a Markov automaton with the given exit rates.
// It multiplies rewards per unit of time by the mean sojourn time of the state. It adds a reward structure of this
// time.
func completeAutomaton(imported *explicit.Imported, exitRates *rewardColumn, exact bool) error {
	if err := completeExitRates(imported, exitRates); err != nil {
		return err
	}
	imported.ExitRates = boundsOfRates(exitRates)
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
	name := addTimeReward(imported, exitRates, exact)
	imported.Warnings = append(imported.Warnings, fmt.Sprintf("the Markov automaton was read as its embedded MDP: steps are jumps, and R{%q} is the expected time; long-run averages, and bounds on the time of F and U, are computed on the automaton itself", name))
	return nil
}

// completeExitRates sets the exit rate of deadlocks to 1 if they have none. A state with an exit rate and several
// choices is an error.
func completeExitRates(imported *explicit.Imported, exitRates *rewardColumn) error {
	for state := range imported.Model.NumStates() {
		first, end := imported.Model.Choices(state)
		hasRate := !exitRates.get(state).isZero()
		switch {
		case hasRate && end != first+1:
			return syntax.ErrorList{{File: imported.File, Msg: fmt.Sprintf("state %d has an exit rate and %d choices, wanted one choice in a state in which time passes", state, end-first)}}
		case !hasRate && imported.Model.IsDeadlock(state):
			exitRates.set(state, number{float: 1, rat: big.NewRat(1, 1)})
		}
	}
	return nil
}

// addTimeReward adds a reward structure of the mean sojourn times, and returns its name.
func addTimeReward(imported *explicit.Imported, exitRates *rewardColumn, exact bool) string {
	times := newColumn(imported.Model.NumStates(), exact)
	for state := range imported.Model.NumStates() {
		times.set(state, number{float: 1, rat: big.NewRat(1, 1)})
	}
	times.divideByRates(exitRates)
	name := timeRewards
	for slices.ContainsFunc(imported.Model.Rewards, func(reward sparse.Reward) bool { return reward.Name == name }) {
		name += "_"
	}
	reward, transitions := rewardStructure(imported.Model, name, times, nil)
	reward.Err += 2 * sema.UnitRoundoff
	imported.Model.Rewards = append(imported.Model.Rewards, reward)
	imported.TransitionRewards = append(imported.TransitionRewards, transitions)
	return name
}

// divideByRates divides the entry of each state by its exit rate. The entry becomes 0 if the rate is 0.
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

// boundsOfRates returns the exit rates of a file with bounds. The bounds allow for rounding to float64.
func boundsOfRates(column *rewardColumn) *explicit.ExitRates {
	rates := &explicit.ExitRates{Rats: column.rats}
	for state := range column.values {
		rate := column.get(state).float
		low, high := rate, rate
		if rate != 0 {
			low, high = math.Nextafter(rate, 0), math.Nextafter(rate, math.Inf(1))
		}
		rates.Low, rates.High = append(rates.Low, low), append(rates.High, high)
	}
	return rates
}

// automatonWriter returns a writer for a format that can express Markov automata. If the model is one, the writer
// has the exit rates.
func (writer *Writer) automatonWriter() (*Writer, error) {
	plain := writer.plainWriter()
	if !writer.program.Model().IsMarkovAutomaton() {
		return plain, nil
	}
	var err error
	plain.exitRates, err = writer.space.ExitRates()
	return plain, err
}

// automatonRate returns the exit rate that a file has for a state of a Markov automaton: 0 for an immediate state and, as in Storm, 1 for a
// deadlock.
func (writer *Writer) automatonRate(state int) number {
	switch {
	case writer.exitRates.High[state] == 0 && writer.model.IsDeadlock(state):
		return number{float: 1, rat: writer.fraction(big.NewRat(1, 1))}
	case writer.exitRates.High[state] == 0:
		return number{rat: writer.fraction(new(big.Rat))}
	case writer.model.Exact():
		return number{rat: writer.exitRates.Rats[state]}
	}
	return number{float: writer.exitRates.Mean(state)}
}

// fraction returns value if the model has fractions. Otherwise it returns nil.
func (writer *Writer) fraction(value *big.Rat) *big.Rat {
	if writer.model.Exact() {
		return value
	}
	return nil
}

// perTime returns a copy of a reward structure with state rewards per unit of time. It multiplies them by the exit
// rates of a Markov automaton.
func (writer *Writer) perTime(reward *sparse.Reward) *sparse.Reward {
	result := *reward
	result.State, result.StateRat = slices.Clone(reward.State), slices.Clone(reward.StateRat)
	for state := range writer.model.NumStates() {
		rate := writer.automatonRate(state)
		if result.State != nil {
			result.State[state] *= rate.float
		}
		if result.StateRat != nil && result.StateRat[state] != nil {
			result.StateRat[state] = new(big.Rat).Mul(result.StateRat[state], rate.rat)
		}
	}
	return &result
}
