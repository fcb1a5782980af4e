package prove

import (
	"context"
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
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// multiObjective translates multi(...), in which at most one objective has no bound.
func (t *translation) multiObjective(formula *logic.Formula) (vectorValue, error) {
	if t.property.Program.Type != syntax.MDP || len(formula.Objectives) > certificate.MaxObjectives {
		return vectorValue{}, t.unsupported(formula.X, "several objectives in a model that is not an MDP, or more than %d objectives", certificate.MaxObjectives)
	}
	several := &certificate.Several{}
	queries, complement := 0, false
	for _, operand := range formula.Objectives {
		objective, negated, err := t.objective(operand)
		if err != nil {
			return vectorValue{}, err
		}
		if objective.Bound == nil {
			queries++
			complement = negated
		}
		several.Objectives = append(several.Objectives, objective)
	}
	if queries > 1 {
		return vectorValue{}, t.unsupported(formula.X, "several objectives without bounds (Pareto)")
	}
	return vectorValue{t.vectorIndex(certificate.Vector{Kind: certificate.Objectives, Reward: -1, Several: several}), complement}, nil
}

// objective translates one objective. negated says that the objective is about 1 minus the probability.
func (t *translation) objective(expr sema.Expr) (objective certificate.Objective, negated bool, err error) {
	objective = certificate.Objective{Reward: -1, Steps: -1}
	formula := logic.Of(expr)
	switch formula.Kind {
	case logic.Probability:
		if formula.Path.Negated || !formula.Path.Unbounded() {
			return objective, false, t.unsupported(expr, "several objectives with a path formula other than F, G, U, W and R over states")
		}
		objective.Left, objective.Right, negated, err = t.untilOperands(formula.Path, t.stateFormula)
	case logic.Reward:
		err = t.setReward(&objective, formula)
	default:
		err = t.unsupported(expr, "several objectives with something other than P or R")
	}
	if err != nil {
		return objective, negated, err
	}
	if err := t.setBound(&objective, formula); err != nil {
		return objective, negated, err
	}
	if negated {
		objective.Great = !objective.Great
		if objective.Bound != nil {
			objective.Bound = new(big.Rat).Sub(big.NewRat(1, 1), objective.Bound)
		}
	}
	return objective, negated, nil
}

// setReward sets the reward structure of an objective R [C] or R [C<=k], and its number of steps.
func (t *translation) setReward(objective *certificate.Objective, formula *logic.Formula) (err error) {
	reward := formula.Objective
	isSupported := reward.Form == logic.Cumulative || reward.Form == logic.TotalReward
	if !isSupported || reward.Ratio {
		return t.unsupported(formula.X, "several objectives with R of something other than C or C<=k")
	}
	objective.Reward = reward.Struct
	if reward.Form == logic.Cumulative {
		objective.Steps, err = logic.Count(reward.At)
	}
	return err
}

// setBound sets the bound of an objective, and whether a great value is wanted. A query has no bound.
func (t *translation) setBound(objective *certificate.Objective, formula *logic.Formula) error {
	threshold := formula.Threshold
	switch {
	case threshold.Rel == syntax.OpGt || threshold.Rel == syntax.OpLt:
		return t.unsupported(formula.X, "several objectives with a strict bound")
	case threshold.Query():
		least, _ := threshold.Least(false)
		objective.Great = !least
		return nil
	}
	bound, err := sema.Enclose(threshold.Bound, nil)
	if err != nil || !bound.Exact || bound.Rat == nil {
		return t.unsupported(formula.X, "a bound that is not a fraction")
	}
	objective.Great, objective.Bound = threshold.Rel == syntax.OpGe, bound.Rat
	return nil
}

// weightSearch finds schedulers whose mixture is optimal, and the weights that prove it. It alternates two steps:
// a linear program over the known schedulers proposes weights, and a scheduler that is optimal for these weights
// is added to the known ones. It ends when the new scheduler is not better for the weights than the mixture.
//
// Source: Forejt, Kwiatkowska and Parker, Pareto curves for probabilistic model checking, 2012.
type weightSearch struct {
	*vectorProof
	product         *several.Product
	graph           *sparse.Graph // the product with an absorbing end state as last state
	maxValues       [][]*big.Rat  // the maximum of each maximised objective in each state; nil for minimised objectives
	endComponents   *sparse.EndComponents
	points          [][]*big.Rat // the values of each scheduler, negated for minimised objectives
	schedulers      [][]uint32
	objectiveValues [][]*solve.Values
}

// multiObjective computes the columns of a multi-objective vector in rational arithmetic.
func (proof *vectorProof) multiObjective() (*solve.Values, error) {
	if proof.effort < fractions {
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
	for j, share := range shares {
		if share.Sign() > 0 {
			part, err := search.part(j, share)
			if err != nil {
				return nil, err
			}
			proof.Several.Parts = append(proof.Several.Parts, part)
		}
	}
	return search.provenValues()
}

// part returns the part of the certificate about a known scheduler, which has a share in the mixture.
func (search *weightSearch) part(scheduler int, share *big.Rat) (certificate.Part, error) {
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

// provenValues returns the bounds that the columns of the vector prove.
func (search *weightSearch) provenValues() (*solve.Values, error) {
	columns, err := search.product.Values(search.ctx, search.Model, search.Vector)
	if err != nil {
		return nil, err
	}
	lower, upper := columns[0], columns[1]
	n := search.Prover.graph.NumStates()
	values := &solve.Values{Lower: make([]float64, n), Upper: slices.Repeat([]float64{math.Inf(1)}, n), Converged: true}
	for k, s := range search.orderedStates() {
		if upperBound := upper.Rat(k); upperBound != nil {
			bounds := interval.Between(lower.Rat(k), upperBound)
			values.Lower[s], values.Upper[s] = bounds.Lo, bounds.Hi
		}
	}
	if search.Several.Query() == nil { // without a query the value is 0 or 1
		for s, lowerBound := range values.Lower {
			values.Upper[s] = min(values.Upper[s], max(lowerBound, 1))
		}
	}
	return values, nil
}

// maxProductStates is the greatest number of states of the product.
const maxProductStates = maxExactStates

// newWeightSearch builds the product, the maxima of its objectives and its end components without costs.
func (proof *vectorProof) newWeightSearch() (*weightSearch, error) {
	multiProduct, err := proof.objectivesProduct()
	if err != nil {
		return nil, err
	}
	search := &weightSearch{vectorProof: proof, product: multiProduct, maxValues: make([][]*big.Rat, len(proof.Several.Objectives))}
	productGraph := sparseGraph(multiProduct.Model)
	costless := sparse.FullSet(productGraph.NumChoices())
	for i, objective := range proof.Several.Objectives {
		reward := sparseReward(multiProduct.Rewards[i])
		if objective.Great {
			if search.maxValues[i], err = search.finiteMaxima(productGraph, reward); err != nil {
				return nil, err
			}
			continue
		}
		for c := range productGraph.NumChoices() {
			if reward.ChoiceRat[c] != nil {
				costless.Remove(c)
			}
		}
	}
	if search.endComponents, err = productGraph.EndComponents(proof.ctx, nil, costless); err != nil {
		return nil, err
	}
	if search.graph, err = search.withEndState(); err != nil {
		return nil, err
	}
	return search, search.lowerColumn(productGraph)
}

// objectivesProduct returns the product of the model with the progress of its objectives, and sets the number of its states in
// the certificate.
func (proof *vectorProof) objectivesProduct() (*several.Product, error) {
	var sets []certificate.Bits
	for _, j := range proof.Vector.Sets() {
		set, err := proof.decidedSet(proof.ctx, j, proof.effort)
		if err != nil {
			return nil, err
		}
		sets = append(sets, proof.bits(set))
	}
	for _, objective := range proof.Several.Objectives {
		if objective.Reward >= 0 {
			if _, err := proof.Prover.loadReward(objective.Reward); err != nil {
				return nil, err
			}
		}
	}
	proof.Several.States = maxProductStates
	result, err := several.New(proof.ctx, proof.Model, proof.Several, sets, proof.Model.StepRewards)
	if err != nil {
		return nil, fmt.Errorf("several objectives: %w", err)
	}
	proof.Several.States = result.NumStates()
	return result, nil
}

// finiteMaxima returns the greatest expected total reward of each state of the product. It returns an error if it is infinite for
// some state.
func (search *weightSearch) finiteMaxima(graph *sparse.Graph, reward *sparse.Reward) ([]*big.Rat, error) {
	values, err := solve.TotalReward(search.ctx, graph, reward, solve.Max, search.exactOptions())
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

// withEndState returns the product with an additional absorbing end state. Each state of an end component without costs gets an
// additional last choice, which leads to the end state. It stands for staying in the component forever.
func (search *weightSearch) withEndState() (*sparse.Graph, error) {
	model := search.product.Model
	endState := model.NumStates()
	builder := sparse.NewBuilder(sparse.MDP)
	addChoiceToEnd := func() {
		builder.Choice(sparse.NoAction)
		builder.AddRat(endState, big.NewRat(1, 1), sparse.NoAction)
	}
	for s := range model.NumStates() {
		builder.State()
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			builder.Choice(sparse.NoAction)
			firstTransition, endTransition := model.Row(c)
			for i := firstTransition; i < endTransition; i++ {
				builder.AddRat(int(model.Target[i]), model.Numbers[model.Prob[i]], sparse.NoAction)
			}
		}
		if search.endComponents.ID[s] != sparse.None {
			addChoiceToEnd()
		}
	}
	builder.State()
	addChoiceToEnd()
	result, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	result.Initial = []uint32{0}
	return sparse.NewGraph(result), nil
}

// lowerColumn computes the minimal expected sum of the minimised rewards in each state, with its ranks and
// layers (the function x of package several).
func (search *weightSearch) lowerColumn(productGraph *sparse.Graph) error {
	reward := sparseReward(search.product.MinimisedRewards())
	values, err := solve.TotalReward(search.ctx, productGraph, reward, solve.Min, search.exactOptions())
	if err != nil {
		return err
	}
	productFile := &ClaimFile{File: certificate.File{Model: search.product.Model}}
	lowerProof := &vectorProof{
		Prover: &Prover{ClaimFile: productFile, graph: productGraph, opts: search.opts},
		ctx:    search.ctx, Vector: &certificate.Vector{}, effort: fractions, rewardStructure: reward,
	}
	lowerProof.setBoundColumns(values)
	if err := lowerProof.rankTotalReward(values); err != nil {
		return err
	}
	search.Vector.Lower = lowerProof.Lower
	search.Rank = lowerProof.Rank
	search.Layer = lowerProof.Layer
	return nil
}

// exactColumn converts exact values to a column of the certificate. A nil value is infinite.
func exactColumn(values *solve.Values) *certificate.Values {
	column := &certificate.Values{Rats: make([]*big.Rat, len(values.Exact))}
	for s, value := range values.Exact {
		if value != nil {
			column.Rats[s] = value
			continue
		}
		column.Rats[s] = new(big.Rat)
		if column.Infinite == nil {
			column.Infinite = certificate.NewBits(len(values.Exact))
		}
		column.Infinite.Add(s)
	}
	return column
}

// findWeights alternates linear programs and optimal schedulers until the mixture cannot be improved. It returns the weights that prove
// this, and the share of each known scheduler in the mixture. If no objective is a query, it returns no weights as soon as a
// mixture satisfies the bounds.
func (search *weightSearch) findWeights() (weights, shares []*big.Rat, err error) {
	for { // this terminates: each round finds a new scheduler, and there are finitely many
		var feasible bool
		weights, shares, feasible, err = search.solvePrograms()
		if err != nil {
			return nil, nil, err
		}
		if feasible && search.Several.Query() == nil {
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

// improveForWeights adds a scheduler that is optimal for the weights. It reports whether this scheduler is better
// than all known ones.
func (search *weightSearch) improveForWeights(weights []*big.Rat) (bool, error) {
	before := search.bestWeightedSum(weights)
	if err := search.addScheduler(weights); err != nil {
		return false, err
	}
	return before == nil || search.bestWeightedSum(weights).Cmp(before) > 0, nil
}

// bestWeightedSum returns the greatest weighted sum of a known point, or nil if there is no point.
func (search *weightSearch) bestWeightedSum(weights []*big.Rat) *big.Rat {
	var best *big.Rat
	for _, point := range search.points {
		sum := new(big.Rat)
		for i, weight := range weights {
			sum.Add(sum, new(big.Rat).Mul(weight, point[i]))
		}
		if best == nil || sum.Cmp(best) > 0 {
			best = sum
		}
	}
	return best
}

// solvePrograms solves the linear programs over the known points. feasible says whether some mixture satisfies the bounds. If so, it
// returns the shares of the best mixture and, if an objective is a query, the weights of the dual solution. Otherwise it returns the
// weights of a hyperplane that separates the points from the bounds.
func (search *weightSearch) solvePrograms() (weights, shares []*big.Rat, feasible bool, err error) {
	if len(search.points) == 0 {
		for range search.Several.Objectives {
			weights = append(weights, big.NewRat(1, 1))
		}
		return weights, nil, false, nil
	}
	isQuery := func(objective certificate.Objective) bool { return objective.Bound == nil }
	query := slices.IndexFunc(search.Several.Objectives, isQuery)
	shares, err = search.bestMixture(query)
	if err != nil && !errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, false, err
	}
	feasible = err == nil
	if feasible && query < 0 {
		return nil, shares, true, nil
	}
	weights, err = search.separatingWeights(query, feasible)
	return weights, shares, feasible, err
}

// lowerLimit returns the least value that satisfies the bound of objective i, negated for a minimised objective.
func (search *weightSearch) lowerLimit(i int) *big.Rat {
	objective := &search.Several.Objectives[i]
	if objective.Great {
		return objective.Bound
	}
	return new(big.Rat).Neg(objective.Bound)
}

// bestMixture returns the shares of the mixture that satisfies the bounds and maximises the query. query is
// the index of the objective without a bound, or -1. The error is solve.ErrInfeasible if no mixture satisfies
// the bounds.
func (search *weightSearch) bestMixture(query int) (shares []*big.Rat, err error) {
	program := &solve.LinearProgram{}
	one := big.NewRat(1, 1)
	var sum []solve.Term
	for j, point := range search.points {
		gain := new(big.Rat)
		if query >= 0 {
			gain = point[query]
		}
		program.Objective = append(program.Objective, gain)
		sum = append(sum, solve.Term{Var: j, Coeff: one})
	}
	program.Row(one, sum...)
	for i := range search.Several.Objectives {
		if i != query {
			search.addBound(program, i)
		}
	}
	_, solution, err := program.Maximize(search.ctx)
	if err != nil {
		return nil, err
	}
	return solution[:len(search.points)], nil
}

// addBound adds an equation to the program that bounds an objective from below: the value of the mixture minus a slack variable
// equals the limit.
func (search *weightSearch) addBound(program *solve.LinearProgram, objective int) {
	values := make([]*big.Rat, len(search.points))
	for j, point := range search.points {
		values[j] = point[objective]
	}
	slack := solve.Term{Var: program.Variable(), Coeff: big.NewRat(-1, 1)}
	program.Row(search.lowerLimit(objective), append(nonzeroTerms(values), slack)...)
}

// nonzeroTerms returns the terms of a row in which variable i has coefficient i.
func nonzeroTerms(coefficients []*big.Rat) []solve.Term {
	var terms []solve.Term
	for i, coefficient := range coefficients {
		if coefficient.Sign() != 0 {
			terms = append(terms, solve.Term{Var: i, Coeff: coefficient})
		}
	}
	return terms
}

// separatingWeights solves the dual program: it returns the weights for which the points exceed the bounds by as little as possible.
// If the bounds are feasible, the query has weight 1. Otherwise the query has weight 0, and the other weights sum to 1.
func (search *weightSearch) separatingWeights(query int, feasible bool) ([]*big.Rat, error) {
	program := &solve.LinearProgram{}
	one, n := big.NewRat(1, 1), len(search.Several.Objectives)
	for range n {
		program.Variable() // the weight of an objective
	}
	positive, negative := program.Variable(), program.Variable() // their difference is the greatest weighted sum of a point
	program.Objective[positive] = big.NewRat(-1, 1)
	program.Objective[negative] = one
	var weightRow []solve.Term
	for i := range n {
		if i != query {
			program.Objective[i] = search.lowerLimit(i)
			weightRow = append(weightRow, solve.Term{Var: i, Coeff: one})
		}
	}
	if query >= 0 {
		right := new(big.Rat)
		if feasible {
			right = one
		}
		program.Row(right, solve.Term{Var: query, Coeff: one})
	}
	if !feasible {
		program.Row(one, weightRow...)
	}
	for _, point := range search.points {
		row := nonzeroTerms(point)
		row = append(row, solve.Term{Var: positive, Coeff: big.NewRat(-1, 1)}, solve.Term{Var: negative, Coeff: one})
		slack := solve.Term{Var: program.Variable(), Coeff: one}
		program.Row(new(big.Rat), append(row, slack)...)
	}
	_, solution, err := program.Maximize(search.ctx)
	if err != nil {
		return nil, err
	}
	return solution[:n], nil
}

// weightedCosts returns the cost of each choice: the weighted sum of its costs for the objectives. For a minimised objective the
// cost is the reward of the choice. For a maximised objective it is the amount by which the choice lowers the greatest value that
// can still be reached.
func (search *weightSearch) weightedCosts(weights []*big.Rat) *sparse.Reward {
	costs := make([]*big.Rat, search.graph.NumChoices())
	for c := range costs {
		costs[c] = new(big.Rat)
	}
	for s := range search.product.NumStates() {
		c, _ := search.graph.Choices(s)
		first, end := search.product.Model.Choices(s)
		for choice := first; choice < end; choice++ {
			costs[c] = search.weightedCost(weights, s, choice)
			c++
		}
		if search.endComponents.ID[s] != sparse.None { // the last choice leads to the end state, and gives up all rewards
			costs[c] = search.greatestSum(weights, s)
		}
	}
	indices := make([]uint32, len(costs)) // each choice has a cost of its own
	for c := range indices {
		indices[c] = uint32(c)
	}
	return sparseReward(certificate.NewRewards(indices, costs))
}

// weightedCost returns the weighted sum of the costs of a choice of the product in state s.
func (search *weightSearch) weightedCost(weights []*big.Rat, s, choice int) *big.Rat {
	sum := new(big.Rat)
	for i, weight := range weights {
		cost := search.choiceCost(i, s, choice)
		sum.Add(sum, cost.Mul(cost, weight))
	}
	return sum
}

// choiceCost returns the cost of a choice of the product in state s for one objective. For a minimised objective it is the reward of
// the choice. For a maximised objective it is the greatest value of the state, minus the reward and the expected greatest value of the
// next state.
func (search *weightSearch) choiceCost(objective, s, choice int) *big.Rat {
	rewards, maxValue := search.product.Rewards[objective], search.maxValues[objective]
	reward := rewards.Rats[rewards.Of[choice]]
	if maxValue == nil {
		return new(big.Rat).Set(reward)
	}
	cost := new(big.Rat).Sub(maxValue[s], reward)
	model := search.product.Model
	term := new(big.Rat)
	first, end := model.Row(choice)
	for i := first; i < end; i++ {
		cost.Sub(cost, term.Mul(model.Numbers[model.Prob[i]], maxValue[model.Target[i]]))
	}
	return cost
}

// leastCost returns the minimal expected weighted cost until the end state.
func (search *weightSearch) leastCost(weights []*big.Rat) (*solve.Values, error) {
	end := sparse.NewSet(search.graph.NumStates())
	end.Add(search.product.NumStates())
	values, err := solve.ReachReward(search.ctx, search.graph, search.weightedCosts(weights), end, solve.Min, search.exactOptions())
	if err == nil && values.Exact[0] == nil {
		err = errors.New("several objectives with a minimised reward that is infinite for all schedulers")
	}
	return values, err
}

// addScheduler adds a scheduler that is optimal for the weights, with the values of all objectives under it.
func (search *weightSearch) addScheduler(weights []*big.Rat) error {
	values, err := search.leastCost(weights)
	if err != nil {
		return err
	}
	scheduler := search.productScheduler(values.Scheduler)
	point, columns, err := search.evaluateScheduler(search.ctx, scheduler)
	if err != nil {
		return err
	}
	search.points = append(search.points, point)
	search.schedulers = append(search.schedulers, scheduler)
	search.objectiveValues = append(search.objectiveValues, columns)
	return nil
}

// productScheduler translates a scheduler of the graph with the end state to the product. It returns the number of the choice of each
// state. Where the scheduler goes to the end state, the result stays in the end component.
func (search *weightSearch) productScheduler(choices []uint32) []uint32 {
	model := search.product.Model
	scheduler := make([]uint32, model.NumStates())
	staying := make(map[uint32]bool) // end components from which the scheduler goes to the end state
	for s := range scheduler {
		if choices[s] == sparse.None {
			continue
		}
		first, _ := search.graph.Choices(s)
		scheduler[s] = choices[s] - uint32(first)
		productFirst, productEnd := model.Choices(s)
		if int(scheduler[s]) == productEnd-productFirst { // the choice that leads to the end state
			staying[search.endComponents.ID[s]] = true
		}
	}
	for s := range scheduler {
		if id := search.endComponents.ID[s]; id != sparse.None && staying[id] {
			scheduler[s] = search.stayingChoice(s, scheduler[s])
		}
	}
	return scheduler
}

// stayingChoice returns the number of the last choice of a state that stays in its end component, or the given
// number if there is none.
func (search *weightSearch) stayingChoice(s int, number uint32) uint32 {
	first, end := search.product.Model.Choices(s)
	for c := first; c < end; c++ {
		if search.endComponents.Choices.Has(c) {
			number = uint32(c - first)
		}
	}
	return number
}

// evaluateScheduler computes the value of each objective under a scheduler. point has the values in the
// initial state, negated for minimised objectives.
func (search *weightSearch) evaluateScheduler(ctx context.Context, scheduler []uint32) (point []*big.Rat, values []*solve.Values, err error) {
	chain, choices, err := search.product.Chain(scheduler)
	if err != nil {
		return nil, nil, err
	}
	graph := sparseGraph(chain)
	for i, objective := range search.Several.Objectives {
		reward := sparseReward(search.product.InducedRewards(i, choices))
		stateValues, err := solve.TotalReward(ctx, graph, reward, solve.Max, search.exactOptions())
		if err != nil {
			return nil, nil, err
		}
		value := stateValues.Exact[0]
		if value == nil {
			return nil, nil, errors.New("several objectives with a reward that is infinite for the best scheduler")
		}
		if !objective.Great {
			value = new(big.Rat).Neg(value)
		}
		point = append(point, value)
		values = append(values, stateValues)
	}
	return point, values, nil
}

// earningRanks ranks the states of the chain of a scheduler by their distance to a reward of a maximised
// objective. It returns nil for a minimised objective.
func (search *weightSearch) earningRanks(objective, scheduler int, values *solve.Values) ([]uint32, error) {
	if !search.Several.Objectives[objective].Great {
		return nil, nil
	}
	chain, choices, err := search.product.Chain(search.schedulers[scheduler])
	if err != nil {
		return nil, err
	}
	rewards := search.product.InducedRewards(objective, choices)
	targets, states := sparse.NewSet(len(choices)), sparse.NewSet(len(choices))
	for s := range choices {
		states.Add(s)
		if values.Exact[s].Sign() == 0 || rewards.Positive(s) {
			targets.Add(s)
		}
	}
	return rankByDistance(sparseGraph(chain), targets, states, func(int, int) bool { return true }), nil
}

// upperColumn sets the column of upper bounds, its shift and its factor. The bound of a state is on the weighted sum of the objectives
// that can still be reached from it (the function y of package several). If weights is nil, there are no upper bounds.
func (search *weightSearch) upperColumn(weights []*big.Rat) error {
	if weights == nil {
		return nil
	}
	values, err := search.leastCost(weights)
	if err != nil {
		return err
	}
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
	search.Several.Weights = weights
	search.Several.Shift = shift
	search.Several.Factor = search.greatestMinimisedWeight(weights)
	search.Vector.Upper = &certificate.Values{Rats: column}
	return nil
}

// greatestSum returns the weighted sum of the maxima of the maximised objectives in a state.
func (search *weightSearch) greatestSum(weights []*big.Rat, s int) *big.Rat {
	sum := new(big.Rat)
	for i, maxValues := range search.maxValues {
		if maxValues != nil {
			sum.Add(sum, new(big.Rat).Mul(weights[i], maxValues[s]))
		}
	}
	return sum
}

// greatestMinimisedWeight returns the greatest weight of a minimised objective; 0 if there is none.
func (search *weightSearch) greatestMinimisedWeight(weights []*big.Rat) *big.Rat {
	greatest := new(big.Rat)
	for i, objective := range search.Several.Objectives {
		if !objective.Great && weights[i].Cmp(greatest) > 0 {
			greatest = weights[i]
		}
	}
	return greatest
}
