package check

import (
	"errors"

	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// ltlProbability returns the minimal or maximal probability of an LTL formula. The minimum is 1 minus the maximum of the negated formula.
//
// Source: Sickert, Esparza, Jaax and Křetínský, Limit-deterministic Büchi automata for linear temporal logic (2016).
func (e *evaluation) ltlProbability(expr sema.Expr, direction solve.Direction) (*numbers, error) {
	linear := &linearEvaluation{evaluation: e, rootFormula: expr}
	formula, err := linear.translate(expr)
	if err != nil {
		return nil, err
	}
	if e.space.Model().Intervals() && !e.hasPositiveLowerEnds() {
		return linear.prefixProbability(formula, direction)
	}
	isMinimum := direction.Scheduler() == solve.Min && e.modelKind() == sparse.MDP
	if !isMinimum {
		return linear.winningProbability(formula, direction)
	}
	values, err := linear.winningProbability(automata.Unary(automata.Not, formula), direction.Opposite())
	if err != nil {
		return nil, err
	}
	return e.complement(values), nil
}

// winningProbability returns the maximal probability of an LTL formula. It is the maximal probability of reaching a winning state in the product
// with the limit-deterministic automaton of the formula. In a Markov chain the direction does not matter. It records an optimal scheduler if the
// options ask for one.
func (linear *linearEvaluation) winningProbability(formula *automata.Formula, direction solve.Direction) (*numbers, error) {
	product, err := linear.buildProduct(automata.New(formula, automata.Limits{}))
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	// Almost every path stays in some end component from a step on. If paths in it satisfy the formula with positive probability, some scheduler
	// satisfies it almost surely after a jump of the automaton. For fair schedulers, fairness is a part of the formula.
	goal, err := linear.winningStates(product, linear.evaluation.schedulerQuantifier())
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	wantsScheduler := linear.evaluation.opts.Scheduler
	linear.evaluation.opts.Scheduler = false // a scheduler of the product would be recorded as a scheduler of the model
	values, err := linear.evaluation.reachProbability(product, goal, direction)
	if err != nil {
		return nil, err
	}
	if wantsScheduler {
		linear.evaluation.schedulerRequest.controller, err = linear.evaluation.automatonController(&automatonReader{automaton: product.automaton, letters: linear.letters})
		if err != nil {
			return nil, err
		}
	}
	return product.valuesInModel(values), nil
}

// prefixProbability returns the minimal or maximal probability of an LTL formula in an interval model with a lower interval end of 0, where end
// components depend on nature. The formula must be co-safe, or the negation of a co-safe formula: a prefix of the path then decides it.
func (a *linearEvaluation) prefixProbability(formula *automata.Formula, direction solve.Direction) (*numbers, error) {
	negation := automata.Unary(automata.Not, formula)
	switch {
	case automata.CoSafe(formula):
	case automata.CoSafe(negation):
		values, err := a.prefixProbability(negation, direction.Opposite())
		if err != nil {
			return nil, err
		}
		return a.evaluation.complement(values), nil
	default:
		return nil, a.evaluation.unsupportedError(a.rootFormula, "found an interval of probabilities whose lower end is 0, want a path formula that a prefix of the path decides")
	}
	product, err := a.buildProduct(automata.NewPrefixes(formula, automata.Limits{}))
	if err != nil {
		return nil, a.tooLargeError(err)
	}
	values, err := a.evaluation.reachProbability(product, product.states(automata.Accepted), direction)
	if err != nil {
		return nil, err
	}
	return product.valuesInModel(values), nil
}

// schedulerQuantifier returns the quantifier over all schedulers, or over fair schedulers if only these are considered.
func (e *evaluation) schedulerQuantifier() quantifier {
	if e.onlyFairSchedulers() {
		return someFairScheduler{someScheduler{e}}
	}
	return someScheduler{e}
}

// reachProbability returns the minimal or maximal probability of reaching goal in the product.
func (e *evaluation) reachProbability(product *productModel, goal *sparse.Set, direction solve.Direction) (*numbers, error) {
	return e.toNumbers(solve.Until(e.ctx, product.Graph, product.allStates(), goal, direction, e.opts))
}

// buildProduct builds the product of the model with the initial component of an automaton. startStates[s] of the product is state s of the model
// together with the automaton state after the automaton has read the atomic propositions of s. The parameters are the results of a constructor of
// package automata; if err is not nil, buildProduct returns it.
func (linear *linearEvaluation) buildProduct(automaton *automata.Automaton, err error) (*productModel, error) {
	if err != nil {
		return nil, err
	}
	linear.letters = newLetters(linear.evaluation.graph.NumStates(), linear.propositionStates)
	afterLetter := make([]int, len(linear.letters.distinctLetters)) // the state of the automaton after each letter
	for number, letter := range linear.letters.distinctLetters {
		afterLetter[number], err = automaton.Step(automaton.Initial(), letter)
		if err != nil {
			return nil, err
		}
	}
	starts := make([]productState, len(linear.letters.letterNumber))
	for s, number := range linear.letters.letterNumber {
		starts[s] = productState{uint32(s), afterLetter[number]}
	}
	return newProduct(linear.evaluation.ctx, linear.evaluation.graph.Model, automaton, linear.letters, starts)
}

// tooLargeError adds the position of the formula to the error automata.ErrTooLarge. It returns other errors unchanged.
func (linear *linearEvaluation) tooLargeError(err error) error {
	if errors.Is(err, automata.ErrTooLarge) {
		return linear.evaluation.unsupportedError(linear.rootFormula, "found a path formula whose automaton is too large")
	}
	return err
}

// existsPath returns the states from which some path satisfies a path formula. In the product with an automaton, these states can reach a state from
// which some path is accepted.
func (e *evaluation) existsPath(expr sema.Expr) (*sparse.Set, error) {
	linear := &linearEvaluation{evaluation: e, rootFormula: expr}
	formula, err := linear.translate(expr)
	if err != nil {
		return nil, err
	}
	product, err := linear.buildProduct(automata.New(formula, automata.Limits{}))
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	goal, err := linear.winningStates(product, somePath{})
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	canReachGoal := product.ExistsUntil(product.allStates(), goal)
	satisfying := sparse.NewSet(len(product.startStates))
	for s, start := range product.startStates {
		if canReachGoal.Has(int(start)) {
			satisfying.Add(s)
		}
	}
	return satisfying, nil
}

// quantifiedLinear evaluates E (some path) or A (all paths) of an arbitrary path formula. A state satisfies A of a formula unless some path from it
// satisfies the negated formula.
func (e *evaluation) quantifiedLinear(formula *logic.Formula) (truth, error) {
	path := formula.Path.WholeExpr
	if operator := boundedOperator(path); operator != nil && e.modelKind() == sparse.CTMC {
		return truth{}, e.unsupportedError(operator, "found E or A with a time bound")
	}
	if !formula.IsForAll {
		satisfying, err := e.existsPath(path)
		return asTruth(satisfying, err)
	}
	violating, err := e.existsPath(logic.Not(path))
	if err != nil {
		return truth{}, err
	}
	return decidedTruth(violating.Complement()), nil
}

// boundedOperator returns the first temporal operator with a time or step bound in a path formula, or nil if no operator has such a bound.
func boundedOperator(expr sema.Expr) (found sema.Expr) {
	if expr.Type() != sema.Path {
		return nil
	}
	path := logic.PathOf(expr)
	switch {
	case path.Form == logic.CostBounded:
		return nil
	case path.Bound != nil:
		return path.Expr
	}
	sema.VisitOperands(path.Expr, func(operand sema.Expr) {
		if found == nil {
			found = boundedOperator(operand)
		}
	})
	return found
}

// coSafeReward returns the minimal or maximal expected reward until a co-safe path formula is satisfied: rewards count until every continuation of the
// path satisfies the formula. The operator X always counts a step, even if its operand is true everywhere.
//
// Source: PRISM's co-safe LTL rewards; Lacerda, Parker and Hawes (IJCAI 2015).
func (e *evaluation) coSafeReward(expr sema.Expr, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	if operator := boundedOperator(expr); operator != nil {
		return nil, e.unsupportedError(operator, "found a bounded operator within a path formula in an R operator, want operators without bounds")
	}
	linear := &linearEvaluation{evaluation: e, rootFormula: expr}
	formula, err := linear.translate(expr)
	if err != nil {
		return nil, err
	}
	if !automata.CoSafe(formula) {
		return nil, e.failure(result.TypeError, expr.Pos(), "found a path formula in an R operator that is not syntactically co-safe: without negations, it may have X, F and U only")
	}
	product, err := linear.buildProduct(automata.NewPrefixes(formula, automata.Limits{}))
	if err != nil {
		return nil, linear.tooLargeError(err)
	}
	values, err := e.rewardUntilAccepted(product, product.productReward(reward), direction)
	if err != nil {
		return nil, err
	}
	return product.valuesInModel(values), nil
}

// rewardUntilAccepted returns the minimal or maximal expected reward until the automaton of the product accepts.
func (e *evaluation) rewardUntilAccepted(product *productModel, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	accepted := product.states(automata.Accepted)
	if e.coalition != nil {
		return e.toNumbers(product.newGame(e, direction).ReachReward(e.ctx, reward, accepted, e.opts))
	}
	return e.toNumbers(solve.ReachReward(e.ctx, product.Graph, reward, accepted, direction, e.opts))
}
