package bench

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/shard"
	"tilecheck/report"
	record "tilecheck/report/bench"
	"tilecheck/result"
	"tilecheck/runner/measure"
	"tilecheck/verify/regress"
)

// Options say what is measured, and how.
type Options struct {
	Suite       regress.Options // FS, Name, Seed, Time and Memory are used
	QVBS        bool            // the cases are of the Quantitative Verification Benchmark Set, whose files are translated for PRISM
	Repetitions int
	Cores       []int
	Shard       shard.Part // of the cases
	// Split shares the cases with other processes, if it is not nil. It records the runs of one part, or has the runs of all parts, and then nothing is
	// measured. Each run is passed to Record in both cases.
	Split     *shard.Ledger
	Tilecheck string // the version of this program
	// Done has the keys of the runs that were measured before, which are not repeated.
	Done map[record.Key]bool
	// Record is called with each measured run.
	Record func(*record.Run) error
	// Progress is called before each run, with the number of finished runs and the number of all runs. It may be nil.
	Progress func(done, total int, next string)
}

// Run measures every tool on every case, repetition by repetition. In each repetition the tools of a case run one after the
// other, in an order drawn from the seed, so that a slow change of the machine affects all of them equally.
func Run(ctx context.Context, tests []regress.Test, tools []*Tool, options Options) error {
	b := &benchmark{Options: options, tools: tools, machine: ThisMachine()}
	if err := b.addCases(tests); err != nil {
		return err
	}
	if !options.QVBS {
		for _, tool := range tools {
			tool.useSwitches()
		}
	}
	switch {
	case options.Split.Recording():
		return b.recordShard(ctx)
	case options.Split.Replaying():
		return b.replayShards()
	}
	return b.runAll(ctx)
}

// benchmark is the state of Run.
type benchmark struct {
	Options
	tools   []*Tool
	cases   []benchmarkCase
	machine record.Machine
}

// benchmarkCase is a test with its name.
type benchmarkCase struct {
	name string
	test regress.Test
}

// runAll measures every tool on every case.
func (b *benchmark) runAll(ctx context.Context) error {
	done := 0
	total := len(b.cases) * len(b.tools) * b.Repetitions
	for repetition := 1; repetition <= b.Repetitions; repetition++ {
		for i := range b.cases {
			for _, tool := range b.order(&b.cases[i], repetition) {
				if err := b.runOnce(ctx, &b.cases[i], tool, repetition, done, total); err != nil {
					return err
				}
				done++
			}
		}
	}
	return nil
}

// addCases adds the tests of the shard. It returns an error if two tests have the same name.
func (b *benchmark) addCases(tests []regress.Test) error {
	seen := make(map[string]bool)
	for _, test := range tests {
		name := CaseName(&test, b.Suite.Name)
		if seen[name] {
			return fmt.Errorf("two cases are called %q, want names that differ", name)
		}
		seen[name] = true
		if b.Shard.Holds(name) {
			b.cases = append(b.cases, benchmarkCase{name, test})
		}
	}
	return nil
}

// CaseName returns the name of a test in results: its files, switches and constants. userName returns the name of a file for
// messages; it may be nil.
func CaseName(test *regress.Test, userName func(string) string) string {
	var words []string
	for _, file := range []string{test.Model, test.Props} {
		if file != "" && userName != nil {
			file = userName(file)
		}
		if file != "" {
			words = append(words, file)
		}
	}
	words = append(words, test.Args...)
	return strings.Join(append(words, test.Consts...), " ")
}

// order returns the tools in the random order in which they run on a case in a repetition. The order depends only on the seed, the case and the
// repetition.
func (b *benchmark) order(benchCase *benchmarkCase, repetition int) []*Tool {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", benchCase.name, repetition)
	rng := rand.New(rand.NewPCG(b.Suite.Seed, hash.Sum64()))
	tools := slices.Clone(b.tools)
	rng.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
	return tools
}

// runOnce measures a tool on a case and records the run, unless Options.Done has it.
func (b *benchmark) runOnce(ctx context.Context, benchCase *benchmarkCase, tool *Tool, repetition, done, total int) error {
	if b.Done[record.Key{Case: benchCase.name, Tool: tool.Label, Repetition: repetition}] {
		return nil
	}
	if b.Progress != nil {
		b.Progress(done, total, tool.Label+" on "+benchCase.name)
	}
	run, err := b.measure(ctx, benchCase, tool, repetition)
	if ctx.Err() != nil {
		return ctx.Err() // the measurement is incomplete
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", tool.Label, benchCase.name, err)
	}
	return b.Record(run)
}

// measure runs a tool on a case once.
func (b *benchmark) measure(ctx context.Context, benchCase *benchmarkCase, tool *Tool, repetition int) (*record.Run, error) {
	tool.meter.Take()
	run := &record.Run{
		Format: record.Format, Case: benchCase.name, Tool: tool.Label, Repetition: repetition,
		Started: time.Now().UTC(), Program: tool.Program, Version: tool.Version, Switches: tool.Switches, Cores: b.Cores,
		TimeoutSeconds: b.Suite.Time.Seconds(), MemoryLimit: b.Suite.Memory, Seed: b.Suite.Seed,
		Tilecheck: b.Tilecheck, Machine: b.machine,
	}
	suite := b.Suite
	suite.Jobs = 1
	rep, err := regress.Run(ctx, []regress.Test{benchCase.test}, []regress.EngineConfig{tool.engine}, suite)
	if err != nil {
		return nil, err
	}
	usage := tool.meter.Take()
	judge(run, rep, &usage)
	b.setUsage(run, &usage)
	return run, nil
}

// setUsage sets the times, the memory and the interference of a run.
func (b *benchmark) setUsage(run *record.Run, usage *measure.Usage) {
	run.CPUSeconds, run.UserSeconds, run.SystemSeconds = usage.CPU.Seconds(), usage.User.Seconds(), usage.System.Seconds()
	run.WallSeconds, run.PeakMemory = usage.Wall.Seconds(), usage.PeakMemory
	run.Measured, run.MeasuredWhy = usage.Method, usage.Reason
	cores := len(b.Cores)
	if cores == 0 {
		cores = runtime.NumCPU()
	}
	run.Interference = usage.Interference.Texts(usage.Wall, cores)
}

// judge sets the outcome of a run and of each property from the results of a test. The outcome of the run is the gravest of them.
func judge(run *record.Run, rep *report.TestReport, usage *measure.Usage) {
	for i := range rep.Results {
		judged := &rep.Results[i]
		outcome := outcomeOf(judged)
		if usage.OutOfMemory && !outcome.Solved() {
			outcome = record.OutOfMemory
		}
		if judged.Property != "" {
			run.Properties = append(run.Properties, record.Property{Property: judged.Property, Value: judged.Got, Expected: judged.Expected, Outcome: outcome})
		}
		if run.Outcome == "" || outcome.Graver(run.Outcome) {
			run.Outcome, run.Reason = outcome, judged.Reason
		}
	}
	if run.Outcome == "" {
		run.Outcome, run.Reason = record.Unchecked, "there is no property"
	}
}

// outcomeOf returns the outcome of one result of a test.
func outcomeOf(judged *report.TestResult) record.Outcome {
	verdict := judged.Verdict
	switch judged.Outcome {
	case report.TestPassed:
		return record.Right
	case report.TestFailed, report.TestDisagreed:
		switch {
		case verdict != nil && verdict.Err != nil:
			return record.Failed
		case verdict != nil && claimsBounds(verdict.Accuracy):
			return record.BoundViolated
		}
		return record.Wrong
	case report.TestLimit, report.TestError:
		if verdict != nil && verdict.Err != nil && verdict.Err.Class.Limited() {
			return limitOutcome(verdict.Err.Class)
		}
		return record.Failed
	case report.TestUnsupported:
		return record.Refused
	case report.TestUnchecked, report.TestNotTested:
		if verdict != nil && verdict.Err != nil {
			return record.Failed
		}
		return record.Unchecked
	}
	return record.Failed
}

// limitOutcome returns the outcome of a run that exceeded a limit of this class.
func limitOutcome(class result.Class) record.Outcome {
	if class == result.Timeout {
		return record.Timeout
	}
	return record.OutOfMemory
}

// claimsBounds reports whether a tool claims, for a value of this accuracy, an interval that contains the true value.
func claimsBounds(accuracy result.Accuracy) bool {
	switch accuracy {
	case result.Exact, result.Bounded, result.Proven, result.Claimed:
		return true
	}
	return false
}

// CheckDone returns the keys of earlier runs. It returns an error if one was measured with another version of a tool, or with other limits or
// cores.
func CheckDone(runs []record.Run, tools []*Tool, options *Options, file string) (map[record.Key]bool, error) {
	done := make(map[record.Key]bool)
	for i := range runs {
		run := &runs[i]
		done[run.Key()] = true
		for _, tool := range tools {
			if tool.Label != run.Tool {
				continue
			}
			if reason := differs(run, tool, options); reason != "" {
				return nil, fmt.Errorf("%s has runs of %s with %s: want another file", file, tool.Label, reason)
			}
		}
	}
	return done, nil
}

// differs says, for a message, how the settings of an earlier run differ from the present ones. It is empty if they do not differ.
func differs(run *record.Run, tool *Tool, options *Options) string {
	switch {
	case run.Version != tool.Version:
		return fmt.Sprintf("version %s, and this is %s", run.Version, tool.Version)
	case run.TimeoutSeconds != options.Suite.Time.Seconds():
		return fmt.Sprintf("a time limit of %v s, and this is %v s", run.TimeoutSeconds, options.Suite.Time.Seconds())
	case run.MemoryLimit != options.Suite.Memory:
		return fmt.Sprintf("a memory limit of %d bytes, and this is %d", run.MemoryLimit, options.Suite.Memory)
	case fmt.Sprint(run.Cores) != fmt.Sprint(options.Cores):
		return fmt.Sprintf("the cores %v, and these are %v", run.Cores, options.Cores)
	}
	return ""
}
