package explicit

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// NewRunner returns a runner that samples paths of the space. Before that, it evaluates the formulas and rewards of the monitor in all
// states. It is an error if there are several initial states, or if a weight or reward is outside the range of float64.
func (space *Space) NewRunner(ctx context.Context, monitor compile.Monitor) (compile.BatchRunner, error) {
	switch {
	case space.rangeErr != nil:
		return nil, space.rangeErr
	case space.compiled.Samples() != nil:
		return nil, space.compiled.Samples()
	case len(space.model.Initial) != 1:
		return nil, &compile.UnsupportedError{File: space.Program().File, Msg: "several initial states, sample paths need a single initial state"}
	}
	isCTMC := space.model.Kind == sparse.CTMC
	watch, err := compile.NewWatch(monitor, isCTMC, stateTables{space})
	if err != nil {
		return nil, err
	}
	sampler := &pathSampler{model: space.model, watch: watch}
	if isCTMC {
		sampler.rates, err = exitRates(ctx, space.model)
	}
	return sampler, err
}

// exitRates returns the exit rate of each state of a CTMC. It adds the rates in the same order as pickTransition, so both have the same
// rounding errors.
func exitRates(ctx context.Context, model *sparse.Model) ([]float64, error) {
	const statesPerCheck = 1 << 16 // the context is checked once for this number of states
	rates := make([]float64, model.NumStates())
	for i := range rates {
		if i%statesPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		choice, _ := model.Choices(i)
		first, end := model.Transitions(choice)
		for transition := first; transition < end; transition++ {
			rates[i] += model.Prob(transition)
		}
	}
	return rates, nil
}

// stateTables implements compile.StateCompiler by tables with the values of formulas and rewards in all states. A move is a choice
// of an MDP, or a transition of a Markov chain.
type stateTables struct{ *Space }

// CompileBool implements compile.StateCompiler. It returns a function that reports whether a formula holds in a state.
func (facts stateTables) CompileBool(expr sema.Expr) (func(int) bool, error) {
	set, err := facts.States(expr)
	if err != nil {
		return nil, err
	}
	return set.Has, nil
}

// CompileRewards implements compile.StateCompiler. The returned functions give the reward of a state, and the reward of a move: of a choice in an MDP, of a
// transition in a Markov chain. index is the index of the reward structure.
func (tables stateTables) CompileRewards(index int) (stateReward func(state int) float64, moveReward func(state, move int) float64, err error) {
	reward, moveRewards, err := tables.sampledReward(index)
	if err != nil {
		return nil, nil, err
	}
	moveValues := moveRewards.Values
	if tables.model.Kind == sparse.MDP {
		moveValues = reward.Choice
	}
	stateReward = func(state int) float64 { return valueAt(reward.State, state) }
	moveReward = func(_, move int) float64 { return valueAt(moveValues, move) }
	return stateReward, moveReward, nil
}

// sampledReward returns the reward structure Program.Rewards[index], whose rewards may be negative, and its rewards of single transitions. It is an
// error if a reward is outside the range of float64.
func (space *Space) sampledReward(index int) (*sparse.Reward, TransitionReward, error) {
	reward, transitions, err := space.WrittenReward(index)
	if err == nil {
		err = reward.RangeErr
	}
	return reward, transitions, err
}

// MayBeNegative reports whether a reward of the structure Program.Rewards[index] may be negative. If the states were read from files, the answer
// is exact.
func (space *Space) MayBeNegative(index int) bool {
	if space.imported == nil {
		return space.compiled.MayBeNegative(index)
	}
	return space.negativeImportedReward(index) < 0
}

// valueAt returns values[i], or zero if values is nil.
func valueAt(values []float64, i int) float64 {
	if values == nil {
		return 0
	}
	return values[i]
}

// pathSampler samples paths of a state space. For each state it draws an integer if there are
// several choices, then a number from [0,1) if the choice has several transitions, and in a CTMC
// the sojourn time. The interpreter of package compile draws the same numbers and gets the same
// paths.
type pathSampler struct {
	model *sparse.Model
	watch *compile.Watch[int]
	rates []float64 // exit rates of a CTMC; nil otherwise
}

// Close implements compile.Runner.
func (sampler *pathSampler) Close() error { return nil }

// Name implements compile.BatchRunner.
func (sampler *pathSampler) Name() string { return "states" }

// Fork implements compile.BatchRunner. It returns sampler, because sampling does not change it.
func (sampler *pathSampler) Fork() (compile.BatchRunner, error) { return sampler, nil }

// Run implements compile.Runner.
func (sampler *pathSampler) Run(s compile.Stream) compile.Outcome {
	outcome, _ := sampler.samplePath(context.Background(), &s)
	return outcome
}

// RunBatch implements compile.BatchRunner: it samples one path for each entry of outcomes. Path i has the random numbers of stream first+i.
func (sampler *pathSampler) RunBatch(ctx context.Context, seed, first uint64, outcomes []compile.Outcome) error {
	for i := range outcomes {
		stream := compile.NewStream(seed, first+uint64(i))
		var err error
		if outcomes[i], err = sampler.samplePath(ctx, &stream); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// samplePath samples one path with the given random numbers and returns its outcome.
func (sampler *pathSampler) samplePath(ctx context.Context, random *compile.Stream) (outcome compile.Outcome, err error) {
	const stepsPerCheck = 0x1000 // the context is checked once for this number of steps
	state := int(sampler.model.Initial[0])
	isLoop := false // whether the last step was the self-loop of an absorbing state
	for {
		if outcome.Steps%stepsPerCheck == stepsPerCheck-1 && ctx.Err() != nil {
			return outcome, ctx.Err()
		}
		if sampler.watch.Enter(state, &outcome, isLoop) {
			return outcome, nil
		}
		if sampler.model.IsDeadlock(state) {
			sampler.watch.Deadlock(state, &outcome)
			return outcome, nil
		}
		if sampler.watch.Limited() && outcome.Steps >= sampler.watch.MaxPath {
			outcome.Status = compile.Undecided
			return outcome, nil
		}
		next, isOver := sampler.sampleStep(random, &outcome, state)
		if isOver {
			return outcome, nil
		}
		isLoop = next == state && sampler.isAbsorbing(state)
		state = next
	}
}

// sampleStep draws a choice of a state, each equally likely, and a transition of this choice. It returns the next state. isOver says that the path ended
// before the transition, because a time bound passed.
func (sampler *pathSampler) sampleStep(random *compile.Stream, outcome *compile.Outcome, state int) (next int, isOver bool) {
	isCTMC := sampler.rates != nil
	choice, end := sampler.model.Choices(state)
	if numChoices := end - choice; numChoices > 1 {
		choice += int(random.Below(uint32(numChoices)))
		outcome.Nondet++
	}
	totalWeight := 1.0
	if isCTMC {
		totalWeight = sampler.rates[state]
	}
	transition, endTransition := sampler.model.Transitions(choice)
	if endTransition-transition > 1 {
		transition = sampler.pickTransition(transition, endTransition, float64(random.Unit()*totalWeight))
	}
	switch {
	case isCTMC:
		isOver = sampler.watch.Sojourn(state, outcome, random.Exponential(totalWeight), transition)
	case sampler.model.Kind == sparse.MDP:
		sampler.watch.Step(state, outcome, choice)
	default:
		sampler.watch.Step(state, outcome, transition)
	}
	return int(sampler.model.Target[transition]), isOver
}

// pickTransition returns the first transition from first to end-1 whose cumulative weight exceeds random. If none does, because of
// rounding, it returns the last one.
func (sampler *pathSampler) pickTransition(first, end int, random float64) int {
	sum := 0.0
	for transition := first; transition < end-1; transition++ {
		sum += sampler.model.Prob(transition)
		if random < sum {
			return transition
		}
	}
	return end - 1
}

// isAbsorbing reports whether a state with a self-loop has no other transition.
func (sampler *pathSampler) isAbsorbing(state int) bool {
	choice, end := sampler.model.Choices(state)
	firstTransition, endTransition := sampler.model.Transitions(choice)
	return end-choice == 1 && endTransition-firstTransition == 1
}
