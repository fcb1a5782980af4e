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

// products stores products of weights as powers of coprime integers, so that two products can be compared
// without expanding them.
type products struct {
	bases             []*big.Int
	baseIndex         map[string]int32   // the number of each base, if the bases are not coprime; else nil
	baseLogs          []float64          // the logarithm of each base
	weightFactors     [][]power          // the factorization of each weight
	factorizations    []string           // the factorization of each product, encoded
	logs              []float64          // the logarithm of each product, approximately
	logErr            []float64          // a bound on the absolute error of logs
	idOfFactorization map[string]product // the inverse of factorizations
	mulCache          map[uint64]product // the results of mul
}

// power is a base, by number, with a nonzero exponent.
type power struct {
	base     int32
	exponent int32
}

// newProducts returns a store for products of the given weights, which it writes as products of common factors (bases). At first the store has only the
// empty product, 1.
func newProducts(weights []*big.Rat) *products {
	store := &products{
		idOfFactorization: map[string]product{"": 0}, mulCache: map[uint64]product{},
		factorizations: []string{""}, logs: []float64{0}, logErr: []float64{0},
		bases: distinctIntegers(weights),
	}
	if len(store.bases) <= maxCoprime {
		store.bases = coprimeBase(store.bases)
	} else {
		store.baseIndex = map[string]int32{}
		for i, base := range store.bases {
			store.baseIndex[base.String()] = int32(i)
		}
	}
	for _, base := range store.bases {
		store.baseLogs = append(store.baseLogs, logOf(base))
	}
	store.weightFactors = make([][]power, len(weights))
	for i, weight := range weights {
		store.weightFactors[i] = store.factorize(weight)
	}
	return store
}

// logOf returns the natural logarithm of a positive integer. Its relative error is a few units in the last place.
func logOf(integer *big.Int) float64 {
	exponent := integer.BitLen()
	mantissa, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(integer), -exponent).Float64()
	return math.Log(mantissa) + float64(exponent)*math.Ln2
}

// maxCoprime limits the integers that are made coprime, which takes quadratic time. If there are more,
// equal products may have different numbers; compare still finds them equal.
const maxCoprime = 1500

// distinctIntegers returns the distinct numerators and denominators of the weights, except 1.
func distinctIntegers(weights []*big.Rat) []*big.Int {
	seen := map[string]bool{}
	var distinct []*big.Int
	for _, weight := range weights {
		for _, integer := range []*big.Int{weight.Num(), weight.Denom()} {
			if integer.Cmp(one) > 0 && !seen[integer.String()] {
				seen[integer.String()] = true
				distinct = append(distinct, integer)
			}
		}
	}
	return distinct
}

// coprimeBase returns pairwise coprime integers greater than 1, such that each of the given integers is a product of powers of them.
//
// Source: factor refinement, Bach, Driscoll and Shallit (1993), in its simplest form.
func coprimeBase(integers []*big.Int) []*big.Int {
	var bases []*big.Int // pairwise coprime
	pending := integers
	for len(pending) > 0 {
		integer := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		i := slices.IndexFunc(bases, func(base *big.Int) bool { return gcd(base, integer).Cmp(one) > 0 })
		if i < 0 {
			bases = append(bases, integer)
			continue
		}
		base := bases[i]
		bases = slices.Delete(bases, i, i+1)
		commonDivisor := gcd(base, integer)
		for _, factor := range []*big.Int{new(big.Int).Quo(base, commonDivisor), new(big.Int).Quo(integer, commonDivisor), commonDivisor} {
			if factor.Cmp(one) > 0 {
				pending = append(pending, factor)
			}
		}
	}
	slices.SortFunc(bases, (*big.Int).Cmp)
	return bases
}

func gcd(a, b *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, a, b) }

var one = big.NewInt(1)

// factorize returns a weight as a product of powers of the bases, in increasing order of the bases.
func (products *products) factorize(weight *big.Rat) []power {
	if products.baseIndex != nil {
		return products.lookUpBases(weight)
	}
	var powers []power
	numerator := new(big.Int).Set(weight.Num())
	denominator := new(big.Int).Set(weight.Denom())
	for i, base := range products.bases {
		if numerator.Cmp(one) == 0 && denominator.Cmp(one) == 0 {
			break
		}
		exponent := divideOut(numerator, base) - divideOut(denominator, base)
		if exponent != 0 {
			powers = append(powers, power{int32(i), exponent})
		}
	}
	return powers
}

// lookUpBases returns the factorization of a weight whose numerator and denominator are bases or 1.
func (products *products) lookUpBases(weight *big.Rat) []power {
	var powers []power
	if base, isBase := products.baseIndex[weight.Num().String()]; isBase {
		powers = append(powers, power{base, 1})
	}
	if base, isBase := products.baseIndex[weight.Denom().String()]; isBase {
		powers = mergePowers(powers, []power{{base, 1}}, -1)
	}
	return powers
}

// divideOut divides an integer by divisor as long as the division leaves no remainder. It changes the integer, and returns the number of divisions.
func divideOut(integer, divisor *big.Int) int32 {
	var count int32
	quotient, remainder := new(big.Int), new(big.Int)
	for {
		quotient.QuoRem(integer, divisor, remainder)
		if remainder.Sign() != 0 {
			return count
		}
		integer.Set(quotient)
		count++
	}
}

// multiply returns the product of a stored product and a weight, given by its index.
func (products *products) multiply(factor product, weight uint32) product {
	if len(products.weightFactors[weight]) == 0 { // the weight is 1
		return factor
	}
	key := uint64(factor)<<32 | uint64(weight)
	if cached, isCached := products.mulCache[key]; isCached {
		return cached
	}
	result := products.productOf(mergePowers(decode(products.factorizations[factor]), products.weightFactors[weight], 1))
	products.mulCache[key] = result
	return result
}

// productOf returns the stored product with the given factorization. It adds the product if it is new.
func (products *products) productOf(factors []power) product {
	encoded := encode(factors)
	if known, isKnown := products.idOfFactorization[encoded]; isKnown {
		return known
	}
	newProduct := product(len(products.factorizations))
	log, logErr := products.logWithErr(factors)
	products.idOfFactorization[encoded] = newProduct
	products.factorizations = append(products.factorizations, encoded)
	products.logs = append(products.logs, log)
	products.logErr = append(products.logErr, logErr)
	return newProduct
}

// logWithErr returns the logarithm of a product of powers, and a bound on its absolute rounding error.
func (products *products) logWithErr(factors []power) (log, absErr float64) {
	magnitude := 0.0
	for _, factor := range factors {
		term := float64(factor.exponent) * products.baseLogs[factor.base]
		log += term
		magnitude += math.Abs(term)
	}
	return log, magnitude * (float64(len(factors)) + 8) * 0x1p-52
}

// compare returns 1, 0 or -1 if left is greater than, equal to or less than right. It first compares their logarithms. If rounding errors of the
// logarithms could change the result, it compares exact integers.
func (products *products) compare(left, right product) int {
	if left == right {
		return 0
	}
	difference := products.logs[left] - products.logs[right]
	if math.Abs(difference) > products.logErr[left]+products.logErr[right] {
		return cmp.Compare(difference, 0)
	}
	// The logarithms are too close to decide.
	quotient := mergePowers(decode(products.factorizations[left]), decode(products.factorizations[right]), -1)
	numerator, denominator := products.expand(quotient)
	return numerator.Cmp(denominator)
}

// fraction returns a product as a fraction.
func (products *products) fraction(number product) *big.Rat {
	numerator, denominator := products.expand(decode(products.factorizations[number]))
	return new(big.Rat).SetFrac(numerator, denominator)
}

// expand returns the numerator and the denominator of a product of powers. Powers with negative exponents belong to the denominator.
func (products *products) expand(factors []power) (numerator, denominator *big.Int) {
	numerator, denominator = big.NewInt(1), big.NewInt(1)
	for _, factor := range factors {
		exponent := int64(factor.exponent)
		if exponent > 0 {
			numerator.Mul(numerator, new(big.Int).Exp(products.bases[factor.base], big.NewInt(exponent), nil))
		} else {
			denominator.Mul(denominator, new(big.Int).Exp(products.bases[factor.base], big.NewInt(-exponent), nil))
		}
	}
	return numerator, denominator
}

// mergePowers returns the factorization of left * right^sign. The bases of each factorization are increasing.
func mergePowers(left, right []power, sign int32) []power {
	result := make([]power, 0, len(left)+len(right))
	for len(left) > 0 || len(right) > 0 {
		switch {
		case len(right) == 0 || len(left) > 0 && left[0].base < right[0].base:
			result = append(result, left[0])
			left = left[1:]
		case len(left) == 0 || right[0].base < left[0].base:
			result = append(result, power{right[0].base, sign * right[0].exponent})
			right = right[1:]
		default:
			exponent := left[0].exponent + sign*right[0].exponent
			if exponent != 0 {
				result = append(result, power{left[0].base, exponent})
			}
			left = left[1:]
			right = right[1:]
		}
	}
	return result
}

// encode returns a factorization as a string, for use as a map key.
func encode(factors []power) string {
	var encoded []byte
	for _, factor := range factors {
		encoded = binary.AppendUvarint(encoded, uint64(factor.base))
		encoded = binary.AppendVarint(encoded, int64(factor.exponent))
	}
	return string(encoded)
}

// decode returns the powers of an encoded factorization: for each power the number of its base and its exponent. It is the inverse of encode.
func decode(encoded string) []power {
	var powers []power
	remaining := []byte(encoded)
	for len(remaining) > 0 {
		base, baseLength := binary.Uvarint(remaining)
		exponent, exponentLength := binary.Varint(remaining[baseLength:])
		powers = append(powers, power{int32(base), int32(exponent)})
		remaining = remaining[baseLength+exponentLength:]
	}
	return powers
}
