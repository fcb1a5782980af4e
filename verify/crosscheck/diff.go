package crosscheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Kind is the aspect in which two state spaces differ.
type Kind string

// The kinds.
const (
	Refused     Kind = "model" // only one tool accepts the model
	ModelType   Kind = "model type"
	Variables   Kind = "variables"
	Initial     Kind = "initial states"
	States      Kind = "state"
	Choices     Kind = "choice"
	Probability Kind = "probability" // or rate
	Labels      Kind = "label"
	Rewards     Kind = "reward"
)

// The values of something that one space has and the other lacks.
const (
	present = "present"
	absent  = "absent"
)

// Difference is the first difference between two state spaces in breadth-first order: all earlier states are the same.
type Difference struct {
	Kind  Kind
	State string // "(x=1,y=0)"; empty if the difference is not about a state
	What  string // what differs: "choice [left], to (x=2,y=0)"
	// First and Second are the values in the first and in the second space.
	First, Second string
	// Origins are the commands, labels or rewards of the models that cause the difference.
	Origins []Origin
}

// Origin is a place in a model: a command, unless What names something else.
type Origin struct {
	Model   string // Diagnosis.First or Second
	File    string
	Pos     syntax.Pos
	What    string // `label "l"`, `reward "r"`
	Action  string // empty for none
	Enabled bool   // the command is enabled in the state of the difference
}

// String returns the position and the command, as in "file:line:col: command [left]". For a command that is not enabled, it adds "not enabled
// here".
func (o *Origin) String() string {
	isCommand := o.What == ""
	text := syntax.Error{File: o.File, Pos: o.Pos, Msg: cmp.Or(o.What, "command ["+o.Action+"]")}
	if isCommand && !o.Enabled {
		text.Msg += ", not enabled here"
	}
	return text.Error()
}

// String returns the difference as a sentence, without the commands.
func (d *Difference) String() string {
	switch {
	case d.First == present && d.Second == absent:
		return d.subject() + " only in the first"
	case d.First == absent && d.Second == present:
		return d.subject() + " only in the second"
	}
	text := string(d.Kind)
	if d.State != "" {
		text += " in state " + d.State
	}
	if d.What != "" {
		text += ", " + d.What
	}
	switch {
	case d.First == noTransition:
		return text + ": " + d.Second + ", only in the second"
	case d.Second == noTransition:
		return text + ": " + d.First + ", only in the first"
	}
	return text + ": " + d.First + " against " + d.Second
}

// subject returns the beginning of a sentence about something that only one space has: its name and the verb, such as "variable x is".
func (d *Difference) subject() string {
	switch {
	case d.Kind == States:
		return "state " + d.State + " is"
	case d.Kind == Choices:
		return "in state " + d.State + " the " + d.What + " is"
	case d.Kind == Variables:
		return d.What + " is" // What names the kind
	}
	return string(d.Kind) + " " + d.What + " is"
}

// NamedSpace is a state space to compare, with a name. For an imported space, Told says which parts of the model it includes.
type NamedSpace struct {
	Name string
	explicit.ToolSpace
}

// builtSpace returns the side of a space that was built from a model and so includes everything.
func builtSpace(name string, space *explicit.Space) NamedSpace {
	return NamedSpace{name, explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: true}}
}

// Diff compares two state spaces by valuation and returns the first difference; nil if there is none. It compares fractions if both spaces have them,
// and float64 numbers otherwise. The order of states, variables, choices and transitions does not matter. Equal choices of a state count once.
//
// The first space must be built from a model. An imported second space may lack labels, rewards, actions, and variables that never change.
//
// The error is ctx.Err(), or a label or reward cannot be evaluated.
func Diff(ctx context.Context, first, second NamedSpace) (*Difference, error) {
	comparison := &spaceComparison{first: newView(first), second: newView(second)}
	comparison.exact = comparison.first.exact() && comparison.second.exact()
	if difference := comparison.compareTypes(); difference != nil {
		return difference, nil
	}
	if difference := comparison.compareVariables(); difference != nil {
		return difference, nil
	}
	comparison.namedActions = second.AllActions || comparison.first.hasActions() && comparison.second.hasActions()
	if err := comparison.matchStates(ctx); err != nil {
		return nil, err
	}
	if difference := comparison.compareInitial(); difference != nil {
		return difference, nil
	}
	return comparison.compareStates(ctx)
}

// view is one of the two spaces, with its states described by the variables of the first space.
type view struct {
	NamedSpace
	model *sparse.Model
	// slots has, for each variable of the first space, its index in the states of this space; -1 if this space does not
	// have the variable.
	slots []int
	state []int32 // buffer of valuation
	// firstNumbers has, for each state of this space, its number in the first space, or -1-(its number here) if the first space
	// does not have the state.
	firstNumbers []int32
}

func newView(s NamedSpace) *view { return &view{NamedSpace: s, model: s.Space.Model()} }

// exact reports whether the weights are fractions that were not rounded.
func (v *view) exact() bool { return v.model.Exact() && !v.Space.Rounded() }

// hasActions reports whether some choice or transition has an action.
func (v *view) hasActions() bool {
	return slices.ContainsFunc(v.model.Actions, func(a sparse.Action) bool { return a != sparse.NoAction })
}

// action returns the action of choice i of an MDP, or of transition i of a Markov chain; empty if it has none.
func (v *view) action(i int) string {
	if v.model.Actions == nil || v.model.Actions[i] == sparse.NoAction {
		return ""
	}
	return v.Space.Program().Actions[v.model.Actions[i]-1]
}

// spaceComparison compares two views.
type spaceComparison struct {
	first, second       *view
	namedActions, exact bool
	// constants has the values of the variables that only the first space has; they have one value in all states.
	constants []int32
	// secondNumbers has, for each state of the first space, its number in the second; -1 if the second does not have it.
	secondNumbers []int32
}

// compareTypes returns a difference if the models have different kinds, such as DTMC and MDP, or if exactly one model is an LTS.
func (d *spaceComparison) compareTypes() *Difference {
	firstType, secondType := d.first.Space.Program().Type, d.second.Space.Program().Type
	sameKind := d.first.model.Kind == d.second.model.Kind
	onlyOneLTS := (firstType == syntax.LTS) != (secondType == syntax.LTS)
	if sameKind && !onlyOneLTS {
		return nil
	}
	return &Difference{Kind: ModelType, First: firstType.String(), Second: secondType.String()}
}

// compareVariables matches the variables of the two spaces by name, and sets d.constants and the slots of both views. It returns a difference if
// only one space has a variable. An imported second space may lack variables that have the same value in all states.
func (d *spaceComparison) compareVariables() *Difference {
	firstVars, secondVars := d.first.Space.Program().Vars, d.second.Space.Program().Vars
	d.constants = make([]int32, len(firstVars))
	for slot, variable := range firstVars {
		secondSlot := indexOfVariable(secondVars, variable.Name)
		d.first.slots = append(d.first.slots, slot)
		d.second.slots = append(d.second.slots, secondSlot)
		if secondSlot >= 0 {
			continue
		}
		value, isConstant := d.first.constantValue(slot)
		if !isConstant || !d.second.Space.Imported() {
			return onlyInFirst(Variables, "variable "+variable.Name)
		}
		d.constants[slot] = value
	}
	for _, variable := range secondVars {
		if indexOfVariable(firstVars, variable.Name) < 0 {
			return onlyInSecond(Variables, "variable "+variable.Name)
		}
	}
	return nil
}

// indexOfVariable returns the index of the variable with a name; -1 if there is none.
func indexOfVariable(variables []sema.Variable, name string) int {
	return slices.IndexFunc(variables, func(variable sema.Variable) bool { return variable.Name == name })
}

// onlyInFirst returns the difference that the first space has something that the second lacks.
func onlyInFirst(kind Kind, what string) *Difference {
	return &Difference{Kind: kind, What: what, First: present, Second: absent}
}

// onlyInSecond returns the difference that the second space has something that the first lacks.
func onlyInSecond(kind Kind, what string) *Difference {
	return &Difference{Kind: kind, What: what, First: absent, Second: present}
}

// constantValue returns the value of a variable if it is the same in all states.
func (v *view) constantValue(slot int) (value int32, isConstant bool) {
	value = v.Space.State(nil, 0)[slot]
	var state []int32
	for i := range v.model.NumStates() {
		state = v.Space.State(state, i)
		if state[slot] != value {
			return 0, false
		}
	}
	return value, true
}

// valuation returns a state of one space, given by its number, as a valuation of the variables of the first space. A missing variable has its
// constant value.
func (d *spaceComparison) valuation(view *view, stateIndex int) []int32 {
	view.state = view.Space.State(view.state, stateIndex)
	valuation := make([]int32, len(view.slots))
	for variable, slot := range view.slots {
		if slot < 0 {
			valuation[variable] = d.constants[variable]
		} else {
			valuation[variable] = view.state[slot]
		}
	}
	return valuation
}

// matchStates finds the states that both spaces have, by their valuations. d.secondNumbers[i] becomes the number that state i of the first space
// has in the second space, or -1. d.second.firstNumbers[j] becomes the number that state j of the second space has in the first space, or -1-j.
func (d *spaceComparison) matchStates(ctx context.Context) error {
	d.secondNumbers = slices.Repeat([]int32{-1}, d.first.model.NumStates())
	d.first.firstNumbers = make([]int32, d.first.model.NumStates())
	d.second.firstNumbers = make([]int32, d.second.model.NumStates())
	for i := range d.first.firstNumbers {
		d.first.firstNumbers[i] = int32(i)
	}
	const statesPerPoll = 4096
	for j := range d.second.firstNumbers {
		if j%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d.second.firstNumbers[j] = int32(-1 - j) // not in the first space
		if i, ok := d.first.Space.Find(d.valuation(d.second, j)); ok {
			d.second.firstNumbers[j], d.secondNumbers[i] = int32(i), int32(j)
		}
	}
	return nil
}

// stateText returns a text such as (x=1,y=0) for a state, numbered as in view.firstNumbers.
func (d *spaceComparison) stateText(number int32) string {
	return d.first.Space.Compiled().StateText(d.valuationOf(number))
}

// valuationOf returns the valuation of a state: state number of the first space, or state -1-number of the second space if number is negative.
func (d *spaceComparison) valuationOf(number int32) []int32 {
	if number < 0 {
		return d.valuation(d.second, int(-1-number))
	}
	return d.valuation(d.first, int(number))
}

// compareInitial returns a difference if the spaces have different initial states.
func (d *spaceComparison) compareInitial() *Difference {
	var unmatched []int32 // the initial states of the second space without a match so far
	for _, j := range d.second.model.Initial {
		unmatched = append(unmatched, d.second.firstNumbers[j])
	}
	for _, i := range d.first.model.Initial {
		index := slices.Index(unmatched, int32(i))
		if index < 0 {
			return &Difference{Kind: Initial, First: d.stateText(int32(i)), Second: d.stateList(unmatched)}
		}
		unmatched = slices.Delete(unmatched, index, index+1)
	}
	if len(unmatched) > 0 {
		return &Difference{Kind: Initial, First: d.stateList(nil), Second: d.stateList(unmatched)}
	}
	return nil
}

// stateList returns the text of the first state of a list and the number of further states; "no such state" if the list is empty.
func (d *spaceComparison) stateList(states []int32) string {
	if len(states) == 0 {
		return "no such state"
	}
	text := d.stateText(states[0])
	if len(states) > 1 {
		text += fmt.Sprintf(" and %d more", len(states)-1)
	}
	return text
}

// compareStates compares the choices, labels and rewards of all states and returns the first difference. It visits the states of the first space
// in breadth-first order, and then the states that exist only in the second space.
func (d *spaceComparison) compareStates(ctx context.Context) (*Difference, error) {
	named, difference, err := d.pairLabelsAndRewards()
	if difference != nil || err != nil {
		return difference, err
	}
	const statesPerPoll = 256
	for firstState, j := range d.secondNumbers {
		if firstState%statesPerPoll == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if difference := d.compareState(firstState, int(j), named); difference != nil {
			difference.State = d.stateText(int32(firstState))
			return difference, nil
		}
	}
	isMissing := func(number int32) bool { return number < 0 } // in the first space
	if j := slices.IndexFunc(d.second.firstNumbers, isMissing); j >= 0 {
		return &Difference{Kind: States, State: d.stateText(d.second.firstNumbers[j]), First: absent, Second: present}, nil
	}
	return nil, nil
}

// compareState compares a state of the first space with a state of the second, both given by their numbers. A negative secondState means that the
// second space lacks the state.
func (d *spaceComparison) compareState(firstState, secondState int, named *labelsAndRewards) *Difference {
	if secondState < 0 {
		return &Difference{Kind: States, First: present, Second: absent}
	}
	difference, equalPairs := d.compareChoices(firstState, secondState)
	if difference == nil {
		difference = named.compare(firstState, secondState, equalPairs)
	}
	return difference
}

// choice is a choice of a state. A state of a Markov chain has exactly one.
type choice struct {
	index       int
	action      string
	transitions []transition
}

// transition combines the transitions of a choice that have the same target and, in a Markov chain, the same action.
type transition struct {
	action string
	target int32 // as in view.firstNumbers
	weight quantity
	high   quantity // for interval models: the upper end of the interval; weight is the lower end
	// weightedReward is the sum over the combined transitions of reward times weight.
	weightedReward quantity
}

// choicesOfState returns the choices of a state of one space.
func (d *spaceComparison) choicesOfState(view *view, state int) []choice {
	var choices []choice
	first, end := view.model.Choices(state)
	for index := first; index < end; index++ {
		converted := choice{index: index, transitions: d.transitionsOf(view, index, nil)}
		if view.model.Kind == sparse.MDP && d.namedActions {
			converted.action = view.action(index)
		}
		choices = append(choices, converted)
	}
	return choices
}

// transitionsOf returns the transitions of a choice, sorted by target and action. It merges transitions with the same target and action. reward
// returns the reward of the transition with an index; it is nil if rewards are not compared.
func (d *spaceComparison) transitionsOf(view *view, choiceIndex int, reward func(transition int) quantity) []transition {
	begin, end := view.model.Transitions(choiceIndex)
	merged := make([]transition, 0, end-begin)
	for index := begin; index < end; index++ {
		converted := d.convertTransition(view, index)
		if reward != nil {
			converted.weightedReward = converted.weight.times(reward(index))
		}
		index, found := slices.BinarySearchFunc(merged, converted, transition.compare)
		if found {
			merged[index].add(converted, view.model.Intervals())
		} else {
			merged = slices.Insert(merged, index, converted)
		}
	}
	return merged
}

// convertTransition converts a transition of a space for comparisons. The target is numbered as in view.firstNumbers, and the weight is a fraction or a
// float64.
func (d *spaceComparison) convertTransition(view *view, index int) transition {
	model := view.model
	converted := transition{target: view.firstNumbers[model.Target[index]]}
	if d.exact {
		converted.weight.fraction = model.Fraction(index)
	} else {
		converted.weight.float = model.Prob(index)
	}
	if model.Intervals() && d.exact {
		converted.high.fraction = model.HighFraction(index)
	} else if model.Intervals() {
		converted.high.float = model.Weights[model.HighIndex[index]]
	}
	if model.Kind != sparse.MDP && d.namedActions {
		converted.action = view.action(index)
	}
	return converted
}

// add merges a transition that has the same target and action into t: it adds the weight and the reward. Upper ends of weights exist only in
// interval models.
func (t *transition) add(other transition, hasIntervals bool) {
	if hasIntervals {
		t.high = t.high.plus(other.high)
	}
	t.weight = t.weight.plus(other.weight)
	t.weightedReward = t.weightedReward.plus(other.weightedReward)
}

// compare orders transitions by target, then by action.
func (t transition) compare(other transition) int {
	return cmp.Or(cmp.Compare(t.target, other.target), strings.Compare(t.action, other.action))
}

// equal reports whether two choices have the same action and the same transitions, with equal weights.
func (c *choice) equal(other *choice) bool {
	return c.action == other.action && slices.EqualFunc(c.transitions, other.transitions, transition.equal)
}

// equal reports whether two transitions have the same target, action and weight. It does not compare rewards.
func (t transition) equal(other transition) bool {
	return t.compare(other) == 0 && t.weight.equal(other.weight) && t.high.equal(other.high)
}

// compareChoices compares the choices of a state of the first space with the choices of a state of the second. It returns the first difference.
// Without a difference, it returns the pairs of equal choices, each as an index in the first and an index in the second space.
func (d *spaceComparison) compareChoices(firstState, secondState int) (difference *Difference, equalChoices [][2]int) {
	firstChoices, secondChoices := d.choicesOfState(d.first, firstState), d.choicesOfState(d.second, secondState)
	isFirstMatched, isSecondMatched := make([]bool, len(firstChoices)), make([]bool, len(secondChoices))
	for i := range firstChoices {
		for j := range secondChoices {
			first, second := &firstChoices[i], &secondChoices[j]
			if first.equal(second) {
				equalChoices = append(equalChoices, [2]int{first.index, second.index})
				isFirstMatched[i], isSecondMatched[j] = true, true
			}
		}
	}
	onlyFirst, onlySecond := unmatchedChoices(firstChoices, isFirstMatched), unmatchedChoices(secondChoices, isSecondMatched)
	if len(onlyFirst) == 0 && len(onlySecond) == 0 {
		return nil, equalChoices
	}
	return d.explainChoices(firstState, secondState, onlyFirst, onlySecond), nil
}

// unmatchedChoices returns the choices for which isMatched is false.
func unmatchedChoices(choices []choice, isMatched []bool) []*choice {
	var unmatched []*choice
	for i := range choices {
		if !isMatched[i] {
			unmatched = append(unmatched, &choices[i])
		}
	}
	return unmatched
}
