package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// DefaultMaxPath is PRISM's -simpathlen.
const DefaultMaxPath = 10000

// Options says how to sample. The zero value is PRISM's default: method CI for
// a query and SPRT for a bounded property, chosen for every property by itself
// (PRISM chooses once, for the first property, and keeps to it).
type Options struct {
	stats.Params
	// MaxPath is the number of steps after which an unbounded property gives
	// up; 0 means DefaultMaxPath.
	MaxPath int64
	// Seed determines every random number. Sample i is a function of Seed and
	// i, so that no result depends on Workers, the number of goroutines that
	// draw samples; 0 means one per processor. Checks with the same seed draw
	// the same numbers: their errors are not independent, which makes differences
	// between similar models more precise and joint confidence unknown.
	Seed    uint64
	Workers int
	// Progress, when not nil, is called a few times per second, never
	// concurrently.
	Progress func(progress.Progress)
	// Split, unless nil, shares the samples with other processes. Stream names the samples by everything that they depend
	// on, except the seed. A result of a part of the samples has no value.
	Split  *shard.Ledger
	Stream string
}

// Result is the result of sampling for one property. Its Verdict lacks the fields that only the caller knows: Constants and
// Engine.
type Result struct {
	result.Verdict
	// Estimate is the mean of the samples, also of a bounded property; NaN
	// without samples.
	Estimate float64
	// Nondet and Overlap are the number of sampled paths that met a state with
	// several choices, or, in a DTMC, with several enabled commands.
	Nondet, Overlap int64
}

// Paths draws sample paths: a *compile.Model, or a state space, an *explicit.Space.
type Paths interface {
	// NewRunner returns a runner, which draws paths for a monitor. The runner and its forks use the context only until
	// NewRunner returns.
	NewRunner(ctx context.Context, mon compile.Monitor) (compile.BatchRunner, error)
}

// Check samples paths of a model for one property. An error is the Err of the result.
//
// The outcomes are counted in the order of the samples, whichever worker drew them, and sampling stops at the first sample
// with which the method is done. So the value, the number of samples and the intervals are the same bits for every number of
// workers. If the context ends before that, the result has the estimate from the samples before the first unfinished one, an
// interval that is valid for any way to end, and an Err of class result.Interrupted (result.Timeout if a deadline passed).
//
// The Bound of the verdict is a sound interval for the mean, and BoundMethod its name: Clopper-Pearson if the number of
// samples was fixed beforehand, otherwise a confidence sequence. A reward has a bound only if MaxReward is given. HalfWidth
// is PRISM's, which is nominal; a valid plan has none.
//
// Source: the methods of PRISM's simulator; reference, section 5.
func Check(ctx context.Context, m Paths, p *Property, opt Options) *Result {
	if opt.MaxPath == 0 {
		opt.MaxPath = DefaultMaxPath
	}
	c := &check{p: p, opt: opt, start: time.Now()}
	c.res.Property, c.res.Name, c.res.Seed = p.Text, p.Name, &opt.Seed
	c.res.Estimate = math.NaN()
	if err := c.run(ctx, m); err != nil {
		c.res.Err = Failure(err, p.File, p.Pos)
	}
	c.res.Seconds = time.Since(c.start).Seconds()
	return &c.res
}

// check is the state of one Check.
type check struct {
	p            *Property
	opt          Options
	obj          *Objective
	plan         *stats.Plan
	start        time.Time
	lastProgress time.Time

	truth   stats.Bernoulli
	rewards stats.Moments
	steps   stepCount
	// failed is the outcome that ended sampling: an undecided, deadlocked or failed path.
	failed *compile.Outcome
	res    Result
}

func (c *check) run(ctx context.Context, m Paths) error {
	var err error
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.obj, err = NewObjective(c.p, c.opt.MaxPath); err != nil {
		return err
	}
	if c.plan, err = stats.NewPlan(c.opt.Params, c.obj.property()); err != nil {
		return err
	}
	c.res.Method = methodName(c.plan.Method())
	if err := c.sample(ctx, m); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if c.opt.Split.Recording() {
		return nil
	}
	c.describe()
	if c.failed != nil {
		return c.pathFailure()
	}
	return c.evaluate(ctx)
}

// property is what the stopping rule needs to know.
func (o *Objective) property() stats.Property {
	p := stats.Property{Reward: o.Reward}
	if !o.Query() {
		p.Bound = &stats.Bound{AtLeast: o.Rel == syntax.OpGe || o.Rel == syntax.OpGt, Threshold: o.Bound}
	}
	return p
}

func (c *check) sample(ctx context.Context, m Paths) (err error) {
	r, err := m.NewRunner(ctx, c.obj.Monitor)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s := &sampler{runner: r, seed: c.opt.Seed, workers: c.opt.Workers, end: math.MaxInt64, take: c.count, tick: c.reportProgress}
	if n, fixed := c.plan.Samples(); fixed {
		s.end = n
	}
	switch split := c.opt.Split; {
	case split.Recording():
		return c.record(ctx, s)
	case split.Replaying():
		return split.Replay(c.stream(), c.replay)
	}
	return s.run(ctx)
}

func (c *check) stats() stats.Statistics {
	if c.obj.Reward {
		return &c.rewards
	}
	return &c.truth
}

// count counts the next sample, and reports whether more are needed.
func (c *check) count(o *compile.Outcome) bool {
	if o.Status != compile.True && o.Status != compile.False {
		c.failed = o
		return false
	}
	c.steps.add(o.Steps)
	if o.Nondet > 0 {
		c.res.Nondet++
	}
	if o.Overlap > 0 {
		c.res.Overlap++
	}
	if c.obj.Reward {
		c.rewards.Add(o.Reward)
		return !c.plan.Done(&c.rewards)
	}
	c.truth.Add((o.Status == compile.True) != c.obj.Negate)
	return !c.plan.Done(&c.truth)
}

// reportProgress reports progress at most ten times per second.
func (c *check) reportProgress() {
	now := time.Now()
	s := c.stats()
	if c.opt.Progress == nil || now.Sub(c.lastProgress) < 100*time.Millisecond || s.Count() == 0 {
		return
	}
	c.lastProgress = now
	target, _ := c.plan.Samples()
	p := progress.Progress{
		Done: s.Count(), Target: target, Unit: progress.Samples, Estimate: s.Mean(), Rate: float64(s.Count()) / now.Sub(c.start).Seconds(),
	}
	if o, _ := c.plan.Outcome(s); !math.IsInf(o.Width, 0) && !math.IsNaN(o.Width) {
		p.HalfWidth = o.Width
	}
	c.opt.Progress(p)
}

// describe sets the fields of the verdict that are known however sampling ended.
func (c *check) describe() {
	s := c.stats()
	c.res.Samples = s.Count()
	c.res.Steps = c.steps.summary()
	if s.Count() > 0 {
		c.res.Estimate = s.Mean()
	}
	c.res.Resolution = result.NoNondet
	if c.res.Nondet > 0 || c.res.Overlap > 0 || c.failed != nil && c.failed.Nondet > 0 {
		c.res.Resolution = result.Uniform
	}
	if s.Count() == 0 && c.p.Program.Type != syntax.DTMC && c.p.Program.Type != syntax.CTMC {
		c.res.Resolution = result.ResolutionUnknown
	}
	c.warnParameters()
	c.warnResolution()
}

// evaluate turns the samples into a value.
func (c *check) evaluate(ctx context.Context) error {
	s := c.stats()
	o, err := c.plan.Outcome(s)
	switch cause := ctx.Err(); {
	case cause != nil && isCode(err, stats.NotDone):
		err = c.interrupted(cause)
	case c.opt.Split.Replaying() && isCode(err, stats.NotDone):
		err = c.lacking(err)
	case err != nil && !isCode(err, stats.Truncated):
		return err
	}
	if s.Count() == 0 {
		return err
	}
	c.res.Accuracy, c.res.Confidence = result.Probable, c.plan.Confidence()
	sound := c.soundInterval(s, err != nil)
	if c.obj.Query() {
		c.estimate(o)
		return err
	}
	switch o.Decision {
	case stats.Holds, stats.Fails:
		c.res.Value = result.Value{Kind: result.Boolean, Bool: o.Decision == stats.Holds}
		c.warnDecision(o, sound)
	default:
		if err == nil {
			err = c.imprecise(o)
		}
	}
	return err
}

// estimate sets the value of a query.
func (c *check) estimate(o stats.Outcome) {
	c.res.Value = result.Value{Kind: result.Number, Num: o.Mean}
	if !math.IsInf(o.Width, 0) && !c.plan.Valid() { // whose interval is what was asked for
		c.res.HalfWidth = &o.Width
	}
	c.warnEstimate(o)
}

// soundInterval sets the bound of the verdict. An interruption makes the number of samples depend on them, because it cuts
// off long paths.
func (c *check) soundInterval(s stats.Statistics, interrupted bool) stats.Interval {
	var i stats.Interval
	var err error
	if sequential := c.plan.Sequential() || interrupted; c.obj.Reward {
		var bounds *stats.Bounds
		if c.opt.MaxReward > 0 {
			bounds = &stats.Bounds{Lo: 0, Hi: c.opt.MaxReward}
		}
		i, err = stats.RewardInterval(c.rewards, bounds, c.plan.Confidence(), sequential)
	} else {
		i, err = stats.BernoulliInterval(c.truth, c.plan.Confidence(), sequential)
	}
	switch {
	case err != nil:
		c.warn("no sound interval: %v", err)
	case i.Sound():
		c.res.Bound, c.res.BoundMethod = &result.Interval{Lo: i.Lo, Hi: i.Hi}, i.Method.String()
	}
	return i
}

func methodName(m stats.Method) string {
	return map[stats.Method]string{stats.CI: "ci", stats.ACI: "aci", stats.APMC: "apmc", stats.SPRT: "sprt"}[m]
}

func isCode(err error, code stats.Code) bool {
	e, ok := errors.AsType[*stats.Error](err)
	return ok && e.Code == code
}

// stepCount sums up the lengths of paths. Sums of lengths fit 63 bits.
type stepCount struct{ n, sum, min, max int64 }

func (s *stepCount) add(steps int64) {
	if s.n == 0 {
		s.min = steps
	}
	s.n++
	s.sum += steps
	s.min, s.max = min(s.min, steps), max(s.max, steps)
}

func (s *stepCount) summary() *result.Steps {
	if s.n == 0 {
		return nil
	}
	return &result.Steps{Min: s.min, Max: s.max, Mean: float64(s.sum) / float64(s.n)}
}

func (c *check) warn(format string, args ...any) {
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(format, args...))
}
