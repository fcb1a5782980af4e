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

// Check runs the tool once, as runner.Commander describes it, and waits for its
// turn if the container is busy. Limits.Memory and Limits.CPUs are those the
// container was started with; only their Memory is looked at again, for the
// arguments of the tool.
//
// A run that the context ends after it has begun is an Exit with
// runner.Cancelled, not an error, so that what was printed until then counts.
func (c *Container) Check(ctx context.Context, cmd runner.Command) (runner.Exit, error) {
	exit, _, err := c.check(ctx, cmd)
	return exit, err
}

// check also reports whether the tool was started.
func (c *Container) check(ctx context.Context, cmd runner.Command) (_ runner.Exit, begun bool, _ error) {
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
	run, err := c.begin(ctx, cmd)
	if err != nil {
		_ = c.Terminate(ctx) // as below
		return runner.Exit{}, false, c.notBegun(ctx, err)
	}
	exit := run.finish(ctx)
	absent := exit.Cause == runner.Finished && (exit.Code == 126 || exit.Code == 127)
	if exit.Cause != runner.Finished || absent {
		_ = c.Terminate(ctx) // the cause is told; what cannot be removed now is tried again by Docker.Close
	}
	if absent {
		return runner.Exit{}, true, failure("image %s has no program %s that could be run: %s", c.image, c.tool.Program[0], run.complaint.text())
	}
	return exit, true, nil
}

// notBegun is the error of a run that could not begin.
func (c *Container) notBegun(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return classify("run "+c.tool.Name+" in a container of "+c.image.String(), err)
}

// run is a command that was started.
type run struct {
	*Container
	cmd       runner.Command
	dir, exec string
	stream    client.HijackedResponse
	from      time.Time
	complaint head
}

// begin copies the files in and starts the tool in a folder of its own.
func (c *Container) begin(ctx context.Context, cmd runner.Command) (*run, error) {
	c.runs++
	r := &run{Container: c, cmd: cmd, dir: runDir(c.runs)}
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
		Cmd: c.tool.argv(cmd), WorkingDir: r.dir, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, err
	}
	r.exec, r.from = exec.ID, time.Now()
	attached, err := c.docker.client.ExecAttach(ctx, exec.ID, client.ExecAttachOptions{})
	r.stream = attached.HijackedResponse
	return r, err
}

// finish passes the output on until the run ends or has to be ended, and says
// how it ended.
func (r *run) finish(ctx context.Context) runner.Exit {
	copied := make(chan error, 1)
	go func() { copied <- demultiplex(r.cmd.Stdout, r.stderr(), r.stream.Reader) }()
	var late <-chan time.Time
	if limit := r.cmd.Limits.Time; limit > 0 {
		t := time.NewTimer(limit + grace + endAfter)
		defer t.Stop()
		late = t.C
	}
	var exit runner.Exit
	select {
	case err := <-copied:
		exit = r.judge(ctx, err)
	case <-ctx.Done():
		exit = r.stop(ctx, copied, runner.Cancelled)
	case <-late:
		exit = r.stop(ctx, copied, runner.TimedOut)
	}
	r.stream.Close()
	if exit.Cause != runner.Cancelled && exit.Cause != runner.Lost {
		r.gather(ctx, &exit)
	}
	return exit
}

// stderr also keeps the beginning of what goes to standard error.
func (r *run) stderr() io.Writer {
	if r.cmd.Stderr == nil {
		return &r.complaint
	}
	return io.MultiWriter(&r.complaint, r.cmd.Stderr)
}

// stop kills the container and waits for the last of the output.
func (r *run) stop(ctx context.Context, copied <-chan error, cause runner.Cause) runner.Exit {
	exit := runner.Exit{Code: -1, Cause: cause, Elapsed: time.Since(r.from)}
	_ = r.Terminate(ctx)
	select {
	case <-copied:
	case <-time.After(settle):
		r.stream.Close()
		<-copied
	}
	return exit
}

// gather collects the files that were asked for. Of a container that is gone
// there are none.
func (r *run) gather(ctx context.Context, exit *runner.Exit) {
	if r.ended.Load() || len(r.cmd.Collect) == 0 {
		return
	}
	files, err := r.collect(ctx, r.dir, r.cmd.Collect)
	exit.Files = files
	switch {
	case err == nil:
	case ctx.Err() != nil:
		exit.Cause = runner.Cancelled
	case exit.Cause == runner.Finished:
		exit.Cause = runner.Lost // the tool had finished, its files went away
	}
}

// judge says how a run ended whose output has ended.
func (r *run) judge(ctx context.Context, copied error) runner.Exit {
	exit := runner.Exit{Code: -1, Elapsed: time.Since(r.from)}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	if _, ok := errors.AsType[*refused](copied); ok {
		exit.Cause = runner.Refused
		return exit
	}
	exit.Code, exit.Cause = r.status(ctx)
	switch {
	case exit.Cause == runner.Lost:
		return exit
	case copied != nil && exit.Cause == runner.Finished:
		exit.Cause = runner.Lost // the end of the output is missing
		return exit
	}
	exit.Cause = r.cause(ctx, exit)
	if exit.Cause == runner.Killed && r.docker.leaving(ctx) {
		exit.Cause = runner.Lost // the engine takes its containers down with it
	}
	return exit
}

// settle is how long after the end of the output the engine may take to tell
// what comes on other ways.
const settle = time.Second

// status asks for the exit status. The cause is runner.Finished when there is
// one, runner.Killed when the container ended, and runner.Lost when nobody knows
// or the tool still runs: then the output has ended without it.
func (r *run) status(ctx context.Context) (int, runner.Cause) {
	for begin := time.Now(); ; {
		s, err := r.docker.client.ExecInspect(ctx, r.exec, client.ExecInspectOptions{})
		switch {
		case errdefs.IsNotFound(err):
			return -1, runner.Killed
		case err != nil:
			return -1, runner.Lost
		case !s.Running && s.PID == 0:
			return s.ExitCode, r.neverRan(s.ExitCode)
		case !s.Running:
			return s.ExitCode, runner.Finished
		}
		if time.Since(begin) > settle || !pause(ctx, pollEvery/10) {
			break
		}
	}
	if in, err := r.docker.client.ContainerInspect(ctx, r.GetContainerID(), client.ContainerInspectOptions{}); errdefs.IsNotFound(err) || err == nil && !in.Container.State.Running {
		return -1, runner.Killed
	}
	return -1, runner.Lost
}

// neverRan is for a command without a process: the engine has a status for it
// if the program could not be run.
func (r *run) neverRan(code int) runner.Cause {
	if code == 0 {
		return runner.Lost
	}
	return runner.Finished
}

// cause says why a tool ended, from what status and the clock say.
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

// head keeps the beginning of what is written to it.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), 512-len(h.b))]...)
	return len(p), nil
}

func (h *head) text() string { return strings.TrimSpace(string(h.b)) }
