package compile

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// synchronisation is a set of modules that move together under an action. Each participant contributes one enabled command. Every
// combination of such commands is a choice.
type synchronisation struct {
	action       int // the action of the choice; sema.Unlabelled if the action is hidden
	participants []participant
}

// participant is a module with its commands for one action, in command order.
type participant struct {
	module   int
	commands []*command
}

// behaviour describes a process-algebra term of a system block: its unlabelled synchronisations, and the synchronisations of each
// action of its alphabet. Each is a list of participants. An action of the alphabet without synchronisations is blocked.
type behaviour struct {
	unlabelled [][]participant
	labelled   map[int][][]participant
}

// composeModules returns the synchronisations of the system block; without a system block, those of the parallel composition of all
// modules. The unlabelled ones are first, in module order, then the actions in order of first appearance.
//
// Source: the order of PRISM's explicit engine (reference, section 4.2).
func (m *Model) composeModules() ([]synchronisation, error) {
	term := m.program.System
	if term == nil {
		all := &sema.SysParallel{Alphabetised: true}
		for i := range m.program.Modules {
			all.Operands = append(all.Operands, sema.SysModule{Index: i})
		}
		term = all
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
	return slices.DeleteFunc(synchronisations, synchronisation.neverEnabled), m.checkDisjoint(synchronisations)
}

// neverEnabled reports whether a participant has no commands, so that the action is blocked.
func (g synchronisation) neverEnabled() bool {
	return slices.ContainsFunc(g.participants, func(participant participant) bool { return len(participant.commands) == 0 })
}

// checkDisjoint returns an error if a module participates twice in a synchronisation. That happens if a system block names it twice.
func (m *Model) checkDisjoint(synchronisations []synchronisation) error {
	for _, sync := range synchronisations {
		seen := map[int]bool{}
		for _, participant := range sync.participants {
			if seen[participant.module] {
				msg := fmt.Sprintf("module %q takes part twice in one composition", m.program.Modules[participant.module].Name)
				return &UnsupportedError{m.program.File, m.program.Modules[participant.module].Pos, msg}
			}
			seen[participant.module] = true
		}
	}
	return nil
}

// behaviourOf returns the behaviour of a term of the system block.
func (m *Model) behaviourOf(term sema.System) (behaviour, error) {
	switch block := term.(type) {
	case sema.SysModule:
		return m.moduleBehaviour(block.Index), nil
	case *sema.SysParallel:
		return m.composeParallel(block)
	case *sema.SysHide:
		operand, err := m.behaviourOf(block.X)
		for _, action := range block.Actions {
			operand.unlabelled = append(operand.unlabelled, operand.labelled[action]...)
			delete(operand.labelled, action)
		}
		return operand, err
	case *sema.SysRename:
		operand, err := m.behaviourOf(block.X)
		return renameActions(operand, block, len(m.program.Actions)), err
	}
	return behaviour{}, &UnsupportedError{m.program.File, syntax.Pos{}, fmt.Sprintf("system term %T cannot be executed", term)}
}

// moduleBehaviour returns the behaviour of a single module.
func (m *Model) moduleBehaviour(module int) behaviour {
	participantFor := func(action int) participant {
		participant := participant{module: module}
		for _, command := range m.commands {
			if command.module == module && command.source.Action == action {
				participant.commands = append(participant.commands, command)
			}
		}
		return participant
	}
	result := behaviour{labelled: map[int][][]participant{}}
	if own := participantFor(sema.Unlabelled); len(own.commands) > 0 {
		result.unlabelled = [][]participant{{own}}
	}
	for _, label := range m.program.Modules[module].Alphabet {
		result.labelled[label] = [][]participant{{participantFor(label)}}
	}
	return result
}

// composeParallel returns the parallel composition of the operands. All operands whose alphabet has a synchronised action move
// together; on other actions each moves alone.
func (m *Model) composeParallel(parallel *sema.SysParallel) (behaviour, error) {
	out := behaviour{labelled: map[int][][]participant{}}
	var operands []behaviour
	for _, operand := range parallel.Operands {
		operandBehaviour, err := m.behaviourOf(operand)
		if err != nil {
			return out, err
		}
		operands = append(operands, operandBehaviour)
		out.unlabelled = append(out.unlabelled, operandBehaviour.unlabelled...)
	}
	for action := range m.program.Actions {
		synchronised := parallel.Alphabetised || slices.Contains(parallel.Actions, action)
		if combinations, known := synchronise(operands, action, synchronised, parallel.Alphabetised); known {
			out.labelled[action] = combinations
		}
	}
	return out, nil
}

// synchronise returns the synchronisations of an action in a parallel composition. isKnown says that the alphabet of some operand has
// the action. In a full composition (full), operands without the action do not participate. Otherwise, if the action is listed
// explicitly (synchronised), such operands block it.
func synchronise(operands []behaviour, action int, synchronised, full bool) (combinations [][]participant, isKnown bool) {
	var perOperand [][][]participant
	for _, operand := range operands {
		if ownCombinations, ok := operand.labelled[action]; ok {
			perOperand = append(perOperand, ownCombinations)
		}
	}
	switch {
	case len(perOperand) == 0:
		return nil, false
	case !synchronised:
		return slices.Concat(perOperand...), true
	case !full && len(perOperand) < len(operands):
		return nil, true
	}
	combinations = perOperand[0]
	for _, next := range perOperand[1:] {
		combinations = combineParticipants(combinations, next)
	}
	return combinations, true
}

// combineParticipants returns all combinations of an element of firsts with an element of seconds; the element of firsts varies fastest.
func combineParticipants(firsts, seconds [][]participant) [][]participant {
	var out [][]participant
	for _, second := range seconds {
		for _, first := range firsts {
			out = append(out, slices.Concat(first, second))
		}
	}
	return out
}

// renameActions returns the behaviour with all actions renamed simultaneously.
func renameActions(old behaviour, renaming *sema.SysRename, actions int) behaviour {
	out := behaviour{unlabelled: old.unlabelled, labelled: map[int][][]participant{}}
	for action := range actions {
		combinations, ok := old.labelled[action]
		if !ok {
			continue
		}
		if i := slices.Index(renaming.From, action); i >= 0 {
			action = renaming.To[i]
		}
		out.labelled[action] = append(out.labelled[action], combinations...)
	}
	return out
}
