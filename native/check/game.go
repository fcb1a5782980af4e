package check

import (
	"math"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// isGame reports whether the model is a stochastic game.
func (e *evaluation) isGame() bool { return e.property.Program.Type == syntax.SMG }

// beginCoalition makes the players in <<...>> the coalition of the evaluation, until the caller calls end. The operator within <<...>> says
// whether the coalition minimises or maximises; the other players do the opposite.
func (e *evaluation) beginCoalition(formula *logic.Formula) (end func(), err error) {
	switch kind := logic.FormulaOf(formula.Operand).Kind; {
	case formula.IsBox:
		return nil, e.unsupportedError(formula.Expr, "found [[...]] for a stochastic game, want <<...>> of the players who choose")
	case kind != logic.Probability && kind != logic.Reward:
		return nil, e.unsupportedError(formula.Expr, "found %s in <<...>> of a stochastic game, want a P or an R operator", logic.Describe(formula.Operand))
	case e.onlyFairSchedulers():
		return nil, e.unsupportedError(formula.Expr, "found <<...>> of a stochastic game, which is not supported for fair schedulers")
	}
	outer := e.scope
	e.forSomeScheduler, e.coalition = true, e.coalitionStates(formula)
	return func() { e.forSomeScheduler, e.coalition = outer.forSomeScheduler, outer.coalition }, nil
}

// coalitionStates returns the states of the players in the coalition of <<...>>.
func (e *evaluation) coalitionStates(formula *logic.Formula) *sparse.Set {
	model := e.space.Model()
	if formula.NamesAllPlayers {
		return e.allStates()
	}
	states := sparse.NewSet(model.NumStates())
	for s, player := range model.Player {
		if slices.Contains(formula.Players, int(player)) {
			states.Add(s)
		}
	}
	return states
}

// coalitionGame returns the game where the coalition optimises in a direction, and the other players in the opposite direction. Without a
// coalition all players optimise in the same direction, as in PRISM-games.
func (e *evaluation) coalitionGame(direction solve.Direction) *solve.Game {
	return solve.NewGame(e.graph, e.maximizer(direction))
}

// maximizer returns the states whose owners maximize the value. direction says whether the coalition maximizes or minimizes: for Max the result has the
// states of the coalition, for Min all other states. If no coalition is set, it has all players.
func (e *evaluation) maximizer(direction solve.Direction) *sparse.Set {
	coalition := e.coalition
	if coalition == nil {
		coalition = e.allStates()
	}
	if direction == solve.Min {
		return coalition.Complement()
	}
	return coalition
}

// newGame returns the game on a product of the model with an automaton. Each state of the product has the owner of its model state. direction is Max if
// the coalition maximizes the value, and Min if it minimizes.
func (product *productModel) newGame(evaluation *evaluation, direction solve.Direction) *solve.Game {
	maximizer := evaluation.maximizer(direction)
	productMaximizer := sparse.NewSet(product.NumStates())
	for i, pair := range product.pairs {
		if maximizer.Has(int(pair.state)) {
			productMaximizer.Add(i)
		}
	}
	return solve.NewGame(product.Graph, productMaximizer)
}

// gameLTLValue returns the value of an LTL formula for a coalition of players. It solves a reachability game if the formula or its negation is
// co-safe, and else a parity game.
func (e *evaluation) gameLTLValue(expr sema.Expr, direction solve.Direction) (*numbers, error) {
	linear := &linearEvaluation{evaluation: e, rootFormula: expr}
	formula, err := linear.translate(expr)
	if err != nil {
		return nil, err
	}
	negation := automata.Unary(automata.Not, formula)
	switch {
	case automata.CoSafe(formula):
		return linear.gameReach(formula, direction)
	case automata.CoSafe(negation):
		values, err := linear.gameReach(negation, direction.Opposite())
		if err != nil {
			return nil, err
		}
		return e.complement(values), nil
	}
	values, err := linear.gameParity(formula, direction)
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	return values, nil
}

// gameReach returns the value of a co-safe formula for the coalition in each state: the value of the game on the product of the model with the
// automaton, where the coalition wants to reach a state in which the automaton has accepted, or wants to avoid it.
func (linear *linearEvaluation) gameReach(formula *automata.Formula, direction solve.Direction) (*numbers, error) {
	product, err := linear.buildProduct(automata.New(formula, automata.Limits{}))
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	values, err := product.newGame(linear.evaluation, direction).Until(linear.evaluation.ctx, product.allStates(), product.states(automata.Accepted), linear.evaluation.opts)
	if err != nil {
		return nil, err
	}
	memory := automatonMemory{&automatonReader{automaton: product.automaton, letters: linear.letters}}
	return linear.fromProduct(product, memory, product.automaton.Initial(), values)
}

// gameParity returns the value of an LTL formula for the coalition in each state: the value of the parity game on the product of the model with the
// deterministic parity automaton of the formula.
func (linear *linearEvaluation) gameParity(formula *automata.Formula, direction solve.Direction) (*numbers, error) {
	automaton, err := automata.NewParity(formula, automata.Limits{})
	if err != nil {
		return nil, err
	}
	linear.letters = newLetters(linear.evaluation.graph.NumStates(), linear.propositionStates)
	memory := parityMemory{automaton, linear.letters}
	product, err := linear.parityProduct(memory)
	if err != nil {
		return nil, err
	}
	priority := make([]int, product.NumStates())
	for i, pair := range product.pairs {
		priority[i] = automaton.Priority(pair.automatonState)
	}
	values, err := product.newGame(linear.evaluation, direction).Parity(linear.evaluation.ctx, priority, linear.evaluation.opts)
	if err != nil {
		return nil, err
	}
	return linear.fromProduct(product, memory, automaton.Initial(), values)
}

// parityProduct returns the product of the model with a parity automaton. startStates[s] of the product is state s of the model together with the
// automaton state after the automaton has read the atomic propositions of s.
func (linear *linearEvaluation) parityProduct(memory parityMemory) (*productModel, error) {
	starts := make([]productState, linear.evaluation.graph.NumStates())
	for s := range starts {
		var err error
		starts[s], err = memory.Step(productState{automatonState: memory.automaton.Initial()}, uint32(s))
		if err != nil {
			return nil, err
		}
	}
	product, err := sparse.NewProduct(linear.evaluation.ctx, linear.evaluation.graph.Model, memory, starts, nil, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return newProductModel(product, nil), nil
}

// fromProduct converts a solution of a game on the product with an automaton to the values of the model's states, and records its strategies. initial is
// the state of the automaton before it reads the first state of the model.
func (linear *linearEvaluation) fromProduct(product *productModel, automaton sparse.Memory[productState], initial int, solution *solve.Values) (*numbers, error) {
	values, err := linear.evaluation.toNumbers(solution, nil)
	if err != nil {
		return nil, err
	}
	if err := linear.evaluation.recordController(product, automaton, initial, solution); err != nil {
		return nil, err
	}
	return product.valuesInModel(values), nil
}

// parityMemory is the sparse.Memory of the product with a parity automaton.
type parityMemory struct {
	automaton *automata.Parity
	letters   *letters
}

// State returns the state of the model.
func (memory parityMemory) State(pair productState) uint32 { return pair.state }

// Step returns the pair after a transition to state t of the model.
func (memory parityMemory) Step(pair productState, t uint32) (productState, error) {
	q, err := memory.automaton.Step(pair.automatonState, memory.letters.distinctLetters[memory.letters.letterNumber[t]])
	return productState{t, q}, err
}

// Absorbing reports whether the automaton has accepted or rejected.
func (memory parityMemory) Absorbing(pair productState) bool {
	return memory.automaton.Decided(pair.automatonState)
}

// gameUntil returns the value of an until formula, with or without a step bound, for a coalition of players. direction says whether the coalition
// maximises or minimises the probability.
func (e *evaluation) gameUntil(path *logic.Path, left, right *sparse.Set, direction solve.Direction) (*numbers, error) {
	if path.Bound == nil {
		return e.toNumbers(e.coalitionGame(direction).Until(e.ctx, left, right, e.opts))
	}
	steps, err := e.stepInterval(path)
	if err != nil {
		return nil, err
	}
	if err := e.checkWeights(max(steps.Low, steps.High)); err != nil {
		return nil, err
	}
	return e.toNumbers(e.coalitionGame(direction).BoundedUntil(e.ctx, left, right, steps, e.stepOptions(max(steps.Low, steps.High))))
}

// gameReward returns the value of a reward objective in a game, for the current coalition or for all players together.
func (e *evaluation) gameReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective, game := formula.Objective, e.coalitionGame(direction)
	switch objective.Form {
	case logic.Cumulative, logic.Instantaneous:
		steps, err := e.rewardSteps(objective)
		if err != nil {
			return nil, err
		}
		if objective.Form == logic.Instantaneous {
			return e.toNumbers(game.InstantReward(e.ctx, reward, steps, e.stepOptions(steps)))
		}
		return e.toNumbers(game.CumulReward(e.ctx, reward, steps, e.stepOptions(steps)))
	case logic.CoSafe:
		return e.coSafeReward(objective.Expr, reward, direction)
	case logic.LongRun:
		return e.toNumbers(game.LongRun(e.ctx, reward, e.opts))
	case logic.TotalReward:
		return e.toNumbers(game.TotalReward(e.ctx, reward, e.opts))
	case logic.ReachReward, logic.UntilReached, logic.ZeroUnlessReached:
		return e.gameTargetReward(objective, reward, game)
	}
	return nil, e.unsupportedError(objective.Expr, "found %s in an R operator of a game, want F, Fc, F0, C, C<=k, I=k, S or a co-safe path formula", logic.Describe(objective.Expr))
}

// gameTargetReward returns the value of a reward until a target is reached. A path that never reaches the target has an infinite reward for F,
// its total reward for Fc, and 0 for F0.
func (e *evaluation) gameTargetReward(objective *logic.Objective, reward *sparse.Reward, game *solve.Game) (*numbers, error) {
	target, err := e.satisfyingStates(objective.Target)
	if err != nil {
		return nil, err
	}
	switch objective.Form {
	case logic.UntilReached:
		return e.toNumbers(game.RewardUntilReached(e.ctx, reward, target, e.opts))
	case logic.ZeroUnlessReached:
		values, err := game.ZeroUnlessReached(e.ctx, reward, target, e.opts)
		if err == nil && e.opts.Scheduler {
			e.schedulerRequest.controller = values.Controller
		}
		return e.toNumbers(values, err)
	}
	return e.toNumbers(game.ReachReward(e.ctx, reward, target, e.opts))
}
