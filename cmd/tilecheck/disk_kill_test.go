package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"tilecheck/internal/needs"
)

// diskModel has 30,000 states, which take some seconds.
const diskModel = `mdp
const int N = 12;
module m
  a : [0..N]; b : [0..N]; c : [0..N]; d : [0..N];
  failed : bool;
  [] !failed & a<N -> 0.9 : (a'=a+1) + 0.09 : (b'=max(b-1,0)) + 0.01 : (failed'=true);
  [] !failed & b<N -> 0.9 : (b'=b+1) + 0.09 : (c'=max(c-1,0)) + 0.01 : (failed'=true);
  [] !failed & c<N -> 0.9 : (c'=c+1) + 0.09 : (d'=max(d-1,0)) + 0.01 : (failed'=true);
  [] !failed & d<N -> 0.9 : (d'=d+1) + 0.09 : (a'=0) + 0.01 : (failed'=true);
endmodule
rewards
  a=b : 0.3;
  [] true : 1/3;
endrewards
`

// measuredTime matches the times in the JSON output of check, which differ from run to run.
var measuredTime = regexp.MustCompile(`"seconds": *[0-9.e+-]+`)

// The program, killed at random moments and started again each time, gives the same answer from disk as one that is left alone, bit for bit.
func TestDiskIsTheSameAfterKills(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		needs.Have(t, needs.System, errors.New("there is no SIGKILL"))
	}
	program := ownProgram(t)
	model := filepath.Join(t.TempDir(), "m.prism")
	if err := os.WriteFile(model, []byte(diskModel), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, property := range map[string]string{"probability": "Pmin=? [ F a=N&b=N&c=N&d=N ]", "reward": "Rmin=? [ F failed|a=N&b=N&c=N&d=N ]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testDiskIsTheSameAfterKills(t, func(dir string) *exec.Cmd {
				return exec.Command(program, "check", model, "--prop", property, "--memory", "8MB", "--format", "json", "--disk", dir)
			})
		})
	}
}

// testDiskIsTheSameAfterKills kills a command at random moments and starts it again each time, and compares its answer with that of one that is left alone.
func testDiskIsTheSameAfterKills(t *testing.T, command func(dir string) *exec.Cmd) {
	answer := func(dir string) string {
		out, err := command(dir).Output()
		if err != nil {
			t.Fatal(err)
		}
		return measuredTime.ReplaceAllString(string(out), "")
	}
	start := time.Now()
	want := answer(filepath.Join(t.TempDir(), "whole"))
	whole := time.Since(start)
	dir := filepath.Join(t.TempDir(), "killed")
	random := rand.New(rand.NewPCG(1, 1))
	ended := 0
	for range max(needs.Some(20), 4) {
		cmd := command(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole))))
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if cmd.Wait() == nil {
			ended++
		}
	}
	if got := answer(dir); got != want {
		t.Errorf("killed and started again, the answer is\n%s\nwant\n%s", got, want)
	}
	t.Logf("%d runs of %v ended before they were killed", ended, whole)
}
