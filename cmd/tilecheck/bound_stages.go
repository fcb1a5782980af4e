package main

import (
	"context"
	"errors"
	"math/bits"
	"time"

	"tilecheck/game"
	"tilecheck/game/stages"
	"tilecheck/internal/progress"
	"tilecheck/report/playtables"
)

// runStages proves a lower bound on the probability that optimal play wins, without a strategy of the user. It prints the bound and writes its
// certificate.
func (c *boundCmd) runStages(ctx context.Context, env *environment) error {
	plan, err := c.stagePlan(env)
	if err != nil {
		return err
	}
	options := stages.Options{Workers: c.Workers, Memory: int64(c.Memory)}
	if c.Memory == 0 {
		options.Memory = defaultMemory()
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	if showProgress != nil {
		options.Progress = func(finished int) {
			showProgress(progress.Progress{Property: "stages", Done: int64(finished), Target: int64(len(plan.Stages)), Unit: progress.Steps})
		}
	}
	start := time.Now()
	proof, err := stages.Prove(ctx, plan, options)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return &codedError{exitOutOfLimit, errors.New("the time limit was reached before all stages were finished, want more --timeout, smaller tiles in --stages or less --slack")}
		}
		return err
	}
	stopProgress()
	if err := playtables.StageBound(proof, time.Since(start)).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	return c.writeCertificate(env, proof.WriteCertificate)
}

// stagePlan returns the plan of a proof by stages. It returns a usage error if the flags do not fit together.
func (c *boundCmd) stagePlan(env *environment) (*stages.Plan, error) {
	if err := env.refuseGivenFlags("with --stages", "explore-states", "budget", "refine", "boards"); err != nil {
		return nil, err
	}
	if c.Strategy != "" {
		return nil, usageError("--stages finds its moves itself, want it without a strategy")
	}
	rows, cols, err := c.boardShape()
	if err != nil {
		return nil, err
	}
	gameOptions, err := newGame(rows, cols, c.Max)
	if err != nil {
		return nil, err
	}
	var units []int
	for _, tile := range c.Stages {
		exponent := bits.TrailingZeros(uint(tile))
		if tile < 2 || tile != game.Value(exponent) {
			return nil, usageError("--stages has %d, want tiles: powers of two", tile)
		}
		units = append(units, exponent)
	}
	plan, err := stages.NewPlan(gameOptions.Rules.Shape(), gameOptions.Max, units, c.Slack)
	if err != nil {
		return nil, usageError("--stages: %w", err)
	}
	return plan, nil
}
