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

// Tool is a program on this machine. Each run has a group of processes of its own,
// and a directory unless the tool is In one; they are gone when it returns. Limits.Memory and
// Limits.CPUs are not enforced here: tools are told the first.
type Tool struct {
	path  string
	dir   string   // to run in, empty for one of each run's own
	env   []string // besides ours
	meter Meter    // nil counts nothing
}

// Meter counts what the processes of a run use.
type Meter interface {
	// Enter is called before a process is started with these attributes, on the thread that starts it; leave is called after that.
	Enter(attributes *syscall.SysProcAttr) (leave func() error, err error)
	// Started is called when the process has been started.
	Started(process *os.Process)
	// Kill ends the processes of the run that are left, also those that left its process group.
	Kill() error
	// Ended is called when every process of the run that can be waited for has ended.
	Ended(state *os.ProcessState)
}

var _ runner.Commander = (*Tool)(nil)

// New returns the tool with a path, or a name on PATH. The error is for the user if there is no such program.
func New(path string) (*Tool, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s: no such program; want the path of an executable file", path)}
	}
	if found, err = filepath.Abs(found); err != nil {
		return nil, err
	}
	return &Tool{path: found}, nil
}

// In returns the tool with a directory to run in, which is left as it is then and
// gets no Files, and with more variables in its environment.
func (t *Tool) In(dir string, env ...string) *Tool { return &Tool{t.path, dir, env, t.meter} }

// Measured returns the tool with a meter for its runs.
func (t *Tool) Measured(meter Meter) *Tool { return &Tool{t.path, t.dir, t.env, meter} }

// Where returns the path.
func (t *Tool) Where() string { return t.path }

const (
	// killDelay is how long a tool may take to end after it was asked to.
	killDelay = 250 * time.Millisecond
	// outputDelay is how long the last output of a tool that has ended may take to be read.
	outputDelay = 3 * time.Second
	// grace is what a tool gets beyond its own time limit, to say so itself.
	grace = 500 * time.Millisecond
)

// Run implements runner.Commander.
func (t *Tool) Run(ctx context.Context, c runner.Command) (exit runner.Exit, err error) {
	return t.start(ctx, c, nil)
}

// start is Run with a file as standard input; nil for empty input.
func (t *Tool) start(ctx context.Context, c runner.Command, stdin *os.File) (exit runner.Exit, err error) {
	dir := t.dir
	if dir == "" {
		var remove func() error
		if dir, remove, err = tempdir.Make(ctx); err != nil {
			return exit, err
		}
		defer func() { err = errors.Join(err, remove()) }()
	} else if len(c.Files) > 0 {
		return exit, fmt.Errorf("%d files to write, want none in a directory that the caller chose", len(c.Files))
	}
	for _, f := range c.Files {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f.Name)), f.Data, 0o600); err != nil {
			return exit, err
		}
	}
	limited, cancel := context.WithCancel(ctx) // cancelled when c.Stdout returns an error
	defer cancel()
	if c.Limits.Time > 0 {
		limited, cancel = context.WithTimeout(limited, c.Limits.Time+grace)
		defer cancel()
	}
	start := time.Now()
	out := &guard{w: c.Stdout, stop: cancel}
	exit.Code, err = t.run(limited, dir, c, stdin, out)
	exit.Elapsed = time.Since(start)
	exit.Files = collect(dir, c.Collect)
	switch {
	case out.err != nil:
		exit.Cause = runner.Refused
	case ctx.Err() != nil:
		exit.Cause = runner.Cancelled
		return exit, ctx.Err()
	case limited.Err() != nil:
		exit.Cause = runner.TimedOut
	case runner.FromOutside(exit.Code) && err == nil:
		exit.Cause = runner.Killed
	}
	return exit, err
}

// run runs the tool in a directory and returns its exit code: 128 plus the number of the signal if a signal ended it. When the context ends, it asks
// the tool and its child processes to end, and kills them after a delay.
func (t *Tool) run(ctx context.Context, dir string, c runner.Command, stdin *os.File, out *guard) (int, error) {
	runtime.LockOSThread() // the tool is killed when the thread that started it ends, see follow
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, t.path, c.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, c.Stderr
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if len(t.env) > 0 {
		cmd.Env = append(os.Environ(), t.env...)
	}
	// A tool may be a script that starts other programs. All of them must end.
	var all tree
	all.prepare(cmd)
	var kill sync.Once // a second kill could hit other processes, because the system uses process IDs again
	var killed error
	end := func() { kill.Do(func() { killed = errors.Join(all.kill(cmd.Process), t.killMeasured()) }) }
	cmd.Cancel = func() error {
		time.AfterFunc(killDelay, end)
		return all.ask(cmd.Process)
	}
	cmd.WaitDelay = outputDelay
	if err := t.startMeasured(&all, cmd); err != nil {
		return -1, &result.Failure{Class: result.Other, Message: fmt.Sprintf("cannot start %s: %v", t.path, err)}
	}
	defer ending.OnExit(ctx, end)()
	err := cmd.Wait()
	if t.meter != nil {
		t.meter.Ended(cmd.ProcessState)
	}
	// Kill child processes that have ignored the request to end.
	if end(); killed != nil {
		return -1, killed
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed || err == nil || ctx.Err() != nil || out.err != nil {
		return all.code(cmd.ProcessState), nil
	}
	return -1, err
}

// startMeasured starts the tool, with its meter if it has one.
func (t *Tool) startMeasured(all *tree, cmd *exec.Cmd) error {
	if t.meter == nil {
		return all.start(cmd)
	}
	leave, err := t.meter.Enter(cmd.SysProcAttr)
	if err != nil {
		return err
	}
	if err := errors.Join(all.start(cmd), leave()); err != nil {
		return err
	}
	t.meter.Started(cmd.Process)
	return nil
}

// killMeasured ends the processes that only the meter knows.
func (t *Tool) killMeasured() error {
	if t.meter == nil {
		return nil
	}
	return t.meter.Kill()
}

// guard ends a run whose output is refused.
type guard struct {
	w    io.Writer
	stop func()
	err  error
}

func (g *guard) Write(b []byte) (int, error) {
	if g.w == nil || g.err != nil {
		return len(b), nil
	}
	n, err := g.w.Write(b)
	if err != nil {
		g.err = err
		g.stop()
	}
	return n, err
}

// collect reads the files of a list that exist and can be read.
func collect(dir string, names []string) []runner.File {
	var out []runner.File
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			continue
		}
		out = append(out, runner.File{Name: name, Data: data})
	}
	return out
}
