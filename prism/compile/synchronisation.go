package compile

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// synchronisation is a set of modules that move together under an action. Each combination of one enabled command per participant is a
// choice.
type synchronisation struct {
	action       int // the action of the choice; sema.Unlabelled if the action is hidden
	participants []participant
}

// participant is a module with its commands for one action, in command order.
type participant struct {
	module   int
	commands []*command
}

// number returns the number of a participant, which has at least one command.
func (p *participant) number() int { return p.commands[0].participantNumber }

// behaviour describes a term of a system block: its unlabelled synchronisations, and those of each action of its alphabet. A synchronisation
// is a list of participants. An action without synchronisations is blocked.
type behaviour struct {
	unlabelled [][]participant
	labelled   map[int][][]participant
}

// composeModules returns the synchronisations of the system block. Without a system block, it returns the synchronisations of the parallel
// composition of all modules. Unlabelled synchronisations come first, in the order of the modules, then the actions in the order of their first
// appearance.
//
// Source: the order of PRISM's explicit engine (reference, section 4.2).
func (m *Model) composeModules() ([]synchronisation, error) {
	term := m.program.System
	if term == nil {
		parallel := &sema.SysParallel{IsAlphabetised: true}
		for i := range m.program.Modules {
			parallel.Operands = append(parallel.Operands, sema.SysModule{Index: i})
		}
		term = parallel
	}
	behaviour, err := m.behaviourOf(term)
	if err != nil {
		return nil, err
	}
	var synchronisations []synchronisation
	for _, participants := range behaviour.unlabelled {
		synchronisations = append(synchronisations, synchronisation{sema.Unlabelled, participants})
	}
	for action := range m.program.Actions {
		for _, participants := range behaviour.labelled[action] {
			synchronisations = append(synchronisations, synchronisation{action, participants})
		}
	}
	synchronisations = slices.DeleteFunc(synchronisations, synchronisation.isBlocked)
	return synchronisations, m.checkDisjoint(synchronisations)
}

// isBlocked reports whether a participant has no commands. The synchronisation is then never enabled.
func (g synchronisation) isBlocked() bool {
	return slices.ContainsFunc(g.participants, func(participant participant) bool { return len(participant.commands) == 0 })
}

// checkDisjoint returns an error if a module participates twice in a synchronisation, because a system block names it twice.
func (m *Model) checkDisjoint(synchronisations []synchronisation) error {
	for _, sync := range synchronisations {
		if i := sync.repeatedModule(); i >= 0 {
			module := &m.program.Modules[i]
			message := fmt.Sprintf("module %q takes part twice in one composition", module.Name)
			return &UnsupportedError{m.program.File, module.Pos, message}
		}
	}
	return nil
}

// repeatedModule returns a module that participates twice in a synchronisation; -1 if there is none.
func (g synchronisation) repeatedModule() int {
	hasParticipant := map[int]bool{}
	for _, participant := range g.participants {
		if hasParticipant[participant.module] {
			return participant.module
		}
		hasParticipant[participant.module] = true
	}
	return -1
}

// behaviourOf returns the synchronisations that a term of the system block allows, without an action and for each action of its alphabet. The synchronisations
// of a hidden action become unlabelled.
func (m *Model) behaviourOf(term sema.System) (behaviour, error) {
	switch term := term.(type) {
	case sema.SysModule:
		return m.moduleBehaviour(term.Index), nil
	case *sema.SysParallel:
		return m.composeParallel(term)
	case *sema.SysHide:
		operand, err := m.behaviourOf(term.X)
		for _, action := range term.Actions {
			operand.unlabelled = append(operand.unlabelled, operand.labelled[action]...)
			delete(operand.labelled, action)
		}
		return operand, err
	case *sema.SysRename:
		operand, err := m.behaviourOf(term.X)
		return renameActions(operand, term, len(m.program.Actions)), err
	}
	return behaviour{}, &UnsupportedError{m.program.File, syntax.Pos{}, fmt.Sprintf("system term %T cannot be executed", term)}
}

// moduleBehaviour returns the synchronisations of a single module: the module alone, without an action and for each action of its alphabet.
func (m *Model) moduleBehaviour(module int) behaviour {
	result := behaviour{labelled: map[int][][]participant{}}
	unlabelled := m.newParticipant(module, sema.Unlabelled)
	if len(unlabelled.commands) > 0 {
		result.unlabelled = [][]participant{{unlabelled}}
	}
	for _, action := range m.program.Modules[module].Alphabet {
		result.labelled[action] = [][]participant{{m.newParticipant(module, action)}}
	}
	return result
}

// newParticipant returns a module as a participant in synchronisations of an action, with its commands for this action.
func (m *Model) newParticipant(module, action int) participant {
	result := participant{module: module}
	for _, command := range m.commands {
		if command.module == module && command.source.Action == action {
			result.commands = append(result.commands, command)
		}
	}
	return result
}

// composeParallel returns the synchronisations of a parallel composition. The operands move together on the actions on which they synchronise. With any other
// action, or without an action, each operand moves alone.
func (m *Model) composeParallel(parallel *sema.SysParallel) (behaviour, error) {
	composed := behaviour{labelled: map[int][][]participant{}}
	var operands []behaviour
	for _, term := range parallel.Operands {
		operand, err := m.behaviourOf(term)
		if err != nil {
			return behaviour{}, err
		}
		operands = append(operands, operand)
		composed.unlabelled = append(composed.unlabelled, operand.unlabelled...)
	}
	for action := range m.program.Actions {
		if combinations, inAlphabet := composeAction(parallel, operands, action); inAlphabet {
			composed.labelled[action] = combinations
		}
	}
	return composed, nil
}

// composeAction returns the synchronisations of an action in a parallel composition. inAlphabet is false if no operand has the action.
func composeAction(parallel *sema.SysParallel, operands []behaviour, action int) (combinations [][]participant, inAlphabet bool) {
	var operandLists [][][]participant // the synchronisations of each operand that has the action
	for _, operand := range operands {
		if operandList, ok := operand.labelled[action]; ok {
			operandLists = append(operandLists, operandList)
		}
	}
	isSynchronising := parallel.IsAlphabetised || slices.Contains(parallel.Actions, action)
	switch {
	case len(operandLists) == 0:
		return nil, false
	case !isSynchronising:
		return slices.Concat(operandLists...), true
	case !parallel.IsAlphabetised && len(operandLists) < len(operands): // P |[a]| Q: an operand without the action a blocks it
		return nil, true
	}
	combinations = operandLists[0]
	for _, operandList := range operandLists[1:] {
		combinations = combineParticipants(combinations, operandList)
	}
	return combinations, true
}

// combineParticipants returns, for each pair of lists of participants in firsts and seconds, the concatenation of both lists. The list in firsts
// varies fastest.
func combineParticipants(firsts, seconds [][]participant) [][]participant {
	var combinations [][]participant
	for _, second := range seconds {
		for _, first := range firsts {
			combinations = append(combinations, slices.Concat(first, second))
		}
	}
	return combinations
}

// renameActions returns the synchronisations of a term after all actions are renamed at the same time. numActions is the number of actions of the program.
func renameActions(original behaviour, renaming *sema.SysRename, numActions int) behaviour {
	renamed := behaviour{unlabelled: original.unlabelled, labelled: map[int][][]participant{}}
	for action := range numActions {
		combinations, inAlphabet := original.labelled[action]
		if !inAlphabet {
			continue
		}
		newAction := action
		if i := slices.Index(renaming.From, action); i >= 0 {
			newAction = renaming.To[i]
		}
		renamed.labelled[newAction] = append(renamed.labelled[newAction], combinations...)
	}
	return renamed
}
