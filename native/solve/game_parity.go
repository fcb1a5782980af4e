package solve

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Parity returns bounds on the value of a parity objective: the probability that the least priority that occurs infinitely often is even.
// priorities has the priority of each state. With opts.Scheduler, the strategies attain the bounds.
//
// Source: Chatterjee and Henzinger, Strategy improvement for stochastic Rabin and Streett games (CONCUR 2006); the case of
// parity games.
func (game *Game) Parity(ctx context.Context, priorities []int, opts Options) (*Values, error) {
	wantsStrategies := opts.Scheduler
	opts.Within, opts.Scheduler, opts.Classic = nil, false, false
	priorities = compressPriorities(priorities)
	// Strategy improvement of the maximizer gives the lower bounds, and that of the minimizer the upper bounds.
	improvement := game.newParityImprovement(ctx, priorities, opts)
	lower, err := improvement.run()
	if err != nil || opts.Exact && !wantsStrategies {
		return lower, err
	}
	for state := range priorities {
		priorities[state]++ // exchange even and odd, because the minimizer wins if the least priority is odd
	}
	opponent := NewGame(game.graph, game.maximizer.Complement()).newParityImprovement(ctx, priorities, opts)
	upper, err := opponent.run()
	if err != nil {
		return nil, err
	}
	if wantsStrategies {
		lower.Scheduler = game.combineStrategies(improvement.evaluatedStrategy, opponent.evaluatedStrategy)
	}
	if opts.Exact {
		return lower, nil
	}
	for state, value := range upper.Lower {
		lower.Upper[state] = oneMinus(value, math.Inf(1))
	}
	lower.Sweeps += upper.Sweeps
	lower.Converged = !lower.hasWideBounds(sparse.FullSet(game.graph.NumStates()), opts.epsilon())
	return lower, nil
}

// newParityImprovement returns the strategy improvement of the maximizer, from the first choice of each state.
func (game *Game) newParityImprovement(ctx context.Context, priorities []int, opts Options) *parityImprovement {
	return &parityImprovement{game: game, ctx: ctx, opts: opts, priorities: priorities, strategy: firstChoices(game.graph)}
}

// combineStrategies joins the choices of a strategy of the maximizer and a strategy of the minimizer.
func (game *Game) combineStrategies(maximizer, minimizer []uint32) []uint32 {
	strategies := slices.Clone(minimizer)
	for state := range game.maximizer.All() {
		strategies[state] = maximizer[state]
	}
	return strategies
}

// compressPriorities replaces priorities by the smallest nonnegative numbers that have the same order and the same parities.
func compressPriorities(priorities []int) []int {
	distinct := slices.Compact(slices.Sorted(slices.Values(priorities)))
	compressed := map[int]int{}
	next := 0
	for _, priority := range distinct {
		if next%2 != priority%2 {
			next++
		}
		compressed[priority] = next
	}
	result := make([]int, len(priorities))
	for state, priority := range priorities {
		result[state] = compressed[priority]
	}
	return result
}

// oneMinus returns 1-probability, rounded towards the given infinity.
func oneMinus(probability, infinity float64) float64 {
	if probability == 0 || probability == 1 {
		return 1 - probability
	}
	return min(1, max(0, math.Nextafter(1-probability, infinity)))
}

// parityImprovement improves a memoryless strategy of the maximizer. The values of the strategy are those of the MDP in which only the
// minimizer still chooses. If a choice of the maximizer has a greater value, the strategy takes it. Otherwise the states
// are divided into classes of equal values below 1. If the maximizer can win almost surely within a class, unless the minimizer makes a
// choice that raises the value, the strategy plays to win there. If there is no such class either, the values of the strategy are the
// values of the game.
type parityImprovement struct {
	game              *Game
	ctx               context.Context
	opts              Options
	priorities        []int
	strategy          []uint32
	values            *Values  // of the last strategy that was evaluated
	evaluatedStrategy []uint32 // this strategy
}

// maxParityStrategies limits the strategies for bounds.
const maxParityStrategies = 200

// run improves the strategy of the maximizer until it cannot be improved or, without exact arithmetic, for at most maxParityStrategies rounds. It returns
// the exact values or, without exact arithmetic, for each state the greatest lower bound over all evaluated strategies.
func (improvement *parityImprovement) run() (*Values, error) {
	bestValues := newValues(improvement.game.graph.Model, improvement.opts)
	for i := 0; improvement.opts.Exact || i < maxParityStrategies; i++ {
		if err := improvement.ctx.Err(); err != nil {
			return nil, err
		}
		if err := improvement.evaluate(); err != nil {
			return nil, err
		}
		bestValues.Sweeps += improvement.values.Sweeps
		for state := range bestValues.Lower {
			bestValues.Lower[state] = max(bestValues.Lower[state], improvement.values.Lower[state])
		}
		bestValues.Exact = improvement.values.Exact
		if !improvement.improve() {
			break
		}
	}
	return bestValues, nil
}

// evaluate computes the values of the maximizer's strategy, in the MDP in which only the minimizer chooses: one minus the maximal probability of reaching an
// end component whose least priority is odd.
func (improvement *parityImprovement) evaluate() error {
	mdp := sparse.NewGraph(improvement.game.graph.Model.Restrict(improvement.strategyChoices()))
	oddStates, err := oddEndComponentStates(improvement.ctx, mdp.Model, improvement.priorities)
	if err != nil {
		return err
	}
	opts := improvement.opts
	if !opts.Exact {
		opts.Epsilon = max(opts.epsilon()/1000, 1e-14) // the value is one minus the probability, so small values lose relative precision
	}
	values, err := Until(improvement.ctx, mdp, sparse.FullSet(mdp.NumStates()), oddStates, Max, opts)
	if err != nil {
		return err
	}
	for state := range values.Lower {
		if values.Exact != nil {
			values.setExact(state, new(big.Rat).Sub(big.NewRat(1, 1), values.Exact[state]))
			continue
		}
		values.Lower[state], values.Upper[state] = oneMinus(values.Upper[state], math.Inf(-1)), oneMinus(values.Lower[state], math.Inf(1))
	}
	improvement.values, improvement.evaluatedStrategy = values, slices.Clone(improvement.strategy)
	return nil
}

// strategyChoices returns the choices of the maximizer's strategy together with all choices of the minimizer.
func (improvement *parityImprovement) strategyChoices() *sparse.Set {
	graph := improvement.game.graph
	choices := sparse.NewSet(graph.NumChoices())
	for state := range graph.NumStates() {
		if improvement.game.maximizer.Has(state) {
			choices.Add(int(improvement.strategy[state]))
			continue
		}
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			choices.Add(choice)
		}
	}
	return choices
}

// oddEndComponentStates returns the states of all end components whose least priority is odd. If the least priority of a maximal end component is even, it
// removes the states with this priority, and searches for smaller end components in the others.
func oddEndComponentStates(ctx context.Context, model *sparse.Model, priorities []int) (*sparse.Set, error) {
	oddStates := sparse.NewSet(model.NumStates())
	for states := sparse.FullSet(model.NumStates()); !states.Empty(); {
		components, err := model.EndComponents(ctx, states, nil)
		if err != nil {
			return nil, err
		}
		states = sparse.NewSet(model.NumStates()) // the next round finds smaller end components in these states
		for i := range components.Num() {
			members := components.Members(i)
			minPriority := leastPriority(members, priorities)
			if minPriority%2 == 1 {
				addStates(oddStates, members)
				continue
			}
			isLeast := func(state uint32) bool { return priorities[state] == minPriority }
			addStates(states, slices.DeleteFunc(slices.Clone(members), isLeast))
		}
	}
	return oddStates, nil
}

// leastPriority returns the least priority of some states.
func leastPriority(states []uint32, priorities []int) int {
	minPriority := math.MaxInt
	for _, state := range states {
		minPriority = min(minPriority, priorities[state])
	}
	return minPriority
}

// improve switches states of the maximizer to choices whose mean value is greater than the value of the state. If there are none, it switches to strategies
// that win almost surely within a class of states with equal values. It reports whether the strategy changed.
func (improvement *parityImprovement) improve() (changed bool) {
	comparisons := improvement.compareChoices()
	for state := range improvement.game.maximizer.All() {
		if betterChoice := improvement.bestChoice(state, comparisons); comparisons[betterChoice] > 0 {
			improvement.strategy[state], changed = uint32(betterChoice), true
		}
	}
	if changed {
		return true
	}
	for _, class := range improvement.valueClasses() {
		changed = improvement.winInClass(class, comparisons) || changed
	}
	return changed
}

// compareChoices returns one number for each choice: 1 if the mean value of its successors is greater than the value of its state, 0 if
// they are equal, and -1 if it is less.
func (improvement *parityImprovement) compareChoices() []int {
	graph := improvement.game.graph
	comparisons := make([]int, graph.NumChoices())
	for state := range graph.NumStates() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			comparisons[choice] = improvement.compareWithState(choice, state)
		}
	}
	return comparisons
}

// bestChoice returns the choice of a state with the greatest mean value, if this exceeds the value of the state, and otherwise the first choice. comparisons
// is the result of compareChoices.
func (improvement *parityImprovement) bestChoice(state int, comparisons []int) int {
	first, end := improvement.game.graph.Choices(state)
	greatestChoice := first
	for choice := first; choice < end; choice++ {
		if comparisons[choice] > 0 && (comparisons[greatestChoice] <= 0 || improvement.meanOfChoice(choice) > improvement.meanOfChoice(greatestChoice)) {
			greatestChoice = choice
		}
	}
	return greatestChoice
}

// tolerance is the greatest difference of float64 values that count as equal. It decides which strategies are tried; no bound
// depends on it.
const tolerance = 1e-10

// compareWithState compares the mean value of a choice's successors with the value of its state: 1 if the mean is greater, 0 if they are equal, and -1 if it
// is less. Without exact values, numbers that differ by at most tolerance count as equal.
func (improvement *parityImprovement) compareWithState(choice, state int) int {
	if improvement.values.Exact != nil {
		return expectedValue(improvement.game.graph, choice, improvement.values.Exact).Cmp(improvement.values.Exact[state])
	}
	difference := improvement.meanOfChoice(choice) - improvement.values.Lower[state]
	switch {
	case difference > tolerance:
		return 1
	case difference < -tolerance:
		return -1
	}
	return 0
}

// meanOfChoice returns the mean of the lower bounds of a choice's successors, weighted with their probabilities.
func (improvement *parityImprovement) meanOfChoice(choice int) float64 {
	first, end := improvement.game.graph.Transitions(choice)
	sum := 0.0
	for transition := first; transition < end; transition++ {
		sum += improvement.game.graph.Prob(transition) * improvement.values.Lower[improvement.game.graph.Target[transition]]
	}
	return sum
}

// valueClasses groups the states with values below 1 into classes of equal values. Without exact values, neighbouring values that differ by at most
// tolerance are in one class.
func (improvement *parityImprovement) valueClasses() [][]uint32 {
	var sortedStates []uint32
	for state, lower := range improvement.values.Lower {
		isRoundedToOne := improvement.values.Exact != nil && !improvement.values.Exact[state].IsInt()
		if lower < 1 || isRoundedToOne {
			sortedStates = append(sortedStates, uint32(state))
		}
	}
	slices.SortStableFunc(sortedStates, improvement.compareValues)
	var classes [][]uint32
	for i, state := range sortedStates {
		if i > 0 && improvement.equalValues(sortedStates[i-1], state) {
			last := len(classes) - 1
			classes[last] = append(classes[last], state)
			continue
		}
		classes = append(classes, []uint32{state})
	}
	return classes
}

// compareValues compares the values of two states: 1, 0 or -1.
func (improvement *parityImprovement) compareValues(left, right uint32) int {
	if improvement.values.Exact != nil {
		return improvement.values.Exact[left].Cmp(improvement.values.Exact[right])
	}
	return cmp.Compare(improvement.values.Lower[left], improvement.values.Lower[right])
}

// equalValues reports whether two states have equal values, or nearly equal float64 values. The value of right must be at least the value of left.
func (improvement *parityImprovement) equalValues(left, right uint32) bool {
	if improvement.values.Exact != nil {
		return improvement.values.Exact[left].Cmp(improvement.values.Exact[right]) == 0
	}
	return improvement.values.Lower[right]-improvement.values.Lower[left] <= tolerance
}

// winInClass finds the states of a value class from which the maximizer wins almost surely without leaving the class, and writes the winning choices to the
// strategy. It reports whether there are such states. comparisons is the result of compareChoices.
func (improvement *parityImprovement) winInClass(class []uint32, comparisons []int) bool {
	solver := improvement.classGame(class, comparisons)
	wonStates := solver.solve()
	for state := range wonStates.All() {
		improvement.strategy[state] = solver.strategy[state]
	}
	return !wonStates.Empty()
}

// classGame returns the solver of the parity game within a class of states with equal values. The game has the choices that preserve this
// value and stay in the class. comparisons has the results of compareChoices.
func (improvement *parityImprovement) classGame(class []uint32, comparisons []int) *almostSure {
	graph := improvement.game.graph
	classStates := sparse.NewSet(graph.NumStates())
	addStates(classStates, class)
	solver := &almostSure{
		game: improvement.game, region: classStates, choices: sparse.NewSet(graph.NumChoices()),
		priorities: make([]int, graph.NumChoices()), strategy: slices.Clone(improvement.strategy),
	}
	for _, state := range class {
		canLeave := improvement.addClassChoices(solver, int(state), comparisons)
		if canLeave && !improvement.game.maximizer.Has(int(state)) { // the minimizer wins here
			classStates.Remove(int(state))
		}
	}
	return solver
}

// addClassChoices adds the choices of a state that preserve the value and stay in the class to the solver's game. canLeave says that another
// choice preserves the value and can leave the class.
func (improvement *parityImprovement) addClassChoices(solver *almostSure, state int, comparisons []int) (canLeave bool) {
	first, end := improvement.game.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		preservesValue := comparisons[choice] == 0
		if !preservesValue {
			continue
		}
		if !improvement.game.staysIn(choice, solver.region) {
			canLeave = true
			continue
		}
		solver.choices.Add(choice)
		solver.priorities[choice] = improvement.priorities[state]
	}
	return canLeave
}

// almostSure computes the states from which the maximizer wins a parity game with probability one without leaving a set of
// states. It evaluates a nested fixed point with one variable for each priority of choices. The variable of priority 0 is the
// outermost. Variables of even priorities have greatest fixed points, those of odd ones least fixed points.
//
// A choice with several successors is won if, for each even priority 2k up to the priority of the choice, all successors are in
// the variable of 2k, or one successor is in that of 2k-1. The second case is the gadget for random states: the maximizer may
// select the successor if it accepts the priority 2k-1.
//
// Source: Chatterjee, Jurdzinski and Henzinger, Simple stochastic parity games (CSL 2003).
type almostSure struct {
	game       *Game
	region     *sparse.Set   // the states
	choices    *sparse.Set   // the choices, which all stay in the region
	priorities []int         // of each choice
	strategy   []uint32      // gets the choices of the maximizer in the states that the maximizer wins
	variables  []*sparse.Set // of each priority
}

// solve returns the states that the maximizer wins.
func (winning *almostSure) solve() *sparse.Set {
	greatest := 0
	for choice := range winning.choices.All() {
		greatest = max(greatest, winning.priorities[choice])
	}
	winning.variables = make([]*sparse.Set, greatest+1)
	return winning.fixedPoint(0)
}

// fixedPoint returns the value of the fixed-point variable of a priority, for the current values of the variables of smaller priorities: a least fixed point
// for an odd priority, a greatest one for an even priority. It evaluates the variables of greater priorities recursively.
func (winning *almostSure) fixedPoint(priority int) *sparse.Set {
	if priority == len(winning.variables) {
		return winning.wonStates()
	}
	current := winning.region
	isLeastFixedPoint := priority%2 == 1
	if isLeastFixedPoint {
		current = sparse.NewSet(winning.region.Len())
	}
	for {
		winning.variables[priority] = current
		next := winning.fixedPoint(priority + 1)
		if next.Equal(current) {
			return current
		}
		current = next
	}
}

// wonStates returns the states from which the maximizer wins, for the current values of all fixed-point variables.
func (winning *almostSure) wonStates() *sparse.Set {
	result := sparse.NewSet(winning.region.Len())
	for state := range winning.region.All() {
		if winning.isWon(state) {
			result.Add(state)
		}
	}
	return result
}

// isWon reports whether the maximizer wins from a state, for the current values of all fixed-point variables. In a state of the maximizer it writes a
// winning choice to the strategy.
func (winning *almostSure) isWon(state int) bool {
	first, end := winning.game.graph.Choices(state)
	if !winning.game.maximizer.Has(state) {
		return winning.areAllWon(first, end)
	}
	for choice := first; choice < end; choice++ {
		if !winning.choices.Has(choice) || !winning.isWonChoice(choice) {
			continue
		}
		if !winning.isWonForOddPriority(state) { // otherwise an earlier iteration has already written the choice, which must stay
			winning.strategy[state] = uint32(choice)
		}
		return true
	}
	return false
}

// areAllWon reports whether the maximizer wins after each of the choices first to end-1 that belongs to the game.
func (winning *almostSure) areAllWon(first, end int) bool {
	for choice := first; choice < end; choice++ {
		if winning.choices.Has(choice) && !winning.isWonChoice(choice) {
			return false
		}
	}
	return true
}

// isWonForOddPriority reports whether the current value of the variable of some odd priority contains a state.
func (winning *almostSure) isWonForOddPriority(state int) bool {
	for priority := 1; priority < len(winning.variables); priority += 2 {
		if winning.variables[priority].Has(state) {
			return true
		}
	}
	return false
}

// isWonChoice reports whether the maximizer wins after a choice. With p the priority of the choice, this must hold for each even number 2k from 0 to p+1:
// all successors are in the variable of 2k (if 2k <= p), or one successor is in the variable of 2k-1 (if k > 0).
func (winning *almostSure) isWonChoice(choice int) bool {
	priority := winning.priorities[choice]
	for evenPriority := 0; evenPriority <= priority+1; evenPriority += 2 {
		staysInVariable := evenPriority <= priority && winning.game.staysIn(choice, winning.variables[evenPriority])
		if !staysInVariable && (evenPriority == 0 || !winning.canEnter(choice, winning.variables[evenPriority-1])) {
			return false
		}
	}
	return true
}

// canEnter reports whether some transition of a choice leads to a state of a set.
func (winning *almostSure) canEnter(choice int, set *sparse.Set) bool {
	first, end := winning.game.graph.Transitions(choice)
	return slices.ContainsFunc(winning.game.graph.Target[first:end], func(target uint32) bool { return set.Has(int(target)) })
}
