package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// interval is what a number is known to be between, if it is not known exactly.
// A number that is infinite or not a number has two equal ends; one that may be
// anything is between the infinities.
type interval struct{ lo, hi float64 }

func point(f float64) interval { return interval{f, f} }

func vague() interval { return interval{math.Inf(-1), math.Inf(1)} }

// known reports whether the number is the one double that both ends are.
func (x interval) known() bool { return x.lo == x.hi || x.lo != x.lo }

// vague reports whether nothing is known, not even whether there is a number.
func (x interval) vague() bool { return math.IsInf(x.lo, -1) && math.IsInf(x.hi, 1) }

// around returns the doubles next to a fraction.
func around(r *big.Rat) interval {
	f, exact := r.Float64()
	switch {
	case exact:
		return point(f)
	case math.IsInf(f, 1):
		return interval{math.MaxFloat64, f}
	case math.IsInf(f, -1):
		return interval{f, -math.MaxFloat64}
	}
	return interval{math.Nextafter(f, math.Inf(-1)), math.Nextafter(f, math.Inf(1))}
}

// widen moves the ends apart by some units in the last place, or by 2^-40 of
// them for functions. An infinite end stays, but no finite number becomes one.
func (x interval) widen(relative float64) interval {
	if x.known() && (math.IsInf(x.lo, 0) || x.lo != x.lo) {
		return x
	}
	lo := min(x.lo-math.Abs(x.lo)*relative, math.MaxFloat64)
	hi := max(x.hi+math.Abs(x.hi)*relative, -math.MaxFloat64)
	return interval{math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))}
}

// The errors of one operation, which widen rounds up, and of Pow and Log, which
// are good for some units in the last place.
const (
	rounded   = 0x1p-52
	evaluated = 0x1p-40
)

// corners applies an operation that is monotonic in each operand to the ends.
func corners(x, y interval, relative float64, f func(x, y float64) float64) interval {
	if x.vague() || y.vague() {
		return vague()
	}
	out := point(f(x.lo, y.lo))
	if x.known() && y.known() && (math.IsInf(out.lo, 0) || out.lo != out.lo) && (special(x) || special(y)) {
		return out // IEEE arithmetic on infinities is what PRISM means
	}
	for _, a := range []float64{x.lo, x.hi} {
		for _, b := range []float64{y.lo, y.hi} {
			z := f(a, b)
			if z != z {
				return vague()
			}
			out.lo, out.hi = min(out.lo, z), max(out.hi, z)
		}
	}
	if special(x) || special(y) {
		return out
	}
	// Sums and products that are too large are finite numbers all the same.
	return interval{min(out.lo, math.MaxFloat64), max(out.hi, -math.MaxFloat64)}.widen(relative)
}

// special reports whether a number is infinite, or none.
func special(x interval) bool { return x.known() && (math.IsInf(x.lo, 0) || x.lo != x.lo) }

func (x interval) arith(op syntax.Op, y interval) interval {
	return corners(x, y, rounded, func(a, b float64) float64 { return arith(op, a, b) })
}

func (x interval) quo(y interval) interval {
	if y.lo <= 0 && y.hi >= 0 && !(y.known() && (x.lo > 0 || x.hi < 0 || x.known())) {
		return vague()
	}
	if y.known() && y.lo == 0 {
		return point(x.lo / y.lo)
	}
	return corners(x, y, rounded, func(a, b float64) float64 { return a / b })
}

// pow is x to the power of y where that is no fraction.
func (x interval) pow(y interval) interval {
	f := Pow(x.lo, y.lo)
	switch {
	case x.known() && y.known() && (special(x) || special(y) || special(point(f)) && (x.lo == 0 || x.lo < 0 && f != f)):
		return point(f)
	case x.lo > 0 && y.known() && y.lo == 0.5: // rounded once
		return corners(x, y, rounded, Pow)
	case x.lo > 0:
		return corners(x, y, evaluated, Pow)
	case x.hi < 0 && y.known() && y.lo == math.Trunc(y.lo) && math.Abs(y.lo) < 1<<53:
		out := interval{-x.hi, -x.lo}.pow(y)
		if math.Mod(y.lo, 2) != 0 {
			return interval{-out.hi, -out.lo}
		}
		return out
	}
	return vague()
}

// log is the logarithm of x to base b where that is no fraction.
func (x interval) log(b interval) interval {
	f := Log(x.lo, b.lo)
	switch {
	case x.known() && b.known() && (special(x) || special(b) || special(point(f))):
		return point(f)
	case b.known() && (b.lo <= 0 || b.lo == 1) || x.known() && x.lo < 0:
		return point(math.NaN())
	case x.lo > 0 && b.lo > 0:
		return interval{naturalLog(x.lo), naturalLog(x.hi)}.widen(rounded).quo(interval{naturalLog(b.lo), naturalLog(b.hi)}.widen(rounded))
	}
	return vague()
}

// compare applies = != < <= > >=; ok is false where the intervals do not tell.
func (x interval) compare(op syntax.Op, y interval) (holds, ok bool) {
	switch {
	case x.vague() || y.vague():
		return false, false
	case x.lo != x.lo || y.lo != y.lo: // NaN equals NaN in PRISM
		both := x.lo != x.lo && y.lo != y.lo
		return op == syntax.OpEq && both || op == syntax.OpNe && !both, true
	case x.hi < y.lo:
		return Holds(op, -1), true
	case x.lo > y.hi:
		return Holds(op, +1), true
	case x.known() && y.known():
		return Holds(op, 0), true
	}
	return false, false
}

// root returns the q-th root of a fraction that has one, q from 2 to 64.
func root(r *big.Rat, q int64) *big.Rat {
	num, den := intRoot(r.Num(), q), intRoot(r.Denom(), q)
	if r.Sign() <= 0 || num == nil || den == nil {
		return nil
	}
	return new(big.Rat).SetFrac(num, den)
}

// intRoot returns the q-th root of a positive number, nil if it is no integer.
func intRoot(n *big.Int, q int64) *big.Int {
	if n.Sign() <= 0 {
		return nil
	}
	x := new(big.Int).Lsh(big.NewInt(1), uint(int64(n.BitLen())/q+1)) // above the root
	e, less := big.NewInt(q), big.NewInt(q-1)
	for { // Newton's method from above
		y := new(big.Int).Exp(x, less, nil)
		y.Quo(n, y)
		y.Add(y, new(big.Int).Mul(less, x)).Quo(y, e)
		if y.Cmp(x) >= 0 {
			break
		}
		x = y
	}
	if new(big.Int).Exp(x, e, nil).Cmp(n) != 0 {
		return nil
	}
	return x
}

// maxRoot is the greatest denominator of an exponent or logarithm that is tried.
const maxRoot = 12

// log returns the logarithm of x to base b if it is a fraction with a small
// denominator: p/q with x^q = b^p.
func (r rat) log(b rat) rat {
	if r.Sign() <= 0 || b.Sign() <= 0 || b.IsInt() && b.Num().IsInt64() && b.Num().Int64() == 1 {
		return rat{}
	}
	x, _ := r.Float64()
	y, _ := b.Float64()
	f := Log(x, y)
	if !(math.Abs(f) < maxRatBits) {
		return rat{}
	}
	for q := int64(1); q <= maxRoot; q++ {
		p := int64(math.Round(f * float64(q)))
		k, n := rat{big.NewRat(q, 1)}, rat{big.NewRat(p, 1)}
		if math.Abs(f*float64(q)-float64(p)) > 1e-6 {
			continue
		}
		left, right := r.pow(k), b.pow(n)
		if left.Rat != nil && right.Rat != nil && left.cmp(right) == 0 {
			return rat{big.NewRat(p, q)}
		}
	}
	return rat{}
}
