package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tilecheck/report/playtables"

	"tilecheck/game/induced"
	"tilecheck/game/strategy"
	"tilecheck/internal/progress"
	"tilecheck/internal/quote"
	"tilecheck/report/table"
)

type boundCmd struct {
	Strategy string `arg:"" optional:"" help:"Strategy, such as pref:left,up,down,right; tilecheck strategies lists them."`

	sizeFlags   `embed:""`
	Max         int           `help:"Goal: the tile that wins, a power of two." default:"2048" placeholder:"TILE"`
	States      int           `name:"explore-states" aliases:"states" help:"Explore at most N states (default: 1000000)." placeholder:"N" xor:"size"`
	Memory      byteCount     `help:"Explore as many states as fit into this memory, such as 4GB; with --stages: the limit." placeholder:"SIZE" xor:"size"`
	Budget      time.Duration `aliases:"time" help:"Explore states for this time; how many depends on the machine." placeholder:"DURATION"`
	Workers     int           `rare:"" help:"Goroutines (default: one per processor); the results do not depend on it." want:"[1,1024]" placeholder:"N"`
	Refine      int           `help:"Explore N times more, each time with the best moves known so far." default:"3" want:"[0,]" placeholder:"N"`
	Stages      []int         `help:"Prove in stages, without a strategy: each makes one more of these tiles, the first without locked tiles, the second with one, and so on." want:"[2,32768]" placeholder:"TILES"`
	Slack       []int         `rare:"" help:"With --stages: how much the sum of the other tiles may exceed the tile to make, for each number of locked tiles; even. It counts all locked tiles, --stages those in row 0." want:"[0,4096]" default:"32" placeholder:"N,..."`
	Boards      boundBoards   `rare:"" help:"Boards that the strategy sees and that the proof rests on: raw, as they are; canonical, the least image; auto: raw first, unless the strategy is random or optimal play, then canonical refinements." enum:"auto,raw,canonical" default:"auto" placeholder:"BOARDS"`
	Certificate string        `help:"Also write the proof, for tilecheck certify; .gz compresses." placeholder:"FILE" file:"out"`
	Check       string        `hidden:"" help:"The name that tilecheck certify had in 0.1." placeholder:"FILE" file:"in"`
	Format      table.Format  `help:"${formats}." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// boundBoards says which boards stand for the boards of the game.
type boundBoards string

const (
	boardsAuto      boundBoards = "auto"
	boardsRaw       boundBoards = "raw"
	boardsCanonical boundBoards = "canonical"
)

// bytesPerState is what a survey takes for each state, its tables included, as measured on 4x4.
const bytesPerState = 400

// Run proves a lower bound on the probability that optimal play wins, from a strategy or by stages.
func (c *boundCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	switch {
	case c.Check != "":
		return c.checkCertificate(ctx, env)
	case len(c.Stages) > 0:
		return c.runStages(ctx, env)
	}
	if err := env.refuseGivenFlags("without --stages", "slack"); err != nil {
		return err
	}
	if c.Strategy == "" {
		return usageError("no strategy is given, want one, or --stages; tilecheck certify FILE checks a certificate")
	}
	return c.runStrategy(ctx, env)
}

// checkCertificate checks a certificate for the deprecated flag --check, as the command certify does.
func (c *boundCmd) checkCertificate(ctx context.Context, env *environment) error {
	if err := env.refuseGivenFlags("with --check", "size", "rows", "cols", "max", "explore-states", "memory", "budget", "workers", "refine", "boards", "stages", "slack"); err != nil {
		return err
	}
	if c.Strategy != "" || c.Certificate != "" {
		return usageError("--check reads a certificate, want it without a strategy and --certificate")
	}
	fmt.Fprintf(env.stderr, "warning: bound --check is called certify now: tilecheck certify %s\n", quote.Word(c.Check))
	if env.jsonCommand != "" { // JSON output contains the name of the command
		env.jsonCommand = "certify"
	}
	return (&certifyCmd{Files: []string{c.Check}, Format: c.Format}).Run(ctx, env)
}

// runStrategy proves a lower bound on the probability that optimal play wins. It explores the boards that a strategy reaches, and improves the
// strategy on these boards.
func (c *boundCmd) runStrategy(ctx context.Context, env *environment) error {
	player, options, err := c.strategyAndOptions()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := strategy.Prepare(ctx, player); err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	options.Progress = passProgress(showProgress)
	explored, err := induced.Survey(ctx, player, options)
	if err != nil {
		return boundTimeError(explainTooLarge(player, err))
	}
	bestBound, err := explored.Improve(ctx, c.Refine, c.Boards == boardsRaw)
	if bestBound == nil {
		return err
	}
	// With err != nil, bestBound is the bound that was proved before the error. Both are reported.
	stopProgress()
	boundTable := playtables.Bound(player.String(), options, bestBound, time.Since(start))
	return errors.Join(err, boundTable.Write(env.stdout, c.Format, env.reportOptions()), c.writeCertificate(env, func(w io.Writer) error {
		_, err := bestBound.Part.Prove(ctx, w)
		return err
	}))
}

// passProgress returns a function that reports the progress of one pass over the boards. It returns nil if report is nil.
func passProgress(report func(progress.Progress)) func(induced.PartProgress) {
	if report == nil {
		return nil
	}
	return func(pass induced.PartProgress) {
		report(progress.Progress{Property: fmt.Sprintf("pass %d", pass.Pass), Done: int64(pass.States), Target: int64(pass.Limit), Unit: progress.States})
	}
}

// strategyAndOptions returns the strategy of the command line, and the options for exploring the boards that the strategy reaches.
func (c *boundCmd) strategyAndOptions() (boundedStrategy strategy.Strategy, options induced.PartOptions, err error) {
	rows, cols, err := c.boardShape()
	if err != nil {
		return nil, options, err
	}
	gameOptions, err := newGame(rows, cols, c.Max)
	if err != nil {
		return nil, options, err
	}
	options = induced.PartOptions{Rules: gameOptions.Rules, Max: gameOptions.Max, States: c.States, Time: c.Budget, Workers: c.Workers}
	if c.Memory != 0 {
		options.States = max(1, int(c.Memory/bytesPerState))
	}
	if boundedStrategy, err = strategy.Parse(c.Strategy, strategy.Setting{Rules: gameOptions.Rules, Max: gameOptions.Max}); err != nil {
		return nil, options, usageError("%w", err)
	}
	options.Canonical = c.Boards == boardsCanonical || c.Boards == boardsAuto && induced.SymmetricValue(boundedStrategy)
	return boundedStrategy, options, nil
}

// boundTimeError replaces the error of a time limit by an error with advice for the user. It returns any other error unchanged.
func boundTimeError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &codedError{exitOutOfLimit, errors.New("the time limit was reached before anything was proven, want more --budget, fewer --explore-states or a faster strategy")}
	}
	return err
}

// writeCertificate writes a certificate to the file of --certificate, if the flag is given, and prints the name of the file.
func (c *boundCmd) writeCertificate(env *environment, write func(io.Writer) error) error {
	if c.Certificate == "" {
		return nil
	}
	err := env.writeCertificate(c.Certificate, write)
	if err == nil {
		env.noteWritten(c.Certificate)
	}
	return err
}

// writeCertificate writes a file. It compresses the file if the name ends in .gz.
func (env *environment) writeCertificate(name string, write func(w io.Writer) error) error {
	return env.writeFile(name, func(w io.Writer) error {
		if !strings.HasSuffix(name, ".gz") {
			return write(w)
		}
		compressed := gzip.NewWriter(w)
		return errors.Join(write(compressed), compressed.Close())
	})
}
