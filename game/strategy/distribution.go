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

// newDistribution returns the distribution of the values, which are the keys, with these weights. It omits weights of 0, and divides all weights by
// their greatest common divisor.
func newDistribution(weights map[int64]*big.Int) *distribution {
	result := &distribution{total: new(big.Int)}
	common := new(big.Int)
	for _, value := range slices.Sorted(maps.Keys(weights)) {
		weight := weights[value]
		if weight.Sign() == 0 {
			continue
		}
		result.values, result.weights = append(result.values, value), append(result.weights, weight)
		result.total.Add(result.total, weight)
		common.GCD(nil, nil, common, weight)
	}
	if common.BitLen() > 1 {
		for _, weight := range append(result.weights, result.total) {
			weight.Quo(weight, common)
		}
	}
	return result
}

// size estimates the memory of the distribution in machine words.
func (d *distribution) size() float64 {
	return float64(len(d.values)) * (valueWords + wordCount(d.total))
}

// valueWords is the memory of a value in machine words, without the digits of its weight.
const valueWords = 6

// wordCount returns the length of x in machine words, at least 1.
func wordCount(x *big.Int) float64 { return float64(max(1, len(x.Bits()))) }

// shifted returns the distribution of the sum of the value and an offset.
func (d *distribution) shifted(offset int64) *distribution {
	if offset == 0 {
		return d
	}
	moved := *d
	moved.values = make([]int64, len(d.values))
	for i, value := range d.values {
		moved.values[i] = value + offset
	}
	return &moved
}

// mixturePart is a component of a mixture. It is drawn with a probability in proportion to its weight, which is positive.
type mixturePart struct {
	*distribution
	weight int64
}

// mixture returns the distribution of a value from a randomly selected part. The probability of a part is proportional to its weight.
func mixture(parts []mixturePart, limit *workLimit) (*distribution, error) {
	common := big.NewInt(1)
	for _, part := range parts {
		common = lcm(common, part.total)
	}
	weights := map[int64]*big.Int{}
	for _, part := range parts {
		if err := limit.addWork(float64(len(part.values)) * wordCount(common)); err != nil {
			return nil, err
		}
		factor := new(big.Int).Quo(common, part.total)
		factor.Mul(factor, big.NewInt(part.weight))
		for i, value := range part.values {
			if weights[value] == nil {
				weights[value] = new(big.Int)
			}
			weights[value].Add(weights[value], new(big.Int).Mul(factor, part.weights[i]))
		}
	}
	mixed := newDistribution(weights)
	return mixed, limit.addWords(mixed.size())
}

func lcm(a, b *big.Int) *big.Int {
	gcd := new(big.Int).GCD(nil, nil, a, b)
	return gcd.Mul(new(big.Int).Quo(a, gcd), b)
}

// maximum returns the distribution of the largest of independent values with the given distributions, of which there must be at least one.
func maximum(distributions []*distribution, limit *workLimit) (*distribution, error) {
	if len(distributions) == 1 {
		return distributions[0], nil
	}
	sweep := newValueSweep(distributions)
	weights := map[int64]*big.Int{}
	below := new(big.Int) // product of the weights of all smaller values
	for sweep.next() {
		upTo := big.NewInt(1)
		for i := range distributions {
			if err := limit.addWork(wordCount(upTo) * wordCount(sweep.weightUpTo[i])); err != nil {
				return nil, err
			}
			upTo.Mul(upTo, sweep.weightUpTo[i])
		}
		weights[sweep.value] = new(big.Int).Sub(upTo, below)
		below = upTo
	}
	result := newDistribution(weights)
	return result, limit.addWords(result.size())
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

// newValueSweep returns a sweep over all values of the distributions, in ascending order.
func newValueSweep(distributions []*distribution) *valueSweep {
	sweep := &valueSweep{ds: distributions, weightAt: make([]*big.Int, len(distributions)), weightBelow: make([]*big.Int, len(distributions)), weightUpTo: make([]*big.Int, len(distributions))}
	for i, current := range distributions {
		sweep.remaining = append(sweep.remaining, current.values...)
		sweep.weightUpTo[i] = new(big.Int)
	}
	slices.Sort(sweep.remaining)
	sweep.remaining = slices.Compact(sweep.remaining)
	return sweep
}

// next advances to the next value and reports whether there is one.
func (s *valueSweep) next() bool {
	if len(s.remaining) == 0 {
		return false
	}
	s.value, s.remaining = s.remaining[0], s.remaining[1:]
	for i, current := range s.ds {
		s.weightBelow[i], s.weightAt[i] = s.weightUpTo[i], nil
		if index, found := slices.BinarySearch(current.values, s.value); found {
			s.weightAt[i] = current.weights[index]
			s.weightUpTo[i] = new(big.Int).Add(s.weightUpTo[i], s.weightAt[i])
		}
	}
	return true
}

// sum returns the distribution of the sum of independent copies of the value; there must be at least one copy.
//
// Its weights are the coefficients of the n-th power, for n copies, of the polynomial with coefficients a_i. The coefficients c_k of the power
// satisfy k a_0 c_k = sum over i from 1 to k of (i(n+1) - k) a_i c_(k-i). One factor of every product is short, so this is faster than repeated
// squaring.
//
// Source: J.C.P. Miller's algorithm, in Knuth, The Art of Computer Programming, volume 2, section 4.7.
func (d *distribution) sum(copies int, limit *workLimit) (*distribution, error) {
	least := d.values[0]
	if copies == 1 {
		return d, nil
	}
	if len(d.values) == 1 {
		return constant(least * int64(copies)), nil
	}
	step := d.step()
	degree := copies * int((d.values[len(d.values)-1]-least)/step)
	short := wordCount(d.total)
	// Each coefficient of the power needs one multiplication per coefficient of the polynomial, and one division.
	if err := limit.addWork(float64(degree) * float64(len(d.values)) * short * short * float64(copies)); err != nil {
		return nil, err
	}
	if err := limit.addWords(float64(degree) * (valueWords + short*float64(copies))); err != nil {
		return nil, err
	}
	power := make([]*big.Int, degree+1)
	power[0] = new(big.Int).Exp(d.weights[0], big.NewInt(int64(copies)), nil)
	product, factor := new(big.Int), new(big.Int)
	for k := 1; k < len(power); k++ {
		coefficient := new(big.Int)
		for j, value := range d.values[1:] {
			i := int((value - least) / step)
			if i > k {
				break
			}
			factor.Mul(d.weights[j+1], product.SetInt64(int64(i)*int64(copies+1)-int64(k)))
			coefficient.Add(coefficient, product.Mul(factor, power[k-i]))
		}
		power[k] = coefficient.Quo(coefficient, factor.Mul(d.weights[0], product.SetInt64(int64(k))))
	}
	weights := make(map[int64]*big.Int, len(power))
	for k, coefficient := range power {
		weights[least*int64(copies)+int64(k)*step] = coefficient
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
