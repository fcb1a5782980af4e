// Package exact evaluates the inequalities of package certify: it compares the value of a state with the expected
// value after a choice. The result is exact. The model's numbers are fractions; the values are multiples of
// a power of two, float64 numbers or fractions. It computes in 128 bits where that suffices, otherwise with math/big.
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

// Model is a model whose probabilities have a common denominator for each choice.
type Model struct {
	*certificate.Model
	*certificate.Weights
}

// New returns a Model. The error says which probabilities do not sum to 1.
func New(ctx context.Context, m *certificate.Model) (*Model, error) {
	weights, err := m.Weights(ctx)
	return &Model{m, weights}, err
}

// Some reports whether a choice has a successor for which is returns true.
func (m *Model) Some(choice int, is func(t int) bool) bool {
	lo, hi := m.Row(choice)
	return slices.ContainsFunc(m.Target[lo:hi], func(t uint32) bool { return is(int(t)) })
}

// Compare returns the sign of left(s) minus the right-hand side r + sum of p x(t) of a choice. left(s) must be finite.
// nil rewards are 0.
func (m *Model) Compare(left, x *certificate.Values, s, choice int, r *certificate.Rewards) int {
	if x.Infinite != nil && m.Some(choice, x.Infinite.Has) {
		return -1
	}
	if sign, ok := m.compareFixed(left, x, s, choice, r); ok {
		return sign
	}
	if sign, ok := m.compareDoubles(left, x, s, choice, r); ok {
		return sign
	}
	return left.Rat(s).Cmp(m.rightHandSide(x, choice, r))
}

// rightHandSide returns r + sum of p x(t) for a choice, where all x(t) are finite.
func (m *Model) rightHandSide(x *certificate.Values, choice int, r *certificate.Rewards) *big.Rat {
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

// compareFixed is Compare for multiples of a power of two, in 128 bits. ok is false if they do not suffice.
func (m *Model) compareFixed(left, x *certificate.Values, s, choice int, r *certificate.Rewards) (sign int, ok bool) {
	den := m.Den[choice]
	if x.Fixed == nil || left.Fixed == nil || left.Scale != x.Scale || den == 0 {
		return 0, false
	}
	high, low := m.Mean(m.Model, x.Fixed, choice)
	if r != nil { // multiply both sides by the common denominator
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

// compareDoubles is Compare for float64 values, in 128 bits. ok is false if they do not suffice.
func (m *Model) compareDoubles(left, x *certificate.Values, s, choice int, r *certificate.Rewards) (sign int, ok bool) {
	common := m.Den[choice]
	if x.Doubles == nil || left.Doubles == nil || common == 0 {
		return 0, false
	}
	if r != nil {
		common = certificate.Common(common, r.Den[r.Of[choice]])
	}
	mantissa, e := splitFloat(left.Doubles[s])
	unit := min(e, 0)
	if mantissa == 0 {
		unit = 0
	}
	lo, hi := m.Row(choice)
	for _, t := range m.Target[lo:hi] {
		if f, e := splitFloat(x.Doubles[t]); f != 0 {
			unit = min(unit, e)
		}
	}
	var a, b uint128 // both sides times the common denominator, as multiples of 2^unit
	fits := common != 0 && (mantissa == 0 || a.add(common, mantissa, e-unit))
	for t := lo; t < hi && fits; t++ {
		f, e := splitFloat(x.Doubles[m.Target[t]])
		fits = f == 0 || b.add(m.Num[t]*(common/m.Den[choice]), f, e-unit)
	}
	if r != nil {
		k := r.Of[choice]
		fits = fits && b.add(r.Num[k], common/r.Den[k], -unit)
	}
	return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low)), fits
}

// splitFloat returns f and e with x = f 2^e and f below 2^53. x must not be negative.
func splitFloat(x float64) (f uint64, e int) {
	b := math.Float64bits(x)
	f, e = b&(1<<52-1), int(b>>52)
	if e == 0 {
		return f, -1074
	}
	return f | 1<<52, e - 1075
}

// uint128 is an unsigned 128-bit integer.
type uint128 struct{ high, low uint64 }

// add adds x y 2^shift, and reports whether the sum fits.
func (n *uint128) add(x, y uint64, shift int) bool {
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

// Each calls wrong for every state, on all processors. It returns the first state for which wrong returns a message, and
// the message. It stops early if the context ends. Each processor takes batches of whole 64-state words, so wrong may
// add its state to a certificate.Bits without locking.
func Each(ctx context.Context, n int, wrong func(s int) string) (first int, why string) {
	const batch = 1 << 14
	var next atomic.Int64
	var mutex sync.Mutex
	work := func() {
		for ctx.Err() == nil {
			lo := int(next.Add(batch)) - batch
			for s := lo; s < min(lo+batch, n); s++ {
				if message := wrong(s); message != "" {
					mutex.Lock()
					defer mutex.Unlock()
					if why == "" || s < first {
						first, why = s, message
					}
					return // workers on earlier batches continue
				}
			}
			if lo >= n {
				return
			}
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	return first, why
}

// Sum returns h + g; in a CTMC h + g/E, where E is the exit rate.
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

// Less reports whether a < b; nil is infinity.
func Less(a, b *big.Rat) bool { return a != nil && (b == nil || a.Cmp(b) < 0) }

// Plus returns a+b; nil is infinity.
func Plus(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Add(a, b)
}

// Times returns a b, where nil is infinity and b is finite and positive.
func Times(a, b *big.Rat) *big.Rat {
	if a == nil {
		return nil
	}
	return new(big.Rat).Mul(a, b)
}
