package prove

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/omega"
	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// product is the product of the model with the automaton of a vector.
type product struct {
	*Prover // of the model of the pairs
	pairs   *omega.Product
	runs    *omega.Product
	graph   *sparse.Graph // of the model of the runs
	targets *sparse.Set   // pairs with a jump to a winning run; for a co-safe reward, accepting pairs
}

// pathColumns computes the columns of a path formula or a co-safe reward on the product, and returns the values of the model's states.
func (w *vectorProof) pathColumns() (*solve.Values, error) {
	p, err := w.automatonProduct()
	if err != nil {
		return nil, err
	}
	pairsProof := &vectorProof{Prover: p.Prover, index: w.index, ctx: w.ctx, Vector: w.Vector, effort: w.effort}
	var v *solve.Values
	if w.Kind == certificate.CoSafe {
		pairsProof.structure = sparseReward(p.pairs.Earned(w.Model.Earned(w.Reward, nil)))
		v, err = pairsProof.reachReward(p.targets)
	} else if v, err = pairsProof.until(sparse.FullSet(p.Prover.graph.NumStates()), p.targets); err == nil {
		w.Layer = p.losingLayers(w.Upper)
	}
	if err != nil {
		return nil, err
	}
	n := w.graph.NumStates()
	out := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: v.Converged}
	if v.Exact != nil {
		out.Exact = make([]*big.Rat, n)
	}
	for k, s := range w.orderedStates() { // pair k is the initial pair of the k-th state
		if out.Lower[s], out.Upper[s] = v.Lower[k], v.Upper[k]; v.Exact != nil {
			out.Exact[s] = v.Exact[k]
		}
	}
	return out, nil
}

// automatonProduct returns the product of the model with the vector's automaton. The first call builds it.
func (w *vectorProof) automatonProduct() (*product, error) {
	if p := w.products[w.index]; p != nil {
		return p, nil
	}
	a, coSafe := w.Automaton, w.Kind == certificate.CoSafe
	letter := make([]uint64, w.graph.NumStates())
	var sets []certificate.Bits
	for i, j := range a.Sets {
		set, err := w.decidedSet(w.ctx, j, w.effort)
		if err != nil {
			return nil, err
		}
		for s := range set.All() {
			letter[w.indexOf(uint32(s))] |= 1 << i
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
	p, err := buildProduct(w, sets, coSafe)
	if errors.Is(err, automata.ErrTooLarge) {
		err = errors.New("the automaton of the path formula is too large for a certificate")
	}
	if err == nil {
		w.products[w.index] = p
	}
	return p, err
}

// buildProduct builds the automaton of a vector, over the letters that states have, and its products with the model.
func buildProduct(w *vectorProof, sets []certificate.Bits, coSafe bool) (*product, error) {
	a := w.Automaton
	if err := buildAutomaton(a, coSafe); err != nil {
		return nil, err
	}
	a.Pairs, a.Runs = math.MaxInt32, math.MaxInt32
	pairs, err := omega.Pairs(w.ctx, omega.Model(w.Model, w.Vector), a, sets, coSafe)
	if err != nil {
		return nil, err
	}
	p := &product{Prover: &Prover{
		Skeleton: &Skeleton{File: certificate.File{Model: pairs.Model}}, graph: sparseGraph(pairs.Model), opts: w.opts, exponents: make(map[int]int),
	}, pairs: pairs}
	a.Pairs, p.targets = len(pairs.Of), sparse.NewSet(len(pairs.Of))
	if coSafe {
		a.Runs = 0
		for i, q := range pairs.Auto {
			if a.Accepting[q] {
				p.targets.Add(i)
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
	p.graph = sparseGraph(p.runs.Model)
	w.Won = p.winningRanks()
	at := 0 // the first runs are the jumps of the pairs, in order
	for i, q := range pairs.Auto {
		for range a.Jumps[q] {
			if w.Won[at] != unranked {
				p.targets.Add(i)
			}
			at++
		}
	}
	return p, nil
}

// sparseGraph converts the model of a certificate, a DTMC or MDP, to a graph for package solve.
func sparseGraph(m *certificate.Model) *sparse.Graph {
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

// winningRanks ranks the winning runs: those in the largest set in which some choices stay and lead to an accepting
// run again and again. The rank is the distance to an accepting transition within that set (a Büchi condition).
func (p *product) winningRanks() []uint32 {
	g := p.graph
	inside := sparse.FullSet(g.NumStates())
	for {
		staying := g.ChoicesWithin(inside)
		accepting := sparse.NewSet(g.NumStates())
		for i, d := range p.runs.Auto {
			first, end := g.Choices(i)
			for c := first; c < end && p.pairs.Accepts(d); c++ {
				if inside.Has(i) && staying.Has(c) {
					accepting.Add(i)
				}
			}
		}
		rank := rankByDistance(g, accepting, inside, func(_, c int) bool { return staying.Has(c) })
		before := inside.Count()
		inside = sparse.NewSet(len(rank))
		for i, r := range rank {
			if r != unranked {
				inside.Add(i)
			}
		}
		if inside.Count() == before {
			return rank
		}
	}
}

// losingLayers puts the runs whose pair has an upper bound below 1 into layers, which prove that no scheduler makes them win.
func (p *product) losingLayers(upper *certificate.Values) []uint32 {
	if p.graph == nil {
		return nil
	}
	compareToOne := upper.Compare(big.NewRat(1, 1))
	attractor := newAttractor(p.graph, nil)
	all, rejecting := sparse.FullSet(p.graph.NumStates()), sparse.NewSet(p.graph.NumStates())
	for i, d := range p.runs.Auto {
		if compareToOne(int(p.runs.Of[i])) >= 0 {
			attractor.add(i, 0)
		} else if !p.pairs.Accepts(d) {
			rejecting.Add(i)
		}
	}
	for {
		attractor.extend(all)
		trap, next := attractor.trap(rejecting), attractor.greatest+1
		if trap.Empty() {
			return attractor.rank
		}
		for i := range trap.All() {
			attractor.add(i, next)
		}
	}
}

// sparseReward converts rewards of choices to package sparse: the fractions and the nearest float64.
func sparseReward(r *certificate.Rewards) *sparse.Reward {
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
