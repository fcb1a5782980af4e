package check

import (
	"errors"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// beliefs describes the search of beliefs for a value of a partially observable model.
type beliefs struct {
	numBeliefs int  // the number of beliefs
	resolution int  // the resolution of the grid, 0 if there is none
	maxBeliefs int  // the greatest number of beliefs
	isComplete bool // all reachable beliefs were expanded
	// strategy is the best strategy found, if the value was computed in one state only. chain is the number of
	// states of the Markov chain that it induces.
	strategy    *belief.Controller
	chainStates int
}

// String describes which beliefs a search has explored, such as "300 beliefs and cut-offs".
func (search *beliefs) String() string {
	switch {
	case search.isComplete:
		return fmt.Sprintf("all %d beliefs", search.numBeliefs)
	case search.resolution == 0:
		return fmt.Sprintf("%d beliefs and cut-offs", search.numBeliefs)
	}
	return fmt.Sprintf("%d beliefs, a grid of resolution %d, and cut-offs", search.numBeliefs, search.resolution)
}

// maxStarts limits the number of states in which a value of a partially observable model is computed, as each needs its own
// search.
const maxStarts = 64

// partiallyObservable reports whether schedulers see only observations.
func (e *evaluation) partiallyObservable() bool { return e.space.Program().Type == syntax.POMDP }

// observedProbability returns the minimal or maximal probability of a path formula in a POMDP, for each state of the domain (the states where values are
// needed).
func (e *evaluation) observedProbability(path *logic.Path, direction solve.Direction) (*numbers, error) {
	if path.IsNegated {
		withoutNegation := *path
		withoutNegation.IsNegated = false
		values, err := e.observedProbability(&withoutNegation, direction.Opposite())
		if err != nil {
			return nil, err
		}
		return e.complement(values), nil
	}
	switch path.Form {
	case logic.InitialState:
		set, err := e.observableStates(path.Right, "a path formula")
		if err != nil {
			return nil, err
		}
		return e.indicator(set), nil
	case logic.Until, logic.Next:
		return e.observedTemporal(path, direction)
	}
	return nil, e.unsupportedError(path.Expr, "found %s in a property of a partially observable model, want one of X, F, G, U, W and R of formulas about states", logic.Describe(path.Expr))
}

// observedTemporal returns the minimal or maximal probability of X, F, G, U, W or R of state formulas in a POMDP. It rewrites all operators but X to an
// until formula, or to the negation of an until formula.
func (e *evaluation) observedTemporal(path *logic.Path, direction solve.Direction) (*numbers, error) {
	left := e.allStates()
	if path.Left != nil {
		var err error
		left, err = e.observableStates(path.Left, "the left-hand side of until")
		if err != nil {
			return nil, err
		}
	}
	right, err := e.observableStates(path.Right, "the target")
	if err != nil {
		return nil, err
	}
	if path.Form == logic.Next {
		return e.observedNext(path, right, direction)
	}
	left, right, isNegated := Sets.AsUntil(path.Op, left, right)
	if !isNegated {
		return e.observedUntil(path, left, right, direction)
	}
	values, err := e.observedUntil(path, left, right, direction.Opposite())
	if err != nil {
		return nil, err
	}
	return e.complement(values), nil
}

// observedUntil returns the minimal or maximal probability of `left U right`, with the step bound of path, in a partially observable model.
func (e *evaluation) observedUntil(path *logic.Path, left, right *sparse.Set, direction solve.Direction) (*numbers, error) {
	if path.Bound != nil {
		return e.observedSteps(path, left, right, direction)
	}
	return e.searchBeliefs(path.Expr, belief.Problem{Left: left, Target: right, Direction: direction})
}

// observedReward returns the minimal or maximal expected reward R [ F ], R [ C<=k ] or R [ I=k ] in a POMDP.
func (e *evaluation) observedReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	switch objective.Form {
	case logic.ReachReward:
		target, err := e.observableStates(objective.Target, "the target")
		if err != nil {
			return nil, err
		}
		return e.searchBeliefs(formula.Expr, belief.Problem{Target: target, Reward: reward, Direction: direction})
	case logic.Cumulative, logic.Instantaneous:
		return e.observedStepReward(formula, reward, direction)
	}
	return nil, e.unsupportedError(objective.Expr, "found %s in an R operator of a partially observable model, want F without bounds, C<=k or I=k", logic.Describe(objective.Expr))
}

// observableStates returns the states that satisfy a formula over variables and labels, in a POMDP. It is an error if the formula contains an operator
// such as P, or if it distinguishes two states with the same observation. description names the formula in an error about observations.
//
// Source: PRISM, which rejects such formulas, too.
func (e *evaluation) observableStates(expr sema.Expr, description string) (*sparse.Set, error) {
	if operator := logic.Nested(expr, nil); operator != nil {
		found := describeOutermost(operator)
		if formula := logic.FormulaOf(operator); formula.Measure() || formula.Kind == logic.Strategy {
			found = "an expression of type " + operator.Type().String()
		}
		return nil, e.unsupportedError(operator, "found %s within an operator for a partially observable model", found)
	}
	set, err := e.satisfyingStates(expr)
	if err != nil {
		return nil, err
	}
	if err := e.computeObservations(); err != nil {
		return nil, err
	}
	if !belief.Observable(set, e.observations.ByState) {
		return nil, e.failure(result.Other, expr.Pos(), "%s is not observable: it holds in only one of two states with the same observation", description)
	}
	return set, nil
}

// computeObservations computes the observation of each state, unless an earlier call has computed them.
func (e *evaluation) computeObservations() error {
	if e.observations != nil {
		return nil
	}
	observations, err := e.space.Observations(e.ctx)
	if choicesErr, isChoicesErr := errors.AsType[*explicit.ChoicesError](err); isChoicesErr {
		return &result.Failure{Class: result.Model, Message: choicesErr.Error(), File: choicesErr.File}
	}
	if err != nil {
		return err
	}
	e.observations = observations
	return nil
}

// searchBeliefs solves a problem on the model by a search of beliefs from each state of the domain. It sets the model and the observations of
// the problem. expr is the operator, for errors.
func (e *evaluation) searchBeliefs(expr sema.Expr, problem belief.Problem) (*numbers, error) {
	problem.Graph, problem.Observation = e.graph, e.observations.ByState
	return e.searchFromStates(expr, problem, func(s int) int { return s })
}

// searchFromStates solves a problem of package belief from each state of the domain. If the model of the problem is a product, start(s) is the product
// state in which state s of the model starts; otherwise it is s.
func (e *evaluation) searchFromStates(expr sema.Expr, problem belief.Problem, start func(s int) int) (*numbers, error) {
	starts := e.domain()
	if numStarts := starts.Count(); numStarts > maxStarts {
		return nil, e.unsupportedError(expr, "found an operator of a partially observable model whose value is needed in %s, want at most %d", noun.Count(numStarts, "state"), maxStarts)
	}
	accuracy := result.Bounded
	if e.wantsFractions {
		accuracy = result.Exact
	}
	values := e.newValues(accuracy)
	summary := &beliefs{isComplete: true, maxBeliefs: e.maxBeliefs}
	for s := range starts.All() {
		solution, err := belief.Solve(e.ctx, problem, start(s), belief.Options{Epsilon: e.opts.Epsilon, Beliefs: e.maxBeliefs, Exact: e.wantsFractions, Progress: e.opts.Progress})
		if err != nil {
			return nil, err
		}
		if e.wantsFractions && !solution.Complete {
			return nil, &inexactError{expr.Pos(), fmt.Sprintf("the value has no fraction, because more than %d beliefs are reachable", e.maxBeliefs)}
		}
		summary.addSolution(solution)
		// A strategy begins in one start state, so it is kept only if there are no others.
		if starts.Count() == 1 && solution.Chain != nil {
			summary.strategy = solution.Strategy
			summary.chainStates = len(solution.Chain.State)
		}
		values.setNumber(s, number{Number: solution.Number})
	}
	e.beliefs = summary
	return values, nil
}

// addSolution includes another search in the description.
func (search *beliefs) addSolution(solved *belief.Bounds) {
	search.numBeliefs = max(search.numBeliefs, solved.Beliefs)
	search.resolution = max(search.resolution, solved.Resolution)
	search.isComplete = search.isComplete && solved.Complete
}
