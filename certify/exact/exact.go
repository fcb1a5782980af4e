// Package exact compares values of a model with what a step makes of them, for package
// certify. Everything is exact: numbers of the model are fractions, values are multiples of
// a power of two, doubles or fractions. What fits is computed in 128 bits, all else with math/big.
//
//	m, err := exact.New(ctx, model)
//	sign := m.Compare(x, x, state, choice, rewards)
package exact

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"tilecheck/certify/certificate"
)

// Model is a model with its probabilities in whole numbers.
type Model struct {
	*certificate.Model
	*certificate.Weights
}

// New returns a model. The error is of probabilities that do not sum to 1.
func New(ctx context.Context, m *certificate.Model) (*Model, error) {
	weights, err := m.Weights(ctx)
	return &Model{m, weights}, err
}

// Some reports whether a transition of a choice leads to such a state.
func (m *Model) Some(choice int, is func(t int) bool) bool {
	lo, hi := m.Row(choice)
	return slices.ContainsFunc(m.Target[lo:hi], func(t uint32) bool { return is(int(t)) })
}

// Compare is the sign of left(s), which is not infinite, minus r + sum of p x(t) for a
// choice. nil rewards are 0.
func (m *Model) Compare(left, x *certificate.Values, s, choice int, r *certificate.Rewards) int {
	if x.Infinite != nil && m.Some(choice, x.Infinite.Has) {
		return -1
	}
	if sign, ok := m.fast(left, x, s, choice, r); ok {
		return sign
	}
	if sign, ok := m.floating(left, x, s, choice, r); ok {
		return sign
	}
	return left.Rat(s).Cmp(m.step(x, choice, r))
}

// step is r + sum of p x(t) for a choice, none of which is infinite.
func (m *Model) step(x *certificate.Values, choice int, r *certificate.Rewards) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	if r != nil {
		sum.Set(r.Rats[r.Of[choice]])
	}
	lo, hi := m.Row(choice)
	for t := lo; t < hi; t++ {
		sum.Add(sum, term.Mul(m.Numbers[m.Prob[t]], x.Rat(int(m.Target[t]))))
	}
	return sum
}

// fast is Compare in 128 bits, if that is enough.
func (m *Model) fast(left, x *certificate.Values, s, choice int, r *certificate.Rewards) (sign int, ok bool) {
	den := m.Den[choice]
	if x.Fixed == nil || left.Fixed == nil || left.Scale != x.Scale || den == 0 {
		return 0, false
	}
	high, low := m.Mean(m.Model, x.Fixed, choice)
	if r != nil { // both sides times the common denominator
		k := r.Of[choice]
		common := certificate.Common(den, r.Den[k])
		if common == 0 {
			return 0, false
		}
		over, l := bits.Mul64(r.Num[k], common/r.Den[k])
		if x.Scale > 62 || over != 0 || bits.Len64(l)+int(x.Scale) > 126 {
			return 0, false
		}
		h, more := bits.Mul64(low, common/den)
		high = high*(common/den) + h // less than common
		low, over = bits.Add64(more, l<<x.Scale, 0)
		high, den = high+l>>(64-x.Scale)+over, common
	}
	h, l := bits.Mul64(left.Fixed[s], den)
	return cmp.Or(cmp.Compare(h, high), cmp.Compare(l, low)), true
}

// floating is Compare of doubles in 128 bits, if that is enough.
func (m *Model) floating(left, x *certificate.Values, s, choice int, r *certificate.Rewards) (sign int, ok bool) {
	common := m.Den[choice]
	if x.Doubles == nil || left.Doubles == nil || common == 0 {
		return 0, false
	}
	if r != nil {
		common = certificate.Common(common, r.Den[r.Of[choice]])
	}
	mantissa, e := split(left.Doubles[s])
	unit := min(e, 0)
	if mantissa == 0 {
		unit = 0
	}
	lo, hi := m.Row(choice)
	for _, t := range m.Target[lo:hi] {
		if f, e := split(x.Doubles[t]); f != 0 {
			unit = min(unit, e)
		}
	}
	var a, b wide // both sides times the denominator, in units
	fits := common != 0 && (mantissa == 0 || a.add(common, mantissa, e-unit))
	for t := lo; t < hi && fits; t++ {
		f, e := split(x.Doubles[m.Target[t]])
		fits = f == 0 || b.add(m.Num[t]*(common/m.Den[choice]), f, e-unit)
	}
	if r != nil {
		k := r.Of[choice]
		fits = fits && b.add(r.Num[k], common/r.Den[k], -unit)
	}
	return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low)), fits
}

// split returns a double that is not negative as f 2^e, with f below 2^53.
func split(x float64) (f uint64, e int) {
	b := math.Float64bits(x)
	f, e = b&(1<<52-1), int(b>>52)
	if e == 0 {
		return f, -1074
	}
	return f | 1<<52, e - 1075
}

// wide is a number of 128 bits.
type wide struct{ high, low uint64 }

// add adds x y 2^shift, and reports whether that fits.
func (n *wide) add(x, y uint64, shift int) bool {
	h, l := bits.Mul64(x, y)
	switch {
	case shift >= 0 && shift < 64 && h>>(63-shift) == 0:
		h, l = h<<shift|l>>(64-shift), l<<shift
	case h == 0 && l == 0:
		return true
	case shift >= 64 && shift < 127 && h == 0 && l>>(127-shift) == 0:
		h, l = l<<(shift-64), 0
	default:
		return false
	}
	var carry uint64
	n.low, carry = bits.Add64(n.low, l, 0)
	n.high, carry = bits.Add64(n.high, h, carry)
	return carry == 0
}

// Each calls a function for every state, on all processors, and returns the first state of
// which it says that something is wrong, and what: unless the context ends before. What a
// processor does at a time are whole words of a set, so the function may add its state to one.
func Each(ctx context.Context, n int, wrong func(s int) string) (first int, why string) {
	const part = 1 << 14
	var next atomic.Int64
	var found sync.Mutex
	work := func() {
		for ctx.Err() == nil {
			lo := int(next.Add(part)) - part
			for s := lo; s < min(lo+part, n); s++ {
				if what := wrong(s); what != "" {
					found.Lock()
					defer found.Unlock()
					if why == "" || s < first {
						first, why = s, what
					}
					return // who has a part before goes on
				}
			}
			if lo >= n {
				return
			}
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+part-1)/part) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return first, why
}

// Sum is h + g, in a CTMC h + g/E.
func (m *Model) Sum(h, g *certificate.Values) *certificate.Values {
	out := &certificate.Values{Scale: h.Scale}
	for s := 0; s < m.NumStates() && m.Exit == nil && h.Fixed != nil && g.Fixed != nil && h.Scale == g.Scale; s++ {
		x, carry := bits.Add64(h.Fixed[s], g.Fixed[s], 0)
		if carry != 0 {
			break
		}
		out.Fixed = append(out.Fixed, x)
	}
	if len(out.Fixed) == m.NumStates() {
		return out
	}
	out = &certificate.Values{}
	for s := range m.NumStates() {
		x := new(big.Rat).Set(g.Rat(s))
		if m.Exit != nil {
			x.Quo(x, m.Numbers[m.Exit[s]])
		}
		out.Rats = append(out.Rats, x.Add(x, h.Rat(s)))
	}
	return out
}

// Less compares numbers of which nil is infinity.
func Less(a, b *big.Rat) bool { return a != nil && (b == nil || a.Cmp(b) < 0) }

// Plus is a+b of such numbers.
func Plus(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Add(a, b)
}

// Times is a b of one of them and a positive one that is finite.
func Times(a, b *big.Rat) *big.Rat {
	if a == nil {
		return nil
	}
	return new(big.Rat).Mul(a, b)
}
