package strategy

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
)

// distribution is the exact distribution of a random integer. It is immutable.
type distribution struct {
	values  []int64    // ascending, without duplicates
	weights []*big.Int // positive, by value; the probability is the weight divided by total
	total   *big.Int   // sum of the weights
}

// constant returns the distribution of the constant v.
func constant(v int64) *distribution {
	return &distribution{values: []int64{v}, weights: []*big.Int{big.NewInt(1)}, total: big.NewInt(1)}
}

// newDistribution returns the distribution with these weights. It leaves out weights of 0 and divides by the greatest common divisor.
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

// size estimates the memory of the distribution in machine words.
func (d *distribution) size() float64 {
	return float64(len(d.values)) * (valueWords + wordCount(d.total))
}

// valueWords is the memory of a value in machine words, without the digits of its weight.
const valueWords = 6

// wordCount returns the length of x in machine words, at least 1.
func wordCount(x *big.Int) float64 { return float64(max(1, len(x.Bits()))) }

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

// mixturePart is a component of a mixture. It is drawn with a probability in proportion to its weight, which is positive.
type mixturePart struct {
	*distribution
	weight int64
}

// mixture returns the distribution of a value that is drawn from a randomly drawn part.
func mixture(parts []mixturePart, b *workLimit) (*distribution, error) {
	common := big.NewInt(1)
	for _, p := range parts {
		common = lcm(common, p.total)
	}
	weights := map[int64]*big.Int{}
	for _, p := range parts {
		if err := b.addWork(float64(len(p.values)) * wordCount(common)); err != nil {
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
	return d, b.addWords(d.size())
}

func lcm(a, b *big.Int) *big.Int {
	gcd := new(big.Int).GCD(nil, nil, a, b)
	return gcd.Mul(new(big.Int).Quo(a, gcd), b)
}

// maximum returns the distribution of the largest of independent values with the distributions ds; len(ds) >= 1.
func maximum(ds []*distribution, b *workLimit) (*distribution, error) {
	if len(ds) == 1 {
		return ds[0], nil
	}
	s := newValueSweep(ds)
	weights := map[int64]*big.Int{}
	below := new(big.Int) // product of the weights of all smaller values
	for s.next() {
		upTo := big.NewInt(1)
		for i := range ds {
			if err := b.addWork(wordCount(upTo) * wordCount(s.weightUpTo[i])); err != nil {
				return nil, err
			}
			upTo.Mul(upTo, s.weightUpTo[i])
		}
		weights[s.value] = new(big.Int).Sub(upTo, below)
		below = upTo
	}
	d := newDistribution(weights)
	return d, b.addWords(d.size())
}

// valueSweep visits the values of several distributions in ascending order.
type valueSweep struct {
	ds          []*distribution
	remaining   []int64
	value       int64      // the current value
	weightAt    []*big.Int // by distribution: weight of value, nil if it does not have value
	weightBelow []*big.Int // by distribution: weight of all smaller values
	weightUpTo  []*big.Int // by distribution: weight of value and all smaller values
}

func newValueSweep(ds []*distribution) *valueSweep {
	s := &valueSweep{ds: ds, weightAt: make([]*big.Int, len(ds)), weightBelow: make([]*big.Int, len(ds)), weightUpTo: make([]*big.Int, len(ds))}
	for i, d := range ds {
		s.remaining = append(s.remaining, d.values...)
		s.weightUpTo[i] = new(big.Int)
	}
	slices.Sort(s.remaining)
	s.remaining = slices.Compact(s.remaining)
	return s
}

// next advances to the next value and reports whether there is one.
func (s *valueSweep) next() bool {
	if len(s.remaining) == 0 {
		return false
	}
	s.value, s.remaining = s.remaining[0], s.remaining[1:]
	for i, d := range s.ds {
		s.weightBelow[i], s.weightAt[i] = s.weightUpTo[i], nil
		if at, ok := slices.BinarySearch(d.values, s.value); ok {
			s.weightAt[i] = d.weights[at]
			s.weightUpTo[i] = new(big.Int).Add(s.weightUpTo[i], s.weightAt[i])
		}
	}
	return true
}

// sum returns the distribution of the sum of n independent copies; n is at least 1.
//
// Its weights are the coefficients of the n-th power of the polynomial with coefficients a_i. The coefficients c_k of the power satisfy
// k a_0 c_k = sum over i from 1 to k of (i(n+1) - k) a_i c_(k-i). One factor of every product is short, so this is faster than repeated
// squaring.
//
// Source: J.C.P. Miller's algorithm, in Knuth, The Art of Computer Programming, volume 2, section 4.7.
func (d *distribution) sum(n int, b *workLimit) (*distribution, error) {
	least := d.values[0]
	if n == 1 {
		return d, nil
	}
	if len(d.values) == 1 {
		return constant(least * int64(n)), nil
	}
	step := d.step()
	degree := n * int((d.values[len(d.values)-1]-least)/step)
	short := wordCount(d.total)
	// Each coefficient of the power needs one multiplication per coefficient of the polynomial, and one division.
	if err := b.addWork(float64(degree) * float64(len(d.values)) * short * short * float64(n)); err != nil {
		return nil, err
	}
	if err := b.addWords(float64(degree) * (valueWords + short*float64(n))); err != nil {
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

// step returns the greatest common divisor of all differences between values; there are at least two values.
func (d *distribution) step() int64 {
	step := new(big.Int)
	for _, v := range d.values[1:] {
		step.GCD(nil, nil, step, big.NewInt(v-d.values[0]))
	}
	return step.Int64()
}

// Limits of one call of Decide. They keep it within about 20 seconds and 300 MB.
const (
	maxWork  = 1 << 34 // multiplications of machine words
	maxWords = 1 << 24 // machine words of distributions
)

// workLimit counts the work and the memory of one call of Decide. The counts are floating point, because products of sizes could overflow integers.
type workLimit struct{ work, words float64 }

// addWork counts multiplications of machine words. The error is ErrTooLarge above maxWork.
func (b *workLimit) addWork(n float64) error {
	if b.work += n; b.work > maxWork {
		return fmt.Errorf("%w: more than 2^34 multiplications of machine words", ErrTooLarge)
	}
	return nil
}

// addWords counts the machine words of a distribution. The error is ErrTooLarge above maxWords.
func (b *workLimit) addWords(words float64) error {
	if b.words += words; b.words > maxWords {
		return fmt.Errorf("%w: more than 2^24 machine words of distributions", ErrTooLarge)
	}
	return nil
}
