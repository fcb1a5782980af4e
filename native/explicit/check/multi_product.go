package check

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// multi is the product of the model with what the objectives have to remember, and the
// places where paths may end.
type multi struct {
	*evaluation
	objectives []*objective
	steps      int           // the greatest bound of a C<=k
	product    *sparse.Graph // of which the last state is the end
	states     []memory      // of the product, but for the end
	choice     []uint32      // of the model, for each choice of the product; None for those that lead to the end
	ends       [][]uint32    // sets of objectives, as bits, with which a path may end in each state
}

// memory is a state of the model with what was seen on the way: two bits for
// each until objective, and the number of steps, up to multi.steps.
type memory struct {
	state  uint32
	status uint32
	steps  int
}

// What the two bits say.
const (
	open uint32 = iota
	holds
	fails
)

func (x memory) of(i int) uint32 { return x.status >> (2 * i) & 3 }

// arrive returns the memory in a state of the model that is reached from x.
func (m *multi) arrive(x memory, state uint32) memory {
	x.state = state
	for i, o := range m.objectives {
		switch {
		case o.form != until || x.of(i) != open:
		case o.right.Has(int(state)):
			x.status |= holds << (2 * i)
		case !o.left.Has(int(state)):
			x.status |= fails << (2 * i)
		}
	}
	return x
}

// maxProduct is the number of states of a product that takes some gigabytes.
const maxProduct = 20_000_000

// build builds the product, without its end.
func (m *multi) build() error {
	for _, o := range m.objectives {
		m.steps = max(m.steps, o.steps)
	}
	number := map[memory]uint32{}
	place := func(x memory) uint32 {
		i, ok := number[x]
		if !ok {
			i = uint32(len(m.states))
			number[x] = i
			m.states = append(m.states, x)
		}
		return i
	}
	rows := m.space.Model()
	out := &sparse.Model{Kind: sparse.MDP, Weights: rows.Weights, Rats: rows.Rats, Err: rows.Err}
	place(m.arrive(memory{}, rows.Initial[0]))
	for i := 0; i < len(m.states); i++ {
		if i&0xfff == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		if len(m.states) > maxProduct || len(out.Target) >= math.MaxUint32/2 {
			return m.unsupported(m.p.X, "found multi(...) over a product of more than %d states", maxProduct)
		}
		from := m.states[i]
		out.First = append(out.First, uint32(len(out.Start)))
		first, end := rows.Choices(int(from.state))
		from.steps = min(from.steps+1, m.steps)
		for c := first; c < end; c++ {
			out.Start = append(out.Start, uint32(len(out.Target)))
			m.choice = append(m.choice, uint32(c))
			lo, hi := rows.Row(c)
			for _, t := range rows.Target[lo:hi] {
				out.Target = append(out.Target, place(m.arrive(from, t)))
			}
			out.Weight = append(out.Weight, rows.Weight[lo:hi]...)
		}
	}
	out.First = append(out.First, uint32(len(out.Start)))
	out.Start = append(out.Start, uint32(len(out.Target)))
	m.product = sparse.NewGraph(out)
	return nil
}

// earned reports whether rewards count for an objective.
func (o *objective) earned(x memory) bool {
	return o.form == rewards && (o.steps < 0 || x.steps < o.steps)
}

// free returns the choices of the product without rewards of objectives that
// are to be great, or to be small.
func (m *multi) free(least bool) *sparse.Set {
	out := sparse.FullSet(m.product.NumChoices())
	for _, o := range m.objectives {
		if o.form != rewards || o.steps >= 0 || o.least != least {
			continue
		}
		for s, x := range m.states {
			first, end := m.product.Choices(s)
			for c := first; c < end; c++ {
				if o.reward.Gain(int(x.state), int(m.choice[c])) > 0 {
					out.Remove(c)
				}
			}
		}
	}
	return out
}

// stops finds where paths may end, and adds the end. What can be collected there is
// nothing: rewards that are to be small must not be, and those that are to be great are
// refused if they would be infinite.
func (m *multi) stops(x *sema.Multi) error {
	all, err := m.product.EndComponents(m.ctx, nil, nil)
	if err != nil {
		return err
	}
	if costly := all.Choices.Minus(m.free(true)); !costly.Empty() {
		return m.unsupported(x, "found multi(...) with a reward that is to be great and that may be collected for ever")
	}
	free := m.free(false)
	var wanted uint32
	for i, o := range m.objectives {
		if o.form != rewards {
			wanted |= 1 << i
		}
	}
	m.ends = make([][]uint32, len(m.states))
	for satisfied := wanted; ; satisfied = (satisfied - 1) & wanted { // supersets first
		found, err := m.surely(satisfied, free)
		if err != nil {
			return err
		}
		for s := range found.All() {
			if !slices.ContainsFunc(m.ends[s], func(of uint32) bool { return of&satisfied == satisfied }) {
				m.ends[s] = append(m.ends[s], satisfied)
			}
		}
		if satisfied == 0 {
			m.finish()
			return nil
		}
	}
}

// finish gives each state that a path may end in a choice that leads to the end, its last.
func (m *multi) finish() {
	old := m.product.Model
	out := &sparse.Model{Kind: sparse.MDP, Rats: old.Rats, Weights: old.Weights, Err: old.Err}
	one := out.One()
	last := uint32(len(m.states))
	var choice []uint32
	add := func(of uint32, targets, weights []uint32) {
		out.Start = append(out.Start, uint32(len(out.Target)))
		out.Target, out.Weight = append(out.Target, targets...), append(out.Weight, weights...)
		choice = append(choice, of)
	}
	for s := range m.states {
		out.First = append(out.First, uint32(len(out.Start)))
		first, end := old.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := old.Row(c)
			add(m.choice[c], old.Target[lo:hi], old.Weight[lo:hi])
		}
		if len(m.ends[s]) > 0 {
			add(sparse.None, []uint32{last}, []uint32{one})
		}
	}
	out.First = append(out.First, uint32(len(out.Start)))
	add(sparse.None, []uint32{last}, []uint32{one})
	out.First = append(out.First, uint32(len(out.Start)))
	out.Start = append(out.Start, uint32(len(out.Target)))
	m.product, m.choice = sparse.NewGraph(out), choice
}

// surely returns the states in end components of some choices within which a
// scheduler satisfies a set of objectives with probability one.
func (m *multi) surely(satisfied uint32, choices *sparse.Set) (*sparse.Set, error) {
	allowed := sparse.NewSet(m.product.NumStates())
	for s, x := range m.states {
		ok := true
		for i, o := range m.objectives {
			switch {
			case satisfied>>i&1 == 0:
			case o.form == until:
				ok = ok && (x.of(i) == holds && !o.negated || x.of(i) != holds && o.negated)
			case o.form == lasting:
				ok = ok && o.set.Has(int(x.state))
			}
		}
		if ok {
			allowed.Add(s)
		}
	}
	ends, err := m.product.EndComponents(m.ctx, allowed, choices)
	if err != nil {
		return nil, err
	}
	out := sparse.NewSet(m.product.NumStates())
	for i := range ends.Num() {
		if m.recurs(satisfied, ends.Members(i)) {
			for _, s := range ends.Members(i) {
				out.Add(int(s))
			}
		}
	}
	return out, nil
}

// recurs reports whether some states have one of each set to be visited
// infinitely often.
func (m *multi) recurs(satisfied uint32, states []uint32) bool {
	for i, o := range m.objectives {
		if satisfied>>i&1 == 0 || o.form != recurring {
			continue
		}
		met := false
		for _, s := range states {
			met = met || o.set.Has(int(m.states[s].state))
		}
		if !met {
			return false
		}
	}
	return true
}
