package certify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// Result is what became of a claim. What is proven is the Statement, whatever the
// Property is said to be.
type Result struct {
	Property, Statement string
	// Err is why the claim is not proven, nil if it is.
	Err error
	// Lower and Upper, where the claim is about a vector, are proven of all its values;
	// nil is infinity. They are not to be written to.
	Vector       bool
	Lower, Upper *big.Rat
	Holds        bool // otherwise: what is proven of the set
}

// Check checks every claim of a certificate. An error is of the form of the file, or
// ctx.Err(); that something does not hold is in the results.
func Check(ctx context.Context, f *certificate.File) ([]Result, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	c := &checker{File: f, ctx: ctx, m: f.Model, n: f.Model.NumStates(), vectors: map[int]*bounds{}}
	weights, wrong := f.Model.Weights(ctx)
	c.Weights = weights
	for i := range f.Sets {
		c.sets = append(c.sets, c.set(i))
	}
	out := make([]Result, len(f.Claims))
	for i := range f.Claims {
		q := &f.Claims[i]
		out[i] = Result{Property: q.Property, Statement: f.Statement(q), Vector: q.Vector >= 0, Err: wrong}
		if wrong == nil {
			out[i].Err = c.claim(q, &out[i])
		}
	}
	return out, ctx.Err()
}

type checker struct {
	*certificate.File
	*certificate.Weights
	ctx     context.Context
	m       *certificate.Model
	n       int
	sets    []set           // in the order of the file
	vectors map[int]*bounds // those that were checked
}

// Everything is known from two sides: lower bounds and upper ones of values, the states
// that are in a set for sure, and those that may be in it.
const (
	lower = iota
	upper
)

// set is what is known of a set, or why nothing is.
type set struct {
	at  [2]certificate.Bits
	err error
}

func (x *set) decided() bool { return slices.Equal(x.at[lower], x.at[upper]) }

// bounds is what is proven of a vector, or why nothing is. A nil lower bound is 0; ceiling
// bounds a probability, and is nil for infinity.
type bounds struct {
	at      [2]*certificate.Values
	ceiling *big.Rat
	err     error
}

// of is a bound of a state; nil is infinity.
func (b *bounds) of(side, s int) *big.Rat {
	x := [...]*big.Rat{new(big.Rat), b.ceiling}[side]
	if v := b.at[side]; v != nil && (side == lower || less(v.Rat(s), x)) {
		return v.Rat(s)
	}
	return x
}

// less compares numbers of which nil is infinity.
func less(a, b *big.Rat) bool { return a != nil && (b == nil || a.Cmp(b) < 0) }

// minus returns a function for the signs of bounds minus p.
func (b *bounds) minus(p *big.Rat) func(side, s int) int {
	signs := [2]func(s int) int{func(int) int { return -p.Sign() }, func(int) int { return 1 }}
	for side, v := range b.at {
		if v != nil {
			signs[side] = v.Compare(p)
		}
	}
	return func(side, s int) int {
		if side == upper && b.ceiling != nil {
			return min(signs[upper](s), b.ceiling.Cmp(p))
		}
		return signs[side](s)
	}
}

// claim checks a claim from what is known of its sets and vector.
func (c *checker) claim(q *certificate.Claim, r *Result) error {
	over, about := &c.sets[q.Over], &set{}
	v := &bounds{}
	if q.Vector >= 0 {
		v = c.vector(q.Vector)
	} else {
		about = &c.sets[q.Set]
	}
	if err := cmp.Or(over.err, about.err, v.err); err != nil {
		return err
	}
	if !over.decided() || over.at[lower].Count() == 0 {
		return errors.New("the claim is about no states, or those are not decided")
	}
	in, open, first := true, false, true
	for s := range c.n {
		switch {
		case !over.at[lower].Has(s):
		case q.Vector < 0:
			in, open = in && about.at[upper].Has(s), open || !about.at[lower].Has(s)
		default:
			lo, hi := v.of(lower, s), v.of(upper, s)
			if q.Complement {
				lo, hi = new(big.Rat).Sub(one, hi), new(big.Rat).Sub(one, lo)
			}
			if first || less(lo, r.Lower) != (q.Of == "max") {
				r.Lower = lo
			}
			if first || less(hi, r.Upper) == (q.Of == "min") {
				r.Upper = hi
			}
			first = false
		}
	}
	if q.Vector < 0 {
		if r.Holds = in; in && open || in != q.Holds {
			return fmt.Errorf("the claim is %v, and the bounds prove something else, or leave it open", q.Holds)
		}
		return nil
	}
	lo, hi, err := q.Bounds()
	if err == nil && (less(r.Upper, r.Lower) || less(r.Lower, lo) || less(hi, r.Upper)) {
		err = fmt.Errorf("what is proven is not from %q to %q, as is claimed", q.Lower, q.Upper)
	}
	return err
}

// each calls a function for every state, which returns what is wrong with it.
func (c *checker) each(part string, wrong func(s int) string) error {
	for s := range c.n {
		if s&0xfff == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if why := wrong(s); why != "" {
			return fmt.Errorf("%s: state %d: %s", part, s, why)
		}
	}
	return nil
}

// set evaluates set i from those before it.
func (c *checker) set(i int) (x set) {
	d, v := &c.Sets[i], &bounds{}
	if d.Kind == certificate.Bound {
		v = c.vector(d.Vector)
	}
	x.err = v.err
	for _, j := range d.Sets {
		x.err = cmp.Or(x.err, c.sets[j].err)
	}
	member := c.member(d, v)
	for side := range x.at {
		x.at[side] = certificate.NewBits(c.n)
		if x.err == nil {
			x.err = c.each(fmt.Sprintf("set %d", i), func(s int) string {
				has, why := member(side, s)
				if has {
					x.at[side].Add(s)
				}
				return why
			})
		}
	}
	return x
}

// member returns what decides whether a state is in a set, for sure or perhaps. The
// states of paths come with the certificate, and the reason is what is wrong with them.
func (c *checker) member(d *certificate.Set, v *bounds) func(side, s int) (has bool, why string) {
	has := func(k, side, s int) bool { return c.sets[d.Sets[k]].at[side].Has(s) }
	after := func(all bool, s int, is func(t int) bool) bool {
		first, end := c.m.Choices(s)
		for _, t := range c.m.Target[c.m.Start[first]:c.m.Start[end]] {
			if is(int(t)) != all {
				return !all
			}
		}
		return all
	}
	switch d.Kind {
	case certificate.Atomic:
		return func(_, s int) (bool, string) { return d.Bits.Has(s), "" }
	case certificate.Init:
		return func(_, s int) (bool, string) { return c.m.Initial.Has(s), "" }
	case certificate.All:
		return func(int, int) (bool, string) { return true, "" }
	case certificate.Not:
		return func(side, s int) (bool, string) { return !has(0, 1-side, s), "" }
	case certificate.And, certificate.Or:
		or := d.Kind == certificate.Or
		return func(side, s int) (bool, string) {
			for k := range d.Sets {
				if has(k, side, s) == or {
					return or, ""
				}
			}
			return !or, ""
		}
	case certificate.Bound:
		minus, least := v.minus(d.Threshold), 2-len(d.Relation) // the least sign in > or >=
		return func(side, s int) (bool, string) {
			if d.Relation[0] == '<' {
				return -minus(1-side, s) >= least, ""
			}
			return minus(side, s) >= least, ""
		}
	}
	all := d.Kind == certificate.ForallNext || d.Kind == certificate.ForallUntil
	if d.Kind == certificate.ExistsNext || d.Kind == certificate.ForallNext {
		return func(side, s int) (bool, string) {
			return after(all, s, func(t int) bool { return has(0, side, t) }), ""
		}
	}
	return func(_, s int) (bool, string) {
		nearer := func(t int) bool { return d.Bits.Has(t) && d.Rank[t] < d.Rank[s] }
		if d.Bits.Has(s) {
			if !has(1, lower, s) && (!has(0, lower, s) || !after(all, s, nearer)) {
				return true, "it is in the set, and no rank shows it"
			}
		} else if has(1, upper, s) || has(0, upper, s) && after(all, s, d.Bits.Has) {
			return false, "it is not in the set, and nothing keeps it out"
		}
		return d.Bits.Has(s), ""
	}
}

// vector checks vector i, once.
func (c *checker) vector(i int) *bounds {
	if b, ok := c.vectors[i]; ok {
		return b
	}
	b := &bounds{at: [2]*certificate.Values{c.Vectors[i].Lower, c.Vectors[i].Upper}}
	c.vectors[i] = b
	b.err = c.prove(i, b)
	return b
}
