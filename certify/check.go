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
func Check(ctx context.Context, f *certificate.File) ([]Result, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	m, err := exact.New(ctx, f.Model)
	return check(ctx, m, err, f)
}

// CheckOf is Check for one of several certificates of a model that is prepared once.
func CheckOf(ctx context.Context, m *exact.Model, f *certificate.File) ([]Result, error) {
	if m.Model != f.Model {
		return nil, errors.New("the certificate is about another model")
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return check(ctx, m, nil, f)
}

func check(ctx context.Context, m *exact.Model, wrong error, f *certificate.File) ([]Result, error) {
	c := &checker{file: f, Model: m, ctx: ctx, n: f.Model.NumStates(), vectors: map[int]*bounds{}}
	for i := range f.Sets {
		c.sets = append(c.sets, c.evaluateSet(i))
	}
	out := make([]Result, len(f.Claims))
	for i := range f.Claims {
		q := &f.Claims[i]
		out[i] = Result{Property: q.Property, Statement: f.Statement(q), Number: q.Vector >= 0 || q.Of == "count", Err: wrong}
		if wrong == nil {
			out[i].Err = c.checkClaim(q, &out[i])
		}
		if err := ctx.Err(); err != nil {
			out[i].Err = err
		}
	}
	return out, ctx.Err()
}

type checker struct {
	*exact.Model
	file    *certificate.File
	ctx     context.Context
	n       int
	sets    []set           // in the order of the file
	vectors map[int]*bounds // those that were checked
}

// The sides from which values and sets are known: the lower and the upper bound of a value, the states that are certainly in a set and
// those that may be in it.
const (
	lower = iota
	upper
)

// set has the members of a set from both sides, or the reason why they are unknown.
type set struct {
	at  [2]certificate.Bits
	err error
}

// holds returns the truth value of a claim about some states if the set has the members of a side.
func (x *set) holds(q *certificate.Claim, states []int, side int) bool {
	if q.Of == "exists" {
		return slices.ContainsFunc(states, x.at[side].Has)
	}
	return !slices.ContainsFunc(states, func(s int) bool { return !x.at[side].Has(s) })
}

func (x *set) decided() bool { return slices.Equal(x.at[lower], x.at[upper]) }

// bounds has the proven bounds of a vector, or the reason why there are none. A nil lower bound is 0. The ceiling is 1 for
// probabilities and nil, which is infinity, for rewards.
type bounds struct {
	at      [2]*certificate.Values
	ceiling *big.Rat
	err     error
}

// value returns a bound of a state; nil is infinity.
func (b *bounds) value(side, s int) *big.Rat {
	x := [...]*big.Rat{new(big.Rat), b.ceiling}[side]
	if v := b.at[side]; v != nil && (side == lower || exact.Less(v.Rat(s), x)) {
		return v.Rat(s)
	}
	return x
}

// compare returns a function that compares a bound of a state with p and returns the sign.
func (b *bounds) compare(p *big.Rat) func(side, s int) int {
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

// checkClaim checks a claim, given its sets and its vector.
func (c *checker) checkClaim(q *certificate.Claim, r *Result) error {
	over, about := &c.sets[q.Over], &set{}
	v := &bounds{}
	if q.Vector >= 0 {
		v = c.checkVector(q.Vector)
	} else {
		about = &c.sets[q.Set]
	}
	if err := cmp.Or(over.err, about.err, v.err); err != nil {
		return err
	}
	var states []int
	for s := range c.n {
		if over.at[lower].Has(s) && (q.Of != "first" || states == nil) {
			states = append(states, s)
		}
	}
	switch {
	case !over.decided() || states == nil:
		return errors.New("the claim is about no states, or those are not decided")
	case q.Vector >= 0:
		r.Lower, r.Upper = v.aggregate(q, states)
	case q.Of == "count":
		var count [2]int64
		for _, s := range states {
			for side := range count {
				if about.at[side].Has(s) {
					count[side]++
				}
			}
		}
		r.Lower, r.Upper = big.NewRat(count[lower], 1), big.NewRat(count[upper], 1)
	default:
		r.Holds = about.holds(q, states, upper)
		if r.Holds != about.holds(q, states, lower) || r.Holds != q.Holds {
			return fmt.Errorf("the claim is %v, and the bounds prove something else, or leave it open", q.Holds)
		}
		return nil
	}
	lo, hi, err := q.Bounds()
	if err == nil && (exact.Less(r.Upper, r.Lower) || exact.Less(r.Lower, lo) || exact.Less(hi, r.Upper)) {
		err = fmt.Errorf("what is proven is not from %q to %q, as is claimed", q.Lower, q.Upper)
	}
	return err
}

// aggregate returns bounds of the minimum, maximum, sum or mean of some states' values, as the claim says, or of all these values.
func (b *bounds) aggregate(q *certificate.Claim, states []int) (low, high *big.Rat) {
	for i, s := range states {
		lo, hi := b.value(lower, s), b.value(upper, s)
		if q.Complement {
			lo, hi = new(big.Rat).Sub(one, hi), new(big.Rat).Sub(one, lo)
		}
		switch {
		case i == 0:
			low, high = lo, hi
		case q.Of == "sum" || q.Of == "avg":
			low, high = exact.Plus(low, lo), exact.Plus(high, hi)
		default:
			if exact.Less(lo, low) != (q.Of == "max") {
				low = lo
			}
			if exact.Less(hi, high) == (q.Of == "min") {
				high = hi
			}
		}
	}
	if q.Of == "avg" {
		n := big.NewRat(1, int64(len(states)))
		low, high = exact.Times(low, n), exact.Times(high, n)
	}
	return low, high
}

// everyState calls a function for every state. It returns the first problem that the function reports.
func (c *checker) everyState(part string, wrong func(s int) string) error {
	if s, why := exact.Each(c.ctx, c.n, wrong); why != "" {
		return fmt.Errorf("%s: state %d: %s", part, s, why)
	}
	return c.ctx.Err()
}

// evaluateSet evaluates set i from the sets before it.
func (c *checker) evaluateSet(i int) (x set) {
	d, v := &c.file.Sets[i], &bounds{}
	if given := d.Given(c.file.Model); given != nil {
		return set{at: [2]certificate.Bits{given, given}}
	}
	if d.Compares() {
		v = c.checkVector(d.Vector)
	}
	x.err = v.err
	for _, j := range d.Sets {
		x.err = cmp.Or(x.err, c.sets[j].err)
	}
	member := c.membership(d, v)
	for side := range x.at {
		x.at[side] = certificate.NewBits(c.n)
		if x.err == nil {
			x.err = c.everyState(fmt.Sprintf("set %d", i), func(s int) string {
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

// membership returns a function that decides whether a state is in a set, seen from a side. The certificate has the states of an
// until; why says that it is wrong about one.
func (c *checker) membership(d *certificate.Set, v *bounds) func(side, s int) (has bool, why string) {
	has := func(k, side, s int) bool { return c.sets[d.Sets[k]].at[side].Has(s) }
	after := func(all bool, s int, is func(t int) bool) bool {
		first, end := c.Choices(s)
		for _, t := range c.Target[c.Start[first]:c.Start[end]] {
			if is(int(t)) != all {
				return !all
			}
		}
		return all
	}
	switch d.Kind {
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
		sign, least := v.compare(d.Threshold), 2-len(d.Relation) // the least sign in > or >=
		return func(side, s int) (bool, string) {
			if d.Relation[0] == '<' {
				return -sign(1-side, s) >= least, ""
			}
			return sign(side, s) >= least, ""
		}
	}
	if d.Kind == certificate.ArgMin || d.Kind == certificate.ArgMax {
		return c.optimalStates(d, v)
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

// optimalStates returns a function that decides whether a state has the least or the greatest value among the states of a set.
func (c *checker) optimalStates(d *certificate.Set, v *bounds) func(side, s int) (has bool, why string) {
	over := &c.sets[d.Sets[0]]
	if over.err != nil || !over.decided() || v.err != nil {
		return func(int, int) (bool, string) { return false, "the states that are compared are not decided" }
	}
	// A state certainly has the least value if its upper bound is not above the lower bound of any other state. It may have it if its
	// lower bound is not above any upper bound.
	above, near, far := exact.Less, lower, upper
	if d.Kind == certificate.ArgMax {
		above, near, far = func(a, b *big.Rat) bool { return exact.Less(b, a) }, upper, lower
	}
	var first, second, worst *big.Rat // the best near bounds of two states, and the best far one
	at, n := 0, 0
	for s := range c.n {
		if !over.at[lower].Has(s) {
			continue
		}
		x, y := v.value(near, s), v.value(far, s)
		if n == 0 || above(y, worst) {
			worst = y
		}
		if n == 0 || above(x, first) {
			first, second, at = x, first, s
		} else if n == 1 || above(x, second) {
			second = x
		}
		n++
	}
	return func(side, s int) (bool, string) {
		best := first
		if at == s {
			best = second
		}
		if side == lower {
			return over.at[lower].Has(s) && (at == s && n == 1 || !above(best, v.value(far, s))), ""
		}
		return over.at[lower].Has(s) && !above(worst, v.value(near, s)), ""
	}
}

// checkVector checks vector i, once.
func (c *checker) checkVector(i int) *bounds {
	if b, ok := c.vectors[i]; ok {
		return b
	}
	b := &bounds{at: [2]*certificate.Values{c.file.Vectors[i].Lower, c.file.Vectors[i].Upper}}
	c.vectors[i] = b
	if err := c.prove(i, b); err != nil {
		b.err = fmt.Errorf("vector %d: %w", i, err)
	}
	return b
}
