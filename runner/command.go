package runner

import (
	"context"
	"errors"
	"io"
	"time"
)

// Commander runs a tool, wherever it is installed: in a container, on this
// machine, or in a recording. Implementations are safe for concurrent use.
type Commander interface {
	// Run runs the tool once. That the tool fails, is killed or reaches a limit
	// is no error but an Exit; the error is for a tool that could not be run at
	// all, a *result.Failure that says what to do about it, or the context's.
	// When it returns, nothing of the run is left behind, whatever happened.
	Run(ctx context.Context, c Command) (Exit, error)
	// Where says what is run: an image with its digest, or a path.
	Where() string
}

// Run has a tool run. The end of the context is no error, but a Cause.
func Run(ctx context.Context, tool Commander, c Command) (Exit, error) {
	exit, err := tool.Run(ctx, c)
	switch why := ctx.Err(); {
	case why == nil:
		return exit, err
	case errors.Is(why, context.DeadlineExceeded):
		exit.Cause = TimedOut
	default:
		exit.Cause = Cancelled
	}
	return exit, nil
}

// Command is one run of a tool.
type Command struct {
	// Args are the arguments behind the name of the tool. The tool runs in a
	// directory of its own that has Files, and Args name them without a path.
	Args  []string
	Files []File
	// Collect names files that the tool may write there, which Exit is to have.
	Collect []string
	Limits  Limits
	// Stdout and Stderr get the output as it comes, each from one goroutine at a
	// time; nil discards it. An error of theirs ends the run.
	Stdout, Stderr io.Writer
}

// File is a file of a run.
type File struct {
	Name string // without a path
	Data []byte
}

// Limits are what a run may use; zero is no limit.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes
	CPUs   float64
}

// Exit is how a run ended.
type Exit struct {
	// Code is the exit status of the tool, -1 if it has none: a tool that was
	// killed by a signal has none, or 128 plus the signal's number.
	Code int
	// Cause is what ended the run before the tool did, if anything.
	Cause   Cause
	Files   []File // those of Command.Collect that are there
	Elapsed time.Duration
}

// Cause is what ended a run, if not the tool itself.
type Cause string

// The causes.
const (
	Finished    Cause = ""
	TimedOut    Cause = "time limit"     // Limits.Time
	OutOfMemory Cause = "memory limit"   // Limits.Memory, said so by the system; 137 alone is not
	Killed      Cause = "killed"         // a signal that this program did not send
	Cancelled   Cause = "interrupted"    // the context
	Lost        Cause = "lost"           // the container or the daemon went away
	Refused     Cause = "output refused" // Stdout or Stderr returned an error
)

// FromOutside reports whether an exit code, 128 and the number of a signal, means
// one that processes get from others; a crash is the tool's own end.
func FromOutside(code int) bool {
	switch code - 128 {
	case 1, 2, 9, 15: // HUP, INT, KILL, TERM
		return true
	}
	return false
}
