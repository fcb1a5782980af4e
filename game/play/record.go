package play

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/game"
)

// A record is text. Its header is
//
//	tilecheck record 1
//	strategy pref:left,up,down,right
//	board 4x4
//	max 2048            or none
//	win play on         or stop
//	seed 1              or none, when the tiles do not come from a seed
//
// and every game is
//
//	game 0
//	start 5:2 9:4       the cells, row-major from 0, and values of the tiles
//	L3 U12+ R0 ...      moves: L, R, U or D, the cell of the new tile, + when that is a 4; nothing when there is none
//	end score 2548 moves 247 tiles 249 largest 256 won -
//
// where won is followed by the number of moves to the win, - when there was none, and perhaps by overflow (see [Game.Overflow]).
// Blank lines and lines that begin with # are skipped.
const recordFormat = "tilecheck record 1"

// movesPerLine keeps lines short enough to look at.
const movesPerLine = 24

// dirLetters are the names of the directions in a record, by their value.
const dirLetters = "LRUD"

// Recorder writes a record.
type Recorder struct{ w *bufio.Writer }

// NewRecorder writes the header of a record of games of a match.
func NewRecorder(w io.Writer, m Match, strategy string) (*Recorder, error) {
	goal, end := matchWords(m)
	r := &Recorder{bufio.NewWriter(w)}
	_, err := fmt.Fprintf(r.w, "%s\nstrategy %s\nboard %v\nmax %s\nwin %s\nseed %d\n", recordFormat, strategy, m.Shape, goal, end, m.Seed)
	return r, err
}

// matchWords are goal and end of a match in the headers of files.
func matchWords(m Match) (goal, end string) {
	goal, end = "none", "stop"
	if m.Goal > 0 {
		goal = strconv.Itoa(game.Value(m.Goal))
	}
	switch {
	case m.On:
		end = "play on"
	case m.Published:
		end = "stop, published updates"
	}
	return goal, end
}

// Write adds a game, which must have a Transcript, and flushes.
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
	return r.w.Flush() // with the first error of them all
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

// endLine says what a game came to.
func endLine(g Game) string {
	won := "-"
	if g.Won {
		won = strconv.FormatInt(g.WinMoves, 10)
	}
	line := fmt.Sprintf("end score %d moves %d tiles %d largest %d won %s", g.Score, g.Moves, g.Spawns, game.Value(g.Max), won)
	if g.Overflow {
		line += " overflow"
	}
	return line
}

// parseStep reads a move as stepText writes it.
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
