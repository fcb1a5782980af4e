package containers

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"tilecheck/containers/internal/testimage"
	"tilecheck/internal/needs"
	"tilecheck/runner"
)

func TestMain(m *testing.M) {
	if os.Getenv(victim) != "" {
		beVictim()
		return
	}
	if err := Prepare(context.Background(), os.LookupEnv, os.Setenv); err != nil {
		panic(err)
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait for containers
		panic(err)
	}
	m.Run()
}

// fake is the test double as a tool.
func fake() Tool {
	return Tool{
		Name:    "faketool",
		Program: []string{"faketool"},
		Missing: func(string) string { return "the tests make it" },
	}
}

// lab is an engine with the image of the test double.
type lab struct {
	*Docker
	image string
}

func newLab(tb testing.TB) lab {
	tb.Helper()
	needs.WantedOrFull(tb, needs.Docker)
	d, err := Connect(tb.Context())
	needs.Have(tb, needs.Docker, err)
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	image := testimage.Import(tb, "tilecheck-test/faketool:containers", map[string]string{LabelProject: "true", LabelTool: "faketool", LabelVersion: "1.2.3"}, "/bin/cat", "/bin/timeout")
	return lab{d, image}
}

// pool makes a pool in a session of its own.
func (l lab) pool(tb testing.TB, o Options) *Pool {
	tb.Helper()
	d, err := Connect(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l.poolOf(tb, d, o)
}

// poolOf makes a pool that goes away with the test, and checks then that nothing
// of its session is left.
func (l lab) poolOf(tb testing.TB, d *Docker, o Options) *Pool {
	tb.Helper()
	if o.Tool.Name == "" {
		o.Tool = fake()
	}
	if o.Image == "" {
		o.Image = l.image
	}
	p, err := NewPool(tb.Context(), d, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
		if ids := l.ids(tb, d.session.id); len(ids) > 0 {
			tb.Errorf("containers left behind: %q", ids)
		}
	})
	return p
}

// ids lists the containers of a session, running or not.
func (l lab) ids(tb testing.TB, session string) []string {
	tb.Helper()
	found, err := l.client.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", LabelSession+"="+session)})
	if err != nil {
		tb.Fatal(err)
	}
	var ids []string
	for _, c := range found.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

// line runs the engine behind a socket that can be cut.
type line struct {
	*Docker
	path string

	mu     sync.Mutex
	conns  []net.Conn
	down   bool
	budget int64 // of bytes that still come back on hijacked connections; negative is no limit
}

// newLine connects to the engine of l over a socket of its own.
func (l lab) newLine(tb testing.TB) *line {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	n := &line{path: path, budget: -1}
	engine, found := strings.CutPrefix(l.client.DaemonHost(), "unix://")
	if !found {
		needs.Have(tb, needs.System, errors.New("the engine is not on a Unix socket"))
	}
	go n.serve(listener, engine)
	p, err := provider(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	c, err := client.New(client.WithHost("unix://" + path))
	if err != nil {
		tb.Fatal(err)
	}
	p.SetClient(c)
	if n.Docker, err = open(tb.Context(), p); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.Close(); err != nil {
			tb.Error(err)
		}
		listener.Close()
	})
	return n
}

func (n *line) serve(listener net.Listener, engine string) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", engine)
		n.mu.Lock()
		if n.down || err != nil {
			near.Close()
			n.mu.Unlock()
			continue
		}
		n.conns = append(n.conns, near, far)
		n.mu.Unlock()
		go func() {
			io.Copy(far, near)
			far.(*net.UnixConn).CloseWrite()
		}()
		go func() {
			n.back(near, far)
			near.Close()
			far.Close()
		}()
	}
}

// back copies what the engine says. A connection that was hijacked ends when the
// budget does; the header of the answer is free, and may come in pieces.
func (n *line) back(near, far net.Conn) {
	buf := make([]byte, 4096)
	var header []byte // of an answer that hijacks, until it is complete
	hijacked, complete := false, false
	for {
		k, err := far.Read(buf)
		hijacked = hijacked || bytes.HasPrefix(buf[:k], []byte("HTTP/1.1 101"))
		free := k
		if hijacked && complete {
			free = 0
		} else if hijacked {
			before := len(header)
			header = append(header, buf[:k]...)
			if end := bytes.Index(header, []byte("\r\n\r\n")); end >= 0 {
				complete, free = true, end+4-before
			}
		}
		pass, over := n.spend(free, k)
		if _, werr := near.Write(buf[:pass]); err != nil || werr != nil || over && complete {
			return
		}
	}
}

// spend returns how many of k bytes may pass, of which some are free, and
// whether they were the last.
func (n *line) spend(free, k int) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.budget < 0 {
		return k, false
	}
	pass := min(int64(k-free), n.budget)
	n.budget -= pass
	return free + int(pass), n.budget == 0
}

// cut ends every connection, and until back refuses new ones.
func (n *line) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for _, c := range n.conns {
		c.Close()
	}
	n.conns = nil
}

func (n *line) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

// limit lets so many more bytes through on connections that are hijacked.
func (n *line) limit(bytes int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.budget = bytes
}

// when calls do once, at the first output it is given.
type when struct {
	do   func()
	once sync.Once
	bytes.Buffer
}

func (w *when) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	w.once.Do(w.do)
	return n, err
}

// command is a run of the test double with limits that no healthy run reaches.
func command(args ...string) runner.Command {
	return runner.Command{Args: args, Limits: runner.Limits{Time: time.Minute, Memory: 64 << 20}}
}
