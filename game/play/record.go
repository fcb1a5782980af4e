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

// NewRecorder returns a Recorder for games of m after writing the header to w.
func NewRecorder(w io.Writer, m Match, strategy string) (*Recorder, error) {
	goal, end := matchWords(m)
	r := &Recorder{bufio.NewWriter(w)}
	_, err := fmt.Fprintf(r.w, "%s\nstrategy %s\nboard %v\nmax %s\nwin %s\n%sseed %d\n", recordFormat, strategy, m.Shape, goal, end, opponentLine(m), m.Seed)
	return r, err
}

// matchWords returns the words for the goal and the end of a match in the headers of records and state files.
func matchWords(m Match) (goal, end string) {
	goal, end = "none", "stop"
	if m.Goal > 0 {
		goal = strconv.Itoa(game.Value(m.Goal))
	}
	switch {
	case m.PlayOn:
		end = "play on"
	case m.Published:
		end = "stop, published updates"
	}
	return goal, end
}

// opponentLine returns the line about the opponent in headers, which is empty for chance.
func opponentLine(m Match) string {
	if m.Opponent == nil {
		return ""
	}
	return fmt.Sprintf("spawn %v\n", m.Opponent)
}

// Write appends a game, which must have a Transcript, and flushes.
func (r *Recorder) Write(p *Played) error {
	fmt.Fprintf(r.w, "\ngame %d\nstart", p.Index)
	for i := range game.MaxCells {
		if exp := p.Transcript.Start.Cell(i); exp > 0 {
			fmt.Fprintf(r.w, " %d:%d", i, game.Value(exp))
		}
	}
	for i, s := range p.Transcript.Steps {
		gap := byte(' ')
		if i%movesPerLine == 0 {
			gap = '\n'
		}
		r.w.WriteByte(gap)
		r.w.WriteString(stepText(s))
	}
	fmt.Fprintf(r.w, "\n%s\n", endLine(p.Game))
	return r.w.Flush() // returns the first error of all writes
}

func stepText(s Step) string {
	text := dirLetters[s.Dir : s.Dir+1]
	switch s.Exp {
	case 1:
		text += strconv.Itoa(s.Cell)
	case 2:
		text += strconv.Itoa(s.Cell) + "+"
	}
	return text
}

// overflowWord ends the result of a game with Game.Overflow.
const overflowWord = "overflow"

// endLine returns the line with the result of a game.
func endLine(g Game) string {
	won := "-"
	if g.Won {
		won = strconv.FormatInt(g.WinMoves, 10)
	}
	line := fmt.Sprintf("end score %d moves %d tiles %d largest %d won %s", g.Score, g.Moves, g.Spawns, game.Value(g.Max), won)
	if g.Overflow {
		line += " " + overflowWord
	}
	return line
}

// parseStep parses a move in the format of stepText.
func parseStep(text string) (Step, error) {
	i := strings.IndexByte(dirLetters, text[0])
	if i < 0 {
		return Step{}, fmt.Errorf("found %q, want a move such as L3 or U12+, or end", text)
	}
	s := Step{Dir: game.Dir(i)}
	cell, four := strings.CutSuffix(text[1:], "+")
	if cell == "" && !four {
		return s, nil
	}
	n, err := strconv.ParseUint(cell, 10, 8)
	if err != nil {
		return s, fmt.Errorf("found %q, want the number of a cell after %q, and perhaps a +", text, text[:1])
	}
	s.Cell, s.Exp = int(n), 1
	if four {
		s.Exp = 2
	}
	return s, nil
}
