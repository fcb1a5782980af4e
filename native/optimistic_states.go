//go:build !js

package native

import (
	"context"
	"time"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/cartesian"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// maxSearchedStates is the largest sum of the numbers of found states over all rounds of an optimistic search: about a minute, if iterations converge fast.
const maxSearchedStates = 50_000_000

// optimisticSearch answers Pmax=? of F or U from the states that optimal schedulers reach. Each round solves the explored part of the model, where every
// unexplored state counts as a target, and explores the unexplored states that some optimal schedulers of this part reach. If one of these schedulers reaches
// none, its value is that of the model. A state is not explored if package cartesian shows that no path from it reaches the target.
//
// Sources: Hansen and Zilberstein, "LAO*: a heuristic search algorithm that finds solutions with loops" (Artificial Intelligence 129, 2001); Steinmetz,
// Hoffmann and Buffet, "Goal probability analysis in probabilistic planning" (JAIR 57, 2016).
type optimisticSearch struct {
	*statesMethod // with narrower bounds
	property      *checkedProperty
	model         *compile.Model
	abstraction   *cartesian.Abstraction // nil if every state may reach the target
}

// newOptimisticSearch returns an optimistic search for a property, or nil if the property or the model is not supported.
func (partial *partialStates) newOptimisticSearch(property *checkedProperty) *optimisticSearch {
	formula, program := logic.FormulaOf(property.Expr), property.Program
	isMDP := program.Type == syntax.MDP && program.Rate == nil
	if !isMDP || !formula.IsMaximalReachability() || !partial.firstStates.Truncates(&property.Instance) {
		return nil
	}
	search := &optimisticSearch{statesMethod: partial.withNarrowerBounds(), property: property, model: partial.model}
	if target, ok := logic.WithoutLabels(program, formula.Path.Right); ok {
		search.abstraction = cartesian.New(program, target)
	}
	return search
}

// check implements refiner.
func (search *optimisticSearch) check(ctx context.Context) (verdict result.Verdict, ok bool) {
	start := time.Now()
	selection, err := explicit.NewSelection(ctx, search.model, search.build, search.cannotReach)
	if err != nil {
		return verdict, false
	}
	defer selection.Close()
	for numSearched := 0; numSearched <= maxSearchedStates; numSearched += selection.NumStates() {
		space, err := selection.Space()
		if err != nil {
			return verdict, false
		}
		explored := search.newExploredModel(space, nil)
		explored.property = search.property
		if !explored.checker.Truncates(&search.property.Instance) { // all states are explored
			return explored.check(ctx, search.property), true
		}
		states, err := explored.checker.NextToExplore(ctx, &search.property.Instance)
		if err != nil {
			return verdict, false
		}
		if len(states) == 0 {
			verdict, width, _ := explored.checker.Truncated(ctx, &search.property.Instance, 1)
			verdict.Seconds = time.Since(start).Seconds()
			return explored.complete(verdict), verdict.Err == nil && width <= boundSharing*search.opt.Epsilon
		}
		if err := exploreAhead(ctx, selection, states); err != nil {
			return verdict, false
		}
	}
	return verdict, false
}

// exploreAhead explores some states of a selection, and then, from each of them, the states of one path. It stops when a tenth more states are explored than
// before, or when all paths have ended: if a round explored few states, the older states would be solved in too many rounds. A path ends in a state in which
// each choice may lead to an excluded state, or to no unexplored one.
func exploreAhead(ctx context.Context, selection *explicit.Selection, states []uint32) error {
	wanted := selection.NumExplored() + selection.NumExplored()/10
	for len(states) > 0 {
		if err := selection.Expand(ctx, states); err != nil {
			return err
		}
		if selection.NumExplored() >= wanted {
			return nil
		}
		states = selection.UnexploredSuccessors(states)
	}
	return nil
}

// cannotReach reports whether the values of the variables exclude that a path from a state reaches the target.
func (search *optimisticSearch) cannotReach(state []int32) bool {
	return search.abstraction != nil && !search.abstraction.MayReach(state)
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

// withNarrowerBounds returns a copy of the method whose Epsilon is divided by boundSharing.
func (method *statesMethod) withNarrowerBounds() *statesMethod {
	narrower := *method
	narrower.opt.Epsilon = method.epsilon() / boundSharing
	return &narrower
}
