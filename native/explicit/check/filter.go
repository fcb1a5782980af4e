package check

import (
	"math/big"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// strategyTruth and strategyNumbers evaluate <<coalition>> and [[coalition]]: all
// players together, or none. With <<*>> some scheduler is to keep a bound.
func (e *evaluation) strategyTruth(x *sema.Strategy) (truth, error) {
	if err := e.coalition(x); err != nil {
		return truth{}, err
	}
	defer func(some bool) { e.some = some }(e.some)
	e.some = x.All != x.Box
	return e.truth(x.X)
}

func (e *evaluation) strategyNumbers(x *sema.Strategy) (*numbers, error) {
	if err := e.coalition(x); err != nil {
		return nil, err
	}
	return e.numbers(x.X)
}

func (e *evaluation) coalition(x *sema.Strategy) error {
	switch {
	case e.kind() != sparse.MDP:
		return e.unsupported(x, "found a strategy operator (<<>> or [[]]) for a model without nondeterminism")
	case !x.All && len(x.Coalition) > 0:
		return e.unsupported(x, "found a coalition of players, want all (*) or none")
	}
	return nil
}

// filterStates evaluates the states of a filter, which must not be empty.
func (e *evaluation) filterStates(x *sema.Filter) (*sparse.Set, error) {
	if x.States == nil {
		return e.all(), nil
	}
	set, err := e.nested(x.States)
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, e.refuse(result.Other, x.Pos(), "filter satisfies no states")
	}
	return set, nil
}

// filterTruth evaluates a filter whose result is of type Bool.
func (e *evaluation) filterTruth(x *sema.Filter) (truth, error) {
	set, err := e.filterStates(x)
	if err != nil {
		return truth{}, err
	}
	if x.Op == "argmin" || x.Op == "argmax" {
		return e.optimal(x, set)
	}
	t, err := e.truth(x.X)
	if err != nil {
		return t, err
	}
	switch x.Op {
	case "print", "printall", "store":
		return t, nil
	case "forall":
		return e.everywhere(set.Minus(t.yes).Empty(), !set.Intersect(t.no).Empty()), nil
	case "exists":
		return e.everywhere(!set.Intersect(t.yes).Empty(), set.Minus(t.no).Empty()), nil
	}
	s, err := e.single(x, set)
	return e.everywhere(t.yes.Has(s), t.no.Has(s)), err
}

// everywhere returns the same truth value in all states.
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

// single returns the state that "first" or "state" means.
func (e *evaluation) single(x *sema.Filter, set *sparse.Set) (int, error) {
	if n := set.Count(); x.Op == "state" && n != 1 {
		return 0, e.refuse(result.Other, x.Pos(), "filter should be satisfied in exactly 1 state, but is in %d", n)
	}
	least := -1
	for s := range set.All() {
		if least < 0 || e.space.Compare(s, least) < 0 {
			least = s
		}
	}
	return least, nil
}

// optimal evaluates argmin and argmax: the states of the filter whose value is
// the optimum.
func (e *evaluation) optimal(x *sema.Filter, set *sparse.Set) (truth, error) {
	v, err := e.numbers(x.X)
	if err != nil {
		return truth{}, err
	}
	opt := e.fold(v, set, func(a, b number) number { return extremum(x.Op == "argmin", a, b) })
	t := e.compareAll(syntax.OpEq, v, func(int) number { return opt })
	in := known(set)
	return truth{t.yes.Intersect(in.yes), t.no.Union(in.no)}, nil
}

// fold combines the values of a non-empty set of states.
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
func (e *evaluation) filterNumbers(x *sema.Filter) (*numbers, error) {
	set, err := e.filterStates(x)
	if err != nil {
		return nil, err
	}
	if x.Op == "count" {
		return e.count(x, set)
	}
	v, err := e.numbers(x.X)
	if err != nil {
		return nil, err
	}
	switch x.Op {
	case "print", "printall", "store":
		return v, nil
	case "min", "max":
		return e.constant(e.fold(v, set, func(a, b number) number { return extremum(x.Op == "min", a, b) }), v.acc), nil
	case "sum":
		return e.constant(e.fold(v, set, add), v.acc), nil
	case "avg":
		mean, _ := binary(syntax.OpDiv, e.fold(v, set, add), fraction(big.NewRat(int64(set.Count()), 1)))
		return e.constant(mean, v.acc), nil
	case "range":
		return nil, e.unsupported(x, "found a range inside another formula")
	}
	s, err := e.single(x, set)
	if err != nil {
		return nil, err
	}
	return e.constant(v.at(s), v.acc), nil
}

func add(a, b number) number {
	c, _ := binary(syntax.OpAdd, a, b)
	return c
}

func (e *evaluation) count(x *sema.Filter, set *sparse.Set) (*numbers, error) {
	t, err := e.truth(x.X)
	if err != nil {
		return nil, err
	}
	if !set.Intersect(t.open()).Empty() {
		return nil, &undecided{x.Pos(), "the bounds of a value leave open in which states it reaches the number it is compared with"}
	}
	return e.constant(fraction(big.NewRat(int64(set.Intersect(t.yes).Count()), 1)), result.Exact), nil
}
