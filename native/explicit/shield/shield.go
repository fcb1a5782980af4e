package shield

import (
	"context"
	"errors"
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
}

// Shield is the choices that are allowed.
type Shield struct {
	*Question
	graph *sparse.Graph
	// Value is the best probability in each state, Of that of each choice if play is
	// the best after it.
	Value, Of []*big.Rat
	// Allowed are choices; each state has one. Where the formula is decided all are.
	Allowed *sparse.Set
	// Loss is the loss of one choice that is allowed, relative if that was asked for; nil if
	// only a best scheduler is left, which is what Total comes to where nothing else keeps
	// its promise.
	Loss *big.Rat

	relative bool
	best     []uint32 // a scheduler that attains the value
}

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
	var err error
	if x.Value, x.best, err = x.solve(ctx, x.graph, x.Max); err != nil {
		return nil, err
	}
	x.rate()
	if !opts.Total {
		x.Loss = opts.Threshold
		x.Allowed = x.within(x.Loss)
		return x, nil
	}
	return x, x.total(ctx, opts.Threshold)
}

// solve returns the best or worst probability of the formula, and a scheduler.
func (q *Question) solve(ctx context.Context, g *sparse.Graph, largest bool) ([]*big.Rat, []uint32, error) {
	dir := solve.Min
	if largest != q.Negated {
		dir = solve.Max
	}
	v, err := solve.Until(ctx, g, q.Left, q.Right, dir, solve.Options{Exact: true, Scheduler: g.Kind == sparse.MDP})
	if err != nil {
		return nil, nil, err
	}
	out := v.Exact
	if q.Negated {
		out = make([]*big.Rat, len(v.Exact))
		for s, p := range v.Exact {
			out[s] = new(big.Rat).Sub(one, p)
		}
	}
	return out, v.Scheduler, nil
}

var one = big.NewRat(1, 1)

// decided reports whether nothing that happens after a state matters.
func (q *Question) decided(s int) bool { return q.Right.Has(s) || !q.Left.Has(s) }

// rate computes the values of choices.
func (x *Shield) rate() {
	m := x.Space.Model()
	x.Of = make([]*big.Rat, m.NumChoices())
	term := new(big.Rat)
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if x.decided(s) {
				x.Of[c] = x.Value[s]
				continue
			}
			sum := new(big.Rat)
			from, to := m.Row(c)
			for i := from; i < to; i++ {
				sum.Add(sum, term.Mul(m.Rat(i), x.Value[m.Target[i]]))
			}
			x.Of[c] = sum
		}
	}
}

// loss is what a choice of a state loses; relative to the best value if so asked, where 0
// to 0 is no loss, and nil is more than any share.
func (x *Shield) loss(s, c int) *big.Rat {
	d := new(big.Rat).Sub(x.Value[s], x.Of[c])
	d.Abs(d)
	if !x.relative || d.Sign() == 0 {
		return d
	}
	if x.Value[s].Sign() == 0 {
		return nil
	}
	return d.Quo(d, x.Value[s])
}

// within returns the choices that lose no more than a threshold.
func (x *Shield) within(threshold *big.Rat) *sparse.Set {
	m := x.Space.Model()
	out := sparse.NewSet(m.NumChoices())
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if d := x.loss(s, c); d != nil && d.Cmp(threshold) <= 0 {
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
			if d := x.loss(s, c); d != nil {
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
		x.Allowed = x.within(losses[k])
		kept, err := x.kept(ctx, threshold)
		failure = err
		return !kept
	})
	if failure != nil {
		return failure
	}
	if k > 0 {
		x.Loss = losses[k-1]
		x.Allowed = x.within(x.Loss)
		return nil
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
	worst, _, err := x.solve(ctx, sparse.NewGraph(x.restricted()), !x.Max)
	if err != nil {
		return false, err
	}
	for _, s := range x.Space.Model().Initial {
		limit := new(big.Rat).Set(threshold)
		if x.relative {
			limit.Mul(limit, x.Value[s])
		}
		d := new(big.Rat).Sub(x.Value[s], worst[s])
		if d.Abs(d).Cmp(limit) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// restricted returns the model with the choices that are allowed.
func (x *Shield) restricted() *sparse.Model {
	m := x.Space.Model()
	out := &sparse.Model{Kind: sparse.MDP, First: []uint32{0}, Start: []uint32{0}, Weights: m.Weights, Rats: m.Rats, Err: m.Err, Initial: m.Initial}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if x.Allowed.Has(c) {
				from, to := m.Row(c)
				out.Target, out.Weight = append(out.Target, m.Target[from:to]...), append(out.Weight, m.Weight[from:to]...)
				out.Start = append(out.Start, uint32(len(out.Target)))
			}
		}
		out.First = append(out.First, uint32(len(out.Start)-1))
	}
	return out
}

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
