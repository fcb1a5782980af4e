package native_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// needles is a model whose likeliest paths to s=3 have little probability together: that of
// P<=1/10 takes hours. The greatest probability of [ F s=3 ] is 1.
const needles = `mdp
module m
  s : [0..3];
  [b] s=0 -> 1/10:(s'=2) + 9/10:(s'=1);
  [] s=1 -> 999/1000:(s'=1) + 1/1000:(s'=0);
  [] s=2 -> 1/2:(s'=1) + 1/4:(s'=2) + 1/4:(s'=3);
  [] s=3 -> true;
endmodule
`

// afterLimit checks a property with limits that grow until there is a value.
func afterLimit(t *testing.T, job runner.Job) result.Verdict {
	t.Helper()
	for limit := 20 * time.Millisecond; ; limit *= 2 {
		ctx, cancel := ending.After(t.Context(), limit)
		vs, err := runner.Check(ctx, native.New(), job)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if v := vs[0]; v.Value.Kind != result.NoValue {
			return v
		}
		if limit > time.Minute {
			t.Fatal("no value within a minute")
		}
	}
}

// An answer that is there when the time is over is told, with the paths that were found.
func TestAnswerBeforeWitness(t *testing.T) {
	v := afterLimit(t, runner.Job{File: "m.prism", Model: []byte(needles), Props: []string{"P<=1/10 [ F s=3 ]"}, Outputs: runner.Outputs{Witness: &runner.Witness{Paths: 1}}})
	if v.Value.Bool || v.Accuracy != result.Bounded {
		t.Errorf("found %v, %s, want false, bounded", v.Value, v.Accuracy)
	}
	if v.Err == nil || v.Err.Class != result.Timeout {
		t.Errorf("found the error %v, want that the time was over", v.Err)
	}
	if len(v.Witnesses) == 0 {
		return // it was over before the first path
	}
	w := &v.Witnesses[0]
	// 1/10 * 1/4 is the likeliest path.
	if w.Enough || w.SumFraction != "" || w.Sum < 0.025 || w.Sum > 0.1 || len(w.Paths) != 1 || w.Paths[0].Fraction != "1/40" {
		t.Errorf("found %+v, want paths of less than 1/10, the first of 1/40", w)
	}
}

// blocked writes nothing until its context has ended.
func blocked(ctx context.Context, after time.Duration) func(string, func(io.Writer) error) error {
	return func(string, func(io.Writer) error) error {
		<-ctx.Done()
		time.Sleep(after)
		return ctx.Err()
	}
}

// The same of what is written after the answer, whether the writer ends in time or is left behind.
func TestAnswerBeforeFile(t *testing.T) {
	for _, after := range []time.Duration{0, 400 * time.Millisecond} {
		for name, with := range map[string]func(*runner.Job, func(string, func(io.Writer) error) error){
			"scheduler": func(job *runner.Job, write func(string, func(io.Writer) error) error) {
				job.Scheduler = &runner.SchedulerFile{Target: "s.tra", Write: write}
			},
			"certificate": func(job *runner.Job, write func(string, func(io.Writer) error) error) {
				job.Numeric.Accuracy = result.Proven
				job.Certificate = &runner.CertificateFile{File: "m.cert", Write: write}
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ctx, end := ending.Ender(t.Context())
				job := runner.Job{File: "m.prism", Model: []byte(needles), Props: []string{"Pmax=? [ F s=3 ]"}}
				wait := blocked(ctx, after)
				with(&job, func(file string, write func(io.Writer) error) error {
					end(&ending.Limit{After: time.Second})
					return wait(file, write)
				})
				vs, err := runner.Check(ctx, native.New(), job)
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				if len(vs) != 1 || vs[0].Value.Kind != result.Number || vs[0].Value.Num < 1-1e-6 || vs[0].Value.Num > 1 {
					t.Errorf("found %+v, want the value 1", vs)
				}
				if err == nil && name == "scheduler" && (vs[0].Err == nil || vs[0].Err.Class != result.Timeout) {
					t.Errorf("found the error %v, want that the time was over", vs[0].Err)
				}
			})
		}
	}
}

// A property that takes too much memory is given up alone, whichever comes first.
func TestMemoryOfOneProperty(t *testing.T) {
	const heavy, light = "P<=1/10 [ F s=2 ]", "P<=1 [ F s=1 ]"
	for _, props := range [][]string{{heavy, light}, {light, heavy}, {light, heavy, light}} {
		ctx, end := ending.Divisible(t.Context())
		left := 2
		job := runner.Job{File: "m.prism", Model: []byte(needles), Props: props, Outputs: runner.Outputs{Witness: &runner.Witness{Paths: 1, Part: true}}}
		job.Witness.Model = func([]byte) error { // of heavy alone, whose bound is refuted by few commands
			full := &ending.Memory{Limit: 1 << 20}
			if left--; left >= 0 {
				end(full)
			}
			return full
		}
		vs, err := runner.Check(ctx, native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vs {
			want := props[i] == heavy
			if got := v.Err != nil && v.Err.Class == result.Memory; got != want {
				t.Errorf("%q: %s: the error %v, out of memory should be %v", props, props[i], v.Err, want)
			}
		}
	}
}

// Every verdict is reported as soon as it is there, in the order of the answer.
func TestVerdictsAsTheyCome(t *testing.T) {
	var reported []string
	job := runner.Job{File: "m.prism", Model: []byte(needles), Props: []string{"Pmax=? [ F s=3 ]", "Pmin=? [ F s=3 ]", "Pmax=? [ F s=2 ]"}}
	job.Verdict = func(v *result.Verdict) { reported = append(reported, v.Property) }
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != 3 || len(reported) != 3 {
		t.Fatalf("found %d verdicts, %d reported, want 3 of each", len(verdicts), len(reported))
	}
	for i, v := range verdicts {
		if v.Property != reported[i] {
			t.Errorf("verdict %d is of %s, reported %s", i, v.Property, reported[i])
		}
	}
}
