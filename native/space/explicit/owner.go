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
	model  *compile.Model
	module []int // player of each module; -1 for none
	action []int // player of each action; -1 for none
}

// newOwnership returns the players that own the modules and actions of a game; nil if the model is not a game.
func newOwnership(model *compile.Model) (*ownership, error) {
	program := model.Program()
	if program.Type != syntax.SMG {
		return nil, nil
	}
	if len(program.Players) > math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: program.File, Pos: program.Players[0].Pos, Msg: fmt.Sprintf("more than %d players", math.MaxUint16)}
	}
	ownership := &ownership{model: model}
	ownership.module = slices.Repeat([]int{-1}, len(program.Modules))
	ownership.action = slices.Repeat([]int{-1}, len(program.Actions))
	for i, player := range program.Players {
		for _, module := range player.Modules {
			ownership.module[module] = i
		}
		for _, action := range player.Actions {
			ownership.action[action] = i
		}
	}
	return ownership, nil
}

// owned is what ownership reads of a choice.
type owned struct {
	action, module int
	commands       []compile.CommandRef
}

// Owner returns a function that returns the index of the player who owns a state of a game, given the
// state's choices. A deadlock belongs to the first player. The function is nil if the model is not a game.
func Owner(compiled *compile.Model) (func(state []int32, choices *compile.Choices) (int, error), error) {
	o, err := newOwnership(compiled)
	if o == nil || err != nil {
		return nil, err
	}
	return func(state []int32, choices *compile.Choices) (int, error) {
		player, err := o.ofState(func() []int32 { return state }, len(choices.List), func(i int) owned {
			choice := &choices.List[i]
			return owned{choice.Action, choice.Module, choice.Commands}
		})
		return int(player), err
	}, nil
}

// player returns the player of a choice; -1 for none.
func (o *ownership) player(c owned) int {
	switch {
	case c.action != sema.Unlabelled:
		return o.action[c.action]
	case c.module >= 0:
		return o.module[c.module]
	}
	return -1
}

// ofState returns the player who owns the n choices of a state. Choices without a player belong to the
// player of the others; if there are no others, a single choice belongs to the first player, and
// several are an error.
//
// Source: ModulesFileModelGenerator.getPlayerOwningState of PRISM-games 3.2.
func (o *ownership) ofState(state func() []int32, n int, choice func(i int) owned) (uint16, error) {
	owner := -1
	for i := range n {
		c := choice(i)
		switch player := o.player(c); {
		case player < 0 || player == owner:
		case owner < 0:
			owner = player
		default:
			players := o.model.Program().Players
			return 0, o.fail(state(), c, fmt.Sprintf("this choice belongs to player %q, and an earlier one to player %q", players[player].Name, players[owner].Name))
		}
	}
	if owner < 0 && n > 1 {
		return 0, o.fail(state(), choice(0), fmt.Sprintf("%s %s to no player", noun.Count(n, "choice"), noun.Verb(n, "belongs", "belong")))
	}
	return uint16(max(owner, 0)), nil
}

// fail returns an error at the first command of a choice.
func (o *ownership) fail(state []int32, c owned, msg string) error {
	program := o.model.Program()
	ref := c.commands[0]
	return &compile.StateError{File: program.File, Pos: program.Modules[ref.Module].Commands[ref.Command].Pos, State: o.model.StateText(state), Msg: msg}
}

// setOwner sets the owner of state n of the batch. States in between get the first player.
func (batch *batch) setOwner(n int, player uint16) {
	for len(batch.owners) <= n {
		batch.owners = append(batch.owners, 0)
	}
	batch.owners[n] = player
}
