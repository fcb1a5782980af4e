package play

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/game"
	"tilecheck/internal/needs"
	"tilecheck/stats"
)

// The number of workers and the size of batches decide nothing, nor does the order in which games are finished.
func TestRunIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	for _, test := range []struct {
		spec  string
		match Match
	}{
		{"random", square(4, 11, true, 7)},
		{"alt:up,left,down,right/left,up,down,right", square(4, 7, false, 7)},
		{"random", square(2, 4, false, 1<<63)},
	} {
		s := parse(t, test.match, test.spec)
		opt := Options{Match: test.match, Strategy: s, Games: 700, Workers: 1}
		want := games(t, opt)
		wantOut := timeless(run(t, opt))
		for _, workers := range []int{2, 3, 8} {
			opt.Workers = workers
			got := games(t, opt)
			if !slices.EqualFunc(got, want, func(a, b Played) bool { return a.same(b.Game) }) {
				t.Errorf("%s: %d workers play other games than one", test.spec, workers)
			}
			if out := timeless(run(t, opt)); out.Summary != wantOut.Summary {
				t.Errorf("%s: %d workers: %+v, want %+v", test.spec, workers, out, wantOut)
			}
		}
		for i, g := range want {
			if g.Index != int64(i) {
				t.Fatalf("%s: game %d was given at place %d", test.spec, g.Index, i)
			}
		}
	}
}

// More games begin with the same games, and a seed is a stream of its own.
func TestGamesDependOnSeedAndIndexOnly(t *testing.T) {
	m := square(4, 11, true, 1)
	few := games(t, Options{Match: m, Strategy: parse(t, m, "random"), Games: 20})
	many := games(t, Options{Match: m, Strategy: parse(t, m, "random"), Games: 60})
	if !slices.EqualFunc(few, many[:20], func(a, b Played) bool { return a.same(b.Game) }) {
		t.Error("60 games do not begin with the 20 games")
	}
	m.Seed = 2
	other := games(t, Options{Match: m, Strategy: parse(t, m, "random"), Games: 20})
	if slices.EqualFunc(few, other, func(a, b Played) bool { return a.same(b.Game) }) {
		t.Error("seeds 1 and 2 play the same games")
	}
}

// Strategies meet the same tiles: a player that draws random numbers of its own, and none, starts on the same board, and as long as two
// players make the same moves they see the same boards.
func TestCommonRandomNumbers(t *testing.T) {
	m := square(4, 11, true, 5)
	list := parse(t, m, "pref:left,up,down,right")
	wasteful := custom{"wasteful", func(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
		rng.Uint64()
		return game.Preference{game.Left, game.Up, game.Down, game.Right}.Choose(legal), nil
	}}
	a := games(t, Options{Match: m, Strategy: list, Games: 50, Record: true})
	b := games(t, Options{Match: m, Strategy: wasteful, Games: 50, Record: true})
	for i := range a {
		if !a[i].same(b[i].Game) || a[i].Transcript.Start != b[i].Transcript.Start || !slices.Equal(a[i].Transcript.Steps, b[i].Transcript.Steps) {
			t.Errorf("game %d depends on what the player draws", i)
		}
	}
}

// The random player wins 2x2 to 16 with probability 1 - 395211301/450000000 (docs/models.md, an independent account of the game in rational
// arithmetic). The interval is for 1 - 1e-6: so often does a new seed raise a false alarm.
func TestRandomOn2x2(t *testing.T) {
	m := square(2, 4, false, 11)
	out := run(t, Options{Match: m, Strategy: parse(t, m, "random"), Games: 40_000})
	i, err := stats.BernoulliInterval(out.Won, 1-1e-6, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 - 395211301.0/450000000; !i.Contains(want) {
		t.Errorf("won %v in %v, want %v", out.Won.Mean(), i, want)
	}
}

// What a game came to is gone through again with [game.Slide], the slow version of the rules.
func TestGamesFollowTheRules(t *testing.T) {
	for _, m := range []Match{square(4, 11, true, 3), square(4, 6, false, 3), square(3, 2, false, 3), {Shape: game.Shape{Rows: 2, Cols: 5}, Goal: 5, PlayOn: true, Seed: 3}} {
		for _, p := range games(t, Options{Match: m, Strategy: parse(t, m, "random"), Games: 60, Record: true}) {
			if err := slowly(m, p); err != nil {
				t.Errorf("%v, game %d: %v", m, p.Index, err)
			}
		}
	}
}

// slowly plays a transcript on plain values.
func slowly(m Match, p Played) error {
	values := m.Shape.Values(p.Transcript.Start)
	goal, score, tiles, won, winMoves := 1<<m.Goal, 0, 2, false, int64(0)
	for i, s := range p.Transcript.Steps {
		if !won && slices.Max(values) >= goal {
			won, winMoves = true, int64(i)
		}
		if won && !m.PlayOn {
			return errors.New("the game went on after the win")
		}
		next, gained := slide(m.Shape, values, s.Dir)
		if slices.Equal(next, values) {
			return errors.New("an illegal move")
		}
		values, score = next, score+gained
		if slices.Max(values) >= goal && !won {
			won, winMoves = true, int64(i+1)
		}
		if s.Exp > 0 {
			if values[s.Cell] != 0 || s.Exp > 2 {
				return errors.New("a wrong new tile")
			}
			values[s.Cell] = 1 << s.Exp
			tiles++
		} else if !won || m.PlayOn {
			return errors.New("no new tile")
		}
	}
	if !won && slices.Max(values) >= goal {
		won, winMoves = true, int64(len(p.Transcript.Steps))
	}
	if !won || m.PlayOn {
		for d := game.Left; d <= game.Down; d++ {
			if next, _ := slide(m.Shape, values, d); !slices.Equal(next, values) {
				return errors.New("the game ended too early")
			}
		}
	}
	want := Game{
		Index: p.Index, Score: int64(score), Moves: int64(len(p.Transcript.Steps)), Spawns: int64(tiles),
		Max: int(math.Log2(float64(slices.Max(values)))), Won: won, WinMoves: winMoves,
	}
	if !p.same(want) {
		return errors.New("another result")
	}
	return nil
}

// slide moves every line with game.Slide.
func slide(shape game.Shape, values []int, d game.Dir) (next []int, score int) {
	next = slices.Clone(values)
	lines, length, step, jump := shape.Rows, shape.Cols, 1, shape.Cols
	if d == game.Up || d == game.Down {
		lines, length, step, jump = shape.Cols, shape.Rows, shape.Cols, 1
	}
	for l := range lines {
		line := make([]int, length)
		at := func(i int) int {
			if d == game.Right || d == game.Down {
				i = length - 1 - i
			}
			return l*jump + i*step
		}
		for i := range line {
			line[i] = values[at(i)]
		}
		out, gained := game.Slide(line)
		score += gained
		for i, v := range out {
			next[at(i)] = v
		}
	}
	return next, score
}

// Whatever the time was, the outcome is that of the first games, all of them.
func TestTimeLeavesAPrefix(t *testing.T) {
	m := square(4, 11, true, 9)
	all := games(t, Options{Match: m, Strategy: parse(t, m, "random"), Games: 400})
	slow := custom{"random", func(_ game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
		time.Sleep(20 * time.Microsecond)
		return legal.At(rng.IntN(legal.Len())), nil
	}}
	for _, limit := range []time.Duration{time.Nanosecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		out := run(t, Options{Match: m, Strategy: slow, Games: 400, Workers: 4, Time: limit})
		var want Summary
		for _, g := range all[:out.Games()] {
			want.Add(g.Game)
		}
		got := out.Summary
		got.Time, want.Time = 0, 0
		if got != want {
			t.Errorf("%v: %+v, want the first %d games, %+v", limit, got, out.Games(), want)
		}
		if out.Games() == 400 {
			needs.Have(t, needs.System, errors.New("the machine was too fast for the time limit to matter"))
		}
		if out.End != OutOfTime || !out.Sequential() {
			t.Errorf("%v: ended because %v, sequential %v", limit, out.End, out.Sequential())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := Run(ctx, Options{Match: m, Strategy: slow, Games: 400})
	if err != nil || out.End != Interrupted || out.Games() != 0 {
		t.Errorf("cancelled: %+v, %v", out, err)
	}
}

func TestRunErrors(t *testing.T) {
	m := square(4, 11, true, 9)
	good := parse(t, m, "random")
	illegal := custom{"illegal", func(b game.Board, legal game.Moves, _ *rand.Rand) (game.Dir, error) {
		for d := game.Left; d <= game.Down; d++ {
			if !legal.Has(d) {
				return d, nil
			}
		}
		return game.Left, nil
	}}
	failing := custom{"failing", func(game.Board, game.Moves, *rand.Rand) (game.Dir, error) { return 0, errors.New("no idea") }}
	for _, test := range []struct {
		opt  Options
		want string
	}{
		{Options{Match: m, Strategy: good}, "0 games"},
		{Options{Match: m, Games: 1}, "no strategy"},
		{Options{Match: m, Strategy: good, Games: 1, Workers: -1}, "-1 workers"},
		{Options{Match: square(4, 18, true, 0), Strategy: good, Games: 1}, "exponent 18"},
		{Options{Match: square(5, 11, true, 0), Strategy: good, Games: 1}, "5x5"},
		{Options{Match: m, Strategy: illegal, Games: 5}, "the player moves"},
		{Options{Match: m, Strategy: failing, Games: 5}, "of failing: no idea"},
		{Options{Match: m, Strategy: good, Games: 5, Each: func(*Played) error { return errors.New("full") }}, "full"},
		{Options{Match: m, Strategy: good, Games: 5, State: "nodir/state"}, "nodir/state"},
	} {
		if _, err := Run(t.Context(), test.opt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want an error with %q", err, test.want)
		}
	}
}

// A game that comes to two tiles of 32768 beside each other ends there, and the outcome says so.
func TestOverflow(t *testing.T) {
	m := Match{Shape: game.Shape{Rows: 1, Cols: 2}, PlayOn: true}
	s := custom{"overflowing", func(game.Board, game.Moves, *rand.Rand) (game.Dir, error) { return 0, game.ErrOverflow }}
	out := run(t, Options{Match: m, Strategy: s, Games: 30})
	// On 1x2 a game has a move at the start exactly when the two tiles are equal, with probability 0.82.
	if out.Overflows == 0 || out.Overflows == 30 || out.Moves.Max != 0 {
		t.Errorf("%d games overflow", out.Overflows)
	}
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "32768") {
		t.Errorf("warnings %q", out.Warnings)
	}
}

func TestMatchString(t *testing.T) {
	for _, test := range []struct {
		m    Match
		want string
	}{
		{square(4, 11, true, 1), "4x4, win at 2048 and play on"},
		{square(3, 6, false, 1), "3x3, stop at 64"},
		{square(2, 0, true, 1), "2x2, play on"},
	} {
		if got := test.m.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
