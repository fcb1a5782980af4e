package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// effort is how much computing goes into the columns of a vector. Prover.Add tries them in this order, and skips
// those that do not fit the certificate or the size of the model (nextEffort).
type effort int

const (
	coarseGrid   effort = iota // bounds on a coarse grid, which take few bytes in a file
	floats                     // float64 bounds as the solver returns them
	narrowFloats               // the same with a smaller epsilon
	fineGrid                   // bounds on the finest grid that the checker is fast with
	fileFloats                 // float64 bounds for a file, which stores them as fractions
	fractions                  // exact values, which always satisfy their equations
)

// firstEffort returns the effort that Add begins with.
func (p *Prover) firstEffort() effort {
	switch {
	case p.opts.Exact:
		return fractions
	case p.opts.Ordered:
		return coarseGrid
	}
	return floats
}

// nextEffort returns the next effort that is worth trying.
func (p *Prover) nextEffort(e effort) (next effort, ok bool) {
	n := p.graph.NumStates()
	switch {
	case e == floats:
		return narrowFloats, true
	case e < fineGrid:
		return fineGrid, true
	case e == fineGrid && p.opts.Ordered && n <= maxFloatStates:
		return fileFloats, true
	case e < fractions && n <= maxExactStates:
		return fractions, true
	}
	return e, false
}

// maxFloatStates is the greatest number of states for which fileFloats is tried.
const maxFloatStates = 1 << 20

// maxExactStates is the greatest number of states for which fractions are tried.
const maxExactStates = 20_000

// gridBits returns the number of bits of the greatest value on the grid.
func (e effort) gridBits() int {
	return [...]int{coarseGrid: 47, floats: 1000, narrowFloats: 1000, fineGrid: 61, fileFloats: 1000, fractions: 0}[e]
}

// withoutGrid reports whether the values are arbitrary float64 numbers.
func (e effort) withoutGrid() bool { return e == floats || e == narrowFloats || e == fileFloats }

// bounds are the computed values of a vector, and the effort that was spent on them.
type bounds struct {
	*solve.Values
	effort effort
}

// boundsOf computes the columns of vector i, unless that was done before with at least as much effort.
func (p *Prover) boundsOf(ctx context.Context, i int, e effort) (*bounds, error) {
	if b := p.computed[i]; b != nil && (b.effort >= e || b.zeroWidth()) {
		return b, nil
	}
	w := &vectorProof{Prover: p, index: i, ctx: ctx, Vector: &p.Vectors[i], effort: e}
	values, err := w.compute()
	if err != nil {
		return nil, err
	}
	p.computed[i] = &bounds{values, e}
	return p.computed[i], nil
}

// zeroWidth reports whether the float64 bounds of every value are equal, so that more effort cannot improve them.
func (b *bounds) zeroWidth() bool {
	for s, x := range b.Lower {
		if x != b.Upper[s] {
			return false
		}
	}
	return b.Exact == nil
}

// vectorProof computes the columns of one vector.
type vectorProof struct {
	*Prover
	*certificate.Vector
	index     int
	ctx       context.Context
	effort    effort
	grid      float64
	structure *sparse.Reward
}

func (w *vectorProof) direction() solve.Direction {
	if w.Max {
		return solve.Max
	}
	return solve.Min
}

func (w *vectorProof) options() solve.Options {
	o := solve.Options{Epsilon: w.opts.Epsilon}
	if w.effort == narrowFloats {
		o.Epsilon = w.narrowEpsilon
	}
	if w.effort == fractions {
		o.Exact, o.MaxWork = true, maxWork
	} else {
		o.Grid = w.grid
	}
	return o
}

// maxWork is the greatest number of operations in rational arithmetic: some seconds.
const maxWork = 1 << 30

// compute sets the columns and returns the values.
func (w *vectorProof) compute() (v *solve.Values, err error) {
	left, err := w.decidedSet(w.ctx, w.Left, w.effort)
	if err != nil {
		return nil, err
	}
	right, err := w.decidedSet(w.ctx, w.Right, w.effort)
	if err != nil {
		return nil, err
	}
	if w.Reward >= 0 {
		if w.structure, err = w.Prover.loadReward(w.Reward); err != nil {
			return nil, err
		}
	}
	if w.Timed != nil {
		return w.timedValues(left, right)
	}
	if w.Automaton != nil {
		return w.pathColumns()
	}
	g, dir := w.graph, w.direction()
	switch w.Kind {
	case certificate.Objectives:
		return w.multiObjective()
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
		return solve.CumulReward(w.ctx, g, w.structure, w.To, dir, w.options())
	case certificate.Instant:
		return solve.InstantReward(w.ctx, g, w.structure, w.To, dir, w.options())
	case certificate.ReachReward:
		return w.reachReward(right)
	case certificate.TotalReward:
		return w.totalReward()
	case certificate.Average:
		return w.averageColumns(right)
	}
	return nil, fmt.Errorf("there is no certificate of the kind %q", w.Kind)
}

// until computes the bounds of an until probability, and the ranks of its lower bound (rule 1 of package certify).
func (w *vectorProof) until(left, right *sparse.Set) (*solve.Values, error) {
	w.grid = math.Ldexp(1, -w.effort.gridBits())
	var v *solve.Values
	if a := w.findShared(&sharedSolution{left: left, right: right, direction: w.direction()}); a != nil && w.effort == w.firstEffort() {
		v = a.values
	} else {
		var err error
		if v, err = solve.Until(w.ctx, w.graph, left, right, w.direction(), w.options()); err != nil {
			return nil, err
		}
	}
	w.setBoundColumns(v)
	open := w.positiveStates(v).Minus(right)
	w.Rank = w.rankColumn(w.progressRanks(open, w.lowerEquations(v), nil), open)
	return v, nil
}

// progressRanks ranks the open states for a lower bound. For a maximum, a choice that satisfies the lower bound's equation leads to a
// smaller rank; for a minimum every choice does. If a reward structure is given, a choice with a reward needs no smaller rank.
func (w *vectorProof) progressRanks(open *sparse.Set, equations *bellmanEquations, structure *sparse.Reward) []uint32 {
	earns := func(s, c int) bool { return structure != nil && earnsReward(structure, s, c) }
	targets := open.Complement()
	if !w.Max {
		return rankAllChoices(w.graph, targets, open, func(s, c int) bool { return !earns(s, c) })
	}
	if structure != nil {
		for s := range open.All() {
			first, end := w.graph.Choices(s)
			for c := first; c < end && !targets.Has(s); c++ {
				if earns(s, c) && equations.compareChoice(s, c) >= 0 {
					targets.Add(s)
				}
			}
		}
	}
	return rankByDistance(w.graph, targets, open, func(s, c int) bool { return equations.compareChoice(s, c) >= 0 })
}

// earnsReward reports whether the reward of state s or choice c is positive.
func earnsReward(r *sparse.Reward, s, c int) bool {
	return r.StateRat != nil && r.StateRat[s] != nil || r.ChoiceRat != nil && r.ChoiceRat[c] != nil
}

// positiveStates returns the states whose lower bound is positive and finite.
func (w *vectorProof) positiveStates(v *solve.Values) *sparse.Set {
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

// infiniteStates returns the states with an infinite value.
func infiniteStates(v *solve.Values) *sparse.Set {
	out := sparse.NewSet(len(v.Lower))
	for s, x := range v.Lower {
		if v.Exact == nil && math.IsInf(x, 1) || v.Exact != nil && v.Exact[s] == nil {
			out.Add(s)
		}
	}
	return out
}

// solveOnGrid solves a reward on a grid that fits the greatest value, or without a grid if the effort needs none. It
// reuses a shared solution if there is one; target is nil for a total reward. If the greatest value needs more bits
// than the finest grid has, it returns an error.
func (w *vectorProof) solveOnGrid(target *sparse.Set, solveWith func(solve.Options) (*solve.Values, error)) (*solve.Values, error) {
	if w.effort == fractions {
		return solveWith(w.options())
	}
	var shared *sharedSolution
	if target != nil && w.effort == w.firstEffort() {
		shared = w.findShared(&sharedSolution{reward: w.structure, left: target, right: target, direction: w.direction()})
	}
	if w.effort.withoutGrid() {
		if w.grid = math.Ldexp(1, -w.effort.gridBits()); shared != nil {
			return shared.values, nil
		}
		return solveWith(w.options())
	}
	if shared != nil {
		if w.grid = shared.grid; greatestExponent(shared.values)-math.Ilogb(shared.grid) <= fineGrid.gridBits() {
			return shared.values, nil
		}
	}
	return w.solveOnEstimatedGrid(solveWith)
}

// solveOnEstimatedGrid chooses the grid by the greatest value, from an earlier solution or one without a grid. If the
// values turn out to be greater than estimated, it estimates again.
func (w *vectorProof) solveOnEstimatedGrid(solveWith func(solve.Options) (*solve.Values, error)) (*solve.Values, error) {
	exp, known := w.exponents[w.index]
	for range 3 {
		if !known {
			v, err := solveWith(solve.Options{Epsilon: w.opts.Epsilon})
			if err != nil {
				return nil, err
			}
			exp = greatestExponent(v)
		}
		if exp > fineGrid.gridBits() {
			break
		}
		w.grid = min(math.Ldexp(1, exp-w.effort.gridBits()), 1)
		v, err := solveWith(w.options())
		if err != nil {
			return nil, err
		}
		if greatestExponent(v) <= exp+fineGrid.gridBits()-w.effort.gridBits() {
			w.exponents[w.index] = exp
			return v, nil
		}
		known = false
	}
	return nil, errors.New("the values are too large for the grid of a certificate")
}

// greatestExponent returns the binary exponent of the greatest finite upper bound.
func greatestExponent(v *solve.Values) int {
	most := 1.0
	for s, x := range v.Upper {
		if math.IsInf(x, 1) && !math.IsInf(v.Lower[s], 1) {
			x = 2 * v.Lower[s] // a guess
		}
		if !math.IsInf(x, 1) {
			most = max(most, x)
		}
	}
	_, exp := math.Frexp(most)
	return exp
}

// reachReward computes the bounds of a reachability reward, and the ranks and layers of rule 2 of package certify.
func (w *vectorProof) reachReward(target *sparse.Set) (*solve.Values, error) {
	g := w.graph
	solveWith := func(o solve.Options) (*solve.Values, error) {
		return solve.ReachReward(w.ctx, g, w.structure, target, w.direction(), o)
	}
	v, err := w.solveOnGrid(target, solveWith)
	if err != nil {
		return nil, err
	}
	w.setBoundColumns(v)
	infinite := infiniteStates(v)
	finite := infinite.Complement().Minus(target)
	if w.Max {
		w.Rank = w.rankColumn(rankAllChoices(g, target, finite, nil), finite)
		if !infinite.Empty() {
			avoid := g.Prob0E(sparse.FullSet(g.NumStates()), target)
			w.Layer = w.rankColumn(rankByDistance(g, avoid, infinite, func(int, int) bool { return true }), infinite)
		}
		return v, nil
	}
	upper := w.upperEquations(v)
	w.Rank = w.rankColumn(rankByDistance(g, target, finite, func(s, c int) bool { return g.First == nil || upper.compareChoice(s, c) <= 0 }), finite)
	if !infinite.Empty() {
		w.Layer = w.rankColumn(trapLayers(g, infinite.Complement()), infinite)
	}
	return v, nil
}

// totalReward computes the bounds of a total reward, and the ranks and layers of rule 3 of package certify.
func (w *vectorProof) totalReward() (*solve.Values, error) {
	g := w.graph
	solveWith := func(o solve.Options) (*solve.Values, error) {
		return solve.TotalReward(w.ctx, g, w.structure, w.direction(), o)
	}
	v, err := w.solveOnGrid(nil, solveWith)
	if err != nil {
		return nil, err
	}
	w.setBoundColumns(v)
	return v, w.rankTotalReward(v)
}

// rankTotalReward computes the ranks of a finite lower bound, and the ranks and layers of the states with an infinite value.
func (w *vectorProof) rankTotalReward(v *solve.Values) (err error) {
	g := w.graph
	open, infinite := w.positiveStates(v), infiniteStates(v)
	rank := w.progressRanks(open, w.lowerEquations(v), w.structure)
	inside, layer := rank, rank
	if w.Max {
		if inside, layer, err = w.recurringRewardRanks(infinite); err != nil {
			return err
		}
	} else {
		layer = trapLayers(g, infinite.Complement())
		inside = rankAllChoices(g, sparse.NewSet(g.NumStates()), infinite, func(s, c int) bool {
			return !earnsReward(w.structure, s, c) && staysInLayer(g, c, layer)
		})
	}
	for s := range infinite.All() {
		rank[s] = inside[s]
	}
	w.Rank, w.Layer = w.rankColumn(rank, open.Union(infinite)), w.rankColumn(layer, infinite)
	return nil
}

// staysInLayer reports whether all successors of a choice are in the layer of its state.
func staysInLayer(g *sparse.Graph, c int, layer []uint32) bool {
	lo, hi := g.Row(c)
	for i := lo + 1; i < hi; i++ {
		if layer[g.Target[i]] != layer[g.Target[lo]] {
			return false
		}
	}
	return layer[g.Target[lo]] == layer[g.Owner(uint32(c))]
}

// recurringRewardRanks proves that a maximal total reward is infinite. In an end component with a reward, rank is the
// distance to that reward; layer is the distance to such end components.
func (w *vectorProof) recurringRewardRanks(infinite *sparse.Set) (rank, layer []uint32, err error) {
	g := w.graph
	ends, err := g.EndComponents(w.ctx, infinite, nil)
	if err != nil {
		return nil, nil, err
	}
	earning := sparse.NewSet(g.NumStates())
	for _, s := range ends.States {
		first, end := g.Choices(int(s))
		for c := first; c < end; c++ {
			if ends.Choices.Has(c) && earnsReward(w.structure, int(s), c) {
				earning.Add(int(s))
			}
		}
	}
	rank = rankByDistance(g, earning, infinite, func(_, c int) bool { return ends.Choices.Has(c) })
	core := sparse.NewSet(g.NumStates())
	for s := range infinite.All() {
		if rank[s] != unranked {
			core.Add(s)
		}
	}
	return rank, rankByDistance(g, core, infinite, func(int, int) bool { return true }), nil
}

// setBoundColumns sets the columns Lower and Upper.
func (w *vectorProof) setBoundColumns(v *solve.Values) {
	if v.Exact != nil {
		x := &certificate.Values{Rats: make([]*big.Rat, len(v.Exact))}
		infinite := infiniteStates(v)
		for k, s := range w.orderedStates() {
			if x.Rats[k] = v.Exact[s]; x.Rats[k] == nil {
				x.Rats[k] = new(big.Rat)
			}
		}
		if !infinite.Empty() {
			x.Infinite = w.bits(infinite)
		}
		w.Lower, w.Upper = x, x
		return
	}
	w.Lower, w.Upper = w.boundColumn(v.Lower), w.boundColumn(v.Upper)
}

// boundColumn converts values to a column: float64 numbers, or multiples of the grid.
func (w *vectorProof) boundColumn(xs []float64) *certificate.Values {
	if w.effort.withoutGrid() {
		if w.order == nil {
			return certificate.FromDoubles(xs)
		}
		ordered := make([]float64, len(xs))
		for k, s := range w.orderedStates() {
			ordered[k] = xs[s]
		}
		return certificate.FromDoubles(ordered)
	}
	out := &certificate.Values{Fixed: make([]uint64, len(xs)), Scale: uint(-math.Ilogb(w.grid))}
	for k, s := range w.orderedStates() {
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

// rankColumn converts the ranks of some states to a column; nil if there are no such states.
func (w *vectorProof) rankColumn(rank []uint32, states *sparse.Set) []uint32 {
	if states.Empty() {
		return nil
	}
	out := make([]uint32, len(rank))
	for k, s := range w.orderedStates() {
		out[k] = certificate.None
		if states.Has(s) {
			out[k] = rank[s]
		}
	}
	return out
}

// bellmanEquations are the equations of a vector, with the lower or the upper bound put in for the values.
type bellmanEquations struct {
	g          *sparse.Graph
	r          *sparse.Reward // nil for none
	bound      []float64
	exactBound []*big.Rat // replaces bound if not nil; nil entries are infinite
}

func (w *vectorProof) lowerEquations(v *solve.Values) *bellmanEquations {
	return &bellmanEquations{w.graph, w.structure, v.Lower, v.Exact}
}

func (w *vectorProof) upperEquations(v *solve.Values) *bellmanEquations {
	return &bellmanEquations{w.graph, w.structure, v.Upper, v.Exact}
}

// compareChoice compares the right-hand side of choice c with the bound of state s. It uses float64 where the
// rounding error cannot change the result.
func (e *bellmanEquations) compareChoice(s, c int) int {
	lo, hi := e.g.Row(c)
	if e.exactBound != nil {
		return e.compareExactly(s, c)
	}
	x, sum := e.bound[s], e.r.OfChoice(s, c)
	mean := sum == 0
	least, most := math.Inf(1), 0.0
	for i := lo; i < hi; i++ {
		v := e.bound[e.g.Target[i]]
		sum += e.g.Prob(i) * v
		least, most = min(least, v), max(most, v)
	}
	off := sum * float64(hi-lo+5) * 0x1.1p-53
	switch {
	case math.IsInf(most, 1):
		return 1
	case mean && least == most: // the probabilities sum to 1
		return cmp.Compare(least, x)
	case mean && least >= x:
		return 1
	case sum < 0x1p-960: // products may be subnormal
	case sum-off > x:
		return 1
	case sum+off < x:
		return -1
	}
	return e.compareExactly(s, c)
}

// compareExactly is compareChoice in rational arithmetic.
func (e *bellmanEquations) compareExactly(s, c int) int {
	sum := e.r.OfChoiceRat(s, c)
	lo, hi := e.g.Row(c)
	for i := lo; i < hi; i++ {
		x := e.value(int(e.g.Target[i]))
		if x == nil {
			return 1
		}
		sum.Add(sum, new(big.Rat).Mul(e.g.Rat(i), x))
	}
	if x := e.value(s); x != nil {
		return sum.Cmp(x)
	}
	return -1
}

func (e *bellmanEquations) value(s int) *big.Rat {
	if e.exactBound != nil {
		return e.exactBound[s]
	}
	return new(big.Rat).SetFloat64(e.bound[s]) // nil if infinite
}
