package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// deflation is bounded value iteration of a game. It solves one strongly connected component after the
// other, successors first. The lower bounds grow from 0 and the upper bounds shrink from 1. In an end
// component, upper bounds can support each other forever; so they are lowered to the best exit of the
// maximizer.
//
// This is right for any set of states in which the minimizer has, in each of its states, a choice that
// stays in the set: it can stay until the maximizer leaves. Which sets are used only decides how fast the
// bounds meet: those of the choices of the minimizer that are best for the lower bounds.
//
// Source: Kelmendi, Kraemer, Kretinsky and Weininger, Value iteration for simple stochastic games:
// stopping criterion and learning algorithm (CAV 2018), algorithms 1 and 2.
type deflation struct {
	game  *Game
	sys   *system
	eps   float64
	meter *meter
	// strategy has the choice of each maybe state of the maximizer that raised its lower bound last: the
	// value of this strategy is at least the lower bounds. Other entries do not change.
	strategy []uint32
	// endComponents are the sets of the current component whose upper bounds are lowered.
	endComponents [][]uint32
	inside        *sparse.Set // the states of one of them
}

// maxGameSweeps is the number of sweeps over a component after which strategy improvement takes over.
const maxGameSweeps = 4000

func newDeflation(game *Game, sys *system, strategy []uint32, opts Options) *deflation {
	return &deflation{game: game, sys: sys, eps: opts.epsilon(), strategy: strategy, inside: sparse.NewSet(game.graph.NumStates())}
}

// solve computes bounds for the maybe states.
func (bounds *deflation) solve(ctx context.Context, opts Options) error {
	sys := bounds.sys
	for s := range sys.maybe.All() {
		sys.values.Upper[s] = 1
	}
	comps := sys.graph.Components(sys.maybe, nil)
	cyclic := sys.cyclicComponents(comps)
	bounds.eps /= float64(sys.cyclicDepth(comps, cyclic))
	bounds.meter = newMeter(ctx, opts, len(comps.States))
	for i := range comps.Num() {
		members := comps.Members(i)
		if len(members) == 1 {
			bounds.update(int(members[0]), sys.optimum(int(members[0])))
		} else if err := bounds.component(ctx, members, min(opts.maxSweeps(), maxGameSweeps)); err != nil {
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
func (d *deflation) withMinimizer() []uint32 {
	d.sys.oneStep = true
	defer func() { d.sys.oneStep = false }()
	for s := range d.sys.maybe.Minus(d.game.maximizer).All() {
		d.strategy[s] = d.sys.optimum(s).choice
	}
	return d.strategy
}

// component solves a component with several states.
func (bounds *deflation) component(ctx context.Context, members []uint32, limit int) error {
	values := bounds.sys.values
	part := bounds.newPart(members)
	bounds.endComponents = nil
	for sweep := 1; ; sweep++ {
		if part != nil && (sweep&(sweep-1) == 0 || sweep%256 == 0) {
			if err := bounds.findEndComponents(ctx, part); err != nil {
				return err
			}
		}
		work, changed, wide := bounds.sweep(members)
		bounds.meter.progress.Sweeps++
		if err := bounds.meter.addWork(2 * work); err != nil {
			return err
		}
		switch {
		case !wide:
			return nil
		case sweep >= limit || !changed && sweep&(sweep-1) != 0:
			values.Converged = false
			return nil
		}
	}
}

// sweep applies the equations to both bounds of the states, and deflates.
func (bounds *deflation) sweep(members []uint32) (work int, changed, wide bool) {
	sys, values := bounds.sys, bounds.sys.values
	for _, s := range members {
		changed = bounds.update(int(s), sys.optimum(int(s))) || changed
		first, end := sys.graph.Choices(int(s))
		work += int(sys.graph.Start[end] - sys.graph.Start[first])
	}
	for _, set := range bounds.endComponents {
		changed = bounds.deflate(set) || changed
	}
	for _, s := range members {
		if lower, upper := values.Lower[s], values.Upper[s]; upper-lower > bounds.eps*upper {
			wide = true
			break
		}
	}
	return work, changed, wide
}

// update narrows the bounds of a state to those of its best choices. It reports whether that changed any.
func (bounds *deflation) update(s int, b bestBounds) (changed bool) {
	values := bounds.sys.values
	if b.choice == sparse.None {
		return false
	}
	if b.lower > values.Lower[s] {
		values.Lower[s], changed = b.lower, true
		if bounds.game.maximizer.Has(s) {
			bounds.strategy[s] = b.choice
		}
	}
	if b.upper < values.Upper[s] {
		values.Upper[s], changed = b.upper, true
	}
	return changed
}

// deflate lowers the upper bounds of a set of states to that of the best exit of the maximizer. It
// reports whether that changed any.
func (bounds *deflation) deflate(set []uint32) (changed bool) {
	for _, s := range set {
		bounds.inside.Add(int(s))
	}
	exit := bounds.bestExit(set)
	for _, s := range set {
		bounds.inside.Remove(int(s))
		if bounds.sys.values.Upper[s] > exit {
			bounds.sys.values.Upper[s], changed = exit, true
		}
	}
	return changed
}

// bestExit returns the greatest upper bound of a choice of the maximizer that can leave the set bounds.inside, at most 1.
func (bounds *deflation) bestExit(set []uint32) float64 {
	exit := 0.0
	for _, s := range set {
		if !bounds.game.maximizer.Has(int(s)) {
			continue
		}
		first, end := bounds.sys.graph.Choices(int(s))
		for c := first; c < end; c++ {
			if !bounds.game.stays(c, bounds.inside) {
				exit = max(exit, bounds.sys.evaluateChoice(int(s), c).upper)
			}
		}
	}
	return min(exit, 1)
}

// part is a component as a model of its own: the choices that stay in it.
type part struct {
	members []uint32 // the state of each number
	model   *sparse.Model
	origin  []uint32 // the choice of each choice
}

// newPart returns the part of the members; nil if no choice stays in it.
func (bounds *deflation) newPart(members []uint32) *part {
	graph := bounds.sys.graph
	number := make(map[uint32]uint32, len(members))
	for i, s := range members {
		number[s] = uint32(i)
	}
	p := &part{members: members, model: &sparse.Model{Kind: sparse.MDP}}
	for _, s := range members {
		p.model.First = append(p.model.First, uint32(len(p.origin)))
		first, end := graph.Choices(int(s))
		for c := first; c < end; c++ {
			p.addChoice(graph, c, number)
		}
	}
	p.model.First = append(p.model.First, uint32(len(p.origin)))
	p.model.Start = append(p.model.Start, uint32(len(p.model.Target)))
	if len(p.origin) == 0 {
		return nil
	}
	return p
}

// addChoice adds a choice of the graph if all its targets are members. number has the number of each member in the part.
func (p *part) addChoice(graph *sparse.Graph, c int, number map[uint32]uint32) {
	start := len(p.model.Target)
	for _, target := range graph.Target[graph.Start[c]:graph.Start[c+1]] {
		k, isMember := number[target]
		if !isMember {
			p.model.Target = p.model.Target[:start]
			return
		}
		p.model.Target = append(p.model.Target, k)
	}
	p.model.Start, p.origin = append(p.model.Start, uint32(start)), append(p.origin, uint32(c))
}

// findEndComponents finds the end components of the part if the minimizer makes only choices that are
// best for the lower bounds, once exactly and once up to a small difference: bounds of choices with the
// same value can differ for a long time.
func (bounds *deflation) findEndComponents(ctx context.Context, p *part) error {
	bounds.endComponents = bounds.endComponents[:0]
	for _, tolerance := range []float64{0, bounds.eps / 16, math.Sqrt(bounds.eps)} {
		allowed := sparse.NewSet(len(p.origin))
		for i, s := range p.members {
			bounds.allow(allowed, p, i, int(s), tolerance)
		}
		ends, err := p.model.EndComponents(ctx, nil, allowed)
		if err != nil {
			return err
		}
		for k := range ends.Num() {
			var set []uint32
			for _, i := range ends.Members(k) {
				set = append(set, p.members[i])
			}
			bounds.endComponents = append(bounds.endComponents, set)
		}
		if err := bounds.meter.addWork(len(p.model.Target)); err != nil {
			return err
		}
	}
	return nil
}

// allow adds the choices of a state: all of the maximizer, those within the tolerance of the minimizer.
func (bounds *deflation) allow(allowed *sparse.Set, p *part, i, s int, tolerance float64) {
	limit := math.Inf(1)
	if !bounds.game.maximizer.Has(s) {
		limit = bounds.sys.optimum(s).lower * (1 + tolerance)
	}
	for k := p.model.First[i]; k < p.model.First[i+1]; k++ {
		if math.IsInf(limit, 1) || bounds.sys.evaluateChoice(s, int(p.origin[k])).lower <= limit {
			allowed.Add(int(k))
		}
	}
}
