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
	"tilecheck/report/table"
)

type replayCmd struct {
	File string `arg:"" help:"Recorded games, from tilecheck play --record (- for standard input)." file:"in"`

	Game   *int64        `help:"Show this game, board by board." want:"[0,]" placeholder:"INDEX"`
	Step   bool          `help:"Wait after every board: Enter goes on, and ends after the last; a number goes to that move, b goes back, q ends."`
	Delay  time.Duration `help:"Time between the boards on a terminal." default:"150ms" want:"[0,]" placeholder:"DURATION"`
	Format table.Format  `help:"Output format of the list of games: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// errFound ends the reading of a record.
var errFound = errors.New("found")

// Run checks all games and lists them, or shows one.
func (c *replayCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limit(ctx, c.Timeout)
	defer cancel()
	if err := env.without(c.Step || c.Game == nil, "without --game, or with --step", "delay"); err != nil {
		return err
	}
	if (c.Step || c.Game != nil) && c.Format != table.Text {
		return errOnlyText("--game or --step", c.Format)
	}
	if c.Step && c.File == "-" {
		return usageError("--step reads standard input, want the games in a file")
	}
	r, err := env.open(c.File)
	if err != nil {
		return err
	}
	defer r.Close()
	if c.Game != nil || c.Step {
		return c.show(ctx, env, r)
	}
	return c.list(ctx, env, r)
}

// open opens a file for reading; "-" is standard input.
func (e *world) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(e.stdin), nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	return f, err
}

// list checks every game and prints what they came to.
func (c *replayCmd) list(ctx context.Context, env *world, r io.Reader) error {
	t := &table.Table{Columns: []table.Column{
		{Name: "game", Align: table.Right},
		{Name: "score", Align: table.Right},
		{Name: "moves", Align: table.Right},
		{Name: "largest tile", Align: table.Right},
		{Name: "won after", Align: table.Right},
	}}
	h, err := play.ReadRecord(r, c.File, func(p *play.Played) error {
		won := table.Cell{}
		if p.Won {
			won = table.Cell{Text: strconv.FormatInt(p.WinMoves, 10), Value: p.WinMoves}
		}
		t.Append(p.Index, p.Score, p.Moves, game.Value(p.Max), won)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if len(t.Rows) == 0 {
		return errNoGame(c.File)
	}
	t.Title = fmt.Sprintf("%s on %v", h.Strategy, h.Match)
	note := fmt.Sprintf("%d games, every move and every new tile by the rules", len(t.Rows))
	if h.Seeded {
		note += fmt.Sprintf(", the tiles those of seed %d", h.Match.Seed)
	}
	t.Notes = []string{note}
	return t.Write(env.stdout, c.Format, env.reportOptions())
}

// show finds the game and goes through it.
func (c *replayCmd) show(ctx context.Context, env *world, r io.Reader) error {
	h, found, err := c.find(ctx, r)
	if err != nil {
		return err
	}
	var frames []play.Frame
	if _, err := h.Match.Replay(found.Transcript, func(f play.Frame) { frames = append(frames, f) }); err != nil {
		return err
	}
	if err := c.frames(ctx, env, h.Match.Shape, frames); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "game %d of %s: %s\n", found.Index, h.Strategy, gameText(found.Game))
	return err
}

// find reads the record up to the game, or to the first one when none is asked for.
func (c *replayCmd) find(ctx context.Context, r io.Reader) (h play.RecordHeader, found *play.Played, err error) {
	h, err = play.ReadRecord(r, c.File, func(p *play.Played) error {
		if c.Game == nil || *c.Game == p.Index {
			found = p
			return errFound
		}
		return ctx.Err()
	})
	switch {
	case found != nil:
		return h, found, nil
	case err != nil:
		return h, nil, err
	case c.Game == nil:
		return h, nil, errNoGame(c.File)
	}
	return h, nil, fmt.Errorf("%s: there is no game %d in it", c.File, *c.Game)
}

func errNoGame(file string) error { return fmt.Errorf("%s: there is no game in it", file) }

// frames shows the boards, one by one or as a film.
func (c *replayCmd) frames(ctx context.Context, env *world, shape game.Shape, frames []play.Frame) error {
	if c.Step {
		return stepThrough(env, shape, frames)
	}
	film := newFilm(env, shape, c.Delay)
	for _, f := range frames {
		if err := film.show(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// stepThrough shows a board, and another one for every line of input.
func stepThrough(env *world, shape game.Shape, frames []play.Frame) error {
	in := bufio.NewScanner(env.stdin)
	for at := 0; ; {
		if _, err := fmt.Fprintln(env.stdout, frameText(shape, frames[at])); err != nil {
			return err
		}
		if !in.Scan() {
			return in.Err()
		}
		word := strings.TrimSpace(in.Text())
		n, err := strconv.Atoi(word)
		switch {
		case word == "q" || word == "" && at == len(frames)-1:
			return nil
		case word == "":
			at++
		case word == "b":
			at = max(at-1, 0)
		case err == nil && n >= 0 && n < len(frames):
			at = n
		default:
			fmt.Fprintf(env.stderr, "found %q, want Enter, b, q or a move from 0 to %d\n", word, len(frames)-1)
		}
	}
}
