// Package exact compares values of a model with what a step makes of them, for package
// certify. Everything is exact: numbers of the model are fractions, values are multiples of
// a power of two or fractions. What fits is computed in 128 bits, all else with math/big.
//
//	m, err := exact.New(ctx, model)
//	sign := m.Compare(x, x, state, choice, rewards)
package exact

import (
	"cmp"
	"context"
	"math/big"
	"math/bits"
	"slices"

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
