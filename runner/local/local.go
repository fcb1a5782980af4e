// Package local runs tools that are installed on this machine.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/internal/tempdir"
	"tilecheck/result"
	"tilecheck/runner"
)

// Tool is a program on this machine. Each run has a process group of its own and, unless In
// chose a directory, a temporary directory. Both are gone when the run returns. Tool enforces neither
// Limits.Memory nor Limits.CPUs: the memory limit is an argument of the tool.
type Tool struct {
	path  string
	dir   string   // the directory of all runs; empty if each run has its own
	env   []string // variables that are added to the environment of this process
	meter Meter    // nil if nothing is measured
}

// Meter measures the time and memory that the processes of a run use.
type Meter interface {
	// Enter is called before a process is started with these attributes, on the thread that starts it; leave is called after that.
	Enter(attributes *syscall.SysProcAttr) (leave func() error, err error)
	// Started is called when the process has been started.
	Started(process *os.Process)
	// Kill ends the remaining processes of the run, also processes that left its process group.
	Kill() error
	// Ended is called when all processes of the run for which this process can wait have ended.
	Ended(state *os.ProcessState)
}

var _ runner.Commander = (*Tool)(nil)

// New returns the tool with a path, or a name on PATH. The error is for the user if there is no such program.
func New(path string) (*Tool, error) {
	absolutePath, err := exec.LookPath(path)
	if err != nil {
		return nil, &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s: no such program; want the path of an executable file", path)}
	}
	if absolutePath, err = filepath.Abs(absolutePath); err != nil {
		return nil, err
	}
	return &Tool{path: absolutePath}, nil
}

// In returns the tool with a directory in which it runs, and with additional variables of its environment. The run gets no Command.Files and removes
// nothing from the directory.
func (t *Tool) In(dir string, env ...string) *Tool { return &Tool{t.path, dir, env, t.meter} }

// Measured returns the tool with a meter that measures its runs.
func (t *Tool) Measured(meter Meter) *Tool { return &Tool{t.path, t.dir, t.env, meter} }

// Where returns the path of the program.
func (t *Tool) Where() string { return t.path }

const (
	// killDelay is the time that a tool has to end after the request to end.
	killDelay = 250 * time.Millisecond
	// outputDelay is the time for reading the last output of a tool that has ended.
	outputDelay = 3 * time.Second
	// grace is the time beyond its own time limit in which a tool can report that it reached the limit.
	grace = 500 * time.Millisecond
)

// Run implements runner.Commander.
func (t *Tool) Run(ctx context.Context, command runner.Command) (exit runner.Exit, err error) {
	return t.start(ctx, command, nil)
}

// start runs the tool with a file as standard input; nil means empty input. It makes a directory for the run if In did not choose one. It stops the
// tool at the time limit, and when the writer of the output returns an error.
func (t *Tool) start(ctx context.Context, command runner.Command, stdin *os.File) (exit runner.Exit, err error) {
	dir := t.dir
	if dir == "" {
		var remove func() error
		if dir, remove, err = tempdir.Make(ctx); err != nil {
			return exit, err
		}
		defer func() { err = errors.Join(err, remove()) }()
	} else if len(command.Files) > 0 {
		return exit, fmt.Errorf("%d files to write, want none in a directory that the caller chose", len(command.Files))
	}
	for _, file := range command.Files {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file.Name)), file.Data, 0o600); err != nil {
			return exit, err
		}
	}
	limitedContext, cancel := context.WithCancel(ctx) // cancelled when c.Stdout returns an error
	defer cancel()
	if command.Limits.Time > 0 {
		limitedContext, cancel = context.WithTimeout(limitedContext, command.Limits.Time+grace)
		defer cancel()
	}
	start := time.Now()
	output := &guard{w: command.Stdout, stop: cancel}
	exit.Code, err = t.run(limitedContext, dir, command, stdin, output)
	exit.Elapsed = time.Since(start)
	exit.Files = collect(dir, command.Collect)
	switch {
	case output.err != nil:
		exit.Cause = runner.Refused
	case ctx.Err() != nil:
		exit.Cause = runner.Cancelled
		return exit, ctx.Err()
	case limitedContext.Err() != nil:
		exit.Cause = runner.TimedOut
	case runner.FromOutside(exit.Code) && err == nil:
		exit.Cause = runner.Killed
	}
	return exit, err
}

// run runs the tool in a directory and returns its exit code: 128 plus the number of the signal if a signal ended it. When the context ends, it asks
// the tool and its child processes to end, and kills them after a delay.
func (t *Tool) run(ctx context.Context, dir string, command runner.Command, stdin *os.File, output *guard) (int, error) {
	runtime.LockOSThread() // the tool is killed when the thread that started it ends, see follow
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, t.path, command.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, command.Stderr
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if len(t.env) > 0 {
		cmd.Env = append(os.Environ(), t.env...)
	}
	// A tool may be a script that starts other programs. All of them must end.
	var processes tree
	processes.prepare(cmd)
	var kill sync.Once // a second kill could hit other processes, because the system uses process IDs again
	var killed error
	killOnce := func() { kill.Do(func() { killed = errors.Join(processes.kill(cmd.Process), t.killMeasured()) }) }
	cmd.Cancel = func() error {
		time.AfterFunc(killDelay, killOnce)
		return processes.ask(cmd.Process)
	}
	cmd.WaitDelay = outputDelay
	if err := t.startMeasured(&processes, cmd); err != nil {
		return -1, &result.Failure{Class: result.Other, Message: fmt.Sprintf("cannot start %s: %v", t.path, err)}
	}
	defer ending.OnExit(ctx, killOnce)()
	err := cmd.Wait()
	if t.meter != nil {
		t.meter.Ended(cmd.ProcessState)
	}
	// Kill child processes that have ignored the request to end.
	if killOnce(); killed != nil {
		return -1, killed
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed || err == nil || ctx.Err() != nil || output.err != nil {
		return processes.code(cmd.ProcessState), nil
	}
	return -1, err
}

// startMeasured starts the tool and its meter, if it has one.
func (t *Tool) startMeasured(processes *tree, cmd *exec.Cmd) error {
	if t.meter == nil {
		return processes.start(cmd)
	}
	leave, err := t.meter.Enter(cmd.SysProcAttr)
	if err != nil {
		return err
	}
	if err := errors.Join(processes.start(cmd), leave()); err != nil {
		return err
	}
	t.meter.Started(cmd.Process)
	return nil
}

// killMeasured ends the processes of the run that only the meter knows.
func (t *Tool) killMeasured() error {
	if t.meter == nil {
		return nil
	}
	return t.meter.Kill()
}

// guard passes the output of a run to a writer. It stops the run if the writer returns an error.
type guard struct {
	w    io.Writer
	stop func()
	err  error
}

func (g *guard) Write(data []byte) (int, error) {
	if g.w == nil || g.err != nil {
		return len(data), nil
	}
	written, err := g.w.Write(data)
	if err != nil {
		g.err = err
		g.stop()
	}
	return written, err
}

// collect returns the named files of a directory. It omits files that it cannot read.
func collect(dir string, names []string) []runner.File {
	var files []runner.File
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			continue
		}
		files = append(files, runner.File{Name: name, Data: data})
	}
	return files
}
