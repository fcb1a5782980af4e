package tree

import (
	"cmp"
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
	// Choices is an optimal memoryless scheduler: the choice of each state. sparse.None stands for any choice.
	Choices []uint32
	// Allowed reports whether a choice is worse than the scheduler's by at most tolerance. If the function
	// is nil, only the scheduler's choices are allowed. It may err, as Judge checks the tree.
	Allowed func(state, choice int, tolerance float64) bool
	// Judge returns an upper bound on the loss of value in a space that has only the choices of a tree.
	Judge func(ctx context.Context, restricted *explicit.Space) (loss float64, err error)
	// Loss is the allowed loss. Slack is the uncertainty of the optimum itself, which is allowed in any
	// case.
	Loss, Slack float64
}

// Pruning judges trees until they have about trialWork transitions in total; but at least minTrials and at
// most maxTrials trees.
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

// Result is a tree with its loss.
type Result struct {
	Root      *Node
	Decisions []Decision // by Node.Decision
	// States is the number of reachable states in which the tree decides.
	States int
	// Loss is an upper bound on the loss of value, as Task.Judge returned it.
	Loss float64
	// Grown is the number of leaves before pruning, Judged the number of trees that were judged. Stopped
	// says that pruning stopped at the limit of trees.
	Grown, Judged int
	Stopped       bool

	Space *explicit.Space
	// isRestricted[a] says whether action a occurs in a state with several choices.
	isRestricted []bool
}

// Find returns a small decision tree that selects a choice in each state of the task's model. It grows a tree for each of several tolerances, selects
// the smallest tree whose loss of value is allowed, and prunes it. It is an error if the tree would decide in too many states.
func Find(ctx context.Context, task *Task) (*Result, error) {
	var bestSearch *treeSearch
	numJudged := 0
	for _, tolerance := range growTolerances(task) {
		onlyScheduler := tolerance == nil
		if onlyScheduler && bestSearch != nil {
			break // the tree with only the scheduler's choices is needed only if no other tree is allowed
		}
		search := newTreeSearch(ctx, task, tolerance)
		if err := search.growAndJudge(ctx); err != nil {
			return nil, err
		}
		numJudged += search.result.Judged
		isAllowed := search.result.Loss <= search.allowedLoss()
		switch {
		case isAllowed && (bestSearch == nil || search.result.Grown < bestSearch.result.Grown):
			bestSearch = search
		case !isAllowed && onlyScheduler:
			return nil, fmt.Errorf("found a loss of up to %g for the tree with the scheduler's choices, wanted at most %g", search.result.Loss, search.allowedLoss())
		}
	}
	bestSearch.result.Judged = numJudged
	if err := bestSearch.prune(ctx); err != nil {
		return nil, err
	}
	return bestSearch.result, nil
}

// growAndJudge grows a tree, and records its loss, its number of leaves, and the number of states in which it decides.
func (search *treeSearch) growAndJudge(ctx context.Context) error {
	if err := search.growUntilClosed(ctx); err != nil {
		return err
	}
	loss, numDecided, err := search.judge(ctx)
	if err != nil {
		return err
	}
	search.result.Loss = loss
	search.result.States = numDecided
	search.result.Grown = search.result.Root.Leaves()
	return nil
}

// allowedLoss returns the greatest loss of value that a tree may have.
func (task *Task) allowedLoss() float64 { return max(task.Loss, task.Slack) }

// growTolerances returns the tolerances with which trees are grown, the greatest first. A choice may be worse than the optimal value by at most the
// tolerance. The last tolerance is nil: it allows only the choices of the scheduler.
func growTolerances(task *Task) []*float64 {
	var tolerances []*float64
	if task.Allowed != nil {
		if task.Loss > 0 {
			tolerances = append(tolerances, new(task.Loss), new(task.Loss/16))
		}
		tolerances = append(tolerances, new(0.0))
	}
	return append(tolerances, nil)
}

// treeSearch grows and prunes one tree.
type treeSearch struct {
	*Task
	model           *sparse.Model
	vars            []sema.Variable
	tolerance       *float64 // argument for Allowed; nil for the scheduler's choices only
	result          *Result
	decisionNumbers map[Decision]int
	// expander gives the modules of choices; nil if the space was imported.
	expander   compile.Expander
	values     []int32
	seenStates *sparse.Set // states for which addExample was called
	examples   []Example
	decisions  []Decision // the buffer of decisionsIn
}

// newTreeSearch returns a search for a tree whose decisions are within a tolerance. It has no examples and no tree yet.
func newTreeSearch(ctx context.Context, task *Task, tolerance *float64) *treeSearch {
	model := task.Space.Model()
	search := &treeSearch{
		Task: task, model: model, vars: task.Space.Program().Vars, tolerance: tolerance, decisionNumbers: map[Decision]int{},
		seenStates: sparse.NewSet(model.NumStates()), result: &Result{Space: task.Space, isRestricted: make([]bool, len(task.Space.Program().Actions)+1)},
	}
	if !task.Space.Imported() {
		search.expander = task.Space.Compiled().NewExpanderUntil(ctx)
	}
	search.values = make([]int32, len(search.vars))
	search.markRestricted()
	return search
}

// markRestricted marks each action that occurs in a state with several choices.
func (search *treeSearch) markRestricted() {
	for s := range search.model.NumStates() {
		first, end := search.model.Choices(s)
		hasOneChoice := end-first == 1
		if hasOneChoice {
			continue
		}
		for choice := first; choice < end; choice++ {
			search.result.isRestricted[search.actionOf(choice)] = true
		}
	}
}

// actionOf returns the action of a choice.
func (search *treeSearch) actionOf(choice int) sparse.Action {
	if search.model.Actions == nil {
		return sparse.NoAction
	}
	return search.model.Actions[choice]
}

// mustDecide reports whether the tree must have a decision for a state: the state has several choices, or the module of the tree would
// block the action of its only choice.
func (search *treeSearch) mustDecide(state int) bool {
	first, end := search.model.Choices(state)
	hasSeveralChoices := end-first > 1
	action := search.actionOf(first)
	return hasSeveralChoices || action != sparse.NoAction && search.result.isRestricted[action]
}

// decisionsIn returns, for each choice of state s, the decision that identifies it: the action, the module, and its position among the choices of s with
// the same action and module. The next call overwrites the result.
func (search *treeSearch) decisionsIn(s int) []Decision {
	first, end := search.model.Choices(s)
	modules := search.moduleChoices(s)
	search.decisions = search.decisions[:0]
	for choice := first; choice < end; choice++ {
		decision := Decision{Action: search.actionOf(choice), Module: -1}
		if modules != nil {
			decision.Module = modules[choice-first].Module
		}
		decision.Index = countSimilar(search.decisions, decision)
		search.decisions = append(search.decisions, decision)
	}
	return search.decisions
}

// countSimilar returns the number of decisions with the same action and module as wanted.
func countSimilar(decisions []Decision, wanted Decision) int {
	count := 0
	for _, decision := range decisions {
		if decision.Action == wanted.Action && decision.Module == wanted.Module {
			count++
		}
	}
	return count
}

// moduleChoices returns the choices of state s as the compiled program has them, with the modules of their commands. It returns nil if every choice has
// an action, or if the modules are unknown.
func (search *treeSearch) moduleChoices(s int) []compile.Choice {
	first, end := search.model.Choices(s)
	allHaveActions := search.model.Actions != nil && !slices.Contains(search.model.Actions[first:end], sparse.NoAction)
	if search.expander == nil || allHaveActions {
		return nil
	}
	enabled, err := search.expander.Enabled(search.Space.State(search.values, s))
	if err != nil || len(enabled.List) != end-first { // the model merges equal choices
		return nil
	}
	return enabled.List
}

// choiceOf returns the choice of state s that a decision identifies, or -1 if there is no such choice.
func (search *treeSearch) choiceOf(s int, wanted Decision) int {
	position := slices.Index(search.decisionsIn(s), wanted)
	if position < 0 {
		return -1
	}
	first, _ := search.model.Choices(s)
	return first + position
}

// addExample adds state s and the decisions that are allowed in it to the examples. It does nothing if the tree need not decide in s.
func (search *treeSearch) addExample(s int) error {
	search.seenStates.Add(s)
	if !search.mustDecide(s) {
		return nil
	}
	if len(search.examples) == maxExamples {
		return fmt.Errorf("the tree would decide in more than %d states, which is the limit", maxExamples)
	}
	example := Example{Values: search.Space.State(nil, s)}
	first, _ := search.model.Choices(s)
	for position, decision := range search.decisionsIn(s) {
		if search.isAllowed(s, first+position) {
			example.Allowed = append(example.Allowed, search.numberOf(decision))
		}
	}
	slices.Sort(example.Allowed)
	search.examples = append(search.examples, example)
	return nil
}

// isAllowed reports whether the tree may take a choice of state s: the scheduler allows it, or its loss is within the tolerance.
func (search *treeSearch) isAllowed(s, choice int) bool {
	scheduledChoice := search.Choices[s]
	if scheduledChoice == sparse.None || int(scheduledChoice) == choice {
		return true
	}
	return search.tolerance != nil && search.Allowed(s, choice, *search.tolerance)
}

// numberOf returns the number of a decision. A new decision gets the next number.
func (search *treeSearch) numberOf(decision Decision) int {
	number, found := search.decisionNumbers[decision]
	if !found {
		number = len(search.result.Decisions)
		search.decisionNumbers[decision] = number
		search.result.Decisions = append(search.result.Decisions, decision)
	}
	return number
}

// maxRounds is the number of trees after which growUntilClosed follows all choices of a state, unless only
// the scheduler's choice is allowed there.
const maxRounds = 10

// growUntilClosed learns trees until every state that is reachable under the tree is an example. After each round, the states that are reachable
// under the last tree become examples.
func (search *treeSearch) growUntilClosed(ctx context.Context) error {
	for round := 0; ; round++ {
		reachedStates, err := search.reachable(ctx, func(s int) (first, end int) { return search.choicesToFollow(s, round) })
		if err != nil {
			return err
		}
		hasNewDecision, err := search.addExamples(reachedStates)
		if err != nil {
			return err
		}
		isClosed := !hasNewDecision
		if isClosed {
			search.result.Root = cmp.Or(search.result.Root, &Node{}) // there is no tree yet if nothing is to decide
			return nil
		}
		search.result.Root, err = Learn(ctx, search.vars, search.examples)
		if err != nil {
			return err
		}
	}
}

// addExamples adds the states that have not been seen before to the examples. It reports whether the tree must decide in one of these states.
func (search *treeSearch) addExamples(states *sparse.Set) (hasNewDecision bool, err error) {
	for s := range states.Minus(search.seenStates).All() {
		hasNewDecision = hasNewDecision || search.mustDecide(s)
		if err := search.addExample(s); err != nil {
			return false, err
		}
	}
	return hasNewDecision, nil
}

// choicesToFollow returns the choices of state s, from first to end-1, whose successors become examples: all choices if the tree need not decide in s;
// the current tree's choice if s is an example; otherwise the scheduler's choice, or the first choice. After maxRounds rounds it returns all choices
// where several are allowed, so that the search ends.
func (search *treeSearch) choicesToFollow(s, round int) (first, end int) {
	first, end = search.model.Choices(s)
	scheduledChoice := search.Choices[s]
	severalAllowed := scheduledChoice == sparse.None || search.tolerance != nil
	mustEnd := round > maxRounds && severalAllowed
	switch {
	case !search.mustDecide(s) || mustEnd:
		return first, end
	case search.seenStates.Has(s):
		choice := search.choiceOf(s, search.decide(search.Space.State(nil, s)))
		return choice, choice + 1
	case scheduledChoice == sparse.None:
		return first, first + 1
	}
	return int(scheduledChoice), int(scheduledChoice) + 1
}

// reachable returns the states that are reachable if paths follow certain choices: in state s the choices from first to end-1, where first and end
// are the results of choicesOf(s). If first is negative in a reachable state, the result is nil.
func (search *treeSearch) reachable(ctx context.Context, choicesOf func(s int) (first, end int)) (*sparse.Set, error) {
	reached := sparse.NewSet(search.model.NumStates())
	queue := slices.Clone(search.model.Initial)
	for _, s := range queue {
		reached.Add(int(s))
	}
	for i := 0; i < len(queue); i++ {
		if i&0x3fff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		first, end := choicesOf(int(queue[i]))
		if first < 0 {
			return nil, nil
		}
		firstTransition, endTransition := search.model.FirstTransition[first], search.model.FirstTransition[end]
		for _, target := range search.model.Target[firstTransition:endTransition] {
			if !reached.Has(int(target)) {
				reached.Add(int(target))
				queue = append(queue, target)
			}
		}
	}
	return reached, nil
}

// judge returns an upper bound of the loss of value if the current tree makes the choices, and the number of reachable states in which it decides.
// The loss is infinite if the tree selects a choice that a reachable state does not have.
func (search *treeSearch) judge(ctx context.Context) (loss float64, numDecided int, err error) {
	search.result.Judged++
	decidedStates := sparse.NewSet(search.model.NumStates())
	treeChoices := sparse.NewSet(search.model.NumChoices())
	reachedStates, err := search.reachable(ctx, func(s int) (first, end int) {
		if !search.mustDecide(s) {
			return search.model.Choices(s)
		}
		decidedStates.Add(s)
		choice := search.choiceOf(s, search.decide(search.Space.State(search.values, s)))
		if choice >= 0 {
			treeChoices.Add(choice)
		}
		return choice, choice + 1
	})
	if err != nil || reachedStates == nil {
		return math.Inf(1), 0, err
	}
	// The states in which the tree does not decide keep their first choice.
	for s := range search.model.NumStates() {
		first, end := search.model.Choices(s)
		hasOneChoice := end-first == 1
		if hasOneChoice || !reachedStates.Has(s) {
			treeChoices.Add(first)
		}
	}
	restrictedSpace, err := search.Space.Restrict(treeChoices)
	if err != nil {
		return 0, 0, err
	}
	loss, err = search.Judge(ctx, restrictedSpace)
	return loss, decidedStates.Count(), err
}

// decide returns the decision of the current tree for a valuation.
func (search *treeSearch) decide(values []int32) Decision {
	return search.result.Decisions[search.result.Root.Decide(values)]
}

// prune replaces subtrees by leaves as long as the loss of the tree is allowed. It first replaces all subtrees whose leaf has few exceptions at once,
// and then tries one subtree after the other.
func (search *treeSearch) prune(ctx context.Context) error {
	if len(search.examples) == 0 {
		return nil
	}
	examples := make([]int, len(search.examples))
	for i := range examples {
		examples[i] = i
	}
	if err := search.pruneUniformly(ctx, examples); err != nil {
		return err
	}
	return search.pruneGreedily(ctx, branch{search.result.Root, examples})
}

// acceptTree judges the current tree, and reports whether its loss is allowed. It records the loss of an allowed tree.
func (search *treeSearch) acceptTree(ctx context.Context) (bool, error) {
	loss, numDecided, err := search.judge(ctx)
	isAllowed := loss <= search.allowedLoss() // false for NaN
	if err != nil || !isAllowed {
		return false, err
	}
	search.result.Loss = loss
	search.result.States = numDecided
	return true, nil
}

// pruneUniformly replaces every subtree by a leaf if at most k of its examples forbid the leaf's decision. It finds by binary search the greatest
// number k for which the loss of the tree is allowed.
func (search *treeSearch) pruneUniformly(ctx context.Context, examples []int) error {
	fullTree := search.result.Root
	accepted, rejected := 0, len(examples) // numbers of exceptions: the loss is allowed with accepted, and assumed to be too great with rejected
	for rejected-accepted > 1 {
		exceptions := accepted + (rejected-accepted)/2
		previous := search.result.Root
		search.result.Root = search.collapseBranches(branch{fullTree, examples}, exceptions)
		isAccepted, err := search.acceptTree(ctx)
		if err != nil {
			return err
		}
		if isAccepted {
			accepted = exceptions
		} else {
			rejected = exceptions
			search.result.Root = previous
		}
	}
	return nil
}

// collapseBranches returns a tree in which leaves replace some subtrees. A leaf has the most frequent decision of its subtree, and at most
// maxExceptions examples of the subtree forbid this decision.
func (search *treeSearch) collapseBranches(branch branch, maxExceptions int) *Node {
	if branch.node.Leaf() {
		return branch.node
	}
	decision := search.frequentDecisions(branch.examples)[0]
	if search.countExceptions(branch, decision) <= maxExceptions {
		return &Node{Decision: decision}
	}
	yesBranch, noBranch := search.split(branch)
	return &Node{Test: branch.node.Test, Yes: search.collapseBranches(yesBranch, maxExceptions), No: search.collapseBranches(noBranch, maxExceptions)}
}

// countExceptions returns how many examples of a branch do not allow a decision.
func (search *treeSearch) countExceptions(branch branch, decision int) int {
	exceptions := 0
	for _, i := range branch.examples {
		if !slices.Contains(search.examples[i].Allowed, decision) {
			exceptions++
		}
	}
	return exceptions
}

// pruneGreedily tries to replace one subtree after the other by a leaf, the subtree with the most examples first. It stops after a limited
// number of judged trees.
func (search *treeSearch) pruneGreedily(ctx context.Context, root branch) error {
	numTrials := min(max(trialWork/search.model.NumTransitions(), minTrials), maxTrials)
	maxJudged := search.result.Judged + numTrials
	queue := []branch{root}
	for len(queue) > 0 && !search.result.Stopped {
		slices.SortStableFunc(queue, func(a, b branch) int { return len(b.examples) - len(a.examples) })
		largest := queue[0]
		queue = queue[1:]
		if largest.node.Leaf() {
			continue
		}
		isReplaced, err := search.replaceByLeaf(ctx, largest, maxJudged)
		if err != nil {
			return err
		}
		if !isReplaced {
			yesBranch, noBranch := search.split(largest)
			queue = append(queue, yesBranch, noBranch)
		}
	}
	return nil
}

// replaceByLeaf replaces a subtree by the first leaf with which the loss of the tree is allowed. It reports whether it has found such a leaf. If
// maxJudged trees have been judged, it gives up and sets search.result.Stopped.
func (search *treeSearch) replaceByLeaf(ctx context.Context, replaced branch, maxJudged int) (bool, error) {
	for _, decision := range search.frequentDecisions(replaced.examples) {
		if search.result.Judged >= maxJudged {
			search.result.Stopped = true
			return false, nil
		}
		previous := *replaced.node
		*replaced.node = Node{Decision: decision}
		isAccepted, err := search.acceptTree(ctx)
		if isAccepted {
			return true, nil
		}
		*replaced.node = previous
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// branch is a subtree with the indexes of the examples that reach it.
type branch struct {
	node     *Node
	examples []int
}

// split returns the two subtrees below the test of a branch, each with the examples that reach it.
func (search *treeSearch) split(parent branch) (yesBranch, noBranch branch) {
	yesBranch.node, noBranch.node = parent.node.Yes, parent.node.No
	for _, i := range parent.examples {
		if parent.node.Test.Holds(search.examples[i].Values) {
			yesBranch.examples = append(yesBranch.examples, i)
		} else {
			noBranch.examples = append(noBranch.examples, i)
		}
	}
	return yesBranch, noBranch
}

// maxFrequent is the greatest number of decisions that frequentDecisions returns.
const maxFrequent = 3

// frequentDecisions returns at most maxFrequent decisions that are allowed in the most examples, the most frequent decision first.
func (search *treeSearch) frequentDecisions(examples []int) []int {
	counts := make([]int, len(search.result.Decisions))
	for _, i := range examples {
		for _, decision := range search.examples[i].Allowed {
			counts[decision]++
		}
	}
	var frequent []int
	for decision, numExamples := range counts {
		if numExamples > 0 {
			frequent = append(frequent, decision)
		}
	}
	slices.SortStableFunc(frequent, func(a, b int) int { return counts[b] - counts[a] })
	return frequent[:min(len(frequent), maxFrequent)]
}
