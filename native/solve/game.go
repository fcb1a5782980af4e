package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// Game is a turn-based stochastic game of two sides on the states of an MDP: the side that owns a state
// makes its choice. One side maximizes the value, the other one minimizes it. A game in which only one
// side has choices is solved as an MDP.
type Game struct {
	graph *sparse.Graph
	// maximizer has the states of the side that maximizes.
	maximizer *sparse.Set
}

// NewGame returns the game in which the owner of the given states maximizes.
func NewGame(graph *sparse.Graph, maximizer *sparse.Set) *Game { return &Game{graph, maximizer} }

// Direction returns whether the game is a maximization or a minimization, if at most one side has several choices in some state. ok is false if both sides
// have.
func (game *Game) Direction() (direction Direction, ok bool) {
	var hasChoices [2]bool
	for state := range game.graph.NumStates() {
		if first, end := game.graph.Choices(state); end-first > 1 {
			hasChoices[game.side(state)] = true
		}
	}
	if hasChoices[Max] && hasChoices[Min] {
		return Max, false
	}
	if hasChoices[Min] {
		return Min, true
	}
	return Max, true
}

// side returns the direction in which the owner of a state optimises.
func (game *Game) side(state int) Direction {
	if game.maximizer.Has(state) {
		return Max
	}
	return Min
}

// newSystem returns the equations of the game. newMDPSystem makes the equations of an MDP, in which one side has all choices: pass newSystem for unbounded
// properties, and newStepwise for properties with a number of steps.
func (game *Game) newSystem(newMDPSystem func(*sparse.Graph, *sparse.Reward, Direction, Options) (*equationSystem, error), reward *sparse.Reward, opts Options) (*equationSystem, error) {
	system, err := newMDPSystem(game.graph, reward, Max, opts)
	if err != nil {
		return nil, err
	}
	system.values.Scheduler = nil
	system.maximizer = game.maximizer
	return system, nil
}

// Until returns bounds on the value of `left U right`: the greatest probability that the maximizer can guarantee.
// It is also the least probability that the minimizer can guarantee, because turn-based games are determined.
//
// Source: bounded value iteration with deflation of end components, Kelmendi, Kraemer, Kretinsky and
// Weininger (CAV 2018) and Eisentraut, Kelmendi, Kretinsky and Weininger (2019); if it is slow, and for
// fractions, strategy improvement, Hoffman and Karp (1966) and Condon (1992).
func (game *Game) Until(ctx context.Context, left, right *sparse.Set, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return Until(ctx, game.graph, left, right, direction, opts)
	}
	opts.Epsilon = opts.epsilon()
	opts.Within, opts.Classic = nil, false
	system, err := game.newSystem(newSystem, nil, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	strategy := firstChoices(game.graph)
	zeroStates, oneStates, err := game.certainStates(ctx, left, right, strategy)
	if err != nil {
		return nil, err
	}
	system.values.setAll(oneStates, 1)
	system.maybe = zeroStates.Union(oneStates).Complement()
	if system.maybe.Empty() {
		system.values.Scheduler = wantedStrategies(strategy, opts)
		return system.values, nil
	}
	improvement := &strategyImprovement{game: game, ctx: ctx, opts: opts, system: system}
	improvement.solve = func(mdp *sparse.Graph, _ *sparse.Reward, direction Direction, opts Options) (*Values, error) {
		return Until(ctx, mdp, left, right, direction, opts)
	}
	return improvement.solveMaybeStates(oneStates, strategy)
}

// solveMaybeStates solves the maybe states of an until formula: first by deflation, then by strategy improvement if deflation is slow or fractions are
// requested. oneStates are the states with value 1, and strategy is the first strategy.
func (improvement *strategyImprovement) solveMaybeStates(oneStates *sparse.Set, strategy []uint32) (*Values, error) {
	system, opts := improvement.system, improvement.opts
	bounds, err := improvement.game.iterateBounds(improvement.ctx, system.maybe, oneStates, strategy, opts)
	if err != nil {
		return nil, err
	}
	if opts.Exact {
		return system.values, improvement.solveExactly(Max, bounds.strategy)
	}
	system.values = bounds.system.values
	if !system.values.Converged {
		return system.values, improvement.narrowBounds(Max, bounds.strategy)
	}
	system.values.Scheduler = wantedStrategies(bounds.withMinimizer(), opts)
	return system.values, nil
}

// iterateBounds runs bounded value iteration on the maybe states. The result has the bounds and a strategy of the maximizer. oneStates are the states with
// value 1.
func (game *Game) iterateBounds(ctx context.Context, maybe, oneStates *sparse.Set, strategy []uint32, opts Options) (*deflation, error) {
	opts.Exact = false
	system, err := game.newSystem(newSystem, nil, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability, system.maybe = true, maybe
	system.values.setAll(oneStates, 1)
	bounds := newDeflation(game, system, strategy, opts)
	return bounds, bounds.solve(ctx, opts)
}

// wantedStrategies returns the strategy if the options request it, or nil.
func wantedStrategies(strategy []uint32, opts Options) []uint32 {
	if !opts.Scheduler {
		return nil
	}
	return strategy
}

// certainStates returns the states with value 0 and the states with value 1. For these states it writes choices to strategy that attain the
// values. In every other state, the choice of the minimizer in strategy avoids right with positive probability.
//
// Source: Chatterjee and Henzinger, A survey of stochastic omega-regular games (2012), section 3.1: attractors.
func (game *Game) certainStates(ctx context.Context, left, right *sparse.Set, strategy []uint32) (zeroStates, oneStates *sparse.Set, err error) {
	allStates := sparse.FullSet(game.graph.NumStates())
	positive := game.attractedStates(attractor{left: left, right: right, region: allStates})
	zeroStates = positive.Complement()
	game.chooseFirst(zeroStates, strategy, func(choice int) bool { return game.staysIn(choice, zeroStates) })
	// In a finite game the value is 1 exactly where the maximizer can win almost surely. Remove the states where this is impossible until
	// the set does not change. In a removed state, the minimizer has a choice that can leave the previous set, or that stays among removed states.
	oneStates = positive
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		nextOneStates := game.attractedStates(attractor{left: left, right: right, region: oneStates})
		if nextOneStates.Count() == oneStates.Count() {
			game.attractedStates(attractor{left: left, right: right, region: oneStates, strategy: strategy})
			return zeroStates, oneStates, nil
		}
		removed, previous := oneStates.Minus(nextOneStates), oneStates
		game.chooseFirst(removed, strategy, func(choice int) bool { return !game.staysIn(choice, previous) || game.staysIn(choice, removed) })
		oneStates = nextOneStates
	}
}

// chooseFirst writes a choice to strategy for each state of the minimizer in a set: the first choice that satisfies a condition.
func (game *Game) chooseFirst(states *sparse.Set, strategy []uint32, condition func(choice int) bool) {
	for state := range states.Minus(game.maximizer).All() {
		first, end := game.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if condition(choice) {
				strategy[state] = uint32(choice)
				break
			}
		}
	}
}

// attractor computes the states from which the maximizer can reach right through left with positive probability, by choices that
// never leave the region. In a state of the minimizer, all choices must stay in the region and reach right with positive
// probability.
type attractor struct {
	left, right, region *sparse.Set
	strategy            []uint32    // gets the choices of the maximizer, unless it is nil
	foundStates         *sparse.Set // the states that were found
	queue               []uint32    // the same states, in the order in which they were found
	seenChoices         *sparse.Set
	unseenCounts        []int // the number of choices of each state that were not seen yet
}

// attractedStates returns the attractor of right within a region: the states from which the maximizer can enforce that right is reached with positive
// probability, by choices that cannot leave the region and through states of left. It searches backwards from right.
func (game *Game) attractedStates(search attractor) *sparse.Set {
	graph := game.graph
	search.foundStates = search.right.Intersect(search.region)
	for state := range search.foundStates.All() {
		search.queue = append(search.queue, uint32(state))
	}
	search.seenChoices = sparse.NewSet(graph.NumChoices())
	search.unseenCounts = make([]int, graph.NumStates())
	for state := range search.unseenCounts {
		first, end := graph.Choices(state)
		search.unseenCounts[state] = end - first
	}
	for i := 0; i < len(search.queue); i++ { // visitChoice appends to the queue
		for _, choice := range graph.Into(int(search.queue[i])) {
			search.visitChoice(game, choice)
		}
	}
	return search.foundStates
}

// visitChoice handles a choice that can reach an attracted state and cannot leave the region. Its state is attracted if it belongs to the maximizer, or if
// all choices of the minimizer there can reach attracted states.
func (search *attractor) visitChoice(game *Game, choice uint32) {
	state := game.graph.Owner(choice)
	isCandidate := !search.foundStates.Has(state) && search.left.Has(state) && search.region.Has(state)
	if !isCandidate || search.seenChoices.Has(int(choice)) || !game.staysIn(int(choice), search.region) {
		return
	}
	search.seenChoices.Add(int(choice))
	search.unseenCounts[state]--
	isMaximizer := game.maximizer.Has(state)
	if !isMaximizer && search.unseenCounts[state] > 0 {
		return
	}
	if isMaximizer && search.strategy != nil {
		search.strategy[state] = choice
	}
	search.foundStates.Add(state)
	search.queue = append(search.queue, uint32(state))
}

// staysIn reports whether all transitions of a choice lead to states of a set.
func (game *Game) staysIn(choice int, set *sparse.Set) bool { return staysIn(game.graph, choice, set) }

// staysIn reports whether all transitions of a choice lead to states of a set.
func staysIn(graph *sparse.Graph, choice int, set *sparse.Set) bool {
	first, end := graph.Transitions(choice)
	for _, target := range graph.Target[first:end] {
		if !set.Has(int(target)) {
			return false
		}
	}
	return true
}

// Next returns bounds on the value of the path formula X set: the optimal probability that the first step leads into the set.
func (game *Game) Next(ctx context.Context, set *sparse.Set, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return Next(ctx, game.graph, set, direction, opts)
	}
	system, err := game.newSystem(newStepwise, nil, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	system.values.setAll(set, 1)
	err = system.applyEquations(ctx, opts, sparse.FullSet(game.graph.NumStates()), 1)
	system.values.Scheduler = system.stepScheduler.firstChoices()
	return system.values, err
}

// BoundedUntil returns bounds on the value of `left U right` with a bound on the number of steps. Strategies may count steps.
func (game *Game) BoundedUntil(ctx context.Context, left, right *sparse.Set, bound StepBound, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return BoundedUntil(ctx, game.graph, left, right, bound, direction, opts)
	}
	if bound.Low > 0 {
		opts.Within = nil
	}
	system, err := game.newSystem(newStepwise, nil, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	var finalChoices []uint32
	if bound.High == Unbounded {
		if system.values, err = game.Until(ctx, left, right, opts); err != nil {
			return nil, err
		}
		finalChoices, system.values.Scheduler = system.values.Scheduler, nil
	}
	err = boundedUntil(system.values, left, right, bound, func(maybe *sparse.Set, numSteps int) error { return system.applyEquations(ctx, opts, maybe, numSteps) })
	system.values.StepChoices = system.stepScheduler.stepChoices(finalChoices)
	return system.values, err
}

// CumulReward returns bounds on the value of the expected reward of the first steps.
func (game *Game) CumulReward(ctx context.Context, reward *sparse.Reward, steps int, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return CumulReward(ctx, game.graph, reward, steps, direction, opts)
	}
	return withScaledRewards(reward, opts, func(reward *sparse.Reward) (*Values, error) { return game.cumulReward(ctx, reward, steps, opts) })
}

// cumulReward returns bounds on the optimal expected reward of the given number of steps, in a game in which both sides have choices. The rewards must be so
// large that their sums cannot underflow.
func (game *Game) cumulReward(ctx context.Context, reward *sparse.Reward, steps int, opts Options) (*Values, error) {
	system, err := game.newSystem(newStepwise, reward, opts)
	if err != nil {
		return nil, err
	}
	system.stepSkipper = system.newStepSkipper(opts)
	err = system.applyEquations(ctx, opts, sparse.FullSet(game.graph.NumStates()), steps)
	system.values.StepChoices = system.stepScheduler.stepChoices(nil)
	return system.values, err
}

// InstantReward returns bounds on the value of the expected state reward after the given number of steps.
func (game *Game) InstantReward(ctx context.Context, reward *sparse.Reward, steps int, opts Options) (*Values, error) {
	if direction, ok := game.Direction(); ok {
		return InstantReward(ctx, game.graph, reward, steps, direction, opts)
	}
	return withScaledRewards(reward, opts, func(reward *sparse.Reward) (*Values, error) { return game.instantReward(ctx, reward, steps, opts) })
}

// instantReward returns bounds on the optimal expected state reward after the given number of steps, in a game in which both sides have choices. The rewards
// must be so large that products cannot underflow.
func (game *Game) instantReward(ctx context.Context, reward *sparse.Reward, steps int, opts Options) (*Values, error) {
	system, err := game.newSystem(newStepwise, reward, opts)
	if err != nil {
		return nil, err
	}
	system.setStateRewards(reward)
	system.stepSkipper = system.newStepSkipper(opts)
	err = system.applyEquations(ctx, opts, sparse.FullSet(game.graph.NumStates()), steps)
	system.values.StepChoices = system.stepScheduler.stepChoices(nil)
	return system.values, err
}

// hasWideBounds reports whether some of the given states has bounds with a relative width above epsilon.
func (values *Values) hasWideBounds(states *sparse.Set, epsilon float64) bool {
	for state := range states.All() {
		lower, upper := values.Lower[state], values.Upper[state]
		if upper > lower && (math.IsInf(upper, 1) || upper-lower > epsilon*upper) {
			return true
		}
	}
	return false
}
