package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"tilecheck/runner"
)

// answer is how long a program of a cluster may take; they give up by themselves before.
const answer = 2 * time.Minute

// Reply is what a program of a cluster said.
type Reply struct {
	Stdout, Stderr []byte
	Code           int // its exit code
}

// Call runs a program of a cluster, of that name in errors, which prints so many bytes
// at most. The error says why there is no exit code, and is the context's if that ended it.
func Call(ctx context.Context, program string, tool runner.Commander, maxOutput int, args ...string) (*Reply, error) {
	stdout, stderr := limited{left: maxOutput}, limited{left: maxOutput}
	exit, err := runner.Run(ctx, tool, runner.Command{Args: args, Limits: runner.Limits{Time: answer}, Stdout: &stdout, Stderr: &stderr})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%s: %w", program, err)
	case exit.Cause != runner.Finished:
		return nil, fmt.Errorf("%s: %s", program, exit.Cause)
	}
	return &Reply{stdout.Bytes(), stderr.Bytes(), exit.Code}, nil
}

// limited refuses what is too long.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("too much output")
	}
	return l.Buffer.Write(p)
}
