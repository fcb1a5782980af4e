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

// ReadRecord reads a record of games, and calls visit with every game in the order of the file. file is the name of the record for messages.
// ReadRecord checks that each move is legal, that each new tile is in an empty cell and follows from the seed if the record has one, that the game is
// over at its end, and that the recorded result is the result of the moves. The error is a *ReadError, an error of input, or an error of visit.
func ReadRecord(input io.Reader, file string, visit func(*Played) error) (RecordHeader, error) {
	reader := recordReader{r: bufio.NewReader(input), file: file}
	header, err := reader.header()
	if err != nil {
		return header, err
	}
	rules, err := game.New(header.Match.Shape) // once for all games, because its tables take far longer to build than a game to check
	if err != nil {
		return header, err
	}
	spawns := newSource()
	for {
		played, err := reader.readGame(header, rules, spawns)
		if err == io.EOF {
			return header, nil
		}
		if err != nil {
			return header, err
		}
		if err := visit(played); err != nil {
			return header, err
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
		if words := tokens(text); len(words) > 0 && !strings.HasPrefix(words[0].text, "#") {
			return words, nil
		}
	}
}

// readLine returns the next line without its line end.
func (p *recordReader) readLine() (string, error) {
	var line strings.Builder
	for {
		chunk, err := p.r.ReadSlice('\n')
		line.Write(chunk)
		switch {
		case line.Len() > maxLine:
			p.line++
			return "", p.errorAt(1, "the line is longer than %d bytes", maxLine)
		case err == nil || err == io.EOF && line.Len() > 0:
			return strings.TrimSuffix(strings.TrimSuffix(line.String(), "\n"), "\r"), nil
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}

// tokens returns the words of a line, with the columns in which they begin.
func tokens(line string) []token {
	var result []token
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		length := strings.IndexAny(line[i:], " \t")
		if length < 0 {
			length = len(line) - i
		}
		result = append(result, token{line[i : i+length], i + 1})
		i += length
	}
	return result
}

func (p *recordReader) errorAt(col int, format string, args ...any) error {
	return &ReadError{p.file, p.line, col, fmt.Sprintf(format, args...)}
}

// unexpectedEnd returns the error for a file that ends where want should follow; err is the read error.
func (p *recordReader) unexpectedEnd(err error, wanted string) error {
	if err != io.EOF {
		return err
	}
	return p.errorAt(len(p.text)+1, "the file ends here, want %s", wanted)
}

// header reads the lines before the first game: the strategy, the match and the seed.
func (p *recordReader) header() (head RecordHeader, err error) {
	text, err := p.readLine()
	p.line, p.text = 1, text
	if err == io.EOF || err == nil && text != recordFormat {
		return head, p.errorAt(1, "found %.40q, want %q", text, recordFormat)
	}
	if err != nil {
		return head, err
	}
	for _, key := range []string{"strategy", "board", "max", "win", "seed"} {
		words, err := p.next()
		if err == nil && key == "seed" && words[0].text == "spawn" && len(words) == 2 {
			head.Opponent = words[1].text
			words, err = p.next()
		}
		if err != nil {
			return head, p.unexpectedEnd(err, key)
		}
		if words[0].text != key || len(words) < 2 {
			return head, p.errorAt(words[0].col, "found %q, want %s and its value", p.text, key)
		}
		if err := head.setField(key, strings.TrimSpace(p.text[words[1].col-1:])); err != nil {
			return head, p.errorAt(words[1].col, "%v", err)
		}
	}
	if head.Opponent != "" {
		head.Seeded = false // the seed does not say what an opponent chooses
	}
	if err := head.Match.Validate(); err != nil {
		return head, p.errorAt(1, "%v", err)
	}
	return head, nil
}

// setField sets one field of the header.
func (h *RecordHeader) setField(key, value string) (err error) {
	switch key {
	case "strategy":
		h.Strategy = value
	case "board":
		if fields, _ := fmt.Sscanf(value, "%dx%d", &h.Match.Shape.Rows, &h.Match.Shape.Cols); fields != 2 || h.Match.Shape.String() != value {
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

// readGame reads and checks one game; the error is io.EOF if there is none. It leaves spawns at any position.
func (p *recordReader) readGame(header RecordHeader, rules *game.Rules, spawns *source) (*Played, error) {
	words, err := p.next()
	if err != nil {
		return nil, err
	}
	if words[0].text != "game" || len(words) != 2 {
		return nil, p.errorAt(words[0].col, "found %q, want game and its number", p.text)
	}
	index, err := strconv.ParseInt(words[1].text, 10, 64)
	if err != nil || index < 0 {
		return nil, p.errorAt(words[1].col, "found %q, want the number of the game", words[1].text)
	}
	checker := gameChecker{reader: p, replay: replay{match: header.Match, rules: rules}, played: &Played{Transcript: &Transcript{}}}
	if header.Seeded {
		checker.spawns = spawns
		checker.spawns.seek(header.Match.Seed, index, spawnStream)
	}
	if err := checker.readStart(); err != nil {
		return nil, err
	}
	if err := checker.readMoves(); err != nil {
		return nil, err
	}
	checker.played.Game = checker.replay.game
	checker.played.Index = index
	return checker.played, nil
}

// gameChecker checks the moves of a game while they are read.
type gameChecker struct {
	reader *recordReader
	replay replay
	spawns *source // nil if the record has no seed
	played *Played
}

// readStart reads the line with the first two tiles, and checks it against the rules and the seed.
func (c *gameChecker) readStart() error {
	words, err := c.reader.next()
	if err != nil {
		return c.reader.unexpectedEnd(err, "start and two tiles")
	}
	if words[0].text != "start" {
		return c.reader.errorAt(words[0].col, "found %q, want start and two tiles", words[0].text)
	}
	var board game.Board
	for _, tile := range words[1:] {
		cell, value, _ := strings.Cut(tile.text, ":")
		number, err := strconv.ParseUint(cell, 10, 8)
		if err != nil || number >= game.MaxCells {
			return c.reader.errorAt(tile.col, "found %q, want the number of a cell, a colon and 2 or 4", tile.text)
		}
		tileExponent, err := exponent(value)
		if err != nil {
			return c.reader.errorAt(tile.col, "%v", err)
		}
		board = board.With(int(number), tileExponent)
	}
	if err := c.replay.setStart(board); err != nil {
		return c.reader.errorAt(words[0].col, "%v", err)
	}
	if c.spawns != nil {
		if wantedBoard := c.replay.rules.Start(c.spawns.rng); wantedBoard != board {
			return c.reader.errorAt(words[0].col, "the board is not the one that the seed gives, %v", wantedBoard)
		}
	}
	c.played.Transcript.Start = board
	return nil
}

// readMoves reads and checks the moves and the result.
func (c *gameChecker) readMoves() error {
	for {
		words, err := c.reader.next()
		if err != nil {
			return c.reader.unexpectedEnd(err, "a move or end")
		}
		if words[0].text == "end" {
			return c.readEnd(words)
		}
		for _, move := range words {
			if err := c.readMove(move); err != nil {
				return err
			}
		}
	}
}

// readMove reads a word with a move and a new tile, and checks it against the rules and the seed.
func (c *gameChecker) readMove(word token) error {
	step, err := parseStep(word.text)
	if err == nil {
		err = c.replay.playStep(step)
	}
	if err == nil && c.spawns != nil && step.Exp > 0 {
		moved := c.replay.board.With(step.Cell, 0)
		if wantedBoard := c.replay.rules.AddRandomWide(moved, c.spawns.rng); wantedBoard != c.replay.board {
			err = errors.New("the new tile is not the one that the seed gives")
		}
	}
	if err != nil {
		return c.reader.errorAt(word.col, "%v", err)
	}
	c.played.Transcript.Steps = append(c.played.Transcript.Steps, step)
	return nil
}

// readEnd compares the recorded result with the result of the moves.
func (c *gameChecker) readEnd(words []token) error {
	c.played.Transcript.Overflow = words[len(words)-1].text == overflowWord
	if err := c.replay.finish(c.played.Transcript.Overflow); err != nil {
		return c.reader.errorAt(words[0].col, "%v", err)
	}
	wantedWords := tokens(endLine(c.replay.game))
	for i, word := range words {
		if i >= len(wantedWords) || word.text != wantedWords[i].text {
			return c.reader.errorAt(word.col, "found %q, but the moves come to %q", word.text, endLine(c.replay.game))
		}
	}
	if len(words) != len(wantedWords) {
		return c.reader.errorAt(len(c.reader.text)+1, "the line ends here, but the moves come to %q", endLine(c.replay.game))
	}
	return nil
}
