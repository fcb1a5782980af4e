package zones

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/internal/zone"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/digital"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Options changes how symbolic states are found.
type Options struct {
	// MaxStates is the number of symbolic states after which Build gives up; 0 means no limit.
	MaxStates int
	// MaxMemory is the number of bytes that symbolic states may take; 0 means three quarters of what the system says is available.
	MaxMemory int64
	// KeepAll keeps symbolic states also if another one seems to be at least as good.
	KeepAll bool
}

// Built is an MDP of symbolic states. If symbolic states were left out, because others seem to be at least as good, Space gives a lower bound
// of the maximal probability of the target. Upper gives an upper bound: in it, a state can also continue as any state that was left out because
// of it. If both bounds are equal, leaving out states did not change the probability.
type Built struct {
	Space, Upper *explicit.Space // Upper is nil if no state was left out
	// Property is the property to check on Space. Its value is the value of the property of the automaton, and it holds if and only if that one does.
	Property sema.Expr
	// Violating describes a reachable state that violates an invariant; "" if there is none.
	Violating string
}

// Build returns the MDP of a timed automaton for a property. The error is a *TimelockError, a
// *compile.UnsupportedError, an *explicit.LimitError, or the error of the context. A *compile.StateError says in
// which state the model is wrong.
func Build(ctx context.Context, timed *digital.Zones, options Options) (*Built, error) {
	automaton, err := newAutomaton(timed)
	if err != nil {
		return nil, err
	}
	automaton.memory = newMemoryUse(options.MaxMemory, automaton.clockConstraints.numClocks)
	explored, err := automaton.explore(ctx)
	if err != nil {
		return nil, err
	}
	goal, err := automaton.newGoal(ctx)
	if err != nil {
		return nil, err
	}
	search := automaton.newBackward(goal.targetValuations, goal.badValuations)
	search.keepsDominated, search.maxEntries = options.KeepAll, options.MaxStates
	if err := search.findEntries(ctx); err != nil {
		return nil, err
	}
	built := &Built{Violating: explored.violationWarning}
	if built.Space, err = search.buildSpace(nil); err != nil {
		return nil, err
	}
	if dominated := search.dominatedEntries(); len(dominated) > 0 {
		if built.Upper, err = search.buildSpace(dominated); err != nil {
			return nil, err
		}
	}
	built.Property = goal.propertyOn(built.Space.Program())
	return built, nil
}

// goal is what to maximise: the probability of reaching the target without bad states before. Both have the valuations of each location.
type goal struct {
	targetValuations, badValuations []zone.Federation
	// isNegated says that the property is about the complement of the event.
	isNegated      bool
	timedAutomaton *digital.Zones
}

// newGoal returns the target and the bad states of the property. For a minimal probability, the target is the set of states from which some scheduler surely
// avoids the until formula, and the states that satisfy the formula are bad. The minimum is 1 minus the maximal probability of reaching this target.
func (automaton *automaton) newGoal(ctx context.Context) (*goal, error) {
	path := automaton.Path
	// The property is about left U right, or its negation.
	left, right, isNegated := path.Left, path.Right, false
	if path.Op == syntax.Globally {
		left, right, isNegated = nil, logic.Not(path.Right), true
	}
	satisfied, violated, err := automaton.decidedValuations(left, right)
	if err != nil {
		return nil, err
	}
	isMinimum := automaton.Least != isNegated
	result := &goal{targetValuations: satisfied, badValuations: violated, isNegated: isNegated != isMinimum, timedAutomaton: automaton.Zones}
	if !isMinimum {
		return result, nil
	}
	_, late := automaton.deadline()
	for i := range violated {
		violated[i] = violated[i].Union(late)
	}
	result.badValuations = satisfied
	result.targetValuations, err = automaton.surelyAvoiding(ctx, violated, satisfied)
	return result, err
}

// decidedValuations returns, for each location, the clock valuations that satisfy left U right at once, because they satisfy right within the time bound,
// and the valuations that violate both operands.
func (automaton *automaton) decidedValuations(left, right sema.Expr) (satisfied, violated []zone.Federation, err error) {
	inTime, _ := automaton.deadline()
	for _, location := range automaton.locations {
		satisfyingLeft, err := automaton.satisfyingValuations(location, left)
		if err != nil {
			return nil, nil, err
		}
		satisfyingRight, err := automaton.satisfyingValuations(location, right)
		if err != nil {
			return nil, nil, err
		}
		satisfyingRight = satisfyingRight.Intersect(inTime)
		satisfied = append(satisfied, satisfyingRight)
		violated = append(violated, automaton.constraintsIn(location).allValuations().Minus(satisfyingLeft).Minus(satisfyingRight))
	}
	return satisfied, violated, nil
}

// deadline returns the clock valuations that respect the time bound of the property (inTime), and those in which it has passed (late). Without a time bound,
// inTime has all valuations.
func (automaton *automaton) deadline() (inTime, late zone.Federation) {
	allValuations := zone.All(automaton.clockConstraints.numClocks)
	if automaton.timerClock == 0 {
		return zone.Federation{allValuations}, nil
	}
	bound := zone.AtMost(*automaton.Deadline)
	if automaton.Path.Bound.IsHighStrict {
		bound = zone.Below(*automaton.Deadline)
	}
	if zoneInTime, ok := allValuations.And(automaton.timerClock, 0, bound); ok {
		inTime = zone.Federation{zoneInTime}
	}
	zoneAfter, _ := allValuations.And(0, automaton.timerClock, bound.Negated())
	return inTime, zone.Federation{zoneAfter}
}

// targetLabel is the label of the target in the MDP.
const targetLabel = "target"

// propertyOn returns the property to check on the MDP: the original operator P, about reaching the target or about avoiding it. program is the program of
// the MDP.
func (goal *goal) propertyOn(program *sema.Program) sema.Expr {
	baseOfType := func(valueType sema.Type) sema.Base {
		return sema.Base{ValueType: valueType, Position: goal.timedAutomaton.Path.WholeExpr.Pos()}
	}
	index := slices.IndexFunc(program.Labels, func(label sema.LabelDef) bool { return label.Name == targetLabel })
	var target sema.Expr = &sema.Label{Base: baseOfType(sema.Bool), Name: targetLabel, Index: index}
	path := &sema.Temporal{Base: baseOfType(sema.Path), Op: syntax.Future, Y: target}
	if goal.isNegated {
		path.Op, path.Y = syntax.Globally, logic.Not(target)
	}
	valueType := sema.Double
	if !goal.timedAutomaton.Threshold.IsQuery() {
		valueType = sema.Bool
	}
	return &sema.Prob{Base: baseOfType(valueType), Threshold: goal.timedAutomaton.Threshold, Path: path}
}

// States of the MDP with fixed numbers.
const (
	startState = iota
	targetState
	loseState // the target is not reached any more
	firstState
)

// mdp assembles the MDP of the symbolic states that are reachable from the initial one.
type mdp struct {
	*backward
	builder          *sparse.Builder
	nodes            []node // from firstState on
	stateByOptions   map[string]int
	dominatedEntries map[*entry][]*entry // what an entry can become
}

// node is a state of the MDP: an entry or, if that is nil, a choice between entries.
type node struct {
	entry   *entry
	options []*entry
}

// dominatedEntries returns, for each entry, the entries that the search has left out because this entry dominates them.
func (search *backward) dominatedEntries() map[*entry][]*entry {
	result := make(map[*entry][]*entry)
	isListed := make(map[[2]*entry]bool)
	for _, domination := range search.dominations {
		if pair := [2]*entry{domination.dominator, domination.entry}; !isListed[pair] {
			isListed[pair] = true
			result[domination.dominator] = append(result[domination.dominator], domination.entry)
		}
	}
	return result
}

// buildSpace builds the MDP of the symbolic states. With dominated, it gives an upper bound: each entry can also continue as one of the entries that were
// left out because of it. With nil, it gives the lower bound.
func (search *backward) buildSpace(dominated map[*entry][]*entry) (*explicit.Space, error) {
	for _, entries := range search.entries {
		for _, entry := range entries {
			entry.stateNumber = 0
		}
	}
	mdp := &mdp{backward: search, builder: sparse.NewBuilder(sparse.MDP), stateByOptions: make(map[string]int), dominatedEntries: dominated}
	first, err := search.initialLocation()
	if err != nil {
		return nil, err
	}
	mdp.addChoiceBetween([]int{mdp.stateOf(search.entriesAtOrigin(first))})
	mdp.addChoiceBetween([]int{targetState})
	mdp.addChoiceBetween([]int{loseState})
	for i := 0; i < len(mdp.nodes); i++ { // addEntry and statesFor append to mdp.nodes
		if added := mdp.nodes[i]; added.entry != nil {
			mdp.addEntry(added.entry)
		} else {
			mdp.addChoiceBetween(mdp.statesFor(added.options))
		}
		if search.memory.exceedsLimit(mdp.builder.Bytes()) {
			return nil, search.memory.limitError(search.numEntries, search.numEntries)
		}
	}
	return mdp.finish()
}

// entriesAtOrigin returns the entries of a location whose zones contain the clock valuation in which all clocks are 0, in which a run begins.
func (search *backward) entriesAtOrigin(location *location) []*entry {
	var entries []*entry
	origin := make([]float64, search.clockConstraints.numClocks)
	for _, entry := range search.entries[location.number] {
		if entry.zone.Contains(origin) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// stateOf returns the state of the MDP in which the scheduler chooses one of the given entries, and adds the state if it is new. Without entries it is the
// losing state. If the target is surely reached from one of them, it is the target.
func (mdp *mdp) stateOf(options []*entry) int {
	switch {
	case len(options) == 0:
		return loseState
	case slices.ContainsFunc(options, func(e *entry) bool { return e.isSure }):
		return targetState
	case len(options) == 1:
		if options[0].stateNumber == 0 {
			options[0].stateNumber = mdp.addNode(node{entry: options[0]})
		}
		return options[0].stateNumber
	}
	numbers := mdp.statesFor(options)
	slices.Sort(numbers)
	key := fmt.Sprint(numbers)
	number, isKnown := mdp.stateByOptions[key]
	if !isKnown {
		number = mdp.addNode(node{options: options})
		mdp.stateByOptions[key] = number
	}
	return number
}

// statesFor returns the state of the MDP for each of some entries.
func (mdp *mdp) statesFor(entries []*entry) []int {
	var numbers []int
	for _, e := range entries {
		numbers = append(numbers, mdp.stateOf([]*entry{e}))
	}
	return numbers
}

// addNode adds a node and returns its state.
func (mdp *mdp) addNode(n node) int {
	mdp.nodes = append(mdp.nodes, n)
	return firstState + len(mdp.nodes) - 1
}

// addChoiceBetween adds a state with a choice for each of some successors.
func (mdp *mdp) addChoiceBetween(successors []int) {
	mdp.builder.State()
	for _, successor := range successors {
		mdp.addChoice(successor)
	}
}

// addChoice adds a choice with one successor to the current state.
func (mdp *mdp) addChoice(successor int) {
	mdp.builder.Choice(sparse.NoAction)
	mdp.addTransition(successor, weight{big.NewRat(1, 1), 1})
}

// addTransition adds a transition to the current choice.
func (mdp *mdp) addTransition(target int, w weight) {
	if mdp.hasFractions {
		mdp.builder.AddRat(target, w.fraction, sparse.NoAction)
	} else {
		mdp.builder.Add(target, w.float)
	}
}

// addEntry adds the choices of an entry to the MDP: one for each exit of the entry, and one for each entry that was left out because this entry dominates
// it.
func (mdp *mdp) addEntry(current *entry) {
	mdp.builder.State()
	for _, exit := range current.exits {
		mdp.addExit(exit)
	}
	for _, other := range mdp.dominatedEntries[current] {
		mdp.addChoice(mdp.stateOf([]*entry{other}))
	}
}

// addExit adds a choice to the current state of the MDP: to take the transition of a firing zone. Branches that lead to the same state become one transition
// with the sum of their probabilities.
func (mdp *mdp) addExit(exit *firingZone) {
	var targets []int
	weights := make(map[int]weight)
	for i, branch := range exit.firing.transition.branches {
		target := mdp.stateOf(exit.options[i])
		sum, isKnown := weights[target]
		if !isKnown {
			targets = append(targets, target)
			weights[target] = weight{branch.exactWeight, branch.floatWeight}
			continue
		}
		sum.float += branch.floatWeight
		if mdp.hasFractions {
			sum.fraction = new(big.Rat).Add(sum.fraction, branch.exactWeight)
		}
		weights[target] = sum
	}
	action := sparse.NoAction
	if number := exit.firing.transition.choice.action; number >= 0 {
		action = sparse.Action(number + 1)
	}
	mdp.builder.Choice(action)
	for _, target := range targets {
		mdp.addTransition(target, weights[target])
	}
}

// finish returns the MDP as a state space, with the label of the target. The only variable is the number of the state.
func (mdp *mdp) finish() (*explicit.Space, error) {
	model, err := mdp.builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{startState}
	target := sparse.NewSet(model.NumStates())
	target.Add(targetState)
	model.Labels = []sparse.Label{{Name: targetLabel, States: target}}
	return explicit.Import(&explicit.Imported{
		File: mdp.Source.File, Type: syntax.MDP, Actions: mdp.Source.Actions, Model: model,
		Vars:      []sema.Variable{{Name: "zone", Type: sema.Int, IsBounded: true, High: int32(model.NumStates() - 1)}},
		Valuation: func(state int) []int32 { return []int32{int32(state)} },
	})
}
