package splitting

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"tilecheck/internal/inorder"
	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/native/simulate"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// Variant is a kind of importance splitting. Its text is the name of the method in verdicts.
type Variant string

const (
	FixedEffort Variant = "splitting" // the same number of paths at each level
	Restart     Variant = "restart"   // paths that attain a level are split
)

const (
	// pilotReplications is the number of pilot replications, from which the number of replications is computed. They are not part of the estimate.
	pilotReplications = 50
	// minReplications and maxReplications limit the computed number of replications.
	minReplications = 50
	maxReplications = 100_000
	// relativeHalfWidth is the default half-width, relative to the estimate.
	relativeHalfWidth = 0.05
	// maxProbability is the greatest estimate that is trusted. The estimates of probabilities near one are skewed to the left, and many are equal.
	maxProbability = 0.1
	// maxShare is the greatest share of the sum of all estimates that one replication may have.
	maxShare = 0.1
)

// Check estimates the probability of a property by a variant of importance splitting. Options.Samples is the number of replications. Without it,
// Options.Width is the half-width of the confidence interval; without both, the half-width is 5 % of the estimate. The result does not depend on
// the number of workers.
func Check(ctx context.Context, model *compile.Model, property *simulate.Property, variant Variant, options simulate.Options) result.Verdict {
	start := time.Now()
	c := &check{model: model, property: property, variant: variant, options: options}
	c.options.MaxPath = cmp.Or(options.MaxPath, simulate.DefaultMaxPath)
	c.verdict = result.Verdict{Property: property.Text, Name: property.Name, Seed: &options.Seed, Method: string(variant)}
	if err := c.runCheck(ctx); err != nil {
		c.verdict.Err = simulate.Failure(cmp.Or(ctx.Err(), err), property.File, property.Pos)
		if !c.verdict.Err.Pos.IsValid() {
			c.verdict.Err.File, c.verdict.Err.Pos = property.File, property.Pos
		}
	}
	c.verdict.Seconds = time.Since(start).Seconds()
	return c.verdict
}

// check is the check of one property.
type check struct {
	model      *compile.Model
	property   *simulate.Property
	variant    Variant
	options    simulate.Options
	monitor    *compile.Monitor
	importance *importance
	levels     []level
	hasChoices bool
	verdict    result.Verdict
}

// runCheck selects levels of importance in a pilot run, draws replications of the splitting with these levels, and sets the value of the verdict to
// the mean of their estimates.
func (check *check) runCheck(ctx context.Context) error {
	objective, err := check.supportedObjective()
	if err != nil {
		return err
	}
	check.monitor = &objective.Monitor
	if check.importance, err = deriveImportance(ctx, check.model, check.monitor); err != nil {
		return err
	}
	pilot, err := check.newWalker(ctx, 0)
	if err != nil {
		return err
	}
	if initial := pilot.chain.nodes[0].status; initial != undecided {
		return check.decidedError(initial)
	}
	if check.levels, err = pilot.chooseLevels(ctx); err != nil {
		return err
	}
	count, err := check.numReplications(ctx)
	if err != nil {
		return err
	}
	estimates, err := check.drawReplications(ctx, pilotReplications+1, count)
	if err != nil {
		return err
	}
	check.verdict.Samples = count
	if err := estimates.checkTrust(); err != nil {
		return err
	}
	check.setValue(estimates)
	check.addWarnings(objective)
	return nil
}

// decidedError handles a property that the initial state decides. It sets the value of the verdict to 0 or 1. It always returns an error, because splitting
// is only for rare properties.
func (check *check) decidedError(initialStatus status) error {
	probability := 0.0
	if initialStatus == reached {
		probability = 1
	}
	check.verdict.Value = result.Value{Kind: result.Number, Num: probability}
	return refusalError(fmt.Sprintf("the initial state decides the property, whose value is %v: it is not rare, want another method", probability))
}

// supportedObjective translates the property. It must be P=? of F or U, without a lower bound on time or steps.
func (check *check) supportedObjective() (*simulate.Objective, error) {
	objective, err := simulate.NewObjective(check.property, check.options.MaxPath)
	if err != nil {
		return nil, err
	}
	if feature := check.unsupportedFeature(objective); feature != "" {
		return nil, result.Refuse(check.property, result.Unsupported, check.property.Expr.Pos(), "found %s, splitting wants P=? of F or U without a lower bound", feature)
	}
	return objective, nil
}

// unsupportedFeature returns the name of a feature of the objective or the options that splitting does not support, or "" if there is none.
func (check *check) unsupportedFeature(objective *simulate.Objective) string {
	monitor := &objective.Monitor
	switch {
	case check.options.Split != nil:
		return "a shard"
	case objective.Stepwise != nil:
		return "a condition, a discount or a bound on rewards"
	case objective.Reward:
		return "a reward"
	case objective.Negate:
		return "a negated path formula"
	case monitor.Kind != compile.Until:
		return "the operator X"
	case !objective.Query():
		return "a bounded property"
	case monitor.Low > 0 || monitor.IsLowStrict:
		return "a lower bound"
	}
	return ""
}

// walker returns a walker with its own stream of random numbers.
func (check *check) newWalker(ctx context.Context, stream uint64) (*walker, error) {
	chain, err := newChain(ctx, check.model, check.monitor, check.importance)
	return &walker{chain: chain, monitor: check.monitor, random: compile.NewStream(check.options.Seed, stream)}, err
}

// numReplications returns the number of replications: Options.Samples, or the number that gives the wanted half-width, estimated from the variance
// of pilot replications.
func (check *check) numReplications(ctx context.Context) (int64, error) {
	if check.options.Samples > 0 {
		return check.options.Samples, nil
	}
	// Pilot replications are not part of the estimate, so the number is independent of the estimate.
	pilot, err := check.drawReplications(ctx, 1, pilotReplications)
	if err != nil {
		return 0, err
	}
	if pilot.numPositive < pilotReplications/2 {
		return 0, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("only %d of %d replications reached the target: the variance of splitting is not trustworthy here", pilot.numPositive, pilotReplications)}
	}
	halfWidth := cmp.Or(check.options.Width, relativeHalfWidth*pilot.moments.Mean())
	return check.replicationsFor(halfWidth, pilot.moments.Variance())
}

// replicationsFor returns the number of replications that are needed for a half-width: variance * (t / halfWidth)^2, where t is a quantile of
// Student's distribution. Because the variance comes from few pilot replications, the result is 30 % greater.
func (check *check) replicationsFor(halfWidth, variance float64) (int64, error) {
	const reserve = 1.3
	quantile := stats.StudentQuantile(check.confidence(), pilotReplications-1)
	needed := math.Ceil(reserve * variance * math.Pow(quantile/halfWidth, 2))
	if needed > maxReplications {
		return 0, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("a half-width of %.3g takes about %.0f replications, at most %d are drawn: the variance of splitting is too large here; want a greater --width, or the number of replications (--samples)", halfWidth, needed, maxReplications)}
	}
	return max(int64(needed), minReplications), nil
}

// confidence returns the confidence in the options, or the default.
func (check *check) confidence() float64 {
	return cmp.Or(check.options.Confidence, stats.DefaultConfidence)
}

// estimates summarizes the estimates of independent replications.
type estimates struct {
	moments          stats.Moments
	numPositive      int64   // the number of estimates that are not 0
	greatestEstimate float64 // the greatest estimate
}

// checkTrust returns an error if the probability is too great for splitting, or if the variance of the estimates is not reliable, so that the confidence
// interval could be far too narrow.
func (estimates *estimates) checkTrust() error {
	count, mean := estimates.moments.Count(), estimates.moments.Mean()
	if mean > maxProbability {
		return &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("the property is not rare: its probability is about %.2g, and splitting is for at most %v; want --method sim", mean, maxProbability)}
	}
	sum := mean * float64(count)
	message := ""
	switch {
	case mean > 0 && estimates.moments.Variance() == 0:
		message = fmt.Sprintf("the estimates of %d replications are equal", count)
	case count < minReplications/2:
		message = fmt.Sprintf("%d replications are too few for an interval, want at least %d", count, minReplications/2)
	case estimates.numPositive < count/2:
		message = fmt.Sprintf("only %d of %d replications reached the target", estimates.numPositive, count)
	case estimates.greatestEstimate > maxShare*sum && estimates.greatestEstimate > 5*mean:
		message = fmt.Sprintf("one of %d replications has %.0f %% of the sum of their estimates", count, 100*estimates.greatestEstimate/sum)
	default:
		return nil
	}
	return &result.Failure{Class: result.NonConverge, Message: message + ": the variance of splitting is not trustworthy here; want more replications (--samples)"}
}

// drawReplications draws count replications in parallel, and returns a summary of their estimates. first is the number of the first replication; it
// determines the random numbers.
func (check *check) drawReplications(ctx context.Context, first, count int64) (*estimates, error) {
	summary := &estimates{}
	lastReport := time.Now()
	err := inorder.Run(ctx, inorder.Jobs[replication]{
		End: count, Workers: check.options.Workers,
		Start: func(ctx context.Context) (inorder.Worker[replication], error) {
			walker, err := check.newWalker(ctx, 0)
			return &worker{walker, check, first}, err
		},
		Take: func(_ int64, drawn *replication) bool {
			summary.addEstimate(drawn.estimate)
			check.hasChoices = check.hasChoices || drawn.hasChoices
			return true
		},
		Tick: func() {
			if check.options.Progress != nil && time.Since(lastReport) > 100*time.Millisecond {
				lastReport = time.Now()
				check.options.Progress(progress.Progress{Done: summary.moments.Count(), Target: count, Unit: progress.Samples, Estimate: summary.moments.Mean()})
			}
		},
	})
	return summary, cmp.Or(err, ctx.Err())
}

// addEstimate includes the estimate of a replication.
func (estimates *estimates) addEstimate(estimate float64) {
	estimates.moments.Add(estimate)
	if estimate > 0 {
		estimates.numPositive++
	}
	estimates.greatestEstimate = max(estimates.greatestEstimate, estimate)
}

// replication is the result of one replication.
type replication struct {
	estimate   float64
	hasChoices bool
}

// worker draws replications in one goroutine.
type worker struct {
	*walker
	check            *check
	firstReplication int64
}

// Do implements inorder.Worker: it draws count replications. first is the number of the first of them, counted from worker.firstReplication.
func (worker *worker) Do(ctx context.Context, first, count int64) ([]replication, error) {
	var replications []replication
	for i := range count {
		worker.random = compile.NewStream(worker.check.options.Seed, uint64(worker.firstReplication+first+i))
		estimate, err := worker.drawEstimate(ctx)
		if err != nil {
			return replications, err
		}
		replications = append(replications, replication{estimate, worker.hasChoices})
	}
	return replications, nil
}

// drawEstimate draws one replication and returns its estimate of the probability.
func (worker *worker) drawEstimate(ctx context.Context) (float64, error) {
	if worker.check.variant == Restart {
		return worker.drawRestart(ctx, worker.check.levels)
	}
	return worker.drawFixedEffort(ctx, worker.check.levels)
}

// Close implements inorder.Worker.
func (worker *worker) Close() error { return nil }

// setValue sets the verdict to the mean of the estimates, with its nominal half-width.
func (check *check) setValue(replications *estimates) {
	mean := replications.moments.Mean()
	check.verdict.Value = result.Value{Kind: result.Number, Num: mean}
	check.verdict.Accuracy, check.verdict.Confidence = result.Probable, check.confidence()
	halfWidth := stats.SkewedHalfWidth(&replications.moments, check.confidence())
	check.verdict.HalfWidth = &halfWidth
}

// effort returns a text for a warning that says how many paths one replication draws.
func (check *check) effort() string {
	if check.variant == Restart {
		return noun.Count(check.levels[0].paths, "path") + " that split at them"
	}
	total := 0
	for _, level := range check.levels {
		total += level.paths
	}
	return noun.Count(total, "path") + " each"
}

// addWarnings sets how choices were resolved, and adds warnings about the half-width and about choices that were made at random.
func (check *check) addWarnings(objective *simulate.Objective) {
	domain := "the variables of the property"
	if check.importance.isComplete {
		domain = "all states"
	}
	check.verdict.Warnings = append(check.verdict.Warnings, fmt.Sprintf("the half-width is nominal, by Student's t for independent replications of importance splitting with %s and %s; the importance function is of %s", noun.Count(len(check.levels), "level"), check.effort(), domain))
	isMDP := check.property.Program.Type != syntax.DTMC && check.property.Program.Type != syntax.CTMC
	check.verdict.Resolution = result.NoNondet
	if check.hasChoices {
		check.verdict.Resolution = result.Uniform
	}
	if check.hasChoices && isMDP {
		operator := "P"
		if objective.Extremum != syntax.NoExtremum {
			operator += objective.Extremum.String()
		}
		check.verdict.Warnings = append(check.verdict.Warnings, operator+"=?: open choices were made at random, so this is the value of random choices")
	}
}
