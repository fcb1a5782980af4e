package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/report/playtables"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/game/solve/draw"
	"tilecheck/report/table"
)

type policyCmd struct {
	Table        string `arg:"" optional:"" help:"File that tilecheck solve --output wrote; without one, the game is solved first." file:"in"`
	problemFlags `embed:""`
	solveFlags   `embed:""`
	Board        string       `help:"Print the value of a board and its moves: '2 . / 4 8'." placeholder:"BOARD"`
	Play         bool         `help:"Play a game, and print its boards."`
	Seed         *uint64      `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
	SVG          string       `name:"svg" help:"Draw the game, if it is small." placeholder:"FILE" file:"out"`
	DOT          string       `name:"dot" help:"Write the same graph for Graphviz." placeholder:"FILE" file:"out"`
	Optimal      bool         `help:"Draw the best moves only."`
	Format       table.Format `help:"With --board: ${formats}." default:"table" placeholder:"FORMAT"`
}

// Run shows the optimal policy of a game: the values of a board's moves (--board), an optimal game (--play), or pictures (--svg and --dot).
func (c *policyCmd) Run(ctx context.Context, env *environment) error {
	err := cmp.Or(
		c.checkFlags(),
		env.refuseFlags(c.Table != "", "on a game that is solved", "memory", "workers", "timeout"),
		env.refuseFlags(c.Board == "", "without --board", "format"),
	)
	if err != nil {
		return err
	}
	solved, err := c.openTable(ctx, env)
	if err != nil {
		return err
	}
	return errors.Join(c.showRequested(ctx, env, solved), solved.Close())
}

// checkFlags returns a usage error if the flags contradict each other.
func (c *policyCmd) checkFlags() error {
	drawsPicture := c.SVG != "" || c.DOT != ""
	switch {
	case c.Table != "" && c.problemFlags.hasGivenFlag():
		return usageError("%s says what the game is, want no flags of it", c.Table)
	case c.Board == "" && !c.Play && !drawsPicture:
		return usageError("nothing is asked, want --board, --play, --svg or --dot")
	case c.Optimal && !drawsPicture:
		return usageError("--optimal is for pictures, want --svg or --dot")
	case c.Seed != nil && !c.Play:
		return usageError("--seed is for games, want --play")
	case c.Play && c.Format != table.Text:
		return errOnlyText("--play", c.Format)
	}
	return nil
}

// openTable opens the table of a solved game. Without a table, it solves the game that the flags describe.
func (c *policyCmd) openTable(ctx context.Context, env *environment) (*solve.Table, error) {
	if c.Table != "" {
		return solve.Open(c.Table)
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	ctx, done := c.startLimits(ctx, env, &options)
	defer done()
	solved, _, err := solve.Solve(ctx, options)
	return solved, limitError(err)
}

// showRequested shows the board, game and pictures for which the flags --board, --play, --svg and --dot ask. It stops at the first error.
func (c *policyCmd) showRequested(ctx context.Context, env *environment, solved *solve.Table) error {
	if c.Board != "" {
		if err := c.showBoard(env, solved); err != nil {
			return err
		}
	}
	if c.Play {
		if err := c.playOptimal(ctx, env, solved); err != nil {
			return err
		}
	}
	if c.SVG == "" && c.DOT == "" {
		return nil
	}
	return c.drawPolicy(ctx, env, solved)
}

// drawPolicy writes the pictures of the policy: --svg and --dot.
func (c *policyCmd) drawPolicy(ctx context.Context, env *environment, solved *solve.Table) error {
	dot, err := draw.DOT(solved, draw.Options{Optimal: c.Optimal})
	if err != nil {
		return err
	}
	var dotErr error
	if c.DOT != "" {
		dotErr = env.writeNamed(c.DOT, textWriter(dot))
	}
	if c.SVG == "" {
		return dotErr
	}
	svg, err := draw.SVG(ctx, dot)
	if err != nil {
		return errors.Join(dotErr, err)
	}
	return errors.Join(dotErr, env.writeNamed(c.SVG, textWriter(string(svg))))
}

// textWriter returns a function that writes a text to its argument.
func textWriter(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// showBoard prints the board of --board with its value and the values of its moves.
func (c *policyCmd) showBoard(env *environment, solved *solve.Table) error {
	problem := solved.Problem()
	board, err := problem.Shape.Parse(c.Board)
	if err != nil {
		return usageError("--board: %w", err)
	}
	value, best, ok := solved.Value(board)
	if !ok {
		return fmt.Errorf("no game of %s reaches the board %s", problem, strings.TrimSpace(c.Board))
	}
	moves, _ := solved.Moves(board) // none when the game is over
	moveTable := playtables.Moves(solved, board, value, best, moves)
	if c.Format == table.Text {
		if _, err := fmt.Fprint(env.stdout, problem.Shape.Draw(board)); err != nil {
			return err
		}
	}
	return moveTable.Write(env.stdout, c.Format, env.reportOptions())
}

// playOptimal plays an optimal game and prints its boards.
func (c *policyCmd) playOptimal(ctx context.Context, env *environment, solved *solve.Table) error {
	seed, err := env.seedOrRandom(c.Seed)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(env.stdout, "%s, seed %d\n", solved.Problem(), seed); err != nil {
		return err
	}
	played := &optimalGame{solved: solved, rng: rand.New(rand.NewPCG(seed, seed))}
	for range 2 { // two tiles at the start
		if err := played.addTile(); err != nil {
			return err
		}
	}
	for {
		isOver, err := played.printAndMove(env.stdout)
		if err := cmp.Or(err, ctx.Err()); isOver || err != nil {
			return err
		}
	}
}

// optimalGame is a game of 2048 with the moves from the table of a solved game.
type optimalGame struct {
	solved *solve.Table
	rng    *rand.Rand

	board        game.Board
	moves, score int
}

// addTile places a new tile on the board. It does nothing if the board already has the goal tile.
func (g *optimalGame) addTile() (err error) {
	if !g.board.AtLeast(g.solved.Problem().MaxExp) {
		g.board, err = g.solved.Place(g.board, g.rng)
	}
	return err
}

// printAndMove prints the board, makes a best move and adds a tile. It returns true, without a move, if the game is over.
func (g *optimalGame) printAndMove(w io.Writer) (isOver bool, err error) {
	value, best, ok := g.solved.Value(g.board)
	if !ok {
		return false, fmt.Errorf("no game of %s reaches the board %s", g.solved.Problem(), g.board)
	}
	picture := g.solved.Problem().Shape.Draw(g.board)
	if best == 0 {
		_, err := fmt.Fprintf(w, "%s%s after %s, score %d\n", picture, playtables.Best(g.solved, g.board, best), noun.Count(g.moves, "move"), g.score)
		return true, err
	}
	move := best.At(0) // the first best move in the order left, right, up, down
	if _, err := fmt.Fprintf(w, "%s%d: %s, value %s\n", picture, g.moves+1, move, playtables.Value(value)); err != nil {
		return false, err
	}
	nextBoard, gain, err := g.solved.Rules().Move(g.board, move)
	if err != nil {
		return false, err
	}
	g.board = nextBoard
	g.score += gain
	g.moves++
	return false, g.addTile()
}
