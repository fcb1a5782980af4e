package induced

import (
	"fmt"
	"math/big"
	"math/bits"
)

// Fixed is a number from 0 to 1 in units of 1/Scale. Each operation is told the direction of rounding, so that bounds remain bounds.
type Fixed uint64

// Scale is the Fixed of 1. A uint64 can hold the sum of 160 of them, the total weight of new tiles on the largest board.
const Scale Fixed = 1e15

// String returns the number with all digits, for example "0.937500000000000".
func (x Fixed) String() string { return fmt.Sprintf("%d.%015d", x/Scale, x%Scale) }

// Float64 returns the nearest floating-point number.
func (x Fixed) Float64() float64 { return float64(x) / float64(Scale) }

// Rat returns the number as a fraction.
func (x Fixed) Rat() *big.Rat { return big.NewRat(int64(x), int64(Scale)) }

// times returns the product of two fixed-point numbers in [0,1], rounded up or down.
func (x Fixed) times(factor Fixed, roundUp bool) Fixed {
	high, low := bits.Mul64(uint64(x), uint64(factor))
	quotient, remainder := bits.Div64(high, low, uint64(Scale))
	if roundUp && remainder > 0 {
		quotient++
	}
	return Fixed(quotient)
}

// fixedOf converts a probability to a fixed-point number, rounded up or down.
func fixedOf(probability *big.Rat, roundUp bool) Fixed {
	numerator := new(big.Int).Mul(probability.Num(), big.NewInt(int64(Scale)))
	quotient, remainder := numerator.QuoRem(numerator, probability.Denom(), new(big.Int))
	if roundUp && remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return Fixed(quotient.Uint64())
}
