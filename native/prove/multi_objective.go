package prove

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/certify/several"
	"tilecheck/internal/interval"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// weightSearch finds an optimal mixture of schedulers, and weights that prove it optimal. A linear program over the known schedulers
// proposes weights, and a scheduler that is optimal for the weights is added. The search ends if the new scheduler is not better for
// the weights than the mixture.
//
// Source: Forejt, Kwiatkowska and Parker, Pareto curves for probabilistic model checking, 2012.
type weightSearch struct {
	proof           *vectorProof
	product         *several.Product
	graph           *sparse.Graph // the product with an absorbing end state as last state
	maxValues       [][]*big.Rat  // the maximum of each maximised objective in each state; nil for minimised objectives
	endComponents   *sparse.EndComponents
	points          [][]*big.Rat // the values of each scheduler, negated for minimised objectives
	schedulers      [][]uint32
	objectiveValues [][]*solve.Values
}

// solveMultiObjective computes the vector for a property multi(...) in rational arithmetic. The vector has a weight for each objective, and a mixture of
// schedulers. The error says why there is no certificate.
func (proof *vectorProof) solveMultiObjective() (*solve.Values, error) {
	if proof.effort < exactValues {
		return nil, fmt.Errorf("several objectives need rational arithmetic, which is limited to %d states", maxExactStates)
	}
	search, err := proof.newWeightSearch()
	if err != nil {
		return nil, err
	}
	weights, shares, err := search.findWeights()
	if err != nil {
		return nil, err
	}
	if shares == nil && proof.Several.Query() != nil {
		return nil, errors.New("several objectives with bounds that no scheduler satisfies together, so there is no value")
	}
	proof.Several.Weights, proof.Several.Parts = nil, nil
	if err := search.upperColumn(weights); err != nil {
		return nil, err
	}
	// A scheduler with the share 0 is not part of the mixture.
	for scheduler, share := range shares {
		if share.Sign() == 0 {
			continue
		}
		part, err := search.schedulerPart(scheduler, share)
		if err != nil {
			return nil, err
		}
		proof.Several.Parts = append(proof.Several.Parts, part)
	}
	return search.provenValues()
}

// schedulerPart returns the part of the certificate for one scheduler of a mixture: its positive share, its choices, the values of all objectives under
// it, and the ranks that prove these values.
func (search *weightSearch) schedulerPart(scheduler int, share *big.Rat) (certificate.Part, error) {
	part := certificate.Part{Share: share, Choice: search.schedulers[scheduler]}
	for i, values := range search.objectiveValues[scheduler] {
		ranks, err := search.earningRanks(i, scheduler, values)
		if err != nil {
			return part, err
		}
		part.Values = append(part.Values, exactColumn(values))
		part.Ranks = append(part.Ranks, ranks)
	}
	return part, nil
}

// provenValues returns the bounds that the columns of the vector prove, for each state of the model. Where the columns prove nothing, the bounds are 0
// and infinity, or 0 and 1 if no objective is a query.
func (search *weightSearch) provenValues() (*solve.Values, error) {
	columns, err := search.product.Values(search.proof.ctx, search.proof.Model, search.proof.Vector)
	if err != nil {
		return nil, err
	}
	lower, upper := columns[0], columns[1]
	numStates := search.proof.Prover.graph.NumStates()
	values := &solve.Values{Lower: make([]float64, numStates), Upper: slices.Repeat([]float64{math.Inf(1)}, numStates), Converged: true}
	for position, s := range search.proof.orderedStates() {
		if upperBound := upper.Rat(position); upperBound != nil {
			bounds := interval.Between(lower.Rat(position), upperBound)
			values.Lower[s], values.Upper[s] = bounds.Lo, bounds.Hi
		}
	}
	if search.proof.Several.Query() == nil { // without a query the value is 0 or 1
		for s, lowerBound := range values.Lower {
			values.Upper[s] = min(values.Upper[s], max(lowerBound, 1))
		}
	}
	return values, nil
}

// newWeightSearch builds the product of the model with the memory of the objectives. It computes the maxima of the maximised objectives, and the
// end components in which no minimised objective earns a reward.
func (proof *vectorProof) newWeightSearch() (*weightSearch, error) {
	multiProduct, err := proof.objectivesProduct()
	if err != nil {
		return nil, err
	}
	search := &weightSearch{proof: proof, product: multiProduct, maxValues: make([][]*big.Rat, len(proof.Several.Objectives))}
	productGraph := sparseGraph(multiProduct.Model)
	costlessChoices := sparse.FullSet(productGraph.NumChoices()) // the choices without a minimised reward
	for i, objective := range proof.Several.Objectives {
		reward := sparseReward(multiProduct.Rewards[i])
		if objective.Maximised {
			if search.maxValues[i], err = search.finiteMaxima(productGraph, reward); err != nil {
				return nil, err
			}
			continue
		}
		for choice := range productGraph.NumChoices() {
			if reward.ChoiceFractions[choice] != nil {
				costlessChoices.Remove(choice)
			}
		}
	}
	if search.endComponents, err = productGraph.EndComponents(proof.ctx, nil, costlessChoices); err != nil {
		return nil, err
	}
	if search.graph, err = search.withEndState(); err != nil {
		return nil, err
	}
	return search, search.lowerColumn(productGraph)
}

// finiteMaxima returns the maximal expected total reward from each product state. It is an error if a maximum is infinite.
func (search *weightSearch) finiteMaxima(graph *sparse.Graph, reward *sparse.Reward) ([]*big.Rat, error) {
	values, err := solve.TotalReward(search.proof.ctx, graph, reward, solve.Max, search.exactOptions())
	if err != nil {
		return nil, err
	}
	if slices.Contains(values.Exact, nil) {
		return nil, errors.New("several objectives with a maximised reward that can be infinite")
	}
	return values.Exact, nil
}

// exactOptions returns the options for exact values with a scheduler.
func (search *weightSearch) exactOptions() solve.Options {
	return solve.Options{Exact: true, MaxWork: maxWork, Scheduler: true}
}

// lowerColumn computes the column of lower bounds, with the ranks and layers that prove them. The bound of a state is the minimal expected sum of the
// minimised rewards; package several calls it x.
func (search *weightSearch) lowerColumn(productGraph *sparse.Graph) error {
	reward := sparseReward(search.product.MinimisedRewards())
	values, err := solve.TotalReward(search.proof.ctx, productGraph, reward, solve.Min, search.exactOptions())
	if err != nil {
		return err
	}
	productFile := &ClaimFile{File: certificate.File{Model: search.product.Model}}
	lowerProof := &vectorProof{
		Prover: &Prover{ClaimFile: productFile, graph: productGraph, opts: search.proof.opts},
		ctx:    search.proof.ctx, Vector: &certificate.Vector{}, effort: exactValues, rewardStructure: reward,
	}
	lowerProof.setBoundColumns(values)
	if err := lowerProof.rankTotalReward(values); err != nil {
		return err
	}
	search.proof.Vector.Lower = lowerProof.Lower
	search.proof.Rank = lowerProof.Rank
	search.proof.Layer = lowerProof.Layer
	return nil
}

// exactColumn converts exact values to a column of the certificate. An infinite value, which is nil in values, becomes the fraction 0 and a member of
// column.Infinite.
func exactColumn(values *solve.Values) *certificate.Values {
	column := &certificate.Values{Fractions: make([]*big.Rat, len(values.Exact))}
	for s, value := range values.Exact {
		if value != nil {
			column.Fractions[s] = value
			continue
		}
		column.Fractions[s] = new(big.Rat)
		if column.Infinite == nil {
			column.Infinite = certificate.NewBits(len(values.Exact))
		}
		column.Infinite.Add(s)
	}
	return column
}

// upperColumn sets the column of upper bounds. An entry is an upper bound of the weighted sum of the objectives from a state on, plus a constant shift
// that makes all entries nonnegative; package several calls the bound y. If weights is nil, upperColumn does nothing.
func (search *weightSearch) upperColumn(weights []*big.Rat) error {
	if weights == nil {
		return nil
	}
	values, err := search.leastCost(weights)
	if err != nil {
		return err
	}
	// The weighted sum is at most the sum of the maxima minus the least expected cost.
	column, shift := make([]*big.Rat, search.product.NumStates()), new(big.Rat)
	for s := range column {
		column[s] = new(big.Rat)
		if values.Exact[s] == nil {
			continue
		}
		column[s].Sub(search.greatestSum(weights, s), values.Exact[s])
		if negated := new(big.Rat).Neg(column[s]); negated.Cmp(shift) > 0 {
			shift = negated
		}
	}
	for s := range column {
		if values.Exact[s] != nil {
			column[s].Add(column[s], shift)
		}
	}
	search.proof.Several.Weights = weights
	search.proof.Several.Shift = shift
	search.proof.Several.Factor = search.greatestMinimisedWeight(weights)
	search.proof.Vector.Upper = &certificate.Values{Fractions: column}
	return nil
}

// greatestMinimisedWeight returns the greatest weight of a minimised objective, or 0 if no objective is minimised.
func (search *weightSearch) greatestMinimisedWeight(weights []*big.Rat) *big.Rat {
	greatest := new(big.Rat)
	for i, objective := range search.proof.Several.Objectives {
		if !objective.Maximised && weights[i].Cmp(greatest) > 0 {
			greatest = weights[i]
		}
	}
	return greatest
}
