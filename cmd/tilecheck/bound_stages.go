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
	opt, err := c.stageOptions(env)
	if err != nil {
		return err
	}
	report, done := env.progress()
	defer done()
	opt.Progress = passProgress(report)
	start := time.Now()
	proof, err := induced.StageBound(ctx, opt)
	if err != nil {
		return boundTimeError(err)
	}
	done()
	if err := playtables.StageBound(proof, time.Since(start)).Write(env.stdout, c.Format, env.reportOptions()); err != nil || c.Certificate == "" {
		return err
	}
	return env.writeCertificate(c.Certificate, func(w io.Writer) error { return proof.WriteCertificate(ctx, w) })
}

// stageOptions returns the options of a proof by stages. It returns a usage error if the flags do not fit together.
func (c *boundCmd) stageOptions(env *environment) (opt induced.StageOptions, err error) {
	if err := env.refuseGivenFlags("with --stages", "memory", "budget", "workers", "boards"); err != nil {
		return opt, err
	}
	if c.Strategy != "" {
		return opt, usageError("--stages finds its moves itself, want it without a strategy")
	}
	rows, cols, err := c.shape()
	if err != nil {
		return opt, err
	}
	gameOptions, err := newGame(rows, cols, c.Max)
	if err != nil {
		return opt, err
	}
	exponent := bits.TrailingZeros(uint(c.Stages))
	if c.Stages < 0 || c.Stages != game.Value(exponent) {
		return opt, usageError("--stages is %d, want a tile: a power of two", c.Stages)
	}
	opt = induced.StageOptions{Rules: gameOptions.Rules, Max: gameOptions.Max, Unit: exponent, States: c.States, Rounds: c.Refine + 1}
	if err := opt.Validate(); err != nil {
		return opt, usageError("--stages: %w", err)
	}
	return opt, nil
}
