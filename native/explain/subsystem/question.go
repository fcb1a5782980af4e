package subsystem

import (
	"context"
	"math/big"

	"tilecheck/native/explain/witness"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Question is a bound that a part of a model has to violate.
type Question struct {
	Space   *explicit.Space // an exact model
	Chain   *witness.Chain
	Formula *witness.PathFormula
	From    int
	// Bound must be exceeded, or with Reach only reached.
	Bound *big.Rat
	Reach bool
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

// exactLimit is the number of states up to which exact arithmetic decides what bounds do not.
const exactLimit = 3000

// sufficiency says whether a part of the model violates the bound.
type sufficiency uint8

const (
	insufficient sufficiency = iota
	sufficient
	unknown
)

// compareWithBound compares the value of state s with the bound: by floating-point bounds, and exactly
// if these do not decide and the model is small. It returns a lower bound on a sufficient value.
func (q *Question) compareWithBound(s, size int, value func(solve.Options) (*solve.Values, error)) (sufficiency, *big.Rat, error) {
	v, err := value(solve.Options{Epsilon: 1e-10})
	if err == nil {
		lower, upper := new(big.Rat).SetFloat64(v.Lower[s]), new(big.Rat).SetFloat64(v.Upper[s])
		if a := q.satisfies(lower); a {
			return sufficient, lower, nil
		}
		if !q.satisfies(upper) {
			return insufficient, nil, nil
		}
	}
	if err != nil && size > exactLimit {
		return unknown, nil, err
	}
	if size > exactLimit {
		return unknown, nil, nil
	}
	if v, err = value(solve.Options{Exact: true}); err != nil {
		return unknown, nil, err
	}
	if q.satisfies(v.Exact[s]) {
		return sufficient, v.Exact[s], nil
	}
	return insufficient, nil, nil
}

func (q *Question) satisfies(x *big.Rat) bool {
	c := x.Cmp(q.Bound)
	return c > 0 || c == 0 && q.Reach
}

// sufficiencyTest decides whether the kept members are sufficient. The fraction is a lower bound on the
// value.
type sufficiencyTest func(kept *sparse.Set) (sufficiency, *big.Rat, error)

// minimize removes members from a sufficient set, in the given order. It tries groups first, and halves
// a group that cannot be removed as a whole.
func minimize(ctx context.Context, kept *sparse.Set, order []int, test sufficiencyTest, lower *big.Rat) (*Found, error) {
	f := &Found{Kept: kept.Clone(), Lower: lower, Minimal: true}
	var remove func(part []int) error
	remove = func(part []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		without := f.Kept.Clone()
		for _, x := range part {
			without.Remove(x)
		}
		result, lower, err := test(without)
		switch {
		case err != nil:
			return err
		case result == sufficient:
			f.Kept, f.Lower = without, lower
			return nil
		case len(part) == 1:
			f.Minimal = f.Minimal && result == insufficient
			return nil
		}
		if err := remove(part[:len(part)/2]); err != nil {
			return err
		}
		return remove(part[len(part)/2:])
	}
	for size := max(len(order)/8, 1); len(order) > 0; {
		n := min(size, len(order))
		if err := remove(order[:n]); err != nil {
			return nil, err
		}
		order = order[n:]
	}
	return f, nil
}
