package files

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// checkNumPlayers returns an error unless a game has 1 to 65535 players. The player of a state has 16 bits.
func checkNumPlayers(numPlayers int) error {
	if numPlayers < 1 || numPlayers > math.MaxUint16 {
		return fmt.Errorf("found %s, wanted 1 to %d", noun.Count(numPlayers, "player"), math.MaxUint16)
	}
	return nil
}

// playerNames returns names for players that a file only counts.
func playerNames(numPlayers int) []string {
	names := make([]string, numPlayers)
	for i := range names {
		names[i] = "player" + strconv.Itoa(i+1)
	}
	return names
}

// splitPlayer splits a field such as 3:1 in the .tra file of a game at its colon. It is an error if there is no
// colon.
func (lines *lines) splitPlayer(entry field) (before, after field, ok bool) {
	colon := bytes.IndexByte(entry.Text, ':')
	if colon < 0 {
		lines.ErrorAt(entry.Column, "found %s, wanted a colon and a player behind the number, such as 0:1, in a game", textlines.Quote(entry.Text))
		return before, after, false
	}
	return field{Text: entry.Text[:colon], Column: entry.Column}, field{Text: entry.Text[colon+1:], Column: entry.Column + colon + 1}, true
}

// readNumPlayers reads the number of players from the first field of a game's first line, such as 5:2 for 5 states and 2 players. Then the
// field has only the number of states. It returns false after an error.
func (file *traFile) readNumPlayers(lines *lines) bool {
	statesField, playersField, ok := lines.splitPlayer(lines.Fields[0])
	if !ok {
		return false
	}
	numPlayers, ok := lines.ParseCount(playersField, "number of players")
	if !ok {
		return false
	}
	if err := checkNumPlayers(numPlayers); err != nil {
		lines.ErrorAt(playersField.Column, "%v", err)
		return false
	}
	file.numPlayers = numPlayers
	lines.Fields[0] = statesField
	return true
}

// readOwner reads the player of a state from the first field of a line, such as 3:1 for state 3 and player 1. Then the field has only the
// state. It is an error if an earlier line of the current state has another player. It returns false after an error.
func (file *traFile) readOwner() bool {
	stateField, playerField, ok := file.splitPlayer(file.Fields[0])
	if !ok {
		return false
	}
	state, ok := file.ParseIndex(stateField, "state", file.numStates)
	if !ok {
		return false
	}
	player, ok := file.ParseIndex(playerField, "player", file.numPlayers)
	if !ok {
		return false
	}
	if state == file.currentState && int(file.owners[state]) != player {
		file.ErrorAt(playerField.Column, "found player %d of state %d, wanted %d as before", player, state, file.owners[state])
		return false
	}
	file.owners[state] = uint16(player)
	file.Fields[0] = stateField
	return true
}

// playerNames returns the names of a game's players in the index of the file. If they are not distinct identifiers, or their number is
// wrong, it returns names with numbers.
func (file *umbFile) playerNames() []string {
	names := file.index.System.PlayerNames
	isUsable := len(names) == int(file.index.System.Players)
	for index, name := range names {
		if !syntax.IsIdent(name) || slices.Contains(names[:index], name) {
			isUsable = false
		}
	}
	if isUsable {
		return names
	}
	return playerNames(int(file.index.System.Players))
}
