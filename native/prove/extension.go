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

// discountedReward translates a discounted reward.
func (t *translation) discountedReward(formula *logic.Formula, vector certificate.Vector) (vectorValue, error) {
	objective := formula.Objective
	if !t.property.Program.IsDTMCOrMDP() {
		return vectorValue{}, t.unsupported(formula.X, "%s, want a DTMC or an MDP", logic.Describe(objective.X))
	}
	factor, err := t.fraction(objective.Discount, "a discount factor")
	if err != nil {
		return vectorValue{}, err
	}
	vector.Kind, vector.Discount, vector.To = certificate.Discounted, factor, solve.Unbounded
	if objective.At != nil {
		vector.To, err = logic.Count(objective.At)
	}
	return vectorValue{vector: t.vectorIndex(vector)}, err
}

// conditionalProbability translates a conditional probability: in a Markov chain to the shares of the paths that satisfy the condition: those that
// satisfy the formula, and those that do not.
func (t *translation) conditionalProbability(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	if kind := t.property.Program.Type; kind != syntax.DTMC && kind != syntax.CTMC {
		return t.conditionalOptimum(path, dir)
	}
	vector := certificate.Vector{Kind: certificate.Conditional, Reward: -1}
	for _, formula := range []sema.Expr{path.Left, logic.Not(path.Left)} {
		value, err := t.pathProbability(logic.PathOf(conjunction(formula, path.Right)), dir)
		if err != nil {
			return vectorValue{}, err
		}
		vector.Shares = append(vector.Shares, certificate.Share{Vector: value.vector, Complement: value.complement})
	}
	return vectorValue{vector: t.vectorIndex(vector)}, nil
}

// conjunction returns the conjunction of two path formulas or state formulas.
func conjunction(left, right sema.Expr) sema.Expr {
	base := sema.Base{ValueType: sema.Path, Position: left.Pos()}
	if logic.IsState(left) && logic.IsState(right) {
		base.ValueType = sema.Bool
	}
	return &sema.Binary{Base: base, Op: syntax.OpAnd, X: left, Y: right}
}

// rewardBoundedProbability translates F or U with bounds on rewards.
func (t *translation) rewardBoundedProbability(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	if !t.property.Program.IsDTMCOrMDP() {
		return vectorValue{}, t.unsupported(path.X, "%s, want a DTMC or an MDP", logic.Describe(path.X))
	}
	vector := certificate.Vector{Kind: certificate.RewardBounded, Max: t.isMaximum(dir), Left: allStates, Reward: -1, Budgets: &certificate.Budgets{}}
	var err error
	if path.Left != nil {
		if vector.Left, err = t.stateFormula(path.Left); err != nil {
			return vectorValue{}, err
		}
	}
	if vector.Right, err = t.stateFormula(path.Right); err != nil {
		return vectorValue{}, err
	}
	for _, cost := range path.Costs {
		if cost.Time {
			return vectorValue{}, t.unsupported(path.X, "a bound on time, want bounds on rewards and steps")
		}
		bound, err := t.budget(cost)
		if err != nil {
			return vectorValue{}, err
		}
		vector.Budgets.Bounds = append(vector.Budgets.Bounds, bound)
	}
	return vectorValue{vector: t.vectorIndex(vector)}, nil
}

// budget translates a bound on a reward or on steps.
func (t *translation) budget(cost sema.Cost) (certificate.Budget, error) {
	budget := certificate.Budget{Reward: max(cost.Struct, -1), LowStrict: cost.Bound.LowStrict, HighStrict: cost.Bound.HighStrict}
	var err error
	if cost.Bound.Low != nil {
		if budget.Low, err = t.fraction(cost.Bound.Low, "a reward bound"); err != nil {
			return budget, err
		}
	}
	if cost.Bound.High != nil {
		budget.High, err = t.fraction(cost.Bound.High, "a reward bound")
	}
	return budget, err
}

// fraction returns the value of a constant expression. what names the expression in the error for a value that is not a fraction.
func (t *translation) fraction(expr sema.Expr, what string) (*big.Rat, error) {
	value, err := sema.Enclose(expr, nil)
	if err == nil && value.Rat == nil {
		err = t.unsupported(expr, "%s that is not a fraction", what)
	}
	return value.Rat, err
}

// discountedColumns computes the columns of a discounted reward (rule 8 of package certify). A reward of the first steps has none.
func (proof *vectorProof) discountedColumns() (*solve.Values, error) {
	options := proof.options()
	options.Grid = 0
	values, err := solve.Discounted(proof.ctx, proof.graph, proof.rewardStructure, proof.Discount, proof.To, proof.direction(), options)
	if err != nil || proof.To != solve.Unbounded {
		return values, err
	}
	if values.Exact == nil {
		bounds := &discountedBounds{vectorProof: proof}
		bounds.discount, _ = proof.Discount.Float64()
		if values, err = bounds.around(values); err != nil {
			return nil, err
		}
		proof.Lower, proof.Upper = certificate.FromDoubles(proof.inOrder(values.Lower)), certificate.FromDoubles(proof.inOrder(values.Upper))
		return values, nil
	}
	column := proof.fractionColumn(values)
	proof.Lower, proof.Upper = column, column
	return values, nil
}

// discountedBounds makes inductive bounds of a discounted reward from approximate values. If one step changes no value of x by more than e, then x +
// e/(1-d) cannot be raised by a step, and x - e/(1-d) cannot be lowered.
type discountedBounds struct {
	*vectorProof
	discount float64
}

// maxDiscountedSweeps is the greatest number of sweeps that improve the values.
const maxDiscountedSweeps = 1 << 16

// around returns inductive bounds around the mean of other bounds, after it has been improved by sweeps.
func (b *discountedBounds) around(values *solve.Values) (*solve.Values, error) {
	n := len(values.Lower)
	x := make([]float64, n)
	for s := range x {
		x[s] = values.Lower[s] + (values.Upper[s]-values.Lower[s])/2
	}
	last := math.Inf(1)
	for range maxDiscountedSweeps {
		change, greatest := 0.0, 0.0
		for s := range x {
			old := x[s]
			x[s] = b.step(x, s)
			change, greatest = max(change, math.Abs(x[s]-old)), max(greatest, x[s])
		}
		if b.ctx.Err() != nil {
			return nil, b.ctx.Err()
		}
		if change == 0 || change <= 0x1p-50*greatest && change >= last {
			break
		}
		last = change
	}
	residual := new(big.Rat)
	for s := range x {
		if change := b.change(x, s); change.Cmp(residual) > 0 {
			residual = change
		}
	}
	residual.Quo(residual, new(big.Rat).Sub(big.NewRat(1, 1), b.Discount))
	margin := interval.Above(interval.Around(residual).Hi + b.roundingMargin(x))
	result := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: values.Converged}
	for s, value := range x {
		result.Lower[s], result.Upper[s] = max(value-margin, 0), value+margin
	}
	return result, nil
}

// roundingMargin returns a number so great that adding it, or subtracting it, from a value keeps the bounds inductive although the sums are rounded. A
// rounding error is at most half a unit in the last place of the greatest value. In the inequality of a state two such errors occur, and adding a
// constant c to all values gains c (1-d).
func (b *discountedBounds) roundingMargin(x []float64) float64 {
	greatest := 0.0
	for _, value := range x {
		greatest = max(greatest, value)
	}
	return math.Ldexp(greatest, -50) / (1 - b.discount)
}

// step returns the best value of a step from a state.
func (b *discountedBounds) step(x []float64, s int) float64 {
	first, end := b.graph.Choices(s)
	best := math.NaN()
	for c := first; c < end; c++ {
		sum := 0.0
		firstTransition, endTransition := b.graph.Row(c)
		for i := firstTransition; i < endTransition; i++ {
			sum += b.graph.Prob(i) * x[b.graph.Target[i]]
		}
		sum = b.rewardStructure.OfChoice(s, c) + b.discount*sum
		if math.IsNaN(best) || sum > best == b.Max {
			best = sum
		}
	}
	return best
}

// change returns by how much one step changes the value of a state, as a fraction.
func (b *discountedBounds) change(x []float64, s int) *big.Rat {
	first, end := b.graph.Choices(s)
	var best *big.Rat
	for c := first; c < end; c++ {
		sum := new(big.Rat)
		firstTransition, endTransition := b.graph.Row(c)
		for i := firstTransition; i < endTransition; i++ {
			sum.Add(sum, new(big.Rat).Mul(b.graph.Rat(i), new(big.Rat).SetFloat64(x[b.graph.Target[i]])))
		}
		sum.Mul(sum, b.Discount)
		sum.Add(sum, b.rewardStructure.OfChoiceRat(s, c))
		if best == nil || sum.Cmp(best) > 0 == b.Max {
			best = sum
		}
	}
	best.Sub(best, new(big.Rat).SetFloat64(x[s]))
	return best.Abs(best)
}

// maxBudgetStates is the greatest number of states of a product with the rewards so far.
const maxBudgetStates = 1 << 21

// budgetProduct is the product of a model with the rewards so far.
type budgetProduct struct {
	*Prover // of the model of the product
	targets *sparse.Set
}

// budgetColumns computes the columns of an until formula with bounds on rewards, on the product with the rewards so far. It returns the values of the
// states of the model.
func (proof *vectorProof) budgetColumns(left, right *sparse.Set) (*solve.Values, error) {
	product, err := proof.budgetProduct(left, right)
	if err != nil {
		return nil, err
	}
	productProof := &vectorProof{Prover: product.Prover, index: proof.index, ctx: proof.ctx, Vector: proof.Vector, effort: proof.effort}
	values, err := productProof.until(sparse.FullSet(product.graph.NumStates()), product.targets)
	if err != nil {
		return nil, err
	}
	return proof.stateValues(values), nil
}

// budgetProduct returns the product of the model with the rewards so far. The first call builds it.
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
	proof.Budgets.States = maxBudgetStates
	built, err := budget.New(proof.ctx, proof.Model, proof.Budgets, proof.bits(left), proof.bits(right))
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
		targets: sparse.SelectStates(built.NumStates(), built.Target.Has),
	}
	if proof.budgetProducts == nil {
		proof.budgetProducts = make(map[int]*budgetProduct)
	}
	proof.budgetProducts[proof.index] = product
	return product, nil
}

// conditionalBounds computes the bounds of a conditional probability from the bounds of its shares. A state has the bounds 0 and 1 if the value may be
// undefined.
func (proof *vectorProof) conditionalBounds() (*solve.Values, error) {
	n := proof.graph.NumStates()
	result := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: true}
	var shares [2]*bounds
	isExact := true
	for k, share := range proof.Shares {
		bounds, err := proof.boundsOf(proof.ctx, share.Vector, proof.effort)
		if err != nil {
			return nil, err
		}
		shares[k], isExact = bounds, isExact && bounds.Exact != nil
	}
	if isExact {
		result.Exact = make([]*big.Rat, n)
	}
	for s := range n {
		with, without := proof.shareAt(shares[:], 0, s), proof.shareAt(shares[:], 1, s)
		quotient := func(with, without *big.Rat) *big.Rat { return new(big.Rat).Quo(with, new(big.Rat).Add(with, without)) }
		result.Upper[s] = 1
		if with[0].Sign() <= 0 && without[0].Sign() <= 0 {
			if isExact { // undefined
				result.Exact[s] = new(big.Rat)
			}
			continue
		}
		lower, upper := quotient(with[0], without[1]), quotient(with[1], without[0])
		bounds := interval.Between(lower, upper)
		result.Lower[s], result.Upper[s] = bounds.Lo, bounds.Hi
		if isExact {
			result.Exact[s] = lower
		}
	}
	return result, nil
}

// shareAt returns the lower and the upper bound of a share in a state.
func (proof *vectorProof) shareAt(shares []*bounds, k, s int) [2]*big.Rat {
	at := [2]*big.Rat{new(big.Rat), new(big.Rat)}
	if shares[k].Exact != nil {
		at[0].Set(shares[k].Exact[s])
		at[1].Set(shares[k].Exact[s])
	} else {
		at[0].SetFloat64(max(shares[k].Lower[s], 0))
		at[1].SetFloat64(min(shares[k].Upper[s], 1))
	}
	if proof.Shares[k].Complement {
		one := big.NewRat(1, 1)
		at[0], at[1] = new(big.Rat).Sub(one, at[1]), new(big.Rat).Sub(one, at[0])
	}
	return at
}
