package stubborn

import (
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxCommands is the largest number of commands that are compared with each other.
const maxCommands = 4096

// Reduction decides which commands of a program can be executed at once. It is immutable and safe for concurrent use.
type Reduction struct {
	program    *sema.Program
	conditions []condition
	commands   []*command
	boxes      []int // the conditions that are boxes of guards, or negated in them
	candidates set   // commands that may be executed at once
	waiting    set   // commands that are disabled whenever a plain command is enabled, such as the race of a Markov automaton

	left, right sema.Expr    // of the property; left may be nil
	observed    map[int]bool // their variables

	// For each candidate: excluded has the commands that are disabled while the candidate waits to be executed; dependent has the others
	// whose order with the candidate may matter.
	excluded, dependent []set
	// leavers has, for each condition that is a box, the commands that may lead from a state in the box to a state outside.
	leavers []set
	// increasing and decreasing have, for each variable, the commands that may increase or decrease it.
	increasing, decreasing []set
}

// NumCandidates returns the number of commands that may be executed at once.
func (r *Reduction) NumCandidates() int {
	n := 0
	for range r.candidates.all() {
		n++
	}
	return n
}

// isDecided reports whether a state satisfies right, or does not satisfy left. It is false if the value of a formula is not known.
func (r *Reduction) isDecided(state []int32) bool {
	return hasValue(r.right, state, true) || r.left != nil && hasValue(r.left, state, false)
}

// hasValue reports whether a formula has a value in a state.
func hasValue(formula sema.Expr, state []int32, wanted bool) bool {
	value, err := sema.Eval(formula, state)
	return err == nil && value.Bool == wanted
}

// resetUnobserved resets the variables that the property does not read to their initial values.
func (r *Reduction) resetUnobserved(state []int32) {
	for slot := range state {
		if !r.observed[slot] {
			state[slot] = min(max(r.program.Vars[slot].Init, r.program.Vars[slot].Low), r.program.Vars[slot].High)
		}
	}
}

// finder computes a Reduction.
type finder struct {
	program  *sema.Program
	reader   *reader
	commands []*command
	// isOrdered[i] says that a plain command waits only for other ordered commands. Whenever the box of an ordered command holds, some plain
	// command is enabled: the command, or one of those that it waits for.
	isOrdered []bool
}

// Find returns the commands of an MDP, or of the embedded MDP of a Markov automaton, that can be executed at once without changing
// the probability of `left U right`, also within a time, or the expected reward of structure number reward until right holds. left is nil for F, and
// reward is -1 for a probability. It returns nil if there are none, or if the program or the formulas are not supported.
func Find(program *sema.Program, left, right sema.Expr, reward int) *Reduction {
	isSupported := program.Type == syntax.MDP && program.System == nil && !program.HasParameters && !sharesActions(program)
	if !isSupported || !isStateFormula(left) || !isStateFormula(right) {
		return nil
	}
	f := &finder{program: program, reader: &reader{program: program, indices: map[string]int{}, known: map[sema.Expr]int{}}}
	for i := range program.Modules {
		for j := range program.Modules[i].Commands {
			f.commands = append(f.commands, f.newCommand(&program.Modules[i].Commands[j]))
		}
	}
	if len(f.commands) > maxCommands || reward >= 0 && !f.isWaitingReward(&program.Rewards[reward]) {
		return nil
	}
	f.findOrdered()
	reduction := f.newReduction(left, right)
	if reduction.candidates.isEmpty() {
		return nil
	}
	return reduction
}

// sharesActions reports whether the alphabets of two modules have the same action. Then commands of the modules synchronise, or one module blocks the action.
func sharesActions(program *sema.Program) bool {
	moduleOf := map[int]int{}
	for i := range program.Modules {
		for _, action := range program.Modules[i].Alphabet {
			if _, isShared := moduleOf[action]; isShared {
				return true
			}
			moduleOf[action] = i
		}
	}
	return false
}

// isStateFormula reports whether the variables of a state determine an expression: it has no labels and no operators of properties. It is true for nil.
func isStateFormula(expr sema.Expr) bool {
	isSupported := true
	if expr != nil {
		sema.Inspect(expr, func(operand sema.Expr) bool {
			switch operand.(type) {
			case *sema.Const, *sema.Var, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
			default:
				isSupported = false
			}
			return isSupported
		})
	}
	return isSupported
}

// observedVariables returns the variables of formulas.
func observedVariables(formulas ...sema.Expr) map[int]bool {
	observer := &command{reads: map[int]bool{}}
	for _, formula := range formulas {
		observer.addReads(formula)
	}
	return observer.reads
}

// isWaitingReward reports whether a reward structure is earned only in states in which no plain command is enabled, as the time of a Markov
// automaton.
func (f *finder) isWaitingReward(reward *sema.RewardStruct) bool {
	return !slices.ContainsFunc(reward.Items, func(item sema.RewardItem) bool {
		return item.IsTransition || !f.isWaiting(f.newCommand(&sema.Command{Guard: item.Guard}))
	})
}

// isWaiting reports whether a command is disabled whenever a plain command is enabled.
func (f *finder) isWaiting(c *command) bool {
	return !slices.ContainsFunc(f.commands, func(other *command) bool {
		return other.isPlain && !c.waitsFor(other) && !areDisjoint(c.parts.intervals, other.parts.intervals)
	})
}

// waitsFor reports whether a command is disabled, according to its text, whenever another one is enabled.
func (c *command) waitsFor(other *command) bool {
	return slices.Contains(c.parts.negated, other.guard) || slices.Contains(c.parts.negated, other.box)
}

// findOrdered finds the ordered commands: plain commands whose guards negate only boxes of other ordered commands. A box gives intervals for some variables.
// The search is repeated until it finds no further ordered command.
func (f *finder) findOrdered() {
	f.isOrdered = make([]bool, len(f.commands))
	orderedBoxes := map[int]bool{}
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for i, c := range f.commands {
			waitsForOthers := slices.ContainsFunc(c.parts.negated, func(negated int) bool { return !orderedBoxes[negated] })
			if f.isOrdered[i] || !c.isPlain || waitsForOthers {
				continue
			}
			f.isOrdered[i], hasChanged = true, true
			orderedBoxes[c.box] = true
		}
	}
}

// newReduction returns the commands that may be executed at once (candidates), and the relations between all commands. A candidate has one certain effect, and
// this effect does not change the variables of the property.
func (f *finder) newReduction(left, right sema.Expr) *Reduction {
	n := len(f.commands)
	r := &Reduction{
		program: f.program, commands: f.commands, left: left, right: right, observed: observedVariables(left, right), candidates: newSet(n), waiting: newSet(n),
		excluded: make([]set, n), dependent: make([]set, n),
	}
	for i, c := range f.commands {
		if f.isWaiting(c) {
			r.waiting.add(i)
		}
		if c.isCertain && len(c.changes[0]) > 0 && !c.writesAny(r.observed) {
			r.candidates.add(i)
		}
	}
	for i := range r.candidates.all() {
		r.excluded[i], r.dependent[i] = newSet(n), newSet(n)
		for j := range f.commands {
			switch {
			case i == j:
			case r.waiting.has(j) || f.excludes(i, j):
				r.excluded[i].add(j)
			case f.isDependent(i, j):
				r.dependent[i].add(j)
			}
		}
	}
	f.addWriters(r)
	return r
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

// excludes reports whether a command is disabled while a candidate waits: while its box holds, and, unless it is ordered, its whole guard.
func (f *finder) excludes(candidate, other int) bool {
	c, o := f.commands[candidate], f.commands[other]
	return areDisjoint(c.parts.intervals, o.parts.intervals) || slices.Contains(o.parts.negated, c.box) ||
		!f.isOrdered[candidate] && slices.Contains(o.parts.negated, c.guard)
}

// isDependent reports whether the order of a candidate and another command may matter, because one may disable the other or their effects do not commute. If
// the candidate is ordered, the other command may enable a command for which the candidate waits: a plain command stays enabled, so this does not count.
func (f *finder) isDependent(candidate, other int) bool {
	c, o := f.commands[candidate], f.commands[other]
	if !c.commutesWith(o) || f.mayLeave(o, c.parts.intervals) || f.mayDisable(c, o) {
		return true
	}
	return !f.isOrdered[candidate] && slices.ContainsFunc(c.parts.negated, func(negated int) bool {
		return f.mayEnter(o, f.reader.conditions[negated].intervals)
	})
}

// commutesWith reports whether a command with one certain effect leads to the same states before and after another command, if both orders are possible.
func (c *command) commutesWith(other *command) bool {
	for slot, by := range c.changes[0] {
		if other.reads[slot] || other.overwritten[slot] {
			return false
		}
		isOpposite := func(changes map[int]int32) bool { return by < 0 && changes[slot] > 0 || by > 0 && changes[slot] < 0 }
		if slices.ContainsFunc(other.changes, isOpposite) { // one order may leave the range of the variable, and the other may not
			return false
		}
	}
	return true
}

// mayDisable reports whether a certain command may disable another one. The variables in other.reads are not considered.
func (f *finder) mayDisable(c, other *command) bool {
	return f.mayLeave(c, other.parts.intervals) || slices.ContainsFunc(other.parts.negated, func(negated int) bool {
		condition := &f.reader.conditions[negated]
		return condition.isBox() && f.mayEnter(c, condition.intervals)
	})
}

// addWriters finds the commands that may lead out of each box, and the commands that may increase or decrease each variable. With these sets, the executor
// finds the commands that may enable a disabled command.
func (f *finder) addWriters(r *Reduction) {
	n := len(f.commands)
	r.conditions = f.reader.conditions
	r.leavers = make([]set, len(r.conditions))
	r.increasing, r.decreasing = newSets(len(f.program.Vars), n), newSets(len(f.program.Vars), n)
	for i, c := range f.commands {
		if !r.waiting.has(i) {
			r.boxes = append(append(r.boxes, c.box), c.parts.negated...)
		}
		for slot := range f.program.Vars {
			if c.overwritten[slot] || slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return changes[slot] > 0 }) {
				r.increasing[slot].add(i)
			}
			if c.overwritten[slot] || slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return changes[slot] < 0 }) {
				r.decreasing[slot].add(i)
			}
		}
	}
	slices.Sort(r.boxes)
	r.boxes = slices.DeleteFunc(slices.Compact(r.boxes), func(index int) bool { return !r.conditions[index].isBox() })
	for _, box := range r.boxes {
		r.leavers[box] = newSet(n)
		for i, c := range f.commands {
			if f.mayLeave(c, r.conditions[box].intervals) {
				r.leavers[box].add(i)
			}
		}
	}
}
