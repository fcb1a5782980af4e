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

// Found is a part of a model that violates the bound.
type Found struct {
	// Kept are its members: states of the model, or numbers of commands.
	Kept *sparse.Set
	// Lower is a proved lower bound on the probability in this part.
	Lower *big.Rat
	// Minimal says that every member is proved necessary.
	Minimal bool
	// Candidates is the number of states or commands of the whole model.
	Candidates int
}

// exactLimit is the number of states up to which values are computed exactly if floating-point bounds do not
// decide.
const exactLimit = 3000

// sufficiency says whether a part of the model violates the bound.
type sufficiency uint8

const (
	insufficient sufficiency = iota
	sufficient
	unknown
)

// compareWithBound decides whether the value of a state violates the bound. It uses floating-point bounds, and
// exact values if these do not decide and there are at most exactLimit states; size is the number of states.
// If the result is sufficient, the fraction is a lower bound on the value.
func (q *Question) compareWithBound(state, size int, value func(solve.Options) (*solve.Values, error)) (sufficiency, *big.Rat, error) {
	bounds, boundsErr := value(solve.Options{Epsilon: 1e-10})
	if boundsErr == nil {
		lower, upper := new(big.Rat).SetFloat64(bounds.Lower[state]), new(big.Rat).SetFloat64(bounds.Upper[state])
		if q.violates(lower) {
			return sufficient, lower, nil
		}
		if !q.violates(upper) {
			return insufficient, nil, nil
		}
	}
	if size > exactLimit {
		return unknown, nil, boundsErr
	}
	values, err := value(solve.Options{Exact: true})
	if err != nil {
		return unknown, nil, err
	}
	if exact := values.Exact[state]; q.violates(exact) {
		return sufficient, exact, nil
	}
	return insufficient, nil, nil
}

// violates reports whether a probability exceeds the bound, or reaches it if OrEqual is true.
func (q *Question) violates(value *big.Rat) bool {
	order := value.Cmp(q.Bound)
	return order > 0 || order == 0 && q.OrEqual
}

// sufficiencyTest decides whether the kept members are sufficient. The fraction is a lower bound on the
// value.
type sufficiencyTest func(kept *sparse.Set) (sufficiency, *big.Rat, error)

// minimize removes members from a sufficient set, in the given order. It tries to remove groups of members, and
// halves a group that it cannot remove. lower is a lower bound on the probability with the set.
func minimize(ctx context.Context, kept *sparse.Set, order []int, test sufficiencyTest, lower *big.Rat) (*Found, error) {
	found := &Found{Kept: kept.Clone(), Lower: lower, Minimal: true}
	var remove func(part []int) error
	remove = func(part []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		smaller := found.Kept.Clone()
		for _, member := range part {
			smaller.Remove(member)
		}
		result, lower, err := test(smaller)
		switch {
		case err != nil:
			return err
		case result == sufficient:
			found.Kept, found.Lower = smaller, lower
			return nil
		case len(part) == 1:
			found.Minimal = found.Minimal && result == insufficient
			return nil
		}
		if err := remove(part[:len(part)/2]); err != nil {
			return err
		}
		return remove(part[len(part)/2:])
	}
	groupSize := max(len(order)/8, 1)
	for group := range slices.Chunk(order, groupSize) {
		if err := remove(group); err != nil {
			return nil, err
		}
	}
	return found, nil
}
