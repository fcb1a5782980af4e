package main

import (
	"context"
	"errors"
	"io"
	"time"

	"tilecheck/game"
	"tilecheck/game/guarantee"
	"tilecheck/game/solve"
	"tilecheck/internal/progress"
	"tilecheck/modelgen"
	"tilecheck/report/playtables"
)

// decideGuarantee decides by search whether the player can always reach the goal tile. It writes the certificate and prints the answer.
func (c *solveCmd) decideGuarantee(ctx context.Context, env *environment, options solve.Options) error {
	if err := c.checkGuaranteeFlags(env, &options); err != nil {
		return err
	}
	problem, err := options.Problem()
	if err != nil {
		return err
	}
	rules, err := game.New(options.Shape)
	if err != nil {
		return err
	}
	ctx, cancel := c.startLimits(ctx, env, &options)
	defer cancel()
	searchOptions := guarantee.Options{Rules: rules, Max: problem.MaxExp, Memory: options.Memory, Workers: options.Workers}
	start := time.Now()
	guaranteed, err := searchGuarantee(ctx, env, searchOptions)
	if err != nil {
		return err
	}
	numBoards := 0
	err = env.writeCertificate(c.Certificate, func(w io.Writer) (err error) {
		numBoards, err = guaranteed.WriteCertificate(ctx, w)
		return err
	})
	if err != nil {
		return limitError(err)
	}
	err = playtables.Guarantee(problem, guaranteed, numBoards, time.Since(start)).Write(env.stdout, c.Format, env.reportOptions())
	env.noteWritten(c.Certificate)
	return err
}

// checkGuaranteeFlags returns a usage error if flags contradict --certificate.
func (c *solveCmd) checkGuaranteeFlags(env *environment, options *solve.Options) error {
	if options.Against != solve.Worst || options.Objective != solve.Win || c.P2 != modelgen.DefaultP2 {
		return usageError("--certificate proves that the player can guarantee a tile, want --spawn worst, with --objective win and without --p2; for a proof of a probability: tilecheck bound optimal --certificate FILE")
	}
	return env.refuseGivenFlags("with --certificate", "output", "resume", "worker", "layers", "discount")
}

// searchGuarantee decides whether the player can always reach the tile, and shows a progress bar. The error of an exceeded limit has the exit
// code for it.
func searchGuarantee(ctx context.Context, env *environment, options guarantee.Options) (*guarantee.Found, error) {
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	if showProgress != nil {
		options.Progress = func(decided int) {
			showProgress(progress.Progress{Property: "searching", Done: int64(decided), Unit: progress.States})
		}
	}
	guaranteed, err := guarantee.Search(ctx, options)
	if limit, isLimitError := errors.AsType[*guarantee.LimitError](err); isLimitError {
		return nil, &codedError{exitOutOfLimit, limit}
	}
	return guaranteed, limitError(err)
}
