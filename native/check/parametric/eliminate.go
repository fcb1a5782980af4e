package parametric

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"maps"
	"slices"

	"tilecheck/native/solve/ratfunc"
)

// maxTerms limits the terms of an intermediate function.
const maxTerms = 100_000

// checkSize returns an error if a function has too many terms.
func checkSize(function *ratfunc.Func) error {
	if n := function.Size(); n > maxTerms {
		return fmt.Errorf("a function of the parameters has more than %d terms: want fewer parameters, or values for them (-c)", maxTerms)
	}
	return nil
}

// eliminate returns the expected sum of gains on a path from a state until it reaches a state for which isInside is false, one sum for each
// function in gains. gains[k](s) is a gain of a visit of state s. The path must reach such a state almost surely.
//
// Source: state elimination, Daws, Symbolic and parametric model checking of discrete-time Markov chains (2004).
func (chain *Chain) eliminate(ctx context.Context, state int, isInside func(s int) bool, gains ...func(s int) *ratfunc.Func) ([]*ratfunc.Func, error) {
	elimination, err := chain.eliminateOthers(ctx, state, isInside, gains)
	if err != nil {
		return nil, err
	}
	elimination.removeSelfLoop(state)
	return elimination.rightSides[state], elimination.err
}

// eliminateCycle returns the expected sum of each gain that a path from a state collects until it reaches the state again. It must reach
// the state with probability one, through states for which isInside is true.
func (chain *Chain) eliminateCycle(ctx context.Context, state int, isInside func(s int) bool, gains ...func(s int) *ratfunc.Func) ([]*ratfunc.Func, error) {
	elimination, err := chain.eliminateOthers(ctx, state, isInside, gains)
	if err != nil {
		return nil, err
	}
	return elimination.rightSides[state], nil
}

// elimination is a system of equations from which states are eliminated one at a time.
type elimination struct {
	one          *ratfunc.Func
	coefficients map[int]map[int]*ratfunc.Func // the coefficients of each equation, by state and successor
	predecessors map[int]map[int]bool          // the states in whose equations a state occurs
	rightSides   map[int][]*ratfunc.Func       // the right-hand sides of each equation
	queue        queue                         // the states to eliminate
	err          error
	// If keepsRemoved is true, removedEquations has the equations of the eliminated states, in the order of elimination.
	keepsRemoved     bool
	removedEquations []removedEquation
}

// removedEquation is the equation of a state at the time of its elimination.
type removedEquation struct {
	state        int
	coefficients map[int]*ratfunc.Func
	rightSide    *ratfunc.Func
}

// eliminateOthers makes the equations x(s) = sum of P(s,t) x(t) + g(s), one for each function g in rightSideFunctions, for each state s that is
// reachable from last through states for which isInside is true. It then eliminates all states except last.
func (chain *Chain) eliminateOthers(ctx context.Context, last int, isInside func(s int) bool, rightSideFunctions []func(s int) *ratfunc.Func) (*elimination, error) {
	system := newElimination(chain.one, last)
	stack := []int{last}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if system.coefficients[s] != nil {
			continue
		}
		var rightSides []*ratfunc.Func
		for _, rightSideOf := range rightSideFunctions {
			rightSides = append(rightSides, rightSideOf(s))
		}
		system.addEquation(s, chain.rows[s], isInside, rightSides)
		for _, transition := range chain.rows[s] {
			if isInside(transition.target) {
				stack = append(stack, transition.target)
			}
		}
	}
	return system, system.eliminateAllBut(ctx, last)
}

// newElimination returns a system without equations. The state last is never eliminated.
func newElimination(one *ratfunc.Func, last int) *elimination {
	return &elimination{one: one, coefficients: map[int]map[int]*ratfunc.Func{}, predecessors: map[int]map[int]bool{last: {}}, rightSides: map[int][]*ratfunc.Func{}}
}

// addEquation adds the equations x(s) = sum of P(s,t) x(t) + g(s) of state s. row has the transitions from s to t, and rightSides has g(s) for
// each equation. It ignores transitions to states for which isInside is false.
func (elimination *elimination) addEquation(s int, row []transition, isInside func(s int) bool, rightSides []*ratfunc.Func) {
	elimination.coefficients[s] = map[int]*ratfunc.Func{}
	elimination.rightSides[s] = rightSides
	if elimination.predecessors[s] == nil {
		elimination.predecessors[s] = map[int]bool{}
	}
	for _, transition := range row {
		target := transition.target
		if !isInside(target) {
			continue
		}
		if elimination.predecessors[target] == nil {
			elimination.predecessors[target] = map[int]bool{}
		}
		elimination.coefficients[s][target] = transition.probability
		elimination.predecessors[target][s] = true
	}
}

// eliminateAllBut eliminates all states except last. It always chooses a state with the least cost, an estimate of the work to eliminate this state.
func (elimination *elimination) eliminateAllBut(ctx context.Context, last int) error {
	for s := range elimination.coefficients {
		if s != last {
			elimination.queue = append(elimination.queue, elimination.candidate(s))
		}
	}
	heap.Init(&elimination.queue)
	for len(elimination.queue) > 0 && elimination.err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := heap.Pop(&elimination.queue).(candidate)
		isEliminated := elimination.coefficients[next.state] == nil
		if isEliminated {
			continue
		}
		current := elimination.candidate(next.state)
		if current.cost > next.cost { // other eliminations have increased the cost
			heap.Push(&elimination.queue, current)
			continue
		}
		elimination.eliminateState(next.state, last)
	}
	return elimination.err
}

// backSubstitute returns the values of all states. It inserts known values into the equations of the eliminated states, in reverse order
// of elimination.
func (elimination *elimination) backSubstitute(last int) (map[int]*ratfunc.Func, error) {
	elimination.removeSelfLoop(last)
	values := map[int]*ratfunc.Func{last: elimination.rightSides[last][0]}
	for _, equation := range slices.Backward(elimination.removedEquations) {
		function := equation.rightSide
		for _, target := range slices.Sorted(maps.Keys(equation.coefficients)) {
			function = function.Add(equation.coefficients[target].Mul(values[target]))
			elimination.checkSize(function)
		}
		values[equation.state] = function
	}
	return values, elimination.err
}

// removeSelfLoop divides the equation of state s by 1 - P(s,s), the probability of leaving the state, and removes the self-loop.
func (elimination *elimination) removeSelfLoop(s int) {
	selfLoop := elimination.coefficients[s][s]
	if selfLoop == nil {
		return
	}
	delete(elimination.coefficients[s], s)
	delete(elimination.predecessors[s], s)
	exitProbability := elimination.one.Sub(selfLoop)
	if exitProbability.IsZero() {
		elimination.err = fmt.Errorf("a state is never left; this is a bug: please report it")
		return
	}
	for target, probability := range elimination.coefficients[s] {
		elimination.coefficients[s][target] = probability.Quo(exitProbability)
	}
	for i, rightSide := range elimination.rightSides[s] {
		elimination.rightSides[s][i] = rightSide.Quo(exitProbability)
	}
}

// eliminateState eliminates state s: it substitutes the equation of s into the equations of its predecessors, and removes it. The states whose
// cost may have changed go into the queue again, except last, which is never eliminated.
func (elimination *elimination) eliminateState(s, last int) {
	elimination.removeSelfLoop(s)
	targets := slices.Sorted(maps.Keys(elimination.coefficients[s]))
	for _, predecessor := range slices.Sorted(maps.Keys(elimination.predecessors[s])) {
		elimination.substitute(s, predecessor, targets)
		if predecessor != last {
			heap.Push(&elimination.queue, elimination.candidate(predecessor))
		}
	}
	for _, target := range targets {
		delete(elimination.predecessors[target], s)
		if target != last {
			heap.Push(&elimination.queue, elimination.candidate(target))
		}
	}
	if elimination.keepsRemoved {
		elimination.removedEquations = append(elimination.removedEquations, removedEquation{s, elimination.coefficients[s], elimination.rightSides[s][0]})
	}
	delete(elimination.coefficients, s)
	delete(elimination.predecessors, s)
	delete(elimination.rightSides, s)
}

// substitute replaces state s in the equation of a predecessor by the right side of the equation of s. targets are the successors of s.
func (elimination *elimination) substitute(s, predecessor int, targets []int) {
	probability := elimination.coefficients[predecessor][s]
	delete(elimination.coefficients[predecessor], s)
	for i, rightSide := range elimination.rightSides[s] {
		elimination.rightSides[predecessor][i] = elimination.rightSides[predecessor][i].Add(probability.Mul(rightSide))
		elimination.checkSize(elimination.rightSides[predecessor][i])
	}
	for _, target := range targets {
		weight := probability.Mul(elimination.coefficients[s][target])
		if direct := elimination.coefficients[predecessor][target]; direct != nil {
			weight = weight.Add(direct)
		}
		elimination.checkSize(weight)
		elimination.coefficients[predecessor][target] = weight
		elimination.predecessors[target][predecessor] = true
	}
}

// checkSize sets err if a function has too many terms.
func (elimination *elimination) checkSize(function *ratfunc.Func) {
	if elimination.err == nil {
		elimination.err = checkSize(function)
	}
}

// candidate is a state with the number of entries that its elimination touches.
type candidate struct{ state, cost int }

// candidate returns a state with its current cost.
func (elimination *elimination) candidate(s int) candidate {
	return candidate{s, len(elimination.predecessors[s]) * len(elimination.coefficients[s])}
}

// queue is a heap of candidates in increasing order of cost.
type queue []candidate

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].cost, q[j].cost), cmp.Compare(q[i].state, q[j].state)) < 0
}
func (q *queue) Push(x any) { *q = append(*q, x.(candidate)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
