package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// optimalLongRun is longRun for an MDP. A scheduler ends up in an end component with
// probability one. Within a maximal one every state reaches every other, so that the
// best average there is the same from all of its states; and what is left is which of
// them to end up in: a question of reachability, of the model in which each maximal end
// component is one state, which may be left, or stayed in for what it is worth.
//
// Source: de Alfaro, Formal verification of probabilistic systems (1997), section 5.4;
// Ashok, Chatterjee, Daca, Kretinsky and Meggendorfer, Value iteration for long-run
// average reward in Markov decision processes (CAV 2017).
func optimalLongRun(ctx context.Context, g *sparse.Graph, r *sparse.Reward, set *sparse.Set, dir Direction, opts Options) (*Values, error) {
	y, err := newSystem(g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	ends, err := g.EndComponents(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	opts.Epsilon = opts.epsilon() / 2 // one half is for getting there
	a := newGains(ctx, y, ends, opts)
	if err := a.settle(ctx, set); err != nil {
		return nil, err
	}
	for i := range ends.Num() {
		if err := a.share(i, set != nil); err != nil {
			return nil, err
		}
	}
	c := collapse(g, ends)
	v, err := c.reach(ctx, a.values, a.settled, dir, set != nil, opts)
	if err != nil {
		return nil, err
	}
	c.spread(v, y.v, a)
	return y.v, nil
}

// gains computes the best averages in maximal end components.
type gains struct {
	y, time *system // of rewards, and of steps; by the choices made
	ends    *sparse.EndComponents
	opts    Options
	mt      *meter
	ws      workspace
	other   workspace   // of equations
	made    *sparse.Set // the choices made where equations are solved
	values  *Values     // of each end component
	settled *sparse.Set // end components whose values are known
	way     []uint32    // of each state: scratch
	stay    []uint32    // of each state: the choice that attains the average of its end component

	// What follows is of one end component, by workspace number.
	h   []float64 // what it is worth to start in one state rather than another
	d   []float64 // what a state earns and gains by its next step
	how []uint32  // the choice by which it does
	off float64   // how far off the worst of d may be
}

func newGains(ctx context.Context, y *system, ends *sparse.EndComponents, opts Options) *gains {
	made := sparse.NewSet(y.g.NumChoices())
	ones := &sparse.Reward{State: slices.Repeat([]float64{1}, y.g.NumStates())}
	a := &gains{
		y: y, time: &system{g: y.g, reward: ones, round: y.round, v: y.v, choices: made}, made: made,
		ends: ends, opts: opts, mt: newMeter(ctx, opts, len(ends.States)), settled: sparse.NewSet(ends.Num()),
		values: &Values{Lower: make([]float64, ends.Num()), Upper: make([]float64, ends.Num()), Converged: true},
		stay:   make([]uint32, y.g.NumStates()),
	}
	y.choices = made
	if opts.Exact {
		a.values.Exact = make([]*big.Rat, ends.Num())
	}
	if y.g.NumStates() < fewStates {
		a.mt.limit = 0
	}
	stay(y.g, ends, a.stay)
	a.ws.begin(y.g.NumStates())
	a.other.begin(y.g.NumStates())
	return a
}

// settle finds where the average is zero, or one of a set of states: the graph says.
func (a *gains) settle(ctx context.Context, set *sparse.Set) error {
	free, earning := sparse.NewSet(a.y.g.NumChoices()), sparse.NewSet(a.ends.Num())
	for c := range a.ends.Choices.All() {
		s := a.y.g.Owner(uint32(c))
		if a.y.reward.Gain(s, c) == 0 {
			free.Add(c)
		} else {
			earning.Add(int(a.ends.ID[s]))
		}
	}
	if a.y.min {
		if err := a.within(ctx, free, 0); err != nil {
			return err
		}
	}
	for i := range a.ends.Num() {
		if !earning.Has(i) {
			a.know(i, 0)
		}
	}
	if set == nil {
		return nil
	}
	if !a.y.min {
		return a.within(ctx, a.ends.Choices.Minus(free), 1)
	}
	for i := range a.ends.Num() {
		if !slices.ContainsFunc(a.ends.Members(i), func(s uint32) bool { return !set.Has(int(s)) }) {
			a.know(i, 1)
		}
	}
	return nil
}

// within settles the end components that have one of the choices given.
func (a *gains) within(ctx context.Context, choices *sparse.Set, x float64) error {
	some, err := a.y.g.EndComponents(ctx, nil, choices)
	if err != nil {
		return err
	}
	inside := sparse.NewSet(a.y.g.NumStates())
	for i := range some.Num() {
		for _, s := range some.Members(i) {
			inside.Add(int(s))
		}
		a.know(int(a.ends.ID[some.Members(i)[0]]), x)
	}
	stay(a.y.g, some, a.stay)
	a.y.g.Approach(a.ends.Choices, inside, a.stay)
	return nil
}

func (a *gains) know(i int, x float64) {
	a.settled.Add(i)
	a.values.Lower[i], a.values.Upper[i] = x, x
	if a.values.Exact != nil {
		a.values.Exact[i] = new(big.Rat).SetFloat64(x)
	}
}

// share computes the average of an end component, unless that is settled.
func (a *gains) share(i int, prob bool) error {
	if a.settled.Has(i) {
		return nil
	}
	members := a.ends.Members(i)
	a.begin(members)
	defer a.ws.forget(members)
	if a.values.Exact != nil {
		return a.fractions(i, members)
	}
	lo, hi, err := a.approximate(members)
	if prob {
		lo, hi = min(lo, 1), min(hi, 1)
	}
	a.values.Lower[i], a.values.Upper[i] = lo, hi
	a.values.Converged = a.values.Converged && (a.narrow(lo, hi) || hi-lo <= 10*a.opts.epsilon()*hi)
	a.mt.progress.Done += len(members)
	return err
}

// begin starts with no state better than another, and any choices that stay.
func (a *gains) begin(members []uint32) {
	a.h, a.d, a.how = make([]float64, len(members)), make([]float64, len(members)), make([]uint32, len(members))
	for k, s := range members {
		a.ws.number[s] = uint32(k)
		a.how[k] = a.stay[s]
	}
}

func (a *gains) narrow(lo, hi float64) bool { return hi-lo <= a.opts.epsilon()*hi }

// approximate sweeps, and solves the equations of the choices found when that costs about
// as much as the sweeps have.
func (a *gains) approximate(members []uint32) (lo, hi float64, err error) {
	b := &interval{0, math.Inf(1)}
	done, limit, more := 0, a.opts.maxSweeps(), len(members) > 1
	for sweeps := firstSweeps; ; sweeps *= 4 {
		sweeps = min(sweeps, limit)
		if err := a.iterate(members, b, sweeps-done); err != nil {
			return 0, 0, err
		}
		off := a.off
		if done = sweeps; more && !a.narrow(b.lo, b.hi) {
			if more, err = a.policies(members, b, float64(done)*float64(a.work(members))*budgetPerWork*4); err != nil {
				return 0, 0, err
			}
		}
		// Sweeps would take long to do better, or gain nothing, where rounding is all that is left.
		if !more && (b.hi-b.lo <= 10*a.opts.epsilon()*b.hi || b.hi-b.lo <= 4*off) {
			break
		}
		if a.narrow(b.lo, b.hi) || done == limit {
			break
		}
	}
	return b.lo, b.hi, nil
}

// interval has bounds that only get better.
type interval struct{ lo, hi float64 }

// iterate improves h by so many sweeps.
func (a *gains) iterate(members []uint32, b *interval, sweeps int) error {
	work := a.work(members)
	for range sweeps {
		lo, hi := a.sweep(members, b)
		if a.narrow(b.lo, b.hi) || !(hi < math.Inf(1)) { // nothing more is to be had from this
			return nil
		}
		// Steps that stay sometimes: no period keeps h from converging.
		middle := lo + (hi-lo)/2
		for k := range a.h {
			a.h[k] += (a.d[k] - middle) / (1 + slack)
		}
		a.mt.progress.Sweeps++
		if err := a.mt.did(work); err != nil {
			return err
		}
	}
	return nil
}

// work is the number of transitions within the end component.
func (a *gains) work(members []uint32) int {
	out := 0
	for _, s := range members {
		first, end := a.y.g.Choices(int(s))
		out += int(a.y.g.Start[end] - a.y.g.Start[first])
	}
	return out
}

// sweep computes d, and the bounds that follow from it: whatever h is, the choices by
// which every state earns and gains lo at least have an average of lo at least; and no
// choices have more than hi if none of any state earns and gains more. Likewise for the
// minimum. The choices that attain the better bound are kept.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (a *gains) sweep(members []uint32, b *interval) (least, most float64) {
	least, most, a.off = math.Inf(1), math.Inf(-1), 0
	for k, s := range members {
		lo, hi := a.improve(k, int(s))
		if lo != lo || hi != hi {
			return 0, math.Inf(1)
		}
		least, most = min(least, lo), max(most, hi)
	}
	if least = max(least, 0); least > most { // there is an average
		return 0, math.Inf(1)
	}
	if !a.y.min && least >= b.lo || a.y.min && most <= b.hi {
		for k, s := range members {
			a.stay[s] = a.how[k]
		}
	}
	b.lo, b.hi = max(b.lo, least), min(b.hi, most)
	return least, most
}

// improve finds the best choice of a state, which is the one made before unless another is
// better beyond rounding. The bounds are of the choice found on the side that it attains,
// and of all choices on the other one.
func (a *gains) improve(k, s int) (lo, hi float64) {
	now, e := a.y.gained(s, int(a.how[k]), a.h, &a.ws)
	bound := now + e
	if a.y.min {
		bound = now - e
	}
	first, end := a.y.g.Choices(s)
	for c := first; c < end; c++ {
		if c == int(a.how[k]) || !a.ends.Choices.Has(c) {
			continue
		}
		x, f := a.y.gained(s, c, a.h, &a.ws)
		if a.y.min {
			bound = min(bound, x-f)
		} else {
			bound = max(bound, x+f)
		}
		if x != x || !a.y.min && x-f > now+e || a.y.min && x+f < now-e {
			now, e, a.how[k] = x, f, uint32(c)
		}
	}
	a.d[k], a.off = now, max(a.off, e)
	if a.y.min {
		return bound, now + e
	}
	return now - e, bound
}

// policies takes h from the equations of the choices made, and then the choices that are
// best for it, until there are no better ones. More says that a larger budget may help.
func (a *gains) policies(members []uint32, b *interval, budget float64) (more bool, err error) {
	const rounds = 20
	var c *cycle
	for range rounds {
		home, err := a.unite(members, func(class []uint32) (*big.Rat, error) {
			c, more, err = a.cycle(class, budget)
			if c == nil {
				return nil, err
			}
			return new(big.Rat).SetFloat64(c.average), nil
		})
		if home == sparse.None || err != nil {
			return more, err
		}
		order := last(members, home)
		if c, more, err = a.cycle(order, budget); c == nil || err != nil {
			return more, err
		}
		before, was, choices := slices.Clone(a.h), *b, slices.Clone(a.how)
		for i, s := range order[:len(order)-1] {
			a.h[a.ws.number[s]] = c.gain[i] - c.average*c.time[i]
		}
		a.h[a.ws.number[home]] = 0
		a.sweep(members, b)
		if *b == was { // the sweeps know better
			a.h = before
		}
		if a.narrow(b.lo, b.hi) || slices.Equal(choices, a.how) {
			break
		}
	}
	return false, nil
}

// last returns the members in an order in which one is the last.
func last(members []uint32, home uint32) []uint32 {
	return append(slices.DeleteFunc(slices.Clone(members), func(s uint32) bool { return s == home }), home)
}

// fractions is approximate, exactly: from the choices that a few sweeps find, to better
// ones, until there are none. Where a state that is met again and again gets a better
// choice, the average gets better; where there is none, what it is worth to start in some
// of the others does. So no choices come twice.
//
// Source: Puterman, Markov Decision Processes (1994), sections 8.6 and 9.5.1.
func (a *gains) fractions(i int, members []uint32) error {
	if err := a.iterate(members, &interval{0, math.Inf(1)}, firstSweeps); err != nil {
		return err
	}
	choice := func(s uint32) uint32 { return a.how[a.ws.number[s]] }
	worth := &Values{Exact: make([]*big.Rat, a.y.g.NumStates())}
	next := &system{g: a.y.g, min: a.y.min, reward: a.y.reward, choices: a.ends.Choices, step: true, v: worth}
	for {
		home, err := a.unite(members, func(class []uint32) (*big.Rat, error) {
			c, err := a.y.cycleRat(class, choice, &a.other, a.mt)
			if err != nil {
				return nil, err
			}
			return c.average, nil
		})
		if err != nil {
			return err
		}
		order := last(members, home)
		c, err := a.y.cycleRat(order, choice, &a.other, a.mt)
		if err != nil {
			return err
		}
		worth.Exact[home] = new(big.Rat)
		for k, s := range order[:len(order)-1] {
			worth.Exact[s] = c.relative(k)
		}
		better := false
		for k, s := range members {
			best := next.bestRat(int(s))
			if err := a.mt.did(1000 + effort(best.value)); err != nil {
				return err
			}
			if now := new(big.Rat).Add(worth.Exact[s], c.average); best.value.Cmp(now) != 0 {
				a.how[k], better = best.choice, true
			}
		}
		if !better {
			for k, s := range members {
				a.stay[s] = a.how[k]
			}
			a.values.Exact[i] = c.average
			return nil
		}
	}
}

// unite changes the choices made so that all states come to one of the sets in which they
// end up, the best, and returns a state of it; none where the average of one is nil.
func (a *gains) unite(members []uint32, average func(class []uint32) (*big.Rat, error)) (home uint32, err error) {
	classes := a.classes(members)
	class := classes[0]
	if len(classes) > 1 {
		var best *big.Rat
		for _, other := range classes {
			x, err := average(other)
			if x == nil || err != nil {
				return sparse.None, err
			}
			if best == nil || x.Cmp(best) != 0 && (x.Cmp(best) < 0) == a.y.min {
				class, best = other, x
			}
		}
		a.lead(members, class)
	}
	return class[len(class)-1], nil
}

// lead makes choices that lead all other states to those of a class.
func (a *gains) lead(members, class []uint32) {
	inside := sparse.NewSet(a.y.g.NumStates())
	for _, s := range class {
		inside.Add(int(s))
	}
	if a.way == nil {
		a.way = make([]uint32, a.y.g.NumStates())
	}
	a.y.g.Approach(a.ends.Choices, inside, a.way)
	for k, s := range members {
		if !inside.Has(int(s)) {
			a.how[k] = a.way[s]
		}
	}
}

// classes returns the sets of states that are not left by the choices made.
func (a *gains) classes(members []uint32) [][]uint32 {
	m := &sparse.Model{Kind: sparse.DTMC, Start: make([]uint32, 1, len(members)+1)}
	for k := range members {
		first, end := a.y.g.Row(int(a.how[k]))
		for _, t := range a.y.g.Target[first:end] {
			m.Target = append(m.Target, a.ws.number[t])
		}
		m.Start = append(m.Start, uint32(len(m.Target)))
	}
	comps := m.Components(nil, nil)
	var out [][]uint32
	for _, i := range comps.Bottom(m) {
		class := slices.Clone(comps.Members(i))
		for j, k := range class {
			class[j] = members[k]
		}
		out = append(out, class)
	}
	return out
}

// cycle is cycleRat in doubles, of which nothing is known.
type cycle struct {
	average    float64
	gain, time []float64
}

// cycle solves by elimination; it returns nil where there is no solution to be had.
func (a *gains) cycle(members []uint32, budget float64) (c *cycle, more bool, err error) {
	last := len(members) - 1
	home, rest := members[last], members[:last]
	made := make([]uint32, len(members))
	for i, s := range members {
		made[i] = a.how[a.ws.number[s]]
		a.made.Add(int(made[i]))
	}
	defer func() {
		for _, c := range made {
			a.made.Remove(int(c))
		}
	}()
	c = &cycle{}
	if len(rest) > 0 {
		l := a.y.local(rest, &a.other)
		a.other.forget(rest)
		times := a.time.local(rest, &a.other)
		defer a.other.forget(rest)
		d := newDirect(l, budget)
		d.strict = true
		if c.gain, err = d.solve(a.mt, d.constant); c.gain == nil || err != nil {
			return nil, d.rough, err
		}
		if c.time = d.substitute(func(k int) float64 { return times.lo[k] }); c.time == nil {
			return nil, false, nil
		}
	}
	by := int(made[last])
	sum, time := a.y.mean(by, a.y.reward.Gain(int(home), by), c.gain, &a.other), a.y.mean(by, 1, c.time, &a.other)
	if c.average = sum / time; math.IsInf(c.average, 0) || math.IsNaN(c.average) {
		return nil, false, nil
	}
	return c, false, nil
}

// collapsed is a model in which each maximal end component is one state, which may be
// left by the choices that leave the end component, or stayed in for ever: that leads to a
// state of its own. Of n end components these are the states up to n and up to 2n.
type collapsed struct {
	g      *sparse.Graph
	of     *sparse.Graph
	ends   *sparse.EndComponents
	state  []uint32 // of each state of the model
	origin []uint32 // of each choice: that of the model, sparse.None for staying
}

func collapse(g *sparse.Graph, ends *sparse.EndComponents) *collapsed {
	n := ends.Num()
	c := &collapsed{of: g, ends: ends, state: slices.Clone(ends.ID)}
	count := 2 * n
	for s := range c.state {
		if c.state[s] == sparse.None {
			c.state[s] = uint32(count)
			count++
		}
	}
	m := &sparse.Model{Kind: sparse.MDP, Weights: g.Weights, Rats: g.Rats, Err: g.Err}
	one := m.One()
	choice := func(origin uint32) {
		m.Start, c.origin = append(m.Start, uint32(len(m.Target))), append(c.origin, origin)
	}
	begin := func() { m.First = append(m.First, uint32(len(m.Start))) }
	stay := func(i int) {
		choice(sparse.None)
		m.Target, m.Weight = append(m.Target, uint32(n+i)), append(m.Weight, one)
	}
	leave := func(s int) {
		first, end := g.Choices(s)
		for o := first; o < end; o++ {
			if ends.Choices.Has(o) {
				continue
			}
			choice(uint32(o))
			for i := g.Start[o]; i < g.Start[o+1]; i++ {
				m.Target, m.Weight = append(m.Target, c.state[g.Target[i]]), append(m.Weight, g.Weight[i])
			}
		}
	}
	for i := range n {
		begin()
		for _, s := range ends.Members(i) {
			leave(int(s))
		}
		stay(i)
	}
	for i := range n {
		begin()
		stay(i)
	}
	for s, id := range ends.ID {
		if id == sparse.None {
			begin()
			leave(s)
		}
	}
	begin()
	m.Start = append(m.Start, uint32(len(m.Target)))
	c.g = sparse.NewGraph(m)
	return c
}

// reach returns the values of the collapsed model, of which those of staying are given, and
// whether they are known to be zero or one.
func (c *collapsed) reach(ctx context.Context, staying *Values, known *sparse.Set, dir Direction, prob bool, opts Options) (*Values, error) {
	y, err := newSystem(c.g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	n := c.ends.Num()
	y.prob, y.open = prob, sparse.FullSet(c.g.NumStates())
	none, some, whole, part := c.set(), c.set(), c.set(), c.set()
	for i := range n {
		s := n + i
		y.open.Remove(s)
		if staying.Exact != nil {
			y.v.assign(s, staying.Exact[i])
		} else {
			y.v.Lower[s], y.v.Upper[s] = staying.Lower[i], staying.Upper[i]
		}
		pick(known.Has(i) && y.v.Upper[s] == 0, s, none, some)
		pick(known.Has(i) && prob && y.v.Lower[s] == 1, s, whole, part)
	}
	y.v.Converged = staying.Converged
	if err := c.certain(ctx, y, dir == Min, none, some, 0); err != nil {
		return nil, err
	}
	if err := c.certain(ctx, y, dir == Max, whole, part, 1); err != nil {
		return nil, err
	}
	return y.solve(ctx, opts, false)
}

func (c *collapsed) set() *sparse.Set { return sparse.NewSet(c.g.NumStates()) }

func pick(yes bool, s int, a, b *sparse.Set) {
	if yes {
		a.Add(s)
	} else {
		b.Add(s)
	}
}

// certain gives the open states from which x is reached for certain, by some scheduler or
// by all of them, that value. Those that reach one of others by no scheduler do by all.
func (c *collapsed) certain(ctx context.Context, y *system, some bool, x, others *sparse.Set, value float64) error {
	if x.Empty() {
		return nil
	}
	sure := c.g.ExistsUntil(sparse.FullSet(c.g.NumStates()), others).Complement()
	if some {
		var err error
		if sure, err = c.g.Prob1E(ctx, sparse.FullSet(c.g.NumStates()), x); err != nil {
			return err
		}
		if y.v.Scheduler != nil {
			c.g.Attract(sure, x, y.v.Scheduler)
		}
	}
	sure = sure.Intersect(y.open)
	y.v.set(sure, value)
	y.open = y.open.Minus(sure)
	return nil
}

// spread writes the values of the collapsed model, and its scheduler.
func (c *collapsed) spread(from, to *Values, a *gains) {
	to.Converged, to.Estimated, to.Extended = from.Converged, from.Estimated, from.Extended
	to.Sweeps = from.Sweeps + a.mt.progress.Sweeps
	for s, b := range c.state {
		if to.Lower[s], to.Upper[s] = from.Lower[b], from.Upper[b]; to.Exact != nil {
			to.Exact[s] = from.Exact[b]
		}
	}
	if to.Scheduler == nil {
		return
	}
	exits := sparse.NewSet(len(c.state))
	for s, b := range c.state {
		o := uint32(sparse.None)
		if choice := from.Scheduler[b]; choice != sparse.None {
			o = c.origin[choice]
		}
		switch {
		case o != sparse.None && c.of.Owner(o) == s:
			to.Scheduler[s] = o
			if c.ends.ID[s] != sparse.None {
				exits.Add(s)
			}
		case o == sparse.None && c.ends.ID[s] != sparse.None:
			to.Scheduler[s] = a.stay[s]
		}
	}
	c.of.Approach(c.ends.Choices, exits, to.Scheduler)
}
