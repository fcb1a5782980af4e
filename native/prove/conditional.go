//go:build !js

package prove

import (
	"errors"
	"math"
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

// conditionalOptimum translates the minimal or maximal conditional probability of an MDP: F or G of a state formula, given F of another one, or the negation of
// G. The minimum is 1 minus the maximum of the negation.
func (t *translation) conditionalOptimum(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	refused := func() (vectorValue, error) {
		return vectorValue{}, t.unsupported(path.X, "%s other than F or G || F in an MDP", logic.Describe(path.X))
	}
	formula, avoids, ok := reachedStates(path.Left)
	given, avoidsGiven, okGiven := reachedStates(path.Right)
	if t.property.Program.Type != syntax.MDP || !ok || !okGiven || avoidsGiven {
		return refused()
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

// reachedStates returns the state formula a if a path formula is equivalent to F a or, with avoids, to G !a. ok is false for other formulas.
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
func (proof *vectorProof) maxConditional(a, b *sparse.Set) (*solve.Values, error) {
	problem, err := proof.newPayoffProblem(a, b)
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
	n, bounds := proof.Model.NumStates(), interval.Between(lower, upper)
	result := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: true}
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

// newPayoffProblem builds the product, and finds where a scheduler can remain.
func (proof *vectorProof) newPayoffProblem(a, b *sparse.Set) (*payoffProblem, error) {
	initial := proof.Prover.graph.Initial
	if len(initial) != 1 {
		return nil, errors.New("there is no certificate of a conditional probability of an MDP with several initial states")
	}
	product, err := condition.New(proof.ctx, proof.Model, maxPayoffStates, proof.bits(a), proof.bits(b))
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
	n, one := problem.product.NumStates(), big.NewRat(1, 1)
	won, lost := n, n+1
	builder := sparse.NewBuilder(sparse.MDP)
	end := func(i int) {
		builder.Choice(sparse.NoAction)
		payoff := problem.product.Payoff(i, problem.Given.Avoids, q)
		if payoff.Sign() > 0 {
			builder.AddRat(won, payoff, sparse.NoAction)
		}
		if payoff.Cmp(one) < 0 {
			builder.AddRat(lost, new(big.Rat).Sub(one, payoff), sparse.NoAction)
		}
	}
	for i := range n {
		builder.State()
		if problem.product.Decided(i) {
			end(i)
			continue
		}
		first, last := problem.graph.Choices(i)
		for c := first; c < last; c++ {
			builder.Choice(sparse.NoAction)
			firstTransition, endTransition := problem.graph.Row(c)
			for k := firstTransition; k < endTransition; k++ {
				builder.AddRat(int(problem.graph.Target[k]), problem.graph.Rat(k), sparse.NoAction)
			}
		}
		if problem.staying.Has(i) {
			end(i)
		}
	}
	for i := won; i <= lost; i++ {
		builder.State()
		builder.Choice(sparse.NoAction)
		builder.AddRat(i, one, sparse.NoAction)
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{uint32(problem.start)}
	target := sparse.NewSet(n + 2)
	target.Add(won)
	values, err := solve.Until(problem.ctx, sparse.NewGraph(model), sparse.FullSet(n+2), target, solve.Max, solve.Options{Exact: true, MaxWork: maxWork})
	if err != nil {
		return nil, err
	}
	return values.Exact[:n], nil
}

// isBelow reports whether q is below the maximal conditional probability: whether some scheduler has a mean payoff above q.
func (problem *payoffProblem) isBelow(q *big.Rat) (bool, error) {
	values, err := problem.payoffs(q)
	if err != nil {
		return false, err
	}
	return values[problem.start].Cmp(q) > 0, nil
}

// bracket returns a number below the maximal conditional probability, and one that it does not exceed, with a relative distance of half the
// wanted width. lower is nil if no number is below.
func (problem *payoffProblem) bracket() (lower, upper *big.Rat, err error) {
	upper = big.NewRat(1, 1)
	width := new(big.Rat).SetFloat64(problem.opts.epsilon() / 2)
	least := math.Ldexp(1, -60)
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
		if lower != nil && new(big.Rat).Sub(upper, lower).Cmp(new(big.Rat).Mul(width, upper)) <= 0 {
			return lower, upper, nil
		}
		if float, _ := upper.Float64(); float < least {
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
	leaving := sparse.SelectStates(len(values), func(i int) bool {
		sign := values[i].Cmp(problem.product.Payoff(i, problem.Given.Avoids, q))
		return !problem.product.Decided(i) && (isUpper && sign < 0 || !isUpper && sign > 0)
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
