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

// add records an error of a pass.
func (d *diags) add(phase phase, pos syntax.Pos, format string, args ...any) {
	d.errorCount++
	err := &syntax.Error{File: d.file, Pos: pos, Msg: fmt.Sprintf(format, args...)}
	d.entries = append(d.entries, diag{phase: phase, unit: d.unit, err: err})
}

// has reports whether a pass has an error.
func (d *diags) has(phase phase) bool {
	return slices.ContainsFunc(d.entries, func(entry diag) bool { return entry.phase == phase })
}

// err returns the errors in PRISM's order; nil if there are none. It keeps one error per position, and at most maxErrors.
func (d *diags) err() error {
	slices.SortStableFunc(d.entries, func(first, second diag) int {
		return cmp.Or(cmp.Compare(first.phase, second.phase), cmp.Compare(first.unit, second.unit))
	})
	var errs syntax.ErrorList
	seen := make(map[syntax.Pos]bool)
	for _, entry := range d.entries {
		if entry.err.Pos.IsValid() && seen[entry.err.Pos] {
			continue
		}
		seen[entry.err.Pos] = true
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

// firstCycle returns a member of a dependency cycle; -1 if there is no cycle. Of several members, it returns the one that PRISM reports. deps[i]
// lists the members on which member i depends.
func firstCycle(deps [][]int) int {
	member := memberOfCycle(deps)
	if member < 0 || len(deps) > maxClosureSize { // without a cycle, or too large for the closure
		return member
	}
	// Like PRISM: extend the dependencies step by step, until some member depends on itself.
	for reach := directReach(deps); ; extendReach(reach) {
		for i := range reach {
			if reach[i][i] {
				return i
			}
		}
	}
}

// directReach returns the matrix of the direct dependencies: entry [i][j] is true if deps[i] contains j.
func directReach(deps [][]int) [][]bool {
	reach := make([][]bool, len(deps))
	for i, direct := range deps {
		reach[i] = make([]bool, len(deps))
		for _, dependency := range direct {
			reach[i][dependency] = true
		}
	}
	return reach
}

// extendReach extends the dependencies of each member by the dependencies of the members on which it depends. reach[i][j] is true if i depends on
// j.
func extendReach(reach [][]bool) {
	for i := range reach {
		for middle := range reach {
			if reach[i][middle] {
				addMembers(reach[i], reach[middle])
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
func memberOfCycle(deps [][]int) int {
	search := cycleSearch{deps: deps, isActive: make([]bool, len(deps)), isDone: make([]bool, len(deps))}
	for member := range deps {
		if inCycle := search.visit(member); inCycle >= 0 {
			return inCycle
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
		if inCycle := search.visit(dependency); inCycle >= 0 {
			return inCycle
		}
	}
	search.isDone[member] = true
	return -1
}
