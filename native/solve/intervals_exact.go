package solve

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// strategyPair has what the scheduler and nature choose in one unknown: a choice of one of its states, and a distribution of this
// choice.
type strategyPair struct {
	state, choice int
	distribution  []*big.Rat
}

// exactStrategyIteration computes the exact values of the maybe states by strategy iteration. It solves the Markov chain that the
// strategies of the scheduler and of nature induce, and improves a strategy, until neither strategy improves.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966).
func (iv *intervalSystem) exactStrategyIteration(ctx context.Context, opts Options) error {
	var unknowns []uint32
	for s := range iv.maybe.All() {
		if iv.representativeOf(uint32(s)) == uint32(s) {
			unknowns = append(unknowns, uint32(s))
		}
	}
	strategies, err := iv.solveInitial(ctx, unknowns, opts)
	if err != nil {
		return err
	}
	for {
		improved, err := iv.improve(unknowns, strategies)
		if err != nil {
			return err
		}
		if !improved {
			break
		}
		if err := iv.solveInduced(ctx, unknowns, strategies, opts); err != nil {
			return err
		}
	}
	for s := range iv.maybe.All() {
		iv.values.assign(s, iv.values.Exact[iv.representativeOf(uint32(s))])
	}
	return nil
}

// solveInitial returns the optimal strategies for the computed bounds, and computes their exact values.
// If a minimizing scheduler can stay forever, proper strategies replace them.
func (iv *intervalSystem) solveInitial(ctx context.Context, unknowns []uint32, opts Options) (map[uint32]*strategyPair, error) {
	strategies := make(map[uint32]*strategyPair, len(unknowns))
	iv.setExactGuess(unknowns)
	for _, s := range unknowns {
		strategies[s] = iv.initialStrategy(s)
	}
	err := iv.solveInduced(ctx, unknowns, strategies, opts)
	if errors.Is(err, errImproper) {
		iv.properStrategies(unknowns, strategies)
		err = iv.solveInduced(ctx, unknowns, strategies, opts)
	}
	return strategies, err
}

// setExactGuess sets the exact values to computed bounds, for the first order of the targets.
func (iv *intervalSystem) setExactGuess(unknowns []uint32) {
	bounds := iv.values.Lower
	if iv.dir.Scheduler() == Min && iv.values.Converged {
		bounds = iv.values.Upper
	}
	for _, s := range unknowns {
		iv.values.Exact[s] = new(big.Rat).SetFloat64(bounds[s])
	}
}

// initialStrategy returns the optimal choice of an unknown for the computed bounds, with the optimal distribution of nature.
func (iv *intervalSystem) initialStrategy(s uint32) *strategyPair {
	minimize := iv.dir.Scheduler() == Min
	useUpper := minimize && iv.values.Converged
	var strategy *strategyPair
	best := 0.0
	for state, c := range iv.allowedChoices(s) {
		bound := iv.choiceBound(state, c, useUpper)
		if strategy == nil || isBetter(bound, best, minimize) {
			strategy, best = &strategyPair{state: state, choice: c}, bound
		}
	}
	strategy.distribution = iv.distribution(strategy.choice)
	return strategy
}

// properStrategies sets strategies that leave the unknowns with probability one. It adds one unknown after the other.
func (iv *intervalSystem) properStrategies(unknowns []uint32, strategies map[uint32]*strategyPair) {
	proper := sparse.NewSet(iv.graph.NumStates())
	for changed := true; changed; {
		changed = false
		for _, s := range unknowns {
			if proper.Has(int(s)) {
				continue
			}
			if strategy := iv.strategyTowards(s, proper); strategy != nil {
				proper.Add(int(s))
				strategies[s] = strategy
				changed = true
			}
		}
	}
}

// strategyTowards returns the first choice of an unknown that can lead to a proper unknown or out of the maybe states, or nil.
func (iv *intervalSystem) strategyTowards(s uint32, proper *sparse.Set) *strategyPair {
	for state, c := range iv.allowedChoices(s) {
		if iv.canLead(c, proper) {
			return &strategyPair{state: state, choice: c, distribution: iv.distribution(c)}
		}
	}
	return nil
}

// canLead reports whether a choice can lead to a proper unknown or out of the maybe states.
func (iv *intervalSystem) canLead(c int, proper *sparse.Set) bool {
	first, end := iv.graph.Row(c)
	for _, target := range iv.graph.Target[first:end] {
		unknown := int(iv.representativeOf(target))
		if proper.Has(unknown) || !iv.maybe.Has(unknown) {
			return true
		}
	}
	return false
}

// improve switches nature to better distributions, or else the scheduler to better choices. It reports whether a strategy changed.
func (iv *intervalSystem) improve(unknowns []uint32, strategies map[uint32]*strategyPair) (improved bool, err error) {
	improved, err = iv.improveNature(unknowns, strategies)
	if improved || err != nil {
		return improved, err
	}
	return iv.improveScheduler(unknowns, strategies)
}

// improveNature switches nature to better distributions of the current choices. It reports whether a distribution changed.
func (iv *intervalSystem) improveNature(unknowns []uint32, strategies map[uint32]*strategyPair) (improved bool, err error) {
	for _, s := range unknowns {
		current := strategies[s]
		distribution := iv.distribution(current.choice)
		if iv.choiceValue(current.state, current.choice, distribution).Cmp(iv.values.Exact[s]) != 0 {
			current.distribution, improved = distribution, true
		}
		if err := iv.meter.addWork(1000 + reductionCost(iv.values.Exact[s])); err != nil {
			return false, err
		}
	}
	return improved, nil
}

// improveScheduler switches the scheduler to better choices. It reports whether a choice changed.
func (iv *intervalSystem) improveScheduler(unknowns []uint32, strategies map[uint32]*strategyPair) (improved bool, err error) {
	wantedOrder := 1
	if iv.dir.Scheduler() == Min {
		wantedOrder = -1
	}
	for _, s := range unknowns {
		best := iv.values.Exact[s]
		for state, c := range iv.allowedChoices(s) {
			distribution := iv.distribution(c)
			if value := iv.choiceValue(state, c, distribution); value.Cmp(best) == wantedOrder {
				best, improved = value, true
				*strategies[s] = strategyPair{state, c, distribution}
			}
		}
		if err := iv.meter.addWork(4000 + reductionCost(best)); err != nil {
			return false, err
		}
	}
	return improved, nil
}

// distribution returns the optimal distribution of nature for choice c and the exact values.
func (iv *intervalSystem) distribution(c int) []*big.Rat {
	model := iv.graph.Model
	first, end := model.Row(c)
	probs := make([]*big.Rat, end-first)
	for i := range probs {
		probs[i] = model.Rat(first + i) // the lower end of the interval
	}
	if iv.freeProbability[c] == 0 {
		return probs
	}
	free := big.NewRat(1, 1)
	for _, prob := range probs {
		free.Sub(free, prob)
	}
	for _, i := range iv.preferredTargets(c) {
		amount := new(big.Rat).Sub(model.HighRat(first+i), probs[i])
		if amount.Cmp(free) > 0 {
			amount.Set(free)
		}
		probs[i] = new(big.Rat).Add(probs[i], amount)
		free.Sub(free, amount)
		if free.Sign() == 0 {
			break
		}
	}
	return probs
}

// preferredTargets returns the indices of the targets of choice c in nature's order of preference.
func (iv *intervalSystem) preferredTargets(c int) []int {
	first, end := iv.graph.Row(c)
	order := make([]int, end-first)
	for i := range order {
		order[i] = i
	}
	value := func(i int) *big.Rat { return iv.values.Exact[iv.representativeOf(iv.graph.Target[first+i])] }
	slices.SortStableFunc(order, func(i, j int) int {
		if iv.dir.nature() == Min {
			return value(i).Cmp(value(j))
		}
		return value(j).Cmp(value(i))
	})
	return order
}

// choiceValue returns the exact value of choice c of state s under a distribution over its targets.
func (iv *intervalSystem) choiceValue(s, c int, distribution []*big.Rat) *big.Rat {
	sum := iv.reward.OfChoiceRat(s, c)
	first, _ := iv.graph.Row(c)
	term := new(big.Rat)
	for i, prob := range distribution {
		sum.Add(sum, term.Mul(prob, iv.values.Exact[iv.representativeOf(iv.graph.Target[first+i])]))
	}
	return sum
}

// errImproper says that the value of an unknown is infinite, because the scheduler can stay in the component forever.
var errImproper = errors.New("no initial scheduler that leaves the component was found")

// solveInduced computes the exact values of the unknowns in the induced Markov chain. The error is errImproper if a value is infinite.
func (iv *intervalSystem) solveInduced(ctx context.Context, unknowns []uint32, strategies map[uint32]*strategyPair, opts Options) error {
	model, reward, err := iv.inducedChain(unknowns, strategies)
	if err != nil {
		return err
	}
	n := len(unknowns)
	graph, target := sparse.NewGraph(model), sparse.SetOf(n+2, n)
	opts = Options{Exact: true, MaxWork: opts.MaxWork, MaxSweeps: opts.MaxSweeps}
	var values *Values
	if iv.isProbability {
		values, err = Until(ctx, graph, sparse.FullSet(n+2), target, Max, opts)
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
		iv.values.Exact[s] = values.Exact[i]
	}
	return nil
}

// inducedChain returns the Markov chain that the strategies induce, and its state rewards. The n unknowns are states 0 to n-1.
// State n is the absorbing target, and state n+1 is absorbing with value 0.
func (iv *intervalSystem) inducedChain(unknowns []uint32, strategies map[uint32]*strategyPair) (*sparse.Model, *sparse.Reward, error) {
	n := len(unknowns)
	number := make(map[uint32]int, n)
	for i, s := range unknowns {
		number[s] = i
	}
	builder := sparse.NewBuilder(sparse.DTMC)
	rewards := &sparse.Reward{State: make([]float64, n+2), StateRat: make([]*big.Rat, n+2)}
	for i, s := range unknowns {
		strategy := strategies[s]
		builder.State()
		first, _ := iv.graph.Row(strategy.choice)
		for j, prob := range strategy.distribution {
			builder.AddRat(iv.inducedState(iv.graph.Target[first+j], number, n), prob, sparse.NoAction)
		}
		if reward := iv.reward.OfChoiceRat(strategy.state, strategy.choice); reward.Sign() != 0 {
			rewards.StateRat[i] = reward
			rewards.State[i], _ = sparse.NormalFloat(reward)
		}
	}
	for i := range 2 {
		builder.State()
		builder.AddRat(n+i, big.NewRat(1, 1), sparse.NoAction)
	}
	model, err := builder.Finish()
	return model, rewards, err
}

// inducedState returns the state of the induced chain for a target. number has the states of the unknowns.
// A target with a known value becomes absorbing state numUnknowns+1 for probability 0, and numUnknowns for other values.
func (iv *intervalSystem) inducedState(target uint32, number map[uint32]int, numUnknowns int) int {
	if i, ok := number[iv.representativeOf(target)]; ok {
		return i
	}
	if iv.isProbability && iv.values.Exact[target].Sign() == 0 {
		return numUnknowns + 1
	}
	return numUnknowns
}
