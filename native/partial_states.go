package native

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"tilecheck/native/check"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Numbers of states that are explored before the whole model.
const (
	// firstStates is the size of the first part of an MDP: exploring it takes about 0.1 s.
	firstStates = 20_000
	// firstChainStates is the size of the first part of a DTMC. A smaller chain is checked as fast as it is summed.
	firstChainStates = 20_000_000
	// stageStates is the number of states of a further stage of a DTMC. States of earlier stages are forgotten.
	stageStates = 1 << 22
	// wholeStates is the size up to which a model is explored even if its part has the answer, so that the verdict has the
	// sizes of the model: about 10 s.
	wholeStates = 10_000_000
	// truncatedStates is the size of a model up to which all its states are explored although its properties may need a part only:
	// properties with bounds on steps or time, and probabilities in a model that may have infinitely many states.
	truncatedStates = 200_000
	// firstTruncated is the size of the first part for such properties. Each further part is partGrowth times as large.
	firstTruncated = 2_000
	partGrowth     = 4
	// maxTruncated is the size of the greatest part.
	maxTruncated = 25_600_000
	// leastPart is the size of the smallest part that is tried when greater ones are beyond a limit.
	leastPart = 64
	// maxStallCount is the value of truncation.stallCount at which no greater part is explored.
	maxStallCount = 4
	// leastGain is the least fraction by which a greater part must narrow an interval; otherwise no greater part is explored.
	leastGain = 0.1
)

// partOptions say how many states of a model to explore first; zero is all of them.
type partOptions struct {
	first int
	stage int // for a DTMC: the number of states of each further stage
	// truncates says that a part of the states may suffice for the value of some property, or for bounds on it; see checkTruncated.
	truncates bool
	// reorders says that the model is a Markov automaton, so that commands may be reordered to explore fewer states; see checkReordered.
	reorders bool
}

// canTruncate reports whether check.Truncated can compute bounds on a value from a part of the states, for a type of model.
func canTruncate(modelType syntax.ModelType) bool {
	switch modelType {
	case syntax.DTMC, syntax.CTMC, syntax.MDP, syntax.IDTMC, syntax.IMDP, syntax.SMG, syntax.LTS:
		return true
	}
	return false
}

// partOptionsOf returns how many states of a plan's model are explored before the first property is checked. The options are zero, which means all states,
// if an option of the job needs all states, or if all properties do.
func partOptionsOf(plan *runner.Plan) partOptions {
	if needsAllStates(&plan.Job) {
		return partOptions{}
	}
	modelType, numeric := plan.Model.ModelType(), &plan.Job.Numeric
	hasPmax, hasReachability, allowsTruncation := classifyProperties(plan)
	options := partOptions{truncates: allowsTruncation && canTruncate(modelType), reorders: plan.Model.IsMarkovAutomaton()}
	switch {
	case modelType == syntax.MDP && hasPmax: // a scheduler may attain probability 1 in the first states
		options.first = firstStates
	case options.truncates, options.reorders:
		options.first = truncatedStates
	case modelType == syntax.DTMC && hasReachability && numeric.MaxStates == 0: // the probability may be summed in stages
		options.first, options.stage = firstChainStates, stageStates
	}
	if numeric.MaxStates > 0 && numeric.MaxStates < options.first {
		options.first = max(numeric.MaxStates/2, 1)
	}
	return options
}

// needsAllStates reports whether an option of a job needs all states of the model.
func needsAllStates(job *runner.Job) bool {
	numeric := &job.Numeric
	return job.NoFixDeadlocks || job.Scheduler != nil || job.Witness != nil || numeric.Reduce || numeric.Symmetry || numeric.Fair ||
		numeric.Accuracy == result.Proven || accuracy(numeric) == result.Estimated
}

// classifyProperties reports whether a plan has a property of a maximal probability, whether it has a reachability property, and whether it allows
// truncation: whether the model may have infinitely many states, or some property has a bound on steps or time. Then a part of the states may suffice.
func classifyProperties(plan *runner.Plan) (hasPmax, hasReachability, allowsTruncation bool) {
	for _, task := range plan.Tasks {
		if task.Rejected != nil {
			continue
		}
		property := logic.Read(task.Property.X)
		hasPmax = hasPmax || property.Kind == logic.Probability && property.Extremum == syntax.Max
		hasReachability = hasReachability || property.Reaches()
		allowsTruncation = allowsTruncation || plan.Model.Unbounded() || logic.HasBounds(task.Property.X)
	}
	return hasPmax, hasReachability, allowsTruncation
}

// partialStates is an instance of a model of which only the first states are explored. It explores all states when a property needs them.
type partialStates struct {
	*statesMethod
	model       *compile.Model
	firstSpace  *explicit.Space // the space of the first states
	firstStates *check.Checker  // the checker of the first states
	fullModel   *exploredModel  // the model with all states; nil until they are explored
	lastLimit   int             // the limit of states of the last exploration
	err         error           // the error of the last exploration
}

// check implements instance. It first tries to answer a property from a part of the states, and then from the whole model.
func (partial *partialStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	if partial.partOptions.reorders && partial.fullModel == nil {
		if verdict, ok := partial.checkReordered(ctx, property); ok {
			return verdict
		}
	}
	if partial.partOptions.truncates {
		if verdict, ok := partial.checkTruncated(ctx, property); ok {
			return verdict
		}
	}
	if partial.partOptions.stage > 0 {
		return partial.checkInStages(ctx, property)
	}
	return partial.checkFirstPart(ctx, property)
}

// checkInStages checks a property of a DTMC in stages, each of which explores further states and forgets earlier ones. If the chain is not
// suitable for stages, it checks the whole model.
func (partial *partialStates) checkInStages(ctx context.Context, property *checkedProperty) result.Verdict {
	stages := partial.firstStates.Stages(ctx, &property.Instance)
	if stages == nil {
		return partial.checkAll(ctx, property)
	}
	opts := partial.build
	opts.Part = partial.partOptions.stage
	verdict, ok, err := stages.Sum(ctx, opts)
	switch {
	case err != nil:
		return result.Verdict{Err: failure(err, result.Build, partial.file, syntax.Pos{})}
	case ok:
		return verdict
	}
	return partial.checkAll(ctx, property)
}

// checkFirstPart checks a property of an MDP on the states that were explored first. If they do not determine the answer, it tries the refiners, and at
// last checks the whole model. It always explores a model of at most wholeStates states completely, because the verdict reports the size of
// the model.
func (partial *partialStates) checkFirstPart(ctx context.Context, property *checkedProperty) result.Verdict {
	verdict, ok := partial.firstStates.CheckAlmostSure(ctx, &property.Instance)
	var refiners []refiner
	if !ok {
		if refiners = partial.refiners(property); len(refiners) == 0 {
			return partial.checkAll(ctx, property)
		}
	}
	maxStates := partial.build.MaxStates
	if maxStates == 0 || maxStates > wholeStates {
		maxStates = wholeStates
	}
	partial.exploreAll(ctx, maxStates)
	isTooLarge := partial.fullModel != nil && partial.fullModel.space.Model().NumStates() > wholeStates
	if !exceedsLimit(partial.err) && !isTooLarge {
		return partial.checkExplored(ctx, property)
	}
	if ok {
		return verdict
	}
	if partial.fullModel == nil {
		for _, refiner := range refiners {
			if verdict, ok := refiner.check(ctx); ok {
				return verdict
			}
		}
	}
	if ctx.Err() != nil {
		return result.Verdict{Err: failure(ctx.Err(), result.Build, partial.file, syntax.Pos{})}
	}
	return partial.checkAll(ctx, property)
}

// refiner answers a property of a large model without exploring all its states. ok is false if it finds no answer.
type refiner interface {
	check(ctx context.Context) (verdict result.Verdict, ok bool)
}

// checkTruncated checks a property on the states within its step bound, or on larger and larger parts of the model, which give narrower bounds.
// ok is false for a property that needs all states.
func (partial *partialStates) checkTruncated(ctx context.Context, property *checkedProperty) (verdict result.Verdict, ok bool) {
	if partial.fullModel != nil {
		return partial.fullModel.check(ctx, property), true
	}
	truncation := partial.newTruncation(property)
	if !truncation.hasHorizon && !truncation.givesBounds {
		return verdict, false
	}
	truncation.exploreParts(ctx)
	return truncation.conclude(ctx), true
}

// conclude returns the best verdict from the parts of the model that were explored. If the whole model may give a better verdict, conclude checks the
// whole model. The time of the verdict includes the checks of all parts.
func (truncation *truncation) conclude(ctx context.Context) result.Verdict {
	isFinal := truncation.answer != nil && (truncation.isAccurate || truncation.hasFailed)
	isUsable := truncation.answer != nil && truncation.answer.Err == nil
	cannotExploreAll := truncation.isInfinite || truncation.limitErr != nil
	if truncation.answer != nil {
		truncation.answer.Seconds = truncation.seconds
	}
	switch {
	case isFinal, isUsable && cannotExploreAll:
		return *truncation.answer
	case ctx.Err() != nil:
		return result.Verdict{Err: failure(ctx.Err(), result.Build, truncation.file, syntax.Pos{})}
	case truncation.limitErr != nil:
		truncation.err, truncation.lastLimit = truncation.limitErr, truncation.build.MaxStates
		return truncation.checkExplored(ctx, truncation.property)
	case truncation.isInfinite && truncation.answer != nil:
		return *truncation.answer
	}
	verdict := truncation.checkAll(ctx, truncation.property)
	verdict.Seconds += truncation.seconds
	hasHitLimit := verdict.Err != nil && verdict.Err.Class.Limited() && ctx.Err() == nil
	if hasHitLimit && truncation.retrySmaller(verdict.Err) { // the checks of all parts ended early
		truncation.exploreParts(ctx)
		isUsable = truncation.answer != nil && truncation.answer.Err == nil
	}
	if hasHitLimit && isUsable {
		truncation.answer.Seconds = verdict.Seconds
		return *truncation.answer
	}
	return verdict
}

// truncation answers one property from greater and greater parts of a model.
type truncation struct {
	*partialStates
	property    *checkedProperty
	hasHorizon  bool // the first steps of a path decide the property
	horizon     int  // the number of these steps
	givesBounds bool // a part of the states yields bounds of the value
	isInfinite  bool // the model may have infinitely many states

	size        int             // the number of states of the next part
	answer      *result.Verdict // the best verdict so far; nil for none
	answerWidth float64         // the width of the interval of answer
	isAccurate  bool            // answer is as accurate as required
	hasFailed   bool            // answer is an error that larger parts do not avoid
	stepShare   float64         // of the last part that skipParts was asked about; 0 for none
	stallCount  int             // grows with each part that hardly narrows the bounds: by 1 if there are no bounds yet, and otherwise by 2
	limitErr    error           // why larger parts are not explored; nil if they may be
	seconds     float64         // the time for the checks of all parts
}

// newTruncation determines how a part of the model can answer a property. hasHorizon says that the states within a step bound determine the value;
// givesBounds says that a part of the states gives bounds of the value. If both are false, only the whole model can answer the property.
func (partial *partialStates) newTruncation(property *checkedProperty) *truncation {
	result := &truncation{
		partialStates: partial, property: property,
		size: min(firstTruncated, partial.partOptions.first), answerWidth: math.Inf(1),
	}
	program := partial.model.Program()
	if program.Type != syntax.CTMC {
		result.horizon, result.hasHorizon = logic.Horizon(&property.Instance)
	}
	result.isInfinite = check.Unbounded(program) != nil
	formula := logic.FormulaOf(property.Expr)
	hasTimeBound := formula.Kind == logic.Probability && formula.Path.Bound != nil && !result.hasHorizon
	result.givesBounds = (result.isInfinite || hasTimeBound) && partial.firstStates.Truncates(&property.Instance)
	return result
}

// exploreParts explores parts of the model until no further part can give a better answer.
func (truncation *truncation) exploreParts(ctx context.Context) {
	for truncation.explore(ctx) {
	}
}

// explore explores the next part of the model and checks the property on it. It returns false if no further part can give a better answer.
func (truncation *truncation) explore(ctx context.Context) (canImprove bool) {
	opts := truncation.build
	opts.Part = truncation.size
	if truncation.hasHorizon {
		opts.Depth = max(truncation.horizon, 1)
	}
	space, err := explicit.Build(ctx, truncation.model, opts)
	if exceedsLimit(err) {
		return truncation.retrySmaller(err)
	}
	if err != nil {
		truncation.answer = &result.Verdict{Err: failure(err, result.Build, truncation.file, syntax.Pos{})}
		truncation.hasFailed = true
		return false
	}
	truncation.checkPart(ctx, space)
	truncation.size *= partGrowth
	mayBeLarger := truncation.limitErr == nil && truncation.size <= maxTruncated
	isStalled := truncation.stallCount >= maxStallCount
	return mayBeLarger && !isStalled && !truncation.isAccurate && ctx.Err() == nil
}

// retrySmaller makes the next part smaller, because a limit was reached with limitErr. It returns false if there is an answer, or no part is left.
func (truncation *truncation) retrySmaller(limitErr error) (canImprove bool) {
	truncation.size /= partGrowth
	truncation.limitErr = limitErr
	return truncation.answer == nil && truncation.size >= leastPart
}

// checkPart checks the property on a part of the model, and keeps the verdict if it is better than the previous answer.
func (truncation *truncation) checkPart(ctx context.Context, space *explicit.Space) {
	model := truncation.newExploredModel(space, nil)
	model.property = truncation.property
	var verdict result.Verdict
	switch {
	case space.Unexplored() == nil: // the part is the whole model
		truncation.fullModel = model
		verdict = model.check(ctx, truncation.property)
		truncation.answer, truncation.isAccurate = &verdict, true
	case space.WithinDepth(): // the part has all states that are reachable within the horizon
		verdict = model.complete(model.checker.WithinDepth(ctx, &truncation.property.Instance, truncation.horizon))
		truncation.answer, truncation.isAccurate = &verdict, true
	case truncation.givesBounds:
		// If paths leave the part with a greater probability, its bounds are too wide. Then a greater part is tried at once.
		maxEscape := truncation.epsilon()
		if truncation.isInfinite || truncation.limitErr != nil || truncation.size*partGrowth > maxTruncated { // this may be the greatest part
			maxEscape = 1
		}
		var width, stepShare float64
		verdict, width, stepShare = model.checker.Truncated(ctx, &truncation.property.Instance, maxEscape)
		if stepShare == 1 {
			truncation.keepIfNarrower(model.complete(verdict), width)
		} else {
			truncation.skipParts(stepShare)
		}
	}
	truncation.seconds += verdict.Seconds
}

// skipParts decides whether greater parts are worth exploring, after more than epsilon of the probability has left a part. stepShare is the share of the uniformised
// steps after which it had left. If this share grows from part to part as it has since the previous part, and remains below 1 up to the greatest part, skipParts
// skips these parts. Then the whole model is explored next.
func (truncation *truncation) skipParts(stepShare float64) {
	previous := truncation.stepShare
	truncation.stepShare = stepShare
	if previous == 0 {
		return
	}
	numParts := math.Log(maxTruncated/float64(truncation.size)) / math.Log(partGrowth)
	if stepShare*math.Pow(max(stepShare/previous, 1), numParts) < 1 {
		truncation.size = maxTruncated
	}
}

// keepIfNarrower makes a verdict the answer if its interval is narrower than that of the present answer. width is the relative width of its interval. It also
// updates isAccurate, and stallCount, the number of successive parts that hardly improved the answer.
func (truncation *truncation) keepIfNarrower(verdict result.Verdict, width float64) {
	truncation.isAccurate = width <= truncation.epsilon()
	switch {
	case verdict.Err != nil:
		truncation.stallCount++
	case width > (1-leastGain)*truncation.answerWidth: // hardly narrower than the best interval so far
		truncation.stallCount += 2
	default:
		truncation.stallCount = 0
	}
	hasAnswer := truncation.answer != nil && truncation.answer.Err == nil
	if !hasAnswer || width < truncation.answerWidth {
		truncation.answer, truncation.answerWidth = &verdict, width
	}
}

// epsilon returns the wanted relative width of bounds.
func (method *statesMethod) epsilon() float64 {
	return cmp.Or(method.opt.Epsilon, solve.DefaultEpsilon)
}

// checkAll checks a property on the whole model.
func (partial *partialStates) checkAll(ctx context.Context, property *checkedProperty) result.Verdict {
	partial.exploreAll(ctx, partial.build.MaxStates)
	return partial.checkExplored(ctx, property)
}

// checkExplored checks a property on the whole model. If the exploration of the model failed, the verdict has the error.
func (partial *partialStates) checkExplored(ctx context.Context, property *checkedProperty) result.Verdict {
	if partial.err != nil {
		failed := failure(partial.err, result.Build, partial.file, syntax.Pos{})
		if variable := check.Unbounded(partial.model.Program()); variable != nil && failed.Class.Limited() {
			failed.Message += fmt.Sprintf("; variable %q has no bounds, and for a model with infinitely many states, only properties with step bounds and P of F, G, U, W and R are supported", variable.Name)
		}
		return result.Verdict{Err: failed}
	}
	return partial.fullModel.check(ctx, property)
}

// exploreAll explores the whole model, up to maxStates states; 0 stands for no limit. It does nothing if the model is already explored, or if an
// earlier call with the same limit failed.
func (partial *partialStates) exploreAll(ctx context.Context, maxStates int) {
	hasFailed := partial.err != nil && partial.lastLimit == maxStates
	if partial.fullModel != nil || hasFailed {
		return
	}
	opts := partial.build
	opts.MaxStates = maxStates
	partial.lastLimit = maxStates
	space, err := explicit.Build(ctx, partial.model, opts)
	partial.err = err
	switch {
	case err == nil:
		partial.fullModel = partial.newExploredModel(space, nil)
	case ctx.Err() != nil:
		partial.lastLimit = -1 // the next property may have more time or memory
	}
}
