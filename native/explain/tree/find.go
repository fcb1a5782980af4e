package tree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Task asks for a decision tree.
type Task struct {
	Space *explicit.Space
	// Choices is an optimal memoryless scheduler: the choice of each state, sparse.None for any.
	Choices []uint32
	// Allowed reports whether a choice may be worse than the scheduler's by at most the given amount.
	// nil allows the scheduler's choices only. The answer may be wrong, since trees are judged.
	Allowed func(state, choice int, worse float64) bool
	// Judge returns an upper bound on the loss of value if only some choices remain.
	Judge func(ctx context.Context, left *explicit.Space) (loss float64, err error)
	// Loss is the allowed loss. Slack is the uncertainty of the optimum itself, which is allowed in any
	// case.
	Loss, Slack float64
}

// Limits of how many trees are judged: about trialWork transitions in total, but at least minTrials
// and at most maxTrials trees.
const (
	minTrials = 300
	maxTrials = 3000
	trialWork = 1 << 25
)

// maxExamples limits the states from which a tree is learned.
const maxExamples = 1 << 20

// Decision identifies a choice in every state: by its action, or by its module if it has none, and by
// its index among several such choices.
type Decision struct {
	Action sparse.Action // as in sparse.Model
	Module int           // index in Program.Modules, for choices without action; -1 if unknown
	Index  int
}

// Found is a tree with its loss.
type Found struct {
	Root      *Node
	Decisions []Decision // by Node.Decision
	// States is the number of reachable states in which the tree decides.
	States int
	// Loss is the judge's bound.
	Loss float64
	// Grown is the number of leaves before pruning, Judged the number of trees judged. Stopped says
	// that pruning stopped at the limit.
	Grown, Judged int
	Stopped       bool

	Space *explicit.Space
	// restricted says, for each action, whether it occurs in a state with several choices.
	restricted []bool
}

// Find returns a tree for a task. It grows trees for several tolerances, takes the smallest one within
// the allowed loss, and prunes it. The error is the context's or the judge's, or says that there are
// too many states.
func Find(ctx context.Context, t *Task) (*Found, error) {
	var best *search
	judged := 0
	for _, tolerance := range growTolerances(t) {
		if tolerance == nil && best != nil {
			break
		}
		f := newSearch(ctx, t, tolerance)
		if err := f.growUntilClosed(ctx); err != nil {
			return nil, err
		}
		loss, err := f.judge(ctx)
		if err != nil {
			return nil, err
		}
		judged += f.found.Judged
		f.found.Loss, f.found.Grown = loss, f.found.Root.Leaves()
		if loss <= f.allowedLoss() && (best == nil || f.found.Grown < best.found.Grown) {
			best = f
		}
		if tolerance == nil && best == nil {
			return nil, fmt.Errorf("the tree of the scheduler may lose %g, more than the allowed %g", loss, f.allowedLoss())
		}
	}
	best.found.Judged = judged
	err := best.prune(ctx)
	return best.found, err
}

func (t *Task) allowedLoss() float64 { return max(t.Loss, t.Slack) }

// growTolerances returns by how much choices may be worse than optimal in the trees that are grown. nil
// stands for the scheduler's own choices, which lose nothing.
func growTolerances(t *Task) []*float64 {
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

// search grows and prunes one tree.
type search struct {
	*Task
	model          *sparse.Model
	vars           []sema.Variable
	tolerance      *float64 // argument for Allowed; nil for the scheduler's choices only
	found          *Found
	decisionNumber map[Decision]int
	// expander gives the modules of choices; nil if the space was imported.
	expander compile.Expander
	values   []int32
	seen     *sparse.Set // states for which addExample was called
	examples []Example
}

func newSearch(ctx context.Context, t *Task, tolerance *float64) *search {
	m := t.Space.Model()
	f := &search{
		Task: t, model: m, vars: t.Space.Program().Vars, tolerance: tolerance, decisionNumber: map[Decision]int{},
		seen: sparse.NewSet(m.NumStates()), found: &Found{Space: t.Space, restricted: make([]bool, len(t.Space.Program().Actions)+1)},
	}
	if !t.Space.Imported() {
		f.expander = t.Space.Compiled().NewExpanderUntil(ctx)
	}
	f.values = make([]int32, len(f.vars))
	for s := range m.NumStates() {
		if first, end := m.Choices(s); end-first > 1 {
			for c := first; c < end; c++ {
				f.found.restricted[f.actionOf(c)] = true
			}
		}
	}
	return f
}

func (f *search) actionOf(c int) sparse.Action {
	if f.model.Actions == nil {
		return sparse.NoAction
	}
	return f.model.Actions[c]
}

// mustDecide reports whether the tree decides in a state: it has several choices, or one whose action
// is restricted in other states.
func (f *search) mustDecide(s int) bool {
	first, end := f.model.Choices(s)
	a := f.actionOf(first)
	return end-first > 1 || a != sparse.NoAction && f.found.restricted[a]
}

// forEachChoice calls visit for the choices of a state with their decisions, until it returns false.
func (f *search) forEachChoice(s int, visit func(c int, d Decision) bool) {
	first, end := f.model.Choices(s)
	modules := f.moduleChoices(s)
	for c := first; c < end; c++ {
		d := Decision{Action: f.actionOf(c), Module: -1}
		if modules != nil {
			d.Module = modules[c-first].Module
		}
		for b := first; b < c; b++ {
			if f.actionOf(b) == d.Action && (modules == nil || modules[b-first].Module == d.Module) {
				d.Index++
			}
		}
		if !visit(c, d) {
			return
		}
	}
}

// moduleChoices returns the choices of a state as the program has them, with their modules. It returns
// nil if all have actions, or if the modules are unknown.
func (f *search) moduleChoices(s int) []compile.Choice {
	first, end := f.model.Choices(s)
	if f.expander == nil || f.model.Actions != nil && !slices.Contains(f.model.Actions[first:end], sparse.NoAction) {
		return nil
	}
	list, err := f.expander.Enabled(f.Space.State(f.values, s))
	if err != nil || len(list.List) != end-first { // the model merges equal choices
		return nil
	}
	return list.List
}

// choiceOf returns the choice of a state for a decision, -1 if it has none.
func (f *search) choiceOf(s int, d Decision) int {
	found := -1
	f.forEachChoice(s, func(c int, e Decision) bool {
		if e == d {
			found = c
		}
		return found < 0
	})
	return found
}

// addExample adds a state to the examples, if the tree must decide there.
func (f *search) addExample(s int) error {
	f.seen.Add(s)
	if !f.mustDecide(s) {
		return nil
	}
	if len(f.examples) == maxExamples {
		return fmt.Errorf("a tree must decide in more than %d states, which is too many", maxExamples)
	}
	x := Example{Values: f.Space.State(nil, s)}
	f.forEachChoice(s, func(c int, d Decision) bool {
		if best := f.Choices[s]; best != sparse.None && int(best) != c && (f.tolerance == nil || !f.Allowed(s, c, *f.tolerance)) {
			return true
		}
		n, ok := f.decisionNumber[d]
		if !ok {
			n = len(f.found.Decisions)
			f.decisionNumber[d] = n
			f.found.Decisions = append(f.found.Decisions, d)
		}
		x.Allowed = append(x.Allowed, n)
		return true
	})
	slices.Sort(x.Allowed)
	f.examples = append(f.examples, x)
	return nil
}

// maxRounds is the number of trees after which all states that allowed choices reach become examples.
const maxRounds = 10

// growUntilClosed grows trees until one decides in all states that it reaches itself. After each tree,
// the states that it reaches become examples.
func (f *search) growUntilClosed(ctx context.Context) error {
	for round := 0; ; round++ {
		reached, err := f.reachable(ctx, func(s int) (from, to int) {
			first, end := f.model.Choices(s)
			switch {
			case !f.mustDecide(s) || round > maxRounds && (f.Choices[s] == sparse.None || f.tolerance != nil):
				return first, end
			case !f.seen.Has(s) && f.Choices[s] == sparse.None:
				return first, first + 1
			case !f.seen.Has(s):
				return int(f.Choices[s]), int(f.Choices[s]) + 1
			}
			c := f.choiceOf(s, f.found.Decisions[f.found.Root.Decide(f.Space.State(nil, s))])
			return c, c + 1
		})
		if err != nil {
			return err
		}
		changed := false
		for s := range reached.All() {
			if !f.seen.Has(s) {
				changed = changed || f.mustDecide(s)
				if err := f.addExample(s); err != nil {
					return err
				}
			}
		}
		if !changed {
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

// reachable returns the states that are reachable if each state has the choices from <= c < to. It
// returns nil if from is negative for a reachable state.
func (f *search) reachable(ctx context.Context, choices func(s int) (from, to int)) (*sparse.Set, error) {
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

// judge returns the loss of the current tree; infinity if it gives no valid decision in some state that
// it reaches.
func (f *search) judge(ctx context.Context) (float64, error) {
	f.found.Judged++
	kept := sparse.NewSet(f.model.NumChoices())
	decided := 0
	reached, err := f.reachable(ctx, func(s int) (from, to int) {
		first, end := f.model.Choices(s)
		if !f.mustDecide(s) {
			return first, end
		}
		c := f.choiceOf(s, f.decide(f.Space.State(f.values, s)))
		decided++
		if c >= 0 {
			kept.Add(c)
		}
		return c, c + 1
	})
	if err != nil || reached == nil {
		return math.Inf(1), err
	}
	for s := range f.model.NumStates() {
		if first, end := f.model.Choices(s); !reached.Has(s) || end-first == 1 {
			kept.Add(first)
		}
	}
	left, err := f.Space.Restrict(kept)
	if err != nil {
		return 0, err
	}
	f.found.States = decided
	return f.Judge(ctx, left)
}

func (f *search) decide(values []int32) Decision {
	return f.found.Decisions[f.found.Root.Decide(values)]
}

// prune replaces branches by leaves as long as the loss is allowed: first by binary search for the
// number of exceptions that all branches may have, then branch by branch.
func (f *search) prune(ctx context.Context) error {
	if len(f.examples) == 0 {
		return nil
	}
	examples := make([]int, len(f.examples))
	for i := range examples {
		examples[i] = i
	}
	states := f.found.States
	defer func() { f.found.States = states }()
	// accept judges the tree as it is now.
	accept := func() (bool, error) {
		loss, err := f.judge(ctx)
		if err != nil || !(loss <= f.allowedLoss()) {
			return false, err
		}
		f.found.Loss, states = loss, f.found.States
		return true, nil
	}
	fullTree := f.found.Root
	for accepted, rejected := 0, len(examples); rejected-accepted > 1; {
		exceptions, previous := accepted+(rejected-accepted)/2, f.found.Root
		f.found.Root = f.collapseBranches(branch{fullTree, examples}, exceptions)
		ok, err := accept()
		if err != nil {
			return err
		}
		if ok {
			accepted = exceptions
		} else {
			rejected, f.found.Root = exceptions, previous
		}
	}
	return f.pruneGreedily(ctx, branch{f.found.Root, examples}, accept)
}

// collapseBranches returns a tree in which branches with few exceptions from one decision are leaves.
func (f *search) collapseBranches(b branch, exceptions int) *Node {
	if b.node.Leaf() {
		return b.node
	}
	d := f.frequentDecisions(b.examples)[0]
	missed := 0
	for _, i := range b.examples {
		if !slices.Contains(f.examples[i].Allowed, d) {
			missed++
		}
	}
	if missed <= exceptions {
		return &Node{Decision: d}
	}
	yes, no := f.split(b)
	return &Node{Test: b.node.Test, Yes: f.collapseBranches(yes, exceptions), No: f.collapseBranches(no, exceptions)}
}

// pruneGreedily tries to replace branches one at a time, those with the most examples first.
func (f *search) pruneGreedily(ctx context.Context, root branch, accept func() (bool, error)) error {
	maxJudged := min(max(trialWork/f.model.NumTransitions(), minTrials), maxTrials) + f.found.Judged
	queue := []branch{root}
	for len(queue) > 0 {
		slices.SortStableFunc(queue, func(a, b branch) int { return len(b.examples) - len(a.examples) })
		b := queue[0]
		queue = queue[1:]
		if b.node.Leaf() {
			continue
		}
		replaced := false
		for _, d := range f.frequentDecisions(b.examples) {
			if f.found.Judged >= maxJudged {
				f.found.Stopped = true
				return nil
			}
			old := *b.node
			*b.node = Node{Decision: d}
			var err error
			if replaced, err = accept(); replaced {
				break
			}
			if *b.node = old; err != nil {
				return err
			}
		}
		if !replaced {
			yes, no := f.split(b)
			queue = append(queue, yes, no)
		}
	}
	return nil
}

// branch is a subtree with the examples that reach it.
type branch struct {
	node     *Node
	examples []int
}

// split returns the two subtrees of a branch.
func (f *search) split(b branch) (yes, no branch) {
	yes.node, no.node = b.node.Yes, b.node.No
	for _, i := range b.examples {
		if b.node.Test.Holds(f.examples[i].Values) {
			yes.examples = append(yes.examples, i)
		} else {
			no.examples = append(no.examples, i)
		}
	}
	return yes, no
}

// frequentDecisions returns the three decisions that most examples allow.
func (f *search) frequentDecisions(examples []int) []int {
	count := make([]int, len(f.found.Decisions))
	for _, i := range examples {
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
