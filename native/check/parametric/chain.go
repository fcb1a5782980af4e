package parametric

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Param is a parameter with its value at the reference point.
type Param struct {
	Name  string
	Value *big.Rat
}

// PointError says that a weight or reward is not positive at the reference point, although it is not zero
// everywhere. Another reference point is needed.
type PointError struct {
	Pos     syntax.Pos
	Problem string
}

// Error implements error.
func (e *PointError) Error() string { return e.Pos.String() + ": " + e.Problem }

// Chain is a parametric Markov chain, or an MDP, for which only Best, BestWithin and BestReward are supported.
type Chain struct {
	space *explicit.Space
	graph *sparse.Graph
	// first[s] is the first row of state s of an MDP, which has one row per choice; nil for Markov
	// chains.
	firstRow        []int
	program         *sema.Program
	evaluator       *evaluator
	parameterValues []*big.Rat
	one             *ratfunc.Func
	rows            [][]transition
	// sojournTimes are the expected times in each state; nil in discrete time, where they are 1.
	sojournTimes []*ratfunc.Func
	// actionProbabilities are the probabilities of the actions in each row.
	actionProbabilities [][]actionProbability
	initial             int
	// constantWeights caches the weights of commands whose weights are the same in every state.
	constantWeights map[*sema.Command][]*ratfunc.Func
}

// transition is a target with its probability.
type transition struct {
	target      int
	probability *ratfunc.Func
}

// actionProbability is an action with its probability.
type actionProbability struct {
	action      int
	probability *ratfunc.Func
}

// New returns the parametric chain of a program. space is the state space of the program for the values of the parameters in params, with
// fractions. The error is a *PointError if the model is wrong for these values, and a *compile.StateError if it is wrong in a state. It can also
// be ctx.Err().
func New(ctx context.Context, space *explicit.Space, program *sema.Program, params []Param) (*Chain, error) {
	chain := &Chain{space: space, graph: sparse.NewGraph(space.Model()), program: program, constantWeights: map[*sema.Command][]*ratfunc.Func{}}
	chain.setParameters(params)
	if err := chain.checkParameters(); err != nil {
		return nil, err
	}
	initial := space.Model().Initial
	if len(initial) != 1 {
		return nil, fmt.Errorf("a model with parameters has one initial state, found %d", len(initial))
	}
	chain.initial = int(initial[0])
	if err := chain.setRows(ctx); err != nil {
		return nil, err
	}
	return chain, nil
}

// setParameters stores the values of the parameters, and creates the ring of rational functions of the parameters.
func (chain *Chain) setParameters(params []Param) {
	var names []string
	numbers := map[string]int{}
	for i, param := range params {
		numbers[param.Name] = i
		names = append(names, param.Name)
		chain.parameterValues = append(chain.parameterValues, param.Value)
	}
	ring := ratfunc.NewRing(names)
	chain.evaluator = &evaluator{ring, numbers, map[sema.Expr]bool{}}
	chain.one = ring.Integer(1)
}

// setRows computes the transitions of all states, with functions of the parameters as probabilities. A Markov chain has a row for each state, an MDP a
// row for each choice.
func (chain *Chain) setRows(ctx context.Context) error {
	numStates := chain.space.Model().NumStates()
	if chain.program.Type != syntax.MDP {
		chain.rows = make([][]transition, numStates)
		chain.actionProbabilities = make([][]actionProbability, numStates)
	}
	if chain.program.Type == syntax.CTMC {
		chain.sojournTimes = make([]*ratfunc.Func, numStates)
	}
	expander := chain.space.Compiled().NewExpanderUntil(ctx)
	state := chain.space.State(nil, 0)
	for s := range numStates {
		if err := ctx.Err(); err != nil {
			return err
		}
		state = chain.space.State(state, s)
		if err := chain.expandState(expander, s, state); err != nil {
			return chain.errorInState(state, err)
		}
	}
	if chain.program.Type == syntax.MDP {
		chain.firstRow = append(chain.firstRow, len(chain.rows))
	}
	return nil
}

// checkParameters returns an error if a parameter occurs in a guard, an update or the initial states, because the state space would then depend
// on it.
func (chain *Chain) checkParameters() error {
	var errs syntax.ErrorList
	refuseParameters := func(expr sema.Expr, description string) {
		if expr != nil && sema.HasParameters(expr) {
			errs = append(errs, &syntax.Error{File: chain.program.File, Pos: expr.Pos(), Msg: "found a parameter in " + description + ", want it in probabilities, rates and rewards only"})
		}
	}
	refuseParameters(chain.program.Init, "the initial states")
	for _, module := range chain.program.Modules {
		for _, command := range module.Commands {
			refuseParameters(command.Guard, "a guard")
			for _, update := range command.Updates {
				for _, assignment := range update.Assigns {
					refuseParameters(assignment.Value, "an update")
				}
			}
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// errorInState adds the state to an evaluation error.
func (chain *Chain) errorInState(state []int32, err error) error {
	if evalError, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{File: chain.program.File, Pos: evalError.Pos, State: chain.space.Compiled().StateText(state), Msg: evalError.Msg}
	}
	return err
}

// newRow returns the row for a choice of state s. In an MDP each choice gets a new row. In a Markov chain all choices of s have row s.
func (chain *Chain) newRow(s int) int {
	if chain.program.Type != syntax.MDP {
		return s
	}
	chain.rows = append(chain.rows, nil)
	chain.actionProbabilities = append(chain.actionProbabilities, nil)
	return len(chain.rows) - 1
}

// expandState computes the rows of state s. An MDP has a row for each choice, and a Markov chain has one row. A deadlock gets a self-loop.
func (chain *Chain) expandState(expander compile.Expander, s int, state []int32) error {
	choices, err := expander.Enabled(state)
	if err != nil {
		return err
	}
	if chain.program.Type == syntax.MDP {
		chain.firstRow = append(chain.firstRow, len(chain.rows))
	}
	if choices.Deadlock() {
		chain.rows[chain.newRow(s)] = []transition{{s, chain.one}}
		if chain.sojournTimes != nil {
			chain.sojournTimes[s] = chain.one
		}
		return nil
	}
	total := chain.evaluator.ring.Integer(0)
	for i := range choices.List {
		sum, err := chain.addChoice(expander, s, &choices.List[i], state)
		if err != nil {
			return err
		}
		total = total.Add(sum)
	}
	if chain.firstRow == nil {
		chain.normalise(s, total)
	}
	return nil
}

// addChoice adds the transitions of a choice to a row of state s, and returns the sum of their weights as a function of the parameters. If several
// commands synchronise in the choice, each transition has the product of the commands' weights.
func (chain *Chain) addChoice(expander compile.Expander, s int, choice *compile.Choice, state []int32) (*ratfunc.Func, error) {
	var weights [][]*ratfunc.Func // the weights of the updates of each command
	sum := chain.one
	for _, participant := range choice.Commands {
		commandWeights, commandSum, err := chain.commandWeights(state, &chain.program.Modules[participant.Module].Commands[participant.Command])
		if err != nil {
			return nil, err
		}
		weights = append(weights, commandWeights)
		sum = sum.Mul(commandSum)
	}
	row := chain.newRow(s)
	if err := chain.addTransitions(expander, row, choice, weights, make([]int, 0, len(weights)), chain.one, state); err != nil {
		return nil, err
	}
	chain.actionProbabilities[row] = append(chain.actionProbabilities[row], actionProbability{choice.Action, sum})
	return sum, nil
}

// normalise divides the weights of state s by total: the number of enabled commands in a DTMC, or the exit rate in a CTMC.
func (chain *Chain) normalise(s int, total *ratfunc.Func) {
	if chain.sojournTimes != nil {
		chain.sojournTimes[s] = chain.one.Quo(total)
	}
	if total.Equal(chain.one) {
		return
	}
	for i, transition := range chain.rows[s] {
		chain.rows[s][i].probability = transition.probability.Quo(total)
	}
	for i, entry := range chain.actionProbabilities[s] {
		chain.actionProbabilities[s][i].probability = entry.probability.Quo(total)
	}
}

// addTransitions adds the transitions of a choice to a row. There is a transition for each combination of one update of each command, so the
// function is recursive. updates are the selected updates of the first commands, and weight is the product of their weights. weights[k] has the
// weights of the updates of command k.
func (chain *Chain) addTransitions(expander compile.Expander, row int, choice *compile.Choice, weights [][]*ratfunc.Func, updates []int, weight *ratfunc.Func, state []int32) error {
	isComplete := len(updates) == len(weights)
	if isComplete {
		return chain.addTransition(expander, row, choice, updates, weight, state)
	}
	nextCommand := len(updates)
	for update, updateWeight := range weights[nextCommand] {
		if updateWeight.IsZero() {
			continue
		}
		if err := chain.addTransitions(expander, row, choice, weights, append(updates, update), weight.Mul(updateWeight), state); err != nil {
			return err
		}
	}
	return nil
}

// addTransition adds a transition with a weight to a row. Its target is the state after the selected update of each command. Transitions to the
// same target are merged.
func (chain *Chain) addTransition(expander compile.Expander, row int, choice *compile.Choice, updates []int, weight *ratfunc.Func, state []int32) error {
	valuation := slices.Clone(state)
	if err := expander.Apply(valuation, choice.Commands, updates); err != nil {
		return err
	}
	target, found := chain.space.Find(valuation)
	if !found {
		return fmt.Errorf("an update leads to a state that was not explored; this is a bug: please report it")
	}
	for i, entry := range chain.rows[row] {
		if entry.target == target {
			chain.rows[row][i].probability = entry.probability.Add(weight)
			return nil
		}
	}
	chain.rows[row] = append(chain.rows[row], transition{target, weight})
	return nil
}

// commandWeights returns the weights of the updates of a command in a state, and their sum. It is an error if the sum is not 1 in discrete time,
// or if it is 0 in a CTMC.
func (chain *Chain) commandWeights(state []int32, command *sema.Command) (weights []*ratfunc.Func, sum *ratfunc.Func, err error) {
	weights, isCached := chain.constantWeights[command]
	if !isCached {
		weights, err = chain.evaluateWeights(state, command)
		if err != nil {
			return nil, nil, err
		}
	}
	sum = chain.evaluator.ring.Integer(0)
	for _, weight := range weights {
		sum = sum.Add(weight)
	}
	problem := ""
	isDiscreteTime := chain.sojournTimes == nil
	switch {
	case isDiscreteTime && !sum.Equal(chain.one):
		problem = fmt.Sprintf("probabilities sum to %s, want 1 for all values of the parameters", sum)
	case sum.IsZero():
		problem = "rate of every update is zero"
	default:
		return weights, sum, nil
	}
	return nil, nil, &compile.StateError{File: chain.program.File, Pos: command.Pos, State: chain.space.Compiled().StateText(state), Msg: problem}
}

// evaluateWeights returns the weights of the updates of a command in a state, as functions of the parameters. It caches weights that do not
// depend on the state.
func (chain *Chain) evaluateWeights(state []int32, command *sema.Command) ([]*ratfunc.Func, error) {
	var weights []*ratfunc.Func
	isConstant := true
	for _, update := range command.Updates {
		weight, err := chain.evaluator.evaluate(update.Prob, state)
		if err != nil {
			return nil, err
		}
		pos := command.Pos
		if update.Prob != nil {
			pos = update.Prob.Pos()
		}
		if err := chain.checkPositive(weight, pos, "probability or rate"); err != nil {
			return nil, err
		}
		weights = append(weights, weight)
		isConstant = isConstant && (update.Prob == nil || !mentionsVariable(update.Prob))
	}
	if isConstant {
		chain.constantWeights[command] = weights
	}
	return weights, nil
}

// mentionsVariable reports whether a variable occurs in an expression.
func mentionsVariable(expr sema.Expr) bool {
	found := false
	sema.Inspect(expr, func(expr sema.Expr) bool {
		_, isVar := expr.(*sema.Var)
		found = found || isVar
		return !found
	})
	return found
}

// checkPositive returns an error if a function is not positive for the values of the parameters. The function 0 is allowed. description says
// what the function is, such as "reward", for the error.
func (chain *Chain) checkPositive(function *ratfunc.Func, pos syntax.Pos, description string) error {
	if function.IsZero() {
		return nil
	}
	value, isFinite := function.ValueAt(chain.parameterValues)
	number, isConstant := function.Constant()
	switch {
	case isConstant && number.Sign() < 0:
		return &sema.EvalError{Pos: pos, Msg: fmt.Sprintf("%s %s is negative", description, number.RatString())}
	case !isFinite || value.Sign() <= 0:
		return &PointError{pos, fmt.Sprintf("%s %s is not positive", description, function)}
	}
	return nil
}

// rowRange returns the range of rows of a state.
func (chain *Chain) rowRange(s int) (first, end int) {
	if chain.firstRow == nil {
		return s, s + 1
	}
	return chain.firstRow[s], chain.firstRow[s+1]
}

// Rewards returns the expected reward of one visit for each state or, in an MDP, for each row. index selects the reward structure.
func (chain *Chain) Rewards(index int) ([]*ratfunc.Func, error) {
	rewards := make([]*ratfunc.Func, len(chain.rows))
	state := chain.space.State(nil, 0)
	for s := range chain.space.Model().NumStates() {
		state = chain.space.State(state, s)
		first, end := chain.rowRange(s)
		for row := first; row < end; row++ {
			stateReward, transitionReward, err := chain.rewardParts(index, row, state)
			if err != nil {
				return nil, chain.errorInState(state, err)
			}
			if chain.sojournTimes != nil {
				stateReward = stateReward.Mul(chain.sojournTimes[s])
			}
			rewards[row] = stateReward.Add(transitionReward)
		}
	}
	return rewards, nil
}

// StateRewards returns the state reward of a reward structure for each state or, in an MDP, for each row, without transition rewards. In a CTMC they
// are rewards per unit of time.
func (chain *Chain) StateRewards(index int) ([]*ratfunc.Func, error) {
	rewards := make([]*ratfunc.Func, len(chain.rows))
	state := chain.space.State(nil, 0)
	for s := range chain.space.Model().NumStates() {
		state = chain.space.State(state, s)
		first, end := chain.rowRange(s)
		for row := first; row < end; row++ {
			stateReward, _, err := chain.rewardParts(index, row, state)
			if err != nil {
				return nil, chain.errorInState(state, err)
			}
			rewards[row] = stateReward
		}
	}
	return rewards, nil
}

// rewardParts returns the state reward of a state, and the expected transition reward of one of its rows. index selects the reward structure.
func (chain *Chain) rewardParts(index, row int, state []int32) (stateReward, transitionReward *ratfunc.Func, err error) {
	stateReward = chain.evaluator.ring.Integer(0)
	transitionReward = stateReward
	items := chain.program.Rewards[index].Items
	for i := range items {
		reward, err := chain.itemReward(&items[i], row, state)
		if err != nil {
			return nil, nil, err
		}
		if items[i].IsTransition {
			transitionReward = transitionReward.Add(reward)
		} else {
			stateReward = stateReward.Add(reward)
		}
	}
	return stateReward, transitionReward, nil
}

// itemReward returns the reward of one item of a reward structure for a row of a state, or 0 if the guard of the item does not hold. A
// transition reward is multiplied by the probability of its action.
func (chain *Chain) itemReward(item *sema.RewardItem, row int, state []int32) (*ratfunc.Func, error) {
	zero := chain.evaluator.ring.Integer(0)
	holds, err := guardHolds(item, state)
	if err != nil || !holds {
		return zero, err
	}
	probability := chain.one
	if item.IsTransition {
		probability = chain.actionProbability(row, item.Action)
	}
	if probability.IsZero() {
		return zero, nil
	}
	reward, err := chain.evaluator.evaluate(item.Value, state)
	if err != nil {
		return nil, err
	}
	if err := chain.checkPositive(reward, item.Value.Pos(), "reward"); err != nil {
		return nil, err
	}
	return reward.Mul(probability), nil
}

// guardHolds reports whether the guard of a reward holds in a state. A parameter in the guard is an error.
func guardHolds(item *sema.RewardItem, state []int32) (bool, error) {
	if sema.HasParameters(item.Guard) {
		return false, evalError(item.Guard, "found a parameter in the guard of a reward, want it in the reward")
	}
	holds, _, err := sema.EvalExact(item.Guard, state)
	return holds.Bool, err
}

// actionProbability returns the sum of the probabilities of the choices with the given action in a row.
func (chain *Chain) actionProbability(row, action int) *ratfunc.Func {
	sum := chain.evaluator.ring.Integer(0)
	for _, entry := range chain.actionProbabilities[row] {
		if entry.action == action {
			sum = sum.Add(entry.probability)
		}
	}
	return sum
}
