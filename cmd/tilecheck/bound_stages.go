package main

import (
	"context"
	"io"
	"math/bits"
	"time"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/report/playtables"
)

// runStages proves a lower bound on the probability that optimal play wins, without a strategy of the user. It prints the bound and writes its
// certificate.
func (c *boundCmd) runStages(ctx context.Context, env *environment) error {
	options, err := c.stageOptions(env)
	if err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	options.Progress = passProgress(showProgress)
	start := time.Now()
	proof, err := induced.StageBound(ctx, options)
	if err != nil {
		return boundTimeError(err)
	}
	stopProgress()
	if err := playtables.StageBound(proof, time.Since(start)).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	return c.writeCertificate(env, func(w io.Writer) error { return proof.WriteCertificate(ctx, w) })
}

// stageOptions returns the options of a proof by stages. It returns a usage error if the flags do not fit together.
func (c *boundCmd) stageOptions(env *environment) (options induced.StageOptions, err error) {
	if err := env.refuseGivenFlags("with --stages", "memory", "budget", "workers", "boards"); err != nil {
		return options, err
	}
	if c.Strategy != "" {
		return options, usageError("--stages finds its moves itself, want it without a strategy")
	}
	rows, cols, err := c.boardShape()
	if err != nil {
		return options, err
	}
	gameOptions, err := newGame(rows, cols, c.Max)
	if err != nil {
		return options, err
	}
	exponent := bits.TrailingZeros(uint(c.Stages))
	if c.Stages < 0 || c.Stages != game.Value(exponent) {
		return options, usageError("--stages is %d, want a tile: a power of two", c.Stages)
	}
	options = induced.StageOptions{Rules: gameOptions.Rules, Max: gameOptions.Max, Unit: exponent, States: c.States, Rounds: c.Refine + 1}
	if err := options.Validate(); err != nil {
		return options, usageError("--stages: %w", err)
	}
	return options, nil
}
