package play

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tilecheck/game"
)

// killEnv names the state file for the process that is killed; it is the test binary itself.
const killEnv = "TILECHECK_PLAY_KILLED"

// killedOptions is the experiment that is killed: slow enough that kills meet it, about 2 s in all.
func killedOptions() (Options, error) {
	m := square(4, 11, true, 20)
	s, err := m.Parse("sparse:depth=3,n=1")
	return Options{Match: m, Strategy: s, Games: 150, Workers: 2, Version: "test"}, err
}

func TestMain(m *testing.M) {
	path := os.Getenv(killEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	opt, err := killedOptions()
	if err == nil {
		opt.State = path
		_, err = Run(context.Background(), opt)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A run that is killed at random moments, 20 times, comes to the same as one that is not, and no kill loses more than the games in flight.
func TestKilledRunsResume(t *testing.T) {
	if testing.Short() {
		t.Skip("20 kills take 10 s")
	}
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL")
	}
	opt, err := killedOptions()
	if err != nil {
		t.Fatal(err)
	}
	undisturbed := games(t, opt)
	want := timeless(run(t, opt))
	opt.State = filepath.Join(t.TempDir(), "killed.games")
	rng := rand.New(rand.NewPCG(1, 20))
	kills := 0
	for kills < 20 {
		before := kept(t, opt)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killEnv+"="+opt.State)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+rng.IntN(240)) * time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			// All games were finished before the kill: start again from half of them.
			halve(t, opt.State)
			continue
		}
		kills++
		if now := kept(t, opt); now < before {
			t.Fatalf("a kill lost games: %d were kept, then %d", before, now)
		}
	}
	resumed := games(t, opt)
	if !slices.EqualFunc(resumed, undisturbed, func(a, b Played) bool { return a.same(b.Game) }) {
		t.Error("the resumed run plays other games than the undisturbed one")
	}
	if got := timeless(run(t, opt)); got.Summary != want.Summary {
		t.Errorf("resumed %+v, want %+v", got, want)
	}
	t.Logf("%d kills", kills)
}

// kept is the number of whole games in the state.
func kept(t *testing.T, opt Options) int {
	t.Helper()
	text, err := os.ReadFile(opt.State)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(text), "\n\n")
	return strings.Count(lines, "\n")
}

func halve(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
}

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
	for n := 0; n < len(whole); n += 2 {
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	for n := head; n < len(whole); n += 3 {
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
		{func(o *Options) { o.Match.On = false }, `found "win play on", want "win stop"`},
		{func(o *Options) { o.Match.Shape = game.Shape{Rows: 3, Cols: 4} }, `found "board 4x4", want "board 3x4"`},
		{func(o *Options) { o.Version = "later" }, `found "version test", want "version later"`},
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
	if out.Known != 6 {
		t.Errorf("%d games were known, want 6", out.Known)
	}
	opt.Games = 20
	few := run(t, opt)
	opt.State = ""
	if want := run(t, opt); timeless(few).Summary != timeless(want).Summary || few.Known != 20 {
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
