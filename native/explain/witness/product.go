package witness

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
)

// product is the number of a product of weights; 0 is the empty product.
type product = uint32

// products stores products of weights as powers of coprime integers, so that two can be compared
// without expanding them.
type products struct {
	bases             []*big.Int
	baseIndex         map[string]int32 // of the bases, if they are not coprime
	baseLogs          []float64
	weightFactors     [][]power // of each weight
	factorizations    []string  // of each product, encoded
	logs              []float64 // of each product, approximately
	logErr            []float64 // absolute error of logs
	idOfFactorization map[string]product
	mulCache          map[uint64]product
}

// power is a base, by number, with a nonzero exponent.
type power struct {
	base     int32
	exponent int32
}

func newProducts(weights []*big.Rat) *products {
	p := &products{idOfFactorization: map[string]product{"": 0}, mulCache: map[uint64]product{}, factorizations: []string{""}, logs: []float64{0}, logErr: []float64{0}}
	if p.bases = distinctIntegers(weights); len(p.bases) <= maxCoprime {
		p.bases = coprimeBase(p.bases)
	} else {
		p.baseIndex = map[string]int32{}
		for i, b := range p.bases {
			p.baseIndex[b.String()] = int32(i)
		}
	}
	for _, b := range p.bases {
		p.baseLogs = append(p.baseLogs, logOf(b))
	}
	p.weightFactors = make([][]power, len(weights))
	for i, w := range weights {
		p.weightFactors[i] = p.factorize(w)
	}
	return p
}

// logOf returns the natural logarithm of an integer, with a relative error of a few units in the last
// place.
func logOf(b *big.Int) float64 {
	exponent := b.BitLen()
	mantissa, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(b), -exponent).Float64()
	return math.Log(mantissa) + float64(exponent)*math.Ln2
}

// maxCoprime limits the integers that are made coprime, which takes quadratic time. If there are more,
// equal products may have different numbers; compare still finds them equal.
const maxCoprime = 1500

// distinctIntegers returns the distinct numerators and denominators that are not 1.
func distinctIntegers(weights []*big.Rat) []*big.Int {
	seen := map[string]bool{}
	var out []*big.Int
	for _, w := range weights {
		for _, x := range []*big.Int{w.Num(), w.Denom()} {
			if x.Cmp(one) > 0 && !seen[x.String()] {
				seen[x.String()] = true
				out = append(out, x)
			}
		}
	}
	return out
}

// coprimeBase returns pairwise coprime integers greater than 1, such that each of the given integers is
// a product of them.
//
// Source: factor refinement, Bach, Driscoll and Shallit (1993), in its simplest form.
func coprimeBase(todo []*big.Int) []*big.Int {
	var out []*big.Int
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i := slices.IndexFunc(out, func(b *big.Int) bool { return new(big.Int).GCD(nil, nil, b, x).Cmp(one) > 0 })
		if i < 0 {
			out = append(out, x)
			continue
		}
		b := out[i]
		g := new(big.Int).GCD(nil, nil, b, x)
		out = slices.Delete(out, i, i+1)
		for _, y := range []*big.Int{new(big.Int).Quo(b, g), new(big.Int).Quo(x, g), g} {
			if y.Cmp(one) > 0 {
				todo = append(todo, y)
			}
		}
	}
	slices.SortFunc(out, (*big.Int).Cmp)
	return out
}

var one = big.NewInt(1)

// factorize writes a weight as powers of the bases.
func (p *products) factorize(w *big.Rat) []power {
	var out []power
	if p.baseIndex != nil {
		for _, x := range []struct {
			of   *big.Int
			sign int32
		}{{w.Num(), 1}, {w.Denom(), -1}} {
			if i, ok := p.baseIndex[x.of.String()]; ok {
				out = mergePowers(out, []power{{i, x.sign}}, 1)
			}
		}
		return out
	}
	num, den := new(big.Int).Set(w.Num()), new(big.Int).Set(w.Denom())
	for i, b := range p.bases {
		if num.Cmp(one) == 0 && den.Cmp(one) == 0 {
			break
		}
		if e := divideOut(num, b) - divideOut(den, b); e != 0 {
			out = append(out, power{int32(i), e})
		}
	}
	return out
}

// divideOut divides x by b as often as possible, and returns how often.
func divideOut(x, b *big.Int) int32 {
	var n int32
	q, r := new(big.Int), new(big.Int)
	for {
		if q.QuoRem(x, b, r); r.Sign() != 0 {
			return n
		}
		x.Set(q)
		n++
	}
}

// mul returns a product times a weight.
func (p *products) mul(a product, weight uint32) product {
	if len(p.weightFactors[weight]) == 0 {
		return a
	}
	key := uint64(a)<<32 | uint64(weight)
	if c, ok := p.mulCache[key]; ok {
		return c
	}
	sum := mergePowers(decode(p.factorizations[a]), p.weightFactors[weight], 1)
	text := encode(sum)
	c, ok := p.idOfFactorization[text]
	if !ok {
		c = product(len(p.factorizations))
		log, slack := p.logWithErr(sum)
		p.idOfFactorization[text] = c
		p.factorizations, p.logs, p.logErr = append(p.factorizations, text), append(p.logs, log), append(p.logErr, slack)
	}
	p.mulCache[key] = c
	return c
}

// logWithErr returns the logarithm of a factorization, and a bound on its rounding error.
func (p *products) logWithErr(v []power) (log, slack float64) {
	magnitude := 0.0
	for _, f := range v {
		x := float64(f.exponent) * p.baseLogs[f.base]
		log += x
		magnitude += math.Abs(x)
	}
	return log, magnitude * (float64(len(v)) + 8) * 0x1p-52
}

// compare compares two products exactly.
func (p *products) compare(a, b product) int {
	if a == b {
		return 0
	}
	if d := p.logs[a] - p.logs[b]; math.Abs(d) > p.logErr[a]+p.logErr[b] {
		return cmp.Compare(d, 0)
	}
	quotient := mergePowers(decode(p.factorizations[a]), decode(p.factorizations[b]), -1)
	num, den := p.expand(quotient)
	return num.Cmp(den)
}

// rat returns a product as a fraction.
func (p *products) rat(a product) *big.Rat {
	num, den := p.expand(decode(p.factorizations[a]))
	return new(big.Rat).SetFrac(num, den)
}

func (p *products) expand(v []power) (num, den *big.Int) {
	num, den = big.NewInt(1), big.NewInt(1)
	for _, f := range v {
		x := num
		if f.exponent < 0 {
			x = den
		}
		e := big.NewInt(max(int64(f.exponent), -int64(f.exponent)))
		x.Mul(x, e.Exp(p.bases[f.base], e, nil))
	}
	return num, den
}

// mergePowers returns the factorization a * b^sign.
func mergePowers(a, b []power, sign int32) []power {
	out := make([]power, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].base < b[0].base:
			out = append(out, a[0])
			a = a[1:]
		case len(a) == 0 || b[0].base < a[0].base:
			out = append(out, power{b[0].base, sign * b[0].exponent})
			b = b[1:]
		default:
			if e := a[0].exponent + sign*b[0].exponent; e != 0 {
				out = append(out, power{a[0].base, e})
			}
			a, b = a[1:], b[1:]
		}
	}
	return out
}

func encode(v []power) string {
	var out []byte
	for _, f := range v {
		out = binary.AppendUvarint(out, uint64(f.base))
		out = binary.AppendVarint(out, int64(f.exponent))
	}
	return string(out)
}

func decode(text string) []power {
	var out []power
	for b := []byte(text); len(b) > 0; {
		base, n := binary.Uvarint(b)
		e, m := binary.Varint(b[n:])
		out = append(out, power{int32(base), int32(e)})
		b = b[n+m:]
	}
	return out
}
