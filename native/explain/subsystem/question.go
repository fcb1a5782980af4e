package subsystem

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/explain/witness"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Question asks for a part of a model that violates a bound on the probability of a path formula.
type Question struct {
	Space   *explicit.Space // an exact model
	Chain   *witness.Chain  // the model under a scheduler
	Formula *witness.PathFormula
	From    int // the initial state
	// Bound is the number that the probability must exceed; if OrEqual is true, it is enough to equal it.
	Bound   *big.Rat
	OrEqual bool
}

// Result is a part of a model that violates the bound.
type Result struct {
	// Members are its members: states of the model, or numbers of commands.
	Members *sparse.Set
	// Lower is a proved lower bound on the probability in this part.
	Lower *big.Rat
	// Minimal says that every member is proved necessary.
	Minimal bool
	// Candidates is the number of states or commands of the whole model.
	Candidates int
}

// exactLimit is the greatest number of states of which fractions are computed.
const exactLimit = 3000

// sufficiency says whether a part of the model violates the bound.
type sufficiency uint8

const (
	insufficient sufficiency = iota
	sufficient
	unknown
)

// compareWithBound decides whether the probability in a state violates the bound. It computes floating-point bounds and, if they do not decide,
// a fraction. The result is unknown if a fraction is needed and there are more than exactLimit states. If the result is sufficient, lower is a
// lower bound of the probability.
func (question *Question) compareWithBound(state, numStates int, compute valueSolver) (result sufficiency, lower *big.Rat, err error) {
	result, lower, boundsErr := question.compareByFloats(state, compute)
	if result != unknown {
		return result, lower, nil
	}
	if numStates > exactLimit {
		return unknown, nil, boundsErr
	}
	values, err := compute(solve.Options{Exact: true})
	if err != nil {
		return unknown, nil, err
	}
	if exactValue := values.Exact[state]; question.violates(exactValue) {
		return sufficient, exactValue, nil
	}
	return insufficient, nil, nil
}

// valueSolver computes the probabilities of all states.
type valueSolver func(solve.Options) (*solve.Values, error)

// compareByFloats decides whether the probability in a state violates the bound. The result is unknown if floating-point bounds do
// not decide or cannot be computed. If the result is sufficient, lower is a lower bound on the probability.
func (question *Question) compareByFloats(state int, compute valueSolver) (result sufficiency, lower *big.Rat, err error) {
	bounds, err := compute(solve.Options{Epsilon: 1e-10})
	if err != nil {
		return unknown, nil, err
	}
	lower, upper := new(big.Rat).SetFloat64(bounds.Lower[state]), new(big.Rat).SetFloat64(bounds.Upper[state])
	switch {
	case question.violates(lower):
		return sufficient, lower, nil
	case !question.violates(upper):
		return insufficient, nil, nil
	}
	return unknown, nil, nil
}

// violates reports whether a probability exceeds the bound, or equals it if OrEqual is true.
func (question *Question) violates(probability *big.Rat) bool {
	order := probability.Cmp(question.Bound)
	return order > 0 || order == 0 && question.OrEqual
}

// sufficiencyTest decides whether the kept members are sufficient. If they are, the fraction is a lower bound on the probability.
type sufficiencyTest func(kept *sparse.Set) (sufficiency, *big.Rat, error)

// minimize removes members from a sufficient set as long as the set stays sufficient. It tries the members in the given order, in groups. lower is a
// lower bound of the probability with the whole set.
func minimize(ctx context.Context, sufficientSet *sparse.Set, order []int, test sufficiencyTest, lower *big.Rat) (*Result, error) {
	found := &Result{Members: sufficientSet.Clone(), Lower: lower, Minimal: true}
	groupSize := max(len(order)/8, 1)
	for group := range slices.Chunk(order, groupSize) {
		if err := found.remove(ctx, group, test); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// remove removes a group of members if the set is sufficient without them. Otherwise it tries to remove each half of the group.
func (found *Result) remove(ctx context.Context, group []int, test sufficiencyTest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	smallerSet := found.Members.Clone()
	for _, member := range group {
		smallerSet.Remove(member)
	}
	result, lower, err := test(smallerSet)
	switch {
	case err != nil:
		return err
	case result == sufficient:
		found.Members, found.Lower = smallerSet, lower
		return nil
	case len(group) == 1:
		found.Minimal = found.Minimal && result == insufficient
		return nil
	}
	if err := found.remove(ctx, group[:len(group)/2], test); err != nil {
		return err
	}
	return found.remove(ctx, group[len(group)/2:], test)
}
