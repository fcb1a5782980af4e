package compile

import (
	"context"
	"slices"
	"testing"

	"tilecheck/modelgen"
)

func benchmark(b *testing.B, policy string, run func(*Model, Monitor) (BatchRunner, error)) {
	m := game2048(b, modelgen.Config{Rows: 4, Cols: 4, Max: 128}, policy)
	r, err := run(m, eventually(b, m, "fail"))
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	dst := make([]Outcome, batchSize)
	var steps, samples int64
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if err := r.RunBatch(context.Background(), 1, uint64(samples), dst); err != nil {
			b.Fatal(err)
		}
		for i := range dst {
			steps += dst[i].Steps
		}
		samples += int64(len(dst))
	}
	s := b.Elapsed().Seconds()
	b.ReportMetric(s*1e9/float64(steps), "ns/step")
	b.ReportMetric(float64(cpuTime(b)-before)/float64(steps), "cpu-ns/step")
	b.ReportMetric(float64(samples)/s, "samples/s")
	b.ReportMetric(float64(steps)/float64(samples), "steps/sample")
}

func BenchmarkMachine(b *testing.B) {
	for _, policy := range []string{"random", "pref:left,up,down,right", "alt:up,left,down,right/left,up,down,right", "none"} {
		b.Run(policy, func(b *testing.B) {
			benchmark(b, policy, func(m *Model, mon Monitor) (BatchRunner, error) {
				return m.NewMachine(context.Background(), mon)
			})
		})
	}
}

func BenchmarkInterpreter(b *testing.B) {
	for _, policy := range []string{"random", "pref:left,up,down,right"} {
		b.Run(policy, func(b *testing.B) {
			benchmark(b, policy, (*Model).NewInterpreter)
		})
	}
}

func BenchmarkExpand(b *testing.B) {
	m := game2048(b, modelgen.Config{Rows: 4, Cols: 4, Max: 128}, "none")
	x := m.NewExpander()
	move := m.initialState() // four tiles, all four moves are possible
	move[5], move[6], move[9], move[15] = 2, 4, 2, 8
	spawn := slices.Clone(move)
	move[16] = 0
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range [][]int32{move, spawn} {
			if _, err := x.Expand(s); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(2*b.N), "ns/state")
}

// BenchmarkPacked expands 5000 states of the 3x3 board, a state an operation.
func BenchmarkPacked(b *testing.B) {
	m := game2048(b, modelgen.Config{Rows: 3, Cols: 3, Max: 32, Spawn: modelgen.SpawnUniform}, "")
	p := NewPacking(m.program.Vars)
	var states []uint64
	for _, s := range reachable(b, m, 5000) {
		n := len(states)
		states = append(states, make([]uint64, p.Words)...)
		p.Pack(states[n:], s)
	}
	fast, err := m.NewPackedMachine(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	defer fast.Close()
	for _, x := range []PackedExpander{fast, m.NewPackedInterpreter(p)} {
		b.Run(x.Name(), func(b *testing.B) {
			var out PackedChoices
			for b.Loop() {
				out.Reset()
				if err := x.Expand(b.Context(), states, &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(states)/p.Words), "ns/state")
		})
	}
}
