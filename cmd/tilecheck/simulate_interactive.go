package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"tilecheck/native/simulate"
	"tilecheck/report/paths"
)

// startDialogue runs a dialogue on standard input, in which the user chooses the steps of a path. slots are the indices of the variables to show.
func (c *simulateCmd) startDialogue(ctx context.Context, env *environment, source simulate.Source, slots []int) error {
	seed, err := env.seedOrRandom(c.Seed)
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
	if _, isTerminal := env.terminal(env.stdout); isTerminal {
		dialogue.Prompt = "> "
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "seed %d; ? lists the commands\n", seed)
	}
	return dialogue.Run(ctx, streamLines(ctx, env.stdin))
}

// writePath writes a path to a file, when the user gives the command w in a dialogue. It returns an error if the file is an input of the program.
func (e *environment) writePath(file string, write func(io.Writer) error) error {
	if err := e.checkOutputs("w", file); err != nil {
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

// streamLines returns a channel with the lines of a stream. The channel is closed at the end of the stream, or when ctx is done.
func streamLines(ctx context.Context, stream io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(stream); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
