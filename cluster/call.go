package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"tilecheck/runner"
)

// callTimeout is the time limit for a program of a cluster; these programs have shorter limits of their own.
const callTimeout = 2 * time.Minute

// Reply is the output and the exit code of a program of a cluster.
type Reply struct {
	Stdout, Stderr []byte
	Code           int // its exit code
}

// Call runs a program of a cluster, which may print at most maxOutput bytes. program is its name in errors. Call returns an error if the program did not
// exit by itself; if the context ended, the error is that of the context.
func Call(ctx context.Context, program string, tool runner.Commander, maxOutput int, args ...string) (*Reply, error) {
	stdout, stderr := limitedBuffer{left: maxOutput}, limitedBuffer{left: maxOutput}
	exit, err := runner.Run(ctx, tool, runner.Command{Args: args, Limits: runner.Limits{Time: callTimeout}, Stdout: &stdout, Stderr: &stderr})
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

// limitedBuffer is a buffer that refuses output above a limit.
type limitedBuffer struct {
	bytes.Buffer
	left int
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("too much output")
	}
	return l.Buffer.Write(p)
}
