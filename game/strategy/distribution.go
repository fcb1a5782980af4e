package strategy

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
)

// distribution is the exact distribution of a random integer. It is not modified once made.
type distribution struct {
	values  []int64    // ascending, no two equal
	weights []*big.Int // of each value, positive; the probability is the weight over total
	total   *big.Int   // the sum of the weights
}

// point is the distribution of v itself.
func point(v int64) *distribution {
	return &distribution{values: []int64{v}, weights: []*big.Int{big.NewInt(1)}, total: big.NewInt(1)}
}

// newDistribution takes weights that need not be positive or in lowest terms, and leaves out the zeros.
func newDistribution(weights map[int64]*big.Int) *distribution {
	d := &distribution{total: new(big.Int)}
	common := new(big.Int)
	for _, v := range slices.Sorted(maps.Keys(weights)) {
		w := weights[v]
		if w.Sign() == 0 {
			continue
		}
		d.values, d.weights = append(d.values, v), append(d.weights, w)
		d.total.Add(d.total, w)
		common.GCD(nil, nil, common, w)
	}
	if common.BitLen() > 1 {
		for _, w := range append(d.weights, d.total) {
			w.Quo(w, common)
		}
	}
	return d
}

// words is about the memory it takes, in machine words.
func (d *distribution) words() float64 {
	return float64(len(d.values)) * (valueWords + wordsOf(d.total))
}

// valueWords is the memory of a value besides the digits of its weight: itself, the pointer and the big.Int.
const valueWords = 6

// wordsOf returns the length of x in machine words, at least 1.
func wordsOf(x *big.Int) float64 { return float64(max(1, len(x.Bits()))) }

// shifted returns the distribution of the value plus by.
func (d *distribution) shifted(by int64) *distribution {
	if by == 0 {
		return d
	}
	out := *d
	out.values = make([]int64, len(d.values))
	for i, v := range d.values {
		out.values[i] = v + by
	}
	return &out
}

// part is a distribution that a mixture draws from with a probability in proportion to its weight, which is positive.
type part struct {
	*distribution
	weight int64
}

// mixture returns the distribution of a value drawn from a part that is drawn first.
func mixture(parts []part, b *budget) (*distribution, error) {
	common := big.NewInt(1)
	for _, p := range parts {
		common = lcm(common, p.total)
	}
	weights := map[int64]*big.Int{}
	for _, p := range parts {
		if err := b.work(float64(len(p.values)) * wordsOf(common)); err != nil {
			return nil, err
		}
		factor := new(big.Int).Quo(common, p.total)
		factor.Mul(factor, big.NewInt(p.weight))
		for i, v := range p.values {
			if weights[v] == nil {
				weights[v] = new(big.Int)
			}
			weights[v].Add(weights[v], new(big.Int).Mul(factor, p.weights[i]))
		}
	}
	d := newDistribution(weights)
	return d, b.room(d.words())
}

func lcm(a, b *big.Int) *big.Int {
	gcd := new(big.Int).GCD(nil, nil, a, b)
	return gcd.Mul(new(big.Int).Quo(a, gcd), b)
}

// maximum returns the distribution of the largest of independent values, one of each of ds, of which there is at least one.
func maximum(ds []*distribution, b *budget) (*distribution, error) {
	if len(ds) == 1 {
		return ds[0], nil
	}
	s := newSweep(ds)
	weights := map[int64]*big.Int{}
	below := new(big.Int) // the product of the weights of all smaller values
	for s.next() {
		upTo := big.NewInt(1)
		for i := range ds {
			if err := b.work(wordsOf(upTo) * wordsOf(s.upTo[i])); err != nil {
				return nil, err
			}
			upTo.Mul(upTo, s.upTo[i])
		}
		weights[s.value] = new(big.Int).Sub(upTo, below)
		below = upTo
	}
	d := newDistribution(weights)
	return d, b.room(d.words())
}

// sweep goes through the values of several distributions in ascending order.
type sweep struct {
	ds    []*distribution
	left  []int64
	value int64
	at    []*big.Int // by distribution: the weight of value, nil for none
	below []*big.Int // by distribution: the weight of all smaller values
	upTo  []*big.Int // by distribution: the weight of all values up to this one
}

func newSweep(ds []*distribution) *sweep {
	s := &sweep{ds: ds, at: make([]*big.Int, len(ds)), below: make([]*big.Int, len(ds)), upTo: make([]*big.Int, len(ds))}
	for i, d := range ds {
		s.left = append(s.left, d.values...)
		s.upTo[i] = new(big.Int)
	}
	slices.Sort(s.left)
	s.left = slices.Compact(s.left)
	return s
}

// next goes to the next value and reports whether there is one.
func (s *sweep) next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.value, s.left = s.left[0], s.left[1:]
	for i, d := range s.ds {
		s.below[i], s.at[i] = s.upTo[i], nil
		if at, ok := slices.BinarySearch(d.values, s.value); ok {
			s.at[i] = d.weights[at]
			s.upTo[i] = new(big.Int).Add(s.upTo[i], s.at[i])
		}
	}
	return true
}

// sum returns the distribution of the sum of n independent copies; n is at least 1.
//
// The weights are the coefficients of the n-th power of the polynomial with coefficients a. With c for those of the power,
// k a_0 c_k = sum over i from 1 to k of (i(n+1) - k) a_i c_(k-i): every product has one short factor, which makes this faster than
// repeated squaring.
//
// Source: J.C.P. Miller's algorithm, in Knuth, The Art of Computer Programming, volume 2, section 4.7.
func (d *distribution) sum(n int, b *budget) (*distribution, error) {
	least := d.values[0]
	if n == 1 {
		return d, nil
	}
	if len(d.values) == 1 {
		return point(least * int64(n)), nil
	}
	step := d.step()
	degree := n * int((d.values[len(d.values)-1]-least)/step)
	short := wordsOf(d.total)
	// Each coefficient of the power takes a product for each of the polynomial, and a division.
	if err := b.work(float64(degree) * float64(len(d.values)) * short * short * float64(n)); err != nil {
		return nil, err
	}
	if err := b.room(float64(degree) * (valueWords + short*float64(n))); err != nil {
		return nil, err
	}
	power := make([]*big.Int, degree+1)
	power[0] = new(big.Int).Exp(d.weights[0], big.NewInt(int64(n)), nil)
	product, factor := new(big.Int), new(big.Int)
	for k := 1; k < len(power); k++ {
		c := new(big.Int)
		for j, v := range d.values[1:] {
			i := int((v - least) / step)
			if i > k {
				break
			}
			factor.Mul(d.weights[j+1], product.SetInt64(int64(i)*int64(n+1)-int64(k)))
			c.Add(c, product.Mul(factor, power[k-i]))
		}
		power[k] = c.Quo(c, factor.Mul(d.weights[0], product.SetInt64(int64(k))))
	}
	weights := make(map[int64]*big.Int, len(power))
	for k, c := range power {
		weights[least*int64(n)+int64(k)*step] = c
	}
	return newDistribution(weights), nil
}

// step returns the largest number that all differences between values are multiples of; there are at least two values.
func (d *distribution) step() int64 {
	step := new(big.Int)
	for _, v := range d.values[1:] {
		step.GCD(nil, nil, step, big.NewInt(v-d.values[0]))
	}
	return step.Int64()
}

// The bounds of one call of Decide. They keep it within about 20 seconds and 300 MB.
const (
	maxWork  = 1 << 34 // multiplications of machine words
	maxWords = 1 << 24 // machine words of distributions
)

// budget counts what one call of Decide takes. The counts are floating point: products of sizes must not wrap round.
type budget struct{ done, made float64 }

// work announces multiplications of machine words. The error is an ErrTooLarge.
func (b *budget) work(n float64) error {
	if b.done += n; b.done > maxWork {
		return fmt.Errorf("%w: more than 2^34 multiplications of machine words", ErrTooLarge)
	}
	return nil
}

// room announces a distribution of so many machine words. The error is an ErrTooLarge.
func (b *budget) room(words float64) error {
	if b.made += words; b.made > maxWords {
		return fmt.Errorf("%w: more than 2^24 machine words of distributions", ErrTooLarge)
	}
	return nil
}
