package external_test

import (
	"context"
	"fmt"
	"testing"

	"tilecheck/native"
	"tilecheck/runner"
)

// walk is a random walk in a box of five dimensions, which ends with a small probability in each step and at the far corner.
const walk = `dtmc
const int N;
const double q = 0.05;
module walk
  a : [0..N]; b : [0..N]; c : [0..N]; d : [0..N]; e : [0..N];
  dead : bool;
  [] !dead & a+b+c+d+e < 5*N -> q : (dead'=true)
     + (1-q)*0.16 : (a'=min(a+1,N)) + (1-q)*0.16 : (b'=min(b+1,N)) + (1-q)*0.16 : (c'=min(c+1,N)) + (1-q)*0.16 : (d'=min(d+1,N)) + (1-q)*0.16 : (e'=min(e+1,N))
     + (1-q)*0.04 : (a'=max(a-1,0)) + (1-q)*0.04 : (b'=max(b-1,0)) + (1-q)*0.04 : (c'=max(c-1,0)) + (1-q)*0.04 : (d'=max(d-1,0)) + (1-q)*0.04 : (e'=max(e-1,0));
  [] dead | a+b+c+d+e = 5*N -> true;
endmodule
rewards
  !dead & a+b+c+d+e < 5*N : 0.1 + a/7;
  [] !dead & a+b+c+d+e < 5*N : 1/3;
endrewards
`

// BenchmarkWalk explores and solves walks of growing sizes. The last size has two million states.
func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{4, 9, 15} {
		if n > 9 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			states := int64(0)
			for b.Loop() {
				job := runner.Job{File: "walk.prism", Model: []byte(walk), Props: []string{"P=? [ F a+b+c+d+e>=4*N & !dead ]"}, Consts: []string{fmt.Sprintf("N=%d", n)}}
				job.Numeric = runner.Numeric{Disk: b.TempDir() + "/d", MaxMemory: 64 << 20, Epsilon: 1e-6}
				verdicts, err := runner.Check(context.Background(), native.New(), job)
				if err != nil || verdicts[0].Err != nil {
					b.Fatal(err, verdicts)
				}
				states = verdicts[0].States
			}
			b.ReportMetric(float64(states)*float64(b.N)/b.Elapsed().Seconds(), "states/s")
		})
	}
}
