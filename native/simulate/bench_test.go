package simulate

import (
	"fmt"
	"testing"

	"tilecheck/prism/compile"
	"tilecheck/stats"
)

// BenchmarkSampler is what drawing a sample costs beside the sample itself.
func BenchmarkSampler(b *testing.B) {
	for _, workers := range []int{1, 0} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			s := &sampler{runner: newFake(), endSample: int64(b.N), workers: workers, countOutcome: func(*compile.Outcome) bool { return true }}
			if err := s.drawAll(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkCheck estimates from 100,000 paths of 3.7 steps on average.
func BenchmarkCheck(b *testing.B) {
	m := load(b, die)
	property := m.property(b, `P=? [ F d=6 ]`)
	const samples = 100_000
	for _, workers := range []int{1, 0} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				if r := Check(b.Context(), m.Model, property, Options{Workers: workers, Params: stats.Params{Samples: samples}}); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*samples), "ns/path")
		})
	}
}

// BenchmarkSequential asks the stopping rule after every sample.
func BenchmarkSequential(b *testing.B) {
	m := load(b, die)
	property := m.property(b, `P=? [ F d=6 ]`)
	for b.Loop() {
		if r := Check(b.Context(), m.Model, property, Options{Params: stats.Params{Width: 0.005}}); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	m := load(b, queue, "K=4,lambda=1,mu=2")
	for b.Loop() {
		path := Walk(b.Context(), FromModel(m.Model), PathOptions{Steps: 1000})
		for range path.Visits() {
		}
		must(b, path.Err)
	}
}

// BenchmarkManyModules draws 500 paths of 25 steps of modules that share an action; each has two commands with two updates.
func BenchmarkManyModules(b *testing.B) {
	for _, modules := range []int{6, 7, 8, 12, 20} {
		text, sum := "dtmc\n", ""
		for i := range modules {
			text += fmt.Sprintf("module m%[1]d x%[1]d:[0..1]; [a] x%[1]d=0 -> 0.9:(x%[1]d'=0) + 0.1:(x%[1]d'=1); [a] x%[1]d=1 -> 0.8:(x%[1]d'=1) + 0.2:(x%[1]d'=0); endmodule\n", i)
			sum += fmt.Sprintf("x%d+", i)
		}
		model := load(b, text)
		property := model.property(b, fmt.Sprintf("P=? [ F<=25 %s0=%d ]", sum, modules))
		b.Run(fmt.Sprintf("modules=%d", modules), func(b *testing.B) {
			for b.Loop() {
				if r := Check(b.Context(), model.Model, property, Options{Workers: 1, Params: stats.Params{Samples: 500}}); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}
