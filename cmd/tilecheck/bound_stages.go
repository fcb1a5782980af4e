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

// runStages proves a lower bound of optimal play by stages.
func (c *boundCmd) runStages(ctx context.Context, env *environment) error {
	if err := env.refuseGivenFlags("with --stages", "memory", "budget", "workers", "boards"); err != nil {
		return err
	}
	if c.Strategy != "" {
		return usageError("--stages finds its moves itself, want it without a strategy")
	}
	rows, cols, err := c.shape()
	if err != nil {
		return err
	}
	g, err := newGame(rows, cols, c.Max)
	if err != nil {
		return err
	}
	exponent := bits.TrailingZeros(uint(c.Stages))
	if c.Stages < 0 || c.Stages != game.Value(exponent) {
		return usageError("--stages is %d, want a tile: a power of two", c.Stages)
	}
	opt := induced.StageOptions{Rules: g.Rules, Max: g.Max, Unit: exponent, States: c.States, Rounds: c.Refine + 1}
	if err := opt.Validate(); err != nil {
		return usageError("--stages: %w", err)
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
