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

// guarantee decides by search whether the player can always reach the goal tile. It writes the certificate and prints the answer.
func (c *solveCmd) guarantee(ctx context.Context, env *environment, opts solve.Options) error {
	if err := c.checkGuaranteeFlags(env, &opts); err != nil {
		return err
	}
	problem, err := opts.Problem()
	if err != nil {
		return err
	}
	rules, err := game.New(opts.Shape)
	if err != nil {
		return err
	}
	ctx, cancel := c.start(ctx, env, &opts)
	defer cancel()
	search := guarantee.Options{Rules: rules, Max: problem.MaxExp, Memory: opts.Memory, Workers: opts.Workers}
	start := time.Now()
	found, err := searchGuarantee(ctx, env, search)
	if err != nil {
		return err
	}
	boards := 0
	err = env.writeCertificate(c.Certificate, func(w io.Writer) (err error) {
		boards, err = found.WriteCertificate(ctx, w)
		return err
	})
	if err != nil {
		return limitError(err)
	}
	return playtables.Guarantee(problem, found, boards, time.Since(start)).Write(env.stdout, c.Format, env.reportOptions())
}

// checkGuaranteeFlags returns a usage error if flags contradict --certificate.
func (c *solveCmd) checkGuaranteeFlags(env *environment, opts *solve.Options) error {
	if err := env.refuseGivenFlags("with --certificate", "output", "resume", "worker", "layers", "discount"); err != nil {
		return err
	}
	if opts.Against != solve.Worst || opts.Objective != solve.Win || c.P2 != modelgen.DefaultP2 {
		return usageError("--certificate is about tiles that are guaranteed, want --spawn worst, with --objective win and without --p2")
	}
	return nil
}

// searchGuarantee decides whether the player can always reach the tile, and shows a progress bar. The error of an exceeded limit has the exit
// code for it.
func searchGuarantee(ctx context.Context, env *environment, opts guarantee.Options) (*guarantee.Found, error) {
	report, done := env.progress()
	defer done()
	if report != nil {
		opts.Progress = func(decided int) {
			report(progress.Progress{Property: "searching", Done: int64(decided), Unit: progress.States})
		}
	}
	found, err := guarantee.Search(ctx, opts)
	if limit, reached := errors.AsType[*guarantee.LimitError](err); reached {
		return nil, &codedError{exitOutOfLimit, limit}
	}
	return found, limitError(err)
}
