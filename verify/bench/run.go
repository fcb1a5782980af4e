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
	// Ledger shares the cases with other processes, if it is not nil. It records the runs of one part, or has the runs of all parts, and then nothing is
	// measured. Each run is passed to Record in both cases.
	Ledger    *shard.Ledger
	Tilecheck string // the version of this program
	// Done has the keys of the runs that were measured before, which are not repeated.
	Done map[record.Key]bool
	// Record is called with each measured run.
	Record func(*record.Run) error
	// Progress is called before each run, with the number of finished runs and the number of all runs. It may be nil.
	Progress func(done, total int, next string)
}

// Run measures every tool on every case. Each repetition measures all cases, and the tools run on a case in a random order, so a slow change of the machine
// affects all tools equally.
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
	case options.Ledger.Recording():
		return b.recordShard(ctx)
	case options.Ledger.Replaying():
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

// plannedRun is a run of a tool on a case.
type plannedRun struct {
	benchCase  *benchmarkCase
	tool       *Tool
	repetition int // from 1
}

// plannedRuns returns all runs of the benchmark in the order in which they are measured.
func (b *benchmark) plannedRuns() (runs []plannedRun) {
	for repetition := 1; repetition <= b.Repetitions; repetition++ {
		for i := range b.cases {
			for _, tool := range b.shuffledTools(&b.cases[i], repetition) {
				runs = append(runs, plannedRun{&b.cases[i], tool, repetition})
			}
		}
	}
	return runs
}

// runAll measures every tool on every case. It skips the runs in Options.Done.
func (b *benchmark) runAll(ctx context.Context) error {
	runs := b.plannedRuns()
	for i, run := range runs {
		if b.Done[record.Key{Case: run.benchCase.name, Tool: run.tool.Label, Repetition: run.repetition}] {
			continue
		}
		if b.Progress != nil {
			b.Progress(i, len(runs), run.tool.Label+" on "+run.benchCase.name)
		}
		if err := b.runOnce(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// addCases adds a case for each test that belongs to this shard. It returns an error if two tests get the same name, because names identify cases in results.
func (b *benchmark) addCases(tests []regress.Test) error {
	isNameUsed := make(map[string]bool)
	for _, test := range tests {
		name := CaseName(&test, b.Suite.Name)
		if isNameUsed[name] {
			return fmt.Errorf("two cases are called %q, want names that differ", name)
		}
		isNameUsed[name] = true
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

// shuffledTools returns the tools in random order. The order depends only on the seed, the case and the repetition.
func (b *benchmark) shuffledTools(benchCase *benchmarkCase, repetition int) []*Tool {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", benchCase.name, repetition)
	rng := rand.New(rand.NewPCG(b.Suite.Seed, hash.Sum64()))
	tools := slices.Clone(b.tools)
	rng.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
	return tools
}

// runOnce measures a run and records it.
func (b *benchmark) runOnce(ctx context.Context, planned plannedRun) error {
	run, err := b.measure(ctx, planned)
	if ctx.Err() != nil {
		return ctx.Err() // the measurement is incomplete
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", planned.tool.Label, planned.benchCase.name, err)
	}
	return b.Record(run)
}

// measure runs a tool on a case once, and returns the run with its outcome, times and memory.
func (b *benchmark) measure(ctx context.Context, planned plannedRun) (*record.Run, error) {
	tool := planned.tool
	tool.meter.TakeUsage() // resets the meter
	run := &record.Run{
		Format: record.Format, Case: planned.benchCase.name, Tool: tool.Label, Repetition: planned.repetition,
		Started: time.Now().UTC(), Program: tool.Program, Version: tool.Version, Switches: tool.Switches, Cores: b.Cores,
		TimeoutSeconds: b.Suite.Time.Seconds(), MemoryLimit: b.Suite.Memory, Seed: b.Suite.Seed,
		Tilecheck: b.Tilecheck, Machine: b.machine,
	}
	suite := b.Suite
	suite.Jobs = 1
	testReport, err := regress.Run(ctx, []regress.Test{planned.benchCase.test}, []regress.EngineConfig{tool.engine}, suite)
	if err != nil {
		return nil, err
	}
	usage := tool.meter.TakeUsage()
	judge(run, testReport, &usage)
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

// judge sets the outcome of each property of a run from the report of its test. The run gets the worst outcome of its properties, with the reason.
func judge(run *record.Run, testReport *report.TestReport, usage *measure.Usage) {
	for i := range testReport.Results {
		testResult := &testReport.Results[i]
		outcome := outcomeOf(testResult)
		if usage.OutOfMemory && !outcome.Solved() {
			outcome = record.OutOfMemory
		}
		if testResult.Property != "" {
			run.Properties = append(run.Properties, record.Property{Property: testResult.Property, Value: testResult.Got, Expected: testResult.Expected, Outcome: outcome})
		}
		if run.Outcome == "" || outcome.IsGraverThan(run.Outcome) {
			run.Outcome, run.Reason = outcome, testResult.Reason
		}
	}
	if run.Outcome == "" {
		run.Outcome, run.Reason = record.Unchecked, "there is no property"
	}
}

// outcomeOf converts one result of a test to the outcome of a benchmark run.
func outcomeOf(testResult *report.TestResult) record.Outcome {
	verdict := testResult.Verdict
	switch testResult.Outcome {
	case report.TestPassed:
		return record.Right
	case report.TestFailed, report.TestDisagreed:
		return wrongOutcome(verdict)
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

// wrongOutcome returns the outcome of a verdict that differs from the expected value: BoundViolated if the engine claimed bounds, Failed if it
// gave an error, and Wrong otherwise. The verdict may be nil.
func wrongOutcome(verdict *result.Verdict) record.Outcome {
	switch {
	case verdict == nil:
		return record.Wrong
	case verdict.Err != nil:
		return record.Failed
	case claimsBounds(verdict.Accuracy):
		return record.BoundViolated
	}
	return record.Wrong
}

// limitOutcome returns the outcome of a run that exceeded a limit: Timeout for the class of time limits, and OutOfMemory otherwise.
func limitOutcome(class result.Class) record.Outcome {
	if class == result.Timeout {
		return record.Timeout
	}
	return record.OutOfMemory
}

// claimsBounds reports whether a tool that returns a value of this accuracy claims that the true value lies in an interval.
func claimsBounds(accuracy result.Accuracy) bool {
	switch accuracy {
	case result.Exact, result.Bounded, result.Proven, result.Claimed:
		return true
	}
	return false
}

// KeysOfRuns returns the keys of runs that were recorded earlier, in the named file. It returns an error if such a run used another version of a tool, other
// limits or other cores, because runs with different settings cannot be compared.
func KeysOfRuns(runs []record.Run, tools []*Tool, options *Options, file string) (map[record.Key]bool, error) {
	keys := make(map[record.Key]bool)
	for i := range runs {
		run := &runs[i]
		keys[run.Key()] = true
		for _, tool := range tools {
			if tool.Label != run.Tool {
				continue
			}
			if difference := settingsDifference(run, tool, options); difference != "" {
				return nil, fmt.Errorf("%s has runs of %s with %s: want another file", file, tool.Label, difference)
			}
		}
	}
	return keys, nil
}

// settingsDifference describes how the settings of an earlier run differ from the current settings; empty if they are equal.
func settingsDifference(run *record.Run, tool *Tool, options *Options) string {
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
