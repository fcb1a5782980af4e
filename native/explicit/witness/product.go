package witness

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
)

// product is a product of weights, by number: 0 is the empty one.
type product = uint32

// products knows every product that was asked for, as powers of coprime
// integers, so that two are compared without multiplying them out.
type products struct {
	bases   []*big.Int
	index   map[string]int32 // of the bases, where they are not coprime
	logs    []float64        // of the bases
	weights [][]power        // of each weight
	vectors []string         // of each product, encoded
	log     []float64        // of each product, about
	slack   []float64        // by how much that may be wrong
	known   map[string]product
	times   map[uint64]product
}

// power is a base, by number, with an exponent that is not 0.
type power struct {
	base     int32
	exponent int32
}

func newProducts(weights []*big.Rat) *products {
	p := &products{known: map[string]product{"": 0}, times: map[uint64]product{}, vectors: []string{""}, log: []float64{0}, slack: []float64{0}}
	if p.bases = integers(weights); len(p.bases) <= maxRefined {
		p.bases = coprime(p.bases)
	} else {
		p.index = map[string]int32{}
		for i, b := range p.bases {
			p.index[b.String()] = int32(i)
		}
	}
	for _, b := range p.bases {
		p.logs = append(p.logs, logOf(b))
	}
	p.weights = make([][]power, len(weights))
	for i, w := range weights {
		p.weights[i] = p.factors(w)
	}
	return p
}

// logOf is the logarithm of an integer, with a relative error of some units in the last place.
func logOf(b *big.Int) float64 {
	exponent := b.BitLen()
	mantissa, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(b), -exponent).Float64()
	return math.Log(mantissa) + float64(exponent)*math.Ln2
}

// maxRefined is how many integers are made coprime, which takes the square of
// their number. Where there are more, products that are equal may have different
// numbers: then compare finds out.
const maxRefined = 1500

// integers returns the numerators and denominators that are not 1, each once.
func integers(weights []*big.Rat) []*big.Int {
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

// coprime returns integers greater than 1, no two of which have a common factor,
// of which every one of the given is a product.
//
// Source: factor refinement, Bach, Driscoll and Shallit (1993), in its simplest form.
func coprime(todo []*big.Int) []*big.Int {
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

// factors writes a weight as powers of the bases.
func (p *products) factors(w *big.Rat) []power {
	var out []power
	if p.index != nil {
		for _, x := range []struct {
			of   *big.Int
			sign int32
		}{{w.Num(), 1}, {w.Denom(), -1}} {
			if i, ok := p.index[x.of.String()]; ok {
				out = merge(out, []power{{i, x.sign}}, 1)
			}
		}
		return out
	}
	num, den := new(big.Int).Set(w.Num()), new(big.Int).Set(w.Denom())
	for i, b := range p.bases {
		if num.Cmp(one) == 0 && den.Cmp(one) == 0 {
			break
		}
		if e := divide(num, b) - divide(den, b); e != 0 {
			out = append(out, power{int32(i), e})
		}
	}
	return out
}

// divide divides x by b as often as it can.
func divide(x, b *big.Int) int32 {
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
	if len(p.weights[weight]) == 0 {
		return a
	}
	key := uint64(a)<<32 | uint64(weight)
	if c, ok := p.times[key]; ok {
		return c
	}
	sum := merge(decode(p.vectors[a]), p.weights[weight], 1)
	text := encode(sum)
	c, ok := p.known[text]
	if !ok {
		c = product(len(p.vectors))
		log, slack := p.estimate(sum)
		p.known[text] = c
		p.vectors, p.log, p.slack = append(p.vectors, text), append(p.log, log), append(p.slack, slack)
	}
	p.times[key] = c
	return c
}

// estimate returns the logarithm of a vector, and how far it may be off: every
// addend has a few roundings, of its own size.
func (p *products) estimate(v []power) (log, slack float64) {
	size := 0.0
	for _, f := range v {
		x := float64(f.exponent) * p.logs[f.base]
		log += x
		size += math.Abs(x)
	}
	return log, size * (float64(len(v)) + 8) * 0x1p-52
}

// compare orders products by size, exactly.
func (p *products) compare(a, b product) int {
	if a == b {
		return 0
	}
	if d := p.log[a] - p.log[b]; math.Abs(d) > p.slack[a]+p.slack[b] {
		return cmp.Compare(d, 0)
	}
	quotient := merge(decode(p.vectors[a]), decode(p.vectors[b]), -1)
	num, den := p.multiplied(quotient)
	return num.Cmp(den)
}

// rat returns a product as a fraction.
func (p *products) rat(a product) *big.Rat {
	num, den := p.multiplied(decode(p.vectors[a]))
	return new(big.Rat).SetFrac(num, den)
}

func (p *products) multiplied(v []power) (num, den *big.Int) {
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

// merge adds vectors, the second one times sign.
func merge(a, b []power, sign int32) []power {
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
