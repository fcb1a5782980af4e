//go:build !js

package prove

import (
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/condition"
	"tilecheck/internal/interval"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// conditionalOptimum translates the minimal or maximal conditional probability of an MDP to a vector. The formula must be F or G of a state
// formula, and the condition F of a state formula or the negation of G. The minimum is 1 minus the maximum of the negated formula.
func (t *translation) conditionalOptimum(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	formula, avoids, isFormulaSupported := reachedStates(path.Left)
	given, avoidsGiven, isConditionSupported := reachedStates(path.Right)
	isConditionSupported = isConditionSupported && !avoidsGiven
	if t.property.Program.Type != syntax.MDP || !isFormulaSupported || !isConditionSupported {
		return vectorValue{}, t.unsupported(path.X, "%s other than F or G || F in an MDP", logic.Describe(path.X))
	}
	vector := certificate.Vector{Kind: certificate.MaxConditional, Max: true, Reward: -1, Given: &certificate.Given{Avoids: avoids != (dir == solve.Min)}}
	var err error
	if vector.Left, err = t.stateFormula(formula); err != nil {
		return vectorValue{}, err
	}
	if vector.Right, err = t.stateFormula(given); err != nil {
		return vectorValue{}, err
	}
	return vectorValue{t.vectorIndex(vector), dir == solve.Min}, nil
}

// reachedStates returns the state formula a if a path formula is equivalent to F a, or to G !a, for which avoids is true. ok is false for other
// formulas.
func reachedStates(expr sema.Expr) (formula sema.Expr, avoids, ok bool) {
	path := logic.PathOf(expr)
	if path.Form != logic.Until || path.Bound != nil {
		return nil, false, false
	}
	switch path.Op {
	case syntax.Future:
		return path.Right, path.Negated, true
	case syntax.Globally:
		return logic.Not(path.Right), !path.Negated, true
	}
	return nil, false, false
}

// payoffProblem is the greatest mean payoff of a product, as package condition defines it.
type payoffProblem struct {
	*vectorProof
	product *condition.Product
	graph   *sparse.Graph // of the product
	staying *sparse.Set   // the states in which a scheduler can remain in the part of the product for ever
	start   int           // the initial state
}

// maxPayoffStates is the greatest number of states of a product whose payoffs are computed, as fractions.
const maxPayoffStates = 5000

// maxConditional computes the bounds and columns of a maximal conditional probability (rule 11 of package certify), for the single initial state.
func (proof *vectorProof) maxConditional(goal, condition *sparse.Set) (*solve.Values, error) {
	problem, err := proof.newPayoffProblem(goal, condition)
	if err != nil {
		return nil, err
	}
	lower, upper, err := problem.bracket()
	if err != nil {
		return nil, err
	}
	if lower == nil {
		return nil, errors.New("there is no certificate of a maximal conditional probability of 0")
	}
	proof.Given.Lower, proof.Given.Upper = lower, upper
	if proof.Lower, proof.Rank, err = problem.column(lower, false); err != nil {
		return nil, err
	}
	if proof.Upper, proof.Layer, err = problem.column(upper, true); err != nil {
		return nil, err
	}
	numStates, bounds := proof.Model.NumStates(), interval.Between(lower, upper)
	result := &solve.Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates), Converged: true}
	for k, s := range proof.orderedStates() {
		result.Upper[s] = 1
		if proof.Lower.Rats[k].Cmp(lower) > 0 {
			result.Lower[s] = bounds.Lo
		}
		if proof.Upper.Rats[k].Cmp(upper) <= 0 {
			result.Upper[s] = bounds.Hi
		}
	}
	return result, nil
}

// newPayoffProblem builds the product of the model with the sets that a path has seen, and finds the states in which a scheduler can remain for
// ever. conditionStates are the states of the condition.
func (proof *vectorProof) newPayoffProblem(goal, conditionStates *sparse.Set) (*payoffProblem, error) {
	initial := proof.Prover.graph.Initial
	if len(initial) != 1 {
		return nil, errors.New("there is no certificate of a conditional probability of an MDP with several initial states")
	}
	product, err := condition.New(proof.ctx, proof.Model, maxPayoffStates, proof.bits(goal), proof.bits(conditionStates))
	if err != nil {
		return nil, err
	}
	proof.Given.States = product.NumStates()
	problem := &payoffProblem{
		vectorProof: proof, product: product, graph: sparseGraph(product.Model),
		staying: sparse.NewSet(product.NumStates()), start: int(proof.indexOf(initial[0])),
	}
	for seen := range uint8(3) {
		part := sparse.SelectStates(product.NumStates(), func(i int) bool { return product.Seen[i] == seen })
		components, err := problem.graph.EndComponents(proof.ctx, part, nil)
		if err != nil {
			return nil, err
		}
		for _, s := range components.States {
			problem.staying.Add(int(s))
		}
	}
	return problem, nil
}

// payoffs returns the greatest mean payoff of each state of the product, for the payoff q of a path that never satisfies the condition. It is a reachability
// probability in an MDP in which a scheduler can end a path where it can remain.
func (problem *payoffProblem) payoffs(q *big.Rat) ([]*big.Rat, error) {
	model, err := problem.payoffModel(q)
	if err != nil {
		return nil, err
	}
	won := problem.product.NumStates()
	target := sparse.NewSet(model.NumStates())
	target.Add(won)
	allStates := sparse.FullSet(model.NumStates())
	values, err := solve.Until(problem.ctx, sparse.NewGraph(model), allStates, target, solve.Max, solve.Options{Exact: true, MaxWork: maxWork})
	if err != nil {
		return nil, err
	}
	return values.Exact[:won], nil
}

// payoffModel returns the product with two additional absorbing states, won and then lost. A path that ends goes to won with a probability equal
// to its payoff, and else to lost. It ends in decided states, and it may end where a scheduler can remain.
func (problem *payoffProblem) payoffModel(q *big.Rat) (*sparse.Model, error) {
	numStates, one := problem.product.NumStates(), big.NewRat(1, 1)
	won, lost := numStates, numStates+1
	builder := sparse.NewBuilder(sparse.MDP)
	addEnd := func(i int) { // a choice that ends the path in state i
		builder.Choice(sparse.NoAction)
		payoff := problem.product.Payoff(i, problem.Given.Avoids, q)
		if payoff.Sign() > 0 {
			builder.AddRat(won, payoff, sparse.NoAction)
		}
		if payoff.Cmp(one) < 0 {
			builder.AddRat(lost, new(big.Rat).Sub(one, payoff), sparse.NoAction)
		}
	}
	for i := range numStates {
		builder.State()
		if problem.product.Decided(i) {
			addEnd(i)
			continue
		}
		problem.copyChoices(builder, i)
		if problem.staying.Has(i) {
			addEnd(i)
		}
	}
	for _, absorbing := range []int{won, lost} {
		builder.State()
		builder.Choice(sparse.NoAction)
		builder.AddRat(absorbing, one, sparse.NoAction)
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{uint32(problem.start)}
	return model, nil
}

// copyChoices appends the choices of state i of the product to a model.
func (problem *payoffProblem) copyChoices(builder *sparse.Builder, i int) {
	first, end := problem.graph.Choices(i)
	for c := first; c < end; c++ {
		builder.Choice(sparse.NoAction)
		firstTransition, endTransition := problem.graph.Row(c)
		for transition := firstTransition; transition < endTransition; transition++ {
			builder.AddRat(int(problem.graph.Target[transition]), problem.graph.Rat(transition), sparse.NoAction)
		}
	}
}

// isBelow reports whether q is below the maximal conditional probability: whether some scheduler has a mean payoff above q.
func (problem *payoffProblem) isBelow(q *big.Rat) (bool, error) {
	values, err := problem.payoffs(q)
	if err != nil {
		return false, err
	}
	return values[problem.start].Cmp(q) > 0, nil
}

// bracket finds bounds of the maximal conditional probability by bisection: it is greater than lower, and at most upper. Their relative distance
// is half of the wanted width. lower is nil if the probability is at most upper, which is then below 2^-60.
func (problem *payoffProblem) bracket() (lower, upper *big.Rat, err error) {
	upper = big.NewRat(1, 1)
	width := new(big.Rat).SetFloat64(problem.opts.epsilon() / 2)
	const leastUpper = 0x1p-60
	for {
		middle := new(big.Rat).Set(upper)
		if lower != nil {
			middle.Add(middle, lower)
		}
		middle.Quo(middle, big.NewRat(2, 1))
		below, err := problem.isBelow(middle)
		if err != nil {
			return nil, nil, err
		}
		if below {
			lower = middle
		} else {
			upper = middle
		}
		isNarrow := lower != nil && new(big.Rat).Sub(upper, lower).Cmp(new(big.Rat).Mul(width, upper)) <= 0
		nearest, _ := upper.Float64()
		if isNarrow || nearest < leastUpper {
			return lower, upper, nil
		}
	}
}

// column returns the payoffs for q as a column, and the ranks of the states that must make progress.
func (problem *payoffProblem) column(q *big.Rat, isUpper bool) (*certificate.Values, []uint32, error) {
	values, err := problem.payoffs(q)
	if err != nil {
		return nil, nil, err
	}
	// From these states a path must go on: the payoff for staying is below the lower bound, or above the upper bound.
	leaving := sparse.SelectStates(len(values), func(i int) bool {
		if problem.product.Decided(i) {
			return false
		}
		order := values[i].Cmp(problem.product.Payoff(i, problem.Given.Avoids, q))
		if isUpper {
			return order < 0
		}
		return order > 0
	})
	equations := &bellmanEquations{graph: problem.graph, bound: make([]float64, len(values)), exactBound: values}
	var ranks []uint32
	if isUpper {
		ranks = rankAllChoices(problem.graph, leaving.Complement(), leaving, nil)
	} else {
		ranks = rankByDistance(problem.graph, leaving.Complement(), leaving, func(s, c int) bool { return equations.compareChoice(s, c) >= 0 })
	}
	for i := range ranks {
		if !leaving.Has(i) {
			ranks[i] = certificate.None
		}
	}
	return &certificate.Values{Rats: values}, ranks, nil
}
