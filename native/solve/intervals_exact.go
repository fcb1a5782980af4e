package solve

import (
	"context"
	"errors"
	"math/big"

	"tilecheck/native/space/sparse"
)

// strategyPair has what the scheduler and nature choose in one unknown: a choice of one of its states, and a distribution of this
// choice.
type strategyPair struct {
	state, choice int
	distribution  []*big.Rat
}

// exactStrategyIteration computes the exact values of the maybe states by strategy iteration. It solves the Markov chain that the
// strategies of the scheduler and of nature induce, and improves the strategies, until both are optimal.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966).
func (sys *intervalSystem) exactStrategyIteration(ctx context.Context, opts Options) error {
	var unknowns []uint32
	for s := range sys.maybe.All() {
		if sys.representativeOf(uint32(s)) == uint32(s) {
			unknowns = append(unknowns, uint32(s))
		}
	}
	strategies, err := sys.initialStrategies(ctx, unknowns, opts)
	if err != nil {
		return err
	}
	for {
		improved, err := sys.improve(unknowns, strategies)
		if err != nil {
			return err
		}
		if !improved {
			break
		}
		if err := sys.solveInduced(ctx, unknowns, strategies, opts); err != nil {
			return err
		}
	}
	for s := range sys.maybe.All() {
		sys.values.setExact(s, sys.values.Exact[sys.representativeOf(uint32(s))])
	}
	return nil
}

// initialStrategies returns strategies that are optimal for the computed bounds, and stores their exact values in sys.values.Exact.
// If these strategies can stay in the unknowns forever, it returns proper strategies instead.
func (sys *intervalSystem) initialStrategies(ctx context.Context, unknowns []uint32, opts Options) (map[uint32]*strategyPair, error) {
	strategies := make(map[uint32]*strategyPair, len(unknowns))
	sys.setExactGuess(unknowns)
	for _, s := range unknowns {
		strategies[s] = sys.initialStrategy(s)
	}
	err := sys.solveInduced(ctx, unknowns, strategies, opts)
	if errors.Is(err, errImproper) {
		sys.properStrategies(unknowns, strategies)
		err = sys.solveInduced(ctx, unknowns, strategies, opts)
	}
	return strategies, err
}

// setExactGuess sets the exact values of the unknowns to the computed float64 bounds. Nature's first distributions are optimal for these
// values.
func (sys *intervalSystem) setExactGuess(unknowns []uint32) {
	bounds := sys.values.Lower
	if sys.dir.Scheduler() == Min && sys.values.Converged {
		bounds = sys.values.Upper
	}
	for _, s := range unknowns {
		sys.values.Exact[s] = new(big.Rat).SetFloat64(bounds[s])
	}
}

// initialStrategy returns the choice of an unknown that is optimal for the computed bounds, with an optimal distribution of nature.
func (sys *intervalSystem) initialStrategy(s uint32) *strategyPair {
	minimize := sys.dir.Scheduler() == Min
	useUpper := minimize && sys.values.Converged
	var strategy *strategyPair
	bestBound := 0.0
	for state, choice := range sys.allowedChoices(s) {
		bound := sys.choiceBound(state, choice, useUpper)
		if strategy == nil || isBetter(bound, bestBound, minimize) {
			strategy, bestBound = &strategyPair{state: state, choice: choice}, bound
		}
	}
	strategy.distribution = sys.distribution(strategy.choice)
	return strategy
}

// properStrategies replaces the strategies by strategies that leave the maybe states with probability one. Each round adds the unknowns
// that can move to an unknown of an earlier round, or leave the maybe states directly.
func (sys *intervalSystem) properStrategies(unknowns []uint32, strategies map[uint32]*strategyPair) {
	properUnknowns := sparse.NewSet(sys.graph.NumStates())
	for changed := true; changed; {
		changed = false
		for _, s := range unknowns {
			if properUnknowns.Has(int(s)) {
				continue
			}
			if strategy := sys.strategyLeadingTo(s, properUnknowns); strategy != nil {
				properUnknowns.Add(int(s))
				strategies[s] = strategy
				changed = true
			}
		}
	}
}

// strategyLeadingTo returns the first choice of unknown s that can lead to a proper unknown or out of the maybe states, or nil if there is
// none.
func (sys *intervalSystem) strategyLeadingTo(s uint32, properUnknowns *sparse.Set) *strategyPair {
	for state, choice := range sys.allowedChoices(s) {
		if sys.canReachOrLeave(choice, properUnknowns) {
			return &strategyPair{state: state, choice: choice, distribution: sys.distribution(choice)}
		}
	}
	return nil
}

// canReachOrLeave reports whether a transition of a choice leads to a proper unknown, or out of the maybe states.
func (sys *intervalSystem) canReachOrLeave(choice int, properUnknowns *sparse.Set) bool {
	first, end := sys.graph.Transitions(choice)
	for _, target := range sys.graph.Target[first:end] {
		unknown := int(sys.representativeOf(target))
		if properUnknowns.Has(unknown) || !sys.maybe.Has(unknown) {
			return true
		}
	}
	return false
}

// improve switches nature to better distributions. If nature is optimal, it switches the scheduler to better choices. It reports whether a
// strategy changed.
func (sys *intervalSystem) improve(unknowns []uint32, strategies map[uint32]*strategyPair) (improved bool, err error) {
	improved, err = sys.improveNature(unknowns, strategies)
	if improved || err != nil {
		return improved, err
	}
	return sys.improveScheduler(unknowns, strategies)
}

// improveNature switches nature to the optimal distribution of each current choice. It reports whether a distribution with a different
// value was found.
func (sys *intervalSystem) improveNature(unknowns []uint32, strategies map[uint32]*strategyPair) (improved bool, err error) {
	for _, s := range unknowns {
		current := strategies[s]
		distribution := sys.distribution(current.choice)
		if sys.choiceValue(current.state, current.choice, distribution).Cmp(sys.values.Exact[s]) != 0 {
			current.distribution, improved = distribution, true
		}
		if err := sys.meter.addWork(1000 + reductionCost(sys.values.Exact[s])); err != nil {
			return false, err
		}
	}
	return improved, nil
}

// improveScheduler switches the scheduler to better choices. It reports whether a choice changed.
func (sys *intervalSystem) improveScheduler(unknowns []uint32, strategies map[uint32]*strategyPair) (improved bool, err error) {
	betterOrder := 1 // the result of Cmp for a better value and a worse one
	if sys.dir.Scheduler() == Min {
		betterOrder = -1
	}
	for _, s := range unknowns {
		bestValue := sys.values.Exact[s]
		for state, choice := range sys.allowedChoices(s) {
			distribution := sys.distribution(choice)
			value := sys.choiceValue(state, choice, distribution)
			if value.Cmp(bestValue) == betterOrder {
				bestValue, improved = value, true
				*strategies[s] = strategyPair{state, choice, distribution}
			}
		}
		if err := sys.meter.addWork(4000 + reductionCost(bestValue)); err != nil {
			return false, err
		}
	}
	return improved, nil
}

// distribution returns the distribution of nature over the targets of choice c that is optimal for the exact values: each target gets the
// lower end of its interval, and the targets that nature prefers get the free probability.
func (sys *intervalSystem) distribution(choice int) []*big.Rat {
	return sys.exactDistribution(choice, sys.values.Exact)
}

// choiceValue returns the exact value of choice c of state s under a distribution over its targets.
func (sys *intervalSystem) choiceValue(s, choice int, distribution []*big.Rat) *big.Rat {
	return sys.nature.choiceValue(choice, sys.reward.ExactChoiceTotal(s, choice), distribution, sys.values.Exact)
}

// errImproper says that the value of an unknown is infinite, because the scheduler can stay in the component forever.
var errImproper = errors.New("no initial scheduler that leaves the component was found")

// solveInduced computes the exact values of the unknowns in the induced Markov chain. The error is errImproper if a value is infinite.
func (sys *intervalSystem) solveInduced(ctx context.Context, unknowns []uint32, strategies map[uint32]*strategyPair, opts Options) error {
	model, reward, err := sys.inducedChain(unknowns, strategies)
	if err != nil {
		return err
	}
	numUnknowns := len(unknowns)
	graph, target := sparse.NewGraph(model), sparse.SetOf(numUnknowns+2, numUnknowns)
	opts = Options{Exact: true, MaxWork: opts.MaxWork, MaxSweeps: opts.MaxSweeps}
	var values *Values
	if sys.isProbability {
		values, err = Until(ctx, graph, sparse.FullSet(numUnknowns+2), target, Max, opts)
	} else {
		values, err = ReachReward(ctx, graph, reward, target, Max, opts)
	}
	if err != nil {
		return err
	}
	for i, s := range unknowns {
		if values.Exact[i] == nil {
			return errImproper
		}
		sys.values.Exact[s] = values.Exact[i]
	}
	return nil
}

// inducedChain returns the Markov chain that the strategies induce, and its state rewards. The unknowns are states 0 to numUnknowns-1.
// State numUnknowns is the absorbing target, and state numUnknowns+1 is absorbing with value 0.
func (sys *intervalSystem) inducedChain(unknowns []uint32, strategies map[uint32]*strategyPair) (*sparse.Model, *sparse.Reward, error) {
	numUnknowns := len(unknowns)
	stateOf := make(map[uint32]int, numUnknowns)
	for i, s := range unknowns {
		stateOf[s] = i
	}
	builder := sparse.NewBuilder(sparse.DTMC)
	rewards := &sparse.Reward{State: make([]float64, numUnknowns+2), StateFractions: make([]*big.Rat, numUnknowns+2)}
	for i, s := range unknowns {
		strategy := strategies[s]
		builder.State()
		first, _ := sys.graph.Transitions(strategy.choice)
		for targetIndex, prob := range strategy.distribution {
			builder.AddRat(sys.inducedState(sys.graph.Target[first+targetIndex], stateOf, numUnknowns), prob, sparse.NoAction)
		}
		if reward := sys.reward.ExactChoiceTotal(strategy.state, strategy.choice); reward.Sign() != 0 {
			rewards.StateFractions[i] = reward
			rewards.State[i], _ = sparse.NormalFloat(reward)
		}
	}
	for i := range 2 {
		builder.State()
		builder.AddRat(numUnknowns+i, big.NewRat(1, 1), sparse.NoAction)
	}
	model, err := builder.Finish()
	return model, rewards, err
}

// inducedState returns the state of the induced chain that represents a target of the model. stateOf has the state of each unknown. Other
// targets become absorbing states: numUnknowns+1 for a target with probability 0, numUnknowns otherwise.
func (sys *intervalSystem) inducedState(target uint32, stateOf map[uint32]int, numUnknowns int) int {
	if i, ok := stateOf[sys.representativeOf(target)]; ok {
		return i
	}
	if sys.isProbability && sys.values.Exact[target].Sign() == 0 {
		return numUnknowns + 1
	}
	return numUnknowns
}
