package hostile

import (
	"math"
	"math/big"
	"strconv"
)

// Value is a number that lies between Lo and Hi, which are equal where it is
// known as a fraction and differ in the sixtieth digit otherwise; or infinity.
type Value struct {
	Lo, Hi *big.Rat
	Inf    bool
}

// String returns a value for messages.
func (v Value) String() string {
	if v.Inf {
		return "Infinity"
	}
	text := "about 2^" + strconv.Itoa(v.Lo.Num().BitLen()-v.Lo.Denom().BitLen())
	if f, _ := v.Lo.Float64(); v.Lo.Sign() == 0 || f > 0 && !math.IsInf(f, 1) {
		text = new(big.Float).SetPrec(200).SetRat(v.Lo).Text('g', 30)
	}
	switch {
	case !v.Exact():
		return text + " (sixty digits known)"
	case v.Lo.Denom().BitLen() > 100:
		return text + " (a fraction)"
	}
	return v.Lo.RatString() + " = " + text
}

// Exact reports whether the value is known as a fraction.
func (v Value) Exact() bool { return !v.Inf && v.Lo.Cmp(v.Hi) == 0 }

func exactly(x *big.Rat) Value { return Value{Lo: x, Hi: x} }

func exactlyAll(numbers []*big.Rat) []Value {
	values := make([]Value, len(numbers))
	for i, number := range numbers {
		values[i] = exactly(number)
	}
	return values
}

// isLess compares values; those that are known to sixty digits differ by more or
// are equal.
func (v Value) isLess(w Value) bool {
	if v.Inf || w.Inf {
		return !v.Inf
	}
	return v.Lo.Cmp(w.Lo) < 0
}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }

// parseNumber reads a decimal number.
func parseNumber(text string) *big.Rat {
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("hostile: number " + text)
	}
	return number
}

func zeros(n int) []*big.Rat {
	values := make([]*big.Rat, n)
	for i := range values {
		values[i] = new(big.Rat)
	}
	return values
}
