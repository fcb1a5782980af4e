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

// exactSum returns the sum of a command's probabilities in a state, empty if it is 1; it
// reports false where one of them is no fraction.
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

// report says what was found once all states were looked at.
func (x *explorer) report(ended bool) *Report {
	r := &Report{States: x.visited}
	switch {
	case ended:
		r.Undecided = fmt.Sprintf("there was no time for more than %d states: guards that never hold, actions that are never ready and labels are not decided, and the other warnings are of the states looked at", x.visited)
	case x.cut:
		r.Limited = true
		r.Undecided = fmt.Sprintf("there are more than %d states: guards that never hold, actions that are never ready and labels are not decided, and the other warnings are of the states looked at", x.visited)
	case x.broken > 0:
		r.Undecided = fmt.Sprintf("nothing is known behind %d states in which the model is wrong: guards that never hold, actions that are never ready and labels are not decided", x.broken)
	case x.unsure != "":
		r.Undecided = "guards that never hold, actions that are never ready and labels are not decided: " + x.unsure
	case x.visited == 0:
		r.Undecided = "there is no initial state to begin with: " + ofAll
	default:
		x.neverHolds()
		x.neverReady()
		x.ofLabels()
	}
	if x.deadlocks > 0 {
		more := ""
		if x.deadlocks > 1 {
			more = fmt.Sprintf(", the first of %d", x.deadlocks)
		}
		x.found(syntax.Pos{Line: 1, Col: 1}, lint.Deadlock, x.deadlock, "a reachable state has no choice%s", more)
	}
	r.Findings = lint.Sort(x.findings)
	return r
}

// neverHolds tells of guards that have not held: once for a text that several modules have
// if it is so in all of them.
func (x *explorer) neverHolds() {
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
		case lint.IsConst(g.command.Guard, false): // said without states
		case len(missing[at]) == total[at]:
			x.found(at, lint.NeverHolds, "", "the guard holds in none of the %d reachable states", x.visited)
		default:
			x.found(at, lint.NeverHolds, "", "the guard holds in none of the %d reachable states in module %s", x.visited, x.program.Modules[g.module].Name)
		}
	}
}

// neverReady tells of commands whose guards hold, but never when the other modules are ready
// for their action.
func (x *explorer) neverReady() {
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
		if len(others) == 0 || x.blocked(g) {
			continue // a system block keeps it from happening, or a guard that is false
		}
		x.found(c.Pos, lint.NeverReady, g.held, "the guard holds, but %s never ready for [%s] when it does", are(others), x.program.Actions[c.Action])
	}
}

// blocked reports whether another module has the action of a command only in commands whose guards
// are false whatever the state, of which the texts say enough.
func (x *explorer) blocked(g *guard) bool {
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

// ofLabels tells of labels that hold everywhere or nowhere.
func (x *explorer) ofLabels() {
	for _, l := range x.labels {
		if _, constant := l.def.X.(*sema.Const); constant {
			continue // it was meant
		}
		switch {
		case l.some == "":
			x.found(l.def.X.Pos(), lint.EmptyLabel, "", "label %q holds in none of the %d reachable states", l.def.Name, x.visited)
		case l.none == "" && x.visited > 1:
			x.found(l.def.X.Pos(), lint.FullLabel, "", "label %q holds in all of the %d reachable states", l.def.Name, x.visited)
		}
	}
}
