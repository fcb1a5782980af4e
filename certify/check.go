package certify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/certify/exact"
)

// Result is the result of checking a claim.
type Result struct {
	// Property is the text that the file gives; nothing depends on it. Statement is what the check proves.
	Property, Statement string
	// Err says why the claim is not proven; nil if it is.
	Err error
	// Number says that the claim is about a number. Lower and Upper are its proven bounds, nil for infinity; they must not be changed.
	Number       bool
	Lower, Upper *big.Rat
	// Holds is the proven truth value of a claim about a set.
	Holds bool
}

// Check checks every claim of a certificate. The error says that the file is malformed; a result says why its claim is not
// proven. If the context ends, the error is ctx.Err(), and so is the error of the claims that were not checked.
func Check(ctx context.Context, file *certificate.File) ([]Result, error) {
	if err := file.Validate(); err != nil {
		return nil, err
	}
	model, err := exact.New(ctx, file.Model)
	return check(ctx, model, err, file)
}

// CheckOf checks one of several certificates of the same model, which the caller prepares once.
func CheckOf(ctx context.Context, model *exact.Model, file *certificate.File) ([]Result, error) {
	if model.Model != file.Model {
		return nil, errors.New("the certificate is about another model")
	}
	if err := file.Validate(); err != nil {
		return nil, err
	}
	return check(ctx, model, nil, file)
}

// check checks all claims of a certificate. modelErr is an error of the model, which becomes the error of every claim.
func check(ctx context.Context, model *exact.Model, modelErr error, f *certificate.File) ([]Result, error) {
	checker := &checker{file: f, Model: model, ctx: ctx, numStates: f.Model.NumStates(), vectors: map[int]*bounds{}}
	for i := range f.Sets {
		checker.sets = append(checker.sets, checker.evaluateSet(i))
	}
	results := make([]Result, len(f.Claims))
	for i := range f.Claims {
		claim := &f.Claims[i]
		results[i] = Result{Property: claim.Property, Statement: f.Statement(claim), Number: claim.Vector >= 0 || claim.Of == "count", Err: modelErr}
		if modelErr == nil {
			results[i].Err = checker.checkClaim(claim, &results[i])
		}
		if err := ctx.Err(); err != nil {
			results[i].Err = err
		}
	}
	return results, ctx.Err()
}

// ErrUndecided says that the bounds of a certificate leave open whether a claim is true.
var ErrUndecided = errors.New("the bounds leave it open")

type checker struct {
	*exact.Model
	file      *certificate.File
	ctx       context.Context
	numStates int
	sets      []set           // in the order of the file
	vectors   map[int]*bounds // those that were checked
}

// The sides from which values and sets are known: the lower and the upper bound of a value, the states that are certainly in a set and
// those that may be in it.
const (
	lower = iota
	upper
)

// set has the members of a set from both sides, or the reason why they are unknown.
type set struct {
	bySide [2]certificate.Bits
	err    error
}

// holds reports whether a claim about the given states is true if the members of the set are those known from one side.
func (result *set) holds(claim *certificate.Claim, states []int, side int) bool {
	if claim.Of == "exists" {
		return slices.ContainsFunc(states, result.bySide[side].Has)
	}
	return !slices.ContainsFunc(states, func(s int) bool { return !result.bySide[side].Has(s) })
}

func (result *set) decided() bool { return slices.Equal(result.bySide[lower], result.bySide[upper]) }

// bounds has the proven bounds of a vector, or the reason why there are none. A nil lower bound is 0. The ceiling is 1 for
// probabilities and nil, which is infinity, for rewards.
type bounds struct {
	bySide  [2]*certificate.Values
	ceiling *big.Rat
	// undefined has the states whose value is not proven to be defined; nil if all are.
	undefined certificate.Bits
	err       error
}

// value returns the lower or the upper bound of state s; nil is infinity. Without a column it is 0 or the ceiling.
func (b *bounds) value(side, s int) *big.Rat {
	trivial := new(big.Rat)
	if side == upper {
		trivial = b.ceiling
	}
	column := b.bySide[side]
	if column == nil {
		return trivial
	}
	bound := column.Rat(s)
	if side == upper && !exact.Less(bound, trivial) {
		return trivial
	}
	return bound
}

// compare returns a function that compares a bound of state s with number. It returns 1, 0 or -1 if the bound is greater than, equal to or
// less than number.
func (bounds *bounds) compare(number *big.Rat) func(side, s int) int {
	signs := [2]func(s int) int{func(int) int { return -number.Sign() }, func(int) int { return 1 }}
	for side, values := range bounds.bySide {
		if values != nil {
			signs[side] = values.Compare(number)
		}
	}
	return func(side, s int) int {
		if side == upper && bounds.ceiling != nil {
			return min(signs[upper](s), bounds.ceiling.Cmp(number))
		}
		return signs[side](s)
	}
}

// checkClaim checks a claim, given its sets and its vector.
func (c *checker) checkClaim(claim *certificate.Claim, r *Result) error {
	over, about := &c.sets[claim.Over], &set{}
	v := &bounds{}
	if claim.Vector >= 0 {
		v = c.checkVector(claim.Vector)
	} else {
		about = &c.sets[claim.Set]
	}
	if err := cmp.Or(over.err, about.err, v.err); err != nil {
		return err
	}
	var states []int
	for s := range c.numStates {
		if over.bySide[lower].Has(s) && (claim.Of != "first" || states == nil) {
			states = append(states, s)
		}
	}
	switch err := v.checkDefined(states); {
	case !over.decided() || states == nil:
		return errors.New("the claim is about no states, or those are not decided")
	case err != nil:
		return err
	case claim.Vector >= 0:
		r.Lower, r.Upper = v.aggregate(claim, states)
	case claim.Of == "count":
		var count [2]int64
		for _, s := range states {
			for side := range count {
				if about.bySide[side].Has(s) {
					count[side]++
				}
			}
		}
		r.Lower, r.Upper = big.NewRat(count[lower], 1), big.NewRat(count[upper], 1)
	default:
		r.Holds = about.holds(claim, states, upper)
		switch {
		case r.Holds != about.holds(claim, states, lower):
			return fmt.Errorf("the claim is %v, and %w", claim.Holds, ErrUndecided)
		case r.Holds != claim.Holds:
			return fmt.Errorf("the claim is %v, and the bounds prove the opposite", claim.Holds)
		}
		return nil
	}
	lo, hi, err := claim.Bounds()
	if err == nil && (exact.Less(r.Upper, r.Lower) || exact.Less(r.Lower, lo) || exact.Less(hi, r.Upper)) {
		err = fmt.Errorf("what is proven is not from %q to %q, as is claimed", claim.Lower, claim.Upper)
	}
	return err
}

// aggregate returns bounds on the minimum, maximum, sum or mean of the values of the given states, as claim.Of says. Without an operator it
// returns bounds on all these values.
func (bounds *bounds) aggregate(claim *certificate.Claim, states []int) (low, high *big.Rat) {
	for i, s := range states {
		stateLow, stateHigh := bounds.value(lower, s), bounds.value(upper, s)
		if claim.Complement {
			stateLow, stateHigh = new(big.Rat).Sub(one, stateHigh), new(big.Rat).Sub(one, stateLow)
		}
		switch {
		case i == 0:
			low, high = stateLow, stateHigh
		case claim.Of == "sum" || claim.Of == "avg":
			low, high = exact.Plus(low, stateLow), exact.Plus(high, stateHigh)
		case claim.Of == "max":
			low, high = maximum(low, stateLow), maximum(high, stateHigh)
		case claim.Of == "min":
			low, high = minimum(low, stateLow), minimum(high, stateHigh)
		default:
			low, high = minimum(low, stateLow), maximum(high, stateHigh)
		}
	}
	if claim.Of == "avg" {
		n := big.NewRat(1, int64(len(states)))
		low, high = exact.Times(low, n), exact.Times(high, n)
	}
	return low, high
}

// minimum returns the smaller of two numbers; nil is infinity.
func minimum(a, b *big.Rat) *big.Rat {
	if exact.Less(b, a) {
		return b
	}
	return a
}

// maximum returns the greater of two numbers; nil is infinity.
func maximum(a, b *big.Rat) *big.Rat {
	if exact.Less(a, b) {
		return b
	}
	return a
}

// everyState calls check for every state. check returns a message about a mistake, or "". The error names the first state with a mistake and
// the part of the certificate.
func (c *checker) everyState(part string, check func(s int) string) error {
	if s, mistake := exact.Each(c.ctx, c.numStates, check); mistake != "" {
		return fmt.Errorf("%s: state %d: %s", part, s, mistake)
	}
	return c.ctx.Err()
}

// evaluateSet returns the members of set i of the certificate from both sides. The sets that it depends on have smaller indices, so they are
// evaluated already.
func (c *checker) evaluateSet(i int) (result set) {
	definition, vectorBounds := &c.file.Sets[i], &bounds{}
	if given := definition.Given(c.file.Model); given != nil {
		return set{bySide: [2]certificate.Bits{given, given}}
	}
	if definition.Compares() {
		vectorBounds = c.checkVector(definition.Vector)
	}
	result.err = vectorBounds.err
	for _, operand := range definition.Sets {
		result.err = cmp.Or(result.err, c.sets[operand].err)
	}
	member := c.membership(definition, vectorBounds)
	for side := range result.bySide {
		result.bySide[side] = certificate.NewBits(c.numStates)
		if result.err == nil {
			result.err = c.everyState(fmt.Sprintf("set %d", i), func(s int) string {
				isMember, problem := member(side, s)
				if isMember {
					result.bySide[side].Add(s)
				}
				return problem
			})
		}
	}
	return result
}

// membership returns a function that decides whether state s is in a set, seen from a side. For an until formula the certificate has the
// states; problem says that the certificate is wrong about state s.
func (c *checker) membership(set *certificate.Set, v *bounds) func(side, s int) (has bool, problem string) {
	has := func(k, side, s int) bool { return c.sets[set.Sets[k]].bySide[side].Has(s) }
	after := func(all bool, s int, is func(t int) bool) bool {
		first, end := c.Choices(s)
		for _, t := range c.Target[c.Start[first]:c.Start[end]] {
			if is(int(t)) != all {
				return !all
			}
		}
		return all
	}
	switch set.Kind {
	case certificate.Not:
		return func(side, s int) (bool, string) { return !has(0, 1-side, s), "" }
	case certificate.And, certificate.Or:
		or := set.Kind == certificate.Or
		return func(side, s int) (bool, string) {
			for k := range set.Sets {
				if has(k, side, s) == or {
					return or, ""
				}
			}
			return !or, ""
		}
	case certificate.Bound:
		sign, least := v.compare(set.Threshold), 2-len(set.Relation) // the least sign in > or >=
		return v.membersIfDefined(func(side, s int) (bool, string) {
			if set.Relation[0] == '<' {
				return -sign(1-side, s) >= least, ""
			}
			return sign(side, s) >= least, ""
		})
	}
	if set.Kind == certificate.ArgMin || set.Kind == certificate.ArgMax {
		return c.optimalStates(set, v)
	}
	all := set.Kind == certificate.ForallNext || set.Kind == certificate.ForallUntil
	if set.Kind == certificate.ExistsNext || set.Kind == certificate.ForallNext {
		return func(side, s int) (bool, string) {
			return after(all, s, func(t int) bool { return has(0, side, t) }), ""
		}
	}
	return func(_, s int) (bool, string) {
		nearer := func(t int) bool { return set.Bits.Has(t) && set.Rank[t] < set.Rank[s] }
		if set.Bits.Has(s) {
			if !has(1, lower, s) && (!has(0, lower, s) || !after(all, s, nearer)) {
				return true, "it is in the set, and no rank shows it"
			}
		} else if has(1, upper, s) || has(0, upper, s) && after(all, s, set.Bits.Has) {
			return false, "it is not in the set, and nothing keeps it out"
		}
		return set.Bits.Has(s), ""
	}
}

// optimalStates returns a function that decides whether a state has the least or the greatest value among the states of a
// set.
func (c *checker) optimalStates(set *certificate.Set, v *bounds) func(side, s int) (has bool, problem string) {
	candidates := &c.sets[set.Sets[0]]
	if candidates.err != nil || !candidates.decided() || v.err != nil || v.mayBeUndefined(candidates.bySide[lower], c.numStates) {
		return func(int, int) (bool, string) { return false, "the states that are compared are not decided" }
	}
	// A state certainly has the least value if its upper bound is not above the lower bound of any other state. It may have it if its
	// lower bound is not above any upper bound.
	above, near, far := exact.Less, lower, upper
	if set.Kind == certificate.ArgMax {
		above, near, far = func(a, b *big.Rat) bool { return exact.Less(b, a) }, upper, lower
	}
	var bestNear, secondNear, bestFar *big.Rat // the best near bounds of two states, and the best far one
	firstState, count := 0, 0
	for s := range c.numStates {
		if !candidates.bySide[lower].Has(s) {
			continue
		}
		nearValue, farValue := v.value(near, s), v.value(far, s)
		if count == 0 || above(farValue, bestFar) {
			bestFar = farValue
		}
		if count == 0 || above(nearValue, bestNear) {
			bestNear, secondNear, firstState = nearValue, bestNear, s
		} else if count == 1 || above(nearValue, secondNear) {
			secondNear = nearValue
		}
		count++
	}
	return func(side, s int) (bool, string) {
		best := bestNear
		if firstState == s {
			best = secondNear
		}
		if side == lower {
			return candidates.bySide[lower].Has(s) && (firstState == s && count == 1 || !above(best, v.value(far, s))), ""
		}
		return candidates.bySide[lower].Has(s) && !above(bestFar, v.value(near, s)), ""
	}
}

// checkVector checks vector i, and returns its bounds or, in their field err, why they are not proven. Later calls return the same result.
func (c *checker) checkVector(i int) *bounds {
	if result, ok := c.vectors[i]; ok {
		return result
	}
	result := &bounds{bySide: [2]*certificate.Values{c.file.Vectors[i].Lower, c.file.Vectors[i].Upper}}
	c.vectors[i] = result
	if err := c.prove(i, result); err != nil {
		result.err = fmt.Errorf("vector %d: %w", i, err)
	}
	return result
}
