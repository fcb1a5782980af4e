package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// deflation is bounded value iteration of a game. It solves one strongly connected component after the other, successors first. The
// lower bounds grow from 0 and the upper bounds shrink from 1. In an end component, upper bounds can support each other forever. So
// they are lowered to the best exit of the maximizer.
//
// This is right for every set of states in which each state of the minimizer has a choice that stays in the set: the minimizer can stay
// until the maximizer leaves. The choice of the sets only decides how fast the bounds meet. They are the end components of the choices
// of the minimizer that are best for the lower bounds.
//
// Source: Kelmendi, Kraemer, Kretinsky and Weininger, Value iteration for simple stochastic games:
// stopping criterion and learning algorithm (CAV 2018), algorithms 1 and 2.
type deflation struct {
	game    *Game
	system  *equationSystem
	epsilon float64
	meter   *meter
	// strategy has, for each maybe state of the maximizer, the last choice that raised its lower bound. The values of this strategy
	// are at least the lower bounds. Other entries do not change.
	strategy []uint32
	// endComponents are the sets of the current component whose upper bounds are lowered.
	endComponents [][]uint32
	currentSet    *sparse.Set // the states of one of them
}

// maxGameSweeps is the number of sweeps over a component after which strategy improvement takes over.
const maxGameSweeps = 4000

func newDeflation(game *Game, system *equationSystem, strategy []uint32, opts Options) *deflation {
	return &deflation{game: game, system: system, epsilon: opts.epsilon(), strategy: strategy, currentSet: sparse.NewSet(game.graph.NumStates())}
}

// solve narrows the bounds of the maybe states, whose value graph analysis does not decide, to a relative width of epsilon. It solves one strongly connected
// component after the other, successors first.
func (bounds *deflation) solve(ctx context.Context, opts Options) error {
	system := bounds.system
	for state := range system.maybe.All() {
		system.values.Upper[state] = 1
	}
	components := system.graph.Components(system.maybe, nil)
	cyclic := system.cyclicComponents(components)
	bounds.epsilon /= float64(system.cyclicDepth(components, cyclic))
	bounds.meter = newMeter(ctx, opts, len(components.States))
	for i := range components.Num() {
		members := components.Members(i)
		if len(members) == 1 {
			bounds.tightenBounds(int(members[0]), system.optimalBounds(int(members[0])))
		} else if err := bounds.solveComponent(ctx, members, min(opts.maxSweeps(), maxGameSweeps)); err != nil {
			return err
		}
		bounds.meter.progress.Done += len(members)
		if err := bounds.meter.addWork(len(members)); err != nil {
			return err
		}
	}
	system.values.Sweeps += bounds.meter.progress.Sweeps
	return nil
}

// withMinimizer completes the strategy with choices of the minimizer that are optimal for the upper bounds. One step with these choices raises no upper
// bound, so the minimizer attains the upper bounds.
func (bounds *deflation) withMinimizer() []uint32 {
	bounds.system.isOneStep = true
	defer func() { bounds.system.isOneStep = false }()
	for state := range bounds.system.maybe.Minus(bounds.game.maximizer).All() {
		bounds.strategy[state] = bounds.system.optimalBounds(state).choice
	}
	return bounds.strategy
}

// solveComponent repeats sweeps over a component until its bounds are narrow enough, or until the limit of sweeps is reached. The end components in which
// the minimizer may stay depend on the bounds, so it searches them again after some of the sweeps.
func (bounds *deflation) solveComponent(ctx context.Context, members []uint32, limit int) error {
	const maxSweepsBetweenSearches = 256
	values := bounds.system.values
	submodel := bounds.newSubMDP(members)
	bounds.endComponents = nil
	for sweep := 1; ; sweep++ {
		if submodel != nil && (isPowerOfTwo(sweep) || sweep%maxSweepsBetweenSearches == 0) {
			if err := bounds.findEndComponents(ctx, submodel); err != nil {
				return err
			}
		}
		work, changed, tooWide := bounds.sweep(members)
		bounds.meter.progress.Sweeps++
		if err := bounds.meter.addWork(2 * work); err != nil {
			return err
		}
		if !tooWide {
			return nil
		}
		isStuck := !changed && !isPowerOfTwo(sweep) // no bound changes any more, and the end components were not searched in this sweep
		if isStuck || sweep >= limit {
			values.Converged = false
			return nil
		}
	}
}

// sweep updates the bounds of all members once, and deflates the end components. It returns the number of evaluated transitions (work), whether a bound
// changed, and whether the bounds of some member are still too wide.
func (bounds *deflation) sweep(members []uint32) (work int, changed, tooWide bool) {
	system, values := bounds.system, bounds.system.values
	for _, state := range members {
		changed = bounds.tightenBounds(int(state), system.optimalBounds(int(state))) || changed
		first, end := system.graph.Choices(int(state))
		work += int(system.graph.FirstTransition[end] - system.graph.FirstTransition[first])
	}
	for _, set := range bounds.endComponents {
		changed = bounds.deflate(set) || changed
	}
	isTooWide := func(state uint32) bool {
		return values.Upper[state]-values.Lower[state] > bounds.epsilon*values.Upper[state]
	}
	return work, changed, slices.ContainsFunc(members, isTooWide)
}

// tightenBounds narrows the bounds of a state to those of its best choices, and reports whether a bound changed. If the lower bound rises in a state of the
// maximizer, the strategy gets the choice that raised it.
func (bounds *deflation) tightenBounds(state int, best bestBounds) (changed bool) {
	values := bounds.system.values
	if best.choice == sparse.None {
		return false
	}
	if best.lower > values.Lower[state] {
		values.Lower[state], changed = best.lower, true
		if bounds.game.maximizer.Has(state) {
			bounds.strategy[state] = best.choice
		}
	}
	if best.upper < values.Upper[state] {
		values.Upper[state], changed = best.upper, true
	}
	return changed
}

// deflate lowers the upper bounds of the states of an end component to the greatest upper bound of an exit of the maximizer, because the value is 0 if the
// play stays there forever. It reports whether a bound changed.
func (bounds *deflation) deflate(set []uint32) (changed bool) {
	addStates(bounds.currentSet, set)
	exitBound := bounds.bestExit(set)
	for _, state := range set {
		bounds.currentSet.Remove(int(state))
		if bounds.system.values.Upper[state] > exitBound {
			bounds.system.values.Upper[state], changed = exitBound, true
		}
	}
	return changed
}

// bestExit returns the greatest upper bound of the maximizer's choices that can leave a set of states, or 0 if there is no such choice. bounds.currentSet
// must contain the states of set.
func (bounds *deflation) bestExit(set []uint32) float64 {
	exitBound := 0.0
	for _, state := range set {
		if !bounds.game.maximizer.Has(int(state)) {
			continue
		}
		first, end := bounds.system.graph.Choices(int(state))
		for choice := first; choice < end; choice++ {
			if !bounds.game.staysIn(choice, bounds.currentSet) {
				exitBound = max(exitBound, bounds.system.evaluateChoice(int(state), choice).upper)
			}
		}
	}
	return min(exitBound, 1)
}

// subMDP is the model of the choices that stay in a component. Its states are the members of the component.
type subMDP struct {
	members     []uint32 // the state of the graph for each state of the model
	model       *sparse.Model
	graphChoice []uint32 // the choice of the graph for each choice of the model
}

// newSubMDP returns the MDP with the given states and with those choices that cannot leave them. It returns nil if there is no such choice.
func (bounds *deflation) newSubMDP(members []uint32) *subMDP {
	graph := bounds.system.graph
	memberIndex := make(map[uint32]uint32, len(members))
	for i, state := range members {
		memberIndex[state] = uint32(i)
	}
	result := &subMDP{members: members, model: &sparse.Model{Kind: sparse.MDP}}
	for _, state := range members {
		result.model.FirstChoice = append(result.model.FirstChoice, uint32(len(result.graphChoice)))
		first, end := graph.Choices(int(state))
		for choice := first; choice < end; choice++ {
			result.addChoice(graph, choice, memberIndex)
		}
	}
	// The last elements of FirstChoice and FirstTransition end the last state and the last choice.
	result.model.FirstChoice = append(result.model.FirstChoice, uint32(len(result.graphChoice)))
	result.model.FirstTransition = append(result.model.FirstTransition, uint32(len(result.model.Target)))
	if len(result.graphChoice) == 0 {
		return nil
	}
	return result
}

// addChoice adds a choice of the graph to the sub-MDP if all its targets are members. memberIndex has the state of the sub-MDP for each member.
func (submodel *subMDP) addChoice(graph *sparse.Graph, choice int, memberIndex map[uint32]uint32) {
	start := len(submodel.model.Target)
	for _, target := range graph.Target[graph.FirstTransition[choice]:graph.FirstTransition[choice+1]] {
		member, isMember := memberIndex[target]
		if !isMember { // the choice can leave the members, so remove its targets again
			submodel.model.Target = submodel.model.Target[:start]
			return
		}
		submodel.model.Target = append(submodel.model.Target, member)
	}
	submodel.model.FirstTransition = append(submodel.model.FirstTransition, uint32(start))
	submodel.graphChoice = append(submodel.graphChoice, uint32(choice))
}

// findEndComponents stores the end components in which play may stay in bounds.endComponents. The maximizer may use all choices of the sub-MDP, and the
// minimizer only those with the least lower bounds.
func (bounds *deflation) findEndComponents(ctx context.Context, submodel *subMDP) error {
	bounds.endComponents = bounds.endComponents[:0]
	// The lower bounds of choices with equal values can differ for many sweeps. So the minimizer is also allowed choices with nearly the least bound.
	for _, tolerance := range []float64{0, bounds.epsilon / 16, math.Sqrt(bounds.epsilon)} {
		allowed := sparse.NewSet(len(submodel.graphChoice))
		for i := range submodel.members {
			bounds.allowChoices(allowed, submodel, i, tolerance)
		}
		endComponents, err := submodel.model.EndComponents(ctx, nil, allowed)
		if err != nil {
			return err
		}
		for i := range endComponents.Num() {
			bounds.endComponents = append(bounds.endComponents, submodel.graphStates(endComponents.Members(i)))
		}
		if err := bounds.meter.addWork(len(submodel.model.Target)); err != nil {
			return err
		}
	}
	return nil
}

// graphStates converts states of the sub-MDP to states of the graph.
func (submodel *subMDP) graphStates(subStates []uint32) []uint32 {
	var result []uint32
	for _, subState := range subStates {
		result = append(result, submodel.members[subState])
	}
	return result
}

// allowChoices adds choices of a state of the sub-MDP to the set allowed. If the state belongs to the maximizer, these are all its choices. If it belongs to
// the minimizer, these are the choices whose lower bound exceeds the least lower bound by at most the relative tolerance.
func (bounds *deflation) allowChoices(allowed *sparse.Set, submodel *subMDP, subState int, tolerance float64) {
	state := int(submodel.members[subState])
	isMaximizer := bounds.game.maximizer.Has(state)
	leastLower := bounds.system.optimalBounds(state).lower
	greatestAllowed := leastLower * (1 + tolerance)
	for choice := submodel.model.FirstChoice[subState]; choice < submodel.model.FirstChoice[subState+1]; choice++ {
		graphChoice := int(submodel.graphChoice[choice])
		if isMaximizer || bounds.system.evaluateChoice(state, graphChoice).lower <= greatestAllowed {
			allowed.Add(int(choice))
		}
	}
}
