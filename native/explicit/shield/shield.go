package shield

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sort"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// Question is which probability is to be kept: that of Left U Right, or, if Negated, of
// its negation; as large as possible, or as small.
type Question struct {
	Space       *explicit.Space // of an MDP, with fractions
	Left, Right *sparse.Set
	Negated     bool
	Max         bool
}

// Options say how close.
type Options struct {
	// Threshold is the loss of one choice that is allowed: at least 0. Relative says that
	// it is a share of the best value, of which the choice keeps the rest.
	Threshold *big.Rat
	Relative  bool
	// Total says that the threshold is for the loss of a whole path: that of one choice
	// is the greatest for which the worst scheduler loses no more.
	Total bool
	// Exact asks for fractions at once. Otherwise there are fractions where bounds leave open whether a choice is allowed, and
	// with Total.
	Exact bool
}

// Number is a probability: bounds that contain it, and the fraction if there are fractions.
type Number struct {
	Lower, Upper float64
	Exact        *big.Rat
}

// fraction is a number that is known.
func fraction(x *big.Rat) Number {
	f, exact := x.Float64()
	if exact {
		return Number{f, f, x}
	}
	return Number{math.Nextafter(f, -1), math.Nextafter(f, 2), x}
}

// Value is the fraction to the nearest double, or the middle of the bounds.
func (n Number) Value() float64 {
	if n.Exact != nil {
		f, _ := n.Exact.Float64()
		return f
	}
	return n.Lower + (n.Upper-n.Lower)/2
}

// Same reports whether two numbers are equal, or, without fractions, may be.
func (n Number) Same(o Number) bool {
	if n.Exact != nil && o.Exact != nil {
		return n.Exact.Cmp(o.Exact) == 0
	}
	return n.Lower <= o.Upper && o.Lower <= n.Upper
}

// numbers are those of states or choices.
type numbers struct {
	lower, upper []float64
	exact        []*big.Rat // nil without fractions
}

func (n *numbers) at(i int) Number {
	if n.exact != nil {
		return fraction(n.exact[i])
	}
	return Number{Lower: n.lower[i], Upper: n.upper[i]}
}

// Shield is the choices that are allowed.
type Shield struct {
	*Question
	graph *sparse.Graph
	// Allowed are choices; each state has one. Where the formula is decided all are.
	Allowed *sparse.Set
	// Loss is the loss of one choice that is allowed, relative if that was asked for; nil if
	// only a best scheduler is left, which is what Total comes to where nothing else keeps
	// its promise.
	Loss *big.Rat

	relative  bool
	value, of *numbers // the best probability in each state, and that of each choice if play is the best after it
	best      []uint32 // a scheduler that attains the value
}

// Value is the best probability in a state.
func (x *Shield) Value(s int) Number { return x.value.at(s) }

// Of is the probability of a choice if play is the best after it.
func (x *Shield) Of(c int) Number { return x.of.at(c) }

var (
	errNoChoices = errors.New("the model has no choices, want an MDP for a shield")
	errInexact   = errors.New("the probabilities have no fractions, which a shield wants")
)

// New computes a shield. The error is the context's, or says why there is none.
func New(ctx context.Context, q *Question, opts *Options) (*Shield, error) {
	m := q.Space.Model()
	switch {
	case m.Kind != sparse.MDP:
		return nil, errNoChoices
	case !m.Exact() || m.Intervals():
		return nil, errInexact
	}
	x := &Shield{Question: q, graph: sparse.NewGraph(m), relative: opts.Relative}
	const usable = 1e-12 // weights beyond the range of doubles tell nothing
	if !opts.Exact && !opts.Total && m.Err < usable {
		if err := x.judge(ctx, false); err != nil {
			return nil, err
		}
		decided, err := x.bounded(ctx, opts.Threshold)
		if err != nil {
			return nil, err
		}
		if decided {
			x.Loss = opts.Threshold
			return x, nil
		}
	}
	if err := x.judge(ctx, true); err != nil {
		return nil, err
	}
	if !opts.Total {
		x.Loss = opts.Threshold
		x.Allowed = x.within(ctx, x.Loss)
		return x, ctx.Err()
	}
	return x, x.total(ctx, opts.Threshold)
}

// Of is the shield that allows choices which are known: at least one of each state. Of its methods only Model has an answer.
func Of(space *explicit.Space, allowed *sparse.Set) *Shield {
	return &Shield{Question: &Question{Space: space}, Allowed: allowed}
}

// judge computes the values of states and choices.
func (x *Shield) judge(ctx context.Context, exact bool) error {
	var err error
	if x.value, x.best, err = x.solve(ctx, x.graph, x.Max, exact); err != nil {
		return err
	}
	if exact {
		return x.rate(ctx)
	}
	x.bound()
	return nil
}

// epsilon is how wide bounds may be. Thresholds are much wider, as a rule.
const epsilon = 1e-12

// solve returns the best or worst probability of the formula, and a scheduler.
func (q *Question) solve(ctx context.Context, g *sparse.Graph, largest, exact bool) (*numbers, []uint32, error) {
	dir := solve.Min
	if largest != q.Negated {
		dir = solve.Max
	}
	v, err := solve.Until(ctx, g, q.Left, q.Right, dir, solve.Options{Exact: exact, Epsilon: epsilon, Scheduler: g.Kind == sparse.MDP})
	if err != nil {
		return nil, nil, err
	}
	out := &numbers{lower: v.Lower, upper: v.Upper, exact: v.Exact}
	switch {
	case !q.Negated:
	case exact:
		out.exact = make([]*big.Rat, len(v.Exact))
		for s, p := range v.Exact {
			out.exact[s] = new(big.Rat).Sub(one, p)
		}
	default:
		out = &numbers{lower: make([]float64, len(v.Lower)), upper: make([]float64, len(v.Lower))}
		for s := range v.Lower {
			out.lower[s], out.upper[s] = down(1-v.Upper[s]), up(1-v.Lower[s])
		}
	}
	return out, v.Scheduler, nil
}

// down and up round a number of at most a few units outwards, and keep it a probability.
func down(x float64) float64 { return min(max(0, math.Nextafter(x, -1)), 1) }

func up(x float64) float64 { return min(max(0, math.Nextafter(x, 2)), 1) }

// bound computes bounds on the values of choices.
func (x *Shield) bound() {
	m := x.Space.Model()
	x.of = &numbers{lower: make([]float64, m.NumChoices()), upper: make([]float64, m.NumChoices())}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if x.decided(s) {
				x.of.lower[c], x.of.upper[c] = x.value.lower[s], x.value.upper[s]
				continue
			}
			low, high := 0.0, 0.0
			from, to := m.Row(c)
			for i := from; i < to; i++ {
				w := m.Weights[m.Weight[i]]
				low += float64(w * x.value.lower[m.Target[i]])
				high += float64(w * x.value.upper[m.Target[i]])
			}
			// Terms are at least 0: each has the error of its weight and of a product, and every sum one of its own.
			e := m.Err + float64(to-from+3)*0x1p-53
			x.of.lower[c], x.of.upper[c] = down(low*(1-e)), up(high*(1+e))
		}
	}
}

// bounded finds the choices that lose no more than a threshold. Of those of which bounds do not
// tell, fractions do, if they need those of no more than half of the states: it reports whether all are known.
func (x *Shield) bounded(ctx context.Context, threshold *big.Rat) (bool, error) {
	m := x.Space.Model()
	x.Allowed = sparse.NewSet(m.NumChoices())
	open, states := sparse.NewSet(m.NumChoices()), sparse.NewSet(m.NumStates())
	d, _ := threshold.Float64()
	for s := range m.NumStates() {
		if s&0xffff == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		first, end := m.Choices(s)
		low, high := d*(1-0x1p-50), d*(1+0x1p-50)
		if x.relative {
			low, high = low*x.value.lower[s], high*x.value.upper[s]
		}
		for c := first; c < end; c++ {
			best, worse := [2]float64{x.value.lower[s], x.value.upper[s]}, [2]float64{x.of.lower[c], x.of.upper[c]}
			if !x.Max {
				best, worse = worse, best
			}
			const slack = 0x1p-50 // of the subtraction of probabilities
			switch {
			case x.decided(s) || end-first == 1 || best[1]-worse[0]+slack <= low:
				x.Allowed.Add(c)
			case !(best[0]-worse[1]-slack > high):
				open.Add(c)
				states.Add(s)
			}
		}
	}
	if open.Empty() {
		return true, nil
	}
	matters := x.contenders(open, states)
	later := reached(m.Restrict(matters), states)
	if later.Count() > m.NumStates()/2 {
		return false, nil
	}
	return true, x.settle(ctx, threshold, matters, open, states, later)
}

// contenders are the choices that fractions are wanted of: those that may be the best of their state, as far
// as bounds tell, and those that are open, of some states.
func (x *Shield) contenders(open, states *sparse.Set) *sparse.Set {
	m := x.Space.Model()
	out := open.Clone()
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if x.Max && x.of.upper[c] >= x.value.lower[s] || !x.Max && x.of.lower[c] <= x.value.upper[s] {
				out.Add(c)
			}
		}
	}
	return out
}

// settle allows those of some choices that lose no more than a threshold, given their states, and
// all that can be reached from these by choices that matter.
func (x *Shield) settle(ctx context.Context, threshold *big.Rat, matters, open, states, later *sparse.Set) error {
	part := &Shield{Question: &Question{Space: x.Space, Left: x.Left.Intersect(later), Right: x.Right, Negated: x.Negated, Max: x.Max}, graph: x.graph, relative: x.relative}
	var err error
	if part.value, _, err = part.solve(ctx, sparse.NewGraph(x.Space.Model().Restrict(matters)), x.Max, true); err != nil {
		return err
	}
	m := x.Space.Model()
	for s := range states.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if open.Has(c) && atMost(part.loss(s, part.rated(s, c)), threshold) {
				x.Allowed.Add(c)
			}
		}
	}
	return nil
}

// atMost compares a loss, of which nil is more than anything.
func atMost(loss, threshold *big.Rat) bool { return loss != nil && loss.Cmp(threshold) <= 0 }

var one = big.NewRat(1, 1)

// decided reports whether nothing that happens after a state matters.
func (q *Question) decided(s int) bool { return q.Right.Has(s) || !q.Left.Has(s) }

// rate computes the values of choices.
func (x *Shield) rate(ctx context.Context) error {
	m := x.Space.Model()
	x.of = &numbers{exact: make([]*big.Rat, m.NumChoices())}
	for s := range m.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			x.of.exact[c] = x.rated(s, c)
		}
	}
	return nil
}

// rated is the value of a choice of a state.
func (x *Shield) rated(s, c int) *big.Rat {
	if x.decided(s) {
		return x.value.exact[s]
	}
	m := x.Space.Model()
	sum, term := new(big.Rat), new(big.Rat)
	from, to := m.Row(c)
	for i := from; i < to; i++ {
		sum.Add(sum, term.Mul(m.Rat(i), x.value.exact[m.Target[i]]))
	}
	return sum
}

// loss is what a choice of a state loses, given its value; relative to the best value if so asked,
// where 0 to 0 is no loss, and nil is more than any share.
func (x *Shield) loss(s int, of *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(x.value.exact[s], of)
	d.Abs(d)
	if !x.relative || d.Sign() == 0 {
		return d
	}
	if x.value.exact[s].Sign() == 0 {
		return nil
	}
	return d.Quo(d, x.value.exact[s])
}

// within returns the choices that lose no more than a threshold, not all of them once the context has ended.
func (x *Shield) within(ctx context.Context, threshold *big.Rat) *sparse.Set {
	m := x.Space.Model()
	out := sparse.NewSet(m.NumChoices())
	for s := range m.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			break
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if atMost(x.loss(s, x.of.exact[c]), threshold) {
				out.Add(c)
			}
		}
	}
	return out
}

// total finds the greatest loss of one choice for which the worst scheduler loses no more than
// a threshold, from any initial state.
func (x *Shield) total(ctx context.Context, threshold *big.Rat) error {
	var losses []*big.Rat
	m := x.Space.Model()
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if d := x.loss(s, x.of.exact[c]); d != nil {
				losses = append(losses, d)
			}
		}
	}
	slices.SortFunc(losses, (*big.Rat).Cmp)
	losses = slices.CompactFunc(losses, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	var failure error
	k := sort.Search(len(losses), func(k int) bool {
		if failure != nil {
			return true
		}
		x.Allowed = x.within(ctx, losses[k])
		kept, err := x.kept(ctx, threshold)
		failure = err
		return !kept
	})
	if failure != nil {
		return failure
	}
	if k > 0 {
		x.Loss = losses[k-1]
		x.Allowed = x.within(ctx, x.Loss)
		return ctx.Err()
	}
	x.Allowed = sparse.NewSet(m.NumChoices())
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		if c := x.best[s]; c != sparse.None {
			first, end = int(c), int(c)+1
		}
		for c := first; c < end; c++ {
			x.Allowed.Add(c)
		}
	}
	return nil
}

// kept reports whether the worst scheduler loses no more than a threshold.
func (x *Shield) kept(ctx context.Context, threshold *big.Rat) (bool, error) {
	worst, _, err := x.solve(ctx, sparse.NewGraph(x.restricted()), !x.Max, true)
	if err != nil {
		return false, err
	}
	for _, s := range x.Space.Model().Initial {
		limit := new(big.Rat).Set(threshold)
		if x.relative {
			limit.Mul(limit, x.value.exact[s])
		}
		d := new(big.Rat).Sub(x.value.exact[s], worst.exact[s])
		if d.Abs(d).Cmp(limit) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// restricted returns the model with the choices that are allowed.
func (x *Shield) restricted() *sparse.Model { return x.Space.Model().Restrict(x.Allowed) }

// Correction returns the choice that replaces another one of a state: itself if it is
// allowed, otherwise a best one.
func (x *Shield) Correction(s, c int) int {
	if x.Allowed.Has(c) {
		return c
	}
	if b := x.best[s]; b != sparse.None {
		return int(b)
	}
	first, end := x.Space.Model().Choices(s)
	for d := first; d < end; d++ {
		if x.Allowed.Has(d) {
			return d
		}
	}
	return c // not reached: every state has one that is allowed
}
