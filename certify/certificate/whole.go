package certificate

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
)

// fit is what whole numbers are below.
const fit = 1 << 62

// Weights are the probabilities in whole numbers: Num[t]/Den[c] that of transition t of
// choice c. Den[c] is less than 2^62, or 0 where that does not fit.
type Weights struct{ Num, Den []uint64 }

// Weights brings the probabilities of every choice to a common denominator. The error
// says which do not sum to 1, exactly, or is ctx.Err().
func (m *Model) Weights(ctx context.Context) (*Weights, error) {
	num, den := split(m.Numbers)
	out := &Weights{make([]uint64, len(m.Target)), make([]uint64, len(m.Start)-1)}
	for c := range out.Den {
		if c&0xfff == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		lo, hi := m.Row(c)
		d := uint64(1)
		for _, p := range m.Prob[lo:hi] {
			d = Common(d, den[p])
		}
		sum := uint64(0)
		for t := lo; t < hi && d != 0; t++ {
			p := m.Prob[t]
			out.Num[t] = num[p] * (d / den[p])
			if num[p] > den[p] || sum > d {
				d = 0
			}
			sum += out.Num[t]
		}
		if d != 0 && sum == d {
			out.Den[c] = d
			continue
		}
		exact := new(big.Rat)
		for _, p := range m.Prob[lo:hi] {
			exact.Add(exact, m.Numbers[p])
		}
		if !exact.IsInt() || exact.Num().Cmp(big.NewInt(1)) != 0 {
			return out, fmt.Errorf("the probabilities of choice %d sum to %s", c, exact.RatString())
		}
	}
	return out, nil
}

// Mean is the sum of p x(t) for a choice of a model, times its denominator, which is not 0.
// The high word is less than 2^62.
func (w *Weights) Mean(m *Model, x []uint64, choice int) (high, low uint64) {
	var carry uint64
	lo, hi := m.Row(choice)
	for t := lo; t < hi; t++ {
		h, l := bits.Mul64(w.Num[t], x[m.Target[t]])
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	return high, low
}

// Rewards are the rewards of the choices for a step: Rats[Of[c]] that of choice c, and
// Num/Den the same in whole numbers below 2^62, Den 0 where these do not fit.
type Rewards struct {
	Of       []uint32
	Rats     []*big.Rat
	Num, Den []uint64
}

// NewRewards returns the rewards of choices as they are numbered in of.
func NewRewards(of []uint32, rats []*big.Rat) *Rewards {
	num, den := split(rats)
	return &Rewards{of, rats, num, den}
}

// Positive reports whether the reward of a choice is above 0; nil are all 0.
func (r *Rewards) Positive(choice int) bool { return r != nil && r.Rats[r.Of[choice]].Sign() > 0 }

// Earned returns what a step is worth: the reward of the state and that of the choice,
// and in a CTMC that of the state for the mean time that is spent there. Reward structure
// -1 is being in the set.
func (m *Model) Earned(structure int, set Bits) *Rewards {
	const none, unit = None, None - 1
	var r Reward
	if structure >= 0 {
		r = m.Rewards[structure]
	}
	out := &Rewards{Of: make([]uint32, len(m.Start)-1)}
	known := map[[3]uint32]uint32{}
	for s := range m.NumStates() {
		key := [3]uint32{none, none, none}
		if r.State != nil {
			key[0] = r.State[s]
		} else if structure < 0 && set.Has(s) {
			key[0] = unit
		}
		if m.Exit != nil {
			key[1] = m.Exit[s]
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if r.Choice != nil {
				key[2] = r.Choice[c]
			}
			k, ok := known[key]
			if !ok {
				k = uint32(len(out.Rats))
				known[key] = k
				x := new(big.Rat)
				if key[0] == unit {
					x.SetInt64(1)
				} else if key[0] != none {
					x.Set(m.Numbers[key[0]])
				}
				if key[1] != none {
					x.Quo(x, m.Numbers[key[1]])
				}
				if key[2] != none {
					x.Add(x, m.Numbers[key[2]])
				}
				out.Rats = append(out.Rats, x)
			}
			out.Of[c] = k
		}
	}
	return NewRewards(out.Of, out.Rats)
}

// split takes fractions apart; the denominator of what does not fit is 0.
func split(xs []*big.Rat) (num, den []uint64) {
	num, den = make([]uint64, len(xs)), make([]uint64, len(xs))
	for i, x := range xs {
		if x.Num().BitLen() <= 62 && x.Denom().BitLen() <= 62 {
			num[i], den[i] = x.Num().Uint64(), x.Denom().Uint64()
		}
	}
	return num, den
}

// Common is the least common multiple, 0 where it does not fit or one of them is 0.
func Common(a, b uint64) uint64 {
	if a == b || a == 0 || b == 0 {
		return min(a, b)
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if hi, lo := bits.Mul64(a/x, b); hi == 0 && lo < fit {
		return lo
	}
	return 0
}
