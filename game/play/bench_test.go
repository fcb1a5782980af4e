package play

import "testing"

// BenchmarkRun is what a move costs in a run with one worker, the bookkeeping of games included; the players take next to nothing.
func BenchmarkRun(b *testing.B) {
	for _, spec := range []string{"random", "pref:left,up,down,right"} {
		b.Run(spec, func(b *testing.B) {
			m := square(4, 11, true, 1)
			opt := Options{Match: m, Strategy: parse(b, m, spec), Games: 2000, Workers: 1}
			moves := 0.0
			for b.Loop() {
				out := run(b, opt)
				moves += out.Moves.Mean() * float64(out.Games())
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/moves, "ns/move")
			b.ReportMetric(moves/b.Elapsed().Seconds()/1e6, "Mmoves/s")
		})
	}
}
