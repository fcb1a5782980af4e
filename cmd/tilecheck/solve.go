package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"
	"time"

	"tilecheck/report/playtables"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/internal/tempdir"
	"tilecheck/modelgen"
	"tilecheck/report/table"
)

// problemFlags choose a game and the objective of its player.
type problemFlags struct {
	boardFlags `embed:""`
	Max        int      `help:"Goal: the tile that ends the game, 4 to 32768 (no default). If it cannot be reached, the game goes on until it is lost." placeholder:"TILE"`
	Objective  string   `help:"Maximise win (the probability of MAX), score or moves." default:"win" enum:"win,score,moves" placeholder:"OBJECTIVE"`
	Against    string   `name:"spawn" aliases:"against" help:"Who draws new tiles: chance, as in the game (default), or an opponent who chooses the cell (worst-cell), the tile (worst-tile) or both (worst), so that the value is what the player can guarantee." default:"chance" enum:"chance,worst-cell,worst-tile,worst" placeholder:"SPAWN"`
	Discount   *float64 `rare:"" help:"Discount: each move multiplies the value of a later win by this factor, above 0 and at most 1 (default: 1)." want:"(0,1]" placeholder:"G"`
}

// hasGivenFlag reports whether the command line has any of the flags.
func (f problemFlags) hasGivenFlag() bool {
	return f.Size != boardSize{} || f.Rows != 0 || f.Cols != 0 || f.Max != 0 || f.Objective != "win" || f.Against != "chance" || f.Discount != nil || f.P2 != modelgen.DefaultP2
}

// options returns the options of the solver that the flags describe. It returns a usage error if they describe no game.
func (f problemFlags) options() (solve.Options, error) {
	var options solve.Options
	rows, cols, err := f.boardShape()
	if err != nil {
		return options, err
	}
	options.Shape, options.Max = game.Shape{Rows: rows, Cols: cols}, f.Max
	if f.Max == 0 {
		return options, usageError("no --max, want the tile that ends the game")
	}
	if options.Objective, err = solve.ParseObjective(f.Objective); err != nil {
		return options, usageError("%w", err)
	}
	if options.Against, err = solve.ParseAgainst(f.Against); err != nil {
		return options, usageError("--spawn: %w", err)
	}
	p2, ok := new(big.Rat).SetString(f.P2)
	if !ok {
		return options, usageError("--p2 is %q, want a probability such as 0.9 or 9/10", f.P2)
	}
	options.P2 = p2
	if f.Discount != nil {
		options.Discount = *f.Discount
	}
	if _, err := options.Problem(); err != nil {
		return options, usageError("%w", err)
	}
	return options, nil
}

// minCollected is the smallest memory limit for the garbage collector, in bytes: a solver takes at least as much.
const minCollected = 64 << 20

// solveFlags are the resources of the solver.
type solveFlags struct {
	Memory  byteCount     `help:"Use the disk if more memory is needed, such as 1GB (default: give up beyond 3/4 of the free memory)." placeholder:"SIZE"`
	Workers int           `rare:"" help:"Goroutines (default: one per processor); the results do not depend on it." want:"[1,1024]" placeholder:"N"`
	Timeout time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
}

type solveCmd struct {
	problemFlags `embed:""`
	solveFlags   `embed:""`
	Output       string       `short:"o" aliases:"out" help:"Write the values and best moves of all positions, for tilecheck policy." placeholder:"FILE" file:"keep"`
	Resume       bool         `help:"Continue a run that was interrupted or killed."`
	Worker       string       `rare:"" help:"Be process I of N that solve one game together, all with the same --output on a shared disk." placeholder:"I/N"`
	Certificate  string       `help:"Prove by search that the player can, or cannot, make MAX whatever tiles come, and write the proof for tilecheck certify; .gz compresses. Wants --spawn worst." placeholder:"FILE" file:"out"`
	Layers       bool         `help:"Print the number of positions of each sum of tiles."`
	Format       table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run solves the game and prints its value.
func (c *solveCmd) Run(ctx context.Context, env *environment) error {
	options, err := c.options()
	if err != nil {
		return err
	}
	if c.Certificate != "" {
		return c.decideGuarantee(ctx, env, options)
	}
	if err := c.checkFlags(&options); err != nil {
		return err
	}
	ctx, cancel := c.startLimits(ctx, env, &options)
	defer cancel()
	start := time.Now()
	stats, err := c.solveGame(ctx, env, options)
	if err != nil {
		return c.explainError(err)
	}
	problem, err := options.Problem()
	if err != nil {
		return err
	}
	solved := playtables.Solved(problem, stats, time.Since(start))
	if c.Layers {
		solved = playtables.Layers(problem, stats)
	}
	err = solved.Write(env.stdout, c.Format, env.reportOptions())
	if c.Output != "" {
		env.noteWritten(c.Output)
	}
	return err
}

// checkFlags returns a usage error if the flags contradict each other. It also sets options.Process from --worker, which is 2/3 for the second of
// three processes.
func (c *solveCmd) checkFlags(options *solve.Options) (err error) {
	switch {
	case c.Output == "-":
		return usageError("--output is -, want a file: the result goes to standard output")
	case c.Resume && c.Output == "":
		return usageError("--resume is given without --output, want the output file of the interrupted run")
	case c.Worker == "":
		return nil
	}
	options.Process, err = shard.Parse(c.Worker)
	if err != nil || options.Process.Index > options.Process.Count {
		return usageError("--worker is %q, want the number of this process and the number of processes, such as 2/3", c.Worker)
	}
	if c.Output == "" {
		return usageError("--worker is given without --output, want the output file that all processes share")
	}
	return nil
}

// startLimits sets the limits of processors and memory in options, and starts the time limit and the progress bar. The caller must call stop at the end.
func (f *solveFlags) startLimits(ctx context.Context, env *environment, options *solve.Options) (limitedCtx context.Context, stop context.CancelFunc) {
	options.Workers, options.Memory = f.Workers, int64(f.Memory)
	if options.Memory == 0 {
		options.Memory = defaultMemory()
	}
	if options.Memory != 0 {
		debug.SetMemoryLimit(max(options.Memory, minCollected))
	}
	showProgress, stopProgress := env.startProgress()
	if showProgress != nil {
		options.Progress = func(update solve.Progress) {
			phase := "enumerating"
			if update.Valuing {
				phase = "valuing"
			}
			showProgress(progress.Progress{Property: phase, Done: update.Positions, Target: update.Total, Unit: progress.States})
		}
	}
	limitedCtx, cancel := env.withTimeLimit(ctx, f.Timeout)
	return limitedCtx, func() {
		cancel()
		stopProgress()
	}
}

// solveGame solves the game. With --output it writes the values of all positions to a file. Otherwise it computes only the value of the initial
// position.
func (c *solveCmd) solveGame(ctx context.Context, env *environment, options solve.Options) (solve.Stats, error) {
	if c.Output != "" {
		env.recorder.addOutputs(c.Output)
		return solve.SolveFile(ctx, c.Output, c.Resume, options)
	}
	if c.Memory == 0 {
		return solve.InitialValue(ctx, options, "")
	}
	dir, remove, err := tempdir.Make(ctx) // for the layers that exceed the memory limit
	if err != nil {
		return solve.Stats{}, err
	}
	stats, err := solve.InitialValue(ctx, options, dir)
	return stats, errors.Join(err, remove())
}

// explainError adds advice for the user, and the exit code, to an error of the solver.
func (c *solveCmd) explainError(err error) error {
	isStopped := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case errors.Is(err, solve.ErrExists):
		return fmt.Errorf("%w: delete it, or add --resume to print its value", err)
	case errors.Is(err, solve.ErrUnfinished):
		return fmt.Errorf("%w: add --resume to continue it, or delete the directory", err)
	case isStopped && c.Output != "":
		err = fmt.Errorf("%w: the results so far are in %s, add --resume to continue", err, solve.WorkDir(c.Output))
	}
	if _, memory := errors.AsType[*solve.MemoryError](err); memory {
		err = fmt.Errorf("%w: with --memory or --output, layers are stored on disk", err)
	}
	return limitError(err)
}

// limitError adds the exit code of a limit to an error about time or memory. It returns any other error unchanged.
func limitError(err error) error {
	_, memory := errors.AsType[*solve.MemoryError](err)
	if memory || errors.Is(err, context.DeadlineExceeded) {
		return &codedError{exitOutOfLimit, err}
	}
	return err
}
