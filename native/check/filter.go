package check

import (
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// strategyTruth evaluates <<coalition>> or [[coalition]] with a Boolean operand. In a model that is not a game, the
// coalition must contain all players, as in <<*>>, so that a bound must hold for some scheduler, or no player, so that a
// bound must hold for all schedulers.
func (e *evaluation) strategyTruth(formula *logic.Formula) (truth, error) {
	if e.isGame() {
		end, err := e.beginCoalition(formula)
		if err != nil {
			return truth{}, err
		}
		defer end()
		return e.truth(formula.Operand)
	}
	if err := e.checkWholeCoalition(formula); err != nil {
		return truth{}, err
	}
	previous := e.forSomeScheduler
	defer func() { e.forSomeScheduler = previous }()
	e.forSomeScheduler = formula.Some
	return e.truth(formula.Operand)
}

// strategyNumbers evaluates <<coalition>> or [[coalition]] with a numeric operand.
func (e *evaluation) strategyNumbers(formula *logic.Formula) (*numbers, error) {
	if e.isGame() {
		end, err := e.beginCoalition(formula)
		if err != nil {
			return nil, err
		}
		defer end()
		return e.numbers(formula.Operand)
	}
	if err := e.checkWholeCoalition(formula); err != nil {
		return nil, err
	}
	return e.numbers(formula.Operand)
}

// checkWholeCoalition returns an error unless the model is an MDP and the coalition has all players or none.
func (e *evaluation) checkWholeCoalition(formula *logic.Formula) error {
	switch {
	case e.kind() != sparse.MDP:
		return e.unsupported(formula.X, "found a strategy operator (<<>> or [[]]) for a model without nondeterminism")
	case formula.Coalition:
		return e.unsupported(formula.X, "found a coalition of players, want all players (*) or none")
	}
	return nil
}

// filterStates returns the states that a filter selects. It returns an error if there are none.
func (e *evaluation) filterStates(formula *logic.Formula) (*sparse.Set, error) {
	if formula.States == nil {
		return e.allStates(), nil
	}
	set, err := e.satisfyingStates(formula.States) // in all states of the model, whatever the scope is
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, e.failure(result.Other, formula.X.Pos(), "filter satisfies no states")
	}
	return set, nil
}

// filterTruth evaluates a filter whose result is Boolean.
func (e *evaluation) filterTruth(formula *logic.Formula) (truth, error) {
	set, err := e.filterStates(formula)
	if err != nil {
		return truth{}, err
	}
	switch formula.Op {
	case "argmin", "argmax":
		return e.optimalStates(formula, set)
	case "print", "printall", "store":
		operand, err := e.truthIn(set.Union(e.domain()), formula.Operand)
		if err == nil {
			e.listTruth(formula, set, operand)
		}
		return operand, err
	}
	operand, err := e.truthIn(set, formula.Operand)
	if err != nil {
		return operand, err
	}
	switch formula.Op {
	case "forall":
		return e.truthEverywhere(set.Minus(operand.yes).Empty(), !set.Intersect(operand.no).Empty()), nil
	case "exists":
		return e.truthEverywhere(!set.Intersect(operand.yes).Empty(), set.Minus(operand.no).Empty()), nil
	}
	state, err := e.selectedState(formula, set)
	if err != nil {
		return truth{}, err
	}
	return e.truthEverywhere(operand.yes.Has(state), operand.no.Has(state)), nil
}

// truthEverywhere returns a truth value that is the same in all states: true if yes, false if no, and otherwise unknown.
func (e *evaluation) truthEverywhere(yes, no bool) truth {
	all, none := e.allStates(), sparse.NewSet(e.space.Model().NumStates())
	switch {
	case yes:
		return truth{all, none}
	case no:
		return truth{none, all}
	}
	return truth{none, none}
}

// selectedState returns the state whose value a filter "first" or "state" returns. "first" selects the state with the
// least valuation; "state" requires that there is exactly one.
func (e *evaluation) selectedState(formula *logic.Formula, set *sparse.Set) (int, error) {
	if n := set.Count(); formula.Op == "state" && n != 1 {
		return 0, e.failure(result.Other, formula.X.Pos(), "filter should be satisfied in exactly 1 state, but is in %d", n)
	}
	least := -1
	for s := range set.All() {
		if least < 0 || e.space.Compare(s, least) < 0 {
			least = s
		}
	}
	return least, nil
}

// optimalStates evaluates a filter argmin or argmax, which holds in the states with the least or the greatest value.
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
	if candidates := set.Minus(isOptimal.no); candidates.Count() == 1 { // the optimum is attained in some state
		return decidedTruth(candidates), nil
	}
	return truth{isOptimal.yes, isOptimal.no.Union(set.Complement())}, nil
}

// fold combines the values of the states in a set, in the order of the states. The set is not empty.
func (v *numbers) fold(set *sparse.Set, combine func(left, right number) number) number {
	var out number
	isFirst := true
	for s := range set.All() {
		if isFirst {
			out, isFirst = v.at(s), false
		} else {
			out = combine(out, v.at(s))
		}
	}
	return out
}

// filterNumbers evaluates a filter with a numeric result, such as min, sum or count. The result of a filter that prints is
// the value of each state; the result of any other filter is one number for all states.
func (e *evaluation) filterNumbers(formula *logic.Formula) (*numbers, error) {
	set, err := e.filterStates(formula)
	if err != nil {
		return nil, err
	}
	if formula.Op == "count" {
		return e.countSatisfying(formula, set)
	}
	if formula.Prints() {
		values, err := e.numbersIn(set.Union(e.domain()), formula.Operand)
		if err == nil {
			e.listNumbers(formula, set, values)
		}
		return values, err
	}
	values, err := e.numbersIn(set, formula.Operand)
	if err != nil {
		return nil, err
	}
	switch formula.Op {
	case "min":
		return e.constant(values.fold(set, minimum), values.accuracy), nil
	case "max":
		return e.constant(values.fold(set, maximum), values.accuracy), nil
	case "sum":
		return e.constant(values.fold(set, add), values.accuracy), nil
	case "avg":
		return e.constant(values.mean(set), values.accuracy), nil
	case "range":
		return nil, e.unsupported(formula.X, "found a range inside another formula")
	}
	s, err := e.selectedState(formula, set)
	if err != nil {
		return nil, err
	}
	return e.constant(values.at(s), values.accuracy), nil
}

// mean returns the arithmetic mean of the values in a set of states, or bounds of it. The set is not empty.
func (v *numbers) mean(set *sparse.Set) number {
	mean, _ := arithmetic(syntax.OpDiv, v.fold(set, add), fraction(big.NewRat(int64(set.Count()), 1)))
	if mean.rat == nil && !mean.isPoint() { // rounding widened the bounds, but the mean lies between the extreme values
		mean.lo = max(mean.lo, v.fold(set, minimum).lo)
		mean.hi = min(mean.hi, v.fold(set, maximum).hi)
	}
	return mean
}

// add returns left + right, or bounds of it.
func add(left, right number) number {
	sum, _ := arithmetic(syntax.OpAdd, left, right)
	return sum
}

// countSatisfying returns the number of states of the filter in which its operand holds.
func (e *evaluation) countSatisfying(formula *logic.Formula, set *sparse.Set) (*numbers, error) {
	truth, err := e.truthIn(set, formula.Operand)
	if err != nil {
		return nil, err
	}
	if !set.Intersect(truth.unknown()).Empty() {
		return nil, &undecidedError{formula.X.Pos(), "the bounds of some values contain the number that they are compared with"}
	}
	return e.constant(fraction(big.NewRat(int64(set.Intersect(truth.yes).Count()), 1)), result.Exact), nil
}
