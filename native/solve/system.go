package solve

import (
	"math"

	"tilecheck/native/space/sparse"
)

// equationSystem is a system of equations, one for each maybe state s:
//
//	x(s) = opt over choices c of  reward(s) + reward(c) + sum over t of p(c,t) x(t)
//
// Maybe states are the states whose value graph analysis does not determine (the term is PRISM's and
// Storm's). All other states have values already. If a scheduler can stay in maybe states forever without
// reward, endComponents has the end components in which it can. Each of them is treated as one state, and
// staying in it has value 0.
//
// Rates are handled as probabilities: rows are divided by their sums.
type equationSystem struct {
	graph    *sparse.Graph
	minimize bool
	// maximizer has the states of a game in which the choice maximizes; in the other states it minimizes. It is nil
	// for other models, for which minimize says this.
	maximizer     *sparse.Set
	nature        *nature // of an interval model; nil for other models. The equations then describe one step
	isProbability bool    // values are at most 1
	maybe         *sparse.Set
	choices       *sparse.Set    // the allowed choices; nil for all
	reward        *sparse.Reward // nil for none
	endComponents *sparse.EndComponents
	// isOneStep says that the equations describe one step: transitions from a state to
	// itself count like others.
	isOneStep bool
	rounding  rounding
	values    *Values
	// firstScheduler has the choice of each state with which the exact solution of an MDP starts; nil if there is none.
	firstScheduler []uint32
	stepScheduler  *stepScheduler // of the steps; nil when no scheduler is asked for
	stepSkipper    *stepSkipper   // for rewards of steps; nil if every step is taken
	stepLimit      stepLimit      // for a great number of steps; nil if every step is taken

	scratchSum, scratchTerm, scratchWeights fraction // scratch of exact computations
}

// newSystem returns the equations for the values of a model's states: expected rewards, or probabilities if reward is nil.
// The error is ErrNotExact if opts.Exact is set and the model or the rewards have no fractions.
func newSystem(graph *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*equationSystem, error) {
	if opts.Exact && !(graph.Exact() && hasFractions(reward)) {
		return nil, ErrNotExact
	}
	round := newRounding(graph.Model, reward)
	round.grid = opts.Grid
	return &equationSystem{graph: graph, minimize: direction == Min, reward: reward, rounding: round, values: newValues(graph.Model, opts)}, nil
}

// hasFractions reports whether all rewards are given as fractions. It is true for nil.
func hasFractions(reward *sparse.Reward) bool {
	if reward == nil {
		return true
	}
	missesState := reward.State != nil && reward.StateFractions == nil
	missesChoice := reward.Choice != nil && reward.ChoiceFractions == nil
	return !missesState && !missesChoice
}

// isExact reports whether the values are fractions. The bounds are then the nearest float64, and only guide the
// computation.
func (system *equationSystem) isExact() bool { return system.values.Exact != nil }

// endComponentOf returns the number of the end component that contains a state, or sparse.None.
func (system *equationSystem) endComponentOf(state int) uint32 {
	if system.endComponents == nil {
		return sparse.None
	}
	return system.endComponents.ID[state]
}

// isUsableChoice reports whether choice c of a maybe state is allowed and does not stay in a zero-reward end component.
func (system *equationSystem) isUsableChoice(choice int) bool {
	return (system.choices == nil || system.choices.Has(choice)) && (system.endComponents == nil || !system.endComponents.Choices.Has(choice))
}

// choiceBounds are bounds on the value of a choice. leaves is false if the choice only leads back to its
// state; the bounds then mean nothing.
type choiceBounds struct {
	lower, upper float64
	leavesState  bool
}

// minimizes reports whether the choice in a state minimizes.
func (system *equationSystem) minimizes(state int) bool {
	if system.maximizer == nil {
		return system.minimize
	}
	return !system.maximizer.Has(state)
}

// evaluateChoice returns bounds on the value of a choice of a state from the bounds of its successors, rounded outwards.
// Unless system.isOneStep is set, it eliminates self-loops and transitions within the end component of the state.
func (system *equationSystem) evaluateChoice(state, choice int) choiceBounds {
	if system.nature != nil {
		reward, rewardErr := system.reward.ChoiceTotal(state, choice), system.rounding.relErr
		lower := system.nature.choiceBound(choice, reward, rewardErr, system.values.Lower, roundedDown)
		upper := system.nature.choiceBound(choice, reward, rewardErr, system.values.Upper, roundedUp)
		return choiceBounds{lower: lower, upper: upper, leavesState: true}
	}
	model, endComponent := system.graph.Model, system.endComponentOf(state)
	reward := system.reward.ChoiceTotal(state, choice)
	lower, upper, weightSum := reward, reward, 0.0
	minLower, maxUpper := math.Inf(1), 0.0
	first, end := model.Transitions(choice)
	hasLoop := false
	for transition := first; transition < end; transition++ {
		target, weight := int(model.Target[transition]), model.Prob(transition)
		isLoop := !system.isOneStep && (target == state || endComponent != sparse.None && system.endComponents.ID[target] == endComponent)
		if isLoop {
			hasLoop = true
			continue
		}
		targetLower, targetUpper := system.values.Lower[target], system.values.Upper[target]
		lower += weight * targetLower
		upper += weight * targetUpper
		weightSum += weight
		minLower, maxUpper = min(minLower, targetLower), max(maxUpper, targetUpper)
	}
	if weightSum == 0 {
		return choiceBounds{}
	}
	if hasLoop || model.Kind == sparse.CTMC {
		lower, upper = system.rounding.divideBounds(lower, upper, weightSum)
	}
	if maxUpper > 0 { // even if the products underflow
		upper = max(upper, system.rounding.leastBound)
	}
	relErr := system.rounding.sumErr(end - first + 1)
	lower = system.rounding.floorToGrid(system.rounding.roundDown(lower, relErr))
	upper = system.rounding.roundUp(upper, relErr)
	if reward == 0 { // the value is a mean of the values of the targets
		lower, upper = max(lower, minLower), min(upper, maxUpper)
	}
	return choiceBounds{lower, upper, true}
}

// solveState computes the bounds and the choice of a maybe state that is a component by itself. All successors except the state must be solved.
// work is the number of its transitions.
func (system *equationSystem) solveState(state int) (work int) {
	bounds := system.optimalBounds(state)
	canLeave := bounds.choice != sparse.None
	if canLeave { // a state that is never left has the value 0
		system.values.Lower[state], system.values.Upper[state] = bounds.lower, bounds.upper
		if system.values.Scheduler != nil {
			system.values.Scheduler[state] = bounds.choice
		}
	}
	firstChoice, endChoice := system.graph.Choices(state)
	firstTransition, endTransition := system.graph.FirstTransition[firstChoice], system.graph.FirstTransition[endChoice]
	return int(endTransition - firstTransition)
}

// optimalBounds returns bounds on the optimal value of a state over its usable choices, and an optimal choice.
func (system *equationSystem) optimalBounds(state int) bestBounds {
	first, end := system.graph.Choices(state)
	minimize := system.minimizes(state)
	bounds := emptyBestBounds(minimize)
	for choice := first; choice < end; choice++ {
		if system.isUsableChoice(choice) {
			bounds.include(system.evaluateChoice(state, choice), uint32(choice), minimize)
		}
	}
	if system.isProbability {
		bounds.upper = min(bounds.upper, 1)
	}
	bounds.lower = min(bounds.lower, bounds.upper)
	return bounds
}

// bestBounds has the optimum of the lower bounds and the optimum of the upper bounds over some choices. The value of choice
// is between these bounds.
type bestBounds struct {
	lower, upper float64
	choice       uint32
}

// emptyBestBounds returns the optimum over no choices: plus infinity for a minimum, minus infinity for a maximum.
func emptyBestBounds(minimize bool) bestBounds {
	bound := math.Inf(-1)
	if minimize {
		bound = math.Inf(1)
	}
	return bestBounds{lower: bound, upper: bound, choice: sparse.None}
}

// include updates the optimum by a choice with the given bounds. It ignores a choice that cannot leave its state.
func (best *bestBounds) include(bounds choiceBounds, choice uint32, minimize bool) {
	if !bounds.leavesState {
		return
	}
	if minimize {
		if bounds.upper < best.upper || best.choice == sparse.None {
			best.upper, best.choice = bounds.upper, choice
		}
		best.lower = min(best.lower, bounds.lower)
		return
	}
	if bounds.lower > best.lower {
		best.lower, best.choice = bounds.lower, choice
	}
	best.upper = max(best.upper, bounds.upper)
}
