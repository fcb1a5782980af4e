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
func BudgetUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, b Budget, dir Direction, opts Options) (values *Values, ok bool, err error) {
	n, most := graph.NumStates(), 0
	for _, k := range b.Cost {
		if k <= b.Most {
			most = max(most, k)
		}
	}
	if (most+1)*n > maxBudgetValues {
		return nil, false, nil
	}
	order, ok := zeroCostGraph(graph.Model, b.Cost).Topological(left.Minus(right))
	if !ok {
		return nil, false, nil
	}
	opts.Scheduler = false
	sys, err := newSystem(graph, nil, dir, opts)
	if err != nil {
		return nil, false, err
	}
	last := make([]*Values, most+1) // the values of budget k are at k modulo the length
	for i := range last {
		last[i] = newValues(graph.Model, opts)
		last[i].set(right, 1)
	}
	meter := newMeter(ctx, opts, b.Most+1)
	same := 0
	for k := 0; k <= b.Most; k++ {
		now := last[k%len(last)]
		for _, s := range order.Order {
			work := 2 + len(graph.Target)/n
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
		if values = now; same > most {
			break
		}
		meter.progress.Done = k
	}
	return values, true, nil
}

// zeroCostGraph returns the graph of the choices without cost.
func zeroCostGraph(model *sparse.Model, cost []int) *sparse.Model {
	result := &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}}
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			if cost[c] == 0 {
				lo, hi := model.Row(c)
				result.Target = append(result.Target, model.Target[lo:hi]...)
			}
		}
		result.Start = append(result.Start, uint32(len(result.Target)))
	}
	return result
}

// budgetOptimum returns bounds on the value of a state with a budget, from the values of this and of smaller budgets.
func (sys *system) budgetOptimum(s, budget int, cost []int, recent []*Values) (lo, hi float64) {
	optimum := emptyBestBounds(sys.minimize)
	first, end := sys.graph.Choices(s)
	for c := first; c < end; c++ {
		var bounds choiceBounds
		if cost[c] <= budget {
			sys.values = recent[(budget-cost[c])%len(recent)]
			sys.oneStep = cost[c] > 0
			bounds = sys.evaluateChoice(s, c)
		}
		if !bounds.leaves { // it costs too much, or the scheduler stays forever without cost
			bounds = choiceBounds{leaves: true}
		}
		optimum.include(bounds, uint32(c), sys.minimize)
	}
	return min(optimum.lower, 1), min(optimum.upper, 1)
}

// budgetOptimumRat is budgetOptimum in rational arithmetic.
func (sys *system) budgetOptimumRat(s, budget int, cost []int, recent []*Values) (best *big.Rat) {
	first, end := sys.graph.Choices(s)
	for c := first; c < end; c++ {
		var x *big.Rat
		if k := cost[c]; k <= budget {
			sys.values, sys.oneStep = recent[(budget-k)%len(recent)], k > 0
			x = sys.evaluateChoiceRat(s, c)
		}
		if x == nil {
			x = new(big.Rat)
		}
		if best == nil || x != best && (x.Cmp(best) < 0) == sys.minimize {
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
