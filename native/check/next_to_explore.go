package check

import (
	"context"
	"math/rand/v2"

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
	// drawingWindow is the number of states from which the next one of a backward search is drawn, so that the schedulers differ.
	drawingWindow = 64
)

// NextToExplore returns unexplored states whose exploration may lower the upper bound of Pmax=? of F or U in a partially explored MDP. It assumes that every
// unexplored state reaches the target, and returns the unexplored states that some optimal schedulers reach then. It returns none if such a scheduler
// reaches no unexplored state, or if no state is unexplored: then the value is that of the model, and Truncated bounds it.
//
// Its own numbers are not proven; only the choice of the states depends on them. The result is the same in every run.
func (checker *Checker) NextToExplore(ctx context.Context, property *Property) ([]uint32, error) {
	model, path := checker.floatModel, logic.FormulaOf(property.Expr).Path
	if model.space.Unexplored() == nil {
		return nil, nil
	}
	evaluation := checker.newEvaluation(ctx, model, precision{}, property)
	evaluation.assumption = assumeReaches
	left, right, err := evaluation.operandStates(path.Left, path.Right)
	if err != nil {
		return nil, err
	}
	goal := evaluation.withUnexplored(path, left, right)
	values, err := solve.Until(ctx, model.graph, left, goal, solve.Max, solve.Options{Classic: true, Epsilon: optimalEpsilon})
	if err != nil {
		return nil, err
	}
	schedulers := &optimalSchedulers{
		graph: model.graph, goal: goal, values: values.Lower, unexplored: model.space.Unexplored(), choices: make([]uint32, model.graph.NumStates()),
	}
	schedulers.findOptimal()
	var next []uint32
	isNext := sparse.NewSet(model.graph.NumStates())
	for i := range numOptimalSchedulers {
		schedulers.draw(rand.New(rand.NewPCG(0, uint64(i))))
		reached := schedulers.reachedUnexplored()
		if len(reached) == 0 {
			return nil, nil
		}
		for _, s := range reached {
			if !isNext.Has(int(s)) {
				isNext.Add(int(s))
				next = append(next, s)
			}
		}
	}
	return next, ctx.Err()
}

// optimalSchedulers draws schedulers that attain the greatest probability to reach the goal.
type optimalSchedulers struct {
	graph            *sparse.Graph
	goal, unexplored *sparse.Set // goal contains the unexplored states that are assumed to reach the target
	values           []float64
	optimal          *sparse.Set // the choices that attain the value of their state
	choices          []uint32    // of the scheduler drawn last; sparse.None where no choice is needed
}

// findOptimal finds the optimal choices of the states with a positive value that are not in the goal.
func (schedulers *optimalSchedulers) findOptimal() {
	schedulers.optimal = sparse.NewSet(schedulers.graph.NumChoices())
	for s, value := range schedulers.values {
		if value == 0 || schedulers.goal.Has(s) {
			continue
		}
		first, end := schedulers.graph.Choices(s)
		for choice := first; choice < end; choice++ {
			if schedulers.expected(choice) >= value*(1-optimalTolerance) {
				schedulers.optimal.Add(choice)
			}
		}
	}
}

// expected returns the expected value of the next state after a choice.
func (schedulers *optimalSchedulers) expected(choice int) float64 {
	sum := 0.0
	first, end := schedulers.graph.Transitions(choice)
	for i := first; i < end; i++ {
		sum += schedulers.graph.Prob(i) * schedulers.values[schedulers.graph.Target[i]]
	}
	return sum
}

// draw draws an optimal scheduler by searches backwards from the goal: the first optimal choice that leads to a state whose choice is known is
// taken, so that the scheduler does not stay in a cycle. It prefers targets to unexplored states.
func (schedulers *optimalSchedulers) draw(random *rand.Rand) {
	known := sparse.NewSet(schedulers.graph.NumStates())
	for s := range schedulers.choices {
		schedulers.choices[s] = sparse.None
	}
	for _, seeds := range []*sparse.Set{schedulers.goal.Minus(schedulers.unexplored), schedulers.goal.Intersect(schedulers.unexplored)} {
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

// reachedUnexplored returns the unexplored states that the scheduler drawn last reaches, in the order of a breadth-first search.
func (schedulers *optimalSchedulers) reachedUnexplored() (unexplored []uint32) {
	visited := sparse.NewSet(schedulers.graph.NumStates())
	queue := append([]uint32{}, schedulers.graph.Initial...)
	for _, s := range queue {
		visited.Add(int(s))
	}
	for len(queue) > 0 {
		var s uint32
		s, queue = queue[0], queue[1:]
		if schedulers.unexplored.Has(int(s)) {
			unexplored = append(unexplored, s)
			continue
		}
		if schedulers.choices[s] == sparse.None {
			continue
		}
		first, end := schedulers.graph.Transitions(int(schedulers.choices[s]))
		for i := first; i < end; i++ {
			if target := schedulers.graph.Target[i]; !visited.Has(int(target)) {
				visited.Add(int(target))
				queue = append(queue, target)
			}
		}
	}
	return unexplored
}
