package play

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
)

func smallOptions(t *testing.T) Options {
	m := square(4, 11, true, 20)
	return Options{Match: m, Strategy: parse(t, m, "random"), Games: 6, Workers: 2, State: filepath.Join(t.TempDir(), "s.games"), Version: "test"}
}

// Whatever a kill leaves of the file, and whatever one damaged byte makes of it, the run comes to the same.
func TestStateTruncatedOrDamagedAnywhere(t *testing.T) {
	opt := smallOptions(t)
	want := games(t, opt)
	whole, err := os.ReadFile(opt.State)
	if err != nil {
		t.Fatal(err)
	}
	head := strings.Index(string(whole), "\n\n") + 2
	try := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(opt.State, text, 0o666); err != nil {
			t.Fatal(err)
		}
		got := games(t, opt)
		if !slices.EqualFunc(got, want, func(a, b Played) bool { return a.same(b.Game) }) {
			t.Errorf("%s: other games", name)
		}
		after, err := os.ReadFile(opt.State)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(after[head:]), "\n"); lines != 6 {
			t.Errorf("%s: %d games are kept, want 6", name, lines)
		}
	}
	for n := 0; n < len(whole); n += needs.OrFull(13, 5) {
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	for n := head; n < len(whole); n += needs.OrFull(17, 7) {
		text := slices.Clone(whole)
		text[n] ^= 1
		try(fmt.Sprintf("byte %d damaged", n), text)
	}
	twice := append(slices.Clone(whole), whole[head:]...)
	try("every game twice", twice)
}

func TestStateOfAnotherExperiment(t *testing.T) {
	opt := smallOptions(t)
	run(t, opt)
	before, err := os.ReadFile(opt.State)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Match.Seed = 21 }, `found "seed 20", want "seed 21"`},
		{func(o *Options) { o.Strategy = parse(t, o.Match, "opposite") }, `found "strategy random", want "strategy pref:up,down,left,right"`},
		{func(o *Options) { o.Match.Goal = 10 }, `found "max 2048", want "max 1024"`},
		{func(o *Options) { o.Match.PlayOn = false }, `found "win play on", want "win stop"`},
		{func(o *Options) { o.Match.Shape = game.Shape{Rows: 3, Cols: 4} }, `found "board 4x4", want "board 3x4"`},
		{func(o *Options) { o.Version = "later" }, `another build: found "test", want "later"`},
	} {
		other := opt
		test.change(&other)
		if _, err := Run(t.Context(), other); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want an error with %s", err, test.want)
		}
	}
	if after, err := os.ReadFile(opt.State); err != nil || string(after) != string(before) {
		t.Errorf("a refused run changed the state (%v)", err)
	}
	if err := os.WriteFile(opt.State, []byte("tilecheck games 1\nversion 0.1.0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), `another version of tilecheck wrote it: found "tilecheck games 1"`) {
		t.Errorf("a file of an earlier version: %v", err)
	}
	if err := os.WriteFile(opt.State, []byte("something else\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "no state of this program") {
		t.Errorf("a file of another kind: %v", err)
	}
	if text, _ := os.ReadFile(opt.State); string(text) != "something else\n" {
		t.Error("a file of another kind was changed")
	}
}

// A run with more games takes those that are there; one with fewer uses a part of them.
func TestStateGrows(t *testing.T) {
	opt := smallOptions(t)
	run(t, opt)
	opt.Games = 30
	out := run(t, opt)
	if out.Resumed != 6 {
		t.Errorf("%d games were known, want 6", out.Resumed)
	}
	opt.Games = 20
	few := run(t, opt)
	opt.State = ""
	if want := run(t, opt); timeless(few).Summary != timeless(want).Summary || few.Resumed != 20 {
		t.Errorf("%+v, want %+v", few, want)
	}
}

func TestStateInUse(t *testing.T) {
	opt := smallOptions(t)
	s, err := openState(opt.State, header(opt.Match, "random", "test"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := Run(t.Context(), opt); runtime.GOOS != "windows" && (err == nil || !strings.Contains(err.Error(), "another run")) {
		t.Errorf("%v, want that another run is using it", err)
	}
}

// A state that does not hold what the strategy plays is found out when the games are recorded.
func TestStateDisagrees(t *testing.T) {
	opt := smallOptions(t)
	s, err := openState(opt.State, header(opt.Match, "random", "test"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.append([]Game{{Index: 3, Score: 4}}), s.close()); err != nil {
		t.Fatal(err)
	}
	opt.Record = true
	if _, err := Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "game 3 of random") {
		t.Errorf("%v, want that game 3 differs", err)
	}
}

func FuzzParseGame(f *testing.F) {
	f.Add(string(appendGame(nil, 7, Game{Index: 1, Score: 2, Moves: 3, Spawns: 5, Max: 4, Won: true, WinMoves: 2, Time: 9})))
	f.Add("0 0 0 0 0 0 0 0 0 " + strconv.Itoa(0))
	f.Fuzz(func(t *testing.T, line string) {
		g, ok := parseGame(7, []byte(strings.TrimSuffix(line, "\n")))
		if !ok {
			return
		}
		if again := string(appendGame(nil, 7, g)); strings.TrimSuffix(again, "\n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("%q is read as a game that is written %q", line, again)
		}
	})
}
