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
	animation := newAnimation(env, options.Match.Shape, c.Delay)
	played, err := play.Watch(ctx, options, c.Game, func(frame play.Frame) error { return animation.showFrame(ctx, frame) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "game %d of %v, seed %d: %s\n", c.Game, options.Strategy, options.Match.Seed, gameText(played))
	return err
}

// boardAnimation shows the boards of a game one after the other.
type boardAnimation struct {
	output io.Writer
	shape  game.Shape
	delay  time.Duration
	// overwrite says that each board is drawn over the last one.
	overwrite bool
	lines     int // of the last board
}

// newAnimation returns an animation that draws the boards of a game on standard output. On a terminal, each board overwrites the one before.
func newAnimation(env *environment, shape game.Shape, delay time.Duration) *boardAnimation {
	_, isTerminal := env.terminal(env.stdout)
	return &boardAnimation{output: env.stdout, shape: shape, delay: delay, overwrite: isTerminal && env.getenv("TERM") != "dumb"}
}

// showFrame draws a board. On a terminal, the board replaces the one before it, and showFrame waits for the delay.
func (a *boardAnimation) showFrame(ctx context.Context, frame play.Frame) error {
	text := frameText(a.shape, frame)
	if !a.overwrite {
		_, err := io.WriteString(a.output, text+"\n")
		return err
	}
	if a.lines > 0 {
		text = fmt.Sprintf("\x1b[%dA\x1b[J", a.lines) + text
	}
	if _, err := io.WriteString(a.output, text); err != nil {
		return err
	}
	a.lines = strings.Count(text, "\n")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(a.delay):
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
