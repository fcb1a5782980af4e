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
type plan struct {
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
func (y *robust) fractions(ctx context.Context, opts Options) error {
	var unknowns []uint32
	for s := range y.open.All() {
		if y.stands(uint32(s)) == uint32(s) {
			unknowns = append(unknowns, uint32(s))
		}
	}
	plans := make(map[uint32]*plan, len(unknowns))
	y.guideTo(unknowns)
	for _, s := range unknowns {
		plans[s] = y.start(s)
	}
	for first := true; ; first = false {
		err := y.induced(ctx, unknowns, plans, opts)
		if errors.Is(err, errImproper) && first {
			y.approach(unknowns, plans)
			err = y.induced(ctx, unknowns, plans, opts)
		}
		if err != nil {
			return err
		}
		better, err := y.improve(unknowns, plans)
		if err != nil {
			return err
		}
		if !better {
			break
		}
	}
	for s := range y.open.All() {
		y.v.assign(s, y.v.Exact[y.stands(uint32(s))])
	}
	return nil
}

// guideTo gives the open states fractions to start from, by which targets are put in order.
func (y *robust) guideTo(unknowns []uint32) {
	x := y.v.Lower
	if y.dir.Scheduler() == Min && y.v.Converged {
		x = y.v.Upper
	}
	for _, s := range unknowns {
		y.v.Exact[s] = new(big.Rat).SetFloat64(x[s])
	}
}

// start returns the best plan of an unknown by bounds.
func (y *robust) start(s uint32) *plan {
	lowest := y.dir.Scheduler() == Min
	up := lowest && y.v.Converged
	var out *plan
	best := 0.0
	y.each(s, func(t, c int) {
		b := y.bound(t, c, up)
		if out == nil || b != best && (b < best) == lowest {
			out, best = &plan{state: t, choice: c}, b
		}
	})
	out.p = y.distribution(out.choice)
	return out
}

// approach makes plans with which every step comes nearer to where the unknowns are
// left, with positive probability.
func (y *robust) approach(unknowns []uint32, plans map[uint32]*plan) {
	near := sparse.NewSet(y.g.NumStates())
	for more := true; more; {
		more = false
		for _, s := range unknowns {
			if near.Has(int(s)) {
				continue
			}
			y.each(s, func(t, c int) {
				first, end := y.g.Row(c)
				for i := first; i < end && !near.Has(int(s)); i++ {
					if u := y.stands(y.g.Target[i]); near.Has(int(u)) || !y.open.Has(int(u)) {
						near.Add(int(s))
						plans[s] = &plan{t, c, y.distribution(c)}
						more = true
					}
				}
			})
		}
	}
}

// improve changes plans of nature that are not best against the scheduler's, or, if
// there are none, plans of the scheduler that are not best.
func (y *robust) improve(unknowns []uint32, plans map[uint32]*plan) (better bool, err error) {
	for _, s := range unknowns {
		at := plans[s]
		p := y.distribution(at.choice)
		if y.worth(at.state, at.choice, p).Cmp(y.v.Exact[s]) != 0 {
			at.p, better = p, true
		}
		if err := y.mt.did(1000 + effort(y.v.Exact[s])); err != nil {
			return false, err
		}
	}
	if better {
		return true, nil
	}
	want := 1
	if y.dir.Scheduler() == Min {
		want = -1
	}
	for _, s := range unknowns {
		most := y.v.Exact[s]
		y.each(s, func(t, c int) {
			p := y.distribution(c)
			if x := y.worth(t, c, p); x.Cmp(most) == want {
				most, better = x, true
				*plans[s] = plan{t, c, p}
			}
		})
		if err := y.mt.did(4000 + effort(most)); err != nil {
			return false, err
		}
	}
	return better, nil
}

// distribution returns nature's best distribution of a choice, for values that are fractions.
func (y *robust) distribution(c int) []*big.Rat {
	m := y.g.Model
	first, end := m.Row(c)
	out := make([]*big.Rat, end-first)
	if y.budget[c] == 0 {
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
	value := func(i int) *big.Rat { return y.v.Exact[y.stands(m.Target[first+i])] }
	slices.SortStableFunc(order, func(i, j int) int {
		if y.dir.nature() == Min {
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
func (y *robust) worth(s, c int, p []*big.Rat) *big.Rat {
	sum := y.reward.GainRat(s, c)
	first, _ := y.g.Row(c)
	term := new(big.Rat)
	for i, q := range p {
		sum.Add(sum, term.Mul(q, y.v.Exact[y.stands(y.g.Target[first+i])]))
	}
	return sum
}

// errImproper says that a plan stays for ever where it must not.
var errImproper = errors.New("no scheduler to start from was found")

// induced gives the unknowns the values of the chain that plans make. Its last two
// states are what is worth 1, for probabilities, or the end, and what is worth nothing.
func (y *robust) induced(ctx context.Context, unknowns []uint32, plans map[uint32]*plan, opts Options) error {
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
		first, _ := y.g.Row(at.choice)
		for j, q := range at.p {
			b.AddRat(y.place(y.g.Target[first+j], number, n), q, sparse.NoAction)
		}
		if g := y.reward.GainRat(at.state, at.choice); g.Sign() != 0 {
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
	if y.prob {
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
		y.v.Exact[s] = v.Exact[i]
	}
	return nil
}

// place returns the state of the chain that a target is.
func (y *robust) place(t uint32, number map[uint32]int, n int) int {
	if i, ok := number[y.stands(t)]; ok {
		return i
	}
	if y.prob && y.v.Exact[t].Sign() == 0 {
		return n + 1
	}
	return n
}
