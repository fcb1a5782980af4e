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
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// multiObjective translates multi(...) in which at most one objective has no bound.
func (t *translation) multiObjective(f *logic.Formula) (value, error) {
	out := &certificate.Several{}
	complement := false
	queries := 0
	if t.p.Program.Type != syntax.MDP || len(f.Objectives) > certificate.MaxObjectives {
		return value{}, t.refuse(f.X, "several objectives in a model that is no mdp, or more than %d objectives", certificate.MaxObjectives)
	}
	for _, arg := range f.Objectives {
		o, negated, err := t.objective(arg)
		if err != nil {
			return value{}, err
		}
		if o.Bound == nil {
			queries++
			complement = negated
		}
		out.Objectives = append(out.Objectives, o)
	}
	if queries > 1 {
		return value{}, t.refuse(f.X, "several objectives without bounds (Pareto)")
	}
	return value{t.vector(certificate.Vector{Kind: certificate.Objectives, Reward: -1, Several: out}), complement}, nil
}

// objective translates one objective. If negated, the objective is about 1 minus the probability.
func (t *translation) objective(x sema.Expr) (o certificate.Objective, negated bool, err error) {
	o = certificate.Objective{Reward: -1, Steps: -1}
	f := logic.Of(x)
	switch f.Kind {
	case logic.Probability:
		if f.Path.Negated || !f.Path.Unbounded() {
			return o, false, t.refuse(x, "several objectives with a path formula other than F, G, U, W and R over states")
		}
		o.Left, o.Right, negated, err = t.untilOperands(f.Path, t.nested)
	case logic.Reward:
		r := f.Objective
		if r.Form != logic.Cumulative && r.Form != logic.TotalReward || r.Ratio {
			return o, false, t.refuse(x, "several objectives with R of something other than C or C<=k")
		}
		if o.Reward = r.Struct; r.Form == logic.Cumulative {
			o.Steps, err = logic.Count(r.At)
		}
	default:
		return o, false, t.refuse(x, "several objectives with something other than P or R")
	}
	if err != nil {
		return o, negated, err
	}
	h := f.Threshold
	least, _ := h.Least(false)
	switch {
	case h.Rel == syntax.OpGt || h.Rel == syntax.OpLt:
		return o, negated, t.refuse(x, "several objectives with a strict bound")
	case h.Query():
		o.Great = !least
	default:
		b, err := sema.Enclose(h.Bound, nil)
		if err != nil || !b.Exact || b.Rat == nil {
			return o, negated, t.refuse(x, "a bound that is no fraction")
		}
		o.Great, o.Bound = h.Rel == syntax.OpGe, b.Rat
	}
	if negated {
		if o.Great = !o.Great; o.Bound != nil {
			o.Bound = new(big.Rat).Sub(big.NewRat(1, 1), o.Bound)
		}
	}
	return o, negated, nil
}

// weightSearch finds schedulers whose mixture is optimal, and the weights that prove it. It alternates two steps:
// a linear program over the known schedulers proposes weights, and a scheduler that is optimal for these weights
// joins the known ones. It ends when the new scheduler is not better for the weights than the mixture.
//
// Source: Forejt, Kwiatkowska and Parker, Pareto curves for probabilistic model checking, 2012.
type weightSearch struct {
	*vectorProof
	product         *several.Product
	graph           *sparse.Graph // the product with an absorbing end state as last state
	maxima          [][]*big.Rat  // for each maximised objective, its maximum in each state
	ends            *sparse.EndComponents
	points          [][]*big.Rat // the values of each scheduler, negated for minimised objectives
	schedulers      [][]uint32
	objectiveValues [][]*solve.Values
}

// multiObjective computes the columns of a multi-objective vector in rational arithmetic.
func (w *vectorProof) multiObjective() (*solve.Values, error) {
	if w.effort < fractions {
		return nil, fmt.Errorf("several objectives need rational arithmetic, which is limited to %d states", maxExactStates)
	}
	search, err := w.newWeightSearch()
	if err != nil {
		return nil, err
	}
	weights, parts, err := search.findWeights()
	if err != nil {
		return nil, err
	}
	if parts == nil && w.Several.Query() != nil {
		return nil, errors.New("several objectives with bounds that no scheduler satisfies together, so there is no value")
	}
	w.Several.Weights, w.Several.Parts = nil, nil
	if err := search.upperColumn(weights); err != nil {
		return nil, err
	}
	for j, share := range parts {
		if share.Sign() > 0 {
			part := certificate.Part{Share: share, Choice: search.schedulers[j]}
			for i, v := range search.objectiveValues[j] {
				x := exactColumn(v)
				part.Values = append(part.Values, x)
				part.Ranks = append(part.Ranks, search.earningRanks(i, j, v))
			}
			w.Several.Parts = append(w.Several.Parts, part)
		}
	}
	proven, err := search.product.Values(w.ctx, w.Model, w.Vector)
	if err != nil {
		return nil, err
	}
	n := w.graph.NumStates()
	out := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: true}
	for s := range n {
		out.Upper[s] = math.Inf(1)
	}
	for k, s := range w.orderedStates() {
		if x := proven[1].Rat(k); x != nil {
			in := result.Enclose(proven[0].Rat(k), x)
			out.Lower[s], out.Upper[s] = in.Lo, in.Hi
		}
	}
	if w.Several.Query() == nil { // without a query the value is 0 or 1
		for s, x := range out.Lower {
			out.Upper[s] = min(out.Upper[s], max(x, 1))
		}
	}
	return out, nil
}

// maxProductStates is the greatest number of states of the product.
const maxProductStates = maxExactStates

// newWeightSearch builds the product, the maxima of its objectives and its end components without costs.
func (w *vectorProof) newWeightSearch() (*weightSearch, error) {
	var sets []certificate.Bits
	for _, j := range w.Vector.Sets() {
		set, err := w.decidedSet(w.ctx, j, w.effort)
		if err != nil {
			return nil, err
		}
		sets = append(sets, w.bits(set))
	}
	for _, o := range w.Several.Objectives {
		if o.Reward >= 0 {
			if _, err := w.Prover.loadReward(o.Reward); err != nil {
				return nil, err
			}
		}
	}
	w.Several.States = maxProductStates
	multiProduct, err := several.New(w.ctx, w.Model, w.Several, sets, w.Model.Earned)
	if err != nil {
		return nil, fmt.Errorf("several objectives: %w", err)
	}
	w.Several.States = multiProduct.NumStates()
	search := &weightSearch{vectorProof: w, product: multiProduct, maxima: make([][]*big.Rat, len(w.Several.Objectives))}
	productGraph := sparseGraph(multiProduct.Model)
	costless := sparse.FullSet(productGraph.NumChoices())
	for i, o := range w.Several.Objectives {
		r := sparseReward(multiProduct.Rewards[i])
		if o.Great {
			v, err := solve.TotalReward(w.ctx, productGraph, r, solve.Max, search.exactOptions())
			if err != nil {
				return nil, err
			}
			for _, x := range v.Exact {
				if x == nil {
					return nil, errors.New("several objectives with a maximised reward that can be infinite")
				}
			}
			search.maxima[i] = v.Exact
			continue
		}
		for c := range productGraph.NumChoices() {
			if r.ChoiceRat[c] != nil {
				costless.Remove(c)
			}
		}
	}
	if search.ends, err = productGraph.EndComponents(w.ctx, nil, costless); err != nil {
		return nil, err
	}
	search.graph = search.withEndState()
	return search, search.lowerColumn(productGraph)
}

func (d *weightSearch) exactOptions() solve.Options {
	return solve.Options{Exact: true, MaxWork: maxWork, Scheduler: true}
}

// withEndState returns the product with an absorbing end state. Each state of an end component without costs gets one
// more choice, the last, that leads there: to stay in the component for ever.
func (d *weightSearch) withEndState() *sparse.Graph {
	m, end := d.product.Model, uint32(d.product.NumStates())
	b := sparse.NewBuilder(sparse.MDP)
	one := big.NewRat(1, 1)
	for s := range m.NumStates() {
		b.State()
		first, last := m.Choices(s)
		for c := first; c < last; c++ {
			b.Choice(sparse.NoAction)
			lo, hi := m.Row(c)
			for t := lo; t < hi; t++ {
				b.AddRat(int(m.Target[t]), m.Numbers[m.Prob[t]], sparse.NoAction)
			}
		}
		if d.ends.ID[s] != sparse.None {
			b.Choice(sparse.NoAction)
			b.AddRat(int(end), one, sparse.NoAction)
		}
	}
	b.State()
	b.Choice(sparse.NoAction)
	b.AddRat(int(end), one, sparse.NoAction)
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	out.Initial = []uint32{0}
	return sparse.NewGraph(out)
}

// lowerColumn computes the column x of package several.
func (d *weightSearch) lowerColumn(plain *sparse.Graph) error {
	r := sparseReward(d.product.MinimisedRewards())
	v, err := solve.TotalReward(d.ctx, plain, r, solve.Min, d.exactOptions())
	if err != nil {
		return err
	}
	lowerProof := &vectorProof{Prover: &Prover{Skeleton: &Skeleton{File: certificate.File{Model: d.product.Model}}, graph: plain, opts: d.opts}, ctx: d.ctx, Vector: &certificate.Vector{}, effort: fractions, structure: r}
	lowerProof.setBoundColumns(v)
	if err := lowerProof.rankTotalReward(v); err != nil {
		return err
	}
	d.Vector.Lower, d.Rank, d.Layer = lowerProof.Lower, lowerProof.Rank, lowerProof.Layer
	return nil
}

// exactColumn converts exact values to a column; a nil value is infinite.
func exactColumn(v *solve.Values) *certificate.Values {
	x := &certificate.Values{Rats: make([]*big.Rat, len(v.Exact))}
	for s := range x.Rats {
		if x.Rats[s] = v.Exact[s]; x.Rats[s] == nil {
			x.Rats[s] = new(big.Rat)
			if x.Infinite == nil {
				x.Infinite = certificate.NewBits(len(v.Exact))
			}
			x.Infinite.Add(s)
		}
	}
	return x
}

// findWeights runs the search. It returns the optimal weights, and the share of each known scheduler in the mixture.
func (d *weightSearch) findWeights() (weights, shares []*big.Rat, err error) {
	for { // this terminates: each round finds a new scheduler, and there are finitely many
		reached := false
		if weights, shares, reached, err = d.solvePrograms(); err != nil {
			return nil, nil, err
		}
		if reached && d.Several.Query() == nil {
			return nil, shares, nil
		}
		before := d.bestWeightedSum(weights)
		n := len(d.points)
		if err := d.addScheduler(weights); err != nil {
			return nil, nil, err
		}
		after := d.bestWeightedSum(weights)
		if n > 0 && after.Cmp(before) <= 0 {
			return weights, shares, nil
		}
		if len(d.points) > maxImprovements {
			return nil, nil, errors.New("several objectives for which too many schedulers were evaluated")
		}
	}
}

// bestWeightedSum returns the greatest weighted sum of a known point.
func (d *weightSearch) bestWeightedSum(weights []*big.Rat) (best *big.Rat) {
	for _, x := range d.points {
		sum := new(big.Rat)
		for i, w := range weights {
			sum.Add(sum, new(big.Rat).Mul(w, x[i]))
		}
		if best == nil || sum.Cmp(best) > 0 {
			best = sum
		}
	}
	return best
}

// solvePrograms solves the linear programs over the known points. If some mixture satisfies the bounds, it returns the best one
// and the weights of the dual solution, otherwise the weights of a plane that separates the points from the bounds.
func (d *weightSearch) solvePrograms() (weights, shares []*big.Rat, reached bool, err error) {
	if len(d.points) == 0 {
		for range d.Several.Objectives {
			weights = append(weights, big.NewRat(1, 1))
		}
		return weights, nil, false, nil
	}
	query := slices.IndexFunc(d.Several.Objectives, func(o certificate.Objective) bool { return o.Bound == nil })
	shares, err = d.bestMixture(query)
	reached = err == nil
	if err != nil && !errors.Is(err, solve.ErrInfeasible) || reached && query < 0 {
		return nil, shares, reached, err
	}
	weights, err = d.separatingWeights(query, reached)
	return weights, shares, reached, err
}

// lowerLimit returns the least value that satisfies the bound of objective i, negated for a minimised objective.
func (d *weightSearch) lowerLimit(i int) *big.Rat {
	o := &d.Several.Objectives[i]
	if o.Great {
		return o.Bound
	}
	return new(big.Rat).Neg(o.Bound)
}

// bestMixture returns the shares of the mixture that satisfies the bounds and maximises the query.
func (d *weightSearch) bestMixture(query int) (shares []*big.Rat, err error) {
	p := &solve.LinearProgram{}
	one := big.NewRat(1, 1)
	var all []solve.Term
	for j, x := range d.points {
		gain := new(big.Rat)
		if query >= 0 {
			gain = x[query]
		}
		p.Objective = append(p.Objective, gain)
		all = append(all, solve.Term{Var: j, Coeff: one})
	}
	p.Row(one, all...)
	for i := range d.Several.Objectives {
		if i == query {
			continue
		}
		var row []solve.Term
		for j, x := range d.points {
			if x[i].Sign() != 0 {
				row = append(row, solve.Term{Var: j, Coeff: x[i]})
			}
		}
		p.Row(d.lowerLimit(i), append(row, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	_, at, err := p.Maximize(d.ctx)
	if err != nil {
		return nil, err
	}
	return at[:len(d.points)], nil
}

// separatingWeights solves the dual: it returns weights for which the points exceed the bounds by as little as possible.
// The query has weight 1 if the bounds can be satisfied; if not, the other weights sum to 1.
func (d *weightSearch) separatingWeights(query int, reached bool) ([]*big.Rat, error) {
	p := &solve.LinearProgram{}
	one, n := big.NewRat(1, 1), len(d.Several.Objectives)
	for range n {
		p.Variable()
	}
	positive, negative := p.Variable(), p.Variable() // the greatest weighted sum of a point
	p.Objective[positive], p.Objective[negative] = big.NewRat(-1, 1), one
	var sum []solve.Term
	for i := range n {
		if i != query {
			p.Objective[i] = d.lowerLimit(i)
			sum = append(sum, solve.Term{Var: i, Coeff: one})
		}
	}
	if query >= 0 {
		right := new(big.Rat)
		if reached {
			right = one
		}
		p.Row(right, solve.Term{Var: query, Coeff: one})
	}
	if !reached {
		p.Row(one, sum...)
	}
	for _, x := range d.points {
		var row []solve.Term
		for i := range n {
			if x[i].Sign() != 0 {
				row = append(row, solve.Term{Var: i, Coeff: x[i]})
			}
		}
		row = append(row, solve.Term{Var: positive, Coeff: big.NewRat(-1, 1)}, solve.Term{Var: negative, Coeff: one}, solve.Term{Var: p.Variable(), Coeff: one})
		p.Row(new(big.Rat), row...)
	}
	_, at, err := p.Maximize(d.ctx)
	if err != nil {
		return nil, err
	}
	return at[:n], nil
}

// weightedCosts returns the weighted cost of each choice: the reward of a minimised objective, and for a maximised one
// the amount by which the choice lowers the greatest value that is still possible.
func (d *weightSearch) weightedCosts(weights []*big.Rat) *sparse.Reward {
	g, m := d.graph, d.product.Model
	costs := make([]*big.Rat, g.NumChoices())
	term := new(big.Rat)
	for s := range m.NumStates() {
		from, last := g.Choices(s)
		first, end := m.Choices(s)
		for c := from; c < last; c++ {
			costs[c] = new(big.Rat)
			rewardIndex := first + c - from
			for i, r := range d.product.Rewards {
				x := new(big.Rat)
				if most := d.maxima[i]; most != nil {
					x.Set(most[s])
				}
				if rewardIndex < end {
					if lo, hi := m.Row(rewardIndex); d.maxima[i] != nil {
						x.Sub(x, r.Rats[r.Of[rewardIndex]])
						for t := lo; t < hi; t++ {
							x.Sub(x, term.Mul(m.Numbers[m.Prob[t]], d.maxima[i][m.Target[t]]))
						}
					} else {
						x.Set(r.Rats[r.Of[rewardIndex]])
					}
				}
				costs[c].Add(costs[c], x.Mul(x, weights[i]))
			}
		}
	}
	rewardIndex := make([]uint32, len(costs))
	for c := range costs {
		if rewardIndex[c] = uint32(c); costs[c] == nil {
			costs[c] = new(big.Rat)
		}
	}
	return sparseReward(certificate.NewRewards(rewardIndex, costs))
}

// leastCost returns the minimal expected cost until the end state.
func (d *weightSearch) leastCost(weights []*big.Rat) (*solve.Values, error) {
	end := sparse.NewSet(d.graph.NumStates())
	end.Add(d.product.NumStates())
	v, err := solve.ReachReward(d.ctx, d.graph, d.weightedCosts(weights), end, solve.Min, d.exactOptions())
	if err == nil && v.Exact[0] == nil {
		err = errors.New("several objectives with a minimised one that is infinite for all schedulers")
	}
	return v, err
}

// addScheduler adds a scheduler that is optimal for the weights, and its point.
func (d *weightSearch) addScheduler(weights []*big.Rat) error {
	v, err := d.leastCost(weights)
	if err != nil {
		return err
	}
	m := d.product.Model
	scheduler := make([]uint32, m.NumStates())
	stay := make(map[uint32]bool) // end components in which the scheduler stays from some state
	for s := range scheduler {
		first, end := d.graph.Choices(s)
		if c := v.Scheduler[s]; c != sparse.None {
			scheduler[s] = c - uint32(first)
		}
		if own, last := m.Choices(s); int(scheduler[s]) == last-own && end-first > last-own {
			stay[d.ends.ID[s]] = true
		}
	}
	for s := range scheduler {
		if id := d.ends.ID[s]; id != sparse.None && stay[id] {
			first, end := m.Choices(s)
			for c := first; c < end; c++ {
				if d.ends.Choices.Has(c) {
					scheduler[s] = uint32(c - first)
				}
			}
		}
	}
	point, columns, err := d.evaluateScheduler(d.ctx, scheduler)
	if err == nil {
		d.points = append(d.points, point)
		d.schedulers = append(d.schedulers, scheduler)
		d.objectiveValues = append(d.objectiveValues, columns)
	}
	return err
}

// evaluateScheduler computes the value of each objective under a scheduler.
func (d *weightSearch) evaluateScheduler(ctx context.Context, scheduler []uint32) (point []*big.Rat, values []*solve.Values, err error) {
	chain, choices, err := d.product.Chain(scheduler)
	if err != nil {
		return nil, nil, err
	}
	g := sparseGraph(chain)
	for i, o := range d.Several.Objectives {
		v, err := solve.TotalReward(ctx, g, sparseReward(d.product.InducedRewards(i, choices)), solve.Max, d.exactOptions())
		if err != nil {
			return nil, nil, err
		}
		x := v.Exact[0]
		if x == nil {
			return nil, nil, errors.New("several objectives with a reward that is infinite for the best scheduler")
		}
		if !o.Great {
			x = new(big.Rat).Neg(x)
		}
		point = append(point, x)
		values = append(values, v)
	}
	return point, values, nil
}

// earningRanks ranks the states of the chain of scheduler j by their distance to a reward of objective i, if that is maximised.
func (d *weightSearch) earningRanks(i, j int, v *solve.Values) []uint32 {
	if !d.Several.Objectives[i].Great {
		return nil
	}
	chain, choices, err := d.product.Chain(d.schedulers[j])
	if err != nil {
		return nil
	}
	r := d.product.InducedRewards(i, choices)
	targets, states := sparse.NewSet(len(choices)), sparse.NewSet(len(choices))
	for s := range choices {
		if states.Add(s); v.Exact[s].Sign() == 0 || r.Positive(s) {
			targets.Add(s)
		}
	}
	return rankByDistance(sparseGraph(chain), targets, states, func(int, int) bool { return true })
}

// upperColumn computes the column y of package several for the weights; without weights there is no upper bound.
func (d *weightSearch) upperColumn(weights []*big.Rat) error {
	if weights == nil {
		return nil
	}
	v, err := d.leastCost(weights)
	if err != nil {
		return err
	}
	n := d.product.NumStates()
	y, shift, factor := make([]*big.Rat, n), new(big.Rat), new(big.Rat)
	for i, o := range d.Several.Objectives {
		if !o.Great && weights[i].Cmp(factor) > 0 {
			factor = weights[i]
		}
	}
	for s := range y {
		if y[s] = new(big.Rat); v.Exact[s] == nil {
			continue
		}
		for i, most := range d.maxima {
			if most != nil {
				y[s].Add(y[s], new(big.Rat).Mul(weights[i], most[s]))
			}
		}
		if y[s].Sub(y[s], v.Exact[s]); y[s].Sign() < 0 && new(big.Rat).Neg(y[s]).Cmp(shift) > 0 {
			shift = new(big.Rat).Neg(y[s])
		}
	}
	for s := range y {
		if v.Exact[s] != nil {
			y[s].Add(y[s], shift)
		}
	}
	d.Several.Weights, d.Several.Shift, d.Several.Factor = weights, shift, factor
	d.Vector.Upper = &certificate.Values{Rats: y}
	return nil
}
