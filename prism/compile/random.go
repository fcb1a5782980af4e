package compile

import "math"

// next returns 64 random bits and advances the stream, by the algorithm xoshiro256**.
func (s *Stream) next() uint64 {
	result := s[1] * 5
	result = (result<<7 | result>>57) * 9
	shifted := s[1] << 17
	s[2] ^= s[0]
	s[3] ^= s[1]
	s[1] ^= s[2]
	s[0] ^= s[3]
	s[2] ^= shifted
	s[3] = s[3]<<45 | s[3]>>19
	return result
}

// Unit returns a random multiple of 2^-53 in [0, 1).
func (s *Stream) Unit() float64 { return float64(s.next()>>11) * 0x1p-53 }

// Below returns a uniformly distributed integer from [0, n); n must be positive. It rejects the few draws that would favour some results.
//
// Source: Lemire, Fast random integer generation in an interval, 2019.
func (s *Stream) Below(n uint32) uint32 {
	product := (s.next() >> 32) * uint64(n)
	if uint32(product) < n {
		for threshold := -n % n; uint32(product) < threshold; {
			product = (s.next() >> 32) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// Exponential returns an exponentially distributed sojourn time for an exit rate, by the inversion method.
func (s *Stream) Exponential(rate float64) float64 {
	positive := 1 - s.Unit()
	return -logUnit(positive) / rate
}

// logUnit returns the natural logarithm of a number in (0, 1], with an error below one unit
// in the last place. It uses only basic operations without fusion: Go and WebAssembly
// compute the same bits on every platform.
//
// Source: the method of FreeBSD's e_log.c: reduce the number to 2^k·(1+f) with
// sqrt(2)/2 < 1+f < sqrt(2), then log(1+f) = f - s·(f-R) with s = f/(2+f) and R
// a polynomial in s².
func logUnit(number float64) float64 {
	// Split the number into 2^exponent and a fraction in [sqrt(2)/2, sqrt(2)).
	bits := math.Float64bits(number)
	exponent := float64(int64(bits>>52) - 1022)
	fraction := math.Float64frombits(bits&(1<<52-1) | 1022<<52) // in [0.5, 1)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	f := fraction - 1
	// Evaluate the polynomial R in s². The even and the odd coefficients have separate sums.
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	odd := float64(s2 * (logL1 + float64(s4*(logL3+float64(s4*(logL5+float64(s4*logL7)))))))
	even := float64(s4 * (logL2 + float64(s4*(logL4+float64(s4*logL6)))))
	r := odd + even
	// Add the logarithms of both parts. ln2Hi has few enough bits that its product with the exponent is exact.
	halfSquare := float64(float64(0.5*f) * f)
	return float64(exponent*ln2Hi) - ((halfSquare - (float64(s*(halfSquare+r)) + float64(exponent*ln2Lo))) - f)
}

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
	logL1 = 6.666666666666735130e-01
	logL2 = 3.999999999940941908e-01
	logL3 = 2.857142874366239149e-01
	logL4 = 2.222219843214978396e-01
	logL5 = 1.818357216161805012e-01
	logL6 = 1.531383769920937332e-01
	logL7 = 1.479819860511658591e-01
)
