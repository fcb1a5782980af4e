package play

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/game"
)

// recordFormat is the first line of a record, which is a text. The header is
//
//	tilecheck record 1
//	strategy pref:left,up,down,right
//	board 4x4
//	max 2048            or none
//	win play on         or stop
//	spawn worst-cell:by=solved   only if an opponent places the new tiles
//	seed 1              or none, when the tiles do not come from a seed
//
// Then follow the games:
//
//	game 0
//	start 5:2 9:4       the cells, row-major from 0, and values of the tiles
//	L3 U12+ R0 ...      moves: L, R, U or D, the cell of the new tile, and + if it is a 4; a move without a new tile has only the letter
//	end score 2548 moves 247 tiles 249 largest 256 won -
//
// "won" is followed by the number of moves to the win, or - without a win, and then by "overflow" if the game has [Game.Overflow].
// Readers skip blank lines and lines that begin with #.
const recordFormat = "tilecheck record 1"

// movesPerLine is the number of moves in a line of a record.
const movesPerLine = 24

// dirLetters has the letter of each direction in a record, indexed by game.Dir.
const dirLetters = "LRUD"

// Recorder writes games to a record.
type Recorder struct{ w *bufio.Writer }

// NewRecorder returns a Recorder for games of a match, after writing the header to w.
func NewRecorder(w io.Writer, match Match, strategy string) (*Recorder, error) {
	goal, endWord := matchWords(match)
	r := &Recorder{bufio.NewWriter(w)}
	_, err := fmt.Fprintf(r.w, "%s\nstrategy %s\nboard %v\nmax %s\nwin %s\n%sseed %d\n", recordFormat, strategy, match.Shape, goal, endWord, opponentLine(match), match.Seed)
	return r, err
}

// matchWords returns the words for the goal and the end of a match in the headers of records and state files.
func matchWords(match Match) (goal, endWord string) {
	goal, endWord = "none", "stop"
	if match.Goal > 0 {
		goal = strconv.Itoa(game.Value(match.Goal))
	}
	switch {
	case match.PlayOn:
		endWord = "play on"
	case match.Published:
		endWord = "stop, published updates"
	}
	return goal, endWord
}

// opponentLine returns the line about the opponent in headers, which is empty for chance.
func opponentLine(match Match) string {
	if match.Opponent == nil {
		return ""
	}
	return fmt.Sprintf("spawn %v\n", match.Opponent)
}

// Write writes a game, which must have a transcript, to the end of the record.
func (r *Recorder) Write(played *Played) error {
	fmt.Fprintf(r.w, "\ngame %d\nstart", played.Index)
	for i := range game.MaxCells {
		if exponent := played.Transcript.Start.Cell(i); exponent > 0 {
			fmt.Fprintf(r.w, " %d:%d", i, game.Value(exponent))
		}
	}
	for i, step := range played.Transcript.Steps {
		gap := byte(' ')
		if i%movesPerLine == 0 {
			gap = '\n'
		}
		r.w.WriteByte(gap)
		r.w.WriteString(stepText(step))
	}
	fmt.Fprintf(r.w, "\n%s\n", endLine(played.Game))
	return r.w.Flush() // returns the first error of all writes
}

// stepText returns a step as text, such as L3 for a move to the left and a new 2 in cell 3, or U12+ for a move up and a new 4 in cell 12.
func stepText(step Step) string {
	text := dirLetters[step.Dir : step.Dir+1]
	switch step.Exp {
	case 1:
		text += strconv.Itoa(step.Cell)
	case 2:
		text += strconv.Itoa(step.Cell) + "+"
	}
	return text
}

// overflowWord ends the result of a game with Game.Overflow.
const overflowWord = "overflow"

// endLine returns the line with the result of a game.
func endLine(finished Game) string {
	wonText := "-"
	if finished.Won {
		wonText = strconv.FormatInt(finished.WinMoves, 10)
	}
	line := fmt.Sprintf("end score %d moves %d tiles %d largest %d won %s", finished.Score, finished.Moves, finished.Spawns, game.Value(finished.Max), wonText)
	if finished.Overflow {
		line += " " + overflowWord
	}
	return line
}

// parseStep parses a move in the format of stepText.
func parseStep(text string) (Step, error) {
	direction := strings.IndexByte(dirLetters, text[0])
	if direction < 0 {
		return Step{}, fmt.Errorf("found %q, want a move such as L3 or U12+, or end", text)
	}
	step := Step{Dir: game.Dir(direction)}
	cell, four := strings.CutSuffix(text[1:], "+")
	if cell == "" && !four {
		return step, nil
	}
	number, err := strconv.ParseUint(cell, 10, 8)
	if err != nil {
		return step, fmt.Errorf("found %q, want the number of a cell after %q, and perhaps a +", text, text[:1])
	}
	step.Cell, step.Exp = int(number), 1
	if four {
		step.Exp = 2
	}
	return step, nil
}
