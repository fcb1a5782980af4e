package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// optimalLongRun computes the optimal long-run average of a reward from each state of an MDP: first the optimal gain of each
// maximal end component (MEC), then the values in the MEC quotient.
//
// Source: de Alfaro, Formal verification of probabilistic systems (1997), section 5.4; Ashok, Chatterjee, Daca, Kretinsky
// and Meggendorfer, Value iteration for long-run average reward in Markov decision processes (CAV 2017).
func optimalLongRun(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, rewardedStates *sparse.Set, direction Direction, opts Options) (*Values, error) {
	areProbabilities := rewardedStates != nil
	return solveByMECs(ctx, graph, reward, areProbabilities, direction, opts, func(mec *mecGain) error {
		if err := mec.setKnownGains(ctx, rewardedStates); err != nil {
			return err
		}
		for i := range mec.endComponents.Num() {
			if err := mec.solveMEC(i, areProbabilities); err != nil {
				return err
			}
		}
		return nil
	})
}

// solveByMECs returns the optimal long-run average of each state of an MDP. solveMECs sets the optimum of each maximal end component (MEC).
// The values of the MEC quotient, in which a scheduler selects the MEC to stay in, are the optima of the states.
func solveByMECs(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, areProbabilities bool, direction Direction, opts Options, solveMECs func(*mecGain) error) (*Values, error) {
	system, err := newSystem(graph, reward, direction, opts)
	if err != nil {
		return nil, err
	}
	mecs, err := graph.EndComponents(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	opts.Epsilon = opts.epsilon() / 2 // each step has half of the allowed width
	mec := newMECGain(ctx, system, mecs, opts)
	if err := solveMECs(mec); err != nil {
		return nil, err
	}
	quotient := newMECQuotient(graph, mecs)
	values, err := quotient.solve(ctx, mec.gains, mec.knownMECs, direction, areProbabilities, opts)
	if err != nil {
		return nil, err
	}
	quotient.copyToOriginal(values, system.values, mec)
	return system.values, nil
}

// mecGain computes the optimal gain of maximal end components.
type mecGain struct {
	rewardSystem, stepSystem *equationSystem // same transitions under the chosen choices; rewards of the property, and 1 per step
	endComponents            *sparse.EndComponents
	opts                     Options
	meter                    *meter
	index                    unknownIndex
	cycleIndex               unknownIndex // numbers of the unknowns of solveCycle
	schedulerChoices         *sparse.Set  // the choices of the scheduler that solveCycle evaluates
	gains                    *Values      // of each MEC
	knownMECs                *sparse.Set  // MECs whose gain is known
	routeChoices             []uint32     // of each state: scratch of routeToClass
	stayChoices              []uint32     // of each state: the choice that attains the gain of its MEC

	bias           []float64 // approximate bias
	stepGains      []float64 // r + P h - h for the current choice, where h is the bias
	currentChoices []uint32  // the current scheduler
	stepErr        float64   // the greatest rounding error of stepGains
}

// newMECGain prepares the computation of the optimal gain of each maximal end component. Its initial scheduler stays in the end components.
func newMECGain(ctx context.Context, system *equationSystem, mecs *sparse.EndComponents, opts Options) *mecGain {
	schedulerChoices := sparse.NewSet(system.graph.NumChoices())
	system.choices = schedulerChoices
	mec := &mecGain{
		rewardSystem: system, stepSystem: system.countingSteps(), schedulerChoices: schedulerChoices,
		endComponents: mecs, opts: opts, meter: newMeter(ctx, opts, len(mecs.States)), knownMECs: sparse.NewSet(mecs.Num()),
		gains:       &Values{Lower: make([]float64, mecs.Num()), Upper: make([]float64, mecs.Num()), Converged: true},
		stayChoices: make([]uint32, system.graph.NumStates()),
	}
	if opts.Exact {
		mec.gains.Exact = make([]*big.Rat, mecs.Num())
	}
	if system.graph.NumStates() < maxUnlimitedStates {
		mec.meter.maxWork = 0
	}
	stayInEndComponents(system.graph, mecs, mec.stayChoices)
	mec.index.allocate(system.graph.NumStates())
	mec.cycleIndex.allocate(system.graph.NumStates())
	return mec
}

// setKnownGains sets the gains 0 and 1 that graph analysis determines. For a long-run probability, rewardedStates is the set of states
// with reward 1. For other rewards it is nil.
func (mec *mecGain) setKnownGains(ctx context.Context, rewardedStates *sparse.Set) error {
	zeroReward, rewardedMECs := mec.zeroRewardChoices()
	for i := range mec.endComponents.Num() {
		if !rewardedMECs.Has(i) {
			mec.setGain(i, 0)
		}
	}
	if mec.rewardSystem.minimize {
		if rewardedStates != nil {
			mec.setMECsInside(rewardedStates)
		}
		return mec.setMECsContaining(ctx, zeroReward, 0)
	}
	if rewardedStates != nil {
		return mec.setMECsContaining(ctx, mec.endComponents.Choices.Minus(zeroReward), 1)
	}
	return nil
}

// setMECsInside sets the gain of each MEC to 1 whose states are all in the given set.
func (mec *mecGain) setMECsInside(rewardedStates *sparse.Set) {
	isOutside := func(state uint32) bool { return !rewardedStates.Has(int(state)) }
	for i := range mec.endComponents.Num() {
		if !slices.ContainsFunc(mec.endComponents.Members(i), isOutside) {
			mec.setGain(i, 1)
		}
	}
}

// zeroRewardChoices returns the choices in MECs that have no reward, and the numbers of the MECs that have a choice with a reward.
func (mec *mecGain) zeroRewardChoices() (zeroReward, rewardedMECs *sparse.Set) {
	graph := mec.rewardSystem.graph
	zeroReward, rewardedMECs = sparse.NewSet(graph.NumChoices()), sparse.NewSet(mec.endComponents.Num())
	for choice := range mec.endComponents.Choices.All() {
		state := graph.Owner(uint32(choice))
		if mec.rewardSystem.reward.ChoiceTotal(state, choice) == 0 {
			zeroReward.Add(choice)
		} else {
			rewardedMECs.Add(int(mec.endComponents.ID[state]))
		}
	}
	return zeroReward, rewardedMECs
}

// setMECsContaining sets the gain of each MEC that contains an end component of the given choices. The scheduler of such a MEC moves to
// this end component and stays there.
func (mec *mecGain) setMECsContaining(ctx context.Context, choices *sparse.Set, gain float64) error {
	innerComponents, err := mec.rewardSystem.graph.EndComponents(ctx, nil, choices)
	if err != nil {
		return err
	}
	innerStates := sparse.NewSet(mec.rewardSystem.graph.NumStates())
	for i := range innerComponents.Num() {
		addStates(innerStates, innerComponents.Members(i))
		mec.setGain(int(mec.endComponents.ID[innerComponents.Members(i)[0]]), gain)
	}
	stayInEndComponents(mec.rewardSystem.graph, innerComponents, mec.stayChoices)
	mec.rewardSystem.graph.Approach(mec.endComponents.Choices, innerStates, mec.stayChoices)
	return nil
}

// setGain records that the gain of a MEC is known.
func (mec *mecGain) setGain(mecIndex int, value float64) {
	mec.knownMECs.Add(mecIndex)
	mec.gains.Lower[mecIndex], mec.gains.Upper[mecIndex] = value, value
	if mec.gains.Exact != nil {
		mec.gains.Exact[mecIndex] = new(big.Rat).SetFloat64(value)
	}
}

// solveMEC stores the optimal gain of the MEC with an index, unless it is known already: bounds or, if fractions are requested, the exact
// gain.
func (mec *mecGain) solveMEC(mecIndex int, areProbabilities bool) error {
	if mec.knownMECs.Has(mecIndex) {
		return nil
	}
	members := mec.endComponents.Members(mecIndex)
	mec.initMEC(members)
	defer mec.index.clearUnknowns(members)
	if mec.gains.Exact != nil {
		return mec.exactPolicyIteration(mecIndex, members)
	}
	bounds, err := mec.iterateWithElimination(members)
	if areProbabilities {
		bounds.tighten(0, 1)
	}
	mec.gains.Lower[mecIndex], mec.gains.Upper[mecIndex] = bounds.lower, bounds.upper
	if !bounds.hasNearlyConverged(mec.opts.epsilon()) {
		mec.gains.Converged = false
	}
	mec.meter.progress.Done += len(members)
	return err
}

// initMEC prepares the computation of one MEC: all biases become 0, and the scheduler becomes one that stays in the MEC.
func (mec *mecGain) initMEC(members []uint32) {
	mec.bias = make([]float64, len(members))
	mec.stepGains = make([]float64, len(members))
	mec.currentChoices = make([]uint32, len(members))
	for member, state := range members {
		mec.index.unknowns[state] = uint32(member)
		mec.currentChoices[member] = mec.stayChoices[state]
	}
}
