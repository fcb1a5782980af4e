package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/table"
)

type replayCmd struct {
	File string `arg:"" help:"Recorded games, from tilecheck play --record (- for standard input)." file:"in"`

	Game   *int64        `help:"Show this game, board by board." want:"[0,]" placeholder:"INDEX"`
	Step   bool          `help:"Wait after every board: Enter goes on, and ends after the last; a number goes to that move, b goes back, q ends."`
	Delay  time.Duration `help:"Time between the boards on a terminal." default:"150ms" want:"[0,]" placeholder:"DURATION"`
	Format table.Format  `help:"List of games: ${formats}." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// errFound ends the reading of a record when the game is found.
var errFound = errors.New("found")

// Run checks all games of a record and lists them, or shows the boards of one game.
func (c *replayCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	if err := env.refuseFlags(c.Step || c.Game == nil, "without --game, or with --step", "delay"); err != nil {
		return err
	}
	if (c.Step || c.Game != nil) && c.Format != table.Text {
		return errOnlyText("--game or --step", c.Format)
	}
	if c.Step && c.File == "-" {
		return usageError("--step reads standard input, want the games in a file")
	}
	file, err := env.openFile(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.Game != nil || c.Step {
		return c.showGame(ctx, env, file)
	}
	return c.listGames(ctx, env, file)
}

// openFile opens a file for reading; "-" is standard input.
func (e *environment) openFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.stdin), nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", name)
	}
	return file, err
}

// listGames checks every game of a record and prints a table of their results.
func (c *replayCmd) listGames(ctx context.Context, env *environment, record io.Reader) error {
	gameTable := &table.Table{Columns: []table.Column{
		{Name: "game", Align: table.Right},
		{Name: "score", Align: table.Right},
		{Name: "moves", Align: table.Right},
		{Name: "largest tile", Align: table.Right},
		{Name: "won after", Align: table.Right},
	}}
	addRow := func(played *play.Played) error {
		wonAfter := table.Cell{}
		if played.Won {
			wonAfter = table.Cell{Text: strconv.FormatInt(played.WinMoves, 10), Value: played.WinMoves}
		}
		gameTable.Append(played.Index, played.Score, played.Moves, game.Value(played.Max), wonAfter)
		return ctx.Err()
	}
	header, err := play.ReadRecord(record, c.File, addRow)
	if err != nil {
		return err
	}
	if len(gameTable.Rows) == 0 {
		return errNoGame(c.File)
	}
	gameTable.Title = fmt.Sprintf("%s on %v", header.Strategy, header.Match)
	gameTable.Notes = []string{checksNote(&header, len(gameTable.Rows))}
	return gameTable.Write(env.stdout, c.Format, env.reportOptions())
}

// checksNote returns a note that says which facts were checked in a record with numGames games.
func checksNote(header *play.RecordHeader, numGames int) string {
	note := fmt.Sprintf("%s, every move and every new tile by the rules", noun.Count(numGames, "game"))
	if header.Opponent != "" {
		note += fmt.Sprintf(", the tiles by %s (which are not checked)", header.Opponent)
	}
	if header.Seeded {
		note += fmt.Sprintf(", the tiles those of seed %d", header.Match.Seed)
	}
	return note
}

// showGame shows the boards of the game of --game, or of the first game, and prints its result.
func (c *replayCmd) showGame(ctx context.Context, env *environment, record io.Reader) error {
	header, shownGame, err := c.findGame(ctx, record)
	if err != nil {
		return err
	}
	var frames []play.Frame
	addFrame := func(frame play.Frame) { frames = append(frames, frame) }
	if _, err := header.Match.Replay(shownGame.Transcript, addFrame); err != nil {
		return err
	}
	if err := c.showFrames(ctx, env, header.Match.Shape, frames); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "game %d of %s: %s\n", shownGame.Index, header.Strategy, gameText(shownGame.Game))
	return err
}

// findGame returns the header of a record and one of its games: the game of --game, or otherwise the first one. It returns an error if this game does
// not exist.
func (c *replayCmd) findGame(ctx context.Context, record io.Reader) (header play.RecordHeader, selected *play.Played, err error) {
	header, err = play.ReadRecord(record, c.File, func(played *play.Played) error {
		if c.Game == nil || *c.Game == played.Index {
			selected = played
			return errFound
		}
		return ctx.Err()
	})
	switch {
	case selected != nil:
		return header, selected, nil
	case err != nil:
		return header, nil, err
	case c.Game == nil:
		return header, nil, errNoGame(c.File)
	}
	return header, nil, fmt.Errorf("%s: there is no game %d in it", c.File, *c.Game)
}

// errNoGame returns the error about a record without games.
func errNoGame(file string) error { return fmt.Errorf("%s: there is no game in it", file) }

// showFrames shows the boards of a game one after the other. With --step the user decides which board is shown next.
func (c *replayCmd) showFrames(ctx context.Context, env *environment, shape game.Shape, frames []play.Frame) error {
	if c.Step {
		return stepThrough(env, shape, frames)
	}
	animation := newAnimation(env, shape, c.Delay)
	for _, frame := range frames {
		if err := animation.showFrame(ctx, frame); err != nil {
			return err
		}
	}
	return nil
}

// stepThrough shows the boards that the user selects on standard input. An empty line selects the next board, b the previous board, and a number
// k the board after k moves. The line q ends the program, and so does an empty line at the last board.
func stepThrough(env *environment, shape game.Shape, frames []play.Frame) error {
	input := bufio.NewScanner(env.stdin)
	shown := 0
	for {
		if _, err := fmt.Fprintln(env.stdout, frameText(shape, frames[shown])); err != nil {
			return err
		}
		if !input.Scan() {
			return input.Err()
		}
		word := strings.TrimSpace(input.Text())
		last := len(frames) - 1
		move, err := strconv.Atoi(word)
		isMove := err == nil && move >= 0 && move <= last
		switch {
		case word == "q" || word == "" && shown == last:
			return nil
		case word == "":
			shown++
		case word == "b":
			shown = max(shown-1, 0)
		case isMove:
			shown = move
		default:
			fmt.Fprintf(env.stderr, "found %q, want Enter, b, q or a move from 0 to %d\n", word, last)
		}
	}
}
