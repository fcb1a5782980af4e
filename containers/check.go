package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"tilecheck/runner"
)

// Check runs the tool once in the container, as runner.Commander describes. If
// the container is busy, Check waits for its turn. The container keeps the limits
// of memory and CPUs that it was started with; cmd.Limits.Memory only affects the
// arguments of the tool.
//
// If ctx ends during the run, Check returns an Exit with runner.Cancelled and no
// error, so that the output until then counts.
func (c *Container) Check(ctx context.Context, cmd runner.Command) (runner.Exit, error) {
	exit, _, err := c.check(ctx, cmd)
	return exit, err
}

// check is Check. It also reports whether the tool was started.
func (c *Container) check(ctx context.Context, cmd runner.Command) (_ runner.Exit, started bool, _ error) {
	if err := checkNames(cmd); err != nil {
		return runner.Exit{}, false, err
	}
	c.busy.Lock()
	defer c.busy.Unlock()
	if err := ctx.Err(); err != nil {
		return runner.Exit{}, false, err
	}
	if c.ended.Load() {
		return runner.Exit{}, false, failure("the container of %s has ended", c.tool.Name)
	}
	run, err := c.startRun(ctx, cmd)
	if err != nil {
		_ = c.Terminate(ctx) // err is reported; Docker.Close removes the container if Terminate fails
		return runner.Exit{}, false, c.startError(ctx, err)
	}
	exit := run.wait(ctx)
	isMissing := exit.Cause == runner.Finished && (exit.Code == 126 || exit.Code == 127)
	if exit.Cause != runner.Finished || isMissing {
		_ = c.Terminate(ctx) // the exit already has a cause; Docker.Close tries the removal again
	}
	if isMissing {
		return runner.Exit{}, true, failure("image %s has no program %s that could be run: %s", c.image, c.tool.Program[0], run.stderrStart.text())
	}
	return exit, true, nil
}

// startError returns the error of a run that could not be started: the error of the context if it has ended, otherwise a failure for the user.
func (c *Container) startError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return classify("run "+c.tool.Name+" in a container of "+c.image.String(), err)
}

// run is a started command.
type run struct {
	*Container
	cmd         runner.Command
	dir, execID string
	stream      client.HijackedResponse
	started     time.Time
	stderrStart prefixBuffer
}

// startRun copies the files of a command into a new folder in the container and starts the tool there.
func (c *Container) startRun(ctx context.Context, cmd runner.Command) (*run, error) {
	c.runs++
	newRun := &run{Container: c, cmd: cmd, dir: runDir(c.runs)}
	files, err := archive(fmt.Sprint(c.runs), cmd.Files)
	if err != nil {
		return nil, err
	}
	c.bytes += int64(files.Len())
	id := c.GetContainerID()
	if _, err := c.docker.client.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: workDir, Content: files}); err != nil {
		return nil, err
	}
	exec, err := c.docker.client.ExecCreate(ctx, id, client.ExecCreateOptions{
		Cmd: c.tool.argv(cmd), WorkingDir: newRun.dir, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, err
	}
	newRun.execID, newRun.started = exec.ID, time.Now()
	attached, err := c.docker.client.ExecAttach(ctx, exec.ID, client.ExecAttachOptions{})
	newRun.stream = attached.HijackedResponse
	return newRun, err
}

// wait copies the output until the run ends, is cancelled or exceeds its time limit. It returns the exit of the run, with the files to collect.
func (r *run) wait(ctx context.Context) runner.Exit {
	outputDone := make(chan error, 1)
	go func() { outputDone <- demultiplex(r.cmd.Stdout, r.stderr(), r.stream.Reader) }()
	var timeLimit <-chan time.Time
	if limit := r.cmd.Limits.Time; limit > 0 {
		timer := time.NewTimer(limit + grace + endAfter)
		defer timer.Stop()
		timeLimit = timer.C
	}
	var exit runner.Exit
	select {
	case err := <-outputDone:
		exit = r.exitOf(ctx, err)
	case <-ctx.Done():
		exit = r.kill(ctx, outputDone, runner.Cancelled)
	case <-timeLimit:
		exit = r.kill(ctx, outputDone, runner.TimedOut)
	}
	r.stream.Close()
	if exit.Cause != runner.Cancelled && exit.Cause != runner.Lost {
		r.collectFiles(ctx, &exit)
	}
	return exit
}

// stderr returns the writer for standard error, which also keeps the beginning.
func (r *run) stderr() io.Writer {
	if r.cmd.Stderr == nil {
		return &r.stderrStart
	}
	return io.MultiWriter(&r.stderrStart, r.cmd.Stderr)
}

// kill removes the container, with all processes of the run, and waits for the rest of the output. It returns an exit with the given cause.
func (r *run) kill(ctx context.Context, outputDone <-chan error, cause runner.Cause) runner.Exit {
	exit := runner.Exit{Code: -1, Cause: cause, Elapsed: time.Since(r.started)}
	_ = r.Terminate(ctx)
	select {
	case <-outputDone:
	case <-time.After(settleTime):
		r.stream.Close()
		<-outputDone
	}
	return exit
}

// collectFiles adds the files of Command.Collect to the exit, if the container still exists. It sets the cause of the exit if it cannot read them.
func (r *run) collectFiles(ctx context.Context, exit *runner.Exit) {
	if r.ended.Load() || len(r.cmd.Collect) == 0 {
		return
	}
	collected, err := r.collect(ctx, r.dir, r.cmd.Collect)
	exit.Files = collected
	switch {
	case err == nil:
	case ctx.Err() != nil:
		exit.Cause = runner.Cancelled
	case exit.Cause == runner.Finished:
		exit.Cause = runner.Lost // the tool finished, but its files are missing
	}
}

// exitOf returns the exit of a run whose output has ended. copyErr is the error of copying the output, nil at its end.
func (r *run) exitOf(ctx context.Context, copyErr error) runner.Exit {
	exit := runner.Exit{Code: -1, Elapsed: time.Since(r.started)}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	if _, ok := errors.AsType[*writeError](copyErr); ok {
		exit.Cause = runner.Refused
		return exit
	}
	exit.Code, exit.Cause = r.status(ctx)
	switch {
	case exit.Cause == runner.Lost:
		return exit
	case copyErr != nil && exit.Cause == runner.Finished:
		exit.Cause = runner.Lost // the end of the output is missing
		return exit
	}
	exit.Cause = r.cause(ctx, exit)
	if exit.Cause == runner.Killed && r.docker.shuttingDown(ctx) {
		exit.Cause = runner.Lost // the engine takes its containers down with it
	}
	return exit
}

// settleTime is how long the engine may take, after the end of the output, to
// report the exit status or a lack of memory.
const settleTime = time.Second

// status returns the exit status of the run and the cause runner.Finished. If the engine reports no status, the code is -1. The cause is then
// runner.Killed if the container has ended. Otherwise it is runner.Lost: the tool may still run, but its output has ended.
func (r *run) status(ctx context.Context) (int, runner.Cause) {
	for start := time.Now(); ; {
		inspected, err := r.docker.client.ExecInspect(ctx, r.execID, client.ExecInspectOptions{})
		switch {
		case errdefs.IsNotFound(err):
			return -1, runner.Killed
		case err != nil:
			return -1, runner.Lost
		case !inspected.Running && inspected.PID == 0:
			return inspected.ExitCode, r.causeWithoutProcess(inspected.ExitCode)
		case !inspected.Running:
			return inspected.ExitCode, runner.Finished
		}
		if time.Since(start) > settleTime || !pause(ctx, pollEvery/10) {
			break
		}
	}
	if inspected, err := r.docker.client.ContainerInspect(ctx, r.GetContainerID(), client.ContainerInspectOptions{}); errdefs.IsNotFound(err) || err == nil && !inspected.Container.State.Running {
		return -1, runner.Killed
	}
	return -1, runner.Lost
}

// causeWithoutProcess returns the cause for a command that has no process. If Docker could not start the program, the code is not 0.
func (r *run) causeWithoutProcess(code int) runner.Cause {
	if code == 0 {
		return runner.Lost
	}
	return runner.Finished
}

// cause returns why a tool ended, from its exit status, its running time and the kernel's count of killed processes.
func (r *run) cause(ctx context.Context, exit runner.Exit) runner.Cause {
	limit := r.cmd.Limits.Time
	const timedOut, killed = 124, 128 + 9 // timeout(1)
	switch {
	case exit.Code == 0:
		return runner.Finished
	case r.outOfMemory(ctx):
		return runner.OutOfMemory
	case exit.Cause != runner.Finished:
		return exit.Cause
	case limit > 0 && exit.Elapsed >= limit+grace && (exit.Code == timedOut || exit.Code == killed):
		return runner.TimedOut
	case runner.FromOutside(exit.Code):
		return runner.Killed
	}
	return runner.Finished
}

// prefixBuffer keeps the first 512 bytes that are written to it.
type prefixBuffer struct{ data []byte }

func (h *prefixBuffer) Write(p []byte) (int, error) {
	h.data = append(h.data, p[:min(len(p), 512-len(h.data))]...)
	return len(p), nil
}

func (h *prefixBuffer) text() string { return strings.TrimSpace(string(h.data)) }
