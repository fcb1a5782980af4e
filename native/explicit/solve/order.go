package solve

import (
	"context"
	"math"

	"tilecheck/native/explicit/sparse"
)

// fewStates is the number of open states below which Options.MaxWork does not limit
// how long their equations take: fractions of steps grow for ever, those of equations
// end with an answer.
const fewStates = 10_000

// solve gives all open states their values: component by component, successors
// first, so that what has no cycles takes one pass. zeroRewardEnds says that a
// scheduler may be able to stay among the open states for ever at no reward.
func (y *system) solve(ctx context.Context, opts Options, zeroRewardEnds bool) (*Values, error) {
	comps := y.g.Components(y.open, y.choices)
	cyclic := y.cyclic(comps)
	if zeroRewardEnds && y.g.Kind == sparse.MDP && !cyclic.Empty() {
		if err := y.findEnds(ctx, comps, cyclic); err != nil {
			return nil, err
		}
	}
	eps := opts.epsilon() / float64(y.levels(comps, cyclic))
	if y.round.coarse() { // lower bounds are moved, too
		eps /= 2
	}
	mt := newMeter(ctx, opts, len(comps.States))
	if len(comps.States) < fewStates {
		mt.limit = 0
	}
	free := y.newRelease(opts.Within, comps.States)
	var ws workspace
	for i := range comps.Num() {
		members := comps.Members(i)
		work, err := 0, error(nil)
		switch {
		case y.exact():
			work, err = y.fractions(members, &ws, mt)
		case len(members) == 1:
			work = y.state(int(members[0]))
		default:
			l := y.local(members, &ws)
			if err = l.solve(mt, opts, eps); err == nil {
				y.store(l, members, &ws)
			}
		}
		if err != nil {
			return nil, err
		}
		free.after(members)
		mt.progress.Done += len(members)
		if err := mt.did(work); err != nil {
			return nil, err
		}
	}
	y.gather(y.v.Scheduler)
	if opts.Classic && !y.exact() && !cyclic.Empty() {
		y.v.Estimated = true
		copy(y.v.Upper, y.v.Lower)
	}
	y.v.Sweeps += mt.progress.Sweeps
	return y.v, nil
}

// cyclic returns the components with more than one state. A single state with
// a transition to itself is solved in closed form.
func (y *system) cyclic(comps *sparse.Components) *sparse.Set {
	out := sparse.NewSet(comps.Num())
	for i := range comps.Num() {
		if comps.Start[i+1]-comps.Start[i] > 1 {
			out.Add(i)
		}
	}
	return out
}

// findEnds looks for the end components with no reward in the cyclic components.
func (y *system) findEnds(ctx context.Context, comps *sparse.Components, cyclic *sparse.Set) error {
	states := sparse.NewSet(y.g.NumStates())
	for i := range cyclic.All() {
		for _, s := range comps.Members(i) {
			states.Add(int(s))
		}
	}
	choices := sparse.NewSet(y.g.NumChoices())
	for s := range states.All() {
		first, end := y.g.Choices(s)
		for c := first; c < end; c++ {
			if y.usable(c) && y.reward.Gain(s, c) == 0 {
				choices.Add(c)
			}
		}
	}
	ecs, err := y.g.EndComponents(ctx, states, choices)
	y.ecs = ecs
	return err
}

// levels returns the greatest number of cyclic components on a path, at least
// 1. Each may widen the relative interval by its share of Options.Epsilon.
func (y *system) levels(comps *sparse.Components, cyclic *sparse.Set) int {
	if cyclic.Empty() {
		return 1
	}
	depth := make([]int32, comps.Num())
	most := int32(1)
	for i := range comps.Num() {
		var d int32
		for _, s := range comps.Members(i) {
			first, end := y.g.Choices(int(s))
			for _, t := range y.g.Target[y.g.Start[first]:y.g.Start[end]] {
				if id := comps.ID[t]; id != sparse.None && id < uint32(i) {
					d = max(d, depth[id])
				}
			}
		}
		if cyclic.Has(i) {
			d++
		}
		depth[i] = d
		most = max(most, d)
	}
	return int(most)
}

// workspace is reused from component to component.
type workspace struct {
	number []uint32 // of each state: its number in the component's local problem
}

// begin makes the numbers at their first use.
func (ws *workspace) begin(states int) {
	if ws.number == nil {
		ws.number = make([]uint32, states)
		for s := range ws.number {
			ws.number[s] = sparse.None
		}
	}
}

// forget takes the numbers of some states back.
func (ws *workspace) forget(members []uint32) {
	for _, s := range members {
		ws.number[s] = sparse.None
	}
}

// local copies the equations of one component, with the values of all other
// states put in.
func (y *system) local(members []uint32, ws *workspace) *local {
	ws.begin(y.g.NumStates())
	l := &local{min: y.min, prob: y.prob, round: y.round, rewards: y.reward != nil}
	groups := y.groups(members, ws)
	y.reserve(l, members)
	for _, group := range groups {
		l.first = append(l.first, uint32(len(l.start)))
		for _, s := range group {
			first, end := y.g.Choices(int(s))
			for c := first; c < end; c++ {
				if y.usable(c) {
					y.localRow(l, int(s), c, ws)
				}
			}
		}
	}
	l.first = append(l.first, uint32(len(l.start)))
	l.start = append(l.start, uint32(len(l.col)))
	l.begin(y.v.Scheduler != nil || y.exact())
	return l
}

// reserve makes room for all choices of the members.
func (y *system) reserve(l *local, members []uint32) {
	rows, terms := 0, 0
	for _, s := range members {
		first, end := y.g.Choices(int(s))
		rows += end - first
		terms += int(y.g.Start[end] - y.g.Start[first])
	}
	l.start, l.origin = make([]uint32, 0, rows+1), make([]uint32, 0, rows)
	l.col, l.weight = make([]uint32, 0, terms), make([]float64, 0, terms)
	for _, x := range []*[]float64{&l.lo, &l.hi, &l.exit, &l.err} {
		*x = make([]float64, 0, rows)
	}
}

// groups numbers the unknowns of a component, one per end component or state
// in none, and lists the states of each.
func (y *system) groups(members []uint32, ws *workspace) [][]uint32 {
	groups := make([][]uint32, 0, len(members))
	for i, s := range members {
		if ws.number[s] != sparse.None {
			continue
		}
		group := members[i : i+1]
		if id := y.ec(int(s)); id != sparse.None {
			group = y.ecs.Members(int(id))
		}
		for _, t := range group {
			ws.number[t] = uint32(len(groups))
		}
		groups = append(groups, group)
	}
	return groups
}

// localRow appends choice c of state s, divided by the sum of the weights that
// leave the unknown, unless there are none.
func (y *system) localRow(l *local, s, c int, ws *workspace) {
	home := ws.number[s]
	start := len(l.col)
	gain := y.reward.Gain(s, c)
	lo, hi, sum, exit, most := gain, gain, 0.0, 0.0, gain
	first, end := y.g.Row(c)
	returns := y.g.Kind == sparse.CTMC
	for i := first; i < end; i++ {
		t, w := int(y.g.Target[i]), y.g.Prob(i)
		switch k := ws.number[t]; {
		case k == home:
			returns = true
			continue
		case k != sparse.None:
			l.col, l.weight = append(l.col, k), append(l.weight, w)
		default:
			lo += w * y.v.Lower[t]
			hi += w * y.v.Upper[t]
			most = max(most, y.v.Upper[t])
			exit += w
		}
		sum += w
	}
	if sum == 0 {
		return
	}
	if returns {
		lo, hi = y.round.quotient(lo, hi, sum)
		exit /= sum
		for i := start; i < len(l.weight); i++ {
			// What underflows matters less than the floor, but it is not zero.
			l.weight[i] = max(l.weight[i]/sum, 0x1p-1022)
		}
	}
	if most > 0 { // even where its products underflow
		hi = max(hi, y.round.floor)
	}
	// This sum, the division by the other one, and the sums of the sweeps.
	e := y.round.row(2 * (end - first))
	l.start = append(l.start, uint32(start))
	l.lo, l.hi, l.err = append(l.lo, lo), append(l.hi, hi), append(l.err, e)
	l.exit, l.origin = append(l.exit, exit), append(l.origin, uint32(c))
	switch {
	case math.IsInf(hi, 1): // given up before
		l.inherited = math.Inf(1)
	case hi > lo && hi < y.round.grid*0x1p34:
		l.shift = max(l.shift, (hi-lo)/exit)
	case hi > y.round.faint():
		l.inherited = max(l.inherited, (hi-lo)/hi)
	case hi > lo:
		l.vague = true
	}
}

// store copies the solution of a local problem to the component's states.
func (y *system) store(l *local, members []uint32, ws *workspace) {
	y.v.Converged = y.v.Converged && l.converged
	y.v.Extended = y.v.Extended || l.extended
	for _, s := range members {
		k := ws.number[s]
		y.v.Lower[s], y.v.Upper[s] = l.lower[k], l.upper[k]
	}
	y.schedule(l, members, ws)
	ws.forget(members)
}

// schedule gives each unknown's choice to the state it belongs to.
func (y *system) schedule(l *local, members []uint32, ws *workspace) {
	if y.v.Scheduler == nil {
		return
	}
	for _, s := range members {
		j := l.how[ws.number[s]]
		if j == sparse.None {
			continue
		}
		first, end := y.g.Choices(int(s))
		if c := l.origin[j]; int(c) >= first && int(c) < end {
			y.v.Scheduler[s] = c
		}
	}
}

// gather makes the states of each end component head for the one by which the
// component is left.
func (y *system) gather(how []uint32) {
	if how == nil || y.ecs == nil {
		return
	}
	exits := sparse.NewSet(y.g.NumStates())
	for _, s := range y.ecs.States {
		if how[s] != sparse.None {
			exits.Add(int(s))
		}
	}
	y.g.Approach(y.ecs.Choices, exits, how)
}
