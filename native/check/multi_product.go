package check

import (
	"errors"
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
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
	lists      lists         // of states of the automata
	column     map[int]int   // in these lists, of each linear objective
	kept       bool          // the plan of each answer
	plans      []plan
	starts     []uint32 // the states of the product in which paths begin
}

// memory is a state of the model with what was seen on the way: two bits for
// each until objective, the number of steps, up to multi.steps, and the states of the
// automata of linear objectives, as the number of their list.
type memory struct {
	state  uint32
	status uint32
	steps  int
	list   uint32
}

// lists numbers lists of states of automata. The first is of those in which nothing has
// been read.
type lists struct {
	of     [][]int
	number map[string]uint32
}

func (l *lists) place(list []int) uint32 {
	key := make([]byte, 0, 4*len(list))
	for _, q := range list {
		key = append(key, byte(q), byte(q>>8), byte(q>>16), byte(q>>24))
	}
	i, ok := l.number[string(key)]
	if !ok {
		if i = uint32(len(l.of)); l.number == nil {
			l.number = map[string]uint32{}
		}
		l.of, l.number[string(key)] = append(l.of, list), i
	}
	return i
}

// What the two bits say.
const (
	open uint32 = iota
	holds
	fails
)

func (x memory) of(i int) uint32 { return x.status >> (2 * i) & 3 }

// automaton returns the state of the automaton of an objective; it has one if it is linear.
func (m *multi) automaton(x memory, i int) int { return m.lists.of[x.list][m.column[i]] }

// arrive returns the memory in a state of the model that is reached from x.
func (m *multi) arrive(x memory, state uint32) (memory, error) {
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
	if len(m.column) == 0 {
		return x, nil
	}
	list := slices.Clone(m.lists.of[x.list])
	for i, k := range m.column {
		q, err := m.objectives[i].reads.step(list[k], state)
		if err != nil {
			return x, m.large(err)
		}
		list[k] = q
	}
	x.list = m.lists.place(list)
	return x, nil
}

// large names the objectives where an automaton is too large.
func (m *multi) large(err error) error {
	if errors.Is(err, automata.ErrTooLarge) {
		return m.unsupported(m.p.X, "found a path formula in multi(...) whose automaton is too large")
	}
	return err
}

// maxProduct is the number of states of a product that takes some gigabytes.
const maxProduct = 20_000_000

// build builds the product, without its end.
func (m *multi) build() error {
	m.column = map[int]int{}
	var unread []int
	for i, o := range m.objectives {
		if m.steps = max(m.steps, o.steps); o.form == linear {
			m.column[i] = len(unread)
			unread = append(unread, o.reads.auto.Initial())
		}
	}
	m.lists.place(unread)
	rows := m.space.Model()
	starts := make([]memory, len(rows.Initial))
	for i, s := range rows.Initial {
		var err error
		if starts[i], err = m.arrive(memory{}, s); err != nil {
			return err
		}
	}
	x, err := sparse.NewProduct(m.ctx, rows, objectiveMemory{m}, starts, nil, maxProduct)
	if err != nil {
		return m.productError(err)
	}
	m.product, m.states, m.choice, m.starts = sparse.NewGraph(x.Model), x.Pairs, x.Choice, x.Start
	return nil
}

// productError names the objectives if their product is too large.
func (m *multi) productError(err error) error {
	if errors.Is(err, sparse.ErrTooLarge) {
		return m.unsupported(m.p.X, "found multi(...) over a product of more than %d states", maxProduct)
	}
	return err
}

// objectiveMemory is what the objectives have to remember as the memory of a product.
type objectiveMemory struct{ *multi }

func (m objectiveMemory) State(x memory) uint32 { return x.state }

func (m objectiveMemory) Step(x memory, t uint32) (memory, error) {
	x.steps = min(x.steps+1, m.steps)
	return m.arrive(x, t)
}

func (m objectiveMemory) Absorbing(memory) bool { return false }

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
				if of := m.choice[c]; of != sparse.None && o.reward.OfChoice(int(x.state), int(of)) > 0 {
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
func (m *multi) stops(x sema.Expr) error {
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
	b := sparse.NewDerivedBuilder(old, sparse.MDP)
	last := uint32(len(m.states))
	same := func(i int) uint32 { return old.Target[i] }
	for s := range m.states {
		b.State()
		first, end := old.Choices(s)
		for c := first; c < end; c++ {
			b.Copy(c, same)
		}
		if len(m.ends[s]) > 0 {
			b.Loop(last)
		}
	}
	b.State()
	b.Loop(last)
	for c, origin := range b.Origin {
		if origin != sparse.None {
			b.Origin[c] = m.choice[origin]
		}
	}
	m.product, m.choice = sparse.NewGraph(b.Finish()), b.Origin
}

// surely returns the states in end components of some choices within which a
// scheduler satisfies a set of objectives with probability one.
func (m *multi) surely(satisfied uint32, choices *sparse.Set) (*sparse.Set, error) {
	ends, err := m.within(satisfied, choices)
	if err != nil {
		return nil, err
	}
	out := sparse.NewSet(m.product.NumStates())
	for i := range ends.Num() {
		members := ends.Members(i)
		switch {
		case !m.recurs(satisfied, members):
		case len(m.guessed(satisfied, members[0])) == 0:
			for _, s := range members {
				out.Add(int(s))
			}
		default:
			l, err := m.limit(satisfied, members, ends.Choices)
			if err != nil {
				return nil, err
			}
			for k, s := range members {
				if l.begin[k] != sparse.None {
					out.Add(int(s))
				}
			}
		}
	}
	return out, nil
}

// within returns the end components of some choices in which a set of objectives may be
// satisfied.
func (m *multi) within(satisfied uint32, choices *sparse.Set) (*sparse.EndComponents, error) {
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
			case o.form == linear:
				ok = ok && o.reads.auto.CanStay(m.automaton(x, i))
			}
		}
		if ok {
			allowed.Add(s)
		}
	}
	return m.product.EndComponents(m.ctx, allowed, choices)
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
