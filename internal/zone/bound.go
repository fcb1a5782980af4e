package zone

import (
	"fmt"
	"math"
)

// Bound is an upper bound of the difference of two clocks: a number, and whether the difference may be equal to it. A smaller Bound is
// tighter.
type Bound int64

// Infinite is the bound that every number satisfies.
const Infinite Bound = math.MaxInt64

// AtMost returns the bound <= n.
func AtMost(n int64) Bound { return Bound(2*n + 1) }

// Below returns the bound < n.
func Below(n int64) Bound { return Bound(2 * n) }

// number returns the number of a finite bound.
func (b Bound) number() int64 { return int64(b >> 1) }

// isStrict reports whether the difference must be smaller than the number.
func (b Bound) isStrict() bool { return b&1 == 0 }

// plus returns the bound of a sum of two differences.
func (b Bound) plus(other Bound) Bound {
	if b == Infinite || other == Infinite {
		return Infinite
	}
	return (b>>1+other>>1)<<1 | b&other&1
}

// Negated returns the bound of y-x that holds if and only if x-y does not satisfy b, which must be finite.
func (b Bound) Negated() Bound {
	if b.isStrict() {
		return AtMost(-b.number())
	}
	return Below(-b.number())
}

// allows reports whether a difference satisfies the bound.
func (b Bound) allows(difference float64) bool {
	switch {
	case b == Infinite:
		return true
	case b.isStrict():
		return difference < float64(b.number())
	}
	return difference <= float64(b.number())
}

func (b Bound) String() string {
	switch {
	case b == Infinite:
		return "<inf"
	case b.isStrict():
		return fmt.Sprintf("<%d", b.number())
	}
	return fmt.Sprintf("<=%d", b.number())
}
