//go:build !js

package native

import (
	"context"
	"time"

	"tilecheck/native/check"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/cartesian"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// maxSearchedStates is the largest sum of the numbers of found states over all rounds of an optimistic search: about a minute.
const maxSearchedStates = 50_000_000

// optimisticSearch answers Pmax=? of F or U from the states that optimal schedulers reach. Each round assumes that every unexplored state reaches the target,
// and explores the unexplored states that some schedulers reach which are optimal then. If such a scheduler reaches none, its value is that of the model.
// States from which no path reaches the target, by the values that their variables can still have, are not explored.
//
// Source: Hansen and Zilberstein, LAO*: a heuristic search algorithm that finds solutions with loops (Artificial Intelligence 129, 2001); Steinmetz,
// Hoffmann and Buffet, Goal probability analysis in probabilistic planning (JAIR 57, 2016).
type optimisticSearch struct {
	*statesMethod // with narrower bounds
	property      *checkedProperty
	first         *partialStates
	abstraction   *cartesian.Abstraction // nil if every state may reach the target
}

// newOptimisticSearch returns an optimistic search for a property, or nil if the property or the model is not supported.
func (partial *partialStates) newOptimisticSearch(property *checkedProperty) *optimisticSearch {
	formula, program := logic.FormulaOf(property.Expr), property.Program
	isMaximum := formula.Kind == logic.Probability && formula.IsQuery() && formula.Extremum == syntax.Max && formula.Path.Reaches()
	if !isMaximum || program.Rate != nil || !partial.firstStates.Truncates(&property.Instance) {
		return nil
	}
	search := &optimisticSearch{statesMethod: partial.narrower(), property: property, first: partial}
	if target, ok := logic.WithoutLabels(program, formula.Path.Right); ok {
		search.abstraction = cartesian.New(program, target)
	}
	return search
}

// check implements refiner.
func (search *optimisticSearch) check(ctx context.Context) (verdict result.Verdict, ok bool) {
	start := time.Now()
	selection, err := explicit.NewSelection(ctx, search.first.model, search.build, search.cannotReach)
	if err != nil {
		return verdict, false
	}
	defer selection.Close()
	for numSearched := 0; numSearched <= maxSearchedStates && ctx.Err() == nil; numSearched += selection.NumStates() {
		space, err := selection.Space()
		if err != nil {
			return verdict, false
		}
		checker := check.New(search.first.model, space, search.opt)
		states, err := checker.NextToExplore(ctx, &search.property.Instance)
		switch {
		case err != nil:
			return verdict, false
		case len(states) == 0:
			verdict, ok = search.answer(ctx, checker)
			verdict.Seconds = time.Since(start).Seconds()
			return verdict, ok
		}
		if err := explore(ctx, selection, states); err != nil {
			return verdict, false
		}
	}
	return verdict, false
}

// explore explores states of a selection, and then goes on along one path from each of them, until the selection has grown by a tenth: otherwise, the states
// that were explored before would be solved too often.
func explore(ctx context.Context, selection *explicit.Selection, states []uint32) error {
	wanted := selection.NumExplored() + selection.NumExplored()/10
	for len(states) > 0 {
		if err := selection.Expand(ctx, states); err != nil {
			return err
		}
		if selection.NumExplored() >= wanted {
			return nil
		}
		states = selection.Ahead(states)
	}
	return nil
}

// cannotReach reports whether the values of the variables exclude that a path from a state reaches the target.
func (search *optimisticSearch) cannotReach(state []int32) bool {
	return search.abstraction != nil && !search.abstraction.MayReach(state)
}

// answer returns the verdict of a checker whose explored states suffice. ok is false if its bounds are too wide.
func (search *optimisticSearch) answer(ctx context.Context, checker *check.Checker) (verdict result.Verdict, ok bool) {
	if !checker.Truncates(&search.property.Instance) { // no state is unexplored
		verdict = checker.Check(ctx, &search.property.Instance)
		return verdict, verdict.Err == nil
	}
	verdict, width, _ := checker.Truncated(ctx, &search.property.Instance, 1)
	return verdict, verdict.Err == nil && width <= boundSharing*search.opt.Epsilon
}

// refiners returns methods that may answer a property of a large model, in the order in which they are tried.
func (partial *partialStates) refiners(property *checkedProperty) (refiners []refiner) {
	if refinement := partial.newRefinement(property); refinement != nil {
		refiners = append(refiners, refinement)
	}
	if search := partial.newOptimisticSearch(property); search != nil {
		refiners = append(refiners, search)
	}
	return refiners
}

// narrower returns the method with bounds that are so narrow that a lower and an upper bound, computed separately, have the wanted distance.
func (method *statesMethod) narrower() *statesMethod {
	narrower := *method
	if narrower.opt.Epsilon == 0 {
		narrower.opt.Epsilon = solve.DefaultEpsilon
	}
	narrower.opt.Epsilon /= boundSharing
	return &narrower
}
