package solve

import (
	"context"
	"math"

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
	game  *Game
	sys   *system
	eps   float64
	meter *meter
	// strategy has, for each maybe state of the maximizer, the last choice that raised its lower bound. The values of this strategy
	// are at least the lower bounds. Other entries do not change.
	strategy []uint32
	// endComponents are the sets of the current component whose upper bounds are lowered.
	endComponents [][]uint32
	currentSet    *sparse.Set // the states of one of them
}

// maxGameSweeps is the number of sweeps over a component after which strategy improvement takes over.
const maxGameSweeps = 4000

func newDeflation(game *Game, sys *system, strategy []uint32, opts Options) *deflation {
	return &deflation{game: game, sys: sys, eps: opts.epsilon(), strategy: strategy, currentSet: sparse.NewSet(game.graph.NumStates())}
}

// solve narrows the bounds of the maybe states, component by component.
func (bounds *deflation) solve(ctx context.Context, opts Options) error {
	sys := bounds.sys
	for s := range sys.maybe.All() {
		sys.values.Upper[s] = 1
	}
	components := sys.graph.Components(sys.maybe, nil)
	cyclic := sys.cyclicComponents(components)
	bounds.eps /= float64(sys.cyclicDepth(components, cyclic))
	bounds.meter = newMeter(ctx, opts, len(components.States))
	for i := range components.Num() {
		members := components.Members(i)
		if len(members) == 1 {
			bounds.update(int(members[0]), sys.optimalBounds(int(members[0])))
		} else if err := bounds.solveComponent(ctx, members, min(opts.maxSweeps(), maxGameSweeps)); err != nil {
			return err
		}
		bounds.meter.progress.Done += len(members)
		if err := bounds.meter.addWork(len(members)); err != nil {
			return err
		}
	}
	sys.values.Sweeps += bounds.meter.progress.Sweeps
	return nil
}

// withMinimizer returns the strategy with choices of the minimizer that are best for the upper bounds. One
// step with them raises no upper bound, so they attain these bounds.
func (bounds *deflation) withMinimizer() []uint32 {
	bounds.sys.oneStep = true
	defer func() { bounds.sys.oneStep = false }()
	for s := range bounds.sys.maybe.Minus(bounds.game.maximizer).All() {
		bounds.strategy[s] = bounds.sys.optimalBounds(s).choice
	}
	return bounds.strategy
}

// solveComponent narrows the bounds of a component with several states, until they are narrow enough or the limit of sweeps is
// reached.
func (bounds *deflation) solveComponent(ctx context.Context, members []uint32, limit int) error {
	values := bounds.sys.values
	part := bounds.newPart(members)
	bounds.endComponents = nil
	for sweep := 1; ; sweep++ {
		if part != nil && (isPowerOfTwo(sweep) || sweep%256 == 0) {
			if err := bounds.findEndComponents(ctx, part); err != nil {
				return err
			}
		}
		work, changed, tooWide := bounds.sweep(members)
		bounds.meter.progress.Sweeps++
		if err := bounds.meter.addWork(2 * work); err != nil {
			return err
		}
		switch {
		case !tooWide:
			return nil
		case sweep >= limit || !changed && !isPowerOfTwo(sweep): // without new end components, nothing changes any more
			values.Converged = false
			return nil
		}
	}
}

// sweep applies the equations to the lower and upper bounds of the states, and deflates the end components. It returns the
// number of transitions that it evaluated, and reports whether a bound changed and whether some bounds are still too wide.
func (bounds *deflation) sweep(members []uint32) (work int, changed, tooWide bool) {
	sys, values := bounds.sys, bounds.sys.values
	for _, s := range members {
		changed = bounds.update(int(s), sys.optimalBounds(int(s))) || changed
		first, end := sys.graph.Choices(int(s))
		work += int(sys.graph.Start[end] - sys.graph.Start[first])
	}
	for _, set := range bounds.endComponents {
		changed = bounds.deflate(set) || changed
	}
	for _, s := range members {
		if lower, upper := values.Lower[s], values.Upper[s]; upper-lower > bounds.eps*upper {
			tooWide = true
			break
		}
	}
	return work, changed, tooWide
}

// update replaces the bounds of a state by the bounds of its best choices if these are narrower. It reports whether a bound
// changed.
func (bounds *deflation) update(s int, best bestBounds) (changed bool) {
	values := bounds.sys.values
	if best.choice == sparse.None {
		return false
	}
	if best.lower > values.Lower[s] {
		values.Lower[s], changed = best.lower, true
		if bounds.game.maximizer.Has(s) {
			bounds.strategy[s] = best.choice
		}
	}
	if best.upper < values.Upper[s] {
		values.Upper[s], changed = best.upper, true
	}
	return changed
}

// deflate lowers the upper bounds of a set of states to the upper bound of the best choice with which the maximizer can
// leave the set. It reports whether a bound changed.
func (bounds *deflation) deflate(set []uint32) (changed bool) {
	for _, s := range set {
		bounds.currentSet.Add(int(s))
	}
	exit := bounds.bestExit(set)
	for _, s := range set {
		bounds.currentSet.Remove(int(s))
		if bounds.sys.values.Upper[s] > exit {
			bounds.sys.values.Upper[s], changed = exit, true
		}
	}
	return changed
}

// bestExit returns the greatest upper bound of a choice with which the maximizer can leave the set, at most 1, or 0 if there is
// none. bounds.currentSet must have the same states.
func (bounds *deflation) bestExit(set []uint32) float64 {
	exit := 0.0
	for _, s := range set {
		if !bounds.game.maximizer.Has(int(s)) {
			continue
		}
		first, end := bounds.sys.graph.Choices(int(s))
		for c := first; c < end; c++ {
			if !bounds.game.staysIn(c, bounds.currentSet) {
				exit = max(exit, bounds.sys.evaluateChoice(int(s), c).upper)
			}
		}
	}
	return min(exit, 1)
}

// componentPart is the model of the choices that stay in a component. Its states are the members of the component.
type componentPart struct {
	members     []uint32 // the state of the graph for each state of the model
	model       *sparse.Model
	graphChoice []uint32 // the choice of the graph for each choice of the model
}

// newPart returns the model of the choices that stay in a component: all their successors are members of it. It returns nil if there
// are no such choices.
func (bounds *deflation) newPart(members []uint32) *componentPart {
	graph := bounds.sys.graph
	number := make(map[uint32]uint32, len(members))
	for i, s := range members {
		number[s] = uint32(i)
	}
	result := &componentPart{members: members, model: &sparse.Model{Kind: sparse.MDP}}
	for _, s := range members {
		result.model.First = append(result.model.First, uint32(len(result.graphChoice)))
		first, end := graph.Choices(int(s))
		for c := first; c < end; c++ {
			result.addChoice(graph, c, number)
		}
	}
	result.model.First = append(result.model.First, uint32(len(result.graphChoice)))
	result.model.Start = append(result.model.Start, uint32(len(result.model.Target)))
	if len(result.graphChoice) == 0 {
		return nil
	}
	return result
}

// addChoice adds a choice of the graph if all its targets are members. number has the number of each member in the part.
func (part *componentPart) addChoice(graph *sparse.Graph, c int, number map[uint32]uint32) {
	start := len(part.model.Target)
	for _, target := range graph.Target[graph.Start[c]:graph.Start[c+1]] {
		member, isMember := number[target]
		if !isMember {
			part.model.Target = part.model.Target[:start]
			return
		}
		part.model.Target = append(part.model.Target, member)
	}
	part.model.Start = append(part.model.Start, uint32(start))
	part.graphChoice = append(part.graphChoice, uint32(c))
}

// findEndComponents finds the end components in which the minimizer uses only choices that are best for the lower bounds. It
// does so for several tolerances, because the bounds of choices with equal values can differ for many sweeps.
func (bounds *deflation) findEndComponents(ctx context.Context, part *componentPart) error {
	bounds.endComponents = bounds.endComponents[:0]
	for _, tolerance := range []float64{0, bounds.eps / 16, math.Sqrt(bounds.eps)} {
		allowed := sparse.NewSet(len(part.graphChoice))
		for i, s := range part.members {
			bounds.allowChoices(allowed, part, i, int(s), tolerance)
		}
		endComponents, err := part.model.EndComponents(ctx, nil, allowed)
		if err != nil {
			return err
		}
		for number := range endComponents.Num() {
			var set []uint32
			for _, i := range endComponents.Members(number) {
				set = append(set, part.members[i])
			}
			bounds.endComponents = append(bounds.endComponents, set)
		}
		if err := bounds.meter.addWork(len(part.model.Target)); err != nil {
			return err
		}
	}
	return nil
}

// allowChoices adds the allowed choices of state s, which has the given index in part: all choices if the maximizer owns s, and
// otherwise the choices that are optimal for the lower bounds up to a relative tolerance.
func (bounds *deflation) allowChoices(allowed *sparse.Set, part *componentPart, index, s int, tolerance float64) {
	isMaximizer := bounds.game.maximizer.Has(s)
	limit := bounds.sys.optimalBounds(s).lower * (1 + tolerance)
	for choice := part.model.First[index]; choice < part.model.First[index+1]; choice++ {
		if isMaximizer || bounds.sys.evaluateChoice(s, int(part.graphChoice[choice])).lower <= limit {
			allowed.Add(int(choice))
		}
	}
}
