package sema

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
)

// narrowEnclosure checks that an enclosure contains a number, up to a relative
// error of that, and is as narrow as 2^-bits of it.
func narrowEnclosure(t *testing.T, what string, x enclosure, want *big.Rat, off float64, bits int) {
	t.Helper()
	if !x.isFinite() {
		t.Errorf("%s: found no ends, want some around %s", what, want.FloatString(30))
		return
	}
	lo, _ := x.low.Rat(nil)
	hi, _ := x.high.Rat(nil)
	magnitude := new(big.Rat).Abs(want)
	slack := new(big.Rat).Mul(magnitude, new(big.Rat).SetFloat64(off))
	if lo.Cmp(new(big.Rat).Add(want, slack)) > 0 || hi.Cmp(new(big.Rat).Sub(want, slack)) < 0 {
		t.Errorf("%s = [%s, %s], want %s within", what, lo.FloatString(90), hi.FloatString(90), want.FloatString(90))
	}
	width := new(big.Rat).Sub(hi, lo)
	if width.Cmp(magnitude.Mul(magnitude, new(big.Rat).SetFloat64(math.Ldexp(1, -bits)))) > 0 {
		f, _ := width.Float64()
		t.Errorf("%s is %g wide, want less than 2^-%d of %s", what, f, bits, want.FloatString(30))
	}
}

func ratOf(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

// Powers and logarithms from Python's decimal with 90 digits.
func TestPowersByDigits(t *testing.T) {
	for _, test := range []struct{ x, y, want string }{
		{"2.718281828", "-0.3", "7.408182207192491923939313454267543075961421801075505998564334919290524692198e-1"},
		{"13", "3.8", "1.709955225712071741101623665049616182254052976316663319999968444202894244659e+4"},
		{"2.7", "-0.7", "4.989366021472701502854854170878121724435185036349107248788726596629169402197e-1"},
		{"1e-300", "0.123", "1.258925411794167210423954106395800606093617409466931069107923019526647615783e-37"},
		{"0.999999999", "0.3", "9.999999996999999998949999999404999999598374999702797499767191374810427262341e-1"},
		{"1.0000000000000000000000000000001", "-0.7", "9.999999999999999999999999999999300000000000000000000000000000059500000000000e-1"},
		{"1234567.891", "12.25", "4.178866282921273535477755302165464229188156809349481699362962778603676885069e+74"},
		{"2", "0.3333333333", "1.259921049865762807318788319556712877683843921183836385939785176959761700492e+0"},
		{"1e9", "-33.3", "1.995262314968879601352455396739535557986274315405346099229913667004930910698e-300"},
		{"0.5", "1000.5", "6.599170332783211573062602766116566782416776756806488245575819857646944336166e-302"},
		{"1e400", "0.5", "1e200"},
	} {
		x, y := rationalEnclosure(ratOf(t, test.x)), rationalEnclosure(ratOf(t, test.y))
		narrowEnclosure(t, test.x+"^"+test.y, x.pow(y, 0), ratOf(t, test.want), 1e-75, 220)
	}
	for _, test := range []struct{ x, b, want string }{
		{"3", "2", "1.584962500721156181453738943947816508759814407692481060455752654541098227794e+0"},
		{"1e-300", "10", "-300"},
		{"1.0000000000000000000000000000001", "2.5", "1.091356667937291445547537612472520004141469360343817810356507682638967950879e-31"},
		{"7.25", "0.3", "-1.645387222824920628878742988768396476180541161335021340732328467929838274814e+0"},
		{"1e250", "1.000001", "5.756465610716000747614229028296390711338186150902732131158117685829085079891e+8"},
	} {
		x, b := rationalEnclosure(ratOf(t, test.x)), rationalEnclosure(ratOf(t, test.b))
		narrowEnclosure(t, fmt.Sprintf("log(%s,%s)", test.x, test.b), x.log(b, 0), ratOf(t, test.want), 1e-75, 140)
	}
}

// The powers and logarithms of powers of fractions are fractions, which lie
// within: (r^q)^(p/q) = r^p, and the logarithm of r^p to base r^q is p/q.
func TestPowersOfPowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range needs.Some(300) {
		r := rational{big.NewRat(1+rng.Int64N(1<<rng.IntN(30)+1), 1+rng.Int64N(1<<rng.IntN(30)+1))}
		p, q := int64(rng.IntN(81)-40), int64(1+rng.IntN(40))
		base, want := r.pow(rational{big.NewRat(q, 1)}), r.pow(rational{big.NewRat(p, 1)})
		got := rationalEnclosure(base.Rat).pow(rationalEnclosure(big.NewRat(p, q)), 0)
		narrowEnclosure(t, fmt.Sprintf("(%s^%d)^(%d/%d)", r, q, p, q), got, want.Rat, 0, 220)
		if r.cmp(rational{big.NewRat(1, 1)}) != 0 && p != 0 {
			narrowEnclosure(t, fmt.Sprintf("log(%s^%d, %s^%d)", r, p, r, q), rationalEnclosure(want.Rat).log(rationalEnclosure(base.Rat), 0), big.NewRat(p, q), 0, 180)
		}
	}
}

// An enclosure of operands encloses the result: random ends, and points within.
func TestEnclosuresContain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	number := func() *big.Rat {
		x := new(big.Rat).SetFloat64(math.Ldexp(rng.Float64()-0.5, rng.IntN(20)-10))
		return x.Quo(x, big.NewRat(1+rng.Int64N(9), 1))
	}
	for range needs.Some(3000) {
		var in [2]enclosure
		var within [2]*big.Rat
		for i := range in {
			a, b := rationalEnclosure(number()), rationalEnclosure(number())
			in[i] = enclosure{low: smaller(a.low, b.low), high: larger(a.high, b.high)}
			lo, _ := in[i].low.Rat(nil)
			hi, _ := in[i].high.Rat(nil)
			at := big.NewRat(rng.Int64N(5), 4)
			within[i] = lo.Add(lo, at.Mul(at, hi.Sub(hi, lo)))
		}
		for name, op := range map[string]struct {
			in   enclosure
			want *big.Rat
		}{
			"+": {in[0].apply(syntax.OpAdd, in[1]), new(big.Rat).Add(within[0], within[1])},
			"-": {in[0].apply(syntax.OpSub, in[1]), new(big.Rat).Sub(within[0], within[1])},
			"*": {in[0].apply(syntax.OpMul, in[1]), new(big.Rat).Mul(within[0], within[1])},
		} {
			narrowEnclosure(t, name, op.in, op.want, 0, -200)
		}
		if out := in[0].dividedBy(in[1]); out.isFinite() {
			narrowEnclosure(t, "/", out, new(big.Rat).Quo(within[0], within[1]), 0, -200)
		} else if in[1].low.Sign()*in[1].high.Sign() > 0 {
			t.Errorf("quotient of %v and %v has no ends", in[0], in[1])
		}
	}
}

// What is infinite or none in IEEE arithmetic is that, and what can be anything
// is never an end.
func TestSpecialEnclosures(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	some := enclosure{low: roundingDown().SetInt64(-1), high: roundingUp().SetInt64(1)}
	half, two, zero := floatEnclosure(0.5), floatEnclosure(2), floatEnclosure(0)
	for i, test := range []struct {
		got  enclosure
		want enclosure
	}{
		{floatEnclosure(inf).apply(syntax.OpSub, floatEnclosure(inf)), floatEnclosure(nan)},
		{floatEnclosure(inf).apply(syntax.OpAdd, some), floatEnclosure(inf)},
		{floatEnclosure(inf).apply(syntax.OpMul, some), enclosure{isUnbounded: true}},
		{floatEnclosure(inf).apply(syntax.OpMul, half), floatEnclosure(inf)},
		{two.dividedBy(zero), floatEnclosure(inf)},
		{zero.dividedBy(zero), floatEnclosure(nan)},
		{some.dividedBy(zero), enclosure{isUnbounded: true}},
		{two.dividedBy(some), enclosure{isUnbounded: true}},
		{floatEnclosure(nan).apply(syntax.OpAdd, two), floatEnclosure(nan)},
		{zero.pow(floatEnclosure(-1), Pow(0, -1)), floatEnclosure(inf)},
		{floatEnclosure(-2).pow(half, Pow(-2, 0.5)), floatEnclosure(nan)},
		{some.pow(floatEnclosure(inf), Pow(1, inf)), enclosure{isUnbounded: true}},
		{zero.log(two, Log(0, 2)), floatEnclosure(-inf)},
		{zero.log(half, Log(0, 0.5)), floatEnclosure(inf)},
		{floatEnclosure(-1).log(two, Log(-1, 2)), floatEnclosure(nan)},
		{two.log(floatEnclosure(1), Log(2, 1)), floatEnclosure(nan)},
		{two.pow(floatEnclosure(1e10), inf), enclosure{isUnbounded: true}},
	} {
		if test.got.isFinite() || test.got.isUnbounded != test.want.isUnbounded || !SameFloat(test.got.specialValue, test.want.specialValue) {
			t.Errorf("%d: got %+v, want %+v", i, test.got, test.want)
		}
	}
	tiny := two.pow(floatEnclosure(-1e10), 0)
	if in := tiny.toInterval(); tiny.high.Sign() != 1 || in.low != 0 || in.high != 5e-324 {
		t.Errorf("2^-1e10 = %v, %v", tiny, in)
	}
	if got := floatEnclosure(-2).pow(floatEnclosure(-3), 0).toInterval(); got != (interval{-0.125, -0.125}) && !(got.low <= -0.125 && got.high >= -0.125 && got.high-got.low < 1e-15) {
		t.Errorf("(-2)^-3 = %v", got)
	}
}

func BenchmarkPower(b *testing.B) {
	x, y := rationalEnclosure(big.NewRat(27, 10)), rationalEnclosure(big.NewRat(-7, 10))
	for range b.N {
		x.pow(y, 0)
	}
}
