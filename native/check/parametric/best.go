package parametric

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/sparse"
)

// Question asks for the minimal (if Min) or maximal probability of Left U Right in an MDP. If Rewards is not
// nil, it asks for the minimal or maximal expected reward until Right is reached.
type Question struct {
	Min         bool
	Left, Right *sparse.Set
	Rewards     []*ratfunc.Func // of each choice
}

// Piece is a part of a piecewise function of one parameter: the value is Value from Low to High. These are
// ends of the region, or points where two functions are equal.
type Piece struct {
	Low, High ratfunc.Root
	Value     *ratfunc.Func
}

// Best returns the minimal or maximal value of an MDP in the initial state, as a piecewise function of the parameters, on the region from low to
// high. With several parameters it is an error if no single scheduler is proved optimal in the whole region. The result is empty if the value is
// infinite.
//
// Source: Hahn, Han, Zhang, Synthesis for PCTL in parametric Markov decision processes, NFM 2011.
func (chain *Chain) Best(ctx context.Context, question Question, low, high []*big.Rat) ([]Piece, error) {
	solver := &mdpSolver{Chain: chain, ctx: ctx, question: question, valueCache: map[string]*schedulerValue{}}
	if err := chain.CheckPositive(ctx, low, high, question.Rewards); err != nil {
		return nil, err
	}
	graph, _, err := solver.instantiate(chain.parameterValues)
	if err != nil {
		return nil, err
	}
	infinite, err := solver.analyzeGraph(graph)
	switch {
	case err != nil || infinite:
		return nil, err
	case !solver.maybeStates.Has(chain.initial):
		return []Piece{{Value: solver.fixedValue(chain.initial)}}, nil
	case len(low) == 1:
		return solver.piecesBetween(low[0], high[0])
	}
	optimal, err := solver.optimalAt(chain.parameterValues)
	if err != nil {
		return nil, err
	}
	// The scheduler is optimal at all points where it has an advantage of at least 0 over every other choice: its values are inductive bounds there
	// (Knaster and Tarski). For a minimum, every relevant scheduler leaves the maybe states.
	for _, advantage := range optimal.advantages {
		if !advantage.NotNegative(low, high) {
			return nil, errors.New("one scheduler could not be proved optimal for all values of the parameters: want one parameter, or smaller ranges (p=0.1:0.2)")
		}
	}
	return []Piece{{Value: optimal.values[chain.initial]}}, nil
}

// mdpSolver answers a question about an MDP.
type mdpSolver struct {
	*Chain
	ctx      context.Context
	question Question
	// maybeStates has the states whose value depends on the parameters, which may use the choices in allowedChoices only. oneStates has the
	// states with value 1.
	maybeStates, allowedChoices, oneStates *sparse.Set
	valueCache                             map[string]*schedulerValue // by scheduler, as text
}

// CheckPositive returns an error unless all weights, sojourn times and rewards are proved positive in the region from low to high. The reward 0 is
// allowed. rewards may be nil.
func (chain *Chain) CheckPositive(ctx context.Context, low, high []*big.Rat, rewards []*ratfunc.Func) error {
	checker := &positivityChecker{low: low, high: high, checkedFunctions: map[string]bool{}}
	for function, description := range chain.positiveFunctions(rewards) {
		if err := cmp.Or(ctx.Err(), checker.checkPositive(function, description)); err != nil {
			return err
		}
	}
	return nil
}

// PositiveOn reports whether it is certain that all weights, sojourn times and rewards are positive at all points of the box from low to high,
// including its border. The reward 0 is allowed.
func (chain *Chain) PositiveOn(low, high []*big.Rat, rewards []*ratfunc.Func) bool {
	for function := range chain.positiveFunctions(rewards) {
		if _, isConstant := function.Constant(); isConstant {
			continue
		}
		if sign, alsoOnBorder := function.Sign(low, high); sign <= 0 || !alsoOnBorder {
			return false
		}
	}
	return true
}

// positiveFunctions returns the functions that must be positive, and what each of them is: the weights, the rewards except 0, and the sojourn times.
func (chain *Chain) positiveFunctions(rewards []*ratfunc.Func) iter.Seq2[*ratfunc.Func, string] {
	return func(yield func(*ratfunc.Func, string) bool) {
		for _, row := range chain.rows {
			for _, transition := range row {
				if !yield(transition.probability, "probability") {
					return
				}
			}
		}
		for _, reward := range rewards {
			if !reward.IsZero() && !yield(reward, "reward") {
				return
			}
		}
		for _, time := range chain.sojournTimes {
			if !yield(time, "time in a state") {
				return
			}
		}
	}
}

// positivityChecker checks that functions are positive on a box, each once.
type positivityChecker struct {
	low, high        []*big.Rat
	checkedFunctions map[string]bool // by the text of the function
}

// checkPositive returns an error if a function of the parameters cannot be proved positive in the whole region. description says what the function is,
// such as "reward", for the error.
func (checker *positivityChecker) checkPositive(function *ratfunc.Func, description string) error {
	if _, isConstant := function.Constant(); isConstant || checker.checkedFunctions[function.String()] {
		return nil
	}
	checker.checkedFunctions[function.String()] = true
	if function.Positive(checker.low, checker.high) {
		return nil
	}
	return fmt.Errorf("the %s %s could not be proved positive for all values of the parameters: want smaller ranges (p=0.1:0.4)", description, function)
}

// addChoice adds a choice to the last state of the builder. The choice is a row of the parametric chain with the values of its probabilities at a point
// of the region. It is an error if a probability is not positive there.
func (solver *mdpSolver) addChoice(builder *sparse.Builder, row int, point []*big.Rat) error {
	builder.Choice(sparse.NoAction)
	for _, transition := range solver.rows[row] {
		probability, isFinite := transition.probability.ValueAt(point)
		if !isFinite || probability.Sign() <= 0 {
			return fmt.Errorf("probability %s is not positive at the given values of the parameters; this is a bug: please report it", transition.probability)
		}
		builder.AddRat(transition.target, probability, sparse.NoAction)
	}
	return nil
}

// instantiate returns the MDP, and the rewards of its choices, that result if the parameters have the values at a point. Each row of the parametric
// chain becomes a choice.
func (solver *mdpSolver) instantiate(point []*big.Rat) (*sparse.Graph, *sparse.Reward, error) {
	builder := sparse.NewBuilder(sparse.MDP)
	for s := range len(solver.firstRow) - 1 {
		if err := solver.ctx.Err(); err != nil {
			return nil, nil, err
		}
		builder.State()
		for row := solver.firstRow[s]; row < solver.firstRow[s+1]; row++ {
			if err := solver.addChoice(builder, row, point); err != nil {
				return nil, nil, err
			}
		}
	}
	reward, err := solver.instantiateRewards(point)
	if err != nil {
		return nil, nil, err
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, nil, err
	}
	return sparse.NewGraph(model), reward, nil
}

// instantiateRewards returns the rewards of the choices for the values of the parameters at a point.
func (solver *mdpSolver) instantiateRewards(point []*big.Rat) (*sparse.Reward, error) {
	reward := &sparse.Reward{}
	for _, function := range solver.question.Rewards {
		value, isFinite := function.ValueAt(point)
		if !isFinite {
			return nil, fmt.Errorf("reward %s is infinite at the given values of the parameters; this is a bug: please report it", function)
		}
		nearest, _ := value.Float64()
		reward.Choice = append(reward.Choice, nearest)
		reward.ChoiceFractions = append(reward.ChoiceFractions, value)
	}
	return reward, nil
}

// analyzeGraph determines the maybe states, whose values must be computed, the states with value 1, and the choices that an optimal scheduler can
// use. It reports whether the value of the initial state is infinite.
func (solver *mdpSolver) analyzeGraph(graph *sparse.Graph) (isInfinite bool, err error) {
	solver.allowedChoices = sparse.FullSet(graph.NumChoices())
	if solver.question.Rewards != nil {
		isInfinite, err = solver.analyzeReward(graph)
	} else {
		solver.analyzeProbability(graph)
	}
	if isInfinite || err != nil {
		return isInfinite, err
	}
	solver.maybeStates = solver.reachableMaybeStates()
	return false, nil
}

// analyzeProbability determines the states of a probability whose value is 1, solver.question.Right, and the maybe states: all other states whose value
// is positive.
func (solver *mdpSolver) analyzeProbability(graph *sparse.Graph) {
	left, right := solver.question.Left, solver.question.Right
	zeroStates := graph.Prob0A(left, right)
	if solver.question.Min {
		zeroStates = graph.Prob0E(left, right)
	}
	solver.maybeStates, solver.oneStates = zeroStates.Union(right).Complement(), right
}

// analyzeReward determines the maybe states of an expected reward: the states with a finite value, except the target states solver.question.Right. For a
// minimum it allows only choices that stay among the states with a finite value. It reports whether the value of the initial state is infinite.
func (solver *mdpSolver) analyzeReward(graph *sparse.Graph) (isInfinite bool, err error) {
	finite, err := solver.certainlyReaching(graph)
	if err != nil {
		return false, err
	}
	if solver.question.Min {
		solver.allowedChoices = graph.ChoicesWithin(finite)
	}
	solver.maybeStates, solver.oneStates = finite.Minus(solver.question.Right), sparse.NewSet(graph.NumStates())
	return !finite.Has(solver.initial), nil
}

// certainlyReaching returns the states from which Right is reached with probability one. For a minimum some scheduler must reach it, and
// for a maximum every scheduler.
func (solver *mdpSolver) certainlyReaching(graph *sparse.Graph) (*sparse.Set, error) {
	allStates := sparse.FullSet(graph.NumStates())
	if solver.question.Min {
		return graph.Prob1E(solver.ctx, allStates, solver.question.Right)
	}
	return graph.Prob1A(allStates, solver.question.Right), nil
}

// reachableMaybeStates returns the maybe states that are reachable from the initial state through maybe states.
func (solver *mdpSolver) reachableMaybeStates() *sparse.Set {
	reachable := sparse.NewSet(len(solver.firstRow) - 1)
	stack := []int{solver.initial}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !solver.maybeStates.Has(s) || reachable.Has(s) {
			continue
		}
		reachable.Add(s)
		for row := solver.firstRow[s]; row < solver.firstRow[s+1]; row++ {
			if !solver.allowedChoices.Has(row) {
				continue
			}
			for _, transition := range solver.rows[row] {
				stack = append(stack, transition.target)
			}
		}
	}
	return reachable
}

// fixedValue returns the value of a state that is not a maybe state: 0 or 1.
func (solver *mdpSolver) fixedValue(s int) *ratfunc.Func {
	if solver.oneStates.Has(s) {
		return solver.Chain.one
	}
	return solver.evaluator.ring.Integer(0)
}

// schedulerValue is the value of a scheduler as a function of the parameters.
type schedulerValue struct {
	values map[int]*ratfunc.Func
	// The scheduler is optimal at every point where all advantages are at least 0. An advantage is the value of
	// the scheduler's choice in a state minus that of another choice (the other way round for a minimum).
	advantages []*ratfunc.Func
	sturmCache map[*ratfunc.Func]*ratfunc.Sturm
}

// optimalAt returns the values of a scheduler that is optimal at a point, as functions of the parameters, and its advantages over other choices. As a
// check, it compares the values of these functions at the point with the optimal value.
func (solver *mdpSolver) optimalAt(point []*big.Rat) (*schedulerValue, error) {
	scheduler, optimum, err := solver.optimalScheduler(point)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprint(scheduler)
	value := solver.valueCache[key]
	if value == nil {
		value, err = solver.evaluateScheduler(scheduler)
		if err != nil {
			return nil, err
		}
		solver.valueCache[key] = value
	}
	function := value.values[solver.initial]
	initialValue, isFinite := function.ValueAt(point)
	if !isFinite || initialValue.Cmp(optimum) != 0 {
		return nil, fmt.Errorf("the function %s is not the value at %v; this is a bug: please report it", function, point)
	}
	for _, advantage := range value.advantages {
		advantageAtPoint, isFinite := advantage.ValueAt(point)
		if !isFinite || advantageAtPoint.Sign() < 0 {
			return nil, fmt.Errorf("a scheduler is not optimal at %v; this is a bug: please report it", point)
		}
	}
	return value, nil
}

// optimalScheduler returns a scheduler that is optimal at a point, and the optimal value of the initial state. The scheduler has a choice
// for each maybe state, and sparse.None for other states.
func (solver *mdpSolver) optimalScheduler(point []*big.Rat) (scheduler []uint32, optimum *big.Rat, err error) {
	values, err := solver.solveAt(point)
	if err != nil {
		return nil, nil, err
	}
	scheduler = values.Scheduler
	for s, c := range scheduler {
		switch {
		case !solver.maybeStates.Has(s):
			scheduler[s] = sparse.None
		case c == sparse.None: // any allowed choice is optimal
			scheduler[s] = solver.firstAllowedChoice(s)
		}
	}
	return scheduler, values.Exact[solver.initial], nil
}

// firstAllowedChoice returns the first allowed choice of state s.
func (solver *mdpSolver) firstAllowedChoice(s int) uint32 {
	choice := solver.firstRow[s]
	for !solver.allowedChoices.Has(choice) {
		choice++
	}
	return uint32(choice)
}

// solveAt computes the optimal values and an optimal scheduler of the MDP that results if the parameters have the values at a point.
func (solver *mdpSolver) solveAt(point []*big.Rat) (*solve.Values, error) {
	graph, reward, err := solver.instantiate(point)
	if err != nil {
		return nil, err
	}
	direction := solve.Max
	if solver.question.Min {
		direction = solve.Min
	}
	options := solve.Options{Exact: true, Scheduler: true}
	if solver.question.Rewards == nil {
		return solve.Until(solver.ctx, graph, solver.question.Left, solver.question.Right, direction, options)
	}
	return solve.ReachReward(solver.ctx, graph, reward, solver.question.Right, direction, options)
}

// evaluateScheduler computes the values of a scheduler as functions of the parameters, by state elimination. It also computes the advantages of
// the scheduler over all other choices.
func (solver *mdpSolver) evaluateScheduler(scheduler []uint32) (*schedulerValue, error) {
	elimination := newElimination(solver.Chain.one, solver.initial)
	elimination.keepsRemoved = true
	for s := range solver.maybeStates.All() {
		row := int(scheduler[s])
		elimination.addEquation(s, solver.rows[row], solver.maybeStates.Has, []*ratfunc.Func{solver.immediateReward(row)})
	}
	if err := elimination.eliminateAllBut(solver.ctx, solver.initial); err != nil {
		return nil, err
	}
	values, err := elimination.backSubstitute(solver.initial)
	if err != nil {
		return nil, err
	}
	advantages, err := solver.advantagesOf(scheduler, values)
	if err != nil {
		return nil, err
	}
	return &schedulerValue{values: values, advantages: advantages}, nil
}

// advantagesOf returns, for each choice that a scheduler does not use, the value of the state minus the value of the choice, or its negative for a
// minimum. It omits 0 and duplicates. values has the value function of the scheduler in each maybe state.
func (solver *mdpSolver) advantagesOf(scheduler []uint32, values map[int]*ratfunc.Func) ([]*ratfunc.Func, error) {
	var advantages []*ratfunc.Func
	seen := map[string]bool{}
	for s := range solver.maybeStates.All() {
		if err := solver.ctx.Err(); err != nil {
			return nil, err
		}
		for row := solver.firstRow[s]; row < solver.firstRow[s+1]; row++ {
			if row == int(scheduler[s]) || !solver.allowedChoices.Has(row) {
				continue
			}
			advantage := values[s].Sub(solver.valueOfRow(row, values))
			if solver.question.Min {
				advantage = advantage.Neg()
			}
			if err := checkSize(advantage); err != nil {
				return nil, err
			}
			text := advantage.String()
			if !advantage.IsZero() && !seen[text] {
				seen[text] = true
				advantages = append(advantages, advantage)
			}
		}
	}
	return advantages, nil
}

// valueOfRow returns r + sum of P(t) values[t] over the maybe states t that a choice leads to, where r is its immediate reward.
func (solver *mdpSolver) valueOfRow(row int, values map[int]*ratfunc.Func) *ratfunc.Func {
	sum := solver.immediateReward(row)
	for _, transition := range solver.rows[row] {
		if solver.maybeStates.Has(transition.target) {
			sum = sum.Add(transition.probability.Mul(values[transition.target]))
		}
	}
	return sum
}

// immediateReward returns the reward of a row plus the probability that it leads to a state with value 1.
func (solver *mdpSolver) immediateReward(row int) *ratfunc.Func {
	sum := solver.evaluator.ring.Integer(0)
	if solver.question.Rewards != nil {
		sum = solver.question.Rewards[row]
	}
	for _, transition := range solver.rows[row] {
		if solver.oneStates.Has(transition.target) {
			sum = sum.Add(transition.probability)
		}
	}
	return sum
}
