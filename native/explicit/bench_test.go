package explicit_test

import (
	"runtime"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// BenchmarkBoard builds the 3x3 board until 32 with a uniform spawn, 1,598,448
// states, and computes Pmax=? [ F success ]. On this kind of machine Storm
// 1.12 takes 9.2 s and 8.7 s, PRISM's explicit engine 38.7 s and 10 s.
func BenchmarkBoard(b *testing.B) {
	m := compiled(b, board(b, modelgen.Config{Rows: 3, Cols: 3, Max: 32, Spawn: modelgen.SpawnUniform}))
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			s, err := explicit.Build(b.Context(), m, explicit.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if g := s.Model(); g.NumStates() != 1_598_448 || g.NumChoices() != 4_032_745 || g.NumTransitions() != 5_171_248 {
				b.Fatalf("%d states, %d choices, %d transitions", g.NumStates(), g.NumChoices(), g.NumTransitions())
			}
			b.ReportMetric(float64(s.Bytes())/float64(s.Model().NumStates()), "bytes/state")
			b.ReportMetric(float64(s.Model().NumStates())*float64(b.N)/b.Elapsed().Seconds(), "states/s")
		}
	})
	s, err := explicit.Build(b.Context(), m, explicit.Options{})
	if err != nil {
		b.Fatal(err)
	}
	success, err := s.States(label(b, s.Program(), "success"))
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			g := sparse.NewGraph(s.Model())
			v, err := solve.Until(b.Context(), g, sparse.FullSet(success.Len()), success, solve.Max, solve.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if v.Lower[0] != 1 {
				b.Fatalf("[%v, %v], want 1", v.Lower[0], v.Upper[0])
			}
		}
	})
}
