package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tilecheck/game/solve"
	"tilecheck/internal/needs"
)

// TestSolveKilled kills `tilecheck solve` at 20 random moments and resumes it: the file is that of a run that was left alone, to the last
// bit, and no kill costs more than the layer in flight. With --memory the kills meet what spills to disk, too.
func TestSolveKilled(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	needs.NotShort(t, "solves games 40 times") // with the race detector, which has nothing to find between processes, minutes
	want := filepath.Join(t.TempDir(), "undisturbed")
	start := time.Now()
	if state, stderr := runSolve(t, 0, want); !state.Success() {
		t.Fatalf("%v: %s", state, stderr)
	}
	undisturbed := time.Since(start)
	rng := rand.New(rand.NewPCG(20, 2048))
	// A piece of work is killed about ten times before it is done: in both passes, whatever the speed of the machine.
	delay := func() time.Duration { return 1 + time.Duration(rng.Int64N(int64(undisturbed/5))) }
	enumerating, valuing, kills := 0, 0, max(needs.Some(20), 4)
	for work := 0; enumerating+valuing < kills; work++ {
		flags := [][]string{{"--workers", "2"}, {"--memory", "52MB"}}[work%2]
		out := filepath.Join(t.TempDir(), "table")
		for before := (layersDone{}); ; {
			var limit time.Duration
			if enumerating+valuing < kills {
				limit = delay()
			}
			state, stderr := runSolve(t, limit, out, append(flags, "--resume")...)
			if state.Success() {
				break
			}
			if limit == 0 || stderr != "" {
				t.Fatalf("after %d kills: %v: %s", enumerating+valuing, state, stderr)
			}
			after := layersIn(t, out)
			after.keep(t, before)
			if before = after; after.valuing() {
				valuing++
			} else {
				enumerating++
			}
		}
		sameFiles(t, out, want)
	}
	t.Logf("killed %d times while layers were enumerated, %d times while they were valued", enumerating, valuing)
}

// TestSolveWorkersKilled kills each of three processes that solve a game together, up to six times at random moments, and starts it again: the
// file is that of one process.
func TestSolveWorkersKilled(t *testing.T) {
	needs.Full(t)
	want := filepath.Join(t.TempDir(), "alone")
	start := time.Now()
	if state, stderr := runSolve(t, 0, want); !state.Success() {
		t.Fatalf("%v: %s", state, stderr)
	}
	alone := time.Since(start)
	out := filepath.Join(t.TempDir(), "table")
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(21, uint64(i)))
			for kill := 6; ; kill-- {
				limit := 1 + time.Duration(rng.Int64N(int64(alone/2)))
				if kill <= 0 {
					limit = 0
				}
				state, stderr := runSolve(t, limit, out, "--worker", fmt.Sprintf("%d/3", i+1), "--workers", "1", "--timeout", "5m")
				switch {
				case state.Success():
					t.Logf("process %d was killed %d times", i+1, 6-kill)
					return
				case limit == 0 || stderr != "":
					t.Errorf("process %d: %v: %s", i+1, state, stderr)
					return
				}
			}
		})
	}
	all.Wait()
	sameFiles(t, out, want)
}

// runSolve runs the command, and kills it after a time unless that is 0. It returns how it ended and what it complained of.
func runSolve(t *testing.T, limit time.Duration, out string, flags ...string) (*os.ProcessState, string) {
	t.Helper()
	ctx, cancel := t.Context(), func() {}
	if limit != 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	args := append([]string{"solve", "--rows", "3", "--cols", "3", "--max", "128", "--out", out}, flags...)
	cmd := exec.CommandContext(ctx, "tilecheck", args...) // killed with SIGKILL where there is one
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the state says it
	return cmd.ProcessState, stderr.String()
}

// layersDone are the files of complete layers, by name, and the size of the table that the valued ones are added to.
type layersDone struct {
	files map[string]fs.FileInfo
	table int64
}

func (l layersDone) valuing() bool { return l.table > 64 } // its header

// layersIn looks into the directory that a killed run leaves. A layer is complete when its afterstates are there, which are made last.
func layersIn(t *testing.T, out string) layersDone {
	t.Helper()
	l := layersDone{files: make(map[string]fs.FileInfo)}
	dir := solve.WorkDir(out)
	if table, err := os.Stat(filepath.Join(dir, "table")); err == nil { // not killed before it made one, or after the file was complete
		l.table = table.Size()
	}
	for sum := 2; ; sum += 2 {
		for _, kind := range []string{"afterstates", "positions"} {
			name := fmt.Sprintf("%s-%d", kind, sum)
			info, err := os.Stat(filepath.Join(dir, name))
			if kind == "afterstates" && errors.Is(err, fs.ErrNotExist) {
				return l
			}
			if err != nil {
				t.Fatal(err)
			}
			l.files[name] = info
		}
	}
}

// keep checks that a run that went on made no layer again: a file that was made again is another file.
func (l layersDone) keep(t *testing.T, before layersDone) {
	t.Helper()
	if l.table == 0 { // the file is complete, and the directory is being removed
		return
	}
	for name, was := range before.files {
		if is := l.files[name]; is == nil || !os.SameFile(was, is) || !was.ModTime().Equal(is.ModTime()) {
			t.Errorf("%s was complete before the run went on, and is not the same file after it", name)
		}
	}
}

// sameFiles compares a file with that of an undisturbed run, and checks that there is nothing beside it.
func sameFiles(t *testing.T, out, want string) {
	t.Helper()
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, wanted) {
		t.Errorf("the file has %d bytes and is not the undisturbed one of %d", len(got), len(wanted))
	}
	beside, err := filepath.Glob(filepath.Join(filepath.Dir(out), "*"))
	if err != nil || len(beside) != 1 {
		t.Errorf("%s are there, error %v, want the file only", fmt.Sprint(beside), err)
	}
}

// failing is a stream that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestPolicyPlaysToBrokenStream(t *testing.T) {
	env := &environment{system: system{
		stdin: strings.NewReader(""), stdout: failing{}, stderr: io.Discard, getenv: func(string) string { return "" },
		terminal: func(io.Writer) (int, bool) { return 0, false }, identifyBuild: testBuild,
	}}
	if code := run(t.Context(), []string{"policy", "--size=2", "--max=8", "--play", "--seed=1"}, env); code != exitCannotRun {
		t.Errorf("exit code %d, want %d", code, exitCannotRun)
	}
}
