package crosscheck

import (
	"cmp"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// explainChoices returns the difference between the choices of a state in the two spaces, where the state has the numbers firstState and secondState. onlyFirst
// and onlySecond are the choices that only the first or only the second space has.
func (d *spaceComparison) explainChoices(firstState, secondState int, onlyFirst, onlySecond []*choice) *Difference {
	// Two choices with the same action differ in a transition.
	for _, firstChoice := range onlyFirst {
		for _, secondChoice := range onlySecond {
			if firstChoice.action == secondChoice.action {
				return d.explainTransition(firstState, secondState, firstChoice, secondChoice)
			}
		}
	}
	difference := &Difference{Kind: Choices, First: absent, Second: absent}
	if len(onlyFirst) > 0 {
		difference.What, difference.First = d.choiceText(onlyFirst[0]), present
		difference.Origins = slices.Concat(d.origins(d.first, firstState, onlyFirst[0], nil), d.commandsWithAction(d.second, onlyFirst[0].action))
		return difference
	}
	difference.What, difference.Second = d.choiceText(onlySecond[0]), present
	difference.Origins = slices.Concat(d.candidateCommands(firstState, onlySecond[0]), d.origins(d.second, secondState, onlySecond[0], nil))
	return difference
}

// noTransition stands for the probability of a transition that a model does not have.
const noTransition = "none"

// actionText returns a text that names a choice by its action.
func actionText(action string) string { return "choice [" + action + "]" }

// choiceText returns a text that names a choice by its action and its first target.
func (d *spaceComparison) choiceText(c *choice) string {
	text := actionText(c.action) + " to " + d.stateText(c.transitions[0].target)
	if len(c.transitions) > 1 {
		text += " and other states,"
	}
	return text
}

// explainTransition returns the first difference between two choices with the same action: a target that only one of them has, or different probabilities. For
// intervals of probabilities, it compares all lower ends first and then the upper ends. The choices belong to firstState and secondState.
func (d *spaceComparison) explainTransition(firstState, secondState int, firstChoice, secondChoice *choice) *Difference {
	difference := &Difference{Kind: Probability, First: noTransition, Second: noTransition}
	firstTransition, secondTransition := firstDifference(firstChoice.transitions, secondChoice.transitions, transition.lowerEnd)
	if firstTransition == nil && secondTransition == nil {
		firstTransition, secondTransition = firstDifference(firstChoice.transitions, secondChoice.transitions, transition.upperEnd)
	}
	differing := cmp.Or(firstTransition, secondTransition)
	if d.first.model.Kind == sparse.MDP {
		difference.What = actionText(firstChoice.action) + ", "
	} else if differing.action != "" {
		difference.What = "action [" + differing.action + "], "
	}
	difference.What += "to " + d.stateText(differing.target)
	if firstTransition != nil {
		difference.First = firstTransition.text()
	}
	if secondTransition != nil {
		difference.Second = secondTransition.text()
	}
	difference.Origins = slices.Concat(d.origins(d.first, firstState, firstChoice, firstTransition), d.origins(d.second, secondState, secondChoice, secondTransition))
	return difference
}

// text returns the weight of a transition as text, or the interval of its weights.
func (t transition) text() string {
	if t.high == (quantity{}) {
		return t.weight.String()
	}
	return "[" + t.weight.String() + "," + t.high.String() + "]"
}

// lowerEnd returns the weight, which in an interval model is the lower end of the interval; upperEnd returns the upper end. meanReward returns
// the mean of the transition rewards, weighted by the weights.
func (t transition) lowerEnd() quantity   { return t.weight }
func (t transition) upperEnd() quantity   { return t.high }
func (t transition) meanReward() quantity { return t.weightedReward.dividedBy(t.weight) }

// firstDifference compares two sorted lists of transitions and returns the first difference. If both lists have a transition with the same target
// and action, but with different values, it returns both transitions. If only one list has the transition, the other result is nil. For
// equal lists, both results are nil.
func firstDifference(first, second []transition, value func(transition) quantity) (inFirst, inSecond *transition) {
	for i := range min(len(first), len(second)) {
		switch order := first[i].compare(second[i]); {
		case order < 0:
			return &first[i], nil
		case order > 0:
			return nil, &second[i]
		case !value(first[i]).equal(value(second[i])):
			return &first[i], &second[i]
		}
	}
	switch {
	case len(first) > len(second):
		return &first[len(second)], nil
	case len(second) > len(first):
		return nil, &second[len(first)]
	}
	return nil, nil
}

// origins returns the commands that made a choice (sought) of a state. In a Markov chain it returns the commands that made the transition, or all enabled
// commands if the transition is nil. It returns nil for an imported space, which has no commands.
func (d *spaceComparison) origins(view *view, stateIndex int, sought *choice, transition *transition) []Origin {
	if view.Space.Imported() {
		return nil
	}
	state := view.Space.State(nil, stateIndex)
	expanded, err := view.Space.Compiled().NewExpander().Expand(state)
	if err != nil { // cannot happen in a reachable state
		return nil
	}
	comparesActions := view.model.Kind == sparse.MDP && d.namedActions
	var matching, sameAction []Origin
	for k := range expanded.List {
		compiled := &expanded.List[k]
		if comparesActions && actionName(view, compiled.Action) != sought.action {
			continue
		}
		sameAction = view.appendCommands(sameAction, compiled)
		if d.mayBeSource(view, compiled, sought, transition) {
			matching = view.appendCommands(matching, compiled)
		}
	}
	if len(matching) > 0 {
		return matching
	}
	return sameAction
}

// actionName returns the name of an action of the program; empty for none.
func actionName(view *view, action int) string {
	if action == sema.Unlabelled {
		return ""
	}
	return view.Space.Program().Actions[action]
}

// mayBeSource reports whether a choice of the compiled model may be the one from which a choice of the space (sought) was built. In an MDP both must have the
// same targets. In a Markov chain the compiled choice must have the target of the transition.
func (d *spaceComparison) mayBeSource(view *view, compiled *compile.Choice, sought *choice, transition *transition) bool {
	if view.model.Kind != sparse.MDP {
		return transition != nil && d.reaches(view, compiled, transition.target)
	}
	if len(compiled.Transitions) != len(sought.transitions) {
		return false
	}
	for _, soughtTransition := range sought.transitions {
		if !d.reaches(view, compiled, soughtTransition.target) {
			return false
		}
	}
	return true
}

// reaches reports whether a compiled choice has a transition to a state, numbered as in view.firstNumbers.
func (d *spaceComparison) reaches(view *view, compiled *compile.Choice, targetNumber int32) bool {
	target := d.valuationOf(targetNumber)
	return slices.ContainsFunc(compiled.Transitions, func(transition compile.Transition) bool {
		for i, slot := range view.slots {
			if transition.Target[slot] != target[i] {
				return false
			}
		}
		return true
	})
}

// appendCommands appends the commands of a compiled choice to a list, without duplicates.
func (v *view) appendCommands(list []Origin, compiled *compile.Choice) []Origin {
	program := v.Space.Program()
	for _, reference := range compiled.Commands {
		command := &program.Modules[reference.Module].Commands[reference.Command]
		origin := Origin{Model: v.Name, File: program.File, Pos: command.Pos, Action: actionName(v, compiled.Action), Enabled: true}
		if !slices.Contains(list, origin) {
			list = append(list, origin)
		}
	}
	return list
}

// candidateCommands returns commands of the first model that may explain why only the second space has a choice (sought): those with an update from the given
// state to a target of the choice. Without such commands, it returns all commands with the action of the choice.
func (d *spaceComparison) candidateCommands(stateIndex int, sought *choice) []Origin {
	if d.first.Space.Imported() {
		return nil
	}
	var candidates []Origin
	state := d.first.Space.State(nil, stateIndex)
	program := d.first.Space.Program()
	for _, module := range program.Modules {
		for _, command := range module.Commands {
			if !d.leadsTo(state, &command, sought) {
				continue
			}
			guard, err := sema.Eval(command.Guard, state)
			candidates = append(candidates, Origin{
				Model: d.first.Name, File: program.File, Pos: command.Pos, Action: actionName(d.first, command.Action), Enabled: err == nil && guard.Bool,
			})
		}
	}
	if candidates == nil {
		return d.commandsWithAction(d.first, sought.action)
	}
	return candidates
}

// leadsTo reports whether an update of a command leads from a state to a target of a choice. The guard of the command need not hold.
func (d *spaceComparison) leadsTo(state []int32, command *sema.Command, sought *choice) bool {
	for i := range command.Updates {
		target := applyUpdate(state, &command.Updates[i])
		isTarget := func(t transition) bool { return slices.Equal(d.valuationOf(t.target), target) }
		if target != nil && slices.ContainsFunc(sought.transitions, isTarget) {
			return true
		}
	}
	return false
}

// applyUpdate returns the valuation after an update of a state; nil if the update changes nothing or a value cannot be computed. Booleans are 0 or 1.
func applyUpdate(state []int32, update *sema.Update) []int32 {
	target := slices.Clone(state)
	for _, assignment := range update.Assigns {
		value, err := sema.Eval(assignment.Value, state)
		if err != nil {
			return nil
		}
		target[assignment.Slot] = value.Int
		if value.Bool {
			target[assignment.Slot] = 1
		}
	}
	if slices.Equal(target, state) {
		return nil
	}
	return target
}

// commandsWithAction returns all commands of a model with the given action; nil if the action is empty or the space was imported.
func (d *spaceComparison) commandsWithAction(view *view, action string) []Origin {
	if view.Space.Imported() || action == "" {
		return nil
	}
	var commands []Origin
	program := view.Space.Program()
	for _, module := range program.Modules {
		for _, command := range module.Commands {
			if actionName(view, command.Action) == action {
				commands = append(commands, Origin{Model: view.Name, File: program.File, Pos: command.Pos, Action: action})
			}
		}
	}
	return commands
}
