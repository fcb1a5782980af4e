package elimination

import (
	"math/big"

	"tilecheck/prism/sema"
)

// findLive computes the live variables after each outcome of the commands of a program.
func (e *eliminator) findLive(commands []extended) {
	counts := e.requiredCounts()
	successors := make([][][]int, len(commands)) // of each outcome: the commands that may follow, by their position
	for i := range commands {
		for j := range commands[i].outcomes {
			outcome := &commands[i].outcomes[j]
			outcome.live = make([]bool, len(e.program.Vars))
			e.addObserved(outcome.live)
			var next []int
			for k := range commands {
				if e.mayBeEnabled(commands[k].command, outcome.after) {
					next = append(next, k)
				} else {
					e.addRefuting(outcome.live, commands[k].command, outcome.after, counts)
				}
			}
			successors[i] = append(successors[i], next)
		}
	}
	before := make([][]bool, len(commands)) // the live variables before each command
	for i := range commands {
		before[i] = e.readVariables(&commands[i])
	}
	for isChanged := true; isChanged; {
		isChanged = false
		for i := range commands {
			for j := range commands[i].outcomes {
				outcome := &commands[i].outcomes[j]
				for _, next := range successors[i][j] {
					for slot, isLive := range before[next] {
						outcome.live[slot] = outcome.live[slot] || isLive
					}
				}
				for slot, isLive := range outcome.live {
					if isLive && !outcome.writes(slot) && !before[i][slot] {
						before[i][slot], isChanged = true, true
					}
				}
			}
		}
	}
}

// requiredCounts returns, for each variable, the number of guards that require a value of the variable. The number is high for a program counter, which most
// guards test.
func (e *eliminator) requiredCounts() []int {
	counts := make([]int, len(e.program.Vars))
	for i := range e.commands {
		for _, slot := range e.commands[i].required {
			counts[slot]++
		}
	}
	return counts
}

// addObserved adds the variables of the property to live variables.
func (e *eliminator) addObserved(live []bool) {
	for _, formula := range e.observed.formulas {
		e.addVariables(live, formula)
	}
	for _, structure := range e.observed.rewards {
		for i := range e.program.Rewards[structure].Items {
			item := &e.program.Rewards[structure].Items[i]
			e.addVariables(live, item.Guard)
			e.addVariables(live, item.Value)
		}
	}
}

// addVariables adds the variables of an expression to live variables.
func (e *eliminator) addVariables(live []bool, expr sema.Expr) {
	for _, slot := range e.slotsOf(expr) {
		live[slot] = true
	}
}

// addRefuting makes variables live that keep a command disabled, because the command might become enabled if they were reset. If the guard requires another
// value of a known variable, this variable is enough. If several variables would do, it takes the one that most guards require; counts[i] is the number of
// guards that require a value of variable i.
func (e *eliminator) addRefuting(live []bool, command *command, state valuation, counts []int) {
	refuting := -1
	for _, slot := range command.required {
		isRefuting := state[slot].isKnown && state[slot] != command.guard[slot]
		if isRefuting && (refuting < 0 || counts[slot] > counts[refuting]) {
			refuting = slot
		}
	}
	if refuting < 0 {
		e.addVariables(live, command.Guard)
		return
	}
	live[refuting] = true
}

// readVariables reports, for each variable, whether an extended command reads it: in its guard, or in a probability or value that is known only at run time.
func (e *eliminator) readVariables(command *extended) []bool {
	read := make([]bool, len(e.program.Vars))
	e.addVariables(read, command.Guard)
	for i := range command.outcomes {
		outcome := &command.outcomes[i]
		if outcome.weight == nil {
			e.addVariables(read, outcome.source.Prob)
			for _, assign := range outcome.source.Assigns {
				if !outcome.after[assign.Slot].isKnown {
					e.addVariables(read, assign.Value)
				}
			}
		}
	}
	return read
}

// writes reports whether the value of a variable after an outcome does not depend on its value before.
func (o *outcome) writes(slot int) bool { return o.after[slot].isKnown || o.assignsUnknown(slot) }

// assignsUnknown reports whether an outcome assigns a value to a variable that is known only at run time.
func (o *outcome) assignsUnknown(slot int) bool {
	if o.weight != nil || o.after[slot].isKnown {
		return false
	}
	for _, assign := range o.source.Assigns {
		if assign.Slot == slot {
			return true
		}
	}
	return false
}

// resetDead resets the dead variables after each outcome to their initial values, and merges the outcomes that become equal. A variable that is dead
// after every outcome is not assigned at all. isReset reports whether anything changed.
func (e *eliminator) resetDead(commands []extended) (isReset bool) {
	isNeeded := e.neededVariables(commands)
	for i := range commands {
		for j := range commands[i].outcomes {
			outcome := &commands[i].outcomes[j]
			for slot, isLive := range outcome.live {
				after := knownValue(e.program.Vars[slot].Init)
				if !isNeeded[slot] { // no outcome assigns it, so it keeps the value that it has before the command
					after = commands[i].guard[slot]
				}
				if !isLive && !outcome.assignsUnknown(slot) && outcome.after[slot] != after {
					outcome.after[slot], isReset = after, true
				}
			}
		}
		commands[i].outcomes = mergeEqual(commands[i].outcomes)
	}
	return isReset
}

// neededVariables returns the variables that are live after some outcome, or get a value there that is known only at run time.
func (e *eliminator) neededVariables(commands []extended) []bool {
	isNeeded := make([]bool, len(e.program.Vars))
	for i := range commands {
		for j := range commands[i].outcomes {
			outcome := &commands[i].outcomes[j]
			for slot := range isNeeded {
				isNeeded[slot] = isNeeded[slot] || outcome.live[slot] || outcome.assignsUnknown(slot)
			}
		}
	}
	return isNeeded
}

// mergeEqual merges the outcomes of known probability that lead to equal valuations, and adds their probabilities.
func mergeEqual(outcomes []outcome) []outcome {
	merged, positions := outcomes[:0], map[string]int{}
	for _, outcome := range outcomes {
		key := valuationKey(outcome.after)
		if position, ok := positions[key]; ok && outcome.weight != nil {
			merged[position].weight = new(big.Rat).Add(merged[position].weight, outcome.weight)
			continue
		}
		if outcome.weight != nil {
			positions[key] = len(merged)
		}
		merged = append(merged, outcome)
	}
	return merged
}
