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

// Options says how to sample. The zero value is PRISM's default: method CI for a query and SPRT for a bounded property. The method is
// chosen for every property by itself; PRISM chooses it for the first property, and uses it for all.
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
	// Steps returns new Steps of the model with each call. Only conditional probabilities, discounted rewards and bounds on rewards need it.
	Steps func() Steps
	// Quantiles are the levels of the quantiles of a reward that the verdict has beside its mean. They need a fixed number of samples.
	Quantiles []float64
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
	// MayBeNegative reports whether a reward of the structure Program.Rewards[index] may be negative. The answer does not depend on samples.
	MayBeNegative(index int) bool
}

// Check samples paths of a model for one property. An error is stored as Err of the result.
//
// Workers draw samples in parallel, but their outcomes are counted in order. Sampling stops at the first sample after which the
// method needs no more. So the result does not depend on the number of workers.
// If the context ends earlier, the result has the estimate from the samples before the first unfinished sample, an interval that
// is valid for any reason to stop, and an Err of class result.Interrupted (result.Timeout if a deadline passed).
//
// The Bound of the verdict is a sound interval for the mean: Clopper-Pearson for a fixed number of samples, or a confidence sequence.
// A reward has a bound only if MaxReward is given. HalfWidth is the nominal half-width of PRISM; a valid plan has none.
//
// Source: the methods of PRISM's simulator; reference, section 5.
func Check(ctx context.Context, paths Paths, property *Property, opts Options) *Result {
	if opts.MaxPath == 0 {
		opts.MaxPath = DefaultMaxPath
	}
	c := &checker{property: property, opts: opts, startTime: time.Now()}
	c.result.Property = property.Text
	c.result.Name = property.Name
	c.result.Seed = &opts.Seed
	c.result.Estimate = math.NaN()
	if err := c.runCheck(ctx, paths); err != nil {
		c.result.Err = Failure(err, property.File, property.Pos)
	}
	c.result.Seconds = time.Since(c.startTime).Seconds()
	return &c.result
}

// checker checks one property by sampling. It collects the outcomes of the samples and writes the verdict.
type checker struct {
	property     *Property
	opts         Options
	objective    *Objective
	plan         *stats.Plan
	startTime    time.Time
	lastProgress time.Time

	successes   stats.Bernoulli
	rewards     stats.Moments
	allRewards  []float64 // the rewards one by one, for quantiles
	pathLengths stepStats
	// failedOutcome is the outcome that ended sampling: an undecided, deadlocked or failed path.
	failedOutcome *compile.Outcome
	result        Result
}

// runCheck translates the property, draws samples, and sets the value of the result. If this process only records a part of the samples, for
// another process to count, it sets no value.
func (checker *checker) runCheck(ctx context.Context, paths Paths) error {
	err := ctx.Err()
	if err != nil {
		return err
	}
	if checker.objective, err = NewObjective(checker.property, checker.opts.MaxPath); err != nil {
		return err
	}
	if checker.plan, err = stats.NewPlan(checker.opts.Params, checker.objective.statsProperty(paths)); err != nil {
		return err
	}
	if err := checker.checkQuantiles(); err != nil {
		return err
	}
	checker.result.Method = methodName(checker.plan.Method())
	if err := checker.drawSamples(ctx, paths); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if checker.opts.Split.Recording() {
		return nil
	}
	checker.setSampleFields()
	if checker.failedOutcome != nil {
		return checker.failedPathError()
	}
	return checker.setValue(ctx)
}

// statsProperty describes the objective to the sampling plan.
func (objective *Objective) statsProperty(paths Paths) stats.Property {
	p := stats.Property{Reward: objective.Reward, MayBeNegative: objective.Reward && paths.MayBeNegative(objective.Monitor.Reward)}
	if !objective.Query() {
		p.Bound = &stats.Bound{AtLeast: objective.Rel == syntax.OpGe || objective.Rel == syntax.OpGt, Threshold: objective.Bound}
	}
	return p
}

// drawSamples draws samples and counts their outcomes, until the sampling plan needs no more. If the check is split among processes, it records
// samples for later, or counts recorded samples.
func (checker *checker) drawSamples(ctx context.Context, paths Paths) (err error) {
	runner, err := checker.newRunner(ctx, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	samples := &sampler{
		runner: runner, seed: checker.opts.Seed, workers: checker.opts.Workers, endSample: math.MaxInt64,
		countOutcome: checker.countOutcome, reportProgress: checker.reportProgress,
	}
	if numSamples, isFixed := checker.plan.Samples(); isFixed {
		samples.endSample = numSamples
	}
	split := checker.opts.Split
	switch {
	case split.Recording():
		return checker.recordPieces(ctx, samples)
	case split.Replaying():
		return split.Replay(checker.sampleStream(), checker.replayPiece)
	}
	return samples.drawAll(ctx)
}

// newRunner returns the runner that draws the samples. Most properties are evaluated by a compiled monitor. Others, such as conditional probabilities, need
// a runner that evaluates each state of a path, and an error says so if Options.Steps is missing.
func (checker *checker) newRunner(ctx context.Context, paths Paths) (compile.BatchRunner, error) {
	switch {
	case checker.objective.Stepwise == nil:
		return paths.NewRunner(ctx, checker.objective.Monitor)
	case checker.opts.Steps == nil:
		return nil, errors.New("this property needs paths that are drawn state by state, which are not available here")
	}
	return newStepwiseRunner(checker.objective.Stepwise, checker.opts.MaxPath, checker.opts.Steps)
}

// sampleStatistics returns the statistics of the samples: of rewards, or of truth values.
func (checker *checker) sampleStatistics() stats.Statistics {
	if checker.objective.Reward {
		return &checker.rewards
	}
	return &checker.successes
}

// countOutcome adds the outcome of the next sample to the statistics, and reports whether more samples are needed. A path without a value, such
// as a path that is too long, ends the sampling.
func (checker *checker) countOutcome(outcome *compile.Outcome) bool {
	if outcome.Status != compile.True && outcome.Status != compile.False {
		checker.failedOutcome = outcome
		return false
	}
	checker.pathLengths.addPath(outcome.Steps)
	if outcome.Nondet > 0 {
		checker.result.Nondet++
	}
	if outcome.Overlap > 0 {
		checker.result.Overlap++
	}
	if checker.objective.Reward {
		checker.rewards.Add(outcome.Reward)
		if len(checker.opts.Quantiles) > 0 {
			checker.allRewards = append(checker.allRewards, outcome.Reward)
		}
		return !checker.plan.Done(&checker.rewards)
	}
	isSuccess := (outcome.Status == compile.True) != checker.objective.Negate
	checker.successes.Add(isSuccess)
	return !checker.plan.Done(&checker.successes)
}

// reportProgress calls Options.Progress, at most ten times per second.
func (checker *checker) reportProgress() {
	now := time.Now()
	statistics := checker.sampleStatistics()
	isTooEarly := statistics.Count() == 0 || now.Sub(checker.lastProgress) < 100*time.Millisecond
	if checker.opts.Progress == nil || isTooEarly {
		return
	}
	checker.lastProgress = now
	update := progress.Progress{Done: statistics.Count(), Unit: progress.Samples, Estimate: statistics.Mean()}
	update.Target, _ = checker.plan.Samples()
	update.Rate = float64(statistics.Count()) / now.Sub(checker.startTime).Seconds()
	outcome, _ := checker.plan.Outcome(statistics)
	if !math.IsInf(outcome.Width, 0) && !math.IsNaN(outcome.Width) {
		update.HalfWidth = outcome.Width
	}
	checker.opts.Progress(update)
}

// setSampleFields sets the fields of the result that describe the samples: their number, their mean, the lengths of their paths, and how
// nondeterminism was resolved.
func (checker *checker) setSampleFields() {
	statistics := checker.sampleStatistics()
	checker.result.Samples = statistics.Count()
	if isProbability := !checker.objective.Reward; isProbability && checker.result.Samples > 0 {
		successes := checker.successes.K
		checker.result.Successes = &successes
	}
	checker.result.Steps = checker.pathLengths.summary()
	if statistics.Count() > 0 {
		checker.result.Estimate = statistics.Mean()
	}
	checker.result.Resolution = checker.resolution()
	checker.warnParameters()
	checker.warnResolution()
}

// resolution returns how the samples resolved nondeterminism: Uniform if a path had to choose, otherwise NoNondet. Without samples it is ResolutionUnknown,
// except for a Markov chain, which has no nondeterminism.
func (checker *checker) resolution() result.Resolution {
	isChain := checker.property.Program.Type == syntax.DTMC || checker.property.Program.Type == syntax.CTMC
	failedPathHadChoices := checker.failedOutcome != nil && checker.failedOutcome.Nondet > 0
	hadChoices := checker.result.Nondet > 0 || checker.result.Overlap > 0 || failedPathHadChoices
	hasSamples := checker.sampleStatistics().Count() > 0
	switch {
	case !hasSamples && !isChain:
		return result.ResolutionUnknown
	case hadChoices:
		return result.Uniform
	}
	return result.NoNondet
}

// setValue computes the value, the accuracy and the bound of the result from the samples. It returns an error if there are too few samples, or if they do
// not decide whether a bounded property such as P>=0.5 holds.
func (checker *checker) setValue(ctx context.Context) error {
	statistics := checker.sampleStatistics()
	outcome, err := checker.plan.Outcome(statistics)
	cause := ctx.Err()
	switch {
	case cause != nil && isCode(err, stats.NotDone):
		err = checker.interruptedError(cause)
	case checker.opts.Split.Replaying() && isCode(err, stats.NotDone):
		err = checker.missingSamplesError(err)
	case err != nil && !isCode(err, stats.Truncated):
		return err
	}
	if statistics.Count() == 0 {
		return err
	}
	checker.result.Accuracy = result.Probable
	checker.result.Confidence = checker.plan.Confidence()
	interval := checker.soundInterval(statistics, err != nil)
	if checker.objective.Query() {
		checker.setEstimate(outcome)
		if err != nil { // the sampling stopped early, perhaps because of the rewards of some samples, so bounds of quantiles could be false
			return err
		}
		return checker.setQuantiles()
	}
	isDecided := checker.setDecision(outcome, interval)
	if !isDecided && err == nil {
		return checker.impreciseError(outcome)
	}
	return err
}

// setDecision sets the truth value of a property such as P>=0.5, if the samples decide it, and reports whether they do. interval is the confidence interval
// of the mean, for a warning.
func (checker *checker) setDecision(outcome stats.Outcome, interval stats.Interval) bool {
	if outcome.Decision != stats.Holds && outcome.Decision != stats.Fails {
		return false
	}
	checker.result.Value = result.Value{Kind: result.Boolean, Bool: outcome.Decision == stats.Holds}
	checker.warnDecision(outcome, interval)
	return true
}

// setEstimate sets the value of a query to the estimate.
func (checker *checker) setEstimate(outcome stats.Outcome) {
	checker.result.Value = result.Value{Kind: result.Number, Num: outcome.Mean}
	if !math.IsInf(outcome.Width, 0) && !checker.plan.Valid() { // a valid plan has an interval instead
		checker.result.HalfWidth = &outcome.Width
	}
	checker.warnEstimate(outcome)
}

// checkQuantiles returns an error if the options ask for quantiles that cannot be bounded. The property must be a query for a reward, and the number of
// samples must be fixed before sampling.
func (checker *checker) checkQuantiles() error {
	if len(checker.opts.Quantiles) == 0 {
		return nil
	}
	if !checker.objective.Reward || !checker.objective.Query() {
		return errors.New("quantiles are those of a reward: want a property R=? [ ... ]")
	}
	if _, isFixed := checker.plan.Samples(); !isFixed {
		return errors.New("the bounds of quantiles need a number of samples that is fixed before sampling: want --samples")
	}
	return nil
}

// setQuantiles adds the quantiles of the reward that the options ask for to the result, with their bounds.
func (checker *checker) setQuantiles() error {
	if len(checker.opts.Quantiles) == 0 {
		return nil
	}
	quantiles, err := stats.Quantiles(checker.allRewards, checker.opts.Quantiles, checker.plan.RewardBounds(), checker.plan.Confidence())
	if err != nil {
		return err
	}
	for _, quantile := range quantiles {
		checker.result.Quantiles = append(checker.result.Quantiles, result.Quantile{
			Level: result.JSONNumber(quantile.Level),
			Value: result.JSONNumber(quantile.Value), Lower: result.JSONNumber(quantile.Lower), Upper: result.JSONNumber(quantile.Upper),
			Tail: result.JSONNumber(quantile.Tail), TailLower: result.JSONNumber(quantile.TailLower), TailUpper: result.JSONNumber(quantile.TailUpper),
		})
	}
	return nil
}

// soundInterval returns a confidence interval of the mean. If the interval is guaranteed, it also becomes the bound of the result. isInterrupted says that
// the sampling ended before its plan was done.
func (checker *checker) soundInterval(statistics stats.Statistics, isInterrupted bool) stats.Interval {
	// An interruption makes the number of samples depend on the lengths of the paths. Then only a confidence sequence is valid.
	isSequential := checker.plan.Sequential() || isInterrupted
	interval, err := checker.confidenceInterval(isSequential)
	switch {
	case err != nil:
		checker.addWarning("no sound interval: %v", err)
	case interval.Sound():
		checker.result.Bound = &result.Interval{Lo: interval.Lo, Hi: interval.Hi}
		checker.result.BoundMethod = interval.Method.String()
	}
	return interval
}

// confidenceInterval returns a confidence interval for the mean of the samples. A sequential interval is valid even if the
// outcomes determine the number of samples.
func (checker *checker) confidenceInterval(isSequential bool) (stats.Interval, error) {
	if !checker.objective.Reward {
		return stats.BernoulliInterval(checker.successes, checker.plan.Confidence(), isSequential)
	}
	return stats.RewardInterval(checker.rewards, checker.plan.RewardBounds(), checker.plan.Confidence(), isSequential)
}

// methodName returns the name of a method in verdicts.
func methodName(method stats.Method) string {
	return map[stats.Method]string{stats.CI: "ci", stats.ACI: "aci", stats.APMC: "apmc", stats.SPRT: "sprt"}[method]
}

// isCode reports whether an error of package stats has a code.
func isCode(err error, code stats.Code) bool {
	statsErr, ok := errors.AsType[*stats.Error](err)
	return ok && statsErr.Code == code
}

// stepStats sums up the lengths of paths. Sums of lengths fit 63 bits.
type stepStats struct{ numPaths, totalSteps, minSteps, maxSteps int64 }

// addPath adds a path with this number of steps to the statistics.
func (lengths *stepStats) addPath(steps int64) {
	if lengths.numPaths == 0 {
		lengths.minSteps = steps
	}
	lengths.numPaths++
	lengths.totalSteps += steps
	lengths.minSteps, lengths.maxSteps = min(lengths.minSteps, steps), max(lengths.maxSteps, steps)
}

func (lengths *stepStats) summary() *result.Steps {
	if lengths.numPaths == 0 {
		return nil
	}
	return &result.Steps{Min: lengths.minSteps, Max: lengths.maxSteps, Mean: float64(lengths.totalSteps) / float64(lengths.numPaths)}
}

func (checker *checker) addWarning(format string, args ...any) {
	checker.result.Warnings = append(checker.result.Warnings, fmt.Sprintf(format, args...))
}
