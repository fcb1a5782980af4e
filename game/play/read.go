package play

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/game"
)

// ReadError is an error in a record, with its position.
type ReadError struct {
	File      string
	Line, Col int // from 1; Col counts bytes
	Msg       string
}

// Error returns "file:line:col: message".
func (e *ReadError) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// RecordHeader is the header of a record, which holds for all of its games.
type RecordHeader struct {
	Strategy string
	Match    Match
	Opponent string // the spec of the opponent that placed the tiles; empty for chance. Match has no opponent
	Seeded   bool   // the tiles come from Match.Seed
}

// ReadRecord reads a record from r and calls each with the games in the order of the file. Messages call the record file. ReadRecord checks
// every game: each move is legal; each new tile is in an empty cell and, if the record has a seed, follows from it; the game is over at its
// end; and the recorded result is the result of the moves. The error is a *ReadError, an error of r, or an error of each.
func ReadRecord(r io.Reader, file string, each func(*Played) error) (RecordHeader, error) {
	p := recordReader{r: bufio.NewReader(r), file: file}
	h, err := p.header()
	if err != nil {
		return h, err
	}
	rules, err := game.New(h.Match.Shape) // made once: building the tables takes far longer than one game
	if err != nil {
		return h, err
	}
	spawns := newSource()
	for {
		played, err := p.game(h, rules, spawns)
		if err == io.EOF {
			return h, nil
		}
		if err != nil {
			return h, err
		}
		if err := each(played); err != nil {
			return h, err
		}
	}
}

// token is a word of a line with its column.
type token struct {
	text string
	col  int
}

// recordReader reads a record line by line and splits lines into tokens.
type recordReader struct {
	r    *bufio.Reader
	file string
	line int
	text string // the current line
}

// maxLine is longer than any line that a Recorder writes.
const maxLine = 1 << 20

// next returns the tokens of the next line that is neither blank nor a comment. The error is io.EOF at the end.
func (p *recordReader) next() ([]token, error) {
	for {
		text, err := p.readLine()
		if err != nil {
			return nil, err
		}
		p.line++
		p.text = text
		if w := tokens(text); len(w) > 0 && !strings.HasPrefix(w[0].text, "#") {
			return w, nil
		}
	}
}

// readLine returns the next line without its line end.
func (p *recordReader) readLine() (string, error) {
	var b strings.Builder
	for {
		part, err := p.r.ReadSlice('\n')
		b.Write(part)
		switch {
		case b.Len() > maxLine:
			p.line++
			return "", p.errorAt(1, "the line is longer than %d bytes", maxLine)
		case err == nil || err == io.EOF && b.Len() > 0:
			return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r"), nil
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}

func tokens(line string) []token {
	var out []token
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		n := strings.IndexAny(line[i:], " \t")
		if n < 0 {
			n = len(line) - i
		}
		out = append(out, token{line[i : i+n], i + 1})
		i += n
	}
	return out
}

func (p *recordReader) errorAt(col int, format string, args ...any) error {
	return &ReadError{p.file, p.line, col, fmt.Sprintf(format, args...)}
}

// unexpectedEnd returns the error for a file that ends where want should follow; err is the read error.
func (p *recordReader) unexpectedEnd(err error, want string) error {
	if err != io.EOF {
		return err
	}
	return p.errorAt(len(p.text)+1, "the file ends here, want %s", want)
}

// header reads the header, the lines before the first game.
func (p *recordReader) header() (h RecordHeader, err error) {
	text, err := p.readLine()
	p.line, p.text = 1, text
	if err == io.EOF || err == nil && text != recordFormat {
		return h, p.errorAt(1, "found %.40q, want %q", text, recordFormat)
	}
	if err != nil {
		return h, err
	}
	for _, key := range []string{"strategy", "board", "max", "win", "seed"} {
		w, err := p.next()
		if err == nil && key == "seed" && w[0].text == "spawn" && len(w) == 2 {
			h.Opponent = w[1].text
			w, err = p.next()
		}
		if err != nil {
			return h, p.unexpectedEnd(err, key)
		}
		if w[0].text != key || len(w) < 2 {
			return h, p.errorAt(w[0].col, "found %q, want %s and its value", p.text, key)
		}
		if err := h.setField(key, strings.TrimSpace(p.text[w[1].col-1:])); err != nil {
			return h, p.errorAt(w[1].col, "%v", err)
		}
	}
	if h.Opponent != "" {
		h.Seeded = false // the seed does not say what an opponent chooses
	}
	if err := h.Match.Validate(); err != nil {
		return h, p.errorAt(1, "%v", err)
	}
	return h, nil
}

// setField sets one field of the header.
func (h *RecordHeader) setField(key, value string) (err error) {
	switch key {
	case "strategy":
		h.Strategy = value
	case "board":
		if n, _ := fmt.Sscanf(value, "%dx%d", &h.Match.Shape.Rows, &h.Match.Shape.Cols); n != 2 || h.Match.Shape.String() != value {
			return fmt.Errorf("found %q, want rows x columns such as 4x4", value)
		}
		return h.Match.Shape.Validate()
	case "max":
		if value != "none" {
			h.Match.Goal, err = exponent(value)
		}
	case "win":
		h.Match.PlayOn = value == "play on"
		if !h.Match.PlayOn && value != "stop" {
			return fmt.Errorf("found %q, want stop or play on", value)
		}
	case "seed":
		if h.Seeded = value != "none"; h.Seeded {
			if h.Match.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return fmt.Errorf("found %q, want a number or none", value)
			}
		}
	}
	return err
}

// exponent parses the value of a tile and returns its exponent.
func exponent(value string) (int, error) {
	for exp := 1; exp <= game.MaxWideExponent; exp++ {
		if strconv.Itoa(game.Value(exp)) == value {
			return exp, nil
		}
	}
	return 0, fmt.Errorf("found %q, want a power of two from 2 to %d", value, game.Value(game.MaxWideExponent))
}

// game reads and checks one game; the error is io.EOF if there is none. It leaves spawns at any position.
func (p *recordReader) game(h RecordHeader, rules *game.Rules, spawns *source) (*Played, error) {
	w, err := p.next()
	if err != nil {
		return nil, err
	}
	if w[0].text != "game" || len(w) != 2 {
		return nil, p.errorAt(w[0].col, "found %q, want game and its number", p.text)
	}
	index, err := strconv.ParseInt(w[1].text, 10, 64)
	if err != nil || index < 0 {
		return nil, p.errorAt(w[1].col, "found %q, want the number of the game", w[1].text)
	}
	c := gameChecker{reader: p, replay: replay{match: h.Match, rules: rules}, played: &Played{Transcript: &Transcript{}}}
	if h.Seeded {
		c.spawns = spawns
		c.spawns.seek(h.Match.Seed, index, spawnStream)
	}
	if err := c.start(); err != nil {
		return nil, err
	}
	if err := c.moves(); err != nil {
		return nil, err
	}
	c.played.Game = c.replay.game
	c.played.Index = index
	return c.played, nil
}

// gameChecker checks the moves of a game while they are read.
type gameChecker struct {
	reader *recordReader
	replay replay
	spawns *source // nil if the record has no seed
	played *Played
}

// start reads and checks the tiles of the start.
func (c *gameChecker) start() error {
	w, err := c.reader.next()
	if err != nil {
		return c.reader.unexpectedEnd(err, "start and two tiles")
	}
	if w[0].text != "start" {
		return c.reader.errorAt(w[0].col, "found %q, want start and two tiles", w[0].text)
	}
	var b game.Board
	for _, tile := range w[1:] {
		cell, value, _ := strings.Cut(tile.text, ":")
		n, err := strconv.ParseUint(cell, 10, 8)
		if err != nil || n >= game.MaxCells {
			return c.reader.errorAt(tile.col, "found %q, want the number of a cell, a colon and 2 or 4", tile.text)
		}
		exp, err := exponent(value)
		if err != nil {
			return c.reader.errorAt(tile.col, "%v", err)
		}
		b = b.With(int(n), exp)
	}
	if err := c.replay.start(b); err != nil {
		return c.reader.errorAt(w[0].col, "%v", err)
	}
	if c.spawns != nil {
		if want := c.replay.rules.Start(c.spawns.rng); want != b {
			return c.reader.errorAt(w[0].col, "the board is not the one that the seed gives, %v", want)
		}
	}
	c.played.Transcript.Start = b
	return nil
}

// moves reads and checks the moves and the result.
func (c *gameChecker) moves() error {
	for {
		w, err := c.reader.next()
		if err != nil {
			return c.reader.unexpectedEnd(err, "a move or end")
		}
		if w[0].text == "end" {
			return c.end(w)
		}
		for _, move := range w {
			if err := c.move(move); err != nil {
				return err
			}
		}
	}
}

func (c *gameChecker) move(w token) error {
	s, err := parseStep(w.text)
	if err == nil {
		err = c.replay.step(s)
	}
	if err == nil && c.spawns != nil && s.Exp > 0 {
		moved := c.replay.board.With(s.Cell, 0)
		if want := c.replay.rules.AddRandomWide(moved, c.spawns.rng); want != c.replay.board {
			err = errors.New("the new tile is not the one that the seed gives")
		}
	}
	if err != nil {
		return c.reader.errorAt(w.col, "%v", err)
	}
	c.played.Transcript.Steps = append(c.played.Transcript.Steps, s)
	return nil
}

// end compares the recorded result with the result of the moves.
func (c *gameChecker) end(w []token) error {
	c.played.Transcript.Overflow = w[len(w)-1].text == overflowWord
	if err := c.replay.end(c.played.Transcript.Overflow); err != nil {
		return c.reader.errorAt(w[0].col, "%v", err)
	}
	want := tokens(endLine(c.replay.game))
	for i, x := range w {
		if i >= len(want) || x.text != want[i].text {
			return c.reader.errorAt(x.col, "found %q, but the moves come to %q", x.text, endLine(c.replay.game))
		}
	}
	if len(w) != len(want) {
		return c.reader.errorAt(len(c.reader.text)+1, "the line ends here, but the moves come to %q", endLine(c.replay.game))
	}
	return nil
}
