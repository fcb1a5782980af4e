package prove

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/omega"
	"tilecheck/native/explicit/automata"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// product is that of the model with an automaton.
type product struct {
	*Prover // of the pairs
	pairs   *omega.Product
	runs    *omega.Product
	graph   *sparse.Graph // of the runs
	goal    *sparse.Set   // pairs with a jump that wins, or that accept
}

// path computes the columns of a path formula or a co-safe reward.
func (w *work) path() (*solve.Values, error) {
	p, err := w.product()
	if err != nil {
		return nil, err
	}
	in := &work{Prover: p.Prover, number: w.number, ctx: w.ctx, Vector: w.Vector, effort: w.effort}
	var v *solve.Values
	if w.Kind == certificate.CoSafe {
		in.earned = doubles(p.pairs.Earned(w.Model.Earned(w.Reward, nil)))
		v, err = in.reachReward(p.goal)
	} else if v, err = in.until(sparse.FullSet(p.Prover.graph.NumStates()), p.goal); err == nil {
		w.Layer = p.lost(w.Upper)
	}
	if err != nil {
		return nil, err
	}
	n := w.graph.NumStates()
	out := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: v.Converged}
	if v.Exact != nil {
		out.Exact = make([]*big.Rat, n)
	}
	for k, s := range w.states() { // the pairs begin with the states
		if out.Lower[s], out.Upper[s] = v.Lower[k], v.Upper[k]; v.Exact != nil {
			out.Exact[s] = v.Exact[k]
		}
	}
	return out, nil
}

// product multiplies the model with the automaton of the vector, once.
func (w *work) product() (*product, error) {
	if p := w.products[w.number]; p != nil {
		return p, nil
	}
	a, coSafe := w.Automaton, w.Kind == certificate.CoSafe
	letter := make([]uint64, w.graph.NumStates())
	var sets []certificate.Bits
	for i, j := range a.Sets {
		set, err := w.decided(w.ctx, j, w.effort)
		if err != nil {
			return nil, err
		}
		for s := range set.All() {
			letter[w.place(uint32(s))] |= 1 << i
		}
		sets = append(sets, w.bits(set))
	}
	a.Letters = nil
	for known, k := map[uint64]bool{}, 0; k < len(letter); k++ {
		if !known[letter[k]] {
			known[letter[k]] = true
			a.Letters = append(a.Letters, letter[k])
		}
	}
	p, err := multiply(w, sets, coSafe)
	if errors.Is(err, automata.ErrTooLarge) {
		err = errors.New("the automaton of the path formula is too large for a certificate")
	}
	if err == nil {
		w.products[w.number] = p
	}
	return p, err
}

// multiply builds the automaton of a vector, whose letters are known, and its products.
func multiply(w *work, sets []certificate.Bits, coSafe bool) (*product, error) {
	a := w.Automaton
	if err := build(a, coSafe); err != nil {
		return nil, err
	}
	a.Pairs, a.Runs = math.MaxInt32, math.MaxInt32
	pairs, err := omega.Pairs(w.ctx, omega.Model(w.Model, w.Vector), a, sets, coSafe)
	if err != nil {
		return nil, err
	}
	p := &product{Prover: &Prover{
		Skeleton: &Skeleton{File: certificate.File{Model: pairs.Model}}, graph: graphOf(pairs.Model), opts: w.opts, scales: make(map[int]int),
	}, pairs: pairs}
	a.Pairs, p.goal = len(pairs.Of), sparse.NewSet(len(pairs.Of))
	if coSafe {
		a.Runs = 0
		for i, q := range pairs.Auto {
			if a.Accepting[q] {
				p.goal.Add(i)
			}
		}
		return p, nil
	}
	if p.runs, err = pairs.Runs(w.ctx); err != nil {
		return nil, err
	}
	a.Runs = len(p.runs.Of)
	if a.Runs == 0 {
		return p, nil
	}
	p.graph = graphOf(p.runs.Model)
	w.Won = p.won()
	at := 0 // the runs begin with the jumps of the pairs
	for i, q := range pairs.Auto {
		for range a.Jumps[q] {
			if w.Won[at] != unranked {
				p.goal.Add(i)
			}
			at++
		}
	}
	return p, nil
}

// graphOf is a chain or MDP of fractions, for solvers.
func graphOf(m *certificate.Model) *sparse.Graph {
	out := &sparse.Model{
		Kind: sparse.DTMC, First: m.First, Start: m.Start, Target: m.Target, Weight: m.Prob,
		Rats: m.Numbers, Err: 0x1p-52, Initial: []uint32{0},
	}
	if m.Kind == certificate.MDP {
		out.Kind = sparse.MDP
	}
	for _, x := range m.Numbers {
		f, _ := x.Float64()
		out.Weights = append(out.Weights, f)
	}
	for _, k := range m.Prob {
		if !sparse.InRange(out.Weights[k]) {
			out.Err = math.Inf(1)
		}
	}
	return sparse.NewGraph(out)
}

// won ranks the runs that some choices keep won: in a set that these do not leave, each
// leads to an accepting run.
func (p *product) won() []uint32 {
	g := p.graph
	inside := sparse.FullSet(g.NumStates())
	for {
		stay := g.ChoicesWithin(inside)
		to := sparse.NewSet(g.NumStates())
		for i, d := range p.runs.Auto {
			first, end := g.Choices(i)
			for c := first; c < end && p.pairs.Accepts(d); c++ {
				if inside.Has(i) && stay.Has(c) {
					to.Add(i)
				}
			}
		}
		rank := nearer(g, to, inside, func(_, c int) bool { return stay.Has(c) })
		left := inside.Count()
		inside = sparse.NewSet(len(rank))
		for i, r := range rank {
			if r != unranked {
				inside.Add(i)
			}
		}
		if inside.Count() == left {
			return rank
		}
	}
}

// lost puts the runs of which the bound of the pair is below 1 into layers.
func (p *product) lost(upper *certificate.Values) []uint32 {
	if p.graph == nil {
		return nil
	}
	minus := upper.Compare(big.NewRat(1, 1))
	f := newForce(p.graph, nil)
	all, quiet := sparse.FullSet(p.graph.NumStates()), sparse.NewSet(p.graph.NumStates())
	for i, d := range p.runs.Auto {
		if minus(int(p.runs.Of[i])) >= 0 {
			f.put(i, 0)
		} else if !p.pairs.Accepts(d) {
			quiet.Add(i)
		}
	}
	for {
		f.spread(all)
		trap, next := f.trap(quiet), f.last+1
		if trap.Empty() {
			return f.rank
		}
		for i := range trap.All() {
			f.put(i, next)
		}
	}
}

// doubles are rewards with doubles beside the fractions.
func doubles(r *certificate.Rewards) *sparse.Reward {
	out := &sparse.Reward{Choice: make([]float64, len(r.Of)), ChoiceRat: make([]*big.Rat, len(r.Of)), Err: 0x1p-52}
	for c, k := range r.Of {
		if x := r.Rats[k]; x.Sign() > 0 {
			out.ChoiceRat[c] = x
			if out.Choice[c], _ = x.Float64(); !sparse.InRange(out.Choice[c]) {
				out.Err = math.Inf(1)
			}
		}
	}
	return out
}
