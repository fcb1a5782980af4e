package states

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/internal/ending"
	"tilecheck/internal/noun"
	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// exactSum returns the exact sum of a command's probabilities in a state: a decimal number of at most 20 decimals or else a fraction. It is "" if
// the sum is 1. ok is false if the sum is not known exactly.
func exactSum(command *sema.Command, state []int32) (sum string, ok bool) {
	total := new(big.Rat)
	for _, update := range command.Updates {
		if update.Prob == nil {
			return "", false
		}
		probability, err := sema.Enclose(update.Prob, state)
		if err != nil || !probability.IsExact || probability.Rat == nil {
			return "", false
		}
		total.Add(total, probability.Rat)
	}
	if total.Cmp(big.NewRat(1, 1)) == 0 {
		return "", true
	}
	decimal := strings.TrimRight(total.FloatString(20), "0")
	if parseRat(decimal).Cmp(total) == 0 { // at most 20 decimals
		return decimal, true
	}
	return total.RatString(), true
}

// parseRat parses a decimal number that FloatString has written.
func parseRat(text string) *big.Rat {
	fraction, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("found " + text + ", want a decimal number, which FloatString writes")
	}
	return fraction
}

// makeReport returns the findings of the exploration. endErr is the error of the context if it ended the exploration early; nil otherwise.
func (x *explorer) makeReport(endErr error) *Report {
	undecided := x.whyUndecided(endErr)
	if undecided == "" { // all reachable states were visited without an error
		x.checkNeverHolds()
		x.checkNeverReady()
		x.checkLabels()
	}
	x.checkDeadlocks()
	return &Report{
		Findings:  lint.Sort(x.findings),
		States:    x.visited,
		Undecided: undecided,
		Limited:   x.limitReached && endErr == nil,
	}
}

// whyUndecided returns the reason why findings about all reachable states cannot be decided. It is empty if they can be decided.
func (x *explorer) whyUndecided(endErr error) string {
	const (
		notDecided      = "lint did not look for guards that never hold, actions that are never ready, and labels that are always false or always true"
		theseStatesOnly = ", and other warnings concern these states only"
	)
	switch {
	case endErr != nil:
		return ending.Reason(endErr) + " after " + noun.Count(x.visited, "state") + ": " + notDecided + theseStatesOnly
	case x.limitReached:
		return fmt.Sprintf("there are more than %d states: ", x.visited) + notDecided + theseStatesOnly
	case x.erroneousStates > 0:
		have, their := noun.Verb(x.erroneousStates, "has", "have"), noun.Verb(x.erroneousStates, "its", "their")
		return fmt.Sprintf("%s %s errors, so %s successors are unknown. Therefore ", noun.Count(x.erroneousStates, "state"), have, their) + notDecided
	case x.evalError != "":
		return notDecided + ": " + x.evalError
	case x.visited == 0:
		return "there is no initial state: " + undecidedKinds
	}
	return ""
}

// checkDeadlocks adds a finding about the first deadlock state. The finding also has the number of deadlock states.
func (x *explorer) checkDeadlocks() {
	if x.deadlocks == 0 {
		return
	}
	total := ""
	if x.deadlocks > 1 {
		total = fmt.Sprintf(", the first of %d", x.deadlocks)
	}
	x.addFinding(syntax.Pos{Line: 1, Col: 1}, lint.Deadlock, x.firstDeadlock, "a reachable state has no choice%s", total)
}

// checkNeverHolds adds a finding for each guard that holds in no reachable state.
func (x *explorer) checkNeverHolds() {
	// A renamed module shares the text of its commands, so several guards may have one position.
	numModules := countByPosition(x.allGuards)
	numNotHeld := countByPosition(x.guardsNotHeld)
	for _, guard := range x.guardsNotHeld {
		pos := guard.command.Pos
		switch {
		case lint.IsConst(guard.command.Guard, false): // reported by lint.Texts
		case numNotHeld[pos] == numModules[pos]:
			x.addFinding(pos, lint.NeverHolds, "", "the guard holds in none of the %d reachable states", x.visited)
		default:
			module := x.program.Modules[guard.module].Name
			x.addFinding(pos, lint.NeverHolds, "", "the guard holds in none of the %d reachable states in module %s", x.visited, module)
		}
	}
}

// countByPosition returns the number of guards at each position in the text.
func countByPosition(guards []*guard) map[syntax.Pos]int {
	count := make(map[syntax.Pos]int)
	for _, guard := range guards {
		count[guard.command.Pos]++
	}
	return count
}

// checkNeverReady adds a finding for each command that can never be taken although its guard holds in some state. The reason is that another
// module with the same action never has an enabled command in such a state.
func (x *explorer) checkNeverReady() {
	takenAt := make(map[syntax.Pos]bool) // by the position of a command, which several modules may share
	for _, guard := range x.allGuards {
		takenAt[guard.command.Pos] = takenAt[guard.command.Pos] || guard.taken
	}
	for _, guard := range x.allGuards {
		command := guard.command
		if guard.heldIn == "" || takenAt[command.Pos] || command.Action < 0 {
			continue
		}
		partners := x.otherModulesWithAction(guard)
		if len(partners) == 0 || x.isBlocked(guard) {
			continue // the system block or a constantly false guard prevents the command
		}
		x.addFinding(command.Pos, lint.NeverReady, guard.heldIn, "the guard holds, but %s never ready for [%s] when it does",
			subjectAndVerb(partners), x.program.Actions[command.Action])
	}
}

// otherModulesWithAction returns the names of the other modules with the action of this guard's command.
func (x *explorer) otherModulesWithAction(guard *guard) []string {
	var names []string
	for i, module := range x.program.Modules {
		if i != guard.module && slices.Contains(module.Alphabet, guard.command.Action) {
			names = append(names, module.Name)
		}
	}
	return names
}

// isBlocked reports whether another module disables the action of this guard's command in all states.
func (x *explorer) isBlocked(guard *guard) bool {
	for i, module := range x.program.Modules {
		if i != guard.module && isAlwaysDisabled(&module, guard.command.Action) {
			return true
		}
	}
	return false
}

// isAlwaysDisabled reports whether a module has commands with an action, and the guards of all these commands are constantly false.
func isAlwaysDisabled(module *sema.Module, action int) bool {
	hasAction := false
	for _, command := range module.Commands {
		if command.Action != action {
			continue
		}
		if !lint.IsConst(command.Guard, false) {
			return false
		}
		hasAction = true
	}
	return hasAction
}

// subjectAndVerb returns "module a is" or "modules a and b are together", for a message.
func subjectAndVerb(names []string) string {
	if len(names) == 1 {
		return "module " + names[0] + " is"
	}
	return "modules " + strings.Join(names, " and ") + " are together"
}

// checkLabels reports labels that hold in all reachable states or in none.
func (x *explorer) checkLabels() {
	for _, label := range x.labels {
		_, isConstant := label.def.Expr.(*sema.Const)
		switch {
		case isConstant: // the author knows this
		case label.holdsIn == "":
			x.addFinding(label.def.Expr.Pos(), lint.EmptyLabel, "", "label %q holds in none of the %d reachable states", label.def.Name, x.visited)
		case label.failsIn == "" && x.visited > 1:
			x.addFinding(label.def.Expr.Pos(), lint.FullLabel, "", "label %q holds in all of the %d reachable states", label.def.Name, x.visited)
		}
	}
}
