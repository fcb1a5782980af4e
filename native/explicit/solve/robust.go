package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// robust is a system of equations of a model with intervals: a choice is worth
// reward + opt over its distributions p of sum over t of p(t) x(t). Nature takes the
// distribution, and the lower ends are positive, so that the graph is the same
// whatever it takes: states of probability 0 and 1, infinite rewards and end
// components are those of the model without intervals. An end component in which the
// scheduler could stay at no reward is one unknown, whose choices are those that
// leave it. With that, every scheduler that counts is left by every choice of nature,
// the equations have one solution, what every equation raises is below it, and what
// every equation lowers is above it.
//
// A distribution is the lower ends, and on top of them a budget, of 1 minus their
// sum, which is spent on targets in the order of their values, on each no more than
// the width of its interval. All of these are not negative and computed from
// fractions, each rounded once; nothing is subtracted that cancels.
//
// Source: Givan, Leach and Dean, Bounded-parameter Markov decision processes
// (2000); Katoen, Klink, Leucker and Wolf (CAV 2007); Puggelli et al. (CAV 2013).
type robust struct {
	g      *sparse.Graph
	dir    Direction
	reward *sparse.Reward // nil for none
	prob   bool
	open   *sparse.Set
	usable *sparse.Set // the choices that count; nil for all
	home   []uint32    // the state that stands for a state's end component; nil for each its own
	with   map[uint32][]uint32
	width  []float64 // of the intervals of transitions
	budget []float64 // of choices
	v      *Values
	parts  []part
	mt     *meter
}

// part is a target on which some of the budget can be spent.
type part struct{ value, width float64 }

func newRobust(ctx context.Context, g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*robust, error) {
	if !g.Exact() || r != nil && (r.State != nil && r.StateRat == nil || r.Choice != nil && r.ChoiceRat == nil) {
		return nil, ErrNotExact
	}
	opts.Scheduler = false
	y := &robust{g: g, dir: dir, reward: r, v: newValues(g.Model, opts), mt: newMeter(ctx, opts, g.NumStates())}
	return y, y.spend()
}

// spend computes widths and budgets.
func (y *robust) spend() error {
	m := y.g.Model
	y.width, y.budget = make([]float64, m.NumTransitions()), make([]float64, m.NumChoices())
	known := map[[2]uint32]float64{}
	rest := new(big.Rat)
	for c := range m.NumChoices() {
		first, end := m.Row(c)
		rest.SetInt64(1)
		for i := first; i < end; i++ {
			rest.Sub(rest, m.Rat(i))
			ends := [2]uint32{m.Weight[i], m.High[i]}
			if ends[0] == ends[1] {
				continue
			}
			w, ok := known[ends]
			if !ok {
				w = positive(new(big.Rat).Sub(m.HighRat(i), m.Rat(i)))
				known[ends] = w
			}
			y.width[i] = w
		}
		y.budget[c] = positive(rest)
		if err := y.mt.did(1000); err != nil {
			return err
		}
	}
	return nil
}

// positive returns the double of a fraction that is not negative, and 0 for 0 only.
func positive(x *big.Rat) float64 {
	if x.Sign() == 0 {
		return 0
	}
	f, _ := sparse.Double(x)
	return f
}

// robustFloor is to a system with intervals what rounding.floor is to others.
const robustFloor = 0x1p-900

// bound returns a bound of what choice c of state s is worth, from those of its targets.
//
// More to spend, and more room, make the most that can be had greater. More to spend
// makes the least greater, and more room smaller: budget and widths are off to the
// side of the bound accordingly. A budget that is not all spent, but for rounding,
// had all widths spent.
func (y *robust) bound(s, c int, up bool) float64 {
	m, x := y.g.Model, y.v.Lower
	if up {
		x = y.v.Upper
	}
	gain := y.reward.Gain(s, c)
	sum, least, most := gain, math.Inf(1), 0.0
	first, end := m.Row(c)
	y.parts = y.parts[:0]
	for i := first; i < end; i++ {
		v := x[y.stands(m.Target[i])]
		sum += m.Prob(i) * v
		least, most = min(least, v), max(most, v)
		if y.width[i] > 0 {
			y.parts = append(y.parts, part{v, y.width[i]})
		}
	}
	if most == 0 && gain == 0 {
		return 0
	}
	if y.budget[c] > 0 {
		sum += y.spent(y.budget[c], up)
	}
	e := 1.05 * float64(4*(end-first)+24) * unit
	if y.reward != nil {
		e += 1.05 * y.reward.Err
	}
	if up {
		sum = max(sum+sum*e, robustFloor)
		if gain == 0 {
			sum = min(sum, most)
		}
		if y.prob {
			sum = min(sum, 1)
		}
		return sum
	}
	sum = min(sum, math.MaxFloat64)
	if sum -= sum * e; !(sum >= robustFloor) {
		sum = 0
	}
	if gain == 0 {
		sum = max(sum, least)
	}
	return sum
}

// spent returns what a budget brings.
func (y *robust) spent(rest float64, up bool) float64 {
	lowest := y.dir.nature() == Min
	slices.SortFunc(y.parts, func(a, b part) int {
		switch {
		case a.value == b.value:
			return 0
		case (a.value < b.value) == lowest:
			return -1
		}
		return 1
	})
	money, room := 1-4*unit, 1-4*unit
	if up {
		money = 1 + 4*unit
	}
	if up != lowest {
		room = 1 + 4*unit
	}
	rest *= money
	sum := 0.0
	for _, p := range y.parts {
		take := min(p.width*room, rest)
		sum += take * p.value
		if rest = (rest - take) * money; rest <= 0 {
			break
		}
	}
	return sum
}

func (y *robust) stands(s uint32) uint32 {
	if y.home == nil {
		return s
	}
	return y.home[s]
}

// merge makes an end component within the open states, if the scheduler could stay in
// it at no reward, one unknown.
func (y *robust) merge(ctx context.Context) error {
	m := y.g.Model
	free := sparse.NewSet(m.NumChoices())
	for s := range y.open.All() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if (y.usable == nil || y.usable.Has(c)) && y.reward.Gain(s, c) == 0 {
				free.Add(c)
			}
		}
	}
	ends, err := m.EndComponents(ctx, y.open, free)
	if err != nil || ends.Num() == 0 {
		return err
	}
	y.home, y.with = make([]uint32, m.NumStates()), map[uint32][]uint32{}
	for s := range y.home {
		y.home[s] = uint32(s)
	}
	for i := range ends.Num() {
		members := ends.Members(i)
		y.with[members[0]] = members
		for _, s := range members {
			y.home[s] = members[0]
		}
	}
	if y.usable == nil {
		y.usable = sparse.FullSet(m.NumChoices())
	}
	y.usable = y.usable.Minus(ends.Choices)
	return nil
}

// each calls a function for the choices of an unknown that count.
func (y *robust) each(s uint32, f func(s, c int)) {
	members := y.with[s]
	if members == nil {
		members = []uint32{s}
	}
	for _, t := range members {
		first, end := y.g.Choices(int(t))
		for c := first; c < end; c++ {
			if y.usable == nil || y.usable.Has(c) {
				f(int(t), c)
			}
		}
	}
}

// optimum evaluates an unknown, and returns the work that took.
func (y *robust) optimum(s uint32, up bool) (x float64, work int) {
	lowest := y.dir.Scheduler() == Min
	first := true
	y.each(s, func(t, c int) {
		b := y.bound(t, c, up)
		if first || (b < x) == lowest {
			x, first = b, false
		}
		work += 4 * int(y.g.Start[c+1]-y.g.Start[c])
	})
	return x, work
}

// solve computes the open states, component by component, and then their fractions.
func (y *robust) solve(ctx context.Context, opts Options) (*Values, error) {
	comps := y.g.Model.Components(y.open, nil)
	for i := range comps.Num() {
		var unknowns []uint32
		for _, s := range comps.Members(i) {
			if y.stands(s) == s {
				unknowns = append(unknowns, s)
			}
		}
		if err := y.component(unknowns, opts); err != nil {
			return nil, err
		}
		for _, s := range comps.Members(i) {
			h := y.stands(s)
			y.v.Lower[s], y.v.Upper[s] = y.v.Lower[h], y.v.Upper[h]
		}
		y.mt.progress.Done += len(comps.Members(i))
	}
	if y.v.Exact != nil {
		if err := y.fractions(ctx, opts); err != nil {
			return nil, err
		}
	}
	return y.v, nil
}

// component bounds the unknowns of a component, whose successors are known.
func (y *robust) component(unknowns []uint32, opts Options) error {
	if len(unknowns) == 1 && !y.loops(unknowns[0]) {
		s := unknowns[0]
		var work int
		y.v.Lower[s], work = y.optimum(s, false)
		y.v.Upper[s], _ = y.optimum(s, true)
		return y.mt.did(2 * work)
	}
	wide, fine := opts.epsilon()/2, opts.epsilon()/8
	for sweeps := 1; ; sweeps++ {
		change, err := y.raise(unknowns)
		if err != nil {
			return err
		}
		if change > fine && sweeps < opts.maxSweeps() {
			continue
		}
		proved, err := y.guess(unknowns, wide, 10+sweeps/2)
		if proved || err != nil {
			return err
		}
		switch {
		case sweeps >= opts.maxSweeps() || wide > 1:
			y.giveUp(unknowns)
			return nil
		case change == 0: // as good as doubles can do
			wide *= 8
		default:
			fine /= 8
		}
	}
}

// loops reports whether a choice of an unknown may come back at once.
func (y *robust) loops(s uint32) bool {
	back := false
	y.each(s, func(_, c int) {
		lo, hi := y.g.Row(c)
		back = back || slices.ContainsFunc(y.g.Target[lo:hi], func(t uint32) bool { return y.stands(t) == s })
	})
	return back
}

// raise raises lower bounds once, and returns the greatest relative change.
func (y *robust) raise(unknowns []uint32) (change float64, err error) {
	y.v.Sweeps++
	y.mt.progress.Sweeps++
	for _, s := range unknowns {
		x, work := y.optimum(s, false)
		if old := y.v.Lower[s]; x > old {
			change = max(change, (x-old)/x)
			y.v.Lower[s] = x
		}
		if err := y.mt.did(work); err != nil {
			return 0, err
		}
	}
	return change, nil
}

// guess makes upper bounds of numbers a little above the lower ones, if so many
// sweeps are enough to prove them.
//
// Source: optimistic value iteration, Hartmanns and Kaminski (CAV 2020).
func (y *robust) guess(unknowns []uint32, wide float64, sweeps int) (proved bool, err error) {
	for _, s := range unknowns {
		u := max(y.v.Lower[s]*(1+wide), robustFloor)
		if y.prob {
			u = min(u, 1)
		}
		y.v.Upper[s] = u
	}
	for range sweeps {
		y.v.Sweeps++
		fell, rose := true, true
		for _, s := range unknowns {
			u, work := y.optimum(s, true)
			fell, rose = fell && u <= y.v.Upper[s], rose && u >= y.v.Upper[s]
			y.v.Upper[s] = u
			if err := y.mt.did(work); err != nil {
				return false, err
			}
		}
		if fell {
			return true, nil
		}
		if rose {
			return false, nil
		}
	}
	return false, nil
}

// giveUp leaves lower bounds, and upper ones that need no proof.
func (y *robust) giveUp(unknowns []uint32) {
	y.v.Converged = false
	for _, s := range unknowns {
		y.v.Upper[s] = math.Inf(1)
		if y.prob {
			y.v.Upper[s] = 1
		}
	}
}

func robustUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, dir Direction, opts Options) (*Values, error) {
	y, err := newRobust(ctx, g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	q, err := qualify(ctx, g, left, right, dir.Scheduler())
	if err != nil {
		return nil, err
	}
	y.prob = true
	y.v.set(q.one, 1)
	y.open = q.open()
	if err := y.merge(ctx); err != nil {
		return nil, err
	}
	return y.solve(ctx, opts)
}

// earning returns the states of some from which a reward can be reached among them;
// the others are worth 0.
func (y *robust) earning(open *sparse.Set) *sparse.Set {
	some := sparse.NewSet(y.g.NumStates())
	for s := range open.All() {
		first, end := y.g.Choices(s)
		for c := first; c < end; c++ {
			if y.reward.Gain(s, c) > 0 {
				some.Add(s)
			}
		}
	}
	return y.g.ExistsUntil(open, some).Intersect(open)
}

func robustReach(ctx context.Context, g *sparse.Graph, r *sparse.Reward, target *sparse.Set, dir Direction, opts Options) (*Values, error) {
	y, err := newRobust(ctx, g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	p, err := planReach(ctx, g, target, dir.Scheduler())
	if err != nil {
		return nil, err
	}
	y.v.set(p.infinite, math.Inf(1))
	y.open, y.usable = y.earning(p.open), p.choices
	if err := y.merge(ctx); err != nil {
		return nil, err
	}
	return y.solve(ctx, opts)
}
