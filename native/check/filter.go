package check

import (
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// strategyTruth evaluates <<coalition>> or [[coalition]] with a Boolean operand. In an MDP, a bound in the operand must hold under some
// scheduler for <<*>>, and under all schedulers for <<>>.
func (e *evaluation) strategyTruth(formula *logic.Formula) (truth, error) {
	if e.isGame() {
		endCoalition, err := e.beginCoalition(formula)
		if err != nil {
			return truth{}, err
		}
		defer endCoalition()
		return e.truth(formula.Operand)
	}
	if err := e.checkAllOrNoPlayers(formula); err != nil {
		return truth{}, err
	}
	outerForSomeScheduler := e.forSomeScheduler
	defer func() { e.forSomeScheduler = outerForSomeScheduler }()
	e.forSomeScheduler = formula.Some
	return e.truth(formula.Operand)
}

// strategyNumbers evaluates <<coalition>> or [[coalition]] with a numeric operand.
func (e *evaluation) strategyNumbers(formula *logic.Formula) (*numbers, error) {
	if e.isGame() {
		endCoalition, err := e.beginCoalition(formula)
		if err != nil {
			return nil, err
		}
		defer endCoalition()
		return e.numbers(formula.Operand)
	}
	if err := e.checkAllOrNoPlayers(formula); err != nil {
		return nil, err
	}
	return e.numbers(formula.Operand)
}

// checkAllOrNoPlayers returns an error if the model has no choices, or if the coalition contains some but not all of the players.
func (e *evaluation) checkAllOrNoPlayers(formula *logic.Formula) error {
	switch {
	case e.kind() != sparse.MDP:
		return e.unsupported(formula.X, "found a strategy operator (<<>> or [[]]) for a model without nondeterminism")
	case formula.Coalition:
		return e.unsupported(formula.X, "found a coalition of players, want all players (*) or none")
	}
	return nil
}

// filterStates returns the states that a filter selects: the states that satisfy its last operand, or all states if it has no such operand. It
// returns an error if no state is selected.
func (e *evaluation) filterStates(formula *logic.Formula) (*sparse.Set, error) {
	if formula.States == nil {
		return e.allStates(), nil
	}
	set, err := e.satisfyingStates(formula.States)
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, e.failure(result.Other, formula.X.Pos(), "filter satisfies no states")
	}
	return set, nil
}

// filterTruth evaluates a filter with a Boolean result.
func (e *evaluation) filterTruth(formula *logic.Formula) (truth, error) {
	set, err := e.filterStates(formula)
	if err != nil {
		return truth{}, err
	}
	switch {
	case formula.Op == "argmin", formula.Op == "argmax":
		return e.optimalStates(formula, set)
	case formula.Prints():
		return e.printedTruth(formula, set)
	}
	operand, err := e.truthIn(set, formula.Operand)
	if err != nil {
		return truth{}, err
	}
	switch formula.Op {
	case "forall":
		holdsInAll := set.Minus(operand.yes).Empty()
		failsInSome := !set.Intersect(operand.no).Empty()
		return e.truthEverywhere(holdsInAll, failsInSome), nil
	case "exists":
		holdsInSome := !set.Intersect(operand.yes).Empty()
		failsInAll := set.Minus(operand.no).Empty()
		return e.truthEverywhere(holdsInSome, failsInAll), nil
	}
	state, err := e.selectedState(formula, set)
	if err != nil {
		return truth{}, err
	}
	return e.truthEverywhere(operand.yes.Has(state), operand.no.Has(state)), nil
}

// printedTruth evaluates the Boolean operand of a filter print or printall, and lists its value in each state of set.
func (e *evaluation) printedTruth(formula *logic.Formula, set *sparse.Set) (truth, error) {
	operand, err := e.truthIn(set.Union(e.domain()), formula.Operand)
	if err != nil {
		return truth{}, err
	}
	e.listTruth(formula, set, operand)
	return operand, nil
}

// truthEverywhere returns the same truth value in all states: true if holds is set, false if fails is set, otherwise unknown.
func (e *evaluation) truthEverywhere(holds, fails bool) truth {
	all, none := e.allStates(), sparse.NewSet(e.space.Model().NumStates())
	switch {
	case holds:
		return truth{yes: all, no: none}
	case fails:
		return truth{yes: none, no: all}
	}
	return truth{yes: none, no: none}
}

// selectedState returns the one state of set that a filter "first" or "state" selects: the state with the least valuation. For "state", set must
// have exactly one state.
func (e *evaluation) selectedState(formula *logic.Formula, set *sparse.Set) (int, error) {
	if numStates := set.Count(); formula.Op == "state" && numStates != 1 {
		return 0, e.failure(result.Other, formula.X.Pos(), "filter should be satisfied in exactly 1 state, but is in %d", numStates)
	}
	least := -1
	for s := range set.All() {
		if least < 0 || e.space.Compare(s, least) < 0 {
			least = s
		}
	}
	return least, nil
}

// optimalStates evaluates a filter argmin or argmax. It is true in the states of set whose value is the minimum or the maximum over set.
func (e *evaluation) optimalStates(formula *logic.Formula, set *sparse.Set) (truth, error) {
	defer e.restrict(set)()
	values, err := e.numbers(formula.Operand)
	if err != nil {
		return truth{}, err
	}
	selectOptimum := maximum
	if formula.Op == "argmin" {
		selectOptimum = minimum
	}
	optimum := values.fold(set, selectOptimum)
	isOptimal := e.compareAll(syntax.OpEq, values, func(int) number { return optimum })
	if candidates := set.Minus(isOptimal.no); candidates.Count() == 1 { // some state attains the optimum, so this one does
		return decidedTruth(candidates), nil
	}
	return truth{isOptimal.yes, isOptimal.no.Union(set.Complement())}, nil
}

// fold combines the values of the states in a set, in the order of the states. The set must not be empty.
func (v *numbers) fold(set *sparse.Set, combine func(left, right number) number) number {
	var folded number
	isFirst := true
	for s := range set.All() {
		if isFirst {
			folded, isFirst = v.at(s), false
		} else {
			folded = combine(folded, v.at(s))
		}
	}
	return folded
}

// filterNumbers evaluates a filter with a numeric result, such as min, sum or count. The result is the same number in all states, except for
// print and printall, whose result is the value of each state.
func (e *evaluation) filterNumbers(formula *logic.Formula) (*numbers, error) {
	set, err := e.filterStates(formula)
	if err != nil {
		return nil, err
	}
	switch {
	case formula.Op == "count":
		return e.countSatisfying(formula, set)
	case formula.Prints():
		return e.printedNumbers(formula, set)
	}
	values, err := e.numbersIn(set, formula.Operand)
	if err != nil {
		return nil, err
	}
	value, err := e.filteredNumber(formula, set, values)
	if err != nil {
		return nil, err
	}
	return e.constant(value, values.accuracy), nil
}

// printedNumbers evaluates the numeric operand of a filter print or printall, and lists its value in each state of set.
func (e *evaluation) printedNumbers(formula *logic.Formula, set *sparse.Set) (*numbers, error) {
	values, err := e.numbersIn(set.Union(e.domain()), formula.Operand)
	if err != nil {
		return nil, err
	}
	e.listNumbers(formula, set, values)
	return values, nil
}

// filteredNumber returns the result of a filter min, max, sum, avg, first or state over the values in a set of states.
func (e *evaluation) filteredNumber(formula *logic.Formula, set *sparse.Set, values *numbers) (number, error) {
	switch formula.Op {
	case "min":
		return values.fold(set, minimum), nil
	case "max":
		return values.fold(set, maximum), nil
	case "sum":
		return values.fold(set, add), nil
	case "avg":
		return values.mean(set), nil
	case "range":
		return number{}, e.unsupported(formula.X, "found a range inside another formula")
	}
	s, err := e.selectedState(formula, set)
	if err != nil {
		return number{}, err
	}
	return values.at(s), nil
}

// mean returns the arithmetic mean of the values in a set of states, or bounds of the mean. The set must not be empty.
func (v *numbers) mean(set *sparse.Set) number {
	mean, _ := arithmetic(syntax.OpDiv, v.fold(set, add), fraction(big.NewRat(int64(set.Count()), 1)))
	if mean.Exact == nil && !mean.isPoint() { // rounding widened the bounds, but the mean lies between the extreme values
		mean.Lo = max(mean.Lo, v.fold(set, minimum).Lo)
		mean.Hi = min(mean.Hi, v.fold(set, maximum).Hi)
	}
	return mean
}

// add returns left + right, or bounds of the sum.
func add(left, right number) number {
	sum, _ := arithmetic(syntax.OpAdd, left, right)
	return sum
}

// countSatisfying returns the number of states in a set in which the operand of the filter holds.
func (e *evaluation) countSatisfying(formula *logic.Formula, set *sparse.Set) (*numbers, error) {
	operand, err := e.truthIn(set, formula.Operand)
	if err != nil {
		return nil, err
	}
	if !set.Intersect(operand.unknown()).Empty() {
		return nil, &undecidedError{formula.X.Pos(), "the bounds of some values contain the number that they are compared with"}
	}
	return e.constant(fraction(big.NewRat(int64(set.Intersect(operand.yes).Count()), 1)), result.Exact), nil
}
