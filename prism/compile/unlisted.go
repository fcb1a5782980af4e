package compile

import (
	"encoding/binary"
	"math/big"
	"slices"
)

// unlistedTransitions are the transitions of a choice with more combinations of updates than a limit. The commands pick their updates
// independently, and no two of them assign the same variable, so the probability of a target is a product of one factor per command.
type unlistedTransitions struct {
	expander *expander
	commands []*command
}

// addUnlistedChoice appends a choice that has too many combinations of updates to list its transitions. It lists a transition only if it is
// the only one.
func (x *expander) addUnlistedChoice(chosen combination) *StateError {
	commands := x.combinationCommands[chosen.begin:chosen.end]
	choice, first := x.newChoice(chosen), len(x.transitions)
	if isCertain := !slices.ContainsFunc(commands, func(command *command) bool { return !isDirac(x.weights[command.commandIndex]) }); isCertain {
		x.resetUpdates(commands)
		x.pickIndependently(commands, func() float64 { return 0 })
		if err := x.addTransition(first, commands, x.totalWeight(commands)); err != nil {
			return err
		}
	} else {
		choice.unlisted = &unlistedTransitions{x, commands}
	}
	choice.Transitions = x.transitions[first:]
	x.choices.List = append(x.choices.List, choice)
	return nil
}

// Unlisted reports whether Transitions has only some transitions, as ExpandForPath makes it.
func (c *Choice) Unlisted() bool { return c.unlisted != nil }

// TotalWeight returns the sum of the weights of all transitions.
func (c *Choice) TotalWeight() float64 {
	if c.Unlisted() {
		return c.unlisted.expander.totalWeight(c.unlisted.commands)
	}
	sum := 0.0
	for i := range c.Transitions {
		sum += c.Transitions[i].Weight
	}
	return sum
}

// Draw returns the index of a transition, drawn with a probability proportional to its weight. threshold must be uniformly distributed between 0 and
// TotalWeight. If the transitions are unlisted, Draw uses random numbers in [0,1) instead, one per command, and lists the transition. The error is a
// *StateError of an update.
func (c *Choice) Draw(threshold float64, unit func() float64) (transition int, err error) {
	if !c.Unlisted() {
		for i := range c.Transitions {
			threshold -= c.Transitions[i].Weight
			if threshold < 0 {
				return i, nil
			}
		}
		return len(c.Transitions) - 1, nil // only after rounding errors
	}
	expander, commands := c.unlisted.expander, c.unlisted.commands
	expander.resetUpdates(commands)
	expander.pickIndependently(commands, unit)
	target := slices.Clone(expander.env.state)
	if err := expander.applyUpdates(target, commands, expander.updates); err != nil {
		return 0, err
	}
	return c.Find(target)
}

// Find returns the index of the transition to a target; -1 if there is none. If the choice has too many transitions to list them, Find adds this transition to
// the list. It returns a *StateError if an update cannot be evaluated.
func (c *Choice) Find(target []int32) (transition int, err error) {
	transition = slices.IndexFunc(c.Transitions, func(listed Transition) bool { return slices.Equal(listed.Target, target) })
	if transition >= 0 || !c.Unlisted() {
		return transition, nil
	}
	weight, stateErr := c.unlisted.weightOf(target)
	switch {
	case stateErr != nil:
		return 0, stateErr
	case weight == 0:
		return -1, nil
	}
	c.Transitions = append(slices.Clip(c.Transitions), Transition{Weight: weight, Target: slices.Clone(target)})
	return len(c.Transitions) - 1, nil
}

// weightOf returns the weight of the transition to a target: the product, over all commands, of the weights of the updates that assign the values
// of the target. It is 0 if there is no such transition.
func (unlisted *unlistedTransitions) weightOf(target []int32) (float64, *StateError) {
	expander := unlisted.expander
	successor, assigned := slices.Clone(expander.env.state), slices.Clone(expander.env.state)
	product := 1.0
	for _, command := range unlisted.commands {
		sum := 0.0
		for update, weight := range expander.weights[command.commandIndex] {
			if weight == 0 {
				continue
			}
			copy(successor, expander.env.state)
			if err := expander.applyUpdate(successor, command, update); err != nil {
				return 0, err
			}
			if !slices.ContainsFunc(command.assignedSlots, func(slot int) bool { return successor[slot] != target[slot] }) {
				sum += weight
			}
		}
		product = float64(product * sum)
		for _, slot := range command.assignedSlots {
			assigned[slot] = target[slot]
		}
	}
	if !slices.Equal(assigned, target) { // a variable that no command assigns
		return 0, nil
	}
	return product, nil
}

// ListFirst returns the number of transitions to different targets. If the choice has too many transitions to list them all, it lists the first ones, at most
// limit. It returns a *StateError if an update cannot be evaluated.
func (c *Choice) ListFirst(limit int) (numTransitions *big.Int, err error) {
	if !c.Unlisted() {
		return big.NewInt(int64(len(c.Transitions))), nil
	}
	numTransitions = big.NewInt(1)
	var updatesOfCommands [][]int // of each command, one update for each of its successors
	for _, command := range c.unlisted.commands {
		updates, err := c.unlisted.expander.differentUpdates(command)
		if err != nil {
			return nil, err
		}
		updatesOfCommands = append(updatesOfCommands, updates)
		numTransitions.Mul(numTransitions, big.NewInt(int64(len(updates))))
	}
	return numTransitions, c.listCombinations(updatesOfCommands, limit)
}

// listCombinations lists the transitions of the first combinations of updates, at most limit. The update of the first command varies fastest.
func (c *Choice) listCombinations(updatesOfCommands [][]int, limit int) error {
	expander := c.unlisted.expander
	for combination := range limit {
		target := slices.Clone(expander.env.state)
		quotient := combination // one digit for each command, the lowest for the first command
		for i, command := range c.unlisted.commands {
			updates := updatesOfCommands[i]
			if err := expander.applyUpdate(target, command, updates[quotient%len(updates)]); err != nil {
				return err
			}
			quotient /= len(updates)
		}
		if quotient > 0 { // all combinations are listed, and this is the first one again
			return nil
		}
		if _, err := c.Find(target); err != nil {
			return err
		}
	}
	return nil
}

// differentUpdates returns the updates of a command that have a positive weight. If several of them lead to the same successor state, it returns only the
// first.
func (x *expander) differentUpdates(command *command) (updates []int, err error) {
	hasSuccessor := map[string]bool{}
	for update, weight := range x.weights[command.commandIndex] {
		if weight == 0 {
			continue
		}
		successor := slices.Clone(x.env.state)
		if err := x.applyUpdate(successor, command, update); err != nil {
			return nil, err
		}
		var key []byte
		for _, value := range successor {
			key = binary.LittleEndian.AppendUint32(key, uint32(value))
		}
		if !hasSuccessor[string(key)] {
			hasSuccessor[string(key)] = true
			updates = append(updates, update)
		}
	}
	return updates, nil
}
