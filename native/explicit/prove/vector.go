package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// effort is how much is done for the columns of a vector: doubles as they come, and again
// for more of their digits; for a file, of which few bytes are to be written, bounds on a
// coarse grid instead, and doubles later, as a file has them as fractions; bounds on the
// finest grid that the checker is fast with; or fractions, which always satisfy their
// equations.
type effort int

const (
	coarse effort = iota
	free
	narrow
	fine
	floating
	fractions
)

// least is the effort to begin with.
func (p *Prover) least() effort {
	if p.opts.Ordered {
		return coarse
	}
	return free
}

// next is the next effort that is worth it.
func (p *Prover) next(e effort) (next effort, ok bool) {
	n := p.graph.NumStates()
	switch {
	case e == free:
		return narrow, true
	case e < fine:
		return fine, true
	case e == fine && p.opts.Ordered && n <= floatingStates:
		return floating, true
	case e < fractions && n <= exactStates:
		return fractions, true
	}
	return e, false
}

// floatingStates is the greatest number of states for which doubles are tried for a file.
const floatingStates = 1 << 20

// exactStates is the same for fractions.
const exactStates = 20_000

// digits is how many bits the greatest value has on the grid.
func (e effort) digits() int {
	return [...]int{coarse: 47, free: 1000, narrow: 1000, fine: 61, floating: 1000, fractions: 0}[e]
}

// unbound reports whether values are doubles as they come.
func (e effort) unbound() bool { return e == free || e == narrow || e == floating }

// bounds are the values of a vector as they are known.
type bounds struct {
	*solve.Values
	effort effort
}

// vector computes the columns of a vector, unless as much was done for them before.
func (p *Prover) vector(ctx context.Context, i int, e effort) (*bounds, error) {
	if b := p.values[i]; b != nil && (b.effort >= e || b.certain()) {
		return b, nil
	}
	w := &work{Prover: p, number: i, ctx: ctx, Vector: &p.Vectors[i], effort: e}
	values, err := w.compute()
	if err != nil {
		return nil, err
	}
	p.values[i] = &bounds{values, e}
	return p.values[i], nil
}

// certain reports whether all values are known exactly.
func (b *bounds) certain() bool {
	for s, x := range b.Lower {
		if x != b.Upper[s] {
			return false
		}
	}
	return b.Exact == nil
}

// work is a vector under way.
type work struct {
	*Prover
	*certificate.Vector
	number int
	ctx    context.Context
	effort effort
	grid   float64
	earned *sparse.Reward
}

func (w *work) direction() solve.Direction {
	if w.Max {
		return solve.Max
	}
	return solve.Min
}

func (w *work) options() solve.Options {
	o := solve.Options{Epsilon: w.opts.Epsilon}
	if w.effort == narrow {
		o.Epsilon = w.finer
	}
	if w.effort == fractions {
		o.Exact, o.MaxWork = true, maxWork
	} else {
		o.Grid = w.grid
	}
	return o
}

// maxWork is how many operations fractions may take: some seconds' worth.
const maxWork = 1 << 30

func (w *work) compute() (v *solve.Values, err error) {
	left, err := w.decided(w.ctx, w.Left, w.effort)
	if err != nil {
		return nil, err
	}
	right, err := w.decided(w.ctx, w.Right, w.effort)
	if err != nil {
		return nil, err
	}
	if w.Reward >= 0 {
		if w.earned, err = w.Prover.reward(w.Reward); err != nil {
			return nil, err
		}
	}
	if w.Timed != nil {
		return w.timed(left, right)
	}
	if w.Automaton != nil {
		return w.path()
	}
	g, dir := w.graph, w.direction()
	switch w.Kind {
	case certificate.Objectives:
		return w.severalObjectives()
	case certificate.Until:
		return w.until(left, right)
	case certificate.Steps:
		if w.To == solve.Unbounded {
			if _, err := w.until(left, right); err != nil {
				return nil, err
			}
		}
		w.grid = 0
		return solve.BoundedUntil(w.ctx, g, left, right, solve.Steps{Low: w.From, High: w.To}, dir, w.options())
	case certificate.Next:
		return solve.Next(w.ctx, g, right, dir, w.options())
	case certificate.Cumulative:
		return solve.CumulReward(w.ctx, g, w.earned, w.To, dir, w.options())
	case certificate.Instant:
		return solve.InstantReward(w.ctx, g, w.earned, w.To, dir, w.options())
	case certificate.ReachReward:
		return w.reachReward(right)
	case certificate.TotalReward:
		return w.totalReward()
	case certificate.Average:
		return w.average(right)
	}
	return nil, fmt.Errorf("there is no certificate of the kind %q", w.Kind)
}

func (w *work) until(left, right *sparse.Set) (*solve.Values, error) {
	w.grid = math.Ldexp(1, -w.effort.digits())
	var v *solve.Values
	if a := w.answered(&answer{left: left, right: right, dir: w.direction()}); a != nil && w.effort == w.least() {
		v = a.values
	} else {
		var err error
		if v, err = solve.Until(w.ctx, w.graph, left, right, w.direction(), w.options()); err != nil {
			return nil, err
		}
	}
	w.write(v)
	open := w.positive(v).Minus(right)
	w.Rank = w.ranks(w.progress(open, w.lower(v), nil), open)
	return v, nil
}

// progress ranks states so that something that ends the game comes nearer. For the
// maximum one choice does that which also proves a bound; for the minimum all do, but
// for those that earn something, if a reward is given.
func (w *work) progress(open *sparse.Set, bound *equations, pays *sparse.Reward) []uint32 {
	earns := func(s, c int) bool { return pays != nil && gains(pays, s, c) }
	to := open.Complement()
	if !w.Max {
		return forced(w.graph, to, open, func(s, c int) bool { return !earns(s, c) })
	}
	if pays != nil {
		for s := range open.All() {
			first, end := w.graph.Choices(s)
			for c := first; c < end && !to.Has(s); c++ {
				if earns(s, c) && bound.compare(s, c) >= 0 {
					to.Add(s)
				}
			}
		}
	}
	return nearer(w.graph, to, open, func(s, c int) bool { return bound.compare(s, c) >= 0 })
}

// gains reports whether a choice of a state earns anything.
func gains(r *sparse.Reward, s, c int) bool {
	return r.StateRat != nil && r.StateRat[s] != nil || r.ChoiceRat != nil && r.ChoiceRat[c] != nil
}

// positive are the states whose lower bound is positive and finite.
func (w *work) positive(v *solve.Values) *sparse.Set {
	out := sparse.NewSet(w.graph.NumStates())
	for s, x := range v.Lower {
		positive := x > 0 && !math.IsInf(x, 1)
		if v.Exact != nil {
			positive = v.Exact[s] != nil && v.Exact[s].Sign() > 0
		}
		if positive {
			out.Add(s)
		}
	}
	return out
}

// infinite are the states whose value is.
func infinite(v *solve.Values) *sparse.Set {
	out := sparse.NewSet(len(v.Lower))
	for s, x := range v.Lower {
		if v.Exact == nil && math.IsInf(x, 1) || v.Exact != nil && v.Exact[s] == nil {
			out.Add(s)
		}
	}
	return out
}

// scaled computes values until a target, or without one, on a grid that goes with their size: that of the answer, if it
// is known, or of bounds without one. Where they are too great for that, only fractions do.
func (w *work) scaled(target *sparse.Set, run func(solve.Options) (*solve.Values, error)) (*solve.Values, error) {
	if w.effort == fractions {
		return run(w.options())
	}
	var a *answer
	if target != nil && w.effort == w.least() {
		a = w.answered(&answer{reward: w.earned, left: target, right: target, dir: w.direction()})
	}
	if w.effort.unbound() {
		if w.grid = math.Ldexp(1, -w.effort.digits()); a != nil {
			return a.values, nil
		}
		return run(w.options())
	}
	if a != nil {
		if w.grid = a.grid; exponent(a.values)-math.Ilogb(a.grid) <= fine.digits() {
			return a.values, nil
		}
	}
	exp, known := w.scales[w.number]
	for range 3 {
		if !known {
			v, err := run(solve.Options{Epsilon: w.opts.Epsilon})
			if err != nil {
				return nil, err
			}
			exp = exponent(v)
		}
		if exp > fine.digits() {
			break
		}
		w.grid = min(math.Ldexp(1, exp-w.effort.digits()), 1)
		v, err := run(w.options())
		if err != nil {
			return nil, err
		}
		if exponent(v) <= exp+fine.digits()-w.effort.digits() {
			w.scales[w.number] = exp
			return v, nil
		}
		known = false
	}
	return nil, errors.New("the values are too large")
}

// exponent is that of the greatest finite upper bound.
func exponent(v *solve.Values) int {
	most := 1.0
	for s, x := range v.Upper {
		if math.IsInf(x, 1) && !math.IsInf(v.Lower[s], 1) {
			x = 2 * v.Lower[s] // perhaps
		}
		if !math.IsInf(x, 1) {
			most = max(most, x)
		}
	}
	_, exp := math.Frexp(most)
	return exp
}

func (w *work) reachReward(target *sparse.Set) (*solve.Values, error) {
	g := w.graph
	run := func(o solve.Options) (*solve.Values, error) {
		return solve.ReachReward(w.ctx, g, w.earned, target, w.direction(), o)
	}
	v, err := w.scaled(target, run)
	if err != nil {
		return nil, err
	}
	w.write(v)
	never := infinite(v)
	finite := never.Complement().Minus(target)
	if w.Max {
		w.Rank = w.ranks(forced(g, target, finite, nil), finite)
		if !never.Empty() {
			avoid := g.Prob0E(sparse.FullSet(g.NumStates()), target)
			w.Layer = w.ranks(nearer(g, avoid, never, func(int, int) bool { return true }), never)
		}
		return v, nil
	}
	upper := w.upper(v)
	w.Rank = w.ranks(nearer(g, target, finite, func(s, c int) bool { return g.First == nil || upper.compare(s, c) <= 0 }), finite)
	if !never.Empty() {
		w.Layer = w.ranks(layers(g, never.Complement()), never)
	}
	return v, nil
}

func (w *work) totalReward() (*solve.Values, error) {
	g := w.graph
	run := func(o solve.Options) (*solve.Values, error) {
		return solve.TotalReward(w.ctx, g, w.earned, w.direction(), o)
	}
	v, err := w.scaled(nil, run)
	if err != nil {
		return nil, err
	}
	w.write(v)
	return v, w.totalRanks(v)
}

// totalRanks makes the ranks and layers of a total reward.
func (w *work) totalRanks(v *solve.Values) (err error) {
	g := w.graph
	open, never := w.positive(v), infinite(v)
	rank := w.progress(open, w.lower(v), w.earned)
	inside, layer := rank, rank
	if w.Max {
		if inside, layer, err = w.recurrent(never); err != nil {
			return err
		}
	} else {
		layer = layers(g, never.Complement())
		inside = forced(g, sparse.NewSet(g.NumStates()), never, func(s, c int) bool {
			return !gains(w.earned, s, c) && stays(g, c, layer)
		})
	}
	for s := range never.All() {
		rank[s] = inside[s]
	}
	w.Rank, w.Layer = w.ranks(rank, open.Union(never)), w.ranks(layer, never)
	return nil
}

// stays reports whether all successors by a choice are in one layer: that of its state,
// if it has none in a smaller one.
func stays(g *sparse.Graph, c int, layer []uint32) bool {
	lo, hi := g.Row(c)
	for i := lo + 1; i < hi; i++ {
		if layer[g.Target[i]] != layer[g.Target[lo]] {
			return false
		}
	}
	return layer[g.Target[lo]] == layer[g.Owner(uint32(c))]
}

// recurrent ranks the states from which something can be earned for ever: within end
// components, by the distance to what is earned, and elsewhere by that to these.
func (w *work) recurrent(never *sparse.Set) (rank, layer []uint32, err error) {
	g := w.graph
	ends, err := g.EndComponents(w.ctx, never, nil)
	if err != nil {
		return nil, nil, err
	}
	earning := sparse.NewSet(g.NumStates())
	for _, s := range ends.States {
		first, end := g.Choices(int(s))
		for c := first; c < end; c++ {
			if ends.Choices.Has(c) && gains(w.earned, int(s), c) {
				earning.Add(int(s))
			}
		}
	}
	rank = nearer(g, earning, never, func(_, c int) bool { return ends.Choices.Has(c) })
	core := sparse.NewSet(g.NumStates())
	for s := range never.All() {
		if rank[s] != unranked {
			core.Add(s)
		}
	}
	return rank, nearer(g, core, never, func(int, int) bool { return true }), nil
}

// write makes the columns of the bounds.
func (w *work) write(v *solve.Values) {
	if v.Exact != nil {
		x := &certificate.Values{Rats: make([]*big.Rat, len(v.Exact))}
		never := infinite(v)
		for k, s := range w.states() {
			if x.Rats[k] = v.Exact[s]; x.Rats[k] == nil {
				x.Rats[k] = new(big.Rat)
			}
		}
		if !never.Empty() {
			x.Infinite = w.bits(never)
		}
		w.Lower, w.Upper = x, x
		return
	}
	w.Lower, w.Upper = w.fixed(v.Lower), w.fixed(v.Upper)
}

func (w *work) fixed(xs []float64) *certificate.Values {
	if w.effort.unbound() {
		if w.order == nil {
			return certificate.FromDoubles(xs)
		}
		ordered := make([]float64, len(xs))
		for k, s := range w.states() {
			ordered[k] = xs[s]
		}
		return certificate.FromDoubles(ordered)
	}
	out := &certificate.Values{Fixed: make([]uint64, len(xs)), Scale: uint(-math.Ilogb(w.grid))}
	for k, s := range w.states() {
		if x := xs[s]; !math.IsInf(x, 1) {
			out.Fixed[k] = uint64(x / w.grid)
			continue
		}
		if out.Infinite == nil {
			out.Infinite = certificate.NewBits(len(xs))
		}
		out.Infinite.Add(k)
	}
	return out
}

// ranks puts the ranks of some states into the order of the certificate; nil where
// there are none.
func (w *work) ranks(rank []uint32, of *sparse.Set) []uint32 {
	if of.Empty() {
		return nil
	}
	out := make([]uint32, len(rank))
	for k, s := range w.states() {
		out[k] = certificate.None
		if of.Has(s) {
			out[k] = rank[s]
		}
	}
	return out
}

// equations are those of a vector with bounds put in.
type equations struct {
	g     *sparse.Graph
	r     *sparse.Reward // nil for none
	x     []float64
	exact []*big.Rat // instead, nil where infinite
}

func (w *work) lower(v *solve.Values) *equations {
	return &equations{w.graph, w.earned, v.Lower, v.Exact}
}

func (w *work) upper(v *solve.Values) *equations {
	return &equations{w.graph, w.earned, v.Upper, v.Exact}
}

// compare compares what a choice of a state is worth with the state's own bound: by
// doubles where their error does not matter.
func (e *equations) compare(s, c int) int {
	lo, hi := e.g.Row(c)
	if e.exact != nil {
		return e.compareExactly(s, c)
	}
	x, sum := e.x[s], e.r.Gain(s, c)
	mean := sum == 0
	least, most := math.Inf(1), 0.0
	for i := lo; i < hi; i++ {
		v := e.x[e.g.Target[i]]
		sum += e.g.Prob(i) * v
		least, most = min(least, v), max(most, v)
	}
	off := sum * float64(hi-lo+5) * 0x1.1p-53
	switch {
	case math.IsInf(most, 1):
		return 1
	case mean && least == most: // all weights sum to 1
		return cmp.Compare(least, x)
	case mean && least >= x:
		return 1
	case sum < 0x1p-960: // products may have lost digits
	case sum-off > x:
		return 1
	case sum+off < x:
		return -1
	}
	return e.compareExactly(s, c)
}

func (e *equations) compareExactly(s, c int) int {
	sum := e.r.GainRat(s, c)
	lo, hi := e.g.Row(c)
	for i := lo; i < hi; i++ {
		x := e.at(int(e.g.Target[i]))
		if x == nil {
			return 1
		}
		sum.Add(sum, new(big.Rat).Mul(e.g.Rat(i), x))
	}
	if x := e.at(s); x != nil {
		return sum.Cmp(x)
	}
	return -1
}

func (e *equations) at(s int) *big.Rat {
	if e.exact != nil {
		return e.exact[s]
	}
	return new(big.Rat).SetFloat64(e.x[s]) // nil if infinite
}
