package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/big"
	"slices"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/certify/exact"
	"tilecheck/internal/interval"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// Options says how a Prover computes. The zero value is the default.
type Options struct {
	// Epsilon is the relative width that the caller asks for; 0 means solve.DefaultEpsilon.
	Epsilon float64
	// Exact makes certificates of fractions only, whose lower and upper bounds are equal.
	Exact bool
	// Ordered sorts the states as PRISM does. Certificate files need that order.
	Ordered bool
	// Reward returns a reward structure; nil means the space's own method.
	Reward func(index int) (*sparse.Reward, error)
}

// epsilon returns the relative width that the caller asks for.
func (opts Options) epsilon() float64 {
	if opts.Epsilon > 0 {
		return opts.Epsilon
	}
	return solve.DefaultEpsilon
}

// Prover makes certificates of one state space. It is not safe for concurrent use.
type Prover struct {
	*ClaimFile
	space          *explicit.Space
	graph          *sparse.Graph
	opts           Options
	order          []uint32 // the state at each index of the certificate; nil if they are the same
	index          []uint32 // the inverse of order
	numbers        *numbers
	rewards        map[int]*sparse.Reward
	memberships    map[int]membership
	computedBounds map[int]*bounds
	exponents      map[int]int // by vector: an estimate of the binary exponent of its greatest value
	// products has the products of the model with the automata of vectors, by vector.
	products        map[int]*product
	budgetProducts  map[int]*budgetProduct // by vector
	checkerModel    *exact.Model           // the model in the checker's form; nil before the first check
	sharedSolutions []*sharedSolution
	narrowEpsilon   float64 // the relative width that narrowFloatBounds asks for
}

// New returns a Prover for a state space. It is an error if the weights of the space are not fractions, or if they are intervals. A POMDP is refused,
// because the claims of a certificate are about schedulers that see the state.
func New(space *explicit.Space, opts Options) (*Prover, error) {
	if !space.Model().Exact() {
		return nil, errors.New("the weights of the model are not fractions")
	}
	if space.Model().Intervals() {
		return nil, errors.New("certificates have no intervals")
	}
	if space.Program().Type == syntax.POMDP {
		return nil, errors.New("there is no certificate of a POMDP: certificates are about schedulers that see the state")
	}
	if opts.Reward == nil {
		opts.Reward = space.Reward
	}
	prover := &Prover{
		ClaimFile:      NewClaimFile(),
		space:          space,
		graph:          sparse.NewGraph(space.Model()),
		opts:           opts,
		rewards:        make(map[int]*sparse.Reward),
		memberships:    make(map[int]membership),
		computedBounds: make(map[int]*bounds),
		exponents:      make(map[int]int),
		products:       make(map[int]*product),
	}
	if opts.Ordered {
		prover.order = space.Order()
		prover.index = make([]uint32, len(prover.order))
		for position, s := range prover.order {
			prover.index[s] = uint32(position)
		}
	}
	prover.buildModel()
	return prover, nil
}

// orderedStates yields all states in the order of the certificate: the index in this order, and the number of the state.
func (prover *Prover) orderedStates() iter.Seq2[int, int] {
	return func(yield func(index, s int) bool) {
		for index := range prover.graph.NumStates() {
			s := index
			if prover.order != nil {
				s = int(prover.order[index])
			}
			if !yield(index, s) {
				return
			}
		}
	}
}

// indexOf returns the index of a state in the certificate.
func (prover *Prover) indexOf(s uint32) uint32 {
	if prover.index != nil {
		return prover.index[s]
	}
	return s
}

// orderedBits converts a set to the order of the certificate.
func (prover *Prover) orderedBits(set *sparse.Set) certificate.Bits {
	bits := certificate.NewBits(set.Len())
	for s := range set.All() {
		bits.Add(int(prover.indexOf(uint32(s))))
	}
	return bits
}

// Add adds the claim that answers a property, with its proof, and returns the index of the claim. It computes the proof again with increasing
// effort until the relative width is at most Options.Epsilon. If no effort suffices, it keeps the proof with the narrowest interval. The error
// is a *result.Failure if certificates cannot express the property.
func (prover *Prover) Add(ctx context.Context, property *Property) (int, error) {
	defer func() { prover.sharedSolutions = nil }() // shared solutions belong to one property
	claimIndex, err := prover.ClaimFile.Add(property)
	if err != nil {
		return 0, err
	}
	claim := &prover.Claims[claimIndex]
	prover.guessExponent(claim, property.Guess)
	if err := prover.proveNarrowly(ctx, claim); err != nil {
		prover.Claims = prover.Claims[:claimIndex]
		return 0, err
	}
	return claimIndex, nil
}

// guessExponent estimates the binary exponent of the greatest value of a claim's vector, which determines the grid of its bounds. guess is the
// approximate value of the property. It does nothing if the exponent is known, or if guess is not positive and finite.
func (prover *Prover) guessExponent(claim *certificate.Claim, guess float64) {
	isUsable := guess > 0 && !math.IsInf(guess, 1)
	if claim.Vector < 0 || prover.exponents[claim.Vector] != 0 || !isUsable {
		return
	}
	_, exponent := math.Frexp(max(guess, 1))
	prover.exponents[claim.Vector] = exponent + 2
}

// proveNarrowly proves a claim with more and more precise bounds, until the relative width of its interval is at most epsilon. If no bounds are precise
// enough, it keeps the proof with the narrowest interval. If all attempts fail, it returns the last error. The error can also be ctx.Err().
func (prover *Prover) proveNarrowly(ctx context.Context, claim *certificate.Claim) error {
	var bestProof *Prover // a copy with the narrowest proof so far, whose interval is still too wide
	bestWidth := math.Inf(1)
	effort, hasNext := prover.firstEffort(), true
	var lastErr error
	for hasNext {
		width, err := prover.proveClaim(ctx, claim, effort)
		if err == nil && width <= prover.opts.epsilon() {
			return nil
		}
		lastErr = err
		prover.narrowEpsilon = prover.opts.epsilon() / 16 // for the next effort
		isNarrowest := err == nil && (bestProof == nil || width < bestWidth)
		if isNarrowest {
			bestProof, bestWidth = prover.snapshot(), width
			prover.narrowEpsilon = min(prover.narrowEpsilon, prover.opts.epsilon()*prover.opts.epsilon()/width/4)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		effort, hasNext = prover.nextEffort(effort)
	}
	if bestProof == nil {
		return lastErr
	}
	prover.restore(bestProof)
	return nil
}

// restore replaces the current proofs by the proofs of a snapshot.
func (prover *Prover) restore(snapshot *Prover) {
	prover.Vectors = snapshot.Vectors
	prover.Sets = snapshot.Sets
	prover.computedBounds = snapshot.computedBounds
	prover.memberships = snapshot.memberships
}

// snapshot returns a copy of the current proofs.
func (prover *Prover) snapshot() *Prover {
	file := *prover.ClaimFile
	file.Vectors, file.Sets = slices.Clone(file.Vectors), slices.Clone(file.Sets)
	return &Prover{ClaimFile: &file, computedBounds: maps.Clone(prover.computedBounds), memberships: maps.Clone(prover.memberships)}
}

// Proven adds the claim that answers a property, and lets package certify check it. It returns the index of the claim and the result of the
// check. The error is a *NotAccepted if the check fails. For a step bound or a time bound the checker computes the bounds itself; it is another
// error if they are too wide for the claim.
func (prover *Prover) Proven(ctx context.Context, property *Property) (int, *certify.Result, error) {
	claimIndex, err := prover.Add(ctx, property)
	if err != nil {
		return claimIndex, nil, err
	}
	if prover.checkerModel == nil {
		prover.checkerModel, err = exact.New(ctx, prover.Model)
		if err != nil {
			return claimIndex, nil, err
		}
	}
	file := Only(&prover.File, claimIndex)
	results, err := certify.CheckOf(ctx, prover.checkerModel, file)
	switch {
	case ctx.Err() != nil:
		return claimIndex, nil, ctx.Err()
	case err != nil:
		return claimIndex, nil, &NotAccepted{err}
	case errors.Is(results[0].Err, certify.ErrUndecided) && slices.ContainsFunc(file.Vectors, isComputedByChecker):
		return claimIndex, nil, errors.New("the checker rounds the values of a bounded formula, and its bounds do not decide the property")
	case results[0].Err != nil:
		return claimIndex, nil, &NotAccepted{results[0].Err}
	}
	return claimIndex, &results[0], nil
}

// isComputedByChecker reports whether the checker computes the bounds of a vector itself, because the formula has a step bound or a time bound.
func isComputedByChecker(vector certificate.Vector) bool {
	switch vector.Kind {
	case certificate.Steps, certificate.Cumulative, certificate.Instant:
		return true
	}
	return vector.Timed != nil
}

// Accepts checks a claim that Proven has returned, with another vector in place of its own. The error says why the checker does not accept the
// vector.
func (prover *Prover) Accepts(ctx context.Context, claim int, vector certificate.Vector) error {
	file, checkedClaim := prover.File, prover.Claims[claim]
	file.Vectors = slices.Clone(file.Vectors)
	file.Vectors[checkedClaim.Vector] = vector
	file.Claims = []certificate.Claim{{Vector: checkedClaim.Vector, OverSet: checkedClaim.OverSet}}
	results, err := certify.CheckOf(ctx, prover.checkerModel, Only(&file, 0))
	if err != nil {
		return err
	}
	return results[0].Err
}

// NotAccepted says why the checker rejects a certificate that the prover made.
type NotAccepted struct{ Why error }

func (e *NotAccepted) Error() string {
	return "the certificate that was made is not accepted: " + e.Why.Error()
}

func (e *NotAccepted) Unwrap() error { return e.Why }

// errUndecided says that the bounds of a vector do not decide which states a set contains.
var errUndecided = errors.New("the bounds of a value contain the number that it is compared with")

// proveClaim computes the sets and the vector of a claim, as precisely as currentEffort says. It returns the relative width of the claim's interval, or
// 0 for a claim about a set.
func (prover *Prover) proveClaim(ctx context.Context, claim *certificate.Claim, currentEffort effort) (float64, error) {
	states, err := prover.decidedSet(ctx, claim.OverSet, currentEffort)
	if err != nil {
		return 0, err
	}
	if claim.Operator == "first" {
		states = prover.firstState(claim, states)
	}
	if claim.Vector < 0 {
		membership, err := prover.setMembership(ctx, claim.Set, currentEffort)
		if err != nil {
			return 0, err
		}
		return 0, decideClaim(claim, states, membership)
	}
	bounds, err := prover.boundsOf(ctx, claim.Vector, currentEffort)
	if err != nil {
		return 0, err
	}
	return bounds.relativeWidth(states), nil
}

// relativeWidth returns the greatest relative width of the bounds in some states. It is 0 for exact values, and infinite if an upper bound is
// infinite and the lower bound is not.
func (bounds *bounds) relativeWidth(states *sparse.Set) float64 {
	if bounds.Exact != nil {
		return 0
	}
	width := 0.0
	for s := range states.All() {
		lower, upper := bounds.Lower[s], bounds.Upper[s]
		switch {
		case lower == upper: // the width is 0
		case math.IsInf(upper, 1):
			return math.Inf(1)
		default:
			width = max(width, (upper-lower)/upper)
		}
	}
	return width
}

// decideClaim sets claim.Holds: whether all given states are in a set or, for "exists", whether some state is. For "count" it only checks that
// each membership is known. The error is errUndecided if the answer depends on an unknown membership.
func decideClaim(claim *certificate.Claim, states *sparse.Set, membership membership) error {
	isSomeInside := !states.Intersect(membership.inside).Empty()
	isSomeOutside := !states.Intersect(membership.outside).Empty()
	areAllInside := states.Minus(membership.inside).Empty()
	areAllOutside := states.Minus(membership.outside).Empty()
	switch claim.Operator {
	case "count":
		if !states.Minus(membership.inside).Minus(membership.outside).Empty() {
			return errUndecided
		}
	case "exists":
		if !isSomeInside && !areAllOutside {
			return errUndecided
		}
		claim.Holds = isSomeInside
	default:
		if !isSomeOutside && !areAllInside {
			return errUndecided
		}
		claim.Holds = !isSomeOutside
	}
	return nil
}

// firstState returns a set that contains only the first of the given states in PRISM's order. If the certificate has another order of the states,
// firstState also replaces the operator "first" of the claim by this set, because a checker would take the first state in the certificate's order.
func (prover *Prover) firstState(claim *certificate.Claim, states *sparse.Set) *sparse.Set {
	first := -1
	for s := range states.All() {
		if first < 0 || prover.space.Compare(s, first) < 0 {
			first = s
		}
	}
	result := sparse.NewSet(states.Len())
	if first >= 0 {
		result.Add(first)
	}
	if prover.order == nil {
		text := fmt.Sprint("the first of set ", claim.OverSet)
		claim.Operator = ""
		claim.OverSet = prover.setIndex(certificate.Set{Kind: certificate.Atomic, Text: text, Bits: prover.orderedBits(result)})
		prover.memberships[claim.OverSet] = exactMembership(result)
	}
	return result
}

// membership has the states that are known to be inside a set, and the states that are known to be outside. The bounds of a vector
// can leave the membership of other states unknown.
type membership struct{ inside, outside *sparse.Set }

// exactMembership returns the membership in a set whose states are all known.
func exactMembership(set *sparse.Set) membership {
	return membership{inside: set, outside: set.Complement()}
}

// isUndecided reports whether the membership of some state is unknown.
func (membership membership) isUndecided() bool {
	return membership.inside.Count()+membership.outside.Count() < membership.inside.Len()
}

// decidedSet returns the states of the set with the given index. The error is errUndecided if the membership of a state is unknown.
func (prover *Prover) decidedSet(ctx context.Context, set int, currentEffort effort) (*sparse.Set, error) {
	membership, err := prover.setMembership(ctx, set, currentEffort)
	if err == nil && membership.isUndecided() {
		err = errUndecided
	}
	return membership.inside, err
}

// setMembership returns which states are in a set of the certificate, and computes the columns of the set. It caches the result unless the membership of
// a state is unknown.
func (prover *Prover) setMembership(ctx context.Context, set int, currentEffort effort) (membership, error) {
	if computed, isCached := prover.memberships[set]; isCached {
		return computed, nil
	}
	computed, err := prover.computeMembership(ctx, set, currentEffort)
	if err == nil && !computed.isUndecided() {
		prover.memberships[set] = computed
	}
	return computed, err
}

// setMemberships returns which states are in each of several sets of the certificate, given by their indexes. currentEffort says how precisely it
// computes the values on which the sets depend.
func (prover *Prover) setMemberships(ctx context.Context, setIndexes []int, currentEffort effort) ([]membership, error) {
	var memberships []membership
	for _, setIndex := range setIndexes {
		membership, err := prover.setMembership(ctx, setIndex, currentEffort)
		if err != nil {
			return nil, err
		}
		memberships = append(memberships, membership)
	}
	return memberships, nil
}

// computeMembership computes the states of a set, and sets the columns of the certificate that prove it. It first computes the sets that this set
// refers to.
func (prover *Prover) computeMembership(ctx context.Context, setIndex int, currentEffort effort) (membership, error) {
	set := &prover.Sets[setIndex]
	operands, err := prover.setMemberships(ctx, set.Sets, currentEffort)
	if err != nil {
		return membership{}, err
	}
	switch set.Kind {
	case certificate.All:
		return exactMembership(sparse.FullSet(prover.graph.NumStates())), nil
	case certificate.Init:
		initial := sparse.NewSet(prover.graph.NumStates())
		for _, s := range prover.graph.Initial {
			initial.Add(int(s))
		}
		return exactMembership(initial), nil
	case certificate.Atomic:
		states, err := prover.atomicStates(prover.space, setIndex)
		if err != nil {
			return membership{}, err
		}
		set.Bits = prover.orderedBits(states)
		return exactMembership(states), nil
	case certificate.Not:
		return membership{inside: operands[0].outside, outside: operands[0].inside}, nil
	case certificate.And:
		return operands[0].intersection(operands[1]), nil
	case certificate.Or:
		return operands[0].union(operands[1]), nil
	case certificate.Bound, certificate.ArgMin, certificate.ArgMax:
		return prover.comparedMembership(ctx, set, operands, currentEffort)
	}
	return prover.pathMembership(set, operands)
}

// intersection returns the membership in the intersection of two sets.
func (m membership) intersection(other membership) membership {
	return membership{inside: m.inside.Intersect(other.inside), outside: m.outside.Union(other.outside)}
}

// union returns the membership in the union of two sets.
func (m membership) union(other membership) membership {
	return membership{inside: m.inside.Union(other.inside), outside: m.outside.Intersect(other.outside)}
}

// comparedMembership returns which states are in a set that is defined by a vector: the value satisfies a threshold, or is the least or the
// greatest value in the set operands[0].
func (prover *Prover) comparedMembership(ctx context.Context, set *certificate.Set, operands []membership, currentEffort effort) (membership, error) {
	bounds, err := prover.boundsOf(ctx, set.Vector, currentEffort)
	if err != nil {
		return membership{}, err
	}
	if set.Kind == certificate.Bound {
		return bounds.compareThreshold(set.Relation, set.Threshold), nil
	}
	if operands[0].isUndecided() {
		return membership{}, errUndecided
	}
	return bounds.extremalStates(operands[0].inside, set.Kind == certificate.ArgMax), nil
}

// pathMembership returns which states satisfy E or A of a path formula X or U. operands are the memberships of the formula's operands.
func (prover *Prover) pathMembership(set *certificate.Set, operands []membership) (membership, error) {
	if slices.ContainsFunc(operands, membership.isUndecided) {
		return membership{}, errUndecided
	}
	switch set.Kind {
	case certificate.ExistsNext:
		return exactMembership(prover.graph.ExistsNext(operands[0].inside)), nil
	case certificate.ForallNext:
		return exactMembership(prover.graph.ForallNext(operands[0].inside)), nil
	}
	return prover.untilMembership(set, operands[0].inside, operands[1].inside), nil
}

// untilMembership returns the states that satisfy `E [left U right]` or `A [left U right]`. It also sets the ranks of the set, which prove the
// result.
func (prover *Prover) untilMembership(set *certificate.Set, left, right *sparse.Set) membership {
	var ranks []uint32
	if set.Kind == certificate.ExistsUntil {
		ranks = rankByDistance(prover.graph, right, left.Union(right), anyChoice)
	} else {
		ranks = rankAllPaths(prover.graph, left, right)
	}
	set.Rank = make([]uint32, len(ranks))
	for index, s := range prover.orderedStates() {
		set.Rank[index] = ranks[s]
	}
	satisfyingStates := rankedStates(ranks)
	set.Bits = prover.orderedBits(satisfyingStates)
	return exactMembership(satisfyingStates)
}

// compareThreshold returns the states whose value v satisfies `v relation threshold`. The relation is <, <=, > or >=. If the bounds of v do not
// decide the comparison, the membership is unknown.
func (bounds *bounds) compareThreshold(relation string, threshold *big.Rat) membership {
	numStates := len(bounds.Lower)
	result := membership{inside: sparse.NewSet(numStates), outside: sparse.NewSet(numStates)}
	enclosure := interval.Around(threshold)
	for s := range numStates {
		lowerOrder, upperOrder := bounds.ordersOf(s, threshold, enclosure)
		lowerHolds, upperHolds := holdsRelation(lowerOrder, relation), holdsRelation(upperOrder, relation)
		switch {
		case lowerHolds && upperHolds:
			result.inside.Add(s)
		case !lowerHolds && !upperHolds:
			result.outside.Add(s)
		}
	}
	return result
}

// ordersOf compares the lower and the upper bound of a state's value with a threshold. An order is 1, 0 or -1 for a bound that is greater than,
// equal to or less than the threshold. enclosure is the narrowest float64 interval around the threshold.
func (bounds *bounds) ordersOf(s int, threshold *big.Rat, enclosure interval.Interval) (lowerOrder, upperOrder int) {
	switch {
	case bounds.Exact == nil:
		return compareFloat(bounds.Lower[s], enclosure), compareFloat(bounds.Upper[s], enclosure)
	case bounds.Exact[s] == nil: // infinite
		return 1, 1
	}
	order := bounds.Exact[s].Cmp(threshold)
	return order, order
}

// compareFloat returns 1, 0 or -1 if a float64 is greater than, equal to or less than a fraction. enclosure is the narrowest float64
// interval around the fraction.
func compareFloat(value float64, enclosure interval.Interval) int {
	switch {
	case value < enclosure.Hi:
		return -1
	case value == enclosure.Hi && enclosure.Lo == enclosure.Hi:
		return 0
	}
	return 1
}

// holdsRelation reports whether a relation holds between two numbers. order is 1, 0 or -1 if the left number is greater than, equal to or less
// than the right number.
func holdsRelation(order int, relation string) bool {
	switch relation {
	case ">=":
		return order >= 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order < 0
}

// extremalStates returns which of the given states have the least value, or the greatest value if greatest is true. The membership of a state is
// unknown if the bounds of the values do not decide it.
func (bounds *bounds) extremalStates(states *sparse.Set, greatest bool) membership {
	// In the best case the value of a state is its optimistic bound: the lower bound for the least value.
	optimisticBounds, pessimisticBounds, betterOrder := bounds.Lower, bounds.Upper, -1
	if greatest {
		optimisticBounds, pessimisticBounds, betterOrder = pessimisticBounds, optimisticBounds, 1
	}
	bestPessimistic, _ := bounds.bestTwo(states, pessimisticBounds, betterOrder)
	bestOptimistic, secondOptimistic := bounds.bestTwo(states, optimisticBounds, betterOrder)
	result := exactMembership(sparse.NewSet(states.Len()))
	for s := range states.All() {
		isCertainlyWorse := bounds.compare(bestPessimistic, pessimisticBounds, s, optimisticBounds) == betterOrder
		if !isCertainlyWorse {
			result.outside.Remove(s)
		}
		rival := bestOptimistic
		if s == bestOptimistic {
			rival = secondOptimistic
		}
		mayBeWorse := rival >= 0 && bounds.compare(rival, optimisticBounds, s, pessimisticBounds) == betterOrder
		if !mayBeWorse {
			result.inside.Add(s)
		}
	}
	return result
}

// bestTwo returns the state with the best bound and the state with the second best bound, or -1 for each of them that does not exist. betterOrder is -1
// if smaller bounds are better, and 1 if greater bounds are better.
func (bounds *bounds) bestTwo(states *sparse.Set, stateBounds []float64, betterOrder int) (best, secondBest int) {
	best, secondBest = -1, -1
	for s := range states.All() {
		switch {
		case best < 0 || bounds.compare(s, stateBounds, best, stateBounds) == betterOrder:
			best, secondBest = s, best
		case secondBest < 0 || bounds.compare(s, stateBounds, secondBest, stateBounds) == betterOrder:
			secondBest = s
		}
	}
	return best, secondBest
}

// compare returns 1, 0 or -1 if the value of state s is greater than, equal to or less than the value of state other. If there are no exact
// values, it compares stateBounds[s] with otherBounds[other] instead.
func (bounds *bounds) compare(s int, stateBounds []float64, other int, otherBounds []float64) int {
	if bounds.Exact == nil {
		return cmp.Compare(stateBounds[s], otherBounds[other])
	}
	if bounds.Exact[s] != nil && bounds.Exact[other] != nil {
		return bounds.Exact[s].Cmp(bounds.Exact[other])
	}
	return cmp.Compare(otherBounds[s], otherBounds[other]) // one value is infinite: its bounds are equal
}
