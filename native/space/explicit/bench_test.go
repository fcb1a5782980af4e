package explicit_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// peak returns the greatest memory that the process has occupied since the last
// call of forget, in MB, as Linux says; 0 elsewhere.
func peak() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}

// forget returns memory that is not used and forgets the peak.
func forget(b *testing.B) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200); err != nil {
		b.Logf("peaks are of the whole process: %v", err)
	}
}

// reportSpace reports sizes and speed of building a space b.N times.
func reportSpace(b *testing.B, s *explicit.Space) {
	n := float64(s.Model().NumStates())
	b.ReportMetric(n, "states")
	b.ReportMetric(float64(s.Bytes())/n, "bytes/state")
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "states/s")
	b.ReportMetric(peak(), "peak-MB")
}

// BenchmarkBoard builds the 3x3 board until 32 with a uniform spawn, 1,598,448
// states, and computes Pmax=? [ F success ]; "both" does that one after the
// other. On this kind of machine Storm 1.12 takes 9.2 s and 8.7 s and 306 MB,
// PRISM's explicit engine 38.7 s and 10 s.
func BenchmarkBoard(b *testing.B) {
	m := compiled(b, board(b, modelgen.Config{Rows: 3, Cols: 3, Max: 32, Spawn: modelgen.SpawnUniform}))
	build := func(b *testing.B, opts explicit.Options) *explicit.Space {
		s, err := explicit.Build(b.Context(), m, opts)
		if err != nil {
			b.Fatal(err)
		}
		if g := s.Model(); g.NumStates() != 1_598_448 || g.NumChoices() != 4_032_745 || g.NumTransitions() != 5_171_248 {
			b.Fatalf("%d states, %d choices, %d transitions", g.NumStates(), g.NumChoices(), g.NumTransitions())
		}
		return s
	}
	check := func(b *testing.B, s *explicit.Space) {
		success, err := s.States(label(b, s.Program(), "success"))
		if err != nil {
			b.Fatal(err)
		}
		v, err := solve.Until(b.Context(), sparse.NewGraph(s.Model()), sparse.FullSet(success.Len()), success, solve.Max, solve.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if v.Lower[0] != 1 {
			b.Fatalf("[%v, %v], want 1", v.Lower[0], v.Upper[0])
		}
	}
	b.Run("both", func(b *testing.B) {
		forget(b)
		for b.Loop() {
			check(b, build(b, explicit.Options{}))
		}
		b.ReportMetric(peak(), "peak-MB")
	})
	b.Run("build", func(b *testing.B) {
		forget(b)
		var s *explicit.Space
		for b.Loop() {
			s = build(b, explicit.Options{})
		}
		reportSpace(b, s)
	})
	b.Run("interpret", func(b *testing.B) {
		for b.Loop() {
			build(b, explicit.Options{CompileFrom: -1})
		}
	})
	s := build(b, explicit.Options{})
	runtime.GC()
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			check(b, s)
		}
	})
}

// BenchmarkGrowth builds spaces of 10^4 to 10^7 states: boards of 2048, and two
// walkers on a line. The largest are left out with -short.
func BenchmarkGrowth(b *testing.B) {
	grow := func(name, src string) {
		b.Run(name, func(b *testing.B) {
			m := compiled(b, src)
			forget(b)
			var s *explicit.Space
			for b.Loop() {
				var err error
				if s, err = explicit.Build(b.Context(), m, explicit.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			reportSpace(b, s)
		})
	}
	for _, tt := range []struct {
		rows, cols, max int
		large           bool
	}{{2, 3, 32, false}, {2, 4, 16, false}, {2, 4, 32, false}, {3, 3, 32, false}, {3, 3, 64, true}} {
		if !tt.large || !testing.Short() {
			cfg := modelgen.Config{Rows: tt.rows, Cols: tt.cols, Max: tt.max, Spawn: modelgen.SpawnUniform}
			grow(fmt.Sprintf("board/%dx%d/%d", tt.rows, tt.cols, tt.max), board(b, cfg))
		}
	}
	for _, n := range []int{100, 316, 1000, 3163} {
		if n <= 1000 || !testing.Short() {
			grow(fmt.Sprintf("walkers/%d", n), fmt.Sprintf(walkers, n-1, n-1))
		}
	}
}

const walkers = `mdp
module a x:[0..%[1]d]; [] x<%[1]d -> 0.5:(x'=x+1)+0.5:(x'=max(0,x-1)); [both] x>3 -> (x'=x-3); endmodule
module b y:[0..%[2]d]; [] y<%[2]d -> 1/3:(y'=y+1)+2/3:true; [both] y>0 -> 0.9:(y'=y-1)+0.1:(y'=0); endmodule`

// BenchmarkCareful builds the same million states with guards and probabilities
// that doubles get right, and with ones of which that is to be shown in each state.
func BenchmarkCareful(b *testing.B) {
	const text = "dtmc module m x:[0..1000]; y:[0..1000]; [] x<1000 & y<1000 & %s -> %s:(x'=x+1) + %s:(y'=y+1); endmodule"
	for _, t := range []struct{ name, guard, right, up string }{
		{"plain", "x<=2000", "1/3", "2/3"},
		{"guard", "x/3<=700.1", "1/3", "2/3"},
		{"probability", "x<=2000", "(x+1)/1002", "1-(x+1)/1002"},
	} {
		b.Run(t.name, func(b *testing.B) {
			m := compiled(b, fmt.Sprintf(text, t.guard, t.right, t.up))
			var s *explicit.Space
			for b.Loop() {
				var err error
				if s, err = explicit.Build(b.Context(), m, explicit.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			reportSpace(b, s)
		})
	}
}

// BenchmarkThirds builds 300,304 states whose guards compare multiples of r,
// which are equal in half of the states: both values are to take about as long.
func BenchmarkThirds(b *testing.B) {
	for _, r := range []string{"1/4", "1/3"} {
		b.Run(r, func(b *testing.B) {
			m := compiled(b, `dtmc
const double r = `+r+`;
module a
  x : [0..547];
  [t] x<547 -> r : (x'=x+1) + 1-r : true;
  [t] x=547 -> true;
endmodule
module b
  y : [0..547];
  [t] y<547 & r*y=max(r*x,r*y) -> 0.5 : (y'=y+1) + 0.5 : true;
  [t] y<547 & r*y<max(r*x,r*y) -> r*min(y,3)/3 : (y'=y+1) + 1-r*min(y,3)/3 : true;
  [t] y=547 -> true;
endmodule
`)
			var s *explicit.Space
			for range b.N {
				var err error
				if s, err = explicit.Build(b.Context(), m, explicit.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			reportSpace(b, s)
		})
	}
}
