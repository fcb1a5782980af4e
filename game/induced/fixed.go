package induced

import (
	"fmt"
	"math/big"
	"math/bits"
)

// Fixed is a number from 0 to 1 in units of 1/Scale. Arithmetic says which way it rounds, so that bounds stay bounds.
type Fixed uint64

// Scale is 1 as a Fixed. Sums of 160 of them, the weights of the new tiles of the largest board, fit a word.
const Scale Fixed = 1e15

// String returns all digits, "0.937500000000000".
func (x Fixed) String() string { return fmt.Sprintf("%d.%015d", x/Scale, x%Scale) }

// Float64 returns the nearest floating-point number.
func (x Fixed) Float64() float64 { return float64(x) / float64(Scale) }

// Rat returns the number.
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

// fixedOf returns a probability, rounded up or down.
func fixedOf(p *big.Rat, roundUp bool) Fixed {
	n := new(big.Int).Mul(p.Num(), big.NewInt(int64(Scale)))
	q, r := n.QuoRem(n, p.Denom(), new(big.Int))
	if roundUp && r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return Fixed(q.Uint64())
}
