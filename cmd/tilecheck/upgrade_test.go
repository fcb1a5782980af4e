package main

import (
	"os"
	"strings"
	"testing"
)

// TestUpgrade reads the files that builds of version 0.1.0 wrote: results, certificates, caches, suites, strategies, games and state spaces. Files that must
// not be mixed with those of another build, or have another format, are refused with an error that says so.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/0.1.0")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	const play = "play random --size 2 --max 16 --games 5 --seed 1 --checkpoint "
	for _, test := range []struct {
		command string
		code    int
		want    string
	}{
		{"certify last/die.cert.gz --model die.prism --props die.prism.props", exitOK, "proven"},
		{"certify last/bound.cert", exitOK, "proven"},
		{"bound --check last/bound.cert", exitOK, "bound --check is called certify now"},
		{"test die.prism --no-config --no-cache --baseline last/test.jsonl", exitOK, "Nothing changed since the baseline: 3 unchanged"},
		{"test die.prism --no-config --no-cache --baseline first/test.jsonl", exitOK, "Nothing changed since the baseline: 3 unchanged"},
		{"test die.prism --no-config --cache last/cache", exitOK, "3 passed"},
		{"test . --no-cache --suite dice", exitOK, "6 passed"},
		{"simulate mdp.prism --scheduler last/mdp.scheduler --seed 1", exitOK, "choices are those of last/mdp.scheduler"},
		{"info last/die.tra", exitOK, "DTMC"},
		{"replay last/games.jsonl", exitOK, "5 games, every move and every new tile by the rules"},
		{"replay first/games.jsonl", exitOK, "5 games, every move and every new tile by the rules"},

		{"policy first/board.2048 --play", exitCannotRun, "version of the table is 1, want 2: another version of tilecheck wrote it, solve it again"},
		{play + "last/games.checkpoint", exitCannotRun, "its games were played by another build"},
		{play + "first/games.checkpoint", exitCannotRun, "another version of tilecheck wrote it"},
		{"merge last/1.shard last/2.shard", exitCannotRun, "last/1.shard was made by another build: found 0.1.0"},
	} {
		code, out, errs := tilecheck(t.Context(), strings.Fields(test.command)...)
		if code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("%s: exit code %d, want %d and %q, found\n%s\n%s", test.command, code, test.code, test.want, out, errs)
		}
	}
	code, out, errs := tilecheck(t.Context(), "policy", "last/board.2048", "--board", "2 . / . 2")
	if code != exitOK || !strings.Contains(out, "value 1, best left,right,up,down") {
		t.Errorf("a table of solve: exit code %d\n%s\n%s", code, out, errs)
	}
}
