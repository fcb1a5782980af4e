package sema

import (
	"cmp"
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// phase is one of the passes in which PRISM checks a file. PRISM stops at its
// first error, so that errors of an earlier pass come before all others.
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
	phaseSemantic
	phaseTypes
	phaseObservables
	phaseAssignedTwice
	phaseOurs // what PRISM does not check
)

// maxErrors is the number of errors reported for one file.
const maxErrors = 10

// diag is an error found in a pass. Errors of one pass come in the order of
// their units, and else in that in which they were found: property i has unit
// i+1, since properties are resolved when they are first referred to.
type diag struct {
	phase phase
	unit  int
	kind  kind
	err   *syntax.Error
}

// kind tells apart the errors that are none everywhere; zero is any other one.
type kind uint8

const (
	_ kind = iota
	// clockUse is the mention of a clock, which guards, invariants and
	// observables may make.
	clockUse
	// wrongArity is a number of arguments, which PRISM does not look at in
	// formulas that are not used.
	wrongArity
)

// diags collects the errors of one file in any order.
type diags struct {
	file string
	unit int // of the errors to come
	list []diag
	met  int // errors, those that formulas repeat among them
}

func (d *diags) add(p phase, pos syntax.Pos, format string, args ...any) {
	d.met++
	d.list = append(d.list, diag{phase: p, unit: d.unit, err: &syntax.Error{File: d.file, Pos: pos, Msg: fmt.Sprintf(format, args...)}})
}

// has reports whether there is an error of the given pass.
func (d *diags) has(p phase) bool {
	return slices.ContainsFunc(d.list, func(x diag) bool { return x.phase == p })
}

// err returns the errors in the order in which PRISM would find them, at most
// one per place and maxErrors in all, or nil.
func (d *diags) err() error {
	slices.SortStableFunc(d.list, func(a, b diag) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(a.unit, b.unit))
	})
	var out syntax.ErrorList
	seen := make(map[syntax.Pos]bool)
	for _, x := range d.list {
		if x.err.Pos.IsValid() && seen[x.err.Pos] {
			continue
		}
		seen[x.err.Pos] = true
		out = append(out, x.err)
		if len(out) == maxErrors {
			break
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// maxClosed is the number of members up to which firstCycle closes the relation,
// which takes the square of that in memory.
const maxClosed = 2000

// firstCycle returns the member of a dependency cycle that PRISM blames, or -1:
// deps[i] lists what i depends on. PRISM closes the relation step by step and
// takes the lowest index that depends on itself after the fewest steps. With very
// many members it is just one of a cycle.
func firstCycle(deps [][]int) int {
	member := onCycle(deps)
	if member < 0 || len(deps) > maxClosed {
		return member
	}
	n := len(deps)
	reach := make([][]bool, n)
	for i, ds := range deps {
		reach[i] = make([]bool, n)
		for _, d := range ds {
			reach[i][d] = true
		}
	}
	for {
		for i := range n {
			if reach[i][i] {
				return i
			}
		}
		for i := range n {
			for j := range n {
				if reach[i][j] {
					for k, r := range reach[j] {
						reach[i][k] = reach[i][k] || r
					}
				}
			}
		}
	}
}

// onCycle returns a member that depends on itself, directly or not, or -1.
func onCycle(deps [][]int) int {
	const (
		open = iota + 1
		done
	)
	mark := make([]uint8, len(deps))
	var visit func(i int) int
	visit = func(i int) int {
		switch mark[i] {
		case open:
			return i
		case done:
			return -1
		}
		mark[i] = open
		for _, d := range deps[i] {
			if x := visit(d); x >= 0 {
				return x
			}
		}
		mark[i] = done
		return -1
	}
	for i := range deps {
		if x := visit(i); x >= 0 {
			return x
		}
	}
	return -1
}
