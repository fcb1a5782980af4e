package files

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// checkNumPlayers returns an error if a game has no players, or more than the player of a state has bits for.
func checkNumPlayers(n int) error {
	if n < 1 || n > math.MaxUint16 {
		return fmt.Errorf("found %s, wanted 1 to %d", noun.Count(n, "player"), math.MaxUint16)
	}
	return nil
}

// playerNames returns names for players that a file only counts.
func playerNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "player" + strconv.Itoa(i+1)
	}
	return names
}

// splitPlayer splits an entry of the .tra file of a game, such as 3:1, at its colon.
func (l *lines) splitPlayer(entry field) (before, after field, ok bool) {
	colon := bytes.IndexByte(entry.text, ':')
	if colon < 0 {
		l.errorAt(entry.column, "found %s, wanted a colon and a player behind the number, such as 0:1, in a game", quote(entry.text))
		return before, after, false
	}
	return field{entry.text[:colon], entry.column}, field{entry.text[colon+1:], entry.column + colon + 1}, true
}

// readNumPlayers reads the number of players behind the number of states.
func (t *traFile) readNumPlayers(lines *lines) bool {
	states, players, ok := lines.splitPlayer(lines.fields[0])
	if !ok {
		return false
	}
	n, ok := lines.parseCount(players, "number of players")
	if !ok {
		return false
	}
	if err := checkNumPlayers(n); err != nil {
		lines.errorAt(players.column, "%v", err)
		return false
	}
	lines.fields[0], t.numPlayers = states, n
	return true
}

// readOwner reads the player behind the state in the current line. All lines of a state have the same player.
func (t *traFile) readOwner() bool {
	entry, playerEntry, ok := t.splitPlayer(t.fields[0])
	if !ok {
		return false
	}
	state, ok := t.parseIndex(entry, "state", t.numStates)
	if !ok {
		return false
	}
	player, ok := t.parseIndex(playerEntry, "player", t.numPlayers)
	if !ok {
		return false
	}
	if state == t.current && int(t.owners[state]) != player {
		t.errorAt(playerEntry.column, "found player %d of state %d, wanted %d as before", player, state, t.owners[state])
		return false
	}
	t.fields[0], t.owners[state] = entry, uint16(player)
	return true
}

// playerNames returns the names of the players of a game: those of the index, if they can be written in properties.
func (file *umbFile) playerNames() []string {
	names := file.index.System.PlayerNames
	usable := len(names) == int(file.index.System.Players)
	for i, name := range names {
		usable = usable && syntax.IsIdent(name) && !slices.Contains(names[:i], name)
	}
	if usable {
		return names
	}
	return playerNames(int(file.index.System.Players))
}
