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
func (o Options) epsilon() float64 {
	if o.Epsilon > 0 {
		return o.Epsilon
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
	checkerModel    *exact.Model // the model in the checker's form; nil before the first check
	sharedSolutions []*sharedSolution
	narrowEpsilon   float64 // the relative width that narrowFloats asks for
}

// New returns a Prover for a state space, whose weights must be fractions and not intervals.
func New(space *explicit.Space, opts Options) (*Prover, error) {
	if !space.Model().Exact() {
		return nil, errors.New("the weights of the model are not fractions")
	}
	if space.Model().Intervals() {
		return nil, errors.New("certificates have no intervals")
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
		for k, s := range prover.order {
			prover.index[s] = uint32(k)
		}
	}
	prover.buildModel()
	return prover, nil
}

// orderedStates yields the states in the order of the certificate, each with its index there.
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

// bits converts a set to the order of the certificate.
func (prover *Prover) bits(set *sparse.Set) certificate.Bits {
	bits := certificate.NewBits(set.Len())
	for s := range set.All() {
		bits.Add(int(prover.indexOf(uint32(s))))
	}
	return bits
}

// Add adds the claim that answers a property, with the sets and vectors that prove it, and returns the index of the claim.
// It repeats the computation with increasing effort until the interval is as narrow as Options.Epsilon. If no effort
// suffices, it keeps the narrowest interval. The error is a *result.Failure if certificates cannot express the property.
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

// guessExponent sets the exponent of the vector of a claim from the approximate value of the property.
func (prover *Prover) guessExponent(claim *certificate.Claim, guess float64) {
	if claim.Vector < 0 || prover.exponents[claim.Vector] != 0 || !(guess > 0) || math.IsInf(guess, 1) {
		return
	}
	_, exponent := math.Frexp(max(guess, 1))
	prover.exponents[claim.Vector] = exponent + 2
}

// proveNarrowly proves a claim with increasing efforts, and keeps the proof with the narrowest interval. The error comes from the
// context, or from the last effort if all of them fail.
func (prover *Prover) proveNarrowly(ctx context.Context, claim *certificate.Claim) error {
	var bestProof *Prover // the narrowest proof so far, still too wide
	bestWidth := math.Inf(1)
	effort, more := prover.firstEffort(), true
	var err error
	for more {
		var width float64
		width, err = prover.proveClaim(ctx, claim, effort)
		if err == nil && width <= prover.opts.epsilon() {
			return nil
		}
		prover.narrowEpsilon = prover.opts.epsilon() / 16
		if err == nil && (bestProof == nil || width < bestWidth) {
			bestProof, bestWidth = prover.snapshot(), width
			prover.narrowEpsilon = min(prover.narrowEpsilon, prover.opts.epsilon()*prover.opts.epsilon()/width/4)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		effort, more = prover.nextEffort(effort)
	}
	if bestProof == nil {
		return err
	}
	prover.Vectors = bestProof.Vectors
	prover.Sets = bestProof.Sets
	prover.computedBounds = bestProof.computedBounds
	prover.memberships = bestProof.memberships
	return nil
}

// snapshot returns a copy of the proofs so far, which proveNarrowly restores if later proofs are not narrower.
func (prover *Prover) snapshot() *Prover {
	file := *prover.ClaimFile
	file.Vectors, file.Sets = slices.Clone(file.Vectors), slices.Clone(file.Sets)
	return &Prover{ClaimFile: &file, computedBounds: maps.Clone(prover.computedBounds), memberships: maps.Clone(prover.memberships)}
}

// Proven calls Add and lets the checker check the new claim. It returns the index of the claim and the result
// of the checker, whose Holds says whether the property holds. The error is a *NotAccepted if the checker
// rejects the certificate. It is another error if the checker's own bounds, for a step bound or a time bound, are too wide for the claim.
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

// Accepts checks another vector in place of the vector of a claim that Proven returned. It returns nil if the
// checker accepts it, otherwise the reason.
func (prover *Prover) Accepts(ctx context.Context, claim int, vector certificate.Vector) error {
	file, checkedClaim := prover.File, prover.Claims[claim]
	file.Vectors = slices.Clone(file.Vectors)
	file.Vectors[checkedClaim.Vector] = vector
	file.Claims = []certificate.Claim{{Vector: checkedClaim.Vector, Over: checkedClaim.Over}}
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

// proveClaim computes the sets and vectors of a claim, and returns the relative width of its interval.
func (prover *Prover) proveClaim(ctx context.Context, claim *certificate.Claim, e effort) (float64, error) {
	states, err := prover.decidedSet(ctx, claim.Over, e)
	if err != nil {
		return 0, err
	}
	if claim.Of == "first" {
		states = prover.firstState(claim, states)
	}
	if claim.Vector < 0 {
		membership, err := prover.setMembership(ctx, claim.Set, e)
		if err != nil {
			return 0, err
		}
		return 0, decideClaim(claim, states, membership)
	}
	bounds, err := prover.boundsOf(ctx, claim.Vector, e)
	if err != nil {
		return 0, err
	}
	return bounds.relativeWidth(states), nil
}

// relativeWidth returns the greatest relative width of the bounds of some states: 0 for exact values, and infinity if only the
// upper bound is infinite.
func (b *bounds) relativeWidth(states *sparse.Set) float64 {
	if b.Exact != nil {
		return 0
	}
	width := 0.0
	for s := range states.All() {
		lower, upper := b.Lower[s], b.Upper[s]
		switch {
		case lower == upper:
		case math.IsInf(upper, 1):
			width = math.Inf(1)
		default:
			width = max(width, (upper-lower)/upper)
		}
	}
	return width
}

// decideClaim sets claim.Holds: whether all of the given states are in a set or, for "exists", whether one of them is. For "count"
// it only checks that the membership of each state is known. The error is errUndecided if the answer depends on a state whose
// membership is unknown.
func decideClaim(claim *certificate.Claim, states *sparse.Set, membership membership) error {
	someInside := !states.Intersect(membership.inside).Empty()
	someOutside := !states.Intersect(membership.outside).Empty()
	allInside := states.Minus(membership.inside).Empty()
	allOutside := states.Minus(membership.outside).Empty()
	switch claim.Of {
	case "count":
		if !states.Minus(membership.inside).Minus(membership.outside).Empty() {
			return errUndecided
		}
	case "exists":
		if !someInside && !allOutside {
			return errUndecided
		}
		claim.Holds = someInside
	default:
		if !someOutside && !allInside {
			return errUndecided
		}
		claim.Holds = !someOutside
	}
	return nil
}

// firstState returns the set that contains only the first of the given states in PRISM's order. If the order of the
// certificate differs, it changes the claim to a claim about this single state.
func (prover *Prover) firstState(claim *certificate.Claim, states *sparse.Set) *sparse.Set {
	first := -1
	for s := range states.All() {
		if first < 0 || prover.space.Compare(s, first) < 0 {
			first = s
		}
	}
	single := sparse.NewSet(states.Len())
	if first >= 0 {
		single.Add(first)
	}
	if prover.order == nil {
		text := fmt.Sprint("the first of set ", claim.Over)
		claim.Of = ""
		claim.Over = prover.setIndex(certificate.Set{Kind: certificate.Atomic, Text: text, Bits: prover.bits(single)})
		prover.memberships[claim.Over] = exactMembership(single)
	}
	return single
}

// membership has the states that are known to be inside a set, and the states that are known to be outside. The bounds of a vector
// can leave the membership of other states unknown.
type membership struct{ inside, outside *sparse.Set }

// exactMembership returns the membership in a set that is known.
func exactMembership(set *sparse.Set) membership {
	return membership{inside: set, outside: set.Complement()}
}

// isUndecided reports whether the membership of some state is unknown.
func (m membership) isUndecided() bool { return m.inside.Count()+m.outside.Count() < m.inside.Len() }

// decidedSet returns the states of a set, given by its index. The error is errUndecided if the membership of a state is unknown.
func (prover *Prover) decidedSet(ctx context.Context, set int, e effort) (*sparse.Set, error) {
	membership, err := prover.setMembership(ctx, set, e)
	if err == nil && membership.isUndecided() {
		err = errUndecided
	}
	return membership.inside, err
}

// setMembership returns which states a set contains, and sets the columns of the set. It remembers the result if it is decided.
func (prover *Prover) setMembership(ctx context.Context, set int, e effort) (membership, error) {
	if computed, ok := prover.memberships[set]; ok {
		return computed, nil
	}
	computed, err := prover.computeMembership(ctx, set, e)
	if err == nil && !computed.isUndecided() {
		prover.memberships[set] = computed
	}
	return computed, err
}

// computeMembership is setMembership without the memory of earlier results.
func (prover *Prover) computeMembership(ctx context.Context, i int, e effort) (membership, error) {
	set := &prover.Sets[i]
	var operands []membership
	for _, j := range set.Sets {
		operand, err := prover.setMembership(ctx, j, e)
		if err != nil {
			return membership{}, err
		}
		operands = append(operands, operand)
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
		states, err := prover.atomicStates(prover.space, i)
		if err != nil {
			return membership{}, err
		}
		set.Bits = prover.bits(states)
		return exactMembership(states), nil
	case certificate.Not:
		return membership{inside: operands[0].outside, outside: operands[0].inside}, nil
	case certificate.And:
		return operands[0].and(operands[1]), nil
	case certificate.Or:
		return operands[0].or(operands[1]), nil
	case certificate.Bound, certificate.ArgMin, certificate.ArgMax:
		return prover.comparedMembership(ctx, set, operands, e)
	}
	return prover.pathMembership(set, operands)
}

// and returns the membership in the intersection of two sets.
func (m membership) and(other membership) membership {
	return membership{inside: m.inside.Intersect(other.inside), outside: m.outside.Union(other.outside)}
}

// or returns the membership in the union of two sets.
func (m membership) or(other membership) membership {
	return membership{inside: m.inside.Union(other.inside), outside: m.outside.Intersect(other.outside)}
}

// comparedMembership computes the membership in a set that compares the values of a vector with a threshold or with each other.
func (prover *Prover) comparedMembership(ctx context.Context, set *certificate.Set, operands []membership, e effort) (membership, error) {
	bounds, err := prover.boundsOf(ctx, set.Vector, e)
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

// pathMembership computes the membership in the set of states that satisfy E or A of X or of an until formula.
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

// untilMembership computes the states that satisfy E or A of an until formula, and their ranks.
func (prover *Prover) untilMembership(set *certificate.Set, left, right *sparse.Set) membership {
	var rank []uint32
	if set.Kind == certificate.ExistsUntil {
		rank = rankByDistance(prover.graph, right, left.Union(right), func(int, int) bool { return true })
	} else {
		rank = rankAllPaths(prover.graph, left, right)
	}
	satisfying := sparse.NewSet(len(rank))
	set.Rank = make([]uint32, len(rank))
	for index, s := range prover.orderedStates() {
		set.Rank[index] = rank[s]
		if rank[s] != unranked {
			satisfying.Add(s)
		}
	}
	set.Bits = prover.bits(satisfying)
	return exactMembership(satisfying)
}

// compareThreshold decides in which states the value is in a relation to a threshold. The relation is <, <=, > or >=.
func (b *bounds) compareThreshold(relation string, threshold *big.Rat) membership {
	n := len(b.Lower)
	result := membership{inside: sparse.NewSet(n), outside: sparse.NewSet(n)}
	nearest := interval.Around(threshold)
	for s := range n {
		var lowerOrder, upperOrder int
		switch {
		case b.Exact == nil:
			lowerOrder, upperOrder = compareFloat(b.Lower[s], nearest), compareFloat(b.Upper[s], nearest)
		case b.Exact[s] == nil: // infinite
			lowerOrder, upperOrder = 1, 1
		default:
			lowerOrder = b.Exact[s].Cmp(threshold)
			upperOrder = lowerOrder
		}
		lowerHolds, upperHolds := holds(lowerOrder, relation), holds(upperOrder, relation)
		switch {
		case lowerHolds && upperHolds:
			result.inside.Add(s)
		case !lowerHolds && !upperHolds:
			result.outside.Add(s)
		}
	}
	return result
}

// compareFloat returns 1, 0 or -1 if a float64 is greater than, equal to or less than a fraction. nearest has the greatest float64
// that is at most the fraction, and the least one that is at least the fraction.
func compareFloat(value float64, nearest interval.Interval) int {
	switch {
	case value < nearest.Hi:
		return -1
	case value == nearest.Hi && nearest.Lo == nearest.Hi:
		return 0
	}
	return 1
}

// holds reports whether two numbers are in a relation. order is 1, 0 or -1 if the left one is greater than, equal to or less than
// the right one.
func holds(order int, relation string) bool {
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

// extremalStates returns which of the given states have the least value or, if greatest is set, the greatest value. The membership of a
// state is unknown if its bounds overlap those of a better state.
func (b *bounds) extremalStates(states *sparse.Set, greatest bool) membership {
	// For the least value, the near bound of a state is its lower bound.
	nearBounds, farBounds, better := b.Lower, b.Upper, -1
	if greatest {
		nearBounds, farBounds, better = farBounds, nearBounds, 1
	}
	first, second := -1, -1 // the best two states by their near bounds
	best := -1              // the best state by its far bounds
	for s := range states.All() {
		if best < 0 || b.compare(s, farBounds, best, farBounds) == better {
			best = s
		}
		if first < 0 || b.compare(s, nearBounds, first, nearBounds) == better {
			first, second = s, first
		} else if second < 0 || b.compare(s, nearBounds, second, nearBounds) == better {
			second = s
		}
	}
	result := exactMembership(sparse.NewSet(states.Len()))
	for s := range states.All() {
		if b.compare(best, farBounds, s, nearBounds) != better {
			result.outside.Remove(s)
		}
		rival := first
		if s == first {
			rival = second
		}
		if rival < 0 || b.compare(rival, nearBounds, s, farBounds) != better {
			result.inside.Add(s)
		}
	}
	return result
}

// compare compares two states by their exact values. If one of them has no exact value, it compares the given bounds.
func (b *bounds) compare(s int, bound []float64, other int, otherBound []float64) int {
	if b.Exact == nil {
		return cmp.Compare(bound[s], otherBound[other])
	}
	if b.Exact[s] != nil && b.Exact[other] != nil {
		return b.Exact[s].Cmp(b.Exact[other])
	}
	return cmp.Compare(otherBound[s], otherBound[other]) // an infinite value has equal bounds
}
