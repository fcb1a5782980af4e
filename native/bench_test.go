package native_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// BenchmarkSimulation samples the two models whose rates on PRISM are known
// (testdata, 2048 numbers: 447 and 149 samples/s) and, when TILECHECK_PRISM
// names a PRISM, runs its -sim on the same file in the same run:
//
//	TILECHECK_PRISM=/path/to/bin/prism go test ./native -run '^$' -bench Simulation
//
// samples/s is over the whole check, compilation included; PRISM's is over its
// sampling only, without starting Java and reading the model.
func BenchmarkSimulation(b *testing.B) {
	for _, bench := range []struct {
		strategy string
		max      int
	}{{"random", 128}, {"orthogonal", 2048}} {
		policy, err := modelgen.ParsePolicy(bench.strategy)
		if err != nil {
			b.Fatal(err)
		}
		model, err := modelgen.Build(modelgen.Config{Rows: 4, Cols: 4, Max: bench.max, Policy: policy})
		if err != nil {
			b.Fatal(err)
		}
		var text bytes.Buffer
		if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s-%d", bench.strategy, bench.max), func(b *testing.B) {
			native := nativeRate(b, text.Bytes())
			if prism := prismRate(b, text.Bytes()); prism > 0 {
				b.ReportMetric(prism, "PRISM-samples/s")
				b.ReportMetric(native/prism, "times-PRISM")
			}
		})
	}
}

const lossProperty = "Pmin=? [ F fail ]"

func nativeRate(b *testing.B, model []byte) float64 {
	b.Helper()
	const samples = 200_000
	steps := 0.0
	start := time.Now()
	for b.Loop() {
		verdicts, err := runner.Check(b.Context(), native.New(), runner.Job{
			File: "2048.prism", Model: model, Props: []string{lossProperty}, Settings: runner.Settings{
				Method:     runner.CI,
				Simulation: runner.Simulation{Samples: samples, Seed: 1},
			},
		})
		if err != nil || verdicts[0].Err != nil {
			b.Fatal(err, verdicts)
		}
		steps += verdicts[0].Steps.Mean * samples
	}
	seconds := time.Since(start).Seconds()
	rate := float64(b.N) * samples / seconds
	b.ReportMetric(rate, "samples/s")
	b.ReportMetric(steps/seconds, "steps/s")
	return rate
}

// prismRate is 0 when there is no PRISM to run.
func prismRate(b *testing.B, model []byte) float64 {
	b.Helper()
	prism := os.Getenv("TILECHECK_PRISM")
	if prism == "" {
		return 0
	}
	file := filepath.Join(b.TempDir(), "model.prism")
	if err := os.WriteFile(file, model, 0o600); err != nil {
		b.Fatal(err)
	}
	out, err := exec.CommandContext(b.Context(), prism, file, "-pf", lossProperty,
		"-sim", "-simsamples", "1000", "-simconf", "0.01").CombinedOutput()
	m := regexp.MustCompile(`Sampling complete: (\d+) iterations in ([0-9.]+) seconds`).FindSubmatch(out)
	if err != nil || m == nil {
		b.Fatalf("%v\n%s", err, out)
	}
	n, errN := strconv.ParseFloat(string(m[1]), 64)
	seconds, errSeconds := strconv.ParseFloat(string(m[2]), 64)
	if errN != nil || errSeconds != nil {
		b.Fatal(errN, errSeconds)
	}
	return n / seconds
}

// BenchmarkProven checks a walk on a grid with bounds, and with a certificate that is made
// and checked: what a proof costs beside an answer.
//
//	go test ./native -run '^$' -bench Proven
func BenchmarkProven(b *testing.B) {
	const walk = `dtmc
const int N = 300;
module walk
  x : [0..N] init 150;
  y : [0..N] init 150;
  [] x>0 & x<N & y>0 & y<N -> 0.3:(x'=x+1) + 0.2:(x'=x-1) + 0.25:(y'=y+1) + 0.25:(y'=y-1);
endmodule
rewards "steps" true : 1; endrewards
`
	const out = "x=0 | x=N | y=0 | y=N"
	for _, property := range []string{"P=? [ F x=N ]", "R=? [ F " + out + " ]"} {
		for _, accuracy := range []result.Accuracy{result.Bounded, result.Proven} {
			b.Run(fmt.Sprintf("%.1s/%s", property, accuracy), func(b *testing.B) {
				for b.Loop() {
					verdicts, err := runner.Check(b.Context(), native.New(), runner.Job{
						File: "walk.prism", Model: []byte(walk), Props: []string{property}, Settings: runner.Settings{
							Method:  runner.States,
							Numeric: runner.Numeric{Accuracy: accuracy},
						},
					})
					if err != nil || verdicts[0].Err != nil || verdicts[0].Accuracy != accuracy {
						b.Fatal(err, verdicts)
					}
					b.ReportMetric(float64(verdicts[0].States), "states")
				}
			})
		}
	}
}
