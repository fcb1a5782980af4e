package sema

import (
	"slices"
	"strconv"

	"tilecheck/prism/syntax"
)

// Player is a player of a stochastic game. It owns the choices of the unlabelled commands of its
// modules, and the choices with its actions.
type Player struct {
	Name    string
	Modules []int // indices into Program.Modules
	Actions []int // indices into Program.Actions
	Pos     syntax.Pos
}

// Players returns the names of the players of a game in file order.
func (m *Model) Players() []string {
	return namesOf(m.players, func(player Player) string { return player.Name })
}

// checkPlayers resolves the players. A game has at least one; a module or an action has one player at most.
//
// Source: ModulesFile.checkPlayerDefns of PRISM-games 3.2.
func (c *checker) checkPlayers() {
	list := c.items.players
	switch {
	case c.model.typ != syntax.SMG && len(list) > 0:
		c.add(phasePlayers, list[0].Pos(), "players are only allowed in an SMG (smg), found one in a model of type %s", c.model.typ)
		return
	case c.model.typ == syntax.SMG && len(list) == 0:
		c.add(phasePlayers, c.items.types[0].Pos(), "an SMG must have players: player NAME modules, [actions] endplayer")
	}
	names, moduleOwner, actionOwner := map[string]bool{}, map[int]string{}, map[int]string{}
	for _, player := range list {
		p := Player{Name: player.Name.Name, Pos: player.Pos()}
		if names[p.Name] {
			c.add(phasePlayers, player.Name.Pos(), "duplicated player name %q", p.Name)
		}
		names[p.Name] = true
		for _, item := range player.Items {
			what, index, owner := "module", c.moduleIndex(item.Name.Name), moduleOwner
			if item.Action {
				what, index, owner = "action", c.actionIndex(item.Name.Name), actionOwner
			}
			other, taken := owner[index]
			switch {
			case index < 0:
				c.add(phasePlayers, item.Pos(), "unknown %s %q of player %q", what, item.Name.Name, p.Name)
				continue
			case taken:
				c.add(phasePlayers, item.Pos(), "%s %q belongs to player %q already", what, item.Name.Name, other)
			}
			owner[index] = p.Name
			if item.Action {
				p.Actions = append(p.Actions, index)
			} else {
				p.Modules = append(p.Modules, index)
			}
		}
		c.model.players = append(c.model.players, p)
	}
}

// moduleIndex returns the index of a module; -1 if there is no such module.
func (c *checker) moduleIndex(name string) int {
	return slices.IndexFunc(c.modules, func(module *module) bool { return module.name.Name == name })
}

// coalition resolves the players that a strategy operator names, by their names or by their numbers
// from 1. Only games have players.
//
// Source: PropertiesSemanticCheck of PRISM-games 3.2.
func (r *resolver) coalition(expr *syntax.Strategy) (names []string, players []int) {
	all := r.model.Players()
	for _, ident := range expr.Coalition {
		names = append(names, ident.Name)
		if r.model.typ != syntax.SMG {
			continue
		}
		i := slices.Index(all, ident.Name)
		if n, err := strconv.Atoi(ident.Name); err == nil {
			if i = n - 1; i < 0 || i >= len(all) {
				r.add(phaseSemantic, ident.Pos(), "unknown player %s, want a number from 1 to %d or a name", ident.Name, len(all))
				continue
			}
		}
		if i < 0 {
			r.add(phaseSemantic, ident.Pos(), "unknown player %q", ident.Name)
			continue
		}
		if !slices.Contains(players, i) {
			players = append(players, i)
		}
	}
	return names, players
}
