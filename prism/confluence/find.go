package confluence

import (
	"maps"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxCommands is the largest number of commands that are compared with each other.
const maxCommands = 4096

// Find returns the commands of an MDP or a Markov automaton that can be executed at once, as long as one of them is enabled and in any order,
// without changing the probability of `left U right`, also within a time, or the time until right holds. left is nil for F.
//
// A step never disables another one, unless both have the same effect. Steps change nothing that other commands read, and other commands do
// not disable them. Steps end: some variables count them. So all orders of the steps of a state, and of steps between other commands, lead
// to the same states. Priorities only decide the order, as every command that a step has to wait for stays enabled beside the step.
// A step may make right true if every immediate command ends and keeps it true. It returns nil for other programs and if there are no steps.
func Find(program *sema.Program, left, right sema.Expr) []Step {
	isSupported := program.Type == syntax.MDP && program.System == nil && !program.Parametric
	if !isSupported || !isStateFormula(right) || left != nil && !isStateFormula(left) {
		return nil
	}
	finder := &finder{program: program, right: conjunction{ranges: map[int]Range{}}}
	if !finder.readCommands() {
		return nil
	}
	finder.observe(left, right)
	finder.findPriorities()
	for finder.removeOne() {
	}
	return finder.steps()
}

// isStateFormula reports whether an expression has no labels and no operators of properties.
func isStateFormula(expr sema.Expr) bool {
	return sema.Every(expr, func(operand sema.Expr) bool {
		switch operand.(type) {
		case *sema.Const, *sema.Var, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
			return true
		}
		return false
	})
}

// finder decides which commands are steps.
type finder struct {
	program  *sema.Program
	commands []*command
	// observed has the variables of the property. A step that writes one must keep right true; right is a conjunction of ranges, if mayReach is set.
	observed map[int]bool
	right    conjunction
	mayReach bool
}

// readCommands takes all commands apart. It returns false if they are too many or too large.
func (f *finder) readCommands() bool {
	reader := &guardReader{program: f.program}
	for i := range f.program.Modules {
		module := &f.program.Modules[i]
		if module.Invariant != nil || len(f.commands)+len(module.Commands) > maxCommands {
			return false
		}
		for j := range module.Commands {
			f.commands = append(f.commands, reader.newCommand(&module.Commands[j]))
		}
	}
	return reader.nodes <= maxNodes
}

// observe sets the variables of the property.
func (f *finder) observe(left, right sema.Expr) {
	property := &command{reads: map[int]bool{}}
	reader := &guardReader{program: f.program}
	if left != nil {
		property.addReads(left)
	}
	property.addReads(right)
	reader.add(&f.right, right, false)
	f.mayReach = left == nil && len(f.right.others) == 0 && len(f.right.inhibitors) == 0
	f.observed = property.reads
}

// findPriorities finds the commands that are meant by the inhibitors of each guard. A command with other inhibitors reads their variables, and
// is no step.
func (f *finder) findPriorities() {
	withRanges := map[string][]int{}
	for i, command := range f.commands {
		if len(command.guard.others) == 0 {
			key := command.guard.key()
			withRanges[key] = append(withRanges[key], i)
		}
	}
	// First the inhibitors that are ranges, then those that have inhibitors of their own.
	for _, command := range f.commands {
		for i := range command.guard.inhibitors {
			inhibitor := &command.guard.inhibitors[i]
			if len(inhibitor.inhibitors) > 0 || len(inhibitor.others) > 0 {
				continue
			}
			for _, other := range withRanges[inhibitor.key()] {
				command.above[other] = true
				command.inhibitors[other] = true
			}
		}
	}
	for _, command := range f.commands {
		for i := range command.guard.inhibitors {
			f.findInhibitor(command, &command.guard.inhibitors[i], withRanges)
		}
	}
}

// findInhibitor adds the commands that imply an inhibitor of a command. If there are none, or if the inhibitor says more than the
// ranges of a command, then the command reads its variables.
func (f *finder) findInhibitor(command *command, inhibitor *conjunction, withRanges map[string][]int) {
	candidates := withRanges[inhibitor.key()]
	isPriority := len(candidates) > 0 && len(inhibitor.others) == 0 && len(inhibitor.inhibitors) == 0
	if isPriority {
		return
	}
	command.isStep, command.isPlain = false, false
	command.addConjunctionReads(inhibitor)
	if len(inhibitor.others) > 0 {
		return
	}
	above, areKnown := f.aboveOf(inhibitor, withRanges)
	for _, other := range candidates {
		if areKnown && isSubset(above, f.commands[other].above) {
			command.inhibitors[other] = true
		}
	}
}

// aboveOf returns the commands that are meant by the inhibitors of an inhibitor. ok is false if one of them is not meant by ranges.
func (f *finder) aboveOf(inhibitor *conjunction, withRanges map[string][]int) (above map[int]bool, ok bool) {
	above = map[int]bool{}
	for i := range inhibitor.inhibitors {
		inner := &inhibitor.inhibitors[i]
		meant := withRanges[inner.key()]
		if len(inner.others) > 0 || len(inner.inhibitors) > 0 || len(meant) == 0 {
			return nil, false
		}
		for _, command := range meant {
			above[command] = true
		}
	}
	return above, true
}

// addConjunctionReads adds the variables of a conjunction to those that the command reads.
func (c *command) addConjunctionReads(guard *conjunction) {
	for slot := range guard.ranges {
		c.reads[slot] = true
	}
	for _, other := range guard.others {
		c.addReads(other)
	}
	for i := range guard.inhibitors {
		c.addConjunctionReads(&guard.inhibitors[i])
	}
}

// isSubset reports whether a set contains another one.
func isSubset(subset, set map[int]bool) bool {
	for element := range subset {
		if !set[element] {
			return false
		}
	}
	return true
}

// removeOne removes commands from the steps that contradict the conditions of Find. It reports whether it removed any.
func (f *finder) removeOne() bool {
	waits := f.waitingCommands()
	removed := map[int]bool{}
	for i, step := range f.commands {
		if !step.isStep {
			continue
		}
		for j, other := range f.commands {
			switch {
			case i == j || waits[j]:
			case other.isStep && !f.areConfluent(step, other):
				removed[i], removed[j] = true, true
			case !other.isStep && !f.isIndependent(step, other):
				removed[i] = true
			}
		}
	}
	f.removeUnordered(removed)
	if len(removed) == 0 {
		f.removeEndless(waits, removed)
	}
	for i := range removed {
		f.commands[i].isStep = false
	}
	return len(removed) > 0
}

// waitingCommands returns the commands that are enabled only if no step is, even without priorities: the races of Markov automata.
func (f *finder) waitingCommands() map[int]bool {
	required := map[int]bool{}
	for i, step := range f.commands {
		if step.isStep {
			required[i] = true
			maps.Copy(required, step.above)
		}
	}
	waits := map[int]bool{}
	for i, command := range f.commands {
		waits[i] = !command.isStep && len(required) > 0 && f.waitsFor(command, required)
	}
	return waits
}

// waitsFor reports whether a command is disabled whenever one of some commands is enabled.
func (f *finder) waitsFor(command *command, others map[int]bool) bool {
	for i := range others {
		if !command.inhibitors[i] && !command.excludes(f.commands[i]) {
			return false
		}
	}
	return true
}

// areConfluent reports whether the order of two steps does not matter in any state in which both are enabled.
func (f *finder) areConfluent(step, other *command) bool {
	if step.excludes(other) || maps.Equal(step.changes[0], other.changes[0]) {
		return true
	}
	return step.keepsEnabled(f.program, other) && other.keepsEnabled(f.program, step)
}

// isIndependent reports whether a step changes nothing that another command reads, and stays enabled when that command is executed.
func (f *finder) isIndependent(step, other *command) bool {
	for slot := range step.changes[0] {
		if other.reads[slot] || other.overwritten[slot] {
			return false
		}
	}
	return step.keepsEnabled(f.program, other)
}

// removeUnordered adds the steps to removed whose priorities may block them forever, or let a command wait for a step in vain. A command that
// waits for a step also waits for everything that the step waits for.
func (f *finder) removeUnordered(removed map[int]bool) {
	for i, command := range f.commands {
		if command.isStep && !f.isOrdered(command) {
			removed[i] = true
		}
		for above := range command.above {
			if step := f.commands[above]; step.isStep && !isSubset(step.above, command.above) {
				removed[above] = true
			}
		}
	}
}

// isOrdered reports whether one of the commands that a step waits for is enabled whenever the step has to wait.
func (f *finder) isOrdered(step *command) bool {
	for i := range step.above {
		if !f.commands[i].isPlain || !f.hasHigherPriority(f.commands[i], step) {
			return false
		}
		for j := range f.commands[i].above {
			if !f.hasHigherPriority(f.commands[j], f.commands[i]) {
				return false
			}
		}
	}
	return true
}

// hasHigherPriority reports whether a command waits only for some of the commands that another one waits for. No cycle of commands has
// this property.
func (f *finder) hasHigherPriority(command, other *command) bool {
	return len(command.above) < len(other.above) && isSubset(command.above, other.above)
}

// removeEndless adds the steps to removed that may be executed without end, and those that write variables of the property without
// keeping right true.
func (f *finder) removeEndless(waits, removed map[int]bool) {
	var steps, all []int
	for i, command := range f.commands {
		if command.isStep {
			steps = append(steps, i)
		}
		if !waits[i] {
			all = append(all, i)
		}
	}
	for _, i := range f.endless(steps) {
		removed[i] = true
	}
	mayReach := f.mayReach && len(f.endless(all)) == 0 && !slices.ContainsFunc(all, func(i int) bool {
		return !f.commands[i].isStep && f.writesObserved(f.commands[i])
	})
	for _, i := range steps {
		step := f.commands[i]
		property := &command{guard: f.right}
		if f.writesObserved(step) && !(mayReach && property.keepsEnabled(f.program, step)) {
			removed[i] = true
		}
	}
}

// writesObserved reports whether a command writes a variable of the property.
func (f *finder) writesObserved(command *command) bool {
	for slot := range f.observed {
		if command.writes(slot) {
			return true
		}
	}
	return false
}

// endless returns the commands that remain after removing those that count up or down a variable that the remaining ones do not change in
// the other direction. If none remain, only finitely many commands can be executed one after the other.
func (f *finder) endless(commands []int) []int {
	for {
		rising, falling := f.monotoneVariables(commands)
		remaining := slices.DeleteFunc(slices.Clone(commands), func(i int) bool {
			return f.commands[i].counts(rising, 1) || f.commands[i].counts(falling, -1)
		})
		if len(remaining) == len(commands) {
			return remaining
		}
		commands = remaining
	}
}

// monotoneVariables returns the bounded variables that no command decreases, and those that no command increases.
func (f *finder) monotoneVariables(commands []int) (rising, falling map[int]bool) {
	rising, falling = map[int]bool{}, map[int]bool{}
	for slot := range f.program.Vars {
		if variable := &f.program.Vars[slot]; variable.Bounded || variable.Type == sema.Bool {
			rising[slot], falling[slot] = true, true
		}
	}
	for _, i := range commands {
		for slot := range f.commands[i].overwritten {
			delete(rising, slot)
			delete(falling, slot)
		}
		for _, changes := range f.commands[i].changes {
			for slot, by := range changes {
				if by > 0 {
					delete(falling, slot)
				} else {
					delete(rising, slot)
				}
			}
		}
	}
	return rising, falling
}

// counts reports whether every update of a command changes one of some variables in a direction.
func (c *command) counts(variables map[int]bool, direction int32) bool {
	return !slices.ContainsFunc(c.changes, func(changes map[int]int32) bool {
		for slot, by := range changes {
			if variables[slot] && by*direction > 0 {
				return false
			}
		}
		return true
	})
}

// steps returns the commands that are steps.
func (f *finder) steps() []Step {
	var steps []Step
	for _, command := range f.commands {
		if !command.isStep {
			continue
		}
		var step Step
		for _, slot := range slices.Sorted(maps.Keys(command.guard.ranges)) {
			step.Guard = append(step.Guard, command.guard.ranges[slot])
		}
		for _, slot := range slices.Sorted(maps.Keys(command.changes[0])) {
			step.Changes = append(step.Changes, Change{slot, command.changes[0][slot]})
		}
		steps = append(steps, step)
	}
	return steps
}
