package states

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// exactSum returns the exact sum of a command's probabilities in a state, "" if it is 1. It
// returns false if one of them is irrational.
func exactSum(c *sema.Command, state []int32) (string, bool) {
	total := new(big.Rat)
	for _, u := range c.Updates {
		if u.Prob == nil {
			return "", false
		}
		v, err := sema.Enclose(u.Prob, state)
		if err != nil || !v.Exact || v.Rat == nil {
			return "", false
		}
		total.Add(total, v.Rat)
	}
	if total.Cmp(big.NewRat(1, 1)) == 0 {
		return "", true
	}
	if text := strings.TrimRight(total.FloatString(20), "0"); new(big.Rat).Set(total).Cmp(ratOf(text)) == 0 {
		return text, true
	}
	return total.RatString(), true
}

func ratOf(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("found " + text + " for a number, which FloatString does not write")
	}
	return r
}

// report returns the report after the exploration.
func (x *explorer) report(ended bool) *Report {
	r := &Report{States: x.visited}
	switch {
	case ended:
		r.Undecided = fmt.Sprintf("there was no time for more than %d states: guards that never hold, actions that are never ready and labels are not decided, and the other warnings are of the states looked at", x.visited)
	case x.cut:
		r.Limited = true
		r.Undecided = fmt.Sprintf("there are more than %d states: guards that never hold, actions that are never ready and labels are not decided, and the other warnings are of the states looked at", x.visited)
	case x.errorStates > 0:
		r.Undecided = fmt.Sprintf("nothing is known behind %d states in which the model is wrong: guards that never hold, actions that are never ready and labels are not decided", x.errorStates)
	case x.evalError != "":
		r.Undecided = "guards that never hold, actions that are never ready and labels are not decided: " + x.evalError
	case x.visited == 0:
		r.Undecided = "there is no initial state to begin with: " + undecidedKinds
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
		x.addFinding(syntax.Pos{Line: 1, Col: 1}, lint.Deadlock, x.deadlock, "a reachable state has no choice%s", more)
	}
	r.Findings = lint.Sort(x.findings)
	return r
}

// checkNeverHolds reports guards that never held. A text that several modules share is reported
// once if its guard held in none of them.
func (x *explorer) checkNeverHolds() {
	total := make(map[syntax.Pos]int)
	for _, g := range x.all {
		total[g.command.Pos]++
	}
	missing := make(map[syntax.Pos][]*guard)
	for _, g := range x.guards {
		missing[g.command.Pos] = append(missing[g.command.Pos], g)
	}
	for _, g := range x.guards {
		at := g.command.Pos
		switch {
		case lint.IsConst(g.command.Guard, false): // reported by lint.Texts
		case len(missing[at]) == total[at]:
			x.addFinding(at, lint.NeverHolds, "", "the guard holds in none of the %d reachable states", x.visited)
		default:
			x.addFinding(at, lint.NeverHolds, "", "the guard holds in none of the %d reachable states in module %s", x.visited, x.program.Modules[g.module].Name)
		}
	}
}

// checkNeverReady reports commands whose guards hold, but only when other modules are not ready
// for the action.
func (x *explorer) checkNeverReady() {
	takenAt := make(map[syntax.Pos]bool)
	for _, g := range x.all {
		takenAt[g.command.Pos] = takenAt[g.command.Pos] || g.taken
	}
	for _, g := range x.all {
		c := g.command
		if g.held == "" || g.taken || c.Action < 0 || takenAt[c.Pos] {
			continue
		}
		var others []string
		for i, m := range x.program.Modules {
			if i != g.module && slices.Contains(m.Alphabet, c.Action) {
				others = append(others, m.Name)
			}
		}
		if len(others) == 0 || x.isBlocked(g) {
			continue // blocked by a system block or by guards that are false
		}
		x.addFinding(c.Pos, lint.NeverReady, g.held, "the guard holds, but %s never ready for [%s] when it does", are(others), x.program.Actions[c.Action])
	}
}

// isBlocked reports whether another module has the command's action only in commands whose guards
// are constantly false. These are reported elsewhere.
func (x *explorer) isBlocked(g *guard) bool {
	for i, m := range x.program.Modules {
		if i == g.module || !slices.Contains(m.Alphabet, g.command.Action) {
			continue
		}
		possible := slices.ContainsFunc(m.Commands, func(c sema.Command) bool {
			return c.Action == g.command.Action && !lint.IsConst(c.Guard, false)
		})
		commands := slices.ContainsFunc(m.Commands, func(c sema.Command) bool { return c.Action == g.command.Action })
		if commands && !possible {
			return true
		}
	}
	return false
}

func are(names []string) string {
	if len(names) == 1 {
		return "module " + names[0] + " is"
	}
	return "modules " + strings.Join(names, " and ") + " are together"
}

// checkLabels reports labels that hold in all states or in none.
func (x *explorer) checkLabels() {
	for _, l := range x.labels {
		if _, constant := l.def.X.(*sema.Const); constant {
			continue // a constant label is intended
		}
		switch {
		case l.some == "":
			x.addFinding(l.def.X.Pos(), lint.EmptyLabel, "", "label %q holds in none of the %d reachable states", l.def.Name, x.visited)
		case l.none == "" && x.visited > 1:
			x.addFinding(l.def.X.Pos(), lint.FullLabel, "", "label %q holds in all of the %d reachable states", l.def.Name, x.visited)
		}
	}
}
