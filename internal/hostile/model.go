package hostile

import (
	"math/big"
)

// Model is a small random model: its text in PRISM's language, and its exact states and transitions.
type Model struct {
	Text string
	Kind string // dtmc, mdp or ctmc

	w       *writer
	states  [][2]int // values of the variables; the first is the initial state
	choices [][]choice
	state   []*big.Rat // rewards of states: per step, or per unit of time
}

// choice is a choice of a state. States of DTMCs and CTMCs have exactly one choice.
type choice struct {
	p      []*big.Rat // the probability of each successor; in a CTMC its rate
	reward *big.Rat   // the expected reward of the transition
}

// Size returns the number of states.
func (m *Model) Size() int { return len(m.states) }

// schedulers returns the number of memoryless deterministic schedulers.
func (m *Model) schedulers() int {
	n := 1
	for _, cs := range m.choices {
		n *= len(cs)
	}
	return n
}

// chain returns the Markov chain that a memoryless scheduler induces. scheduler[i] is its choice in state i.
func (m *Model) chain(scheduler []int) *chain {
	n := m.Size()
	c := &chain{}
	if m.Kind == "ctmc" {
		c.exit, c.rate = zeros(n), zeros(n)
	}
	for i := range n {
		ch := m.choices[i][scheduler[i]]
		if m.Kind != "ctmc" {
			c.p = append(c.p, ch.p)
			c.reward = append(c.reward, add(m.state[i], ch.reward))
			continue
		}
		exit, row := c.exit[i], zeros(n)
		for _, r := range ch.p {
			exit.Add(exit, r)
		}
		if exit.Sign() == 0 { // an absorbing state, so its total reward is infinite or 0
			row[i].SetInt64(1)
			c.p, c.reward = append(c.p, row), append(c.reward, m.state[i])
			c.rate[i] = m.state[i]
			continue
		}
		for j, r := range ch.p {
			row[j] = quo(r, exit)
		}
		c.p = append(c.p, row)
		c.reward = append(c.reward, add(quo(m.state[i], exit), ch.reward))
		c.rate[i] = add(m.state[i], mul(exit, ch.reward))
	}
	return c
}

// over evaluates the Markov chains of all memoryless deterministic schedulers, and returns the least or the greatest value of each state.
func (m *Model) over(greatest bool, value func(*chain) []Value) []Value {
	scheduler := make([]int, m.Size())
	var best []Value
	for {
		vs := value(m.chain(scheduler))
		if best == nil {
			best = vs
		}
		for i, v := range vs {
			if greatest && best[i].less(v) || !greatest && v.less(best[i]) {
				best[i] = v
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
	c := m.chain(make([]int, m.Size()))
	out := make([][]choice, m.Size())
	for i := range out {
		out[i] = []choice{{p: c.p[i], reward: c.reward[i]}}
	}
	return out
}

// back does one step of value iteration: it returns the least or greatest expectation of x after one step, plus the reward of the step if rewards
// is set.
func (m *Model) back(greatest, rewards bool, x []*big.Rat) []*big.Rat {
	out := make([]*big.Rat, m.Size())
	for i, cs := range m.jumps() {
		for _, c := range cs {
			sum := new(big.Rat)
			for j, p := range c.p {
				if p.Sign() > 0 && x[j].Sign() != 0 {
					sum.Add(sum, mul(p, x[j]))
				}
			}
			if rewards {
				sum.Add(sum, add(m.state[i], c.reward))
			}
			if out[i] == nil || greatest == (sum.Cmp(out[i]) > 0) {
				out[i] = sum
			}
		}
	}
	return out
}

// steps returns the least or greatest probability of reaching a goal state through safe states after at least low and at most high steps.
func (m *Model) steps(greatest bool, safe, goal []bool, low, high int) []*big.Rat {
	x := indicator(goal)
	for k := high; k > 0; k-- {
		y := m.back(greatest, false, x)
		// x is about a path that has taken k steps already.
		for i := range x {
			if k-1 >= low && goal[i] {
				y[i] = rat(1, 1)
			} else if !safe[i] {
				y[i] = new(big.Rat)
			}
		}
		x = y
	}
	return x
}
