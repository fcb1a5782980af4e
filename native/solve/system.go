package solve

import (
	"math"

	"tilecheck/native/space/sparse"
)

// system is a system of equations, one for each open state s:
//
//	x(s) = opt over choices c of  reward(s) + reward(c) + sum over t of p(c,t) x(t)
//
// The other states have values already. If a scheduler can stay in open states
// forever without reward, ecs has the end components in which it can. Each of
// them is treated as one state, and staying in it has value 0.
//
// Rates are handled as probabilities: rows are divided by their sums.
type system struct {
	g       *sparse.Graph
	min     bool
	// maximizer has the states of a game in which the choice maximizes; in the others it minimizes. nil
	// for other models, where min counts.
	maximizer *sparse.Set
	prob    bool // values are at most 1
	open    *sparse.Set
	choices *sparse.Set    // the allowed choices; nil for all
	reward  *sparse.Reward // nil for none
	ecs     *sparse.EndComponents
	// step says that the equations describe one step: transitions from a state to
	// itself count like others.
	step  bool
	round rounding
	v     *Values
	trace *stepScheduler // of the steps; nil when no scheduler is asked for
	drift *drift         // of rewards, skips steps; nil if every step is taken
	limit stepLimit      // skips steps; nil if every step is taken

	sum, term, part fraction // scratch of exact computations
}

func newSystem(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*system, error) {
	if opts.Exact && (!g.Exact() || r != nil && (r.State != nil && r.StateRat == nil || r.Choice != nil && r.ChoiceRat == nil)) {
		return nil, ErrNotExact
	}
	round := newRounding(g.Model, r)
	round.grid = opts.Grid
	return &system{g: g, min: dir == Min, reward: r, round: round, v: newValues(g.Model, opts)}, nil
}

// exact reports whether the values are exact. The bounds are then the nearest
// float64, and only guide the computation.
func (sys *system) exact() bool { return sys.v.Exact != nil }

// ec returns the end component of a state, sparse.None for none.
func (sys *system) ec(s int) uint32 {
	if sys.ecs == nil {
		return sparse.None
	}
	return sys.ecs.ID[s]
}

// usable reports whether choice c of an open state is allowed, and does not stay
// in an end component of ecs.
func (sys *system) usable(c int) bool {
	return (sys.choices == nil || sys.choices.Has(c)) && (sys.ecs == nil || !sys.ecs.Choices.Has(c))
}

// choiceBounds are bounds on the value of a choice. leaves is false if it only
// leads back to its state.
type choiceBounds struct {
	lo, hi float64
	leaves bool
}

// minimizes reports whether the choice in state s minimizes.
func (sys *system) minimizes(s int) bool {
	if sys.maximizer == nil {
		return sys.min
	}
	return !sys.maximizer.Has(s)
}

// eval returns bounds on the value of choice c of state s, whose other successors have values.
func (sys *system) eval(s, c int) choiceBounds {
	m, ownEC := sys.g.Model, sys.ec(s)
	reward := sys.reward.OfChoice(s, c)
	lo, hi, sum := reward, reward, 0.0
	least, most := math.Inf(1), 0.0
	first, end := m.Row(c)
	returns := false
	for i := first; i < end; i++ {
		t, w := int(m.Target[i]), m.Prob(i)
		if !sys.step && (t == s || ownEC != sparse.None && sys.ecs.ID[t] == ownEC) {
			returns = true
			continue
		}
		l, u := sys.v.Lower[t], sys.v.Upper[t]
		lo += w * l
		hi += w * u
		sum += w
		least, most = min(least, l), max(most, u)
	}
	if sum == 0 {
		return choiceBounds{}
	}
	if returns || m.Kind == sparse.CTMC {
		lo, hi = sys.round.quotient(lo, hi, sum)
	}
	if most > 0 { // even if its products underflow
		hi = max(hi, sys.round.floor)
	}
	e := sys.round.sumErr(end - first + 1)
	lo, hi = sys.round.floorToGrid(sys.round.down(lo, e)), sys.round.up(hi, e)
	if reward == 0 { // a mean of the targets' values
		lo, hi = max(lo, least), min(hi, most)
	}
	return choiceBounds{lo, hi, true}
}

// state sets the value of an open state whose other successors have values. It
// returns the number of transitions of the state.
func (sys *system) state(s int) int {
	b := sys.optimum(s)
	if b.choice != sparse.None { // otherwise it cannot be left and has value 0
		sys.v.Lower[s], sys.v.Upper[s] = b.lo, b.hi
		if sys.v.Scheduler != nil {
			sys.v.Scheduler[s] = b.choice
		}
	}
	first, end := sys.g.Choices(s)
	return int(sys.g.Start[end] - sys.g.Start[first])
}

// optimum returns the optimum over the usable choices of a state.
func (sys *system) optimum(s int) best {
	first, end := sys.g.Choices(s)
	least := sys.minimizes(s)
	b := noBest(least)
	for c := first; c < end; c++ {
		if sys.usable(c) {
			b.take(sys.eval(s, c), uint32(c), least)
		}
	}
	if sys.prob {
		b.hi = min(b.hi, 1)
	}
	b.lo = min(b.lo, b.hi)
	return b
}

// best has the optimum of the lower bounds of some choices, and that of their
// upper bounds. The value of choice is within them.
type best struct {
	lo, hi float64
	choice uint32
}

// noBest returns the optimum over no choices.
func noBest(least bool) best {
	if least {
		return best{math.Inf(1), math.Inf(1), sparse.None}
	}
	return best{math.Inf(-1), math.Inf(-1), sparse.None}
}

// take includes another choice.
func (b *best) take(r choiceBounds, c uint32, least bool) {
	switch {
	case !r.leaves:
	case least:
		if r.hi < b.hi || b.choice == sparse.None {
			b.hi, b.choice = r.hi, c
		}
		b.lo = min(b.lo, r.lo)
	default:
		if r.lo > b.lo {
			b.lo, b.choice = r.lo, c
		}
		b.hi = max(b.hi, r.hi)
	}
}
