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
	// runResults are the results about the whole run, instanceResults the results of the instances;
	// results is nil if no instance was judged.
	runResults      []report.TestResult
	instanceResults []report.TestResult
	notes           []string
}

// execute checks the test and sets its results, with the seconds that it took; or reads the results if another process recorded them.
func (u *testRun) execute(ctx context.Context) {
	if u.opt.Split.Replaying() {
		u.replay()
		return
	}
	start := time.Now()
	u.checkAndJudge(ctx)
	seconds := time.Since(start).Seconds()
	for _, results := range [][]report.TestResult{u.runResults, u.instanceResults} {
		for i := range results {
			if out := &results[i]; !out.Cached {
				out.Run = seconds
			}
		}
	}
}

// checkAndJudge checks the property instances and judges the answers. If the files have errors, it judges these.
func (u *testRun) checkAndJudge(ctx context.Context) {
	if u.loadedTest.err != nil {
		u.judgeFileErrors()
		return
	}
	if limit := u.timeLimit(); limit > 0 && u.engine.PRISM == nil {
		var cancel context.CancelFunc
		ctx, cancel = ending.After(ctx, limit)
		defer cancel()
	}
	verdicts, err := u.answers(ctx)
	if err != nil {
		u.runResults = append(u.runResults, u.errorResult(u.engine, u.contextError(ctx, err)))
		return
	}
	u.judgeAll(verdicts)
	u.addWitnesses(ctx)
}

// ToolTime is the default time limit for a run of another program.
const ToolTime = 5 * time.Minute

// timeLimit returns the time limit of the run; 0 means none.
func (u *testRun) timeLimit() time.Duration {
	limit := cmp.Or(u.Time, u.opt.Time)
	_, external := runner.As[*bridge.Engine](u.engine.Engine)
	if limit == 0 && (external || u.engine.PRISM != nil) {
		return ToolTime
	}
	return limit
}

// contextError returns the failure that the end of the context stands for: a time limit or an interrupt. If the context has not ended, it
// returns err.
func (u *testRun) contextError(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		ended := result.Ended(err)
		if ended.Class == result.Timeout && cmp.Or(u.Time, u.opt.Time) == 0 {
			ended.Message += ", the default for other programs (--timeout sets another)"
		}
		return ended
	}
	if ended := result.Ended(ctx.Err()); ended != nil {
		return &result.Failure{Class: result.Interrupted, Message: ended.Message}
	}
	return err
}

// judgeFileErrors sets the results of a test whose files have errors. Properties that expect such an error pass. If there are none, the result
// of the whole run is an error.
func (u *testRun) judgeFileErrors() {
	if len(u.instances) == 0 {
		u.runResults = append(u.runResults, u.errorResult(u.engine, u.loadedTest.err))
		return
	}
	verdicts := make([]answer, len(u.instances))
	for i := range verdicts {
		verdicts[i].Err = fileFailure(u.loadedTest.err)
		verdicts[i].Engine = u.engine.DisplayName()
	}
	u.judgeAll(verdicts)
}

// answer is the verdict about a property instance, and what the report says of its origin.
type answer struct {
	result.Verdict
	cached bool
	log    string
	// testing is PRISM's own judgment of a value that this program cannot read.
	testing string
}

// judgeAll sets the result of every property instance from its answer.
func (u *testRun) judgeAll(answers []answer) {
	u.instanceResults = make([]report.TestResult, len(u.instances))
	for i, instance := range u.instances {
		u.instanceResults[i] = u.judge(u.engine, instance, answers[i])
	}
}

// answers returns one answer for each property instance.
func (u *testRun) answers(ctx context.Context) ([]answer, error) {
	if u.engine.PRISM != nil {
		return u.checkWithPRISM(ctx)
	}
	return u.checkWithEngine(ctx)
}
