package solve

import (
	"context"
	"math/big"

	"tilecheck/native/space/sparse"
)

// supportGame is the graph game of an interval model. Nature picks the support of a distribution: it may leave out a transition whose lower
// interval end is 0, if a distribution on the other targets lies within their intervals. So the graph depends on nature. The helpers,
// which are the scheduler, nature, both or none, try to reach a set of states; the others try to avoid it.
//
// Source: Chatterjee and Henzinger, A survey of stochastic omega-regular games (2012), section 3.1; Chen, Han and Kwiatkowska, On the
// complexity of model checking interval-valued discrete time Markov chains (2013).
type supportGame struct {
	graph                       *sparse.Graph
	optional                    *sparse.Set // the choices with a transition whose lower interval end is 0
	choices                     *sparse.Set // the helpers may use these choices only; nil for all
	schedulerHelps, natureHelps bool
}

// newSupportGame returns the game in which those who optimise in the direction helper are the helpers.
func newSupportGame(graph *sparse.Graph, dir, helper Direction) *supportGame {
	return &supportGame{
		graph: graph, optional: optionalChoices(graph.Model),
		schedulerHelps: dir.Scheduler() == helper, natureHelps: dir.nature() == helper,
	}
}

// optionalChoices returns the choices with a transition whose lower interval end is 0.
func optionalChoices(model *sparse.Model) *sparse.Set {
	choices := sparse.NewSet(model.NumChoices())
	for choice := range model.NumChoices() {
		first, end := model.Transitions(choice)
		for transition := first; transition < end; transition++ {
			if model.Fraction(transition).Sign() == 0 {
				choices.Add(choice)
				break
			}
		}
	}
	return choices
}

// canStayIn reports whether nature has a distribution for a choice that stays in the states that satisfy isInside.
func (game *supportGame) canStayIn(choice int, isInside func(target int) bool) bool {
	model, isOptional := game.graph.Model, game.optional.Has(choice)
	upperSum := new(big.Rat)
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		switch {
		case isInside(int(model.Target[transition])):
			if isOptional {
				upperSum.Add(upperSum, model.HighFraction(transition))
			}
		case !isOptional || model.Fraction(transition).Sign() > 0:
			return false
		}
	}
	return !isOptional || upperSum.Cmp(big.NewRat(1, 1)) >= 0
}

// attractedStates returns the states from which the helpers can reach right through left with positive probability without leaving the
// region. Unless strategy is nil, it gets a choice for each of these states outside of right.
func (game *supportGame) attractedStates(left, right, region *sparse.Set, strategy []uint32) *sparse.Set {
	found := right.Intersect(region)
	var queue []uint32
	for s := range found.All() {
		queue = append(queue, uint32(s))
	}
	for i := 0; i < len(queue); i++ { // the loop appends to the queue
		for _, choice := range game.graph.Into(int(queue[i])) {
			s := game.graph.Owner(choice)
			isCandidate := left.Has(s) && region.Has(s) && !found.Has(s)
			if !isCandidate || !game.attractsState(s, int(choice), found, region) {
				continue
			}
			if strategy != nil {
				strategy[s] = choice
			}
			found.Add(s)
			queue = append(queue, uint32(s))
		}
	}
	return found
}

// attractsState reports whether the helpers can ensure a positive probability to go from state s to a found state in one step. If the scheduler helps, the
// given choice must lead to a found state; otherwise every choice of the state must.
func (game *supportGame) attractsState(s, choice int, found, region *sparse.Set) bool {
	if game.schedulerHelps {
		return game.leadsTo(choice, found, region)
	}
	first, end := game.graph.Choices(s)
	for choice := first; choice < end; choice++ {
		if !game.leadsTo(choice, found, region) {
			return false
		}
	}
	return true
}

// leadsTo reports whether nature's distribution for a choice stays in the region and gives found states a positive probability. If nature helps, one such
// distribution suffices; otherwise all distributions must have this property.
func (game *supportGame) leadsTo(choice int, found, region *sparse.Set) bool {
	if game.choices != nil && !game.choices.Has(choice) {
		return false
	}
	if !game.natureHelps {
		return staysIn(game.graph, choice, region) && !game.canStayIn(choice, func(target int) bool { return !found.Has(target) })
	}
	first, end := game.graph.Transitions(choice)
	for _, target := range game.graph.Target[first:end] {
		if found.Has(int(target)) {
			return game.canStayIn(choice, region.Has)
		}
	}
	return false
}

// almostSureStates returns the states from which the helpers can reach right through left with probability 1. Unless strategy is nil, it gets
// a choice for each of these states outside of right.
func (game *supportGame) almostSureStates(ctx context.Context, left, right *sparse.Set, strategy []uint32) (*sparse.Set, error) {
	region := sparse.FullSet(game.graph.NumStates())
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		states := game.attractedStates(left, right, region, nil)
		if states.Count() == region.Count() {
			game.attractedStates(left, right, region, strategy)
			return region, nil
		}
		region = states
	}
}
