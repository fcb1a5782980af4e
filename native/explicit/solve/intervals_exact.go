package solve

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// plan is what scheduler and nature do in each unknown: a choice of a state, and a
// distribution of it.
type strategyPair struct {
	state, choice int
	p             []*big.Rat
}

// fractions computes the open states exactly. A plan makes the model a Markov chain,
// whose values are the solution if no other plan does better: first nature's is
// improved, for as long as that helps, then the scheduler's, and so on. Bounds find
// good plans to start from. Upper bounds that the equations lower leave no scheduler
// of a minimum that stays for ever; where there are none such a scheduler is replaced.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966).
func (iv *robust) exactStrategyIteration(ctx context.Context, opts Options) error {
	var unknowns []uint32
	for s := range iv.open.All() {
		if iv.representativeOf(uint32(s)) == uint32(s) {
			unknowns = append(unknowns, uint32(s))
		}
	}
	plans := make(map[uint32]*strategyPair, len(unknowns))
	iv.setExactGuess(unknowns)
	for _, s := range unknowns {
		plans[s] = iv.initialStrategy(s)
	}
	for first := true; ; first = false {
		err := iv.solveInduced(ctx, unknowns, plans, opts)
		if errors.Is(err, errImproper) && first {
			iv.properStrategies(unknowns, plans)
			err = iv.solveInduced(ctx, unknowns, plans, opts)
		}
		if err != nil {
			return err
		}
		better, err := iv.improve(unknowns, plans)
		if err != nil {
			return err
		}
		if !better {
			break
		}
	}
	for s := range iv.open.All() {
		iv.v.assign(s, iv.v.Exact[iv.representativeOf(uint32(s))])
	}
	return nil
}

// guideTo gives the open states fractions to start from, by which targets are put in order.
func (iv *robust) setExactGuess(unknowns []uint32) {
	x := iv.v.Lower
	if iv.dir.Scheduler() == Min && iv.v.Converged {
		x = iv.v.Upper
	}
	for _, s := range unknowns {
		iv.v.Exact[s] = new(big.Rat).SetFloat64(x[s])
	}
}

// start returns the best plan of an unknown by bounds.
func (iv *robust) initialStrategy(s uint32) *strategyPair {
	lowest := iv.dir.Scheduler() == Min
	up := lowest && iv.v.Converged
	var out *strategyPair
	best := 0.0
	iv.each(s, func(t, c int) {
		b := iv.bound(t, c, up)
		if out == nil || b != best && (b < best) == lowest {
			out, best = &strategyPair{state: t, choice: c}, b
		}
	})
	out.p = iv.distribution(out.choice)
	return out
}

// approach makes plans with which every step comes nearer to where the unknowns are
// left, with positive probability.
func (iv *robust) properStrategies(unknowns []uint32, plans map[uint32]*strategyPair) {
	near := sparse.NewSet(iv.g.NumStates())
	for more := true; more; {
		more = false
		for _, s := range unknowns {
			if near.Has(int(s)) {
				continue
			}
			iv.each(s, func(t, c int) {
				first, end := iv.g.Row(c)
				for i := first; i < end && !near.Has(int(s)); i++ {
					if u := iv.representativeOf(iv.g.Target[i]); near.Has(int(u)) || !iv.open.Has(int(u)) {
						near.Add(int(s))
						plans[s] = &strategyPair{t, c, iv.distribution(c)}
						more = true
					}
				}
			})
		}
	}
}

// improve changes plans of nature that are not best against the scheduler's, or, if
// there are none, plans of the scheduler that are not best.
func (iv *robust) improve(unknowns []uint32, plans map[uint32]*strategyPair) (better bool, err error) {
	for _, s := range unknowns {
		at := plans[s]
		p := iv.distribution(at.choice)
		if iv.worth(at.state, at.choice, p).Cmp(iv.v.Exact[s]) != 0 {
			at.p, better = p, true
		}
		if err := iv.mt.did(1000 + effort(iv.v.Exact[s])); err != nil {
			return false, err
		}
	}
	if better {
		return true, nil
	}
	want := 1
	if iv.dir.Scheduler() == Min {
		want = -1
	}
	for _, s := range unknowns {
		most := iv.v.Exact[s]
		iv.each(s, func(t, c int) {
			p := iv.distribution(c)
			if x := iv.worth(t, c, p); x.Cmp(most) == want {
				most, better = x, true
				*plans[s] = strategyPair{t, c, p}
			}
		})
		if err := iv.mt.did(4000 + effort(most)); err != nil {
			return false, err
		}
	}
	return better, nil
}

// distribution returns nature's best distribution of a choice, for values that are fractions.
func (iv *robust) distribution(c int) []*big.Rat {
	m := iv.g.Model
	first, end := m.Row(c)
	out := make([]*big.Rat, end-first)
	if iv.budget[c] == 0 {
		for i := range out {
			out[i] = m.Rat(first + i)
		}
		return out
	}
	order := make([]int, end-first)
	rest := big.NewRat(1, 1)
	for i := range out {
		order[i], out[i] = i, m.Rat(first+i)
		rest.Sub(rest, out[i])
	}
	value := func(i int) *big.Rat { return iv.v.Exact[iv.representativeOf(m.Target[first+i])] }
	slices.SortStableFunc(order, func(i, j int) int {
		if iv.dir.nature() == Min {
			return value(i).Cmp(value(j))
		}
		return value(j).Cmp(value(i))
	})
	for _, i := range order {
		room := new(big.Rat).Sub(m.HighRat(first+i), out[i])
		if room.Cmp(rest) > 0 {
			room.Set(rest)
		}
		out[i] = new(big.Rat).Add(out[i], room)
		if rest.Sub(rest, room); rest.Sign() == 0 {
			break
		}
	}
	return out
}

// worth returns what a choice is worth with a distribution.
func (iv *robust) worth(s, c int, p []*big.Rat) *big.Rat {
	sum := iv.reward.GainRat(s, c)
	first, _ := iv.g.Row(c)
	term := new(big.Rat)
	for i, q := range p {
		sum.Add(sum, term.Mul(q, iv.v.Exact[iv.representativeOf(iv.g.Target[first+i])]))
	}
	return sum
}

// errImproper says that a plan stays for ever where it must not.
var errImproper = errors.New("no scheduler to start from was found")

// induced gives the unknowns the values of the chain that plans make. Its last two
// states are what is worth 1, for probabilities, or the end, and what is worth nothing.
func (iv *robust) solveInduced(ctx context.Context, unknowns []uint32, plans map[uint32]*strategyPair, opts Options) error {
	n := len(unknowns)
	number := make(map[uint32]int, n)
	for i, s := range unknowns {
		number[s] = i
	}
	b := sparse.NewBuilder(sparse.DTMC)
	reward := &sparse.Reward{State: make([]float64, n+2), StateRat: make([]*big.Rat, n+2)}
	for i, s := range unknowns {
		at := plans[s]
		b.State()
		first, _ := iv.g.Row(at.choice)
		for j, q := range at.p {
			b.AddRat(iv.inducedState(iv.g.Target[first+j], number, n), q, sparse.NoAction)
		}
		if g := iv.reward.GainRat(at.state, at.choice); g.Sign() != 0 {
			reward.StateRat[i] = g
			reward.State[i], _ = sparse.Double(g)
		}
	}
	for i := range 2 {
		b.State()
		b.AddRat(n+i, big.NewRat(1, 1), sparse.NoAction)
	}
	m, err := b.Finish()
	if err != nil {
		return err
	}
	graph, end := sparse.NewGraph(m), sparse.SetOf(n+2, n)
	opts = Options{Exact: true, MaxWork: opts.MaxWork, MaxSweeps: opts.MaxSweeps}
	var v *Values
	if iv.prob {
		v, err = Until(ctx, graph, sparse.FullSet(n+2), end, Max, opts)
	} else {
		v, err = ReachReward(ctx, graph, reward, end, Max, opts)
	}
	if err != nil {
		return err
	}
	for i, s := range unknowns {
		if v.Exact[i] == nil {
			return errImproper
		}
		iv.v.Exact[s] = v.Exact[i]
	}
	return nil
}

// place returns the state of the chain that a target is.
func (iv *robust) inducedState(t uint32, number map[uint32]int, n int) int {
	if i, ok := number[iv.representativeOf(t)]; ok {
		return i
	}
	if iv.prob && iv.v.Exact[t].Sign() == 0 {
		return n + 1
	}
	return n
}
