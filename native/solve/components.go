package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// Options.MaxWork does not limit systems with fewer states than maxUnlimitedStates: exact elimination
// of those always ends, whereas exact step-by-step computation need not.
const maxUnlimitedStates = 10_000

// solve solves the equations of all open states, one strongly connected component after the other,
// successors first. zeroRewardEnds says that a scheduler may be able to stay in the open states forever
// without reward.
func (sys *system) solve(ctx context.Context, opts Options, zeroRewardEnds bool) (*Values, error) {
	comps := sys.g.Components(sys.open, sys.choices)
	cyclic := sys.cyclicComponents(comps)
	if zeroRewardEnds && sys.g.Kind == sparse.MDP && !cyclic.Empty() {
		if err := sys.findEndComponents(ctx, comps, cyclic); err != nil {
			return nil, err
		}
	}
	eps := opts.epsilon() / float64(sys.cyclicDepth(comps, cyclic))
	if sys.round.coarseGrid() { // the grid widens the bounds on both sides
		eps /= 2
	}
	meter := newMeter(ctx, opts, len(comps.States))
	if len(comps.States) < maxUnlimitedStates {
		meter.limit = 0
	}
	releaser := sys.newExactReleaser(opts.Within, comps.States)
	var ws workspace
	for i := range comps.Num() {
		members := comps.Members(i)
		work, err := 0, error(nil)
		switch {
		case sys.exact():
			work, err = sys.solveExact(members, &ws, meter)
		case len(members) == 1:
			work = sys.state(int(members[0]))
		default:
			l := sys.localSystem(members, &ws)
			if err = l.solve(meter, opts, eps); err == nil {
				sys.storeSolution(l, members, &ws)
			}
		}
		if err != nil {
			return nil, err
		}
		releaser.solved(members)
		meter.progress.Done += len(members)
		if err := meter.addWork(work); err != nil {
			return nil, err
		}
	}
	sys.leaveEndComponents(sys.v.Scheduler)
	if opts.Classic && !sys.exact() && !cyclic.Empty() {
		sys.v.Estimated = true
		copy(sys.v.Upper, sys.v.Lower)
	}
	sys.v.Sweeps += meter.progress.Sweeps
	return sys.v, nil
}

// cyclicComponents returns the components with more than one state. A single state with a self-loop is
// solved in closed form.
func (sys *system) cyclicComponents(comps *sparse.Components) *sparse.Set {
	out := sparse.NewSet(comps.Num())
	for i := range comps.Num() {
		if comps.Start[i+1]-comps.Start[i] > 1 {
			out.Add(i)
		}
	}
	return out
}

// findEndComponents computes the end components without reward in the cyclic components.
func (sys *system) findEndComponents(ctx context.Context, comps *sparse.Components, cyclic *sparse.Set) error {
	states := sparse.NewSet(sys.g.NumStates())
	for i := range cyclic.All() {
		for _, s := range comps.Members(i) {
			states.Add(int(s))
		}
	}
	zeroReward := sparse.NewSet(sys.g.NumChoices())
	for s := range states.All() {
		first, end := sys.g.Choices(s)
		for c := first; c < end; c++ {
			if sys.usable(c) && sys.reward.OfChoice(s, c) == 0 {
				zeroReward.Add(c)
			}
		}
	}
	ecs, err := sys.g.EndComponents(ctx, states, zeroReward)
	sys.ecs = ecs
	return err
}

// cyclicDepth returns the greatest number of cyclic components on a path, at least 1. Widths add up
// along such a path, so each component may use an equal share of Options.Epsilon.
func (sys *system) cyclicDepth(comps *sparse.Components, cyclic *sparse.Set) int {
	if cyclic.Empty() {
		return 1
	}
	depth := make([]int32, comps.Num())
	maxDepth := int32(1)
	for i := range comps.Num() {
		var ownDepth int32
		for _, s := range comps.Members(i) {
			first, end := sys.g.Choices(int(s))
			for _, t := range sys.g.Target[sys.g.Start[first]:sys.g.Start[end]] {
				if id := comps.ID[t]; id != sparse.None && id < uint32(i) {
					ownDepth = max(ownDepth, depth[id])
				}
			}
		}
		if cyclic.Has(i) {
			ownDepth++
		}
		depth[i] = ownDepth
		maxDepth = max(maxDepth, ownDepth)
	}
	return int(maxDepth)
}

// workspace is memory that is reused for all components.
type workspace struct {
	number []uint32 // of each state: its unknown in the local system, or sparse.None
}

// init allocates the numbers at the first use.
func (ws *workspace) init(states int) {
	if ws.number == nil {
		ws.number = make([]uint32, states)
		for s := range ws.number {
			ws.number[s] = sparse.None
		}
	}
}

// reset removes the numbers of the given states.
func (ws *workspace) reset(members []uint32) {
	for _, s := range members {
		ws.number[s] = sparse.None
	}
}

// localSystem builds the equations of one component. It leaves the numbers of the unknowns in the
// workspace.
func (sys *system) localSystem(members []uint32, ws *workspace) *localSystem {
	ws.init(sys.g.NumStates())
	l := &localSystem{min: sys.min, prob: sys.prob, round: sys.round, hasRewards: sys.reward != nil}
	groups := sys.numberUnknowns(members, ws)
	sys.reserve(l, members)
	for _, group := range groups {
		l.choiceStart = append(l.choiceStart, uint32(len(l.termStart)))
		for _, s := range group {
			first, end := sys.g.Choices(int(s))
			for c := first; c < end; c++ {
				if sys.usable(c) {
					sys.addLocalRow(l, int(s), c, ws)
				}
			}
		}
	}
	l.choiceStart = append(l.choiceStart, uint32(len(l.termStart)))
	l.termStart = append(l.termStart, uint32(len(l.col)))
	l.init(sys.v.Scheduler != nil || sys.exact())
	return l
}

// reserve allocates space for all choices of the members.
func (sys *system) reserve(l *localSystem, members []uint32) {
	rows, terms := 0, 0
	for _, s := range members {
		first, end := sys.g.Choices(int(s))
		rows += end - first
		terms += int(sys.g.Start[end] - sys.g.Start[first])
	}
	l.termStart, l.origin = make([]uint32, 0, rows+1), make([]uint32, 0, rows)
	l.col, l.weight = make([]uint32, 0, terms), make([]float64, 0, terms)
	for _, x := range []*[]float64{&l.constLower, &l.constUpper, &l.exit, &l.err} {
		*x = make([]float64, 0, rows)
	}
}

// numberUnknowns numbers the unknowns of a component: one for each end component, and one for each
// state in none. It returns the states of each unknown.
func (sys *system) numberUnknowns(members []uint32, ws *workspace) [][]uint32 {
	groups := make([][]uint32, 0, len(members))
	for i, s := range members {
		if ws.number[s] != sparse.None {
			continue
		}
		group := members[i : i+1]
		if id := sys.ec(int(s)); id != sparse.None {
			group = sys.ecs.Members(int(id))
		}
		for _, t := range group {
			ws.number[t] = uint32(len(groups))
		}
		groups = append(groups, group)
	}
	return groups
}

// addLocalRow appends choice c of state s, divided by the sum of the weights that leave the unknown. It
// appends nothing if no weight does.
func (sys *system) addLocalRow(l *localSystem, s, c int, ws *workspace) {
	unknown := ws.number[s]
	firstTerm := len(l.col)
	reward := sys.reward.OfChoice(s, c)
	lo, hi, sum, exit, maxTarget := reward, reward, 0.0, 0.0, reward
	first, end := sys.g.Row(c)
	selfLoop := sys.g.Kind == sparse.CTMC
	for i := first; i < end; i++ {
		t, w := int(sys.g.Target[i]), sys.g.Prob(i)
		switch k := ws.number[t]; {
		case k == unknown:
			selfLoop = true
			continue
		case k != sparse.None:
			l.col, l.weight = append(l.col, k), append(l.weight, w)
		default:
			lo += w * sys.v.Lower[t]
			hi += w * sys.v.Upper[t]
			maxTarget = max(maxTarget, sys.v.Upper[t])
			exit += w
		}
		sum += w
	}
	if sum == 0 {
		return
	}
	if selfLoop {
		lo, hi = sys.round.quotient(lo, hi, sum)
		exit /= sum
		for i := firstTerm; i < len(l.weight); i++ {
			// A weight that underflows must stay positive; its effect is below rounding.floor.
			l.weight[i] = max(l.weight[i]/sum, 0x1p-1022)
		}
	}
	if maxTarget > 0 { // even if the products underflow
		hi = max(hi, sys.round.floor)
	}
	// For this sum, the division by the sum of weights, and the sums in sweeps.
	relErr := sys.round.sumErr(2 * (end - first))
	l.termStart = append(l.termStart, uint32(firstTerm))
	l.constLower, l.constUpper, l.err = append(l.constLower, lo), append(l.constUpper, hi), append(l.err, relErr)
	l.exit, l.origin = append(l.exit, exit), append(l.origin, uint32(c))
	switch {
	case math.IsInf(hi, 1): // a successor was given up
		l.inherited = math.Inf(1)
	case hi > lo && hi < sys.round.grid*0x1p34:
		l.inheritedAbs = max(l.inheritedAbs, (hi-lo)/exit)
	case hi > sys.round.underflowThreshold():
		l.inherited = max(l.inherited, (hi-lo)/hi)
	case hi > lo:
		l.underflowed = true
	}
}

// storeSolution copies the solution of a local system to the states of the component.
func (sys *system) storeSolution(l *localSystem, members []uint32, ws *workspace) {
	sys.v.Converged = sys.v.Converged && l.converged
	sys.v.Extended = sys.v.Extended || l.extended
	for _, s := range members {
		k := ws.number[s]
		sys.v.Lower[s], sys.v.Upper[s] = l.lower[k], l.upper[k]
	}
	sys.storeScheduler(l, members, ws)
	ws.reset(members)
}

// storeScheduler copies the choice of each unknown to the state that has this choice.
func (sys *system) storeScheduler(l *localSystem, members []uint32, ws *workspace) {
	if sys.v.Scheduler == nil {
		return
	}
	for _, s := range members {
		localChoice := l.scheduler[ws.number[s]]
		if localChoice == sparse.None {
			continue
		}
		first, end := sys.g.Choices(int(s))
		if c := l.origin[localChoice]; int(c) >= first && int(c) < end {
			sys.v.Scheduler[s] = c
		}
	}
}

// leaveEndComponents makes the states of each end component go to the one where the scheduler leaves
// it.
func (sys *system) leaveEndComponents(scheduler []uint32) {
	if scheduler == nil || sys.ecs == nil {
		return
	}
	exits := sparse.NewSet(sys.g.NumStates())
	for _, s := range sys.ecs.States {
		if scheduler[s] != sparse.None {
			exits.Add(int(s))
		}
	}
	sys.g.Approach(sys.ecs.Choices, exits, scheduler)
}
