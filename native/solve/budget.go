package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Budget bounds the sum of the costs of the choices on a path.
type Budget struct {
	Cost []int // of each choice, nonnegative
	Most int   // the greatest sum
}

// maxBudgetValues is the greatest number of values in memory.
const maxBudgetValues = 1 << 27

// BudgetUntil returns bounds on the extremal probability of `left U right` in which the sum of the costs before right
// must be within a budget. It computes the values of each budget from those of smaller ones. ok is false if choices
// without cost form a cycle through several states, or if a step costs so much that too many values must be kept.
//
// Source: Hahn and Hartmanns, A comparison of time- and reward-bounded probabilistic
// model checking techniques (2016), section 4.
func BudgetUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, b Budget, dir Direction, opts Options) (v *Values, ok bool, err error) {
	n, most := g.NumStates(), 0
	for _, k := range b.Cost {
		if k <= b.Most {
			most = max(most, k)
		}
	}
	if (most+1)*n > maxBudgetValues {
		return nil, false, nil
	}
	order, ok := zeroCostGraph(g.Model, b.Cost).Topological(left.Minus(right))
	if !ok {
		return nil, false, nil
	}
	opts.Scheduler = false
	sys, err := newSystem(g, nil, dir, opts)
	if err != nil {
		return nil, false, err
	}
	last := make([]*Values, most+1) // the values of budget k are at k modulo the length
	for i := range last {
		last[i] = newValues(g.Model, opts)
		last[i].set(right, 1)
	}
	meter := newMeter(ctx, opts, b.Most+1)
	same := 0
	for k := 0; k <= b.Most; k++ {
		now := last[k%len(last)]
		for _, s := range order.Order {
			work := 2 + len(g.Target)/n
			if sys.exact() {
				x := sys.budgetOptimumRat(int(s), k, b.Cost, last)
				now.assign(int(s), x)
				work += reductionCost(x)
			} else {
				now.Lower[s], now.Upper[s] = sys.budgetOptimum(int(s), k, b.Cost, last)
			}
			if err := meter.addWork(work); err != nil {
				return nil, true, err
			}
		}
		// If the values of most+1 budgets are equal, so are those of all greater ones.
		if same++; k == 0 || !now.equal(last[(k+most)%len(last)]) {
			same = 0
		}
		if v = now; same > most {
			break
		}
		meter.progress.Done = k
	}
	return v, true, nil
}

// zeroCostGraph returns the graph of the choices without cost.
func zeroCostGraph(m *sparse.Model, cost []int) *sparse.Model {
	out := &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if cost[c] == 0 {
				lo, hi := m.Row(c)
				out.Target = append(out.Target, m.Target[lo:hi]...)
			}
		}
		out.Start = append(out.Start, uint32(len(out.Target)))
	}
	return out
}

// budgetOptimum returns bounds on the value of a state with a budget, from the values of this and of smaller budgets.
func (sys *system) budgetOptimum(s, budget int, cost []int, last []*Values) (lo, hi float64) {
	b := noBest(sys.min)
	first, end := sys.g.Choices(s)
	for c := first; c < end; c++ {
		x := choiceBounds{leaves: true} // value 0 if the choice costs too much
		if k := cost[c]; k <= budget {
			sys.v, sys.step = last[(budget-k)%len(last)], k > 0
			if x = sys.eval(s, c); !x.leaves { // it stays forever without cost
				x = choiceBounds{leaves: true}
			}
		}
		b.take(x, uint32(c), sys.min)
	}
	return min(b.lo, 1), min(b.hi, 1)
}

// budgetOptimumRat is budgetOptimum in rational arithmetic.
func (sys *system) budgetOptimumRat(s, budget int, cost []int, last []*Values) (best *big.Rat) {
	first, end := sys.g.Choices(s)
	for c := first; c < end; c++ {
		var x *big.Rat
		if k := cost[c]; k <= budget {
			sys.v, sys.step = last[(budget-k)%len(last)], k > 0
			x = sys.evalRat(s, c)
		}
		if x == nil {
			x = new(big.Rat)
		}
		if best == nil || x != best && (x.Cmp(best) < 0) == sys.min {
			best = x
		}
	}
	return best
}

// equal reports whether all bounds, or all exact values, are equal.
func (v *Values) equal(w *Values) bool {
	if v.Exact == nil {
		return slices.Equal(v.Lower, w.Lower) && slices.Equal(v.Upper, w.Upper)
	}
	return slices.EqualFunc(v.Exact, w.Exact, func(x, y *big.Rat) bool { return x == y || x.Cmp(y) == 0 })
}
