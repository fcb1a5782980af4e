package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/internal/noun"
)

// watchGame plays one game and shows its boards. On a terminal, each board replaces the board before it.
func (c *playCmd) watchGame(ctx context.Context, env *environment, options play.Options) error {
	boardFilm := newFilm(env, options.Match.Shape, c.Delay)
	played, err := play.Watch(ctx, options, c.Game, func(frame play.Frame) error { return boardFilm.showFrame(ctx, frame) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "game %d of %v, seed %d: %s\n", c.Game, options.Strategy, options.Match.Seed, gameText(played))
	return err
}

// film shows the boards of a game.
type film struct {
	output io.Writer
	shape  game.Shape
	delay  time.Duration
	// overwrite says that each board is drawn over the last one.
	overwrite bool
	lines     int // of the last board
}

// newFilm returns a film that draws boards on standard output. On a terminal, each board overwrites the one before.
func newFilm(env *environment, shape game.Shape, delay time.Duration) *film {
	_, tty := env.terminal(env.stdout)
	return &film{output: env.stdout, shape: shape, delay: delay, overwrite: tty && env.getenv("TERM") != "dumb"}
}

// showFrame draws a board. On a terminal, the board replaces the one before it, and showFrame waits for the delay.
func (f *film) showFrame(ctx context.Context, frame play.Frame) error {
	text := frameText(f.shape, frame)
	if !f.overwrite {
		_, err := io.WriteString(f.output, text+"\n")
		return err
	}
	if f.lines > 0 {
		text = fmt.Sprintf("\x1b[%dA\x1b[J", f.lines) + text
	}
	if _, err := io.WriteString(f.output, text); err != nil {
		return err
	}
	f.lines = strings.Count(text, "\n")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(f.delay):
		return nil
	}
}

// frameText returns a board as text, with the move that led to it above.
func frameText(shape game.Shape, frame play.Frame) string {
	head := "start"
	if frame.Moves > 0 {
		head = fmt.Sprintf("move %d %v, score %d", frame.Moves, frame.Dir, frame.Score)
	}
	return head + "\n" + shape.DrawWide(frame.Board)
}

// gameText returns the result of a game.
func gameText(played play.Game) string {
	text := fmt.Sprintf("score %d, %s, largest tile %d", played.Score, noun.Count(played.Moves, "move"), game.Value(played.Max))
	switch {
	case played.Overflow:
		text += ", ended because the player foresaw a merge above the largest tile of its boards"
	case played.Won:
		text += fmt.Sprintf(", won after %s", noun.Count(played.WinMoves, "move"))
	default:
		text += ", lost"
	}
	return text
}
