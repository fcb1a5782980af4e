package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"tilecheck/native/simulate"
	"tilecheck/report/paths"
)

// dialogue lets the user choose the steps of a path.
func (c *simulateCmd) dialogue(ctx context.Context, env *environment, source simulate.Source, slots []int) error {
	seed, err := env.seedOr(c.Seed)
	if err != nil {
		return err
	}
	stepper, err := simulate.NewStepper(ctx, source, seed)
	if err != nil {
		return err
	}
	dialogue := paths.Dialogue{
		Stepper: stepper, Source: source, Vars: slots, Probs: c.Probs, Rewards: c.Rewards,
		Out: env.stdout, Errors: env.stderr, Table: env.reportOptions(),
		Write: env.writePath,
	}
	if _, terminal := env.terminal(env.stdout); terminal {
		dialogue.Prompt = "> "
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "seed %d; ? lists the commands\n", seed)
	}
	return dialogue.Run(ctx, streamLines(ctx, env.stdin))
}

// writePath writes a path to the file of the interactive command w, unless the command line reads that file.
func (e *environment) writePath(file string, write func(io.Writer) error) error {
	if err := e.files.withOutputs("w", file).check(); err != nil {
		return err
	}
	if err := e.writeFile(file, write); err != nil {
		return err
	}
	if !isStdout(file) && !e.quiet {
		fmt.Fprintf(e.stderr, "wrote %s\n", file)
	}
	return nil
}

// streamLines returns the lines of a stream, until it or ctx ends.
func streamLines(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(r); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
