package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// intervalSystem is a system of equations of an interval model: the value of a choice is reward + opt over its
// distributions p of sum over t of p(t) x(t). Nature picks the distribution. All lower interval ends
// are positive, so the graph does not depend on it: qualitative results are those of the model without
// intervals. An end component in which the scheduler could stay without reward is one unknown. Then the
// equations have one solution; inductive bounds enclose it.
//
// A distribution consists of the lower interval ends plus a budget, 1 minus their sum. The budget is
// spent on targets in the order of their values, on each at most the width of its interval. Widths and
// budgets are computed from fractions, each rounded once, so there is no cancellation.
//
// Source: Givan, Leach and Dean, Bounded-parameter Markov decision processes (2000); Katoen, Klink,
// Leucker and Wolf (CAV 2007); Puggelli et al. (CAV 2013).
type intervalSystem struct {
	g              *sparse.Graph
	dir            Direction
	reward         *sparse.Reward
	prob           bool
	open           *sparse.Set
	choices        *sparse.Set         // the allowed choices; nil for all
	representative []uint32            // the state that represents the end component of each state; nil if there are no end components
	merged         map[uint32][]uint32 // the states of each end component, by representative
	width          []float64           // of the interval of each transition
	budget         []float64           // of each choice
	v              *Values
	room           []roomEntry // scratch of choiceBound
	meter          *meter
}

// roomEntry is a target on which some of the budget can be spent.
type roomEntry struct{ value, width float64 }

func newIntervalSystem(ctx context.Context, g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*intervalSystem, error) {
	if !g.Exact() || r != nil && (r.State != nil && r.StateRat == nil || r.Choice != nil && r.ChoiceRat == nil) {
		return nil, ErrNotExact
	}
	opts.Scheduler = false
	iv := &intervalSystem{g: g, dir: dir, reward: r, v: newValues(g.Model, opts), meter: newMeter(ctx, opts, g.NumStates())}
	return iv, iv.computeBudgets()
}

func (iv *intervalSystem) computeBudgets() error {
	m := iv.g.Model
	iv.width, iv.budget = make([]float64, m.NumTransitions()), make([]float64, m.NumChoices())
	widths := map[[2]uint32]float64{}
	budget := new(big.Rat)
	for c := range m.NumChoices() {
		first, end := m.Row(c)
		budget.SetInt64(1)
		for i := first; i < end; i++ {
			budget.Sub(budget, m.Rat(i))
			ends := [2]uint32{m.Weight[i], m.High[i]}
			if ends[0] == ends[1] {
				continue
			}
			w, ok := widths[ends]
			if !ok {
				w = positive(new(big.Rat).Sub(m.HighRat(i), m.Rat(i)))
				widths[ends] = w
			}
			iv.width[i] = w
		}
		iv.budget[c] = positive(budget)
		if err := iv.meter.addWork(1000); err != nil {
			return err
		}
	}
	return nil
}

// positive rounds a nonnegative fraction to a float64, which is 0 only for 0.
func positive(x *big.Rat) float64 {
	if x.Sign() == 0 {
		return 0
	}
	f, _ := sparse.NormalFloat(x)
	return f
}

// robustFloor corresponds to rounding.floor.
const robustFloor = 0x1p-900

// choiceBound returns a lower or upper bound on the value of choice c of state s, from those of its
// targets.
//
// Budget and widths are rounded towards the wanted bound. A greater budget raises the value for both
// natures. Greater widths raise it if nature maximizes, and lower it if nature minimizes.
func (iv *intervalSystem) choiceBound(s, c int, up bool) float64 {
	m, x := iv.g.Model, iv.v.Lower
	if up {
		x = iv.v.Upper
	}
	reward := iv.reward.OfChoice(s, c)
	sum, minimum, maximum := reward, math.Inf(1), 0.0
	first, end := m.Row(c)
	iv.room = iv.room[:0]
	for i := first; i < end; i++ {
		v := x[iv.representativeOf(m.Target[i])]
		sum += m.Prob(i) * v
		minimum, maximum = min(minimum, v), max(maximum, v)
		if iv.width[i] > 0 {
			iv.room = append(iv.room, roomEntry{v, iv.width[i]})
		}
	}
	if maximum == 0 && reward == 0 {
		return 0
	}
	if iv.budget[c] > 0 {
		sum += iv.spendBudget(iv.budget[c], up)
	}
	e := 1.05 * float64(4*(end-first)+24) * unit
	if iv.reward != nil {
		e += 1.05 * iv.reward.Err
	}
	if up {
		sum = max(sum+sum*e, robustFloor)
		if reward == 0 {
			sum = min(sum, maximum)
		}
		if iv.prob {
			sum = min(sum, 1)
		}
		return sum
	}
	sum = min(sum, math.MaxFloat64)
	if sum -= sum * e; !(sum >= robustFloor) {
		sum = 0
	}
	if reward == 0 {
		sum = max(sum, minimum)
	}
	return sum
}

// spendBudget distributes a budget over the targets in room, and returns the value that this adds.
func (iv *intervalSystem) spendBudget(rest float64, up bool) float64 {
	lowest := iv.dir.nature() == Min
	slices.SortFunc(iv.room, func(a, b roomEntry) int {
		switch {
		case a.value == b.value:
			return 0
		case (a.value < b.value) == lowest:
			return -1
		}
		return 1
	})
	budgetFactor, widthFactor := 1-4*unit, 1-4*unit
	if up {
		budgetFactor = 1 + 4*unit
	}
	if up != lowest {
		widthFactor = 1 + 4*unit
	}
	rest *= budgetFactor
	sum := 0.0
	for _, p := range iv.room {
		amount := min(p.width*widthFactor, rest)
		sum += amount * p.value
		if rest = (rest - amount) * budgetFactor; rest <= 0 {
			break
		}
	}
	return sum
}

func (iv *intervalSystem) representativeOf(s uint32) uint32 {
	if iv.representative == nil {
		return s
	}
	return iv.representative[s]
}

// mergeEndComponents makes one unknown of each end component of the open states in which the scheduler
// can stay without reward. Its choices are those that leave it.
func (iv *intervalSystem) mergeEndComponents(ctx context.Context) error {
	m := iv.g.Model
	zeroReward := sparse.NewSet(m.NumChoices())
	for s := range iv.open.All() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if (iv.choices == nil || iv.choices.Has(c)) && iv.reward.OfChoice(s, c) == 0 {
				zeroReward.Add(c)
			}
		}
	}
	ends, err := m.EndComponents(ctx, iv.open, zeroReward)
	if err != nil || ends.Num() == 0 {
		return err
	}
	iv.representative, iv.merged = make([]uint32, m.NumStates()), map[uint32][]uint32{}
	for s := range iv.representative {
		iv.representative[s] = uint32(s)
	}
	for i := range ends.Num() {
		members := ends.Members(i)
		iv.merged[members[0]] = members
		for _, s := range members {
			iv.representative[s] = members[0]
		}
	}
	if iv.choices == nil {
		iv.choices = sparse.FullSet(m.NumChoices())
	}
	iv.choices = iv.choices.Minus(ends.Choices)
	return nil
}

// forEachChoice calls f for the allowed choices of an unknown.
func (iv *intervalSystem) forEachChoice(s uint32, f func(s, c int)) {
	members := iv.merged[s]
	if members == nil {
		members = []uint32{s}
	}
	for _, t := range members {
		first, end := iv.g.Choices(int(t))
		for c := first; c < end; c++ {
			if iv.choices == nil || iv.choices.Has(c) {
				f(int(t), c)
			}
		}
	}
}

// optimum returns a bound on the value of an unknown, and the work it took.
func (iv *intervalSystem) optimum(s uint32, up bool) (x float64, work int) {
	lowest := iv.dir.Scheduler() == Min
	first := true
	iv.forEachChoice(s, func(t, c int) {
		b := iv.choiceBound(t, c, up)
		if first || (b < x) == lowest {
			x, first = b, false
		}
		work += 4 * int(iv.g.Start[c+1]-iv.g.Start[c])
	})
	return x, work
}

// solve computes the values of the open states component by component, and then the exact values if
// they are asked for.
func (iv *intervalSystem) solve(ctx context.Context, opts Options) (*Values, error) {
	comps := iv.g.Model.Components(iv.open, nil)
	for i := range comps.Num() {
		var unknowns []uint32
		for _, s := range comps.Members(i) {
			if iv.representativeOf(s) == s {
				unknowns = append(unknowns, s)
			}
		}
		if err := iv.solveComponent(unknowns, opts); err != nil {
			return nil, err
		}
		for _, s := range comps.Members(i) {
			h := iv.representativeOf(s)
			iv.v.Lower[s], iv.v.Upper[s] = iv.v.Lower[h], iv.v.Upper[h]
		}
		iv.meter.progress.Done += len(comps.Members(i))
	}
	if iv.v.Exact != nil {
		if err := iv.exactStrategyIteration(ctx, opts); err != nil {
			return nil, err
		}
	}
	return iv.v, nil
}

// solveComponent bounds the values of a component whose successors are solved, by optimistic value
// iteration.
func (iv *intervalSystem) solveComponent(unknowns []uint32, opts Options) error {
	if len(unknowns) == 1 && !iv.hasSelfLoop(unknowns[0]) {
		s := unknowns[0]
		var work int
		iv.v.Lower[s], work = iv.optimum(s, false)
		iv.v.Upper[s], _ = iv.optimum(s, true)
		return iv.meter.addWork(2 * work)
	}
	margin, precision := opts.epsilon()/2, opts.epsilon()/8
	for sweeps := 1; ; sweeps++ {
		change, err := iv.sweepLower(unknowns)
		if err != nil {
			return err
		}
		if change > precision && sweeps < opts.maxSweeps() {
			continue
		}
		proved, err := iv.proveUpper(unknowns, margin, 10+sweeps/2)
		if proved || err != nil {
			return err
		}
		switch {
		case sweeps >= opts.maxSweeps() || margin > 1:
			iv.giveUp(unknowns)
			return nil
		case change == 0: // as tight as float64 allows
			margin *= 8
		default:
			precision /= 8
		}
	}
}

// hasSelfLoop reports whether a choice of an unknown leads back to it.
func (iv *intervalSystem) hasSelfLoop(s uint32) bool {
	back := false
	iv.forEachChoice(s, func(_, c int) {
		lo, hi := iv.g.Row(c)
		back = back || slices.ContainsFunc(iv.g.Target[lo:hi], func(t uint32) bool { return iv.representativeOf(t) == s })
	})
	return back
}

// sweepLower raises the lower bounds by one sweep, and returns the greatest relative change.
func (iv *intervalSystem) sweepLower(unknowns []uint32) (change float64, err error) {
	iv.v.Sweeps++
	iv.meter.progress.Sweeps++
	for _, s := range unknowns {
		x, work := iv.optimum(s, false)
		if old := iv.v.Lower[s]; x > old {
			change = max(change, (x-old)/x)
			iv.v.Lower[s] = x
		}
		if err := iv.meter.addWork(work); err != nil {
			return 0, err
		}
	}
	iv.meter.progress.Change = change
	return change, nil
}

// proveUpper guesses upper bounds by a margin above the lower ones, and tries to prove them inductive
// within the given number of sweeps.
//
// Source: optimistic value iteration, Hartmanns and Kaminski (CAV 2020).
func (iv *intervalSystem) proveUpper(unknowns []uint32, margin float64, sweeps int) (proved bool, err error) {
	for _, s := range unknowns {
		u := max(iv.v.Lower[s]*(1+margin), robustFloor)
		if iv.prob {
			u = min(u, 1)
		}
		iv.v.Upper[s] = u
	}
	for range sweeps {
		iv.v.Sweeps++
		neverRose, neverFell := true, true
		for _, s := range unknowns {
			u, work := iv.optimum(s, true)
			neverRose, neverFell = neverRose && u <= iv.v.Upper[s], neverFell && u >= iv.v.Upper[s]
			iv.v.Upper[s] = u
			if err := iv.meter.addWork(work); err != nil {
				return false, err
			}
		}
		if neverRose {
			return true, nil
		}
		if neverFell {
			return false, nil
		}
	}
	return false, nil
}

// giveUp sets trivial upper bounds, and keeps the lower ones.
func (iv *intervalSystem) giveUp(unknowns []uint32) {
	iv.v.Converged = false
	for _, s := range unknowns {
		iv.v.Upper[s] = math.Inf(1)
		if iv.prob {
			iv.v.Upper[s] = 1
		}
	}
}

func robustUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, dir Direction, opts Options) (*Values, error) {
	iv, err := newIntervalSystem(ctx, g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	q, err := computeProb01(ctx, g, left, right, dir.Scheduler())
	if err != nil {
		return nil, err
	}
	iv.prob = true
	iv.v.set(q.one, 1)
	iv.open = q.open()
	if err := iv.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return iv.solve(ctx, opts)
}

// canEarnReward returns the open states from which a reward can be earned in open states. The others
// have value 0.
func (iv *intervalSystem) canEarnReward(open *sparse.Set) *sparse.Set {
	some := sparse.NewSet(iv.g.NumStates())
	for s := range open.All() {
		first, end := iv.g.Choices(s)
		for c := first; c < end; c++ {
			if iv.reward.OfChoice(s, c) > 0 {
				some.Add(s)
			}
		}
	}
	return iv.g.ExistsUntil(open, some).Intersect(open)
}

func robustReach(ctx context.Context, g *sparse.Graph, r *sparse.Reward, target *sparse.Set, dir Direction, opts Options) (*Values, error) {
	iv, err := newIntervalSystem(ctx, g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	p, err := analyzeReachReward(ctx, g, target, dir.Scheduler())
	if err != nil {
		return nil, err
	}
	iv.v.set(p.infinite, math.Inf(1))
	iv.open, iv.choices = iv.canEarnReward(p.open), p.choices
	if err := iv.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return iv.solve(ctx, opts)
}
