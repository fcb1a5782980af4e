package explicit

import (
	"fmt"
	"math"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// ownership says which player of a game owns a choice: of an unlabelled command the player of its
// module, of other choices the player of their action.
type ownership struct {
	model       *compile.Model
	moduleOwner []int // player of each module; -1 for none
	actionOwner []int // player of each action; -1 for none
}

// newOwnership returns the players who own the modules and the actions of a game, or nil if the model is not a game.
func newOwnership(model *compile.Model) (*ownership, error) {
	program := model.Program()
	if program.Type != syntax.SMG {
		return nil, nil
	}
	if len(program.Players) > math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: program.File, Pos: program.Players[0].Pos, Msg: fmt.Sprintf("more than %d players", math.MaxUint16)}
	}
	noPlayer := []int{-1}
	owners := &ownership{
		model:       model,
		moduleOwner: slices.Repeat(noPlayer, len(program.Modules)),
		actionOwner: slices.Repeat(noPlayer, len(program.Actions)),
	}
	for i, player := range program.Players {
		for _, module := range player.Modules {
			owners.moduleOwner[module] = i
		}
		for _, action := range player.Actions {
			owners.actionOwner[action] = i
		}
	}
	return owners, nil
}

// ownedChoice is what ownership reads of a choice.
type ownedChoice struct {
	action, module int
	commands       []compile.CommandRef
}

// Owner returns a function that returns the index of the player who owns a state of a game. Its arguments are the state and the choices of
// the state. A deadlock belongs to the first player. If the model is not a game, Owner returns nil.
func Owner(compiled *compile.Model) (func(state []int32, choices *compile.Choices) (int, error), error) {
	owners, err := newOwnership(compiled)
	if owners == nil || err != nil {
		return nil, err
	}
	return func(state []int32, choices *compile.Choices) (int, error) {
		player, err := owners.enabledOwner(state, choices)
		return int(player), err
	}, nil
}

// enabledOwner returns the player who owns a state with the given choices.
func (ownership *ownership) enabledOwner(state []int32, choices *compile.Choices) (uint16, error) {
	return ownership.stateOwner(func() []int32 { return state }, len(choices.List), func(i int) ownedChoice {
		choice := &choices.List[i]
		return ownedChoice{choice.Action, choice.Module, choice.Commands}
	})
}

// choiceOwner returns the index of the player who owns a choice, or -1 if no player does.
func (ownership *ownership) choiceOwner(choice ownedChoice) int {
	switch {
	case choice.action != sema.Unlabelled:
		return ownership.actionOwner[choice.action]
	case choice.module >= 0:
		return ownership.moduleOwner[choice.module]
	}
	return -1
}

// stateOwner returns the player who owns a state with numChoices choices: the only player who owns some of the choices. A state without an owned choice
// belongs to the first player, if it has at most one choice.
//
// It is an error if choices belong to different players, or if numChoices is greater than 1 and no choice has an owner.
//
// Source: ModulesFileModelGenerator.getPlayerOwningState of PRISM-games 3.2.
func (ownership *ownership) stateOwner(state func() []int32, numChoices int, choice func(index int) ownedChoice) (uint16, error) {
	owner := -1
	for index := range numChoices {
		currentChoice := choice(index)
		switch player := ownership.choiceOwner(currentChoice); {
		case player < 0 || player == owner: // no change
		case owner < 0:
			owner = player
		default:
			players := ownership.model.Program().Players
			return 0, ownership.ownerError(state(), currentChoice, fmt.Sprintf("this choice belongs to player %q, and an earlier one to player %q", players[player].Name, players[owner].Name))
		}
	}
	if owner < 0 && numChoices > 1 {
		return 0, ownership.ownerError(state(), choice(0), fmt.Sprintf("%s %s to no player", noun.Count(numChoices, "choice"), noun.Verb(numChoices, "belongs", "belong")))
	}
	return uint16(max(owner, 0)), nil
}

// ownerError returns an error about the owner of a state, at the first command of a choice.
func (ownership *ownership) ownerError(state []int32, choice ownedChoice, message string) error {
	program := ownership.model.Program()
	commandRef := choice.commands[0]
	pos := program.Modules[commandRef.Module].Commands[commandRef.Command].Pos
	return &compile.StateError{File: program.File, Pos: pos, State: ownership.model.StateText(state), Msg: message}
}

// setOwner sets the owner of state n of the batch. Earlier states without an owner get the first player.
func (batch *batch) setOwner(n int, player uint16) {
	for len(batch.owners) <= n {
		batch.owners = append(batch.owners, 0)
	}
	batch.owners[n] = player
}
