package shield

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sort"

	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Question is the probability that a shield keeps: that of Left U Right, or of its negation if Negated
// is set, maximized or minimized.
type Question struct {
	Space       *explicit.Space // an MDP with exact weights
	Left, Right *sparse.Set
	Negated     bool
	Max         bool
}

// Options control how much the probability may differ from the best one.
type Options struct {
	// Threshold is the loss that one choice may cause, at least 0. With Relative it is a fraction of
	// the best value.
	Threshold *big.Rat
	Relative  bool
	// Total applies the threshold to the worst scheduler instead: the allowed loss of one choice is the
	// greatest for which no scheduler loses more.
	Total bool
	// Exact computes in rational arithmetic from the start. Otherwise that happens only where bounds do
	// not decide whether a choice is allowed, and with Total.
	Exact bool
}

// Number is a probability: bounds, and the exact value if it is known.
type Number struct {
	Lower, Upper float64
	Exact        *big.Rat
}

// exactNumber returns a Number with a known value.
func exactNumber(x *big.Rat) Number {
	f, exact := x.Float64()
	if exact {
		return Number{f, f, x}
	}
	return Number{math.Nextafter(f, -1), math.Nextafter(f, 2), x}
}

// Value returns the float64 nearest to the exact value, or the midpoint of the bounds.
func (n Number) Value() float64 {
	if n.Exact != nil {
		f, _ := n.Exact.Float64()
		return f
	}
	return n.Lower + (n.Upper-n.Lower)/2
}

// Same reports whether two numbers are equal. Without exact values it reports whether they may be
// equal.
func (n Number) Same(o Number) bool {
	if n.Exact != nil && o.Exact != nil {
		return n.Exact.Cmp(o.Exact) == 0
	}
	return n.Lower <= o.Upper && o.Lower <= n.Upper
}

// values are the probabilities of states or choices.
type values struct {
	lower, upper []float64
	exact        []*big.Rat // nil if only bounds are known
}

func (n *values) number(i int) Number {
	if n.exact != nil {
		return exactNumber(n.exact[i])
	}
	return Number{Lower: n.lower[i], Upper: n.upper[i]}
}

// Shield is the set of choices that are allowed.
type Shield struct {
	*Question
	graph *sparse.Graph
	// Allowed are the allowed choices, at least one in each state. All are allowed in states where the
	// formula is decided.
	Allowed *sparse.Set
	// Loss is the loss that one choice may cause, relative if that was asked for. It is nil if only a
	// best scheduler is allowed, because with Total nothing else is within the threshold.
	Loss *big.Rat

	relative                bool
	stateValue, choiceValue *values  // the best probability of each state, and of each choice followed by best choices
	bestChoice              []uint32 // a scheduler that attains stateValue
}

// Value returns the best probability of a state.
func (x *Shield) Value(s int) Number { return x.stateValue.number(s) }

// Of returns the probability of a choice that is followed by best choices.
func (x *Shield) Of(c int) Number { return x.choiceValue.number(c) }

var (
	errNoChoices = errors.New("the model has no choices, want an MDP for a shield")
	errInexact   = errors.New("a shield needs exact probabilities")
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
	const usable = 1e-12 // otherwise weights are out of the range of float64
	if !opts.Exact && !opts.Total && m.Err < usable {
		if err := x.computeValues(ctx, false); err != nil {
			return nil, err
		}
		decided, err := x.allowByBounds(ctx, opts.Threshold)
		if err != nil {
			return nil, err
		}
		if decided {
			x.Loss = opts.Threshold
			return x, nil
		}
	}
	if err := x.computeValues(ctx, true); err != nil {
		return nil, err
	}
	if !opts.Total {
		x.Loss = opts.Threshold
		x.Allowed = x.choicesWithin(ctx, x.Loss)
		return x, ctx.Err()
	}
	return x, x.allowByTotalLoss(ctx, opts.Threshold)
}

// FromAllowed returns a Shield with given allowed choices, at least one of each state. Only its method Model may
// be called.
func FromAllowed(space *explicit.Space, allowed *sparse.Set) *Shield {
	return &Shield{Question: &Question{Space: space}, Allowed: allowed}
}

// computeValues computes the values of states and choices.
func (x *Shield) computeValues(ctx context.Context, exact bool) error {
	var err error
	if x.stateValue, x.bestChoice, err = x.solve(ctx, x.graph, x.Max, exact); err != nil {
		return err
	}
	if exact {
		return x.computeChoiceValues(ctx)
	}
	x.computeChoiceBounds()
	return nil
}

// epsilon is the width of bounds. Thresholds usually are much greater.
const epsilon = 1e-12

// solve returns the maximal or minimal probability of the formula, and a scheduler.
func (q *Question) solve(ctx context.Context, g *sparse.Graph, maximize, exact bool) (*values, []uint32, error) {
	dir := solve.Min
	if maximize != q.Negated {
		dir = solve.Max
	}
	v, err := solve.Until(ctx, g, q.Left, q.Right, dir, solve.Options{Exact: exact, Epsilon: epsilon, Scheduler: g.Kind == sparse.MDP})
	if err != nil {
		return nil, nil, err
	}
	out := &values{lower: v.Lower, upper: v.Upper, exact: v.Exact}
	switch {
	case !q.Negated:
	case exact:
		out.exact = make([]*big.Rat, len(v.Exact))
		for s, p := range v.Exact {
			out.exact[s] = new(big.Rat).Sub(one, p)
		}
	default:
		out = &values{lower: make([]float64, len(v.Lower)), upper: make([]float64, len(v.Lower))}
		for s := range v.Lower {
			out.lower[s], out.upper[s] = roundDown(1-v.Upper[s]), roundUp(1-v.Lower[s])
		}
	}
	return out, v.Scheduler, nil
}

// roundDown and roundUp round the result of a few operations outwards, and limit it to a probability.
func roundDown(x float64) float64 { return min(max(0, math.Nextafter(x, -1)), 1) }

func roundUp(x float64) float64 { return min(max(0, math.Nextafter(x, 2)), 1) }

// computeChoiceBounds computes bounds on the values of choices.
func (x *Shield) computeChoiceBounds() {
	m := x.Space.Model()
	x.choiceValue = &values{lower: make([]float64, m.NumChoices()), upper: make([]float64, m.NumChoices())}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if x.decided(s) {
				x.choiceValue.lower[c], x.choiceValue.upper[c] = x.stateValue.lower[s], x.stateValue.upper[s]
				continue
			}
			low, high := 0.0, 0.0
			from, to := m.Row(c)
			for i := from; i < to; i++ {
				w := m.Weights[m.Weight[i]]
				low += float64(w * x.stateValue.lower[m.Target[i]])
				high += float64(w * x.stateValue.upper[m.Target[i]])
			}
			// All terms are nonnegative. Each has the error of its weight and of a product, and each sum one more.
			e := m.Err + float64(to-from+3)*0x1p-53
			x.choiceValue.lower[c], x.choiceValue.upper[c] = roundDown(low*(1-e)), roundUp(high*(1+e))
		}
	}
}

// allowByBounds allows the choices whose loss is within the threshold. Choices that bounds do not
// decide are decided exactly, if that needs at most half of the states. It reports whether all are
// decided.
func (x *Shield) allowByBounds(ctx context.Context, threshold *big.Rat) (bool, error) {
	m := x.Space.Model()
	x.Allowed = sparse.NewSet(m.NumChoices())
	undecided, states := sparse.NewSet(m.NumChoices()), sparse.NewSet(m.NumStates())
	d, _ := threshold.Float64()
	for s := range m.NumStates() {
		if s&0xffff == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		first, end := m.Choices(s)
		thresholdLow, thresholdHigh := d*(1-0x1p-50), d*(1+0x1p-50)
		if x.relative {
			thresholdLow, thresholdHigh = thresholdLow*x.stateValue.lower[s], thresholdHigh*x.stateValue.upper[s]
		}
		for c := first; c < end; c++ {
			best, value := [2]float64{x.stateValue.lower[s], x.stateValue.upper[s]}, [2]float64{x.choiceValue.lower[c], x.choiceValue.upper[c]}
			if !x.Max {
				best, value = value, best
			}
			const slack = 0x1p-50 // rounding error of the differences of probabilities
			switch {
			case x.decided(s) || end-first == 1 || best[1]-value[0]+slack <= thresholdLow:
				x.Allowed.Add(c)
			case !(best[0]-value[1]-slack > thresholdHigh):
				undecided.Add(c)
				states.Add(s)
			}
		}
	}
	if undecided.Empty() {
		return true, nil
	}
	relevant := x.relevantChoices(undecided, states)
	reachable := reachableFrom(m.Restrict(relevant), states)
	if reachable.Count() > m.NumStates()/2 {
		return false, nil
	}
	return true, x.allowExactly(ctx, threshold, relevant, undecided, states, reachable)
}

// relevantChoices returns the choices that the exact computation needs: the undecided ones, and those
// that may be the best of their state according to the bounds.
func (x *Shield) relevantChoices(undecided, states *sparse.Set) *sparse.Set {
	m := x.Space.Model()
	out := undecided.Clone()
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if x.Max && x.choiceValue.upper[c] >= x.stateValue.lower[s] || !x.Max && x.choiceValue.lower[c] <= x.stateValue.upper[s] {
				out.Add(c)
			}
		}
	}
	return out
}

// allowExactly allows undecided choices whose exact loss is within the threshold. relevant are the
// choices that may be best, reachable the states they lead to.
func (x *Shield) allowExactly(ctx context.Context, threshold *big.Rat, relevant, undecided, states, reachable *sparse.Set) error {
	subproblem := &Shield{Question: &Question{Space: x.Space, Left: x.Left.Intersect(reachable), Right: x.Right, Negated: x.Negated, Max: x.Max}, graph: x.graph, relative: x.relative}
	var err error
	if subproblem.stateValue, _, err = subproblem.solve(ctx, sparse.NewGraph(x.Space.Model().Restrict(relevant)), x.Max, true); err != nil {
		return err
	}
	m := x.Space.Model()
	for s := range states.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if undecided.Has(c) && atMost(subproblem.lossOf(s, subproblem.exactChoiceValue(s, c)), threshold) {
				x.Allowed.Add(c)
			}
		}
	}
	return nil
}

// atMost reports whether a loss is at most the threshold; nil is an infinite loss.
func atMost(loss, threshold *big.Rat) bool { return loss != nil && loss.Cmp(threshold) <= 0 }

var one = big.NewRat(1, 1)

// decided reports whether the formula is decided in a state.
func (q *Question) decided(s int) bool { return q.Right.Has(s) || !q.Left.Has(s) }

// computeChoiceValues computes the exact values of choices.
func (x *Shield) computeChoiceValues(ctx context.Context) error {
	m := x.Space.Model()
	x.choiceValue = &values{exact: make([]*big.Rat, m.NumChoices())}
	for s := range m.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			x.choiceValue.exact[c] = x.exactChoiceValue(s, c)
		}
	}
	return nil
}

func (x *Shield) exactChoiceValue(s, c int) *big.Rat {
	if x.decided(s) {
		return x.stateValue.exact[s]
	}
	m := x.Space.Model()
	sum, term := new(big.Rat), new(big.Rat)
	from, to := m.Row(c)
	for i := from; i < to; i++ {
		sum.Add(sum, term.Mul(m.Rat(i), x.stateValue.exact[m.Target[i]]))
	}
	return sum
}

// lossOf returns the loss of a choice with the given value. A relative loss is divided by the best
// value; it is 0 if both values are 0, and nil (infinite) if only the best one is.
func (x *Shield) lossOf(s int, value *big.Rat) *big.Rat {
	loss := new(big.Rat).Sub(x.stateValue.exact[s], value)
	loss.Abs(loss)
	if !x.relative || loss.Sign() == 0 {
		return loss
	}
	if x.stateValue.exact[s].Sign() == 0 {
		return nil
	}
	return loss.Quo(loss, x.stateValue.exact[s])
}

// choicesWithin returns the choices whose loss is at most the threshold. The result is incomplete if
// the context has ended.
func (x *Shield) choicesWithin(ctx context.Context, threshold *big.Rat) *sparse.Set {
	m := x.Space.Model()
	out := sparse.NewSet(m.NumChoices())
	for s := range m.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			break
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if atMost(x.lossOf(s, x.choiceValue.exact[c]), threshold) {
				out.Add(c)
			}
		}
	}
	return out
}

// allowByTotalLoss searches the greatest loss of one choice for which the worst scheduler loses at most
// the threshold from any initial state. If there is none, it allows only a best scheduler.
func (x *Shield) allowByTotalLoss(ctx context.Context, threshold *big.Rat) error {
	var losses []*big.Rat
	m := x.Space.Model()
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if d := x.lossOf(s, x.choiceValue.exact[c]); d != nil {
				losses = append(losses, d)
			}
		}
	}
	slices.SortFunc(losses, (*big.Rat).Cmp)
	losses = slices.CompactFunc(losses, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	var failed error
	k := sort.Search(len(losses), func(k int) bool {
		if failed != nil {
			return true
		}
		x.Allowed = x.choicesWithin(ctx, losses[k])
		kept, err := x.totalLossAllowed(ctx, threshold)
		failed = err
		return !kept
	})
	if failed != nil {
		return failed
	}
	if k > 0 {
		x.Loss = losses[k-1]
		x.Allowed = x.choicesWithin(ctx, x.Loss)
		return ctx.Err()
	}
	x.Allowed = sparse.NewSet(m.NumChoices())
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		if c := x.bestChoice[s]; c != sparse.None {
			first, end = int(c), int(c)+1
		}
		for c := first; c < end; c++ {
			x.Allowed.Add(c)
		}
	}
	return nil
}

// totalLossAllowed reports whether the worst allowed scheduler loses at most the threshold.
func (x *Shield) totalLossAllowed(ctx context.Context, threshold *big.Rat) (bool, error) {
	worst, _, err := x.solve(ctx, sparse.NewGraph(x.restricted()), !x.Max, true)
	if err != nil {
		return false, err
	}
	for _, s := range x.Space.Model().Initial {
		limit := new(big.Rat).Set(threshold)
		if x.relative {
			limit.Mul(limit, x.stateValue.exact[s])
		}
		d := new(big.Rat).Sub(x.stateValue.exact[s], worst.exact[s])
		if d.Abs(d).Cmp(limit) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// restricted returns the model with the allowed choices only.
func (x *Shield) restricted() *sparse.Model { return x.Space.Model().Restrict(x.Allowed) }

// Correction returns the choice that replaces c in state s: c itself if it is allowed, and a best
// choice otherwise.
func (x *Shield) Correction(s, c int) int {
	if x.Allowed.Has(c) {
		return c
	}
	if b := x.bestChoice[s]; b != sparse.None {
		return int(b)
	}
	first, end := x.Space.Model().Choices(s)
	for d := first; d < end; d++ {
		if x.Allowed.Has(d) {
			return d
		}
	}
	return c // unreachable: every state has an allowed choice
}
