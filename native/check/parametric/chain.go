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
	Name string
	At   *big.Rat
}

// PointError says that a weight or reward is not positive at the reference point, although it is not zero
// everywhere. Another reference point is needed.
type PointError struct {
	Pos  syntax.Pos
	What string
}

// Error implements error.
func (e *PointError) Error() string { return e.Pos.String() + ": " + e.What }

// Chain is a parametric Markov chain, or an MDP, for which only Best is supported.
type Chain struct {
	space *explicit.Space
	graph *sparse.Graph
	// first[s] is the first row of state s of an MDP, which has one row per choice; nil for Markov
	// chains.
	first     []int
	program   *sema.Program
	evaluator *evaluator
	point     []*big.Rat
	one       *ratfunc.Func
	rows      [][]transition
	// sojournTimes are the expected times in each state; nil in discrete time, where they are 1.
	sojournTimes []*ratfunc.Func
	// actionProbs are the probabilities of the actions in each row.
	actionProbs [][]actionProb
	initial     int
	// constantWeights caches the weights of commands whose weights are the same in every state.
	constantWeights map[*sema.Command][]*ratfunc.Func
}

// transition is a target with its probability.
type transition struct {
	target int
	prob   *ratfunc.Func
}

// actionProb is an action with its probability.
type actionProb struct {
	action int
	prob   *ratfunc.Func
}

// New returns the parametric chain of a program. space must be the exact state space of the same
// program at the reference point. The error is a *PointError if another point is needed, a
// *compile.StateError, or the context's.
func New(ctx context.Context, space *explicit.Space, program *sema.Program, params []Param) (*Chain, error) {
	c := &Chain{space: space, graph: sparse.NewGraph(space.Model()), program: program, constantWeights: map[*sema.Command][]*ratfunc.Func{}}
	var names []string
	numbers := map[string]int{}
	for i, p := range params {
		numbers[p.Name] = i
		names = append(names, p.Name)
		c.point = append(c.point, p.At)
	}
	ring := ratfunc.NewRing(names)
	c.evaluator = &evaluator{ring, numbers, map[sema.Expr]bool{}}
	c.one = ring.Integer(1)
	if err := c.checkParameters(); err != nil {
		return nil, err
	}
	m := space.Model()
	if len(m.Initial) != 1 {
		return nil, fmt.Errorf("a model with parameters has one initial state, found %d", len(m.Initial))
	}
	c.initial = int(m.Initial[0])
	if program.Type != syntax.MDP {
		c.rows = make([][]transition, m.NumStates())
		c.actionProbs = make([][]actionProb, m.NumStates())
	}
	if program.Type == syntax.CTMC {
		c.sojournTimes = make([]*ratfunc.Func, m.NumStates())
	}
	x := space.Compiled().NewExpanderUntil(ctx)
	state := space.State(nil, 0)
	for s := range m.NumStates() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		state = space.State(state, s)
		if err := c.expand(x, s, state); err != nil {
			return nil, c.withState(state, err)
		}
	}
	if program.Type == syntax.MDP {
		c.first = append(c.first, len(c.rows))
	}
	return c, nil
}

// checkParameters returns an error if parameters occur in guards, updates or initial states, where they
// would change the state space.
func (c *Chain) checkParameters() error {
	var errs syntax.ErrorList
	check := func(expr sema.Expr, noun string) {
		if expr != nil && sema.Parametric(expr) {
			errs = append(errs, &syntax.Error{File: c.program.File, Pos: expr.Pos(), Msg: "found a parameter in " + noun + ", want it in probabilities, rates and rewards only"})
		}
	}
	check(c.program.Init, "the initial states")
	for _, module := range c.program.Modules {
		for _, command := range module.Commands {
			check(command.Guard, "a guard")
			for _, update := range command.Updates {
				for _, assignment := range update.Assigns {
					check(assignment.Value, "an update")
				}
			}
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// withState adds the state to an evaluation error.
func (c *Chain) withState(state []int32, err error) error {
	if evalError, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{File: c.program.File, Pos: evalError.Pos, State: c.space.Compiled().StateText(state), Msg: evalError.Msg}
	}
	return err
}

// newRow returns the number of the row for a choice of state s: a new row in an MDP, and row s otherwise.
func (c *Chain) newRow(s int) int {
	if c.program.Type != syntax.MDP {
		return s
	}
	c.rows = append(c.rows, nil)
	c.actionProbs = append(c.actionProbs, nil)
	return len(c.rows) - 1
}

// expand computes the rows of state s: one for each choice in an MDP, and otherwise one for all commands
// together. A deadlock gets a self-loop.
func (c *Chain) expand(x compile.Expander, s int, state []int32) error {
	choices, err := x.Enabled(state)
	if err != nil {
		return err
	}
	if c.program.Type == syntax.MDP {
		c.first = append(c.first, len(c.rows))
	}
	if choices.Deadlock() {
		c.rows[c.newRow(s)] = []transition{{s, c.one}}
		if c.sojournTimes != nil {
			c.sojournTimes[s] = c.one
		}
		return nil
	}
	total := c.evaluator.ring.Integer(0)
	for i := range choices.List {
		sum, err := c.addChoice(x, s, &choices.List[i], state)
		if err != nil {
			return err
		}
		total = total.Add(sum)
	}
	if c.first == nil {
		c.normalise(s, total)
	}
	return nil
}

// addChoice adds the transitions of a choice to a row of state s, and returns the sum of their weights.
func (c *Chain) addChoice(x compile.Expander, s int, choice *compile.Choice, state []int32) (*ratfunc.Func, error) {
	var weights [][]*ratfunc.Func // of the updates of each command
	sum := c.one
	for _, ref := range choice.Commands {
		commandWeights, commandSum, err := c.commandWeights(state, &c.program.Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return nil, err
		}
		weights = append(weights, commandWeights)
		sum = sum.Mul(commandSum)
	}
	row := c.newRow(s)
	if err := c.addTransitions(x, row, choice, weights, make([]int, 0, len(weights)), c.one, state); err != nil {
		return nil, err
	}
	c.actionProbs[row] = append(c.actionProbs[row], actionProb{choice.Action, sum})
	return sum, nil
}

// normalise divides a row by its sum: the number of commands in a DTMC, and the exit rate in a CTMC.
func (c *Chain) normalise(s int, total *ratfunc.Func) {
	if c.sojournTimes != nil {
		c.sojournTimes[s] = c.one.Quo(total)
	}
	if total.Equal(c.one) {
		return
	}
	for i, transition := range c.rows[s] {
		c.rows[s][i].prob = transition.prob.Quo(total)
	}
	for i, m := range c.actionProbs[s] {
		c.actionProbs[s][i].prob = m.prob.Quo(total)
	}
}

// addTransitions adds the transitions of a choice to a row. A choice has a transition for each combination of
// updates, one of each of its commands. This call adds those that begin with the given updates, whose weights
// have the product weight.
func (c *Chain) addTransitions(x compile.Expander, row int, choice *compile.Choice, weights [][]*ratfunc.Func, updates []int, weight *ratfunc.Func, state []int32) error {
	if k := len(updates); k < len(weights) {
		for u, w := range weights[k] {
			if w.IsZero() {
				continue
			}
			if err := c.addTransitions(x, row, choice, weights, append(updates, u), weight.Mul(w), state); err != nil {
				return err
			}
		}
		return nil
	}
	target := slices.Clone(state)
	if err := x.Apply(target, choice.Commands, updates); err != nil {
		return err
	}
	to, ok := c.space.Find(target)
	if !ok {
		return fmt.Errorf("an update leads to a state that the model does not have; this is a bug: please report it")
	}
	for i, e := range c.rows[row] {
		if e.target == to {
			c.rows[row][i].prob = e.prob.Add(weight)
			return nil
		}
	}
	c.rows[row] = append(c.rows[row], transition{to, weight})
	return nil
}

// commandWeights returns the weights of a command's updates, and their sum, which must be 1 in discrete
// time.
func (c *Chain) commandWeights(state []int32, command *sema.Command) ([]*ratfunc.Func, *ratfunc.Func, error) {
	weights, known := c.constantWeights[command]
	if !known {
		var err error
		if weights, err = c.evaluateWeights(state, command); err != nil {
			return nil, nil, err
		}
	}
	sum := c.evaluator.ring.Integer(0)
	for _, weight := range weights {
		sum = sum.Add(weight)
	}
	if c.sojournTimes == nil && !sum.Equal(c.one) {
		return nil, nil, &compile.StateError{File: c.program.File, Pos: command.Pos, State: c.space.Compiled().StateText(state), Msg: fmt.Sprintf("probabilities sum to %s, want 1 for all values of the parameters", sum)}
	}
	if sum.IsZero() {
		return nil, nil, &compile.StateError{File: c.program.File, Pos: command.Pos, State: c.space.Compiled().StateText(state), Msg: "rate of every update is zero"}
	}
	return weights, sum, nil
}

// evaluateWeights evaluates the weights of a command's updates. Weights that do not depend on the state are cached.
func (c *Chain) evaluateWeights(state []int32, command *sema.Command) ([]*ratfunc.Func, error) {
	var weights []*ratfunc.Func
	constant := true
	for _, update := range command.Updates {
		weight, err := c.evaluator.eval(update.Prob, state)
		if err != nil {
			return nil, err
		}
		pos := command.Pos
		if update.Prob != nil {
			pos = update.Prob.Pos()
		}
		if err := c.checkPositive(weight, pos, "probability or rate"); err != nil {
			return nil, err
		}
		weights = append(weights, weight)
		constant = constant && (update.Prob == nil || !mentionsVariable(update.Prob))
	}
	if constant {
		c.constantWeights[command] = weights
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

// checkPositive returns an error if a function is not positive at the reference point, unless it is
// zero everywhere.
func (c *Chain) checkPositive(function *ratfunc.Func, pos syntax.Pos, what string) error {
	if function.IsZero() {
		return nil
	}
	v, ok := function.At(c.point)
	number, constant := function.Constant()
	switch {
	case constant && number.Sign() < 0:
		return &sema.EvalError{Pos: pos, Msg: fmt.Sprintf("%s %s is negative", what, number.RatString())}
	case !ok || v.Sign() <= 0:
		return &PointError{pos, fmt.Sprintf("%s %s is not positive", what, function)}
	}
	return nil
}

// choices returns the range of rows of a state.
func (c *Chain) choices(s int) (first, end int) {
	if c.first == nil {
		return s, s + 1
	}
	return c.first[s], c.first[s+1]
}

// Rewards returns the expected reward of a visit of each state, for the reward structure with an index. In an
// MDP it returns the reward of each row.
func (c *Chain) Rewards(index int) ([]*ratfunc.Func, error) {
	out := make([]*ratfunc.Func, len(c.rows))
	state := c.space.State(nil, 0)
	for s := range c.space.Model().NumStates() {
		state = c.space.State(state, s)
		first, end := c.choices(s)
		for row := first; row < end; row++ {
			rate, moves, err := c.rewardParts(index, row, state)
			if err != nil {
				return nil, c.withState(state, err)
			}
			if c.sojournTimes != nil {
				rate = rate.Mul(c.sojournTimes[s])
			}
			out[row] = rate.Add(moves)
		}
	}
	return out, nil
}

// StateRewards returns the state rewards only: per step or per unit of time.
func (c *Chain) StateRewards(index int) ([]*ratfunc.Func, error) {
	out := make([]*ratfunc.Func, len(c.rows))
	state := c.space.State(nil, 0)
	for s := range out {
		var err error
		state = c.space.State(state, s)
		out[s], _, err = c.rewardParts(index, s, state)
		if err != nil {
			return nil, c.withState(state, err)
		}
	}
	return out, nil
}

// rewardParts returns the state reward, and the expected transition reward of a row.
func (c *Chain) rewardParts(index, row int, state []int32) (stateReward, transitionReward *ratfunc.Func, err error) {
	stateReward = c.evaluator.ring.Integer(0)
	transitionReward = stateReward
	items := c.program.Rewards[index].Items
	for i := range items {
		item := &items[i]
		holds, err := guardHolds(item, state)
		if err != nil {
			return nil, nil, err
		}
		if !holds {
			continue
		}
		prob := c.one
		if item.Transition {
			prob = c.actionProbability(row, item.Action)
		}
		if prob.IsZero() {
			continue
		}
		reward, err := c.evaluator.eval(item.Value, state)
		if err != nil {
			return nil, nil, err
		}
		if err := c.checkPositive(reward, item.Value.Pos(), "reward"); err != nil {
			return nil, nil, err
		}
		if item.Transition {
			transitionReward = transitionReward.Add(reward.Mul(prob))
		} else {
			stateReward = stateReward.Add(reward)
		}
	}
	return stateReward, transitionReward, nil
}

// guardHolds reports whether the guard of a reward holds in a state. A parameter in the guard is an error.
func guardHolds(item *sema.RewardItem, state []int32) (bool, error) {
	if sema.Parametric(item.Guard) {
		return false, evalError(item.Guard, "found a parameter in the guard of a reward, want it in the reward")
	}
	holds, _, err := sema.EvalExact(item.Guard, state)
	return holds.Bool, err
}

// actionProbability returns the probability or rate with which a row makes an action.
func (c *Chain) actionProbability(row, action int) *ratfunc.Func {
	sum := c.evaluator.ring.Integer(0)
	for _, entry := range c.actionProbs[row] {
		if entry.action == action {
			sum = sum.Add(entry.prob)
		}
	}
	return sum
}
