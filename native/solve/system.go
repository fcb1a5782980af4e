package solve

import (
	"math"

	"tilecheck/native/space/sparse"
)

// system is a system of equations, one for each open state s:
//
//	x(s) = opt over choices c of  reward(s) + reward(c) + sum over t of p(c,t) x(t)
//
// whose other states have values already. Where a scheduler could stay among
// the open states for ever, at no reward, ecs has the end components in which
// it could; they are treated as one state each, and staying is worth nothing.
//
// Rates are handled as probabilities: rows are divided by their sums.
type system struct {
	g       *sparse.Graph
	min     bool
	prob    bool // values are at most 1
	open    *sparse.Set
	choices *sparse.Set    // the choices allowed; nil for all
	reward  *sparse.Reward // nil for none
	ecs     *sparse.EndComponents
	// step leaves transitions from a state to itself as they are: the equations
	// say what one step does.
	step  bool
	round rounding
	v     *Values
	trace *stepScheduler // of the steps; nil when no scheduler is asked for
	limit stepLimit      // skips steps; nil if every step is taken

	sum, term, part fraction // scratch, where values are fractions
}

func newSystem(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*system, error) {
	if opts.Exact && (!g.Exact() || r != nil && (r.State != nil && r.StateRat == nil || r.Choice != nil && r.ChoiceRat == nil)) {
		return nil, ErrNotExact
	}
	round := newRounding(g.Model, r)
	round.grid = opts.Grid
	return &system{g: g, min: dir == Min, reward: r, round: round, v: newValues(g.Model, opts)}, nil
}

// exact reports whether the values are fractions. Then the doubles are the same
// rounded, and only lead the way.
func (sys *system) exact() bool { return sys.v.Exact != nil }

// ec returns the end component of a state, sparse.None for none.
func (sys *system) ec(s int) uint32 {
	if sys.ecs == nil {
		return sparse.None
	}
	return sys.ecs.ID[s]
}

// usable reports whether choice c of an open state may be taken, other than to
// stay where staying is worth nothing.
func (sys *system) usable(c int) bool {
	return (sys.choices == nil || sys.choices.Has(c)) && (sys.ecs == nil || !sys.ecs.Choices.Has(c))
}

// row is what a choice is worth, if all of its targets that are not the same
// state have values: bounds of it, and whether the choice leaves the state at all.
type row struct {
	lo, hi float64
	leaves bool
}

// eval evaluates choice c of state s.
func (sys *system) eval(s, c int) row {
	m, home := sys.g.Model, sys.ec(s)
	gain := sys.reward.OfChoice(s, c)
	lo, hi, sum := gain, gain, 0.0
	least, most := math.Inf(1), 0.0
	first, end := m.Row(c)
	returns := false
	for i := first; i < end; i++ {
		t, w := int(m.Target[i]), m.Prob(i)
		if !sys.step && (t == s || home != sparse.None && sys.ecs.ID[t] == home) {
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
		return row{}
	}
	if returns || m.Kind == sparse.CTMC {
		lo, hi = sys.round.quotient(lo, hi, sum)
	}
	if most > 0 { // even where its products underflow
		hi = max(hi, sys.round.floor)
	}
	e := sys.round.sumErr(end - first + 1)
	lo, hi = sys.round.floorToGrid(sys.round.down(lo, e)), sys.round.up(hi, e)
	if gain == 0 { // a mean of the targets' values
		lo, hi = max(lo, least), min(hi, most)
	}
	return row{lo, hi, true}
}

// state gives an open state whose successors all have values its own, and
// returns the number of transitions looked at.
func (sys *system) state(s int) int {
	b := sys.optimum(s)
	if b.choice != sparse.None { // otherwise it cannot be left and is worth nothing
		sys.v.Lower[s], sys.v.Upper[s] = b.lo, b.hi
		if sys.v.Scheduler != nil {
			sys.v.Scheduler[s] = b.choice
		}
	}
	first, end := sys.g.Choices(s)
	return int(sys.g.Start[end] - sys.g.Start[first])
}

// optimum evaluates all choices of a state.
func (sys *system) optimum(s int) best {
	first, end := sys.g.Choices(s)
	b := none(sys.min)
	for c := first; c < end; c++ {
		if sys.usable(c) {
			b.take(sys.eval(s, c), uint32(c), sys.min)
		}
	}
	if sys.prob {
		b.hi = min(b.hi, 1)
	}
	b.lo = min(b.lo, b.hi)
	return b
}

// best is the optimum over choices: of the lower bounds and, apart from it, of
// the upper bounds. The choice is the one whose own value is within them.
type best struct {
	lo, hi float64
	choice uint32
}

func none(least bool) best {
	if least {
		return best{math.Inf(1), math.Inf(1), sparse.None}
	}
	return best{math.Inf(-1), math.Inf(-1), sparse.None}
}

func (b *best) take(r row, c uint32, least bool) {
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
