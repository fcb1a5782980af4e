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
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/result"
)

// Options says how to compute. The zero value is the default.
type Options struct {
	// Epsilon is the relative width that is wanted; 0 is solve's default.
	Epsilon float64
	// Ordered puts states into PRISM's order, which files have.
	Ordered bool
	// Reward returns the rewards of a structure; nil is the space's method.
	Reward func(index int) (*sparse.Reward, error)
}

func (o Options) epsilon() float64 {
	if o.Epsilon > 0 {
		return o.Epsilon
	}
	return solve.DefaultEpsilon
}

// Prover makes the certificate of a space. Not safe for concurrent use.
type Prover struct {
	*Skeleton
	space   *explicit.Space
	graph   *sparse.Graph
	opts    Options
	order   []uint32 // the state at each place of the certificate; nil for the state itself
	places  []uint32 // the inverse
	numbers *numbers
	rewards map[int]*sparse.Reward
	truths  map[int]truth
	values  map[int]*bounds
	scales  map[int]int // exponents of about the greatest values of vectors
	// products with automata, by the number of the vector
	products map[int]*product
	checked  *exact.Model // as the checker has it
	answers  []*answer
	finer    float64 // relative width for narrow
}

// New returns the prover of a space with fractions.
func New(space *explicit.Space, opts Options) (*Prover, error) {
	if !space.Model().Exact() {
		return nil, errors.New("there are no fractions")
	}
	if space.Model().Intervals() {
		return nil, errors.New("certificates have no intervals")
	}
	p := &Prover{
		Skeleton: NewSkeleton(), space: space, graph: sparse.NewGraph(space.Model()), opts: opts,
		rewards: make(map[int]*sparse.Reward), truths: make(map[int]truth), values: make(map[int]*bounds), scales: make(map[int]int),
		products: make(map[int]*product),
	}
	if opts.Reward == nil {
		p.opts.Reward = space.Reward
	}
	if opts.Ordered {
		p.order = space.Order()
		p.places = make([]uint32, len(p.order))
		for k, s := range p.order {
			p.places[s] = uint32(k)
		}
	}
	p.model()
	return p, nil
}

// states are the places of the certificate, with their states.
func (p *Prover) states() iter.Seq2[int, int] {
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

func (p *Prover) place(s uint32) uint32 {
	if p.places != nil {
		return p.places[s]
	}
	return s
}

// bits puts a set into the order of the certificate.
func (p *Prover) bits(x *sparse.Set) certificate.Bits {
	out := certificate.NewBits(x.Len())
	for s := range x.All() {
		out.Add(int(p.place(uint32(s))))
	}
	return out
}

// Add adds the claim that answers a property and what proves it, and returns its
// number. The error is a *result.Failure for what there is no certificate of.
func (p *Prover) Add(ctx context.Context, prop *Property) (int, error) {
	defer func() { p.answers = nil }() // they are of this property
	i, err := p.Skeleton.Add(prop)
	if err != nil {
		return 0, err
	}
	c := &p.Claims[i]
	if g := prop.Guess; c.Vector >= 0 && g > 0 && !math.IsInf(g, 1) && p.scales[c.Vector] == 0 {
		_, exp := math.Frexp(max(g, 1))
		p.scales[c.Vector] = exp + 2
	}
	var best *Prover // what has a proof, with an interval that is too wide
	widest := math.Inf(1)
	for e := p.least(); ; {
		width, err := p.claim(ctx, c, e)
		if err == nil && width <= p.opts.epsilon() {
			return i, nil
		}
		p.finer = p.opts.epsilon() / 16
		if err == nil && (best == nil || width < widest) {
			best, widest = p.snapshot(), width
			p.finer = min(p.finer, p.opts.epsilon()*p.opts.epsilon()/width/4)
		}
		if ctx.Err() != nil {
			best, err = nil, ctx.Err()
		} else if next, more := p.next(e); more {
			e = next
			continue
		}
		if best != nil {
			p.Vectors, p.Sets, p.values, p.truths = best.Vectors, best.Sets, best.values, best.truths
			return i, nil
		}
		p.Claims = p.Claims[:i]
		return 0, err
	}
}

// snapshot returns what is known, apart from which more can be tried.
func (p *Prover) snapshot() *Prover {
	s := *p.Skeleton
	s.Vectors, s.Sets = slices.Clone(s.Vectors), slices.Clone(s.Sets)
	return &Prover{Skeleton: &s, values: maps.Clone(p.values), truths: maps.Clone(p.truths)}
}

// Proven adds the claim that answers a property, and returns its number and what the checker
// proves of it.
func (p *Prover) Proven(ctx context.Context, prop *Property) (int, *certify.Result, error) {
	i, err := p.Add(ctx, prop)
	if err != nil {
		return i, nil, err
	}
	if p.checked == nil {
		if p.checked, err = exact.New(ctx, p.Model); err != nil {
			return i, nil, err
		}
	}
	results, err := certify.CheckOf(ctx, p.checked, Only(&p.File, i))
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

// Accepts returns why the checker does not accept another vector in place of the one that
// a claim which was proven is about: nil if it does.
func (p *Prover) Accepts(ctx context.Context, claim int, v certificate.Vector) error {
	f, c := p.File, p.Claims[claim]
	f.Vectors = slices.Clone(f.Vectors)
	f.Vectors[c.Vector] = v
	f.Claims = []certificate.Claim{{Vector: c.Vector, Over: c.Over}}
	results, err := certify.CheckOf(ctx, p.checked, Only(&f, 0))
	if err != nil {
		return err
	}
	return results[0].Err
}

// NotAccepted says why the checker does not accept a certificate that was made.
type NotAccepted struct{ Why error }

func (e *NotAccepted) Error() string {
	return "the certificate that was made is not accepted: " + e.Why.Error()
}

func (e *NotAccepted) Unwrap() error { return e.Why }

// errUndecided says that bounds leave open what a set has.
var errUndecided = errors.New("the bounds of a value leave open whether it reaches the number it is compared with")

// claim proves a claim, and returns the relative width of its interval.
func (p *Prover) claim(ctx context.Context, c *certificate.Claim, e effort) (float64, error) {
	over, err := p.decided(ctx, c.Over, e)
	if err != nil {
		return 0, err
	}
	if c.Of == "first" {
		over = p.first(c, over)
	}
	if c.Vector < 0 {
		t, err := p.truth(ctx, c.Set, e)
		switch {
		case err != nil:
			return 0, err
		case c.Of == "count" && over.Minus(t.yes).Minus(t.no).Empty():
		case c.Of == "count":
			return 0, errUndecided
		case c.Of == "exists" && !over.Intersect(t.yes).Empty():
			c.Holds = true
		case c.Of == "exists" && over.Minus(t.no).Empty():
			c.Holds = false
		case c.Of == "exists":
			return 0, errUndecided
		case !over.Intersect(t.no).Empty():
			c.Holds = false
		case over.Minus(t.yes).Empty():
			c.Holds = true
		default:
			return 0, errUndecided
		}
		return 0, nil
	}
	b, err := p.vector(ctx, c.Vector, e)
	if err != nil || b.Exact != nil {
		return 0, err
	}
	width := 0.0
	for s := range over.All() {
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

// first returns the first of some states. In the order of files that is what the claim says;
// in another one the claim is about that state, and there is no file for it.
func (p *Prover) first(c *certificate.Claim, over *sparse.Set) *sparse.Set {
	least := -1
	for s := range over.All() {
		if least < 0 || p.space.Compare(s, least) < 0 {
			least = s
		}
	}
	out := sparse.NewSet(over.Len())
	if least >= 0 {
		out.Add(least)
	}
	if p.order == nil {
		c.Of, c.Over = "", p.set(certificate.Set{Kind: certificate.Atomic, Text: fmt.Sprint("the first of set ", c.Over), Bits: p.bits(out)})
		p.truths[c.Over] = known(out)
	}
	return out
}

// truth is what is known of a set.
type truth struct{ yes, no *sparse.Set }

func known(yes *sparse.Set) truth { return truth{yes, yes.Complement()} }

func (t truth) open() bool { return t.yes.Count()+t.no.Count() < t.yes.Len() }

// decided returns a set of which everything must be known.
func (p *Prover) decided(ctx context.Context, i int, e effort) (*sparse.Set, error) {
	t, err := p.truth(ctx, i, e)
	if err == nil && t.open() {
		err = errUndecided
	}
	return t.yes, err
}

// truth computes a set, and its columns.
func (p *Prover) truth(ctx context.Context, i int, e effort) (truth, error) {
	if t, ok := p.truths[i]; ok {
		return t, nil
	}
	t, err := p.newTruth(ctx, i, e)
	if err == nil && !t.open() {
		p.truths[i] = t
	}
	return t, err
}

func (p *Prover) newTruth(ctx context.Context, i int, e effort) (truth, error) {
	s := &p.Sets[i]
	var of []truth
	for _, j := range s.Sets {
		t, err := p.truth(ctx, j, e)
		if err != nil {
			return t, err
		}
		of = append(of, t)
	}
	switch s.Kind {
	case certificate.All:
		return known(sparse.FullSet(p.graph.NumStates())), nil
	case certificate.Init:
		out := sparse.NewSet(p.graph.NumStates())
		for _, s := range p.graph.Initial {
			out.Add(int(s))
		}
		return known(out), nil
	case certificate.Atomic:
		yes, err := p.space.States(p.Atoms[i])
		if err != nil {
			return truth{}, err
		}
		s.Bits = p.bits(yes)
		return known(yes), nil
	case certificate.Not:
		return truth{of[0].no, of[0].yes}, nil
	case certificate.And:
		return truth{of[0].yes.Intersect(of[1].yes), of[0].no.Union(of[1].no)}, nil
	case certificate.Or:
		return truth{of[0].yes.Union(of[1].yes), of[0].no.Intersect(of[1].no)}, nil
	case certificate.Bound:
		b, err := p.vector(ctx, s.Vector, e)
		if err != nil {
			return truth{}, err
		}
		return b.compare(s.Relation, s.Threshold), nil
	case certificate.ArgMin, certificate.ArgMax:
		b, err := p.vector(ctx, s.Vector, e)
		if err == nil && of[0].open() {
			err = errUndecided
		}
		if err != nil {
			return truth{}, err
		}
		return b.optimal(of[0].yes, s.Kind == certificate.ArgMax), nil
	}
	for _, t := range of {
		if t.open() {
			return truth{}, errUndecided
		}
	}
	switch s.Kind {
	case certificate.ExistsNext:
		return known(p.graph.ExistsNext(of[0].yes)), nil
	case certificate.ForallNext:
		return known(p.graph.ForallNext(of[0].yes)), nil
	}
	return p.paths(s, of[0].yes, of[1].yes), nil
}

// paths computes the states of which some path, or every one, satisfies an until
// formula, and their ranks.
func (p *Prover) paths(s *certificate.Set, left, right *sparse.Set) truth {
	var rank []uint32
	if s.Kind == certificate.ExistsUntil {
		rank = nearer(p.graph, right, left.Union(right), func(int, int) bool { return true })
	} else {
		rank = inevitable(p.graph, left, right)
	}
	yes := sparse.NewSet(len(rank))
	s.Rank = make([]uint32, len(rank))
	for k, i := range p.states() {
		if s.Rank[k] = rank[i]; rank[i] != unranked {
			yes.Add(i)
		}
	}
	s.Bits = p.bits(yes)
	return known(yes)
}

// compare decides in which states a value is in a relation to a number.
func (b *bounds) compare(relation string, to *big.Rat) truth {
	n := len(b.Lower)
	t := truth{sparse.NewSet(n), sparse.NewSet(n)}
	below, above := result.Around(to)
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
	sign := func(x float64) int { // of x - to
		switch {
		case x < above:
			return -1
		case x == above && below == above:
			return 0
		}
		return 1
	}
	for s := range n {
		var least, most bool
		switch {
		case b.Exact != nil && b.Exact[s] != nil:
			least = holds(b.Exact[s].Cmp(to))
			most = least
		case b.Exact != nil:
			least = holds(sign(math.Inf(1)))
			most = least
		default:
			least, most = holds(sign(b.Lower[s])), holds(sign(b.Upper[s]))
		}
		switch {
		case least && most:
			t.yes.Add(s)
		case !least && !most:
			t.no.Add(s)
		}
	}
	return t
}

// optimal decides which of some states have the least value, or the greatest.
func (b *bounds) optimal(over *sparse.Set, most bool) truth {
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
	if most {
		near, far, better = far, near, 1
	}
	first, second, worst := -1, -1, -1
	for s := range over.All() {
		if worst < 0 || order(s, worst, far, far) == better {
			worst = s
		}
		if first < 0 || order(s, first, near, near) == better {
			first, second = s, first
		} else if second < 0 || order(s, second, near, near) == better {
			second = s
		}
	}
	out := known(sparse.NewSet(over.Len()))
	for s := range over.All() {
		best := first
		if s == first {
			best = second
		}
		if order(worst, s, far, near) != better {
			out.no.Remove(s)
		}
		if best < 0 || order(best, s, near, far) != better {
			out.yes.Add(s)
		}
	}
	return out
}
