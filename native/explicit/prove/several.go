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
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// several translates multi(…) of objectives with bounds, or all but one.
func (t *translation) several(x *sema.Multi) (value, error) {
	out := &certificate.Several{}
	complement := false
	queries := 0
	if t.p.Program.Type != syntax.MDP || len(x.Args) > certificate.MaxObjectives {
		return value{}, t.refuse(x, "several objectives of what is no mdp, or of more than %d", certificate.MaxObjectives)
	}
	for _, arg := range x.Args {
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
		return value{}, t.refuse(x, "several objectives without bounds (Pareto)")
	}
	return value{t.vector(certificate.Vector{Kind: certificate.Objectives, Reward: -1, Several: out}), complement}, nil
}

// objective translates one of them; negated is 1 minus it.
func (t *translation) objective(x sema.Expr) (o certificate.Objective, negated bool, err error) {
	o = certificate.Objective{Reward: -1, Steps: -1}
	var h sema.Threshold
	switch x := x.(type) {
	case *sema.Prob:
		h = x.Threshold
		p, is := x.Path.(*sema.Temporal)
		if !is || p.Bound != nil || p.Op == syntax.Next || !isState(p.X) || !isState(p.Y) {
			return o, false, t.refuse(x, "several objectives with a path formula other than F, G, U, W and R over states")
		}
		o.Left, o.Right, negated, err = t.until(p, t.nested)
	case *sema.Reward:
		h = x.Threshold
		p, is := x.Path.(*sema.RewardPath)
		if !is || p.Kind != syntax.Cumulative || x.StructDiv >= 0 {
			return o, false, t.refuse(x, "several objectives with R of something other than C or C<=k")
		}
		o.Reward = x.Struct
		if p.Bound != nil {
			o.Steps, err = stepCount(p.Bound)
		}
	default:
		return o, false, t.refuse(x, "several objectives with something other than P or R")
	}
	if err != nil {
		return o, negated, err
	}
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

// drawn finds schedulers to draw from, and the weights for which nothing exceeds them:
// weights are asked about until the best mean of the schedulers found is best for them.
type drawn struct {
	*work
	product *several.Product
	graph   *sparse.Graph // of the product, with an end at last that states may lead to
	most    [][]*big.Rat  // of objectives that are to be great, what can be had
	ends    *sparse.EndComponents
	points  [][]*big.Rat // what schedulers have, negative where it is to be small
	how     [][]uint32
	columns [][]*solve.Values
}

// severalObjectives computes the columns of several objectives, with fractions.
func (w *work) severalObjectives() (*solve.Values, error) {
	if w.effort < fractions {
		return nil, fmt.Errorf("several objectives take fractions, in a model of at most %d states", exactStates)
	}
	d, err := w.draw()
	if err != nil {
		return nil, err
	}
	weights, parts, err := d.improve()
	if err != nil {
		return nil, err
	}
	if parts == nil && w.Several.Query() != nil {
		return nil, errors.New("several objectives whose bounds cannot be kept together, so that there is no value")
	}
	w.Several.Weights, w.Several.Parts = nil, nil
	if err := d.upper(weights); err != nil {
		return nil, err
	}
	for j, share := range parts {
		if share.Sign() > 0 {
			part := certificate.Part{Share: share, Choice: d.how[j]}
			for i, v := range d.columns[j] {
				x := column(v)
				part.Values, part.Ranks = append(part.Values, x), append(part.Ranks, d.ranked(i, j, v))
			}
			w.Several.Parts = append(w.Several.Parts, part)
		}
	}
	known, err := d.product.Values(w.ctx, w.Model, w.Vector)
	if err != nil {
		return nil, err
	}
	n := w.graph.NumStates()
	out := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: true}
	for s := range n {
		out.Upper[s] = math.Inf(1)
	}
	for k, s := range w.states() {
		if x := known[1].Rat(k); x != nil {
			in := result.Enclose(known[0].Rat(k), x)
			out.Lower[s], out.Upper[s] = in.Lo, in.Hi
		}
	}
	if w.Several.Query() == nil { // it is 0 or 1
		for s, x := range out.Lower {
			out.Upper[s] = min(out.Upper[s], max(x, 1))
		}
	}
	return out, nil
}

// maxSeveral is how many states the product may have.
const maxSeveral = exactStates

func (w *work) draw() (*drawn, error) {
	var sets []certificate.Bits
	for _, j := range w.Vector.Sets() {
		set, err := w.decided(w.ctx, j, w.effort)
		if err != nil {
			return nil, err
		}
		sets = append(sets, w.bits(set))
	}
	for _, o := range w.Several.Objectives {
		if o.Reward >= 0 {
			if _, err := w.Prover.reward(o.Reward); err != nil {
				return nil, err
			}
		}
	}
	w.Several.States = maxSeveral
	size, err := several.New(w.ctx, w.Model, w.Several, sets, w.Model.Earned)
	if err != nil {
		return nil, fmt.Errorf("several objectives: %w", err)
	}
	w.Several.States = size.NumStates()
	d := &drawn{work: w, product: size, most: make([][]*big.Rat, len(w.Several.Objectives))}
	plain := graphOf(size.Model)
	free := sparse.FullSet(plain.NumChoices())
	for i, o := range w.Several.Objectives {
		r := doubles(size.Rewards[i])
		if o.Great {
			v, err := solve.TotalReward(w.ctx, plain, r, solve.Max, d.exactly())
			if err != nil {
				return nil, err
			}
			for _, x := range v.Exact {
				if x == nil {
					return nil, errors.New("several objectives with a reward that is to be great and may be collected for ever")
				}
			}
			d.most[i] = v.Exact
			continue
		}
		for c := range plain.NumChoices() {
			if r.ChoiceRat[c] != nil {
				free.Remove(c)
			}
		}
	}
	if d.ends, err = plain.EndComponents(w.ctx, nil, free); err != nil {
		return nil, err
	}
	d.graph = d.ending()
	return d, d.least(plain)
}

func (d *drawn) exactly() solve.Options {
	return solve.Options{Exact: true, MaxWork: maxWork, Scheduler: true}
}

// ending is the product with a choice that leads to an end, the last of each state in an
// end component where nothing is lost.
func (d *drawn) ending() *sparse.Graph {
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

// least makes the column x of package several.
func (d *drawn) least(plain *sparse.Graph) error {
	r := doubles(d.product.Small())
	v, err := solve.TotalReward(d.ctx, plain, r, solve.Min, d.exactly())
	if err != nil {
		return err
	}
	in := &work{Prover: &Prover{Skeleton: &Skeleton{File: certificate.File{Model: d.product.Model}}, graph: plain, opts: d.opts}, ctx: d.ctx, Vector: &certificate.Vector{}, effort: fractions, earned: r}
	in.write(v)
	if err := in.totalRanks(v); err != nil {
		return err
	}
	d.Vector.Lower, d.Rank, d.Layer = in.Lower, in.Rank, in.Layer
	return nil
}

// column is an exact vector, infinite where nothing is known to be finite.
func column(v *solve.Values) *certificate.Values {
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

// improve finds the weights and the shares.
func (d *drawn) improve() (weights, shares []*big.Rat, err error) {
	for { // every scheduler is new, and there are finitely many
		reached := false
		if weights, shares, reached, err = d.program(); err != nil {
			return nil, nil, err
		}
		if reached && d.Several.Query() == nil {
			return nil, shares, nil
		}
		best := d.weighed(weights)
		n := len(d.points)
		if err := d.ask(weights); err != nil {
			return nil, nil, err
		}
		now := d.weighed(weights)
		if n > 0 && now.Cmp(best) <= 0 {
			return weights, shares, nil
		}
		if len(d.points) > maxImprovements {
			return nil, nil, errors.New("several objectives that take too many schedulers")
		}
	}
}

// weighed is the best weighted sum of the points.
func (d *drawn) weighed(weights []*big.Rat) (best *big.Rat) {
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

// program solves the linear programs about the points that are known: the best mean that
// keeps the bounds, and weights that show it is. Before one keeps them, weights of a plane
// that separates the points from the bounds.
func (d *drawn) program() (weights, shares []*big.Rat, reached bool, err error) {
	if len(d.points) == 0 {
		for range d.Several.Objectives {
			weights = append(weights, big.NewRat(1, 1))
		}
		return weights, nil, false, nil
	}
	query := slices.IndexFunc(d.Several.Objectives, func(o certificate.Objective) bool { return o.Bound == nil })
	shares, err = d.mean(query)
	reached = err == nil
	if err != nil && !errors.Is(err, solve.ErrInfeasible) || reached && query < 0 {
		return nil, shares, reached, err
	}
	weights, err = d.plane(query, reached)
	return weights, shares, reached, err
}

// limit is what points are to have at least of an objective with a bound.
func (d *drawn) limit(i int) *big.Rat {
	o := &d.Several.Objectives[i]
	if o.Great {
		return o.Bound
	}
	return new(big.Rat).Neg(o.Bound)
}

// mean is the best mean of the points that keeps the bounds.
func (d *drawn) mean(query int) (shares []*big.Rat, err error) {
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
		p.Row(d.limit(i), append(row, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	_, at, err := p.Maximize(d.ctx)
	if err != nil {
		return nil, err
	}
	return at[:len(d.points)], nil
}

// plane is the dual: weights for which the points have as little as possible more than the
// bounds. That of the query is 1 if they can be kept; if not, the others sum to 1.
func (d *drawn) plane(query int, reached bool) ([]*big.Rat, error) {
	p := &solve.LinearProgram{}
	one, n := big.NewRat(1, 1), len(d.Several.Objectives)
	for range n {
		p.Variable()
	}
	plus, minus := p.Variable(), p.Variable() // what the points have at most
	p.Objective[plus], p.Objective[minus] = big.NewRat(-1, 1), one
	var sum []solve.Term
	for i := range n {
		if i != query {
			p.Objective[i] = d.limit(i)
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
		row = append(row, solve.Term{Var: plus, Coeff: big.NewRat(-1, 1)}, solve.Term{Var: minus, Coeff: one}, solve.Term{Var: p.Variable(), Coeff: one})
		p.Row(new(big.Rat), row...)
	}
	_, at, err := p.Maximize(d.ctx)
	if err != nil {
		return nil, err
	}
	return at[:n], nil
}

// costs are what choices lose, weighted: of what is to be small what they earn, of what is
// to be great what they take off the most that can be had.
func (d *drawn) costs(weights []*big.Rat) *sparse.Reward {
	g, m := d.graph, d.product.Model
	rats := make([]*big.Rat, g.NumChoices())
	term := new(big.Rat)
	for s := range m.NumStates() {
		from, last := g.Choices(s)
		first, end := m.Choices(s)
		for c := from; c < last; c++ {
			rats[c] = new(big.Rat)
			of := first + c - from
			for i, r := range d.product.Rewards {
				x := new(big.Rat)
				if most := d.most[i]; most != nil {
					x.Set(most[s])
				}
				if of < end {
					if lo, hi := m.Row(of); d.most[i] != nil {
						x.Sub(x, r.Rats[r.Of[of]])
						for t := lo; t < hi; t++ {
							x.Sub(x, term.Mul(m.Numbers[m.Prob[t]], d.most[i][m.Target[t]]))
						}
					} else {
						x.Set(r.Rats[r.Of[of]])
					}
				}
				rats[c].Add(rats[c], x.Mul(x, weights[i]))
			}
		}
	}
	of := make([]uint32, len(rats))
	for c := range rats {
		if of[c] = uint32(c); rats[c] == nil {
			rats[c] = new(big.Rat)
		}
	}
	return doubles(certificate.NewRewards(of, rats))
}

// cheapest is the least loss until the end.
func (d *drawn) cheapest(weights []*big.Rat) (*solve.Values, error) {
	end := sparse.NewSet(d.graph.NumStates())
	end.Add(d.product.NumStates())
	v, err := solve.ReachReward(d.ctx, d.graph, d.costs(weights), end, solve.Min, d.exactly())
	if err == nil && v.Exact[0] == nil {
		err = errors.New("several objectives with one to be small that no scheduler keeps finite")
	}
	return v, err
}

// ask finds the scheduler that is best for weights, and what it has.
func (d *drawn) ask(weights []*big.Rat) error {
	v, err := d.cheapest(weights)
	if err != nil {
		return err
	}
	m := d.product.Model
	how := make([]uint32, m.NumStates())
	stay := make(map[uint32]bool) // end components in which some state ends
	for s := range how {
		first, end := d.graph.Choices(s)
		if c := v.Scheduler[s]; c != sparse.None {
			how[s] = c - uint32(first)
		}
		if own, last := m.Choices(s); int(how[s]) == last-own && end-first > last-own {
			stay[d.ends.ID[s]] = true
		}
	}
	for s := range how {
		if id := d.ends.ID[s]; id != sparse.None && stay[id] {
			first, end := m.Choices(s)
			for c := first; c < end; c++ {
				if d.ends.Choices.Has(c) {
					how[s] = uint32(c - first)
				}
			}
		}
	}
	point, columns, err := d.evaluate(d.ctx, how)
	if err == nil {
		d.points, d.how, d.columns = append(d.points, point), append(d.how, how), append(d.columns, columns)
	}
	return err
}

// evaluate computes what a scheduler has of each objective.
func (d *drawn) evaluate(ctx context.Context, how []uint32) (point []*big.Rat, columns []*solve.Values, err error) {
	chain, choices, err := d.product.Chain(how)
	if err != nil {
		return nil, nil, err
	}
	g := graphOf(chain)
	for i, o := range d.Several.Objectives {
		v, err := solve.TotalReward(ctx, g, doubles(d.product.Along(i, choices)), solve.Max, d.exactly())
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
		point, columns = append(point, x), append(columns, v)
	}
	return point, columns, nil
}

// ranked ranks the states of the chain of scheduler j by how near they are to earning of
// objective i, if that is to be great.
func (d *drawn) ranked(i, j int, v *solve.Values) []uint32 {
	if !d.Several.Objectives[i].Great {
		return nil
	}
	chain, choices, err := d.product.Chain(d.how[j])
	if err != nil {
		return nil
	}
	r := d.product.Along(i, choices)
	to, open := sparse.NewSet(len(choices)), sparse.NewSet(len(choices))
	for s := range choices {
		if open.Add(s); v.Exact[s].Sign() == 0 || r.Positive(s) {
			to.Add(s)
		}
	}
	return nearer(graphOf(chain), to, open, func(int, int) bool { return true })
}

// upper makes the column y of package several for weights, nil for no bound.
func (d *drawn) upper(weights []*big.Rat) error {
	if weights == nil {
		return nil
	}
	v, err := d.cheapest(weights)
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
		for i, most := range d.most {
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
