package files

import (
	"cmp"
	"context"
	"math/big"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// rewFile reads .srew and .trew files.
type rewFile struct {
	*lines
	exact bool
	model *sparse.Model
	name  string
	named bool
}

// newRewFile reads the header and the line of totals, and returns the number of rewards from it.
// totals are the expected totals before that number.
func newRewFile(src Source, what string, m *sparse.Model, exact bool, totals []int) (*rewFile, int, bool) {
	r := &rewFile{lines: newLines(src), exact: exact, model: m}
	if !r.data(what, r.comment) {
		if len(r.errs) == 0 {
			r.failEnd("found the end of the file, wanted the totals")
		}
		return r, 0, false
	}
	f := r.fields
	if len(f) != len(totals)+1 {
		r.fail(0, "found %d totals, wanted %d", len(f), len(totals)+1)
		return r, 0, false
	}
	for i, want := range totals {
		n, ok := r.count(f[i], "total")
		if !ok {
			return r, 0, false
		}
		if n != want {
			r.fail(f[i].at, "found %d %s, wanted %d as the transitions have", n, []string{"states", "choices"}[i], want)
			return r, 0, false
		}
	}
	n, ok := r.count(f[len(totals)], "number of rewards")
	return r, n, ok
}

// comment reads the name in the comment # Reward structure "name".
func (r *rewFile) comment(text string) {
	rest, ok := strings.CutPrefix(text, "# Reward structure")
	if !ok {
		return
	}
	r.named = true
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return
	}
	if len(rest) < 3 || rest[0] != '"' || rest[len(rest)-1] != '"' || strings.Contains(rest[1:len(rest)-1], `"`) {
		r.fail(0, "found %s, wanted the name of a reward structure in quotes", quote([]byte(rest)))
		return
	}
	r.name = rest[1 : len(rest)-1]
}

// each calls visit for every line. A line has the given number of entries, the last of which is
// the reward. It checks the number of lines against the total.
func (r *rewFile) each(ctx context.Context, what string, entries, total int, visit func(x number)) error {
	found := 0
	for ; r.data(what, nil); found++ {
		if found&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(r.fields) != entries {
			r.fail(0, "found %d entries, wanted %d", len(r.fields), entries)
			continue
		}
		f := r.fields[entries-1]
		x, ok := r.value(f, "reward", r.exact)
		switch {
		case !ok:
		case x.f < 0:
			r.fail(f.at, "found reward %s, wanted none below 0", quote(f.text))
		default:
			visit(x)
		}
	}
	if len(r.errs) == 0 && found != total {
		r.failEnd("found %d rewards, wanted %d as the first line says", found, total)
	}
	return nil
}

// column holds a reward per state, choice or transition, and the set of entries that were given.
type column struct {
	values []float64
	rats   []*big.Rat
	set    *sparse.Set
}

func newColumn(n int, exact bool) *column {
	c := &column{values: make([]float64, n), set: sparse.NewSet(n)}
	if exact {
		c.rats = make([]*big.Rat, n)
	}
	return c
}

func (c *column) put(i int, x number) {
	c.set.Add(i)
	c.values[i] = x.f
	if c.rats != nil && x.r.Sign() != 0 {
		c.rats[i] = x.r
	}
}

func (c *column) at(i int) number {
	x := number{f: c.values[i]}
	if c.rats != nil {
		x.r = cmp.Or(c.rats[i], new(big.Rat))
	}
	return x
}

// readStateRewards reads a .srew file.
func readStateRewards(ctx context.Context, src Source, m *sparse.Model, exact bool) (*rewFile, *column, error) {
	const what = "state rewards"
	out := newColumn(m.NumStates(), exact)
	r, total, ok := newRewFile(src, what, m, exact, []int{m.NumStates()})
	if !ok {
		return r, out, nil
	}
	last := -1
	return r, out, r.each(ctx, what, 2, total, func(x number) {
		s, ok := r.index(r.fields[0], "state", m.NumStates())
		switch {
		case !ok:
		case s <= last:
			r.fail(r.fields[0].at, "found state %d after state %d, wanted states in order and each once", s, last)
		default:
			last = s
			out.put(s, x)
		}
	})
}

// readTransitionRewards reads a .trew file. choices is the number of choices in the .tra file,
// without those added for deadlocks.
func readTransitionRewards(ctx context.Context, src Source, m *sparse.Model, exact bool, choices int) (*rewFile, *column, error) {
	const what = "transition rewards"
	out := newColumn(m.NumTransitions(), exact)
	totals, entries := []int{m.NumStates()}, 3
	if m.Kind == sparse.MDP {
		totals, entries = []int{m.NumStates(), choices}, 4
	}
	r, total, ok := newRewFile(src, what, m, exact, totals)
	if !ok {
		return r, out, nil
	}
	t := &trewFile{rewFile: r, out: out, pending: -1}
	err := r.each(ctx, what, entries, total, t.line)
	if err == nil && len(r.errs) == 0 {
		t.endGroup()
		t.wholeChoices()
	}
	return r, out, err
}

// trewFile reads a .trew file.
type trewFile struct {
	*rewFile
	out *column
	// group has the transitions with the current state and target. pending is the index in
	// group for the next line with this state and target; -1 for none.
	pending       int
	group         []int
	state, target int
}

func (t *trewFile) line(x number) {
	f := t.fields
	s, ok := t.index(f[0], "state", t.model.NumStates())
	if !ok {
		return
	}
	c, end := t.model.Choices(s)
	if t.model.Kind == sparse.MDP {
		j, ok := t.index(f[1], "choice", end-c)
		if !ok {
			return
		}
		c += j
	}
	target, ok := t.index(f[len(f)-2], "state", t.model.NumStates())
	if !ok {
		return
	}
	i := t.transition(c, s, target)
	switch {
	case i < 0:
		t.fail(f[len(f)-2].at, "found a reward of going from state %d to %d, wanted one of a transition", s, target)
	case t.out.set.Has(i):
		t.fail(0, "found a second reward of going from state %d to %d, wanted one", s, target)
	case t.model.Kind == sparse.MDP && t.differs(c, x):
		t.fail(f[3].at, "found another reward for the same choice, wanted one: rewards that depend on the target are not supported")
	default:
		t.out.put(i, x)
	}
}

// transition returns the transition from s to target that a line describes; -1 if there is none.
// Transitions of a Markov chain with the same target have one line each, in the order of their
// actions.
func (t *trewFile) transition(c, s, target int) int {
	if t.state == s && t.target == target && t.pending >= 0 && t.pending < len(t.group) {
		t.pending++
		return t.group[t.pending-1]
	}
	t.endGroup()
	t.group = t.group[:0]
	lo, hi := t.model.Row(c)
	for i := lo; i < hi; i++ {
		if int(t.model.Target[i]) == target {
			t.group = append(t.group, i)
		}
	}
	if len(t.group) == 0 {
		return -1
	}
	t.state, t.target, t.pending = s, target, 1
	return t.group[0]
}

// endGroup reports an error if a reader cannot know which transitions of the group the rewards
// belong to, and this matters.
func (t *trewFile) endGroup() {
	if t.pending > 0 && t.pending < len(t.group) && !interchangeable(t.model, t.group) {
		t.fail(0, "found %d rewards of going from state %d to %d before here, wanted %d, zeros included: there are so many transitions, with different actions and probabilities", t.pending, t.state, t.target, len(t.group))
	}
	t.pending = -1
}

// differs reports whether another transition of choice c has another reward.
func (t *trewFile) differs(c int, x number) bool {
	lo, hi := t.model.Row(c)
	for i := lo; i < hi; i++ {
		if !t.out.set.Has(i) {
			continue
		}
		if y := t.out.at(i); y.f != x.f || t.exact && y.r.Cmp(x.r) != 0 {
			return true
		}
	}
	return false
}

// wholeChoices checks that the reward of a choice was given for all its targets.
func (t *trewFile) wholeChoices() {
	if t.model.Kind != sparse.MDP {
		return
	}
	for s := range t.model.NumStates() {
		first, end := t.model.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := t.model.Row(c)
			n := 0
			for i := lo; i < hi; i++ {
				if t.out.set.Has(i) {
					n++
				}
			}
			if n != 0 && n != hi-lo {
				t.failEnd("found rewards for %d of the %d transitions of choice %d of state %d, wanted one for each", n, hi-lo, c-first, s)
			}
		}
	}
}

// structure makes a reward structure from state rewards and transition rewards; either may be nil.
func structure(m *sparse.Model, name string, state, trans *column) (sparse.Reward, explicit.TransitionReward) {
	out := sparse.Reward{Name: name, Err: unit}
	each := explicit.TransitionReward{}
	if state == nil && m.Exact() {
		state = newColumn(m.NumStates(), true)
	}
	if state != nil {
		out.State, out.StateRat = state.values, state.rats
	}
	if trans == nil && m.Exact() {
		trans = newColumn(m.NumTransitions(), true)
	}
	if trans == nil {
		return out, each
	}
	choice := newColumn(m.NumChoices(), m.Exact())
	widest := 0
	for c := range m.NumChoices() {
		lo, hi := m.Row(c)
		widest = max(widest, hi-lo)
		choice.put(c, choiceReward(m, trans, c))
	}
	out.Choice, out.ChoiceRat = choice.values, choice.rats
	if m.Kind != sparse.MDP {
		each = explicit.TransitionReward{Values: trans.values, Rats: trans.rats}
		out.Err = 1.01 * (m.Err + float64(widest+2)*unit)
	}
	return out, each
}

// unequal reports whether two transitions of some choice have different rewards.
func unequal(m *sparse.Model, x *column) bool {
	for c := range m.NumChoices() {
		lo, hi := m.Row(c)
		for t := lo + 1; t < hi; t++ {
			if x.at(t).r.Cmp(x.at(lo).r) != 0 {
				return true
			}
		}
	}
	return false
}

// unit is the unit roundoff: the largest relative error of one rounding.
const unit = 0x1p-53

// choiceReward returns the reward of choice c: in an MDP that of its transitions, in a Markov
// chain their weighted sum.
func choiceReward(m *sparse.Model, x *column, c int) number {
	lo, hi := m.Row(c)
	if m.Kind == sparse.MDP || m.Intervals() {
		return x.at(lo)
	}
	sum := number{}
	if x.rats == nil {
		for t := lo; t < hi; t++ {
			sum.f += m.Prob(t) * x.values[t]
		}
		return sum
	}
	sum.r = new(big.Rat)
	for t := lo; t < hi; t++ {
		sum.r.Add(sum.r, new(big.Rat).Mul(m.Rat(t), x.at(t).r))
	}
	sum.f, _ = sum.r.Float64()
	return sum
}
