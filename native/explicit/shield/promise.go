package shield

import (
	"context"
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// Promise is what schedulers of the choices that are allowed attain, from the first
// initial state: at best, at worst, and if each choice is as likely as the others. Free is the last
// without a shield.
type Promise struct {
	Best, Worst, Uniform, Free Number
	// Obeying is the scheduler that attains Worst: a choice of each state that is allowed.
	Obeying []uint32
}

// Promise computes it, of the restricted model itself: with fractions if the shield has them.
func (x *Shield) Promise(ctx context.Context) (*Promise, error) {
	exact := x.value.exact != nil
	m := x.restricted()
	p := &Promise{}
	first := x.Space.Model().Initial[0]
	for _, f := range []struct {
		out  *Number
		m    *sparse.Model
		most bool
	}{
		{&p.Best, m, x.Max}, {&p.Worst, m, !x.Max}, {&p.Uniform, uniform(m, exact), x.Max}, {&p.Free, uniform(x.Space.Model(), exact), x.Max},
	} {
		v, choices, err := x.solve(ctx, sparse.NewGraph(f.m), f.most, exact)
		if err != nil {
			return nil, err
		}
		*f.out = v.at(int(first))
		if f.out == &p.Worst {
			p.Obeying = x.obeying(choices)
		}
	}
	return p, nil
}

// obeying returns the choices of the model that choices of the restricted one are: the first
// that is allowed where any of those will do.
func (x *Shield) obeying(choices []uint32) []uint32 {
	m := x.Space.Model()
	out := make([]uint32, m.NumStates())
	kept := uint32(0)
	for s := range out {
		out[s] = sparse.None
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if !x.Allowed.Has(c) {
				continue
			}
			if out[s] == sparse.None || choices[s] == kept {
				out[s] = uint32(c)
			}
			kept++
		}
	}
	return out
}

// Attains returns what a scheduler attains from the first initial state: a choice of each state.
func (x *Shield) Attains(ctx context.Context, choices []uint32) (Number, error) {
	m := x.Space.Model()
	only := sparse.NewSet(m.NumChoices())
	for _, c := range choices {
		only.Add(int(c))
	}
	v, _, err := x.solve(ctx, sparse.NewGraph(m.Restrict(only)), x.Max, x.value.exact != nil)
	if err != nil {
		return Number{}, err
	}
	return v.at(int(m.Initial[0])), nil
}

// uniform returns the Markov chain in which the choices of a state are equally likely; with fractions, or with doubles and what they are off.
func uniform(m *sparse.Model, exact bool) *sparse.Model {
	if !exact {
		return uniformDoubles(m)
	}
	out := &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}, Initial: m.Initial, Err: 0x1p-52}
	known := map[string]uint32{}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		var order []uint32
		sum := map[uint32]*big.Rat{}
		for c := first; c < end; c++ {
			from, to := m.Row(c)
			for i := from; i < to; i++ {
				t := m.Target[i]
				if sum[t] == nil {
					sum[t] = new(big.Rat)
					order = append(order, t)
				}
				sum[t].Add(sum[t], m.Rat(i))
			}
		}
		share := big.NewRat(1, int64(end-first))
		for _, t := range order {
			w := sum[t].Mul(sum[t], share)
			text := w.RatString()
			n, ok := known[text]
			if !ok {
				n = uint32(len(out.Rats))
				known[text] = n
				f, _ := w.Float64()
				out.Rats, out.Weights = append(out.Rats, w), append(out.Weights, f)
			}
			out.Target, out.Weight = append(out.Target, t), append(out.Weight, n)
		}
		out.Start = append(out.Start, uint32(len(out.Target)))
	}
	return out
}

// uniformDoubles adds no transitions up: a chain may have several to one state.
func uniformDoubles(m *sparse.Model) *sparse.Model {
	out := &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}, Initial: m.Initial, Err: m.Err + 0x1p-51}
	type share struct {
		weight  uint32
		choices int
	}
	known := map[share]uint32{}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		from, to := m.Start[first], m.Start[end]
		for i := from; i < to; i++ {
			key := share{m.Weight[i], end - first}
			n, ok := known[key]
			if !ok {
				n = uint32(len(out.Weights))
				known[key] = n
				out.Weights = append(out.Weights, m.Weights[key.weight]/float64(key.choices))
			}
			out.Target, out.Weight = append(out.Target, m.Target[i]), append(out.Weight, n)
		}
		out.Start = append(out.Start, uint32(len(out.Target)))
	}
	return out
}

// Figures say how permissive a shield is, over the states that can be reached under it in
// which the formula is not decided.
type Figures struct {
	States     int // that are reached
	Deciding   int // of these, with several choices
	Restricted int // of these, in which a choice is not allowed
	Choices    int // of the deciding states
	Allowed    int // of these
}

// Figures counts.
func (x *Shield) Figures() Figures {
	var f Figures
	m := x.Space.Model()
	r := sparse.NewGraph(x.restricted())
	from := sparse.NewSet(m.NumStates())
	for _, s := range m.Initial {
		from.Add(int(s))
	}
	for s := range reached(r.Model, from).All() {
		f.States++
		first, end := m.Choices(s)
		if end-first < 2 || x.decided(s) {
			continue
		}
		allowed := 0
		for c := first; c < end; c++ {
			if x.Allowed.Has(c) {
				allowed++
			}
		}
		f.Deciding++
		f.Choices += end - first
		f.Allowed += allowed
		if allowed < end-first {
			f.Restricted++
		}
	}
	return f
}

// reached returns the states that are reached.
func reached(m *sparse.Model, from *sparse.Set) *sparse.Set {
	out := from.Clone()
	var todo []int
	for s := range from.All() {
		todo = append(todo, s)
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		first, end := m.Choices(s)
		for _, t := range m.Target[m.Start[first]:m.Start[end]] {
			if !out.Has(int(t)) {
				out.Add(int(t))
				todo = append(todo, int(t))
			}
		}
	}
	return out
}
