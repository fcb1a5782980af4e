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
func optimalLongRun(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, rewarded *sparse.Set, dir Direction, opts Options) (*Values, error) {
	areProbabilities := rewarded != nil
	return solveByMECs(ctx, graph, reward, areProbabilities, dir, opts, func(mec *mecGain) error {
		if err := mec.setKnownGains(ctx, rewarded); err != nil {
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
func solveByMECs(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, areProbabilities bool, dir Direction, opts Options, solveMECs func(*mecGain) error) (*Values, error) {
	sys, err := newSystem(graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	mecs, err := graph.EndComponents(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	opts.Epsilon = opts.epsilon() / 2 // each step has half of the allowed width
	mec := newMECGain(ctx, sys, mecs, opts)
	if err := solveMECs(mec); err != nil {
		return nil, err
	}
	quotient := newMECQuotient(graph, mecs)
	values, err := quotient.solve(ctx, mec.gain, mec.knownMECs, dir, areProbabilities, opts)
	if err != nil {
		return nil, err
	}
	quotient.copyToOriginal(values, sys.values, mec)
	return sys.values, nil
}

// mecGain computes the optimal gain of maximal end components.
type mecGain struct {
	rewardSystem, stepSystem *system // same transitions under the chosen choices; rewards of the property, and 1 per step
	endComponents            *sparse.EndComponents
	opts                     Options
	meter                    *meter
	index                    unknownIndex
	cycleIndex               unknownIndex // numbers of the unknowns of solveCycle
	schedulerChoices         *sparse.Set  // the choices of the scheduler that solveCycle evaluates
	gain                     *Values      // of each MEC
	knownMECs                *sparse.Set  // MECs whose gain is known
	route                    []uint32     // of each state: scratch of routeToClass
	stayChoice               []uint32     // of each state: the choice that attains the gain of its MEC

	bias     []float64 // approximate bias
	stepGain []float64 // r + P h - h for the current choice, where h is the bias
	choice   []uint32  // the current scheduler
	stepErr  float64   // the greatest rounding error of stepGain
}

// newMECGain prepares the computation of the optimal gain of each maximal end component. Its initial scheduler stays in the end components.
func newMECGain(ctx context.Context, sys *system, mecs *sparse.EndComponents, opts Options) *mecGain {
	chosen := sparse.NewSet(sys.graph.NumChoices())
	sys.choices = chosen
	mec := &mecGain{
		rewardSystem: sys, stepSystem: sys.countingSteps(), schedulerChoices: chosen,
		endComponents: mecs, opts: opts, meter: newMeter(ctx, opts, len(mecs.States)), knownMECs: sparse.NewSet(mecs.Num()),
		gain:       &Values{Lower: make([]float64, mecs.Num()), Upper: make([]float64, mecs.Num()), Converged: true},
		stayChoice: make([]uint32, sys.graph.NumStates()),
	}
	if opts.Exact {
		mec.gain.Exact = make([]*big.Rat, mecs.Num())
	}
	if sys.graph.NumStates() < maxUnlimitedStates {
		mec.meter.maxWork = 0
	}
	stayInEndComponents(sys.graph, mecs, mec.stayChoice)
	mec.index.init(sys.graph.NumStates())
	mec.cycleIndex.init(sys.graph.NumStates())
	return mec
}

// setKnownGains sets the gains 0 and 1 that graph analysis determines. For a long-run probability, rewarded is the set of states
// with reward 1. For other rewards it is nil.
func (mec *mecGain) setKnownGains(ctx context.Context, rewarded *sparse.Set) error {
	zeroReward, rewardedMECs := mec.zeroRewardChoices()
	for i := range mec.endComponents.Num() {
		if !rewardedMECs.Has(i) {
			mec.setGain(i, 0)
		}
	}
	if mec.rewardSystem.minimize {
		if rewarded != nil {
			mec.setMECsInside(rewarded)
		}
		return mec.setMECsContaining(ctx, zeroReward, 0)
	}
	if rewarded != nil {
		return mec.setMECsContaining(ctx, mec.endComponents.Choices.Minus(zeroReward), 1)
	}
	return nil
}

// setMECsInside sets the gain of each MEC to 1 whose states are all in the given set.
func (mec *mecGain) setMECsInside(states *sparse.Set) {
	isOutside := func(s uint32) bool { return !states.Has(int(s)) }
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
	for c := range mec.endComponents.Choices.All() {
		s := graph.Owner(uint32(c))
		if mec.rewardSystem.reward.OfChoice(s, c) == 0 {
			zeroReward.Add(c)
		} else {
			rewardedMECs.Add(int(mec.endComponents.ID[s]))
		}
	}
	return zeroReward, rewardedMECs
}

// setMECsContaining sets the gain of each MEC that contains an end component of the given choices. The scheduler of such a MEC moves to
// this end component and stays there.
func (mec *mecGain) setMECsContaining(ctx context.Context, choices *sparse.Set, gain float64) error {
	inner, err := mec.rewardSystem.graph.EndComponents(ctx, nil, choices)
	if err != nil {
		return err
	}
	innerStates := sparse.NewSet(mec.rewardSystem.graph.NumStates())
	for i := range inner.Num() {
		addStates(innerStates, inner.Members(i))
		mec.setGain(int(mec.endComponents.ID[inner.Members(i)[0]]), gain)
	}
	stayInEndComponents(mec.rewardSystem.graph, inner, mec.stayChoice)
	mec.rewardSystem.graph.Approach(mec.endComponents.Choices, innerStates, mec.stayChoice)
	return nil
}

// setGain records that the gain of MEC number i is known.
func (mec *mecGain) setGain(i int, value float64) {
	mec.knownMECs.Add(i)
	mec.gain.Lower[i], mec.gain.Upper[i] = value, value
	if mec.gain.Exact != nil {
		mec.gain.Exact[i] = new(big.Rat).SetFloat64(value)
	}
}

// solveMEC stores the optimal gain of the MEC with an index, unless it is known already: bounds or, if fractions are requested, the exact
// gain.
func (mec *mecGain) solveMEC(index int, areProbabilities bool) error {
	if mec.knownMECs.Has(index) {
		return nil
	}
	members := mec.endComponents.Members(index)
	mec.init(members)
	defer mec.index.clearUnknowns(members)
	if mec.gain.Exact != nil {
		return mec.exactPolicyIteration(index, members)
	}
	bounds, err := mec.iterateWithElimination(members)
	if areProbabilities {
		bounds.tighten(0, 1)
	}
	mec.gain.Lower[index], mec.gain.Upper[index] = bounds.lower, bounds.upper
	if !bounds.nearlyConverged(mec.opts.epsilon()) {
		mec.gain.Converged = false
	}
	mec.meter.progress.Done += len(members)
	return err
}

// init prepares the computation of one MEC: all biases become 0, and the scheduler becomes one that stays in the MEC.
func (mec *mecGain) init(members []uint32) {
	mec.bias = make([]float64, len(members))
	mec.stepGain = make([]float64, len(members))
	mec.choice = make([]uint32, len(members))
	for k, s := range members {
		mec.index.unknowns[s] = uint32(k)
		mec.choice[k] = mec.stayChoice[s]
	}
}
