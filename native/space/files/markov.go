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

// completeAutomaton turns an imported MDP into the Markov automaton with the given exit rates. The MDP has the jumps of the automaton. The
// file has state rewards per unit of time. So each is divided by the exit rate, which gives the mean reward of a stay in the state. It also
// adds a reward structure of the mean times.
func completeAutomaton(imported *explicit.Imported, exitRates *rewardColumn, exact bool) error {
	if err := completeExitRates(imported, exitRates); err != nil {
		return err
	}
	imported.ExitRates = boundsOfRates(exitRates)
	numStates := imported.Model.NumStates()
	for index := range imported.Model.Rewards {
		reward := &imported.Model.Rewards[index]
		if reward.State == nil {
			continue
		}
		perTime := newColumn(numStates, exact)
		perTime.values, perTime.fractions = reward.State, reward.StateFractions
		perTime.divideByRates(exitRates)
		reward.RelErr += 2 * sema.UnitRoundoff
	}
	name := addTimeReward(imported, exitRates, exact)
	imported.Warnings = append(imported.Warnings, fmt.Sprintf("the Markov automaton was read as its embedded MDP: steps are jumps, and R{%q} is the expected time; long-run averages, and bounds on the time of F, U and R, are computed on the automaton itself", name))
	return nil
}

// completeExitRates sets the exit rate of deadlocks to 1 if the file has none. It returns an error if a state has an exit rate and several
// choices.
func completeExitRates(imported *explicit.Imported, exitRates *rewardColumn) error {
	for state := range imported.Model.NumStates() {
		first, end := imported.Model.Choices(state)
		hasRate := !exitRates.entry(state).isZero()
		switch {
		case hasRate && end != first+1:
			return syntax.ErrorList{{File: imported.File, Msg: fmt.Sprintf("state %d has an exit rate and %d choices, wanted one choice in a state in which time passes", state, end-first)}}
		case !hasRate && imported.Model.IsDeadlock(state):
			exitRates.setEntry(state, number{float: 1, fraction: big.NewRat(1, 1)})
		}
	}
	return nil
}

// addTimeReward adds a reward structure with the mean time that the automaton stays in each state. It returns the name of the structure,
// which no other structure has.
func addTimeReward(imported *explicit.Imported, exitRates *rewardColumn, exact bool) string {
	times := newColumn(imported.Model.NumStates(), exact)
	for state := range imported.Model.NumStates() {
		times.setEntry(state, number{float: 1, fraction: big.NewRat(1, 1)})
	}
	times.divideByRates(exitRates)
	name := timeRewards
	for slices.ContainsFunc(imported.Model.Rewards, func(reward sparse.Reward) bool { return reward.Name == name }) {
		name += "_"
	}
	reward, transitions := rewardStructure(imported.Model, name, times, nil)
	reward.RelErr += 2 * sema.UnitRoundoff
	imported.Model.Rewards = append(imported.Model.Rewards, reward)
	imported.TransitionRewards = append(imported.TransitionRewards, transitions)
	return name
}

// addOperatorT adds the reward structure syntax.TimeRewards, for properties with Storm's operator T. A step of a discrete-time model takes the time 1. In a
// CTMC, state rewards are per unit of time. A Markov automaton has its mean times already, in its last structure.
func addOperatorT(imported *explicit.Imported) {
	model := imported.Model
	var reward sparse.Reward
	var transitions explicit.TransitionReward
	if imported.ExitRates != nil {
		reward = model.Rewards[len(model.Rewards)-1]
		reward.Name = syntax.TimeRewards
	} else {
		ones := newColumn(model.NumStates(), model.Exact())
		for state := range model.NumStates() {
			ones.setEntry(state, number{float: 1, fraction: big.NewRat(1, 1)})
		}
		reward, transitions = rewardStructure(model, syntax.TimeRewards, ones, nil)
	}
	model.Rewards = append(model.Rewards, reward)
	imported.TransitionRewards = append(imported.TransitionRewards, transitions)
}

// divideByRates divides the entry of each state by the exit rate of the state. If the rate is 0, the entry becomes 0.
func (column *rewardColumn) divideByRates(rates *rewardColumn) {
	for state := range column.values {
		rate, value := rates.entry(state), column.entry(state)
		quotient := number{}
		if !rate.isZero() {
			quotient.float = value.float / rate.float
			if column.fractions != nil {
				quotient.fraction = new(big.Rat).Quo(value.fraction, rate.fraction)
			}
		}
		column.values[state] = quotient.float
		if column.fractions != nil {
			column.fractions[state] = quotient.fraction // nil for zero
		}
	}
}

// boundsOfRates returns bounds of the exit rates that a file has. A rate can have been rounded to a float64, so the bounds are the
// neighbouring float64 numbers. A rate of 0 is exact.
func boundsOfRates(column *rewardColumn) *explicit.ExitRates {
	rates := &explicit.ExitRates{Fractions: column.fractions}
	for state := range column.values {
		rate := column.entry(state).float
		low, high := rate, rate
		if rate != 0 {
			low, high = math.Nextafter(rate, 0), math.Nextafter(rate, math.Inf(1))
		}
		rates.Low, rates.High = append(rates.Low, low), append(rates.High, high)
	}
	return rates
}

// automatonWriter returns a writer for a format that can express Markov automata. If the model is a Markov automaton, the writer also
// writes its exit rates.
func (writer *Writer) automatonWriter() (*Writer, error) {
	automatonWriter := writer.plainWriter()
	if !writer.program.Model().IsMarkovAutomaton() {
		return automatonWriter, nil
	}
	var err error
	automatonWriter.exitRates, err = writer.space.ExitRates()
	return automatonWriter, err
}

// automatonRate returns the exit rate of a Markov automaton's state that is written to a file. It is 0 for a state in which no time passes.
func (writer *Writer) automatonRate(state int) number {
	switch {
	case writer.exitRates.High[state] == 0:
		return number{fraction: writer.fraction(new(big.Rat))}
	case writer.model.Exact():
		return number{fraction: writer.exitRates.Fractions[state]}
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

// rewardPerTime returns a copy of a Markov automaton's reward structure in which state rewards are per unit of time. The given structure has the
// rewards per visit of a state, so they are multiplied by the exit rate.
func (writer *Writer) rewardPerTime(reward *sparse.Reward) *sparse.Reward {
	perTime := *reward
	perTime.State, perTime.StateFractions = slices.Clone(reward.State), slices.Clone(reward.StateFractions)
	for state := range writer.model.NumStates() {
		rate := writer.automatonRate(state)
		if perTime.State != nil {
			perTime.State[state] *= rate.float
		}
		if perTime.StateFractions != nil && perTime.StateFractions[state] != nil {
			perTime.StateFractions[state] = new(big.Rat).Mul(perTime.StateFractions[state], rate.fraction)
		}
	}
	return &perTime
}
