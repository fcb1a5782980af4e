package check

import (
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// strategyTruth evaluates <<coalition>> or [[coalition]] with a Boolean operand. In a model that is no game, the
// coalition has all players, as in <<*>>, so that a bound must hold for some scheduler, or none, so that it must hold for all schedulers.
func (e *evaluation) strategyTruth(f *logic.Formula) (truth, error) {
	if e.game() {
		end, err := e.beginCoalition(f)
		if err != nil {
			return truth{}, err
		}
		defer end()
		return e.truth(f.Operand)
	}
	if err := e.singlePlayer(f); err != nil {
		return truth{}, err
	}
	previous := e.some
	defer func() { e.some = previous }()
	e.some = f.Some
	return e.truth(f.Operand)
}

// strategyNumbers evaluates <<coalition>> or [[coalition]] with a numeric operand.
func (e *evaluation) strategyNumbers(f *logic.Formula) (*numbers, error) {
	if e.game() {
		end, err := e.beginCoalition(f)
		if err != nil {
			return nil, err
		}
		defer end()
		return e.numbers(f.Operand)
	}
	if err := e.singlePlayer(f); err != nil {
		return nil, err
	}
	return e.numbers(f.Operand)
}

// singlePlayer returns an error unless the model is an MDP and the coalition has all players or none.
func (e *evaluation) singlePlayer(f *logic.Formula) error {
	switch {
	case e.kind() != sparse.MDP:
		return e.unsupported(f.X, "found a strategy operator (<<>> or [[]]) for a model without nondeterminism")
	case f.Coalition:
		return e.unsupported(f.X, "found a coalition of players, want all (*) or none")
	}
	return nil
}

// filterStates returns the states that a filter selects. It is an error if there are none.
func (e *evaluation) filterStates(f *logic.Formula) (*sparse.Set, error) {
	if f.States == nil {
		return e.all(), nil
	}
	set, err := e.nested(f.States) // in all states of the model, whatever the scope is
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, e.refuse(result.Other, f.X.Pos(), "filter satisfies no states")
	}
	return set, nil
}

// filterTruth evaluates a filter whose result is Boolean.
func (e *evaluation) filterTruth(f *logic.Formula) (truth, error) {
	set, err := e.filterStates(f)
	if err != nil {
		return truth{}, err
	}
	switch f.Op {
	case "argmin", "argmax":
		return e.optimal(f, set)
	case "print", "printall", "store":
		t, err := e.truthIn(set.Union(e.domain()), f.Operand)
		if err == nil {
			e.listTruth(f, set, t)
		}
		return t, err
	}
	t, err := e.truthIn(set, f.Operand)
	if err != nil {
		return t, err
	}
	switch f.Op {
	case "forall":
		return e.everywhere(set.Minus(t.yes).Empty(), !set.Intersect(t.no).Empty()), nil
	case "exists":
		return e.everywhere(!set.Intersect(t.yes).Empty(), set.Minus(t.no).Empty()), nil
	}
	s, err := e.single(f, set)
	if err != nil {
		return truth{}, err
	}
	return e.everywhere(t.yes.Has(s), t.no.Has(s)), nil
}

// everywhere returns the same truth value in all states: true, false or, if both arguments are false, unknown.
func (e *evaluation) everywhere(yes, no bool) truth {
	all, none := e.all(), sparse.NewSet(e.space.Model().NumStates())
	switch {
	case yes:
		return truth{all, none}
	case no:
		return truth{none, all}
	}
	return truth{none, none}
}

// single returns the state whose value a filter "first" or "state" returns. "first" selects the state with the
// least valuation; "state" requires that there is exactly one.
func (e *evaluation) single(f *logic.Formula, set *sparse.Set) (int, error) {
	if n := set.Count(); f.Op == "state" && n != 1 {
		return 0, e.refuse(result.Other, f.X.Pos(), "filter should be satisfied in exactly 1 state, but is in %d", n)
	}
	least := -1
	for s := range set.All() {
		if least < 0 || e.space.Compare(s, least) < 0 {
			least = s
		}
	}
	return least, nil
}

// optimal evaluates argmin and argmax: the states of the filter with the least or the greatest value.
func (e *evaluation) optimal(f *logic.Formula, set *sparse.Set) (truth, error) {
	defer e.restrict(set)()
	v, err := e.numbers(f.Operand)
	if err != nil {
		return truth{}, err
	}
	optimum := e.fold(v, set, func(a, b number) number { return extremum(f.Op == "argmin", a, b) })
	t := e.compareAll(syntax.OpEq, v, func(int) number { return optimum })
	if candidates := set.Minus(t.no); candidates.Count() == 1 {
		return known(candidates), nil
	}
	return truth{t.yes, t.no.Union(set.Complement())}, nil
}

// fold combines the values of a non-empty set of states by an operation, in the order of the states.
func (e *evaluation) fold(v *numbers, set *sparse.Set, f func(a, b number) number) number {
	var out number
	first := true
	for s := range set.All() {
		if first {
			out, first = v.at(s), false
		} else {
			out = f(out, v.at(s))
		}
	}
	return out
}

// filterNumbers evaluates a filter whose result is a number.
func (e *evaluation) filterNumbers(f *logic.Formula) (*numbers, error) {
	set, err := e.filterStates(f)
	if err != nil {
		return nil, err
	}
	if f.Op == "count" {
		return e.count(f, set)
	}
	if f.Prints() {
		v, err := e.numbersIn(set.Union(e.domain()), f.Operand)
		if err == nil {
			e.listNumbers(f, set, v)
		}
		return v, err
	}
	v, err := e.numbersIn(set, f.Operand)
	if err != nil {
		return nil, err
	}
	switch f.Op {
	case "min", "max":
		return e.constant(e.fold(v, set, func(a, b number) number { return extremum(f.Op == "min", a, b) }), v.acc), nil
	case "sum":
		return e.constant(e.fold(v, set, add), v.acc), nil
	case "avg":
		return e.constant(e.mean(v, set), v.acc), nil
	case "range":
		return nil, e.unsupported(f.X, "found a range inside another formula")
	}
	s, err := e.single(f, set)
	if err != nil {
		return nil, err
	}
	return e.constant(v.at(s), v.acc), nil
}

// mean returns the arithmetic mean of the values in a set of states. Its bounds are within those of the values.
func (e *evaluation) mean(v *numbers, set *sparse.Set) number {
	mean, _ := binary(syntax.OpDiv, e.fold(v, set, add), fraction(big.NewRat(int64(set.Count()), 1)))
	if mean.rat == nil && !mean.isPoint() {
		least := e.fold(v, set, func(a, b number) number { return extremum(true, a, b) })
		most := e.fold(v, set, func(a, b number) number { return extremum(false, a, b) })
		mean.lo = max(mean.lo, least.lo)
		mean.hi = min(mean.hi, most.hi)
	}
	return mean
}

// add returns a + b.
func add(a, b number) number {
	c, _ := binary(syntax.OpAdd, a, b)
	return c
}

// count returns the number of states of the filter in which its operand holds.
func (e *evaluation) count(f *logic.Formula, set *sparse.Set) (*numbers, error) {
	t, err := e.truthIn(set, f.Operand)
	if err != nil {
		return nil, err
	}
	if !set.Intersect(t.unknown()).Empty() {
		return nil, &undecided{f.X.Pos(), "the bounds of a value leave open in which states it reaches the number it is compared with"}
	}
	return e.constant(fraction(big.NewRat(int64(set.Intersect(t.yes).Count()), 1)), result.Exact), nil
}
