package solve

import (
	"math"
	"math/big"
	"testing"
)

// exp computes e^-x with many bits: by its series, for x/2^k, squared k times.
func exp(x float64) *big.Float {
	const prec = 300
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	halvings := 0
	y := f(x)
	for x > 0.5 {
		x /= 2
		y.Quo(y, f(2))
		halvings++
	}
	sum, term := f(1), f(1)
	for i := 1; i < 80; i++ {
		term.Mul(term, y)
		term.Quo(term, f(float64(-i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// TestPoisson compares every weight with the definition in 300 bits, and the
// sum of those left out with its bound.
func TestPoisson(t *testing.T) {
	for _, mean := range []float64{1e-9, 0.01, 0.5, 1, 2, 10, 24.999, 25, 400, 401.5, 12345.678} {
		distribution, err := newPoisson(t.Context(), mean, 0, truncation)
		if err != nil {
			t.Fatal(err)
		}
		kept, excess := new(big.Float), new(big.Float)
		w := exp(mean)
		for k := 0; k <= distribution.lastNumber()+400; k++ {
			if k > 0 {
				w.Mul(w, big.NewFloat(mean))
				w.Quo(w, big.NewFloat(float64(k)))
			}
			switch {
			case k > distribution.lastNumber():
				excess.Add(excess, new(big.Float).Mul(w, big.NewFloat(float64(k-distribution.lastNumber()))))
				continue
			case k < distribution.firstNumber:
				continue
			}
			kept.Add(kept, w)
			off, _ := new(big.Float).Sub(new(big.Float).Quo(big.NewFloat(distribution.probabilityOf(k)), w), big.NewFloat(1)).Float64()
			if math.Abs(off) > distribution.relErr {
				t.Fatalf("mean %v: weight of %d is off by %v, more than %v", mean, k, off, distribution.relErr)
			}
		}
		rest, _ := new(big.Float).Sub(big.NewFloat(1), kept).Float64()
		if rest > distribution.truncatedProb || distribution.truncatedProb > 1e-19 {
			t.Errorf("mean %v: %v is left out, the bound is %v", mean, rest, distribution.truncatedProb)
		}
		if x, _ := excess.Float64(); x > distribution.truncatedExcess || distribution.truncatedExcess > 1e-17*(1+mean) {
			t.Errorf("mean %v: excess %v, the bound is %v", mean, x, distribution.truncatedExcess)
		}
		if distribution.relErr > 1e-12 {
			t.Errorf("mean %v: error bound %v", mean, distribution.relErr)
		}
	}
}

// TestPoissonBeyond compares with sums of the weights.
func TestPoissonBeyond(t *testing.T) {
	for _, mean := range []float64{0.3, 7, 1000} {
		distribution, err := newPoisson(t.Context(), mean, 0, truncation)
		if err != nil {
			t.Fatal(err)
		}
		beyond := distribution.tailProbs()
		for i := range beyond {
			k, want := distribution.firstNumber+i, 0.0
			for j := distribution.lastNumber(); j > k; j-- {
				want += distribution.probabilityOf(j)
			}
			if math.Abs(beyond[i]-want) > 1e-14*want {
				t.Errorf("mean %v: beyond %d: %v, want %v", mean, k, beyond[i], want)
			}
		}
	}
}
