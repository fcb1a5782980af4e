package containers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"tilecheck/result"
	"tilecheck/runner"
)

func TestRunInAndOut(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.pool(t, Options{})
	for i := range 2 { // the second time in the same container, which keeps nothing
		var out, err bytes.Buffer
		c := command("play", "model.prism", "err", "warning\n", "write", "out.txt", fmt.Sprint("data ", i), "link", "/etc/passwd", "link.txt", "exit", "1")
		c.Files = []runner.File{{Name: "model.prism", Data: []byte("dtmc\n")}}
		c.Collect = []string{"out.txt", "none.txt", "link.txt", "model.prism"}
		c.Stdout, c.Stderr = &out, &err
		exit, failed := p.Run(t.Context(), c)
		if failed != nil || exit.Code != 1 || exit.Cause != runner.Finished {
			t.Fatalf("exit %v, %v", exit, failed)
		}
		if out.String() != "dtmc\n" || err.String() != "warning\n" {
			t.Errorf("printed %q and %q", out.String(), err.String())
		}
		want := []runner.File{{Name: "out.txt", Data: fmt.Append(nil, "data ", i)}, {Name: "model.prism", Data: []byte("dtmc\n")}}
		if !slices.EqualFunc(exit.Files, want, func(a, b runner.File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) {
			t.Errorf("files %q, want %q", exit.Files, want)
		}
		if exit.Elapsed <= 0 {
			t.Errorf("took %v", exit.Elapsed)
		}
	}
	if n := len(l.ids(t, p.docker.session.id)); n != 1 {
		t.Errorf("%d containers, want a warm one", n)
	}
}

func TestFilesStayInTheirFolder(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "../a", "/etc/passwd", `a\b`} {
		for _, c := range []runner.Command{{Files: []runner.File{{Name: name}}}, {Collect: []string{name}}} {
			if err := checkNames(c); err == nil {
				t.Errorf("file %q is accepted", name)
			}
		}
	}
	if err := checkNames(runner.Command{Files: []runner.File{{Name: "m.nm"}}, Collect: []string{"..tra"}}); err != nil {
		t.Error(err)
	}
}

func TestWalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.pool(t, Options{})
	var out bytes.Buffer
	c := command("walls")
	c.Limits.CPUs, c.Stdout = 0.5, &out
	if exit, err := p.Run(t.Context(), c); err != nil || exit.Code != 0 {
		t.Fatalf("exit %v, %v", exit, err)
	}
	for _, want := range []string{
		"uid 65534 gid 65534 host localhost interfaces [lo]\n",
		"write / false\n", "write /tmp true\n", "write /work false\n", "write . true\n",
		"CapPrm: 0000000000000000\n", "CapEff: 0000000000000000\n", "CapBnd: 0000000000000000\n",
		"NoNewPrivs: 1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not in the container: %q\n%s", want, out.String())
		}
	}
	in, err := l.client.ContainerInspect(t.Context(), l.ids(t, p.docker.session.id)[0], client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := in.Container.HostConfig
	if h.Memory != 64<<20 || h.MemorySwap != h.Memory || h.NanoCPUs != 5e8 || h.PidsLimit == nil || *h.PidsLimit != maxProcesses || len(h.Binds) > 0 {
		t.Errorf("memory %d, with swap %d, CPUs %d, processes %v, binds %q", h.Memory, h.MemorySwap, h.NanoCPUs, h.PidsLimit, h.Binds)
	}
	volume := in.Container.Mounts[0].Name
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.client.VolumeInspect(t.Context(), volume, client.VolumeInspectOptions{}); err == nil {
		t.Errorf("volume %s is left behind", volume)
	}
}

// TestJobs has as many runs at a time as there may be, and never more.
func TestJobs(t *testing.T) {
	const jobs, runs = 3, 9
	l := newLab(t)
	p := l.pool(t, Options{Jobs: jobs})
	var mu sync.Mutex
	now, most := 0, 0
	var wg sync.WaitGroup
	for range runs {
		wg.Go(func() {
			c := command("say", "a", "sleep", "300ms", "say", "b")
			c.Stdout = writer(func(b []byte) {
				mu.Lock()
				defer mu.Unlock()
				switch string(b) {
				case "a":
					now++
					most = max(most, now)
				case "b":
					now--
				}
			})
			if exit, err := p.Run(t.Context(), c); err != nil || exit.Code != 0 {
				t.Errorf("exit %v, %v", exit, err)
			}
		})
	}
	wg.Wait()
	if most > jobs {
		t.Errorf("%d runs at a time, want at most %d", most, jobs)
	}
	if n := len(l.ids(t, p.docker.session.id)); n > jobs {
		t.Errorf("%d containers, want at most %d", n, jobs)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// TestContainersAreReplaced counts containers: one for each run, or another when
// the limits differ.
func TestContainersAreReplaced(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.pool(t, Options{RunsPerContainer: 1})
	if _, err := p.Run(t.Context(), command("say", "x")); err != nil {
		t.Fatal(err)
	}
	if ids := l.ids(t, p.docker.session.id); len(ids) > 0 {
		t.Errorf("a container is left after its only run: %q", ids)
	}

	p = l.pool(t, Options{})
	c := command("say", "x")
	if _, err := p.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	first := l.ids(t, p.docker.session.id)
	c.Limits.Memory *= 2
	if _, err := p.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	second := l.ids(t, p.docker.session.id)
	if len(first) != 1 || len(second) != 1 || first[0] == second[0] {
		t.Errorf("containers %q, then %q with another memory limit", first, second)
	}
}

func TestContextEndedBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.pool(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, command("say", "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

func TestNoProgram(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	tool := fake()
	tool.Program = []string{"prism"}
	p := l.pool(t, Options{Tool: tool})
	for _, limit := range []time.Duration{0, time.Minute} {
		c := command()
		c.Limits.Time = limit
		_, err := p.Run(t.Context(), c)
		if f, ok := errors.AsType[*result.Failure](err); !ok || !strings.Contains(f.Message, "has no program prism") {
			t.Errorf("error %v, want one that says what is missing", err)
		}
	}
}

// TestSweep leaves the containers of a living session alone, removes those of a
// dead one, and all when it is told to.
func TestSweep(t *testing.T) {
	l := newLab(t)
	living := l.pool(t, Options{})
	departed := l.pool(t, Options{})
	departed.docker.session.owner = strings.Replace(departed.docker.session.owner, "/", "/9999", 1)
	for _, p := range []*Pool{living, departed} {
		if _, err := p.Run(t.Context(), command("say", "x")); err != nil {
			t.Fatal(err)
		}
	}
	swept, err := l.Sweep(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	of := func(session string) func(Leftover) bool {
		return func(c Leftover) bool { return c.Session == session }
	}
	if !slices.ContainsFunc(swept, of(departed.docker.session.id)) || slices.ContainsFunc(swept, of(living.docker.session.id)) {
		t.Errorf("swept %v", swept)
	}
	if a, b := len(l.ids(t, living.docker.session.id)), len(l.ids(t, departed.docker.session.id)); a != 1 || b != 0 {
		t.Errorf("%d containers of the living session and %d of the dead one are there", a, b)
	}
	// Another test's process may sweep too, so all is asked of ours only.
	all, err := l.Leftovers(t.Context())
	if i := slices.IndexFunc(all, of(living.docker.session.id)); err != nil || i < 0 || all[i].Dead || all[i].Tool != "faketool" || all[i].State != "running" {
		t.Errorf("leftovers %v, %v", all, err)
	}
}

func TestDead(t *testing.T) {
	us := newSession().owner
	parts := strings.Split(us, "/")
	for owner, want := range map[string]bool{
		us:                           false,
		parts[0] + "/1/0":            true, // another process of that number runs now
		parts[0] + "/999999999/1":    true,
		"another/" + parts[1] + "/0": false, // nothing is known of other hosts
		parts[0] + "/999999999/":     false, // nor of systems that do not say
		"":                           false,
		"x":                          false,
	} {
		if got := processEnded(owner); got != want {
			t.Errorf("dead(%q) is %t, want %t", owner, got, want)
		}
	}
}
