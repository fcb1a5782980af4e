package regress

import (
	"cmp"
	"context"
	"errors"
	"time"

	"tilecheck/bridge"
	"tilecheck/internal/ending"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// testRun is the run of one test on one engine.
type testRun struct {
	*loadedTest
	engine  *EngineConfig
	workers int
	// runResults are the results about the whole run, instanceResults the results of the instances.
	// instanceResults is nil if no instance was judged.
	runResults      []report.TestResult
	instanceResults []report.TestResult
	notes           []string
}

// execute runs the test and sets its results and their duration. When the results of shards are merged, it reads the recorded results instead.
func (run *testRun) execute(ctx context.Context) {
	if run.options.Ledger.Replaying() {
		run.replay()
		return
	}
	start := time.Now()
	run.checkAndJudge(ctx)
	seconds := time.Since(start).Seconds()
	for _, results := range [][]report.TestResult{run.runResults, run.instanceResults} {
		for i := range results {
			if !results[i].Cached {
				results[i].Run = seconds
			}
		}
	}
}

// checkAndJudge checks the property instances and judges the answers. If the files of the test have errors, it judges these errors instead.
func (run *testRun) checkAndJudge(ctx context.Context) {
	if run.loadedTest.err != nil {
		run.judgeFileErrors()
		return
	}
	if limit := run.timeLimit(); limit > 0 && run.engine.PRISM == nil {
		var cancel context.CancelFunc
		ctx, cancel = ending.After(ctx, limit)
		defer cancel()
	}
	answers, err := run.answers(ctx)
	if err != nil {
		run.runResults = append(run.runResults, run.errorResult(run.engine, run.contextError(ctx, err)))
		return
	}
	run.judgeAll(answers)
	run.addWitnesses(ctx)
}

// ToolTime is the default time limit for a run of another program.
const ToolTime = 5 * time.Minute

// timeLimit returns the time limit of the run. The default is ToolTime for an external tool, and no limit (0) for the embedded engine.
func (run *testRun) timeLimit() time.Duration {
	limit := cmp.Or(run.Time, run.options.Time)
	_, isExternal := runner.As[*bridge.Engine](run.engine.Engine)
	if limit == 0 && (isExternal || run.engine.PRISM != nil) {
		return ToolTime
	}
	return limit
}

// contextError returns a failure that says why a run was stopped: by a time limit or by an interrupt. If the run was not stopped, it returns err.
func (run *testRun) contextError(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		stopped := result.Ended(err)
		if stopped.Class == result.Timeout && cmp.Or(run.Time, run.options.Time) == 0 {
			stopped.Message += ", the default for other programs (--timeout sets another)"
		}
		return stopped
	}
	if stopped := result.Ended(ctx.Err()); stopped != nil {
		return &result.Failure{Class: result.Interrupted, Message: stopped.Message}
	}
	return err
}

// judgeFileErrors sets the results of a test whose files have errors. A property that expects such an error passes.
func (run *testRun) judgeFileErrors() {
	if len(run.instances) == 0 {
		run.runResults = append(run.runResults, run.errorResult(run.engine, run.loadedTest.err))
		return
	}
	answers := make([]answer, len(run.instances))
	for i := range answers {
		answers[i].Err = fileFailure(run.loadedTest.err)
		answers[i].Engine = run.engine.DisplayName()
	}
	run.judgeAll(answers)
}

// answer is the verdict about a property instance, with details for the report.
type answer struct {
	result.Verdict
	cached bool
	log    string
	// judgment is PRISM's own judgment of a value that this program cannot read.
	judgment string
}

// judgeAll sets the result of every property instance from its answer.
func (run *testRun) judgeAll(answers []answer) {
	run.instanceResults = make([]report.TestResult, len(run.instances))
	for i, instance := range run.instances {
		run.instanceResults[i] = run.judge(run.engine, instance, answers[i])
	}
}

// answers checks the property instances of the run and returns one answer for each.
func (run *testRun) answers(ctx context.Context) ([]answer, error) {
	if run.engine.PRISM != nil {
		return run.checkWithPRISM(ctx)
	}
	return run.checkWithEngine(ctx)
}
