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

// CheckOf checks a certificate of a model that the caller has prepared, for several certificates of the same model. It is an error if the
// certificate is about another model.
func CheckOf(ctx context.Context, model *exact.Model, file *certificate.File) ([]Result, error) {
	if model.Model != file.Model {
		return nil, errors.New("the certificate is about another model")
	}
	if err := file.Validate(); err != nil {
		return nil, err
	}
	return check(ctx, model, nil, file)
}

// check checks all claims of a certificate. If the model is wrong, modelErr is the reason, and becomes the error of every claim.
func check(ctx context.Context, model *exact.Model, modelErr error, file *certificate.File) ([]Result, error) {
	checker := &checker{file: file, Model: model, ctx: ctx, numStates: file.Model.NumStates(), vectors: map[int]*bounds{}}
	for i := range file.Sets {
		checker.sets = append(checker.sets, checker.evaluateSet(i))
	}
	results := make([]Result, len(file.Claims))
	for i := range file.Claims {
		claim := &file.Claims[i]
		results[i] = Result{Property: claim.Property, Statement: file.Statement(claim), Number: claim.Vector >= 0 || claim.Operator == "count", Err: modelErr}
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
	if claim.Operator == "exists" {
		return slices.ContainsFunc(states, result.bySide[side].Has)
	}
	return !slices.ContainsFunc(states, func(s int) bool { return !result.bySide[side].Has(s) })
}

// countMembers returns how many of the given states are certainly in the set (side lower), or may be in the set (side upper).
func (result *set) countMembers(states []int, side int) *big.Rat {
	countMembers := int64(0)
	for _, s := range states {
		if result.bySide[side].Has(s) {
			countMembers++
		}
	}
	return big.NewRat(countMembers, 1)
}

// isDecided reports whether the membership of every state is known.
func (result *set) isDecided() bool { return slices.Equal(result.bySide[lower], result.bySide[upper]) }

// bounds has the proven bounds of a vector, or the reason why there are none. A nil lower bound is 0. The ceiling is 1 for
// probabilities and nil, which is infinity, for rewards.
type bounds struct {
	bySide  [2]*certificate.Values
	ceiling *big.Rat
	// undefined has the states whose value is not proven to be defined; nil if all are.
	undefined certificate.Bits
	err       error
}

// boundOf returns the lower or the upper bound of state s, where nil stands for infinity. Without a column it returns the trivial bound: 0 or the
// ceiling.
func (b *bounds) boundOf(side, s int) *big.Rat {
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

// compareTo returns a function that compares a bound of state s with number. It returns 1, 0 or -1 if the bound is greater than, equal to or
// less than number.
func (bounds *bounds) compareTo(number *big.Rat) func(side, s int) int {
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

// checkClaim checks a claim. It stores the bounds or the truth value that are proven in the result. The error says why the claim is not proven.
func (c *checker) checkClaim(claim *certificate.Claim, result *Result) error {
	overSet, claimSet, vectorBounds := &c.sets[claim.OverSet], &set{}, &bounds{}
	if claim.Vector >= 0 {
		vectorBounds = c.checkVector(claim.Vector)
	} else {
		claimSet = &c.sets[claim.Set]
	}
	if err := cmp.Or(overSet.err, claimSet.err, vectorBounds.err); err != nil {
		return err
	}
	states := c.claimStates(claim)
	if !overSet.isDecided() || states == nil {
		return errors.New("the claim is about no states, or those are not decided")
	}
	if err := vectorBounds.checkDefined(states); err != nil {
		return err
	}
	switch {
	case claim.Vector >= 0:
		result.Lower, result.Upper = vectorBounds.aggregate(claim, states)
	case claim.Operator == "count":
		result.Lower, result.Upper = claimSet.countMembers(states, lower), claimSet.countMembers(states, upper)
	default:
		result.Holds = claimSet.holds(claim, states, upper)
		return checkTruth(claim, claimSet.holds(claim, states, lower), result.Holds)
	}
	claimedLower, claimedUpper, err := claim.Bounds()
	if err == nil && (exact.Less(result.Upper, result.Lower) || exact.Less(result.Lower, claimedLower) || exact.Less(claimedUpper, result.Upper)) {
		err = fmt.Errorf("what is proven is not from %q to %q, as is claimed", claim.Lower, claim.Upper)
	}
	return err
}

// claimStates returns the states that a claim is about: the states that are certainly in its set or, for a claim about the first state, only the
// first of them.
func (c *checker) claimStates(claim *certificate.Claim) []int {
	var states []int
	for s := range c.numStates {
		if !c.sets[claim.OverSet].bySide[lower].Has(s) {
			continue
		}
		states = append(states, s)
		if claim.Operator == "first" {
			break
		}
	}
	return states
}

// checkTruth returns an error unless a claim about a set is proven. holdsInLower says whether the claim holds for the states that are certainly
// in the set, holdsInUpper for the states that may be in it. They must be equal, and equal to claim.Holds.
func checkTruth(claim *certificate.Claim, holdsInLower, holdsInUpper bool) error {
	if holdsInUpper != holdsInLower {
		return fmt.Errorf("the claim is %v, and %w", claim.Holds, ErrUndecided)
	}
	if holdsInUpper != claim.Holds {
		return fmt.Errorf("the claim is %v, and the bounds prove the opposite", claim.Holds)
	}
	return nil
}

// aggregate returns bounds of the minimum, maximum, sum or mean of the values of some states, as claim.Operator says. Without an operator it returns
// bounds that contain the values of all these states.
func (bounds *bounds) aggregate(claim *certificate.Claim, states []int) (low, high *big.Rat) {
	for i, s := range states {
		stateLow, stateHigh := bounds.boundOf(lower, s), bounds.boundOf(upper, s)
		if claim.Complement {
			stateLow, stateHigh = new(big.Rat).Sub(one, stateHigh), new(big.Rat).Sub(one, stateLow)
		}
		switch {
		case i == 0:
			low, high = stateLow, stateHigh
		case claim.Operator == "sum" || claim.Operator == "avg":
			low, high = exact.Plus(low, stateLow), exact.Plus(high, stateHigh)
		case claim.Operator == "max":
			low, high = maximum(low, stateLow), maximum(high, stateHigh)
		case claim.Operator == "min":
			low, high = minimum(low, stateLow), minimum(high, stateHigh)
		default:
			low, high = minimum(low, stateLow), maximum(high, stateHigh)
		}
	}
	if claim.Operator == "avg" {
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

// checkStates calls check for every state. check returns a message about a mistake, or "". The error names the first state with a mistake and
// the part of the certificate.
func (c *checker) checkStates(partName string, check func(s int) string) error {
	if s, mistake := exact.FindMistake(c.ctx, c.numStates, check); mistake != "" {
		return fmt.Errorf("%s: state %d: %s", partName, s, mistake)
	}
	return c.ctx.Err()
}

// evaluateSet returns the states that are certainly in set i of the certificate, and the states that may be in it. The sets on which it depends
// have smaller indices and are already evaluated.
func (c *checker) evaluateSet(i int) (result set) {
	definition, vectorBounds := &c.file.Sets[i], &bounds{}
	if independent := definition.IndependentStates(c.file.Model); independent != nil {
		return set{bySide: [2]certificate.Bits{independent, independent}}
	}
	if definition.DependsOnValues() {
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
			result.err = c.checkStates(fmt.Sprintf("set %d", i), func(s int) string {
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

// memberFunc decides whether state s is in a set, seen from a side. problem says that the certificate is wrong about state s; it is "" if
// there is no mistake.
type memberFunc func(side, s int) (isMember bool, problem string)

// membership returns a function that decides which states are in a set. If the set compares a vector, vectorBounds has the bounds of this
// vector.
func (c *checker) membership(set *certificate.Set, vectorBounds *bounds) memberFunc {
	switch set.Kind {
	case certificate.Not:
		return func(side, s int) (bool, string) { return !c.isInOperand(set, 0, 1-side, s), "" }
	case certificate.And, certificate.Or:
		return func(side, s int) (bool, string) { return c.isInCombination(set, side, s), "" }
	case certificate.Bound:
		return vectorBounds.membersIfDefined(vectorBounds.membersByThreshold(set))
	case certificate.ArgMin, certificate.ArgMax:
		return c.optimalStates(set, vectorBounds)
	case certificate.ExistsNext, certificate.ForallNext:
		return func(side, s int) (bool, string) {
			return c.leadsTo(set, s, func(target int) bool { return c.isInOperand(set, 0, side, target) }), ""
		}
	}
	return func(_, s int) (bool, string) { return set.Bits.Has(s), c.untilProblem(set, s) }
}

// isInOperand reports whether state s is in operand k of a set, as known from one side.
func (c *checker) isInOperand(set *certificate.Set, k, side, s int) bool {
	return c.sets[set.Sets[k]].bySide[side].Has(s)
}

// isInCombination reports whether state s is in the intersection or the union of the operands: certainly (side lower) or possibly (side upper).
func (c *checker) isInCombination(set *certificate.Set, side, s int) bool {
	isUnion := set.Kind == certificate.Or
	for k := range set.Sets {
		if c.isInOperand(set, k, side, s) == isUnion {
			return isUnion
		}
	}
	return !isUnion
}

// membersByThreshold returns the membership function of a set of kind Bound: a state is a member if its value v satisfies `v relation
// threshold`.
func (bounds *bounds) membersByThreshold(set *certificate.Set) memberFunc {
	compare := bounds.compareTo(set.Threshold)
	leastSign := 2 - len(set.Relation) // 1 for a strict relation, which has one character, and 0 for <= and >=
	return func(side, s int) (bool, string) {
		if set.Relation[0] == '<' {
			return -compare(1-side, s) >= leastSign, ""
		}
		return compare(side, s) >= leastSign, ""
	}
}

// leadsTo reports whether the condition holds for some successor of state s, or for all successors if the set quantifies over all paths.
func (c *checker) leadsTo(set *certificate.Set, s int, condition func(target int) bool) bool {
	isForall := set.Kind == certificate.ForallNext || set.Kind == certificate.ForallUntil
	first, end := c.Choices(s)
	for _, target := range c.Target[c.FirstTransition[first]:c.FirstTransition[end]] {
		if condition(int(target)) != isForall {
			return !isForall
		}
	}
	return isForall
}

// untilProblem returns why the certificate is wrong about state s in a set of an until formula, or "" if it is right. The certificate has the
// members of the set, and their ranks.
func (c *checker) untilProblem(set *certificate.Set, s int) string {
	if !set.Bits.Has(s) {
		if c.isInOperand(set, 1, upper, s) || c.isInOperand(set, 0, upper, s) && c.leadsTo(set, s, set.Bits.Has) {
			return "it is not in the set, and the operands do not exclude it"
		}
		return ""
	}
	if c.isInOperand(set, 1, lower, s) {
		return ""
	}
	isNearer := func(target int) bool { return set.Bits.Has(target) && set.Rank[target] < set.Rank[s] }
	if !c.isInOperand(set, 0, lower, s) || !c.leadsTo(set, s, isNearer) {
		return "it is in the set, and its rank does not prove it"
	}
	return ""
}

// optimalStates returns the membership in a set of kind ArgMin or ArgMax: the states that have the least or the greatest value of all
// candidates, which are the states of its operand.
func (c *checker) optimalStates(set *certificate.Set, vectorBounds *bounds) memberFunc {
	candidates := &c.sets[set.Sets[0]]
	if candidates.err != nil || !candidates.isDecided() || vectorBounds.err != nil ||
		vectorBounds.mayBeUndefined(candidates.bySide[lower], c.numStates) {
		return func(int, int) (bool, string) { return false, "the states that are compared are not decided" }
	}
	// A state certainly has the least value if its upper bound is not above the lower bound of any other candidate. It may have the least
	// value if its lower bound is not above the upper bound of any candidate. For the greatest value, the sides are swapped.
	isBetter, optimistic, pessimistic := exact.Less, lower, upper
	if set.Kind == certificate.ArgMax {
		isBetter, optimistic, pessimistic = func(a, b *big.Rat) bool { return exact.Less(b, a) }, upper, lower
	}
	var bestBound, secondBest, bestPessimistic *big.Rat // the best and second best optimistic bounds, and the best pessimistic one
	bestState, count := 0, 0
	for s := range c.numStates {
		if !candidates.bySide[lower].Has(s) {
			continue
		}
		bound, pessimisticBound := vectorBounds.boundOf(optimistic, s), vectorBounds.boundOf(pessimistic, s)
		if count == 0 || isBetter(pessimisticBound, bestPessimistic) {
			bestPessimistic = pessimisticBound
		}
		if count == 0 || isBetter(bound, bestBound) {
			bestBound, secondBest, bestState = bound, bestBound, s
		} else if count == 1 || isBetter(bound, secondBest) {
			secondBest = bound
		}
		count++
	}
	return func(side, s int) (bool, string) {
		if !candidates.bySide[lower].Has(s) {
			return false, ""
		}
		if side == upper {
			return !isBetter(bestPessimistic, vectorBounds.boundOf(optimistic, s)), ""
		}
		bestOfOthers := bestBound
		if s == bestState {
			bestOfOthers = secondBest
		}
		return count == 1 || !isBetter(bestOfOthers, vectorBounds.boundOf(pessimistic, s)), ""
	}
}

// checkVector checks vector i of the certificate and returns its bounds. If they are not proven, the field err of the result says why. The
// results are cached.
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
