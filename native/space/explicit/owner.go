package explicit

import (
	"fmt"
	"math"

	"tilecheck/internal/noun"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// ownership says which player of a game owns a choice: of an unlabelled command the player of its
// module, of other choices the player of their action.
type ownership struct {
	m      *compile.Model
	module []int // player of each module; -1 for none
	action []int // player of each action; -1 for none
}

// newOwnership returns nil if the model is not a game.
func newOwnership(m *compile.Model) (*ownership, error) {
	p := m.Program()
	if p.Type != syntax.SMG {
		return nil, nil
	}
	if len(p.Players) > math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: p.File, Pos: p.Players[0].Pos, Msg: fmt.Sprintf("more than %d players", math.MaxUint16)}
	}
	o := &ownership{m: m}
	for range p.Modules {
		o.module = append(o.module, -1)
	}
	for range p.Actions {
		o.action = append(o.action, -1)
	}
	for i, player := range p.Players {
		for _, k := range player.Modules {
			o.module[k] = i
		}
		for _, k := range player.Actions {
			o.action[k] = i
		}
	}
	return o, nil
}

// owned is what ownership reads of a choice.
type owned struct {
	action, module int
	commands       []compile.CommandRef
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
		switch p := o.player(c); {
		case p < 0 || p == owner:
		case owner < 0:
			owner = p
		default:
			players := o.m.Program().Players
			return 0, o.fail(state(), c, fmt.Sprintf("this choice belongs to player %q, and an earlier one to player %q", players[p].Name, players[owner].Name))
		}
	}
	if owner < 0 && n > 1 {
		return 0, o.fail(state(), choice(0), fmt.Sprintf("%s %s to no player", noun.Count(n, "choice"), noun.Verb(n, "belongs", "belong")))
	}
	return uint16(max(owner, 0)), nil
}

// fail returns an error at the first command of a choice.
func (o *ownership) fail(state []int32, c owned, msg string) error {
	p := o.m.Program()
	ref := c.commands[0]
	return &compile.StateError{File: p.File, Pos: p.Modules[ref.Module].Commands[ref.Command].Pos, State: o.m.StateText(state), Msg: msg}
}

// setOwner sets the owner of state n of the batch. States in between get the first player.
func (batch *batch) setOwner(n int, player uint16) {
	for len(batch.owners) <= n {
		batch.owners = append(batch.owners, 0)
	}
	batch.owners[n] = player
}
