//go:build !js

package simulate

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// stepwiseRunner draws samples of a stepwise objective. It implements compile.BatchRunner.
type stepwiseRunner struct {
	objective      *Stepwise
	maxPath        int64
	newSteps       func() Steps
	steps          Steps
	stateFunctions stateFunctions
	formulaWatch   *compile.Watch[[]int32]
	conditionWatch *compile.Watch[[]int32]
	unitsOfReward  map[float64]int64
	isContinuous   bool
}

// newStepwiseRunner returns a runner that draws paths and evaluates the objective in each state of a path. newSteps returns a new generator of steps of
// the model; goroutines need one each. maxPath is the greatest number of steps of a path.
func newStepwiseRunner(objective *Stepwise, maxPath int64, newSteps func() Steps) (compile.BatchRunner, error) {
	runner := &stepwiseRunner{objective: objective, maxPath: maxPath, newSteps: newSteps, steps: newSteps(), unitsOfReward: make(map[float64]int64)}
	runner.stateFunctions.model = runner.steps.Compiled
	runner.isContinuous = runner.steps.Source.Program().Type == syntax.CTMC
	var err error
	switch objective.kind {
	case conditional:
		if runner.formulaWatch, err = compile.NewWatch(runner.monitor(&objective.formula), runner.isContinuous, &runner.stateFunctions); err != nil {
			return nil, err
		}
		runner.conditionWatch, err = compile.NewWatch(runner.monitor(&objective.condition), runner.isContinuous, &runner.stateFunctions)
	case rewardBounded:
		monitor := compile.Monitor{Kind: compile.Until, Left: objective.left, Right: objective.right}
		runner.formulaWatch, err = compile.NewWatch(monitor, false, &runner.stateFunctions)
	}
	return runner, err
}

// monitor returns the monitor of a formula with the greatest length of a path.
func (runner *stepwiseRunner) monitor(formula *negatable) compile.Monitor {
	monitor := formula.Monitor
	monitor.MaxPath = runner.maxPath
	return monitor
}

// stateFunctions compiles expressions to functions of states, and keeps the first error of an evaluation. The functions of rewards use the drawer of
// the path, and the rewards that the last step earned without those of its state.
type stateFunctions struct {
	model       *compile.Model
	drawer      *pathDrawer
	lastRewards []float64
	err         error
}

// CompileBool implements compile.StateCompiler. The returned function evaluates expr in a state; it stores its first error in functions.err.
func (functions *stateFunctions) CompileBool(expr sema.Expr) (func([]int32) bool, error) {
	evaluator, err := functions.model.Evaluator(expr)
	if err != nil {
		return nil, err
	}
	return func(state []int32) bool {
		holds, err := evaluator.Bool(state)
		if err != nil && functions.err == nil {
			functions.err = err
		}
		return holds
	}, nil
}

// CompileRewards implements compile.StateCompiler. stateReward returns the reward of a state, and stores an error in functions.err. moveReward ignores its
// arguments and returns the reward of the last step, because the runner knows only that step.
func (functions *stateFunctions) CompileRewards(structure int) (stateReward func([]int32) float64, moveReward func([]int32, int) float64, err error) {
	stateReward = func(state []int32) float64 {
		rewards, err := functions.drawer.stateRewards(state)
		if err != nil {
			functions.err = cmp.Or(functions.err, err)
			return 0
		}
		return rewards[structure]
	}
	return stateReward, func([]int32, int) float64 { return functions.lastRewards[structure] }, nil
}

// Close implements compile.Runner.
func (runner *stepwiseRunner) Close() error { return nil }

// Name implements compile.BatchRunner.
func (runner *stepwiseRunner) Name() string { return "stepwise" }

// Fork implements compile.BatchRunner.
func (runner *stepwiseRunner) Fork() (compile.BatchRunner, error) {
	return newStepwiseRunner(runner.objective, runner.maxPath, runner.newSteps)
}

// Run implements compile.Runner: it draws one sample. The outcome is empty if the model cannot be prepared.
func (runner *stepwiseRunner) Run(stream compile.Stream) compile.Outcome {
	drawer, err := runner.newDrawer(context.Background())
	if err != nil {
		return compile.Outcome{}
	}
	outcome, _ := runner.drawSample(drawer, randomFrom(stream)) // the only possible error is that of the context, which never ends
	return outcome
}

// RunBatch implements compile.BatchRunner: it draws a sample for each entry of dst. The samples have the consecutive numbers from first on, which with seed
// determine their random numbers.
func (runner *stepwiseRunner) RunBatch(ctx context.Context, seed, first uint64, dst []compile.Outcome) error {
	drawer, err := runner.newDrawer(ctx)
	if err != nil {
		return err
	}
	for i := range dst {
		if dst[i], err = runner.drawSample(drawer, randomFrom(compile.NewStream(seed, first+uint64(i)))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// newDrawer prepares drawing paths.
func (runner *stepwiseRunner) newDrawer(ctx context.Context) (*pathDrawer, error) {
	return newPathDrawer(ctx, runner.steps.Source, PathOptions{Rewards: runner.objective.needsRewards(), NoLoopCheck: true})
}

// stepwisePath is a path while it is drawn.
type stepwisePath struct {
	*stepwiseRunner
	drawer        *pathDrawer
	rng           *rand.Rand
	state         []int32
	previousState []int32   // the state before the last step, for a conditional probability
	rewards       []float64 // the rewards of the state and of the step that leaves it
	isLooping     bool      // the last step was a deterministic self-loop
	time          float64   // the time in the state before the last step, in a CTMC
	outcome       compile.Outcome
}

// drawSample draws one sample. The error is that of the context.
func (runner *stepwiseRunner) drawSample(drawer *pathDrawer, rng *rand.Rand) (compile.Outcome, error) {
	path := &stepwisePath{stepwiseRunner: runner, drawer: drawer, rng: rng}
	path.stateFunctions.drawer = drawer
	path.startPath()
	var err error
	switch runner.objective.kind {
	case discounted:
		err = path.drawDiscounted()
	case rewardBounded:
		err = path.drawRewardBounded()
	default:
		err = path.drawConditional()
	}
	return path.outcome, err
}

// startPath begins a new path in the initial state.
func (path *stepwisePath) startPath() {
	path.stateFunctions.err = nil
	path.state = append(path.state[:0], path.drawer.initialState...)
	path.outcome = compile.Outcome{}
	path.isLooping = false
}

// hasFailed ends the path if an evaluation failed, and reports whether it did.
func (path *stepwisePath) hasFailed() bool {
	if path.stateFunctions.err == nil {
		return false
	}
	return path.recordError(path.stateFunctions.err) == nil
}

// recordError makes an error in the current state of the model the outcome of the path, and returns nil. If the context has ended, it returns the error of
// the context instead.
func (path *stepwisePath) recordError(err error) error {
	if ended := path.drawer.ctx.Err(); ended != nil {
		return ended
	}
	path.outcome.Status = compile.Failed
	stateErr, ok := err.(*compile.StateError)
	if !ok {
		stateErr = &compile.StateError{File: path.steps.Source.Program().File, State: path.steps.Compiled.StateText(path.state), Msg: err.Error()}
	}
	path.outcome.Err = stateErr
	return nil
}

// stepEnd says how a step ended.
type stepEnd uint8

const (
	stepTaken      stepEnd = iota // the path is in the next state
	stepDeadlocked                // there is no step: the path stays in its state for ever
	pathEnded                     // the outcome of the path is known, or the context ended
)

// takeStep takes a step, and sets the rewards of the state and of the step. The error is that of the context.
func (path *stepwisePath) takeStep() (stepEnd, error) {
	if path.outcome.Steps&0xff == 0xff && path.drawer.ctx.Err() != nil {
		return pathEnded, path.drawer.ctx.Err()
	}
	choices, err := path.drawer.source.Expand(path.state)
	if err != nil {
		return pathEnded, path.recordError(err)
	}
	stateReward, err := path.drawer.stateRewards(path.state)
	if err != nil {
		return pathEnded, path.recordError(err)
	}
	path.rewards = append(path.rewards[:0], stateReward...)
	if choices.Deadlock() {
		if path.steps.Compiled.DeadlocksAreErrors() {
			err := path.recordError(fmt.Errorf("deadlock"))
			path.outcome.Status = compile.Deadlocked
			return pathEnded, err
		}
		return stepDeadlocked, nil
	}
	path.recordChoices(len(choices.List))
	step, transition, err := path.drawer.randomStep(path.state, choices, path.rng)
	if err != nil {
		return pathEnded, path.recordError(err)
	}
	if path.objective.needsRewards() {
		earned, err := path.drawer.source.StepRewards(step.Choice, transition)
		if err != nil {
			return pathEnded, path.recordError(err)
		}
		path.stateFunctions.lastRewards = append(path.stateFunctions.lastRewards[:0], earned...)
		for i := range path.rewards {
			path.rewards[i] += earned[i]
		}
	}
	target := choices.List[step.Choice].Transitions[transition].Target
	isOnlyTransition := len(choices.List) == 1 && len(choices.List[0].Transitions) == 1
	path.isLooping = isOnlyTransition && slices.Equal(target, path.state)
	path.time = step.Time
	path.state = append(path.state[:0], target...)
	return stepTaken, nil
}

// recordChoices counts a state with at least two choices, in which the path selects one at random. In a DTMC such choices come from overlapping commands,
// and are counted separately.
func (path *stepwisePath) recordChoices(numChoices int) {
	switch {
	case numChoices < 2 || path.isContinuous: // no nondeterminism: in a CTMC the rates decide between several choices
	case path.steps.Source.Program().Type == syntax.DTMC:
		path.outcome.Overlap++
	default:
		path.outcome.Nondet++
	}
}

// negligible is the discount from which on a discounted reward is estimated by a path of a random length.
const negligible = 0x1p-64

// drawDiscounted draws a path and computes its discounted reward. After each step it multiplies the discount by the factor d of the property, until
// the discount is negligible. From then on it keeps the discount, and instead ends the path after each step with probability 1-d. So the expected
// reward of each step is the same.
func (path *stepwisePath) drawDiscounted() error {
	discount := 1.0
	for path.objective.maxSteps < 0 || path.outcome.Steps < path.objective.maxSteps {
		end, err := path.takeStep()
		if end == pathEnded {
			return err
		}
		reward := path.rewards[path.objective.rewardIndex]
		repeatsForever := end == stepDeadlocked || path.isLooping && path.objective.maxSteps < 0
		if repeatsForever { // each later step earns the same reward
			path.outcome.Reward += float64(discount * reward * path.geometricSum(discount))
			break
		}
		path.outcome.Reward += float64(discount * reward)
		path.outcome.Steps++
		if discount >= negligible {
			discount *= path.objective.discountFactor
		} else if path.rng.Float64() >= path.objective.discountFactor {
			break
		}
	}
	path.outcome.Status = compile.True
	return nil
}

// geometricSum returns 1 + d + d^2 + ... with a term for each remaining step, where d is the discount factor of the property. The caller multiplies it by
// discount, the discount of the next step; terms that are negligible then are omitted.
func (path *stepwisePath) geometricSum(discount float64) float64 {
	factor := path.objective.discountFactor
	if path.objective.maxSteps < 0 {
		return 1 / (1 - factor)
	}
	sum, power := 0.0, 1.0
	for range path.objective.maxSteps - path.outcome.Steps {
		sum += power
		power *= factor
		if power*discount < negligible*negligible { // the remaining terms are negligible
			break
		}
	}
	return sum
}

// drawRewardBounded draws a path for an until formula with bounds on rewards, or for the reward of the steps after which the bounds hold.
func (path *stepwisePath) drawRewardBounded() error {
	budgets := path.objective.budgets
	sums := make([]int64, len(budgets))
	for {
		withinLow, withinHigh := true, true
		for k, bound := range budgets {
			withinLow, withinHigh = withinLow && sums[k] >= bound.low, withinHigh && sums[k] <= bound.high
		}
		isRight, isLeft := path.formulaWatch.RightHolds(path.state), path.formulaWatch.LeftHolds(path.state)
		switch {
		case path.hasFailed():
			return nil
		case withinLow && withinHigh && isRight:
			path.outcome.Status = compile.True
			return nil
		case !withinHigh || !isLeft:
			path.outcome.Status = compile.False
			return nil
		case path.outcome.Steps >= path.maxPath:
			path.outcome.Status = compile.Undecided
			return nil
		}
		end, err := path.takeStep()
		if end == pathEnded {
			return err
		}
		changed, isWithin := false, true
		for k, bound := range budgets {
			earned, err := path.unitsEarned(bound)
			if err != nil {
				return path.recordError(err)
			}
			next := min(sums[k]+earned, maxUnitSum)
			if bound.high == noHigh && next > bound.low {
				next = max(bound.low, sums[k]) // greater sums make no difference
			}
			changed = changed || next != sums[k]
			sums[k] = next
			isWithin = isWithin && next <= bound.high
		}
		reward := 0.0
		if path.objective.earnsReward && isWithin {
			reward = path.rewards[path.objective.rewardIndex]
		}
		path.outcome.Reward += reward
		if (path.isLooping || end == stepDeadlocked) && !changed { // nothing changes any more, and the formula does not hold
			path.outcome.Status = compile.False
			if reward != 0 { // the sum is infinite
				path.outcome.Status = compile.Undecided
			}
			return nil
		}
		path.outcome.Steps++
	}
}

// unitsEarned returns how many units of 10^-9 the last step adds to the sum that the bound limits. It returns an error if the reward of the step has more
// than nine decimal places.
func (path *stepwisePath) unitsEarned(bound budget) (int64, error) {
	if bound.rewardIndex < 0 {
		return unitsPerOne, nil
	}
	reward := path.rewards[bound.rewardIndex]
	if knownUnits, isKnown := path.unitsOfReward[reward]; isKnown {
		return knownUnits, nil
	}
	if reward < 0 {
		return 0, fmt.Errorf("found the reward %v of a step, bounds on rewards want rewards that are not negative", reward)
	}
	units, isFinite := new(big.Rat).SetString(strconv.FormatFloat(reward, 'f', -1, 64))
	if isFinite {
		units.Mul(units, new(big.Rat).SetInt64(unitsPerOne))
	}
	isNatural := isFinite && units.IsInt()
	if !isNatural || !units.Num().IsInt64() || units.Num().Int64() >= maxUnitSum {
		return 0, fmt.Errorf("found the reward %v of a step, sampling of reward bounds wants rewards with at most nine decimal places, or method states", reward)
	}
	path.unitsOfReward[reward] = units.Num().Int64()
	return path.unitsOfReward[reward], nil
}

// maxRejected is the greatest number of paths without the condition before one that satisfies it.
const maxRejected = 1_000_000

// drawConditional draws paths until one satisfies the condition, and makes this path the sample (rejection sampling). The samples are independent.
// The probability that a sample satisfies the formula is the conditional probability, and its mean reward is the conditional expectation.
func (path *stepwisePath) drawConditional() error {
	for range maxRejected {
		if err := path.drawer.ctx.Err(); err != nil {
			return err
		}
		accepted, err := path.conditionalPath()
		if accepted || err != nil {
			return err
		}
		nondet, overlap := path.outcome.Nondet, path.outcome.Overlap // the choices of rejected paths count, too
		path.startPath()
		path.outcome.Nondet, path.outcome.Overlap = nondet, overlap
	}
	return path.recordError(fmt.Errorf("no path of %d satisfies the condition behind ||, whose probability may be 0", maxRejected))
}

// conditionalPath draws a path. It reports whether the path is the sample, or ends the sample with an error: it reports false if the path violates the
// condition.
func (path *stepwisePath) conditionalPath() (accepted bool, err error) {
	var outcomes [2]compile.Outcome
	watches, isDecided := [2]*compile.Watch[[]int32]{path.conditionWatch, path.formulaWatch}, [2]bool{}
	for {
		for k, watch := range watches {
			isDecided[k] = isDecided[k] || watch.Enter(path.state, &outcomes[k], path.isLooping)
		}
		if path.hasFailed() {
			return true, nil
		}
		if accepted, end := path.decideSample(&outcomes, isDecided); end {
			return accepted, nil
		}
		if path.outcome.Steps >= path.maxPath && (!isDecided[0] && path.conditionWatch.Limited() || !isDecided[1] && path.formulaWatch.Limited()) {
			path.outcome.Status = compile.Undecided
			return true, nil
		}
		path.previousState = append(path.previousState[:0], path.state...)
		end, err := path.takeStep()
		switch end {
		case pathEnded:
			return true, err
		case stepDeadlocked:
			for k, watch := range watches {
				if !isDecided[k] {
					watch.Deadlock(path.state, &outcomes[k])
					isDecided[k] = true
				}
			}
			if path.hasFailed() {
				return true, nil
			}
			accepted, _ := path.decideSample(&outcomes, isDecided)
			return accepted, nil
		}
		path.outcome.Steps++
		for k, watch := range watches {
			switch {
			case isDecided[k]:
			case path.isContinuous:
				isDecided[k] = watch.Sojourn(path.previousState, &outcomes[k], path.time, 0)
			default:
				watch.Step(path.previousState, &outcomes[k], 0)
			}
		}
		if path.hasFailed() {
			return true, nil
		}
	}
}

// decideSample reports whether the path can end, and whether it is accepted as the sample because it satisfies the condition. If so, it sets the outcome of
// the sample. Index 0 of outcomes and isDecided belongs to the condition, index 1 to the formula.
func (path *stepwisePath) decideSample(outcomes *[2]compile.Outcome, isDecided [2]bool) (accepted, end bool) {
	switch {
	case !isDecided[0]:
		return false, false
	case !path.objective.condition.holds(&outcomes[0]):
		return false, true
	case !isDecided[1]:
		return false, false
	}
	path.outcome.Status, path.outcome.Reward = compile.False, outcomes[1].Reward
	switch {
	case outcomes[1].Status == compile.Undecided: // a reward whose path ended in a deadlock before it reached the target
		path.outcome.Status = compile.Undecided
	case path.objective.formula.holds(&outcomes[1]):
		path.outcome.Status = compile.True
	}
	return true, true
}
