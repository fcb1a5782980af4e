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
	a, err := newAutomaton(timed)
	if err != nil {
		return nil, err
	}
	explored, err := a.explore(ctx)
	if err != nil {
		return nil, err
	}
	goal, err := a.goal(ctx)
	if err != nil {
		return nil, err
	}
	search := a.newBackward(goal.target, goal.bad)
	search.keepAll, search.maxEntries = options.KeepAll, options.MaxStates
	if err := search.search(ctx); err != nil {
		return nil, err
	}
	built := &Built{Violating: explored.warning}
	if built.Space, err = search.space(nil); err != nil {
		return nil, err
	}
	if dominated := search.dominated(); len(dominated) > 0 {
		if built.Upper, err = search.space(dominated); err != nil {
			return nil, err
		}
	}
	built.Property = goal.property(built.Space.Program())
	return built, nil
}

// goal is what to maximise: the probability of reaching the target without bad states before. Both have the valuations of each location.
type goal struct {
	target, bad []zone.Federation
	// isNegated says that the property is about the complement of the event.
	isNegated bool
	timed     *digital.Zones
}

// goal returns the goal for the property. For a minimal probability it maximises the negation of the until
// formula: to surely avoid the right operand.
func (a *automaton) goal(ctx context.Context) (*goal, error) {
	path := a.Path
	// The property is about left U right, or its negation.
	left, right, isNegated := path.Left, path.Right, false
	if path.Op == syntax.Globally {
		left, right, isNegated = nil, logic.Not(path.Right), true
	}
	satisfied, violated, err := a.decided(left, right)
	if err != nil {
		return nil, err
	}
	isMinimum := a.Least != isNegated
	result := &goal{target: satisfied, bad: violated, isNegated: isNegated != isMinimum, timed: a.Zones}
	if !isMinimum {
		return result, nil
	}
	_, late := a.deadline()
	for i := range violated {
		violated[i] = violated[i].Union(late)
	}
	result.bad = satisfied
	result.target, err = a.surelyAvoiding(ctx, violated, satisfied)
	return result, err
}

// decided returns the valuations of each location that satisfy left U right at once. violated has the valuations
// that violate the two operands. The right operand counts only within the time bound.
func (a *automaton) decided(left, right sema.Expr) (satisfied, violated []zone.Federation, err error) {
	inTime, _ := a.deadline()
	for _, location := range a.locations {
		satisfyingLeft, err := a.valuations(location, left)
		if err != nil {
			return nil, nil, err
		}
		satisfyingRight, err := a.valuations(location, right)
		if err != nil {
			return nil, nil, err
		}
		satisfyingRight = satisfyingRight.Intersect(inTime)
		satisfied = append(satisfied, satisfyingRight)
		violated = append(violated, a.in(location).all().Minus(satisfyingLeft).Minus(satisfyingRight))
	}
	return satisfied, violated, nil
}

// deadline returns the valuations that satisfy the time bound of the property, and the valuations that violate it.
func (a *automaton) deadline() (inTime, late zone.Federation) {
	all := zone.All(a.constraint.clocks)
	if a.timer == 0 {
		return zone.Federation{all}, nil
	}
	bound := zone.AtMost(*a.Deadline)
	if a.Path.Bound.HighStrict {
		bound = zone.Below(*a.Deadline)
	}
	if early, ok := all.And(a.timer, 0, bound); ok {
		inTime = zone.Federation{early}
	}
	after, _ := all.And(0, a.timer, bound.Negated())
	return inTime, zone.Federation{after}
}

// targetLabel is the label of the target in the MDP.
const targetLabel = "target"

// property returns the property to check on the MDP. program is the program of the MDP.
func (g *goal) property(program *sema.Program) sema.Expr {
	at := func(valueType sema.Type) sema.Base {
		return sema.Base{ValueType: valueType, Position: g.timed.Path.Whole.Pos()}
	}
	index := slices.IndexFunc(program.Labels, func(label sema.LabelDef) bool { return label.Name == targetLabel })
	var target sema.Expr = &sema.Label{Base: at(sema.Bool), Name: targetLabel, Index: index}
	path := &sema.Temporal{Base: at(sema.Path), Op: syntax.Future, Y: target}
	if g.isNegated {
		path.Op, path.Y = syntax.Globally, logic.Not(target)
	}
	valueType := sema.Double
	if !g.timed.Threshold.Query() {
		valueType = sema.Bool
	}
	return &sema.Prob{Base: at(valueType), Threshold: g.timed.Threshold, Path: path}
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
	builder   *sparse.Builder
	nodes     []node // from firstState on
	optionOf  map[string]int
	dominated map[*entry][]*entry // what an entry can become
}

// node is a state of the MDP: an entry or, if that is nil, a choice between entries.
type node struct {
	entry   *entry
	options []*entry
}

// dominated returns for each entry the entries that were left out because of it.
func (b *backward) dominated() map[*entry][]*entry {
	result := make(map[*entry][]*entry)
	isListed := make(map[[2]*entry]bool)
	for _, d := range b.dominations {
		if pair := [2]*entry{d.by, d.entry}; !isListed[pair] {
			isListed[pair] = true
			result[d.by] = append(result[d.by], d.entry)
		}
	}
	return result
}

// space returns the MDP of the symbolic states. An entry can also become the entries that it dominates.
func (b *backward) space(dominated map[*entry][]*entry) (*explicit.Space, error) {
	for _, entries := range b.entries {
		for _, entry := range entries {
			entry.number = 0
		}
	}
	mdp := &mdp{backward: b, builder: sparse.NewBuilder(sparse.MDP), optionOf: make(map[string]int), dominated: dominated}
	first, err := b.initial()
	if err != nil {
		return nil, err
	}
	mdp.addChoiceBetween([]int{mdp.of(b.entriesAtOrigin(first))})
	mdp.addChoiceBetween([]int{targetState})
	mdp.addChoiceBetween([]int{loseState})
	for i := 0; i < len(mdp.nodes); i++ { // adding a node may add others
		if added := mdp.nodes[i]; added.entry != nil {
			mdp.addEntry(added.entry)
		} else {
			mdp.addChoiceBetween(mdp.ofEach(added.options))
		}
	}
	return mdp.finish()
}

// entriesAtOrigin returns the entries of a location that contain the valuation with all clocks 0.
func (b *backward) entriesAtOrigin(location *location) []*entry {
	var found []*entry
	origin := make([]float64, b.constraint.clocks)
	for _, entry := range b.entries[location.number] {
		if entry.zone.Contains(origin) {
			found = append(found, entry)
		}
	}
	return found
}

// of returns the state of the MDP that chooses between entries. It adds a new state.
func (m *mdp) of(options []*entry) int {
	switch {
	case len(options) == 0:
		return loseState
	case slices.ContainsFunc(options, func(e *entry) bool { return e.isSure }):
		return targetState
	case len(options) == 1:
		if options[0].number == 0 {
			options[0].number = m.add(node{entry: options[0]})
		}
		return options[0].number
	}
	numbers := m.ofEach(options)
	slices.Sort(numbers)
	key := fmt.Sprint(numbers)
	number, isKnown := m.optionOf[key]
	if !isKnown {
		number = m.add(node{options: options})
		m.optionOf[key] = number
	}
	return number
}

// ofEach returns the state of the MDP for each of some entries.
func (m *mdp) ofEach(entries []*entry) []int {
	var numbers []int
	for _, e := range entries {
		numbers = append(numbers, m.of([]*entry{e}))
	}
	return numbers
}

// add adds a node and returns its state.
func (m *mdp) add(n node) int {
	m.nodes = append(m.nodes, n)
	return firstState + len(m.nodes) - 1
}

// addChoiceBetween adds a state with a choice for each of some successors.
func (m *mdp) addChoiceBetween(successors []int) {
	m.builder.State()
	for _, successor := range successors {
		m.addChoice(successor)
	}
}

// addChoice adds a choice with one successor to the current state.
func (m *mdp) addChoice(successor int) {
	m.builder.Choice(sparse.NoAction)
	m.addTransition(successor, weight{big.NewRat(1, 1), 1})
}

// addTransition adds a transition to the current choice.
func (m *mdp) addTransition(target int, w weight) {
	if m.exact {
		m.builder.AddRat(target, w.exact, sparse.NoAction)
	} else {
		m.builder.Add(target, w.float)
	}
}

// addEntry adds the state of an entry, with a choice for each way to leave it and for each dominated entry.
func (m *mdp) addEntry(e *entry) {
	m.builder.State()
	for _, way := range e.ways {
		m.addWay(way)
	}
	for _, other := range m.dominated[e] {
		m.addChoice(m.of([]*entry{other}))
	}
}

// addWay adds a choice to the current state for a way to leave an entry. It merges branches with the same target.
func (m *mdp) addWay(way *firingZone) {
	var targets []int
	weights := make(map[int]weight)
	for i, branch := range way.firing.transition.branches {
		target := m.of(way.options[i])
		sum, isKnown := weights[target]
		if !isKnown {
			targets = append(targets, target)
			weights[target] = weight{branch.weight, branch.float}
			continue
		}
		sum.float += branch.float
		if m.exact {
			sum.exact = new(big.Rat).Add(sum.exact, branch.weight)
		}
		weights[target] = sum
	}
	action := sparse.NoAction
	if number := way.firing.transition.choice.action; number >= 0 {
		action = sparse.Action(number + 1)
	}
	m.builder.Choice(action)
	for _, target := range targets {
		m.addTransition(target, weights[target])
	}
}

// finish completes the MDP. Its only variable is the number of the state.
func (m *mdp) finish() (*explicit.Space, error) {
	model, err := m.builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{startState}
	target := sparse.NewSet(model.NumStates())
	target.Add(targetState)
	model.Labels = []sparse.Label{{Name: targetLabel, States: target}}
	return explicit.Import(&explicit.Imported{
		File: m.Source.File, Type: syntax.MDP, Actions: m.Source.Actions, Model: model,
		Vars:      []sema.Variable{{Name: "zone", Type: sema.Int, Bounded: true, High: int32(model.NumStates() - 1)}},
		Valuation: func(state int) []int32 { return []int32{int32(state)} },
	})
}
