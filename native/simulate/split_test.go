package simulate

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/shard"
	"tilecheck/prism/compile"
	"tilecheck/result"
)

// coin draws paths that are true with probability 0.3 after one step, and false
// after 50: who counts what is finished first counts too many that are true.
type coin struct{}

const heads = 0.3

func (c coin) NewRunner(context.Context, compile.Monitor) (compile.BatchRunner, error) { return c, nil }

func (c coin) MayBeNegative(int) bool { return false }

func (c coin) Name() string { return "coin" }

func (c coin) Run(compile.Stream) compile.Outcome { return compile.Outcome{} }

func (c coin) Fork() (compile.BatchRunner, error) { return c, nil }

func (c coin) Close() error { return nil }

func (c coin) RunBatch(ctx context.Context, seed, first uint64, dst []compile.Outcome) error {
	for i := range dst {
		dst[i] = compile.Outcome{Status: compile.False, Steps: 50}
		if rand.New(rand.NewPCG(seed, first+uint64(i))).Float64() < heads {
			dst[i] = compile.Outcome{Status: compile.True, Steps: 1}
		}
	}
	return ctx.Err()
}

// file writes what was recorded, and reads it.
func file(t *testing.T, dir string, l *shard.Ledger) *shard.File {
	t.Helper()
	var text bytes.Buffer
	name := filepath.Join(dir, fmt.Sprint(l.Part().Index))
	must(t, l.Write(&text, &shard.Job{Build: "b", Args: []string{"x"}}))
	must(t, os.WriteFile(name, text.Bytes(), 0o666))
	f, err := shard.Read(name)
	must(t, err)
	return f
}

// TestMergedCoverage: the interval of a sequential method over merged shards covers
// the value at least as often as its confidence says. This holds if all blocks are
// there, and also if a deadline ended shards that are slow or have long paths.
//
// The test wants at least 1760 of 2000 intervals with confidence 90 % to contain the
// value, or at least 430 of 500. With a coverage of exactly 90 %, the expected numbers
// are 1800 and 450, with standard deviations of 13.4 and 6.7. Then one seed in 700 would
// fail the test. The coverage of confidence sequences is higher.
func TestMergedCoverage(t *testing.T) {
	needs.Full(t)
	m := load(t, die)
	property := m.property(t, "P=? [ F s=7 ]")
	runs, least := 500, 430
	if needs.IsLong() {
		runs, least = 2000, 1760
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(15, 3))
	all, early := 0, 0
	for run := range runs {
		opts := Options{Seed: uint64(run), Stream: "s", Workers: 1}
		opts.Width, opts.Confidence = 0.01, 0.9
		one := Check(t.Context(), coin{}, property, opts)
		const of = 6
		var files, finished []*shard.File
		deadline := 20_000 * rng.ExpFloat64()
		merge := func(files []*shard.File, allowed bool) (*Result, *shard.Ledger) {
			l, err := shard.Join(files, allowed)
			must(t, err)
			opts.Split = l
			return Check(t.Context(), coin{}, property, opts), l
		}
		for i := 1; ; i++ {
			l := shard.Record(shard.Part{Index: i, Count: of})
			opts.Split = l
			Check(t.Context(), coin{}, property, opts)
			f := file(t, dir, l)
			files = append(files, f)
			steps := 0.
			for _, x := range f.Pieces() {
				steps += float64(x.End-x.First) * (50 - 49**x.Mean)
			}
			if steps*rng.ExpFloat64() < deadline {
				finished = append(finished, f)
			}
			if i < of {
				continue
			}
			r, l := merge(files, false)
			if _, wants := l.Err().(*shard.More); wants {
				continue
			}
			must(t, l.Err())
			if fmt.Sprint(r.Value, r.Bound, r.Samples, r.Steps) != fmt.Sprint(one.Value, one.Bound, one.Samples, one.Steps) {
				t.Fatalf("run %d: merged %v %v, one process %v %v", run, r.Value, r.Bound, one.Value, one.Bound)
			}
			if r.Bound.Lo <= heads && heads <= r.Bound.Hi {
				all++
			}
			break
		}
		bound := &result.Interval{Lo: 0, Hi: 1}
		if len(finished) > 0 {
			if r, _ := merge(finished, true); r.Bound != nil {
				bound = r.Bound
			}
		}
		if bound.Lo <= heads && heads <= bound.Hi {
			early++
		}
	}
	if all < least || early < least {
		t.Errorf("of %d intervals at 90 %% %d cover the value, and %d of those before all shards were there", runs, all, early)
	}
	t.Logf("%d runs: %d intervals cover the value, %d before all shards were there", runs, all, early)
}

// TestRecordedSamples: a log says of every sample what was drawn, up to one that has no outcome.
func TestRecordedSamples(t *testing.T) {
	samples := []compile.Outcome{
		{Status: compile.True, Steps: 3, Reward: 0.1},
		{Status: compile.True, Reward: 1e300, Nondet: 1},
		{Status: compile.False, Steps: 1 << 40, Overlap: 1},
		{Status: compile.Failed, Steps: 2, Err: &compile.StateError{File: "m", State: "(x=1)", Msg: "x'=9 leaves [0..8]"}},
	}
	log := newLog(true)
	for i := range samples {
		log.addOutcome(&samples[i])
	}
	data, err := log.compressedBytes()
	must(t, err)
	var got []compile.Outcome
	more, err := readLog(data, 10, true, func(outcome *compile.Outcome) bool {
		got = append(got, *outcome)
		return outcome.Status != compile.Failed
	})
	if more || err != nil || len(got) != len(samples) || *got[3].Err != *samples[3].Err {
		t.Fatalf("%+v, %v, %v", got, more, err)
	}
	got[3].Err, samples[3].Err = nil, nil
	for i := range samples {
		if got[i] != samples[i] {
			t.Errorf("sample %d: %+v, want %+v", i, got[i], samples[i])
		}
	}
	for _, n := range []int64{2, 3} {
		if _, err := readLog(data, n, true, func(*compile.Outcome) bool { return true }); err == nil {
			t.Errorf("a log of more than %d samples is taken for one of %d", n, n)
		}
	}
	for n := range data[:len(data)-1] {
		if _, err := readLog(data[:n], 4, true, func(*compile.Outcome) bool { return true }); err == nil {
			t.Errorf("the first %d bytes of %d are taken for the log", n, len(data))
		}
	}
}
