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
func New(ctx context.Context, model *certificate.Model) (*Model, error) {
	weights, err := model.Weights(ctx)
	return &Model{model, weights}, err
}

// AnySuccessor reports whether a choice has a successor that satisfies a condition.
func (m *Model) AnySuccessor(choice int, condition func(target int) bool) bool {
	first, end := m.Row(choice)
	return slices.ContainsFunc(m.Target[first:end], func(target uint32) bool { return condition(int(target)) })
}

// Compare compares left(s) with r(c) + sum of P(c,t) x(t): the reward of a choice c plus the expected value of x in the next state. It returns
// 1, 0 or -1 if left(s) is greater, equal or less. The result is exact. left(s) must be finite. If rewards is nil, r is 0.
func (m *Model) Compare(left, x *certificate.Values, s, choice int, rewards *certificate.Rewards) int {
	if x.Infinite != nil && m.AnySuccessor(choice, x.Infinite.Has) {
		return -1
	}
	if sign, ok := m.compareFixed(left, x, s, choice, rewards); ok {
		return sign
	}
	if sign, ok := m.compareFloats(left, x, s, choice, rewards); ok {
		return sign
	}
	return left.Rat(s).Cmp(m.rightHandSide(x, choice, rewards))
}

// rightHandSide returns r(c) + sum of P(c,t) x(t) for a choice c. The values x(t) must be finite. If rewards is nil, r is 0.
func (m *Model) rightHandSide(x *certificate.Values, choice int, rewards *certificate.Rewards) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	if rewards != nil {
		sum.Set(rewards.Fractions[rewards.FractionIndex[choice]])
	}
	first, end := m.Row(choice)
	for transition := first; transition < end; transition++ {
		sum.Add(sum, term.Mul(m.Numbers[m.Prob[transition]], x.Rat(int(m.Target[transition]))))
	}
	return sum
}

// compareFixed does the comparison of Compare with 128-bit integers, for values that are multiples of a power of two. ok is false if the values
// are of another kind, or if 128 bits do not suffice.
func (m *Model) compareFixed(left, x *certificate.Values, s, choice int, rewards *certificate.Rewards) (sign int, ok bool) {
	denominator := m.Denominators[choice]
	if x.Fixed == nil || left.Fixed == nil || left.Scale != x.Scale || denominator == 0 {
		return 0, false
	}
	high, low := m.Mean(m.Model, x.Fixed, choice)
	if rewards != nil { // multiply both sides by the common denominator
		rewardIndex := rewards.FractionIndex[choice]
		commonDenominator := certificate.CommonMultiple(denominator, rewards.Denominators[rewardIndex])
		if commonDenominator == 0 {
			return 0, false
		}
		overflow, reward := bits.Mul64(rewards.Numerators[rewardIndex], commonDenominator/rewards.Denominators[rewardIndex])
		if x.Scale > 62 || overflow != 0 || bits.Len64(reward)+int(x.Scale) > 126 {
			return 0, false
		}
		productHigh, productLow := bits.Mul64(low, commonDenominator/denominator)
		high = high*(commonDenominator/denominator) + productHigh // less than commonDenominator
		var carry uint64
		low, carry = bits.Add64(productLow, reward<<x.Scale, 0)
		high, denominator = high+reward>>(64-x.Scale)+carry, commonDenominator
	}
	leftHigh, leftLow := bits.Mul64(left.Fixed[s], denominator)
	return cmp.Or(cmp.Compare(leftHigh, high), cmp.Compare(leftLow, low)), true
}

// compareFloats does the comparison of Compare with 128-bit integers, for float64 values. ok is false if the values are of another kind, or if
// 128 bits do not suffice.
func (m *Model) compareFloats(left, x *certificate.Values, s, choice int, rewards *certificate.Rewards) (sign int, ok bool) {
	commonDenominator := m.Denominators[choice]
	if x.Floats == nil || left.Floats == nil || commonDenominator == 0 {
		return 0, false
	}
	if rewards != nil {
		commonDenominator = certificate.CommonMultiple(commonDenominator, rewards.Denominators[rewards.FractionIndex[choice]])
	}
	mantissa, exponent := splitFloat(left.Floats[s])
	unit := min(exponent, 0)
	if mantissa == 0 {
		unit = 0
	}
	first, end := m.Row(choice)
	for _, transition := range m.Target[first:end] {
		if targetMantissa, exponent := splitFloat(x.Floats[transition]); targetMantissa != 0 {
			unit = min(unit, exponent)
		}
	}
	var leftSide, rightSide uint128 // both sides times the common denominator, as multiples of 2^unit
	fitsIn128Bits := commonDenominator != 0 && (mantissa == 0 || leftSide.addProduct(commonDenominator, mantissa, exponent-unit))
	for transition := first; transition < end && fitsIn128Bits; transition++ {
		targetMantissa, exponent := splitFloat(x.Floats[m.Target[transition]])
		fitsIn128Bits = targetMantissa == 0 || rightSide.addProduct(m.Numerators[transition]*(commonDenominator/m.Denominators[choice]), targetMantissa, exponent-unit)
	}
	if rewards != nil {
		rewardIndex := rewards.FractionIndex[choice]
		fitsIn128Bits = fitsIn128Bits && rightSide.addProduct(rewards.Numerators[rewardIndex], commonDenominator/rewards.Denominators[rewardIndex], -unit)
	}
	return cmp.Or(cmp.Compare(leftSide.high, rightSide.high), cmp.Compare(leftSide.low, rightSide.low)), fitsIn128Bits
}

// splitFloat returns an integer mantissa below 2^53 and an exponent with x = mantissa * 2^exponent. x must not be negative.
func splitFloat(x float64) (mantissa uint64, exponent int) {
	encoding := math.Float64bits(x)
	mantissa, exponent = encoding&(1<<52-1), int(encoding>>52)
	if exponent == 0 { // zero or a subnormal number
		return mantissa, -1074
	}
	return mantissa | 1<<52, exponent - 1075
}

// uint128 is an unsigned 128-bit integer.
type uint128 struct{ high, low uint64 }

// addProduct adds x * factor * 2^shift to the sum, and reports whether the result fits in 128 bits.
func (sum *uint128) addProduct(x, factor uint64, shift int) bool {
	high, low := bits.Mul64(x, factor)
	switch {
	case shift >= 0 && shift < 64 && high>>(63-shift) == 0:
		high, low = high<<shift|low>>(64-shift), low<<shift
	case high == 0 && low == 0:
		return true
	case shift >= 64 && shift < 127 && high == 0 && low>>(127-shift) == 0:
		high, low = low<<(shift-64), 0
	default:
		return false
	}
	var carry uint64
	sum.low, carry = bits.Add64(sum.low, low, 0)
	sum.high, carry = bits.Add64(sum.high, high, carry)
	return carry == 0
}

// FindMistake calls mistakeIn for every state, in parallel on all processors. It returns the first state for which mistakeIn returns a message, and this
// message; without a message it returns "". If the context ends, it stops early. A processor works on batches of 2^14 states, so mistakeIn may add
// its state to a certificate.Bits, which has 64 states in a word, without a lock.
func FindMistake(ctx context.Context, n int, mistakeIn func(s int) string) (firstState int, mistake string) {
	const batch = 1 << 14
	var next atomic.Int64
	var mutex sync.Mutex
	checkBatches := func() {
		for ctx.Err() == nil {
			batchStart := int(next.Add(batch)) - batch
			for s := batchStart; s < min(batchStart+batch, n); s++ {
				if message := mistakeIn(s); message != "" {
					mutex.Lock()
					defer mutex.Unlock()
					if mistake == "" || s < firstState {
						firstState, mistake = s, message
					}
					return // workers on earlier batches continue
				}
			}
			if batchStart >= n {
				return
			}
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) - 1 {
		workers.Go(checkBatches)
	}
	checkBatches()
	workers.Wait()
	return firstState, mistake
}

// Sum returns bias + gain for each state. In a CTMC it returns bias + gain/E, where E is the exit rate.
func (m *Model) Sum(bias, gain *certificate.Values) *certificate.Values {
	if m.ExitRate == nil {
		if sum := sumFixed(bias, gain); sum != nil {
			return sum
		}
	}
	result := &certificate.Values{}
	for s := range m.NumStates() {
		sum := new(big.Rat).Set(gain.Rat(s))
		if m.ExitRate != nil {
			sum.Quo(sum, m.Numbers[m.ExitRate[s]])
		}
		result.Fractions = append(result.Fractions, sum.Add(sum, bias.Rat(s)))
	}
	return result
}

// sumFixed returns the sums of two columns, if both have multiples of the same power of two. It returns nil for other columns, and if a sum
// exceeds 64 bits.
func sumFixed(left, right *certificate.Values) *certificate.Values {
	if left.Fixed == nil || right.Fixed == nil || left.Scale != right.Scale {
		return nil
	}
	result := &certificate.Values{Scale: left.Scale}
	for s, value := range left.Fixed {
		sum, carry := bits.Add64(value, right.Fixed[s], 0)
		if carry != 0 {
			return nil
		}
		result.Fixed = append(result.Fixed, sum)
	}
	return result
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
