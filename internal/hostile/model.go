package hostile

import (
	"math/big"
)

// Model is a small random model: its text in PRISM's language, and its exact states and transitions.
type Model struct {
	Text string
	Kind string // dtmc, mdp or ctmc

	writer       *writer
	states       [][2]int // values of the variables; the first is the initial state
	choices      [][]choice
	stateRewards []*big.Rat // rewards of states: per step, or per unit of time
}

// choice is a choice of a state. States of DTMCs and CTMCs have exactly one choice.
type choice struct {
	weights []*big.Rat // the probability of each successor; in a CTMC its rate
	reward  *big.Rat   // the expected reward of the transition
}

// Size returns the number of states.
func (m *Model) Size() int { return len(m.states) }

// numSchedulers returns the number of memoryless deterministic schedulers.
func (m *Model) numSchedulers() int {
	n := 1
	for _, choices := range m.choices {
		n *= len(choices)
	}
	return n
}

// chain returns the Markov chain that a memoryless scheduler induces. scheduler[i] is its choice in state i.
func (m *Model) chain(scheduler []int) *chain {
	n := m.Size()
	result := &chain{}
	if m.Kind == "ctmc" {
		result.exitRates, result.rewardRates = zeros(n), zeros(n)
	}
	for i := range n {
		selected := m.choices[i][scheduler[i]]
		if m.Kind != "ctmc" {
			result.probabilities = append(result.probabilities, selected.weights)
			result.stepRewards = append(result.stepRewards, add(m.stateRewards[i], selected.reward))
			continue
		}
		exitRate, row := result.exitRates[i], zeros(n)
		for _, rate := range selected.weights {
			exitRate.Add(exitRate, rate)
		}
		if exitRate.Sign() == 0 { // an absorbing state, so its total reward is infinite or 0
			row[i].SetInt64(1)
			result.probabilities, result.stepRewards = append(result.probabilities, row), append(result.stepRewards, m.stateRewards[i])
			result.rewardRates[i] = m.stateRewards[i]
			continue
		}
		for j, rate := range selected.weights {
			row[j] = quo(rate, exitRate)
		}
		result.probabilities = append(result.probabilities, row)
		result.stepRewards = append(result.stepRewards, add(quo(m.stateRewards[i], exitRate), selected.reward))
		result.rewardRates[i] = add(m.stateRewards[i], mul(exitRate, selected.reward))
	}
	return result
}

// optimalValues evaluates the Markov chains of all memoryless deterministic schedulers, and returns the least or the greatest value of each state.
func (m *Model) optimalValues(isMaximum bool, evaluate func(*chain) []Value) []Value {
	scheduler := make([]int, m.Size())
	var best []Value
	for {
		values := evaluate(m.chain(scheduler))
		if best == nil {
			best = values
		}
		for i, value := range values {
			if isMaximum && best[i].isLess(value) || !isMaximum && value.isLess(best[i]) {
				best[i] = value
			}
		}
		i := 0
		for ; i < len(scheduler); i++ {
			if scheduler[i]++; scheduler[i] < len(m.choices[i]) {
				break
			}
			scheduler[i] = 0
		}
		if i == len(scheduler) {
			return best
		}
	}
}

// jumps returns the choices of each state with probabilities: for a CTMC, those of its embedded Markov chain.
func (m *Model) jumps() [][]choice {
	if m.Kind != "ctmc" {
		return m.choices
	}
	embedded := m.chain(make([]int, m.Size()))
	choices := make([][]choice, m.Size())
	for i := range choices {
		choices[i] = []choice{{weights: embedded.probabilities[i], reward: embedded.stepRewards[i]}}
	}
	return choices
}

// stepBackwards does one step of value iteration: it returns the least or greatest expectation of values after one step, plus the reward of the step if
// addsRewards is true.
func (m *Model) stepBackwards(isMaximum, addsRewards bool, values []*big.Rat) []*big.Rat {
	optimal := make([]*big.Rat, m.Size())
	for i, choices := range m.jumps() {
		for _, c := range choices {
			sum := new(big.Rat)
			for j, probability := range c.weights {
				if probability.Sign() > 0 && values[j].Sign() != 0 {
					sum.Add(sum, mul(probability, values[j]))
				}
			}
			if addsRewards {
				sum.Add(sum, add(m.stateRewards[i], c.reward))
			}
			if optimal[i] == nil || isMaximum == (sum.Cmp(optimal[i]) > 0) {
				optimal[i] = sum
			}
		}
	}
	return optimal
}

// stepBoundedUntil returns the least or greatest probability of reaching a goal state through safe states after at least minSteps and at
// most maxSteps steps.
func (m *Model) stepBoundedUntil(isMaximum bool, safe, goal []bool, minSteps, maxSteps int) []*big.Rat {
	values := indicator(goal)
	for step := maxSteps; step > 0; step-- {
		newValues := m.stepBackwards(isMaximum, false, values)
		// values[i] is the probability of a path that is in state i after step steps.
		for i := range values {
			if step-1 >= minSteps && goal[i] {
				newValues[i] = rat(1, 1)
			} else if !safe[i] {
				newValues[i] = new(big.Rat)
			}
		}
		values = newValues
	}
	return values
}
