package states

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// exactSum returns the exact sum of a command's probabilities in a state as text, "" if it is 1. It
// returns false if the sum is not known exactly.
func exactSum(command *sema.Command, state []int32) (string, bool) {
	total := new(big.Rat)
	for _, update := range command.Updates {
		if update.Prob == nil {
			return "", false
		}
		probability, err := sema.Enclose(update.Prob, state)
		if err != nil || !probability.Exact || probability.Rat == nil {
			return "", false
		}
		total.Add(total, probability.Rat)
	}
	if total.Cmp(big.NewRat(1, 1)) == 0 {
		return "", true
	}
	decimal := strings.TrimRight(total.FloatString(20), "0")
	if parseRat(decimal).Cmp(total) == 0 {
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

// report returns the result of the exploration. interrupted says that its context ended. Findings about
// all reachable states are only made if all states were visited without an error.
func (x *explorer) report(interrupted bool) *Report {
	report := &Report{States: x.visited}
	switch {
	case interrupted:
		report.Undecided = fmt.Sprintf("the check was interrupted after %s: guards that never hold, actions that are never ready and labels were not decided, and other warnings concern these states only", noun.Count(x.visited, "state"))
	case x.limitReached:
		report.Limited = true
		report.Undecided = fmt.Sprintf("there are more than %d states: guards that never hold, actions that are never ready and labels were not decided, and other warnings concern these states only", x.visited)
	case x.erroneousStates > 0:
		report.Undecided = fmt.Sprintf("%d states have errors, so that their successors are unknown: guards that never hold, actions that are never ready and labels were not decided", x.erroneousStates)
	case x.evalError != "":
		report.Undecided = "guards that never hold, actions that are never ready and labels were not decided: " + x.evalError
	case x.visited == 0:
		report.Undecided = "there is no initial state: " + undecidedKinds
	default:
		x.checkNeverHolds()
		x.checkNeverReady()
		x.checkLabels()
	}
	if x.deadlocks > 0 {
		more := ""
		if x.deadlocks > 1 {
			more = fmt.Sprintf(", the first of %d", x.deadlocks)
		}
		x.addFinding(syntax.Pos{Line: 1, Col: 1}, lint.Deadlock, x.firstDeadlock, "a reachable state has no choice%s", more)
	}
	report.Findings = lint.Sort(x.findings)
	return report
}

// checkNeverHolds reports guards that held in no state. Several modules may share a command's text: it
// is reported once if its guard held in none of them.
func (x *explorer) checkNeverHolds() {
	modulesWith := make(map[syntax.Pos]int)
	for _, guard := range x.allGuards {
		modulesWith[guard.command.Pos]++
	}
	neverHolds := make(map[syntax.Pos][]*guard)
	for _, guard := range x.unheldGuards {
		neverHolds[guard.command.Pos] = append(neverHolds[guard.command.Pos], guard)
	}
	for _, guard := range x.unheldGuards {
		pos := guard.command.Pos
		switch {
		case lint.IsConst(guard.command.Guard, false): // reported by lint.Texts
		case len(neverHolds[pos]) == modulesWith[pos]:
			x.addFinding(pos, lint.NeverHolds, "", "the guard holds in none of the %d reachable states", x.visited)
		default:
			x.addFinding(pos, lint.NeverHolds, "", "the guard holds in none of the %d reachable states in module %s", x.visited, x.program.Modules[guard.module].Name)
		}
	}
}

// checkNeverReady reports commands whose guards hold in some state, but never together with guards of
// the other modules that have the same action.
func (x *explorer) checkNeverReady() {
	takenAt := make(map[syntax.Pos]bool) // several modules may share a command
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
			continue // the system block, or guards that are constantly false, prevent the command
		}
		x.addFinding(command.Pos, lint.NeverReady, guard.heldIn, "the guard holds, but %s never ready for [%s] when it does", subjectAndVerb(partners), x.program.Actions[command.Action])
	}
}

// otherModulesWithAction returns the names of the other modules that have the action of a command in their
// alphabets.
func (x *explorer) otherModulesWithAction(guard *guard) []string {
	var names []string
	for i, module := range x.program.Modules {
		if i != guard.module && slices.Contains(module.Alphabet, guard.command.Action) {
			names = append(names, module.Name)
		}
	}
	return names
}

// isBlocked reports whether another module has the command's action only in commands whose guards
// are constantly false. These are reported elsewhere.
func (x *explorer) isBlocked(guard *guard) bool {
	for i, module := range x.program.Modules {
		if i != guard.module && isAlwaysDisabled(&module, guard.command.Action) {
			return true
		}
	}
	return false
}

// isAlwaysDisabled reports whether a module has commands with an action, and the guards of all of them are constantly false.
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
		if _, isConstant := label.def.X.(*sema.Const); isConstant {
			continue // a constant label is intended
		}
		switch {
		case label.holdsIn == "":
			x.addFinding(label.def.X.Pos(), lint.EmptyLabel, "", "label %q holds in none of the %d reachable states", label.def.Name, x.visited)
		case label.failsIn == "" && x.visited > 1:
			x.addFinding(label.def.X.Pos(), lint.FullLabel, "", "label %q holds in all of the %d reachable states", label.def.Name, x.visited)
		}
	}
}
