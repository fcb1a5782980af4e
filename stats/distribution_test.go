package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tilecheck/stats"
)

// TestQuantilesCoverage draws from a geometric distribution, whose quantiles and tails are known. All intervals must hold together with the
// confidence. With another seed, a true coverage of 0.9 would fail this test with probability 0.0014: it is 3 standard deviations wide.
func TestQuantilesCoverage(t *testing.T) {
	const repetitions, samples, confidence, failure = 4000, 60, 0.9, 0.25
	levels := []float64{0.01, 0.3, 0.5, 0.9, 0.99}
	support := &stats.Bounds{Lo: 1, Hi: 200}
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range repetitions {
		rewards := make([]float64, samples)
		for i := range rewards {
			rewards[i] = min(200, 1+math.Floor(math.Log(1-random.Float64())/math.Log(1-failure)))
		}
		quantiles, err := stats.Quantiles(rewards, levels, support, confidence)
		if err != nil {
			t.Fatal(err)
		}
		allHold := true
		for _, q := range quantiles {
			value := math.Ceil(math.Log(1-q.Level) / math.Log(1-failure))
			tail := geometricTail(q.Level, failure)
			allHold = allHold && q.Lower <= value && value <= q.Upper && q.TailLower <= tail && tail <= q.TailUpper
			if !(q.Lower <= q.Value && q.Value <= q.Upper && q.TailLower <= q.Tail && q.Tail <= q.TailUpper && q.Value <= q.Tail*(1+1e-12)) {
				t.Fatalf("%+v: a bound is on the wrong side", q)
			}
		}
		if allHold {
			covered++
		}
	}
	least := confidence - 3*math.Sqrt(confidence*(1-confidence)/repetitions)
	if share := float64(covered) / repetitions; share < least {
		t.Errorf("all intervals hold in %v of the repetitions, want %v", share, confidence)
	}
}

// geometricTail returns the mean of the largest 1-level of a geometric distribution on 1, 2, ...: the integral of its quantile.
func geometricTail(level, success float64) float64 {
	sum, below := 0.0, 0.0
	for k := 1; k < 400; k++ {
		upTo := below + math.Pow(1-success, float64(k-1))*success
		sum += float64(k) * max(0, upTo-max(level, below))
		below = upTo
	}
	return sum / (1 - level)
}

func TestQuantilesOfFewSamples(t *testing.T) {
	quantiles, err := stats.Quantiles([]float64{4, 1, 3, 2}, []float64{0.5, 0.75}, nil, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ value, tail float64 }{{2, 3.5}, {3, 4}} {
		q := quantiles[i]
		if q.Value != want.value || math.Abs(q.Tail-want.tail) > 1e-12 {
			t.Errorf("level %v: quantile %v and tail %v, want %v and %v", q.Level, q.Value, q.Tail, want.value, want.tail)
		}
		if !math.IsInf(q.Upper, 1) || !math.IsInf(q.Lower, -1) || !math.IsInf(q.TailUpper, 1) {
			t.Errorf("%+v: four samples prove nothing about levels 0.5 and 0.75 with confidence 0.99", q)
		}
	}
}

func TestQuantilesErrors(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		level   float64
		support *stats.Bounds
		want    stats.Code
	}{
		{nil, 0.5, nil, stats.BadValue},
		{[]float64{1}, 1, nil, stats.BadValue},
		{[]float64{1}, 0.5, &stats.Bounds{Lo: 2, Hi: 3}, stats.BadValue},
		{[]float64{1, math.Inf(1)}, 0.5, nil, stats.NotFinite},
		{[]float64{math.NaN()}, 0.5, nil, stats.NotFinite},
	} {
		_, err := stats.Quantiles(tt.samples, []float64{tt.level}, tt.support, 0.9)
		if failure, ok := err.(*stats.Error); !ok || failure.Code != tt.want {
			t.Errorf("%v at %v: %v, want code %v", tt.samples, tt.level, err, tt.want)
		}
	}
}

// The quantile of n samples at level p is sample number ceil(p*n), for p as it was written: 0.07*100 is 7, although the product of the
// float64 is greater.
func TestRankOfQuantile(t *testing.T) {
	for _, n := range []int{1, 3, 10, 50, 100, 300, 1000} {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = float64(i + 1) // sample number i+1
		}
		var levels []float64
		for permille := 1; permille < 1000; permille++ {
			levels = append(levels, float64(permille)/1000)
		}
		quantiles, err := stats.Quantiles(samples, levels, nil, 0.99)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range quantiles {
			if want := ((i+1)*n + 999) / 1000; q.Value != float64(want) {
				t.Errorf("level %v of %d samples is sample %v, want %d", q.Level, n, q.Value, want)
			}
		}
	}
}
