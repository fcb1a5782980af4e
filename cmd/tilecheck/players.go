package main

import (
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/syntax"
)

// playersOf reports, for each player of a game, whether --player names it: by its name, or by its number from 1. It returns nil without the flag, or if the
// flag names all players. It returns a usage error if the model is no game, or without --scheduler.
func playersOf(space *explicit.Space, names []string, scheduler string) ([]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	program := space.Program()
	if program.Type != syntax.SMG || scheduler == "" {
		return nil, usageError("--player is for the --scheduler of a game")
	}
	var playerNames []string
	for _, player := range program.Players {
		playerNames = append(playerNames, player.Name)
	}
	isNamed := make([]bool, len(program.Players))
	for _, name := range names {
		playerIndex := slices.Index(playerNames, name)
		if number, err := strconv.Atoi(name); err == nil {
			playerIndex = number - 1
		}
		if playerIndex < 0 || playerIndex >= len(playerNames) {
			return nil, usageError("--player is %s, which is no player of %s: want %s", name, program.File, strings.Join(playerNames, ", "))
		}
		isNamed[playerIndex] = true
	}
	if !slices.Contains(isNamed, false) {
		return nil, nil
	}
	return isNamed, nil
}
