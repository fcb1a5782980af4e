package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Budget is what may be spent: what each choice costs, and how much all may cost together.
type Budget struct {
	Cost []int // of choices, not negative
	Most int
}

// maxBudgetValues is how many values are kept at a time.
const maxBudgetValues = 1 << 27

// BudgetUntil returns bounds on the extremal probability of `left U right` where
// what was spent before right must be within a budget: for each budget from nothing on,
// from those before. It reports false where that does not work: what costs nothing has
// a cycle through several states, or one step may cost so much that too many values
// would have to be kept.
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
	order, ok := free(g.Model, b.Cost).Topological(left.Minus(right))
	if !ok {
		return nil, false, nil
	}
	opts.Scheduler = false
	sys, err := newSystem(g, nil, dir, opts)
	if err != nil {
		return nil, false, err
	}
	last := make([]*Values, most+1) // of the budget k at k modulo their number
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
				x := sys.spendExact(int(s), k, b.Cost, last)
				now.assign(int(s), x)
				work += reductionCost(x)
			} else {
				now.Lower[s], now.Upper[s] = sys.spend(int(s), k, b.Cost, last)
			}
			if err := meter.addWork(work); err != nil {
				return nil, true, err
			}
		}
		// What depends on equal values only is equal for ever.
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

// free is a graph of the steps that cost nothing.
func free(m *sparse.Model, cost []int) *sparse.Model {
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

// spend is what a state is worth with a budget, by the values of this and of smaller ones.
func (sys *system) spend(s, budget int, cost []int, last []*Values) (lo, hi float64) {
	b := none(sys.min)
	first, end := sys.g.Choices(s)
	for c := first; c < end; c++ {
		x := row{leaves: true} // nothing
		if k := cost[c]; k <= budget {
			sys.v, sys.step = last[(budget-k)%len(last)], k > 0
			if x = sys.eval(s, c); !x.leaves { // it stays for ever, and spends nothing
				x = row{leaves: true}
			}
		}
		b.take(x, uint32(c), sys.min)
	}
	return min(b.lo, 1), min(b.hi, 1)
}

// spendExact is spend, in fractions.
func (sys *system) spendExact(s, budget int, cost []int, last []*Values) (best *big.Rat) {
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

// equal reports whether two have the same values, in fractions if they are.
func (v *Values) equal(w *Values) bool {
	if v.Exact == nil {
		return slices.Equal(v.Lower, w.Lower) && slices.Equal(v.Upper, w.Upper)
	}
	return slices.EqualFunc(v.Exact, w.Exact, func(x, y *big.Rat) bool { return x == y || x.Cmp(y) == 0 })
}
