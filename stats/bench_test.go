package stats_test

import (
	"fmt"
	"testing"

	"tilecheck/stats"
)

// One sample: count it and ask whether to stop.
func BenchmarkDone(b *testing.B) {
	for _, c := range []struct {
		name     string
		params   stats.Params
		property stats.Property
	}{
		{"CI-width", stats.Params{Width: 1e-7}, prob},
		{"ACI-width", stats.Params{Method: stats.ACI, Width: 1e-7}, prob},
		{"CI-samples", stats.Params{Samples: 1 << 40}, prob},
		{"SPRT", stats.Params{Width: 1e-9}, atLeast(0.5)},
	} {
		b.Run(c.name, func(b *testing.B) {
			plan := mustPlan(b, c.params, c.property)
			s := &stats.Bernoulli{}
			for i := 0; b.Loop(); i++ {
				s.Add(i%2 == 0)
				if plan.Done(s) {
					b.Fatal("done")
				}
			}
		})
	}
	b.Run("CI-width-rewards", func(b *testing.B) {
		plan := mustPlan(b, stats.Params{Width: 1e-7}, reward)
		s := &stats.Moments{}
		for i := 0; b.Loop(); i++ {
			s.Add(float64(i % 7))
			if plan.Done(s) {
				b.Fatal("done")
			}
		}
	})
}

// The rare case in which CI needs Student's quantile.
func BenchmarkDoneStudent(b *testing.B) {
	plan := mustPlan(b, stats.Params{Width: 0.1}, prob)
	s := &stats.Bernoulli{N: 168, K: 84}
	for b.Loop() {
		plan.Done(s)
	}
}

func BenchmarkMomentsMerge(b *testing.B) {
	o := moments(1, 2, 3)
	var m stats.Moments
	for b.Loop() {
		m.Merge(o)
	}
}

func BenchmarkBernoulliInterval(b *testing.B) {
	for _, sequential := range []bool{false, true} {
		for _, n := range []int64{1000, 1e6, 1e9} {
			b.Run(fmt.Sprintf("sequential=%v/n=%d", sequential, n), func(b *testing.B) {
				s := stats.Bernoulli{N: n, K: n / 3}
				for b.Loop() {
					if _, err := stats.BernoulliInterval(s, 0.99, sequential); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRewardInterval(b *testing.B) {
	var m stats.Moments
	for i := range 10000 {
		m.Add(float64(i % 7))
	}
	for b.Loop() {
		if _, err := stats.RewardInterval(m, &stats.Bounds{Lo: 0, Hi: 6}, 0.99, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewPlan(b *testing.B) {
	for b.Loop() {
		mustPlan(b, stats.Params{Width: 0.01}, prob)
	}
}
