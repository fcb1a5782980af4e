//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
)

// A driver that is killed leaves no process of its own behind, and the next one
// goes on: what is printed is what one process prints.
func TestSubmitKilled(t *testing.T) {
	needs.Full(t)
	program, dir, tmp := ownProgram(t), t.TempDir(), t.TempDir()
	mark := "TILECHECK_TEST_MARK=" + tmp
	words := []string{"compare", "random", "--max", "32", "--samples", "30000", "--seed", "3"}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), mark, "TMPDIR="+tmp)
		return cmd
	}
	want, err := command(words...).Output()
	if err != nil {
		t.Fatal(err)
	}
	submit := append([]string{"submit", "local", "2", "--shards", "12", "--dir", "job", "--"}, words...)
	finished := func() int {
		parts, _ := filepath.Glob(filepath.Join(dir, "job", "parts", "*.part"))
		return len(parts)
	}
	for kill := range 2 {
		cmd := command(submit...)
		var said bytes.Buffer
		cmd.Stdout = &said
		before := finished()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); finished() <= before+kill && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait() == nil || said.Len() > 0 {
			t.Errorf("it was not killed, or said\n%s", &said)
		}
		if left := marked(mark); left != "" {
			t.Errorf("it left the process %s", left)
		}
	}
	kept := finished()
	if kept == 0 || kept == 12 {
		t.Errorf("%d of 12 shards are finished, want some", kept)
	}
	got, err := command(submit...).Output()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	runs, _ := filepath.Glob(filepath.Join(dir, "job", "runs", "*"))
	ended := map[string]bool{}
	for _, name := range runs {
		_, shard, _ := strings.Cut(filepath.Base(name), "-")
		if ended[shard] {
			t.Errorf("shard %s was run to its end twice", shard)
		}
		ended[shard] = true
	}
}
