//go:build !js

package prove

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/certify/budget"
	"tilecheck/certify/certificate"
	"tilecheck/internal/interval"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// discountedReward translates a discounted reward to a vector of the certificate: the expected reward from each state. The argument vector has the
// reward structure and says whether the reward is a minimum or a maximum.
func (translation *translation) discountedReward(formula *logic.Formula, vector certificate.Vector) (vectorValue, error) {
	objective := formula.Objective
	if !translation.property.Program.IsDTMCOrMDP() {
		return vectorValue{}, translation.unsupported(formula.Expr, "%s, want a DTMC or an MDP", logic.Describe(objective.Expr))
	}
	factor, err := translation.fraction(objective.Discount, "a discount factor")
	if err != nil {
		return vectorValue{}, err
	}
	vector.Kind, vector.Discount, vector.To = certificate.Discounted, factor, solve.Unbounded
	if objective.At != nil {
		vector.To, err = logic.Count(objective.At)
	}
	return vectorValue{vector: translation.vectorIndex(vector)}, err
}

// conditionalProbability translates a conditional probability P [ a || b ] to a vector of the certificate: the probability from each state. In a
// Markov chain it is computed from two other vectors, its shares: the probabilities of a & b and of !a & b.
func (translation *translation) conditionalProbability(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	if kind := translation.property.Program.Type; kind != syntax.DTMC && kind != syntax.CTMC {
		return translation.conditionalOptimum(path, direction)
	}
	vector := certificate.Vector{Kind: certificate.Conditional, Reward: -1}
	for _, formula := range []sema.Expr{path.Left, logic.Not(path.Left)} {
		value, err := translation.pathProbability(logic.PathOf(logic.And(formula, path.Right)), direction)
		if err != nil {
			return vectorValue{}, err
		}
		vector.Shares = append(vector.Shares, certificate.Share{Vector: value.vector, Complement: value.isComplement})
	}
	return vectorValue{vector: translation.vectorIndex(vector)}, nil
}

// rewardBoundedProbability translates the probability of F or U with bounds on rewards to a vector of the certificate, with a value for each state.
func (translation *translation) rewardBoundedProbability(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	if !translation.property.Program.IsDTMCOrMDP() {
		return vectorValue{}, translation.unsupported(path.Expr, "%s, want a DTMC or an MDP", logic.Describe(path.Expr))
	}
	vector := certificate.Vector{Kind: certificate.RewardBounded, IsMaximum: translation.isMaximum(direction), Left: allStates, Reward: -1, Budgets: &certificate.Budgets{}}
	var err error
	if path.Left != nil {
		if vector.Left, err = translation.stateFormula(path.Left); err != nil {
			return vectorValue{}, err
		}
	}
	if vector.Right, err = translation.stateFormula(path.Right); err != nil {
		return vectorValue{}, err
	}
	if err = translation.addBudgets(vector.Budgets, path.Expr, path.Costs); err != nil {
		return vectorValue{}, err
	}
	return vectorValue{vector: translation.vectorIndex(vector)}, nil
}

// rewardWithinBounds translates an expected reward that a path earns only while bounds on rewards hold to a vector of the certificate. The argument
// vector has the reward structure and says whether the reward is a minimum or a maximum.
func (translation *translation) rewardWithinBounds(formula *logic.Formula, vector certificate.Vector) (vectorValue, error) {
	objective := formula.Objective
	if !translation.property.Program.IsDTMCOrMDP() {
		return vectorValue{}, translation.unsupported(formula.Expr, "%s, want a DTMC or an MDP", logic.Describe(objective.Expr))
	}
	vector.Kind, vector.Budgets = certificate.RewardWithinBounds, &certificate.Budgets{}
	if err := translation.addBudgets(vector.Budgets, objective.Expr, objective.Costs); err != nil {
		return vectorValue{}, err
	}
	return vectorValue{vector: translation.vectorIndex(vector)}, nil
}

// addBudgets translates the bounds on rewards and steps of a formula, and adds them to budgets. expr is the formula, for errors.
func (translation *translation) addBudgets(budgets *certificate.Budgets, expr sema.Expr, costs []sema.Cost) error {
	for _, cost := range costs {
		if cost.IsTime {
			return translation.unsupported(expr, "a bound on time, want bounds on rewards and steps")
		}
		bound, err := translation.budget(cost)
		if err != nil {
			return err
		}
		budgets.Bounds = append(budgets.Bounds, bound)
	}
	return nil
}

// budget translates a bound on a reward or on steps to a budget of the certificate. It is an error if the bound is not a fraction.
func (translation *translation) budget(cost sema.Cost) (certificate.Budget, error) {
	budget := certificate.Budget{Reward: max(cost.Struct, -1), LowStrict: cost.Bound.IsLowStrict, HighStrict: cost.Bound.IsHighStrict}
	var err error
	if cost.Bound.Low != nil {
		if budget.Low, err = translation.fraction(cost.Bound.Low, "a reward bound"); err != nil {
			return budget, err
		}
	}
	if cost.Bound.High != nil {
		budget.High, err = translation.fraction(cost.Bound.High, "a reward bound")
	}
	return budget, err
}

// fraction returns the value of a constant expression. what names the expression in the error for a value that is not a fraction.
func (translation *translation) fraction(expr sema.Expr, what string) (*big.Rat, error) {
	value, err := sema.Enclose(expr, nil)
	if err == nil && value.Rat == nil {
		err = translation.unsupported(expr, "%s that is not a fraction", what)
	}
	return value.Rat, err
}

// discountedColumns computes bounds of a discounted reward and the columns that prove them (rule 8 of package certify). With a step bound there
// are no columns.
func (proof *vectorProof) discountedColumns() (*solve.Values, error) {
	options := proof.options()
	options.Grid = 0
	values, err := solve.Discounted(proof.ctx, proof.graph, proof.rewardStructure, proof.Discount, proof.To, proof.direction(), options)
	if err != nil || proof.To != solve.Unbounded {
		return values, err
	}
	if values.Exact == nil {
		bounds := &discountedBounds{proof: proof}
		bounds.discount, _ = proof.Discount.Float64()
		if values, err = bounds.inductiveBounds(values); err != nil {
			return nil, err
		}
		proof.Lower, proof.Upper = certificate.FromFloats(proof.inOrder(values.Lower)), certificate.FromFloats(proof.inOrder(values.Upper))
		return values, nil
	}
	column := proof.fractionColumn(values)
	proof.Lower, proof.Upper = column, column
	return values, nil
}

// discountedBounds makes inductive bounds of a discounted reward from approximate values. If one step changes no value of x by more than e, then x +
// e/(1-d) cannot be raised by a step, and x - e/(1-d) cannot be lowered.
type discountedBounds struct {
	proof    *vectorProof
	discount float64
}

// maxDiscountedSweeps is the greatest number of sweeps that improve the values.
const maxDiscountedSweeps = 1 << 16

// inductiveBounds returns bounds of a discounted reward that one step of value iteration cannot lower (lower bounds) or raise (upper bounds). It
// improves the middle of the given bounds by value iteration, and then subtracts and adds a margin.
func (discounted *discountedBounds) inductiveBounds(values *solve.Values) (*solve.Values, error) {
	numStates := len(values.Lower)
	estimates := make([]float64, numStates)
	for s := range estimates {
		estimates[s] = values.Lower[s] + (values.Upper[s]-values.Lower[s])/2
	}
	if err := discounted.improveEstimates(estimates); err != nil {
		return nil, err
	}
	margin := discounted.margin(estimates)
	result := &solve.Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates), Converged: values.Converged}
	for s, estimate := range estimates {
		result.Lower[s], result.Upper[s] = max(estimate-margin, 0), estimate+margin
	}
	return result, nil
}

// improveEstimates improves the estimates by value iteration. It stops when a sweep over all states changes them only by rounding errors, or at the
// limit of sweeps.
func (discounted *discountedBounds) improveEstimates(estimates []float64) error {
	lastChange := math.Inf(1)
	for range maxDiscountedSweeps {
		change, greatest := 0.0, 0.0
		for s, old := range estimates {
			estimates[s] = discounted.optimum(estimates, s)
			change, greatest = max(change, math.Abs(estimates[s]-old)), max(greatest, estimates[s])
		}
		if discounted.proof.ctx.Err() != nil {
			return discounted.proof.ctx.Err()
		}
		onlyRounding := change <= 0x1p-50*greatest && change >= lastChange
		if change == 0 || onlyRounding {
			return nil
		}
		lastChange = change
	}
	return nil
}

// margin returns a number such that the estimates minus and plus this number are inductive bounds: r / (1-d) plus the rounding errors of the bounds.
// r is the greatest change of an estimate by one exact step of value iteration, and d is the discount factor.
func (discounted *discountedBounds) margin(estimates []float64) float64 {
	residual := new(big.Rat)
	for s := range estimates {
		if change := discounted.changeOf(estimates, s); change.Cmp(residual) > 0 {
			residual = change
		}
	}
	residual.Quo(residual, new(big.Rat).Sub(big.NewRat(1, 1), discounted.proof.Discount))
	return interval.Above(interval.Around(residual).Hi + discounted.roundingMargin(estimates))
}

// roundingMargin returns a number so great that adding it, or subtracting it, from a value keeps the bounds inductive although the sums are rounded. A
// rounding error is at most half a unit in the last place of the greatest value. In the inequality of a state two such errors occur, and adding a
// constant c to all values gains c (1-d).
func (discounted *discountedBounds) roundingMargin(values []float64) float64 {
	greatest := 0.0
	for _, value := range values {
		greatest = max(greatest, value)
	}
	return math.Ldexp(greatest, -50) / (1 - discounted.discount)
}

// optimum returns the optimum over the choices c of state s of reward(c) + d * sum of P(c,t) values[t], where d is the discount factor. It computes in
// floating point, and does not bound the rounding errors.
func (discounted *discountedBounds) optimum(values []float64, s int) float64 {
	first, end := discounted.proof.graph.Choices(s)
	bestSum := math.NaN()
	for choice := first; choice < end; choice++ {
		sum := 0.0
		firstTransition, endTransition := discounted.proof.graph.Transitions(choice)
		for transition := firstTransition; transition < endTransition; transition++ {
			sum += discounted.proof.graph.Prob(transition) * values[discounted.proof.graph.Target[transition]]
		}
		sum = discounted.proof.rewardStructure.ChoiceTotal(s, choice) + discounted.discount*sum
		isFirst := math.IsNaN(bestSum)
		if isFirst || (sum > bestSum) == discounted.proof.IsMaximum {
			bestSum = sum
		}
	}
	return bestSum
}

// changeOf returns the absolute value by which one step of value iteration, in rational arithmetic, changes the value of state s.
func (discounted *discountedBounds) changeOf(values []float64, s int) *big.Rat {
	first, end := discounted.proof.graph.Choices(s)
	var bestSum *big.Rat
	for choice := first; choice < end; choice++ {
		sum := new(big.Rat)
		firstTransition, endTransition := discounted.proof.graph.Transitions(choice)
		for transition := firstTransition; transition < endTransition; transition++ {
			sum.Add(sum, new(big.Rat).Mul(discounted.proof.graph.Fraction(transition), new(big.Rat).SetFloat64(values[discounted.proof.graph.Target[transition]])))
		}
		sum.Mul(sum, discounted.proof.Discount)
		sum.Add(sum, discounted.proof.rewardStructure.ExactChoiceTotal(s, choice))
		isFirst := bestSum == nil
		if isFirst || (sum.Cmp(bestSum) > 0) == discounted.proof.IsMaximum {
			bestSum = sum
		}
	}
	bestSum.Sub(bestSum, new(big.Rat).SetFloat64(values[s]))
	return bestSum.Abs(bestSum)
}

// maxBudgetStates is the greatest number of states of a product with the rewards so far.
const maxBudgetStates = 1 << 21

// budgetProduct is the product of a model with the rewards so far.
type budgetProduct struct {
	*Prover // of the model of the product
	product *budget.Product
	targets *sparse.Set
}

// budgetColumns computes bounds of an until formula or of a reward with bounds on rewards, and the columns of the certificate that prove them. It uses
// the product of the model with the rewards that the path has collected. It returns the values of the model's states.
func (proof *vectorProof) budgetColumns(left, right *sparse.Set) (*solve.Values, error) {
	if proof.Kind == certificate.RewardWithinBounds {
		left, right = sparse.FullSet(proof.graph.NumStates()), sparse.NewSet(proof.graph.NumStates())
	}
	product, err := proof.budgetProduct(left, right)
	if err != nil {
		return nil, err
	}
	productProof := &vectorProof{Prover: product.Prover, index: proof.index, ctx: proof.ctx, Vector: proof.Vector, effort: proof.effort}
	var values *solve.Values
	if proof.Kind == certificate.RewardWithinBounds {
		productProof.rewardStructure = sparseReward(product.product.LiftRewards(proof.Model.StepRewards(proof.Reward, nil)))
		values, err = productProof.totalReward()
	} else {
		values, err = productProof.until(sparse.FullSet(product.graph.NumStates()), product.targets)
	}
	if err != nil {
		return nil, err
	}
	return proof.stateValues(values), nil
}

// budgetProduct returns the product of the model with the rewards that the path has collected. The first call builds it.
func (proof *vectorProof) budgetProduct(left, right *sparse.Set) (*budgetProduct, error) {
	if product := proof.budgetProducts[proof.index]; product != nil {
		return product, nil
	}
	for _, bound := range proof.Budgets.Bounds {
		if bound.Reward >= 0 {
			if _, err := proof.loadReward(bound.Reward); err != nil {
				return nil, err
			}
		}
	}
	// While budget.New builds the product, this field limits its states. Afterwards it has their number.
	proof.Budgets.States = maxBudgetStates
	built, err := budget.New(proof.ctx, proof.Model, proof.Budgets, proof.orderedBits(left), proof.orderedBits(right))
	if err != nil {
		if proof.ctx.Err() != nil {
			return nil, proof.ctx.Err()
		}
		return nil, errors.New("there is no certificate of these reward bounds: " + err.Error())
	}
	proof.Budgets.States = built.NumStates()
	product := &budgetProduct{
		Prover: &Prover{
			ClaimFile: &ClaimFile{File: certificate.File{Model: built.Model}},
			graph:     sparseGraph(built.Model), opts: proof.opts, exponents: make(map[int]int), narrowEpsilon: proof.narrowEpsilon,
		},
		product: built, targets: sparse.SelectStates(built.NumStates(), built.Target.Has),
	}
	if proof.budgetProducts == nil {
		proof.budgetProducts = make(map[int]*budgetProduct)
	}
	proof.budgetProducts[proof.index] = product
	return product, nil
}

// conditionalBounds computes bounds of a conditional probability s / (s + v) from bounds of its shares: s is the probability of the formula and
// the condition, v the probability of the condition without the formula. If both may be 0 in a state, the bounds are 0 and 1.
func (proof *vectorProof) conditionalBounds() (*solve.Values, error) {
	var shares [2]*bounds // of the paths with the condition that satisfy the formula, and that violate it
	isExact := true
	for index, share := range proof.Shares {
		bounds, err := proof.boundsOf(proof.ctx, share.Vector, proof.effort)
		if err != nil {
			return nil, err
		}
		shares[index], isExact = bounds, isExact && bounds.Exact != nil
	}
	numStates := proof.graph.NumStates()
	result := &solve.Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates), Converged: true}
	if isExact {
		result.Exact = make([]*big.Rat, numStates)
	}
	for s := range numStates {
		satisfiedLower, satisfiedUpper := shareBounds(shares[0], proof.Shares[0].Complement, s)
		violatedLower, violatedUpper := shareBounds(shares[1], proof.Shares[1].Complement, s)
		lower, upper := new(big.Rat), big.NewRat(1, 1)
		mayBeUndefined := satisfiedLower.Sign() <= 0 && violatedLower.Sign() <= 0
		if !mayBeUndefined {
			lower, upper = proportion(satisfiedLower, violatedUpper), proportion(satisfiedUpper, violatedLower)
		}
		bounds := interval.Between(lower, upper)
		result.Lower[s], result.Upper[s] = bounds.Lo, bounds.Hi
		if isExact {
			result.Exact[s] = lower
		}
	}
	return result, nil
}

// proportion returns part/(part+remainder).
func proportion(part, remainder *big.Rat) *big.Rat {
	return new(big.Rat).Quo(part, new(big.Rat).Add(part, remainder))
}

// shareBounds returns the bounds of a share in state s. A share of a conditional probability is the value of a vector or, if isComplement is true, 1
// minus the value.
func shareBounds(share *bounds, isComplement bool, s int) (lower, upper *big.Rat) {
	if share.Exact != nil {
		lower, upper = share.Exact[s], share.Exact[s]
	} else {
		lower = new(big.Rat).SetFloat64(max(share.Lower[s], 0))
		upper = new(big.Rat).SetFloat64(min(share.Upper[s], 1))
	}
	if isComplement {
		one := big.NewRat(1, 1)
		return new(big.Rat).Sub(one, upper), new(big.Rat).Sub(one, lower)
	}
	return lower, upper
}
