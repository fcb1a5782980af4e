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
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/result"
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

func (o Options) epsilon() float64 {
	if o.Epsilon > 0 {
		return o.Epsilon
	}
	return solve.DefaultEpsilon
}

// Prover makes certificates of one state space. It is not safe for concurrent use.
type Prover struct {
	*Skeleton
	space       *explicit.Space
	graph       *sparse.Graph
	opts        Options
	order       []uint32 // the state at each index of the certificate; nil if they are the same
	index       []uint32 // the inverse of order
	numbers     *numbers
	rewards     map[int]*sparse.Reward
	memberships map[int]membership
	computed    map[int]*bounds
	exponents   map[int]int // by vector: the binary exponent of about its greatest value
	// products are the products with automata, by vector
	products      map[int]*product
	checkerModel  *exact.Model // the model in the checker's form; nil before the first check
	shared        []*sharedSolution
	narrowEpsilon float64 // the relative width that narrowFloats asks for
}

// New returns a Prover for a state space with rational weights.
func New(space *explicit.Space, opts Options) (*Prover, error) {
	if !space.Model().Exact() {
		return nil, errors.New("there are no fractions")
	}
	if space.Model().Intervals() {
		return nil, errors.New("certificates have no intervals")
	}
	p := &Prover{
		Skeleton: NewSkeleton(), space: space, graph: sparse.NewGraph(space.Model()), opts: opts,
		rewards: make(map[int]*sparse.Reward), memberships: make(map[int]membership), computed: make(map[int]*bounds), exponents: make(map[int]int),
		products: make(map[int]*product),
	}
	if opts.Reward == nil {
		p.opts.Reward = space.Reward
	}
	if opts.Ordered {
		p.order = space.Order()
		p.index = make([]uint32, len(p.order))
		for k, s := range p.order {
			p.index[s] = uint32(k)
		}
	}
	p.buildModel()
	return p, nil
}

// orderedStates yields each index of the certificate with its state.
func (p *Prover) orderedStates() iter.Seq2[int, int] {
	return func(yield func(k, s int) bool) {
		for k := range p.graph.NumStates() {
			s := k
			if p.order != nil {
				s = int(p.order[k])
			}
			if !yield(k, s) {
				return
			}
		}
	}
}

// indexOf returns the index of a state in the certificate.
func (p *Prover) indexOf(s uint32) uint32 {
	if p.index != nil {
		return p.index[s]
	}
	return s
}

// bits converts a set to the order of the certificate.
func (p *Prover) bits(x *sparse.Set) certificate.Bits {
	out := certificate.NewBits(x.Len())
	for s := range x.All() {
		out.Add(int(p.indexOf(uint32(s))))
	}
	return out
}

// Add adds the claim that answers a property, with the sets and vectors that prove it, and returns the claim's index.
// It tries ever greater efforts until the interval is as narrow as Options.Epsilon asks for; if none gets there,
// the narrowest interval stays. The error is a *result.Failure if certificates cannot express the property.
func (p *Prover) Add(ctx context.Context, prop *Property) (int, error) {
	defer func() { p.shared = nil }() // they belong to this property
	i, err := p.Skeleton.Add(prop)
	if err != nil {
		return 0, err
	}
	c := &p.Claims[i]
	if g := prop.Guess; c.Vector >= 0 && g > 0 && !math.IsInf(g, 1) && p.exponents[c.Vector] == 0 {
		_, exp := math.Frexp(max(g, 1))
		p.exponents[c.Vector] = exp + 2
	}
	var bestProof *Prover // the narrowest proof so far, still too wide
	bestWidth := math.Inf(1)
	for e := p.firstEffort(); ; {
		width, err := p.proveClaim(ctx, c, e)
		if err == nil && width <= p.opts.epsilon() {
			return i, nil
		}
		p.narrowEpsilon = p.opts.epsilon() / 16
		if err == nil && (bestProof == nil || width < bestWidth) {
			bestProof, bestWidth = p.snapshot(), width
			p.narrowEpsilon = min(p.narrowEpsilon, p.opts.epsilon()*p.opts.epsilon()/width/4)
		}
		if ctx.Err() != nil {
			bestProof, err = nil, ctx.Err()
		} else if next, more := p.nextEffort(e); more {
			e = next
			continue
		}
		if bestProof != nil {
			p.Vectors = bestProof.Vectors
			p.Sets = bestProof.Sets
			p.computed = bestProof.computed
			p.memberships = bestProof.memberships
			return i, nil
		}
		p.Claims = p.Claims[:i]
		return 0, err
	}
}

// snapshot returns a copy of the proofs so far, to which Add can return.
func (p *Prover) snapshot() *Prover {
	s := *p.Skeleton
	s.Vectors, s.Sets = slices.Clone(s.Vectors), slices.Clone(s.Sets)
	return &Prover{Skeleton: &s, computed: maps.Clone(p.computed), memberships: maps.Clone(p.memberships)}
}

// Proven calls Add and lets the checker check the new claim. It returns the claim's index and the checker's result,
// whose Holds says whether the property holds. The error is a *NotAccepted if the checker rejects the certificate.
func (p *Prover) Proven(ctx context.Context, prop *Property) (int, *certify.Result, error) {
	i, err := p.Add(ctx, prop)
	if err != nil {
		return i, nil, err
	}
	if p.checkerModel == nil {
		if p.checkerModel, err = exact.New(ctx, p.Model); err != nil {
			return i, nil, err
		}
	}
	results, err := certify.CheckOf(ctx, p.checkerModel, Only(&p.File, i))
	if ctx.Err() != nil {
		return i, nil, ctx.Err()
	}
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return i, nil, &NotAccepted{err}
	}
	return i, &results[0], nil
}

// Accepts checks another vector in place of the vector of a claim that Proven returned.
// It returns nil if the checker accepts it, otherwise the reason.
func (p *Prover) Accepts(ctx context.Context, claim int, v certificate.Vector) error {
	f, c := p.File, p.Claims[claim]
	f.Vectors = slices.Clone(f.Vectors)
	f.Vectors[c.Vector] = v
	f.Claims = []certificate.Claim{{Vector: c.Vector, Over: c.Over}}
	results, err := certify.CheckOf(ctx, p.checkerModel, Only(&f, 0))
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
var errUndecided = errors.New("the bounds of a value leave open whether it reaches the number it is compared with")

// proveClaim computes the sets and vectors of a claim, and returns the relative width of its interval.
func (p *Prover) proveClaim(ctx context.Context, c *certificate.Claim, e effort) (float64, error) {
	states, err := p.decidedSet(ctx, c.Over, e)
	if err != nil {
		return 0, err
	}
	if c.Of == "first" {
		states = p.firstState(c, states)
	}
	if c.Vector < 0 {
		m, err := p.membership(ctx, c.Set, e)
		switch {
		case err != nil:
			return 0, err
		case c.Of == "count" && states.Minus(m.in).Minus(m.out).Empty():
		case c.Of == "count":
			return 0, errUndecided
		case c.Of == "exists" && !states.Intersect(m.in).Empty():
			c.Holds = true
		case c.Of == "exists" && states.Minus(m.out).Empty():
			c.Holds = false
		case c.Of == "exists":
			return 0, errUndecided
		case !states.Intersect(m.out).Empty():
			c.Holds = false
		case states.Minus(m.in).Empty():
			c.Holds = true
		default:
			return 0, errUndecided
		}
		return 0, nil
	}
	b, err := p.boundsOf(ctx, c.Vector, e)
	if err != nil || b.Exact != nil {
		return 0, err
	}
	width := 0.0
	for s := range states.All() {
		switch lo, hi := b.Lower[s], b.Upper[s]; {
		case lo == hi:
		case math.IsInf(hi, 1):
			width = hi
		default:
			width = max(width, (hi-lo)/hi)
		}
	}
	return width, nil
}

// firstState returns the set of the first of some states, in PRISM's order. If the certificate has another order,
// it changes the claim to one about that single state.
func (p *Prover) firstState(c *certificate.Claim, states *sparse.Set) *sparse.Set {
	first := -1
	for s := range states.All() {
		if first < 0 || p.space.Compare(s, first) < 0 {
			first = s
		}
	}
	only := sparse.NewSet(states.Len())
	if first >= 0 {
		only.Add(first)
	}
	if p.order == nil {
		c.Of = ""
		c.Over = p.set(certificate.Set{Kind: certificate.Atomic, Text: fmt.Sprint("the first of set ", c.Over), Bits: p.bits(only)})
		p.memberships[c.Over] = exactMembership(only)
	}
	return only
}

// membership is what is known of a set: the states that are in it, and those that are not. The bounds of a
// vector can leave states undecided.
type membership struct{ in, out *sparse.Set }

func exactMembership(in *sparse.Set) membership { return membership{in, in.Complement()} }

func (t membership) undecided() bool { return t.in.Count()+t.out.Count() < t.in.Len() }

// decidedSet returns a set; the error is errUndecided if the membership of a state is unknown.
func (p *Prover) decidedSet(ctx context.Context, i int, e effort) (*sparse.Set, error) {
	m, err := p.membership(ctx, i, e)
	if err == nil && m.undecided() {
		err = errUndecided
	}
	return m.in, err
}

// membership computes the columns of a set, and which states it contains.
func (p *Prover) membership(ctx context.Context, i int, e effort) (membership, error) {
	if m, ok := p.memberships[i]; ok {
		return m, nil
	}
	m, err := p.computeMembership(ctx, i, e)
	if err == nil && !m.undecided() {
		p.memberships[i] = m
	}
	return m, err
}

func (p *Prover) computeMembership(ctx context.Context, i int, e effort) (membership, error) {
	s := &p.Sets[i]
	var operands []membership
	for _, j := range s.Sets {
		t, err := p.membership(ctx, j, e)
		if err != nil {
			return t, err
		}
		operands = append(operands, t)
	}
	switch s.Kind {
	case certificate.All:
		return exactMembership(sparse.FullSet(p.graph.NumStates())), nil
	case certificate.Init:
		out := sparse.NewSet(p.graph.NumStates())
		for _, s := range p.graph.Initial {
			out.Add(int(s))
		}
		return exactMembership(out), nil
	case certificate.Atomic:
		in, err := p.space.States(p.Atoms[i])
		if err != nil {
			return membership{}, err
		}
		s.Bits = p.bits(in)
		return exactMembership(in), nil
	case certificate.Not:
		return membership{operands[0].out, operands[0].in}, nil
	case certificate.And:
		return membership{operands[0].in.Intersect(operands[1].in), operands[0].out.Union(operands[1].out)}, nil
	case certificate.Or:
		return membership{operands[0].in.Union(operands[1].in), operands[0].out.Intersect(operands[1].out)}, nil
	case certificate.Bound:
		b, err := p.boundsOf(ctx, s.Vector, e)
		if err != nil {
			return membership{}, err
		}
		return b.compareThreshold(s.Relation, s.Threshold), nil
	case certificate.ArgMin, certificate.ArgMax:
		b, err := p.boundsOf(ctx, s.Vector, e)
		if err == nil && operands[0].undecided() {
			err = errUndecided
		}
		if err != nil {
			return membership{}, err
		}
		return b.optimalStates(operands[0].in, s.Kind == certificate.ArgMax), nil
	}
	for _, t := range operands {
		if t.undecided() {
			return membership{}, errUndecided
		}
	}
	switch s.Kind {
	case certificate.ExistsNext:
		return exactMembership(p.graph.ExistsNext(operands[0].in)), nil
	case certificate.ForallNext:
		return exactMembership(p.graph.ForallNext(operands[0].in)), nil
	}
	return p.untilMembership(s, operands[0].in, operands[1].in), nil
}

// untilMembership computes the states that satisfy E or A of an until formula, and their ranks.
func (p *Prover) untilMembership(s *certificate.Set, left, right *sparse.Set) membership {
	var rank []uint32
	if s.Kind == certificate.ExistsUntil {
		rank = rankByDistance(p.graph, right, left.Union(right), func(int, int) bool { return true })
	} else {
		rank = rankAllPaths(p.graph, left, right)
	}
	in := sparse.NewSet(len(rank))
	s.Rank = make([]uint32, len(rank))
	for k, i := range p.orderedStates() {
		if s.Rank[k] = rank[i]; rank[i] != unranked {
			in.Add(i)
		}
	}
	s.Bits = p.bits(in)
	return exactMembership(in)
}

// compareThreshold decides in which states the value is in a relation to a threshold.
func (b *bounds) compareThreshold(relation string, threshold *big.Rat) membership {
	n := len(b.Lower)
	m := membership{sparse.NewSet(n), sparse.NewSet(n)}
	below, above := result.Around(threshold)
	holds := func(sign int) bool {
		switch relation {
		case ">=":
			return sign >= 0
		case ">":
			return sign > 0
		case "<=":
			return sign <= 0
		}
		return sign < 0
	}
	sign := func(x float64) int { // of x - threshold
		switch {
		case x < above:
			return -1
		case x == above && below == above:
			return 0
		}
		return 1
	}
	for s := range n {
		var lowerHolds, upperHolds bool
		switch {
		case b.Exact != nil && b.Exact[s] != nil:
			lowerHolds = holds(b.Exact[s].Cmp(threshold))
			upperHolds = lowerHolds
		case b.Exact != nil:
			lowerHolds = holds(sign(math.Inf(1)))
			upperHolds = lowerHolds
		default:
			lowerHolds, upperHolds = holds(sign(b.Lower[s])), holds(sign(b.Upper[s]))
		}
		switch {
		case lowerHolds && upperHolds:
			m.in.Add(s)
		case !lowerHolds && !upperHolds:
			m.out.Add(s)
		}
	}
	return m
}

// optimalStates decides which of some states have the least value, or the greatest.
func (b *bounds) optimalStates(states *sparse.Set, greatest bool) membership {
	// order compares the upper bound of s, for the least value, with the lower one of t.
	order := func(s, t int, far, near []float64) int {
		switch {
		case b.Exact != nil && b.Exact[s] != nil && b.Exact[t] != nil:
			return b.Exact[s].Cmp(b.Exact[t])
		case b.Exact != nil:
			far = near
		}
		return cmp.Compare(far[s], near[t])
	}
	near, far, better := b.Lower, b.Upper, -1
	if greatest {
		near, far, better = far, near, 1
	}
	first, second, worst := -1, -1, -1
	for s := range states.All() {
		if worst < 0 || order(s, worst, far, far) == better {
			worst = s
		}
		if first < 0 || order(s, first, near, near) == better {
			first, second = s, first
		} else if second < 0 || order(s, second, near, near) == better {
			second = s
		}
	}
	out := exactMembership(sparse.NewSet(states.Len()))
	for s := range states.All() {
		best := first
		if s == first {
			best = second
		}
		if order(worst, s, far, near) != better {
			out.out.Remove(s)
		}
		if best < 0 || order(best, s, near, far) != better {
			out.in.Add(s)
		}
	}
	return out
}
