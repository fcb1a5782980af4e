package tree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// Objective is what the scheduler is good for: the probability of Left U Target, or the
// reward until Target.
type Objective struct {
	Left, Target *sparse.Set
	Reward       *sparse.Reward // nil asks for the probability
	Direction    solve.Direction
	// Lower and Upper bound the optimum in every state.
	Lower, Upper []float64
	// Choice is an optimal scheduler.
	Choice []uint32
}

// Options say what a tree may lose. The zero value is nothing but what bounds are wide.
type Options struct {
	Loss float64 // absolute
	// Epsilon is the relative width of bounds; 0 is solve's default.
	Epsilon float64
}

// UnnamedError says that a choice cannot be made by a module: it has no action, or
// another choice of its state has the same.
type UnnamedError struct{ State int }

func (e *UnnamedError) Error() string {
	return fmt.Sprintf("state %d has several choices of which some have no action, or the same: a module cannot choose among them", e.State)
}

// learner learns trees. Not safe for concurrent use.
type learner struct {
	Objective
	space   *explicit.Space
	m       *sparse.Model
	opts    Options
	grower  grower
	ruled   map[sparse.Action]bool
	samples map[uint32][]sparse.Action // what will do in states that were met
	near    float64                    // how much worse a choice may be
	strict  bool                       // only the choices of the scheduler
}

// Learn returns the smallest tree that it finds. The error is that of the context, an
// *UnnamedError, or that of a scheduler that no tree attains.
func Learn(ctx context.Context, space *explicit.Space, o Objective, opts Options) (*Tree, error) {
	l := &learner{Objective: o, space: space, m: space.Model(), opts: opts, ruled: map[sparse.Action]bool{}}
	p := space.Program()
	l.grower = grower{vars: p.Vars, actions: len(p.Actions) + 1}
	for s := range l.m.NumStates() {
		if first, end := l.m.Choices(s); end-first > 1 {
			for c := first; c < end; c++ {
				l.ruled[l.action(c)] = true
			}
		}
	}
	delete(l.ruled, sparse.NoAction)
	var best *Tree
	for _, near := range []float64{1e-9, opts.Loss / 64, opts.Loss / 8, opts.Loss, -1} {
		l.near, l.strict = max(near, 1e-9), near < 0
		if l.strict && best != nil {
			break
		}
		t, err := l.attempt(ctx)
		if err != nil {
			return nil, err
		}
		if t != nil && (best == nil || t.Leaves < best.Leaves) {
			best = t
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no tree was found that loses at most %g", opts.Loss)
	}
	return l.prune(ctx, best)
}

func (l *learner) action(c int) sparse.Action {
	if l.m.Actions == nil {
		return sparse.NoAction
	}
	return l.m.Actions[c]
}

// attempt grows trees until one decides well in every state that it gets to, and
// evaluates it. A tree that loses too much is nil.
func (l *learner) attempt(ctx context.Context) (*Tree, error) {
	l.samples = map[uint32][]sparse.Action{}
	if err := l.follow(func(s uint32) (int, error) { return l.chosen(s), l.sample(s) }); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		root := &node{}
		if samples := l.sorted(); len(samples) > 0 {
			root = l.grower.grow(samples)
		}
		before := len(l.samples)
		if err := l.follow(func(s uint32) (int, error) {
			c := l.choiceOf(root, s)
			if c < 0 || !l.will(s, c) {
				if err := l.sample(s); err != nil {
					return 0, err
				}
				c = l.chosen(s)
			}
			return c, nil
		}); err != nil {
			return nil, err
		}
		if len(l.samples) == before {
			return l.evaluate(ctx, root)
		}
	}
}

// chosen returns the scheduler's choice.
func (l *learner) chosen(s uint32) int {
	if c := l.Choice[s]; c != sparse.None {
		return int(c)
	}
	first, _ := l.m.Choices(int(s))
	return first
}

// over reports whether what is done in a state does not matter any more.
func (l *learner) over(s uint32) bool {
	return l.Target.Has(int(s)) || l.Reward == nil && !l.Left.Has(int(s))
}

// follow visits the states that are reached by choices, until they do not matter.
func (l *learner) follow(choose func(s uint32) (int, error)) error {
	seen := sparse.NewSet(l.m.NumStates())
	queue := slices.Clone(l.m.Initial)
	for _, s := range queue {
		seen.Add(int(s))
	}
	for i := 0; i < len(queue); i++ {
		if l.over(queue[i]) {
			continue
		}
		c, err := choose(queue[i])
		if err != nil {
			return err
		}
		lo, hi := l.m.Row(c)
		for _, t := range l.m.Target[lo:hi] {
			if !seen.Has(int(t)) {
				seen.Add(int(t))
				queue = append(queue, t)
			}
		}
	}
	return nil
}

// sample notes what will do in a state, unless a module need not say.
func (l *learner) sample(s uint32) error {
	if _, known := l.samples[s]; known {
		return nil
	}
	first, end := l.m.Choices(int(s))
	if end-first == 1 && !l.ruled[l.action(first)] {
		return nil
	}
	var all, good []sparse.Action
	for c := first; c < end; c++ {
		a := l.action(c)
		if end-first > 1 && a == sparse.NoAction || slices.Contains(all, a) {
			return &UnnamedError{int(s)}
		}
		all = append(all, a)
		if l.will(s, c) {
			good = append(good, a)
		}
	}
	slices.Sort(good)
	l.samples[s] = good
	return nil
}

// will reports whether a choice is good enough.
func (l *learner) will(s uint32, c int) bool {
	if first, end := l.m.Choices(int(s)); end-first == 1 || c == l.chosen(s) || l.Choice[s] == sparse.None {
		return true
	}
	return !l.strict && math.Abs(l.worth(c, int(s))-l.value(s)) <= l.near*max(1, math.Abs(l.value(s)))
}

// value is about the optimum.
func (l *learner) value(s uint32) float64 {
	if l.Lower[s] == l.Upper[s] {
		return l.Lower[s]
	}
	return l.Lower[s]/2 + l.Upper[s]/2
}

// worth is about what a choice is worth.
func (l *learner) worth(c, s int) float64 {
	x := 0.0
	if l.Reward != nil {
		if l.Reward.State != nil {
			x += l.Reward.State[s]
		}
		if l.Reward.Choice != nil {
			x += l.Reward.Choice[c]
		}
	}
	lo, hi := l.m.Row(c)
	for i := lo; i < hi; i++ {
		x += l.m.Prob(i) * l.value(l.m.Target[i])
	}
	return x
}

// choiceOf returns what a tree chooses, -1 if that is not there.
func (l *learner) choiceOf(root *node, s uint32) int {
	first, end := l.m.Choices(int(s))
	if end-first == 1 && !l.ruled[l.action(first)] {
		return first
	}
	a := root.decide(l.space.State(nil, int(s)))
	for c := first; c < end; c++ {
		if l.action(c) == a {
			return c
		}
	}
	return -1
}

// sorted returns the samples in the order of the states.
func (l *learner) sorted() []sample {
	var states []uint32
	for s := range l.samples {
		states = append(states, s)
	}
	slices.Sort(states)
	out := make([]sample, len(states))
	for i, s := range states {
		out[i] = sample{l.space.State(nil, int(s)), l.samples[s]}
	}
	return out
}

// prune replaces tests by leaves, those below first, while the tree does not lose too
// much.
func (l *learner) prune(ctx context.Context, t *Tree) (*Tree, error) {
	const maxTries = 2000
	tries := 0
	for again := true; again && l.opts.Loss > 0; {
		again = false
		for i := range t.root.inner() {
			if tries++; tries > maxTries {
				return t, nil
			}
			smaller, err := l.without(ctx, t, i)
			if err != nil {
				return nil, err
			}
			if smaller != nil {
				t, again = smaller, true
				break
			}
		}
	}
	return t, nil
}

// without replaces a test by one of the actions below it, nil if all lose too much.
func (l *learner) without(ctx context.Context, t *Tree, i int) (*Tree, error) {
	n := t.root.inner()[i]
	if !n.yes.leaf() || !n.no.leaf() {
		return nil, nil
	}
	for _, a := range []sparse.Action{n.yes.action, n.no.action} {
		root := t.root.clone()
		*root.inner()[i] = node{action: a}
		if smaller, err := l.evaluate(ctx, root); smaller != nil || err != nil {
			return smaller, err
		}
	}
	return nil, nil
}

// evaluate returns a tree with what it attains, nil if it is stuck or loses too much.
func (l *learner) evaluate(ctx context.Context, root *node) (*Tree, error) {
	number := map[uint32]int{}
	var states []uint32
	stuck, decided := false, 0
	err := l.follow(func(s uint32) (int, error) {
		c := l.choiceOf(root, s)
		if first, end := l.m.Choices(int(s)); end-first > 1 {
			decided++
		} else if c < 0 {
			c = first
			stuck = true
		}
		if c < 0 {
			stuck, c = true, l.chosen(s)
		}
		number[s] = len(states)
		states = append(states, s)
		return c, nil
	})
	if err != nil || stuck {
		return nil, err
	}
	v, err := l.chain(ctx, root, number, states)
	if err != nil {
		return nil, err
	}
	t := &Tree{root: root, vars: l.grower.vars, actions: l.space.Program().Actions, Leaves: root.leaves(), States: decided, Lower: math.Inf(1), Upper: math.Inf(-1)}
	for a := range l.grower.actions {
		if l.ruled[sparse.Action(a)] {
			t.ruled = append(t.ruled, sparse.Action(a))
		}
	}
	width := 0.0
	for _, s := range l.m.Initial {
		lower, upper := l.Lower[s], l.Upper[s]
		if i, known := number[s]; known {
			lower, upper = v.Lower[i], v.Upper[i]
		}
		loss := l.Upper[s] - lower
		if l.Direction == solve.Min {
			loss = upper - l.Lower[s]
		}
		if lower == upper && lower == l.Lower[s] && lower == l.Upper[s] {
			loss = 0 // infinite, perhaps
		}
		t.Loss, t.Lower, t.Upper = max(t.Loss, loss), min(t.Lower, lower), max(t.Upper, upper)
		width = max(width, upper-lower+l.Upper[s]-l.Lower[s])
	}
	// Bounds of the same number are apart by what they are wide.
	if math.IsNaN(t.Loss) || t.Loss > max(l.opts.Loss, width) {
		return nil, nil
	}
	return t, nil
}

// chain solves the Markov chain of a tree.
func (l *learner) chain(ctx context.Context, root *node, number map[uint32]int, states []uint32) (*solve.Values, error) {
	n := len(states)
	good, bad := n, n+1
	b := sparse.NewBuilder(sparse.DTMC)
	reward := &sparse.Reward{State: make([]float64, n+2)}
	for i, s := range states {
		c := l.choiceOf(root, s)
		b.State()
		lo, hi := l.m.Row(c)
		for j := lo; j < hi; j++ {
			to, known := number[l.m.Target[j]]
			switch {
			case known:
			case l.Target.Has(int(l.m.Target[j])):
				to = good
			default:
				to = bad
			}
			if l.m.Exact() {
				b.AddRat(to, l.m.Rat(j), sparse.NoAction)
			} else {
				b.Add(to, l.m.Prob(j))
			}
		}
		if l.Reward != nil {
			reward.State[i] = l.earned(int(s), c)
		}
	}
	for i := range 2 {
		b.State()
		if l.m.Exact() {
			b.AddRat(n+i, one(), sparse.NoAction)
		} else {
			b.Add(n+i, 1)
		}
	}
	m, err := b.Finish()
	if err != nil {
		return nil, err
	}
	m.Err = max(m.Err, l.m.Err)
	g, target := sparse.NewGraph(m), sparse.SetOf(n+2, good)
	opts := solve.Options{Epsilon: l.opts.Epsilon}
	if l.Reward != nil {
		reward.Err = l.Reward.Err + 0x1p-52 // the sum of two
		return solve.ReachReward(ctx, g, reward, target, l.Direction, opts)
	}
	left := sparse.FullSet(n + 2)
	left.Remove(bad)
	return solve.Until(ctx, g, left, target, l.Direction, opts)
}

func (l *learner) earned(s, c int) float64 {
	x := 0.0
	if l.Reward.State != nil {
		x += l.Reward.State[s]
	}
	if l.Reward.Choice != nil {
		x += l.Reward.Choice[c]
	}
	return x
}
