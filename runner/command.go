package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Commander runs a tool in a container or on this machine, or repeats a recorded
// run. Implementations are safe for concurrent use.
type Commander interface {
	// Run runs the tool once. If the tool fails, is killed or reaches a limit, the
	// Exit says so. The error is that of the context, or a *result.Failure that
	// says why the tool could not be started and what to do about it. Run always
	// removes the processes and files of the run before it returns.
	Run(ctx context.Context, c Command) (Exit, error)
	// Where returns the image with its digest, or the path of the program.
	Where() string
}

// Run runs a tool. If the context ends, Run returns no error: exit.Cause says how the context ended.
func Run(ctx context.Context, tool Commander, command Command) (Exit, error) {
	exit, err := tool.Run(ctx, command)
	switch contextErr := ctx.Err(); {
	case contextErr == nil:
		return exit, err
	case errors.Is(contextErr, context.DeadlineExceeded):
		exit.Cause = TimedOut
	default:
		exit.Cause = Cancelled
	}
	return exit, nil
}

// Command is one run of a tool.
type Command struct {
	// Args are the arguments after the name of the tool. The tool runs in a
	// directory of its own with Files; Args name them without a path.
	Args  []string
	Files []File
	// Collect names files that the tool may write there. Exit.Files has them.
	Collect []string
	Limits  Limits
	// Stdout and Stderr get the output immediately, each from one goroutine at a
	// time; nil discards it. If one returns an error, the run ends.
	Stdout, Stderr io.Writer
}

// File is a file of a run.
type File struct {
	Name string // without a path
	Data []byte
}

// Limits limit a run; zero is no limit.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes
	CPUs   float64
}

// Exit says how a run ended.
type Exit struct {
	// Code is the exit status of the tool. If a signal killed the tool, it is -1 or
	// 128 plus the signal's number.
	Code int
	// Cause says why the run ended before the tool did.
	Cause   Cause
	Files   []File // the files of Command.Collect that exist
	Elapsed time.Duration
}

// Status returns the exit status and the cause, such as "exit status 137, memory limit".
func (e *Exit) Status() string {
	text := fmt.Sprintf("exit status %d", e.Code)
	if e.Cause != Finished {
		text += ", " + string(e.Cause)
	}
	return text
}

// Cause says why a run ended, if the tool did not end by itself.
type Cause string

// The causes.
const (
	Finished    Cause = ""
	TimedOut    Cause = "time limit"     // Limits.Time
	OutOfMemory Cause = "memory limit"   // Limits.Memory, if the system reports it; exit code 137 is not enough
	Killed      Cause = "killed"         // a signal that this program did not send
	Cancelled   Cause = "interrupted"    // the context
	Lost        Cause = "lost"           // the container or the daemon went away
	Refused     Cause = "output refused" // Stdout or Stderr returned an error
)

// FromOutside reports whether an exit code of 128 plus the number of a signal means
// a signal that other processes send. The signals of a crash come from the tool itself.
func FromOutside(code int) bool {
	switch code - 128 {
	case 1, 2, 9, 15: // HUP, INT, KILL, TERM
		return true
	}
	return false
}
