package stubborn

import (
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxCommands is the largest number of commands that are compared with each other.
const maxCommands = 4096

// Reduction decides which commands of a program can be executed immediately, before all other commands. It is immutable and safe for concurrent use.
type Reduction struct {
	program     *sema.Program
	conditions  []condition // all conditions of the guards; a condition is identified by its index in this list
	commands    []*command
	boxIndices  []int // the conditions that are boxes, and that are part of a guard or negated in a guard
	candidates  set   // commands that may be executed immediately
	lowPriority set   // commands that are disabled whenever a plain command is enabled, such as the race of a Markov automaton

	left, right sema.Expr    // formulas of the property `left U right`; left may be nil
	observed    map[int]bool // variables of the two formulas, by slot

	// disabledMeanwhile has, for each candidate, the commands that are disabled from the time at which the candidate is enabled until it is executed.
	disabledMeanwhile []set
	// dependent has, for each candidate, the other commands whose order with the candidate may matter.
	dependent []set

	leavingBox                             []set // for each condition that is a box: commands that may lead from a state in the box to a state outside
	increasingVariable, decreasingVariable []set // for each variable: commands that may increase or decrease it
}

// NumCandidates returns the number of commands that may be executed immediately.
func (r *Reduction) NumCandidates() int {
	n := 0
	for range r.candidates.all() {
		n++
	}
	return n
}

// isDecided reports whether a state decides the property `left U right`: right is true, or left is false. It returns false if the value of a formula is
// not known.
func (r *Reduction) isDecided(state []int32) bool {
	return hasValue(r.right, state, true) || r.left != nil && hasValue(r.left, state, false)
}

// hasValue reports whether a formula has the wanted value in a state. It returns false if the formula cannot be evaluated.
func hasValue(formula sema.Expr, state []int32, wanted bool) bool {
	value, err := sema.Eval(formula, state)
	return err == nil && value.Bool == wanted
}

// resetUnobserved sets the variables that the property does not read to their initial values. An initial value outside the range of the variable is
// replaced by the nearest end of the range.
func (r *Reduction) resetUnobserved(state []int32) {
	for slot := range state {
		if variable := &r.program.Vars[slot]; !r.observed[slot] {
			state[slot] = min(max(variable.Init, variable.Low), variable.High)
		}
	}
}

// finder computes a Reduction.
type finder struct {
	program  *sema.Program
	reader   *reader
	commands []*command
	// isOrdered[i] says that command i is ordered: it is plain, and its guard negates only boxes of other ordered commands. Whenever the box of an
	// ordered command contains the state, at least one plain command is enabled: this command, or one whose box it negates.
	isOrdered []bool
}

// Find returns the commands of an MDP that can be executed immediately, before all other commands, without changing the value of a property. The program
// may be the embedded MDP of a Markov automaton.
//
// If rewardIndex is -1, the property is the probability of `left U right`, with or without a time bound; left is nil for `F right`. Otherwise the property
// is the expected reward of program.Rewards[rewardIndex] until right holds.
//
// Find returns nil if there are no such commands, or if the program or a formula is not supported.
func Find(program *sema.Program, left, right sema.Expr, rewardIndex int) *Reduction {
	isSupported := program.Type == syntax.MDP && program.System == nil && !program.HasParameters && !sharesActions(program)
	if !isSupported || !sema.IsStateFormula(left) || !sema.IsStateFormula(right) {
		return nil
	}
	f := newFinder(program)
	if len(f.commands) > maxCommands || rewardIndex >= 0 && !f.isLowPriorityReward(&program.Rewards[rewardIndex]) {
		return nil
	}
	f.findOrdered()
	reduction := f.newReduction(left, right)
	if reduction.candidates.isEmpty() {
		return nil
	}
	return reduction
}

// newFinder splits all commands of a program into conditions and changes of variables.
func newFinder(program *sema.Program) *finder {
	f := &finder{program: program, reader: &reader{program: program, indices: map[string]int{}, known: map[sema.Expr]int{}}}
	for i := range program.Modules {
		for j := range program.Modules[i].Commands {
			f.commands = append(f.commands, f.newCommand(&program.Modules[i].Commands[j]))
		}
	}
	return f
}

// sharesActions reports whether two modules have the same action in their alphabets. Commands of these modules then synchronise, or one module blocks the
// action.
func sharesActions(program *sema.Program) bool {
	isInAlphabet := map[int]bool{}
	for i := range program.Modules {
		for _, action := range program.Modules[i].Alphabet {
			if isInAlphabet[action] {
				return true
			}
			isInAlphabet[action] = true
		}
	}
	return false
}

// variablesOf returns the slots of the variables of formulas, of which some may be nil.
func variablesOf(formulas ...sema.Expr) map[int]bool {
	slots := map[int]bool{}
	for _, formula := range formulas {
		addVariables(slots, formula)
	}
	return slots
}

// addVariables adds the slots of the variables of an expression to slots. A nil expression has no variables.
func addVariables(slots map[int]bool, expr sema.Expr) {
	if expr == nil {
		return
	}
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if variable, ok := operand.(*sema.Var); ok {
			slots[variable.Slot] = true
		}
		return true
	})
}

// isLowPriorityReward reports whether a reward structure is earned only in states in which no plain command is enabled, such as the time of a Markov
// automaton.
func (f *finder) isLowPriorityReward(reward *sema.RewardStruct) bool {
	return !slices.ContainsFunc(reward.Items, func(item sema.RewardItem) bool {
		return item.IsTransition || !f.isLowPriority(f.newCommand(&sema.Command{Guard: item.Guard}))
	})
}

// isLowPriority reports whether a command is disabled whenever a plain command is enabled.
func (f *finder) isLowPriority(c *command) bool {
	return !slices.ContainsFunc(f.commands, func(other *command) bool {
		return other.isPlain && !c.negatesGuardOf(other) && !areDisjoint(c.guard.intervals, other.guard.intervals)
	})
}

// negatesGuardOf reports whether the guard of a command has the negation of another command's guard, or of the box of this guard, as a conjunct. The
// command is then disabled whenever the other one is enabled.
func (c *command) negatesGuardOf(other *command) bool {
	return slices.Contains(c.guard.negated, other.guardIndex) || slices.Contains(c.guard.negated, other.boxIndex)
}

// findOrdered computes f.isOrdered. A command becomes ordered when the boxes that its guard negates are all boxes of ordered commands. The search is repeated
// until it finds no further ordered command.
func (f *finder) findOrdered() {
	f.isOrdered = make([]bool, len(f.commands))
	isOrderedBox := map[int]bool{} // by index of the condition
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for i, c := range f.commands {
			negatesOther := slices.ContainsFunc(c.guard.negated, func(index int) bool { return !isOrderedBox[index] })
			if f.isOrdered[i] || !c.isPlain || negatesOther {
				continue
			}
			f.isOrdered[i], hasChanged = true, true
			isOrderedBox[c.boxIndex] = true
		}
	}
}

// newReduction finds the candidates for the property `left U right` and all relations between the commands.
func (f *finder) newReduction(left, right sema.Expr) *Reduction {
	r := &Reduction{program: f.program, commands: f.commands, left: left, right: right, observed: variablesOf(left, right)}
	f.classifyCommands(r)
	f.relateCandidates(r)
	// All conditions are known from here on, because no further guard is read.
	r.conditions = f.reader.conditions
	f.findBoxes(r)
	f.findLeavingCommands(r)
	f.findChangingCommands(r)
	return r
}

// classifyCommands finds the commands of low priority and the candidates. A candidate is deterministic, changes some variable, and changes no variable of the
// property.
func (f *finder) classifyCommands(r *Reduction) {
	r.lowPriority, r.candidates = newSet(len(f.commands)), newSet(len(f.commands))
	for i, c := range f.commands {
		if f.isLowPriority(c) {
			r.lowPriority.add(i)
		}
		if c.isDeterministic && len(c.changes[0]) > 0 && !c.writesAny(r.observed) {
			r.candidates.add(i)
		}
	}
}

// relateCandidates finds, for each candidate, the commands that are disabled until the candidate is executed, and the other commands on which it depends.
func (f *finder) relateCandidates(r *Reduction) {
	n := len(f.commands)
	r.disabledMeanwhile, r.dependent = make([]set, n), make([]set, n)
	for candidate := range r.candidates.all() {
		r.disabledMeanwhile[candidate], r.dependent[candidate] = newSet(n), newSet(n)
		for other := range f.commands {
			switch {
			case other == candidate:
			case r.lowPriority.has(other) || f.disablesMeanwhile(candidate, other):
				r.disabledMeanwhile[candidate].add(other)
			case f.isDependent(candidate, other):
				r.dependent[candidate].add(other)
			}
		}
	}
}

// writesAny reports whether a command may change some of the given variables.
func (c *command) writesAny(slots map[int]bool) bool {
	for slot := range slots {
		if c.writes(slot) {
			return true
		}
	}
	return false
}

// disablesMeanwhile reports whether another command is disabled from the time at which a candidate is enabled until the candidate is executed. In this
// time, the box of the candidate contains the state. If the candidate is not ordered, its whole guard is also true.
func (f *finder) disablesMeanwhile(candidate, other int) bool {
	c, o := f.commands[candidate], f.commands[other]
	return areDisjoint(c.guard.intervals, o.guard.intervals) || slices.Contains(o.guard.negated, c.boxIndex) ||
		!f.isOrdered[candidate] && slices.Contains(o.guard.negated, c.guardIndex)
}

// isDependent reports whether the order of a candidate and another command may matter: their effects do not commute, or one command may disable the other.
//
// The other command may disable the candidate in two ways: it leaves the candidate's box, or it enters a box that the candidate's guard negates. For an
// ordered candidate the second way does not count, because then another plain command is enabled.
func (f *finder) isDependent(candidate, other int) bool {
	c, o := f.commands[candidate], f.commands[other]
	if !c.commutesWith(o) || f.mayLeave(o, c.guard.intervals) || f.mayDisable(c, o) {
		return true
	}
	return !f.isOrdered[candidate] && slices.ContainsFunc(c.guard.negated, func(index int) bool {
		return f.mayEnter(o, f.reader.conditions[index].intervals)
	})
}

// commutesWith reports whether a deterministic command and another command lead to the same states in both orders, if both orders are possible.
func (c *command) commutesWith(other *command) bool {
	for slot, change := range c.changes[0] {
		if other.reads[slot] || other.overwritten[slot] {
			return false
		}
		// With opposite changes, only one of the orders may leave the range of the variable.
		isOpposite := func(changes map[int]int32) bool {
			return change < 0 && changes[slot] > 0 || change > 0 && changes[slot] < 0
		}
		if slices.ContainsFunc(other.changes, isOpposite) {
			return false
		}
	}
	return true
}

// mayDisable reports whether a deterministic command may make an interval or a negated box in the guard of another command false. Other conjuncts are not
// considered: their variables are in other.reads.
func (f *finder) mayDisable(c, other *command) bool {
	return f.mayLeave(c, other.guard.intervals) || slices.ContainsFunc(other.guard.negated, func(index int) bool {
		negated := &f.reader.conditions[index]
		return negated.isBox() && f.mayEnter(c, negated.intervals)
	})
}

// findBoxes computes r.boxIndices from the guards of all commands that do not have low priority.
func (f *finder) findBoxes(r *Reduction) {
	var indices []int
	for i, c := range f.commands {
		if !r.lowPriority.has(i) {
			indices = append(append(indices, c.boxIndex), c.guard.negated...)
		}
	}
	slices.Sort(indices)
	r.boxIndices = slices.DeleteFunc(slices.Compact(indices), func(index int) bool { return !r.conditions[index].isBox() })
}

// findLeavingCommands computes r.leavingBox: for each box, the commands that may lead out of it. Such a command may enable a command whose guard negates
// the box.
func (f *finder) findLeavingCommands(r *Reduction) {
	r.leavingBox = make([]set, len(r.conditions))
	for _, box := range r.boxIndices {
		r.leavingBox[box] = newSet(len(f.commands))
		for i, c := range f.commands {
			if f.mayLeave(c, r.conditions[box].intervals) {
				r.leavingBox[box].add(i)
			}
		}
	}
}

// findChangingCommands computes r.increasingVariable and r.decreasingVariable: for each variable, the commands that may increase or decrease it. Such a
// command may enable a command whose guard has an interval for the variable.
func (f *finder) findChangingCommands(r *Reduction) {
	numVariables := len(f.program.Vars)
	r.increasingVariable, r.decreasingVariable = newSets(numVariables, len(f.commands)), newSets(numVariables, len(f.commands))
	for i, c := range f.commands {
		for slot := range f.program.Vars {
			if c.mayIncrease(slot) {
				r.increasingVariable[slot].add(i)
			}
			if c.mayDecrease(slot) {
				r.decreasingVariable[slot].add(i)
			}
		}
	}
}

// mayIncrease reports whether an update of a command may increase a variable.
func (c *command) mayIncrease(slot int) bool {
	return c.overwritten[slot] || slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return changes[slot] > 0 })
}

// mayDecrease reports whether an update of a command may decrease a variable.
func (c *command) mayDecrease(slot int) bool {
	return c.overwritten[slot] || slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return changes[slot] < 0 })
}
