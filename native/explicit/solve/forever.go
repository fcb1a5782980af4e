package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// Forever begins again, and goes on to the end of time: Values are then the part of all
// steps, or of all time, that is spent in each state.
//
// Of how often states are visited before a bottom component is entered follows how likely
// it is that one; of how often its states are between two visits of one of them, the part
// of the time that each takes.
func (f *Forward) Forever(ctx context.Context) error {
	y, err := newSystem(f.g, nil, Max, Options{})
	if err != nil {
		return err
	}
	e := &eternity{Forward: f, y: y, walker: newAverager(ctx, y, f.opts), out: newValues(f.g.Model, Options{Exact: f.exact != nil})}
	comps := f.g.Components(f.met, nil)
	bottom := comps.Bottom(f.g.Model)
	entered, err := e.enter(comps, bottom)
	if err != nil {
		return err
	}
	for i, c := range bottom {
		if err := e.stay(comps.Members(c), entered[i]); err != nil {
			return err
		}
	}
	f.forever = e.out
	return nil
}

// amount is a number that is not negative: exact where fractions are asked for, or
// between lo and hi.
type amount struct {
	lo, hi float64
	exact  *big.Rat
}

// eternity is the end of time under way.
type eternity struct {
	*Forward
	y      *system
	walker *averager
	out    *Values
}

// enter returns how likely each bottom component is to be the one that is entered.
func (e *eternity) enter(comps *sparse.Components, bottom []int) ([]amount, error) {
	if len(bottom) == 1 {
		return []amount{{1, 1, big.NewRat(1, 1)}}, nil
	}
	final := sparse.NewSet(e.g.NumStates())
	for _, c := range bottom {
		for _, s := range comps.Members(c) {
			final.Add(int(s))
		}
	}
	var open []uint32
	begin := make(map[uint32]*big.Rat)
	for _, s := range e.g.Initial {
		begin[s] = big.NewRat(1, int64(len(e.g.Initial)))
	}
	for _, s := range slices.Backward(comps.States) { // as the chain goes
		if !final.Has(int(s)) {
			open = append(open, s)
		}
	}
	visits, err := e.visits(open, begin)
	if err != nil {
		return nil, err
	}
	known := make(map[uint32]amount, len(open))
	for k, s := range open {
		known[s] = visits[k]
	}
	out := make([]amount, len(bottom))
	for i, c := range bottom {
		out[i].exact = new(big.Rat)
		n := 0
		for _, s := range comps.Members(c) {
			n += e.inflow(&out[i], s, begin[s], known)
		}
		out[i].lo = e.y.round.down(out[i].lo, e.y.round.row(2*n))
		out[i].hi = min(e.y.round.up(out[i].hi, e.y.round.row(2*n)), 1)
	}
	return out, nil
}

// inflow adds to x how often a state is entered from some that are known, and what begins in it; it
// returns how many terms that has.
func (e *eternity) inflow(x *amount, s uint32, begin *big.Rat, known map[uint32]amount) (n int) {
	if begin != nil {
		p, _ := begin.Float64()
		x.lo, x.hi = x.lo+p, x.hi+p
		x.exact.Add(x.exact, begin)
	}
	in := e.z.g.Model
	lo, hi := in.Row(int(s))
	for i := lo; i < hi; i++ {
		t := in.Target[i]
		from, ok := known[t]
		if !ok {
			continue
		}
		if e.exact != nil {
			p := new(big.Rat).Quo(in.Rat(i), e.leavingRat(t))
			x.exact.Add(x.exact, p.Mul(p, from.exact))
			continue
		}
		exit, terms := e.leaving(t)
		p := in.Prob(i) / exit
		x.lo, x.hi, n = x.lo+p*from.lo, x.hi+p*from.hi, n+1+terms
	}
	return n
}

// leaving is the weight with which a state is left, and how many terms that has: in a DTMC
// it is no difference.
func (e *eternity) leaving(s uint32) (sum float64, terms int) {
	lo, hi := e.g.Row(int(s))
	for i := lo; i < hi; i++ {
		if e.g.Target[i] != s {
			sum += e.g.Prob(i)
		}
	}
	return sum, hi - lo
}

func (e *eternity) leavingRat(s uint32) *big.Rat {
	sum := new(big.Rat)
	lo, hi := e.g.Row(int(s))
	for i := lo; i < hi; i++ {
		if e.g.Target[i] != s {
			sum.Add(sum, e.g.Rat(i))
		}
	}
	return sum
}

// stay gives the states of a bottom component their parts of a probability.
func (e *eternity) stay(members []uint32, whole amount) error {
	if len(members) == 1 {
		e.assign(members[0], whole)
		return nil
	}
	home := members[len(members)-1] // where the component was entered when it was found
	if e.exact == nil {
		home = e.walker.walk(members)
	}
	var rest []uint32
	for _, s := range slices.Backward(members) {
		if s != home {
			rest = append(rest, s)
		}
	}
	begin := make(map[uint32]*big.Rat)
	lo, hi := e.g.Row(int(home))
	for i := lo; i < hi; i++ {
		if t := e.g.Target[i]; t != home {
			if begin[t] == nil {
				begin[t] = new(big.Rat)
			}
			begin[t].Add(begin[t], e.weight(i))
		}
	}
	exit := new(big.Rat)
	for _, w := range begin {
		exit.Add(exit, w)
	}
	for t := range begin {
		begin[t].Quo(begin[t], exit)
	}
	visits, err := e.visits(rest, begin)
	if err != nil {
		return err
	}
	rest, visits = append(rest, home), append(visits, amount{1, 1, big.NewRat(1, 1)})
	if e.exact != nil {
		e.divideRat(rest, visits, whole.exact)
	} else {
		e.divide(rest, visits, whole)
	}
	return nil
}

// weight is that of a transition, as it is given.
func (e *eternity) weight(i int) *big.Rat {
	if e.exact != nil {
		return e.g.Rat(i)
	}
	return new(big.Rat).SetFloat64(e.g.Prob(i))
}

func (e *eternity) assign(s uint32, x amount) {
	if e.exact != nil {
		e.out.assign(int(s), x.exact)
		return
	}
	e.out.Lower[s], e.out.Upper[s] = x.lo, x.hi
}

// divide shares what is whole in the proportion of visits times how long each takes.
func (e *eternity) divide(states []uint32, visits []amount, whole amount) {
	sum := amount{}
	most := 0
	for k, s := range states {
		exit, terms := e.leaving(s)
		visits[k].lo, visits[k].hi = visits[k].lo/exit, visits[k].hi/exit
		sum.lo, sum.hi, most = sum.lo+visits[k].lo, sum.hi+visits[k].hi, max(most, terms)
	}
	off := 1.01 * (float64(len(states))*unit + 2*e.y.round.row(most))
	for k, s := range states {
		lo, hi := 0.0, whole.hi
		if sum.hi <= math.MaxFloat64 {
			lo = e.y.round.down(whole.lo*(visits[k].lo/sum.hi), off)
		}
		if x := visits[k].hi / sum.lo; x < 1 {
			hi = min(e.y.round.up(whole.hi*x, off), hi)
		}
		e.assign(s, amount{lo: lo, hi: hi})
	}
}

func (e *eternity) divideRat(states []uint32, visits []amount, whole *big.Rat) {
	sum := new(big.Rat)
	for k, s := range states {
		visits[k].exact.Quo(visits[k].exact, e.leavingRat(s))
		sum.Add(sum, visits[k].exact)
	}
	for k, s := range states {
		x := visits[k].exact
		e.assign(s, amount{exact: x.Mul(x.Quo(x, sum), whole)})
	}
}

// visits returns how often each of some states is visited before they are left, where the
// chain begins in them with the given probabilities.
func (e *eternity) visits(states []uint32, begin map[uint32]*big.Rat) ([]amount, error) {
	if len(states) == 0 {
		return nil, nil
	}
	if e.exact != nil {
		return e.visitsRat(states, begin)
	}
	l := e.y.local(states, &e.walker.ws)
	defer e.walker.ws.forget(states)
	v := newVisits(l)
	for k, s := range states {
		if p := begin[s]; p != nil {
			v.begin[k], _ = p.Float64()
		}
	}
	out, ok, err := v.solve(e.walker.mt, e.opts)
	e.out.Converged = e.out.Converged && ok
	return out, err
}

// visitsRat is visits, with fractions.
func (e *eternity) visitsRat(states []uint32, begin map[uint32]*big.Rat) ([]amount, error) {
	ws, in := &e.walker.ws, e.z.g.Model
	for k, s := range states {
		ws.number[s] = uint32(k)
	}
	defer ws.forget(states)
	leaving := make([]*big.Rat, len(states))
	for k, s := range states {
		leaving[k] = e.leavingRat(s)
	}
	rows, each := make([]*exactRow, len(states)), make([]exactRow, len(states))
	for k, s := range states {
		row, scale := &each[k], big.NewInt(1)
		var probs []*big.Rat
		lo, hi := in.Row(int(s))
		for i := lo; i < hi; i++ {
			from := ws.number[in.Target[i]]
			if from == sparse.None || in.Target[i] == s {
				continue
			}
			p := new(big.Rat).Quo(in.Rat(i), leaving[from])
			row.col, probs = append(row.col, from), append(probs, p)
			scale.Mul(scale, new(big.Int).Quo(p.Denom(), new(big.Int).GCD(nil, nil, scale, p.Denom())))
		}
		for _, p := range probs {
			coef := new(big.Int).Quo(scale, p.Denom())
			row.coef = append(row.coef, coef.Mul(coef, p.Num()))
		}
		row.scale, row.unit, row.constant = scale, scale, new(big.Rat)
		if p := begin[s]; p != nil {
			row.constant.Mul(p, new(big.Rat).SetInt(scale))
		}
		rows[k] = row
		if err := e.walker.mt.did(100 * (1 + hi - lo)); err != nil {
			return nil, err
		}
	}
	common := integral(each)
	f, err := newLifting(e.walker.mt, rows)
	if err != nil {
		return nil, err
	}
	num, den, err := f.solve(e.walker.mt, func(k int) *big.Int { return rows[k].integer })
	if err != nil {
		return nil, err
	}
	out := make([]amount, len(states))
	for k := range out {
		out[k].exact = new(big.Rat).SetFrac(num[k], new(big.Int).Mul(den, common))
	}
	return out, nil
}
