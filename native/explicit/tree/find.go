package tree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Task asks for a tree.
type Task struct {
	Space *explicit.Space
	// Choices is an optimal memoryless scheduler: one choice a state, sparse.None where
	// any will do.
	Choices []uint32
	// Allowed reports whether a choice of a state may well be no worse than that of the
	// scheduler by more than something; nil allows the scheduler's alone. What it says
	// is judged.
	Allowed func(state, choice int, worse float64) bool
	// Judge returns a bound of what is lost where only some choices are left.
	Judge func(ctx context.Context, left *explicit.Space) (loss float64, err error)
	// Loss is how much may be lost. Slack is what bounds leave open of the optimum
	// itself: it is not held against a tree.
	Loss, Slack float64
}

// A tree is judged at least minTrials times, and as often as may take trialWork
// transitions, but not more than maxTrials times.
const (
	minTrials = 300
	maxTrials = 3000
	trialWork = 1 << 25
)

// maxExamples is how many states a tree is learned from.
const maxExamples = 1 << 20

// Decision is what a leaf says: the choice with an action, or, without one, of a module;
// of several of these the one with a number, from 0.
type Decision struct {
	Action sparse.Action // as in sparse.Model
	Module int           // of Program.Modules, for choices without action; -1 if that is not known
	Index  int
}

// Found is a tree and what it is worth.
type Found struct {
	Root      *Node
	Decisions []Decision // by Node.Decision
	// States is how many states with a choice the tree reaches.
	States int
	// Loss is the judge's bound.
	Loss float64
	// Grown is the number of leaves before branches were cut off. Judged trees were
	// looked at; Stopped says that more might have been.
	Grown, Judged int
	Stopped       bool

	Space *explicit.Space
	// restricted are the actions of states with several choices, by number.
	restricted []bool
}

// Find returns a tree for a task. The error is that of the context or of the judge, or
// says that there are too many states.
func Find(ctx context.Context, t *Task) (*Found, error) {
	var best *finder
	judged := 0
	for _, worse := range tolerances(t) {
		if worse == nil && best != nil {
			break
		}
		f := newFinder(ctx, t, worse)
		if err := f.close(ctx); err != nil {
			return nil, err
		}
		loss, err := f.judge(ctx)
		if err != nil {
			return nil, err
		}
		judged += f.found.Judged
		f.found.Loss, f.found.Grown = loss, f.found.Root.Leaves()
		if loss <= f.limit() && (best == nil || f.found.Grown < best.found.Grown) {
			best = f
		}
		if worse == nil && best == nil {
			return nil, fmt.Errorf("the tree of the scheduler itself may lose %g, more than %g", loss, f.limit())
		}
	}
	best.found.Judged = judged
	err := best.cut(ctx)
	return best.found, err
}

// limit is how much a tree may lose.
func (t *Task) limit() float64 { return max(t.Loss, t.Slack) }

// tolerances are how much worse than the best a choice may be in trees that are grown;
// nil is for the choices of the scheduler, which lose nothing.
func tolerances(t *Task) []*float64 {
	var out []*float64
	if t.Allowed != nil {
		if t.Loss > 0 {
			for part := 1.0; part >= 1.0/16; part /= 16 {
				out = append(out, new(t.Loss*part))
			}
		}
		out = append(out, new(0.0))
	}
	return append(out, nil)
}

// finder looks for one tree.
type finder struct {
	*Task
	model  *sparse.Model
	vars   []sema.Variable
	worse  *float64 // what Allowed is asked for; nil for the scheduler's choices alone
	found  *Found
	number map[Decision]int
	// expander knows the modules of choices; nil if the space was imported.
	expander compile.Expander
	values   []int32
	// known has the states of examples.
	known    *sparse.Set
	examples []Example
}

func newFinder(ctx context.Context, t *Task, worse *float64) *finder {
	m := t.Space.Model()
	f := &finder{
		Task: t, model: m, vars: t.Space.Program().Vars, worse: worse, number: map[Decision]int{},
		known: sparse.NewSet(m.NumStates()), found: &Found{Space: t.Space, restricted: make([]bool, len(t.Space.Program().Actions)+1)},
	}
	if !t.Space.Imported() {
		f.expander = t.Space.Compiled().NewExpanderUntil(ctx)
	}
	f.values = make([]int32, len(f.vars))
	for s := range m.NumStates() {
		if first, end := m.Choices(s); end-first > 1 {
			for c := first; c < end; c++ {
				f.found.restricted[f.action(c)] = true
			}
		}
	}
	return f
}

func (f *finder) action(c int) sparse.Action {
	if f.model.Actions == nil {
		return sparse.NoAction
	}
	return f.model.Actions[c]
}

// decisive reports whether the tree decides in a state: there are several choices, or
// one with an action that is a decision elsewhere.
func (f *finder) decisive(s int) bool {
	first, end := f.model.Choices(s)
	a := f.action(first)
	return end-first > 1 || a != sparse.NoAction && f.found.restricted[a]
}

// choices calls a function with the choices of a state and what they are called, until
// it returns false.
func (f *finder) choices(s int, each func(c int, d Decision) bool) {
	first, end := f.model.Choices(s)
	modules := f.modules(s)
	for c := first; c < end; c++ {
		d := Decision{Action: f.action(c), Module: -1}
		if modules != nil {
			d.Module = modules[c-first].Module
		}
		for b := first; b < c; b++ {
			if f.action(b) == d.Action && (modules == nil || modules[b-first].Module == d.Module) {
				d.Index++
			}
		}
		if !each(c, d) {
			return
		}
	}
}

// modules returns the choices of a state as the model has them, which know the modules
// of those without action; nil if there are no such, or they are not known.
func (f *finder) modules(s int) []compile.Choice {
	first, end := f.model.Choices(s)
	if f.expander == nil || f.model.Actions != nil && !slices.Contains(f.model.Actions[first:end], sparse.NoAction) {
		return nil
	}
	list, err := f.expander.Enabled(f.Space.State(f.values, s))
	if err != nil || len(list.List) != end-first { // some are merged
		return nil
	}
	return list.List
}

// choice returns the choice of a state that a decision names, -1 if it has none.
func (f *finder) choice(s int, d Decision) int {
	found := -1
	f.choices(s, func(c int, e Decision) bool {
		if e == d {
			found = c
		}
		return found < 0
	})
	return found
}

// add makes an example of a state.
func (f *finder) add(s int) error {
	f.known.Add(s)
	if !f.decisive(s) {
		return nil
	}
	if len(f.examples) == maxExamples {
		return fmt.Errorf("more than %d states to decide in, too many for a tree", maxExamples)
	}
	x := Example{Values: f.Space.State(nil, s)}
	f.choices(s, func(c int, d Decision) bool {
		if best := f.Choices[s]; best != sparse.None && int(best) != c && (f.worse == nil || !f.Allowed(s, c, *f.worse)) {
			return true
		}
		n, ok := f.number[d]
		if !ok {
			n = len(f.found.Decisions)
			f.number[d] = n
			f.found.Decisions = append(f.found.Decisions, d)
		}
		x.Allowed = append(x.Allowed, n)
		return true
	})
	slices.Sort(x.Allowed)
	f.examples = append(f.examples, x)
	return nil
}

// rounds is how often a tree is grown again for states that it has come to, before all
// states that allowed choices come to are learned from.
const rounds = 10

// close grows trees until one decides in all states that it reaches.
func (f *finder) close(ctx context.Context) error {
	for round := 0; ; round++ {
		reached, err := f.walk(ctx, func(s int) (from, to int) {
			first, end := f.model.Choices(s)
			switch {
			case !f.decisive(s) || round > rounds && (f.Choices[s] == sparse.None || f.worse != nil):
				return first, end
			case !f.known.Has(s) && f.Choices[s] == sparse.None:
				return first, first + 1
			case !f.known.Has(s):
				return int(f.Choices[s]), int(f.Choices[s]) + 1
			}
			c := f.choice(s, f.found.Decisions[f.found.Root.Decide(f.Space.State(nil, s))])
			return c, c + 1
		})
		if err != nil {
			return err
		}
		fresh := false
		for s := range reached.All() {
			if !f.known.Has(s) {
				fresh = fresh || f.decisive(s)
				if err := f.add(s); err != nil {
					return err
				}
			}
		}
		if !fresh {
			if f.found.Root == nil {
				f.found.Root = &Node{}
			}
			return nil
		}
		if f.found.Root, err = Learn(ctx, f.vars, f.examples); err != nil {
			return err
		}
	}
}

// walk returns the states that are reached by the choices from and up to to of each.
func (f *finder) walk(ctx context.Context, choices func(s int) (from, to int)) (*sparse.Set, error) {
	seen := sparse.NewSet(f.model.NumStates())
	queue := slices.Clone(f.model.Initial)
	for _, s := range queue {
		seen.Add(int(s))
	}
	for i := 0; i < len(queue); i++ {
		if i&0x3fff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		from, to := choices(int(queue[i]))
		if from < 0 {
			return nil, nil
		}
		lo, hi := f.model.Start[from], f.model.Start[to]
		for _, t := range f.model.Target[lo:hi] {
			if !seen.Has(int(t)) {
				seen.Add(int(t))
				queue = append(queue, t)
			}
		}
	}
	return seen, nil
}

// judge asks what is lost with the tree: infinity, if it does not decide in some state
// that it reaches.
func (f *finder) judge(ctx context.Context) (float64, error) {
	f.found.Judged++
	keep := sparse.NewSet(f.model.NumChoices())
	decided := 0
	reached, err := f.walk(ctx, func(s int) (from, to int) {
		first, end := f.model.Choices(s)
		if !f.decisive(s) {
			return first, end
		}
		c := f.choice(s, f.decide(f.Space.State(f.values, s)))
		decided++
		if c >= 0 {
			keep.Add(c)
		}
		return c, c + 1
	})
	if err != nil || reached == nil {
		return math.Inf(1), err
	}
	for s := range f.model.NumStates() {
		if first, end := f.model.Choices(s); !reached.Has(s) || end-first == 1 {
			keep.Add(first)
		}
	}
	left, err := f.Space.Restrict(keep)
	if err != nil {
		return 0, err
	}
	f.found.States = decided
	return f.Judge(ctx, left)
}

func (f *finder) decide(values []int32) Decision {
	return f.found.Decisions[f.found.Root.Decide(values)]
}

// cut replaces branches by leaves while the loss is small enough: all with few exceptions
// at once, and then one by one, the largest first.
func (f *finder) cut(ctx context.Context) error {
	if len(f.examples) == 0 {
		return nil
	}
	all := make([]int, len(f.examples))
	for i := range all {
		all[i] = i
	}
	states := f.found.States
	defer func() { f.found.States = states }()
	// accept judges the tree as it is now.
	accept := func() (bool, error) {
		loss, err := f.judge(ctx)
		if err != nil || !(loss <= f.limit()) {
			return false, err
		}
		f.found.Loss, states = loss, f.found.States
		return true, nil
	}
	grown := f.found.Root
	for few, many := 0, len(all); many-few > 1; {
		mid, last := few+(many-few)/2, f.found.Root
		f.found.Root = f.collapse(branch{grown, all}, mid)
		ok, err := accept()
		if err != nil {
			return err
		}
		if ok {
			few = mid
		} else {
			many, f.found.Root = mid, last
		}
	}
	return f.single(ctx, branch{f.found.Root, all}, accept)
}

// collapse returns a tree in which branches with few exceptions from one decision are
// leaves.
func (f *finder) collapse(b branch, exceptions int) *Node {
	if b.node.Leaf() {
		return b.node
	}
	d := f.candidates(b.at)[0]
	missed := 0
	for _, i := range b.at {
		if !slices.Contains(f.examples[i].Allowed, d) {
			missed++
		}
	}
	if missed <= exceptions {
		return &Node{Decision: d}
	}
	yes, no := f.part(b)
	return &Node{Test: b.node.Test, Yes: f.collapse(yes, exceptions), No: f.collapse(no, exceptions)}
}

// single replaces branches one by one.
func (f *finder) single(ctx context.Context, root branch, accept func() (bool, error)) error {
	trials := min(max(trialWork/f.model.NumTransitions(), minTrials), maxTrials) + f.found.Judged
	queue := []branch{root}
	for len(queue) > 0 {
		slices.SortStableFunc(queue, func(a, b branch) int { return len(b.at) - len(a.at) })
		b := queue[0]
		queue = queue[1:]
		if b.node.Leaf() {
			continue
		}
		done := false
		for _, d := range f.candidates(b.at) {
			if f.found.Judged >= trials {
				f.found.Stopped = true
				return nil
			}
			old := *b.node
			*b.node = Node{Decision: d}
			var err error
			if done, err = accept(); done {
				break
			}
			if *b.node = old; err != nil {
				return err
			}
		}
		if !done {
			yes, no := f.part(b)
			queue = append(queue, yes, no)
		}
	}
	return nil
}

// branch is a part of the tree with the examples that come to it.
type branch struct {
	node *Node
	at   []int
}

func (f *finder) part(b branch) (yes, no branch) {
	yes.node, no.node = b.node.Yes, b.node.No
	for _, i := range b.at {
		if b.node.Test.Holds(f.examples[i].Values) {
			yes.at = append(yes.at, i)
		} else {
			no.at = append(no.at, i)
		}
	}
	return yes, no
}

// candidates returns the decisions that most examples allow.
func (f *finder) candidates(at []int) []int {
	count := make([]int, len(f.found.Decisions))
	for _, i := range at {
		for _, d := range f.examples[i].Allowed {
			count[d]++
		}
	}
	var out []int
	for d, n := range count {
		if n > 0 {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return count[b] - count[a] })
	return out[:min(len(out), 3)]
}
