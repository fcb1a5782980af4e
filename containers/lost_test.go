package containers

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"tilecheck/internal/needs"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestLost takes the engine away from runs: its connection is cut for a moment,
// or its output stops in the middle while the tool goes on.
func TestLost(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	atByte := func(k int64) func(*testing.T, *line, *Pool) (runner.Exit, string, error) {
		return func(t *testing.T, n *line, p *Pool) (runner.Exit, string, error) { return n.cutAfter(t, p, k) }
	}
	t.Run("all", func(t *testing.T) {
		for i, f := range []struct {
			name string
			run  func(*testing.T, *line, *Pool) (runner.Exit, string, error)
			said string
		}{
			{"restart", restart, "x"},
			{"cut at a frame", atByte(8 + 3), "xyz"},
			{"cut in a frame", atByte(8 + 2), "xy"},
			{"cut in the head of a frame", atByte(5), ""},
		} {
			t.Run(f.name, func(t *testing.T) {
				if i%2 == 1 {
					needs.Full(t)
				}
				t.Parallel()
				n := l.newLine(t)
				p := l.poolOf(t, n.Docker, Options{})
				for i := range repeat() {
					exit, out, err := f.run(t, n, p)
					if err != nil || exit.Cause != runner.Lost || out != f.said {
						t.Errorf("run %d: exit %d, cause %q, %v, printed %q; want %q, %q", i, exit.Code, exit.Cause, err, out, runner.Lost, f.said)
					}
					if ids := l.ids(t, n.session.id); len(ids) > 0 {
						t.Errorf("run %d: left behind: %q", i, ids)
					}
				}
			})
		}
	})
}

func restart(t *testing.T, n *line, p *Pool) (runner.Exit, string, error) {
	return atOutput(t.Context(), p, func() {
		n.cut()
		time.AfterFunc(200*time.Millisecond, n.mend)
	})
}

// cutAfter runs a tool whose output ends after so many bytes of Docker's stream,
// while the tool goes on.
func (n *line) cutAfter(t *testing.T, p *Pool, bytes int64) (runner.Exit, string, error) {
	t.Helper()
	if _, err := p.Run(t.Context(), command("say", "warm")); err != nil { // a warm container: nothing else is hijacked
		t.Fatal(err)
	}
	n.limit(bytes)
	defer n.limit(-1)
	w := &when{do: func() {}}
	c := command("say", "xyz", "sleep", "1h")
	c.Stdout = w
	exit, err := p.Run(t.Context(), c)
	return exit, w.String(), err
}

// TestLostBetweenRuns takes warm containers away while nothing runs: the next
// run starts another.
func TestLostBetweenRuns(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	l := newLab(t)
	n := l.newLine(t)
	p := l.poolOf(t, n.Docker, Options{})
	for range 3 {
		if exit, err := p.Run(t.Context(), command("exit", "7")); err != nil || exit.Code != 7 {
			t.Fatalf("exit %v, %v", exit, err)
		}
		for _, id := range l.ids(t, n.session.id) {
			if err := l.remove(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	n.cut()
	_, err := p.Run(t.Context(), command("exit", "7"))
	if f, ok := errors.AsType[*result.Failure](err); !ok || !strings.Contains(f.Message, "Docker does not answer") {
		t.Errorf("error %v, want a failure that says that Docker does not answer", err)
	}
	n.mend()
	if exit, err := p.Run(t.Context(), command("exit", "7")); err != nil || exit.Code != 7 {
		t.Errorf("after the engine is back: exit %v, %v", exit, err)
	}
}

// TestUnreachable asks an engine that is not there.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, err := client.New(client.WithHost("unix://" + filepath.Join(t.TempDir(), "nothing.sock")))
	if err != nil {
		t.Fatal(err)
	}
	l.provider.SetClient(c)
	defer l.provider.SetClient(l.client)
	_, err = open(t.Context(), l.provider)
	f, ok := errors.AsType[*result.Failure](err)
	if !ok {
		t.Fatalf("error %v, want a failure", err)
	}
	for _, want := range []string{"Docker does not answer", "systemctl start docker", "DOCKER_HOST"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("message %q does not say %q", f.Message, want)
		}
	}
}

func TestMissingImage(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	tool := fake()
	tool.Missing = func(image string) string { return "make " + image + " with tilecheck" }
	_, err := NewPool(t.Context(), l.Docker, Options{Tool: tool, Image: "tilecheck-test/nothing:1"})
	if f, ok := errors.AsType[*result.Failure](err); !ok || f.Message != "there is no image tilecheck-test/nothing:1 of faketool on this machine; make tilecheck-test/nothing:1 with tilecheck" {
		t.Errorf("error %v", err)
	}
}

// TestStuck ends a run whose limit inside the container does not work.
func TestStuck(t *testing.T) {
	t.Parallel()
	needs.NotShort(t, "takes as long as the limits")
	l := newLab(t)
	tool := fake()
	tool.Env = map[string]string{"FAKETOOL_TIMEOUT": "never"}
	p := l.pool(t, Options{Tool: tool})
	c := command("sleep", "1h")
	c.Limits.Time = 100 * time.Millisecond
	if exit, err := p.Run(t.Context(), c); err != nil || exit.Cause != runner.TimedOut || exit.Code != -1 {
		t.Errorf("exit %v, %v; want %q", exit, err, runner.TimedOut)
	}
}
