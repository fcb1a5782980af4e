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

// unit is one subject on one entrant.
type unit struct {
	*subject
	entrant *Entrant
	workers int
	// whole are the results about the whole run, and results those of the items;
	// results is nil if no item was judged.
	whole   []report.TestResult
	results []report.TestResult
	notes   []string
}

// run fills the results.
func (u *unit) run(ctx context.Context) {
	if u.opt.Split.Replaying() {
		u.replay()
		return
	}
	start := time.Now()
	u.answer(ctx)
	took := time.Since(start).Seconds()
	for _, results := range [][]report.TestResult{u.whole, u.results} {
		for i := range results {
			if r := &results[i]; !r.Cached {
				r.Run = took
			}
		}
	}
}

// answer checks the items, unless the files have errors.
func (u *unit) answer(ctx context.Context) {
	if u.subject.err != nil {
		u.failed()
		return
	}
	if limit := u.limit(); limit > 0 && u.entrant.PRISM == nil {
		var cancel context.CancelFunc
		ctx, cancel = ending.After(ctx, limit)
		defer cancel()
	}
	verdicts, err := u.verdicts(ctx)
	if err != nil {
		u.whole = append(u.whole, u.errorResult(u.entrant, u.interrupted(ctx, err)))
		return
	}
	u.judgeAll(verdicts)
	u.addWitnesses(ctx)
}

// ToolTime is the default time limit for a run of another program.
const ToolTime = 5 * time.Minute

// limit returns the time limit of the run; 0 is none.
func (u *unit) limit() time.Duration {
	asked := cmp.Or(u.Time, u.opt.Time)
	_, outside := runner.As[*bridge.Engine](u.entrant.Engine)
	if asked == 0 && (outside || u.entrant.PRISM != nil) {
		return ToolTime
	}
	return asked
}

// interrupted replaces an error that the end of the context has caused.
func (u *unit) interrupted(ctx context.Context, err error) error {
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

// failed handles a subject whose files have errors. Properties that expect such an error pass. Without any, the run is
// an error.
func (u *unit) failed() {
	if len(u.items) == 0 {
		u.whole = append(u.whole, u.errorResult(u.entrant, u.subject.err))
		return
	}
	verdicts := make([]answer, len(u.items))
	for i := range verdicts {
		verdicts[i].Err = fileFailure(u.subject.err)
		verdicts[i].Engine = u.entrant.Called()
	}
	u.judgeAll(verdicts)
}

// answer is the verdict of an item.
type answer struct {
	result.Verdict
	cached bool
	log    string
	// testing is PRISM's own judgment of a value that this program cannot read.
	testing string
}

func (u *unit) judgeAll(answers []answer) {
	u.results = make([]report.TestResult, len(u.items))
	for i, it := range u.items {
		u.results[i] = u.judge(u.entrant, it, answers[i])
	}
}

// verdicts returns one verdict for each item.
func (u *unit) verdicts(ctx context.Context) ([]answer, error) {
	if u.entrant.PRISM != nil {
		return u.tool(ctx)
	}
	return u.checkItems(ctx)
}
