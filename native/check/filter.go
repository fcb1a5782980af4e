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
		return e.truthOf(formula.Operand)
	}
	if err := e.checkAllOrNoPlayers(formula); err != nil {
		return truth{}, err
	}
	outerForSomeScheduler := e.forSomeScheduler
	defer func() { e.forSomeScheduler = outerForSomeScheduler }()
	e.forSomeScheduler = formula.ForSomeScheduler
	return e.truthOf(formula.Operand)
}

// strategyNumbers evaluates <<coalition>> or [[coalition]] with a numeric operand.
func (e *evaluation) strategyNumbers(formula *logic.Formula) (*numbers, error) {
	if e.isGame() {
		endCoalition, err := e.beginCoalition(formula)
		if err != nil {
			return nil, err
		}
		defer endCoalition()
		return e.numbersOf(formula.Operand)
	}
	if err := e.checkAllOrNoPlayers(formula); err != nil {
		return nil, err
	}
	return e.numbersOf(formula.Operand)
}

// checkAllOrNoPlayers returns an error if the model has no choices, or if the coalition contains some but not all of the players.
func (e *evaluation) checkAllOrNoPlayers(formula *logic.Formula) error {
	switch {
	case e.modelKind() != sparse.MDP:
		return e.unsupportedError(formula.Expr, "found a strategy operator (<<>> or [[]]) for a model without nondeterminism")
	case formula.NamesSomePlayers:
		return e.unsupportedError(formula.Expr, "found a coalition of players, want all players (*) or none")
	}
	return nil
}

// filterStates returns the states that a filter selects: the states that satisfy its last operand, or all states if it has no such operand. It
// returns an error if no state is selected.
func (e *evaluation) filterStates(formula *logic.Formula) (*sparse.Set, error) {
	if formula.States == nil {
		return e.allStates(), nil
	}
	selectedStates, err := e.satisfyingStates(formula.States)
	if err != nil {
		return nil, err
	}
	if selectedStates.Empty() {
		return nil, e.failure(result.Other, formula.Expr.Pos(), "filter satisfies no states")
	}
	return selectedStates, nil
}

// filterTruth evaluates a filter with a Boolean result. The result is the same in all states for forall, exists, first and state. For argmin, argmax,
// print and printall it can differ between states.
func (e *evaluation) filterTruth(formula *logic.Formula) (truth, error) {
	selectedStates, err := e.filterStates(formula)
	if err != nil {
		return truth{}, err
	}
	switch {
	case formula.Op == "argmin", formula.Op == "argmax":
		return e.optimalStates(formula, selectedStates)
	case formula.Prints():
		return e.printedTruth(formula, selectedStates)
	}
	operand, err := e.truthIn(selectedStates, formula.Operand)
	if err != nil {
		return truth{}, err
	}
	switch formula.Op {
	case "forall":
		holdsInAll := selectedStates.Minus(operand.trueStates).Empty()
		failsInSome := !selectedStates.Intersect(operand.falseStates).Empty()
		return e.truthEverywhere(holdsInAll, failsInSome), nil
	case "exists":
		holdsInSome := !selectedStates.Intersect(operand.trueStates).Empty()
		failsInAll := selectedStates.Minus(operand.falseStates).Empty()
		return e.truthEverywhere(holdsInSome, failsInAll), nil
	}
	state, err := e.selectedState(formula, selectedStates)
	if err != nil {
		return truth{}, err
	}
	return e.truthEverywhere(operand.trueStates.Has(state), operand.falseStates.Has(state)), nil
}

// printedTruth evaluates the Boolean operand of a filter print or printall in the selected states and in the domain, and lists its value in each
// selected state.
func (e *evaluation) printedTruth(formula *logic.Formula, selectedStates *sparse.Set) (truth, error) {
	operand, err := e.truthIn(selectedStates.Union(e.domain()), formula.Operand)
	if err != nil {
		return truth{}, err
	}
	e.listTruth(formula, selectedStates, operand)
	return operand, nil
}

// truthEverywhere returns the same truth value for all states: true if holds is true, false if fails is true, otherwise unknown.
func (e *evaluation) truthEverywhere(holds, fails bool) truth {
	allStates, noStates := e.allStates(), sparse.NewSet(e.space.Model().NumStates())
	switch {
	case holds:
		return truth{trueStates: allStates, falseStates: noStates}
	case fails:
		return truth{trueStates: noStates, falseStates: allStates}
	}
	return truth{trueStates: noStates, falseStates: noStates}
}

// selectedState returns the one state whose value is the result of a filter "first" or "state": the state with the least valuation. For "state",
// selectedStates must have exactly one state.
func (e *evaluation) selectedState(formula *logic.Formula, selectedStates *sparse.Set) (int, error) {
	if numStates := selectedStates.Count(); formula.Op == "state" && numStates != 1 {
		return 0, e.failure(result.Other, formula.Expr.Pos(), "filter should be satisfied in exactly 1 state, but is in %d", numStates)
	}
	least := -1
	for s := range selectedStates.All() {
		if least < 0 || e.space.Compare(s, least) < 0 {
			least = s
		}
	}
	return least, nil
}

// optimalStates evaluates a filter argmin or argmax. A state satisfies the filter if it is selected and its value is the minimum (argmin) or the maximum
// (argmax) of the values of all selected states.
func (e *evaluation) optimalStates(formula *logic.Formula, selectedStates *sparse.Set) (truth, error) {
	defer e.restrictDomain(selectedStates)()
	values, err := e.numbersOf(formula.Operand)
	if err != nil {
		return truth{}, err
	}
	selectOptimum := maximum
	if formula.Op == "argmin" {
		selectOptimum = minimum
	}
	optimum := values.fold(selectedStates, selectOptimum)
	isOptimal := e.compareAll(syntax.OpEq, values, func(int) number { return optimum })
	if candidates := selectedStates.Minus(isOptimal.falseStates); candidates.Count() == 1 { // some state attains the optimum, so this one does
		return decidedTruth(candidates), nil
	}
	return truth{isOptimal.trueStates, isOptimal.falseStates.Union(selectedStates.Complement())}, nil
}

// fold returns combine(... combine(combine(v1, v2), v3) ..., vn) for the values v1 to vn of the states in a set, such as their minimum. The set
// must not be empty.
func (values *numbers) fold(states *sparse.Set, combine func(left, right number) number) number {
	var folded number
	isFirst := true
	for s := range states.All() {
		value := values.numberAt(s)
		if !isFirst {
			value = combine(folded, value)
		}
		folded, isFirst = value, false
	}
	return folded
}

// filterNumbers evaluates a filter with a numeric result, such as min, sum or count. The result is the same number in all states, except for
// print and printall, whose result is the value of each state.
func (e *evaluation) filterNumbers(formula *logic.Formula) (*numbers, error) {
	selectedStates, err := e.filterStates(formula)
	if err != nil {
		return nil, err
	}
	switch {
	case formula.Op == "count":
		return e.countSatisfying(formula, selectedStates)
	case formula.Prints():
		return e.printedNumbers(formula, selectedStates)
	}
	values, err := e.numbersIn(selectedStates, formula.Operand)
	if err != nil {
		return nil, err
	}
	value, err := e.filteredNumber(formula, selectedStates, values)
	if err != nil {
		return nil, err
	}
	return e.constantNumbers(value, values.accuracy), nil
}

// printedNumbers evaluates the numeric operand of a filter print or printall in the selected states and in the domain, and lists its value in each
// selected state.
func (e *evaluation) printedNumbers(formula *logic.Formula, selectedStates *sparse.Set) (*numbers, error) {
	values, err := e.numbersIn(selectedStates.Union(e.domain()), formula.Operand)
	if err != nil {
		return nil, err
	}
	e.listNumbers(formula, selectedStates, values)
	return values, nil
}

// filteredNumber returns the result of a filter min, max, sum, avg, first or state over the values in a set of states.
func (e *evaluation) filteredNumber(formula *logic.Formula, selectedStates *sparse.Set, values *numbers) (number, error) {
	switch formula.Op {
	case "min":
		return values.fold(selectedStates, minimum), nil
	case "max":
		return values.fold(selectedStates, maximum), nil
	case "sum":
		return values.fold(selectedStates, addNumbers), nil
	case "avg":
		return values.meanNumber(selectedStates), nil
	case "range":
		return number{}, e.unsupportedError(formula.Expr, "found a range inside another formula")
	}
	s, err := e.selectedState(formula, selectedStates)
	if err != nil {
		return number{}, err
	}
	return values.numberAt(s), nil
}

// meanNumber returns the arithmetic mean of the values in a set of states, or bounds of the mean. The set must not be empty.
func (values *numbers) meanNumber(selectedStates *sparse.Set) number {
	mean, _ := applyArithmetic(syntax.OpDiv, values.fold(selectedStates, addNumbers), exactNumber(big.NewRat(int64(selectedStates.Count()), 1)))
	if mean.Exact == nil && !mean.isPoint() { // rounding widened the bounds, but the mean lies between the extreme values
		mean.Lo = max(mean.Lo, values.fold(selectedStates, minimum).Lo)
		mean.Hi = min(mean.Hi, values.fold(selectedStates, maximum).Hi)
	}
	return mean
}

// addNumbers returns left + right, or bounds of the sum.
func addNumbers(left, right number) number {
	sum, _ := applyArithmetic(syntax.OpAdd, left, right)
	return sum
}

// countSatisfying returns the number of selected states in which the operand of the filter count holds, as the value of every state. The error is an
// *undecidedError if the operand is unknown in a selected state.
func (e *evaluation) countSatisfying(formula *logic.Formula, selectedStates *sparse.Set) (*numbers, error) {
	operand, err := e.truthIn(selectedStates, formula.Operand)
	if err != nil {
		return nil, err
	}
	if !selectedStates.Intersect(operand.unknownStates()).Empty() {
		return nil, &undecidedError{formula.Expr.Pos(), "the bounds of some values contain the number that they are compared with"}
	}
	return e.constantNumbers(exactNumber(big.NewRat(int64(selectedStates.Intersect(operand.trueStates).Count()), 1)), result.Exact), nil
}
