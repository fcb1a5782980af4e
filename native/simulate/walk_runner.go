//go:build !js

package simulate

import (
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

// walkRunner draws samples of a walked objective. It implements compile.BatchRunner.
type walkRunner struct {
	objective  *Walked
	maxPath    int64
	newSteps   func() Steps
	steps      Steps
	functions  stateFunctions
	formula    *compile.Watch[[]int32]
	condition  *compile.Watch[[]int32]
	unitsOf    map[float64]int64
	continuous bool
}

// newWalkRunner returns a runner. newSteps returns new Steps of the same model with each call.
func newWalkRunner(objective *Walked, maxPath int64, newSteps func() Steps) (compile.BatchRunner, error) {
	runner := &walkRunner{objective: objective, maxPath: maxPath, newSteps: newSteps, steps: newSteps(), unitsOf: make(map[float64]int64)}
	runner.functions.model = runner.steps.Compiled
	runner.continuous = runner.steps.Source.Program().Type == syntax.CTMC
	var err error
	switch objective.kind {
	case conditional:
		if runner.formula, err = compile.NewWatch(runner.monitor(&objective.formula), runner.continuous, &runner.functions); err != nil {
			return nil, err
		}
		runner.condition, err = compile.NewWatch(runner.monitor(&objective.condition), runner.continuous, &runner.functions)
	case rewardBounded:
		monitor := compile.Monitor{Kind: compile.Until, Left: objective.left, Right: objective.right}
		runner.formula, err = compile.NewWatch(monitor, false, &runner.functions)
	}
	return runner, err
}

// monitor returns the monitor of a formula with the greatest length of a path.
func (r *walkRunner) monitor(formula *negatable) compile.Monitor {
	monitor := formula.Monitor
	monitor.MaxPath = r.maxPath
	return monitor
}

// stateFunctions compiles expressions to functions of states, and keeps the first error of an evaluation.
type stateFunctions struct {
	model *compile.Model
	err   error
}

// CompileBool implements compile.StateCompiler.
func (f *stateFunctions) CompileBool(expr sema.Expr) (func([]int32) bool, error) {
	evaluator, err := f.model.Evaluator(expr)
	if err != nil {
		return nil, err
	}
	return func(state []int32) bool {
		holds, err := evaluator.Bool(state)
		if err != nil && f.err == nil {
			f.err = err
		}
		return holds
	}, nil
}

// CompileRewards implements compile.StateCompiler. No monitor of a walked objective has rewards.
func (f *stateFunctions) CompileRewards(int) (func([]int32) float64, func([]int32, int) float64, error) {
	return nil, nil, fmt.Errorf("the monitor of a walked objective has rewards")
}

// Close implements compile.Runner.
func (r *walkRunner) Close() error { return nil }

// Name implements compile.BatchRunner.
func (r *walkRunner) Name() string { return "walk" }

// Fork implements compile.BatchRunner.
func (r *walkRunner) Fork() (compile.BatchRunner, error) {
	return newWalkRunner(r.objective, r.maxPath, r.newSteps)
}

// Run implements compile.Runner.
func (r *walkRunner) Run(stream compile.Stream) compile.Outcome {
	outcome, _ := r.sampleOf(context.Background(), stream)
	return outcome
}

// sampleOf draws the sample of a stream of random numbers.
func (r *walkRunner) sampleOf(ctx context.Context, stream compile.Stream) (compile.Outcome, error) {
	drawer, err := r.drawer(ctx)
	if err != nil {
		return compile.Outcome{}, err
	}
	return r.sample(drawer, randomOf(stream))
}

// RunBatch implements compile.BatchRunner.
func (r *walkRunner) RunBatch(ctx context.Context, seed, first uint64, dst []compile.Outcome) error {
	drawer, err := r.drawer(ctx)
	if err != nil {
		return err
	}
	for i := range dst {
		if dst[i], err = r.sample(drawer, randomOf(compile.NewStream(seed, first+uint64(i)))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// drawer prepares drawing paths.
func (r *walkRunner) drawer(ctx context.Context) (*pathDrawer, error) {
	return newPathDrawer(ctx, r.steps.Source, PathOptions{Rewards: r.objective.needsRewards(), NoLoopCheck: true})
}

// walkedPath is a path while it is drawn.
type walkedPath struct {
	*walkRunner
	drawer  *pathDrawer
	rng     *rand.Rand
	state   []int32
	rewards []float64 // the rewards of the state and of the step that leaves it
	looping bool      // the last step was a deterministic self-loop
	time    float64   // the time in the state before the last step, in a CTMC
	outcome compile.Outcome
}

// sample draws one sample. The error is that of the context.
func (r *walkRunner) sample(drawer *pathDrawer, rng *rand.Rand) (compile.Outcome, error) {
	w := &walkedPath{walkRunner: r, drawer: drawer, rng: rng}
	w.begin()
	var err error
	switch r.objective.kind {
	case discounted:
		err = w.discountedReward()
	case rewardBounded:
		err = w.rewardBounded()
	default:
		err = w.conditional()
	}
	return w.outcome, err
}

// begin begins a new path in the initial state.
func (w *walkedPath) begin() {
	w.functions.err = nil
	w.state = append(w.state[:0], w.drawer.initialState...)
	w.outcome = compile.Outcome{}
	w.looping = false
}

// failed ends the path if an evaluation failed, and reports whether it did.
func (w *walkedPath) failed() bool {
	if w.functions.err == nil {
		return false
	}
	return w.fail(w.functions.err) == nil
}

// fail ends the path with an error of the model, or returns the error of the context.
func (w *walkedPath) fail(err error) error {
	if ended := w.drawer.ctx.Err(); ended != nil {
		return ended
	}
	w.outcome.Status = compile.Failed
	stateErr, ok := err.(*compile.StateError)
	if !ok {
		stateErr = &compile.StateError{File: w.steps.Source.Program().File, State: w.steps.Compiled.StateText(w.state), Msg: err.Error()}
	}
	w.outcome.Err = stateErr
	return nil
}

// stepEnd says how a step ended.
type stepEnd uint8

const (
	moved      stepEnd = iota // the path is in the next state
	inDeadlock                // there is no step: the path stays in its state for ever
	ended                     // the outcome of the path is known, or the context ended
)

// step takes a step, and sets the rewards of the state and of the step. The error is that of the context.
func (w *walkedPath) step() (stepEnd, error) {
	if w.outcome.Steps&0xff == 0xff && w.drawer.ctx.Err() != nil {
		return ended, w.drawer.ctx.Err()
	}
	choices, err := w.drawer.source.Expand(w.state)
	if err != nil {
		return ended, w.fail(err)
	}
	ofState, err := w.drawer.stateRewards(w.state)
	if err != nil {
		return ended, w.fail(err)
	}
	w.rewards = append(w.rewards[:0], ofState...)
	if choices.Deadlock() {
		if w.steps.Compiled.DeadlocksAreErrors() {
			err := w.fail(fmt.Errorf("deadlock"))
			w.outcome.Status = compile.Deadlocked
			return ended, err
		}
		return inDeadlock, nil
	}
	w.countChoices(len(choices.List))
	step, transition, err := w.drawer.randomStep(w.state, choices, w.rng)
	if err != nil {
		return ended, w.fail(err)
	}
	if w.objective.needsRewards() {
		earned, err := w.drawer.source.StepRewards(step.Choice, transition)
		if err != nil {
			return ended, w.fail(err)
		}
		for i := range w.rewards {
			w.rewards[i] += earned[i]
		}
	}
	target := choices.List[step.Choice].Transitions[transition].Target
	isOnlyTransition := len(choices.List) == 1 && len(choices.List[0].Transitions) == 1
	w.looping = isOnlyTransition && !w.continuous && slices.Equal(target, w.state)
	w.time = step.Time
	w.state = append(w.state[:0], target...)
	return moved, nil
}

// countChoices counts a state in which a choice is made at random.
func (w *walkedPath) countChoices(count int) {
	switch {
	case count < 2 || w.continuous:
	case w.steps.Source.Program().Type == syntax.DTMC:
		w.outcome.Overlap++
	default:
		w.outcome.Nondet++
	}
}

// negligible is the discount from which on a discounted reward is estimated by a path of a random length.
const negligible = 0x1p-64

// discountedReward draws a path for a discounted reward. When the discount is negligible, it remains as it is, and the path ends in every step with
// probability 1 minus the factor instead. So each step has the same expected reward as with the discount.
func (w *walkedPath) discountedReward() error {
	discount := 1.0
	for w.objective.steps < 0 || w.outcome.Steps < w.objective.steps {
		end, err := w.step()
		if end == ended {
			return err
		}
		reward := w.rewards[w.objective.reward]
		if end == inDeadlock || w.looping && w.objective.steps < 0 { // the reward of each step from here on
			w.outcome.Reward += float64(discount * reward * w.geometricSum(discount))
			break
		}
		w.outcome.Reward += float64(discount * reward)
		w.outcome.Steps++
		if discount >= negligible {
			discount *= w.objective.discount
		} else if w.rng.Float64() >= w.objective.discount {
			break
		}
	}
	w.outcome.Status = compile.True
	return nil
}

// geometricSum returns 1 + d + d^2 + ..., with a term for each remaining step. d is the discount factor of the property. The given discount
// is that of the next step.
func (w *walkedPath) geometricSum(discount float64) float64 {
	factor := w.objective.discount
	if w.objective.steps < 0 {
		return 1 / (1 - factor)
	}
	sum, power := 0.0, 1.0
	for range w.objective.steps - w.outcome.Steps {
		sum += power
		power *= factor
		if power*discount < negligible*negligible { // the remaining terms are negligible
			break
		}
	}
	return sum
}

// rewardBounded draws a path for an until formula with bounds on rewards.
func (w *walkedPath) rewardBounded() error {
	budgets := w.objective.budgets
	sums := make([]int64, len(budgets))
	for {
		withinLow, withinHigh := true, true
		for k, bound := range budgets {
			withinLow, withinHigh = withinLow && sums[k] >= bound.low, withinHigh && sums[k] <= bound.high
		}
		isRight, isLeft := w.formula.IsRight(w.state), w.formula.IsLeft(w.state)
		switch {
		case w.failed():
			return nil
		case withinLow && withinHigh && isRight:
			w.outcome.Status = compile.True
			return nil
		case !withinHigh || !isLeft:
			w.outcome.Status = compile.False
			return nil
		case w.outcome.Steps >= w.maxPath:
			w.outcome.Status = compile.Undecided
			return nil
		}
		end, err := w.step()
		if end == ended {
			return err
		}
		changed := false
		for k, bound := range budgets {
			earned, err := w.unitsEarned(bound)
			if err != nil {
				return w.fail(err)
			}
			next := min(sums[k]+earned, maxUnitSum)
			if bound.high == noHigh && next > bound.low {
				next = max(bound.low, sums[k]) // greater sums make no difference
			}
			changed = changed || next != sums[k]
			sums[k] = next
		}
		if (w.looping || end == inDeadlock) && !changed { // nothing changes any more, and the formula does not hold
			w.outcome.Status = compile.False
			return nil
		}
		w.outcome.Steps++
	}
}

// unitsEarned returns the reward of the last step for a bound, in units.
func (w *walkedPath) unitsEarned(bound budget) (int64, error) {
	if bound.reward < 0 {
		return unitsPerOne, nil
	}
	reward := w.rewards[bound.reward]
	if units, ok := w.unitsOf[reward]; ok {
		return units, nil
	}
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(reward, 'f', -1, 64))
	if ok {
		exact.Mul(exact, new(big.Rat).SetInt64(unitsPerOne))
	}
	if !ok || !exact.IsInt() || exact.Sign() < 0 || !exact.Num().IsInt64() || exact.Num().Int64() >= maxUnitSum {
		return 0, fmt.Errorf("found the reward %v of a step, sampling of reward bounds wants rewards with at most nine decimal places, or method states", reward)
	}
	w.unitsOf[reward] = exact.Num().Int64()
	return w.unitsOf[reward], nil
}

// maxRejected is the greatest number of paths without the condition before one that satisfies it.
const maxRejected = 1_000_000

// conditional draws paths until one satisfies the condition; this path is the sample. So the samples are independent, and each satisfies the formula with
// the conditional probability.
func (w *walkedPath) conditional() error {
	for range maxRejected {
		accepted, err := w.conditionalPath()
		if accepted || err != nil {
			return err
		}
		w.begin()
	}
	return w.fail(fmt.Errorf("no path of %d satisfies the condition behind ||, whose probability may be 0", maxRejected))
}

// conditionalPath draws a path. It reports whether the path is the sample, or ends the sample with an error: it reports false if the path violates the
// condition.
func (w *walkedPath) conditionalPath() (accepted bool, err error) {
	var outcomes [2]compile.Outcome
	watches, isDecided := [2]*compile.Watch[[]int32]{w.condition, w.formula}, [2]bool{}
	for {
		for k, watch := range watches {
			isDecided[k] = isDecided[k] || watch.Enter(w.state, &outcomes[k], w.looping)
		}
		if w.failed() {
			return true, nil
		}
		if accepted, end := w.decided(&outcomes, isDecided); end {
			return accepted, nil
		}
		if w.outcome.Steps >= w.maxPath && (!isDecided[0] && w.condition.Limited() || !isDecided[1] && w.formula.Limited()) {
			w.outcome.Status = compile.Undecided
			return true, nil
		}
		before := append([]int32(nil), w.state...)
		end, err := w.step()
		switch end {
		case ended:
			return true, err
		case inDeadlock:
			for k, watch := range watches {
				if !isDecided[k] {
					watch.Deadlock(w.state, &outcomes[k])
					isDecided[k] = true
				}
			}
			if w.failed() {
				return true, nil
			}
			accepted, _ := w.decided(&outcomes, isDecided)
			return accepted, nil
		}
		w.outcome.Steps++
		for k, watch := range watches {
			switch {
			case isDecided[k]:
			case w.continuous:
				isDecided[k] = watch.Sojourn(before, &outcomes[k], w.time, 0)
			default:
				watch.Step(before, &outcomes[k], 0)
			}
		}
		if w.failed() {
			return true, nil
		}
	}
}

// decided reports whether the path needs no further steps, and then whether it is the sample. If it is, it sets the status of the outcome. The condition
// comes first.
func (w *walkedPath) decided(outcomes *[2]compile.Outcome, isDecided [2]bool) (accepted, end bool) {
	switch {
	case !isDecided[0]:
		return false, false
	case !w.objective.condition.holds(&outcomes[0]):
		return false, true
	case !isDecided[1]:
		return false, false
	}
	w.outcome.Status = compile.False
	if w.objective.formula.holds(&outcomes[1]) {
		w.outcome.Status = compile.True
	}
	return true, true
}
