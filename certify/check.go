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
	// Lower and Upper are proven of every state of the claim, where it is about a
	// vector; a nil Upper is infinity, and a nil Lower that all values are infinite.
	Vector       bool
	Lower, Upper *big.Rat
	// Holds is what is proven of the set, otherwise.
	Holds bool
}

// Failure says what does not prove what it should.
type Failure struct {
	Part  string // "vector 3" or "set 2", "model" or "claim 0"
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
	if err := f.Validate(); err != nil {
		return nil, err
	}
	c := &checker{
		ctx: ctx, File: f, m: f.Model, n: f.Model.NumStates(),
		sets: make([]set, len(f.Sets)), setErrs: make([]error, len(f.Sets)),
		vectors: make([]bounds, len(f.Vectors)), vectorErrs: make([]error, len(f.Vectors)), done: make([]bool, len(f.Vectors)),
	}
	wrong := c.weigh()
	for i := range f.Sets {
		if c.sets[i], c.setErrs[i] = c.set(i); wrong != nil {
			c.setErrs[i] = wrong
		}
	}
	out := make([]Result, len(f.Claims))
	for i := range f.Claims {
		claim := &f.Claims[i]
		out[i] = Result{Name: claim.Name, Property: claim.Property, Statement: f.Statement(claim), Vector: claim.Vector >= 0}
		if out[i].Err = wrong; wrong == nil {
			out[i].Err = c.claim(fmt.Sprintf("claim %d", i), claim, &out[i])
		}
	}
	return out, ctx.Err()
}

type checker struct {
	*certificate.File
	ctx context.Context
	m   *certificate.Model
	n   int

	num, den []uint64 // see weigh

	sets       []set
	setErrs    []error
	vectors    []bounds
	vectorErrs []error
	done       []bool
}

// claim checks a claim from what is proven of its sets and vector.
func (c *checker) claim(part string, claim *certificate.Claim, r *Result) error {
	over, err := c.sets[claim.Over], c.setErrs[claim.Over]
	if err != nil {
		return err
	}
	fail := func(s int, why string) error { return &Failure{part, s, why} }
	if claim.Vector < 0 {
		set, err := c.sets[claim.Set], c.setErrs[claim.Set]
		if err != nil {
			return err
		}
		outside, unknown := -1, -1
		for s := range c.n {
			if over.maybe.Has(s) && !set.in.Has(s) {
				if unknown = s; over.in.Has(s) && !set.maybe.Has(s) {
					outside = s
				}
			}
		}
		switch r.Holds = outside < 0; {
		case outside < 0 && unknown >= 0:
			return fail(unknown, "the bounds leave open whether it is in the set")
		case r.Holds != claim.Holds:
			return fail(outside, fmt.Sprintf("the claim is %v, and %v is proven", claim.Holds, r.Holds))
		}
		return nil
	}
	v, err := c.vector(claim.Vector)
	if err != nil {
		return err
	}
	none := true
	for s := range c.n {
		if !over.maybe.Has(s) {
			continue
		}
		lower, upper := v.lower(s), v.upper(s)
		if none || less(lower, r.Lower) {
			r.Lower = lower
		}
		if none || less(r.Upper, upper) {
			r.Upper = upper
		}
		none = false
	}
	if none {
		return fail(-1, "it is about no state")
	}
	if r.Lower == nil && r.Upper != nil || r.Upper != nil && r.Lower.Cmp(r.Upper) > 0 {
		return fail(-1, "the lower bound is above the upper one")
	}
	lower, err1 := number(claim.Lower, new(big.Rat))
	upper, err2 := number(claim.Upper, nil)
	switch {
	case err1 != nil || err2 != nil:
		return fail(-1, fmt.Sprintf("found the bounds %q and %q, wanted fractions or inf", claim.Lower, claim.Upper))
	case less(r.Lower, lower) || less(upper, r.Upper):
		return fail(-1, fmt.Sprintf("the claim is [%s, %s], and [%s, %s] is proven", claim.Lower, claim.Upper, text(r.Lower), text(r.Upper)))
	}
	return nil
}

// less compares numbers of which nil is infinity.
func less(a, b *big.Rat) bool { return a != nil && (b == nil || a.Cmp(b) < 0) }

func text(r *big.Rat) string {
	if r == nil {
		return "inf"
	}
	return r.RatString()
}

// number reads a bound; an absent one is what stands for it.
func number(text string, absent *big.Rat) (*big.Rat, error) {
	switch text {
	case "":
		return absent, nil
	case "inf":
		return nil, nil
	}
	if r, ok := new(big.Rat).SetString(text); ok {
		return r, nil
	}
	return nil, fmt.Errorf("found the number %q", text)
}

// set is what is known of a set: in it are at least the states of in, and at most
// those of maybe.
type set struct{ in, maybe certificate.Bits }

func (s set) decided() bool {
	for i := range s.in {
		if s.in[i] != s.maybe[i] {
			return false
		}
	}
	return true
}

// each calls a function for every state, which returns what is wrong with it.
func (c *checker) each(part string, wrong func(s int) string) error {
	for s := range c.n {
		if s&0xfff == 0 && c.ctx.Err() != nil {
			return &Failure{part, -1, "stopped: " + c.ctx.Err().Error()}
		}
		if why := wrong(s); why != "" {
			return &Failure{part, s, why}
		}
	}
	return nil
}

// set evaluates set i, from those before it.
func (c *checker) set(i int) (set, error) {
	d := &c.Sets[i]
	part := fmt.Sprintf("set %d", i)
	for _, j := range d.Sets {
		if c.setErrs[j] != nil {
			return set{}, c.setErrs[j]
		}
	}
	words := func(f func(k int, of func(set) certificate.Bits) uint64) set {
		out := set{certificate.NewBits(c.n), certificate.NewBits(c.n)}
		for k := range out.in {
			out.in[k] = f(k, func(s set) certificate.Bits { return s.in })
			out.maybe[k] = f(k, func(s set) certificate.Bits { return s.maybe })
		}
		return out
	}
	switch d.Kind {
	case certificate.Atomic:
		return set{d.Bits, d.Bits}, nil
	case certificate.Init:
		return set{c.m.Initial, c.m.Initial}, nil
	case certificate.Bound:
		return c.bound(d)
	case certificate.And:
		return words(func(k int, of func(set) certificate.Bits) uint64 {
			x := ^uint64(0)
			for _, j := range d.Sets {
				x &= of(c.sets[j])[k]
			}
			return x
		}), nil
	case certificate.Or:
		return words(func(k int, of func(set) certificate.Bits) uint64 {
			x := uint64(0)
			for _, j := range d.Sets {
				x |= of(c.sets[j])[k]
			}
			return x
		}), nil
	}
	out := set{certificate.NewBits(c.n), certificate.NewBits(c.n)}
	err := c.each(part, func(s int) string {
		in, maybe, why := c.member(d, s)
		if in {
			out.in.Add(s)
		}
		if maybe {
			out.maybe.Add(s)
		}
		return why
	})
	return out, err
}

// member decides about a state of the other kinds of sets.
func (c *checker) member(d *certificate.Set, s int) (in, maybe bool, why string) {
	successors := func(all bool, f func(t int) bool) bool {
		first, end := c.m.Choices(s)
		for _, t := range c.m.Target[c.m.Start[first]:c.m.Start[end]] {
			if f(int(t)) != all {
				return !all
			}
		}
		return all
	}
	switch d.Kind {
	case certificate.All:
		return true, true, ""
	case certificate.Not:
		x := c.sets[d.Sets[0]]
		return !x.maybe.Has(s), !x.in.Has(s), ""
	case certificate.ExistsNext, certificate.ForallNext:
		x, all := c.sets[d.Sets[0]], d.Kind == certificate.ForallNext
		return successors(all, x.in.Has), successors(all, x.maybe.Has), ""
	}
	// A set E or A of paths: a state in it has a rank, and one outside a path that
	// never gets there, or every path.
	left, right, all := c.sets[d.Sets[0]], c.sets[d.Sets[1]], d.Kind == certificate.ForallUntil
	has := d.Bits.Has(s)
	if has && !right.in.Has(s) {
		nearer := func(t int) bool { return d.Bits.Has(t) && d.Rank[t] < d.Rank[s] }
		if !left.in.Has(s) || !successors(all, nearer) {
			return has, has, "it is in the set, and no rank shows it"
		}
	}
	if !has && (right.maybe.Has(s) || left.maybe.Has(s) && successors(all, d.Bits.Has)) {
		return has, has, "it is not in the set, and nothing keeps it out"
	}
	return has, has, ""
}

// bound decides which values are in the relation to the threshold.
func (c *checker) bound(d *certificate.Set) (set, error) {
	v, err := c.vector(d.Vector)
	if err != nil {
		return set{}, err
	}
	out := set{certificate.NewBits(c.n), certificate.NewBits(c.n)}
	lower, upper := v.compare(d.Threshold)
	below, strict := d.Relation[0] == '<', len(d.Relation) == 1
	return out, c.each(fmt.Sprintf("bound of vector %d", d.Vector), func(s int) string {
		lo, hi := lower(s), upper(s) // signs of value - threshold
		if below {
			lo, hi = -hi, -lo
		}
		if lo > 0 || lo == 0 && !strict {
			out.in.Add(s)
		}
		if hi > 0 || hi == 0 && !strict {
			out.maybe.Add(s)
		}
		return ""
	})
}

// vector checks vector i, once.
func (c *checker) vector(i int) (bounds, error) {
	if !c.done[i] {
		c.done[i] = true
		c.vectors[i], c.vectorErrs[i] = c.prove(i)
	}
	return c.vectors[i], c.vectorErrs[i]
}
