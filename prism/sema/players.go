package sema

import (
	"slices"
	"strconv"

	"tilecheck/prism/syntax"
)

// Player is a player of a stochastic game. It owns the unlabelled commands of its modules, and the choices with its actions.
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

// checkPlayers resolves the players. A game needs players, and each module or action has at most one player.
//
// Source: ModulesFile.checkPlayerDefns of PRISM-games 3.2.
func (c *checker) checkPlayers() {
	playerDecls := c.items.players
	isGame := c.model.modelType == syntax.SMG
	if !isGame && len(playerDecls) > 0 {
		c.addError(phasePlayers, playerDecls[0].Pos(), "players are only allowed in an SMG (smg), found one in a model of type %s", c.model.modelType)
		return
	}
	if isGame && len(playerDecls) == 0 {
		c.addError(phasePlayers, c.items.types[0].Pos(), "an SMG must have players: player NAME modules, [actions] endplayer")
	}
	names, moduleOwners, actionOwners := map[string]bool{}, map[int]string{}, map[int]string{}
	for _, declaration := range playerDecls {
		if names[declaration.Name.Name] {
			c.addError(phasePlayers, declaration.Name.Pos(), "duplicated player name %q", declaration.Name.Name)
		}
		names[declaration.Name.Name] = true
		c.model.players = append(c.model.players, c.resolvePlayer(declaration, moduleOwners, actionOwners))
	}
}

// resolvePlayer returns a player with the indices of its modules and actions. It records in moduleOwners and actionOwners that the player owns
// them.
func (c *checker) resolvePlayer(declaration *syntax.Player, moduleOwners, actionOwners map[int]string) Player {
	player := Player{Name: declaration.Name.Name, Pos: declaration.Pos()}
	for _, item := range declaration.Items {
		if item.Action {
			action := c.actionIndex(item.Name.Name)
			if c.setOwner(actionOwners, action, &player, item, "action") {
				player.Actions = append(player.Actions, action)
			}
			continue
		}
		module := c.moduleIndex(item.Name.Name)
		if c.setOwner(moduleOwners, module, &player, item, "module") {
			player.Modules = append(player.Modules, module)
		}
	}
	return player
}

// setOwner records that a player owns a module or an action. Another owner is an error. If index is negative, the module or action does not
// exist: setOwner reports an error and returns false.
func (c *checker) setOwner(owners map[int]string, index int, player *Player, item *syntax.PlayerItem, kind string) bool {
	if index < 0 {
		c.addError(phasePlayers, item.Pos(), "unknown %s %q of player %q", kind, item.Name.Name, player.Name)
		return false
	}
	if owner, isOwned := owners[index]; isOwned {
		c.addError(phasePlayers, item.Pos(), "%s %q belongs to player %q already", kind, item.Name.Name, owner)
	}
	owners[index] = player.Name
	return true
}

// moduleIndex returns the index of a module; -1 if there is no such module.
func (c *checker) moduleIndex(name string) int {
	return slices.IndexFunc(c.modules, func(module *module) bool { return module.name.Name == name })
}

// resolveCoalition returns the names in a strategy operator, and the indices of these players. A name may be the number of a player, from 1. Only
// games have players.
//
// Source: PropertiesSemanticCheck of PRISM-games 3.2.
func (r *resolver) resolveCoalition(expr *syntax.Strategy) (names []string, players []int) {
	for _, ident := range expr.Coalition {
		names = append(names, ident.Name)
		if r.model.modelType != syntax.SMG {
			continue
		}
		if player := r.playerIndex(ident); player >= 0 && !slices.Contains(players, player) {
			players = append(players, player)
		}
	}
	return names, players
}

// playerIndex returns the index of the player with a name, or with a number from 1. It reports an error and returns -1 if there is none.
func (r *resolver) playerIndex(ident *syntax.Ident) int {
	players := r.model.Players()
	if number, err := strconv.Atoi(ident.Name); err == nil {
		if number < 1 || number > len(players) {
			r.addError(phaseSemantic, ident.Pos(), "unknown player %s, want a number from 1 to %d or a name", ident.Name, len(players))
			return -1
		}
		return number - 1
	}
	index := slices.Index(players, ident.Name)
	if index < 0 {
		r.addError(phaseSemantic, ident.Pos(), "unknown player %q", ident.Name)
	}
	return index
}
