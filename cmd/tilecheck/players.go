package main

import (
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// playersOf returns for each player of a game whether --player names it; nil if the flag is not given, or if it names all players. It returns a
// usage error if the model is no game or there is no scheduler.
func playersOf(space *explicit.Space, names []string, scheduler string) ([]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	program := space.Program()
	if program.Type != syntax.SMG || scheduler == "" {
		return nil, usageError("--player is for the --scheduler of a game")
	}
	isNamed := make([]bool, len(program.Players))
	for _, name := range names {
		i := slices.IndexFunc(program.Players, func(player sema.Player) bool { return player.Name == name })
		if i < 0 {
			return nil, usageError("--player is %s, which is no player of %s", name, program.File)
		}
		isNamed[i] = true
	}
	if !slices.Contains(isNamed, false) {
		return nil, nil
	}
	return isNamed, nil
}
