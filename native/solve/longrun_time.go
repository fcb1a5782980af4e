package solve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrTimeStands says that a scheduler can stop the time: it can stay forever in states in which no time passes.
var ErrTimeStands = errors.New("some scheduler can stop the time: it stays forever in states in which no time passes")

// LongRunPerTime returns bounds on the optimal long-run average reward per unit of time of an MDP. time has the mean time of each step.
// An example is the embedded MDP of a Markov automaton.
//
// Source: Dinkelbach, On nonlinear fractional programming (1967); Butkova, Wimmer and Hermanns, Long-run rewards for Markov automata
// (TACAS 2017) for the components.
func LongRunPerTime(ctx context.Context, graph *sparse.Graph, reward, time *sparse.Reward, direction Direction, opts Options) (*Values, error) {
	return solveByMECs(ctx, graph, reward, false, direction, opts, func(mec *mecGain) error {
		for i := range mec.endComponents.Num() {
			component := newTimedComponent(ctx, graph, mec.endComponents, i, reward, time, direction, mec.opts)
			if err := component.solve(); err != nil {
				return err
			}
			component.storeInMEC(mec, i)
		}
		return nil
	})
}

// SteadyStatePerTime returns bounds on the optimal long-run fraction of the time in a set of states.
func SteadyStatePerTime(ctx context.Context, graph *sparse.Graph, rewardedStates *sparse.Set, time *sparse.Reward, direction Direction, opts Options) (*Values, error) {
	values, err := LongRunPerTime(ctx, graph, time.Within(rewardedStates), time, direction, opts)
	if err != nil {
		return nil, err
	}
	for state := range values.Upper {
		values.Lower[state], values.Upper[state] = min(values.Lower[state], 1), min(values.Upper[state], 1)
	}
	return values, nil
}

// timedComponent is a maximal end component as a separate model. All of its states have the same optimal average.
//
// A scheduler that earns R and takes the time T in an average step earns R/T per unit of time. For a guess g, let D be the optimal
// long-run average of R-g*T. Then the optimum of R/T lies between the values of g+D/T for the least and the greatest T.
// The next guess is the average R/T of the scheduler that attains D.
type timedComponent struct {
	ctx             context.Context
	members         []uint32 // the original states
	originalChoices []uint32 // the original choices
	graph           *sparse.Graph
	reward, time    *sparse.Reward
	direction       Direction
	opts            Options
	// lower and upper are bounds on the optimal average per unit of time; exactAverage is the average as a fraction, if the options ask for it.
	lower, upper float64
	exactAverage *big.Rat
	scheduler    []uint32 // the choice of each state that was optimal for the last guess
}

// newTimedComponent returns one maximal end component as a separate model, with the rewards and mean times of its choices.
func newTimedComponent(ctx context.Context, graph *sparse.Graph, mecs *sparse.EndComponents, mecNumber int, reward, time *sparse.Reward, direction Direction, opts Options) *timedComponent {
	members := mecs.Members(mecNumber)
	memberIndex := make(map[uint32]uint32, len(members))
	for member, state := range members {
		memberIndex[state] = uint32(member)
	}
	builder := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	for _, state := range members {
		builder.State()
		first, end := graph.Choices(int(state))
		for choice := first; choice < end; choice++ {
			if mecs.Choices.Has(choice) {
				builder.Copy(choice, func(transition int) uint32 { return memberIndex[graph.Target[transition]] })
			}
		}
	}
	component := &timedComponent{ctx: ctx, members: members, graph: sparse.NewGraph(builder.Finish()), originalChoices: builder.Origin, direction: direction, opts: opts, upper: math.Inf(1)}
	component.reward, component.time = restrictReward(graph, reward, builder.Origin), restrictReward(graph, time, builder.Origin)
	component.opts.Within = nil
	return component
}

// restrictReward returns a reward structure for some choices of a graph: restricted choice c earns what originalChoices[c] and its state earn in
// the graph.
func restrictReward(graph *sparse.Graph, reward *sparse.Reward, originalChoices []uint32) *sparse.Reward {
	result := &sparse.Reward{Choice: make([]float64, len(originalChoices)), RelErr: reward.RelErr + 2*unitRoundoff, RangeErr: reward.RangeErr}
	if reward.StateFractions != nil || reward.ChoiceFractions != nil {
		result.ChoiceFractions = make([]*big.Rat, len(originalChoices))
	}
	for choice, originalChoice := range originalChoices {
		state := graph.Owner(originalChoice)
		result.Choice[choice] = reward.ChoiceTotal(state, int(originalChoice))
		if result.ChoiceFractions != nil {
			result.ChoiceFractions[choice] = reward.ExactChoiceTotal(state, int(originalChoice))
		}
	}
	return result
}

// maxGuesses is the greatest number of guesses of timedComponent.solve.
const maxGuesses = 100

// solve computes bounds on the optimal average reward per unit of time, or the exact average. It improves guesses of the average, from the
// guess 0. The error is ErrTimeStands if a scheduler can stop the time.
func (component *timedComponent) solve() error {
	opts := component.opts
	opts.Exact, opts.Scheduler = false, false
	shortestTime, err := LongRun(component.ctx, component.graph, component.time, Min, opts)
	if err != nil {
		return err
	}
	longestTime, err := LongRun(component.ctx, component.graph, component.time, Max, opts)
	if err != nil {
		return err
	}
	if !(shortestTime.Lower[0] > 0) {
		return ErrTimeStands
	}
	guess := new(big.Rat)
	if slices.Max(component.reward.Choice) == 0 {
		component.upper, component.exactAverage = 0, guess // no choice has a reward
		return nil
	}
	for range maxGuesses {
		nextGuess, err := component.tightenWithGuess(guess, shortestTime.Lower[0], longestTime.Upper[0])
		if err != nil || nextGuess == nil {
			return err
		}
		guess = nextGuess
	}
	return nil
}

// tightenWithGuess tightens the bounds on the optimal average with a guess g: it solves the long-run average of R - g*T, which is 0 if g is the
// optimal average. R is the reward of a step, T its mean time; minTime and maxTime bound T. It returns the next guess, or nil if none is needed.
func (component *timedComponent) tightenWithGuess(guess *big.Rat, minTime, maxTime float64) (*big.Rat, error) {
	scale := component.scaleFor(guess)
	rewards := Signed{Gains: scaledReward(component.reward, scale), Losses: scaledReward(component.time, new(big.Rat).Mul(scale, guess))}
	if rewards.HasLarge() {
		return nil, ErrRates
	}
	shifted, shift := rewards.Shifted(component.graph.Model, false) // LongRun needs nonnegative rewards
	opts := component.opts
	opts.Scheduler, opts.Epsilon = true, min(opts.epsilon()/100, 1e-11)
	difference, err := LongRun(component.ctx, component.graph, shifted, component.direction, opts)
	if err != nil {
		return nil, err
	}
	component.setScheduler(difference.Scheduler)
	if difference.Exact != nil {
		if difference.Exact[0].Cmp(shift) == 0 {
			component.exactAverage = guess
			return nil, nil
		}
		return component.averageOfScheduler()
	}
	factor, _ := scale.Float64() // no rounding: it is a power of two
	component.tighten(guess, shift, difference, minTime*factor, maxTime*factor)
	if component.upper-component.lower <= component.opts.epsilon()*component.upper {
		return nil, nil
	}
	nextGuess, err := component.averageOfScheduler()
	if err == nil && nextGuess.Cmp(guess) == 0 {
		return nil, nil // another guess would not be better
	}
	return nextGuess, err
}

// scaleFor returns a power of two. Multiplied by it, the greatest terms of R - g*T are about 1, where g is the guess. Then shifting the
// rewards loses no digits.
func (component *timedComponent) scaleFor(guess *big.Rat) *big.Rat {
	const maxExponent = 1000
	guessFloat, _ := guess.Float64()
	greatest := 0.0
	for choice, earned := range component.reward.Choice {
		greatest = max(greatest, earned, guessFloat*component.time.Choice[choice])
	}
	_, exponent := math.Frexp(greatest)
	exponent = min(max(exponent, -maxExponent), maxExponent)
	return new(big.Rat).SetFloat64(math.Ldexp(1, -exponent))
}

// scaledReward returns a copy of a reward structure of choices in which each reward is multiplied by factor.
func scaledReward(reward *sparse.Reward, factor *big.Rat) *sparse.Reward {
	result := *reward
	rounded, _ := factor.Float64()
	result.Choice, result.RelErr = slices.Clone(reward.Choice), reward.RelErr+4*unitRoundoff
	for choice := range result.Choice {
		result.Choice[choice] *= rounded
	}
	result.ChoiceFractions = slices.Clone(reward.ChoiceFractions)
	for choice, fraction := range result.ChoiceFractions {
		result.ChoiceFractions[choice] = new(big.Rat).Mul(fraction, factor)
	}
	return &result
}

// setScheduler stores a scheduler, in which a state without a choice gets its first choice.
func (component *timedComponent) setScheduler(scheduler []uint32) {
	component.scheduler = slices.Clone(scheduler)
	for state, choice := range component.scheduler {
		if choice == sparse.None {
			first, _ := component.graph.Choices(state)
			component.scheduler[state] = uint32(first)
		}
	}
}

// tighten tightens the bounds on the optimal average with the bounds on g + D/T. guess is g; minTime and maxTime are bounds on T;
// difference has bounds on D plus the shift. All results are rounded outwards.
func (component *timedComponent) tighten(guess, shift *big.Rat, difference *Values, minTime, maxTime float64) {
	guessFloat, _ := guess.Float64()
	shiftFloat, _ := shift.Float64() // no rounding: it is an integer
	lowDifference := difference.Lower[0]*(1-4*unitRoundoff) - shiftFloat
	lowCorrection := lowDifference / maxTime
	if lowDifference < 0 {
		lowCorrection = lowDifference / minTime
	}
	highDifference := difference.Upper[0]*(1+4*unitRoundoff) - shiftFloat
	highCorrection := highDifference / minTime
	if highDifference < 0 {
		highCorrection = highDifference / maxTime
	}
	component.lower = max(component.lower, guessFloat+lowCorrection-8*unitRoundoff*(guessFloat+math.Abs(lowCorrection)))
	component.upper = min(component.upper, guessFloat+highCorrection+8*unitRoundoff*(guessFloat+math.Abs(highCorrection)))
}

// averageOfScheduler returns the average reward per unit of time of the current scheduler: the reward per step divided by the time per
// step. The quotient is rounded to a float64, unless the options request fractions.
func (component *timedComponent) averageOfScheduler() (*big.Rat, error) {
	builder := sparse.NewDerivedBuilder(component.graph.Model, sparse.DTMC)
	for state := range component.graph.NumStates() {
		builder.State()
		builder.Copy(int(component.scheduler[state]), func(i int) uint32 { return component.graph.Target[i] })
	}
	chain := sparse.NewGraph(builder.Finish())
	rewardPerStep, err := component.averagePerStep(chain, restrictReward(component.graph, component.reward, builder.Origin))
	if err != nil {
		return nil, err
	}
	timePerStep, err := component.averagePerStep(chain, restrictReward(component.graph, component.time, builder.Origin))
	if err != nil || timePerStep.Sign() == 0 {
		return nil, errors.Join(err, ErrTimeStands)
	}
	quotient := new(big.Rat).Quo(rewardPerStep, timePerStep)
	if component.opts.Exact {
		return quotient, nil
	}
	rounded, _ := quotient.Float64()
	return new(big.Rat).SetFloat64(rounded), nil
}

// averagePerStep returns the long-run average per step of a reward in an induced chain: the exact value, or a lower bound without exact
// arithmetic.
func (component *timedComponent) averagePerStep(chain *sparse.Graph, reward *sparse.Reward) (*big.Rat, error) {
	values, err := LongRun(component.ctx, chain, reward, component.direction, component.opts)
	if err != nil {
		return nil, err
	}
	if values.Exact != nil {
		return values.Exact[0], nil
	}
	return new(big.Rat).SetFloat64(values.Lower[0]), nil
}

// storeInMEC stores the bounds and the scheduler of the component as those of the MEC with an index.
func (component *timedComponent) storeInMEC(mec *mecGain, mecIndex int) {
	mec.gains.Lower[mecIndex], mec.gains.Upper[mecIndex] = max(component.lower, 0), component.upper
	if mec.gains.Exact != nil {
		mec.gains.Exact[mecIndex] = component.exactAverage
	}
	if component.lower == 0 && component.upper == 0 {
		mec.knownMECs.Add(mecIndex)
	}
	mec.gains.Converged = mec.gains.Converged && component.upper-component.lower <= 10*component.opts.epsilon()*component.upper
	for member := range component.scheduler {
		state := component.members[member]
		mec.stayChoices[state] = component.originalChoices[component.scheduler[member]]
	}
}
