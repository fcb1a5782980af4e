package check

import (
	"context"
	"math/rand/v2"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
)

const (
	// numOptimalSchedulers is the number of optimal schedulers that NextToExplore follows.
	numOptimalSchedulers = 30
	// optimalEpsilon is the precision of the iteration in NextToExplore, and optimalTolerance the relative distance from the optimum up to which a choice counts
	// as optimal.
	optimalEpsilon, optimalTolerance = 1e-12, 1e-10
	// maxOptimalSweeps is the greatest number of sweeps of this iteration, so that no round takes long.
	maxOptimalSweeps = 1000
	// drawingWindow is the number of states from which the next one of a backward search is drawn, so that the schedulers differ.
	drawingWindow = 64
)

// NextToExplore returns unexplored states whose exploration may lower the upper bound of Pmax=? of F or U in a partially explored MDP. It assumes that every
// unexplored state reaches the target, and returns the unexplored states that some optimal schedulers reach then. It returns none if one of these schedulers
// reaches no unexplored state: its value should then be that of the model, and Truncated proves it. Truncates must report true for the property.
//
// Its own numbers are not proven; only the choice of the states depends on them. The result is the same in every run.
func (checker *Checker) NextToExplore(ctx context.Context, property *Property) ([]uint32, error) {
	model, path := checker.floatModel, logic.FormulaOf(property.Expr).Path
	evaluation := checker.newEvaluation(ctx, model, precision{}, property)
	evaluation.assumption = assumeReaches
	left, right, err := evaluation.operandStates(path.Left, path.Right)
	if err != nil {
		return nil, err
	}
	goal := evaluation.withUnexplored(path, left, right)
	values, err := solve.Until(ctx, model.graph, left, goal, solve.Max, solve.Options{Classic: true, Epsilon: optimalEpsilon, MaxSweeps: maxOptimalSweeps})
	if err != nil {
		return nil, err
	}
	schedulers := &optimalSchedulers{
		graph: model.graph, target: right, unexplored: goal.Minus(right), values: values.Lower, choices: make([]uint32, model.graph.NumStates()),
	}
	schedulers.findOptimal()
	var next []uint32
	isNext := sparse.NewSet(model.graph.NumStates())
	for i := range numOptimalSchedulers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		schedulers.draw(rand.New(rand.NewPCG(0, uint64(i))))
		reached, isComplete := schedulers.reachedUnexplored()
		if len(reached) == 0 && isComplete {
			return nil, nil
		}
		for _, s := range reached {
			if !isNext.Has(int(s)) {
				isNext.Add(int(s))
				next = append(next, s)
			}
		}
	}
	return next, nil
}

// optimalSchedulers draws schedulers that attain the greatest probability to reach a target or an unexplored state.
type optimalSchedulers struct {
	graph              *sparse.Graph
	target, unexplored *sparse.Set // disjoint; unexplored has the states that are assumed to reach the target
	values             []float64
	optimal            *sparse.Set // the choices that attain the value of their state
	choices            []uint32    // of the scheduler drawn last; sparse.None for a state without one
}

// isGoal reports whether a state is a target or unexplored.
func (schedulers *optimalSchedulers) isGoal(s int) bool {
	return schedulers.target.Has(s) || schedulers.unexplored.Has(s)
}

// findOptimal finds the optimal choices of the states with a positive value that are no goals.
func (schedulers *optimalSchedulers) findOptimal() {
	schedulers.optimal = sparse.NewSet(schedulers.graph.NumChoices())
	for s, value := range schedulers.values {
		if value == 0 || schedulers.isGoal(s) {
			continue
		}
		first, end := schedulers.graph.Choices(s)
		for choice := first; choice < end; choice++ {
			if schedulers.expectedValue(choice) >= value*(1-optimalTolerance) {
				schedulers.optimal.Add(choice)
			}
		}
	}
}

// expectedValue returns the expected value of the next state after a choice.
func (schedulers *optimalSchedulers) expectedValue(choice int) float64 {
	sum := 0.0
	first, end := schedulers.graph.Transitions(choice)
	for i := first; i < end; i++ {
		sum += schedulers.graph.Prob(i) * schedulers.values[schedulers.graph.Target[i]]
	}
	return sum
}

// draw draws an optimal scheduler by searches backwards, first from the targets and then from the unexplored states: a state gets the first optimal choice that
// leads to a goal or to a state with a choice, so that the scheduler does not stay in a cycle.
func (schedulers *optimalSchedulers) draw(random *rand.Rand) {
	known := sparse.NewSet(schedulers.graph.NumStates())
	for s := range schedulers.choices {
		schedulers.choices[s] = sparse.None
	}
	for _, seeds := range []*sparse.Set{schedulers.target, schedulers.unexplored} {
		var queue []uint32
		for s := range seeds.All() {
			known.Add(s)
			queue = append(queue, uint32(s))
		}
		random.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
		for len(queue) > 0 {
			i := random.IntN(min(len(queue), drawingWindow))
			queue[0], queue[i] = queue[i], queue[0]
			var next uint32
			next, queue = queue[0], queue[1:]
			for _, choice := range schedulers.graph.Into(int(next)) {
				owner := schedulers.graph.Owner(choice)
				if schedulers.optimal.Has(int(choice)) && !known.Has(owner) {
					known.Add(owner)
					schedulers.choices[owner] = choice
					queue = append(queue, uint32(owner))
				}
			}
		}
	}
}

// reachedUnexplored returns the unexplored states that the scheduler drawn last reaches, in the order of a breadth-first search. isComplete is false if it
// reaches a state that should have a choice but has none, because the iteration was too inaccurate.
func (schedulers *optimalSchedulers) reachedUnexplored() (unexplored []uint32, isComplete bool) {
	isComplete = true
	visited := sparse.NewSet(schedulers.graph.NumStates())
	queue := slices.Clone(schedulers.graph.Initial)
	for _, s := range queue {
		visited.Add(int(s))
	}
	for len(queue) > 0 {
		var s uint32
		s, queue = queue[0], queue[1:]
		choice := schedulers.choices[s]
		switch {
		case schedulers.unexplored.Has(int(s)):
			unexplored = append(unexplored, s)
			continue
		case choice == sparse.None:
			isComplete = isComplete && (schedulers.values[s] == 0 || schedulers.target.Has(int(s)))
			continue
		}
		first, end := schedulers.graph.Transitions(int(choice))
		for _, target := range schedulers.graph.Target[first:end] {
			if !visited.Has(int(target)) {
				visited.Add(int(target))
				queue = append(queue, target)
			}
		}
	}
	return unexplored, isComplete
}
