package solve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrNotExact says that a model whose weights are float64 cannot be solved exactly.
var ErrNotExact = errors.New("the weights of the model are not exact")

// solveExact solves one component in rational arithmetic and returns the work it took.
func (sys *system) solveExact(members []uint32, ws *workspace, meter *meter) (work int, err error) {
	if len(members) == 1 {
		sys.solveExactState(int(members[0]))
	} else if err := sys.solveExactComponent(members, ws, meter); err != nil {
		return 0, err
	}
	return len(members) * (100 + reductionCost(sys.v.Exact[members[0]])), nil
}

func (sys *system) solveExactComponent(members []uint32, ws *workspace, meter *meter) error {
	float := sys.localSystem(members, ws)
	if len(float.origin) >= len(float.choiceStart) { // some unknown has several choices: start from a good scheduler
		if err := float.solve(meter, Options{}, 1e-6); err != nil {
			return err
		}
	}
	exact := sys.exactLocalSystem(float, ws)
	if err := exact.policyIteration(meter); err != nil {
		return err
	}
	copy(float.scheduler, exact.choice)
	sys.storeScheduler(float, members, ws)
	values := make([]*big.Rat, len(exact.choice)) // by unknown, which several states may share
	for _, s := range members {
		k := ws.number[s]
		if values[k] == nil {
			values[k] = exact.value(k)
		}
		sys.v.assign(int(s), values[k])
	}
	ws.reset(members)
	return nil
}

// exactSteps is steps in rational arithmetic. It computes only the states and steps that influence a
// wanted value.
func (sys *system) exactSteps(ctx context.Context, opts Options, open *sparse.Set, n int) error {
	if n == 0 {
		return nil
	}
	meter := newMeter(ctx, opts, n)
	window := sys.restrictedStepWindow(opts, open, n)
	if p := sys.newPowers(); p != nil {
		return p.steps(meter, window, n)
	}
	next := slices.Clone(sys.v.Exact)
	return window.forEachStep(sys.trace, meter, n, func(s uint32) (uint32, int) {
		best := sys.optimumRat(int(s))
		next[s] = best.value
		return best.choice, 1000 + reductionCost(best.value)
	}, func() { sys.v.Exact, next = next, sys.v.Exact })
}

// forEachStep calls visit for the states whose value matters in each of n steps, and done after each step.
// visit returns the optimal choice and the work it took.
func (b *stepWindow) forEachStep(trace *stepScheduler, meter *meter, n int, visit func(s uint32) (uint32, int), done func()) error {
	for k := range n {
		trace.beginStep()
		for _, s := range b.states {
			if b.restricted && (b.queryDistance[s] >= n-k || b.valueDistance[s] > k+1) { // not needed any more, or still zero
				continue
			}
			choice, work := visit(s)
			trace.setChoice(int(s), choice)
			if err := meter.addWork(work); err != nil {
				return err
			}
		}
		if err := meter.addWork(len(b.states)); err != nil {
			return err
		}
		done()
		trace.endStep(1)
		meter.progress.Done++
	}
	return nil
}

// stepWindow says in which steps the value of a state must be computed: in all steps, or if restricted, only where it
// influences a wanted value. queryDistance is the number of steps from the nearest wanted state to it, and
// valueDistance the number of steps from it to the nearest state with a nonzero value.
type stepWindow struct {
	states                       []uint32
	restricted                   bool // only the states with queryDistance 0 are wanted
	queryDistance, valueDistance []int
}

// newStepWindow returns the window of all steps of the open states.
func newStepWindow(open *sparse.Set) *stepWindow {
	b := &stepWindow{states: make([]uint32, 0, open.Count())}
	for s := range open.All() {
		b.states = append(b.states, uint32(s))
	}
	return b
}

// restrictedStepWindow returns the window for a number of steps of the open states, restricted to what influences
// the states of Options.Within.
func (sys *system) restrictedStepWindow(opts Options, open *sparse.Set, steps int) *stepWindow {
	window := newStepWindow(open)
	if opts.Within == nil || sys.trace != nil {
		return window
	}
	window.restricted, window.valueDistance = true, make([]int, sys.g.NumStates())
	window.queryDistance = sys.distances(opts.Within, open, func(s int, visit func(t int)) {
		for _, t := range sys.successors(uint32(s)) {
			visit(int(t))
		}
	})
	if sys.reward == nil {
		nonzero := sparse.NewSet(sys.g.NumStates())
		for s, x := range sys.v.Exact {
			if x.Sign() != 0 {
				nonzero.Add(s)
			}
		}
		window.valueDistance = sys.distances(nonzero, nil, func(s int, visit func(t int)) {
			for _, c := range sys.g.Into(s) {
				visit(sys.g.Owner(c))
			}
		})
	}
	window.states = slices.DeleteFunc(window.states, func(s uint32) bool {
		return window.queryDistance[s] >= steps || window.valueDistance[s] > steps-window.queryDistance[s]
	})
	return window
}

// distances returns the breadth-first distance of each state from a set. Only open states are expanded;
// nil stands for all.
func (sys *system) distances(set, open *sparse.Set, neighbours func(s int, visit func(t int))) []int {
	out := slices.Repeat([]int{math.MaxInt}, sys.g.NumStates())
	var queue []int
	for s := range set.All() {
		out[s] = 0
		queue = append(queue, s)
	}
	for at := 0; at < len(queue); at++ {
		s := queue[at]
		if open != nil && !open.Has(s) {
			continue
		}
		neighbours(s, func(t int) {
			if out[t] == math.MaxInt {
				out[t] = out[s] + 1
				queue = append(queue, t)
			}
		})
	}
	return out
}

// reductionCost estimates the operations to reduce x to lowest terms, which dominates if fractions are long.
func reductionCost(x *big.Rat) int {
	if x == nil {
		return 0
	}
	words := (x.Num().BitLen() + x.Denom().BitLen()) / 64
	return words * words
}

// solveExactState solves a component of one state.
func (sys *system) solveExactState(s int) {
	best := sys.optimumRat(s)
	if best.choice == sparse.None {
		return
	}
	if sys.v.Scheduler != nil {
		sys.v.Scheduler[s] = best.choice
	}
	sys.v.assign(s, best.value)
}

// exactOptimum is the optimal value of a state, and the first choice that attains it.
type exactOptimum struct {
	value  *big.Rat
	choice uint32
}

// optimumRat is optimum in rational arithmetic.
func (sys *system) optimumRat(s int) exactOptimum {
	best, least := exactOptimum{choice: sparse.None}, sys.minimizes(s)
	first, end := sys.g.Choices(s)
	for c := first; c < end; c++ {
		if !sys.usable(c) {
			continue
		}
		x := sys.evalRat(s, c)
		if x == nil || x == best.value {
			continue
		}
		if best.value == nil || x.Cmp(best.value) != 0 && (x.Cmp(best.value) < 0) == least {
			best = exactOptimum{x, uint32(c)}
		}
	}
	return best
}

// evalRat is eval in rational arithmetic. It returns nil for a choice that does not leave the state.
func (sys *system) evalRat(s, c int) *big.Rat {
	leave := !sys.step
	reward := sys.reward.OfChoiceRat(s, c)
	first, end := sys.g.Row(c)
	if end-first == 1 && reward.Sign() == 0 && !(leave && int(sys.g.Target[first]) == s) {
		if w := sys.g.Rat(first); sys.g.Kind == sparse.CTMC || w.IsInt() && w.Num().IsInt64() && w.Num().Int64() == 1 {
			return sys.v.Exact[sys.g.Target[first]]
		}
	}
	sys.sum.reset()
	sys.sum.addRat(reward)
	divide, leaves := sys.g.Kind == sparse.CTMC, false
	for i := first; i < end; {
		w := sys.g.Rat(i)
		sys.term.reset()
		for ; i < end && sys.g.Rat(i) == w; i++ { // factor out equal weights
			if t := int(sys.g.Target[i]); leave && t == s {
				divide = true
			} else {
				leaves = true
				sys.term.addRat(sys.v.Exact[t])
			}
		}
		sys.sum.addProduct(w, &sys.term)
	}
	switch {
	case !leaves:
		return nil
	case !divide:
		return sys.sum.rat()
	}
	sys.part.reset()
	for i := first; i < end; i++ {
		if !leave || int(sys.g.Target[i]) != s {
			sys.part.addRat(sys.g.Rat(i))
		}
	}
	sys.sum.num.Mul(&sys.sum.num, &sys.part.den)
	sys.sum.den.Mul(&sys.sum.den, &sys.part.num)
	return sys.sum.rat()
}
