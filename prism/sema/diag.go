package sema

import (
	"cmp"
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// phase is a pass of PRISM over a file. PRISM stops at the first error, so errors of earlier passes are reported first.
type phase uint8

// The passes in PRISM's order.
//
// Source: ModulesFile.tidyUp and PropertiesFile.tidyUp of PRISM 4.10.
const (
	phaseFile phase = iota
	phaseFormulaNames
	phaseFormulaCycles
	phaseRenaming
	phaseLabelNames
	phaseModuleNames
	phaseConstNames
	phaseConstCycles
	phasePropertyNames
	phaseVariables
	phaseAssigned
	phasePropertyCycles
	phaseRewardNames
	phaseSystem
	phaseActions
	phaseModelType
	phasePlayers // of PRISM-games
	phaseSemantic
	phaseTypes
	phaseObservables
	phaseAssignedTwice
	phaseOurs // checks that PRISM does not make
)

// maxErrors is the number of errors reported for one file.
const maxErrors = 10

// diag is an error of a pass. The errors of a pass are sorted by unit, then in the order of discovery. Property i has unit i+1.
type diag struct {
	phase phase
	unit  int
	kind  kind
	err   *syntax.Error
}

// kind marks errors that are ignored in some places; zero is every other error.
type kind uint8

const (
	_ kind = iota
	// clockUse is a reference to a clock, which is allowed in guards, invariants and observables.
	clockUse
	// wrongArity is a wrong number of arguments, which PRISM ignores in unused formulas.
	wrongArity
)

// diags collects the errors of one file, in any order.
type diags struct {
	file    string
	unit    int // the unit of the next errors
	entries []diag
	// errorCount counts errors, including those that a formula repeats at each use.
	errorCount int
}

// addError records an error of a pass.
func (d *diags) addError(phase phase, pos syntax.Pos, format string, args ...any) {
	d.errorCount++
	err := &syntax.Error{File: d.file, Pos: pos, Msg: fmt.Sprintf(format, args...)}
	d.entries = append(d.entries, diag{phase: phase, unit: d.unit, err: err})
}

// hasErrorsOf reports whether a pass has an error.
func (d *diags) hasErrorsOf(phase phase) bool {
	return slices.ContainsFunc(d.entries, func(entry diag) bool { return entry.phase == phase })
}

// err returns the errors in PRISM's order; nil if there are none. It keeps one error per position, and at most maxErrors.
func (d *diags) err() error {
	slices.SortStableFunc(d.entries, func(first, second diag) int {
		return cmp.Or(cmp.Compare(first.phase, second.phase), cmp.Compare(first.unit, second.unit))
	})
	var errs syntax.ErrorList
	hasErrorAt := make(map[syntax.Pos]bool)
	for _, entry := range d.entries {
		if entry.err.Pos.IsValid() && hasErrorAt[entry.err.Pos] {
			continue
		}
		hasErrorAt[entry.err.Pos] = true
		errs = append(errs, entry.err)
		if len(errs) == maxErrors {
			break
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// maxClosureSize is the largest number of members for which firstCycle computes the transitive closure, in quadratic memory.
const maxClosureSize = 2000

// firstCycle returns a member of a dependency cycle; -1 if there is no cycle. Of several members, it returns the one that PRISM reports. dependencies[i]
// lists the members on which member i depends.
func firstCycle(dependencies [][]int) int {
	member := memberOfCycle(dependencies)
	if member < 0 || len(dependencies) > maxClosureSize { // no cycle, or too many members for the quadratic memory of the closure
		return member
	}
	// Like PRISM: extend the dependencies step by step, until some member depends on itself.
	for reachable := directReach(dependencies); ; extendReach(reachable) {
		for i := range reachable {
			if reachable[i][i] {
				return i
			}
		}
	}
}

// directReach returns the matrix of the direct dependencies: entry [i][j] is true if dependencies[i] contains j.
func directReach(dependencies [][]int) [][]bool {
	reachable := make([][]bool, len(dependencies))
	for i, direct := range dependencies {
		reachable[i] = make([]bool, len(dependencies))
		for _, dependency := range direct {
			reachable[i][dependency] = true
		}
	}
	return reachable
}

// extendReach extends the dependencies of each member by the dependencies of the members on which it depends. reachable[i][j] is true if i depends on
// j.
func extendReach(reachable [][]bool) {
	for i := range reachable {
		for via := range reachable {
			if reachable[i][via] {
				addMembers(reachable[i], reachable[via])
			}
		}
	}
}

// addMembers adds the members of a set to another set.
func addMembers(set, added []bool) {
	for member, isAdded := range added {
		set[member] = set[member] || isAdded
	}
}

// memberOfCycle returns a member that depends on itself, directly or indirectly; -1 if there is none.
func memberOfCycle(dependencies [][]int) int {
	search := cycleSearch{deps: dependencies, isActive: make([]bool, len(dependencies)), isDone: make([]bool, len(dependencies))}
	for member := range dependencies {
		if cycleMember := search.visit(member); cycleMember >= 0 {
			return cycleMember
		}
	}
	return -1
}

// cycleSearch is a depth-first search for a cycle of dependencies.
type cycleSearch struct {
	deps     [][]int
	isActive []bool // the search is among the dependencies of the member
	isDone   []bool // no cycle can be reached from the member
}

// visit searches for a cycle among the members on which a member depends, directly or indirectly. It returns a member of the cycle; -1 if there
// is none.
func (search *cycleSearch) visit(member int) int {
	switch {
	case search.isDone[member]:
		return -1
	case search.isActive[member]:
		return member
	}
	search.isActive[member] = true
	for _, dependency := range search.deps[member] {
		if cycleMember := search.visit(dependency); cycleMember >= 0 {
			return cycleMember
		}
	}
	search.isDone[member] = true
	return -1
}
