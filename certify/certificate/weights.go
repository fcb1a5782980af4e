package certificate

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
)

// maxWhole is the exclusive upper limit of numerators and denominators.
const maxWhole = 1 << 62

// Weights are the probabilities of a model as integers: transition t of choice c has probability Num[t]/Den[c].
// Den[c] is below 2^62, or 0 if the common denominator is too large.
type Weights struct{ Num, Den []uint64 }

// Weights returns the probabilities of every choice with a common denominator. The error names a choice whose
// probabilities do not sum to exactly 1, or is ctx.Err().
func (m *Model) Weights(ctx context.Context) (*Weights, error) {
	num, den := splitNumbers(m.Numbers)
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

// Mean returns the expected value of x after a choice, multiplied by Den[choice], as a 128-bit number.
// Den[choice] must not be 0. The high word is below 2^62.
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

// Rewards are the rewards of one step, by choice: choice c earns Rats[Of[c]], which is Num/Den in integers below
// 2^62. Den is 0 if they are too large.
type Rewards struct {
	Of       []uint32
	Rats     []*big.Rat
	Num, Den []uint64
}

// NewRewards returns the rewards rats[of[c]] of the choices c.
func NewRewards(of []uint32, rats []*big.Rat) *Rewards {
	num, den := splitNumbers(rats)
	return &Rewards{of, rats, num, den}
}

// Positive reports whether the reward of a choice is positive. nil rewards are 0.
func (r *Rewards) Positive(choice int) bool { return r != nil && r.Rats[r.Of[choice]].Sign() > 0 }

// Earned returns the reward of one step: that of the state plus that of the choice. In a CTMC the state's reward is
// multiplied by the mean sojourn time. Structure -1 gives reward 1 to the states of the set.
func (m *Model) Earned(structure int, set Bits) *Rewards {
	const noKey, indicatorKey = None, None - 1
	var r Reward
	if structure >= 0 {
		r = m.Rewards[structure]
	}
	out := &Rewards{Of: make([]uint32, len(m.Start)-1)}
	indices := map[[3]uint32]uint32{}
	for s := range m.NumStates() {
		key := [3]uint32{noKey, noKey, noKey}
		if r.State != nil {
			key[0] = r.State[s]
		} else if structure < 0 && set.Has(s) {
			key[0] = indicatorKey
		}
		if m.Exit != nil {
			key[1] = m.Exit[s]
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if r.Choice != nil {
				key[2] = r.Choice[c]
			}
			k, ok := indices[key]
			if !ok {
				k = uint32(len(out.Rats))
				indices[key] = k
				x := new(big.Rat)
				if key[0] == indicatorKey {
					x.SetInt64(1)
				} else if key[0] != noKey {
					x.Set(m.Numbers[key[0]])
				}
				if key[1] != noKey {
					x.Quo(x, m.Numbers[key[1]])
				}
				if key[2] != noKey {
					x.Add(x, m.Numbers[key[2]])
				}
				out.Rats = append(out.Rats, x)
			}
			out.Of[c] = k
		}
	}
	return NewRewards(out.Of, out.Rats)
}

// splitNumbers returns numerators and denominators. A denominator is 0 if the fraction does not fit 62 bits.
func splitNumbers(xs []*big.Rat) (num, den []uint64) {
	num, den = make([]uint64, len(xs)), make([]uint64, len(xs))
	for i, x := range xs {
		if x.Num().BitLen() <= 62 && x.Denom().BitLen() <= 62 {
			num[i], den[i] = x.Num().Uint64(), x.Denom().Uint64()
		}
	}
	return num, den
}

// Common returns the least common multiple; 0 if it is not below 2^62 or if an argument is 0.
func Common(a, b uint64) uint64 {
	if a == b || a == 0 || b == 0 {
		return min(a, b)
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if hi, lo := bits.Mul64(a/x, b); hi == 0 && lo < maxWhole {
		return lo
	}
	return 0
}
