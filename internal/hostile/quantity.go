package hostile

import (
	"fmt"
	"math/big"
)

// randomQuantity returns a random probability, long-run probability or expected reward. nesting is the number of operators that may be nested in it.
func (m *Model) randomQuantity(nesting int) quantity {
	w := m.writer
	switch {
	case w.one(3):
		return m.randomReward()
	case m.Kind == "ctmc" && w.one(2):
		return m.timeBounded(nesting)
	case m.Kind != "mdp" && w.one(8):
		text, holdsIn := m.randomTarget(nesting)
		return quantity{"S", "[ " + text + " ]", func(bool) []Value { return exactlyAll(m.chain(m.firstScheduler()).longRunAverage(indicator(holdsIn))) }}
	case m.Kind != "ctmc" && w.one(3):
		return m.stepBounded(nesting)
	}
	return m.unbounded(nesting)
}

func (m *Model) firstScheduler() []int { return make([]int, m.Size()) }

// complement returns 1-x for each value x.
func complement(values []Value) []Value {
	one := rat(1, 1)
	complements := make([]Value, len(values))
	for i, value := range values {
		complements[i] = Value{Lo: sub(one, value.Hi), Hi: sub(one, value.Lo)}
	}
	return complements
}

// unbounded returns a random probability of a path formula without bounds.
func (m *Model) unbounded(nesting int) quantity {
	leftText, safe := m.randomTarget(nesting)
	goalText, goal := m.randomTarget(nesting)
	n := m.Size()
	until := func(isMaximum bool, safe, goal []bool) []Value {
		return m.optimalValues(isMaximum, func(c *chain) []Value { return exactlyAll(c.untilProbabilities(safe, goal)) })
	}
	probability := func(path string, values func(bool) []Value) quantity {
		return quantity{"P", "[ " + path + " ]", values}
	}
	switch m.writer.IntN(9) {
	case 0:
		return probability("X "+goalText, func(isMaximum bool) []Value { return exactlyAll(m.stepBackwards(isMaximum, false, indicator(goal))) })
	case 1:
		return probability("G "+goalText, func(isMaximum bool) []Value { return complement(until(!isMaximum, equalValues(n, true), not(goal))) })
	case 2, 3:
		return probability(leftText+" U "+goalText, func(isMaximum bool) []Value { return until(isMaximum, safe, goal) })
	case 4: // a W b is the complement of !b U (!a & !b)
		return probability(leftText+" W "+goalText, func(isMaximum bool) []Value {
			return complement(until(!isMaximum, not(goal), both(not(safe), not(goal))))
		})
	case 5:
		finally, always := "G F "+goalText, "F G "+goalText
		staysIn := func(wantsAll bool) func(*chain) []Value {
			return func(c *chain) []Value {
				return exactlyAll(c.untilProbabilities(equalValues(n, true), c.acceptingComponents(goal, wantsAll)))
			}
		}
		if m.writer.one(2) {
			return probability(finally, func(isMaximum bool) []Value { return m.optimalValues(isMaximum, staysIn(false)) })
		}
		return probability(always, func(isMaximum bool) []Value { return m.optimalValues(isMaximum, staysIn(true)) })
	}
	return probability("F "+goalText, func(isMaximum bool) []Value { return until(isMaximum, equalValues(n, true), goal) })
}

// acceptingComponents returns the states of the bottom components of which all states are in the set or, if wantsAll is false, at least one state.
func (c *chain) acceptingComponents(set []bool, wantsAll bool) []bool {
	accepting := make([]bool, c.size())
	for i, component := range c.bottomComponents() {
		if component == nil {
			continue
		}
		hasSome, hasAll := false, true
		for j, member := range component {
			hasSome = hasSome || member && set[j]
			hasAll = hasAll && (!member || set[j])
		}
		accepting[i] = wantsAll && hasAll || !wantsAll && hasSome
	}
	return accepting
}

// stepBounded returns a random probability of a path formula with a bound on the number of steps.
func (m *Model) stepBounded(nesting int) quantity {
	leftText, safe := m.randomTarget(nesting)
	goalText, goal := m.randomTarget(nesting)
	n := m.Size()
	steps := pick(m.writer, 0, 1, 2, 3, 4, 5, 20)
	probability := func(path string, values func(bool) []*big.Rat) quantity {
		return quantity{"P", "[ " + path + " ]", func(isMaximum bool) []Value { return exactlyAll(values(isMaximum)) }}
	}
	switch m.writer.IntN(5) {
	case 0:
		return probability(fmt.Sprintf("%s U<=%d %s", leftText, steps, goalText), func(isMaximum bool) []*big.Rat { return m.stepBoundedUntil(isMaximum, safe, goal, 0, steps) })
	case 1:
		return quantity{"P", fmt.Sprintf("[ G<=%d %s ]", steps, goalText), func(isMaximum bool) []Value {
			return complement(exactlyAll(m.stepBoundedUntil(!isMaximum, equalValues(n, true), not(goal), 0, steps)))
		}}
	case 2:
		return probability(fmt.Sprintf("F<%d %s", steps+1, goalText), func(isMaximum bool) []*big.Rat {
			return m.stepBoundedUntil(isMaximum, equalValues(n, true), goal, 0, steps)
		})
	case 3:
		minSteps := m.writer.IntN(3)
		return probability(fmt.Sprintf("%s U[%d,%d] %s", leftText, minSteps, minSteps+steps, goalText), func(isMaximum bool) []*big.Rat {
			return m.stepBoundedUntil(isMaximum, safe, goal, minSteps, minSteps+steps)
		})
	}
	return probability(fmt.Sprintf("F<=%d %s", steps, goalText), func(isMaximum bool) []*big.Rat {
		return m.stepBoundedUntil(isMaximum, equalValues(n, true), goal, 0, steps)
	})
}

// randomTime returns a random time in which at most 100000 transitions of each state are expected. A longer time would take too long to compute, and the
// probability of staying in a state would be smaller than all positive float64 numbers.
func (m *Model) randomTime() *big.Rat {
	time := parseNumber(pick(m.writer, "0", "0.1", "1", "2.5", "0.3", "10", "1/3"))
	if m.writer.nasty(5) {
		time = parseNumber(pick(m.writer, "1e-9", "1e-17", "100"))
	}
	for _, exit := range m.chain(m.firstScheduler()).exitRates {
		for mul(exit, time).Cmp(rat(100_000, 1)) > 0 {
			time = mul(time, parseNumber("1e-6"))
		}
	}
	return time
}

// timeBounded returns a random probability of a path formula with a bound on the time, for a CTMC.
func (m *Model) timeBounded(nesting int) quantity {
	leftText, safe := m.randomTarget(nesting)
	goalText, goal := m.randomTarget(nesting)
	timedChain := m.chain(m.firstScheduler())
	time := m.randomTime()
	w := m.writer
	timeText := w.literal(time)
	probability := func(path string, values func() []Value) quantity {
		return quantity{"P", "[ " + path + " ]", func(bool) []Value { return values() }}
	}
	reachWithin := func(safe, goal []bool) []Value {
		return timedChain.withAbsorbing(both(safe, not(goal))).expectationAfter(time, indicator(goal))
	}
	n := m.Size()
	switch m.writer.IntN(5) {
	case 0:
		return probability(fmt.Sprintf("%s U<=%s %s", leftText, timeText, goalText), func() []Value { return reachWithin(safe, goal) })
	case 1:
		return probability(fmt.Sprintf("G<=%s %s", timeText, goalText), func() []Value { return timedChain.stayProbability(time, goal) })
	case 2:
		minTime := m.randomTime()
		return probability(fmt.Sprintf("%s U[%s,%s] %s", leftText, w.literal(minTime), w.literal(add(minTime, time)), goalText), func() []Value {
			return timedChain.valuesAfterStay(minTime, safe, reachWithin(safe, goal))
		})
	case 3:
		return probability(fmt.Sprintf("%s U>=%s %s", leftText, timeText, goalText), func() []Value {
			return timedChain.valuesAfterStay(time, safe, exactlyAll(timedChain.untilProbabilities(safe, goal)))
		})
	}
	return probability(fmt.Sprintf("F<=%s %s", timeText, goalText), func() []Value { return reachWithin(equalValues(n, true), goal) })
}

// stayProbability returns the probability of being in a set all the time.
func (c *chain) stayProbability(t *big.Rat, set []bool) []Value {
	return c.withAbsorbing(set).expectationAfter(t, indicator(set))
}

// valuesAfterStay returns the expectation of laterValues after the time, on the paths that stay in safe states until then.
func (c *chain) valuesAfterStay(time *big.Rat, safe []bool, laterValues []Value) []Value {
	masked := make([]Value, len(laterValues))
	for i, value := range laterValues {
		if masked[i] = value; !safe[i] && time.Sign() > 0 {
			masked[i] = exactly(new(big.Rat))
		}
	}
	return c.withAbsorbing(safe).intervalsAfter(time, masked)
}

// randomReward returns a random expected reward.
func (m *Model) randomReward() quantity {
	goalText, goal := m.randomTarget(0)
	w := m.writer
	reward := func(path string, values func(bool) []Value) quantity {
		return quantity{"R", "[ " + path + " ]", values}
	}
	switch kind := w.IntN(6); {
	case kind == 0 && m.Kind == "ctmc":
		time := m.randomTime()
		return reward("C<="+w.literal(time), func(bool) []Value { return m.rewardUpTo(time) })
	case kind == 1 && m.Kind == "ctmc":
		time := m.randomTime()
		return reward("I="+w.literal(time), func(bool) []Value {
			return m.chain(m.firstScheduler()).withAbsorbing(equalValues(m.Size(), true)).expectationAfter(time, m.stateRewards)
		})
	case kind == 0:
		steps := pick(w, 0, 1, 2, 3, 6)
		return reward(fmt.Sprintf("C<=%d", steps), func(isMaximum bool) []Value {
			return exactlyAll(m.iterateBackwards(isMaximum, true, zeros(m.Size()), steps))
		})
	case kind == 1:
		steps := pick(w, 0, 1, 2, 3, 6)
		return reward(fmt.Sprintf("I=%d", steps), func(isMaximum bool) []Value {
			return exactlyAll(m.iterateBackwards(isMaximum, false, m.stateRewards, steps))
		})
	case kind == 2 && m.Kind != "mdp":
		c := m.chain(m.firstScheduler())
		rate := c.rewardRates
		if rate == nil {
			rate = c.stepRewards
		}
		return reward("S", func(bool) []Value { return exactlyAll(c.longRunAverage(rate)) })
	case kind == 3 && m.Kind != "ctmc":
		return reward("C", func(isMaximum bool) []Value { return m.optimalValues(isMaximum, (*chain).totalReward) })
	}
	return reward("F "+goalText, func(isMaximum bool) []Value {
		return m.optimalValues(isMaximum, func(c *chain) []Value { return c.rewardToGoal(goal) })
	})
}

// iterateBackwards does several steps of value iteration.
func (m *Model) iterateBackwards(isMaximum, addsRewards bool, values []*big.Rat, steps int) []*big.Rat {
	for range steps {
		values = m.stepBackwards(isMaximum, addsRewards, values)
	}
	return values
}

// rewardUpTo returns the expected reward up to a time. It divides the rewards by the largest one first, because large entries need more squarings of
// the exponential.
func (m *Model) rewardUpTo(time *big.Rat) []Value {
	timedChain := m.chain(m.firstScheduler())
	n := m.Size()
	scale := rat(1, 1)
	for _, rate := range timedChain.rewardRates {
		if rate.Cmp(scale) > 0 {
			scale = rate
		}
	}
	scaledRates := zeros(n)
	for i, rate := range timedChain.rewardRates {
		scaledRates[i] = quo(rate, scale)
	}
	initialValues := append(zeros(n), rat(1, 1))
	values := timedChain.withAbsorbing(equalValues(n, true)).withRewardState(scaledRates).expectationAfter(time, initialValues)[:n]
	for i, value := range values {
		values[i] = Value{Lo: mul(value.Lo, scale), Hi: mul(value.Hi, scale)}
	}
	return values
}
