package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Budget bounds the sum of the costs of the choices on a path.
type Budget struct {
	Costs []int // of each choice, nonnegative
	Limit int   // the greatest sum that is allowed
}

// maxBudgetValues is the greatest number of values in memory.
const maxBudgetValues = 1 << 27

// BudgetUntil returns bounds on the extremal probability of `left U right` with a budget: the sum of the costs before right is reached must not exceed it.
// It computes the values for one budget after the other, because they follow from the values for smaller budgets. ok is false if choices without cost form a
// cycle of several states, or if too many values must be stored.
//
// Source: Hahn and Hartmanns, A comparison of time- and reward-bounded probabilistic
// model checking techniques (2016), section 4.
func BudgetUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, budget Budget, direction Direction, opts Options) (values *Values, ok bool, err error) {
	maxCost := budget.maxCost()
	if (maxCost+1)*graph.NumStates() > maxBudgetValues {
		return nil, false, nil
	}
	order, ok := zeroCostGraph(graph.Model, budget.Costs).Topological(left.Minus(right))
	if !ok {
		return nil, false, nil
	}
	opts.Scheduler = false
	system, err := newSystem(graph, nil, direction, opts)
	if err != nil {
		return nil, false, err
	}
	recentValues := make([]*Values, maxCost+1) // a ring buffer: the values for budget k are at the index k modulo the length
	for i := range recentValues {
		recentValues[i] = newValues(graph.Model, opts)
		recentValues[i].setAll(right, 1)
	}
	values, err = system.solveBudgets(order.Order, budget, recentValues, newStepMeter(ctx, opts, budget.Limit+1))
	return values, true, err
}

// maxCost returns the greatest cost of a choice that the budget allows.
func (budget Budget) maxCost() int {
	greatest := 0
	for _, cost := range budget.Costs {
		if cost <= budget.Limit {
			greatest = max(greatest, cost)
		}
	}
	return greatest
}

// solveBudgets computes the values for the budgets 0, 1, 2 and so on, and returns the values for budget.Limit. The ring buffer recentValues has the values
// for budget k at the index k modulo its length. No choice costs as much as this length. So if as many successive budgets have equal values, all greater
// budgets have the same values, and the computation stops.
func (system *equationSystem) solveBudgets(order []uint32, budget Budget, recentValues []*Values, meter *meter) (values *Values, err error) {
	numEqual := 0 // the number of successive budgets with equal values
	for spent := 0; spent <= budget.Limit && numEqual < len(recentValues); spent++ {
		values = recentValues[spent%len(recentValues)]
		if err := system.solveBudget(order, spent, budget.Costs, recentValues, meter); err != nil {
			return nil, err
		}
		previous := recentValues[(spent+len(recentValues)-1)%len(recentValues)]
		numEqual++
		if spent == 0 || !values.equal(previous) {
			numEqual = 0
		}
		meter.progress.Done = spent
	}
	return values, nil
}

// solveBudget computes the value of each state for one budget, and stores the values in recentValues. order has each state after the states to which its
// choices without cost lead.
func (system *equationSystem) solveBudget(order []uint32, budget int, costs []int, recentValues []*Values, meter *meter) error {
	values := recentValues[budget%len(recentValues)]
	workPerState := 2 + len(system.graph.Target)/system.graph.NumStates()
	for _, state := range order {
		work := workPerState
		if values.Exact != nil {
			value := system.budgetOptimumRat(int(state), budget, costs, recentValues)
			values.setExact(int(state), value)
			work += reductionCost(value)
		} else {
			values.Lower[state], values.Upper[state] = system.budgetOptimum(int(state), budget, costs, recentValues)
		}
		if err := meter.addWork(work); err != nil {
			return err
		}
	}
	return nil
}

// zeroCostGraph returns a graph with an edge from each state to every target of its choices without cost.
func zeroCostGraph(model *sparse.Model, costs []int) *sparse.Model {
	result := &sparse.Model{Kind: sparse.DTMC, FirstTransition: []uint32{0}}
	for state := range model.NumStates() {
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			if costs[choice] == 0 {
				firstTransition, endTransition := model.Transitions(choice)
				result.Target = append(result.Target, model.Target[firstTransition:endTransition]...)
			}
		}
		result.FirstTransition = append(result.FirstTransition, uint32(len(result.Target)))
	}
	return result
}

// budgetOptimum returns bounds on the optimal probability of a state with the given budget. A choice with the cost k has the mean value of its targets for
// the budget budget-k.
func (system *equationSystem) budgetOptimum(state, budget int, costs []int, recentValues []*Values) (lower, upper float64) {
	optimum := emptyBestBounds(system.minimize)
	first, end := system.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		var bounds choiceBounds
		if costs[choice] <= budget {
			system.values = recentValues[(budget-costs[choice])%len(recentValues)] // evaluateChoice reads them
			system.isOneStep = costs[choice] > 0                                   // a self-loop with a cost leads to the same state with a smaller budget
			bounds = system.evaluateChoice(state, choice)
		}
		if !bounds.leavesState { // the choice exceeds the budget or has only self-loops without cost, so its value is 0
			bounds = choiceBounds{leavesState: true}
		}
		optimum.include(bounds, uint32(choice), system.minimize)
	}
	return min(optimum.lower, 1), min(optimum.upper, 1)
}

// budgetOptimumRat returns the exact optimal probability of a state with the given budget. A choice with the cost k has the mean value of its targets for
// the budget budget-k.
func (system *equationSystem) budgetOptimumRat(state, budget int, costs []int, recentValues []*Values) (best *big.Rat) {
	first, end := system.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		var value *big.Rat
		if costs[choice] <= budget {
			system.values = recentValues[(budget-costs[choice])%len(recentValues)]
			system.isOneStep = costs[choice] > 0
			value = system.exactChoiceValue(state, choice)
		}
		if value == nil { // the choice exceeds the budget or has only self-loops without cost, so its value is 0
			value = new(big.Rat)
		}
		if isBetterRat(value, best, system.minimize) {
			best = value
		}
	}
	return best
}

// equal reports whether two results have the same exact values or, without exact values, the same bounds.
func (values *Values) equal(other *Values) bool {
	if values.Exact == nil {
		return slices.Equal(values.Lower, other.Lower) && slices.Equal(values.Upper, other.Upper)
	}
	return slices.EqualFunc(values.Exact, other.Exact, func(left, right *big.Rat) bool { return left == right || left.Cmp(right) == 0 })
}
