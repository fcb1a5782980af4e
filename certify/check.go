package certify

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/certify/certificate"
)

// Result is what became of a claim. What is proven is the Statement, whatever the
// Property is said to be.
type Result struct {
	Name, Property, Statement string
	// Err is nil if the claim is proven, and a *Failure otherwise.
	Err error
	// Lower and Upper, where the claim is about a vector, are proven of all its values;
	// nil is infinity. They are not to be written to.
	Vector       bool
	Lower, Upper *big.Rat
	Holds        bool // otherwise: what is proven of the set
}

// Failure says what does not prove what it should.
type Failure struct {
	Part  string // such as "vector 3, lower", "set 2", "model" or "claim 0"
	State int    // -1 where it is about no state in particular
	Why   string
}

func (f *Failure) Error() string {
	if f.State < 0 {
		return fmt.Sprintf("%s: %s", f.Part, f.Why)
	}
	return fmt.Sprintf("%s: state %d: %s", f.Part, f.State, f.Why)
}

// Check checks every claim of a certificate. An error is of the form of the file, or
// ctx.Err(); that something does not hold is in the results.
func Check(ctx context.Context, f *certificate.File) ([]Result, error) {
	c, err := New(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(f.Claims))
	for i := range f.Claims {
		if out[i], err = c.Claim(ctx, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Checker checks claims one by one, and what they rest on once.
type Checker struct {
	*certificate.File
	ctx      context.Context
	m        *certificate.Model
	n        int
	wrong    error    // with the probabilities
	num, den []uint64 // see weigh
	sets     map[int]*set
	vectors  map[int]*bounds
}

// New returns a Checker of a file, to which sets, vectors and claims may be added later.
func New(ctx context.Context, f *certificate.File) (*Checker, error) {
	if err := f.Model.Validate(); err != nil {
		return nil, err
	}
	c := &Checker{File: f, ctx: ctx, m: f.Model, n: f.Model.NumStates(), sets: map[int]*set{}, vectors: map[int]*bounds{}}
	c.wrong = c.weigh()
	return c, ctx.Err()
}

// Claim checks claim i. Its error is as that of Check.
func (c *Checker) Claim(ctx context.Context, i int) (Result, error) {
	if err := c.Validate(); err != nil {
		return Result{}, err
	}
	c.ctx = ctx
	claim := &c.Claims[i]
	r := Result{Name: claim.Name, Property: claim.Property, Statement: c.Statement(claim), Vector: claim.Vector >= 0}
	fail := func(s int, why string, args ...any) (Result, error) {
		r.Err = &Failure{fmt.Sprintf("claim %d", i), s, fmt.Sprintf(why, args...)}
		return r, ctx.Err()
	}
	over := c.set(claim.Over)
	if r.Err = over.err; c.wrong != nil {
		r.Err = c.wrong
	}
	if r.Err != nil {
		return r, ctx.Err()
	}
	if !over.decided() || over.in.Count() == 0 {
		return fail(-1, "it is about no states, or those are not decided")
	}
	if claim.Vector < 0 {
		set := c.set(claim.Set)
		if r.Err = set.err; r.Err != nil {
			return r, ctx.Err()
		}
		outside, open := -1, -1
		for s := range c.n {
			if over.in.Has(s) && !set.maybe.Has(s) {
				outside = s
			} else if over.in.Has(s) && !set.in.Has(s) {
				open = s
			}
		}
		switch r.Holds = outside < 0; {
		case r.Holds && open >= 0:
			return fail(open, "the bounds leave open whether it is in the set")
		case r.Holds != claim.Holds:
			return fail(outside, "the claim is %v, and %v is proven", claim.Holds, r.Holds)
		}
		return r, ctx.Err()
	}
	v := c.vector(claim.Vector)
	if r.Err = v.err; r.Err != nil {
		return r, ctx.Err()
	}
	first := true
	for s := range c.n {
		if over.in.Has(s) {
			lower, upper := v.lower(s), v.upper(s)
			if claim.Complement {
				lower, upper = new(big.Rat).Sub(one, upper), new(big.Rat).Sub(one, lower)
			}
			if first || less(lower, r.Lower) != (claim.Of == "max") {
				r.Lower = lower
			}
			if first || less(upper, r.Upper) == (claim.Of == "min") {
				r.Upper = upper
			}
			first = false
		}
	}
	lower, ok1 := number(claim.Lower, new(big.Rat))
	upper, ok2 := number(claim.Upper, nil)
	switch {
	case less(r.Upper, r.Lower):
		return fail(-1, "the lower bound is above the upper one")
	case !ok1 || !ok2:
		return fail(-1, "found the bounds %q and %q, wanted fractions or inf", claim.Lower, claim.Upper)
	case less(r.Lower, lower) || less(upper, r.Upper):
		return fail(-1, "the claim is from %q to %q, which is not proven", claim.Lower, claim.Upper)
	}
	return r, ctx.Err()
}

// less compares numbers of which nil is infinity.
func less(a, b *big.Rat) bool { return a != nil && (b == nil || a.Cmp(b) < 0) }

// number reads a bound; an absent one is what stands for it.
func number(text string, absent *big.Rat) (*big.Rat, bool) {
	if text == "" {
		return absent, true
	}
	r, ok := new(big.Rat).SetString(text)
	if text == "inf" {
		return nil, true
	}
	return r, ok
}

// set is what is known of a set: in it are at least the states of in, and at most
// those of maybe; or why nothing is.
type set struct {
	in, maybe certificate.Bits
	err       error
}

func (s *set) decided() bool {
	for i := range s.in {
		if s.in[i] != s.maybe[i] {
			return false
		}
	}
	return true
}

// each calls a function for every state, which returns what is wrong with it.
func (c *Checker) each(part string, wrong func(s int) string) error {
	for s := range c.n {
		if s&0xfff == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if why := wrong(s); why != "" {
			return &Failure{part, s, why}
		}
	}
	return nil
}

// set evaluates set i, once.
func (c *Checker) set(i int) *set {
	if x, ok := c.sets[i]; ok {
		return x
	}
	d, out := &c.Sets[i], &set{in: certificate.NewBits(c.n), maybe: certificate.NewBits(c.n)}
	c.sets[i] = out
	var member func(s int) (in, maybe bool, why string)
	switch d.Kind {
	case certificate.Atomic:
		out.in, out.maybe = d.Bits, d.Bits
		return out
	case certificate.Init:
		out.in, out.maybe = c.m.Initial, c.m.Initial
		return out
	case certificate.All:
		member = func(int) (bool, bool, string) { return true, true, "" }
	case certificate.Bound:
		v := c.vector(d.Vector)
		if out.err = v.err; out.err != nil {
			return out
		}
		member = v.related(d.Relation, d.Threshold)
	default:
		parts := make([]*set, len(d.Sets))
		for k, j := range d.Sets {
			parts[k] = c.set(j)
			if out.err = parts[k].err; out.err != nil {
				return out
			}
		}
		member = func(s int) (in, maybe bool, why string) { return c.member(d, parts, s) }
	}
	out.err = c.each(fmt.Sprintf("set %d", i), func(s int) string {
		in, maybe, why := member(s)
		if in {
			out.in.Add(s)
		}
		if maybe {
			out.maybe.Add(s)
		}
		return why
	})
	return out
}

// member decides about a state of a set that is made of others.
func (c *Checker) member(d *certificate.Set, parts []*set, s int) (in, maybe bool, why string) {
	x := parts[0]
	first, end := c.m.Choices(s)
	next := c.m.Target[c.m.Start[first]:c.m.Start[end]]
	successors := func(all bool, is func(t int) bool) bool {
		for _, t := range next {
			if is(int(t)) != all {
				return !all
			}
		}
		return all
	}
	switch d.Kind {
	case certificate.Not:
		return !x.maybe.Has(s), !x.in.Has(s), ""
	case certificate.And, certificate.Or:
		or := d.Kind == certificate.Or
		in, maybe = !or, !or
		for _, y := range parts {
			if y.in.Has(s) == or {
				in = or
			}
			if y.maybe.Has(s) == or {
				maybe = or
			}
		}
		return in, maybe, ""
	case certificate.ExistsNext, certificate.ForallNext:
		all := d.Kind == certificate.ForallNext
		return successors(all, x.in.Has), successors(all, x.maybe.Has), ""
	}
	left, right, all, has := x, parts[1], d.Kind == certificate.ForallUntil, d.Bits.Has(s)
	nearer := func(t int) bool { return d.Bits.Has(t) && d.Rank[t] < d.Rank[s] }
	switch {
	case has && !right.in.Has(s) && (!left.in.Has(s) || !successors(all, nearer)):
		why = "it is in the set, and no rank shows it"
	case !has && (right.maybe.Has(s) || left.maybe.Has(s) && successors(all, d.Bits.Has)):
		why = "it is not in the set, and nothing keeps it out"
	}
	return has, has, why
}

// bounds is what is proven of a vector, or why nothing is. nil is what needs no proof;
// ceiling bounds a probability, and is nil for infinity.
type bounds struct {
	low, high *certificate.Values
	ceiling   *big.Rat
	err       error
}

// lower and upper return the bounds of state s, which are not to be written to; nil is
// infinity.
func (b *bounds) lower(s int) *big.Rat {
	if b.low == nil {
		return new(big.Rat)
	}
	return b.low.Rat(s)
}

func (b *bounds) upper(s int) *big.Rat {
	x := b.ceiling
	if b.high != nil && less(b.high.Rat(s), x) {
		x = b.high.Rat(s)
	}
	return x
}

// related decides which values are in a relation to p.
func (b *bounds) related(relation string, p *big.Rat) func(s int) (in, maybe bool, why string) {
	lower := func(s int) int { return b.lower(s).Cmp(p) }
	if b.low != nil {
		lower = b.low.Compare(p)
	}
	most := 1
	if b.ceiling != nil {
		most = b.ceiling.Cmp(p)
	}
	upper := func(int) int { return most }
	if b.high != nil {
		high := b.high.Compare(p)
		upper = func(s int) int { return min(high(s), most) }
	}
	below, least := relation[0] == '<', 2-len(relation) // the least sign that is in the relation
	return func(s int) (in, maybe bool, why string) {
		lo, hi := lower(s), upper(s)
		if below {
			lo, hi = -hi, -lo
		}
		return lo >= least, hi >= least, ""
	}
}

// vector checks vector i, once.
func (c *Checker) vector(i int) *bounds {
	if b, ok := c.vectors[i]; ok {
		return b
	}
	b := &bounds{low: c.Vectors[i].Lower, high: c.Vectors[i].Upper}
	c.vectors[i] = b
	b.err = c.prove(i, b)
	return b
}
