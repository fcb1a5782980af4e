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

// times returns the product, rounded up or down.
func (x Fixed) times(y Fixed, roundUp bool) Fixed {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	q, r := bits.Div64(hi, lo, uint64(Scale))
	if roundUp && r > 0 {
		q++
	}
	return Fixed(q)
}

// fixedOf converts a probability, rounded up or down.
func fixedOf(p *big.Rat, roundUp bool) Fixed {
	n := new(big.Int).Mul(p.Num(), big.NewInt(int64(Scale)))
	q, r := n.QuoRem(n, p.Denom(), new(big.Int))
	if roundUp && r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return Fixed(q.Uint64())
}
