package stats_test

import (
	"encoding/binary"
	"math"
	"testing"

	"tilecheck/stats"
)

// FuzzBernoulliInterval: every valid sample has an interval within [0,1] that
// contains its mean, turns around with it, and grows with the confidence.
func FuzzBernoulliInterval(f *testing.F) {
	f.Add(int64(1000), int64(445), 0.99, false)
	f.Add(int64(1), int64(1), 0.5, true)
	f.Add(int64(1e9), int64(1), 1-1e-15, true)
	f.Add(int64(0), int64(0), 1e-9, false)
	f.Fuzz(func(t *testing.T, n, k int64, confidence float64, sequential bool) {
		if n > 1e9 { // Clopper-Pearson takes time √n
			n %= 1e9
		}
		b := stats.Bernoulli{N: n, K: k}
		i, err := stats.BernoulliInterval(b, confidence, sequential)
		if valid := n >= 0 && k >= 0 && k <= n && confidence > 0 && confidence < 1; valid != (err == nil) {
			t.Fatalf("%+v at %v: %v", b, confidence, err)
		}
		if err != nil {
			return
		}
		if !(0 <= i.Lo && i.Lo <= i.Hi && i.Hi <= 1) || n > 0 && !i.Contains(b.Mean()) || !i.Sound() {
			t.Fatalf("%+v at %v: %+v", b, confidence, i)
		}
		turned, _ := stats.BernoulliInterval(stats.Bernoulli{N: n, K: n - k}, confidence, sequential)
		if math.Abs(turned.Lo-(1-i.Hi)) > 1e-12 || math.Abs(turned.Hi-(1-i.Lo)) > 1e-12 {
			t.Fatalf("%+v at %v: %+v and %+v", b, confidence, i, turned)
		}
		if lower := confidence / 2; lower > 0 {
			inner, _ := stats.BernoulliInterval(b, lower, sequential)
			if inner.Lo < i.Lo-1e-9 || inner.Hi > i.Hi+1e-9 {
				t.Fatalf("%+v: %+v and %+v", b, inner, i)
			}
		}
	})
}

// FuzzRewardInterval: whatever the samples and the bounds, there is an error or
// an interval around the mean, within the bounds; merging changes nothing much.
func FuzzRewardInterval(f *testing.F) {
	f.Add([]byte("12345678abcdefgh"), 0.0, 10.0, 0.99, true)
	f.Add([]byte{}, 0.0, 1.0, 0.5, false)
	f.Fuzz(func(t *testing.T, data []byte, lo, hi, confidence float64, sequential bool) {
		var m, first, second stats.Moments
		for i := 0; len(data) >= 8; i++ {
			x := math.Float64frombits(binary.LittleEndian.Uint64(data))
			data = data[8:]
			if i%2 == 0 && lo <= hi { // half of them in the bounds, as samples should be
				x = min(max(x, lo), hi)
			}
			m.Add(x)
			if i < 5 {
				first.Add(x)
			} else {
				second.Add(x)
			}
		}
		first.Merge(second)
		if first.N != m.N || m.N > 0 && !math.IsNaN(m.Sum) && (first.Min != m.Min || first.Max != m.Max) {
			t.Fatalf("%+v merged is %+v", m, first)
		}
		for _, bounds := range []*stats.Bounds{nil, {Lo: lo, Hi: hi}} {
			i, err := stats.RewardInterval(m, bounds, confidence, sequential)
			if err != nil {
				if code(err) != stats.BadValue && code(err) != stats.NotFinite {
					t.Fatalf("%+v in %v: %v", m, bounds, err)
				}
				continue
			}
			if !(i.Lo <= i.Hi) || m.N > 0 && bounds == nil && !i.Contains(m.Mean()) || bounds != nil && (i.Lo < lo || i.Hi > hi) {
				t.Fatalf("%+v in %v: %+v", m, bounds, i)
			}
			if i.Sound() != (bounds != nil) {
				t.Fatalf("%+v in %v: %+v", m, bounds, i)
			}
		}
	})
}
