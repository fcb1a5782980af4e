package prove

import (
	"errors"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
)

// findWeights returns an optimal mixture, as the share of each known scheduler, and weights that prove it optimal. In each round it solves
// linear programs over the known schedulers, and then adds a scheduler that is optimal for the weights. If no objective is a query, it stops at
// the first mixture that satisfies the bounds, and returns no weights.
func (search *weightSearch) findWeights() (weights, shares []*big.Rat, err error) {
	for { // ends, because each round finds a new scheduler and there are finitely many
		var isFeasible bool
		weights, shares, isFeasible, err = search.solvePrograms()
		if err != nil {
			return nil, nil, err
		}
		if isFeasible && search.proof.Several.Query() == nil {
			return nil, shares, nil
		}
		improved, err := search.improveForWeights(weights)
		if err != nil {
			return nil, nil, err
		}
		if !improved {
			return weights, shares, nil
		}
		if len(search.points) > maxImprovements {
			return nil, nil, errors.New("several objectives that need too many schedulers")
		}
	}
}

// improveForWeights adds a scheduler that is optimal for the weights. It reports whether this scheduler has a greater weighted sum than
// all schedulers before.
func (search *weightSearch) improveForWeights(weights []*big.Rat) (bool, error) {
	oldBest := search.bestWeightedSum(weights)
	if err := search.addScheduler(weights); err != nil {
		return false, err
	}
	return oldBest == nil || search.bestWeightedSum(weights).Cmp(oldBest) > 0, nil
}

// bestWeightedSum returns the greatest weighted sum of objective values over all known schedulers, or nil if no scheduler is known.
func (search *weightSearch) bestWeightedSum(weights []*big.Rat) *big.Rat {
	var bestSum *big.Rat
	for _, point := range search.points {
		sum := new(big.Rat)
		for i, weight := range weights {
			sum.Add(sum, new(big.Rat).Mul(weight, point[i]))
		}
		if bestSum == nil || sum.Cmp(bestSum) > 0 {
			bestSum = sum
		}
	}
	return bestSum
}

// solvePrograms solves the linear programs over the known schedulers. If some mixture satisfies the bounds, it returns the shares of the best mixture
// and, for a query, the dual weights. If no mixture does, it returns the weights of a hyperplane that separates the values of the schedulers from the
// bounds.
func (search *weightSearch) solvePrograms() (weights, shares []*big.Rat, isFeasible bool, err error) {
	if len(search.points) == 0 {
		for range search.proof.Several.Objectives {
			weights = append(weights, big.NewRat(1, 1))
		}
		return weights, nil, false, nil
	}
	isQuery := func(objective certificate.Objective) bool { return objective.Bound == nil }
	queryIndex := slices.IndexFunc(search.proof.Several.Objectives, isQuery)
	shares, err = search.bestMixture(queryIndex)
	if err != nil && !errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, false, err
	}
	isFeasible = err == nil
	if isFeasible && queryIndex < 0 {
		return nil, shares, true, nil
	}
	weights, err = search.separatingWeights(queryIndex, isFeasible)
	return weights, shares, isFeasible, err
}

// lowerLimit returns the bound of an objective, negated for a minimised objective. So it always is a lower bound.
func (search *weightSearch) lowerLimit(number int) *big.Rat {
	objective := &search.proof.Several.Objectives[number]
	if objective.Maximised {
		return objective.Bound
	}
	return new(big.Rat).Neg(objective.Bound)
}

// bestMixture solves the primal linear program: it returns the shares of a mixture that satisfies the bounds and maximises the query. queryIndex is
// the index of the query, or -1. The error is solve.ErrInfeasible if no mixture satisfies the bounds.
func (search *weightSearch) bestMixture(queryIndex int) (shares []*big.Rat, err error) {
	program := &solve.LinearProgram{}
	one := big.NewRat(1, 1)
	var sum []solve.Term
	for scheduler, point := range search.points {
		queryValue := new(big.Rat)
		if queryIndex >= 0 {
			queryValue = point[queryIndex]
		}
		program.Objective = append(program.Objective, queryValue)
		sum = append(sum, solve.Term{Variable: scheduler, Coefficient: one})
	}
	program.AddRow(one, sum...)
	for i := range search.proof.Several.Objectives {
		if i != queryIndex {
			search.addBound(program, i)
		}
	}
	_, solution, err := program.Maximize(search.proof.ctx)
	if err != nil {
		return nil, err
	}
	return solution[:len(search.points)], nil
}

// addBound adds to the linear program that a mixture satisfies the lower bound of an objective, as the equation `value of the mixture - slack variable =
// lower bound`.
func (search *weightSearch) addBound(program *solve.LinearProgram, objective int) {
	values := make([]*big.Rat, len(search.points))
	for scheduler, point := range search.points {
		values[scheduler] = point[objective]
	}
	slack := solve.Term{Variable: program.AddVariable(), Coefficient: big.NewRat(-1, 1)}
	program.AddRow(search.lowerLimit(objective), append(nonzeroTerms(values), slack)...)
}

// nonzeroTerms returns the terms of the sum of coefficients[i] * variable i, without the terms whose coefficient is 0.
func nonzeroTerms(coefficients []*big.Rat) []solve.Term {
	var terms []solve.Term
	for i, coefficient := range coefficients {
		if coefficient.Sign() != 0 {
			terms = append(terms, solve.Term{Variable: i, Coefficient: coefficient})
		}
	}
	return terms
}

// separatingWeights solves the dual linear program, and returns a weight for each objective. The weights minimise the difference between the greatest
// weighted sum of a known scheduler and the weighted sum of the bounds. queryIndex is the index of the query, or -1. isFeasible says whether a mixture
// satisfies the bounds.
func (search *weightSearch) separatingWeights(queryIndex int, isFeasible bool) ([]*big.Rat, error) {
	program := &solve.LinearProgram{}
	one, numObjectives := big.NewRat(1, 1), len(search.proof.Several.Objectives)
	for range numObjectives {
		program.AddVariable() // the weight of an objective
	}
	positive, negative := program.AddVariable(), program.AddVariable() // their difference is the greatest weighted sum of a scheduler
	program.Objective[positive] = big.NewRat(-1, 1)
	program.Objective[negative] = one
	for i := range numObjectives {
		if i != queryIndex {
			program.Objective[i] = search.lowerLimit(i)
		}
	}
	search.normalizeWeights(program, queryIndex, isFeasible)
	for _, point := range search.points {
		row := nonzeroTerms(point)
		row = append(row, solve.Term{Variable: positive, Coefficient: big.NewRat(-1, 1)}, solve.Term{Variable: negative, Coefficient: one})
		slack := solve.Term{Variable: program.AddVariable(), Coefficient: one}
		program.AddRow(new(big.Rat), append(row, slack)...)
	}
	_, solution, err := program.Maximize(search.proof.ctx)
	if err != nil {
		return nil, err
	}
	return solution[:numObjectives], nil
}

// normalizeWeights adds equations for the weights to the dual program. If the bounds are feasible, the query has weight 1. Otherwise the query
// has weight 0, and the other weights sum to 1.
func (search *weightSearch) normalizeWeights(program *solve.LinearProgram, queryIndex int, isFeasible bool) {
	one := big.NewRat(1, 1)
	if queryIndex >= 0 {
		queryWeight := new(big.Rat)
		if isFeasible {
			queryWeight = one
		}
		program.AddRow(queryWeight, solve.Term{Variable: queryIndex, Coefficient: one})
	}
	if isFeasible {
		return
	}
	var sum []solve.Term
	for i := range search.proof.Several.Objectives {
		if i != queryIndex {
			sum = append(sum, solve.Term{Variable: i, Coefficient: one})
		}
	}
	program.AddRow(one, sum...)
}
