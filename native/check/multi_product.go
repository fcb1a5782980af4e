package check

import (
	"errors"
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// multi is the product of the model with the memory of the objectives, and the states where paths may end.
type multi struct {
	*evaluation
	objectives     []*objective
	steps          int           // the greatest bound of a C<=k
	product        *sparse.Graph // of which the last state is the end
	states         []memory      // of the product, but for the end
	choice         []uint32      // of the model, for each choice of the product; None for those that lead to the end
	ends           [][]uint32    // sets of objectives, as bits, with which a path may end in each state
	lists          lists         // of states of the automata
	column         map[int]int   // in these lists, of each linear objective
	keepSchedulers bool          // of each answer of the oracle
	schedulers     []weightedScheduler
	starts         []uint32 // the states of the product in which paths begin
}

// memory is a state of the model with what the objectives remember of the path: two bits for each until objective, the
// number of steps (at most multi.steps), and the states of the automata of linear objectives, by the number of their list.
type memory struct {
	state  uint32
	status uint32
	steps  int
	list   uint32
}

// lists numbers lists of states of automata. Number 0 is the list of initial states, before anything is read.
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
	// The status of an until objective on a path.
	open uint32 = iota
	holds
	fails
)

// untilStatus returns the two bits of an until objective.
func (x memory) untilStatus(i int) uint32 { return x.status >> (2 * i) & 3 }

// automaton returns the state of the automaton of a linear objective.
func (m *multi) automaton(x memory, i int) int { return m.lists.of[x.list][m.column[i]] }

// remember returns the memory after a path that was at x goes to a state of the model.
func (m *multi) remember(x memory, state uint32) (memory, error) {
	x.state = state
	for i, o := range m.objectives {
		switch {
		case o.form != until || x.untilStatus(i) != open:
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
		q, err := m.objectives[i].reader.step(list[k], state)
		if err != nil {
			return x, m.large(err)
		}
		list[k] = q
	}
	x.list = m.lists.place(list)
	return x, nil
}

// large replaces the error of an automaton that is too large by a refusal of the property.
func (m *multi) large(err error) error {
	if errors.Is(err, automata.ErrTooLarge) {
		return m.unsupported(m.p.X, "found a path formula in multi(...) whose automaton is too large")
	}
	return err
}

// maxProduct limits the states of a product, which then takes some gigabytes.
const maxProduct = 20_000_000

// build builds the product without its end state.
func (m *multi) build() error {
	m.column = map[int]int{}
	var unread []int
	for i, o := range m.objectives {
		if m.steps = max(m.steps, o.steps); o.form == linear {
			m.column[i] = len(unread)
			unread = append(unread, o.reader.auto.Initial())
		}
	}
	m.lists.place(unread)
	rows := m.space.Model()
	starts := make([]memory, len(rows.Initial))
	for i, s := range rows.Initial {
		var err error
		if starts[i], err = m.remember(memory{}, s); err != nil {
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
	return m.remember(x, t)
}

func (m objectiveMemory) Absorbing(memory) bool { return false }

// earned reports whether a reward objective counts the rewards of a state.
func (o *objective) earned(x memory) bool {
	return o.form == rewards && (o.steps < 0 || x.steps < o.steps)
}

// choicesWithoutReward returns the choices of the product that earn nothing for the objectives that are maximised, or
// minimised.
func (m *multi) choicesWithoutReward(least bool) *sparse.Set {
	out := sparse.FullSet(m.product.NumChoices())
	for _, o := range m.objectives {
		if o.form != rewards || o.steps >= 0 || o.great != least {
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

// findEnds finds the states where paths may end, and adds the end state. After its end a path earns nothing. Rewards that
// are minimised must be 0 there; rewards that are maximised are refused if they could be infinite.
func (m *multi) findEnds(x sema.Expr) error {
	all, err := m.product.EndComponents(m.ctx, nil, nil)
	if err != nil {
		return err
	}
	if costly := all.Choices.Minus(m.choicesWithoutReward(true)); !costly.Empty() {
		return m.unsupported(x, "found multi(...) with a reward that is to be great and that may be collected for ever")
	}
	free := m.choicesWithoutReward(false)
	var wanted uint32
	for i, o := range m.objectives {
		if o.form != rewards {
			wanted |= 1 << i
		}
	}
	m.ends = make([][]uint32, len(m.states))
	for satisfied := wanted; ; satisfied = (satisfied - 1) & wanted { // supersets first
		found, err := m.surelySatisfied(satisfied, free)
		if err != nil {
			return err
		}
		for s := range found.All() {
			if !slices.ContainsFunc(m.ends[s], func(of uint32) bool { return of&satisfied == satisfied }) {
				m.ends[s] = append(m.ends[s], satisfied)
			}
		}
		if satisfied == 0 {
			m.addEnd()
			return nil
		}
	}
}

// addEnd adds the end state, and gives each state where a path may end one more choice, its last, that leads there.
func (m *multi) addEnd() {
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

// surelySatisfied returns the states in end components of the given choices within which a scheduler satisfies a set of
// objectives with probability one.
func (m *multi) surelySatisfied(satisfied uint32, choices *sparse.Set) (*sparse.Set, error) {
	ends, err := m.satisfyingComponents(satisfied, choices)
	if err != nil {
		return nil, err
	}
	out := sparse.NewSet(m.product.NumStates())
	for i := range ends.Num() {
		members := ends.Members(i)
		switch {
		case !m.visitsRecurringSets(satisfied, members):
		case len(m.openObjectives(satisfied, members[0])) == 0:
			for _, s := range members {
				out.Add(int(s))
			}
		default:
			l, err := m.newAcceptingComponent(satisfied, members, ends.Choices)
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

// satisfyingComponents returns the end components of the given choices in which a set of objectives may be satisfied.
func (m *multi) satisfyingComponents(satisfied uint32, choices *sparse.Set) (*sparse.EndComponents, error) {
	allowed := sparse.NewSet(m.product.NumStates())
	for s, x := range m.states {
		ok := true
		for i, o := range m.objectives {
			switch {
			case satisfied>>i&1 == 0:
			case o.form == until:
				ok = ok && (x.untilStatus(i) == holds && !o.negated || x.untilStatus(i) != holds && o.negated)
			case o.form == lasting:
				ok = ok && o.set.Has(int(x.state))
			case o.form == linear:
				ok = ok && o.reader.auto.CanStay(m.automaton(x, i))
			}
		}
		if ok {
			allowed.Add(s)
		}
	}
	return m.product.EndComponents(m.ctx, allowed, choices)
}

// visitsRecurringSets reports whether the states include one of each set that must be visited infinitely often.
func (m *multi) visitsRecurringSets(satisfied uint32, states []uint32) bool {
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
