// Package replay is a tool that says again what a recorded run of it said, for
// tests that need a tool's output and not the tool.
package replay

import (
	"context"
	"io"

	"tilecheck/parse"
	"tilecheck/runner"
)

// Recording answers every run with the same transcript, whatever is asked.
type Recording struct {
	name       string
	transcript parse.Transcript
}

var _ runner.Commander = (*Recording)(nil)

// New returns a recording of a transcript in the form of parse.ReadTranscript.
func New(name string, transcript []byte) *Recording {
	return &Recording{name, parse.ReadTranscript(transcript)}
}

// Where returns the name of the recording.
func (r *Recording) Where() string { return "recording " + r.name }

// Run implements runner.Commander. If the recording has no exit code, the
// recorded run was killed.
func (r *Recording) Run(ctx context.Context, command runner.Command) (runner.Exit, error) {
	for _, stream := range []struct {
		w    io.Writer
		text []byte
	}{{command.Stdout, r.transcript.Stdout}, {command.Stderr, r.transcript.Stderr}} {
		if stream.w == nil {
			continue
		}
		if _, err := stream.w.Write(stream.text); err != nil {
			return runner.Exit{Code: -1, Cause: runner.Refused}, nil
		}
	}
	if !r.transcript.End.Known {
		return runner.Exit{Code: -1, Cause: runner.Killed}, ctx.Err()
	}
	return runner.Exit{Code: r.transcript.End.Code}, ctx.Err()
}
