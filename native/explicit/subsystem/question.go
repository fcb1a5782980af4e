package subsystem

import (
	"context"
	"math/big"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/native/explicit/witness"
)

// Question is what is to be exceeded, and where.
type Question struct {
	Space *explicit.Space // with fractions
	Chain *witness.Chain
	Aim   *witness.Aim
	From  int
	// Bound is to be exceeded, or only to be reached.
	Bound *big.Rat
	Reach bool
}

// Found is a part of a model.
type Found struct {
	// Kept are the members: states of the model, or commands by number.
	Kept *sparse.Set
	// Lower is a lower bound of the probability of the part alone, which exceeds the bound.
	Lower *big.Rat
	// Minimal says that it is shown of every member that it is needed.
	Minimal bool
	// Of is how many there were to choose from.
	Of int
}

// exactLimit is the number of states up to which fractions decide what doubles do not.
const exactLimit = 3000

// answer is whether a value is enough.
type answer uint8

const (
	no answer = iota
	yes
	open
)

// judge compares the value of a state with the bound: by what doubles say, and by a
// fraction where they leave it open. Lower is what is known of the value from below.
func (q *Question) judge(s, size int, value func(solve.Options) (*solve.Values, error)) (answer, *big.Rat, error) {
	v, err := value(solve.Options{Epsilon: 1e-10})
	if err == nil {
		lower, upper := new(big.Rat).SetFloat64(v.Lower[s]), new(big.Rat).SetFloat64(v.Upper[s])
		if a := q.enough(lower); a {
			return yes, lower, nil
		}
		if !q.enough(upper) {
			return no, nil, nil
		}
	}
	if err != nil && size > exactLimit {
		return open, nil, err
	}
	if size > exactLimit {
		return open, nil, nil
	}
	if v, err = value(solve.Options{Exact: true}); err != nil {
		return open, nil, err
	}
	if q.enough(v.Exact[s]) {
		return yes, v.Exact[s], nil
	}
	return no, nil, nil
}

func (q *Question) enough(x *big.Rat) bool {
	c := x.Cmp(q.Bound)
	return c > 0 || c == 0 && q.Reach
}

// test is whether what is kept is enough.
type test func(kept *sparse.Set) (answer, *big.Rat, error)

// minimize takes members out of a set, the first of order first, of which as many as can
// be at a time. The set that is given is enough.
func minimize(ctx context.Context, kept *sparse.Set, order []int, enough test, lower *big.Rat) (*Found, error) {
	f := &Found{Kept: kept.Clone(), Lower: lower, Minimal: true}
	var try func(part []int) error
	try = func(part []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		without := f.Kept.Clone()
		for _, x := range part {
			without.Remove(x)
		}
		a, lower, err := enough(without)
		switch {
		case err != nil:
			return err
		case a == yes:
			f.Kept, f.Lower = without, lower
			return nil
		case len(part) == 1:
			f.Minimal = f.Minimal && a == no
			return nil
		}
		if err := try(part[:len(part)/2]); err != nil {
			return err
		}
		return try(part[len(part)/2:])
	}
	for size := max(len(order)/8, 1); len(order) > 0; {
		n := min(size, len(order))
		if err := try(order[:n]); err != nil {
			return nil, err
		}
		order = order[n:]
	}
	return f, nil
}
