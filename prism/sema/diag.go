package sema

import (
	"cmp"
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// phase is one of the passes in which PRISM checks a file. PRISM stops at the first error, so errors
// of earlier passes are reported first.
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

// diag is an error found in a pass. Errors of one pass are sorted by unit, then by the order in
// which they were found. Property i has unit i+1, because properties are resolved when they are
// first referred to.
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

// err returns the errors in the order in which PRISM would find them: at most one per position and
// maxErrors in total; nil if there are none.
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

// maxClosureSize is the largest number of members for which firstCycle computes the transitive closure,
// which takes quadratic memory.
const maxClosureSize = 2000

// firstCycle returns the member of a dependency cycle that PRISM reports; -1 if there is no cycle.
// deps[i] lists the members on which i depends. PRISM computes the transitive closure step by step,
// and reports the lowest index that depends on itself after the fewest steps. With more than
// maxClosureSize members the result is any member of a cycle.
func firstCycle(deps [][]int) int {
	member := memberOfCycle(deps)
	if member < 0 || len(deps) > maxClosureSize {
		return member
	}
	reach := make([][]bool, len(deps))
	for i, direct := range deps {
		reach[i] = make([]bool, len(deps))
		for _, dependency := range direct {
			reach[i][dependency] = true
		}
	}
	for {
		for i := range reach {
			if reach[i][i] {
				return i
			}
		}
		extendReach(reach)
	}
}

// extendReach adds, to each member, the members that it reaches through another one.
func extendReach(reach [][]bool) {
	for i := range reach {
		for middle := range reach {
			if !reach[i][middle] {
				continue
			}
			for target, reachable := range reach[middle] {
				reach[i][target] = reach[i][target] || reachable
			}
		}
	}
}

// memberOfCycle returns a member that depends on itself, directly or indirectly; -1 if there is none.
// It is a depth-first search.
func memberOfCycle(deps [][]int) int {
	const (
		visiting = iota + 1
		done
	)
	status := make([]uint8, len(deps))
	var visit func(member int) int
	visit = func(member int) int {
		switch status[member] {
		case visiting:
			return member
		case done:
			return -1
		}
		status[member] = visiting
		for _, dependency := range deps[member] {
			if found := visit(dependency); found >= 0 {
				return found
			}
		}
		status[member] = done
		return -1
	}
	for member := range deps {
		if found := visit(member); found >= 0 {
			return found
		}
	}
	return -1
}
