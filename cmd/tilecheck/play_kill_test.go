package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
)

// playedGames are what a run came to: its record, every move and every tile of every game, and its report without the speed, which is the
// only number in it that is measured.
type playedGames struct{ record, report string }

// playGames plays and prints the games of the experiment, with more arguments.
func playGames(t *testing.T, program string, args ...string) playedGames {
	t.Helper()
	record := filepath.Join(t.TempDir(), "record")
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, append(killed(), append(args, "--format", "csv", "--record", record)...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	games, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	out := playedGames{record: string(games)}
	for line := range strings.Lines(stdout.String()) {
		if !strings.HasPrefix(line, "moves per second,") {
			out.report += line
		}
	}
	return out
}

// killed is a command line that takes less than a second.
func killed() []string {
	return []string{"play", "sparse:depth=3,n=1", "--games", "300", "--seed", "20"}
}

// The program, killed at 20 random moments and started again each time, comes to the same as one that is left alone, bit for bit, and so it
// does with any number of workers. No kill loses a game that was kept.
func TestPlayIsTheSameAfterKills(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		needs.Have(t, needs.System, errors.New("there is no SIGKILL"))
	}
	program := ownProgram(t)
	start := time.Now()
	want := playGames(t, program, "--workers", "1")
	within := time.Since(start) / 2 // so that kills meet every stage of a run, however busy the machine is
	if games := strings.Count(want.record, "\nend "); games != 300 || !strings.Contains(want.report, "\nscore,") {
		t.Fatalf("%d games, report %q", games, want.report)
	}
	for _, workers := range []string{"2", "7"} {
		if got := playGames(t, program, "--workers", workers); got != want {
			t.Errorf("%s workers play other games than one", workers)
		}
	}
	state := filepath.Join(t.TempDir(), "games")
	rng := rand.New(rand.NewPCG(1, 20))
	kept, ended, went := 0, 0, 0
	runs := max(needs.Some(20), 4)
	for range runs {
		cmd := exec.Command(program, append(killed(), "--workers", "2", "--state", state)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(within))))
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			ended++
		}
		text, err := os.ReadFile(state)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		_, lines, _ := strings.Cut(string(text), "\n\n")
		now := strings.Count(lines, "\n")
		if now < kept {
			t.Errorf("a kill lost games: %d were kept, then %d", kept, now)
		}
		if now > kept {
			went++
		}
		if kept = now; kept == 300 { // nothing is left to be disturbed: go on from a part, cut in the middle of a line
			if kept = 0; os.Truncate(state, int64(len(text)/3)) != nil {
				t.Fatal("the state cannot be cut")
			}
		}
	}
	if ended > runs/2 || went < runs/6 {
		t.Errorf("%d of %d runs ended before they were killed, %d went on: want moments within the run", ended, runs, went)
	}
	if got := playGames(t, program, "--workers", "2", "--state", state); got != want {
		t.Error("killed and resumed, the program comes to something else than undisturbed")
	}
	t.Logf("%d of %d runs ended before the kill, %d went on; %d games were kept at the end", ended, runs, went, kept)
}
