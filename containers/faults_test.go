package containers

import (
	"bytes"
	"context"
	"errors"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"tilecheck/internal/needs"
	"tilecheck/runner"
)

// fault is one way for a run to end, and what has to be said of it.
type fault struct {
	name string
	run  func(t *testing.T, l lab, p *Pool) (runner.Exit, string, error)
	want runner.Exit // Code and Cause
	said string      // on standard output: a prefix
	jobs int         // at a time, where most of the time is waiting; 0 is 1
}

// repeat is how often each fault is made, a multiple of waiting. Once is not
// enough: the second time is in a container that was used before.
func repeat() int {
	if needs.IsLong() {
		return 20
	}
	return 2
}

// TestFaults makes every fault again and again, in containers that other runs
// were in before, and checks what is said of it and that nothing is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	t.Run("all", func(t *testing.T) {
		for i, f := range faults() {
			t.Run(f.name, func(t *testing.T) {
				if i%3 > 0 { // a second of waiting for the daemon
					needs.Full(t)
				}
				t.Parallel()
				p := l.pool(t, Options{Jobs: max(f.jobs, 1)})
				var wg sync.WaitGroup
				for range max(f.jobs, 1) {
					wg.Go(func() {
						for i := range repeat() / max(f.jobs, 1) {
							f.check(t, l, p, i)
						}
					})
				}
				wg.Wait()
			})
		}
	})
}

func (f *fault) check(t *testing.T, l lab, p *Pool, i int) {
	exit, out, err := f.run(t, l, p)
	if err != nil {
		t.Errorf("run %d: %v", i, err)
		return
	}
	if exit.Cause == runner.Killed && exit.Code == 128+9 && f.want.Code == -1 {
		exit.Code = -1 // the engine may still know the status
	}
	if exit.Cause == runner.TimedOut && exit.Code == -1 && exit.Elapsed >= waitLimit+grace+endAfter {
		exit.Code = f.want.Code // the machine was so busy that the last of the three limits came first
	}
	if exit.Code != f.want.Code || exit.Cause != f.want.Cause {
		t.Errorf("run %d: exit %d, cause %q; want %d, %q", i, exit.Code, exit.Cause, f.want.Code, f.want.Cause)
	}
	if !strings.HasPrefix(out, f.said) {
		t.Errorf("run %d: printed %.80q, want %q", i, out, f.said)
	}
}

func faults() []fault {
	return []fault{
		{name: "success", run: plain("say", "done\n"), want: runner.Exit{}, said: "done\n"},
		{name: "exit status", run: plain("say", "x", "exit", "3"), want: runner.Exit{Code: 3}, said: "x"},
		{name: "crash", run: plain("say", "x", "signal", "6"), want: runner.Exit{Code: 128 + 6}, said: "x"},
		{name: "tool killed", run: plain("say", "x", "signal", "9"), want: runner.Exit{Code: 128 + 9, Cause: runner.Killed}, said: "x"},
		{name: "tool terminated", run: plain("say", "x", "signal", "15"), want: runner.Exit{Code: 128 + 15, Cause: runner.Killed}, said: "x"},
		{name: "out of memory", run: plain("say", "x", "eat", "1000000000"), want: runner.Exit{Code: 128 + 9, Cause: runner.OutOfMemory}, said: "x"},
		{name: "child out of memory", run: plain("say", "x", "spawn-eat", "1000000000", "exit", "5"), want: runner.Exit{Code: 5, Cause: runner.OutOfMemory}, said: "x"},
		{name: "child out of memory survived", run: plain("spawn-eat", "1000000000", "say", "x"), want: runner.Exit{}, said: "x"},
		{name: "hang", run: within(waitLimit, "say", "x", "sleep", "1h"), want: runner.Exit{Code: 124, Cause: runner.TimedOut}, jobs: waiting},
		{name: "hang that ignores signals", run: within(waitLimit, "stubborn", "say", "x", "sleep", "1h"), want: runner.Exit{Code: 128 + 9, Cause: runner.TimedOut}, jobs: waiting},
		{name: "container killed", run: killed, want: runner.Exit{Code: -1, Cause: runner.Killed}, said: "x"},
		{name: "container removed", run: removed, want: runner.Exit{Code: -1, Cause: runner.Killed}, said: "x"},
		{name: "context cancelled", run: cancelled, want: runner.Exit{Code: -1, Cause: runner.Cancelled}, said: "x"},
		{name: "output refused", run: refusedOutput, want: runner.Exit{Code: -1, Cause: runner.Refused}},
		{name: "flood", run: flooded, want: runner.Exit{}},
	}
}

// waiting is how many runs wait for a limit at a time.
const waiting = 2

// waitLimit is the limit that they wait for.
const waitLimit = 200 * time.Millisecond

func plain(args ...string) func(*testing.T, lab, *Pool) (runner.Exit, string, error) {
	return within(time.Minute, args...)
}

func within(limit time.Duration, args ...string) func(*testing.T, lab, *Pool) (runner.Exit, string, error) {
	return func(t *testing.T, _ lab, p *Pool) (runner.Exit, string, error) {
		var out bytes.Buffer
		c := command(args...)
		c.Limits.Time, c.Stdout = limit, &out
		exit, err := p.Run(t.Context(), c)
		return exit, out.String(), err
	}
}

// atOutput runs a tool that hangs and does something at its first output.
func atOutput(ctx context.Context, p *Pool, do func()) (runner.Exit, string, error) {
	c := command("say", "x", "sleep", "1h")
	w := &when{do: do}
	c.Stdout = w
	exit, err := p.Run(ctx, c)
	return exit, w.String(), err
}

func killed(t *testing.T, l lab, p *Pool) (runner.Exit, string, error) {
	return atOutput(t.Context(), p, func() {
		for _, id := range l.ids(t, p.docker.session.id) {
			if _, err := l.client.ContainerKill(t.Context(), id, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
				t.Error(err)
			}
		}
	})
}

func removed(t *testing.T, l lab, p *Pool) (runner.Exit, string, error) {
	return atOutput(t.Context(), p, func() {
		for _, id := range l.ids(t, p.docker.session.id) {
			if err := l.remove(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
	})
}

func cancelled(t *testing.T, _ lab, p *Pool) (runner.Exit, string, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return atOutput(ctx, p, cancel)
}

var errFull = errors.New("full")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func refusedOutput(t *testing.T, _ lab, p *Pool) (runner.Exit, string, error) {
	c := command("flood", "1000000", "sleep", "1h")
	c.Stdout = fullWriter{}
	exit, err := p.Run(t.Context(), c)
	return exit, "", err
}

// counter counts bytes and notes the most memory that was in use meanwhile.
type counter struct {
	bytes int64
	calls int
	peak  uint64
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	if c.calls++; c.calls%500 == 0 {
		c.peak = max(c.peak, inUse())
	}
	return len(p), nil
}

func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func flooded(t *testing.T, _ lab, p *Pool) (runner.Exit, string, error) {
	const size, slack = 200 << 20, 64 << 20
	c := command("flood", strconv.Itoa(size))
	w := &counter{}
	c.Stdout = w
	before := inUse()
	exit, err := p.Run(t.Context(), c)
	if w.bytes != size {
		t.Errorf("%d bytes of output, want %d", w.bytes, size)
	}
	if w.peak > before+slack {
		t.Errorf("%d MB in use, %d MB before: the output is kept in memory", w.peak>>20, before>>20)
	}
	return exit, "", err
}
